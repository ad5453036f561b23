/* Letters: what one daemon closes the other opens; what comes under another name, of another
 * federation, run or agreement, or for somebody else, stays closed, and why is said. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/live/bus/letter.h"

static const char *const arms[] = {"a", "b"};

static struct tacit_wire_agreement agreement_of(uint64_t run_id, double hi)
{
    struct tacit_wire_agreement agreement = {.protocol = "elimination",
                                             .protocol_version = 1,
                                             .agent_count = 2,
                                             .arm_count = 2,
                                             .arms = arms,
                                             .hi = hi,
                                             .horizon = 1000,
                                             .epsilon_nano = 1};
    tacit_wire_run(run_id, agreement.run);
    return agreement;
}

static struct live_letters letters_of(const char *self, const char *federation, uint32_t family,
                                      uint64_t run_id, double hi)
{
    struct tacit_wire_agreement const agreement = agreement_of(run_id, hi);
    struct live_letters letters = {.federation = federation, .self = self, .family = family};
    assert_int_equal(live_letters_begin(&letters, &agreement), TACIT_OK);
    return letters;
}

/* NULL, or why a letter of `writer` to `to` is refused by north of clinics, run 1. */
static const char *heard(struct live_letters writer, const char *topic_name, const char *to,
                         uint32_t kind)
{
    static const uint8_t body[] = {1, 2, 3};
    struct live_letters const north = letters_of("north", "clinics", 0, 1, 1);
    struct live_letter const letter = {
        .to = to, .kind = kind, .epoch = 4, .body = body, .size = sizeof body};
    struct tacit_wire_envelope envelope;
    size_t size;
    uint8_t *const bytes = live_letter_close(&writer, &letter, &size);
    assert_non_null(bytes);
    char const *const objection = live_letter_open(&north, topic_name, bytes, size, &envelope);
    if (objection == NULL) {
        assert_int_equal(envelope.body_size, sizeof body);
        assert_memory_equal(envelope.body, body, sizeof body);
        assert_int_equal(envelope.kind, kind);
        assert_int_equal(envelope.epoch, 4);
        assert_true(envelope.term == 1);
        assert_true(envelope.sequence == writer.sequence);
    }
    free(bytes);
    return objection;
}

static void letters_of_the_run_are_opened(void **state)
{
    struct live_letters const hub = letters_of("coordinator", "clinics", 0, 1, 1);
    (void)state;
    assert_null(heard(hub, "coordinator", "north", 1));
    assert_null(heard(hub, "coordinator", NULL, 1));
}

static void others_stay_closed(void **state)
{
    struct live_letters const hub = letters_of("coordinator", "clinics", 0, 1, 1);
    (void)state;
    assert_string_equal(heard(hub, "south", "north", 1),
                        "a letter whose sender is another than its topic says");
    assert_string_equal(heard(hub, "coordinator", "south", 1), "a letter to somebody else");
    assert_string_equal(heard(letters_of("coordinator", "shops", 0, 1, 1), "coordinator", NULL, 1),
                        "a letter of another federation");
    assert_string_equal(
        heard(letters_of("coordinator", "clinics", 2, 1, 1), "coordinator", NULL, 1),
        "a letter of another protocol");
    assert_string_equal(
        heard(letters_of("coordinator", "clinics", 0, 2, 1), "coordinator", NULL, 1),
        "a letter of another run");
    assert_non_null(strstr(
        heard(letters_of("coordinator", "clinics", 0, 1, 10), "coordinator", NULL, 1), "range"));
    assert_non_null(heard(hub, "coordinator", "north", TACIT_WIRE_KIND_ANNOUNCEMENT));
}

static void letters_are_counted(void **state)
{
    struct live_letters hub = letters_of("coordinator", "clinics", 0, 1, 1);
    struct live_letter const letter = {.kind = 1, .body = (const uint8_t *)"", .size = 0};
    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        struct tacit_wire_envelope envelope;
        size_t size;
        uint8_t *const bytes = live_letter_close(&hub, &letter, &size);
        assert_int_equal(tacit_wire_envelope_decode(bytes, size, &envelope), TACIT_OK);
        assert_true(envelope.sequence == i);
        free(bytes);
    }
}

static void an_announcement_comes_before_the_run_is_known(void **state)
{
    struct live_letters hub = letters_of("coordinator", "clinics", 0, 1, 1);
    struct live_letters const north = {.federation = "clinics", .self = "north"};
    struct live_letter letter = {.to = "north",
                                 .kind = TACIT_WIRE_KIND_ANNOUNCEMENT,
                                 .body = (const uint8_t *)"x",
                                 .size = 1};
    struct tacit_wire_envelope envelope;
    size_t size;
    (void)state;
    uint8_t *bytes = live_letter_close(&hub, &letter, &size);
    assert_null(live_letter_open_announcement(&north, bytes, size, &envelope));
    assert_non_null(live_letter_open_announcement(&north, bytes, size - 1, &envelope));
    free(bytes);
    letter.kind = 1;
    bytes = live_letter_close(&hub, &letter, &size);
    assert_non_null(live_letter_open_announcement(&north, bytes, size, &envelope));
    free(bytes);
    letter.kind = TACIT_WIRE_KIND_ANNOUNCEMENT;
    letter.to = "south";
    bytes = live_letter_close(&hub, &letter, &size);
    assert_string_equal(live_letter_open_announcement(&north, bytes, size, &envelope),
                        "a letter to somebody else");
    free(bytes);
    hub.self = "south"; /* not the coordinator */
    letter.to = "north";
    bytes = live_letter_close(&hub, &letter, &size);
    assert_non_null(live_letter_open_announcement(&north, bytes, size, &envelope));
    free(bytes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_the_run_are_opened),
        cmocka_unit_test(others_stay_closed),
        cmocka_unit_test(letters_are_counted),
        cmocka_unit_test(an_announcement_comes_before_the_run_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

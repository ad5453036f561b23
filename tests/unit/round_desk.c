/* What a hub's desk makes of each message, as a table: the phase and the round that stand, what is
 * heard, what it is worth; then deadlines, and which states a disk may bring back. The hubs of
 * elimination and of phases answer by this and by nothing else (docs/adr/0051). */
#include "../support/testing.h"
#include "../../src/proto/round/desk.h"

#define SITES 70u
#define SITE 66u /* in the second word of a set */
#define ROUNDS 9u
#define RUN 5u
#define TERM 2u

struct place {
    struct round_desk desk;
    uint64_t received[TACIT_BITS_WORDS(SITES)];
    uint32_t seen[SITES];
    uint64_t words[4096];
    struct round_hub hub;
};

static void open_place(struct place *place, enum round_phase phase, uint32_t round)
{
    memset(place, 0, sizeof *place);
    assert_true(round_grantor_words(SITES) <= sizeof place->words / sizeof place->words[0]);
    place->desk = (struct round_desk){.deadline_us = TACIT_NEVER, .term = TERM, .phase = phase};
    place->hub = (struct round_hub){.desk = &place->desk,
                                    .grantor = round_grantor_at(place->words, SITES, false),
                                    .received = place->received,
                                    .seen = place->seen,
                                    .run_id = RUN,
                                    .site_count = SITES,
                                    .round = round,
                                    .round_max = ROUNDS};
    if (phase != ROUND_NEW)
        round_hub_await(&place->hub, phase == ROUND_FINISHED);
}

enum deed { HELLO, COMMIT, REPORT };

struct row {
    const char *what;
    enum round_phase phase;
    uint32_t stands; /* the round */
    enum deed deed;
    uint32_t round;
    enum tacit_status status;
    enum round_answer answer;
};

static const struct row rows[] = {
    {"a hub that has not begun", ROUND_NEW, 0, HELLO, 0, TACIT_UNEXPECTED, ROUND_NOTHING},
    {"it grants nothing", ROUND_NEW, 0, COMMIT, 1, TACIT_UNEXPECTED, ROUND_NOTHING},
    {"it takes nothing", ROUND_NEW, 0, REPORT, 1, TACIT_UNEXPECTED, ROUND_NOTHING},
    {"a site without an order", ROUND_COLLECTING, 3, HELLO, 0, TACIT_OK, ROUND_ORDER},
    {"a site that is behind", ROUND_COLLECTING, 3, HELLO, 2, TACIT_OK, ROUND_ORDER},
    {"a site that has the order", ROUND_COLLECTING, 3, HELLO, 3, TACIT_OK, ROUND_NOTHING},
    {"a site that is ahead", ROUND_COLLECTING, 3, HELLO, 4, TACIT_ROLLBACK, ROUND_NOTHING},
    {"a draw of the round", ROUND_COLLECTING, 3, COMMIT, 3, TACIT_OK, ROUND_GRANT},
    {"a draw that is late", ROUND_COLLECTING, 3, COMMIT, 1, TACIT_OK, ROUND_GRANT},
    {"a draw after the last word", ROUND_FINISHED, 3, COMMIT, 2, TACIT_OK, ROUND_GRANT},
    {"a draw of no round", ROUND_COLLECTING, 3, COMMIT, 0, TACIT_MALFORMED, ROUND_NOTHING},
    {"a draw ahead", ROUND_COLLECTING, 3, COMMIT, 4, TACIT_ROLLBACK, ROUND_NOTHING},
    {"a draw beyond all", ROUND_COLLECTING, 9, COMMIT, 10, TACIT_MALFORMED, ROUND_NOTHING},
    {"a report of the round", ROUND_COLLECTING, 3, REPORT, 3, TACIT_OK, ROUND_NOTHING},
    {"a report that is late", ROUND_COLLECTING, 3, REPORT, 2, TACIT_OK, ROUND_ORDER},
    {"a report of no round", ROUND_COLLECTING, 3, REPORT, 0, TACIT_MALFORMED, ROUND_NOTHING},
    {"a report ahead", ROUND_COLLECTING, 3, REPORT, 4, TACIT_ROLLBACK, ROUND_NOTHING},
    {"a report beyond all", ROUND_COLLECTING, 9, REPORT, 10, TACIT_MALFORMED, ROUND_NOTHING},
    {"a late one after the last word", ROUND_FINISHED, 3, REPORT, 2, TACIT_OK, ROUND_ORDER},
    {"one of the last word", ROUND_FINISHED, 3, REPORT, 3, TACIT_UNEXPECTED, ROUND_NOTHING},
};

static struct round_verdict hear(const struct place *place, enum deed deed,
                                 const struct tacit_round_message *message)
{
    if (deed == HELLO)
        return round_hub_greet(&place->hub, message);
    if (deed == REPORT)
        return round_hub_check_report(&place->hub, message);
    struct round_verdict const refused = {.status = round_hub_check_commit(&place->hub, message)};
    return refused.status == TACIT_OK ? round_hub_ask(&place->hub, message) : refused;
}

TEST(each_message_is_worth_what_the_table_says)
{
    static struct place place;
    struct tacit_commit const draw = {.commitment = {1}};
    struct tacit_commit const none = {.commitment = {0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_place(&place, rows[i].phase, rows[i].stands);
        struct round_desk const before = place.desk;
        struct tacit_round_message const message = {.from = SITE,
                                                    .to = TACIT_HUB,
                                                    .round = rows[i].round,
                                                    .run_id = RUN,
                                                    .term = TERM,
                                                    .commit =
                                                        rows[i].deed == HELLO ? &none : &draw};
        assert_int_equal(round_hub_check(&place.hub, &message), TACIT_OK);
        struct round_verdict const verdict = hear(&place, rows[i].deed, &message);
        if (verdict.status != rows[i].status || verdict.answer != rows[i].answer)
            fail_msg("%s: status %d, answer %d", rows[i].what, (int)verdict.status,
                     (int)verdict.answer);
        assert_memory_equal(&place.desk, &before, sizeof before);
    }
}

TEST(words_of_others_are_not_heard)
{
    static struct place place;
    open_place(&place, ROUND_COLLECTING, 3);
    struct tacit_round_message const good = {
        .from = SITE, .to = TACIT_HUB, .run_id = RUN, .term = TERM, .round = 3};
    struct tacit_round_message bad[5] = {good, good, good, good, good};
    bad[0].from = SITES;
    bad[1].to = SITE;
    bad[2].run_id++;
    bad[3].term--;
    bad[4].term++;
    assert_int_equal(round_hub_check(&place.hub, &good), TACIT_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(round_hub_check(&place.hub, &bad[i]),
                         i == 4 ? TACIT_ROLLBACK : TACIT_STRANGER);
}

/* Closed: the round needs no report; open: it does. */
TEST(grant_says_whether_the_round_is_open)
{
    static struct place place;
    struct round_verdict const grant = {.answer = ROUND_GRANT};
    struct round_verdict const refusal = {.answer = ROUND_REFUSAL, .is_unknown = true};
    struct tacit_round_message heard = {.from = SITE, .round = 3};
    open_place(&place, ROUND_COLLECTING, 3);
    place.hub.grantor.heads[SITE].head[0] = 7;
    assert_false(round_hub_answer(&place.hub, &heard, &grant).closed);
    assert_int_equal(round_hub_answer(&place.hub, &heard, &grant).commit->commitment[0], 7);
    assert_true(round_hub_answer(&place.hub, &heard, &refusal).forgot);
    assert_false(round_hub_answer(&place.hub, &heard, &refusal).closed);
    heard.round = 2;
    assert_true(round_hub_answer(&place.hub, &heard, &grant).closed);
    open_place(&place, ROUND_FINISHED, 3);
    heard.round = 3;
    assert_true(round_hub_answer(&place.hub, &heard, &grant).closed);
}

TEST(quorum_suffices_only_after_the_deadline)
{
    static struct place place;
    struct tacit_round_message const report = {.from = SITE, .round = 3};
    open_place(&place, ROUND_COLLECTING, 3);
    round_desk_end_step(&place.desk, 100, 10, true, false);
    assert_int_equal(place.desk.deadline_us, 110);
    round_hub_add_report(&place.hub, &report, 4);
    assert_int_equal(place.desk.covered_count, 4);
    assert_int_equal(place.desk.missing_count, SITES - 1);
    assert_false(round_desk_is_complete(&place.desk, 0, 0, 4));
    assert_true(round_desk_is_complete(&place.desk, SITES - 1, SITES - 1, SITES));
    assert_false(round_desk_is_due(&place.desk, 109));
    assert_true(round_desk_is_due(&place.desk, 110));
    assert_false(round_desk_expire(&place.desk, 5));
    assert_int_equal(place.desk.deadline_us, TACIT_NEVER);
    assert_false(round_desk_is_due(&place.desk, 110));
    assert_true(round_desk_is_complete(&place.desk, 0, 0, 4));
    assert_true(round_desk_is_complete(&place.desk, 1, 1, 5));
    round_hub_begin_term(&place.hub, TERM + 1);
    assert_int_equal(place.desk.missing_count, SITES);
    assert_int_equal(place.seen[SITE], 0);
    assert_false(place.desk.overdue);
}

TEST(only_states_that_steps_can_leave_are_possible)
{
    static struct place place;
    struct tacit_round_message const report = {.from = SITE, .round = 3};
    for (uint32_t fault = 0; fault <= 9; fault++) {
        open_place(&place, ROUND_COLLECTING, 3);
        round_hub_add_report(&place.hub, &report, 1);
        assert_true(round_hub_is_possible(&place.hub));
        switch (fault) {
        case 0:
            place.desk.missing_count++;
            break;
        case 1:
            place.desk.phase = ROUND_NEW;
            break;
        case 2:
            place.desk.phase = ROUND_FINISHED;
            break;
        case 3:
            place.desk.phase = (enum round_phase)3;
            break;
        case 4:
            place.seen[SITE] = 2;
            break;
        case 5:
            place.seen[SITE + 1] = 3;
            break;
        case 6:
            place.seen[SITE + 1] = 4;
            break;
        case 7:
            place.received[1] |= UINT64_C(1) << 63;
            break; /* beyond the last site */
        case 8:
            place.hub.grantor.flagged[1] |= UINT64_C(1) << 63;
            break;
        default:
            memset(&place.desk.overdue, 2, 1);
        }
        assert_false(round_hub_is_possible(&place.hub));
    }
    open_place(&place, ROUND_FINISHED, 3);
    assert_true(round_hub_is_possible(&place.hub));
    place.desk.overdue = true;
    assert_false(round_hub_is_possible(&place.hub));
}

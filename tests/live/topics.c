/* Topics: who hears what; and who says it, read off a topic. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/live/bus/topics.h"

#define LONGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void topics_are_as_published(void **state)
{
    (void)state;
    assert_string_equal(live_topic_up("trial", "north").text, "tacit/v1/trial/up/north/elim");
    assert_string_equal(live_topic_all_up("trial").text, "tacit/v1/trial/up/+/elim");
    assert_string_equal(live_topic_down("trial").text, "tacit/v1/trial/down/elim");
    assert_string_equal(live_topic_to("trial", "north", "announce").text,
                        "tacit/v1/trial/to/north/announce");
    assert_string_equal(live_topic_peer("trial", "north", "south").text,
                        "tacit/v1/trial/peer/north/south/elim");
    assert_string_equal(live_topic_peer("trial", "+", "south").text,
                        "tacit/v1/trial/peer/+/south/elim");
}

static void longest_names_fit(void **state)
{
    char from[65];
    (void)state;
    assert_int_equal(strlen(LONGEST), 64);
    struct live_topic const topic = live_topic_peer(LONGEST, LONGEST, LONGEST);
    assert_true(live_topic_peer_from(topic.text, LONGEST, LONGEST, from));
    assert_string_equal(from, LONGEST);
    assert_true(live_topic_site(live_topic_up(LONGEST, LONGEST).text, LONGEST, from));
    assert_string_equal(from, LONGEST);
}

static void a_neighbour_is_known_by_its_topic(void **state)
{
    char from[65];
    (void)state;
    assert_true(
        live_topic_peer_from("tacit/v1/trial/peer/south/north/elim", "trial", "north", from));
    assert_string_equal(from, "south");
    assert_true(live_topic_peer_from("tacit/v1/trial/peer/-/north/elim", "trial", "north", from));
    assert_string_equal(from, "-");
}

/* To another site, of another federation, of another kind, or in another form. */
static void other_topics_are_of_no_neighbour(void **state)
{
    static const char *const topics[] = {
        "",
        "tacit/v1/trial/peer/",
        "tacit/v1/trial/peer/south",
        "tacit/v1/trial/peer/south/north",
        "tacit/v1/trial/peer/south/north/",
        "tacit/v1/trial/peer/south/north/eli",
        "tacit/v1/trial/peer/south/north/elim/",
        "tacit/v1/trial/peer/south/north/elim/more",
        "tacit/v1/trial/peer/south/north/announce",
        "tacit/v1/trial/peer/south/north2/elim",
        "tacit/v1/trial/peer/south/nort/elim",
        "tacit/v1/trial/peer/south/west/elim",
        "tacit/v1/trial/peer/north/south/elim",
        "tacit/v1/trial/peer//north/elim",
        "tacit/v1/trial/peer/a/south/north/elim",
        "tacit/v1/trial/peer/" LONGEST "a/north/elim",
        "tacit/v1/other/peer/south/north/elim",
        "tacit/v1/trial2/peer/south/north/elim",
        "tacit/v2/trial/peer/south/north/elim",
        "tacit/v1/trial/up/south/elim",
        "tacit/v1/trial/to/north/elim",
        "xtacit/v1/trial/peer/south/north/elim",
    };
    char from[65] = "untouched";
    (void)state;
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        assert_false(live_topic_peer_from(topics[i], "trial", "north", from));
        assert_string_equal(from, "untouched");
    }
}

static void a_site_is_known_by_its_topic_to_the_hub(void **state)
{
    static const char *const others[] = {"tacit/v1/trial/up//elim",
                                         "tacit/v1/trial/up/north",
                                         "tacit/v1/trial/up/north/elim/x",
                                         "tacit/v1/trial/up/a/north/elim",
                                         "tacit/v1/other/up/north/elim",
                                         "tacit/v1/trial/peer/north/south/elim",
                                         "tacit/v1/trial/up/" LONGEST "a/elim"};
    char site[65];
    (void)state;
    assert_true(live_topic_site("tacit/v1/trial/up/north/elim", "trial", site));
    assert_string_equal(site, "north");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(live_topic_site(others[i], "trial", site));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(topics_are_as_published),
        cmocka_unit_test(longest_names_fit),
        cmocka_unit_test(a_neighbour_is_known_by_its_topic),
        cmocka_unit_test(other_topics_are_of_no_neighbour),
        cmocka_unit_test(a_site_is_known_by_its_topic_to_the_hub),
    };
    return cmocka_run_group_tests_name("live/topics", tests, NULL, NULL);
}

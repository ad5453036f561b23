/* Topics: who hears what; and who says it, read off a topic. */
#include "../support/testing.h"
#include "../../src/live/bus/topics.h"

#define LONGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

TEST(topics_are_as_published)
{
    assert_string_equal(live_topic_up("trial", "north", "elimination").text,
                        "tacit/v1/trial/up/north/elimination");
    assert_string_equal(live_topic_all_up("trial", "elimination").text,
                        "tacit/v1/trial/up/+/elimination");
    assert_string_equal(live_topic_down("trial", "elimination").text,
                        "tacit/v1/trial/down/elimination");
    assert_string_equal(live_topic_to("trial", "north", "announce").text,
                        "tacit/v1/trial/to/north/announce");
    assert_string_equal(live_topic_peer("trial", "north", "south", "elimination").text,
                        "tacit/v1/trial/peer/north/south/elimination");
    assert_string_equal(live_topic_peer("trial", "+", "south", "elimination").text,
                        "tacit/v1/trial/peer/+/south/elimination");
}

TEST(longest_names_fit)
{
    char from[65];
    assert_int_equal(strlen(LONGEST), 64);
    struct live_topic const topic = live_topic_peer(LONGEST, LONGEST, LONGEST, "elimination");
    assert_true(live_topic_peer_from(topic.text, LONGEST, LONGEST, "elimination", from));
    assert_string_equal(from, LONGEST);
    assert_true(live_topic_site(live_topic_up(LONGEST, LONGEST, "elimination").text, LONGEST,
                                "elimination", from));
    assert_string_equal(from, LONGEST);
}

TEST(a_neighbour_is_known_by_its_topic)
{
    char from[65];
    assert_true(live_topic_peer_from("tacit/v1/trial/peer/south/north/elimination", "trial",
                                     "north", "elimination", from));
    assert_string_equal(from, "south");
    assert_true(live_topic_peer_from("tacit/v1/trial/peer/-/north/elimination", "trial", "north",
                                     "elimination", from));
    assert_string_equal(from, "-");
}

/* To another site, of another federation, of another kind, or in another form. */
TEST(other_topics_are_of_no_neighbour)
{
    static const char *const topics[] = {
        "",
        "tacit/v1/trial/peer/",
        "tacit/v1/trial/peer/south",
        "tacit/v1/trial/peer/south/north",
        "tacit/v1/trial/peer/south/north/",
        "tacit/v1/trial/peer/south/north/eli",
        "tacit/v1/trial/peer/south/north/elimination/",
        "tacit/v1/trial/peer/south/north/elimination/more",
        "tacit/v1/trial/peer/south/north/announce",
        "tacit/v1/trial/peer/south/north2/elimination",
        "tacit/v1/trial/peer/south/nort/elimination",
        "tacit/v1/trial/peer/south/west/elimination",
        "tacit/v1/trial/peer/north/south/elimination",
        "tacit/v1/trial/peer//north/elimination",
        "tacit/v1/trial/peer/a/south/north/elimination",
        "tacit/v1/trial/peer/" LONGEST "a/north/elimination",
        "tacit/v1/other/peer/south/north/elimination",
        "tacit/v1/trial2/peer/south/north/elimination",
        "tacit/v2/trial/peer/south/north/elimination",
        "tacit/v1/trial/up/south/elimination",
        "tacit/v1/trial/to/north/elimination",
        "xtacit/v1/trial/peer/south/north/elimination",
    };
    char from[65] = "untouched";
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        assert_false(live_topic_peer_from(topics[i], "trial", "north", "elimination", from));
        assert_string_equal(from, "untouched");
    }
}

TEST(a_site_is_known_by_its_topic_to_the_hub)
{
    static const char *const others[] = {"tacit/v1/trial/up//elimination",
                                         "tacit/v1/trial/up/north",
                                         "tacit/v1/trial/up/north/elimination/x",
                                         "tacit/v1/trial/up/a/north/elimination",
                                         "tacit/v1/other/up/north/elimination",
                                         "tacit/v1/trial/peer/north/south/elimination",
                                         "tacit/v1/trial/up/" LONGEST "a/elimination"};
    char site[65];
    assert_true(
        live_topic_site("tacit/v1/trial/up/north/elimination", "trial", "elimination", site));
    assert_string_equal(site, "north");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(live_topic_site(others[i], "trial", "elimination", site));
}

/* What a site makes of what its grantor shows, as a table; every family's site judges by this. */
#include "../support/testing.h"
#include "../../src/proto/round/site.h"

/* Commitments by their number: the head, the draw that waits, and any other. */
enum { HEAD = 3, OURS = 4, OTHER = 9 };

#define DRAW_ROUND 7u

struct row {
    const char *what;
    bool is_waiting;
    uint32_t blocked; /* before */
    uint32_t forgotten;
    uint64_t round; /* the refusal's */
    uint32_t shown;
    bool forgot;
    uint32_t is_blocked; /* afterwards */
    uint32_t is_forgotten;
};

static const struct row rows[] = {
    {"another state had the grant", true, 0, 0, DRAW_ROUND, OTHER, false, 1, 0},
    {"the holder has forgotten", true, 0, 0, DRAW_ROUND, OTHER, true, 1, 1},
    {"it shows the draw that waits", true, 0, 0, DRAW_ROUND, OURS, false, 0, 0},
    {"it does, and had shown another", true, 1, 1, DRAW_ROUND, OURS, true, 0, 0},
    {"of a draw of before", true, 0, 0, DRAW_ROUND - 1, OTHER, false, 0, 0},
    {"of a draw that was not", true, 0, 0, DRAW_ROUND + 1, OTHER, false, 0, 0},
    {"of a draw of before, while blocked", true, 1, 0, DRAW_ROUND - 1, OURS, false, 1, 0},
    {"the head while a draw waits: it is not that", true, 0, 0, DRAW_ROUND, HEAD, false, 1, 0},
    {"nothing waits, and it shows the head", false, 0, 0, DRAW_ROUND, HEAD, false, 0, 0},
    {"the head, after another", false, 1, 0, DRAW_ROUND, HEAD, false, 0, 0},
    {"nothing waits, and it shows another", false, 0, 0, DRAW_ROUND, OTHER, false, 1, 0},
    {"the same, and has forgotten", false, 0, 0, DRAW_ROUND, OTHER, true, 1, 1},
    {"it remembers after all", false, 1, 1, DRAW_ROUND, OTHER, false, 1, 0},
    {"of a round without a draw here", false, 0, 0, DRAW_ROUND + 2, OTHER, false, 1, 0},
    {"nothing waits, and it is of before", false, 0, 0, DRAW_ROUND - 1, OTHER, false, 0, 0},
};

static void put(uint8_t commitment[TACIT_SHA256_BYTES], uint32_t number)
{
    memset(commitment, 0x33, TACIT_SHA256_BYTES);
    commitment[31] = (uint8_t)number;
}

static struct round_site site_new(bool is_waiting)
{
    struct round_site site;
    memset(&site, 0, sizeof site);
    site.resend = (struct round_resend){.due_us = TACIT_NEVER, .unanswered_count = 5};
    put(site.head, HEAD);
    put(site.commit.commitment, is_waiting ? OURS : HEAD);
    put(site.commit.previous, HEAD - (is_waiting ? 0 : 1));
    put(site.commit.salt, 1);
    return site;
}

TEST(each_refusal_is_judged)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct row const *const row = &rows[i];
        uint8_t shown[TACIT_SHA256_BYTES];
        print_message("%s\n", row->what);
        put(shown, row->shown);
        struct round_refusal const refusal = {.round = row->round,
                                              .draw_round = DRAW_ROUND,
                                              .is_waiting = row->is_waiting,
                                              .forgot = row->forgot,
                                              .commitment = shown};
        struct round_site site = site_new(row->is_waiting);
        site.blocked = row->blocked;
        site.forgotten = row->forgotten;
        struct round_site const before = site;
        bool const has_changed = round_site_on_refusal(&site, &refusal);
        assert_int_equal(site.blocked, row->is_blocked);
        assert_int_equal(site.forgotten, row->is_forgotten);
        assert_int_equal(has_changed,
                         row->blocked != row->is_blocked || row->forgotten != row->is_forgotten);
        assert_memory_equal(&site.commit, &before.commit, sizeof site.commit);
        assert_memory_equal(site.head, before.head, sizeof site.head);
        assert_int_equal(site.resend.unanswered_count, 5); /* it asks on as before */
        assert_false(round_site_on_refusal(&site, &refusal));
        assert_true(round_site_is_possible(&site));
    }
}

TEST(a_grant_is_of_the_draw_that_waits_or_late)
{
    uint8_t shown[TACIT_SHA256_BYTES];
    struct round_site site = site_new(true);
    site.blocked = site.forgotten = 1;
    struct round_site const before = site;
    put(shown, HEAD);
    assert_false(round_site_on_grant(&site, shown));
    put(shown, OTHER);
    assert_false(round_site_on_grant(&site, shown));
    assert_memory_equal(&site, &before, sizeof site);
    put(shown, OURS);
    assert_true(round_site_on_grant(&site, shown));
    assert_memory_equal(site.head, shown, sizeof shown);
    assert_true(site.blocked == 0 && site.forgotten == 0 && site.resend.unanswered_count == 0);
}

TEST(a_draw_follows_the_head)
{
    static const uint8_t domain[TACIT_SHA256_BYTES] = {7};
    struct tacit_commit_scope const scope = {
        .domain = domain, .run_id = 9, .site = 2, .epoch = DRAW_ROUND};
    uint8_t const digest[TACIT_SHA256_BYTES] = {1, 2};
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct round_site site = site_new(false);
    assert_int_equal(round_site_commit(&site, &scope, digest, &entropy), TACIT_OK);
    assert_memory_equal(site.commit.previous, site.head, sizeof site.head);
    struct tacit_commit_head head = {.recent = {0}};
    memcpy(head.head, site.commit.commitment, sizeof head.head);
    assert_true(tacit_commit_opens(&head, &scope, site.commit.previous, site.commit.salt, digest,
                                   sizeof digest));
}

/* What was granted stands; of what was not the head is left: what is said shows it, so that a HELLO
 * which comes after the next grant shows the head before it. */
TEST(a_term_begins)
{
    for (uint32_t granted = 0; granted < 2; granted++) {
        struct round_site site = site_new(granted == 0);
        struct tacit_commit const before = site.commit;
        struct tacit_commit head_alone;
        memset(&head_alone, 0, sizeof head_alone);
        memcpy(head_alone.commitment, site.head, sizeof site.head);
        site.blocked = site.forgotten = 1;
        round_site_begin_term(&site, granted == 1);
        assert_memory_equal(&site.commit, granted == 1 ? &before : &head_alone, sizeof before);
        assert_int_equal(round_site_may_open(&site), granted == 1);
        assert_true(site.blocked == 0 && site.forgotten == 0 && site.resend.unanswered_count == 0);
        site.blocked = 2;
        assert_false(round_site_is_possible(&site));
        site.blocked = 0;
        site.forgotten = 1;
        assert_false(round_site_is_possible(&site));
    }
}

struct pause {
    const char *what;
    struct round_site_step step;
    uint64_t due_before;
    uint64_t due_us;
    uint32_t unanswered;
};

#define FIRST_US 100u

TEST(pauses_begin_and_end)
{
    static const struct pause pauses[] = {
        {"nothing is wanted",
         {.kind = TACIT_EVENT_REWARD, .now_us = 1000, .unanswered_before = 2},
         1500,
         TACIT_NEVER,
         2},
        {"something is said",
         {.kind = TACIT_EVENT_REWARD,
          .now_us = 1000,
          .unanswered_before = 2,
          .is_wanted = true,
          .sends = true},
         TACIT_NEVER,
         1400,
         3},
        {"it is due, and said again",
         {.kind = TACIT_EVENT_TIMEOUT,
          .now_us = 1500,
          .unanswered_before = 2,
          .is_wanted = true,
          .sends = true},
         1500,
         1900,
         3},
        {"a timer of before",
         {.kind = TACIT_EVENT_TIMEOUT, .now_us = 1499, .unanswered_before = 2, .is_wanted = true},
         1500,
         1500,
         2},
        {"due, and nothing could be said",
         {.kind = TACIT_EVENT_TIMEOUT, .now_us = 1500, .unanswered_before = 2, .is_wanted = true},
         1500,
         1900,
         2},
        {"a new clock",
         {.kind = TACIT_EVENT_START, .now_us = 5, .unanswered_before = 2, .is_wanted = true},
         1500,
         405,
         2},
        {"another phase",
         {.kind = TACIT_EVENT_RECEIVE,
          .now_us = 1000,
          .unanswered_before = 2,
          .is_wanted = true,
          .has_moved = true},
         1500,
         1400,
         2},
        {"an answer ends a long pause",
         {.kind = TACIT_EVENT_RECEIVE, .now_us = 1000, .unanswered_before = 9, .is_wanted = true},
         9000,
         1100,
         2},
    };
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        struct round_site site = site_new(true);
        print_message("%s\n", pauses[i].what);
        site.resend = (struct round_resend){.due_us = pauses[i].due_before, .unanswered_count = 2};
        round_site_end_step(&site, FIRST_US, &pauses[i].step);
        assert_int_equal(site.resend.due_us, pauses[i].due_us);
        assert_int_equal(site.resend.unanswered_count, pauses[i].unanswered);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return testing_run(NULL, NULL);
}

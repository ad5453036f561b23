/* Who is granted what, as a table: what a grantor knows, what is shown to it, what it makes of
 * that. Every family's hub and every peer judges by this and by nothing else (docs/adr/0049). */
#include "../support/testing.h"
#include "../../src/proto/round/grantor.h"

#define SITES 70u
#define SITE 66u /* in the second word of a set */
#define WORDS 2048u

/* Commitments by their number: 0 is nothing; 1, 2, ... were granted in this order; BEYOND was
 * granted by another state of the grantor; NEXT follows. */
enum { NONE = 0, BEYOND = 100, NEXT = 101, OTHER = 102 };

enum deed { ASK, GREET, GREET_LATE, NAME, NAME_LATE };

struct row {
    const char *what;
    uint32_t granted; /* so many: the head is of this number */
    bool later_term;
    enum deed deed;
    uint32_t shown;   /* the commitment that is asked for, shown or named */
    uint32_t follows; /* ASK */
    /* the verdict */
    enum tacit_status status;
    enum round_answer answer;
    bool is_unknown;
    uint32_t head; /* afterwards */
};

#define FORK TACIT_FORKED, ROUND_REFUSAL, false
#define BEHIND TACIT_ROLLBACK, ROUND_REFUSAL, true
#define GOOD TACIT_OK, ROUND_NOTHING, false
#define GIVEN TACIT_OK, ROUND_GRANT, false
#define LATE TACIT_OK, ROUND_REFUSAL, false

static const struct row rows[] = {
    {"the first draw", 0, false, ASK, NEXT, NONE, GIVEN, NEXT},
    {"the next one", 3, false, ASK, NEXT, 3, GIVEN, NEXT},
    {"said again", 3, false, ASK, 3, 2, GIVEN, 3},
    {"late by one", 3, false, ASK, 2, 1, LATE, 3},
    {"late by two", 3, false, ASK, 1, NONE, LATE, 3},
    {"as late as is known", 10, false, ASK, 1, NONE, LATE, 10},
    {"later: taken for another state's", 11, false, ASK, 1, NONE, FORK, 11},
    {"a clone", 3, false, ASK, OTHER, 2, FORK, 3},
    {"a backup", 3, false, ASK, OTHER, 1, FORK, 3},
    {"a state whose disk is gone", 3, false, ASK, OTHER, NONE, FORK, 3},
    {"nothing is no commitment", 3, false, ASK, NONE, 3, FORK, 3},
    {"the holder was put back", 3, false, ASK, NEXT, BEYOND, BEHIND, 3},
    {"the holder is empty", 0, false, ASK, NEXT, BEYOND, BEHIND, 0},
    {"a later term takes what it follows", 0, true, ASK, NEXT, BEYOND, GIVEN, NEXT},
    {"and what follows nothing", 0, true, ASK, NEXT, NONE, GIVEN, NEXT},
    {"but once", 3, true, ASK, NEXT, BEYOND, BEHIND, 3},

    {"the head is shown", 3, false, GREET, 3, 0, GOOD, 3},
    {"nothing is, and nothing was granted", 0, false, GREET, NONE, 0, GOOD, 0},
    {"the one before: its successor is on its way", 3, false, GREET, 2, 0, GOOD, 3},
    {"nothing before the first", 1, false, GREET, NONE, 0, GOOD, 1},
    {"an older one in the round that stands", 3, false, GREET, 1, 0, FORK, 3},
    {"what another state granted", 3, false, GREET, BEYOND, 0, BEHIND, 3},
    {"the same, to an empty holder", 0, false, GREET, BEYOND, 0, BEHIND, 0},
    {"of a later term nothing is expected", 0, true, GREET, BEYOND, 0, GOOD, 0},

    {"the head, whenever it was said", 3, false, GREET_LATE, 3, 0, GOOD, 3},
    {"late by one, or a copy's", 3, false, GREET_LATE, 2, 0, LATE, 3},
    {"late by two", 3, false, GREET_LATE, 1, 0, LATE, 3},
    {"nothing, late or of a state whose disk is gone", 1, false, GREET_LATE, NONE, 0, LATE, 1},
    {"what another state granted", 3, false, GREET_LATE, BEYOND, 0, BEHIND, 3},

    {"a total names the head", 3, false, NAME, 3, 0, GOOD, 3},
    {"it names an older one", 3, false, NAME, 2, 0, TACIT_FORKED, ROUND_NOTHING, false, 3},
    {"it names nothing", 0, false, NAME, NONE, 0, TACIT_FORKED, ROUND_NOTHING, false, 0},
    {"it names what another state granted", 3, false, NAME, BEYOND, 0, BEHIND, 3},
    {"a vote names the head", 3, false, NAME_LATE, 3, 0, GOOD, 3},
    {"a vote that a draw has overtaken", 3, false, NAME_LATE, 2, 0, GOOD, 3},
    {"an older one", 3, false, NAME_LATE, 1, 0, LATE, 3},
    {"a vote names nothing", 1, false, NAME_LATE, NONE, 0, TACIT_FORKED, ROUND_NOTHING, false, 1},
    {"what another state granted", 3, false, NAME_LATE, BEYOND, 0, BEHIND, 3},
};

static void put(uint8_t commitment[TACIT_SHA256_BYTES], uint32_t number)
{
    memset(commitment, number == NONE ? 0 : 0x51, TACIT_SHA256_BYTES);
    commitment[0] = (uint8_t)number;
}

/* A grantor whose other sites are not to change. */
static struct round_grantor grantor_new(uint64_t *words, uint32_t granted, bool later_term)
{
    assert_true(round_grantor_words(SITES) <= WORDS);
    memset(words, 0, WORDS * sizeof *words);
    struct round_grantor const grantor = round_grantor_at(words, SITES, later_term);
    for (uint32_t i = 1; i <= granted; i++) {
        struct tacit_commit commit;
        put(commit.commitment, i);
        put(commit.previous, i - 1);
        assert_int_equal(round_grantor_ask(&grantor, SITE, &commit).answer, ROUND_GRANT);
    }
    return grantor;
}

static struct round_verdict judge(const struct round_grantor *grantor, const struct row *row)
{
    struct tacit_commit commit;
    put(commit.commitment, row->shown);
    put(commit.previous, row->follows);
    bool const is_present = row->deed == GREET || row->deed == NAME;
    if (row->deed == ASK)
        return round_grantor_ask(grantor, SITE, &commit);
    if (row->deed <= GREET_LATE)
        return round_grantor_greet(grantor, SITE, commit.commitment, is_present);
    return round_grantor_name(grantor, SITE, commit.commitment, is_present);
}

static void expect_verdict(const struct round_grantor *grantor, const struct row *row,
                           struct round_verdict found)
{
    uint8_t head[TACIT_SHA256_BYTES];
    put(head, row->head);
    assert_int_equal(found.status, row->status);
    assert_int_equal(found.answer, row->answer);
    assert_int_equal(found.is_unknown, row->is_unknown);
    assert_memory_equal(grantor->heads[SITE].head, head, sizeof head);
    bool const is_flagged = row->status == TACIT_FORKED;
    bool const is_ahead = row->status == TACIT_ROLLBACK;
    assert_int_equal(tacit_bits_has(grantor->flagged, SITE), is_flagged);
    assert_int_equal(tacit_bits_has(grantor->ahead, SITE), is_ahead);
    assert_int_equal(tacit_bits_count(grantor->flagged, SITES), is_flagged ? 1 : 0);
    assert_int_equal(tacit_bits_count(grantor->ahead, SITES), is_ahead ? 1 : 0);
    assert_true(round_grantor_is_possible(grantor));
}

TEST(each_situation_has_its_verdict)
{
    static uint64_t words[WORDS];
    static uint64_t before[WORDS];
    static uint64_t after[WORDS];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct row const *const row = &rows[i];
        print_message("%s\n", row->what);
        struct round_grantor const grantor =
            grantor_new(words, row->later_term ? 0 : row->granted, row->later_term);
        for (uint32_t k = 1; row->later_term && k <= row->granted; k++)
            put(grantor.heads[SITE].head, k);
        memcpy(before, words, sizeof before);
        struct round_verdict const found = judge(&grantor, row);
        expect_verdict(&grantor, row, found);
        assert_int_equal(found.persist, memcmp(before, words, sizeof before) != 0);
        memcpy(after, words, sizeof after); /* again: the same, and nothing changes any more */
        if (row->deed != ASK || row->answer != ROUND_GRANT)
            expect_verdict(&grantor, row, judge(&grantor, row));
        assert_int_equal(judge(&grantor, row).persist, false);
        assert_memory_equal(words, after, sizeof after);
    }
}

/* ---- Releases ---- */

static const uint8_t domain[TACIT_SHA256_BYTES] = {7};
static const struct tacit_commit_scope scope = {
    .domain = domain, .run_id = 9, .site = SITE, .epoch = 4};

static struct tacit_commit made(const uint8_t *previous, const uint8_t *release)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_commit commit;
    assert_int_equal(
        tacit_commit_make(&scope, previous, release, TACIT_SHA256_BYTES, &entropy, &commit),
        TACIT_OK);
    return commit;
}

TEST(a_release_is_held_against_the_head)
{
    static uint64_t words[WORDS];
    uint8_t first[TACIT_SHA256_BYTES];
    uint8_t const release[TACIT_SHA256_BYTES] = {1, 2};
    uint8_t const other[TACIT_SHA256_BYTES] = {1, 3};
    struct round_grantor grantor = grantor_new(words, 2, false);
    put(first, 2);
    struct tacit_commit const commit = made(first, release);
    struct round_verdict found = round_grantor_open(&grantor, &scope, &commit, release);
    assert_int_equal(found.status, TACIT_ROLLBACK); /* another state of the grantor granted it */
    assert_true(found.answer == ROUND_REFUSAL && found.is_unknown && found.persist);
    grantor = grantor_new(words, 2, false);
    assert_int_equal(round_grantor_ask(&grantor, SITE, &commit).answer, ROUND_GRANT);
    found = round_grantor_open(&grantor, &scope, &commit, release);
    assert_true(found.status == TACIT_OK && found.answer == ROUND_NOTHING && !found.persist);
    found = round_grantor_open(&grantor, &scope, &commit, other); /* two values for one grant */
    assert_true(found.status == TACIT_FORKED && found.answer == ROUND_NOTHING && found.persist);
    found = round_grantor_open(&grantor, &scope, NULL, release);
    assert_true(found.status == TACIT_FORKED && !found.persist);
}

/* In a later term a release shows its grant by opening it; what follows has to follow that. */
TEST(a_term_takes_what_was_granted_before)
{
    static uint64_t words[WORDS];
    uint8_t before[TACIT_SHA256_BYTES];
    uint8_t const release[TACIT_SHA256_BYTES] = {1, 2};
    struct round_grantor grantor = grantor_new(words, 5, false);
    tacit_bits_add(grantor.flagged, 1);
    tacit_bits_add(grantor.ahead, 2);
    round_grantor_forget(&grantor);
    for (size_t i = 0; i < round_grantor_words(SITES); i++)
        assert_true(words[i] == 0);
    grantor.accepts_first = true;
    put(before, BEYOND);
    struct tacit_commit const commit = made(before, release);
    struct round_verdict const found = round_grantor_open(&grantor, &scope, &commit, release);
    assert_true(found.status == TACIT_OK && found.persist);
    assert_memory_equal(grantor.heads[SITE].head, commit.commitment, TACIT_SHA256_BYTES);
    struct tacit_commit next;
    put(next.commitment, NEXT);
    memcpy(next.previous, commit.commitment, sizeof next.previous);
    assert_int_equal(round_grantor_ask(&grantor, SITE, &next).answer, ROUND_GRANT);
}

TEST(a_set_with_a_site_beyond_the_last_is_none)
{
    static uint64_t words[WORDS];
    for (uint32_t set = 0; set < 2; set++) {
        struct round_grantor const grantor = grantor_new(words, 1, false);
        tacit_bits_add(set == 0 ? grantor.flagged : grantor.ahead, SITES);
        assert_false(round_grantor_is_possible(&grantor));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return testing_run(NULL, NULL);
}

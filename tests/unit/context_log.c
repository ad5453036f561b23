/* Logged contexts: what is read of tables and archives that the test makes, what is offered and
 * what it brings, and what is refused. The real data sets by counts that an independent script
 * (Python's csv module) found; skipped where they are not here. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include "../support/testing.h"
#include "../../src/data/internal.h"
#include "../support/skip.h"
#include "../support/temp.h"

#define K 3u

static char beside[TEMP_PATH_BYTES];

/* ann has 4 rows, bob 3, cat 1; in time ann's first row is the last. */
static const char ratings[] = "user,film,stars,at\n"
                              "ann,f1,5,90\n"
                              "bob,f1,1,20\n"
                              "ann,f2,2,30\n"
                              "cat,f3,5,5\n"
                              "ann,f3,4,10\n"
                              "bob,f4,3,40\n"
                              "ann,f4,1,50\n"
                              "bob,f5,2.5,50\n"
                              "dan,f6,1,60\n";
static const char films[] = "film,about\n"
                            "f1,\"Drama|Sci-Fi\"\n"
                            "f2,comedy\n"
                            "f3,drama\n"
                            "f4,Comedy|Drama\n"
                            "f5,fi\n"
                            "f6,\n"
                            "f9,unseen words of a film that nobody saw\n";
static const char vectors[] = "film,a,b\n"
                              "f1,1,0\nf2,0,1\nf3,0.6,0.8\nf4,-1,0\nf5,0,-1\nf6,0.5,0.5\nf7,3,3\n";
static const char offers[] = "who,case,a,b,good\n"
                             "ann,1,1,0,0\nann,1,0,1,1\nann,1,0.5,0,0.5\n"
                             "bob,2,0,0,1\nbob,2,0,0.1,0\nbob,2,1,0,0\n";

static int open_directory(void **state)
{
    (void)temp_folder_make(state);
    temp_path(beside, temp_folder, "experiment.yaml");
    temp_file_write(temp_folder, "ratings.csv", ratings);
    temp_file_write(temp_folder, "films.csv", films);
    temp_file_write(temp_folder, "vectors.csv", vectors);
    temp_file_write(temp_folder, "offers.csv", offers);
    return 0;
}

static const char *const features[] = {"a", "b"};
static const struct tacit_context_text texts[] = {
    {.table = "films.csv", .item = "film", .text = "about"}};

static struct tacit_context_spec ratings_spec(void)
{
    return (struct tacit_context_spec){.beside = beside,
                                       .folder = "",
                                       .agent_count = 2,
                                       .dimension = 2,
                                       .arm_count = K,
                                       .table = "ratings.csv",
                                       .agent = "user",
                                       .item = "film",
                                       .value = "stars",
                                       .has_above = true,
                                       .above = 2,
                                       .time = "at",
                                       .item_table = "vectors.csv",
                                       .item_column = "film",
                                       .features = features};
}

static struct tacit_context_spec offers_spec(void)
{
    return (struct tacit_context_spec){.beside = beside,
                                       .folder = "",
                                       .agent_count = 2,
                                       .dimension = 2,
                                       .arm_count = K,
                                       .table = "offers.csv",
                                       .agent = "who",
                                       .value = "good",
                                       .decision = "case",
                                       .features = features};
}

static struct tacit_context_data read_ok(const struct tacit_context_spec *spec)
{
    struct tacit_context_data data;
    struct tacit_error error = {""};
    if (tacit_context_data_read(&data, spec, &error) != TACIT_OK)
        fail_msg("%s", error.text);
    return data;
}

static void expect_refusal(const struct tacit_context_spec *spec, enum tacit_status status,
                           const char *part)
{
    struct tacit_context_data data;
    struct tacit_error error = {""};
    assert_int_equal(tacit_context_data_read(&data, spec, &error), status);
    if (strstr(error.text, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, error.text);
}

/* ---- What is read ---- */

TEST(the_most_active_play_their_rows_in_order_of_time)
{
    struct tacit_context_spec const spec = ratings_spec();
    struct tacit_context_data data = read_ok(&spec);
    /* at: ann 10 f3, bob 20 f1, ann 30 f2, bob 40 f4, ann 50 f4, bob 50 f5, ann 90 f1 */
    uint32_t const agents[] = {0, 1, 0, 1, 0, 1, 0};
    uint32_t const items[] = {2, 0, 1, 3, 3, 4, 0};
    double const rewards[] = {1, 0, 0, 1, 0, 1, 1};
    assert_int_equal(data.log.row_count, 7);
    assert_int_equal(data.log.item_count, 6); /* f6 of dan's too: it may be offered */
    assert_int_equal(data.read_count, 9);
    assert_int_equal(data.agents_seen, 4);
    assert_true(data.log.is_ordered);
    assert_memory_equal(data.log.agents, agents, sizeof agents);
    assert_memory_equal(data.log.chosen, items, sizeof items);
    for (uint32_t i = 0; i < 7; i++)
        assert_true(data.log.rewards[i] == rewards[i]);
    /* in single precision (0.6, 0.8) is longer than 1: it is shortened by as little as a context
     * may be longer */
    double const a = data.log.items[2 * 2];
    double const b = data.log.items[2 * 2 + 1];
    assert_true(fabs(a - 0.6) < 1e-6 && fabs(b - 0.8) < 1e-6 && a * a + b * b <= 1);
    tacit_context_data_free(&data);
}

TEST(without_time_rows_have_no_order_and_values_may_be_the_rewards)
{
    struct tacit_context_spec spec = ratings_spec();
    spec.time = NULL;
    spec.has_above = false;
    spec.arm_count = 2;
    struct tacit_context_data data = read_ok(&spec);
    assert_false(data.log.is_ordered);
    assert_true(data.log.rewards[0] == 5 && data.log.rewards[6] == 2.5); /* as in the file */
    tacit_context_data_free(&data);
}

/* Words are cut at what is no letter and made small; "unseen" is of no film that anybody rated. */
TEST(texts_make_vectors_of_length_one_and_alike_texts_alike_ones)
{
    struct tacit_context_spec spec = ratings_spec();
    spec.texts = texts;
    spec.text_count = 1;
    spec.arm_count = K - 1; /* of five, ann never liked two */
    struct tacit_context_data data = read_ok(&spec);
    assert_int_equal(data.word_count, 4); /* drama sci fi comedy */
    assert_int_equal(data.blank_count, 1);
    struct tacit_rng rng = tacit_rng_stream(8, 0, 0, 1);
    for (uint32_t i = 0; i < 1000; i++) { /* f6 is never offered */
        uint32_t items[K];
        double contexts[K * 2];
        tacit_context_log_offer(&data.log, i % 7, K - 1, &rng, items, contexts);
        assert_true(items[0] != 5 && items[1] != 5);
    }
    for (uint32_t item = 0; item < 6; item++) {
        float const *const x = data.log.items + (size_t)item * 2;
        double const norm = sqrt((double)x[0] * (double)x[0] + (double)x[1] * (double)x[1]);
        assert_true(item == 5 ? norm == 0 : fabs(norm - 1) < 1e-6);
        assert_true(norm <= 1);
    }
    tacit_context_data_free(&data);
}

/* Against means and variances added up in plain loops; what a film's row had is told from the
 * table. */
TEST(coordinates_are_standardised_and_a_constant_one_stands_last)
{
    double const given[6][2] = {{1, 0}, {0, 1}, {0.6, 0.8}, {-1, 0}, {0, -1}, {0.5, 0.5}};
    for (int which = 0; which < 4; which++) {
        struct tacit_context_spec spec = ratings_spec();
        spec.is_standardised = which % 2 == 1;
        spec.has_constant = which >= 2;
        struct tacit_context_data data = read_ok(&spec);
        uint32_t const d = spec.has_constant ? 3 : 2;
        assert_int_equal(data.log.dimension, d);
        for (uint32_t i = 0; i < 2; i++) {
            double mean = 0;
            double square = 0;
            for (uint32_t item = 0; item < 6; item++)
                mean += given[item][i] / 6;
            for (uint32_t item = 0; item < 6; item++)
                square += (given[item][i] - mean) * (given[item][i] - mean) / 6;
            for (uint32_t item = 0; item < 6; item++) {
                double const x =
                    spec.is_standardised ? (given[item][i] - mean) / sqrt(square) : given[item][i];
                assert_true(fabs((double)data.log.items[item * d + i] - x) < 1e-6);
                assert_true(d == 2 || data.log.items[item * d + 2] == 1.0F);
            }
        }
        tacit_context_data_free(&data);
    }
}

/* Items without a direction count in no mean, and stay as they are. */
TEST(items_that_are_never_offered_are_not_standardised)
{
    struct tacit_context_spec spec = ratings_spec();
    spec.texts = texts;
    spec.text_count = 1;
    spec.arm_count = K - 1;
    spec.is_standardised = true;
    struct tacit_context_data data = read_ok(&spec);
    for (uint32_t i = 0; i < 2; i++) {
        double mean = 0;
        double square = 0;
        for (uint32_t item = 0; item < 5; item++) {
            double const x = data.log.items[item * 2 + i];
            mean += x / 5;
            square += x * x / 5;
        }
        assert_true(fabs(mean) < 1e-6 && fabs(square - 1) < 1e-6);
        assert_true(fabs((double)data.log.items[5 * 2 + i]) <= 0);
    }
    tacit_context_data_free(&data);
}

/* ---- What is offered ---- */

/* In 20,000 offers of row 2 (ann, f2, which she did not like) its place is each of three with
 * frequency 1/3 +- .015 (4.5 standard errors: false alarm below 1e-4), and so is each other film
 * that she did not like: f4, f5, f6 two at a time. What she liked (f1, f3) never comes. Fixed seed.
 */
TEST(a_row_offers_its_own_item_and_others_that_were_never_liked)
{
    struct tacit_context_spec const spec = ratings_spec();
    struct tacit_context_data data = read_ok(&spec);
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, 1);
    uint32_t places[K] = {0};
    uint32_t counts[6] = {0};
    uint32_t const offers_made = 20000;
    for (uint32_t i = 0; i < offers_made; i++) {
        uint32_t items[K];
        double contexts[K * 2];
        tacit_context_log_offer(&data.log, 2, K, &rng, items, contexts);
        for (uint32_t k = 0; k < K; k++) {
            counts[items[k]]++;
            places[k] += items[k] == 1 ? 1 : 0;
            assert_true(contexts[k * 2] == (double)data.log.items[items[k] * 2]);
        }
        assert_true(items[0] != items[1] && items[1] != items[2] && items[0] != items[2]);
    }
    assert_int_equal(counts[0] + counts[2], 0);
    assert_int_equal(counts[1], offers_made);
    for (uint32_t k = 0; k < K; k++)
        assert_true(fabs((double)places[k] / offers_made - 1.0 / 3) < 0.015);
    for (uint32_t item = 3; item < 6; item++)
        assert_true(fabs((double)counts[item] / offers_made - 2.0 / 3) < 0.015);
    tacit_context_data_free(&data);
}

TEST(only_the_rows_own_item_brings_its_reward)
{
    struct tacit_context_spec const spec = ratings_spec();
    struct tacit_context_data data = read_ok(&spec);
    double best;
    double average;
    assert_true(tacit_context_log_reward(&data.log, 0, K, 2, &best, &average) == 1 && best == 1);
    assert_true(tacit_context_log_reward(&data.log, 0, K, 4, &best, &average) == 0 && best == 1);
    assert_true(tacit_context_log_reward(&data.log, 2, K, 1, &best, &average) == 0 && best == 0);
    assert_true(average == 0);
    (void)tacit_context_log_reward(&data.log, 0, K, 2, &best, &average);
    assert_true(fabs(average - 1.0 / K) < 1e-15);
    tacit_context_data_free(&data);
}

TEST(offers_have_all_arms_and_their_rewards)
{
    struct tacit_context_spec const spec = offers_spec();
    struct tacit_context_data data = read_ok(&spec);
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, 1);
    uint32_t items[K];
    double contexts[K * 2];
    double best;
    double average;
    assert_int_equal(data.log.row_count, 2);
    tacit_context_log_offer(&data.log, 1, K, &rng, items, contexts);
    assert_true(contexts[3] == (double)0.1F && contexts[4] == 1);
    assert_true(tacit_context_log_reward(&data.log, 0, K, 2, &best, &average) == 0.5 && best == 1);
    assert_true(average == 0.5);
    tacit_context_log_offer(&data.log, 0, K, &rng, items, contexts);
    assert_int_equal(items[1], 1);
    assert_true(tacit_context_log_reward(&data.log, 0, K, items[1], &best, &average) == 1);
    tacit_context_data_free(&data);
}

/* ---- Archives ---- */

#define TAR_BYTES 8192u

/* A header as POSIX has it, but for the sum, which nobody here reads; the file; padding. */
static size_t put_member(char *tar, size_t at, const char *name, const char *text)
{
    (void)snprintf(tar + at, 100, "%s", name);
    char size[24];
    (void)snprintf(size, sizeof size, "%011zo", strlen(text));
    memcpy(tar + at + 124, size, 12);
    tar[at + 156] = '0';
    memcpy(tar + at + 257, "ustar", 6);
    memcpy(tar + at + 512, text, strlen(text));
    return at + 512 + (strlen(text) + 511) / 512 * 512;
}

static size_t make_archive(char *tar)
{
    memset(tar, 0, TAR_BYTES);
    size_t at = put_member(tar, 0, "./set/films.csv", films);
    at = put_member(tar, at, "set/vectors.csv", vectors);
    return put_member(tar, at, "set/ratings.csv", ratings) + 1024;
}

TEST(an_archive_is_read_like_a_folder)
{
    static char tar[TAR_BYTES];
    struct tacit_context_spec spec = ratings_spec();
    struct tacit_context_data plain = read_ok(&spec);
    temp_file_write_bytes(temp_folder, "packed.tar", tar, make_archive(tar));
    spec.folder = "packed.tar/set";
    struct tacit_context_data packed = read_ok(&spec);
    assert_int_equal(packed.log.row_count, plain.log.row_count);
    assert_memory_equal(packed.log.items, plain.log.items, 6 * 2 * sizeof(float));
    assert_memory_equal(packed.log.chosen, plain.log.chosen, 7 * sizeof(uint32_t));
    tacit_context_data_free(&plain);
    tacit_context_data_free(&packed);
    spec.table = "other.csv";
    expect_refusal(&spec, TACIT_IO, "there is no 'set/other.csv' in it");
}

TEST(a_damaged_archive_is_refused)
{
    static char tar[TAR_BYTES];
    struct tacit_context_spec spec = ratings_spec();
    spec.folder = "packed.tar/set";
    size_t const size = make_archive(tar);
    memcpy(tar + 124, "77777777777", 11); /* longer than the file */
    temp_file_write_bytes(temp_folder, "packed.tar", tar, size);
    expect_refusal(&spec, TACIT_IO, "not a tar archive, or damaged");
    (void)make_archive(tar);
    tar[124] = 'x';
    temp_file_write_bytes(temp_folder, "packed.tar", tar, size);
    expect_refusal(&spec, TACIT_IO, "not a tar archive, or damaged");
    (void)make_archive(tar);
    temp_file_write_bytes(temp_folder, "packed.tar", tar, 560); /* cut in the first member */
    expect_refusal(&spec, TACIT_IO, "not a tar archive, or damaged");
}

/* ---- What is refused ---- */

TEST(what_does_not_fit_is_refused_with_its_place)
{
    struct tacit_context_spec spec = ratings_spec();
    spec.value = "star";
    expect_refusal(&spec, TACIT_INVALID, "ratings.csv:1: there is no column 'star'");
    spec.value = "film";
    expect_refusal(&spec, TACIT_INVALID, "ratings.csv:2: 'f1' is not a finite number");
    spec = ratings_spec();
    spec.agent_count = 5;
    expect_refusal(&spec, TACIT_INVALID, "it has 4 agents");
    spec = ratings_spec();
    spec.arm_count = 5; /* ann never liked 4 of 6 */
    expect_refusal(&spec, TACIT_INVALID, "likes all but 4");
    spec.arm_count = 7;
    expect_refusal(&spec, TACIT_INVALID, "it has 6 items");
    spec = ratings_spec();
    spec.table = "absent.csv";
    expect_refusal(&spec, TACIT_IO, "'absent.csv' is neither beside");
    spec = ratings_spec();
    spec.texts = texts;
    spec.text_count = 1;
    spec.dimension = 5;
    expect_refusal(&spec, TACIT_INVALID, "the texts have 4 words");
}

TEST(vectors_must_be_there_and_not_longer_than_one)
{
    struct tacit_context_spec spec = ratings_spec();
    temp_file_write(temp_folder, "v.csv", "film,a,b\nf1,1,0\n");
    spec.item_table = "v.csv";
    expect_refusal(&spec, TACIT_INVALID, "there is no item 'f2'");
    temp_file_write(temp_folder, "v.csv", "film,a,b\nf1,1,0\nf2,0.8,0.7\n");
    expect_refusal(&spec, TACIT_INVALID, "v.csv:3: the vector is longer than 1");
    temp_file_write(temp_folder, "v.csv", "film,a,b\nf1,1,nan\n");
    expect_refusal(&spec, TACIT_INVALID, "v.csv:2: 'nan' is not a finite number");
}

TEST(offers_that_are_not_groups_are_refused)
{
    struct tacit_context_spec spec = offers_spec();
    spec.table = "o.csv";
    temp_file_write(temp_folder, "o.csv",
                    "who,case,a,b,good\nann,1,0,0,1\nann,1,0,0,1\nann,2,0,0,1\n");
    expect_refusal(&spec, TACIT_INVALID, "o.csv:4: the rows of a decision stand together");
    temp_file_write(temp_folder, "o.csv",
                    "who,case,a,b,good\nann,1,0,0,1\nbob,1,0,0,1\nann,1,0,0,1\n");
    expect_refusal(&spec, TACIT_INVALID, "o.csv:3: the rows of a decision stand together");
    temp_file_write(temp_folder, "o.csv", "who,case,a,b,good\nann,1,0,0,1\nann,1,0,0,1\n");
    expect_refusal(&spec, TACIT_INVALID, "fewer rows than there are arms");
    temp_file_write(temp_folder, "o.csv", "who,case,a,b,good\n");
    expect_refusal(&spec, TACIT_INVALID, "it has no rows");
    spec.table = "offers.csv";
    spec.agent_count = 1;
    expect_refusal(&spec, TACIT_INVALID, "offers.csv:5: more agents than the experiment has");
    spec.agent_count = 3;
    expect_refusal(&spec, TACIT_INVALID, "it has 2 agents");
}

/* ---- The real ones ---- */

static bool is_here(const char *name)
{
    char path[TACIT_PATH_BYTES];
    return tacit_dataset_find(NULL, name, path) == TACIT_OK;
}

static double longest(const struct tacit_context_log *log)
{
    double most = 0;
    for (uint32_t item = 0; item < log->item_count; item++) {
        double square = 0;
        for (uint32_t i = 0; i < log->dimension; i++) {
            double const x = (double)log->items[(size_t)item * log->dimension + i];
            square += x * x;
        }
        most = square > most ? square : most;
    }
    return sqrt(most);
}

TEST(movielens_is_the_one_that_was_counted)
{
    static const struct tacit_context_text both[] = {
        {.table = "movies.csv", .item = "movieId", .text = "genres"},
        {.table = "tags.csv", .item = "movieId", .text = "tag"}};
    struct tacit_context_spec const spec = {.folder =
                                                "movielens/ml-latest-small.tar/ml-latest-small",
                                            .agent_count = 37,
                                            .dimension = 25,
                                            .arm_count = 25,
                                            .table = "ratings.csv",
                                            .agent = "userId",
                                            .item = "movieId",
                                            .value = "rating",
                                            .has_above = true,
                                            .above = 2,
                                            .time = "timestamp",
                                            .texts = both,
                                            .text_count = 2};
    if (!is_here("movielens/ml-latest-small.tar"))
        SKIP_BECAUSE("no data set movielens here");
    struct tacit_context_data data = read_ok(&spec);
    double liked = 0;
    for (uint64_t row = 0; row < data.log.row_count; row++)
        liked += data.log.rewards[row];
    assert_int_equal(data.log.row_count, 36985);
    assert_true(liked == 30911);
    assert_int_equal(data.log.item_count, 9724);
    assert_int_equal(data.read_count, 100836);
    assert_int_equal(data.agents_seen, 610);
    assert_int_equal(data.word_count, 1758);
    assert_int_equal(data.blank_count, 0);
    assert_true(longest(&data.log) <= 1 && longest(&data.log) > 1 - 1e-6);
    tacit_context_data_free(&data);
}

TEST(lastfm_is_the_one_that_was_counted)
{
    static const struct tacit_context_text tags[] = {{.table = "user_taggedartists.dat",
                                                      .item = "artistID",
                                                      .text = "tagID",
                                                      .names = "tags.dat",
                                                      .names_key = "tagID",
                                                      .names_text = "tagValue"}};
    struct tacit_context_spec const spec = {.folder =
                                                "lastfm/lastfm-hetrec2011.tar/lastfm-hetrec2011",
                                            .dialect = {.encoding = TACIT_ENCODING_LATIN1},
                                            .agent_count = 1892,
                                            .dimension = 25,
                                            .arm_count = 25,
                                            .table = "user_artists.dat",
                                            .agent = "userID",
                                            .item = "artistID",
                                            .value = "weight",
                                            .has_above = true,
                                            .above = 0,
                                            .texts = tags,
                                            .text_count = 1};
    if (!is_here("lastfm/lastfm-hetrec2011.tar"))
        SKIP_BECAUSE("no data set lastfm here");
    struct tacit_context_data data = read_ok(&spec);
    assert_int_equal(data.read_count, 92834);
    assert_true(data.log.row_count > 80000 && data.log.row_count < 92834);
    assert_int_equal(data.word_count, 7628);
    assert_int_equal(data.log.item_count, 17632);
    assert_int_equal(data.agents_seen, 1892);
    assert_false(data.log.is_ordered);
    tacit_context_data_free(&data);
}

int main(void)
{
    return testing_run(open_directory, temp_folder_remove);
}

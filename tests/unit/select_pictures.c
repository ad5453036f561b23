/* Pictures of a training in memory: who gets which (READINGS P5.12), and features that public
 * pictures teach. No data set is needed. */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/select/deal.h"
#include "../../src/families/select/frozen.h"

#define USERS_MAX 300u

static void *new_memory(size_t bytes)
{
    void *const memory = calloc(1, bytes);
    assert_non_null(memory);
    return memory;
}

/* ---- Dealing out ---- */

struct dealt {
    struct training_deal deal;
    uint8_t *labels;
    uint64_t sizes[USERS_MAX];
    uint32_t *rows;
    uint32_t first[USERS_MAX + 1];
};

/* Labels as uneven as those of MNIST (9.0 % to 11.2 %); shares even, or from 1 to 4. */
static struct dealt *deal_new(uint32_t run, uint32_t users, uint32_t classes, bool is_dominant)
{
    struct dealt *const dealt = new_memory(sizeof *dealt);
    struct tacit_rng rng = tacit_rng_stream(41, run, 0, TACIT_PURPOSE_OF_FAMILY(5, 220));
    uint32_t const count = 200 * users;
    dealt->labels = new_memory(count);
    dealt->rows = new_memory(count * sizeof *dealt->rows);
    for (uint32_t i = 0; i < count; i++) {
        bool const is_moved = tacit_rng_bernoulli(&rng, 0.02);
        dealt->labels[i] = (uint8_t)(is_moved ? run % classes : tacit_rng_below(&rng, classes));
    }
    dealt->deal = (struct training_deal){dealt->labels, count, classes, users, is_dominant};
    for (uint32_t user = 0; user < users; user++)
        dealt->sizes[user] = run % 2 == 0 ? 1 : 1 + tacit_rng_below(&rng, 4);
    uint32_t *const scratch = new_memory(count * sizeof *scratch);
    training_deal_out(&dealt->deal, &rng, dealt->sizes, scratch, dealt->rows, dealt->first);
    free(scratch);
    return dealt;
}

static void deal_free(struct dealt *dealt)
{
    free(dealt->labels);
    free(dealt->rows);
    free(dealt);
}

static void count_labels(const struct dealt *dealt, uint32_t user,
                         uint32_t counts[TRAINING_LABELS_MAX])
{
    memset(counts, 0, TRAINING_LABELS_MAX * sizeof *counts);
    for (uint32_t i = dealt->first[user]; i < dealt->first[user + 1]; i++)
        counts[dealt->labels[dealt->rows[i]]]++;
}

TEST(nobody_gets_a_picture_twice_and_everybody_20)
{
    for (uint32_t run = 0; run < 40; run++) {
        uint32_t const users = run % 3 == 0 ? USERS_MAX : 7 + run;
        struct dealt *const dealt = deal_new(run, users, 2 + run % 9, run % 4 < 2);
        uint8_t *const is_taken = new_memory(dealt->deal.count);
        uint32_t unused = dealt->deal.count;
        for (uint32_t user = 0; user < users; user++) {
            assert_true(dealt->sizes[user] >= TRAINING_SIZE_MIN);
            assert_int_equal(dealt->first[user + 1] - dealt->first[user], dealt->sizes[user]);
            for (uint32_t i = dealt->first[user]; i < dealt->first[user + 1]; i++) {
                assert_true(dealt->rows[i] < dealt->deal.count);
                assert_false(is_taken[dealt->rows[i]]);
                is_taken[dealt->rows[i]] = 1;
                unused--;
            }
        }
        assert_true(unused <= users); /* lost by rounding down */
        free(is_taken);
        deal_free(dealt);
    }
}

/* The last users, too: what is theirs was not used up by the first ones. */
TEST(a_quarter_of_a_user_s_pictures_has_its_own_label)
{
    for (uint32_t run = 0; run < 20; run++) {
        uint32_t const classes = run % 2 == 0 ? 10 : 5;
        struct dealt *const dealt = deal_new(run, USERS_MAX, classes, true);
        uint32_t beyond = 0;
        for (uint32_t user = 0; user < USERS_MAX; user++) {
            uint32_t counts[TRAINING_LABELS_MAX];
            count_labels(dealt, user, counts);
            uint32_t const own = counts[user % classes];
            assert_true(own >= dealt->sizes[user] / 4);
            beyond += own > dealt->sizes[user] / 4 ? 1 : 0;
        }
        assert_true(beyond <= 30); /* where nothing but its own label was left for it */
        deal_free(dealt);
    }
}

/* Chi-square over the nine others of the first half of the users, 8 degrees of freedom: above 40
 * with a chance of 3e-6 a run; 20 runs. */
TEST(the_other_labels_are_uniform)
{
    for (uint32_t run = 0; run < 20; run++) {
        struct dealt *const dealt = deal_new(run, USERS_MAX, 10, true);
        double counts[10] = {0};
        double total = 0;
        for (uint32_t user = 0; user < USERS_MAX / 2; user++) {
            uint32_t own[TRAINING_LABELS_MAX];
            count_labels(dealt, user, own);
            for (uint32_t step = 1; step < 10; step++) {
                counts[step] += own[(user + step) % 10];
                total += own[(user + step) % 10];
            }
        }
        double square = 0;
        for (uint32_t step = 1; step < 10; step++)
            square += (counts[step] - total / 9) * (counts[step] - total / 9) / (total / 9);
        assert_true(square < 40);
        deal_free(dealt);
    }
}

/* Share of its most frequent label, mean over the users: a tenth and some chance, far from 1/4. */
TEST(without_a_label_of_their_own_users_are_alike)
{
    struct dealt *const dealt = deal_new(2, USERS_MAX, 10, false);
    double own = 0;
    for (uint32_t user = 0; user < USERS_MAX; user++) {
        uint32_t counts[TRAINING_LABELS_MAX];
        count_labels(dealt, user, counts);
        own += counts[user % 10] / (double)dealt->sizes[user] / USERS_MAX;
    }
    assert_true(fabs(own - 0.1) < 0.01); /* 60,000 pictures: eight sigma */
    deal_free(dealt);
}

/* ---- Features that public pictures teach ---- */

#define SIDE 8u
#define PIXELS (SIDE * SIDE)

/* Label l lights the pixels of row l, with noise. */
static struct tacit_images draw_pictures(uint32_t count, uint32_t seed)
{
    struct tacit_images images = {
        count, 1, SIDE, SIDE, new_memory((size_t)count * PIXELS), new_memory(count)};
    struct tacit_rng rng = tacit_rng_stream(42, seed, 0, TACIT_PURPOSE_OF_FAMILY(5, 221));
    for (uint32_t i = 0; i < count; i++) {
        images.labels[i] = (uint8_t)tacit_rng_below(&rng, 8);
        for (uint32_t k = 0; k < PIXELS; k++) {
            uint64_t const light = k / SIDE == images.labels[i] ? 150 : 0;
            images.pixels[(size_t)i * PIXELS + k] = (uint8_t)(light + tacit_rng_below(&rng, 100));
        }
    }
    return images;
}

struct frozen_pictures {
    struct tacit_images lessons;
    struct tacit_images exam;
    enum tacit_status status;
    uint32_t found;
};

static struct frozen_pictures freeze(const struct training_frozen *frozen, uint32_t seed)
{
    struct frozen_pictures pictures = {.lessons = draw_pictures(1000, 1),
                                       .exam = draw_pictures(300, 2)};
    struct tacit_rng rng = tacit_rng_stream(43, seed, 0, TACIT_PURPOSE_OF_FAMILY(5, 222));
    pictures.status =
        training_freeze(frozen, 8, &rng, &pictures.lessons, &pictures.exam, &pictures.found);
    return pictures;
}

static void frozen_free(struct frozen_pictures *pictures)
{
    tacit_images_free(&pictures->lessons);
    tacit_images_free(&pictures->exam);
}

TEST(public_pictures_leave_the_users)
{
    struct training_frozen const frozen = {.pictures = 200, .labels = 3, .epochs = 1};
    struct tacit_images before = draw_pictures(1000, 1);
    struct frozen_pictures after = freeze(&frozen, 1);
    assert_int_equal(after.status, TACIT_OK);
    assert_int_equal(after.lessons.count, 800);
    uint32_t taken = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < before.count; i++)
        if (before.labels[i] < 3 && taken < 200)
            taken++;
        else
            assert_int_equal(after.lessons.labels[kept++], before.labels[i]);
    assert_int_equal(taken, 200);
    assert_int_equal(kept, 800);
    assert_int_equal(after.exam.count, 300);
    tacit_images_free(&before);
    frozen_free(&after);
}

TEST(features_are_centred_rows_of_16_and_the_same_for_a_seed)
{
    struct training_frozen const frozen = {.pictures = 400, .labels = 8, .epochs = 3};
    struct frozen_pictures one = freeze(&frozen, 1);
    struct frozen_pictures same = freeze(&frozen, 1);
    struct frozen_pictures other = freeze(&frozen, 2);
    assert_int_equal(one.status, TACIT_OK);
    assert_int_equal(one.exam.channels * one.exam.height * one.exam.width, TRAINING_FROZEN_WIDTH);
    size_t const bytes = (size_t)one.exam.count * TRAINING_FROZEN_WIDTH;
    assert_memory_equal(one.exam.pixels, same.exam.pixels, bytes);
    assert_memory_equal(one.lessons.pixels, same.lessons.pixels,
                        (size_t)one.lessons.count * TRAINING_FROZEN_WIDTH);
    assert_int_not_equal(memcmp(one.exam.pixels, other.exam.pixels, bytes), 0);
    double deviations = 0;
    for (uint32_t unit = 0; unit < TRAINING_FROZEN_WIDTH; unit++) {
        double sum = 0;
        double square = 0;
        for (uint32_t i = 0; i < one.lessons.count; i++) {
            double const value =
                (double)one.lessons.pixels[(size_t)i * TRAINING_FROZEN_WIDTH + unit] -
                (double)TRAINING_FROZEN_MEAN;
            sum += value / one.lessons.count;
            square += value * value / one.lessons.count;
        }
        assert_true(fabs(sum) <
                    10); /* of deviations of 32, over 600 pictures like the public ones */
        deviations += sqrt(square) / TRAINING_FROZEN_WIDTH;
    }
    assert_true(deviations > 16 && deviations < 40);
    frozen_free(&one);
    frozen_free(&same);
    frozen_free(&other);
}

/* Mean distance of pictures of two labels over that of one label, by their features. */
static double separation(const struct tacit_images *images)
{
    double sums[2] = {0};
    double counts[2] = {0};
    for (uint32_t i = 0; i + 1 < images->count; i++) {
        double square = 0;
        for (uint32_t unit = 0; unit < TRAINING_FROZEN_WIDTH; unit++) {
            double const step =
                (double)images->pixels[(size_t)i * TRAINING_FROZEN_WIDTH + unit] -
                (double)images->pixels[(size_t)(i + 1) * TRAINING_FROZEN_WIDTH + unit];
            square += step * step;
        }
        int const is_other = images->labels[i] == images->labels[i + 1] ? 0 : 1;
        sums[is_other] += sqrt(square);
        counts[is_other] += 1;
    }
    assert_true(counts[0] > 0 && counts[1] > 0);
    return sums[1] / counts[1] / (sums[0] / counts[0]);
}

TEST(what_was_learnt_separates_labels_better_than_chance_layers)
{
    struct training_frozen const learnt = {.pictures = 600, .labels = 8, .epochs = 20};
    struct training_frozen const drawn = {.pictures = 600, .labels = 8, .epochs = 0};
    struct frozen_pictures one = freeze(&learnt, 1);
    struct frozen_pictures two = freeze(&drawn, 1);
    print_message("separation: learnt %.2f, drawn %.2f\n", separation(&one.exam),
                  separation(&two.exam));
    assert_true(separation(&one.exam) > 1.5 * separation(&two.exam));
    frozen_free(&one);
    frozen_free(&two);
}

TEST(too_few_public_pictures_are_refused_and_nothing_is_changed)
{
    struct training_frozen const frozen = {.pictures = 900, .labels = 2, .epochs = 1};
    struct tacit_images before = draw_pictures(1000, 1);
    struct frozen_pictures after = freeze(&frozen, 1);
    assert_int_equal(after.status, TACIT_INVALID);
    uint32_t of_them = 0;
    for (uint32_t i = 0; i < before.count; i++)
        of_them += before.labels[i] < 2 ? 1 : 0;
    assert_int_equal(after.found, of_them);
    assert_int_equal(after.lessons.count, 1000);
    assert_memory_equal(after.lessons.pixels, before.pixels, 1000 * PIXELS);
    tacit_images_free(&before);
    frozen_free(&after);
}

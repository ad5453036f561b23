/* Room base, one function at a time: bit sets around the word boundary, sums of rewards (more of
 * them in privacy.c), text in too little room, status texts. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/random.h"
#include "../../src/proto/round/site.h"

#define MEMBERS_MAX 128u

static const uint32_t sizes[] = {1, 63, 64, 65, 127, 128};
#define SIZE_COUNT (sizeof sizes / sizeof sizes[0])

/* ---- Bit sets -------------------------------------------------------------------------------- */

TEST(fill_makes_all_members_and_no_bit_beyond_at_each_size)
{
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        uint64_t bits[TACIT_BITS_WORDS(MEMBERS_MAX) + 1] = {0};
        uint64_t const guard = UINT64_C(0x5555555555555555);
        size_t const words = TACIT_BITS_WORDS(sizes[i]);
        bits[words] = guard;
        tacit_bits_fill(bits, sizes[i]);
        for (uint32_t index = 0; index < words * 64; index++)
            assert_int_equal(tacit_bits_has(bits, index), index < sizes[i]);
        assert_int_equal(bits[words], guard);
    }
}

TEST(fill_of_nothing_writes_nothing)
{
    uint64_t bits = 12;
    tacit_bits_fill(&bits, 0);
    assert_int_equal(bits, 12);
    assert_int_equal(tacit_bits_count(&bits, 0), 0);
    assert_int_equal(tacit_bits_next(&bits, 0, 0), 0);
    assert_true(tacit_bits_within(&bits, &bits, 0));
}

/* Against a naive set: members, their number, the next one from each place, all that is in another
 * set. Sets from empty to full, made by adding and removing, some of it twice. */
static void expect_set(const uint64_t *bits, const bool *is_member, uint32_t size)
{
    uint32_t next = size;
    uint32_t count = 0;
    assert_int_equal(tacit_bits_next(bits, size, UINT32_MAX), size);
    assert_int_equal(tacit_bits_next(bits, size, size + 1), size);
    assert_int_equal(tacit_bits_next(bits, size, size), size);
    for (uint32_t index = size; index-- > 0;) {
        next = is_member[index] ? index : next;
        count += is_member[index];
        assert_int_equal(tacit_bits_has(bits, index), is_member[index]);
        assert_int_equal(tacit_bits_next(bits, size, index), next);
    }
    assert_int_equal(tacit_bits_count(bits, size), count);
}

TEST(bit_sets_are_naive_sets)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    for (uint32_t draw = 0; draw < 200 * SIZE_COUNT; draw++) {
        uint32_t const size = sizes[draw % SIZE_COUNT];
        uint64_t bits[TACIT_BITS_WORDS(MEMBERS_MAX)] = {0};
        uint64_t outer[TACIT_BITS_WORDS(MEMBERS_MAX)];
        bool is_member[MEMBERS_MAX] = {false};
        double const share = draw < SIZE_COUNT ? 1 : tacit_rng_uniform(&rng);
        expect_set(bits, is_member, size);
        for (uint32_t step = 0; step < 2 * size; step++) {
            uint32_t const index =
                draw < SIZE_COUNT ? step / 2 : (uint32_t)tacit_rng_below(&rng, size);
            is_member[index] = tacit_rng_bernoulli(&rng, share);
            (is_member[index] ? tacit_bits_add : tacit_bits_remove)(bits, index);
        }
        expect_set(bits, is_member, size);
        memcpy(outer, bits, sizeof outer);
        for (uint32_t index = 0; index < size; index++) {
            tacit_bits_remove(outer, index);
            assert_int_equal(tacit_bits_within(bits, outer, size), !is_member[index]);
            assert_true(tacit_bits_within(outer, bits, size));
            memcpy(outer, bits, sizeof outer);
        }
    }
}

TEST(next_with_bits_beyond_the_end_stops_at_the_end)
{
    uint64_t const bits[] = {0, UINT64_C(1) << 3};
    assert_int_equal(tacit_bits_next(bits, 66, 0), 66);
    assert_int_equal(tacit_bits_next(bits, 68, 0), 67);
}

TEST(within_fails_for_each_bit_beyond_the_end_even_if_both_have_it)
{
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        for (uint32_t index = sizes[i]; index < TACIT_BITS_WORDS(sizes[i]) * 64; index++) {
            uint64_t bits[TACIT_BITS_WORDS(MEMBERS_MAX)] = {0};
            tacit_bits_add(bits, index);
            assert_false(tacit_bits_within(bits, bits, sizes[i]));
        }
    }
}

/* ---- Sums of rewards ------------------------------------------------------------------------- */

static struct tacit_scale steps_between(double lo, double hi)
{
    return (struct tacit_scale){.kind = TACIT_SCALE_STEPS, .lo = lo, .hi = hi};
}

TEST(add_and_mean_on_a_real_scale_are_plain_doubles)
{
    struct tacit_scale const scale = {.kind = TACIT_SCALE_REAL};
    union tacit_sum sum = {.real = 0};
    tacit_sum_add_reward(&scale, &sum, -2.5, 4);
    tacit_sum_add(&scale, &sum, (union tacit_sum){.real = 5});
    assert_true(sum.real == -5.0);
    assert_true(tacit_sum_mean(&scale, sum, 2) == -2.5);
}

TEST(add_and_mean_on_steps_map_the_range_to_0_and_1)
{
    struct tacit_scale const scale = steps_between(-10, 10);
    union tacit_sum sum = {.steps = 0};
    tacit_sum_add_reward(&scale, &sum, 0, 2);
    tacit_sum_add(&scale, &sum, (union tacit_sum){.steps = -TACIT_STEPS});
    assert_int_equal(sum.steps, 0);
    tacit_sum_add_reward(&scale, &sum, 5, 1);
    assert_true(tacit_sum_mean(&scale, sum, 1) == 0.75);
}

/* ---- Text ------------------------------------------------------------------------------------ */

TEST(text_that_just_fits_is_whole_and_one_byte_more_is_cut)
{
    char bytes[] = "????????";
    struct tacit_text text = tacit_text_init(bytes, 4);
    assert_string_equal(text.bytes, "");
    tacit_text_add(&text, "ab");
    tacit_text_add(&text, "");
    tacit_text_add(&text, "c");
    assert_string_equal(bytes, "abc");
    assert_false(text.truncated);
    tacit_text_add(&text, "");
    assert_false(text.truncated);
    tacit_text_add(&text, "d");
    assert_string_equal(bytes, "abc");
    assert_true(text.truncated);
    assert_int_equal(text.size, 3);
    assert_int_equal(bytes[4], '?');
}

TEST(text_cut_in_the_middle_keeps_the_beginning)
{
    char bytes[6];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_text_add_u64(&text, 1234567);
    assert_string_equal(bytes, "12345");
    assert_true(text.truncated);
}

TEST(text_in_one_byte_is_empty_and_cut)
{
    char byte[1];
    struct tacit_text text = tacit_text_init(byte, 1);
    assert_false(text.truncated);
    tacit_text_add(&text, "a");
    assert_string_equal(byte, "");
    assert_true(text.truncated);
}

static void expect_nano(uint64_t nano, const char *wanted)
{
    char bytes[64];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_text_add_nano(&text, nano);
    assert_string_equal(bytes, wanted);
    assert_int_equal(text.size, strlen(wanted));
    assert_false(text.truncated);
}

TEST(nano_is_a_decimal_without_trailing_zeros)
{
    expect_nano(0, "0");
    expect_nano(1, "0.000000001");
    expect_nano(10, "0.00000001");
    expect_nano(100000000, "0.1");
    expect_nano(999999999, "0.999999999");
    expect_nano(1000000000, "1");
    expect_nano(1000000001, "1.000000001");
    expect_nano(1500000000, "1.5");
    expect_nano(50000000000, "50");
    expect_nano(UINT64_MAX, "18446744073.709551615");
}

TEST(u64_at_both_ends_is_written_in_full)
{
    char bytes[64];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_text_add_u64(&text, 0);
    tacit_text_add(&text, " ");
    tacit_text_add_u64(&text, UINT64_MAX);
    assert_string_equal(bytes, "0 18446744073709551615");
}

/* ---- Statuses -------------------------------------------------------------------------------- */

TEST(status_text_of_each_status_is_its_own_sentence)
{
    static const enum tacit_status all[] = {
#define X(name, value, text) name,
        TACIT_STATUS_LIST(X)
#undef X
    };
    size_t const count = sizeof all / sizeof all[0];
    assert_string_equal(tacit_status_text(TACIT_OK), "ok");
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(all[i], -(int)i);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tacit_status_text(all[i]), tacit_status_text(all[j]));
    }
}

TEST(status_text_of_an_unknown_status_is_not_null)
{
    assert_string_equal(tacit_status_text((enum tacit_status)(-100)), "an unknown status");
}

/* ---- Saying again ---- */

TEST(pause_doubles_with_each_message_without_an_answer_up_to_64_times)
{
    uint64_t expected_us = 3;
    for (uint32_t unanswered = 0; unanswered <= 6; unanswered++, expected_us *= 2)
        assert_int_equal(round_pause_us(3, unanswered), expected_us);
    assert_int_equal(round_pause_us(3, 7), 192);
    assert_int_equal(round_pause_us(3, UINT32_MAX), 192);
    assert_int_equal(round_pause_us(TACIT_NEVER >> 6, 6), TACIT_NEVER >> 6 << 6);
}

TEST(a_round_waits_its_full_time_once)
{
    assert_true(round_deadline_us(false, true, 5, 10, 12) == TACIT_NEVER);
    assert_int_equal(round_deadline_us(true, true, 5, 10, 12), 15);
    assert_int_equal(round_deadline_us(true, true, 5, 10, TACIT_NEVER), 15);
    assert_int_equal(round_deadline_us(true, false, 5, 10, 12), 12); /* stands */
    assert_int_equal(round_deadline_us(true, false, 5, 10, 6), 6);
    assert_int_equal(round_deadline_us(true, false, 5, 10, 5), 15);  /* has come */
    assert_int_equal(round_deadline_us(true, false, 5, 10, 16), 15); /* of another clock */
    assert_int_equal(round_deadline_us(true, false, 5, 10, TACIT_NEVER), 15);
}

/* One step of a core at time 1,000 whose pauses begin at 10. */
static struct round_resend after(uint64_t due_us, uint32_t unanswered, struct round_site_step step)
{
    struct round_site site = {.resend = {due_us, unanswered}};
    step.kind = TACIT_EVENT_RECEIVE;
    step.now_us = 1000;
    round_site_end_step(&site, 10, &step);
    return site.resend;
}

TEST(nothing_is_due_when_nothing_is_wanted)
{
    struct round_site_step const step = {.is_wanted = false, .has_moved = true, .sends = true};
    struct round_resend const resend = after(1010, 2, step);
    assert_int_equal(resend.due_us, TACIT_NEVER);
    assert_int_equal(resend.unanswered_count, 2);
}

TEST(pause_begins_anew_and_only_what_is_said_counts)
{
    struct round_site_step const waits = {
        .is_wanted = true, .has_moved = true, .unanswered_before = 2};
    struct round_site_step const says = {
        .is_wanted = true, .has_moved = true, .sends = true, .unanswered_before = 2};
    assert_int_equal(after(1001, 2, waits).due_us, 1040);
    assert_int_equal(after(1001, 2, waits).unanswered_count, 2);
    assert_int_equal(after(1001, 2, says).due_us, 1040);
    assert_int_equal(after(1001, 2, says).unanswered_count, 3);
    assert_int_equal(after(1001, UINT32_MAX, says).unanswered_count, UINT32_MAX);
}

TEST(an_answer_ends_a_long_pause_and_never_makes_one_longer)
{
    struct round_site_step const answered = {.is_wanted = true, .unanswered_before = 5};
    struct round_site_step const silent = {.is_wanted = true};
    assert_int_equal(after(1640, 0, answered).due_us, 1010);
    assert_int_equal(after(1003, 0, answered).due_us, 1003);
    assert_int_equal(after(TACIT_NEVER, 0, answered).due_us, 1010);
    assert_int_equal(after(1640, 0, silent).due_us, 1640);
}

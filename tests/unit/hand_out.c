/* Which unit goes to whom: everything once, nothing twice unless a rank is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../programs/hand_out.h"

#define CELLS_MAX 100u

static uint32_t given[CELLS_MAX][HAND_OUT_SHARES_MAX];

static void forget(void)
{
    for (uint32_t i = 0; i < CELLS_MAX; i++)
        for (uint32_t j = 0; j < HAND_OUT_SHARES_MAX; j++)
            given[i][j] = 0;
}

static void every_share_is_given_once(void **state)
{
    (void)state;
    for (uint32_t cells = 1; cells <= CELLS_MAX; cells += 11)
        for (uint32_t seats = 1; seats <= 40; seats += 13) {
            struct hand_out *const hand_out = hand_out_new(cells, seats);
            struct hand_out_unit unit;
            uint32_t whole = 0;
            uint32_t count = 0;
            forget();
            for (; hand_out_next(hand_out, count % seats, &unit); count++) {
                assert_true(unit.cell < cells && unit.index < unit.count);
                assert_true(unit.count <= HAND_OUT_SHARES_MAX);
                assert_int_equal(given[unit.cell][unit.index]++, 0);
                assert_true(hand_out_knows(hand_out, unit));
                assert_true(hand_out_done(hand_out, unit));
                assert_false(hand_out_done(hand_out, unit));
                whole += hand_out_whole(hand_out, unit.cell) ? 1 : 0;
            }
            assert_int_equal(whole, cells);
            assert_true(seats == 1 ? count == cells : count >= cells && count >= seats);
            hand_out_free(hand_out);
        }
}

static void many_cells_are_given_whole(void **state)
{
    (void)state;
    struct hand_out *const hand_out = hand_out_new(100, 4);
    struct hand_out_unit unit;
    for (uint32_t i = 0; i < 93; i++) {
        assert_true(hand_out_next(hand_out, 0, &unit));
        assert_int_equal(unit.cell, i);
        assert_int_equal(unit.count, 1);
    }
    assert_true(hand_out_next(hand_out, 0, &unit));
    assert_true(unit.count > 1);
    hand_out_free(hand_out);
}

static void what_a_lost_rank_had_is_given_again_and_its_late_results_count(void **state)
{
    (void)state;
    struct hand_out *const hand_out = hand_out_new(3, 2);
    struct hand_out_unit first;
    struct hand_out_unit unit;
    uint32_t left = 0;
    assert_true(hand_out_next(hand_out, 1, &first));
    while (hand_out_next(hand_out, 0, &unit))
        left++;
    assert_int_equal(hand_out_lose(hand_out, 1), 1);
    assert_int_equal(hand_out_lose(hand_out, 1), 0);
    assert_true(hand_out_done(hand_out, first)); /* before it is given again: it is not */
    assert_false(hand_out_next(hand_out, 0, &unit));
    assert_int_equal(hand_out_lose(hand_out, 0), left);
    for (uint32_t i = 0; i < left; i++) {
        assert_true(hand_out_next(hand_out, 2, &unit));
        assert_false(unit.cell == first.cell && unit.index == first.index);
    }
    assert_false(hand_out_next(hand_out, 2, &unit));
    hand_out_free(hand_out);
}

static void what_is_left_is_not_given(void **state)
{
    (void)state;
    struct hand_out *const hand_out = hand_out_new(5, 1);
    struct hand_out_unit unit;
    hand_out_leave(hand_out, 0);
    hand_out_leave(hand_out, 3);
    hand_out_leave(hand_out, 4);
    assert_true(hand_out_next(hand_out, 0, &unit) && unit.cell == 1);
    assert_true(hand_out_next(hand_out, 0, &unit) && unit.cell == 2);
    assert_false(hand_out_next(hand_out, 0, &unit));
    assert_false(hand_out_whole(hand_out, 0));
    hand_out_free(hand_out);
}

/* What a message may say. */
static void units_of_nothing_are_not_known(void **state)
{
    (void)state;
    struct hand_out *const hand_out = hand_out_new(2, 1);
    struct hand_out_unit unit;
    assert_false(hand_out_knows(hand_out, (struct hand_out_unit){0, 0, 1}));
    assert_true(hand_out_next(hand_out, 0, &unit));
    assert_true(hand_out_knows(hand_out, (struct hand_out_unit){0, 0, 1}));
    assert_false(hand_out_knows(hand_out, (struct hand_out_unit){1, 0, 1}));
    assert_false(hand_out_knows(hand_out, (struct hand_out_unit){2, 0, 1}));
    assert_false(hand_out_knows(hand_out, (struct hand_out_unit){0, 1, 1}));
    assert_false(hand_out_knows(hand_out, (struct hand_out_unit){0, 0, 2}));
    hand_out_free(hand_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_share_is_given_once),
        cmocka_unit_test(many_cells_are_given_whole),
        cmocka_unit_test(what_a_lost_rank_had_is_given_again_and_its_late_results_count),
        cmocka_unit_test(what_is_left_is_not_given),
        cmocka_unit_test(units_of_nothing_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* See testing.h. */
#include "testing.h"
#include <stdbool.h>

#define TESTS_MAX 500u

static struct CMUnitTest tests[TESTS_MAX];
static uint32_t lines[TESTS_MAX];
static size_t test_count;
static struct {
    testing_end *end;
    uint64_t known;
} ends[2];
static size_t end_count;
static CMFixtureFunction set_up_of_all;
static bool is_running;
static void **owned;
static size_t owned_count;
static size_t owned_room;

void testing_add(const struct CMUnitTest *test, uint32_t line)
{
    size_t at = test_count++;
    if (test_count > TESTS_MAX)
        abort();
    for (; at > 0 && lines[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        lines[at] = lines[at - 1];
    }
    tests[at] = *test;
    lines[at] = line;
}

static int set_up_all(void **state)
{
    int const result = set_up_of_all == NULL ? 0 : set_up_of_all(state);
    is_running = true;
    return result;
}

int testing_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    set_up_of_all = set_up;
    return _cmocka_run_group_tests("tests", tests, test_count, set_up_all, tear_down);
}

static void *own(void *memory)
{
    assert_non_null(memory);
    if (!is_running)
        return memory;
    if (owned_count == owned_room) {
        owned_room = 2 * owned_room + 64;
        owned = realloc(owned, owned_room * sizeof *owned);
        assert_non_null(owned);
    }
    owned[owned_count++] = memory;
    return memory;
}

void *testing_malloc(size_t size)
{
    return own(malloc(size));
}

void *testing_calloc(size_t count, size_t size)
{
    return own(calloc(count, size));
}

void testing_free(void *memory)
{
    size_t at = owned_count;
    while (at > 0 && owned[at - 1] != memory)
        at--;
    if (at > 0) { /* what came last goes first, mostly */
        owned_count--;
        memmove(owned + at - 1, owned + at, (owned_count - at + 1) * sizeof *owned);
    }
    free(memory);
}

int testing_over(CMFixtureFunction tear_down, void **state)
{
    int const result = tear_down == NULL ? 0 : tear_down(state);
    while (owned_count > 0)
        free(owned[--owned_count]);
    return result;
}

void testing_ask(testing_end *end, uint64_t known)
{
    if (end_count == sizeof ends / sizeof *ends)
        abort();
    ends[end_count].end = end;
    ends[end_count++].known = known;
}

int testing_ended(int argc, int failed)
{
    for (size_t i = 0; i < end_count; i++)
        failed = ends[i].end(argc, failed, ends[i].known);
    return failed;
}

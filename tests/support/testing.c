/* See testing.h. */
#include "testing.h"

#define TESTS_MAX 500u

static struct CMUnitTest tests[TESTS_MAX];
static uint32_t lines[TESTS_MAX];
static size_t test_count;
static struct {
    testing_end *end;
    uint64_t known;
} ends[2];
static size_t end_count;

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

int testing_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    return _cmocka_run_group_tests("tests", tests, test_count, set_up, tear_down);
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

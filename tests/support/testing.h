/* What every program of tests includes: cmocka, what it asks to be included before it, what nearly
 * all of them use, and how a test is one. Parameters may go unused: each test is handed a state,
 * each callback a context, which hardly any looks at. */
#ifndef TACIT_TESTS_TESTING_H
#define TACIT_TESTS_TESTING_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* A test: it runs because it is there, in the order of lines. The state is that of cmocka. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
/* .. between these two. */
#define TEST_WITH(name, set_up, tear_down)                                                         \
    static void name(void **state);                                                                \
    static int name##_is_over(void **state)                                                        \
    {                                                                                              \
        return testing_over(tear_down, state);                                                     \
    }                                                                                              \
    __attribute__((constructor)) static void name##_is_a_test(void)                                \
    {                                                                                              \
        testing_add(&(struct CMUnitTest){#name, name, set_up, name##_is_over, NULL}, __LINE__);    \
    }                                                                                              \
    static void name(void **state)

void testing_add(const struct CMUnitTest *test, uint32_t line);
/* A test a case of the array, which has its name and is its initial state. */
#define TESTING_ADD_CASES(cases, function)                                                         \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++)                                   \
    testing_add(&(struct CMUnitTest){.name = (cases)[i].name,                                      \
                                     .test_func = (function),                                      \
                                     .initial_state = (void *)(uintptr_t) & (cases)[i]},           \
                0)
int testing_over(CMFixtureFunction tear_down, void **state);

/* Memory that a test has until it is over, or for testing_free, which takes any. In the set_up of
 * all tests: until testing_free. They fail the test where there is none. */
void *testing_malloc(size_t size);
void *testing_calloc(size_t count, size_t size);
void testing_free(void *memory);

/* Runs all tests of the program, between these two; for main. A program without a main has one that
 * does only this, and then asks `end`s. Result: how many failed. */
int testing_run(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* What the tests together have to come to: known. argc: of main; above 1 only some of them ran.
 * Result: failed, or what it says itself. */
typedef int testing_end(int argc, int failed, uint64_t known);
#define TESTS_END_WITH(end, known)                                                                 \
    __attribute__((constructor)) static void end##_is_asked(void)                                  \
    {                                                                                              \
        testing_ask(end, known);                                                                   \
    }
void testing_ask(testing_end *end, uint64_t known);
int testing_ended(int argc, int failed);
#endif

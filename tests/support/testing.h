/* What every program of tests includes: cmocka, what it asks to be included before it, and what
 * nearly all of them use. Parameters may go unused: each test is handed a state, each
 * callback a context, which hardly any looks at. */
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
#endif

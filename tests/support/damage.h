/* What a core's check says of states that no run makes: valid states with one word, half of a word
 * or byte changed to a few values. Each verdict goes into one number, compared at the end of a
 * program with the known one: a condition of a check that is another one shows, though no test asks
 * for it. What a change hits follows from how a state is laid out, so the number is compared only
 * where addresses have 64 bits and low bytes come first; it is not in digest.h's. Who changes a
 * layout, a check or a drive puts the new number in, and says in the commit what moved. */
#ifndef TACIT_TESTS_DAMAGE_H
#define TACIT_TESTS_DAMAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is this state accepted? state: a copy, aligned for everything, size bytes. It must not write. */
typedef bool damage_verdict(const void *state, size_t size, void *context);

/* Changes each word in turn. Requires: size is a multiple of 8, the state itself is accepted. */
void damage_all(const void *state, size_t size, damage_verdict *accepts, void *context);

/* For a driver, after each of its steps: changes two words, the next ones in turn, one of the first
 * 32 and one of all. After the first steps it looks at fewer and fewer, so that a long drive costs
 * little. Nothing while digest.h is paused: then states are damaged otherwise. */
void damage_some(const void *state, size_t size, damage_verdict *accepts, void *context);

/* Drives may be long, and what is tried beside each step costs time: true for some 256 log n of the
 * first n. */
bool damage_is_due(uint64_t number);

/* Adds all words of a state (of a large one the first 64 KiB) as they stand: what a state keeps and
 * shows to nobody. Real numbers are rounded to 24 bits, for the mathematics of another processor.
 * Nothing while digest.h is paused. Requires: size is a multiple of 8, and no byte between members
 * is left as it was found. */
void damage_words(const void *state, size_t size);

/* For the end of main, around digest_end or the tests: like digest_end. */
int damage_end(int argc, int failed, uint64_t known);
#define VERDICTS_ARE(known) TESTS_END_WITH(damage_end, known)
#endif

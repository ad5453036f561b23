/* A known answer for all that a program of tests makes the cores do: each step of a driver adds its
 * status, what it says, plans and waits for, and each check of a state its verdict. One number at
 * the end stands for tens of thousands of steps: a deadline, a word or a refusal that is another
 * one anywhere shows, though no test asks for it. Who adds a test or means a change puts the new
 * number in; else it is a fault. Nothing of it depends on memory, time or how a state is laid out.
 */
#ifndef TACIT_TESTS_DIGEST_H
#define TACIT_TESTS_DIGEST_H
#include "tacit/elim.h"
#include "tacit/phased.h"

/* One number more in a digest of one's own. */
uint64_t digest_mix(uint64_t so_far, uint64_t word);
void digest_word(uint64_t word);
void digest_bytes(const void *bytes, size_t size);
/* To a millionth: what the mathematics of another processor may change is far below. */
void digest_real(double value);
void digest_reals(const double *values, size_t count);
/* All that a ledger has. */
void digest_ledger(const struct tacit_ledger *ledger);
/* While a test damages states bit by bit nothing is added: what a damaged state does follows from
 * how it is laid out. */
void digest_pause(bool is_paused);
bool digest_is_paused(void);

/* What the updates of most cores have in common. flags: bits that say what is asked for. */
void digest_step(enum tacit_status status, uint64_t flags, uint64_t deadline_us,
                 const struct tacit_pull_block *plan, uint32_t plan_count);
void digest_elim(enum tacit_status status, const struct tacit_elim_update *update,
                 uint32_t arm_count, uint32_t agent_count);
void digest_phased(enum tacit_status status, const struct tacit_phased_update *update);

/* For the end of main: what it returns there. failed: of the tests. Says the number and 1 if it is
 * not the known one; a part of the tests, or their long form, has another one, and passes. */
int digest_end(int argc, int failed, uint64_t known);
/* .. of a program that has no main. */
#define DIGEST_IS(known) TESTS_END_WITH(digest_end, known)
#endif

/* What the hub and the peers share: the judge of Alg. 1 l. 12-16, who may be a server (Alg. 1, 5)
 * or every agent (Alg. 3). */
#ifndef TACIT_ELIM_INTERNAL_H
#define TACIT_ELIM_INTERNAL_H
#include "tacit/elim.h"
#include "tacit/phases.h"
#include "../round/message_kind.h"

/* A part of its owner's state. */
struct elim_judge {
    uint64_t pulls; /* S(r) of the order that stands */
    double radius;  /* C(r) of the last test */
    uint32_t epoch;
    uint32_t active_count;
    uint32_t round_count; /* epochs whose reports were collected */
    bool finished;        /* no epoch follows */
    /* With exact bounds: */
    uint32_t leader;     /* 1 + the arm with the largest y; 0: none yet */
    uint32_t anew_after; /* rounds up to this one are of another term: no later history continues
                            theirs */
    uint32_t rung_count; /* of the ladder */
    uint64_t slots;      /* of an agent, in all plans so far */
};

/* Where the judge of a state has its parts. */
struct elim_judge_parts {
    struct elim_judge *judge;
    const struct tacit_elim_schedule *schedule;
    uint64_t *active;     /* W(K) */
    uint64_t *final;      /* W(K): the one arm of the last order; survivors stay in active */
    double *means;        /* K: aggregated means of the last round */
    uint32_t *eliminated; /* K: the epoch of elimination; 0: still active */
    uint64_t *exact;      /* with exact bounds: rungs E | agents in each round E | totals E x K */
    uint64_t horizon;     /* slots of an agent: T, or more where it was extended */
    const uint64_t *retired; /* W(K): arms that went out without a look; NULL: none can */
};

/* Words that the arrays need, in this order. */
size_t elim_judge_words(const struct tacit_elim_schedule *schedule);

/* The parts of a judge whose arrays begin at words. */
struct elim_judge_parts elim_judge_at(struct elim_judge *judge,
                                      const struct tacit_elim_schedule *schedule, uint64_t *words);

/* All arms active, no epoch yet. Requires: zeroed memory. */
void elim_judge_init(const struct elim_judge_parts *parts);

/* Goes to the next epoch in which something is pulled, or to the end. */
void elim_judge_begin_epoch(const struct elim_judge_parts *parts);

/* l. 12-16 with the means of the round in place, averaged over so many agents; with exact bounds
 * with the totals. */
void elim_judge_close_round(const struct elim_judge_parts *parts, uint32_t agents_averaged);

/* Takes the retired arms that are still active out, in the present epoch. Requires: one stays. */
void elim_judge_retire(const struct elim_judge_parts *parts);

/* No epoch follows the present one, whose reports were not judged. */
void elim_judge_end(const struct elim_judge_parts *parts);

/* The order that stands, without addresses. */
struct tacit_elim_message elim_judge_order(const struct elim_judge_parts *parts);

struct tacit_elim_judge_view elim_judge_view(const struct elim_judge_parts *parts);

/* Could a step have left these? (For states from a disk.) */
bool elim_judge_is_possible(const struct elim_judge_parts *parts);

/* Is it a change that a run with so many agents and arms can have? */
bool elim_change_is_possible(const struct tacit_elim_change *change, uint32_t agent_count,
                             uint32_t arm_count);

/* Words of a log with room for so many. */
size_t elim_changes_words(uint32_t change_max);

bool elim_schedule_is_valid(const struct tacit_elim_schedule *schedule);

/* ---- judge_exact.c ---- */

bool elim_is_exact(const struct tacit_elim_schedule *schedule);

/* Two aggregators: each round is one release of those who were counted, and no history. */
bool elim_is_masked(const struct tacit_elim_schedule *schedule);

/* Are growth and confidence possible, and all that goes with them? */
bool elim_exact_is_valid(const struct tacit_elim_schedule *schedule);

/* Rungs of the ladder, and words of a judge's parts; 0 with the paper's bounds. Requires: valid. */
uint32_t elim_exact_rungs(const struct tacit_elim_schedule *schedule);
size_t elim_exact_words(const struct tacit_elim_schedule *schedule);

/* Do totals of so many agents, as large as anybody would take them for honest, stay below 2^62? */
bool elim_totals_fit(const struct tacit_mechanism *mechanism,
                     const struct tacit_elim_schedule *schedule);

/* K history sums of the round that stands, of all who reported together: whoever collects writes
 * those of the active arms. Requires, here and below: exact bounds. */
int64_t *elim_judge_totals(const struct elim_judge_parts *parts);

/* The same from totals of the round alone, one an active arm. NULL: it brought nothing. */
void elim_exact_add(const struct elim_judge_parts *parts, const int64_t *totals);

/* S(r) - S(r-1) of the order that stands; 0: it is the last. */
uint64_t elim_exact_new_pulls(const struct elim_judge_parts *parts);

/* Rounds that brought nothing: void ones, of two aggregators. */
uint32_t elim_exact_void_count(const struct elim_judge_parts *parts);

void elim_exact_init(const struct elim_judge_parts *parts);

/* EXACT-BOUNDS 4.3 with the totals of so many agents; 0: the round is void. */
void elim_exact_eliminate(const struct elim_judge_parts *parts, uint32_t agents);

/* Does the plan of the judge's new epoch fit (4.5)? If so its slots are taken. */
bool elim_exact_goes_on(const struct elim_judge_parts *parts);

/* The arm's interval that is valid at all times (3 v). */
struct tacit_bounds_interval elim_judge_interval(const struct elim_judge_parts *parts, uint32_t arm,
                                                 double confidence);

/* Could a step have left these? */
bool elim_exact_is_possible(const struct elim_judge_parts *parts);

/* Do the sums of so many agents, as large as anybody would take them for honest, add up to an
 * integer of 64 bits? Requires: agent_count > 0. */
bool elim_sums_fit(const struct tacit_mechanism *mechanism, uint32_t agent_count, uint64_t horizon);

bool elim_agent_config_is_valid(const struct tacit_elim_agent_config *config);

/* What a step may move: as much as tacit_elim_update.happened is told by. */
struct elim_agent_progress {
    uint64_t term;
    uint64_t release_number;
    uint32_t epoch;
    uint8_t phase;
    bool last;
};

struct elim_agent_progress elim_agent_progress(const struct tacit_elim_agent *agent);

/* As tacit_elim_update.happened, from how the agent was before. */
uint32_t elim_agent_happened(const struct elim_agent_progress *before,
                             const struct tacit_elim_agent *agent);

/* tacit_elim_agent_step, but nobody says what happened: a peer looks once, after all its steps. */
enum tacit_status elim_agent_step(struct tacit_elim_agent *agent, const struct tacit_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update);

/* A later term begins, and nothing of the history is of use in it. */
void elim_agent_reset(struct tacit_elim_agent *agent, uint64_t term);

/* ---- Table ---- */

struct tacit_elim_table {
    uint32_t agent_count;
    uint32_t arm_count;
    bool is_shared;
    bool has_openings;
    /* rows of two epochs, 2 x A x K | scratch W(A): the set that a message names | with grants:
     * openings 2 x A, 16 words each */
    uint64_t words[];
};

/* K sums of this agent in one half (0, 1) of the table. */
union tacit_sum *elim_table_row(struct tacit_elim_table *table, uint32_t half, uint32_t agent);
uint64_t *elim_table_scratch(struct tacit_elim_table *table);

/* What opens this agent's row. Requires: grants. */
struct tacit_elim_opening *elim_table_opening(struct tacit_elim_table *table, uint32_t half,
                                              uint32_t agent);

/* What it is, as far as rounds go. */
enum round_message_kind elim_message_kind(const void *message);

/* What a commitment is to: S(r), the active set, its sums side by side. Cost: O(K). */
void elim_release_digest(uint64_t pulls, const uint64_t *arms, uint32_t arm_count,
                         const union tacit_sum *sums, uint32_t sum_count,
                         uint8_t digest[TACIT_SHA256_BYTES]);

/* The row of the origin with this number and rank in a DATA message. */
const union tacit_sum *elim_message_row(const struct tacit_elim_message *message, uint32_t origin,
                                        uint32_t rank);

/* What opens it. Requires: the message has openings. */
const struct tacit_elim_opening *elim_message_opening(const struct tacit_elim_message *message,
                                                      uint32_t origin, uint32_t rank);
#endif

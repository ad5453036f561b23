/* Where the state of an agent has its parts, and what its files have of each other: it is a rule of
 * sites that play in rounds (round/agent.h). agent_order.c hears orders, agent_changes.c what the
 * operator changed, agent_plan.c says what is pulled, agent_release.c draws, agent_term.c begins a
 * term, agent_check.c looks at what lay on a disk. */
#ifndef TACIT_ELIM_AGENT_STATE_H
#define TACIT_ELIM_AGENT_STATE_H
#include "../round/agent.h"
#include "internal.h"

struct tacit_elim_agent {
    struct tacit_elim_agent_config config;
    union {
        struct round_play play;
        struct {
            ROUND_PLAY_MEMBERS(epoch, draw_epoch, release_epoch)
        };
    };
    uint64_t pulls;         /* S(r) of the order */
    uint64_t release_pulls; /* S(r) of the last draw that was granted: each arm that was active has
                             * so many */
    uint32_t active_count;
    uint32_t leader;       /* 1 + that of the order, with exact bounds; 0: none */
    uint32_t change_count; /* of the log that is known */
    bool upload;           /* this epoch's report is asked for */
    bool dropped;          /* the operator asks for no report of this agent any more */
    /* arms bits | left K | done K | exact K | noised K | report K | plan K blocks | with grants:
     * pending K | with changes: log, barred W(K), refused W(K), playable W(K) | with two
     * aggregators, whose sums are masked, side by side: what opens them */
    uint64_t words[];
};

_Static_assert(sizeof(union tacit_sum) == sizeof(uint64_t), "sums are stored as words");
_Static_assert(sizeof(struct tacit_pull_block) == 2 * sizeof(uint64_t), "a block is two words");

/* ---- Layout ---- */

/* W(K): active in the order that stands. */
static inline uint64_t *arms_of(struct tacit_elim_agent *agent)
{
    return agent->words;
}

static inline uint64_t *column_of(struct tacit_elim_agent *agent, uint32_t column)
{
    TACIT_ASSERT(column < (agent->config.has_grants ? 8u : 7u));
    size_t const arms = agent->config.arm_count;
    return agent->words + TACIT_BITS_WORDS(arms) + column * arms;
}

/* K: pulls of each arm that the plan still asks for. */
static inline uint64_t *left_of(struct tacit_elim_agent *agent)
{
    return column_of(agent, 0);
}

/* K: pulls of each arm since the start of the run. */
static inline uint64_t *done_of(struct tacit_elim_agent *agent)
{
    return column_of(agent, 1);
}

/* Sums of the rewards that are not released yet. */
static inline union tacit_sum *exact_of(struct tacit_elim_agent *agent)
{
    return (union tacit_sum *)column_of(agent, 2);
}

/* Sums of all releases: S(r) times the paper's y-bar (Eq. 6). */
static inline union tacit_sum *noised_of(struct tacit_elim_agent *agent)
{
    return (union tacit_sum *)column_of(agent, 3);
}

/* The noised sums of the active arms, side by side as a report sends them. */
static inline union tacit_sum *report_of(struct tacit_elim_agent *agent)
{
    return (union tacit_sum *)column_of(agent, 4);
}

/* Room for K blocks: the plan as it was handed out last. */
static inline struct tacit_pull_block *plan_of(struct tacit_elim_agent *agent)
{
    return (struct tacit_pull_block *)column_of(agent, 5);
}

/* What noised will be once the draw is granted. */
static inline union tacit_sum *pending_of(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->config.has_grants);
    return (union tacit_sum *)column_of(agent, 7);
}

/* With two aggregators: what opens the masked sums of the last draw. */
static inline struct tacit_helper_release *masked_of(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->config.has_helper && agent->config.change_max == 0);
    return (struct tacit_helper_release *)(void *)(column_of(agent, 7) + agent->config.arm_count);
}

/* The log, change_count entries of it; change i has the number i + 1. */
static inline struct tacit_elim_change *changes_of(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->config.change_max > 0);
    size_t const arms = agent->config.arm_count;
    size_t const columns = agent->config.has_grants ? 8 : 7;
    return (struct tacit_elim_change *)(void *)(agent->words + TACIT_BITS_WORDS(arms) +
                                                columns * arms);
}

static inline uint64_t *arm_set(struct tacit_elim_agent *agent, uint32_t set)
{
    TACIT_ASSERT(set < 3);
    return (uint64_t *)(void *)(changes_of(agent) + agent->config.change_max) +
           set * TACIT_BITS_WORDS(agent->config.arm_count);
}

/* Arms that are not played: retired, or refused. */
static inline uint64_t *barred_of(struct tacit_elim_agent *agent)
{
    return arm_set(agent, 0);
}

/* Of those, the ones that this agent itself refuses, and what a log retired that a later term has
 * forgotten. */
static inline uint64_t *refused_of(struct tacit_elim_agent *agent)
{
    return arm_set(agent, 1);
}

/* Arms that a plan may have (elim_agent_find_playable); without changes the active ones. */
static inline uint64_t *playable_of(struct tacit_elim_agent *agent)
{
    return agent->config.change_max == 0 ? arms_of(agent) : arm_set(agent, 2);
}

/* Where it says state, that is the agent: what round/agent.h calls. */

/* ---- agent_changes.c ---- */

/* Does the order's log continue the one that is known? Errors: TACIT_MALFORMED, TACIT_FORKED. */
enum tacit_status elim_agent_check_changes(struct tacit_elim_agent *agent,
                                           const struct tacit_elim_message *order);
/* It is not played any more, and its rewards that were not released never are. */
void elim_agent_bar_arm(struct tacit_elim_agent *agent, uint32_t arm);
/* Is an arm left, should this one go? */
bool elim_agent_leaves_an_arm(struct tacit_elim_agent *agent, uint32_t arm);
/* True: the log is longer than it was, and what is new in it holds from now on. */
bool elim_agent_apply_changes(void *state, const struct tacit_event *input);

/* ---- agent_order.c ---- */

/* Errors: as elim_agent_check_changes; nothing changed. */
enum tacit_status elim_agent_check_order(void *state, const struct tacit_event *input);
/* Of a new epoch: its arms and S(r) stand, and its plan is laid. */
void elim_agent_apply_order(void *state, const struct tacit_event *input);
/* True: the report that it asks for is the one that was granted last, and the rest of it is taken.
 */
bool elim_agent_reuse_release(void *state, const struct tacit_event *input);
/* Does it ask for more of what was granted? */
bool elim_agent_continues(void *state, const struct tacit_event *input);
/* Of the epoch that stands. True: whether this agent is asked is another answer now. */
bool elim_agent_update_asked(void *state, const struct tacit_event *input);

/* ---- agent_plan.c ---- */

/* What may be played of what the order names; if that is nothing, of all arms. */
void elim_agent_find_playable(struct tacit_elim_agent *agent);
/* The plan of the order that stands, less what is done. */
void elim_agent_lay_plan(void *state);
/* Into the update, which points into the agent until its next step. */
void elim_agent_fill_plan(struct tacit_elim_agent *agent, struct tacit_elim_update *update);
uint32_t elim_agent_arm_to_exploit(struct tacit_elim_agent *agent);

/* ---- agent_release.c ---- */

/* Of the next draw, for each reward in it, in nano-epsilon. */
uint64_t elim_agent_cost_nano(void *state, const struct tacit_event *event);
/* l. 9: a noised sum of each active arm, into report_of. Errors: TACIT_ENTROPY, nothing is drawn.
 */
enum tacit_status elim_agent_draw(void *state, const struct tacit_entropy *entropy,
                                  struct round_draw *draw);
/* l. 10: what was drawn joins the history, or where there are grants the one that waits. */
void elim_agent_record_draw(void *state);
/* The exact sums are gone. */
void elim_agent_erase(void *state);
/* It was granted: the history that waited is the one. */
void elim_agent_use_draw(void *state);

/* ---- agent_term.c ---- */

/* Nothing is owed any more. What was pulled counts for the next plan; with two aggregators it does
 * not. */
void elim_agent_drop_plan(void *state);
/* What was granted stands, in a term whose orders are not known yet. */
void elim_agent_begin_term(void *state);
/* .. and is of no use in it. */
void elim_agent_forget(void *state);

/* ---- agent.c ---- */

/* Its part in a round; valid as long as the agent lies where it is. */
struct round_agent elim_agent_round(void *state);
/* The report with these K sums: those of active arms are copied into report_of, where it points. Of
 * two aggregators they are masked, side by side, and it points to them. */
struct tacit_elim_message elim_agent_report_with(struct tacit_elim_agent *agent,
                                                 const union tacit_sum *history);

#endif

/* Where the state of a hub has its parts, and what its rooms have of each other: hub.c hears sites,
 * hub_rounds.c opens and closes rounds, hub_changes.c leaves sites and arms out, hub_check.c looks
 * at what lay on a disk, hub_snapshot.c writes what must not be lost. */
#ifndef TACIT_ELIM_HUB_STATE_H
#define TACIT_ELIM_HUB_STATE_H
#include "../round/rounds.h"
#include "internal.h"

struct tacit_elim_hub {
    struct tacit_elim_hub_config config; /* its weights are in the words */
    struct tacit_elim_schedule schedule; /* the same, but for N where sites are left out */
    uint64_t horizon;                    /* slots of an agent: T, or more where it was extended */
    uint64_t timeout_us;                 /* of a round, as it was changed last */
    uint32_t quorum;                     /* the same; 0: all */
    uint32_t change_count;
    struct elim_judge judge;
    struct round_desk desk;
    uint64_t judge_words; /* of the judge's parts */
    bool weighted;        /* sinks report for their components */
    bool spare[7];
    /* judge | uploaders W(A) | received W(A) | next W(A) | seen A, weights A, agents A | sums A x
     * K, row = agent, column = rank of the arm among the active ones | with grants: heads A,
     * flagged W(A), ahead W(A) | with changes: log, retired W(K), dropped W(A), abstaining W(A),
     * refused A x W(K) */
    uint64_t words[];
};

/* ---- Layout ---- */

static inline uint64_t *retired_of(struct tacit_elim_hub *hub);

static inline struct elim_judge_parts judge_of(struct tacit_elim_hub *hub)
{
    struct elim_judge_parts parts = elim_judge_at(&hub->judge, &hub->schedule, hub->words);
    parts.horizon = hub->horizon;
    if (hub->config.change_max > 0)
        parts.retired = retired_of(hub);
    return parts;
}

/* W(K) */
static inline uint64_t *active_of(struct tacit_elim_hub *hub)
{
    return judge_of(hub).active;
}

/* K: of the last round, in units of the range. */
static inline double *means_of(struct tacit_elim_hub *hub)
{
    return judge_of(hub).means;
}

static inline uint64_t *agents_of(struct tacit_elim_hub *hub, uint32_t set)
{
    TACIT_ASSERT(set <= 3);
    return hub->words + hub->judge_words + set * TACIT_BITS_WORDS(hub->config.agent_count);
}

/* W(A): who is asked in this round. */
static inline uint64_t *uploaders_of(struct tacit_elim_hub *hub)
{
    return agents_of(hub, 0);
}

/* W(A): whose report of it is here. */
static inline uint64_t *received_of(struct tacit_elim_hub *hub)
{
    return agents_of(hub, 1);
}

/* W(A): who is asked in the next one. */
static inline uint64_t *next_uploaders_of(struct tacit_elim_hub *hub)
{
    return agents_of(hub, 2);
}

/* Two numbers of 32 bits fit a word. */
static inline uint32_t *numbers_of(struct tacit_elim_hub *hub, uint32_t column)
{
    TACIT_ASSERT(column < 3);
    return (uint32_t *)agents_of(hub, 3) + column * (size_t)hub->config.agent_count;
}

/* Last epoch whose report is held, by agent. */
static inline uint32_t *seen_of(struct tacit_elim_hub *hub)
{
    return numbers_of(hub, 0);
}

/* How many agents each agent may report for. */
static inline uint32_t *weights_of(struct tacit_elim_hub *hub)
{
    return numbers_of(hub, 1);
}

/* How many agents are in the report that is here. */
static inline uint32_t *covered_of(struct tacit_elim_hub *hub)
{
    return numbers_of(hub, 2);
}

static inline size_t numbers_words(uint32_t agents)
{
    return (3 * (size_t)agents + 1) / 2;
}

/* The report of this agent: a sum an active arm, side by side. */
static inline union tacit_sum *row_of(struct tacit_elim_hub *hub, uint32_t agent)
{
    TACIT_ASSERT(agent <= hub->config.agent_count);
    size_t const arms = hub->config.schedule.arm_count;
    return (union tacit_sum *)(agents_of(hub, 3) + numbers_words(hub->config.agent_count)) +
           agent * arms;
}

static inline struct round_hub round_of(void *state)
{
    struct tacit_elim_hub *const hub = state;
    struct tacit_elim_hub_config const *const config = &hub->config;
    struct round_hub round = {.desk = &hub->desk,
                              .asked = uploaders_of(hub),
                              .next = next_uploaders_of(hub),
                              .received = received_of(hub),
                              .seen = seen_of(hub),
                              .rows = (uint64_t *)(void *)row_of(hub, 0),
                              .row_words = config->schedule.arm_count,
                              .covered = covered_of(hub),
                              .domain = config->domain,
                              .run_id = config->run_id,
                              .site_count = config->agent_count,
                              .round = hub->judge.epoch,
                              .round_max = TACIT_ELIM_EPOCHS_MAX,
                              .timeout_us = hub->timeout_us,
                              /* one arm: nothing to say (PRIVACY.md D.48) */
                              .is_silent = config->schedule.arm_count == 1,
                              .has_helper = config->has_helper,
                              .is_last = hub->judge.finished,
                              .answers_all = config->answers_all,
                              .is_numbered = config->numbered_commits};
    if (config->has_grants)
        round.grantor = round_grantor_at((uint64_t *)(void *)row_of(hub, config->agent_count),
                                         config->agent_count, hub->desk.term > 0);
    return round;
}

static inline size_t grants_words(const struct tacit_elim_hub_config *config)
{
    return config->has_grants ? round_grantor_words(config->agent_count) : 0;
}

static inline struct tacit_elim_change *changes_of(struct tacit_elim_hub *hub)
{
    TACIT_ASSERT(hub->config.change_max > 0);
    uint64_t *const end = (uint64_t *)(void *)row_of(hub, hub->config.agent_count);
    return (struct tacit_elim_change *)(void *)(end + grants_words(&hub->config));
}

/* Arms that the operator has taken out. */
static inline uint64_t *retired_of(struct tacit_elim_hub *hub)
{
    return (uint64_t *)(void *)(changes_of(hub) + hub->config.change_max);
}

/* Sites that the operator has taken out. */
static inline uint64_t *dropped_of(struct tacit_elim_hub *hub)
{
    return retired_of(hub) + TACIT_BITS_WORDS(hub->config.schedule.arm_count);
}

/* Sites that refuse an arm that is in. */
static inline uint64_t *abstaining_of(struct tacit_elim_hub *hub)
{
    return dropped_of(hub) + TACIT_BITS_WORDS(hub->config.agent_count);
}

/* Arms that this agent refuses. */
static inline uint64_t *refused_of(struct tacit_elim_hub *hub, uint32_t agent)
{
    TACIT_ASSERT(agent < hub->config.agent_count);
    return abstaining_of(hub) + TACIT_BITS_WORDS(hub->config.agent_count) +
           agent * TACIT_BITS_WORDS(hub->config.schedule.arm_count);
}

/* Words of all these. */
static inline size_t changes_words(const struct tacit_elim_hub_config *config)
{
    size_t const arms = TACIT_BITS_WORDS(config->schedule.arm_count);
    size_t const agents = TACIT_BITS_WORDS(config->agent_count);
    return config->change_max == 0 ? 0
                                   : elim_changes_words(config->change_max) + arms + 2 * agents +
                                         config->agent_count * arms;
}

/* ---- Who counts ---- */

static inline bool is_dropped(struct tacit_elim_hub *hub, uint32_t agent)
{
    return hub->config.change_max > 0 && tacit_bits_has(dropped_of(hub), agent);
}

/* Was it taken out, or does it refuse an arm that is in? */
static inline bool is_excused(struct tacit_elim_hub *hub, uint32_t agent)
{
    return hub->config.change_max > 0 &&
           (tacit_bits_has(dropped_of(hub), agent) || tacit_bits_has(abstaining_of(hub), agent));
}

/* Sites that can report. Cost: a word of 64 sites at once, where some can be left out; all weigh
 * the same then. */
static inline uint32_t eligible_count(struct tacit_elim_hub *hub)
{
    bool const has_changes = hub->config.change_max > 0;
    uint32_t const agents = hub->config.agent_count;
    uint32_t count = has_changes ? agents : 0;
    for (size_t i = 0; has_changes && i < TACIT_BITS_WORDS(agents); i++)
        count -= tacit_bits_word_count(dropped_of(hub)[i] | abstaining_of(hub)[i]);
    for (uint32_t agent = 0; !has_changes && agent < agents; agent++)
        count += weights_of(hub)[agent] > 0 ? 1 : 0;
    return count;
}

static inline bool is_retired(struct tacit_elim_hub *hub, uint32_t arm)
{
    return hub->config.change_max > 0 && tacit_bits_has(retired_of(hub), arm);
}

/* ---- hub.c ---- */

/* Was it made with this one, weights included? */
bool elim_hub_same_config(struct tacit_elim_hub *hub, const struct tacit_elim_hub_config *config);
extern const struct round_rule elim_hub_rule;

/* The whole update of a step, or of a change. */
void elim_hub_fill_update(struct tacit_elim_hub *hub, const struct round_made *made,
                          struct tacit_elim_update *update);

/* ---- hub_rounds.c ---- */

/* Agents, not reports, that suffice once the deadline is over. */
uint32_t elim_hub_quorum(void *state);
/* After arms or sites became fewer: who abstains, and N of the paper's S(r). */
void elim_hub_count_eligible(struct tacit_elim_hub *hub);
/* The order that stands, but for its head; it points into the hub. */
struct tacit_elim_message elim_hub_order(struct tacit_elim_hub *hub);
/* Who is asked next, into next_uploaders_of. Errors: TACIT_ENTROPY, the hub is as it was. */
enum tacit_status elim_hub_draw_uploaders(void *state, const struct tacit_entropy *entropy);
/* l. 12-16. With two aggregators `totals` are of so many agents, 0: the round is void; else NULL,
 * and the reports are in the rows. */
void elim_hub_judge(void *state, uint32_t agents, const int64_t *totals);
/* As the order says them: S(r), or of two aggregators S(r) - S(r-1). */
uint64_t elim_hub_pulls(struct tacit_elim_hub *hub);
void elim_hub_check_invariants(struct tacit_elim_hub *hub);

/* ---- hub_changes.c ---- */

/* What a site says that it does not play. Errors: TACIT_ENTROPY, nothing changed. */
enum tacit_status elim_hub_note_refused(void *state, const struct round_input *input,
                                        const struct tacit_entropy *entropy,
                                        struct round_made *made);
#endif

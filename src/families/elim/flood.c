/* Each component is on its own, from the first slot to T: explore, draw, wait until the slowest
 * report is everywhere, judge. Its agents have one order and so one plan; they differ in rewards,
 * noise, and the arm that each plays while it waits. A star is one component where nobody waits. */
#include "flood.h"
#include <math.h>
#include <string.h>
#include "tacit/wire_elim.h"
#include "tally.h"

#define AGENTS_BETWEEN_STOP_CHECKS 1024u

struct elim_flood {
    const struct elim_sim *experiment;
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t component_count;
    uint32_t *members; /* A: agents, component by component, ascending in each; star: NULL */
    uint32_t *end;     /* of each component in members */
    struct tacit_rng *rewards; /* A */
    struct tacit_rng *noise;   /* A */
    union tacit_sum *noised;   /* A x K: sums of all releases; K, those of all agents (adds_all) */
    union tacit_sum *own;      /* A x K: of exact rewards; NULL where nobody looks at them */
    unsigned char *judges;     /* one a component */
    size_t judge_bytes;
    double *means;                 /* K: of the round */
    int64_t *totals;               /* K: of the round, with exact bounds */
    uint64_t *waiting;             /* K: agents that play each arm while they wait */
    struct tacit_pull_block *plan; /* K */
    struct tacit_sim_pulls pulls;  /* what is played; or */
    struct tacit_sim_curve curve;  /* what is lost by it (adds_losses) */
    struct elim_tally *tally;      /* made when it is needed first */
    bool is_counted;               /* or the graph is too large for it */
    struct tacit_sim_aggregators aggregators;
    struct tacit_sim_totals sent;
    const struct tacit_sim_instance *instance; /* of the run under way */
    atomic_bool *stop;
};

/* The agents of a component. */
struct part {
    const uint32_t *members; /* NULL: 0, 1, .. */
    uint32_t count;
};

/* A round of one component. */
struct round {
    struct tacit_elim_message order;
    uint64_t each;       /* pulls of each active arm */
    uint32_t plan_count; /* blocks in flood->plan */
};

static uint32_t member_of(const struct part *part, uint32_t i)
{
    TACIT_ASSERT(i < part->count);
    return part->members == NULL ? i : part->members[i];
}

static struct tacit_elim_judge *judge_of(const struct elim_flood *flood, uint32_t component)
{
    TACIT_ASSERT(component < flood->component_count);
    return (struct tacit_elim_judge *)(void *)(flood->judges + component * flood->judge_bytes);
}

static bool is_real(const struct elim_flood *flood)
{
    return flood->experiment->mechanism.scale.kind == TACIT_SCALE_REAL;
}

static bool is_star(const struct elim_sim *experiment)
{
    return experiment->network == NULL;
}

/* A hub with exact bounds needs integers of all agents together: the order in which it adds them is
 * no matter. Otherwise each agent's mean joins the others' (hub_rounds.c). */
static bool adds_all(const struct elim_sim *experiment)
{
    return is_star(experiment) && experiment->growth > 0;
}

/* Regret is added up slot by slot in the runs whose cores do so (memory.c, counts_pulls): then its
 * last bits are alike. */
static bool adds_losses(const struct elim_sim *experiment)
{
    return is_star(experiment) && experiment->growth <= 0;
}

static size_t row_count(const struct elim_sim *experiment)
{
    return adds_all(experiment) ? 1 : experiment->common.agent_count;
}

/* Somebody who waits follows its rewards as they are where they are no integers. */
static bool keeps_own(const struct elim_sim *experiment)
{
    return experiment->mechanism.scale.kind == TACIT_SCALE_REAL && !is_star(experiment);
}

/* ---- Whom it serves ---- */

bool elim_flood_serves(const struct elim_sim *experiment)
{
    struct tacit_elim_network const *const network = experiment->network;
    if (experiment->faults != NULL || experiment->hooks != NULL)
        return false;
    if (is_star(experiment))
        return experiment->report_count == experiment->common.agent_count &&
               experiment->round_timeout_us == 0;
    if (network->collection != TACIT_ELIM_SPREAD)
        return false;
    bool const is_connected = network->component_count == 1;
    bool const is_alone = network->graph->edge_count == 0;
    return (is_connected || is_alone) &&
           experiment->report_count == (is_connected ? experiment->common.agent_count : 1);
}

static uint32_t component_count(const struct elim_sim *experiment)
{
    return is_star(experiment) ? 1 : experiment->network->component_count;
}

double elim_flood_bytes(const struct elim_sim *experiment)
{
    double const row = (double)experiment->common.env.arm_count * sizeof(union tacit_sum);
    double const around =
        2 * sizeof(struct tacit_rng) + (is_star(experiment) ? 0 : 4 * sizeof(uint32_t));
    double const agent =
        around + (keeps_own(experiment) ? row : 0) + (adds_all(experiment) ? 0 : row);
    struct tacit_elim_schedule const schedule = elim_sim_schedule(experiment, 1);
    double const judges =
        (double)tacit_elim_judge_size(&schedule) * (double)component_count(experiment);
    return agent * experiment->common.agent_count + judges;
}

/* ---- One agent ---- */

static union tacit_sum *noised_of(const struct elim_flood *flood, uint32_t agent)
{
    return flood->noised + (adds_all(flood->experiment) ? 0 : (size_t)agent * flood->arm_count);
}

static union tacit_sum *own_of(const struct elim_flood *flood, uint32_t agent)
{
    return flood->own + (size_t)agent * flood->arm_count;
}

/* With the noised history, the lowest on ties; or the leader (agent.c, arm_to_exploit). */
static uint32_t best_noised(const struct elim_flood *flood, uint32_t agent,
                            const struct round *round)
{
    union tacit_sum const *const noised = noised_of(flood, agent);
    uint32_t best = flood->plan[0].arm;
    if (round->order.leader > 0)
        return round->order.leader - 1;
    for (uint32_t i = 1; i < round->plan_count; i++)
        if (noised[flood->plan[i].arm].steps > noised[best].steps)
            best = flood->plan[i].arm;
    return best;
}

/* Alg. 3 l. 3-8: draws the rewards of the round, and what is released of them. */
static enum tacit_status explore(struct elim_flood *flood, uint32_t agent,
                                 const struct round *round)
{
    struct tacit_mechanism const *const mechanism = &flood->experiment->mechanism;
    struct tacit_entropy const entropy = tacit_rng_entropy(&flood->noise[agent]);
    union tacit_sum *const noised = noised_of(flood, agent);
    /* Rewards and noise have streams of their own: the order between them does not matter. */
    for (uint32_t i = 0; i < round->plan_count; i++) {
        uint32_t const arm = flood->plan[i].arm;
        union tacit_sum exact = {0};
        union tacit_sum drawn;
        if (!tacit_sim_pull(&flood->instance->env, agent, arm, round->each, &mechanism->scale,
                            &flood->rewards[agent], &exact, flood->stop))
            return TACIT_INTERRUPTED;
        if (flood->own != NULL)
            tacit_sum_add(&mechanism->scale, &own_of(flood, agent)[arm], exact);
        TACIT_TRY(tacit_mechanism_release(mechanism, exact, &entropy, &drawn));
        tacit_sum_add(&mechanism->scale, &noised[arm], drawn);
    }
    return TACIT_OK;
}

/* l. 9: its history joins the aggregates, in the order of the agents (collect.c,
 * elim_peer_aggregate).
 */
static void aggregate(struct elim_flood *flood, uint32_t agent, const struct round *round)
{
    struct tacit_scale const *const scale = &flood->experiment->mechanism.scale;
    union tacit_sum const *const noised = noised_of(flood, agent);
    bool const is_exact = flood->experiment->growth > 0;
    for (uint32_t i = 0; i < round->plan_count; i++) {
        uint32_t const arm = flood->plan[i].arm;
        if (is_exact)
            flood->totals[arm] += noised[arm].steps;
        else
            flood->means[arm] += tacit_sum_mean(scale, noised[arm], round->order.pulls);
    }
}

/* ---- One component ---- */

/* Arms in their order, each with so many pulls; with what is left over the first ones have one more
 * (agent.c, plan_round_robin). Returns the number of blocks. */
static uint32_t fill_plan(struct elim_flood *flood, const struct tacit_elim_message *order,
                          uint64_t slots)
{
    uint32_t const arms = flood->arm_count;
    uint32_t const active = tacit_bits_count(order->arms, arms);
    uint32_t count = 0;
    uint32_t rank = 0;
    for (uint32_t arm = tacit_bits_next(order->arms, arms, 0); arm < arms;
         arm = tacit_bits_next(order->arms, arms, arm + 1), rank++) {
        uint64_t const pulls = slots / active + (rank < slots % active ? 1 : 0);
        if (pulls > 0)
            flood->plan[count++] = (struct tacit_pull_block){arm, pulls};
    }
    return count;
}

/* Rewards that decide nothing any more: drawn where somebody watches. Errors: TACIT_INTERRUPTED. */
static enum tacit_status draw_the_end(struct elim_flood *flood, uint32_t plan_count,
                                      const struct part *part)
{
    struct tacit_env const *const env = &flood->instance->env;
    struct tacit_scale const *const scale = &flood->experiment->mechanism.scale;
    for (uint32_t i = 0; i < part->count && env->watch != NULL; i++)
        for (uint32_t block = 0; block < plan_count; block++) {
            uint32_t const agent = member_of(part, i);
            union tacit_sum ignored = {0};
            if (!tacit_sim_pull(env, agent, flood->plan[block].arm, flood->plan[block].count, scale,
                                &flood->rewards[agent], &ignored, flood->stop))
                return TACIT_INTERRUPTED;
        }
    return TACIT_OK;
}

/* All of them play the plan. */
static void record(struct elim_flood *flood, uint64_t now, uint32_t plan_count,
                   const struct part *part)
{
    if (adds_losses(flood->experiment))
        tacit_sim_curve_add_all(&flood->curve, now, flood->plan, plan_count, flood->instance->gaps,
                                part->count);
    else
        tacit_sim_pulls_add(&flood->pulls, now, flood->plan, plan_count, part->count);
}

/* The plan until T of an order that no round follows: the last arm, a round that does not fit, or
 * its leader (EXACT-BOUNDS 6). Errors: TACIT_INTERRUPTED. */
static enum tacit_status play_to_the_end(struct elim_flood *flood,
                                         const struct tacit_elim_message *order, uint64_t now,
                                         const struct part *part)
{
    uint64_t const slots = flood->experiment->common.horizon - now;
    uint32_t count = 1;
    if (slots == 0)
        return TACIT_OK;
    if (!order->last && order->leader > 0)
        flood->plan[0] = (struct tacit_pull_block){order->leader - 1, slots};
    else
        count = fill_plan(flood, order, slots);
    record(flood, now, count, part);
    return draw_the_end(flood, count, part);
}

/* READINGS P1.11: its best arm, which it plays for so many slots, joins `waiting`; wait_all adds
 * what that loses. */
static void wait_one(struct elim_flood *flood, uint32_t agent, const struct round *round,
                     uint64_t slots)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&flood->noise[agent]);
    uint32_t const best = is_real(flood)
                              ? tacit_elim_best_own(own_of(flood, agent), round->order.arms,
                                                    flood->arm_count, &entropy)
                              : best_noised(flood, agent, round);
    flood->waiting[best]++;
    tacit_env_pass(&flood->instance->env, agent, best, slots);
}

/* The history of all holds what the aggregators add to the total of each round. Ensures: totals are
 * zero again. */
static void add_aggregators(struct elim_flood *flood, const struct round *round)
{
    TACIT_ASSERT(adds_all(flood->experiment));
    tacit_sim_aggregators_add(&flood->aggregators, flood->totals, round->plan_count);
    for (uint32_t i = 0; i < round->plan_count; i++) {
        noised_of(flood, 0)[flood->plan[i].arm].steps += flood->totals[i];
        flood->totals[i] = 0;
    }
}

/* Everybody explores, and what they release is summed up; then they wait so many slots. Ensures:
 * means or, with exact bounds, totals are those of the round, for the judge. */
static enum tacit_status explore_all(struct elim_flood *flood, const struct round *round,
                                     uint64_t wait, const struct part *part)
{
    size_t const arms = flood->arm_count;
    bool const is_one_sum = adds_all(flood->experiment);
    memset(flood->means, 0, arms * sizeof *flood->means);
    memset(flood->totals, 0, arms * sizeof *flood->totals);
    memset(flood->waiting, 0, arms * sizeof *flood->waiting);
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t const agent = member_of(part, i);
        if (i % AGENTS_BETWEEN_STOP_CHECKS == 0 && atomic_load(flood->stop))
            return TACIT_INTERRUPTED;
        TACIT_TRY(explore(flood, agent, round));
        if (!is_one_sum)
            aggregate(flood, agent, round);
        if (!is_star(flood->experiment)) /* there nobody waits */
            wait_one(flood, agent, round, wait);
    }
    if (flood->aggregators.are_two)
        add_aggregators(flood, round);
    if (is_one_sum)
        aggregate(flood, 0, round);
    for (size_t arm = 0; arm < arms; arm++)
        flood->means[arm] /= part->count;
    return TACIT_OK;
}

/* ---- What is said ---- */

/* So many messages alike, each to so many receivers. */
static void add_messages(struct elim_flood *flood, const struct tacit_elim_message *message,
                         double count, double receivers)
{
    tacit_sim_count(&flood->sent, elim_message_cost(message, flood->arm_count, flood->agent_count),
                    count, receivers);
}

static void add_handshakes(struct elim_flood *flood, double commits, double grants)
{
    static const struct tacit_elim_message commit = {.kind = TACIT_ELIM_COMMIT};
    static const struct tacit_elim_message grant = {.kind = TACIT_ELIM_GRANT};
    if (!flood->experiment->has_grants)
        return;
    add_messages(flood, &commit, commits, 1);
    add_messages(flood, &grant, grants, 1);
}

/* An agent asks its lowest neighbour, then all; each of them grants (grantor.c). */
static void add_grants(struct elim_flood *flood, uint32_t agent)
{
    double const degree = tacit_graph_degree(flood->experiment->network->graph, agent);
    if (degree > 0)
        add_handshakes(flood, degree > 1 ? 2 : 1, degree > 1 ? 1 + degree : 1);
}

/* The hub says it to all. Where there is one arm there is nothing to say. */
static void add_order(struct elim_flood *flood, const struct tacit_elim_message *order)
{
    if (is_star(flood->experiment) && flood->arm_count > 1)
        add_messages(flood, order, 1, flood->agent_count);
}

static void add_reports(struct elim_flood *flood, const struct round *round)
{
    static const struct tacit_commit opening;
    struct tacit_elim_message const report = {.kind = TACIT_ELIM_REPORT,
                                              .sum_count = round->plan_count,
                                              .commit =
                                                  flood->experiment->has_grants ? &opening : NULL};
    add_handshakes(flood, flood->agent_count, flood->agent_count);
    add_messages(flood, &report, flood->agent_count, 1);
    tacit_sim_aggregators_count(&flood->aggregators, flood->agent_count, round->plan_count,
                                &flood->sent);
}

/* What is said in a round whose slots go on until this one. Only to a hub and in a connected graph
 * is anything said. */
static enum tacit_status count_messages(struct elim_flood *flood, const struct round *round,
                                        uint64_t last_slot, const struct part *part)
{
    struct tacit_elim_network const *const network = flood->experiment->network;
    enum tacit_status status = TACIT_OK;
    if (is_star(flood->experiment)) {
        add_reports(flood, round);
        return TACIT_OK;
    }
    for (uint32_t i = 0; i < part->count; i++)
        add_grants(flood, member_of(part, i));
    if (network->graph->edge_count == 0)
        return TACIT_OK;
    if (flood->tally == NULL && elim_tally_is_possible(network->graph))
        flood->tally = elim_tally_new(network->graph, network->diameter, flood->stop, &status);
    flood->is_counted = flood->tally != NULL;
    struct elim_tally_round const said = {.arm_count = flood->arm_count,
                                          .sum_count = round->plan_count,
                                          .has_grants = flood->experiment->has_grants,
                                          .last_slot = last_slot};
    if (flood->is_counted)
        elim_tally_add(flood->tally, &said, &flood->sent);
    return status;
}

/* ---- From the first slot to T ---- */

/* All of them wait, each with its arm. */
static void wait_all(struct elim_flood *flood, uint64_t now, uint64_t slots)
{
    for (uint32_t arm = 0; arm < flood->arm_count && slots > 0; arm++)
        if (flood->waiting[arm] > 0)
            tacit_sim_pulls_wait(&flood->pulls, now, arm, slots, flood->waiting[arm]);
}

/* Slots until the slowest report of a round is everywhere (READINGS P1.13). */
static uint64_t delay_of(const struct elim_sim *experiment)
{
    uint32_t const diameter = is_star(experiment) ? 0 : experiment->network->diameter;
    return diameter > 1 ? diameter - 1 : 0;
}

static struct part part_of(const struct elim_flood *flood, uint32_t component)
{
    uint32_t const begin = component == 0 ? 0 : flood->end[component - 1];
    return (struct part){flood->members == NULL ? NULL : flood->members + begin,
                         flood->end[component] - begin};
}

/* Round after round, until one does not fit into the horizon or T comes while the agents wait. */
static enum tacit_status play_component(struct elim_flood *flood, uint32_t component)
{
    uint64_t const horizon = flood->experiment->common.horizon;
    uint64_t const delay = delay_of(flood->experiment);
    struct part const part = part_of(flood, component);
    struct tacit_elim_judge *const judge = judge_of(flood, component);
    uint64_t now = 0;
    for (uint64_t pulls = 0;;) {
        struct round round = {.order = tacit_elim_judge_order(judge)};
        round.each = round.order.pulls - pulls;
        uint32_t const active = tacit_bits_count(round.order.arms, flood->arm_count);
        add_order(flood, &round.order);
        if (round.order.last || round.each * active > horizon - now)
            return play_to_the_end(flood, &round.order, now, &part);
        round.plan_count = fill_plan(flood, &round.order, round.each * active);
        record(flood, now, round.plan_count, &part);
        now += round.each * active;
        uint64_t const wait = horizon - now < delay ? horizon - now : delay;
        TACIT_TRY(explore_all(flood, &round, wait, &part));
        TACIT_TRY(count_messages(flood, &round, wait, &part));
        wait_all(flood, now, wait);
        now += wait;
        if (wait < delay)
            return TACIT_OK;
        pulls = round.order.pulls;
        tacit_elim_judge_close(judge, flood->means, flood->totals);
    }
}

/* ---- Memory ---- */

/* Sorts agents by their component, by counting. Requires: flood->end is zero. Ensures: end[i] is
 * behind the last member of component i. */
static void sort_members(struct elim_flood *flood)
{
    uint32_t sum = 0;
    if (is_star(flood->experiment)) {
        flood->end[0] = flood->agent_count;
        return;
    }
    uint32_t const *const label = flood->experiment->network->label;
    for (uint32_t agent = 0; agent < flood->agent_count; agent++)
        flood->end[label[agent]]++;
    for (uint32_t i = 0; i < flood->component_count; i++) {
        uint32_t const count = flood->end[i];
        flood->end[i] = sum;
        sum += count;
    }
    for (uint32_t agent = 0; agent < flood->agent_count; agent++)
        flood->members[flood->end[label[agent]]++] = agent;
}

/* All of it is the owner's. A failure before the last call is remembered there (tacit_sim_new), and
 * the last call says it. */
static enum tacit_status make(struct elim_flood *flood, void *owner)
{
    size_t const agents = flood->agent_count;
    size_t const arms = flood->arm_count;
    size_t const rows = row_count(flood->experiment);
    if (!is_star(flood->experiment))
        flood->members = tacit_sim_new(owner, agents, sizeof *flood->members);
    flood->end = tacit_sim_new(owner, flood->component_count, sizeof *flood->end);
    flood->rewards = tacit_sim_new(owner, agents, sizeof *flood->rewards);
    flood->noise = tacit_sim_new(owner, agents, sizeof *flood->noise);
    flood->noised = tacit_sim_new(owner, rows * arms, sizeof *flood->noised);
    if (keeps_own(flood->experiment))
        flood->own = tacit_sim_new(owner, agents * arms, sizeof *flood->own);
    flood->judges = tacit_sim_new(owner, flood->component_count, flood->judge_bytes);
    flood->means = tacit_sim_new(owner, arms, sizeof *flood->means);
    flood->totals = tacit_sim_new(owner, arms, sizeof *flood->totals);
    flood->waiting = tacit_sim_new(owner, arms, sizeof *flood->waiting);
    flood->plan = tacit_sim_new(owner, arms, sizeof *flood->plan);
    (void)tacit_sim_pulls_init(&flood->pulls, &flood->experiment->common, owner);
    return tacit_sim_curve_init(&flood->curve, &flood->experiment->common, owner);
}

static void free_tally(void *block)
{
    struct elim_flood const *const flood = block;
    elim_tally_free(flood->tally);
}

struct elim_flood *elim_flood_new(const struct elim_sim *experiment, void *owner,
                                  enum tacit_status *status)
{
    TACIT_ASSERT(elim_flood_serves(experiment));
    struct tacit_elim_schedule const schedule = elim_sim_schedule(experiment, 1);
    size_t const judge_bytes = tacit_elim_judge_size(&schedule);
    struct elim_flood *const flood = tacit_sim_new(owner, 1, sizeof *flood);
    *status = flood == NULL ? TACIT_MEMORY : TACIT_INVALID;
    if (flood == NULL || judge_bytes == 0)
        return NULL;
    tacit_sim_at_end(flood, free_tally);
    flood->experiment = experiment;
    flood->aggregators = experiment->aggregators;
    flood->agent_count = experiment->common.agent_count;
    flood->arm_count = experiment->common.env.arm_count;
    flood->component_count = component_count(experiment);
    flood->judge_bytes = (judge_bytes + 7u) & ~(size_t)7u;
    *status = make(flood, owner);
    if (*status != TACIT_OK)
        return NULL;
    sort_members(flood);
    return flood;
}

/* ---- A run ---- */

static enum tacit_status set_up(struct elim_flood *flood, uint32_t index, double gap)
{
    uint64_t const seed = flood->experiment->common.seed;
    size_t const sums = row_count(flood->experiment) * flood->arm_count;
    struct tacit_elim_schedule const schedule = elim_sim_schedule(flood->experiment, gap);
    tacit_sim_aggregators_begin(&flood->aggregators, seed, index);
    flood->sent = (struct tacit_sim_totals){0};
    flood->is_counted = true;
    tacit_sim_pulls_clear(&flood->pulls);
    tacit_sim_curve_clear(&flood->curve);
    memset(flood->noised, 0, sums * sizeof *flood->noised);
    if (flood->own != NULL)
        memset(flood->own, 0, sums * sizeof *flood->own);
    for (uint32_t agent = 0; agent < flood->agent_count; agent++) {
        flood->rewards[agent] = tacit_rng_stream(seed, index, agent, TACIT_PURPOSE_REWARD);
        flood->noise[agent] = tacit_rng_stream(seed, index, agent, TACIT_PURPOSE_NOISE);
    }
    for (uint32_t i = 0; i < flood->component_count; i++)
        TACIT_TRY(tacit_elim_judge_init(judge_of(flood, i), &schedule));
    return TACIT_OK;
}

enum tacit_status elim_flood_play(struct elim_flood *flood, uint32_t index,
                                  const struct tacit_sim_instance *instance, double gap,
                                  atomic_bool *stop)
{
    flood->instance = instance;
    flood->stop = stop;
    TACIT_TRY(set_up(flood, index, gap));
    for (uint32_t i = 0; i < flood->component_count; i++)
        TACIT_TRY(play_component(flood, i));
    return TACIT_OK;
}

struct tacit_sim_totals elim_flood_totals(const struct elim_flood *flood)
{
    struct tacit_sim_totals totals = flood->sent;
    totals.regret = adds_losses(flood->experiment)
                        ? flood->curve.total
                        : tacit_sim_pulls_total(&flood->pulls, flood->instance->gaps);
    totals.regret_exploit = tacit_sim_pulls_waited(&flood->pulls, flood->instance->gaps);
    if (flood->is_counted)
        return totals;
    totals.messages = totals.messages_per_receiver = totals.scalars = totals.bytes = (double)NAN;
    if (flood->experiment->has_grants)
        totals.control_bytes = (double)NAN;
    return totals;
}

void elim_flood_regret(const struct elim_flood *flood, double *regret)
{
    if (adds_losses(flood->experiment))
        tacit_sim_curve_read(&flood->curve, regret);
    else
        tacit_sim_pulls_read(&flood->pulls, flood->instance->gaps, regret);
}

struct tacit_elim_judge_view elim_flood_view(const struct elim_flood *flood, uint32_t agent)
{
    TACIT_ASSERT(agent < flood->agent_count);
    uint32_t const component =
        is_star(flood->experiment) ? 0 : flood->experiment->network->label[agent];
    return tacit_elim_judge_view(judge_of(flood, component));
}

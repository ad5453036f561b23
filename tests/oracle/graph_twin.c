/* Naive twin of the epoch elimination: see graph_twin.h for what it is and is not. */
#include "graph_twin.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HORIZON_MAX (UINT64_C(1) << 40)
#define S_MAX (UINT64_C(1) << 60) /* beyond any horizon; keeps the ceiled S in an integer */
#define FAR UINT32_MAX            /* distance of what cannot be reached */

/* Memory that does not run out: this is a test. */
static void *room(size_t count, size_t size)
{
    void *const memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        abort();
    return memory;
}

/* ---- Chance: a splitmix64 counter a person -------------------------------------------------- */

struct dice {
    uint64_t at;
};

static inline uint64_t roll(struct dice *dice)
{
    uint64_t x = dice->at += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static struct dice dice_of(uint64_t seed, uint64_t owner)
{
    struct dice first = {seed};
    struct dice second = {roll(&first) ^ (owner * UINT64_C(0xd1342543de82ef95))};
    return (struct dice){roll(&second)};
}

uint64_t graph_twin_seed(uint64_t seed, uint64_t run)
{
    return dice_of(seed, run + 1).at;
}

/* Uniform in (0, 1): never 0, so that its logarithm exists, and never 1. */
static double unit(struct dice *dice)
{
    return ((double)(roll(dice) >> 12) + 0.5) * 0x1p-52;
}

static double laplace(struct dice *dice, double scale)
{
    double const size = -scale * log(unit(dice));
    return roll(dice) >> 63 ? size : -size;
}

/* P(x) proportional to exp(-|x| / scale) over the integers: difference of two geometrics. */
static double discrete_laplace(struct dice *dice, double scale)
{
    double const up = floor(-scale * log(unit(dice)));
    double const down = floor(-scale * log(unit(dice)));
    return up - down;
}

/* ---- People, messages, places --------------------------------------------------------------- */

struct note { /* ADV, REQ or DATA, as its mailbox says */
    uint32_t from;
    uint32_t count;
    uint32_t *labels; /* count agents */
    double *means;    /* DATA: count x active arms; else NULL */
    struct note *next;
};

struct mailbox { /* first come, first served */
    struct note *first;
    struct note *last;
};

struct mind { /* what decides: one an agent, or the server's with copies at all agents */
    bool playing;
    bool ranked;    /* there was an aggregate */
    uint32_t epoch; /* r */
    uint64_t s;     /* S(r) */
    uint64_t n;     /* n_r */
    double c;       /* C(r) */
    uint32_t active_count;
    uint32_t *active;     /* I, in index order */
    double *mean;         /* K: y-bar aggregated */
    uint32_t *eliminated; /* K: epoch, or 0 */
};

struct agent {
    uint32_t id;
    uint32_t degree;
    uint32_t *neighbours;      /* ascending */
    uint32_t to_sink;          /* sinks: the neighbour next on the way; itself at the sink */
    const uint64_t *threshold; /* K: a pull pays prize[k] with probability threshold[k] / 2^63 */
    const double *prize;
    struct dice dice;
    struct mind mind;
    bool waiting;
    uint32_t exploit_arm;
    uint32_t cursor;     /* next arm of the round robin: mind.active[cursor] */
    uint64_t pulls_left; /* of the exploration of this epoch */
    uint64_t counted;    /* S of what entered estimates; of arms that left meanwhile no more does */
    double *sum;         /* K: rewards of this epoch (sound mode: in steps, whole numbers) */
    double *total;       /* K: rewards of all epochs, no noise */
    double *history;     /* K: y-bar */
    struct mailbox adv;
    struct mailbox req;
    struct mailbox data;
    uint32_t known_count;
    bool *known;         /* M: l_i */
    bool *fresh;         /* M: learnt in the slot before, not passed on yet */
    bool *asked;         /* M: requested in this slot */
    double *observation; /* M x K: means of the active arms by position */
};

struct component {
    uint32_t size;
    uint32_t sink;
    uint32_t delay; /* greatest distance to the sink */
    uint64_t way;   /* sum of the distances to the sink */
    uint64_t edge_count;
    bool is_asked;  /* in this epoch */
    bool uploaded;  /* in this round */
    double *upload; /* K: its mean, active arms by position; the server's mailbox */
};

struct world {
    const struct graph_twin_config *config;
    struct graph_twin_result *result;
    uint32_t team; /* M of the formulas: 1 when alone, those that report in a star */
    double paper_epsilon;
    double gap; /* Delta of the R rule */
    struct agent *agents;
    uint32_t *distance; /* M x M */
    struct component *components;
    uint32_t reports; /* of an epoch: components that upload */
    struct mind server;
    struct dice server_dice;
    bool in_round;
    uint64_t *threshold; /* mean_rows x K */
    double *prize;       /* mean_rows x K */
    double *regret_of;   /* K: best global mean - global mean */
    uint64_t *pulled;    /* K: pulls by all agents */
    uint64_t *waited;    /* K: those of them while waiting */
};

static struct note *note_of(uint32_t from, uint32_t count, const bool *wanted, uint32_t agents)
{
    struct note *const note = room(1, sizeof *note);
    note->from = from;
    note->labels = room(count, sizeof *note->labels);
    for (uint32_t i = 0; i < agents; i++)
        if (wanted[i])
            note->labels[note->count++] = i;
    assert(note->count == count);
    return note;
}

static void note_free(struct note *note)
{
    free(note->labels);
    free(note->means);
    free(note);
}

static void post(struct mailbox *mailbox, struct note *note)
{
    if (mailbox->last == NULL)
        mailbox->first = note;
    else
        mailbox->last->next = note;
    mailbox->last = note;
}

static struct note *take(struct mailbox *mailbox)
{
    struct note *const note = mailbox->first;
    if (note == NULL)
        return NULL;
    mailbox->first = note->next;
    if (mailbox->first == NULL)
        mailbox->last = NULL;
    return note;
}

/* ---- The graph ------------------------------------------------------------------------------ */

/* Distances from everybody to everybody: each edge shortens ways until no edge does. */
static void find_distances(struct world *world)
{
    uint32_t const agents = world->config->agents;
    world->distance = room((size_t)agents * agents, sizeof *world->distance);
    for (uint32_t from = 0; from < agents; from++) {
        uint32_t *const far = &world->distance[(size_t)from * agents];
        for (uint32_t i = 0; i < agents; i++)
            far[i] = i == from ? 0 : FAR;
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t e = 0; e < world->config->edge_count; e++) {
                uint32_t const a = world->config->edges[e].a;
                uint32_t const b = world->config->edges[e].b;
                if (far[a] != FAR && (far[b] == FAR || far[b] > far[a] + 1)) {
                    far[b] = far[a] + 1;
                    changed = true;
                } else if (far[b] != FAR && (far[a] == FAR || far[a] > far[b] + 1)) {
                    far[a] = far[b] + 1;
                    changed = true;
                }
            }
        }
    }
}

static uint32_t distance(const struct world *world, uint32_t from, uint32_t to)
{
    return world->distance[(size_t)from * world->config->agents + to];
}

static bool are_neighbours(const struct world *world, uint32_t a, uint32_t b)
{
    return distance(world, a, b) == 1;
}

/* Greatest distance from one agent to the others of its component; FAR if there is no way. */
static uint32_t farthest(const struct world *world, uint32_t from)
{
    const uint32_t *const component_of = world->config->component_of;
    uint32_t most = 0;
    for (uint32_t i = 0; i < world->config->agents; i++) {
        if (world->config->kind == GRAPH_TWIN_SINKS && component_of[i] != component_of[from])
            continue;
        if (distance(world, from, i) > most)
            most = distance(world, from, i);
    }
    return most;
}

/* Alg. 4 (reading 15): the agent with the smallest greatest distance, lowest index on ties. */
static bool find_sink(struct world *world, uint32_t q)
{
    struct component *const component = &world->components[q];
    component->delay = FAR;
    for (uint32_t i = 0; i < world->config->agents; i++) {
        if (world->config->component_of[i] != q)
            continue;
        component->size++;
        if (farthest(world, i) < component->delay) {
            component->delay = farthest(world, i);
            component->sink = i;
        }
    }
    if (component->size == 0 || component->delay == FAR)
        return false;
    for (uint32_t i = 0; i < world->config->agents; i++)
        if (world->config->component_of[i] == q)
            component->way += distance(world, i, component->sink);
    for (size_t e = 0; e < world->config->edge_count; e++)
        component->edge_count += world->config->component_of[world->config->edges[e].a] == q;
    return true;
}

static void find_way_to_sink(struct world *world, struct agent *agent)
{
    uint32_t const sink = world->components[world->config->component_of[agent->id]].sink;
    agent->to_sink = agent->id;
    for (uint32_t i = agent->degree; i-- > 0;)
        if (distance(world, agent->neighbours[i], sink) < distance(world, agent->id, sink))
            agent->to_sink = agent->neighbours[i];
}

static bool prepare_sinks(struct world *world)
{
    for (uint32_t q = 0; q < world->config->component_count; q++) {
        if (!find_sink(world, q))
            return false;
        if (world->components[q].delay > world->result->delay)
            world->result->delay = world->components[q].delay;
    }
    if (world->config->first_hop_early && world->result->delay > 0)
        world->result->delay--;
    for (uint32_t i = 0; i < world->config->agents; i++)
        find_way_to_sink(world, &world->agents[i]);
    return true;
}

static bool prepare_graph(struct world *world)
{
    uint32_t const agents = world->config->agents;
    find_distances(world);
    for (uint32_t i = 0; i < agents; i++) {
        struct agent *const agent = &world->agents[i];
        agent->neighbours = room(agents, sizeof *agent->neighbours);
        for (uint32_t j = 0; j < agents; j++)
            if (are_neighbours(world, i, j))
                agent->neighbours[agent->degree++] = j;
    }
    if (world->config->kind == GRAPH_TWIN_SINKS)
        return prepare_sinks(world);
    for (uint32_t i = 0; i < agents && world->config->kind == GRAPH_TWIN_GIS; i++) {
        if (farthest(world, i) == FAR)
            return false;
        if (farthest(world, i) > world->result->diameter)
            world->result->diameter = farthest(world, i);
    }
    world->result->delay = world->result->diameter > 0 ? world->result->diameter - 1 : 0;
    return true;
}

/* ---- Schedule: lines 3-5 of Alg. 1, 3 and 5 ------------------------------------------------- */

/* log(8 |I| r^2 T) in the first terms; with K for |I| in the second ones (reading 4). */
static double log_term(const struct world *world, uint32_t arms, double r)
{
    return log(8.0 * (double)arms * r * r * (double)world->config->horizon);
}

static uint64_t ceil_s(const struct world *world, const struct mind *mind)
{
    double const m = (double)world->team;
    double const r = (double)mind->epoch;
    double const target = world->config->rounds == 0
                              ? ldexp(1.0, -(int)mind->epoch)
                              : pow(world->gap, r / (double)world->config->rounds);
    double const first = 8.0 * log_term(world, mind->active_count, r) / (m * target * target);
    double const second = isinf(world->paper_epsilon)
                              ? 0.0
                              : 8.0 * r * sqrt(2.0 * log_term(world, world->config->arms, r)) /
                                    (m * sqrt(m) * world->paper_epsilon * target);
    double const s = ceil(fmax(first, second));
    return s < (double)S_MAX ? (uint64_t)s : S_MAX;
}

static double width_c(const struct world *world, const struct mind *mind)
{
    double const m = (double)world->team;
    double const r = (double)mind->epoch;
    double const s = (double)mind->s;
    double const first = sqrt(log_term(world, mind->active_count, r) / (2.0 * m * s));
    if (isinf(world->paper_epsilon))
        return first;
    return first + r * sqrt(8.0 * log_term(world, world->config->arms, r)) /
                       (m * sqrt(m) * world->paper_epsilon * s);
}

/* ---- Mind ----------------------------------------------------------------------------------- */

static uint32_t best_arm(const struct mind *mind)
{
    uint32_t best = mind->active[0];
    for (uint32_t i = 1; i < mind->active_count; i++)
        if (mind->mean[mind->active[i]] > mind->mean[best])
            best = mind->active[i];
    return best;
}

/* Lines 13-15 of Alg. 1: everybody against one maximum (reading 5). */
static void eliminate(struct mind *mind)
{
    double const highest = mind->mean[best_arm(mind)];
    uint32_t stay = 0;
    for (uint32_t i = 0; i < mind->active_count; i++) {
        uint32_t const arm = mind->active[i];
        if (highest - mind->mean[arm] >= 2.0 * mind->c)
            mind->eliminated[arm] = mind->epoch;
        else
            mind->active[stay++] = arm;
    }
    mind->active_count = stay;
}

/* The trace is that of the server, or of agent 0. */
static struct graph_twin_epoch *trace_of(struct world *world, const struct mind *mind)
{
    static struct graph_twin_epoch nowhere;
    const struct mind *const traced =
        world->config->kind == GRAPH_TWIN_SINKS ? &world->server : &world->agents[0].mind;
    bool const fits = mind->epoch >= 1 && mind->epoch <= GRAPH_TWIN_TRACE_MAX;
    return mind == traced && fits ? &world->result->trace[mind->epoch - 1] : &nowhere;
}

static void begin_epoch(struct world *world, struct mind *mind)
{
    mind->epoch++;
    uint64_t const before = mind->s;
    uint64_t const wanted = ceil_s(world, mind);
    mind->s = wanted > before ? wanted : before; /* S never falls (reading 3) */
    mind->n = mind->s - before;
    mind->c = width_c(world, mind);
    if (mind->epoch > world->result->epochs)
        world->result->epochs = mind->epoch;
    *trace_of(world, mind) = (struct graph_twin_epoch){.s = mind->s,
                                                       .n = mind->n,
                                                       .c = mind->c,
                                                       .active_before = mind->active_count,
                                                       .active_after = mind->active_count};
}

/* On to the next epoch that has pulls, or to the end. Epochs without pulls take no time and no
 * message: they only repeat the test with their own C(r). */
static void go_on(struct world *world, struct mind *mind)
{
    uint32_t const rounds = world->config->rounds;
    while (mind->active_count > 1 && (rounds == 0 || mind->epoch < rounds)) {
        begin_epoch(world, mind);
        if (mind->n > 0)
            return;
        eliminate(mind);
        trace_of(world, mind)->active_after = mind->active_count;
    }
    mind->playing = true;
}

/* The aggregate of a round is in mind->mean: test, and go on. */
static void conclude(struct world *world, struct mind *mind)
{
    mind->ranked = true;
    eliminate(mind);
    trace_of(world, mind)->active_after = mind->active_count;
    trace_of(world, mind)->round_ended = true;
    go_on(world, mind);
}

static struct mind mind_alloc(uint32_t arms)
{
    struct mind mind = {.active_count = arms,
                        .active = room(arms, sizeof *mind.active),
                        .mean = room(arms, sizeof *mind.mean),
                        .eliminated = room(arms, sizeof *mind.eliminated)};
    for (uint32_t k = 0; k < arms; k++)
        mind.active[k] = k;
    return mind;
}

static void mind_free(struct mind *mind)
{
    free(mind->active);
    free(mind->mean);
    free(mind->eliminated);
}

/* ---- Agent: exploring and waiting ----------------------------------------------------------- */

static void start_exploring(struct agent *agent)
{
    const struct mind *const mind = &agent->mind;
    agent->waiting = false;
    agent->cursor = 0;
    if (mind->playing)
        return;
    agent->pulls_left =
        mind->n > UINT64_MAX / mind->active_count ? UINT64_MAX : mind->n * mind->active_count;
    for (uint32_t i = 0; i < mind->active_count; i++)
        agent->sum[mind->active[i]] = 0.0;
}

static inline bool explores(const struct agent *agent)
{
    return !agent->waiting && !agent->mind.playing;
}

static inline uint32_t explore(struct agent *agent)
{
    uint32_t const arm = agent->mind.active[agent->cursor];
    if (roll(&agent->dice) >> 1 < agent->threshold[arm]) {
        agent->sum[arm] += agent->prize[arm];
        agent->total[arm] += agent->prize[arm];
    }
    agent->cursor = agent->cursor + 1 == agent->mind.active_count ? 0 : agent->cursor + 1;
    agent->pulls_left--;
    return arm;
}

/* Lines 8-9 of Alg. 1: the mean of this epoch's rewards, with noise. */
static double noised_mean(struct agent *agent, const struct world *world, uint32_t arm)
{
    double const n = (double)agent->mind.n;
    double const epsilon = world->config->epsilon;
    if (world->config->sound) {
        double const noise =
            isinf(epsilon) ? 0.0 : discrete_laplace(&agent->dice, GRAPH_TWIN_STEPS / epsilon);
        return (agent->sum[arm] + noise) / (n * GRAPH_TWIN_STEPS);
    }
    double const noise =
        isinf(epsilon) ? 0.0 : laplace(&agent->dice, 1.0 / ((double)world->team * epsilon * n));
    return agent->sum[arm] / n + noise;
}

/* Line 10, Eq. (6). */
static void close_epoch(struct agent *agent, const struct world *world)
{
    const struct mind *const mind = &agent->mind;
    double const now = (double)mind->n / (double)mind->s;
    double const before = (double)(mind->s - mind->n) / (double)mind->s;
    for (uint32_t i = 0; i < mind->active_count; i++) {
        uint32_t const arm = mind->active[i];
        agent->history[arm] = before * agent->history[arm] + now * noised_mean(agent, world, arm);
    }
}

/* Reading 11: the best own mean so far, non-private with ties at random; sound: noised, lowest
 * index on ties. The active arms were pulled equally often, so their totals rank like means. */
static void start_waiting(struct agent *agent, const struct world *world)
{
    const struct mind *const mind = &agent->mind;
    const double *const value = world->config->sound ? agent->history : agent->total;
    uint32_t ties = 1;
    agent->exploit_arm = mind->active[0];
    for (uint32_t i = 1; i < mind->active_count; i++) {
        uint32_t const arm = mind->active[i];
        if (value[arm] > value[agent->exploit_arm]) {
            agent->exploit_arm = arm;
            ties = 1;
        } else if (!world->config->sound && !(value[arm] < value[agent->exploit_arm])) {
            ties++;
            if (unit(&agent->dice) * (double)ties < 1.0)
                agent->exploit_arm = arm;
        }
    }
    agent->waiting = true;
}

/* ---- Agent: observations -------------------------------------------------------------------- */

static double *observation_of(const struct agent *agent, const struct world *world, uint32_t label)
{
    return &agent->observation[(size_t)label * world->config->arms];
}

static void learn(struct agent *agent, const struct world *world, uint32_t label,
                  const double *means)
{
    assert(!agent->known[label]);
    agent->known[label] = true;
    agent->fresh[label] = true;
    agent->known_count++;
    memcpy(observation_of(agent, world, label), means, agent->mind.active_count * sizeof *means);
}

/* A round begins: the agent knows its own means only, and they are news. */
static void start_list(struct agent *agent, const struct world *world)
{
    double *const own = room(world->config->arms, sizeof *own);
    memset(agent->known, 0, world->config->agents * sizeof *agent->known);
    memset(agent->fresh, 0, world->config->agents * sizeof *agent->fresh);
    agent->known_count = 0;
    for (uint32_t i = 0; i < agent->mind.active_count; i++)
        own[i] = agent->history[agent->mind.active[i]];
    learn(agent, world, agent->id, own);
    free(own);
}

static uint32_t count_true(const bool *flags, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += flags[i] ? 1 : 0;
    return found;
}

static void send_data(struct agent *agent, struct world *world, uint32_t to, const uint32_t *labels,
                      uint32_t count)
{
    size_t const active = agent->mind.active_count;
    struct note *const note = room(1, sizeof *note);
    note->from = agent->id;
    note->count = count;
    note->labels = room(count, sizeof *note->labels);
    note->means = room(count * active, sizeof *note->means);
    for (uint32_t i = 0; i < count; i++) {
        assert(agent->known[labels[i]]);
        note->labels[i] = labels[i];
        memcpy(&note->means[i * active], observation_of(agent, world, labels[i]),
               active * sizeof *note->means);
    }
    post(&world->agents[to].data, note);
    world->result->data++;
    world->result->scalars += count * active;
}

static void read_data(struct agent *agent, const struct world *world)
{
    size_t const active = agent->mind.active_count;
    for (struct note *note; (note = take(&agent->data)) != NULL; note_free(note))
        for (uint32_t i = 0; i < note->count; i++)
            learn(agent, world, note->labels[i], &note->means[i * active]);
}

/* ---- GIS: one communication slot (Alg. 2) --------------------------------------------------- */

static void send_adv(struct agent *agent, struct world *world)
{
    uint32_t const agents = world->config->agents;
    uint32_t const count = count_true(agent->fresh, agents);
    if (count == 0)
        return;
    for (uint32_t i = 0; i < agent->degree; i++)
        post(&world->agents[agent->neighbours[i]].adv,
             note_of(agent->id, count, agent->fresh, agents));
    memset(agent->fresh, 0, agents * sizeof *agent->fresh);
    world->result->adv++;
    world->result->adv_heard += agent->degree;
}

/* One REQ per advertiser for what is missing and was not asked of another one in this slot. */
static void answer_advs(struct agent *agent, struct world *world)
{
    uint32_t const agents = world->config->agents;
    bool *const wanted = room(agents, sizeof *wanted);
    memset(agent->asked, 0, agents * sizeof *agent->asked);
    for (struct note *note; (note = take(&agent->adv)) != NULL; note_free(note)) {
        memset(wanted, 0, agents * sizeof *wanted);
        for (uint32_t i = 0; i < note->count; i++) {
            uint32_t const label = note->labels[i];
            wanted[label] = !agent->known[label] && !agent->asked[label];
            agent->asked[label] = agent->asked[label] || wanted[label];
        }
        uint32_t const count = count_true(wanted, agents);
        if (count == 0)
            continue;
        post(&world->agents[note->from].req, note_of(agent->id, count, wanted, agents));
        world->result->req++;
    }
    free(wanted);
}

static void answer_reqs(struct agent *agent, struct world *world)
{
    for (struct note *note; (note = take(&agent->req)) != NULL; note_free(note))
        send_data(agent, world, note->from, note->labels, note->count);
}

static void gis_slot(struct world *world)
{
    uint32_t const agents = world->config->agents;
    for (uint32_t i = 0; i < agents; i++)
        send_adv(&world->agents[i], world);
    for (uint32_t i = 0; i < agents; i++)
        answer_advs(&world->agents[i], world);
    for (uint32_t i = 0; i < agents; i++)
        answer_reqs(&world->agents[i], world);
    for (uint32_t i = 0; i < agents; i++)
        read_data(&world->agents[i], world);
    world->result->slots++;
}

static bool everybody_knows_everything(const struct world *world)
{
    for (uint32_t i = 0; i < world->config->agents; i++)
        if (world->agents[i].known_count < world->config->agents)
            return false;
    return true;
}

/* Alg. 3 l. 9 with y-bar (reading 10). */
static void aggregate_at(struct agent *agent, const struct world *world)
{
    uint32_t const agents = world->config->agents;
    for (uint32_t i = 0; i < agent->mind.active_count; i++) {
        double sum = 0.0;
        for (uint32_t j = 0; j < agents; j++)
            sum += observation_of(agent, world, j)[i];
        agent->mind.mean[agent->mind.active[i]] = sum / (double)agents;
    }
}

static bool minds_agree(const struct mind *a, const struct mind *b, uint32_t arms)
{
    return a->epoch == b->epoch && a->s == b->s && a->playing == b->playing &&
           a->active_count == b->active_count &&
           memcmp(a->active, b->active, a->active_count * sizeof *a->active) == 0 &&
           memcmp(a->mean, b->mean, arms * sizeof *a->mean) == 0;
}

/* What the agent explored is in an estimate now. */
static void count_samples(struct world *world, struct agent *agent)
{
    world->result->samples += agent->mind.active_count * (agent->mind.s - agent->counted);
    agent->counted = agent->mind.s;
}

static void gis_end_round(struct world *world)
{
    world->in_round = false;
    world->result->rounds_ended++;
    for (uint32_t i = 0; i < world->config->agents; i++) {
        struct agent *const agent = &world->agents[i];
        aggregate_at(agent, world);
        count_samples(world, agent);
        conclude(world, &agent->mind);
        start_exploring(agent);
        if (!minds_agree(&agent->mind, &world->agents[0].mind, world->config->arms))
            world->result->agents_agree = false;
    }
}

/* ---- Sinks: one hop, and the server (Alg. 5) ------------------------------------------------ */

/* All that came with the last hop goes one on, together. */
static void pass_on(struct agent *agent, struct world *world)
{
    uint32_t const agents = world->config->agents;
    uint32_t const count = count_true(agent->fresh, agents);
    if (agent->to_sink == agent->id || count == 0)
        return;
    struct note *const list = note_of(agent->id, count, agent->fresh, agents);
    memset(agent->fresh, 0, agents * sizeof *agent->fresh);
    send_data(agent, world, agent->to_sink, list->labels, count);
    note_free(list);
}

static void sinks_hop(struct world *world)
{
    for (uint32_t i = 0; i < world->config->agents; i++)
        pass_on(&world->agents[i], world);
    for (uint32_t i = 0; i < world->config->agents; i++)
        read_data(&world->agents[i], world);
    world->result->slots++;
}

/* Lines 9-10: a sink that knows its whole component tells the server. */
static void upload_if_complete(struct world *world, struct component *component)
{
    const struct agent *const sink = &world->agents[component->sink];
    if (component->uploaded || !component->is_asked || sink->known_count < component->size)
        return;
    for (uint32_t i = 0; i < sink->mind.active_count; i++) {
        double sum = 0.0;
        for (uint32_t j = 0; j < world->config->agents; j++)
            sum += sink->known[j] ? observation_of(sink, world, j)[i] : 0.0;
        component->upload[i] = sum / (double)component->size;
    }
    component->uploaded = true;
    world->result->uploads++;
    world->result->scalars += sink->mind.active_count;
}

/* Line 14; reading 16: weighted by agents unless the letter is asked for. */
static void server_aggregate(struct world *world)
{
    struct mind *const server = &world->server;
    for (uint32_t i = 0; i < server->active_count; i++) {
        double sum = 0.0;
        double weights = 0.0;
        for (uint32_t q = 0; q < world->config->component_count; q++) {
            const struct component *const component = &world->components[q];
            if (!component->is_asked)
                continue;
            double const weight =
                world->config->average_of_averages ? 1.0 : (double)component->size;
            sum += weight * component->upload[i];
            weights += weight;
        }
        server->mean[server->active[i]] = sum / weights;
    }
}

/* Sec. IV-B: who reports is drawn anew. */
static void draw_reports(struct world *world)
{
    uint32_t const components = world->config->component_count;
    uint32_t left = world->reports;
    for (uint32_t q = 0; q < components; q++) {
        world->components[q].is_asked =
            left == components - q || unit(&world->server_dice) * (components - q) < left;
        left -= world->components[q].is_asked ? 1 : 0;
    }
}

/* Line 16: a copy of the server's mind for everybody. */
static void server_order(struct world *world)
{
    const struct mind *const server = &world->server;
    uint32_t const arms = world->config->arms;
    draw_reports(world);
    for (uint32_t i = 0; i < world->config->agents; i++) {
        struct mind *const mind = &world->agents[i].mind;
        mind->playing = server->playing;
        mind->ranked = server->ranked;
        mind->epoch = server->epoch;
        mind->s = server->s;
        mind->n = server->n;
        mind->c = server->c;
        mind->active_count = server->active_count;
        memcpy(mind->active, server->active, arms * sizeof *mind->active);
        memcpy(mind->mean, server->mean, arms * sizeof *mind->mean);
        memcpy(mind->eliminated, server->eliminated, arms * sizeof *mind->eliminated);
        start_exploring(&world->agents[i]);
    }
    world->result->orders++;
}

static void sinks_end_round(struct world *world)
{
    for (uint32_t q = 0; q < world->config->component_count; q++)
        world->components[q].uploaded = false;
    world->in_round = false;
    world->result->rounds_ended++;
    server_aggregate(world);
    for (uint32_t i = 0; i < world->config->agents; i++)
        if (world->components[world->config->component_of[i]].is_asked)
            count_samples(world, &world->agents[i]);
    conclude(world, &world->server);
    server_order(world);
}

static bool all_sinks_uploaded(struct world *world)
{
    bool all = true;
    for (uint32_t q = 0; q < world->config->component_count; q++) {
        upload_if_complete(world, &world->components[q]);
        all = all && (world->components[q].uploaded || !world->components[q].is_asked);
    }
    return all;
}

/* ---- What happens at the end of a slot ------------------------------------------------------ */

static void alone_end_slot(struct world *world)
{
    for (uint32_t i = 0; i < world->config->agents; i++) {
        struct agent *const agent = &world->agents[i];
        if (!explores(agent) || agent->pulls_left > 0)
            continue;
        close_epoch(agent, world);
        memcpy(agent->mind.mean, agent->history, world->config->arms * sizeof *agent->history);
        trace_of(world, &agent->mind)->round_begun = true;
        if (agent->mind.epoch > world->result->rounds)
            world->result->rounds = agent->mind.epoch;
        count_samples(world, agent);
        conclude(world, &agent->mind);
        start_exploring(agent);
    }
}

/* Readings 14, 17: what the paper charges for a round. */
static void charge_round(struct world *world)
{
    const struct graph_twin_config *const config = world->config;
    uint64_t between_agents = 0;
    uint64_t all_edges = 0;
    uint64_t to_server = 0;
    if (config->kind == GRAPH_TWIN_GIS) {
        between_agents = config->edge_count * (uint64_t)world->result->diameter;
        all_edges = between_agents;
    }
    if (config->kind == GRAPH_TWIN_SINKS) {
        to_server = world->reports;
        for (uint32_t q = 0; q < config->component_count; q++) {
            const struct component *const component = &world->components[q];
            between_agents += component->way;
            all_edges += component->edge_count * component->delay;
        }
    }
    double const server_cost = config->cost_server_link * (double)to_server;
    world->result->links += between_agents + to_server;
    world->result->cost += config->cost_agent_link * (double)between_agents + server_cost;
    world->result->cost_all_edges += config->cost_agent_link * (double)all_edges + server_cost;
}

/* Everybody explored in lockstep, so everybody is ready in the same slot. */
static void begin_round(struct world *world)
{
    world->in_round = true;
    world->result->rounds++;
    for (uint32_t i = 0; i < world->config->agents; i++) {
        struct agent *const agent = &world->agents[i];
        assert(explores(agent) && agent->pulls_left == 0);
        close_epoch(agent, world);
        start_list(agent, world);
        start_waiting(agent, world);
    }
    const struct mind *const traced =
        world->config->kind == GRAPH_TWIN_SINKS ? &world->server : &world->agents[0].mind;
    trace_of(world, traced)->round_begun = true;
    charge_round(world);
}

static bool exploration_ended(const struct world *world)
{
    return explores(&world->agents[0]) && world->agents[0].pulls_left == 0;
}

static void gis_end_slot(struct world *world)
{
    if (exploration_ended(world))
        begin_round(world);
    if (!world->in_round)
        return;
    if (!everybody_knows_everything(world))
        gis_slot(world);
    if (everybody_knows_everything(world))
        gis_end_round(world);
}

static void sinks_end_slot(struct world *world)
{
    bool const begins = exploration_ended(world);
    if (begins)
        begin_round(world);
    bool const hops = world->in_round && (!begins || world->config->first_hop_early);
    if (hops && !all_sinks_uploaded(world))
        sinks_hop(world);
    if (world->in_round && all_sinks_uploaded(world))
        sinks_end_round(world);
}

/* ---- Setting up ----------------------------------------------------------------------------- */

/* Global means (reading 19) into regret_of, then the gaps; Delta from the smallest positive one. */
static void find_gaps(struct world *world)
{
    const struct graph_twin_config *const config = world->config;
    double best = 0.0;
    for (uint32_t k = 0; k < config->arms; k++) {
        double sum = 0.0;
        for (uint32_t row = 0; row < config->mean_rows; row++)
            sum += config->means[(size_t)row * config->arms + k];
        world->regret_of[k] = sum / (double)config->mean_rows;
        best = fmax(best, world->regret_of[k]);
    }
    world->gap = 1.0; /* all arms alike: any Delta will do */
    for (uint32_t k = 0; k < config->arms; k++) {
        world->regret_of[k] = best - world->regret_of[k];
        if (world->regret_of[k] > GRAPH_TWIN_SAME)
            world->gap = fmin(world->gap, world->regret_of[k]);
    }
    if (config->gap > 0.0)
        world->gap = config->gap;
}

static void fill_slot_machines(struct world *world)
{
    const struct graph_twin_config *const config = world->config;
    for (size_t i = 0; i < (size_t)config->mean_rows * config->arms; i++) {
        double const chance = config->constant_rewards ? 1.0 : config->means[i];
        double const reward = config->constant_rewards ? config->means[i] : 1.0;
        world->threshold[i] = (uint64_t)(chance * 0x1p63);
        world->prize[i] = config->sound ? floor(reward * GRAPH_TWIN_STEPS + 0.5) : reward;
    }
}

static void agent_alloc(struct world *world, uint32_t id)
{
    const struct graph_twin_config *const config = world->config;
    struct agent *const agent = &world->agents[id];
    size_t const row = config->mean_rows == 1 ? 0 : id;
    agent->id = id;
    agent->threshold = world->threshold + row * config->arms;
    agent->prize = world->prize + row * config->arms;
    agent->dice = dice_of(config->seed, (uint64_t)id + 1);
    agent->mind = mind_alloc(config->arms);
    agent->sum = room(config->arms, sizeof *agent->sum);
    agent->total = room(config->arms, sizeof *agent->total);
    agent->history = room(config->arms, sizeof *agent->history);
    agent->known = room(config->agents, sizeof *agent->known);
    agent->fresh = room(config->agents, sizeof *agent->fresh);
    agent->asked = room(config->agents, sizeof *agent->asked);
    if (config->kind != GRAPH_TWIN_ALONE)
        agent->observation =
            room((size_t)config->agents * config->arms, sizeof *agent->observation);
}

static void world_alloc(struct world *world)
{
    const struct graph_twin_config *const config = world->config;
    size_t const cells = (size_t)config->mean_rows * config->arms;
    world->threshold = room(cells, sizeof *world->threshold);
    world->prize = room(cells, sizeof *world->prize);
    world->regret_of = room(config->arms, sizeof *world->regret_of);
    world->pulled = room(config->arms, sizeof *world->pulled);
    world->waited = room(config->arms, sizeof *world->waited);
    world->server = mind_alloc(config->arms);
    world->server_dice = dice_of(config->seed, 0);
    world->agents = room(config->agents, sizeof *world->agents);
    for (uint32_t i = 0; i < config->agents; i++)
        agent_alloc(world, i);
    world->components = room(config->component_count, sizeof *world->components);
    for (uint32_t q = 0; q < config->component_count; q++)
        world->components[q].upload = room(config->arms, sizeof *world->components[q].upload);
}

static void empty(struct mailbox *mailbox)
{
    for (struct note *note; (note = take(mailbox)) != NULL;)
        note_free(note);
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i < world->config->agents; i++) {
        struct agent *const agent = &world->agents[i];
        mind_free(&agent->mind);
        empty(&agent->adv);
        empty(&agent->req);
        empty(&agent->data);
        free(agent->neighbours);
        free(agent->sum);
        free(agent->total);
        free(agent->history);
        free(agent->known);
        free(agent->fresh);
        free(agent->asked);
        free(agent->observation);
    }
    for (uint32_t q = 0; q < world->config->component_count; q++)
        free(world->components[q].upload);
    mind_free(&world->server);
    free(world->agents);
    free(world->components);
    free(world->distance);
    free(world->threshold);
    free(world->prize);
    free(world->regret_of);
    free(world->pulled);
    free(world->waited);
}

/* ---- Playing -------------------------------------------------------------------------------- */

static void start(struct world *world)
{
    if (world->config->kind == GRAPH_TWIN_SINKS) {
        go_on(world, &world->server);
        server_order(world);
        return;
    }
    for (uint32_t i = 0; i < world->config->agents; i++) {
        go_on(world, &world->agents[i].mind);
        start_exploring(&world->agents[i]);
    }
}

static void play_slot(struct world *world)
{
    struct graph_twin_result *const result = world->result;
    for (uint32_t i = 0; i < world->config->agents; i++) {
        struct agent *const agent = &world->agents[i];
        if (agent->waiting) {
            world->pulled[agent->exploit_arm]++;
            world->waited[agent->exploit_arm]++;
            result->waiting_pulls++;
        } else if (agent->mind.playing) {
            world->pulled[best_arm(&agent->mind)]++;
        } else {
            world->pulled[explore(agent)]++;
        }
    }
    if (world->in_round) {
        const struct mind *const traced =
            world->config->kind == GRAPH_TWIN_SINKS ? &world->server : &world->agents[0].mind;
        trace_of(world, traced)->waiting_slots++;
    }
}

/* Pseudo-regret so far: a pull of arm k costs (best global mean - global mean of k). */
static double regret_of(const struct world *world, const uint64_t *pulls)
{
    double regret = 0.0;
    for (uint32_t k = 0; k < world->config->arms; k++)
        regret += (double)pulls[k] * world->regret_of[k];
    return regret;
}

static void play(struct world *world)
{
    const struct graph_twin_config *const config = world->config;
    uint32_t next = 0;
    start(world);
    for (uint64_t t = 1; t <= config->horizon; t++) {
        play_slot(world);
        if (config->kind == GRAPH_TWIN_ALONE)
            alone_end_slot(world);
        else if (config->kind == GRAPH_TWIN_GIS)
            gis_end_slot(world);
        else
            sinks_end_slot(world);
        while (next < config->checkpoint_count && config->checkpoints[next] <= t)
            config->regret_at[next++] = regret_of(world, world->pulled);
    }
}

static void fill_result(struct world *world)
{
    const struct graph_twin_config *const config = world->config;
    struct graph_twin_result *const result = world->result;
    const struct mind *const first = &world->agents[0].mind;
    result->regret = regret_of(world, world->pulled);
    result->regret_exploit = regret_of(world, world->waited);
    result->messages = result->adv + result->req + result->data + result->uploads + result->orders;
    result->messages_per_receiver = result->adv_heard + result->req + result->data +
                                    result->uploads + result->orders * config->agents;
    for (uint32_t i = 0; i < config->agents; i++) {
        const struct mind *const mind = &world->agents[i].mind;
        double const share = 1.0 / (double)config->agents;
        result->single_arm_fraction += mind->active_count == 1 ? share : 0.0;
        if (mind->ranked && world->regret_of[best_arm(mind)] <= GRAPH_TWIN_SAME)
            result->best_arm_fraction += share;
    }
    result->final_arm_count = first->active_count;
    result->final_arm = best_arm(first);
    result->final_arm_is_best = world->regret_of[result->final_arm] <= GRAPH_TWIN_SAME;
    result->trace_count = first->epoch < GRAPH_TWIN_TRACE_MAX ? first->epoch : GRAPH_TWIN_TRACE_MAX;
    if (result->eliminated_epoch != NULL)
        memcpy(result->eliminated_epoch, first->eliminated,
               config->arms * sizeof *first->eliminated);
}

/* N = ceil(p M), where .55 x 100 is 55 although the product is a little more (reading 8). */
static uint32_t count_reports(const struct graph_twin_config *config)
{
    double const agents = (double)config->agents;
    double const product = config->participation * agents;
    double const nearest = floor(product + 0.5);
    double const n = fabs(product - nearest) < 1e-9 * agents ? nearest : ceil(product);
    return n < 1.0 ? 1u : (uint32_t)n;
}

bool graph_twin_run(const struct graph_twin_config *config, struct graph_twin_result *result)
{
    uint32_t *const eliminated_epoch = result->eliminated_epoch;
    *result =
        (struct graph_twin_result){.eliminated_epoch = eliminated_epoch, .agents_agree = true};
    struct world world = {.config = config, .result = result};
    bool const is_star = config->participation > 0.0;
    world.reports = is_star ? count_reports(config) : config->component_count;
    world.team = config->kind == GRAPH_TWIN_ALONE ? 1 : is_star ? world.reports : config->agents;
    world.paper_epsilon = config->sound ? config->epsilon / (double)world.team : config->epsilon;
    world_alloc(&world);
    bool const connected = prepare_graph(&world);
    if (connected) {
        find_gaps(&world);
        fill_slot_machines(&world);
        play(&world);
        fill_result(&world);
    }
    world_free(&world);
    return connected;
}

/* Naive twin of the epoch elimination over a star: see elim_twin.h for what it is and is not. */
#include "elim_twin.h"
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define S_MAX (UINT64_C(1) << 60) /* beyond any horizon; keeps the ceiled S in an integer */

/* ---- Chance --------------------------------------------------------------------------------- */

struct dice {
    uint64_t s[4];
};

/* The finaliser of splitmix64: an invertible scramble of 64 bits. */
static uint64_t scramble(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t twin_run_seed(uint64_t seed, uint64_t run)
{
    return scramble(scramble(seed + UINT64_C(0x9e3779b97f4a7c15)) ^ (run + 1));
}

static struct dice dice_of(uint64_t seed, uint64_t owner)
{
    struct dice dice;
    uint64_t x = twin_run_seed(seed, owner);
    for (int i = 0; i < 4; i++) {
        x += UINT64_C(0x9e3779b97f4a7c15);
        dice.s[i] = scramble(x);
    }
    return dice;
}

static inline uint64_t turned(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

/* xoshiro256** (Blackman, Vigna). */
static inline uint64_t dice_roll(struct dice *dice)
{
    uint64_t *const s = dice->s;
    uint64_t const out = turned(s[1] * 5, 7) * 9;
    uint64_t const shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = turned(s[3], 45);
    return out;
}

/* Uniform in (0, 1): never 0, so that its logarithm exists, and never 1. */
static double dice_unit(struct dice *dice)
{
    return ((double)(dice_roll(dice) >> 12) + 0.5) * 0x1p-52;
}

static uint32_t dice_below(struct dice *dice, uint32_t bound)
{
    uint64_t const whole = UINT64_MAX - UINT64_MAX % bound;
    uint64_t roll = dice_roll(dice);
    while (roll >= whole)
        roll = dice_roll(dice);
    return (uint32_t)(roll % bound);
}

static double laplace(struct dice *dice, double scale)
{
    double const size = -scale * log(dice_unit(dice));
    return dice_roll(dice) >> 63 ? size : -size;
}

/* P(x) proportional to exp(-|x| / scale) over the integers: difference of two geometrics. */
static double discrete_laplace(struct dice *dice, double scale)
{
    double const up = floor(-scale * log(dice_unit(dice)));
    double const down = floor(-scale * log(dice_unit(dice)));
    return up - down;
}

/* ---- The world: a hub, its agents, their mailboxes ------------------------------------------ */

struct order {                /* hub -> all agents */
    bool play;                /* the last order: play active[0] until T */
    uint64_t pulls;           /* n_r of each active arm */
    uint32_t active_count;    /* I^(r-1) in index order */
    uint32_t *active;         /* room for K */
    uint32_t uploaders_count; /* who reports at the end of the epoch */
    uint32_t *uploaders;      /* room for M */
};

struct report { /* agent -> hub */
    uint32_t from;
    uint32_t mean_count;
    double *means; /* room for K; y-bar of the active arms in index order */
};

struct agent {
    uint32_t id;
    bool mail; /* is there an unread order in inbox? */
    struct order inbox;
    uint32_t cursor;           /* next arm of the round robin: inbox.active[cursor] */
    uint64_t pulls_left;       /* until the epoch is complete */
    uint64_t pulled_per_arm;   /* S(r-1): pulls of each active arm in the epochs completed */
    const uint64_t *threshold; /* K: a pull pays prize[k] with probability threshold[k] / 2^63 */
    const double *prize;
    double *sum;     /* K: rewards of this epoch (sound mode: in steps, whole numbers) */
    double *history; /* K: y-bar */
    struct dice dice;
};

struct hub {
    uint32_t mail_count;
    struct report *inbox; /* room for M */
    uint32_t epoch;       /* r */
    uint64_t s;           /* S(r) */
    uint64_t n;
    double c;
    uint32_t active_count;
    uint32_t *active; /* I, in index order */
    double *mean;     /* K: y-bar aggregated */
    struct order draft;
    uint32_t *hat; /* M: agent ids to draw uploaders from */
    struct dice dice;
};

struct world {
    const struct twin_config *config;
    struct twin_result *result;
    uint32_t uploaders; /* N */
    double paper_epsilon;
    double gap; /* Delta of the R rule */
    struct hub hub;
    struct agent *agents;
    uint64_t *threshold; /* mean_rows x K */
    double *prize;       /* mean_rows x K */
    double *regret_of;   /* K: best global mean - global mean */
    uint64_t *pulled;    /* K: pulls by all agents */
};

/* ---- Sizes of epochs: Alg. 1 lines 3-5 with N for M (Sec. IV-B) ----------------------------- */

static double target_gap(const struct world *world, double r)
{
    if (world->config->rounds == 0)
        return pow(2.0, -r);
    return pow(world->gap, r / (double)world->config->rounds);
}

/* log(8 |I| r^2 T) for I the active set (first term), for |I| = K (second term). */
static double log_term(const struct world *world, uint32_t arms, double r)
{
    return log(8.0 * (double)arms * r * r * (double)world->config->horizon);
}

static uint64_t ceil_s(const struct world *world, double r)
{
    double const n = (double)world->uploaders;
    double const gap = target_gap(world, r);
    double s = 8.0 * log_term(world, world->hub.active_count, r) / (n * gap * gap);
    if (isfinite(world->paper_epsilon)) {
        double const root = sqrt(2.0 * log_term(world, world->config->arms, r));
        double const noisy = 8.0 * r * root / (pow(n, 1.5) * world->paper_epsilon * gap);
        if (noisy > s)
            s = noisy;
    }
    return s < (double)S_MAX ? (uint64_t)ceil(s) : S_MAX;
}

static double width_c(const struct world *world, double r, uint64_t s_r)
{
    double const n = (double)world->uploaders;
    double const s = (double)s_r;
    double c = sqrt(log_term(world, world->hub.active_count, r) / (2.0 * n * s));
    if (isfinite(world->paper_epsilon)) {
        double const root = sqrt(8.0 * log_term(world, world->config->arms, r));
        c += r * root / (pow(n, 1.5) * world->paper_epsilon * s);
    }
    return c;
}

/* ---- Agent ---------------------------------------------------------------------------------- */

/* Pulls of one agent under an order; one too long for any horizon, and the last one, never end. */
static uint64_t order_pulls(const struct order *order)
{
    bool const endless = order->play || order->pulls > UINT64_MAX / order->active_count;
    return endless ? UINT64_MAX : order->pulls * order->active_count;
}

static void agent_read_mail(struct agent *agent)
{
    assert(agent->mail);
    assert(agent->pulls_left == 0);
    agent->mail = false;
    agent->cursor = 0;
    agent->pulls_left = order_pulls(&agent->inbox);
    for (uint32_t i = 0; i < agent->inbox.active_count; i++)
        agent->sum[agent->inbox.active[i]] = 0.0;
}

/* One pull. Returns the arm. */
static inline uint32_t agent_pull(struct agent *agent)
{
    uint32_t const arm = agent->inbox.active[agent->cursor];
    bool const paid = dice_roll(&agent->dice) >> 1 < agent->threshold[arm];
    agent->sum[arm] += paid ? agent->prize[arm] : 0.0;
    agent->cursor++;
    if (agent->cursor == agent->inbox.active_count)
        agent->cursor = 0;
    agent->pulls_left--;
    return arm;
}

/* Lines 8-9: the mean of this epoch's rewards, with noise. */
static double agent_noised_mean(struct agent *agent, const struct world *world, uint32_t arm)
{
    double const n = (double)agent->inbox.pulls;
    double const epsilon = world->config->epsilon;
    if (world->config->sound) {
        double steps = agent->sum[arm];
        if (isfinite(epsilon))
            steps += discrete_laplace(&agent->dice, TWIN_STEPS / epsilon);
        return steps / (n * TWIN_STEPS);
    }
    double mean = agent->sum[arm] / n;
    if (isfinite(epsilon))
        mean += laplace(&agent->dice, 1.0 / ((double)world->uploaders * epsilon * n));
    return mean;
}

static bool agent_must_upload(const struct agent *agent)
{
    for (uint32_t i = 0; i < agent->inbox.uploaders_count; i++)
        if (agent->inbox.uploaders[i] == agent->id)
            return true;
    return false;
}

static void agent_send_report(const struct agent *agent, struct world *world)
{
    struct hub *const hub = &world->hub;
    struct report *const report = &hub->inbox[hub->mail_count++];
    report->from = agent->id;
    report->mean_count = agent->inbox.active_count;
    for (uint32_t i = 0; i < report->mean_count; i++)
        report->means[i] = agent->history[agent->inbox.active[i]];
    world->result->messages += 1;
    world->result->messages_per_receiver += 1;
    world->result->scalars += report->mean_count;
    world->result->links += 1;
    world->result->cost += world->config->cost_server_link;
}

/* Every agent noises its epoch, also one that does not upload: its history goes on (reading 8). */
static void agent_close_epoch(struct agent *agent, struct world *world)
{
    double const before = (double)agent->pulled_per_arm;
    double const n = (double)agent->inbox.pulls;
    for (uint32_t i = 0; i < agent->inbox.active_count; i++) {
        uint32_t const arm = agent->inbox.active[i];
        double const now = agent_noised_mean(agent, world, arm);
        double *const history = &agent->history[arm];
        *history = before / (before + n) * *history + n / (before + n) * now; /* Eq. (6) */
    }
    agent->pulled_per_arm += agent->inbox.pulls;
    if (agent_must_upload(agent))
        agent_send_report(agent, world);
}

/* ---- Hub ------------------------------------------------------------------------------------ */

static void hub_broadcast(struct world *world, const struct order *order)
{
    world->result->messages += 1;
    world->result->messages_per_receiver += world->config->agents;
    for (uint32_t i = 0; i < world->config->agents; i++) {
        struct order *const copy = &world->agents[i].inbox;
        copy->play = order->play;
        copy->pulls = order->pulls;
        copy->active_count = order->active_count;
        memcpy(copy->active, order->active, order->active_count * sizeof *order->active);
        copy->uploaders_count = order->uploaders_count;
        memcpy(copy->uploaders, order->uploaders,
               order->uploaders_count * sizeof *order->uploaders);
        world->agents[i].mail = true;
    }
}

static void hub_order_epoch(struct world *world)
{
    struct hub *const hub = &world->hub;
    struct order *const order = &hub->draft;
    order->play = false;
    order->pulls = hub->n;
    order->active_count = hub->active_count;
    memcpy(order->active, hub->active, hub->active_count * sizeof *hub->active);
    for (uint32_t i = 0; i < world->config->agents; i++)
        hub->hat[i] = i;
    uint32_t in_hat = world->config->agents;
    order->uploaders_count = world->uploaders;
    for (uint32_t i = 0; i < world->uploaders; i++) {
        uint32_t const drawn = dice_below(&hub->dice, in_hat);
        order->uploaders[i] = hub->hat[drawn];
        hub->hat[drawn] = hub->hat[--in_hat];
    }
    hub_broadcast(world, order);
}

static uint32_t hub_best_arm(const struct hub *hub)
{
    uint32_t best = hub->active[0];
    for (uint32_t i = 1; i < hub->active_count; i++)
        if (hub->mean[hub->active[i]] > hub->mean[best])
            best = hub->active[i];
    return best;
}

static void hub_order_play(struct world *world)
{
    struct order *const order = &world->hub.draft;
    order->play = true;
    order->pulls = 0;
    order->active_count = 1;
    order->active[0] = hub_best_arm(&world->hub);
    order->uploaders_count = 0;
    hub_broadcast(world, order);
}

/* Line 12 over the N reports in the mailbox. */
static void hub_aggregate(struct world *world)
{
    struct hub *const hub = &world->hub;
    assert(hub->mail_count == world->uploaders);
    for (uint32_t i = 0; i < hub->active_count; i++) {
        double sum = 0.0;
        for (uint32_t j = 0; j < hub->mail_count; j++) {
            assert(hub->inbox[j].mean_count == hub->active_count);
            sum += hub->inbox[j].means[i];
        }
        hub->mean[hub->active[i]] = sum / (double)hub->mail_count;
    }
    hub->mail_count = 0;
}

/* Lines 13-15: everybody against one maximum. */
static void hub_eliminate(struct world *world)
{
    struct hub *const hub = &world->hub;
    double const highest = hub->mean[hub_best_arm(hub)];
    uint32_t stay = 0;
    for (uint32_t i = 0; i < hub->active_count; i++) {
        uint32_t const arm = hub->active[i];
        if (highest - hub->mean[arm] >= 2.0 * hub->c) {
            if (world->result->eliminated_epoch != NULL)
                world->result->eliminated_epoch[arm] = hub->epoch;
        } else {
            hub->active[stay++] = arm;
        }
    }
    assert(stay >= 1);
    hub->active_count = stay;
    if (hub->epoch <= TWIN_TRACE_MAX)
        world->result->trace[hub->epoch - 1].active_after = stay;
}

static void hub_begin_epoch(struct world *world)
{
    struct hub *const hub = &world->hub;
    hub->epoch++;
    uint64_t const wanted = ceil_s(world, (double)hub->epoch);
    uint64_t const s = wanted > hub->s ? wanted : hub->s; /* S never falls (reading 3) */
    hub->n = s - hub->s;
    hub->s = s;
    hub->c = width_c(world, (double)hub->epoch, s);
    world->result->epochs = hub->epoch;
    if (hub->epoch > TWIN_TRACE_MAX)
        return;
    world->result->trace_count = hub->epoch;
    world->result->trace[hub->epoch - 1] = (struct twin_epoch){.s = s,
                                                               .n = hub->n,
                                                               .c = hub->c,
                                                               .active_before = hub->active_count,
                                                               .active_after = hub->active_count};
}

/* Goes on to the next epoch that has pulls, or to the end. Epochs without pulls take no time and no
 * message: they only repeat the test with their own C(r). */
static void hub_go_on(struct world *world)
{
    struct hub *const hub = &world->hub;
    uint32_t const rounds = world->config->rounds;
    while (hub->active_count > 1 && (rounds == 0 || hub->epoch < rounds)) {
        hub_begin_epoch(world);
        if (hub->n > 0) {
            hub_order_epoch(world);
            return;
        }
        hub_eliminate(world);
    }
    hub_order_play(world);
}

static void hub_read_mail(struct world *world)
{
    struct hub *const hub = &world->hub;
    hub_aggregate(world);
    world->result->rounds++;
    if (hub->epoch <= TWIN_TRACE_MAX)
        world->result->trace[hub->epoch - 1].collected = true;
    hub_eliminate(world);
    hub_go_on(world);
}

/* ---- Setting up ----------------------------------------------------------------------------- */

static bool config_is_good(const struct twin_config *config)
{
    if (config->agents == 0 || config->arms == 0 || config->means == NULL)
        return false;
    if (config->mean_rows != 1 && config->mean_rows != config->agents)
        return false;
    if (config->horizon == 0 || config->horizon > TWIN_HORIZON_MAX)
        return false;
    if (!(config->epsilon > 0.0) || !(config->gap >= 0.0) || !(config->gap <= 1.0))
        return false;
    if (!(config->participation > 0.0) || !(config->participation <= 1.0))
        return false;
    for (size_t i = 0; i < (size_t)config->mean_rows * config->arms; i++)
        if (!(config->means[i] >= 0.0 && config->means[i] <= 1.0))
            return false;
    return config->checkpoint_count == 0 ||
           (config->checkpoints != NULL && config->regret_at != NULL);
}

/* N = ceil(p M), where .55 x 100 is 55 although the product is a little more (reading 8). */
static uint32_t uploader_count(const struct twin_config *config)
{
    double const product = config->participation * (double)config->agents;
    double const nearest = floor(product + 0.5);
    double const n =
        fabs(product - nearest) < 1e-9 * (double)config->agents ? nearest : ceil(product);
    return n < 1.0 ? 1u : (uint32_t)n;
}

/* Global means (reading 19) into regret_of, then the gaps; Delta from the smallest positive one. */
static void world_find_gaps(struct world *world)
{
    const struct twin_config *const config = world->config;
    double best = 0.0;
    for (uint32_t k = 0; k < config->arms; k++) {
        double sum = 0.0;
        for (uint32_t row = 0; row < config->mean_rows; row++)
            sum += config->means[(size_t)row * config->arms + k];
        world->regret_of[k] = sum / (double)config->mean_rows;
        if (world->regret_of[k] > best)
            best = world->regret_of[k];
    }
    world->gap = 1.0; /* all arms alike: any Delta will do */
    for (uint32_t k = 0; k < config->arms; k++) {
        world->regret_of[k] = best - world->regret_of[k];
        if (world->regret_of[k] > TWIN_SAME && world->regret_of[k] < world->gap)
            world->gap = world->regret_of[k];
    }
    if (config->gap > 0.0)
        world->gap = config->gap;
}

static void world_fill_slot_machines(struct world *world)
{
    const struct twin_config *const config = world->config;
    for (size_t i = 0; i < (size_t)config->mean_rows * config->arms; i++) {
        double const chance = config->constant_rewards ? 1.0 : config->means[i];
        double const reward = config->constant_rewards ? config->means[i] : 1.0;
        world->threshold[i] = (uint64_t)(chance * 0x1p63);
        world->prize[i] = config->sound ? floor(reward * TWIN_STEPS + 0.5) : reward;
    }
}

static bool order_alloc(struct order *order, uint32_t agents, uint32_t arms)
{
    order->active = calloc(arms, sizeof *order->active);
    order->uploaders = calloc(agents, sizeof *order->uploaders);
    return order->active != NULL && order->uploaders != NULL;
}

static void order_free(struct order *order)
{
    free(order->active);
    free(order->uploaders);
}

static bool agent_alloc(struct world *world, uint32_t id)
{
    const struct twin_config *const config = world->config;
    struct agent *const agent = &world->agents[id];
    size_t const row = config->mean_rows == 1 ? 0 : id;
    agent->id = id;
    agent->threshold = world->threshold + row * config->arms;
    agent->prize = world->prize + row * config->arms;
    agent->sum = calloc(config->arms, sizeof *agent->sum);
    agent->history = calloc(config->arms, sizeof *agent->history);
    agent->dice = dice_of(config->seed, (uint64_t)id + 1);
    return order_alloc(&agent->inbox, config->agents, config->arms) && agent->sum != NULL &&
           agent->history != NULL;
}

static bool hub_alloc(struct world *world)
{
    const struct twin_config *const config = world->config;
    struct hub *const hub = &world->hub;
    hub->inbox = calloc(config->agents, sizeof *hub->inbox);
    hub->active = calloc(config->arms, sizeof *hub->active);
    hub->mean = calloc(config->arms, sizeof *hub->mean);
    hub->hat = calloc(config->agents, sizeof *hub->hat);
    hub->dice = dice_of(config->seed, 0);
    if (hub->inbox == NULL || hub->active == NULL || hub->mean == NULL || hub->hat == NULL)
        return false;
    for (uint32_t i = 0; i < config->agents; i++) {
        hub->inbox[i].means = calloc(config->arms, sizeof *hub->inbox[i].means);
        if (hub->inbox[i].means == NULL)
            return false;
    }
    hub->active_count = config->arms;
    for (uint32_t k = 0; k < config->arms; k++)
        hub->active[k] = k;
    return order_alloc(&hub->draft, config->agents, config->arms);
}

static bool world_alloc(struct world *world)
{
    const struct twin_config *const config = world->config;
    size_t const cells = (size_t)config->mean_rows * config->arms;
    world->agents = calloc(config->agents, sizeof *world->agents);
    world->threshold = calloc(cells, sizeof *world->threshold);
    world->prize = calloc(cells, sizeof *world->prize);
    world->regret_of = calloc(config->arms, sizeof *world->regret_of);
    world->pulled = calloc(config->arms, sizeof *world->pulled);
    if (world->agents == NULL || world->threshold == NULL || world->prize == NULL ||
        world->regret_of == NULL || world->pulled == NULL || !hub_alloc(world))
        return false;
    for (uint32_t i = 0; i < config->agents; i++)
        if (!agent_alloc(world, i))
            return false;
    return true;
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; world->agents != NULL && i < world->config->agents; i++) {
        order_free(&world->agents[i].inbox);
        free(world->agents[i].sum);
        free(world->agents[i].history);
    }
    for (uint32_t i = 0; world->hub.inbox != NULL && i < world->config->agents; i++)
        free(world->hub.inbox[i].means);
    order_free(&world->hub.draft);
    free(world->hub.inbox);
    free(world->hub.active);
    free(world->hub.mean);
    free(world->hub.hat);
    free(world->agents);
    free(world->threshold);
    free(world->prize);
    free(world->regret_of);
    free(world->pulled);
}

/* ---- Playing -------------------------------------------------------------------------------- */

/* Pseudo-regret so far: a pull of arm k costs (best global mean - global mean of k). */
static double world_regret(const struct world *world)
{
    double regret = 0.0;
    for (uint32_t k = 0; k < world->config->arms; k++)
        regret += (double)world->pulled[k] * world->regret_of[k];
    return regret;
}

static void world_play_slot(struct world *world)
{
    for (uint32_t i = 0; i < world->config->agents; i++)
        world->pulled[agent_pull(&world->agents[i])]++;
    for (uint32_t i = 0; i < world->config->agents; i++)
        if (world->agents[i].pulls_left == 0)
            agent_close_epoch(&world->agents[i], world);
    if (world->hub.mail_count > 0)
        hub_read_mail(world);
}

static void world_deliver(struct world *world)
{
    for (uint32_t i = 0; i < world->config->agents; i++)
        if (world->agents[i].mail)
            agent_read_mail(&world->agents[i]);
}

static void world_play(struct world *world)
{
    const struct twin_config *const config = world->config;
    uint32_t next_checkpoint = 0;
    hub_go_on(world);
    for (uint64_t t = 1; t <= config->horizon; t++) {
        world_deliver(world);
        world_play_slot(world);
        while (next_checkpoint < config->checkpoint_count &&
               config->checkpoints[next_checkpoint] <= t)
            config->regret_at[next_checkpoint++] = world_regret(world);
    }
}

bool twin_run(const struct twin_config *config, struct twin_result *result)
{
    uint32_t *const eliminated_epoch = result->eliminated_epoch;
    if (!config_is_good(config))
        return false;
    *result = (struct twin_result){.eliminated_epoch = eliminated_epoch};
    if (eliminated_epoch != NULL)
        memset(eliminated_epoch, 0, config->arms * sizeof *eliminated_epoch);

    struct world world = {.config = config, .result = result};
    world.uploaders = uploader_count(config);
    world.paper_epsilon =
        config->sound ? config->epsilon / (double)world.uploaders : config->epsilon;
    bool const ready = world_alloc(&world);
    if (ready) {
        world_find_gaps(&world);
        world_fill_slot_machines(&world);
        world_play(&world);
        result->regret = world_regret(&world);
        result->final_arm_count = world.hub.active_count;
        result->final_arm = hub_best_arm(&world.hub);
        result->final_arm_is_best = world.regret_of[result->final_arm] <= TWIN_SAME;
    }
    world_free(&world);
    return ready;
}

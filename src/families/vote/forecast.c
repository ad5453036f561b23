/* How many samples it takes until every player has ended, and what regret that costs, by formula:
 * the radii as the players have them, the means as they are, and what is left to chance taken for
 * normal (src/proto/vote/NOTES.md, Forecast). */
#include <math.h>
#include "../forecast.h"
#include "plan.h"
#include "tacit/linalg.h"

#define STAGES_MAX 900u
#define STEP 1.03      /* from one round that is looked at to the next */
#define ARMS_MAX 1024u /* beyond it simulation is faster */
#define BISECTIONS 60u
#define GUMBEL_MEAN 0.5772156649015329
#define FIRST_RADIUS 0.25 /* EXACT-BOUNDS 4.1 */
#define LADDER_GROWTH 2.0

/* What one player does alone, at growing numbers of pulls. */
struct course {
    void *memory; /* of what follows */
    const struct vote_world *world;
    double epsilon; /* of noise; INFINITY: none */
    uint32_t arms;
    uint32_t best;
    uint32_t players; /* whose votes count */
    uint32_t needed;
    double *means;   /* K */
    double *gone;    /* stages x K: chance that a player has dropped the arm by then */
    double *pulls;   /* stages x K: of each arm that it has left */
    double *played;  /* stages x K: what a player has pulled of each, on average */
    double *samples; /* stages: its own, of all arms */
    uint32_t stage_count;
};

static double *row_of(const struct course *course, double *rows, uint32_t stage)
{
    TACIT_ASSERT(stage < STAGES_MAX);
    return rows + (size_t)stage * course->arms;
}

/* Of the stage before; before the first there is nothing. */
static double before_of(const struct course *course, double *rows, uint32_t stage, uint32_t arm)
{
    return stage == 0 ? 0 : row_of(course, rows, stage - 1)[arm];
}

static double gap_of(const struct course *course, uint32_t arm)
{
    return course->means[course->best] - course->means[arm];
}

/* Chance that a difference of means which is `margin` beyond its bound passes it; noise: the
 * variance of that of two sums. */
static double chance_past(const struct course *course, uint32_t arm, double margin, double pulls,
                          double pulls_of_best, double noise)
{
    double const variance = forecast_variance(course->means[course->best]) / pulls_of_best +
                            forecast_variance(course->means[arm]) / pulls + noise / (pulls * pulls);
    return forecast_chance(margin, variance);
}

/* Of so many players `needed` have dropped an arm, if each has with this chance. */
static double chance_out(const struct course *course, double gone)
{
    if (gone < 1e-12 || gone > 1 - 1e-12)
        return gone < 0.5 ? 0 : 1;
    return tacit_vote_binomial_tail(course->players, gone, course->needed);
}

/* ---- The stages of each subroutine: each fills its row of `gone`, and of `pulls` ---- */

/* After round tau an arm goes that is 2 r(tau) behind; ser3: 2 r(tau) - epsilon. With successive
 * all others go when r(tau) is down to epsilon/2. */
static void stage_racing(struct course *course, uint32_t stage, double round)
{
    struct tacit_best_arm_config const *const config = &course->world->subroutine;
    double const radius =
        tacit_best_arm_radius(config, (uint64_t)fmax(round, 1), (uint64_t)fmax(round, 1));
    bool const is_successive = config->kind == TACIT_BEST_ARM_SUCCESSIVE;
    double const spared = is_successive ? 0 : config->accuracy;
    bool const is_last = is_successive && radius <= config->accuracy / 2;
    for (uint32_t arm = 0; arm < course->arms; arm++) {
        row_of(course, course->pulls, stage)[arm] = round;
        row_of(course, course->gone, stage)[arm] =
            arm == course->best ? 0
            : is_last           ? 1
                      : chance_past(course, arm, gap_of(course, arm) + spared - 2 * radius, round,
                                    round, 0);
    }
}

/* ugapec, lucb: all others go at once, when the best arm's lower bound is no more than epsilon
 * below their upper ones. Pulls go where radii are wide, so that beta_best + beta_k is in
 * proportion to gap_k + epsilon: T_k = theta/(gap_k + epsilon)^2, the best arm like the next one
 * (Gabillon, Ghavamzadeh, Lazaric 2012, H_epsilon). */
static void stage_one_shot(struct course *course, uint32_t stage, double theta)
{
    struct tacit_best_arm_config const *const config = &course->world->subroutine;
    double *const pulls = row_of(course, course->pulls, stage);
    double least = INFINITY;
    double total = 0;
    double all = 1;
    for (uint32_t arm = 0; arm < course->arms; arm++)
        least = arm == course->best ? least : fmin(least, gap_of(course, arm));
    for (uint32_t arm = 0; arm < course->arms; arm++) {
        double const gap = (arm == course->best ? least : gap_of(course, arm)) + config->accuracy;
        pulls[arm] = theta / (gap * gap);
        total += pulls[arm];
    }
    double const level = tacit_best_arm_log(config, (uint64_t)fmax(total, 1));
    for (uint32_t arm = 0; arm < course->arms; arm++) {
        double const radius =
            sqrt(level / 2) * (sqrt(1 / pulls[arm]) + sqrt(1 / pulls[course->best]));
        if (arm != course->best)
            all *= chance_past(course, arm, gap_of(course, arm) + config->accuracy - radius,
                               pulls[arm], pulls[course->best], 0);
    }
    for (uint32_t arm = 0; arm < course->arms; arm++)
        row_of(course, course->gone, stage)[arm] = arm == course->best ? 0 : all;
}

/* The exact bounds of `sum`, of which every arm has as much, after so many pulls. */
static void stage_exact(struct course *course, uint64_t pulls, struct tacit_bounds_sum sum,
                        const struct tacit_bounds_noise *noise, double level)
{
    uint32_t const stage = course->stage_count++;
    double const accuracy = course->world->subroutine.accuracy;
    double const steps = (double)TACIT_STEPS * (double)sum.pulls;
    struct tacit_bounds_sum high = sum;
    high.steps = llround(course->means[course->best] * steps);
    double const bar = tacit_bounds_lower_of(&high, noise, level) + accuracy;
    for (uint32_t arm = 0; arm < course->arms; arm++) {
        struct tacit_bounds_sum low = sum;
        low.steps = llround(course->means[arm] * steps);
        double const margin = bar - tacit_bounds_upper_of(&low, noise, level);
        row_of(course, course->pulls, stage)[arm] = (double)pulls;
        row_of(course, course->gone, stage)[arm] =
            arm == course->best ? 0
                                : chance_past(course, arm, margin, (double)sum.pulls,
                                              (double)sum.pulls, forecast_noise(&sum, noise));
    }
}

/* Private votes: a ladder of releases, each player's own (EXACT-BOUNDS 4 with one site). */
static void lay_private(struct course *course)
{
    struct tacit_best_arm_config const *const config = &course->world->subroutine;
    struct tacit_bounds_sum releases[TACIT_BOUNDS_RELEASES_MAX];
    uint64_t rung = tacit_bounds_first_rung(
        1, course->epsilon, log(4.0 * course->arms / config->failure), FIRST_RADIUS);
    uint64_t before = 0;
    for (uint32_t e = 0; e < TACIT_BOUNDS_RELEASES_MAX && rung < TACIT_HORIZON_MAX / 4; e++) {
        double const level = tacit_bounds_level(course->arms, e + 1, config->failure);
        struct tacit_bounds_sum sum;
        releases[e] = (struct tacit_bounds_sum){.pulls = rung - before, .noises = 1};
        (void)tacit_bounds_suffix(releases, e + 1, course->epsilon, level, &sum);
        stage_exact(course, rung, sum, &(struct tacit_bounds_noise){.epsilon = course->epsilon},
                    level);
        before = rung;
        rung = tacit_bounds_next_rung(rung, LADDER_GROWTH);
    }
}

/* Published sums: one learner, whose looks are at fixed numbers of releases. */
static void lay_sums(struct course *course)
{
    struct tacit_vote_pool_config const config = vote_pool_config(course->world);
    uint64_t const most = tacit_vote_pool_until(&config, 0); /* the pool is closed then */
    uint64_t releases = tacit_vote_pool_until(&config, FIRST_RADIUS);
    for (uint32_t e = 0; e < TACIT_BOUNDS_RELEASES_MAX && releases < most; e++) {
        struct tacit_bounds_noise noise;
        struct tacit_bounds_sum const sum = tacit_vote_pool_sum(&config, releases, &noise);
        stage_exact(course, sum.pulls, sum, &noise,
                    tacit_bounds_level(config.arm_count, e + 1, config.failure));
        releases = tacit_bounds_next_rung(releases, config.growth);
    }
}

/* Votes of raw rewards, or one learner that sees them all. */
static void lay_rounds(struct course *course)
{
    struct tacit_best_arm_config const *const config = &course->world->subroutine;
    bool const is_racing = tacit_best_arm_split_of(config->kind) == TACIT_BEST_ARM_RACING;
    double const arms = course->arms;
    double at = is_racing && config->kind != TACIT_BEST_ARM_SUCCESSIVE
                    ? fmax(1, ceil(log(arms / config->failure)))
                    : 1;
    for (uint32_t stage = 0; stage < STAGES_MAX; stage++, at *= STEP) {
        if (is_racing)
            stage_racing(course, stage, at);
        else
            stage_one_shot(course, stage, at);
        course->stage_count = stage + 1;
    }
}

/* ---- What players do together ---- */

/* Chance that a player has not dropped the arm by itself before this stage, nor have the votes. */
static double left_before(const struct course *course, uint32_t stage, uint32_t arm)
{
    double const gone = before_of(course, course->gone, stage, arm);
    return arm == course->best ? 1 : (1 - gone) * (1 - chance_out(course, gone));
}

/* A player's samples up to each stage; what has gone stays gone. */
static void count_samples(struct course *course)
{
    double samples = 0;
    for (uint32_t stage = 0; stage < course->stage_count; stage++) {
        double *const gone = row_of(course, course->gone, stage);
        for (uint32_t arm = 0; arm < course->arms; arm++) {
            double const before = before_of(course, course->pulls, stage, arm);
            double const more = (row_of(course, course->pulls, stage)[arm] - before) *
                                left_before(course, stage, arm);
            row_of(course, course->played, stage)[arm] =
                more + before_of(course, course->played, stage, arm);
            samples += more;
            gone[arm] = fmax(gone[arm], before_of(course, course->gone, stage, arm));
        }
        course->samples[stage] = samples;
    }
}

/* What a player has played who has this arm left: more than the average one. */
static double samples_with(const struct course *course, uint32_t stage, uint32_t arm)
{
    return course->samples[stage] - row_of(course, course->played, stage)[arm] +
           row_of(course, course->pulls, stage)[arm];
}

/* Chance that a player who is to have `own` samples has this many: they come at random. */
static double chance_reached(const struct course *course, double own, double samples)
{
    if (course->players == 1 && course->needed == 1)
        return own >= samples ? 1 : 0;
    return tacit_linalg_normal_cdf((own - samples) / sqrt(fmax(samples, 1)));
}

/* All other arms are out for all when a player has `own` samples on average. */
static double chance_decided(const struct course *course, double own)
{
    double decided = 1;
    for (uint32_t arm = 0; arm < course->arms && decided > 0; arm++) {
        double gone = 0;
        for (uint32_t stage = 0; arm != course->best && stage < course->stage_count; stage++) {
            double const before = before_of(course, course->gone, stage, arm);
            double const now = row_of(course, course->gone, stage)[arm];
            gone += now > before ? (now - before) *
                                       chance_reached(course, own, samples_with(course, stage, arm))
                                 : 0;
        }
        decided *= arm == course->best ? 1 : chance_out(course, gone);
    }
    return decided;
}

/* Samples of one player, on average, at which SHARE of the runs are decided. NaN: not within the
 * stages. */
static double own_needed(const struct course *course)
{
    double low = 1;
    double high = 2 * course->samples[course->stage_count - 1];
    if (!(chance_decided(course, high) >= FORECAST_SHARE))
        return NAN;
    for (uint32_t i = 0; i < BISECTIONS && high > low * 1.0001; i++) {
        double const middle = sqrt(low * high);
        if (chance_decided(course, middle) >= FORECAST_SHARE)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Regret of one player within `own` samples. */
static double own_regret(const struct course *course, double own)
{
    double regret = 0;
    for (uint32_t stage = 0; stage < course->stage_count; stage++) {
        double const from = stage == 0 ? 0 : course->samples[stage - 1];
        double const room = course->samples[stage] - from;
        double const part = room > 0 ? fmin(fmax((own - from) / room, 0), 1) : 0;
        for (uint32_t arm = 0; arm < course->arms; arm++) {
            double const before = before_of(course, course->pulls, stage, arm);
            double const left = left_before(course, stage, arm);
            regret += part * left * (row_of(course, course->pulls, stage)[arm] - before) *
                      gap_of(course, arm);
        }
    }
    return regret;
}

/* ---- The file ---- */

static bool has_formula(const struct tacit_experiment *experiment)
{
    struct vote_plan const *const plan = experiment->plan;
    enum tacit_best_arm_kind const kind = plan->world.subroutine.kind;
    bool const is_kind = kind == TACIT_BEST_ARM_SUCCESSIVE || kind == TACIT_BEST_ARM_SER3 ||
                         kind == TACIT_BEST_ARM_UGAPEC || kind == TACIT_BEST_ARM_LUCB;
    bool const is_exact = plan->world.mechanism != NULL;
    return experiment->global_means != NULL && experiment->sim.env.kind != TACIT_ENV_CONSTANT &&
           experiment->sim.env.row_count == 1 && plan->world.drift == 0 &&
           plan->world.switch_every == 0 && plan->world.group_count == 0 &&
           !(plan->world.reset_probability > 0) && !(plan->world.flip > 0) &&
           plan->threshold.liars == 0 && (is_kind || is_exact) &&
           plan->world.subroutine.arm_count >= 2 && plan->world.subroutine.arm_count <= ARMS_MAX;
}

/* Who learns, and how many must have dropped an arm. */
static void count_learners(const struct vote_plan *plan, struct course *course)
{
    struct vote_world const *const world = &plan->world;
    course->players = course->needed = 1;
    if (world->sharing == VOTE_SHARING_NONE ||
        (world->sharing == VOTE_SHARING_VOTES && world->votes_needed > world->player_count))
        course->players = course->needed = world->player_count;
    else if (world->sharing == VOTE_SHARING_VOTES) {
        course->players = world->committee != NULL ? world->votes_needed : world->player_count;
        course->needed = world->votes_needed;
    }
}

/* Copies the means. False: there is not one best arm, or a mean is outside [0, 1]. */
static bool find_best(struct course *course, const double *means)
{
    uint32_t alike = 0;
    for (uint32_t arm = 0; arm < course->arms; arm++) {
        course->means[arm] = means[arm];
        if (means[arm] < 0 || means[arm] > 1)
            return false;
        course->best = means[arm] > means[course->best] ? arm : course->best;
    }
    for (uint32_t arm = 0; arm < course->arms; arm++)
        alike += means[arm] >= means[course->best] ? 1 : 0;
    return alike == 1;
}

/* False: there is no formula for this file, or no memory; what there is of it is to be deleted. */
static bool lay_course(const struct tacit_experiment *experiment, struct course *course)
{
    struct vote_plan const *const plan = experiment->plan;
    void *const memory = tacit_sim_new(NULL, 1, 1);
    *course = (struct course){.memory = memory,
                              .world = &plan->world,
                              .epsilon = experiment->epsilon_per_reward,
                              .arms = experiment->sim.env.arm_count};
    if (memory == NULL || !has_formula(experiment))
        return false;
    size_t const cells = (size_t)STAGES_MAX * course->arms;
    course->means = tacit_sim_new(memory, course->arms, sizeof(double));
    course->gone = tacit_sim_new(memory, cells, sizeof(double));
    course->pulls = tacit_sim_new(memory, cells, sizeof(double));
    course->played = tacit_sim_new(memory, cells, sizeof(double));
    course->samples = tacit_sim_new(memory, STAGES_MAX, sizeof(double));
    if (!tacit_sim_is_whole(memory) || !find_best(course, experiment->global_means))
        return false;
    count_learners(plan, course);
    if (plan->world.sharing == VOTE_SHARING_SUMS)
        lay_sums(course);
    else if (plan->world.mechanism != NULL)
        lay_private(course);
    else
        lay_rounds(course);
    count_samples(course);
    return course->stage_count > 0;
}

/* Of all players together, for so many of one who learns. Blocks of the pool that are half played
 * are lost to it. */
static double samples_of_all(const struct course *course, double own)
{
    struct vote_world const *const world = course->world;
    double const players = world->player_count;
    if (world->sharing == VOTE_SHARING_ALL)
        return own;
    if (world->sharing == VOTE_SHARING_SUMS)
        return own + players / 2 * (double)world->block * course->arms;
    if (world->sharing == VOTE_SHARING_NONE || course->needed > course->players)
        return players * own;
    return players * own + players * (log(players) + GUMBEL_MEAN); /* each is active once more */
}

double vote_forecast(const struct tacit_experiment *experiment)
{
    struct course course;
    double samples = NAN;
    if (lay_course(experiment, &course)) {
        double const own = own_needed(&course);
        samples = ceil(samples_of_all(&course, own));
    }
    tacit_sim_delete(course.memory);
    return samples <= (double)TACIT_HORIZON_MAX ? samples : NAN;
}

double vote_forecast_regret(const struct tacit_experiment *experiment)
{
    struct course course;
    double regret = NAN;
    double const horizon = (double)experiment->sim.horizon;
    if (lay_course(experiment, &course)) {
        bool const is_one =
            course.world->sharing == VOTE_SHARING_ALL || course.world->sharing == VOTE_SHARING_SUMS;
        double const learners = is_one ? 1 : course.world->player_count;
        regret = learners * own_regret(&course, horizon / learners);
    }
    tacit_sim_delete(course.memory);
    return regret;
}

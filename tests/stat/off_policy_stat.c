/* Estimates from simulated logs against the truth that made them. A context that only the logging
 * policy sees changes both what is chosen and what it brings, so plain means and the direct model
 * are wrong: that they are is seen, too. 10,000 logs, with TACIT_TEST_LONG=1 100,000. False alarms:
 * a mean is refuted beyond 4.9 standard errors, 1e-6 each; 6 means of estimates, 1 of replays: 7e-6
 * in all; fixed seeds. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/off_policy.h"
#include "../../src/families/index/plan.h"
#include "../support/effort.h"
#include "../support/gof.h"

#define ARMS 3u
#define SITES 2u
#define ROWS 300u
#define LIMIT 4.9

/* Mean rewards at a site under a context, and what is chosen there. */
static const double means[SITES][2][ARMS] = {{{0.2, 0.5, 0.4}, {0.6, 0.3, 0.4}},
                                             {{0.5, 0.3, 0.1}, {0.1, 0.9, 0.2}}};
static const double chances[2][ARMS] = {{0.6, 0.3, 0.1}, {0.15, 0.25, 0.6}};

struct logged {
    uint32_t arms[ROWS];
    uint32_t cells[ROWS];
    double rewards[ROWS];
    double propensities[ROWS];
};

static uint32_t long_or(uint32_t runs)
{
    return effort_of(runs, 10 * runs);
}

/* Of an arm that is always played: half of the rows are in either context, half at either site. */
static double truth(uint32_t arm)
{
    return (means[0][0][arm] + means[0][1][arm] + means[1][0][arm] + means[1][1][arm]) / 4;
}

static void draw(struct logged *log, uint32_t run)
{
    struct tacit_rng rng = tacit_rng_stream(21, run, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t const context = tacit_rng_bernoulli(&rng, 0.5) ? 1 : 0;
        uint32_t const site = tacit_rng_bernoulli(&rng, 0.5) ? 1 : 0;
        double const point = tacit_rng_uniform(&rng);
        uint32_t const arm = point < chances[context][0]                         ? 0
                             : point < chances[context][0] + chances[context][1] ? 1
                                                                                 : 2;
        log->arms[row] = arm;
        log->cells[row] = site;
        log->propensities[row] = chances[context][arm];
        log->rewards[row] = tacit_rng_bernoulli(&rng, means[site][context][arm]) ? 1 : 0;
    }
}

/* Standard errors between the mean and what it should be. */
static double distance(const struct gof_spread *spread, double wanted)
{
    return fabs(gof_mean(spread) - wanted) / sqrt(gof_error_square(spread));
}

TEST(estimates_are_unbiased_and_intervals_cover)
{
    uint32_t const runs = long_or(10000);
    static double work[1000];
    struct gof_spread ips[ARMS] = {{0}};
    struct gof_spread robust[ARMS] = {{0}};
    struct gof_spread direct[ARMS] = {{0}};
    uint32_t covered = 0;
    assert_true(tacit_off_policy_work_size(SITES, ARMS) <= 1000);
    for (uint32_t run = 0; run < runs; run++) {
        static struct logged log;
        struct tacit_off_policy_arm results[(SITES + 1) * ARMS];
        draw(&log, run);
        struct tacit_off_policy_log const rows = {ROWS,      ARMS,        SITES,           log.arms,
                                                  log.cells, log.rewards, log.propensities};
        tacit_off_policy_arms(&rows, work, results);
        for (uint32_t arm = 0; arm < ARMS; arm++) {
            struct tacit_off_policy_arm const *const all = &results[SITES * ARMS + arm];
            gof_add(&ips[arm], all->ips.value);
            gof_add(&robust[arm], all->doubly_robust.value);
            gof_add(&direct[arm], all->direct);
            covered +=
                fabs(all->doubly_robust.value - truth(arm)) < 1.96 * all->doubly_robust.error;
        }
    }
    double const coverage = (double)covered / runs / ARMS;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        print_message(
            "arm %u: weighted %.2f, doubly robust %.2f, direct %.1f standard errors off\n", arm,
            distance(&ips[arm], truth(arm)), distance(&robust[arm], truth(arm)),
            distance(&direct[arm], truth(arm)));
        assert_true(distance(&ips[arm], truth(arm)) < LIMIT);
        assert_true(distance(&robust[arm], truth(arm)) < LIMIT);
    }
    /* what is not corrected is wrong, and that is seen */
    assert_true(distance(&direct[2], truth(2)) > 2 * LIMIT);
    print_message("95 %% intervals covered %.4f\n", coverage);
    assert_true(coverage > 0.92 && coverage < 0.97);
}

/* ---- Replay ---- */

#define SLOTS 15u /* some 30 pulls of a log are answered: fewer than 15 hardly ever */

/* UCB1 at each site on Bernoulli rewards with these means: what a pull brings. */
static const double site_means[SITES * ARMS] = {0.4, 0.4, 0.4, 0.3, 0.6, 0.15};
static const uint64_t last[1] = {SLOTS};

static struct index_plan plan_of(uint32_t runs)
{
    return (struct index_plan){.sim = {.seed = 5,
                                       .run_count = runs,
                                       .agent_count = SITES,
                                       .horizon = SLOTS,
                                       .points = last,
                                       .point_count = 1,
                                       .env = {.kind = TACIT_ENV_BERNOULLI,
                                               .row_count = SITES,
                                               .arm_count = ARMS,
                                               .means = site_means}},
                               .arms = {.kind = TACIT_ARMS_UCB1,
                                        .arm_count = ARMS,
                                        .horizon = SLOTS,
                                        .scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1},
                                        .bounded = true},
                               .turns = 1};
}

struct results {
    double *metrics;
    double *regret;
    bool *finished;
    uint64_t *counts;
    double *sums;
    struct tacit_sim_replayed *replayed;
};

static void play(const struct index_plan *plan, const struct tacit_sim *sim,
                 struct results *results)
{
    static const struct tacit_sim_player player = {
        .metric_count = INDEX_METRIC_COUNT, .run_new = index_run_new, .run_play = index_run_play};
    size_t const runs = sim->run_count;
    struct tacit_sim_control control = {.stop = false};
    *results = (struct results){testing_calloc(runs * INDEX_METRIC_COUNT, sizeof(double)),
                                testing_calloc(runs, sizeof(double)),
                                testing_calloc(runs, sizeof(bool)),
                                testing_calloc(runs * SITES * ARMS, sizeof(uint64_t)),
                                testing_calloc(runs * SITES * ARMS, sizeof(double)),
                                testing_calloc(runs, sizeof *results->replayed)};
    struct tacit_sim_results const into = {.metrics = results->metrics,
                                           .regret = results->regret,
                                           .finished = results->finished,
                                           .site_counts = results->counts,
                                           .site_sums = results->sums,
                                           .replayed = results->replayed};
    assert_int_equal(tacit_sim_run(sim, &player, plan, 1, &into, &control), TACIT_OK);
}

static void free_results(struct results *results)
{
    testing_free(results->metrics);
    testing_free(results->regret);
    testing_free(results->finished);
    testing_free(results->counts);
    testing_free(results->sums);
    testing_free(results->replayed);
}

/* What is earned a pull, by playing. */
static void play_truly(struct gof_spread *spread, uint32_t runs)
{
    struct index_plan const plan = plan_of(runs);
    struct tacit_sim sim = plan.sim;
    struct results results;
    sim.watches_sites = true;
    play(&plan, &sim, &results);
    for (uint32_t run = 0; run < runs; run++) {
        double earned = 0;
        for (uint32_t i = 0; i < SITES * ARMS; i++)
            earned += results.sums[(size_t)run * SITES * ARMS + i];
        gof_add(spread, earned / (SITES * SLOTS));
    }
    free_results(&results);
}

/* A log of such rewards, chosen with unequal chances: rows by site, as a replay wants them. */
struct bench {
    uint32_t start[SITES + 1];
    uint32_t arms[SITES * ROWS];
    double rewards[SITES * ROWS];
    double keep[SITES * ROWS];
};

static void log_choices(struct bench *bench, uint32_t run)
{
    struct tacit_rng rng = tacit_rng_stream(22, run, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t row = 0; row < SITES * ROWS; row++) {
        uint32_t const site = row / ROWS;
        uint32_t const context = tacit_rng_bernoulli(&rng, 0.5) ? 1 : 0;
        double const point = tacit_rng_uniform(&rng);
        uint32_t const arm = point < chances[context][0]                         ? 0
                             : point < chances[context][0] + chances[context][1] ? 1
                                                                                 : 2;
        bench->arms[row] = arm;
        bench->rewards[row] = tacit_rng_bernoulli(&rng, means[site][context][arm]) ? 1 : 0;
        bench->keep[row] = 0.1 / chances[context][arm];
    }
    for (uint32_t site = 0; site <= SITES; site++)
        bench->start[site] = site * ROWS;
}

/* The log is of a world in which a context decides: over it, site_means are what an arm brings. */
TEST(a_replay_earns_what_playing_earns)
{
    uint32_t const runs = long_or(1000);
    struct gof_spread played = {0};
    struct gof_spread replayed = {0};
    uint32_t ended = 0;
    for (uint32_t i = 0; i < SITES * ARMS; i++)
        assert_true(fabs(site_means[i] -
                         (means[i / ARMS][0][i % ARMS] + means[i / ARMS][1][i % ARMS]) / 2) <
                    1e-12);
    play_truly(&played, 10 * runs);
    for (uint32_t run = 0; run < runs; run++) {
        static struct bench bench;
        struct index_plan const plan = plan_of(1);
        struct tacit_sim sim = plan.sim;
        struct results results;
        log_choices(&bench, run);
        struct tacit_env_replay_log const log = {SITES, bench.start, bench.arms, bench.rewards,
                                                 bench.keep};
        sim.seed = run + UINT64_C(1);
        sim.replay = &log;
        sim.replay_limit = SLOTS;
        play(&plan, &sim, &results);
        gof_add(&replayed, results.replayed[0].earned / (double)results.replayed[0].pulls);
        ended += results.replayed[0].slots < SLOTS;
        free_results(&results);
    }
    double const wanted = played.sum / played.count;
    double const own = distance(&replayed, wanted);
    print_message("replays: %.4f, playing: %.4f, %.2f standard errors; %u logs were too short\n",
                  replayed.sum / replayed.count, wanted, own, ended);
    assert_true(own < LIMIT);
    assert_true(ended < runs / 100);
}

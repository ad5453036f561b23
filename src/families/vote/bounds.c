/* What votes promise and cost at most: for `check`. */
#include <inttypes.h>
#include <math.h>
#include "plan.h"
#include "tacit/bounds.h"

/* Chance that one sample is by the m-th most active player: p* of Theorem 2; 0 if there is none. */
static double activity_of(const struct vote_world *world, uint32_t rank)
{
    struct vote_clock clock;
    double each[VOTE_GROUPS_MAX]; /* of a player of the group */
    uint32_t sizes[VOTE_GROUPS_MAX];
    if (rank > world->player_count)
        return 0;
    if (world->group_count == 0)
        return 1 / (double)world->player_count;
    vote_clock_start(&clock, world);
    for (uint32_t group = 0; group < world->group_count; group++) {
        sizes[group] = clock.first[group + 1] - clock.first[group];
        each[group] = world->groups[group].events / (double)sizes[group];
    }
    for (uint32_t group = 0; group < world->group_count; group++) {
        uint32_t ahead = 0;
        for (uint32_t other = 0; other < world->group_count; other++)
            if (each[other] > each[group] || (each[other] == each[group] && other < group))
                ahead += sizes[other];
        if (ahead < rank && rank <= ahead + sizes[group])
            return each[group];
    }
    return 0;
}

/* Theorem 2: (1 - delta)(1 - I_{1-p}(T - k, 1 + k))^m, where I is P(Bin(T, p) <= k). */
static double theorem_chance(const struct vote_plan *plan, double activity, double samples,
                             double alone)
{
    if (!(samples < 4e9) || !(activity < 1))
        return NAN;
    double const enough =
        tacit_vote_binomial_tail((uint32_t)samples, activity, (uint32_t)alone + 1);
    return (1 - plan->threshold.delta) * pow(enough, (double)plan->world.votes_needed);
}

static void print_theorems(const struct vote_plan *plan, FILE *out)
{
    struct vote_world const *const world = &plan->world;
    double const arms = (double)world->subroutine.arm_count;
    double const epsilon = world->subroutine.accuracy;
    double const needed = (double)world->votes_needed;
    double const log_delta = log(1 / plan->threshold.delta);
    double const extra = sqrt(log_delta / 2);
    double const alone = tacit_vote_samples_alone(&world->subroutine);
    double const activity = activity_of(world, world->votes_needed);
    if (activity <= 0) {
        (void)fprintf(out, "  votes can never suffice: each player ends alone, with confidence "
                           "1 - eta\n");
        return;
    }
    double const samples = (alone + extra) / activity;
    (void)fprintf(out,
                  "  p*        %.4g: chance of a sample by the least active of the %.0f most "
                  "active players\n",
                  activity, needed);
    (void)fprintf(out,
                  "  Theorem 2     T = (T_Py + %.2f)/p* = %.4g samples, with T_Py = %.0f for "
                  "one player alone",
                  extra, samples, alone);
    double const chance = theorem_chance(plan, activity, samples, alone);
    (void)fprintf(out, "; with probability above %.3g\n", chance);
    (void)fprintf(
        out, "            (its Hoeffding step lacks a factor T: the deviation of a count is of "
             "order sqrt(T), so this T is too small where p* T is large)\n");
    (void)fprintf(out, "  Corollary 1   %.4g samples (median), without constants\n",
                  (arms / (needed * epsilon * epsilon) * log_delta + extra) / activity);
    (void)fprintf(out, "  Corollary 2   %.4g samples (successive), without constants\n",
                  (arms / (epsilon * epsilon) * (log(arms) + log_delta / needed) + extra) /
                      activity);
}

static void print_votes(const struct vote_plan *plan, FILE *out)
{
    struct vote_world const *const world = &plan->world;
    uint32_t const players = world->player_count;
    uint32_t const needed = world->votes_needed;
    uint32_t const wrong = needed > plan->threshold.liars ? needed - plan->threshold.liars : 0;
    double const by_committee = pow(plan->eta, (double)wrong);
    double const by_any =
        tacit_vote_binomial_tail(players - plan->threshold.liars, plan->eta, wrong);
    (void)fprintf(out, "  votes     %u of %u players, eta %.6g", needed, players, plan->eta);
    if (plan->threshold.liars > 0)
        (void)fprintf(out, ", %u liars allowed for", plan->threshold.liars);
    (void)fprintf(
        out,
        "\n  failure   of %u players fixed in advance: %.4g; of any %u of %u: %.4g; "
        "asked for: %.4g%s\n",
        wrong, by_committee, wrong, players - plan->threshold.liars, by_any, plan->threshold.delta,
        (world->committee != NULL ? by_committee : by_any) > plan->threshold.delta * (1 + 1e-9)
            ? " (not kept)"
            : "");
    struct tacit_vote_choice const choice = tacit_vote_recommend(
        players - plan->threshold.liars, plan->threshold.delta, &world->subroutine);
    (void)fprintf(out, "  cheapest  %u of %u players with eta %.4g: about %.3g samples\n",
                  choice.needed + plan->threshold.liars, players, choice.eta, choice.samples);
    double const messages = (double)needed * world->subroutine.arm_count - 1;
    (void)fprintf(out, "  messages  at most %.0f (Theorem 1: m K - 1)%s, %.0f by receiver\n",
                  messages, world->reset_probability > 0 ? " between two resets" : "",
                  messages * (players - 1.0));
}

/* One learner with all rewards, as they are or randomised. */
static void print_shared(const struct vote_plan *plan, FILE *out)
{
    struct vote_world const *const world = &plan->world;
    (void)fprintf(out, "  messages  one broadcast a sample, %u by receiver\n",
                  world->player_count - 1);
    if (world->flip <= 0)
        return;
    double const kept = 1 - 2 * world->flip;
    (void)fprintf(out,
                  "  randomised response turns over a reward with chance %.4g: gaps, and the "
                  "accuracy asked of the learner, are %.4g of what they were, so samples grow by "
                  "about %.3g\n",
                  world->flip, kept, 1 / (kept * kept));
}

static void print_sums(const struct vote_plan *plan, FILE *out)
{
    struct vote_world const *const world = &plan->world;
    struct tacit_vote_pool_config const config = vote_pool_config(world);
    uint64_t const releases = tacit_vote_pool_until(&config, config.accuracy / 2);
    if (config.together > 0)
        (void)fprintf(out,
                      "  rounds    a release below is the total of %u players, each in it once; "
                      "what a player masks goes to the coordinator\n",
                      config.together);
    (void)fprintf(
        out,
        "  block     %" PRIu64 " pulls of each arm in a release, chosen for %u players\n"
        "  failure   at most %.4g, whatever the means and whoever comes (exact bounds)\n"
        "  at gap 0  about %" PRIu64 " releases until all arms are within epsilon or out; "
        "a release is one broadcast of a number an arm, %u by receiver\n",
        config.block, config.player_count, config.failure, releases, config.player_count - 1);
}

/* Assumption 4, which SER3 and DSER3 need: does it hold, where means move? */
static void print_assumption(const struct tacit_experiment *experiment, FILE *out)
{
    struct vote_plan const *const plan = experiment->plan;
    struct vote_world world = plan->world;
    world.env = &plan->common.env;
    if ((world.drift == 0 && world.switch_every == 0) || world.env->means == NULL)
        return;
    double const failure = world.subroutine.failure;
    uint64_t const start = vote_gap_start(&world, failure);
    world.drift_spare = plan->drifts_all ? TACIT_NO_ARM : vote_gap_arm(&world, 1);
    uint32_t const best = vote_gap_arm(&world, start);
    uint64_t const end = vote_gap_ends(&world, failure);
    if (end == 0)
        (void)fprintf(out,
                      "  Assumption 4  holds to T: arm %" PRIu32
                      " is ahead on average from sample %" PRIu64 " on, by %.4g at T\n",
                      best, start, vote_mean_gap(&world, best, world.horizon));
    else
        (void)fprintf(out,
                      "  Assumption 4  fails: arm %" PRIu32
                      " is ahead on average until sample %" PRIu64
                      "; what DSER3 promises ends there (DSER4: subroutine: ser4, with resets)\n",
                      best, end);
}

enum tacit_status vote_print_costs(const struct tacit_experiment *experiment, FILE *out)
{
    struct vote_plan const *const plan = experiment->plan;
    struct vote_world const *const world = &plan->world;
    double const arms = (double)world->subroutine.arm_count;
    double const epsilon = world->subroutine.accuracy;
    (void)fprintf(out,
                  "  one learner with all rewards: K/epsilon^2 ln(1/delta) = %.4g samples, "
                  "without constants (Sec. 2)\n",
                  arms / (epsilon * epsilon) * log(1 / plan->threshold.delta));
    print_assumption(experiment, out);
    if (world->sharing == VOTE_SHARING_ALL) {
        print_shared(plan, out);
        return TACIT_OK;
    }
    if (world->sharing == VOTE_SHARING_SUMS) {
        print_sums(plan, out);
        return TACIT_OK;
    }
    if (world->sharing == VOTE_SHARING_NONE) {
        (void)fprintf(out, "  messages  none; each player ends alone, about %.4g samples each\n",
                      tacit_vote_samples_alone(&world->subroutine));
        return TACIT_OK;
    }
    print_votes(plan, out);
    print_theorems(plan, out);
    double const resets = world->reset_probability * (double)world->horizon;
    if (world->reset_probability > 0)
        (void)fprintf(out,
                      "  Theorem 4     on average at most phi T (m K - 1) = %.4g messages to T\n",
                      resets * ((double)world->votes_needed * arms - 1));
    return TACIT_OK;
}

/* One run of user selection: rounds of choosing, waiting for the slowest, and observing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "select.h"

#define ROUNDING 1e-9 /* values that differ by less are one */
#define SIZE_MIN 20u  /* rows of a user (READINGS P5.12) */

struct select_run {
    const struct select_plan *plan;
    struct tacit_select *select;
    void *scratch;
    uint64_t *sizes;
    double *latencies;   /* K: of this round */
    double *expected;    /* K: mu_k */
    double *columns;     /* 4 K: scores before the choice */
    uint32_t *users;     /* the set of this round */
    uint32_t *genie;     /* K: another set to compare it with */
    uint32_t user_count; /* chosen in this round */
    double median;       /* of mu: above it the fast half */
    double energy_gap;
    uint64_t compared_count; /* rounds in which an annealing was set beside the best */
    uint64_t optimal_count;  /* and was as good */
    double *series;          /* SELECT_SERIES_COUNT rows of this run */
    uint32_t thread_count;   /* that it may train on */
    uint32_t recorded;
    struct training *training; /* NULL: selection only */
    struct tacit_rng latency_stream;
    struct tacit_rng choice_stream;
    double metrics[SELECT_METRIC_COUNT];
};

/* ---- Data sets ---- */

/* Shares by Dirichlet(parameter), of the rows that are left when each user has its least. */
static void draw_sizes(struct select_run *run, uint32_t index)
{
    struct select_keys const *const keys = &run->plan->keys;
    uint32_t const users = run->plan->config.user_count;
    struct tacit_rng rng =
        tacit_rng_stream(run->plan->common.seed, index, TACIT_STREAM_COMMON,
                         TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_SIZES));
    double sum = 0;
    for (uint32_t user = 0; user < users; user++)
        sum += run->columns[user] = tacit_rng_gamma(&rng, keys->dirichlet);
    uint64_t const least = (uint64_t)users * SIZE_MIN;
    double const rest = keys->row_count > least ? (double)(keys->row_count - least) : 0;
    for (uint32_t user = 0; user < users; user++)
        run->sizes[user] =
            SIZE_MIN + (uint64_t)floor(rest * (sum > 0 ? run->columns[user] / sum : 0));
}

/* ---- A round ---- */

/* What tacit_select_score left for this round; until observe or a record writes over it. */
static struct tacit_select_scores scores_of(const struct select_run *run)
{
    size_t const users = run->plan->config.user_count;
    return (struct tacit_select_scores){run->columns, run->columns + users,
                                        run->columns + 2 * users, run->columns + 3 * users};
}

static double slowest_of(const struct select_run *run, const uint32_t *users, uint32_t count)
{
    TACIT_ASSERT(count > 0);
    TACIT_ASSERT(users != NULL);
    double slowest = 0;
    for (uint32_t i = 0; i < count; i++)
        slowest = fmax(slowest, run->latencies[users[i]]);
    return slowest;
}

/* Eq. (9) of a set, with what its latencies were. */
static double reward_of(const struct select_run *run, const uint32_t *users, uint32_t count)
{
    TACIT_ASSERT(count > 0);
    struct tacit_select_scores const scores = scores_of(run);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += scores.weight[users[i]];
    return run->plan->config.latency_min / slowest_of(run, users, count) + sum;
}

/* Eq. (10) of a set: the least expected ratio in place of the observed one. */
static double expected_reward_of(const struct select_run *run, const uint32_t *users,
                                 uint32_t count)
{
    TACIT_ASSERT(count > 0);
    return tacit_select_energy(run->expected, scores_of(run).weight, users, count);
}

/* The genie on the policy's own g and p (READINGS P5.8), over those who have budget. */
static enum tacit_status find_genie(struct select_run *run, uint32_t *count)
{
    struct tacit_select_choice const choice = {.selector = TACIT_SELECTOR_GENIE,
                                               .expected = run->expected};
    double energy;
    return tacit_select_choose(run->select, &choice, NULL, run->scratch, run->genie, count,
                               &energy);
}

static bool is_mixed(const struct select_run *run)
{
    TACIT_ASSERT(run->user_count > 0);
    bool has_fast = false;
    bool has_slow = false;
    for (uint32_t i = 0; i < run->user_count; i++)
        if (run->expected[run->users[i]] > run->median)
            has_fast = true;
        else
            has_slow = true;
    return has_fast && has_slow;
}

/* What Eq. (18) loses to its best value, where an annealing chose among users that were all seen.
 */
static enum tacit_status add_energy_gap(struct select_run *run, double energy)
{
    if (run->plan->keys.choice.selector != TACIT_SELECTOR_ANNEALING || !isfinite(energy))
        return TACIT_OK;
    struct tacit_select_choice const choice = {.selector = TACIT_SELECTOR_EXACT};
    uint32_t count;
    double best;
    TACIT_TRY(
        tacit_select_choose(run->select, &choice, NULL, run->scratch, run->genie, &count, &best));
    run->energy_gap += best - energy;
    run->compared_count++;
    run->optimal_count += best - energy <= ROUNDING ? 1 : 0;
    return TACIT_OK;
}

static enum tacit_status choose(struct select_run *run)
{
    struct tacit_select_choice choice = run->plan->keys.choice;
    struct tacit_entropy const entropy = tacit_rng_entropy(&run->choice_stream);
    double energy;
    choice.expected = run->expected;
    TACIT_TRY(tacit_select_choose(run->select, &choice, &entropy, run->scratch, run->users,
                                  &run->user_count, &energy));
    return add_energy_gap(run, energy);
}

/* A model is float32; a sound update has an int64 a coordinate. With two aggregators also what the
 * second one is asked and answers. */
static void count_bytes(struct select_run *run)
{
    TACIT_ASSERT(run->user_count <= run->plan->config.user_count);
    double const numbers = (double)run->plan->training.parameter_count;
    double const update = run->metrics[SELECT_BITS_PER_COORDINATE] / 8 * numbers;
    double const model = 4 * numbers;
    run->metrics[SELECT_BYTES] += run->user_count * (model + update);
    run->metrics[SELECT_BYTES_TO_ALL] +=
        run->plan->config.user_count * model + run->user_count * update;
    if (!run->plan->training.aggregators.are_two)
        return;
    double const helped =
        tacit_sim_aggregators_bytes(run->user_count, (uint32_t)run->plan->training.parameter_count);
    run->metrics[SELECT_BYTES] += helped;
    run->metrics[SELECT_BYTES_TO_ALL] += helped;
    run->metrics[SELECT_MESSAGES] += 2;
}

/* A set of everybody has none, and where fewer took part than were asked for there is no graph. */
static void count_neighbours(struct select_run *run)
{
    uint32_t const users = run->plan->config.user_count;
    struct tacit_select_scores const scores = scores_of(run);
    if (run->user_count == run->plan->config.users_per_round && run->user_count < users)
        run->metrics[SELECT_NEIGHBOURS] +=
            (double)tacit_select_neighbour_count(&scores, users, run->users, run->user_count);
}

/* What the round adds to the metrics. Requires: its set, latencies and scores, before they are
 * observed. */
static enum tacit_status account(struct select_run *run)
{
    TACIT_ASSERT(run->user_count > 0);
    uint32_t genie_count;
    TACIT_TRY(find_genie(run, &genie_count));
    double const reward = reward_of(run, run->users, run->user_count);
    run->metrics[SELECT_REWARD] += reward;
    run->metrics[SELECT_REGRET_SHARED] += reward_of(run, run->genie, genie_count) - reward;
    run->metrics[SELECT_REGRET_GENIE] += expected_reward_of(run, run->genie, genie_count) -
                                         expected_reward_of(run, run->users, run->user_count);
    run->metrics[SELECT_LATENCY] += slowest_of(run, run->users, run->user_count);
    run->metrics[SELECT_ROUNDS] += 1;
    run->metrics[SELECT_MIXED_ROUNDS] += is_mixed(run) ? 1 : 0;
    run->metrics[SELECT_PARTICIPATIONS] += run->user_count;
    run->metrics[SELECT_MESSAGES] += 2.0 * run->user_count;
    count_bytes(run);
    count_neighbours(run);
    return TACIT_OK;
}

static enum tacit_status observe(struct select_run *run)
{
    TACIT_ASSERT(run->user_count > 0);
    double *const answers = run->columns; /* scores are not needed any more */
    for (uint32_t i = 0; i < run->user_count; i++)
        answers[i] = run->latencies[run->users[i]];
    return tacit_select_observe(run->select, run->users, run->user_count, answers, INFINITY);
}

/* False in *goes_on: too few users have budget, now and for ever. */
static enum tacit_status play_round(struct select_run *run, bool *goes_on)
{
    struct tacit_select_scores const scores = scores_of(run);
    tacit_latency_draw(&run->plan->latency, &run->latency_stream, run->latencies);
    tacit_select_score(run->select, &scores);
    TACIT_TRY(choose(run));
    *goes_on = run->user_count >= run->plan->keys.quorum;
    if (!*goes_on)
        return TACIT_OK;
    TACIT_TRY(account(run));
    if (run->training != NULL)
        TACIT_TRY(training_round(run->training, run->select, run->users, run->user_count,
                                 run->thread_count));
    return observe(run);
}

/* ---- Over the rounds ---- */

static double *series_of(const struct select_run *run, enum select_series series)
{
    return run->series + (size_t)series * run->plan->common.series_count;
}

/* NaN: nothing is counted. */
static double largest_leakage(const struct select_run *run)
{
    double most = 0;
    if (isinf(run->plan->config.budget.total))
        return NAN;
    for (uint32_t user = 0; user < run->plan->config.user_count; user++)
        most = fmax(most, tacit_select_spent(run->select, user));
    return most;
}

/* The model is examined where the file asks for it, and after the last round. */
static enum tacit_status record(struct select_run *run, bool is_examined)
{
    uint32_t const at = run->recorded;
    double *const accuracy = &series_of(run, SELECT_ACCURACY_BY_ROUND)[at];
    double *const loss = &series_of(run, SELECT_LOSS_BY_ROUND)[at];
    *accuracy = *loss = NAN;
    series_of(run, SELECT_TIME_BY_ROUND)[at] = run->metrics[SELECT_LATENCY];
    series_of(run, SELECT_LEAKAGE_BY_ROUND)[at] = largest_leakage(run);
    series_of(run, SELECT_REGRET_GENIE_BY_ROUND)[at] = run->metrics[SELECT_REGRET_GENIE];
    struct tacit_select_scores const scores = scores_of(run); /* nobody needs the old ones */
    struct tacit_select_view view;
    tacit_select_score(run->select, &scores);
    tacit_select_view(run->select, &view);
    series_of(run, SELECT_SHARE_BY_ROUND)[at] =
        view.round_count > 0 ? view.counts[0] / (double)view.round_count : 0;
    series_of(run, SELECT_GENERALIZATION_BY_ROUND)[at] = scores.generalization[0];
    run->recorded++;
    return is_examined ? training_examine(run->training, accuracy, loss) : TACIT_OK;
}

/* If the series have a place for this round. */
static enum tacit_status record_round(struct select_run *run, uint64_t round)
{
    struct tacit_sim const *const sim = &run->plan->common;
    if (run->recorded == sim->series_count || sim->series_slots[run->recorded] != round)
        return TACIT_OK;
    bool const is_wanted = run->plan->evaluations != NULL || round == sim->horizon;
    return record(run, run->training != NULL && is_wanted);
}

/* A run that ended early stays as it was. */
static enum tacit_status record_rest(struct select_run *run)
{
    uint32_t const count = run->plan->common.series_count;
    if (run->recorded == count)
        return TACIT_OK;
    uint32_t const last = run->recorded;
    TACIT_TRY(record(run, run->training != NULL));
    for (uint32_t i = 0; i < SELECT_SERIES_COUNT; i++)
        for (uint32_t at = last + 1; at < count; at++)
            series_of(run, i)[at] = series_of(run, i)[last];
    run->recorded = count;
    return TACIT_OK;
}

/* The mean of what was examined in the last rounds up to this one; NaN: nothing was. */
static double smooth(const struct select_run *run, uint32_t at)
{
    const uint64_t *const slots = run->plan->common.series_slots;
    const double *const accuracy = series_of(run, SELECT_ACCURACY_BY_ROUND);
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = at + 1; i-- > 0 && slots[at] - slots[i] < SELECT_SMOOTH;)
        if (!isnan(accuracy[i])) {
            sum += accuracy[i];
            count++;
        }
    return count > 0 ? sum / count : (double)NAN;
}

/* At the end: moving means over the series, and the metrics of the last model. */
static enum tacit_status sum_up(struct select_run *run)
{
    uint32_t const count = run->plan->common.series_count;
    double *const means = series_of(run, SELECT_ACCURACY_MEAN_BY_ROUND);
    for (uint32_t at = 0; at < count; at++)
        means[at] = smooth(run, at);
    if (run->training == NULL)
        return TACIT_OK;
    if (run->plan->keys.training.target > 0)
        run->metrics[SELECT_TIME_TO_TARGET] = run->metrics[SELECT_LATENCY];
    for (uint32_t at = count; at-- > 0 && run->plan->keys.training.target > 0;)
        if (means[at] >= run->plan->keys.training.target)
            run->metrics[SELECT_TIME_TO_TARGET] = series_of(run, SELECT_TIME_BY_ROUND)[at];
    run->metrics[SELECT_ACCURACY] = series_of(run, SELECT_ACCURACY_BY_ROUND)[count - 1];
    run->metrics[SELECT_LOSS] = series_of(run, SELECT_LOSS_BY_ROUND)[count - 1];
    run->metrics[SELECT_ACCURACY_MEAN] = means[count - 1];
    if (run->plan->common.series_slots[count - 1] == run->plan->common.horizon)
        return TACIT_OK;
    return training_examine(run->training, &run->metrics[SELECT_ACCURACY],
                            &run->metrics[SELECT_LOSS]);
}

/* ---- A run ---- */

/* What is not measured in a run like this one is no number, and not 0. */
static void clear_metrics(struct select_run *run)
{
    static const enum select_metric of_training[] = {
        SELECT_ACCURACY, SELECT_LOSS,         SELECT_ACCURACY_MEAN,       SELECT_TIME_TO_TARGET,
        SELECT_BYTES,    SELECT_BYTES_TO_ALL, SELECT_BITS_PER_COORDINATE,
    };
    memset(run->metrics, 0, sizeof run->metrics);
    run->metrics[SELECT_ENERGY_GAP] = run->metrics[SELECT_OPTIMAL_SHARE] =
        run->metrics[SELECT_ITERATIONS] = NAN;
    run->energy_gap = 0;
    run->compared_count = run->optimal_count = 0;
    for (size_t i = 0; i < sizeof of_training / sizeof of_training[0]; i++)
        run->metrics[of_training[i]] = NAN;
    if (run->training == NULL)
        return;
    run->metrics[SELECT_BYTES] = run->metrics[SELECT_BYTES_TO_ALL] = 0;
    run->metrics[SELECT_BITS_PER_COORDINATE] =
        run->plan->training.mode == TACIT_PRIVACY_SOUND ? 64 : 32;
}

static enum tacit_status begin(struct select_run *run, uint32_t index)
{
    uint64_t const seed = run->plan->common.seed;
    bool const is_balanced = !(run->plan->keys.dirichlet > 0);
    bool const has_own_sizes = !is_balanced || run->training != NULL;
    for (uint32_t user = 0; user < run->plan->config.user_count; user++)
        run->sizes[user] = 1;
    if (!is_balanced)
        draw_sizes(run, index);
    if (run->training != NULL)
        training_begin(run->training, seed, index, run->sizes);
    clear_metrics(run);
    run->latency_stream =
        tacit_rng_stream(seed, index, TACIT_STREAM_COMMON,
                         TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_LATENCY));
    run->choice_stream =
        tacit_rng_stream(seed, index, TACIT_STREAM_COMMON,
                         TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_CHOICE));
    return tacit_select_init(run->select, &run->plan->config, has_own_sizes ? run->sizes : NULL);
}

/* Exact search, by whatever way, has no gap by what it is; who does not look for the best set has
 * none to speak of. */
static void account_for_gap(struct select_run *run)
{
    enum tacit_selector const selector = run->plan->keys.choice.selector;
    if (selector == TACIT_SELECTOR_EXACT || selector == TACIT_SELECTOR_BRUTE) {
        run->metrics[SELECT_ENERGY_GAP] = 0;
        run->metrics[SELECT_OPTIMAL_SHARE] = 1;
    }
    if (selector != TACIT_SELECTOR_ANNEALING)
        return;
    run->metrics[SELECT_ITERATIONS] = run->plan->keys.choice.annealing.iterations;
    if (run->metrics[SELECT_ROUNDS] > 0)
        run->metrics[SELECT_ENERGY_GAP] = run->energy_gap / run->metrics[SELECT_ROUNDS];
    if (run->compared_count > 0)
        run->metrics[SELECT_OPTIMAL_SHARE] =
            (double)run->optimal_count / (double)run->compared_count;
}

static void finish(struct select_run *run, struct tacit_sim_row *row)
{
    TACIT_ASSERT(run->metrics[SELECT_ROUNDS] >= 0);
    run->metrics[SELECT_LEAKAGE_MAX] = largest_leakage(run);
    account_for_gap(run);
    if (run->metrics[SELECT_ROUNDS] > 0)
        run->metrics[SELECT_NEIGHBOURS] /= run->metrics[SELECT_ROUNDS];
    memcpy(row->metrics, run->metrics, sizeof run->metrics);
    struct tacit_select_view view;
    tacit_select_view(run->select, &view);
    double *const by_user =
        row->profiles + (size_t)SELECT_SERIES_COUNT * run->plan->common.series_count;
    for (uint32_t user = 0; user < run->plan->users_shown; user++)
        by_user[user] = view.counts[user];
}

enum tacit_status select_run_play(void *context, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop)
{
    struct select_run *const run = context;
    struct tacit_sim const *const sim = &run->plan->common;
    struct tacit_sim_meter meter = tacit_sim_meter_start(sim, row->regret);
    bool goes_on = true;
    TACIT_TRY(begin(run, index));
    run->series = row->profiles;
    run->thread_count = row->thread_count;
    run->recorded = 0;
    for (uint64_t round = 0; round < sim->horizon;) {
        TACIT_TRY(play_round(run, &goes_on));
        if (!goes_on)
            break;
        tacit_sim_meter_record(&meter, ++round, run->metrics[SELECT_REGRET_SHARED]);
        TACIT_TRY(record_round(run, round));
        if (atomic_load(stop))
            return TACIT_INTERRUPTED;
    }
    run->metrics[SELECT_EXHAUSTED] = goes_on ? 0 : 1;
    tacit_sim_meter_end(&meter, run->metrics[SELECT_REGRET_SHARED]);
    TACIT_TRY(record_rest(run));
    TACIT_TRY(sum_up(run));
    finish(run, row);
    return TACIT_OK;
}

/* ---- Memory ---- */

static int compare(const void *a, const void *b)
{
    double const x = *(const double *)a;
    double const y = *(const double *)b;
    return (x > y) - (x < y);
}

void select_sort_reals(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare);
}

/* Fills mu and its median, once; columns serve as scratch. */
static void expect_latencies(struct select_run *run)
{
    uint32_t const users = run->plan->config.user_count;
    for (uint32_t user = 0; user < users; user++) {
        double mean;
        tacit_latency_expect(&run->plan->latency, user, &mean, &run->expected[user]);
        run->columns[user] = run->expected[user];
    }
    select_sort_reals(run->columns, users);
    run->median = users % 2 == 1 ? run->columns[users / 2]
                                 : (run->columns[users / 2 - 1] + run->columns[users / 2]) / 2;
}

static enum tacit_status make(void *memory, const void *plan)
{
    struct select_run *const run = memory;
    struct select_plan const *const select = plan;
    size_t const users = select->config.user_count;
    run->plan = select;
    run->select = tacit_sim_new(run, 1, tacit_select_size(&select->config));
    run->scratch = tacit_sim_new(run, 1, tacit_select_choice_size(select->config.user_count));
    run->sizes = tacit_sim_new(run, users, sizeof *run->sizes);
    run->latencies = tacit_sim_new(run, users, sizeof *run->latencies);
    run->expected = tacit_sim_new(run, users, sizeof *run->expected);
    run->columns = tacit_sim_new(run, 4 * users, sizeof *run->columns);
    run->users = tacit_sim_new(run, users, sizeof *run->users);
    run->genie = tacit_sim_new(run, users, sizeof *run->genie);
    if (select->keys.training.is_on)
        run->training = training_new(&select->training, select->config.user_count,
                                     select->config.users_per_round, run);
    if (!tacit_sim_is_whole(run) || (select->keys.training.is_on && run->training == NULL))
        return TACIT_MEMORY;
    expect_latencies(run);
    return TACIT_OK;
}

void *select_run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct select_run), make, plan, status);
}

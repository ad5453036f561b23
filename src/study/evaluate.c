/* What each arm, or the protocol of the file, would have earned on logged rows whose propensities
 * are known. */
#include "evaluate.h"
#include "now.h"
#include "policies.h"
#include "simulate.h"
#include "tacit/data.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EFFECTIVE_MIN 30.0   /* rows below which an estimate is not leaned on */
#define EXPECTED_MIN 20.0    /* effective rows from which propensities are checked */
#define DEVIATIONS_MAX 6.0   /* of the weights' mean from 1: by chance once in 1e6 arms or less */
#define LONG_S 20.0          /* replays that take so long are announced */
#define PASSES 4.0           /* over all replays, mostly */
#define CELLS_MAX (1u << 22) /* agents times arms */
#define ARMS_NAMED 5u        /* in the answer */

/* ---- Estimates ------------------------------------------------------------------------------- */

static bool allocate(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    size_t const cells = (log->agent_count + (size_t)1) * log->arm_count;
    evaluation->results = calloc(cells, sizeof *evaluation->results);
    evaluation->arms = calloc(cells, sizeof *evaluation->arms);
    evaluation->sites = calloc(log->agent_count, sizeof *evaluation->sites);
    evaluation->site_names = calloc(log->agent_count, sizeof *evaluation->site_names);
    evaluation->order = calloc(log->arm_count, sizeof *evaluation->order);
    evaluation->answer = calloc(log->arm_count, sizeof *evaluation->answer);
    return evaluation->results != NULL && evaluation->arms != NULL && evaluation->sites != NULL &&
           evaluation->site_names != NULL && evaluation->order != NULL &&
           evaluation->answer != NULL;
}

void evaluation_free(struct evaluation *evaluation)
{
    free(evaluation->results);
    free(evaluation->arms);
    free(evaluation->sites);
    free(evaluation->site_names);
    free(evaluation->order);
    free(evaluation->answer);
    free(evaluation->policies);
    free(evaluation->policy_deviations);
    for (size_t i = 0; i < sizeof evaluation->row_memory / sizeof evaluation->row_memory[0]; i++)
        free(evaluation->row_memory[i]);
}

/* Half an interval by Student's law. */
static struct tacit_report_estimate shown(struct tacit_off_policy_estimate estimate, uint32_t rows)
{
    return (struct tacit_report_estimate){
        estimate.value, rows >= 2 ? tacit_report_t975(rows) * estimate.error : NAN};
}

/* Of an arm or a policy. */
#define ESTIMATES_OF(own, rows)                                                                    \
    {                                                                                              \
        .row_count = (own)->row_count, .effective_rows = (own)->effective_rows,                    \
        .is_thin = !((own)->effective_rows >= EFFECTIVE_MIN), .ips = shown((own)->ips, rows),      \
        .self_normalised = shown((own)->self_normalised, rows),                                    \
        .doubly_robust = shown((own)->doubly_robust, rows), .direct = (own)->direct                \
    }

/* What each arm would have earned, at each site and in all, and what was earned. */
static enum tacit_status estimate(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    struct tacit_off_policy_log const rows = tacit_log_off_policy(log);
    double *const work =
        calloc(tacit_off_policy_work_size(log->agent_count, log->arm_count), sizeof *work);
    if (work == NULL)
        return TACIT_MEMORY;
    tacit_off_policy_arms(&rows, work, evaluation->results);
    evaluation->report.logged = shown(tacit_off_policy_logged(&rows), log->row_count);
    free(work);
    return TACIT_OK;
}

static void count_rows(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    for (uint32_t row = 0; row < log->row_count; row++)
        evaluation->sites[log->rows.agents[row]].row_count++;
}

static void show_arms(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    for (uint32_t site = 0; site <= log->agent_count; site++)
        for (uint32_t arm = 0; arm < log->arm_count; arm++) {
            size_t const at = (size_t)site * log->arm_count + arm;
            struct tacit_off_policy_arm const *const own = &evaluation->results[at];
            uint32_t const rows =
                site < log->agent_count ? evaluation->sites[site].row_count : log->row_count;
            evaluation->arms[at] = (struct tacit_report_estimates)ESTIMATES_OF(own, rows);
        }
}

static enum tacit_status value_policies(struct evaluation *evaluation,
                                        const struct tacit_config_log *config, uint64_t seed,
                                        struct tacit_error *error)
{
    uint32_t const count = config->policy_count;
    struct tacit_off_policy_policy *const results = calloc(count, sizeof *results);
    evaluation->policies = calloc(count, sizeof *evaluation->policies);
    evaluation->policy_deviations = calloc(count, sizeof *evaluation->policy_deviations);
    enum tacit_status const status =
        results == NULL || evaluation->policies == NULL || evaluation->policy_deviations == NULL
            ? TACIT_MEMORY
            : study_policies_value(evaluation->log, config, seed, results, error);
    for (uint32_t i = 0; i < count && status == TACIT_OK; i++) {
        struct tacit_off_policy_policy const *const own = &results[i];
        uint32_t const rows = own->valued_rows;
        evaluation->policies[i] =
            (struct tacit_report_policy){.name = config->policies[i].name,
                                         .estimates = ESTIMATES_OF(own, rows),
                                         .switched = shown(own->switched, rows),
                                         .gain = shown(own->gain, rows)};
        evaluation->policy_deviations[i] = own->weight.error > 0
                                               ? fabs(own->weight.value - 1) / own->weight.error
                                           : own->weight.value == 1 ? 0
                                                                    : INFINITY;
    }
    evaluation->report.policies = evaluation->policies;
    evaluation->report.policy_count = count;
    free(results);
    return status;
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* Thin arms last; the others by what they would have earned. */
static bool is_before(const struct tacit_report_estimates *a,
                      const struct tacit_report_estimates *b)
{
    if (a->is_thin != b->is_thin)
        return b->is_thin;
    return a->doubly_robust.value > b->doubly_robust.value;
}

static void sort_arms(struct evaluation *evaluation, const struct tacit_report_estimates *all)
{
    for (uint32_t i = 0; i < evaluation->log->arm_count; i++) {
        uint32_t at = i;
        for (; at > 0 && is_before(&all[i], &all[evaluation->order[at - 1]]); at--)
            evaluation->order[at] = evaluation->order[at - 1];
        evaluation->order[at] = i;
    }
}

/* Half the interval of the difference of two of them. */
static double spread(const struct tacit_report_estimate *a, const struct tacit_report_estimate *b)
{
    return sqrt(a->ci95 * a->ci95 + b->ci95 * b->ci95);
}

static void name_arms(const struct evaluation *evaluation, struct tacit_text *text)
{
    uint32_t const count = evaluation->report.answer_count;
    for (uint32_t i = 0; i < count && i < ARMS_NAMED; i++) {
        tacit_text_add(text, i == 0 ? "" : i + 1 == count ? " and " : ", ");
        tacit_text_add(text, evaluation->log->arm_names[evaluation->answer[i]]);
    }
    if (count <= ARMS_NAMED)
        return;
    tacit_text_add(text, " and ");
    tacit_text_add_u64(text, count - ARMS_NAMED);
    tacit_text_add(text, " more");
}

static void write_answer(struct evaluation *evaluation, const struct tacit_report_estimates *best)
{
    char numbers[200];
    struct tacit_text text = tacit_text_init(evaluation->sentence, sizeof evaluation->sentence);
    if (evaluation->report.answer_count == 0) {
        tacit_text_add(&text, "none: every estimate stands on fewer than 30 effective rows");
        return;
    }
    bool const is_decided = evaluation->report.answer_count == 1;
    tacit_text_add(&text, is_decided ? "" : "undecided between ");
    name_arms(evaluation, &text);
    tacit_text_add(&text, is_decided ? "" : "; ");
    tacit_text_add(&text, is_decided ? "" : evaluation->log->arm_names[evaluation->answer[0]]);
    (void)snprintf(numbers, sizeof numbers,
                   " would have earned %s%.4g +/- %.2g a row (doubly robust); the logged choices "
                   "earned %.4g",
                   is_decided ? "most: " : "", best->doubly_robust.value, best->doubly_robust.ci95,
                   evaluation->report.logged.value);
    tacit_text_add(&text, numbers);
}

/* The best arm, and those whose difference from it may be nothing. */
static void answer(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    struct tacit_report_estimates const *const all =
        evaluation->arms + (size_t)log->agent_count * log->arm_count;
    sort_arms(evaluation, all);
    struct tacit_report_estimates const *const best = &all[evaluation->order[0]];
    for (uint32_t i = 0; i < log->arm_count && !best->is_thin; i++) {
        struct tacit_report_estimates const *const arm = &all[evaluation->order[i]];
        double const gap = best->doubly_robust.value - arm->doubly_robust.value;
        if (i == 0 || (!arm->is_thin && !(gap > spread(&best->doubly_robust, &arm->doubly_robust))))
            evaluation->answer[evaluation->report.answer_count++] = evaluation->order[i];
    }
    write_answer(evaluation, best);
}

/* Each site's own best arm, and what the common one costs it. */
static void judge_sites(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    uint32_t const common = evaluation->order[0];
    for (uint32_t i = 0; i < log->agent_count; i++) {
        struct tacit_report_log_site *const site = &evaluation->sites[i];
        struct tacit_report_estimates const *const arms =
            evaluation->arms + (size_t)i * log->arm_count;
        (void)snprintf(evaluation->site_names[i], sizeof evaluation->site_names[i], "agent %u", i);
        site->name = log->agent_names == NULL ? evaluation->site_names[i] : log->agent_names[i];
        site->arms = arms;
        site->best_arm = log->arm_count;
        for (uint32_t arm = 0; arm < log->arm_count; arm++)
            if (!arms[arm].is_thin &&
                (site->best_arm == log->arm_count || is_before(&arms[arm], &arms[site->best_arm])))
                site->best_arm = arm;
        site->cost = (struct tacit_report_estimate){NAN, NAN};
        if (site->best_arm == log->arm_count || arms[common].is_thin)
            continue;
        struct tacit_report_estimate const *const own = &arms[site->best_arm].doubly_robust;
        struct tacit_report_estimate const *const shared = &arms[common].doubly_robust;
        site->cost.value = own->value - shared->value;
        site->cost.ci95 = site->best_arm == common ? 0 : spread(own, shared);
    }
}

/* ---- Warnings -------------------------------------------------------------------------------- */

/* The next warning of its kind; there may be enough of them. */
__attribute__((format(printf, 3, 4))) static void
add_warning(struct evaluation *evaluation, uint32_t *of_kind, const char *format, ...)
{
    uint32_t const at = evaluation->report.warning_count;
    va_list values;
    if (*of_kind == EVALUATION_WARNINGS_MAX / 3)
        return;
    TACIT_ASSERT(at < EVALUATION_WARNINGS_MAX);
    (*of_kind)++;
    va_start(values, format);
    (void)vsnprintf(evaluation->warning_texts[at], sizeof evaluation->warning_texts[at], format,
                    values);
    va_end(values);
    evaluation->warnings[at] = evaluation->warning_texts[at];
    evaluation->report.warning_count++;
}

/* How far the mean weight is from 1, in deviations of a count of as many effective rows. */
static double deviations(const struct tacit_off_policy_arm *arm)
{
    double const expected = arm->effective_rows / arm->weight.value;
    return expected >= EXPECTED_MIN ? fabs(arm->weight.value - 1) * sqrt(expected) : 0;
}

static void warn_names(struct evaluation *evaluation, char *const *names, uint32_t count,
                       const char *what, uint32_t *of_kind)
{
    uint32_t pair[2];
    if (names == NULL || !tacit_names_alike((const char *const *)names, count, pair))
        return;
    add_warning(evaluation, of_kind,
                "'%.60s' and '%.60s' are two %s, and differ in case or blanks only", names[pair[0]],
                names[pair[1]], what);
}

/* Of propensities that cannot be right, estimates with too few rows, names alike, rows left out. */
static void warn(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    struct tacit_off_policy_arm const *const all =
        evaluation->results + (size_t)log->agent_count * log->arm_count;
    uint32_t thin = 0;
    uint32_t wrong = 0;
    uint32_t left_out = 0;
    uint32_t alike = 0;
    for (uint32_t arm = 0; arm < log->arm_count; arm++)
        if (deviations(&all[arm]) > DEVIATIONS_MAX)
            add_warning(evaluation, &wrong,
                        "the weights of '%.60s' average %.4g, and right propensities make that "
                        "1: these are not the ones that this log was made with",
                        log->arm_names[arm], all[arm].weight.value);
    for (uint32_t arm = 0; arm < log->arm_count; arm++)
        if (!(all[arm].effective_rows >= EFFECTIVE_MIN))
            add_warning(evaluation, &thin,
                        "the estimates of '%.60s' stand on %.3g effective rows, fewer than %g: "
                        "too few to lean on",
                        log->arm_names[arm], all[arm].effective_rows, EFFECTIVE_MIN);
    for (uint32_t i = 0; i < evaluation->report.policy_count; i++) {
        struct tacit_report_policy const *const policy = &evaluation->policies[i];
        if (evaluation->policy_deviations[i] > DEVIATIONS_MAX)
            add_warning(evaluation, &wrong,
                        "the weights of policy '%.60s' do not average 1, as right propensities "
                        "make them: they are wrong, or it chooses arms where the log never does",
                        policy->name);
        else if (policy->estimates.is_thin)
            add_warning(evaluation, &thin,
                        "the estimates of policy '%.60s' stand on %.3g effective rows, fewer "
                        "than %g: too few to lean on",
                        policy->name, policy->estimates.effective_rows, EFFECTIVE_MIN);
    }
    warn_names(evaluation, log->arm_names, log->arm_count, "arms", &alike);
    warn_names(evaluation, log->agent_names, log->agent_count, "sites", &alike);
    uint32_t const dropped = log->without_agent + log->without_arm + log->without_reward;
    if (dropped > 0)
        add_warning(evaluation, &left_out,
                    "%u rows were left out, as something is missing in them: the estimates hold "
                    "if what is missing has nothing to do with what came of it",
                    dropped);
}

/* ---- The replay ------------------------------------------------------------------------------ */

/* Rows by agent, with the chance that each answers if its arm is proposed. */
static enum tacit_status make_rows(struct evaluation *evaluation)
{
    struct tacit_log const *const log = evaluation->log;
    size_t const n = log->row_count;
    uint32_t *const start = calloc(log->agent_count + (size_t)1, sizeof *start);
    uint32_t *const arms = calloc(n, sizeof *arms);
    double *const rewards = calloc(n, sizeof *rewards);
    double *const keep = calloc(n, sizeof *keep);
    void *const memory[] = {start, arms, rewards, keep};
    memcpy(evaluation->row_memory, memory, sizeof memory);
    if (start == NULL || arms == NULL || rewards == NULL || keep == NULL)
        return TACIT_MEMORY;
    for (uint32_t agent = 0; agent < log->agent_count; agent++)
        start[agent + 1] = start[agent] + evaluation->sites[agent].row_count;
    for (uint32_t row = 0; row < n; row++) {
        uint32_t const at = start[log->rows.agents[row]]++;
        arms[at] = log->rows.arms[row];
        rewards[at] = log->rows.rewards[row];
        keep[at] = log->rows.propensities[row];
    }
    for (uint32_t agent = log->agent_count; agent > 0; agent--)
        start[agent] = start[agent - 1];
    start[0] = 0;
    for (uint32_t agent = 0; agent < log->agent_count; agent++) {
        double least = 1;
        for (uint32_t row = start[agent]; row < start[agent + 1]; row++)
            least = keep[row] < least ? keep[row] : least;
        for (uint32_t row = start[agent]; row < start[agent + 1]; row++)
            keep[row] = least / keep[row];
    }
    evaluation->rows = (struct tacit_env_replay_log){log->agent_count, start, arms, rewards, keep};
    return TACIT_OK;
}

/* What the replays came to. */
struct replays {
    uint64_t slots; /* pulls of each site that all of them answered */
    uint32_t agent; /* whose rows were used up first */
    uint64_t pulls; /* that count, in each of them */
    double mean;    /* of a pull */
    double sd;
};

/* Plays them all, on at most replays->slots slots of each site. Ensures: slots is what all of them
 * answered; pulls, mean and deviation are over the replays. */
static enum tacit_status play(struct evaluation *evaluation, struct tacit_experiment *experiment,
                              bool resamples, uint32_t threads, struct replays *replays)
{
    struct tacit_sim *const sim = &experiment->sim;
    struct simulation simulation;
    sim->replay = &evaluation->rows;
    sim->replay_limit = replays->slots;
    sim->replay_resamples = resamples;
    enum tacit_status const status =
        simulate(&simulation, experiment, NULL, threads, simulate_control(), NULL);
    double *const means = calloc(sim->run_count, sizeof *means);
    if (status == TACIT_OK && means != NULL) {
        replays->pulls = UINT64_MAX;
        for (uint32_t run = 0; run < sim->run_count; run++) {
            struct tacit_sim_replayed const *const replayed = &simulation.results.replayed[run];
            means[run] = replayed->pulls > 0 ? replayed->earned / (double)replayed->pulls : NAN;
            if (replayed->pulls < replays->pulls)
                replays->pulls = replayed->pulls;
            if (replayed->slots >= replays->slots)
                continue;
            replays->slots = replayed->slots;
            replays->agent = replayed->agent;
        }
        struct tacit_report_summary const summary =
            tacit_report_summarise(means, sim->run_count, 1);
        replays->mean = summary.mean;
        replays->sd = summary.sd;
    }
    free(means);
    simulation_free(&simulation);
    return status == TACIT_OK && means == NULL ? TACIT_MEMORY : status;
}

/* One replay shows about how long all of them take. */
static enum tacit_status announce(struct evaluation *evaluation,
                                  struct tacit_experiment *experiment, uint32_t threads)
{
    uint32_t const runs = experiment->sim.run_count;
    struct replays one = {.slots = experiment->sim.horizon};
    double const begin = study_now_s();
    experiment->sim.run_count = 1;
    enum tacit_status const status = play(evaluation, experiment, false, 1, &one);
    experiment->sim.run_count = runs;
    double const all_s = (study_now_s() - begin) * PASSES * runs / threads;
    if (status == TACIT_OK && all_s >= LONG_S)
        (void)fprintf(stderr,
                      "tacit evaluate: %u replays of the log take about %.0f s; fewer "
                      "--runs take less\n",
                      runs, all_s);
    return status;
}

/* The mean is of replays of the log in random order; its error is the spread of replays of logs
 * that are drawn from it, which is that of one replay of a fresh log. A first pass finds how many
 * slots all of them answer. */
static enum tacit_status replay(struct evaluation *evaluation, struct tacit_experiment *experiment,
                                uint32_t threads, bool is_quiet)
{
    uint32_t const runs = experiment->sim.run_count;
    struct replays own = {.slots = experiment->sim.horizon};
    struct replays drawn = own;
    enum tacit_status status = make_rows(evaluation);
    if (status == TACIT_OK && !is_quiet)
        status = announce(evaluation, experiment, threads);
    for (uint64_t before = 0; drawn.slots != before && drawn.slots > 0 && status == TACIT_OK;) {
        before = drawn.slots;
        own.slots = before;
        own.agent = drawn.agent;
        status = play(evaluation, experiment, false, threads, &own);
        drawn.slots = own.slots;
        drawn.agent = own.agent;
        if (status == TACIT_OK && own.slots > 0)
            status = play(evaluation, experiment, true, threads, &drawn);
    }
    evaluation->replay = (struct tacit_report_replay){
        .protocol = experiment->family->file.name,
        .reward = {own.mean, runs < 2 ? NAN : tacit_report_t975(runs) * drawn.sd},
        .slots = drawn.slots,
        .slots_asked = experiment->sim.horizon,
        .pulls = own.pulls,
        .site = drawn.slots < experiment->sim.horizon ? evaluation->sites[drawn.agent].name : NULL,
        .run_count = runs};
    evaluation->report.replay = drawn.slots > 0 ? &evaluation->replay : NULL;
    evaluation->report.replay_note = "some site has no row that answers its first pull";
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

enum tacit_status evaluation_check(const struct tacit_experiment *experiment,
                                   struct tacit_error *error)
{
    struct tacit_log const *const log = tacit_experiment_log(experiment);
    if (log == NULL)
        return tacit_experiment_refuse(experiment, "environment",
                                       "there are no logged rows to evaluate; allowed: kind: "
                                       "logged, with a CSV that is here",
                                       error);
    if (log->rows.propensities == NULL)
        return tacit_experiment_refuse(
            experiment, "environment.logged",
            "'propensity' is missing: the column with the probability with which each row's arm "
            "was chosen, or uniform where all arms were as likely",
            error);
    if (experiment->config->unit_rewards > 0)
        return tacit_experiment_refuse(experiment, "privacy.unit",
                                       "belongs to runs, which draw rows; here each row is played "
                                       "as it was logged",
                                       error);
    if ((uint64_t)log->agent_count * log->arm_count > CELLS_MAX)
        return tacit_experiment_refuse(experiment, "environment.logged",
                                       "more than 4194304 agents times arms", error);
    return TACIT_OK;
}

enum tacit_status evaluation_make(struct evaluation *evaluation,
                                  struct tacit_experiment *experiment,
                                  enum evaluation_replay replays, uint32_t thread_count,
                                  struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    *evaluation = (struct evaluation){.log = tacit_experiment_log(experiment)};
    TACIT_ASSERT(evaluation->log != NULL && evaluation->log->rows.propensities != NULL);
    enum tacit_status status = allocate(evaluation) ? estimate(evaluation) : TACIT_MEMORY;
    if (status == TACIT_OK && config->log.policy_count > 0)
        status = value_policies(evaluation, &config->log, config->seed, error);
    if (status != TACIT_OK)
        return status;
    count_rows(evaluation);
    show_arms(evaluation);
    answer(evaluation);
    judge_sites(evaluation);
    warn(evaluation);
    if (experiment->plan == NULL)
        evaluation->report.replay_note = "some rewards lie outside [0, 1], and to play in sound "
                                         "mode a protocol needs their public "
                                         "bounds: privacy.range";
    else if (replays == EVALUATION_ESTIMATES)
        evaluation->report.replay_note = "estimates alone were asked for";
    else if (experiment->family->replays)
        status = replay(evaluation, experiment, simulate_threads(thread_count),
                        replays == EVALUATION_QUIET);
    else
        evaluation->report.replay_note = "runs of this protocol are not played pull by pull";
    struct tacit_report_evaluation *const report = &evaluation->report;
    report->name = config->name;
    report->version = TACIT_VERSION;
    report->propensity = config->log.is_uniform ? "uniform" : config->log.propensity_column;
    report->row_count = evaluation->log->row_count;
    report->arm_names = (const char *const *)evaluation->log->arm_names;
    report->arm_count = evaluation->log->arm_count;
    report->arms =
        evaluation->arms + (size_t)evaluation->log->agent_count * evaluation->log->arm_count;
    report->order = evaluation->order;
    report->answer = evaluation->answer;
    report->sentence = evaluation->sentence;
    report->sites = evaluation->sites;
    report->site_count = evaluation->log->agent_count;
    report->warnings = evaluation->warnings;
    return status;
}

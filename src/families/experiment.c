/* From an experiment file to what the simulator runs: data, means, network, and the family's plan.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../config/document.h"
#include "ladder.h"
#include "tacit/data.h"
#include "tacit/bounds.h"
#include "tacit/family.h"
#include "tacit/host.h"

/* What belongs to the experiment and is read once. */
struct tacit_experiment_data {
    enum tacit_experiment_use use;
    struct tacit_experiment_data *rows; /* whose log is taken; NULL: nobody's */
    uint64_t *points;
    struct tacit_means means;
    struct tacit_log log;
    double *generated;
    struct tacit_env_source source;
};

enum tacit_status tacit_experiment_refuse(const struct tacit_experiment *experiment,
                                          const char *key, const char *text,
                                          struct tacit_error *error)
{
    tacit_config_error(experiment->config->document, key, text, error);
    return TACIT_INVALID;
}

enum tacit_status ladder_check_plan(const struct tacit_experiment *experiment,
                                    const struct tacit_phases *schedule, struct tacit_error *error)
{
    char text[LADDER_REFUSAL_BYTES];
    char const *const key = ladder_refusal(schedule, text);
    return key == NULL ? TACIT_OK : tacit_experiment_refuse(experiment, key, text, error);
}

static enum tacit_status out_of_memory(struct tacit_error *error)
{
    (void)snprintf(error->text, sizeof error->text, "out of memory");
    return TACIT_MEMORY;
}

/* Says, for a file that cannot be read, which key of the experiment names it. */
static enum tacit_status blame(const struct tacit_experiment *experiment, const char *key,
                               enum tacit_status status, struct tacit_error *error)
{
    struct tacit_error const cause = *error;
    if (status == TACIT_IO)
        tacit_config_error(experiment->config->document, key, cause.text, error);
    return status;
}

/* ---- Means ---- */

static enum tacit_status check_means(const struct tacit_experiment *experiment, const char *key,
                                     const char *name, struct tacit_error *error)
{
    struct tacit_means const *const means = &experiment->data->means;
    uint32_t const agents = experiment->config->agent_count;
    char text[400];
    uint32_t const named = experiment->config->log.arm_count; /* 0: the arms have no names */
    if (means->arm_count < 2) {
        (void)snprintf(text, sizeof text, "%.200s has 1 arm; at least 2 are needed", name);
        return tacit_experiment_refuse(experiment, key, text, error);
    }
    if (named > 0 && means->arm_count != named) {
        (void)snprintf(text, sizeof text,
                       "%.200s has %u columns, but there are %u arms; allowed: one column an arm",
                       name, means->arm_count, named);
        return tacit_experiment_refuse(experiment, key, text, error);
    }
    if (means->row_count != 1 && means->row_count != agents) {
        (void)snprintf(text, sizeof text,
                       "%.200s has %u rows, but there are %u agents; allowed: 1 row (all agents "
                       "alike) or one an agent",
                       name, means->row_count, agents);
        return tacit_experiment_refuse(experiment, key, text, error);
    }
    return TACIT_OK;
}

static enum tacit_status read_means(struct tacit_experiment *experiment, const char *key,
                                    const char *name, struct tacit_error *error)
{
    bool const is_gaussian = experiment->config->environment == TACIT_ENV_GAUSSIAN;
    double const bound = is_gaussian ? 1e9 : 1;
    char *const path = tacit_config_path(experiment->config->document, name);
    if (path == NULL)
        return out_of_memory(error);
    enum tacit_status status =
        tacit_means_read(&experiment->data->means, path, is_gaussian ? -bound : 0, bound, error);
    free(path);
    status = status == TACIT_OK ? check_means(experiment, key, name, error)
                                : blame(experiment, key, status, error);
    experiment->sim.env.means = experiment->data->means.values;
    experiment->sim.env.row_count = experiment->data->means.row_count;
    experiment->sim.env.arm_count = experiment->data->means.arm_count;
    return status;
}

static enum tacit_status generate_means(struct tacit_experiment *experiment,
                                        struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    uint32_t const arms = config->generated_arms;
    uint32_t const rows = config->generated_per_agent ? config->agent_count : 1;
    experiment->data->generated = calloc((size_t)rows * arms, sizeof(double));
    if (experiment->data->generated == NULL)
        return out_of_memory(error);
    struct tacit_rng rng =
        tacit_rng_stream(config->instance_seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_INSTANCE);
    /* The best arm is the last one: whoever breaks ties by number gains nothing by it. */
    for (uint32_t arm = 0; config->generated_apart && arm < arms; arm++)
        experiment->data->generated[arm] =
            config->generated_best - (arm + 1 < arms ? config->generated_gap : 0);
    for (uint32_t row = 0; row < rows && !config->generated_apart; row++)
        tacit_env_generate(experiment->data->generated + (size_t)row * arms, arms, &rng);
    experiment->sim.env.means = experiment->data->generated;
    experiment->sim.env.row_count = rows;
    experiment->sim.env.arm_count = arms;
    experiment->sim.instance_per_run = !config->has_instance_seed;
    return TACIT_OK;
}

/* ---- Logs ---- */

/* Where the log is. False: nowhere. */
static bool find_log(const struct tacit_experiment *experiment, char path[TACIT_PATH_BYTES])
{
    struct tacit_config const *const config = experiment->config;
    return tacit_dataset_find(config_document_path(config->document), config->log.csv, path) ==
           TACIT_OK;
}

/* To be freed by the caller; its strings stay the file's. NULL: out of memory. */
static struct tacit_log_arm *log_arms(const struct tacit_config_log *log)
{
    struct tacit_log_arm *const arms = calloc(log->arm_count, sizeof *arms);
    for (uint32_t i = 0; arms != NULL && i < log->arm_count; i++)
        arms[i] = (struct tacit_log_arm){.name = log->arms[i].name,
                                         .match = log->arms[i].all ? TACIT_LOG_MATCH_ALL
                                                                   : TACIT_LOG_MATCH_ANY,
                                         .columns = log->arms[i].columns,
                                         .column_count = log->arms[i].column_count,
                                         .value = log->arms[i].value};
    return arms;
}

static enum tacit_log_split log_split(enum tacit_config_split split)
{
    return split == TACIT_CONFIG_SPLIT_NONE         ? TACIT_LOG_BY_COLUMN
           : split == TACIT_CONFIG_SPLIT_SEQUENTIAL ? TACIT_LOG_SEQUENTIAL
                                                    : TACIT_LOG_RANDOM;
}

static enum tacit_encoding encoding_of(enum tacit_config_encoding encoding)
{
    return encoding == TACIT_CONFIG_CP1252   ? TACIT_ENCODING_CP1252
           : encoding == TACIT_CONFIG_LATIN1 ? TACIT_ENCODING_LATIN1
                                             : TACIT_ENCODING_UTF8;
}

/* Reads the table and sorts its rows into data->log. `path`: where find_log found it. */
static enum tacit_status build_log(struct tacit_experiment *experiment, const char *path,
                                   struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_table table;
    struct tacit_dialect const dialect = {(char)config->log.separator,
                                          encoding_of(config->log.encoding)};
    enum tacit_status status = tacit_table_read_dialect(&table, path, &dialect, error);
    if (status != TACIT_OK)
        return blame(experiment, "environment.logged.csv", status, error);
    struct tacit_log_arm *const arms = config->log.arms == NULL ? NULL : log_arms(&config->log);
    if (config->log.arms != NULL && arms == NULL) {
        tacit_table_free(&table);
        return out_of_memory(error);
    }
    struct tacit_log_spec const spec = {.missing = {.is_refused = config->log.missing.is_refused,
                                                    .agent = config->log.missing.agent,
                                                    .arm = config->log.missing.arm,
                                                    .reward = config->log.missing.reward},
                                        .decimal = (char)config->log.decimal,
                                        .arms = arms,
                                        .arm_count = config->log.arm_count,
                                        .arm_column = config->log.arm_column,
                                        .reward_column = config->log.reward_column,
                                        .reward_value = config->log.reward_value,
                                        .reward_differs = config->log.reward_differs,
                                        .split = log_split(config->log.split),
                                        .agent_column = config->log.agent_column,
                                        .is_uniform = config->log.is_uniform,
                                        .propensity_column = config->log.propensity_column,
                                        .time_column = config->log.time_column,
                                        .columns = config->log.columns,
                                        .column_count = config->log.column_count,
                                        .unit_column = config->unit_column,
                                        .agent_count = config->agent_count};
    struct tacit_rng rng =
        tacit_rng_stream(config->seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_SPLIT);
    status = tacit_log_build(&experiment->data->log, &table, path, &spec, &rng, error);
    free(arms);
    tacit_table_free(&table);
    return status;
}

/* How rows count, where not alike. */
static void remark_weights(struct tacit_experiment *experiment, struct tacit_text *remark)
{
    if (experiment->data->log.weights.keep == NULL)
        return;
    tacit_text_add(remark, "rows are weighted by 1/propensity (column '");
    tacit_text_add(remark, experiment->config->log.propensity_column);
    tacit_text_add(remark, "'): means, rewards and regret are those of arms offered to everybody, "
                           "as `tacit evaluate` estimates them (self-normalised).");
}

/* Two names that are nearly the same: most often a slip of the pen that makes two arms of one. */
static void remark_names(char *const *names, uint32_t count, const char *what,
                         struct tacit_text *remark)
{
    uint32_t pair[2];
    char part[260];
    if (names == NULL || !tacit_names_alike((const char *const *)names, count, pair))
        return;
    (void)snprintf(part, sizeof part,
                   "%swarning: '%.60s' and '%.60s' are two %s, and differ in case or blanks only.",
                   remark->size > 0 ? " " : "", names[pair[0]], names[pair[1]], what);
    tacit_text_add(remark, part);
}

/* What became of the rows, in a sentence or two behind the first one of the note. */
static void note_rows(struct tacit_experiment *experiment)
{
    struct tacit_log const *const log = &experiment->data->log;
    struct tacit_text note = tacit_text_init(experiment->note, sizeof experiment->note);
    char part[200];
    uint32_t const left_out = log->without_agent + log->without_arm + log->without_reward;
    size_t const cells = (size_t)log->agent_count * log->arm_count;
    uint32_t fewest = UINT32_MAX;
    (void)snprintf(part, sizeof part, "Rewards are drawn from the rows of %.120s.",
                   experiment->config->log.csv);
    tacit_text_add(&note, part);
    (void)snprintf(part, sizeof part,
                   " %u rows were left out: %u without an agent, %u without an arm, %u without a "
                   "reward.",
                   left_out, log->without_agent, log->without_arm, log->without_reward);
    tacit_text_add(&note, left_out > 0 ? part : "");
    for (size_t cell = 0; cell < cells; cell++) {
        uint32_t const rows = log->start[cell + 1] - log->start[cell];
        fewest = rows < fewest ? rows : fewest;
    }
    (void)snprintf(
        part, sizeof part,
        " The smallest cell (agent, arm) has %u rows and the horizon is %llu slots: rows "
        "are drawn again and again.",
        fewest, (unsigned long long)experiment->config->horizon);
    tacit_text_add(&note, fewest < experiment->config->horizon ? part : "");
}

/* Applies privacy.unit.rewards to the draws; refuses a horizon at which the smallest cell may run
 * out. A slot takes one reward of an agent at most: units x rewards slots are safe. */
static enum tacit_status limit_units(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_log const *const log = &experiment->data->log;
    struct tacit_env_log *const drawn = &experiment->sim.env.log;
    uint64_t const last = (uint64_t)log->units_fewest * config->unit_rewards;
    char text[400];
    if (config->unit_rewards == 0 || experiment->data->use == TACIT_EXPERIMENT_ROWS)
        return TACIT_OK;
    (void)snprintf(text, sizeof text,
                   "the smallest cell (agent, arm) has %u units in column '%.60s', whose %llu "
                   "rewards may not last for %llu slots; allowed: a 'horizon' up to %llu, or more "
                   "'rewards' of each",
                   log->units_fewest, config->unit_column, (unsigned long long)last,
                   (unsigned long long)config->horizon, (unsigned long long)last);
    if (last < config->horizon)
        return tacit_experiment_refuse(experiment, "privacy.unit.rewards", text, error);
    drawn->binary = false;
    drawn->unit_limit = config->unit_rewards;
    drawn->unit_count = log->unit_count;
    drawn->units = log->units;
    return TACIT_OK;
}

/* Fills data->log: read and sorted, or taken over from another experiment that has it (data->rows),
 * which keeps the memory. */
static enum tacit_status make_log(struct tacit_experiment *experiment, const char *path,
                                  struct tacit_error *error)
{
    struct tacit_experiment_data *const data = experiment->data;
    struct tacit_log *const log = data->rows == NULL ? &data->log : &data->rows->log;
    bool const is_at_once =
        data->use == TACIT_EXPERIMENT_AT_ONCE && experiment->config->unit_rewards == 0;
    TACIT_TRY(data->rows == NULL ? build_log(experiment, path, error) : TACIT_OK);
    if (is_at_once && log->gathered.start == NULL && tacit_log_gather(log) != TACIT_OK)
        return out_of_memory(error);
    data->log = *log;
    if (!is_at_once)
        data->log.gathered = (struct tacit_log_gathered){0};
    return TACIT_OK;
}

/* Rewards come from this log. A log of too few arms or of impossible rewards is refused. */
static enum tacit_status use_log(struct tacit_experiment *experiment, const char *path,
                                 struct tacit_error *error)
{
    enum tacit_experiment_use const use = experiment->data->use;
    TACIT_TRY(make_log(experiment, path, error));
    struct tacit_log const *const log = &experiment->data->log;
    if (log->arm_count < 2)
        return tacit_experiment_refuse(experiment, "environment.logged.arm",
                                       "1 arm; at least 2 are needed", error);
    experiment->sim.env.means = log->means;
    experiment->sim.env.row_count = log->agent_count;
    experiment->sim.env.arm_count = log->arm_count;
    experiment->sim.env.log = (struct tacit_env_log){.start = log->start,
                                                     .rewards = log->rewards,
                                                     .binary = log->binary,
                                                     .keep = log->weights.keep,
                                                     .other = log->weights.other,
                                                     .value_start = log->gathered.start,
                                                     .values = log->gathered.values,
                                                     .upto = log->gathered.upto};
    if (use != TACIT_EXPERIMENT_ROWS && experiment->config->privacy == TACIT_PRIVACY_SOUND &&
        !experiment->config->has_range && !tacit_env_is_bounded(&experiment->sim.env))
        return tacit_experiment_refuse(
            experiment, "privacy",
            "some logged rewards lie outside [0, 1]; sound mode needs 'range': the public "
            "bounds of a reward",
            error);
    struct tacit_text remark = tacit_text_init(experiment->remark, sizeof experiment->remark);
    remark_weights(experiment, &remark);
    remark_names(log->arm_names, log->arm_count, "arms", &remark);
    remark_names(log->agent_names, log->agent_count, "agents", &remark);
    note_rows(experiment);
    return limit_units(experiment, error);
}

/* Where the file of the rows is not here, the means that were computed from it serve (fallback). */
static enum tacit_status set_up_log(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct tacit_config_log const *const log = &experiment->config->log;
    char path[TACIT_PATH_BYTES];
    if (find_log(experiment, path))
        return use_log(experiment, path, error);
    if (experiment->config->unit_rewards > 0 && log->fallback != NULL)
        return tacit_experiment_refuse(experiment, "privacy.unit",
                                       "the file of the rows is not here, and means have no units",
                                       error);
    if (log->fallback == NULL) {
        char text[500];
        char directories[TACIT_PATH_BYTES];
        tacit_dataset_directories(directories);
        (void)snprintf(text, sizeof text,
                       "'%.120s' is neither beside this file nor in a data directory (%.150s); "
                       "allowed: a CSV file there, or a 'fallback' with arm means",
                       log->csv, *directories == '\0' ? "TACIT_DATA names none" : directories);
        return tacit_experiment_refuse(experiment, "environment.logged.csv", text, error);
    }
    (void)snprintf(
        experiment->note, sizeof experiment->note,
        "The data set %.150s is not here: rewards are drawn with the arm means of %.150s, "
        "which were computed from it.",
        log->csv, log->fallback);
    experiment->sim.env.kind = TACIT_ENV_BERNOULLI;
    return read_means(experiment, "environment.logged.fallback", log->fallback, error);
}

/* Rewards that the host draws. */
static enum tacit_status set_up_source(struct tacit_experiment *experiment,
                                       struct tacit_error *error)
{
    struct tacit_host const *const host = tacit_host_get();
    if (host == NULL)
        return tacit_experiment_refuse(experiment, "environment.gaussian.own",
                                       "an own environment is played from Python: "
                                       "tacit.run(environment=MyEnvironment(), ...); allowed here: "
                                       "without this key",
                                       error);
    experiment->data->source = host->environment;
    experiment->data->source.name = experiment->config->source;
    experiment->sim.env.source = &experiment->data->source;
    return TACIT_OK;
}

static enum tacit_status set_up_environment(struct tacit_experiment *experiment,
                                            struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    if (config->own_environment != NULL)
        return TACIT_OK; /* the family's plan makes it */
    experiment->sim.env.kind = config->environment;
    experiment->sim.env.sd = config->sd;
    TACIT_TRY(config->source == NULL ? TACIT_OK : set_up_source(experiment, error));
    if (config->environment == TACIT_ENV_LOGGED)
        return set_up_log(experiment, error);
    if (config->means != NULL)
        return read_means(experiment, "environment.means", config->means, error);
    return generate_means(experiment, error);
}

/* ---- Privacy ---- */

const char *tacit_mode_name(enum tacit_privacy_mode mode)
{
    return mode == TACIT_PRIVACY_NONE ? "none" : mode == TACIT_PRIVACY_PAPER ? "paper" : "sound";
}

enum tacit_status tacit_experiment_protect(struct tacit_experiment *experiment,
                                           double epsilon_per_reward, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_mechanism_config const mechanism = {.mode = config->privacy,
                                                     .epsilon_per_reward = epsilon_per_reward,
                                                     .lo = config->lo,
                                                     .hi = config->hi};
    experiment->epsilon_per_reward = epsilon_per_reward;
    if (tacit_mechanism_init(&experiment->mechanism, &mechanism) != TACIT_OK)
        return tacit_experiment_refuse(
            experiment, "privacy.epsilon",
            "epsilon per reward (in paper mode: times the agents that report) must be from "
            "1e-6 to 1e6, or inf",
            error);
    return TACIT_OK;
}

double tacit_experiment_loss(const struct tacit_experiment *experiment)
{
    return tacit_promise_holds(&experiment->promise) ? experiment->epsilon_per_reward
                                                     : (double)INFINITY;
}

struct tacit_promise_mechanism tacit_experiment_noise(const struct tacit_experiment *experiment,
                                                      enum tacit_leaving leaving)
{
    struct tacit_promise_mechanism mechanism =
        tacit_promise_mechanism_of(&experiment->mechanism, leaving);
    if (mechanism.noise == TACIT_NOISE_DOUBLE && !tacit_env_is_bounded(&experiment->sim.env))
        mechanism.gaps |= TACIT_GAP_UNBOUNDED;
    return mechanism;
}

/* After the plan: what it promises, in words. */
static void state_promise(struct tacit_experiment *experiment)
{
    struct tacit_text text = tacit_text_init(experiment->statement, TACIT_STATEMENT_BYTES);
    if (tacit_experiment_log(experiment) != NULL)
        experiment->promise.is_logged = true;
    if (experiment->config->unit_rewards > 0)
        experiment->promise.trust.unit_rewards_max = experiment->config->unit_rewards;
    if (experiment->promise_remark[0] != '\0')
        experiment->promise.remark = experiment->promise_remark;
    tacit_promise_state(&experiment->promise, &text);
}

enum tacit_status tacit_experiment_protect_sums(struct tacit_experiment *experiment,
                                                struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    bool const is_sound = config->privacy == TACIT_PRIVACY_SOUND;
    struct tacit_mechanism_config const mechanism = {
        .mode = TACIT_PRIVACY_SOUND,
        .epsilon_per_reward = is_sound ? config->epsilon : (double)INFINITY,
        .lo = config->lo,
        .hi = config->hi};
    if (!tacit_env_is_bounded(&experiment->sim.env) && !config->has_range)
        return tacit_experiment_refuse(experiment, "privacy",
                                       "some rewards lie outside [0, 1]; sums are counted in steps "
                                       "of a public range; allowed: mode: sound with 'range'",
                                       error);
    experiment->epsilon_per_reward = mechanism.epsilon_per_reward;
    if (tacit_mechanism_init(&experiment->mechanism, &mechanism) == TACIT_OK)
        return TACIT_OK;
    return tacit_experiment_refuse(experiment, "privacy.epsilon",
                                   "epsilon per reward must be from 1e-6 to 1e6, or inf", error);
}

enum tacit_status tacit_experiment_add_helper(struct tacit_experiment *experiment,
                                              uint64_t floor_nano, struct tacit_error *error)
{
    if (experiment->sim.agent_count < 2)
        return tacit_experiment_refuse(experiment, "privacy.trust",
                                       "two aggregators add up what several sites release; "
                                       "allowed with agents: 2 or more",
                                       error);
    experiment->promise.trust.has_helper = true;
    experiment->promise.trust.floor_nano = floor_nano;
    experiment->total_agents = experiment->sim.agent_count;
    return TACIT_OK;
}

enum tacit_status tacit_experiment_site_mechanism(struct tacit_experiment *experiment,
                                                  struct tacit_mechanism *mechanism,
                                                  struct tacit_sim_aggregators *aggregators,
                                                  struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    uint32_t const milli = config->floor_milli;
    *mechanism = experiment->mechanism;
    *aggregators = (struct tacit_sim_aggregators){.mechanism = experiment->mechanism};
    if (milli == TACIT_ONE_AGGREGATOR || !experiment->mechanism.noisy)
        return TACIT_OK;
    struct tacit_mechanism_config const own = {
        .mode = TACIT_PRIVACY_SOUND,
        .epsilon_per_reward = milli == TACIT_NO_FLOOR ? (double)INFINITY : milli / 1e3,
        .lo = config->lo,
        .hi = config->hi};
    TACIT_TRY(tacit_mechanism_init(mechanism, &own));
    aggregators->are_two = true;
    return tacit_experiment_add_helper(experiment, mechanism->epsilon_nano, error);
}

/* ---- Recording ---- */

static enum tacit_status set_up_points(struct tacit_experiment *experiment,
                                       struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    uint64_t *const points = calloc(config->checkpoint_count, sizeof *points);
    experiment->data->points = points;
    if (points == NULL)
        return out_of_memory(error);
    if (config->checkpoints != NULL) {
        memcpy(points, config->checkpoints, config->checkpoint_count * sizeof *points);
        experiment->sim.point_count = config->checkpoint_count;
    } else {
        experiment->sim.point_count =
            tacit_sim_log_points(config->horizon, config->checkpoint_count, points);
    }
    experiment->sim.points = points;
    return TACIT_OK;
}

static enum tacit_status set_up_global_means(struct tacit_experiment *experiment,
                                             struct tacit_error *error)
{
    if (experiment->sim.instance_per_run || experiment->sim.env.arm_count == 0)
        return TACIT_OK;
    experiment->global_means = calloc(experiment->sim.env.arm_count, sizeof(double));
    if (experiment->global_means == NULL)
        return out_of_memory(error);
    tacit_env_global_means(&experiment->sim.env, experiment->global_means);
    return TACIT_OK;
}

const char *tacit_experiment_arm_name(const struct tacit_experiment *experiment, uint32_t arm)
{
    if (experiment->data->log.arm_names != NULL)
        return experiment->data->log.arm_names[arm];
    struct tacit_config_log const *const log = &experiment->config->log; /* its fallback */
    return arm < log->arm_count ? log->arms[arm].name : NULL;
}

const struct tacit_log *tacit_experiment_log(const struct tacit_experiment *experiment)
{
    return experiment->data->log.start == NULL ? NULL : &experiment->data->log;
}

/* ---- Baselines ---- */

/* Can each that the file names be played beside this experiment? Each is made on trial, and freed.
 */
static enum tacit_status check_baselines(const struct tacit_experiment *experiment,
                                         struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    enum tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < config->baseline_count && status == TACIT_OK; i++) {
        struct tacit_experiment baseline;
        struct tacit_error why = {""};
        char key[32];
        status = tacit_baseline_make(&baseline, config->baselines[i], experiment, &why);
        if (status == TACIT_OK)
            tacit_baseline_free(&baseline);
        (void)snprintf(key, sizeof key, "baselines.%u", i);
        if (status == TACIT_INVALID)
            return tacit_experiment_refuse(experiment, key, why.text, error);
    }
    return status;
}

/* What takes longer than anybody waits is refused, unless it is only looked at. */
static enum tacit_status set_up_network(struct tacit_experiment *experiment,
                                        struct tacit_error *error)
{
    bool const is_check = experiment->data->use == TACIT_EXPERIMENT_CHECK;
    enum tacit_status const status =
        tacit_network_new(&experiment->network, &experiment->config->network,
                          is_check ? TACIT_NETWORK_QUICK : TACIT_NETWORK_FULL, error);
    struct tacit_network const *const network = experiment->network;
    if (status != TACIT_OK || is_check || network == NULL || network->visits_left == 0)
        return status;
    char text[300];
    (void)snprintf(text, sizeof text,
                   "its diameter is from %u to %u, its t_delay from %u to %u; to know them takes "
                   "some %.3g hours of searches; allowed: a graph of which they are known sooner, "
                   "like a smaller one, a ring or a grid",
                   network->diameter, network->diameter + network->diameter_slack, network->delay,
                   network->delay + network->delay_slack,
                   (double)network->visits_left * TACIT_NETWORK_VISIT_NS / 3600e9);
    return tacit_experiment_refuse(experiment, "network", text, error);
}

/* ---- Public ---- */

/* Requires: config and data are there. Errors: the experiment is half made; the caller frees it. */
static enum tacit_status set_up(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    experiment->family = tacit_family_find(config->family->name);
    TACIT_ASSERT(experiment->family != NULL);
    experiment->epsilon_per_reward = config->epsilon;
    experiment->sim.seed = config->seed;
    experiment->sim.run_count = config->run_count;
    experiment->sim.agent_count = config->agent_count;
    experiment->sim.horizon = config->horizon;
    for (uint32_t i = 0; i < experiment->family->player.metric_count; i++)
        experiment->sim.curve_count +=
            (experiment->family->metrics[i].places & TACIT_METRIC_CURVE) != 0 ? 1 : 0;
    TACIT_TRY(set_up_environment(experiment, error));
    if (experiment->data->use == TACIT_EXPERIMENT_ROWS)
        return TACIT_OK;
    TACIT_TRY(set_up_network(experiment, error));
    TACIT_TRY(set_up_global_means(experiment, error));
    TACIT_TRY(set_up_points(experiment, error));
    TACIT_TRY(experiment->family->plan(experiment, error));
    state_promise(experiment);
    if (experiment->pull_count <= 0)
        experiment->pull_count = (double)config->agent_count * (double)config->horizon;
    return check_baselines(experiment, error);
}

enum tacit_status tacit_experiment_load(struct tacit_experiment *experiment, const char *path,
                                        const char *const *settings, uint32_t set_count,
                                        struct tacit_error *error)
{
    return tacit_experiment_load_for(experiment, TACIT_EXPERIMENT_RUNS, NULL, path, settings,
                                     set_count, error);
}

enum tacit_status tacit_experiment_load_for(struct tacit_experiment *experiment,
                                            enum tacit_experiment_use use,
                                            const struct tacit_experiment *rows, const char *path,
                                            const char *const *settings, uint32_t set_count,
                                            struct tacit_error *error)
{
    *experiment = (struct tacit_experiment){0};
    TACIT_TRY(tacit_config_load(&experiment->config, path, settings, set_count,
                                tacit_family_files(), error));
    experiment->data = calloc(1, sizeof *experiment->data);
    if (experiment->data != NULL)
        *experiment->data = (struct tacit_experiment_data){
            .use = use, .rows = rows != NULL && rows->data->log.start != NULL ? rows->data : NULL};
    enum tacit_status status =
        experiment->data == NULL ? out_of_memory(error) : set_up(experiment, error);
    if (status != TACIT_OK)
        tacit_experiment_free(experiment);
    return status;
}

void tacit_experiment_free(struct tacit_experiment *experiment)
{
    if (experiment->plan != NULL)
        experiment->family->plan_free(experiment->plan);
    if (experiment->data != NULL) {
        tacit_means_free(&experiment->data->means);
        if (experiment->data->rows == NULL)
            tacit_log_free(&experiment->data->log);
        free(experiment->data->points);
        free(experiment->data->generated);
        free(experiment->data);
    }
    tacit_network_free(experiment->network);
    free(experiment->global_means);
    tacit_config_free(experiment->config);
    *experiment = (struct tacit_experiment){0};
}

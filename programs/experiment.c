/* From an experiment file to what the simulator runs: data, means, mechanism, statement. */
#include "experiment.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum tacit_status refuse(const struct experiment *experiment, const char *key,
                                const char *text, struct tacit_error *error)
{
    tacit_config_error(experiment->config, key, text, error);
    return TACIT_INVALID;
}

static enum tacit_status out_of_memory(struct tacit_error *error)
{
    (void)snprintf(error->text, sizeof error->text, "out of memory");
    return TACIT_MEMORY;
}

/* Says, for a file that cannot be read, which key of the experiment names it. */
static enum tacit_status blame(const struct experiment *experiment, const char *key,
                               enum tacit_status status, struct tacit_error *error)
{
    struct tacit_error const cause = *error;
    if (status == TACIT_IO)
        tacit_config_error(experiment->config, key, cause.text, error);
    return status;
}

/* ---- Means ---- */

static enum tacit_status check_means(const struct experiment *experiment, const char *key,
                                     const char *name, struct tacit_error *error)
{
    struct tacit_means const *const means = &experiment->means;
    uint32_t const agents = experiment->config->agent_count;
    char text[400];
    uint32_t const named = experiment->config->log.arm_count; /* 0: the arms have no names */
    if (means->arm_count < 2) {
        (void)snprintf(text, sizeof text, "%.200s has 1 arm; at least 2 are needed", name);
        return refuse(experiment, key, text, error);
    }
    if (named > 0 && means->arm_count != named) {
        (void)snprintf(text, sizeof text,
                       "%.200s has %u columns, but there are %u arms; allowed: one column an arm",
                       name, means->arm_count, named);
        return refuse(experiment, key, text, error);
    }
    if (means->row_count != 1 && means->row_count != agents) {
        (void)snprintf(text, sizeof text,
                       "%.200s has %u rows, but there are %u agents; allowed: 1 row (all agents "
                       "alike) or one an agent",
                       name, means->row_count, agents);
        return refuse(experiment, key, text, error);
    }
    return TACIT_OK;
}

static enum tacit_status read_means(struct experiment *experiment, const char *key,
                                    const char *name, struct tacit_error *error)
{
    bool const is_gaussian = experiment->config->environment == TACIT_ENV_GAUSSIAN;
    double const bound = is_gaussian ? 1e9 : 1;
    char *const path = tacit_config_path(experiment->config, name);
    if (path == NULL)
        return out_of_memory(error);
    enum tacit_status status =
        tacit_means_read(&experiment->means, path, is_gaussian ? -bound : 0, bound, error);
    free(path);
    status = status == TACIT_OK ? check_means(experiment, key, name, error)
                                : blame(experiment, key, status, error);
    experiment->sim.env.means = experiment->means.values;
    experiment->sim.env.row_count = experiment->means.row_count;
    experiment->sim.env.arm_count = experiment->means.arm_count;
    return status;
}

static enum tacit_status generate_means(struct experiment *experiment, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    uint32_t const arms = config->generated_arms;
    experiment->generated = calloc(arms, sizeof(double));
    if (experiment->generated == NULL)
        return out_of_memory(error);
    struct tacit_rng rng =
        tacit_rng_stream(config->instance_seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_INSTANCE);
    tacit_env_generate(experiment->generated, arms, &rng);
    experiment->sim.env.means = experiment->generated;
    experiment->sim.env.row_count = 1;
    experiment->sim.env.arm_count = arms;
    experiment->sim.instance_per_run = !config->has_instance_seed;
    return TACIT_OK;
}

/* ---- Logs ---- */

/* Where the log is: beside the experiment, or in a data directory. False: nowhere. */
static bool find_log(const struct experiment *experiment, char path[TACIT_PATH_BYTES])
{
    static const char *const endings[] = {"", ".xz", ".gz"};
    char *const beside = tacit_config_path(experiment->config, experiment->config->log.csv);
    bool found = false;
    for (size_t i = 0; beside != NULL && i < 3 && !found; i++) {
        int const length = snprintf(path, TACIT_PATH_BYTES, "%s%s", beside, endings[i]);
        found = length > 0 && length < (int)TACIT_PATH_BYTES && access(path, R_OK) == 0;
    }
    free(beside);
    return found || tacit_dataset_find(experiment->config->log.csv, path) == TACIT_OK;
}

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

static enum tacit_status build_log(struct experiment *experiment, const char *path,
                                   struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_table table;
    enum tacit_status status = tacit_table_read(&table, path, error);
    if (status != TACIT_OK)
        return blame(experiment, "environment.logged.csv", status, error);
    struct tacit_log_arm *const arms = config->log.arms == NULL ? NULL : log_arms(&config->log);
    if (config->log.arms != NULL && arms == NULL) {
        tacit_table_free(&table);
        return out_of_memory(error);
    }
    struct tacit_log_spec const spec = {.arms = arms,
                                        .arm_count = config->log.arm_count,
                                        .arm_column = config->log.arm_column,
                                        .reward_column = config->log.reward_column,
                                        .reward_value = config->log.reward_value,
                                        .split = log_split(config->log.split),
                                        .agent_column = config->log.agent_column,
                                        .agent_count = config->agent_count};
    struct tacit_rng rng =
        tacit_rng_stream(config->seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_SPLIT);
    status = tacit_log_build(&experiment->log, &table, path, &spec, &rng, error);
    free(arms);
    tacit_table_free(&table);
    return status;
}

static bool rewards_are_within(const struct experiment *experiment, double lo, double hi)
{
    struct tacit_log const *const log = &experiment->log;
    uint32_t const count = log->start[(size_t)log->agent_count * log->arm_count];
    for (uint32_t i = 0; i < count; i++)
        if (!(log->rewards[i] >= lo && log->rewards[i] <= hi))
            return false;
    return true;
}

static enum tacit_status use_log(struct experiment *experiment, const char *path,
                                 struct tacit_error *error)
{
    enum tacit_status const status = build_log(experiment, path, error);
    if (status != TACIT_OK)
        return status;
    struct tacit_log const *const log = &experiment->log;
    if (log->arm_count < 2)
        return refuse(experiment, "environment.logged.arm", "1 arm; at least 2 are needed", error);
    if (experiment->config->privacy == TACIT_PRIVACY_SOUND && !experiment->config->has_range &&
        !rewards_are_within(experiment, 0, 1))
        return refuse(
            experiment, "privacy",
            "some logged rewards lie outside [0, 1]; sound mode needs 'range': the public "
            "bounds of a reward",
            error);
    experiment->sim.env.means = log->means;
    experiment->sim.env.row_count = log->agent_count;
    experiment->sim.env.arm_count = log->arm_count;
    experiment->sim.env.log = (struct tacit_env_log){log->start, log->rewards, log->binary};
    return TACIT_OK;
}

static enum tacit_status set_up_log(struct experiment *experiment, struct tacit_error *error)
{
    struct tacit_config_log const *const log = &experiment->config->log;
    char path[TACIT_PATH_BYTES];
    if (find_log(experiment, path)) {
        (void)snprintf(experiment->note, sizeof experiment->note,
                       "Rewards are drawn from the rows of %s.", log->csv);
        return use_log(experiment, path, error);
    }
    if (log->fallback == NULL) {
        char text[500];
        char directories[TACIT_PATH_BYTES];
        tacit_dataset_directories(directories);
        (void)snprintf(text, sizeof text,
                       "'%.120s' is neither beside this file nor in a data directory (%.150s); "
                       "allowed: a CSV file there, or a 'fallback' with arm means",
                       log->csv, *directories == '\0' ? "TACIT_DATA names none" : directories);
        return refuse(experiment, "environment.logged.csv", text, error);
    }
    (void)snprintf(
        experiment->note, sizeof experiment->note,
        "The data set %.150s is not here: rewards are drawn with the arm means of %.150s, "
        "which were computed from it.",
        log->csv, log->fallback);
    experiment->sim.env.kind = TACIT_ENV_BERNOULLI;
    return read_means(experiment, "environment.logged.fallback", log->fallback, error);
}

static enum tacit_status set_up_environment(struct experiment *experiment,
                                            struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    experiment->sim.env.kind = config->environment;
    experiment->sim.env.sd = config->sd;
    if (config->environment == TACIT_ENV_LOGGED)
        return set_up_log(experiment, error);
    if (config->means != NULL)
        return read_means(experiment, "environment.means", config->means, error);
    return generate_means(experiment, error);
}

/* ---- Network ---- */

static enum tacit_status set_up_network(struct experiment *experiment, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_sim_elim *const sim = &experiment->sim;
    enum tacit_status const status = network_new(&experiment->network, config, error);
    sim->network = experiment->network == NULL ? NULL : &experiment->network->sim;
    sim->report_count = config->network == TACIT_CONFIG_ALONE
                            ? 1
                            : tacit_elim_report_count(config->participation, config->agent_count);
    return status;
}

uint32_t experiment_delay(const struct experiment *experiment)
{
    return experiment->network == NULL ? 0 : experiment->network->delay;
}

/* ---- Privacy ---- */

const char *experiment_mode_name(enum tacit_privacy_mode mode)
{
    return mode == TACIT_PRIVACY_NONE ? "none" : mode == TACIT_PRIVACY_PAPER ? "paper" : "sound";
}

/* The paper's noise has scale 1/(N eps): a reward loses N eps (READINGS P1.23). */
static double epsilon_per_reward(const struct experiment *experiment)
{
    struct tacit_config const *const config = experiment->config;
    if (config->privacy != TACIT_PRIVACY_PAPER)
        return config->epsilon;
    return config->epsilon * experiment->sim.report_count;
}

static enum tacit_statement_network statement_network(enum tacit_config_network network)
{
    return network == TACIT_CONFIG_GRAPH    ? TACIT_STATEMENT_GRAPH
           : network == TACIT_CONFIG_HYBRID ? TACIT_STATEMENT_HYBRID
           : network == TACIT_CONFIG_ALONE  ? TACIT_STATEMENT_ALONE
                                            : TACIT_STATEMENT_STAR;
}

static void state_privacy(struct experiment *experiment)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_mechanism const *const mechanism = &experiment->sim.mechanism;
    enum tacit_env_kind const kind = experiment->sim.env.kind;
    bool const is_paper = config->privacy == TACIT_PRIVACY_PAPER;
    struct tacit_statement const statement = {
        .mode = config->privacy,
        .network = statement_network(config->network),
        .waits = experiment_delay(experiment) > 0,
        .noisy = mechanism->noisy,
        .epsilon_nano = tacit_mechanism_cost_nano(mechanism),
        .paper_epsilon_nano =
            is_paper && mechanism->noisy ? (uint64_t)llround(config->epsilon * TACIT_NANO) : 0,
        .agent_count = config->agent_count,
        .report_count = experiment->sim.report_count,
        .clipped = config->privacy == TACIT_PRIVACY_SOUND,
        .bounded = kind == TACIT_ENV_BERNOULLI || kind == TACIT_ENV_CONSTANT ||
                   (kind == TACIT_ENV_LOGGED && rewards_are_within(experiment, 0, 1))};
    struct tacit_text text = tacit_text_init(experiment->statement, TACIT_STATEMENT_BYTES);
    tacit_statement_elim(&statement, &text);
}

static enum tacit_status set_up_privacy(struct experiment *experiment, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_sim_elim *const sim = &experiment->sim;
    sim->epsilon_per_reward = epsilon_per_reward(experiment);
    struct tacit_mechanism_config const mechanism = {.mode = config->privacy,
                                                     .epsilon_per_reward = sim->epsilon_per_reward,
                                                     .lo = config->lo,
                                                     .hi = config->hi};
    if (tacit_mechanism_init(&sim->mechanism, &mechanism) != TACIT_OK)
        return refuse(
            experiment, "privacy.epsilon",
            "epsilon per reward (in paper mode: times the agents that report) must be from "
            "1e-6 to 1e6, or inf",
            error);
    state_privacy(experiment);
    return TACIT_OK;
}

/* ---- Horizon ---- */

struct tacit_elim_schedule experiment_schedule(const struct experiment *experiment)
{
    struct tacit_sim_elim const *const sim = &experiment->sim;
    double gap = sim->gap;
    if (gap <= 0 && experiment->global_means != NULL)
        gap = tacit_env_smallest_gap(experiment->global_means, sim->env.arm_count);
    gap = tacit_scale_gap(&sim->mechanism.scale, gap);
    return (struct tacit_elim_schedule){.arm_count = sim->env.arm_count,
                                        .report_count = sim->report_count,
                                        .horizon = sim->horizon,
                                        .epsilon_per_reward = sim->epsilon_per_reward,
                                        .round_limit = sim->round_limit,
                                        .gap = gap > 0 && gap <= 1 ? gap : 1};
}

/* Slots until the first epoch has been judged if the horizon is `horizon`. */
static uint64_t first_epoch_slots(const struct experiment *experiment, uint64_t horizon)
{
    struct tacit_elim_schedule schedule = experiment_schedule(experiment);
    schedule.horizon = horizon;
    return schedule.arm_count * tacit_elim_pulls(&schedule, 1, schedule.arm_count, 0) +
           experiment_delay(experiment);
}

/* A run that ends before its first epoch does learns nothing and tells nobody (PRIVACY.md D.51). */
static enum tacit_status check_horizon(const struct experiment *experiment,
                                       struct tacit_error *error)
{
    struct tacit_sim_elim const *const sim = &experiment->sim;
    uint64_t needed = first_epoch_slots(experiment, sim->horizon);
    char text[300];
    char delay[60] = "";
    if (needed <= sim->horizon)
        return TACIT_OK;
    for (uint64_t longer = needed; (longer = first_epoch_slots(experiment, needed)) > needed;)
        needed = longer; /* a longer horizon makes the epoch a little longer too */
    if (needed > TACIT_HORIZON_MAX)
        return refuse(experiment, "horizon",
                      "no horizon is long enough for the first epoch; allowed: fewer arms, more "
                      "agents or a larger epsilon",
                      error);
    if (experiment_delay(experiment) > 0)
        (void)snprintf(delay, sizeof delay, ", with a delay of %u slot%s",
                       experiment_delay(experiment), experiment_delay(experiment) == 1 ? "" : "s");
    (void)snprintf(text, sizeof text,
                   "%llu is too short for the first epoch of %u arms and %u reports%s; allowed: at "
                   "least %llu",
                   (unsigned long long)sim->horizon, sim->env.arm_count, sim->report_count, delay,
                   (unsigned long long)needed);
    return refuse(experiment, "horizon", text, error);
}

static enum tacit_status set_up_points(struct experiment *experiment, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    experiment->points = calloc(config->checkpoint_count, sizeof(uint64_t));
    if (experiment->points == NULL)
        return out_of_memory(error);
    if (config->checkpoints != NULL) {
        memcpy(experiment->points, config->checkpoints,
               config->checkpoint_count * sizeof(uint64_t));
        experiment->sim.point_count = config->checkpoint_count;
    } else {
        experiment->sim.point_count =
            tacit_sim_log_points(config->horizon, config->checkpoint_count, experiment->points);
    }
    experiment->sim.points = experiment->points;
    return TACIT_OK;
}

static enum tacit_status set_up_global_means(struct experiment *experiment,
                                             struct tacit_error *error)
{
    if (experiment->sim.instance_per_run)
        return TACIT_OK;
    experiment->global_means = calloc(experiment->sim.env.arm_count, sizeof(double));
    if (experiment->global_means == NULL)
        return out_of_memory(error);
    tacit_env_global_means(&experiment->sim.env, experiment->global_means);
    double const gap = tacit_scale_gap(
        &experiment->sim.mechanism.scale,
        tacit_env_smallest_gap(experiment->global_means, experiment->sim.env.arm_count));
    if (experiment->sim.round_limit > 0 && experiment->sim.gap <= 0 && gap > 1)
        return refuse(experiment, "protocol",
                      "the smallest gap between the means is above 1; 'rounds' then needs 'gap': a "
                      "number above 0 and up to 1",
                      error);
    return TACIT_OK;
}

/* ---- Public ---- */

enum tacit_status experiment_load(struct experiment *experiment, const char *path,
                                  const char *const *settings, uint32_t set_count,
                                  struct tacit_error *error)
{
    *experiment = (struct experiment){0};
    enum tacit_status status =
        tacit_config_load(&experiment->config, path, settings, set_count, error);
    if (status != TACIT_OK)
        return status;
    struct tacit_config const *const config = experiment->config;
    experiment->sim.seed = config->seed;
    experiment->sim.run_count = config->run_count;
    experiment->sim.agent_count = config->agent_count;
    experiment->sim.round_limit = config->round_limit;
    experiment->sim.gap = config->gap;
    experiment->sim.horizon = config->horizon;
    experiment->sim.server_link_cost = config->server_link_cost;
    experiment->sim.peer_link_cost = config->peer_link_cost;
    status = set_up_environment(experiment, error);
    if (status == TACIT_OK)
        status = set_up_network(experiment, error);
    if (status == TACIT_OK)
        status = set_up_privacy(experiment, error);
    if (status == TACIT_OK)
        status = set_up_global_means(experiment, error);
    if (status == TACIT_OK)
        status = set_up_points(experiment, error);
    if (status == TACIT_OK)
        status = check_horizon(experiment, error);
    if (status != TACIT_OK)
        experiment_free(experiment);
    return status;
}

void experiment_free(struct experiment *experiment)
{
    tacit_means_free(&experiment->means);
    tacit_log_free(&experiment->log);
    network_free(experiment->network);
    free(experiment->points);
    free(experiment->generated);
    free(experiment->global_means);
    tacit_config_free(experiment->config);
    *experiment = (struct experiment){0};
}

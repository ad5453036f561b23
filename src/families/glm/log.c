/* From the log that an experiment names to what its runs play. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "plan.h"

static const char key[] = "environment.contextual";

/* Rows of the agent with the most. counts: zeros, one an agent. */
static uint64_t longest(const struct tacit_context_log *log, uint64_t *counts)
{
    uint64_t most = 0;
    for (uint64_t row = 0; row < log->row_count; row++) {
        uint64_t const count = ++counts[log->agents[row]];
        most = count > most ? count : most;
    }
    return most;
}

/* Of the longest vector. */
static double longest_length(const struct tacit_context_log *log)
{
    double most = 0;
    for (uint32_t item = 0; item < log->item_count; item++) {
        double square = 0;
        for (uint32_t i = 0; i < log->dimension; i++) {
            double const x = (double)log->items[(size_t)item * log->dimension + i];
            square += x * x;
        }
        most = square > most ? square : most;
    }
    return sqrt(most);
}

static bool rewards_are_shares(const struct tacit_context_log *log)
{
    uint64_t const count = log->liked == NULL ? log->item_count : log->row_count;
    for (uint64_t i = 0; i < count; i++)
        if (!(log->rewards[i] >= 0 && log->rewards[i] <= 1))
            return false;
    return true;
}

/* Refuses what cannot be played over a log. One row is a decision, and a slot has N of them. */
static enum tacit_status check_log(const struct tacit_experiment *experiment,
                                   const struct glm_plan *plan, struct tacit_error *error)
{
    struct tacit_context_log const *const log = plan->log;
    uint64_t const slots = (log->row_count + log->agent_count - 1) / log->agent_count;
    char text[200];
    if (experiment->config->privacy == TACIT_PRIVACY_SOUND)
        return tacit_experiment_refuse(experiment, "privacy.mode",
                                       "sound mode plays every client in every slot, which a log "
                                       "does not; allowed here: none",
                                       error);
    if ((plan->model.link == TACIT_LINALG_LOGISTIC || plan->model.link == TACIT_LINALG_PROBIT) &&
        !rewards_are_shares(log))
        return tacit_experiment_refuse(experiment, key,
                                       "some rewards are outside [0, 1], which this link cannot "
                                       "mean; allowed: `above`, or link: identity or poisson",
                                       error);
    if (experiment->config->horizon <= slots)
        return TACIT_OK;
    (void)snprintf(text, sizeof text,
                   "the log has %" PRIu64 " decisions, N = %" PRIu32
                   " a slot; allowed: up to %" PRIu64 " slots",
                   log->row_count, log->agent_count, slots);
    return tacit_experiment_refuse(experiment, "horizon", text, error);
}

static void write_note(struct tacit_experiment *experiment, const struct glm_plan *plan)
{
    struct tacit_context_data const *const data = plan->data;
    struct tacit_context_log const *const log = plan->log;
    int used = snprintf(experiment->note, sizeof experiment->note,
                        "Logged decisions: %" PRIu64 " of %" PRIu64 " rows, those of the %" PRIu32
                        " most active of %" PRIu32 " agents, %s.",
                        log->row_count, data->read_count, log->agent_count, data->agents_seen,
                        log->is_ordered ? "in order" : "shuffled anew in each run");
    if (log->liked == NULL)
        used =
            snprintf(experiment->note, sizeof experiment->note,
                     "Logged decisions: %" PRIu64 ", each with all of its arms.", log->row_count);
    if (data->word_count > 0)
        (void)snprintf(experiment->note + used, sizeof experiment->note - (size_t)used,
                       " %" PRIu32 " items, by %" PRIu32 " words; %" PRIu32
                       " have no direction and are left out.",
                       log->item_count, data->word_count, data->blank_count);
}

enum tacit_status glm_read_log(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct glm_plan *const plan = experiment->plan;
    struct glm_keys const *const keys = experiment->config->keys;
    struct tacit_context_spec spec = *keys->log;
    spec.beside = config_document_path(experiment->config->document);
    spec.agent_count = experiment->config->agent_count;
    plan->data = calloc(1, sizeof *plan->data);
    uint64_t *const counts = calloc(spec.agent_count, sizeof *counts);
    enum tacit_status status = TACIT_MEMORY;
    if (plan->data != NULL && counts != NULL) {
        status = tacit_context_data_read(plan->data, &spec, error);
        plan->log = &plan->data->log;
    }
    if (status != TACIT_OK) {
        struct tacit_error const cause = *error;
        if (status != TACIT_MEMORY)
            tacit_config_error(experiment->config->document, key, cause.text, error);
        free(counts);
        return status;
    }
    plan->model.horizon = longest(plan->log, counts);
    if (spec.is_standardised || spec.has_constant)
        plan->model.context_bound = longest_length(plan->log);
    free(counts);
    write_note(experiment, plan);
    return check_log(experiment, plan, error);
}

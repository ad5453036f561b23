/* What an agent keeps: the core's bytes, decisions, units. */
#include "agent_state.h"
#include "daemon/entropy.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- Changes --------------------------------------------------------------------------------- */

void agent_store_row(struct agent *agent, const struct live_decision_row *row)
{
    TACIT_ASSERT(row != NULL);
    if (live_daemon_begin(&agent->daemon))
        live_daemon_check(&agent->daemon, live_store_put_decision(agent->daemon.store, row),
                          "a decision cannot be written");
}

void agent_drop_row(struct agent *agent, const struct live_decision_row *row)
{
    agent->has_forgotten = true;
    if (live_daemon_begin(&agent->daemon))
        live_daemon_check(&agent->daemon,
                          live_store_drop_decision(agent->daemon.store, row->number),
                          "a decision cannot be dropped");
}

/* The core goes into the batch once a round, whatever number of rewards came. The next number is
 * behind the last row, so it is written only when rows go. */
void agent_prepare_commit(struct agent *agent)
{
    struct live_decisions_view view;
    enum tacit_status status = TACIT_OK;
    if (!agent->daemon.batch_is_open)
        return;
    if (agent->core_is_dirty) {
        size_t size;
        void const *const bytes = live_site_bytes(agent->site, &size);
        status = live_store_put_core(agent->daemon.store, bytes, size);
    }
    agent_put_times(agent);
    agent_remember(agent);
    live_decisions_view(agent->decisions, &view);
    if (status == TACIT_OK && agent->has_forgotten)
        status = live_store_put_value(agent->daemon.store, "next_decision", view.next_number);
    live_daemon_check(&agent->daemon, status, "the state cannot be written");
    agent->core_is_dirty = false;
    agent->has_forgotten = false;
}

static const char awaits_term[] = "awaits_term";

void agent_put_term(struct agent *agent, uint64_t term, bool awaits)
{
    TACIT_ASSERT(term > 0);
    live_daemon_put_value(&agent->daemon, LIVE_ENVELOPES_TERM, term);
    if (awaits != agent->awaits_term)
        live_daemon_put_value(&agent->daemon, awaits_term, awaits);
    agent->envelopes.term = term;
    agent->awaits_term = awaits;
}

/* ---- At start -------------------------------------------------------------------------------- */

/* What goes wrong with a row, restore_decisions finds in the daemon's status. */
static bool is_restored(struct agent *agent, enum tacit_status status)
{
    if (status != TACIT_OK)
        agent->daemon.status = status;
    return status == TACIT_OK;
}

static bool restore_row(void *context, const struct live_decision_row *row)
{
    struct agent *const agent = context;
    return is_restored(agent, live_decisions_restore(agent->decisions, row));
}

static bool restore_unit(void *context, const char *unit, uint32_t arm)
{
    struct agent *const agent = context;
    return is_restored(agent, live_decisions_restore_unit(agent->decisions, unit, arm));
}

static enum tacit_status restore_decisions(struct agent *agent)
{
    struct live_store *const store = agent->daemon.store;
    uint64_t next_number = 1;
    bool found;
    TACIT_TRY(live_store_decisions(store, restore_row, agent));
    TACIT_TRY(live_store_units(store, restore_unit, agent));
    TACIT_TRY(agent->daemon.status);
    TACIT_TRY(live_store_get_value(store, "next_decision", &next_number, &found));
    if (found)
        live_decisions_set_next_number(agent->decisions, next_number);
    return agent_restore_times(agent);
}

static enum tacit_status read_core(const struct live_agent_config *config, struct live_store *store,
                                   struct live_site **site, const char **objection)
{
    size_t size;
    void *bytes;
    TACIT_TRY(live_store_copy_core(store, &bytes, &size));
    enum tacit_status const status =
        size == 0
            ? TACIT_OK
            : live_site_restore(config->protocol, site, &config->site, bytes, size, objection);
    free(bytes);
    return status;
}

enum tacit_status agent_restore_core(const struct live_agent_config *config,
                                     struct live_store *store, struct live_site **site,
                                     struct tacit_error *error)
{
    char const *const directory = config->daemon.state_directory;
    const char *objection = NULL;
    enum tacit_status const status = read_core(config, store, site, &objection);
    return objection == NULL
               ? live_daemon_check_state(directory, status, error)
               : live_refuse(error, status, "%s: the file does not fit the run of this state: %s",
                             directory, objection);
}

/* The site, unless it has joined no run yet; the term, and what the envelopes say of the run. */
static enum tacit_status restore_site(struct agent *agent, struct tacit_error *error)
{
    struct live_store *const store = agent->daemon.store;
    bool found;
    uint64_t awaits = 0;
    TACIT_ASSERT(agent->site == NULL);
    TACIT_TRY(agent_restore_core(agent->config, store, &agent->site, error));
    TACIT_TRY(live_store_get_value(store, LIVE_ENVELOPES_TERM, &agent->envelopes.term, &found));
    TACIT_TRY(live_store_get_value(store, awaits_term, &awaits, &found));
    agent->awaits_term = awaits > 0;
    return agent->site == NULL
               ? TACIT_OK
               : live_envelopes_begin(&agent->envelopes, live_site_agreement(agent->site));
}

/* What may not change while there is state, by the keys of the file: it would change what was
 * promised. */
enum tacit_status agent_identify(const struct live_agent_config *config,
                                 struct live_store_identity *identity)
{
    struct live_site_config const *const site = &config->site;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return TACIT_MEMORY;
    *identity = (struct live_store_identity){
        .role = "agent", .federation = site->federation, .site = site->site};
    (void)fprintf(out, "protocol %s\npolicy.epsilon %.17g\npolicy.budget %.17g\n",
                  config->protocol->wire->name, site->epsilon, site->budget);
    (void)fprintf(out, "policy.range [%.17g, %.17g]\npolicy.rounds_max %u\n", site->lo, site->hi,
                  site->rounds_max);
    if (config->missing_after_s > 0)
        (void)fprintf(out, "missing.after_s %u\nmissing.counts_as %.17g\n", config->missing_after_s,
                      config->missing_counts_as);
    if (config->rewards_per_unit_max > 0)
        (void)fprintf(out, "policy.rewards_per_unit_max %u\n", config->rewards_per_unit_max);
    if (site->has_helper)
        (void)fprintf(out, "policy.trust.floor %llu\npolicy.trust.helper %s\n",
                      (unsigned long long)site->floor_nano, site->trust_helper);
    for (uint32_t arm = 0; arm < site->arm_count; arm++)
        (void)fprintf(out, "arms %s\n", site->arm_names[arm]);
    bool const is_whole = fclose(out) == 0;
    return live_store_identity_agree(identity, text, is_whole);
}

static struct live_decisions *new_decisions(struct agent *agent)
{
    struct live_agent_config const *const config = agent->config;
    bool const settles = config->missing_after_s > 0;
    uint64_t const wait_s = settles ? config->missing_after_s : config->wait_s;
    struct live_decisions_config const decisions = {
        .arm_count = config->site.arm_count,
        .open_max = config->open_max,
        .units_max = config->units_max,
        .wait_ms = wait_s * 1000u,
        .wait_max_ms = (settles ? wait_s : config->deadline_s) * 1000u,
        .remember_ms = (uint64_t)config->remember_s * 1000u,
        .settles = settles,
        .missing_value = config->missing_counts_as,
        .memory = agent_memory(agent),
        .salts = live_entropy(LIVE_ENTROPY_DECISIONS)};
    return live_decisions_new(&decisions);
}

static enum tacit_status restore_all(struct agent *agent, struct tacit_error *error)
{
    uint32_t const arms = agent->config->site.arm_count;
    TACIT_ASSERT(arms > 0);
    agent->decisions = new_decisions(agent);
    agent->ranking = calloc(arms, sizeof *agent->ranking);
    agent->active = calloc(TACIT_BITS_WORDS(arms), sizeof *agent->active);
    agent->ranking_is_stale = true;
    if (agent->decisions == NULL || agent->ranking == NULL || agent->active == NULL)
        return TACIT_MEMORY;
    TACIT_TRY(restore_decisions(agent));
    TACIT_TRY(agent_ledger_restore(agent));
    TACIT_TRY(restore_site(agent, error));
    return agent->site != NULL && agent->runs.all.count == 0 ? TACIT_MALFORMED : TACIT_OK;
}

enum tacit_status agent_restore(struct agent *agent, struct tacit_error *error)
{
    return live_daemon_check_state(agent->config->daemon.state_directory, restore_all(agent, error),
                                   error);
}

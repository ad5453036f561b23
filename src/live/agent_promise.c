/* The statement and the ledger of a site, for its own operator. */
#include "agent_state.h"
#include "tacit/privacy.h"
#include <stdio.h>

/* ---- The promise ----------------------------------------------------------------------------- */

static struct tacit_promise promise_of(const struct agent *agent)
{
    struct live_agent_config const *const config = agent->config;
    struct live_site_role role = {0};
    struct tacit_promise promise = {.trust = {.is_live = true}};
    config->protocol->promise(agent->site, &config->site, &promise);
    if (agent->site != NULL)
        live_site_role(agent->site, &role);
    promise.trust.has_peers = role.has_neighbours;
    promise.trust.is_in_memory = config->protocol->sums_in_memory;
    promise.trust.is_settled = config->site.settles;
    promise.trust.unit_rewards_max = config->rewards_per_unit_max;
    promise.trust.unit_rewards_most =
        agent->unit_most > UINT32_MAX ? UINT32_MAX : (uint32_t)agent->unit_most;
    promise.trust.spent_nano = agent->spent_nano;
    return promise;
}

void agent_statement(struct agent *agent, struct live_buffer *text)
{
    char bytes[TACIT_STATEMENT_BYTES];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    struct tacit_promise const promise = promise_of(agent);
    tacit_promise_state(&promise, &words);
    live_buffer_add(text, bytes);
    live_buffer_add(text, "\n");
    agent_state_refusals(agent, text);
}

/* ---- The ledger ------------------------------------------------------------------------------ */

struct list {
    const struct live_runs *runs;
    json_t *releases;
    uint64_t largest_nano;
    uint64_t sum_nano;
};

static bool add_release(void *context, const struct live_release *release)
{
    struct list *const list = context;
    uint64_t epoch;
    struct live_run_row const *const run =
        live_runs_of_release(list->runs, release->number, &epoch);
    list->sum_nano += release->epsilon_nano;
    if (release->epsilon_nano > list->largest_nano)
        list->largest_nano = release->epsilon_nano;
    return json_array_append_new(
               list->releases,
               json_pack("{s:I, s:I, s:f, s:I, s:b}", "run",
                         (json_int_t)(run == NULL ? 0 : run->number), "epoch", (json_int_t)epoch,
                         "epsilon", tacit_nano_value(release->epsilon_nano), "bytes",
                         (json_int_t)release->size, "acknowledged", release->acknowledged)) == 0;
}

/* A reward is in the releases of one run; a data set is in all of them. */
static uint64_t spent_nano(const struct agent *agent, const struct list *list,
                           const struct tacit_promise *promise)
{
    bool const adds = promise->mechanism.of == TACIT_PROTECTED_DATA_SET;
    uint64_t const rows = adds ? list->sum_nano : list->largest_nano;
    return rows > agent->spent_nano ? rows : agent->spent_nano;
}

json_t *agent_ledger(struct agent *agent)
{
    struct live_site_config const *const site = &agent->config->site;
    struct tacit_promise const promise = promise_of(agent);
    struct list list = {&agent->runs.all, json_array(), 0, 0};
    if (list.releases == NULL ||
        live_store_releases(agent->daemon.store, add_release, &list) != TACIT_OK) {
        json_decref(list.releases);
        return NULL;
    }
    char const *const of = agent->config->protocol->epsilon_of;
    char key[40];
    (void)snprintf(key, sizeof key, "epsilon_per_%.20s", of == NULL ? "reward" : of);
    bool const holds = tacit_promise_holds(&promise); /* else there is no number */
    return json_pack(
        "{s:o, s:o, s:o, s:o}", key, holds ? json_real(site->epsilon) : json_null(), "spent",
        holds ? json_real(tacit_nano_value(spent_nano(agent, &list, &promise))) : json_null(),
        "budget", holds ? json_real(site->budget) : json_null(), "releases", list.releases);
}

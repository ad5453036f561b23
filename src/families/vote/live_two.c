/* Published sums with two aggregators: rounds, in each a few pulls of each arm that is left, over
 * the sites and the hub of play in phases (decision 80). The run is one of votes. */
#include "live_keys.h"
#include "../../live/protocol.h"
#include "../live_family.h"
#include "../phased/ladder.h"
#include "../phased/live.h"
#include "../phased/settings.h"
#include <stdlib.h>
#include <string.h>

/* ---- The run ---- */

enum tacit_status vote_settle_two(struct live_hub_config *hub,
                                  const struct tacit_config_coordinator *file, double accuracy,
                                  double delta, struct tacit_error *error)
{
    struct phased_hub_settings *const made = calloc(1, sizeof *made);
    char text[PHASED_REFUSAL_BYTES];
    if (made == NULL)
        return TACIT_MEMORY;
    made->schedule = (struct tacit_phases){.rule = TACIT_PHASES_SUMS,
                                           .arm_count = hub->arm_count,
                                           .agent_count = hub->site_count,
                                           .horizon = hub->horizon,
                                           .epsilon_per_reward = hub->epsilon,
                                           .growth = TACIT_VOTE_POOL_GROWTH,
                                           .floor_milli = live_file_floor(file),
                                           .confidence = 1 - delta,
                                           .accuracy = accuracy};
    char const *const key = phased_schedule_refusal(&made->schedule, text);
    hub->settings = made;
    if (key == NULL)
        return TACIT_OK;
    live_hub_settings_free(hub);
    bool const is_long = strcmp(key, "horizon") != 0;
    return live_file_refuse(
        file, "run.horizon",
        is_long ? "there are 64 looks, which do not reach it; allowed: less" : text, error);
}

static struct tacit_wire_vote_run run_of(const struct live_hub_config *config)
{
    struct phased_hub_settings const *const settings = config->settings;
    struct tacit_phases const *const schedule = &settings->schedule;
    TACIT_ASSERT(schedule->rule == TACIT_PHASES_SUMS);
    return (struct tacit_wire_vote_run){.agent_count = schedule->agent_count,
                                        .accuracy = schedule->accuracy,
                                        .eta = tacit_phases_delta(schedule),
                                        .votes_needed = 1, /* the hub's, as of one aggregator */
                                        .tick_ms = 1,      /* a round is a tick */
                                        .block = tacit_phases_first_rung(schedule)};
}

static size_t hub_parameters(const struct live_hub_config *config, uint8_t *bytes)
{
    struct tacit_wire_vote_run const run = run_of(config);
    if (bytes != NULL)
        tacit_wire_vote_parameters_encode(&run, bytes);
    return tacit_wire_vote_parameters_bytes(&run);
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_wire_vote_run const run = run_of(config);
    (void)fprintf(out, "run.accuracy %.17g\nrun.eta %.17g\nsharing sums\nblock %llu\n",
                  run.accuracy, run.eta, (unsigned long long)run.block);
}

/* Orders say what is played. */
static enum tacit_status site_configure(struct live_site *site)
{
    struct tacit_wire_vote_run run;
    enum tacit_status const status = tacit_wire_vote_run_decode(site->announcement, &run);
    if (status != TACIT_OK)
        return status;
    struct tacit_phases const schedule = {.rule = TACIT_PHASES_SUMS,
                                          .arm_count = run.arm_count,
                                          .agent_count = run.agent_count,
                                          .horizon = run.horizon};
    return phased_site_take(site, run.run_id, run.agent, &schedule);
}

/* ---- The phased index, but for what is announced ---- */

const struct live_site_ops *vote_site_of_two(void)
{
    static struct live_site_ops ops;
    ops = phased_site_ops;
    ops.word = TACIT_WIRE_VOTE_WORD;
    ops.family = TACIT_WIRE_VOTE_FAMILY;
    ops.version = TACIT_WIRE_VOTE_VERSION;
    ops.configure = site_configure;
    return &ops;
}

const struct live_hub_ops *vote_hub_of_two(void)
{
    static struct live_hub_ops ops;
    ops = phased_hub_ops;
    ops.word = TACIT_WIRE_VOTE_WORD;
    ops.family = TACIT_WIRE_VOTE_FAMILY;
    ops.version = TACIT_WIRE_VOTE_VERSION;
    ops.parameters = hub_parameters;
    ops.describe = hub_describe;
    return &ops;
}

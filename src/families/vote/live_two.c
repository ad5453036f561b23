/* Published sums with two aggregators: rounds, in each a few pulls of each arm that is left, over
 * the sites and the hub of play in phases (decision 80). The run is one of votes. */
#include "live_keys.h"
#include "../../live/protocol.h"
#include "../live_family.h"
#include "../ladder.h"
#include "../phased/live.h"
#include <string.h>

/* ---- The run ---- */

enum tacit_status vote_settle_two(const struct live_run_file *from, double accuracy, double delta)
{
    struct live_hub_config const *const hub = from->hub;
    struct phased_hub_settings *const made = live_settings(from, sizeof *made);
    char text[LADDER_REFUSAL_BYTES];
    if (made == NULL)
        return TACIT_MEMORY;
    made->schedule = (struct tacit_phases){.rule = TACIT_PHASES_SUMS,
                                           .arm_count = hub->arm_count,
                                           .agent_count = hub->site_count,
                                           .horizon = hub->horizon,
                                           .epsilon_per_reward = hub->epsilon,
                                           .growth = TACIT_VOTE_POOL_GROWTH,
                                           .floor_milli = live_file_floor(from->file),
                                           .confidence = 1 - delta,
                                           .accuracy = accuracy};
    char const *const key = ladder_refusal(&made->schedule, text);
    if (key == NULL)
        return TACIT_OK;
    bool const is_long = strcmp(key, "horizon") != 0;
    return live_file_refuse(from, "run.horizon",
                            is_long ? "there are 64 looks, which do not reach it; allowed: less"
                                    : text);
}

/* The hub's, as of one aggregator: one vote is enough, and a round is a tick. */
static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct phased_hub_settings const *const settings = config->settings;
    struct tacit_phases const *const schedule = &settings->schedule;
    struct tacit_wire_vote_run *const made = run;
    TACIT_ASSERT(schedule->rule == TACIT_PHASES_SUMS);
    made->accuracy = schedule->accuracy;
    made->eta = tacit_phases_delta(schedule);
    made->votes_needed = 1;
    made->tick_ms = 1;
    made->block = tacit_phases_first_rung(schedule);
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_wire_vote_run run;
    hub_parameters(config, &run);
    (void)fprintf(out, "run.accuracy %.17g\nrun.eta %.17g\nsharing sums\nblock %llu\n",
                  run.accuracy, run.eta, (unsigned long long)run.block);
}

/* ---- The phased index, but for what is announced ---- */

/* Runs are announced as votes' are; the messages of a run are the phased index's. Here and below
 * each call fills the same static table alike. */
static const struct tacit_wire_protocol *wire_of_two(void)
{
    static struct tacit_wire_protocol wire;
    wire = tacit_wire_vote;
    wire.messages = phased_hub_ops.wire->messages;
    return &wire;
}

const struct live_site_ops *vote_site_of_two(void)
{
    static struct live_site_ops ops;
    ops = phased_site_ops;
    ops.wire = wire_of_two();
    return &ops;
}

const struct live_hub_ops *vote_hub_of_two(void)
{
    static struct live_hub_ops ops;
    ops = phased_hub_ops;
    ops.wire = wire_of_two();
    ops.parameters = hub_parameters;
    ops.describe = hub_describe;
    return &ops;
}

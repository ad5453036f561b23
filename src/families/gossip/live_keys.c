/* From the coordinator's file to the settings of a run; what a site's file may not say. */
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "settings.h"
#include <math.h>

struct run_keys {
    double exchange_s;
    double pulls_per_second;
    bool log_base_10;
};

static const struct config_choice bases[] = {{"e", 0}, {"10", 1}, {NULL, 0}};
static const struct config_key run_keys[] = {
    {"exchange_s", "1", "between two exchanges that a site begins, up to a quarter more",
     CONFIG_TO_REAL(run_keys, exchange_s, CONFIG_FROM(0.001, 86400))},
    {"pulls_per_second", "1000", "no site pulls faster; what a neighbour says is cut to it",
     CONFIG_TO_REAL(run_keys, pulls_per_second, CONFIG_FROM(0.001, 1e6))},
    {"log_base", "e", "of the radius (12); 10 is nearer to the paper's figures",
     CONFIG_TO_FLAG(run_keys, log_base_10, bases)},
    {.name = NULL}};
static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

/* ---- Reading --------------------------------------------------------------------------------- */

static void gossip_read_run(struct config_reader *reader, const struct config_node *run,
                            struct tacit_config_coordinator *coordinator)
{
    struct run_keys *const keys = coordinator->keys;
    config_reader_values(reader, run, "run", run_keys, keys);
    for (int i = 0; i < 2; i++)
        config_reader_idle(reader, run, i == 0 ? "run.quorum" : "run.deadline_s", true,
                           "sites that gossip wait for nobody; allowed: not to give it");
    if (coordinator->site_count < 2)
        config_reader_refuse(reader, "sites",
                             "one site has nobody to gossip with; allowed: at least 2");
    if (coordinator->horizon < 2)
        config_reader_refuse(reader, "run.horizon",
                             "the noise of 1 slot is not defined; allowed: at least 2");
}

/* ---- Settings -------------------------------------------------------------------------------- */

static enum tacit_status gossip_hub_settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    struct run_keys const *const keys = from->file->keys;
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, hub->epsilon, hub->lo,
                                                     hub->hi};
    struct tacit_gossip_rule rule;
    TACIT_ASSERT(keys != NULL && from->network != NULL); /* graphs are the only networks it takes */
    if (from->network->component_count > 1)
        return live_file_refuse(
            from, "network",
            "the graph is in pieces, between which nothing is learned; allowed: a "
            "connected graph");
    if (gossip_live_rule(&rule, hub->site_count, hub->arm_count, hub->horizon, &mechanism,
                         keys->log_base_10) != TACIT_OK)
        return live_file_refuse(
            from, "run.epsilon",
            "the share of one of the noised sums that a reward lies in is below 1e-6; "
            "allowed: a larger epsilon or a shorter horizon");
    struct gossip_hub_settings *const made = live_settings(from, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    *made = (struct gossip_hub_settings){.graph = &from->network->graph,
                                         .exchange_us = (uint64_t)llround(keys->exchange_s * 1e6),
                                         .pull_us = (uint64_t)llround(1e6 / keys->pulls_per_second),
                                         .log_base_10 = keys->log_base_10};
    return TACIT_OK;
}

const struct live_family gossip_live = {
    .file = {.name = "gossip-ucb",
             .networks = 1u << TACIT_CONFIG_GRAPH,
             .lacks_rounds = true,
             .no_missing = "a reward that waits for its time is kept on the disk, and gossip-ucb "
                           "promises that no exact reward is; allowed: not to give it",
             .run_keys = run_sections,
             .run_size = sizeof(struct run_keys),
             .read_run = gossip_read_run},
    .site = &gossip_site_ops,
    .hub = &gossip_hub_ops,
    .hub_settings = gossip_hub_settings_new};

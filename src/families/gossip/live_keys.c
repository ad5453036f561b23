/* From the coordinator's file to the settings of a run; what a site's file may not say. */
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "settings.h"
#include <math.h>
#include <stdlib.h>

#define EXCHANGE_S 1.0
#define PULLS_PER_SECOND 1000.0

static const char *const gossip_run_keys[] = {"exchange_s", "pulls_per_second", "log_base", NULL};

struct run_keys {
    double exchange_s;
    double pulls_per_second;
    bool log_base_10;
};

/* ---- Reading --------------------------------------------------------------------------------- */

/* A key that does nothing here is a misunderstanding, not something to pass over. */
static void refuse_idle_keys(struct config_reader *reader, const struct config_node *run)
{
    static const char *const idle[][2] = {{"quorum", "run.quorum"},
                                          {"deadline_s", "run.deadline_s"}};
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        if (config_node_member(run, idle[i][0]) != NULL)
            config_reader_fail(reader, config_node_member(run, idle[i][0]), idle[i][1],
                               "sites that gossip wait for nobody; allowed: not to give it");
}

static void gossip_read_run(struct config_reader *reader, const struct config_node *root,
                            struct tacit_config_coordinator *coordinator)
{
    static const struct config_choice bases[] = {{"e", 0}, {"10", 1}, {NULL, 0}};
    struct config_node const *const run = config_node_member(root, "run");
    struct run_keys *const keys = config_reader_memory(reader, sizeof *keys);
    int base = 0;
    if (keys == NULL)
        return;
    *keys = (struct run_keys){.exchange_s = EXCHANGE_S, .pulls_per_second = PULLS_PER_SECOND};
    coordinator->keys = keys;
    config_reader_number(reader, run, "run.exchange_s", false,
                         (struct config_range){0.001, 86400, false, false, false},
                         &keys->exchange_s);
    config_reader_number(reader, run, "run.pulls_per_second", false,
                         (struct config_range){0.001, 1e6, false, false, false},
                         &keys->pulls_per_second);
    config_reader_choice(reader, run, "run.log_base", false, bases, &base);
    keys->log_base_10 = base == 1;
    if (reader->status == TACIT_OK)
        refuse_idle_keys(reader, run);
    if (reader->status == TACIT_OK && coordinator->site_count < 2)
        config_reader_fail(reader, config_node_member(root, "sites"), "sites",
                           "one site has nobody to gossip with; allowed: at least 2");
    if (reader->status == TACIT_OK && coordinator->horizon < 2)
        config_reader_fail(reader, config_node_member(run, "horizon"), "run.horizon",
                           "the noise of 1 slot is not defined; allowed: at least 2");
}

static void gossip_read_policy(struct config_reader *reader, const struct config_node *root,
                               struct tacit_config_agent *agent)
{
    (void)agent;
    if (config_node_member(root, "missing") != NULL)
        config_reader_fail(reader, config_node_member(root, "missing"), "missing",
                           "a reward that waits for its time is kept on the disk, and gossip-ucb "
                           "promises that no exact reward is; allowed: not to give it");
}

/* ---- Settings -------------------------------------------------------------------------------- */

static enum tacit_status gossip_hub_settings_new(struct live_hub_config *hub,
                                                 const struct tacit_config_coordinator *file,
                                                 const struct tacit_network *network,
                                                 struct tacit_error *error)
{
    struct run_keys const *const keys = file->keys;
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, hub->epsilon, hub->lo,
                                                     hub->hi};
    struct tacit_gossip_rule rule;
    TACIT_ASSERT(keys != NULL && network != NULL); /* graphs are the only networks it takes */
    if (network->component_count > 1)
        return live_file_refuse(
            file, "network",
            "the graph is in pieces, between which nothing is learned; allowed: a "
            "connected graph",
            error);
    if (gossip_live_rule(&rule, hub->site_count, hub->arm_count, hub->horizon, &mechanism,
                         keys->log_base_10) != TACIT_OK)
        return live_file_refuse(
            file, "run.epsilon",
            "the share of one of the noised sums that a reward lies in is below 1e-6; "
            "allowed: a larger epsilon or a shorter horizon",
            error);
    struct gossip_hub_settings *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    *made = (struct gossip_hub_settings){.graph = &network->graph,
                                         .exchange_us = (uint64_t)llround(keys->exchange_s * 1e6),
                                         .pull_us = (uint64_t)llround(1e6 / keys->pulls_per_second),
                                         .log_base_10 = keys->log_base_10};
    hub->settings = made;
    return TACIT_OK;
}

/* ---- The family as the daemons know it ---- */

extern const struct live_family gossip_live;

const struct live_family gossip_live = {.file = {.word = "gossip-ucb",
                                                 .networks = 1u << TACIT_CONFIG_GRAPH,
                                                 .lacks_rounds = true,
                                                 .run_keys = gossip_run_keys,
                                                 .read_run = gossip_read_run,
                                                 .read_policy = gossip_read_policy},
                                        .site = &gossip_site_ops,
                                        .hub = &gossip_hub_ops,
                                        .hub_settings = gossip_hub_settings_new,
                                        .hub_settings_free = live_hub_settings_free};

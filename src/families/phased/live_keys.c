/* From the coordinator's file to the schedule of the hub. */
#include "live_keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../config/reader.h"
#include "plan.h"
#include "settings.h"

const char *const phased_run_keys[] = {"rule",       "arms_per_round", "growth",
                                       "confidence", "guard",          NULL};

struct run_keys {
    struct phased_keys keys;
    int rule;
};

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_rule(struct config_reader *reader, const struct config_node *run,
                      struct run_keys *keys)
{
    static const struct config_choice choices[] = {
        {"index", TACIT_PHASES_INDEX}, {"elimination", TACIT_PHASES_ELIMINATION}, {NULL, 0}};
    static const char *const of_index[] = {"arms_per_round", "guard"};
    keys->rule = TACIT_PHASES_INDEX;
    config_reader_choice(reader, run, "run.rule", false, choices, &keys->rule);
    for (int i = 0; i < 2 && keys->rule == TACIT_PHASES_ELIMINATION; i++) {
        struct config_node const *const node = config_node_member(run, of_index[i]);
        char name[40];
        (void)snprintf(name, sizeof name, "run.%s", of_index[i]);
        if (node != NULL)
            config_reader_fail(reader, node, name, "belongs to rule: index");
    }
}

void phased_read_run(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config_coordinator *coordinator)
{
    struct config_node const *const run = config_node_member(root, "run");
    struct run_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    *keys = (struct run_keys){.keys = {.growth = TACIT_PHASES_GROWTH}};
    coordinator->keys = keys;
    read_rule(reader, run, keys);
    phased_read_index(reader, run, "run", &keys->keys);
    if (coordinator->network.kind != TACIT_CONFIG_STAR)
        config_reader_fail(reader, config_node_member(root, "network"), "network.kind",
                           "play in phases is for a star; allowed: star");
}

/* ---- Settings -------------------------------------------------------------------------------- */

static enum tacit_status refuse(const struct tacit_config_coordinator *file, const char *key,
                                const char *text, struct tacit_error *error)
{
    tacit_config_error(file->document, key, text, error);
    return TACIT_INVALID;
}

/* The arm of the guard, by its name. */
static uint32_t find_arm(const struct tacit_config_coordinator *file, const char *name)
{
    uint32_t arm = 0;
    while (arm < file->arm_count && strcmp(file->arm_names[arm], name) != 0)
        arm++;
    return arm;
}

static enum tacit_status settle(const struct live_hub_config *hub,
                                const struct tacit_config_coordinator *file,
                                struct tacit_phases *schedule, struct tacit_error *error)
{
    struct run_keys const *const given = file->keys;
    struct phased_keys const *const keys = &given->keys;
    bool const drops = given->rule == TACIT_PHASES_ELIMINATION;
    uint32_t const usual = hub->arm_count < TACIT_PHASES_ARMS_PER_ROUND
                               ? (hub->arm_count < 2 ? 2 : hub->arm_count)
                               : TACIT_PHASES_ARMS_PER_ROUND;
    if (keys->arms_per_round > hub->arm_count)
        return refuse(file, "run.arms_per_round", "more than there are arms", error);
    uint32_t const guard = keys->guard == NULL ? 0 : find_arm(file, keys->guard);
    if (guard == hub->arm_count)
        return refuse(file, "run.guard.arm", "no arm of the list has this name", error);
    *schedule =
        (struct tacit_phases){.rule = drops ? TACIT_PHASES_ELIMINATION : TACIT_PHASES_INDEX,
                              .arm_count = hub->arm_count,
                              .agent_count = hub->site_count,
                              .horizon = hub->horizon,
                              .epsilon_per_reward = hub->epsilon,
                              .growth = keys->growth,
                              .arms_per_round = drops                      ? 0
                                                : keys->arms_per_round > 0 ? keys->arms_per_round
                                                                           : usual,
                              .confidence = keys->confidence,
                              .guard_arm = guard,
                              .guard_loss = keys->guard_loss};
    char text[PHASED_REFUSAL_BYTES];
    char const *const key = phased_schedule_refusal(schedule, text);
    if (key == NULL)
        return TACIT_OK;
    bool const is_growth = strcmp(key, "protocol.growth") == 0;
    return refuse(file, is_growth ? "run.growth" : "run.horizon", text, error);
}

enum tacit_status phased_hub_settings_new(struct live_hub_config *hub,
                                          const struct tacit_config_coordinator *file,
                                          const struct tacit_network *network,
                                          struct tacit_error *error)
{
    struct phased_hub_settings *const made = calloc(1, sizeof *made);
    TACIT_ASSERT(network == NULL);
    TACIT_ASSERT(file->keys != NULL);
    if (made == NULL)
        return TACIT_MEMORY;
    enum tacit_status const status = settle(hub, file, &made->schedule, error);
    if (status == TACIT_OK)
        hub->settings = made;
    else
        free(made);
    return status;
}

void phased_hub_settings_free(struct live_hub_config *hub)
{
    free((void *)(uintptr_t)hub->settings);
    hub->settings = NULL;
}

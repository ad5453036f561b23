/* From the coordinator's file to the schedule of the hub. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ladder.h"
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "plan.h"
#include "settings.h"

struct run_keys {
    struct phased_keys keys;
    const struct config_node *lists[3]; /* later, added, retired; or NULL */
};

static const char *const list_names[3] = {"later", "added", "retired"};
enum { LATER, ADDED, RETIRED };

#define NAMES_FORM .form = "a list of names of arms"
static const struct config_choice rules[] = {{"index", 0}, {"elimination", 1}, {NULL, 0}};
static const struct config_key run_keys[] = {
    {"rule", "index", "elimination is a protocol of its own", .choices = rules},
    PHASED_INDEX_KEYS,
    {"later", "", "the last of arms, which are to come; fixed", NAMES_FORM},
    {"added", "", "of these: those that have come", NAMES_FORM},
    {"retired", "", "arms that have gone for good", NAMES_FORM},
    {.name = NULL}};
static const struct config_section run_sections[] = {
    {"run", run_keys}, {"run.guard", phased_guard_keys}, {NULL, NULL}};

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_rule(struct config_reader *reader, const struct config_node *run)
{
    int rule = 0;
    config_reader_choice(reader, run, "run.rule", false, rules, &rule);
    if (rule == 1)
        config_reader_fail(reader, config_node_member(run, "rule"), "run.rule",
                           "elimination is a protocol of its own: 'protocol: elimination' with "
                           "'run.bounds: exact'; allowed: index");
}

static void read_lists(struct config_reader *reader, const struct config_node *run,
                       struct run_keys *keys)
{
    for (int i = 0; i < 3; i++) {
        char name[40];
        keys->lists[i] = config_node_member(run, list_names[i]);
        (void)snprintf(name, sizeof name, "run.%s", list_names[i]);
        bool is_good = keys->lists[i] == NULL || keys->lists[i]->kind == CONFIG_LIST;
        for (const struct config_node *node =
                 is_good && keys->lists[i] != NULL ? keys->lists[i]->first : NULL;
             node != NULL; node = node->next)
            is_good = is_good && node->kind == CONFIG_SCALAR;
        if (!is_good)
            config_reader_fail(reader, keys->lists[i], name,
                               "a list of names of arms is expected, like [left, right]");
    }
}

static void phased_read_run(struct config_reader *reader, const struct config_node *run,
                            struct tacit_config_coordinator *coordinator)
{
    struct run_keys *const keys = config_reader_memory(reader, sizeof *keys);
    if (keys == NULL)
        return;
    *keys = (struct run_keys){.keys = {.growth = TACIT_PHASES_GROWTH}};
    coordinator->keys = keys;
    read_rule(reader, run);
    phased_read_index(reader, run, "run", &keys->keys);
    read_lists(reader, run, keys);
    if (coordinator->network.kind != TACIT_CONFIG_STAR)
        config_reader_refuse(reader, "network.kind", "play in phases is for a star; allowed: star");
}

/* ---- Settings -------------------------------------------------------------------------------- */

/* The arm of the guard, by its name. */
static uint32_t find_arm(const struct tacit_config_coordinator *file, const char *name)
{
    uint32_t arm = 0;
    while (arm < file->arm_count && strcmp(file->arm_names[arm], name) != 0)
        arm++;
    return arm;
}

/* The named arms as a set. Errors: TACIT_INVALID. */
static enum tacit_status take_list(const struct tacit_config_coordinator *file, int list,
                                   uint64_t *set, struct tacit_error *error)
{
    struct run_keys const *const given = file->keys;
    char name[40];
    (void)snprintf(name, sizeof name, "run.%s", list_names[list]);
    if (given->lists[list] == NULL)
        return TACIT_OK;
    for (const struct config_node *node = given->lists[list]->first; node != NULL;
         node = node->next) {
        uint32_t const arm = find_arm(file, node->text);
        if (arm == file->arm_count)
            return live_file_refuse(file, name, "no arm of the list has this name", error);
        tacit_bits_add(set, arm);
    }
    return TACIT_OK;
}

/* Arms that come and go. Ensures: the schedule knows how many are there at the start. */
static enum tacit_status settle_changes(const struct tacit_config_coordinator *file,
                                        struct tacit_phases *schedule, uint64_t *later,
                                        uint64_t *added, uint64_t *retired,
                                        struct tacit_error *error)
{
    uint32_t const arms = file->arm_count;
    enum tacit_status status = take_list(file, LATER, later, error);
    if (status == TACIT_OK)
        status = take_list(file, ADDED, added, error);
    if (status == TACIT_OK)
        status = take_list(file, RETIRED, retired, error);
    if (status != TACIT_OK)
        return status;
    uint32_t const count = tacit_bits_count(later, arms);
    uint32_t there = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        bool const is_later = tacit_bits_has(later, arm);
        bool const was_there = !is_later || tacit_bits_has(added, arm);
        if (is_later != (arm >= arms - count))
            return live_file_refuse(file, "run.later",
                                    "arms that are to come are the last ones of 'arms'", error);
        if (tacit_bits_has(added, arm) && !is_later)
            return live_file_refuse(file, "run.added", "only arms of run.later can be added",
                                    error);
        if (tacit_bits_has(retired, arm) && !was_there)
            return live_file_refuse(file, "run.retired", "an arm that is still to come", error);
        there += was_there && !tacit_bits_has(retired, arm) ? 1 : 0;
    }
    if (count == arms || there == 0)
        return live_file_refuse(file, count == arms ? "run.later" : "run.retired",
                                "no arm would be left", error);
    if (schedule->guard_loss > 0 && tacit_bits_has(retired, schedule->guard_arm))
        return live_file_refuse(file, "run.retired", "the arm of the guard stays", error);
    schedule->first_count = count == 0 ? 0 : arms - count;
    return TACIT_OK;
}

/* What hub->settings points to, with its sets behind it. */
struct held {
    struct phased_hub_settings settings; /* first */
    uint64_t sets[];                     /* later, added, retired: W(K) each */
};

static enum tacit_status settle(const struct live_hub_config *hub,
                                const struct tacit_config_coordinator *file, struct held *made,
                                struct tacit_error *error)
{
    struct tacit_phases *const schedule = &made->settings.schedule;
    size_t const set = TACIT_BITS_WORDS(hub->arm_count);
    struct run_keys const *const given = file->keys;
    struct phased_keys const *const keys = &given->keys;
    uint32_t const usual = hub->arm_count < TACIT_PHASES_ARMS_PER_ROUND
                               ? (hub->arm_count < 2 ? 2 : hub->arm_count)
                               : TACIT_PHASES_ARMS_PER_ROUND;
    if (keys->arms_per_round > hub->arm_count)
        return live_file_refuse(file, "run.arms_per_round", "more than there are arms", error);
    uint32_t const guard = keys->guard == NULL ? 0 : find_arm(file, keys->guard);
    if (guard == hub->arm_count)
        return live_file_refuse(file, "run.guard.arm", "no arm of the list has this name", error);
    *schedule = (struct tacit_phases){.rule = TACIT_PHASES_INDEX,
                                      .arm_count = hub->arm_count,
                                      .agent_count = hub->site_count,
                                      .horizon = hub->horizon,
                                      .epsilon_per_reward = hub->epsilon,
                                      .growth = keys->growth,
                                      .arms_per_round =
                                          keys->arms_per_round > 0 ? keys->arms_per_round : usual,
                                      .confidence = keys->confidence,
                                      .guard_arm = guard,
                                      .guard_loss = keys->guard_loss,
                                      .floor_milli = live_file_floor(file)};
    enum tacit_status const status =
        settle_changes(file, schedule, made->sets, made->sets + set, made->sets + 2 * set, error);
    if (status != TACIT_OK)
        return status;
    made->settings.added = made->sets + set;
    made->settings.retired = made->sets + 2 * set;
    char text[PHASED_REFUSAL_BYTES];
    char const *const key = phased_schedule_refusal(schedule, text);
    if (key == NULL)
        return TACIT_OK;
    bool const is_growth = strcmp(key, "protocol.growth") == 0;
    return live_file_refuse(file, is_growth ? "run.growth" : "run.horizon", text, error);
}

static enum tacit_status phased_hub_settings_new(struct live_hub_config *hub,
                                                 const struct tacit_config_coordinator *file,
                                                 const struct tacit_network *network,
                                                 struct tacit_error *error)
{
    struct held *const made =
        calloc(1, sizeof *made + 3 * TACIT_BITS_WORDS(hub->arm_count) * sizeof(uint64_t));
    TACIT_ASSERT(network == NULL);
    TACIT_ASSERT(file->keys != NULL);
    if (made == NULL)
        return TACIT_MEMORY;
    enum tacit_status const status = settle(hub, file, made, error);
    if (status == TACIT_OK)
        hub->settings = &made->settings;
    else
        free(made);
    return status;
}

/* ---- The family as the daemons know it ---- */

extern const struct live_family phased_live;

const struct live_family phased_live = {.file = {.word = "phased-index",
                                                 .networks = 1u << TACIT_CONFIG_STAR,
                                                 .takes_trust = true,
                                                 .run_keys = run_sections,
                                                 .read_run = phased_read_run},
                                        .site = &phased_site_ops,
                                        .hub = &phased_hub_ops,
                                        .hub_settings = phased_hub_settings_new,
                                        .hub_settings_free = live_hub_settings_free};

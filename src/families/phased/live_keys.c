/* From the coordinator's file to the schedule of the hub. */
#include <stdio.h>
#include <string.h>
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "plan.h"

struct run_keys {
    struct phased_keys keys; /* first */
    bool eliminates;
    const char **later;
    const char **added;
    const char **retired;
    uint32_t later_count;
    uint32_t added_count;
    uint32_t retired_count;
};

#define TO_ARMS(list)                                                                              \
    CONFIG_TO_NAMES(run_keys, list, list##_count, 0, TACIT_ARMS_MAX), .form = "those of arms"
static const struct config_choice rules[] = {{"index", 0}, {"elimination", 1}, {NULL, 0}};
static const struct config_key run_keys[] = {
    {"rule", "index", "elimination is a protocol of its own",
     CONFIG_TO_FLAG(run_keys, eliminates, rules)},
    PHASED_INDEX_KEYS,
    {"later", "", "the last of arms, which are to come; fixed", TO_ARMS(later)},
    {"added", "", "of these: those that have come", TO_ARMS(added)},
    {"retired", "", "arms that have gone for good", TO_ARMS(retired)},
    {.name = NULL}};
static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

/* ---- Reading --------------------------------------------------------------------------------- */

static void phased_read_run(struct config_reader *reader, const struct config_node *run,
                            struct tacit_config_coordinator *coordinator)
{
    struct run_keys *const keys = coordinator->keys;
    config_reader_values(reader, run, "run", run_keys, keys);
    config_reader_idle(reader, run, "run.rule", keys->eliminates,
                       "elimination is a protocol of its own: 'protocol: elimination' with "
                       "'run.bounds: exact'; allowed: index");
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
static enum tacit_status parse_arms(const struct live_run_file *from, const char *key,
                                    const char *const *names, uint32_t count, uint64_t *set)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t const arm = find_arm(from->file, names[i]);
        if (arm == from->file->arm_count)
            return live_file_refuse(from, key, "no arm of the list has this name");
        tacit_bits_add(set, arm);
    }
    return TACIT_OK;
}

/* Arms that come and go. Ensures: the schedule knows how many are there at the start. */
static enum tacit_status settle_changes(const struct live_run_file *from,
                                        struct tacit_phases *schedule, uint64_t *later,
                                        uint64_t *added, uint64_t *retired)
{
    struct run_keys const *const keys = from->file->keys;
    uint32_t const arms = from->file->arm_count;
    TACIT_TRY(parse_arms(from, "run.later", keys->later, keys->later_count, later));
    TACIT_TRY(parse_arms(from, "run.added", keys->added, keys->added_count, added));
    TACIT_TRY(parse_arms(from, "run.retired", keys->retired, keys->retired_count, retired));
    uint32_t const count = tacit_bits_count(later, arms);
    uint32_t there = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        bool const is_later = tacit_bits_has(later, arm);
        bool const was_there = !is_later || tacit_bits_has(added, arm);
        if (is_later != (arm >= arms - count))
            return live_file_refuse(from, "run.later",
                                    "arms that are to come are the last ones of 'arms'");
        if (tacit_bits_has(added, arm) && !is_later)
            return live_file_refuse(from, "run.added", "only arms of run.later can be added");
        if (tacit_bits_has(retired, arm) && !was_there)
            return live_file_refuse(from, "run.retired", "an arm that is still to come");
        there += was_there && !tacit_bits_has(retired, arm) ? 1 : 0;
    }
    if (count == arms || there == 0)
        return live_file_refuse(from, count == arms ? "run.later" : "run.retired",
                                "no arm would be left");
    if (schedule->guard_loss > 0 && tacit_bits_has(retired, schedule->guard_arm))
        return live_file_refuse(from, "run.retired", "the arm of the guard stays");
    schedule->first_count = count == 0 ? 0 : arms - count;
    return TACIT_OK;
}

/* What hub->settings points to, with its sets behind it. */
struct held {
    struct phased_hub_settings settings; /* first */
    uint64_t sets[];                     /* later, added, retired: W(K) each */
};

static enum tacit_status phased_hub_settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    size_t const set = TACIT_BITS_WORDS(hub->arm_count);
    struct held *const made = live_settings(from, sizeof *made + 3 * set * sizeof(uint64_t));
    TACIT_ASSERT(from->network == NULL);
    if (made == NULL)
        return TACIT_MEMORY;
    struct tacit_phases *const schedule = &made->settings.schedule;
    struct run_keys const *const given = from->file->keys;
    struct phased_keys const *const keys = &given->keys;
    if (keys->arms_per_round > hub->arm_count)
        return live_file_refuse(from, "run.arms_per_round", "more than there are arms");
    uint32_t const guard = keys->guard == NULL ? 0 : find_arm(from->file, keys->guard);
    if (guard == hub->arm_count)
        return live_file_refuse(from, "run.guard.arm", "no arm of the list has this name");
    *schedule = phased_schedule(keys, hub->arm_count, guard);
    schedule->agent_count = hub->site_count;
    schedule->horizon = hub->horizon;
    schedule->epsilon_per_reward = hub->epsilon;
    schedule->floor_milli = live_file_floor(from->file);
    TACIT_TRY(settle_changes(from, schedule, made->sets, made->sets + set, made->sets + 2 * set));
    made->settings.added = made->sets + set;
    made->settings.retired = made->sets + 2 * set;
    return live_file_check_ladder(from, schedule);
}

const struct live_family phased_live = {.file = {.name = "phased-index",
                                                 .networks = 1u << TACIT_CONFIG_STAR,
                                                 .accepts_trust = true,
                                                 .run_keys = run_sections,
                                                 .run_size = sizeof(struct run_keys),
                                                 .read_run = phased_read_run},
                                        .site = &phased_site_ops,
                                        .hub = &phased_hub_ops,
                                        .hub_settings = phased_hub_settings_new};

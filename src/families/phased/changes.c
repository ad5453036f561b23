/* Arms that come and go in the midst of a run: protocol.changes of an experiment file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../config/reader.h"
#include "plan.h"

/* ---- Reading ---- */

static void read_change(struct config_reader *reader, const struct config_node *map,
                        const char *section, struct phased_key_change *change)
{
    static const char *const names[] = {"slot", "add", "retire", NULL};
    char key[48];
    if (map->kind != CONFIG_MAP) {
        config_reader_fail(reader, map, section, "a change is a map, like {slot: 1000, retire: 2}");
        return;
    }
    config_reader_keys(reader, map, section, names);
    (void)snprintf(key, sizeof key, "%s.slot", section);
    config_reader_u64(reader, map, key, true, 0, TACIT_HORIZON_MAX, &change->slot);
    change->is_added = config_node_member(map, "add") != NULL;
    if (change->is_added == (config_node_member(map, "retire") != NULL)) {
        config_reader_fail(reader, map, section, "what happens? allowed: either add or retire");
        return;
    }
    (void)snprintf(key, sizeof key, "%s.%s", section, change->is_added ? "add" : "retire");
    config_reader_text(reader, map, key, true, &change->arm);
}

void phased_read_changes(struct config_reader *reader, const struct config_node *protocol,
                         struct phased_keys *keys)
{
    struct config_node const *const list = config_node_member(protocol, "changes");
    config_reader_u32(reader, protocol, "protocol.arms_max", false, 1, TACIT_ARMS_MAX,
                      &keys->arms_max);
    if (list == NULL || reader->status != TACIT_OK)
        return;
    if (list->kind != CONFIG_LIST) {
        config_reader_fail(reader, list, "protocol.changes",
                           "a list of changes is expected, like [{slot: 1000, retire: 2}]");
        return;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        keys->change_count++;
    keys->changes = config_document_allocate(reader->document,
                                             (keys->change_count + 1u) * sizeof *keys->changes);
    if (keys->changes == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    struct phased_key_change *change = keys->changes;
    for (const struct config_node *node = list->first; node != NULL && reader->status == TACIT_OK;
         node = node->next, change++) {
        char section[40];
        (void)snprintf(section, sizeof section, "protocol.changes.%td", change - keys->changes);
        *change = (struct phased_key_change){.slot = 0};
        read_change(reader, node, section, change);
    }
}

/* ---- Settling ---- */

uint32_t phased_find_arm(const struct tacit_experiment *experiment, const char *name)
{
    uint32_t const arms = experiment->sim.env.arm_count;
    for (uint32_t arm = 0; arm < arms; arm++) {
        const char *const known = tacit_experiment_arm_name(experiment, arm);
        char number[16];
        (void)snprintf(number, sizeof number, "%u", arm);
        if (strcmp(name, number) == 0 || (known != NULL && strcmp(name, known) == 0))
            return arm;
    }
    return arms;
}

static int compare_slots(const void *left, const void *right)
{
    struct phased_change const *const a = left;
    struct phased_change const *const b = right;
    if (a->slot != b->slot)
        return a->slot < b->slot ? -1 : 1;
    return a->is_added == b->is_added ? 0 : (a->is_added ? -1 : 1); /* come before they go */
}

/* Each arm is there from the start or added once, and retired at most once, while it is there.
 * Result: why not; NULL: it may be. */
static const char *misfit(const struct phased_change *changes, uint32_t count, uint32_t first,
                          uint32_t arms)
{
    for (uint32_t arm = 0; arm < arms; arm++) {
        bool is_there = arm < first;
        bool is_gone = false;
        for (uint32_t i = 0; i < count; i++) {
            if (changes[i].arm != arm)
                continue;
            if (changes[i].is_added ? is_there || is_gone : !is_there)
                return "an arm is added once, and retired once, after that";
            is_there = changes[i].is_added;
            is_gone = !is_there;
        }
        if (arm >= first && !is_there && !is_gone)
            return "the arms that are added are the last ones of the environment";
    }
    return NULL;
}

/* How many are there at once at least? */
static uint32_t fewest(const struct phased_change *changes, uint32_t count, uint32_t first)
{
    uint32_t there = first;
    uint32_t least = first;
    for (uint32_t i = 0; i < count; i++) {
        there += changes[i].is_added ? 1 : 0;
        there -= changes[i].is_added ? 0 : 1;
        least = there < least ? there : least;
    }
    return least;
}

static const char *settle(const struct tacit_experiment *experiment, struct tacit_phases *schedule,
                          struct phased_change *changes)
{
    struct phased_keys const *const keys = experiment->config->keys;
    uint32_t const arms = experiment->sim.env.arm_count;
    uint32_t added = 0;
    for (uint32_t i = 0; i < keys->change_count; i++) {
        struct phased_key_change const *const key = &keys->changes[i];
        changes[i] =
            (struct phased_change){key->slot, phased_find_arm(experiment, key->arm), key->is_added};
        if (changes[i].arm == arms)
            return "no such arm; allowed: a name in the data, or a number from 0";
        if (!key->is_added && schedule->guard_loss > 0 && changes[i].arm == schedule->guard_arm)
            return "the arm of the guard stays";
        added += key->is_added ? 1 : 0;
    }
    if (added >= arms)
        return "no arm is there at the start";
    qsort(changes, keys->change_count, sizeof *changes, compare_slots);
    char const *const wrong = misfit(changes, keys->change_count, arms - added, arms);
    if (wrong != NULL)
        return wrong;
    if (fewest(changes, keys->change_count, arms - added) == 0)
        return "one arm at least must be there at any time";
    schedule->first_count = arms - added;
    return NULL;
}

enum tacit_status phased_settle_changes(struct tacit_experiment *experiment,
                                        struct tacit_phases *schedule,
                                        struct phased_change **changes, struct tacit_error *error)
{
    struct phased_keys const *const keys = experiment->config->keys;
    uint32_t const arms = experiment->sim.env.arm_count;
    *changes = NULL;
    if (keys->arms_max > 0 && keys->arms_max < arms)
        return tacit_experiment_refuse(experiment, "protocol.arms_max",
                                       "fewer than the environment has; allowed: all arms that "
                                       "may ever be announced",
                                       error);
    schedule->arm_count = keys->arms_max > 0 ? keys->arms_max : arms;
    if (keys->change_count == 0 && schedule->arm_count == arms)
        return TACIT_OK;
    *changes = calloc(keys->change_count + 1u, sizeof **changes);
    if (*changes == NULL)
        return TACIT_MEMORY;
    char const *const wrong = settle(experiment, schedule, *changes);
    if (wrong == NULL)
        return TACIT_OK;
    free(*changes);
    *changes = NULL;
    return tacit_experiment_refuse(experiment, "protocol.changes", wrong, error);
}

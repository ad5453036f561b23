/* Arms that come and go in the midst of a run: protocol.changes of an experiment file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

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

/* Fills the changes, by slot, and schedule->first_count. Result: why not; NULL: all is well. */
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

enum tacit_status phased_settle_changes(const struct tacit_experiment *experiment,
                                        struct tacit_phases *schedule,
                                        struct phased_change *changes, struct tacit_error *error)
{
    struct phased_keys const *const keys = experiment->config->keys;
    uint32_t const arms = experiment->sim.env.arm_count;
    if (keys->arms_max > 0 && keys->arms_max < arms)
        return tacit_experiment_refuse(experiment, "protocol.arms_max",
                                       "fewer than the environment has; allowed: all arms that "
                                       "may ever be announced",
                                       error);
    schedule->arm_count = keys->arms_max > 0 ? keys->arms_max : arms;
    if (keys->change_count == 0 && schedule->arm_count == arms)
        return TACIT_OK;
    char const *const wrong = settle(experiment, schedule, changes);
    return wrong == NULL ? TACIT_OK
                         : tacit_experiment_refuse(experiment, "protocol.changes", wrong, error);
}

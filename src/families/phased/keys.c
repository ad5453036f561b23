/* The keys of play in phases in the section `protocol`, and in `run` of a coordinator's file. */
#include <stdio.h>
#include <string.h>
#include "../../config/reader.h"
#include "plan.h"

#define CHANGES_MAX (2 * TACIT_ARMS_MAX) /* each arm comes and goes */
#define INSIDE                                                                                     \
    {                                                                                              \
        0, 1, true, false, true                                                                    \
    }

const struct config_key phased_guard_keys[] = {
    {"arm", NULL, "its name in the data, or its number from 0", CONFIG_TO_TEXT(phased_keys, guard)},
    {"loss", NULL,
     "so much of the range a pull: the whole play never falls behind that arm by more, at any slot",
     CONFIG_TO_REAL(phased_keys, guard_loss, INSIDE)},
    {.name = NULL}};

static const struct config_key change_keys[] = {
    {"slot", NULL, "of every site", CONFIG_TO_U64(phased_key_change, slot, 0, TACIT_HORIZON_MAX)},
    {"add", "", "an arm comes: one of the last of the environment, not there before",
     .form = "an arm's name or number"},
    {"retire", "", "an arm goes for good", .form = "an arm's name or number"},
    {.name = NULL}};

static const struct config_key index_keys[] = {
    {"kind", NULL, "", .form = "phased-index"},
    PHASED_INDEX_KEYS,
    {"arms_max", "(all arms)", "K of the bounds: all arms that may ever be announced",
     CONFIG_TO_U32(phased_keys, arms_max, 1, TACIT_ARMS_MAX)},
    {"changes", "", "arms that come and go", .form = "a list, like [{slot: 1000, retire: 2}]"},
    {.name = NULL}};

const struct config_section phased_sections[] = {
    {"protocol", index_keys}, {"protocol.changes.N", change_keys}, {NULL, NULL}};

static void read_change(struct config_reader *reader, const struct config_node *map,
                        const char *section, struct phased_key_change *change)
{
    char key[48];
    config_reader_table(reader, map, section, change_keys, change);
    change->is_added = config_node_member(map, "add") != NULL;
    if (change->is_added == (config_node_member(map, "retire") != NULL)) {
        config_reader_fail(reader, map, section, "what happens? allowed: either add or retire");
        return;
    }
    (void)snprintf(key, sizeof key, "%s.%s", section, change->is_added ? "add" : "retire");
    config_reader_text(reader, map, key, true, &change->arm);
}

static void read_changes(struct config_reader *reader, const struct config_node *protocol,
                         struct phased_keys *keys)
{
    struct config_node const *const list = config_node_member(protocol, "changes");
    uint32_t at = 0;
    if (list == NULL)
        return;
    keys->changes =
        config_reader_list(reader, protocol, "protocol.changes", "{slot: 1000, retire: 2}",
                           CHANGES_MAX, sizeof *keys->changes, &keys->change_count);
    for (const struct config_node *node = keys->changes == NULL ? NULL : list->first; node != NULL;
         node = node->next, at++) {
        char section[40];
        (void)snprintf(section, sizeof section, "protocol.changes.%u", at);
        read_change(reader, node, section, &keys->changes[at]);
    }
}

void phased_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct phased_keys *const keys = config->keys;
    config_reader_table(reader, protocol, "protocol", index_keys, keys);
    read_changes(reader, protocol, keys);
}

struct tacit_phases phased_schedule(const struct phased_keys *keys, uint32_t arms, uint32_t guard)
{
    uint32_t const usual = arms < TACIT_PHASES_ARMS_PER_ROUND ? arms : TACIT_PHASES_ARMS_PER_ROUND;
    return (struct tacit_phases){.rule = TACIT_PHASES_INDEX,
                                 .arm_count = arms,
                                 .growth = keys->growth,
                                 .arms_per_round =
                                     keys->arms_per_round > 0 ? keys->arms_per_round : usual,
                                 .confidence = keys->confidence,
                                 .guard_arm = guard,
                                 .guard_loss = keys->guard_loss};
}

void phased_look(const struct tacit_phased_judge_view *judge, double confidence, uint32_t arm_count,
                 double *lowers, double *uppers, uint64_t *left)
{
    double bar = 0;
    memset(left, 0, TACIT_BITS_WORDS(arm_count) * sizeof *left);
    for (uint32_t arm = 0; arm < arm_count; arm++) {
        struct tacit_bounds_interval const interval =
            tacit_phased_judge_interval(judge->judge, arm, confidence);
        lowers[arm] = interval.lower;
        uppers[arm] = interval.upper;
        if (judge->standings[arm] == TACIT_PHASED_PRESENT && lowers[arm] > bar)
            bar = lowers[arm];
    }
    for (uint32_t arm = 0; arm < arm_count; arm++)
        if (judge->standings[arm] == TACIT_PHASED_PRESENT &&
            (judge->decided ? arm == judge->leader : uppers[arm] >= bar))
            tacit_bits_add(left, arm);
}

/* The keys of play in phases in the section `protocol`, and in `run` of a coordinator's file. */
#include <stdio.h>
#include "../../config/reader.h"
#include "plan.h"

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

const struct config_section phased_sections[] = {{"protocol", index_keys},
                                                 {"protocol.guard", phased_guard_keys},
                                                 {"protocol.changes.N", change_keys},
                                                 {NULL, NULL}};

void phased_read_growth(struct config_reader *reader, const struct config_node *protocol,
                        const char *section, double *growth, double *confidence)
{
    char key[40];
    *growth = TACIT_PHASES_GROWTH;
    *confidence = 0;
    (void)snprintf(key, sizeof key, "%s.growth", section);
    config_reader_number(reader, protocol, key, false, (struct config_range)PHASED_GROWTH_RANGE,
                         growth);
    (void)snprintf(key, sizeof key, "%s.confidence", section);
    config_reader_number(reader, protocol, key, false, (struct config_range)PHASED_CONFIDENCE_RANGE,
                         confidence);
}

static void read_guard(struct config_reader *reader, const struct config_node *map,
                       const char *section, struct phased_keys *keys)
{
    char key[40];
    (void)snprintf(key, sizeof key, "%s.guard", section);
    struct config_node const *const guard = config_reader_map(reader, map, key, false);
    if (guard != NULL)
        config_reader_table(reader, guard, key, phased_guard_keys, keys);
}

void phased_read_index(struct config_reader *reader, const struct config_node *map,
                       const char *section, struct phased_keys *keys)
{
    char key[40];
    (void)snprintf(key, sizeof key, "%s.arms_per_round", section);
    config_reader_u32(reader, map, key, false, 2, TACIT_ARMS_MAX, &keys->arms_per_round);
    phased_read_growth(reader, map, section, &keys->growth, &keys->confidence);
    read_guard(reader, map, section, keys);
}

static void read_change(struct config_reader *reader, const struct config_node *map,
                        const char *section, struct phased_key_change *change)
{
    char key[48];
    if (map->kind != CONFIG_MAP) {
        config_reader_fail(reader, map, section, "a change is a map, like {slot: 1000, retire: 2}");
        return;
    }
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
    if (list == NULL || reader->status != TACIT_OK)
        return;
    if (list->kind != CONFIG_LIST) {
        config_reader_fail(reader, list, "protocol.changes",
                           "a list of changes is expected, like [{slot: 1000, retire: 2}]");
        return;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        keys->change_count++;
    keys->changes = config_reader_memory(reader, (keys->change_count + 1u) * sizeof *keys->changes);
    if (keys->changes == NULL)
        return;
    struct phased_key_change *change = keys->changes;
    for (const struct config_node *node = list->first; node != NULL && reader->status == TACIT_OK;
         node = node->next, change++) {
        char section[40];
        (void)snprintf(section, sizeof section, "protocol.changes.%td", change - keys->changes);
        *change = (struct phased_key_change){.slot = 0};
        read_change(reader, node, section, change);
    }
}

void phased_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct phased_keys *const keys = config->keys;
    keys->growth = TACIT_PHASES_GROWTH;
    config_reader_table(reader, protocol, "protocol", index_keys, keys);
    phased_read_index(reader, protocol, "protocol", keys);
    read_changes(reader, protocol, keys);
}

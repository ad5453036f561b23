/* The keys of play in phases in the section `protocol`, and in `run` of a coordinator's file. */
#include <stdio.h>
#include "../../config/reader.h"
#include "plan.h"

static const char *const index_keys[] = {"kind",  "arms_per_round", "growth",  "confidence",
                                         "guard", "arms_max",       "changes", NULL};

void phased_read_growth(struct config_reader *reader, const struct config_node *protocol,
                        const char *section, double *growth, double *confidence)
{
    struct config_range const range = {.min = 0.5, .max = 1, .max_is_open = true};
    char key[40];
    *growth = TACIT_PHASES_GROWTH;
    *confidence = 0;
    (void)snprintf(key, sizeof key, "%s.growth", section);
    config_reader_number(reader, protocol, key, false,
                         (struct config_range){1, 4, true, false, false}, growth);
    (void)snprintf(key, sizeof key, "%s.confidence", section);
    config_reader_number(reader, protocol, key, false, range, confidence);
}

static void read_guard(struct config_reader *reader, const struct config_node *map,
                       const char *section, struct phased_keys *keys)
{
    static const char *const names[] = {"arm", "loss", NULL};
    char key[40];
    (void)snprintf(key, sizeof key, "%s.guard", section);
    struct config_node const *const guard = config_reader_map(reader, map, key, false);
    if (guard == NULL)
        return;
    config_reader_keys(reader, guard, key, names);
    (void)snprintf(key, sizeof key, "%s.guard.arm", section);
    config_reader_text(reader, guard, key, true, &keys->guard);
    (void)snprintf(key, sizeof key, "%s.guard.loss", section);
    config_reader_number(
        reader, guard, key, true,
        (struct config_range){.min = 0, .max = 1, .min_is_open = true, .max_is_open = true},
        &keys->guard_loss);
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

static void read_changes(struct config_reader *reader, const struct config_node *protocol,
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

void phased_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct phased_keys *const keys = config_reader_memory(reader, sizeof *keys);
    if (keys == NULL)
        return;
    *keys = (struct phased_keys){.growth = TACIT_PHASES_GROWTH};
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", index_keys);
    phased_read_index(reader, protocol, "protocol", keys);
    read_changes(reader, protocol, keys);
}

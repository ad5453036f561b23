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

void phased_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct phased_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    *keys = (struct phased_keys){.growth = TACIT_PHASES_GROWTH};
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", index_keys);
    phased_read_index(reader, protocol, "protocol", keys);
    phased_read_changes(reader, protocol, keys);
}

/* The keys of epoch elimination in the section `protocol`. */
#include <string.h>
#include "../../config/reader.h"
#include "plan.h"

/* A key that does nothing here is a misunderstanding, not something to pass over. */
static void refuse_idle_keys(struct config_reader *reader, const struct config_node *protocol,
                             const struct tacit_config *config, const struct elim_keys *keys)
{
    struct config_node const *const participation = config_node_member(protocol, "participation");
    struct config_node const *const gap = config_node_member(protocol, "gap");
    struct config_node const *const weights = config_node_member(protocol, "component_weights");
    struct config_node const *const delay = config_node_member(protocol, "sink_delay");
    if (keys->participation < 1 && config->network.kind != TACIT_CONFIG_STAR)
        config_reader_fail(reader, participation, "protocol.participation",
                           "below 1 belongs to network kind: star; allowed for others: 1");
    if (gap != NULL && keys->round_limit == 0)
        config_reader_fail(reader, gap, "protocol.gap",
                           "it has a meaning with rounds only; allowed: give rounds too, or "
                           "neither");
    if (weights != NULL && config->network.kind != TACIT_CONFIG_HYBRID)
        config_reader_fail(reader, weights, "protocol.component_weights",
                           "belongs to network kind: hybrid");
    if (delay != NULL && config->network.kind != TACIT_CONFIG_HYBRID)
        config_reader_fail(reader, delay, "protocol.sink_delay", "belongs to network kind: hybrid");
}

void elim_read_keys(struct config_reader *reader, const struct config_node *root,
                    struct tacit_config *config)
{
    static const char *const names[] = {
        "kind",       "rounds", "participation", "gap",        "component_weights",
        "sink_delay", "bounds", "growth",        "confidence", NULL};
    static const struct config_choice weights[] = {{"agents", 0}, {"components", 1}, {NULL, 0}};
    static const struct config_choice delays[] = {{"farthest", 0}, {"one-less", 1}, {NULL, 0}};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct elim_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    int weight = 0;
    int delay = 0;
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    *keys = (struct elim_keys){.participation = 1};
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", names);
    config_reader_choice(reader, protocol, "protocol.component_weights", false, weights, &weight);
    keys->components_alike = weight == 1;
    config_reader_choice(reader, protocol, "protocol.sink_delay", false, delays, &delay);
    keys->reports_at_once = delay == 1;
    struct config_node const *const rounds = config_node_member(protocol, "rounds");
    if (rounds != NULL && (rounds->kind != CONFIG_SCALAR || strcmp(rounds->text, "none") != 0))
        config_reader_u32(reader, protocol, "protocol.rounds", false, 1, TACIT_ELIM_EPOCHS_MAX - 1,
                          &keys->round_limit);
    config_reader_number(reader, protocol, "protocol.participation", false,
                         (struct config_range){0, 1, true, false, false}, &keys->participation);
    config_reader_number(reader, protocol, "protocol.gap", false,
                         (struct config_range){0, 1, true, false, false}, &keys->gap);
    if (reader->status == TACIT_OK)
        refuse_idle_keys(reader, protocol, config, keys);
    elim_read_exact(reader, root, config, keys);
}

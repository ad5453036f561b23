/* The keys of epoch elimination in the section `protocol`. */
#include <string.h>
#include "../../config/reader.h"
#include "plan.h"

/* A key that does nothing here is a misunderstanding, not something to pass over. */
static void refuse_idle_keys(struct config_reader *reader, const struct config_node *protocol,
                             const struct tacit_config *config, const struct elim_keys *keys)
{
    bool const is_hybrid = config->network.kind == TACIT_CONFIG_HYBRID;
    config_reader_idle(reader, protocol, "protocol.participation",
                       keys->participation < 1 && config->network.kind != TACIT_CONFIG_STAR,
                       "below 1 belongs to network kind: star; allowed for others: 1");
    config_reader_idle(reader, protocol, "protocol.gap", keys->round_limit == 0,
                       "it has a meaning with rounds only; allowed: give rounds too, or neither");
    config_reader_idle(reader, protocol, "protocol.component_weights", !is_hybrid,
                       "belongs to network kind: hybrid");
    config_reader_idle(reader, protocol, "protocol.sink_delay", !is_hybrid,
                       "belongs to network kind: hybrid");
}

void elim_read_keys(struct config_reader *reader, const struct config_node *root,
                    struct tacit_config *config)
{
    static const struct config_choice weights[] = {{"agents", 0}, {"components", 1}, {NULL, 0}};
    static const struct config_choice delays[] = {{"farthest", 0}, {"one-less", 1}, {NULL, 0}};
    static const struct config_key table[] = {
        CONFIG_OTHER_KEY("kind"),
        CONFIG_OTHER_KEY("rounds"),
        CONFIG_REAL_KEY(elim_keys, "participation", false, participation,
                        {0, 1, true, false, false}),
        CONFIG_REAL_KEY(elim_keys, "gap", false, gap, {0, 1, true, false, false}),
        CONFIG_FLAG_KEY(elim_keys, "component_weights", false, components_alike, weights),
        CONFIG_FLAG_KEY(elim_keys, "sink_delay", false, reports_at_once, delays),
        CONFIG_OTHER_KEY("bounds"),
        CONFIG_OTHER_KEY("growth"),
        CONFIG_OTHER_KEY("confidence"),
        CONFIG_OTHER_KEY(NULL)};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct elim_keys *const keys = config_reader_memory(reader, sizeof *keys);
    if (keys == NULL)
        return;
    keys->participation = 1;
    config->keys = keys;
    config_reader_table(reader, protocol, "protocol", table, keys);
    struct config_node const *const rounds = config_node_member(protocol, "rounds");
    if (rounds != NULL && (rounds->kind != CONFIG_SCALAR || strcmp(rounds->text, "none") != 0))
        config_reader_u32(reader, protocol, "protocol.rounds", false, 1, TACIT_ELIM_EPOCHS_MAX - 1,
                          &keys->round_limit);
    if (reader->status == TACIT_OK)
        refuse_idle_keys(reader, protocol, config, keys);
    elim_read_exact(reader, root, config, keys);
}

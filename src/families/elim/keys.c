/* The keys of epoch elimination in the section `protocol`. */
#include <string.h>
#include "../../config/reader.h"
#include "../phased/plan.h"
#include "plan.h"

static const struct config_choice weights[] = {{"agents", 0}, {"components", 1}, {NULL, 0}};
static const struct config_choice delays[] = {{"farthest", 0}, {"one-less", 1}, {NULL, 0}};
#define SHARE CONFIG_ABOVE(0, 1)

static const struct config_key protocol_keys[] = {
    {"kind", NULL, "", .form = "elimination"},
    {"rounds", "(none)", "at most so many rounds R", .form = "1 to 9,999, or none"},
    {"participation", "1", "share of the agents that report in a round; below 1 over a star only",
     CONFIG_TO_REAL(elim_keys, participation, SHARE)},
    {"gap", "(the true smallest gap)", "with rounds, and refused without: Delta",
     CONFIG_TO_REAL(elim_keys, gap, SHARE)},
    {"component_weights", "agents",
     "hybrid only: the mean over all agents, or of components (the paper's mean of means)",
     CONFIG_TO_FLAG(elim_keys, components_alike, weights)},
    {"sink_delay", "farthest",
     "hybrid only: slots in which agents wait while sinks collect. farthest: the largest distance "
     "to a sink (the paper's Alg. 4 l. 5, 6); one-less (its l. 4, and Theorem 4): the first hop is "
     "in the slot in which exploration ends, as over a graph",
     CONFIG_TO_FLAG(elim_keys, reports_at_once, delays)},
    {"bounds", "paper",
     "exact: bounds that are exact for sums with noise, whose releases climb a ladder (ours); any "
     "network, modes sound and none, without rounds",
     .choices = elim_bounds},
    {"growth", "2", "with bounds: exact: each release makes an arm's pulls so many times as many",
     .range = PHASED_GROWTH_RANGE},
    {"confidence", "(1 - 1/horizon)",
     "with bounds: exact: arms go, and the answer holds, with this probability",
     .range = PHASED_CONFIDENCE_RANGE},
    {.name = NULL}};

const struct config_section elim_sections[] = {{"protocol", protocol_keys}, {NULL, NULL}};

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
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct elim_keys *const keys = config->keys;
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    struct config_node const *const rounds = config_node_member(protocol, "rounds");
    if (rounds != NULL && (rounds->kind != CONFIG_SCALAR || strcmp(rounds->text, "none") != 0))
        config_reader_u32(reader, protocol, "protocol.rounds", false, 1, TACIT_ELIM_EPOCHS_MAX - 1,
                          &keys->round_limit);
    if (reader->status == TACIT_OK)
        refuse_idle_keys(reader, protocol, config, keys);
    elim_read_exact(reader, root, config, keys);
}

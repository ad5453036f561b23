/* The keys of epoch elimination in the section `protocol`. */
#include <stdio.h>
#include <string.h>
#include "../../config/reader.h"
#include "../ladder.h"
#include "plan.h"

static const struct config_choice weights[] = {{"agents", 0}, {"components", 1}, {NULL, 0}};
static const struct config_choice delays[] = {{"farthest", 0}, {"one-less", 1}, {NULL, 0}};
const struct config_choice elim_bounds[] = {{"paper", 0}, {"exact", 1}, {NULL, 0}};

static const struct config_key protocol_keys[] = {
    {"kind", NULL, "", .form = "elimination"},
    {"rounds", "(none)", "at most so many rounds R", .form = "1 to 9,999, or none"},
    {"participation", "1", "share of the agents that report in a round; below 1 over a star only",
     CONFIG_TO_REAL(elim_keys, participation, ELIM_SHARE_RANGE)},
    {"gap", "(the true smallest gap)", "with rounds, and refused without: Delta",
     CONFIG_TO_REAL(elim_keys, gap, ELIM_SHARE_RANGE)},
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
     CONFIG_TO_FLAG(elim_keys, is_exact, elim_bounds)},
    {"growth", "2", "with bounds: exact: each release makes an arm's pulls so many times as many",
     CONFIG_TO_REAL(elim_keys, growth, LADDER_GROWTH_RANGE)},
    {"confidence", "(1 - 1/horizon)",
     "with bounds: exact: arms go, and the answer holds, with this probability",
     CONFIG_TO_REAL(elim_keys, confidence, LADDER_CONFIDENCE_RANGE)},
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

void elim_read_rounds(struct config_reader *reader, const struct config_node *map,
                      const char *section, struct elim_keys *keys)
{
    struct config_node const *const rounds = config_node_member(map, "rounds");
    char key[40];
    (void)snprintf(key, sizeof key, "%s.rounds", section);
    if (rounds != NULL && (rounds->kind != CONFIG_SCALAR || strcmp(rounds->text, "none") != 0))
        config_reader_u32(reader, map, key, false, 1, TACIT_ELIM_EPOCHS_MAX - 1,
                          &keys->round_limit);
}

void elim_check_bounds(struct config_reader *reader, const struct config_node *map,
                       const char *section, const struct elim_keys *keys)
{
    bool const is_exact = keys->is_exact;
    struct {
        const char *name;
        bool is_idle;
        const char *why;
    } const checks[] = {{"growth", !is_exact, "belongs to bounds: exact"},
                        {"confidence", !is_exact, "belongs to bounds: exact"},
                        {"rounds", is_exact && keys->round_limit > 0,
                         "exact bounds know no round limit; allowed: none"},
                        {"participation", is_exact && keys->participation < 1,
                         "exact bounds are for all agents; allowed: 1"}};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        char key[40];
        (void)snprintf(key, sizeof key, "%s.%s", section, checks[i].name);
        config_reader_idle(reader, map, key, checks[i].is_idle, checks[i].why);
    }
}

/* EXACT-BOUNDS 4.6. */
static void refuse_beside_exact(struct config_reader *reader, const struct config_node *root,
                                const struct tacit_config *config, const struct elim_keys *keys)
{
    config_reader_idle(reader, config_node_member(root, "protocol"), "protocol.component_weights",
                       keys->components_alike,
                       "exact bounds are for the mean over all agents; allowed: agents");
    if (config->privacy == TACIT_PRIVACY_PAPER)
        config_reader_fail(reader, config_node_member(root, "privacy"), "privacy.mode",
                           "bounds: exact counts in integers, with epsilon per reward; allowed: "
                           "sound, none");
}

void elim_read_keys(struct config_reader *reader, const struct config_node *root,
                    struct tacit_config *config)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct elim_keys *const keys = config->keys;
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    elim_read_rounds(reader, protocol, "protocol", keys);
    if (reader->status == TACIT_OK)
        refuse_idle_keys(reader, protocol, config, keys);
    elim_check_bounds(reader, protocol, "protocol", keys);
    if (keys->is_exact)
        refuse_beside_exact(reader, root, config, keys);
}

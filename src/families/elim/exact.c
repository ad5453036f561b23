/* Elimination with exact bounds (`bounds: exact`, EXACT-BOUNDS 4; ours): its keys. */
#include "plan.h"
#include <stdio.h>
#include "../../config/reader.h"
#include "../phased/plan.h"

/* ---- Keys ---- */

const struct config_choice elim_bounds[] = {{"paper", 0}, {"exact", 1}, {NULL, 0}};

static void refuse_with_paper(struct config_reader *reader, const struct config_node *map,
                              const char *section)
{
    static const char *const names[] = {"growth", "confidence"};
    char key[40];
    for (int i = 0; i < 2; i++) {
        struct config_node const *const node = config_node_member(map, names[i]);
        (void)snprintf(key, sizeof key, "%s.%s", section, names[i]);
        if (node != NULL)
            config_reader_fail(reader, node, key, "belongs to bounds: exact");
    }
}

void elim_read_bounds(struct config_reader *reader, const struct config_node *map,
                      const char *section, struct elim_keys *keys)
{
    char key[40];
    int exact = 0;
    (void)snprintf(key, sizeof key, "%s.bounds", section);
    config_reader_choice(reader, map, key, false, elim_bounds, &exact);
    keys->is_exact = exact == 1;
    if (keys->is_exact)
        phased_read_growth(reader, map, section, &keys->growth, &keys->confidence);
    else
        refuse_with_paper(reader, map, section);
}

void elim_refuse_beside_exact(struct config_reader *reader, const struct config_node *map,
                              const char *section, uint32_t round_limit, double participation)
{
    char key[40];
    (void)snprintf(key, sizeof key, "%s.rounds", section);
    if (round_limit > 0)
        config_reader_fail(reader, config_node_member(map, "rounds"), key,
                           "exact bounds know no round limit; allowed: none");
    (void)snprintf(key, sizeof key, "%s.participation", section);
    if (participation < 1)
        config_reader_fail(reader, config_node_member(map, "participation"), key,
                           "exact bounds are for all agents; allowed: 1");
}

static void refuse_with_exact(struct config_reader *reader, const struct config_node *root,
                              const struct tacit_config *config, const struct elim_keys *keys)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    elim_refuse_beside_exact(reader, protocol, "protocol", keys->round_limit, keys->participation);
    if (keys->components_alike)
        config_reader_fail(reader, config_node_member(protocol, "component_weights"),
                           "protocol.component_weights",
                           "exact bounds are for the mean over all agents; allowed: agents");
    if (config->privacy == TACIT_PRIVACY_PAPER)
        config_reader_fail(reader, config_node_member(root, "privacy"), "privacy.mode",
                           "bounds: exact counts in integers, with epsilon per reward; allowed: "
                           "sound, none");
}

void elim_read_exact(struct config_reader *reader, const struct config_node *root,
                     const struct tacit_config *config, struct elim_keys *keys)
{
    elim_read_bounds(reader, config_node_member(root, "protocol"), "protocol", keys);
    if (keys->is_exact)
        refuse_with_exact(reader, root, config, keys);
}

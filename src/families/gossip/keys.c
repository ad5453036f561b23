/* The keys of gossip UCB in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"
#include <stdio.h>

/* Each way to release has keys of its own. */
static void refuse_foreign_keys(struct config_reader *reader, const struct config_node *protocol,
                                const struct gossip_keys *keys, const struct tacit_config *config)
{
    static const char *const of_doubling[] = {"arms_per_round", "quorum"};
    struct config_node const *const log_base = config_node_member(protocol, "log_base");
    if (reader->status == TACIT_OK && (keys->doubles || keys->each) && log_base != NULL)
        config_reader_fail(reader, log_base, "protocol.log_base",
                           "belongs to (12), and so to trees; allowed: release: tree");
    if (reader->status == TACIT_OK && keys->each && config->privacy != TACIT_PRIVACY_PAPER)
        config_reader_fail(reader, config_node_member(protocol, "release"), "protocol.release",
                           "each is the paper's naive extension (Sec. 4.1); allowed: privacy mode "
                           "paper");
    for (size_t i = 0; i < 2 && reader->status == TACIT_OK && !keys->doubles; i++) {
        struct config_node const *const node = config_node_member(protocol, of_doubling[i]);
        char key[64];
        (void)snprintf(key, sizeof key, "protocol.%s", of_doubling[i]);
        if (node != NULL)
            config_reader_fail(reader, node, key,
                               "belongs to releases that double; allowed: release: doubling");
    }
    if (reader->status == TACIT_OK && keys->doubles && config->privacy == TACIT_PRIVACY_PAPER)
        config_reader_fail(reader, config_node_member(protocol, "release"), "protocol.release",
                           "doubling is no paper's; allowed: privacy mode sound or none");
    if (reader->status == TACIT_OK && keys->quorum > config->agent_count)
        config_reader_fail(reader, config_node_member(protocol, "quorum"), "protocol.quorum",
                           "there are fewer agents; allowed: up to their number");
}

void gossip_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    static const char *const names[] = {"kind",           "release", "log_base",
                                        "arms_per_round", "quorum",  NULL};
    static const struct config_choice releases[] = {
        {"tree", 0}, {"doubling", 1}, {"each", 2}, {NULL, 0}};
    static const struct config_choice bases[] = {{"e", 0}, {"10", 1}, {NULL, 0}};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct gossip_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    int base = 0;
    int release = 0;
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", names);
    config_reader_choice(reader, protocol, "protocol.release", false, releases, &release);
    config_reader_choice(reader, protocol, "protocol.log_base", false, bases, &base);
    *keys = (struct gossip_keys){
        .doubles = release == 1, .each = release == 2, .log_base_10 = base == 1};
    config_reader_u32(reader, protocol, "protocol.arms_per_round", false, 2, TACIT_ARMS_MAX,
                      &keys->arms_per_round);
    config_reader_u32(reader, protocol, "protocol.quorum", false, 1, TACIT_AGENTS_MAX,
                      &keys->quorum);
    refuse_foreign_keys(reader, protocol, keys, config);
    if (reader->status == TACIT_OK && base == 1 && config->privacy == TACIT_PRIVACY_NONE)
        config_reader_fail(reader, config_node_member(protocol, "log_base"), "protocol.log_base",
                           "changes the confidence radius with noise only; allowed: privacy mode "
                           "paper or sound");
    if (reader->status == TACIT_OK && config->agent_count < 2)
        config_reader_fail(reader, config_node_member(root, "agents"), "agents",
                           "one agent has nobody to gossip with; allowed: at least 2");
    if (reader->status == TACIT_OK && config->horizon < 2)
        config_reader_fail(reader, config_node_member(root, "horizon"), "horizon",
                           "the noise of 1 slot is not defined; allowed: at least 2");
}

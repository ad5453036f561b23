/* The keys of gossip UCB in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"

enum release { RELEASE_TREE, RELEASE_DOUBLING, RELEASE_EACH };

/* Each way to release has keys of its own. */
static void refuse_foreign_keys(struct config_reader *reader, const struct config_node *protocol,
                                const struct gossip_keys *keys, const struct tacit_config *config)
{
    static const char of_doubling[] = "belongs to releases that double; allowed: release: doubling";
    bool const is_paper = config->privacy == TACIT_PRIVACY_PAPER;
    config_reader_idle(reader, protocol, "protocol.log_base", keys->doubles || keys->each,
                       "belongs to (12), and so to trees; allowed: release: tree");
    config_reader_idle(reader, protocol, "protocol.release", keys->each && !is_paper,
                       "each is the paper's naive extension (Sec. 4.1); allowed: privacy mode "
                       "paper");
    config_reader_idle(reader, protocol, "protocol.arms_per_round", !keys->doubles, of_doubling);
    config_reader_idle(reader, protocol, "protocol.quorum", !keys->doubles, of_doubling);
    config_reader_idle(reader, protocol, "protocol.release", keys->doubles && is_paper,
                       "doubling is no paper's; allowed: privacy mode sound or none");
    config_reader_idle(reader, protocol, "protocol.quorum", keys->quorum > config->agent_count,
                       "there are fewer agents; allowed: up to their number");
    config_reader_idle(reader, protocol, "protocol.log_base",
                       keys->log_base_10 && config->privacy == TACIT_PRIVACY_NONE,
                       "changes the confidence radius with noise only; allowed: privacy mode "
                       "paper or sound");
}

void gossip_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    static const struct config_choice releases[] = {
        {"tree", RELEASE_TREE}, {"doubling", RELEASE_DOUBLING}, {"each", RELEASE_EACH}, {NULL, 0}};
    static const struct config_choice bases[] = {{"e", 0}, {"10", 1}, {NULL, 0}};
    static const struct config_key table[] = {
        CONFIG_OTHER_KEY("kind"),
        CONFIG_OTHER_KEY("release"),
        CONFIG_FLAG_KEY(gossip_keys, "log_base", false, log_base_10, bases),
        CONFIG_U32_KEY(gossip_keys, "arms_per_round", false, arms_per_round, 2, TACIT_ARMS_MAX),
        CONFIG_U32_KEY(gossip_keys, "quorum", false, quorum, 1, TACIT_AGENTS_MAX),
        CONFIG_OTHER_KEY(NULL)};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct gossip_keys *const keys = config_reader_memory(reader, sizeof *keys);
    int release = RELEASE_TREE;
    if (keys == NULL)
        return;
    config->keys = keys;
    config_reader_table(reader, protocol, "protocol", table, keys);
    config_reader_choice(reader, protocol, "protocol.release", false, releases, &release);
    keys->doubles = release == RELEASE_DOUBLING;
    keys->each = release == RELEASE_EACH;
    refuse_foreign_keys(reader, protocol, keys, config);
    config_reader_idle(reader, root, "agents", config->agent_count < 2,
                       "one agent has nobody to gossip with; allowed: at least 2");
    config_reader_idle(reader, root, "horizon", config->horizon < 2,
                       "the noise of 1 slot is not defined; allowed: at least 2");
}

/* The keys of gossip UCB in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"

enum release { RELEASE_TREE, RELEASE_DOUBLING, RELEASE_EACH };

static const struct config_choice releases[] = {
    {"tree", RELEASE_TREE}, {"doubling", RELEASE_DOUBLING}, {"each", RELEASE_EACH}, {NULL, 0}};
static const struct config_choice bases[] = {{"e", 0}, {"10", 1}, {NULL, 0}};

static const struct config_key protocol_keys[] = {
    {"kind", NULL, "", .form = "gossip-ucb"},
    {"release", "tree",
     "tree: the paper's, a noised running mean each slot. doubling: ours, simulated alone, one "
     "noised sum whenever an arm's pulls have doubled. each: the paper's naive extension (Sec. "
     "4.1), Laplace noise of scale T/epsilon on every reward, in mode paper",
     .choices = releases},
    {"log_base", "e", "tree: of the logarithms of the confidence radius with noise, (12)",
     CONFIG_TO_FLAG(gossip_keys, log_base_10, bases)},
    {"arms_per_round", "(4, or all)", "doubling: as of the phased index",
     CONFIG_TO_U32(gossip_keys, arms_per_round, 2, TACIT_ARMS_MAX)},
    {"quorum", "(all)",
     "doubling: agents that must have released a block before it is used; with fewer than all, "
     "means are weighted by who came",
     CONFIG_TO_U32(gossip_keys, quorum, 1, TACIT_AGENTS_MAX)},
    {.name = NULL}};

const struct config_section gossip_sections[] = {{"protocol", protocol_keys}, {NULL, NULL}};

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
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct gossip_keys *const keys = config->keys;
    int release = RELEASE_TREE;
    config_reader_table(reader, protocol, "protocol", protocol_keys, keys);
    config_reader_choice(reader, protocol, "protocol.release", false, releases, &release);
    keys->doubles = release == RELEASE_DOUBLING;
    keys->each = release == RELEASE_EACH;
    refuse_foreign_keys(reader, protocol, keys, config);
    config_reader_idle(reader, root, "agents", config->agent_count < 2,
                       "one agent has nobody to gossip with; allowed: at least 2");
    config_reader_idle(reader, root, "horizon", config->horizon < 2,
                       "the noise of 1 slot is not defined; allowed: at least 2");
}

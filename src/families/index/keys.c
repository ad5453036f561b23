/* The keys of learners with an index in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"

const char *const index_variants[] = {"ucb1", "kl-ucb", "moss", "thompson", "uniform", NULL};

static const struct config_choice kinds[] = {
    {"ucb1", TACIT_ARMS_UCB1},         {"kl-ucb", TACIT_ARMS_KL_UCB},   {"moss", TACIT_ARMS_MOSS},
    {"thompson", TACIT_ARMS_THOMPSON}, {"uniform", TACIT_ARMS_UNIFORM}, {NULL, 0}};
static const struct config_choice sharings[] = {
    {"none", INDEX_SHARING_NONE}, {"pooled", INDEX_SHARING_POOLED}, {NULL, 0}};

static const struct config_key protocol_keys[] = {
    {"kind", NULL, "", .form = "index"},
    {"index", "ucb1", "thompson has Beta posteriors; it and kl-ucb need rewards in [0, 1]",
     CONFIG_TO_ENUM(index_keys, kind, kinds)},
    {"sharing", "none",
     "none: every agent has a learner of its own. pooled: one learner sees every reward at once, "
     "and agents take turns within a slot",
     CONFIG_TO_ENUM(index_keys, sharing, sharings)},
    {.name = NULL}};

const struct config_section index_sections[] = {{"protocol", protocol_keys}, {NULL, NULL}};

void index_read_keys(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config *config)
{
    struct index_keys *const keys = config->keys;
    config_reader_table(reader, config_node_member(root, "protocol"), "protocol", protocol_keys,
                        keys);
}

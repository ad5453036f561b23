/* The keys of learners with an index in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"

const char *const index_variants[] = {"ucb1", "kl-ucb", "moss", "thompson", "uniform", NULL};

void index_read_keys(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config *config)
{
    static const struct config_choice kinds[] = {
        {"ucb1", TACIT_ARMS_UCB1},       {"kl-ucb", TACIT_ARMS_KL_UCB},
        {"moss", TACIT_ARMS_MOSS},       {"thompson", TACIT_ARMS_THOMPSON},
        {"uniform", TACIT_ARMS_UNIFORM}, {NULL, 0}};
    static const struct config_choice sharings[] = {
        {"none", INDEX_SHARING_NONE}, {"pooled", INDEX_SHARING_POOLED}, {NULL, 0}};
    static const struct config_key table[] = {
        CONFIG_OTHER_KEY("kind"), CONFIG_WORD_KEY(index_keys, "index", false, kind, kinds),
        CONFIG_WORD_KEY(index_keys, "sharing", false, sharing, sharings), CONFIG_OTHER_KEY(NULL)};
    struct index_keys *const keys = config_reader_memory(reader, sizeof *keys);
    if (keys == NULL)
        return;
    *keys = (struct index_keys){TACIT_ARMS_UCB1, INDEX_SHARING_NONE};
    config->keys = keys;
    config_reader_table(reader, config_node_member(root, "protocol"), "protocol", table, keys);
}

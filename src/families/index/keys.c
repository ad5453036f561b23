/* The keys of learners with an index in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"

const char *const index_variants[] = {"ucb1", "kl-ucb", "moss", "thompson", "uniform", NULL};

void index_read_keys(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config *config)
{
    static const char *const names[] = {"kind", "index", "sharing", NULL};
    static const struct config_choice kinds[] = {
        {"ucb1", TACIT_ARMS_UCB1},       {"kl-ucb", TACIT_ARMS_KL_UCB},
        {"moss", TACIT_ARMS_MOSS},       {"thompson", TACIT_ARMS_THOMPSON},
        {"uniform", TACIT_ARMS_UNIFORM}, {NULL, 0}};
    static const struct config_choice sharings[] = {
        {"none", INDEX_SHARING_NONE}, {"pooled", INDEX_SHARING_POOLED}, {NULL, 0}};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct index_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    int kind = TACIT_ARMS_UCB1;
    int sharing = INDEX_SHARING_NONE;
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", names);
    config_reader_choice(reader, protocol, "protocol.index", false, kinds, &kind);
    config_reader_choice(reader, protocol, "protocol.sharing", false, sharings, &sharing);
    *keys = (struct index_keys){(enum tacit_arms_kind)kind, (enum index_sharing)sharing};
}

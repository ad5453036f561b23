/* The keys of gossip UCB in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"

void gossip_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    static const char *const names[] = {"kind", "log_base", NULL};
    static const struct config_choice bases[] = {{"e", 0}, {"10", 1}, {NULL, 0}};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct gossip_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    int base = 0;
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", names);
    config_reader_choice(reader, protocol, "protocol.log_base", false, bases, &base);
    *keys = (struct gossip_keys){.log_base_10 = base == 1};
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

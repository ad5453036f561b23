/* The keys of play in phases in the section `protocol`. */
#include "../../config/reader.h"
#include "plan.h"

void phased_read_growth(struct config_reader *reader, const struct config_node *protocol,
                        double *growth, double *confidence)
{
    struct config_node const *const given = config_node_member(protocol, "confidence");
    *growth = TACIT_PHASED_GROWTH;
    *confidence = 0;
    config_reader_number(reader, protocol, "protocol.growth", false,
                         (struct config_range){1, 4, true, false}, growth);
    config_reader_number(reader, protocol, "protocol.confidence", false,
                         (struct config_range){0.5, 1, false, false}, confidence);
    if (reader->status == TACIT_OK && given != NULL && *confidence >= 1)
        config_reader_fail(reader, given, "protocol.confidence",
                           "nothing is certain; allowed: from 0.5 to below 1, like 0.95");
}

void phased_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config)
{
    static const char *const names[] = {"kind", "arms_per_round", "growth", "confidence", NULL};
    struct config_node const *const protocol = config_node_member(root, "protocol");
    struct phased_keys *const keys = config_document_allocate(reader->document, sizeof *keys);
    if (keys == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    *keys = (struct phased_keys){.growth = TACIT_PHASED_GROWTH};
    config->keys = keys;
    config_reader_keys(reader, protocol, "protocol", names);
    config_reader_u32(reader, protocol, "protocol.arms_per_round", false, 2, TACIT_ARMS_MAX,
                      &keys->arms_per_round);
    phased_read_growth(reader, protocol, &keys->growth, &keys->confidence);
}

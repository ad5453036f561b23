/* The section `network` of the experiment file. */
#ifndef TACIT_CONFIG_NETWORK_H
#define TACIT_CONFIG_NETWORK_H
#include "tacit/config.h"
#include "reader.h"

/* Reads and checks it. Requires: agent_count is known. */
void config_read_network(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config_topology *network);

extern const struct config_key config_network_keys[];
extern const struct config_key config_component_keys[];
#endif

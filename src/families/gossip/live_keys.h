/* The keys of gossip UCB in the files of the daemons. */
#ifndef TACIT_GOSSIP_LIVE_KEYS_H
#define TACIT_GOSSIP_LIVE_KEYS_H
#include "tacit/family.h"

extern const char *const gossip_run_keys[];

/* As tacit_config_family.read_run and read_policy. */
void gossip_read_run(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config_coordinator *coordinator);
void gossip_read_policy(struct config_reader *reader, const struct config_node *root,
                        struct tacit_config_agent *agent);

/* As tacit_family.hub_settings. */
enum tacit_status gossip_hub_settings_new(struct live_hub_config *hub,
                                          const struct tacit_config_coordinator *file,
                                          const struct tacit_network *network,
                                          struct tacit_error *error);
void gossip_hub_settings_free(struct live_hub_config *hub);
#endif

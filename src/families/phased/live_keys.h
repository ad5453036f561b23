/* The keys of play in phases in the coordinator's file. */
#ifndef TACIT_PHASED_LIVE_KEYS_H
#define TACIT_PHASED_LIVE_KEYS_H
#include "tacit/family.h"

extern const char *const phased_run_keys[];

/* As tacit_config_family.read_run. */
void phased_read_run(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config_coordinator *coordinator);

/* As tacit_family.hub_settings. */
enum tacit_status phased_hub_settings_new(struct live_hub_config *hub,
                                          const struct tacit_config_coordinator *file,
                                          const struct tacit_network *network,
                                          struct tacit_error *error);
void phased_hub_settings_free(struct live_hub_config *hub);
#endif

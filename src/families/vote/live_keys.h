/* The keys of votes in the coordinator's file, and what its hub makes of them. */
#ifndef TACIT_VOTE_LIVE_KEYS_H
#define TACIT_VOTE_LIVE_KEYS_H
#include "../../live/hub.h"
#include "tacit/family.h"
#include "tacit/wire_vote.h"

extern const char *const vote_run_keys[];

/* As tacit_config_family.read_run. */
void vote_read_run(struct config_reader *reader, const struct config_node *root,
                   struct tacit_config_coordinator *coordinator);

/* As tacit_family.hub_settings: hub->settings becomes the run as it is announced, without places.
 */
enum tacit_status vote_hub_settings_new(struct live_hub_config *hub,
                                        const struct tacit_config_coordinator *file,
                                        const struct tacit_network *network,
                                        struct tacit_error *error);
void vote_hub_settings_free(struct live_hub_config *hub);

/* The run as this site is told of it. Requires: settings. */
struct tacit_wire_vote_run vote_hub_run(const struct live_hub_config *hub, uint32_t site);
#endif

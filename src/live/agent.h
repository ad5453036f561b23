/* The agent daemon of a site: a protocol's site behind the decision API and the broker. */
#ifndef TACIT_LIVE_AGENT_H
#define TACIT_LIVE_AGENT_H
#include "agent_config.h"
#include "store/store.h"

/* Runs until SIGTERM. Errors: with error->text; TACIT_INVALID and TACIT_MALFORMED: nothing was
 * started. */
enum tacit_status live_agent_run(const struct live_agent_config *config, struct tacit_error *error);

/* Refuses what the start would refuse for the sake of the state; writes nothing, and speaks with
 * nobody. Errors: as above. */
enum tacit_status live_agent_check(const struct live_agent_config *config,
                                   enum live_store_found *found, struct tacit_error *error);
#endif

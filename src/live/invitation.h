/* What a coordinator tells one site: the run, and its place in it. */
#ifndef TACIT_LIVE_INVITATION_H
#define TACIT_LIVE_INVITATION_H
#include "coordinator.h"

/* The announcement for this site as it goes out, to be given to free(). NULL: out of memory. */
uint8_t *live_invitation(const struct live_coordinator_config *config, uint64_t epsilon_nano,
                         uint32_t site, size_t *size);

/* NULL: all that is said in this run fits into the payloads of the bus. Else what makes it too
 * large: "arms" (and sites), or "network" (the neighbours of one site). Cost: O(Q A + E). */
const char *live_too_large(const struct live_coordinator_config *config);

/* A: how many sites each may report for, for the hub of a hybrid; to be given to free(). NULL: out
 * of memory. */
uint32_t *live_sink_weights(const struct live_coordinator_config *config);
#endif

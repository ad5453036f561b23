/* What a coordinator tells one site: the run, and its place in it. */
#ifndef TACIT_ELIM_INVITATION_H
#define TACIT_ELIM_INVITATION_H
#include "../../live/hub.h"
#include "tacit/commit.h"

/* The announcement for this site as it goes out, to be given to free(). NULL: out of memory. */
uint8_t *elim_invitation(const struct live_hub_config *config, uint64_t epsilon_nano, uint32_t site,
                         size_t *size);

/* What commitments are hashed with in this run (tacit_commit_domain). Errors: TACIT_MEMORY. */
enum tacit_status elim_invitation_domain(const struct live_hub_config *config,
                                         uint64_t epsilon_nano, uint8_t domain[TACIT_SHA256_BYTES]);

/* NULL: all that is said in this run fits into the payloads of the bus. Else what makes it too
 * large: "arms" (and sites), or "network" (the neighbours of one site). Cost: O(Q A + E). */
const char *elim_too_large(const struct live_hub_config *config);

/* A: how many sites each may report for, for the hub of a hybrid; to be given to free(). NULL: out
 * of memory. */
uint32_t *elim_sink_weights(const struct live_hub_config *config);
#endif

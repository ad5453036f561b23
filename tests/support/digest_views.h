/* What the cores show of themselves, for the digest of a program (digest.h): all that a status page
 * or a checker may look at, after each step of a driver. */
#ifndef TACIT_TESTS_DIGEST_VIEWS_H
#define TACIT_TESTS_DIGEST_VIEWS_H
#include "tacit/elim.h"
#include "tacit/phased.h"

void digest_elim_agent_view(const struct tacit_elim_agent_view *view, uint32_t arm_count);
void digest_elim_peer_view(const struct tacit_elim_peer_view *view, uint32_t arm_count,
                           uint32_t agent_count);
void digest_elim_hub_view(const struct tacit_elim_hub_view *view, uint32_t arm_count,
                          uint32_t agent_count);
void digest_phased_agent_view(const struct tacit_phased_agent_view *view);
void digest_phased_hub_view(const struct tacit_phased_hub_view *view, uint32_t arm_count,
                            uint32_t agent_count);
#endif

/* What a site runs of play in phases: an agent, in one block together with the announcement that it
 * was made of; that block is what the store keeps. */
#ifndef TACIT_PHASED_CORE_H
#define TACIT_PHASED_CORE_H
#include "tacit/wire_phased.h"

struct phased_core;

/* What the site itself says: its noise, its budget, its patience. */
struct phased_core_site {
    const char *federation;
    struct tacit_mechanism mechanism;
    uint64_t budget_nano;
    uint64_t resend_after_us;
    uint32_t round_max; /* 0: no limit */
};

/* Would all that is said in a run of so many arms fit into the payloads of the bus? */
bool phased_core_fits(uint32_t arm_count);

/* A core at its beginning. Errors: TACIT_MALFORMED (these bytes are no announcement of a run that
 * this site could be a part of, or what it would have to say does not fit), TACIT_MEMORY. */
enum tacit_status phased_core_new(struct phased_core **core, const struct phased_core_site *site,
                                  const uint8_t *announcement, size_t announcement_size);

/* A core from the block that was kept. Errors: TACIT_MALFORMED, TACIT_MEMORY. */
enum tacit_status phased_core_restore(struct phased_core **core,
                                      const struct phased_core_site *site, const void *block,
                                      size_t size);
void phased_core_free(struct phased_core *core); /* NULL is allowed */

const void *phased_core_block(const struct phased_core *core, size_t *size);
const struct tacit_wire_phased_run *phased_core_run(const struct phased_core *core);

/* What the run's announcement said. */
const struct tacit_wire_agreement *phased_core_agreement(const struct phased_core *core);

/* Was it made of this very announcement? */
bool phased_core_is_of(const struct phased_core *core, const uint8_t *announcement, size_t size);

struct tacit_phased_agent *phased_core_agent(const struct phased_core *core);
#endif

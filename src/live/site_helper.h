/* A site of a run with two aggregators (tacit/helper.h): what its own file says of that, the run's
 * sealing key, and its own noise, if there is a floor. */
#ifndef TACIT_LIVE_SITE_HELPER_H
#define TACIT_LIVE_SITE_HELPER_H
#include "pki/hpke.h"
#include "protocol.h"
#include "trust.h"

/* All that a family needs of it. With one aggregator the noise is the site's own, and nothing is
 * sealed. */
struct live_site_trust {
    bool is_there;                    /* two aggregators */
    struct tacit_mechanism mechanism; /* of the site's own noise */
    uint64_t cost_nano;               /* of a release: by the noise that protects it */
    uint64_t noise_nano;              /* .. of each of two aggregators: the same, or rho */
    struct tacit_helper_run run;
    uint8_t key[LIVE_HPKE_KEY_BYTES]; /* to seal to */
};

/* Requires: site->mechanism, by its file. Errors: as of a mechanism; TACIT_MALFORMED: an
 * announcement of two aggregators without a sealing key, or of one with it. */
enum tacit_status live_site_trust(const struct live_site *site, struct live_site_trust *trust);

/* Of what noises rewards: site->mechanism, and the trust. Errors: as live_site_trust. */
enum tacit_status live_site_noise(struct live_site *site, struct live_site_trust *trust);

/* Against the helper that the site's own file pins; static. NULL: nothing. */
const char *live_site_trust_objection(const struct live_site *site);

/* What a site that has the masked sums of all it released says in place of estimates. */
#define LIVE_SITE_MASKED                                                                           \
    "the coordinator has the means over all sites, with intervals, and its status shows them"

/* For masking; trust has to stay. */
struct tacit_helper_keys live_site_helper_keys(struct live_site_trust *trust);

/* In an event of this term of the run's, from 1. Both have to stay. */
struct tacit_aggregators live_site_aggregators(const struct live_site_trust *trust,
                                               const struct tacit_helper_keys *keys, uint64_t term);

void live_site_promise_trust(const struct live_site_config *config, struct tacit_promise *promise);
#endif

/* A site of a run with two aggregators: the sealing key that it takes, and its floor of noise. */
#include "site_helper.h"
#include <math.h>
#include <string.h>

/* The digest of what all have agreed on, as the run of the helper has it. */
static bool run_of(const struct live_site *site, struct tacit_helper_run *run)
{
    TACIT_ASSERT(site->announcement != NULL);
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    struct tacit_wire_agreement const *const agreement = live_site_agreement(site);
    if (tacit_wire_agreement_digest(agreement, digest, tacit_wire_heap()) != TACIT_OK)
        return false;
    *run = live_trust_run(site->config.federation, agreement, digest);
    return true;
}

enum tacit_status live_site_trust(const struct live_site *site, struct live_site_trust *trust)
{
    struct tacit_wire_sealing const *const sealing = site->announcement->sealing;
    struct tacit_wire_agreement const *const agreement = live_site_agreement(site);
    if (agreement->has_helper != (sealing != NULL))
        return TACIT_MALFORMED;
    trust->is_there = agreement->has_helper;
    if (!trust->is_there) {
        trust->mechanism = site->mechanism;
        trust->cost_nano = trust->noise_nano = tacit_mechanism_cost_nano(&site->mechanism);
        return TACIT_OK;
    }
    struct live_site_config floor = site->config;
    floor.epsilon = agreement->floor_nano > 0 ? tacit_nano_value(agreement->floor_nano)
                                              : (double)INFINITY; /* no noise of its own */
    trust->cost_nano = trust->noise_nano = agreement->epsilon_nano;
    memcpy(trust->key, sealing->key, sizeof trust->key);
    return run_of(site, &trust->run) ? live_site_mechanism(&floor, &trust->mechanism)
                                     : TACIT_MEMORY;
}

enum tacit_status live_site_noise(struct live_site *site, struct live_site_trust *trust)
{
    TACIT_TRY(live_site_mechanism(&site->config, &site->mechanism));
    return live_site_trust(site, trust);
}

const char *live_site_trust_objection(const struct live_site *site)
{
    struct tacit_wire_sealing const *const sealing = site->announcement->sealing;
    struct tacit_helper_run run;
    if (sealing == NULL)
        return NULL;
    if (live_site_agreement(site)->epsilon_nano == 0)
        return "a run with two aggregators that does not say their epsilon";
    return run_of(site, &run) ? live_trust_objection(&run, sealing, site->config.trust_helper)
                              : "out of memory";
}

struct tacit_helper_keys live_site_helper_keys(struct live_site_trust *trust)
{
    TACIT_ASSERT(trust != NULL);
    return (struct tacit_helper_keys){.context = trust->key, .seal = live_hpke_seal_seed};
}

struct tacit_aggregators live_site_aggregators(const struct live_site_trust *trust,
                                               const struct tacit_helper_keys *keys, uint64_t term)
{
    TACIT_ASSERT(keys->seal != NULL);
    return (struct tacit_aggregators){&trust->run, keys, trust->noise_nano,
                                      term > 0 ? term - 1 : 0};
}

void live_site_promise_trust(const struct live_site_config *config, struct tacit_promise *promise)
{
    promise->trust.has_helper = config->has_helper;
    promise->trust.floor_nano = config->floor_nano;
}

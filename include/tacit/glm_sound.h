/* The private linear bandit of tacit/glm_private.h as it is live, with flat releases: a batch is
 * open at every site until so many rewards of it are there, each site says its noised sums once,
 * and the order of the next batch has the sums of all before it, of which every site makes the
 * same model. What a site draws is committed to, granted and revealed (tacit/round.h), so that an
 * interaction is in one release, whatever becomes of states. Rewards that come while no batch is
 * open are in the next one.
 *
 * Two cores: a site and a hub over a star. Pure functions of (state, event, entropy); the caller
 * owns the memory of a state, which is one relocatable block without pointers.
 *
 * M sites, d dimension, P batches of floor(T/P) rewards. */
#ifndef TACIT_GLM_SOUND_H
#define TACIT_GLM_SOUND_H
#include "tacit/bounds.h"
#include "tacit/glm_private.h"
#include "tacit/helper.h"
#include "tacit/round.h"

/* With more batches the rule would have trees of them. */
#define TACIT_GLM_SOUND_BATCHES_MAX 24u
#define TACIT_GLM_SOUND_PAUSE_US_MAX (UINT64_C(1) << 56)

/* ---- Messages -------------------------------------------------------------------------------- */

/* A plain struct; what it points to belongs to the sender's state, until its next step. */
struct tacit_glm_sound_message {
    enum tacit_round_kind kind;
    union {
        struct tacit_round_message head;
        struct {
            TACIT_ROUND_MEMBERS(round)
        };
    };
    const int64_t *sums; /* REPORT: of the batch; ORDER: of all closed ones, of all sites;
                            TACIT_GLM_PRIVATE_SUMS(d) in units of 2^-20 */
    uint64_t releases;   /* ORDER: that are in its sums */
    const struct tacit_helper_release *masked; /* REPORT, of two aggregators: what opens its sums */
};

/* ---- What both sides agree on ---------------------------------------------------------------- */

/* The rule of a run's releases; floor_milli: TACIT_ONE_AGGREGATOR, .. (tacit/bounds.h). Errors:
 * TACIT_INVALID, as tacit_glm_private_rule_init, or for more batches than there may be. */
enum tacit_status tacit_glm_sound_rule(struct tacit_glm_private_rule *rule,
                                       const struct tacit_glm_private_model *model,
                                       uint32_t floor_milli);

/* Two aggregators: what one interaction moves the sums by, squared, as tacit_helper_run has it. */
uint64_t tacit_glm_sound_steps(enum tacit_linalg_link link);

/* .. and the digest of an order. */
void tacit_glm_sound_order_digest(const int64_t *sums, uint32_t dimension,
                                  uint8_t digest[TACIT_SHA256_BYTES]);

/* ---- Events and updates ---------------------------------------------------------------------- */

/* REWARD: its own, whose slot is ignored. */
struct tacit_glm_sound_event {
    struct tacit_event core;
    enum tacit_linalg_path path; /* of the machine; nothing depends on it */
    struct tacit_offer offer;    /* OFFER */
    struct tacit_glm_reward reward;
};

struct tacit_glm_sound_update {
    TACIT_UPDATE(struct tacit_glm_sound_message)
    bool decided; /* OFFER */
    uint32_t arm; /* .. */
    double probability;
};

/* ---- A site ---------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_glm_sound_site_config {
    struct tacit_glm_private_model model; /* of the run */
    double epsilon;   /* what it draws with is its own: not below the run's, .. */
    double delta;     /* .. and neither is this; with two aggregators it draws the floor's noise */
    uint64_t horizon; /* T */
    uint64_t cost_nano; /* of a release, for one interaction */
    uint64_t budget_nano;
    uint64_t resend_after_us; /* > 0; doubles with every unanswered message, up to 64 times this */
    uint32_t site_id;         /* < M */
    uint32_t round_max;       /* policy: orders of later rounds are refused; 0: no limit */
    uint32_t floor_milli;     /* as of tacit_glm_sound_rule */
    uint32_t spare;
    uint8_t domain[TACIT_SHA256_BYTES]; /* the federation, and what it agreed on */
};
TACIT_NO_GAPS_END

struct tacit_glm_sound_site; /* opaque, relocatable; holds exact sums */

/* Pointers are valid until the next step. */
struct tacit_glm_sound_site_view {
    union {
        struct tacit_round_view play;
        struct {
            TACIT_ROUND_VIEW_MEMBERS(round, draw_round, release_round)
        };
    };
    uint64_t open_count; /* rewards that are in no draw */
    uint32_t model;      /* batches in the model that decides */
    uint64_t releases;   /* .. of all sites */
    double alpha;
    const double *theta;
    const double *inverse;
};

/* Bytes of a state: O(d^2). Errors: 0 if the configuration is not valid. */
size_t tacit_glm_sound_site_size(const struct tacit_glm_sound_site_config *config);

/* Errors: TACIT_INVALID, *site untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_glm_sound_site_init(struct tacit_glm_sound_site *site,
                                            const struct tacit_glm_sound_site_config *config);

/* Are these bytes, put back from where they were persisted, a state of this configuration?
 * Errors: TACIT_MALFORMED. */
enum tacit_status tacit_glm_sound_site_check(const struct tacit_glm_sound_site *site, size_t size,
                                             const struct tacit_glm_sound_site_config *config);

/* One step, as tacit_phased_agent_step. OFFER: TACIT_INVALID for contexts that are not finite or of
 * another dimension; longer ones than 1 are clipped. REWARD: TACIT_INVALID once the site is halted.
 * Cost: OFFER O(K d^2), REWARD O(d^2), a draw O(d^2), an order O(d^3). */
enum tacit_status tacit_glm_sound_site_step(struct tacit_glm_sound_site *site,
                                            const struct tacit_glm_sound_event *event,
                                            const struct tacit_entropy *entropy,
                                            struct tacit_glm_sound_update *update);

/* Shows a site's state without changing it. Cost: O(1). */
void tacit_glm_sound_site_view(const struct tacit_glm_sound_site *site,
                               struct tacit_glm_sound_site_view *view);

/* The report of the last draw, as tacit_phased_agent_draw. Requires: it waits for its grant. */
struct tacit_glm_sound_message tacit_glm_sound_site_draw(const struct tacit_glm_sound_site *site);

/* ---- The hub --------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_glm_sound_hub_config {
    struct tacit_glm_private_model model;
    uint64_t round_timeout_us; /* 0: none */
    uint32_t quorum;           /* sites that suffice once the deadline is over; 0: all */
    uint8_t domain[TACIT_SHA256_BYTES];
    uint32_t floor_milli; /* as of tacit_glm_sound_rule */
};
TACIT_NO_GAPS_END

struct tacit_glm_sound_hub; /* opaque, relocatable; holds released sums only */

/* Pointers are valid until the next step. */
struct tacit_glm_sound_hub_view {
    TACIT_ROUND_HUB_VIEW(round)
    const int64_t *sums; /* of all closed batches */
    uint64_t releases;   /* that are in them */
};

/* Bytes of a state: O(M d^2). Errors: 0 if the configuration is not valid. */
size_t tacit_glm_sound_hub_size(const struct tacit_glm_sound_hub_config *config);

/* Errors: TACIT_INVALID, *hub untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_glm_sound_hub_init(struct tacit_glm_sound_hub *hub,
                                           const struct tacit_glm_sound_hub_config *config);

/* As tacit_glm_sound_site_check. */
enum tacit_status tacit_glm_sound_hub_check(const struct tacit_glm_sound_hub *hub, size_t size,
                                            const struct tacit_glm_sound_hub_config *config);

/* One step, as tacit_phased_hub_step: the state is a function of the set of reports accepted. A sum
 * that no honest site can have: TACIT_MALFORMED. Cost: O(d^2) a report, O(M d^2) at the end of a
 * round. */
enum tacit_status tacit_glm_sound_hub_step(struct tacit_glm_sound_hub *hub,
                                           const struct tacit_event *event,
                                           struct tacit_glm_sound_update *update);

/* With two aggregators: closes the batch that is open by the totals of so many sites; none: it is
 * void, and brings nothing. Requires: it stands. */
void tacit_glm_sound_hub_close(struct tacit_glm_sound_hub *hub, uint32_t sites,
                               const int64_t *totals, uint64_t now_us,
                               struct tacit_glm_sound_update *update);

/* The operator's word, with two aggregators: no batch is closed any more, and the model that stands
 * is the last; what the helper was asked is not taken any more. Requires: it has started. */
void tacit_glm_sound_hub_end(struct tacit_glm_sound_hub *hub, uint64_t now_us,
                             struct tacit_glm_sound_update *update);

/* What a hub that lost its state is built again from, and back, as tacit_phased_hub_snapshot and
 * …_restore: closed batches, nothing of the open one. */
size_t tacit_glm_sound_hub_snapshot(const struct tacit_glm_sound_hub *hub, uint8_t *bytes,
                                    size_t room);
enum tacit_status tacit_glm_sound_hub_restore(struct tacit_glm_sound_hub *hub,
                                              const struct tacit_glm_sound_hub_config *config,
                                              const uint8_t *bytes, size_t size);

/* Shows the hub's state without changing it. Cost: O(1). */
void tacit_glm_sound_hub_view(const struct tacit_glm_sound_hub *hub,
                              struct tacit_glm_sound_hub_view *view);
#endif

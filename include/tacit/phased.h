/* Play in phases, the phased index (EXACT-BOUNDS 5, 6; ours, not a paper's): sites pull the few
 * arms of a plan, each arm climbing its own ladder of sizes, and release one noised sum an arm and
 * round. With a confidence it decides, and its intervals hold at all times; without, it plays for
 * regret. Sound mode only: rewards are integers between reward and wire.
 *
 * Three cores: an agent (a site), a hub over a star, and in the hub a judge, which simulators may
 * use alone. Pure functions of (state, event, entropy); the caller owns the memory of a state,
 * which is one relocatable block without pointers. The driver carries an update out in this order:
 * persist, send, pull, set the timer.
 *
 * A sites (agents), K arms, T slots per site, S_e pulls per site after e releases of an arm, n_e =
 * S_e - S_(e-1). src/proto/phased/NOTES.md maps the specification to functions. */
#ifndef TACIT_PHASED_H
#define TACIT_PHASED_H
#include "tacit/base.h"
#include "tacit/bounds.h"
#include "tacit/core.h"
#include "tacit/helper.h"
#include "tacit/phases.h"
#include "tacit/privacy.h"
#include "tacit/random.h"
#include "tacit/round.h"

#define TACIT_PHASED_ROUNDS_MAX (UINT32_C(1) << 24)
#define TACIT_PHASED_PAUSE_US_MAX (UINT64_C(1) << 56)
#define TACIT_PHASED_GUARD_DELTA 0.05 /* of the guard's intervals where there is no confidence */

/* ---- Judge ----------------------------------------------------------------------------------- */

struct tacit_phased_judge; /* opaque, relocatable */

/* Whatever the rule: is the arm there at all? */
enum tacit_phased_standing {
    TACIT_PHASED_PRESENT,
    TACIT_PHASED_TO_COME, /* it may be added */
    TACIT_PHASED_RETIRED, /* for good; what is known of it stays */
    TACIT_PHASED_BEATEN   /* sums: another one is surely better, or as good but for the accuracy */
};

/* Pointers are valid until the next step. */
struct tacit_phased_judge_view {
    const struct tacit_phased_judge *judge;
    uint32_t round;                      /* number of the plan that stands, or of the last one */
    uint32_t round_count;                /* rounds that closed with reports */
    bool finished;                       /* no plan follows: `leader` until T */
    bool decided;                        /* with confidence: the leader is best */
    uint32_t leader;                     /* TACIT_NO_ARM before the first look */
    uint32_t played;                     /* what sites play while they wait, and at the end: the
                                          * leader, or the guard's arm */
    uint64_t slots;                      /* slots of a site in all plans so far */
    uint32_t plan_count;                 /* 0: finished */
    const struct tacit_pull_block *plan; /* in arm order */
    const uint64_t *releases;            /* K: e of each arm; of sums, looks at it */
    const uint64_t *standings;           /* K: enum tacit_phased_standing */
    const double *means;  /* K: y over the suffix in use; of its last look if dropped */
    const double *uppers; /* K: UCB; for regret, arms that are not taken may have y + c instead */
    const double *lowers; /* K: LCB; 0 where the index plays for regret */
};

/* Bytes of a state: O(K log T). Errors: 0 if the schedule is not valid. */
size_t tacit_phased_judge_size(const struct tacit_phases *schedule);

/* The first plan stands, unless K = 1 or it does not fit (finished, no leader).
 * Errors: TACIT_INVALID, *judge untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_phased_judge_init(struct tacit_phased_judge *judge,
                                          const struct tacit_phases *schedule);

/* Are these bytes a state of this schedule? Errors: TACIT_MALFORMED. */
enum tacit_status tacit_phased_judge_check(const struct tacit_phased_judge *judge, size_t size,
                                           const struct tacit_phases *schedule);

/* Closes the round that stands: `agents` sites reported, sums[i] is what they say of block i of the
 * plan, added up. 0 agents: the same plan stands again with new rewards. Makes the next plan, or
 * finishes. Requires: not finished; agents <= M. Cost: O(K) bounds. */
void tacit_phased_judge_close(struct tacit_phased_judge *judge, uint32_t agents,
                              const int64_t *sums);

#define TACIT_PHASED_UNKNOWN UINT64_MAX /* how many slots the sites have played */

/* Adds an arm to those that are played, or retires one. An arm that is added begins on the first
 * rung of its own ladder, at once: the order that stands gives way to another one with a number of
 * its own, and nothing that was played of a plan that stood is used. So does a plan or a last word
 * that has the arm that is retired, or names it to be played. All intervals keep their promise: K
 * counts an arm from the beginning. `played`: slots of every site so far, or unknown: then those of
 * the plan that gives way count with a guard only, and waiting never does. Errors: TACIT_INVALID:
 * an arm that is not to come is added; or one is retired that is not there, that is the last one or
 * the guard's; or no plan can follow. Cost: as of a close. */
enum tacit_status tacit_phased_judge_change(struct tacit_phased_judge *judge, uint32_t arm,
                                            bool adds, uint64_t played);

/* No plan follows: all arms are retired but the leader, and the guard's, which is played where the
 * leader may lose too much. Requires: there is a leader, and a plan. Cost: O(K). */
void tacit_phased_judge_end(struct tacit_phased_judge *judge);

/* Shows a judge's state without changing it. Cost: O(1). */
void tacit_phased_judge_view(const struct tacit_phased_judge *judge,
                             struct tacit_phased_judge_view *view);

/* The arm's anytime-valid interval: the chance that any arm's is ever wrong at any of its looks is
 * at most 1 - confidence, whatever rule makes the plans. [0, 1], with
 * a mean of 0, before the arm's first release. Requires: arm < K, 0 < confidence < 1. Source:
 * EXACT-BOUNDS 3 (v). Cost: two bounds. */
struct tacit_bounds_interval tacit_phased_judge_interval(const struct tacit_phased_judge *judge,
                                                         uint32_t arm, double confidence);

/* ---- Messages -------------------------------------------------------------------------------- */

/* A plain struct; its arrays belong to the sender's state and stay valid until its next step. */
struct tacit_phased_message {
    enum tacit_round_kind kind;
    uint32_t leader; /* ORDER: TACIT_NO_ARM before the first round has closed */
    union {
        struct tacit_round_message head;
        struct {
            TACIT_ROUND_MEMBERS(round)
        };
    };
    uint32_t block_count; /* ORDER: blocks of the plan; REPORT: sums */
    const struct tacit_pull_block
        *blocks;         /* ORDER that is not the last: arms ascending, new pulls */
    const int64_t *sums; /* REPORT; with two aggregators masked */
    const struct tacit_helper_release
        *masked; /* REPORT, two aggregators: its envelope; else NULL */
};

/* ---- Two aggregators (tacit/helper.h) --------------------------------------------------------
 *
 * An agent masks its sums when it draws (mechanism: its floor, or no noise), and charges what the
 * aggregators' noise is worth; nothing of its own draws is of use to it, so that before the first
 * leader it plays the arms of its plan in turn. A hub takes masked sums for what they are: whoever
 * drives it hands grants and releases on to a struct tacit_helper_hub, asks the helper when the
 * hub says TACIT_WANTS_TOTALS, and closes the round by tacit_phased_hub_close. */

/* Digest of a plan, as scopes have it. */
void tacit_phased_plan_digest(const struct tacit_pull_block *blocks, uint32_t block_count,
                              uint8_t digest[TACIT_SHA256_BYTES]);

/* ---- Terms -----------------------------------------------------------------------------------
 *
 * As of elimination (tacit/elim.h): a hub that has forgotten what it granted goes on only in a new
 * term, which the START of everybody says, and words of another term are not heard
 * (TACIT_STRANGER). An agent that begins a term drops what no grant covers: the draw that waits,
 * with its rewards, and the rewards that were not drawn yet. The last release that was granted
 * stands if the first order of the term is the very one that it answers: round, arms and pulls. It
 * is said again then, with what opens it, and counts once; else it is not said any more, and the
 * plan of the order is played with new rewards. Draws are numbered on over terms, also where rounds
 * come again. The hub keeps no head of the terms before, and takes the first that a site shows. */

/* ---- Events and updates ---------------------------------------------------------------------- */

struct tacit_phased_update {
    TACIT_UPDATE(struct tacit_phased_message)
};

/* ---- Agent ----------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_phased_agent_config {
    uint64_t run_id;
    uint32_t agent_id; /* < agent_count */
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t spare_1;
    uint64_t horizon;
    struct tacit_mechanism mechanism; /* sound; the agent's own: nothing of it comes from the net */
    uint64_t budget_nano;
    uint64_t resend_after_us; /* > 0; doubles with every unanswered message, up to 64 times this */
    uint32_t round_max;       /* policy: orders of later rounds are refused; 0: no limit */
    uint32_t spare_2;
    uint64_t spare_3;
    bool has_grants; /* a release is used and leaves only when the hub granted it */
    uint8_t domain[TACIT_SHA256_BYTES]; /* with grants: the federation, and what it agreed on */
    bool has_helper; /* with grants: two aggregators; each event that may draw says which */
    uint8_t spare_4[6];
};
TACIT_NO_GAPS_END

struct tacit_phased_agent; /* opaque, relocatable */

/* Pointers are valid until the next step. */
struct tacit_phased_agent_view {
    union {
        struct tacit_round_view play;
        struct {
            TACIT_ROUND_VIEW_MEMBERS(round, draw_round, release_round)
        };
    };
    uint32_t leader;      /* of the last order; TACIT_NO_ARM: none yet */
    uint32_t exploit_arm; /* the leader; before: best own released mean, lowest index on ties */
    uint32_t block_count; /* of the last order's plan */
    const struct tacit_pull_block *blocks;
    const int64_t *noised; /* block_count sums, if release_round == round; else NULL */
};

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_phased_agent_size(const struct tacit_phased_agent_config *config);

/* Errors: TACIT_INVALID, *agent untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_phased_agent_init(struct tacit_phased_agent *agent,
                                          const struct tacit_phased_agent_config *config);

/* Are these bytes, put back from where they were persisted, a state of this configuration?
 * Errors: TACIT_MALFORMED. */
enum tacit_status tacit_phased_agent_check(const struct tacit_phased_agent *agent, size_t size,
                                           const struct tacit_phased_agent_config *config);

/* One step. Late and repeated messages are normal: TACIT_OK, nothing changes but what is known of
 * the hub. Others that do not fit are refused with a status and the state is unchanged, byte for
 * byte. A reward that the plan did not ask for is TACIT_INVALID. TACIT_ENTROPY, TACIT_BUDGET: the
 * plan's last reward was taken in, but its release was not drawn; on TACIT_ENTROPY the next timeout
 * tries again, on TACIT_BUDGET the agent is halted. TACIT_ROLLBACK: this state is an old copy of
 * one that released more; the agent is halted, and what is left of its plan is void. TACIT_REFUSED:
 * the order is beyond the site's policy. Cost: O(1) a reward, O(K) a message.
 *
 * With grants, the end of a plan draws and commits: exact sums are gone, the ledger is charged, and
 * nothing else uses the draw until its grant is here (no message, no arm to play, no newer order).
 * A refusal blocks the agent: it goes on asking, and plays what was granted before. */
enum tacit_status tacit_phased_agent_step(struct tacit_phased_agent *agent,
                                          const struct tacit_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_phased_update *update);

/* The report of the last draw, as it leaves once it is granted: for a ledger that has it before. It
 * points into the state, until the next step. Requires: an agent with grants whose release waits
 * for its grant. */
struct tacit_phased_message tacit_phased_agent_draw(const struct tacit_phased_agent *agent);

/* Shows an agent's state without changing it. Cost: O(K). */
void tacit_phased_agent_view(const struct tacit_phased_agent *agent,
                             struct tacit_phased_agent_view *view);

/* ---- Hub ------------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_phased_hub_config {
    uint64_t run_id;
    struct tacit_phases schedule;
    struct tacit_mechanism mechanism; /* what an honest sum may be; the hub draws no noise */
    uint32_t quorum;                  /* reports that suffice once the deadline is over; 0: all */
    uint32_t spare_1;
    uint64_t round_timeout_us; /* from the order to the deadline of a round; 0: none */
    bool answers_all; /* answer every report and HELLO with the standing order (a live hub) */
    bool has_grants;  /* it holds the releases: grants commitments, takes what opens them */
    uint8_t domain[TACIT_SHA256_BYTES]; /* with grants, as the agents have it */
    bool has_helper;                    /* with grants: two aggregators */
    uint8_t spare_2[5];
};
TACIT_NO_GAPS_END

struct tacit_phased_hub; /* opaque, relocatable */

/* Pointers are valid until the next step. */
struct tacit_phased_hub_view {
    TACIT_ROUND_HUB_VIEW(round)
    struct tacit_phased_judge_view judge;
};

/* Bytes of a state: O(A K + K log T). Errors: 0 if the configuration is not valid. */
size_t tacit_phased_hub_size(const struct tacit_phased_hub_config *config);

/* Errors: TACIT_INVALID, *hub untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_phased_hub_init(struct tacit_phased_hub *hub,
                                        const struct tacit_phased_hub_config *config);

/* As tacit_phased_agent_check. */
enum tacit_status tacit_phased_hub_check(const struct tacit_phased_hub *hub, size_t size,
                                         const struct tacit_phased_hub_config *config);

/* One step. The state is a function of the set of reports accepted: order, repetition and delay do
 * not matter; with a deadline, delay decides which set that is. No entropy is needed. TACIT_FORKED:
 * the sender speaks from two states; it is flagged, nothing else changes (update->persist, and a
 * REFUSAL to a COMMIT). TACIT_ROLLBACK: a word of a round or a term that has not begun here;
 * nothing changed; or, with update->persist, one that follows a grant that this state knows nothing
 * of: the sender is marked as ahead, which blames nobody, and hears a REFUSAL that says so. A START
 * that begins a term asks for the reports of the present round anew. Cost: O(plan) a report, O(A
 * plan) and O(K) bounds at the end of a round. */
enum tacit_status tacit_phased_hub_step(struct tacit_phased_hub *hub,
                                        const struct tacit_event *event,
                                        struct tacit_phased_update *update);

/* With two aggregators: closes the round that stands by the totals of so many sites; none: it is
 * void, and the same plan is played with new rewards. Requires: it stands. */
void tacit_phased_hub_close(struct tacit_phased_hub *hub, uint32_t agents, const int64_t *totals,
                            uint64_t now_us, struct tacit_phased_update *update);

/* The operator's word: tacit_phased_judge_change. If another order stands then, it goes to
 * everyone: draws for the one before are granted, and their reports are not asked for any more.
 * Errors: TACIT_INVALID as there; TACIT_UNEXPECTED: the hub has not started. Nothing changes then.
 */
enum tacit_status tacit_phased_hub_change(struct tacit_phased_hub *hub, uint32_t arm, bool adds,
                                          uint64_t now_us, struct tacit_phased_update *update);

/* The operator's word: tacit_phased_judge_end, and its last order goes to everyone, as above. */
void tacit_phased_hub_end(struct tacit_phased_hub *hub, uint64_t now_us,
                          struct tacit_phased_update *update);

/* What a hub that lost its state is built again from, as tacit_elim_hub_snapshot: all that its
 * closed rounds and the operator's words left, and nothing of the open round: no report, no grant.
 * Ensures: the result is the number of bytes; they are written if it is at most `room`. bytes may
 * be NULL with room 0. Cost: O(K log T). */
size_t tacit_phased_hub_snapshot(const struct tacit_phased_hub *hub, uint8_t *bytes, size_t room);

/* From a snapshot. Ensures: closed rounds bit for bit, and no report of the open one; a START goes
 * on. With grants that START has to begin a term. Errors: TACIT_MALFORMED (not as a hub of this
 * configuration writes it), TACIT_INVALID; *hub undefined. Requires: as …_init. */
enum tacit_status tacit_phased_hub_restore(struct tacit_phased_hub *hub,
                                           const struct tacit_phased_hub_config *config,
                                           const uint8_t *bytes, size_t size);

/* Shows a hub's state without changing it. Cost: O(1). */
void tacit_phased_hub_view(const struct tacit_phased_hub *hub, struct tacit_phased_hub_view *view);
#endif

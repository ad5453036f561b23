/* Epoch elimination (Li, Song: "Privacy-Preserving Communication-Efficient Federated Multi-Armed
 * Bandits"): cores that exchange messages. Pure functions of (state, event, entropy): no clock,
 * I/O, allocation or globals. Over a star (Alg. 1, with rounds R and participation p): agents and a
 * hub. Over a graph (Alg. 2, 3): peers, which spread their reports and judge by themselves. Hybrid
 * (Alg. 4, 5): peers that gather reports hop by hop at the sink of their component, and a hub above
 * the sinks. A peer is an agent with a collection step around it.
 *
 * The caller owns the memory of a state (…_size), which is one relocatable block without pointers:
 * to persist it is to copy its bytes; to restart is to copy them back and send TACIT_EVENT_START.
 * The driver carries an update out in this order: persist, send, pull, set the timer.
 *
 * A agents, K arms, N reports a round, T horizon in pulls of one agent, S(r) pulls per active arm
 * up to epoch r, C(r) confidence radius. src/proto/elim/NOTES.md maps the paper's lines to
 * functions. */
#ifndef TACIT_ELIM_H
#define TACIT_ELIM_H
#include "tacit/base.h"
#include "tacit/bounds.h"
#include "tacit/core.h"
#include "tacit/helper.h"
#include "tacit/phases.h"
#include "tacit/privacy.h"
#include "tacit/random.h"
#include "tacit/round.h"
#include "tacit/topo.h"

#define TACIT_ELIM_EPOCHS_MAX 10000u
#define TACIT_SIGNATURE_BYTES 64u                   /* Ed25519 */
#define TACIT_ELIM_PAUSE_US_MAX (UINT64_C(1) << 56) /* of every pause that is configured */

/* ---- Schedule -------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_elim_schedule {
    uint32_t arm_count;        /* K */
    uint32_t report_count;     /* N = ceil(p M) */
    uint64_t horizon;          /* T */
    double epsilon_per_reward; /* N times the paper's eps; INFINITY: no noise, second terms off */
    uint32_t round_limit;      /* R, or 0 for none */
    uint32_t floor_milli;      /* exact bounds: TACIT_ONE_AGGREGATOR, .. (tacit/bounds.h) */
    double gap;                /* Delta; only used with a round limit, in (0, 1] there */
    /* Exact bounds (EXACT-BOUNDS 4) instead of C(r), and their ladder instead of the formula of
     * S(r): integers, no round limit, everybody reports. 0: the paper's. */
    double growth;     /* of the ladder, in (1, 4] */
    double confidence; /* with growth: 1 - delta, in [0.5, 1); 0: delta = 1/T */
};
TACIT_NO_GAPS_END

/* The ladder. Requires: exact bounds. */
struct tacit_phases tacit_elim_phases(const struct tacit_elim_schedule *schedule);

/* N = ceil(p M), forgiving the rounding of p: 0.55 * 100 is 55. Requires: 0 < p <= 1, M > 0. */
uint32_t tacit_elim_report_count(double participation, uint32_t agent_count);

/* Delta~_r of epoch r >= 1: 2^-r (Alg. 1 l. 3), or Delta^(r/R) under a round limit (Sec. IV-B). */
double tacit_elim_target_gap(const struct tacit_elim_schedule *schedule, uint32_t epoch);

/* S(r) after epoch r, given |I^(r-1)| and S(r-1) (Alg. 1 l. 4; READINGS P1.1-4): the ceiling of the
 * formula, never below S(r-1). With exact bounds the r-th rung of the ladder (EXACT-BOUNDS 4.1),
 * whoever is active. Saturates at TACIT_HORIZON_MAX. */
uint64_t tacit_elim_pulls(const struct tacit_elim_schedule *schedule, uint32_t epoch,
                          uint32_t active_count, uint64_t pulls_before);

/* C(r) for `pulls` = S(r) > 0 and `reports` aggregated agents (Alg. 1 l. 5). reports is N unless
 * some are missing; the radius always uses the number that was really averaged (PRIVACY.md A.3).
 * With exact bounds c(N, m, L_r) of all pulls so far, from which no interval is wider. */
double tacit_elim_radius(const struct tacit_elim_schedule *schedule, uint32_t epoch,
                         uint32_t active_count, uint64_t pulls, uint32_t reports);

/* ---- Changes ---------------------------------------------------------------------------------
 *
 * Over a star the operator of a hub may change a run that is under way. Each change is an entry of
 * a log, which every order carries whole, and which only grows: so who hears one order knows them
 * all, and nobody can be told two stories without seeing it. What a change does not speak of stays:
 * T in logarithms, the ladder of exact bounds, delta, K. No change releases anything, and none asks
 * for a second release of an epoch. */

#define TACIT_ELIM_CHANGES_MAX 64u /* in a run */

enum tacit_elim_change_kind {
    TACIT_ELIM_DROP_SITE = 1, /* subject: an agent whose reports are not asked for any more */
    TACIT_ELIM_SET_QUORUM_AND_DEADLINE, /* subject: the quorum, 0: all; value: the deadline of a
                                           round in us */
    TACIT_ELIM_END_RUN,                 /* the best arm by what is known; no epoch follows */
    TACIT_ELIM_EXTEND_HORIZON,          /* value: pulls of one agent from now on */
    TACIT_ELIM_RETIRE_ARM               /* subject: an arm that is played no more */
};

struct tacit_elim_change {
    uint32_t kind;
    uint32_t epoch; /* that stood when it was made */
    uint32_t subject;
    uint32_t number; /* its place in the log, from 1 */
    uint64_t value;
    uint64_t made_unix_s; /* by the driver's clock, for people */
};

/* ---- Messages -------------------------------------------------------------------------------- */

enum tacit_elim_message_kind {
    TACIT_ELIM_HELLO,  /* agent -> hub: "I know the order of `epoch`; what now?"; peer -> neighbours
                        */
    TACIT_ELIM_ORDER,  /* hub -> agents: the arm set, and how often each is to have been pulled */
    TACIT_ELIM_REPORT, /* agent -> hub: noised history sums of the active arms */
    TACIT_ELIM_ADVERT, /* peer -> neighbours: "I hold the reports of these agents" (Alg. 2 l. 5) */
    TACIT_ELIM_REQUEST, /* peer -> neighbour: "send me the reports of these agents" (l. 9) */
    TACIT_ELIM_DATA,    /* peer -> neighbour: the reports of these agents (l. 7; Alg. 5 l. 8) */
    /* With grants (tacit/commit.h), between an agent and whoever holds its releases: */
    TACIT_ELIM_COMMIT,  /* agent -> grantor: "may this release leave?" */
    TACIT_ELIM_GRANT,   /* grantor -> agent: "it may" */
    TACIT_ELIM_REFUSAL, /* grantor -> agent: "another one was granted: this" */
    /* With signed rows. */
    TACIT_ELIM_PROOF /* peer -> neighbours, hub: "this agent signed two different rows" */
};

/* What opens the commitment to a row of DATA. */
struct tacit_elim_opening {
    uint8_t previous[TACIT_SHA256_BYTES]; /* of a confirmation: what its agent holds */
    uint8_t salt[TACIT_SHA256_BYTES];
    uint8_t signature[TACIT_SIGNATURE_BYTES]; /* by the row's own agent; or zeros */
};

/* What a peer holds: one digest over all rows of the rounds that it has closed. */
struct tacit_elim_history {
    uint32_t rounds;
    bool is_last; /* it confirms: what it says of this epoch is of no draws */
    uint8_t digest[TACIT_SHA256_BYTES];
};

/* Two rows of one epoch, each by its commitment, both signed by one agent; or two confirmations. No
 * state that is the only one of its agent makes such. */
struct tacit_elim_proof {
    uint32_t agent;
    uint8_t subjects[2][TACIT_SHA256_BYTES];
    uint8_t signatures[2][TACIT_SIGNATURE_BYTES];
};

/* Signatures, by whoever can make and check them (a driver). */
struct tacit_row_signer {
    void *context;
    /* By this agent, whose step it is. Errors: false, and nothing is signed. */
    bool (*sign)(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                 uint8_t signature[TACIT_SIGNATURE_BYTES]);
    bool (*check)(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                  const uint8_t signature[TACIT_SIGNATURE_BYTES]);
};

/* What a signature of this agent is a signature of: the federation and what it agreed on, run,
 * term, agent, epoch, and the commitment to a row or what a confirmation says. */
void tacit_elim_row_digest(const uint8_t domain[TACIT_SHA256_BYTES], uint64_t run_id, uint64_t term,
                           uint32_t agent, uint32_t epoch,
                           const uint8_t subject[TACIT_SHA256_BYTES],
                           uint8_t digest[TACIT_SHA256_BYTES]);

/* Are its two subjects different, and both signed by its agent in this epoch? */
bool tacit_elim_proof_holds(const struct tacit_elim_proof *proof,
                            const uint8_t domain[TACIT_SHA256_BYTES], uint64_t run_id,
                            uint64_t term, uint32_t epoch, const struct tacit_row_signer *signer);

/* A plain struct; its arrays belong to the sender's state and stay valid until its next step. */
struct tacit_elim_message {
    enum tacit_elim_message_kind kind;
    uint32_t leader; /* ORDER, with exact bounds: 1 + the arm to play while waiting, and at the end
                      * where an epoch does not fit; 0: none */
    union {
        struct tacit_round_message head;
        struct {
            TACIT_ROUND_MEMBERS(epoch)
        };
    };
    uint64_t pulls;       /* S(r): pulls of each active arm since the start of the run; with two
                           * aggregators those of this round alone */
    const uint64_t *arms; /* ORDER, REPORT, DATA: active set, TACIT_BITS_WORDS(K); else NULL */
    const uint64_t *uploaders; /* ORDER: who reports, TACIT_BITS_WORDS(A); NULL: everybody */
    uint32_t agents; /* REPORT of a sink: so many agents' sums are added up; 0: the sender's alone.
                      * Such a report shows the sink's own commitment, and opens none */
    uint32_t sum_count; /* REPORT, DATA: number of active arms */
    /* REPORT: one noised history sum an active arm, by arm index. DATA: one such row an origin, in
     * the order of origins, unless row_stride says where the row of each agent is. */
    const union tacit_sum *sums;
    const struct tacit_helper_release
        *masked; /* REPORT, two aggregators: its envelope; else NULL */
    const uint64_t
        *origins;        /* ADVERT, REQUEST, DATA, HELLO of a peer: agents, TACIT_BITS_WORDS(A) */
    uint32_t row_stride; /* DATA: > 0: the row of agent a is sums + a * row_stride; 0: packed */
    bool rows_stay;      /* DATA: the rows are in a shared table, and a copy need not hold them */
    bool is_signed;      /* DATA: its openings have signatures */
    bool has_history;    /* with signed rows: messages about rows say what their sender holds */
    const struct tacit_elim_opening *openings; /* DATA with grants: one an origin, as its row (of
                                                * agent a: openings[a]); else NULL */
    struct tacit_elim_history history;
    const struct tacit_elim_proof *proof;    /* PROOF; else NULL */
    const struct tacit_elim_change *changes; /* ORDER: all of the run so far; NULL: none */
    uint32_t change_count;
    const uint64_t *refused; /* HELLO, COMMIT: arms that the sender does not play,
                              * TACIT_BITS_WORDS(K); NULL: none */
};

/* Bytes that a deep copy of the message needs. */
size_t tacit_elim_message_size(const struct tacit_elim_message *message, uint32_t arm_count,
                               uint32_t agent_count);

/* Deep copy into `memory` (8-byte aligned, …_size bytes). Ensures: the result points into memory
 * only. */
const struct tacit_elim_message *tacit_elim_message_copy(const struct tacit_elim_message *message,
                                                         uint32_t arm_count, uint32_t agent_count,
                                                         void *memory);

/* Digest of an order, as scopes have it. */
void tacit_elim_order_digest(uint64_t pulls, const uint64_t *arms, uint32_t arm_count,
                             uint8_t digest[TACIT_SHA256_BYTES]);

/* Numbers that a message carries, as the paper's "scalars": the sums in a REPORT or DATA, else 0.
 * Cost: O(A/64). */
uint64_t tacit_elim_message_scalars(const struct tacit_elim_message *message, uint32_t agent_count);

/* ---- Two aggregators (tacit/helper.h) --------------------------------------------------------
 *
 * With exact bounds over a star. A release is then the masked sums of its round alone, no history:
 * whoever missed a round is missing in it, and pulls n_r = S(r) - S(r-1) in the next one as all do;
 * rewards of a plan that was overtaken are dropped. An agent charges what the aggregators' noise is
 * worth (mechanism: its floor, or no noise), and before the first leader it plays the arms of its
 * plan in turn. What a driver has to do for a hub: tacit/phased.h. */

/* ---- Terms -----------------------------------------------------------------------------------
 *
 * A grantor that lost its state, or was put back to an older one, has forgotten what it granted:
 * it goes on only in a new term, which the START of everybody says. Words of another term are not
 * heard (TACIT_STRANGER). An agent that begins a term drops what no grant covers: the draw that
 * waits, with its rewards, and the rewards that were not drawn yet. So no reward from before can be
 * in a draw of the new term. What was granted stands, if the first order of the term has room for
 * it: the report of the epoch that the order asks for, or a history that it continues; else the
 * agent begins its history anew and pulls all that the order says. A grantor keeps no head of the
 * terms before, and takes the first that a site shows: its grant. */

/* ---- Events and updates ---------------------------------------------------------------------- */

struct tacit_elim_update {
    TACIT_UPDATE(struct tacit_elim_message)
    bool persist_table; /* peer: its table changed so, too */
/* What happened at an agent or peer, beside TACIT_DREW and so on. */
#define TACIT_ELIM_PLAN_OVER 64u /* nothing of the plan is left, or is wanted any more */
#define TACIT_ELIM_WENT_ON 128u  /* it is in another epoch */
#define TACIT_ELIM_PROVED 256u   /* a peer: it has a proof, and had none */
};

/* ---- Agent ----------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_elim_agent_config {
    uint64_t run_id;
    uint32_t agent_id; /* < agent_count */
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t spare_1;
    uint64_t horizon;
    struct tacit_mechanism mechanism; /* the agent's own: nothing of it comes from the network */
    uint64_t budget_nano;
    uint64_t resend_after_us; /* > 0; doubles with every unanswered message, up to 64 times this */
    uint32_t epoch_max;       /* policy: orders of later epochs are refused; 0: no limit */
    bool has_grants;          /* a release is used and leaves only when its grantors granted it */
    bool numbered_commits;    /* with grants: see tacit_commit_scope; never where data are real */
    uint8_t domain[TACIT_SHA256_BYTES]; /* with grants: the federation, and what it agreed on */
    bool has_helper; /* two aggregators: exact bounds, with grants, without changes */
    uint8_t spare_2;
    uint32_t change_max; /* changes of a run that there is room for; 0: none are taken (peers) */
    uint32_t spare_3;
    uint64_t horizon_max; /* policy: the run is not extended beyond this here; 0: no limit */
};
TACIT_NO_GAPS_END

struct tacit_elim_agent; /* opaque, relocatable */

/* What a driver, a status page or a checker may look at. Pointers are valid until the next step. */
struct tacit_elim_agent_view {
    union {
        struct tacit_round_view play;
        struct {
            TACIT_ROUND_VIEW_MEMBERS(epoch, draw_epoch, release_epoch)
        };
    };
    bool is_asked;        /* the report of this epoch is asked for */
    bool dropped;         /* its reports are asked for no more */
    const uint64_t *arms; /* active set */
    uint32_t active_count;
    const uint64_t *playable; /* those of them that were neither retired nor refused; where none is,
                               * all other arms that were not */
    uint32_t playable_count;
    const uint64_t *refused; /* arms that this agent plays no more of its own accord; NULL: no room
                              * for changes, as below */
    const struct tacit_elim_change *changes;
    uint32_t change_count;
    uint32_t exploit_arm; /* the order's leader; without one the best noised history mean of the
                           * active arms, lowest index on ties */
    uint64_t pulls;       /* S(r) of the last order accepted */
    const union tacit_sum
        *noised; /* K noised history sums of the releases; two aggregators: NULL */
};

/* Bytes of a state. Errors: 0 if the configuration is not valid. */
size_t tacit_elim_agent_size(const struct tacit_elim_agent_config *config);

/* Errors: TACIT_INVALID, *agent untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_elim_agent_init(struct tacit_elim_agent *agent,
                                        const struct tacit_elim_agent_config *config);

/* Are these bytes, put back from where they were persisted, a state of this configuration?
 * Errors: TACIT_MALFORMED: another size, another configuration, or a state that cannot be. */
enum tacit_status tacit_elim_agent_check(const struct tacit_elim_agent *agent, size_t size,
                                         const struct tacit_elim_agent_config *config);

/* One step. Late and repeated messages are normal: TACIT_OK, nothing changes but what is known of
 * the hub. Others that do not fit are refused with a status and the state is unchanged, byte for
 * byte. A reward that the plan did not ask for is TACIT_INVALID. TACIT_ENTROPY, TACIT_BUDGET: the
 * epoch's last reward was taken in, but its release was not drawn; on TACIT_ENTROPY the next
 * timeout tries again, on TACIT_BUDGET the agent is halted. TACIT_ROLLBACK: this state is an old
 * copy of one that released more; the agent is halted, and what is left of its plan is void. Cost:
 * O(1) a reward, O(K) at the end of an epoch.
 *
 * With grants, the end of an epoch draws and commits: exact sums are gone, the ledger is charged,
 * and nothing else uses the draw until its grant is here (no message, no ranking, no newer order).
 * A refusal blocks the agent: it goes on asking, and exploits what was granted before. */
enum tacit_status tacit_elim_agent_step(struct tacit_elim_agent *agent,
                                        const struct tacit_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update);

/* The site plays this arm no more, of its own accord; for good, and at once. Rewards of it that
 * were not released are forgotten. The hub hears of it with the next HELLO and COMMIT, and counts
 * no report of this agent while the arm is in. The update is that of a step. The same arm again is
 * TACIT_OK. Errors: TACIT_INVALID: no room for changes, an arm >= K, or no other arm would be left;
 * TACIT_UNEXPECTED: halted; TACIT_ENTROPY, TACIT_BUDGET: as of a step, where the plan ended with
 * it. */
enum tacit_status tacit_elim_agent_refuse(struct tacit_elim_agent *agent, uint32_t arm,
                                          const struct tacit_event *now,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_elim_update *update);

/* The report of the last draw, as it leaves once it is granted: for a ledger that has it before. It
 * points into the state, until the next step. Requires: an agent with grants whose release waits
 * for its grant. Cost: O(K). */
struct tacit_elim_message tacit_elim_agent_draw(const struct tacit_elim_agent *agent);

/* The arm that somebody plays who waits and follows its rewards as they are: the best of these K
 * sums of arms that were pulled alike, ties at random. Where entropy fails it is the first of them.
 * Requires: an arm is in. Cost: O(K). Source: READINGS P1.11. */
uint32_t tacit_elim_best_own(const union tacit_sum *sums, const uint64_t *arms, uint32_t arm_count,
                             const struct tacit_entropy *entropy);

/* Shows an agent's state without changing it. Cost: O(K). */
void tacit_elim_agent_view(const struct tacit_elim_agent *agent,
                           struct tacit_elim_agent_view *view);

/* ---- What a judge shows, alone or in a hub or a peer ----------------------------------------- */

#define TACIT_ELIM_JUDGE_VIEW_MEMBERS                                                              \
    uint32_t round_count; /* epochs whose reports were collected */                                \
    bool decided;         /* no epoch follows */                                                   \
    bool is_exact;        /* exact bounds: tacit_elim_.._interval is there */                      \
    uint32_t leader;      /* with them; TACIT_NO_ARM: none yet */                                  \
    uint32_t active_count;                                                                         \
    const uint64_t *arms;       /* active set */                                                   \
    double radius;              /* C(r) of the last test; 0 before */                              \
    const double *means;        /* K aggregated means of the last round */                         \
    const uint32_t *eliminated; /* K: the epoch of elimination; 0: still active */

struct tacit_elim_judge_view {
    TACIT_ELIM_JUDGE_VIEW_MEMBERS
};

/* Both names of it in a view. */
#define TACIT_ELIM_JUDGE_VIEW                                                                      \
    union {                                                                                        \
        struct tacit_elim_judge_view judge;                                                        \
        struct {                                                                                   \
            TACIT_ELIM_JUDGE_VIEW_MEMBERS                                                          \
        };                                                                                         \
    };

/* ---- Peer ------------------------------------------------------------------------------------ */

/* What peers hold of each other's reports: of the present and of the last epoch, a row of K sums an
 * agent. It lies beside the peer's state, to be persisted with it. Rows are written once and are
 * the same wherever they are, so a simulator without faults may let all peers of a run share one
 * table; a peer reads only rows that it has been sent. */
struct tacit_elim_table; /* opaque, relocatable */

enum tacit_elim_collection {
    TACIT_ELIM_SPREAD, /* GIS (Alg. 2): everybody gets every report, and judges (Alg. 3) */
    TACIT_ELIM_GATHER  /* sink agent collection (Alg. 5 l. 8-10): towards the sink, which reports */
};

/* Who is where in a network of peers; all arrays are the caller's. See tacit/topo.h. */
struct tacit_elim_network {
    enum tacit_elim_collection collection; /* SPREAD: each component is on its own; no hub */
    const struct tacit_graph *graph;
    const uint32_t *label; /* A: component of each agent */
    const struct tacit_component *components;
    uint32_t component_count;
    const uint32_t *parent; /* A: next on the way to the sink; TACIT_NO_AGENT at a sink */
    uint32_t diameter;      /* d_G, of the widest component */
    bool components_alike;  /* GATHER: the literal average of averages (READINGS P1.16) */
    bool reports_at_once;   /* GATHER: as in tacit_elim_peer_config */
};

TACIT_NO_GAPS
struct tacit_elim_peer_config {
    struct tacit_elim_agent_config agent;
    struct tacit_elim_schedule schedule; /* SPREAD: of the judge that each peer is */
    const uint32_t *neighbours;          /* ascending; copied */
    /* Whose reports make a collection complete; copied. NULL: all agents', and of a relay (GATHER,
     * no sink) nobody's. */
    const uint64_t *members;
    enum tacit_elim_collection collection;
    uint32_t neighbour_count;
    uint32_t parent;   /* GATHER: the neighbour next on the way to the sink; itself at the sink */
    uint32_t rows_max; /* rows in one DATA, asked for and sent; 0: no limit */
    uint64_t slot_us;  /* what comes in is passed on so much later, together; 0: at once */
    uint64_t round_us; /* with a clock: so long after the own report, and not before all is there */
    uint64_t
        gather_timeout_us; /* GATHER: a sink that waited so long reports what it has; 0: never */
    uint64_t confirm_us;   /* with signed rows: so long it waits for the confirmations */
    bool has_clock;  /* SPREAD: a synchronisation clock tells everybody when a round is over */
    bool signs_rows; /* SPREAD, with grants: rows are signed by their agents, members compare what
                      * they hold, and a last round confirms it */
    bool reports_at_once; /* GATHER: a sink reports in the slot in which the last row comes, not in
                           * the next one: t_delay is one less (READINGS P1.15) */
    bool spare[5];
};
TACIT_NO_GAPS_END

struct tacit_elim_peer; /* opaque, relocatable */

struct tacit_elim_peer_view {
    struct tacit_elim_agent_view agent; /* exploit_arm is that of the mode (READINGS P1.11) */
    const uint64_t *known;              /* A: whose reports of the present epoch are here */
    uint32_t known_count;
    uint32_t missing_count;  /* members whose report is not here yet */
    bool is_sink;            /* GATHER: reports to the hub */
    uint32_t refused_by;     /* the neighbour whose refusal blocks; TACIT_NO_AGENT: none */
    const uint64_t *flagged; /* with grants: neighbours, by their rank, who spoke from two states or
                              * passed on what does not open its grant; else NULL */
    const uint64_t *ahead;   /* the same: who shows a grant that this state never gave, so that it
                              * is an old one, or they do not say what is true */
    const uint64_t *granted; /* with grants: neighbours, by their rank, who have granted the draw
                              * that waits; else NULL */
    const struct tacit_elim_proof *proof; /* with signed rows: somebody's two rows; NULL: none */
    uint32_t proof_epoch;
    const uint64_t *differing; /* with signed rows, A: who is known to hold other rows; else NULL */
    bool confirms;             /* collects confirmations; known and missing_count are of them */
    bool confirmed; /* the answer may be said: all members hold the same, or the time for it is over
                     * (then missing_count > 0); without signed rows: always */
    bool is_beyond_policy; /* SPREAD: an epoch follows that epoch_max does not allow */
    TACIT_ELIM_JUDGE_VIEW  /* SPREAD; else zeros, and no leader */
};

/* Bytes of a state: O(K + degree + A/64). Errors: 0 if the configuration is not valid. */
size_t tacit_elim_peer_size(const struct tacit_elim_peer_config *config);

/* Errors: TACIT_INVALID, *peer untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_elim_peer_init(struct tacit_elim_peer *peer,
                                       const struct tacit_elim_peer_config *config);

/* Bytes of the table of a peer with this configuration, O(A K): with grants it also holds what
 * opens each row. Requires: counts within their limits. */
size_t tacit_elim_peer_table_size(const struct tacit_elim_peer_config *config);

/* Ensures: an empty table. Requires: 8-byte aligned memory of …_size bytes. */
void tacit_elim_peer_table_init(struct tacit_elim_table *table,
                                const struct tacit_elim_peer_config *config, bool is_shared);

/* As tacit_elim_agent_check, for a state and the table that was persisted with it. */
enum tacit_status tacit_elim_peer_check(const struct tacit_elim_peer *peer, size_t size,
                                        const struct tacit_elim_table *table, size_t table_size,
                                        const struct tacit_elim_peer_config *config);

/* One step; as tacit_elim_agent_step. What a neighbour can make a peer do is bounded: more than
 * 4 A + 1024 messages or 8 A + 1024 rows asked for within an epoch, or within 64 resend pauses, are
 * refused with TACIT_REFUSED. What is refused is not counted and changes nothing, byte for byte
 * (TACIT_REFUSED with update->persist is the own agent's, whose policy ends with the round that the
 * message closed). A neighbour that only names an epoch that could not have come without our
 * report is answered by asking all neighbours what they hold of us. DATA that was not asked for
 * (SPREAD) is TACIT_UNEXPECTED; a row that differs from one that is here is TACIT_MALFORMED.
 * TACIT_ROLLBACK also where a neighbour has seen a report that this state knows nothing of. Cost:
 * O(A/64 + rows K) a message, O(A K) an epoch.
 *
 * With grants, a peer holds a head of each neighbour, as a hub does of each agent, and grants and
 * refuses likewise. Its own draw enters the collection when its grantors have granted it: SPREAD:
 * the lowest neighbour, who is asked first, then all others; GATHER: the parent; a sink: the hub. A
 * row travels with what opens its commitment, and who granted that holds the row against it:
 * TACIT_FORKED, with update->persist, flags who brought a row that does not open it. What follows a
 * grant that this state knows nothing of is heard, not used, and marks the neighbour as ahead.
 *
 * With signed rows a row is taken only with its agent's signature, and whoever signed a row that
 * does not open its grant is flagged, not who brings it. Messages about rows show what their sender
 * holds. Neighbours that hold different rows of a round ask each other for them; two rows of one
 * agent are a proof, which goes round, is kept, and ends all judging. A round is closed only when
 * all neighbours have shown that they hold the same of the rounds before. After the last one each
 * member signs what it holds, and these confirmations spread like rows. */
enum tacit_status tacit_elim_peer_step(struct tacit_elim_peer *peer, struct tacit_elim_table *table,
                                       const struct tacit_event *event,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_elim_update *update);

/* The agent in it, for tacit_elim_agent_view. */
const struct tacit_elim_agent *tacit_elim_peer_agent(const struct tacit_elim_peer *peer);

/* The newest release as the report that an agent of a star would send: for a ledger of what left.
 * It points into state and table, until the next step. Requires: there was a release. */
struct tacit_elim_message tacit_elim_peer_release(const struct tacit_elim_peer *peer,
                                                  const struct tacit_elim_table *table);

/* Shows a peer's state without changing it. Cost: O(K + A/64). */
void tacit_elim_peer_view(const struct tacit_elim_peer *peer, struct tacit_elim_peer_view *view);

/* The arm's interval that is valid at all times, from the releases of all members: the chance that
 * any arm's is wrong at any of its looks is at most 1 - confidence. Of an arm that was dropped,
 * that of its last look; [0, 1], with a mean of 0, before the first round. Requires: SPREAD with
 * exact bounds, arm < K, 0 < confidence < 1. Source: EXACT-BOUNDS 3 (v). Cost: two bounds. */
struct tacit_bounds_interval tacit_elim_peer_interval(const struct tacit_elim_peer *peer,
                                                      uint32_t arm, double confidence);

/* ---- Judge ----------------------------------------------------------------------------------- */

/* The judge that hubs and peers have inside, for whoever has the aggregates of all agents at once:
 * a simulator in which nothing fails. */
struct tacit_elim_judge; /* opaque, relocatable */

/* Bytes of a state: O(K), with exact bounds O(K rungs). Errors: 0 if the schedule is not valid. */
size_t tacit_elim_judge_size(const struct tacit_elim_schedule *schedule);

/* Ensures: it is in its first epoch, or decided. Errors: TACIT_INVALID, *judge untouched. Requires:
 * 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_elim_judge_init(struct tacit_elim_judge *judge,
                                        const struct tacit_elim_schedule *schedule);

/* The order that stands (Alg. 1 l. 2-4), as from a hub; its arrays are the judge's. */
struct tacit_elim_message tacit_elim_judge_order(const struct tacit_elim_judge *judge);

/* Judges the round (l. 12-16): K means averaged over all reports, or, with exact bounds, K totals
 * of their history sums; only those of active arms are looked at. Requires: not decided. */
void tacit_elim_judge_close(struct tacit_elim_judge *judge, const double *means,
                            const int64_t *totals);

/* Shows a judge's state without changing it. Cost: O(1). */
struct tacit_elim_judge_view tacit_elim_judge_view(const struct tacit_elim_judge *judge);

/* ---- Hub ------------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_elim_hub_config {
    uint64_t run_id;
    uint32_t agent_count;
    uint32_t spare_1;
    struct tacit_elim_schedule schedule;
    struct tacit_mechanism mechanism; /* how to read the agents' sums; the hub draws no noise */
    uint32_t quorum;                  /* reports that suffice once the deadline is over; 0: all N */
    uint32_t spare_2;
    uint64_t round_timeout_us; /* from the order to the deadline of a round; 0: no deadline */
    bool answers_all; /* answer every report and HELLO with the standing order (a live hub) */
    uint8_t spare_3[7];
    /* How many agents each agent's report may stand for: the size of its component at a sink, 0 for
     * the others. Copied. NULL: a star, where each speaks for itself. Then N = A (no
     * participation), and the quorum counts agents. */
    const uint32_t *weights;
    bool components_alike; /* the literal average of averages (READINGS P1.16) */
    bool has_grants;       /* grants releases (of sinks, if weighted), and takes only these */
    bool numbered_commits; /* with grants: as of the agents */
    uint8_t domain[TACIT_SHA256_BYTES]; /* with grants: as of the agents */
    bool has_helper;     /* two aggregators, as the schedule says: exact bounds over a star, with
                          * grants, without changes */
    uint32_t change_max; /* changes of a run that there is room for; a star only; 0: none */
};
TACIT_NO_GAPS_END

struct tacit_elim_hub; /* opaque, relocatable */

struct tacit_elim_hub_view {
    TACIT_ROUND_HUB_VIEW(epoch)
    TACIT_ELIM_JUDGE_VIEW
    uint32_t void_count;       /* rounds that were void, of two aggregators */
    const uint64_t *uploaders; /* A: who is asked to report in the present epoch */
    uint64_t pulls;            /* S(r) of the present epoch */
    uint64_t new_pulls;        /* two aggregators: those of it alone */
    uint32_t quorum;           /* as it stands: at most those that can report */
    uint32_t quorum_wanted;    /* as it was said last; 0: all */
    uint64_t round_timeout_us; /* as it stands; 0: no deadline */
    uint64_t horizon;          /* T, as it was extended */
    /* Of a hub that takes changes; else NULL, 0: */
    const struct tacit_elim_change *changes;
    uint32_t change_count;
    const uint64_t *retired;    /* K */
    const uint64_t *dropped;    /* A */
    const uint64_t *abstaining; /* A: who refuses an arm that is in, and is not counted meanwhile */
    const uint64_t *refused;    /* A sets of TACIT_BITS_WORDS(K) words: arms that each refuses */
};

/* Bytes of a state: O(A K). Errors: 0 if the configuration is not valid. */
size_t tacit_elim_hub_size(const struct tacit_elim_hub_config *config);
/* Errors: TACIT_INVALID, *hub untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_elim_hub_init(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_hub_config *config);

/* As tacit_elim_agent_check. */
enum tacit_status tacit_elim_hub_check(const struct tacit_elim_hub *hub, size_t size,
                                       const struct tacit_elim_hub_config *config);

/* One step. The state is a function of the set of reports accepted: order, repetition and delay do
 * not matter, down to the last bit; with a deadline, delay decides which set that is. Entropy
 * serves the choice of participants only: on TACIT_ENTROPY nothing changed, and the same report or
 * a timeout tries again. Cost: O(|I|) a report, O(N |I|) at the end of a round.
 *
 * With grants: a commitment that follows the agent's head is granted, whatever the epoch, and is
 * the head from then on, durable before the GRANT leaves; the head itself is granted again; any
 * other gets a REFUSAL that shows the head. TACIT_FORKED: that, or a report that does not open the
 * head; the sender is flagged and nothing of the message is used. TACIT_ROLLBACK: the sender speaks
 * of an epoch or a term that has not begun here, so this state may be an old one; nothing changed.
 * The same, with update->persist, where it follows a grant that this state knows nothing of: it is
 * marked as ahead, which blames nobody, and its question hears a REFUSAL that says so.
 * A START that begins a term asks for the reports of the present epoch anew. */
enum tacit_status tacit_elim_hub_step(struct tacit_elim_hub *hub, const struct tacit_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update);

/* With two aggregators a round whose reports are here rests (TACIT_WANTS_TOTALS) until it is
 * closed: by one total an active arm, by arm index, over so many agents. 0: it is void, its rewards
 * are spent, and the next rung of the ladder is played. Requires: it rests. */
void tacit_elim_hub_close(struct tacit_elim_hub *hub, uint32_t agents, const int64_t *totals,
                          uint64_t now_us, struct tacit_elim_update *update);

/* The operator's word. Of `wanted` kind, subject, value and made_unix_s are read. *number: of the
 * entry in the log, a new one (update->persist; to be durable before anybody hears of it) or the
 * one that said so before; 0: it is so without any. It goes to everyone in an order. A round that
 * waits for a site that is dropped, or for a quorum that was lowered, closes in this step; that
 * happens without regard to values, since of the reports of an open round nothing is shown. Errors,
 * and nothing changed: TACIT_INVALID (out of range; the last site or arm; a horizon that is not
 * longer; END_RUN before the first round was closed), TACIT_UNEXPECTED (the run has not begun, or
 * is over), TACIT_REFUSED (the log is full, or this hub takes no changes), TACIT_ENTROPY. With two
 * aggregators END_RUN alone is taken, without an entry (*number 0), also while the round rests.
 * Cost: as of a step. */
enum tacit_status tacit_elim_hub_change(struct tacit_elim_hub *hub,
                                        const struct tacit_elim_change *wanted, uint64_t now_us,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update, uint32_t *number);

/* What a hub that lost its state is built again from: all that its closed rounds left (the judge,
 * who is asked for the round that stands, N, quorum, deadline, the log of changes, what sites
 * refuse), and nothing of the open round: no report, no grant. Bytes of one form, the same for the
 * same values; zeros are counted, not written. Ensures: the result is their number; they are
 * written if it is at most `room`. bytes may be NULL with room 0. Cost: O(A K). */
size_t tacit_elim_hub_snapshot(const struct tacit_elim_hub *hub, uint8_t *bytes, size_t room);
/* From a snapshot. Ensures: closed rounds bit for bit, and no report of the open one; a START goes
 * on. What the lost hub granted is not known to this one: with grants that START has to begin a
 * term. Errors: TACIT_MALFORMED (not as a hub of this configuration writes it), TACIT_INVALID; *hub
 * undefined. Requires: as …_init. Cost: O(A K). */
enum tacit_status tacit_elim_hub_restore(struct tacit_elim_hub *hub,
                                         const struct tacit_elim_hub_config *config,
                                         const uint8_t *bytes, size_t size);

/* Shows a hub's state without changing it. Cost: O(1). */
void tacit_elim_hub_view(const struct tacit_elim_hub *hub, struct tacit_elim_hub_view *view);

/* As tacit_elim_peer_interval, from all reports that came. Requires: exact bounds. */
struct tacit_bounds_interval tacit_elim_hub_interval(const struct tacit_elim_hub *hub, uint32_t arm,
                                                     double confidence);
#endif

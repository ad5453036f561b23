/* What the daemon of a site needs of a protocol: a site's core behind bytes. A family supplies one
 * constant struct of functions (src/families/NAME/live.h); it is called once an I/O event, never
 * once a pull of a plan. The daemon knows topics, disk, clock and applications; the family knows
 * its messages, its state and what they mean. Effects are carried out by the daemon, in this order:
 * persist (the state and the release, one durable write), send, plan, timer.
 *
 * Two kinds of families fit. Those with a plan say which arms are to be pulled how often, and the
 * daemon serves the plan one decision at a time (elimination, indices in phases, votes, gossip,
 * whose plan is a single pull). Those that choose by what comes with the request are offered its
 * contexts (LIVE_SITE_OFFER); what they answer, and the bytes that they want back with the reward,
 * are kept with the decision's id (generalised linear bandits). */
#ifndef TACIT_LIVE_SITE_H
#define TACIT_LIVE_SITE_H
#include "changes.h"
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/random.h"
#include "tacit/wire.h"

struct live_command_config; /* daemon/command.h */
struct tacit_promise;       /* tacit/privacy.h */

/* What a site says for itself: nothing of it comes from the network. */
struct live_site_config {
    const char *federation;
    const char *site;
    const char *const *arm_names;
    uint32_t arm_count;
    double epsilon; /* per reward */
    double budget;  /* in total */
    double lo;      /* public range of a reward */
    double hi;
    uint32_t agents_max;
    uint32_t rounds_max;
    uint64_t pulls_max;
    bool settles;             /* every reward is counted at a fixed time after its decision */
    bool has_helper;          /* two aggregators; .. */
    uint64_t floor_nano;      /* .. epsilon of its own noise, 0: none; .. */
    const char *trust_helper; /* .. the fingerprint of the helper's key */
    uint64_t resend_after_us; /* what was not answered is said again after so long */
    const void *settings;     /* what the family read from the site's own file; or NULL */
};

/* Signatures of digests, by a site itself and by the others, whose names go with them. */
struct live_row_signer {
    void *context;
    bool (*sign)(void *context, const uint8_t digest[32], uint8_t signature[64]);
    bool (*check)(void *context, const char *site, const uint8_t digest[32],
                  const uint8_t signature[64]);
};

/* ---- Events ---------------------------------------------------------------------------------- */

enum live_site_event_kind {
    LIVE_SITE_START,     /* after join, or after the state was restored */
    LIVE_SITE_CONNECTED, /* the run is announced again: what was said may have been lost */
    LIVE_SITE_REWARD,    /* the reward of one decision that counts */
    LIVE_SITE_EXPLOITED, /* pulls were played whose rewards enter nothing: outside the plan, after
                            the decision, or in a place that is given out again */
    LIVE_SITE_RECEIVE,   /* a message came */
    LIVE_SITE_TIMEOUT,   /* the deadline of an earlier update has come */
    LIVE_SITE_TASK,      /* the task has ended that an earlier update gave to the site's command */
    LIVE_SITE_OFFER,     /* a decision is asked for, with its contexts */
    LIVE_SITE_REFUSE     /* this site plays an arm no more. TACIT_UNEXPECTED: this protocol knows no
                            such word; TACIT_INVALID: no arm would be left */
};

struct live_site_event {
    enum live_site_event_kind kind;
    uint64_t now_us;                  /* monotone */
    uint64_t term;                    /* of the hub, from 1; 0: none is known */
    const struct tacit_entropy *keys; /* for salts, apart from the noise; NULL: the same source */
    const struct live_row_signer *signer; /* for rows that travel beyond who hears their site */
    union {
        bool begins_term; /* START, CONNECTED: the hub has forgotten what it granted before */
        struct {
            uint32_t arm;
            double value;        /* as the application gave it, finite; the family clips */
            const uint8_t *kept; /* what the OFFER's update wanted kept; NULL: nothing */
            size_t kept_size;
        } reward;
        uint64_t exploited_count;
        struct {
            uint32_t from; /* agent or TACIT_HUB: who says it, by its topic */
            bool is_broadcast;
            const uint8_t *bytes;
            size_t size;
            uint32_t kind;  /* as its envelope says, .. */
            uint32_t epoch; /* .. which must be what the body says */
        } message;
        uint32_t refused_arm;
        struct tacit_offer offer;
        struct {
            uint64_t number;
            bool is_done;         /* the result is there, of the size that was asked for */
            bool is_late;         /* the command said: not now */
            const uint8_t *bytes; /* NULL unless it is done */
            size_t size;
        } task;
    } as;
};

/* ---- Updates --------------------------------------------------------------------------------- */

/* An encoded message. */
struct live_message {
    uint32_t to;    /* agent, TACIT_HUB, TACIT_EVERYONE, TACIT_NEIGHBOURS */
    uint32_t kind;  /* the family's own number, from 1, as its envelope says it */
    uint32_t epoch; /* as in the body; 0 where there is none */
    bool
        is_retained; /* the broker keeps the newest for those who come later: monotone state only */
    bool is_about_one; /* hub to EVERYONE: on the topic of this agent, beside those of others */
    uint32_t about;
    const uint8_t *bytes;
    size_t size;
};

struct live_file {
    const char *name; /* without a folder */
    const void *bytes;
    size_t size;
};

/* Into the state directory, for people; the run does not depend on it. */
void live_file_keep(const char *directory, const struct live_file *file);

/* Work for the command that the site's file names (daemon/command.h): it finds the files in its
 * directory, and leaves one of exactly result_size bytes there. */
struct live_task {
    uint64_t number; /* from 1; 0: what is under way is void, and there is nothing else */
    const struct live_file *files;
    uint32_t file_count;
    const char *result;
    size_t result_size;
    uint64_t deadline_us;
};

/* What was drawn and charged. The outbox keeps one row a number, once: the same row again is
 * nothing new, another one under the same number stops the daemon. */
struct live_site_release {
    uint64_t number; /* from 1, in order */
    uint64_t epsilon_nano;
    const uint8_t *bytes; /* as they leave */
    size_t size;
    uint64_t numbers; /* that were drawn, where the bytes do not say it; 0: they do */
};

/* Everything in it belongs to the family and is valid until the next step. */
struct live_site_update {
    bool persist; /* the state changed in a way that must survive */
    bool has_release;
    struct live_site_release release;
    uint64_t acknowledged; /* this release has arrived, or is not wanted; 0: nothing new is known */
    const struct live_message *messages; /* in this order */
    size_t message_count;
    /* A plan, which replaces the one before: empty if it is void, and after the decision, when no
     * reward enters a sum any more. */
    bool has_plan;
    const struct tacit_pull_block *plan; /* in arm order */
    uint32_t plan_count;
    bool drops_open; /* a term has begun: what was decided before enters nothing, whatever the plan
                      */
    bool has_task;   /* replaces the one under way */
    struct live_task task;
    const struct live_file *file; /* to be kept in the state directory for people; NULL: none */
    bool has_choice;              /* OFFER: this arm, and what is to be kept, which `tell` reads */
    uint32_t choice;
    const uint8_t *kept;
    size_t kept_size;
    uint64_t deadline_us;  /* TACIT_NEVER: no timer */
    bool deadline_is_tick; /* it is public: neither before nor later by chance */
};

/* What a choice that was kept says of itself. */
struct live_choice {
    uint64_t model;     /* number of the model that chose; 0: before the first */
    double probability; /* with which this arm was chosen */
};

/* ---- Views ----------------------------------------------------------------------------------- */

/* A model that was learnt: coefficients, and the ellipsoid of those that cannot be told apart from
 * them: (theta - coefficients)' A (theta - coefficients) <= radius^2. */
struct live_model {
    uint64_t number; /* of the update; 0: none yet */
    uint64_t observation_count;
    uint32_t dimension;
    const char *const *names;   /* of the coordinates */
    const double *coefficients; /* d */
    const double *inverse;      /* A^-1: d rows, as tacit/linalg.h has them */
    double radius;
};

/* Where the site is in its run. */
struct live_site_role {
    uint64_t run_id;
    uint32_t agent;
    uint32_t agent_count;
    uint64_t horizon;
    bool has_neighbours; /* they stand where a hub would */
    const struct tacit_wire_neighbour *neighbours;
    uint32_t neighbour_count;
    const char *const *sites; /* A: names of all; NULL: those of the neighbours alone are known */
};

/* Why a site is blocked whose coordinator has forgotten a grant. */
#define LIVE_SITE_FORGOTTEN                                                                        \
    "blocked: the coordinator knows nothing of a grant that this site had of it: its state is an " \
    "old one; nothing is released until it grants again"

/* What may be shown: computed from what left noised, or public anyway. Pointers belong to the
 * family and are valid until the next step. */
struct live_site_view {
    uint32_t epoch;  /* of the last order, or rounds so far; 0: none yet */
    bool is_waiting; /* nothing to explore just now */
    bool is_decided; /* one arm until the end */
    bool is_finished;
    bool is_halted;         /* nothing is released any more */
    const uint64_t *active; /* K: arms that are in; NULL: all */
    uint32_t active_count;
    uint64_t pull_count;
    uint64_t round_pulls;    /* of each active arm, from the first, once this plan is done */
    double radius;           /* what they will tell apart, as a part of the range; 0: nothing */
    bool is_committed;       /* what was drawn last waits for its grant: nothing uses it */
    bool is_blocked;         /* .. which another state of this site got: nothing leaves from here */
    const char *trouble;     /* why it is halted or blocked, for people; NULL: it is not */
    const char *forgetful;   /* who has forgotten what it granted, so that this site is blocked; or
                                NULL */
    uint64_t draw_number;    /* of the newest draw; 0: none. What comes of it leaves on a tick
                                (daemon/tick.h) */
    uint64_t release_number; /* of the newest draw that may be used; 0: none */
    bool draws_always;       /* something is drawn with every reward: not each is told in the log */
    const double *estimates; /* K: what it takes the arms' means to be, in units of a reward; NULL:
                                it has no estimates at any time */
    const char *no_estimates; /* why there are none at any time, for people; or NULL */
    double estimate_spread;   /* of the largest of them: how far from a neighbour's it was at most
                                 when they last met */
    double confidence;    /* of the intervals; 0: the site judges no arms, or has no intervals */
    const double *lowers; /* K: means are in these intervals, all of them at all times, as parts */
    const double *uppers; /* of the public range */
    uint64_t spent_nano;
    const struct live_model *model; /* NULL: the protocol learns none */
    const uint64_t *missing; /* A: sites whose word is waited for; NULL: it is not known here */
    uint32_t missing_count;
    const uint64_t *grantors; /* A: sites whose grant its release waits for; NULL: the hub's */
    const uint64_t *flagged;  /* A: sites that spoke from two states; NULL: it is not looked for */
    uint32_t flagged_count;
    const uint64_t *ahead; /* A: neighbours that show a grant which this state never gave: it is an
                              old one, or they do not say what is true; NULL: as `flagged` */
    uint32_t ahead_count;
    const uint64_t *differing; /* A: sites that hold other rows than this one, as they show; NULL */
    uint32_t differing_count;  /* as `flagged` */
    uint32_t forker;           /* 1 + the site of which two rows of one epoch are proved; 0: none */
    uint32_t forked_epoch;
    bool is_unconfirmed; /* it was decided, and the time for the others' word on it is over: some of
                            them are missing */
    const struct live_control_entry *changes; /* of the run, by its operator; NULL: none */
    uint32_t change_count;
    const uint64_t *refused; /* K: arms that this site does not play of its own accord; NULL: it
                                cannot refuse any */
    bool refuses_all;        /* .. all that are in */
    bool is_beyond_policy;   /* the run goes on with rounds that policy.rounds_max does not allow */
    bool is_dropped;         /* the operator asks for no report of this site any more */
    uint64_t horizon;        /* as it stands here; 0: as announced */
};

/* Is the arm in, as far as this site knows? */
static inline bool live_site_has_arm(const struct live_site_view *site, uint32_t arm)
{
    return site->active == NULL || tacit_bits_has(site->active, arm);
}

/* ---- The family's functions ------------------------------------------------------------------ */

/* A core, whose configuration is in what the family has beside the state. */
struct live_core {
    size_t own_size;                 /* of that: site->own or hub->own, zeros at first */
    size_t (*size)(const void *own); /* of the state; 0: there can be none */
    /* Over zeros. */
    enum tacit_status (*init)(void *state, const void *own);
    /* Errors: TACIT_MALFORMED. */
    enum tacit_status (*check)(const void *state, size_t size, const void *own);
};

struct live_site; /* protocol.h; the daemon knows it by the functions below */

/* One family: what protocol.c does not know of a site. */
struct live_site_ops {
    const struct tacit_wire_protocol *wire; /* its messages are the core's own structs */
    bool receives_each;     /* the hub also says what is about one site on a topic of its own */
    const char *one_run;    /* why a state has one run only, in words; NULL: it has any number */
    bool has_terms;         /* it can go on in a new term, with a hub that has lost its state */
    bool sums_in_memory;    /* exact sums are in the memory of a process and nowhere else: what was
                               decided before its start enters none of them. Else a copy of a state
                               would draw again for the reward of a decision that was open in it */
    const char *epsilon_of; /* what policy.epsilon is the loss of; NULL: one reward */
    bool keeps_digest;      /* the digest of the agreement is kept beside the announcement */
    bool keeps_objecting;   /* an objection holds against a state that was kept, too */
    bool hub_is_silent;     /* it has nothing to say beside the announcement */
    uint32_t events;        /* a set of 1u << kind; others are TACIT_UNEXPECTED */
    const struct live_core *core;

    /* From site->run, site->announcement and site->config to the core's configuration, and room for
     * what is shown; that the room had all is seen afterwards. Errors: TACIT_MALFORMED,
     * TACIT_MEMORY. */
    enum tacit_status (*configure)(struct live_site *site);
    /* What the run wants against this site's own file; static. NULL: nothing. */
    const char *(*objection)(const struct live_site *site);
    /* The state is there, new or restored; NULL: there is nothing to do. */
    void (*begin)(struct live_site *site, bool is_restored);
    /* message: of RECEIVE, decoded, and from whom it says. What follows goes into *update: by
     * protocol.h, where that has words for it. Errors: as live_site_step. */
    enum tacit_status (*step)(struct live_site *site, const struct live_site_event *event,
                              void *message, const struct tacit_entropy *entropy,
                              struct live_site_update *update);
    /* Families that choose by contexts: what kept bytes say. NULL: the family has a plan. Errors:
     * false: they are none of its. */
    bool (*parse_kept)(const uint8_t *kept, size_t size, struct live_choice *choice);
    void (*fill_view)(const struct live_site *site, struct live_site_view *view);
    /* Is the first the better arm to fall back to, of those that may be played (live_site_rank)?
     * NULL: they are as good. */
    bool (*prefers)(const struct live_site *site, uint32_t arm, uint32_t other);
    /* The command that the site's file names; NULL, or a result of NULL: this protocol has none. */
    const struct live_command_config *(*command)(const struct live_site_config *config);
    /* What it promises, in a promise of zeros: the mechanism, and of the trust model the audience;
     * site is NULL before it joined a run. */
    void (*promise)(const struct live_site *site, const struct live_site_config *config,
                    struct tacit_promise *promise);
};

/* ---- A site, whatever its family ------------------------------------------------------------- */

/* After how long a site of so many says again what was not answered, the first time; then pauses
 * double (round_pause_us). At least least_us; a millisecond for each site, which is what a
 * coordinator takes for it: else all would say everything again before it can have answered. */
uint64_t live_site_resend_us(uint64_t least_us, uint32_t agent_count);

/* Takes part in the run that these bytes announce. What all protocols agree on is checked already:
 * arms, range, and that number of sites and horizon are within the policy. Errors: TACIT_MALFORMED
 * (they announce none), TACIT_REFUSED (*objection says what is not allowed here; static),
 * TACIT_MEMORY. */
enum tacit_status live_site_join(const struct live_site_ops *ops, struct live_site **site,
                                 const struct live_site_config *config, const uint8_t *announcement,
                                 size_t size, const char **objection);

/* From the bytes that were kept. Errors: TACIT_MALFORMED (they cannot be of this site, or of this
 * policy: *objection says why, static; else it is NULL), TACIT_MEMORY. */
enum tacit_status live_site_restore(const struct live_site_ops *ops, struct live_site **site,
                                    const struct live_site_config *config, const void *bytes,
                                    size_t size, const char **objection);
void live_site_free(struct live_site *site); /* NULL is allowed */

/* What is to be kept, as it stands; valid until the next step. */
const void *live_site_bytes(const struct live_site *site, size_t *size);

/* Did it join this very announcement? */
bool live_site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size);

/* What that announcement said that all must agree on. */
const struct tacit_wire_agreement *live_site_agreement(const struct live_site *site);

/* Fills *update, whatever the status. Errors, of RECEIVE: the message is refused, and nothing
 * changed; TACIT_ENTROPY: a later event tries again. */
enum tacit_status live_site_step(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update);
void live_site_role(const struct live_site *site, struct live_site_role *role);

/* The arms to fall back to, best first, into room for K. Ensures: the result is their number. site
 * is NULL before it joined a run. */
uint32_t live_site_rank(const struct live_site *site, const struct live_site_config *config,
                        uint32_t *arms);
#endif

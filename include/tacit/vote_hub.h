/* Private votes over a hub: who may vote from a draw, and where votes are kept (LIVE-TRUST 1 with
 * tacit/vote.h). A site holds a private player, a board and what it has committed to; the hub holds
 * a board, and of each site the last commitment that it granted.
 *
 * With published sums (sharing: sums) the draw itself is what leaves once it is granted, and opens
 * its commitment; the hub adds it to the pool, and its rows say which arms the pool has out. The
 * pool takes releases in the order in which they come, which the hub's one pool makes that of all.
 *
 * A site commits to each draw and does nothing with it, and reads no board, before the hub's grant.
 * Its vote goes to the hub with the commitment that was granted last. The hub joins it to what it
 * has of that player and says all of it to everyone: so the word about a player only grows, whoever
 * speaks in its name, and of two copies of a site one goes on.
 *
 * Pure functions of (state, event, entropy), as in tacit/elim.h. */
#ifndef TACIT_VOTE_HUB_H
#define TACIT_VOTE_HUB_H
#include "tacit/vote.h"

/* ---- Messages -------------------------------------------------------------------------------- */

enum tacit_vote_hub_message_kind {
    TACIT_VOTE_HELLO,   /* site -> hub: the last grant that I know of; what now? */
    TACIT_VOTE_COMMIT,  /* site -> hub: may this draw be used? */
    TACIT_VOTE_CAST,    /* site -> hub: the arms that I have eliminated since the reset */
    TACIT_VOTE_GRANTED, /* hub -> site: it may; to a HELLO: that is the last one */
    TACIT_VOTE_REFUSED, /* hub -> site: another one was granted */
    TACIT_VOTE_ROW,     /* hub -> everyone: all that this player has eliminated */
    TACIT_VOTE_ANEW,    /* hub -> everyone: everything from the start (DSER4), or from what this
                           hub has (sums, in a new term) */
    TACIT_VOTE_RELEASE  /* site -> hub: sums; a draw that was granted */
};

/* A plain struct. marks belong to the sender's state and stay valid until its next step. Every kind
 * is of a fixed size for K arms. */
struct tacit_vote_hub_message {
    enum tacit_vote_hub_message_kind kind;
    uint32_t from; /* site, or TACIT_HUB */
    uint32_t to;   /* site, TACIT_HUB or TACIT_EVERYONE */
    uint64_t run_id;
    uint64_t term;                          /* of the sender; 0: the first */
    uint32_t draw;                          /* draws of the site, GRANTED and REFUSED: as it said;
                                               0 in ANEW; ROW: 0, or, of sums, the player's
                                               newest draw that is in the pool, or void */
    uint32_t player;                        /* ROW: whose */
    uint64_t reset;                         /* CAST, ROW, ANEW: resets so far */
    const uint64_t *marks;                  /* CAST, ROW: K bits; RELEASE: its arms; else NULL */
    const int64_t *sums;                    /* RELEASE: K noised sums; else NULL */
    uint8_t commitment[TACIT_SHA256_BYTES]; /* COMMIT, GRANTED: it; HELLO, CAST, REFUSED: the head;
                                               zeros: none was granted yet */
    uint8_t previous[TACIT_SHA256_BYTES];   /* COMMIT, RELEASE: the one before it */
    uint8_t salt[TACIT_SHA256_BYTES];       /* RELEASE: what opens its commitment */
    bool forgot; /* REFUSED: this hub knows nothing of what was followed; its state is an old one */
};

/* ---- Site ------------------------------------------------------------------------------------ */

TACIT_NO_GAPS
struct tacit_vote_site_config {
    struct tacit_vote_noised_config player;
    struct tacit_vote_board_config board; /* of the same run, N and K */
    uint8_t domain[TACIT_SHA256_BYTES];   /* of its commitments (tacit_commit_domain) */
    uint64_t horizon;   /* pulls; after them it plays the best and learns no more */
    uint32_t draws_max; /* draws that the site allows, at least 1 */
    bool goes_on;       /* resets may come: a single arm ends nothing */
    bool spare[3];
    uint64_t resend_after_us; /* > 0: what was not answered is said again */
};
TACIT_NO_GAPS_END

struct tacit_vote_site_update {
    bool persist;
    bool has_draw;    /* a draw was committed to: the ledger's row, one each */
    uint32_t draw;    /* if has_draw */
    uint32_t granted; /* the draw that may be used from this step on; 0: none */
    uint32_t message_count;
    struct tacit_vote_hub_message
        messages[2];  /* COMMIT or HELLO, and CAST or RELEASE; marks valid until next step */
    bool begins_term; /* what was not drawn before this step enters nothing */
    bool replan;      /* the plan below replaces the one before; it may be empty */
    uint32_t plan_count;
    const struct tacit_pull_block *plan; /* in arm order; valid until the next step */
    bool on_tick;                        /* the deadline is a public tick at which a vote leaves */
    uint64_t deadline_us;                /* TACIT_NEVER: no timer */
};

struct tacit_vote_site_view {
    struct tacit_vote_noised_view player;
    struct tacit_vote_board_view board;
    bool is_decided;   /* one arm is left of the voted set, for good */
    bool is_finished;  /* all pulls of the run are played */
    bool is_committed; /* the newest draw waits for its grant */
    bool is_blocked;   /* another state of this site was granted; nothing leaves from here .. */
    bool is_forgotten; /* .. or the hub knows nothing of a grant that it gave */
    bool is_holding; /* sums: a granted release is to leave, or to be settled, before it plays on */
    bool is_spent;   /* no draw is allowed any more: draws_max, the budget, or the ladder's end */
    uint32_t granted; /* the newest draw that may be used; 0: none */
    uint64_t term;
    uint64_t pull_count;
    const uint64_t *said; /* K: the vote as it left last */
    bool is_heard;        /* the hub has said it to everyone, or that it has the release */
    uint8_t head[TACIT_SHA256_BYTES];
    struct tacit_commit commit; /* if is_committed */
};

struct tacit_vote_site; /* opaque, relocatable */

/* Bytes of a state: O(K + board). Errors: 0 if the configuration is not valid. */
size_t tacit_vote_site_size(const struct tacit_vote_site_config *config);

/* Errors: TACIT_INVALID, *site untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_vote_site_init(struct tacit_vote_site *site,
                                       const struct tacit_vote_site_config *config);

/* Are these bytes a state of this configuration? Errors: TACIT_MALFORMED. Cost: O(N K). */
enum tacit_status tacit_vote_site_check(const struct tacit_vote_site *site, size_t size,
                                        const struct tacit_vote_site_config *config);

/* One step. START (after init, a restart, or when the hub is there again) says and asks again what
 * is open. In a later term the hub has forgotten what it granted: what no grant covers is dropped
 * with its rewards, what of the block was played is played anew, and what was said is said again.
 * REWARD and EXPLOITED as in tacit/vote.h. RECEIVE: rows and resets go to the board, which is read
 * at once, or after the grant that is waited for; a grant lets the draw be used; a refusal blocks,
 * unless it is older than the last draw. Late and repeated answers are TACIT_OK. TIMEOUT: a tick,
 * or something to say again. Errors: TACIT_STRANGER (not of this run, not from the hub, not to this
 * site), TACIT_MALFORMED (no such player or arm), TACIT_UNEXPECTED (a kind that only a hub takes),
 * TACIT_INVALID (a reward that was not planned); nothing is changed then. TACIT_ENTROPY: nothing
 * was drawn, or not committed to; a timeout tries again. TACIT_BUDGET: the draw was refused. Cost:
 * O(K) an epoch's end, O(K/64) a row. */
enum tacit_status tacit_vote_site_step(struct tacit_vote_site *site,
                                       const struct tacit_event *event,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_vote_site_update *update);

/* Of sums: the newest draw as it leaves, once it is granted: the ledger's row. Requires: block > 0,
 * a draw. Cost: O(1). */
struct tacit_vote_hub_message tacit_vote_site_release(const struct tacit_vote_site *site);

/* As tacit_vote_noised_total. */
int64_t tacit_vote_site_total(const struct tacit_vote_site *site, uint32_t arm);

/* Shows a state without changing it. Cost: O(K epochs). */
void tacit_vote_site_view(const struct tacit_vote_site *site, struct tacit_vote_site_view *view);

/* ---- Hub ------------------------------------------------------------------------------------- */

TACIT_NO_GAPS
struct tacit_vote_hub_config {
    struct tacit_vote_board_config board;
    struct tacit_vote_pool_config pool; /* sums: of the same run, N and K; block 0: votes */
    uint8_t domain[TACIT_SHA256_BYTES]; /* sums: of commitments */
    uint32_t
        reset_after_s; /* DSER4: a coin each second resets after so long in the mean; 0: none */
    uint32_t spare;
};
TACIT_NO_GAPS_END

struct tacit_vote_hub_update {
    bool persist;
    bool send;
    struct tacit_vote_hub_message message; /* marks valid until the next step */
    uint32_t arms_out;                     /* arms that this step voted out */
    uint64_t deadline_us;                  /* TACIT_NEVER: no timer */
};

struct tacit_vote_hub_view {
    struct tacit_vote_board_view board;
    struct tacit_vote_pool_view pool; /* sums; else zeros */
    bool is_decided;                  /* one arm is left of the voted set, for good */
    uint64_t term;
    uint32_t voter_count;    /* players with a mark of the present reset that counts; sums: with a
                                release */
    const uint64_t *voters;  /* N */
    const uint64_t *flagged; /* N: two states of this site were seen */
    const uint64_t *ahead;   /* N: it follows a grant that this state never gave */
    const uint32_t *draws;   /* N: newest draw that was granted to each; 0: none */
};

struct tacit_vote_hub; /* opaque, relocatable */

/* Bytes of a state: O(board + N). Errors: 0 if the configuration is not valid. */
size_t tacit_vote_hub_size(const struct tacit_vote_hub_config *config);

/* Errors: TACIT_INVALID, *hub untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_vote_hub_init(struct tacit_vote_hub *hub,
                                      const struct tacit_vote_hub_config *config);

/* Are these bytes a state of this configuration? Errors: TACIT_MALFORMED. Cost: O(N K). */
enum tacit_status tacit_vote_hub_check(const struct tacit_vote_hub *hub, size_t size,
                                       const struct tacit_vote_hub_config *config);

/* One step. START with a later term: what was granted is forgotten, and of each site the head that
 * it shows first is its head; a later reset that a site shows then is one that this state has lost,
 * and begins again. A COMMIT is granted if it follows the head of its site, and then is the head:
 * persist comes before the grant leaves. A CAST counts if it names the head or the one before it. A
 * HELLO is answered with the head: granted if it is that, or refused. A RELEASE opens the head, and
 * is added up once, whatever comes again; one that the pool cannot take (it lacks an arm that is
 * left) is void. What was granted before that
 * is late, or a copy's, and hears a REFUSED. Errors: TACIT_STRANGER (not of this run, not a site; a
 * vote of one that has none), TACIT_MALFORMED, TACIT_UNEXPECTED; TACIT_FORKED: a commitment or vote
 * of another state than the one that was granted; the site is flagged, and an answer may leave;
 * TACIT_ROLLBACK: it follows a grant that this state knows nothing of: it is marked as ahead, which
 * blames nobody, and hears so; or a vote of a reset that was not: nothing changed. TACIT_ENTROPY:
 * no coin was flipped; soon again. Cost: O(1) a commitment, O(K/64) a vote, O(N K) a reset. */
enum tacit_status tacit_vote_hub_step(struct tacit_vote_hub *hub, const struct tacit_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_vote_hub_update *update);

/* What stands of this player, to be said again; false: it has no marks. Ensures: as
 * update->message. Requires: player < N. Cost: O(K/64). */
bool tacit_vote_hub_row(const struct tacit_vote_hub *hub, uint32_t player,
                        struct tacit_vote_hub_message *message);
/* The same of the last reset; false: there was none. */
bool tacit_vote_hub_reset(const struct tacit_vote_hub *hub, struct tacit_vote_hub_message *message);

/* What a hub that lost its state is built again from: the number of resets, or the pool. The votes
 * come back from the sites' own, in a new term, which a START has to begin: what was granted is
 * forgotten. Of sums nothing comes back that is not in the pool: the arms that it has left are in
 * again everywhere, and its next looks are none of those that are lost.
 * As tacit_elim_hub_snapshot and tacit_elim_hub_restore. */
size_t tacit_vote_hub_snapshot(const struct tacit_vote_hub *hub, uint8_t *bytes, size_t room);
enum tacit_status tacit_vote_hub_restore(struct tacit_vote_hub *hub,
                                         const struct tacit_vote_hub_config *config,
                                         const uint8_t *bytes, size_t size);

/* Shows a state without changing it. Cost: O(1). */
void tacit_vote_hub_view(const struct tacit_vote_hub *hub, struct tacit_vote_hub_view *view);
#endif

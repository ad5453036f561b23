/* Round: a site that plays what a hub orders, round after round: its phases, what it has drawn and
 * may use, what it takes of an order, a grant, a refusal. What a plan is, what is released and how
 * much of it a later order may want are the protocol's. */
#ifndef TACIT_ROUND_PLAY_H
#define TACIT_ROUND_PLAY_H
#include "site.h"
#include "tacit/helper.h"
#include "tacit/privacy.h"
#include "tacit/round.h"

enum phase {
    PHASE_IDLE,      /* no order yet */
    PHASE_PULLING,   /* a plan is open */
    PHASE_RELEASING, /* all rewards of the round are here; the noise is not drawn yet */
    PHASE_COMMITTED, /* it is drawn, and waits for its grant; perhaps at T */
    PHASE_WAITING,   /* for the next order */
    PHASE_FINISHED,  /* T pulls were played */
    PHASE_HALTED     /* nothing leaves any more: no budget, or this state is an old copy */
};

/* Members of the site's state, with its own word for a round. */
#define ROUND_PLAY_MEMBERS(round, draw_round, release_round)                                       \
    struct tacit_ledger ledger;                                                                    \
    struct round_site grants;                                                                      \
    uint64_t now_us;                                                                               \
    uint64_t horizon;        /* T, or more where the run was extended */                           \
    uint64_t pull_count;     /* pulls played, of T */                                              \
    uint64_t left_count;     /* pulls left in the plan */                                          \
    uint64_t term;           /* 0: the first */                                                    \
    uint64_t number_base;    /* of a draw: this and its round; 0 in the first term */              \
    uint64_t release_number; /* of the last draw that was granted; 0: none */                      \
    enum phase phase;                                                                              \
    uint32_t round;                                                                                \
    uint32_t draw_round;       /* last round whose sums were noised; ahead while COMMITTED */      \
    uint32_t release_round;    /* last one whose release may be used */                            \
    bool last;                 /* the order said that no round follows */                          \
    bool reported;             /* the hub holds this round's report, or needs none */              \
    bool cut;                  /* T comes before the end of the plan: nothing is released */       \
    bool awaiting_first_order; /* no order of this term was taken yet */                           \
    bool spare[4];

struct round_play {
    ROUND_PLAY_MEMBERS(round, draw_round, release_round)
};

/* The same with what its configuration says. */
struct round_agent {
    struct round_play *play;
    const uint8_t *domain; /* of commitments */
    uint64_t run_id;
    uint32_t id;
    uint32_t round_max;
    uint32_t round_limit;     /* agent.h: policy; orders of later rounds are refused; 0: none */
    uint64_t resend_after_us; /* agent.h */
    bool has_grants;
    bool is_numbered; /* struct tacit_commit_scope */
};

/* Draws are numbered on over terms, also where rounds come again. */
uint64_t round_play_draw_number(const struct round_play *play);

/* Every phase change goes through here, so an illegal one cannot pass unseen. */
void round_play_set_phase(struct round_play *play, enum phase next);

/* Nothing is left of the plan: WAITING, or FINISHED at T. */
void round_play_start_waiting(struct round_play *play);

/* Pulls outside the plan; they enter no sum. Errors: TACIT_INVALID, there are no such. */
enum tacit_status round_play_exploit(struct round_play *play, uint64_t count);

/* What every message says of its sender. HELLO: the round is 0 before the first order of a term. */
struct tacit_round_message round_agent_head(const struct round_agent *agent);

/* Shows it. */
struct tacit_round_view round_agent_view(const struct round_agent *agent);

/* ---- Orders ---------------------------------------------------------------------------------- */

/* Is it for this site, in this term, of a round that can be? */
enum tacit_status round_agent_check_order(const struct round_agent *agent,
                                          const struct tacit_round_message *order);

/* Does the hub hold more from this site than this state ever drew? Then the state is an old copy,
 * and going on would release the same rewards twice (PRIVACY.md D.9, D.10). */
bool round_agent_is_old_copy(const struct round_agent *agent,
                             const struct tacit_round_message *order);

/* A word to this site alone: the hub is there, and says whether it holds the report. */
void round_agent_on_seen(const struct round_agent *agent, const struct tacit_round_message *order);

/* ---- Draws ----------------------------------------------------------------------------------- */

/* Commits to this round's release, by its digest. Errors: TACIT_ENTROPY, nothing changed. */
enum tacit_status round_agent_commit(const struct round_agent *agent,
                                     const uint8_t digest[TACIT_SHA256_BYTES],
                                     const struct tacit_entropy *keys);

/* With two aggregators: masks the round's words, of which nothing is left then that the hub could
 * read, and commits to what opens them. order: digest of what was ordered. Errors: TACIT_ENTROPY,
 * the words are of no use. */
enum tacit_status round_agent_mask(const struct round_agent *agent,
                                   const struct tacit_aggregators *aggregators,
                                   const uint8_t order[TACIT_SHA256_BYTES],
                                   const struct tacit_entropy *keys, uint64_t *words,
                                   uint32_t count, struct tacit_helper_release *release);

/* The draw may be used: it is the release from here on. Requires: this round's is drawn. */
void round_play_use_draw(struct round_play *play);

/* *granted: the draw that waits may be used from here on, and the round needs a report unless it is
 * closed. Others are late, or repeated. */
enum tacit_status round_agent_on_grant(const struct round_agent *agent,
                                       const struct tacit_round_message *grant, bool *granted);

/* *changed: the site is blocked, or is not any more (round_site_on_refusal). */
enum tacit_status round_agent_on_refusal(const struct round_agent *agent,
                                         const struct tacit_round_message *refusal, bool *changed);

/* What no grant covers is gone: whoever begins a term has forgotten what it granted. What is left
 * of the rounds (round, draw_round, release_round) the caller says between these two; then it
 * rests, whatever phase it was in: an old copy has nothing any more that could leave twice. */
void round_play_begin_term(struct round_play *play, uint64_t term, bool is_granted);
void round_play_rest(struct round_play *play);

/* ---- Steps and states ------------------------------------------------------------------------ */

/* After a step that took something in: when to say again what nobody has answered. A site at T asks
 * for its grant, or tries to hand in its last report, for a while: the hub may be gone for good.
 * owes_report: at T. What of *step follows from phases is filled in here. */
void round_play_end_step(struct round_play *play, uint64_t resend_after_us, bool owes_report,
                         enum phase before, struct round_site_step *step);

void round_play_check_invariants(const struct round_play *play, uint32_t round_max,
                                 bool has_grants);

/* Could steps have left this? (For bytes from a disk.) Requires: the configuration is its own. */
bool round_agent_is_possible(const struct round_agent *agent, uint64_t budget_nano);
#endif

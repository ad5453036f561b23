/* Round: a site that plays what a hub orders, round after round, from an event to what it says: it
 * draws once, commits, waits for its grant, reports. What an order asks for, what is drawn and how
 * much of a release a later order may want are the protocol's (struct round_agent_rule). */
#ifndef TACIT_ROUND_AGENT_H
#define TACIT_ROUND_AGENT_H
#include "message_kind.h"
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
    uint32_t round_limit; /* policy: orders of later rounds are refused; 0: none */
    uint64_t resend_after_us;
    bool has_grants;
    bool is_numbered; /* struct tacit_commit_scope */
};

/* What a step comes to, for the protocol to say in its own messages. */
struct round_agent_made {
    bool persist;
    bool plan_is_open; /* anew, or said again */
    bool plan_is_void; /* what was left of the one before is not wanted any more */
    enum round_message_kind message_kind;
    uint32_t happened; /* TACIT_DREW and so on */
};

/* What was drawn: all of it is zero if the draw comes to nothing. */
struct round_draw {
    uint64_t *words;
    uint32_t count;
    struct tacit_helper_release
        *masked; /* two aggregators: where to put what opens it; else NULL */
    uint8_t
        digest[TACIT_SHA256_BYTES]; /* of the release; of two aggregators: of what was ordered */
};

/* A protocol's part, on its own site. NULL, where it says so: there is nothing to do. */
struct round_agent_rule {
    struct round_agent (*round)(void *site);
    /* What is heard; NULL: a message begins with its tacit_round_kind. */
    enum round_message_kind (*message_kind)(const void *message);
    size_t head_at; /* of a message */
    /* A release stands for all rounds up to its own. So one that was granted outlasts what was
     * ordered after it, no order overtakes rewards that are not released, a round may ask for no
     * pulls, and after the last one nothing is new. */
    bool keeps_history;
    /* ---- Orders: of a later round, where nothing else is said. */
    enum tacit_status (*check_order)(void *site, const struct tacit_event *input);
    /* What it says beside the round, whatever is made of that: has the site changed? NULL */
    bool (*apply_changes)(void *site, const struct tacit_event *input);
    /* The first of a term, of the very round of the last release. True: that release answers it,
     * and what else the order says is taken. False: nothing changed. */
    bool (*reuse_release)(void *site, const struct tacit_event *input);
    /* .. of any: has it room for the last release? NULL: if its round is a later one. */
    bool (*continues)(void *site, const struct tacit_event *input);
    /* Of the round that stands: is the report asked for now, or no more? NULL: as it was. */
    bool (*update_asked)(void *site, const struct tacit_event *input);
    bool (*is_asked)(void *site); /* for this round's report; NULL: always */
    /* Says what is left to be pulled, and whether it is cut; of no pulls, neither the last nor
     * cut, the release is drawn at once. */
    void (*plan)(void *site, const struct tacit_event *input);
    void (*replan)(void *site); /* the same, where it was changed; NULL: it never is */
    /* ---- Events */
    bool (*begin)(void *site); /* without an order, at a START: has it a plan of its own? NULL */
    /* REWARD, EXPLOITED: one less of what is left, or of what is beside it. Errors: TACIT_INVALID.
     */
    enum tacit_status (*play)(void *site, const struct tacit_event *event);
    /* ---- Draws */
    uint64_t (*cost_nano)(void *site, const struct tacit_event *event);
    /* Exact sums with noise. Errors: TACIT_ENTROPY. */
    enum tacit_status (*draw)(void *site, const struct tacit_entropy *entropy,
                              struct round_draw *draw);
    void (*record_draw)(void *site); /* what was drawn; NULL: it is where it stays */
    void (*erase)(void *site);       /* all exact sums: of a draw, of a site that is halted */
    void (*use)(void *site);         /* the draw may be used; NULL */
    /* ---- What ends: what is cleared then */
    void (*drop)(void *site);       /* a plan that is overtaken: it, and what it alone brought */
    void (*forget)(void *site);     /* a release that is of no use in a term: all of it */
    void (*begin_term)(void *site); /* a term: what was not drawn yet; NULL */
};

/* Draws are numbered on over terms, also where rounds come again. */
uint64_t round_play_draw_number(const struct round_play *play);

/* Pulls outside the plan; they enter no sum. Errors: TACIT_INVALID, there are no such. */
enum tacit_status round_play_exploit(struct round_play *play, uint64_t count);

/* What every message says of its sender. HELLO: the round is 0 before the first order of a term. */
struct tacit_round_message round_agent_head(const struct round_agent *agent);

/* Shows it. */
struct tacit_round_view round_agent_view(const struct round_agent *agent);

/* Of this step, but for what is said and planned. */
struct tacit_update round_agent_update(const struct round_play *play,
                                       const struct round_agent_made *made);

/* One event. Ensures: with an error nothing is said. Errors: TACIT_ENTROPY, TACIT_BUDGET: as of
 * tacit_phased_agent_step; of orders, grants and refusals:
 * TACIT_STRANGER, TACIT_MALFORMED, TACIT_UNEXPECTED, TACIT_ROLLBACK (this state is an old copy). */
enum tacit_status round_agent_step(const struct round_agent_rule *rule, void *site,
                                   const struct tacit_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct round_agent_made *made);

/* The site itself has changed what it plays: its plan is laid anew, and the hub hears of it at
 * once. The rest as of a step; of the event what is heard is not looked at. */
enum tacit_status round_agent_change_plan(const struct round_agent_rule *rule, void *site,
                                          const struct tacit_event *now,
                                          const struct tacit_entropy *entropy,
                                          struct round_agent_made *made);

/* Between steps: a later term begins in which nothing of before is of use. */
void round_agent_reset(const struct round_agent_rule *rule, void *site, uint64_t term);

/* Could steps have left this? (For bytes from a disk.) Requires: the configuration is its own. */
bool round_agent_is_possible(const struct round_agent *agent, uint64_t budget_nano);
#endif

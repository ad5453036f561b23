/* One storm for all protocols with rounds: small federations in which everything comes to everybody
 * at any time: messages lost, twice, late, out of order, now and then with one member changed;
 * rewards that nobody planned; deadlines a moment too early; clocks that begin anew; deaths before
 * and after what is durable; entropy that ends in the middle of a step; old states and running
 * clones of sites; hubs that are put back, or lost and built again; the operator's changes.
 *
 * A protocol is a rule: a constant struct (rule_NAME.c). What a world has to keep is looked at
 * after each step (storm.c, look_at): that is the list of promises. When the faults are over,
 * everybody ends, or says why not. The digest knows all that happened (support/digest.h), and the
 * verdicts over damaged states (support/damage.h) are known, too. */
#ifndef TACIT_TESTS_STORM_H
#define TACIT_TESTS_STORM_H
#include "tacit/bounds.h"
#include "tacit/commit.h"
#include "tacit/core.h"
#include "tacit/helper.h"
#include "tacit/round.h"
#include "tacit/random.h"
#include "tacit/wire.h"

#define STORM_SITES_MAX 6u
#define STORM_ARMS_MAX 70u
#define STORM_HELPER (2 * STORM_SITES_MAX + 1)
#define STORM_NODES_MAX (2 * STORM_SITES_MAX + 2) /* sites, the hub, clones of sites; a helper */
#define STORM_RUN_ID UINT64_C(0x123456789)
#define STORM_SAID_MAX 4u
#define STORM_WIRE_BYTES 8192u
#define STORM_REWARDS_WORDS 64u
#define STORM_EPSILON 2.0 /* of each of two aggregators */

struct storm_event {
    enum tacit_event_kind kind; /* selection: REWARD is a training, EXPLOITED that all is said again
                                 */
    const struct tacit_entropy *keys;
    uint64_t now_us;
    uint64_t term;                               /* START */
    const void *message;                         /* RECEIVE: the protocol's own */
    const struct tacit_aggregators *aggregators; /* where there are two */
    uint64_t count;                              /* EXPLOITED */
    struct tacit_reward reward;                  /* REWARD */
    const double *difference;                    /* .. of selection, with its round */
    uint32_t round;
};

/* What a step came to. */
struct storm_update {
    enum tacit_status status;
    bool persist;
    bool persists_part; /* .. only the first bytes of the node, where it has some (part_bytes) */
    bool drew;          /* all rewards so far are in a draw that waits for its grant */
    bool voids_rewards; /* those that were not drawn are in none any more */
    bool ends_alone;    /* a hub of two aggregators: the round is over, with no totals */
    uint32_t round;     /* of selection's training */
    uint32_t happened;  /* TACIT_DREW and so on */
    uint64_t flags;     /* what else it asks for, for the digest */
    uint64_t deadline_us;
    bool has_plan;
    const struct tacit_pull_block *plan;
    uint32_t plan_count;
    const void *messages[STORM_SAID_MAX];
    uint32_t message_count;
};

enum storm_end { STORM_GOES_ON, STORM_SAYS_WHY, STORM_IS_OVER };

/* What a state shows. */
struct storm_look {
    const uint8_t *head;         /* a site: the last commitment that was granted; NULL: no grants */
    struct tacit_commit waiting; /* a site: the draw that waits for its grant; zeros: none */
    uint64_t spent_nano;         /* a site, .. */
    uint64_t budget_nano;        /* .. of this */
    uint64_t flagged;            /* a grantor: who speaks from two states, .. */
    uint64_t ahead;              /* .. and who follows what it never granted */
    enum storm_end end;
    uint32_t answer;    /* 1 + the arm that is the last; 0: none yet */
    const char *broken; /* a promise of the rule's own that is not kept; NULL: none */
};

/* What a message is, as far as the round goes. */
enum storm_word {
    STORM_OTHER,
    STORM_COMMIT,
    STORM_GRANT,
    STORM_REFUSAL,
    STORM_SIGNED /* between hub and helper: nobody can change it */
};
struct storm_head {
    enum storm_word word;
    uint32_t from;
    uint32_t to;
    const uint8_t *commitment; /* of COMMIT and GRANT */
};

/* A member that a storm may change. */
struct storm_field {
    uint16_t at;
    uint16_t width; /* 1, 2, 4, 8: a number; else bytes */
};
#define STORM_FIELD(type, member)                                                                  \
    {                                                                                              \
        offsetof(type, member), sizeof(((type *)0)->member)                                        \
    }

struct storm_node {
    void *state;
    void *durable;
    void *old; /* of some time ago */
    size_t size;
    size_t part_bytes; /* that may be made durable without the rest; 0: all together */
    uint32_t site;
    bool is_there;
    uint64_t now_us;
    uint64_t deadline_us;
    uint64_t left[STORM_ARMS_MAX]; /* of the plan */
    uint64_t at_most;              /* pulls of it that are played together */
    bool is_training;
    struct storm_rewards { /* not drawn yet: of the state, of what is durable, of the old one */
        uint64_t set[STORM_REWARDS_WORDS];
    } rewards, durable_rewards, old_rewards;
    int64_t sums[STORM_ARMS_MAX]; /* exact: of what came since the last draw, or since it began */
};

struct storm_draw {
    uint32_t site;
    bool is_used;
    uint32_t granted; /* nodes that granted it and remember */
    struct tacit_commit commit;
    struct storm_rewards rewards;
};

#define STORM_FOUND_MAX 4u

/* Faults that are planted to see whether they are found. */
enum storm_bug {
    STORM_NO_BUG,
    STORM_GRANTS_TWICE,    /* a grantor grants what it should refuse */
    STORM_GRANTS_ITSELF,   /* a site does not wait for its grant */
    STORM_FORGETS_DRAW,    /* a draw is not durable before it is asked for */
    STORM_HAS_NO_SALT,     /* two draws of the same have one commitment */
    STORM_TOUCHES_REFUSED, /* what is refused leaves a trace */
    STORM_HIDES_COPY,      /* one state of two is not known to be a copy */
    STORM_CHANGES_ANSWER,  /* the run has another answer at the end */
    STORM_REBUILDS_OTHER,  /* a hub that was lost comes back as another one */
    STORM_IS_DEAF,         /* nothing is heard any more when the faults are over */
    STORM_FORGETS_HEADS,   /* sites and the hub are put back together */
    STORM_KEEPS_SUMS,      /* what was drawn from is still there after the draw */
    /* With a helper (HELPER 5): */
    STORM_ANSWERS_EACH_U,       /* one answer for each U of a round */
    STORM_HELPER_FORGETS,       /* an answer is not durable before it is said */
    STORM_HUB_FORGETS,          /* U and noise are not durable before they are said */
    STORM_TOTALS_UNSIGNED,      /* .. */
    STORM_NOISE_SATURATED,      /* .. */
    STORM_COUNTS_ALL_OF_U,      /* m = |U| */
    STORM_KEYS_NOT_PINNED,      /* a stranger may sign for a site */
    STORM_LAST_LINK_ONLY,       /* the grants before the last are not shown */
    STORM_SHOWS_Z,              /* a masked word is in a request */
    STORM_OLD_HELPER_GOES_ON,   /* it does not look at what the hub shows */
    STORM_SCOPE_HAS_NO_SITE,    /* an envelope opens for another site, .. */
    STORM_SCOPE_HAS_NO_TERM,    /* .. term, .. */
    STORM_SCOPE_HAS_NO_EPSILON, /* .. epsilon */
    STORM_BUG_COUNT
};

enum storm_kind {
    STORM_WILD,   /* messages are changed: what others promise does not hold */
    STORM_PLAIN,  /* loss, doubling, delay, deaths */
    STORM_COPIES, /* .. and old states and clones of sites */
    STORM_HUBS,   /* .. and old states of the hub */
    STORM_LOST,   /* .. and hubs that are lost */
    STORM_KINDS
};

/* A world that is played again with other rewards, and what makes up for them: HELPER 7. */
enum storm_view { STORM_AS_IT_IS, STORM_OF_HUB, STORM_OF_HELPER, STORM_VIEWS };

struct storm_envelope {
    uint32_t to; /* the node */
    uint32_t from_node;
    size_t size;
    void *message; /* all of it */
};

#define STORM_ENVELOPES 64u
#define STORM_DRAWS 512u
struct storm_world {
    const struct storm_rule *rule;
    void *own; /* the rule's */
    enum storm_kind kind;
    enum storm_bug bug;
    bool is_calm;
    uint32_t sites;
    uint32_t arms;
    uint32_t best;
    double gap;
    bool has_hub;
    bool has_grants;
    bool has_changes; /* the operator may say something */
    bool is_noised;   /* no sum that is drawn is an exact one */
    uint32_t loss;    /* of 100 */
    uint32_t deaths;  /* of 100 steps */
    struct storm_node nodes[STORM_NODES_MAX];
    uint32_t grantors[STORM_SITES_MAX]; /* nodes whose grants a draw needs; none: the hub's */
    uint32_t near[STORM_SITES_MAX];     /* of peers: who hears what is said to neighbours */
    uint64_t may_be_copied;             /* sites: of each a grantor is not */
    uint64_t copied;                    /* sites that had another state */
    bool was_put_back;                  /* a grantor was */
    bool hub_was_put_back;
    bool helper_was_put_back;
    bool is_viewed; /* it is played once more for each view */
    enum storm_view view;
    bool has_helper;
    bool old_helpers;            /* where hubs are put back it is the helper instead */
    uint32_t floor_milli;        /* .. of schedules, .. */
    double own_epsilon;          /* .. and of the sites' own noise; INFINITY: none */
    struct storm_helper *helper; /* what the rule has beside the protocol's (rule_helper.c) */
    bool wants_term;             /* the operator is told so */
    uint64_t term;
    struct storm_envelope
        envelopes[STORM_ENVELOPES]; /* the newest; from `next` to `end` are to come */
    uint32_t next;
    uint32_t end;
    struct tacit_rng chance;
    struct tacit_rng noise;
    uint32_t fills_left;      /* of the entropy, in this step */
    enum tacit_status status; /* of the last step */
    uint32_t reward_count;
    uint32_t answer;
    struct storm_draw draws[STORM_DRAWS];
    uint32_t draw_count;
    char broken[160]; /* the first promise that was not kept; "": none */
    uint32_t copies_refused;
    uint32_t rebuilt;
    uint32_t changes;
};

/* What a protocol says of two aggregators. */
struct storm_heard {
    const struct tacit_round_message *head;
    const struct tacit_helper_release *masked; /* of a report */
    const uint64_t *words;
    uint32_t count;
};
struct storm_two {
    struct storm_heard (*heard)(const struct storm_world *world, const void *message);
    /* The round that stands, of a hub; epsilon 0: the run's. What each site plays of it. */
    struct tacit_helper_round (*round)(const struct storm_world *world, const void *hub,
                                       struct tacit_pull_block *blocks);
    /* How messages are encoded, in at most STORM_WIRE_BYTES; arms are numbers of a context. */
    const struct tacit_wire_protocol *protocol;
    bool has_contexts;
    bool (*has_words)(const void *message); /* that are masked */
    /* tacit_..._hub_close */
    void (*close)(struct storm_world *world, uint32_t sites, const int64_t *totals,
                  struct storm_update *update);
    /* All three NULL: a sum of rewards for each arm of a plan. Else what a release is, with its
     * noise, and its floor; what a site's words are at most, as much below 0 as above; and what is
     * wrong with totals of these sites of a request. */
    void (*configure)(const struct storm_world *world, struct tacit_helper_config *config,
                      uint64_t *floor_nano);
    uint64_t (*high)(const struct storm_world *world);
    const char *(*wrong)(const struct storm_world *world,
                         const struct tacit_helper_request *request, const uint64_t *counted,
                         const int64_t *totals, double slack);
};

struct storm_rule {
    const char *name;
    const struct storm_two *two;
    bool has_terms;  /* a hub that forgot goes on in a new one */
    bool trains;     /* an answer is a vector, no arms are played */
    bool has_helper; /* of rule_helper.c */
    /* Draws a world: counts, configurations (own), grantors. */
    void (*configure)(struct storm_world *world);
    /* Makes the configurations ones that are refused. */
    void (*spoil)(struct storm_world *world);
    /* What each pull of an arm brings, in steps. NULL: as storm_pull has it. */
    int64_t (*pull)(const struct storm_world *world, uint32_t arm);
    size_t (*size)(const struct storm_world *world, uint32_t node);
    enum tacit_status (*init)(const struct storm_world *world, uint32_t node, void *state);
    enum tacit_status (*check)(const struct storm_world *world, uint32_t node, const void *state,
                               size_t size);
    void (*step)(struct storm_world *world, uint32_t node, const struct storm_event *event,
                 const struct tacit_entropy *entropy, struct storm_update *update);
    /* Fills *look and adds all that the state shows to the digest. */
    void (*look)(const struct storm_world *world, uint32_t node, struct storm_look *look);
    size_t (*message_size)(const struct storm_world *world, const void *message);
    void *(*message_copy)(const struct storm_world *world, const void *message, void *memory);
    struct storm_head (*read)(const void *message);
    size_t head_bytes; /* of a message; what is behind them belongs to it */
    const struct storm_field *fields;
    uint32_t field_count;
    /* Has the messages fit each other again? NULL: whatever was changed. */
    void (*mend)(const struct storm_world *world, void *message);
    /* Makes the grant of what is asked, to the one who asks. */
    void (*grant)(const void *asked, uint32_t from, void *message);
    /* What a hub is built again from. NULL: only from its newest state. */
    size_t (*snapshot)(const struct storm_world *world, const void *hub, uint8_t *bytes,
                       size_t room);
    enum tacit_status (*restore)(const struct storm_world *world, void *hub, const uint8_t *bytes,
                                 size_t size);
    /* Looks at what leaves a node; at the end of a world, and of all. NULL: does not. */
    void (*said)(struct storm_world *world, const void *message);
    void (*clear)(struct storm_world *world);
    void (*see_all)(uint32_t worlds);
    void (*see_views)(void); /* of the world that was played last, in all of them */
    /* Something that an operator says. NULL: nothing. */
    void (*operate)(struct storm_world *world);
    uint32_t
        found[STORM_FOUND_MAX]; /* more schedules: they showed faults that are mended; 0: none */
    uint32_t open;       /* schedules of the long form that show what is not mended (storm.c) */
    uint32_t impossible; /* faults of enum storm_bug that cannot be: bits */
    uint64_t digest;     /* of all that the usual worlds do */
    uint64_t verdicts;   /* .. and of what checks say of damaged states */
};

extern const struct storm_rule rule_elimination, rule_phased, rule_votes, rule_selection,
    rule_private_glm;
struct storm_rule rule_peers(void);          /* grown from rule_elimination */
struct storm_rule rule_sums(void);           /* grown from rule_votes */
struct storm_rule rule_sums_in_rounds(void); /* grown from rule_phased; with a helper */
struct storm_rule rule_trainings(void);      /* grown from rule_selection; with a helper */

/* What each pull of an arm brings, in steps. */
int64_t storm_pull(const struct storm_world *world, uint32_t arm);
uint32_t storm_below(struct storm_world *world, uint32_t bound);
void storm_breaks(struct storm_world *world, const char *promise, uint32_t node);
/* NULL: not known. */
const struct storm_draw *storm_draw_of(const struct storm_world *world, uint32_t site,
                                       const uint8_t *commitment);
bool storm_share_a_reward(const struct storm_draw *a, const struct storm_draw *b);
/* A step beside those that the storm itself makes: the operator's. */
void storm_step(struct storm_world *world, uint32_t node, const struct storm_event *event);
/* Carries out what the rule did by itself (operate). before: a copy of the state; it is freed. */
void *storm_before(struct storm_world *world, uint32_t node);
void storm_after(struct storm_world *world, uint32_t node, void *before,
                 const struct storm_event *event, const struct storm_update *update);
struct tacit_entropy storm_entropy(struct storm_world *world);
uint64_t storm_set_word(const uint64_t *set); /* 0 of NULL */
void storm_digest_commit(const struct tacit_commit *commit);

/* ---- What rules repeat ---- */

/* A hub's core, whose configuration is the member `hub` of the rule's own: .snapshot, .restore. */
#define STORM_SNAPSHOTS(its_hub)                                                                   \
    static size_t snapshot(const struct storm_world *world, const void *hub, uint8_t *bytes,       \
                           size_t room)                                                            \
    {                                                                                              \
        (void)world;                                                                               \
        return its_hub##_snapshot(hub, bytes, room);                                               \
    }                                                                                              \
    static enum tacit_status restore(const struct storm_world *world, void *hub,                   \
                                     const uint8_t *bytes, size_t size)                            \
    {                                                                                              \
        return its_hub##_restore(hub, &own_of(world)->hub, bytes, size);                           \
    }

/* A site's and a hub's, where struct own has their configurations: STORM_OF_CORES. */
#define STORM_CORES(its_site, its_hub)                                                             \
    static const struct own *own_of(const struct storm_world *world)                               \
    {                                                                                              \
        return world->own;                                                                         \
    }                                                                                              \
    static const struct its_site##_config *site_config(const struct storm_world *world,            \
                                                       uint32_t node)                              \
    {                                                                                              \
        return &own_of(world)->sites[node % (world->sites + 1)];                                   \
    }                                                                                              \
    static size_t state_size(const struct storm_world *world, uint32_t node)                       \
    {                                                                                              \
        return node == world->sites ? its_hub##_size(&own_of(world)->hub)                          \
                                    : its_site##_size(site_config(world, node));                   \
    }                                                                                              \
    static enum tacit_status init(const struct storm_world *world, uint32_t node, void *state)     \
    {                                                                                              \
        return node == world->sites ? its_hub##_init(state, &own_of(world)->hub)                   \
                                    : its_site##_init(state, site_config(world, node));            \
    }                                                                                              \
    static enum tacit_status check(const struct storm_world *world, uint32_t node,                 \
                                   const void *state, size_t size)                                 \
    {                                                                                              \
        return node == world->sites ? its_hub##_check(state, size, &own_of(world)->hub)            \
                                    : its_site##_check(state, size, site_config(world, node));     \
    }                                                                                              \
    STORM_SNAPSHOTS(its_hub)
#define STORM_OF_CORES                                                                             \
    .size = state_size, .init = init, .check = check, .snapshot = snapshot, .restore = restore

/* Messages of rounds (tacit/round.h), whose kinds begin with NAME: .read, .grant. */
#define STORM_MESSAGES(type, NAME)                                                                 \
    static struct storm_head read(const void *message)                                             \
    {                                                                                              \
        struct type const *const said = message;                                                   \
        enum storm_word const word = said->kind == NAME##_COMMIT    ? STORM_COMMIT                 \
                                     : said->kind == NAME##_GRANT   ? STORM_GRANT                  \
                                     : said->kind == NAME##_REFUSAL ? STORM_REFUSAL                \
                                                                    : STORM_OTHER;                 \
        return (struct storm_head){word, said->from, said->to,                                     \
                                   said->commit == NULL ? NULL : said->commit->commitment};        \
    }                                                                                              \
    static void grant(const void *asked, uint32_t from, void *message)                             \
    {                                                                                              \
        struct type const *const commit = asked;                                                   \
        struct type *const said = message;                                                         \
        said->kind = NAME##_GRANT;                                                                 \
        said->to = commit->from;                                                                   \
        said->from = from;                                                                         \
    }

/* What elimination and phases draw before their schedule: counts, grantors, and what noises a
 * reward, with epsilon. sites: how many there are. */
struct tacit_mechanism storm_draw_rounds(struct storm_world *world, uint32_t sites,
                                         bool has_changes, double *epsilon);
uint32_t storm_draw_quorum(struct storm_world *world, uint32_t reports); /* 0: none */
uint64_t storm_draw_budget(struct storm_world *world);
#define STORM_HUB_OF_ROUNDS(world, its_mechanism, its_quorum)                                      \
    .run_id = STORM_RUN_ID, .mechanism = (its_mechanism), .quorum = (its_quorum),                  \
    .round_timeout_us = (its_quorum) > 0 ? 3000 : 0, .answers_all = true,                          \
    .has_grants = (world)->has_grants, .has_helper = (world)->has_helper,                          \
    .domain = {(world)->has_grants ? 7 : 0}
#define STORM_SITE_OF_ROUNDS(world, hub, site)                                                     \
    .run_id = STORM_RUN_ID, .agent_id = (site), .agent_count = (world)->sites,                     \
    .arm_count = (world)->arms, .horizon = (hub).schedule.horizon, .mechanism = (hub).mechanism,   \
    .budget_nano = storm_draw_budget(world), .resend_after_us = 700,                               \
    .has_grants = (world)->has_grants, .has_helper = (world)->has_helper,                          \
    .domain = {(hub).domain[0]}

/* Of a hub of rounds that asks for more than there are, and sites that never say again: .spoil. */
#define STORM_SPOIL_ROUNDS(type)                                                                   \
    static void spoil(struct storm_world *world)                                                   \
    {                                                                                              \
        struct type *const own = world->own;                                                       \
        own->hub.quorum = world->sites + 1;                                                        \
        for (uint32_t site = 0; site < world->sites; site++)                                       \
            own->sites[site].resend_after_us = 0;                                                  \
    }

/* An event of a core that plays arms. */
struct tacit_event storm_event_of(const struct storm_event *event);

/* With totals a round of two aggregators is over; `update` says of what: .close. */
#define STORM_CLOSE(its_hub)                                                                       \
    static void close_round(struct storm_world *world, uint32_t sites, const int64_t *totals,      \
                            struct storm_update *out)                                              \
    {                                                                                              \
        struct storm_node *const hub = &world->nodes[world->sites];                                \
        its_hub##_close(hub->state, sites, totals, hub->now_us, &update);                          \
        report(TACIT_OK, out);                                                                     \
    }

/* What states of rounds show. */
struct storm_look storm_look_of_site(const uint8_t *head, const struct tacit_ledger *ledger,
                                     bool is_over, bool says_why);
struct storm_look storm_look_of_hub(const uint64_t *flagged, const uint64_t *ahead, bool is_over,
                                    bool says_why);
void storm_digest_interval(struct tacit_bounds_interval interval);
/* What closed rounds say of an arm is what each of its pulls brought. */
bool storm_is_mean_of_pulls(const struct storm_world *world, uint32_t arm, double mean);

#define STORM_OF_MESSAGES(type)                                                                    \
    .message_size = message_size, .message_copy = message_copy, .read = read,                      \
    .head_bytes = sizeof(struct type), .fields = fields,                                           \
    .field_count = sizeof fields / sizeof *fields, .mend = mend, .grant = grant

/* For main. */
int storm_main(const struct storm_rule *rule, int argc, char **argv);
#define STORM_MAIN(rule)                                                                           \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        struct storm_rule const played = rule;                                                     \
        return storm_main(&played, argc, argv);                                                    \
    }
/* .. of a protocol that has `two`, with a helper (rule_helper.c). */
int storm_main_of_two(struct storm_rule rule, uint64_t digest, uint64_t verdicts, int argc,
                      char **argv);
#define STORM_MAIN_OF_TWO(rule, digest, verdicts)                                                  \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return storm_main_of_two(rule, UINT64_C(digest), UINT64_C(verdicts), argc, argv);          \
    }
#endif

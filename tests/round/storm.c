/* See storm.h. */
#include <math.h>
#include "storm.h"
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/effort.h"

#define WORLDS 2000u
#define WORLDS_HELPER 600u /* thrice as long, with longer states */
#define WORLDS_LONG 100000u
#define BRIEF 4u /* of so many worlds one is played under a sanitizer */
#define BUG_WORLDS 500u
#define VIEW_WORLDS 20u
#define EVENTS 220u
#define CALM_TURNS 1500u
#define SNAPSHOT_BYTES 65536u

/* What has happened in all worlds: a storm that misses something is none. */
static uint32_t statuses[16]; /* by their numbers, which are 0 and below */
static struct {
    uint32_t ends;
    uint32_t draws;
    uint32_t copies_refused;
    uint32_t rebuilt;
    uint32_t changes;
    uint32_t lost;
    uint32_t sums;   /* exact ones that were in a state before the draw, .. */
    uint32_t drawn;  /* .. of which so many were drawn from, .. */
    uint32_t left;   /* .. and so many were there after it; */
    uint32_t halted; /* .. before the step that halted an old copy */
} seen;

uint32_t storm_below(struct storm_world *world, uint32_t bound)
{
    return (uint32_t)tacit_rng_below(&world->chance, bound);
}

int64_t storm_pull(const struct storm_world *world, uint32_t arm)
{
    if (world->rule->pull != NULL)
        return world->rule->pull(world, arm);
    double const least = world->bug == STORM_TOTALS_UNSIGNED ? 0 : 0.3; /* totals may be below 0 */
    double const mean = least + (arm == world->best ? world->gap : 0.001 * arm);
    return (int64_t)((world->view == STORM_AS_IT_IS ? mean : 1 - mean / 2) * (double)TACIT_STEPS);
}

/* A round of a training takes many messages, and is over at its deadline, whoever is in it. */
static bool is_slow(const struct storm_world *world)
{
    return world->has_helper && world->rule->trains;
}

static bool happens(struct storm_world *world, uint32_t of_hundred)
{
    return storm_below(world, 100) < of_hundred;
}

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct storm_world *const world = context;
    struct tacit_entropy const whole = tacit_rng_entropy(&world->noise);
    if (world->fills_left == 0)
        return TACIT_ENTROPY;
    world->fills_left--;
    return whole.fill(whole.context, bytes, size);
}

/* Salts come from a source of their own, which fails now and then while the noise does not. */
static enum tacit_status fill_key(void *context, void *bytes, size_t size)
{
    struct storm_world *const world = context;
    struct tacit_entropy const whole = tacit_rng_entropy(&world->noise);
    if (world->bug == STORM_HAS_NO_SALT) {
        memset(bytes, 0, size);
        return TACIT_OK;
    }
    return !world->is_calm && storm_below(world, 3) == 0 ? TACIT_ENTROPY
                                                         : whole.fill(whole.context, bytes, size);
}

struct tacit_entropy storm_entropy(struct storm_world *world)
{
    bool const is_short = !world->is_calm && storm_below(world, 4) == 0;
    world->fills_left = is_short ? storm_below(world, 12) : UINT32_MAX;
    return (struct tacit_entropy){.fill = fill, .context = world};
}

uint64_t storm_set_word(const uint64_t *set)
{
    return set == NULL ? 0 : set[0];
}

/* ---- What rules repeat ---- */

struct tacit_mechanism storm_draw_rounds(struct storm_world *world, uint32_t sites,
                                         bool has_changes, double *epsilon)
{
    static const double epsilons[] = {INFINITY, 1, 5};
    struct tacit_mechanism mechanism;
    world->sites = sites;
    world->arms = 2 + storm_below(world, 4);
    world->best = storm_below(world, world->arms);
    world->gap = 0.5;
    world->has_grants = world->has_helper || storm_below(world, 8) > 0;
    world->has_changes = has_changes && storm_below(world, 2) == 0;
    *epsilon = world->has_helper                 ? STORM_EPSILON
               : world->bug == STORM_HAS_NO_SALT ? INFINITY
                                                 : epsilons[storm_below(world, 3)];
    struct tacit_mechanism_config const config = {
        TACIT_PRIVACY_SOUND, world->has_helper ? world->own_epsilon : *epsilon, 0, 1};
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    world->is_noised = mechanism.noisy || world->has_helper;
    return mechanism;
}

uint32_t storm_draw_quorum(struct storm_world *world, uint32_t reports)
{
    return storm_below(world, 2) == 0 ? 1 + storm_below(world, reports) : 0;
}

uint64_t storm_draw_budget(struct storm_world *world)
{
    static const uint64_t budgets[] = {UINT64_MAX, 20 * (uint64_t)TACIT_NANO, TACIT_NANO / 2};
    bool const is_poor = storm_below(world, 6) == 0;
    return budgets[is_poor ? 2 : storm_below(world, 2)];
}

struct tacit_event storm_event_of(const struct storm_event *event)
{
    struct tacit_event made = {.now_us = event->now_us,
                               .kind = event->kind,
                               .keys = event->keys,
                               .aggregators = event->aggregators};
    if (event->kind == TACIT_EVENT_REWARD)
        made.as.reward = event->reward;
    else if (event->kind == TACIT_EVENT_RECEIVE)
        made.as.message = event->message;
    else if (event->kind == TACIT_EVENT_EXPLOITED)
        made.as.exploited_count = event->count;
    else
        made.as.term = event->term;
    return made;
}

struct storm_look storm_look_of_site(const uint8_t *head, const struct tacit_ledger *ledger,
                                     bool is_over, bool says_why)
{
    struct storm_look look = storm_look_of_hub(NULL, NULL, is_over, says_why);
    look.head = head;
    look.spent_nano = tacit_ledger_spent_nano(ledger);
    look.budget_nano = ledger->budget_nano;
    return look;
}

struct storm_look storm_look_of_hub(const uint64_t *flagged, const uint64_t *ahead, bool is_over,
                                    bool says_why)
{
    return (struct storm_look){.flagged = storm_set_word(flagged),
                               .ahead = storm_set_word(ahead),
                               .end = is_over    ? STORM_IS_OVER
                                      : says_why ? STORM_SAYS_WHY
                                                 : STORM_GOES_ON};
}

void storm_digest_interval(struct tacit_bounds_interval interval)
{
    double const reals[] = {interval.mean, interval.lower, interval.upper};
    digest_reals(reals, 3);
}

bool storm_is_mean_of_pulls(const struct storm_world *world, uint32_t arm, double mean)
{
    return fabs(mean * (double)TACIT_STEPS - (double)storm_pull(world, arm)) < 1e-3;
}

void storm_digest_commit(const struct tacit_commit *commit)
{
    digest_word(commit != NULL);
    if (commit != NULL)
        digest_bytes(commit, sizeof *commit);
}

/* ---- Promises ---- */

void storm_breaks(struct storm_world *world, const char *promise, uint32_t node)
{
    if (world->broken[0] == '\0')
        (void)snprintf(world->broken, sizeof world->broken, "%s (node %u)", promise, node);
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, TACIT_SHA256_BYTES) == 0;
}

const struct storm_draw *storm_draw_of(const struct storm_world *world, uint32_t site,
                                       const uint8_t *commitment)
{
    for (uint32_t i = 0; i < world->draw_count; i++)
        if (world->draws[i].site == site && is_same(world->draws[i].commit.commitment, commitment))
            return &world->draws[i];
    return NULL;
}

static struct storm_draw *draw_of(struct storm_world *world, uint32_t site,
                                  const uint8_t *commitment)
{
    return (struct storm_draw *)(uintptr_t)storm_draw_of(world, site, commitment);
}

bool storm_share_a_reward(const struct storm_draw *a, const struct storm_draw *b)
{
    for (size_t i = 0; i < sizeof a->rewards.set / sizeof *a->rewards.set; i++)
        if ((a->rewards.set[i] & b->rewards.set[i]) != 0)
            return true;
    return false;
}

/* A draw of which something may leave from here on: its grantors granted it, and no reward of it is
 * in another such draw. */
static void use_draw(struct storm_world *world, uint32_t node, struct storm_draw *draw)
{
    uint32_t const grantors = world->grantors[draw->site];
    uint32_t const granted = draw->granted | draw->granted >> (world->sites + 1); /* by clones */
    draw->is_used = true;
    if (world->term == 0 && (granted & grantors) != grantors)
        storm_breaks(world, "a draw was used before it was granted", node);
    for (uint32_t i = 0; i < world->draw_count; i++) {
        struct storm_draw const *const other = &world->draws[i];
        if (other != draw && other->is_used && other->site == draw->site &&
            storm_share_a_reward(other, draw))
            storm_breaks(world, "a reward is in two draws", node);
    }
}

/* Selection trains once a round of a term, whatever comes back; elsewhere each reward is one of its
 * own. */
static void note_reward(struct storm_world *world, struct storm_node *node,
                        const struct storm_update *update)
{
    uint32_t const bits = 64 * sizeof node->rewards.set / sizeof *node->rewards.set;
    uint32_t const round = update->round + 16 * (uint32_t)world->term;
    uint32_t const number = world->rule->trains ? round : world->reward_count;
    if (world->rule->trains)
        node->rewards = (struct storm_rewards){0};
    if (number < bits)
        tacit_bits_add(node->rewards.set, number);
    world->reward_count++;
}

static void note_draw(struct storm_world *world, uint32_t at, const struct storm_look *look)
{
    struct storm_node *const node = &world->nodes[at];
    if (draw_of(world, node->site, look->waiting.commitment) != NULL)
        storm_breaks(world, "two draws have one commitment", at);
    else if (world->draw_count < STORM_DRAWS)
        world->draws[world->draw_count++] = (struct storm_draw){
            .site = node->site, .commit = look->waiting, .rewards = node->rewards};
    node->rewards = (struct storm_rewards){0};
}

/* One that looks honest is not blamed, whatever is lost, late, doubled, or forgotten by others. */
static void check_blame(struct storm_world *world, uint32_t at, const struct storm_look *look)
{
    if ((look->flagged & ~world->copied) != 0)
        storm_breaks(world, "a site that has one state is flagged", at);
    if (look->ahead != 0 && !world->was_put_back && world->term == 0)
        storm_breaks(world, "a hub that forgot nothing says that it is behind", at);
}

static void check_answer(struct storm_world *world, uint32_t at, const struct storm_look *look)
{
    uint32_t const answer =
        look->answer == 0 || world->bug != STORM_CHANGES_ANSWER ? look->answer : look->answer + at;
    if (answer != 0 && world->answer == 0)
        world->answer = answer;
    else if (answer != 0 && answer != world->answer && !world->hub_was_put_back)
        storm_breaks(world, "the run has two answers", at);
}

static bool is_zero(const uint8_t *commitment)
{
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    return is_same(commitment, nothing);
}

/* What each step has to keep. */
static void look_at(struct storm_world *world, uint32_t at, const struct storm_update *update)
{
    struct storm_node const *const node = &world->nodes[at];
    struct storm_look look = {0};
    world->rule->look(world, at, &look);
    if (look.broken != NULL)
        storm_breaks(world, look.broken, at);
    if (world->kind == STORM_WILD)
        return;
    if (look.spent_nano > look.budget_nano)
        storm_breaks(world, "more was spent than the budget", at);
    if (update->drew && !is_zero(look.waiting.commitment))
        note_draw(world, at, &look);
    struct storm_draw *const used =
        look.head == NULL ? NULL : draw_of(world, node->site, look.head);
    if (used != NULL && !used->is_used)
        use_draw(world, at, used);
    check_blame(world, at, &look);
    check_answer(world, at, &look);
}

static bool holds(const struct storm_node *node, const void *state, int64_t sum)
{
    int64_t const *const words = state;
    for (size_t i = 0; i < node->size / sizeof *words; i++)
        if (words[i] == sum)
            return true;
    return false;
}

/* Of a halted site nothing is drawn any more: the step that halts it erases what it would be of.
 * (A sum of -1 would be found where a state has no time and nobody.) */
static void check_halted(struct storm_world *world, uint32_t at, const void *before)
{
    struct storm_node const *const node = &world->nodes[at];
    for (uint32_t arm = 0; arm < world->arms && at != world->sites && world->is_noised; arm++) {
        bool const was_there =
            node->sums[arm] != 0 && node->sums[arm] != -1 && holds(node, before, node->sums[arm]);
        seen.halted += was_there ? 1 : 0;
        if (was_there && holds(node, node->state, node->sums[arm]))
            storm_breaks(world, "exact sums are left in a halted site", at);
    }
}

/* The step that draws erases what it drew from: no word of the state is an exact sum any more, but
 * for the few whose noise is nothing. Until then they are there: so they would be found. */
static void check_sums(struct storm_world *world, uint32_t at, const void *before,
                       const struct storm_event *event, const struct storm_update *update)
{
    struct storm_node *const node = &world->nodes[at];
    bool const is_reward = event->kind == TACIT_EVENT_REWARD && !world->rule->trains;
    if (is_reward && update->status == TACIT_OK) {
        int64_t *const sum = &node->sums[event->reward.arm];
        *sum += event->reward.sum.steps;
        seen.sums += !update->drew && holds(node, node->state, *sum) ? 1 : 0;
    }
    if (!update->drew)
        return;
    void const *const state = world->bug == STORM_KEEPS_SUMS ? before : node->state;
    uint32_t left = 0;
    for (uint32_t arm = 0; arm < world->arms && world->is_noised; arm++) {
        seen.drawn += node->sums[arm] != 0 ? 1 : 0;
        left += node->sums[arm] != 0 && holds(node, state, node->sums[arm]) ? 1 : 0;
    }
    seen.left += left;
    if (left > 1)
        storm_breaks(world, "exact sums are left after the draw", at);
    memset(node->sums, 0, sizeof node->sums);
}

static bool is_old(const struct storm_world *world, uint32_t at)
{
    return at == world->sites ? world->hub_was_put_back
                              : (world->copied >> world->nodes[at].site & 1) != 0;
}

/* A grantor grants one draw after another. */
static void note_grant(struct storm_world *world, uint32_t at, const struct storm_head *head)
{
    struct storm_draw *const draw = draw_of(world, head->to, head->commitment);
    if (draw == NULL || world->kind == STORM_WILD)
        return;
    for (uint32_t i = 0; i < world->draw_count; i++) {
        struct storm_draw const *const other = &world->draws[i];
        if (other != draw && other->site == draw->site && (other->granted >> at & 1) != 0 &&
            is_same(other->commit.previous, draw->commit.previous) && !is_old(world, at))
            storm_breaks(world, "two draws that follow the same one were granted", at);
    }
    draw->granted |= 1u << at;
}

/* ---- Worlds ---- */

struct checked {
    struct storm_world *world;
    uint32_t at;
};

static bool is_state(const void *state, size_t size, void *context)
{
    struct checked const *const checked = context;
    return checked->world->rule->check(checked->world, checked->at, state, size) == TACIT_OK;
}

/* What it was before was one. */
static void check_state(struct storm_world *world, uint32_t at, bool is_another)
{
    struct checked checked = {world, at};
    struct storm_node const *const node = &world->nodes[at];
    if (is_another && !is_state(node->state, node->size, &checked))
        storm_breaks(world, "a step left what is no state", at);
    else if (world->bug == STORM_NO_BUG)
        damage_some(node->state, node->size, is_state, &checked);
}

static void *room(size_t size)
{
    void *const memory = calloc(1, size + 8); /* a state of no bytes is none */
    assert_non_null(memory);
    return memory;
}

static void node_new(struct storm_world *world, uint32_t at, uint32_t site)
{
    struct storm_node *const node = &world->nodes[at];
    size_t const size = world->rule->size(world, at);
    assert_true(size > 0);
    *node = (struct storm_node){.size = size,
                                .site = site,
                                .is_there = at <= world->sites || at == STORM_HELPER,
                                .now_us = 5000,
                                .deadline_us = TACIT_NEVER};
    node->state = room(size);
    assert_int_equal(world->rule->init(world, at, node->state), TACIT_OK);
    node->durable = memcpy(room(size), node->state, size);
    node->old = memcpy(room(size), node->state, size);
}

static uint32_t twin_of(const struct storm_world *world, uint32_t site)
{
    return world->sites + 1 + site;
}

static enum storm_view view_now; /* .. */
static bool are_viewed;          /* .. of worlds from here on */

static struct storm_world *world_new(const struct storm_rule *rule, uint32_t seed,
                                     enum storm_bug bug)
{
    struct storm_world *const world = room(sizeof *world);
    world->rule = rule;
    world->bug = bug;
    world->chance = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_REWARD);
    world->noise = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
    world->kind = (enum storm_kind)(seed % STORM_KINDS);
    world->has_hub = true;
    world->has_grants = true;
    world->may_be_copied = UINT64_MAX;
    world->is_viewed = are_viewed;
    world->view = view_now;
    rule->configure(world);
    for (uint32_t site = 0; site < world->sites; site++) {
        node_new(world, site, site);
        node_new(world, twin_of(world, site), site);
        if (world->has_hub && world->grantors[site] == 0)
            world->grantors[site] = 1u << world->sites;
    }
    if (world->has_hub)
        node_new(world, world->sites, world->sites);
    if (world->has_helper)
        node_new(world, STORM_HELPER, STORM_HELPER);
    if (bug == STORM_FORGETS_HEADS)
        world->kind = STORM_COPIES;
    if (bug == STORM_ANSWERS_EACH_U || bug == STORM_OLD_HELPER_GOES_ON) /* a hub has to ask twice */
        world->kind = STORM_HUBS;
    world->loss = happens(world, 60) ? storm_below(world, 40) : 0;
    world->deaths = happens(world, 60) ? 1 + storm_below(world, 6) : 0;
    if (bug == STORM_HUB_FORGETS) /* .. and to die while it asks */
        world->deaths = 40;
    return world;
}

static void world_free(struct storm_world *world)
{
    for (uint32_t i = 0; i < STORM_NODES_MAX; i++) {
        free(world->nodes[i].state);
        free(world->nodes[i].durable);
        free(world->nodes[i].old);
    }
    for (uint32_t i = 0; i < STORM_ENVELOPES; i++)
        free(world->envelopes[i].message);
    if (world->rule->clear != NULL)
        world->rule->clear(world);
    free(world->own);
    free(world->helper);
    free(world);
}

/* ---- Messages ---- */

static void *copy_message(const struct storm_world *world, const void *message)
{
    return world->rule->message_copy(world, message,
                                     room(world->rule->message_size(world, message)));
}

static void post(struct storm_world *world, uint32_t from, uint32_t to, const void *message)
{
    if (!world->nodes[to].is_there || to == from)
        return;
    struct storm_envelope *const envelope = &world->envelopes[world->end++ % STORM_ENVELOPES];
    if (world->end - world->next > STORM_ENVELOPES)
        world->next++; /* lost */
    free(envelope->message);
    *envelope = (struct storm_envelope){.to = to,
                                        .from_node = from,
                                        .size = world->rule->message_size(world, message),
                                        .message = copy_message(world, message)};
}

static void send(struct storm_world *world, uint32_t at, const void *message)
{
    struct storm_head const head = world->rule->read(message);
    bool const is_to_all = head.to >= STORM_NODES_MAX && head.to != TACIT_HUB;
    bool const is_near = head.to == TACIT_NEIGHBOURS && world->near[world->nodes[at].site] != 0;
    for (uint32_t i = 0; i < STORM_NODES_MAX; i++) {
        bool const is_hub = i == world->sites;
        if (is_near &&
            (is_hub || (world->near[world->nodes[at].site] >> world->nodes[i].site & 1) == 0))
            continue;
        bool const is_meant = is_to_all ? i != STORM_HELPER && (!is_hub || !world->has_hub)
                              : is_hub  ? head.to == TACIT_HUB
                                        : world->nodes[i].site == head.to && i != world->sites;
        if (world->nodes[i].size > 0 && is_meant && (is_hub ? world->has_hub : true))
            post(world, at, i, message);
    }
}

/* ---- Steps ---- */

static bool is_refused(enum tacit_status status)
{
    return status == TACIT_MALFORMED || status == TACIT_UNEXPECTED || status == TACIT_INVALID ||
           status == TACIT_STRANGER;
}

void *storm_before(struct storm_world *world, uint32_t at)
{
    struct storm_node const *const node = &world->nodes[at];
    return memcpy(room(node->size), node->state, node->size);
}

/* Whoever starts a core does so again where it had no entropy. */
static void start(struct storm_world *world, uint32_t at)
{
    struct storm_event const event = {.kind = TACIT_EVENT_START, .term = world->term};
    storm_step(world, at, &event);
    for (uint32_t i = 0; i < 20 && world->status == TACIT_ENTROPY; i++)
        storm_step(world, at, &event);
}

/* A process that died comes again, from what is durable, and its clock with it. */
static void revive(struct storm_world *world, uint32_t at)
{
    struct storm_node *const node = &world->nodes[at];
    struct checked checked = {world, at};
    if (!is_state(node->durable, node->size, &checked))
        storm_breaks(world, "what is durable is no state", at);
    memcpy(node->state, node->durable, node->size);
    node->rewards = node->durable_rewards;
    memset(node->left, 0, sizeof node->left);
    memset(node->sums, 0, sizeof node->sums);
    node->is_training = false;
    if (storm_below(world, 3) == 0)
        node->now_us = storm_below(world, 3000);
    start(world, at);
}

static void keep_old(struct storm_node *node)
{
    memcpy(node->old, node->durable, node->size);
    node->old_rewards = node->durable_rewards;
}

static void persist(struct storm_node *node, bool persists_part)
{
    bool const is_part = persists_part && node->part_bytes > 0;
    memcpy(node->durable, node->state, is_part ? node->part_bytes : node->size);
    node->durable_rewards = node->rewards;
}

static void take_plan(struct storm_node *node, const struct storm_update *update)
{
    memset(node->left, 0, sizeof node->left);
    node->at_most = UINT64_MAX;
    for (uint32_t i = 0; i < update->plan_count; i++)
        node->left[update->plan[i].arm] = update->plan[i].count;
}

static void say(struct storm_world *world, uint32_t at, const struct storm_update *update)
{
    for (uint32_t i = 0; i < update->message_count; i++) {
        struct storm_head const head = world->rule->read(update->messages[i]);
        if (head.word == STORM_GRANT && head.commitment != NULL)
            note_grant(world, at, &head);
        world->copies_refused += head.word == STORM_REFUSAL ? 1 : 0;
        if (world->rule->said != NULL)
            world->rule->said(world, update->messages[i]);
        send(world, at, update->messages[i]);
    }
}

/* A fault of a grantor, or of a site that asks: who asks has its grant. */
static void grant_anyway(struct storm_world *world, uint32_t at, const struct storm_event *event,
                         const struct storm_update *update)
{
    for (uint32_t i = 0; i < update->message_count; i++) {
        struct storm_head const head = world->rule->read(update->messages[i]);
        bool const grants_itself = world->bug == STORM_GRANTS_ITSELF && head.word == STORM_COMMIT;
        bool const grants_twice = world->bug == STORM_GRANTS_TWICE && head.word == STORM_REFUSAL &&
                                  event->kind == TACIT_EVENT_RECEIVE &&
                                  world->rule->read(event->message).word == STORM_COMMIT;
        if (!grants_itself && !grants_twice)
            continue;
        void *const asked =
            copy_message(world, grants_itself ? update->messages[i] : event->message);
        void *const grant = copy_message(world, asked);
        uint32_t const grantors = grants_itself ? world->grantors[world->nodes[at].site] : 1;
        for (uint32_t from = 0; from <= world->sites; from++) {
            if ((grantors >> from & 1) == 0)
                continue;
            world->rule->grant(asked,
                               !grants_itself         ? head.from
                               : from == world->sites ? TACIT_HUB
                                                      : from,
                               grant);
            struct storm_head const made = world->rule->read(grant);
            if (grants_twice)
                note_grant(world, at, &made);
            post(world, world->sites, grants_itself ? at : made.to, grant);
        }
        free(asked);
        free(grant);
    }
}

void storm_after(struct storm_world *world, uint32_t at, void *before,
                 const struct storm_event *event, const struct storm_update *update)
{
    struct storm_node *const node = &world->nodes[at];
    statuses[-(int)update->status]++;
    world->status = update->status;
    if (is_refused(update->status)) {
        if (world->bug == STORM_TOUCHES_REFUSED)
            ((unsigned char *)node->state)[node->size / 2] ^= 1;
        if (memcmp(before, node->state, node->size) != 0)
            storm_breaks(world, "what was refused left a trace", at);
        if (update->persist || update->message_count > 0 || update->has_plan)
            storm_breaks(world, "what was refused asks for something", at);
        if (world->bug == STORM_TOUCHES_REFUSED)
            memcpy(node->state, before, node->size);
    } else if (event->kind == TACIT_EVENT_REWARD) {
        note_reward(world, node, update);
    }
    if ((update->status == TACIT_ROLLBACK || update->status == TACIT_BUDGET) &&
        !world->rule->trains)
        check_halted(world, at, before);
    if (update->voids_rewards) {
        node->rewards = (struct storm_rewards){0};
        memset(node->sums, 0, sizeof node->sums);
    }
    check_sums(world, at, before, event, update);
    bool const is_another = memcmp(before, node->state, node->size) != 0;
    free(before);
    digest_step(update->status, update->flags | (uint64_t)update->persist << 32,
                update->deadline_us, update->plan, update->plan_count);
    look_at(world, at, update);
    check_state(world, at, is_another);
    if (update->drew && !update->persist)
        storm_breaks(world, "a draw is not durable", at);
    bool const dies = !world->is_calm && world->deaths > 0 && happens(world, world->deaths);
    uint32_t const when = dies ? storm_below(world, 3) : 2; /* before it is durable, before it is
                                                               said, or after */
    bool const is_midway = is_slow(world) && (update->happened & TACIT_COUNTED_REPORT) != 0;
    if (world->has_helper && storm_below(world, is_midway ? 2 : 16) == 0) /* of a moment ago */
        keep_old(node);
    if (update->persist && when > 0 && !(world->bug == STORM_FORGETS_DRAW && update->drew))
        persist(node, update->persists_part);
    if (when == 2) {
        if (update->has_plan)
            take_plan(node, update);
        node->deadline_us = update->deadline_us;
        say(world, at, update);
        grant_anyway(world, at, event, update);
    }
    if (dies)
        revive(world, at);
}

void storm_step(struct storm_world *world, uint32_t at, const struct storm_event *wanted)
{
    struct storm_event event = *wanted;
    struct storm_update update = {.status = TACIT_OK};
    struct tacit_entropy const keys = {.fill = fill_key, .context = world};
    void *const before = storm_before(world, at);
    struct tacit_entropy const entropy = storm_entropy(world);
    event.keys = world->bug == STORM_HAS_NO_SALT || storm_below(world, 4) == 0 ? &keys : NULL;
    event.now_us = world->nodes[at].now_us;
    world->rule->step(world, at, &event, &entropy, &update);
    storm_after(world, at, before, &event, &update);
}

/* ---- What may come ---- */

static void change_number(struct storm_world *world, unsigned char *at, uint32_t width)
{
    static const uint64_t differences[] = {1, UINT64_MAX, 2, 1000000, UINT64_MAX - 1};
    uint64_t number = 0;
    uint32_t const which = storm_below(world, 8);
    memcpy(&number, at, width);
    number = which < 5    ? number + differences[which]
             : which == 5 ? 0
             : which == 6 ? UINT64_MAX
                          : storm_below(world, 9);
    memcpy(at, &number, width);
}

/* One member is another one, or a byte of what belongs to it. */
static void change(struct storm_world *world, void *message, size_t size)
{
    struct storm_rule const *const rule = world->rule;
    unsigned char *const bytes = message;
    bool const has_more = size > rule->head_bytes;
    uint32_t const what = storm_below(world, rule->field_count + (has_more ? 4 : 0));
    if (what >= rule->field_count) {
        bytes[rule->head_bytes + storm_below(world, (uint32_t)(size - rule->head_bytes))] ^=
            (unsigned char)(1u << storm_below(world, 8));
        return;
    }
    struct storm_field const *const field = &rule->fields[what];
    if (field->width == 1)
        bytes[field->at] ^= 1; /* a truth */
    else if (field->width <= sizeof(uint64_t))
        change_number(world, bytes + field->at, field->width);
    else
        bytes[field->at + storm_below(world, field->width)] ^= 0x20;
}

static void hear(struct storm_world *world, const struct storm_envelope *envelope, bool is_changed)
{
    uint32_t const to = envelope->to;
    void *const message = copy_message(world, envelope->message);
    is_changed = is_changed && world->rule->read(message).word != STORM_SIGNED;
    uint32_t const changes = is_changed ? 1 + storm_below(world, 2) : 0;
    for (uint32_t i = 0; i < changes; i++)
        change(world, message, envelope->size);
    if (is_changed && world->rule->mend != NULL)
        world->rule->mend(world, message);
    storm_step(world, to, &(struct storm_event){.kind = TACIT_EVENT_RECEIVE, .message = message});
    free(message);
}

static void train(struct storm_world *world, uint32_t at, bool is_wild)
{
    double difference[8];
    for (uint32_t i = 0; i < 8; i++)
        difference[i] = tacit_rng_uniform(&world->chance) - 0.5;
    difference[0] *= storm_below(world, 4) == 0 ? 40 : 1; /* longer than the clip */
    for (uint32_t i = 0; i < 8 && world->view != STORM_AS_IT_IS; i++)
        difference[i] *= -0.5;
    bool const is_old = is_wild && storm_below(world, 3) == 0;
    bool const has_none = is_wild && storm_below(world, 4) == 0;
    if (!world->nodes[at].is_training && !is_wild)
        return;
    world->nodes[at].is_training = false;
    storm_step(world, at,
               &(struct storm_event){.kind = TACIT_EVENT_REWARD,
                                     .round = is_old ? 1 + storm_below(world, 4) : 0,
                                     .difference = has_none ? NULL : difference});
}

/* A part of what is planned of an arm, or all of it; now and then something else. */
static void play(struct storm_world *world, uint32_t at, bool is_wild)
{
    struct storm_node *const node = &world->nodes[at];
    if (world->rule->trains) {
        train(world, at, is_wild);
        return;
    }
    uint32_t arm = storm_below(world, world->arms);
    for (uint32_t i = 0; i < world->arms && node->left[arm] == 0; i++)
        arm = (arm + 1) % world->arms;
    uint64_t count = node->left[arm];
    if (count > 1 && storm_below(world, 6) == 0)
        count = 1 + storm_below(world, (uint32_t)count);
    count = count < node->at_most ? count : node->at_most;
    int64_t steps = storm_pull(world, arm) * (int64_t)count;
    uint32_t const what = is_wild ? storm_below(world, 5) : 5;
    count = what == 0 ? node->left[arm] + 1 : what == 1 ? 0 : count;
    steps = what == 2 ? -1 : what == 3 ? (int64_t)count * TACIT_STEPS + 1 : steps;
    if (!is_wild && count == 0)
        return;
    if (!is_wild)
        node->left[arm] -= count;
    storm_step(
        world, at,
        &(struct storm_event){
            .kind = TACIT_EVENT_REWARD,
            .reward = {.arm = what == 4 ? world->arms : arm, .count = count, .sum.steps = steps}});
    if (!is_wild && world->status == TACIT_INVALID && count > 1) {
        node->at_most = count / 2; /* a plan may end behind the horizon */
        node->left[arm] += count;
    }
}

/* At the deadline, a moment before it, or whenever. */
static void time_out(struct storm_world *world, uint32_t at)
{
    struct storm_node *const node = &world->nodes[at];
    bool const is_patient = is_slow(world) && at == world->sites && !world->hub_was_put_back;
    uint32_t const when = storm_below(world, is_patient ? 80 : 4);
    uint64_t const due = node->deadline_us - (when == 0 ? 1 : 0);
    if (when < 3 && node->deadline_us != TACIT_NEVER && due > node->now_us)
        node->now_us = due;
    storm_step(world, at, &(struct storm_event){.kind = TACIT_EVENT_TIMEOUT});
}

/* ---- What comes back ---- */

/* All that a hub which has forgotten does, and everybody with it. */
static void begin_term(struct storm_world *world)
{
    world->term++;
    world->wants_term = false;
    for (uint32_t i = 0; i < world->draw_count; i++)
        world->draws[i].granted = 0;
    for (uint32_t i = 0; i < STORM_NODES_MAX; i++)
        if (world->nodes[i].is_there)
            start(world, i);
}

/* Nothing of this site is promised for what it granted from here on. */
static void note_copy(struct storm_world *world, uint32_t site)
{
    if (world->bug != STORM_HIDES_COPY)
        world->copied |= UINT64_C(1) << site;
    for (uint32_t i = 0; i < world->sites; i++)
        world->was_put_back |= (world->grantors[i] >> site & 1) != 0;
}

static void put_back(struct storm_world *world, uint32_t at)
{
    struct storm_node *const node = &world->nodes[at];
    bool const is_hub = at == world->sites;
    memcpy(node->durable, node->old, node->size);
    node->durable_rewards = node->old_rewards;
    if (!is_hub)
        note_copy(world, node->site);
    world->hub_was_put_back |= is_hub;
    world->was_put_back |= is_hub;
    world->helper_was_put_back |= at == STORM_HELPER;
    revive(world, at);
    bool const is_unseen = /* the helper will say so */
        world->has_helper && (world->bug == STORM_ANSWERS_EACH_U || happens(world, 50));
    if (is_hub && world->rule->has_terms && world->has_grants &&
        world->bug != STORM_FORGETS_HEADS && !is_unseen)
        begin_term(world);
}

static void clone(struct storm_world *world, uint32_t site)
{
    struct storm_node *const twin = &world->nodes[twin_of(world, site)];
    struct storm_node const *const node = &world->nodes[site];
    memcpy(twin->durable, node->durable, node->size);
    twin->durable_rewards = node->durable_rewards;
    twin->now_us = node->now_us;
    twin->is_there = true;
    note_copy(world, site);
    revive(world, twin_of(world, site));
}

/* From the newest snapshot, in a new term. */
static void lose_hub(struct storm_world *world)
{
    struct storm_node *const hub = &world->nodes[world->sites];
    static uint8_t bytes[SNAPSHOT_BYTES];
    size_t const size = world->rule->snapshot(world, hub->durable, bytes, sizeof bytes);
    assert_in_range(size, 1, sizeof bytes);
    memset(hub->state, 0x5a, hub->size);
    if (world->rule->restore(world, hub->state, bytes, size) != TACIT_OK) {
        storm_breaks(world, "a lost hub cannot be built again", world->sites);
        memcpy(hub->state, hub->durable, hub->size);
    }
    memcpy(hub->durable, hub->state, hub->size);
    begin_term(world);
    seen.lost++;
}

/* Built again, it is what it was, bit for bit. */
static void rebuild(struct storm_world *world)
{
    static uint8_t bytes[2][SNAPSHOT_BYTES];
    struct storm_node const *const hub = &world->nodes[world->sites];
    size_t const size = world->rule->snapshot(world, hub->state, bytes[0], SNAPSHOT_BYTES);
    unsigned char *const again = room(hub->size);
    assert_in_range(size, 1, SNAPSHOT_BYTES);
    digest_bytes(bytes[0], size);
    if (world->rule->restore(world, again, bytes[0], size) != TACIT_OK)
        storm_breaks(world, "a lost hub cannot be built again", world->sites);
    else {
        size_t const second = world->rule->snapshot(world, again, bytes[1], SNAPSHOT_BYTES);
        if (world->bug == STORM_REBUILDS_OTHER)
            bytes[1][size / 2] ^= 1;
        if (second != size || memcmp(bytes[0], bytes[1], size) != 0)
            storm_breaks(world, "a hub that was lost is another one", world->sites);
        if (world->rule->check(world, world->sites, again, hub->size) != TACIT_OK)
            storm_breaks(world, "a hub that was lost is no state", world->sites);
        damage_words(again, hub->size);
    }
    free(again);
    seen.rebuilt++;
    /* With a byte changed it is refused, or is a state of which the same is written. */
    uint8_t *const byte = &bytes[0][storm_below(world, (uint32_t)size)];
    *byte ^= (uint8_t)(1u << storm_below(world, 8));
    unsigned char *const other = room(hub->size);
    enum tacit_status const status = world->rule->restore(world, other, bytes[0], size);
    digest_word((uint64_t)status);
    if (status == TACIT_OK && world->rule->check(world, world->sites, other, hub->size) != TACIT_OK)
        storm_breaks(world, "a damaged snapshot was taken and is no state", world->sites);
    if (status == TACIT_OK &&
        (world->rule->snapshot(world, other, bytes[1], SNAPSHOT_BYTES) != size ||
         memcmp(bytes[0], bytes[1], size) != 0))
        storm_breaks(world, "a damaged snapshot was taken for another one", world->sites);
    if (world->rule->restore(world, other, bytes[0], size - 1) == TACIT_OK)
        storm_breaks(world, "a snapshot that is cut was taken", world->sites);
    free(other);
}

/* A peer joins again with nothing, in a new term: what it granted is forgotten. */
static void lose_peer(struct storm_world *world, uint32_t site)
{
    struct storm_node *const node = &world->nodes[site];
    memset(node->state, 0, node->size);
    assert_int_equal(world->rule->init(world, site, node->state), TACIT_OK);
    node->rewards = (struct storm_rewards){0};
    persist(node, false);
    begin_term(world);
    seen.lost++;
}

static void come_back(struct storm_world *world, uint32_t at)
{
    uint32_t const site = at % world->sites;
    bool const is_wild = world->kind == STORM_WILD;
    bool const forgets = world->bug == STORM_FORGETS_HEADS && !world->has_hub;
    if (is_slow(world) && storm_below(world, 6) > 0)
        return;
    if (world->kind == STORM_COPIES && !forgets && (world->may_be_copied >> site & 1) == 0)
        return;
    if ((is_wild || world->kind == STORM_COPIES) && happens(world, 50) &&
        !world->nodes[twin_of(world, site)].is_there)
        clone(world, site);
    else if (is_wild || world->kind == STORM_COPIES)
        put_back(world, is_wild ? at : site);
    else if (world->kind == STORM_HUBS && world->has_hub)
        put_back(world, world->old_helpers ? STORM_HELPER : world->sites);
    else if (world->kind == STORM_LOST && world->rule->has_terms && world->has_hub &&
             world->has_grants && world->term < 3)
        lose_hub(world);
    else if (world->kind == STORM_LOST && world->rule->has_terms && !world->has_hub &&
             world->has_grants && world->term < 3)
        lose_peer(world, site);
    if (world->bug == STORM_FORGETS_HEADS && world->has_hub)
        put_back(world, world->sites);
}

static void hear_next(struct storm_world *world)
{
    struct storm_envelope *const envelope = &world->envelopes[world->next++ % STORM_ENVELOPES];
    if (!world->is_calm && happens(world, world->loss))
        return;
    hear(world, envelope, false);
}

static void happen(struct storm_world *world)
{
    bool const is_wild = world->kind == STORM_WILD;
    uint32_t const what = storm_below(world, 200);
    uint32_t const count = 2 * world->sites + 1;
    uint32_t at = storm_below(world, count);
    uint32_t const any =
        storm_below(world, world->end < STORM_ENVELOPES ? world->end + 1 : STORM_ENVELOPES);
    at = world->nodes[at].is_there ? at : at % world->sites;
    if (world->has_helper && happens(world, 15))
        at = STORM_HELPER;
    bool const is_site = at != world->sites && at != STORM_HELPER;
    world->nodes[at].now_us += storm_below(world, 500);
    if (world->wants_term)
        begin_term(world);
    else if (what < (is_slow(world) && !world->nodes[at].is_training ? 150 : 70) &&
             world->next < world->end)
        hear_next(world);
    else if (what < 100 && any < world->end)
        hear(world, &world->envelopes[any], is_wild && what < 88);
    else if (what < 168 && is_site)
        play(world, at, is_wild && what < 106);
    else if (what < 184)
        time_out(world, at);
    else if (what < 187 && is_site)
        storm_step(
            world, at,
            &(struct storm_event){.kind = TACIT_EVENT_EXPLOITED, .count = storm_below(world, 200)});
    else if (what < 191)
        revive(world, at);
    else if (what < 194)
        come_back(world, at);
    else if (what < 196)
        keep_old(&world->nodes[at]);
    else if (what < 198 && world->rule->operate != NULL && world->has_changes)
        world->rule->operate(world);
    else if (what < 200 && world->rule->snapshot != NULL && world->has_hub)
        rebuild(world);
}

/* ---- After the storm: in order, and nothing is lost ---- */

/* Who goes on; none: STORM_NODES_MAX. */
static uint32_t first_that_goes_on(struct storm_world *world)
{
    for (uint32_t at = 0; at < STORM_NODES_MAX; at++) {
        struct storm_node const *const node = &world->nodes[at];
        struct storm_look look = {0};
        if (!node->is_there || (at != world->sites && (world->copied >> node->site & 1) != 0))
            continue;
        bool const was_paused = digest_is_paused();
        digest_pause(true);
        world->rule->look(world, at, &look);
        digest_pause(was_paused);
        if (look.end == STORM_GOES_ON)
            return at;
    }
    return STORM_NODES_MAX;
}

/* The next deadline of all. */
static void wait_in_calm(struct storm_world *world)
{
    uint32_t first = STORM_NODES_MAX;
    uint64_t wait_us = TACIT_NEVER;
    for (uint32_t at = 0; at < STORM_NODES_MAX; at++) {
        struct storm_node const *const node = &world->nodes[at];
        uint64_t const due =
            node->deadline_us > node->now_us ? node->deadline_us - node->now_us : 0;
        if (node->is_there && node->deadline_us != TACIT_NEVER && due < wait_us) {
            wait_us = due;
            first = at;
        }
    }
    if (first == STORM_NODES_MAX)
        return;
    for (uint32_t at = 0; at < STORM_NODES_MAX; at++)
        world->nodes[at].now_us += wait_us;
    storm_step(world, first, &(struct storm_event){.kind = TACIT_EVENT_TIMEOUT});
}

static void calm_down(struct storm_world *world)
{
    world->is_calm = true;
    for (uint32_t i = 0; i < CALM_TURNS && world->broken[0] == '\0'; i++) {
        if (world->wants_term)
            begin_term(world);
        if (world->bug == STORM_IS_DEAF)
            world->next = world->end;
        for (uint32_t k = 0; k < 30 && world->next < world->end; k++)
            hear_next(world);
        uint32_t const reward_count = world->reward_count;
        for (uint32_t at = 0; at < STORM_NODES_MAX; at++)
            for (uint32_t k = 0; k < 4 && world->nodes[at].is_there && at != world->sites; k++)
                play(world, at, false);
        if (world->next == world->end && world->reward_count == reward_count)
            wait_in_calm(world);
        if (i % 8 == 7 && first_that_goes_on(world) == STORM_NODES_MAX) {
            seen.ends++;
            return;
        }
    }
    if (world->kind != STORM_WILD && !world->was_put_back)
        storm_breaks(world, "the faults are over, but not everybody ends",
                     first_that_goes_on(world));
}

/* ---- Programs ---- */

/* The promise that is not kept in the world, or "". */
static void weather(const struct storm_rule *rule, uint32_t seed, enum storm_bug bug,
                    char promise[160])
{
    struct storm_world *const world = world_new(rule, seed, bug);
    for (uint32_t at = 0; at <= world->sites; at++)
        if (world->nodes[at].is_there && world->nodes[at].size > 0)
            start(world, at);
    uint32_t const events = is_slow(world) ? 12 * EVENTS : world->has_helper ? 3 * EVENTS : EVENTS;
    for (uint32_t i = 0; i < events && world->broken[0] == '\0'; i++)
        happen(world);
    calm_down(world);
    seen.draws += world->draw_count;
    seen.copies_refused += world->copies_refused;
    seen.changes += world->changes;
    memcpy(promise, world->broken, sizeof world->broken);
    world_free(world);
}

static const struct storm_rule *rule_now;
static uint32_t world_count = WORLDS;

static void every_promise_is_kept_and_everybody_ends(void **state)
{
    uint32_t bad = 0;
    for (uint32_t seed = 0; seed < world_count; seed++) {
        char promise[160];
        weather(rule_now, seed, STORM_NO_BUG, promise);
        if (promise[0] != '\0' && bad++ < 10)
            print_message("%s, --seed %u: %s\n", rule_now->name, seed, promise);
    }
    for (uint32_t i = 0; i < STORM_FOUND_MAX && rule_now->found[i] != 0; i++) {
        char promise[160];
        weather(rule_now, rule_now->found[i], STORM_NO_BUG, promise);
        assert_string_equal(promise, "");
    }
    if (bad <= rule_now->open && world_count > WORLDS)
        print_message("%u of %u are open\n", bad, rule_now->open);
    else
        assert_int_equal(bad, 0);
}

/* Each of these breaks a promise, and is found by one; those of a helper where there is one.
 * STORM_FORGETS_HEADS is no fault: sites and the hub are put back together, and there the promise
 * ends. */
static void what_breaks_a_promise_is_found(void **state)
{
    static const char *const found_by[STORM_BUG_COUNT] = {
        [STORM_GRANTS_TWICE] = "follow the same one were granted",
        [STORM_GRANTS_ITSELF] = "before it was granted",
        [STORM_FORGETS_DRAW] = "is flagged",
        [STORM_HAS_NO_SALT] = "have one commitment",
        [STORM_TOUCHES_REFUSED] = "left a trace",
        [STORM_HIDES_COPY] = "is flagged",
        [STORM_CHANGES_ANSWER] = "two answers",
        [STORM_REBUILDS_OTHER] = "is another one",
        [STORM_IS_DEAF] = "not everybody ends",
        [STORM_FORGETS_HEADS] = "a reward is in two draws",
        [STORM_KEEPS_SUMS] = "exact sums are left",
        [STORM_ANSWERS_EACH_U] = "a reward is in two answers",
        [STORM_HELPER_FORGETS] = "one request has two answers",
        [STORM_HUB_FORGETS] = "two requests for one round",
        [STORM_TOTALS_UNSIGNED] = "is not the sum of what was counted",
        [STORM_NOISE_SATURATED] = "is not the sum of what was counted",
        [STORM_COUNTS_ALL_OF_U] = "of another number of sites",
        [STORM_KEYS_NOT_PINNED] = "is not the site's is counted",
        [STORM_LAST_LINK_ONLY] = "an honest site is left out",
        [STORM_SHOWS_Z] = "a masked word is in a request",
        [STORM_OLD_HELPER_GOES_ON] = "does not follow what it was shown",
        [STORM_SCOPE_HAS_NO_SITE] = "is not the site's is counted",
        [STORM_SCOPE_HAS_NO_TERM] = "is not the site's is counted",
        [STORM_SCOPE_HAS_NO_EPSILON] = "is not the site's is counted",
    };
    digest_pause(true);
    uint32_t const wanted = effort_is_brief() ? 1 : 3;
    for (enum storm_bug bug = 1; bug < STORM_BUG_COUNT; bug++) {
        uint32_t count = 0;
        bool const is_possible = !(bug == STORM_CHANGES_ANSWER && rule_now->trains) &&
                                 !(bug == STORM_KEEPS_SUMS && rule_now->trains) &&
                                 !(bug == STORM_REBUILDS_OTHER && rule_now->snapshot == NULL) &&
                                 !(bug > STORM_KEEPS_SUMS && !rule_now->has_helper) &&
                                 (rule_now->impossible >> bug & 1) == 0;
        for (uint32_t seed = 0; is_possible && seed < BUG_WORLDS && count < wanted; seed++) {
            char promise[160];
            weather(rule_now, seed, bug, promise);
            count += strstr(promise, found_by[bug]) != NULL ? 1 : 0;
        }
        if (is_possible && count < wanted)
            print_message("%s: in %u worlds not found: \"%s\"\n", rule_now->name, BUG_WORLDS,
                          found_by[bug]);
        assert_true(!is_possible || count == wanted);
    }
    digest_pause(false);
}

/* HELPER 7, whatever is lost, doubled, late, killed, put back or lost for good. One aggregator sees
 * what was drawn, which follows rewards. */
static void views_follow_no_reward(void **state)
{
    digest_pause(true);
    are_viewed = true;
    uint32_t const worlds = rule_now->has_helper ? effort_of(VIEW_WORLDS, VIEW_WORLDS * 50) : 0;
    for (uint32_t seed = 0; seed < worlds; seed++) {
        char promise[160];
        if (seed % STORM_KINDS == STORM_WILD)
            continue;
        for (view_now = STORM_AS_IT_IS; view_now < STORM_VIEWS; view_now++) {
            weather(rule_now, seed, STORM_NO_BUG, promise);
            assert_string_equal(promise, "");
        }
        rule_now->see_views();
    }
    view_now = STORM_AS_IT_IS;
    are_viewed = false;
    digest_pause(false);
}

/* Of a configuration that is refused no bytes are a state, nor are more or fewer of a good one. */
static void nothing_else_is_a_state(void **state)
{
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct storm_world *const world = world_new(rule_now, seed, STORM_NO_BUG);
        for (uint32_t at = 0; at <= world->sites; at++)
            for (size_t by = 0; by <= 16 && world->nodes[at].size > 0; by += 16)
                assert_int_equal(rule_now->check(world, at, world->nodes[at].state,
                                                 world->nodes[at].size - 8 + by),
                                 TACIT_MALFORMED);
        rule_now->spoil(world);
        for (uint32_t at = 0; at <= world->sites; at++) {
            void *const memory = world->nodes[at].state;
            if (memory == NULL)
                continue;
            assert_int_equal(rule_now->size(world, at), 0);
            void *const before = storm_before(world, at);
            assert_int_equal(rule_now->init(world, at, memory), TACIT_INVALID);
            assert_memory_equal(before, memory, world->nodes[at].size);
            free(before);
            for (size_t size = 0; size < 2; size++)
                assert_int_equal(rule_now->check(world, at, memory, size), TACIT_MALFORMED);
        }
        world_free(world);
    }
}

/* A storm is only worth something if it happens. Runs last. */
static void the_storm_has_missed_nothing(void **state)
{
    static const enum tacit_status expected[] = {TACIT_OK,         TACIT_MALFORMED, TACIT_STRANGER,
                                                 TACIT_UNEXPECTED, TACIT_ENTROPY,   TACIT_INVALID,
                                                 TACIT_FORKED,     TACIT_ROLLBACK};
    uint32_t const part = effort_is_brief() ? BRIEF : 1;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (expected[i] != TACIT_INVALID || !rule_now->trains)
            assert_true(part * statuses[-(int)expected[i]] > 50);
    assert_true(rule_now->trains || part * statuses[-(int)TACIT_BUDGET] > 15);
    assert_true(seen.ends > world_count / 2);
    assert_true(seen.draws > world_count / 2);
    assert_true(seen.copies_refused > world_count / 2);
    assert_true(rule_now->snapshot == NULL ||
                (seen.rebuilt > world_count / 4 && seen.lost > world_count / 10));
    assert_true(rule_now->trains || (seen.sums > world_count && seen.drawn > world_count));
    assert_true(UINT64_C(10000) * seen.left <= seen.drawn);
    assert_true(rule_now->trains || seen.halted > world_count / 100);
    assert_true(rule_now->operate == NULL || seen.changes > world_count / 10);
    if (rule_now->see_all != NULL)
        rule_now->see_all(world_count);
}

int storm_main(const struct storm_rule *rule, int argc, char **argv)
{
    char promise[160];
    rule_now = rule;
    world_count = effort_of(rule->has_helper ? WORLDS_HELPER : WORLDS, WORLDS_LONG);
    if (effort_is_brief())
        world_count /= BRIEF;
    if ((argc == 3 || argc == 4) && strcmp(argv[1], "--seed") == 0) { /* and so many that follow */
        uint32_t const first = (uint32_t)strtoul(argv[2], NULL, 10);
        uint32_t const count = argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
        uint32_t bad = 0;
        digest_pause(true);
        for (uint32_t seed = first; seed - first < count; seed++) {
            weather(rule, seed, STORM_NO_BUG, promise);
            bad += promise[0] != '\0' ? 1 : 0;
            if (promise[0] != '\0')
                (void)printf("--seed %u: %s\n", seed, promise);
        }
        (void)printf("%u of %u are bad\n", bad, count);
        return bad > 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_else_is_a_state),
        cmocka_unit_test(every_promise_is_kept_and_everybody_ends),
        cmocka_unit_test(the_storm_has_missed_nothing),
        cmocka_unit_test(what_breaks_a_promise_is_found),
        cmocka_unit_test(views_follow_no_reward),
    };
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (effort_is_brief()) /* what is known is of all worlds */
        return failed;
    return damage_end(argc, digest_end(argc, failed, rule->digest), rule->verdicts);
}

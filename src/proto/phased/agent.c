/* A site of the phased index (EXACT-BOUNDS 1, 5, 6): plays the plan of an order, adds up integers,
 * releases one noised sum a block, once, and reports. A plan is new pulls: whoever missed an order
 * is missing in its round, and its rewards of a plan that was overtaken are dropped for ever. */
#include <string.h>
#include "../round/site.h"
#include "internal.h"

#define LAST_REPORT_TRIES 12u

enum phase {
    PHASE_IDLE,      /* no order yet */
    PHASE_PULLING,   /* a plan is open */
    PHASE_RELEASING, /* all rewards of the plan are here; the noise is not drawn yet */
    PHASE_COMMITTED, /* it is drawn, and waits for its grant; perhaps at T */
    PHASE_WAITING,   /* for the next order */
    PHASE_FINISHED,  /* T pulls were played */
    PHASE_HALTED     /* nothing leaves any more: no budget, or this state is an old copy */
};

struct tacit_phased_agent {
    struct tacit_phased_agent_config config;
    struct tacit_ledger ledger;
    uint64_t now_us;
    struct round_site grants;
    uint64_t pull_count;     /* pulls played, of T */
    uint64_t left_count;     /* pulls left in the plan */
    uint64_t term;           /* 0: the first */
    uint64_t number_base;    /* of a draw: this and its round; 0 in the first term */
    uint64_t release_number; /* of the last release that may be used; 0: none */
    enum phase phase;
    uint32_t round;
    uint32_t draw_round;    /* last round whose sums were noised; ahead while it waits */
    uint32_t release_round; /* last round whose release may be used */
    uint32_t leader;
    uint32_t block_count; /* of the order's plan, or of the last plan */
    bool last;            /* the order said that no plan follows */
    bool reported;        /* the hub holds this round's report */
    bool cut;             /* T comes before the end of the plan: nothing is released */
    bool unplaced;        /* no order of this term was taken yet */
    /* ordered 2 K | left K | exact K | noised K: of the plan's blocks; released sums K, released
     * pulls K: of the arms; open plan 2 K */
    uint64_t words[];
};

_Static_assert(sizeof(struct tacit_pull_block) == 2 * sizeof(uint64_t), "a block is two words");

/* ---- Layout ---- */

static uint64_t *column_of(struct tacit_phased_agent *agent, uint32_t column)
{
    TACIT_ASSERT(column < 9);
    return agent->words + column * (size_t)agent->config.arm_count;
}

static struct tacit_pull_block *ordered_of(struct tacit_phased_agent *agent)
{
    return (struct tacit_pull_block *)column_of(agent, 0);
}

static uint64_t *left_of(struct tacit_phased_agent *agent)
{
    return column_of(agent, 2);
}

static int64_t *exact_of(struct tacit_phased_agent *agent)
{
    return (int64_t *)column_of(agent, 3);
}

static int64_t *noised_of(struct tacit_phased_agent *agent)
{
    return (int64_t *)column_of(agent, 4);
}

static int64_t *released_sums_of(struct tacit_phased_agent *agent)
{
    return (int64_t *)column_of(agent, 5);
}

static uint64_t *released_pulls_of(struct tacit_phased_agent *agent)
{
    return column_of(agent, 6);
}

static struct tacit_pull_block *open_plan_of(struct tacit_phased_agent *agent)
{
    return (struct tacit_pull_block *)column_of(agent, 7);
}

static bool config_is_valid(const struct tacit_phased_agent_config *config)
{
    return config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->agent_count >= 1 && config->agent_count <= TACIT_AGENTS_MAX &&
           config->agent_id < config->agent_count && config->horizon >= 1 &&
           config->horizon <= TACIT_HORIZON_MAX && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_PHASED_PAUSE_US_MAX &&
           config->mechanism.mode == TACIT_PRIVACY_SOUND &&
           config->mechanism.scale.kind == TACIT_SCALE_STEPS;
}

size_t tacit_phased_agent_size(const struct tacit_phased_agent_config *config)
{
    if (!config_is_valid(config))
        return 0;
    return sizeof(struct tacit_phased_agent) + 9 * (size_t)config->arm_count * sizeof(uint64_t);
}

/* Member by member, so that a state is a function of the values alone (tacit_mechanism_copy). */
static void copy_config(struct tacit_phased_agent_config *copy,
                        const struct tacit_phased_agent_config *config)
{
    TACIT_ASSERT(copy != config);
    copy->run_id = config->run_id;
    copy->agent_id = config->agent_id;
    copy->agent_count = config->agent_count;
    copy->arm_count = config->arm_count;
    copy->horizon = config->horizon;
    tacit_mechanism_copy(&copy->mechanism, &config->mechanism);
    copy->budget_nano = config->budget_nano;
    copy->resend_after_us = config->resend_after_us;
    copy->round_max = config->round_max;
    copy->pulls_min = config->pulls_min;
    copy->has_grants = config->has_grants;
    memcpy(copy->domain, config->domain, sizeof copy->domain);
}

enum tacit_status tacit_phased_agent_init(struct tacit_phased_agent *agent,
                                          const struct tacit_phased_agent_config *config)
{
    size_t const size = tacit_phased_agent_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    copy_config(&agent->config, config);
    agent->ledger = tacit_ledger_init(config->budget_nano);
    agent->grants.resend.due_us = TACIT_NEVER;
    agent->leader = TACIT_NO_ARM;
    return TACIT_OK;
}

/* Draws are numbered on over terms, also where rounds come again. */
static uint64_t draw_number(const struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->number_base <= UINT64_MAX / 2);
    return agent->number_base + agent->draw_round;
}

/* ---- Phases ---- */

/* Every phase change goes through here, so an illegal one cannot pass unseen. An order may overtake
 * any phase but the last two. */
static void set_phase(struct tacit_phased_agent *agent, enum phase next)
{
    enum phase const now = agent->phase;
    TACIT_ASSERT(next != PHASE_IDLE);
    TACIT_ASSERT(now != PHASE_HALTED);
    TACIT_IMPLIES(now == PHASE_FINISHED, next == PHASE_HALTED);
    TACIT_IMPLIES(next == PHASE_RELEASING, now == PHASE_PULLING);
    TACIT_IMPLIES(next == PHASE_COMMITTED, now == PHASE_RELEASING && agent->config.has_grants);
    agent->phase = next;
}

static void check_invariants(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    TACIT_ASSERT(agent->round <= TACIT_PHASED_ROUNDS_MAX + 1);
    TACIT_ASSERT(agent->leader < agent->config.arm_count || agent->leader == TACIT_NO_ARM);
    TACIT_IMPLIES(agent->draw_round > agent->release_round, agent->config.has_grants);
    TACIT_IMPLIES(agent->grants.blocked != 0, agent->config.has_grants);
    TACIT_IMPLIES(agent->phase == PHASE_COMMITTED, agent->draw_round == agent->round);
    TACIT_IMPLIES(agent->phase == PHASE_FINISHED, agent->pull_count == agent->config.horizon);
    TACIT_IMPLIES(agent->phase == PHASE_WAITING, agent->pull_count < agent->config.horizon);
    TACIT_IMPLIES(agent->phase == PHASE_IDLE, agent->round == 0);
    TACIT_IMPLIES(agent->unplaced, agent->left_count == 0 && agent->draw_round == agent->round);
    TACIT_ASSERT(agent->release_number <= draw_number(agent));
    TACIT_ASSERT(agent->pull_count <= agent->config.horizon);
    TACIT_ASSERT(agent->left_count <= agent->config.horizon - agent->pull_count);
    TACIT_ASSERT((agent->phase == PHASE_PULLING) == (agent->left_count > 0));
    TACIT_ASSERT(agent->release_round <= agent->draw_round && agent->draw_round <= agent->round);
    TACIT_ASSERT(tacit_ledger_spent_nano(&agent->ledger) <= agent->ledger.budget_nano);
}

/* ---- Plans ---- */

static void start_waiting(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->left_count == 0);
    bool const is_over = agent->pull_count == agent->config.horizon;
    set_phase(agent, is_over ? PHASE_FINISHED : PHASE_WAITING);
}

/* Forgets the plan before, and what it brought. */
static void clear_plan(struct tacit_phased_agent *agent)
{
    memset(ordered_of(agent), 0, 5 * (size_t)agent->config.arm_count * sizeof(uint64_t));
    agent->block_count = 0;
    agent->left_count = 0;
    agent->cut = false;
}

static void add_block(struct tacit_phased_agent *agent, uint32_t arm, uint64_t count)
{
    TACIT_ASSERT(arm < agent->config.arm_count);
    if (count == 0)
        return;
    TACIT_ASSERT(agent->block_count < agent->config.arm_count);
    ordered_of(agent)[agent->block_count].arm = arm;
    ordered_of(agent)[agent->block_count].count = count;
    left_of(agent)[agent->block_count] = count;
    agent->left_count += count;
    agent->block_count++;
}

/* Nothing is to be learnt any more: the leader until T. Without one, which only a T that is too
 * small for the first plan brings, the arms of the order in turn (4.5); of no blocks: all. */
static void plan_rest(struct tacit_phased_agent *agent, const struct tacit_pull_block *blocks,
                      uint32_t block_count)
{
    TACIT_ASSERT(agent->left_count == 0);
    TACIT_ASSERT(agent->block_count == 0);
    uint32_t const arms = block_count > 0 ? block_count : agent->config.arm_count;
    uint64_t const slots = agent->config.horizon - agent->pull_count;
    if (agent->leader != TACIT_NO_ARM) {
        add_block(agent, agent->leader, slots);
        return;
    }
    for (uint32_t i = 0; i < arms; i++)
        add_block(agent, block_count > 0 ? blocks[i].arm : i,
                  slots / arms + (i < slots % arms ? 1 : 0));
}

static uint64_t pulls_in(const struct tacit_phased_message *order)
{
    TACIT_IMPLIES(order->block_count > 0, order->blocks != NULL);
    uint64_t total = 0;
    for (uint32_t i = 0; i < order->block_count; i++)
        total += order->blocks[i].count; /* 2^16 blocks of 2^40 pulls fit */
    return total;
}

/* A plan that does not fit in the slots left is never released: they go to the leader (6). */
static void plan_order(struct tacit_phased_agent *agent, const struct tacit_phased_message *order)
{
    TACIT_ASSERT(!order->last);
    TACIT_ASSERT(agent->block_count == 0);
    agent->cut = pulls_in(order) > agent->config.horizon - agent->pull_count;
    if (agent->cut) {
        plan_rest(agent, order->blocks, order->block_count);
        return;
    }
    for (uint32_t i = 0; i < order->block_count; i++)
        add_block(agent, order->blocks[i].arm, order->blocks[i].count);
}

static void fill_plan(struct tacit_phased_agent *agent, struct tacit_phased_update *update)
{
    TACIT_ASSERT(update->plan_count == 0);
    TACIT_ASSERT(agent->left_count > 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        if (left_of(agent)[i] == 0)
            continue;
        open_plan_of(agent)[count].arm = ordered_of(agent)[i].arm;
        open_plan_of(agent)[count].count = left_of(agent)[i];
        count++;
    }
    TACIT_ASSERT(count >= 1);
    update->plan = open_plan_of(agent);
    update->plan_count = count;
}

static void open_plan(struct tacit_phased_agent *agent, struct tacit_phased_update *update)
{
    TACIT_ASSERT(agent->left_count <= agent->config.horizon - agent->pull_count);
    if (agent->left_count == 0) {
        start_waiting(agent);
        return;
    }
    set_phase(agent, PHASE_PULLING);
    fill_plan(agent, update);
}

/* ---- Messages out ---- */

/* A report, a hello or a commit. With grants they say of the commitments what the hub is to know.
 */
static void send(struct tacit_phased_agent *agent, enum tacit_phased_message_kind kind,
                 struct tacit_phased_update *update)
{
    TACIT_IMPLIES(kind == TACIT_PHASED_COMMIT, agent->config.has_grants);
    TACIT_ASSERT(kind != TACIT_PHASED_ORDER);
    update->send = true;
    update->message = (struct tacit_phased_message){
        .kind = kind,
        .from = agent->config.agent_id,
        .to = TACIT_HUB,
        .run_id = agent->config.run_id,
        .term = agent->term,
        .round = agent->unplaced ? 0 : agent->round,
        .leader = TACIT_NO_ARM,
        .commit = agent->config.has_grants ? &agent->grants.commit : NULL};
    if (kind == TACIT_PHASED_REPORT) {
        update->message.block_count = agent->block_count;
        update->message.sums = noised_of(agent);
    }
}

/* Was this round's release drawn, and is it not known that the hub has it? */
static bool owes_report(const struct tacit_phased_agent *agent)
{
    return agent->round > 0 && agent->release_round == agent->round && !agent->reported &&
           (agent->phase == PHASE_WAITING || agent->phase == PHASE_FINISHED);
}

/* What a waiting agent says when it has waited long enough: its report again, or "what now?".
 * Whether a release of before is wanted in this term, an order says. */
static void ask_again(struct tacit_phased_agent *agent, struct tacit_phased_update *update)
{
    bool const is_wanted = owes_report(agent) && !agent->unplaced;
    send(agent, is_wanted ? TACIT_PHASED_REPORT : TACIT_PHASED_HELLO, update);
}

/* ---- Releases ---- */

/* 1: noise for the sum of each block. */
static enum tacit_status add_noise(struct tacit_phased_agent *agent,
                                   const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(agent->left_count == 0);
    for (uint32_t i = 0; i < agent->block_count; i++) {
        union tacit_sum sum = {.steps = exact_of(agent)[i]};
        enum tacit_status const status =
            tacit_mechanism_release(&agent->config.mechanism, sum, entropy, &sum);
        if (status != TACIT_OK)
            return status;
        noised_of(agent)[i] = sum.steps;
    }
    return TACIT_OK;
}

/* Commits to the draw. Errors: TACIT_ENTROPY. */
static enum tacit_status commit(struct tacit_phased_agent *agent, const struct tacit_entropy *keys)
{
    TACIT_ASSERT(agent->config.has_grants);
    struct tacit_commit_scope const scope = {.domain = agent->config.domain,
                                             .run_id = agent->config.run_id,
                                             .site = agent->config.agent_id,
                                             .epoch = agent->round};
    uint8_t digest[TACIT_SHA256_BYTES];
    phased_release_digest(ordered_of(agent), noised_of(agent), agent->block_count, digest);
    return round_site_commit(&agent->grants, &scope, digest, keys);
}

/* 1: one sum a block, all or none, noised once; what it costs is spent with it. After this nothing
 * of the exact sums is left. */
static enum tacit_status draw(struct tacit_phased_agent *agent, const struct tacit_entropy *entropy,
                              const struct tacit_entropy *keys)
{
    TACIT_ASSERT(agent->phase == PHASE_RELEASING);
    TACIT_ASSERT(agent->left_count == 0);
    struct tacit_ledger ledger = agent->ledger;
    enum tacit_status status =
        tacit_ledger_spend(&ledger, agent->number_base + agent->round,
                           tacit_mechanism_cost_nano(&agent->config.mechanism));
    if (status != TACIT_OK) {
        set_phase(agent, PHASE_HALTED);
        return TACIT_BUDGET;
    }
    status = add_noise(agent, entropy);
    if (status == TACIT_OK && agent->config.has_grants)
        status = commit(agent, keys);
    if (status != TACIT_OK) {
        memset(noised_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
        return status;
    }
    memset(exact_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
    agent->ledger = ledger;
    agent->draw_round = agent->round;
    return TACIT_OK;
}

/* The draw may be used from here on: for the arm that is played while the agent waits, and for its
 * report. */
static void use_draw(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->draw_round == agent->round);
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    agent->release_round = agent->draw_round;
    agent->release_number = draw_number(agent);
    for (uint32_t i = 0; i < agent->block_count; i++) {
        uint32_t const arm = ordered_of(agent)[i].arm;
        released_sums_of(agent)[arm] += noised_of(agent)[i];
        released_pulls_of(agent)[arm] += ordered_of(agent)[i].count;
    }
    start_waiting(agent);
}

static enum tacit_status finish_plan(struct tacit_phased_agent *agent,
                                     const struct tacit_phased_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_phased_update *update)
{
    enum tacit_status const status =
        draw(agent, entropy, event->keys == NULL ? entropy : event->keys);
    if (status != TACIT_OK)
        return status;
    if (agent->config.has_grants) {
        set_phase(agent, PHASE_COMMITTED);
        update->happened |= TACIT_DREW;
        send(agent, TACIT_PHASED_COMMIT, update);
    } else {
        use_draw(agent);
        send(agent, TACIT_PHASED_REPORT, update);
    }
    return TACIT_OK;
}

static void take_grant(struct tacit_phased_agent *agent, bool is_closed,
                       struct tacit_phased_update *update)
{
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED);
    agent->reported = agent->reported || is_closed;
    use_draw(agent);
    update->persist = true;
    if (!agent->reported)
        send(agent, TACIT_PHASED_REPORT, update);
    else if (agent->phase == PHASE_WAITING)
        send(agent, TACIT_PHASED_HELLO, update); /* there is a newer order */
}

/* ---- Events ---- */

/* Nothing of the last plan is of use any more, not even what was granted. */
static void forget_release(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->unplaced);
    agent->number_base = draw_number(agent);
    agent->round = agent->draw_round = agent->release_round = 0;
    clear_plan(agent);
    memset(&agent->grants.commit, 0, sizeof agent->grants.commit);
    memcpy(agent->grants.commit.commitment, agent->grants.head, sizeof agent->grants.head);
}

/* What no grant covers is gone: whoever begins a term has forgotten what it granted. The number of
 * the next draw is beyond all numbers before. */
static void begin_term(struct tacit_phased_agent *agent, uint64_t term,
                       struct tacit_phased_update *update)
{
    bool const is_granted = agent->block_count > 0 && agent->release_round == agent->round;
    bool const is_at_end = agent->pull_count == agent->config.horizon;
    TACIT_ASSERT(term > agent->term);
    update->plan_is_void = agent->left_count > 0;
    update->persist = true;
    update->happened |= TACIT_BEGAN_TERM;
    agent->term = term;
    agent->unplaced = true;
    agent->last = agent->reported = agent->cut = false;
    agent->left_count = 0;
    round_site_begin_term(&agent->grants, is_granted);
    if (!is_granted)
        forget_release(agent);
    /* From any phase, also from a halt: an old copy has nothing any more that could leave twice. */
    agent->phase = is_at_end ? PHASE_FINISHED : agent->round > 0 ? PHASE_WAITING : PHASE_IDLE;
}

static enum tacit_status on_start(struct tacit_phased_agent *agent, uint64_t term,
                                  struct tacit_phased_update *update)
{
    if (term > agent->term)
        begin_term(agent, term, update);
    if (agent->phase == PHASE_COMMITTED)
        send(agent, TACIT_PHASED_COMMIT, update);
    if (agent->phase == PHASE_WAITING || owes_report(agent))
        ask_again(agent, update);
    if (agent->phase == PHASE_PULLING) {
        fill_plan(agent, update);
        if (!agent->last) /* before more is released: what does the hub hold? (take_seen) */
            send(agent, TACIT_PHASED_HELLO, update);
    }
    if (agent->phase == PHASE_IDLE && agent->config.arm_count == 1) {
        agent->unplaced = false;
        agent->last = true; /* 5.7: nothing to learn and nothing to say */
        agent->leader = 0;
        add_block(agent, agent->leader, agent->config.horizon - agent->pull_count);
        open_plan(agent, update);
        update->persist = true;
    }
    return TACIT_OK;
}

/* The block of the plan with this arm; block_count if there is none. */
static uint32_t block_of(struct tacit_phased_agent *agent, uint32_t arm)
{
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    uint32_t block = 0;
    while (block < agent->block_count && ordered_of(agent)[block].arm != arm)
        block++;
    TACIT_ASSERT(block <= agent->block_count);
    return block;
}

static enum tacit_status on_reward(struct tacit_phased_agent *agent,
                                   const struct tacit_phased_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_phased_update *update)
{
    struct tacit_reward const *const reward = &event->as.reward;
    uint32_t const block = block_of(agent, reward->arm);
    if (agent->phase != PHASE_PULLING || block == agent->block_count || reward->count == 0 ||
        reward->count > left_of(agent)[block] || reward->sum.steps < 0 ||
        reward->sum.steps > (int64_t)reward->count * TACIT_STEPS)
        return TACIT_INVALID;
    bool const is_learnt = !agent->last && !agent->cut;
    update->persist = true;
    left_of(agent)[block] -= reward->count;
    agent->left_count -= reward->count;
    agent->pull_count += reward->count;
    exact_of(agent)[block] += is_learnt ? reward->sum.steps : 0;
    if (agent->left_count > 0)
        return TACIT_OK;
    if (!is_learnt) {
        start_waiting(agent);
        return TACIT_OK;
    }
    set_phase(agent, PHASE_RELEASING);
    return finish_plan(agent, event, entropy, update);
}

static enum tacit_status on_exploited(struct tacit_phased_agent *agent, uint64_t count,
                                      struct tacit_phased_update *update)
{
    bool const is_allowed = agent->phase == PHASE_WAITING || agent->phase == PHASE_IDLE ||
                            agent->phase == PHASE_PULLING || agent->phase == PHASE_COMMITTED;
    uint64_t const slots = agent->config.horizon - agent->pull_count - agent->left_count;
    if (!is_allowed || count == 0 || count > slots)
        return TACIT_INVALID;
    agent->pull_count += count; /* 1: these rewards enter no sum */
    if (agent->pull_count == agent->config.horizon && agent->phase != PHASE_COMMITTED)
        set_phase(agent, PHASE_FINISHED);
    update->persist = true;
    return TACIT_OK;
}

static bool plan_is_well_formed(const struct tacit_phased_agent *agent,
                                const struct tacit_phased_message *order)
{
    TACIT_ASSERT(agent->config.arm_count >= 1);
    if (order->last)
        return order->block_count == 0;
    if (order->blocks == NULL || order->block_count == 0 ||
        order->block_count > agent->config.arm_count)
        return false;
    for (uint32_t i = 0; i < order->block_count; i++)
        if (order->blocks[i].arm >= agent->config.arm_count || order->blocks[i].count == 0 ||
            order->blocks[i].count > TACIT_HORIZON_MAX ||
            (i > 0 && order->blocks[i].arm <= order->blocks[i - 1].arm))
            return false;
    return true;
}

static enum tacit_status check_order(const struct tacit_phased_agent *agent,
                                     const struct tacit_phased_message *order)
{
    if (order->from != TACIT_HUB || order->run_id != agent->config.run_id ||
        order->term != agent->term)
        return TACIT_STRANGER;
    if (order->to != agent->config.agent_id && order->to != TACIT_EVERYONE)
        return TACIT_STRANGER;
    bool const is_named = order->leader < agent->config.arm_count || order->leader == TACIT_NO_ARM;
    if (order->round == 0 || order->round > TACIT_PHASED_ROUNDS_MAX + 1 ||
        order->seen > order->round || !is_named || !plan_is_well_formed(agent, order))
        return TACIT_MALFORMED;
    return TACIT_OK;
}

/* Are these more rounds, or smaller ones, than the site's policy allows? */
static bool is_beyond_policy(const struct tacit_phased_agent *agent,
                             const struct tacit_phased_message *order)
{
    if (order->last)
        return false; /* it asks for no report */
    for (uint32_t i = 0; i < order->block_count; i++)
        if (order->blocks[i].count < agent->config.pulls_min)
            return true;
    return agent->config.round_max > 0 && order->round > agent->config.round_max;
}

static enum tacit_status halt_old_copy(struct tacit_phased_agent *agent,
                                       struct tacit_phased_update *update)
{
    set_phase(agent, PHASE_HALTED);
    clear_plan(agent);
    update->plan_is_void = true;
    update->persist = true;
    return TACIT_ROLLBACK;
}

/* A word to this agent alone: the hub is there, and says whether it holds the report. */
static void take_seen(struct tacit_phased_agent *agent, const struct tacit_phased_message *order)
{
    TACIT_ASSERT(order->seen <= order->round);
    if (order->to != agent->config.agent_id)
        return;
    if (order->round == agent->round)
        agent->reported = order->seen == agent->round;
    agent->grants.resend.unanswered_count = 0;
}

static void take_order(struct tacit_phased_agent *agent, const struct tacit_phased_message *order,
                       struct tacit_phased_update *update)
{
    TACIT_ASSERT(order->round > agent->round);
    update->plan_is_void = agent->left_count > 0;
    update->persist = true;
    clear_plan(agent);
    agent->round = order->round;
    agent->leader = order->leader;
    agent->last = order->last;
    agent->reported = false;
    agent->grants.resend.unanswered_count = 0;
    if (order->last)
        plan_rest(agent, NULL, 0);
    else
        plan_order(agent, order);
    open_plan(agent, update);
}

/* Is it the very order that the last release answers? */
static bool is_answered(struct tacit_phased_agent *agent, const struct tacit_phased_message *order)
{
    if (agent->round == 0 || order->last || order->round != agent->round ||
        order->block_count != agent->block_count)
        return false;
    for (uint32_t i = 0; i < order->block_count; i++)
        if (order->blocks[i].arm != ordered_of(agent)[i].arm ||
            order->blocks[i].count != ordered_of(agent)[i].count)
            return false;
    return true;
}

/* The first order of a term. */
static void take_place(struct tacit_phased_agent *agent, const struct tacit_phased_message *order,
                       struct tacit_phased_update *update)
{
    TACIT_ASSERT(agent->release_round == agent->round && agent->draw_round == agent->round);
    update->persist = true;
    if (is_answered(agent, order)) {
        agent->unplaced = false;
        agent->leader = order->leader;
        take_seen(agent, order);
        if (!agent->reported)
            send(agent, TACIT_PHASED_REPORT, update);
        return;
    }
    if (order->round <= agent->round)
        forget_release(agent);
    agent->unplaced = false;
    if (agent->phase == PHASE_FINISHED)
        agent->reported = true; /* nobody waits for this agent */
    else
        take_order(agent, order, update);
}

static enum tacit_status on_order(struct tacit_phased_agent *agent,
                                  const struct tacit_phased_message *order,
                                  struct tacit_phased_update *update)
{
    enum tacit_status const status = check_order(agent, order);
    if (status != TACIT_OK || agent->phase == PHASE_HALTED)
        return status;
    /* Does the hub hold more from this agent than this state ever released? Then the state is an
     * old copy, and going on would release the same rewards twice. */
    if (order->to == agent->config.agent_id && order->seen > agent->draw_round)
        return halt_old_copy(agent, update);
    /* Also after a last word: arms come and go. */
    bool const is_new = agent->unplaced || order->round > agent->round;
    bool const is_over = agent->phase == PHASE_FINISHED;
    if (is_new && !is_over && is_beyond_policy(agent, order))
        return TACIT_REFUSED;
    if (is_new && agent->phase == PHASE_COMMITTED) /* the round before is settled first */
        return TACIT_UNEXPECTED;
    if (agent->unplaced) {
        take_place(agent, order, update);
        return TACIT_OK;
    }
    take_seen(agent, order);
    if (is_new && is_over) {
        update->persist = !agent->reported;
        agent->reported = true; /* the round is over: nobody waits for this agent */
    } else if (is_new) {
        take_order(agent, order, update);
    }
    return TACIT_OK;
}

/* ---- Grants ---- */

static enum tacit_status check_answer(const struct tacit_phased_agent *agent,
                                      const struct tacit_phased_message *answer)
{
    if (answer->from != TACIT_HUB || answer->run_id != agent->config.run_id ||
        answer->term != agent->term || answer->to != agent->config.agent_id)
        return TACIT_STRANGER;
    if (!agent->config.has_grants)
        return TACIT_UNEXPECTED;
    return answer->commit == NULL ? TACIT_MALFORMED : TACIT_OK;
}

static enum tacit_status on_grant(struct tacit_phased_agent *agent,
                                  const struct tacit_phased_message *grant,
                                  struct tacit_phased_update *update)
{
    enum tacit_status const status = check_answer(agent, grant);
    if (status == TACIT_OK && agent->phase == PHASE_COMMITTED &&
        round_site_take_grant(&agent->grants, grant->commit->commitment))
        take_grant(agent, grant->closed, update);
    return status; /* others are late, or repeated */
}

static enum tacit_status on_refusal(struct tacit_phased_agent *agent,
                                    const struct tacit_phased_message *refusal,
                                    struct tacit_phased_update *update)
{
    enum tacit_status const status = check_answer(agent, refusal);
    if (status != TACIT_OK || agent->phase == PHASE_HALTED)
        return status;
    struct round_refusal const shown = {.round = refusal->round,
                                        .draw_round = agent->draw_round,
                                        .is_waiting = agent->phase == PHASE_COMMITTED,
                                        .forgot = refusal->forgot,
                                        .commitment = refusal->commit->commitment};
    update->persist = round_site_take_refusal(&agent->grants, &shown);
    return TACIT_OK;
}

static enum tacit_status on_receive(struct tacit_phased_agent *agent,
                                    const struct tacit_phased_message *message,
                                    struct tacit_phased_update *update)
{
    switch (message->kind) {
    case TACIT_PHASED_ORDER:
        return on_order(agent, message, update);
    case TACIT_PHASED_GRANT:
        return on_grant(agent, message, update);
    case TACIT_PHASED_REFUSAL:
        return on_refusal(agent, message, update);
    case TACIT_PHASED_HELLO:
    case TACIT_PHASED_REPORT:
    case TACIT_PHASED_COMMIT:
        return TACIT_UNEXPECTED; /* only hubs receive these */
    }
    return TACIT_MALFORMED;
}

static enum tacit_status on_timeout(struct tacit_phased_agent *agent,
                                    const struct tacit_phased_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_phased_update *update)
{
    if (event->now_us < agent->grants.resend.due_us)
        return TACIT_OK; /* a timer of an earlier update */
    if (agent->phase == PHASE_RELEASING) {
        update->persist = true;
        return finish_plan(agent, event, entropy, update);
    }
    if (agent->phase == PHASE_COMMITTED)
        send(agent, TACIT_PHASED_COMMIT, update);
    if (agent->phase == PHASE_WAITING || agent->phase == PHASE_IDLE || owes_report(agent))
        ask_again(agent, update);
    return TACIT_OK;
}

static enum tacit_status handle(struct tacit_phased_agent *agent,
                                const struct tacit_phased_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_phased_update *update)
{
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, event->as.term, update);
    case TACIT_EVENT_REWARD:
        return on_reward(agent, event, entropy, update);
    case TACIT_EVENT_EXPLOITED:
        return on_exploited(agent, event->as.exploited_count, update);
    case TACIT_EVENT_RECEIVE:
        return on_receive(agent, event->as.message, update);
    case TACIT_EVENT_TIMEOUT:
        return on_timeout(agent, event, entropy, update);
    case TACIT_EVENT_OFFER:
        return TACIT_INVALID; /* nobody's contexts matter here */
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* ---- Public ---- */

/* An agent at T asks for a grant, or tries to hand in its last report, for a while: the hub may be
 * gone for good. */
static bool wants_timer(const struct tacit_phased_agent *agent)
{
    bool const is_at_end = agent->pull_count == agent->config.horizon;
    bool const is_patient = !is_at_end || agent->grants.resend.unanswered_count < LAST_REPORT_TRIES;
    bool const is_settling =
        agent->phase == PHASE_COMMITTED || (agent->phase == PHASE_FINISHED && owes_report(agent));
    return (is_settling && is_patient) || agent->phase == PHASE_IDLE ||
           agent->phase == PHASE_WAITING || agent->phase == PHASE_RELEASING;
}

enum tacit_status tacit_phased_agent_step(struct tacit_phased_agent *agent,
                                          const struct tacit_phased_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_phased_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= agent->now_us);
    check_invariants(agent);
    *update = (struct tacit_phased_update){.deadline_us = TACIT_NEVER};
    enum phase const before = agent->phase;
    bool const had_order = agent->round > 0;
    bool const was_last = agent->last;
    uint32_t const unanswered_before = agent->grants.resend.unanswered_count;
    enum tacit_status const status = handle(agent, event, entropy, update);
    update->happened |= !had_order && agent->round > 0 ? TACIT_WAS_ORDERED : 0;
    update->happened |= !was_last && agent->last ? TACIT_ENDED : 0;
    check_invariants(agent);
    TACIT_IMPLIES(status != TACIT_OK, !update->send);
    TACIT_IMPLIES(update->send, update->message.from == agent->config.agent_id);
    TACIT_IMPLIES(update->plan_count > 0, agent->phase == PHASE_PULLING);
    TACIT_IMPLIES(agent->phase != before, update->persist);
    if (status == TACIT_OK || update->persist) {
        agent->now_us = event->now_us;
        struct round_site_step const made = {.kind = event->kind,
                                             .now_us = event->now_us,
                                             .unanswered_before = unanswered_before,
                                             .is_wanted = wants_timer(agent),
                                             .has_moved = agent->phase != before,
                                             .sends = update->send};
        round_site_end_step(&agent->grants, agent->config.resend_after_us, &made);
    }
    update->deadline_us = agent->grants.resend.due_us;
    return status;
}

/* ---- Check ---- */

static bool history_is_possible(const struct tacit_phased_agent *agent)
{
    struct tacit_ledger const *const ledger = &agent->ledger;
    bool const is_pending = agent->draw_round > agent->release_round;
    bool const may_be_pending = agent->phase == PHASE_COMMITTED || agent->phase == PHASE_HALTED;
    return agent->round <= TACIT_PHASED_ROUNDS_MAX + 1 && agent->draw_round <= agent->round &&
           agent->release_round <= agent->draw_round && (!is_pending || may_be_pending) &&
           (is_pending || agent->phase != PHASE_COMMITTED) &&
           (agent->config.has_grants || (!is_pending && agent->grants.blocked == 0)) &&
           (agent->leader < agent->config.arm_count || agent->leader == TACIT_NO_ARM) &&
           ledger->budget_nano == agent->config.budget_nano &&
           tacit_ledger_spent_nano(ledger) <= ledger->budget_nano &&
           ledger->open_cell == draw_number(agent) && ledger->release_count <= draw_number(agent) &&
           (ledger->release_count > 0) == (draw_number(agent) > 0);
}

/* Nothing of a term is left in another. */
static bool term_is_possible(const struct tacit_phased_agent *agent)
{
    bool const is_first = agent->term == 0;
    return agent->number_base <= UINT64_MAX / 2 &&
           (!is_first || (agent->number_base == 0 && !agent->unplaced &&
                          agent->release_number == agent->release_round)) &&
           agent->release_number <= draw_number(agent) &&
           (agent->release_round == 0 ||
            agent->release_number == agent->number_base + agent->release_round) &&
           (!agent->unplaced ||
            (agent->draw_round == agent->round && agent->release_round == agent->round &&
             agent->left_count == 0 && !agent->last && !agent->reported));
}

/* Blocks, in arm order, of no more pulls than T; sums that so many rewards can have brought. */
static bool plan_is_possible(struct tacit_phased_agent *agent)
{
    uint64_t left_count = 0;
    if (agent->block_count > agent->config.arm_count)
        return false;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        struct tacit_pull_block const block = ordered_of(agent)[i];
        uint64_t const left = left_of(agent)[i];
        int64_t const exact = exact_of(agent)[i];
        if (block.arm >= agent->config.arm_count || block.count == 0 ||
            block.count > agent->config.horizon || left > block.count ||
            (i > 0 && block.arm <= ordered_of(agent)[i - 1].arm) || exact < 0 ||
            exact > (int64_t)(block.count - left) * TACIT_STEPS)
            return false;
        left_count += left;
    }
    return left_count == agent->left_count && agent->pull_count <= agent->config.horizon &&
           left_count <= agent->config.horizon - agent->pull_count;
}

static bool released_is_possible(struct tacit_phased_agent *agent)
{
    struct tacit_mechanism const *const mechanism = &agent->config.mechanism;
    uint64_t const draws = agent->ledger.release_count;
    uint32_t const draws_most = draws < UINT32_MAX ? (uint32_t)draws : UINT32_MAX;
    for (uint32_t arm = 0; arm < agent->config.arm_count; arm++) {
        uint64_t const pulls = released_pulls_of(agent)[arm];
        union tacit_sum const sum = {.steps = released_sums_of(agent)[arm]};
        if (pulls > agent->config.horizon ||
            !tacit_mechanism_plausible(mechanism, sum, pulls, draws_most))
            return false;
    }
    bool const is_drawn = agent->draw_round == agent->round && agent->round > 0;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        union tacit_sum const sum = {.steps = noised_of(agent)[i]};
        if (is_drawn ? !tacit_mechanism_plausible(mechanism, sum, ordered_of(agent)[i].count, 1)
                     : sum.steps != 0)
            return false;
    }
    return true;
}

static bool phase_is_possible(const struct tacit_phased_agent *agent)
{
    bool const is_at_end = agent->pull_count == agent->config.horizon;
    bool const is_drawn = agent->draw_round == agent->round;
    switch (agent->phase) {
    case PHASE_IDLE:
        return agent->round == 0 && agent->left_count == 0 && !is_at_end && !agent->last;
    case PHASE_PULLING:
        return agent->left_count > 0 && (!is_drawn || agent->round == 0);
    case PHASE_RELEASING:
        return agent->left_count == 0 && !is_drawn && !agent->last && !agent->cut;
    case PHASE_COMMITTED:
        return agent->left_count == 0 && is_drawn && !agent->last && !agent->cut;
    case PHASE_WAITING:
        return agent->left_count == 0 && !is_at_end;
    case PHASE_FINISHED:
        return agent->left_count == 0 && is_at_end;
    case PHASE_HALTED:
        return agent->left_count == 0;
    }
    return false;
}

enum tacit_status tacit_phased_agent_check(const struct tacit_phased_agent *state, size_t size,
                                           const struct tacit_phased_agent_config *config)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_phased_agent_size(config))
        return TACIT_MALFORMED;
    struct tacit_phased_agent_config copy;
    memset(&copy, 0, sizeof copy);
    copy_config(&copy, config);
    if (memcmp(&agent->config, &copy, sizeof copy) != 0)
        return TACIT_MALFORMED;
    bool const is_possible =
        phased_flag_is_possible(&agent->last) && phased_flag_is_possible(&agent->reported) &&
        phased_flag_is_possible(&agent->cut) && round_site_is_possible(&agent->grants) &&
        phased_flag_is_possible(&agent->unplaced) && term_is_possible(agent) &&
        history_is_possible(agent) && plan_is_possible(agent) && released_is_possible(agent) &&
        phase_is_possible(agent);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

/* ---- View ---- */

struct tacit_phased_message tacit_phased_agent_draw(const struct tacit_phased_agent *state)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    struct tacit_phased_update update;
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED && agent->draw_round == agent->round);
    send(agent, TACIT_PHASED_REPORT, &update);
    return update.message;
}

/* 6: before the first leader, the largest own released sum a pull of the arms in the plan. */
static uint32_t exploit_arm(struct tacit_phased_agent *agent)
{
    uint32_t best = agent->block_count > 0 ? (uint32_t)ordered_of(agent)[0].arm : 0;
    double best_mean = 0;
    bool is_known = false;
    if (agent->leader != TACIT_NO_ARM)
        return agent->leader;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        uint32_t const arm = (uint32_t)ordered_of(agent)[i].arm;
        uint64_t const pulls = released_pulls_of(agent)[arm];
        if (pulls == 0)
            continue;
        double const mean = (double)released_sums_of(agent)[arm] / (double)pulls;
        if (!is_known || mean > best_mean) {
            best = arm;
            best_mean = mean;
            is_known = true;
        }
    }
    return best;
}

void tacit_phased_agent_look(const struct tacit_phased_agent *state,
                             struct tacit_phased_agent_view *view)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    bool const is_at_end = agent->pull_count == agent->config.horizon;
    bool const is_committed = agent->phase == PHASE_COMMITTED;
    *view = (struct tacit_phased_agent_view){
        .round = agent->round,
        .waiting = agent->phase == PHASE_IDLE || agent->phase == PHASE_WAITING ||
                   (is_committed && !is_at_end),
        .last = agent->last,
        .finished = agent->phase == PHASE_FINISHED || (is_committed && is_at_end),
        .halted = agent->phase == PHASE_HALTED,
        .releasing = agent->phase == PHASE_RELEASING,
        .committed = is_committed,
        .blocked = agent->grants.blocked != 0,
        .forgotten = agent->grants.forgotten != 0,
        .head = agent->config.has_grants ? agent->grants.head : NULL,
        .reported = agent->reported,
        .pull_count = agent->pull_count,
        .leader = agent->leader,
        .exploit_arm = exploit_arm(agent),
        .term = agent->term,
        .draw_number = draw_number(agent),
        .release_number = agent->release_number,
        .draw_round = agent->draw_round,
        .release_round = agent->release_round,
        .block_count = agent->block_count,
        .blocks = ordered_of(agent),
        .noised = agent->release_round == agent->round ? noised_of(agent) : NULL,
        .ledger = &agent->ledger};
}

/* A peer: an agent (agent.c) whose reports do not go to a hub that everybody reaches, but to the
 * neighbours (collect.c). Over a graph each peer is the judge too (Li, Song, Alg. 3); in a hybrid
 * its component has a sink, which reports to the hub (Alg. 5).
 *
 * The agent inside does not know. What it sends to "the hub" is taken here and handed to the
 * collection; the order that the judge in here gives is handed to it as the hub's. */
#include <string.h>
#include "../../base/walk.h"
#include "peer_state.h"

/* ---- Layout ---- */

_Static_assert(sizeof(struct elim_peer_work) == sizeof(uint64_t), "a neighbour's work is a word");

static struct elim_peer_layout layout_of(const struct tacit_elim_peer_config *config)
{
    size_t const arms = config->agent.arm_count;
    size_t const set = TACIT_BITS_WORDS(config->agent.agent_count);
    bool const gathers = config->collection == TACIT_ELIM_GATHER;
    struct elim_peer_layout at;
    at.neighbours = tacit_elim_agent_size(&config->agent) / sizeof(uint64_t);
    at.sets = at.neighbours + (config->neighbour_count + 1u) / 2;
    at.judge = at.sets + (ELIM_PREVIOUS + (gathers ? 1u : 0u)) * set;
    at.own = at.judge + (gathers ? 0 : elim_judge_words(&config->schedule));
    at.report = at.own + arms;
    at.work = at.report + arms;
    at.arms = at.work + config->neighbour_count;
    at.holdings = at.arms + 2 * TACIT_BITS_WORDS(arms);
    at.differing =
        at.holdings +
        (config->agent.has_grants ? elim_peer_grantor_words(config->neighbour_count) : 0);
    at.end = at.differing + (config->signs_rows ? set : 0);
    return at;
}

static uint64_t *words_at(const struct tacit_elim_peer *state, size_t at)
{
    TACIT_ASSERT(at <= state->at.end);
    return ((struct tacit_elim_peer *)(uintptr_t)state)->words + at;
}

struct elim_judge_parts elim_peer_judge(const struct tacit_elim_peer *state)
{
    struct tacit_elim_peer *const peer = (struct tacit_elim_peer *)(uintptr_t)state;
    return elim_judge_at(&peer->judge, &peer->config.schedule, words_at(peer, peer->at.judge));
}

union tacit_sum *elim_peer_own_sums(const struct tacit_elim_peer *peer)
{
    return (union tacit_sum *)words_at(peer, peer->at.own);
}

union tacit_sum *elim_peer_report(const struct tacit_elim_peer *peer)
{
    return (union tacit_sum *)words_at(peer, peer->at.report);
}

uint32_t *elim_peer_neighbours(const struct tacit_elim_peer *peer)
{
    return (uint32_t *)words_at(peer, peer->at.neighbours);
}

struct elim_peer_work *elim_peer_work(const struct tacit_elim_peer *peer)
{
    return (struct elim_peer_work *)words_at(peer, peer->at.work);
}

uint64_t *elim_peer_arms(const struct tacit_elim_peer *peer, uint32_t half)
{
    TACIT_ASSERT(half < 2);
    return words_at(peer, peer->at.arms + half * TACIT_BITS_WORDS(peer->config.agent.arm_count));
}

uint64_t *elim_peer_set(const struct tacit_elim_peer *peer, enum elim_peer_set set)
{
    TACIT_ASSERT(set <= ELIM_PREVIOUS);
    size_t const words = TACIT_BITS_WORDS(peer->config.agent.agent_count);
    return words_at(peer, peer->at.sets + (size_t)set * words);
}

uint64_t *elim_peer_differing(const struct tacit_elim_peer *peer)
{
    TACIT_ASSERT(peer->config.signs_rows);
    return words_at(peer, peer->at.differing);
}

bool elim_peer_is_sink(const struct tacit_elim_peer *peer)
{
    return peer->config.collection == TACIT_ELIM_GATHER &&
           peer->config.parent == peer->config.agent.agent_id;
}

/* ---- Configuration ---- */

static bool neighbours_are_valid(const struct tacit_elim_peer_config *config)
{
    uint32_t const self = config->agent.agent_id;
    bool has_parent = config->collection == TACIT_ELIM_SPREAD || config->parent == self;
    if (config->neighbour_count > 0 && config->neighbours == NULL)
        return false;
    for (uint32_t i = 0; i < config->neighbour_count; i++) {
        uint32_t const neighbour = config->neighbours[i];
        if (neighbour >= config->agent.agent_count || neighbour == self ||
            (i > 0 && neighbour <= config->neighbours[i - 1]))
            return false;
        has_parent = has_parent || neighbour == config->parent;
    }
    return has_parent;
}

static bool members_are_valid(const struct tacit_elim_peer_config *config)
{
    uint32_t const agents = config->agent.agent_count;
    if (config->members == NULL)
        return true;
    return tacit_bits_within(config->members, config->members, agents) &&
           tacit_bits_has(config->members, config->agent.agent_id);
}

/* The judge reckons with the agents whose reports it gets. */
static bool schedule_is_valid(const struct tacit_elim_peer_config *config)
{
    uint32_t const agents = config->agent.agent_count;
    uint32_t const members =
        config->members == NULL ? agents : tacit_bits_count(config->members, agents);
    return config->collection == TACIT_ELIM_GATHER ||
           (elim_schedule_is_valid(&config->schedule) &&
            config->schedule.arm_count == config->agent.arm_count &&
            config->schedule.horizon == config->agent.horizon &&
            config->schedule.report_count == members &&
            (!elim_is_exact(&config->schedule) ||
             elim_totals_fit(&config->agent.mechanism, &config->schedule)));
}

static bool config_is_valid(const struct tacit_elim_peer_config *config)
{
    return elim_agent_config_is_valid(&config->agent) && config->agent.change_max == 0 &&
           (config->collection == TACIT_ELIM_SPREAD || config->collection == TACIT_ELIM_GATHER) &&
           config->neighbour_count < config->agent.agent_count && neighbours_are_valid(config) &&
           members_are_valid(config) && schedule_is_valid(config) &&
           (config->collection == TACIT_ELIM_SPREAD ||
            elim_sums_fit(&config->agent.mechanism, config->agent.agent_count,
                          config->agent.horizon)) &&
           config->slot_us <= TACIT_ELIM_PAUSE_US_MAX &&
           config->round_us <= TACIT_ELIM_PAUSE_US_MAX &&
           config->gather_timeout_us <= TACIT_ELIM_PAUSE_US_MAX &&
           config->confirm_us <= TACIT_ELIM_PAUSE_US_MAX &&
           (!config->signs_rows || (config->agent.has_grants && !config->has_clock &&
                                    config->collection == TACIT_ELIM_SPREAD));
}

size_t tacit_elim_peer_size(const struct tacit_elim_peer_config *config)
{
    if (!config_is_valid(config))
        return 0;
    return sizeof(struct tacit_elim_peer) + layout_of(config).end * sizeof(uint64_t);
}

/* As the state has it: its arrays are in the words. */
static struct tacit_elim_peer_config kept_config(const struct tacit_elim_peer_config *config)
{
    struct tacit_elim_peer_config kept = *config;
    kept.neighbours = NULL;
    kept.members = NULL;
    return kept;
}

/* A relay of a hybrid waits for nobody; whoever else has no set of members waits for all. */
static bool waits_for_all(const struct tacit_elim_peer_config *config)
{
    return config->members == NULL &&
           (config->collection == TACIT_ELIM_SPREAD || config->parent == config->agent.agent_id);
}

/* As new, but for the agent inside and what the configuration says: nothing is due, known or
 * judged. */
static void begin(struct tacit_elim_peer *peer)
{
    unsigned char *const header = (unsigned char *)peer;
    size_t const kept = offsetof(struct tacit_elim_peer, judge);
    size_t const kept_words = peer->at.sets + TACIT_BITS_WORDS(peer->config.agent.agent_count);
    memset(header + kept, 0, offsetof(struct tacit_elim_peer, words) - kept);
    memset(peer->words + kept_words, 0, (peer->at.end - kept_words) * sizeof *peer->words);
    peer->agent_deadline_us = peer->pass_on_us = peer->gather_end_us = TACIT_NEVER;
    peer->confirm_end_us = peer->confirm.due_us = TACIT_NEVER;
    struct elim_judge_parts const judge = elim_peer_judge(peer);
    if (elim_peer_spreads(peer))
        elim_judge_init(&judge);
}

enum tacit_status tacit_elim_peer_init(struct tacit_elim_peer *peer,
                                       const struct tacit_elim_peer_config *config)
{
    size_t const size = tacit_elim_peer_size(config);
    uint32_t const agents = config->agent.agent_count;
    if (size == 0)
        return TACIT_INVALID;
    memset(peer, 0, size);
    peer->config = kept_config(config);
    peer->at = layout_of(config);
    if (config->neighbour_count > 0)
        memcpy(elim_peer_neighbours(peer), config->neighbours,
               config->neighbour_count * sizeof *config->neighbours);
    uint64_t *const members = elim_peer_set(peer, ELIM_MEMBERS);
    if (config->members != NULL)
        memcpy(members, config->members, TACIT_BITS_WORDS(agents) * sizeof *members);
    else if (waits_for_all(config))
        tacit_bits_fill(members, agents);
    begin(peer);
    TACIT_ASSERT(sizeof *peer + peer->at.end * sizeof(uint64_t) == size);
    return tacit_elim_agent_init(elim_peer_agent(peer), &config->agent);
}

/* ---- The agent inside ---- */

static enum tacit_status step_agent(struct elim_peer_step *step, const struct tacit_event *event);

/* What is made in here, or said by grantors, as a hub would say it. */
static enum tacit_status step_as_hub(struct elim_peer_step *step, struct tacit_elim_message message)
{
    struct tacit_elim_peer const *const peer = step->peer;
    message.from = TACIT_HUB;
    message.to = peer->config.agent.agent_id;
    message.run_id = peer->config.agent.run_id;
    message.term = elim_peer_agent(peer)->term;
    struct tacit_event const event = {
        .now_us = step->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &message};
    return step_agent(step, &event);
}

/* The order of the judge in here. */
static enum tacit_status deliver_order(struct elim_peer_step *step)
{
    TACIT_ASSERT(elim_peer_spreads(step->peer));
    TACIT_ASSERT(step->peer->judge.epoch >= 1);
    struct elim_judge_parts const judge = elim_peer_judge(step->peer);
    struct tacit_elim_message order = elim_judge_order(&judge);
    order.seen = elim_peer_agent(step->peer)->release_epoch;
    return step_as_hub(step, order);
}

/* The halt of an agent whose state a neighbour knows to be old. */
static enum tacit_status deliver_rollback(struct elim_peer_step *step, uint32_t seen_epoch)
{
    TACIT_ASSERT(seen_epoch <= TACIT_ELIM_EPOCHS_MAX);
    TACIT_ASSERT(seen_epoch >= 1);
    return step_as_hub(step, (struct tacit_elim_message){
                                 .kind = TACIT_ELIM_ORDER,
                                 .epoch = seen_epoch,
                                 .seen = seen_epoch,
                                 .pulls = TACIT_HORIZON_MAX, /* more than all orders before */
                                 .arms = arms_of(elim_peer_agent(step->peer))});
}

static enum tacit_status deliver_answer(struct elim_peer_step *step,
                                        const struct tacit_elim_message *answer)
{
    TACIT_ASSERT(step->peer->config.agent.has_grants);
    TACIT_ASSERT(answer->kind == TACIT_ELIM_GRANT || answer->kind == TACIT_ELIM_REFUSAL);
    struct tacit_elim_message message = *answer;
    /* Nobody can close an epoch of a graph without this report. */
    message.closed = answer->closed && !elim_peer_spreads(step->peer);
    return step_as_hub(step, message);
}

/* Somebody alone has no grantor, and nothing of it leaves. */
static void on_agent_commit(struct elim_peer_step *step, const struct tacit_elim_message *message)
{
    TACIT_ASSERT(message->kind == TACIT_ELIM_COMMIT);
    struct tacit_elim_message const grant = {.kind = TACIT_ELIM_GRANT, .commit = message->commit};
    if (!elim_peer_commit(step, message))
        (void)deliver_answer(step, &grant);
}

/* READINGS P1.11: paper mode exploits the best mean of its own rewards, and stays with it while it
 * waits; sound mode noised means. */
static void choose_exploit_arm(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    if (peer->config.agent.mechanism.scale.kind == TACIT_SCALE_REAL)
        peer->exploit_arm =
            tacit_elim_best_own(elim_peer_own_sums(peer), arms_of(elim_peer_agent(peer)),
                                peer->config.agent.arm_count, step->entropy);
}

/* What the agent says to its hub, which it does not reach from here. */
static void on_agent_message(struct elim_peer_step *step, const struct tacit_elim_message *message,
                             bool is_start)
{
    TACIT_ASSERT(message->from == step->peer->config.agent.agent_id);
    TACIT_ASSERT(message->to == TACIT_HUB);
    struct tacit_elim_peer *const peer = step->peer;
    bool const is_new = message->kind == TACIT_ELIM_REPORT &&
                        !tacit_bits_has(elim_peer_set(peer, ELIM_KNOWN), message->from);
    if (is_new)
        choose_exploit_arm(step);
    if (message->kind == TACIT_ELIM_REPORT)
        elim_peer_on_own_report(step, message);
    else if (message->kind == TACIT_ELIM_COMMIT)
        on_agent_commit(step, message);
    else
        elim_peer_ask(step, is_start);
}

/* A new order: from now on its reports are collected. */
static void follow_epoch(struct elim_peer_step *step)
{
    struct tacit_elim_agent const *const agent = elim_peer_agent(step->peer);
    if (agent->epoch != step->peer->epoch && !agent->last)
        elim_peer_begin_collection(step);
}

static enum tacit_status step_agent(struct elim_peer_step *step, const struct tacit_event *event)
{
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_update update;
    enum tacit_status const status =
        elim_agent_step(elim_peer_agent(peer), event, step->entropy, &update);
    peer->agent_deadline_us = update.deadline_us;
    step->update->persist = step->update->persist || update.persist;
    if (update.plan_count > 0) {
        step->update->plan = update.plan;
        step->update->plan_count = update.plan_count;
    }
    follow_epoch(step);
    if (update.send)
        on_agent_message(step, &update.message, event->kind == TACIT_EVENT_START);
    return status;
}

/* ---- Events ---- */

/* Is this epoch still to be judged? Where the agent cannot follow the order (it is at T, or its
 * policy refuses), the judge is ahead of it for good. */
static bool is_unjudged(const struct tacit_elim_peer *peer)
{
    return elim_peer_spreads(peer) && peer->epoch > 0 && !peer->confirms &&
           peer->judge.epoch == peer->epoch;
}

/* Alg. 2 l. 11-12 and Alg. 3 l. 9-11: everything is here, and the round is over. */
static enum tacit_status close_when_complete(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    if (peer->confirms)
        elim_peer_check_confirmed(step);
    if (!is_unjudged(peer) || peer->missing_count > 0 || step->now_us < peer->round_end_us ||
        (peer->config.signs_rows && !elim_peer_may_judge(peer)))
        return TACIT_OK;
    struct elim_judge_parts const judge = elim_peer_judge(peer);
    elim_peer_aggregate(step);
    if (peer->config.signs_rows)
        elim_peer_note_round(step);
    elim_judge_close_round(&judge, peer->config.schedule.report_count);
    /* Where a clock says when a round is over, everybody has everything then; else the neighbours
     * may still need what came last. */
    if (peer->config.has_clock)
        elim_peer_stop_passing(step);
    else if (!step->update->send)
        elim_peer_pass_on(step);
    step->update->persist = true;
    enum tacit_status const status = deliver_order(step);
    if (peer->config.signs_rows && peer->judge.finished)
        elim_peer_begin_confirming(step);
    return status;
}

/* Neighbours may have forgotten what they held of each other: what was collected and judged is not
 * used any more, and every history begins anew. */
static void begin_term(struct elim_peer_step *step, uint64_t term)
{
    elim_agent_reset(elim_peer_agent(step->peer), term);
    begin(step->peer);
    step->peer->work_since_us = step->now_us;
    step->update->persist = step->update->persist_table = true;
}

static enum tacit_status on_start(struct elim_peer_step *step, const struct tacit_event *event)
{
    struct tacit_elim_peer *const peer = step->peer;
    struct elim_judge_parts const judge = elim_peer_judge(peer);
    if (event->as.term > elim_peer_agent(peer)->term)
        begin_term(step, event->as.term);
    enum tacit_status const status = step_agent(step, event);
    if (status != TACIT_OK || !elim_peer_spreads(peer) || peer->judge.epoch > 0)
        return status;
    elim_judge_begin_epoch(&judge);
    step->update->persist = true;
    /* One arm: the agent knows it without an order. */
    return peer->config.agent.arm_count == 1 ? TACIT_OK : deliver_order(step);
}

static enum tacit_status on_reward(struct elim_peer_step *step, const struct tacit_event *event)
{
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    uint32_t const arm = event->as.reward.arm;
    union tacit_sum *const own = elim_peer_own_sums(peer);
    bool const counts = arm < peer->config.agent.arm_count && !agent->last &&
                        peer->config.agent.mechanism.scale.kind == TACIT_SCALE_REAL;
    union tacit_sum const before = counts ? own[arm] : (union tacit_sum){0};
    if (counts) /* before the agent has it: the last reward of an epoch ends with the choice */
        tacit_sum_add(&peer->config.agent.mechanism.scale, &own[arm], event->as.reward.sum);
    enum tacit_status const status = step_agent(step, event);
    if (status == TACIT_INVALID && counts)
        own[arm] = before;
    return status;
}

/* At T, a hub that still waits and lacks the report says nothing new: what it answers is our asking
 * for the next order. The agent would take it for an answer to its report, and ask for ever. */
static bool is_old_news(const struct tacit_elim_peer *peer, const struct tacit_elim_message *order)
{
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    return agent->phase == PHASE_FINISHED && order->kind == TACIT_ELIM_ORDER &&
           order->run_id == peer->config.agent.run_id && order->term == agent->term &&
           order->epoch == agent->epoch && order->seen < order->epoch &&
           order->seen <= agent->release_epoch;
}

static enum tacit_status on_hub(struct elim_peer_step *step, const struct tacit_event *event)
{
    struct tacit_elim_message const *const heard = event->as.message;
    bool const is_order = heard->kind == TACIT_ELIM_ORDER;
    if (elim_peer_spreads(step->peer))
        return TACIT_STRANGER;
    if (!is_order && !elim_peer_is_sink(step->peer))
        return TACIT_UNEXPECTED; /* it holds what sinks release, nobody else's */
    if (is_order && !heard->last && heard->pulls == 0)
        return TACIT_MALFORMED; /* a mean over a component needs pulls */
    return is_old_news(step->peer, heard) ? TACIT_OK : step_agent(step, event);
}

static enum tacit_status on_receive(struct elim_peer_step *step, const struct tacit_event *event)
{
    TACIT_ASSERT(step->answer == NULL);
    uint32_t seen_epoch = 0;
    struct tacit_elim_message const *const message = event->as.message;
    if (message->from == TACIT_HUB)
        return on_hub(step, event);
    enum tacit_status status = elim_peer_on_neighbour(step, message, &seen_epoch);
    if (status == TACIT_ROLLBACK)
        return deliver_rollback(step, seen_epoch);
    if (status == TACIT_OK && step->answer != NULL)
        status = deliver_answer(step, step->answer);
    return status == TACIT_OK ? close_when_complete(step) : status;
}

/* An update carries one message: what is due beside it waits for another slot. */
static enum tacit_status on_timeout(struct elim_peer_step *step, const struct tacit_event *event)
{
    struct tacit_elim_peer *const peer = step->peer;
    enum tacit_status status = TACIT_OK;
    if (event->now_us >= peer->agent_deadline_us)
        status = step_agent(step, event);
    if (elim_peer_agent(peer)->phase == PHASE_HALTED)
        return status;
    if (event->now_us >= peer->pass_on_us) {
        if (step->update->send)
            peer->pass_on_us = elim_peer_next_slot_us(step);
        else
            elim_peer_pass_on(step);
    }
    if (event->now_us >= peer->gather_end_us) {
        bool const must_wait = !peer->closed && step->update->send;
        peer->gather_end_us = must_wait ? elim_peer_next_slot_us(step) : TACIT_NEVER;
        if (!peer->closed && !must_wait)
            elim_peer_report_component(step); /* of those who are here */
    }
    if (event->now_us >= peer->confirm.due_us) {
        peer->confirm.due_us = step->update->send ? elim_peer_next_slot_us(step) : TACIT_NEVER;
        if (!step->update->send)
            elim_peer_ask(step, false);
    }
    return status == TACIT_OK ? close_when_complete(step) : status;
}

static enum tacit_status handle(struct elim_peer_step *step, const struct tacit_event *event)
{
    bool const is_halted = elim_peer_agent(step->peer)->phase == PHASE_HALTED;
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(step, event);
    case TACIT_EVENT_REWARD: {
        enum tacit_status const status = on_reward(step, event);
        return status == TACIT_OK ? close_when_complete(step) : status;
    }
    case TACIT_EVENT_EXPLOITED:
    case TACIT_EVENT_OFFER: /* which the agent refuses */
        return step_agent(step, event);
    case TACIT_EVENT_RECEIVE:
        return is_halted ? TACIT_OK : on_receive(step, event);
    case TACIT_EVENT_TIMEOUT:
        return is_halted ? TACIT_OK : on_timeout(step, event);
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* What was due at a time of the clock before is due anew. */
static void restart_clock(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    peer->work_since_us = step->now_us;
    if (peer->pass_on_us != TACIT_NEVER)
        peer->pass_on_us = elim_peer_next_slot_us(step);
    if (peer->gather_end_us != TACIT_NEVER)
        peer->gather_end_us = step->now_us + peer->config.gather_timeout_us;
    if (peer->confirm_end_us != TACIT_NEVER)
        peer->confirm_end_us = step->now_us + peer->config.confirm_us;
    if (peer->confirm.due_us != TACIT_NEVER)
        peer->confirm.due_us = step->now_us;
    if (peer->round_end_us > step->now_us + peer->config.round_us)
        peer->round_end_us = step->now_us + peer->config.round_us;
}

/* ---- Public ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_deadline(const struct tacit_elim_peer *peer)
{
    bool const waits_for_clock = is_unjudged(peer) && peer->missing_count == 0;
    bool const waits_for_members = !peer->closed && elim_peer_is_sink(peer);
    if (elim_peer_agent(peer)->phase == PHASE_HALTED)
        return TACIT_NEVER;
    uint64_t deadline_us = earlier(peer->agent_deadline_us, peer->pass_on_us);
    deadline_us = earlier(deadline_us, earlier(peer->confirm_end_us, peer->confirm.due_us));
    if (waits_for_clock)
        deadline_us = earlier(deadline_us, peer->round_end_us);
    if (waits_for_members)
        deadline_us = earlier(deadline_us, peer->gather_end_us);
    return deadline_us;
}

enum tacit_status tacit_elim_peer_step(struct tacit_elim_peer *peer, struct tacit_elim_table *table,
                                       const struct tacit_event *event,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_elim_update *update)
{
    TACIT_ASSERT(table->agent_count == peer->config.agent.agent_count);
    TACIT_ASSERT(table->arm_count == peer->config.agent.arm_count);
    TACIT_ASSERT(table->has_openings == peer->config.agent.has_grants);
    *update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    struct elim_peer_step step = {
        .peer = peer, .table = table, .entropy = entropy, .update = update};
    TACIT_IMPLIES(peer->config.signs_rows, event->signer != NULL);
    step.now_us = event->now_us;
    step.signer = event->signer;
    if (event->kind == TACIT_EVENT_START) /* a new process has a new clock */
        restart_clock(&step);
    struct elim_agent_progress const was = elim_agent_progress(elim_peer_agent(peer));
    bool const had_proof = peer->proof_epoch > 0;
    enum tacit_status const status = handle(&step, event);
    update->happened = elim_agent_happened(&was, elim_peer_agent(peer));
    update->happened |= peer->proof_epoch > 0 && !had_proof ? TACIT_ELIM_PROVED : 0;
    TACIT_IMPLIES(update->persist_table, update->persist);
    TACIT_ASSERT(peer->half < 2);
    TACIT_IMPLIES(peer->epoch > 0, peer->missing_count <= peer->config.agent.agent_count);
    TACIT_ASSERT(peer->exploit_arm < peer->config.agent.arm_count);
    TACIT_IMPLIES(peer->epoch > 0, peer->previous_epoch < peer->epoch);
    TACIT_IMPLIES(peer->closed, elim_peer_is_sink(peer));
    TACIT_IMPLIES(update->send, update->message.from == peer->config.agent.agent_id);
    elim_peer_time_confirming(&step);
    update->deadline_us = next_deadline(peer);
    return status;
}

/* ---- Checking a state from a disk ---- */

static bool same_config(const struct tacit_elim_peer *peer,
                        const struct tacit_elim_peer_config *config)
{
    struct tacit_elim_peer_config const kept = kept_config(config);
    struct elim_peer_layout const at = layout_of(config);
    uint32_t const agents = config->agent.agent_count;
    if (memcmp(&peer->config, &kept, sizeof kept) != 0 || memcmp(&peer->at, &at, sizeof at) != 0 ||
        (config->neighbour_count > 0 &&
         memcmp(elim_peer_neighbours(peer), config->neighbours,
                config->neighbour_count * sizeof *config->neighbours) != 0))
        return false;
    uint64_t const *const members = elim_peer_set(peer, ELIM_MEMBERS);
    if (config->members != NULL)
        return memcmp(members, config->members, TACIT_BITS_WORDS(agents) * sizeof *members) == 0;
    return tacit_bits_within(members, members, agents) &&
           tacit_bits_count(members, agents) == (waits_for_all(config) ? agents : 0);
}

/* Sets of agents, each within what it can be a part of. */
static bool sets_are_possible(const struct tacit_elim_peer *peer)
{
    uint32_t const agents = peer->config.agent.agent_count;
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    uint64_t const *const fresh = elim_peer_set(peer, ELIM_FRESH);
    uint64_t const *const asked = elim_peer_set(peer, ELIM_ASKED);
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    uint32_t missing = 0;
    if (!tacit_bits_within(known, known, agents) || !tacit_bits_within(fresh, known, agents) ||
        !tacit_bits_within(asked, asked, agents))
        return false;
    if (peer->config.collection == TACIT_ELIM_GATHER) {
        uint64_t const *const previous = elim_peer_set(peer, ELIM_PREVIOUS);
        if (!tacit_bits_within(previous, previous, agents))
            return false;
    }
    for (uint32_t other = 0; other < agents; other++) {
        bool const is_known = tacit_bits_has(known, other);
        missing += elim_peer_is_member(peer, other) && !is_known ? 1 : 0;
        if (is_known && tacit_bits_has(asked, other))
            return false;
    }
    /* Our own report is here if, and only if, it was made. (A hub may ask for an older one again,
     * or for none.) */
    bool const is_reported = tacit_bits_has(known, peer->config.agent.agent_id);
    bool const is_made = peer->epoch > 0 && agent->release_epoch == peer->epoch;
    bool const may_differ =
        peer->config.collection == TACIT_ELIM_GATHER && agent->release_epoch > 0;
    return (peer->epoch == 0 || missing == peer->missing_count) &&
           (is_reported == (is_made || peer->confirms) || may_differ);
}

/* Is the row of our own report what was released? */
static bool own_row_is_possible(const struct tacit_elim_peer *peer, struct tacit_elim_table *table)
{
    uint32_t const self = peer->config.agent.agent_id;
    uint64_t const *const arms = elim_peer_arms(peer, peer->half);
    union tacit_sum const *row = elim_table_row(table, peer->half, self);
    union tacit_sum const *const noised = noised_of(elim_peer_agent(peer));
    if (!tacit_bits_has(elim_peer_set(peer, ELIM_KNOWN), self))
        return true;
    TACIT_BITS_EACH (arm, arms, table->arm_count)
        if (memcmp(row++, &noised[arm], sizeof *row) != 0)
            return false;
    return true;
}

static bool collection_is_possible(const struct tacit_elim_peer *peer)
{
    uint32_t const arms = peer->config.agent.arm_count;
    struct tacit_elim_agent *const agent = elim_peer_agent(peer);
    if (peer->epoch > TACIT_ELIM_EPOCHS_MAX || peer->half > 1 ||
        (peer->epoch > 0 && peer->previous_epoch >= peer->epoch) ||
        (!peer->confirms && !agent->last && agent->epoch != peer->epoch) ||
        (agent->last && agent->epoch < peer->epoch) || peer->exploit_arm >= arms)
        return false;
    for (uint32_t half = 0; half < 2; half++)
        if (peer->pulls[half] > TACIT_HORIZON_MAX ||
            !tacit_bits_within(elim_peer_arms(peer, half), elim_peer_arms(peer, half), arms))
            return false;
    if (peer->confirms)
        return tacit_bits_count(elim_peer_arms(peer, peer->half), arms) == 0;
    if (peer->epoch > 0 &&
        (peer->pulls[peer->half] == 0 ||
         tacit_bits_count(elim_peer_arms(peer, peer->half), arms) == 0 ||
         (!agent->last && (peer->pulls[peer->half] != agent->pulls ||
                           memcmp(elim_peer_arms(peer, peer->half), arms_of(agent),
                                  TACIT_BITS_WORDS(arms) * sizeof(uint64_t)) != 0))))
        return false;
    return true;
}

/* The judge is in the agent's epoch, or ahead of one that cannot follow it. */
static bool judge_is_possible(const struct tacit_elim_peer *peer)
{
    struct elim_judge_parts const judge = elim_peer_judge(peer);
    struct tacit_elim_agent *const agent = elim_peer_agent(peer);
    uint32_t const policy = peer->config.agent.epoch_max;
    uint32_t const arms = peer->config.agent.arm_count;
    if (!elim_peer_spreads(peer))
        return true;
    if (!elim_judge_is_possible(&judge))
        return false;
    bool const is_refused = policy > 0 && peer->judge.epoch > policy && !peer->judge.finished;
    bool const can_follow = agent->phase != PHASE_FINISHED && agent->phase != PHASE_HALTED &&
                            !is_refused && arms > 1; /* one: without an order */
    struct tacit_elim_message const order = elim_judge_order(&judge);
    if (peer->judge.epoch == agent->epoch)
        return (peer->judge.epoch == peer->epoch || peer->missing_count == 0) &&
               order.pulls == agent->pulls && order.last == agent->last &&
               memcmp(order.arms, arms_of(agent), TACIT_BITS_WORDS(arms) * sizeof(uint64_t)) == 0;
    return peer->judge.epoch > agent->epoch && (peer->missing_count == 0 || peer->confirms) &&
           !can_follow;
}

static bool rows_are_possible(const struct tacit_elim_peer *peer, struct tacit_elim_table *table)
{
    uint32_t const agents = peer->config.agent.agent_count;
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    uint32_t const count = tacit_bits_count(elim_peer_arms(peer, peer->half), table->arm_count);
    TACIT_BITS_EACH (origin, known, agents)
        for (uint32_t i = 0; i < count; i++)
            if (!tacit_mechanism_plausible(&peer->config.agent.mechanism,
                                           elim_table_row(table, peer->half, origin)[i],
                                           peer->pulls[peer->half], peer->epoch))
                return false;
    return true;
}

static bool table_is_possible(const struct tacit_elim_table *table, size_t size,
                              const struct tacit_elim_peer_config *config)
{
    return size == tacit_elim_peer_table_size(config) &&
           table->agent_count == config->agent.agent_count &&
           table->arm_count == config->agent.arm_count &&
           base_truth_is_possible(&table->is_shared) && !table->is_shared &&
           base_truth_is_possible(&table->has_openings) &&
           table->has_openings == config->agent.has_grants;
}

enum tacit_status tacit_elim_peer_check(const struct tacit_elim_peer *peer, size_t size,
                                        const struct tacit_elim_table *state, size_t table_size,
                                        const struct tacit_elim_peer_config *config)
{
    struct tacit_elim_table *const table = (struct tacit_elim_table *)(uintptr_t)state;
    if (size == 0 || size != tacit_elim_peer_size(config) || !same_config(peer, config) ||
        !table_is_possible(table, table_size, config))
        return TACIT_MALFORMED;
    bool const is_sink = elim_peer_is_sink(peer);
    bool const is_possible =
        base_truth_is_possible(&peer->closed) && (!peer->closed || is_sink) &&
        (peer->gather_end_us == TACIT_NEVER || (is_sink && config->gather_timeout_us > 0)) &&
        base_truth_is_possible(&peer->is_behind) &&
        tacit_elim_agent_check(elim_peer_agent(peer), tacit_elim_agent_size(&config->agent),
                               &config->agent) == TACIT_OK &&
        base_truth_is_possible(&peer->confirms) && base_truth_is_possible(&peer->confirmed) &&
        elim_peer_grants_are_possible(peer) && collection_is_possible(peer) &&
        judge_is_possible(peer) && elim_peer_agreement_is_possible(peer) &&
        sets_are_possible(peer) && rows_are_possible(peer, table) &&
        own_row_is_possible(peer, table);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

const struct tacit_elim_agent *tacit_elim_peer_agent(const struct tacit_elim_peer *peer)
{
    return elim_peer_agent(peer);
}

struct tacit_elim_message tacit_elim_peer_release(const struct tacit_elim_peer *peer,
                                                  const struct tacit_elim_table *state)
{
    struct tacit_elim_table *const table = (struct tacit_elim_table *)(uintptr_t)state;
    uint32_t const self = peer->config.agent.agent_id;
    uint32_t const epoch = elim_peer_agent(peer)->release_epoch;
    /* A round may have been closed with the step that made the release. */
    uint32_t const half = epoch == peer->epoch ? peer->half : peer->half ^ 1u;
    TACIT_ASSERT(epoch > 0 && (epoch == peer->epoch || epoch == peer->previous_epoch));
    uint64_t const *const arms = elim_peer_arms(peer, half);
    return (struct tacit_elim_message){.kind = TACIT_ELIM_REPORT,
                                       .from = self,
                                       .to = TACIT_HUB,
                                       .run_id = peer->config.agent.run_id,
                                       .epoch = epoch,
                                       .pulls = peer->pulls[half],
                                       .arms = arms,
                                       .sum_count =
                                           tacit_bits_count(arms, peer->config.agent.arm_count),
                                       .sums = elim_table_row(table, half, self)};
}

void tacit_elim_peer_view(const struct tacit_elim_peer *peer, struct tacit_elim_peer_view *view)
{
    uint32_t const agents = peer->config.agent.agent_count;
    struct elim_judge_parts const judge = elim_peer_judge(peer);
    *view = (struct tacit_elim_peer_view){
        .known = elim_peer_set(peer, ELIM_KNOWN),
        .known_count = tacit_bits_count(elim_peer_set(peer, ELIM_KNOWN), agents),
        .missing_count = peer->missing_count,
        .is_sink = elim_peer_is_sink(peer),
        .refused_by = peer->refuser == 0 ? TACIT_NO_AGENT : peer->refuser - 1,
        .flagged = peer->config.agent.has_grants ? elim_peer_grantor(peer).flagged : NULL,
        .ahead = peer->config.agent.has_grants ? elim_peer_grantor(peer).ahead : NULL,
        .granted = peer->config.agent.has_grants ? elim_peer_granted(peer) : NULL,
        .proof = peer->proof_epoch > 0 ? &peer->proof : NULL,
        .proof_epoch = peer->proof_epoch,
        .differing = peer->config.signs_rows ? elim_peer_differing(peer) : NULL,
        .confirms = peer->confirms,
        .confirmed = !peer->config.signs_rows || peer->confirmed};
    tacit_elim_agent_view(elim_peer_agent(peer), &view->agent);
    bool const is_own_choice = peer->config.agent.mechanism.scale.kind == TACIT_SCALE_REAL &&
                               tacit_bits_has(view->agent.arms, peer->exploit_arm);
    if (is_own_choice) /* and not out since */
        view->agent.exploit_arm = peer->exploit_arm;
    view->leader = TACIT_NO_ARM;
    if (!elim_peer_spreads(peer))
        return;
    view->judge = elim_judge_view(&judge);
    view->is_beyond_policy = peer->config.agent.epoch_max > 0 &&
                             peer->judge.epoch > peer->config.agent.epoch_max &&
                             !peer->judge.finished;
}

struct tacit_bounds_interval tacit_elim_peer_interval(const struct tacit_elim_peer *peer,
                                                      uint32_t arm, double confidence)
{
    struct elim_judge_parts const judge = elim_peer_judge(peer);
    TACIT_ASSERT(elim_peer_spreads(peer));
    return elim_judge_interval(&judge, arm, confidence);
}

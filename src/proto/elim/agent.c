/* The agent of epoch elimination (Li, Song, Alg. 1 l. 6-11 and l. 17). It explores what the hub
 * orders, releases the noised sums of each finished epoch once, and reports its noised history.
 *
 * An order names S(r), not n_r: the agent pulls every active arm until it has S(r) pulls. For an
 * agent that is up to date that is n_r; one that was away catches up by the same rule. */
#include <math.h>
#include <string.h>
#include "internal.h"

#define LAST_REPORT_TRIES 12u

enum phase {
    PHASE_IDLE,      /* no order yet */
    PHASE_PULLING,   /* a plan is open */
    PHASE_RELEASING, /* all rewards of the epoch are here; the noise is not drawn yet */
    PHASE_COMMITTED, /* it is drawn, and waits for its grant; perhaps at T */
    PHASE_WAITING,   /* for the next order */
    PHASE_FINISHED,  /* T pulls were played */
    PHASE_HALTED     /* nothing leaves any more: no budget, or this state is an old copy */
};

struct tacit_elim_agent {
    struct tacit_elim_agent_config config;
    struct tacit_ledger ledger;
    uint64_t now_us;
    struct tacit_resend resend;
    uint64_t pulls;                   /* S(r) of the order */
    uint64_t pull_count;              /* pulls played, of T */
    uint64_t left_count;              /* pulls left in the plan */
    uint64_t release_epoch;           /* last epoch whose sums were noised, and granted */
    uint64_t draw_epoch;              /* last epoch whose sums were noised: ahead while COMMITTED */
    uint64_t term;                    /* 0: the first */
    uint64_t number_base;             /* of a draw: this and its epoch; 0 in the first term */
    uint64_t release_number;          /* of the last draw that was granted */
    uint64_t release_pulls;           /* S(r) of it: each arm that was active has so many */
    struct tacit_commit commit;       /* of the last draw */
    uint8_t head[TACIT_SHA256_BYTES]; /* the last commitment that was granted */
    enum phase phase;
    uint32_t epoch;
    uint32_t active_count;
    uint32_t leader;       /* 1 + that of the order, with exact bounds; 0: none */
    uint32_t change_count; /* of the log that is known */
    uint64_t horizon;      /* T, or more where the run was extended */
    bool last;             /* the order said that no epoch follows */
    bool upload;           /* this epoch's report is asked for */
    bool reported;         /* the hub holds it */
    bool cut;      /* T comes before the end of the epoch: nothing is released (READINGS P1.6) */
    bool blocked;  /* the hub has granted another commitment */
    bool unplaced; /* no order of this term was taken yet */
    bool dropped;  /* the operator asks for no report of this agent any more */
    /* arms bits | left K | done K | exact K | noised K | report K | plan K blocks | with grants:
     * pending K | with changes: log, barred W(K), refused W(K), playable W(K) */
    uint64_t words[];
};

_Static_assert(sizeof(union tacit_sum) == sizeof(uint64_t), "sums are stored as words");
_Static_assert(sizeof(struct tacit_pull_block) == 2 * sizeof(uint64_t), "a block is two words");

/* ---- Layout ---- */

static uint64_t *arms_of(struct tacit_elim_agent *agent)
{
    return agent->words;
}

static uint64_t *column_of(struct tacit_elim_agent *agent, uint32_t column)
{
    TACIT_ASSERT(column < (agent->config.has_grants ? 8u : 7u));
    size_t const arms = agent->config.arm_count;
    return agent->words + TACIT_BITS_WORDS(arms) + column * arms;
}

/* Pulls of each arm that the plan still asks for. */
static uint64_t *left_of(struct tacit_elim_agent *agent)
{
    return column_of(agent, 0);
}

/* Pulls of each arm since the start of the run. */
static uint64_t *done_of(struct tacit_elim_agent *agent)
{
    return column_of(agent, 1);
}

/* Sums of the rewards that are not released yet. */
static union tacit_sum *exact_of(struct tacit_elim_agent *agent)
{
    return (union tacit_sum *)column_of(agent, 2);
}

/* Sums of all releases: S(r) times the paper's y-bar (Eq. 6). */
static union tacit_sum *noised_of(struct tacit_elim_agent *agent)
{
    return (union tacit_sum *)column_of(agent, 3);
}

/* The noised sums of the active arms, side by side as a report sends them. */
static union tacit_sum *report_of(struct tacit_elim_agent *agent)
{
    return (union tacit_sum *)column_of(agent, 4);
}

static struct tacit_pull_block *plan_of(struct tacit_elim_agent *agent)
{
    return (struct tacit_pull_block *)column_of(agent, 5);
}

/* What noised will be once the draw is granted. */
static union tacit_sum *pending_of(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->config.has_grants);
    return (union tacit_sum *)column_of(agent, 7);
}

static struct tacit_elim_change *changes_of(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->config.change_max > 0);
    size_t const arms = agent->config.arm_count;
    size_t const columns = agent->config.has_grants ? 8 : 7;
    return (struct tacit_elim_change *)(void *)(agent->words + TACIT_BITS_WORDS(arms) +
                                                columns * arms);
}

static uint64_t *arm_set(struct tacit_elim_agent *agent, uint32_t set)
{
    TACIT_ASSERT(set < 3);
    return (uint64_t *)(void *)(changes_of(agent) + agent->config.change_max) +
           set * TACIT_BITS_WORDS(agent->config.arm_count);
}

/* Arms that are not played: retired, or refused. */
static uint64_t *barred_of(struct tacit_elim_agent *agent)
{
    return arm_set(agent, 0);
}

/* Of its own accord, or by a log that a later term has forgotten. */
static uint64_t *refused_of(struct tacit_elim_agent *agent)
{
    return arm_set(agent, 1);
}

/* Arms that a plan may have, and a fallback. */
static uint64_t *playable_of(struct tacit_elim_agent *agent)
{
    return agent->config.change_max == 0 ? arms_of(agent) : arm_set(agent, 2);
}

bool elim_agent_config_is_valid(const struct tacit_elim_agent_config *config)
{
    return config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->agent_count >= 1 && config->agent_count <= TACIT_AGENTS_MAX &&
           config->agent_id < config->agent_count && config->horizon >= 1 &&
           config->horizon <= TACIT_HORIZON_MAX && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_ELIM_PAUSE_US_MAX &&
           config->change_max <= TACIT_ELIM_CHANGES_MAX;
}

size_t tacit_elim_agent_size(const struct tacit_elim_agent_config *config)
{
    if (!elim_agent_config_is_valid(config))
        return 0;
    size_t const arms = config->arm_count;
    size_t const columns = config->has_grants ? 8 : 7;
    size_t const sets = config->change_max > 0 ? 3 * TACIT_BITS_WORDS(arms) : 0;
    return sizeof(struct tacit_elim_agent) + (TACIT_BITS_WORDS(arms) + columns * arms + sets +
                                              elim_changes_words(config->change_max)) *
                                                 sizeof(uint64_t);
}

/* Member by member, so that a state is a function of the values alone (tacit_mechanism_copy). */
void elim_agent_config_copy(struct tacit_elim_agent_config *copy,
                            const struct tacit_elim_agent_config *config)
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
    copy->epoch_max = config->epoch_max;
    copy->has_grants = config->has_grants;
    memcpy(copy->domain, config->domain, sizeof copy->domain);
    copy->change_max = config->change_max;
    copy->horizon_max = config->horizon_max;
}

static bool same_config(const struct tacit_elim_agent_config *kept,
                        const struct tacit_elim_agent_config *config)
{
    struct tacit_elim_agent_config copy;
    memset(&copy, 0, sizeof copy);
    elim_agent_config_copy(&copy, config);
    return memcmp(kept, &copy, sizeof copy) == 0;
}

enum tacit_status tacit_elim_agent_init(struct tacit_elim_agent *agent,
                                        const struct tacit_elim_agent_config *config)
{
    size_t const size = tacit_elim_agent_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    elim_agent_config_copy(&agent->config, config);
    agent->ledger = tacit_ledger_init(config->budget_nano);
    agent->resend.due_us = TACIT_NEVER;
    agent->active_count = config->arm_count;
    agent->horizon = config->horizon;
    tacit_bits_fill(arms_of(agent), config->arm_count);
    tacit_bits_fill(playable_of(agent), config->arm_count);
    return TACIT_OK;
}

/* ---- Phases ---- */

/* Every phase change goes through here, so an illegal one cannot pass unseen. */
static void set_phase(struct tacit_elim_agent *agent, enum phase next)
{
    enum phase const now = agent->phase;
    bool const from_rest = now == PHASE_IDLE || now == PHASE_PULLING || now == PHASE_WAITING;
    TACIT_IMPLIES(next == PHASE_PULLING, from_rest);
    TACIT_IMPLIES(next == PHASE_RELEASING, now == PHASE_PULLING);
    TACIT_IMPLIES(next == PHASE_COMMITTED, now == PHASE_RELEASING && agent->config.has_grants);
    TACIT_IMPLIES(next == PHASE_WAITING,
                  from_rest || now == PHASE_RELEASING || now == PHASE_COMMITTED);
    TACIT_ASSERT(next != PHASE_IDLE);
    TACIT_ASSERT(now != PHASE_HALTED);
    TACIT_IMPLIES(now == PHASE_FINISHED, next == PHASE_HALTED);
    agent->phase = next;
}

static void check_invariants(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->active_count <= agent->config.arm_count);
    TACIT_ASSERT(agent->epoch <= TACIT_ELIM_EPOCHS_MAX);
    TACIT_ASSERT(agent->release_epoch <= agent->draw_epoch);
    TACIT_ASSERT(agent->draw_epoch <= agent->epoch);
    TACIT_IMPLIES(agent->draw_epoch > agent->release_epoch, agent->config.has_grants);
    TACIT_IMPLIES(agent->blocked, agent->config.has_grants);
    TACIT_IMPLIES(agent->last, agent->active_count == 1);
    TACIT_IMPLIES(agent->phase == PHASE_FINISHED, agent->pull_count == agent->horizon);
    TACIT_IMPLIES(agent->phase == PHASE_IDLE, agent->epoch == 0);
    TACIT_ASSERT(agent->active_count >= 1);
    TACIT_ASSERT(agent->pull_count <= agent->horizon);
    TACIT_ASSERT(agent->left_count <= agent->horizon - agent->pull_count);
    TACIT_IMPLIES(agent->phase == PHASE_PULLING, agent->left_count > 0);
    TACIT_IMPLIES(agent->phase != PHASE_PULLING, agent->left_count == 0);
    TACIT_IMPLIES(agent->phase == PHASE_COMMITTED, agent->draw_epoch > agent->release_epoch);
    TACIT_ASSERT(tacit_ledger_spent_nano(&agent->ledger) <= agent->ledger.budget_nano);
}

/* ---- Plans ---- */

static uint32_t arm_to_exploit(struct tacit_elim_agent *agent);

/* Gives `slots` pulls to the active arms in turn, by index, none beyond its need. */
static void plan_round_robin(struct tacit_elim_agent *agent, uint64_t slots)
{
    uint32_t const count = tacit_bits_count(playable_of(agent), agent->config.arm_count);
    TACIT_ASSERT(count > 0);
    TACIT_ASSERT(slots <= agent->horizon - agent->pull_count);
    uint32_t const arms = agent->config.arm_count;
    uint64_t *const left = left_of(agent);
    uint64_t const *const done = done_of(agent);
    while (slots > 0) {
        uint64_t const each = slots / count; /* whole turns at once */
        for (uint32_t arm = tacit_bits_next(playable_of(agent), arms, 0); arm < arms && slots > 0;
             arm = tacit_bits_next(playable_of(agent), arms, arm + 1)) {
            uint64_t const need = agent->pulls - done[arm] - left[arm];
            uint64_t const wish = each > 0 ? each : 1;
            uint64_t const more = need < wish ? need : wish;
            left[arm] += more;
            agent->left_count += more;
            slots -= more;
        }
    }
}

/* EXACT-BOUNDS 6: waiting took slots, too, and the plan does not fit any more. The leader until T,
 * and nothing is released. */
static void plan_leader(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->cut && agent->leader > 0);
    agent->left_count = agent->horizon - agent->pull_count;
    left_of(agent)[arm_to_exploit(agent)] = agent->left_count;
}

/* What may be played of what the order names; if that is nothing, of all arms. */
static void find_playable(struct tacit_elim_agent *agent)
{
    size_t const words = TACIT_BITS_WORDS(agent->config.arm_count);
    uint64_t any = 0;
    if (agent->config.change_max == 0)
        return;
    for (size_t i = 0; i < words; i++)
        any |= playable_of(agent)[i] = arms_of(agent)[i] & ~barred_of(agent)[i];
    if (any != 0)
        return;
    tacit_bits_fill(playable_of(agent), agent->config.arm_count);
    for (size_t i = 0; i < words; i++)
        playable_of(agent)[i] &= ~barred_of(agent)[i];
}

/* Opens the plan that brings every active arm to S(r), cut at T. */
static void plan_exploration(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(!agent->last);
    TACIT_ASSERT(agent->left_count == 0);
    uint32_t const arms = agent->config.arm_count;
    uint64_t const *const done = done_of(agent);
    uint64_t const slots = agent->horizon - agent->pull_count;
    uint64_t need = 0;
    for (uint32_t arm = tacit_bits_next(playable_of(agent), arms, 0); arm < arms;
         arm = tacit_bits_next(playable_of(agent), arms, arm + 1)) {
        uint64_t const more = agent->pulls > done[arm] ? agent->pulls - done[arm] : 0;
        need += more; /* 2^16 arms of 2^40 pulls: 2^56 fits */
        left_of(agent)[arm] = more;
    }
    agent->cut = need > slots;
    agent->left_count = agent->cut ? 0 : need;
    if (agent->cut) {
        memset(left_of(agent), 0, arms * sizeof(uint64_t));
        if (agent->leader > 0)
            plan_leader(agent);
        else
            plan_round_robin(agent, slots);
    }
}

/* l. 17: the last arm until T. */
static void plan_last_arm(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->last);
    TACIT_ASSERT(agent->active_count == 1);
    uint32_t const arm = arm_to_exploit(agent); /* it is the one, unless this site refuses it */
    agent->left_count = agent->horizon - agent->pull_count;
    left_of(agent)[arm] = agent->left_count;
}

static void start_waiting(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->left_count == 0);
    bool const is_over = agent->pull_count == agent->horizon;
    set_phase(agent, is_over ? PHASE_FINISHED : PHASE_WAITING);
}

static void fill_plan(struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(update->plan_count == 0);
    uint32_t const arms = agent->config.arm_count;
    uint32_t count = 0;
    for (uint32_t arm = tacit_bits_next(playable_of(agent), arms, 0); arm < arms;
         arm = tacit_bits_next(playable_of(agent), arms, arm + 1)) {
        if (left_of(agent)[arm] == 0)
            continue;
        plan_of(agent)[count].arm = arm;
        plan_of(agent)[count].count = left_of(agent)[arm];
        count++;
    }
    TACIT_ASSERT(count >= 1);
    TACIT_ASSERT(count <= agent->config.arm_count);
    update->plan = plan_of(agent);
    update->plan_count = count;
}

static void open_plan(struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    memset(left_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
    agent->left_count = 0;
    agent->cut = false;
    if (agent->last)
        plan_last_arm(agent);
    else
        plan_exploration(agent);
    if (agent->left_count == 0) {
        start_waiting(agent);
        return;
    }
    set_phase(agent, PHASE_PULLING);
    fill_plan(agent, update);
}

/* ---- Messages out ---- */

/* What it says of its commitments: nothing without grants. */
static const struct tacit_commit *commit_of(const struct tacit_elim_agent *agent)
{
    return agent->config.has_grants ? &agent->commit : NULL;
}

/* What it says that it does not play. NULL: it plays all that is asked for. */
static const uint64_t *refused_to_say(const struct tacit_elim_agent *state)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    uint32_t const arms = agent->config.arm_count;
    bool const is_any =
        agent->config.change_max > 0 && tacit_bits_next(refused_of(agent), arms, 0) < arms;
    return is_any ? refused_of(agent) : NULL;
}

static void send_commit(const struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(agent->config.has_grants);
    TACIT_ASSERT(!update->send);
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED);
    update->send = true;
    update->message = (struct tacit_elim_message){.kind = TACIT_ELIM_COMMIT,
                                                  .from = agent->config.agent_id,
                                                  .to = TACIT_HUB,
                                                  .run_id = agent->config.run_id,
                                                  .term = agent->term,
                                                  .epoch = (uint32_t)agent->draw_epoch,
                                                  .commit = commit_of(agent),
                                                  .refused = refused_to_say(agent)};
}

static struct tacit_elim_message report_with(struct tacit_elim_agent *agent,
                                             const union tacit_sum *history)
{
    uint32_t const arms = agent->config.arm_count;
    uint32_t count = 0;
    for (uint32_t arm = tacit_bits_next(arms_of(agent), arms, 0); arm < arms;
         arm = tacit_bits_next(arms_of(agent), arms, arm + 1))
        report_of(agent)[count++] = history[arm];
    TACIT_ASSERT(count == agent->active_count);
    return (struct tacit_elim_message){.kind = TACIT_ELIM_REPORT,
                                       .from = agent->config.agent_id,
                                       .to = TACIT_HUB,
                                       .run_id = agent->config.run_id,
                                       .term = agent->term,
                                       .epoch = agent->epoch,
                                       .pulls = agent->pulls,
                                       .arms = arms_of(agent),
                                       .sum_count = count,
                                       .sums = report_of(agent),
                                       .commit = commit_of(agent)};
}

static void send_report(struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(agent->upload);
    TACIT_ASSERT(!update->send);
    update->send = true;
    update->message = report_with(agent, noised_of(agent));
}

static void send_hello(const struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(!update->send);
    update->send = true;
    update->message = (struct tacit_elim_message){.kind = TACIT_ELIM_HELLO,
                                                  .from = agent->config.agent_id,
                                                  .to = TACIT_HUB,
                                                  .run_id = agent->config.run_id,
                                                  .term = agent->term,
                                                  .epoch = agent->unplaced ? 0 : agent->epoch,
                                                  .commit = commit_of(agent),
                                                  .refused = refused_to_say(agent)};
}

/* What a waiting agent says when it has waited long enough: its report again, or "what now?". */
static void ask_again(struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    if (agent->upload && !agent->reported && agent->release_epoch > 0)
        send_report(agent, update);
    else
        send_hello(agent, update);
}

/* T came with the end of an epoch whose report is asked for, and no word of the hub says that it
 * came. */
static bool owes_report(const struct tacit_elim_agent *agent)
{
    return agent->phase == PHASE_FINISHED && agent->upload && !agent->reported &&
           agent->release_epoch == agent->epoch;
}

/* ---- Releases ---- */

/* l. 9: noise for the sum of each active arm, into the report's column. All arms or none. */
static enum tacit_status draw(struct tacit_elim_agent *agent, const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(agent->left_count == 0);
    uint32_t const arms = agent->config.arm_count;
    for (uint32_t arm = tacit_bits_next(arms_of(agent), arms, 0); arm < arms;
         arm = tacit_bits_next(arms_of(agent), arms, arm + 1)) {
        enum tacit_status const status = tacit_mechanism_release(
            &agent->config.mechanism, exact_of(agent)[arm], entropy, &report_of(agent)[arm]);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

/* l. 10: what was drawn joins the history, and the exact sums are gone. */
static void add_drawn(struct tacit_elim_agent *agent, union tacit_sum *history)
{
    TACIT_ASSERT(agent->draw_epoch <= agent->epoch);
    uint32_t const arms = agent->config.arm_count;
    struct tacit_scale const *const scale = &agent->config.mechanism.scale;
    for (uint32_t arm = tacit_bits_next(arms_of(agent), arms, 0); arm < arms;
         arm = tacit_bits_next(arms_of(agent), arms, arm + 1)) {
        tacit_sum_add(scale, &history[arm], report_of(agent)[arm]);
        exact_of(agent)[arm] = (union tacit_sum){0};
    }
    agent->draw_epoch = agent->epoch;
}

/* The digest of the report that a history makes. */
static void digest_history(struct tacit_elim_agent *agent, const union tacit_sum *history,
                           const union tacit_sum *drawn, uint8_t digest[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(agent->left_count == 0);
    uint32_t const arms = agent->config.arm_count;
    struct tacit_pull_block *const scratch = plan_of(agent); /* no plan is open: 2 K words */
    union tacit_sum *const packed = (union tacit_sum *)(void *)scratch;
    uint32_t count = 0;
    for (uint32_t arm = tacit_bits_next(arms_of(agent), arms, 0); arm < arms;
         arm = tacit_bits_next(arms_of(agent), arms, arm + 1)) {
        packed[count] = history[arm];
        tacit_sum_add(&agent->config.mechanism.scale, &packed[count++], drawn[arm]);
    }
    TACIT_ASSERT(count == agent->active_count);
    elim_release_digest(agent->pulls, arms_of(agent), arms, packed, count, digest);
    memset(packed, 0, count * sizeof *packed);
}

/* Commits to the history with the draw in it. */
static enum tacit_status commit(struct tacit_elim_agent *agent, const struct tacit_entropy *keys)
{
    TACIT_ASSERT(agent->config.has_grants);
    struct tacit_commit_scope const scope = {.domain = agent->config.domain,
                                             .run_id = agent->config.run_id,
                                             .site = agent->config.agent_id,
                                             .epoch = agent->epoch};
    uint8_t digest[TACIT_SHA256_BYTES];
    digest_history(agent, noised_of(agent), report_of(agent), digest);
    return tacit_commit_make(&scope, agent->head, digest, sizeof digest, keys, &agent->commit);
}

static uint64_t draw_number(const struct tacit_elim_agent *agent)
{
    return agent->number_base + agent->draw_epoch;
}

/* The last draw may leave. */
static void note_release(struct tacit_elim_agent *agent)
{
    agent->release_epoch = agent->draw_epoch;
    agent->release_number = draw_number(agent);
    agent->release_pulls = agent->pulls;
}

/* l. 9-10: one draw, one spend, one commitment, or none of them. */
static enum tacit_status release(struct tacit_elim_agent *agent,
                                 const struct tacit_entropy *entropy,
                                 const struct tacit_entropy *keys)
{
    TACIT_ASSERT(agent->phase == PHASE_RELEASING);
    struct tacit_ledger ledger = agent->ledger;
    enum tacit_status status =
        tacit_ledger_spend(&ledger, agent->number_base + agent->epoch,
                           tacit_mechanism_cost_nano(&agent->config.mechanism));
    if (status != TACIT_OK) {
        set_phase(agent, PHASE_HALTED);
        return TACIT_BUDGET;
    }
    status = draw(agent, entropy);
    if (status == TACIT_OK && agent->config.has_grants)
        status = commit(agent, keys);
    if (status != TACIT_OK)
        return status;
    agent->ledger = ledger;
    if (agent->config.has_grants) {
        memcpy(pending_of(agent), noised_of(agent), agent->config.arm_count * sizeof(uint64_t));
        add_drawn(agent, pending_of(agent));
        set_phase(agent, PHASE_COMMITTED);
    } else {
        add_drawn(agent, noised_of(agent));
        note_release(agent);
        start_waiting(agent);
    }
    return TACIT_OK;
}

static enum tacit_status finish_epoch(struct tacit_elim_agent *agent,
                                      const struct tacit_elim_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update)
{
    enum tacit_status const status =
        release(agent, entropy, event->keys == NULL ? entropy : event->keys);
    if (status == TACIT_OK && agent->config.has_grants)
        send_commit(agent, update);
    else if (status == TACIT_OK && agent->upload)
        send_report(agent, update);
    return status;
}

/* The draw may be used from now on. */
static void take_grant(struct tacit_elim_agent *agent, bool is_closed,
                       struct tacit_elim_update *update)
{
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED);
    TACIT_ASSERT(agent->draw_epoch > agent->release_epoch);
    memcpy(noised_of(agent), pending_of(agent), agent->config.arm_count * sizeof(uint64_t));
    memcpy(agent->head, agent->commit.commitment, sizeof agent->head);
    note_release(agent);
    agent->blocked = false;
    agent->resend.unanswered_count = 0;
    agent->reported = agent->reported || is_closed;
    start_waiting(agent);
    update->persist = true;
    if (agent->upload && !agent->reported)
        send_report(agent, update);
    else if (is_closed && agent->phase == PHASE_WAITING)
        send_hello(agent, update); /* there is a newer order */
}

/* ---- Events ---- */

/* What no grant covers is gone: whoever begins a term has forgotten what it granted. The number of
 * the next draw is beyond all numbers before. */
static void begin_term(struct tacit_elim_agent *agent, uint64_t term)
{
    uint32_t const arms = agent->config.arm_count;
    bool const is_at_end = agent->pull_count == agent->horizon;
    agent->term = term;
    agent->number_base = draw_number(agent) - agent->release_epoch;
    if (agent->draw_epoch > agent->release_epoch)
        memset(&agent->commit, 0, sizeof agent->commit);
    agent->draw_epoch = agent->release_epoch;
    agent->epoch = (uint32_t)agent->release_epoch;
    agent->pulls = agent->release_pulls;
    agent->left_count = 0;
    agent->resend.unanswered_count = 0;
    agent->leader = 0;
    agent->last = agent->upload = agent->reported = agent->cut = agent->blocked = false;
    agent->unplaced = true;
    memset(left_of(agent), 0, arms * sizeof(uint64_t));
    memset(exact_of(agent), 0, arms * sizeof(uint64_t));
    if (agent->config.has_grants)
        memset(pending_of(agent), 0, arms * sizeof(uint64_t));
    for (uint32_t arm = 0; arm < arms; arm++)
        if (done_of(agent)[arm] > agent->pulls)
            done_of(agent)[arm] = agent->pulls;
    if (agent->config.change_max > 0) { /* a log that is forgotten brings no arm back */
        memcpy(refused_of(agent), barred_of(agent), TACIT_BITS_WORDS(arms) * sizeof(uint64_t));
        memset(changes_of(agent), 0, agent->change_count * sizeof *changes_of(agent));
        agent->change_count = 0;
        agent->dropped = false;
    }
    /* From any phase, also from a halt: an old copy has nothing any more that could leave twice. */
    agent->phase = is_at_end ? PHASE_FINISHED : agent->epoch > 0 ? PHASE_WAITING : PHASE_IDLE;
}

/* Nothing of before is of use here. */
static void begin_anew(struct tacit_elim_agent *agent)
{
    uint32_t const arms = agent->config.arm_count;
    memset(noised_of(agent), 0, arms * sizeof(uint64_t));
    memset(done_of(agent), 0, arms * sizeof(uint64_t));
    memset(&agent->commit, 0, sizeof agent->commit);
    agent->number_base = draw_number(agent);
    agent->release_epoch = agent->draw_epoch = agent->epoch = 0;
    agent->release_pulls = agent->pulls = 0;
    if (agent->phase == PHASE_WAITING)
        agent->phase = PHASE_IDLE;
}

void elim_agent_begin_anew(struct tacit_elim_agent *agent, uint64_t term)
{
    uint32_t const arms = agent->config.arm_count;
    TACIT_ASSERT(term > agent->term);
    begin_term(agent, term);
    begin_anew(agent);
    tacit_bits_fill(arms_of(agent), arms);
    agent->active_count = arms;
    find_playable(agent);
}

static enum tacit_status on_start(struct tacit_elim_agent *agent, uint64_t term,
                                  struct tacit_elim_update *update)
{
    if (term > agent->term) {
        begin_term(agent, term);
        update->persist = true;
    }
    if (agent->phase == PHASE_COMMITTED)
        send_commit(agent, update);
    if (agent->phase == PHASE_WAITING)
        ask_again(agent, update);
    if (owes_report(agent)) /* whether it got out before the crash is not known */
        send_report(agent, update);
    if (agent->phase == PHASE_PULLING) {
        fill_plan(agent, update);
        if (!agent->last) /* before more is released: what does the hub hold? (take_seen) */
            send_hello(agent, update);
    }
    if (agent->phase == PHASE_IDLE && agent->config.arm_count == 1) {
        agent->unplaced = false;
        agent->last = true; /* one arm: nothing to learn and nothing to say (PRIVACY.md D.48) */
        open_plan(agent, update);
        update->persist = true;
    }
    return TACIT_OK;
}

static bool reward_is_valid(struct tacit_elim_agent *agent, const struct tacit_elim_event *event)
{
    uint32_t const arm = event->as.reward.arm;
    uint64_t const count = event->as.reward.count;
    if (agent->phase != PHASE_PULLING || arm >= agent->config.arm_count || count == 0 ||
        count > left_of(agent)[arm])
        return false;
    if (agent->config.mechanism.scale.kind == TACIT_SCALE_REAL)
        return isfinite(event->as.reward.sum.real);
    int64_t const steps = event->as.reward.sum.steps;
    return steps >= 0 && steps <= (int64_t)count * TACIT_STEPS;
}

static enum tacit_status on_reward(struct tacit_elim_agent *agent,
                                   const struct tacit_elim_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    if (!reward_is_valid(agent, event))
        return TACIT_INVALID;
    uint32_t const arm = event->as.reward.arm;
    uint64_t const count = event->as.reward.count;
    update->persist = true;
    left_of(agent)[arm] -= count;
    agent->left_count -= count;
    agent->pull_count += count;
    if (!agent->last && !(agent->cut && agent->leader > 0)) { /* those enter no sum */
        done_of(agent)[arm] += count;
        tacit_sum_add(&agent->config.mechanism.scale, &exact_of(agent)[arm], event->as.reward.sum);
    }
    if (agent->left_count > 0)
        return TACIT_OK;
    if (agent->last || agent->cut) {
        start_waiting(agent);
        return TACIT_OK;
    }
    set_phase(agent, PHASE_RELEASING);
    return finish_epoch(agent, event, entropy, update);
}

static enum tacit_status on_exploited(struct tacit_elim_agent *agent, uint64_t count,
                                      struct tacit_elim_update *update)
{
    bool const is_allowed = agent->phase == PHASE_WAITING || agent->phase == PHASE_IDLE ||
                            agent->phase == PHASE_PULLING || agent->phase == PHASE_COMMITTED;
    uint64_t const slots = agent->horizon - agent->pull_count - agent->left_count;
    if (!is_allowed || count == 0 || count > slots)
        return TACIT_INVALID;
    agent->pull_count += count; /* these rewards enter no estimate (READINGS P1.11) */
    if (agent->pull_count == agent->horizon && agent->phase != PHASE_COMMITTED)
        set_phase(agent, PHASE_FINISHED);
    update->persist = true;
    return TACIT_OK;
}

/* None, or an arm that is still in. */
static bool leader_fits(const struct tacit_elim_agent *agent,
                        const struct tacit_elim_message *order)
{
    return order->leader == 0 || (order->leader <= agent->config.arm_count &&
                                  tacit_bits_has(order->arms, order->leader - 1));
}

static enum tacit_status check_order(struct tacit_elim_agent *agent,
                                     const struct tacit_elim_message *order)
{
    uint32_t const arms = agent->config.arm_count;
    if (order->from != TACIT_HUB || order->run_id != agent->config.run_id ||
        order->term != agent->term)
        return TACIT_STRANGER;
    if (order->to != agent->config.agent_id && order->to != TACIT_EVERYONE)
        return TACIT_STRANGER;
    if (order->epoch == 0 || order->epoch > TACIT_ELIM_EPOCHS_MAX || order->arms == NULL ||
        order->pulls > TACIT_HORIZON_MAX || order->seen > order->epoch)
        return TACIT_MALFORMED;
    uint32_t const count = tacit_bits_count(order->arms, arms);
    if (agent->unplaced) /* it may ask for anything; what stands of before is in continues */
        return count == 0 || !tacit_bits_within(order->arms, order->arms, arms) ||
                       (order->last && count != 1) || (!order->last && order->pulls == 0) ||
                       !leader_fits(agent, order)
                   ? TACIT_MALFORMED
                   : TACIT_OK;
    if (order->epoch <= agent->epoch)
        return TACIT_OK;
    /* An arm set only shrinks, and S(r) only grows. */
    if (count == 0 || !tacit_bits_within(order->arms, arms_of(agent), arms) ||
        order->pulls < agent->pulls || (order->last && count != 1) || !leader_fits(agent, order))
        return TACIT_MALFORMED;
    /* With grants each report is a draw of its own: an epoch without pulls has none. */
    if (agent->config.has_grants && !order->last && order->pulls == agent->pulls)
        return TACIT_MALFORMED;
    return TACIT_OK;
}

/* Does the hub hold more from this agent than this state ever released? Then the state is an old
 * copy, and going on would release the same rewards twice (PRIVACY.md D.9, D.10). */
static bool is_old_copy(const struct tacit_elim_agent *agent,
                        const struct tacit_elim_message *order)
{
    return order->to == agent->config.agent_id && order->seen > agent->draw_epoch;
}

static enum tacit_status halt_old_copy(struct tacit_elim_agent *agent,
                                       struct tacit_elim_update *update)
{
    set_phase(agent, PHASE_HALTED);
    memset(left_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
    agent->left_count = 0;
    update->persist = true;
    return TACIT_ROLLBACK;
}

/* Are these more rounds than the site's policy allows? A last order asks for no report. */
static bool is_beyond_policy(const struct tacit_elim_agent *agent,
                             const struct tacit_elim_message *order)
{
    return agent->config.epoch_max > 0 && order->epoch > agent->config.epoch_max && !order->last;
}

/* A word to this agent alone: the hub is there, and says whether it holds the report. */
static void take_seen(struct tacit_elim_agent *agent, const struct tacit_elim_message *order)
{
    TACIT_ASSERT(order->seen <= order->epoch);
    if (order->to != agent->config.agent_id)
        return;
    if (order->epoch == agent->epoch)
        agent->reported = order->seen == agent->epoch;
    agent->resend.unanswered_count = 0;
}

static void take_order(struct tacit_elim_agent *agent, const struct tacit_elim_message *order,
                       struct tacit_elim_update *update)
{
    TACIT_ASSERT(order->epoch > agent->epoch);
    TACIT_ASSERT(order->pulls >= agent->pulls);
    TACIT_ASSERT(!agent->last);
    uint32_t const arms = agent->config.arm_count;
    agent->epoch = order->epoch;
    agent->pulls = order->pulls;
    agent->last = order->last;
    agent->leader = order->leader;
    agent->reported = false;
    agent->resend.unanswered_count = 0;
    agent->upload = !order->last && (order->uploaders == NULL ||
                                     tacit_bits_has(order->uploaders, agent->config.agent_id));
    memcpy(arms_of(agent), order->arms, TACIT_BITS_WORDS(arms) * sizeof(uint64_t));
    agent->active_count = tacit_bits_count(order->arms, arms);
    find_playable(agent);
    open_plan(agent, update);
    update->persist = true;
    if (agent->phase == PHASE_WAITING)
        ask_again(agent, update);
}

/* Is the report that this order asks for the one that was granted last? */
static bool is_answered(struct tacit_elim_agent *agent, const struct tacit_elim_message *order)
{
    size_t const bytes = TACIT_BITS_WORDS(agent->config.arm_count) * sizeof(uint64_t);
    return !order->last && agent->release_epoch > 0 && order->epoch == agent->release_epoch &&
           order->pulls == agent->release_pulls &&
           memcmp(order->arms, arms_of(agent), bytes) == 0 &&
           (!agent->config.has_grants ||
            memcmp(agent->commit.commitment, agent->head, sizeof agent->head) == 0);
}

/* Does it ask for more of what was granted? */
static bool continues(struct tacit_elim_agent *agent, const struct tacit_elim_message *order)
{
    return order->epoch > agent->release_epoch &&
           tacit_bits_within(order->arms, arms_of(agent), agent->config.arm_count) &&
           (order->last || order->pulls > agent->release_pulls);
}

/* The first order of a term. */
static void take_place(struct tacit_elim_agent *agent, const struct tacit_elim_message *order,
                       struct tacit_elim_update *update)
{
    agent->unplaced = false;
    update->persist = true;
    if (agent->phase == PHASE_FINISHED && !is_answered(agent, order)) {
        agent->reported = true; /* nobody waits for this agent */
        return;
    }
    if (!is_answered(agent, order)) {
        if (!continues(agent, order))
            begin_anew(agent);
        take_order(agent, order, update);
        return;
    }
    agent->leader = order->leader;
    agent->upload =
        order->uploaders == NULL || tacit_bits_has(order->uploaders, agent->config.agent_id);
    take_seen(agent, order);
    if (agent->upload && !agent->reported)
        send_report(agent, update);
}

/* ---- Changes ---- */

/* Does the order's log continue the one that is known, or is it an older one of the same? */
static enum tacit_status check_changes(struct tacit_elim_agent *agent,
                                       const struct tacit_elim_message *order)
{
    uint32_t const known = agent->change_count;
    uint32_t const said = order->change_count;
    if (said == 0)
        return TACIT_OK;
    if (said > agent->config.change_max || order->changes == NULL)
        return TACIT_MALFORMED;
    if (memcmp(changes_of(agent), order->changes,
               (said < known ? said : known) * sizeof *order->changes) != 0)
        return TACIT_FORKED; /* another site may have been told the other story */
    for (uint32_t i = known; i < said; i++)
        if (!elim_change_is_possible(&order->changes[i], agent->config.agent_count,
                                     agent->config.arm_count) ||
            order->changes[i].number != i + 1)
            return TACIT_MALFORMED;
    return TACIT_OK;
}

/* Rewards of it that were not released never will be. */
static void bar(struct tacit_elim_agent *agent, uint32_t arm)
{
    TACIT_ASSERT(arm < agent->config.arm_count);
    tacit_bits_add(barred_of(agent), arm);
    exact_of(agent)[arm] = (union tacit_sum){0};
}

/* Is an arm left, should this one go? */
static bool leaves_an_arm(struct tacit_elim_agent *agent, uint32_t arm)
{
    uint32_t const arms = agent->config.arm_count;
    uint32_t const barred = tacit_bits_count(barred_of(agent), arms);
    return tacit_bits_has(barred_of(agent), arm) || barred + 1 < arms;
}

static void take_change(struct tacit_elim_agent *agent, const struct tacit_elim_change *change)
{
    uint64_t const most = agent->config.horizon_max;
    bool const is_self = change->subject == agent->config.agent_id;
    if (change->kind == TACIT_ELIM_RETIRE_ARM && leaves_an_arm(agent, change->subject)) {
        bar(agent, change->subject);
        tacit_bits_remove(refused_of(agent), change->subject); /* it is out for everybody */
    } else if (change->kind == TACIT_ELIM_DROP_SITE && is_self) {
        agent->dropped = true;
        agent->upload = false;
    } else if (change->kind == TACIT_ELIM_EXTEND_HORIZON && change->value > agent->horizon &&
               (most == 0 || change->value <= most) && agent->phase != PHASE_FINISHED) {
        agent->horizon = change->value;
    }
}

static void take_changes(struct tacit_elim_agent *agent, const struct tacit_elim_message *order,
                         struct tacit_elim_update *update)
{
    TACIT_ASSERT(order->change_count > agent->change_count);
    for (uint32_t i = agent->change_count; i < order->change_count; i++) {
        take_change(agent, &order->changes[i]);
        changes_of(agent)[i] = order->changes[i];
    }
    agent->change_count = order->change_count;
    update->persist = true;
    find_playable(agent);
}

/* The plan of the epoch that stands, anew: with fewer arms, or with more slots. If nothing is left
 * of it, the epoch ends here as with its last reward. */
static enum tacit_status plan_anew(struct tacit_elim_agent *agent,
                                   const struct tacit_elim_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    if (agent->phase != PHASE_PULLING)
        return TACIT_OK;
    memset(left_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
    agent->left_count = 0;
    agent->cut = false;
    if (agent->last)
        plan_last_arm(agent);
    else
        plan_exploration(agent);
    if (agent->left_count > 0) {
        fill_plan(agent, update);
        return TACIT_OK;
    }
    if (agent->last || agent->cut) {
        start_waiting(agent);
        return TACIT_OK;
    }
    set_phase(agent, PHASE_RELEASING);
    return finish_epoch(agent, event, entropy, update);
}

/* Where sites are left out, the order of the epoch that stands may ask others for their reports, or
 * one no more. What is sent then is what was granted. */
static void take_asked(struct tacit_elim_agent *agent, const struct tacit_elim_message *order,
                       struct tacit_elim_update *update)
{
    bool const is_asked =
        !agent->dropped &&
        (order->uploaders == NULL || tacit_bits_has(order->uploaders, agent->config.agent_id));
    if (agent->config.change_max == 0 || order->last || agent->last || agent->reported ||
        agent->upload == is_asked || agent->phase == PHASE_IDLE)
        return;
    agent->upload = is_asked;
    update->persist = true;
    if (is_asked && agent->phase == PHASE_WAITING && agent->release_epoch == agent->epoch)
        send_report(agent, update);
}

/* The order itself. */
static enum tacit_status follow(struct tacit_elim_agent *agent,
                                const struct tacit_elim_message *order,
                                struct tacit_elim_update *update)
{
    bool const is_new = agent->unplaced || (order->epoch > agent->epoch && !agent->last);
    bool const is_over = agent->phase == PHASE_FINISHED;
    if (is_new && !is_over && is_beyond_policy(agent, order))
        return TACIT_REFUSED;
    /* The epoch before is released first; the hub says the order again. */
    if (is_new && (agent->phase == PHASE_RELEASING || agent->phase == PHASE_COMMITTED))
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
    } else if (order->epoch == agent->epoch) {
        take_asked(agent, order, update);
    }
    return TACIT_OK;
}

static enum tacit_status on_order(struct tacit_elim_agent *agent,
                                  const struct tacit_elim_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    struct tacit_elim_message const *const order = event->as.message;
    enum tacit_status status = check_order(agent, order);
    if (status == TACIT_OK)
        status = check_changes(agent, order);
    if (status != TACIT_OK || agent->phase == PHASE_HALTED)
        return status;
    if (is_old_copy(agent, order)) /* also by an order that would be refused below */
        return halt_old_copy(agent, update);
    bool const has_changes = order->change_count > agent->change_count;
    if (has_changes)
        take_changes(agent, order, update);
    status = follow(agent, order, update);
    if (has_changes && !update->send && update->plan_count == 0)
        return plan_anew(agent, event, entropy, update);
    return has_changes ? TACIT_OK : status; /* that was heard, whatever is refused */
}

/* A word of the holder about a commitment. */
static enum tacit_status check_answer(const struct tacit_elim_agent *agent,
                                      const struct tacit_elim_message *answer)
{
    if (answer->from != TACIT_HUB || answer->run_id != agent->config.run_id ||
        answer->term != agent->term || answer->to != agent->config.agent_id)
        return TACIT_STRANGER;
    if (!agent->config.has_grants)
        return TACIT_UNEXPECTED;
    return answer->commit == NULL ? TACIT_MALFORMED : TACIT_OK;
}

static bool is_commitment(const struct tacit_elim_message *answer, const uint8_t *commitment)
{
    return memcmp(answer->commit->commitment, commitment, TACIT_SHA256_BYTES) == 0;
}

static enum tacit_status on_grant(struct tacit_elim_agent *agent,
                                  const struct tacit_elim_message *grant,
                                  struct tacit_elim_update *update)
{
    enum tacit_status const status = check_answer(agent, grant);
    if (status == TACIT_OK && agent->phase == PHASE_COMMITTED &&
        is_commitment(grant, agent->commit.commitment))
        take_grant(agent, grant->closed, update);
    return status; /* others are late, or repeated */
}

/* It is the holder's word alone and does not show the other state's signature, so it stops nobody
 * for good: the agent asks on, and shows that it is blocked. */
static enum tacit_status on_refusal(struct tacit_elim_agent *agent,
                                    const struct tacit_elim_message *refusal,
                                    struct tacit_elim_update *update)
{
    enum tacit_status const status = check_answer(agent, refusal);
    if (status != TACIT_OK || agent->phase == PHASE_HALTED)
        return status;
    bool const is_waiting = agent->phase == PHASE_COMMITTED;
    if (refusal->epoch < agent->draw_epoch || (is_waiting && refusal->epoch != agent->draw_epoch))
        return TACIT_OK; /* the answer to a question of an epoch before, repeated on its way */
    bool const is_other = !is_commitment(refusal, agent->head) || is_waiting;
    bool const is_ours = is_waiting && is_commitment(refusal, agent->commit.commitment);
    bool const blocked = is_other && !is_ours;
    update->persist = blocked != agent->blocked;
    agent->blocked = blocked;
    return TACIT_OK;
}

static enum tacit_status on_receive(struct tacit_elim_agent *agent,
                                    const struct tacit_elim_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update)
{
    struct tacit_elim_message const *const message = event->as.message;
    switch (message->kind) {
    case TACIT_ELIM_ORDER:
        return on_order(agent, event, entropy, update);
    case TACIT_ELIM_HELLO:
    case TACIT_ELIM_REPORT:
        return TACIT_UNEXPECTED; /* only hubs receive these */
    case TACIT_ELIM_ADVERT:
    case TACIT_ELIM_REQUEST:
    case TACIT_ELIM_DATA:
        return TACIT_UNEXPECTED; /* only peers do */
    case TACIT_ELIM_GRANT:
        return on_grant(agent, message, update);
    case TACIT_ELIM_REFUSAL:
        return on_refusal(agent, message, update);
    case TACIT_ELIM_COMMIT:
        return TACIT_UNEXPECTED; /* only holders do */
    }
    return TACIT_MALFORMED;
}

static enum tacit_status on_timeout(struct tacit_elim_agent *agent,
                                    const struct tacit_elim_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update)
{
    if (event->now_us < agent->resend.due_us)
        return TACIT_OK; /* a timer of an earlier update */
    if (agent->phase == PHASE_RELEASING) {
        update->persist = true;
        return finish_epoch(agent, event, entropy, update);
    }
    if (agent->phase == PHASE_COMMITTED)
        send_commit(agent, update);
    if (agent->phase == PHASE_WAITING || agent->phase == PHASE_IDLE)
        ask_again(agent, update);
    if (owes_report(agent))
        send_report(agent, update);
    return TACIT_OK;
}

static enum tacit_status handle(struct tacit_elim_agent *agent,
                                const struct tacit_elim_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_elim_update *update)
{
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, event->as.term, update);
    case TACIT_EVENT_REWARD:
        return on_reward(agent, event, entropy, update);
    case TACIT_EVENT_EXPLOITED:
        return on_exploited(agent, event->as.exploited_count, update);
    case TACIT_EVENT_RECEIVE:
        return on_receive(agent, event, entropy, update);
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
static bool wants_timer(const struct tacit_elim_agent *agent)
{
    bool const is_at_end = agent->pull_count == agent->horizon;
    bool const is_patient = !is_at_end || agent->resend.unanswered_count < LAST_REPORT_TRIES;
    return (owes_report(agent) && is_patient) || agent->phase == PHASE_IDLE ||
           agent->phase == PHASE_WAITING || agent->phase == PHASE_RELEASING ||
           (agent->phase == PHASE_COMMITTED && is_patient);
}

/* What every step ends with: is the timer to be set anew? */
static void set_timer(struct tacit_elim_agent *agent, const struct tacit_elim_event *event,
                      enum phase before, uint32_t unanswered_before,
                      const struct tacit_elim_update *update)
{
    bool const is_due = event->kind == TACIT_EVENT_TIMEOUT && event->now_us >= agent->resend.due_us;
    struct tacit_resend_step const made = {.now_us = event->now_us,
                                           .unanswered_before = unanswered_before,
                                           .is_wanted = wants_timer(agent),
                                           .restarts = event->kind == TACIT_EVENT_START ||
                                                       update->send || agent->phase != before ||
                                                       is_due,
                                           .sends = update->send};
    agent->now_us = event->now_us;
    tacit_resend_end_step(&agent->resend, agent->config.resend_after_us, &made);
}

static void check_update(const struct tacit_elim_agent *agent, enum phase before,
                         enum tacit_status status, const struct tacit_elim_update *update)
{
    TACIT_IMPLIES(status != TACIT_OK, !update->send);
    TACIT_IMPLIES(update->send, update->message.from == agent->config.agent_id);
    TACIT_IMPLIES(update->plan_count > 0, agent->phase == PHASE_PULLING);
    TACIT_IMPLIES(agent->phase != before, update->persist);
}

enum tacit_status tacit_elim_agent_step(struct tacit_elim_agent *agent,
                                        const struct tacit_elim_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= agent->now_us);
    check_invariants(agent);
    *update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    enum phase const before = agent->phase;
    uint32_t const unanswered_count = agent->resend.unanswered_count;
    enum tacit_status const status = handle(agent, event, entropy, update);
    check_invariants(agent);
    check_update(agent, before, status, update);
    if (status == TACIT_OK || update->persist)
        set_timer(agent, event, before, unanswered_count, update);
    update->deadline_us = agent->resend.due_us;
    return status;
}

enum tacit_status tacit_elim_agent_refuse(struct tacit_elim_agent *agent, uint32_t arm,
                                          const struct tacit_elim_event *now,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_elim_update *update)
{
    TACIT_ASSERT(now->now_us >= agent->now_us);
    check_invariants(agent);
    *update = (struct tacit_elim_update){.deadline_us = agent->resend.due_us};
    if (agent->config.change_max == 0 || arm >= agent->config.arm_count ||
        !leaves_an_arm(agent, arm))
        return TACIT_INVALID;
    if (agent->phase == PHASE_HALTED)
        return TACIT_UNEXPECTED;
    if (tacit_bits_has(barred_of(agent), arm))
        return TACIT_OK;
    enum phase const before = agent->phase;
    bar(agent, arm);
    tacit_bits_add(refused_of(agent), arm);
    find_playable(agent);
    update->persist = true;
    enum tacit_status const status = plan_anew(agent, now, entropy, update);
    if (status == TACIT_OK && agent->phase == PHASE_COMMITTED && !update->send)
        send_commit(agent, update); /* a HELLO would show a head that was not granted yet */
    else if (status == TACIT_OK && !update->send && agent->phase != PHASE_FINISHED)
        send_hello(agent, update); /* the hub is to know at once */
    check_invariants(agent);
    check_update(agent, before, status, update);
    set_timer(agent, now, before, agent->resend.unanswered_count, update);
    update->deadline_us = agent->resend.due_us;
    return status;
}

/* Is a truth value one of two? (Bytes from a disk may be any.) */
static bool flag_is_possible(const bool *flag)
{
    return *(const unsigned char *)flag <= 1;
}

/* Orders, releases and the ledger tell one story. */
/* Nothing of a term is left in another. */
static bool term_is_possible(const struct tacit_elim_agent *agent)
{
    bool const is_first = agent->term == 0;
    return agent->number_base <= UINT64_MAX / 2 &&
           (!is_first || (agent->number_base == 0 && !agent->unplaced)) &&
           agent->release_number <= draw_number(agent) && agent->release_pulls <= agent->pulls &&
           (!is_first || agent->release_number == agent->release_epoch) &&
           (!agent->unplaced ||
            (agent->draw_epoch == agent->epoch && agent->draw_epoch == agent->release_epoch &&
             agent->pulls == agent->release_pulls && !agent->last && !agent->upload));
}

static bool history_is_possible(struct tacit_elim_agent *agent)
{
    struct tacit_ledger const *const ledger = &agent->ledger;
    uint32_t const arms = agent->config.arm_count;
    bool const is_pending = agent->draw_epoch > agent->release_epoch;
    bool const may_be_pending = agent->phase == PHASE_COMMITTED || agent->phase == PHASE_HALTED;
    return agent->epoch <= TACIT_ELIM_EPOCHS_MAX && agent->release_epoch <= agent->draw_epoch &&
           agent->draw_epoch <= agent->epoch && (!is_pending || may_be_pending) &&
           (is_pending || agent->phase != PHASE_COMMITTED) &&
           (agent->config.has_grants || (!is_pending && !agent->blocked)) &&
           agent->pulls <= TACIT_HORIZON_MAX &&
           tacit_bits_within(arms_of(agent), arms_of(agent), arms) &&
           agent->active_count == tacit_bits_count(arms_of(agent), arms) &&
           agent->active_count >= 1 && (!agent->last || agent->active_count == 1) &&
           agent->leader <= arms &&
           (agent->leader == 0 || tacit_bits_has(arms_of(agent), agent->leader - 1)) &&
           ledger->budget_nano == agent->config.budget_nano &&
           tacit_ledger_spent_nano(ledger) <= ledger->budget_nano &&
           ledger->open_cell == draw_number(agent) && ledger->release_count <= draw_number(agent) &&
           (ledger->release_count > 0) == (draw_number(agent) > 0);
}

/* The log, what follows from it, and what was refused beside it. */
static bool changes_are_possible(struct tacit_elim_agent *agent)
{
    struct tacit_elim_agent_config const *const config = &agent->config;
    uint32_t const arms = config->arm_count;
    if (config->change_max == 0)
        return agent->horizon == config->horizon && agent->change_count == 0 && !agent->dropped;
    if (agent->horizon < config->horizon || agent->horizon > TACIT_HORIZON_MAX ||
        agent->change_count > config->change_max ||
        !tacit_bits_within(barred_of(agent), barred_of(agent), arms) ||
        !tacit_bits_within(refused_of(agent), barred_of(agent), arms) ||
        !tacit_bits_within(playable_of(agent), playable_of(agent), arms) ||
        tacit_bits_count(barred_of(agent), arms) >= arms)
        return false;
    for (uint32_t i = 0; i < agent->change_count; i++)
        if (changes_of(agent)[i].number != i + 1 ||
            !elim_change_is_possible(&changes_of(agent)[i], config->agent_count, arms))
            return false;
    for (uint32_t arm = 0; arm < arms; arm++)
        if (tacit_bits_has(playable_of(agent), arm) && tacit_bits_has(barred_of(agent), arm))
            return false;
    return tacit_bits_count(playable_of(agent), arms) >= 1;
}

/* Pulls and plan fit T, the phase and the active arms. */
static bool pulls_are_possible(struct tacit_elim_agent *agent)
{
    uint64_t const horizon = agent->horizon;
    uint64_t left_count = 0;
    uint64_t done_count = 0;
    for (uint32_t arm = 0; arm < agent->config.arm_count; arm++) {
        uint64_t const left = left_of(agent)[arm];
        uint64_t const done = done_of(agent)[arm];
        bool const is_exploited =
            agent->last || (agent->cut && agent->leader > 0 && arm == arm_to_exploit(agent));
        if (left > horizon || done > horizon || done > agent->pulls ||
            (left > agent->pulls - done && !is_exploited) ||
            (left > 0 && !tacit_bits_has(playable_of(agent), arm)))
            return false;
        left_count += left; /* 2^16 arms of 2^40 pulls: 2^56 fits */
        done_count += done;
    }
    bool const is_at_end = agent->pull_count == horizon;
    bool const is_open = agent->phase == PHASE_PULLING;
    bool const is_at_rest = agent->phase == PHASE_IDLE || agent->phase == PHASE_WAITING;
    return agent->pull_count <= horizon && left_count <= horizon - agent->pull_count &&
           left_count == agent->left_count && is_open == (left_count > 0) &&
           done_count <= agent->pull_count && (agent->phase != PHASE_FINISHED || is_at_end) &&
           !(is_at_rest && is_at_end) && (agent->phase != PHASE_IDLE || agent->epoch == 0) &&
           (agent->phase != PHASE_RELEASING || agent->draw_epoch < agent->epoch) &&
           (agent->phase != PHASE_COMMITTED || agent->draw_epoch == agent->epoch);
}

static bool sums_are_possible(struct tacit_elim_agent *agent)
{
    struct tacit_mechanism const *const mechanism = &agent->config.mechanism;
    if (mechanism->scale.kind == TACIT_SCALE_REAL)
        return true; /* a real sum may be anything */
    for (uint32_t arm = 0; arm < agent->config.arm_count; arm++) {
        int64_t const exact = exact_of(agent)[arm].steps;
        uint64_t const done = done_of(agent)[arm];
        if (exact < 0 || exact > (int64_t)done * TACIT_STEPS ||
            !tacit_mechanism_plausible(mechanism, noised_of(agent)[arm], done,
                                       (uint32_t)agent->release_epoch))
            return false;
        if (agent->config.has_grants && agent->phase == PHASE_COMMITTED &&
            !tacit_mechanism_plausible(mechanism, pending_of(agent)[arm], done,
                                       (uint32_t)agent->draw_epoch))
            return false;
    }
    return true;
}

enum tacit_status tacit_elim_agent_check(const struct tacit_elim_agent *state, size_t size,
                                         const struct tacit_elim_agent_config *config)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_elim_agent_size(config) || !same_config(&agent->config, config))
        return TACIT_MALFORMED;
    bool const is_possible =
        agent->phase <= PHASE_HALTED && flag_is_possible(&agent->last) &&
        flag_is_possible(&agent->upload) && flag_is_possible(&agent->reported) &&
        flag_is_possible(&agent->cut) && flag_is_possible(&agent->blocked) &&
        flag_is_possible(&agent->unplaced) && flag_is_possible(&agent->dropped) &&
        changes_are_possible(agent) && term_is_possible(agent) && history_is_possible(agent) &&
        pulls_are_possible(agent) && sums_are_possible(agent);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

/* The leader of the order; else the best noised history: all active arms share one number of
 * released pulls. */
static uint32_t arm_to_exploit(struct tacit_elim_agent *agent)
{
    uint32_t const arms = agent->config.arm_count;
    if (agent->leader > 0 && tacit_bits_has(playable_of(agent), agent->leader - 1))
        return agent->leader - 1;
    union tacit_sum const *const noised = noised_of(agent);
    bool const is_real = agent->config.mechanism.scale.kind == TACIT_SCALE_REAL;
    uint32_t best = tacit_bits_next(playable_of(agent), arms, 0);
    TACIT_ASSERT(best < arms);
    for (uint32_t arm = best; arm < arms; arm = tacit_bits_next(playable_of(agent), arms, arm + 1))
        if (is_real ? noised[arm].real > noised[best].real : noised[arm].steps > noised[best].steps)
            best = arm;
    return best;
}

struct elim_agent_brief elim_agent_brief(const struct tacit_elim_agent *agent)
{
    return (struct elim_agent_brief){.epoch = agent->epoch,
                                     .term = agent->term,
                                     .release_epoch = (uint32_t)agent->release_epoch,
                                     .draw_epoch = (uint32_t)agent->draw_epoch,
                                     .active_count = agent->active_count,
                                     .pulls = agent->pulls,
                                     .arms = agent->words,
                                     .noised =
                                         noised_of((struct tacit_elim_agent *)(uintptr_t)agent),
                                     .commit = &agent->commit,
                                     .head = agent->head,
                                     .committed = agent->phase == PHASE_COMMITTED,
                                     .last = agent->last,
                                     .finished = agent->phase == PHASE_FINISHED,
                                     .halted = agent->phase == PHASE_HALTED};
}

/* The column of the report is free: what was drawn into it is in the pending history. */
struct tacit_elim_message tacit_elim_agent_draw(const struct tacit_elim_agent *state)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    TACIT_ASSERT(agent->config.has_grants);
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED);
    TACIT_ASSERT(agent->draw_epoch == agent->epoch);
    return report_with(agent, pending_of(agent));
}

void tacit_elim_agent_look(const struct tacit_elim_agent *state, struct tacit_elim_agent_view *view)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    bool const is_at_end = agent->pull_count == agent->horizon;
    bool const is_committed = agent->phase == PHASE_COMMITTED;
    *view = (struct tacit_elim_agent_view){
        .epoch = agent->epoch,
        .waiting = agent->phase == PHASE_IDLE || agent->phase == PHASE_WAITING ||
                   (is_committed && !is_at_end),
        .last = agent->last,
        .reported = agent->reported,
        .is_asked = agent->upload,
        .committed = is_committed,
        .blocked = agent->blocked,
        .head = agent->config.has_grants ? agent->head : NULL,
        .finished = agent->phase == PHASE_FINISHED || (is_committed && is_at_end),
        .releasing = agent->phase == PHASE_RELEASING,
        .halted = agent->phase == PHASE_HALTED,
        .arms = arms_of(agent),
        .active_count = agent->active_count,
        .pulls = agent->pulls,
        .pull_count = agent->pull_count,
        .exploit_arm = arm_to_exploit(agent),
        .release_epoch = agent->release_epoch,
        .term = agent->term,
        .draw_number = draw_number(agent),
        .release_number = agent->release_number,
        .noised = noised_of(agent),
        .ledger = &agent->ledger,
        .playable = playable_of(agent),
        .playable_count = tacit_bits_count(playable_of(agent), agent->config.arm_count),
        .dropped = agent->dropped,
        .horizon = agent->horizon};
    if (agent->config.change_max == 0)
        return;
    view->refused = refused_of(agent);
    view->changes = changes_of(agent);
    view->change_count = agent->change_count;
}

/* What a run is told on its way, by sites that do not play an arm and by its operator: whoever is
 * left out is waited for no more, and what was decided is an entry of the log. */
#include <string.h>
#include "hub_state.h"

/* ---- Sites that are left out ---- */

/* Is not asked any more in this round, unless its report is here. */
static void excuse(struct tacit_elim_hub *hub, uint32_t agent)
{
    if (!tacit_bits_has(uploaders_of(hub), agent) || tacit_bits_has(received_of(hub), agent))
        return;
    tacit_bits_remove(uploaders_of(hub), agent);
    hub->desk.missing_count--;
}

/* Sites were left out. Where there is nobody to wait for any more the round ends, with the order of
 * the next one in *made; where all who were asked are out, others are asked instead. Result: they
 * are, and an order is to say so. Requires: next_uploaders is drawn. Ensures: it is empty. */
static bool settle(struct tacit_elim_hub *hub, struct round_made *made)
{
    uint32_t const agents = hub->config.agent_count;
    size_t const set_bytes = TACIT_BITS_WORDS(agents) * sizeof(uint64_t);
    TACIT_ASSERT(hub->desk.phase == ROUND_COLLECTING);
    if (hub->desk.covered_count > 0 && round_is_complete(&elim_hub_rule, hub, 0, 0)) {
        round_end(&elim_hub_rule, hub, made);
        return false;
    }
    bool const asks_others = hub->desk.missing_count == 0; /* all who were asked are left out */
    if (asks_others) {
        memcpy(uploaders_of(hub), next_uploaders_of(hub), set_bytes);
        hub->desk.missing_count = tacit_bits_count(uploaders_of(hub), agents);
    }
    memset(next_uploaders_of(hub), 0, set_bytes);
    return asks_others;
}

/* Who abstains now, and who would report in another round. Errors: TACIT_ENTROPY, after who
 * abstains was counted. */
static enum tacit_status count_and_draw(struct tacit_elim_hub *hub,
                                        const struct tacit_entropy *entropy)
{
    elim_hub_count_eligible(hub);
    return hub->desk.phase == ROUND_COLLECTING ? elim_hub_draw_uploaders(hub, entropy) : TACIT_OK;
}

/* What a site says that it does not play. Nothing of it is used that was noised after it said so; a
 * round that waits for it goes on without it. Errors: TACIT_ENTROPY, nothing changed. */
enum tacit_status elim_hub_note_refused(void *state, const struct round_input *input,
                                        const struct tacit_entropy *entropy,
                                        struct round_made *made)
{
    struct tacit_elim_hub *const hub = state;
    struct tacit_elim_message const *const message = input->message;
    uint64_t before[TACIT_BITS_WORDS(TACIT_ARMS_MAX)];
    size_t const words = TACIT_BITS_WORDS(hub->config.schedule.arm_count);
    TACIT_ASSERT(message->from < hub->config.agent_count);
    if (message->refused == NULL || hub->config.change_max == 0)
        return TACIT_OK;
    uint64_t *const known = refused_of(hub, message->from);
    if (tacit_bits_within(message->refused, known, hub->config.schedule.arm_count))
        return TACIT_OK;
    memcpy(before, known, words * sizeof *before);
    for (size_t i = 0; i < words; i++)
        known[i] |= message->refused[i];
    enum tacit_status const status = count_and_draw(hub, entropy);
    if (status != TACIT_OK) {
        memcpy(known, before, words * sizeof *before);
        elim_hub_count_eligible(hub);
        return status;
    }
    made->persist = true;
    if (hub->desk.phase != ROUND_COLLECTING)
        return TACIT_OK;
    if (tacit_bits_has(abstaining_of(hub), message->from))
        excuse(hub, message->from);
    if (settle(hub, made))
        round_answer_order(made, TACIT_EVERYONE);
    return TACIT_OK;
}

/* ---- Changes ---- */

/* The number of the entry that said so before. 0: none. */
static uint32_t find_change(struct tacit_elim_hub *hub, enum tacit_elim_change_kind kind,
                            uint32_t subject)
{
    for (uint32_t i = 0; i < hub->change_count; i++)
        if (changes_of(hub)[i].kind == kind && changes_of(hub)[i].subject == subject)
            return i + 1;
    return 0;
}

static void add_change(struct tacit_elim_hub *hub, const struct tacit_elim_change *wanted,
                       struct round_made *made, uint32_t *number)
{
    TACIT_ASSERT(hub->change_count < hub->config.change_max);
    *number = hub->change_count + 1;
    changes_of(hub)[hub->change_count] =
        (struct tacit_elim_change){.kind = wanted->kind,
                                   .epoch = hub->judge.epoch,
                                   .subject = wanted->subject,
                                   .number = *number,
                                   .value = wanted->value,
                                   .made_unix_s = wanted->made_unix_s};
    hub->change_count++;
    made->persist = true;
}

/* No round follows. */
static void end_run(struct tacit_elim_hub *hub)
{
    struct elim_judge_parts const judge = judge_of(hub);
    if (judge.retired != NULL)
        elim_judge_retire(&judge);
    elim_judge_end(&judge);
    struct round_hub const round = round_of(hub);
    round_hub_await(&round, true);
}

/* Sites that were not dropped. */
static uint32_t site_count(struct tacit_elim_hub *hub)
{
    return hub->config.agent_count - tacit_bits_count(dropped_of(hub), hub->config.agent_count);
}

/* Arms that are in, and stay. */
static uint32_t arms_left(struct tacit_elim_hub *hub)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < hub->config.schedule.arm_count; arm++)
        count += tacit_bits_has(active_of(hub), arm) && !is_retired(hub, arm) ? 1 : 0;
    return count;
}

/* Sites or arms became fewer; `set` and `member` are what was added, to be taken back where no
 * participants can be drawn. */
static enum tacit_status leave_out(struct tacit_elim_hub *hub, uint64_t *set, uint32_t member,
                                   const struct tacit_entropy *entropy)
{
    tacit_bits_add(set, member);
    enum tacit_status const status = count_and_draw(hub, entropy);
    if (status != TACIT_OK) {
        tacit_bits_remove(set, member);
        elim_hub_count_eligible(hub);
    }
    return status;
}

static enum tacit_status drop_site(struct tacit_elim_hub *hub,
                                   const struct tacit_elim_change *wanted,
                                   const struct tacit_entropy *entropy, struct round_made *made,
                                   uint32_t *number)
{
    TACIT_ASSERT(hub->desk.phase == ROUND_COLLECTING);
    uint32_t const site = wanted->subject;
    if (site >= hub->config.agent_count || wanted->value != 0)
        return TACIT_INVALID;
    *number = find_change(hub, TACIT_ELIM_DROP_SITE, site);
    if (*number > 0)
        return TACIT_OK;
    if (site_count(hub) == 1)
        return TACIT_INVALID;
    TACIT_TRY(leave_out(hub, dropped_of(hub), site, entropy));
    add_change(hub, wanted, made, number);
    excuse(hub, site);
    (void)settle(hub, made);
    return TACIT_OK;
}

static enum tacit_status retire_arm(struct tacit_elim_hub *hub,
                                    const struct tacit_elim_change *wanted,
                                    const struct tacit_entropy *entropy, struct round_made *made,
                                    uint32_t *number)
{
    TACIT_ASSERT(hub->desk.phase == ROUND_COLLECTING);
    uint32_t const arm = wanted->subject;
    if (arm >= hub->config.schedule.arm_count || wanted->value != 0)
        return TACIT_INVALID;
    *number = find_change(hub, TACIT_ELIM_RETIRE_ARM, arm);
    if (*number > 0 || !tacit_bits_has(active_of(hub), arm))
        return TACIT_OK; /* it is out */
    if (arms_left(hub) == 1)
        return TACIT_INVALID;
    TACIT_TRY(leave_out(hub, retired_of(hub), arm, entropy));
    add_change(hub, wanted, made, number);
    (void)settle(hub, made);
    if (hub->desk.phase == ROUND_COLLECTING && arms_left(hub) == 1)
        end_run(hub); /* there is nothing to find out any more */
    return TACIT_OK;
}

static enum tacit_status set_quorum_and_deadline(struct tacit_elim_hub *hub,
                                                 const struct tacit_elim_change *wanted,
                                                 const struct tacit_entropy *entropy,
                                                 struct round_made *made, uint32_t *number)
{
    uint32_t const quorum = hub->quorum;
    if (wanted->subject > hub->config.schedule.report_count ||
        wanted->value > TACIT_ELIM_PAUSE_US_MAX)
        return TACIT_INVALID;
    *number = 0;
    if (wanted->subject == quorum && wanted->value == hub->timeout_us)
        return TACIT_OK;
    hub->quorum = wanted->subject;
    enum tacit_status const status = count_and_draw(hub, entropy);
    if (status != TACIT_OK) {
        hub->quorum = quorum;
        return status;
    }
    hub->timeout_us = wanted->value;
    add_change(hub, wanted, made, number);
    (void)settle(hub, made);
    return TACIT_OK;
}

static enum tacit_status extend_horizon(struct tacit_elim_hub *hub,
                                        const struct tacit_elim_change *wanted,
                                        struct round_made *made, uint32_t *number)
{
    *number = 0;
    if (wanted->value == hub->horizon)
        return TACIT_OK;
    if (wanted->subject != 0 || wanted->value < hub->horizon || wanted->value > TACIT_HORIZON_MAX)
        return TACIT_INVALID;
    hub->horizon = wanted->value;
    add_change(hub, wanted, made, number);
    return TACIT_OK;
}

static enum tacit_status end_now(struct tacit_elim_hub *hub, const struct tacit_elim_change *wanted,
                                 struct round_made *made, uint32_t *number)
{
    bool const is_known =
        elim_is_exact(&hub->config.schedule) ? hub->judge.leader > 0 : hub->judge.round_count > 0;
    if (wanted->subject != 0 || wanted->value != 0 || !is_known)
        return TACIT_INVALID;
    if (hub->config.change_max > 0)
        add_change(hub, wanted, made, number);
    end_run(hub);
    made->persist = true;
    return TACIT_OK;
}

/* With two aggregators there is no log: the last order says it by itself, and stands. */
static enum tacit_status end_masked(struct tacit_elim_hub *hub,
                                    const struct tacit_elim_change *wanted, struct round_made *made,
                                    uint32_t *number)
{
    if (wanted->kind != TACIT_ELIM_END_RUN)
        return TACIT_REFUSED;
    if (hub->desk.phase == ROUND_NEW)
        return TACIT_UNEXPECTED;
    return hub->desk.phase == ROUND_FINISHED ? TACIT_OK : end_now(hub, wanted, made, number);
}

/* What an operator wants, by its kind. *number: of its entry in the log; as it was where it is
 * refused. */
static enum tacit_status change(struct tacit_elim_hub *hub, const struct tacit_elim_change *wanted,
                                const struct tacit_entropy *entropy, struct round_made *made,
                                uint32_t *number)
{
    if (hub->config.change_max == 0)
        return hub->config.has_helper ? end_masked(hub, wanted, made, number) : TACIT_REFUSED;
    if (hub->desk.phase == ROUND_FINISHED) { /* what was said before may be said again, but
                                              * for what has a value, which is not looked for */
        *number =
            wanted->kind == TACIT_ELIM_SET_QUORUM_AND_DEADLINE ||
                    wanted->kind == TACIT_ELIM_EXTEND_HORIZON
                ? 0
                : find_change(hub, (enum tacit_elim_change_kind)wanted->kind, wanted->subject);
        return *number > 0 ? TACIT_OK : TACIT_UNEXPECTED;
    }
    if (hub->desk.phase == ROUND_NEW)
        return TACIT_UNEXPECTED;
    if (hub->change_count == hub->config.change_max)
        return TACIT_REFUSED;
    switch (wanted->kind) {
    case TACIT_ELIM_DROP_SITE:
        return drop_site(hub, wanted, entropy, made, number);
    case TACIT_ELIM_SET_QUORUM_AND_DEADLINE:
        return set_quorum_and_deadline(hub, wanted, entropy, made, number);
    case TACIT_ELIM_END_RUN:
        return end_now(hub, wanted, made, number);
    case TACIT_ELIM_EXTEND_HORIZON:
        return extend_horizon(hub, wanted, made, number);
    case TACIT_ELIM_RETIRE_ARM:
        return retire_arm(hub, wanted, entropy, made, number);
    default: /* an operator's program may say anything */
        return TACIT_INVALID;
    }
}

/* ---- Public ---- */

enum tacit_status tacit_elim_hub_change(struct tacit_elim_hub *hub,
                                        const struct tacit_elim_change *wanted, uint64_t now_us,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update, uint32_t *number)
{
    struct round_made made = {.answer = ROUND_NOTHING};
    TACIT_ASSERT(now_us >= hub->desk.now_us);
    elim_hub_check_invariants(hub);
    *number = 0;
    uint32_t const epoch_before = hub->judge.epoch;
    enum tacit_status const status = change(hub, wanted, entropy, &made, number);
    if (status == TACIT_OK && made.persist) {
        if (made.answer == ROUND_NOTHING)
            round_answer_order(&made, TACIT_EVERYONE);
        round_desk_end_step(&hub->desk, now_us, hub->timeout_us,
                            hub->judge.epoch != epoch_before ||
                                wanted->kind == TACIT_ELIM_SET_QUORUM_AND_DEADLINE,
                            false);
    }
    TACIT_IMPLIES(status != TACIT_OK, made.answer == ROUND_NOTHING && !made.persist);
    elim_hub_fill_update(hub, &made, update);
    elim_hub_check_invariants(hub);
    return status;
}

/* A site of private votes: the core behind the bytes of the bus. */
#include "../../live/block.h"
#include "../../live/effects.h"
#include "../../live/site.h"
#include "live.h"
#include "rule.h"
#include "tacit/commit.h"
#include "tacit/privacy.h"
#include "tacit/wire_vote.h"
#include <math.h>
#include <stdlib.h>

#define GROWTH 2.0 /* of the ladder (EXACT-BOUNDS 4.1) */

struct live_site {
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_vote_run run;
    struct tacit_vote_site_config config;
    uint64_t *committee;
    struct live_block block;
    struct live_effects effects;
};

static struct tacit_vote_site *core_of(const struct live_site *site)
{
    return live_block_state(&site->block);
}

static struct tacit_vote_site_view view_of(const struct live_site *site)
{
    struct tacit_vote_site_view view;
    tacit_vote_site_look(core_of(site), &view);
    return view;
}

static const struct tacit_mechanism *mechanism_of(const struct live_site *site)
{
    return &site->config.player.mechanism;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    free(site->announcement);
    free(site->committee);
    live_block_free(&site->block);
    live_effects_free(&site->effects);
    free(site);
}

static enum tacit_status own_mechanism(const struct live_site_config *config,
                                       struct tacit_mechanism *made)
{
    struct tacit_mechanism_config const wanted = {TACIT_PRIVACY_SOUND, config->epsilon, config->lo,
                                                  config->hi};
    return tacit_mechanism_init(made, &wanted);
}

/* The run, and what the site's own file says; nothing of the run enters the noise. */
static enum tacit_status configure(struct live_site *site, const struct live_site_config *own,
                                   const uint8_t *digest)
{
    struct tacit_wire_vote_run const *const run = &site->run;
    struct tacit_vote_site_config *const config = &site->config;
    *config = (struct tacit_vote_site_config){
        .player = {.run_id = run->run_id,
                   .player_id = run->agent,
                   .player_count = run->agent_count,
                   .arm_count = run->arm_count,
                   .accuracy = run->accuracy,
                   .failure = run->eta,
                   .growth = GROWTH,
                   .budget_nano = tacit_nano_of(own->budget),
                   .tick_us = (uint64_t)run->tick_ms * 1000u},
        .board = {.run_id = run->run_id,
                  .player_count = run->agent_count,
                  .arm_count = run->arm_count,
                  .votes_needed = run->votes_needed,
                  .committee = run->committee > 0 ? site->committee : NULL},
        .horizon = run->horizon,
        .cells_max = own->rounds_max,
        .goes_on = run->reset_after_s > 0,
        .resend_after_us = own->resend_after_us};
    tacit_bits_fill(site->committee, run->committee);
    tacit_commit_domain(own->federation, digest, config->domain);
    return own_mechanism(own, &config->player.mechanism);
}

/* What the announcement says. */
static enum tacit_status take_announcement(struct live_site *site, const uint8_t *bytes,
                                           size_t size, uint8_t *digest)
{
    enum tacit_status status = tacit_wire_announcement_decode(bytes, size, &site->announcement);
    if (status == TACIT_OK)
        status = tacit_wire_vote_run_decode(site->announcement, &site->run);
    if (status != TACIT_OK)
        return status;
    site->committee = calloc(TACIT_BITS_WORDS(site->run.agent_count), sizeof *site->committee);
    if (site->committee == NULL ||
        live_effects_init(&site->effects, site->run.arm_count) != TACIT_OK)
        return TACIT_MEMORY;
    return tacit_wire_agreement_digest(&site->announcement->agreement, digest);
}

static enum tacit_status make(struct live_site **made, const struct live_site_config *config,
                              const uint8_t *announcement, size_t size)
{
    struct live_site *const site = calloc(1, sizeof *site);
    if (site == NULL)
        return TACIT_MEMORY;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    enum tacit_status status = take_announcement(site, announcement, size, digest);
    if (status == TACIT_OK)
        status = configure(site, config, digest);
    if (status == TACIT_OK)
        status = live_block_new(&site->block, announcement, size, digest,
                                tacit_vote_site_size(&site->config));
    if (status != TACIT_OK) {
        site_free(site);
        return status;
    }
    *made = site;
    return TACIT_OK;
}

static enum tacit_status site_join(struct live_site **site, const struct live_site_config *config,
                                   const uint8_t *announcement, size_t size, const char **objection)
{
    struct live_site *made;
    enum tacit_status status = make(&made, config, announcement, size);
    if (status != TACIT_OK)
        return status;
    if (made->run.epsilon_nano > tacit_mechanism_cost_nano(mechanism_of(made))) {
        *objection = "the run reckons with a larger epsilon per reward than policy.epsilon";
        site_free(made);
        return TACIT_REFUSED;
    }
    status = tacit_vote_site_init(core_of(made), &made->config);
    TACIT_ASSERT(status == TACIT_OK); /* its size said that it is valid */
    *site = made;
    return TACIT_OK;
}

static enum tacit_status site_restore(struct live_site **site,
                                      const struct live_site_config *config, const void *bytes,
                                      size_t size)
{
    struct live_site *made;
    const uint8_t *announcement;
    size_t announcement_size;
    enum tacit_status status = live_block_read(bytes, size, &announcement, &announcement_size);
    if (status == TACIT_OK)
        status = make(&made, config, announcement, announcement_size);
    if (status != TACIT_OK)
        return status;
    status = live_block_take(&made->block, bytes, size);
    if (status == TACIT_OK)
        status = tacit_vote_site_check(core_of(made), live_block_state_size(&made->block),
                                       &made->config);
    if (status != TACIT_OK) {
        site_free(made);
        return status;
    }
    *site = made;
    return TACIT_OK;
}

static const void *site_bytes(const struct live_site *site, size_t *size)
{
    *size = site->block.size;
    return site->block.bytes;
}

static bool site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    return live_block_is_of(&site->block, announcement, size);
}

static const struct tacit_wire_agreement *site_agreement(const struct live_site *site)
{
    return &site->announcement->agreement;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool encode(const struct live_site *site, const struct tacit_vote_letter *letter,
                   uint8_t *bytes)
{
    return tacit_wire_vote_encode(letter, site->run.arm_count, bytes) == TACIT_OK;
}

/* Outbox = ledger: what leaves because of a draw is its commitment; its sums never leave. */
static void keep_draw(struct live_site *site, const struct tacit_vote_letter *commit,
                      struct live_site_update *update)
{
    size_t const size = tacit_wire_vote_bytes(commit->kind, site->run.arm_count);
    TACIT_ASSERT(commit->kind == TACIT_VOTE_COMMIT);
    struct live_site_release const release = {.number = commit->cell,
                                              .epsilon_nano =
                                                  tacit_mechanism_cost_nano(mechanism_of(site)),
                                              .size = size};
    uint8_t *const bytes = live_effects_release(&site->effects, update, &release);
    if (bytes != NULL && !encode(site, commit, bytes))
        live_effects_drop_release(&site->effects, update);
}

static void send(struct live_site *site, const struct tacit_vote_letter *letter)
{
    struct live_message const made = {.to = TACIT_HUB,
                                      .kind = tacit_wire_vote_kind(letter->kind),
                                      .epoch = letter->cell,
                                      .size =
                                          tacit_wire_vote_bytes(letter->kind, site->run.arm_count)};
    uint8_t *const bytes = live_messages_add(&site->effects.out, &made);
    if (bytes != NULL && !encode(site, letter, bytes))
        live_messages_drop_last(&site->effects.out);
}

static enum tacit_status step_core(struct live_site *site, struct tacit_vote_site_event event,
                                   const struct live_site_event *from,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct tacit_vote_site_update made;
    uint32_t const granted = view_of(site).granted;
    event.now_us = from->now_us;
    event.keys = from->keys;
    enum tacit_status const status = tacit_vote_site_step(core_of(site), &event, entropy, &made);
    update->persist = made.persist;
    if (made.has_draw)
        keep_draw(site, &made.letters[made.letter_count - 1], update);
    for (uint32_t i = 0; i < made.letter_count; i++)
        send(site, &made.letters[i]);
    if (view_of(site).granted > granted)
        update->acknowledged = view_of(site).granted;
    if (made.replan)
        live_effects_plan(&site->effects, update, made.plan, made.plan_count, false);
    site->effects.deadline_us = made.deadline_us;
    update->deadline_is_tick = made.on_tick;
    return status;
}

static enum tacit_status receive(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    struct tacit_wire_vote_run const *const run = &site->run;
    struct tacit_vote_letter *letter;
    enum tacit_status status = tacit_wire_vote_decode(
        event->as.message.bytes, event->as.message.size, run->arm_count, run->agent_count,
        event->as.message.is_broadcast ? TACIT_EVERYONE : run->agent, &letter);
    if (status != TACIT_OK)
        return status;
    bool const is_broadcast = letter->kind == TACIT_VOTE_ROW || letter->kind == TACIT_VOTE_ANEW;
    if (!tacit_wire_vote_is(letter, event->as.message.kind, event->as.message.epoch) ||
        is_broadcast != event->as.message.is_broadcast)
        status = TACIT_MALFORMED;
    else if (letter->from != event->as.message.from)
        status = TACIT_STRANGER;
    else
        status = step_core(
            site, (struct tacit_vote_site_event){.kind = TACIT_EVENT_RECEIVE, .as.letter = letter},
            event, entropy, update);
    free(letter);
    return status;
}

static enum tacit_status take_reward(struct live_site *site, const struct live_site_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct live_site_update *update)
{
    struct tacit_vote_site_event made = {.kind = TACIT_EVENT_REWARD};
    made.as.reward.arm = event->as.reward.arm;
    made.as.reward.count = 1;
    made.as.reward.sum.steps =
        tacit_scale_level(&mechanism_of(site)->scale, event->as.reward.value);
    return step_core(site, made, event, entropy, update);
}

static enum tacit_status dispatch(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    struct tacit_vote_site_event made = {.kind = TACIT_EVENT_START};
    switch (event->kind) {
    case LIVE_SITE_START:
    case LIVE_SITE_CONNECTED: /* what was said may have been lost */
        break;
    case LIVE_SITE_REWARD:
        return take_reward(site, event, entropy, update);
    case LIVE_SITE_EXPLOITED:
        made.kind = TACIT_EVENT_EXPLOITED;
        made.as.exploited_count = event->as.exploited_count;
        break;
    case LIVE_SITE_RECEIVE:
        return receive(site, event, entropy, update);
    case LIVE_SITE_TIMEOUT:
        made.kind = TACIT_EVENT_TIMEOUT;
        break;
    case LIVE_SITE_OFFER:  /* it has a plan */
    case LIVE_SITE_REFUSE: /* it cannot be told that here */
    case LIVE_SITE_TASK:
        return TACIT_UNEXPECTED;
    }
    return step_core(site, made, event, entropy, update);
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    TACIT_ASSERT(event != NULL && entropy != NULL);
    live_effects_begin(&site->effects, update);
    enum tacit_status const status = dispatch(site, event, entropy, update);
    live_effects_end(&site->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void site_place(const struct live_site *site, struct live_site_place *place)
{
    *place = (struct live_site_place){.run_id = site->run.run_id,
                                      .agent = site->run.agent,
                                      .agent_count = site->run.agent_count,
                                      .horizon = site->run.horizon};
}

/* Why nothing leaves any more, or nothing more is drawn. */
static const char *trouble_of(const struct live_site *site, const struct tacit_vote_site_view *view)
{
    struct tacit_ledger ledger = *view->player.ledger;
    if (view->is_blocked)
        return "blocked: the coordinator has granted another draw of this site instead; either "
               "this state is a copy or an old one, and nothing leaves it, or the coordinator "
               "does not say what is true";
    if (!view->is_spent || view->is_decided)
        return NULL;
    if (view->player.cell >= site->config.cells_max)
        return "halted: another draw would be one more than policy.rounds_max";
    return tacit_ledger_spend(&ledger, view->player.cell + 1,
                              tacit_mechanism_cost_nano(mechanism_of(site))) != TACIT_OK
               ? "halted: the next draw would cost more than policy.budget"
               : "halted: the ladder has no further rung; the arms that are left cannot be told "
                 "apart";
}

static void site_look(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_vote_site_view const core = view_of(site);
    struct tacit_vote_private_view const *const player = &core.player;
    *view = (struct live_site_view){
        .epoch = player->epoch,
        .is_waiting = player->waiting || player->decided,
        .is_decided = core.is_decided,
        .is_finished = core.is_finished,
        .is_halted = core.is_spent && !core.is_decided,
        .active = core.is_decided ? core.board.voted : player->active,
        .active_count = core.is_decided ? core.board.voted_count : player->active_count,
        .pull_count = core.pull_count,
        .no_estimates = "sites say which arms they vote out, and no means; "
                        "the coordinator's status shows the votes",
        .is_committed = core.is_committed,
        .is_blocked = core.is_blocked,
        .trouble = trouble_of(site, &core),
        .draw_number = player->cell,
        .release_number = core.granted,
        .spent_nano = tacit_ledger_spent_nano(player->ledger)};
}

/* By noised sums, in descending order. */
static int compare_arms(const void *left, const void *right, void *context)
{
    int64_t const *const totals = context;
    uint32_t const a = *(const uint32_t *)left;
    uint32_t const b = *(const uint32_t *)right;
    if (totals[a] != totals[b])
        return totals[a] > totals[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

static uint32_t site_rank(const struct live_site *site, const struct live_site_config *config,
                          uint32_t *arms)
{
    struct live_site_view view = {0};
    uint32_t count = 0;
    if (site != NULL)
        site_look(site, &view);
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        if (view.active == NULL || tacit_bits_has(view.active, arm))
            arms[count++] = arm;
    int64_t *const totals = site == NULL ? NULL : calloc(config->arm_count, sizeof *totals);
    for (uint32_t arm = 0; totals != NULL && arm < config->arm_count; arm++)
        totals[arm] = tacit_vote_site_total(core_of(site), arm);
    if (totals != NULL)
        qsort_r(arms, count, sizeof *arms, compare_arms, totals);
    free(totals);
    return count;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    struct tacit_mechanism mechanism;
    (void)site;
    promise->trust.audience = TACIT_AUDIENCE_VOTES;
    if (own_mechanism(config, &mechanism) == TACIT_OK)
        promise->mechanism = tacit_promise_mechanism_of(&mechanism, TACIT_LEAVING_VOTES);
}

const struct live_site_ops vote_site_ops = {.word = TACIT_WIRE_VOTE_WORD,
                                            .family = TACIT_WIRE_VOTE_FAMILY,
                                            .version = TACIT_WIRE_VOTE_VERSION,
                                            .hears_of_each = true,
                                            .join = site_join,
                                            .restore = site_restore,
                                            .free = site_free,
                                            .bytes = site_bytes,
                                            .is_of = site_is_of,
                                            .agreement = site_agreement,
                                            .step = site_step,
                                            .place = site_place,
                                            .look = site_look,
                                            .rank = site_rank,
                                            .promise = site_promise};

/* Private votes over a hub that grants, as the daemons drive them (live/protocol.h). */
#include "../../live/player.h"
#include "../../live/protocol.h"
#include "live_keys.h"
#include <stdlib.h>
#include <string.h>

#define GROWTH 2.0 /* of the ladder (EXACT-BOUNDS 4.1) */

/* ---- Messages -------------------------------------------------------------------------------- */

/* A row is about its player. */
static void set_delivery(const void *message, struct live_message *made)
{
    struct tacit_vote_hub_message const *const vote_message = message;
    made->is_about_one = vote_message->kind == TACIT_VOTE_ROW;
    made->about = made->is_about_one ? vote_message->player : 0;
}

/* ---- A site ---------------------------------------------------------------------------------- */

struct vote_site {
    struct tacit_vote_site_config core;
};

LIVE_CORE(tacit_vote_site, struct vote_site);

static struct tacit_vote_board_config board_of(const struct tacit_wire_vote_run *run,
                                               const uint64_t *committee)
{
    return (struct tacit_vote_board_config){.run_id = run->run_id,
                                            .player_count = run->agent_count,
                                            .arm_count = run->arm_count,
                                            .votes_needed = run->votes_needed,
                                            .committee = run->committee > 0 ? committee : NULL};
}

/* A: whose votes count. NULL: out of memory, as the room knows. */
static uint64_t *voters_of(const struct tacit_wire_vote_run *run, struct live_room *room)
{
    uint64_t *const voters =
        live_room_allocate(room, TACIT_BITS_WORDS(run->agent_count), sizeof *voters);
    if (voters != NULL)
        tacit_bits_fill(voters, run->committee > 0 ? run->committee : run->agent_count);
    return voters;
}

static bool runs_sums(const struct live_site *site)
{
    return ((const struct tacit_wire_vote_run *)site->run)->block > 0;
}

/* The run, and what the site's own file says; nothing of the run enters the noise. */
static enum tacit_status site_configure(struct live_site *site)
{
    struct vote_site *const own = site->own;
    struct tacit_wire_vote_run const *const run = site->run;
    TACIT_TRY(live_site_mechanism(&site->config, &site->mechanism));
    own->core = (struct tacit_vote_site_config){
        .player = {.run_id = run->run_id,
                   .player_id = run->agent,
                   .player_count = run->agent_count,
                   .arm_count = run->arm_count,
                   .accuracy = run->accuracy,
                   .failure = run->eta,
                   .growth = GROWTH,
                   .block = run->block,
                   .mechanism = site->mechanism,
                   .budget_nano = tacit_nano_of(site->config.budget),
                   .tick_us = (uint64_t)run->tick_ms * 1000u},
        .board = board_of(run, voters_of(run, &site->room)),
        .horizon = run->horizon,
        .draws_max = site->config.rounds_max,
        .goes_on = run->reset_after_s > 0,
        .resend_after_us = site->config.resend_after_us};
    memcpy(own->core.domain, site->domain, sizeof own->core.domain);
    return TACIT_OK;
}

/* What the core's step sends. Outbox = ledger. Of votes, what leaves because of a draw is its
 * commitment, and its sums never leave. Of sums, it is the release: the ledger has it when it is
 * drawn, as it will leave once it is granted, and then it is held against that row. */
static void send_all_of(struct live_site *site, const struct tacit_vote_site_update *core_update,
                        struct live_site_update *update)
{
    bool const has_sums = runs_sums(site);
    struct live_site_release release = {
        .number = core_update->draw, .epsilon_nano = tacit_mechanism_cost_nano(&site->mechanism)};
    TACIT_IMPLIES(core_update->has_draw, core_update->persist && core_update->message_count > 0);
    for (uint32_t i = 0; i < core_update->message_count; i++) {
        struct tacit_vote_hub_message const *const message = &core_update->messages[i];
        if (message->kind == TACIT_VOTE_RELEASE)
            release.number = message->draw;
        if (message->kind == TACIT_VOTE_RELEASE ||
            (core_update->has_draw && !has_sums && message->kind == TACIT_VOTE_COMMIT))
            live_site_reveal(site, message, &release, update);
        else
            live_site_send(site, message);
    }
    if (!core_update->has_draw || !has_sums)
        return;
    struct tacit_vote_hub_message const drawn = tacit_vote_site_release(site->state);
    live_site_record(site, &drawn, &release, update);
}

/* Rows and resets of the board go to all, everything else to one site: does this message? */
static bool is_addressed_rightly(const struct tacit_vote_hub_message *vote_message)
{
    bool const is_of_board =
        vote_message->kind == TACIT_VOTE_ROW || vote_message->kind == TACIT_VOTE_ANEW;
    return is_of_board == (vote_message->to == TACIT_EVERYONE);
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   void *message, const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct tacit_vote_site_update core_update;
    struct tacit_vote_hub_message *const vote_message = message;
    struct tacit_vote_site_view view;
    if (vote_message != NULL && !is_addressed_rightly(vote_message))
        return TACIT_MALFORMED;
    tacit_vote_site_view(site->state, &view);
    struct tacit_event core_event =
        live_player_event(site, event, &(struct tacit_round_view){.term = view.term}, TACIT_NO_ARM);
    if (vote_message != NULL) {
        vote_message->term = view.term; /* as its envelope said */
        core_event.as.message = vote_message;
    }
    enum tacit_status const status =
        tacit_vote_site_step(site->state, &core_event, entropy, &core_update);
    update->persist = core_update.persist;
    send_all_of(site, &core_update, update);
    live_site_settle(site, core_update.granted, update);
    update->drops_open = core_update.begins_term;
    if (core_update.replan)
        live_site_plan(site, core_update.plan, core_update.plan_count, update);
    site->deadline_us = core_update.deadline_us;
    update->deadline_is_tick = core_update.on_tick;
    return status;
}

/* Why nothing leaves any more, or nothing more is drawn; NULL: nothing is wrong. The next draw is
 * tried on a copy of the ledger. */
static const char *trouble_of(const struct live_site *site, const struct tacit_vote_site_view *view)
{
    struct tacit_ledger ledger = *view->player.ledger;
    if (view->is_forgotten)
        return LIVE_SITE_FORGOTTEN;
    if (view->is_blocked)
        return "blocked: the coordinator has granted another draw of this site instead; either "
               "this state is a copy or an old one, and nothing leaves it, or the coordinator "
               "does not say what is true";
    if (!view->is_spent || view->is_decided)
        return NULL;
    if (view->player.draw >= site->config.rounds_max)
        return "halted: another draw would be one more than policy.rounds_max";
    return tacit_ledger_spend(&ledger, view->player.draw + 1,
                              tacit_mechanism_cost_nano(&site->mechanism)) != TACIT_OK
               ? "halted: the next draw would cost more than policy.budget"
               : "halted: the ladder has no further rung; the arms that are left cannot be told "
                 "apart";
}

static void site_fill_view(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_vote_site_view core;
    struct tacit_vote_noised_view const *const player = &core.player;
    tacit_vote_site_view(site->state, &core);
    *view = (struct live_site_view){
        .epoch = player->epoch,
        .is_waiting = player->waiting || player->decided,
        .is_decided = core.is_decided,
        .is_finished = core.is_finished,
        .is_halted = core.is_spent && !core.is_decided,
        .active = core.is_decided ? core.board.voted : player->active,
        .active_count = core.is_decided ? core.board.voted_count : player->active_count,
        .pull_count = core.pull_count,
        .no_estimates = runs_sums(site) ? "sites publish sums, and the coordinator alone adds them "
                                          "up; its status shows the arms"
                                        : "sites say which arms they vote out, and no means; "
                                          "the coordinator's status shows the votes",
        .is_committed = core.is_committed || core.is_holding, /* the hub has the next word */
        .is_blocked = core.is_blocked,
        .forgetful = core.is_forgotten ? TACIT_WIRE_COORDINATOR : NULL,
        .trouble = trouble_of(site, &core),
        .draw_number = player->draw,
        .release_number = core.granted,
        .spent_nano = tacit_ledger_spent_nano(player->ledger)};
}

/* Arms that are left have as many pulls: the larger noised sum is that of the better mean. */
static bool site_prefers(const struct live_site *site, uint32_t arm, uint32_t other)
{
    return tacit_vote_site_total(site->state, arm) > tacit_vote_site_total(site->state, other);
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    promise->trust.audience = runs_sums(site) ? TACIT_AUDIENCE_STAR : TACIT_AUDIENCE_VOTES;
    live_site_promise(config, runs_sums(site) ? TACIT_LEAVING_SUMS : TACIT_LEAVING_VOTES, promise);
}

const struct live_site_ops vote_site_ops = {.wire = &tacit_wire_vote,
                                            .receives_each = true,
                                            .has_terms = true,
                                            .keeps_digest = true,
                                            .events = LIVE_SITE_PLAN_EVENTS,
                                            .core = &tacit_vote_site_live,
                                            LIVE_SITE_FUNCTIONS,
                                            .objection = live_site_reckoning,
                                            .prefers = site_prefers};

/* ---- The hub --------------------------------------------------------------------------------- */

struct vote_hub {
    const struct tacit_wire_vote_run *run;
    struct tacit_vote_hub_config core;
    uint64_t *asked; /* A: whose votes count */
};

LIVE_CORE(tacit_vote_hub, struct vote_hub);

static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct tacit_wire_vote_run *const made = run;
    struct tacit_wire_run const head = made->head;
    *made = *vote_hub_run(config);
    made->head = head;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    bool const has_sums = vote_hub_run(config)->block > 0;
    struct tacit_wire_shape const shape = {.arm_count = config->arm_count};
    struct tacit_vote_hub_message const largest = {.kind = has_sums ? TACIT_VOTE_RELEASE
                                                                    : TACIT_VOTE_CAST};
    return live_message_fits(&tacit_wire_vote, &shape, &largest) ? NULL : "arms";
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_wire_vote_run const *const run = vote_hub_run(config);
    (void)fprintf(out,
                  "run.accuracy %.17g\nrun.eta %.17g\nrun.votes %u\ncommittee "
                  "%u\nrun.reset_after_s %u\nrun.tick_ms %u\n",
                  run->accuracy, run->eta, run->votes_needed, run->committee, run->reset_after_s,
                  run->tick_ms);
    if (run->block > 0)
        (void)fprintf(out, "sharing sums\nblock %llu\n", (unsigned long long)run->block);
}

static void hub_configure(struct live_hub *hub)
{
    struct vote_hub *const own = hub->own;
    own->run = vote_hub_run(hub->config);
    own->asked = voters_of(own->run, &hub->room);
    own->core = (struct tacit_vote_hub_config){.board = board_of(own->run, own->asked),
                                               .reset_after_s = own->run->reset_after_s};
    own->core.pool = vote_hub_pool(hub->config);
    memcpy(own->core.domain, hub->domain, sizeof own->core.domain);
}

LIVE_SNAPSHOTS(tacit_vote_hub, struct vote_hub)

/* After each start, to all: the last reset, and each site's row. The broker is not trusted to keep
 * anything. */
static void resend_board(struct live_hub *hub)
{
    struct tacit_vote_hub_message vote_message;
    if (tacit_vote_hub_reset(hub->state, &vote_message))
        (void)live_hub_send(hub, &vote_message);
    for (uint32_t site = 0; site < hub->config->site_count; site++)
        if (tacit_vote_hub_row(hub->state, site, &vote_message))
            (void)live_hub_send(hub, &vote_message);
}

/* For the log of events. */
static void note(struct live_hub *hub, const struct tacit_vote_hub_update *core_update,
                 struct live_hub_update *update)
{
    struct tacit_vote_hub_view view;
    tacit_vote_hub_view(hub->state, &view);
    if (core_update->send && core_update->message.kind == TACIT_VOTE_ANEW)
        live_hub_note(hub, update, "reset %llu: %u arms are in",
                      (unsigned long long)view.board.reset, view.board.voted_count);
    else if (core_update->arms_out > 0)
        live_hub_note(hub, update, "%u arms are voted out; %u are in", core_update->arms_out,
                      view.board.voted_count);
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  void *message, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_vote_hub_message *const received = message;
    struct tacit_vote_hub_view view;
    struct tacit_vote_hub_update core_update;
    tacit_vote_hub_view(hub->state, &view);
    struct tacit_event const core_event = live_hub_core_event(
        hub, event, view.term, received, received == NULL ? NULL : &received->term);
    enum tacit_status const status =
        tacit_vote_hub_step(hub->state, &core_event, entropy, &core_update);
    update->persist = core_update.persist;
    update->deadline_us = core_update.deadline_us;
    note(hub, &core_update, update);
    if (core_update.send)
        (void)live_hub_send(hub, &core_update.message);
    if (event->kind == LIVE_HUB_START)
        resend_board(hub);
    return status;
}

static void hub_fill_view(const struct live_hub *hub, struct live_hub_view *view)
{
    struct vote_hub const *const own = hub->own;
    struct tacit_vote_hub_view core;
    tacit_vote_hub_view(hub->state, &core);
    uint32_t const asked = tacit_bits_count(own->asked, hub->config->site_count);
    TACIT_ASSERT(core.voter_count <= asked);
    *view = (struct live_hub_view){.judges = true,
                                   .is_finished = core.is_decided,
                                   .epoch = (uint32_t)core.board.reset + 1,
                                   .active = core.board.voted,
                                   .active_count = core.board.voted_count,
                                   .report_count = core.voter_count,
                                   .missing_count = asked - core.voter_count,
                                   .covered_count = core.voter_count,
                                   .asked = own->asked,
                                   .received = core.voters,
                                   .seen = core.draws,
                                   .votes = core.board.counts,
                                   .votes_needed = own->run->votes_needed,
                                   .flagged = core.flagged,
                                   .ahead = core.ahead};
}

/* Why nothing of votes is changed by a word (docs/adr/0058). */
static const char *const objections[LIVE_CHANGES] = {
    [LIVE_CHANGE_DROP_SITE] =
        "votes wait for nobody: what a site has voted stands, and one that is gone holds nobody "
        "up; but who is in a committee is fixed before anything is known: for another one begin a "
        "new run, with votes: binomial, cheapest or a number whoever votes first is enough",
    [LIVE_CHANGE_SET_QUORUM_AND_DEADLINE] =
        "votes have no rounds that wait for sites: there is no quorum and no deadline",
    [LIVE_CHANGE_END_RUN] = "no arm is the answer before the others are voted out; stop the "
                            "coordinator, and each site plays the best that it knows",
    [LIVE_CHANGE_EXTEND_HORIZON] =
        "the horizon is what the sites have agreed to: begin a new run with a longer one",
    [LIVE_CHANGE_RETIRE_ARM] =
        "an arm is out by votes alone; applications name it under unavailable of each decision, or "
        "begin a new run without it"};

const struct live_hub_ops vote_hub_ops = {.wire = &tacit_wire_vote,
                                          .has_terms = true,
                                          .is_rebuilt = true,
                                          .core = &tacit_vote_hub_live,
                                          LIVE_HUB_FUNCTIONS,
                                          .epsilon_nano = live_hub_epsilon_nano,
                                          .snapshot = tacit_vote_hub_live_snapshot,
                                          .restore = tacit_vote_hub_live_restore,
                                          .set_delivery = set_delivery,
                                          .objections = objections};

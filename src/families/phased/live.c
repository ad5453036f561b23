/* Play in phases over a hub that grants, as the daemons drive it (live/protocol.h). */
#include "live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../live/hub_helper.h"
#include "../../live/player.h"
#include "plan.h"
#include "tacit/wire_phased.h"

/* Would all that is said in a run of so many arms fit into the payloads of the bus? Lengths look
 * into no block. */
static bool fits(uint32_t arm_count)
{
    static const struct tacit_commit commit;
    struct tacit_phased_message const report = {
        .kind = TACIT_ROUND_REPORT, .block_count = arm_count, .commit = &commit};
    struct tacit_phased_message const order = {.kind = TACIT_ROUND_ORDER, .block_count = arm_count};
    return live_message_fits(&tacit_wire_phased, NULL, &report) &&
           live_message_fits(&tacit_wire_phased, NULL, &order);
}

/* ---- A site ---------------------------------------------------------------------------------- */

struct phased_site {
    struct live_site_trust trust;
    struct tacit_phased_agent_config core;
    struct tacit_phased_update update; /* of the last step, .. */
    struct tacit_phased_message drawn; /* .. and what it drew */
    uint64_t *active;                  /* K: of the last order */
    bool is_beyond_policy;             /* a plan was refused that is beyond it */
};

/* Of a run of any protocol whose rounds are plans: orders say what is played. */
static enum tacit_status site_configure(struct live_site *site)
{
    struct phased_site *const own = site->own;
    struct tacit_wire_run const *const run = site->run; /* its head */
    TACIT_TRY(live_site_noise(site, &own->trust));
    own->core =
        (struct tacit_phased_agent_config){.run_id = run->run_id,
                                           .agent_id = run->agent,
                                           .agent_count = run->agent_count,
                                           .arm_count = run->arm_count,
                                           .horizon = run->horizon,
                                           .mechanism = own->trust.mechanism,
                                           .budget_nano = tacit_nano_of(site->config.budget),
                                           .resend_after_us = site->config.resend_after_us,
                                           .round_max = site->config.rounds_max,
                                           .has_grants = true,
                                           .has_helper = own->trust.is_there};
    memcpy(own->core.domain, site->domain, sizeof own->core.domain);
    own->active =
        live_room_allocate(&site->room, TACIT_BITS_WORDS(run->arm_count), sizeof *own->active);
    return TACIT_OK;
}

LIVE_CORE(tacit_phased_agent, struct phased_site);

static const char *site_objection(const struct live_site *site)
{
    char const *const trust = live_site_trust_objection(site);
    char const *const reckoning = trust != NULL ? trust : live_site_reckoning(site);
    return reckoning == NULL &&
                   (!fits(site->shape.arm_count) || tacit_phased_agent_live_size(site->own) == 0)
               ? "the run does not fit into the messages of this network"
               : reckoning;
}

static struct tacit_phased_agent_view agent_view(const struct live_site *site)
{
    struct tacit_phased_agent_view view;
    tacit_phased_agent_view(site->state, &view);
    return view;
}

static enum tacit_status step_agent(struct live_site *site, const struct tacit_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct live_player_made *made)
{
    struct phased_site *const own = site->own;
    enum tacit_status const status =
        tacit_phased_agent_step(site->state, event, entropy, &own->update);
    *made = LIVE_PLAYER_MADE(own);
    if ((own->update.happened & TACIT_DREW) != 0)
        own->drawn = tacit_phased_agent_draw(site->state);
    return status;
}

static struct tacit_round_view play_view(const struct live_site *site)
{
    return agent_view(site).play;
}

static uint32_t last_arm(const struct live_site *site)
{
    return agent_view(site).leader;
}

static const struct live_player player = {offsetof(struct tacit_phased_message, head), step_agent,
                                          play_view, last_arm};

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   void *message, const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct phased_site *const own = site->own;
    struct tacit_phased_message const *const said = message;
    enum tacit_status const status =
        live_player_step(site, &player, &own->trust, event, message, entropy, update);
    if (status == TACIT_REFUSED && said != NULL && said->kind == TACIT_ROUND_ORDER)
        own->is_beyond_policy = said->round > own->core.round_max;
    return status;
}

/* The index drops none before its last order. Fills own->active. Returns how many they are. */
static uint32_t find_active(const struct live_site *site,
                            const struct tacit_phased_agent_view *agent)
{
    struct phased_site const *const own = site->own;
    uint32_t const arms = site->shape.arm_count;
    memset(own->active, 0, TACIT_BITS_WORDS(arms) * sizeof *own->active);
    if (agent->last && agent->leader != TACIT_NO_ARM)
        tacit_bits_add(own->active, agent->leader);
    else
        tacit_bits_fill(own->active, arms);
    return tacit_bits_count(own->active, arms);
}

static void site_fill_view(const struct live_site *site, struct live_site_view *view)
{
    struct phased_site const *const own = site->own;
    struct tacit_phased_agent_view const agent = agent_view(site);
    *view = live_site_show(site, &agent.play);
    view->active_count = find_active(site, &agent);
    view->active = own->active;
    view->no_estimates = LIVE_SITE_MASKED;
    view->is_beyond_policy = own->is_beyond_policy && !agent.last;
}

/* The arm to play while it waits; all others after it, in their order. */
static bool site_prefers(const struct live_site *site, uint32_t arm, uint32_t other)
{
    return arm != other && arm == agent_view(site).exploit_arm;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    (void)site;
    live_site_promise(config, TACIT_LEAVING_SUMS, promise);
    live_site_promise_trust(config, promise);
}

const struct live_site_ops phased_site_ops = {.wire = &tacit_wire_phased,
                                              .has_terms = true,
                                              .keeps_digest = true,
                                              .events = LIVE_SITE_PLAN_EVENTS,
                                              .core = &tacit_phased_agent_live,
                                              LIVE_SITE_FUNCTIONS,
                                              .objection = site_objection,
                                              .prefers = site_prefers};

/* ---- The hub --------------------------------------------------------------------------------- */

struct phased_hub {
    struct tacit_phased_hub_config core;
    struct live_hub_intervals intervals;
    double *lowers;   /* K */
    double *uppers;   /* K */
    uint64_t *active; /* W(K): arms that cannot be told apart from the best */
    uint64_t *absent; /* W(K): arms that are to come, or were retired */
};

LIVE_CORE(tacit_phased_hub, struct phased_hub);

static const struct tacit_phases *schedule_of(const struct live_hub_config *config)
{
    struct phased_hub_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return &settings->schedule;
}

static void hub_parameters(const struct live_hub_config *config, void *run)
{
    struct tacit_phases *const schedule = &((struct tacit_wire_phased_run *)run)->schedule;
    *schedule = *schedule_of(config);
    if (!(schedule->guard_loss > 0))
        schedule->guard_arm = TACIT_NO_ARM;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    return fits(config->arm_count) ? NULL : "arms";
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct tacit_phases const *const schedule = schedule_of(config);
    (void)fprintf(out,
                  "run.rule 0\nrun.arms_per_round %u\nrun.growth %.17g\nrun.confidence %.17g\n",
                  schedule->arms_per_round, schedule->growth, schedule->confidence);
    (void)fprintf(out, "run.guard %u %.17g\nrun.later %u\n", schedule->guard_arm,
                  schedule->guard_loss,
                  tacit_phases_first_count(schedule)); /* which are there by now may change */
}

static void hub_configure(struct live_hub *hub)
{
    struct live_hub_config const *const config = hub->config;
    struct phased_hub *const own = hub->own;
    uint32_t const arms = config->arm_count;
    size_t const words = TACIT_BITS_WORDS(arms);
    own->core = (struct tacit_phased_hub_config){.run_id = config->run_id,
                                                 .schedule = *schedule_of(config),
                                                 .mechanism = live_hub_mechanism(config),
                                                 .quorum = config->quorum,
                                                 .round_timeout_us =
                                                     (uint64_t)config->deadline_s * 1000000u,
                                                 .answers_all = true,
                                                 .has_grants = true,
                                                 .has_helper = config->has_helper};
    memcpy(own->core.domain, hub->domain, sizeof own->core.domain);
    own->lowers = live_room_allocate(&hub->room, arms, sizeof *own->lowers);
    own->uppers = live_room_allocate(&hub->room, arms, sizeof *own->uppers);
    own->active = live_room_allocate(&hub->room, words, sizeof *own->active);
    own->absent = live_room_allocate(&hub->room, words, sizeof *own->absent);
}

LIVE_SNAPSHOTS(tacit_phased_hub, struct phased_hub)

static struct tacit_phased_hub_view core_view(const struct live_hub *hub)
{
    struct tacit_phased_hub_view view;
    tacit_phased_hub_view(hub->state, &view);
    return view;
}

/* Once a round: what may be said of the arms from now on. */
static void note_intervals(struct live_hub *hub)
{
    struct phased_hub *const own = hub->own;
    struct tacit_phased_judge_view const judge = core_view(hub).judge;
    double const confidence = ladder_confidence(schedule_of(hub->config)->confidence);
    uint32_t const arms = hub->config->arm_count;
    phased_look(&judge, confidence, arms, own->lowers, own->uppers, own->active);
    for (uint32_t arm = 0; arm < arms; arm++)
        if (judge.standings[arm] == TACIT_PHASED_PRESENT ||
            judge.standings[arm] == TACIT_PHASED_BEATEN)
            tacit_bits_remove(own->absent, arm);
        else
            tacit_bits_add(own->absent, arm);
    own->intervals = (struct live_hub_intervals){.confidence = confidence,
                                                 .lowers = own->lowers,
                                                 .uppers = own->uppers,
                                                 .leader = judge.leader};
}

static void carry_out(struct live_hub *hub, const struct tacit_phased_update *core_update,
                      struct live_hub_update *update)
{
    struct tacit_phased_message const *const order = &core_update->message;
    uint64_t pulls = 0;
    update->persist = update->persist || core_update->persist;
    update->deadline_us = core_update->deadline_us;
    if ((core_update->happened & TACIT_CLOSED_ROUND) != 0)
        note_intervals(hub);
    if (!core_update->send)
        return;
    (void)live_hub_send(hub, order);
    for (uint32_t i = 0; i < order->block_count; i++)
        pulls += order->blocks[i].count;
    if (order->to == TACIT_EVERYONE)
        live_hub_note(hub, update, "round %u%s, %u arms, %llu pulls", order->round,
                      order->last ? ", the last" : "", order->block_count,
                      (unsigned long long)pulls);
}

/* ---- Two aggregators ---- */

static void hub_round(const struct live_hub *hub, struct tacit_helper_round *round, uint64_t *highs)
{
    struct tacit_phased_hub_view const view = core_view(hub);
    uint32_t const count = view.judge.plan_count;
    *round =
        (struct tacit_helper_round){.term = view.term, .round = view.judge.round, .count = count};
    tacit_phased_plan_digest(view.judge.plan, count, round->order);
    for (uint32_t i = 0; highs != NULL && i < count; i++)
        highs[i] = view.judge.plan[i].count * (uint64_t)TACIT_STEPS;
}

LIVE_QUESTION(hub_commit, struct tacit_phased_message, TACIT_ROUND_COMMIT)
LIVE_QUESTION(hub_hello, struct tacit_phased_message, TACIT_ROUND_HELLO)

/* ---- Arms that come and go ---- */

/* Is the arm in a set of the settings? NULL: nobody is. */
static bool is_named(const uint64_t *set, uint32_t arm)
{
    return set != NULL && tacit_bits_has(set, arm);
}

/* Adds or retires one arm that the file has and the judge has not yet. False: there is none. */
static bool apply_change(struct live_hub *hub, uint64_t now_us,
                         struct tacit_phased_update *core_update, struct live_hub_update *update)
{
    struct phased_hub_settings const *const settings = hub->config->settings;
    for (uint32_t arm = 0; arm < hub->config->arm_count; arm++) {
        uint64_t const standing = core_view(hub).judge.standings[arm];
        bool const comes = standing == TACIT_PHASED_TO_COME && is_named(settings->added, arm);
        bool const goes = standing == TACIT_PHASED_PRESENT && is_named(settings->retired, arm);
        if ((!comes && !goes) ||
            tacit_phased_hub_change(hub->state, arm, comes, now_us, core_update) != TACIT_OK)
            continue; /* the last arm of a run stays until another one is there */
        live_hub_note(hub, update, "arm %s is %s", hub->config->arm_names[arm],
                      comes ? "added" : "retired");
        return true;
    }
    return false;
}

/* What the operator has written since the last start. A round that the helper is asked about ends
 * first: it may be answered already, and whom that counts is known by the answer alone. */
static void change_arms(struct live_hub *hub, uint64_t now_us, struct live_hub_update *update)
{
    struct tacit_phased_update core_update;
    if (live_hub_helper_is_asked(hub))
        return;
    while (apply_change(hub, now_us, &core_update, update)) {
        update->persist = true;
        update->deadline_us = core_update.deadline_us;
        note_intervals(hub);
        if (core_update.send)
            (void)live_hub_send(hub, &core_update.message);
        if (core_update.send && hub->helper != NULL)
            live_hub_helper_overtaken(hub);
    }
}

static void hub_close(struct live_hub *hub, uint32_t agents, const int64_t *totals, uint64_t now_us,
                      struct live_hub_update *update)
{
    struct tacit_phased_update core_update;
    tacit_phased_hub_close(hub->state, agents, totals, now_us, &core_update);
    carry_out(hub, &core_update, update);
    change_arms(hub, now_us, update);
}

/* Of the operator's words one: no plan follows. */
static enum tacit_status hub_change(struct live_hub *hub, const struct live_control_entry *wanted,
                                    uint64_t now_us, const struct tacit_entropy *entropy,
                                    struct live_hub_update *update, uint32_t *number,
                                    const char **objection)
{
    struct tacit_phased_judge_view const judge = core_view(hub).judge;
    struct tacit_phased_update core_update;
    (void)entropy; /* it draws nothing */
    *number = 0;
    *objection = wanted->change != LIVE_CHANGE_END_RUN
                     ? "a run in phases is ended (end), and with two aggregators sites are dropped "
                       "(drop) and void rounds repeated (repeat); arms of the phased index come "
                       "and go by the coordinator's file (run.added, run.retired); else begin a "
                       "new run"
                     : "no round is closed yet, so that no arm leads: stop the coordinator, and "
                       "begin a new run";
    if (wanted->change != LIVE_CHANGE_END_RUN || judge.leader == TACIT_NO_ARM)
        return TACIT_REFUSED;
    if (judge.finished)
        return TACIT_OK;
    tacit_phased_hub_end(hub->state, now_us, &core_update);
    note_intervals(hub);
    carry_out(hub, &core_update, update);
    return TACIT_OK;
}

static const struct live_change_texts end_texts = {
    .privacy = "nothing more is released in this run; rewards of the open round never leave",
    .guarantee = "the leader is played to the end, or the arm of a guard where that may lose too "
                 "much, and all other arms are retired; what was known of it and of them stays in "
                 "the report, and nothing more was promised"};

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  void *message, const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    struct tacit_phased_message *const said = message;
    struct tacit_event const core_event = live_hub_core_event(hub, event, core_view(hub).term, said,
                                                              said == NULL ? NULL : &said->term);
    struct tacit_phased_update core_update;
    enum tacit_status const status = tacit_phased_hub_step(hub->state, &core_event, &core_update);
    carry_out(hub, &core_update, update);
    if (hub->helper != NULL) {
        struct live_report heard = {.head = NULL};
        if (said != NULL)
            heard = (struct live_report){&said->head, said->masked, said->sums, said->block_count};
        live_hub_note_helper(hub, event, &heard, core_update.happened, entropy, update);
    }
    if (event->kind == LIVE_HUB_START)
        change_arms(hub, event->now_us, update);
    return status;
}

static void hub_fill_view(const struct live_hub *hub, struct live_hub_view *view)
{
    struct phased_hub const *const own = hub->own;
    struct tacit_phased_hub_view const core = core_view(hub);
    *view = live_hub_show(hub, &core.desk);
    view->round_count = core.judge.round_count;
    view->pulls = core.judge.slots;
    view->active = own->active;
    view->active_count = tacit_bits_count(own->active, hub->config->arm_count);
    view->means = core.judge.means;
    view->intervals = &own->intervals;
    view->absent = own->absent;
}

const struct live_hub_ops phased_hub_ops = {.wire = &tacit_wire_phased,
                                            .has_terms = true,
                                            .is_rebuilt = true,
                                            .core = &tacit_phased_hub_live,
                                            LIVE_HUB_FUNCTIONS,
                                            .epsilon_nano = live_hub_epsilon_nano,
                                            .begin = note_intervals,
                                            .snapshot = tacit_phased_hub_live_snapshot,
                                            .restore = tacit_phased_hub_live_restore,
                                            .hello = hub_hello,
                                            .round = hub_round,
                                            .close = hub_close,
                                            .commit = hub_commit,
                                            .end_texts = &end_texts,
                                            .change = hub_change};

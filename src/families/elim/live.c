/* A site of epoch elimination, as the daemons drive it (live/protocol.h): over a star an agent, in
 * a network of peers a peer with its table, which asks around before it plays its first plan. */
#include "../ladder.h"
#include "live.h"
#include "../../live/bus/envelope.h"
#include "../../live/player.h"
#include "settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIRM_US 60000000u /* so long the last word of all is waited for */
#define SLOT_US 20000u       /* what comes in within so long is passed on together */
#define ANSWERS_US 1000000u  /* so long a new peer waits for its neighbours' answers */
#define PROGRESS_US 4000000u /* a peer that waits, to the coordinator */
#define TROUBLE_BYTES 512u

/* ---- The core -------------------------------------------------------------------------------- */

static struct elim_site *own_of(const struct live_site *site)
{
    return site->own;
}

static const struct tacit_wire_elim_run *run_of(const struct live_site *site)
{
    return site->run;
}

static bool is_star(const struct live_site *site)
{
    return run_of(site)->network == TACIT_WIRE_ELIM_STAR;
}

static bool judges_for_itself(const struct live_site *site)
{
    return run_of(site)->network == TACIT_WIRE_ELIM_SPREAD;
}

/* A peer's table, behind its state in the same block. */
static void *table_behind(const void *state, const struct elim_site *own)
{
    return (unsigned char *)(uintptr_t)state + own->core_size;
}

static struct tacit_elim_table *table_of(const struct live_site *site)
{
    TACIT_ASSERT(!is_star(site));
    TACIT_ASSERT(own_of(site)->core_size < site->state_size);
    return table_behind(site->state, own_of(site));
}

enum tacit_status elim_site_feed(const struct live_site *site, const struct tacit_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_elim_update *update)
{
    return is_star(site)
               ? tacit_elim_agent_step(site->state, event, entropy, update)
               : tacit_elim_peer_step(site->state, table_of(site), event, entropy, update);
}

/* False: over a star, where there is none. */
static bool get_peer_view(const struct live_site *site, struct tacit_elim_peer_view *view)
{
    if (!is_star(site))
        tacit_elim_peer_view(site->state, view);
    return !is_star(site);
}

void elim_site_view(const struct live_site *site, struct tacit_elim_agent_view *view)
{
    tacit_elim_agent_view(is_star(site) ? site->state : tacit_elim_peer_agent(site->state), view);
}

struct tacit_elim_message elim_site_release(const struct live_site *site)
{
    struct tacit_elim_agent_view view;
    elim_site_view(site, &view);
    if (is_star(site) || view.committed)
        return tacit_elim_agent_draw(is_star(site) ? site->state
                                                   : tacit_elim_peer_agent(site->state));
    return tacit_elim_peer_release(site->state, table_of(site));
}

/* Rows that a payload has room for, each with what opens it, beside what every message has. */
static uint32_t rows_max(const struct tacit_wire_elim_run *run)
{
    size_t const sets =
        (TACIT_BITS_WORDS(run->agent_count) + TACIT_BITS_WORDS(run->arm_count)) * sizeof(uint64_t);
    size_t const head = sets + 192;
    bool const is_signed = run->network == TACIT_WIRE_ELIM_SPREAD;
    size_t const row = run->arm_count * sizeof(int64_t) + 2 * TACIT_SHA256_BYTES +
                       (is_signed ? TACIT_SIGNATURE_BYTES : 0);
    return head + row > LIVE_ENVELOPE_BYTES_MAX
               ? 0
               : (uint32_t)((LIVE_ENVELOPE_BYTES_MAX - head) / row);
}

static bool has_helper(const struct tacit_wire_elim_run *run)
{
    return run->floor_milli != TACIT_ONE_AGGREGATOR;
}

bool elim_fits(const struct tacit_wire_elim_run *run)
{
    static const struct tacit_commit commit;
    static const struct tacit_helper_release masked;
    struct tacit_elim_message const report = {.kind = TACIT_ELIM_REPORT,
                                              .sum_count = run->arm_count,
                                              .commit = &commit,
                                              .masked = has_helper(run) ? &masked : NULL};
    struct tacit_wire_shape const shape = {.arm_count = run->arm_count,
                                           .agent_count = run->agent_count};
    return run->network != TACIT_WIRE_ELIM_STAR
               ? rows_max(run) > 0
               : live_message_fits(&tacit_wire_elim, &shape, &report);
}

static uint32_t member_count(const struct tacit_wire_elim_run *run)
{
    TACIT_ASSERT(run->network != TACIT_WIRE_ELIM_STAR);
    return run->members == NULL ? run->agent_count
                                : tacit_bits_count(run->members, run->agent_count);
}

static struct tacit_elim_schedule schedule_of(const struct tacit_wire_elim_run *run)
{
    bool const is_among_peers = run->network != TACIT_WIRE_ELIM_STAR;
    return (struct tacit_elim_schedule){.arm_count = run->arm_count,
                                        .report_count =
                                            is_among_peers ? member_count(run) : run->agent_count,
                                        .horizon = run->horizon,
                                        .epsilon_per_reward = tacit_nano_value(run->epsilon_nano),
                                        .floor_milli = run->floor_milli,
                                        .growth = run->growth,
                                        .confidence = run->confidence};
}

/* C(r) that this epoch's judgement will have if all report: what the numbers of the run say. 0:
 * there is no order, or nothing more to judge. */
static double radius_of(const struct live_site *site, const struct tacit_elim_agent_view *agent)
{
    struct tacit_elim_schedule const schedule = schedule_of(run_of(site));
    if (agent->epoch == 0 || agent->pulls == 0 || agent->last || has_helper(run_of(site)))
        return 0;
    return tacit_elim_radius(&schedule, agent->epoch, agent->active_count, agent->pulls,
                             schedule.report_count);
}

/* Does it judge by exact bounds? Then *rounds: how many it has judged. */
static bool judges_exactly(const struct live_site *site, uint32_t *rounds)
{
    struct tacit_elim_peer_view view;
    if (!get_peer_view(site, &view) || !view.is_exact)
        return false;
    *rounds = view.round_count;
    return true;
}

/* ---- Beginning ------------------------------------------------------------------------------- */

static struct tacit_elim_agent_config agent_config(const struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    struct live_site_config const *const own = &site->config;
    struct tacit_elim_agent_config config = {
        .run_id = run->run_id,
        .agent_id = run->agent,
        .agent_count = run->agent_count,
        .arm_count = run->arm_count,
        .horizon = run->horizon,
        .mechanism = own_of(site)->trust.mechanism,
        .budget_nano = tacit_nano_of(own->budget),
        .resend_after_us = own->resend_after_us,
        .epoch_max = own->rounds_max,
        .has_grants = true,
        .has_helper = has_helper(run),
        .change_max = is_star(site) && !has_helper(run) ? TACIT_ELIM_CHANGES_MAX : 0,
        .horizon_max = own->pulls_max};
    memcpy(config.domain, site->domain, sizeof config.domain);
    return config;
}

/* Ensures: core_size, which is 0 if the core does not take this configuration. */
static void configure_peer(struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    struct tacit_elim_peer_config *const peer = &own_of(site)->peer;
    bool const is_spread = judges_for_itself(site);
    TACIT_ASSERT(!is_star(site));
    *peer = (struct tacit_elim_peer_config){
        .agent = own_of(site)->agent,
        .collection = is_spread ? TACIT_ELIM_SPREAD : TACIT_ELIM_GATHER,
        .neighbours = live_site_set_neighbours(site, run->neighbours, run->neighbour_count),
        .neighbour_count = run->neighbour_count,
        .members = run->members,
        .parent = run->parent,
        .schedule = schedule_of(run),
        .rows_max = rows_max(run),
        .slot_us = SLOT_US,
        .signs_rows = is_spread,
        .confirm_us = CONFIRM_US,
        .gather_timeout_us = (uint64_t)run->gather_timeout_s * 1000000u};
    peer->schedule.round_limit = run->round_limit;
    peer->schedule.gap = run->gap;
    own_of(site)->core_size = tacit_elim_peer_size(peer);
}

/* That memory was short, site->room remembers; whoever called site_configure looks. */
static void make_room(struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    struct elim_site *const own = own_of(site);
    size_t const words = TACIT_BITS_WORDS(run->agent_count);
    uint64_t **const sets[] = {&own->missing, &own->nobody, &own->itself,
                               &own->flagged, &own->ahead,  &own->grantors};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        *sets[i] = live_room_allocate(&site->room, words, sizeof **sets[i]);
    own->trouble = live_room_allocate(&site->room, 1, TROUBLE_BYTES);
    own->changes = live_room_allocate(&site->room, TACIT_ELIM_CHANGES_MAX, sizeof *own->changes);
    own->lowers = live_room_allocate(&site->room, run->arm_count, sizeof *own->lowers);
    own->uppers = live_room_allocate(&site->room, run->arm_count, sizeof *own->uppers);
    if (own->itself != NULL)
        tacit_bits_add(own->itself, run->agent);
}

static enum tacit_status site_configure(struct live_site *site)
{
    struct elim_site *const own = own_of(site);
    own->run = site->run;
    TACIT_TRY(live_site_noise(site, &own->trust));
    make_room(site);
    own->answers_us = TACIT_NEVER;
    own->agent = agent_config(site);
    if (is_star(site))
        return TACIT_OK;
    configure_peer(site);
    site->sites = own->run->sites;
    return TACIT_OK;
}

/* With a peer's table behind it. 0: the core does not take this run, or a message would be too
 * long. */
static size_t core_size(const void *own)
{
    struct elim_site const *const site = own;
    struct tacit_wire_elim_run const *const run = site->run;
    if (!elim_fits(run))
        return 0;
    if (run->network == TACIT_WIRE_ELIM_STAR)
        return tacit_elim_agent_size(&site->agent);
    if (run->network == TACIT_WIRE_ELIM_SPREAD && run->sites == NULL)
        return 0;
    return site->core_size == 0 ? 0 : site->core_size + tacit_elim_peer_table_size(&site->peer);
}

static enum tacit_status core_init(void *state, const void *own)
{
    struct elim_site const *const site = own;
    if (site->run->network == TACIT_WIRE_ELIM_STAR)
        return tacit_elim_agent_init(state, &site->agent);
    tacit_elim_peer_table_init(table_behind(state, site), &site->peer, false);
    return tacit_elim_peer_init(state, &site->peer);
}

static enum tacit_status core_check(const void *state, size_t size, const void *own)
{
    struct elim_site const *const site = own;
    return site->run->network == TACIT_WIRE_ELIM_STAR
               ? tacit_elim_agent_check(state, size, &site->agent)
               : tacit_elim_peer_check(state, site->core_size, table_behind(state, site),
                                       size - site->core_size, &site->peer);
}

static const struct live_core core = {sizeof(struct elim_site), core_size, core_init, core_check};

/* Rounds that the run can have at most: as it says, or as the ladder of exact bounds has rungs of
 * which two arms fit into the horizon; of a ladder with more than there may be, one too many. 0:
 * that is not known before. */
static uint32_t rounds_of(const struct tacit_wire_elim_run *run)
{
    struct tacit_elim_schedule schedule = schedule_of(run);
    schedule.report_count = run->report_count;
    uint32_t rounds = 0;
    if (run->round_limit > 0 || run->growth <= 0)
        return run->round_limit;
    while (rounds <= TACIT_BOUNDS_RELEASES_MAX &&
           2 * tacit_elim_pulls(&schedule, rounds + 1, 2, 0) <= run->horizon)
        rounds++;
    return rounds;
}

/* The noise that the run reckons with against this site's own. */
static const char *site_objection(const struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    uint64_t const epsilon_nano = tacit_mechanism_cost_nano(&site->mechanism);
    char const *const trust = live_site_trust_objection(site);
    if (trust != NULL)
        return trust;
    if (run->growth > 0 && run->confidence <= 0 && run->horizon < 2)
        return "the run is of one pull, and its intervals hold with probability 1 - 1/horizon: "
               "never";
    if (rounds_of(run) > site->config.rounds_max)
        return "the run has more rounds than policy.rounds_max";
    if (live_site_reckoning(site) != NULL)
        return live_site_reckoning(site);
    /* A peer takes no row for possible that has more noise than its own. */
    if (!is_star(site) && run->epsilon_nano < epsilon_nano)
        return "the run reckons with a smaller epsilon per reward than policy.epsilon; among "
               "neighbours all have the same";
    return core_size(site->own) == 0 ? "the run does not fit into the messages of this network"
                                     : NULL;
}

/* Of a site that judges by exact bounds: once a round, what may be said of the arms. */
static void note_intervals(struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    double const confidence = ladder_confidence(run->confidence);
    uint32_t rounds = 0;
    if (!judges_exactly(site, &rounds))
        return;
    for (uint32_t arm = 0; arm < run->arm_count; arm++) {
        struct tacit_bounds_interval const interval =
            tacit_elim_peer_interval(site->state, arm, confidence);
        own_of(site)->lowers[arm] = interval.lower;
        own_of(site)->uppers[arm] = interval.upper;
    }
    own_of(site)->noted_rounds = rounds;
}

static void note_new_intervals(struct live_site *site)
{
    uint32_t rounds = 0;
    if (judges_exactly(site, &rounds) && rounds != own_of(site)->noted_rounds)
        note_intervals(site);
}

/* A peer that was restored before its first release asks around again before it plays (time_out).
 */
static void site_begin(struct live_site *site, bool is_restored)
{
    struct tacit_elim_agent_view view;
    elim_site_view(site, &view);
    note_intervals(site);
    own_of(site)->plan_is_held = is_restored && !is_star(site) && view.release_epoch == 0;
}

/* ---- Saying ---------------------------------------------------------------------------------- */

/* The coordinator of peers that judge for themselves is told where they are, for its status. Those
 * who wait say so again, so that who is silent is seen there; those who are through name
 * themselves.
 */
static void send_progress(struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    struct tacit_elim_agent_view view;
    if (!judges_for_itself(site))
        return;
    elim_site_view(site, &view);
    bool const is_over = view.last || view.finished;
    struct tacit_elim_message const hello = {.kind = TACIT_ELIM_HELLO,
                                             .from = run->agent,
                                             .to = TACIT_HUB,
                                             .run_id = run->run_id,
                                             .epoch = view.epoch,
                                             .origins = is_over ? own_of(site)->itself : NULL};
    own_of(site)->has_sent_end = own_of(site)->has_sent_end || is_over;
    live_site_send(site, &hello);
}

/* When that is due; TACIT_NEVER: it does not wait, or a hub asks it. */
static uint64_t progress_due_us(const struct live_site *site)
{
    struct tacit_elim_peer_view peer;
    struct tacit_elim_agent_view const *const view = &peer.agent;
    if (!judges_for_itself(site) || !get_peer_view(site, &peer))
        return TACIT_NEVER;
    bool const waits = (view->waiting || view->committed) && !view->last && !view->finished;
    bool const is_over = view->last || view->finished;
    return (waits && !peer.is_beyond_policy) || (is_over && !own_of(site)->has_sent_end)
               ? own_of(site)->progress_sent_us + PROGRESS_US
               : TACIT_NEVER;
}

/* The plan waits for the answers to the START that follows. A parent that holds nothing of the
 * present epoch yet would say nothing: it is asked for the epoch before, too. */
static void ask_around(struct live_site *site, uint64_t now_us)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    TACIT_ASSERT(run->network != TACIT_WIRE_ELIM_STAR);
    bool const has_parent = run->network == TACIT_WIRE_ELIM_GATHER && run->parent != run->agent;
    own_of(site)->plan_is_held = true;
    own_of(site)->answers_us = now_us + ANSWERS_US;
    struct tacit_elim_message const hello = {.kind = TACIT_ELIM_HELLO,
                                             .from = run->agent,
                                             .to = run->parent,
                                             .run_id = run->run_id,
                                             .origins = own_of(site)->nobody};
    if (has_parent)
        live_site_send(site, &hello);
}

/* The coordinator hears of a proof when it is new, and whenever it is connected to. */
static void send_proof(struct live_site *site)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    struct tacit_elim_peer_view view;
    if (!get_peer_view(site, &view) || view.proof == NULL)
        return;
    struct tacit_elim_message const said = {.kind = TACIT_ELIM_PROOF,
                                            .from = run->agent,
                                            .to = TACIT_HUB,
                                            .run_id = run->run_id,
                                            .epoch = view.proof_epoch,
                                            .proof = view.proof};
    live_site_send(site, &said);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool sign_row(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                     uint8_t signature[TACIT_SIGNATURE_BYTES])
{
    struct live_row_signer const *const signer = own_of(context)->event->signer;
    (void)agent;
    return signer->sign(signer->context, digest, signature);
}

static bool check_row(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                      const uint8_t signature[TACIT_SIGNATURE_BYTES])
{
    struct live_site const *const site = context;
    struct live_row_signer const *const signer = own_of(site)->event->signer;
    return signer->check(signer->context, run_of(site)->sites[agent], digest, signature);
}

/* The outbox is settled by what the hub says to this site alone, also with the grant of a report
 * that it does not ask for any more. What neighbours say settles nothing. */
static void limit_answer(const struct live_site *site, struct tacit_elim_message *said)
{
    struct tacit_elim_agent_view view;
    elim_site_view(site, &view);
    bool const is_of_hub = said->from == TACIT_HUB;
    said->closed =
        is_of_hub && (said->closed || (said->kind == TACIT_ELIM_GRANT && !view.is_asked));
    said->seen = is_of_hub ? said->seen : 0;
}

/* A step of the core. A hub always answers the question that follows a first order
 * (live_player_step); neighbours only if they have seen more of this site, so a peer waits before
 * it plays: START gives its plan once more. */
static enum tacit_status step_core(struct live_site *site, const struct tacit_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_player_made *made)
{
    struct elim_site *const own = own_of(site);
    struct tacit_elim_update *const update = &own->update;
    struct tacit_row_signer const signer = {site, sign_row, check_row};
    struct tacit_event signed_event = *event;
    signed_event.signer = &signer;
    enum tacit_status const status =
        own->event->kind == LIVE_SITE_REFUSE && event->kind == TACIT_EVENT_TIMEOUT
            ? tacit_elim_agent_refuse(site->state, own->event->as.refused_arm, &signed_event,
                                      entropy, update)
            : elim_site_feed(site, &signed_event, entropy, update);
    uint32_t const happened = update->happened;
    TACIT_IMPLIES((happened & TACIT_DREW) != 0, update->persist);
    own->happened |= happened;
    note_new_intervals(site);
    if ((happened & TACIT_WAS_ORDERED) != 0 && !is_star(site))
        ask_around(site, event->now_us);
    update->plan_is_void = event->kind != TACIT_EVENT_REWARD && update->plan_count == 0 &&
                           (happened & TACIT_ELIM_PLAN_OVER) != 0; /* open decisions are void */
    if (own->plan_is_held && (happened & (TACIT_BEGAN_TERM | TACIT_ENDED)) == 0)
        update->plan_count = 0;
    if ((happened & TACIT_DREW) != 0) /* among peers it leaves in rows, alone or among others' */
        own->drawn = elim_site_release(site);
    if (own->heard != NULL && event->kind == TACIT_EVENT_RECEIVE)
        limit_answer(site, own->heard);
    *made = (struct live_player_made){.update = &update->core,
                                      .message = &update->message,
                                      .is_report = update->message.kind == TACIT_ELIM_REPORT &&
                                                   is_star(site),
                                      .drawn = &own->drawn};
    return status;
}

static struct tacit_round_view play_view(const struct live_site *site)
{
    struct tacit_elim_agent_view view;
    elim_site_view(site, &view);
    return view.play;
}

static uint32_t arm_to_exploit(const struct live_site *site)
{
    struct tacit_elim_agent_view view;
    elim_site_view(site, &view);
    return view.exploit_arm;
}

static const struct live_player player = {offsetof(struct tacit_elim_message, head), step_core,
                                          play_view, arm_to_exploit};

static enum tacit_status play(struct live_site *site, const struct live_site_event *event,
                              struct tacit_elim_message *message,
                              const struct tacit_entropy *entropy, struct live_site_update *update)
{
    struct elim_site *const own = own_of(site);
    own->event = event;
    own->heard = message;
    own->happened = 0;
    enum tacit_status const status =
        live_player_step(site, &player, &own->trust, event, message, entropy, update);
    /* Whoever judges for itself and goes on to the next epoch knows that all had its report. */
    if ((own->happened & TACIT_ELIM_WENT_ON) != 0 && judges_for_itself(site)) {
        live_site_settle(site, play_view(site).release_number, update);
        send_progress(site);
    }
    if ((own->happened & TACIT_ELIM_PROVED) != 0)
        send_proof(site);
    return status;
}

/* Two deadlines may have come: the core's, and that of the neighbours' answers. If nobody has
 * spoken up, START gives the plan. */
static enum tacit_status time_out(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    struct elim_site *const own = own_of(site);
    enum tacit_status status = TACIT_OK;
    bool const is_core_due = event->now_us >= site->deadline_us;
    if (own->plan_is_held && event->now_us >= own->answers_us) {
        struct live_site_event start = *event;
        start.kind = LIVE_SITE_START;
        start.as.begins_term = false;
        own->plan_is_held = false;
        own->answers_us = TACIT_NEVER;
        status = play(site, &start, NULL, entropy, update);
    }
    if (is_core_due)
        status = play(site, event, NULL, entropy, update);
    if (event->now_us >= progress_due_us(site)) {
        own->progress_sent_us = event->now_us;
        send_progress(site);
    }
    return status;
}

static enum tacit_status dispatch(struct live_site *site, const struct live_site_event *event,
                                  struct tacit_elim_message *message,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    struct elim_site *const own = own_of(site);
    if (event->kind == LIVE_SITE_TIMEOUT)
        return time_out(site, event, entropy, update);
    if (event->kind == LIVE_SITE_REFUSE && own->agent.change_max == 0) /* arms are agreed */
        return TACIT_UNEXPECTED;
    if (event->kind == LIVE_SITE_CONNECTED && own->plan_is_held)
        ask_around(site, event->now_us); /* after a restart this is the first time */
    enum tacit_status const status = play(site, event, message, entropy, update);
    if (event->kind == LIVE_SITE_CONNECTED) {
        send_progress(site);
        send_proof(site);
    }
    if (status == TACIT_REFUSED && message != NULL && message->kind == TACIT_ELIM_ORDER)
        own->is_beyond_policy = true;
    return status;
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   void *message, const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct elim_site *const own = own_of(site);
    enum tacit_status const status = dispatch(site, event, message, entropy, update);
    uint64_t const answers_us = own->plan_is_held ? own->answers_us : TACIT_NEVER;
    uint64_t const progress_us = progress_due_us(site);
    site->wake_us = answers_us < progress_us ? answers_us : progress_us;
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* Overwrites `sites` with the neighbours in `ranks`, a set of their positions among this site's
 * neighbours. Returns how many they are. */
static uint32_t ranks_to_sites(const struct live_site *site, const uint64_t *ranks, uint64_t *sites)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    memset(sites, 0, TACIT_BITS_WORDS(run->agent_count) * sizeof *sites);
    for (uint32_t rank = 0; rank < run->neighbour_count; rank++)
        if (tacit_bits_has(ranks, rank))
            tacit_bits_add(sites, site->neighbours[rank].agent);
    return tacit_bits_count(sites, run->agent_count);
}

/* Whose grant the draw that waits lacks: the first neighbour's, then those of all others; on the
 * way to a sink the parent's. */
static void fill_grantors(const struct live_site *site, const struct tacit_elim_peer_view *peer,
                          struct live_site_view *view)
{
    struct tacit_wire_elim_run const *const run = run_of(site);
    bool const is_first = peer->granted != NULL && !tacit_bits_has(peer->granted, 0);
    memset(own_of(site)->grantors, 0,
           TACIT_BITS_WORDS(run->agent_count) * sizeof *own_of(site)->grantors);
    if (!peer->agent.committed || peer->granted == NULL)
        return;
    view->grantors = own_of(site)->grantors;
    if (!judges_for_itself(site)) {
        if (run->parent != run->agent)
            tacit_bits_add(own_of(site)->grantors, run->parent);
        return;
    }
    for (uint32_t rank = 0; rank < (is_first ? 1u : run->neighbour_count); rank++)
        if (!tacit_bits_has(peer->granted, rank))
            tacit_bits_add(own_of(site)->grantors, run->neighbours[rank].agent);
}

/* What a peer shows beyond an agent. Sinks and sites of a graph wait for others; those on the way
 * to a sink do not. A decision that neighbours may still contradict shows as waiting. */
static void fill_peer_view(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_elim_peer_view peer;
    if (!get_peer_view(site, &peer))
        return;
    fill_grantors(site, &peer, view);
    view->is_beyond_policy = view->is_beyond_policy || peer.is_beyond_policy;
    struct tacit_wire_elim_run const *const run = run_of(site);
    uint64_t const *const members = run->members;
    memset(own_of(site)->missing, 0,
           TACIT_BITS_WORDS(run->agent_count) * sizeof *own_of(site)->missing);
    for (uint32_t agent = 0; agent < run->agent_count && peer.missing_count > 0; agent++)
        if ((members == NULL || tacit_bits_has(members, agent)) &&
            !tacit_bits_has(peer.known, agent))
            tacit_bits_add(own_of(site)->missing, agent);
    view->missing = own_of(site)->missing;
    view->missing_count = peer.missing_count;
    view->flagged = own_of(site)->flagged;
    view->flagged_count = ranks_to_sites(site, peer.flagged, own_of(site)->flagged);
    view->ahead = own_of(site)->ahead;
    view->ahead_count = ranks_to_sites(site, peer.ahead, own_of(site)->ahead);
    view->differing = peer.differing;
    view->differing_count =
        peer.differing == NULL ? 0 : tacit_bits_count(peer.differing, run->agent_count);
    view->forker = peer.proof == NULL ? 0 : 1 + peer.proof->agent;
    view->forked_epoch = peer.proof_epoch;
    bool const is_final = peer.confirmed || !judges_for_itself(site) || peer.round_count == 0;
    view->is_unconfirmed = peer.confirmed && peer.confirms && peer.missing_count > 0;
    view->is_waiting = view->is_waiting || (view->is_decided && !is_final);
    view->is_decided = view->is_decided && is_final;
    uint32_t rounds;
    if (!judges_exactly(site, &rounds))
        return;
    view->confidence = ladder_confidence(run->confidence);
    view->lowers = own_of(site)->lowers;
    view->uppers = own_of(site)->uppers;
}

/* Who has refused its release: a neighbour, or else the coordinator. */
static const char *refuser_of(const struct live_site *site)
{
    struct tacit_elim_peer_view peer;
    if (get_peer_view(site, &peer))
        for (uint32_t i = 0; i < run_of(site)->neighbour_count; i++)
            if (site->neighbours[i].agent == peer.refused_by)
                return site->neighbours[i].site;
    return TACIT_WIRE_COORDINATOR;
}

/* Written into the site's `trouble`, which stays until the next call. */
static const char *block_text(const struct live_site *site, bool is_forgotten)
{
    char const *const refuser = refuser_of(site);
    if (is_forgotten)
        (void)snprintf(own_of(site)->trouble, TROUBLE_BYTES,
                       "blocked: %s knows nothing of a grant that this site had of it: its state "
                       "is an old one; nothing is released until it grants again",
                       refuser);
    else
        (void)snprintf(own_of(site)->trouble, TROUBLE_BYTES,
                       "blocked: %s has granted another release of this site instead; either this "
                       "state is a copy or an old one, and nothing is released from it, or the "
                       "state of %s is old, or it does not say what is true",
                       refuser, refuser);
    return own_of(site)->trouble;
}

/* Why it is halted or blocked. NULL: it is neither. */
static const char *trouble_of(const struct live_site *site,
                              const struct tacit_elim_agent_view *agent)
{
    if (agent->blocked)
        return block_text(site, agent->forgotten);
    return agent->halted ? live_site_halt(site, *agent->ledger, agent->draw_number + 1) : NULL;
}

static bool is_retired(const struct tacit_elim_agent_view *agent, uint32_t arm)
{
    for (uint32_t i = 0; i < agent->change_count; i++)
        if (agent->changes[i].kind == TACIT_ELIM_RETIRE_ARM && agent->changes[i].subject == arm)
            return true;
    return false;
}

/* Does its operator refuse every arm that is in and not retired? It plays one of them all the same.
 */
static bool refuses_all(const struct tacit_elim_agent_view *agent, uint32_t arms)
{
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, agent->arms, arms) {
        bool const is_refused = tacit_bits_has(agent->refused, arm);
        if (!is_refused && !is_retired(agent, arm))
            return false;
        count += is_refused;
    }
    return count > 0;
}

static void site_fill_view(const struct live_site *site, struct live_site_view *view)
{
    struct tacit_elim_agent_view agent;
    elim_site_view(site, &agent);
    *view = live_site_show(site, &agent.play);
    view->active = agent.playable;
    view->active_count = agent.playable_count;
    view->round_pulls = agent.pulls;
    view->radius = radius_of(site, &agent);
    view->trouble = trouble_of(site, &agent);
    view->forgetful = agent.forgotten ? refuser_of(site) : NULL;
    view->draw_number = agent.committed ? agent.draw_number : agent.release_number;
    view->is_beyond_policy = own_of(site)->is_beyond_policy && !agent.last;
    view->no_estimates = has_helper(run_of(site)) ? LIVE_SITE_MASKED
                         : judges_for_itself(site)
                             ? "a site ranks the arms by its own noised sums; among neighbours "
                               "run.bounds: exact gives each of them an interval"
                             : "a site ranks the arms by its own noised sums; the coordinator has "
                               "the means over all sites, and its status shows them";
    fill_peer_view(site, view);
    if (agent.refused == NULL)
        return;
    view->changes = own_of(site)->changes;
    view->change_count =
        elim_changes_show(agent.changes, agent.change_count, own_of(site)->changes);
    view->refused = agent.refused;
    view->refuses_all = refuses_all(&agent, run_of(site)->arm_count);
    view->is_dropped = agent.dropped;
    view->horizon = agent.horizon;
}

/* All active arms were pulled alike: the largest noised sum has the best mean. */
static bool site_prefers(const struct live_site *site, uint32_t arm, uint32_t other)
{
    struct tacit_elim_agent_view view;
    elim_site_view(site, &view);
    if (view.noised ==
        NULL) /* masked: the one to play while it waits, and the others in their order */
        return arm != other && arm == view.exploit_arm;
    return view.noised[arm].steps > view.noised[other].steps;
}

static enum tacit_audience audience_of(const struct tacit_wire_elim_run *run)
{
    if (run == NULL || run->network == TACIT_WIRE_ELIM_STAR)
        return TACIT_AUDIENCE_STAR;
    return run->network == TACIT_WIRE_ELIM_SPREAD ? TACIT_AUDIENCE_GRAPH : TACIT_AUDIENCE_HYBRID;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    live_site_promise(config, TACIT_LEAVING_SUMS, promise);
    live_site_promise_trust(config, promise);
    promise->trust.audience = audience_of(site == NULL ? NULL : run_of(site));
}

const struct live_site_ops elim_site_ops = {.wire = &tacit_wire_elim,
                                            .has_terms = true,
                                            .keeps_digest = true,
                                            .events =
                                                LIVE_SITE_PLAN_EVENTS | 1u << LIVE_SITE_REFUSE,
                                            .core = &core,
                                            LIVE_SITE_FUNCTIONS,
                                            .objection = site_objection,
                                            .begin = site_begin,
                                            .prefers = site_prefers};

/* The core's effects. All changes of a round of the loop are one batch; nothing leaves before they
 * are durable. */
#include "agent_state.h"
#include "bus/topics.h"
#include "daemon/entropy.h"
#include "daemon/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Releases -------------------------------------------------------------------------------- */

/* Outbox = ledger: the bytes are kept as they go out, and go out as they are kept. */
static void record_release(struct agent *agent, const struct live_site_release *made)
{
    struct live_run_row const *const run = live_runs_now(&agent->runs.all);
    TACIT_ASSERT(run != NULL);
    struct live_release const release = {.number = run->releases_before + made->number,
                                         .epsilon_nano = made->epsilon_nano,
                                         .bytes = made->bytes,
                                         .size = made->size,
                                         .made_unix_s = (int64_t)time(NULL)};
    if (!live_daemon_begin(&agent->daemon))
        return;
    if (made->bytes == NULL) {
        live_daemon_fail(&agent->daemon, TACIT_MEMORY, "a release cannot be written");
        return;
    }
    /* INVALID: the store holds other bytes of this epoch: never send a second draw. */
    enum tacit_status const status = live_store_put_release(agent->daemon.store, &release);
    live_daemon_check(&agent->daemon, status,
                      status == TACIT_INVALID ? "a second release of one round"
                                              : "a release cannot be written");
}

/* The run's release of this number has arrived: its row of the ledger says so from now on. */
static void acknowledge(struct agent *agent, uint64_t number)
{
    if (live_daemon_begin(&agent->daemon))
        (void)live_store_acknowledge(agent->daemon.store,
                                     live_runs_now(&agent->runs.all)->releases_before + number);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* To the hub, or to one neighbour or all of them. */
static void publish(struct agent *agent, const struct live_message *message)
{
    TACIT_ASSERT(message->size > 0);
    if (agent->awaits_term)
        return;
    struct live_agent_config const *const config = agent->config;
    char const *const protocol = config->protocol->wire->name;
    char const *const federation = config->site.federation;
    char const *const site = config->site.site;
    struct live_site_role role;
    live_site_role(agent->site, &role);
    if (message->to == TACIT_HUB)
        live_member_send(&agent->member, message, TACIT_WIRE_COORDINATOR,
                         live_topic_up(federation, site, protocol).text);
    for (uint32_t i = 0; message->to != TACIT_HUB && i < role.neighbour_count; i++)
        if (message->to == TACIT_NEIGHBOURS || message->to == role.neighbours[i].agent)
            live_member_send(
                &agent->member, message, role.neighbours[i].site,
                live_topic_peer(federation, site, role.neighbours[i].site, protocol).text);
}

struct live_site_view agent_view(const struct agent *agent)
{
    struct live_site_view view = {0};
    if (agent->site != NULL)
        agent->config->protocol->fill_view(agent->site, &view);
    return view;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void log_progress(const struct live_site_view *before, const struct live_site_view *after)
{
    if (after->change_count > before->change_count)
        live_log(LIVE_LOG_WARNING, "change",
                 "the operator of the run has changed it %u times; see the status, and tacit "
                 "control",
                 after->change_count);
    if (after->epoch != before->epoch)
        live_log(LIVE_LOG_INFO, "order", "round %u: %u arms are in%s", after->epoch,
                 after->active_count, after->is_decided ? "; it is decided" : "");
    if (after->draw_number > before->draw_number && after->is_committed)
        live_log(LIVE_LOG_INFO, "committed", "round %llu is drawn; it waits for its grant",
                 (unsigned long long)after->draw_number);
    if (after->release_number != before->release_number && !after->draws_always)
        live_log(LIVE_LOG_INFO, "release", "round %llu, total loss %llu nano-epsilon",
                 (unsigned long long)after->release_number, (unsigned long long)after->spent_nano);
    if (after->trouble != NULL && before->trouble == NULL)
        live_log(LIVE_LOG_ERROR, after->is_blocked ? "two-states" : "halted", "%s", after->trouble);
    if (after->trouble == NULL && before->trouble != NULL)
        live_log(LIVE_LOG_WARNING, "granted", "the release of this state was granted after all");
}

/* Of this neighbour; TACIT_EVERYONE: of each. */
static void log_flagged(const struct agent *agent, const struct live_site_view *view, uint32_t who)
{
    struct live_site_role role;
    live_site_role(agent->site, &role);
    for (uint32_t i = 0; i < role.neighbour_count && view->flagged != NULL; i++) {
        struct tacit_wire_neighbour const neighbour = role.neighbours[i];
        if (tacit_bits_has(view->flagged, neighbour.agent) &&
            (who == TACIT_EVERYONE || who == neighbour.agent))
            live_log(LIVE_LOG_ERROR, "two-states",
                     "two states of site %s: it shows another release than the one that was "
                     "granted to it; a copy, a clone or an old state of it is running, or this "
                     "site's own state is an old one",
                     neighbour.site);
    }
}

void agent_format_forker(const struct live_site_role *role, const struct live_site_view *view,
                         char *words, size_t size)
{
    TACIT_ASSERT(view->forker > 0 && role->sites != NULL);
    (void)snprintf(words, size,
                   "site %s has signed two different rows of round %u, and shown them to different "
                   "sites: the proof is here; nothing is judged any more",
                   role->sites[view->forker - 1], view->forked_epoch);
}

static void log_forker(const struct agent *agent, const struct live_site_view *view)
{
    char words[256];
    struct live_site_role role;
    if (view->forker == 0)
        return;
    live_site_role(agent->site, &role);
    agent_format_forker(&role, view, words, sizeof words);
    live_log(LIVE_LOG_ERROR, "two-rows", "%s", words);
}

/* A step has shown that somebody has two states, or an old one. */
static void log_alarms(const struct agent *agent, const struct live_site_event *event,
                       const struct live_site_view *before, const struct live_site_view *after)
{
    if (after->flagged_count > before->flagged_count)
        log_flagged(agent, after,
                    event->kind == LIVE_SITE_RECEIVE ? event->as.message.from : TACIT_EVERYONE);
    if (before->forker == 0)
        log_forker(agent, after);
    if (after->differing_count > before->differing_count)
        live_log(LIVE_LOG_ERROR, "other-rows", "a site holds other rows than this one");
    if (after->ahead_count > before->ahead_count)
        live_log(LIVE_LOG_ERROR, "old-state",
                 "a neighbour shows a grant of this site that its state knows nothing of: another "
                 "state of it gave it, or the neighbour does not say what is true");
}

/* Names as many as fit, best first. */
static void name_arms(const struct agent *agent, const struct live_fallback *fallback, char text[],
                      size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < fallback->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 agent->config->site.arm_names[fallback->ranking[i]]);
}

/* Who has won, from what was released only. */
static void log_end(struct agent *agent, const struct live_site_view *before,
                    const struct live_site_view *after)
{
    char names[256];
    bool const is_decided = after->is_decided && !before->is_decided;
    bool const is_over = after->is_finished && !before->is_finished && !after->is_decided;
    if (!is_decided && !is_over)
        return;
    if (agent->config->protocol->command != NULL) { /* no arm is looked for */
        live_log(LIVE_LOG_INFO, "finished", "the run is over after %u rounds", after->epoch - 1);
        return;
    }
    struct live_fallback const fallback = agent_fallback(agent);
    name_arms(agent, &fallback, names, sizeof names);
    if (is_decided)
        live_log(LIVE_LOG_INFO, "decided", "%s wins the run, in round %u", names, after->epoch);
    else
        live_log(LIVE_LOG_INFO, "undecided",
                 "all %llu pulls of the run were played; still in, best first: %s",
                 (unsigned long long)after->pull_count, names);
}

/* Whatever was drawn leaves on the tick that this event names; and all words of it. How long
 * drawing may take goes by how many numbers a release has, at least one an arm. */
static void hold_release(struct agent *agent, const struct live_site_view *before,
                         const struct live_site_view *after, const struct live_site_update *update,
                         uint64_t event_us)
{
    uint64_t const arms = agent->config->site.arm_count;
    uint64_t const by_size = update->has_release ? update->release.size / sizeof(uint64_t) : 0;
    uint64_t const numbers =
        update->has_release && update->release.numbers > 0 ? update->release.numbers : by_size;
    uint64_t const most = numbers > arms ? numbers : arms;
    if (after->draw_number > before->draw_number && after->draws_always)
        live_daemon_hold_stream(&agent->daemon, event_us, most);
    else if (after->draw_number > before->draw_number)
        live_daemon_hold(&agent->daemon, event_us, most);
}

/* What was drawn from is gone from the core, and so are rewards of a term before: from the disk,
 * too, before anything of it leaves. What is drawn with every reward is drawn from memory only. */
static void erase_past(struct agent *agent, const struct live_site_view *before,
                       const struct live_site_view *after, const struct live_site_update *update)
{
    bool const has_drawn = after->draw_number > before->draw_number && !after->draws_always;
    if ((has_drawn || update->drops_open) && live_daemon_begin(&agent->daemon))
        live_store_erase_past(agent->daemon.store);
}

/* Open decisions for which a new plan has no room any more. */
struct leftovers {
    struct agent *agent;
    uint64_t count;
};

static void store_leftover(void *context, const struct live_decision_row *row)
{
    struct leftovers *const leftovers = context;
    leftovers->count++;
    agent_store_row(leftovers->agent, row);
    agent_unit_return_pull(leftovers->agent, row);
}

/* Persist, send, pull, set the timer. What is sent leaves after the commit of this round. Result:
 * how many open decisions lost their place in the plan. */
static uint64_t carry_out(struct agent *agent, const struct live_site_update *update,
                          uint64_t now_us)
{
    struct leftovers leftovers = {.agent = agent};
    if (update->persist) {
        agent->core_is_dirty = live_daemon_begin(&agent->daemon);
        agent->ranking_is_stale = true;
    }
    if (update->has_release)
        record_release(agent, &update->release);
    if (update->acknowledged > 0)
        acknowledge(agent, update->acknowledged);
    for (size_t i = 0; i < update->message_count && agent->daemon.status == TACIT_OK; i++)
        publish(agent, &update->messages[i]);
    if (update->drops_open)
        live_decisions_set_plan(agent->decisions, NULL, 0, store_leftover, &leftovers);
    if (update->has_plan)
        live_decisions_set_plan(agent->decisions, update->plan, update->plan_count, store_leftover,
                                &leftovers);
    if (update->has_task)
        agent_task_start(agent, &update->task);
    if (update->file != NULL)
        live_file_keep(agent->config->daemon.state_directory, update->file);
    if (update->deadline_us != agent->core_deadline_us) { /* most rewards leave it as it is */
        agent->core_deadline_us = update->deadline_us;
        live_timer_set(agent->core_timer, update->deadline_is_tick
                                              ? update->deadline_us
                                              : live_daemon_jitter(now_us, update->deadline_us));
    }
    return leftovers.count;
}

static bool sign_row(void *context, const uint8_t digest[32], uint8_t signature[64])
{
    struct agent const *const agent = context;
    return live_envelopes_sign_row(&agent->envelopes, digest, signature);
}

/* A key that is not there is asked for; until it comes no row of that site is good. */
static bool check_row(void *context, const char *site, const uint8_t digest[32],
                      const uint8_t signature[64])
{
    struct agent *const agent = context;
    bool const is_good = live_envelopes_check_row(&agent->envelopes, site, digest, signature);
    if (!is_good && !live_keys_know(agent->envelopes.keys, site))
        live_member_ask(&agent->member, site);
    return is_good;
}

/* What this site may show of the arms has become more: for its page. */
static void note_round(struct agent *agent, const struct live_site_view *view)
{
    struct live_site_config const *const site = &agent->config->site;
    double parts[LIVE_HISTORY_ARMS];
    bool const has_means = view->estimates != NULL && site->arm_count <= LIVE_HISTORY_ARMS;
    bool const has_intervals = view->confidence > 0;
    if (!has_means && !has_intervals)
        return;
    for (uint32_t arm = 0; has_means && arm < site->arm_count; arm++)
        parts[arm] = (view->estimates[arm] - site->lo) / (site->hi - site->lo);
    double const *const values[3] = {has_means ? parts : NULL, has_intervals ? view->lowers : NULL,
                                     has_intervals ? view->uppers : NULL};
    live_history_add(&agent->history, view->epoch, view->round_pulls, view->radius, view->active,
                     values);
}

/* choice: to be filled, of an OFFER; else NULL. */
static enum tacit_status step(struct agent *agent, struct live_site_event event,
                              struct live_decision_request *choice)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_NOISE);
    struct tacit_entropy const keys = live_entropy(LIVE_ENTROPY_KEYS);
    struct live_row_signer const signer = {agent, sign_row, check_row};
    struct live_site_update update;
    TACIT_ASSERT(agent->site != NULL);
    event.now_us = live_now_us();
    event.term = agent->envelopes.term;
    event.keys = &keys;
    event.signer = &signer;

    struct live_site_view const before = agent_view(agent);
    enum tacit_status const status = live_site_step(agent->site, &event, &entropy, &update);
    struct live_site_view const after = agent_view(agent);
    log_progress(&before, &after);
    log_alarms(agent, &event, &before, &after);
    if (status == TACIT_ENTROPY)
        live_log(LIVE_LOG_WARNING, "entropy",
                 "the system gives no randomness: nothing was drawn; it is tried again");
    if (choice != NULL) {
        choice->is_chosen = update.has_choice;
        choice->choice = update.choice;
        choice->kept = update.kept;
        choice->kept_size = update.kept_size;
    }

    hold_release(agent, &before, &after, &update, event.now_us);
    erase_past(agent, &before, &after, &update);
    uint64_t const leftovers = carry_out(agent, &update, event.now_us);
    agent_ledger_note(agent, &after);
    if (leftovers > 0) /* they are pulls all the same, from now on beside the plan */
        agent_count_played(agent, leftovers);

    if (after.active_count < before.active_count || after.is_decided != before.is_decided)
        agent_put_arms_since(agent);
    log_end(agent, &before, &after);
    if (after.epoch > before.epoch)
        note_round(agent, &after);
    return status;
}

enum tacit_status agent_step(struct agent *agent, struct live_site_event event)
{
    return step(agent, event, NULL);
}

enum tacit_status agent_offer(struct agent *agent, const struct tacit_offer *offer,
                              struct live_decision_request *choice)
{
    return step(agent, (struct live_site_event){.kind = LIVE_SITE_OFFER, .as.offer = *offer},
                choice);
}

void agent_log_trouble(struct agent *agent)
{
    struct live_site_view const view = agent_view(agent);
    if (view.trouble != NULL)
        live_log(LIVE_LOG_ERROR, view.is_blocked ? "two-states" : "halted", "%s", view.trouble);
    if (agent->site != NULL)
        log_flagged(agent, &view, TACIT_EVERYONE);
    log_forker(agent, &view);
}

void agent_count_played(struct agent *agent, uint64_t count)
{
    TACIT_ASSERT(count > 0);
    if (agent->site != NULL)
        (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_EXPLOITED,
                                                         .as.exploited_count = count});
}

/* Works out anew what agent_fallback tells. */
static void rank(struct agent *agent, const struct live_site_view *view)
{
    uint32_t const arms = agent->config->site.arm_count;
    agent->active_count = live_site_rank(agent->site, &agent->config->site, agent->ranking);
    TACIT_ASSERT(agent->active_count <= arms);
    tacit_bits_fill(agent->active, arms);
    if (view->active != NULL)
        memcpy(agent->active, view->active, TACIT_BITS_WORDS(arms) * sizeof(uint64_t));
    agent->ranking_is_stale = false;
}

struct live_fallback agent_fallback(struct agent *agent)
{
    struct live_site_view const view = agent_view(agent);
    if (agent->ranking_is_stale)
        rank(agent, &view);
    return (struct live_fallback){agent->active, agent->ranking, agent->active_count,
                                  view.is_decided || view.is_finished, agent->site == NULL};
}

struct live_fallback agent_fallback_for(struct agent *agent,
                                        const struct live_decision_request *request)
{
    bool const is_planned =
        request->unit == NULL && live_decisions_has_pull(agent->decisions, request);
    return is_planned ? (struct live_fallback){.active = NULL} : agent_fallback(agent);
}

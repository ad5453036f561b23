/* A site whose core plays in rounds, once for all families of such cores. */
#include "player.h"

/* Whose step it is, and what it is priced by. */
struct step {
    struct live_site *site;
    const struct live_player *player;
    uint64_t cost_nano;
    const struct tacit_entropy *entropy;
    struct live_site_update *update;
};

/* What was drawn goes into the ledger, whether it leaves or not; then the step's message leaves. */
static void send_made(const struct step *at, const struct live_player_made *made,
                      const struct tacit_round_view *view)
{
    struct live_site_release release = {.number = view->draw_number, .epsilon_nano = at->cost_nano};
    TACIT_IMPLIES((made->update->happened & TACIT_DREW) != 0, made->drawn != NULL);
    if ((made->update->happened & TACIT_DREW) != 0)
        live_site_record(at->site, made->drawn, &release, at->update);
    release.number = view->release_number;
    if (made->update->send && made->is_report)
        live_site_reveal(at->site, made->message, &release, at->update);
    else if (made->update->send)
        live_site_send(at->site, made->message);
}

/* One event of the core, and what it came to into the site's update; after a first order a second,
 * which asks the hub what it has seen of this site (live_player_step). */
static enum tacit_status feed(const struct step *at, const struct tacit_event *event)
{
    struct live_player_made made = {.drawn = NULL};
    enum tacit_status const status = at->player->step(at->site, event, at->entropy, &made);
    struct tacit_round_view const view = at->player->view(at->site);
    uint32_t const happened = made.update->happened;
    bool const has_plan = made.update->plan_count > 0 || made.update->plan_is_void ||
                          (happened & (TACIT_BEGAN_TERM | TACIT_ENDED)) != 0;
    at->update->persist = at->update->persist || made.update->persist;
    send_made(at, &made, &view);
    at->update->drops_open = at->update->drops_open || (happened & TACIT_BEGAN_TERM) != 0;
    if (at->player->last_arm != NULL && has_plan)
        live_site_plan(at->site, made.update->plan, view.last ? 0 : made.update->plan_count,
                       at->update);
    at->site->deadline_us = made.update->deadline_us;
    if ((happened & TACIT_WAS_ORDERED) != 0) {
        struct tacit_event start = *event;
        start.kind = TACIT_EVENT_START;
        start.as.term = 0;
        (void)feed(at, &start);
    }
    return status;
}

struct tacit_event live_player_event(const struct live_site *site,
                                     const struct live_site_event *came,
                                     const struct tacit_round_view *view, uint32_t last_arm)
{
    struct tacit_event made = {
        .now_us = came->now_us, .kind = live_event_kind(came), .keys = came->keys};
    uint64_t const left = view->horizon - view->pull_count;
    if (made.kind == TACIT_EVENT_START) /* the core counts the terms that it was in */
        made.as.term = view->term + (came->as.begins_term ? 1 : 0);
    if (made.kind == TACIT_EVENT_REWARD)
        made.as.reward = live_event_reward(site, came);
    if (made.kind != TACIT_EVENT_EXPLOITED)
        return made;
    uint64_t const count = came->as.exploited_count;
    made.as.exploited_count = count;
    if (view->last && !view->finished && last_arm != TACIT_NO_ARM) {
        made.kind = TACIT_EVENT_REWARD;
        made.as.reward =
            (struct tacit_reward){.arm = last_arm, .count = count < left ? count : left};
    }
    return made;
}

enum tacit_status live_player_step(struct live_site *site, const struct live_player *player,
                                   struct live_site_trust *trust,
                                   const struct live_site_event *event, void *message,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    struct step const at = {site, player, trust->cost_nano, entropy, update};
    struct tacit_round_message *const head =
        message == NULL ? NULL : (void *)((unsigned char *)message + player->head_at);
    struct tacit_helper_keys const keys = live_site_helper_keys(trust);
    struct tacit_aggregators const aggregators = live_site_aggregators(trust, &keys, event->term);
    struct tacit_round_view view = player->view(site);
    struct tacit_event made = live_player_event(
        site, event, &view, player->last_arm == NULL ? TACIT_NO_ARM : player->last_arm(site));
    made.aggregators = &aggregators;
    if (head != NULL) {
        head->term = view.term; /* as its envelope said */
        made.as.message = message;
    }
    enum tacit_status const status = feed(&at, &made);
    view = player->view(site);
    if (head != NULL && (status == TACIT_OK || status == TACIT_REFUSED))
        live_site_on_answer(site, head, view.release_round, view.release_number, update);
    return status;
}

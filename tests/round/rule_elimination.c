/* Elimination over a star, for the storm (storm.h). */
#include <math.h>
#include "../support/testing.h"
#include "rule_elimination.h"
#include "../support/digest.h"
#include "../support/digest_views.h"
#include "../support/wire_shape.h"
#include "tacit/elim.h"
#include "tacit/wire_elim.h"

static const struct rule_elim *own_of(const struct storm_world *world)
{
    return world->own;
}

static const struct tacit_elim_agent_config *site_config(const struct storm_world *world,
                                                         uint32_t node)
{
    return &own_of(world)->sites[node % (world->sites + 1)];
}

static struct tacit_elim_schedule draw_schedule(struct storm_world *world, double epsilon)
{
    static const double confidences[] = {0, 0.9};
    uint64_t const horizon = 2000 + storm_below(world, 4000);
    double const confidence = confidences[storm_below(world, 2)];
    uint32_t const reports = 1 + storm_below(world, world->sites);
    bool const is_exact = world->has_helper || storm_below(world, 2) == 0;
    return (struct tacit_elim_schedule){.arm_count = world->arms,
                                        .report_count = is_exact ? world->sites : reports,
                                        .horizon = horizon,
                                        .epsilon_per_reward = epsilon,
                                        .floor_milli = world->floor_milli,
                                        .growth = is_exact ? 2 : 0,
                                        .confidence = is_exact ? confidence : 0};
}

void rule_elim_configure(struct storm_world *world, uint32_t sites, bool has_changes)
{
    struct rule_elim *const own = world->own = calloc(1, sizeof *own);
    double epsilon = 0;
    assert_non_null(own);
    struct tacit_mechanism const mechanism = storm_draw_rounds(world, sites, has_changes, &epsilon);
    struct tacit_elim_schedule const schedule = draw_schedule(world, epsilon);
    uint32_t const quorum = storm_draw_quorum(world, schedule.report_count);
    own->hub = (struct tacit_elim_hub_config){STORM_HUB_OF_ROUNDS(world, mechanism, quorum),
                                              .agent_count = world->sites, .schedule = schedule,
                                              .change_max = world->has_changes ? 6 : 0};
    for (uint32_t site = 0; site < world->sites; site++)
        own->sites[site] = (struct tacit_elim_agent_config){
            STORM_SITE_OF_ROUNDS(world, own->hub, site),
            .epoch_max = storm_below(world, 10) == 0 ? 1 + world->sites % 3 : 0,
            .change_max = own->hub.change_max};
}

static const struct rule_elim_sites agents;

static void configure(struct storm_world *world)
{
    rule_elim_configure(world, (world->has_helper ? 2 : 1) + storm_below(world, 4),
                        !world->has_helper);
    ((struct rule_elim *)world->own)->is = &agents;
}

STORM_SPOIL_ROUNDS(rule_elim)

static size_t state_size(const struct storm_world *world, uint32_t node)
{
    return node == world->sites ? tacit_elim_hub_size(&own_of(world)->hub)
                                : own_of(world)->is->size(world, node);
}

static enum tacit_status init(const struct storm_world *world, uint32_t node, void *state)
{
    return node == world->sites ? tacit_elim_hub_init(state, &own_of(world)->hub)
                                : own_of(world)->is->init(world, node, state);
}

static enum tacit_status check(const struct storm_world *world, uint32_t node, const void *state,
                               size_t size)
{
    return node == world->sites ? tacit_elim_hub_check(state, size, &own_of(world)->hub)
                                : own_of(world)->is->check(world, node, state, size);
}

static size_t agent_size(const struct storm_world *world, uint32_t node)
{
    return tacit_elim_agent_size(site_config(world, node));
}

static enum tacit_status agent_init(const struct storm_world *world, uint32_t node, void *state)
{
    return tacit_elim_agent_init(state, site_config(world, node));
}

static enum tacit_status agent_check(const struct storm_world *world, uint32_t node,
                                     const void *state, size_t size)
{
    return tacit_elim_agent_check(state, size, site_config(world, node));
}

static enum tacit_status agent_step(const struct storm_world *world, uint32_t node,
                                    const struct tacit_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *made)
{
    return tacit_elim_agent_step(world->nodes[node].state, event, entropy, made);
}

static const struct tacit_elim_agent *agent_itself(const void *state)
{
    return state;
}

static const struct rule_elim_sites agents = {agent_size, agent_init, agent_check, agent_step,
                                              agent_itself};

static const struct tacit_elim_agent *agent_at(const struct storm_world *world, uint32_t node)
{
    return own_of(world)->is->agent(world->nodes[node].state);
}

/* ---- Steps ---- */

static struct tacit_elim_update update;

static void report(enum tacit_status status, struct storm_update *out)
{
    *out = (struct storm_update){.status = status,
                                 .persist = update.persist,
                                 .persists_part = !update.persist_table,
                                 .drew = (update.happened & TACIT_DREW) != 0,
                                 .happened = update.happened,
                                 .flags = update.send | (uint64_t)update.happened << 1,
                                 .deadline_us = update.deadline_us,
                                 .has_plan = update.plan_count > 0 ||
                                             (update.happened & TACIT_ELIM_PLAN_OVER) != 0,
                                 .plan = update.plan,
                                 .plan_count = update.plan_count,
                                 .messages = {&update.message},
                                 .message_count = update.send ? 1 : 0};
}

/* Within T, and of arms that are left. */
static void check_plan(struct storm_world *world, uint32_t node,
                       const struct tacit_elim_agent_view *view)
{
    uint64_t const left = site_config(world, node)->horizon - view->pull_count;
    uint64_t length = 0;
    for (uint32_t i = 0; i < update.plan_count; i++) {
        length += update.plan[i].count;
        if (!tacit_bits_has(view->arms, update.plan[i].arm))
            storm_breaks(world, "an arm is planned that is out", node);
    }
    if (length > left)
        storm_breaks(world, "more is planned than is left until T", node);
}

static void step(struct storm_world *world, uint32_t node, const struct storm_event *event,
                 const struct tacit_entropy *entropy, struct storm_update *out)
{
    void *const state = world->nodes[node].state;
    struct tacit_event const made = storm_event_of(event);
    if (node == world->sites) {
        report(tacit_elim_hub_step(state, &made, entropy, &update), out);
        return;
    }
    struct tacit_elim_agent_view before;
    struct tacit_elim_agent_view after;
    tacit_elim_agent_view(agent_at(world, node), &before);
    enum tacit_status const status = own_of(world)->is->step(world, node, &made, entropy, &update);
    tacit_elim_agent_view(agent_at(world, node), &after);
    report(status, out);
    if (!world->has_changes)
        check_plan(world, node, &after);
    out->voids_rewards =
        after.term != before.term || (after.epoch != before.epoch && !before.committed);
}

/* The operator says something; or a site plays an arm no more. */
static void operate(struct storm_world *world)
{
    uint32_t const kind = storm_below(world, 7);
    uint32_t const at = kind == 6 ? storm_below(world, world->sites) : world->sites;
    struct storm_node *const node = &world->nodes[at];
    struct storm_event const event = {.kind = TACIT_EVENT_TIMEOUT};
    struct tacit_event const now = {.kind = TACIT_EVENT_TIMEOUT, .now_us = node->now_us};
    struct storm_update out;
    uint32_t number = 0;
    uint32_t const subject = storm_below(world, 6);
    uint32_t const value = storm_below(world, 9000);
    bool const has_value = storm_below(world, 2) == 0; /* most changes have none */
    struct tacit_elim_change const change = {.kind = kind,
                                             .subject = subject,
                                             .value = has_value ? value : 0,
                                             .made_unix_s = 1700000000};
    struct tacit_entropy const entropy = storm_entropy(world);
    void *const before = storm_before(world, at);
    enum tacit_status const status =
        kind == 6
            ? tacit_elim_agent_refuse(node->state, change.subject, &now, &entropy, &update)
            : tacit_elim_hub_change(node->state, &change, node->now_us, &entropy, &update, &number);
    world->changes += status == TACIT_OK || update.persist ? 1 : 0; /* refused, though not drawn */
    digest_word(number);
    report(status, &out);
    storm_after(world, at, before, &event, &out);
}

/* ---- Two aggregators ---- */

static struct storm_heard heard(const struct storm_world *world, const void *message)
{
    (void)world;
    struct tacit_elim_message const *const said = message;
    return (struct storm_heard){&said->head, said->masked,
                                (const uint64_t *)(const void *)said->sums, said->sum_count};
}

static struct tacit_helper_round round_of(const struct storm_world *world, const void *hub,
                                          struct tacit_pull_block *blocks)
{
    struct tacit_elim_hub_view view;
    uint32_t count = 0;
    tacit_elim_hub_view(hub, &view);
    struct tacit_helper_round round = {
        .term = view.term, .round = view.epoch, .count = view.active_count};
    tacit_elim_order_digest(view.new_pulls, view.arms, world->arms, round.order);
    TACIT_BITS_EACH (arm, view.arms, world->arms)
        blocks[count++] = (struct tacit_pull_block){.arm = arm, .count = view.new_pulls};
    return round;
}

STORM_CLOSE(tacit_elim_hub)

static bool has_words(const void *message)
{
    return ((const struct tacit_elim_message *)message)->masked != NULL;
}

static const struct storm_two two = {.heard = heard,
                                     .round = round_of,
                                     .protocol = &tacit_wire_elim,
                                     .has_words = has_words,
                                     .close = close_round};

STORM_SNAPSHOTS(tacit_elim_hub)

/* ---- What is said and shown ---- */

/* Is there a site for whose report the others may have to wait for good? */
static bool is_anybody_gone(const struct storm_world *world)
{
    bool is_gone = world->copied != 0 || world->changes > 0;
    for (uint32_t site = 0; site < world->sites; site++) {
        struct tacit_elim_agent_view view;
        tacit_elim_agent_view(agent_at(world, site), &view);
        is_gone |=
            view.halted || view.blocked || view.finished || site_config(world, site)->epoch_max > 0;
    }
    return is_gone;
}

static bool is_told_exactly(const struct storm_world *world)
{
    return isinf(own_of(world)->hub.schedule.epsilon_per_reward) != 0 && world->kind != STORM_WILD;
}

/* Where nothing is noised: a draw is the history of what its pulls brought, each once; .. */
static bool is_sum_of_pulls(const struct storm_world *world,
                            const struct tacit_elim_agent_view *view,
                            const struct tacit_elim_message *draw)
{
    uint32_t i = 0;
    for (uint32_t arm = tacit_bits_next(draw->arms, world->arms, 0);
         is_told_exactly(world) && arm < world->arms;
         arm = tacit_bits_next(draw->arms, world->arms, arm + 1), i++)
        if (tacit_bits_has(view->playable, arm)) /* of others rewards are forgotten */
            if (draw->sums[i].steps != storm_pull(world, arm) * (int64_t)view->pulls)
                return false;
    return true;
}

/* .. and what closed rounds say of an arm is its mean, however often the hub was built again. */
bool rule_elim_are_means_of_pulls(const struct storm_world *world, uint32_t round_count,
                                  const uint64_t *arms, const double *means)
{
    for (uint32_t arm = 0; is_told_exactly(world) && arm < world->arms; arm++)
        if (round_count > 0 && tacit_bits_has(arms, arm) && world->changes == 0)
            if (!storm_is_mean_of_pulls(world, arm, means[arm]))
                return false;
    return true;
}

static void look_at_site(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    struct tacit_elim_agent_view view;
    struct tacit_elim_agent const *const site = agent_at(world, node);
    tacit_elim_agent_view(site, &view);
    digest_elim_agent_view(&view, world->arms);
    bool const says_why = view.halted || view.blocked || (view.waiting && is_anybody_gone(world));
    *look = storm_look_of_site(view.head, view.ledger, view.finished || view.last, says_why);
    if (view.last && view.active_count == 1 && world->changes == 0)
        look->answer = 1 + tacit_bits_next(view.arms, world->arms, 0);
    if (view.committed) {
        struct tacit_elim_message const draw = tacit_elim_agent_draw(site);
        if (!is_sum_of_pulls(world, &view, &draw))
            look->broken = "a draw is not the sum of what was played";
        look->waiting = *draw.commit;
    }
}

static void look(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    struct tacit_elim_hub_view view;
    if (node != world->sites) {
        look_at_site(world, node, look);
        return;
    }
    tacit_elim_hub_view(world->nodes[node].state, &view);
    bool const waits = view.overdue || view.reports_missing > 0; /* and says for whom */
    digest_elim_hub_view(&view, world->arms, world->sites);
    for (uint32_t arm = 0; view.is_exact && arm < world->arms; arm++)
        storm_digest_interval(tacit_elim_hub_interval(world->nodes[node].state, arm, 0.9));
    *look = storm_look_of_hub(view.flagged, view.ahead, view.finished, waits);
    if (!rule_elim_are_means_of_pulls(world, view.round_count, view.arms, view.means))
        look->broken = "closed rounds are not those of what was played";
}

/* ---- Messages ---- */

static size_t message_size(const struct storm_world *world, const void *message)
{
    return tacit_elim_message_size(message, world->arms, world->sites);
}

static void *message_copy(const struct storm_world *world, const void *message, void *memory)
{
    (void)tacit_elim_message_copy(message, world->arms, world->sites, memory);
    return memory;
}

/* No codec lets an arm pass that does not exist (wire/elim.c). */
static void mend(const struct storm_world *world, void *message)
{
    struct tacit_elim_message *const said = message;
    uint64_t *const refused = (uint64_t *)(uintptr_t)said->refused;
    if (refused != NULL)
        refused[0] &= (UINT64_C(1) << world->arms) - 1;
}

STORM_MESSAGES(tacit_elim_message, TACIT_ELIM)

#define FIELD(member) STORM_FIELD(struct tacit_elim_message, member)
static const struct storm_field fields[] = {
    FIELD(from), FIELD(to),     FIELD(run_id), FIELD(term),   FIELD(epoch), FIELD(seen),
    FIELD(last), FIELD(leader), FIELD(closed), FIELD(forgot), FIELD(pulls), FIELD(agents)};

const struct storm_rule rule_elimination = {.name = "elimination",
                                            .two = &two,
                                            .has_terms = true,
                                            .configure = configure,
                                            .spoil = spoil,
                                            .size = state_size,
                                            .init = init,
                                            .check = check,
                                            .step = step,
                                            .look = look,
                                            STORM_OF_MESSAGES(tacit_elim_message),
                                            .snapshot = snapshot,
                                            .restore = restore,
                                            .operate = operate,
                                            .found = {21570, 3183, 51441},
                                            .digest = UINT64_C(0xacb1e2f225567842),
                                            .verdicts = UINT64_C(0xe173420b23c11d19)};

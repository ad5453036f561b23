/* Play in phases, for the storm (storm.h). */
#include <math.h>
#include "../support/testing.h"
#include "storm.h"
#include "../support/digest.h"
#include "../support/digest_views.h"
#include "../support/phased_message.h"
#include "../support/wire_shape.h"
#include "tacit/phased.h"
#include "tacit/vote.h"
#include "tacit/wire_phased.h"

struct own {
    struct tacit_phased_agent_config sites[STORM_SITES_MAX];
    struct tacit_phased_hub_config hub;
};

STORM_CORES(tacit_phased_agent, tacit_phased_hub)

/* Published sums: a few rounds of all arms that are left. */
static struct tacit_phases draw_sums(struct storm_world *world, double epsilon)
{
    return (struct tacit_phases){.rule = TACIT_PHASES_SUMS,
                                 .arm_count = world->arms,
                                 .agent_count = world->sites,
                                 .horizon = 3000 + storm_below(world, 6000),
                                 .epsilon_per_reward = epsilon,
                                 .growth = TACIT_VOTE_POOL_GROWTH,
                                 .floor_milli = world->floor_milli,
                                 .confidence = 0.9,
                                 .accuracy = 0.05};
}

static struct tacit_phases draw_index(struct storm_world *world, double epsilon)
{
    static const double confidences[] = {0, 0.9};
    uint64_t const horizon = 1500 + storm_below(world, 3000);
    double const confidence = confidences[storm_below(world, 2)];
    uint32_t const arms_per_round = 2 + storm_below(world, 2);
    uint32_t const first = storm_below(world, 3) == 0 ? 2 : 0;
    bool const has_guard = storm_below(world, 5) == 0;
    return (struct tacit_phases){.rule = TACIT_PHASES_INDEX,
                                 .arm_count = world->arms,
                                 .first_count = first < world->arms ? first : 0,
                                 .agent_count = world->sites,
                                 .horizon = horizon,
                                 .epsilon_per_reward = epsilon,
                                 .growth = 2,
                                 .arms_per_round = arms_per_round,
                                 .floor_milli = world->floor_milli,
                                 .confidence = confidence,
                                 .guard_loss = has_guard ? 0.2 : 0};
}

static void configure_with(struct storm_world *world,
                           struct tacit_phases (*draw_schedule)(struct storm_world *, double))
{
    struct own *const own = world->own = calloc(1, sizeof *own);
    double epsilon = 0;
    assert_non_null(own);
    uint32_t const sites = (world->has_helper ? 2 : 1) + storm_below(world, 4);
    struct tacit_mechanism const mechanism = storm_draw_rounds(world, sites, true, &epsilon);
    struct tacit_phases const schedule = draw_schedule(world, epsilon);
    uint32_t const quorum = storm_draw_quorum(world, world->sites);
    own->hub = (struct tacit_phased_hub_config){STORM_HUB_OF_ROUNDS(world, mechanism, quorum),
                                                .schedule = schedule};
    for (uint32_t site = 0; site < world->sites; site++) {
        own->sites[site] =
            (struct tacit_phased_agent_config){STORM_SITE_OF_ROUNDS(world, own->hub, site),
                                               .round_max = storm_below(world, 10) == 0 ? 3 : 0};
        (void)storm_below(world, 10); /* the worlds of the seeds in `found` stay theirs */
    }
}

static void configure(struct storm_world *world)
{
    configure_with(world, draw_index);
}

static void configure_sums(struct storm_world *world)
{
    configure_with(world, draw_sums);
    world->gap = 0.15; /* so that a look or two are not enough */
}

STORM_SPOIL_ROUNDS(own)

/* ---- Steps ---- */

static struct tacit_phased_update update;

static void report(enum tacit_status status, struct storm_update *out)
{
    *out = (struct storm_update){.status = status,
                                 .persist = update.persist,
                                 .drew = (update.happened & TACIT_DREW) != 0,
                                 .voids_rewards = update.plan_is_void,
                                 .happened = update.happened,
                                 .flags = update.send | (uint64_t)update.plan_is_void << 1 |
                                          (uint64_t)update.happened << 2,
                                 .deadline_us = update.deadline_us,
                                 .has_plan = update.plan_count > 0 || update.plan_is_void,
                                 .plan = update.plan,
                                 .plan_count = update.plan_count,
                                 .messages = {&update.message},
                                 .message_count = update.send ? 1 : 0};
}

static void step(struct storm_world *world, uint32_t node, const struct storm_event *event,
                 const struct tacit_entropy *entropy, struct storm_update *out)
{
    void *const state = world->nodes[node].state;
    struct tacit_event const made = storm_event_of(event);
    if (node == world->sites) {
        report(tacit_phased_hub_step(state, &made, &update), out);
        return;
    }
    struct tacit_phased_agent_view before;
    struct tacit_phased_agent_view after;
    tacit_phased_agent_view(state, &before);
    enum tacit_status const status = tacit_phased_agent_step(state, &made, entropy, &update);
    tacit_phased_agent_view(state, &after);
    report(status, out);
    out->voids_rewards |=
        after.term != before.term || (after.round != before.round && !before.committed);
}

/* An arm comes, or goes. */
static void operate(struct storm_world *world)
{
    struct storm_node *const hub = &world->nodes[world->sites];
    struct storm_event const event = {.kind = TACIT_EVENT_TIMEOUT};
    struct storm_update out;
    uint32_t const arm = storm_below(world, world->arms + 1);
    void *const before = storm_before(world, world->sites);
    enum tacit_status const status =
        tacit_phased_hub_change(hub->state, arm, storm_below(world, 2) == 0, hub->now_us, &update);
    world->changes += status == TACIT_OK ? 1 : 0;
    report(status, &out);
    storm_after(world, world->sites, before, &event, &out);
}

/* ---- Two aggregators ---- */

static struct storm_heard heard(const struct storm_world *world, const void *message)
{
    (void)world;
    struct tacit_phased_message const *const said = message;
    return (struct storm_heard){&said->head, said->masked, (const uint64_t *)said->sums,
                                said->block_count};
}

static struct tacit_helper_round round_of(const struct storm_world *world, const void *hub,
                                          struct tacit_pull_block *blocks)
{
    struct tacit_phased_hub_view view;
    tacit_phased_hub_view(hub, &view);
    uint32_t const count = view.judge.plan_count;
    struct tacit_helper_round round = {
        .term = view.term, .round = view.judge.round, .count = count};
    assert_true(count <= world->arms);
    tacit_phased_plan_digest(view.judge.plan, count, round.order);
    if (count > 0)
        memcpy(blocks, view.judge.plan, count * sizeof *blocks);
    return round;
}

STORM_CLOSE(tacit_phased_hub)

static bool has_words(const void *message)
{
    return ((const struct tacit_phased_message *)message)->masked != NULL;
}

static const struct storm_two two = {.heard = heard,
                                     .round = round_of,
                                     .protocol = &tacit_wire_phased,
                                     .has_words = has_words,
                                     .close = close_round};

/* ---- What is said and shown ---- */

/* Is there a site for whose report the others may have to wait for good? */
static bool is_anybody_gone(const struct storm_world *world)
{
    bool is_gone = world->copied != 0;
    for (uint32_t site = 0; site < world->sites; site++) {
        struct tacit_phased_agent_view view;
        tacit_phased_agent_view(world->nodes[site].state, &view);
        is_gone |=
            view.halted || view.blocked || view.finished || site_config(world, site)->round_max > 0;
    }
    return is_gone;
}

/* Where nothing is noised: a draw is the sum of what its plan's pulls brought, each once; .. */
static bool is_sum_of_pulls(const struct storm_world *world,
                            const struct tacit_phased_agent_view *view,
                            const struct tacit_phased_message *draw)
{
    bool const is_exact = isinf(own_of(world)->hub.schedule.epsilon_per_reward) != 0;
    for (uint32_t i = 0; is_exact && i < view->block_count; i++)
        if (draw->sums[i] !=
            storm_pull(world, view->blocks[i].arm) * (int64_t)view->blocks[i].count)
            return false;
    return true;
}

/* .. and what closed rounds say of an arm is its mean, however often the hub was built again. One
 * that was put back without a term, as without grants, may ask for another plan in a round of which
 * old reports are on their way, which do not say what they are of. */
static bool are_means_of_pulls(const struct storm_world *world,
                               const struct tacit_phased_judge_view *judge)
{
    bool const is_exact = isinf(own_of(world)->hub.schedule.epsilon_per_reward) != 0 &&
                          (world->has_grants || !world->was_put_back);
    for (uint32_t arm = 0; is_exact && world->kind != STORM_WILD && arm < world->arms; arm++)
        if (judge->releases[arm] > 0)
            if (!storm_is_mean_of_pulls(world, arm, judge->means[arm]))
                return false;
    return true;
}

static void look_at_site(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    struct tacit_phased_agent_view view;
    void const *const site = world->nodes[node].state;
    tacit_phased_agent_view(site, &view);
    digest_phased_agent_view(&view);
    bool const says_why = view.halted || view.blocked || (view.waiting && is_anybody_gone(world));
    *look = storm_look_of_site(view.head, view.ledger, view.finished || view.last, says_why);
    look->answer = view.last && world->changes == 0 ? 1 + view.leader : 0;
    if (view.committed) {
        struct tacit_phased_message const draw = tacit_phased_agent_draw(site);
        if (!is_sum_of_pulls(world, &view, &draw))
            look->broken = "a draw is not the sum of what was played";
        look->waiting = *draw.commit;
    }
}

static void look(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    struct tacit_phased_hub_view view;
    tacit_phased_hub_view(world->nodes[world->sites].state, &view);
    bool const waits = view.overdue || view.reports_missing > 0; /* and says for whom */
    if (node != world->sites) {
        look_at_site(world, node, look);
        return;
    }
    digest_phased_hub_view(&view, world->arms, world->sites);
    for (uint32_t arm = 0; arm < world->arms; arm++)
        storm_digest_interval(tacit_phased_judge_interval(view.judge.judge, arm, 0.9));
    *look = storm_look_of_hub(view.flagged, view.ahead, view.judge.finished, waits);
    if (!are_means_of_pulls(world, &view.judge))
        look->broken = "closed rounds are not those of what was played";
}

/* ---- Messages ---- */

static size_t message_size(const struct storm_world *world, const void *message)
{
    (void)world;
    return phased_message_size(message);
}

static void *message_copy(const struct storm_world *world, const void *message, void *memory)
{
    (void)world;
    (void)phased_message_copy(message, memory);
    return memory;
}

static void mend(const struct storm_world *world, void *message)
{
    struct tacit_phased_message *const said = message;
    uint32_t const count = said->block_count;
    (void)world;
    said->kind = (enum tacit_round_kind)((unsigned)said->kind % 6);
    if (said->blocks == NULL && said->sums == NULL)
        said->block_count = 0;
    else
        said->block_count = count;
}

STORM_MESSAGES(tacit_phased_message, TACIT_ROUND)

#define FIELD(member) STORM_FIELD(struct tacit_phased_message, member)
static const struct storm_field fields[] = {
    FIELD(kind), FIELD(from), FIELD(to),     FIELD(run_id), FIELD(term),   FIELD(round),
    FIELD(seen), FIELD(last), FIELD(leader), FIELD(closed), FIELD(forgot), FIELD(round)};

const struct storm_rule rule_phased = {.name = "phased",
                                       .two = &two,
                                       .has_terms = true,
                                       .configure = configure,
                                       .spoil = spoil,
                                       STORM_OF_CORES,
                                       .step = step,
                                       .look = look,
                                       STORM_OF_MESSAGES(tacit_phased_message),
                                       .operate = operate,
                                       .found = {4818, 7703},
                                       .digest = UINT64_C(0x01e10af49887cef0),
                                       .verdicts = UINT64_C(0x70c49b50ef3c2c96)};

struct storm_rule rule_sums_in_rounds(void)
{
    struct storm_rule rule = rule_phased;
    rule.name = "sums in rounds";
    rule.configure = configure_sums;
    return rule;
}

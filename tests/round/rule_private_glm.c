/* The private linear bandit with flat releases, for the storm (storm.h). The context of an arm is
 * its unit vector, so that the sums say how often each was rewarded. */
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_shape.h"
#include "storm.h"
#include <math.h>
#include "tacit/gaussian.h"
#include "tacit/glm_sound.h"
#include "tacit/wire_glm.h"

#define D_MAX 5u
#define LARGE_EPSILON 1e5
#define DELTA 1e-6

struct own {
    struct tacit_glm_sound_site_config sites[STORM_SITES_MAX];
    struct tacit_glm_sound_hub_config hub;
};

STORM_CORES(tacit_glm_sound_site, tacit_glm_sound_hub)

/* In steps of the sums: 1 of the context's coordinate, and a reward of the arm's own. */
static int64_t reward_steps(const struct storm_world *world, uint32_t arm)
{
    return (world->view == STORM_AS_IT_IS ? 301 : 401) + 7 * (int64_t)arm;
}

static int64_t pull(const struct storm_world *world, uint32_t arm)
{
    return reward_steps(world, arm) * 1024;
}

static void configure(struct storm_world *world)
{
    static const double epsilons[] = {LARGE_EPSILON, 1, 5};
    struct own *const own = world->own = calloc(1, sizeof *own);
    assert_non_null(own);
    world->sites = (world->has_helper ? 2 : 1) + storm_below(world, 4);
    world->arms = 2 + storm_below(world, D_MAX - 1);
    world->is_noised = true;
    uint64_t const batches = 1 + storm_below(world, 5);
    uint64_t const horizon =
        batches * (1 + storm_below(world, world->has_helper ? 16 : 6)) + storm_below(world, 2);
    double const epsilon = world->has_helper ? LARGE_EPSILON : epsilons[storm_below(world, 3)];
    if (world->has_helper && world->floor_milli != TACIT_NO_FLOOR)
        world->floor_milli = (uint32_t)(LARGE_EPSILON * 1e3);
    bool const has_quorum = storm_below(world, 2) == 0;
    own->hub.model = (struct tacit_glm_private_model){
        .run_id = STORM_RUN_ID,
        .link = storm_below(world, 2) == 0 ? TACIT_LINALG_IDENTITY : TACIT_LINALG_LOGISTIC,
        .exploration = TACIT_GLM_PRACTICAL,
        .client_count = world->sites,
        .dimension = world->arms,
        .batch_count = batches,
        .epsilon = epsilon,
        .delta = DELTA,
        .failure = 0.05,
        .norm_bound = 1,
        .noise_bound = 0.5,
        .explore = storm_below(world, 2) == 0 ? 0.25 : 0};
    own->hub.quorum = has_quorum ? 1 + storm_below(world, world->sites) : 0;
    own->hub.round_timeout_us = has_quorum ? 3000 : 0;
    own->hub.floor_milli = world->has_helper ? world->floor_milli : TACIT_ONE_AGGREGATOR;
    own->hub.domain[0] = 7;
    for (uint32_t site = 0; site < world->sites; site++) {
        bool const is_poor = storm_below(world, 6) == 0;
        own->sites[site] =
            (struct tacit_glm_sound_site_config){.model = own->hub.model,
                                                 .epsilon = epsilon,
                                                 .delta = DELTA,
                                                 .horizon = horizon,
                                                 .cost_nano = 1000,
                                                 .budget_nano = is_poor ? 500 : 1000,
                                                 .resend_after_us = 700,
                                                 .site_id = site,
                                                 .round_max = storm_below(world, 10) == 0 ? 2 : 0,
                                                 .floor_milli = own->hub.floor_milli,
                                                 .domain = {7}};
    }
}

static void spoil(struct storm_world *world)
{
    struct own *const own = world->own;
    for (uint32_t site = 0; site < world->sites; site++)
        own->sites[site].epsilon /= 2;
    own->hub.quorum = world->sites + 1;
}

/* ---- Steps ---- */

static struct tacit_glm_sound_update update;
static double contexts[D_MAX * D_MAX];
static struct tacit_pull_block plan[D_MAX];

/* A context is asked for by whoever likes, in the storm and at batches that are open. */
static void invite(const struct storm_world *world, const struct tacit_glm_sound_site_view *view,
                   struct storm_update *out)
{
    bool const is_open = !view->last && !view->halted && (!world->is_calm || !view->waiting);
    for (uint32_t arm = 0; arm < world->arms; arm++)
        plan[arm] = (struct tacit_pull_block){.arm = arm, .count = 1};
    out->has_plan = out->status == TACIT_OK;
    out->plan = plan;
    out->plan_count = is_open ? world->arms : 0;
}

static void report(enum tacit_status status, struct storm_update *out)
{
    *out =
        (struct storm_update){.status = status,
                              .persist = update.persist,
                              .drew = (update.happened & TACIT_DREW) != 0,
                              .happened = update.happened,
                              .flags = update.send | (uint64_t)update.decided << 1 |
                                       (uint64_t)update.happened << 2 | (uint64_t)update.arm << 40,
                              .deadline_us = update.deadline_us,
                              .messages = {&update.message},
                              .message_count = update.send ? 1 : 0};
}

/* Whatever is no interaction is asked as a decision: of contexts that are none, or too long ones.
 */
static void offer(const struct storm_world *world, uint64_t count,
                  struct tacit_glm_sound_event *made)
{
    made->core.kind = TACIT_EVENT_OFFER;
    made->offer = (struct tacit_offer){world->arms, world->arms, contexts};
    for (uint32_t i = 0; i < world->arms * world->arms; i++)
        contexts[i] = count % 3 == 0 && i == 1 ? (double)NAN : (double)((i + count) % 5) - 2;
}

static void step(struct storm_world *world, uint32_t node, const struct storm_event *event,
                 const struct tacit_entropy *entropy, struct storm_update *out)
{
    void *const state = world->nodes[node].state;
    double context[D_MAX] = {0};
    struct tacit_glm_sound_event made = {.core = {.now_us = event->now_us,
                                                  .kind = event->kind,
                                                  .keys = event->keys,
                                                  .aggregators = event->aggregators}};
    if (event->kind == TACIT_EVENT_RECEIVE)
        made.core.as.message = event->message;
    else if (event->kind == TACIT_EVENT_START)
        made.core.as.term = event->term;
    else if (event->kind == TACIT_EVENT_REWARD && event->reward.count == 1 &&
             event->reward.arm < world->arms) {
        double const half = own_of(world)->hub.model.link == TACIT_LINALG_LOGISTIC ? 0.5 : 0;
        context[event->reward.arm] = 1;
        made.reward.context = context;
        made.reward.value = half + (double)reward_steps(world, event->reward.arm) / 1024;
    } else if (event->kind != TACIT_EVENT_TIMEOUT) {
        offer(world, event->count + event->reward.count, &made);
    }
    if (node == world->sites) {
        report(tacit_glm_sound_hub_step(state, &made.core, &update), out);
        return;
    }
    struct tacit_glm_sound_site_view before;
    struct tacit_glm_sound_site_view after;
    tacit_glm_sound_site_view(state, &before);
    uint64_t const term = before.term;
    enum tacit_status const status = tacit_glm_sound_site_step(state, &made, entropy, &update);
    tacit_glm_sound_site_view(state, &after);
    report(status, out);
    out->voids_rewards = after.term != term;
    invite(world, &after, out);
}

/* ---- What states show ---- */

/* Is there a site for whose report the others may have to wait for good? */
static bool is_anybody_gone(const struct storm_world *world)
{
    struct tacit_glm_sound_site_view view;
    uint32_t gone = world->copied == 0 ? 0 : 1;
    for (uint32_t site = 0; site < world->sites; site++) {
        tacit_glm_sound_site_view(world->nodes[site].state, &view);
        gone += view.halted || view.blocked || site_config(world, site)->round_max > 0 ? 1 : 0;
    }
    return gone > 0;
}

/* Where hardly anything is noised: a sum is that of whole interactions, each of which has its
 * context's square and its reward. */
static bool is_of_interactions(const struct storm_world *world, const int64_t *sums)
{
    uint32_t const d = world->arms;
    bool const is_exact =
        own_of(world)->hub.model.epsilon >= LARGE_EPSILON && world->view == STORM_AS_IT_IS;
    size_t diagonal = 0;
    for (uint32_t arm = 0; is_exact && world->kind != STORM_WILD && arm < d; arm++) {
        double const count = round((double)sums[diagonal] / (double)TACIT_GLM_PRIVATE_UNIT);
        double const reward = (double)sums[TACIT_LINALG_PACKED(d) + arm];
        if (fabs(reward - count * (double)pull(world, arm)) > 150e3)
            return false;
        diagonal += d - arm;
    }
    return true;
}

/* The last model is everybody's. */
static uint32_t answer_of(const struct storm_world *world,
                          const struct tacit_glm_sound_site_view *view)
{
    uint64_t mark = 0;
    if (!view->last || view->model != own_of(world)->hub.model.batch_count)
        return 0;
    for (uint32_t i = 0; i < world->arms; i++) {
        uint64_t bits;
        memcpy(&bits, &view->theta[i], sizeof bits);
        mark = (mark ^ bits) * UINT64_C(0x100000001b3);
    }
    return 1 + (uint32_t)(mark >> 34);
}

static void look_at_site(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    struct tacit_glm_sound_site_view view;
    void const *const site = world->nodes[node].state;
    tacit_glm_sound_site_view(site, &view);
    uint64_t const words[] = {
        view.round,     view.draw_round,  view.release_round,
        view.waiting,   view.last,        view.halted,
        view.committed, view.blocked,     view.forgotten,
        view.reported,  view.pull_count,  view.open_count,
        view.term,      view.draw_number, view.release_number,
        view.model,     view.releases,    tacit_ledger_spent_nano(view.ledger)};
    digest_bytes(words, sizeof words);
    digest_bytes(view.head, TACIT_SHA256_BYTES);
    bool const says_why = view.halted || view.blocked || (view.waiting && is_anybody_gone(world));
    *look = storm_look_of_site(view.head, view.ledger, view.last, says_why);
    look->answer = answer_of(world, &view);
    if (view.committed) {
        struct tacit_glm_sound_message const draw = tacit_glm_sound_site_draw(site);
        if (!world->has_helper && !is_of_interactions(world, draw.sums))
            look->broken = "a draw is not the sum of what was played";
        look->waiting = *draw.commit;
    }
}

static void look(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    struct tacit_glm_sound_hub_view view;
    tacit_glm_sound_hub_view(world->nodes[world->sites].state, &view);
    bool const waits = view.reports_missing > 0 || view.overdue; /* and says for whom */
    if (node < world->sites || node > world->sites) {
        look_at_site(world, node, look);
        return;
    }
    uint64_t const words[] = {
        view.round,    view.finished,    view.overdue,    view.report_count, view.term,
        view.releases, view.received[0], view.flagged[0], view.ahead[0],     view.reports_missing};
    digest_bytes(words, sizeof words);
    digest_bytes(view.sums, TACIT_GLM_PRIVATE_SUMS(world->arms) * sizeof *view.sums);
    *look = storm_look_of_hub(view.flagged, view.ahead, view.finished, waits);
    if (!is_of_interactions(world, view.sums))
        look->broken = "closed batches are not those of what was played";
}

/* ---- Two aggregators ---- */

static struct storm_heard heard(const struct storm_world *world, const void *message)
{
    struct tacit_glm_sound_message const *const said = message;
    return (struct storm_heard){&said->head, said->masked, (const uint64_t *)said->sums,
                                (uint32_t)TACIT_GLM_PRIVATE_SUMS(world->arms)};
}

static struct tacit_helper_round round_of(const struct storm_world *world, const void *hub,
                                          struct tacit_pull_block *blocks)
{
    struct tacit_glm_sound_hub_view view;
    (void)blocks;
    tacit_glm_sound_hub_view(hub, &view);
    struct tacit_helper_round round = {.term = view.term,
                                       .round = view.round,
                                       .count = (uint32_t)TACIT_GLM_PRIVATE_SUMS(world->arms)};
    tacit_glm_sound_order_digest(view.sums, world->arms, round.order);
    return round;
}

STORM_CLOSE(tacit_glm_sound_hub)

static uint64_t rho_nano(void)
{
    return tacit_rho_of_epsilon_nano(LARGE_EPSILON, DELTA);
}

static void configure_helper(const struct storm_world *world, struct tacit_helper_config *config,
                             uint64_t *floor_nano)
{
    config->run.mechanism = TACIT_HELPER_GAUSSIAN;
    config->run.count_max = (uint32_t)TACIT_GLM_PRIVATE_SUMS(world->arms);
    config->run.steps = tacit_glm_sound_steps(own_of(world)->hub.model.link);
    config->epsilon_nano_max = rho_nano();
    *floor_nano = *floor_nano == 0 ? 0 : rho_nano();
}

static uint64_t high(const struct storm_world *world)
{
    return own_of(world)->sites[0].horizon * TACIT_GLM_PRIVATE_UNIT;
}

/* Contexts are unit vectors: there is nothing beside the diagonal, and each reward is its arm's. */
static const char *find_wrong(const struct storm_world *world,
                              const struct tacit_helper_request *request, const uint64_t *counted,
                              const int64_t *totals, double slack)
{
    (void)request;
    (void)counted;
    uint32_t const d = world->arms;
    size_t at = 0;
    bool is_wrong = !is_of_interactions(world, totals);
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = i; j < d; j++, at++)
            is_wrong = is_wrong ||
                       (j > i ? fabs((double)totals[at]) > slack : (double)totals[at] < -slack);
    return is_wrong ? "a total is not the sum of what was counted" : NULL;
}

static bool has_words(const void *message)
{
    return ((const struct tacit_glm_sound_message *)message)->masked != NULL;
}

static const struct storm_two two = {.heard = heard,
                                     .round = round_of,
                                     .protocol = &tacit_wire_glm_sound,
                                     .has_contexts = true,
                                     .has_words = has_words,
                                     .close = close_round,
                                     .configure = configure_helper,
                                     .high = high,
                                     .wrong = find_wrong};

/* ---- Messages ---- */

static size_t sums_bytes(const struct storm_world *world,
                         const struct tacit_glm_sound_message *message)
{
    return message->sums == NULL ? 0 : TACIT_GLM_PRIVATE_SUMS(world->arms) * sizeof(int64_t);
}

static size_t message_size(const struct storm_world *world, const void *message)
{
    struct tacit_glm_sound_message const *const said = message;
    return sizeof *said + sums_bytes(world, said) +
           (said->commit == NULL ? 0 : sizeof *said->commit) +
           (said->masked == NULL ? 0 : sizeof *said->masked);
}

static void *message_copy(const struct storm_world *world, const void *message, void *memory)
{
    struct tacit_glm_sound_message const *const said = message;
    struct tacit_glm_sound_message *const copy = memory;
    unsigned char *end = (unsigned char *)memory + sizeof *copy;
    *copy = *said;
    if (said->sums != NULL) {
        memcpy(end, said->sums, sums_bytes(world, said));
        copy->sums = (const int64_t *)(const void *)end;
        end += sums_bytes(world, said);
    }
    if (said->commit != NULL) {
        memcpy(end, said->commit, sizeof *said->commit);
        copy->commit = (const struct tacit_commit *)(const void *)end;
        end += sizeof *said->commit;
    }
    if (said->masked != NULL) {
        memcpy(end, said->masked, sizeof *said->masked);
        copy->masked = (const struct tacit_helper_release *)(const void *)end;
    }
    return memory;
}

static void mend(const struct storm_world *world, void *message)
{
    struct tacit_glm_sound_message *const said = message;
    (void)world;
    said->kind = (enum tacit_round_kind)((unsigned)said->kind % 6);
}

STORM_MESSAGES(tacit_glm_sound_message, TACIT_ROUND)

#define FIELD(member) STORM_FIELD(struct tacit_glm_sound_message, member)
static const struct storm_field fields[] = {
    FIELD(kind), FIELD(from), FIELD(to),     FIELD(run_id), FIELD(term),    FIELD(round),
    FIELD(seen), FIELD(last), FIELD(closed), FIELD(forgot), FIELD(releases)};

const struct storm_rule rule_private_glm = {.name = "private glm",
                                            .two = &two,
                                            .has_terms = true,
                                            .configure = configure,
                                            .spoil = spoil,
                                            .pull = pull,
                                            STORM_OF_CORES,
                                            .step = step,
                                            .look = look,
                                            STORM_OF_MESSAGES(tacit_glm_sound_message),
                                            /* no two draws are the same: all are noised */
                                            .impossible = 1u << STORM_HAS_NO_SALT,
                                            .digest = UINT64_C(0x6ed847623b380390),
                                            .verdicts = UINT64_C(0x7b2a4deea5185586)};

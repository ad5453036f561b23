/* A site of the private linear bandit with flat releases: decides by the sums that an order brought
 * and the present contexts only, adds up exact integers, draws once a batch. The round's machinery
 * is that of round/agent.c; open sums outlive a round that was overtaken, and end with a term: a
 * copy's may be in what the hub of before has granted. */
#include <string.h>
#include "../round/agent.h"
#include "sound.h"

struct tacit_glm_sound_site {
    struct tacit_glm_sound_site_config config;
    union {
        struct round_play play;
        struct {
            ROUND_PLAY_MEMBERS(round, draw_round, release_round)
        };
    };
    uint64_t open_count; /* rewards in the open sums */
    uint64_t model;      /* closed batches in what decides */
    uint64_t releases;   /* .. of all sites */
    double alpha;
    /* inverse M | theta s | open S | drawn S, the last two in integers | with two aggregators:
     * struct masking */
    double values[];
};

struct masking {
    uint8_t order[TACIT_SHA256_BYTES]; /* digest of the order that stands */
    struct tacit_helper_release release;
};

/* ---- Layout ---- */

static double *inverse_of(struct tacit_glm_sound_site *site)
{
    return site->values;
}

static double *theta_of(struct tacit_glm_sound_site *site)
{
    return site->values + TACIT_LINALG_MATRIX(site->config.model.dimension);
}

static int64_t *open_of(struct tacit_glm_sound_site *site)
{
    return (int64_t *)(void *)(theta_of(site) + TACIT_LINALG_STRIDE(site->config.model.dimension));
}

static int64_t *drawn_of(struct tacit_glm_sound_site *site)
{
    return open_of(site) + TACIT_GLM_PRIVATE_SUMS(site->config.model.dimension);
}

static bool has_helper(const struct tacit_glm_sound_site_config *config)
{
    return config->floor_milli != TACIT_ONE_AGGREGATOR;
}

static struct masking *masking_of(struct tacit_glm_sound_site *site)
{
    TACIT_ASSERT(has_helper(&site->config));
    return (struct masking *)(drawn_of(site) +
                              TACIT_GLM_PRIVATE_SUMS(site->config.model.dimension));
}

static uint32_t sum_count(const struct tacit_glm_sound_site *site)
{
    return (uint32_t)TACIT_GLM_PRIVATE_SUMS(site->config.model.dimension);
}

static size_t sum_bytes(const struct tacit_glm_sound_site *site)
{
    return sum_count(site) * sizeof(int64_t);
}

/* ---- Configuration ---- */

/* The run's rule, and that of the site's own noise. */
static enum tacit_status rules_of(const struct tacit_glm_sound_site_config *config,
                                  struct tacit_glm_private_rule *run,
                                  struct tacit_glm_private_rule *own)
{
    struct tacit_glm_private_model model = config->model;
    enum tacit_status const status = tacit_glm_sound_rule(run, &model, config->floor_milli);
    if (!has_helper(config)) { /* else the floor is the same to all */
        model.epsilon = config->epsilon;
        model.delta = config->delta;
    }
    return status == TACIT_OK ? tacit_glm_sound_rule(own, &model, config->floor_milli) : status;
}

static struct tacit_glm_private_rule rule_of(const struct tacit_glm_sound_site *site)
{
    struct tacit_glm_private_rule rule;
    enum tacit_status const status =
        tacit_glm_sound_rule(&rule, &site->config.model, site->config.floor_milli);
    TACIT_ASSERT(status == TACIT_OK);
    return rule;
}

static struct round_agent round_of(void *state)
{
    struct tacit_glm_sound_site *const site = state;
    return (struct round_agent){.play = &site->play,
                                .domain = site->config.domain,
                                .run_id = site->config.model.run_id,
                                .id = site->config.site_id,
                                .round_max = (uint32_t)site->config.model.batch_count + 1,
                                .round_limit = site->config.round_max,
                                .resend_after_us = site->config.resend_after_us,
                                .has_grants = true,
                                .is_numbered = false};
}

static bool config_is_valid(const struct tacit_glm_sound_site_config *config)
{
    struct tacit_glm_private_rule run;
    struct tacit_glm_private_rule own;
    return rules_of(config, &run, &own) == TACIT_OK && config->epsilon >= config->model.epsilon &&
           config->delta >= config->model.delta && config->cost_nano > 0 &&
           config->site_id < config->model.client_count &&
           config->horizon >= config->model.batch_count &&
           config->horizon <= glm_sound_batch_most(&run) && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_GLM_SOUND_PAUSE_US_MAX;
}

size_t tacit_glm_sound_site_size(const struct tacit_glm_sound_site_config *config)
{
    if (!config_is_valid(config))
        return 0;
    uint32_t const d = config->model.dimension;
    return sizeof(struct tacit_glm_sound_site) +
           (TACIT_LINALG_MATRIX(d) + TACIT_LINALG_STRIDE(d) + 2 * TACIT_GLM_PRIVATE_SUMS(d)) *
               sizeof(double) +
           (has_helper(config) ? sizeof(struct masking) : 0);
}

/* ---- The model ---- */

/* What cannot be made a model leaves the one before. */
static void learn(struct tacit_glm_sound_site *site, enum tacit_linalg_path path,
                  const int64_t *sums, uint64_t model, uint64_t releases)
{
    struct tacit_glm_private_rule const rule = rule_of(site);
    struct tacit_glm_private_estimate estimate;
    uint32_t const d = site->config.model.dimension;
    if (tacit_glm_private_learn(&rule, path, sums, &estimate) != TACIT_OK)
        return;
    memcpy(inverse_of(site), estimate.inverse, TACIT_LINALG_MATRIX(d) * sizeof(double));
    memcpy(theta_of(site), estimate.theta, TACIT_LINALG_STRIDE(d) * sizeof(double));
    site->alpha = estimate.alpha;
    site->model = model;
    site->releases = releases;
}

enum tacit_status tacit_glm_sound_site_init(struct tacit_glm_sound_site *site,
                                            const struct tacit_glm_sound_site_config *config)
{
    size_t const size = tacit_glm_sound_site_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(site, 0, size);
    site->config = *config;
    site->ledger = tacit_ledger_init(config->budget_nano);
    site->grants.resend.due_us = TACIT_NEVER;
    site->horizon = TACIT_HORIZON_MAX; /* how much is played is nobody's matter here */
    learn(site, TACIT_LINALG_PORTABLE, open_of(site), 0, 0);
    return TACIT_OK;
}

static void check_invariants(const struct tacit_glm_sound_site *site)
{
    TACIT_ASSERT(site->open_count <= site->config.horizon);
    TACIT_ASSERT(site->open_count <= site->pull_count);
    TACIT_ASSERT(site->model <= site->config.model.batch_count);
}

/* ---- Its part in a round (round/agent.h) ---- */

/* Every event is a part of this family's own. */
static const struct tacit_glm_sound_event *own_of(const struct tacit_event *event)
{
    return (const struct tacit_glm_sound_event *)(const void *)event;
}

static enum tacit_status check_order(void *state, const struct tacit_event *input)
{
    struct tacit_glm_sound_site const *const site = state;
    struct tacit_glm_sound_message const *const order = input->as.message;
    bool const is_end = order->round == site->config.model.batch_count + 1;
    return order->sums != NULL && order->last == is_end ? TACIT_OK : TACIT_MALFORMED;
}

static void learn_order(struct tacit_glm_sound_site *site, const struct tacit_event *input)
{
    struct tacit_glm_sound_message const *const order = input->as.message;
    learn(site, own_of(input)->path, order->sums, order->round - 1, order->releases);
    if (has_helper(&site->config))
        tacit_glm_sound_order_digest(order->sums, site->config.model.dimension,
                                     masking_of(site)->order);
}

/* The batch of a round is what it is, whatever else the order says. With two aggregators no release
 * is of use: what was masked in a term before is of no sum of this one. */
static bool reuse_release(void *state, const struct tacit_event *input)
{
    struct tacit_glm_sound_site *const site = state;
    if (has_helper(&site->config))
        return false;
    learn_order(site, input);
    return true;
}

/* A batch is open until it has its rewards, of which some may be there. */
static void open_batch(void *state, const struct tacit_event *input)
{
    struct tacit_glm_sound_site *const site = state;
    uint64_t const batch = site->config.horizon / site->config.model.batch_count;
    uint64_t const room = site->horizon - site->pull_count;
    uint64_t const wanted = batch > site->open_count ? batch - site->open_count : 0;
    TACIT_ASSERT(room > 0);
    learn_order(site, input);
    site->left_count = site->last || wanted > room ? room : wanted;
}

/* Whatever was decided when: it goes into the open sums. */
static enum tacit_status add_reward(void *state, const struct tacit_event *input)
{
    struct tacit_glm_sound_site *const site = state;
    bool const is_planned = site->phase == PHASE_PULLING;
    uint64_t const after = site->horizon - site->pull_count;
    if (input->kind != TACIT_EVENT_REWARD || /* there is no plan, so nothing is beside it */
        site->phase == PHASE_HALTED || after < (is_planned ? 1u : 2u))
        return TACIT_INVALID;
    site->pull_count++;
    site->left_count -= is_planned ? 1 : 0;
    if (!site->last && site->open_count < site->config.horizon) {
        glm_private_add(&site->config.model, &own_of(input)->reward, open_of(site));
        site->open_count++;
    }
    return TACIT_OK;
}

static uint64_t cost_nano(void *site, const struct tacit_event *event)
{
    (void)event;
    return ((struct tacit_glm_sound_site *)site)->config.cost_nano;
}

/* The open sums, noised once. */
static enum tacit_status draw(void *state, const struct tacit_entropy *entropy,
                              struct round_draw *drawn)
{
    struct tacit_glm_sound_site *const site = state;
    struct tacit_glm_private_rule run;
    struct tacit_glm_private_rule own;
    enum tacit_status status = rules_of(&site->config, &run, &own);
    TACIT_ASSERT(status == TACIT_OK);
    bool const is_masked = has_helper(&site->config);
    *drawn = (struct round_draw){.words = (uint64_t *)drawn_of(site),
                                 .count = sum_count(site),
                                 .masked = is_masked ? &masking_of(site)->release : NULL};
    status = glm_private_draw(&own, entropy, drawn_of(site));
    for (uint32_t i = 0; i < sum_count(site) && status == TACIT_OK; i++)
        drawn_of(site)[i] += open_of(site)[i];
    if (is_masked)
        memcpy(drawn->digest, masking_of(site)->order, sizeof drawn->digest);
    else
        glm_sound_digest(drawn_of(site), sum_count(site), drawn->digest);
    return status;
}

/* Of a draw, and of a term: a copy may have drawn them in the one before. */
static void erase_open(void *state)
{
    struct tacit_glm_sound_site *const site = state;
    memset(open_of(site), 0, sum_bytes(site));
    site->open_count = 0;
}

static void drop_drawn(void *state)
{
    struct tacit_glm_sound_site *const site = state;
    memset(drawn_of(site), 0, sum_bytes(site));
}

static const struct round_agent_rule site_rule = {
    .round = round_of,
    .head_at = offsetof(struct tacit_glm_sound_message, head),
    .check_order = check_order,
    .reuse_release = reuse_release,
    .plan = open_batch,
    .play = add_reward,
    .cost_nano = cost_nano,
    .draw = draw,
    .erase = erase_open,
    .drop = drop_drawn,
    .forget = drop_drawn,
    .begin_term = erase_open};

/* ---- Events ---- */

static struct tacit_glm_sound_message message_of(struct tacit_glm_sound_site *site,
                                                 enum tacit_round_kind kind)
{
    struct round_agent const round = round_of(site);
    bool const is_report = kind == TACIT_ROUND_REPORT;
    bool const is_masked = is_report && has_helper(&site->config);
    return (struct tacit_glm_sound_message){.kind = kind,
                                            .head = round_agent_head(&round),
                                            .sums = is_report ? drawn_of(site) : NULL,
                                            .masked =
                                                is_masked ? &masking_of(site)->release : NULL};
}

static void fill_update(struct tacit_glm_sound_site *site, const struct round_agent_made *made,
                        struct tacit_glm_sound_update *update)
{
    *update = (struct tacit_glm_sound_update){.core = round_agent_update(&site->play, made)};
    if (update->send)
        update->message = message_of(site, (enum tacit_round_kind)made->message_kind);
}

static enum tacit_status on_offer(struct tacit_glm_sound_site *site,
                                  const struct tacit_glm_sound_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_glm_sound_update *update)
{
    struct glm_private_scores const scores = {inverse_of(site), theta_of(site), site->alpha};
    TACIT_ASSERT(event->core.now_us >= site->now_us);
    *update = (struct tacit_glm_sound_update){.deadline_us = site->grants.resend.due_us};
    enum tacit_status const status =
        glm_private_decide(&site->config.model, event->path, &scores, &event->offer, entropy,
                           &update->arm, &update->probability);
    update->decided = status == TACIT_OK;
    return status;
}

enum tacit_status tacit_glm_sound_site_step(struct tacit_glm_sound_site *site,
                                            const struct tacit_glm_sound_event *event,
                                            const struct tacit_entropy *entropy,
                                            struct tacit_glm_sound_update *update)
{
    struct round_agent_made made;
    check_invariants(site);
    if (event->core.kind == TACIT_EVENT_OFFER)
        return on_offer(site, event, entropy, update);
    enum tacit_status const status =
        round_agent_step(&site_rule, site, &event->core, entropy, &made);
    check_invariants(site);
    fill_update(site, &made, update);
    return status;
}

/* ---- Check ---- */

/* What is masked may be anything. */
static bool sums_are_possible(struct tacit_glm_sound_site *site)
{
    struct tacit_glm_private_rule const rule = rule_of(site);
    int64_t const open_most = (int64_t)(site->open_count * TACIT_GLM_PRIVATE_UNIT);
    bool const is_drawn = site->draw_round == site->round && site->round > 0;
    int64_t const drawn_most = is_drawn ? glm_sound_most(&rule) : 0;
    return glm_sound_are_within(open_of(site), sum_count(site), open_most) &&
           ((is_drawn && has_helper(&site->config)) ||
            glm_sound_are_within(drawn_of(site), sum_count(site), drawn_most));
}

static bool model_is_possible(struct tacit_glm_sound_site *site)
{
    uint32_t const d = site->config.model.dimension;
    return site->alpha >= 0 && glm_is_finite(&site->alpha, 1) &&
           glm_is_finite(inverse_of(site), TACIT_LINALG_MATRIX(d)) &&
           glm_is_finite(theta_of(site), TACIT_LINALG_STRIDE(d)) &&
           site->model <= site->config.model.batch_count;
}

enum tacit_status tacit_glm_sound_site_check(const struct tacit_glm_sound_site *state, size_t size,
                                             const struct tacit_glm_sound_site_config *config)
{
    struct tacit_glm_sound_site *const site = (struct tacit_glm_sound_site *)(uintptr_t)state;
    if (size == 0 || size != tacit_glm_sound_site_size(config) ||
        memcmp(&site->config, config, sizeof *config) != 0)
        return TACIT_MALFORMED;
    struct round_agent const round = round_of(site);
    bool const is_possible = round_agent_is_possible(&round, config->budget_nano) &&
                             site->horizon == TACIT_HORIZON_MAX &&
                             site->open_count <= config->horizon &&
                             site->open_count <= site->pull_count &&
                             (site->release_round == 0 ||
                              site->release_number == site->number_base + site->release_round) &&
                             (site->phase != PHASE_PULLING || site->draw_round < site->round) &&
                             (site->last == (site->round == config->model.batch_count + 1)) &&
                             !site->cut && sums_are_possible(site) && model_is_possible(site);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

/* ---- View ---- */

struct tacit_glm_sound_message tacit_glm_sound_site_draw(const struct tacit_glm_sound_site *state)
{
    struct tacit_glm_sound_site *const site = (struct tacit_glm_sound_site *)(uintptr_t)state;
    TACIT_ASSERT(site->phase == PHASE_COMMITTED && site->draw_round == site->round);
    return message_of(site, TACIT_ROUND_REPORT);
}

void tacit_glm_sound_site_view(const struct tacit_glm_sound_site *state,
                               struct tacit_glm_sound_site_view *view)
{
    struct tacit_glm_sound_site *const site = (struct tacit_glm_sound_site *)(uintptr_t)state;
    struct round_agent const round = round_of(site);
    *view = (struct tacit_glm_sound_site_view){.play = round_agent_view(&round),
                                               .open_count = site->open_count,
                                               .model = (uint32_t)site->model,
                                               .releases = site->releases,
                                               .alpha = site->alpha,
                                               .theta = theta_of(site),
                                               .inverse = inverse_of(site)};
    view->waiting = view->waiting || view->releasing || view->committed; /* there is no plan */
}

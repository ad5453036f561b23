/* A site of the private linear bandit with flat releases: decides by the sums that an order brought
 * and the present contexts only, adds up exact integers, draws once a batch. The round's machinery
 * is that of round/play.c; open sums outlive a round that was overtaken, and end with a term: a
 * copy's may be in what the hub of before has granted. */
#include <string.h>
#include "../round/play.h"
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
    /* inverse M | theta s | open S | drawn S, the last two in integers */
    double values[];
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
    enum tacit_status const status = tacit_glm_sound_rule(run, &model);
    model.epsilon = config->epsilon;
    model.delta = config->delta;
    return status == TACIT_OK ? tacit_glm_sound_rule(own, &model) : status;
}

static struct tacit_glm_private_rule rule_of(const struct tacit_glm_sound_site *site)
{
    struct tacit_glm_private_rule rule;
    enum tacit_status const status = tacit_glm_sound_rule(&rule, &site->config.model);
    TACIT_ASSERT(status == TACIT_OK);
    return rule;
}

static struct round_agent round_of(const struct tacit_glm_sound_site *state)
{
    struct tacit_glm_sound_site *const site = (struct tacit_glm_sound_site *)(uintptr_t)state;
    return (struct round_agent){.play = &site->play,
                                .domain = site->config.domain,
                                .run_id = site->config.model.run_id,
                                .id = site->config.site_id,
                                .round_max = (uint32_t)site->config.model.batch_count + 1,
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
               sizeof(double);
}

/* ---- The model ---- */

/* What cannot be made a model leaves the one before. */
static void learn(struct tacit_glm_sound_site *site, enum tacit_linalg_path path,
                  const int64_t *sums, uint64_t model, uint64_t releases)
{
    struct tacit_glm_private_rule const rule = rule_of(site);
    struct tacit_glm_sound_estimate estimate;
    uint32_t const d = site->config.model.dimension;
    if (tacit_glm_sound_learn(&rule, path, sums, &estimate) != TACIT_OK)
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
    round_play_check_invariants(&site->play, (uint32_t)site->config.model.batch_count + 1, true);
    TACIT_ASSERT(site->open_count <= site->config.horizon);
    TACIT_ASSERT(site->open_count <= site->pull_count);
    TACIT_ASSERT(site->model <= site->config.model.batch_count);
}

/* ---- Messages out ---- */

static void send(struct tacit_glm_sound_site *site, enum tacit_glm_sound_kind kind,
                 struct tacit_glm_sound_update *update)
{
    struct round_agent const round = round_of(site);
    TACIT_ASSERT(kind != TACIT_GLM_SOUND_ORDER);
    update->send = true;
    update->message = (struct tacit_glm_sound_message){
        .kind = kind,
        .head = round_agent_head(&round),
        .sums = kind == TACIT_GLM_SOUND_REPORT ? drawn_of(site) : NULL};
}

/* Was this round's release drawn, and is it not known that the hub has it? */
static bool owes_report(const struct tacit_glm_sound_site *site)
{
    return site->round > 0 && site->release_round == site->round && !site->reported &&
           (site->phase == PHASE_WAITING || site->phase == PHASE_FINISHED);
}

/* What a site says that has waited long enough: its report again, or "what now?". Whether a release
 * of before is wanted in this term, an order says. */
static void ask_again(struct tacit_glm_sound_site *site, struct tacit_glm_sound_update *update)
{
    bool const is_wanted = owes_report(site) && !site->unplaced;
    send(site, is_wanted ? TACIT_GLM_SOUND_REPORT : TACIT_GLM_SOUND_HELLO, update);
}

/* ---- Releases ---- */

/* The open sums, noised once, and nothing of them is left. */
static enum tacit_status add_noise(struct tacit_glm_sound_site *site,
                                   const struct tacit_glm_sound_event *event,
                                   const struct tacit_entropy *entropy)
{
    struct tacit_glm_private_rule run;
    struct tacit_glm_private_rule own;
    int64_t drawn[TACIT_GLM_PRIVATE_SUMS_MAX];
    uint8_t digest[TACIT_SHA256_BYTES];
    struct round_agent const round = round_of(site);
    enum tacit_status status = rules_of(&site->config, &run, &own);
    TACIT_ASSERT(status == TACIT_OK);
    status = glm_private_draw(&own, entropy, drawn);
    for (uint32_t i = 0; i < sum_count(site) && status == TACIT_OK; i++)
        drawn[i] += open_of(site)[i];
    if (status == TACIT_OK) {
        glm_sound_digest(drawn, sum_count(site), digest);
        status = round_agent_commit(&round, digest, event->keys == NULL ? entropy : event->keys);
    }
    if (status == TACIT_OK) {
        memcpy(drawn_of(site), drawn, sum_bytes(site));
        memset(open_of(site), 0, sum_bytes(site));
        site->open_count = 0;
    }
    return status;
}

/* All or nothing; what it costs is spent with it. */
static enum tacit_status close_batch(struct tacit_glm_sound_site *site,
                                     const struct tacit_glm_sound_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_glm_sound_update *update)
{
    TACIT_ASSERT(site->phase == PHASE_RELEASING);
    struct tacit_ledger ledger = site->ledger;
    update->persist = true;
    if (tacit_ledger_spend(&ledger, site->number_base + site->round, site->config.cost_nano) !=
        TACIT_OK) {
        round_play_set_phase(&site->play, PHASE_HALTED);
        return TACIT_BUDGET;
    }
    enum tacit_status const status = add_noise(site, event, entropy);
    if (status != TACIT_OK)
        return status;
    site->ledger = ledger;
    site->draw_round = site->round;
    round_play_set_phase(&site->play, PHASE_COMMITTED);
    update->happened |= TACIT_DREW;
    send(site, TACIT_GLM_SOUND_COMMIT, update);
    return TACIT_OK;
}

static enum tacit_status on_grant(struct tacit_glm_sound_site *site,
                                  const struct tacit_glm_sound_message *grant,
                                  struct tacit_glm_sound_update *update)
{
    struct round_agent const round = round_of(site);
    bool is_granted;
    enum tacit_status const status = round_agent_hear_grant(&round, &grant->head, &is_granted);
    if (!is_granted)
        return status;
    round_play_start_waiting(&site->play);
    update->persist = true;
    if (!site->reported)
        send(site, TACIT_GLM_SOUND_REPORT, update);
    else if (site->phase == PHASE_WAITING)
        send(site, TACIT_GLM_SOUND_HELLO, update); /* there is a newer order */
    return TACIT_OK;
}

/* ---- Terms ---- */

/* Nothing that was drawn is of use any more, not even what was granted. */
static void forget_release(struct tacit_glm_sound_site *site)
{
    TACIT_ASSERT(site->unplaced);
    site->number_base = round_play_draw_number(&site->play);
    site->round = site->draw_round = site->release_round = 0;
    memset(drawn_of(site), 0, sum_bytes(site));
    round_site_forget_draw(&site->grants);
}

static void begin_term(struct tacit_glm_sound_site *site, uint64_t term,
                       struct tacit_glm_sound_update *update)
{
    bool const is_granted = site->round > 0 && site->release_round == site->round;
    update->persist = true;
    update->happened |= TACIT_BEGAN_TERM;
    round_play_begin_term(&site->play, term, is_granted);
    memset(open_of(site), 0, sum_bytes(site));
    site->open_count = 0;
    if (!is_granted)
        forget_release(site);
    round_play_rest(&site->play);
}

static enum tacit_status on_start(struct tacit_glm_sound_site *site, uint64_t term,
                                  struct tacit_glm_sound_update *update)
{
    if (term > site->term)
        begin_term(site, term, update);
    if (site->phase == PHASE_COMMITTED)
        send(site, TACIT_GLM_SOUND_COMMIT, update);
    else if (site->phase == PHASE_WAITING || owes_report(site))
        ask_again(site, update);
    else if (site->phase == PHASE_PULLING && !site->last)
        send(site, TACIT_GLM_SOUND_HELLO, update); /* what does the hub hold? (take_seen) */
    return TACIT_OK;
}

/* ---- Rewards ---- */

/* Whatever was decided when: it goes into the open sums. */
static enum tacit_status on_reward(struct tacit_glm_sound_site *site,
                                   const struct tacit_glm_sound_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_glm_sound_update *update)
{
    bool const is_planned = site->phase == PHASE_PULLING;
    bool const is_learnt = !site->last && site->open_count < site->config.horizon;
    uint64_t const after = site->horizon - site->pull_count;
    if (site->phase == PHASE_HALTED || after < (is_planned ? 1u : 2u))
        return TACIT_INVALID;
    update->persist = true;
    site->pull_count++;
    if (is_learnt) {
        glm_private_add(&site->config.model, &event->as.reward, open_of(site));
        site->open_count++;
    }
    if (!is_planned || --site->left_count > 0)
        return TACIT_OK;
    if (site->last) {
        round_play_start_waiting(&site->play);
        return TACIT_OK;
    }
    round_play_set_phase(&site->play, PHASE_RELEASING);
    return close_batch(site, event, entropy, update);
}

/* ---- Orders ---- */

static enum tacit_status halt_old_copy(struct tacit_glm_sound_site *site,
                                       struct tacit_glm_sound_update *update)
{
    round_play_set_phase(&site->play, PHASE_HALTED);
    site->left_count = 0;
    update->persist = true;
    return TACIT_ROLLBACK;
}

/* A batch is open until it has its rewards, of which some may be there. */
static enum tacit_status take_order(struct tacit_glm_sound_site *site,
                                    const struct tacit_glm_sound_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_glm_sound_update *update)
{
    struct tacit_glm_sound_message const *const order = event->as.message;
    uint64_t const batch = site->config.horizon / site->config.model.batch_count;
    uint64_t const room = site->horizon - site->pull_count;
    uint64_t const wanted = batch > site->open_count ? batch - site->open_count : 0;
    TACIT_ASSERT(order->round > site->round);
    TACIT_ASSERT(room > 0);
    update->persist = true;
    learn(site, event->path, order->sums, order->round - 1, order->releases);
    memset(drawn_of(site), 0, sum_bytes(site));
    site->round = order->round;
    site->last = order->last;
    site->reported = false;
    site->left_count = order->last || wanted > room ? room : wanted;
    site->grants.resend.unanswered_count = 0;
    round_play_set_phase(&site->play, PHASE_PULLING);
    if (site->left_count > 0)
        return TACIT_OK;
    round_play_set_phase(&site->play, PHASE_RELEASING);
    enum tacit_status const status = close_batch(site, event, entropy, update);
    return status == TACIT_ENTROPY ? TACIT_OK : status; /* the order was taken; it is tried again */
}

/* The first order of a term. The release of the very round that it asks for stands. */
static enum tacit_status take_place(struct tacit_glm_sound_site *site,
                                    const struct tacit_glm_sound_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_glm_sound_update *update)
{
    struct tacit_glm_sound_message const *const order = event->as.message;
    struct round_agent const round = round_of(site);
    TACIT_ASSERT(site->release_round == site->round && site->draw_round == site->round);
    update->persist = true;
    if (site->round > 0 && order->round == site->round && !order->last) {
        site->unplaced = false;
        round_agent_take_seen(&round, &order->head);
        learn(site, event->path, order->sums, order->round - 1, order->releases);
        if (!site->reported)
            send(site, TACIT_GLM_SOUND_REPORT, update);
        return TACIT_OK;
    }
    if (order->round <= site->round)
        forget_release(site);
    site->unplaced = false;
    site->reported = site->phase == PHASE_FINISHED; /* then nobody waits for this site */
    return site->reported ? TACIT_OK : take_order(site, event, entropy, update);
}

static enum tacit_status check_order(const struct tacit_glm_sound_site *site,
                                     const struct tacit_glm_sound_message *order)
{
    struct round_agent const round = round_of(site);
    enum tacit_status const status = round_agent_check_order(&round, &order->head);
    bool const is_last = order->round == site->config.model.batch_count + 1;
    return status == TACIT_OK && (order->sums == NULL || order->last != is_last) ? TACIT_MALFORMED
                                                                                 : status;
}

static enum tacit_status on_order(struct tacit_glm_sound_site *site,
                                  const struct tacit_glm_sound_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_glm_sound_update *update)
{
    struct tacit_glm_sound_message const *const order = event->as.message;
    struct round_agent const round = round_of(site);
    enum tacit_status const status = check_order(site, order);
    bool const is_new = site->unplaced || order->round > site->round;
    if (status != TACIT_OK || site->phase == PHASE_HALTED)
        return status;
    if (round_agent_is_old_copy(&round, &order->head))
        return halt_old_copy(site, update);
    if (is_new && !order->last && site->config.round_max > 0 &&
        order->round > site->config.round_max)
        return TACIT_REFUSED;
    if (is_new && site->phase == PHASE_COMMITTED) /* the round before is settled first */
        return TACIT_UNEXPECTED;
    if (site->unplaced)
        return take_place(site, event, entropy, update);
    round_agent_take_seen(&round, &order->head);
    return is_new && site->phase != PHASE_FINISHED ? take_order(site, event, entropy, update)
                                                   : TACIT_OK;
}

/* ---- Events ---- */

static enum tacit_status on_receive(struct tacit_glm_sound_site *site,
                                    const struct tacit_glm_sound_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_glm_sound_update *update)
{
    struct round_agent const round = round_of(site);
    struct tacit_glm_sound_message const *const message = event->as.message;
    switch (message->kind) {
    case TACIT_GLM_SOUND_ORDER:
        return on_order(site, event, entropy, update);
    case TACIT_GLM_SOUND_GRANT:
        return on_grant(site, message, update);
    case TACIT_GLM_SOUND_REFUSAL:
        return round_agent_hear_refusal(&round, &message->head, &update->persist);
    case TACIT_GLM_SOUND_HELLO:
    case TACIT_GLM_SOUND_REPORT:
    case TACIT_GLM_SOUND_COMMIT:
        return TACIT_UNEXPECTED; /* only hubs receive these */
    }
    return TACIT_MALFORMED;
}

static enum tacit_status on_timeout(struct tacit_glm_sound_site *site,
                                    const struct tacit_glm_sound_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_glm_sound_update *update)
{
    if (event->now_us < site->grants.resend.due_us)
        return TACIT_OK; /* a timer of an earlier update */
    if (site->phase == PHASE_RELEASING)
        return close_batch(site, event, entropy, update);
    if (site->phase == PHASE_COMMITTED)
        send(site, TACIT_GLM_SOUND_COMMIT, update);
    else if (site->phase == PHASE_WAITING || site->phase == PHASE_IDLE || owes_report(site))
        ask_again(site, update);
    return TACIT_OK;
}

static enum tacit_status on_offer(struct tacit_glm_sound_site *site,
                                  const struct tacit_glm_sound_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_glm_sound_update *update)
{
    struct glm_private_scores const scores = {inverse_of(site), theta_of(site), site->alpha};
    enum tacit_status const status =
        glm_private_decide(&site->config.model, event->path, &scores, &event->as.offer, entropy,
                           &update->arm, &update->probability);
    update->decided = status == TACIT_OK;
    return status;
}

static enum tacit_status handle(struct tacit_glm_sound_site *site,
                                const struct tacit_glm_sound_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_glm_sound_update *update)
{
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(site, event->as.term, update);
    case TACIT_EVENT_REWARD:
        return on_reward(site, event, entropy, update);
    case TACIT_EVENT_RECEIVE:
        return on_receive(site, event, entropy, update);
    case TACIT_EVENT_TIMEOUT:
        return on_timeout(site, event, entropy, update);
    case TACIT_EVENT_OFFER:
        return on_offer(site, event, entropy, update);
    case TACIT_EVENT_EXPLOITED: /* there is no plan, so nothing is beside it */
        break;
    }
    return TACIT_INVALID;
}

enum tacit_status tacit_glm_sound_site_step(struct tacit_glm_sound_site *site,
                                            const struct tacit_glm_sound_event *event,
                                            const struct tacit_entropy *entropy,
                                            struct tacit_glm_sound_update *update)
{
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= site->now_us);
    check_invariants(site);
    *update = (struct tacit_glm_sound_update){.deadline_us = TACIT_NEVER};
    enum phase const before = site->phase;
    bool const had_order = site->round > 0;
    bool const was_last = site->last;
    uint32_t const unanswered_before = site->grants.resend.unanswered_count;
    enum tacit_status const status = handle(site, event, entropy, update);
    update->happened |= !had_order && site->round > 0 ? TACIT_WAS_ORDERED : 0;
    update->happened |= !was_last && site->last ? TACIT_ENDED : 0;
    check_invariants(site);
    TACIT_IMPLIES(status != TACIT_OK, !update->send);
    TACIT_IMPLIES(site->phase != before, update->persist);
    if (event->kind != TACIT_EVENT_OFFER && (status == TACIT_OK || update->persist)) {
        struct round_site_step made = {.kind = event->kind,
                                       .now_us = event->now_us,
                                       .unanswered_before = unanswered_before,
                                       .sends = update->send};
        round_play_end_step(&site->play, site->config.resend_after_us,
                            site->phase == PHASE_FINISHED && owes_report(site), before, &made);
    }
    update->deadline_us = site->grants.resend.due_us;
    return status;
}

/* ---- Check ---- */

static bool sums_are_possible(struct tacit_glm_sound_site *site)
{
    struct tacit_glm_private_rule const rule = rule_of(site);
    int64_t const most = glm_sound_most(&rule);
    int64_t const open_most = (int64_t)(site->open_count * TACIT_GLM_PRIVATE_UNIT);
    bool const is_drawn = site->draw_round == site->round && site->round > 0;
    for (uint32_t i = 0; i < sum_count(site); i++) {
        int64_t const open = open_of(site)[i];
        int64_t const drawn = drawn_of(site)[i];
        if (open < -open_most || open > open_most || drawn < -most || drawn > most ||
            (!is_drawn && drawn != 0))
            return false;
    }
    return true;
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
    struct tacit_glm_sound_update update;
    TACIT_ASSERT(site->phase == PHASE_COMMITTED && site->draw_round == site->round);
    send(site, TACIT_GLM_SOUND_REPORT, &update);
    return update.message;
}

void tacit_glm_sound_site_look(const struct tacit_glm_sound_site *state,
                               struct tacit_glm_sound_site_view *view)
{
    struct tacit_glm_sound_site *const site = (struct tacit_glm_sound_site *)(uintptr_t)state;
    *view = (struct tacit_glm_sound_site_view){
        .round = site->round,
        .draw_round = site->draw_round,
        .release_round = site->release_round,
        .waiting = site->phase == PHASE_IDLE || site->phase == PHASE_WAITING ||
                   site->phase == PHASE_RELEASING || site->phase == PHASE_COMMITTED,
        .last = site->last,
        .halted = site->phase == PHASE_HALTED,
        .committed = site->phase == PHASE_COMMITTED,
        .blocked = site->grants.blocked != 0,
        .forgotten = site->grants.forgotten != 0,
        .reported = site->reported,
        .pull_count = site->pull_count,
        .open_count = site->open_count,
        .term = site->term,
        .draw_number = round_play_draw_number(&site->play),
        .release_number = site->release_number,
        .model = (uint32_t)site->model,
        .releases = site->releases,
        .alpha = site->alpha,
        .theta = theta_of(site),
        .inverse = inverse_of(site),
        .head = site->grants.head,
        .ledger = &site->ledger};
}

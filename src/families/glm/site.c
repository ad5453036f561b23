/* A site of a generalised linear bandit: the core behind the bytes of the bus. What is kept with a
 * decision is the number of the model, the probability and the chosen context; where the run
 * explores, all contexts too, for those who evaluate the log later. Nothing of it leaves the site.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "../../live/block.h"
#include "../../live/effects.h"
#include "live.h"
#include "plan.h"

/* What is kept, before the contexts. */
struct kept {
    uint64_t model;
    double probability;
    uint32_t dimension;
    uint32_t arm_count; /* of the contexts that follow the chosen one; 0: they are not kept */
};

struct live_site {
    const struct live_site_ops *ops;
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_glm_run *run;
    struct tacit_glm_client *core; /* in the block */
    struct live_block block;
    double lo; /* a reward is clipped to its public range */
    double hi;
    uint32_t arm_count;
    uint8_t *kept;
    struct live_effects effects;
    struct live_model shown;
};

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void site_free(struct live_site *site)
{
    if (site == NULL)
        return;
    free(site->announcement);
    free(site->run);
    live_block_free(&site->block);
    free(site->kept);
    live_effects_free(&site->effects);
    free(site);
}

static struct tacit_glm_client_config client_config(const struct live_site *site,
                                                    const struct live_site_config *config)
{
    return (struct tacit_glm_client_config){.model = site->run->model,
                                            .client_id = site->run->client_id,
                                            .resend_after_us = config->resend_after_us};
}

static size_t kept_bytes_max(uint32_t dimension, uint32_t arm_count)
{
    return sizeof(struct kept) + (1 + (size_t)arm_count) * dimension * sizeof(double);
}

/* The parts of a site, with a core of zeros. */
static enum tacit_status make(struct live_site **site, const struct live_site_config *config,
                              const uint8_t *announcement, size_t size)
{
    struct live_site *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = &glm_site_ops;
    (void)live_effects_init(&made->effects, 0);
    made->lo = config->lo;
    made->hi = config->hi;
    made->arm_count = config->arm_count;
    enum tacit_status status =
        tacit_wire_announcement_decode(announcement, size, &made->announcement);
    if (status == TACIT_OK)
        status = tacit_wire_glm_run_decode(made->announcement, &made->run);
    if (status == TACIT_OK) {
        struct tacit_glm_client_config const client = client_config(made, config);
        status =
            live_block_new(&made->block, announcement, size, NULL, tacit_glm_client_size(&client));
        made->kept = malloc(kept_bytes_max(client.model.dimension, config->arm_count));
        if (status == TACIT_OK && made->kept == NULL)
            status = TACIT_MEMORY;
    }
    if (status != TACIT_OK) {
        site_free(made);
        return status;
    }
    made->core = live_block_state(&made->block);
    *site = made;
    return TACIT_OK;
}

static bool has_features(const struct tacit_wire_glm_run *run, const struct glm_policy *policy)
{
    if (policy == NULL || policy->features == NULL)
        return true;
    if (policy->dimension != run->model.dimension)
        return false;
    for (uint32_t i = 0; i < run->model.dimension; i++)
        if (strcmp(policy->features[i], run->features[i]) != 0)
            return false;
    return true;
}

static enum tacit_status site_join(struct live_site **site, const struct live_site_config *config,
                                   const uint8_t *announcement, size_t size, const char **objection)
{
    struct live_site *made;
    enum tacit_status status = make(&made, config, announcement, size);
    if (status != TACIT_OK)
        return status;
    if (!has_features(made->run, config->settings)) {
        *objection = "the features of the run are not those of policy.features, in that order";
        site_free(made);
        return TACIT_REFUSED;
    }
    struct tacit_glm_client_config const client = client_config(made, config);
    status = tacit_glm_client_init(made->core, &client);
    TACIT_ASSERT(status == TACIT_OK); /* its size said that it is valid */
    *site = made;
    return TACIT_OK;
}

static enum tacit_status site_restore(struct live_site **site,
                                      const struct live_site_config *config, const void *bytes,
                                      size_t size)
{
    struct live_site *made;
    const uint8_t *announcement;
    size_t announcement_size;
    enum tacit_status status = live_block_read(bytes, size, &announcement, &announcement_size);
    if (status == TACIT_OK)
        status = make(&made, config, announcement, announcement_size);
    if (status != TACIT_OK)
        return status;
    struct tacit_glm_client_config const client = client_config(made, config);
    status = live_block_take(&made->block, bytes, size);
    if (status == TACIT_OK)
        status = tacit_glm_client_check(made->core, live_block_state_size(&made->block), &client);
    if (status == TACIT_OK)
        *site = made;
    else
        site_free(made);
    return status;
}

static const void *site_bytes(const struct live_site *site, size_t *size)
{
    *size = site->block.size;
    return site->block.bytes;
}

static bool site_is_of(const struct live_site *site, const uint8_t *announcement, size_t size)
{
    return live_block_is_of(&site->block, announcement, size);
}

static const struct tacit_wire_agreement *site_agreement(const struct live_site *site)
{
    return &site->announcement->agreement;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static struct tacit_glm_client_view core_view(const struct live_site *site)
{
    struct tacit_glm_client_view view;
    tacit_glm_client_look(site->core, &view);
    return view;
}

static void send(struct live_site *site, const struct tacit_glm_message *message)
{
    uint32_t const d = site->run->model.dimension;
    uint32_t const clients = site->run->model.client_count;
    struct live_message const made = {.to = message->to,
                                      .kind = tacit_wire_glm_kind(message->kind),
                                      .epoch = message->sync,
                                      .size = tacit_wire_glm_bytes(message, d, clients)};
    uint8_t *const bytes = live_messages_add(&site->effects.out, &made);
    if (bytes != NULL && tacit_wire_glm_encode(message, d, clients, bytes) != TACIT_OK)
        live_messages_drop_last(&site->effects.out);
}

static enum tacit_status step_core(struct live_site *site, struct tacit_glm_event event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_glm_update *made, struct live_site_update *update)
{
    event.path = tacit_linalg_fastest();
    enum tacit_status const status = tacit_glm_client_step(site->core, &event, entropy, made);
    update->persist = update->persist || made->persist;
    site->effects.deadline_us = made->deadline_us;
    if (made->send)
        send(site, &made->message);
    return status;
}

/* The chosen context, and the others where the log is to be of use for evaluation. */
static void keep(struct live_site *site, const struct tacit_offer *offer,
                 const struct tacit_glm_update *made, struct live_site_update *update)
{
    uint32_t const d = offer->dimension;
    bool const keeps_all = site->run->model.explore > 0;
    struct kept const head = {.model = core_view(site).sync,
                              .probability = made->probability,
                              .dimension = d,
                              .arm_count = keeps_all ? offer->arm_count : 0};
    uint8_t *next = site->kept;
    memcpy(next, &head, sizeof head);
    next += sizeof head;
    memcpy(next, offer->contexts + (size_t)made->arm * d, d * sizeof(double));
    next += d * sizeof(double);
    if (keeps_all) {
        memcpy(next, offer->contexts, (size_t)offer->arm_count * d * sizeof(double));
        next += (size_t)offer->arm_count * d * sizeof(double);
    }
    update->has_choice = true;
    update->choice = made->arm;
    update->kept = site->kept;
    update->kept_size = (size_t)(next - site->kept);
}

static bool site_tell(const uint8_t *kept, size_t size, struct live_choice *choice)
{
    struct kept head;
    if (kept == NULL || size < sizeof head)
        return false;
    memcpy(&head, kept, sizeof head);
    if (head.dimension == 0 || head.dimension > TACIT_LINALG_DIMENSION_MAX ||
        head.arm_count > TACIT_ARMS_MAX || size != kept_bytes_max(head.dimension, head.arm_count))
        return false;
    *choice = (struct live_choice){head.model, head.probability};
    return true;
}

static enum tacit_status take_offer(struct live_site *site, const struct live_site_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct live_site_update *update)
{
    struct tacit_glm_update made;
    struct tacit_glm_event const offer = {
        .now_us = event->now_us, .kind = TACIT_EVENT_OFFER, .as.offer = event->as.offer};
    if (event->as.offer.arm_count != site->arm_count)
        return TACIT_INVALID;
    enum tacit_status const status = step_core(site, offer, entropy, &made, update);
    if (status == TACIT_OK && made.decided)
        keep(site, &event->as.offer, &made, update);
    return status;
}

/* A reward that comes when T samples are held, or of a run that is over, is learnt by nobody. */
static enum tacit_status take_reward(struct live_site *site, const struct live_site_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct live_site_update *update)
{
    struct live_choice choice;
    struct tacit_glm_update made;
    double context[TACIT_LINALG_VECTOR_MAX];
    uint32_t const d = site->run->model.dimension;
    double const value = event->as.reward.value;
    uint32_t dimension;
    if (!site_tell(event->as.reward.kept, event->as.reward.kept_size, &choice))
        return TACIT_INVALID;
    memcpy(&dimension, event->as.reward.kept + offsetof(struct kept, dimension), sizeof dimension);
    if (dimension != d)
        return TACIT_INVALID;
    memcpy(context, event->as.reward.kept + sizeof(struct kept), d * sizeof(double));
    struct tacit_glm_event const reward = {.now_us = event->now_us,
                                           .kind = TACIT_EVENT_REWARD,
                                           .as.reward = {context,
                                                         value < site->lo   ? site->lo
                                                         : value > site->hi ? site->hi
                                                                            : value,
                                                         0, 0}};
    return step_core(site, reward, entropy, &made, update);
}

static enum tacit_status receive(struct live_site *site, const struct live_site_event *event,
                                 const struct tacit_entropy *entropy,
                                 struct live_site_update *update)
{
    struct tacit_glm_model const *const model = &site->run->model;
    struct tacit_glm_message *message;
    struct tacit_glm_update made;
    enum tacit_status status = tacit_wire_glm_decode(
        event->as.message.bytes, event->as.message.size, model->dimension, model->client_count,
        event->as.message.is_broadcast ? TACIT_EVERYONE : site->run->client_id, &message);
    if (status != TACIT_OK)
        return status;
    struct tacit_glm_event const received = {
        .now_us = event->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    if (!tacit_wire_glm_is(message, event->as.message.kind, event->as.message.epoch))
        status = TACIT_MALFORMED;
    else if (message->from != event->as.message.from)
        status = TACIT_STRANGER;
    else
        status = step_core(site, received, entropy, &made, update);
    free(message);
    return status;
}

static enum tacit_status dispatch(struct live_site *site, const struct live_site_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_site_update *update)
{
    struct tacit_glm_update made;
    struct tacit_glm_event plain = {.now_us = event->now_us, .kind = TACIT_EVENT_START};
    switch (event->kind) {
    case LIVE_SITE_START:
    case LIVE_SITE_CONNECTED: /* says again what may have been lost */
        return step_core(site, plain, entropy, &made, update);
    case LIVE_SITE_TIMEOUT:
        plain.kind = TACIT_EVENT_TIMEOUT;
        return step_core(site, plain, entropy, &made, update);
    case LIVE_SITE_OFFER:
        return take_offer(site, event, entropy, update);
    case LIVE_SITE_REWARD:
        return take_reward(site, event, entropy, update);
    case LIVE_SITE_RECEIVE:
        return receive(site, event, entropy, update);
    case LIVE_SITE_EXPLOITED: /* it has no plan, so nothing is beside it */
        return TACIT_OK;
    case LIVE_SITE_REFUSE: /* it cannot be told that here */
    case LIVE_SITE_TASK:   /* and gives no tasks */
        break;
    }
    return TACIT_UNEXPECTED;
}

static enum tacit_status site_step(struct live_site *site, const struct live_site_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct live_site_update *update)
{
    TACIT_ASSERT(event != NULL && entropy != NULL);
    live_effects_begin(&site->effects, update);
    enum tacit_status const status = dispatch(site, event, entropy, update);
    live_effects_end(&site->effects, update);
    return status;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static void site_place(const struct live_site *site, struct live_site_place *place)
{
    struct tacit_glm_model const *const model = &site->run->model;
    *place = (struct live_site_place){.run_id = model->run_id,
                                      .agent = site->run->client_id,
                                      .agent_count = model->client_count,
                                      .horizon = model->horizon};
}

static void site_look(const struct live_site *constant, struct live_site_view *view)
{
    struct live_site *const site = (struct live_site *)(uintptr_t)constant; /* room for the view */
    struct tacit_glm_client_view const core = core_view(site);
    struct tacit_glm_model const *const model = &site->run->model;
    site->shown = (struct live_model){.number = core.sync,
                                      .observation_count = core.model_count + core.sample_count -
                                                           core.included_count,
                                      .dimension = model->dimension,
                                      .names = site->run->features,
                                      .coefficients = core.estimate,
                                      .inverse = core.inverse,
                                      .radius = core.alpha};
    *view =
        (struct live_site_view){.epoch = core.sync,
                                .is_waiting = core.triggered || core.frozen,
                                .is_finished = core.sample_count >= model->horizon,
                                .active_count = site->arm_count,
                                .no_estimates = "what an arm is worth depends on its contexts: see "
                                                "model",
                                .pull_count = core.sample_count,
                                .model = &site->shown};
}

static uint32_t site_rank(const struct live_site *site, const struct live_site_config *config,
                          uint32_t *arms)
{
    (void)site;
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        arms[arm] = arm;
    return config->arm_count;
}

static void site_promise(const struct live_site *site, const struct live_site_config *config,
                         struct tacit_promise *promise)
{
    (void)site;
    (void)config;
    promise->mechanism.of = TACIT_PROTECTED_INTERACTION;
    promise->mechanism.leaving = TACIT_LEAVING_GRADIENTS;
}

const struct live_site_ops glm_site_ops = {.word = TACIT_WIRE_GLM_WORD,
                                           .family = TACIT_WIRE_GLM_FAMILY,
                                           .version = TACIT_WIRE_GLM_VERSION,
                                           .join = site_join,
                                           .restore = site_restore,
                                           .free = site_free,
                                           .old_bytes = site_bytes,
                                           .is_of = site_is_of,
                                           .agreement = site_agreement,
                                           .old_step = site_step,
                                           .tell = site_tell,
                                           .place = site_place,
                                           .look = site_look,
                                           .rank = site_rank,
                                           .promise = site_promise};

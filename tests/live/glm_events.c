/* What the simulator makes of events that a live federation saw: reads "SITES DIMENSION HORIZON
 * THRESHOLD EXPLORE" and then, a line each, "SITE ARM_COUNT CONTEXTS.. ARM REWARD"; plays them one
 * after another, each update at once, as families/glm/run.c does, and prints the model:
 * updates, rewards, coefficients, and the matrix A. Ends with 1 where a client would have chosen
 * another arm (without exploration). */
#include <stdio.h>
#include <stdlib.h>
#include "tacit/glm.h"

#define CLIENTS_MAX 16u

struct federation {
    struct tacit_glm_model model;
    struct tacit_glm_hub *hub;
    struct tacit_glm_client *clients[CLIENTS_MAX];
};

static void require(bool is_so, const char *what)
{
    if (is_so)
        return;
    (void)fprintf(stderr, "%s\n", what);
    exit(1);
}

static void set_up(struct federation *federation)
{
    struct tacit_glm_hub_config const hub = {.model = federation->model,
                                             .resend_after_us = 1000000};
    federation->hub = malloc(tacit_glm_hub_size(&hub));
    require(federation->hub != NULL && tacit_glm_hub_init(federation->hub, &hub) == TACIT_OK,
            "the hub does not begin");
    for (uint32_t i = 0; i < federation->model.client_count; i++) {
        struct tacit_glm_client_config const client = {
            .model = federation->model, .client_id = i, .resend_after_us = 1000000};
        federation->clients[i] = malloc(tacit_glm_client_size(&client));
        require(federation->clients[i] != NULL &&
                    tacit_glm_client_init(federation->clients[i], &client) == TACIT_OK,
                "a client does not begin");
    }
}

/* What the hub says goes to all, their answers to the hub, until it says no more. */
static void carry_out(struct federation *federation, const struct tacit_glm_message *trigger)
{
    struct tacit_glm_update said;
    struct tacit_glm_event event = {.kind = TACIT_EVENT_RECEIVE, .as.message = trigger};
    require(tacit_glm_hub_step(federation->hub, &event, &said) == TACIT_OK, "the trigger");
    while (said.send) {
        struct tacit_glm_message const message = said.message;
        said.send = false;
        for (uint32_t i = 0; i < federation->model.client_count; i++) {
            struct tacit_glm_update answer;
            event.as.message = &message;
            require(tacit_glm_client_step(federation->clients[i], &event, NULL, &answer) ==
                        TACIT_OK,
                    "a client refuses");
            event.as.message = &answer.message;
            if (answer.send)
                require(tacit_glm_hub_step(federation->hub, &event, &said) == TACIT_OK,
                        "the hub refuses");
        }
    }
}

static double number(void)
{
    double value;
    require(scanf("%lf", &value) == 1, "a number is expected");
    return value;
}

static void play(struct federation *federation, uint32_t site, uint32_t arm_count)
{
    uint32_t const d = federation->model.dimension;
    double contexts[64 * 64];
    struct tacit_glm_update update;
    require(site < federation->model.client_count && arm_count <= 64, "no such site");
    for (uint32_t i = 0; i < arm_count * d; i++)
        contexts[i] = number();
    uint32_t const arm = (uint32_t)number();
    double const reward = number();
    struct tacit_glm_event event = {.kind = TACIT_EVENT_OFFER,
                                    .as.offer = {arm_count, d, contexts}};
    if (federation->model.explore <= 0) {
        require(tacit_glm_client_step(federation->clients[site], &event, NULL, &update) == TACIT_OK,
                "the contexts are refused");
        require(update.arm == arm, "another arm was chosen");
    }
    event.kind = TACIT_EVENT_REWARD;
    event.as.reward = (struct tacit_glm_reward){contexts + (size_t)arm * d, reward, 0, 0};
    require(tacit_glm_client_step(federation->clients[site], &event, NULL, &update) == TACIT_OK,
            "the reward is refused");
    if (update.send)
        carry_out(federation, &update.message);
}

int main(void)
{
    struct federation federation;
    uint32_t const sites = (uint32_t)number();
    uint32_t const d = (uint32_t)number();
    uint64_t const horizon = (uint64_t)number();
    federation.model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, sites, d, horizon);
    federation.model.clock = TACIT_GLM_COUNTS;
    federation.model.threshold = number();
    federation.model.explore = number();
    require(sites <= CLIENTS_MAX, "too many sites");
    set_up(&federation);
    for (uint32_t site; scanf("%u", &site) == 1;)
        play(&federation, site, (uint32_t)number());
    struct tacit_glm_hub_view view;
    tacit_glm_hub_look(federation.hub, &view);
    printf("%u %llu", view.sync, (unsigned long long)view.model_count);
    for (uint32_t i = 0; i < d; i++)
        printf(" %.17g", view.theta[i]);
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = 0; j < d; j++)
            printf(" %.17g", view.matrix[i * TACIT_LINALG_STRIDE(d) + j]);
    printf("\n");
    for (uint32_t i = 0; i < sites; i++)
        free(federation.clients[i]);
    free(federation.hub);
    return 0;
}

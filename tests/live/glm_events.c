/* What the simulator makes of events that a live federation saw: reads "SITES DIMENSION HORIZON
 * THRESHOLD EXPLORE" and then, a line each, "SITE ARM_COUNT CONTEXTS.. ARM REWARD"; plays them one
 * after another, each update at once, as families/glm/run.c does, and prints the model:
 * updates, rewards, coefficients, and the matrix A. Ends with 1 where a client would have chosen
 * another arm (without exploration). */
#include <stdio.h>
#include <stdlib.h>
#include "../support/glm_driver.h"

static void require(bool is_so, const char *what)
{
    if (is_so)
        return;
    (void)fprintf(stderr, "%s\n", what);
    exit(1);
}

static double number(void)
{
    double value;
    require(scanf("%lf", &value) == 1, "a number is expected");
    return value;
}

static void play(struct glm_driver *driver, uint32_t site, uint32_t arm_count)
{
    uint32_t const d = driver->model.dimension;
    double contexts[64 * 64];
    require(site < driver->model.client_count && arm_count <= 64, "no such site");
    for (uint32_t i = 0; i < arm_count * d; i++)
        contexts[i] = number();
    uint32_t const arm = (uint32_t)number();
    if (driver->model.explore <= 0)
        require(glm_driver_decide(driver, site, arm_count, contexts) == arm,
                "another arm was chosen");
    glm_driver_reward(driver, site, 0, contexts + (size_t)arm * d, number());
}

int main(void)
{
    struct glm_driver driver;
    uint32_t const sites = (uint32_t)number();
    uint32_t const d = (uint32_t)number();
    uint64_t const horizon = (uint64_t)number();
    struct tacit_glm_model model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, sites, d, horizon);
    model.clock = TACIT_GLM_COUNTS;
    model.threshold = number();
    model.explore = number();
    glm_driver_open(&driver, &model, TACIT_LINALG_PORTABLE);
    for (uint32_t site; scanf("%u", &site) == 1;)
        play(&driver, site, (uint32_t)number());
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(driver.hub, &view);
    printf("%u %llu", view.sync, (unsigned long long)view.model_count);
    for (uint32_t i = 0; i < d; i++)
        printf(" %.17g", view.theta[i]);
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = 0; j < d; j++)
            printf(" %.17g", view.matrix[i * TACIT_LINALG_STRIDE(d) + j]);
    printf("\n");
    return 0;
}

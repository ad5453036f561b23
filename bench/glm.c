/* The full synthetic run of Li and Wang, Sec. 5, with the cores alone: N = 200 clients, T = 2000,
 * d = 10, K = 25, D = 0.0775; and what the machine would need at least for its sums.
 *
 * usage: glm [N T d K D [SEED [portable|fastest [check]]]]
 * With `check` it ends with 1 where the time is not within a factor of two of the model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tacit/env.h"
#include "tacit/glm.h"

#define RESEND_US 1000000u

struct world {
    struct tacit_glm_model model;
    struct tacit_context_env env;
    struct tacit_glm_hub *hub;
    char *clients;
    size_t client_size;
    enum tacit_linalg_path path;
    double update_seconds;
    double gradient_samples; /* of all gradients */
    double summed_samples;   /* of gradients that went over them */
    double expanded_samples; /* of expansions */
    double near_count;       /* gradients that came from an expansion */
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct tacit_glm_client *client_at(struct world *world, uint32_t i)
{
    return (struct tacit_glm_client *)(void *)(world->clients + i * world->client_size);
}

static void open_world(struct world *world)
{
    struct tacit_glm_hub_config const hub = {.model = world->model, .resend_after_us = RESEND_US};
    struct tacit_glm_client_config client = {.model = world->model, .resend_after_us = RESEND_US};
    world->client_size = tacit_glm_client_size(&client);
    world->hub = malloc(tacit_glm_hub_size(&hub));
    world->clients = malloc(world->client_size * world->model.client_count);
    if (world->hub == NULL || world->clients == NULL ||
        tacit_glm_hub_init(world->hub, &hub) != TACIT_OK)
        exit(1);
    for (uint32_t i = 0; i < world->model.client_count; i++) {
        client.client_id = i;
        if (tacit_glm_client_init(client_at(world, i), &client) != TACIT_OK)
            exit(1);
    }
}

static void step_hub(struct world *world, const struct tacit_glm_message *message,
                     struct tacit_glm_update *update)
{
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_RECEIVE, .path = world->path, .as.message = message};
    if (tacit_glm_hub_step(world->hub, &event, update) != TACIT_OK)
        exit(1);
}

/* From what did the gradient come? */
static void count_gradient(struct world *world, uint32_t i, uint32_t round)
{
    struct tacit_glm_client_view view;
    tacit_glm_client_view(client_at(world, i), &view);
    double const samples = (double)view.sample_count;
    world->gradient_samples += samples;
    world->near_count += view.is_near ? 1 : 0;
    world->summed_samples += view.is_near ? 0 : samples;
    world->expanded_samples += view.anchor_round == round ? samples : 0;
}

/* A trigger, and all that follows from it. */
static void carry_out(struct world *world, const struct tacit_glm_message *trigger)
{
    double const start = seconds();
    struct tacit_glm_update update;
    step_hub(world, trigger, &update);
    while (update.send) {
        struct tacit_glm_message const said = update.message;
        struct tacit_glm_event const event = {
            .kind = TACIT_EVENT_RECEIVE, .path = world->path, .as.message = &said};
        update.send = false;
        for (uint32_t i = 0; i < world->model.client_count; i++) {
            struct tacit_glm_update answer;
            if (tacit_glm_client_step(client_at(world, i), &event, NULL, &answer) != TACIT_OK)
                exit(1);
            if (said.kind == TACIT_GLM_ITERATE)
                count_gradient(world, i, said.round);
            if (answer.send)
                step_hub(world, &answer.message, &update);
        }
    }
    world->update_seconds += seconds() - start;
}

/* One slot of one client; returns its regret. */
static double play(struct world *world, uint32_t i, uint64_t slot, struct tacit_rng *contexts,
                   struct tacit_rng *rewards, double *rows)
{
    struct tacit_glm_update update;
    struct tacit_linalg_rule rule;
    if (!tacit_glm_client_rule(client_at(world, i), &rule))
        exit(1);
    uint32_t const arms = tacit_context_contenders(&world->env, world->path, contexts, &rule, rows);
    struct tacit_glm_event event = {.kind = TACIT_EVENT_OFFER,
                                    .path = world->path,
                                    .as.offer = {arms, world->env.dimension, rows}};
    if (tacit_glm_client_step(client_at(world, i), &event, NULL, &update) != TACIT_OK)
        exit(1);
    double best;
    double mean;
    tacit_context_means(&world->env, world->path, arms, rows, update.arm, &best, &mean);
    event.kind = TACIT_EVENT_REWARD;
    event.as.reward =
        (struct tacit_glm_reward){rows + (size_t)update.arm * world->env.dimension,
                                  tacit_context_reward(&world->env, mean, rewards), slot, 0};
    if (tacit_glm_client_step(client_at(world, i), &event, NULL, &update) != TACIT_OK)
        exit(1);
    if (update.send)
        carry_out(world, &update.message);
    return best - mean;
}

/* ---- What the machine would need at least ---- */

typedef double v4 __attribute__((vector_size(32), aligned(8), may_alias));

#if defined __x86_64__
#define WITH_AVX2 __attribute__((target("avx2")))
#else
#define WITH_AVX2
#endif

#define TRIES 20u
#define CHAINS 12u /* that do not wait for each other: as many as there are registers for */

/* Seconds of a product or a sum of four lanes, at best: as many of one as of the other. */
WITH_AVX2 static double operation_seconds(void)
{
    double best = INFINITY;
    for (uint32_t try = 0; try < TRIES; try++) {
        v4 a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0}, a4 = {0}, a5 = {0};
        v4 b0 = {1}, b1 = {1}, b2 = {1}, b3 = {1}, b4 = {1}, b5 = {1};
        v4 x = {0.5, 0.5, 0.5, 0.5};
        uint32_t const rounds = 200000;
        double const start = seconds();
        for (uint32_t i = 0; i < rounds; i++) {
            a0 += x, a1 += x, a2 += x, a3 += x, a4 += x, a5 += x;
            b0 *= x, b1 *= x, b2 *= x, b3 *= x, b4 *= x, b5 *= x;
            __asm__ volatile("" : "+x"(x)); /* no round is left out */
        }
        double const each = (seconds() - start) / (double)rounds / CHAINS;
        v4 const all = (a0 + a1) + (a2 + a3) + (a4 + a5) + (b0 + b1) + (b2 + b3) + (b4 + b5);
        best = each < best && all[0] > 0 ? each : best;
    }
    return best;
}

/* Seconds a byte of an array of this size, read in order again and again, at best. */
WITH_AVX2 static double byte_seconds(size_t bytes)
{
    size_t const step = 4 * sizeof(v4);
    char *const array = malloc(bytes + step);
    double best = INFINITY;
    if (array == NULL)
        exit(1);
    memset(array, 1, bytes + step); /* zeros might all lie in one page */
    for (uint32_t try = 0; try < TRIES; try++) {
        v4 sums[4] = {{0}, {0}, {0}, {0}};
        double const start = seconds();
        for (size_t i = 0; i < bytes; i += step) {
            const v4 *const at = (const v4 *)(const void *)(array + i);
            __builtin_prefetch(array + i + 4096);
            __builtin_prefetch(array + i + 4096 + 64);
            sums[0] += at[0];
            sums[1] += at[1];
            sums[2] += at[2];
            sums[3] += at[3];
        }
        double const each = (seconds() - start) / (double)bytes;
        v4 const all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        best = each < best && all[0] > 0 ? each : best;
    }
    free(array);
    return best;
}

/* Products, sums and quotients of doubles: of one sample in a gradient (x'theta, a logistic
 * function of two polynomials of five terms, the sum), and of one decision (the triangle of the
 * form, x'theta, |x|^2) with its reward (two rank-one updates, two products with a matrix). What
 * draws contexts and rewards is not counted. */
static double sample_operations(uint32_t d)
{
    return 4.0 * d + 21.0;
}

static double decision_operations(uint32_t d, uint32_t arms)
{
    return arms * ((double)d * (d + 1.0) + 4.0 * d + 2.0) + 10.0 * d * d + 10.0 * d;
}

/* Of one sample in an expansion: as of a gradient, H, and third derivatives, which count half: they
 * are in single precision. Of a gradient that comes from it. */
static double expansion_operations(uint32_t d)
{
    double const pairs = d * (d + 1.0) / 2;
    return sample_operations(d) + 2.0 * pairs + d + 0.5 * (2.0 * pairs * (d + 2.0) / 3 + pairs);
}

static double near_operations(uint32_t d)
{
    return d * (d + 1.0) * d + 2.0 * d * d + d * (d + 1.0);
}

/* The model of NOTES.md, in units of an operation of the machine at its best: what an operation
 * takes that waits for memory and for others; a coordinate of a context to draw, to normalise and
 * to score; a round of one client, its messages included. */
#define UNITS_OPERATION 2.2
#define UNITS_COORDINATE 500.0
#define UNITS_MESSAGE 20000.0

static bool print_model(const struct world *world, double operations, double unit, double total)
{
    struct tacit_glm_model const *const model = &world->model;
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(world->hub, &view);
    double const decisions = (double)model->client_count * (double)model->horizon;
    double const coordinates = decisions * world->env.arm_count * model->dimension;
    double const messages = (double)view.aggregation_count * model->client_count;
    double const expected = unit * (UNITS_OPERATION * operations + UNITS_COORDINATE * coordinates +
                                    UNITS_MESSAGE * messages);
    printf("  model %.2f s: the run takes %.2f times that\n", expected, total / expected);
    return total < 2.0 * expected && expected < 2.0 * total;
}

/* A roofline: neither arithmetic nor memory lets the sums be done sooner. */
static bool print_bounds(const struct world *world, double total)
{
    struct tacit_glm_model const *const model = &world->model;
    uint32_t const d = model->dimension;
    double const decisions = (double)model->client_count * (double)model->horizon;
    double const operations = world->summed_samples * sample_operations(d) +
                              world->expanded_samples * expansion_operations(d) +
                              world->near_count * near_operations(d) +
                              decisions * decision_operations(d, world->env.arm_count);
    double const sums = world->gradient_samples * sample_operations(d);
    double const bytes =
        (world->summed_samples + world->expanded_samples) * (d + 1.0) * sizeof(float);
    size_t const array = (size_t)decisions * (d + 1) * sizeof(float);
    double const arithmetic = operations / 4.0 * operation_seconds();
    double const memory = bytes * byte_seconds(array);
    double const bound = arithmetic > memory ? arithmetic : memory;
    printf(
        "  arithmetic bound %.2f s (%.1f G operations at %.1f G/s), memory bound %.2f s (%.1f GB "
        "in %.0f passes over %.1f MB, at %.1f GB/s): %.1f times the larger one\n  all gradients as "
        "sums "
        "would be %.1f G operations: %.2f s at least, and %.2f s to read\n",
        arithmetic, 1e-9 * operations, 1e-9 * operations / arithmetic, memory, 1e-9 * bytes,
        (world->summed_samples + world->expanded_samples) / decisions, 1e-6 * (double)array,
        1e-9 * bytes / memory, total / bound, 1e-9 * sums, sums * arithmetic / operations,
        world->gradient_samples * (d + 1.0) * sizeof(float) * memory / bytes);
    return print_model(world, operations, arithmetic / operations, total);
}

int main(int argc, char **argv)
{
    uint32_t const clients = argc > 1 ? (uint32_t)atoi(argv[1]) : 200;
    uint64_t const slots = argc > 2 ? (uint64_t)atoi(argv[2]) : 2000;
    uint32_t const d = argc > 3 ? (uint32_t)atoi(argv[3]) : 10;
    uint32_t const arms = argc > 4 ? (uint32_t)atoi(argv[4]) : 25;
    double const threshold = argc > 5 ? atof(argv[5]) : 0.0775;
    uint64_t const seed = argc > 6 ? (uint64_t)atoi(argv[6]) : 1;
    struct world world = {.path = argc > 7 && strcmp(argv[7], "portable") == 0
                                      ? TACIT_LINALG_PORTABLE
                                      : tacit_linalg_fastest()};
    world.model = tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, clients, d, slots);
    world.model.threshold = threshold;
    world.env = (struct tacit_context_env){.source = TACIT_CONTEXT_SPHERE,
                                           .mean = tacit_glm_mean(&world.model),
                                           .dimension = d,
                                           .arm_count = arms};
    struct tacit_rng instance = tacit_rng_stream(seed, 0, 0, 1);
    tacit_context_theta(d, 1.0, &instance, world.env.theta);
    open_world(&world);
    struct tacit_rng *const contexts = malloc(clients * sizeof *contexts);
    struct tacit_rng *const rewards = malloc(clients * sizeof *rewards);
    double *const rows = malloc((size_t)arms * d * sizeof *rows);
    if (contexts == NULL || rewards == NULL || rows == NULL)
        return 1;
    for (uint32_t i = 0; i < clients; i++) {
        contexts[i] = tacit_rng_stream(seed, 0, i, 2);
        rewards[i] = tacit_rng_stream(seed, 0, i, 3);
    }
    double regret = 0;
    double const start = seconds();
    for (uint64_t t = 1; t <= slots; t++)
        for (uint32_t i = 0; i < clients; i++)
            regret += play(&world, i, t, &contexts[i], &rewards[i], rows);
    double const total = seconds() - start;
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(world.hub, &view);
    printf("glm N=%u T=%llu d=%u K=%u D=%g path=%s: %.2f s (updates %.2f s), regret %.6f, B=%llu, "
           "J=%llu, %.3g ns a decision\n",
           clients, (unsigned long long)slots, d, arms, threshold,
           world.path == TACIT_LINALG_AVX2 ? "avx2" : "portable", total, world.update_seconds,
           regret, (unsigned long long)view.update_count,
           (unsigned long long)view.aggregation_count,
           1e9 * (total - world.update_seconds) / ((double)clients * (double)slots));
    printf("  gradients of %.0f M samples: %.0f M summed, %.0f M expanded; %.2f M gradients from "
           "expansions\n",
           1e-6 * world.gradient_samples, 1e-6 * world.summed_samples,
           1e-6 * world.expanded_samples, 1e-6 * world.near_count);
    bool const is_as_expected = print_bounds(&world, total);
    printf("  client state %zu bytes\n", world.client_size);
    free(rows);
    free(contexts);
    free(rewards);
    free(world.clients);
    free(world.hub);
    return argc > 8 && !is_as_expected ? 1 : 0;
}

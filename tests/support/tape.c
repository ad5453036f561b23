/* Entropy of the simulator, written to files that daemons under test read. */
#include "tape.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "tacit/privacy.h"

#define TAPE_WORDS 65536u
#define AGGREGATOR_DRAWS 4096u

void tape_write(const char *folder, const char *name, struct tacit_rng stream)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&stream);
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    TACIT_ASSERT(file != NULL);
    for (uint32_t i = 0; i < TAPE_WORDS; i++) {
        uint64_t word;
        TACIT_ASSERT(entropy.fill(entropy.context, &word, sizeof word) == TACIT_OK);
        TACIT_ASSERT(fwrite(&word, sizeof word, 1, file) == 1);
    }
    TACIT_ASSERT(fclose(file) == 0);
}

struct tape_watch tape_watch_begin(const char *folder, const struct tacit_sim *sim,
                                   const struct tacit_scale *scale)
{
    struct tape_watch watch = {.sim = sim, .scale = scale};
    TACIT_ASSERT(sim->agent_count <= TAPE_AGENTS_MAX);
    for (uint32_t agent = 0; agent < sim->agent_count; agent++) {
        char name[32];
        (void)snprintf(name, sizeof name, "%" PRIu32 ".noise", agent);
        tape_write(folder, name, tacit_rng_stream(sim->seed, 0, agent, TACIT_PURPOSE_NOISE));
        watch.rewards[agent] = tacit_rng_stream(sim->seed, 0, agent, TACIT_PURPOSE_REWARD);
    }
    return watch;
}

void tape_print_message(uint32_t from, uint32_t to, const struct tacit_wire_table *table,
                        const struct tacit_wire_shape *shape, const void *message)
{
    size_t const size = tacit_wire_bytes(table, shape, message);
    uint8_t *const bytes = malloc(size);
    TACIT_ASSERT(bytes != NULL);
    tacit_wire_encode(table, shape, message, bytes);
    (void)printf("message %" PRIu32 " %" PRIu32 " ", from, to);
    for (size_t i = 0; i < size; i++)
        (void)printf("%02x", bytes[i]);
    (void)printf("\n");
    free(bytes);
}

void tape_print_rewards(struct tape_watch *watch, uint32_t agent, uint32_t arm, uint64_t count)
{
    if (watch->is_over)
        return;
    (void)printf("rewards %" PRIu32 " %" PRIu32, agent, arm);
    for (uint64_t i = 0; i < count; i++) {
        union tacit_sum reward = {0};
        tacit_env_pull(&watch->sim->env, agent, arm, 1, watch->scale, &watch->rewards[agent],
                       &reward);
        (void)printf(" %" PRId64, reward.steps);
    }
    (void)printf("\n");
}

/* ---- Two aggregators ---- */

struct tape_watch *tape_two;

/* What an aggregator draws, one number after the other. */
static void write_noise(const char *folder, const char *name, struct tacit_rng stream,
                        const struct tacit_mechanism *mechanism)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&stream);
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.aggregator", folder, name);
    FILE *const file = fopen(path, "wb");
    TACIT_ASSERT(file != NULL);
    for (uint32_t i = 0; i < AGGREGATOR_DRAWS; i++) {
        union tacit_sum noise = {.steps = 0};
        TACIT_ASSERT(tacit_mechanism_release(mechanism, noise, &entropy, &noise) == TACIT_OK);
        TACIT_ASSERT(fwrite(&noise.steps, sizeof noise.steps, 1, file) == 1);
    }
    TACIT_ASSERT(fclose(file) == 0);
}

void tape_begin_two(const char *folder, struct tape_watch *watch,
                    struct tacit_sim_aggregators *aggregators, struct tacit_mechanism *own)
{
    static const char *const names[] = {"coordinator", "helper"};
    *aggregators = (struct tacit_sim_aggregators){.are_two = true, .mechanism = *own};
    own->noisy = false;
    for (uint32_t i = 0; i < 2; i++)
        write_noise(folder, names[i],
                    tacit_rng_stream(watch->sim->seed, 0, i, TACIT_PURPOSE_AGGREGATOR),
                    &aggregators->mechanism);
    tape_two = watch;
}

#define PULL_PARAMETERS                                                                            \
    const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,                     \
        const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum,              \
        atomic_bool *stop
bool __real_tacit_sim_pull(PULL_PARAMETERS);
bool __wrap_tacit_sim_pull(PULL_PARAMETERS);

bool __wrap_tacit_sim_pull(PULL_PARAMETERS)
{
    if (tape_two != NULL)
        tape_print_rewards(tape_two, agent, arm, count);
    return __real_tacit_sim_pull(env, agent, arm, count, scale, rng, sum, stop);
}

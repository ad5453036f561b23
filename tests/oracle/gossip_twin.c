/* See gossip_twin.h. */
#include "gossip_twin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(uint64_t count, size_t size)
{
    void *const memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL)
        abort();
    return memory;
}

/* ---- Algorithms 2 and 3 ---- */

void twin_stream_init(struct twin_stream *stream, uint64_t length)
{
    stream->length = length;
    stream->observations = allocate(length + 1, sizeof(double));
    stream->pulled = allocate(length + 1, sizeof(bool));
    stream->known = allocate(length + 1, sizeof(bool));
    stream->partial = allocate(length + 1, sizeof(double));
    stream->interval_count = 0;
}

void twin_stream_free(struct twin_stream *stream)
{
    free(stream->observations);
    free(stream->pulled);
    free(stream->known);
    free(stream->partial);
}

/* P of the leaves after `before` up to `last`: worked out, and noised, when it is asked for first.
 * Leaves without an observation hold nothing, and an interval of such leaves gets no noise. */
static double partial_sum(struct twin_stream *stream, uint64_t before, uint64_t last,
                          double (*noise)(void *context), void *context)
{
    if (stream->known[last])
        return stream->partial[last];
    bool any = false;
    double sum = 0;
    for (uint64_t tau = before + 1; tau <= last; tau++) {
        sum += stream->observations[tau];
        any = any || stream->pulled[tau];
    }
    if (any && noise != NULL) {
        sum += noise(context);
        stream->interval_count++;
    }
    stream->known[last] = true;
    stream->partial[last] = sum;
    return sum;
}

double twin_stream_release(struct twin_stream *stream, uint64_t t, double observation,
                           double (*noise)(void *context), void *context)
{
    if (t > stream->length)
        abort();
    stream->observations[t] = observation;
    stream->pulled[t] = true;
    double sum = 0;
    uint64_t rest = t;
    while (rest != 0) {
        uint64_t bit = 1; /* the rightmost digit that is 1 */
        while (rest % (2 * bit) == 0)
            bit *= 2;
        uint64_t const before = rest - bit; /* that digit flipped: q(t') */
        sum += partial_sum(stream, before, rest, noise, context);
        rest = before;
    }
    return sum;
}

/* ---- Algorithms 1 and 4 ---- */

static double log_of(const struct gossip_twin_config *config, double x)
{
    return config->log_base_10 && isfinite(config->epsilon) ? log10(x) : log(x);
}

double gossip_twin_radius(const struct gossip_twin_config *config, uint64_t t, uint64_t n)
{
    double const N = config->agents;
    double const alpha_1 = 64 / pow(N, 17);
    double const log_t = log_of(config, (double)t);
    double const log_T = log_of(config, (double)config->horizon);
    double const pulls = (double)n;
    if (isinf(config->epsilon))
        return sqrt(2 * N / pulls * log_t) + alpha_1;
    double const log_n = log_of(config, config->sound && n < 2 ? 2.0 : pulls);
    double const noise = 128 * N * log_T * log_T * log_t * log_n /
                         (pulls * pulls * config->epsilon * config->epsilon);
    return alpha_1 + sqrt(2 * N * (noise + 1 / pulls) * log_t);
}

struct drawer {
    struct gossip_twin *twin;
    uint32_t agent;
};

static double draw_noise(void *context)
{
    struct drawer *const drawer = context;
    struct gossip_twin_chance const *const chance = &drawer->twin->chance;
    return chance->noise(chance->context, drawer->agent);
}

/* X~ after a reward: Alg. 3 line 7. */
static double noised_mean(struct gossip_twin *twin, uint32_t agent, uint32_t arm, uint64_t leaf,
                          double reward)
{
    size_t const cell = (size_t)agent * twin->config.arms + arm;
    struct drawer drawer = {twin, agent};
    bool const noisy = isfinite(twin->config.epsilon);
    double const sum =
        twin_stream_release(&twin->streams[cell], leaf, reward, noisy ? draw_noise : NULL, &drawer);
    return (twin->initial[cell] + sum) / (double)twin->n[cell];
}

void gossip_twin_init(struct gossip_twin *twin, const struct gossip_twin_config *config,
                      const struct gossip_twin_chance *chance)
{
    uint64_t const cells = (uint64_t)config->agents * config->arms;
    *twin = (struct gossip_twin){.config = *config, .chance = *chance};
    twin->n = allocate(cells, sizeof(uint64_t));
    twin->tilde = allocate(cells, sizeof(uint64_t));
    twin->theta = allocate(cells, sizeof(double));
    twin->mean = allocate(cells, sizeof(double));
    twin->initial = allocate(cells, sizeof(double));
    twin->action = allocate(config->agents, sizeof(uint32_t));
    twin->forced = allocate(config->agents, sizeof(bool));
    twin->streams = allocate(cells, sizeof(struct twin_stream));
    for (uint32_t i = 0; i < config->agents; i++)
        for (uint32_t k = 0; k < config->arms; k++) {
            size_t const cell = (size_t)i * config->arms + k;
            twin_stream_init(&twin->streams[cell], config->horizon + 1);
            double const reward = chance->reward(chance->context, i, k);
            twin->n[cell] = twin->tilde[cell] = 1;
            if (config->sound) {
                twin->mean[cell] = noised_mean(twin, i, k, 1, reward);
            } else {
                twin->initial[cell] = reward;
                twin->mean[cell] = reward;
            }
            twin->theta[cell] = twin->mean[cell];
        }
}

void gossip_twin_free(struct gossip_twin *twin)
{
    for (uint64_t cell = 0; cell < (uint64_t)twin->config.agents * twin->config.arms; cell++)
        twin_stream_free(&twin->streams[cell]);
    free(twin->streams);
    free(twin->n);
    free(twin->tilde);
    free(twin->theta);
    free(twin->mean);
    free(twin->initial);
    free(twin->action);
    free(twin->forced);
}

/* Lines 6-14 at one agent. */
static uint32_t choose(struct gossip_twin *twin, uint32_t agent)
{
    uint32_t const arms = twin->config.arms;
    size_t const row = (size_t)agent * arms;
    uint32_t candidates = 0;
    for (uint32_t k = 0; k < arms; k++)
        candidates += twin->n[row + k] + twin->config.agents < twin->tilde[row + k];
    twin->forced[agent] = candidates > 0;
    if (candidates > 0) {
        /* one candidate needs no draw */
        uint64_t rank =
            candidates == 1 ? 0 : twin->chance.below(twin->chance.context, agent, candidates);
        for (uint32_t k = 0; k < arms; k++)
            if (twin->n[row + k] + twin->config.agents < twin->tilde[row + k] && rank-- == 0)
                return k;
        abort();
    }
    uint32_t best = 0;
    double best_q = -INFINITY;
    for (uint32_t k = 0; k < arms; k++) {
        double const q =
            twin->theta[row + k] + gossip_twin_radius(&twin->config, twin->t, twin->n[row + k]);
        if (q > best_q) {
            best = k;
            best_q = q;
        }
    }
    return best;
}

/* Line 5 at all agents. */
static void update_tilde(struct gossip_twin *twin)
{
    uint32_t const agents = twin->config.agents;
    uint32_t const arms = twin->config.arms;
    uint64_t *const next = allocate((uint64_t)agents * arms, sizeof next[0]);
    for (uint32_t i = 0; i < agents; i++)
        for (uint32_t k = 0; k < arms; k++) {
            uint64_t most = twin->n[(size_t)i * arms + k];
            for (uint32_t j = 0; j < agents; j++)
                if (twin->config.adjacent[(size_t)i * agents + j] &&
                    twin->tilde[(size_t)j * arms + k] > most)
                    most = twin->tilde[(size_t)j * arms + k];
            next[(size_t)i * arms + k] = most;
        }
    memcpy(twin->tilde, next, (size_t)agents * arms * sizeof next[0]);
    free(next);
}

void gossip_twin_slot(struct gossip_twin *twin)
{
    uint32_t const agents = twin->config.agents;
    uint32_t const arms = twin->config.arms;
    uint32_t a;
    uint32_t b;
    twin->t++;
    for (uint32_t i = 0; i < agents; i++)
        twin->action[i] = choose(twin, i);
    update_tilde(twin);
    twin->chance.edge(twin->chance.context, &a, &b);
    for (uint32_t k = 0; k < arms; k++) {
        double const average =
            (twin->theta[(size_t)a * arms + k] + twin->theta[(size_t)b * arms + k]) / 2;
        twin->theta[(size_t)a * arms + k] = average;
        twin->theta[(size_t)b * arms + k] = average;
    }
    for (uint32_t i = 0; i < agents; i++) {
        size_t const cell = (size_t)i * arms + twin->action[i];
        double const reward = twin->chance.reward(twin->chance.context, i, twin->action[i]);
        twin->n[cell]++;
        uint64_t const leaf = twin->config.sound ? twin->n[cell] : twin->t;
        double const mean = noised_mean(twin, i, twin->action[i], leaf, reward);
        twin->theta[cell] += mean - twin->mean[cell];
        twin->mean[cell] = mean;
    }
}

/* Gossip UCB in lockstep, one thread: agent-pulls per second at A = K = 10 over a path, and a
 * million agents in one network. usage: bench_gossip */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include "tacit/env.h"
#include "tacit/gossip.h"

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *allocate(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    if (memory == NULL)
        exit(1);
    return memory;
}

struct world {
    struct tacit_graph graph;
    struct tacit_edge *edges;
    void *graph_memory;
    struct tacit_env env;
    double *means;
    struct tacit_rng *rewards;
    struct tacit_rng *noise;
    struct tacit_entropy *entropies;
    struct tacit_rng edge_stream;
};

static struct world make_world(const struct tacit_graph_spec *spec, uint32_t arms,
                               enum tacit_env_kind kind)
{
    struct world world = {0};
    struct tacit_rng rng = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    struct tacit_graph_need need;
    char bytes[256];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    if (tacit_graph_check(spec, 1, &need, &why) != TACIT_OK)
        exit(1);
    uint32_t const agents = spec->agent_count;
    uint64_t edge_count = 0;
    world.edges = allocate(need.edge_count, sizeof world.edges[0]);
    void *const work = allocate(1, need.work_bytes + 8);
    if (tacit_graph_generate(spec, 1, &rng, world.edges, &edge_count, work, &why) != TACIT_OK)
        exit(1);
    free(work);
    world.graph_memory = allocate(1, tacit_graph_size(agents, edge_count));
    if (tacit_graph_init(&world.graph, world.graph_memory, agents, world.edges, edge_count) !=
        TACIT_OK)
        exit(1);
    world.means = allocate((size_t)agents * arms, sizeof(double));
    struct tacit_rng draw = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_INSTANCE);
    for (size_t cell = 0; cell < (size_t)agents * arms; cell++)
        world.means[cell] = tacit_rng_uniform(&draw);
    world.env = (struct tacit_env){
        .kind = kind, .row_count = agents, .arm_count = arms, .means = world.means, .sd = 1};
    world.rewards = allocate(agents, sizeof(struct tacit_rng));
    world.noise = allocate(agents, sizeof(struct tacit_rng));
    world.entropies = allocate(agents, sizeof(struct tacit_entropy));
    for (uint32_t i = 0; i < agents; i++) {
        world.rewards[i] = tacit_rng_stream(1, 0, i, TACIT_PURPOSE_REWARD);
        world.noise[i] = tacit_rng_stream(1, 0, i, TACIT_PURPOSE_NOISE);
        world.entropies[i] = tacit_rng_entropy(&world.noise[i]);
    }
    world.edge_stream = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_OF_FAMILY(2, 0));
    return world;
}

static void free_world(struct world *world)
{
    free(world->edges);
    free(world->graph_memory);
    free(world->means);
    free(world->rewards);
    free(world->noise);
    free(world->entropies);
}

/* Result: seconds. */
static double play(struct world *world, enum tacit_privacy_mode mode, double epsilon,
                   uint64_t slots)
{
    uint32_t const agents = world->graph.agent_count;
    uint32_t const arms = world->env.arm_count;
    struct tacit_gossip_config const config = {.agent_count = agents,
                                               .arm_count = arms,
                                               .horizon = slots < 1000000 && agents < 1000 ? 1000000
                                                                                           : slots,
                                               .mechanism = {mode, epsilon, 0, 1},
                                               .width = 1};
    struct tacit_gossip_rule rule;
    if (tacit_gossip_rule_init(&rule, &config) != TACIT_OK)
        exit(1);
    struct tacit_scale const scale = rule.tree.node.scale;
    double const start = seconds_now();
    struct tacit_gossip_network *const network = allocate(1, tacit_gossip_network_size(&rule));
    union tacit_sum *const rewards = allocate((size_t)agents * arms, sizeof rewards[0]);
    tacit_gossip_network_init(network, &rule);
    for (uint32_t i = 0; i < agents; i++)
        for (uint32_t k = 0; k < arms; k++)
            rewards[(size_t)i * arms + k] =
                tacit_env_pull_one(&world->env, i, k, &scale, &world->rewards[i]);
    enum tacit_status status = tacit_gossip_network_first(network, rewards, world->entropies);
    for (uint64_t slot = 0; slot < slots && status == TACIT_OK; slot++) {
        const uint32_t *chosen;
        status = tacit_gossip_network_choose(network, &world->graph, world->entropies, &chosen);
        tacit_env_pull_each(&world->env, agents, chosen, &scale, world->rewards, rewards);
        struct tacit_edge const edge =
            world->edges[tacit_rng_below(&world->edge_stream, world->graph.edge_count)];
        if (status == TACIT_OK)
            status = tacit_gossip_network_absorb(network, &edge, rewards, world->entropies);
    }
    free(network);
    free(rewards);
    if (status != TACIT_OK)
        exit(1);
    return seconds_now() - start;
}

static void small(const char *name, enum tacit_env_kind kind, enum tacit_privacy_mode mode,
                  double epsilon)
{
    struct tacit_graph_spec const path = {.kind = TACIT_GRAPH_PATH, .agent_count = 10};
    uint64_t const slots = 1000000;
    double best = INFINITY;
    for (int i = 0; i < 2; i++) {
        struct world world = make_world(&path, 10, kind);
        best = fmin(best, play(&world, mode, epsilon, slots));
        free_world(&world);
    }
    (void)printf("%-44s %8.3f s %8.2f M agent-pulls/s\n", name, best,
                 10.0 * (double)slots / best / 1e6);
}

static void large(void)
{
    struct tacit_graph_spec const regular = {
        .kind = TACIT_GRAPH_REGULAR, .agent_count = 1000000, .degree = 8};
    double const start = seconds_now();
    struct world world = make_world(&regular, 10, TACIT_ENV_GAUSSIAN);
    double const made = seconds_now() - start;
    double const played = play(&world, TACIT_PRIVACY_NONE, 1, 100);
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("%-44s %8.3f s %8.2f M agent-pulls/s; graph and means %.3f s; peak %.2f GiB\n",
                 "10^6 agents, degree 8, 10 arms, 100 slots", played, 100 / played, made,
                 (double)usage.ru_maxrss / 1048576);
    free_world(&world);
}

/* For callgrind: the first `slots` of the T = 10^6 of one mode; what differs between two of these
 * counts is what so many slots cost. */
static int part(const char *mode_name, const char *kind_name, uint64_t slots)
{
    struct tacit_graph_spec const path = {.kind = TACIT_GRAPH_PATH, .agent_count = 10};
    enum tacit_privacy_mode const mode = mode_name[0] == 's'   ? TACIT_PRIVACY_SOUND
                                         : mode_name[0] == 'p' ? TACIT_PRIVACY_PAPER
                                                               : TACIT_PRIVACY_NONE;
    struct world world =
        make_world(&path, 10, kind_name[0] == 'b' ? TACIT_ENV_BERNOULLI : TACIT_ENV_GAUSSIAN);
    double const seconds = play(&world, mode, 1, slots);
    (void)printf("%.2f M agent-pulls/s\n", 10.0 * (double)slots / seconds / 1e6);
    free_world(&world);
    return 0;
}

/* usage: bench_gossip [small | none|paper|sound gaussian|bernoulli SLOTS] */
int main(int argc, char **argv)
{
    if (argc == 4)
        return part(argv[1], argv[2], strtoull(argv[3], NULL, 10));
    (void)printf("Gossip UCB, A = K = 10, path, T = 10^6 (Gaussian rewards unless said)\n");
    small("no noise", TACIT_ENV_GAUSSIAN, TACIT_PRIVACY_NONE, 1);
    small("no noise, Bernoulli rewards", TACIT_ENV_BERNOULLI, TACIT_PRIVACY_NONE, 1);
    small("paper mode, epsilon 1", TACIT_ENV_GAUSSIAN, TACIT_PRIVACY_PAPER, 1);
    small("paper mode, epsilon 1, Bernoulli rewards", TACIT_ENV_BERNOULLI, TACIT_PRIVACY_PAPER, 1);
    small("sound mode, epsilon 1", TACIT_ENV_GAUSSIAN, TACIT_PRIVACY_SOUND, 1);
    small("sound mode, epsilon 1, Bernoulli rewards", TACIT_ENV_BERNOULLI, TACIT_PRIVACY_SOUND, 1);
    if (argc < 2)
        large();
    return 0;
}

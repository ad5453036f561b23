/* Says what an agent of gossip UCB keeps: reads the block of its core from a file, as its store has
 * it, through the very check that a restart makes. For tests/live/gossip.py.
 *
 * usage: gossip_state EPSILON LO HI FILE; one object of JSON on stdout, 1 if the block is none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../src/families/gossip/core.h"

static void print_numbers(const char *name, const double *row, uint32_t count)
{
    (void)printf("\"%s\": [", name);
    for (uint32_t i = 0; i < count; i++)
        (void)printf("%s%.17g", i > 0 ? ", " : "", row[i]);
    (void)printf("], ");
}

static void print_counts(const char *name, const uint64_t *row, uint32_t count)
{
    (void)printf("\"%s\": [", name);
    for (uint32_t i = 0; i < count; i++)
        (void)printf("%s%" PRIu64, i > 0 ? ", " : "", row[i]);
    (void)printf("], ");
}

static void print_edges(const struct gossip_core *core)
{
    struct tacit_wire_gossip_run const *const run = gossip_core_run(core);
    (void)printf("\"edges\": {");
    for (uint32_t i = 0; i < run->neighbour_count; i++) {
        uint32_t const neighbour = run->neighbours[i].agent;
        uint64_t exchange;
        double const *const flow =
            tacit_gossip_agent_flow(gossip_core_agent(core), neighbour, &exchange);
        (void)printf("%s\"%" PRIu32 "\": {", i > 0 ? ", " : "", neighbour);
        print_numbers("flow", flow, run->arm_count);
        (void)printf("\"exchange\": %" PRIu64 "}", exchange);
    }
    (void)printf("}, ");
}

static void print_state(const struct gossip_core *core)
{
    uint32_t const arms = gossip_core_run(core)->arm_count;
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_look(gossip_core_agent(core), &view);
    (void)printf("{");
    print_numbers("theta", view.theta, arms);
    print_numbers("mean", view.mean, arms);
    print_counts("counts", view.counts, arms);
    print_counts("seen", view.seen, arms);
    print_edges(core);
    (void)printf("\"draws\": %" PRIu64 ", \"pulls\": %" PRIu64 ", \"exchanges\": %" PRIu64
                 ", \"forced\": %" PRIu64 ", \"life_number\": %" PRIu64
                 ", \"finished\": %s, \"halted\": %s}\n",
                 gossip_core_draw_count(core), view.pull_count, view.exchange_count,
                 view.forced_count, view.life_number, view.finished ? "true" : "false",
                 view.halted ? "true" : "false");
}

int main(int count, char **words)
{
    static unsigned char block[1 << 22];
    if (count != 5)
        return 2;
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, strtod(words[1], NULL),
                                                     strtod(words[2], NULL),
                                                     strtod(words[3], NULL)};
    FILE *const file = fopen(words[4], "rb");
    if (file == NULL)
        return 1;
    size_t const size = fread(block, 1, sizeof block, file);
    struct gossip_core *core;
    if (fclose(file) != 0 || gossip_core_restore(&core, &mechanism, block, size) != TACIT_OK)
        return 1;
    print_state(core);
    gossip_core_free(core);
    return 0;
}

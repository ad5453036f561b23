/* Says what an agent of gossip UCB keeps: reads the block of its core from a file, as its store has
 * it, through the very check that a restart makes. For tests/live/gossip.py.
 *
 * usage: gossip_state EPSILON LO HI FILE; one object of JSON on stdout, 1 if the block is none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../src/families/gossip/live.h"
#include "../../src/live/protocol.h"
#include "tacit/gossip.h"

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

static void print_edges(const struct live_site *site)
{
    (void)printf("\"edges\": {");
    for (uint32_t i = 0; i < site->neighbour_count; i++) {
        uint32_t const neighbour = site->neighbours[i].agent;
        uint64_t exchange;
        double const *const flow = tacit_gossip_agent_flow(site->state, neighbour, &exchange);
        (void)printf("%s\"%" PRIu32 "\": {", i > 0 ? ", " : "", neighbour);
        print_numbers("flow", flow, site->shape.arm_count);
        (void)printf("\"exchange\": %" PRIu64 "}", exchange);
    }
    (void)printf("}, ");
}

static void print_state(const struct live_site *site)
{
    uint32_t const arms = site->shape.arm_count;
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_view(site->state, &view);
    (void)printf("{");
    print_numbers("theta", view.theta, arms);
    print_numbers("mean", view.mean, arms);
    print_counts("counts", view.counts, arms);
    print_counts("seen", view.seen, arms);
    print_edges(site);
    (void)printf("\"draws\": %" PRIu64 ", \"pulls\": %" PRIu64 ", \"exchanges\": %" PRIu64
                 ", \"forced\": %" PRIu64 ", \"life_number\": %" PRIu64
                 ", \"finished\": %s, \"halted\": %s}\n",
                 view.draw_count, view.pull_count, view.exchange_count, view.forced_count,
                 view.incarnation_number, view.finished ? "true" : "false",
                 view.halted ? "true" : "false");
}

int main(int count, char **words)
{
    static unsigned char block[1 << 22];
    if (count != 5)
        return 2;
    struct live_site_config const config = {.federation = "trial",
                                            .epsilon = strtod(words[1], NULL),
                                            .lo = strtod(words[2], NULL),
                                            .hi = strtod(words[3], NULL)};
    FILE *const file = fopen(words[4], "rb");
    if (file == NULL)
        return 1;
    size_t const size = fread(block, 1, sizeof block, file);
    struct live_site *site;
    const char *objection;
    if (fclose(file) != 0 ||
        live_site_restore(&gossip_site_ops, &site, &config, block, size, &objection) != TACIT_OK)
        return 1;
    print_state(site);
    live_site_free(site);
    return 0;
}

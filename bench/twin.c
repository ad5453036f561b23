/* Seconds of a run of the naive twin of elimination (tests/oracle/graph_twin.c), a pull at a time,
 * over the star of cdp.yaml: M = 50, T = 1e6, epsilon 1; the arms' means come from standard input.
 * usage: bench_twin RUNS <MEANS */
#include "../tests/oracle/graph_twin.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define AGENTS 50u
#define ARMS_MAX 1000u

int main(int argc, char **argv)
{
    static double means[ARMS_MAX];
    uint32_t component_of[AGENTS];
    unsigned long const runs = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    struct graph_twin_config config = {.kind = GRAPH_TWIN_SINKS,
                                       .agents = AGENTS,
                                       .means = means,
                                       .mean_rows = 1,
                                       .horizon = 1000000,
                                       .epsilon = 1,
                                       .participation = 1,
                                       .component_of = component_of,
                                       .component_count = AGENTS};
    for (uint32_t i = 0; i < AGENTS; i++)
        component_of[i] = i;
    while (config.arms < ARMS_MAX && scanf("%lf%*[,\n]", &means[config.arms]) == 1)
        config.arms++;
    clock_t const start = clock();
    for (unsigned long run = 0; run < runs; run++) {
        struct graph_twin_result result = {.eliminated_epoch = NULL};
        config.seed = graph_twin_seed(1, run);
        if (!graph_twin_run(&config, &result))
            return EXIT_FAILURE;
    }
    printf("%.4g\n", (double)(clock() - start) / (double)CLOCKS_PER_SEC / (double)runs);
    return runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

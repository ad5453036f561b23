/* Which arrays there are, and how they lie. */
#include "results.h"
#include <stdlib.h>
#include <string.h>

#define PROFILE_VALUES_MAX (1u << 24) /* of all runs; beyond that there are none */
#define SITE_VALUES_MAX                                                                            \
    (UINT64_C(1) << 24) /* of all runs; beyond that nothing is said of sites                       \
                         */
#define SITES_MAX 10000u

#define PLACE(member) offsetof(struct tacit_sim_results, member)
static const size_t places[] = {PLACE(metrics),  PLACE(regret),       PLACE(eliminated),
                                PLACE(ranking),  PLACE(ranked_count), PLACE(profiles),
                                PLACE(curves),   PLACE(site_counts),  PLACE(site_sums),
                                PLACE(replayed), PLACE(finished)};
_Static_assert(sizeof places / sizeof places[0] == RESULTS_PARTS, "each has its place");

/* What sites saw is kept where they have means of their own and there is an answer to hold it
 * against. */
static bool watches_sites(const struct tacit_experiment *experiment)
{
    struct tacit_sim const *const sim = &experiment->sim;
    uint64_t const cells = (uint64_t)sim->agent_count * sim->env.arm_count;
    return experiment->family->ranks && !sim->instance_per_run && sim->env.row_count > 1 &&
           sim->agent_count <= SITES_MAX && cells * sim->run_count <= SITE_VALUES_MAX;
}

/* Rankings only where all runs have one instance: else they are of different arms. */
void results_list(const struct tacit_experiment *experiment, bool of_baseline,
                  struct results_part parts[RESULTS_PARTS])
{
    struct tacit_sim const *const sim = &experiment->sim;
    struct tacit_family const *const family = experiment->family;
    size_t const arms = sim->env.arm_count;
    size_t const points = sim->point_count;
    size_t const seen = sim->agent_count * arms;
    bool const has_more = !of_baseline;
    bool const ranks = has_more && family->ranks && !sim->instance_per_run && arms > 0;
    bool const has_profiles = has_more && sim->profile_values > 0 &&
                              (family->band != NULL || !sim->instance_per_run) &&
                              (uint64_t)sim->profile_values * sim->run_count <= PROFILE_VALUES_MAX;
    bool const has_sites = has_more && watches_sites(experiment);
    struct results_part const all[RESULTS_PARTS] = {
        {sizeof(double), family->player.metric_count, true},
        {points * sizeof(double), 1, true},
        {sizeof(uint32_t), arms, has_more && family->eliminates},
        {arms * sizeof(uint32_t), 1, ranks},
        {sizeof(uint32_t), 1, ranks},
        {sim->profile_values * sizeof(double), 1, has_profiles},
        {points * sizeof(double), sim->curve_count, has_more && sim->curve_count > 0},
        {seen * sizeof(uint64_t), 1, has_sites},
        {seen * sizeof(double), 1, has_sites},
        {sizeof(struct tacit_sim_replayed), 1, has_more && sim->replay != NULL},
        {sizeof(bool), 1, true}};
    memcpy(parts, all, sizeof all);
}

void *results_array(const struct tacit_sim_results *results, size_t part)
{
    void *array;
    TACIT_ASSERT(part < RESULTS_PARTS);
    memcpy(&array, (const char *)results + places[part], sizeof array);
    return array;
}

bool results_allocate(struct tacit_sim_results *results, const struct tacit_experiment *experiment,
                      bool of_baseline)
{
    struct results_part parts[RESULTS_PARTS];
    bool has_memory = true;
    results_list(experiment, of_baseline, parts);
    for (size_t i = 0; i < RESULTS_PARTS; i++) {
        TACIT_ASSERT(results_array(results, i) == NULL);
        if (!parts[i].is_wanted)
            continue;
        void *const array = calloc(parts[i].lines * experiment->sim.run_count, parts[i].width);
        memcpy((char *)results + places[i], &array, sizeof array);
        has_memory = has_memory && array != NULL;
    }
    return has_memory;
}

/* Moves the finished runs of every line to the front, line after line without a gap. */
static void keep(const bool *finished, uint32_t runs, char *array, size_t width, size_t lines)
{
    char *to = array;
    for (size_t i = 0; array != NULL && i < lines * runs; i++)
        if (finished[i % runs]) {
            memmove(to, array + i * width, width);
            to += width;
        }
}

uint32_t results_keep_finished(struct tacit_sim_results *results,
                               const struct tacit_experiment *experiment)
{
    struct results_part parts[RESULTS_PARTS];
    uint32_t const runs = experiment->sim.run_count;
    uint32_t finished = 0;
    for (uint32_t run = 0; run < runs; run++)
        finished += results->finished[run] ? 1 : 0;
    results_list(experiment, false, parts);
    for (size_t i = 0; i + 1 < RESULTS_PARTS && finished < runs; i++) /* the last says which */
        keep(results->finished, runs, results_array(results, i), parts[i].width, parts[i].lines);
    return finished;
}

void results_free(struct tacit_sim_results *results)
{
    for (size_t i = 0; i < RESULTS_PARTS; i++)
        free(results_array(results, i));
    *results = (struct tacit_sim_results){0};
}

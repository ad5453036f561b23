/* Not a test by itself: the simulator's side of tests/live/phased.py and helper.py, as simulated.c
 * is for elimination. Plays one run of play in phases and says what was sent and which rewards
 * came; writes the entropy that it used as tapes for the live daemons.
 *
 * usage: simulated_phased FOLDER SEED AGENTS HORIZON EPSILON CONFIDENCE AGGREGATORS SD MEAN...
 * Files: FOLDER/AGENT.noise; with two aggregators FOLDER/coordinator.aggregator, helper.aggregator.
 * Lines: "message FROM TO HEX"; "rewards AGENT ARM LEVEL...", one for each block of pulls; with two
 * aggregators, whose runs are played without messages, "message" of the hub's orders alone, and
 * "totals ROUND SITES TOTAL...". */
#include "../support/wire_shape.h"
#include "../../src/families/phased/plan.h"
#include "../support/phased_nodes.h"
#include "../support/tape.h"
#include "tacit/wire_phased.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARMS_MAX 64u
#define WORDS_BEFORE_MEANS 9

static void print_message(void *context, const struct tacit_phased_message *message)
{
    struct tape_watch *const watch = context;
    tape_print_message(message->from, message->to, WIRE(phased, 0), message);
    watch->is_over = watch->is_over || (message->kind == TACIT_ROUND_ORDER && message->last);
}

static void print_rewards(void *context, uint32_t agent, uint32_t arm, uint64_t count)
{
    tape_print_rewards(context, agent, arm, count);
}

/* ---- Two aggregators: between the simulator and what it calls (--wrap) ---- */

void __real_tacit_phased_judge_close(struct tacit_phased_judge *judge, uint32_t agents,
                                     const int64_t *totals);
void __wrap_tacit_phased_judge_close(struct tacit_phased_judge *judge, uint32_t agents,
                                     const int64_t *totals);

static void print_order(const struct tacit_phased_judge *judge)
{
    struct tacit_phased_judge_view view;
    tacit_phased_judge_view(judge, &view);
    struct tacit_phased_message const order = {.kind = TACIT_ROUND_ORDER,
                                               .from = TACIT_HUB,
                                               .to = TACIT_EVERYONE,
                                               .run_id = 1,
                                               .round = view.round + (view.finished ? 1 : 0),
                                               .last = view.finished,
                                               .leader = view.played,
                                               .block_count = view.plan_count,
                                               .blocks = view.finished ? NULL : view.plan};
    print_message(tape_two, &order);
}

void __wrap_tacit_phased_judge_close(struct tacit_phased_judge *judge, uint32_t agents,
                                     const int64_t *totals)
{
    struct tacit_phased_judge_view view;
    tacit_phased_judge_view(judge, &view);
    if (tape_two != NULL && view.round == 1)
        print_order(judge);
    if (tape_two != NULL)
        (void)printf("totals %" PRIu32 " %" PRIu32, view.round, agents);
    for (uint32_t i = 0; tape_two != NULL && i < view.plan_count; i++)
        (void)printf(" %" PRId64 "%s", totals[i], i + 1 == view.plan_count ? "\n" : "");
    __real_tacit_phased_judge_close(judge, agents, totals);
    if (tape_two != NULL)
        print_order(judge);
}

static void play_two(const char *folder, struct phased_sim *sim, struct tape_watch *watch)
{
    atomic_bool stop = false;
    enum tacit_status status;
    tape_begin_two(folder, watch, &sim->aggregators, &sim->mechanism);
    sim->schedule.floor_milli = TACIT_NO_FLOOR;
    void *const run = phased_run_new(sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim->common, PHASED_METRIC_COUNT);
    TACIT_ASSERT(run != NULL && row != NULL);
    TACIT_ASSERT(phased_run_play(run, 0, row, &stop) == TACIT_OK);
    free(row);
    tacit_sim_delete(run);
}

static void play(const char *folder, struct phased_sim *sim, bool are_two)
{
    struct tape_watch watch = tape_watch_begin(folder, &sim->common, &sim->mechanism.scale);
    struct phased_observer const observer = {
        .context = &watch, .sent = print_message, .pulled = print_rewards};
    double regret; /* one point */
    if (are_two)
        play_two(folder, sim, &watch);
    else
        (void)phased_nodes_play(sim, 0, &observer, &regret);
}

int main(int count, char **words)
{
    double means[ARMS_MAX];
    if (count <= WORDS_BEFORE_MEANS || count > WORDS_BEFORE_MEANS + (int)ARMS_MAX) {
        (void)fprintf(stderr, "usage: simulated_phased FOLDER SEED AGENTS HORIZON EPSILON "
                              "CONFIDENCE AGGREGATORS SD MEAN...\n");
        return 2;
    }
    for (int i = WORDS_BEFORE_MEANS; i < count; i++)
        means[i - WORDS_BEFORE_MEANS] = strtod(words[i], NULL);
    uint32_t const arms = (uint32_t)(count - WORDS_BEFORE_MEANS);
    uint64_t const horizon = strtoull(words[4], NULL, 10);
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, strtod(words[5], NULL), 0,
                                                     1};
    struct phased_sim sim = {.common = {.seed = strtoull(words[2], NULL, 10),
                                        .run_count = 1,
                                        .agent_count = (uint32_t)strtoul(words[3], NULL, 10),
                                        .horizon = horizon,
                                        .points = &horizon,
                                        .point_count = 1,
                                        .env = {.kind = TACIT_ENV_GAUSSIAN,
                                                .row_count = 1,
                                                .arm_count = arms,
                                                .means = means,
                                                .sd = strtod(words[8], NULL)}},
                             .schedule = {.rule = TACIT_PHASES_INDEX,
                                          .arm_count = arms,
                                          .agent_count = (uint32_t)strtoul(words[3], NULL, 10),
                                          .horizon = horizon,
                                          .epsilon_per_reward = mechanism.epsilon_per_reward,
                                          .growth = TACIT_PHASES_GROWTH,
                                          .arms_per_round = arms < 4 ? arms : 4,
                                          .confidence = strtod(words[6], NULL)}};
    TACIT_ASSERT(tacit_mechanism_init(&sim.mechanism, &mechanism) == TACIT_OK);
    play(words[1], &sim, strcmp(words[7], "2") == 0);
    return 0;
}

/* Not a test by itself: the simulator's side of tests/live/byte_for_byte.py and helper.py. Plays
 * one run and says what was sent and which rewards came; writes the entropy that it used as tapes
 * for the live daemons (src/live/daemon/entropy.c).
 *
 * usage: simulated FOLDER SEED AGENTS REPORTS HORIZON EPSILON ROUNDS GAP GROWTH AGGREGATORS SD
 * MEAN...
 * GROWTH: above 0: by exact bounds, whose ladder grows so; ROUNDS is 0 then, and GAP 1.
 * Files: FOLDER/AGENT.noise, FOLDER/hub.decisions; with two aggregators those of tape.h.
 * Lines: "message FROM TO HEX"; "rewards AGENT ARM LEVEL...", one for each block of pulls; with two
 * aggregators, whose runs are played without messages, "message" of the hub's orders alone, and
 * "totals ROUND SITES TOTAL..." of all rounds so far. */
#include "../support/wire_shape.h"
#include "../support/elim_sim.h"
#include "../support/tape.h"
#include "tacit/wire_elim.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARMS_MAX 64u
#define WORDS_BEFORE_MEANS 12

struct watch {
    struct tape_watch tape;
    const struct elim_sim *experiment;
};

static void print_message(void *context, const struct tacit_elim_message *message)
{
    struct watch *const watch = context;
    struct tacit_sim const *const sim = &watch->experiment->common;
    tape_print_message(message->from, message->to, WIRE(elim, sim->env.arm_count, sim->agent_count),
                       message);
    watch->tape.is_over =
        watch->tape.is_over || (message->kind == TACIT_ELIM_ORDER && message->last);
}

static void print_rewards(void *context, uint32_t agent, uint32_t arm, uint64_t count)
{
    struct watch *const watch = context;
    tape_print_rewards(&watch->tape, agent, arm, count);
}

/* ---- Two aggregators: between the simulator and what it calls (--wrap) ---- */

static struct watch *two; /* of a run with two aggregators; NULL: there is one */

void __real_tacit_elim_judge_close(struct tacit_elim_judge *judge, const double *means,
                                   const int64_t *totals);
void __wrap_tacit_elim_judge_close(struct tacit_elim_judge *judge, const double *means,
                                   const int64_t *totals);

/* A live order says new pulls. */
static void print_order(const struct tacit_elim_judge *judge, uint64_t pulls_before)
{
    struct tacit_elim_message order = tacit_elim_judge_order(judge);
    order.to = TACIT_EVERYONE;
    order.run_id = 1;
    order.pulls = order.last ? 0 : order.pulls - pulls_before;
    print_message(two, &order);
}

void __wrap_tacit_elim_judge_close(struct tacit_elim_judge *judge, const double *means,
                                   const int64_t *totals)
{
    struct tacit_elim_message const order = tacit_elim_judge_order(judge);
    if (two != NULL && order.epoch == 1)
        print_order(judge, 0);
    if (two != NULL)
        (void)printf("totals %" PRIu32 " %" PRIu32, order.epoch,
                     two->experiment->common.agent_count);
    TACIT_BITS_EACH (arm, order.arms, two == NULL ? 0 : two->experiment->common.env.arm_count)
        (void)printf(" %" PRId64, totals[arm]);
    __real_tacit_elim_judge_close(judge, means, totals);
    if (two == NULL)
        return;
    (void)printf("\n");
    print_order(judge, order.pulls);
}

static void play(const char *folder, struct elim_sim *experiment, bool are_two)
{
    struct watch watch = {
        tape_watch_begin(folder, &experiment->common, &experiment->mechanism.scale), experiment};
    struct elim_observer observer = {
        .context = &watch, .sent = print_message, .pulled = print_rewards};
    double metrics[ELIM_METRIC_COUNT];
    double regret[1];
    uint32_t eliminated[ARMS_MAX];
    bool finished[1];
    struct tacit_sim_results const results = {
        .metrics = metrics, .regret = regret, .eliminated = eliminated, .finished = finished};
    struct tacit_sim_control control = {0};
    bool healed;
    experiment->hooks = elim_observe(&observer);
    if (are_two) {
        tape_begin_two(folder, &watch.tape, &experiment->aggregators, &experiment->mechanism);
        experiment->floor_milli = TACIT_NO_FLOOR;
        experiment->hooks = NULL;
        two = &watch;
    }
    TACIT_ASSERT(elim_sim_run_one(experiment, 0, &results, &control, &healed) == TACIT_OK);
    TACIT_ASSERT(healed);
}

int main(int count, char **words)
{
    if (count <= WORDS_BEFORE_MEANS || count > WORDS_BEFORE_MEANS + (int)ARMS_MAX) {
        (void)fprintf(stderr, "usage: simulated FOLDER SEED AGENTS REPORTS HORIZON EPSILON ROUNDS "
                              "GAP GROWTH AGGREGATORS SD MEAN...\n");
        return 2;
    }
    double means[ARMS_MAX];
    for (int i = WORDS_BEFORE_MEANS; i < count; i++)
        means[i - WORDS_BEFORE_MEANS] = strtod(words[i], NULL);
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, strtod(words[6], NULL), 0,
                                                     1};
    uint64_t const horizon = strtoull(words[5], NULL, 10);
    struct elim_sim experiment = {
        .common.seed = strtoull(words[2], NULL, 10),
        .common.run_count = 1,
        .common.agent_count = (uint32_t)strtoul(words[3], NULL, 10),
        .report_count = (uint32_t)strtoul(words[4], NULL, 10),
        .round_limit = (uint32_t)strtoul(words[7], NULL, 10),
        .gap = strtod(words[8], NULL),
        .growth = strtod(words[9], NULL),
        .common.horizon = horizon,
        .common.points = &horizon,
        .common.point_count = 1,
        .common.env = {.kind = TACIT_ENV_GAUSSIAN,
                       .row_count = 1,
                       .arm_count = (uint32_t)(count - WORDS_BEFORE_MEANS),
                       .means = means,
                       .sd = strtod(words[11], NULL)},
        .epsilon_per_reward = mechanism.epsilon_per_reward};
    TACIT_ASSERT(tacit_mechanism_init(&experiment.mechanism, &mechanism) == TACIT_OK);
    tape_write(
        words[1], "hub.decisions",
        tacit_rng_stream(experiment.common.seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_SELECTION));
    play(words[1], &experiment, strcmp(words[10], "2") == 0);
    return 0;
}

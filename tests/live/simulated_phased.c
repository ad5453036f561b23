/* Not a test by itself: the simulator's side of tests/live/phased.py, as simulated.c is for
 * elimination. Plays one run of play in phases and says what was sent and which rewards came;
 * writes the entropy that it used as tapes for the live daemons.
 *
 * usage: simulated_phased FOLDER SEED AGENTS HORIZON EPSILON CONFIDENCE SD MEAN...
 * Files: FOLDER/AGENT.noise.
 * Lines: "message FROM TO HEX"; "rewards AGENT ARM LEVEL...", one for each block of pulls. */
#include "../../src/families/phased/run.h"
#include "../support/tape.h"
#include "tacit/wire_phased.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARMS_MAX 64u
#define WORDS_BEFORE_MEANS 8

static void print_message(void *context, const struct tacit_phased_message *message)
{
    struct tape_watch *const watch = context;
    size_t const size = tacit_wire_phased_bytes(message);
    uint8_t *const bytes = malloc(size);
    TACIT_ASSERT(bytes != NULL);
    tacit_wire_phased_encode(message, bytes);
    tape_print_message(message->from, message->to, bytes, size);
    free(bytes);
    watch->is_over = watch->is_over || (message->kind == TACIT_PHASED_ORDER && message->last);
}

static void print_rewards(void *context, uint32_t agent, uint32_t arm, uint64_t count)
{
    tape_print_rewards(context, agent, arm, count);
}

static void play(const char *folder, struct phased_sim *sim)
{
    struct tape_watch watch = tape_watch_begin(folder, &sim->common, &sim->mechanism.scale);
    struct phased_observer const observer = {
        .context = &watch, .sent = print_message, .pulled = print_rewards};
    atomic_bool stop = false;
    bool healed;
    enum tacit_status status;
    struct phased_outcome outcome;
    sim->observer = &observer;
    struct phased_run *const run = phased_run_new(sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim->common, 1);
    TACIT_ASSERT(run != NULL && row != NULL);
    TACIT_ASSERT(phased_run_play(run, 0, row, &stop, &healed, &outcome) == TACIT_OK && healed);
    free(row);
    phased_run_free(run);
}

int main(int count, char **words)
{
    double means[ARMS_MAX];
    if (count <= WORDS_BEFORE_MEANS || count > WORDS_BEFORE_MEANS + (int)ARMS_MAX) {
        (void)fprintf(stderr, "usage: simulated_phased FOLDER SEED AGENTS HORIZON EPSILON "
                              "CONFIDENCE SD MEAN...\n");
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
                                                .sd = strtod(words[7], NULL)}},
                             .schedule = {.rule = TACIT_PHASES_INDEX,
                                          .arm_count = arms,
                                          .agent_count = (uint32_t)strtoul(words[3], NULL, 10),
                                          .horizon = horizon,
                                          .epsilon_per_reward = mechanism.epsilon_per_reward,
                                          .growth = TACIT_PHASES_GROWTH,
                                          .arms_per_round = arms < 4 ? arms : 4,
                                          .confidence = strtod(words[6], NULL)}};
    TACIT_ASSERT(tacit_mechanism_init(&sim.mechanism, &mechanism) == TACIT_OK);
    play(words[1], &sim);
    return 0;
}

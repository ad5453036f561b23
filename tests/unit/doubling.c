/* Agents whose releases double: a few on a path whose words are lost and that die, with all that
 * may come in the place of what comes; and what no such path has: the scale of the noise, more news
 * than a message takes, configurations. Whole runs are in tests/sim/doubling_runs.c. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/doubling.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/variants.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x7020e5f384de0aa7))
/* What states keep: damage.h. */
VERDICTS_ARE(UINT64_C(0xf1f6f592a31ccca9))

#define ARMS 3u
#define AGENTS 3u
#define VARIANTS_OFTEN 24u
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct bench {
    struct tacit_doubling_config config;
    struct tacit_doubling_agent *agent;
    struct tacit_doubling_memory *memory;
    size_t size;
    struct tacit_rng rng;
    uint32_t draws_left; /* entropy fails afterwards */
    struct tacit_doubling_update update;
};

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct bench *const bench = context;
    if (bench->draws_left == 0)
        return TACIT_ENTROPY;
    bench->draws_left--;
    struct tacit_entropy const entropy = tacit_rng_entropy(&bench->rng);
    return entropy.fill(entropy.context, bytes, size);
}

static size_t cells_of(const struct bench *bench)
{
    return (size_t)bench->config.schedule.agent_count * bench->config.schedule.arm_count;
}

static void digest_said(const struct tacit_doubling_message *message, size_t cells)
{
    uint64_t const words[] = {message->kind,
                              message->from,
                              message->to,
                              message->run_id,
                              message->incarnation_number,
                              message->incarnation,
                              message->more,
                              message->entry_count};
    digest_bytes(words, sizeof words);
    if (message->entry_count > 0)
        digest_bytes(message->entries, message->entry_count * sizeof *message->entries);
    if (message->known != NULL)
        digest_bytes(message->known, cells);
}

static void digest_stepped(const struct bench *bench, enum tacit_status status)
{
    struct tacit_doubling_update const *const update = &bench->update;
    struct tacit_doubling_view view;
    digest_step(status, update->persist | (uint64_t)update->send << 1, update->deadline_us,
                update->plan, update->plan_count);
    if (update->send)
        digest_said(&update->message, cells_of(bench));
    tacit_doubling_view(bench->agent, &view);
    uint64_t const words[] = {view.waiting,
                              view.resting,
                              view.finished,
                              view.halted,
                              view.forced,
                              view.pull_count,
                              view.forced_count,
                              view.release_count,
                              view.conflict_count,
                              view.leader,
                              view.exploit_arm,
                              view.plan_count,
                              view.incarnation_number};
    digest_bytes(words, sizeof words);
    digest_bytes(view.known, cells_of(bench));
    digest_bytes(view.steps, cells_of(bench) * view.rung_count * sizeof *view.steps);
    digest_reals(view.means, bench->config.schedule.arm_count);
    digest_ledger(view.ledger);
}

/* ---- Events that are a little other: tests/support/variants.h ---- */

struct other {
    const struct bench *bench;
    struct tacit_event event;
    struct tacit_doubling_message message;
    uint32_t draws;
};

static void step_copy(void *context)
{
    struct other *const other = context;
    struct bench copy = *other->bench;
    size_t const memory_size = tacit_doubling_memory_size(&copy.config);
    struct tacit_entropy const entropy = {fill, &copy};
    copy.agent = testing_malloc(copy.size);
    copy.memory = testing_malloc(memory_size);
    assert_true(copy.agent != NULL && copy.memory != NULL);
    memcpy(copy.agent, other->bench->agent, copy.size);
    memcpy(copy.memory, other->bench->memory, memory_size);
    copy.draws_left = other->draws;
    enum tacit_status const status =
        tacit_doubling_step(copy.agent, copy.memory, &other->event, &entropy, &copy.update);
    digest_stepped(&copy, status);
    damage_words(copy.agent, copy.size);
    damage_words(copy.memory, memory_size);
    if (status != TACIT_OK && !copy.update.persist)
        assert_memory_equal(copy.agent, other->bench->agent, copy.size);
}

static void try_other_entries(struct other *other, struct tacit_doubling_entry *entries)
{
    static const struct variant_field fields[] = {VARIANT_ANY(struct tacit_doubling_entry, agent),
                                                  VARIANT_ANY(struct tacit_doubling_entry, arm),
                                                  VARIANT_ANY(struct tacit_doubling_entry, block),
                                                  VARIANT_ANY(struct tacit_doubling_entry, spare),
                                                  VARIANT_ANY(struct tacit_doubling_entry, steps)};
    for (uint32_t i = 0; i < other->message.entry_count; i += i + 1)
        variants_of(&entries[i], fields, COUNT(fields), step_copy, other);
}

static void try_other_words(struct other *other)
{
    struct tacit_doubling_message const *const said = other->event.as.message;
    size_t const cells = cells_of(other->bench);
    struct variant_field const fields[] = {
        VARIANT(struct tacit_doubling_message, kind, 0, TACIT_DOUBLING_REFUSE),
        VARIANT_ANY(struct tacit_doubling_message, from),
        VARIANT_ANY(struct tacit_doubling_message, to),
        VARIANT_ANY(struct tacit_doubling_message, run_id),
        VARIANT_ANY(struct tacit_doubling_message, incarnation_number),
        VARIANT_ANY(struct tacit_doubling_message, incarnation),
        VARIANT(struct tacit_doubling_message, more, 0, 1),
        VARIANT(struct tacit_doubling_message, entry_count, 0, said->entry_count)};
    static const struct variant_field byte[] = {{0, 1, 0, UINT8_MAX, false}};
    void *const memory = testing_malloc(tacit_doubling_message_size(said, cells));
    other->message = *tacit_doubling_message_copy(said, cells, memory);
    other->event.as.message = &other->message;
    variants_of(&other->message, fields, COUNT(fields), step_copy, other);
    if (other->message.entries != NULL)
        try_other_entries(other, (void *)(uintptr_t)other->message.entries);
    for (size_t cell = 0; other->message.known != NULL && cell < cells; cell += 1 + cell)
        variants_of((void *)(uintptr_t)&other->message.known[cell], byte, 1, step_copy, other);
}

static void try_other_kinds(struct other *other)
{
    static const struct variant_field count[] = {
        VARIANT_ANY(struct tacit_event, as.exploited_count)};
    struct tacit_doubling_view view;
    tacit_doubling_view(other->bench->agent, &view);
    other->event = (struct tacit_event){.now_us = other->event.now_us, .kind = TACIT_EVENT_TIMEOUT};
    step_copy(other);
    other->event.now_us += 10;
    step_copy(other);
    other->event.kind = TACIT_EVENT_OFFER;
    step_copy(other);
    other->event.kind = TACIT_EVENT_EXPLOITED;
    other->event.as.exploited_count = other->bench->config.schedule.horizon - view.pull_count;
    step_copy(other);
    variants_of(&other->event, count, 1, step_copy, other);
    other->event.kind = TACIT_EVENT_REWARD;
    other->event.as.reward = (struct tacit_reward){0, 1, {.steps = 1}};
    step_copy(other);
}

/* All that may come in this state in the place of the event that comes. */
static void try_others(const struct bench *bench, const struct tacit_event *event)
{
    struct other other = {.bench = bench, .event = *event};
    struct variant_field const fields[] = {
        VARIANT(struct tacit_event, now_us, event->now_us, UINT64_MAX / 4),
        VARIANT_ANY(struct tacit_event, as.reward.arm),
        VARIANT_ANY(struct tacit_event, as.reward.count),
        VARIANT_ANY(struct tacit_event, as.reward.sum)};
    for (; other.draws < 3; other.draws++)
        step_copy(&other);
    other.draws = UINT32_MAX;
    variants_of(&other.event, fields, event->kind == TACIT_EVENT_REWARD ? 4 : 1, step_copy, &other);
    if (event->kind == TACIT_EVENT_RECEIVE)
        try_other_words(&other);
    if (event->kind != TACIT_EVENT_START) /* its memory is new */
        try_other_kinds(&other);
}

static enum tacit_status step(struct bench *bench, struct tacit_event event)
{
    struct tacit_entropy const entropy = {fill, bench};
    if (variants_are_due(VARIANTS_OFTEN))
        try_others(bench, &event);
    enum tacit_status const status =
        tacit_doubling_step(bench->agent, bench->memory, &event, &entropy, &bench->update);
    digest_stepped(bench, status);
    damage_words(bench->agent, bench->size);
    return status;
}

static struct tacit_doubling_view view_of(const struct bench *bench)
{
    struct tacit_doubling_view view;
    tacit_doubling_view(bench->agent, &view);
    return view;
}

static const uint32_t neighbours[] = {0, 2}; /* of agent 1, in the middle of a path */

static struct tacit_doubling_config config_of(double epsilon, uint64_t horizon)
{
    struct tacit_doubling_config config = {.schedule = {.rule = TACIT_PHASES_INDEX,
                                                        .arm_count = ARMS,
                                                        .agent_count = AGENTS,
                                                        .horizon = horizon,
                                                        .epsilon_per_reward = epsilon,
                                                        .growth = 2,
                                                        .arms_per_round = 3},
                                           .run_id = 9,
                                           .agent_id = 1,
                                           .neighbours = neighbours,
                                           .neighbour_count = 2,
                                           .hop_us = 10,
                                           .ask_us = 100,
                                           .guards_incarnations = true};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    assert_int_equal(tacit_mechanism_init(&config.mechanism, &mechanism), TACIT_OK);
    return config;
}

static void restart(struct bench *bench)
{
    tacit_doubling_memory_init(bench->memory, &bench->config);
    assert_int_equal(step(bench, (struct tacit_event){.kind = TACIT_EVENT_START}), TACIT_OK);
}

static void open_bench(struct bench *bench, double epsilon, uint64_t horizon)
{
    *bench = (struct bench){.config = config_of(epsilon, horizon), .draws_left = UINT32_MAX};
    bench->rng = tacit_rng_stream(77, 0, 0, TACIT_PURPOSE_NOISE);
    bench->size = tacit_doubling_size(&bench->config);
    bench->agent = testing_malloc(bench->size);
    bench->memory = testing_malloc(tacit_doubling_memory_size(&bench->config));
    assert_true(bench->size > 0 && bench->agent != NULL && bench->memory != NULL);
    assert_int_equal(tacit_doubling_init(bench->agent, &bench->config), TACIT_OK);
    restart(bench);
}

static void play_plan(struct bench *bench)
{
    struct tacit_pull_block plan[ARMS];
    struct tacit_doubling_view const view = view_of(bench);
    uint32_t const count = view.plan_count;
    memcpy(plan, view.plan, count * sizeof plan[0]);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(step(bench,
                              (struct tacit_event){
                                  .now_us = 1,
                                  .kind = TACIT_EVENT_REWARD,
                                  .as.reward = {plan[i].arm,
                                                plan[i].count,
                                                {.steps = (int64_t)plan[i].count * TACIT_STEPS}}}),
                         TACIT_OK);
}

static struct tacit_doubling_message news(const struct tacit_doubling_entry *entries,
                                          uint32_t count)
{
    return (struct tacit_doubling_message){.kind = TACIT_DOUBLING_NEWS,
                                           .from = 0,
                                           .to = TACIT_NEIGHBOURS,
                                           .run_id = 9,
                                           .incarnation_number = 1,
                                           .incarnation = 4,
                                           .entry_count = count,
                                           .entries = entries};
}

TEST(noise_is_of_scale_one_over_epsilon_and_each_block_costs_epsilon)
{
    struct bench bench;
    double squares = 0;
    uint32_t count = 0;
    for (uint32_t run = 0; run < 2000; run++) {
        digest_pause(run > 50); /* the same again */
        open_bench(&bench, 1, 100000);
        bench.rng = tacit_rng_stream(78, run, 0, TACIT_PURPOSE_NOISE);
        play_plan(&bench);
        struct tacit_doubling_view const view = view_of(&bench);
        assert_true(tacit_ledger_spent_nano(view.ledger) == TACIT_NANO);
        for (uint32_t arm = 0; arm < ARMS; arm++, count++) {
            double const noise =
                (double)view.steps[(ARMS + arm) * view.rung_count] / (double)TACIT_STEPS -
                (double)view.rungs[0];
            squares += noise * noise;
        }
    }
    digest_pause(false);
    /* Variance 2, of whose estimate the standard deviation is sqrt(20/6000) = 0.058: five of them
     */
    assert_true(fabs(squares / count - 2) < 0.29);
}

/* Blocks of agents 0 and 2, six of each arm: more than a message takes. */
#define MANY_ARMS 64u
#define MANY_BLOCKS 6u

static void hear_many(struct bench *bench, uint32_t agent, uint64_t now_us)
{
    struct tacit_doubling_entry entries[MANY_ARMS * MANY_BLOCKS];
    for (uint32_t i = 0; i < MANY_ARMS * MANY_BLOCKS; i++)
        entries[i] = (struct tacit_doubling_entry){agent, i / MANY_BLOCKS, i % MANY_BLOCKS, 0, i};
    struct tacit_doubling_message const word = news(entries, MANY_ARMS * MANY_BLOCKS);
    struct tacit_event const event = {
        .now_us = now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &word};
    assert_int_equal(step(bench, event), TACIT_OK);
}

TEST(news_that_does_not_fit_in_one_message_goes_on_in_the_next)
{
    struct bench bench;
    uint8_t known[AGENTS * MANY_ARMS] = {0};
    uint32_t const rest = 2 * MANY_ARMS * MANY_BLOCKS - TACIT_DOUBLING_ENTRIES_MAX;
    open_bench(&bench, (double)INFINITY, 100000);
    bench.config.schedule.arm_count = MANY_ARMS;
    bench.size = tacit_doubling_size(&bench.config);
    bench.agent = testing_malloc(bench.size);
    bench.memory = testing_malloc(tacit_doubling_memory_size(&bench.config));
    assert_true(bench.size > 0 && bench.agent != NULL && bench.memory != NULL);
    assert_int_equal(tacit_doubling_init(bench.agent, &bench.config), TACIT_OK);
    restart(&bench);
    hear_many(&bench, 0, 0);
    hear_many(&bench, 2, 0);
    struct tacit_event event = {.now_us = 10, .kind = TACIT_EVENT_TIMEOUT};
    assert_int_equal(step(&bench, event), TACIT_OK);
    assert_int_equal(bench.update.message.entry_count, TACIT_DOUBLING_ENTRIES_MAX);
    assert_true(bench.update.message.more && bench.update.deadline_us == 20);
    event.now_us = 20;
    assert_int_equal(step(&bench, event), TACIT_OK);
    assert_int_equal(bench.update.message.entry_count, rest);
    assert_true(!bench.update.message.more && bench.update.deadline_us == TACIT_NEVER);
    for (uint32_t knows = 0; knows < 2; knows++) { /* who asks is told so, too */
        memset(known, knows ? MANY_BLOCKS - 1 : 0, sizeof known);
        struct tacit_doubling_message const have = {.kind = TACIT_DOUBLING_HAVE,
                                                    .from = 2,
                                                    .to = 1,
                                                    .run_id = 9,
                                                    .incarnation_number = 3,
                                                    .incarnation = 7,
                                                    .known = known};
        event =
            (struct tacit_event){.now_us = 20, .kind = TACIT_EVENT_RECEIVE, .as.message = &have};
        assert_int_equal(step(&bench, event), TACIT_OK);
        assert_int_equal(bench.update.message.entry_count,
                         knows ? 2 * MANY_ARMS : TACIT_DOUBLING_ENTRIES_MAX);
        assert_true(bench.update.message.more == (knows == 0));
    }
    struct tacit_doubling_entry const one = {0, 0, 0, 0, 0};
    struct tacit_doubling_message cut = news(&one, 1);
    cut.more = true;
    cut.to = 1; /* an answer that was cut: asked again */
    event.as.message = &cut;
    assert_int_equal(step(&bench, event), TACIT_OK);
    assert_true(bench.update.send && bench.update.message.kind == TACIT_DOUBLING_HAVE);
}

TEST(configurations_that_cannot_be_are_refused)
{
    struct tacit_doubling_config const good = config_of(1, 1000);
    static const uint32_t unsorted[] = {2, 0};
    struct tacit_doubling_config bad[10];
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].agent_id = AGENTS;
    bad[1].neighbours = unsorted;
    bad[2].hop_us = 0;
    bad[3].ask_us = 0;
    bad[4].quorum = AGENTS + 1;
    bad[5].schedule.rule = TACIT_PHASES_ELIMINATION;
    bad[6].schedule.confidence = 0.95;
    bad[7].schedule.horizon = 0;
    bad[8].schedule.epsilon_per_reward = 1.5; /* less noise than is drawn: bounds would not hold */
    bad[9].mechanism.mode = TACIT_PRIVACY_PAPER;
    assert_true(tacit_doubling_size(&good) > 0);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(tacit_doubling_size(&bad[i]), 0);
}

/* ---- Three agents on a path that loses words, and that die at any time -------------------------
 */

#define ARMS_MOST 5u
#define AGENTS_MOST 4u
#define DRIVES 60u
#define DRIVE_TURNS 20000u
#define WORDS_MAX 64u

struct word {
    struct tacit_doubling_message *message;
    uint32_t to;
};

struct drive {
    struct bench benches[AGENTS_MOST];
    void *disks[AGENTS_MOST];
    uint32_t agents; /* in a row */
    uint64_t now_us;
    struct tacit_rng chance;
    struct tacit_pull_block open[AGENTS_MOST][ARMS_MOST]; /* what is left of the plans */
    uint32_t open_count[AGENTS_MOST];
    struct word words[WORDS_MAX]; /* on their way, in no order */
    uint32_t word_count;
};

static bool happens(struct drive *drive, uint64_t of)
{
    return tacit_rng_below(&drive->chance, of) == 0;
}

static void send_to(struct drive *drive, const struct tacit_doubling_message *message, uint32_t to)
{
    if (happens(drive, 8) || drive->word_count == WORDS_MAX)
        return;
    size_t const cells = cells_of(&drive->benches[0]);
    void *const memory = testing_malloc(tacit_doubling_message_size(message, cells));
    (void)tacit_doubling_message_copy(message, cells, memory);
    drive->words[drive->word_count++] = (struct word){memory, to};
}

/* One step, which is made durable, and what it says. */
static enum tacit_status drive_step(struct drive *drive, uint32_t i, struct tacit_event event)
{
    struct bench *const bench = &drive->benches[i];
    event.now_us = drive->now_us;
    bench->draws_left = happens(drive, 16) ? 0 : UINT32_MAX;
    enum tacit_status const status = step(bench, event);
    assert_true(status == TACIT_OK || status == TACIT_ENTROPY);
    struct tacit_doubling_update const *const update = &bench->update;
    if (update->persist)
        memcpy(drive->disks[i], bench->agent, bench->size);
    if (update->plan_count > 0) {
        drive->open_count[i] = update->plan_count;
        memcpy(drive->open[i], update->plan, update->plan_count * sizeof update->plan[0]);
    }
    struct tacit_doubling_message const *const message = &update->message;
    for (uint32_t to = 0; update->send && to < drive->agents; to++)
        if (message->to == to || (message->to == TACIT_NEIGHBOURS && (to + 1 == i || to == i + 1)))
            send_to(drive, message, to);
    return status;
}

static void start_again(struct drive *drive, uint32_t i)
{
    struct bench *const bench = &drive->benches[i];
    enum tacit_status status;
    do { /* no start without entropy */
        drive->open_count[i] = 0;
        memcpy(bench->agent, drive->disks[i], bench->size);
        tacit_doubling_memory_init(bench->memory, &bench->config);
        status = drive_step(drive, i, (struct tacit_event){.kind = TACIT_EVENT_START});
    } while (status != TACIT_OK);
}

static void deliver(struct drive *drive)
{
    if (drive->word_count == 0)
        return;
    uint32_t const at = (uint32_t)tacit_rng_below(&drive->chance, drive->word_count);
    struct word const word = drive->words[at];
    bool const comes_again = happens(drive, 8);
    if (!comes_again)
        drive->words[at] = drive->words[--drive->word_count];
    struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = word.message};
    (void)drive_step(drive, word.to, event);
    if (!comes_again)
        testing_free(word.message);
}

/* Some pulls of an open block, or of the leader while it waits. */
static void pull(struct drive *drive, uint32_t i)
{
    struct tacit_doubling_view const view = view_of(&drive->benches[i]);
    struct tacit_event event = {.kind = TACIT_EVENT_EXPLOITED};
    uint64_t const left = drive->benches[i].config.schedule.horizon - view.pull_count;
    if (view.waiting && left > 0) {
        event.as.exploited_count = 1 + tacit_rng_below(&drive->chance, left < 9 ? left : 9);
        (void)drive_step(drive, i, event);
        return;
    }
    if (drive->open_count[i] == 0)
        return;
    uint32_t const at = (uint32_t)tacit_rng_below(&drive->chance, drive->open_count[i]);
    struct tacit_pull_block *const block = &drive->open[i][at];
    if (block->count == 0)
        return;
    uint64_t const count =
        happens(drive, 2) ? block->count : 1 + tacit_rng_below(&drive->chance, block->count);
    uint64_t const steps = tacit_rng_below(&drive->chance, count * TACIT_STEPS + 1);
    block->count -= count;
    event.kind = TACIT_EVENT_REWARD;
    event.as.reward = (struct tacit_reward){block->arm, count, {.steps = (int64_t)steps}};
    (void)drive_step(drive, i, event);
}

/* Agents in a row, as many and with as many arms as the number says. */
static struct tacit_doubling_config drive_config(uint32_t number, uint32_t agents, uint32_t i,
                                                 uint64_t horizon)
{
    static const uint32_t beside[AGENTS_MOST][2] = {{1}, {0, 2}, {1, 3}, {2}};
    struct tacit_doubling_config config =
        config_of(number % 3 == 0 ? (double)INFINITY : 1, horizon);
    bool const has_both = i > 0 && i + 1 < agents;
    config.schedule.agent_count = agents;
    config.schedule.arm_count = 1 + (number + 2) % ARMS_MOST;
    config.schedule.arms_per_round = 2 + number % 4;
    config.schedule.growth = 1.5 + 0.5 * (number / 2 % 3);
    config.agent_id = i;
    config.neighbours = beside[i];
    config.neighbour_count = agents == 1 ? 0 : has_both ? 2 : 1;
    config.quorum = number % 2 == 0 ? 0 : (agents + 1) / 2;
    config.pull_us = number / 3 % 2;
    config.guards_incarnations = number % 4 != 3;
    return config;
}

static void open_drive(struct drive *drive, uint32_t number)
{
    *drive = (struct drive){.chance = tacit_rng_stream(41, number, 0, TACIT_PURPOSE_INSTANCE)};
    uint64_t const horizon = 1 + tacit_rng_below(&drive->chance, 3000);
    drive->agents = 1 + (number + 2) / 2 % AGENTS_MOST;
    for (uint32_t i = 0; i < drive->agents; i++) {
        struct bench *const bench = &drive->benches[i];
        bench->config = drive_config(number, drive->agents, i, horizon);
        bench->rng = tacit_rng_stream(41, number, i, TACIT_PURPOSE_NOISE);
        bench->size = tacit_doubling_size(&bench->config);
        bench->agent = testing_malloc(bench->size);
        bench->memory = testing_malloc(tacit_doubling_memory_size(&bench->config));
        drive->disks[i] = testing_calloc(1, bench->size);
        assert_true(bench->size > 0 && bench->agent != NULL && bench->memory != NULL);
        assert_non_null(drive->disks[i]);
        assert_int_equal(tacit_doubling_init(drive->disks[i], &bench->config), TACIT_OK);
    }
    for (uint32_t i = 0; i < drive->agents; i++)
        start_again(drive, i);
}

static bool is_over(const struct drive *drive)
{
    for (uint32_t i = 0; i < drive->agents; i++)
        if (!view_of(&drive->benches[i]).finished)
            return false;
    return true;
}

/* Nobody believes of a block what its owner does not. */
static void assert_agreement(const struct drive *drive)
{
    for (uint32_t i = 0; i < drive->agents; i++) {
        struct tacit_doubling_view const view = view_of(&drive->benches[i]);
        assert_true(view.conflict_count == 0 && !view.halted);
        uint32_t const arms = drive->benches[i].config.schedule.arm_count;
        for (uint32_t cell = 0; cell < drive->agents * arms; cell++) {
            struct tacit_doubling_view const its = view_of(&drive->benches[cell / arms]);
            assert_true(view.known[cell] <= its.known[cell]);
            for (uint32_t block = 0; block < view.known[cell]; block++)
                assert_true(view.steps[cell * view.rung_count + block] ==
                            its.steps[cell * view.rung_count + block]);
        }
    }
}

TEST(lost_words_deaths_and_failing_entropy_end_at_the_horizon_in_agreement)
{
    for (uint32_t number = 0; number < DRIVES; number++) {
        struct drive drive;
        uint32_t turn = 0;
        open_drive(&drive, number);
        for (; turn < DRIVE_TURNS && !is_over(&drive); turn++) {
            uint32_t const i = (uint32_t)tacit_rng_below(&drive.chance, drive.agents);
            drive.now_us += tacit_rng_below(&drive.chance, 30);
            if (happens(&drive, 40))
                start_again(&drive, i);
            else if (happens(&drive, 3))
                (void)drive_step(&drive, i, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
            else if (happens(&drive, 2))
                deliver(&drive);
            else
                pull(&drive, i);
        }
        assert_true(turn < DRIVE_TURNS);
        assert_agreement(&drive);
    }
}

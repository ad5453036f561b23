/* Votes over a hub, one situation after the other: what is granted, what a refused state may do,
 * that rows only grow. Anything at any time is tests/round's. */
#include "../support/testing.h"
#include "tacit/vote_hub.h"
#include "../support/player.h"

#define RUN 77u
#define ARMS 3u
#define SITES 5u
#define COPIES 2u /* processes that speak in the name of a site */
#define NEEDED 2u
#define TICK_US 1000u
#define RESEND_US 50000u
#define QUEUE_MAX 4096u
#define CELLS_MAX 64u

static const double means[ARMS] = {0.2, 0.9, 0.3};

/* ---- A world --------------------------------------------------------------------------------- */

struct message {
    struct tacit_vote_hub_message message;
    uint64_t marks;
    uint32_t copy; /* who sent it */
};

/* A process: what it knows, and what is on its disk. */
struct process {
    bool runs;
    struct tacit_vote_site *memory;
    struct tacit_vote_site *disk;
    uint64_t left[ARMS];
    uint64_t deadline_us;
    uint32_t draws; /* the ledger's newest row */
};

struct world {
    struct tacit_vote_site_config config;
    struct tacit_vote_hub_config hub_config;
    size_t site_bytes;
    size_t hub_bytes;
    struct process processes[SITES][COPIES];
    struct tacit_vote_hub *hub;
    struct tacit_vote_hub *hub_disk;
    struct message queue[QUEUE_MAX];
    uint32_t queue_count;
    struct tacit_rng noise;
    uint64_t now_us;
    uint64_t rows[SITES]; /* as the hub said them last */
    uint8_t granted[SITES][CELLS_MAX][TACIT_SHA256_BYTES];
    uint64_t draws;
    bool entropy_fails;
};

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct world *const world = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->noise);
    return world->entropy_fails ? TACIT_ENTROPY : entropy.fill(entropy.context, bytes, size);
}

static struct tacit_vote_site_config config_of(const struct world *world, uint32_t site)
{
    struct tacit_vote_site_config config = world->config;
    config.player.player_id = site;
    return config;
}

static void open_world(struct world *world, double epsilon, uint64_t seed)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    memset(world, 0, sizeof *world);
    world->config = (struct tacit_vote_site_config){
        .player = {.run_id = RUN,
                   .player_count = SITES,
                   .arm_count = ARMS,
                   .accuracy = 0.25,
                   .failure = 0.1,
                   .growth = 2,
                   .budget_nano = 1000 * TACIT_NANO,
                   .tick_us = TICK_US},
        .board = {.run_id = RUN, .player_count = SITES, .arm_count = ARMS, .votes_needed = NEEDED},
        .horizon = 1000000,
        .draws_max = CELLS_MAX - 1,
        .resend_after_us = RESEND_US};
    assert_int_equal(tacit_mechanism_init(&world->config.player.mechanism, &mechanism), TACIT_OK);
    world->hub_config.board = world->config.board;
    world->site_bytes = tacit_vote_site_size(&world->config);
    world->hub_bytes = tacit_vote_hub_size(&world->hub_config);
    assert_true(world->site_bytes > 0 && world->hub_bytes > 0);
    world->noise = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t copy = 0; copy < COPIES; copy++) {
            struct tacit_vote_site_config const config = config_of(world, site);
            struct process *const process = &world->processes[site][copy];
            process->memory = testing_calloc(1, world->site_bytes);
            process->disk = testing_calloc(1, world->site_bytes);
            assert_int_equal(tacit_vote_site_init(process->memory, &config), TACIT_OK);
            memcpy(process->disk, process->memory, world->site_bytes);
            process->deadline_us = TACIT_NEVER;
        }
    world->hub = testing_calloc(1, world->hub_bytes);
    world->hub_disk = testing_calloc(1, world->hub_bytes);
    assert_int_equal(tacit_vote_hub_init(world->hub, &world->hub_config), TACIT_OK);
    memcpy(world->hub_disk, world->hub, world->hub_bytes);
}

static void post(struct world *world, const struct tacit_vote_hub_message *message, uint32_t copy)
{
    if (world->queue_count == QUEUE_MAX)
        return; /* lost */
    struct message *const made = &world->queue[world->queue_count++];
    *made = (struct message){.message = *message, .copy = copy};
    if (message->marks != NULL)
        made->marks = message->marks[0];
}

/* ---- Sites ----------------------------------------------------------------------------------- */

/* Persist, send, plan. A death before the write loses the step; after it, the messages. */
static enum tacit_status step(struct world *world, uint32_t site, uint32_t copy,
                              struct tacit_event event)
{
    struct process *const process = &world->processes[site][copy];
    struct tacit_vote_site_config config = config_of(world, site);
    struct tacit_entropy const entropy = {.fill = fill, .context = world};
    struct tacit_vote_site_update update;
    event.now_us = world->now_us;
    enum tacit_status const status =
        tacit_vote_site_step(process->memory, &event, &entropy, &update);
    assert_int_equal(tacit_vote_site_check(process->memory, world->site_bytes, &config), TACIT_OK);
    if (!update.persist)
        assert_false(update.has_draw);
    if (update.persist)
        memcpy(process->disk, process->memory, world->site_bytes);
    if (update.has_draw) {
        assert_int_equal(update.draw, process->draws + 1); /* a row a draw, never another one */
        process->draws = update.draw;
        world->draws++;
    }
    for (uint32_t i = 0; i < update.message_count; i++)
        post(world, &update.messages[i], copy);
    if (update.replan)
        plan_begins(process->left, sizeof process->left / sizeof *process->left, update.plan,
                    update.plan_count);
    process->deadline_us = update.deadline_us;
    return status;
}

static struct tacit_vote_site_view look(const struct world *world, uint32_t site, uint32_t copy)
{
    struct tacit_vote_site_view view;
    tacit_vote_site_view(world->processes[site][copy].memory, &view);
    return view;
}

static void start(struct world *world, uint32_t site, uint32_t copy)
{
    struct process *const process = &world->processes[site][copy];
    process->runs = true;
    memset(process->left, 0, sizeof process->left);
    memcpy(process->memory, process->disk, world->site_bytes);
    process->draws = (uint32_t)look(world, site, copy).player.draw;
    (void)step(world, site, copy, (struct tacit_event){.kind = TACIT_EVENT_START});
}

/* All that is left of one arm at once, with its expected sum. */
static enum tacit_status play(struct world *world, uint32_t site, uint32_t copy)
{
    struct process *const process = &world->processes[site][copy];
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        uint64_t const count = process->left[arm];
        if (count == 0)
            continue;
        process->left[arm] = 0;
        return step(
            world, site, copy,
            (struct tacit_event){.kind = TACIT_EVENT_REWARD,
                                 .as.reward = {.arm = arm,
                                               .count = count,
                                               .sum.steps = (int64_t)(means[arm] * (double)count *
                                                                      (double)TACIT_STEPS)}});
    }
    return TACIT_OK;
}

static enum tacit_status hear(struct world *world, uint32_t site, uint32_t copy,
                              const struct message *message)
{
    struct tacit_vote_hub_message said = message->message;
    said.marks = said.marks == NULL ? NULL : &message->marks;
    return step(world, site, copy,
                (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &said});
}

/* ---- The hub --------------------------------------------------------------------------------- */

static void check_said(struct world *world, const struct tacit_vote_hub_message *said)
{
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    if (said->kind == TACIT_VOTE_ROW) { /* a word about a player only grows */
        assert_true((said->marks[0] & world->rows[said->player]) == world->rows[said->player]);
        world->rows[said->player] = said->marks[0];
    }
    if (said->kind == TACIT_VOTE_GRANTED) { /* one commitment a draw, for ever */
        assert_true(said->draw < CELLS_MAX);
        uint8_t *const before = world->granted[said->to][said->draw];
        if (memcmp(before, nothing, sizeof nothing) != 0)
            assert_memory_equal(before, said->commitment, sizeof nothing);
        memcpy(before, said->commitment, sizeof nothing);
    }
}

static enum tacit_status step_hub(struct world *world, struct tacit_event event)
{
    struct tacit_entropy const entropy = {.fill = fill, .context = world};
    struct tacit_vote_hub_update update;
    event.now_us = world->now_us;
    enum tacit_status const status = tacit_vote_hub_step(world->hub, &event, &entropy, &update);
    assert_int_equal(tacit_vote_hub_check(world->hub, world->hub_bytes, &world->hub_config),
                     TACIT_OK);
    if (update.persist)
        memcpy(world->hub_disk, world->hub, world->hub_bytes);
    if (update.send) {
        check_said(world, &update.message);
        post(world, &update.message, 0);
    }
    return status;
}

static enum tacit_status tell_hub(struct world *world, const struct message *message)
{
    struct tacit_vote_hub_message said = message->message;
    said.marks = said.marks == NULL ? NULL : &message->marks;
    return step_hub(world, (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &said});
}

/* All that stands, as when the broker is there again. */
static void say_all(struct world *world)
{
    struct tacit_vote_hub_message message;
    (void)step_hub(world, (struct tacit_event){.kind = TACIT_EVENT_START});
    for (uint32_t site = 0; site < SITES; site++)
        if (tacit_vote_hub_row(world->hub, site, &message))
            post(world, &message, 0);
}

static void deliver(struct world *world, const struct message *message)
{
    struct tacit_vote_hub_message const *const said = &message->message;
    if (said->to == TACIT_HUB)
        (void)tell_hub(world, message);
    for (uint32_t site = 0; said->to != TACIT_HUB && site < SITES; site++)
        for (uint32_t copy = 0; copy < COPIES; copy++)
            if ((said->to == TACIT_EVERYONE || said->to == site) &&
                world->processes[site][copy].runs)
                (void)hear(world, site, copy, message);
}

/* In order, until nothing is under way. */
static void deliver_all(struct world *world)
{
    while (world->queue_count > 0) {
        struct message const first = world->queue[0];
        memmove(world->queue, world->queue + 1, --world->queue_count * sizeof first);
        deliver(world, &first);
    }
}

static void pass(struct world *world, uint64_t us)
{
    world->now_us += us;
    for (uint32_t site = 0; site < SITES; site++)
        for (uint32_t copy = 0; copy < COPIES; copy++)
            if (world->processes[site][copy].runs &&
                world->now_us >= world->processes[site][copy].deadline_us)
                (void)step(world, site, copy, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
}

static void play_all(struct world *world, uint32_t site, uint32_t copy)
{
    struct process const *const process = &world->processes[site][copy];
    while (process->left[0] + process->left[1] + process->left[2] > 0)
        (void)play(world, site, copy);
}

/* The first message of this kind that is under way, taken out. */
static struct message take(struct world *world, enum tacit_vote_hub_message_kind kind)
{
    for (uint32_t i = 0; i < world->queue_count; i++) {
        struct message const found = world->queue[i];
        if (found.message.kind != kind)
            continue;
        memmove(world->queue + i, world->queue + i + 1, (--world->queue_count - i) * sizeof found);
        return found;
    }
    fail_msg("no message of kind %d", (int)kind);
    return (struct message){0};
}

static bool is_under_way(const struct world *world, enum tacit_vote_hub_message_kind kind)
{
    for (uint32_t i = 0; i < world->queue_count; i++)
        if (world->queue[i].message.kind == kind)
            return true;
    return false;
}

/* ---- One step after the other ---------------------------------------------------------------- */

TEST(nothing_leaves_before_the_grant_but_the_commitment)
{
    struct world world;
    open_world(&world, 1, 1);
    start(&world, 0, 0);
    deliver_all(&world);
    play_all(&world, 0, 0);
    struct message const commit = take(&world, TACIT_VOTE_COMMIT);
    assert_int_equal(world.queue_count, 0);
    assert_true(look(&world, 0, 0).is_committed);
    pass(&world, 40 * TICK_US);
    assert_int_equal(world.queue_count, 0); /* ticks go by */
    assert_int_equal(tell_hub(&world, &commit), TACIT_OK);
    deliver_all(&world);
    assert_false(look(&world, 0, 0).is_committed);
    assert_int_equal(look(&world, 0, 0).granted, 1);
}

/* Until two arms are out for this site alone. */
static void play_until_it_votes(struct world *world, uint32_t site, uint32_t copy)
{
    for (int i = 0; i < 20 && !is_under_way(world, TACIT_VOTE_CAST); i++) {
        play_all(world, site, copy);
        deliver_all(world);
        pass(world, TICK_US);
    }
    assert_true(is_under_way(world, TACIT_VOTE_CAST));
}

TEST(vote_leaves_on_the_tick_and_comes_back_to_all)
{
    struct world world;
    open_world(&world, 1000, 2);
    start(&world, 0, 0);
    start(&world, 1, 0);
    deliver_all(&world);
    world.now_us = 10 * TICK_US + 1;
    play_all(&world, 0, 0);
    deliver_all(&world);
    assert_true(look(&world, 0, 0).player.active_count < ARMS); /* in its first epoch */
    assert_int_equal(world.processes[0][0].deadline_us, 11 * TICK_US);
    pass(&world, TICK_US - 2);
    assert_false(is_under_way(&world, TACIT_VOTE_CAST));
    pass(&world, 1);
    assert_true(is_under_way(&world, TACIT_VOTE_CAST));
    assert_false(look(&world, 0, 0).is_heard);
    deliver_all(&world);
    assert_true(look(&world, 0, 0).is_heard);
    assert_true(look(&world, 1, 0).board.mark_count > 0);
}

TEST(vote_that_is_lost_is_said_again_until_it_is_heard)
{
    struct world world;
    open_world(&world, 1000, 3);
    start(&world, 0, 0);
    deliver_all(&world);
    play_until_it_votes(&world, 0, 0);
    struct message const first = take(&world, TACIT_VOTE_CAST);
    world.queue_count = 0; /* lost, with all else */
    pass(&world, RESEND_US);
    struct message const again = take(&world, TACIT_VOTE_CAST);
    assert_int_equal(again.marks, first.marks);
    assert_int_equal(tell_hub(&world, &again), TACIT_OK);
    deliver_all(&world);
    pass(&world, 2 * RESEND_US);
    assert_false(is_under_way(&world, TACIT_VOTE_CAST));
}

/* Another state's row, or an older one: the vote is not there yet. */
TEST(row_without_the_vote_is_no_answer_to_it)
{
    struct world world;
    open_world(&world, 1000, 3);
    start(&world, 0, 0);
    deliver_all(&world);
    play_until_it_votes(&world, 0, 0);
    struct message const cast = take(&world, TACIT_VOTE_CAST);
    world.queue_count = 0;
    struct message row = {
        .message = {
            .kind = TACIT_VOTE_ROW, .from = TACIT_HUB, .to = TACIT_EVERYONE, .run_id = RUN}};
    row.message.marks = &row.marks;
    row.marks = cast.marks & (cast.marks - 1); /* one mark is missing */
    assert_int_equal(hear(&world, 0, 0, &row), TACIT_OK);
    assert_false(look(&world, 0, 0).is_heard);
    row.marks = cast.marks;
    assert_int_equal(hear(&world, 0, 0, &row), TACIT_OK);
    assert_true(look(&world, 0, 0).is_heard);
}

/* The vote is due when the refusal comes. */
TEST(vote_of_a_blocked_site_stays_where_it_is)
{
    struct world world;
    open_world(&world, 1000, 2);
    start(&world, 0, 0);
    deliver_all(&world);
    play_all(&world, 0, 0);
    deliver_all(&world);
    assert_true(world.processes[0][0].deadline_us < TACIT_NEVER); /* a vote waits for its tick */
    struct message refusal = {
        .message = {.kind = TACIT_VOTE_REFUSED, .from = TACIT_HUB, .to = 0, .run_id = RUN}};
    memset(refusal.message.commitment, 9, TACIT_SHA256_BYTES);
    assert_int_equal(hear(&world, 0, 0, &refusal), TACIT_OK);
    assert_false(look(&world, 0, 0).is_blocked); /* that was about a draw of before */
    refusal.message.draw = 1;
    assert_int_equal(hear(&world, 0, 0, &refusal), TACIT_OK);
    pass(&world, TICK_US);
    assert_false(is_under_way(&world, TACIT_VOTE_CAST));
}

TEST(late_joiner_learns_all_from_what_stands)
{
    struct world world;
    open_world(&world, 1000, 4);
    for (uint32_t site = 0; site < NEEDED; site++) {
        start(&world, site, 0);
        deliver_all(&world);
        for (int i = 0; i < 10; i++) {
            play_all(&world, site, 0);
            deliver_all(&world);
            pass(&world, TICK_US);
            deliver_all(&world);
        }
    }
    struct tacit_vote_hub_view view;
    tacit_vote_hub_view(world.hub, &view);
    assert_true(view.is_decided);
    assert_int_equal(view.voter_count, NEEDED);
    start(&world, 4, 0); /* it has played nothing, and knows of nothing */
    assert_false(look(&world, 4, 0).is_decided);
    say_all(&world);
    deliver_all(&world);
    struct tacit_vote_site_view const late = look(&world, 4, 0);
    assert_true(late.is_decided);
    assert_true(tacit_bits_has(late.board.voted, 1));
    assert_int_equal(late.pull_count, 0);
}

TEST(idle_player_never_finishes_alone)
{
    struct world world;
    open_world(&world, 1000, 5);
    start(&world, 0, 0);
    start(&world, 1, 0);
    for (int i = 0; i < 10; i++) {
        play_all(&world, 0, 0);
        deliver_all(&world);
        pass(&world, TICK_US);
        deliver_all(&world);
    }
    assert_true(look(&world, 0, 0).player.decided); /* for itself .. */
    assert_false(look(&world, 0, 0).is_decided);    /* .. and one vote of two is no decision */
    assert_false(look(&world, 1, 0).is_decided);
}

TEST(board_waits_for_the_grant)
{
    struct world world;
    open_world(&world, 1, 6);
    start(&world, 0, 0);
    deliver_all(&world);
    play_all(&world, 0, 0);
    struct message const commit = take(&world, TACIT_VOTE_COMMIT);
    for (uint32_t player = 1; player <= NEEDED; player++) {
        struct message const row = {.message = {.kind = TACIT_VOTE_ROW,
                                                .from = TACIT_HUB,
                                                .to = TACIT_EVERYONE,
                                                .run_id = RUN,
                                                .player = player,
                                                .marks = &row.marks},
                                    .marks = 1};
        assert_int_equal(hear(&world, 0, 0, &row), TACIT_OK);
    }
    assert_int_equal(look(&world, 0, 0).board.voted_count, ARMS - 1);
    assert_int_equal(look(&world, 0, 0).player.active_count, ARMS); /* not read yet */
    assert_int_equal(tell_hub(&world, &commit), TACIT_OK);
    deliver_all(&world);
    assert_false(tacit_bits_has(look(&world, 0, 0).player.active, 0));
}

/* Two draws later, what was said before comes again: nobody is flagged, and what is said names the
 * draw, so that a site that has gone on is not blocked by it, and a copy is. */
TEST(what_comes_late_is_refused_by_its_draw)
{
    static const enum tacit_vote_hub_message_kind kinds[] = {TACIT_VOTE_COMMIT, TACIT_VOTE_HELLO,
                                                             TACIT_VOTE_CAST};
    struct message message = {
        .message = {.kind = TACIT_VOTE_COMMIT, .from = 0, .to = TACIT_HUB, .run_id = RUN}};
    struct world world;
    open_world(&world, 1, 7);
    for (uint32_t draw = 1; draw <= 3; draw++) {
        message.message.draw = draw;
        memset(message.message.commitment, (int)draw, TACIT_SHA256_BYTES);
        memset(message.message.previous, (int)draw - 1, TACIT_SHA256_BYTES);
        assert_int_equal(tell_hub(&world, &message), TACIT_OK);
        (void)take(&world, TACIT_VOTE_GRANTED);
    }
    message.message.draw = 1;
    memset(message.message.commitment, 1, TACIT_SHA256_BYTES);
    memset(message.message.previous, 0, TACIT_SHA256_BYTES);
    message.message.marks = &message.marks;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        message.message.kind = kinds[i];
        assert_int_equal(tell_hub(&world, &message), TACIT_OK);
        struct message const refusal = take(&world, TACIT_VOTE_REFUSED);
        assert_int_equal(refusal.message.draw, 1);
        assert_false(refusal.message.forgot);
    }
    struct tacit_vote_hub_view view;
    tacit_vote_hub_view(world.hub, &view);
    assert_false(tacit_bits_has(view.flagged, 0));
}

/* A draw that was refused leaves nothing: not even a vote of it, however long one waits. */
TEST(blocked_site_says_nothing_more)
{
    struct world world;
    open_world(&world, 1000, 8);
    start(&world, 0, 0);
    start(&world, 0, 1);
    deliver_all(&world);
    play_all(&world, 0, 0);
    deliver_all(&world);
    play_all(&world, 0, 1);
    deliver_all(&world);
    assert_true(look(&world, 0, 1).is_blocked);
    world.processes[0][0].runs = false;
    for (int i = 0; i < 20; i++) {
        pass(&world, RESEND_US);
        while (world.queue_count > 0) {
            struct message const said = world.queue[0];
            memmove(world.queue, world.queue + 1, --world.queue_count * sizeof said);
            assert_true(said.message.kind == TACIT_VOTE_COMMIT ||
                        said.message.kind == TACIT_VOTE_REFUSED);
            deliver(&world, &said);
        }
    }
    assert_true(look(&world, 0, 1).is_blocked);
}

/* An old state says an old vote: nobody loses a mark by it. */
TEST(old_state_cannot_take_a_vote_back)
{
    struct world world;
    open_world(&world, 1000, 9);
    start(&world, 0, 0);
    deliver_all(&world);
    play_until_it_votes(&world, 0, 0);
    deliver_all(&world);
    uint64_t const before = world.rows[0];
    assert_true(before != 0);
    struct tacit_vote_hub_message old = {
        .kind = TACIT_VOTE_CAST, .from = 0, .to = TACIT_HUB, .run_id = RUN, .draw = 1};
    struct message message = {.message = old, .marks = 0};
    message.message.marks = &message.marks;
    memcpy(message.message.commitment, look(&world, 0, 0).head, TACIT_SHA256_BYTES);
    assert_int_equal(tell_hub(&world, &message), TACIT_OK);
    assert_int_equal(world.rows[0], before);
    memset(message.message.commitment, 5, TACIT_SHA256_BYTES); /* of a state that was not granted */
    message.marks = 7;
    assert_int_equal(tell_hub(&world, &message), TACIT_ROLLBACK);
    assert_int_equal(world.rows[0], before);
}

/* Whichever arm it is: also the first, also the last. */
TEST(one_mark_makes_a_voter)
{
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        struct world world;
        open_world(&world, 1, 16);
        start(&world, 0, 0);
        play_all(&world, 0, 0);
        deliver_all(&world);
        struct message message = {
            .message = {
                .kind = TACIT_VOTE_CAST, .from = 0, .to = TACIT_HUB, .run_id = RUN, .draw = 1}};
        message.message.marks = &message.marks;
        memcpy(message.message.commitment, look(&world, 0, 0).head, TACIT_SHA256_BYTES);
        struct tacit_vote_hub_view view;
        assert_int_equal(tell_hub(&world, &message), TACIT_OK); /* without any mark */
        tacit_vote_hub_view(world.hub, &view);
        assert_int_equal(view.voter_count, 0);
        assert_int_equal(world.rows[0], 0);
        message.marks = UINT64_C(1) << arm;
        assert_int_equal(tell_hub(&world, &message), TACIT_OK);
        tacit_vote_hub_view(world.hub, &view);
        assert_int_equal(view.voter_count, 1);
        assert_int_equal(view.voters[0], 1);
        assert_true(is_under_way(&world, TACIT_VOTE_ROW));
    }
}

/* ---- Terms ----------------------------------------------------------------------------------- */

static void begin_term(struct world *world, uint64_t term)
{
    world->queue_count = 0; /* what was under way is of the term before */
    (void)step_hub(world, (struct tacit_event){.kind = TACIT_EVENT_START, .as.term = term});
    for (uint32_t site = 0; site < SITES; site++)
        if (world->processes[site][0].runs)
            (void)step(world, site, 0,
                       (struct tacit_event){.kind = TACIT_EVENT_START, .as.term = term});
}

/* Votes come from the sites, not from the hub's own bytes; a draw that nobody granted is void. */
TEST(lost_hub_has_all_votes_again_in_a_new_term)
{
    struct world world;
    uint8_t bytes[256];
    struct tacit_vote_hub_view view;
    open_world(&world, 1000, 17);
    for (uint32_t site = 0; site < NEEDED; site++) {
        start(&world, site, 0);
        deliver_all(&world);
        play_until_it_votes(&world, site, 0);
        deliver_all(&world);
    }
    tacit_vote_hub_view(world.hub, &view);
    uint64_t const marks = view.board.mark_count;
    assert_true(marks > 0);
    start(&world, 3, 0);
    play_all(&world, 3, 0); /* it is drawn, and not granted */
    assert_true(look(&world, 3, 0).is_committed);
    size_t const size = tacit_vote_hub_snapshot(world.hub, bytes, sizeof bytes);
    assert_in_range(size, 1, sizeof bytes);
    assert_int_equal(tacit_vote_hub_restore(world.hub, &world.hub_config, bytes, size), TACIT_OK);
    begin_term(&world, 1);
    tacit_vote_hub_view(world.hub, &view);
    assert_int_equal(view.board.mark_count, 0);
    assert_false(look(&world, 3, 0).is_committed);
    assert_true(world.processes[3][0].left[0] > 0); /* played anew; what was drawn stays spent */
    assert_int_equal(look(&world, 3, 0).player.draw, 1);
    deliver_all(&world);
    pass(&world, RESEND_US);
    deliver_all(&world);
    tacit_vote_hub_view(world.hub, &view);
    assert_int_equal(view.board.mark_count, marks);
    assert_int_equal(view.term, 1);
    for (uint32_t site = 0; site < NEEDED; site++)
        assert_true(look(&world, site, 0).is_heard);
}

/* A hub that has forgotten resets hears of the last one from whoever has seen it; in its first term
 * it has forgotten none. */
TEST(resets_that_are_forgotten_come_back)
{
    struct world world;
    struct tacit_vote_hub_view view;
    open_world(&world, 1, 18);
    world.hub_config.reset_after_s = 3;
    assert_int_equal(tacit_vote_hub_init(world.hub, &world.hub_config), TACIT_OK);
    start(&world, 0, 0);
    deliver_all(&world);
    play_all(&world, 0, 0);
    deliver_all(&world);
    struct message const anew = {.message = {.kind = TACIT_VOTE_ANEW,
                                             .from = TACIT_HUB,
                                             .to = TACIT_EVERYONE,
                                             .run_id = RUN,
                                             .reset = 5}};
    assert_int_equal(hear(&world, 0, 0, &anew), TACIT_OK);
    begin_term(&world, 1);
    deliver_all(&world);
    pass(&world, RESEND_US);
    deliver_all(&world);
    tacit_vote_hub_view(world.hub, &view);
    assert_int_equal(view.board.reset, 5);
    struct message cast = {.message = {.kind = TACIT_VOTE_CAST,
                                       .from = 0,
                                       .to = TACIT_HUB,
                                       .run_id = RUN,
                                       .term = 1,
                                       .reset = UINT64_MAX,
                                       .marks = &cast.marks}};
    memcpy(cast.message.commitment, look(&world, 0, 0).head, TACIT_SHA256_BYTES);
    cast.message.reset = 6; /* once a term */
    assert_int_equal(tell_hub(&world, &cast), TACIT_ROLLBACK);
    begin_term(&world, 2);
    cast.message.term = 2;
    cast.message.reset = UINT64_MAX;
    assert_int_equal(tell_hub(&world, &cast), TACIT_ROLLBACK);
    cast.message.reset = 6;
    assert_int_equal(tell_hub(&world, &cast), TACIT_OK);
    tacit_vote_hub_view(world.hub, &view);
    assert_int_equal(view.board.reset, 6);
    cast.message.term = 0;
    assert_int_equal(tell_hub(&world, &cast), TACIT_STRANGER);
    cast.message.term = 3;
    assert_int_equal(tell_hub(&world, &cast), TACIT_ROLLBACK);
}

TEST(site_whose_hub_says_it_was_granted_after_all_goes_on)
{
    struct world world;
    open_world(&world, 1, 10);
    start(&world, 0, 0);
    deliver_all(&world);
    play_all(&world, 0, 0);
    struct message refusal = {
        .message = {
            .kind = TACIT_VOTE_REFUSED, .from = TACIT_HUB, .to = 0, .run_id = RUN, .draw = 1}};
    memset(refusal.message.commitment, 9, TACIT_SHA256_BYTES);
    assert_int_equal(hear(&world, 0, 0, &refusal), TACIT_OK);
    assert_true(look(&world, 0, 0).is_blocked);
    deliver_all(&world); /* its commitment arrives */
    assert_false(look(&world, 0, 0).is_blocked);
    assert_int_equal(look(&world, 0, 0).granted, 1);
    struct tacit_vote_noised_view const player = look(&world, 0, 0).player;
    assert_true(player.epoch == 2 || player.decided); /* it is judged, and goes on */
}

TEST(without_entropy_a_draw_is_neither_lost_nor_committed_to_twice)
{
    struct world world;
    open_world(&world, 1, 13);
    start(&world, 0, 0);
    deliver_all(&world);
    world.entropy_fails = true;
    play_all(&world, 0, 0);
    assert_int_equal(world.queue_count, 0);
    assert_int_equal(look(&world, 0, 0).player.draw, 0);
    world.entropy_fails = false;
    start(&world, 0, 0); /* dead and back, with the clock at nought */
    pass(&world, 2000000);
    assert_true(is_under_way(&world, TACIT_VOTE_COMMIT));
    assert_int_equal(world.draws, 1);
}

TEST(draws_end_where_the_site_says_so)
{
    struct world world;
    open_world(&world, 0.01, 14);
    world.config.draws_max = 1;
    struct tacit_vote_site_config const config = config_of(&world, 0);
    assert_int_equal(tacit_vote_site_init(world.processes[0][0].disk, &config), TACIT_OK);
    start(&world, 0, 0);
    play_all(&world, 0, 0);
    deliver_all(&world);
    assert_true(look(&world, 0, 0).is_spent || look(&world, 0, 0).player.decided);
    assert_int_equal(world.processes[0][0].left[0], 0);
    assert_int_equal(world.draws, 1);
}

TEST(coin_of_the_hub_resets_everybody_whatever_was_voted)
{
    struct world world;
    open_world(&world, 1000, 15);
    world.config.goes_on = true;
    world.hub_config.reset_after_s = 3;
    assert_int_equal(tacit_vote_hub_init(world.hub, &world.hub_config), TACIT_OK);
    struct tacit_vote_site_config const config = config_of(&world, 0);
    assert_int_equal(tacit_vote_site_init(world.processes[0][0].disk, &config), TACIT_OK);
    start(&world, 0, 0);
    say_all(&world);
    play_until_it_votes(&world, 0, 0);
    deliver_all(&world);
    assert_int_equal(tacit_bits_count(world.rows, ARMS) > 0, 1);
    struct tacit_vote_hub_view view;
    uint32_t resets = 0;
    for (int second = 0; second < 300; second++) {
        world.now_us += 1000000;
        (void)step_hub(&world, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
        resets += is_under_way(&world, TACIT_VOTE_ANEW);
        memset(world.rows, 0, sizeof world.rows);
        deliver_all(&world);
    }
    tacit_vote_hub_view(world.hub, &view);
    assert_int_equal(view.board.reset, resets);
    assert_in_range(resets, 60, 140); /* 100 expected, sd 8: false alarm below 1e-5 */
    assert_int_equal(look(&world, 0, 0).board.reset, resets);
    assert_int_equal(look(&world, 0, 0).player.active_count, ARMS);
    assert_int_equal(view.voter_count, 0);
    assert_false(view.is_decided);
}

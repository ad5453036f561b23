/* The loop of a run over cores: who is active plays, messages arrive at once. */
#include "loop.h"
#include <string.h>

size_t vote_loop_board_bytes(const struct vote_world *world)
{
    struct tacit_vote_board_config const config = vote_board_config(world);
    return tacit_vote_board_size(&config);
}

enum tacit_status vote_loop_share_board(struct vote_loop *loop)
{
    struct tacit_vote_board_config const config = vote_board_config(loop->world);
    return tacit_vote_board_init(loop->shared, &config);
}

void vote_loop_on_marks(struct vote_loop *loop, uint32_t marks_new)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(loop->shared, &view);
    TACIT_ASSERT(view.voted_count > 0);
    loop->outcome->messages += marks_new;
    vote_trace_counts(loop->trace, view.counts, loop->world, loop->outcome->samples);
    vote_note_left(loop->world, loop->outcome, loop->trace, view.voted);
}

/* ---- The loop ---- */

/* Who has a state of its own. */
static uint32_t learners_of(const struct vote_loop *loop)
{
    return loop->is_one ? 1 : loop->world->player_count;
}

/* What it makes is the owner's (memory), on errors too. TACIT_INVALID: the cores do not take this
 * world. */
static enum tacit_status set_up(struct vote_loop *loop, void *memory)
{
    const struct vote_world *const world = loop->world;
    const struct vote_loop_rule *const rule = loop->rule;
    uint32_t const players = learners_of(loop);
    size_t const shared_bytes = rule->shared_bytes(world);
    loop->player_bytes = rule->player_bytes(world);
    if (loop->player_bytes == 0 || shared_bytes == 0)
        return TACIT_INVALID;
    loop->shared = tacit_sim_new(memory, 1, shared_bytes);
    loop->players = tacit_sim_new(memory, players, loop->player_bytes);
    loop->chances = tacit_sim_new(memory, players, sizeof loop->chances[0]);
    loop->rewards = tacit_sim_new(memory, players, sizeof loop->rewards[0]);
    loop->arms = tacit_sim_new(memory, world->player_count, sizeof loop->arms[0]);
    if (!tacit_sim_is_whole(memory))
        return TACIT_MEMORY;
    for (uint32_t player = 0; player < players; player++) {
        uint32_t const stream = loop->is_one ? TACIT_STREAM_COMMON : player;
        loop->chances[player] =
            tacit_rng_stream(world->seed, world->run, stream, rule->chance_purpose);
        loop->rewards[player] =
            tacit_rng_stream(world->seed, world->run, stream, TACIT_PURPOSE_REWARD);
    }
    return rule->share(loop);
}

/* Keeps single_count, players with one arm left: with one learner, all of them or none. */
static void count_single(struct vote_loop *loop, bool was_single, bool is_single)
{
    uint32_t const count = loop->is_one ? loop->world->player_count : 1;
    TACIT_ASSERT(!was_single || loop->single_count >= count);
    loop->single_count += (is_single ? count : 0) - (was_single ? count : 0);
}

static enum tacit_status start(struct vote_loop *loop)
{
    for (uint32_t player = 0; player < learners_of(loop); player++) {
        TACIT_TRY(loop->rule->start(loop, player));
        count_single(loop, false, loop->rule->is_decided(loop, player));
    }
    vote_clock_start(&loop->clock, loop->world);
    return TACIT_OK;
}

/* One sample of this player: offer, reward, and what is counted of both. */
static void activate(struct vote_loop *loop, uint32_t player)
{
    const struct vote_loop_rule *const rule = loop->rule;
    struct vote_outcome *const outcome = loop->outcome;
    uint32_t const learner = loop->is_one ? 0 : player;
    bool const was_single = rule->is_decided(loop, learner);
    uint32_t const arm = rule->offer(loop, learner);
    TACIT_ASSERT(arm < loop->world->subroutine.arm_count);
    double const reward =
        vote_reward(loop->world, &loop->rewards[learner], player, arm, outcome->samples);
    vote_count_play(loop->world, outcome, player, arm, outcome->samples);
    vote_trace_play(loop->trace, player, arm, was_single);
    outcome->samples++;
    if (loop->trace != NULL)
        vote_trace_regret(loop->trace, outcome, &loop->next_point);
    rule->reward(loop, learner, arm, reward);
    bool const is_single = rule->is_decided(loop, learner);
    if (is_single && !loop->is_one)
        vote_trace_decided(loop->trace, player, outcome->samples);
    count_single(loop, was_single, is_single);
}

/* DSER4: the hub's word, by a coin that looks at no data; players hear it when they are active.
 * Draws when this happens next. */
static void reset(struct vote_loop *loop)
{
    TACIT_ASSERT(loop->world->sharing != VOTE_SHARING_SUMS); /* there is a board */
    tacit_vote_board_reset(loop->shared, ++loop->outcome->reset_count);
    vote_clock_draw_reset(&loop->clock, loop->world, loop->outcome->samples);
}

/* Asks for each player's arm, and tells outcome and trace how it ended. */
static enum tacit_status finish(struct vote_loop *loop)
{
    const struct vote_world *const world = loop->world;
    bool const is_one = loop->is_one;
    for (uint32_t player = 0; player < world->player_count; player++) {
        uint64_t const *left;
        loop->arms[player] = loop->rule->answer(loop, is_one ? 0 : player, &left);
        vote_trace_left(loop->trace, left, world->subroutine.arm_count);
        if (is_one && loop->single_count > 0)
            vote_trace_decided(loop->trace, player, loop->outcome->samples);
    }
    return vote_finish(
        world, loop->outcome,
        &(struct vote_end){loop->arms, loop->single_count, loop->trace, loop->next_point});
}

enum tacit_status vote_play_cores(const struct vote_world *world, struct vote_outcome *outcome,
                                  const struct vote_trace *trace)
{
    bool const is_noised = world->mechanism != NULL;
    TACIT_ASSERT(is_noised || world->sharing != VOTE_SHARING_SUMS);
    memset(outcome, 0, sizeof *outcome);
    struct vote_loop *const loop = tacit_sim_new(NULL, 1, sizeof *loop);
    if (loop == NULL)
        return TACIT_MEMORY;
    *loop = (struct vote_loop){.world = world,
                               .outcome = outcome,
                               .trace = trace,
                               .rule = is_noised ? &vote_noised_rule : &vote_plain_rule,
                               .is_one = world->sharing == VOTE_SHARING_ALL};
    enum tacit_status status = set_up(loop, loop);
    if (status == TACIT_OK)
        status = start(loop);
    while (status == TACIT_OK && vote_goes_on(world, outcome, loop->single_count)) {
        if (outcome->samples >= loop->clock.next_reset)
            reset(loop);
        activate(loop, vote_clock_active(&loop->clock, world));
        if (vote_is_stopped(world))
            status = TACIT_INTERRUPTED;
    }
    if (status == TACIT_OK)
        status = finish(loop);
    tacit_sim_delete(loop);
    return status;
}

enum tacit_status vote_play(const struct vote_world *world, struct vote_outcome *outcome,
                            const struct vote_trace *trace)
{
    return vote_play_is_direct(world) ? vote_play_direct(world, outcome, trace)
                                      : vote_play_cores(world, outcome, trace);
}

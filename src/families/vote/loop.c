/* The loop of a run over cores: who is active plays, messages arrive at once. */
#include "loop.h"
#include <string.h>

void vote_loop_plan(struct vote_loop *loop, uint32_t player, const struct tacit_pull_block *plan,
                    uint32_t plan_count)
{
    struct vote_plan_left *const own = &loop->plans[player];
    memset(own->left, 0, loop->world->subroutine.arm_count * sizeof own->left[0]);
    own->left_count = 0;
    own->settled = TACIT_NO_ARM;
    TACIT_ASSERT(plan_count <= loop->world->subroutine.arm_count);
    for (uint32_t i = 0; i < plan_count; i++) {
        own->left[plan[i].arm] = plan[i].count;
        own->left_count += plan[i].count;
    }
}

uint32_t vote_loop_turn(struct vote_loop *loop, uint32_t player)
{
    struct vote_plan_left *const own = &loop->plans[player];
    uint32_t const arms = loop->world->subroutine.arm_count;
    TACIT_ASSERT(own->left_count > 0);
    while (own->left[own->turn] == 0)
        own->turn = (own->turn + 1) % arms;
    uint32_t const arm = own->turn;
    own->turn = (own->turn + 1) % arms;
    return arm;
}

bool vote_loop_count(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward,
                     struct tacit_reward *counted)
{
    struct vote_plan_left *const own = &loop->plans[player];
    if (own->left_count == 0)
        return false;
    TACIT_ASSERT(own->left[arm] > 0);
    *counted = (struct tacit_reward){.arm = arm, .count = 1, .sum = {.steps = 0}};
    tacit_sum_add_reward(&loop->world->mechanism->scale, &counted->sum, reward, 1);
    own->left[arm]--;
    own->left_count--;
    return true;
}

void vote_loop_out(struct vote_loop *loop, const uint64_t *left, uint32_t left_count)
{
    struct vote_outcome *const outcome = loop->outcome;
    if (left_count == 1 && !outcome->voted) {
        outcome->voted = true;
        outcome->samples_vote = outcome->samples;
    }
    TACIT_ASSERT(left_count > 0);
    vote_trace_out(loop->trace, left, loop->world->subroutine.arm_count, outcome->samples);
}

/* ---- Boards ---- */

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
    vote_loop_out(loop, view.voted, view.voted_count);
}

void vote_loop_reset_board(struct vote_loop *loop)
{
    vote_board_reset(loop->shared, loop->outcome->reset_count);
}

/* ---- The loop ---- */

/* What it makes is the owner's (memory), on errors too. TACIT_INVALID: the cores do not take this
 * world. */
static enum tacit_status set_up(struct vote_loop *loop, void *memory)
{
    const struct vote_world *const world = loop->world;
    const struct vote_loop_rule *const rule = loop->rule;
    uint32_t const players = rule->is_one ? 1 : world->player_count;
    size_t const arms = world->subroutine.arm_count;
    size_t const shared_bytes = rule->shared_bytes == NULL ? 1 : rule->shared_bytes(world);
    loop->player_bytes = rule->player_bytes(world);
    if (loop->player_bytes == 0 || shared_bytes == 0)
        return TACIT_INVALID;
    loop->shared = tacit_sim_new(memory, 1, shared_bytes);
    loop->players = tacit_sim_new(memory, players, loop->player_bytes);
    loop->plans = tacit_sim_new(memory, players, sizeof loop->plans[0]);
    loop->chances = tacit_sim_new(memory, players, sizeof loop->chances[0]);
    loop->rewards = tacit_sim_new(memory, players, sizeof loop->rewards[0]);
    loop->arms = tacit_sim_new(memory, world->player_count, sizeof loop->arms[0]);
    uint64_t *const left = tacit_sim_new(memory, players * arms, sizeof left[0]);
    if (!tacit_sim_is_whole(memory))
        return TACIT_MEMORY;
    for (uint32_t player = 0; player < players; player++) {
        uint32_t const stream = rule->is_one ? TACIT_STREAM_COMMON : player;
        loop->plans[player] =
            (struct vote_plan_left){.left = left + player * arms, .settled = TACIT_NO_ARM};
        loop->chances[player] =
            tacit_rng_stream(world->seed, world->run, stream, rule->chance_purpose);
        loop->rewards[player] =
            tacit_rng_stream(world->seed, world->run, stream, TACIT_PURPOSE_REWARD);
    }
    return rule->share == NULL ? TACIT_OK : rule->share(loop);
}

/* Keeps single_count, players with one arm left: with one learner, all of them or none. */
static void count_single(struct vote_loop *loop, bool was_single, bool is_single)
{
    uint32_t const count = loop->rule->is_one ? loop->world->player_count : 1;
    TACIT_ASSERT(!was_single || loop->single_count >= count);
    loop->single_count += (is_single ? count : 0) - (was_single ? count : 0);
}

/* A rule with one state for all players starts once. */
static enum tacit_status start(struct vote_loop *loop)
{
    uint32_t const players = loop->rule->is_one ? 1 : loop->world->player_count;
    for (uint32_t player = 0; player < players; player++) {
        enum tacit_status const status = loop->rule->start(loop, player);
        if (status != TACIT_OK)
            return status;
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
    uint32_t const learner = rule->is_one ? 0 : player;
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
    if (is_single && !rule->is_one)
        vote_trace_decided(loop->trace, player, outcome->samples);
    count_single(loop, was_single, is_single);
}

static bool goes_on(const struct vote_loop *loop)
{
    return loop->outcome->samples < loop->world->horizon &&
           (loop->single_count < loop->world->player_count || loop->world->reset_probability > 0);
}

/* All players begin anew, as ser4 does by chance; draws when this happens next. */
static void reset(struct vote_loop *loop)
{
    TACIT_ASSERT(loop->rule->reset != NULL);
    loop->outcome->reset_count++;
    loop->rule->reset(loop);
    vote_clock_draw_reset(&loop->clock, loop->world, loop->outcome->samples);
}

/* Asks for each player's arm, and tells outcome and trace how it ended. */
static enum tacit_status finish(struct vote_loop *loop)
{
    const struct vote_world *const world = loop->world;
    bool const is_one = loop->rule->is_one;
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

static enum tacit_status play_by(const struct vote_loop_rule *rule, const struct vote_world *world,
                                 struct vote_outcome *outcome, const struct vote_trace *trace)
{
    TACIT_ASSERT(rule->reset != NULL || !(world->reset_probability > 0));
    memset(outcome, 0, sizeof *outcome);
    struct vote_loop *const loop = tacit_sim_new(NULL, 1, sizeof *loop);
    if (loop == NULL)
        return TACIT_MEMORY;
    *loop = (struct vote_loop){.world = world, .outcome = outcome, .trace = trace, .rule = rule};
    enum tacit_status status = set_up(loop, loop);
    if (status == TACIT_OK)
        status = start(loop);
    while (status == TACIT_OK && goes_on(loop)) {
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

/* ---- Which loop plays ---- */

enum tacit_status vote_play_cores(const struct vote_world *world, struct vote_outcome *outcome,
                                  const struct vote_trace *trace)
{
    struct vote_loop_rule const *const rule = world->sharing == VOTE_SHARING_SUMS ? &vote_sums_rule
                                              : world->sharing == VOTE_SHARING_ALL
                                                  ? &vote_learner_rule
                                              : world->mechanism != NULL ? &vote_private_rule
                                                                         : &vote_plain_rule;
    return play_by(rule, world, outcome, trace);
}

enum tacit_status vote_play(const struct vote_world *world, struct vote_outcome *outcome,
                            const struct vote_trace *trace)
{
    return vote_play_is_direct(world) ? vote_play_direct(world, outcome, trace)
                                      : vote_play_cores(world, outcome, trace);
}

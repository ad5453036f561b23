/* Both sides of each limit of the cores' configurations: with the last value that is allowed there
 * is a state, with the first that is not there is none. And how the states grow: a word too many is
 * as wrong as one too few, for a state that was kept must fit what a later version asks for. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/bounds.h"
#include "tacit/doubling.h"
#include "tacit/elim.h"
#include "tacit/glm.h"
#include "tacit/glm_private.h"
#include "tacit/gossip.h"
#include "tacit/arms.h"
#include "tacit/phased.h"
#include "tacit/select.h"
#include "tacit/vote.h"
#include "tacit/vote_hub.h"

#define PAUSE_MAX (UINT64_C(1) << 56)
#define HEAD (sizeof(struct tacit_commit_head) / sizeof(uint64_t))

/* `size` of the configuration with this value; nobody else's values change. */
#define SIZE_WITH(base, size, member, value)                                                       \
    __extension__({                                                                                \
        __typeof__(base) changed = (base);                                                         \
        changed.member = (value);                                                                  \
        size(&changed);                                                                            \
    })
#define LIMIT(base, size, member, allowed, refused)                                                \
    do {                                                                                           \
        assert_true(SIZE_WITH(base, size, member, allowed) > 0);                                   \
        assert_int_equal(SIZE_WITH(base, size, member, refused), 0);                               \
    } while (0)
#define RANGE(base, size, member, least, most)                                                     \
    do {                                                                                           \
        LIMIT(base, size, member, least, (least)-1);                                               \
        LIMIT(base, size, member, most, (most) + 1);                                               \
    } while (0)
/* A configuration that is refused makes no state and writes nothing, and bytes are none of it;
 * core: begin of names. */
#define NO_STATE(core, base, member, refused)                                                      \
    do {                                                                                           \
        __typeof__(base) changed = (base);                                                         \
        size_t const size = core##_size(&changed);                                                 \
        void *const memory = testing_calloc(1, size);                                              \
        assert_true(size > 0 && memory != NULL);                                                   \
        assert_int_equal(core##_init(memory, &changed), TACIT_OK);                                 \
        assert_int_equal(core##_check(memory, size, &changed), TACIT_OK);                          \
        assert_int_equal(core##_check(memory, size - 1, &changed), TACIT_MALFORMED);               \
        changed.member = (refused);                                                                \
        assert_int_equal(core##_check(memory, size, &changed), TACIT_MALFORMED);                   \
        assert_int_equal(core##_check(memory, 0, &changed), TACIT_MALFORMED);                      \
        void *const kept = memcpy(testing_malloc(size), memory, size);                             \
        assert_int_equal(core##_init(memory, &changed), TACIT_INVALID);                            \
        assert_memory_equal(memory, kept, size);                                                   \
        testing_free(kept);                                                                        \
        testing_free(memory);                                                                      \
    } while (0)
/* .. in words of 8 bytes, from one value to another. */
#define GROWTH(base, size, member, from, to)                                                       \
    ((SIZE_WITH(base, size, member, to) - SIZE_WITH(base, size, member, from)) / sizeof(uint64_t))

static struct tacit_mechanism mechanism_of(enum tacit_privacy_mode mode)
{
    struct tacit_mechanism_config config = {mode, 1, 0, 1};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

static double above(double value)
{
    return nextafter(value, INFINITY);
}

/* ---- Elimination ---- */

static struct tacit_elim_schedule elim_schedule(uint32_t arms, uint32_t reports)
{
    return (struct tacit_elim_schedule){
        .arm_count = arms, .report_count = reports, .horizon = 100000, .epsilon_per_reward = 1};
}

static struct tacit_elim_agent_config elim_agent(void)
{
    return (struct tacit_elim_agent_config){.agent_id = 1,
                                            .agent_count = 10,
                                            .arm_count = 10,
                                            .horizon = 100000,
                                            .mechanism = mechanism_of(TACIT_PRIVACY_SOUND),
                                            .budget_nano = TACIT_NANO,
                                            .resend_after_us = 1};
}

static struct tacit_elim_hub_config elim_hub(void)
{
    return (struct tacit_elim_hub_config){.agent_count = 10,
                                          .schedule = elim_schedule(10, 10),
                                          .mechanism = mechanism_of(TACIT_PRIVACY_SOUND)};
}

static uint32_t const ring[] = {0, 2};

static struct tacit_elim_peer_config elim_peer(void)
{
    return (struct tacit_elim_peer_config){.agent = elim_agent(),
                                           .collection = TACIT_ELIM_SPREAD,
                                           .neighbours = ring,
                                           .neighbour_count = 2,
                                           .schedule = elim_schedule(10, 10)};
}

TEST(limits_of_elimination)
{
    struct tacit_elim_agent_config agent = elim_agent();
    RANGE(agent, tacit_elim_agent_size, arm_count, 1, TACIT_ARMS_MAX);
    RANGE(agent, tacit_elim_agent_size, agent_count, 2, TACIT_AGENTS_MAX);
    LIMIT(agent, tacit_elim_agent_size, agent_id, 9, 10);
    RANGE(agent, tacit_elim_agent_size, horizon, 1, TACIT_HORIZON_MAX);
    RANGE(agent, tacit_elim_agent_size, resend_after_us, 1, PAUSE_MAX);
    struct tacit_elim_hub_config hub = elim_hub();
    LIMIT(hub, tacit_elim_hub_size, agent_count, TACIT_AGENTS_MAX, TACIT_AGENTS_MAX + 1);
    LIMIT(hub, tacit_elim_hub_size, agent_count, 10, 9); /* ten report */
    LIMIT(hub, tacit_elim_hub_size, quorum, 10, 11);
    LIMIT(hub, tacit_elim_hub_size, round_timeout_us, PAUSE_MAX, PAUSE_MAX + 1);
    RANGE(hub, tacit_elim_hub_size, schedule.arm_count, 1, TACIT_ARMS_MAX);
    LIMIT(hub, tacit_elim_hub_size, schedule.report_count, 1, 0);
    RANGE(hub, tacit_elim_hub_size, schedule.horizon, 1, TACIT_HORIZON_MAX);
    LIMIT(hub, tacit_elim_hub_size, schedule.epsilon_per_reward, 0x1p-1074, 0);
    struct tacit_elim_hub_config rounds = hub;
    rounds.schedule.round_limit = 5;
    rounds.schedule.gap = 0.5;
    LIMIT(rounds, tacit_elim_hub_size, schedule.round_limit, TACIT_ELIM_EPOCHS_MAX - 1,
          TACIT_ELIM_EPOCHS_MAX);
    LIMIT(rounds, tacit_elim_hub_size, schedule.gap, 1, above(1));
    LIMIT(rounds, tacit_elim_hub_size, schedule.gap, 0x1p-1074, 0);
    struct tacit_elim_peer_config peer = elim_peer();
    LIMIT(peer, tacit_elim_peer_size, slot_us, PAUSE_MAX, PAUSE_MAX + 1);
    LIMIT(peer, tacit_elim_peer_size, round_us, PAUSE_MAX, PAUSE_MAX + 1);
    LIMIT(peer, tacit_elim_peer_size, gather_timeout_us, PAUSE_MAX, PAUSE_MAX + 1);
    LIMIT(peer, tacit_elim_peer_size, agent.agent_id, 1, 2); /* its own neighbour */
    LIMIT(peer, tacit_elim_peer_size, schedule.horizon, 100000, 100001);
    LIMIT(peer, tacit_elim_peer_size, schedule.arm_count, 10, 11);
    LIMIT(peer, tacit_elim_peer_size, schedule.report_count, 10, 9);
    LIMIT(peer, tacit_elim_peer_size, collection, TACIT_ELIM_SPREAD, (enum tacit_elim_collection)2);
    static uint64_t const nine[] = {0x3fd, 0x3fe, 0x6fe}; /* of ten: without 1, with it; of 11 */
    struct tacit_elim_peer_config part = peer;
    part.schedule.report_count = 9;
    LIMIT(part, tacit_elim_peer_size, members, &nine[1], &nine[0]);
    LIMIT(part, tacit_elim_peer_size, members, &nine[1], &nine[2]);
    LIMIT(part, tacit_elim_peer_size, members, &nine[1], NULL);
    struct tacit_elim_peer_config relay = peer;
    relay.collection = TACIT_ELIM_GATHER;
    relay.parent = 2;
    LIMIT(relay, tacit_elim_peer_size, parent, 2, 3);
    LIMIT(relay, tacit_elim_peer_size, parent, 1, 9); /* itself: a sink */
}

TEST(states_of_elimination_grow_by_their_columns)
{
    struct tacit_elim_agent_config agent = elim_agent();
    assert_int_equal(GROWTH(agent, tacit_elim_agent_size, arm_count, 10, 11), 7);
    assert_int_equal(GROWTH(agent, tacit_elim_agent_size, arm_count, 64, 65),
                     8);     /* and a bit set */
    agent.has_grants = true; /* the sums that wait for their grant */
    assert_int_equal(GROWTH(agent, tacit_elim_agent_size, arm_count, 10, 11), 8);
    struct tacit_elim_hub_config hub = elim_hub();
    assert_int_equal(GROWTH(hub, tacit_elim_hub_size, schedule.arm_count, 10, 11), 2 + 10);
    assert_int_equal(GROWTH(hub, tacit_elim_hub_size, agent_count, 10, 12), 2 * 10 + 3);
    assert_int_equal(GROWTH(hub, tacit_elim_hub_size, agent_count, 64, 66), 2 * 10 + 3 + 3);
    hub.has_grants = true;
    assert_int_equal(GROWTH(hub, tacit_elim_hub_size, agent_count, 10, 12), 2 * (10 + HEAD) + 3);
    struct tacit_elim_peer_config peer = elim_peer();
    peer.collection = TACIT_ELIM_GATHER;
    peer.parent = 2;
    peer.agent.arm_count = 10;
    assert_int_equal(GROWTH(peer, tacit_elim_peer_size, agent.arm_count, 10, 11), 7 + 2);
    assert_int_equal(GROWTH(peer, tacit_elim_peer_size, agent.arm_count, 64, 65), 7 + 2 + 1 + 2);
    assert_int_equal(GROWTH(peer, tacit_elim_peer_size, agent.agent_count, 64, 65), 5);
    peer.agent.agent_count = peer.agent.arm_count = 10;
    assert_int_equal(GROWTH(peer, tacit_elim_peer_table_size, agent.arm_count, 10, 11), 2 * 10);
    assert_int_equal(GROWTH(peer, tacit_elim_peer_table_size, agent.agent_count, 10, 11), 2 * 10);
    assert_int_equal(GROWTH(peer, tacit_elim_peer_table_size, agent.agent_count, 64, 65),
                     2 * 10 + 1);
}

/* ---- Play in phases ---- */

static struct tacit_phases phases(void)
{
    return (struct tacit_phases){.rule = TACIT_PHASES_INDEX,
                                 .arm_count = 10,
                                 .agent_count = 10,
                                 .horizon = 100000,
                                 .epsilon_per_reward = 1,
                                 .growth = 2,
                                 .arms_per_round = 2};
}

static struct tacit_phased_agent_config phased_agent(void)
{
    return (struct tacit_phased_agent_config){.agent_id = 1,
                                              .agent_count = 10,
                                              .arm_count = 10,
                                              .horizon = 100000,
                                              .mechanism = mechanism_of(TACIT_PRIVACY_SOUND),
                                              .budget_nano = TACIT_NANO,
                                              .resend_after_us = 1};
}

static struct tacit_phased_hub_config phased_hub(void)
{
    return (struct tacit_phased_hub_config){.schedule = phases(),
                                            .mechanism = mechanism_of(TACIT_PRIVACY_SOUND)};
}

TEST(limits_of_play_in_phases)
{
    struct tacit_phased_agent_config agent = phased_agent();
    RANGE(agent, tacit_phased_agent_size, arm_count, 1, TACIT_ARMS_MAX);
    RANGE(agent, tacit_phased_agent_size, agent_count, 2, TACIT_AGENTS_MAX);
    LIMIT(agent, tacit_phased_agent_size, agent_id, 9, 10);
    RANGE(agent, tacit_phased_agent_size, horizon, 1, TACIT_HORIZON_MAX);
    RANGE(agent, tacit_phased_agent_size, resend_after_us, 1, PAUSE_MAX);
    LIMIT(agent, tacit_phased_agent_size, mechanism, mechanism_of(TACIT_PRIVACY_SOUND),
          mechanism_of(TACIT_PRIVACY_PAPER));
    struct tacit_phased_hub_config hub = phased_hub();
    LIMIT(hub, tacit_phased_hub_size, quorum, 10, 11);
    LIMIT(hub, tacit_phased_hub_size, round_timeout_us, PAUSE_MAX, PAUSE_MAX + 1);
    LIMIT(hub, tacit_phased_hub_size, mechanism, mechanism_of(TACIT_PRIVACY_SOUND),
          mechanism_of(TACIT_PRIVACY_PAPER));
    LIMIT(hub, tacit_phased_hub_size, schedule.growth, 4, above(4));
    LIMIT(hub, tacit_phased_hub_size, schedule.arms_per_round, 2, 1);
    LIMIT(hub, tacit_phased_hub_size, schedule.confidence, 0.5, 0.49);
    LIMIT(hub, tacit_phased_hub_size, schedule.confidence, 0.999, 1);
}

static size_t judge_size(const struct tacit_phased_hub_config *config)
{
    return tacit_phased_judge_size(&config->schedule);
}

TEST(states_of_play_in_phases_grow_by_their_columns)
{
    struct tacit_phased_agent_config agent = phased_agent();
    assert_int_equal(GROWTH(agent, tacit_phased_agent_size, arm_count, 10, 11), 9);
    struct tacit_phased_hub_config hub = phased_hub();
    size_t const judge = GROWTH(hub, judge_size, schedule.arm_count, 10, 11);
    assert_int_equal(GROWTH(hub, tacit_phased_hub_size, schedule.arm_count, 10, 11), judge + 11);
    hub.quorum = 1;
    uint32_t const rungs = tacit_phases_climb(&hub.schedule, NULL);
    assert_int_equal(judge, 7 + 3 * rungs);
    size_t const other = GROWTH(hub, judge_size, schedule.agent_count, 10, 12);
    assert_int_equal(GROWTH(hub, tacit_phased_hub_size, schedule.agent_count, 10, 12),
                     2 * 10 + 1 + other);
    hub.has_grants = true;
    assert_int_equal(GROWTH(hub, tacit_phased_hub_size, schedule.agent_count, 10, 12),
                     2 * (10 + HEAD) + 1 + other);
}

/* ---- Votes ---- */

static struct tacit_vote_board_config vote_board(void)
{
    return (struct tacit_vote_board_config){.player_count = 10, .arm_count = 10, .votes_needed = 1};
}

static struct tacit_vote_noised_config vote_private(void)
{
    return (struct tacit_vote_noised_config){.player_id = 1,
                                             .player_count = 10,
                                             .arm_count = 10,
                                             .accuracy = 0.5,
                                             .failure = 0.5,
                                             .growth = 2,
                                             .mechanism = mechanism_of(TACIT_PRIVACY_SOUND),
                                             .budget_nano = TACIT_NANO,
                                             .tick_us = 1};
}

static struct tacit_vote_site_config vote_site(void)
{
    return (struct tacit_vote_site_config){.player = vote_private(),
                                           .board = vote_board(),
                                           .horizon = 1,
                                           .draws_max = 1,
                                           .resend_after_us = 1};
}

static struct tacit_vote_pool_config vote_pool(void)
{
    return (struct tacit_vote_pool_config){.player_count = 10,
                                           .arm_count = 10,
                                           .accuracy = 0.5,
                                           .failure = 0.5,
                                           .epsilon = 1,
                                           .block = 1,
                                           .growth = 2};
}

static struct tacit_vote_noised_config vote_sums(void)
{
    return (struct tacit_vote_noised_config){.player_id = 1,
                                             .player_count = 10,
                                             .arm_count = 10,
                                             .block = 1,
                                             .mechanism = mechanism_of(TACIT_PRIVACY_SOUND),
                                             .budget_nano = TACIT_NANO,
                                             .tick_us = 1};
}

TEST(limits_of_votes)
{
    struct tacit_vote_board_config board = vote_board();
    RANGE(board, tacit_vote_board_size, player_count, 1, TACIT_AGENTS_MAX);
    RANGE(board, tacit_vote_board_size, arm_count, 1, TACIT_ARMS_MAX);
    LIMIT(board, tacit_vote_board_size, votes_needed, 1, 0);
    struct tacit_vote_noised_config player = vote_private();
    LIMIT(player, tacit_vote_noised_size, player_id, 9, 10);
    LIMIT(player, tacit_vote_noised_size, player_count, TACIT_AGENTS_MAX, TACIT_AGENTS_MAX + 1);
    RANGE(player, tacit_vote_noised_size, arm_count, 1, TACIT_ARMS_MAX);
    LIMIT(player, tacit_vote_noised_size, accuracy, 1, above(1));
    LIMIT(player, tacit_vote_noised_size, accuracy, 0x1p-1074, 0);
    LIMIT(player, tacit_vote_noised_size, failure, 0x1p-1074, 0);
    LIMIT(player, tacit_vote_noised_size, failure, 0.999, 1);
    LIMIT(player, tacit_vote_noised_size, growth, above(1), 1);
    LIMIT(player, tacit_vote_noised_size, growth, 4, above(4));
    LIMIT(player, tacit_vote_noised_size, tick_us, 1, 0);
    LIMIT(player, tacit_vote_noised_size, tick_us, TACIT_NEVER / 4 - 1, TACIT_NEVER / 4);
    LIMIT(player, tacit_vote_noised_size, mechanism, mechanism_of(TACIT_PRIVACY_SOUND),
          mechanism_of(TACIT_PRIVACY_PAPER));
    struct tacit_vote_pool_config pool = vote_pool();
    RANGE(pool, tacit_vote_pool_size, arm_count, 1, TACIT_ARMS_MAX);
    RANGE(pool, tacit_vote_pool_size, player_count, 1, TACIT_AGENTS_MAX);
    LIMIT(pool, tacit_vote_pool_size, accuracy, 1, above(1));
    LIMIT(pool, tacit_vote_pool_size, accuracy, 0x1p-1074, 0);
    LIMIT(pool, tacit_vote_pool_size, failure, 0x1p-1074, 0);
    LIMIT(pool, tacit_vote_pool_size, failure, 0.999, 1);
    LIMIT(pool, tacit_vote_pool_size, epsilon, 0x1p-1074, 0);
    RANGE(pool, tacit_vote_pool_size, block, 1, UINT64_C(1) << 32);
    LIMIT(pool, tacit_vote_pool_size, growth, above(1), 1);
    LIMIT(pool, tacit_vote_pool_size, growth, 4, above(4));
    struct tacit_vote_noised_config sums = vote_sums();
    LIMIT(sums, tacit_vote_noised_size, player_id, 9, 10);
    LIMIT(sums, tacit_vote_noised_size, player_count, TACIT_AGENTS_MAX, TACIT_AGENTS_MAX + 1);
    RANGE(sums, tacit_vote_noised_size, arm_count, 1, TACIT_ARMS_MAX);
    RANGE(sums, tacit_vote_noised_size, block, 1, UINT64_C(1) << 32);
    LIMIT(sums, tacit_vote_noised_size, tick_us, 1, 0);
    LIMIT(sums, tacit_vote_noised_size, tick_us, TACIT_NEVER / 4 - 1, TACIT_NEVER / 4);
    struct tacit_vote_config alone = {
        .player_id = 1,
        .player_count = 10,
        .subroutine = {.arm_count = 10, .accuracy = 0.5, .failure = 0.5}};
    LIMIT(alone, tacit_vote_player_size, player_id, 9, 10);
    LIMIT(alone, tacit_vote_player_size, player_count, TACIT_AGENTS_MAX, TACIT_AGENTS_MAX + 1);
    LIMIT(alone, tacit_vote_player_size, sharing, TACIT_VOTE_SHARING_NONE,
          (enum tacit_vote_sharing)7);
    struct tacit_vote_site_config site = vote_site();
    RANGE(site, tacit_vote_site_size, horizon, 1, TACIT_HORIZON_MAX);
    LIMIT(site, tacit_vote_site_size, draws_max, 1, 0);
    RANGE(site, tacit_vote_site_size, resend_after_us, 1, TACIT_NEVER >> 6);
    LIMIT(site, tacit_vote_site_size, board.run_id, 0, 1); /* of another run */
    LIMIT(site, tacit_vote_site_size, board.player_count, 10, 11);
    LIMIT(site, tacit_vote_site_size, board.arm_count, 10, 11);
}

TEST(states_of_votes_grow_by_their_columns)
{
    struct tacit_vote_board_config board = vote_board();
    assert_int_equal(GROWTH(board, tacit_vote_board_size, arm_count, 10, 12), 1);
    assert_int_equal(GROWTH(board, tacit_vote_board_size, arm_count, 64, 66), 1 + 10 + 1);
    assert_int_equal(GROWTH(board, tacit_vote_board_size, player_count, 10, 11), 2);
    assert_int_equal(GROWTH(board, tacit_vote_board_size, player_count, 64, 65), 2 + 1);
    struct tacit_vote_noised_config player = vote_private();
    assert_int_equal(GROWTH(player, tacit_vote_noised_size, arm_count, 10, 11),
                     5 + TACIT_BOUNDS_RELEASES_MAX);
    assert_int_equal(GROWTH(player, tacit_vote_noised_size, arm_count, 64, 65),
                     5 + TACIT_BOUNDS_RELEASES_MAX + 2);
    struct tacit_vote_pool_config pool = vote_pool();
    assert_int_equal(GROWTH(pool, tacit_vote_pool_size, arm_count, 10, 11), 1);
    assert_int_equal(GROWTH(pool, tacit_vote_pool_size, arm_count, 64, 65), 2);
    struct tacit_vote_hub_config hub = {.board = vote_board()};
    assert_int_equal(GROWTH(hub, tacit_vote_hub_size, board.player_count, 10, 12),
                     1 + 2 * HEAD + 2 * 2);
    assert_int_equal(GROWTH(hub, tacit_vote_hub_size, board.player_count, 64, 66),
                     3 + 1 + 2 * HEAD + 1 + 1 + 2 * 2);
    struct tacit_vote_site_config site = vote_site();
    struct tacit_vote_site_config more = site;
    more.player.arm_count = more.board.arm_count = 65;
    struct tacit_vote_site_config fewer = site;
    fewer.player.arm_count = fewer.board.arm_count = 64;
    size_t const parts = tacit_vote_noised_size(&more.player) -
                         tacit_vote_noised_size(&fewer.player) +
                         tacit_vote_board_size(&more.board) - tacit_vote_board_size(&fewer.board);
    assert_int_equal(tacit_vote_site_size(&more) - tacit_vote_site_size(&fewer),
                     parts + sizeof(uint64_t));
}

/* ---- Generalised linear bandits ---- */

static struct tacit_glm_client_config glm_client(void)
{
    return (struct tacit_glm_client_config){
        .model = tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 10, 8, 100),
        .client_id = 1,
        .resend_after_us = 1};
}

TEST(limits_of_generalised_linear_bandits)
{
    struct tacit_glm_client_config client = glm_client();
    LIMIT(client, tacit_glm_client_size, client_id, 9, 10);
    RANGE(client, tacit_glm_client_size, resend_after_us, 1, PAUSE_MAX);
    LIMIT(client, tacit_glm_client_size, model.client_count, TACIT_AGENTS_MAX,
          TACIT_AGENTS_MAX + 1);
    RANGE(client, tacit_glm_client_size, model.dimension, 1, TACIT_LINALG_DIMENSION_MAX);
    RANGE(client, tacit_glm_client_size, model.horizon, 1, TACIT_HORIZON_MAX);
    LIMIT(client, tacit_glm_client_size, model.threshold, 1e150, 1e151);
    LIMIT(client, tacit_glm_client_size, model.threshold, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.lambda, 1e150, 1e151);
    LIMIT(client, tacit_glm_client_size, model.lambda, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.delta, 0.999, 1);
    LIMIT(client, tacit_glm_client_size, model.delta, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.norm_bound, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.context_bound, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.noise_bound, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.lipschitz, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.curvature, 0x1p-1074, 0);
    LIMIT(client, tacit_glm_client_size, model.alpha, 0, -0x1p-1074);
    LIMIT(client, tacit_glm_client_size, model.alpha, 1e150, 1e151);
    LIMIT(client, tacit_glm_client_size, model.suboptimality, 0, -0x1p-1074);
    LIMIT(client, tacit_glm_client_size, model.suboptimality, 1e150, 1e151);
    LIMIT(client, tacit_glm_client_size, model.explore, 0, -0x1p-1074);
    LIMIT(client, tacit_glm_client_size, model.explore, 1, above(1));
    LIMIT(client, tacit_glm_client_size, model.descent, TACIT_GLM_AUTHORS,
          (enum tacit_glm_descent)(TACIT_GLM_AUTHORS + 1));
    LIMIT(client, tacit_glm_client_size, model.start, TACIT_GLM_START_ZERO,
          (enum tacit_glm_start)(TACIT_GLM_START_ZERO + 1));
    LIMIT(client, tacit_glm_client_size, model.rounds, TACIT_GLM_ROUNDS_MAX,
          TACIT_GLM_ROUNDS_MAX + 1);
    LIMIT(client, tacit_glm_client_size, model.variant, TACIT_GLM_RANDOM,
          (enum tacit_glm_variant)(TACIT_GLM_RANDOM + 1));
    LIMIT(client, tacit_glm_client_size, model.exploration, TACIT_GLM_CONSTANT,
          (enum tacit_glm_exploration)(TACIT_GLM_CONSTANT + 1));
    LIMIT(client, tacit_glm_client_size, model.clock, TACIT_GLM_COUNTS,
          (enum tacit_glm_clock)(TACIT_GLM_COUNTS + 1));
    LIMIT(client, tacit_glm_client_size, model.link, TACIT_LINALG_IDENTITY,
          (enum tacit_linalg_link)(TACIT_LINALG_IDENTITY + 1));
    struct tacit_glm_client_config scheduled = client;
    scheduled.model.variant = TACIT_GLM_V1;
    LIMIT(scheduled, tacit_glm_client_size, model.period, 1, 0);
    struct tacit_glm_hub_config hub = {.model = client.model, .resend_after_us = 1};
    LIMIT(hub, tacit_glm_hub_size, quorum, 10, 11);
    RANGE(hub, tacit_glm_hub_size, resend_after_us, 1, PAUSE_MAX);
    LIMIT(hub, tacit_glm_hub_size, deadline_us, PAUSE_MAX, PAUSE_MAX + 1);
    LIMIT(hub, tacit_glm_hub_size, backoff_us, PAUSE_MAX, PAUSE_MAX + 1);
}

TEST(states_of_generalised_linear_bandits_grow_by_their_parts)
{
    struct tacit_glm_client_config client = glm_client();
    client.model.variant = TACIT_GLM_RANDOM; /* it keeps no samples */
    assert_int_equal(GROWTH(client, tacit_glm_client_size, model.dimension, 8, 12),
                     5 * (12 * 12 - 8 * 8) + 5 * 4);
    struct tacit_glm_hub_config hub = {.model = glm_client().model, .resend_after_us = 1};
    assert_int_equal(GROWTH(hub, tacit_glm_hub_size, model.dimension, 8, 12),
                     4 * (12 * 12 - 8 * 8) + 5 * 4 + 10 * (78 - 36 + 4));
    assert_int_equal(GROWTH(hub, tacit_glm_hub_size, model.client_count, 10, 11), 1 + 36 + 8);
    assert_int_equal(GROWTH(hub, tacit_glm_hub_size, model.client_count, 64, 65), 1 + 36 + 8 + 3);
    hub.model.variant = TACIT_GLM_ONE_UCB;
    assert_int_equal(GROWTH(hub, tacit_glm_hub_size, model.client_count, 10, 11), 1 + 2 * 36 + 8);
}

static size_t rule_is_made(const struct tacit_glm_private_model *model)
{
    struct tacit_glm_private_rule rule;
    return tacit_glm_private_rule_init(&rule, model) == TACIT_OK ? 1 : 0;
}

TEST(limits_of_the_private_model)
{
    struct tacit_glm_private_model model = {.link = TACIT_LINALG_IDENTITY,
                                            .client_count = 10,
                                            .dimension = 8,
                                            .batch_count = 16,
                                            .epsilon = 1,
                                            .delta = 1e-5,
                                            .failure = 0.1,
                                            .norm_bound = 1,
                                            .noise_bound = 1};
    RANGE(model, rule_is_made, client_count, 1, TACIT_AGENTS_MAX);
    RANGE(model, rule_is_made, dimension, 1, TACIT_LINALG_DIMENSION_MAX);
    RANGE(model, rule_is_made, batch_count, 1, TACIT_GLM_PRIVATE_BATCHES_MAX);
    LIMIT(model, rule_is_made, epsilon, 1, 0);
    LIMIT(model, rule_is_made, epsilon, 1, NAN);
    LIMIT(model, rule_is_made, epsilon, 1, 1e-3); /* its noise does not fit */
    LIMIT(model, rule_is_made, epsilon, TACIT_EPSILON_MAX, above(TACIT_EPSILON_MAX));
    LIMIT(model, rule_is_made, delta, 1e-9, nextafter(1e-9, 0));
    LIMIT(model, rule_is_made, delta, 0.999, 1);
    LIMIT(model, rule_is_made, failure, 0.999, 1);
    LIMIT(model, rule_is_made, failure, 0.1, 0);
    LIMIT(model, rule_is_made, norm_bound, 0x1p-1074, 0);
    LIMIT(model, rule_is_made, norm_bound, 1, 1e151);
    LIMIT(model, rule_is_made, noise_bound, 0x1p-1074, 0);
    LIMIT(model, rule_is_made, noise_bound, 1, NAN);
    LIMIT(model, rule_is_made, alpha, 0, -0x1p-1074);
    LIMIT(model, rule_is_made, alpha, 1e150, 1e151);
    LIMIT(model, rule_is_made, explore, 1, above(1));
    LIMIT(model, rule_is_made, explore, 0, -0x1p-1074);
    LIMIT(model, rule_is_made, link, TACIT_LINALG_LOGISTIC, TACIT_LINALG_PROBIT);
    LIMIT(model, rule_is_made, link, TACIT_LINALG_LOGISTIC, TACIT_LINALG_POISSON);
    LIMIT(model, rule_is_made, exploration, TACIT_GLM_CONSTANT,
          (enum tacit_glm_exploration)(TACIT_GLM_CONSTANT + 1));
}

/* ---- Gossip ---- */

static struct tacit_gossip_rule gossip_rule(enum tacit_privacy_mode mode)
{
    struct tacit_gossip_config config = {.agent_count = 10,
                                         .arm_count = 10,
                                         .horizon = 1000,
                                         .mechanism = {mode, 1, 0, 1},
                                         .width = 1};
    struct tacit_gossip_rule rule;
    assert_int_equal(tacit_gossip_rule_init(&rule, &config), TACIT_OK);
    return rule;
}

static struct tacit_gossip_agent_config gossip_agent(void)
{
    return (struct tacit_gossip_agent_config){.rule = gossip_rule(TACIT_PRIVACY_SOUND),
                                              .agent_id = 1,
                                              .neighbours = ring,
                                              .neighbour_count = 2,
                                              .exchange_us = 1};
}

static size_t gossip_rule_is_made(const struct tacit_gossip_config *config)
{
    struct tacit_gossip_rule rule;
    return tacit_gossip_rule_init(&rule, config) == TACIT_OK ? 1 : 0;
}

TEST(limits_of_gossip)
{
    struct tacit_gossip_config config = {.agent_count = 10,
                                         .arm_count = 10,
                                         .horizon = 1000,
                                         .mechanism = {TACIT_PRIVACY_PAPER, 1, 0, 1},
                                         .width = 1};
    RANGE(config, gossip_rule_is_made, agent_count, 1, TACIT_AGENTS_MAX);
    RANGE(config, gossip_rule_is_made, arm_count, 1, TACIT_ARMS_MAX);
    LIMIT(config, gossip_rule_is_made, horizon, 2, 0);
    LIMIT(config, gossip_rule_is_made, horizon, TACIT_HORIZON_MAX, TACIT_HORIZON_MAX + 1);
    LIMIT(config, gossip_rule_is_made, width, 0x1p-1022, 0);
    LIMIT(config, gossip_rule_is_made, width, 1e100, (double)INFINITY);
    struct tacit_gossip_config sound = config;
    sound.mechanism.mode = TACIT_PRIVACY_SOUND;
    LIMIT(sound, gossip_rule_is_made, width, 1, above(1));
    LIMIT(sound, gossip_rule_is_made, width, 1, 0.5);
    struct tacit_gossip_agent_config agent = gossip_agent();
    LIMIT(agent, tacit_gossip_agent_size, agent_id, 9, 10);
    LIMIT(agent, tacit_gossip_agent_size, agent_id, 1, 2); /* its own neighbour */
    LIMIT(agent, tacit_gossip_agent_size, neighbour_count, 2, 10);
    RANGE(agent, tacit_gossip_agent_size, exchange_us, 1, PAUSE_MAX);
    LIMIT(agent, tacit_gossip_agent_size, slot_us, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 1);
}

static size_t network_size(const struct tacit_gossip_agent_config *config)
{
    return tacit_gossip_network_size(&config->rule);
}

TEST(states_of_gossip_grow_by_their_columns)
{
    struct tacit_gossip_agent_config agent = gossip_agent();
    assert_int_equal(GROWTH(agent, tacit_gossip_agent_size, rule.arm_count, 10, 11), 9 + 2 + 2 * 2);
    assert_int_equal(GROWTH(agent, tacit_gossip_agent_size, rule.arm_count, 64, 65),
                     9 + 2 + 2 * 2 + 1);
    assert_int_equal(GROWTH(agent, tacit_gossip_agent_size, neighbour_count, 1, 2), 4 + 2 * 10);
    agent.rule = gossip_rule(TACIT_PRIVACY_NONE);
    assert_int_equal(GROWTH(agent, network_size, rule.arm_count, 10, 11), 7 * 10);
    assert_int_equal(GROWTH(agent, network_size, rule.agent_count, 10, 12),
                     2 * (7 * 10) + 3); /* two arms in a word, two candidates */
    assert_int_equal(tacit_gossip_memory_size(&agent.rule), 8); /* no noise, no trees */
    agent.rule = gossip_rule(TACIT_PRIVACY_PAPER);
    size_t const tree = tacit_tree_size(&agent.rule.tree) / sizeof(uint64_t);
    assert_int_equal(GROWTH(agent, network_size, rule.arm_count, 10, 11), (9 + tree) * 10);
    assert_int_equal(GROWTH(agent, network_size, rule.agent_count, 10, 12),
                     2 * ((9 + tree) * 10) + 3);
}

static struct tacit_doubling_config doubling(void)
{
    return (struct tacit_doubling_config){.schedule = phases(),
                                          .mechanism = mechanism_of(TACIT_PRIVACY_SOUND),
                                          .agent_id = 1,
                                          .hop_us = 1};
}

TEST(neighbours_ascend)
{
    static const uint32_t far[] = {0, 9};
    static const uint32_t beyond[] = {0, 10};
    static const uint32_t twice[] = {2, 2};
    static const uint32_t back[] = {2, 0};
    struct tacit_gossip_agent_config gossip = gossip_agent();
    gossip.neighbour_count = 2;
    LIMIT(gossip, tacit_gossip_agent_size, neighbours, far, beyond);
    LIMIT(gossip, tacit_gossip_agent_size, neighbours, far, twice);
    LIMIT(gossip, tacit_gossip_agent_size, neighbours, far, back);
    struct tacit_elim_peer_config peer = elim_peer();
    LIMIT(peer, tacit_elim_peer_size, neighbours, far, beyond);
    LIMIT(peer, tacit_elim_peer_size, neighbours, far, twice);
    LIMIT(peer, tacit_elim_peer_size, neighbours, far, back);
    LIMIT(peer, tacit_elim_peer_size, neighbours, far, NULL);
}

TEST(limits_of_releases_that_double)
{
    struct tacit_doubling_config config = doubling();
    LIMIT(config, tacit_doubling_size, agent_id, 9, 10);
    LIMIT(config, tacit_doubling_size, quorum, 10, 11);
    RANGE(config, tacit_doubling_size, hop_us, 1, UINT64_C(1) << 40);
    LIMIT(config, tacit_doubling_size, schedule.confidence, 0, 0.9);
    LIMIT(config, tacit_doubling_size, schedule.rule, TACIT_PHASES_INDEX, TACIT_PHASES_ELIMINATION);
    LIMIT(config, tacit_doubling_size, schedule.epsilon_per_reward, 1, above(1));
    LIMIT(config, tacit_doubling_size, mechanism, mechanism_of(TACIT_PRIVACY_SOUND),
          mechanism_of(TACIT_PRIVACY_PAPER));
    size_t const rungs = tacit_phases_climb(&config.schedule, NULL);
    size_t const agents = config.schedule.agent_count;
    assert_int_equal(GROWTH(config, tacit_doubling_size, schedule.arm_count, 8, 16),
                     8 * 3 + 8 * agents * rungs + 2 * agents);
    assert_int_equal(GROWTH(config, tacit_doubling_memory_size, schedule.arm_count, 8, 16), 8 * 4);
}

/* ---- Selection ---- */

static struct tacit_select_config selection(void)
{
    return (struct tacit_select_config){
        .user_count = 30,
        .users_per_round = 5,
        .alpha = 1,
        .beta = 2,
        .gamma = 1,
        .zeta = 1,
        .latency_min = 1,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 40, .eta = 0.04}};
}

TEST(limits_of_selection)
{
    static double const given[] = {1, 2};
    struct tacit_select_config config = selection();
    RANGE(config, tacit_select_size, user_count, 5, TACIT_SELECT_USERS_MAX);
    RANGE(config, tacit_select_size, users_per_round, 1, 30);
    LIMIT(config, tacit_select_size, alpha, 0, -0x1p-1074);
    LIMIT(config, tacit_select_size, alpha, 1e100, above(1e100));
    LIMIT(config, tacit_select_size, beta, 1, nextafter(1, 0));
    LIMIT(config, tacit_select_size, beta, 1e3, above(1e3));
    LIMIT(config, tacit_select_size, gamma, 0, -0x1p-1074);
    LIMIT(config, tacit_select_size, gamma, 1e100, above(1e100));
    LIMIT(config, tacit_select_size, zeta, 0x1p-1074, 0);
    LIMIT(config, tacit_select_size, zeta, 1e100, above(1e100));
    LIMIT(config, tacit_select_size, latency_min, 0x1p-1074, 0);
    LIMIT(config, tacit_select_size, latency_min, 1e100, above(1e100));
    LIMIT(config, tacit_select_size, budget.total, TACIT_EPSILON_MAX, above(TACIT_EPSILON_MAX));
    LIMIT(config, tacit_select_size, budget.total, 0x1p-1074, 0);
    LIMIT(config, tacit_select_size, budget.eta, 1e-9, nextafter(1e-9, 0));
    LIMIT(config, tacit_select_size, budget.eta, TACIT_SELECT_ETA_MAX, above(TACIT_SELECT_ETA_MAX));
    struct tacit_select_config uniform = config;
    uniform.budget.kind = TACIT_SELECT_UNIFORM;
    LIMIT(uniform, tacit_select_size, budget.participations, 1, 0);
    struct tacit_select_config list = config;
    list.budget = (struct tacit_select_budget){
        .kind = TACIT_SELECT_GIVEN, .total = 3, .participations = 2, .given = given};
    LIMIT(list, tacit_select_size, budget.total, 3, 2.99);
    LIMIT(list, tacit_select_size, budget.participations, 1, 0);
    LIMIT(list, tacit_select_size, budget.given, given, NULL);
    LIMIT(list, tacit_select_size, budget.participations, 2, TACIT_SELECT_BUDGETS_MAX + 1);
    assert_int_equal(GROWTH(config, tacit_select_size, user_count, 30, 32), 2 * 4 + 1);
    assert_int_equal(GROWTH(list, tacit_select_size, budget.participations, 1, 2), 1);
    assert_int_equal(tacit_select_scratch_size(32) - tacit_select_scratch_size(30),
                     2 * (6 * sizeof(double) + 11 * sizeof(uint32_t)));
    assert_int_equal(tacit_select_choice_size(32) - tacit_select_choice_size(30),
                     2 * 4 * sizeof(double) + 2 * 8 + tacit_select_scratch_size(32) -
                         tacit_select_scratch_size(30));
}

static struct tacit_select_site_config training_site(void)
{
    return (struct tacit_select_site_config){.agent = 1,
                                             .agent_count = 10,
                                             .dimension = 100,
                                             .round_count = 10,
                                             .clip = 1,
                                             .budget = selection().budget,
                                             .resend_after_us = 1};
}

TEST(limits_of_training)
{
    struct tacit_select_site_config site = training_site();
    LIMIT(site, tacit_select_site_size, agent, 9, 10);
    LIMIT(site, tacit_select_site_size, agent_count, TACIT_AGENTS_MAX, TACIT_AGENTS_MAX + 1);
    RANGE(site, tacit_select_site_size, dimension, 1, TACIT_SELECT_DIMENSION_MAX);
    RANGE(site, tacit_select_site_size, round_count, 1, TACIT_SELECT_ROUNDS_MAX);
    LIMIT(site, tacit_select_site_size, clip, 0x1p-1074, 0);
    LIMIT(site, tacit_select_site_size, clip, 1e100, above(1e100));
    LIMIT(site, tacit_select_site_size, budget.is_exact, true, false);
    LIMIT(site, tacit_select_site_size, resend_after_us, 1, 0);
    struct tacit_select_hub_config hub = {.select = selection(),
                                          .selector = TACIT_SELECTOR_EXACT,
                                          .dimension = 100,
                                          .round_count = 10,
                                          .quorum = 1,
                                          .round_timeout_us = 1,
                                          .clip = 1};
    LIMIT(hub, tacit_select_hub_size, selector, TACIT_SELECTOR_ALL, TACIT_SELECTOR_GENIE);
    LIMIT(hub, tacit_select_hub_size, selector, TACIT_SELECTOR_EXACT, TACIT_SELECTOR_FASTEST);
    LIMIT(hub, tacit_select_hub_size, dimension, 1, 0);
    RANGE(hub, tacit_select_hub_size, round_count, 1, TACIT_SELECT_ROUNDS_MAX);
    RANGE(hub, tacit_select_hub_size, quorum, 1, 30);
    LIMIT(hub, tacit_select_hub_size, round_timeout_us, 1, 0);
    LIMIT(hub, tacit_select_hub_size, clip, 0x1p-1074, 0);
    LIMIT(hub, tacit_select_hub_size, clip, 1e100, above(1e100));
}

/* ---- One learner; privacy ---- */

static size_t mechanism_is_made(const struct tacit_mechanism_config *config)
{
    struct tacit_mechanism mechanism;
    return tacit_mechanism_init(&mechanism, config) == TACIT_OK ? 1 : 0;
}

static size_t tree_is_made(const struct tacit_tree_config *config)
{
    struct tacit_tree_rule rule;
    return tacit_tree_rule_init(&rule, config) == TACIT_OK ? 1 : 0;
}

TEST(limits_of_a_learner_and_of_mechanisms)
{
    struct tacit_arms_config config = {.kind = TACIT_ARMS_UCB1,
                                       .arm_count = 10,
                                       .horizon = 1000,
                                       .scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1},
                                       .bounded = true};
    RANGE(config, tacit_arms_size, arm_count, 1, TACIT_ARMS_MAX);
    RANGE(config, tacit_arms_size, horizon, 1, TACIT_HORIZON_MAX);
    struct tacit_mechanism_config mechanism = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    LIMIT(mechanism, mechanism_is_made, epsilon_per_reward, 1e-6, nextafter(1e-6, 0));
    LIMIT(mechanism, mechanism_is_made, epsilon_per_reward, TACIT_EPSILON_MAX,
          above(TACIT_EPSILON_MAX));
    LIMIT(mechanism, mechanism_is_made, epsilon_per_reward, (double)INFINITY, (double)NAN);
    LIMIT(mechanism, mechanism_is_made, hi, 1e-150, 0);
    LIMIT(mechanism, mechanism_is_made, hi, 1e-150, nextafter(1e-150, 0));
    LIMIT(mechanism, mechanism_is_made, hi, 1e150, above(1e150));
    LIMIT(mechanism, mechanism_is_made, lo, -1e149, -(double)INFINITY);
    struct tacit_tree_config tree = {mechanism, 8};
    RANGE(tree, tree_is_made, leaf_max, 1, 2 * TACIT_HORIZON_MAX);
}

/* A process may die before its first event: what was just made can be put back. */
TEST(what_is_beyond_a_limit_makes_no_state)
{
    NO_STATE(tacit_elim_agent, elim_agent(), arm_count, 0);
    NO_STATE(tacit_elim_hub, elim_hub(), agent_count, 9);
    NO_STATE(tacit_phased_judge, phases(), growth, above(4));
    NO_STATE(tacit_phased_agent, phased_agent(), horizon, 0);
    NO_STATE(tacit_phased_hub, phased_hub(), quorum, 11);
    NO_STATE(tacit_vote_board, vote_board(), votes_needed, 0);
    NO_STATE(tacit_vote_noised, vote_private(), tick_us, 0);
    NO_STATE(tacit_vote_pool, vote_pool(), block, 0);
    NO_STATE(tacit_vote_site, vote_site(), draws_max, 0);
    NO_STATE(tacit_vote_noised, vote_sums(), block, 0);
    struct tacit_vote_hub_config vote = {.board = vote_board()};
    NO_STATE(tacit_vote_hub, vote, board.arm_count, 0);
    NO_STATE(tacit_glm_client, glm_client(), client_id, 10);
    struct tacit_glm_hub_config glm = {.model = glm_client().model, .resend_after_us = 1};
    NO_STATE(tacit_glm_hub, glm, quorum, 11);
    NO_STATE(tacit_gossip_agent, gossip_agent(), exchange_us, 0);
    NO_STATE(tacit_select_site, training_site(), clip, 0);
}

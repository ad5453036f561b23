/* A state belongs to one configuration: with any member of it another one, the check refuses the
 * state, wherever the member stands and whatever it is for. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/elim.h"
#include "tacit/glm.h"
#include "tacit/gossip.h"
#include "tacit/phased.h"
#include "tacit/select.h"
#include "tacit/vote_hub.h"

#define PLAYERS 5u
#define ARMS 4u

#define OWN(check, state, bytes, base) assert_int_equal(check(state, bytes, &(base)), TACIT_OK)
/* Declares a state of the configuration, and its size; core: begin of names. */
#define STATE_OF(core, config, state, bytes)                                                       \
    size_t const bytes = core##_size(&(config));                                                   \
    assert_true(bytes > 0);                                                                        \
    struct core *const state = testing_calloc(1, bytes);                                           \
    assert_int_equal(core##_init(state, &(config)), TACIT_OK);                                     \
    OWN(core##_check, state, bytes, config)
#define OTHER(check, state, bytes, base, member, value)                                            \
    do {                                                                                           \
        __typeof__(base) changed = (base);                                                         \
        changed.member = (value);                                                                  \
        assert_int_equal(check(state, bytes, &changed), TACIT_MALFORMED);                          \
    } while (0)

/* The same for each byte of it from one place to another; it has no gaps (TACIT_NO_GAPS). */
#define OTHER_BYTES(check, state, bytes, base, from, until)                                        \
    for (size_t place = (from); place < (until); place++) {                                        \
        __typeof__(base) changed = (base);                                                         \
        ((unsigned char *)&changed)[place] ^= 1;                                                   \
        assert_int_equal(check(state, bytes, &changed), TACIT_MALFORMED);                          \
    }
#define OTHER_MEMBER(check, state, bytes, base, type, member)                                      \
    OTHER_BYTES(check, state, bytes, base, offsetof(type, member),                                 \
                offsetof(type, member) + sizeof((base).member))
/* A state of the configuration, and of none that is different in one of the first bytes. */
#define BELONGS_TO(core, config, bytes)                                                            \
    do {                                                                                           \
        STATE_OF(core, config, own_state, own_bytes);                                              \
        OTHER_BYTES(core##_check, own_state, own_bytes, config, 0, bytes)                          \
    } while (0)

static struct tacit_mechanism mechanism_of(double epsilon)
{
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

/* ---- Votes ---- */

static struct tacit_vote_board_config board_config(void)
{
    return (struct tacit_vote_board_config){
        .run_id = 3, .player_count = PLAYERS, .arm_count = ARMS, .votes_needed = 2};
}

static struct tacit_vote_noised_config private_config(void)
{
    return (struct tacit_vote_noised_config){.run_id = 3,
                                             .player_id = 1,
                                             .player_count = PLAYERS,
                                             .arm_count = ARMS,
                                             .accuracy = 0.25,
                                             .failure = 0.5,
                                             .growth = 2,
                                             .mechanism = mechanism_of(1),
                                             .budget_nano = TACIT_NANO,
                                             .tick_us = 1000};
}

TEST(boards_belong_to_one)
{
    uint64_t const committee = 5;
    uint64_t const another = 6;
    struct tacit_vote_board_config config = board_config();
    size_t const size = tacit_vote_board_size(&config);
    struct tacit_vote_board *const board = testing_calloc(1, size);
    for (uint32_t has_committee = 0; has_committee < 2; has_committee++) {
        config.committee = has_committee ? &committee : NULL;
        assert_int_equal(tacit_vote_board_init(board, &config), TACIT_OK);
        OWN(tacit_vote_board_check, board, size, config);
        OTHER(tacit_vote_board_check, board, size, config, run_id, 4);
        OTHER(tacit_vote_board_check, board, size, config, player_count, PLAYERS - 1);
        OTHER(tacit_vote_board_check, board, size, config, arm_count, ARMS - 1);
        OTHER(tacit_vote_board_check, board, size, config, votes_needed, 3);
        OTHER(tacit_vote_board_check, board, size, config, committee,
              has_committee ? NULL : &committee);
        OTHER(tacit_vote_board_check, board, size, config, committee, &another);
    }
}

TEST(noised_players_belong_to_one)
{
    struct tacit_vote_noised_config config = private_config();
    BELONGS_TO(tacit_vote_noised, config, sizeof config);
    struct tacit_vote_noised_config sums = {.run_id = 3,
                                            .player_id = 1,
                                            .player_count = PLAYERS,
                                            .arm_count = ARMS,
                                            .block = 4,
                                            .mechanism = mechanism_of(1),
                                            .budget_nano = TACIT_NANO,
                                            .tick_us = 1000};
    BELONGS_TO(tacit_vote_noised, sums, sizeof sums);
}

TEST(pools_belong_to_one)
{
    struct tacit_vote_pool_config config = {.run_id = 3,
                                            .player_count = PLAYERS,
                                            .arm_count = ARMS,
                                            .accuracy = 0.1,
                                            .failure = 0.05,
                                            .epsilon = 1,
                                            .block = 4,
                                            .growth = 1.25};
    BELONGS_TO(tacit_vote_pool, config, sizeof config);
}

TEST(sites_and_hubs_of_votes_belong_to_one)
{
    struct tacit_vote_site_config config = {.player = private_config(),
                                            .board = board_config(),
                                            .domain = {7},
                                            .horizon = 1000,
                                            .draws_max = 9,
                                            .resend_after_us = 50};
    STATE_OF(tacit_vote_site, config, site, size);
    OTHER(tacit_vote_site_check, site, size, config, player.player_id, 2);
    OTHER(tacit_vote_site_check, site, size, config, player.tick_us, 1001);
    OTHER(tacit_vote_site_check, site, size, config, board.votes_needed, 3);
    OTHER(tacit_vote_site_check, site, size, config, domain[0], 8);
    OTHER(tacit_vote_site_check, site, size, config, domain[31], 1);
    OTHER(tacit_vote_site_check, site, size, config, horizon, 1001);
    OTHER(tacit_vote_site_check, site, size, config, draws_max, 10);
    OTHER(tacit_vote_site_check, site, size, config, goes_on, true);
    OTHER(tacit_vote_site_check, site, size, config, resend_after_us, 51);
    struct tacit_vote_hub_config hub = {.board = board_config(), .reset_after_s = 3};
    STATE_OF(tacit_vote_hub, hub, made, bytes);
    OTHER(tacit_vote_hub_check, made, bytes, hub, board.run_id, 4);
    OTHER(tacit_vote_hub_check, made, bytes, hub, board.votes_needed, 3);
    OTHER(tacit_vote_hub_check, made, bytes, hub, reset_after_s, 4);
}

/* ---- User selection ---- */

static struct tacit_select_budget budget(void)
{
    return (struct tacit_select_budget){
        .kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 40, .eta = 0.04};
}

static struct tacit_select_config select_config(void)
{
    return (struct tacit_select_config){.user_count = 6,
                                        .users_per_round = 2,
                                        .alpha = 100,
                                        .beta = 2,
                                        .gamma = 5,
                                        .zeta = 1,
                                        .latency_min = 0.01,
                                        .budget = budget()};
}

TEST(selections_belong_to_one)
{
    struct tacit_select_config config = select_config();
    size_t const size = tacit_select_size(&config);
    struct tacit_select *const made = testing_calloc(1, size);
    assert_int_equal(tacit_select_init(made, &config, NULL), TACIT_OK);
    OWN(tacit_select_check, made, size, config);
    OTHER_BYTES(tacit_select_check, made, size, config, 0,
                offsetof(struct tacit_select_config, budget))
    OTHER(tacit_select_check, made, size, config, budget.total, 41);
    OTHER(tacit_select_check, made, size, config, budget.eta, 0.05);
    OTHER(tacit_select_check, made, size, config, budget.is_exact, false);
}

TEST(training_sites_belong_to_one)
{
    struct tacit_select_site_config config = {.run_id = 3,
                                              .agent = 1,
                                              .agent_count = 6,
                                              .dimension = 9,
                                              .round_count = 7,
                                              .clip = 3,
                                              .budget = budget(),
                                              .domain = {7},
                                              .resend_after_us = 50};
    BELONGS_TO(tacit_select_site, config, sizeof config);
}

TEST(training_hubs_belong_to_one)
{
    struct tacit_select_hub_config config = {.run_id = 3,
                                             .select = select_config(),
                                             .selector = TACIT_SELECTOR_ANNEALING,
                                             .annealing = {.kappa = 1, .iterations = 9},
                                             .dimension = 9,
                                             .round_count = 7,
                                             .quorum = 2,
                                             .round_timeout_us = 100,
                                             .clip = 3,
                                             .domain = {7}};
    STATE_OF(tacit_select_hub, config, hub, size);
    OTHER_BYTES(tacit_select_hub_check, hub, size, config, 0,
                offsetof(struct tacit_select_hub_config, select.budget))
    OTHER(tacit_select_hub_check, hub, size, config, select.budget.total, 41);
    OTHER_BYTES(tacit_select_hub_check, hub, size, config,
                offsetof(struct tacit_select_hub_config, selector),
                offsetof(struct tacit_select_hub_config, sizes))
}

/* ---- Linear bandits ---- */

TEST(linear_bandits_belong_to_one)
{
    struct tacit_glm_model model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, PLAYERS, 3, 50);
    model.run_id = 3;
    struct tacit_glm_client_config config = {.model = model, .client_id = 1, .resend_after_us = 50};
    BELONGS_TO(tacit_glm_client, config, sizeof config);
    struct tacit_glm_hub_config hub = {
        .model = model, .quorum = 2, .resend_after_us = 50, .deadline_us = 500, .backoff_us = 900};
    BELONGS_TO(tacit_glm_hub, hub, sizeof hub);
}

/* ---- Elimination ---- */

static struct tacit_elim_agent_config elim_agent_config(void)
{
    struct tacit_elim_agent_config config = {.run_id = 3,
                                             .agent_id = 1,
                                             .agent_count = PLAYERS,
                                             .arm_count = ARMS,
                                             .horizon = 10000,
                                             .mechanism = mechanism_of(1),
                                             .budget_nano = 77,
                                             .resend_after_us = 7,
                                             .epoch_max = 30,
                                             .has_grants = true,
                                             .change_max = 2,
                                             .horizon_max = 20000};
    memset(config.domain, 5, sizeof config.domain);
    return config;
}

static struct tacit_elim_schedule elim_schedule(double growth, double confidence)
{
    return (struct tacit_elim_schedule){.arm_count = ARMS,
                                        .report_count = PLAYERS,
                                        .horizon = 10000,
                                        .epsilon_per_reward = 1,
                                        .round_limit = growth > 0 ? 0 : 9,
                                        .gap = growth > 0 ? 0 : 0.5,
                                        .growth = growth,
                                        .confidence = confidence};
}

TEST(agent_of_elimination_belongs_to_its_configuration)
{
    struct tacit_elim_agent_config config = elim_agent_config();
    BELONGS_TO(tacit_elim_agent, config, sizeof config);
}

static void check_elim_hub(const struct tacit_elim_hub_config *made)
{
    struct tacit_elim_hub_config config = *made;
    STATE_OF(tacit_elim_hub, config, hub, size);
    size_t const weights = offsetof(struct tacit_elim_hub_config, weights); /* they are no bytes */
    OTHER_BYTES(tacit_elim_hub_check, hub, size, config, 0, weights)
    OTHER_BYTES(tacit_elim_hub_check, hub, size, config, weights + sizeof config.weights,
                sizeof config)
}

TEST(hub_of_elimination_belongs_to_its_configuration)
{
    struct tacit_elim_hub_config config = {.run_id = 3,
                                           .agent_count = PLAYERS,
                                           .mechanism = mechanism_of(1),
                                           .quorum = 2,
                                           .round_timeout_us = 9,
                                           .answers_all = true,
                                           .has_grants = true,
                                           .change_max = 2};
    memset(config.domain, 5, sizeof config.domain);
    config.schedule = elim_schedule(0, 0);
    check_elim_hub(&config);
    config.schedule = elim_schedule(2, 0.9);
    check_elim_hub(&config);
}

TEST(peer_of_elimination_belongs_to_its_configuration)
{
    uint32_t const neighbours[] = {0, 2};
    uint32_t const others[] = {0, 3};
    uint64_t const members[] = {0xf};
    struct tacit_elim_peer_config const config = {.agent = elim_agent_config(),
                                                  .collection = TACIT_ELIM_SPREAD,
                                                  .neighbours = neighbours,
                                                  .neighbour_count = 2,
                                                  .schedule = elim_schedule(2, 0.9),
                                                  .rows_max = 5,
                                                  .slot_us = 6,
                                                  .has_clock = true,
                                                  .round_us = 8,
                                                  .gather_timeout_us = 9};
    struct tacit_elim_peer_config own = config;
    own.agent.change_max = 0;
    size_t const size = tacit_elim_peer_size(&own);
    size_t const table_size = tacit_elim_peer_table_size(&own);
    struct tacit_elim_peer *const peer = testing_calloc(1, size);
    struct tacit_elim_table *const table = testing_calloc(1, table_size);
    assert_int_equal(tacit_elim_peer_init(peer, &own), TACIT_OK);
    tacit_elim_peer_table_init(table, &own, false);
#define CHECK_PEER(state, bytes, config)                                                           \
    tacit_elim_peer_check(state, bytes, table, table_size, config)
    OWN(CHECK_PEER, peer, size, own);
    OTHER_MEMBER(CHECK_PEER, peer, size, own, struct tacit_elim_peer_config, agent)
    OTHER_MEMBER(CHECK_PEER, peer, size, own, struct tacit_elim_peer_config, schedule)
    OTHER(CHECK_PEER, peer, size, own, collection, TACIT_ELIM_GATHER);
    OTHER(CHECK_PEER, peer, size, own, neighbours, others);
    OTHER(CHECK_PEER, peer, size, own, members, members);
    OTHER(CHECK_PEER, peer, size, own, parent, 2);
    OTHER(CHECK_PEER, peer, size, own, rows_max, 4);
    OTHER(CHECK_PEER, peer, size, own, slot_us, 5);
    OTHER(CHECK_PEER, peer, size, own, has_clock, false);
    OTHER(CHECK_PEER, peer, size, own, round_us, 7);
    OTHER(CHECK_PEER, peer, size, own, gather_timeout_us, 10);
    for (size_t wrong = table_size - 8; wrong <= table_size + 8; wrong += 16)
        assert_int_equal(tacit_elim_peer_check(peer, size, table, wrong, &own), TACIT_MALFORMED);
    tacit_elim_peer_table_init(table, &own, true); /* others' rows are not for a disk */
    assert_int_equal(CHECK_PEER(peer, size, &own), TACIT_MALFORMED);
}

/* ---- Play in phases ---- */

static struct tacit_phases phases(void)
{
    return (struct tacit_phases){.arm_count = ARMS,
                                 .first_count = ARMS - 1,
                                 .agent_count = PLAYERS,
                                 .horizon = 10000,
                                 .epsilon_per_reward = 1,
                                 .growth = 2,
                                 .arms_per_round = 2};
}

/* Others of the same size. */
TEST(sites_that_play_in_phases_belong_to_one)
{
    struct tacit_phased_agent_config config = {.run_id = 3,
                                               .agent_id = 1,
                                               .agent_count = PLAYERS,
                                               .arm_count = ARMS,
                                               .horizon = 10000,
                                               .mechanism = mechanism_of(1),
                                               .budget_nano = TACIT_NANO,
                                               .resend_after_us = 50};
    size_t const size = tacit_phased_agent_size(&config);
    struct tacit_phased_agent *const agent = testing_calloc(1, size);
    for (uint32_t has_grants = 0; has_grants < 2; has_grants++) {
        config.has_grants = has_grants;
        assert_int_equal(tacit_phased_agent_init(agent, &config), TACIT_OK);
        OWN(tacit_phased_agent_check, agent, size, config);
        OTHER_BYTES(tacit_phased_agent_check, agent, size, config, 0, sizeof config)
    }
}

TEST(hubs_of_play_in_phases_belong_to_one)
{
    struct tacit_phased_hub_config config = {.run_id = 3,
                                             .schedule = phases(),
                                             .mechanism = mechanism_of(1),
                                             .quorum = 2,
                                             .round_timeout_us = 50};
    STATE_OF(tacit_phased_hub, config, hub, size);
    size_t const guard = offsetof(struct tacit_phased_hub_config, schedule.guard_arm);
    OTHER_BYTES(tacit_phased_hub_check, hub, size, config, 0, guard) /* there is none */
    OTHER_BYTES(tacit_phased_hub_check, hub, size, config, guard + sizeof(uint32_t), sizeof config)
    config.schedule.guard_loss = 0.5;
    assert_int_equal(tacit_phased_hub_init(hub, &config), TACIT_OK);
    OWN(tacit_phased_hub_check, hub, size, config);
    OTHER(tacit_phased_hub_check, hub, size, config, schedule.guard_arm, 1);
}

/* ---- Gossip ---- */

static uint32_t const beside[] = {0, 2};
static uint32_t const first_moved[] = {3, 4};
static uint32_t const last_moved[] = {0, 3};

TEST(gossiping_agents_belong_to_one)
{
    struct tacit_gossip_config const run = {.agent_count = PLAYERS,
                                            .arm_count = ARMS,
                                            .horizon = 1000,
                                            .mechanism = {TACIT_PRIVACY_SOUND, 1, 0, 1},
                                            .width = 1};
    struct tacit_gossip_agent_config config = {.run_id = 3,
                                               .agent_id = 1,
                                               .neighbours = beside,
                                               .neighbour_count = 2,
                                               .slot_us = 20,
                                               .exchange_us = 50,
                                               .pull_us = 5};
    assert_int_equal(tacit_gossip_rule_init(&config.rule, &run), TACIT_OK);
    STATE_OF(tacit_gossip_agent, config, agent, size);
    OTHER(tacit_gossip_agent_check, agent, size, config, run_id, 4);
    OTHER(tacit_gossip_agent_check, agent, size, config, agent_id, 3);
    OTHER(tacit_gossip_agent_check, agent, size, config, neighbours, first_moved);
    OTHER(tacit_gossip_agent_check, agent, size, config, neighbours, last_moved);
    OTHER(tacit_gossip_agent_check, agent, size, config, slot_us, 21);
    OTHER(tacit_gossip_agent_check, agent, size, config, exchange_us, 51);
    OTHER(tacit_gossip_agent_check, agent, size, config, pull_us, 6);
    OTHER_MEMBER(tacit_gossip_agent_check, agent, size, config, struct tacit_gossip_agent_config,
                 rule)
}

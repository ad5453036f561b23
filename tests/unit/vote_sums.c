/* Published sums: the pool looks at fixed numbers of releases and judges as a naive reading of all
 * of them does. Players that publish are in round/storm_sums. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/bounds.h"
#include "tacit/phased.h"
#include "tacit/sim.h"
#include "tacit/vote.h"
#include "../support/damage.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x6af293d80846e140))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x70654af36cf7b0ea))

#define RUN 5u
#define ARMS 5u
#define PLAYERS 3u
#define BLOCK 4u
#define ALL ((UINT64_C(1) << ARMS) - 1)

static struct tacit_vote_pool_config pool_config(double epsilon)
{
    return (struct tacit_vote_pool_config){.run_id = RUN,
                                           .player_count = PLAYERS,
                                           .arm_count = ARMS,
                                           .accuracy = 0.1,
                                           .failure = 0.05,
                                           .epsilon = epsilon,
                                           .block = BLOCK,
                                           .growth = 1.25};
}

static struct tacit_vote_pool *new_pool(const struct tacit_vote_pool_config *config)
{
    struct tacit_vote_pool *const pool = testing_malloc(tacit_vote_pool_size(config));
    assert_int_equal(tacit_vote_pool_init(pool, config), TACIT_OK);
    return pool;
}

static bool is_pool(const void *state, size_t size, void *config)
{
    return tacit_vote_pool_check(state, size, config) == TACIT_OK;
}

static struct tacit_vote_pool_view pool_view(const struct tacit_vote_pool *pool)
{
    struct tacit_vote_pool_view view;
    tacit_vote_pool_view(pool, &view);
    return view;
}

/* Number `number` of a list that is a function of the seed: means falling from an arm on. */
static void draw_sums(uint64_t seed, uint64_t number, int64_t *sums)
{
    struct tacit_rng rng = tacit_rng_stream(seed, (uint32_t)number, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        sums[arm] = (int64_t)(tacit_rng_uniform(&rng) * TACIT_STEPS) - TACIT_STEPS / 2;
        for (uint32_t i = 0; i < BLOCK; i++)
            sums[arm] += tacit_rng_bernoulli(&rng, 0.9 - 0.2 * (double)((arm + seed) % ARMS))
                             ? TACIT_STEPS
                             : 0;
    }
}

static enum tacit_status take(struct tacit_vote_pool *pool, const int64_t *sums, uint64_t arms)
{
    enum tacit_status const status =
        tacit_vote_pool_add(pool, (struct tacit_vote_release){&arms, sums});
    struct tacit_vote_pool_view const view = pool_view(pool);
    uint64_t const words[] = {(uint64_t)status, view.release_count, view.look_count,
                              view.next_look,   view.active[0],     view.active_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view.sums, ARMS * sizeof *view.sums);
    return status;
}

/* Two aggregators: two terms a release at epsilon, and the players' at a floor of 8. */
static struct tacit_bounds_noise noise_of(const struct tacit_vote_pool_config *is, uint64_t at)
{
    bool const are_two = is->together > 0;
    return (struct tacit_bounds_noise){.epsilon = are_two ? 8 : is->epsilon,
                                       .shared = is->epsilon,
                                       .per_release = are_two ? 2 : 0,
                                       .releases = (uint32_t)at};
}

static double width_of(const struct tacit_vote_pool_config *is, uint64_t at)
{
    struct tacit_bounds_noise const noise = noise_of(is, at);
    return tacit_bounds_radius_of(at * BLOCK, is->together > 0 ? at * is->together : at, &noise,
                                  log(4.0 * ARMS / is->failure));
}

static uint64_t first_look(const struct tacit_vote_pool_config *is)
{
    uint64_t at = 1;
    while (width_of(is, at) > 0.25)
        at++;
    return at;
}

static uint64_t look_after(uint64_t at, const struct tacit_vote_pool_config *is)
{
    return (uint64_t)ceil((double)at * is->growth);
}

/* From the whole list and nothing else: at every number of releases of the ladder, who is left? */
static uint64_t naive_left(uint64_t seed, uint64_t count, const struct tacit_vote_pool_config *is)
{
    uint64_t left = ALL;
    uint64_t at = first_look(is);
    for (uint32_t e = 1; at <= count; e++, at = look_after(at, is)) {
        double const level = log(2.0 * ARMS * e * (e + 1.0) / is->failure);
        double low[ARMS];
        double high[ARMS];
        double bar = -1;
        struct tacit_bounds_noise const noise = noise_of(is, at);
        for (uint32_t arm = 0; arm < ARMS; arm++) {
            struct tacit_bounds_sum sum = {.pulls = at * BLOCK, .noises = at};
            sum.noises *= is->together > 0 ? is->together : 1;
            for (uint64_t number = 0; number < at; number++) {
                int64_t sums[ARMS];
                draw_sums(seed, number, sums);
                sum.steps += sums[arm];
            }
            low[arm] = tacit_bounds_lower_of(&sum, &noise, level);
            high[arm] = tacit_bounds_upper_of(&sum, &noise, level);
            if (((left >> arm) & 1u) && low[arm] > bar)
                bar = low[arm];
        }
        for (uint32_t arm = 0; arm < ARMS; arm++)
            if (high[arm] <= bar + is->accuracy && low[arm] < bar)
                left &= ~(UINT64_C(1) << arm);
    }
    return left;
}

/* Noise of one aggregator, or of two: then a release is a total of two players. */
static void judge_as_naive_reading(bool are_two)
{
    uint32_t decided = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct tacit_vote_pool_config config = pool_config(seed % 2 == 0 || are_two ? 1 : INFINITY);
        if (are_two) {
            config.together = 2;
            config.block = BLOCK / 2;
            config.floor_milli = 8000;
        }
        struct tacit_vote_pool *const pool = new_pool(&config);
        uint64_t at = first_look(&config);
        for (uint64_t number = 0; number < 400; number++) {
            int64_t sums[ARMS];
            draw_sums(seed, number, sums);
            uint64_t const looks = pool_view(pool).look_count;
            assert_int_equal(take(pool, sums, ALL), TACIT_OK);
            assert_int_equal(pool_view(pool).look_count - looks, number + 1 == at);
            if (number + 1 != at)
                continue;
            at = look_after(at, &config);
            assert_int_equal(pool_view(pool).active[0], naive_left(seed, number + 1, &config));
        }
        damage_all(pool, tacit_vote_pool_size(&config), is_pool, &config);
        decided += pool_view(pool).active_count == 1;
        testing_free(pool);
    }
    assert_true(decided >= 15); /* else it compared little */
}

TEST(a_pool_judges_as_a_naive_reading_of_all_releases)
{
    judge_as_naive_reading(false);
    digest_pause(true);
    judge_as_naive_reading(true);
    digest_pause(false);
}

/* The noise of two, whatever the players: 4 R^2/epsilon^2. */
TEST(a_total_has_the_noise_of_two_whoever_is_in_it)
{
    enum { DRAWS = 20000 };
    struct tacit_mechanism_config const is = {TACIT_PRIVACY_SOUND, 0.5, 0, 1};
    struct tacit_sim_aggregators aggregators = {.are_two = true};
    assert_int_equal(tacit_mechanism_init(&aggregators.mechanism, &is), TACIT_OK);
    for (int64_t players = 2; players <= 200; players *= 10) {
        double sum = 0;
        double squares = 0;
        tacit_sim_aggregators_begin(&aggregators, 7, (uint32_t)players);
        for (uint32_t i = 0; i < DRAWS; i++) {
            int64_t total = players * 3 * TACIT_STEPS; /* exact */
            tacit_sim_aggregators_add(&aggregators, &total, 1);
            double const noise = (double)(total - players * 3 * TACIT_STEPS) / (double)TACIT_STEPS;
            sum += noise;
            squares += noise * noise;
        }
        double const variance = 4 / (0.5 * 0.5); /* kurtosis 4.5: 3.5/DRAWS is its own */
        assert_true(fabs(squares / DRAWS - variance) < 4.5 * variance * sqrt(3.5 / DRAWS));
        assert_true(fabs(sum / DRAWS) < 4.5 * sqrt(variance / DRAWS));
    }
}

/* A round of all players: the same total to the judge of play in phases and to a pool. */
static void close_in_both(struct tacit_phased_judge *judge, struct tacit_vote_pool *pool,
                          struct tacit_rng *rng)
{
    struct tacit_phased_judge_view view;
    int64_t planned[ARMS];
    int64_t sums[ARMS] = {0};
    uint64_t arms = 0;
    tacit_phased_judge_view(judge, &view);
    for (uint32_t i = 0; i < view.plan_count; i++) {
        uint32_t const arm = view.plan[i].arm;
        double const pulls = (double)view.plan[i].count * PLAYERS;
        double const level = 0.6 - 0.04 * arm + 0.2 * (tacit_rng_uniform(rng) - 0.5);
        planned[i] = sums[arm] = llround(level * pulls * TACIT_STEPS);
        arms |= UINT64_C(1) << arm;
    }
    assert_int_equal(tacit_vote_pool_add(pool, (struct tacit_vote_release){&arms, sums}), TACIT_OK);
    tacit_phased_judge_close(judge, PLAYERS, planned);
}

/* Live the judge of play in phases has the rounds of two aggregators, in simulations a pool: the
 * same arms go after the same rounds. */
TEST(rounds_of_two_aggregators_are_judged_as_a_pool_judges)
{
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct tacit_phases const schedule = {.rule = TACIT_PHASES_SUMS,
                                              .arm_count = ARMS,
                                              .agent_count = PLAYERS,
                                              .horizon = 1 << 20,
                                              .epsilon_per_reward = 1,
                                              .growth = TACIT_VOTE_POOL_GROWTH,
                                              .confidence = 0.95,
                                              .floor_milli = seed % 2 == 0 ? TACIT_NO_FLOOR : 2000,
                                              .accuracy = 0.02};
        struct tacit_vote_pool_config config = pool_config(1);
        config.accuracy = schedule.accuracy;
        config.failure = tacit_phases_delta(&schedule);
        config.block = tacit_phases_first_rung(&schedule);
        config.together = PLAYERS;
        config.floor_milli = schedule.floor_milli;
        struct tacit_vote_pool *const pool = new_pool(&config);
        struct tacit_phased_judge *const judge = testing_malloc(tacit_phased_judge_size(&schedule));
        struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_REWARD);
        struct tacit_phased_judge_view view;
        assert_int_equal(tacit_phased_judge_init(judge, &schedule), TACIT_OK);
        do {
            close_in_both(judge, pool, &rng);
            tacit_phased_judge_view(judge, &view);
            for (uint32_t arm = 0; arm < ARMS; arm++)
                assert_int_equal(view.standings[arm] == TACIT_PHASED_PRESENT,
                                 tacit_bits_has(pool_view(pool).active, arm));
        } while (!view.finished);
        assert_true(view.decided && view.leader == 0 && view.round_count > 4);
    }
}

/* Two sums of 2^60 fill an arm; not one step more, up or down. Arms are those of the run, all that
 * are left are there, and no other has a sum; else nothing changes. */
TEST(releases_that_cannot_be_are_refused)
{
    static const int64_t most = INT64_C(1) << 60;
    static const struct {
        int64_t sum; /* of arm 2 */
        uint64_t arms;
        enum tacit_status status;
    } rows[] = {{0, ALL | 32, TACIT_MALFORMED},
                {0, ALL & ~4u, TACIT_MALFORMED},
                {1, ALL & ~4u, TACIT_MALFORMED},
                {INT64_MAX, ALL, TACIT_MALFORMED},
                {most + 1, ALL, TACIT_MALFORMED},
                {most, ALL, TACIT_OK},
                {most, ALL, TACIT_OK},
                {most, ALL, TACIT_MALFORMED},
                {1, ALL, TACIT_MALFORMED},
                {0, ALL, TACIT_OK},
                {-1, ALL, TACIT_OK},
                {1, ALL, TACIT_OK}};
    struct tacit_vote_pool_config const config = pool_config(1);
    size_t const size = tacit_vote_pool_size(&config);
    void *const before = testing_malloc(size);
    for (int64_t sign = -1; sign <= 1; sign += 2) {
        struct tacit_vote_pool *const pool = new_pool(&config);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int64_t const sums[ARMS] = {0, 0, sign * rows[i].sum, 0, 0};
            memcpy(before, pool, size);
            assert_int_equal(take(pool, sums, rows[i].arms), rows[i].status);
            assert_true((memcmp(before, pool, size) == 0) == (rows[i].status != TACIT_OK));
        }
        assert_true(pool_view(pool).sums[2] == 2 * sign * most);
        testing_free(pool);
    }
}

/* Of arms that nothing tells apart the first one is left. */
TEST(of_equal_arms_the_first_stays)
{
    struct tacit_vote_pool_config const config = pool_config(INFINITY);
    struct tacit_vote_pool *const pool = new_pool(&config);
    int64_t const sums[ARMS] = {0, BLOCK * TACIT_STEPS, BLOCK * TACIT_STEPS, 0,
                                BLOCK * TACIT_STEPS};
    for (uint64_t number = 0; pool_view(pool).active_count > 1; number++) {
        assert_true(number < 10000);
        assert_int_equal(take(pool, sums, ALL), TACIT_OK);
    }
    assert_int_equal(pool_view(pool).active[0], 2);
}

/* Nothing commits to a sum beside a release's arms; and what an arm that is out brings is late. */
TEST(an_arm_that_is_out_has_no_sum)
{
    struct tacit_vote_pool_config const config = pool_config(INFINITY);
    struct tacit_vote_pool *const pool = new_pool(&config);
    uint64_t const all = ALL;
    uint64_t const left = 2;
    int64_t sums[ARMS] = {0, BLOCK * TACIT_STEPS};
    struct tacit_vote_release const late = {&all, sums};
    struct tacit_vote_release const release = {&left, sums};
    while (pool_view(pool).active_count > 1)
        assert_int_equal(tacit_vote_pool_add(pool, late), TACIT_OK);
    sums[0] = 1;
    assert_int_equal(tacit_vote_pool_add(pool, release), TACIT_MALFORMED);
    assert_int_equal(tacit_vote_pool_add(pool, late), TACIT_OK);
    assert_int_equal(pool_view(pool).sums[0], 0);
    sums[0] = 0;
    assert_int_equal(tacit_vote_pool_add(pool, release), TACIT_OK);
}

/* What a player hears of the arms is to survive, and is heard once. */
TEST(arms_that_change_are_made_durable)
{
    struct tacit_vote_noised_config config = {
        .player_count = 1, .arm_count = 3, .block = BLOCK, .tick_us = 1};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, INFINITY, 0, 1};
    assert_int_equal(tacit_mechanism_init(&config.mechanism, &mechanism), TACIT_OK);
    struct tacit_vote_noised *const player = testing_malloc(tacit_vote_noised_size(&config));
    struct tacit_vote_noised_update update;
    struct tacit_vote_event event = {.kind = TACIT_EVENT_START};
    static const uint64_t sets[] = {7, 3, 3, 5};
    static const bool changes[] = {false, true, false, true};
    assert_int_equal(tacit_vote_noised_init(player, &config), TACIT_OK);
    assert_int_equal(tacit_vote_noised_step(player, NULL, &event, NULL, &update), TACIT_OK);
    event.kind = TACIT_EVENT_OFFER;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        event.as.standing.arms = &sets[i];
        assert_int_equal(tacit_vote_noised_step(player, NULL, &event, NULL, &update), TACIT_OK);
        assert_true(update.persist == changes[i] && update.replan == changes[i]);
    }
}

/* The counts of a state follow its configuration. 2^28 releases take too long: they are written. */
TEST(the_last_release_but_one_closes_a_pool)
{
    struct tacit_vote_pool_config const config = pool_config(1);
    size_t const size = tacit_vote_pool_size(&config);
    struct tacit_vote_pool *const pool = new_pool(&config);
    uint64_t *const counts = (uint64_t *)(void *)((unsigned char *)pool + sizeof config);
    uint64_t const last = (UINT64_C(1) << 28) - 1;
    counts[0] = last - 1;
    counts[2] = last + 1; /* the last look is at the end */
    for (counts[1] = 0; tacit_vote_pool_check(pool, size, &config) != TACIT_OK; counts[1]++)
        assert_true(counts[1] < 1000);
    int64_t const sums[ARMS] = {1, 2, 3, 4, 5};
    assert_int_equal(take(pool, sums, ALL), TACIT_OK);
    assert_int_equal(pool_view(pool).release_count, last);
    assert_int_equal(pool_view(pool).sums[4], 5);
    for (uint64_t number = last; number < last + 3; number++)
        assert_int_equal(take(pool, sums, ALL), TACIT_OK);
    assert_int_equal(pool_view(pool).release_count, last);
    assert_int_equal(pool_view(pool).sums[4], 5);
}

TEST(the_block_grows_with_the_noise_and_shrinks_with_the_players)
{
    struct tacit_vote_pool_config config = pool_config(INFINITY);
    assert_int_equal(tacit_vote_pool_block(&config), 1);
    uint64_t before = 1;
    for (double epsilon = 4; epsilon > 0.01; epsilon /= 4) {
        config.epsilon = epsilon;
        uint64_t const block = tacit_vote_pool_block(&config);
        assert_true(block >= before);
        config.player_count = 1000;
        assert_true(tacit_vote_pool_block(&config) <= block);
        config.player_count = PLAYERS;
        before = block;
    }
    assert_true(before > 64);
}

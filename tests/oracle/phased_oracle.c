/* The cores of play in phases against a twin of EXACT-BOUNDS 5 that sees the same released
 * sums: it keeps everything in plain tables, computes every bound of every arm after every round,
 * and must make the same plan, name the same leader and stop at the same time. Random settings,
 * with sites missing under a quorum; fixed seeds, no chance. */
#include <math.h>
#include "../support/testing.h"
#include "../support/phased_driver.h"

#define ARMS 12u      /* at most, of those that play .. */
#define ARMS_MAX 300u /* .. and of a judge alone */
#define LOOKS 64u
#define SETTINGS 300u
#define SEED UINT64_C(99)

/* ---- The twin: stupid on purpose ---- */

struct twin {
    struct tacit_phases schedule;
    uint64_t t;
    uint64_t pulls; /* released */
    bool finished, decided;
    uint32_t leader;
    bool absent[ARMS_MAX]; /* to come, or retired */
    bool retired[ARMS_MAX];
    uint32_t looks[ARMS_MAX];
    struct tacit_bounds_sum releases[ARMS_MAX][LOOKS];
    struct interval {
        double mean, lower, upper;
    } interval[ARMS_MAX];       /* as of the last round */
    uint64_t planned[ARMS_MAX]; /* new pulls of each arm in the plan that stands; 0: not in it */
};

static double twin_delta(const struct tacit_phases *schedule)
{
    return schedule->confidence > 0 ? 1 - schedule->confidence : 1.0 / (double)schedule->horizon;
}

static double twin_first_level(const struct tacit_phases *schedule)
{
    return schedule->confidence > 0 ? log(4.0 * schedule->arm_count / twin_delta(schedule))
                                    : log(10.0 * schedule->arm_count);
}

/* S_e, from the bottom each time. */
static uint64_t twin_rung(const struct tacit_phases *schedule, uint32_t e)
{
    uint64_t rung = 1;
    if (e == 0)
        return 0;
    while (tacit_bounds_radius(rung * schedule->agent_count, schedule->agent_count,
                               schedule->epsilon_per_reward, twin_first_level(schedule)) > 0.5)
        rung++;
    for (uint32_t i = 1; i < e; i++)
        rung = (uint64_t)ceil(schedule->growth * (double)rung - 1e-9);
    return rung;
}

static uint64_t twin_next(const struct twin *twin, uint32_t arm)
{
    uint32_t const e = twin->looks[arm];
    return twin_rung(&twin->schedule, e + 1) - twin_rung(&twin->schedule, e);
}

static void twin_issue(struct twin *twin)
{
    uint64_t total = 0;
    for (uint32_t arm = 0; arm < twin->schedule.arm_count; arm++)
        total += twin->planned[arm];
    if (twin->t + total > twin->schedule.horizon) {
        memset(twin->planned, 0, sizeof twin->planned);
        twin->finished = true;
    } else {
        twin->t += total;
    }
}

static void twin_begin(struct twin *twin, const struct tacit_phases *schedule)
{
    memset(twin, 0, sizeof *twin);
    twin->schedule = *schedule;
    twin->leader = TACIT_NO_ARM;
    for (uint32_t arm = 0; arm < schedule->arm_count; arm++) {
        twin->absent[arm] = schedule->first_count > 0 && arm >= schedule->first_count;
        twin->planned[arm] = twin->absent[arm] ? 0 : twin_next(twin, arm);
    }
    twin_issue(twin);
}

static struct interval twin_interval(const struct twin *twin, uint32_t arm)
{
    if (twin->looks[arm] == 0)
        return (struct interval){-INFINITY, 0, 1}; /* nothing is known */
    double const e = twin->looks[arm];
    double const level =
        twin->schedule.confidence > 0
            ? log(2.0 * twin->schedule.arm_count * e * (e + 1) / twin_delta(&twin->schedule))
            : log(fmax(3, (double)twin->pulls));
    double const epsilon = twin->schedule.epsilon_per_reward;
    struct tacit_bounds_sum best = {0, 0, 0};
    double smallest = INFINITY;
    for (uint32_t first = twin->looks[arm]; first-- > 0;) { /* 2.5 */
        struct tacit_bounds_sum sum = {0, 0, 0};
        for (uint32_t i = first; i < twin->looks[arm]; i++) {
            sum.pulls += twin->releases[arm][i].pulls;
            sum.noises += twin->releases[arm][i].noises;
            sum.steps += twin->releases[arm][i].steps;
        }
        double const radius = tacit_bounds_radius(sum.pulls, sum.noises, epsilon, level);
        if (radius <= smallest || isinf(epsilon)) {
            smallest = radius;
            best = sum;
        }
    }
    return (struct interval){tacit_bounds_mean(&best), tacit_bounds_lower(&best, epsilon, level),
                             tacit_bounds_upper(&best, epsilon, level)};
}

/* The B - 1 largest UCBs among the arms that are not out of reach. */
static uint32_t twin_challengers(const struct twin *twin, uint32_t *challengers)
{
    struct interval const *const interval = twin->interval;
    bool const decides = twin->schedule.confidence > 0;
    double const bound = decides ? interval[twin->leader].lower : interval[twin->leader].upper;
    bool chosen[ARMS_MAX] = {false};
    uint32_t count = 0;
    while (count < twin->schedule.arms_per_round - 1) {
        uint32_t best = TACIT_NO_ARM;
        for (uint32_t arm = 0; arm < twin->schedule.arm_count; arm++)
            if (arm != twin->leader && !chosen[arm] && !twin->absent[arm] &&
                interval[arm].upper >= bound &&
                (best == TACIT_NO_ARM || interval[arm].upper > interval[best].upper))
                best = arm;
        if (best == TACIT_NO_ARM)
            break;
        chosen[best] = true;
        challengers[count++] = best;
    }
    return count;
}

static void twin_decide(struct twin *twin);

/* What `agents` sites said of each arm of the plan, added up. */
static void twin_close(struct twin *twin, uint32_t agents, const int64_t *total)
{
    for (uint32_t arm = 0; arm < twin->schedule.arm_count; arm++)
        if (twin->planned[arm] > 0) {
            twin->releases[arm][twin->looks[arm]++] =
                (struct tacit_bounds_sum){twin->planned[arm] * agents, agents, total[arm]};
            twin->pulls += twin->planned[arm] * agents;
        }
    twin_decide(twin);
}

/* From everything that is known: who leads, and what is played next. */
static void twin_decide(struct twin *twin)
{
    uint32_t const arms = twin->schedule.arm_count;
    struct interval *const interval = twin->interval;
    twin->leader = TACIT_NO_ARM;
    twin->finished = twin->decided = false;
    for (uint32_t arm = 0; arm < arms; arm++) {
        interval[arm] = twin_interval(twin, arm);
        if (!twin->absent[arm] && twin->looks[arm] > 0 &&
            (twin->leader == TACIT_NO_ARM || interval[arm].mean > interval[twin->leader].mean))
            twin->leader = arm;
    }
    if (twin->leader == TACIT_NO_ARM) { /* the first rung of all, once more */
        for (uint32_t arm = 0; arm < arms; arm++)
            twin->planned[arm] = twin->absent[arm] ? 0 : twin_next(twin, arm);
        twin_issue(twin);
        return;
    }
    uint32_t challengers[ARMS_MAX];
    uint32_t const count = twin_challengers(twin, challengers);
    uint64_t together = 0;
    memset(twin->planned, 0, sizeof twin->planned);
    for (uint32_t i = 0; i < count; i++) {
        twin->planned[challengers[i]] = twin_next(twin, challengers[i]);
        together += twin->planned[challengers[i]];
    }
    if (twin->schedule.confidence > 0 && count == 0) {
        twin->decided = twin->finished = true;
        return;
    }
    if (count == 0 || twin_next(twin, twin->leader) <= together)
        twin->planned[twin->leader] = twin_next(twin, twin->leader);
    twin_issue(twin);
}

/* ---- Arms that come and go ---- */

static uint32_t twin_count_present(const struct twin *twin)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < twin->schedule.arm_count; arm++)
        count += twin->absent[arm] ? 0 : 1;
    return count;
}

/* The plan that stood is as if it had never been. */
static void twin_give_way(struct twin *twin)
{
    for (uint32_t arm = 0; arm < twin->schedule.arm_count; arm++)
        twin->t -= twin->planned[arm];
    twin_decide(twin);
}

static void twin_add(struct twin *twin, uint32_t arm)
{
    twin->absent[arm] = false;
    twin_give_way(twin);
}

/* Did the order that stood change? */
static bool twin_retire(struct twin *twin, uint32_t arm)
{
    bool const is_at_play = twin->planned[arm] > 0 || twin->leader == arm;
    twin->absent[arm] = twin->retired[arm] = true;
    if (is_at_play)
        twin_give_way(twin);
    return is_at_play;
}

/* ---- Comparison ---- */

static void expect_same(const struct twin *twin, const struct tacit_phased_judge_view *view)
{
    assert_int_equal(view->finished, twin->finished);
    assert_int_equal(view->decided, twin->decided);
    assert_int_equal(view->leader, twin->leader);
    assert_int_equal(view->slots, twin->t);
    uint32_t block = 0;
    for (uint32_t arm = 0; arm < twin->schedule.arm_count; arm++) {
        if (twin->planned[arm] == 0)
            continue;
        assert_true(block < view->plan_count);
        assert_int_equal(view->plan[block].arm, arm);
        assert_int_equal(view->plan[block].count, twin->planned[arm]);
        block++;
    }
    assert_int_equal(block, view->plan_count);
}

static void expect_same_at(const struct twin *twin, const struct phased_core *hub)
{
    struct tacit_phased_hub_view const view = phased_hub_view(hub);
    expect_same(twin, &view.judge);
}

/* Twin and cores, in one setting after the other. */
struct play {
    struct phased_setup setup;
    double means[ARMS];
    struct twin twin;
    struct phased_core *hub;
    struct phased_core *agents[PHASED_AGENTS_MAX];
    struct tacit_phased_message *order; /* that stands */
    struct tacit_rng chance;
    bool may_change; /* arms may come and go */
    bool is_over;
    uint32_t decided, rounds, missing;
    uint32_t added, retired, overtaken, reopened, ended;
};

static struct tacit_phases random_schedule(struct tacit_rng *rng)
{
    double const epsilons[] = {INFINITY, 10, 1, 0.2, 0.05};
    double const growths[] = {1.5, 2, 2, 3, 4};
    struct tacit_phases schedule = {.arm_count = 2 + (uint32_t)tacit_rng_below(rng, ARMS - 1),
                                    .agent_count =
                                        1 + (uint32_t)tacit_rng_below(rng, PHASED_AGENTS_MAX),
                                    .epsilon_per_reward = epsilons[tacit_rng_below(rng, 5)],
                                    .growth = growths[tacit_rng_below(rng, 5)],
                                    .confidence = tacit_rng_below(rng, 2) == 0 ? 0 : 0.9};
    schedule.rule = TACIT_PHASES_INDEX;
    schedule.arms_per_round = 2 + (uint32_t)tacit_rng_below(rng, schedule.arm_count - 1);
    schedule.horizon = 1 + tacit_rng_below(rng, tacit_rng_below(rng, 3) == 0 ? 500 : 200000);
    return schedule;
}

/* The operator's next word; nothing that is refused changes anything. Result: is there another
 * order? */
static bool change(struct play *run)
{
    struct twin *const twin = &run->twin;
    struct phased_core *const hub = run->hub;
    uint32_t const arm = (uint32_t)tacit_rng_below(&run->chance, twin->schedule.arm_count);
    bool const is_coming = twin->absent[arm] && !twin->retired[arm];
    bool const was_finished = twin->finished;
    bool const may_go = !twin->absent[arm] && twin_count_present(twin) > 1;
    bool const wants_more = tacit_rng_below(&run->chance, 3) > 0;
    bool changed = false;
    struct tacit_phased_update update;
    if (is_coming && wants_more) {
        assert_int_equal(tacit_phased_hub_change(hub->state, arm, true, hub->now_us, &update),
                         TACIT_OK);
        changed = true;
        twin_add(twin, arm);
        run->added++;
    } else if (may_go) {
        assert_int_equal(tacit_phased_hub_change(hub->state, arm, false, hub->now_us, &update),
                         TACIT_OK);
        changed = twin_retire(twin, arm);
        run->retired++;
    } else {
        struct tacit_phased_judge_view const before = phased_hub_view(hub).judge;
        assert_int_equal(tacit_phased_hub_change(hub->state, arm, false, hub->now_us, &update),
                         TACIT_INVALID);
        assert_int_equal(phased_hub_view(hub).judge.round, before.round);
        assert_false(update.send || update.persist);
        return false;
    }
    struct tacit_phased_hub_config const config = phased_hub_config(&run->setup);
    assert_int_equal(tacit_phased_hub_check(hub->state, hub->size, &config), TACIT_OK);
    assert_true(update.persist);
    assert_int_equal(update.send, changed);
    expect_same_at(twin, hub);
    if (!changed)
        return false;
    assert_true(update.message.round > run->order->round);
    hub->update = update;
    run->order = phased_keep(hub);
    run->reopened += was_finished && !twin->finished ? 1 : 0;
    return true;
}

/* Everybody who is not missing gets the order, plays and reports; the hub closes the round, unless
 * another order stands before it is over. */
static void play_round(struct play *run)
{
    struct phased_setup const *const setup = &run->setup;
    struct phased_core *const hub = run->hub;
    uint32_t const agents = setup->schedule.agent_count;
    uint32_t const round = run->order->round;
    uint32_t const interruption = (uint32_t)tacit_rng_below(&run->chance, 2 * agents);
    uint32_t const present = (uint32_t)tacit_rng_below(&run->chance, agents); /* always there */
    int64_t total[ARMS] = {0};
    uint32_t reports = 0;
    for (uint32_t i = 0; i < agents; i++) {
        if (run->may_change && i == interruption && change(run)) {
            run->overtaken++;
            return;
        }
        if (i != present && setup->quorum > 0 && tacit_rng_below(&run->chance, 4) == 0) {
            run->missing++;
            continue;
        }
        struct phased_core *const agent = run->agents[i];
        assert_int_equal(phased_step(agent, phased_receive(run->order)), TACIT_OK);
        for (uint32_t block = 0; block < run->order->block_count; block++)
            assert_false(run->twin.absent[run->order->blocks[block].arm]);
        assert_int_equal(phased_play(agent), TACIT_OK);
        run->is_over = !agent->update.send; /* what gave way took slots, too, and T has come */
        if (run->is_over)
            return;
        struct tacit_phased_message *const report = phased_keep(agent);
        assert_int_equal(report->kind, TACIT_ROUND_REPORT);
        for (uint32_t j = 0; j < report->block_count; j++)
            total[run->order->blocks[j].arm] += report->sums[j];
        reports++;
        assert_int_equal(phased_step(hub, phased_receive(report)), TACIT_OK);
        testing_free(report);
    }
    if (phased_hub_view(hub).judge.round == round && !phased_hub_view(hub).judge.finished) {
        hub->now_us += setup->round_timeout_us;
        assert_int_equal(phased_step(hub, phased_timeout()), TACIT_OK);
    }
    assert_true(hub->update.send);
    twin_close(&run->twin, reports, total);
    expect_same_at(&run->twin, hub);
    run->order = phased_keep(hub);
    run->rounds++;
}

/* Everybody plays what the last word names, which is an arm that is there. */
static void expect_last_word(struct play *run)
{
    assert_true(run->order->last);
    assert_false(run->twin.absent[run->order->leader]);
    for (uint32_t i = 0; i < run->setup.schedule.agent_count; i++) {
        assert_int_equal(phased_step(run->agents[i], phased_receive(run->order)), TACIT_OK);
        assert_int_equal(phased_agent_view(run->agents[i]).exploit_arm, run->order->leader);
    }
}

static void play(uint32_t number, struct play *run)
{
    uint64_t const seed = SEED + (run->may_change ? 1 : 0);
    struct tacit_rng rng = tacit_rng_stream(seed, number, 0, TACIT_PURPOSE_INSTANCE);
    run->setup = (struct phased_setup){.schedule = random_schedule(&rng),
                                       .seed = SEED + number,
                                       .means = run->means,
                                       .budget_nano = UINT64_C(1) << 60,
                                       .round_timeout_us = 1000};
    if (run->may_change) {
        run->setup.schedule.horizon = 50000 + tacit_rng_below(&rng, 100000);
        run->setup.schedule.first_count =
            1 + (uint32_t)tacit_rng_below(&rng, run->setup.schedule.arm_count);
    } else {
        run->setup.quorum = tacit_rng_below(&rng, 2) == 0 ? 0 : 1;
    }
    for (uint32_t arm = 0; arm < ARMS; arm++)
        run->means[arm] = (double)tacit_rng_below(&rng, 21) / 20;
    run->chance = tacit_rng_stream(seed, number, 0, TACIT_PURPOSE_FAULT);
    run->hub = phased_hub_new(&run->setup);
    for (uint32_t i = 0; i < run->setup.schedule.agent_count; i++) {
        run->agents[i] = phased_agent_new(&run->setup, i);
        assert_int_equal(phased_step(run->agents[i], phased_start()), TACIT_OK);
    }
    twin_begin(&run->twin, &run->setup.schedule);
    assert_int_equal(phased_step(run->hub, phased_start()), TACIT_OK);
    expect_same_at(&run->twin, run->hub);
    run->order = phased_keep(run->hub);
    run->is_over = false;
    for (uint32_t turn = 0; turn < (run->may_change ? 40 : UINT32_MAX) && !run->is_over; turn++) {
        if (run->may_change && tacit_rng_below(&run->chance, 3) == 0)
            (void)change(run);
        if (!run->twin.finished)
            play_round(run);
        else if (run->may_change && run->order->leader != TACIT_NO_ARM)
            expect_last_word(run);
        else if (!run->may_change)
            break;
    }
    run->decided += run->twin.decided ? 1 : 0;
    run->ended += run->is_over ? 1 : 0;
}

TEST(hub_plans_as_its_twin)
{
    struct play run = {.may_change = false};
    for (uint32_t number = 0; number < SETTINGS; number++)
        play(number, &run);
    print_message("%u rounds, %u decided, %u reports missing\n", run.rounds, run.decided,
                  run.missing);
    assert_true(run.rounds > 5 * SETTINGS);
    assert_true(run.decided > SETTINGS / 20);
    assert_true(run.missing > SETTINGS);
    assert_int_equal(run.ended, 0);
}

TEST(arms_may_come_and_go_at_any_time)
{
    struct play run = {.may_change = true};
    for (uint32_t number = 0; number < SETTINGS / 2; number++)
        play(number, &run);
    print_message("%u added, %u retired, %u orders overtaken, %u runs reopened, %u out of slots\n",
                  run.added, run.retired, run.overtaken, run.reopened, run.ended);
    assert_true(run.added > SETTINGS / 4 && run.retired > SETTINGS / 4);
    assert_true(run.overtaken > SETTINGS / 20 && run.reopened > SETTINGS / 20);
}

/* ---- Many arms ---- */

#define CROWD_ROUNDS 120u

/* Sums as sites could have released them: of means that are `narrow` wide, with noise. */
static void play_crowd(struct twin *twin, struct tacit_phased_judge *judge, struct tacit_rng *rng,
                       double narrow, bool may_miss)
{
    int64_t sums[ARMS_MAX];
    int64_t totals[ARMS_MAX] = {0};
    struct tacit_phased_judge_view view;
    tacit_phased_judge_view(judge, &view);
    uint32_t const missing = may_miss && tacit_rng_below(rng, 4) == 0 ? 1 : 0;
    uint32_t const agents = twin->schedule.agent_count - missing;
    for (uint32_t i = 0; i < view.plan_count; i++) {
        uint32_t const arm = view.plan[i].arm;
        double const pulls = (double)(view.plan[i].count * agents);
        double const mean = 1 - narrow * (double)((arm * 7919u) % ARMS_MAX) / ARMS_MAX;
        double const noise = 8 * (tacit_rng_uniform(rng) - 0.5) * (double)TACIT_STEPS;
        totals[arm] = sums[i] = (int64_t)(mean * pulls * (double)TACIT_STEPS + noise);
    }
    tacit_phased_judge_close(judge, agents, sums);
    twin_close(twin, agents, totals);
}

/* Where there are many arms the judge looks at few of them, and keeps what did not change. */
TEST(of_many_arms_those_are_played_that_a_look_at_all_would_choose)
{
    struct twin *const twin = testing_calloc(1, sizeof *twin);
    for (uint32_t setting = 0; setting < 8; setting++) {
        struct tacit_rng rng = tacit_rng_stream(SEED, setting, 1, TACIT_PURPOSE_REWARD);
        struct tacit_phases const schedule = {.rule = TACIT_PHASES_INDEX,
                                              .arm_count = ARMS_MAX,
                                              .agent_count = setting % 2 == 0 ? 3 : 40,
                                              .horizon = UINT64_C(1) << 26,
                                              .epsilon_per_reward = 1,
                                              .growth = 2,
                                              .arms_per_round = setting < 6 ? 4 : 60};
        struct tacit_phased_judge *const judge = testing_malloc(tacit_phased_judge_size(&schedule));
        struct tacit_phased_judge_view view;
        assert_int_equal(tacit_phased_judge_init(judge, &schedule), TACIT_OK);
        tacit_phased_judge_view(judge, &view);
        twin_begin(twin, &schedule);
        for (uint32_t round = 0; round < CROWD_ROUNDS && !view.finished; round++) {
            play_crowd(twin, judge, &rng, setting % 3 == 0 ? 1 : 0.1, setting % 4 == 3);
            tacit_phased_judge_view(judge, &view);
            expect_same(twin, &view);
            for (uint32_t arm = 0; arm < ARMS_MAX; arm++)
                assert_true(view.means[arm] == twin->interval[arm].mean);
        }
        assert_true(view.round_count > 20);
        testing_free(judge);
    }
}

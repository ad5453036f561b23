/* Exact bounds in the cores of epoch elimination: what a hub makes of histories when reports are
 * missing, and what is refused. Over graphs, and whole runs: oracle/exact_graph_oracle. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/elim_driver.h"
#include "tacit/bounds.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x9a8d29dfec2bd313))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0xaaab2612c8a26226))

#define AGENTS 4u
#define ARMS 5u
#define ROUNDS 40u
#define SETTINGS 60u

static struct driver_setup exact_setup(double epsilon, uint64_t horizon)
{
    struct driver_setup setup = driver_setup_plain(AGENTS, ARMS, horizon);
    setup.epsilon = epsilon;
    setup.growth = 2;
    return setup;
}

/* ---- Histories of those who came, by hand ---- */

struct books {
    const struct driver_setup *setup;
    uint32_t round_count;
    uint32_t agents[ROUNDS];     /* that reported */
    uint64_t pulls[ROUNDS];      /* S */
    int64_t total[ROUNDS][ARMS]; /* of their histories */
};

/* The releases from round `first` (from 0) to `last`, if the reports tell them. */
static bool sum_between(const struct books *books, uint32_t first, uint32_t last, uint32_t arm,
                        struct tacit_bounds_sum *sum)
{
    bool const is_whole = books->agents[last] == AGENTS;
    if (first > 0 && (!is_whole || books->agents[first - 1] < AGENTS))
        return false;
    uint64_t const before = first == 0 ? 0 : books->pulls[first - 1];
    int64_t const steps = first == 0 ? 0 : books->total[first - 1][arm];
    *sum = (struct tacit_bounds_sum){.pulls = books->agents[last] * (books->pulls[last] - before),
                                     .noises = (uint64_t)books->agents[last] * (last - first + 1),
                                     .steps = books->total[last][arm] - steps};
    return true;
}

static struct tacit_bounds_interval interval_by_hand(const struct books *books, uint32_t last,
                                                     uint32_t arm, double delta)
{
    double const epsilon = books->setup->epsilon;
    double const look = last + 1;
    double const level = log(2.0 * ARMS * look * (look + 1) / delta);
    struct tacit_bounds_sum best = {0, 0, 0};
    double smallest = INFINITY;
    for (uint32_t first = last + 1; first-- > 0;) {
        struct tacit_bounds_sum sum;
        if (!sum_between(books, first, last, arm, &sum))
            continue;
        double const radius = tacit_bounds_radius(sum.pulls, sum.noises, epsilon, level);
        if (radius <= smallest || isinf(epsilon)) {
            smallest = radius;
            best = sum;
        }
    }
    return (struct tacit_bounds_interval){tacit_bounds_mean(&best),
                                          tacit_bounds_lower(&best, epsilon, level),
                                          tacit_bounds_upper(&best, epsilon, level)};
}

static void expect_books(const struct books *books, const struct driver_core *hub,
                         const bool *was_in)
{
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    uint32_t const last = books->round_count - 1;
    double const delta = 1.0 / (double)books->setup->horizon;
    struct tacit_bounds_interval known[ARMS];
    uint32_t leader = TACIT_NO_ARM;
    double lower = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        if (!was_in[arm])
            continue;
        known[arm] = interval_by_hand(books, last, arm, delta);
        lower = fmax(lower, known[arm].lower);
        if (leader == TACIT_NO_ARM || known[arm].mean > known[leader].mean)
            leader = arm;
    }
    assert_true(view.is_exact);
    assert_int_equal(view.leader, leader);
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        if (!was_in[arm])
            continue;
        struct tacit_bounds_interval const told =
            tacit_elim_hub_interval(hub->state, arm, 1 - delta);
        assert_true(told.mean == known[arm].mean);
        assert_true(view.means[arm] == known[arm].mean);
        assert_true(fabs(told.lower - known[arm].lower) <= 1e-9);
        assert_true(fabs(told.upper - known[arm].upper) <= 1e-9);
        assert_int_equal(tacit_bits_has(view.arms, arm), known[arm].upper >= lower);
    }
}

/* Somebody is always there; the others miss every third order. */
static void play_round(struct books *books, struct driver_core *hub, struct driver_core *agents,
                       const double *means, struct tacit_rng *faults)
{
    struct tacit_elim_message *const order = driver_keep(hub);
    uint32_t const present = (uint32_t)tacit_rng_below(faults, AGENTS);
    bool was_in[ARMS];
    for (uint32_t arm = 0; arm < ARMS; arm++)
        was_in[arm] = tacit_bits_has(order->arms, arm);
    books->pulls[books->round_count] = order->pulls;
    for (uint32_t i = 0; i < AGENTS; i++) {
        if (i != present && tacit_rng_below(faults, 3) == 0)
            continue;
        driver_expect(&agents[i], driver_receive(order), TACIT_OK);
        driver_play(&agents[i], means);
        struct tacit_elim_message *const report = driver_keep(&agents[i]);
        uint32_t rank = 0;
        for (uint32_t arm = 0; arm < ARMS; arm++)
            if (was_in[arm])
                books->total[books->round_count][arm] += report->sums[rank++].steps;
        books->agents[books->round_count]++;
        driver_expect(hub, driver_receive(report), TACIT_OK);
        testing_free(report);
    }
    if (books->agents[books->round_count] < AGENTS) {
        hub->now_us += 1000;
        driver_expect(hub, driver_timeout(), TACIT_OK);
    }
    books->round_count++;
    expect_books(books, hub, was_in);
}

TEST(hub_judges_by_whole_rounds_and_by_histories_of_those_who_came)
{
    static const double epsilons[] = {INFINITY, 4, 1};
    uint32_t broken = 0;
    uint32_t rounds = 0;
    for (uint32_t index = 0; index < SETTINGS; index++) {
        struct driver_setup setup = exact_setup(epsilons[index % 3], 20000);
        struct tacit_rng faults = tacit_rng_stream(4, index, 0, TACIT_PURPOSE_FAULT);
        double means[ARMS];
        setup.quorum = 1;
        setup.round_timeout_us = 1000;
        for (uint32_t arm = 0; arm < ARMS; arm++)
            means[arm] = (double)tacit_rng_below(&faults, 17) / 16;
        struct books books = {.setup = &setup};
        struct driver_core hub = driver_hub_open(&setup);
        struct driver_core agents[AGENTS];
        for (uint32_t i = 0; i < AGENTS; i++) {
            agents[i] = driver_agent_open(&setup, i);
            agents[i].entropy.rng = tacit_rng_stream(5, index, i, TACIT_PURPOSE_NOISE);
            driver_expect(&agents[i], driver_start(), TACIT_OK);
        }
        driver_expect(&hub, driver_start(), TACIT_OK);
        while (!driver_hub_view(&hub).finished)
            play_round(&books, &hub, agents, means, &faults);
        for (uint32_t i = 0; i < books.round_count; i++)
            broken += books.agents[i] < AGENTS ? 1 : 0;
        rounds += books.round_count;
    }
    assert_true(broken > rounds / 4 && broken < rounds); /* of both kinds */
}

/* A confidence that is said: what states keep of it, and what the hub judges by it, is in the known
 * numbers. */
TEST(hub_judges_by_a_confidence_and_a_growth_that_are_said)
{
    static double const means[] = {0.9, 0.8, 0.4, 0.3, 0.1};
    double const confidences[] = {0.5, 0.95};
    for (size_t i = 0; i < 2; i++) {
        struct driver_setup setup = exact_setup(2, 20000);
        struct driver_run run;
        setup.growth = 1.3;
        setup.confidence = confidences[i];
        driver_run_open(&run, &setup, means);
        for (uint32_t round = 0; round < 60 && run.order != NULL; round++)
            if (!driver_run_round(&run))
                break;
        assert_true(driver_hub_view(&run.hub).round_count > 3);
    }
}

/* ---- What is refused ---- */

TEST(configurations_that_exact_bounds_do_not_know_are_refused)
{
    struct driver_setup const setup = exact_setup(1, 10000);
    struct tacit_elim_hub_config const good = driver_hub_config(&setup);
    double const growths[] = {1, 0.5, -1, 4.5, INFINITY, (double)NAN, 1.0001};
    double const confidences[] = {0.3, 1, -0.5, (double)NAN};
    assert_true(tacit_elim_hub_size(&good) > 0);
    for (size_t i = 0; i < sizeof growths / sizeof growths[0]; i++) {
        struct tacit_elim_hub_config bad = good;
        bad.schedule.growth = growths[i];
        assert_int_equal(tacit_elim_hub_size(&bad), 0);
    }
    for (size_t i = 0; i < sizeof confidences / sizeof confidences[0]; i++) {
        struct tacit_elim_hub_config bad = good;
        bad.schedule.confidence = confidences[i];
        assert_int_equal(tacit_elim_hub_size(&bad), 0);
    }
    struct tacit_elim_hub_config bad = good;
    bad.schedule.growth = 0;
    assert_true(tacit_elim_hub_size(&bad) > 0);
    bad.schedule.confidence = 0.9; /* without a growth */
    assert_int_equal(tacit_elim_hub_size(&bad), 0);
    bad = good;
    bad.schedule.round_limit = 3;
    assert_int_equal(tacit_elim_hub_size(&bad), 0);
    bad = good;
    bad.schedule.report_count--;
    assert_int_equal(tacit_elim_hub_size(&bad), 0);
    bad = good;
    bad.components_alike = true;
    assert_int_equal(tacit_elim_hub_size(&bad), 0);
    struct driver_setup paper = setup;
    paper.mode = TACIT_PRIVACY_PAPER;
    bad = driver_hub_config(&paper); /* real sums */
    assert_int_equal(tacit_elim_hub_size(&bad), 0);
}

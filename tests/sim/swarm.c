/* Swarm simulation: many seeds, each with its own small federation and its own mix of faults;
 * checkers look on from outside; when the faults are over, every agent that is there must end, also
 * where others never come back. A failing case prints first the command that replays it.
 *
 * Schedules are such worlds in sound mode, in which old states come back besides: backups and
 * clones.
 *
 * usage: swarm [--seed N | --schedule N | --schedules COUNT | --seeds COUNT]
 * default: the test group with 2,000 seeds and 3,000 schedules; --schedules runs these alone */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../support/elim_sim.h"

#define SEEDS_DEFAULT 2000u
#define SCHEDULES_DEFAULT 3000u
#define ARMS_MAX 8u
#define AGENTS_MAX 8u

struct world {
    struct elim_sim sim;
    struct tacit_sim_faults faults;
    struct elim_observer observer;
    double means[AGENTS_MAX * ARMS_MAX];
    uint64_t points[1];
    double metrics[ELIM_METRIC_COUNT];
    double regret[1];
    uint32_t eliminated[ARMS_MAX];
    bool finished[1];
};

static const char *program_name = "swarm";
static uint32_t seed_count = SEEDS_DEFAULT;
static uint32_t schedule_count = SCHEDULES_DEFAULT;

/* ---- Worlds ---- */

static double chance(struct tacit_rng *rng, double share_of_worlds, double max)
{
    bool const is_on = tacit_rng_bernoulli(rng, share_of_worlds);
    double const value = max * tacit_rng_uniform(rng);
    return is_on ? value : 0;
}

/* Each kind of fault is on in a random subset of the worlds, so that rare mixtures come up too. */
static struct tacit_sim_faults make_faults(struct tacit_rng *rng, uint64_t horizon)
{
    return (struct tacit_sim_faults){
        .loss = chance(rng, 0.6, 0.5),
        .duplication = chance(rng, 0.6, 0.5),
        .delay_us_max = tacit_rng_bernoulli(rng, 0.7) ? tacit_rng_below(rng, 5000) : 0,
        .agent_crash = chance(rng, 0.7, 0.15),
        .hub_crash = chance(rng, 0.6, 0.15),
        .down_us_max = 1 + tacit_rng_below(rng, 3000),
        .plan_parts = 1 + (uint32_t)tacit_rng_below(rng, 5),
        .noise_failure = chance(rng, 0.4, 0.02),
        .healed_at_us = horizon / 2 + tacit_rng_below(rng, 2 * horizon)};
}

static struct tacit_mechanism make_mechanism(struct tacit_rng *rng, double *epsilon)
{
    static const double epsilons[] = {0.3, 1, 5, INFINITY};
    enum tacit_privacy_mode const mode =
        tacit_rng_bernoulli(rng, 0.6) ? TACIT_PRIVACY_SOUND : TACIT_PRIVACY_PAPER;
    *epsilon = epsilons[tacit_rng_below(rng, 4)];
    struct tacit_mechanism_config const config = {mode, *epsilon, 0, 1};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

/* Drawn last, so that a seed has the same faults as before there were deadlines. */
static void make_absences(struct tacit_rng *rng, struct world *world)
{
    struct elim_sim *const sim = &world->sim;
    if (tacit_rng_bernoulli(rng, 0.3)) /* mostly one; with 1 agent, all */
        world->faults.lost_agents =
            tacit_rng_bernoulli(rng, 0.8) || sim->common.agent_count == 1 ? 1 : 2;
    if (tacit_rng_bernoulli(rng, 0.5))
        sim->round_timeout_us = 1 + tacit_rng_below(rng, sim->common.horizon);
    if (tacit_rng_bernoulli(rng, 0.8))
        sim->quorum = 1 + (uint32_t)tacit_rng_below(rng, sim->report_count);
    sim->hub_answers_all = tacit_rng_bernoulli(rng, 0.5);
}

static void use_exact_bounds(struct world *world, double confidence)
{
    world->sim.growth = 2;
    world->sim.confidence = confidence;
    world->sim.round_limit = 0;
    world->sim.report_count = world->sim.common.agent_count;
}

static void make_world(struct world *world, uint64_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE);
    memset(world, 0, sizeof *world);
    uint32_t const agents = 1 + (uint32_t)tacit_rng_below(&rng, AGENTS_MAX);
    uint32_t const arms = 2 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX - 1);
    uint64_t const horizon = 5000 + tacit_rng_below(&rng, 100000);
    for (uint32_t i = 0; i < agents * arms; i++)
        world->means[i] = tacit_rng_uniform(&rng);
    world->points[0] = horizon;
    world->sim = (struct elim_sim){
        .common.seed = seed,
        .common.run_count = 1,
        .common.agent_count = agents,
        .report_count = 1 + (uint32_t)tacit_rng_below(&rng, agents),
        .round_limit = tacit_rng_bernoulli(&rng, 0.3) ? 1 + (uint32_t)tacit_rng_below(&rng, 12) : 0,
        .common.horizon = horizon,
        .common.points = world->points,
        .common.point_count = 1,
        .common.env = {.kind = TACIT_ENV_BERNOULLI,
                       .row_count = tacit_rng_bernoulli(&rng, 0.5) ? agents : 1,
                       .arm_count = arms,
                       .means = world->means},
        .server_link_cost = 1};
    world->sim.mechanism = make_mechanism(&rng, &world->sim.epsilon_per_reward);
    world->sim.has_grants = world->sim.mechanism.scale.kind != TACIT_SCALE_REAL;
    world->faults = make_faults(&rng, horizon);
    world->sim.faults = &world->faults;
    make_absences(&rng, world);
    if (seed % 4 == 0 && world->sim.has_grants)
        use_exact_bounds(world, seed % 8 == 0 ? 0.9 : 0);
}

/* In sound mode; old states of agents come back, or one of the hub, which forgets: of both together
 * nothing is promised. */
static void make_schedule(struct world *world, uint64_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 1, 0, TACIT_PURPOSE_INSTANCE);
    make_world(world, seed);
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND,
                                                  world->sim.epsilon_per_reward, 0, 1};
    assert_int_equal(tacit_mechanism_init(&world->sim.mechanism, &config), TACIT_OK);
    world->sim.has_grants = true;
    world->sim.round_limit = 0;
    if (tacit_rng_bernoulli(&rng, 0.1)) {
        world->faults.hub_backups = 1 + (uint32_t)tacit_rng_below(&rng, 2);
        return;
    }
    world->faults.agent_backups = (uint32_t)tacit_rng_below(&rng, 5);
    world->faults.clones = (uint32_t)tacit_rng_below(&rng, 4);
}

typedef void meddle_fn(void *context, uint32_t agent, struct tacit_elim_agent *state,
                       struct tacit_elim_update *update);

/* What a hub with a bug would have made durable, and would say. Set by one test at a time. */
static void (*hub_bug)(struct tacit_elim_hub_view *view);
static void (*order_bug)(struct tacit_elim_message *order);
static struct elim_observer honest;

/* What a hub with a bug, or an agent without salts, really does. Set by one test at a time. */
static void (*hub_deed)(struct tacit_elim_hub *hub, const struct tacit_elim_event *event,
                        struct tacit_elim_update *update);
static const struct tacit_entropy *all_salts;
static uint64_t step_us; /* when the step under way happens */
static struct {
    uint32_t grants;
    uint32_t refusals;
} words;

static void do_hub_deed(void *context, struct tacit_elim_hub *hub,
                        const struct tacit_elim_event *event, struct tacit_elim_update *update)
{
    (void)context;
    if (hub_deed != NULL)
        hub_deed(hub, event, update);
}

static void note_time(void *context, uint32_t node, const struct tacit_elim_event *event)
{
    (void)context;
    (void)node;
    step_us = event->now_us;
}

static void show_hub_with_bug(void *context, const struct tacit_elim_hub *state)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_look(state, &view);
    if (hub_bug != NULL)
        hub_bug(&view);
    honest.hub_persisted(context, state);
}

static void show_order_with_bug(void *context, const struct tacit_elim_message *message)
{
    struct tacit_elim_message copy = *message;
    words.grants += message->kind == TACIT_ELIM_GRANT ? 1 : 0;
    words.refusals += message->kind == TACIT_ELIM_REFUSAL ? 1 : 0;
    if (order_bug != NULL && message->kind == TACIT_ELIM_ORDER)
        order_bug(&copy);
    honest.sent(context, &copy);
}

static uint64_t pulls_of_agent_0;

static void count_pulls_of_agent_0(void *context, uint32_t agent, uint32_t arm, uint64_t count)
{
    honest.pulled(context, agent, arm, count);
    pulls_of_agent_0 += agent == 0 ? count : 0;
}

/* Plays the world under the checkers; returns the first broken promise in `fault`, or "". */
static void play(struct world *world, meddle_fn *meddle, char fault[400])
{
    struct elim_checker *const checker = elim_checker_new(&world->sim);
    struct tacit_sim_results const results = {.metrics = world->metrics,
                                              .regret = world->regret,
                                              .eliminated = world->eliminated,
                                              .finished = world->finished};
    struct tacit_sim_control control = {0};
    bool healed = false;
    assert_non_null(checker);
    honest = elim_checker_observer(checker);
    world->observer = honest;
    world->observer.meddle = meddle;
    world->observer.meddle_hub = do_hub_deed;
    world->observer.stepping = note_time;
    world->observer.salts = all_salts;
    world->observer.hub_persisted = show_hub_with_bug;
    world->observer.sent = show_order_with_bug;
    world->observer.pulled = count_pulls_of_agent_0;
    world->sim.hooks = elim_observe(&world->observer);
    enum tacit_status const status = elim_sim_run_one(&world->sim, 0, &results, &control, &healed);
    if (status == TACIT_OK)
        elim_checker_finish(checker, &results, 0);
    char const *const broken = elim_checker_fault(checker);
    fault[0] = '\0';
    if (broken != NULL)
        (void)snprintf(fault, 400, "%s", broken);
    else if (status != TACIT_OK)
        (void)snprintf(fault, 400, "the run failed: %s", tacit_status_text(status));
    else if (!healed)
        (void)snprintf(
            fault, 400,
            "the faults are over, but not every agent that is there reached the horizon");
    elim_checker_free(checker);
}

/* ---- The swarm ---- */

static bool seed_is_good(uint64_t seed)
{
    struct world world;
    char fault[400];
    make_world(&world, seed);
    play(&world, NULL, fault);
    if (fault[0] == '\0')
        return true;
    print_message("replay: %s --seed %llu\n", program_name, (unsigned long long)seed);
    print_message("seed %llu: %s\n", (unsigned long long)seed, fault);
    return false;
}

static bool schedule_is_good(uint64_t seed)
{
    struct world world;
    char fault[400];
    make_schedule(&world, seed);
    play(&world, NULL, fault);
    if (fault[0] == '\0')
        return true;
    print_message("replay: %s --schedule %llu\n", program_name, (unsigned long long)seed);
    print_message("schedule %llu: %s\n", (unsigned long long)seed, fault);
    return false;
}

/* No reward enters two draws of which anything leaves; the ledger of each state shows its own
 * draws; no hub grants a second draw; and every agent comes to T. */
static void no_reward_leaves_twice_whatever_comes_back(void **state)
{
    uint32_t bad = 0;
    (void)state;
    words.grants = 0;
    words.refusals = 0;
    for (uint64_t seed = 1; seed <= schedule_count; seed++)
        bad += schedule_is_good(seed) ? 0 : 1;
    assert_int_equal(bad, 0);
    assert_true(words.grants > 2 * schedule_count);   /* something happened, .. */
    assert_true(words.refusals > schedule_count / 2); /* .. and would have gone wrong */
}

/* Without faults, commitments and grants cost two messages an agent and epoch, and nothing else
 * changes, down to the last bit. */
static void grants_change_no_result_where_nothing_fails(void **state)
{
    uint32_t with_rounds = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world bare;
        struct world granted;
        char fault[400];
        make_schedule(&bare, seed);
        bare.sim.faults = NULL;
        granted = bare;
        granted.sim.common.env.means = granted.means;
        granted.sim.common.points = granted.points;
        bare.sim.has_grants = false;
        play(&bare, NULL, fault);
        assert_string_equal(fault, "");
        play(&granted, NULL, fault);
        assert_string_equal(fault, "");
        assert_memory_equal(bare.metrics, granted.metrics,
                            ELIM_CONTROL_MESSAGES * sizeof *bare.metrics);
        assert_memory_equal(bare.regret, granted.regret, sizeof bare.regret);
        assert_memory_equal(bare.eliminated, granted.eliminated, sizeof bare.eliminated);
        assert_true(bare.metrics[ELIM_CONTROL_MESSAGES] == 0);
        assert_true(bare.metrics[ELIM_CONTROL_BYTES] == 0);
        double const rounds = granted.metrics[ELIM_ROUNDS];
        assert_true(granted.metrics[ELIM_CONTROL_MESSAGES] ==
                    2 * rounds * granted.sim.common.agent_count);
        with_rounds += rounds >= 2 ? 1 : 0;
    }
    assert_true(with_rounds > 100);
}

/* As a user's run: nobody looks on. */
static void play_unwatched(struct world *world)
{
    struct tacit_sim_results const results = {.metrics = world->metrics,
                                              .regret = world->regret,
                                              .eliminated = world->eliminated,
                                              .finished = world->finished};
    struct tacit_sim_control control = {0};
    bool healed = false;
    world->sim.hooks = NULL;
    assert_int_equal(elim_sim_run_one(&world->sim, 0, &results, &control, &healed), TACIT_OK);
    assert_true(healed);
}

static void expect_same_figures(const struct world *a, const struct world *b)
{
    assert_memory_equal(a->metrics, b->metrics, sizeof a->metrics);
    assert_memory_equal(a->regret, b->regret, sizeof a->regret);
    assert_memory_equal(a->eliminated, b->eliminated, sizeof a->eliminated);
}

/* There commitments are numbers, and hashes where somebody does: control messages and their bytes
 * are among the figures. */
static void no_figure_tells_whether_commitments_were_hashed(void **state)
{
    double controls = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world watched;
        char fault[400];
        make_schedule(&watched, seed);
        watched.sim.faults = NULL;
        struct world unwatched = watched;
        unwatched.sim.common.env.means = unwatched.means;
        unwatched.sim.common.points = unwatched.points;
        play(&watched, NULL, fault);
        assert_string_equal(fault, "");
        play_unwatched(&unwatched);
        expect_same_figures(&watched, &unwatched);
        controls += unwatched.metrics[ELIM_CONTROL_BYTES];
    }
    assert_true(controls > 0);
}

static void every_seed_keeps_every_promise_and_ends(void **state)
{
    (void)state;
    uint32_t bad = 0;
    for (uint64_t seed = 1; seed <= seed_count; seed++)
        bad += seed_is_good(seed) ? 0 : 1;
    assert_int_equal(bad, 0);
}

/* The swarm is only worth something if its faults really happen. */
static void swarm_worlds_have_faults_and_rounds(void **state)
{
    (void)state;
    uint32_t resent = 0;
    uint32_t with_rounds = 0;
    uint32_t with_rounds_and_losses = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world world;
        char fault[400];
        make_world(&world, seed);
        play(&world, NULL, fault);
        double const rounds = world.metrics[ELIM_ROUNDS];
        with_rounds += rounds >= 2 ? 1 : 0;
        with_rounds_and_losses += rounds >= 2 && world.faults.lost_agents > 0 ? 1 : 0;
        if (world.sim.hub_answers_all)
            continue; /* its answers are messages, too */
        resent += world.metrics[ELIM_MESSAGES] >
                          rounds * (world.sim.report_count + 1) + world.sim.report_count + 1
                      ? 1
                      : 0;
    }
    assert_true(with_rounds > 100);
    assert_true(with_rounds_and_losses > 20);
    assert_true(resent > 60);
}

/* Faults change when things happen, not what is learnt: without crashes and entropy failures, and
 * with everybody reporting, the eliminations are those of the undisturbed run, down to the last
 * bit. */
static void network_faults_alone_change_no_elimination(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world faulty;
        struct world clean;
        char fault[400];
        make_world(&faulty, seed);
        faulty.sim.report_count = faulty.sim.common.agent_count;
        faulty.faults.agent_crash = 0;
        faulty.faults.hub_crash = 0;
        faulty.faults.noise_failure = 0;
        faulty.faults.lost_agents = 0;
        faulty.faults.plan_parts = 1;
        faulty.sim.quorum = 0;
        clean = faulty;
        clean.sim.common.env.means = clean.means;
        clean.sim.common.points = clean.points;
        clean.sim.faults = NULL;
        faulty.faults.delay_us_max = 3; /* waiting costs slots: too many would move the cut at T */
        play(&faulty, NULL, fault);
        assert_string_equal(fault, "");
        play(&clean, NULL, fault);
        assert_string_equal(fault, "");
        uint32_t const rounds = (uint32_t)faulty.metrics[ELIM_ROUNDS];
        for (uint32_t arm = 0; arm < clean.sim.common.env.arm_count; arm++)
            if (clean.eliminated[arm] <= rounds)
                assert_int_equal(faulty.eliminated[arm], clean.eliminated[arm]);
    }
}

/* ---- Who never comes back ---- */

/* Agent 0 goes at the very start, and nothing else goes wrong. */
static void make_lonely_world(struct world *world, uint64_t seed)
{
    make_world(world, seed);
    world->sim.report_count = world->sim.common.agent_count;
    world->sim.round_limit = 0;
    world->faults = (struct tacit_sim_faults){.lost_agents = 1, .plan_parts = 1};
    world->sim.quorum = 0;
    world->sim.round_timeout_us = 0;
}

static void round_waits_for_the_lost_agent_for_ever_unless_there_is_a_quorum(void **state)
{
    (void)state;
    uint32_t decided = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world world;
        char fault[400];
        make_lonely_world(&world, seed);
        play(&world, NULL, fault);
        assert_string_equal(fault, "");
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        if (world.sim.common.agent_count == 1)
            continue;
        world.sim.round_timeout_us = 1000; /* without a quorum, it only says so */
        play(&world, NULL, fault);
        assert_string_equal(fault, "");
        assert_true(world.metrics[ELIM_ROUNDS] == 0);
        world.sim.quorum = world.sim.common.agent_count - 1;
        play(&world, NULL, fault);
        assert_string_equal(fault, "");
        decided += world.metrics[ELIM_ROUNDS] >= 2 ? 1 : 0;
    }
    assert_true(decided > 100);
}

/* Also where it was down, and on its way back, when it got lost. */
static void lost_agent_never_comes_back(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct world world;
        char fault[400];
        make_lonely_world(&world, seed);
        world.faults.healed_at_us = 3000;
        world.faults.agent_crash = 0.5;
        world.faults.down_us_max = 2000;
        pulls_of_agent_0 = 0;
        play(&world, NULL, fault);
        assert_string_equal(fault, "");
        assert_true(pulls_of_agent_0 <= 3000); /* one a microsecond; T is 5000 at least */
    }
}

static void deadline_that_is_never_reached_changes_no_result(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct world plain;
        struct world patient;
        char fault[400];
        make_world(&plain, seed);
        plain.sim.faults = NULL;
        plain.sim.round_timeout_us = 0;
        patient = plain;
        patient.sim.common.env.means = patient.means;
        patient.sim.common.points = patient.points;
        patient.sim.quorum = 1;
        patient.sim.round_timeout_us = 2 * plain.sim.common.horizon;
        play(&plain, NULL, fault);
        assert_string_equal(fault, "");
        play(&patient, NULL, fault);
        assert_string_equal(fault, "");
        assert_memory_equal(plain.metrics, patient.metrics, sizeof plain.metrics);
        assert_memory_equal(plain.regret, patient.regret, sizeof plain.regret);
        assert_memory_equal(plain.eliminated, patient.eliminated, sizeof plain.eliminated);
    }
}

/* ---- Planted bugs ---- */

/* Counts the seeds in which the checkers catch the bug, and those in which they say the right
 * thing. */
static void count_catches(meddle_fn *meddle, const char *phrase, uint32_t *caught,
                          uint32_t *well_said)
{
    *caught = 0;
    *well_said = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world;
        char fault[400];
        make_world(&world, seed);
        play(&world, meddle, fault);
        *caught += fault[0] == '\0' ? 0 : 1;
        *well_said += strstr(fault, phrase) == NULL ? 0 : 1;
    }
}

/* The driver forgets to persist before it sends: after a crash the release is drawn again. */
static void forget_to_persist_a_release(void *context, uint32_t agent,
                                        struct tacit_elim_agent *state,
                                        struct tacit_elim_update *update)
{
    (void)context;
    (void)agent;
    (void)state;
    if (update->send && update->message.kind == TACIT_ELIM_REPORT)
        update->persist = false;
}

/* The core noises its history afresh for every report. */
static void redraw_when_reporting(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                  struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context;
    (void)agent;
    if (!update->send || update->message.kind != TACIT_ELIM_REPORT || update->persist)
        return;
    tacit_elim_agent_look(state, &view);
    union tacit_sum *const noised = (union tacit_sum *)(uintptr_t)view.noised;
    union tacit_sum *const sums = (union tacit_sum *)(uintptr_t)update->message.sums;
    uint32_t const arm = tacit_bits_next(view.arms, ARMS_MAX, 0);
    noised[arm].steps += 1; /* another draw */
    sums[0] = noised[arm];
    update->persist = true;
}

static void spend_twice(void *context, uint32_t agent, struct tacit_elim_agent *state,
                        struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context;
    (void)agent;
    if (!update->send || update->message.kind != TACIT_ELIM_REPORT)
        return;
    tacit_elim_agent_look(state, &view);
    struct tacit_ledger *const ledger = (struct tacit_ledger *)(uintptr_t)view.ledger;
    ledger->budget_nano = UINT64_MAX / 2;
    (void)tacit_ledger_spend(ledger, view.epoch, ledger->gross_nano / ledger->release_count);
    update->persist = true;
}

static void pull_an_eliminated_arm(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                   struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    (void)context;
    (void)agent;
    tacit_elim_agent_look(state, &view);
    for (uint32_t arm = 0; update->plan_count > 0 && arm < 2; arm++)
        if (!tacit_bits_has(view.arms, arm)) {
            struct tacit_pull_block *const plan =
                (struct tacit_pull_block *)(uintptr_t)update->plan;
            plan[0].arm = arm;
        }
}

/* It does not wait for the quorum: one of the reports of the round was never there. */
static void forget_a_report(struct tacit_elim_hub_view *view)
{
    static uint32_t rounds;
    uint32_t *const seen = (uint32_t *)(uintptr_t)view->seen;
    if (view->round_count > rounds)
        for (uint32_t agent = 0; agent < AGENTS_MAX; agent++)
            if (seen[agent] > 0) {
                seen[agent]--;
                break;
            }
    rounds = view->round_count;
}

static void shift_a_mean(struct tacit_elim_hub_view *view)
{
    double *const means = (double *)(uintptr_t)view->means;
    means[tacit_bits_next(view->arms, ARMS_MAX, 0)] += 1e-9;
}

/* A report that nobody sent. */
static void invent_a_report(struct tacit_elim_hub_view *view)
{
    uint32_t *const seen = (uint32_t *)(uintptr_t)view->seen;
    if (view->round_count == 0)
        seen[0] = view->epoch;
}

static void claim_to_have_seen_more(struct tacit_elim_message *order)
{
    if (order->to != TACIT_EVERYONE)
        order->seen++;
}

static void claim_to_have_seen_something_from_everyone(struct tacit_elim_message *order)
{
    if (order->to == TACIT_EVERYONE)
        order->seen = 1;
}

/* The bug is in what the checkers are shown of the hub. */
static uint32_t hub_catches(void (*state_bug)(struct tacit_elim_hub_view *),
                            void (*word_bug)(struct tacit_elim_message *), const char *phrase)
{
    uint32_t caught;
    uint32_t well_said;
    hub_bug = state_bug;
    order_bug = word_bug;
    count_catches(NULL, phrase, &caught, &well_said);
    hub_bug = NULL;
    order_bug = NULL;
    return well_said;
}

static void a_round_closed_without_its_quorum_is_caught(void **state)
{
    (void)state;
    assert_true(hub_catches(forget_a_report, NULL, "agents reported") > 100);
}

static void a_wrong_mean_is_caught(void **state)
{
    (void)state;
    assert_true(hub_catches(shift_a_mean, NULL, "is not that of the reports") > 200);
}

static void a_report_that_nobody_sent_is_caught(void **state)
{
    (void)state;
    assert_true(hub_catches(invent_a_report, NULL, "which never sent it") > 20);
}

static void a_false_word_of_what_the_hub_holds_is_caught(void **state)
{
    (void)state;
    assert_true(hub_catches(NULL, claim_to_have_seen_more, "claims to hold") > 100);
    assert_true(hub_catches(NULL, claim_to_have_seen_something_from_everyone, "claims to hold") >
                200);
}

static void a_release_sent_before_it_is_durable_is_caught(void **state)
{
    uint32_t caught;
    uint32_t well_said;
    (void)state;
    count_catches(forget_to_persist_a_release, "not durable", &caught, &well_said);
    assert_true(well_said > 200);
}

static void a_redrawn_release_is_caught(void **state)
{
    uint32_t caught;
    uint32_t well_said;
    (void)state;
    count_catches(redraw_when_reporting, "drawn twice", &caught, &well_said);
    assert_true(well_said > 50);
}

static void a_double_spend_is_caught(void **state)
{
    uint32_t caught;
    uint32_t well_said;
    (void)state;
    count_catches(spend_twice, "the ledger shows", &caught, &well_said);
    assert_true(well_said > 200);
}

static void a_pull_of_an_eliminated_arm_is_caught(void **state)
{
    uint32_t caught;
    uint32_t well_said;
    (void)state;
    count_catches(pull_an_eliminated_arm, "which was eliminated", &caught, &well_said);
    assert_true(well_said > 30);
}

/* ---- Planted bugs of commitments and grants ---- */

static uint32_t schedules_in_which(meddle_fn *meddle, const char *phrase, uint64_t count)
{
    uint32_t well_said = 0;
    for (uint64_t seed = 1; seed <= count; seed++) {
        struct world world;
        char fault[400];
        make_schedule(&world, seed);
        play(&world, meddle, fault);
        well_said += strstr(fault, phrase) == NULL ? 0 : 1;
    }
    hub_deed = NULL;
    all_salts = NULL;
    return well_said;
}

/* The agent gives itself the grant that it asks for; its update is then the report. */
static void grant_oneself(uint32_t agent, struct tacit_elim_agent *state,
                          struct tacit_elim_update *update)
{
    struct tacit_commit const commit = *update->message.commit;
    struct tacit_elim_message const grant = {.kind = TACIT_ELIM_GRANT,
                                             .from = TACIT_HUB,
                                             .to = agent,
                                             .run_id = update->message.run_id,
                                             .epoch = update->message.epoch,
                                             .commit = &commit};
    struct tacit_elim_event const event = {
        .now_us = step_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &grant};
    (void)tacit_elim_agent_step(state, &event, NULL, update);
}

static void report_before_the_grant(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                    struct tacit_elim_update *update)
{
    (void)context;
    if (update->send && update->message.kind == TACIT_ELIM_COMMIT)
        grant_oneself(agent, state, update);
}

/* It says what it should, but already goes by the draw. */
static void play_by_an_ungranted_draw(void *context, uint32_t agent, struct tacit_elim_agent *state,
                                      struct tacit_elim_update *update)
{
    struct tacit_elim_update const said = *update;
    (void)context;
    if (!update->send || update->message.kind != TACIT_ELIM_COMMIT)
        return;
    grant_oneself(agent, state, update);
    *update = said;
}

/* What the message asks for is granted, whatever the heads say. */
static void grant_what_is_asked(const struct tacit_elim_event *event,
                                struct tacit_elim_update *update)
{
    update->message.kind = TACIT_ELIM_GRANT;
    update->message.commit = event->as.message->commit;
}

static bool is_refused(const struct tacit_elim_update *update)
{
    return update->send && update->message.kind == TACIT_ELIM_REFUSAL;
}

static void grant_by_epoch(struct tacit_elim_hub *hub, const struct tacit_elim_event *event,
                           struct tacit_elim_update *update)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_look(hub, &view);
    if (is_refused(update) && view.seen[update->message.to] < event->as.message->epoch)
        grant_what_is_asked(event, update);
}

static void grant_twice(struct tacit_elim_hub *hub, const struct tacit_elim_event *event,
                        struct tacit_elim_update *update)
{
    (void)hub;
    if (is_refused(update))
        grant_what_is_asked(event, update);
}

static enum tacit_status give_nothing(void *context, void *bytes, size_t size)
{
    (void)context;
    memset(bytes, 0, size);
    return TACIT_OK;
}

static void a_release_that_leaves_before_its_grant_is_caught(void **state)
{
    (void)state;
    assert_true(schedules_in_which(report_before_the_grant, "before it was granted", 300) > 200);
}

static void play_that_follows_an_ungranted_draw_is_caught(void **state)
{
    (void)state;
    assert_true(schedules_in_which(play_by_an_ungranted_draw, "before it was granted", 300) > 200);
}

static void grants_that_are_keyed_by_epoch_are_caught(void **state)
{
    (void)state;
    hub_deed = grant_by_epoch;
    assert_true(schedules_in_which(NULL, "hub: granted", 300) > 10);
}

static void a_grant_that_is_given_twice_is_caught(void **state)
{
    (void)state;
    hub_deed = grant_twice;
    assert_true(schedules_in_which(NULL, "hub: granted", 300) > 20);
}

/* Without a salt of its own, a second draw of equal data has an equal commitment. Nothing is noised
 * and all rewards are the same, so that data are equal. */
static void commitments_without_salt_are_caught(void **state)
{
    struct tacit_entropy const nothing = {give_nothing, NULL};
    uint32_t caught[2] = {0, 0};
    (void)state;
    for (uint32_t with_bug = 0; with_bug < 2; with_bug++)
        for (uint64_t seed = 1; seed <= 200; seed++) {
            struct world world;
            struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, INFINITY, 0, 1};
            char fault[400];
            make_schedule(&world, seed);
            assert_int_equal(tacit_mechanism_init(&world.sim.mechanism, &config), TACIT_OK);
            world.sim.epsilon_per_reward = INFINITY;
            world.sim.common.env.kind = TACIT_ENV_CONSTANT;
            all_salts = with_bug == 1 ? &nothing : NULL;
            play(&world, NULL, fault);
            caught[with_bug] += strstr(fault, "two draws have one commitment") == NULL ? 0 : 1;
        }
    all_salts = NULL;
    assert_int_equal(caught[0], 0);
    assert_true(caught[1] > 20);
}

/* Agent and hub put back together: the promise ends there, and the checkers see it. */
static void old_states_of_both_sides_break_the_promise(void **state)
{
    uint32_t seen_twice = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world world;
        char fault[400];
        make_schedule(&world, seed);
        world.faults.agent_backups = 4;
        world.faults.clones = 3;
        world.faults.hub_backups = 4;
        play(&world, NULL, fault);
        seen_twice += strstr(fault, "second draw of one reward") == NULL ? 0 : 1;
    }
    assert_true(seen_twice > 5);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seed_keeps_every_promise_and_ends),
        cmocka_unit_test(no_reward_leaves_twice_whatever_comes_back),
        cmocka_unit_test(grants_change_no_result_where_nothing_fails),
        cmocka_unit_test(no_figure_tells_whether_commitments_were_hashed),
        cmocka_unit_test(swarm_worlds_have_faults_and_rounds),
        cmocka_unit_test(network_faults_alone_change_no_elimination),
        cmocka_unit_test(round_waits_for_the_lost_agent_for_ever_unless_there_is_a_quorum),
        cmocka_unit_test(lost_agent_never_comes_back),
        cmocka_unit_test(deadline_that_is_never_reached_changes_no_result),
        cmocka_unit_test(a_round_closed_without_its_quorum_is_caught),
        cmocka_unit_test(a_wrong_mean_is_caught),
        cmocka_unit_test(a_report_that_nobody_sent_is_caught),
        cmocka_unit_test(a_false_word_of_what_the_hub_holds_is_caught),
        cmocka_unit_test(a_release_sent_before_it_is_durable_is_caught),
        cmocka_unit_test(a_redrawn_release_is_caught),
        cmocka_unit_test(a_double_spend_is_caught),
        cmocka_unit_test(a_pull_of_an_eliminated_arm_is_caught),
        cmocka_unit_test(a_release_that_leaves_before_its_grant_is_caught),
        cmocka_unit_test(play_that_follows_an_ungranted_draw_is_caught),
        cmocka_unit_test(grants_that_are_keyed_by_epoch_are_caught),
        cmocka_unit_test(a_grant_that_is_given_twice_is_caught),
        cmocka_unit_test(commitments_without_salt_are_caught),
        cmocka_unit_test(old_states_of_both_sides_break_the_promise),
    };
    const struct CMUnitTest schedules[] = {
        cmocka_unit_test(no_reward_leaves_twice_whatever_comes_back),
    };
    program_name = arguments[0];
    if (argument_count == 3 && strcmp(arguments[1], "--seed") == 0) {
        bool const good = seed_is_good(strtoull(arguments[2], NULL, 10));
        (void)printf("seed %s: %s\n", arguments[2], good ? "good" : "BAD");
        return good ? 0 : 1;
    }
    if (argument_count == 3 && strcmp(arguments[1], "--schedule") == 0) {
        bool const good = schedule_is_good(strtoull(arguments[2], NULL, 10));
        (void)printf("schedule %s: %s\n", arguments[2], good ? "good" : "BAD");
        return good ? 0 : 1;
    }
    if (argument_count == 3 && strcmp(arguments[1], "--schedules") == 0) {
        schedule_count = (uint32_t)strtoul(arguments[2], NULL, 10);
        return cmocka_run_group_tests(schedules, NULL, NULL);
    }
    if (argument_count == 3 && strcmp(arguments[1], "--seeds") == 0)
        seed_count = (uint32_t)strtoul(arguments[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The refuter against whole runs in which states of a site are put back and cloned, over a star, on
 * a ring and in a hybrid, and against what the time of sampling tells.
 *
 * Agent 0 is copied while it explores: three backups and four clones at random times, deaths, lost
 * and repeated messages. The worlds differ in one reward of it, the first one of its first arm: 0
 * or 1. The attacker holds everything that agent 0 was granted, from whatever state of it (whoever
 * asks for a granted row gets it), and knows all other rewards, and which states have the reward.
 * Grants that are given twice must be refuted; with honest grantors the claim must stand.
 *
 * False alarms: a true claim is refuted with chance 1e-3 at most per audit (AUDIT_CONFIDENCE).
 * Seeds are fixed. */
#include <math.h>
#include "../support/testing.h"
#include "../../src/live/daemon/tick.h"
#include "../support/audit.h"
#include "../support/effort.h"
#include "../support/elim_sim.h"
#include "../support/faults.h"
#include "../support/network.h"

#define SEED UINT64_C(20261122)
#define AGENTS 3u
#define ARMS 2u
#define HORIZON 3000u
#define RELEASES 1600u
#define PLACES 16u
#define NOT_SEEN INT64_MAX
#define HALF_A_REWARD ((int64_t)TACIT_STEPS / 2)

static void print_row(const char *name, const struct audit_finding *finding)
{
    print_message("%-56s claimed 1.00  proven eps >= %6.3f  %s\n", name, finding->epsilon_lower,
                  finding->epsilon_lower > 1 ? "VIOLATION" : "not refuted");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

struct audited {
    struct elim_sim sim;
    struct faults faults;
    struct elim_observer observer;
    struct network *network;
    struct tacit_elim_network sim_network;
    uint64_t copied[1];
    uint64_t points[1];
    double means[ARMS];
    struct elim_run *run;
    struct tacit_sim_row *row;
    uint64_t pulls[3]; /* S(r) of the first epochs, by epoch */
    /* Of the run under way: */
    int world;
    bool is_altered; /* the reward in question was brought */
    bool is_under_way;
    bool has_reward[3][PLACES]; /* in memory, on disk, in backups */
    uint32_t seen_count;
    uint32_t most_seen; /* of all runs */
    struct audit_release *release;
};

static bool is_of_agent_0(uint32_t node)
{
    return node == 0 || node > AGENTS; /* itself, or one of its clones */
}

/* The first reward of the first arm is another one in each world. */
static void on_stepping(void *context, uint32_t node, const struct tacit_event *event)
{
    struct audited *const audited = context;
    struct tacit_event *const mine = (struct tacit_event *)(uintptr_t)event;
    audited->is_under_way = false;
    if (audited->is_altered || event->kind != TACIT_EVENT_REWARD || !is_of_agent_0(node) ||
        event->as.reward.arm != 0)
        return;
    mine->as.reward.sum.steps += audited->world == 0 ? -HALF_A_REWARD : HALF_A_REWARD;
    audited->is_altered = audited->is_under_way = true;
}

/* A first draw that is granted: its sum without the ordinary rewards. A clone may draw the same
 * noise, which tells nothing new. */
static void note_granted(struct audited *audited, const struct tacit_elim_agent_view *view)
{
    uint32_t const seen = audited->seen_count;
    int64_t const value =
        view->noised[0].steps - (int64_t)audited->pulls[view->release_epoch] * HALF_A_REWARD;
    for (uint32_t i = 0; i < seen; i++)
        if (audited->release->value[i].steps == value)
            return;
    if (seen == AUDIT_VALUES_MAX)
        return;
    audited->release->value[seen].steps = value;
    audited->seen_count++;
    if (audited->seen_count > audited->most_seen)
        audited->most_seen = audited->seen_count;
}

static void on_stepped(void *context, uint32_t node, uint32_t agent,
                       const struct tacit_event *event, const struct tacit_elim_agent *state,
                       const struct tacit_elim_update *update)
{
    struct audited *const audited = context;
    struct tacit_elim_agent_view view;
    if (agent != 0)
        return;
    if (audited->is_under_way && update->persist)
        audited->has_reward[FAULT_MEMORY][node] = true;
    tacit_elim_agent_view(state, &view);
    if (audited->has_reward[FAULT_MEMORY][node] && view.ledger->release_count == 1 &&
        view.release_epoch > 0 && view.release_epoch <= 2)
        note_granted(audited, &view);
}

static void on_copied(void *context, enum fault_location to, uint32_t to_index,
                      enum fault_location from, uint32_t from_index)
{
    struct audited *const audited = context;
    assert_true(to_index < PLACES && from_index < PLACES);
    audited->has_reward[to][to_index] = audited->has_reward[from][from_index];
}

static void release_of_run(const void *context, int world, struct tacit_rng *rng,
                           struct audit_release *release)
{
    struct audited *const audited = (struct audited *)(uintptr_t)context;
    atomic_bool stop = false;
    audited->world = world;
    audited->is_altered = audited->is_under_way = false;
    memset(audited->has_reward, 0, sizeof audited->has_reward);
    audited->seen_count = 0;
    audited->release = release;
    tacit_sim_row_clear(audited->row, &audited->sim.common, ELIM_METRIC_COUNT);
    for (uint32_t i = 0; i < AUDIT_VALUES_MAX; i++)
        release->value[i].steps = NOT_SEEN;
    uint32_t const index = (uint32_t)(tacit_rng_next(rng) >> 33);
    assert_int_equal(elim_run_play(audited->run, index, audited->row, &stop), TACIT_OK);
    assert_true(elim_sim_is_healed(audited->run));
}

/* Each first draw that has the reward tells by itself. */
static double score_of_run(const void *context, const struct audit_release *release)
{
    struct audited const *const audited = context;
    struct tacit_mechanism const *const mechanism = &audited->sim.mechanism;
    double score = 0;
    for (uint32_t i = 0; i < AUDIT_VALUES_MAX; i++) {
        int64_t const value = release->value[i].steps;
        if (value != NOT_SEEN)
            score += (double)(llabs(value + HALF_A_REWARD) - llabs(value - HALF_A_REWARD)) *
                     (double)mechanism->scale_s / (double)mechanism->scale_t;
    }
    return score;
}

/* ---- Holders that lie ------------------------------------------------------------------------ */

static void grant_instead(const struct tacit_event *event, struct tacit_elim_update *update)
{
    if (!update->send || update->message.kind != TACIT_ELIM_REFUSAL)
        return;
    update->message.kind = TACIT_ELIM_GRANT;
    update->message.commit = ((const struct tacit_elim_message *)event->as.message)->commit;
}

static void lie_as_hub(void *context, struct tacit_elim_hub *state, const struct tacit_event *event,
                       struct tacit_elim_update *update)
{
    grant_instead(event, update);
}

static void lie_as_peer(void *context, uint32_t agent, struct tacit_elim_peer *state,
                        struct tacit_elim_table *table, const struct tacit_event *event,
                        struct tacit_elim_update *update)
{
    grant_instead(event, update);
}

/* Of clones alone, and nothing else that loses rewards: more of them come to a draw. */
static void let_lie(struct audited *audited)
{
    audited->observer.hub_fault = lie_as_hub;
    audited->observer.peer_fault = lie_as_peer;
    audited->faults.agent_backups = 0;
    audited->faults.agent_crash = audited->faults.loss = 0;
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

static void set_pulls(struct audited *audited, double growth)
{
    struct tacit_elim_schedule const schedule = {.arm_count = ARMS,
                                                 .report_count = AGENTS,
                                                 .horizon = HORIZON,
                                                 .epsilon_per_reward = 1,
                                                 .gap = 1,
                                                 .growth = growth};
    audited->pulls[1] = tacit_elim_pulls(&schedule, 1, ARMS, 0);
    audited->pulls[2] = tacit_elim_pulls(&schedule, 2, ARMS, audited->pulls[1]);
    assert_true(ARMS * audited->pulls[2] < HORIZON);
}

static void set_network(struct audited *audited, const struct tacit_graph_spec *spec,
                        enum tacit_elim_collection collection)
{
    audited->network = network_new(spec, 1, 1);
    audited->sim_network = network_for_sim(audited->network, collection);
    audited->sim.network = &audited->sim_network;
}

/* spec: NULL: a star. growth: of exact bounds; 0: the paper's. Copies come while agent 0 explores
 * for the first time. */
static struct audited *audited_new(const struct tacit_graph_spec *spec,
                                   enum tacit_elim_collection collection, bool has_liars,
                                   double growth)
{
    struct audited *const audited = calloc(1, sizeof *audited);
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    enum tacit_status status;
    assert_non_null(audited);
    set_pulls(audited, growth);
    audited->means[0] = audited->means[1] = 0.5;
    audited->points[0] = HORIZON;
    audited->copied[0] = 1;
    uint64_t const explored_us = ARMS * audited->pulls[1];
    audited->faults = (struct faults){.loss = 0.05,
                                      .duplication = 0.1,
                                      .delay_us_max = 100,
                                      .agent_crash = 0.01,
                                      .hub_crash = 0.02,
                                      .down_us_max = 20,
                                      .plan_parts = 3,
                                      .healed_at_us = explored_us + explored_us / 3,
                                      .agent_backups = 3,
                                      .clones = 4,
                                      .copied = audited->copied,
                                      .on_copied = on_copied,
                                      .context = audited};
    audited->observer =
        (struct elim_observer){.context = audited, .stepping = on_stepping, .stepped = on_stepped};
    audited->sim = (struct elim_sim){.common.seed = SEED,
                                     .common.run_count = UINT32_MAX,
                                     .common.agent_count = AGENTS,
                                     .common.horizon = HORIZON,
                                     .common.points = audited->points,
                                     .common.point_count = 1,
                                     .common.env = {.kind = TACIT_ENV_CONSTANT,
                                                    .row_count = 1,
                                                    .arm_count = ARMS,
                                                    .means = audited->means},
                                     .report_count = AGENTS,
                                     .epsilon_per_reward = 1,
                                     .growth = growth,
                                     .has_grants = true,
                                     .faults = faults_use(&audited->faults),
                                     .hooks = elim_observe(&audited->observer)};
    assert_int_equal(tacit_mechanism_init(&audited->sim.mechanism, &config), TACIT_OK);
    if (has_liars)
        let_lie(audited);
    if (spec != NULL)
        set_network(audited, spec, collection);
    audited->row = tacit_sim_row_new(&audited->sim.common, ELIM_METRIC_COUNT);
    audited->run = elim_run_new(&audited->sim, &status);
    assert_non_null(audited->row);
    assert_non_null(audited->run);
    return audited;
}

static void audited_free(struct audited *audited)
{
    tacit_sim_delete(audited->run);
    free(audited->row);
    if (audited->network != NULL)
        network_free(audited->network);
    free(audited);
}

static struct audit_finding audit_runs(struct audited *audited, uint32_t count)
{
    struct audit const audit = {.release = release_of_run,
                                .context = audited,
                                .seed = SEED,
                                .release_count = effort_of(count, 25 * count)};
    return audit_by_score(&audit, score_of_run);
}

/* ---- Properties ------------------------------------------------------------------------------ */

static const struct tacit_graph_spec ring = {.kind = TACIT_GRAPH_RING, .agent_count = AGENTS};
static const struct tacit_graph_spec path = {.kind = TACIT_GRAPH_PATH, .agent_count = AGENTS};

static void expect_within(const char *name, const struct tacit_graph_spec *spec,
                          enum tacit_elim_collection collection, double growth)
{
    struct audited *const audited = audited_new(spec, collection, false, growth);
    struct audit_finding const finding = audit_runs(audited, RELEASES);
    print_row(name, &finding);
    assert_true(finding.epsilon_lower <= 1);
    assert_true(finding.epsilon_lower >= (effort_is_long() ? 0.5 : 0.3)); /* it sees something */
    assert_int_equal(audited->most_seen, 1);
    audited_free(audited);
}

static void expect_refuted(const char *name, const struct tacit_graph_spec *spec,
                           enum tacit_elim_collection collection)
{
    struct audited *const audited = audited_new(spec, collection, true, 0);
    struct audit_finding const finding = audit_runs(audited, 2 * RELEASES);
    print_row(name, &finding);
    assert_true(finding.epsilon_lower > 1.1);
    assert_true(audited->most_seen > 1);
    audited_free(audited);
}

TEST(copies_over_a_star_stay_within_epsilon)
{
    expect_within("star: backups and clones of a site", NULL, TACIT_ELIM_SPREAD, 0);
}

TEST(copies_on_a_ring_stay_within_epsilon)
{
    expect_within("ring: backups and clones of a site", &ring, TACIT_ELIM_SPREAD, 0);
}

TEST(copies_in_a_hybrid_stay_within_epsilon)
{
    expect_within("hybrid: backups and clones of a site", &path, TACIT_ELIM_GATHER, 0);
}

TEST(copies_with_exact_bounds_stay_within_epsilon)
{
    expect_within("ring, exact bounds: backups and clones", &ring, TACIT_ELIM_SPREAD, 2);
    if (effort_is_long())
        expect_within("hybrid, exact bounds: backups and clones", &path, TACIT_ELIM_GATHER, 2);
}

TEST(grants_that_are_given_twice_are_refuted)
{
    expect_refuted("ring: neighbours that grant twice", &ring, TACIT_ELIM_SPREAD);
    if (!effort_is_long())
        return;
    expect_refuted("star: a hub that grants twice", NULL, TACIT_ELIM_SPREAD);
    expect_refuted("hybrid: a parent that grants twice", &path, TACIT_ELIM_GATHER);
}

/* ---- The time of sampling -------------------------------------------------------------------- */

#define NOISE_BUCKETS 64u
#define TIMES 512u
#define TIMED_RELEASES 40000u

/* One sum and when it leaves, to the microsecond; the attacker knows the event, and how long the
 * sampler takes for noise of each size: a piece of entropy a microsecond. */
struct timed {
    struct tacit_mechanism mechanism;
    bool is_on_tick; /* else it leaves when it is drawn */
    double chance[NOISE_BUCKETS][TIMES];
};

struct worker {
    struct tacit_rng *rng;
    uint64_t pieces;
};

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct worker *const worker = context;
    struct tacit_entropy const inner = tacit_rng_entropy(worker->rng);
    worker->pieces++;
    return inner.fill(inner.context, bytes, size);
}

static uint32_t bucket_of(int64_t noise)
{
    int64_t const eighths = llabs(noise) * 8 / (int64_t)TACIT_STEPS;
    return eighths < NOISE_BUCKETS - 1 ? (uint32_t)eighths : NOISE_BUCKETS - 1;
}

/* How much later it leaves than it would if it took no time. */
static uint32_t late_us(const struct timed *timed, struct tacit_rng *rng, uint64_t took_us)
{
    struct live_hold hold = {0};
    uint64_t const event_us = 1 + tacit_rng_below(rng, 10 * LIVE_TICK_US);
    uint64_t left_us = event_us + took_us;
    if (timed->is_on_tick) {
        live_hold_draw(&hold, event_us, 1);
        while (!live_hold_end_round(&hold, left_us)) {
            left_us = hold.until_us;
            live_hold_tick(&hold);
        }
    }
    uint64_t const earliest_us =
        timed->is_on_tick ? live_tick_after_us(event_us, LIVE_TICK_US) : event_us;
    return left_us - earliest_us < TIMES ? (uint32_t)(left_us - earliest_us) : TIMES - 1;
}

static void release_timed(const void *context, int world, struct tacit_rng *rng,
                          struct audit_release *release)
{
    struct timed const *const timed = context;
    struct worker worker = {.rng = rng};
    struct tacit_entropy const entropy = {fill, &worker};
    union tacit_sum const exact = {.steps = world == 0 ? -HALF_A_REWARD : HALF_A_REWARD};
    assert_int_equal(
        tacit_mechanism_release(&timed->mechanism, exact, &entropy, &release->value[0]), TACIT_OK);
    release->value[1].steps = late_us(timed, rng, worker.pieces);
}

static double score_timed(const void *context, const struct audit_release *release)
{
    struct timed const *const timed = context;
    int64_t const noise_0 = release->value[0].steps + HALF_A_REWARD;
    int64_t const noise_1 = release->value[0].steps - HALF_A_REWARD;
    uint64_t const time = (uint64_t)release->value[1].steps;
    double const by_value = (double)(llabs(noise_0) - llabs(noise_1)) *
                            (double)timed->mechanism.scale_s / (double)timed->mechanism.scale_t;
    return by_value + log(timed->chance[bucket_of(noise_1)][time]) -
           log(timed->chance[bucket_of(noise_0)][time]);
}

/* What the attacker knows of the sampler, from draws of its own. */
static void learn_times(struct timed *timed)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 7, 0, TACIT_PURPOSE_NOISE);
    double total[NOISE_BUCKETS] = {0};
    for (uint32_t i = 0; i < NOISE_BUCKETS; i++)
        for (uint32_t time = 0; time < TIMES; time++)
            timed->chance[i][time] = 0.01;
    for (uint32_t i = 0; i < 4 * TIMED_RELEASES; i++) {
        struct audit_release release = {0};
        release_timed(timed, 1, &rng, &release);
        uint32_t const bucket = bucket_of(release.value[0].steps - HALF_A_REWARD);
        timed->chance[bucket][release.value[1].steps]++;
    }
    for (uint32_t i = 0; i < NOISE_BUCKETS; i++)
        for (uint32_t time = 0; time < TIMES; time++)
            total[i] += timed->chance[i][time];
    for (uint32_t i = 0; i < NOISE_BUCKETS; i++)
        for (uint32_t time = 0; time < TIMES; time++)
            timed->chance[i][time] /= total[i];
}

static double proven_with_times(const char *name, bool is_on_tick)
{
    struct timed *const timed = calloc(1, sizeof *timed);
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    assert_non_null(timed);
    assert_int_equal(tacit_mechanism_init(&timed->mechanism, &config), TACIT_OK);
    timed->is_on_tick = is_on_tick;
    learn_times(timed);
    struct audit const audit = {.release = release_timed,
                                .context = timed,
                                .seed = SEED,
                                .release_count = effort_of(TIMED_RELEASES, 10 * TIMED_RELEASES)};
    struct audit_finding const finding = audit_by_score(&audit, score_timed);
    print_row(name, &finding);
    free(timed);
    return finding.epsilon_lower;
}

TEST(time_of_sampling_seen_to_a_microsecond_tells_nothing_on_the_tick)
{
    double const on_tick = proven_with_times("leaves on the tick, seen to 1 us", true);
    assert_true(on_tick <= 1);
    assert_true(on_tick >= 0.9);
}

TEST(release_that_leaves_when_it_is_drawn_is_refuted)
{
    assert_true(proven_with_times("leaves when it is drawn, seen to 1 us", false) > 1.1);
}

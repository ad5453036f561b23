/* Hubs that lose their state, again and again, and are built anew from what their last closed round
 * left: beside a hub that nothing happens to, with the same reports, every closed round is the same
 * to the last bit. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/elim_driver.h"
#include "../../src/proto/elim/hub_state.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x073523c22161f057))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0xbe0948b673b53df2))

#define SCHEDULES 2000u
#define STEPS_MAX 400u
#define SNAPSHOT_BYTES_MAX 65536u
#define ARMS_MAX 7u
#define AGENTS_MAX 7u

struct snapshot {
    size_t size;
    uint8_t bytes[SNAPSHOT_BYTES_MAX];
};

/* Two hubs, the reports of the open round, and what the second is built from when it is lost. */
struct pair {
    struct driver_setup setup;
    struct tacit_rng rng;
    uint32_t schedule;
    struct driver_core whole; /* nothing happens to it */
    struct driver_core lost;  /* .. and this one */
    struct snapshot kept;     /* as the sites would hold it */
    uint32_t round;           /* of the reports below */
    uint64_t reported[1];
    union tacit_sum sums[AGENTS_MAX][ARMS_MAX];
    uint32_t losses;
};

static void take(const struct driver_core *hub, struct snapshot *snapshot)
{
    snapshot->size = tacit_elim_hub_snapshot(hub->state, snapshot->bytes, sizeof snapshot->bytes);
    assert_in_range(snapshot->size, 1, sizeof snapshot->bytes);
    assert_int_equal(snapshot->size, tacit_elim_hub_snapshot(hub->state, NULL, 0));
}

static bool is_same(const struct snapshot *a, const struct snapshot *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static enum tacit_status put_back(struct driver_core *hub, const struct snapshot *snapshot)
{
    memset(hub->state, 0xa5, hub->size);
    return tacit_elim_hub_restore(hub->state, &hub->hub_config, snapshot->bytes, snapshot->size);
}

/* The choice of participants is the same for both, however often one was lost in the round. */
static void reseed(struct pair *pair)
{
    uint32_t const epoch = driver_hub_view(&pair->whole).epoch;
    pair->whole.entropy.rng =
        tacit_rng_stream(pair->schedule, epoch, TACIT_STREAM_COMMON, TACIT_PURPOSE_SELECTION);
    pair->lost.entropy.rng = pair->whole.entropy.rng;
}

static struct tacit_elim_message report_of(struct pair *pair, const struct driver_core *hub,
                                           uint32_t agent)
{
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    return (struct tacit_elim_message){.kind = TACIT_ELIM_REPORT,
                                       .from = agent,
                                       .to = TACIT_HUB,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = view.epoch,
                                       .pulls = view.pulls,
                                       .arms = view.arms,
                                       .sum_count = view.active_count,
                                       .sums = pair->sums[agent]};
}

static void hear_report(struct pair *pair, struct driver_core *hub, uint32_t agent)
{
    uint64_t arms[1];
    struct tacit_elim_message report = report_of(pair, hub, agent);
    memcpy(arms, report.arms, sizeof arms);
    report.arms = arms; /* the hub's own may change while it reads */
    driver_expect(hub, driver_receive(&report), TACIT_OK);
}

/* After each step: what has closed is the same in both. */
static bool agrees(struct pair *pair)
{
    struct snapshot whole;
    struct snapshot lost;
    take(&pair->whole, &whole);
    take(&pair->lost, &lost);
    pair->kept = whole; /* the newest entry, which the sites hold by now */
    return is_same(&whole, &lost);
}

/* ---- Schedules ---- */

/* Arms a little apart: some rounds until the first goes. */
static void draw_sums(struct pair *pair, uint32_t agent)
{
    struct tacit_elim_hub_view const view = driver_hub_view(&pair->whole);
    uint32_t rank = 0;
    for (uint32_t arm = 0; arm < pair->setup.arm_count; arm++) {
        if (!tacit_bits_has(view.arms, arm))
            continue;
        uint64_t const steps = (uint64_t)TACIT_STEPS * view.pulls;
        int64_t const mean = (int64_t)(steps / 2 + steps / 64 * arm);
        int64_t const wobble = (int64_t)tacit_rng_below(&pair->rng, steps / 128 + 1);
        pair->sums[agent][rank++].steps = mean + wobble;
    }
}

static void say_report(struct pair *pair)
{
    uint32_t const agent = (uint32_t)tacit_rng_below(&pair->rng, pair->setup.agent_count);
    struct tacit_elim_hub_view const view = driver_hub_view(&pair->whole);
    bool const is_asked =
        tacit_bits_has(view.uploaders, agent) && !tacit_bits_has(view.received, agent);
    bool const is_out = view.dropped != NULL && (tacit_bits_has(view.dropped, agent) ||
                                                 tacit_bits_has(view.abstaining, agent));
    if (view.finished || !is_asked || is_out)
        return;
    draw_sums(pair, agent);
    hear_report(pair, &pair->whole, agent);
    hear_report(pair, &pair->lost, agent);
}

/* ---- What the comparison is for ---- */

/* Plays rounds of a plain run until `rounds` are closed. */
static void play_to(struct pair *pair, uint32_t rounds)
{
    while (driver_hub_view(&pair->whole).round_count < rounds) {
        assert_false(driver_hub_view(&pair->whole).finished);
        reseed(pair);
        say_report(pair);
        assert_true(agrees(pair));
    }
}

/* growth: of exact bounds, or 0. */
static void open_growing(struct pair *pair, uint32_t report_count, double growth)
{
    *pair = (struct pair){.rng = tacit_rng_stream(16, 0, 0, TACIT_PURPOSE_FAULT)};
    pair->setup = driver_setup_plain(6, growth > 0 ? 4 : 3, 10000000);
    pair->setup.growth = growth;
    pair->setup.epsilon = growth > 0 ? 1.0 : pair->setup.epsilon;
    pair->setup.report_count = report_count;
    pair->setup.answers_all = true;
    pair->setup.change_max = 8;
    pair->whole = driver_hub_open(&pair->setup);
    pair->lost = driver_hub_open(&pair->setup);
    reseed(pair);
    driver_expect(&pair->whole, driver_start(), TACIT_OK);
    driver_expect(&pair->lost, driver_start(), TACIT_OK);
    assert_true(agrees(pair));
}

static void open_plain(struct pair *pair, uint32_t report_count)
{
    open_growing(pair, report_count, 0);
}

static void open_exact(struct pair *pair, uint32_t report_count)
{
    open_growing(pair, report_count, 2);
}

/* A byte that is another one is refused, or it shows in what the hub writes; and no byte can be
 * missing. */
TEST(snapshot_has_one_form)
{
    static struct pair pair;
    static struct snapshot bad;
    static struct snapshot again;
    open_plain(&pair, 6);
    play_to(&pair, 2);
    uint32_t number;
    assert_int_equal(driver_change(&pair.whole, TACIT_ELIM_DROP_SITE, 1, 0, &number), TACIT_OK);
    take(&pair.whole, &pair.kept);
    for (size_t at = 0; at < pair.kept.size; at++)
        for (uint32_t bit = 0; bit < 8; bit++) {
            bad = pair.kept;
            bad.bytes[at] ^= (uint8_t)(1u << bit);
            enum tacit_status const status = put_back(&pair.lost, &bad);
            if (status != TACIT_OK) {
                assert_int_equal(status, TACIT_MALFORMED);
                continue;
            }
            take(&pair.lost, &again);
            assert_true(is_same(&bad, &again));
        }
    for (size_t size = 0; size < pair.kept.size; size++) {
        bad = pair.kept;
        bad.size = size;
        assert_int_equal(put_back(&pair.lost, &bad), TACIT_MALFORMED);
    }
    bad = pair.kept;
    bad.size += 8;
    assert_int_equal(put_back(&pair.lost, &bad), TACIT_MALFORMED);
}

TEST(snapshot_of_another_run_is_refused)
{
    static struct pair pair;
    open_plain(&pair, 6);
    play_to(&pair, 1);
    struct driver_setup other = pair.setup;
    other.arm_count++;
    struct driver_core hub = driver_hub_open(&other);
    assert_int_equal(put_back(&hub, &pair.kept), TACIT_MALFORMED);
    other = pair.setup;
    other.change_max = 7;
    hub = driver_hub_open(&other);
    assert_int_equal(put_back(&hub, &pair.kept), TACIT_MALFORMED);
    hub = driver_hub_open(&pair.setup);
    hub.hub_config.run_id++;
    assert_int_equal(put_back(&hub, &pair.kept), TACIT_MALFORMED);
}

/* The site that was dropped does not report again: the hub that was lost does not wait for it. */
TEST(report_of_a_site_that_was_left_out_is_not_waited_for)
{
    static struct pair pair;
    uint32_t number;
    open_plain(&pair, 6);
    for (uint32_t agent = 0; agent < 5; agent++) {
        draw_sums(&pair, agent);
        hear_report(&pair, &pair.whole, agent);
    }
    assert_int_equal(driver_change(&pair.whole, TACIT_ELIM_DROP_SITE, 0, 0, &number), TACIT_OK);
    take(&pair.whole, &pair.kept);
    assert_int_equal(put_back(&pair.lost, &pair.kept), TACIT_OK);
    driver_expect(&pair.lost, driver_start(), TACIT_OK);
    assert_int_equal(driver_hub_view(&pair.lost).reports_missing, 5);
    for (uint32_t agent = 1; agent < 6; agent++) {
        draw_sums(&pair, agent);
        hear_report(&pair, &pair.lost, agent);
    }
    assert_int_equal(driver_hub_view(&pair.lost).round_count, 1);
}

/* A hub that has not asked for anything yet is built from its snapshot, too. */
TEST(hub_that_never_started_starts)
{
    static struct snapshot first;
    struct driver_setup const setup = driver_setup_plain(2, 2, 1000);
    struct driver_core hub = driver_hub_open(&setup);
    take(&hub, &first);
    assert_int_equal(put_back(&hub, &first), TACIT_OK);
    driver_expect(&hub, driver_start(), TACIT_OK);
    assert_int_equal(driver_hub_view(&hub).epoch, 1);
}

/* ---- States that no run makes
 * -------------------------------------------------------------------- */

/* A report that speaks for nobody, or for two, with a count of the round that agrees with it. */
TEST(report_that_speaks_for_nobody_or_for_two_is_no_state)
{
    static struct pair pair;
    open_plain(&pair, 6);
    draw_sums(&pair, 4);
    hear_report(&pair, &pair.whole, 4);
    struct tacit_elim_hub *const hub = pair.whole.state;
    assert_int_equal(covered_of(hub)[4], 1);
    assert_int_equal(hub->desk.covered_count, 1);
    for (uint32_t covered = 0; covered < 3; covered++) {
        covered_of(hub)[4] = hub->desk.covered_count = covered;
        assert_int_equal(tacit_elim_hub_check(hub, pair.whole.size, &pair.whole.hub_config),
                         covered == 1 ? TACIT_OK : TACIT_MALFORMED);
    }
}

/* ---- Intervals of arms that were taken out
 * ------------------------------------------------------- */

/* It was looked at last in the round before the open one; in the first one there is none. */
TEST(interval_of_an_arm_that_is_taken_out_is_that_of_its_last_look)
{
    static struct pair pair;
    uint32_t number;
    open_exact(&pair, 6);
    assert_int_equal(driver_change(&pair.whole, TACIT_ELIM_RETIRE_ARM, 0, 0, &number), TACIT_OK);
    assert_int_equal(driver_change(&pair.lost, TACIT_ELIM_RETIRE_ARM, 0, 0, &number), TACIT_OK);
    play_to(&pair, 1);
    struct tacit_bounds_interval const first = tacit_elim_hub_interval(pair.whole.state, 1, 0.95);
    assert_true(first.mean > 0.4 && first.lower > 0 && first.upper < 1);
    assert_int_equal(driver_change(&pair.whole, TACIT_ELIM_RETIRE_ARM, 1, 0, &number), TACIT_OK);
    assert_int_equal(driver_change(&pair.lost, TACIT_ELIM_RETIRE_ARM, 1, 0, &number), TACIT_OK);
    play_to(&pair, 2);
    struct tacit_bounds_interval const never = tacit_elim_hub_interval(pair.whole.state, 0, 0.95);
    struct tacit_bounds_interval const last = tacit_elim_hub_interval(pair.whole.state, 1, 0.95);
    assert_true(!(never.mean > 0) && !(never.lower > 0) && !(never.upper < 1));
    assert_memory_equal(&first, &last, sizeof last);
}

/* When releases leave: the times of 10^5 draws of the real sampler, whose work tells the noise,
 * against what an observer at the broker sees. Virtual time, to the microsecond; seeds are fixed,
 * false-alarm rate of the statistical tests 1e-6. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/privacy.h"
#include "tacit/random.h"
#include "../../src/live/daemon/tick.h"

#define EPOCHS 100000u
#define Z_MAX 4.9 /* of a normal: 1e-6 */

/* ---- A sampler whose work is seen ------------------------------------------------------------ */

struct worker {
    struct tacit_rng rng;
    uint64_t pieces; /* drawn since the last look */
};

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct worker *const worker = context;
    struct tacit_entropy const inner = tacit_rng_entropy(&worker->rng);
    worker->pieces++;
    return inner.fill(inner.context, bytes, size);
}

/* Draws once: the size of the noise and the microseconds that it took, `slowness` a piece. */
static double draw(struct worker *worker, const struct tacit_mechanism *mechanism,
                   uint64_t slowness, uint64_t *took_us)
{
    struct tacit_entropy const entropy = {.fill = fill, .context = worker};
    union tacit_sum const exact = {0};
    union tacit_sum noised;
    worker->pieces = 0;
    assert_int_equal(tacit_mechanism_release(mechanism, exact, &entropy, &noised), TACIT_OK);
    *took_us = slowness * worker->pieces;
    return fabs((double)noised.steps);
}

/* The daemon's rounds, in virtual time. When what was drawn at event_us leaves. */
static uint64_t leaves_at(struct live_hold *hold, uint64_t event_us, uint64_t took_us)
{
    live_hold_draw(hold, event_us, 1);
    if (live_hold_end_round(hold, event_us + took_us))
        return event_us + took_us;
    for (;;) {
        uint64_t const now_us = hold->until_us;
        assert_true(now_us > event_us + took_us);
        assert_false(live_hold_end_round(hold, now_us - 1)); /* some other round */
        live_hold_tick(hold);
        if (live_hold_end_round(hold, now_us))
            return now_us;
    }
}

/* ---- Correlation ----------------------------------------------------------------------------- */

struct moments {
    double x, y, xx, yy, xy;
};

static void add(struct moments *moments, double x, double y)
{
    moments->x += x;
    moments->y += y;
    moments->xx += x * x;
    moments->yy += y * y;
    moments->xy += x * y;
}

/* The correlation in standard errors: about normal if there is none. */
static double z_of(const struct moments *moments)
{
    double const n = EPOCHS;
    double const covariance = moments->xy - moments->x * moments->y / n;
    double const spread = sqrt((moments->xx - moments->x * moments->x / n) *
                               (moments->yy - moments->y * moments->y / n));
    return spread > 0 ? covariance / spread * sqrt(n) : 0;
}

static void noise_and_time(uint64_t slowness, struct moments *when_done, struct moments *when_left)
{
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    struct tacit_mechanism mechanism;
    struct worker worker = {.rng = tacit_rng_stream(65, 0, 0, TACIT_PURPOSE_NOISE)};
    struct tacit_rng events = tacit_rng_stream(65, 1, 0, TACIT_PURPOSE_SELECTION);
    struct live_hold hold = {0};
    uint64_t now_us = 1;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    *when_done = (struct moments){0};
    *when_left = (struct moments){0};
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        uint64_t took_us;
        uint64_t const event_us = now_us + tacit_rng_below(&events, 10 * LIVE_TICK_US);
        double const noise = draw(&worker, &mechanism, slowness, &took_us);
        uint64_t const left_us = leaves_at(&hold, event_us, took_us);
        assert_int_equal(left_us % LIVE_TICK_US, 0);
        add(when_done, noise, (double)took_us);
        add(when_left, noise, (double)(left_us - event_us));
        if (took_us < LIVE_TICK_US) /* the event alone says when */
            assert_int_equal(left_us, live_tick_after_us(event_us, LIVE_TICK_US));
        now_us = left_us;
    }
}

/* ---- Properties ------------------------------------------------------------------------------ */

TEST(reports_leave_at_times_that_say_nothing_about_the_noise)
{
    struct moments when_done;
    struct moments when_left;
    for (uint64_t slowness = 1; slowness <= 1000; slowness *= 10) { /* up to some 10 ms a draw */
        noise_and_time(slowness, &when_done, &when_left);
        assert_true(z_of(&when_done) > 10 * Z_MAX); /* the test sees what there is to see */
        assert_true(fabs(z_of(&when_left)) < Z_MAX);
    }
}

TEST(a_draw_that_takes_beyond_its_tick_leaves_on_a_later_one)
{
    for (uint64_t took_us = 0; took_us < 10 * LIVE_TICK_US; took_us += 977) {
        struct live_hold hold = {0};
        uint64_t const left_us = leaves_at(&hold, 12345, took_us);
        assert_int_equal(left_us % LIVE_TICK_US, 0);
        assert_true(left_us >= 12345 + took_us);
        assert_true(left_us <= 12345 + took_us + 3 * LIVE_TICK_US);
    }
}

TEST(nothing_is_held_without_a_draw_and_a_second_draw_holds_on)
{
    struct live_hold hold = {0};
    assert_true(live_hold_end_round(&hold, 7));
    live_hold_draw(&hold, 1000, 1);
    uint64_t const first_us = hold.until_us;
    assert_false(live_hold_end_round(&hold, 1500));
    live_hold_tick(&hold); /* and in the same round it draws again */
    live_hold_draw(&hold, first_us, 1);
    assert_false(live_hold_end_round(&hold, first_us + 10));
    assert_int_equal(hold.until_us, first_us + LIVE_TICK_US);
    live_hold_tick(&hold);
    assert_true(live_hold_end_round(&hold, hold.until_us));
    assert_true(live_hold_end_round(&hold, first_us));
}

TEST(ticks_are_public_and_long_enough)
{
    for (uint64_t numbers = 0; numbers < 200000; numbers += 777) {
        uint64_t const length_us = live_tick_length_us(numbers);
        assert_true(length_us >= LIVE_TICK_US && length_us >= 50 * numbers);
        assert_int_equal(length_us % LIVE_TICK_US, 0);
        for (uint64_t event_us = 0; event_us < 3 * LIVE_TICK_US; event_us += 10007) {
            uint64_t const tick_us = live_tick_after_us(event_us, length_us);
            assert_int_equal(tick_us % length_us, 0);
            assert_true(tick_us >= event_us + length_us && tick_us < event_us + 2 * length_us);
        }
    }
}

/* A draw every 300 microseconds, in rounds that end 100 later; the tick's timer is a round too. */
TEST(stream_of_draws_leaves_on_every_tick_and_never_between)
{
    struct live_hold hold = {0};
    uint64_t last_us = 0;
    uint32_t count = 0;
    for (uint64_t now_us = 1000000; now_us < 3000000; now_us += 300) {
        if (hold.until_us > 0 && now_us >= hold.until_us)
            live_hold_tick(&hold);
        live_hold_stream(&hold, now_us, 5);
        assert_true(hold.until_us > 0 && hold.until_us % LIVE_TICK_US == 0);
        uint64_t const tick_us = hold.until_us;
        if (!live_hold_end_round(&hold, now_us + 100)) {
            assert_true(tick_us <= now_us + 2 * LIVE_TICK_US);
            continue;
        }
        assert_true(now_us >= tick_us && now_us < tick_us + 300);
        assert_true(last_us == 0 || now_us - last_us <= 2 * LIVE_TICK_US + 600);
        last_us = now_us;
        count++;
    }
    assert_true(count >= 9);
}

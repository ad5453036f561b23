/* The event loop on pipes, timers and signals of its own. */
#include "../support/testing.h"
#include "../../src/live/daemon/loop.h"
#include "../support/on_file.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000)
#define PIPES 200u
#define LATE_MAX (30000u * MS) /* the machine may be busy */

static struct live_loop *loop;

/* ---- A pipe that is watched ------------------------------------------------------------------ */

struct tap {
    int ends[2];
    uint32_t events;
    unsigned calls;
    struct tap *victim; /* what this one's handler forgets */
    bool reopens;       /* .. and closes and watches anew, under the same number */
};

static void tap_open(struct tap *tap)
{
    memset(tap, 0, sizeof *tap);
    assert_int_equal(pipe2(tap->ends, O_NONBLOCK | O_CLOEXEC), 0);
}

static void tap_close(struct tap *tap)
{
    live_loop_forget(loop, tap->ends[0]);
    (void)close(tap->ends[0]);
    (void)close(tap->ends[1]);
}

static struct tap taps[2]; /* of the test */

static int set_up(void **state)
{
    tap_open(&taps[0]);
    tap_open(&taps[1]);
    return live_loop_open(&loop) == TACIT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    tap_close(&taps[0]);
    tap_close(&taps[1]);
    live_loop_close(loop);
    return 0;
}

static void fill(struct tap *tap)
{
    assert_int_equal(write(tap->ends[1], "x", 1), 1);
}

static void drain(struct tap *tap)
{
    char bytes[64];
    (void)!read(tap->ends[0], bytes, sizeof bytes);
}

static void stop(void *context)
{
    live_loop_stop(loop);
}

static void count_and_stop(void *context, uint32_t events)
{
    struct tap *const tap = context;
    tap->calls++;
    tap->events = events;
    drain(tap);
    live_loop_stop(loop);
}

static void watch_tap(struct tap *tap, live_ready_function *ready)
{
    assert_int_equal(live_loop_watch(loop, tap->ends[0], EPOLLIN, ready, tap), TACIT_OK);
}

static void run(void)
{
    assert_int_equal(live_loop_run(loop), TACIT_OK);
}

/* Goes round for this long. */
static void run_for(uint64_t us)
{
    struct live_timer *const timer = live_timer_new(loop, stop, NULL);
    assert_non_null(timer);
    live_timer_set(timer, live_now_us() + us);
    run();
}

/* ---- Watching -------------------------------------------------------------------------------- */

TEST_WITH(a_closed_peer_is_told, set_up, tear_down)
{
    struct tap *const tap = &taps[0];
    watch_tap(tap, count_and_stop);
    (void)close(tap->ends[1]);
    run();
    assert_true((tap->events & EPOLLHUP) != 0);
    tap->ends[1] = -1;
}

TEST_WITH(what_is_waited_for_can_be_changed, set_up, tear_down)
{
    struct tap *const tap = &taps[0];
    assert_int_equal(live_loop_watch(loop, tap->ends[0], 0, count_and_stop, tap), TACIT_OK);
    fill(tap);
    run_for(5 * MS);
    assert_int_equal(tap->calls, 0);
    assert_int_equal(live_loop_change(loop, tap->ends[0], EPOLLIN), TACIT_OK);
    run();
    assert_int_equal(tap->calls, 1);
}

TEST_WITH(what_cannot_be_watched_is_an_error, set_up, tear_down)
{
    struct tap *const tap = &taps[0];
    assert_int_equal(live_loop_watch(loop, -1, EPOLLIN, count_and_stop, tap), TACIT_IO);
    assert_int_equal(live_loop_watch(loop, 900, EPOLLIN, count_and_stop, tap), TACIT_IO);
    assert_int_equal(live_loop_change(loop, tap->ends[0], EPOLLIN), TACIT_IO);
    assert_int_equal(live_loop_change(loop, -1, EPOLLIN), TACIT_IO);
    int const file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(live_loop_watch(loop, file, EPOLLIN, count_and_stop, tap), TACIT_IO);
    assert_int_equal(live_loop_change(loop, file, EPOLLIN), TACIT_IO);
    live_loop_forget(loop, -1);
    live_loop_forget(loop, 900);
    live_loop_forget(loop, file);
    (void)close(file);
}

TEST_WITH(a_second_watch_replaces_the_first, set_up, tear_down)
{
    struct tap second = taps[0];
    watch_tap(&taps[0], count_and_stop);
    assert_int_equal(live_loop_watch(loop, taps[0].ends[0], EPOLLIN, count_and_stop, &second),
                     TACIT_OK);
    for (unsigned calls = 1; calls <= 2; calls++) {
        fill(&taps[0]);
        run();
        assert_int_equal(taps[0].calls, 0);
        assert_int_equal(second.calls, calls);
    }
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

static void on_victim(void *context, uint32_t events)
{
    ((struct tap *)context)->calls++;
}

/* Forgets the other one, which is ready in the same round. */
static void forget_victim(void *context, uint32_t events)
{
    struct tap *const tap = context;
    struct tap *const victim = tap->victim;
    tap->calls++;
    drain(tap);
    live_loop_stop(loop);
    if (victim == NULL)
        return;
    tap->victim = NULL;
    victim->victim = NULL; /* whoever comes first wins */
    live_loop_forget(loop, victim->ends[0]);
    if (!tap->reopens)
        return;
    int const number = victim->ends[0];
    (void)close(victim->ends[0]);
    (void)close(victim->ends[1]);
    assert_int_equal(pipe2(victim->ends, O_NONBLOCK | O_CLOEXEC), 0);
    if (victim->ends[0] !=
        number) { /* the kernel gives the lowest number first; this one must be it */
        assert_int_equal(dup2(victim->ends[0], number), number);
        (void)close(victim->ends[0]);
        victim->ends[0] = number;
    }
    assert_int_equal(live_loop_watch(loop, number, EPOLLIN, on_victim, victim), TACIT_OK);
}

static void two_that_forget_each_other(bool reopens)
{
    for (int i = 0; i < 2; i++) {
        taps[i].victim = &taps[1 - i];
        taps[i].reopens = reopens;
        watch_tap(&taps[i], forget_victim);
        fill(&taps[i]);
    }
    run();
    assert_int_equal(taps[0].calls + taps[1].calls, 1);
}

TEST_WITH(a_descriptor_forgotten_in_its_round_is_not_handled, set_up, tear_down)
{
    two_that_forget_each_other(false);
}

/* The number is the same, and nothing is ready on it: the event of before must not reach the new
 * watch. */
TEST_WITH(a_number_used_again_in_its_round_is_not_confused, set_up, tear_down)
{
    two_that_forget_each_other(true);
}

static void forget_itself(void *context, uint32_t events)
{
    struct tap *const tap = context;
    tap->calls++;
    live_loop_forget(loop, tap->ends[0]); /* without reading: it stays ready */
}

TEST_WITH(a_handler_may_forget_its_own_descriptor, set_up, tear_down)
{
    struct tap *const tap = &taps[0];
    watch_tap(tap, forget_itself);
    fill(tap);
    run_for(5 * MS);
    assert_int_equal(tap->calls, 1);
    watch_tap(tap, forget_itself);
    run_for(5 * MS);
    assert_int_equal(tap->calls, 2);
}

static void close_itself(void *context, uint32_t events)
{
    struct tap *const tap = context;
    (void)close(tap->ends[0]); /* before forgetting: the kernel is quicker than we are */
    forget_itself(tap, events);
}

TEST_WITH(closing_before_forgetting_is_harmless, set_up, tear_down)
{
    struct tap *const tap = &taps[0];
    watch_tap(tap, close_itself);
    fill(tap);
    run_for(5 * MS);
    assert_int_equal(tap->calls, 1);
    tap->ends[0] = -1;
}

/* ---- Many ------------------------------------------------------------------------------------ */

static struct tap many[PIPES];
static unsigned many_watched;

/* Each handler watches the next one, so that the table of watches grows under its feet. */
static void watch_next(void *context, uint32_t events)
{
    struct tap *const tap = context;
    tap->calls++;
    drain(tap);
    if (many_watched == PIPES) {
        live_loop_stop(loop);
        return;
    }
    struct tap *const next = &many[many_watched++];
    tap_open(next);
    watch_tap(next, watch_next);
    fill(next);
}

TEST_WITH(handlers_may_watch_more_and_more, set_up, tear_down)
{
    many_watched = 1;
    tap_open(&many[0]);
    watch_tap(&many[0], watch_next);
    fill(&many[0]);
    run();
    for (unsigned i = 0; i < PIPES; i++) {
        assert_int_equal(many[i].calls, 1);
        tap_close(&many[i]);
    }
}

TEST_WITH(nobody_starves_when_many_are_ready, set_up, tear_down)
{
    for (unsigned i = 0; i < PIPES; i++) {
        tap_open(&many[i]);
        watch_tap(&many[i], on_victim); /* never drains: always ready */
        fill(&many[i]);
    }
    run_for(50 * MS);
    for (unsigned i = 0; i < PIPES; i++) {
        assert_true(many[i].calls > 0);
        tap_close(&many[i]);
    }
}

/* ---- Rounds and their hook ------------------------------------------------------------------- */

struct rounds {
    unsigned hooks;
    unsigned calls_at_hook;
    struct tap *taps;
};

static void on_hook(void *context)
{
    struct rounds *const rounds = context;
    rounds->hooks++;
    rounds->calls_at_hook = rounds->taps[0].calls + rounds->taps[1].calls;
}

TEST_WITH(the_hook_runs_once_after_all_that_is_ready, set_up, tear_down)
{
    struct rounds rounds = {.taps = taps};
    live_loop_set_hook(loop, on_hook, &rounds);
    for (int i = 0; i < 2; i++) {
        watch_tap(&taps[i], count_and_stop);
        fill(&taps[i]);
    }
    run(); /* stop is called by the first: the round goes on to its end, hook included */
    assert_int_equal(rounds.hooks, 1);
    assert_int_equal(rounds.calls_at_hook, 2);
    live_loop_set_hook(loop, NULL, NULL);
    run_for(MS);
    assert_int_equal(rounds.hooks, 1);
}

TEST_WITH(stopping_before_the_run_ends_it_at_once, set_up, tear_down)
{
    live_loop_stop(loop);
    run();
    run_for(MS); /* and only that one */
}

/* ---- Timers ---------------------------------------------------------------------------------- */

struct alarm {
    struct live_timer *timer;
    unsigned calls;
    unsigned stop_at;
    uint64_t again_us;   /* sets itself anew after this; 0: not */
    struct alarm *other; /* switches this one off */
};

static void on_alarm(void *context)
{
    struct alarm *const alarm = context;
    alarm->calls++;
    if (alarm->other != NULL)
        live_timer_set(alarm->other->timer, TACIT_NEVER);
    if (alarm->again_us > 0)
        live_timer_set(alarm->timer, live_now_us() + alarm->again_us);
    if (alarm->calls == alarm->stop_at)
        live_loop_stop(loop);
}

static void alarm_new(struct alarm *alarm)
{
    alarm->timer = live_timer_new(loop, on_alarm, alarm);
    assert_non_null(alarm->timer);
}

TEST_WITH(the_clock_goes_forward_in_microseconds, set_up, tear_down)
{
    uint64_t const start = live_now_us();
    struct timespec const pause = {.tv_nsec = 5000000};
    (void)nanosleep(&pause, NULL);
    uint64_t const passed = live_now_us() - start;
    assert_in_range(passed, 5 * MS, LATE_MAX);
}

TEST_WITH(a_timer_is_due_at_its_deadline_and_once, set_up, tear_down)
{
    struct alarm alarm = {.stop_at = 1};
    alarm_new(&alarm);
    uint64_t const deadline = live_now_us() + 10 * MS;
    live_timer_set(alarm.timer, deadline);
    run();
    assert_true(live_now_us() >= deadline);
    assert_true(live_now_us() < deadline + LATE_MAX);
    run_for(20 * MS);
    assert_int_equal(alarm.calls, 1);
}

TEST_WITH(a_deadline_in_the_past_is_due_at_once, set_up, tear_down)
{
    uint64_t const past = live_now_us() - 1;
    uint64_t const deadlines[] = {0, 1, past, past}; /* also when it is set to the same again */
    struct alarm alarm = {0};
    alarm_new(&alarm);
    for (size_t i = 0; i < 4; i++) {
        alarm.stop_at = alarm.calls + 1;
        live_timer_set(alarm.timer, deadlines[i]);
        assert_int_equal(alarm.calls, i); /* not before the loop goes round */
        run();
        assert_int_equal(alarm.calls, i + 1);
    }
}

TEST_WITH(far_deadlines_are_not_due, set_up, tear_down)
{
    static const uint64_t far[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2, UINT64_C(1) << 60};
    struct alarm alarm = {0};
    alarm_new(&alarm);
    for (size_t i = 0; i < 4; i++) {
        live_timer_set(alarm.timer, far[i]);
        run_for(2 * MS);
        assert_int_equal(alarm.calls, 0);
    }
}

TEST_WITH(a_timer_can_be_moved_and_switched_off, set_up, tear_down)
{
    struct alarm alarm = {0};
    alarm_new(&alarm);
    live_timer_set(alarm.timer, live_now_us() + 2 * MS);
    live_timer_set(alarm.timer, TACIT_NEVER);
    run_for(8 * MS);
    assert_int_equal(alarm.calls, 0);
    live_timer_set(alarm.timer, live_now_us() + 1000 * MS * MS);
    live_timer_set(alarm.timer, live_now_us() + 2 * MS);
    alarm.stop_at = 1;
    run();
    assert_int_equal(alarm.calls, 1);
}

TEST_WITH(a_timer_may_set_itself, set_up, tear_down)
{
    struct alarm alarm = {.stop_at = 5, .again_us = MS};
    alarm_new(&alarm);
    uint64_t const start = live_now_us();
    live_timer_set(alarm.timer, start);
    run();
    assert_int_equal(alarm.calls, 5);
    assert_true(live_now_us() >= start + 4 * MS);
}

/* Both are due in the same round; the first one handled switches the other off. */
TEST_WITH(a_timer_switched_off_in_its_round_is_not_due, set_up, tear_down)
{
    struct alarm alarms[2] = {{.stop_at = 1}, {.stop_at = 1}};
    alarm_new(&alarms[0]);
    alarm_new(&alarms[1]);
    alarms[0].other = &alarms[1];
    alarms[1].other = &alarms[0];
    live_timer_set(alarms[0].timer, 1);
    live_timer_set(alarms[1].timer, 1);
    run();
    run_for(2 * MS);
    assert_int_equal(alarms[0].calls + alarms[1].calls, 1);
}

TEST_WITH(timers_come_in_the_order_of_their_deadlines, set_up, tear_down)
{
    struct alarm alarms[3] = {0};
    uint64_t const start = live_now_us();
    for (uint64_t i = 0; i < 3; i++) {
        alarm_new(&alarms[i]);
        live_timer_set(alarms[i].timer, start + (3 - i) * 40 * MS);
    }
    alarms[1].stop_at = 1;
    run();
    assert_int_equal(alarms[2].calls, 1);
    live_timer_set(alarms[0].timer, TACIT_NEVER);
}

/* ---- Signals --------------------------------------------------------------------------------- */

static unsigned stops;

static void on_stopping(void *context)
{
    assert_ptr_equal(context, &stops);
    stops++;
    live_loop_stop(loop);
}

static void interrupt(int signal_number)
{
}

TEST_WITH(sigterm_and_sigint_call_stopping, set_up, tear_down)
{
    sigset_t before;
    (void)sigprocmask(SIG_SETMASK, NULL, &before);
    stops = 0;
    assert_int_equal(live_loop_catch_signals(loop, on_stopping, &stops), TACIT_OK);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    run();
    assert_int_equal(stops, 1);
    assert_int_equal(kill(getpid(), SIGINT), 0);
    run();
    assert_int_equal(stops, 2);
    (void)kill(getpid(), SIGTERM); /* two at once are one wish */
    (void)kill(getpid(), SIGINT);
    run();
    assert_int_equal(stops, 3);
    run_for(2 * MS);
    assert_int_equal(stops, 3);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Any other signal with a handler interrupts the waiting, and the loop goes on. */
TEST_WITH(other_signals_do_not_end_the_run, set_up, tear_down)
{
    struct sigaction const action = {.sa_handler = interrupt};
    struct sigaction before;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    pid_t const parent = getpid();
    pid_t const child = fork();
    if (child == 0) {
        for (int i = 0; i < 10; i++) {
            (void)usleep(2000);
            (void)kill(parent, SIGUSR1);
        }
        _exit(0);
    }
    uint64_t const start = live_now_us();
    run_for(40 * MS);
    assert_true(live_now_us() >= start + 40 * MS);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    (void)sigaction(SIGUSR1, &before, NULL);
}

/* ---- Closing --------------------------------------------------------------------------------- */

TEST_WITH(closing_gives_everything_back, set_up, tear_down)
{
    struct tap *const tap = &taps[0];
    sigset_t before;
    (void)sigprocmask(SIG_SETMASK, NULL, &before);
    size_t const count = on_file_count("/proc/self/fd");
    struct live_loop *other = NULL;
    assert_int_equal(live_loop_open(&other), TACIT_OK);
    for (int i = 0; i < 10; i++)
        assert_non_null(live_timer_new(other, stop, NULL));
    assert_int_equal(live_loop_watch(other, tap->ends[0], EPOLLIN, count_and_stop, tap), TACIT_OK);
    assert_int_equal(live_loop_catch_signals(other, on_stopping, &stops), TACIT_OK);
    live_loop_close(other);
    live_loop_close(NULL);
    assert_int_equal(on_file_count("/proc/self/fd"), count);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

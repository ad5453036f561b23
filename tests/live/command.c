/* The contract of a training command (docs/training.md): what it is given, what it may use, and
 * that nothing of it is left. */
#include "../support/testing.h"
#include "../../src/live/daemon/command.h"
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../support/temp.h"

#define MEGABYTE (UINT64_C(1) << 20)
#define PATIENCE_US (UINT64_C(120) * 1000000) /* the machine may be busy */
#define SAID_BYTES 8192u

struct room {
    char directory[TEMP_PATH_BYTES];
    char work[TEMP_PATH_BYTES];
    char log[TEMP_PATH_BYTES];
    struct live_loop *loop;
    struct live_command *command;
    enum live_command_end end;
    bool has_ended;
    char said[SAID_BYTES];
};

static int open_room(void **state)
{
    struct room *const room = calloc(1, sizeof *room);
    if (room == NULL)
        return -1;
    temp_directory_make(room->directory);
    temp_path(room->work, room->directory, "work");
    temp_path(room->log, room->directory, "said");
    if (chmod(room->directory, 0755) != 0 || mkdir(room->work, 0777) != 0 ||
        chmod(room->work, 0777) != 0 || live_loop_open(&room->loop) != TACIT_OK)
        return -1;
    *state = room;
    return 0;
}

static int close_room(void **state)
{
    struct room *const room = *state;
    live_loop_close(room->loop);
    temp_directory_remove(room->directory);
    free(room);
    return 0;
}

static void note_end(void *context, enum live_command_end end)
{
    struct room *const room = context;
    room->end = end;
    room->has_ended = true;
    live_loop_stop(room->loop);
}

static void give_up(void *context)
{
    live_loop_stop(((struct room *)context)->loop);
}

static struct live_command_config limits(const char *const *words)
{
    return (struct live_command_config){
        .argv = words, .memory_bytes = 512 * MEGABYTE, .cpu_s = 60, .file_bytes = MEGABYTE};
}

/* Of the shell with this text. */
static struct live_command_config shell_limits(const char *text)
{
    static const char *words[] = {"/bin/sh", "-c", NULL, NULL};
    words[2] = text;
    return limits(words);
}

static void read_said(struct room *room)
{
    FILE *const file = fopen(room->log, "rb");
    size_t const size = file == NULL ? 0 : fread(room->said, 1, SAID_BYTES - 1, file);
    room->said[size] = '\0';
    if (file != NULL)
        (void)fclose(file);
}

/* Starts it, and goes round until it has ended, or for so long. */
static void run_for(struct room *room, const struct live_command_config *config, uint64_t us)
{
    room->has_ended = false;
    (void)unlink(room->log);
    assert_int_equal(live_command_start(&room->command, room->loop, config, room->work, room->log,
                                        note_end, room),
                     TACIT_OK);
    struct live_timer *const timer = live_timer_new(room->loop, give_up, room);
    assert_non_null(timer);
    live_timer_set(timer, live_now_us() + us);
    assert_int_equal(live_loop_run(room->loop), TACIT_OK);
    live_timer_set(timer, TACIT_NEVER);
    live_command_free(room->command);
}

/* Runs it to its end. */
static enum live_command_end run(struct room *room, const struct live_command_config *config)
{
    run_for(room, config, PATIENCE_US);
    assert_true(room->has_ended);
    read_said(room);
    return room->end;
}

static enum live_command_end run_shell(struct room *room, const char *text)
{
    struct live_command_config const config = shell_limits(text);
    return run(room, &config);
}

static void expect_said(const struct room *room, const char *words)
{
    if (strstr(room->said, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, room->said);
}

/* ---- What it is given ---- */

TEST_WITH(it_is_given_its_directory_and_nothing_else, open_room, close_room)
{
    struct room *const room = *state;
    assert_int_equal(setenv("TACIT_SECRET", "key-of-the-site", 1), 0);
    int const secret = open(room->directory, O_RDONLY | O_DIRECTORY); /* not closed on exec */
    assert_true(secret >= 3);
    assert_int_equal(dup2(secret, 77), 77);
    enum live_command_end const end =
        run_shell(room, "echo first=$0; pwd; cat /proc/self/environ | tr '\\0' '\\n';"
                        "ls /proc/self/fd; grep NoNewPrivs /proc/self/status; id -u; umask");
    (void)close(secret);
    (void)close(77);
    assert_int_equal(end, LIVE_COMMAND_DONE);
    char expected[2 * TEMP_PATH_BYTES + 20];
    (void)snprintf(expected, sizeof expected, "first=%s\n%s\n", room->work, room->work);
    expect_said(room, expected);
    expect_said(room, "OMP_NUM_THREADS=1\n");
    expect_said(room, "NoNewPrivs:\t1\n");
    expect_said(room, "0077\n");
    assert_null(strstr(room->said, "key-of-the-site"));
    assert_null(strstr(room->said, "HOME="));
    expect_said(room, "0\n1\n2\n3\nNoNew"); /* the fourth is of ls itself */
}

TEST_WITH(codes_are_told_apart, open_room, close_room)
{
    static const char *const hang_up[] = {"/no/such/program", NULL};
    struct room *const room = *state;
    struct live_command_config const missing = limits(hang_up);
    assert_int_equal(run_shell(room, "exit 0"), LIVE_COMMAND_DONE);
    assert_int_equal(run_shell(room, "exit 75"), LIVE_COMMAND_NOT_NOW);
    assert_int_equal(run_shell(room, "exit 1"), LIVE_COMMAND_FAILED);
    assert_int_equal(run_shell(room, "kill -9 $$"), LIVE_COMMAND_FAILED);
    assert_int_equal(run(room, &missing), LIVE_COMMAND_FAILED);
}

/* With the rights to change them, it has those of the user that is named, and no group of ours;
 * without, it does not run. */
TEST_WITH(it_has_the_rights_of_its_user, open_room, close_room)
{
    struct room *const room = *state;
    struct live_command_config config =
        shell_limits("id -u; id -G; touch mine; test ! -w / || echo too many rights");
    struct passwd const *const nobody = getpwnam("nobody");
    config.user = "nobody";
    assert_non_null(nobody);
    assert_int_equal(live_command_user("nobody"), nobody->pw_uid);
    char expected[64];
    (void)snprintf(expected, sizeof expected, "%u\n%u\n", nobody->pw_uid, nobody->pw_gid);
    if (geteuid() != 0) {
        assert_int_equal(run(room, &config), LIVE_COMMAND_FAILED);
        assert_string_equal(room->said, "");
        return;
    }
    assert_int_equal(run(room, &config), LIVE_COMMAND_DONE);
    assert_string_equal(room->said, expected);
}

TEST_WITH(an_unknown_user_is_an_error, open_room, close_room)
{
    static const char *const words[] = {"/bin/true", NULL};
    struct room *const room = *state;
    struct live_command_config config = limits(words);
    config.user = "no-such-user-here";
    assert_int_equal(live_command_user(config.user), UINT32_MAX);
    assert_int_equal(live_command_start(&room->command, room->loop, &config, room->work, room->log,
                                        note_end, room),
                     TACIT_IO);
}

/* ---- What it may use ---- */

TEST_WITH(memory_ends_at_its_limit, open_room, close_room)
{
    struct room *const room = *state;
    struct live_command_config config =
        shell_limits("dd if=/dev/zero of=/dev/null bs=300M count=1");
    assert_int_equal(run(room, &config), LIVE_COMMAND_DONE);
    config.memory_bytes = 100 * MEGABYTE;
    assert_int_equal(run(room, &config), LIVE_COMMAND_FAILED);
}

TEST_WITH(processor_time_ends_at_its_limit, open_room, close_room)
{
    struct room *const room = *state;
    struct live_command_config config = shell_limits("while :; do :; done");
    config.cpu_s = 1;
    assert_int_equal(run(room, &config), LIVE_COMMAND_FAILED);
}

TEST_WITH(files_end_at_their_limit, open_room, close_room)
{
    struct room *const room = *state;
    char path[TEMP_PATH_BYTES];
    struct stat about;
    assert_int_equal(run_shell(room, "dd if=/dev/zero of=large bs=64k count=64"),
                     LIVE_COMMAND_FAILED);
    temp_path(path, room->work, "large");
    assert_int_equal(stat(path, &about), 0);
    assert_true((uint64_t)about.st_size <= MEGABYTE);
    assert_int_equal(run_shell(room, "ulimit -c"), LIVE_COMMAND_DONE); /* no core file */
    assert_string_equal(room->said, "0\n");
}

TEST_WITH(what_it_says_is_a_ring, open_room, close_room)
{
    struct room *const room = *state;
    struct stat about;
    assert_int_equal(run_shell(room, "dd if=/dev/zero bs=64k count=48"), LIVE_COMMAND_DONE);
    assert_int_equal(stat(room->log, &about), 0);
    assert_int_equal(about.st_size, MEGABYTE);
    assert_int_equal(about.st_mode & 0777, 0600);
}

/* Its output is read a pipe at a time: else the loop would go round when it has ended, and not
 * before. */
TEST_WITH(one_that_never_stops_talking_holds_nothing_up, open_room, close_room)
{
    struct room *const room = *state;
    struct live_command_config config = shell_limits("exec yes");
    config.cpu_s = 5;
    run_for(room, &config, 300000);
    assert_false(room->has_ended);
}

/* ---- What is left of it ---- */

/* Whoever starts an agent may have told it to: processes that end would then be nobody's. */
TEST_WITH(its_end_is_seen_where_ends_of_children_are_ignored, open_room, close_room)
{
    struct room *const room = *state;
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    assert_int_equal(run_shell(room, "exit 0"), LIVE_COMMAND_DONE);
}

/* Is a process gone? One that nobody has asked after yet counts as gone. */
static bool is_gone(pid_t process)
{
    char path[64];
    char text[256];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *const file = fopen(path, "r");
    if (file == NULL)
        return true;
    size_t const size = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[size] = '\0';
    const char *const state = strrchr(text, ')');
    return state == NULL || state[2] == 'Z' || state[2] == 'X';
}

static void expect_gone(pid_t process)
{
    struct timespec const moment = {0, 10000000};
    uint64_t const until = live_now_us() + PATIENCE_US;
    while (!is_gone(process) && live_now_us() < until)
        (void)nanosleep(&moment, NULL);
    assert_true(is_gone(process));
}

/* The number that a command wrote into a file of its directory; waits for it. */
static pid_t number_in(const struct room *room, const char *name)
{
    struct timespec const moment = {0, 10000000};
    uint64_t const until = live_now_us() + PATIENCE_US;
    char path[TEMP_PATH_BYTES];
    long number = 0;
    temp_path(path, room->work, name);
    while (number == 0 && live_now_us() < until) {
        FILE *const file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%ld\n", &number) != 1)
            number = 0;
        if (file != NULL)
            (void)fclose(file);
        (void)nanosleep(&moment, NULL);
    }
    assert_true(number > 0);
    return (pid_t)number;
}

TEST_WITH(its_children_go_with_it, open_room, close_room)
{
    struct room *const room = *state;
    assert_int_equal(run_shell(room, "sleep 1000 >/dev/null 2>&1 & echo $! > child"),
                     LIVE_COMMAND_DONE);
    expect_gone(number_in(room, "child"));
}

TEST_WITH(one_that_hangs_is_killed_with_its_children, open_room, close_room)
{
    struct room *const room = *state;
    struct live_command_config const config =
        shell_limits("sleep 1000 & echo $! > child; echo $$ > own; wait");
    assert_int_equal(live_command_start(&room->command, room->loop, &config, room->work, room->log,
                                        note_end, room),
                     TACIT_OK);
    pid_t const own = number_in(room, "own");
    live_command_free(room->command); /* the deadline */
    expect_gone(own);
    expect_gone(number_in(room, "child"));
    assert_false(room->has_ended);
}

/* The agent is killed in mid-training: its command does not train on without it. */
TEST_WITH(it_dies_with_the_agent, open_room, close_room)
{
    struct room *const room = *state;
    struct live_command_config const config = shell_limits("echo $$ > own; while :; do :; done");
    pid_t const agent = fork();
    assert_true(agent >= 0);
    if (agent == 0) {
        if (live_command_start(&room->command, room->loop, &config, room->work, room->log, note_end,
                               room) != TACIT_OK)
            _exit(1);
        for (;;)
            (void)pause();
    }
    pid_t const own = number_in(room, "own");
    assert_false(is_gone(own));
    assert_int_equal(kill(agent, SIGKILL), 0);
    assert_int_equal(waitpid(agent, NULL, 0), agent);
    expect_gone(own);
}

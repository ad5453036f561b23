/* posix_spawn, two pipes (or a pseudo terminal for stderr) and one poll loop. */
#include "testing.h"
#include "process.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_MS_DEFAULT 240000u
#define POLL_MS 5
#define READ_BYTES 65536u
#define VARIABLES_MAX 512u

extern char **environ;

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "process: cannot %s: %s\n", what, strerror(errno));
    abort();
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- What the program says ---- */

struct stream {
    int handle; /* our end; -1: closed */
    char *text;
    size_t size;
};

static void stream_read(struct stream *stream)
{
    char bytes[READ_BYTES];
    ssize_t const got = read(stream->handle, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR)
        return;
    if (got <= 0) { /* the end; EIO is the end of a terminal */
        (void)close(stream->handle);
        stream->handle = -1;
        return;
    }
    char *const text = testing_malloc(stream->size + (size_t)got + 1);
    memcpy(text, stream->text, stream->size);
    memcpy(text + stream->size, bytes, (size_t)got);
    testing_free(stream->text);
    stream->text = text;
    stream->size += (size_t)got;
    stream->text[stream->size] = '\0';
}

static struct stream stream_make(int handle)
{
    return (struct stream){.handle = handle, .text = testing_calloc(1, 1)};
}

/* ---- Starting ---- */

/* Two ends; the program gets the second. */
static void make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        give_up("make a pipe");
}

static void make_terminal(int ends[2])
{
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0)
        give_up("make a terminal");
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[1] < 0)
        give_up("open the terminal");
}

bool process_has_terminals(void)
{
    int const terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    bool const is_there = terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0;
    if (terminal >= 0)
        (void)close(terminal);
    return is_there;
}

static bool is_overruled(const char *variable, const char *const *changes)
{
    size_t const name_size = strcspn(variable, "=") + 1;
    for (; changes != NULL && *changes != NULL; changes++)
        if (strncmp(variable, *changes, name_size) == 0)
            return true;
    return false;
}

static void merge_environment(const char *const *changes, char *merged[VARIABLES_MAX + 1])
{
    size_t count = 0;
    for (char **variable = environ; *variable != NULL && count < VARIABLES_MAX; variable++)
        if (!is_overruled(*variable, changes))
            merged[count++] = *variable;
    for (; changes != NULL && *changes != NULL && count < VARIABLES_MAX; changes++)
        merged[count++] = (char *)(uintptr_t)*changes;
    merged[count] = NULL;
}

static pid_t start(const struct process_plan *plan, int out, int err)
{
    posix_spawn_file_actions_t actions;
    char *variables[VARIABLES_MAX + 1];
    pid_t pid;
    merge_environment(plan->environment, variables);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(
        &actions, STDIN_FILENO, plan->input == NULL ? "/dev/null" : plan->input, O_RDONLY, 0);
    if (plan->output != NULL)
        (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, plan->output, O_WRONLY, 0);
    else
        (void)posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    errno = posix_spawn(&pid, plan->arguments[0], &actions, NULL,
                        (char *const *)(uintptr_t)plan->arguments, variables);
    if (errno != 0)
        give_up(plan->arguments[0]);
    (void)posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* ---- Watching ---- */

struct watch {
    pid_t pid;
    struct stream out;
    struct stream err;
    uint64_t started_ms;
    uint64_t caught_ms; /* first seen to catch SIGINT; 0: not yet */
    uint64_t marked_ms; /* the interrupt, or the start */
    uint64_t files;     /* at the start */
    bool interrupted;
    bool timed_out;
};

/* Another number when one of the pattern's files was made or replaced. */
static uint64_t look_at_files(const char *pattern)
{
    glob_t found;
    struct stat stats;
    uint64_t sum = 0;
    if (pattern == NULL || glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (stat(found.gl_pathv[i], &stats) == 0)
            sum += (uint64_t)stats.st_ino + (uint64_t)stats.st_mtim.tv_sec * 1000000000 +
                   (uint64_t)stats.st_mtim.tv_nsec;
    globfree(&found);
    return sum;
}

/* Before its handler stands a signal would end a program without a word. */
static bool catches_interrupts(pid_t pid)
{
    char path[64];
    char line[256];
    unsigned long long caught = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *const in = fopen(path, "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (strncmp(line, "SigCgt:", 7) == 0)
            caught = strtoull(line + 7, NULL, 16);
    if (in != NULL)
        (void)fclose(in);
    return (caught >> (SIGINT - 1) & 1) != 0;
}

static bool is_time_to_interrupt(struct watch *watch, const struct process_plan *plan)
{
    bool const may_be = plan->interrupt_when != NULL || plan->interrupt_said != NULL ||
                        plan->interrupt_after_ms > 0;
    if (may_be && watch->caught_ms == 0 && catches_interrupts(watch->pid))
        watch->caught_ms = now_ms();
    if (watch->caught_ms == 0)
        return false;
    return (plan->interrupt_after_ms > 0 &&
            now_ms() - watch->caught_ms >= plan->interrupt_after_ms) ||
           (plan->interrupt_said != NULL &&
            strstr(watch->err.text, plan->interrupt_said) != NULL) ||
           look_at_files(plan->interrupt_when) != watch->files;
}

static void read_both(struct watch *watch)
{
    struct pollfd ends[] = {{.fd = watch->out.handle, .events = POLLIN},
                            {.fd = watch->err.handle, .events = POLLIN}};
    (void)poll(ends, 2, POLL_MS);
    if (ends[0].revents != 0)
        stream_read(&watch->out);
    if (ends[1].revents != 0)
        stream_read(&watch->err);
}

static void keep_time(struct watch *watch, const struct process_plan *plan)
{
    uint32_t const timeout_ms = plan->timeout_ms == 0 ? TIMEOUT_MS_DEFAULT : plan->timeout_ms;
    uint64_t const passed_ms = now_ms() - watch->started_ms;
    if (!watch->interrupted && is_time_to_interrupt(watch, plan)) {
        watch->interrupted = true;
        watch->marked_ms = now_ms();
        (void)kill(watch->pid, plan->kills ? SIGKILL : SIGINT);
    }
    if (!watch->timed_out && passed_ms >= timeout_ms) {
        watch->timed_out = true;
        (void)kill(watch->pid, SIGKILL);
    }
}

struct process_result process_run(const struct process_plan *plan)
{
    int out[2];
    int err[2];
    int state;
    uint64_t const files = look_at_files(plan->interrupt_when);
    make_pipe(out);
    if (plan->terminal)
        make_terminal(err);
    else
        make_pipe(err);
    struct watch watch = {.files = files,
                          .pid = start(plan, out[1], err[1]),
                          .out = stream_make(out[0]),
                          .err = stream_make(err[0]),
                          .started_ms = now_ms()};
    watch.marked_ms = watch.started_ms;
    (void)close(out[1]);
    (void)close(err[1]);
    while (watch.out.handle >= 0 || watch.err.handle >= 0) {
        read_both(&watch);
        keep_time(&watch, plan);
    }
    if (waitpid(watch.pid, &state, 0) != watch.pid)
        give_up("wait for the program");
    return (struct process_result){.code = WIFEXITED(state) ? WEXITSTATUS(state)
                                                            : 128 + WTERMSIG(state),
                                   .timed_out = watch.timed_out,
                                   .ended_ms = (uint32_t)(now_ms() - watch.marked_ms),
                                   .out = watch.out.text,
                                   .out_size = watch.out.size,
                                   .err = watch.err.text,
                                   .err_size = watch.err.size};
}

/* ---- Small things ---- */

const char *process_tacit(void)
{
    char const *const path = getenv("TACIT_PROGRAM");
    return path == NULL || *path == '\0' ? "build/tacit" : path;
}

size_t process_line_count(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text += *text == '\n' ? 1 : 0) {
        text += strcspn(text, "\n");
        count++;
    }
    return count;
}

struct process_result process_tacit_run(struct process_plan plan, const char *const *words)
{
    const char *arguments[64] = {process_tacit()};
    for (size_t i = 0; words[i] != NULL; i++) {
        assert_true(i < 62);
        arguments[i + 1] = words[i];
    }
    plan.arguments = arguments;
    struct process_result const result = process_run(&plan);
    assert_false(result.timed_out);
    return result;
}

char *process_expect(struct process_result result, int code, const char *const *words)
{
    if (result.code != code)
        fail_msg("code %d, not %d: %s%s", result.code, code, result.out, result.err);
    for (; *words != NULL; words++)
        if (strstr(result.out, *words) == NULL && (code == 0 || strstr(result.err, *words) == NULL))
            fail_msg("'%s' is not in: %s%s", *words, result.out, result.err);
    return result.out;
}

/* A command on the site's data. Between fork and exec only calls that are safe there. */
#include "command.h"
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_DESCRIPTOR 3u
#define CODE_NOT_RUN 127
#define READ_BYTES 4096u
#define READS_MAX 16u /* at once, as much as a pipe holds: it may say more than we can write */

struct live_command {
    struct live_loop *loop;
    live_command_ended *ended;
    void *context;
    pid_t process;
    int process_descriptor;
    int pipe;
    int log;
    uint64_t said_bytes;
};

/* What the child needs, made before it is forked. */
struct child {
    const char **argv;
    const char *directory;
    const struct passwd *user;
    const struct live_command_config *config;
    pid_t parent;
    int output;
};

uint32_t live_command_user(const char *name)
{
    struct passwd const *const user = name == NULL ? NULL : getpwnam(name);
    return user == NULL ? UINT32_MAX : user->pw_uid;
}

/* ---- The child ---- */

static bool set_limit(int what, uint64_t value)
{
    struct rlimit const limit = {value, value};
    return setrlimit((unsigned)what, &limit) == 0;
}

static bool become(const struct passwd *user)
{
    return user == NULL ||
           (setgroups(0, NULL) == 0 && setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0);
}

static bool redirect_output(int output)
{
    int const nothing = open("/dev/null", O_RDONLY);
    return nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
           dup2(output, STDERR_FILENO) >= 0;
}

_Noreturn static void be_child(const struct child *child)
{
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    static char locale[] = "LC_ALL=C.UTF-8";
    static char threads[] = "OMP_NUM_THREADS=1";
    char *const environment[] = {path, locale, threads, NULL};
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)umask(S_IRWXG | S_IRWXO);
    bool is_good = setpgid(0, 0) == 0 && redirect_output(child->output) &&
                   set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_AS, child->config->memory_bytes) &&
                   set_limit(RLIMIT_CPU, child->config->cpu_s) &&
                   set_limit(RLIMIT_FSIZE, child->config->file_bytes) && become(child->user) &&
                   chdir(child->directory) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                   prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == child->parent &&
                   close_range(FIRST_DESCRIPTOR, ~0u, 0) == 0;
    if (is_good)
        (void)execve(child->argv[0], (char *const *)(uintptr_t)child->argv, environment);
    _exit(CODE_NOT_RUN);
}

/* ---- What it says ---- */

/* What is there, into the log's ring, the rest in the next round; at its end the pipe is closed. */
static void read_output(struct live_command *command)
{
    char part[READ_BYTES];
    ssize_t got = 1;
    for (unsigned i = 0; i < READS_MAX && (got = read(command->pipe, part, sizeof part)) > 0; i++) {
        for (ssize_t at = 0; at < got;) {
            uint64_t const place = command->said_bytes % LIVE_COMMAND_LOG_BYTES;
            uint64_t const room = LIVE_COMMAND_LOG_BYTES - place;
            size_t const size = (size_t)(got - at) < room ? (size_t)(got - at) : (size_t)room;
            if (command->log >= 0 && pwrite(command->log, part + at, size, (off_t)place) < 0) {
                (void)close(command->log); /* the disk is full: the training matters more */
                command->log = -1;
            }
            command->said_bytes += size;
            at += (ssize_t)size;
        }
    }
    if (got == 0) {
        live_loop_forget(command->loop, command->pipe);
        (void)close(command->pipe);
        command->pipe = -1;
    }
}

static void on_output(void *context, uint32_t epoll_events)
{
    (void)epoll_events;
    read_output(context);
}

/* ---- Its end ---- */

/* Kills it and its children; while it is not reaped nobody else has its number. Result: its wait
 * status. */
static int reap(struct live_command *command)
{
    int code = 0;
    (void)kill(-command->process, SIGKILL);
    (void)kill(command->process, SIGKILL);
    while (waitpid(command->process, &code, 0) < 0)
        ;
    command->process = 0;
    return code;
}

/* `ended` may free the command: nothing of it is used afterwards. */
static void on_end(void *context, uint32_t epoll_events)
{
    struct live_command *const command = context;
    siginfo_t info = {0};
    (void)epoll_events;
    if (command->process == 0 ||
        waitid(P_PID, (id_t)command->process, &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
        info.si_pid == 0)
        return;
    live_loop_forget(command->loop, command->process_descriptor);
    int const code = reap(command);
    if (command->pipe >= 0)
        read_output(command);
    bool const has_ended = WIFEXITED(code);
    command->ended(command->context, has_ended && WEXITSTATUS(code) == 0 ? LIVE_COMMAND_DONE
                                     : has_ended && WEXITSTATUS(code) == LIVE_COMMAND_LATER
                                         ? LIVE_COMMAND_NOT_NOW
                                         : LIVE_COMMAND_FAILED);
}

void live_command_free(struct live_command *command)
{
    if (command == NULL)
        return;
    if (command->process_descriptor >= 0) {
        live_loop_forget(command->loop, command->process_descriptor);
        (void)close(command->process_descriptor);
    }
    if (command->process != 0)
        (void)reap(command);
    if (command->pipe >= 0) {
        live_loop_forget(command->loop, command->pipe);
        (void)close(command->pipe);
    }
    if (command->log >= 0)
        (void)close(command->log);
    free(command);
}

/* ---- Start ---- */

static const char **argv_of(const struct live_command_config *config, const char *directory)
{
    size_t count = 0;
    while (config->argv[count] != NULL)
        count++;
    const char **const argv = calloc(count + 2, sizeof *argv);
    if (argv == NULL)
        return NULL;
    memcpy(argv, config->argv, count * sizeof *argv);
    argv[count] = directory;
    return argv;
}

/* Errors: the child runs, or will; live_command_free ends it. */
static enum tacit_status watch(struct live_command *command)
{
    command->process_descriptor = (int)syscall(SYS_pidfd_open, command->process, 0);
    if (command->process_descriptor < 0)
        return TACIT_IO;
    TACIT_TRY(live_loop_watch(command->loop, command->pipe, EPOLLIN, on_output, command));
    return live_loop_watch(command->loop, command->process_descriptor, EPOLLIN, on_end, command);
}

static enum tacit_status fork_child(struct live_command *command, const struct child *prepared)
{
    struct child child = *prepared;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return TACIT_IO;
    (void)signal(SIGCHLD, SIG_DFL); /* ignored by who started us, its end would be nobody's */
    child.output = ends[1];
    child.parent = getpid();
    command->pipe = ends[0];
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    command->process = fork();
    if (command->process == 0)
        be_child(&child);
    (void)close(ends[1]);
    if (command->process < 0) {
        command->process = 0;
        return TACIT_IO;
    }
    return watch(command);
}

enum tacit_status live_command_start(struct live_command **command, struct live_loop *loop,
                                     const struct live_command_config *config,
                                     const char *directory, const char *log,
                                     live_command_ended *ended, void *context)
{
    struct passwd const *const user = config->user == NULL ? NULL : getpwnam(config->user);
    struct live_command *const made = calloc(1, sizeof *made);
    const char **const argv = argv_of(config, directory);
    TACIT_ASSERT(config->argv[0] != NULL && ended != NULL);
    enum tacit_status status = made == NULL || argv == NULL ? TACIT_MEMORY : TACIT_OK;
    if (status == TACIT_OK) {
        struct child const child = {
            .argv = argv, .directory = directory, .user = user, .config = config};
        *made = (struct live_command){
            .loop = loop, .ended = ended, .context = context, .process_descriptor = -1, .pipe = -1};
        made->log = open(log, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
        status = config->user != NULL && user == NULL ? TACIT_IO : fork_child(made, &child);
    }
    free(argv);
    if (status == TACIT_OK)
        *command = made;
    else if (made != NULL)
        live_command_free(made);
    return status;
}

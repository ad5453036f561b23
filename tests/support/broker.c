/* fork and exec, so that the kernel can be told to end the broker with us, however we end. */
#include "broker.h"
#include "../../src/live/bus/broker_config.h"
#include "../../src/live/daemon/names.h"
#include "../../src/live/pki/pki.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SITES_MAX 64u
#define PAUSE_MS 5
#define STARTING_MS_MAX 60000
#define STOPPING_MS_MAX 60000

static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "broker: cannot %s: %s\n", what, why);
    abort();
}

static void pause_a_little(void)
{
    struct timespec const time = {.tv_nsec = PAUSE_MS * 1000000L};
    (void)nanosleep(&time, NULL);
}

/* ---- What is installed ---- */

const char *broker_program(const char *name)
{
    static char path[TEMP_PATH_BYTES];
    char places[TEMP_PATH_BYTES];
    const char *const known = getenv("PATH");
    (void)snprintf(places, sizeof places, "%s:/usr/sbin:/usr/local/sbin:/sbin",
                   known == NULL ? "/usr/bin:/bin" : known);
    char *rest = NULL;
    for (char *place = strtok_r(places, ":", &rest); place != NULL;
         place = strtok_r(NULL, ":", &rest)) {
        temp_path(path, place, name);
        if (access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

bool broker_is_possible(void)
{
    static const char *const programs[] = {"mosquitto", "openssl"};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (broker_program(programs[i]) == NULL) {
            fprintf(stderr, "skipped: %s is not installed\n", programs[i]);
            return false;
        }
    return true;
}

/* ---- Ports ---- */

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* Below those that the system gives to whoever connects, and claimed by a name, as in
 * examples/live/federation.py, until this program ends. */
static uint16_t claim_port(void)
{
    for (uint16_t port = (uint16_t)(20000 + getpid() % 12000);;
         port = port < 31999 ? port + 1 : 20000) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        int const size =
            snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tacit port %u", port);
        int const claim = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in const address = loopback(port);
        int const probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (claim < 0 || probe < 0)
            give_up("find a free port", strerror(errno));
        bool const is_mine =
            bind(claim, (const struct sockaddr *)&name,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)size)) == 0 &&
            bind(probe, (const struct sockaddr *)&address, sizeof address) == 0;
        (void)close(probe);
        if (is_mine)
            return port;
        (void)close(claim);
    }
}

static bool is_listening(uint16_t port)
{
    struct sockaddr_in const address = loopback(port);
    int const handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool const is_there =
        handle >= 0 && connect(handle, (const struct sockaddr *)&address, sizeof address) == 0;
    if (handle >= 0)
        (void)close(handle);
    return is_there;
}

/* ---- Files ---- */

void broker_file(const struct broker *broker, char path[TEMP_PATH_BYTES], const char *name,
                 const char *ending)
{
    char file[128];
    (void)snprintf(file, sizeof file, "%s%s", name, ending);
    temp_path(path, broker->pki, file);
}

static void make_certificates(const struct broker *broker, const char *const *sites,
                              size_t site_count)
{
    struct tacit_error error;
    const char *names[SITES_MAX + 2];
    if (site_count > SITES_MAX)
        give_up("serve so many sites", "SITES_MAX");
    memcpy(names, sites, site_count * sizeof *names);
    names[site_count] = LIVE_COORDINATOR;
    names[site_count + 1] = LIVE_BROKER;
    struct live_pki_config const config = {
        .directory = broker->pki, .names = names, .name_count = site_count + 2, .days = 2};
    if (live_pki_make(&config, &error) != TACIT_OK)
        give_up("make certificates", error.text);
}

/* Root must say that it wants to stay root: only it can read the keys it made. */
static void write_config(const struct broker *broker, const char *federation,
                         const char *const *sites, size_t site_count)
{
    struct tacit_error error;
    char certificate[TEMP_PATH_BYTES];
    char key[TEMP_PATH_BYTES];
    broker_file(broker, certificate, LIVE_BROKER, ".crt");
    broker_file(broker, key, LIVE_BROKER, ".key");
    const struct passwd *const user = geteuid() == 0 ? getpwuid(0) : NULL;
    static char longest[65]; /* the longest word that is allowed */
    memset(longest, 'x', sizeof longest - 1);
    const char *const words[] = {"report", "order", "epoch", "chain", "n", "x", longest};
    struct live_broker_config const config = {.directory = broker->directory,
                                              .federation = federation,
                                              .sites = sites,
                                              .site_count = site_count,
                                              .protocols = words,
                                              .protocol_count = sizeof words / sizeof words[0],
                                              .address = BROKER_HOST,
                                              .port = broker->port,
                                              .ca_file = broker->ca_file,
                                              .certificate_file = certificate,
                                              .key_file = key,
                                              .persistence_directory = broker->persistence,
                                              .user = user == NULL ? NULL : user->pw_name};
    if (live_broker_config_write(&config, &error) != TACIT_OK)
        give_up("write the configuration", error.text);
}

void broker_start(struct broker *broker, const char *directory, const char *federation,
                  const char *const *sites, size_t site_count)
{
    *broker = (struct broker){.port = claim_port()};
    (void)snprintf(broker->directory, sizeof broker->directory, "%s", directory);
    temp_path(broker->pki, directory, "pki");
    temp_path(broker->ca_file, broker->pki, "ca.crt");
    temp_path(broker->persistence, directory, "persistence");
    if (mkdir(broker->persistence, 0700) != 0 && errno != EEXIST)
        give_up("make a directory", strerror(errno));
    make_certificates(broker, sites, site_count);
    write_config(broker, federation, sites, site_count);
    broker_run(broker);
}

/* ---- The process ---- */

static _Noreturn void become_broker(const struct broker *broker, const char *program)
{
    char config[TEMP_PATH_BYTES];
    char log[TEMP_PATH_BYTES];
    temp_path(config, broker->directory, "mosquitto.conf");
    temp_path(log, broker->directory, "mosquitto.log");
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int const out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int const in = open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        _exit(126);
    (void)execl(program, program, "-c", config, (char *)NULL);
    _exit(127);
}

static bool is_over(struct broker *broker)
{
    if (waitpid(broker->pid, NULL, WNOHANG) == 0)
        return false;
    broker->pid = 0;
    return true;
}

void broker_run(struct broker *broker)
{
    const char *const program = broker_program("mosquitto");
    if (program == NULL)
        give_up("start", "mosquitto is not installed");
    broker->pid = fork();
    if (broker->pid < 0)
        give_up("fork", strerror(errno));
    if (broker->pid == 0)
        become_broker(broker, program);
    for (int waited_ms = 0; !is_listening(broker->port); waited_ms += PAUSE_MS) {
        if (is_over(broker) || waited_ms > STARTING_MS_MAX)
            give_up("start; see mosquitto.log in", broker->directory);
        pause_a_little();
    }
}

void broker_kill(struct broker *broker)
{
    if (broker->pid == 0)
        return;
    (void)kill(broker->pid, SIGKILL);
    (void)waitpid(broker->pid, NULL, 0);
    broker->pid = 0;
}

void broker_stop(struct broker *broker)
{
    if (broker->pid == 0)
        return;
    (void)kill(broker->pid, SIGTERM);
    for (int waited_ms = 0; waited_ms < STOPPING_MS_MAX; waited_ms += PAUSE_MS) {
        if (is_over(broker))
            return;
        pause_a_little();
    }
    broker_kill(broker);
}

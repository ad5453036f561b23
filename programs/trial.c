/* tacit trial: the files of a federation of three sites on one machine, to be tried at once. */
#include "commands.h"
#include "../src/live/pki/signing.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT_DEFAULT 8883u
#define SITE_COUNT 3u
#define SITES "north", "south", "east"
#define ARMS "[letter, call, nothing]"

struct request {
    const char *directory;
    uint32_t port;
    bool has_helper;
    char trust[160]; /* `trust: {..}` of run and policy; empty: one aggregator */
    char hub[LIVE_FINGERPRINT_BYTES];
};

/* What runs is what wrote the files: its own path, unless a shell would read that as more. */
static const char *own_program(void)
{
    static char path[PATH_MAX];
    ssize_t const size = readlink("/proc/self/exe", path, sizeof path - 1);
    path[size < 0 ? 0 : size] = '\0';
    return size <= 0 || strchr(path, '\'') != NULL ? "tacitd" : path;
}

static void write_coordinator(FILE *out, const struct request *request)
{
    (void)fprintf(out,
                  "# The hub of a trial (all keys: tacit help keys coordinator).\n"
                  "federation: trial\n"
                  "state: state-coordinator\n"
                  "broker: {host: 127.0.0.1, port: %u, ca: pki/ca.crt, certificate: "
                  "pki/coordinator.crt, key: pki/coordinator.key}\n"
                  "sites: [north, south, east]\n"
                  "arms: " ARMS "\n"
                  "%s"
                  "run: {horizon: 100000, epsilon: 1, %squorum: 2, deadline_s: 600%s}\n"
                  "status: {unix: coordinator.sock}\n",
                  request->port, request->has_helper ? "protocol: phased-index\n" : "",
                  request->has_helper ? "" : "rounds: 4, gap: 0.1, ", request->trust);
}

static void write_site(FILE *out, const struct request *request, const char *site)
{
    (void)fprintf(out,
                  "# A site of a trial (all keys: tacit help keys agent).\n"
                  "federation: trial\n"
                  "site: %s\n"
                  "state: state-%s\n"
                  "broker: {host: 127.0.0.1, port: %u, ca: pki/ca.crt, certificate: pki/%s.crt, "
                  "key: pki/%s.key}\n"
                  "arms: " ARMS "\n"
                  "%s"
                  "policy: {epsilon: 1, budget: 1, range: [0, 1], agents_max: 10, rounds_max: %u, "
                  "pulls_max: 100000%s}\n"
                  "api: {unix: %s.sock}\n",
                  site, site, request->port, site, site,
                  request->has_helper ? "protocol: phased-index\n" : "",
                  request->has_helper ? 1000u : 40u, request->trust, site);
}

static void write_helper(FILE *out, const struct request *request)
{
    (void)fprintf(out,
                  "# The second aggregator of a trial (docs/helper.md): on a machine of its own.\n"
                  "federation: trial\n"
                  "state: state-helper\n"
                  "broker: {host: 127.0.0.1, port: %u, ca: pki/ca.crt, certificate: "
                  "pki/helper.crt, key: pki/helper.key}\n"
                  "hub: %s\n"
                  "epsilon: 1\n"
                  "status: {unix: helper.sock}\n",
                  request->port, request->hub);
}

static void write_functions(FILE *out)
{
    (void)fprintf(
        out,
        "#!/bin/sh\n"
        "# Starts the broker, the coordinator and the sites of this folder, or stops them: "
        "federation.sh start|stop\n"
        "set -eu\n"
        "cd \"$(dirname \"$0\")\"\n"
        "tacitd='%s'\n"
        "PATH=$PATH:/usr/sbin\n"
        "launch() {\n"
        "    name=$1\n"
        "    shift\n"
        "    \"$@\" >>\"$name.log\" 2>&1 &\n"
        "    echo $! >>pids\n"
        "}\n"
        "# After a restart of the machine the number of one that was started here may be "
        "another's.\n"
        "is_ours() {\n"
        "    kill -0 $1 2>/dev/null || return 1\n"
        "    [ ! -r /proc/$1/cmdline ] || tr '\\0' ' ' </proc/$1/cmdline |\n"
        "        grep -q -e ' --config [a-z]*\\.yaml ' -e ' -c broker/mosquitto\\.conf '\n"
        "}\n",
        own_program());
}

/* It ends when all sites have joined, so that the first decision counts. */
static void write_script(FILE *out)
{
    write_functions(out);
    (void)fputs(
        "case ${1-} in\n"
        "start)\n"
        "    for process in $(cat pids 2>/dev/null); do\n"
        "        is_ours $process || continue\n"
        "        echo 'it is running; stop it first: federation.sh stop' >&2\n"
        "        exit 1\n"
        "    done\n"
        "    rm -f pids\n"
        "    command -v mosquitto >/dev/null || { echo 'mosquitto is not installed' >&2; exit 1; "
        "}\n"
        "    launch broker mosquitto -c broker/mosquitto.conf\n"
        "    launch coordinator \"$tacitd\" coordinator --config coordinator.yaml\n"
        "    for site in north south east; do\n"
        "        launch $site \"$tacitd\" agent --config $site.yaml\n"
        "    done\n"
        "    if [ -e helper.yaml ]; then\n"
        "        launch helper \"$tacitd\" helper --config helper.yaml\n"
        "        seconds=0\n"
        "        until [ -e state-helper/helper.offer ] ||\n"
        "            \"$tacitd\" status --config north.yaml >/dev/null 2>&1; do\n"
        "            seconds=$((seconds + 1))\n"
        "            [ $seconds -le 60 ] || { echo 'no run is offered to the helper' >&2; exit 1; "
        "}\n"
        "            sleep 1\n"
        "        done\n"
        "        exit 0\n"
        "    fi\n"
        "    for site in north south east; do\n"
        "        seconds=0\n"
        "        until \"$tacitd\" status --config $site.yaml >status.txt 2>&1; do\n"
        "            seconds=$((seconds + 1))\n"
        "            [ $seconds -le 60 ] || { cat status.txt; exit 1; } >&2\n"
        "            sleep 1\n"
        "        done\n"
        "    done\n"
        "    rm status.txt\n"
        "    ;;\n"
        "stop)\n"
        "    [ -e pids ] || exit 0\n"
        "    for process in $(cat pids); do\n"
        "        ! is_ours $process || kill $process 2>/dev/null || true\n"
        "    done\n"
        "    tries=0\n"
        "    for process in $(cat pids); do\n"
        "        while is_ours $process && [ $tries -le 100 ]; do\n"
        "            tries=$((tries + 1))\n"
        "            sleep 0.1\n"
        "        done\n"
        "    done\n"
        "    rm -f pids\n"
        "    ;;\n"
        "*)\n"
        "    echo 'usage: federation.sh start|stop' >&2\n"
        "    exit 2\n"
        "    ;;\n"
        "esac\n",
        out);
}

/* ---- Writing ----------------------------------------------------------------------------------
 */

static _Noreturn void refuse_file(const char *path)
{
    (void)fprintf(stderr, "tacit trial: cannot write %s: %s\n", path, strerror(errno));
    exit(EXIT_FAILED);
}

/* Ends the program where the path is too long; as the functions below where they fail. */
static void path_inside(const struct command *command, const struct request *request,
                        const char *name, char path[PATH_MAX])
{
    int const size = snprintf(path, PATH_MAX, "%s/%s", request->directory, name);
    if (size < 0 || size >= PATH_MAX)
        command_refuse(command, "the path of the folder is too long");
}

static FILE *open_file(const struct command *command, const struct request *request,
                       const char *name)
{
    char path[PATH_MAX];
    path_inside(command, request, name, path);
    FILE *const file = fopen(path, "wx");
    if (file == NULL)
        refuse_file(path);
    return file;
}

static void close_file(FILE *file, const char *name)
{
    bool const is_written = ferror(file) == 0;
    if (fclose(file) != 0 || !is_written)
        refuse_file(name);
}

static void write_files(const struct command *command, const struct request *request)
{
    static const char *const sites[SITE_COUNT] = {SITES};
    char name[32];
    FILE *file = open_file(command, request, "coordinator.yaml");
    write_coordinator(file, request);
    close_file(file, "coordinator.yaml");
    for (size_t i = 0; i < SITE_COUNT; i++) {
        (void)snprintf(name, sizeof name, "%s.yaml", sites[i]);
        file = open_file(command, request, name);
        write_site(file, request, sites[i]);
        close_file(file, name);
    }
    if (request->has_helper) {
        file = open_file(command, request, "helper.yaml");
        write_helper(file, request);
        close_file(file, "helper.yaml");
    }
    file = open_file(command, request, "federation.sh");
    write_script(file);
    close_file(file, "federation.sh");
}

static void read_fingerprint(const struct command *command, const struct request *request,
                             const char *name, char text[LIVE_FINGERPRINT_BYTES])
{
    char path[PATH_MAX];
    uint8_t key[32];
    path_inside(command, request, name, path);
    if (!live_key_read(path, key))
        command_refuse(command, "cannot read %s", path);
    live_key_fingerprint(key, text);
}

/* Certificates, by the command that makes them; and what the files say of their keys. */
static int make_pki(const struct command *command, struct request *request)
{
    char pki[PATH_MAX];
    char helper[LIVE_FINGERPRINT_BYTES];
    path_inside(command, request, "pki", pki);
    char *const pki_words[] = {"pki", "--directory", pki, SITES, "helper", NULL};
    int const count = 3 + (int)SITE_COUNT + (request->has_helper ? 1 : 0);
    int const code = command_pki.run(&command_pki, count, (char **)pki_words);
    if (code != EXIT_DONE || !request->has_helper)
        return code;
    read_fingerprint(command, request, "pki/coordinator.sign.crt", request->hub);
    read_fingerprint(command, request, "pki/helper.sign.crt", helper);
    (void)snprintf(request->trust, sizeof request->trust, ", trust: {aggregators: 2, helper: %s}",
                   helper);
    return code;
}

/* The broker's files, likewise. */
static int make_broker(const struct command *command, const struct request *request)
{
    char pki[PATH_MAX];
    char broker[PATH_MAX];
    char coordinator[PATH_MAX];
    char port[16];
    path_inside(command, request, "pki", pki);
    path_inside(command, request, "broker", broker);
    path_inside(command, request, "coordinator.yaml", coordinator);
    (void)snprintf(port, sizeof port, "%u", request->port);
    char *const broker_words[] = {
        "broker-config", "--directory", broker, "--coordinator", coordinator, "--pki", pki,
        "--port",        port,          NULL};
    if (mkdir(broker, S_IRWXU) != 0)
        refuse_file(broker);
    return command_broker_config.run(&command_broker_config, 9, (char **)broker_words);
}

static void print_next_steps(const struct request *request)
{
    char const *const d = request->directory;
    (void)printf("%s is a federation of three sites (north, south, east)%s on this machine.\n"
                 "Start it:          sh %s/federation.sh start\n"
                 "Ask for a decision: curl --unix-socket %s/north.sock -X POST "
                 "http://localhost/v1/decisions -d '{}'\n"
                 "See how it is:     %s status --config %s/coordinator.yaml\n"
                 "Stop it:           sh %s/federation.sh stop\n",
                 d, request->has_helper ? " and a helper" : "", d, d, program_name, d, d);
    if (request->has_helper)
        (void)printf("Before a decision:  %s helper agree %s/state-helper\n", program_name, d);
}

static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'p')
        request->port = command_number(command, "port", value, UINT16_MAX);
    else if (key == 'H')
        request->has_helper = true;
    else if (key == COMMAND_OPERAND && request->directory == NULL)
        request->directory = value;
    else if (key == COMMAND_OPERAND || request->directory == NULL)
        command_refuse_usage(command, "one folder is needed and nothing else");
}

static int trial_command(const struct command *command, int argc, char **argv)
{
    struct request request = {.port = PORT_DEFAULT};
    command_parse(command, &request, argc, argv);
    if (mkdir(request.directory, S_IRWXU) != 0)
        command_refuse(command, "cannot make %s: %s; allowed: a folder that is not there yet",
                       request.directory, strerror(errno));
    int code = make_pki(command, &request);
    if (code == EXIT_DONE) {
        write_files(command, &request);
        code = make_broker(command, &request);
    }
    if (code == EXIT_DONE)
        print_next_steps(&request);
    return code;
}

static const struct argp_option options[] = {
    {"port", 'p', "P", 0, "The broker's port on 127.0.0.1 (default: 8883)", 0},
    {"helper", 'H', NULL, 0, "With a second aggregator (docs/helper.md)", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_trial = {
    .name = "trial",
    .summary = "make a federation of three sites to try on this machine",
    .options = options,
    .operands = "DIR",
    .help = "Makes a new folder with the files of a coordinator and three sites, their "
            "certificates, the broker's configuration, and a script that starts and stops them, "
            "and says how to go on.",
    .parse = parse,
    .run = trial_command,
};

/* tacit pki, tacit broker-config: what a trial federation needs before its daemons start. */
#include "commands.h"
#include "../src/families/live_family.h"
#include "../src/live/bus/broker_config.h"
#include "../src/live/daemon/names.h"
#include "../src/live/pki/pki.h"
#include "../src/live/site.h"
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 4096u
#define HOSTS_MAX 64u
#define DAYS 365u

struct pki_request {
    struct live_pki_config config;
    const char *names[NAMES_MAX + 2];
    const char *hosts[HOSTS_MAX];
    bool revokes;
};

static void check_pki(const struct command *command, const struct pki_request *request)
{
    struct live_pki_config const *const config = &request->config;
    if (config->directory == NULL)
        command_refuse_usage(command, "--directory is missing");
    if (config->name_count == 2)
        command_refuse_usage(command, "no site is named");
    if (request->revokes && (config->days != 0 || config->broker_host_count > 0))
        command_refuse_usage(command, "revoke takes neither --days nor --host");
}

static void parse_pki(const struct command *command, void *into, int key, char *value)
{
    struct pki_request *const request = into;
    struct live_pki_config *const config = &request->config;
    switch (key) {
    case 'd':
        config->directory = value;
        break;
    case 'y':
        config->days = command_number(command, "days", value, LIVE_PKI_DAYS_MAX);
        break;
    case 'H':
        if (config->broker_host_count == HOSTS_MAX)
            command_refuse_usage(command, "--host is given too often; 64 times is allowed");
        request->hosts[config->broker_host_count++] = value;
        break;
    case COMMAND_OPERAND:
        if (config->name_count == NAMES_MAX + 2)
            command_refuse_usage(command, "too many sites; 4096 are allowed in one call");
        request->names[config->name_count++] = value;
        break;
    default:
        check_pki(command, request);
    }
}

static const struct argp_option pki_options[] = {
    {"directory", 'd', "DIR", 0, "Where the CA and the certificates lie", 0},
    {"days", 'y', "N", 0, "How long new certificates hold (default: 365)", 0},
    {"host", 'H', "NAME", 0, "A host name or address of the broker; may be given often", 0},
    COMMAND_LAST_OPTIONS};

static int pki_command(const struct command *command, int argc, char **argv)
{
    static struct pki_request request = {.names = {LIVE_BROKER, LIVE_COORDINATOR},
                                         .config.name_count = 2};
    struct live_pki_config *const config = &request.config;
    struct tacit_error error = {""};
    config->names = request.names;
    config->broker_hosts = request.hosts;
    request.revokes = argc > 1 && strcmp(argv[1], "revoke") == 0;
    command_parse(command, &request, argc - request.revokes, argv + request.revokes);
    if (request.revokes)
        return command_report(
            NULL,
            live_pki_revoke(config->directory, config->names + 2, config->name_count - 2, &error),
            &error);
    config->days = config->days == 0 ? DAYS : config->days;
    return command_report(NULL, live_pki_make(config, &error), &error);
}

const struct command command_pki = {
    .name = "pki",
    .summary = "make a private CA and certificates for a trial",
    .options = pki_options,
    .operands = "--directory=DIR SITE...\nrevoke --directory=DIR SITE...",
    .help =
        "Makes a private CA and certificates for the broker, the coordinator and the sites: for "
        "trials. What is there already stays; call it again to add sites. revoke: puts the "
        "certificates of these sites on the list DIR/ca.crl and removes them and their keys; "
        "then restart the broker.",
    .parse = parse_pki,
    .run = pki_command,
};

/* "directory/file" in memory that lives as long as the program; "directory" if there is no file.
 * Whole, because the broker runs in another folder than we do. */
static const char *whole_path(const char *directory, const char *file)
{
    static char *kept[8]; /* no leak */
    static size_t kept_count;
    char *const here = directory[0] == '/' ? strdup("") : getcwd(NULL, 0);
    char *path = NULL;
    if (here == NULL || asprintf(&path, "%s%s%s%s%s", here, *here == '\0' ? "" : "/", directory,
                                 *file == '\0' ? "" : "/", file) < 0) {
        perror("tacit: a path from here");
        exit(EXIT_FAILED);
    }
    free(here);
    if (kept_count < sizeof kept / sizeof kept[0])
        kept[kept_count++] = path;
    return path;
}

#define PROTOCOLS_MAX 64u

struct broker_request {
    struct live_broker_config config;
    const char *protocols[PROTOCOLS_MAX];
    const char *names[NAMES_MAX];
    const char *pki;
    const char *coordinator;
    const char *guard;
};

static void check_broker(const struct command *command, const struct broker_request *request)
{
    struct live_broker_config const *const config = &request->config;
    bool const is_named = request->coordinator != NULL;
    if (config->directory == NULL)
        command_refuse_usage(command, "--directory is missing");
    if (is_named && config->federation != NULL)
        command_refuse_usage(command, "--coordinator says what the federation is; --federation is "
                                      "not allowed");
    if (is_named && config->site_count > 0)
        command_refuse_usage(command,
                             "--coordinator says which sites there are; none may be named");
    if (!is_named && config->federation == NULL)
        command_refuse_usage(command, "--federation is missing");
    if (!is_named && config->site_count == 0)
        command_refuse_usage(command, "no site is named");
}

static void parse_broker(const struct command *command, void *into, int key, char *value)
{
    struct broker_request *const request = into;
    struct live_broker_config *const config = &request->config;
    switch (key) {
    case 'd':
        config->directory = value;
        break;
    case 'f':
        config->federation = value;
        break;
    case 'k':
        request->pki = value;
        break;
    case 'a':
        config->address = value;
        break;
    case 'p':
        config->port = (uint16_t)command_number(command, "port", value, UINT16_MAX);
        break;
    case 's':
        config->persistence_directory = value;
        break;
    case 'u':
        config->user = value;
        break;
    case 'c':
        request->coordinator = value;
        break;
    case 'g':
        request->guard = value;
        break;
    case COMMAND_OPERAND:
        if (config->site_count == NAMES_MAX)
            command_refuse_usage(command, "too many sites; 4096 are allowed");
        request->names[config->site_count++] = value;
        break;
    default:
        check_broker(command, request);
    }
}

/* Those of all protocols that are live; or of the one that a coordinator's file is about. */
static void select_protocols(struct broker_request *request, struct live_broker_config *config,
                             const char *only)
{
    struct live_family const *const *const families = live_families();
    for (size_t i = 0; families[i] != NULL; i++) {
        TACIT_ASSERT(i < PROTOCOLS_MAX);
        bool const is_wanted = only == NULL || strcmp(families[i]->file.name, only) == 0;
        if (is_wanted)
            request->protocols[config->protocol_count++] = families[i]->site->wire->name;
    }
    config->protocols = request->protocols;
}

/* Federation, sites, graph and protocol of a coordinator's file. They stay for as long as the
 * program. */
static enum tacit_status load_coordinator(struct broker_request *request,
                                          struct live_broker_config *config,
                                          struct tacit_error *error)
{
    static struct tacit_config_daemon *daemon;
    static struct tacit_network *network;
    enum tacit_status status = tacit_config_daemon_load(
        &daemon, TACIT_CONFIG_COORDINATOR, live_family_files(), request->coordinator, error);
    struct tacit_config_coordinator const *const coordinator = (const void *)daemon;
    if (status == TACIT_OK)
        status = tacit_network_new(&network, &coordinator->network, TACIT_NETWORK_FULL, error);
    if (status != TACIT_OK)
        return status;
    config->federation = daemon->federation;
    config->sites = coordinator->sites;
    config->site_count = coordinator->site_count;
    config->has_helper = coordinator->trust.has_helper;
    config->graph = network == NULL ? NULL : &network->graph;
    config->shows_all_keys = network != NULL && !network->has_sinks;
    select_protocols(request, config, coordinator->family->name);
    return TACIT_OK;
}

static const struct argp_option broker_options[] = {
    {"directory", 'd', "DIR", 0, "Where mosquitto.conf and tacit.acl are written", 0},
    {"federation", 'f', "NAME", 0, "The federation's name", 0},
    {"coordinator", 'c', "FILE", 0,
     "Take federation, sites, protocol and who hears whom from a coordinator's file", 0},
    {"pki", 'k', "DIR", 0, "Where the certificates lie (default: the directory)", 0},
    {"address", 'a', "A", 0, "Where the broker listens (default: 127.0.0.1)", 0},
    {"port", 'p', "P", 0, "Its port (default: 8883)", 0},
    {"persistence", 's', "DIR", 0, "Where the broker keeps what it holds", 0},
    {"user", 'u', "NAME", 0, "Who the broker becomes (default: who calls)", 0},
    {"guard", 'g', "FILE", 0,
     "The module that bounds what a site subscribes to, or none (default: the one that was "
     "installed with this program)",
     0},
    COMMAND_LAST_OPTIONS};

#define GUARD "tacit_broker_guard.so"

/* Beside this program, as it was built or as it was installed; NULL and a word if it is not. */
static const char *installed_guard(void)
{
    static const char *const places[] = {"programs/" GUARD, "../" TACIT_LIBRARIES "/tacit/" GUARD};
    static char path[TACIT_PROGRAM_PATH_BYTES];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (tacit_config_beside_program(places[i], path) && access(path, R_OK) == 0)
            return path;
    fputs("tacit broker-config: " GUARD " is not installed: nothing will limit what a site "
          "subscribes to; see docs/live.md\n",
          stderr);
    return NULL;
}

/* NULL: it is not wanted, or, which is said, not installed. */
static const char *guard_path(const char *guard)
{
    if (guard == NULL)
        return installed_guard();
    return strcmp(guard, "none") == 0 ? NULL : whole_path(guard, "");
}

static int broker_command(const struct command *command, int argc, char **argv)
{
    /* A broker that root starts becomes this user, who must be able to read the keys: the caller.
     */
    static struct broker_request request = {.config = {.address = "127.0.0.1", .port = 8883}};
    struct passwd const *const caller = getpwuid(geteuid());
    struct tacit_error error = {""};
    request.config.user = caller == NULL ? NULL : caller->pw_name;
    command_parse(command, &request, argc, argv);
    struct live_broker_config config = request.config;
    config.sites = request.names;
    const char *pki = request.pki;
    if (request.coordinator == NULL)
        select_protocols(&request, &config, NULL);
    else if (load_coordinator(&request, &config, &error) != TACIT_OK)
        return command_report(NULL, TACIT_INVALID, &error);
    pki = pki == NULL ? config.directory : pki;
    config.directory = whole_path(config.directory, "");
    config.ca_file = whole_path(pki, "ca.crt");
    config.certificate_file = whole_path(pki, "broker.crt");
    config.key_file = whole_path(pki, "broker.key");
    char const *const list = whole_path(pki, "ca.crl");
    config.crl_file = access(list, F_OK) == 0 ? list : NULL;
    if (config.persistence_directory != NULL)
        config.persistence_directory = whole_path(config.persistence_directory, "");
    config.guard_file = guard_path(request.guard);
    return command_report(NULL, live_broker_config_write(&config, &error), &error);
}

const struct command command_broker_config = {
    .name = "broker-config",
    .summary = "write the broker's configuration and access list",
    .options = broker_options,
    .operands = "--directory=DIR --federation=NAME SITE...\n--directory=DIR --coordinator=FILE",
    .help =
        "Writes mosquitto.conf and tacit.acl into a directory. Start the broker with: mosquitto "
        "-c DIR/mosquitto.conf",
    .parse = parse_broker,
    .run = broker_command,
};

/* tacit agent, tacit coordinator, tacit helper: from a file to a daemon. */
#include "commands.h"
#include "daemons.h"
#include "../src/families/live_family.h"
#include "../src/live/agent.h"
#include "../src/live/bus/broker_config.h"
#include "../src/live/daemon/names.h"
#include "../src/live/coordinator.h"
#include "../src/live/daemon/log.h"
#include "../src/live/helper.h"
#include "../src/live/daemon/private.h"
#include "../src/live/pki/pki.h"
#include "tacit/config.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RESEND_AFTER_US 2000000u /* what was not answered is sent again after so long */

#define CHECK_OPTION                                                                               \
    {                                                                                              \
        "check", 'k', "FILE", 0,                                                                   \
            "Refuse what a start with this file would refuse, without writing or connecting, and " \
            "end",                                                                                 \
            0                                                                                      \
    }

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "The file of the site", 0}, CHECK_OPTION, COMMAND_LAST_OPTIONS};

static const struct argp_option coordinator_options[] = {
    {"config", 'c', "FILE", 0, "The file of the coordinator", 0},
    CHECK_OPTION,
    {"new-term", 't', NULL, 0,
     "Write down that a new term begins with the next start, and end: after the state was lost or "
     "put back from a backup",
     0},
    {"end-run", 'e', NULL, 0,
     "Write down that the run is over, as far as it came, and end: the next start may have a file "
     "with a greater run.id",
     0},
    {"run", 'r', "RUN", 0,
     "With --new-term, --recover or --end-run: the run of a state that is lost, as `run` in the "
     "status of a site shows it",
     0},
    {"recover", 'b', NULL, 0,
     "Before it starts, build the state from what the sites hold, if that is newer than what is "
     "here",
     0},
    {"sites", 's', "N", 0,
     "With --recover: go on when N sites have shown what they hold, instead of all", 0},
    COMMAND_LAST_OPTIONS};

#define OPERANDS_MAX 3u /* of a helper's */

struct request {
    const char *file;
    bool checks;
    const char *lost_run;
    bool begins_term;
    bool ends_run;
    bool recovers;
    uint32_t recover_sites;
    const char *operands[OPERANDS_MAX];
    uint32_t count;
};

/* Of all three daemons: --config or --check once, words only for a helper. */
static void parse_option(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    bool const is_file = key == 'c' || key == 'k';
    if (is_file && request->file == NULL) {
        request->file = value;
        request->checks = key == 'k';
    } else if (key == 't') {
        request->begins_term = true;
    } else if (key == 'r') {
        request->lost_run = value;
    } else if (key == 'e') {
        request->ends_run = true;
    } else if (key == 'b') {
        request->recovers = true;
    } else if (key == 's') {
        request->recover_sites = command_number(command, "sites", value, TACIT_AGENTS_MAX);
    } else if (key == COMMAND_OPERAND && command == &command_helper) {
        if (request->count == OPERANDS_MAX)
            command_refuse_usage(command, "too many words");
        request->operands[request->count++] = value;
    } else if (is_file || key == COMMAND_OPERAND ||
               (request->file == NULL && command != &command_helper)) {
        command_refuse(command,
                       "one file is needed and nothing else; usage: tacit %s --config FILE",
                       command->name);
    }
}

static struct live_daemon_config daemon_config(const struct tacit_config_daemon *daemon)
{
    struct tacit_config_broker const *const broker = &daemon->broker;
    struct tacit_config_observe const *const observe = &daemon->observe;
    return (struct live_daemon_config){
        .state_directory = daemon->state_directory,
        .version = TACIT_VERSION,
        .bus = {.host = broker->host,
                .port = broker->port,
                .ca_file = broker->ca_file,
                .certificate_file = broker->certificate_file,
                .key_file = broker->key_file,
                .client_id = daemon->name,
                .keepalive_s = 30,
                .reconnect_us_min = 500000,
                .reconnect_us_max = 30000000},
        .signing = {.ca_file = broker->ca_file,
                    .certificate_file = broker->signing_certificate_file,
                    .key_file = broker->signing_key_file,
                    .password_file = broker->signing_password_file,
                    .name = daemon->name},
        .http = {.unix_path = daemon->listener.unix_path, .port = daemon->listener.port},
        .observe = {.address = observe->address,
                    .port = observe->port,
                    .tls = {observe->certificate_file, observe->key_file, observe->ca_file,
                            observe->clients, observe->client_count}},
        .waiting_after_s = daemon->waiting_after_s,
        .disk_low_mib = daemon->disk_low_mib};
}

int daemons_report(enum tacit_status status, const struct tacit_error *error)
{
    int const code = command_report(NULL, status, error);
    if (status == TACIT_ROLLBACK || status == TACIT_FORKED)
        return EXIT_STATE_LOST;
    return status == TACIT_MALFORMED ? EXIT_WRONG_INPUT : code;
}

/* ---- Before there is a state ------------------------------------------------------------------
 */

/* "file:line: key: text" */
static enum tacit_status refuse(struct config_document *document, const char *key, const char *text,
                                struct tacit_error *error)
{
    tacit_config_error(document, key, text, error);
    return TACIT_INVALID;
}

/* A key that cannot be used is found before the state directory comes into being. */
static enum tacit_status check_identity(const struct tacit_config_daemon *daemon,
                                        struct tacit_error *error)
{
    struct tacit_config_broker const *const broker = &daemon->broker;
    struct tacit_error found = {""};
    struct live_daemon_config const config = daemon_config(daemon);
    struct live_signer *signer = NULL;
    enum tacit_status status = live_pki_check(broker->ca_file, broker->certificate_file,
                                              broker->key_file, daemon->name, &found);
    if (status == TACIT_OK)
        status = live_signer_open(&signer, &config.signing, &found);
    live_signer_close(signer);
    return status == TACIT_OK ? TACIT_OK : refuse(daemon->document, "broker", found.text, error);
}

/* Can a socket be made there? A port may be taken by the daemon that runs with this very file. */
static enum tacit_status check_listener(const struct tacit_config_daemon *daemon,
                                        struct tacit_error *error)
{
    char folder[256];
    char text[400];
    char const *const path = daemon->listener.unix_path;
    char const *const slash = path == NULL ? NULL : strrchr(path, '/');
    if (path == NULL)
        return TACIT_OK;
    (void)snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
                   slash == NULL ? "." : path);
    if (access(folder, W_OK | X_OK) == 0)
        return TACIT_OK;
    (void)snprintf(text, sizeof text, "no socket can be made in %s: %s", folder, strerror(errno));
    return refuse(daemon->document, daemon->role == TACIT_CONFIG_AGENT ? "api.unix" : "status.unix",
                  text, error);
}

/* What comes before the state: who it is; then the log, or what a start would refuse. */
static enum tacit_status prepare(const struct request *request,
                                 const struct tacit_config_daemon *daemon,
                                 struct tacit_error *error)
{
    TACIT_TRY(check_identity(daemon, error));
    return request->checks ? check_listener(daemon, error)
                           : live_log_open(daemon->log_is_json, daemon->log_file, error);
}

struct tacit_config_daemon *daemons_load(enum tacit_config_role role, const char *file)
{
    struct tacit_config_daemon *daemon;
    struct tacit_error error = {""};
    enum tacit_status const status =
        tacit_config_daemon_load(&daemon, role, live_family_files(), file, &error);
    if (status != TACIT_OK) {
        (void)daemons_report(status, &error);
        return NULL;
    }
    if (daemon->group_readable)
        live_private_allow_group();
    return daemon;
}

static void print_checked(const char *file, const struct tacit_config_daemon *daemon,
                          enum live_store_found found)
{
    char const *const doubt = live_pki_expiry(daemon->broker.certificate_file);
    if (doubt != NULL)
        (void)fprintf(stderr, "%s: warning: %s\n", file, doubt);
    (void)printf("%s is right; %s\n", file,
                 found == LIVE_STORE_NONE   ? "there is no state yet"
                 : found == LIVE_STORE_READ ? "its state fits"
                                            : "its state is in use by a daemon that runs, and fits "
                                              "as far as it was looked at");
}

/* Frees the file. Result: the exit code. */
static int finish(const struct request *request, struct tacit_config_daemon *daemon,
                  enum live_store_found found, enum tacit_status status,
                  const struct tacit_error *error)
{
    if (status == TACIT_OK && request->checks)
        print_checked(request->file, daemon, found);
    tacit_config_daemon_free(daemon);
    return daemons_report(status, error);
}

/* What would not fit into a message would never arrive, and nobody would be told. */
static enum tacit_status check_messages(const struct live_coordinator_config *coordinator,
                                        struct config_document *document, struct tacit_error *error)
{
    char const *const key = live_hub_too_large(coordinator->protocol, &coordinator->hub);
    char text[200];
    if (key == NULL)
        return TACIT_OK;
    (void)snprintf(text, sizeof text,
                   "a message of this run would be longer than %u bytes; allowed: fewer arms, "
                   "sites or neighbours of one site, or shorter names",
                   LIVE_PAYLOAD_BYTES_MAX);
    return refuse(document, key, text, error);
}

/* ---- Agent ----------------------------------------------------------------------------------- */

struct live_agent_config daemons_agent_config(const struct tacit_config_agent *config)
{
    return (struct live_agent_config){
        .daemon = daemon_config(&config->daemon),
        .protocol =
            live_family_site(live_family_find(config->family->name), config->trust.has_helper),
        .site = {.federation = config->daemon.federation,
                 .site = config->daemon.name,
                 .arm_names = config->arm_names,
                 .arm_count = config->arm_count,
                 .epsilon = config->epsilon,
                 .budget = config->budget,
                 .lo = config->lo,
                 .hi = config->hi,
                 .agents_max = config->agents_max,
                 .rounds_max = config->rounds_max,
                 .pulls_max = config->pulls_max,
                 .settles = config->missing_after_s > 0,
                 .has_helper = config->trust.has_helper,
                 .floor_nano = config->trust.floor_milli * (TACIT_NANO / 1000),
                 .trust_helper = config->trust.helper,
                 .resend_after_us = RESEND_AFTER_US,
                 .settings = config->keys},
        .wait_s = config->wait_s,
        .missing_after_s = config->missing_after_s,
        .missing_counts_as = config->missing_counts_as,
        .deadline_s = config->deadline_s,
        .remember_s = config->remember_s,
        .open_max = config->open_max,
        .units_max = config->units_max,
        .joins_runs = config->joins_runs,
        .rewards_per_unit_max = config->rewards_per_unit_max,
        .caller_open_max = config->caller_open_max,
        .caller_calls_per_s = config->caller_calls_per_s};
}

static int agent_command(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    struct tacit_error error = {""};
    enum live_store_found found = LIVE_STORE_NONE;
    command_parse(command, &request, argc, argv);
    struct tacit_config_daemon *const daemon = daemons_load(TACIT_CONFIG_AGENT, request.file);
    if (daemon == NULL)
        return EXIT_WRONG_INPUT;
    struct live_agent_config const agent =
        daemons_agent_config((const struct tacit_config_agent *)(void *)daemon);
    enum tacit_status status = prepare(&request, daemon, &error);
    if (status == TACIT_OK)
        status = request.checks ? live_agent_check(&agent, &found, &error)
                                : live_agent_run(&agent, &error);
    return finish(&request, daemon, found, status, &error);
}

const struct command command_agent = {
    .name = "agent",
    .summary = "run the agent of a site",
    .options = options,
    .operands = NULL,
    .help = "Runs the agent of a site (docs/live.md).",
    .parse = parse_option,
    .run = agent_command,
};

/* ---- Coordinator ----------------------------------------------------------------------------- */

static struct live_hub_config hub_config(const struct tacit_config_coordinator *config)
{
    uint32_t const quorum = config->quorum == 0 ? config->site_count : config->quorum;
    return (struct live_hub_config){.federation = config->daemon.federation,
                                    .sites = config->sites,
                                    .site_count = config->site_count,
                                    .arm_names = config->arm_names,
                                    .arm_count = config->arm_count,
                                    .run_id = config->run_id,
                                    .horizon = config->horizon,
                                    .epsilon = config->epsilon,
                                    .lo = config->lo,
                                    .hi = config->hi,
                                    .quorum = quorum,
                                    .deadline_s = config->deadline_s,
                                    .has_helper = config->trust.has_helper,
                                    .floor_nano = config->trust.floor_milli * (TACIT_NANO / 1000),
                                    .trust_helper = config->trust.helper};
}

static enum tacit_status run_coordinator(const struct tacit_config_coordinator *config,
                                         const struct request *request,
                                         enum live_store_found *found, struct tacit_error *error)
{
    struct live_family const *const family = live_family_find(config->family->name);
    struct live_coordinator_config coordinator = {
        .daemon = daemon_config(&config->daemon),
        .protocol = live_family_hub(family, config->trust.has_helper),
        .hub = hub_config(config),
        .begins_term = request->begins_term,
        .ends_run = request->ends_run,
        .lost_run = request->lost_run,
        .recovers = request->recovers,
        .recover_sites = request->recover_sites};
    struct tacit_network *network;
    enum tacit_status status =
        tacit_network_new(&network, &config->network, TACIT_NETWORK_FULL, error);
    if (status != TACIT_OK) /* a file of edges that is not there is wrong input, too */
        return status == TACIT_IO ? TACIT_INVALID : status;
    status =
        family->hub_settings(&(struct live_run_file){&coordinator.hub, config, network, error});
    if (status == TACIT_OK)
        status = check_messages(&coordinator, config->daemon.document, error);
    if (status == TACIT_OK)
        status = prepare(request, &config->daemon, error);
    if (status == TACIT_OK)
        status = request->checks ? live_coordinator_check(&coordinator, found, error)
                                 : live_coordinator_run(&coordinator, error);
    tacit_network_free(network);
    return status;
}

static int coordinator_command(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    struct tacit_error error = {""};
    command_parse(command, &request, argc, argv);
    if (request.checks + request.recovers + request.begins_term + request.ends_run > 1)
        command_refuse(command, "allowed is one of --check, --new-term, --recover (which begins a "
                                "term by itself where one is needed) and --end-run");
    if (request.lost_run != NULL && !(request.recovers || request.begins_term || request.ends_run))
        command_refuse(command, "--run names the run of a state that is lost: use it with "
                                "--new-term, --recover or --end-run");
    if (request.recover_sites > 0 && !request.recovers)
        command_refuse(command, "--sites says how many suffice to recover: use it with --recover");
    struct tacit_config_daemon *const daemon = daemons_load(TACIT_CONFIG_COORDINATOR, request.file);
    if (daemon == NULL)
        return EXIT_WRONG_INPUT;
    enum live_store_found found = LIVE_STORE_NONE;
    enum tacit_status const status = run_coordinator(
        (const struct tacit_config_coordinator *)(void *)daemon, &request, &found, &error);
    return finish(&request, daemon, found, status, &error);
}

const struct command command_coordinator = {
    .name = "coordinator",
    .summary = "run the coordinator of a federation",
    .options = coordinator_options,
    .operands = NULL,
    .help = "Runs the coordinator of a federation (docs/live.md).",
    .parse = parse_option,
    .run = coordinator_command,
};

/* ---- Helper ---------------------------------------------------------------------------------- */

static const struct argp_option helper_options[] = {
    {"config", 'c', "FILE", 0, "The file of the helper", 0}, CHECK_OPTION, COMMAND_LAST_OPTIONS};

static const struct live_hub_ops *find_hub(const char *name)
{
    struct live_family const *const family = live_family_find(name);
    return family == NULL ? NULL : live_family_hub(family, true);
}

static struct live_helper_config helper_config(const struct tacit_config_helper *config)
{
    return (struct live_helper_config){.daemon = daemon_config(&config->daemon),
                                       .federation = config->daemon.federation,
                                       .hub = config->hub,
                                       .epsilon = config->epsilon,
                                       .delta = config->delta,
                                       .sites_min = config->sites_min,
                                       .find = find_hub};
}

/* A file of the coordinator's, whole. NULL: it cannot be read, or is no such file. */
static uint8_t *read_request(const char *path, size_t *size)
{
    size_t const most = (size_t)1 << 26;
    FILE *const file = fopen(path, "re");
    uint8_t *const bytes = file == NULL ? NULL : malloc(most);
    *size = bytes == NULL ? 0 : fread(bytes, 1, most, file);
    if (file != NULL)
        (void)fclose(file);
    if (*size > 0 && *size < most)
        return bytes;
    (void)fprintf(stderr, "%s: cannot be read, or is no file of a coordinator\n", path);
    free(bytes);
    return NULL;
}

/* As a daemon; or, with the file of a request, answers that one and ends. */
static int run_helper(const struct request *given, const char *file, const char *request)
{
    struct tacit_error error = {""};
    enum live_store_found found = LIVE_STORE_NONE;
    struct tacit_config_daemon *const daemon = daemons_load(TACIT_CONFIG_HELPER, file);
    if (daemon == NULL)
        return EXIT_WRONG_INPUT;
    struct live_helper_config const helper =
        helper_config((const struct tacit_config_helper *)(void *)daemon);
    enum tacit_status status = TACIT_INVALID;
    if (request != NULL) {
        size_t size = 0;
        uint8_t *const bytes = read_request(request, &size);
        if (bytes != NULL)
            status = live_helper_answer(&helper, bytes, size, stdout, &error);
        free(bytes);
        return finish(given, daemon, found, status, &error);
    }
    status = prepare(given, daemon, &error);
    if (status == TACIT_OK)
        status = given->checks ? live_helper_check(&helper, &found, &error)
                               : live_helper_run(&helper, &error);
    return finish(given, daemon, found, status, &error);
}

static int print_fingerprint(const char *certificate)
{
    uint8_t key[32];
    char text[LIVE_FINGERPRINT_BYTES];
    if (!live_key_read(certificate, key)) {
        (void)fprintf(stderr, "%s: no certificate for signing; allowed: NAME.sign.crt\n",
                      certificate);
        return EXIT_WRONG_INPUT;
    }
    live_key_fingerprint(key, text);
    (void)printf("%s\n", text);
    return EXIT_DONE;
}

static int helper_command(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    struct tacit_error error = {""};
    command_parse(command, &request, argc, argv);
    char const *const verb = request.count == 0 ? "" : request.operands[0];
    if (request.count == 0 && request.file != NULL)
        return run_helper(&request, request.file, NULL);
    if (strcmp(verb, "agree") == 0 && request.count >= 2 && request.file == NULL)
        return daemons_report(
            live_helper_agree(request.operands[1], request.operands[2], find_hub, stdout, &error),
            &error);
    if (strcmp(verb, "answer") == 0 && request.count == 3 && request.file == NULL)
        return run_helper(&request, request.operands[1], request.operands[2]);
    if (strcmp(verb, "fingerprint") == 0 && request.count == 2 && request.file == NULL)
        return print_fingerprint(request.operands[1]);
    command_refuse_usage(command, "it is called in one of these ways");
    return EXIT_WRONG_INPUT;
}

const struct command command_helper = {
    .name = "helper",
    .summary = "run the second aggregator of a federation",
    .options = helper_options,
    .operands = "--config=FILE\nagree STATE [CODE]\nanswer FILE REQUEST\nfingerprint CERTIFICATE",
    .help =
        "Runs the second aggregator (docs/helper.md). agree: shows the run that is offered, with "
        "the sites' keys, and agrees to it with the code that is shown. answer: without a broker: "
        "hears a file of the coordinator's, and prints what is to be carried back. fingerprint: "
        "of a key for signing, as the files pin it.",
    .parse = parse_option,
    .run = helper_command,
};

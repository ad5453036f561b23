/* tacit pki, tacit broker-config: what a trial federation needs before its daemons start. */
#include "commands.h"
#include "../src/live/bus/broker_config.h"
#include "../src/live/daemon/names.h"
#include "../src/live/pki/pki.h"
#include "tacit/family.h"
#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX 4096u
#define HOSTS_MAX 64u
#define DAYS 365u

static const char pki_help[] =
    "Usage: tacit pki --directory DIR [--days N] [--host NAME]... SITE...\n"
    "       tacit pki revoke --directory DIR SITE...\n"
    "Makes a private CA and certificates for the broker, the coordinator and the sites: for "
    "trials.\n"
    "What is there already stays; call it again to add sites. revoke: puts the certificates of "
    "these\n"
    "sites on the list DIR/ca.crl and removes them and their keys; then restart the broker.\n";

static const char broker_help[] =
    "Usage: tacit broker-config --directory DIR --federation NAME "
    "[--pki DIR] [--address A] [--port P]\n"
    "                           [--persistence DIR] [--user NAME] SITE...\n"
    "       tacit broker-config --directory DIR --coordinator FILE [the same] \n"
    "Writes mosquitto.conf and tacit.acl into DIR; certificates are those of --pki, by default "
    "DIR.\n"
    "--coordinator: federation, sites and who hears whom are those of a coordinator's file.\n"
    "Start the broker with: mosquitto -c DIR/mosquitto.conf\n";

static int say(enum tacit_status status, const struct tacit_error *error)
{
    if (status == TACIT_OK)
        return EXIT_DONE;
    (void)fprintf(stderr, "%s\n", error->text[0] == '\0' ? tacit_status_text(status) : error->text);
    return status == TACIT_INVALID ? EXIT_WRONG_INPUT : EXIT_FAILED;
}

/* A whole number from 1 to max, or 0 after saying so. */
static uint32_t number(const char *command, const char *option, const char *text, uint32_t max)
{
    char *end;
    errno = 0;
    unsigned long const value = strtoul(text, &end, 10);
    if (errno == 0 && *end == '\0' && *text >= '0' && *text <= '9' && value >= 1 && value <= max)
        return (uint32_t)value;
    (void)fprintf(stderr,
                  "tacit %s: --%s: '%s' is not allowed; allowed: a whole number from 1 to %u\n",
                  command, option, text, max);
    return 0;
}

/* One line: what is missing, and where it is explained. */
static bool misses(const char *command, bool is_missing, const char *what)
{
    if (is_missing)
        (void)fprintf(stderr, "tacit %s: %s; see 'tacit %s --help'\n", command, what, command);
    return is_missing;
}

/* False: the words say enough about themselves (help), or what is wrong was said. */
static bool read_pki_options(int argument_count, char **words, struct live_pki_config *config,
                             const char **hosts, int *code)
{
    static const struct option options[] = {{"directory", required_argument, NULL, 'd'},
                                            {"days", required_argument, NULL, 'y'},
                                            {"host", required_argument, NULL, 'H'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static char hint[] = "tacit pki (see 'tacit pki --help')";
    words[0] = hint; /* how getopt begins what it says */
    *code = EXIT_WRONG_INPUT;
    for (int key; (key = getopt_long(argument_count, words, "", options, NULL)) != -1;) {
        switch (key) {
        case 'd':
            config->directory = optarg;
            break;
        case 'y':
            config->days = number("pki", "days", optarg, LIVE_PKI_DAYS_MAX);
            if (config->days == 0)
                return false;
            break;
        case 'H':
            if (misses("pki", config->broker_host_count == HOSTS_MAX,
                       "--host is given too often; 64 times is allowed"))
                return false;
            hosts[config->broker_host_count++] = optarg;
            break;
        case 'h':
            (void)fputs(pki_help, stdout);
            *code = EXIT_DONE;
            return false;
        default:
            return false;
        }
    }
    return !misses("pki", config->directory == NULL, "--directory is missing") &&
           !misses("pki", optind == argument_count, "no site is named") &&
           !misses("pki", (size_t)(argument_count - optind) > NAMES_MAX,
                   "too many sites; 4096 are allowed in one call");
}

int command_pki(int argument_count, char **words)
{
    static const char *names[NAMES_MAX + 2] = {LIVE_BROKER, LIVE_COORDINATOR};
    static const char *hosts[HOSTS_MAX];
    struct live_pki_config config = {.names = names, .name_count = 2, .broker_hosts = hosts};
    struct tacit_error error = {""};
    int code;
    bool const revokes = argument_count > 1 && strcmp(words[1], "revoke") == 0;
    argument_count -= revokes;
    words += revokes;
    if (!read_pki_options(argument_count, words, &config, hosts, &code) ||
        (revokes && misses("pki", config.days != 0 || config.broker_host_count > 0,
                           "revoke takes neither --days nor --host")))
        return code;
    for (int i = optind; i < argument_count; i++)
        names[config.name_count++] = words[i];
    if (revokes)
        return say(live_pki_revoke(config.directory, names + 2, config.name_count - 2, &error),
                   &error);
    config.days = config.days == 0 ? DAYS : config.days;
    return say(live_pki_make(&config, &error), &error);
}

/* "directory/file" in memory that lives as long as the program; "directory" if there is no file.
 * Whole, because the broker runs in another folder than we do. */
static const char *whole_path(const char *directory, const char *file)
{
    static char *kept[8]; /* still ours at the end: no leak */
    static size_t kept_count;
    char *const here = directory[0] == '/' ? strdup("") : getcwd(NULL, 0);
    char *path = NULL;
    if (here == NULL || asprintf(&path, "%s%s%s%s%s", here, *here == '\0' ? "" : "/", directory,
                                 *file == '\0' ? "" : "/", file) < 0)
        path = NULL;
    free(here);
    if (kept_count < sizeof kept / sizeof kept[0])
        kept[kept_count++] = path;
    return path;
}

static bool read_broker_options(int argument_count, char **words, struct live_broker_config *config,
                                const char **pki, const char **coordinator, int *code)
{
    static const struct option options[] = {{"directory", required_argument, NULL, 'd'},
                                            {"federation", required_argument, NULL, 'f'},
                                            {"pki", required_argument, NULL, 'k'},
                                            {"address", required_argument, NULL, 'a'},
                                            {"port", required_argument, NULL, 'p'},
                                            {"persistence", required_argument, NULL, 's'},
                                            {"user", required_argument, NULL, 'u'},
                                            {"coordinator", required_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static char hint[] = "tacit broker-config (see 'tacit broker-config --help')";
    words[0] = hint;
    *code = EXIT_WRONG_INPUT;
    for (int key; (key = getopt_long(argument_count, words, "", options, NULL)) != -1;) {
        switch (key) {
        case 'd':
            config->directory = optarg;
            break;
        case 'f':
            config->federation = optarg;
            break;
        case 'k':
            *pki = optarg;
            break;
        case 'a':
            config->address = optarg;
            break;
        case 'p':
            config->port = (uint16_t)number("broker-config", "port", optarg, 65535);
            if (config->port == 0)
                return false;
            break;
        case 's':
            config->persistence_directory = optarg;
            break;
        case 'u':
            config->user = optarg;
            break;
        case 'c':
            *coordinator = optarg;
            break;
        case 'h':
            (void)fputs(broker_help, stdout);
            *code = EXIT_DONE;
            return false;
        default:
            return false;
        }
    }
    return !misses("broker-config", config->directory == NULL, "--directory is missing") &&
           !misses("broker-config", *coordinator != NULL && config->federation != NULL,
                   "--coordinator says what the federation is; --federation is not allowed") &&
           !misses("broker-config", *coordinator != NULL && optind < argument_count,
                   "--coordinator says which sites there are; none may be named") &&
           !misses("broker-config", *coordinator == NULL && config->federation == NULL,
                   "--federation is missing") &&
           !misses("broker-config", *coordinator == NULL && optind == argument_count,
                   "no site is named");
}

/* Federation, sites and graph of a coordinator's file. They stay for as long as the program. */
static enum tacit_status take_coordinator(const char *file, struct live_broker_config *config,
                                          struct tacit_error *error)
{
    static struct tacit_config_coordinator *coordinator;
    static struct tacit_network *network;
    enum tacit_status status =
        tacit_config_coordinator_load(&coordinator, tacit_family_files(), file, error);
    if (status == TACIT_OK)
        status = tacit_network_new(&network, &coordinator->network, error);
    if (status != TACIT_OK)
        return status;
    config->federation = coordinator->federation;
    config->sites = coordinator->sites;
    config->site_count = coordinator->site_count;
    config->graph = network == NULL ? NULL : &network->graph;
    return TACIT_OK;
}

int command_broker_config(int argument_count, char **words)
{
    /* A broker that root starts becomes this user, who must be able to read the keys: the caller.
     */
    struct passwd const *const caller = getpwuid(geteuid());
    struct live_broker_config config = {
        .address = "127.0.0.1", .port = 8883, .user = caller == NULL ? NULL : caller->pw_name};
    struct tacit_error error = {""};
    const char *pki = NULL;
    const char *coordinator = NULL;
    int code;
    if (!read_broker_options(argument_count, words, &config, &pki, &coordinator, &code))
        return code;
    config.sites = (const char *const *)(words + optind);
    config.site_count = (size_t)(argument_count - optind);
    if (coordinator != NULL && take_coordinator(coordinator, &config, &error) != TACIT_OK)
        return say(TACIT_INVALID, &error);
    pki = pki == NULL ? config.directory : pki;
    config.directory = whole_path(config.directory, "");
    config.ca_file = whole_path(pki, "ca.crt");
    config.certificate_file = whole_path(pki, "broker.crt");
    config.key_file = whole_path(pki, "broker.key");
    char const *const list = whole_path(pki, "ca.crl");
    config.crl_file = list != NULL && access(list, F_OK) == 0 ? list : NULL;
    if (config.persistence_directory != NULL)
        config.persistence_directory = whole_path(config.persistence_directory, "");
    if (config.directory == NULL || config.ca_file == NULL || config.certificate_file == NULL ||
        config.key_file == NULL)
        return EXIT_FAILED;
    return say(live_broker_config_write(&config, &error), &error);
}

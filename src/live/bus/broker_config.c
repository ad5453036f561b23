/* The two files are composed in memory, checked, and then replace the old ones by renaming. */
#include "broker_config.h"
#include "../daemon/names.h"
#include "../daemon/refusal.h"
#include "bus.h"
#include "topics.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_NAME "mosquitto.conf"
#define ACCESS_NAME "tacit.acl"
#define PATH_BYTES 4096u
#define ADDRESS_BYTES_MAX 253u
#define PACKET_BYTES_MAX (LIVE_PAYLOAD_BYTES_MAX + 1024u) /* a payload, its topic, the headers */
#define INFLIGHT_MESSAGES 20u
#define QUEUED_MESSAGES_MIN 1000u
#define QUEUED_MESSAGES_A_SITE 4u /* all sites may speak to the coordinator at once, and again */
#define QUEUED_BYTES_MIN (16u << 20)
#define SPARE_CONNECTIONS 16u

/* ---- Names ---- */

static int compare_names(const void *left, const void *right)
{
    const char *const *const a = left;
    const char *const *const b = right;
    return strcmp(*a, *b);
}

static enum tacit_status check_each_once(const struct live_broker_config *config,
                                         struct tacit_error *error)
{
    enum tacit_status status = TACIT_OK;
    const char **const sorted = malloc((config->site_count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return live_refuse(error, TACIT_MEMORY, "out of memory");
    memcpy(sorted, config->sites, config->site_count * sizeof *sorted);
    qsort(sorted, config->site_count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < config->site_count && status == TACIT_OK; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            status = live_refuse(error, TACIT_INVALID, "the site %s is named twice", sorted[i]);
    free(sorted);
    return status;
}

static enum tacit_status check_names(const struct live_broker_config *config,
                                     struct tacit_error *error)
{
    if (!live_name_is_allowed(config->federation))
        return live_refuse(
            error, TACIT_INVALID,
            "the federation's name \"%.80s\" is not allowed: 1 to 64 of A-Z a-z 0-9 _ -",
            config->federation);
    if (config->site_count == 0 || config->site_count > TACIT_AGENTS_MAX)
        return live_refuse(error, TACIT_INVALID, "a federation has 1 to %u sites, not %zu",
                           TACIT_AGENTS_MAX, config->site_count);
    for (size_t i = 0; i < config->site_count; i++)
        if (!live_site_is_allowed(config->sites[i]))
            return live_refuse(
                error, TACIT_INVALID,
                "the site's name \"%.80s\" is not allowed: 1 to 64 of A-Z a-z 0-9 _ -, "
                "and none of " LIVE_COORDINATOR ", " LIVE_BROKER " and " LIVE_HELPER,
                config->sites[i]);
    if (config->protocol_count == 0)
        return live_refuse(error, TACIT_INVALID, "no protocol is named");
    for (size_t i = 0; i < config->protocol_count; i++)
        if (!live_name_is_allowed(config->protocols[i]))
            return live_refuse(error, TACIT_INVALID, "the protocol \"%.80s\" is not allowed",
                               config->protocols[i]);
    return check_each_once(config, error);
}

/* A path is the rest of a line of the file: what would end the line, or be trimmed, is refused. */
static bool is_path(const char *path)
{
    size_t const size = strnlen(path, PATH_BYTES);
    if (size == 0 || size == PATH_BYTES || path[0] == ' ' || path[size - 1] == ' ')
        return false;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f)
            return false;
    return true;
}

static bool is_address(const char *address)
{
    size_t const size = strnlen(address, ADDRESS_BYTES_MAX + 1);
    return size >= 1 && size <= ADDRESS_BYTES_MAX &&
           strspn(address, LIVE_NAME_CHARACTERS ".:") == size;
}

static enum tacit_status check(const struct live_broker_config *config, struct tacit_error *error)
{
    const char *const paths[] = {config->directory, config->ca_file,  config->certificate_file,
                                 config->key_file,  config->crl_file, config->persistence_directory,
                                 config->guard_file};
    TACIT_ASSERT(config->ca_file != NULL);
    TACIT_ASSERT(config->certificate_file != NULL);
    TACIT_ASSERT(config->key_file != NULL);
    TACIT_TRY(check_names(config, error));
    if (!is_address(config->address) || config->port == 0)
        return live_refuse(error, TACIT_INVALID,
                           "cannot listen at \"%.80s\", port %u: use a host name "
                           "or an address, and a port from 1 to 65535",
                           config->address, config->port);
    if (config->user != NULL && !live_name_is_allowed(config->user))
        return live_refuse(error, TACIT_INVALID, "the user \"%.80s\" is not allowed", config->user);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (paths[i] != NULL && !is_path(paths[i]))
            return live_refuse(error, TACIT_INVALID,
                               "the path \"%.200s\" cannot stand in " CONFIG_NAME
                               ": no control characters, no space at either end",
                               paths[i]);
    return TACIT_OK;
}

/* ---- The two texts ---- */

static void write_head(FILE *file, const struct live_broker_config *config)
{
    fprintf(
        file,
        "# Broker of the federation %s. Written by tacit; changes are overwritten.\n\n"
        "per_listener_settings false\n\n"
        "# The only door: TLS, and a certificate of our CA. The certificate's name is the user\n"
        "# name and the client id, so nobody can take the session of somebody else.\n"
        "listener %u %s\n"
        "protocol mqtt\n"
        "tls_version tlsv1.2\n"
        "ciphers " LIVE_TLS_CIPHERS "\n"
        "cafile %s\n"
        "certfile %s\n"
        "keyfile %s\n",
        config->federation, config->port, config->address, config->ca_file,
        config->certificate_file, config->key_file);
    if (config->crl_file != NULL)
        fprintf(file, "crlfile %s\n", config->crl_file);
    fprintf(file,
            "require_certificate true\n"
            "use_identity_as_username true\n"
            "use_username_as_clientid true\n"
            "allow_anonymous false\n"
            "acl_file %s/" ACCESS_NAME "\n\n",
            config->directory);
}

/* An access list does not limit what is subscribed to. */
static void write_guard(FILE *file, const struct live_broker_config *config)
{
    if (config->guard_file == NULL)
        fprintf(file, "# Nothing limits what a site subscribes to.\n\n");
    else
        fprintf(file,
                "# A connection subscribes to a few short filters, each once.\n"
                "plugin %s\n\n",
                config->guard_file);
}

static void write_limits(FILE *file, const struct live_broker_config *config)
{
    size_t const queued = QUEUED_MESSAGES_A_SITE * config->site_count;
    fprintf(
        file,
        "# A payload may have %u bytes; a packet also carries its topic and headers.\n"
        "message_size_limit %u\n"
        "max_packet_size %u\n\n"
        "# What overflows a queue is dropped and nobody is told: the sender has its\n"
        "# acknowledgement by then. Agents and coordinator therefore send again until the other\n"
        "# side has answered; these numbers cost time at worst, never a message.\n"
        "max_inflight_messages %u\n"
        "max_queued_messages %zu\n"
        "max_queued_bytes %zu\n\n"
        "# Nobody comes back to an old session, and nothing waits for one that is gone.\n"
        "queue_qos0_messages false\n"
        "persistent_client_expiration 1h\n\n"
        "# Each site and the coordinator twice (an old connection may linger), and some that\n"
        "# will fail.\n"
        "max_connections %zu\n\n",
        LIVE_PAYLOAD_BYTES_MAX, LIVE_PAYLOAD_BYTES_MAX, PACKET_BYTES_MAX, INFLIGHT_MESSAGES,
        tacit_larger(queued, QUEUED_MESSAGES_MIN),
        tacit_larger(queued * LIVE_PAYLOAD_BYTES_MAX, QUEUED_BYTES_MIN),
        2 * (config->site_count + 1) + SPARE_CONNECTIONS);
}

static void write_tail(FILE *file, const struct live_broker_config *config)
{
    fprintf(file,
            "# Only retained state is worth keeping, and the coordinator publishes it again.\n");
    if (config->persistence_directory != NULL)
        fprintf(file, "persistence true\npersistence_location %s/\nautosave_interval 60\n\n",
                config->persistence_directory);
    else
        fprintf(file, "persistence false\n\n");
    fprintf(file, "# Who came and went, what went wrong; never what was said.\n"
                  "log_dest stderr\n"
                  "log_type error\n"
                  "log_type warning\n"
                  "log_type notice\n"
                  "connection_messages true\n"
                  "log_timestamp true\n"
                  "log_timestamp_format %%Y-%%m-%%dT%%H:%%M:%%S\n");
    if (config->user != NULL)
        fprintf(file, "\nuser %s\n", config->user);
}

static void write_config(FILE *file, const struct live_broker_config *config)
{
    write_head(file, config);
    write_guard(file, config);
    write_limits(file, config);
    write_tail(file, config);
}

/* For each protocol a line: the branch, which ends with a slash, and the protocol's name. */
static void write_topics(FILE *file, const struct live_broker_config *config, const char *access,
                         const char *branch)
{
    for (size_t i = 0; i < config->protocol_count; i++)
        fprintf(file, "topic %s tacit/v1/%s/%s%s\n", access, config->federation, branch,
                config->protocols[i]);
}

/* Of the branch WAY/SITE. */
static void write_branch(FILE *file, const struct live_broker_config *config, const char *access,
                         const char *way, const char *site)
{
    char branch[2 * LIVE_TOPIC_BYTES];
    (void)snprintf(branch, sizeof branch, "%s/%s/", way, site);
    write_topics(file, config, access, branch);
}

/* Neighbours hear each other, one by one: nobody else may listen, or speak in a site's name. */
static void write_neighbours(FILE *file, const struct live_broker_config *config, size_t site)
{
    TACIT_ASSERT(site < config->graph->agent_count);
    struct tacit_graph const *const graph = config->graph;
    for (uint64_t i = graph->first[site]; i < graph->first[site + 1]; i++) {
        const char *const neighbour = config->sites[graph->neighbours[i]];
        char pair[LIVE_TOPIC_BYTES];
        (void)snprintf(pair, sizeof pair, "%s/%s", config->sites[site], neighbour);
        write_branch(file, config, "write", "peer", pair);
        (void)snprintf(pair, sizeof pair, "%s/%s", neighbour, config->sites[site]);
        write_branch(file, config, "read", "peer", pair);
        fprintf(file, "topic read tacit/v1/%s/key/%s\n", config->federation, neighbour);
    }
}

/* A + in place of the sites: the broker looks through the whole list for each message of the
 * coordinator, which three lines a site made most of its work (decision 77). */
static void write_coordinator(FILE *file, const struct live_broker_config *config)
{
    const char *const federation = config->federation;
    fprintf(file, "user " LIVE_COORDINATOR "\n");
    write_topics(file, config, "read", "up/+/");
    write_topics(file, config, "write", "down/");
    fprintf(file,
            "topic read tacit/v1/%s/up/+/" LIVE_TOPIC_ENTRY "\n"
            "topic write tacit/v1/%s/down/" LIVE_TOPIC_ENTRY "\n"
            "topic write tacit/v1/%s/key/" LIVE_COORDINATOR "\n"
            "topic read tacit/v1/%s/key/+\n",
            federation, federation, federation, federation);
    if (config->has_helper)
        fprintf(file,
                "topic read tacit/v1/%s/up/" LIVE_HELPER "/" LIVE_HELPER "\n"
                "topic write tacit/v1/%s/to/" LIVE_HELPER "/" LIVE_HELPER "\n",
                federation, federation);
    fprintf(file, "topic write tacit/v1/%s/to/+/announce\n", federation);
    write_branch(file, config, "write", "to", "+");
    write_branch(file, config, "write", "down", "+");
}

static void write_site(FILE *file, const struct live_broker_config *config, size_t index)
{
    const char *const federation = config->federation;
    const char *const site = config->sites[index];
    fprintf(file, "\nuser %s\n", site);
    write_branch(file, config, "write", "up", site);
    fprintf(file,
            "topic write tacit/v1/%s/up/%s/" LIVE_TOPIC_ENTRY "\n"
            "topic read tacit/v1/%s/down/" LIVE_TOPIC_ENTRY "\n",
            federation, site, federation);
    write_topics(file, config, "read", "down/");
    write_topics(file, config, "read", "down/+/");
    fprintf(file, "topic read tacit/v1/%s/to/%s/announce\n", federation, site);
    write_branch(file, config, "read", "to", site);
    fprintf(file,
            "topic write tacit/v1/%s/key/%s\n"
            "topic read tacit/v1/%s/key/" LIVE_COORDINATOR "\n",
            federation, site, federation);
    if (config->shows_all_keys)
        fprintf(file, "topic read tacit/v1/%s/key/+\n", federation);
    if (config->graph != NULL)
        write_neighbours(file, config, index);
}

/* Whoever is not listed may connect and then do nothing. */
static void write_access(FILE *file, const struct live_broker_config *config)
{
    fprintf(
        file,
        "# Who may do what in the federation %s. Written by tacit; changes are overwritten.\n\n",
        config->federation);
    write_coordinator(file, config);
    for (size_t i = 0; i < config->site_count; i++)
        write_site(file, config, i);
    if (config->has_helper)
        fprintf(file,
                "\nuser " LIVE_HELPER "\n"
                "topic read tacit/v1/%s/to/" LIVE_HELPER "/" LIVE_HELPER "\n"
                "topic write tacit/v1/%s/up/" LIVE_HELPER "/" LIVE_HELPER "\n",
                config->federation, config->federation);
}

/* ---- Files ---- */

static bool write_and_close(FILE *file, const struct live_broker_config *config,
                            void (*write_text)(FILE *file, const struct live_broker_config *config))
{
    write_text(file, config);
    bool const is_written = fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && is_written;
}

/* Writes the text beside the file, then renames it into place. */
static enum tacit_status replace(const struct live_broker_config *config, const char *name,
                                 void (*write_text)(FILE *file,
                                                    const struct live_broker_config *config),
                                 struct tacit_error *error)
{
    char path[PATH_BYTES + 32];
    char fresh[PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/%s", config->directory, name);
    (void)snprintf(fresh, sizeof fresh, "%s/%s.new", config->directory, name);
    int const handle = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    FILE *const file = handle < 0 ? NULL : fdopen(handle, "w");
    if (file == NULL) {
        int const code = errno;
        if (handle >= 0)
            (void)close(handle);
        return live_refuse(error, TACIT_IO, "cannot write %.1024s: %s", fresh, strerror(code));
    }
    if (!write_and_close(file, config, write_text) || rename(fresh, path) != 0) {
        int const code = errno;
        (void)unlink(fresh);
        return live_refuse(error, TACIT_IO, "cannot write %.1024s: %s", path, strerror(code));
    }
    return TACIT_OK;
}

enum tacit_status live_broker_config_write(const struct live_broker_config *config,
                                           struct tacit_error *error)
{
    TACIT_ASSERT(config != NULL && error != NULL);
    TACIT_TRY(check(config, error));
    TACIT_TRY(replace(config, ACCESS_NAME, write_access, error));
    return replace(config, CONFIG_NAME, write_config, error);
}

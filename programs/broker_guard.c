/* A module that mosquitto loads: bounds what one connection subscribes to, which an access list
 * does not (decision 37). mosquitto 2.0 keeps every filter, and each SUBSCRIBE to a filter that is
 * subscribed to already loses its text for good, after the connection, too. Here a connection has
 * a few short filters at a time, and each once: whoever wants one anew unsubscribes first. All
 * other questions, and whatever is not refused here, go on to the access list.
 */
#include <mosquitto.h>
#include <mosquitto_broker.h>
#include <mosquitto_plugin.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- What each connection subscribes to ---- */

#define FILTERS_MAX 32u       /* daemons have a dozen */
#define FILTER_BYTES_MAX 512u /* the longest topic has four names of 64 bytes */
#define FILTER_LEVELS_MAX 16u /* a topic has seven */
#define BUCKETS 1024u

struct connection {
    const struct mosquitto *client;
    size_t filter_count;
    char *filters[FILTERS_MAX];
    struct connection *next;
};

static struct connection *buckets[BUCKETS];

static struct connection **bucket_of(const struct mosquitto *client)
{
    return &buckets[(uintptr_t)client / 64 % BUCKETS];
}

/* Where it is, or where it would be added. */
static struct connection **find_connection(const struct mosquitto *client)
{
    struct connection **slot = bucket_of(client);
    while (*slot != NULL && (*slot)->client != client)
        slot = &(*slot)->next;
    return slot;
}

/* Its place; filter_count: it is not there. */
static size_t find_filter(const struct connection *connection, const char *filter)
{
    size_t i = 0;
    while (i < connection->filter_count && strcmp(connection->filters[i], filter) != 0)
        i++;
    return i;
}

static void forget_connection(struct connection **slot)
{
    struct connection *const gone = *slot;
    if (gone == NULL)
        return;
    *slot = gone->next;
    for (size_t i = 0; i < gone->filter_count; i++)
        free(gone->filters[i]);
    free(gone);
}

/* Not too long or deep. Names of the broker's own ($SYS, $share) are of no use here. */
static bool is_allowed(const char *filter)
{
    size_t levels = 1;
    size_t size = 0;
    for (; filter[size] != '\0'; size++) {
        levels += filter[size] == '/';
        if (size == FILTER_BYTES_MAX || levels > FILTER_LEVELS_MAX)
            return false;
    }
    return size > 0 && filter[0] != '$';
}

/* Requires: there is room for one more. False: out of memory. */
static bool add_filter(struct connection **slot, const struct mosquitto *client, const char *filter)
{
    struct connection *connection = *slot;
    char *const copy = strdup(filter);
    if (connection == NULL && copy != NULL) {
        connection = calloc(1, sizeof *connection);
        if (connection != NULL)
            connection->client = client;
        *slot = connection;
    }
    if (connection == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    connection->filters[connection->filter_count++] = copy;
    return true;
}

/* Without a clean start the broker would still have filters that we have forgotten. */
static bool may_subscribe(const struct mosquitto *client, const char *filter)
{
    struct connection **const slot = find_connection(client);
    if (!mosquitto_client_clean_session(client) || !is_allowed(filter))
        return false;
    if (*slot != NULL && ((*slot)->filter_count == FILTERS_MAX ||
                          find_filter(*slot, filter) < (*slot)->filter_count))
        return false;
    return add_filter(slot, client, filter);
}

static void unsubscribe(const struct mosquitto *client, const char *filter)
{
    struct connection *const connection = *find_connection(client);
    size_t const index = connection == NULL ? 0 : find_filter(connection, filter);
    if (connection == NULL || index == connection->filter_count)
        return;
    free(connection->filters[index]);
    connection->filters[index] = connection->filters[--connection->filter_count];
}

/* ---- What the broker calls ---- */

static int on_access(int event, void *data, void *context)
{
    struct mosquitto_evt_acl_check const *const asked = data;
    (void)event;
    (void)context;
    if (asked->access == MOSQ_ACL_SUBSCRIBE && !may_subscribe(asked->client, asked->topic))
        return MOSQ_ERR_ACL_DENIED;
    if (asked->access == MOSQ_ACL_UNSUBSCRIBE)
        unsubscribe(asked->client, asked->topic);
    return MOSQ_ERR_PLUGIN_DEFER;
}

static int on_disconnect(int event, void *data, void *context)
{
    struct mosquitto_evt_disconnect const *const gone = data;
    (void)event;
    (void)context;
    forget_connection(find_connection(gone->client));
    return MOSQ_ERR_SUCCESS;
}

int mosquitto_plugin_version(int count, const int *supported)
{
    for (int i = 0; i < count; i++)
        if (supported[i] == MOSQ_PLUGIN_VERSION)
            return MOSQ_PLUGIN_VERSION;
    return -1;
}

int mosquitto_plugin_init(mosquitto_plugin_id_t *identifier, void **context,
                          struct mosquitto_opt *options, int option_count)
{
    (void)context;
    (void)options;
    (void)option_count;
    int const code =
        mosquitto_callback_register(identifier, MOSQ_EVT_ACL_CHECK, on_access, NULL, NULL);
    if (code != MOSQ_ERR_SUCCESS)
        return code;
    return mosquitto_callback_register(identifier, MOSQ_EVT_DISCONNECT, on_disconnect, NULL, NULL);
}

/* The broker forgets the handlers itself. */
int mosquitto_plugin_cleanup(void *context, struct mosquitto_opt *options, int option_count)
{
    (void)context;
    (void)options;
    (void)option_count;
    for (size_t i = 0; i < BUCKETS; i++)
        while (buckets[i] != NULL)
            forget_connection(&buckets[i]);
    return MOSQ_ERR_SUCCESS;
}

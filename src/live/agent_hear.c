/* Announcements and messages: who said it is read from the topic, because the broker lets a
 * certificate write under its own name only. */
#include "agent_hear.h"
#include "agent_step.h"
#include "bus/topics.h"
#include "daemon/log.h"
#include <string.h>

static void refuse(struct agent *agent, const char *why)
{
    agent->refused_count++;
    live_log(LIVE_LOG_WARNING, "refused", "%s", why);
}

/* ---- Announcements --------------------------------------------------------------------------- */

static void start(struct agent *agent)
{
    struct live_site_place place;
    agent->config->protocol->place(agent->site, &place);
    agent->core_is_dirty = true;
    live_log(LIVE_LOG_INFO, "joined", "run %llu as site %u of %u: %u arms, %llu pulls%s",
             (unsigned long long)place.run_id, place.agent, place.agent_count,
             agent->config->site.arm_count, (unsigned long long)place.horizon,
             place.has_neighbours ? ", with neighbours instead of a hub" : "");
    (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_START});
}

static void join(struct agent *agent, const uint8_t *bytes, size_t size)
{
    if (!live_daemon_begin(&agent->daemon))
        return;
    agent->refusal = NULL;
    enum tacit_status const status = agent->config->protocol->join(
        &agent->site, &agent->config->site, bytes, size, &agent->refusal);
    if (status == TACIT_MALFORMED)
        refuse(agent, "an announcement that does not decode");
    else if (status == TACIT_REFUSED)
        refuse(agent, agent->refusal);
    else if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "the run cannot be joined");
    else
        start(agent);
}

/* It comes when this site connects, and to all sites when the coordinator does: a report that got
 * lost with a crash of either is there again at once, and not when the core's patience ends. */
static void on_announcement(struct agent *agent, const uint8_t *bytes, size_t size)
{
    if (agent->site == NULL)
        join(agent, bytes, size);
    else if (agent->config->protocol->is_of(agent->site, bytes, size))
        (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_CONNECTED});
    else
        refuse(agent, "another run is announced than the one that this state belongs to; a new run "
                      "needs a new state directory, and budgets on the same data add");
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void on_message(struct agent *agent, uint32_t from, bool is_broadcast, const uint8_t *bytes,
                       size_t size)
{
    if (agent->site == NULL)
        return; /* the announcement comes first */
    enum tacit_status const status = agent_step(
        agent, (struct live_site_event){.kind = LIVE_SITE_RECEIVE,
                                        .as.message = {from, is_broadcast, bytes, size}});
    if (status != TACIT_OK)
        refuse(agent, tacit_status_text(status));
}

static void on_peer_message(struct agent *agent, const char *from, const uint8_t *bytes,
                            size_t size)
{
    struct live_site_place place;
    if (agent->site == NULL)
        return;
    agent->config->protocol->place(agent->site, &place);
    for (uint32_t i = 0; i < place.neighbour_count; i++) {
        if (strcmp(place.neighbours[i].site, from) == 0) {
            on_message(agent, place.neighbours[i].agent, false, bytes, size);
            return;
        }
    }
    refuse(agent, "a message of a site that is no neighbour");
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct agent *const agent = context;
    char const *const federation = agent->config->site.federation;
    char const *const site = agent->config->site.site;
    char const *const word = agent->config->protocol->word;
    char from[65];
    if (strcmp(topic, live_topic_to(federation, site, "announce").text) == 0)
        on_announcement(agent, bytes, size);
    else if (strcmp(topic, live_topic_down(federation, word).text) == 0)
        on_message(agent, TACIT_HUB, true, bytes, size);
    else if (strcmp(topic, live_topic_to(federation, site, word).text) == 0)
        on_message(agent, TACIT_HUB, false, bytes, size);
    else if (live_topic_peer_from(topic, federation, site, word, from))
        on_peer_message(agent, from, bytes, size);
}

/* ---- The connection -------------------------------------------------------------------------- */

static void on_connected(void *context)
{
    struct agent *const agent = context;
    struct live_bus *const bus = agent->daemon.bus;
    char const *const federation = agent->config->site.federation;
    char const *const site = agent->config->site.site;
    char const *const word = agent->config->protocol->word;
    live_log(LIVE_LOG_INFO, "connected", "to the broker");
    (void)live_bus_subscribe(bus, live_topic_to(federation, site, "announce").text);
    (void)live_bus_subscribe(bus, live_topic_to(federation, site, word).text);
    (void)live_bus_subscribe(bus, live_topic_down(federation, word).text);
    (void)live_bus_subscribe(bus, live_topic_peer(federation, "+", site, word).text);
}

static void on_disconnected(void *context, const char *reason)
{
    (void)context;
    live_log(LIVE_LOG_WARNING, "disconnected", "from the broker: %s", reason);
}

struct live_bus_events agent_bus_events(struct agent *agent)
{
    return (struct live_bus_events){agent, on_connected, on_disconnected, on_received};
}

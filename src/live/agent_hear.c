/* Announcements and messages: who said it is read from the topic, because the broker lets a
 * certificate write under its own name only. */
#include "agent_hear.h"
#include "agent_step.h"
#include "bus/topics.h"
#include "daemon/log.h"
#include <stdio.h>
#include <stdlib.h>
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
    struct live_site_ops const *const protocol = agent->config->protocol;
    TACIT_ASSERT(agent->site == NULL);
    if (!live_daemon_begin(&agent->daemon))
        return;
    enum tacit_status status =
        protocol->join(&agent->site, &agent->config->site, bytes, size, &agent->refusal);
    if (status == TACIT_OK)
        status = live_letters_begin(&agent->letters, protocol->agreement(agent->site));
    if (status == TACIT_MALFORMED)
        refuse(agent, "an announcement that does not decode");
    else if (status == TACIT_REFUSED)
        refuse(agent, agent->refusal);
    else if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "the run cannot be joined");
    else
        start(agent);
}

/* What this site's own file says of a run; the rest is the coordinator's to say. */
static struct tacit_wire_agreement own_agreement(const struct agent *agent)
{
    struct live_site_config const *const site = &agent->config->site;
    return (struct tacit_wire_agreement){.protocol = agent->config->protocol->word,
                                         .family = agent->config->protocol->family,
                                         .protocol_version = agent->config->protocol->version,
                                         .arm_count = site->arm_count,
                                         .arms = site->arm_names,
                                         .lo = site->lo,
                                         .hi = site->hi};
}

/* What is announced against what this site allows. NULL: allowed, as far as all protocols go. Sites
 * whose arms or ranges differ would add up what does not belong together. */
static const char *objection_to(struct agent *agent, const struct tacit_wire_agreement *announced)
{
    struct tacit_wire_agreement const own = own_agreement(agent);
    if (tacit_wire_agreement_differs(&own, announced, agent->difference, sizeof agent->difference))
        return agent->difference;
    if (announced->agent_count > agent->config->site.agents_max)
        return "the run has more sites than policy.agents_max";
    if (announced->horizon > agent->config->site.pulls_max)
        return "the run wants more pulls than policy.pulls_max";
    return NULL;
}

/* What is announced is not what this state is of. The words stay in the status until the
 * announcement of this run comes again. */
static const char *difference_to(struct agent *agent, const struct tacit_wire_agreement *announced)
{
    char words[TACIT_WIRE_DIFFERENCE_BYTES];
    if (!tacit_wire_agreement_differs(agent->config->protocol->agreement(agent->site), announced,
                                      words, sizeof words))
        (void)snprintf(words, sizeof words, "this site has another place in it");
    (void)snprintf(agent->difference, sizeof agent->difference,
                   "another run is announced than the one that this state belongs to: %s; a new "
                   "run needs a new state directory",
                   words);
    return agent->difference;
}

/* It comes when this site connects, and to all sites when the coordinator does: a report that got
 * lost with a crash of either is there again at once, and not when the core's patience ends. */
static void hear_announcement(struct agent *agent, const struct tacit_wire_agreement *agreement,
                              const uint8_t *bytes, size_t size)
{
    bool const has_joined = agent->site != NULL;
    bool const is_ours = has_joined && agent->config->protocol->is_of(agent->site, bytes, size);
    agent->refusal = is_ours      ? NULL
                     : has_joined ? difference_to(agent, agreement)
                                  : objection_to(agent, agreement);
    if (agent->refusal != NULL)
        refuse(agent, agent->refusal);
    else if (has_joined)
        (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_CONNECTED});
    else
        join(agent, bytes, size);
}

/* Who says in the envelope something else than in the letter is not to be trusted with either. */
static bool is_of(const struct tacit_wire_envelope *envelope,
                  const struct tacit_wire_agreement *agreement)
{
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    return tacit_wire_agreement_digest(agreement, digest) == TACIT_OK &&
           memcmp(digest, envelope->agreement, sizeof digest) == 0 &&
           memcmp(agreement->run, envelope->run, sizeof agreement->run) == 0;
}

static void on_announcement(struct agent *agent, const uint8_t *bytes, size_t size)
{
    struct tacit_wire_envelope envelope;
    struct tacit_wire_announcement *announcement = NULL;
    char const *objection = live_letter_open_announcement(&agent->letters, bytes, size, &envelope);
    if (objection == NULL && tacit_wire_announcement_decode(envelope.body, envelope.body_size,
                                                            &announcement) != TACIT_OK)
        objection = "an announcement that does not decode";
    else if (objection == NULL && !is_of(&envelope, &announcement->agreement))
        objection = "an announcement whose envelope says something else";
    if (objection != NULL)
        refuse(agent, objection);
    else
        hear_announcement(agent, &announcement->agreement, envelope.body, envelope.body_size);
    free(announcement);
}

/* ---- Messages -------------------------------------------------------------------------------- */

struct sender {
    uint32_t agent; /* or TACIT_HUB */
    const char *name;
};

static const struct sender hub = {TACIT_HUB, TACIT_WIRE_COORDINATOR};

static void on_message(struct agent *agent, struct sender from, bool is_broadcast,
                       const uint8_t *bytes, size_t size)
{
    struct tacit_wire_envelope envelope;
    struct live_site_event event = {.kind = LIVE_SITE_RECEIVE};
    TACIT_ASSERT(size == 0 || bytes != NULL);
    if (agent->site == NULL)
        return; /* the announcement comes first */
    char const *const objection =
        live_letter_open(&agent->letters, from.name, bytes, size, &envelope);
    if (objection != NULL) {
        refuse(agent, objection);
        return;
    }
    event.as.message.from = from.agent;
    event.as.message.is_broadcast = is_broadcast;
    event.as.message.bytes = envelope.body;
    event.as.message.size = envelope.body_size;
    event.as.message.kind = envelope.kind;
    event.as.message.epoch = envelope.epoch;
    enum tacit_status const status = agent_step(agent, event);
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
            on_message(agent, (struct sender){place.neighbours[i].agent, from}, false, bytes, size);
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
    else if (strcmp(topic, live_topic_down(federation, word).text) == 0 ||
             live_topic_is_down_of(topic, federation, word))
        on_message(agent, hub, true, bytes, size);
    else if (strcmp(topic, live_topic_to(federation, site, word).text) == 0)
        on_message(agent, hub, false, bytes, size);
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
    if (agent->config->protocol->hears_of_each)
        (void)live_bus_subscribe(bus, live_topic_down_of(federation, "+", word).text);
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

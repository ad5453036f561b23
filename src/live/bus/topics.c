/* Topics. Names were checked when the configuration was read: they hold no + # or /. */
#include "topics.h"
#include <stdio.h>
#include <string.h>

/* site: empty where the topic has none. */
static struct live_topic make(const char *federation, const char *direction, const char *site,
                              const char *what)
{
    struct live_topic topic;
    int const length = snprintf(topic.text, sizeof topic.text, "tacit/v1/%s/%s%s%s/%s", federation,
                                direction, *site == '\0' ? "" : "/", site, what);
    TACIT_ASSERT(length > 0 && (size_t)length < sizeof topic.text);
    return topic;
}

struct live_topic live_topic_up(const char *federation, const char *site, const char *protocol)
{
    TACIT_ASSERT(*site != 0);
    return make(federation, "up", site, protocol);
}

struct live_topic live_topic_all_up(const char *federation, const char *protocol)
{
    return make(federation, "up", "+", protocol);
}

struct live_topic live_topic_down(const char *federation, const char *protocol)
{
    return make(federation, "down", "", protocol);
}

struct live_topic live_topic_down_of(const char *federation, const char *site, const char *protocol)
{
    TACIT_ASSERT(*site != 0);
    return make(federation, "down", site, protocol);
}

struct live_topic live_topic_to(const char *federation, const char *site, const char *what)
{
    TACIT_ASSERT(*what != 0);
    return make(federation, "to", site, what);
}

struct live_topic live_topic_peer(const char *federation, const char *from, const char *to,
                                  const char *protocol)
{
    struct live_topic topic;
    int const length = snprintf(topic.text, sizeof topic.text, "tacit/v1/%s/peer/%s/%s/%s",
                                federation, from, to, protocol);
    TACIT_ASSERT(length > 0 && (size_t)length < sizeof topic.text);
    return topic;
}

struct live_topic live_topic_key(const char *federation, const char *name)
{
    return make(federation, "key", "", name);
}

/* The name between two texts that a topic begins and ends with. */
static bool name_between(const char *topic, const char *before, const char *after, char name[65])
{
    TACIT_ASSERT(before != NULL && after != NULL);
    size_t const skip = strlen(before);
    if (strncmp(topic, before, skip) != 0)
        return false;
    size_t const size = strcspn(topic + skip, "/");
    if (size == 0 || size > 64 || strcmp(topic + skip + size, after) != 0)
        return false;
    memcpy(name, topic + skip, size);
    name[size] = '\0';
    return true;
}

bool live_topic_key_of(const char *topic, const char *federation, char name[65])
{
    char before[LIVE_TOPIC_BYTES];
    (void)snprintf(before, sizeof before, "tacit/v1/%s/key/", federation);
    return name_between(topic, before, "", name);
}

bool live_topic_peer_from(const char *topic, const char *federation, const char *to,
                          const char *protocol, char from[65])
{
    char before[LIVE_TOPIC_BYTES];
    char after[LIVE_TOPIC_BYTES];
    (void)snprintf(before, sizeof before, "tacit/v1/%s/peer/", federation);
    (void)snprintf(after, sizeof after, "/%s/%s", to, protocol);
    return name_between(topic, before, after, from);
}

bool live_topic_is_down_of(const char *topic, const char *federation, const char *protocol)
{
    char before[LIVE_TOPIC_BYTES];
    char after[LIVE_TOPIC_BYTES];
    char site[65];
    (void)snprintf(before, sizeof before, "tacit/v1/%s/down/", federation);
    (void)snprintf(after, sizeof after, "/%s", protocol);
    return name_between(topic, before, after, site);
}

bool live_topic_site(const char *topic, const char *federation, const char *protocol, char site[65])
{
    char before[LIVE_TOPIC_BYTES];
    char after[LIVE_TOPIC_BYTES];
    (void)snprintf(before, sizeof before, "tacit/v1/%s/up/", federation);
    (void)snprintf(after, sizeof after, "/%s", protocol);
    return name_between(topic, before, after, site);
}

/* Topics. Names were checked when the configuration was read: they hold no + # or /. */
#include "topics.h"
#include <stdio.h>
#include <string.h>

static struct live_topic make(const char *federation, const char *direction, const char *site,
                              const char *what)
{
    struct live_topic topic;
    int const length = snprintf(topic.text, sizeof topic.text, "tacit/v1/%s/%s%s%s/%s", federation,
                                direction, *site == '\0' ? "" : "/", site, what);
    TACIT_ASSERT(length > 0 && (size_t)length < sizeof topic.text);
    return topic;
}

struct live_topic live_topic_up(const char *federation, const char *site)
{
    return make(federation, "up", site, "elim");
}

struct live_topic live_topic_all_up(const char *federation)
{
    return make(federation, "up", "+", "elim");
}

struct live_topic live_topic_down(const char *federation)
{
    return make(federation, "down", "", "elim");
}

struct live_topic live_topic_to(const char *federation, const char *site, const char *what)
{
    return make(federation, "to", site, what);
}

bool live_topic_site(const char *topic, const char *federation, char site[65])
{
    char prefix[LIVE_TOPIC_BYTES];
    int const length = snprintf(prefix, sizeof prefix, "tacit/v1/%s/up/", federation);
    if (strncmp(topic, prefix, (size_t)length) != 0)
        return false;
    char const *const name = topic + length;
    size_t const size = strcspn(name, "/");
    if (size == 0 || size > 64 || strcmp(name + size, "/elim") != 0)
        return false;
    memcpy(site, name, size);
    site[size] = '\0';
    return true;
}

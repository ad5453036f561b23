/* Topics: who hears what. The last part is the name of the protocol. */
#ifndef TACIT_LIVE_TOPICS_H
#define TACIT_LIVE_TOPICS_H
#include "bus.h"

struct live_topic {
    char text[LIVE_TOPIC_BYTES];
};

/* tacit/v1/FEDERATION/up/SITE/PROTOCOL: what a site says to the hub. */
struct live_topic live_topic_up(const char *federation, const char *site, const char *protocol);
/* tacit/v1/FEDERATION/up/+/PROTOCOL: all of them. With LIVE_TOPIC_ENTRY for PROTOCOL, here and in
 * `up` and `down`: entries of the coordinator's replicated log, retained. */
#define LIVE_TOPIC_ENTRY "chain"
struct live_topic live_topic_all_up(const char *federation, const char *protocol);
/* tacit/v1/FEDERATION/down/PROTOCOL: the standing order, retained. */
struct live_topic live_topic_down(const char *federation, const char *protocol);
/* tacit/v1/FEDERATION/down/SITE/PROTOCOL: what stands of one site, for all, retained; SITE "+": of
 * each. */
struct live_topic live_topic_down_of(const char *federation, const char *site,
                                     const char *protocol);
/* tacit/v1/FEDERATION/to/SITE/PROTOCOL and …/announce: to one site; the announcement is retained.
 */
struct live_topic live_topic_to(const char *federation, const char *site, const char *what);
/* tacit/v1/FEDERATION/peer/FROM/TO/PROTOCOL: between neighbours; FROM "+": from all of them. */
struct live_topic live_topic_peer(const char *federation, const char *from, const char *to,
                                  const char *protocol);
/* tacit/v1/FEDERATION/key/NAME: the certificate that NAME's words are checked with, retained; NAME
 * "+": of each. */
struct live_topic live_topic_key(const char *federation, const char *name);
/* The NAME of a key topic; false if it is none of this federation. */
bool live_topic_key_of(const char *topic, const char *federation, char name[65]);
/* The FROM of a peer topic to this site; false if it is none. */
bool live_topic_peer_from(const char *topic, const char *federation, const char *to,
                          const char *protocol, char from[65]);
/* Is it a topic of live_topic_down_of? */
bool live_topic_is_down_of(const char *topic, const char *federation, const char *protocol);
/* The SITE of an up topic; false if it is none of this federation. */
bool live_topic_site(const char *topic, const char *federation, const char *protocol,
                     char site[65]);
#endif

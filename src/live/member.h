/* What an agent and a coordinator both are: a member of a run, who signs what it says, and takes
 * up what others have signed. Its own key, which it shows to all who may hear it; the keys of those
 * that it hears; what was refused, by the name under which it came. */
#ifndef TACIT_LIVE_MEMBER_H
#define TACIT_LIVE_MEMBER_H
#include "bus/envelope.h"
#include "daemon.h"
#include "sender.h"
#include "site.h"

struct live_member {
    struct live_daemon *daemon;
    struct live_envelopes *envelopes; /* what it says and hears is of this run */
    struct live_signing_config config;
    struct live_signer *signer;
    struct live_keys *keys;
    uint64_t asked_us; /* when a key that was missing was asked for last */
    uint64_t refused_count;
    uint64_t unsigned_count; /* of the refused: not signed by whose word they claim to be */
};

/* daemon and envelopes have to stay; the envelopes are signed and checked with its keys from now
 * on. heard_max: so many others' keys at most. Errors: with error->text; nothing stays open. */
enum tacit_status live_member_open(struct live_member *member, struct live_daemon *daemon,
                                   struct live_envelopes *envelopes,
                                   const struct live_signing_config *config, uint32_t heard_max,
                                   struct tacit_error *error);
void live_member_close(struct live_member *member); /* also of one that was not opened */

/* At each connection, before anything else: reads key, certificate, CA and list of revoked ones
 * anew (what cannot be read stays as it was, and the log says so), asks for the keys of all that it
 * may hear, and shows its own. */
void live_member_connected(struct live_member *member);
/* As struct live_bus_events has it. */
void live_member_disconnected(void *context, const char *reason);

/* On SIGHUP: both pairs are read anew; the one that words are signed with is shown at once. */
void live_member_reload(struct live_member *member);

/* Its own key is heard, too: what others show of its own words is checked with it. */
void live_member_add_own_key(struct live_member *member);

/* Asks for a key that has not come, at most once a second: the broker keeps it. */
void live_member_ask(struct live_member *member, const char *name);

/* In an envelope, once what it rests on is durable. Without memory it is not said now. */
void live_member_post(struct live_member *member, const struct live_envelope *content,
                      bool is_retained);

/* The same of what its core says: to this one, or to all (NULL). */
void live_member_send(struct live_member *member, const struct live_message *message,
                      const char *to, const char *topic);

/* A word that came under this name is refused: counted, and on a line of the log if the name has
 * one left. */
void live_member_refuse(struct live_member *member, struct live_sender *sender, const char *name,
                        const char *why, bool is_unsigned);
/* The same once more: counted, and without another line. */
void live_member_refuse_again(struct live_member *member, struct live_sender *sender,
                              const char *why);
/* Refuses what was opened, unless the objection is NULL; a key that lacks is asked for. True: it
 * was not refused. */
bool live_member_accept(struct live_member *member, struct live_sender *sender, const char *name,
                        const char *objection, const struct live_opened *opened);
/* A key that was shown under this name. */
void live_member_add_key(struct live_member *member, struct live_sender *sender,
                         const struct live_arrival *shown);
#endif

/* What a daemon signs with, and whose words it can check: its own key, which it shows to all who
 * may hear it, and the keys of those that it hears. */
#ifndef TACIT_LIVE_VOICE_H
#define TACIT_LIVE_VOICE_H
#include "bus/letter.h"
#include "daemon.h"

struct live_voice {
    struct live_signing_config config;
    const char *federation;
    struct live_signer *signer;
    struct live_keys *keys;
    uint64_t asked_us; /* when a key that was missing was asked for last */
};

/* Errors: with error->text; nothing stays open. */
enum tacit_status live_voice_open(struct live_voice *voice,
                                  const struct live_signing_config *config, const char *federation,
                                  uint32_t heard_max, struct tacit_error *error);
void live_voice_close(struct live_voice *voice); /* also of one that was not opened */

/* Reads key, certificate, CA and list of revoked ones anew, as the bus does with its own; what
 * cannot be read stays as it was, and the log says so. */
void live_voice_renew(struct live_voice *voice, struct live_letters *letters);

/* At each connection, before anything else: renews, asks for the keys of all that it may hear, and
 * shows its own. */
void live_voice_connected(struct live_voice *voice, struct live_daemon *daemon,
                          struct live_letters *letters);

/* On SIGHUP: both pairs are read anew; the one that words are signed with is shown at once. */
void live_voice_reload(struct live_voice *voice, struct live_daemon *daemon,
                       struct live_letters *letters);

/* Asks for a key that has not come, at most once a second: the broker keeps it. */
void live_voice_ask(struct live_voice *voice, struct live_daemon *daemon, const char *name);
#endif

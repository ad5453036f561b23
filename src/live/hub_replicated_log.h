/* The coordinator's end of the replicated log: it makes entries, and hears what the sites hold. */
#ifndef TACIT_LIVE_HUB_REPLICATED_LOG_H
#define TACIT_LIVE_HUB_REPLICATED_LOG_H
#include "replicated_log.h"
#include "daemon.h"
#include "hub.h"

/* Why a coordinator goes no further; NONE: it does. */
enum live_replicated_log_stop {
    LIVE_HUB_GOES_ON,
    LIVE_HUB_LOST, /* the sites are in a run with this number of which nothing is known here */
    LIVE_HUB_BEHIND,
    LIVE_HUB_FORKED
};

struct live_hub_replicated_log {
    struct live_held_entry held;
    uint8_t *room;         /* for a state */
    uint64_t rebuilt_term; /* what this hub was rebuilt from; 0: it was not */
    uint64_t rebuilt_number;
    const char *protocol; /* that cannot be built again from what its sites hold; NULL: it can */
    bool has_one_run;     /* as live_hub_ops has it */
    bool warned_too_large;
    bool warned_other; /* that the sites hold entries of another run with this number */
    enum live_replicated_log_stop stop;
    struct tacit_error why;
};

/* As it was kept. Errors: TACIT_MALFORMED, TACIT_MEMORY, and what the store says. Ensures: the
 * envelopes name the newest entry. */
enum tacit_status live_hub_replicated_log_open(struct live_hub_replicated_log *replicated_log,
                                               const struct live_hub_ops *protocol,
                                               struct live_store *store,
                                               struct live_envelopes *envelopes);
/* Signs the newest entry again, with the key that counts now. Errors: TACIT_MEMORY; it stays. */
enum tacit_status live_hub_replicated_log_sign(struct live_hub_replicated_log *replicated_log,
                                               struct live_envelopes *envelopes);
void live_hub_replicated_log_close(struct live_hub_replicated_log *replicated_log);

/* After a step: an entry more, in the batch of this round and to be sent behind it, if what the hub
 * would be built from is another than before. Errors: TACIT_MEMORY, TACIT_IO; what the step had to
 * say must then not be said. */
enum tacit_status live_hub_replicated_log_advance(struct live_hub_replicated_log *replicated_log,
                                                  struct live_daemon *daemon,
                                                  struct live_envelopes *envelopes,
                                                  const struct live_hub_ops *protocol,
                                                  const struct live_hub *hub);

/* To all, retained. */
void live_hub_replicated_log_publish(const struct live_hub_replicated_log *replicated_log,
                                     struct live_daemon *daemon,
                                     const struct live_envelopes *envelopes);

/* What a site holds, in an envelope that it signed. NULL, or why it is refused; replicated
 * log->stop says whether this coordinator may go on. */
const char *live_hub_replicated_log_read(struct live_hub_replicated_log *replicated_log,
                                         const struct live_envelopes *envelopes, const char *site,
                                         const struct tacit_wire_envelope *envelope);

/* What there is to be done where a state is lost and cannot be built again. */
const char *live_hub_replicated_log_over(bool has_one_run);

/* A run as a site's status names it, 32 hexadecimal digits, into run->run_nonce. Errors:
 * TACIT_INVALID, with error->text; NULL is one. */
enum tacit_status live_hub_parse_run(const char *text, struct live_hub_config *run,
                                     struct tacit_error *error);

#define LIVE_RUN_NONCE "run_nonce" /* in a store */

/* Values that a store keeps of a hub that was rebuilt. */
#define LIVE_HUB_REBUILT_TERM "rebuilt_term"
#define LIVE_HUB_REBUILT_NUMBER "rebuilt_number"
#endif

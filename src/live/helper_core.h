/* A helper's state and what it does with what it hears; helper.c is the daemon around it. */
#ifndef TACIT_LIVE_HELPER_CORE_H
#define TACIT_LIVE_HELPER_CORE_H
#include "causes.h"
#include "daemon.h"
#include "helper_config.h"
#include "protocol.h"
#include "trust.h"

/* Kept: this, the offer that was accepted, the core's state; in one block. */
struct helper_kept {
    uint64_t offer_size;
    uint64_t is_over;
    uint8_t key[LIVE_KEY_BYTES]; /* the run's, private; zeros once it is over */
};

struct helper {
    const struct live_helper_config *config;
    struct live_daemon daemon;
    struct live_signer *signer;
    struct live_room room; /* of the offer */
    struct live_offer offer;
    const struct live_hub_ops *ops;
    double delta; /* of the offer's (epsilon, delta); 0: pure */
    struct tacit_helper_config core_config;
    struct helper_kept *kept; /* the block; NULL: nothing was agreed to */
    size_t size;
    struct tacit_helper *core;
    uint64_t *faulty;                  /* W(A): left out of the newest answer */
    enum tacit_helper_verdict verdict; /* of the last request */
    bool is_asked_in_vain; /* there is no run that was agreed to: the state is new, or lost */
    bool awaits_operator;  /* an offer lies in the state directory */
    uint64_t refused_count;
    struct live_standstill still; /* what it waits for, and since when */
    uint64_t heard_us;            /* the hub's last message that was in order; 0: none yet */
    char outcome[512]; /* of the last thing that was heard: what came of it, for people */
};

/* Opens state and keys. Errors: with error->text. */
enum tacit_status helper_open(struct helper *helper, const struct live_helper_config *config,
                              struct tacit_error *error);
void helper_close(struct helper *helper);

/* A file of the state directory, to be given to free(). NULL: there is none that can be read. */
uint8_t *helper_read(const char *directory, const char *name, size_t *size);
/* Takes the operator's agreement, if it is there for the offer that is. True: it was just agreed
 * to. The files of both stay until a later call, or helper_drop_offer: a helper that dies before
 * the state is on disk agrees again. */
bool helper_read_agreement(struct helper *helper);
/* Requires: what the offer led to is on disk. */
void helper_drop_offer(const struct helper *helper);
/* The run's key, signed; as of helper_on_message. */
enum tacit_status helper_reply_sealing(struct helper *helper, uint8_t **reply, size_t *size);

/* Hears the coordinator. *reply: to be given to free(), and to be said once the batch is durable;
 * NULL: nothing. Errors: it was not taken; helper->outcome says why. */
enum tacit_status helper_on_message(struct helper *helper, const uint8_t *bytes, size_t size,
                                    uint8_t **reply, size_t *reply_size);

/* Notes what a site reports, where an offer is not of sums of rewards (live_hub_ops.vector, whose
 * result it is); of a run that is none, that it is nothing. The room has what was read. */
double helper_vector(const struct live_hub_ops *ops, const struct live_offer *offer,
                     struct live_room *room, struct tacit_helper_run *made);

/* What came of a request, in words. */
const char *helper_verdict_text(enum tacit_helper_verdict verdict);

/* The identity of the state: what may not change. agreed is to be given to free(). */
enum tacit_status helper_identify(const struct live_helper_config *config,
                                  struct live_store_identity *identity);
#endif

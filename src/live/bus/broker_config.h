/* What the broker of one federation must be told: mosquitto.conf and the access list, as text
 * files. Who may write and read which topic is decided here and enforced by the broker: whoever
 * writes is given each topic letter by letter, so that nobody can keep retained messages under
 * names that nobody reads. */
#ifndef TACIT_LIVE_BROKER_CONFIG_H
#define TACIT_LIVE_BROKER_CONFIG_H
#include "tacit/base.h"
#include "tacit/topo.h"

struct live_broker_config {
    const char *directory; /* must exist; gets mosquitto.conf and tacit.acl */
    const char *federation;
    const char *const *sites;
    size_t site_count;
    const char *const *protocols; /* the last parts of the topics: those of the protocols */
    size_t protocol_count;
    const struct tacit_graph *graph; /* who hears whom, by the order of sites; NULL: nobody */
    bool has_helper;     /* two aggregators: the helper may do two things, and nothing else */
    bool shows_all_keys; /* sites check what others than their neighbours have signed */
    const char *address; /* to listen at: a host name or a numerical address */
    uint16_t port;
    const char *ca_file; /* a private CA: whoever it certifies may connect */
    const char *certificate_file;
    const char *key_file;
    const char *crl_file;              /* NULL: nobody is revoked */
    const char *persistence_directory; /* NULL: nothing outlives the broker */
    const char *guard_file;            /* a module that bounds subscriptions; NULL: nothing does */
    const char *user;                  /* what root becomes; NULL: mosquitto's default */
};

/* Replaces both files, each as a whole. Errors: TACIT_INVALID (a name, address or path that is not
 * allowed, a site named twice, no protocol), TACIT_IO, TACIT_MEMORY, with error->text. */
enum tacit_status live_broker_config_write(const struct live_broker_config *config,
                                           struct tacit_error *error);
#endif

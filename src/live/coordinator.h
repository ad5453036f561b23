/* The coordinator daemon: the hub core behind a broker, with its durable state and a status page.
 * Where the sites of a graph judge for themselves it only announces the run and shows where they
 * are. */
#ifndef TACIT_LIVE_COORDINATOR_H
#define TACIT_LIVE_COORDINATOR_H
#include "bus/bus.h"
#include "api/http.h"
#include "tacit/elim.h"

struct live_coordinator_config {
    const char *federation;
    const char *const *sites; /* names by agent index */
    uint32_t site_count;
    const char *const *arm_names;
    uint32_t arm_count;
    uint64_t run_id;
    uint64_t horizon;
    double epsilon; /* per reward: what the sites are expected to noise with */
    uint32_t report_count;
    uint32_t round_limit; /* 0: none */
    double gap;
    uint32_t quorum;
    uint32_t deadline_s;
    const struct tacit_elim_network *network; /* of peers; NULL: a star */
    const char *network_kind;                 /* its word, for the status */
    const char *state_directory;
    struct live_bus_config bus; /* client id, topics and back-off are set here */
    struct live_http_config status;
};

/* Runs until SIGTERM. Errors: with error->text; TACIT_INVALID and TACIT_MALFORMED: nothing was
 * started. */
enum tacit_status live_coordinator_run(const struct live_coordinator_config *config,
                                       struct tacit_error *error);
#endif

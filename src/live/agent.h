/* The agent daemon of a site: the agent core behind the decision API and the broker. */
#ifndef TACIT_LIVE_AGENT_H
#define TACIT_LIVE_AGENT_H
#include "bus/bus.h"
#include "api/http.h"

struct live_agent_config {
    const char *federation;
    const char *site;
    const char *const *arm_names;
    uint32_t arm_count;
    /* The site's own policy. Nothing that the coordinator says enters the noise. */
    double epsilon; /* per reward */
    double budget;  /* in total */
    double lo;      /* public range of a reward */
    double hi;
    uint32_t agents_max;
    uint32_t rounds_max;
    uint64_t pulls_max;
    uint32_t deadline_s; /* decisions.h */
    uint32_t remember_s;
    uint32_t open_max;
    uint32_t units_max;
    const char *state_directory;
    struct live_bus_config bus;
    struct live_http_config api;
};

/* Runs until SIGTERM. Errors: with error->text; TACIT_INVALID and TACIT_MALFORMED: nothing was
 * started. */
enum tacit_status live_agent_run(const struct live_agent_config *config, struct tacit_error *error);
#endif

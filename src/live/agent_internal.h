/* The agent daemon's inside, shared by its files: agent.c (state, broker, steps) and agent_api.c
 * (what the decision API asks for). */
#ifndef TACIT_LIVE_AGENT_INTERNAL_H
#define TACIT_LIVE_AGENT_INTERNAL_H
#include "agent.h"
#include "api.h"
#include "daemon.h"
#include "decisions.h"
#include "tacit/elim.h"
#include "tacit/wire.h"

struct live_agent {
    const struct live_agent_config *config;
    struct live_daemon daemon;
    struct live_decisions *decisions;
    struct live_api *api;
    struct live_timer *core_timer;
    struct live_timer *expiry_timer;
    struct tacit_mechanism mechanism;
    bool has_joined; /* the run's numbers below are known and durable */
    struct tacit_wire_announcement run;
    struct tacit_elim_agent *core; /* NULL before the site has joined */
    size_t core_size;
    bool core_is_dirty; /* changed in this round: put it once, at the end */
    bool ranking_is_stale;
    uint32_t *ranking; /* active arms, best noised first */
    uint64_t *active;
    uint32_t active_count;
    uint64_t refused_count;
    uint64_t clipped_count; /* stays inside: it depends on rewards */
    const char *refusal;    /* why this site does not take part, or NULL */
};

/* Feeds the core and carries its update out within this round. */
enum tacit_status live_agent_step(struct live_agent *agent, struct tacit_elim_event event);

/* What decisions fall back to; refreshed from the core. */
struct live_fallback live_agent_fallback(struct live_agent *agent);

/* agent_api.c */
struct live_api_agent live_agent_api(struct live_agent *agent);
#endif

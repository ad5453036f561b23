/* The agent daemon's inside, shared by its files: agent.c (state, broker, steps) and agent_api.c
 * (what the decision API asks for). */
#ifndef TACIT_LIVE_AGENT_INTERNAL_H
#define TACIT_LIVE_AGENT_INTERNAL_H
#include "agent.h"
#include "api/api.h"
#include "core.h"
#include "daemon.h"
#include "api/decisions.h"

struct live_agent {
    const struct live_agent_config *config;
    struct live_daemon daemon;
    struct live_decisions *decisions;
    struct live_api *api;
    struct live_timer *core_timer;
    struct live_timer *expiry_timer;
    struct live_timer *answers_timer;
    struct tacit_mechanism mechanism;
    struct live_core *core; /* NULL before the site has joined a run */
    bool plan_is_held;      /* a peer that has released nothing yet, and has not asked around */
    bool core_is_dirty;     /* changed in this round: put it once, at the end */
    bool has_forgotten;     /* decisions, in this round: their rows no longer show the next id */
    uint32_t acknowledged_epoch; /* last one that the hub said it holds, since this start */
    uint64_t core_deadline_us;   /* as the core said it, before the jitter */
    bool ranking_is_stale;
    uint32_t *ranking; /* active arms, best noised first */
    uint64_t *active;
    uint32_t active_count;
    uint64_t refused_count;
    uint64_t clipped_count; /* depends on rewards: shown under /v1/clipped and nowhere else */
    const char *refusal;    /* why this site does not take part, or NULL */
};

/* Feeds the core and carries its update out within this round. */
enum tacit_status live_agent_step(struct live_agent *agent, struct tacit_elim_event event);

/* What decisions fall back to; refreshed from the core. */
struct live_fallback live_agent_fallback(struct live_agent *agent);

/* agent_api.c */
struct live_api_agent live_agent_api(struct live_agent *agent);
#endif

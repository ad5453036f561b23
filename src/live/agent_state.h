/* The agent daemon's inside, which its files share: agent_step.c (the core's effects), agent_rows.c
 * (what is kept), agent_times.c, agent_decisions.c (decisions in time), agent_remember.c (those
 * that closed), agent_task.c (the site's own command), agent_hear.c (the broker), agent_api.c
 * (applications), agent.c (start, timers, end). */
#ifndef TACIT_LIVE_AGENT_STATE_H
#define TACIT_LIVE_AGENT_STATE_H
#include "chain.h"
#include "agent_config.h"
#include "api/api.h"
#include "api/decisions.h"
#include "causes.h"
#include "bus/envelope.h"
#include "control.h"
#include "daemon.h"
#include "daemon/command.h"
#include "daemon/state_clock.h"
#include "history.h"
#include "observe.h"
#include "runs.h"
#include "member.h"

#define AGENT_PATH_BYTES 4096u

struct agent;

/* What the site's own command is doing. */
struct agent_task {
    void (*tell)(struct agent *agent, struct live_site_event event); /* that it has ended */
    struct live_command *command;                                    /* NULL: nothing runs */
    struct live_timer *timer; /* its deadline; NULL: this protocol has no command */
    uint64_t number;          /* 0: none */
    size_t result_size;
    char result[64]; /* name of the file that it is to leave */
    char directory[AGENT_PATH_BYTES];
    char log[AGENT_PATH_BYTES];
};

/* The runs of this state, and the one that waits for its owner's word. */
struct agent_runs {
    struct live_runs all;
    bool (*consent)(struct agent *agent, uint64_t run_id, const char **objection);
    uint8_t *waiting; /* its announcement; NULL: none waits */
    size_t waiting_size;
    uint64_t waiting_term;
    uint8_t waiting_run[TACIT_WIRE_RUN_BYTES];
    char objection[TACIT_WIRE_DIFFERENCE_BYTES + 256];
};

/* What this site holds of the coordinator's chain (agent_chain.h). */
struct agent_chain {
    struct live_entry head; /* number 0: nothing yet */
    uint8_t *envelope;      /* as the coordinator signed it */
    size_t size;
    uint64_t asked_us; /* when it was asked for last */
    bool is_forked;
};

struct agent {
    const struct live_agent_config *config;
    struct live_daemon daemon;
    struct live_decisions *decisions;
    struct live_api *api;
    struct live_control *control; /* NULL until the start is done */
    struct live_observe observe;
    struct live_timer *core_timer;
    struct live_timer *expiry_timer;
    struct live_site *site; /* NULL before it has joined a run */
    bool core_is_dirty;     /* changed in this round: put it once, at the end */
    bool has_forgotten; /* decisions, in this round: their rows no longer show the next number */
    uint64_t core_deadline_us; /* as the core said it, before the jitter */
    struct live_state_clock clock;
    uint64_t kept_wait_ms;      /* what is on disk; 0: nothing */
    uint64_t said_waited_ms;    /* in the log, of this round */
    uint64_t arms_since_unix_s; /* when the arms that are in last became fewer here; 0: never */
    bool said_biased;
    struct live_standstill standstill; /* of its round */
    bool ranking_is_stale;
    uint32_t *ranking; /* active arms, best first */
    uint64_t *active;
    uint32_t active_count;
    uint8_t announced[TACIT_WIRE_RUN_BYTES]; /* the run that the coordinator announced last */
    bool has_announced;
    uint32_t hub_epoch;             /* that the coordinator spoke of last */
    uint64_t hub_heard_us;          /* when; 0: not since the start */
    enum live_notice notice;        /* what the coordinator said of the helper, .. */
    uint64_t helper_noticed_us;     /* .. when; 0: it is over */
    uint32_t helper_waited_s;       /* .. so long by then */
    struct live_sender hub_sender;  /* the coordinator */
    struct live_sender *neighbours; /* by their order; NULL: none yet */
    uint32_t neighbour_count;
    struct live_sender strangers; /* all other names together */
    uint64_t early_count;         /* decisions before any run was joined, since the start .. */
    uint64_t early_rewards;       /* .. and their rewards, which count nowhere */
    uint64_t clipped_count;       /* depends on rewards: shown under /v1/clipped and nowhere else */
    const char
        *refusal; /* why this site does not take part, or what it takes no part in; or NULL */
    char difference[TACIT_WIRE_DIFFERENCE_BYTES + 384]; /* room for its words */
    struct live_envelopes envelopes;
    bool awaits_term; /* its owner has set the term: nothing is said or heard until the next begins
                       */
    struct live_member member;
    struct agent_chain chain;
    struct agent_task task;
    struct agent_runs runs;
    struct live_history history; /* where the site knows means or intervals of arms */
    uint64_t spent_nano;         /* the most that a reward has lost in any run (agent_ledger.c) */
    uint64_t unit_most;          /* the most rewards of one unit that entered anything */
    uint8_t unit_key[32];        /* of the digests of units (agent_units.c) */
    bool has_unit_key;
};
#endif

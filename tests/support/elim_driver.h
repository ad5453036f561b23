/* Drives the cores of epoch elimination by hand: one event at a time, with entropy that fails when
 * told to, and small federations with constant rewards whose messages arrive at once. Not a
 * simulator: nothing is lost, late or random unless a test makes it so. After every step the state
 * is one that the core's own check accepts, and no timer asks to be woken in the past. */
#ifndef TACIT_TESTS_ELIM_DRIVER_H
#define TACIT_TESTS_ELIM_DRIVER_H
#include "tacit/elim.h"

#define DRIVER_AGENTS_MAX 8u
#define DRIVER_ARMS_MAX 130u
#define DRIVER_RUN_ID 7u
#define DRIVER_RESEND_US 100u

/* What both ends of a federation are configured with. */
struct driver_setup {
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t report_count;
    uint32_t round_limit;
    double gap;
    uint64_t horizon;
    double epsilon; /* INFINITY: no noise */
    enum tacit_privacy_mode mode;
    uint64_t budget_nano;
    uint32_t quorum; /* of the hub, as the next */
    uint64_t round_timeout_us;
    double growth; /* of exact bounds; 0: the paper's */
    double confidence;
    uint32_t change_max;
    bool has_grants; /* numbered ones */
};

/* A stream whose fills number fail_from, .., fail_from + fail_count - 1, counted from 0, fail. */
struct driver_entropy {
    struct tacit_rng rng;
    uint64_t fill_count;
    uint64_t fail_from;
    uint64_t fail_count;
};

/* An agent or the hub, in memory of its own, with what its last step asked for. */
struct driver_core {
    bool is_hub;
    struct tacit_elim_agent_config agent_config; /* of an agent */
    struct tacit_elim_hub_config hub_config;     /* of the hub */
    uint32_t agent_count;
    uint32_t arm_count;
    struct tacit_scale scale;
    void *state;
    size_t size;
    uint64_t now_us; /* the clock that the next step reads */
    struct driver_entropy entropy;
    struct tacit_elim_update update;
};

/* Everybody reports, no noise, no round limit, sound mode, unlimited budget. */
struct driver_setup driver_setup_plain(uint32_t agent_count, uint32_t arm_count, uint64_t horizon);

struct tacit_mechanism driver_mechanism(const struct driver_setup *setup);
struct tacit_elim_agent_config driver_agent_config(const struct driver_setup *setup,
                                                   uint32_t agent_id);
struct tacit_elim_hub_config driver_hub_config(const struct driver_setup *setup);

/* Initialised, not started. */
struct driver_core driver_agent_open(const struct driver_setup *setup, uint32_t agent_id);
struct driver_core driver_hub_open(const struct driver_setup *setup);

/* A second core with the same bytes, entropy and clock. */
struct driver_core driver_copy(const struct driver_core *core);

/* A crash and a restart, or a move: the bytes of the state go to other memory, the old ones are
 * overwritten. No event is sent. */
void driver_move(struct driver_core *core);

/* ---- Events ---- */

struct tacit_event driver_start(void);
struct tacit_event driver_timeout(void);
struct tacit_event driver_receive(const struct tacit_elim_message *message);
/* Of the hub's, to everyone. */
struct tacit_elim_message driver_order(uint32_t epoch, uint64_t pulls, const uint64_t *arms);
struct tacit_event driver_reward(uint32_t arm, uint64_t count, union tacit_sum sum);

/* ---- Steps ---- */

enum tacit_status driver_step(struct driver_core *core, struct tacit_event event);

/* The step has this status. */
void driver_expect(struct driver_core *core, struct tacit_event event, enum tacit_status status);

/* The step is refused with this status, asks for nothing, and leaves every byte of the state as it
 * was. */
void driver_expect_refusal(struct driver_core *core, struct tacit_event event,
                           enum tacit_status status);

/* Serves the plan of the last update with constant rewards. */
void driver_play(struct driver_core *agent, const double *means);

/* Do the core's own checks take the state? */
enum tacit_status driver_check(const struct driver_core *core);

struct tacit_elim_agent_view driver_agent_view(const struct driver_core *agent);
struct tacit_elim_hub_view driver_hub_view(const struct driver_core *hub);

/* Pulls that the last update plans. */
uint64_t driver_plan_length(const struct driver_core *agent);

/* ---- Messages ---- */

/* The message of the last update, copied, for free(). Requires: there is one. */
struct tacit_elim_message *driver_keep(const struct driver_core *core);

/* ---- Federations ---- */

struct driver_run {
    struct driver_setup setup;
    const double *means; /* of all agents */
    struct driver_core hub;
    struct driver_core agents[DRIVER_AGENTS_MAX];
    struct tacit_elim_message *order; /* the hub's last broadcast */
    uint32_t report_count;            /* reports that agents sent, so far */
};

/* Starts the agents, then the hub. */
void driver_run_open(struct driver_run *run, const struct driver_setup *setup, const double *means);

/* Everybody gets the order, plays its plan and reports, in agent order. Result: is there a new
 * order? */
bool driver_run_round(struct driver_run *run);
#endif

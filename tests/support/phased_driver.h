/* Drives the cores of the phased index by hand, one event at a time. After every step the state is
 * one that the core's own check accepts. */
#ifndef TACIT_TESTS_PHASED_DRIVER_H
#define TACIT_TESTS_PHASED_DRIVER_H
#include "tacit/phased.h"

#define PHASED_AGENTS_MAX 8u
#define PHASED_RUN_ID 9u
#define PHASED_RESEND_US 100u

struct phased_setup {
    struct tacit_phases schedule;
    const double *means; /* K, of all sites */
    uint64_t seed;
    uint64_t budget_nano;
    uint32_t quorum;
    uint64_t round_timeout_us;
    const struct tacit_aggregators *aggregators; /* two; NULL: one */
    const uint64_t *dropped;                     /* of two: sites, by the operator's word */
};

struct phased_core {
    const struct phased_setup *setup;
    bool is_hub;
    uint32_t agent_id;
    void *state;
    size_t size;
    uint64_t now_us;
    struct tacit_rng noise;
    struct tacit_rng rewards;
    struct tacit_phased_update update;
};

struct tacit_phased_agent_config phased_agent_config(const struct phased_setup *setup,
                                                     uint32_t agent_id);
struct tacit_phased_hub_config phased_hub_config(const struct phased_setup *setup);

struct phased_core *phased_agent_new(const struct phased_setup *setup, uint32_t agent_id);
struct phased_core *phased_hub_new(const struct phased_setup *setup);

enum tacit_status phased_step(struct phased_core *core, struct tacit_event event);

struct tacit_event phased_start(void);
struct tacit_event phased_timeout(void);
struct tacit_event phased_receive(const struct tacit_phased_message *message);

/* Draws the rewards of the plan of the last update and gives them to the agent, block by block.
 * Result: the status of the last step. */
enum tacit_status phased_play(struct phased_core *agent);

struct tacit_phased_agent_view phased_agent_view(const struct phased_core *agent);
struct tacit_phased_hub_view phased_hub_view(const struct phased_core *hub);

/* The message of the last update, copied, for free(). Requires: there is one. */
struct tacit_phased_message *phased_keep(const struct phased_core *core);
#endif

/* Those who look on at runs of epoch elimination, and plant bugs in them. */
#ifndef TACIT_TESTS_ELIM_WATCH_H
#define TACIT_TESTS_ELIM_WATCH_H
#include "../../src/families/elim/experiment.h"

/* What an outside observer sees of a run, in order. Any function may be NULL. */
struct elim_observer {
    struct elim_hooks hooks; /* elim_observe fills it in */
    void *context;
    void (*agent_persisted)(void *context, uint32_t agent, const struct tacit_elim_agent *state);
    void (*peer_persisted)(void *context, uint32_t agent, const struct tacit_elim_peer *state);
    void (*hub_persisted)(void *context, const struct tacit_elim_hub *state);
    void (*sent)(void *context, const struct tacit_elim_message *message);
    void (*pulled)(void *context, uint32_t agent, uint32_t arm, uint64_t count);
    /* Between an agent's step and the effects of its update: where tests plant bugs. */
    void (*agent_fault)(void *context, uint32_t agent, struct tacit_elim_agent *state,
                        struct tacit_elim_update *update);
    void (*hub_fault)(void *context, struct tacit_elim_hub *state, const struct tacit_event *event,
                      struct tacit_elim_update *update);
    const struct tacit_row_signer *signer; /* of all peers of a graph; NULL: rows have none */
    /* The same of a peer, with what lies beside its state. */
    void (*peer_fault)(void *context, uint32_t agent, struct tacit_elim_peer *state,
                       struct tacit_elim_table *table, const struct tacit_event *event,
                       struct tacit_elim_update *update);
    /* Before and after each step of an agent or of a clone (a node of the simulator). */
    void (*stepping)(void *context, uint32_t node, const struct tacit_event *event);
    void (*stepped)(void *context, uint32_t node, uint32_t agent, const struct tacit_event *event,
                    const struct tacit_elim_agent *state, const struct tacit_elim_update *update);
};

/* For the experiment, whose runs the observer sees from then on. Its functions may change until
 * they run. */
const struct elim_hooks *elim_observe(struct elim_observer *observer);
#endif

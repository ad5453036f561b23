/* What keeps a daemon from its work, in words for its operator, and what to do about it: the same
 * list in its status, its health and `tacit status`. Nothing in it depends on rewards' values. */
#ifndef TACIT_LIVE_CAUSES_H
#define TACIT_LIVE_CAUSES_H
#include "bus/bus.h"
#include <jansson.h>

/* The numbers are exit codes of `tacit status`, as monitoring systems have them. */
enum live_state {
    LIVE_STATE_OK,
    LIVE_STATE_WAITING,  /* for somebody else, and it goes on by itself when they come */
    LIVE_STATE_ATTENTION /* of a person: it does not mend itself, or not for sure */
};

struct live_causes {
    enum live_state state; /* the worst of the causes */
    json_t *list;          /* of {"what", "do"}; NULL: no memory */
};

/* No causes; the list is the caller's to give away or to json_decref. */
struct live_causes live_causes_begin(void);
/* what: in words; todo: what its operator can do. */
void live_causes_add(struct live_causes *causes, enum live_state state, const char *what,
                     const char *todo);
/* Why there is no connection to the broker; nothing if there is one. */
void live_causes_add_broker(struct live_causes *causes, const struct live_bus_trouble *trouble);

/* What to do about a refusal in the words of the bus. */
const char *live_causes_broker_advice(const char *reason);

/* "ok", "waiting", "attention" */
const char *live_state_word(enum live_state state);
#endif

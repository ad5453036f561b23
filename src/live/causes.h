/* What keeps a daemon from its work, in words for its operator, who is waited for, and what to do
 * about it: the same list in its status, its health and `tacit status`. Daemons and families say
 * what is; how bad that is and what cures it stands in one table (causes.c). Nothing in it depends
 * on rewards' values. */
#ifndef TACIT_LIVE_CAUSES_H
#define TACIT_LIVE_CAUSES_H
#include "bus/bus.h"
#include <jansson.h>

#define LIVE_CAUSE_NAMES_MAX 32u /* in `who` */

/* The numbers are exit codes of `tacit status`, as monitoring systems have them. */
enum live_state {
    LIVE_STATE_OK,
    LIVE_STATE_WAITING,  /* for somebody else, and it goes on by itself when they come */
    LIVE_STATE_ATTENTION /* of a person: it does not mend itself, or not for sure */
};

enum live_cause {
    LIVE_CAUSE_CONNECTING,
    LIVE_CAUSE_DISK, /* hardly any room is left where the state is */
    LIVE_CAUSE_DISCONNECTED,
    LIVE_CAUSE_ACCESS,      /* the broker does not pass on what this one says */
    LIVE_CAUSE_REFUSED,     /* the run that is announced */
    LIVE_CAUSE_HALTED,      /* this site */
    LIVE_CAUSE_FORGOTTEN,   /* a grant of this site, by who gave it */
    LIVE_CAUSE_BLOCKED,     /* this site: another state of it was granted */
    LIVE_CAUSE_CONSENT,     /* the next run waits for a word of the owner */
    LIVE_CAUSE_COORDINATOR, /* shows two states, or an old one */
    LIVE_CAUSE_UNANNOUNCED,
    LIVE_CAUSE_REMOVED,     /* this site, by the operator of the run */
    LIVE_CAUSE_ROUNDS,      /* policy.rounds_max is reached */
    LIVE_CAUSE_REFUSES_ALL, /* at a site: its own; at a coordinator: sites' */
    LIVE_CAUSE_CALLERS,     /* shut out */
    LIVE_CAUSE_REWARDS,
    LIVE_CAUSE_BIASED,
    LIVE_CAUSE_DECISIONS, /* nobody asks for any */
    LIVE_CAUSE_TASK,
    LIVE_CAUSE_GRANT,
    LIVE_CAUSE_ORDER,
    LIVE_CAUSE_NEIGHBOURS,
    LIVE_CAUSE_TWO_STATES,
    LIVE_CAUSE_VERSION,         /* a site does not speak this run's messages */
    LIVE_CAUSE_TERM,            /* a site is in another one, and does not come out by itself */
    LIVE_CAUSE_OLD_STATE,       /* this site's */
    LIVE_CAUSE_OLD_COORDINATOR, /* this coordinator's state */
    LIVE_CAUSE_FORKER,          /* a site has signed two rows of one epoch */
    LIVE_CAUSE_OTHER_ROWS,      /* sites of a graph do not hold the same */
    LIVE_CAUSE_UNCONFIRMED,     /* an answer, by all others */
    LIVE_CAUSE_OVERDUE,
    LIVE_CAUSE_OVERDUE_FIXED, /* where nobody can be left out */
    LIVE_CAUSE_SITES,
    LIVE_CAUSE_HELPER,         /* is waited for */
    LIVE_CAUSE_HELPER_REFUSES, /* and goes on only in a new term, or with another file */
    LIVE_CAUSE_VOID,           /* rounds without totals: a site does not say what is true */
    LIVE_CAUSE_VOID_WAITS,     /* .. and the operator is to say what is done */
    LIVE_CAUSE_VOID_ELSEWHERE, /* .. the coordinator's */
    LIVE_CAUSE_LEFT_OUT,       /* a site, of the last sum, by the helper */
    LIVE_CAUSE_AGREE,          /* at a helper: an offer waits for its operator's word */
    LIVE_CAUSE_COUNT
};

struct live_causes {
    enum live_state state; /* the worst of the causes */
    uint32_t worst_count;  /* that need attention: they come first */
    json_t *list;     /* of {"cause", "state", "who", "what", "do", "command"}; NULL: no memory */
    const char *self; /* site, or "coordinator" */
    const char *directory; /* of its state */
};

/* No causes; the list is the caller's to give away or to json_decref. */
struct live_causes live_causes_begin(const char *self, const char *directory);
/* Is less room left on the disk of the state than the file allows? */
void live_causes_add_disk(struct live_causes *causes, uint32_t disk_low_mib);
/* Bytes that are free there; UINT64_MAX: it cannot be found out. */
uint64_t live_disk_free(const char *directory);
/* In words, as printf, up to 511 bytes. who: names, which it takes over; NULL: nobody in
 * particular.
 */
void live_causes_add(struct live_causes *causes, enum live_cause cause, json_t *who,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Why there is no connection to the broker, or what is wrong with it; else nothing. */
void live_causes_add_broker(struct live_causes *causes, const struct live_bus_trouble *trouble);

/* The same of a set of `count`, named in the sentence, too, behind `what`. */
void live_causes_add_set(struct live_causes *causes, enum live_cause cause, const char *what,
                         const char *const *names, uint32_t count, const uint64_t *set);

/* Names so far, as a sentence has them: "north, south and 3 more". */
void live_causes_name(const json_t *who, uint32_t count, char names[], size_t size);

/* "ok", "waiting", "attention" */
const char *live_state_name(enum live_state state);

/* ---- What does not move ---------------------------------------------------------------------- */

/* Since when everything that a run moves is as it is. */
struct live_standstill {
    uint64_t hash;
    uint64_t since_us; /* 0: it was not looked at yet */
};
/* A number that is another one whenever one of its parts is, but for a chance of 2^-64. */
uint64_t live_hash_add(uint64_t hash, uint64_t part);
void live_standstill_see(struct live_standstill *standstill, uint64_t hash, uint64_t now_us);
#endif

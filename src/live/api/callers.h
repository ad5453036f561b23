/* Who asks, and what each may still ask for. On a Unix socket a caller is a user of this machine;
 * on loopback all are one. */
#ifndef TACIT_LIVE_CALLERS_H
#define TACIT_LIVE_CALLERS_H
#include "tacit/base.h"

#define LIVE_CALLERS_MAX 64u /* beyond, they share the last place */
#define LIVE_CALLER_LOOPBACK UINT32_MAX
#define LIVE_CALLER_OTHERS (UINT32_MAX - 1)

struct live_caller {
    bool is_known;
    uint32_t user;
    uint64_t connections;  /* open now */
    uint64_t bytes;        /* of bodies and answers that are under way */
    uint64_t round;        /* the last round of the loop in which it was worked for, .. */
    uint64_t turn_us;      /* .. and how long */
    uint64_t pieces_us;    /* when the pieces of requests that were read for it are paid */
    uint64_t open;         /* decisions that it asked for and that wait for a reward */
    uint64_t due_us;       /* when its allowance is whole again */
    uint64_t refused_rate; /* refused with 429: too much a second, .. */
    uint64_t refused_open; /* .. too many decisions open */
    uint64_t shed;         /* connections that made room for others */
    uint64_t late;         /* requests that did not come in time */
    uint64_t malformed;    /* requests that were no HTTP, or not strictly */
};

struct live_callers {
    struct live_caller list[LIVE_CALLERS_MAX];
};

/* The caller of this user. Ensures: never NULL. */
struct live_caller *live_callers_find(struct live_callers *callers, uint32_t user);

/* An allowance of `rate` a second, and as much at once; 0: there is none. Seconds to wait until the
 * caller may ask again; 0: now. */
unsigned live_caller_wait_s(const struct live_caller *caller, uint64_t rate, uint64_t now_us);
/* `cost` was taken of it. */
void live_caller_charge(struct live_caller *caller, uint64_t rate, uint64_t cost, uint64_t now_us);

/* Is there anything to tell of it? */
bool live_caller_offends(const struct live_caller *caller);
/* "user 1000", "loopback" or "others". */
void live_caller_name(const struct live_caller *caller, char name[32]);
#endif

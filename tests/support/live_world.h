/* Three sites and a hub of one live family, driven through live_site_ops and live_hub_ops alone, as
 * bytes. Both are put back from their bytes after every step, so nothing may live beside them. */
#ifndef TACIT_TESTS_LIVE_WORLD_H
#define TACIT_TESTS_LIVE_WORLD_H
#include "../../src/live/hub.h"
#include "tacit/random.h"

#define WORLD_SITES 3u
#define WORLD_ARMS 3u
#define WORLD_ENVELOPES_MAX 4096u
#define WORLD_ALL ((1u << WORLD_SITES) - 1u)

struct envelope {
    uint32_t from;
    struct live_message message; /* its bytes are its own */
};

struct site {
    struct live_site_config config;
    struct live_site *live;
    struct tacit_rng noise;
    struct tacit_rng keys;
    struct tacit_pull_block plan[WORLD_ARMS];
    uint32_t plan_count;
    uint64_t deadline_us;
    bool is_tick;
    uint64_t release; /* rows of the ledger */
    uint64_t acknowledged;
    uint8_t kept[1024]; /* of the last choice */
    size_t kept_size;
    uint32_t choice;
    uint8_t *disk; /* what was durable last */
    size_t disk_size;
};

/* What a family's world is made of. */
struct world_family {
    const struct live_site_ops *site_ops;
    const struct live_hub_ops *hub_ops;
    struct live_site_config site; /* of each, but its name */
    struct live_hub_config hub;
    const double *means;  /* K; NULL: the test gives its rewards */
    uint64_t step_us;     /* that pass with each step */
    size_t release_bytes; /* of each row; 0: any */
    bool has_own_keys;    /* salts come from another stream */
    bool is_drawn_anew;   /* rewards are 0 or 1, by chance */
    bool is_from_disk;    /* sites are put back by world_revive alone */
    bool repeats_release; /* the row of the newest release may be said again */
};

struct world {
    struct world_family family;
    struct live_hub *hub;
    struct tacit_rng chance;
    struct site sites[WORLD_SITES];
    struct envelope queue[WORLD_ENVELOPES_MAX];
    size_t first;
    size_t end;
    uint64_t now_us;
    bool is_lost;   /* what the next step did is not durable, and nothing of it leaves */
    char note[512]; /* what the hub said last */
};

extern const char *const world_names[WORLD_SITES];

/* Everybody has joined and said what he says at first; nothing has arrived. */
struct world *world_new(const struct world_family *family, uint64_t seed);
void world_free(struct world *world);

enum tacit_status world_step(struct world *world, uint32_t index, struct live_site_event event);
enum tacit_status world_hear(struct world *world, uint32_t index, const struct envelope *envelope);
enum tacit_status world_step_hub(struct world *world, struct live_hub_event event);
enum tacit_status world_tell_hub(struct world *world, const struct envelope *envelope);
/* Its deadline has come. */
enum tacit_status world_time_out(struct world *world, uint32_t index);
/* One reward of its plan. Ensures: its arm; TACIT_NO_ARM: there is none to give. */
uint32_t world_play(struct world *world, uint32_t index);
/* From what was durable last. */
void world_revive(struct world *world, uint32_t index);

/* The envelope at this place, out of the queue; its bytes are to be given to free(). */
struct envelope world_take(struct world *world, size_t at);
/* The next envelope arrives; of the sites only those of the set `there` get it. */
void world_deliver_to(struct world *world, uint32_t there);
void world_deliver_all_to(struct world *world, uint32_t there);
void world_deliver_all(struct world *world);

/* The time of the first deadline has come. */
void world_pass(struct world *world);

struct live_site_view world_look(const struct world *world, uint32_t index);
struct live_hub_view world_look_hub(const struct world *world);
enum tacit_status world_restore(const struct world *world, const struct live_site_config *config,
                                const void *bytes, size_t size);

/* What it holds now; to be given to free(). */
uint8_t *world_copy(const void *bytes, size_t size);

/* ---- What holds of all families -------------------------------------------------------------- */

/* An envelope to the hub, the first of the queue: in the name of another, cut, or of another kind
 * than its envelope says, it is refused, and no byte of the hub changes; then it arrives. */
void world_expect_refusals(struct world *world);
/* A state that is of another length or policy is not put back, and it is of no other site or run.
 */
void world_expect_no_other_state(const struct world *world);
/* Of a site's state each bit is changed: it is refused or does no harm. The length and all that the
 * run was configured with is held against the core's own copy or a digest. What the core does not
 * keep of its site's place may change, and then it is another announcement: names; so many bits. */
void world_expect_damage(const struct world *world, uint32_t index, size_t taken_max);
/* A stricter policy is not overruled, and half an announcement is none. */
void world_expect_policy(const struct world *world, const struct live_site_config *strict,
                         const char *key);
#endif

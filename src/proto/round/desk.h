/* Round: a hub's side. Who has spoken in the round that stands, how long the others are waited for,
 * and the term. What an order says, who is asked and what comes of the reports are the protocol's.
 */
#ifndef TACIT_ROUND_DESK_H
#define TACIT_ROUND_DESK_H
#include "../../base/walk.h"
#include "grantor.h"
#include "pauses.h"
#include "tacit/core.h"
#include "tacit/round.h"

enum round_phase {
    ROUND_NEW,
    ROUND_COLLECTING,
    ROUND_FINISHED,
    ROUND_CLOSED /* its reports are counted, and the next has not begun (may_rest) */
};

/* Part of the hub's state. All zero but deadline_us: nothing has begun. */
struct round_desk {
    uint64_t now_us;
    uint64_t deadline_us; /* of the round; TACIT_NEVER: none */
    uint64_t term;        /* 0: the first */
    enum round_phase phase;
    uint32_t missing_count; /* reports that are asked for and not here */
    uint32_t covered_count; /* sites whose sums are in the reports that are here */
    bool overdue;           /* the deadline is over: the quorum suffices from now on */
    bool spare[3];
    struct tacit_commit answer; /* scratch: the head that a GRANT or REFUSAL shows */
};

/* The same with what it speaks of, wherever the protocol has it. */
struct round_hub {
    struct round_desk *desk;
    struct round_grantor grantor; /* heads NULL: nothing is granted */
    uint64_t *asked;              /* W(A); NULL: all sites, in all rounds */
    uint64_t *next;               /* W(A): who is asked in the round to come; NULL: the same */
    uint64_t *received;           /* W(A) */
    uint32_t *seen;               /* A: last round whose report was here */
    uint64_t *rows;               /* A x row_words: what the reports that are here hold */
    uint32_t row_words;
    uint32_t *covered;     /* A: how many sites' sums each of them holds; NULL: one's */
    const uint8_t *domain; /* of commitments */
    uint64_t run_id;
    uint32_t site_count;
    uint32_t round; /* of the order that stands; 0: none yet */
    uint32_t round_max;
    uint64_t timeout_us;     /* of a round; 0: none */
    const uint64_t *dropped; /* W(A), of two aggregators: from whom no report is taken any more, by
                              * the operator's word, which the driver keeps; NULL: nobody */
    bool is_last;            /* the last order stands */
    bool answers_all;        /* whoever speaks hears the order that stands */
    bool is_silent;          /* there is nothing to order */
    bool may_rest;           /* between rounds it may have to wait for sites */
    bool has_helper;         /* or, with two aggregators, for their totals */
    bool is_numbered;        /* struct tacit_commit_scope */
};

/* ---- Messages: nothing but the desk and the grantor changes, and nothing if all is not well
 * ------
 */

/* Is it for this run, from one of its sites? Errors: TACIT_STRANGER; TACIT_ROLLBACK: of a term that
 * has not begun here, so this state may be an old one. */
enum tacit_status round_hub_check(const struct round_hub *hub,
                                  const struct tacit_round_message *message);

/* HELLO. Of a site that is behind, the head that it shows may be any of before. */
struct round_verdict round_hub_greet(const struct round_hub *hub,
                                     const struct tacit_round_message *hello);

/* COMMIT: may it be asked about? Whatever the round: what counts is what it follows. */
enum tacit_status round_hub_check_commit(const struct round_hub *hub,
                                         const struct tacit_round_message *commit);
/* Grants it or not (round_grantor_ask). Requires: its check was TACIT_OK. */
struct round_verdict round_hub_ask(const struct round_hub *hub,
                                   const struct tacit_round_message *commit);

/* REPORT: late, repeated or of a site that was dropped, it is answered by the order that stands; OK
 * and nothing to say: it is of the round that stands. */
struct round_verdict round_hub_check_report(const struct round_hub *hub,
                                            const struct tacit_round_message *report);

/* Does what it holds, by its digest, open the head? All is well where nothing is granted. */
struct round_verdict round_hub_open(const struct round_hub *hub,
                                    const struct tacit_round_message *report,
                                    const uint8_t digest[TACIT_SHA256_BYTES]);

/* The report, with the sums of so many sites, is here. Requires: it was not. */
void round_hub_add_report(const struct round_hub *hub, const struct tacit_round_message *report,
                          uint32_t sites);

/* A GRANT or REFUSAL, but for its kind. Requires: the verdict says one. */
struct tacit_round_message round_hub_answer(const struct round_hub *hub,
                                            const struct tacit_round_message *message,
                                            const struct round_verdict *verdict);

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* A round begins in which nobody has reported yet: asked are the sites of `next`, which is emptied,
 * or all where there is none; if it is_last, nobody, and the run is finished. */
void round_hub_await(const struct round_hub *hub, bool is_last);

/* The round that stands is over: late reports of it hear its order. */
void round_hub_close(const struct round_hub *hub);

/* Whatever was granted is forgotten, and the sites know it: what no grant covers they drop. The
 * reports of the present round are asked for anew; everybody has the full time. */
void round_hub_begin_term(const struct round_hub *hub, uint64_t term);

/* Does the round wait for sites that were dropped, and for nobody else? */
bool round_hub_waits_for_dropped(const struct round_hub *hub);

/* Would the round be complete with so many more reports, of so many sites? */
bool round_desk_is_complete(const struct round_desk *desk, uint32_t reports, uint32_t sites,
                            uint32_t quorum);

/* A TIMEOUT: is it that of the round? Timers of rounds before may come, too. */
bool round_desk_is_due(const struct round_desk *desk, uint64_t now_us);

/* The deadline is over. Result: the quorum is here; else the round waits for it, and says so. */
bool round_desk_expire(struct round_desk *desk, uint32_t quorum);

/* After a step in which all went well, or an operator's change: is the deadline another one? */
void round_desk_end_step(struct round_desk *desk, uint64_t now_us, uint64_t timeout_us,
                         bool is_new_round, bool is_start);

/* Shows it. */
struct tacit_round_hub_view round_hub_view(const struct round_hub *hub);

/* ---- States ---------------------------------------------------------------------------------- */

/* Where sites are many: received W(A) and, behind it, seen A, in so many words. */
static inline uint32_t *round_seen_at(uint64_t *received, uint32_t sites)
{
    return (uint32_t *)(received + TACIT_BITS_WORDS(sites));
}

static inline size_t round_seen_words(uint32_t sites)
{
    return TACIT_BITS_WORDS(sites) + ((size_t)sites + 1) / 2;
}

/* Of what a lost hub is built again from: the phase alone; where so many sites are asked, their
 * reports are missing. */
void round_desk_walk(struct base_walk *walk, struct round_desk *desk, uint32_t asked);

/* name_snapshot and name_restore, of a hub whose closed rounds `fields` walks over. From a
 * snapshot: TACIT_MALFORMED unless it is as a hub of this configuration writes it; as of init. */
#define ROUND_SNAPSHOTS(name, fields)                                                              \
    size_t name##_snapshot(const struct name *hub, uint8_t *bytes, size_t room)                    \
    {                                                                                              \
        return base_walk_write(fields, hub, bytes, room);                                          \
    }                                                                                              \
    enum tacit_status name##_restore(struct name *hub, const struct name##_config *config,         \
                                     const uint8_t *bytes, size_t size)                            \
    {                                                                                              \
        enum tacit_status const status = name##_init(hub, config);                                 \
        if (status != TACIT_OK)                                                                    \
            return status;                                                                         \
        bool const is_state = base_walk_read(fields, hub, bytes, size) &&                          \
                              name##_check(hub, name##_size(config), config) == TACIT_OK &&        \
                              base_walk_writes(fields, hub, bytes, size);                          \
        return is_state ? TACIT_OK : TACIT_MALFORMED;                                              \
    }

void round_hub_check_invariants(const struct round_hub *hub);

/* Could steps have left this? (For bytes from a disk.) How many sites are in a report, and what it
 * holds, are the protocol's. Cost: O(A). */
bool round_hub_is_possible(const struct round_hub *hub);
#endif

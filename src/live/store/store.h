/* The durable state of a daemon: one SQLite file (WAL, synchronous=FULL) in a state directory that
 * one process holds at a time. A change is a batch: begin, puts, commit; commit returns when it is
 * on disk. A commit that fails may have happened or not: the process must stop
 * (live_store_is_broken). */
#ifndef TACIT_LIVE_STORE_H
#define TACIT_LIVE_STORE_H
#include "tacit/base.h"

struct live_store;

/* Who this state belongs to: a state directory of somebody else, or of another run, is refused. */
struct live_store_identity {
    const char *role; /* "agent" or "coordinator"; a helper's is the latter's, of site "helper" */
    const char *federation;
    const char *site;          /* "" for the coordinator */
    uint8_t config_digest[32]; /* of everything that may not change while there is state: .. */
    const char *agreed;        /* .. of these lines, "KEY VALUE"; NULL: no words for a refusal */
};

/* Takes over `agreed`, of malloc, with its digest; not whole: it is freed, and TACIT_MEMORY. */
enum tacit_status live_store_identity_agree(struct live_store_identity *identity, char *agreed,
                                            bool is_whole);
void live_store_identity_free(struct live_store_identity *identity);

/* The state outlives its run. While a run is under way its configuration is the one that the state
 * was made with; when it has ended (live_run_row), and before a site has joined its first, another
 * one is let in, which is the state's from live_store_adopt_config on. */

/* Limits, else TACIT_INVALID and nothing changes: release numbers, epsilons and numbers of
 * decisions are below 2^63, texts have at most 1024 bytes, blocks of bytes are not empty and have
 * at most 256 MiB. Puts are asserted to be inside a batch. Any other error of a put breaks the
 * store, as a failed commit does. A broken store answers TACIT_IO to everything. `each` below must
 * not call the store. */

/* Opens or makes the state directory (0700) and its file (0600), takes the lock.
 * Errors, each with error->text that names path and reason: TACIT_INVALID (another identity or
 * configuration, another format version, permissions that let others read, locked: names the
 * process id that holds it), TACIT_MALFORMED (corrupt, truncated, zero length, not a database,
 * integrity check fails), TACIT_IO. Never starts empty over something that it cannot read. */
enum tacit_status live_store_open(struct live_store **store, const char *directory,
                                  const struct live_store_identity *identity,
                                  struct tacit_error *error);
/* What is there, for a configuration that is checked before it is used: nothing; a state that could
 * be read; or one that another process holds, of which only the configuration was compared. */
enum live_store_found { LIVE_STORE_NONE, LIVE_STORE_READ, LIVE_STORE_IN_USE };

/* Refuses what live_store_open would refuse, and writes nothing, whatever it finds. *store: for
 * reading only, to be closed; NULL where nothing was read. Errors: as live_store_open; TACIT_IO
 * also where a directory could not be made. */
enum tacit_status live_store_inspect(struct live_store **store, const char *directory,
                                     const struct live_store_identity *identity,
                                     enum live_store_found *found, struct tacit_error *error);
/* Could the daemon go on from what was read? */
typedef enum tacit_status live_store_trial(const void *context, struct live_store *store,
                                           struct tacit_error *error);
/* Inspects, and tries what could be read; trial NULL: no more. identified: what came of making the
 * identity, which is freed. Errors: that, as live_store_inspect, and the trial's. */
enum tacit_status live_store_try(const char *directory, enum tacit_status identified,
                                 struct live_store_identity *identity, live_store_trial *trial,
                                 const void *context, enum live_store_found *found,
                                 struct tacit_error *error);
/* Is it the state of a program of before, whose format the first batch makes ours? */
bool live_store_is_upgraded(const struct live_store *store);
/* Drops a batch that was not committed. NULL is allowed. */
void live_store_close(struct live_store *store);

enum tacit_status live_store_begin(struct live_store *store);
/* Errors: TACIT_IO: the store is broken from now on; the process must stop without sending
 * anything. */
enum tacit_status live_store_commit(struct live_store *store);
/* Inside a batch: when its commit returns, nothing of earlier states that this batch dropped or
 * changed can be read from the state's files any more. Errors: as of the commit, which says them.
 * Cost: five times fsync, and what was written since the last time. */
void live_store_erase_past(struct live_store *store);
bool live_store_is_broken(const struct live_store *store);
/* For the log: the path and what went wrong first; "" if nothing did. */
const char *live_store_trouble(const struct live_store *store);

/* Core state: one block, with its SHA-256 beside it. Put inside a batch. Cost: O(size) to find what
 * has changed since it was put last, and what has changed is written. */
enum tacit_status live_store_put_core(struct live_store *store, const void *bytes, size_t size);
/* What was put last, to be given to free(); *bytes is NULL, *size 0 if none was put yet. Errors:
 * TACIT_MEMORY, TACIT_IO. */
enum tacit_status live_store_copy_core(const struct live_store *store, void **bytes, size_t *size);

/* Outbox = ledger: one row a release, written once, never changed but for `acknowledged`. The same
 * release again is TACIT_OK and changes nothing. To acknowledge what is not there is TACIT_INVALID.
 * Errors: TACIT_INVALID if the number is there with other bytes or another epsilon. */
struct live_release {
    uint64_t number; /* epoch */
    uint64_t epsilon_nano;
    const uint8_t *bytes; /* as on the wire */
    size_t size;
    bool acknowledged;
    int64_t made_unix_s;
};
enum tacit_status live_store_put_release(struct live_store *store,
                                         const struct live_release *release);
enum tacit_status live_store_acknowledge(struct live_store *store, uint64_t number);
/* Calls `each` for every release in order; stops when it returns false. */
enum tacit_status
live_store_releases(struct live_store *store,
                    bool (*each)(void *context, const struct live_release *release), void *context);

/* What a decision is asked for by; people see it through the state's key only (api/ids.h). */
struct live_decision_id {
    uint64_t number;
    uint64_t salt;
};

#define LIVE_STORE_ID_KEY_BYTES 16u
/* Drawn when the state was made. */
const uint8_t *live_store_id_key(const struct live_store *store);

/* Decisions that are open or recently closed (see decisions.h). */
struct live_decision_row {
    uint64_t number; /* in the order in which they were made, from 1; the row's key; never shown */
    uint64_t salt;   /* drawn: so that its id never comes again, also not from an old copy */
    uint32_t arm;
    uint8_t kind;       /* enum live_decision_kind */
    uint8_t state;      /* enum live_decision_state */
    uint64_t opened_ms; /* times: of the state's clock (daemon/state_clock.h) */
    uint64_t deadline_ms;
    double value;        /* of a reward that waits for its time; else 0 */
    const char *key;     /* idempotency key or NULL */
    const char *unit;    /* unit key or NULL; never leaves the site */
    const uint8_t *kept; /* what the protocol wants back with the reward (the chosen context), .. */
    size_t kept_size;    /* .. which never leaves the site either; 0: nothing */
};
enum tacit_status
live_store_put_decision(struct live_store *store,
                        const struct live_decision_row *row); /* insert or replace */
enum tacit_status live_store_drop_decision(struct live_store *store, uint64_t number);
enum tacit_status live_store_decisions(struct live_store *store,
                                       bool (*each)(void *context,
                                                    const struct live_decision_row *row),
                                       void *context);

/* Sticky units: unit key -> arm. The walk goes from the one that was put longest ago to the latest.
 */
enum tacit_status live_store_put_unit(struct live_store *store, const char *unit, uint32_t arm);
enum tacit_status live_store_drop_unit(struct live_store *store, const char *unit);
enum tacit_status live_store_units(struct live_store *store,
                                   bool (*each)(void *context, const char *unit, uint32_t arm),
                                   void *context);

/* Small named values (counters, the next decision's number). Get: *found = false if absent. */
enum tacit_status live_store_put_value(struct live_store *store, const char *name, uint64_t value);
enum tacit_status live_store_get_value(struct live_store *store, const char *name, uint64_t *value,
                                       bool *found);

/* Drops all whose name fits a pattern of GLOB: "missed *". */
enum tacit_status live_store_drop_values(struct live_store *store, const char *pattern);

/* ---- Runs ------------------------------------------------------------------------------------ */

#define LIVE_STORE_RUN_BYTES 16u

/* The runs that this state was in: one row each, in order, never dropped. */
struct live_run_row {
    uint64_t number; /* in this state, from 1 */
    uint8_t run[LIVE_STORE_RUN_BYTES];
    uint64_t releases_before; /* its releases have the numbers behind this one */
    int64_t begun_unix_s;
    int64_t ended_unix_s;  /* 0: it is under way */
    const uint8_t *result; /* what it came to, for people; NULL: nothing yet */
    size_t result_size;
};

/* Insert, or change the end and the result of a row: whatever else differs breaks the store. */
enum tacit_status live_store_put_run(struct live_store *store, const struct live_run_row *row);
enum tacit_status live_store_runs(struct live_store *store,
                                  bool (*each)(void *context, const struct live_run_row *row),
                                  void *context);
/* The greatest number of a release so far; 0: there is none. */
uint64_t live_store_newest_release(const struct live_store *store);

/* Was the store opened with another configuration than the state had, whose run has ended or not
 * begun? */
bool live_store_has_new_config(const struct live_store *store);
/* Inside a batch: takes it, and forgets what belonged to the run alone: the core's state,
 * decisions, what is remembered of them, and sticky units. Releases, runs, counts and values stay.
 */
enum tacit_status live_store_adopt_config(struct live_store *store);

/* How many rewards a unit has places for, or had: by a digest of its key. Never dropped. */
enum tacit_status live_store_put_count(struct live_store *store, const char *unit, uint64_t count);
/* 0: it is not known. */
enum tacit_status live_store_get_count(struct live_store *store, const char *unit, uint64_t *count);

/* ---- What is remembered of closed decisions -------------------------------------------------- *
 *
 * Rows of decisions that closed are handed over to a file beside the database, in which they are
 * looked up instead of being kept in memory. Until live_store_remembers_all, rows that were handed
 * over belong in the table, too; from then on they may be dropped from it. Texts of the row that is
 * found live until the next call; its unit is not known any more. */

/* Now, by the clock of the deadlines, and for how long is remembered. Nothing that is forgotten by
 * then is found; batches take it from the disk, all of it when an eighth of that time has passed.
 */
void live_store_remember_until(struct live_store *store, uint64_t now_ms, uint64_t keep_ms);
/* In a batch. A row of the same decision that is there already is replaced.
 * Requires: the row is closed. Errors: TACIT_INVALID (the key). Cost: about two thousand rows, or
 * five hundred with keys, are written by the commit of one of their batches: four times fsync. */
enum tacit_status live_store_remember(struct live_store *store,
                                      const struct live_decision_row *row);
/* Is everything that was handed over on disk? */
bool live_store_remembers_all(const struct live_store *store);
enum tacit_status live_store_recall(struct live_store *store, struct live_decision_id id,
                                    struct live_decision_row *row, bool *found);
enum tacit_status live_store_recall_key(struct live_store *store, const char *key,
                                        struct live_decision_row *row, bool *found);
uint64_t live_store_remembered_count(const struct live_store *store);

/* The newest entry of the coordinator's replicated log, by run. Get: a block of its own, to be
 * given to free(); *bytes is NULL if there is none. Errors of get: TACIT_MEMORY. */
enum tacit_status live_store_put_entry(struct live_store *store,
                                       const uint8_t run[LIVE_STORE_RUN_BYTES],
                                       const uint8_t *bytes, size_t size);
enum tacit_status live_store_get_entry(struct live_store *store,
                                       const uint8_t run[LIVE_STORE_RUN_BYTES], uint8_t **bytes,
                                       size_t *size);

/* For tests: the SQLite VFS of stores opened from now on; NULL is SQLite's own. */
void live_store_use_vfs(const char *name);
#endif

/* A small file beside the state that says what the state must hold: without it, a log that was
 * deleted, emptied or put back from a copy looks like an older state, and nothing else does. */
#ifndef TACIT_LIVE_STORE_HIGH_WATER_H
#define TACIT_LIVE_STORE_HIGH_WATER_H
#include "store_base.h"

/* Reads what is there into the store; nothing is there: nothing must be held. log_bytes: of the log
 * as it was found; -1: there is none. Errors: TACIT_MALFORMED (the high-water mark is damaged; the
 * process did not end by itself, and the log is missing or empty), TACIT_IO. */
enum tacit_status store_high_water_check(struct live_store *store, int directory,
                                         const char *directory_name, int64_t log_bytes,
                                         struct tacit_error *error);

/* Is the newest release there that ever left? Errors: TACIT_MALFORMED, as the store breaks. */
enum tacit_status store_high_water_releases(struct live_store *store);

/* After a commit is on disk, and before anything of it leaves. Cost: nothing, but for the first
 * commit of a process and where a release is new. Errors: TACIT_IO, as the store breaks. */
enum tacit_status store_high_water_commit(struct live_store *store);

/* Before the log is checkpointed for the last time and goes away. The store is broken if the
 * high-water mark cannot be written: it asks for the log, so the log stays. */
void store_high_water_close(struct live_store *store);
#endif

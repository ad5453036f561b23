/* The log is folded into the file; and what was in it is overwritten, so that nothing which the
 * state has left behind can be read from it. */
#ifndef TACIT_LIVE_STORE_ERASE_H
#define TACIT_LIVE_STORE_ERASE_H
#include "store_base.h"

/* Moves everything from the log to the file; the next batch uses the log anew. */
enum tacit_status store_fold_log(struct live_store *store);

/* Folds the log into the file, then overwrites what of it was written since it was overwritten
 * last. Requires: no batch. Errors: TACIT_IO, as the store breaks. Cost: what the log holds, and
 * five times fsync. */
enum tacit_status store_erase_log(struct live_store *store);
/* The same with a batch of its own, for a log that was found, or that goes away. */
enum tacit_status store_end_log(struct live_store *store);
/* In the batch that is the first of the log, or the last before it is folded. */
enum tacit_status store_turn(struct live_store *store);
#endif

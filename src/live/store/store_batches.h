/* Batches, and the log between them. */
#ifndef TACIT_LIVE_STORE_BATCHES_H
#define TACIT_LIVE_STORE_BATCHES_H
#include "store_base.h"

/* Moves everything from the log to the file; the next batch uses the log anew. */
enum tacit_status store_fold_log(struct live_store *store);
#endif

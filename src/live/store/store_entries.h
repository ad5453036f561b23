/* Entries of the coordinator's chain. */
#ifndef TACIT_LIVE_STORE_ENTRIES_H
#define TACIT_LIVE_STORE_ENTRIES_H
#include "store_base.h"

/* Reads all of them and compares their sums. */
enum tacit_status store_entries_check(struct live_store *store);
#endif

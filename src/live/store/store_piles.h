/* What is remembered of closed decisions, on disk: sorted piles (store_pile_file.h), named by rows
 * of the database. A pile counts from the batch on that names it, and no longer than it does; files
 * that no row names are removed at start. Piles of about one size are merged, and one goes when
 * everything in it is forgotten. Writing and merging is done by one thread at a time beside the
 * daemon's. */
#ifndef TACIT_LIVE_STORE_PILES_H
#define TACIT_LIVE_STORE_PILES_H
#include "store_base.h"

/* At open, when the rows of the database were checked. directory: an absolute path. Errors: as the
 * store breaks. */
enum tacit_status store_piles_open(struct live_store *store, const char *directory);
/* Waits for the thread. */
void store_piles_close(struct live_store *store);

/* At the beginning of a batch: takes in what was merged, drops what is forgotten, begins the next
 * merge. */
enum tacit_status store_piles_begin(struct live_store *store);
/* In a batch: forgets all of it. */
enum tacit_status store_piles_forget(struct live_store *store);
/* After a batch is on disk: files that it no longer names go. */
enum tacit_status store_piles_commit(struct live_store *store);
#endif

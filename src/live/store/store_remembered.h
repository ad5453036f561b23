/* What is remembered of closed decisions, on disk: a table in a file of its own beside the
 * database, by the decision's number; two indices, by idempotency key and by the time at which it
 * is forgotten. The file has its own transactions, which hold what some batches of the state hand
 * over; the state names the last one that it builds on, so that a file of another time or state is
 * refused. */
#ifndef TACIT_LIVE_STORE_REMEMBERED_H
#define TACIT_LIVE_STORE_REMEMBERED_H
#include "store_base.h"

/* At open, when the rows of the database were checked. A file that the state does not name goes.
 * Errors: with error->text. */
enum tacit_status store_remembered_open(struct live_store *store, int directory,
                                        const char *directory_name, const char *real_path,
                                        struct tacit_error *error);
/* What was not yet on disk is dropped: the state still has it. */
void store_remembered_close(struct live_store *store);

/* At the beginning of a batch: some of what is forgotten goes. */
enum tacit_status store_remembered_begin(struct live_store *store);
/* Before a batch is on disk: puts on disk what was handed over, if it is enough, and names it. */
enum tacit_status store_remembered_commit(struct live_store *store);
/* When it is: a file in which nothing is remembered any more goes. */
enum tacit_status store_remembered_end(struct live_store *store);
/* In a batch: forgets all of it. */
enum tacit_status store_remembered_forget(struct live_store *store);
#endif

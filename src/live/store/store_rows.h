/* All rows of all tables. */
#ifndef TACIT_LIVE_STORE_ROWS_H
#define TACIT_LIVE_STORE_ROWS_H
#include "store_base.h"

/* Reads all rows of all tables and compares their sums. */
enum tacit_status store_rows_check(struct live_store *store);
#endif

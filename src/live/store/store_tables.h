/* The tables: how they are made, and whether they are there. */
#ifndef TACIT_LIVE_STORE_TABLES_H
#define TACIT_LIVE_STORE_TABLES_H
#include "store_base.h"

/* Makes them in an empty database, in a transaction. */
enum tacit_status store_tables_make(struct live_store *store);
/* Integrity, format, tables as we made them. */
enum tacit_status store_tables_check(struct live_store *store);
#endif

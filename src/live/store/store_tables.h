/* The tables, and whose state they hold. */
#ifndef TACIT_LIVE_STORE_TABLES_H
#define TACIT_LIVE_STORE_TABLES_H
#include "store_base.h"

/* Makes the tables and the identity in an empty database. */
enum tacit_status store_tables_make(struct live_store *store,
                                    const struct live_store_identity *identity);
/* Integrity, format, tables as we made them. */
enum tacit_status store_tables_check(struct live_store *store);
/* Is it this one's state? Errors: TACIT_INVALID: which field, both values. */
enum tacit_status store_identity_check(struct live_store *store,
                                       const struct live_store_identity *identity);
#endif

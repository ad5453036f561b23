/* Whose state it is. */
#ifndef TACIT_LIVE_STORE_IDENTITY_H
#define TACIT_LIVE_STORE_IDENTITY_H
#include "store_base.h"

/* In new tables; draws the key of ids. */
enum tacit_status store_identity_make(struct live_store *store,
                                      const struct live_store_identity *identity);
/* Is it this one's state? Errors: TACIT_INVALID: which field, both values. */
enum tacit_status store_identity_check(struct live_store *store,
                                       const struct live_store_identity *identity);
#endif

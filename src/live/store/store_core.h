/* The core's state, in parts. */
#ifndef TACIT_LIVE_STORE_CORE_H
#define TACIT_LIVE_STORE_CORE_H
#include "store_base.h"

/* Reads and checks the core's state into its copy; once, at open (store_core.c). */
enum tacit_status store_core_read(struct live_store *store);
/* In a batch: there is none from now on. */
enum tacit_status store_core_drop(struct live_store *store);
void store_core_free(struct store_core *core);
#endif

/* The parts of opening that looking has, too. */
#ifndef TACIT_LIVE_STORE_OPEN_H
#define TACIT_LIVE_STORE_OPEN_H
#include "store_base.h"

/* Nothing is open in it. NULL: out of memory. */
struct live_store *store_new(const char *directory_name);
enum tacit_status store_prepare_statements(struct live_store *store);
#endif

/* The parts of opening that looking has, too. */
#ifndef TACIT_LIVE_STORE_OPEN_H
#define TACIT_LIVE_STORE_OPEN_H
#include "store_base.h"

/* Nothing is open in it. NULL: out of memory. */
struct live_store *store_new(const char *directory_name);

/* Bytes of the database and of its log; -1: it is not there. */
struct store_sizes {
    int64_t file;
    int64_t log;
};

/* Looks at the files from outside: before SQLite opens them. No file at all is well. Errors: as
 * live_store_open, with error->text. */
enum tacit_status store_check_files(struct live_store *store, int directory, const char *name,
                                    struct store_sizes *sizes, struct tacit_error *error);
/* .. and from inside, when it is open. Errors: as the store breaks. */
enum tacit_status store_check_rows(struct live_store *store,
                                   const struct live_store_identity *identity);
#endif

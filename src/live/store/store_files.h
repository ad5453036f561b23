/* Is the main file ours, before SQLite opens it? */
#ifndef TACIT_LIVE_STORE_FILES_H
#define TACIT_LIVE_STORE_FILES_H
#include "store_base.h"

/* Are the first bytes those of our file, of our format? Before SQLite touches it. *turn: of the
 * file.
 * Errors: TACIT_MALFORMED, TACIT_INVALID (format), TACIT_IO. */
enum tacit_status store_header_check(int directory, const char *directory_name, int64_t size,
                                     bool has_log, uint32_t *turn, struct tacit_error *error);
#endif

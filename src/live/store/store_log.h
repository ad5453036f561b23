/* Is the write-ahead log whole? */
#ifndef TACIT_LIVE_STORE_LOG_H
#define TACIT_LIVE_STORE_LOG_H
#include "store_base.h"

/* Is the log whole, or torn at its end as a crash tears it? SQLite reads a log up to the first bad
 * byte and drops the rest without a word. Errors: TACIT_MALFORMED (damage before the last commits),
 * TACIT_IO. */
enum tacit_status store_log_check(int directory, const char *directory_name, int64_t size,
                                  struct tacit_error *error);
#endif

/* Is the write-ahead log whole? */
#ifndef TACIT_LIVE_STORE_LOG_H
#define TACIT_LIVE_STORE_LOG_H
#include "store_base.h"

/* Is the log whole, or torn at its end as a crash tears it? SQLite reads a log up to the first bad
 * byte and drops the rest without a word. And does it go on from the file, which has this turn?
 * Errors: TACIT_MALFORMED (damage before the last commits; one of the two is an older one),
 * TACIT_IO. */
enum tacit_status store_log_check(int directory, const char *directory_name, int64_t size,
                                  uint32_t file_turn, struct tacit_error *error);

/* In the place of a header: the log is overwritten, and a file of this turn holds all that it held.
 */
void store_log_mark(uint8_t mark[STORE_LOG_HEADER_BYTES], uint32_t turn);
#endif

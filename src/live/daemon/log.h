/* What a daemon tells its operator: one line an event, as text or JSON, on stderr. Never a raw sum,
 * an un-noised mean, a noise value or a key (PRIVACY.md B.5): nothing in a line may depend on
 * rewards. */
#ifndef TACIT_LIVE_LOG_H
#define TACIT_LIVE_LOG_H
#include "tacit/base.h"

enum live_log_level { LIVE_LOG_INFO, LIVE_LOG_WARNING, LIVE_LOG_ERROR };

/* Once, before the first line. file: where stderr goes from then on (appended, 0600); NULL: where
 * it goes already. Errors: TACIT_INVALID, with error->text. */
enum tacit_status live_log_open(bool is_json, const char *file, struct tacit_error *error);
/* Opens the file anew: it was moved away. One that cannot be opened is said in the old one. */
void live_log_reopen(void);

/* event: a fixed word that machines look for; the rest is for people. */
void live_log(enum live_log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif

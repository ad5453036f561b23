/* What a daemon tells its operator: one line an event, as text or JSON, on stderr. Never a raw sum,
 * an un-noised mean, a noise value or a key (PRIVACY.md B.5): nothing in a line may depend on
 * rewards. */
#ifndef TACIT_LIVE_LOG_H
#define TACIT_LIVE_LOG_H
#include "tacit/base.h"

enum live_log_level { LIVE_LOG_INFO, LIVE_LOG_WARNING, LIVE_LOG_ERROR };

/* Once, before the first line. */
void live_log_open(bool is_json);

/* event: a fixed word that machines look for; the rest is for people. */
void live_log(enum live_log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif

/* Numbers for Prometheus (text format 0.0.4): each metric has its HELP and its TYPE once, before
 * its samples, which stand together. */
#ifndef TACIT_LIVE_METRICS_H
#define TACIT_LIVE_METRICS_H
#include "api_json.h"

/* kind: "gauge" or "counter", whose name ends with _total; help: one line. The samples follow:
 * "NAME value\n" or "NAME{label=\"..\"} value\n". */
void live_metric(struct live_buffer *out, const char *name, const char *kind, const char *help);
/* With its only sample. */
void live_metric_count(struct live_buffer *out, const char *name, const char *help, uint64_t value);
void live_metric_gauge(struct live_buffer *out, const char *name, const char *help, double value);
#endif

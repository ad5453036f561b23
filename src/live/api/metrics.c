#include "metrics.h"
#include <inttypes.h>
#include <string.h>

void live_metric(struct live_buffer *out, const char *name, const char *kind, const char *help)
{
    TACIT_ASSERT(strchr(help, '\n') == NULL && strchr(help, '\\') == NULL);
    live_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

void live_metric_count(struct live_buffer *out, const char *name, const char *help, uint64_t value)
{
    TACIT_ASSERT(strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_total") == 0);
    live_metric(out, name, "counter", help);
    live_buffer_format(out, "%s %" PRIu64 "\n", name, value);
}

void live_metric_gauge(struct live_buffer *out, const char *name, const char *help, double value)
{
    live_metric(out, name, "gauge", help);
    live_buffer_format(out, "%s %.12g\n", name, value);
}

/* What agent and coordinator show of the same things: the run and its replicated log, whose words
 * were refused, how the daemon is, a model. As members of a status. */
#ifndef TACIT_LIVE_SHOW_H
#define TACIT_LIVE_SHOW_H
#include "api/held.h"
#include "api/numbers.h"
#include "causes.h"
#include "replicated_log.h"
#include "sender.h"
#include "site.h"

/* Bytes as hexadecimal digits; NULL: null. */
json_t *live_show_bytes(const uint8_t *bytes, size_t size);

/* "term", "entry", "entry_digest": of the newest entry of the replicated log. */
void live_show_entry(uint64_t term, const struct live_entry *entry, json_t *status);

/* One more of the list, if words under its name were refused, or were too many to be read. */
void live_show_offender(const char *name, const struct live_sender *sender, json_t *list);

/* "state", "causes", "disconnected". Gives the list of causes away. */
void live_show_causes(const struct live_causes *causes, const struct live_bus_trouble *broker,
                      json_t *status);

/* Whole seconds from then to now; null: it never was. */
json_t *live_show_since(uint64_t then_us, uint64_t now_us);

/* "; 2 of 5 arms are out" */
void live_show_arms_out(uint32_t arm_count, uint32_t active_count, struct live_buffer *out);
/* A text that was put together, which it frees; null: there was no memory for it. */
json_t *live_show_sentence(struct live_buffer *text);

/* The state under this name, then the numbers, as metrics. Gives the list of causes away. */
void live_show_numbers(const char *name, const struct live_causes *causes,
                       const struct live_number *numbers, size_t count, struct live_buffer *out);
/* Metrics of the machine, under the same names for both daemons: its clock, and the disk of the
 * state. */
void live_show_machine(const char *directory, uint32_t disk_low_mib, struct live_buffer *out);

/* Names of those in the set; NULL: none. */
json_t *live_show_names(const char *const *names, uint32_t count, const uint64_t *set);

/* Of the model that was learnt: its coefficients with what the ellipsoid leaves of each, and A^-1,
 * d rows of d numbers. NULL: null. */
json_t *live_show_model(const struct live_model *model);

/* A status as /health: 503 if its state asks for attention. The tree is given back. */
unsigned live_show_health(json_t *status, struct live_buffer *out);
/* GET /dashboard.js */
unsigned live_show_script(void *context, struct live_buffer *out);

/* What a daemon that only shows itself shows, each of the context. */
struct live_shown {
    json_t *(*status)(const void *context); /* GET /status and /health; to be given back */
    void (*page)(const void *context, struct live_buffer *out);     /* GET / */
    void (*metrics)(const void *context, struct live_buffer *out);  /* GET /metrics */
    unsigned (*runs)(const void *context, struct live_buffer *out); /* GET /runs; NULL: none */
};

/* Answers a GET of one of these, or of the page's script; everything else by 404. */
void live_show_answer(const struct live_shown *shown, const void *context,
                      struct live_request *request);
#endif

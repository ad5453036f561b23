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

/* Metrics of the machine, under the same names for both daemons: its clock, and the disk of the
 * state. */
void live_show_machine(const char *directory, uint32_t disk_low_mib, struct live_buffer *out);

/* Names of those in the set; NULL: none. */
json_t *live_show_names(const char *const *names, uint32_t count, const uint64_t *set);

/* Of the model that was learnt: its coefficients with what the ellipsoid leaves of each, and A^-1,
 * d rows of d numbers. NULL: null. */
json_t *live_show_model(const struct live_model *model);

/* A status as it is; and as /health: 503 if its state asks for attention. The tree is given back.
 */
unsigned live_show_status(json_t *status, struct live_buffer *out);
unsigned live_show_health(json_t *status, struct live_buffer *out);
/* GET /dashboard.js */
unsigned live_show_script(void *context, struct live_buffer *out);

/* Answers a GET by the pages, up to a path of NULL; everything else by `nowhere`. */
void live_show_answer(const struct live_page *pages, void *context, const char *nowhere,
                      struct live_request *request);
#endif

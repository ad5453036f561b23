/* Members that the status of an agent and of a coordinator have in common. */
#include "show.h"
#include "daemon/text.h"
#include "tacit/dashboard.h"
#include "tacit/linalg.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define US_PER_S UINT64_C(1000000)

#define SHOWN_BYTES_MAX 32u

json_t *live_show_bytes(const uint8_t *bytes, size_t size)
{
    char text[LIVE_HEX_BYTES(SHOWN_BYTES_MAX)];
    TACIT_ASSERT(size > 0 && size <= SHOWN_BYTES_MAX);
    if (bytes == NULL)
        return json_null();
    live_hex(bytes, size, text);
    return json_string(text);
}

/* Two sites that compare what they hold of one number prove that the coordinator has two states. */
void live_show_entry(uint64_t term, const struct live_entry *entry, json_t *status)
{
    uint8_t const *const digest = entry->number == 0 ? NULL : entry->digest;
    (void)json_object_set_new(status, "term",
                              term <= INT64_MAX /* JSON's whole numbers are signed */
                                  ? json_integer((json_int_t)term)
                                  : json_real((double)term));
    (void)json_object_set_new(status, "entry", json_integer((json_int_t)entry->number));
    (void)json_object_set_new(status, "entry_digest",
                              live_show_bytes(digest, sizeof entry->digest));
}

void live_show_offender(const char *name, const struct live_sender *sender, json_t *list)
{
    if (live_sender_offends(sender))
        (void)json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:s}", "name", name,
                                                    "refused", (json_int_t)sender->refused_count,
                                                    "unsigned", (json_int_t)sender->unsigned_count,
                                                    "unread", (json_int_t)sender->dropped_count,
                                                    "why", sender->why));
}

void live_show_causes(const struct live_causes *causes, const struct live_bus_trouble *broker,
                      json_t *status)
{
    bool const is_lost = !broker->is_connected && broker->reason[0] != '\0';
    (void)json_object_set_new(status, "state", json_string(live_state_name(causes->state)));
    (void)json_object_set_new(status, "causes", causes->list);
    (void)json_object_set_new(status, "disconnected",
                              is_lost ? json_string(broker->reason) : json_null());
}

void live_show_machine(const char *directory, uint32_t disk_low_mib, struct live_buffer *out)
{
    struct timespec now;
    uint64_t const bytes = live_disk_free(directory);
    bool const is_timed = clock_gettime(CLOCK_REALTIME, &now) == 0;
    struct live_number const numbers[] = {
        {NULL, "tacit_clock_seconds", "What this machine's clock shows, since 1970.",
         is_timed ? LIVE_REAL : LIVE_ABSENT, (double)now.tv_sec + (double)now.tv_nsec / 1e9},
        {NULL, "tacit_disk_free_bytes", "Room that is left where the state is.",
         bytes == UINT64_MAX ? LIVE_ABSENT : LIVE_WHOLE, (double)bytes},
        {NULL, "tacit_disk_low_bytes", "Below it the status asks for attention.", LIVE_WHOLE,
         (double)disk_low_mib * 1048576}};
    live_numbers_write(numbers, sizeof numbers / sizeof numbers[0], out);
}

json_t *live_show_since(uint64_t then_us, uint64_t now_us)
{
    return then_us == 0 ? json_null() : json_integer((json_int_t)((now_us - then_us) / US_PER_S));
}

void live_show_arms_out(uint32_t arm_count, uint32_t active_count, struct live_buffer *out)
{
    uint32_t const count = arm_count - active_count;
    TACIT_ASSERT(active_count <= arm_count);
    live_buffer_format(out, "; %" PRIu32 " of %" PRIu32 " arms %s out", count, arm_count,
                       count == 1 ? "is" : "are");
}

json_t *live_show_sentence(struct live_buffer *text)
{
    json_t *const made = text->failed ? json_null() : json_stringn(text->bytes, text->size);
    live_buffer_free(text);
    return made;
}

void live_show_numbers(const char *name, const struct live_causes *causes,
                       const struct live_number *numbers, size_t count, struct live_buffer *out)
{
    struct live_number const state = {NULL, name, "0: ok, 1: waiting, 2: needs attention.",
                                      LIVE_WHOLE, (double)causes->state};
    json_decref(causes->list);
    live_numbers_write(&state, 1, out);
    live_numbers_write(numbers, count, out);
}

json_t *live_show_names(const char *const *names, uint32_t count, const uint64_t *set)
{
    json_t *const list = json_array();
    for (uint32_t i = 0; set != NULL && i < count; i++)
        if (tacit_bits_has(set, i))
            (void)json_array_append_new(list, json_string(names[i]));
    return list;
}

json_t *live_show_model(const struct live_model *model)
{
    if (model == NULL)
        return json_null();
    size_t const stride = TACIT_LINALG_STRIDE(model->dimension);
    json_t *const coefficients = json_array();
    json_t *const inverse = json_array();
    for (uint32_t i = 0; i < model->dimension; i++) {
        double const value = model->coefficients[i];
        double const half = model->radius * sqrt(model->inverse[i * stride + i]);
        json_t *const row = json_array();
        for (uint32_t j = 0; j < model->dimension; j++)
            (void)json_array_append_new(row, json_real(model->inverse[i * stride + j]));
        (void)json_array_append_new(inverse, row);
        (void)json_array_append_new(
            coefficients, json_pack("{s:s, s:f, s:f, s:f}", "name", model->names[i], "value", value,
                                    "lower", value - half, "upper", value + half));
    }
    return json_pack("{s:I, s:I, s:f, s:o, s:o}", "number", (json_int_t)model->number,
                     "observations", (json_int_t)model->observation_count, "radius", model->radius,
                     "coefficients", coefficients, "inverse", inverse);
}

/* ---- Pages ---- */

unsigned live_show_health(json_t *status, struct live_buffer *out)
{
    char const *const state = json_string_value(json_object_get(status, "state"));
    bool const is_sick = state == NULL || strcmp(state, live_state_name(LIVE_STATE_ATTENTION)) == 0;
    live_buffer_add_tree(out, status);
    return is_sick ? 503 : 200;
}

unsigned live_show_script(void *context, struct live_buffer *out)
{
    (void)context;
    live_buffer_add(out, tacit_dashboard_script);
    return 200;
}

void live_show_answer(const struct live_shown *shown, const void *context,
                      struct live_request *request)
{
    TACIT_ASSERT(context != NULL);
    bool const is_get = strcmp(request->method, "GET") == 0;
    char const *const path = is_get ? request->path : "";
    struct live_buffer text = {0};
    const char *type = "application/json";
    unsigned code = 200;
    if (strcmp(path, "/") == 0) {
        type = "text/html; charset=utf-8";
        shown->page(context, &text);
    } else if (strcmp(path, "/dashboard.js") == 0) {
        type = "text/javascript";
        live_buffer_add(&text, tacit_dashboard_script);
    } else if (strcmp(path, "/metrics") == 0) {
        type = "text/plain; version=0.0.4";
        shown->metrics(context, &text);
    } else if (strcmp(path, "/status") == 0) {
        live_buffer_add_tree(&text, shown->status(context));
    } else if (strcmp(path, "/health") == 0) {
        code = live_show_health(shown->status(context), &text);
    } else if (shown->runs != NULL && strcmp(path, "/runs") == 0) {
        code = shown->runs(context, &text);
    } else {
        code = 404;
        live_buffer_format(
            &text, "{\"error\": \"not here; allowed: GET /, /status, %s/health, /metrics\"}\n",
            shown->runs == NULL ? "" : "/runs, ");
    }
    live_answer(request, code, type, &text);
}

/* The runs that a state was in: from the newest to the oldest, with their results. */
#include "runs.h"
#include "daemon/text.h"
#include "tacit/wire.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NONCE_BYTES 8u /* of a run; the number is behind it */

/* ---- Reading --------------------------------------------------------------------------------- */

/* Room for one more. */
static bool reserve(struct live_runs *runs)
{
    struct live_run_row *const rows = realloc(runs->rows, (runs->count + 1) * sizeof *rows);
    if (rows == NULL)
        return false;
    runs->rows = rows;
    return true;
}

struct reading {
    struct live_runs *runs;
    enum tacit_status status;
};

/* Results stay in the store: whoever shows them reads them there (live_runs_list). */
static bool add_row(void *context, const struct live_run_row *row)
{
    struct reading *const reading = context;
    struct live_runs *const runs = reading->runs;
    if (!reserve(runs)) {
        reading->status = TACIT_MEMORY;
        return false;
    }
    runs->rows[runs->count] = *row;
    runs->rows[runs->count].result = NULL;
    runs->rows[runs->count].result_size = 0;
    runs->count++;
    return true;
}

enum tacit_status live_runs_open(struct live_runs *runs, struct live_store *store)
{
    struct reading reading = {runs, TACIT_OK};
    TACIT_ASSERT(runs->count == 0);
    enum tacit_status const status = live_store_runs(store, add_row, &reading);
    return status == TACIT_OK ? reading.status : status;
}

void live_runs_close(struct live_runs *runs)
{
    free(runs->rows);
    *runs = (struct live_runs){0};
}

const struct live_run_row *live_runs_now(const struct live_runs *runs)
{
    return runs->count == 0 ? NULL : &runs->rows[runs->count - 1];
}

bool live_runs_is_over(const struct live_runs *runs)
{
    return runs->count > 0 && live_runs_now(runs)->ended_unix_s > 0;
}

bool live_run_follows(const uint8_t run[16], const uint8_t later[16])
{
    return memcmp(run, later, NONCE_BYTES) == 0 &&
           tacit_wire_run_id(run) < tacit_wire_run_id(later);
}

enum live_run_kin live_runs_kin(const struct live_runs *runs, const uint8_t run[16])
{
    struct live_run_row const *const now = live_runs_now(runs);
    TACIT_ASSERT(now != NULL);
    if (memcmp(now->run, run, LIVE_STORE_RUN_BYTES) == 0)
        return LIVE_RUN_SAME;
    for (uint32_t i = 0; i < runs->count; i++)
        if (memcmp(runs->rows[i].run, run, LIVE_STORE_RUN_BYTES) == 0 ||
            live_run_follows(run, runs->rows[i].run))
            return LIVE_RUN_OLDER;
    /* A coordinator whose run was left for another one's has to be consented to again: a broker may
     * say again what it announced then, which would take the site back to it. */
    return live_run_follows(now->run, run) ? LIVE_RUN_NEXT : LIVE_RUN_FOREIGN;
}

const struct live_run_row *live_runs_of_release(const struct live_runs *runs, uint64_t number,
                                                uint64_t *epoch)
{
    for (uint32_t i = runs->count; i-- > 0;) {
        if (runs->rows[i].releases_before >= number)
            continue;
        *epoch = number - runs->rows[i].releases_before;
        return &runs->rows[i];
    }
    *epoch = number;
    return NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int64_t now_s(void)
{
    time_t const now = time(NULL);
    return now > 0 ? (int64_t)now : 1;
}

static void put(struct live_daemon *daemon, const struct live_run_row *row)
{
    live_daemon_check(daemon, live_store_put_run(daemon->store, row),
                      "a run cannot be written down");
}

void live_runs_begin(struct live_runs *runs, struct live_daemon *daemon, const uint8_t run[16])
{
    struct live_run_row row = {.number = (uint64_t)runs->count + 1,
                               .releases_before = live_store_newest_release(daemon->store),
                               .begun_unix_s = now_s()};
    memcpy(row.run, run, sizeof row.run);
    if (!live_daemon_begin(daemon))
        return;
    if (!reserve(runs)) {
        live_daemon_fail(daemon, TACIT_MEMORY, "a run cannot be written down");
        return;
    }
    runs->rows[runs->count++] = row;
    put(daemon, &row);
}

void live_runs_end(struct live_runs *runs, struct live_daemon *daemon, const char *result,
                   size_t size)
{
    TACIT_ASSERT(runs->count > 0);
    struct live_run_row *const now = &runs->rows[runs->count - 1];
    if (!live_daemon_begin(daemon))
        return;
    if (now->ended_unix_s == 0) /* else only its result is another one */
        now->ended_unix_s = now_s();
    struct live_run_row row = *now;
    row.result = size > 0 ? (const uint8_t *)result : NULL;
    row.result_size = size;
    put(daemon, &row);
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* "2026-11-22T06:40:00Z", or null. */
static void add_time(const char *name, int64_t unix_s, struct live_buffer *out)
{
    char text[LIVE_TIME_BYTES];
    bool const is_known = live_time_text(unix_s, text);
    live_buffer_format(out, ", \"%s\": %s%s%s", name, is_known ? "\"" : "",
                       is_known ? text : "null", is_known ? "\"" : "");
}

static bool add_run(void *context, const struct live_run_row *row)
{
    struct live_buffer *const out = context;
    char text[LIVE_HEX_BYTES(LIVE_STORE_RUN_BYTES)];
    live_hex(row->run, sizeof row->run, text);
    live_buffer_format(out, "%s{\"number\": %" PRIu64 ", \"run\": \"%s\", \"run_id\": %" PRIu64,
                       row->number > 1 ? ",\n " : "", row->number, text,
                       tacit_wire_run_id(row->run));
    add_time("begun", row->begun_unix_s, out);
    add_time("ended", row->ended_unix_s, out);
    live_buffer_add(out, ", \"result\": ");
    if (row->result_size > 0)
        live_buffer_add_bytes(out, (const char *)row->result, row->result_size);
    else
        live_buffer_add(out, "null");
    live_buffer_add(out, "}");
    return true;
}

enum tacit_status live_runs_list(struct live_store *store, struct live_buffer *out)
{
    live_buffer_add(out, "{\"runs\": [");
    enum tacit_status const status = live_store_runs(store, add_run, out);
    live_buffer_add(out, "]}\n");
    return status;
}

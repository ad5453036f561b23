/* Writes a site's ledger as signed lines, checks such lines, and overwrites a state at its end. */
#include "audit.h"
#include "agent_state.h"
#include "daemon/lock.h"
#include "daemon/private.h"
#include "daemon/refusal.h"
#include "daemon/text.h"
#include "tacit/commit.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TOPIC "audit" /* no message has it */
#define TAIL_HEAD ",\"signature\":\""
#define TAIL_BYTES (sizeof TAIL_HEAD - 1 + 2 * LIVE_SIGNATURE_BYTES + 2)

static char *hex_of(const uint8_t *bytes, size_t size)
{
    char *const text = malloc(LIVE_HEX_BYTES(size));
    if (text != NULL)
        live_hex(bytes, size, text);
    return text;
}

static void digest_of(const char *line, size_t size, char digest[LIVE_HEX_BYTES(32)])
{
    uint8_t bytes[32];
    tacit_sha256_of(line, size, bytes);
    live_hex(bytes, sizeof bytes, digest);
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct writer {
    FILE *out;
    const struct live_signer *signer;
    const struct agent *agent;
    uint64_t line; /* that was written last */
    char previous[LIVE_HEX_BYTES(32)];
    bool has_failed;
};

/* A line: its number, the digest of the one before, kind, and `fields`, which it takes over; then
 * the signature over all of that. */
static void write_line(struct writer *writer, const char *kind, json_t *fields)
{
    uint8_t signature[LIVE_SIGNATURE_BYTES];
    TACIT_ASSERT(writer->signer != NULL && strlen(writer->previous) == LIVE_HEX_BYTES(32) - 1);
    json_t *const made = json_pack("{s:I, s:s, s:s}", "line", (json_int_t)++writer->line,
                                   "previous", writer->previous, "kind", kind);
    bool const is_made = made != NULL && fields != NULL && json_object_update(made, fields) == 0;
    char *const text = is_made ? json_dumps(made, JSON_COMPACT) : NULL;
    json_decref(made);
    json_decref(fields);
    size_t const size = text == NULL ? 0 : strlen(text) - 1; /* without its brace */
    char *const line = text == NULL ? NULL : realloc(text, size + TAIL_BYTES + 1);
    if (line == NULL ||
        !live_signer_sign(writer->signer, TOPIC, (uint8_t *)line, size, signature)) {
        free(line == NULL ? text : line);
        writer->has_failed = true;
        return;
    }
    char *const digits = hex_of(signature, sizeof signature);
    (void)snprintf(line + size, TAIL_BYTES + 1, TAIL_HEAD "%s\"}", digits == NULL ? "" : digits);
    digest_of(line, strlen(line), writer->previous);
    writer->has_failed =
        writer->has_failed || digits == NULL || fprintf(writer->out, "%s\n", line) < 0;
    free(digits);
    free(line);
}

static bool write_release(void *context, const struct live_release *release)
{
    struct writer *const writer = context;
    uint64_t epoch;
    struct live_run_row const *const run =
        live_runs_of_release(&writer->agent->runs.all, release->number, &epoch);
    char *const bytes = hex_of(release->bytes, release->size);
    write_line(writer, "release",
               json_pack("{s:I, s:I, s:I, s:I, s:b, s:I, s:s}", "number",
                         (json_int_t)release->number, "run",
                         (json_int_t)(run == NULL ? 0 : run->number), "epoch", (json_int_t)epoch,
                         "epsilon_nano", (json_int_t)release->epsilon_nano, "acknowledged",
                         release->acknowledged, "made_unix_s", (json_int_t)release->made_unix_s,
                         "bytes", bytes));
    free(bytes);
    return !writer->has_failed;
}

static bool write_run(void *context, const struct live_run_row *row)
{
    struct writer *const writer = context;
    char run[LIVE_HEX_BYTES(LIVE_STORE_RUN_BYTES)];
    live_hex(row->run, LIVE_STORE_RUN_BYTES, run);
    json_t *const result = row->result == NULL
                               ? json_null()
                               : json_stringn((const char *)row->result, row->result_size);
    write_line(writer, "run",
               json_pack("{s:I, s:s, s:I, s:I, s:I, s:o}", "number", (json_int_t)row->number, "run",
                         run, "releases_before", (json_int_t)row->releases_before, "begun_unix_s",
                         (json_int_t)row->begun_unix_s, "ended_unix_s",
                         (json_int_t)row->ended_unix_s, "result", result));
    return !writer->has_failed;
}

static void write_head(struct writer *writer, struct agent *agent)
{
    struct live_site_config const *const site = &agent->config->site;
    struct live_buffer statement = {0};
    size_t size;
    uint8_t const *const shown = live_signer_certificate(writer->signer, &size);
    char *const certificate = hex_of(shown, size);
    write_line(writer, "site",
               json_pack("{s:i, s:s, s:s, s:s, s:I, s:s}", "format", 1, "federation",
                         site->federation, "site", site->site, "protocol",
                         agent->config->protocol->wire->name, "made_unix_s", (json_int_t)time(NULL),
                         "certificate", certificate));
    free(certificate);
    agent_statement(agent, &statement);
    write_line(writer, "statement",
               json_pack("{s:s%}", "text", statement.failed ? "" : statement.bytes,
                         statement.failed ? 0 : statement.size));
    live_buffer_free(&statement);
}

/* The last line says how many there are, and what was spent in total. */
static enum tacit_status write_all(struct writer *writer, struct agent *agent)
{
    memset(writer->previous, '0', sizeof writer->previous - 1);
    write_head(writer, agent);
    enum tacit_status status = live_store_runs(agent->daemon.store, write_run, writer);
    if (status == TACIT_OK)
        status = live_store_releases(agent->daemon.store, write_release, writer);
    json_t *const ledger = agent_ledger(agent);
    json_t *const end = json_pack("{s:I}", "lines", (json_int_t)writer->line + 1);
    if (ledger != NULL && end != NULL) {
        (void)json_object_del(ledger, "releases");
        (void)json_object_update(end, ledger);
    }
    json_decref(ledger);
    write_line(writer, "end", end);
    return status == TACIT_OK && (writer->has_failed || fflush(writer->out) != 0) ? TACIT_IO
                                                                                  : status;
}

/* The state as it is on disk, in an agent that does nothing. To be closed, after errors too. */
static enum tacit_status open_state(struct agent *agent, struct tacit_error *error)
{
    struct live_agent_config const *const config = agent->config;
    struct live_store_identity identity = {0};
    enum live_store_found found = LIVE_STORE_NONE;
    enum tacit_status status = agent_identify(config, &identity);
    if (status == TACIT_OK)
        status = live_store_inspect(&agent->daemon.store, config->daemon.state_directory, &identity,
                                    &found, error);
    live_store_identity_free(&identity);
    if (status == TACIT_OK && found != LIVE_STORE_READ)
        return live_refuse(error, TACIT_INVALID, "%s: %s", config->daemon.state_directory,
                           found == LIVE_STORE_NONE ? "there is no state"
                                                    : "its agent is running: stop it first");
    if (status == TACIT_OK)
        status = live_runs_open(&agent->runs.all, agent->daemon.store);
    return status;
}

static void close_state(struct agent *agent)
{
    live_decisions_free(agent->decisions);
    free(agent->ranking);
    free(agent->active);
    live_site_free(agent->site);
    live_runs_close(&agent->runs.all);
    live_store_close(agent->daemon.store);
}

enum tacit_status live_audit_write(const struct live_agent_config *config, FILE *out,
                                   struct tacit_error *error)
{
    TACIT_ASSERT(config->protocol != NULL && out != NULL);
    struct agent agent = {.config = config};
    struct live_signer *signer = NULL;
    enum tacit_status status = open_state(&agent, error);
    if (status == TACIT_OK && live_store_has_new_config(agent.daemon.store))
        status = live_refuse(error, TACIT_INVALID,
                             "%s: this file is another one than the state had last; an audit takes "
                             "that one",
                             config->daemon.state_directory);
    if (status == TACIT_OK)
        status = agent_restore(&agent, error);
    if (status == TACIT_OK)
        status = live_signer_open(&signer, &config->daemon.signing, error);
    if (status == TACIT_OK) {
        struct writer writer = {.out = out, .signer = signer, .agent = &agent};
        status = write_all(&writer, &agent);
        if (status != TACIT_OK)
            (void)live_refuse(error, status, "the lines could not be written whole");
    }
    live_signer_close(signer);
    close_state(&agent);
    return status;
}

/* ---- Checking -------------------------------------------------------------------------------- */

struct lines {
    char **all; /* without their ends */
    size_t count;
};

static void free_lines(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->all[i]);
    free(lines->all);
}

/* To be given to free_lines, after errors too. */
static enum tacit_status read_lines(const char *file, struct lines *lines,
                                    struct tacit_error *error)
{
    FILE *const in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    if (in == NULL)
        return live_refuse(error, TACIT_IO, "%s: %s", file, strerror(errno));
    while ((size = getline(&line, &room, in)) > 0) {
        char **const grown = realloc(lines->all, (lines->count + 1) * sizeof *grown);
        if (grown == NULL)
            break;
        lines->all = grown;
        if (line[size - 1] == '\n')
            line[size - 1] = '\0';
        lines->all[lines->count++] = line;
        line = NULL;
    }
    free(line);
    bool const is_whole = feof(in) != 0;
    (void)fclose(in);
    return is_whole ? TACIT_OK : live_refuse(error, TACIT_IO, "%s: cannot be read", file);
}

/* As it says itself; 0: it does not. */
static uint64_t number_of(const char *line)
{
    static const char head[] = "{\"line\":";
    return strncmp(line, head, sizeof head - 1) == 0 ? strtoull(line + sizeof head - 1, NULL, 10)
                                                     : 0;
}

/* Is each line in its place? */
static enum tacit_status check_order(const char *file, const struct lines *lines,
                                     struct tacit_error *error)
{
    for (size_t i = 0; i < lines->count; i++) {
        uint64_t const number = number_of(lines->all[i]);
        size_t other = 0;
        if (number == i + 1)
            continue;
        while (other < lines->count && number_of(lines->all[other]) != i + 1)
            other++;
        if (number == 0)
            return live_refuse(error, TACIT_MALFORMED, "%s: line %zu is no line of an audit", file,
                               i + 1);
        if (other == lines->count)
            return live_refuse(error, TACIT_MALFORMED, "%s: line %zu is missing", file, i + 1);
        return live_refuse(error, TACIT_MALFORMED,
                           "%s: out of order: line %" PRIu64 " stands in place of line %zu", file,
                           number, i + 1);
    }
    return TACIT_OK;
}

/* Takes the key that the first line shows, by the CA's word, and says whose it is. */
static enum tacit_status read_key(struct live_keys *keys, const char *file, const json_t *head,
                                  char name[65], struct tacit_error *error)
{
    char const *const site = json_string_value(json_object_get(head, "site"));
    char const *const text = json_string_value(json_object_get(head, "certificate"));
    uint8_t certificate[LIVE_CERTIFICATE_BYTES_MAX];
    size_t const length = text == NULL ? 0 : strlen(text);
    const char *why = "it shows no certificate";
    TACIT_ASSERT(keys != NULL);
    if (site != NULL && length <= 2 * sizeof certificate &&
        live_hex_read(text == NULL ? "" : text, length, certificate, length / 2)) {
        (void)snprintf(name, 65, "%s", site);
        why = live_keys_add(keys, name, certificate, length / 2);
    }
    return why == NULL ? TACIT_OK
                       : live_refuse(error, TACIT_MALFORMED, "%s: line 1: %s", file, why);
}

/* NULL, or what is wrong with a line that is in its place. */
static const char *objection_to(const struct live_keys *keys, const char *name, const char *line,
                                const json_t *said, const char *previous)
{
    uint8_t signature[LIVE_SIGNATURE_BYTES];
    size_t const size = strlen(line);
    if (said == NULL || size <= TAIL_BYTES ||
        memcmp(line + size - TAIL_BYTES, TAIL_HEAD, sizeof TAIL_HEAD - 1) != 0 ||
        !live_hex_read(line + size - 2 - 2 * sizeof signature, 2 * sizeof signature, signature,
                       sizeof signature))
        return "it was altered: it has not the form of a line";
    if (!live_keys_check(keys, name, TOPIC, (const uint8_t *)line, size - TAIL_BYTES, signature))
        return "it was altered, or signed with another key";
    char const *const found = json_string_value(json_object_get(said, "previous"));
    return found != NULL && strcmp(found, previous) == 0
               ? NULL
               : "it is signed, and does not follow the line before: it is of another export";
}

/* Lines that are in their places: by whom are they signed, and is none missing at the end? */
static enum tacit_status check_lines(const char *file, const struct lines *lines,
                                     struct live_keys *keys, struct tacit_error *found,
                                     struct tacit_error *error)
{
    char previous[LIVE_HEX_BYTES(32)];
    char name[65] = "";
    enum tacit_status status = TACIT_OK;
    uint64_t releases = 0;
    bool has_end = false;
    memset(previous, '0', sizeof previous - 1);
    previous[sizeof previous - 1] = '\0';
    for (size_t i = 0; status == TACIT_OK && i < lines->count; i++) {
        char const *const line = lines->all[i];
        json_t *const said = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        if (i == 0)
            status = read_key(keys, file, said, name, error);
        char const *const why =
            status == TACIT_OK ? objection_to(keys, name, line, said, previous) : NULL;
        if (why != NULL)
            status = live_refuse(error, TACIT_MALFORMED, "%s: line %zu: %s", file, i + 1, why);
        char const *const kind = json_string_value(json_object_get(said, "kind"));
        releases += kind != NULL && strcmp(kind, "release") == 0;
        has_end = kind != NULL && strcmp(kind, "end") == 0;
        digest_of(line, strlen(line), previous);
        json_decref(said);
    }
    if (status == TACIT_OK && !has_end)
        return live_refuse(error, TACIT_MALFORMED,
                           "%s: line %zu is missing: the last line says "
                           "that it is the last",
                           file, lines->count + 1);
    (void)snprintf(found->text, sizeof found->text,
                   "%s: right: %zu lines of site %s, %" PRIu64 " releases", file, lines->count,
                   name, releases);
    return status;
}

enum tacit_status live_audit_check(const char *file, const char *ca_file, struct tacit_error *found,
                                   struct tacit_error *error)
{
    struct lines lines = {0};
    struct live_keys *keys = NULL;
    enum tacit_status status = live_keys_new(&keys, ca_file, 1, error);
    if (status == TACIT_OK)
        status = read_lines(file, &lines, error);
    if (status == TACIT_OK)
        status = check_order(file, &lines, error);
    if (status == TACIT_OK)
        status = check_lines(file, &lines, keys, found, error);
    free_lines(&lines);
    live_keys_free(keys);
    return status;
}

/* ---- The end of a state ---------------------------------------------------------------------- */

/* Zeros over all that it has, on disk before its name goes. */
static bool overwrite(const char *path, off_t size)
{
    static const uint8_t zeros[1 << 16];
    int const file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    bool is_done = file >= 0;
    TACIT_ASSERT(size >= 0);
    for (off_t at = 0; is_done && at < size;) {
        size_t const part =
            (size_t)(size - at < (off_t)sizeof zeros ? size - at : (off_t)sizeof zeros);
        ssize_t const written = pwrite(file, zeros, part, at);
        is_done = written > 0;
        at += written;
    }
    is_done = is_done && fsync(file) == 0;
    if (file >= 0)
        (void)close(file);
    return is_done;
}

/* Of nftw: a directory comes behind all that is in it. */
static int erase_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
    (void)place;
    if (kind == FTW_DP)
        return rmdir(path);
    if (S_ISREG(found->st_mode) && !overwrite(path, found->st_size))
        return -1;
    return unlink(path);
}

static enum tacit_status erase(const char *directory, struct tacit_error *error)
{
    int lock = -1;
    int opened = -1;
    enum tacit_status status = live_private_directory_open(directory, &opened, error);
    if (status == TACIT_OK)
        status = live_lock_acquire(opened, directory, &lock, error);
    if (status == TACIT_OK && nftw(directory, erase_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
        status = live_refuse(error, TACIT_IO, "%s: not all could be erased: %s", directory,
                             strerror(errno));
    if (lock >= 0)
        live_lock_release(lock);
    if (opened >= 0)
        (void)close(opened);
    return status;
}

enum tacit_status live_audit_forget(const struct live_agent_config *config, bool even_so,
                                    uint64_t *releases, struct tacit_error *error)
{
    TACIT_ASSERT(config->protocol != NULL && config->daemon.state_directory != NULL);
    struct agent agent = {.config = config};
    char const *const directory = config->daemon.state_directory;
    struct stat there;
    *releases = 0;
    if (lstat(directory, &there) != 0)
        return live_refuse(error, TACIT_INVALID, "%s: there is no state", directory);
    enum tacit_status status = open_state(&agent, error);
    bool const is_known = status == TACIT_OK;
    bool const is_under_way =
        is_known && agent.runs.all.count > 0 && !live_runs_is_over(&agent.runs.all);
    if (is_known)
        *releases = live_store_newest_release(agent.daemon.store);
    close_state(&agent);
    if (is_under_way && !even_so)
        return live_refuse(error, TACIT_INVALID,
                           "%s: a run is under way; a site that comes back without its state and "
                           "with the same people's rewards releases them again, and the losses "
                           "add. After the end of the run, or with --even-so",
                           directory);
    if (!is_known && !even_so)
        return status;
    return erase(directory, error);
}

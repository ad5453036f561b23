/* A file of runs: 16 bytes of its kind, the digest of the call, a record a finished run (its index,
 * then its rows as they lie in memory), and the digest of all that. It never leaves the program
 * that wrote it. */
#include "run_cache.h"
#include "../config/document.h"
#include "results.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tacit/data.h"

#define KIND "tacit run cache\n"
#define KIND_BYTES (sizeof KIND - 1)
#define HEAD_BYTES (KIND_BYTES + TACIT_SHA256_BYTES)
#define ENDING ".runs"

/* ---- What it was run with -------------------------------------------------------------------- */

static void digest_text(struct tacit_sha256 *sha, const char *text)
{
    tacit_sha256_update(sha, text, strlen(text) + 1);
}

static void digest_file(struct tacit_sha256 *sha, const char *path)
{
    char part[65536];
    struct stat status;
    bool const is_there = stat(path, &status) == 0;
    FILE *const in = is_there && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    if (is_there && S_ISFIFO(status.st_mode)) { /* it was read, and cannot be again: by who it is */
        tacit_sha256_update(sha, &status.st_ino, sizeof status.st_ino);
        tacit_sha256_update(sha, &status.st_mtim, sizeof status.st_mtim);
    }
    if (in == NULL)
        return;
    for (size_t got; (got = fread(part, 1, sizeof part, in)) > 0;)
        tacit_sha256_update(sha, part, got);
    (void)fclose(in);
}

/* The file that this text is the name of, or that of its archive. folder: "", or before the name.
 */
static void digest_named(struct tacit_sha256 *sha, const char *beside, const char *folder,
                         const char *text)
{
    char found[TACIT_PATH_BYTES];
    (void)snprintf(found, sizeof found, "%s%s%s", folder, *folder == '\0' ? "" : "/", text);
    char *const inner = strstr(found, ".tar/");
    if (inner != NULL)
        inner[4] = '\0';
    if (*text != '\0' && tacit_dataset_find(beside, found, found) == TACIT_OK)
        digest_file(sha, found);
}

/* What was read, wherever it came from, with the files that it names, whatever for, also in the
 * folder that a map around them names; "": there is none. */
static void digest_nodes(struct tacit_sha256 *sha, const char *beside, const char *folder,
                         const struct config_node *node)
{
    for (; node != NULL; node = node->next) {
        uint8_t const form[] = {(uint8_t)node->kind, node->is_plain};
        char const *const text = node->text == NULL ? "" : node->text;
        tacit_sha256_update(sha, form, sizeof form);
        digest_text(sha, node->key == NULL ? "" : node->key);
        digest_text(sha, text);
        digest_named(sha, beside, "", text);
        if (*folder != '\0' && strstr(folder, ".tar") == NULL) /* an archive is digested itself */
            digest_named(sha, beside, folder, text);
        struct config_node const *const own = config_node_member(node, "folder");
        digest_nodes(sha, beside, own == NULL || own->text == NULL ? folder : own->text,
                     node->first);
    }
    tacit_sha256_update(sha, "end", 3);
}

void run_cache_digest_experiment(struct tacit_sha256 *sha,
                                 const struct tacit_experiment *experiment)
{
    struct config_document const *const document = experiment->config->document;
    char const *const path = config_document_path(document);
    digest_text(sha, path);
    digest_nodes(sha, path, "", config_document_root(document));
}

void run_cache_digest_program(uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    digest_file(&sha, "/proc/self/exe");
    tacit_sha256_final(&sha, digest);
}

struct run_cache run_cache_at(const char *path, const struct tacit_experiment *experiment)
{
    struct run_cache cache = {
        .option = "--resume", .file = path, .writes = true, .end = experiment->sim.run_count};
    struct tacit_sha256 sha = tacit_sha256_init();
    run_cache_digest_program(cache.digest);
    tacit_sha256_update(&sha, cache.digest, sizeof cache.digest);
    run_cache_digest_experiment(&sha, experiment);
    tacit_sha256_final(&sha, cache.digest);
    return cache;
}

/* ---- Whole or not at all --------------------------------------------------------------------- */

/* A file beside `path`, which no other process on any machine writes. */
static FILE *open_beside(const char *path, char beside[RUN_CACHE_PATH_BYTES])
{
    char host[64] = "";
    (void)gethostname(host, sizeof host - 1);
    int const length =
        snprintf(beside, RUN_CACHE_PATH_BYTES, "%s.%s-%ld.part", path, host, (long)getpid());
    errno = ENAMETOOLONG;
    return length > 0 && (size_t)length < RUN_CACHE_PATH_BYTES ? fopen(beside, "wb") : NULL;
}

/* Moves it to its place, if it is good so far. */
static bool close_beside(FILE *out, bool is_good, const char *beside, const char *path)
{
    is_good = is_good && fflush(out) == 0 && fsync(fileno(out)) == 0;
    is_good = fclose(out) == 0 && is_good && rename(beside, path) == 0;
    int const why = errno;
    if (!is_good)
        (void)unlink(beside);
    errno = why;
    return is_good;
}

bool run_cache_replace(const char *path, const char *text)
{
    char beside[RUN_CACHE_PATH_BYTES];
    FILE *const out = open_beside(path, beside);
    return out != NULL && close_beside(out, fputs(text, out) >= 0, beside, path);
}

/* ---- The arrays ------------------------------------------------------------------------------ */

struct parts {
    struct results_part all[RESULTS_PARTS];
    const struct tacit_sim_results *results;
    size_t run_count;
    size_t row_bytes; /* of one run */
};

static struct parts list_parts(const struct tacit_experiment *experiment,
                               const struct tacit_sim_results *results)
{
    struct parts parts = {.results = results, .run_count = experiment->sim.run_count};
    results_list(experiment, false, parts.all);
    TACIT_ASSERT(results->replayed == NULL); /* no file has them */
    for (size_t i = 0; i < RESULTS_CACHED; i++)
        parts.row_bytes +=
            results_array(results, i) == NULL ? 0 : parts.all[i].width * parts.all[i].lines;
    return parts;
}

/* Between the arrays and the row of a run. */
static void copy_row(const struct parts *parts, size_t run, unsigned char *row, bool to_row)
{
    TACIT_ASSERT(run < parts->run_count);
    for (size_t i = 0; i < RESULTS_CACHED; i++) {
        struct results_part const *const part = &parts->all[i];
        unsigned char *const array = results_array(parts->results, i);
        for (size_t line = 0; array != NULL && line < part->lines; line++) {
            unsigned char *const here = array + (line * parts->run_count + run) * part->width;
            memcpy(to_row ? row : here, to_row ? here : row, part->width);
            row += part->width;
        }
    }
}

/* ---- The file -------------------------------------------------------------------------------- */

/* False: longer than a path may be. */
static bool path_of(const struct run_cache *cache, char path[RUN_CACHE_PATH_BYTES])
{
    int const length = cache->file != NULL
                           ? snprintf(path, RUN_CACHE_PATH_BYTES, "%s", cache->file)
                           : snprintf(path, RUN_CACHE_PATH_BYTES, "%s/%u-%u-%u" ENDING,
                                      cache->folder, cache->player, cache->first, cache->end);
    return length > 0 && (size_t)length < RUN_CACHE_PATH_BYTES;
}

/* Errors: TACIT_INVALID. */
static enum tacit_status refuse(const struct run_cache *cache, const char *path, const char *why,
                                struct tacit_error *error)
{
    (void)snprintf(error->text, sizeof error->text, "%s: %.300s %s", cache->option, path, why);
    return TACIT_INVALID;
}

/* False: it is not whole. */
static bool read_records(FILE *in, size_t size, struct tacit_sha256 *sha, const struct parts *parts,
                         bool *finished, unsigned char *row)
{
    uint8_t expected[TACIT_SHA256_BYTES];
    uint8_t digest[TACIT_SHA256_BYTES];
    uint32_t run;
    size_t const record = sizeof run + parts->row_bytes;
    if (size < HEAD_BYTES + sizeof digest || (size - HEAD_BYTES - sizeof digest) % record != 0)
        return false;
    for (size_t left = (size - HEAD_BYTES - sizeof digest) / record; left > 0; left--) {
        if (fread(&run, 1, sizeof run, in) != sizeof run || run >= parts->run_count ||
            fread(row, 1, parts->row_bytes, in) != parts->row_bytes)
            return false;
        tacit_sha256_update(sha, &run, sizeof run);
        tacit_sha256_update(sha, row, parts->row_bytes);
        copy_row(parts, run, row, false);
        finished[run] = true;
    }
    tacit_sha256_final(sha, expected);
    return fread(digest, 1, sizeof digest, in) == sizeof digest &&
           memcmp(digest, expected, sizeof digest) == 0;
}

static enum tacit_status read_open(const struct run_cache *cache, const char *path, FILE *in,
                                   const struct parts *parts, bool *finished,
                                   struct tacit_error *error)
{
    uint8_t head[HEAD_BYTES];
    struct stat stat;
    struct tacit_sha256 sha = tacit_sha256_init();
    if (fread(head, 1, sizeof head, in) != sizeof head || memcmp(head, KIND, KIND_BYTES) != 0)
        return refuse(cache, path,
                      "is no file of kept runs; allowed: one that tacit made, or a new one", error);
    if (memcmp(head + KIND_BYTES, cache->digest, sizeof cache->digest) != 0)
        return refuse(cache, path,
                      "has runs of another file, setting, data or version of the program; remove "
                      "it to begin anew",
                      error);
    unsigned char *const row = malloc(parts->row_bytes + 1);
    if (row == NULL)
        return TACIT_MEMORY;
    tacit_sha256_update(&sha, head, sizeof head);
    bool const is_whole = fstat(fileno(in), &stat) == 0 &&
                          read_records(in, (size_t)stat.st_size, &sha, parts, finished, row);
    free(row);
    return is_whole ? TACIT_OK : refuse(cache, path, "is damaged; remove it to begin anew", error);
}

static enum tacit_status read_file(const struct run_cache *cache, const char *path,
                                   const struct parts *parts, bool *finished,
                                   struct tacit_error *error)
{
    FILE *const in = fopen(path, "rb");
    if (in == NULL)
        return errno == ENOENT ? TACIT_OK : refuse(cache, path, strerror(errno), error);
    enum tacit_status const status = read_open(cache, path, in, parts, finished, error);
    (void)fclose(in);
    return status;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t const length = strlen(name);
    return length > strlen(ending) && strcmp(name + length - strlen(ending), ending) == 0;
}

/* Of any shares: they may have been cut otherwise. */
static enum tacit_status read_folder(const struct run_cache *cache, const struct parts *parts,
                                     bool *finished, struct tacit_error *error)
{
    char path[RUN_CACHE_PATH_BYTES];
    char player[16];
    DIR *const folder = opendir(cache->folder);
    enum tacit_status status = TACIT_OK;
    int const length = snprintf(player, sizeof player, "%u-", cache->player);
    for (struct dirent *entry;
         folder != NULL && status == TACIT_OK && (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, player, (size_t)length) != 0 ||
            !ends_with(entry->d_name, ENDING))
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", cache->folder, entry->d_name);
        status = read_file(cache, path, parts, finished, error);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return status;
}

enum tacit_status run_cache_read(const struct run_cache *cache,
                                 const struct tacit_experiment *experiment,
                                 const struct tacit_sim_results *results, struct tacit_error *error)
{
    struct parts const parts = list_parts(experiment, results);
    TACIT_ASSERT((cache->file == NULL) != (cache->folder == NULL));
    return cache->file != NULL ? read_file(cache, cache->file, &parts, results->finished, error)
                               : read_folder(cache, &parts, results->finished, error);
}

static bool write_bytes(FILE *out, const void *bytes, size_t size, struct tacit_sha256 *sha)
{
    tacit_sha256_update(sha, bytes, size);
    return fwrite(bytes, 1, size, out) == size;
}

static bool write_all(const struct run_cache *cache, FILE *out, const struct parts *parts,
                      const bool *finished)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_sha256 sha = tacit_sha256_init();
    unsigned char *const row = malloc(parts->row_bytes + 1);
    bool is_written = row != NULL && write_bytes(out, KIND, KIND_BYTES, &sha) &&
                      write_bytes(out, cache->digest, sizeof cache->digest, &sha);
    for (uint32_t run = cache->first; run < cache->end && is_written; run++) {
        if (!finished[run])
            continue;
        copy_row(parts, run, row, true);
        is_written = write_bytes(out, &run, sizeof run, &sha) &&
                     write_bytes(out, row, parts->row_bytes, &sha);
    }
    tacit_sha256_final(&sha, digest);
    free(row);
    return is_written && fwrite(digest, 1, sizeof digest, out) == sizeof digest;
}

enum tacit_status run_cache_write(const struct run_cache *cache,
                                  const struct tacit_experiment *experiment,
                                  const struct tacit_sim_results *results,
                                  struct tacit_error *error)
{
    char path[RUN_CACHE_PATH_BYTES] = "";
    char beside[RUN_CACHE_PATH_BYTES];
    struct parts const parts = list_parts(experiment, results);
    TACIT_ASSERT(cache->first <= cache->end && cache->end <= parts.run_count);
    if (!cache->writes)
        return TACIT_OK;
    FILE *const out = path_of(cache, path) ? open_beside(path, beside) : NULL;
    if (out != NULL &&
        close_beside(out, write_all(cache, out, &parts, results->finished), beside, path))
        return TACIT_OK;
    (void)snprintf(error->text, sizeof error->text, "%s: %.300s cannot be written: %s",
                   cache->option, path, errno == 0 ? "unknown reason" : strerror(errno));
    return TACIT_IO;
}

void run_cache_remove(const char *folder)
{
    char path[RUN_CACHE_PATH_BYTES];
    DIR *const open = opendir(folder);
    for (struct dirent *entry; open != NULL && (entry = readdir(open)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (ends_with(entry->d_name, ENDING) || ends_with(entry->d_name, ".part"))
            (void)unlink(path);
    }
    if (open == NULL)
        return;
    (void)closedir(open);
    (void)rmdir(folder);
}

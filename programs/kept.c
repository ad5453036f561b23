/* A file of kept runs: 16 bytes of its kind, the digest of the call, the arrays of the results one
 * after the other as they lie in memory, and the digest of all that. It never leaves the program
 * that wrote it. */
#include "kept.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tacit/data.h"

#define KIND "tacit kept runs\n"
#define KIND_BYTES (sizeof KIND - 1)
#define PATH_BYTES 4096u
#define PARTS_MAX 10u

/* ---- What it was run with -------------------------------------------------------------------- */

static void digest_text(struct tacit_sha256 *sha, const char *text)
{
    tacit_sha256_update(sha, text, strlen(text) + 1);
}

void kept_digest_file(struct tacit_sha256 *sha, const char *path)
{
    char part[65536];
    FILE *const in = path == NULL ? NULL : fopen(path, "rb");
    if (in == NULL)
        return;
    for (size_t got; (got = fread(part, 1, sizeof part, in)) > 0;)
        tacit_sha256_update(sha, part, got);
    (void)fclose(in);
}

/* A file that the experiment names: beside it, or in a data directory. */
static void digest_named(struct tacit_sha256 *sha, const struct tacit_config *config,
                         const char *name)
{
    char found[TACIT_PATH_BYTES];
    char *const beside = name == NULL ? NULL : tacit_config_path(config->document, name);
    if (beside != NULL && access(beside, R_OK) == 0)
        kept_digest_file(sha, beside);
    else if (name != NULL && tacit_dataset_find(name, found) == TACIT_OK)
        kept_digest_file(sha, found);
    free(beside);
}

void kept_digest_experiment(struct tacit_sha256 *sha, const struct tacit_experiment *experiment,
                            const char *file, const char *const *settings, uint32_t setting_count)
{
    struct tacit_config const *const config = experiment->config;
    digest_text(sha, file);
    kept_digest_file(sha, file);
    for (uint32_t i = 0; i < setting_count; i++)
        digest_text(sha, settings[i]);
    digest_named(sha, config, config->means);
    digest_named(sha, config, config->log.csv);
    digest_named(sha, config, config->log.fallback);
    for (uint32_t i = 0; i < config->network.graph_count; i++)
        digest_named(sha, config, config->network.graphs[i].file);
}

struct kept kept_at(const char *path, const struct tacit_experiment *experiment, const char *file,
                    const char *const *settings, uint32_t setting_count)
{
    struct kept kept = {.path = path};
    struct tacit_sha256 sha = tacit_sha256_init();
    digest_text(&sha, TACIT_VERSION);
    kept_digest_file(&sha, "/proc/self/exe");
    kept_digest_experiment(&sha, experiment, file, settings, setting_count);
    tacit_sha256_final(&sha, kept.digest);
    return kept;
}

/* ---- The arrays ------------------------------------------------------------------------------ */

struct part {
    void *bytes;  /* NULL: there is none */
    size_t width; /* bytes of a run in a line */
    size_t lines; /* each has all runs, one after the other */
    size_t size;
};

static void list_parts(const struct tacit_experiment *experiment,
                       const struct tacit_sim_results *results, struct part parts[PARTS_MAX])
{
    struct tacit_sim const *const sim = &experiment->sim;
    size_t const arms = sim->env.arm_count;
    size_t const points = sim->point_count;
    size_t const seen = sim->agent_count * arms;
    struct part const all[PARTS_MAX] = {
        {results->finished, sizeof *results->finished, 1, 0},
        {results->metrics, sizeof *results->metrics, experiment->family->player.metric_count, 0},
        {results->regret, points * sizeof *results->regret, 1, 0},
        {results->eliminated, sizeof *results->eliminated, arms, 0},
        {results->ranking, arms * sizeof *results->ranking, 1, 0},
        {results->ranked_count, sizeof *results->ranked_count, 1, 0},
        {results->profiles, sim->profile_values * sizeof *results->profiles, 1, 0},
        {results->curves, points * sizeof *results->curves, sim->curve_count, 0},
        {results->site_counts, seen * sizeof *results->site_counts, 1, 0},
        {results->site_sums, seen * sizeof *results->site_sums, 1, 0}};
    for (uint32_t i = 0; i < PARTS_MAX; i++) {
        parts[i] = all[i];
        parts[i].size = sim->run_count * all[i].width * all[i].lines;
    }
}

/* ---- Rows of some runs ----------------------------------------------------------------------- */

size_t kept_rows_bytes(const struct tacit_experiment *experiment,
                       const struct tacit_sim_results *results, uint32_t first, uint32_t end)
{
    struct part parts[PARTS_MAX];
    size_t size = 0;
    list_parts(experiment, results, parts);
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        size += parts[i].bytes == NULL ? 0 : parts[i].width * parts[i].lines * (end - first);
    return size;
}

void kept_rows_get(const struct tacit_experiment *experiment,
                   const struct tacit_sim_results *results, uint32_t first, uint32_t end,
                   void *rows)
{
    struct part parts[PARTS_MAX];
    unsigned char *to = rows;
    list_parts(experiment, results, parts);
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        for (size_t line = 0; parts[i].bytes != NULL && line < parts[i].lines; line++) {
            size_t const at = (line * experiment->sim.run_count + first) * parts[i].width;
            memcpy(to, (const unsigned char *)parts[i].bytes + at, (end - first) * parts[i].width);
            to += (end - first) * parts[i].width;
        }
}

void kept_rows_put(const struct tacit_experiment *experiment,
                   const struct tacit_sim_results *results, uint32_t first, uint32_t end,
                   const void *rows)
{
    struct part parts[PARTS_MAX];
    const unsigned char *from = rows;
    list_parts(experiment, results, parts);
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        for (size_t line = 0; parts[i].bytes != NULL && line < parts[i].lines; line++) {
            size_t const at = (line * experiment->sim.run_count + first) * parts[i].width;
            memcpy((unsigned char *)parts[i].bytes + at, from, (end - first) * parts[i].width);
            from += (end - first) * parts[i].width;
        }
}

/* ---- The file -------------------------------------------------------------------------------- */

/* Errors: TACIT_INVALID. */
static enum tacit_status refuse(const struct kept *kept, const char *why, struct tacit_error *error)
{
    (void)snprintf(error->text, sizeof error->text, "--resume: %.300s %s", kept->path, why);
    return TACIT_INVALID;
}

static bool read_parts(FILE *in, const struct part *parts, struct tacit_sha256 *sha)
{
    uint8_t expected[TACIT_SHA256_BYTES];
    uint8_t digest[TACIT_SHA256_BYTES];
    for (uint32_t i = 0; i < PARTS_MAX; i++) {
        if (parts[i].bytes == NULL)
            continue;
        if (fread(parts[i].bytes, 1, parts[i].size, in) != parts[i].size)
            return false;
        tacit_sha256_update(sha, parts[i].bytes, parts[i].size);
    }
    tacit_sha256_final(sha, expected);
    return fread(digest, 1, sizeof digest, in) == sizeof digest && fgetc(in) == EOF &&
           memcmp(digest, expected, sizeof digest) == 0;
}

static enum tacit_status read_all(const struct kept *kept, FILE *in, const struct part *parts,
                                  struct tacit_error *error)
{
    uint8_t head[KIND_BYTES + TACIT_SHA256_BYTES];
    struct tacit_sha256 sha = tacit_sha256_init();
    if (fread(head, 1, sizeof head, in) != sizeof head || memcmp(head, KIND, KIND_BYTES) != 0)
        return refuse(
            kept, "is no file of kept runs; allowed: one that --resume made, or a new one", error);
    if (memcmp(head + KIND_BYTES, kept->digest, sizeof kept->digest) != 0)
        return refuse(kept,
                      "has runs of another file, setting, data or version of the program; remove "
                      "it to begin anew",
                      error);
    tacit_sha256_update(&sha, head, sizeof head);
    return read_parts(in, parts, &sha) ? TACIT_OK
                                       : refuse(kept, "is damaged; remove it to begin anew", error);
}

enum tacit_status kept_read(const struct kept *kept, const struct tacit_experiment *experiment,
                            const struct tacit_sim_results *results, struct tacit_error *error)
{
    struct part parts[PARTS_MAX];
    FILE *const in = fopen(kept->path, "rb");
    if (in == NULL && errno == ENOENT)
        return TACIT_OK;
    if (in == NULL)
        return refuse(kept, strerror(errno), error);
    list_parts(experiment, results, parts);
    enum tacit_status const status = read_all(kept, in, parts, error);
    (void)fclose(in);
    return status;
}

static bool write_bytes(FILE *out, const void *bytes, size_t size, struct tacit_sha256 *sha)
{
    tacit_sha256_update(sha, bytes, size);
    return fwrite(bytes, 1, size, out) == size;
}

static bool write_all(const struct kept *kept, FILE *out, const struct part *parts)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_sha256 sha = tacit_sha256_init();
    bool is_written = write_bytes(out, KIND, KIND_BYTES, &sha) &&
                      write_bytes(out, kept->digest, sizeof kept->digest, &sha);
    for (uint32_t i = 0; i < PARTS_MAX && is_written; i++)
        if (parts[i].bytes != NULL)
            is_written = write_bytes(out, parts[i].bytes, parts[i].size, &sha);
    tacit_sha256_final(&sha, digest);
    return is_written && fwrite(digest, 1, sizeof digest, out) == sizeof digest &&
           fflush(out) == 0 && fsync(fileno(out)) == 0;
}

enum tacit_status kept_write(const struct kept *kept, const struct tacit_experiment *experiment,
                             const struct tacit_sim_results *results, struct tacit_error *error)
{
    char part[PATH_BYTES];
    struct part parts[PARTS_MAX];
    int const length = snprintf(part, sizeof part, "%s.part", kept->path);
    bool const fits = length > 0 && (size_t)length < sizeof part;
    list_parts(experiment, results, parts);
    errno = fits ? 0 : ENAMETOOLONG;
    FILE *const out = fits ? fopen(part, "wb") : NULL;
    bool is_whole = out != NULL && write_all(kept, out, parts);
    is_whole = out != NULL && fclose(out) == 0 && is_whole;
    if (is_whole && rename(part, kept->path) == 0)
        return TACIT_OK;
    (void)snprintf(error->text, sizeof error->text, "--resume: %.300s cannot be written: %s",
                   kept->path, errno == 0 ? "unknown reason" : strerror(errno));
    if (out != NULL)
        (void)unlink(part);
    return TACIT_IO;
}

/* Finished runs in a file, so that an interrupted call goes on where it stopped. The file belongs
 * to one program, file, settings and data: it is refused in words by any other call. */
#ifndef TACIT_PROGRAMS_KEPT_H
#define TACIT_PROGRAMS_KEPT_H
#include "tacit/commit.h"
#include "tacit/family.h"

struct kept {
    const char *path;
    uint8_t digest[TACIT_SHA256_BYTES]; /* of all that the results depend on */
};

/* Adds what a file has. One that is not there has no bytes. */
void kept_digest_file(struct tacit_sha256 *sha, const char *path);

/* Adds the experiment's file, the settings, and the data that the experiment names. */
void kept_digest_experiment(struct tacit_sha256 *sha, const struct tacit_experiment *experiment,
                            const char *file, const char *const *settings, uint32_t setting_count);

/* The file `path` for these runs, of this very program: another build of it may play otherwise. */
struct kept kept_at(const char *path, const struct tacit_experiment *experiment, const char *file,
                    const char *const *settings, uint32_t setting_count);

/* Fills the results with the runs that the file has, which are marked as finished; none if there is
 * no file. Errors: TACIT_INVALID: it is of another call, or not whole; TACIT_MEMORY. error->text
 * says so, and the results are to be thrown away. */
enum tacit_status kept_read(const struct kept *kept, const struct tacit_experiment *experiment,
                            const struct tacit_sim_results *results, struct tacit_error *error);

/* Replaces the file, whole or not at all, durably. Errors: TACIT_IO with error->text. */
enum tacit_status kept_write(const struct kept *kept, const struct tacit_experiment *experiment,
                             const struct tacit_sim_results *results, struct tacit_error *error);

/* The rows of the runs first to end - 1 in memory, as they are kept: for one that joins parts. */
size_t kept_rows_bytes(const struct tacit_experiment *experiment,
                       const struct tacit_sim_results *results, uint32_t first, uint32_t end);
void kept_rows_get(const struct tacit_experiment *experiment,
                   const struct tacit_sim_results *results, uint32_t first, uint32_t end,
                   void *rows);
void kept_rows_put(const struct tacit_experiment *experiment,
                   const struct tacit_sim_results *results, uint32_t first, uint32_t end,
                   const void *rows);
#endif

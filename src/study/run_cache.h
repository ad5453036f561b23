/* Finished runs in files, so that an interrupted call goes on where it stopped and a call is put
 * together from shares. A file belongs to one program, experiment, settings and data: it is refused
 * in words by any other call. It is in place whole or not at all, on network file systems, too. */
#ifndef TACIT_STUDY_RUN_CACHE_H
#define TACIT_STUDY_RUN_CACHE_H
#include <stdio.h>
#include "tacit/commit.h"
#include "tacit/family.h"

#define RUN_CACHE_PATH_BYTES 4096u

struct run_cache {
    const char *option; /* of the command line, which refusals begin with */
    const char *file;   /* NULL: the files are in `folder`, one for each player and share */
    const char *folder;
    bool writes;
    uint32_t player; /* in the folder: 0 is the experiment, 1 its first baseline */
    uint32_t first;  /* the runs that this call plays and writes: first to end - 1 */
    uint32_t end;
    uint8_t digest[TACIT_SHA256_BYTES]; /* of all that the results depend on */
};

/* Adds the experiment as it was read, its settings applied, and the data that it names. A file that
 * is not there has no bytes. */
void run_cache_digest_experiment(struct tacit_sha256 *sha,
                                 const struct tacit_experiment *experiment);

/* Of the running program: another build of it may play otherwise. Cost: reads it. */
void run_cache_digest_program(uint8_t digest[TACIT_SHA256_BYTES]);

/* The file `path` for all runs of these settings. */
struct run_cache run_cache_at(const char *path, const struct tacit_experiment *experiment);

/* Adds to the results the runs that the file, or the folder's files of the player, have, and marks
 * them as finished; none where there is no file. Errors: TACIT_INVALID: one is of another call, or
 * not whole; TACIT_MEMORY. error->text says so, and the results are to be thrown away. */
enum tacit_status run_cache_read(const struct run_cache *cache,
                                 const struct tacit_experiment *experiment,
                                 const struct tacit_sim_results *results,
                                 struct tacit_error *error);

/* Replaces the file by the finished ones among `first` to `end` - 1, durably; nothing unless
 * `writes`. Errors: TACIT_IO with error->text. */
enum tacit_status run_cache_write(const struct run_cache *cache,
                                  const struct tacit_experiment *experiment,
                                  const struct tacit_sim_results *results,
                                  struct tacit_error *error);

/* Removes a folder of shares, if it is there: only what this room has put in it. */
void run_cache_remove(const char *folder);

/* Puts the text into the file, whole or not at all, durably. False: errno says why not. */
bool run_cache_replace(const char *path, const char *text);
#endif

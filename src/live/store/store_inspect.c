/* A state directory is inspected as it would be read at the start, and nothing is written: not even
 * an index beside the log. */
#include "../daemon/lock.h"
#include "../daemon/private.h"
#include "../daemon/refusal.h"
#include "store_base.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    const char *name;
    int directory;
    int lock; /* shared, while we inspect; -1: there is none */
    const struct live_store_identity *identity;
    struct tacit_error *error;
};

/* ---- From outside ---------------------------------------------------------------------------- */

/* Could the start make it? */
static enum tacit_status check_parent(const char *directory, struct tacit_error *error)
{
    char parent[4096];
    size_t size = strlen(directory);
    while (size > 1 && directory[size - 1] == '/')
        size--;
    while (size > 0 && directory[size - 1] != '/')
        size--;
    (void)snprintf(parent, sizeof parent, "%.*s", (int)size, size == 0 ? "" : directory);
    char const *const where = size == 0 ? "." : parent;
    if (access(where, W_OK | X_OK) == 0)
        return TACIT_OK;
    return live_refuse(error, TACIT_IO, "%s: cannot make the state directory: %s", directory,
                       strerror(errno));
}

/* The words only: the database is the other process's. */
static enum tacit_status compare_words(const struct place *place)
{
    char bytes[TACIT_ERROR_BYTES / 2];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    if (place->identity->agreed == NULL ||
        !store_agreed_compare(place->name, place->identity->agreed, &words) || bytes[0] == '\0')
        return TACIT_OK;
    return live_refuse(place->error, TACIT_INVALID,
                       "%s: the configuration is not the one that this state was made with: %s",
                       place->name, bytes);
}

/* ---- From inside ----------------------------------------------------------------------------- */

/* A path with what a URI gives a meaning of its own as %HH; to be given to free(). NULL: memory. */
static char *uri_of(const char *path, const char *ending)
{
    char *uri = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&uri, &size);
    if (out == NULL)
        return NULL;
    (void)fputs("file:", out);
    for (; *path != '\0'; path++) {
        if (strchr("%?#", *path) != NULL)
            (void)fprintf(out, "%%%02X", (unsigned)*path);
        else
            (void)fputc(*path, out);
    }
    (void)fputs(ending, out);
    bool const is_whole = fclose(out) == 0;
    if (!is_whole)
        free(uri);
    return is_whole ? uri : NULL;
}

/* With a log it is read through an index in memory (EXCLUSIVE, whose lock needs a descriptor that
 * may write; no statement may, and the log is not folded). Without one the file is all there is,
 * and SQLite must not make a log (immutable). */
static enum tacit_status connect_to(struct live_store *store, const struct place *place,
                                    bool has_log)
{
    char *const real = realpath(place->name, NULL);
    char *const path = real == NULL
                           ? NULL
                           : uri_of(real, has_log ? "/" STORE_FILE : "/" STORE_FILE "?immutable=1");
    free(real);
    if (path == NULL)
        return store_break(store, TACIT_MEMORY, "out of memory");
    enum tacit_status const status = store_connect(
        store, &store->database, path,
        (has_log ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_URI, NULL, "open");
    free(path);
    if (status != TACIT_OK)
        return status;
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return store_execute(store,
                         "PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON;"
                         "PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0",
                         "configure the database");
}

static enum tacit_status read_state(struct live_store *store, const struct place *place,
                                    bool has_log)
{
    enum tacit_status status = connect_to(store, place, has_log);
    if (status == TACIT_OK)
        status = store_check_rows(store, place->identity);
    if (status != TACIT_OK)
        *place->error = store->trouble;
    return status;
}

/* In a directory that is open; the lock is the caller's to release. */
static enum tacit_status inspect(struct live_store **store, struct place *place,
                                 enum live_store_found *found)
{
    struct store_sizes sizes = {-1, -1};
    bool is_held;
    TACIT_TRY(
        live_lock_inspect(place->directory, place->name, &place->lock, &is_held, place->error));
    if (is_held) {
        *found = LIVE_STORE_IN_USE;
        return compare_words(place);
    }
    struct live_store *const made = store_new(place->name);
    if (made == NULL)
        return live_refuse(place->error, TACIT_MEMORY, "%s: out of memory", place->name);
    made->is_for_inspection = true;
    enum tacit_status status =
        store_check_files(made, place->directory, place->name, &sizes, place->error);
    if (status == TACIT_OK && sizes.file >= 0)
        status = read_state(made, place, sizes.log > 0);
    if (status == TACIT_OK && sizes.file >= 0) {
        *found = LIVE_STORE_READ;
        *store = made;
    } else {
        live_store_close(made);
    }
    return status;
}

enum tacit_status live_store_inspect(struct live_store **store, const char *directory,
                                     const struct live_store_identity *identity,
                                     enum live_store_found *found, struct tacit_error *error)
{
    struct place place = {
        .name = directory, .directory = -1, .lock = -1, .identity = identity, .error = error};
    struct stat there;
    *store = NULL;
    *found = LIVE_STORE_NONE;
    if (lstat(directory, &there) != 0)
        return errno == ENOENT ? check_parent(directory, error)
                               : live_refuse(error, TACIT_IO, "%s: %s", directory, strerror(errno));
    TACIT_TRY(live_private_directory_open(directory, &place.directory, error));
    enum tacit_status status = inspect(store, &place, found);
    live_lock_release(place.lock);
    (void)close(place.directory);
    return status;
}

enum tacit_status live_store_try(const char *directory, enum tacit_status identified,
                                 struct live_store_identity *identity, live_store_trial *trial,
                                 const void *context, enum live_store_found *found,
                                 struct tacit_error *error)
{
    struct live_store *store = NULL;
    enum tacit_status status = identified;
    if (status == TACIT_OK)
        status = live_store_inspect(&store, directory, identity, found, error);
    if (status == TACIT_OK && store != NULL && trial != NULL)
        status = trial(context, store, error);
    live_store_close(store);
    live_store_identity_free(identity);
    return status;
}

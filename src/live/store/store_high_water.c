/* 32 bytes: what it is, whether a log must be there, the newest release, and these once more,
 * inverted: so damage shows. Written beside and renamed: after a crash it is the old one or the new
 * one. It is written after the commit that it tells of and before anything of it leaves, so it
 * never claims what is not on disk, and never lacks what left. */
#include "store_base.h"
#include "../daemon/private.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HIGH_WATER STORE_FILE "-witness"
#define HIGH_WATER_NEW HIGH_WATER ".new"
#define HIGH_WATER_MARK UINT64_C(0x31746977)
#define HIGH_WATER_WORDS 4u

static void words_of(const struct store_high_water *high_water, uint64_t words[HIGH_WATER_WORDS])
{
    words[0] = HIGH_WATER_MARK << 1 | (high_water->has_log ? 1 : 0);
    words[1] = high_water->release;
    words[2] = ~words[0];
    words[3] = ~words[1];
}

static bool parse_words(const uint64_t words[HIGH_WATER_WORDS], struct store_high_water *high_water)
{
    *high_water = (struct store_high_water){.has_log = (words[0] & 1) == 1, .release = words[1]};
    return words[0] >> 1 == HIGH_WATER_MARK && words[2] == ~words[0] && words[3] == ~words[1];
}

enum tacit_status store_high_water_check(struct live_store *store, int directory,
                                         const char *directory_name, int64_t log_bytes,
                                         struct tacit_error *error)
{
    uint64_t words[HIGH_WATER_WORDS];
    int64_t size = -1;
    enum tacit_status const status =
        live_private_file_check(directory, directory_name, HIGH_WATER, &size, error);
    if (status != TACIT_OK || size < 0)
        return status;
    int const file = openat(directory, HIGH_WATER, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t const got = file < 0 ? -1 : pread(file, words, sizeof words, 0);
    if (file >= 0)
        (void)close(file);
    if (got < 0)
        return live_refuse(error, TACIT_IO, "%s/%s: cannot read", directory_name, HIGH_WATER);
    if (size != (int64_t)sizeof words || got != size || !parse_words(words, &store->high_water))
        return live_refuse(error, TACIT_MALFORMED, "%s/%s is damaged", directory_name, HIGH_WATER);
    if (store->high_water.has_log && log_bytes <= 0)
        return live_refuse(
            error, TACIT_MALFORMED,
            "%s/%s is %s, but the process did not end by itself: what it held is "
            "lost, and the rest is older than what was said from it; put it back, or "
            "remove the whole directory and rejoin as a new site",
            directory_name, STORE_LOG, log_bytes < 0 ? "missing" : "empty");
    return TACIT_OK;
}

/* Written, on disk, under its name. */
static bool write_high_water(const struct live_store *store,
                             const struct store_high_water *high_water)
{
    uint64_t words[HIGH_WATER_WORDS];
    int const directory = store->directory;
    words_of(high_water, words);
    (void)unlinkat(directory, HIGH_WATER_NEW, 0);
    int const file =
        openat(directory, HIGH_WATER_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               S_IRUSR | S_IWUSR);
    if (file < 0)
        return false;
    bool const is_written = fchmod(file, S_IRUSR | S_IWUSR) == 0 &&
                            write(file, words, sizeof words) == (ssize_t)sizeof words &&
                            fsync(file) == 0;
    return close(file) == 0 && is_written &&
           renameat(directory, HIGH_WATER_NEW, directory, HIGH_WATER) == 0 && fsync(directory) == 0;
}

enum tacit_status store_high_water_releases(struct live_store *store)
{
    int64_t number; /* 0: there is none */
    TACIT_TRY(store_query_number(store, "SELECT coalesce(max(number), 0) FROM releases", &number));
    store->put_release = (uint64_t)number;
    if (store->put_release >= store->high_water.release)
        return TACIT_OK;
    return store_break(store, TACIT_MALFORMED,
                       "release %llu was made from this state, but it ends with release %llu: its "
                       "log or its file is an older one; put the newer one back, or remove the "
                       "whole directory and rejoin as a new site",
                       (unsigned long long)store->high_water.release, (unsigned long long)number);
}

enum tacit_status store_high_water_commit(struct live_store *store)
{
    struct store_high_water const now = {.has_log = true, .release = store->put_release};
    TACIT_ASSERT(now.release >= store->high_water.release);
    if (store->high_water.has_log && store->high_water.release == now.release)
        return TACIT_OK;
    if (!write_high_water(store, &now))
        return store_break(store, TACIT_IO, "cannot write %s: %s", HIGH_WATER, strerror(errno));
    store->high_water = now;
    return TACIT_OK;
}

void store_high_water_close(struct live_store *store)
{
    struct store_high_water const now = {.release = store->high_water.release};
    if (store->high_water.has_log && !write_high_water(store, &now))
        store->is_broken = true; /* the next start asks for the log: it stays */
}

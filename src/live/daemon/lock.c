/* flock, not fcntl: it also holds against this very process, and closing another descriptor of the
 * file does not drop it. The file stays behind for ever: removing it would let two processes hold
 * two locks. */
#include "lock.h"
#include "private.h"
#include "refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME "lock"
#define LOCK_TEXT_BYTES 24u

/* The holder writes its id right after it has the lock; for a moment the file may still be empty.
 */
static enum tacit_status refuse_held(int lock, const char *directory_name,
                                     struct tacit_error *error)
{
    char text[LOCK_TEXT_BYTES + 1];
    ssize_t const size = pread(lock, text, LOCK_TEXT_BYTES, 0);
    text[size > 0 ? size : 0] = '\0';
    long const holder = strtol(text, NULL, 10);
    if (holder <= 0)
        return live_refuse(error, TACIT_INVALID, "%s is in use by another process", directory_name);
    return live_refuse(error, TACIT_INVALID, "%s is in use by process %ld", directory_name, holder);
}

static bool write_own_id(int lock)
{
    char text[LOCK_TEXT_BYTES + 1];
    /* One write of one length: nobody reads half an id, or the rest of an older one. */
    int const size =
        snprintf(text, sizeof text, "%-*ld\n", (int)LOCK_TEXT_BYTES - 1, (long)getpid());
    return size == (int)LOCK_TEXT_BYTES && pwrite(lock, text, LOCK_TEXT_BYTES, 0) == size;
}

static enum tacit_status lock_for_us(int lock, const char *directory_name,
                                     struct tacit_error *error)
{
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return refuse_held(lock, directory_name, error);
        return live_refuse(error, TACIT_IO, "%s/%s: cannot lock: %s", directory_name, LOCK_NAME,
                           strerror(errno));
    }
    if (!write_own_id(lock))
        return live_refuse(error, TACIT_IO, "%s/%s: cannot write: %s", directory_name, LOCK_NAME,
                           strerror(errno));
    return TACIT_OK;
}

static int open_or_make(int directory)
{
    int const flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int const made = openat(directory, LOCK_NAME, flags | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    if (made < 0)
        return errno == EEXIST ? openat(directory, LOCK_NAME, flags) : -1;
    (void)fchmod(made, S_IRUSR | S_IWUSR); /* whatever the umask */
    return made;
}

static enum tacit_status refuse_opening(const char *directory_name, struct tacit_error *error)
{
    return live_refuse(error, TACIT_IO, "%s/%s: cannot open: %s", directory_name, LOCK_NAME,
                       strerror(errno));
}

enum tacit_status live_lock_acquire(int directory, const char *directory_name, int *lock,
                                    struct tacit_error *error)
{
    TACIT_ASSERT(directory >= 0);
    int64_t size;
    TACIT_TRY(live_private_file_check(directory, directory_name, LOCK_NAME, &size, error));
    int const made = open_or_make(directory);
    if (made < 0)
        return refuse_opening(directory_name, error);
    enum tacit_status status = lock_for_us(made, directory_name, error);
    if (status != TACIT_OK) {
        (void)close(made);
        return status;
    }
    *lock = made;
    return TACIT_OK;
}

enum tacit_status live_lock_inspect(int directory, const char *directory_name, int *lock,
                                    bool *is_held, struct tacit_error *error)
{
    TACIT_ASSERT(directory >= 0);
    int64_t size;
    *lock = -1;
    *is_held = false;
    enum tacit_status const status =
        live_private_file_check(directory, directory_name, LOCK_NAME, &size, error);
    if (status != TACIT_OK || size < 0)
        return status;
    *lock = openat(directory, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (*lock < 0)
        return refuse_opening(directory_name, error);
    *is_held = flock(*lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return TACIT_OK;
}

void live_lock_release(int lock)
{
    if (lock >= 0)
        (void)close(lock);
}

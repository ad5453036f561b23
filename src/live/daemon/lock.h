/* The lock of a state directory: one process at a time, and the next one learns who holds it. */
#ifndef TACIT_LIVE_LOCK_H
#define TACIT_LIVE_LOCK_H
#include "tacit/base.h"

/* Takes the lock file "lock" in the directory; the kernel gives it back when the process ends,
 * however it ends. The directory's name is for texts only. Errors: TACIT_INVALID (held: names the
 * process; not a file of ours alone), TACIT_IO. */
enum tacit_status live_lock_acquire(int directory, const char *directory_name, int *lock,
                                    struct tacit_error *error);
void live_lock_release(int lock);

/* Does another process hold it? If not, and there is a lock file, a lock that readers share keeps
 * others from beginning until it is given back. *lock: to be given to live_lock_release in any
 * case. Errors: as live_lock_acquire, but that it is held. */
enum tacit_status live_lock_inspect(int directory, const char *directory_name, int *lock,
                                    bool *is_held, struct tacit_error *error);
#endif

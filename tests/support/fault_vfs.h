/* A disk that fails, as an SQLite VFS over the default one: the n-th call fails once or for ever,
 * or the power goes off at the n-th call and what was not synced is lost in part. Also memory that
 * runs out. One thread, one disk. */
#ifndef TACIT_TESTS_FAULT_VFS_H
#define TACIT_TESTS_FAULT_VFS_H
#include <stdbool.h>
#include <stdint.h>

#define FAULT_VFS "fault"

enum fault_call {
    FAULT_OPEN = 1,
    FAULT_READ = 2,
    FAULT_WRITE = 4, /* half of it reaches the file */
    FAULT_SYNC = 8,
    FAULT_TRUNCATE = 16,
    FAULT_DELETE = 32,
    FAULT_CHANGES = FAULT_WRITE | FAULT_SYNC | FAULT_TRUNCATE,
    FAULT_ANY = 63,
    FAULT_PLAIN_SYNC = 64 /* fsync of whoever calls it; of FAULT_ANY it is no part */
};
#define FAULT_KINDS 7u

struct fault_plan {
    unsigned calls;     /* which ones count and fail */
    uint32_t countdown; /* so many pass first */
    int reason;         /* EIO or ENOSPC; 0: the power goes off */
    bool is_for_ever;   /* else once */
};

/* Registers the VFS under its name; not as the default. */
void fault_vfs_register(void);
/* The plan holds from now on; the counts start anew. */
void fault_vfs_arm(struct fault_plan plan);
void fault_vfs_disarm(void);
bool fault_vfs_has_fired(void);
/* Calls since the fault fired, of these kinds. */
uint32_t fault_vfs_calls_after(unsigned calls);

/* Temporary files of SQLite's own that were opened so far. */
uint32_t fault_vfs_nameless_opens(void);

/* Nobody waits for the real disk, in this process: for tests of bytes, not of durability. */
void fault_vfs_skip_syncs(bool is_on);

/* From now on what is not synced is remembered as such. Forgets what it knew. A sync that fails
 * loses what it should have written, though the file shows it until the power goes. */
void fault_vfs_watch_syncs(void);
/* Is nothing unsynced in the files that end so? */
bool fault_vfs_is_synced(const char *path_end);
/* Files on the disk become what a power failure leaves: everything synced, and of the rest any
 * sectors (512 bytes), chosen by the seed. The power is on again. No file may be open. */
void fault_vfs_lose_power(uint64_t seed);

/* SQLite's memory: the n-th allocation fails, once. Install before the first use of SQLite. */
void fault_memory_install(void);
void fault_memory_arm(uint32_t countdown);
/* Disarms. Did it fire? */
bool fault_memory_fired(void);
#endif

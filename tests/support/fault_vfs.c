/* SQLite's own VFS, but for the calls that can fail. What the store
 * syncs without SQLite (its high-water mark, directories) comes here, too: fsync of this file
 * stands before that of the C library. */
#include "fault_vfs.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECTOR_BYTES 512u
#define IMAGES_MAX 256u

static void give_up(const char *what)
{
    fprintf(stderr, "fault_vfs: %s\n", what);
    abort();
}

/* ---- Faults --------------------------------------------------------------------------------- */

static struct {
    struct fault_plan plan;
    bool is_armed;
    bool has_fired;
    bool is_off; /* the power */
    uint32_t after[FAULT_KINDS];
} fault;

static unsigned index_of(enum fault_call call)
{
    unsigned index = 0;
    while (1u << index != (unsigned)call)
        index++;
    return index;
}

static bool fails(enum fault_call call)
{
    if (fault.has_fired)
        fault.after[index_of(call)]++;
    if (fault.is_off)
        return true;
    if (!fault.is_armed || (fault.plan.calls & (unsigned)call) == 0)
        return false;
    if (fault.has_fired)
        return fault.plan.is_for_ever;
    if (fault.plan.countdown-- > 0)
        return false;
    fault.has_fired = true;
    fault.is_off = fault.plan.reason == 0;
    return true;
}

/* As SQLite's own VFS has it: only a write says that the disk is full. */
static int code_of(int code)
{
    errno = fault.plan.reason == 0 ? EIO : fault.plan.reason;
    return errno == ENOSPC && code == SQLITE_IOERR_WRITE ? SQLITE_FULL : code;
}

void fault_vfs_arm(struct fault_plan plan)
{
    memset(&fault, 0, sizeof fault);
    fault.plan = plan;
    fault.is_armed = true;
}

void fault_vfs_disarm(void)
{
    fault.is_armed = false;
    fault.is_off = false;
}

bool fault_vfs_has_fired(void)
{
    return fault.has_fired;
}

uint32_t fault_vfs_calls_after(unsigned calls)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        count += (calls >> i & 1u) != 0 ? fault.after[i] : 0;
    return count;
}

/* ---- What is on the disk -------------------------------------------------------------------- */

struct change {
    struct change *next;
    bool is_truncation;
    uint64_t offset; /* or the new size */
    size_t size;
    uint8_t *bytes;
};

struct image {
    char path[1024]; /* "": free */
    uint8_t *bytes;
    size_t size;
    struct change *changes; /* not synced, oldest first */
};

static struct image images[IMAGES_MAX];
static bool is_watching;
static bool skips_syncs;
static uint32_t nameless_opens;

static void changes_free(struct image *image)
{
    while (image->changes != NULL) {
        struct change *const change = image->changes;
        image->changes = change->next;
        free(change->bytes);
        free(change);
    }
}

static void image_free(struct image *image)
{
    changes_free(image);
    free(image->bytes);
    memset(image, 0, sizeof *image);
}

static void image_resize(struct image *image, size_t size)
{
    uint8_t *const bytes = realloc(image->bytes, size + 1);
    if (bytes == NULL)
        give_up("memory");
    if (size > image->size)
        memset(bytes + image->size, 0, size - image->size);
    image->bytes = bytes;
    image->size = size;
}

static void image_write(struct image *image, uint64_t offset, const uint8_t *bytes, size_t size)
{
    if (offset + size > image->size)
        image_resize(image, (size_t)offset + size);
    memcpy(image->bytes + offset, bytes, size);
}

static struct image *image_find(const char *path)
{
    for (size_t i = 0; i < IMAGES_MAX; i++)
        if (strcmp(images[i].path, path) == 0)
            return &images[i];
    return NULL;
}

/* What a file holds when it is first seen counts as synced. */
static struct image *image_of(const char *path)
{
    struct image *image = image_find(path);
    if (image != NULL)
        return image;
    image = image_find("");
    if (image == NULL || strlen(path) >= sizeof image->path)
        give_up("too many files");
    (void)snprintf(image->path, sizeof image->path, "%s", path);
    FILE *const file = fopen(path, "rb");
    uint8_t block[4096];
    size_t got;
    while (file != NULL && (got = fread(block, 1, sizeof block, file)) > 0)
        image_write(image, image->size, block, got);
    if (file != NULL)
        (void)fclose(file);
    return image;
}

static void image_remember(struct image *image, const struct change *made, const void *bytes)
{
    struct change *const change = malloc(sizeof *change);
    if (change == NULL)
        give_up("memory");
    *change = *made;
    change->next = NULL;
    change->bytes = malloc(made->size + 1);
    if (change->bytes == NULL)
        give_up("memory");
    if (made->size > 0)
        memcpy(change->bytes, bytes, made->size);
    struct change **last = &image->changes;
    while (*last != NULL)
        last = &(*last)->next;
    *last = change;
}

static void image_sync(struct image *image)
{
    for (const struct change *change = image->changes; change != NULL; change = change->next)
        if (change->is_truncation)
            image_resize(image, (size_t)change->offset);
        else
            image_write(image, change->offset, change->bytes, change->size);
    changes_free(image);
}

static uint64_t draw(uint64_t *state) /* splitmix64 */
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* Each sector of an unsynced write arrives or not; how likely that is differs from crash to crash.
 */
static void image_tear(struct image *image, uint64_t *chance)
{
    uint64_t const odds = draw(chance) % 5;
    for (const struct change *change = image->changes; change != NULL; change = change->next) {
        if (change->is_truncation) {
            if (draw(chance) % 4 >= odds)
                return; /* what comes later went to blocks that the file does not have yet */
            image_resize(image, (size_t)change->offset);
            continue;
        }
        for (uint64_t at = change->offset, end = at + change->size; at < end;) {
            uint64_t const stop = at / SECTOR_BYTES * SECTOR_BYTES + SECTOR_BYTES;
            size_t const part = (size_t)((stop < end ? stop : end) - at);
            if (draw(chance) % 4 < odds)
                image_write(image, at, change->bytes + (at - change->offset), part);
            at += part;
        }
    }
}

uint32_t fault_vfs_nameless_opens(void)
{
    return nameless_opens;
}

void fault_vfs_skip_syncs(bool is_on)
{
    skips_syncs = is_on;
}

void fault_vfs_watch_syncs(void)
{
    for (size_t i = 0; i < IMAGES_MAX; i++)
        image_free(&images[i]);
    is_watching = true;
}

bool fault_vfs_is_synced(const char *path_end)
{
    size_t const size = strlen(path_end);
    for (size_t i = 0; i < IMAGES_MAX; i++) {
        size_t const path_size = strlen(images[i].path);
        if (path_size >= size && strcmp(images[i].path + path_size - size, path_end) == 0 &&
            images[i].changes != NULL)
            return false;
    }
    return true;
}

void fault_vfs_lose_power(uint64_t seed)
{
    for (size_t i = 0; i < IMAGES_MAX; i++) {
        struct image *const image = &images[i];
        /* A file that was renamed is whole under its new name: that happens after everything is
         * synced. */
        if (image->path[0] != '\0' && access(image->path, F_OK) == 0) {
            image_tear(image, &seed);
            FILE *const file = fopen(image->path, "r+b");
            if (file == NULL || ftruncate(fileno(file), 0) != 0 ||
                (image->size > 0 && fwrite(image->bytes, 1, image->size, file) != image->size) ||
                fclose(file) != 0)
                give_up("cannot write what is left");
        }
        image_free(image);
    }
    is_watching = false;
    fault_vfs_disarm();
}

/* ---- Files ---------------------------------------------------------------------------------- */

static sqlite3_vfs real; /* the default one */

/* Behind what the default VFS keeps of a file. */
struct fault_file {
    const sqlite3_io_methods *real;
    sqlite3_io_methods methods; /* those, but for what can fail */
    struct image *image;
};

static struct fault_file *fault_of(sqlite3_file *file)
{
    return (struct fault_file *)(void *)((char *)file + real.szOsFile);
}

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    if (fails(FAULT_READ))
        return code_of(SQLITE_IOERR_READ);
    return fault_of(file)->real->xRead(file, bytes, size, offset);
}

static int write_through(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    struct fault_file *const self = fault_of(file);
    if (self->image != NULL && is_watching)
        image_remember(self->image,
                       &(struct change){.offset = (uint64_t)offset, .size = (size_t)size}, bytes);
    return self->real->xWrite(file, bytes, size, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    bool const was_off = fault.is_off;
    if (!fails(FAULT_WRITE))
        return write_through(file, bytes, size, offset);
    if (!was_off && size / 2 > 0)
        (void)write_through(file, bytes, size / 2, offset);
    return code_of(SQLITE_IOERR_WRITE);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct fault_file *const self = fault_of(file);
    if (fails(FAULT_TRUNCATE))
        return code_of(SQLITE_IOERR_TRUNCATE);
    if (self->image != NULL && is_watching)
        image_remember(self->image,
                       &(struct change){.is_truncation = true, .offset = (uint64_t)size}, NULL);
    return self->real->xTruncate(file, size);
}

static int file_sync(sqlite3_file *file, int flags)
{
    struct fault_file *const self = fault_of(file);
    if (fails(FAULT_SYNC)) {
        /* As Linux has it: the file shows what was written, the next sync does not write it any
         * more. */
        if (self->image != NULL && is_watching && fault.plan.reason != 0)
            changes_free(self->image);
        return code_of(SQLITE_IOERR_FSYNC);
    }
    if (self->image != NULL && is_watching)
        image_sync(self->image);
    if (skips_syncs)
        return SQLITE_OK;
    return self->real->xSync(file, flags);
}

static int sync_plain(long call, int file)
{
    if (fails(FAULT_PLAIN_SYNC)) {
        errno = EIO;
        return -1;
    }
    return skips_syncs ? 0 : (int)syscall(call, file);
}

int fsync(int file)
{
    return sync_plain(SYS_fsync, file);
}

int fdatasync(int file)
{
    return sync_plain(SYS_fdatasync, file);
}

/* Hints would let SQLite change a file behind our back. */
static int file_control(sqlite3_file *file, int what, void *argument)
{
    if (what == SQLITE_FCNTL_SIZE_HINT || what == SQLITE_FCNTL_CHUNK_SIZE)
        return SQLITE_NOTFOUND;
    return fault_of(file)->real->xFileControl(file, what, argument);
}

/* ---- The VFS -------------------------------------------------------------------------------- */

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    struct fault_file *const self = fault_of(file);
    file->pMethods = NULL;
    if (fails(FAULT_OPEN))
        return code_of(SQLITE_CANTOPEN);
    nameless_opens += name == NULL ? 1 : 0;
    self->image = is_watching && name != NULL ? image_of(name) : NULL;
    int const code = real.xOpen(vfs, name, file, flags, out_flags);
    if (file->pMethods == NULL)
        return code;
    self->real = file->pMethods;
    self->methods = *self->real;
    self->methods.iVersion = 2; /* nothing is read past us */
    self->methods.xRead = file_read;
    self->methods.xWrite = file_write;
    self->methods.xTruncate = file_truncate;
    self->methods.xSync = file_sync;
    self->methods.xFileControl = file_control;
    file->pMethods = &self->methods;
    return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    if (fails(FAULT_DELETE))
        return code_of(SQLITE_IOERR_DELETE);
    struct image *const image = is_watching ? image_find(name) : NULL;
    if (image != NULL)
        image_free(image);
    return real.xDelete(vfs, name, sync_directory);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *text)
{
    return fault.has_fired ? fault.plan.reason : real.xGetLastError(vfs, size, text);
}

void fault_vfs_register(void)
{
    static sqlite3_vfs vfs;
    real = *sqlite3_vfs_find(NULL);
    vfs = real;
    vfs.szOsFile += (int)sizeof(struct fault_file);
    vfs.zName = FAULT_VFS;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.xGetLastError = vfs_last_error;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK)
        give_up("cannot register");
}

/* ---- Memory --------------------------------------------------------------------------------- */

static struct {
    sqlite3_mem_methods real;
    bool is_armed;
    bool has_fired;
    uint32_t countdown;
} memory;

static bool memory_fails(void)
{
    if (!memory.is_armed || memory.countdown-- > 0)
        return false;
    memory.is_armed = false;
    memory.has_fired = true;
    return true;
}

static void *memory_malloc(int size)
{
    return memory_fails() ? NULL : memory.real.xMalloc(size);
}

static void *memory_realloc(void *bytes, int size)
{
    return memory_fails() ? NULL : memory.real.xRealloc(bytes, size);
}

void fault_memory_install(void)
{
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real) != SQLITE_OK)
        give_up("memory");
    sqlite3_mem_methods wrapped = memory.real;
    wrapped.xMalloc = memory_malloc;
    wrapped.xRealloc = memory_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &wrapped) != SQLITE_OK)
        give_up("SQLite is in use already");
}

void fault_memory_arm(uint32_t countdown)
{
    memory.has_fired = false;
    memory.countdown = countdown;
    memory.is_armed = true;
}

bool fault_memory_fired(void)
{
    memory.is_armed = false;
    return memory.has_fired;
}

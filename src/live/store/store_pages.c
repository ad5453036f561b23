/* The other VFS makes its file in the front of ours; its table of methods is replaced by a copy of
 * it that reads and writes pages here. */
#include "store_pages.h"
#include "tacit/commit.h"
#include <stdio.h>
#include <string.h>

#define SUMMED_BYTES (STORE_PAGE_BYTES - STORE_PAGES_SUM_BYTES)

/* Behind the other VFS's file. */
struct pages_file {
    sqlite3_io_methods methods; /* first: the file points to it */
    const sqlite3_io_methods *base;
    struct store_pages *pages;
};

/* What open_file put behind the other VFS's file. */
static const struct pages_file *own_of(const sqlite3_file *file)
{
    return (const struct pages_file *)(const void *)file->pMethods;
}

/* The header alone and the counters in it are read without the page. */
static bool is_page(int size, sqlite3_int64 offset)
{
    return size == STORE_PAGE_BYTES && offset % STORE_PAGE_BYTES == 0;
}

static void sum_page(const uint8_t *page, sqlite3_int64 offset, uint8_t sum[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, page, SUMMED_BYTES);
    tacit_sha256_update(&sha, &offset, sizeof offset);
    tacit_sha256_final(&sha, sum);
}

/* xRead: SQLITE_IOERR_DATA where a page's sum differs. */
static int read_page(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    const struct pages_file *const own = own_of(file);
    uint8_t sum[TACIT_SHA256_BYTES];
    int const code = own->base->xRead(file, bytes, size, offset);
    if (code != SQLITE_OK || !is_page(size, offset))
        return code;
    sum_page(bytes, offset, sum);
    return memcmp((uint8_t *)bytes + SUMMED_BYTES, sum, STORE_PAGES_SUM_BYTES) == 0
               ? SQLITE_OK
               : SQLITE_IOERR_DATA;
}

static int write_page(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    const struct pages_file *const own = own_of(file);
    uint8_t page[STORE_PAGE_BYTES];
    uint8_t sum[TACIT_SHA256_BYTES];
    TACIT_ASSERT(is_page(size, offset)); /* SQLite writes a database by pages */
    memcpy(page, bytes, SUMMED_BYTES);
    sum_page(page, offset, sum);
    memcpy(page + SUMMED_BYTES, sum, STORE_PAGES_SUM_BYTES);
    return own->base->xWrite(file, page, size, offset);
}

/* The journal's pages are SQLite's to check. */
static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
                     int *out_flags)
{
    struct store_pages *const pages = (struct store_pages *)vfs;
    int const code = pages->base->xOpen(pages->base, name, file, flags, out_flags);
    if (file->pMethods == NULL || (flags & SQLITE_OPEN_MAIN_DB) == 0)
        return code;
    struct pages_file *const own =
        (void *)((uint8_t *)file + vfs->szOsFile - sizeof(struct pages_file));
    *own = (struct pages_file){.methods = *file->pMethods, .base = file->pMethods, .pages = pages};
    own->methods.iVersion = 2; /* nothing is mapped */
    own->methods.xRead = read_page;
    own->methods.xWrite = write_page;
    file->pMethods = &own->methods;
    return code;
}

bool store_pages_register(struct store_pages *pages, const char *base)
{
    sqlite3_vfs *const found = sqlite3_vfs_find(base);
    TACIT_ASSERT(found != NULL && pages->base == NULL);
    (void)snprintf(pages->name, sizeof pages->name, "pages-%p", (void *)pages);
    pages->vfs = *found;
    pages->vfs.pNext = NULL;
    pages->vfs.zName = pages->name;
    pages->vfs.szOsFile = (found->szOsFile + 15) / 16 * 16 + (int)sizeof(struct pages_file);
    pages->vfs.xOpen = open_file;
    if (sqlite3_vfs_register(&pages->vfs, 0) != SQLITE_OK)
        return false;
    pages->base = found;
    return true;
}

void store_pages_unregister(struct store_pages *pages)
{
    if (pages->base != NULL)
        (void)sqlite3_vfs_unregister(&pages->vfs);
    *pages = (struct store_pages){.base = NULL};
}

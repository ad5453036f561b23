/* The other VFS makes its file in the front of ours; its table of methods is replaced by a copy of
 * it that reads and writes pages here. */
#include "store_pages.h"
#include "tacit/base.h"
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

static bool sum_page(EVP_MD_CTX *hash, const uint8_t *page, sqlite3_int64 offset,
                     uint8_t sum[EVP_MAX_MD_SIZE])
{
    return EVP_DigestInit_ex(hash, NULL, NULL) == 1 &&
           EVP_DigestUpdate(hash, page, SUMMED_BYTES) == 1 &&
           EVP_DigestUpdate(hash, &offset, sizeof offset) == 1 &&
           EVP_DigestFinal_ex(hash, sum, NULL) == 1;
}

/* xRead: SQLITE_IOERR_DATA where a page's sum differs. */
static int read_page(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    const struct pages_file *const own = own_of(file);
    uint8_t sum[EVP_MAX_MD_SIZE];
    int const code = own->base->xRead(file, bytes, size, offset);
    if (code != SQLITE_OK || !is_page(size, offset))
        return code;
    if (!sum_page(own->pages->hash, bytes, offset, sum))
        return SQLITE_NOMEM;
    return memcmp((uint8_t *)bytes + SUMMED_BYTES, sum, STORE_PAGES_SUM_BYTES) == 0
               ? SQLITE_OK
               : SQLITE_IOERR_DATA;
}

static int write_page(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    const struct pages_file *const own = own_of(file);
    uint8_t page[STORE_PAGE_BYTES];
    uint8_t sum[EVP_MAX_MD_SIZE];
    TACIT_ASSERT(is_page(size, offset)); /* SQLite writes a database by pages */
    memcpy(page, bytes, SUMMED_BYTES);
    if (!sum_page(own->pages->hash, page, offset, sum))
        return SQLITE_NOMEM;
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
    pages->hash = EVP_MD_CTX_new();
    if (pages->hash == NULL || EVP_DigestInit_ex(pages->hash, EVP_sha256(), NULL) != 1)
        return false;
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
    EVP_MD_CTX_free(pages->hash);
    *pages = (struct store_pages){.base = NULL};
}

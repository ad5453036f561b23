/* Pages with a checksum: an SQLite VFS over another one. A database that is too large to be read
 * whole at start is checked page by page, as it is read: each page of its file ends with a sum over
 * the rest and its place (of 64 bits, of SHA-256). A page whose sum differs is SQLITE_IOERR_DATA.
 */
#ifndef TACIT_LIVE_STORE_PAGES_H
#define TACIT_LIVE_STORE_PAGES_H
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdbool.h>

#define STORE_PAGE_BYTES 4096
/* Bytes at the end of a page that a database must leave free (SQLITE_FCNTL_RESERVE_BYTES). */
#define STORE_PAGES_SUM_BYTES 8

struct store_pages {
    sqlite3_vfs vfs; /* first */
    sqlite3_vfs *base;
    EVP_MD_CTX *hash;
    char name[40];
};

/* Registers the VFS under pages->name; files opened by it belong to one thread. base: NULL is
 * SQLite's own. Errors: false: memory. */
bool store_pages_register(struct store_pages *pages, const char *base);
/* When its files are closed. One that was not registered is allowed. */
void store_pages_unregister(struct store_pages *pages);
#endif

/* A checksum for every row. */
#ifndef TACIT_LIVE_STORE_SUM_H
#define TACIT_LIVE_STORE_SUM_H
#include "store_base.h"

/* SHA-256 over a row, with its table's name before it: the file's structure says nothing about
 * flipped bits in what a row holds. Texts and bytes go in with their size; NULL is not the empty
 * text. */
void store_sum_start(struct live_store *store, const char *table);
void store_sum_number(struct live_store *store, uint64_t number);
void store_sum_bytes(struct live_store *store, const void *bytes, size_t size);
void store_sum_text(struct live_store *store, const char *text);
/* Errors: TACIT_MEMORY; the store is broken. */
enum tacit_status store_sum_end(struct live_store *store, uint8_t sum[STORE_SUM_BYTES]);
/* Ends the sum and compares it with a column. Errors: TACIT_MALFORMED, TACIT_MEMORY; the store is
 * broken. */
enum tacit_status store_sum_compare(struct live_store *store, sqlite3_stmt *row, int column,
                                    const char *what);
#endif

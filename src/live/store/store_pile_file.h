/* A pile: a file of remembered decisions that is written once, in order, and never changed. Items
 * are sorted by a word: of a row it is the decision's id, of a key a part of its hash. Blocks of
 * items, each with a checksum; behind them the first word, place and sum of each block and a filter
 * that says which words are surely not there. These two are read when it is opened and lie in
 * memory, about two bytes an item; their sum is a part of what the database knows of the pile, so a
 * file that is not the one that was written does not pass.
 *
 * All reading and writing goes through an SQLite VFS, so that what fails there fails here. A pile
 * may be used by one thread at a time. */
#ifndef TACIT_LIVE_STORE_PILE_FILE_H
#define TACIT_LIVE_STORE_PILE_FILE_H
#include "tacit/base.h"
#include <sqlite3.h>

#define STORE_PILE_NAME "remembered-%016llx"
#define STORE_PILE_NAME_BYTES 32u
#define STORE_PILE_SUM_BYTES 32u

/* Where piles lie. */
struct store_pile_place {
    sqlite3_vfs *vfs;
    const char *directory; /* an absolute path */
};

/* What the database knows of a pile. */
struct store_pile_facts {
    uint64_t number; /* of its name */
    uint64_t rows;
    uint64_t items;     /* rows and keys */
    uint64_t newest_ms; /* when the last of them is forgotten */
    uint64_t tail;      /* offset: behind the blocks */
    uint64_t blocks;
    uint64_t filter_words;
    uint8_t sum[STORE_PILE_SUM_BYTES]; /* over the tail */
};

struct store_item {
    uint64_t word;
    bool is_key;
    const uint8_t *bytes; /* the first eight say when it is forgotten */
    size_t size;
};

uint64_t store_load_u64(const uint8_t *bytes);
void store_save_u64(uint8_t *bytes, uint64_t number);
static inline uint64_t store_item_until(const struct store_item *item)
{
    return store_load_u64(item->bytes);
}

/* ---- Writing --------------------------------------------------------------------------------- */

struct store_pile_writer;

/* items_max: no more will come. Errors: NULL with error->text. */
struct store_pile_writer *store_pile_write(const struct store_pile_place *place, uint64_t number,
                                           uint64_t items_max, struct tacit_error *error);
/* Requires: items come in order of (word, is_key). Errors: TACIT_IO, TACIT_MEMORY. */
enum tacit_status store_pile_put(struct store_pile_writer *writer, const struct store_item *item,
                                 struct tacit_error *error);
/* Everything is on disk, under its name, when it returns. Errors: as above. */
enum tacit_status store_pile_end(struct store_pile_writer *writer, struct store_pile_facts *facts,
                                 struct tacit_error *error);
bool store_pile_is_empty(const struct store_pile_writer *writer);
/* NULL is allowed. Leaves the file as it is. */
void store_pile_writer_free(struct store_pile_writer *writer);

/* Removes a pile's file. Errors: TACIT_IO. */
enum tacit_status store_pile_drop(const struct store_pile_place *place, uint64_t number);

/* ---- Reading --------------------------------------------------------------------------------- */

struct store_pile;

/* Errors: TACIT_MALFORMED (missing, or another one than the facts say), TACIT_IO, TACIT_MEMORY,
 * with error->text. Cost: reads two bytes an item. */
enum tacit_status store_pile_open(const struct store_pile_place *place,
                                  const struct store_pile_facts *facts, struct store_pile **pile,
                                  struct tacit_error *error);
void store_pile_close(struct store_pile *pile);
const struct store_pile_facts *store_pile_facts(const struct store_pile *pile);

/* Calls `each` for every item of this word and kind; it lives until the call returns. Errors:
 * TACIT_MALFORMED (a block is damaged), TACIT_IO, TACIT_MEMORY. Cost: mostly nothing if there is
 * none, else one block. */
enum tacit_status store_pile_find(struct store_pile *pile, uint64_t word, bool is_key,
                                  void (*each)(void *context, const struct store_item *item),
                                  void *context, struct tacit_error *error);

/* All items in order, from the first one on: *found is false behind the last. An item lives until
 * the next call. */
enum tacit_status store_pile_next(struct store_pile *pile, struct store_item *item, bool *found,
                                  struct tacit_error *error);
#endif

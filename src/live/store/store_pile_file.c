/* Piles on disk: the writer, the reader, the filter. */
#include "store_pile_file.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 4096u /* a block ends with the item that reaches it */
#define HEAD_BYTES 12u    /* of an item: word, size; the highest bit says that it is a key */
#define KEY_MARK UINT32_C(0x80000000)
#define ITEM_BYTES_MAX (UINT32_C(1) << 28)
#define INDEX_BYTES 24u /* of a block in the tail: first word, offset, sum */
#define PATH_BYTES 4096u
#define CHUNK_BYTES 65536u /* SQLite's files take less than twice that at once */

/* A filter line is one line of a processor's cache: a word sets six bits of it. At ten bits a word
 * about one in seventy words that are not there seems to be there. */
#define FILTER_LINE_WORDS 8u
#define FILTER_BITS_PER_ITEM 10u
#define FILTER_BITS_SET 6u

struct file {
    sqlite3_file *handle;
    char path[PATH_BYTES]; /* SQLite keeps a pointer to it */
};

struct block {
    uint64_t first; /* word */
    uint64_t offset;
    uint64_t sum;
};

struct store_pile_writer {
    struct file file;
    struct store_pile_place place;
    struct store_pile_facts facts;
    uint64_t items_max;
    EVP_MD_CTX *hash;
    uint8_t *bytes; /* the block at hand */
    size_t size;
    size_t capacity;
    uint64_t first;
    uint64_t offset; /* where it goes */
    struct block *blocks;
    size_t blocks_capacity;
    uint64_t *filter;
    uint64_t last_word; /* to hold the order to */
};

struct store_pile {
    struct file file;
    struct store_pile_facts facts;
    EVP_MD_CTX *hash;
    struct block *blocks;
    uint64_t *filter;
    uint8_t *bytes; /* the block at hand */
    size_t size;
    size_t capacity;
    size_t at;         /* the cursor: in the block .. */
    uint64_t at_block; /* .. that comes next */
};

/* ---- Numbers --------------------------------------------------------------------------------- */

uint64_t store_load_u64(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (unsigned i = 8; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

void store_save_u64(uint8_t *bytes, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

static uint32_t load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static void save_u32(uint8_t *bytes, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

/* ---- The filter ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
    word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return word ^ word >> 33;
}

static uint64_t filter_words_for(uint64_t items)
{
    return (items * FILTER_BITS_PER_ITEM / (64 * FILTER_LINE_WORDS) + 1) * FILTER_LINE_WORDS;
}

/* The line of a word, and the six bits in it. */
static size_t filter_line(uint64_t filter_words, uint64_t word, bool is_key, uint64_t *bits)
{
    uint64_t const mixed = mix(is_key ? ~word : word);
    *bits = mix(mixed);
    return (size_t)(mixed % (filter_words / FILTER_LINE_WORDS)) * FILTER_LINE_WORDS;
}

static void filter_add(uint64_t *filter, uint64_t filter_words, uint64_t word, bool is_key)
{
    uint64_t bits;
    uint64_t *const line = filter + filter_line(filter_words, word, is_key, &bits);
    for (unsigned i = 0; i < FILTER_BITS_SET; i++, bits >>= 9)
        line[bits >> 6 & 7] |= UINT64_C(1) << (bits & 63);
}

static bool filter_has(const uint64_t *filter, uint64_t filter_words, uint64_t word, bool is_key)
{
    uint64_t bits;
    const uint64_t *const line = filter + filter_line(filter_words, word, is_key, &bits);
    for (unsigned i = 0; i < FILTER_BITS_SET; i++, bits >>= 9)
        if ((line[bits >> 6 & 7] >> (bits & 63) & 1) == 0)
            return false;
    return true;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static enum tacit_status fail(const struct file *file, enum tacit_status status, const char *what,
                              struct tacit_error *error)
{
    return live_refuse(error, status, "%s: %s", file->path, what);
}

static enum tacit_status file_open(struct file *file, const struct store_pile_place *place,
                                   uint64_t number, struct tacit_error *error)
{
    int const size = snprintf(file->path, sizeof file->path, "%s/" STORE_PILE_NAME,
                              place->directory, (unsigned long long)number);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_SUPER_JOURNAL;
    if (size < 0 || (size_t)size >= sizeof file->path)
        return live_refuse(error, TACIT_INVALID, "%s: the path is too long", place->directory);
    file->handle = calloc(1, (size_t)place->vfs->szOsFile);
    if (file->handle == NULL)
        return fail(file, TACIT_MEMORY, "out of memory", error);
    int const code = place->vfs->xOpen(place->vfs, file->path, file->handle, flags, &flags);
    if (code == SQLITE_OK)
        return TACIT_OK;
    free(file->handle);
    file->handle = NULL;
    return code == SQLITE_NOMEM ? fail(file, TACIT_MEMORY, "out of memory", error)
                                : fail(file, TACIT_IO, "cannot open", error);
}

static void file_close(struct file *file)
{
    if (file->handle != NULL && file->handle->pMethods != NULL)
        (void)file->handle->pMethods->xClose(file->handle);
    free(file->handle);
    file->handle = NULL;
}

static size_t chunk_of(size_t size, size_t done)
{
    return size - done < CHUNK_BYTES ? size - done : CHUNK_BYTES;
}

static enum tacit_status file_write(const struct file *file, const void *bytes, size_t size,
                                    uint64_t offset, struct tacit_error *error)
{
    int code = SQLITE_OK;
    for (size_t done = 0; code == SQLITE_OK && done < size; done += CHUNK_BYTES)
        code = file->handle->pMethods->xWrite(file->handle, (const uint8_t *)bytes + done,
                                              (int)chunk_of(size, done),
                                              (sqlite3_int64)(offset + done));
    if (code == SQLITE_OK)
        return TACIT_OK;
    return fail(file, TACIT_IO, code == SQLITE_FULL ? "the disk is full" : "cannot write", error);
}

static enum tacit_status file_read(const struct file *file, void *bytes, size_t size,
                                   uint64_t offset, struct tacit_error *error)
{
    int code = SQLITE_OK;
    for (size_t done = 0; code == SQLITE_OK && done < size; done += CHUNK_BYTES)
        code = file->handle->pMethods->xRead(file->handle, (uint8_t *)bytes + done,
                                             (int)chunk_of(size, done),
                                             (sqlite3_int64)(offset + done));
    if (code == SQLITE_OK)
        return TACIT_OK;
    return code == SQLITE_IOERR_SHORT_READ ? fail(file, TACIT_MALFORMED, "it is truncated", error)
                                           : fail(file, TACIT_IO, "cannot read", error);
}

/* The first eight bytes of SHA-256: against damage, not against anybody. */
static bool short_sum(EVP_MD_CTX *hash, const void *bytes, size_t size, uint64_t *sum)
{
    uint8_t whole[STORE_PILE_SUM_BYTES];
    bool const is_made = EVP_DigestInit_ex(hash, NULL, NULL) == 1 &&
                         EVP_DigestUpdate(hash, bytes, size) == 1 &&
                         EVP_DigestFinal_ex(hash, whole, NULL) == 1;
    *sum = is_made ? store_load_u64(whole) : 0;
    return is_made;
}

static EVP_MD_CTX *hash_new(void)
{
    EVP_MD_CTX *const hash = EVP_MD_CTX_new();
    if (hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1)
        return hash;
    EVP_MD_CTX_free(hash);
    return NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* For our eyes only, whatever the umask; an old one of this name was never named by the database.
 */
static enum tacit_status make_file(struct store_pile_writer *writer, uint64_t number,
                                   struct tacit_error *error)
{
    char *const path = writer->file.path;
    (void)snprintf(path, PATH_BYTES, "%s/" STORE_PILE_NAME, writer->place.directory,
                   (unsigned long long)number);
    (void)unlink(path);
    int const made =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (made < 0)
        return live_refuse(error, TACIT_IO, "%s: cannot make: %s", path, strerror(errno));
    (void)fchmod(made, S_IRUSR | S_IWUSR);
    (void)close(made);
    return file_open(&writer->file, &writer->place, number, error);
}

struct store_pile_writer *store_pile_write(const struct store_pile_place *place, uint64_t number,
                                           uint64_t items_max, struct tacit_error *error)
{
    TACIT_ASSERT(place != NULL && items_max > 0);
    struct store_pile_writer *const writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        (void)live_refuse(error, TACIT_MEMORY, "%s: out of memory", place->directory);
        return NULL;
    }
    writer->place = *place;
    writer->items_max = items_max;
    writer->facts =
        (struct store_pile_facts){.number = number, .filter_words = filter_words_for(items_max)};
    writer->hash = hash_new();
    writer->filter = calloc(writer->facts.filter_words, sizeof writer->filter[0]);
    if (writer->hash == NULL || writer->filter == NULL)
        (void)live_refuse(error, TACIT_MEMORY, "%s: out of memory", place->directory);
    else if (make_file(writer, number, error) == TACIT_OK)
        return writer;
    store_pile_writer_free(writer);
    return NULL;
}

bool store_pile_is_empty(const struct store_pile_writer *writer)
{
    return writer->facts.items == 0;
}

enum tacit_status store_pile_drop(const struct store_pile_place *place, uint64_t number)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/" STORE_PILE_NAME, place->directory,
                   (unsigned long long)number);
    int const code = place->vfs->xDelete(place->vfs, path, 0);
    return code == SQLITE_OK || code == SQLITE_IOERR_DELETE_NOENT ? TACIT_OK : TACIT_IO;
}

void store_pile_writer_free(struct store_pile_writer *writer)
{
    if (writer == NULL)
        return;
    file_close(&writer->file);
    EVP_MD_CTX_free(writer->hash);
    free(writer->bytes);
    free(writer->blocks);
    free(writer->filter);
    free(writer);
}

static bool reserve_bytes(uint8_t **bytes, size_t *capacity, size_t size)
{
    if (size <= *capacity)
        return true;
    size_t const larger = size + size / 2;
    uint8_t *const moved = realloc(*bytes, larger);
    if (moved == NULL)
        return false;
    *bytes = moved;
    *capacity = larger;
    return true;
}

static bool reserve_block(struct store_pile_writer *writer)
{
    if (writer->facts.blocks < writer->blocks_capacity)
        return true;
    size_t const larger = 2 * writer->blocks_capacity + 16;
    struct block *const moved = realloc(writer->blocks, larger * sizeof *moved);
    if (moved == NULL)
        return false;
    writer->blocks = moved;
    writer->blocks_capacity = larger;
    return true;
}

static enum tacit_status end_block(struct store_pile_writer *writer, struct tacit_error *error)
{
    uint64_t sum;
    if (writer->size == 0)
        return TACIT_OK;
    if (!reserve_block(writer) || !short_sum(writer->hash, writer->bytes, writer->size, &sum))
        return fail(&writer->file, TACIT_MEMORY, "out of memory", error);
    enum tacit_status const status =
        file_write(&writer->file, writer->bytes, writer->size, writer->offset, error);
    writer->blocks[writer->facts.blocks++] =
        (struct block){.first = writer->first, .offset = writer->offset, .sum = sum};
    writer->offset += writer->size;
    writer->size = 0;
    return status;
}

static void count_item(struct store_pile_facts *facts, const struct store_item *item)
{
    uint64_t const until_ms = store_item_until(item);
    facts->items++;
    facts->rows += item->is_key ? 0 : 1;
    if (until_ms > facts->newest_ms)
        facts->newest_ms = until_ms;
}

enum tacit_status store_pile_put(struct store_pile_writer *writer, const struct store_item *item,
                                 struct tacit_error *error)
{
    TACIT_ASSERT(item->size >= 8 && item->size < ITEM_BYTES_MAX);
    TACIT_ASSERT(item->word >= writer->last_word && writer->facts.items < writer->items_max);
    size_t const size = writer->size + HEAD_BYTES + item->size;
    if (!reserve_bytes(&writer->bytes, &writer->capacity, size))
        return fail(&writer->file, TACIT_MEMORY, "out of memory", error);
    if (writer->size == 0)
        writer->first = item->word;
    uint8_t *const at = writer->bytes + writer->size;
    store_save_u64(at, item->word);
    save_u32(at + 8, (uint32_t)item->size | (item->is_key ? KEY_MARK : 0));
    memcpy(at + HEAD_BYTES, item->bytes, item->size);
    writer->size = size;
    writer->last_word = item->word;
    filter_add(writer->filter, writer->facts.filter_words, item->word, item->is_key);
    count_item(&writer->facts, item);
    return size < BLOCK_BYTES ? TACIT_OK : end_block(writer, error);
}

static bool sum_of_tail(EVP_MD_CTX *hash, const struct block *blocks, uint64_t count,
                        const uint64_t *filter, uint64_t filter_words,
                        uint8_t sum[STORE_PILE_SUM_BYTES])
{
    return EVP_DigestInit_ex(hash, NULL, NULL) == 1 &&
           EVP_DigestUpdate(hash, blocks, (size_t)count * sizeof *blocks) == 1 &&
           EVP_DigestUpdate(hash, filter, (size_t)filter_words * sizeof *filter) == 1 &&
           EVP_DigestFinal_ex(hash, sum, NULL) == 1;
}

/* A state stays on the kind of machine that made it: SQLite's file would move, piles would be
 * refused by their sums. */
static enum tacit_status write_tail(struct store_pile_writer *writer, struct tacit_error *error)
{
    struct store_pile_facts *const facts = &writer->facts;
    size_t const index_bytes = (size_t)facts->blocks * sizeof writer->blocks[0];
    size_t const filter_bytes = (size_t)facts->filter_words * sizeof writer->filter[0];
    _Static_assert(sizeof(struct block) == INDEX_BYTES, "a block's entry has no gaps");
    facts->tail = writer->offset;
    if (!sum_of_tail(writer->hash, writer->blocks, facts->blocks, writer->filter,
                     facts->filter_words, facts->sum))
        return fail(&writer->file, TACIT_MEMORY, "out of memory", error);
    enum tacit_status status =
        file_write(&writer->file, writer->blocks, index_bytes, facts->tail, error);
    if (status == TACIT_OK)
        status = file_write(&writer->file, writer->filter, filter_bytes, facts->tail + index_bytes,
                            error);
    return status;
}

static enum tacit_status sync_all(struct store_pile_writer *writer, struct tacit_error *error)
{
    if (writer->file.handle->pMethods->xSync(writer->file.handle, SQLITE_SYNC_NORMAL) != SQLITE_OK)
        return fail(&writer->file, TACIT_IO, "cannot sync", error);
    int const directory = open(writer->place.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool const is_synced = directory >= 0 && fsync(directory) == 0;
    if (directory >= 0)
        (void)close(directory);
    return is_synced ? TACIT_OK : fail(&writer->file, TACIT_IO, "cannot sync its directory", error);
}

enum tacit_status store_pile_end(struct store_pile_writer *writer, struct store_pile_facts *facts,
                                 struct tacit_error *error)
{
    TACIT_ASSERT(writer->facts.items > 0);
    enum tacit_status status = end_block(writer, error);
    if (status == TACIT_OK)
        status = write_tail(writer, error);
    if (status == TACIT_OK)
        status = sync_all(writer, error);
    if (status == TACIT_OK)
        *facts = writer->facts;
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static enum tacit_status read_tail(struct store_pile *pile, struct tacit_error *error)
{
    const struct store_pile_facts *const facts = &pile->facts;
    size_t const index_bytes = (size_t)facts->blocks * sizeof pile->blocks[0];
    size_t const filter_bytes = (size_t)facts->filter_words * sizeof pile->filter[0];
    uint8_t sum[STORE_PILE_SUM_BYTES];
    pile->blocks = malloc(index_bytes);
    pile->filter = malloc(filter_bytes);
    pile->hash = hash_new();
    if (pile->blocks == NULL || pile->filter == NULL || pile->hash == NULL)
        return fail(&pile->file, TACIT_MEMORY, "out of memory", error);
    enum tacit_status status =
        file_read(&pile->file, pile->blocks, index_bytes, facts->tail, error);
    if (status == TACIT_OK)
        status =
            file_read(&pile->file, pile->filter, filter_bytes, facts->tail + index_bytes, error);
    if (status != TACIT_OK)
        return status;
    if (!sum_of_tail(pile->hash, pile->blocks, facts->blocks, pile->filter, facts->filter_words,
                     sum))
        return fail(&pile->file, TACIT_MEMORY, "out of memory", error);
    return memcmp(sum, facts->sum, sizeof sum) == 0
               ? TACIT_OK
               : fail(&pile->file, TACIT_MALFORMED,
                      "it is damaged, or not the one that belongs to this state", error);
}

static enum tacit_status check_there(const struct store_pile_place *place, uint64_t number,
                                     struct tacit_error *error)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/" STORE_PILE_NAME, place->directory,
                   (unsigned long long)number);
    if (access(path, F_OK) == 0)
        return TACIT_OK;
    return live_refuse(error, TACIT_MALFORMED,
                       "%s is missing: decisions that are remembered were in it; put it back, or "
                       "remove the whole directory and rejoin as a new site",
                       path);
}

enum tacit_status store_pile_open(const struct store_pile_place *place,
                                  const struct store_pile_facts *facts, struct store_pile **pile,
                                  struct tacit_error *error)
{
    TACIT_ASSERT(facts->blocks > 0 && facts->filter_words % FILTER_LINE_WORDS == 0);
    enum tacit_status status = check_there(place, facts->number, error);
    if (status != TACIT_OK)
        return status;
    struct store_pile *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return live_refuse(error, TACIT_MEMORY, "%s: out of memory", place->directory);
    made->facts = *facts;
    status = file_open(&made->file, place, facts->number, error);
    if (status == TACIT_OK)
        status = read_tail(made, error);
    if (status == TACIT_OK)
        *pile = made;
    else
        store_pile_close(made);
    return status;
}

void store_pile_close(struct store_pile *pile)
{
    if (pile == NULL)
        return;
    file_close(&pile->file);
    EVP_MD_CTX_free(pile->hash);
    free(pile->blocks);
    free(pile->filter);
    free(pile->bytes);
    free(pile);
}

const struct store_pile_facts *store_pile_facts(const struct store_pile *pile)
{
    return &pile->facts;
}

static enum tacit_status read_block(struct store_pile *pile, uint64_t block,
                                    struct tacit_error *error)
{
    TACIT_ASSERT(block < pile->facts.blocks);
    uint64_t const end =
        block + 1 < pile->facts.blocks ? pile->blocks[block + 1].offset : pile->facts.tail;
    size_t const size = (size_t)(end - pile->blocks[block].offset);
    uint64_t sum;
    if (!reserve_bytes(&pile->bytes, &pile->capacity, size))
        return fail(&pile->file, TACIT_MEMORY, "out of memory", error);
    enum tacit_status const status =
        file_read(&pile->file, pile->bytes, size, pile->blocks[block].offset, error);
    if (status != TACIT_OK)
        return status;
    if (!short_sum(pile->hash, pile->bytes, size, &sum))
        return fail(&pile->file, TACIT_MEMORY, "out of memory", error);
    if (sum != pile->blocks[block].sum)
        return fail(&pile->file, TACIT_MALFORMED, "it is damaged: a block's checksum differs",
                    error);
    pile->size = size;
    pile->at = 0;
    return TACIT_OK;
}

/* The item at the cursor, which goes behind it. The block is as it was written: its sum says so. */
static struct store_item take_item(struct store_pile *pile)
{
    const uint8_t *const at = pile->bytes + pile->at;
    uint32_t const size = load_u32(at + 8);
    struct store_item const item = {.word = store_load_u64(at),
                                    .is_key = (size & KEY_MARK) != 0,
                                    .bytes = at + HEAD_BYTES,
                                    .size = size & ~KEY_MARK};
    TACIT_ASSERT(pile->at + HEAD_BYTES + item.size <= pile->size);
    pile->at += HEAD_BYTES + item.size;
    return item;
}

/* The last block that begins before the word; items of one word may lie in several blocks. */
static uint64_t block_of(const struct store_pile *pile, uint64_t word)
{
    uint64_t low = 0;
    uint64_t high = pile->facts.blocks;
    while (high - low > 1) {
        uint64_t const middle = low + (high - low) / 2;
        if (pile->blocks[middle].first < word)
            low = middle;
        else
            high = middle;
    }
    return low;
}

enum tacit_status store_pile_find(struct store_pile *pile, uint64_t word, bool is_key,
                                  void (*each)(void *context, const struct store_item *item),
                                  void *context, struct tacit_error *error)
{
    if (!filter_has(pile->filter, pile->facts.filter_words, word, is_key))
        return TACIT_OK;
    for (uint64_t block = block_of(pile, word);
         block < pile->facts.blocks && pile->blocks[block].first <= word; block++) {
        enum tacit_status const status = read_block(pile, block, error);
        if (status != TACIT_OK)
            return status;
        while (pile->at < pile->size) {
            struct store_item const item = take_item(pile);
            if (item.word == word && item.is_key == is_key)
                each(context, &item);
        }
    }
    return TACIT_OK;
}

enum tacit_status store_pile_next(struct store_pile *pile, struct store_item *item, bool *found,
                                  struct tacit_error *error)
{
    *found = pile->at < pile->size || pile->at_block < pile->facts.blocks;
    if (!*found)
        return TACIT_OK;
    if (pile->at >= pile->size) {
        enum tacit_status const status = read_block(pile, pile->at_block, error);
        if (status != TACIT_OK)
            return status;
        pile->at_block++;
    }
    *item = take_item(pile);
    return TACIT_OK;
}

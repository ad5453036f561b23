/* What a store must hold after batch 1, 2, .., b: a function of b, so that a test that finds b in a
 * store knows every row that belongs there. */
#ifndef TACIT_TESTS_STORE_MODEL_H
#define TACIT_TESTS_STORE_MODEL_H
#include "../../src/live/store/store.h"
#include "temp.h"

/* Where a test's stores lie: the new directory `store_around` is the test's own, and the file
 * "state" in it, `store_directory`, is what stores are opened on. Setup and teardown for cmocka:
 * the teardown gives stores their own files and threads back. */
extern char store_around[TEMP_PATH_BYTES];
extern char store_directory[TEMP_PATH_BYTES];
int store_place_make(void **state);
int store_place_make_faulty(void **state); /* with stores over FAULT_VFS, which is registered */
int store_place_remove(void **state);
#define STORE_TEST(name) TEST_WITH(name, store_place_make, store_place_remove)
#define STORE_TEST_FAULTY(name) TEST_WITH(name, store_place_make_faulty, store_place_remove)

/* The identity that the model's stores have. */
struct live_store_identity store_model_identity(void);

/* Opens with that identity and expects it to work. */
struct live_store *store_model_open(const char *directory);

/* .. at store_directory, and may be refused: then *store is NULL. */
enum tacit_status store_model_try_open(struct live_store **store, struct tacit_error *error);

/* Every so many batches end with live_store_erase_past; 0, as it is before: none. */
void store_model_erase_every(uint64_t batches);

/* From now on closed decisions are handed over before they are dropped, and are remembered. */
void store_model_remember(bool is_on);
/* As if there had been enough of them: what was handed over is written with this batch. */
void store_model_write_now(struct live_store *store);

/* A row is this one, its texts and bytes, too. */
void store_model_expect_row(const struct live_decision_row *row,
                            const struct live_decision_row *expected);

/* An error that says these words and the path. */
void store_model_expect_error(const struct tacit_error *error, const char *path, const char *words);

/* A closed store at this batch, at store_directory. */
void store_model_make(uint64_t batches);

/* Begins, puts batch b, commits; the first status that is not OK. Asserts nothing. */
enum tacit_status store_model_batch(struct live_store *store, uint64_t batch);

/* Which batch the store stands at (0: none); fails the test unless it holds exactly what belongs
 * there. */
uint64_t store_model_check(struct live_store *store);

/* Batches from..: how many commit reported until one failed. */
uint64_t store_model_batches(struct live_store *store, uint64_t from, uint64_t count);

/* Which batch a store at store_directory stands at, when it is opened anew and closed. */
uint64_t store_model_on_disk(void);

/* In how many places of the files in store_directory do these bytes stand? */
unsigned store_places_of(const uint8_t *bytes, size_t size);

/* Below the bound; *chance goes on. */
uint64_t store_draw(uint64_t *chance, uint64_t bound);

/* store_directory/name, until the next call. */
const char *store_path(const char *name);

/* All bytes of a state directory: state.db, its log, and what is remembered. */
struct store_image {
    uint8_t *bytes;
    size_t size;
    uint8_t *log;
    size_t log_size;
    uint8_t *remembered; /* NULL: nothing */
    size_t remembered_size;
};

/* Reads the files of a directory; a store may be open there. */
struct store_image store_image_read(const char *directory);
/* Makes the directory hold just these files (log_size = 0: no log), private. */
void store_image_write(const char *directory, const struct store_image *image);
/* The files of store_directory are these. */
void store_image_expect(const struct store_image *image);
void store_image_free(struct store_image *image);

/* A directory as a process leaves it that was killed after `batches` batches, each a commit in the
 * log. */
struct store_image store_image_killed(uint64_t batches);
#endif

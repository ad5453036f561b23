/* Every batch touches every kind of row: new ones, changed ones, dropped ones. */
#include "testing.h"
#include "store_model.h"
#include "fault_vfs.h"
#include "../../src/live/store/store_base.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOB_BYTES_MAX 1000u
#define DECISIONS_PER_BATCH 3u
#define UNITS 5u

char store_around[TEMP_PATH_BYTES];
char store_directory[TEMP_PATH_BYTES];

const char *store_path(const char *name)
{
    static char path[TEMP_PATH_BYTES];
    temp_path(path, store_directory, name);
    return path;
}

int store_place_make(void **state)
{
    temp_directory_make(store_around);
    temp_path(store_directory, store_around, "state");
    return 0;
}

int store_place_make_faulty(void **state)
{
    live_store_use_vfs(FAULT_VFS);
    return store_place_make(state);
}

int store_place_remove(void **state)
{
    live_store_use_vfs(NULL);
    fault_vfs_disarm();
    temp_directory_remove(store_around);
    return 0;
}

struct live_store_identity store_model_identity(void)
{
    struct live_store_identity identity = {
        .role = "agent", .federation = "hearts", .site = "clinic-7"};
    for (size_t i = 0; i < sizeof identity.config_digest; i++)
        identity.config_digest[i] = (uint8_t)(i * 7 + 1);
    return identity;
}

struct live_store *store_model_open(const char *directory)
{
    struct live_store_identity const identity = store_model_identity();
    struct tacit_error error = {.text = ""};
    struct live_store *store = NULL;
    if (live_store_open(&store, directory, &identity, &error) != TACIT_OK)
        fail_msg("%s", error.text);
    return store;
}

enum tacit_status store_model_try_open(struct live_store **store, struct tacit_error *error)
{
    struct live_store_identity const identity = store_model_identity();
    *error = (struct tacit_error){.text = ""};
    *store = NULL;
    return live_store_open(store, store_directory, &identity, error);
}

void store_model_expect_error(const struct tacit_error *error, const char *path, const char *words)
{
    if (strstr(error->text, words) == NULL || strstr(error->text, path) == NULL)
        fail_msg("\"%s\" lacks \"%s\" or the path", error->text, words);
}

void store_model_make(uint64_t batches)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(store_model_batches(store, 1, batches), batches);
    live_store_close(store);
}

uint64_t store_draw(uint64_t *chance, uint64_t bound)
{
    *chance = *chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*chance >> 33) % bound;
}

/* ---- Rows of a batch ------------------------------------------------------------------------ */

static size_t blob(uint8_t bytes[BLOB_BYTES_MAX], uint64_t batch, uint64_t salt)
{
    size_t const size = 50 + (size_t)((batch * 37 + salt * 11) % 900);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(batch * 131 + i * 7 + salt);
    return size;
}

static struct live_release release_of(uint64_t batch, uint64_t last, uint8_t bytes[BLOB_BYTES_MAX])
{
    return (struct live_release){
        .number = batch,
        .epsilon_nano = 1000 + batch,
        .size = blob(bytes, batch, 1),
        .bytes = bytes,
        .acknowledged = batch < last,
        .made_unix_s = (int64_t)(1700000000 + batch),
    };
}

struct decision_texts {
    char key[32];
    char unit[32];
};

static struct live_decision_row decision_of(uint64_t id, uint64_t last,
                                            struct decision_texts *texts)
{
    uint64_t const batch = id / DECISIONS_PER_BATCH;
    (void)snprintf(texts->key, sizeof texts->key, "key-%llu", (unsigned long long)id);
    (void)snprintf(texts->unit, sizeof texts->unit, "unit-%llu", (unsigned long long)(id % UNITS));
    return (struct live_decision_row){
        .number = id,
        .salt = id * 7919 % 65521 + 1,
        .arm = (uint32_t)(id % 7),
        .kind = (uint8_t)(id % 3),
        .state = batch < last ? 1 : 0,
        .deadline_ms = id % 2 == 0 ? UINT64_MAX : id * 10,
        .key = id % 3 == 2 ? NULL : texts->key,
        .unit = id % 3 == 1 ? NULL : texts->unit,
    };
}

static bool remembers;

void store_model_remember(bool is_on)
{
    remembers = is_on;
}

void store_model_write_now(struct live_store *store)
{
    if (store->remembered.in_transaction)
        store->remembered.changes = UINT32_MAX / 2;
}

static enum tacit_status put_decisions(struct live_store *store, uint64_t batch)
{
    enum tacit_status status = TACIT_OK;
    uint64_t const first = batch < 2 ? 0 : (batch - 1) * DECISIONS_PER_BATCH;
    for (uint64_t id = first; status == TACIT_OK && id < (batch + 1) * DECISIONS_PER_BATCH; id++) {
        struct decision_texts texts;
        struct live_decision_row const row = decision_of(id, batch, &texts);
        if (id >= DECISIONS_PER_BATCH)
            status = live_store_put_decision(store, &row);
        if (status == TACIT_OK && remembers && row.state == 1 && id >= DECISIONS_PER_BATCH)
            status = live_store_remember(store, &row);
    }
    store_model_write_now(store);
    for (uint64_t i = 0; status == TACIT_OK && batch > 2 && i < DECISIONS_PER_BATCH; i++)
        status = live_store_drop_decision(store, (batch - 2) * DECISIONS_PER_BATCH + i);
    return status;
}

static uint64_t erase_every;

void store_model_erase_every(uint64_t batches)
{
    erase_every = batches;
}

static enum tacit_status put_rows(struct live_store *store, uint64_t batch)
{
    uint8_t bytes[BLOB_BYTES_MAX];
    size_t const size = blob(bytes, batch, 0);
    enum tacit_status status = live_store_put_core(store, bytes, size);
    struct live_release const release = release_of(batch, batch, bytes);
    if (status == TACIT_OK)
        status = live_store_put_release(store, &release);
    if (status == TACIT_OK && batch > 1)
        status = live_store_acknowledge(store, batch - 1);
    if (status == TACIT_OK)
        status = put_decisions(store, batch);
    char unit[32];
    (void)snprintf(unit, sizeof unit, "unit-%llu", (unsigned long long)(batch % UNITS));
    if (status == TACIT_OK)
        status = live_store_put_unit(store, unit, (uint32_t)batch);
    if (status == TACIT_OK)
        status = live_store_put_value(store, "batch", batch);
    if (status == TACIT_OK && erase_every > 0 && batch % erase_every == 0)
        live_store_erase_past(store);
    return status;
}

enum tacit_status store_model_batch(struct live_store *store, uint64_t batch)
{
    enum tacit_status status = live_store_begin(store);
    if (status != TACIT_OK)
        return status;
    status = put_rows(store, batch);
    enum tacit_status const end = live_store_commit(store);
    return status == TACIT_OK ? end : status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

struct check {
    uint64_t last;
    uint64_t next; /* expected, or rows seen */
};

static bool check_release(void *context, const struct live_release *release)
{
    struct check *const check = context;
    uint8_t bytes[BLOB_BYTES_MAX];
    struct live_release const expected = release_of(check->next, check->last, bytes);
    assert_int_equal(release->number, expected.number);
    assert_int_equal(release->epsilon_nano, expected.epsilon_nano);
    assert_int_equal(release->size, expected.size);
    assert_memory_equal(release->bytes, expected.bytes, expected.size);
    assert_int_equal(release->acknowledged, expected.acknowledged);
    assert_int_equal(release->made_unix_s, expected.made_unix_s);
    check->next++;
    return true;
}

static void expect_text(const char *text, const char *expected)
{
    assert_int_equal(text == NULL, expected == NULL);
    if (expected != NULL)
        assert_string_equal(text, expected);
}

void store_model_expect_row(const struct live_decision_row *row,
                            const struct live_decision_row *expected)
{
    assert_true(row->number == expected->number && row->salt == expected->salt);
    assert_int_equal(row->arm, expected->arm);
    assert_int_equal(row->kind, expected->kind);
    assert_int_equal(row->state, expected->state);
    assert_true(row->opened_ms == expected->opened_ms);
    assert_true(row->deadline_ms == expected->deadline_ms);
    assert_memory_equal(&row->value, &expected->value, sizeof row->value);
    expect_text(row->key, expected->key);
    expect_text(row->unit, expected->unit);
    assert_int_equal(row->kept_size, expected->kept_size);
    if (row->kept_size > 0)
        assert_memory_equal(row->kept, expected->kept, row->kept_size);
}

static bool check_decision(void *context, const struct live_decision_row *row)
{
    struct check *const check = context;
    struct decision_texts texts;
    struct live_decision_row const expected = decision_of(check->next, check->last, &texts);
    store_model_expect_row(row, &expected);
    check->next++;
    return true;
}

/* What is closed was handed over, of all batches. */
static void check_remembered(struct live_store *store, uint64_t batch)
{
    for (uint64_t id = DECISIONS_PER_BATCH; remembers && id < batch * DECISIONS_PER_BATCH; id++) {
        struct decision_texts texts;
        struct live_decision_row row;
        struct live_decision_row expected = decision_of(id, batch, &texts);
        struct live_decision_id const asked = {expected.number, expected.salt};
        bool found;
        expected.unit = NULL;
        if (expected.deadline_ms > STORE_KEY_MAX)
            expected.deadline_ms = STORE_KEY_MAX;
        assert_int_equal(live_store_recall(store, asked, &row, &found), TACIT_OK);
        assert_true(found);
        store_model_expect_row(&row, &expected);
    }
}

static bool check_unit(void *context, const char *unit, uint32_t arm)
{
    struct check *const check = context;
    char expected[32];
    (void)snprintf(expected, sizeof expected, "unit-%u", (unsigned)(arm % UNITS));
    assert_string_equal(unit, expected);
    assert_true(arm <= check->last && arm + UNITS > check->last);
    check->next++;
    return true;
}

static void check_core(struct live_store *store, uint64_t batch)
{
    uint8_t expected[BLOB_BYTES_MAX];
    void *bytes;
    size_t const expected_size = batch == 0 ? 0 : blob(expected, batch, 0);
    size_t size;
    assert_int_equal(live_store_copy_core(store, &bytes, &size), TACIT_OK);
    assert_int_equal(size, expected_size);
    assert_true(size == 0 || memcmp(bytes, expected, size) == 0);
    free(bytes);
}

uint64_t store_model_check(struct live_store *store)
{
    uint64_t batch = 0;
    bool found;
    assert_int_equal(live_store_get_value(store, "batch", &batch, &found), TACIT_OK);
    assert_int_equal(found, batch > 0);
    check_core(store, batch);
    struct check check = {.last = batch, .next = 1};
    assert_int_equal(live_store_releases(store, check_release, &check), TACIT_OK);
    assert_int_equal(check.next, batch + 1);
    check.next = (batch < 2 ? 1 : batch - 1) * DECISIONS_PER_BATCH;
    assert_int_equal(live_store_decisions(store, check_decision, &check), TACIT_OK);
    assert_int_equal(check.next, (batch + 1) * DECISIONS_PER_BATCH);
    check.next = 0;
    assert_int_equal(live_store_units(store, check_unit, &check), TACIT_OK);
    assert_int_equal(check.next, batch < UNITS ? batch : UNITS);
    check_remembered(store, batch);
    return batch;
}

uint64_t store_model_batches(struct live_store *store, uint64_t from, uint64_t count)
{
    uint64_t reported = 0;
    while (reported < count && store_model_batch(store, from + reported) == TACIT_OK)
        reported++;
    return reported;
}

uint64_t store_model_on_disk(void)
{
    struct live_store *const store = store_model_open(store_directory);
    uint64_t const batch = store_model_check(store);
    live_store_close(store);
    return batch;
}

/* ---- Files ----------------------------------------------------------------------------------- */

unsigned store_places_of(const uint8_t *bytes, size_t size)
{
    unsigned count = 0;
    DIR *const files = opendir(store_directory);
    assert_non_null(files);
    struct dirent const *entry;
    while ((entry = readdir(files)) != NULL) {
        char path[TEMP_PATH_BYTES];
        temp_path(path, store_directory, entry->d_name);
        struct stat found;
        if (stat(path, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0)
            continue;
        FILE *const file = fopen(path, "rb");
        uint8_t *const whole = malloc((size_t)found.st_size);
        assert_true(file != NULL && whole != NULL);
        size_t const got = fread(whole, 1, (size_t)found.st_size, file);
        uint8_t const *at = whole;
        while ((at = memmem(at, got - (size_t)(at - whole), bytes, size)) != NULL) {
            count++;
            at++;
        }
        free(whole);
        (void)fclose(file);
    }
    (void)closedir(files);
    return count;
}

/* ---- Images --------------------------------------------------------------------------------- */

static uint8_t *file_read(const char *directory, const char *name, size_t *size)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    *size = 0;
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *const bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    return bytes;
}

struct store_image store_image_read(const char *directory)
{
    struct store_image image;
    image.bytes = file_read(directory, "state.db", &image.size);
    image.log = file_read(directory, "state.db-wal", &image.log_size);
    image.remembered = file_read(directory, "remembered.db", &image.remembered_size);
    return image;
}

static void file_replace(const char *directory, const char *name, const uint8_t *bytes, size_t size)
{
    char path[TEMP_PATH_BYTES];
    temp_path(path, directory, name);
    (void)unlink(path);
    if (bytes == NULL)
        return;
    temp_file_write_bytes(directory, name, bytes, size);
    assert_int_equal(chmod(path, 0600), 0);
}

void store_image_write(const char *directory, const struct store_image *image)
{
    file_replace(directory, "state.db", image->bytes, image->size);
    file_replace(directory, "state.db-wal", image->log_size == 0 ? NULL : image->log,
                 image->log_size);
    file_replace(directory, "remembered.db", image->remembered, image->remembered_size);
    file_replace(directory, "remembered.db-journal", NULL, 0);
    file_replace(directory, "state.db-witness", NULL, 0); /* another life than the one before */
}

void store_image_expect(const struct store_image *image)
{
    struct store_image left = store_image_read(store_directory);
    assert_int_equal(left.size, image->size);
    assert_memory_equal(left.bytes, image->bytes, image->size);
    assert_int_equal(left.log_size, image->log_size);
    if (image->log_size > 0)
        assert_memory_equal(left.log, image->log, image->log_size);
    store_image_free(&left);
}

void store_image_free(struct store_image *image)
{
    free(image->bytes);
    free(image->log);
    free(image->remembered);
}

struct store_image store_image_killed(uint64_t batches)
{
    char directory[TEMP_PATH_BYTES];
    temp_directory_make(directory);
    struct live_store *const store = store_model_open(directory);
    assert_int_equal(store_model_batches(store, 1, batches), batches);
    struct store_image const image = store_image_read(directory);
    live_store_close(store);
    temp_directory_remove(directory);
    return image;
}

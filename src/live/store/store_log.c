/* The log of SQLite (https://sqlite.org/fileformat.html, section 4), read only to tell two things
 * apart that SQLite treats alike: the torn end that a crash leaves, and damage to commits that were
 * on disk. In a ledger the second must not pass in silence. (Alagappan et al., FAST 2018: a crash
 * is not a corruption.) */
#include "store_base.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAME_HEADER_BYTES 24
#define LOG_MAGIC UINT32_C(0x377f0682) /* the lowest bit says: checksums of big-endian words */
#define LOG_VERSION UINT32_C(3007000)
#define MARK_BYTES (STORE_LOG_HEADER_BYTES / 2) /* and once more, inverted: so damage shows */
#define MARK_GENERATION_AT 8

struct log_reader {
    int file;
    int64_t frame_count;
    bool is_big_endian;
    uint32_t sum[2]; /* over everything up to here */
    uint8_t salts[8];
    bool has_commit;     /* whole frames, up to the end of one */
    bool has_generation; /* was there a page 1 so far? */
    bool first_has_generation;
    uint32_t generation;       /* of the last page 1 */
    uint32_t first_generation; /* behind the first commit */
    uint32_t last_generation;  /* behind the last one */
    uint8_t frame[STORE_LOG_FRAME_BYTES];
};

static uint32_t load_word(const struct log_reader *reader, const uint8_t *bytes)
{
    if (reader->is_big_endian)
        return store_load_u32(bytes);
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void sum_add(struct log_reader *reader, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        reader->sum[0] += load_word(reader, bytes + i) + reader->sum[1];
        reader->sum[1] += load_word(reader, bytes + i + 4) + reader->sum[0];
    }
}

static bool sum_is(const struct log_reader *reader, const uint8_t *bytes)
{
    return store_load_u32(bytes) == reader->sum[0] && store_load_u32(bytes + 4) == reader->sum[1];
}

/* A header is synced before the first frame of its use is written. */
static bool header_is_whole(struct log_reader *reader, const uint8_t header[STORE_LOG_HEADER_BYTES])
{
    uint32_t const magic = store_load_u32(header);
    if ((magic & ~UINT32_C(1)) != LOG_MAGIC || store_load_u32(header + 4) != LOG_VERSION ||
        store_load_u32(header + 8) != STORE_PAGE_BYTES)
        return false;
    reader->is_big_endian = (magic & 1u) != 0;
    memcpy(reader->salts, header + 16, sizeof reader->salts);
    sum_add(reader, header, STORE_LOG_HEADER_BYTES - 8);
    return sum_is(reader, header + STORE_LOG_HEADER_BYTES - 8);
}

static bool frame_read(struct log_reader *reader, int64_t index)
{
    ssize_t const got = pread(reader->file, reader->frame, STORE_LOG_FRAME_BYTES,
                              (off_t)(STORE_LOG_HEADER_BYTES + index * STORE_LOG_FRAME_BYTES));
    return got == (ssize_t)STORE_LOG_FRAME_BYTES;
}

/* Of this use of the log: after it was folded, the next use has other salts. */
static bool frame_is_of_now(const struct log_reader *reader)
{
    return memcmp(reader->frame + 8, reader->salts, sizeof reader->salts) == 0;
}

static bool frame_ends_commit(const struct log_reader *reader)
{
    return store_load_u32(reader->frame + 4) != 0;
}

/* Of the frame that was read; its sum goes on from the frame before. */
static bool frame_is_whole(struct log_reader *reader)
{
    sum_add(reader, reader->frame, 8);
    sum_add(reader, reader->frame + FRAME_HEADER_BYTES, STORE_PAGE_BYTES);
    return frame_is_of_now(reader) && sum_is(reader, reader->frame + 16);
}

/* Of a frame that is whole: the generation that page 1 has, at the first commit and at the last. */
static void note_generation(struct log_reader *reader)
{
    if (store_load_u32(reader->frame) == 1) { /* the file's header is in page 1 */
        uint8_t const *const page = reader->frame + FRAME_HEADER_BYTES;
        reader->generation = store_generation_of(store_load_u32(page + STORE_USER_VERSION_AT));
        reader->has_generation = true;
    }
    if (!frame_ends_commit(reader))
        return;
    reader->last_generation = reader->generation;
    if (reader->has_commit)
        return;
    reader->has_commit = true;
    reader->first_has_generation = reader->has_generation;
    reader->first_generation = reader->generation;
}

/* From the first bad frame on: a crash leaves pieces of one commit at most, because the next one
 * begins only when it is on disk. So a frame after the end of a commit means that there were two.
 */
static enum tacit_status check_rest(struct log_reader *reader, int64_t bad,
                                    const char *directory_name, struct tacit_error *error)
{
    bool seen_end = false;
    for (int64_t i = bad; i < reader->frame_count; i++) {
        if (!frame_read(reader, i))
            return live_refuse(error, TACIT_IO, "%s/%s: cannot read", directory_name, STORE_LOG);
        if (!frame_is_of_now(reader))
            continue;
        if (seen_end)
            return live_refuse(error, TACIT_MALFORMED,
                               "%s/%s is damaged in frame %lld of %lld, and commits follow it",
                               directory_name, STORE_LOG, (long long)bad + 1,
                               (long long)reader->frame_count);
        seen_end = frame_ends_commit(reader);
    }
    return TACIT_OK;
}

static enum tacit_status check_frames(struct log_reader *reader, const char *directory_name,
                                      struct tacit_error *error)
{
    for (int64_t i = 0; i < reader->frame_count; i++) {
        if (!frame_read(reader, i))
            return live_refuse(error, TACIT_IO, "%s/%s: cannot read", directory_name, STORE_LOG);
        if (!frame_is_whole(reader))
            return check_rest(reader, i, directory_name, error);
        note_generation(reader);
    }
    return TACIT_OK;
}

/* Notes which frame has the last word on each page of the file, of the frames that were committed
 * in the latest use of the log; frames from 1, 0: none. False: a page that the file does not have,
 * or a frame that cannot be read. */
static bool find_last_frames(struct log_reader *reader, uint32_t *frames, uint32_t page_count)
{
    int64_t committed = 0;
    for (int64_t i = 0; i < reader->frame_count; i++) {
        if (!frame_read(reader, i))
            return false;
        if (i == 0)
            memcpy(reader->salts, reader->frame + 8, sizeof reader->salts);
        if (!frame_is_of_now(reader))
            break;
        if (frame_ends_commit(reader))
            committed = i + 1;
    }
    for (int64_t i = 0; i < committed; i++) {
        bool const is_read = frame_read(reader, i);
        uint32_t const page = store_load_u32(reader->frame);
        if (!is_read || page == 0 || page > page_count)
            return false;
        frames[page] = (uint32_t)(i + 1);
    }
    return true;
}

/* Is everything that the log holds in the file as well? */
static bool is_checkpointed(struct log_reader *reader, int file)
{
    struct stat found;
    if (fstat(file, &found) != 0 || found.st_size / STORE_PAGE_BYTES >= UINT32_MAX)
        return false;
    uint32_t const page_count = (uint32_t)(found.st_size / STORE_PAGE_BYTES);
    uint32_t *const frames = calloc((size_t)page_count + 1, sizeof *frames);
    bool is_same = frames != NULL && find_last_frames(reader, frames, page_count);
    for (uint32_t page = 1; is_same && page <= page_count; page++) {
        uint8_t bytes[STORE_PAGE_BYTES];
        if (frames[page] == 0)
            continue;
        is_same = frame_read(reader, frames[page] - 1) &&
                  pread(file, bytes, sizeof bytes, (off_t)(page - 1) * STORE_PAGE_BYTES) ==
                      (ssize_t)sizeof bytes &&
                  memcmp(bytes, reader->frame + FRAME_HEADER_BYTES, sizeof bytes) == 0;
    }
    free(frames);
    return is_same;
}

/* ---- The mark -------------------------------------------------------------------------------- */

void store_log_header_mark(uint8_t mark[STORE_LOG_HEADER_BYTES], uint32_t generation)
{
    memset(mark, 0, MARK_BYTES);
    memcpy(mark, "overlaid", MARK_GENERATION_AT);
    for (unsigned i = 0; i < 4; i++)
        mark[MARK_GENERATION_AT + i] = (uint8_t)(generation >> (24 - 8 * i));
    for (unsigned i = 0; i < MARK_BYTES; i++)
        mark[MARK_BYTES + i] = (uint8_t)~mark[i];
}

/* Was this log erased: does it begin with what store_log_header_mark wrote in place of SQLite's
 * header? *generation is of use only then. */
static bool is_header_mark(const uint8_t header[STORE_LOG_HEADER_BYTES], uint32_t *generation)
{
    uint8_t expected[STORE_LOG_HEADER_BYTES];
    *generation = store_load_u32(header + MARK_GENERATION_AT);
    store_log_header_mark(expected, *generation);
    return memcmp(header, expected, sizeof expected) == 0;
}

/* ---- Generations -------------------------------------------------------------------------------
 */

/* Is it `of`, or after it? Generations count in a circle. */
static bool is_ahead(uint32_t generation, uint32_t of)
{
    return ((generation - of) & STORE_GENERATION_MASK) <= STORE_GENERATION_MASK / 2;
}

/* Does the log continue a file of this generation: does it begin at the next one at the latest, and
 * end at the file's own or later? A log without a commit says nothing. */
static bool goes_on_from(const struct log_reader *reader, uint32_t file_generation)
{
    return !reader->has_commit ||
           (reader->first_has_generation && is_ahead(reader->last_generation, file_generation) &&
            is_ahead(file_generation + 1, reader->first_generation));
}

static enum tacit_status check_generations(const struct log_reader *reader,
                                           uint32_t file_generation, const char *directory_name,
                                           struct tacit_error *error)
{
    if (goes_on_from(reader, file_generation))
        return TACIT_OK;
    return live_refuse(
        error, TACIT_MALFORMED,
        "%s/%s does not go on from %s: one of the two is an older one; put the newer "
        "one back, or remove the whole directory and rejoin as a new site",
        directory_name, STORE_LOG, STORE_FILE);
}

/* ---- The check ------------------------------------------------------------------------------- */

/* The header cannot be read. A crash leaves it so when it is written over the one before, and that
 * happens only when everything behind it has been folded: then SQLite may drop the log. Otherwise
 * it is damage. */
static enum tacit_status check_without_header(struct log_reader *reader, int directory,
                                              const char *directory_name, struct tacit_error *error)
{
    int const file = openat(directory, STORE_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    bool const may_be_dropped = file >= 0 && is_checkpointed(reader, file);
    if (file >= 0)
        (void)close(file);
    return may_be_dropped
               ? TACIT_OK
               : live_refuse(error, TACIT_MALFORMED, "%s/%s is damaged: its header is not valid",
                             directory_name, STORE_LOG);
}

enum tacit_status store_log_check(int directory, const char *directory_name, int64_t size,
                                  uint32_t file_generation, struct tacit_error *error)
{
    uint32_t mark;
    if (size <= STORE_LOG_HEADER_BYTES)
        return TACIT_OK; /* no frames */
    struct log_reader reader = {
        .file = openat(directory, STORE_LOG, O_RDONLY | O_NOFOLLOW | O_CLOEXEC),
        .frame_count = (size - STORE_LOG_HEADER_BYTES) / STORE_LOG_FRAME_BYTES,
    };
    if (reader.file < 0)
        return live_refuse(error, TACIT_IO, "%s/%s: cannot open: %s", directory_name, STORE_LOG,
                           strerror(errno));
    uint8_t header[STORE_LOG_HEADER_BYTES];
    enum tacit_status status = TACIT_OK;
    if (pread(reader.file, header, sizeof header, 0) != (ssize_t)sizeof header)
        status = live_refuse(error, TACIT_IO, "%s/%s: cannot read", directory_name, STORE_LOG);
    else if (is_header_mark(header, &mark)) { /* what the zeros have not reached is in the file */
        reader.has_commit = reader.first_has_generation = true;
        reader.first_generation =
            mark == file_generation ? mark : file_generation + 2; /* no other one goes on */
        reader.last_generation = reader.first_generation;
    } else if (!header_is_whole(&reader, header))
        status = check_without_header(&reader, directory, directory_name, error);
    else
        status = check_frames(&reader, directory_name, error);
    if (status == TACIT_OK)
        status = check_generations(&reader, file_generation, directory_name, error);
    (void)close(reader.file);
    return status;
}

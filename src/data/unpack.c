/* Whole files into memory: plain, xz (liblzma) or gzip (zlib), with a limit on what comes out. Not
 * a stream reader: a table needs all its bytes anyway. Not libarchive: it takes gzip data whose
 * checksum is wrong, or after which something follows (3.6.2). */
#include "tacit/data.h"
#include "internal.h"
#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SINK_BYTES_MIN ((size_t)1 << 16)
#define XZ_MEMORY_MAX (UINT64_C(1) << 30) /* what the xz decoder may use for its dictionary */
#define GZ_WINDOW_BITS (15 + 16)          /* the largest window; + 16: gzip framing */

/* Bytes under collection. The capacity goes to bytes_max + 1: the last byte shows that there is too
 * much, or holds the NUL. */
struct sink {
    char *bytes;
    size_t size;
    size_t capacity;
    size_t bytes_max;
    const char *path;
    struct tacit_error *error;
};

/* Ensures: TACIT_OK: there is room for at least one byte more. */
static enum tacit_status sink_room(struct sink *sink)
{
    if (sink->size < sink->capacity)
        return TACIT_OK;
    if (sink->size > sink->bytes_max)
        return data_fail(sink->error, TACIT_INVALID, sink->path, 0,
                         "too large; at most %zu bytes, unpacked", sink->bytes_max);
    size_t capacity = sink->capacity < SINK_BYTES_MIN ? SINK_BYTES_MIN : 2 * sink->capacity;
    if (capacity > sink->bytes_max + 1)
        capacity = sink->bytes_max + 1;
    char *const bytes = realloc(sink->bytes, capacity);
    if (bytes == NULL)
        return data_fail_memory(sink->error, sink->path);
    sink->bytes = bytes;
    sink->capacity = capacity;
    return TACIT_OK;
}

/* Hands the bytes over, NUL at the end, or frees them if the filling went wrong. */
static enum tacit_status sink_close(struct sink *sink, enum tacit_status status,
                                    struct data_unpacked *unpacked)
{
    if (status == TACIT_OK)
        status = sink_room(sink);
    if (status != TACIT_OK) {
        free(sink->bytes);
        return status;
    }
    sink->bytes[sink->size] = '\0';
    *unpacked = (struct data_unpacked){.bytes = sink->bytes, .size = sink->size};
    return TACIT_OK;
}

static enum tacit_status read_stream(struct sink *sink, FILE *file)
{
    for (;;) {
        TACIT_TRY(sink_room(sink));
        size_t const got = fread(sink->bytes + sink->size, 1, sink->capacity - sink->size, file);
        if (got == 0 && ferror(file))
            return data_fail(sink->error, TACIT_IO, sink->path, 0, "%s", strerror(errno));
        if (got == 0)
            return TACIT_OK;
        sink->size += got;
    }
}

static enum tacit_status read_plain(struct data_unpacked *unpacked, const char *path,
                                    size_t bytes_max, struct tacit_error *error)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        return data_fail(error, TACIT_IO, path, 0, "%s", strerror(errno));
    struct sink sink = {.bytes_max = bytes_max, .path = path, .error = error};
    enum tacit_status const status = read_stream(&sink, file);
    (void)fclose(file);
    return sink_close(&sink, status, unpacked);
}

static enum tacit_status fail_xz(const struct sink *sink, lzma_ret result)
{
    const char *what = "damaged xz data";
    if (result == LZMA_MEM_ERROR)
        return data_fail_memory(sink->error, sink->path);
    if (result == LZMA_FORMAT_ERROR)
        what = "not an xz file, though its name ends in .xz";
    else if (result == LZMA_BUF_ERROR)
        what = "the xz data ends early; the file is incomplete";
    else if (result == LZMA_MEMLIMIT_ERROR)
        what = "unpacking needs more than 1 GiB of memory; pack with xz -9 or less";
    else if (result == LZMA_OPTIONS_ERROR)
        what = "packed with an xz filter that liblzma does not know";
    return data_fail(sink->error, TACIT_IO, sink->path, 0, "%s", what);
}

static enum tacit_status unpack_xz(struct sink *sink, const struct data_unpacked *packed)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret result = lzma_stream_decoder(&stream, XZ_MEMORY_MAX, LZMA_CONCATENATED);
    stream.next_in = (const uint8_t *)packed->bytes;
    stream.avail_in = packed->size;
    enum tacit_status status = TACIT_OK;
    while (result == LZMA_OK) {
        status = sink_room(sink);
        if (status != TACIT_OK)
            break;
        stream.next_out = (uint8_t *)sink->bytes + sink->size;
        stream.avail_out = sink->capacity - sink->size;
        result = lzma_code(&stream, LZMA_FINISH);
        sink->size = sink->capacity - stream.avail_out;
    }
    lzma_end(&stream);
    if (status == TACIT_OK && result != LZMA_STREAM_END)
        return fail_xz(sink, result);
    return status;
}

static enum tacit_status fail_gz(const struct sink *sink, int result)
{
    if (result == Z_MEM_ERROR)
        return data_fail_memory(sink->error, sink->path);
    const char *const what = result == Z_BUF_ERROR
                                 ? "the gzip data ends early; the file is incomplete"
                                 : "not a gzip file, though its name ends in .gz, or damaged";
    return data_fail(sink->error, TACIT_IO, sink->path, 0, "%s", what);
}

/* All members of the file, one after another (RFC 1952, 2.2). Two errors: *status of the sink, and
 * zlib's as the result. */
static int inflate_members(struct sink *sink, z_stream *stream, enum tacit_status *status)
{
    for (;;) {
        *status = sink_room(sink);
        if (*status != TACIT_OK)
            return Z_OK;
        stream->next_out = (Bytef *)sink->bytes + sink->size;
        stream->avail_out = (uInt)(sink->capacity - sink->size);
        int result = inflate(stream, Z_NO_FLUSH);
        sink->size = sink->capacity - stream->avail_out;
        if (result == Z_STREAM_END && stream->avail_in == 0)
            return result;
        if (result == Z_STREAM_END)
            result = inflateReset(stream);
        if (result != Z_OK)
            return result;
    }
}

static enum tacit_status unpack_gz(struct sink *sink, const struct data_unpacked *packed)
{
    z_stream stream = {.next_in = (Bytef *)packed->bytes, .avail_in = (uInt)packed->size};
    int result = inflateInit2(&stream, GZ_WINDOW_BITS);
    if (result != Z_OK)
        return fail_gz(sink, result);
    enum tacit_status status = TACIT_OK;
    result = inflate_members(sink, &stream, &status);
    (void)inflateEnd(&stream);
    if (status == TACIT_OK && result != Z_STREAM_END)
        return fail_gz(sink, result);
    return status;
}

static bool ends_in(const char *path, const char *suffix)
{
    size_t const path_size = strlen(path);
    size_t const suffix_size = strlen(suffix);
    return path_size >= suffix_size && strcmp(path + path_size - suffix_size, suffix) == 0;
}

_Static_assert(TACIT_UNPACKED_BYTES_MAX < UINT_MAX, "zlib counts in unsigned int");

enum tacit_status data_unpack_file(struct data_unpacked *unpacked, const char *path,
                                   size_t bytes_max, struct tacit_error *error)
{
    TACIT_ASSERT(bytes_max > 0);
    TACIT_ASSERT(bytes_max <= TACIT_UNPACKED_BYTES_MAX);
    bool const is_xz = ends_in(path, ".xz");
    if (!is_xz && !ends_in(path, ".gz"))
        return read_plain(unpacked, path, bytes_max, error);
    struct data_unpacked packed;
    TACIT_TRY(read_plain(&packed, path, bytes_max, error));
    struct sink sink = {.bytes_max = bytes_max, .path = path, .error = error};
    enum tacit_status status = is_xz ? unpack_xz(&sink, &packed) : unpack_gz(&sink, &packed);
    free(packed.bytes);
    return sink_close(&sink, status, unpacked);
}

/* Text in UTF-8, whatever it was written in: iconv does the work. */
#include "internal.h"
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_A_CHARACTER_MAX 3u /* in UTF-8, of what these encodings can write */

static const char *const names[] = {
    [TACIT_ENCODING_UTF8] = "UTF-8",
    [TACIT_ENCODING_CP1252] = "CP1252",
    [TACIT_ENCODING_LATIN1] = "ISO-8859-1",
};

/* `at`: the first byte that is wrong; the message says its line. */
static enum tacit_status refuse(const struct data_unpacked *file, const char *at, const char *path,
                                enum tacit_encoding encoding, struct tacit_error *error)
{
    uint32_t line = 1;
    for (const char *byte = file->bytes; byte < at; byte++)
        line += *byte == '\n';
    return data_fail(error, TACIT_INVALID, path, line, "bytes that are not %s%s", names[encoding],
                     encoding == TACIT_ENCODING_UTF8
                         ? "; 'encoding' may say what they are: cp1252 or latin1"
                         : "; 'encoding' may be utf-8, cp1252 or latin1");
}

/* The mark before it, or a first character whose other byte is 0. */
enum tacit_status data_refuse_utf16(const struct data_unpacked *file, const char *path,
                                    struct tacit_error *error)
{
    unsigned char const *const bytes = (const unsigned char *)file->bytes;
    bool const is_marked = file->size >= 2 && ((bytes[0] == 0xFF && bytes[1] == 0xFE) ||
                                               (bytes[0] == 0xFE && bytes[1] == 0xFF));
    bool const is_plain = file->size >= 4 && file->size % 2 == 0 &&
                          ((bytes[0] == 0 && bytes[1] != 0 && bytes[2] == 0 && bytes[3] != 0) ||
                           (bytes[0] != 0 && bytes[1] == 0 && bytes[2] != 0 && bytes[3] == 0));
    return is_marked || is_plain
               ? data_fail(error, TACIT_INVALID, path, 1,
                           "UTF-16, two bytes a character, as some programs' \"Unicode text\" is; "
                           "allowed: UTF-8 (save it as \"CSV UTF-8\")")
               : TACIT_OK;
}

enum tacit_status data_recode(struct data_unpacked *file, const char *path,
                              enum tacit_encoding encoding, struct tacit_error *error)
{
    enum tacit_status status = data_refuse_utf16(file, path, error);
    if (status != TACIT_OK) {
        free(file->bytes);
        return status;
    }
    size_t const capacity = BYTES_A_CHARACTER_MAX * file->size + 1;
    iconv_t const converter = iconv_open("UTF-8", names[encoding]);
    char *const bytes = converter == (iconv_t)-1 ? NULL : malloc(capacity);
    char *in = file->bytes;
    size_t in_left = file->size;
    char *out = bytes;
    size_t out_left = capacity - 1;
    if (bytes == NULL)
        status = data_fail_memory(error, path);
    else if (iconv(converter, &in, &in_left, &out, &out_left) == (size_t)-1)
        status = refuse(file, in, path, encoding, error);
    if (converter != (iconv_t)-1)
        (void)iconv_close(converter);
    free(file->bytes);
    file->bytes = bytes;
    if (status != TACIT_OK) {
        free(bytes);
        return status;
    }
    *out = '\0';
    file->size = (size_t)(out - bytes);
    return TACIT_OK;
}

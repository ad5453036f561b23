/* The file `agreed`: written beside the database, and compared, key by key, to say which
 * differs. */
#include "store_base.h"
#include "../daemon/files.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "agreed"
#define BYTES_MAX ((off_t)64 << 20)
#define DIFFERENCES_MAX 3u
#define VALUE_SHOWN_BYTES 80

/* ---- The file -------------------------------------------------------------------------------- */

/* With an end, to be given to free(); NULL: it is shorter than that, or out of memory. */
static char *read_whole(int file, size_t size)
{
    char *const text = malloc(size + 1);
    size_t done = 0;
    while (text != NULL && done < size) {
        ssize_t const got = read(file, text + done, size - done);
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    if (text != NULL && done == size) {
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

/* To be given to free(); NULL: it is not there, or no such file. */
static char *read_agreed(const char *directory)
{
    char path[4096];
    struct stat found;
    int const length = snprintf(path, sizeof path, "%s/%s", directory, NAME);
    if (length < 0 || (size_t)length >= sizeof path)
        return NULL;
    int const file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
        found.st_size <= BYTES_MAX)
        text = read_whole(file, (size_t)found.st_size);
    if (file >= 0)
        (void)close(file);
    return text;
}

void store_agreed_write(const char *directory, const char *text)
{
    TACIT_ASSERT(text != NULL);
    char *const kept = read_agreed(directory);
    if (kept == NULL || strcmp(kept, text) != 0)
        (void)live_file_put(directory, NAME, text, strlen(text), UINT32_MAX);
    free(kept);
}

enum tacit_status live_store_identity_agree(struct live_store_identity *identity, char *agreed,
                                            bool is_whole)
{
    identity->agreed = NULL;
    if (!is_whole) {
        free(agreed);
        return TACIT_MEMORY;
    }
    TACIT_ASSERT(agreed != NULL);
    tacit_sha256_of(agreed, strlen(agreed), identity->config_digest);
    identity->agreed = agreed;
    return TACIT_OK;
}

void live_store_identity_free(struct live_store_identity *identity)
{
    free((void *)(uintptr_t)identity->agreed);
    identity->agreed = NULL;
}

/* ---- The difference -------------------------------------------------------------------------- */

/* One line of a text; key NULL: behind the last. */
struct line {
    const char *key;
    int key_bytes;
    const char *value;
    int value_bytes;
    const char *next;
};

static struct line line_at(const char *text)
{
    size_t const size = strcspn(text, "\n");
    size_t const key = strcspn(text, " \n");
    if (*text == '\0')
        return (struct line){.next = text};
    size_t const value = key < size ? key + 1 : size;
    return (struct line){.key = text,
                         .key_bytes = (int)key,
                         .value = text + value,
                         .value_bytes = (int)(size - value),
                         .next = text + size + (text[size] == '\n')};
}

static bool has_key_of(const struct line *one, const struct line *other)
{
    return one->key != NULL && other->key != NULL && one->key_bytes == other->key_bytes &&
           memcmp(one->key, other->key, (size_t)one->key_bytes) == 0;
}

static bool is_same(const struct line *one, const struct line *other)
{
    return has_key_of(one, other) && one->value_bytes == other->value_bytes &&
           memcmp(one->value, other->value, (size_t)one->value_bytes) == 0;
}

/* Does the wanted line's key come in the text? */
static bool comes_later(const struct line *wanted, const char *text)
{
    for (struct line line = line_at(text); line.key != NULL; line = line_at(line.next))
        if (has_key_of(&line, wanted))
            return true;
    return false;
}

static int shown(const struct line *line)
{
    return line->value_bytes < VALUE_SHOWN_BYTES ? line->value_bytes : VALUE_SHOWN_BYTES;
}

/* was, is: key NULL: it was, or is, not there. */
static void write_difference(const struct line *was, const struct line *is,
                             struct tacit_text *words)
{
    char text[4 * VALUE_SHOWN_BYTES];
    struct line const *const line = is->key != NULL ? is : was;
    TACIT_ASSERT(line->key != NULL);
    if (was->key == NULL)
        (void)snprintf(text, sizeof text, "%.*s %.*s was not there", line->key_bytes, line->key,
                       shown(is), is->value);
    else if (is->key == NULL)
        (void)snprintf(text, sizeof text, "%.*s %.*s is missing", line->key_bytes, line->key,
                       shown(was), was->value);
    else
        (void)snprintf(text, sizeof text, "%.*s is %.*s, and was %.*s", line->key_bytes, line->key,
                       shown(is), is->value, shown(was), was->value);
    tacit_text_add(words, text);
}

/* Adds what differs to the words, at most DIFFERENCES_MAX keys. Both have their keys in the same
 * order; one that only one of them has is said as such. */
static void compare(const char *kept, const char *wanted, struct tacit_text *words)
{
    static const struct line none = {0};
    uint32_t said = 0;
    struct line was = line_at(kept);
    struct line is = line_at(wanted);
    while (was.key != NULL || is.key != NULL) {
        bool const is_pair = has_key_of(&was, &is);
        bool const is_gone =
            !is_pair && was.key != NULL && (is.key == NULL || comes_later(&is, was.next));
        bool const differs = !is_same(&was, &is);
        if (differs && said == DIFFERENCES_MAX) {
            tacit_text_add(words, "; and more");
            return;
        }
        if (differs && said++ > 0)
            tacit_text_add(words, "; ");
        if (differs)
            write_difference(is_pair || is_gone ? &was : &none, is_pair || !is_gone ? &is : &none,
                             words);
        if (is_pair || is_gone)
            was = line_at(was.next);
        if (is_pair || !is_gone)
            is = line_at(is.next);
    }
}

bool store_agreed_compare(const char *directory, const char *text, struct tacit_text *words)
{
    char *const kept = read_agreed(directory);
    bool const is_known = kept != NULL;
    if (is_known)
        compare(kept, text, words);
    free(kept);
    return is_known;
}

bool store_agreed_differ(const char *directory, const uint8_t digest[32], const char *text,
                         struct tacit_text *words)
{
    uint8_t found[32];
    char *const kept = text == NULL ? NULL : read_agreed(directory);
    if (kept != NULL)
        tacit_sha256_of(kept, strlen(kept), found);
    bool const is_known = kept != NULL && memcmp(found, digest, sizeof found) == 0;
    if (is_known)
        compare(kept, text, words);
    free(kept);
    return is_known;
}

/* Reading heads. RFC 9112 where it says "must"; where it leaves a choice, the strict one. */
#include "http_head.h"
#include <string.h>
#include <strings.h>

#define BAD_REQUEST 400u
#define LENGTH_DIGITS_MAX 18u

static bool refuse(struct live_http_refusal *refusal, unsigned code, const char *why)
{
    *refusal = (struct live_http_refusal){code, why};
    return false;
}

/* ---- The end of a head ----------------------------------------------------------------------- */

/* What may follow `before`; the rest of the grammar is for live_http_head_read. */
static bool may_follow(char before, char byte)
{
    unsigned char const code = (unsigned char)byte;
    if (byte == '\n')
        return before == '\r';
    return before != '\r' && (code >= 0x20 || byte == '\r' || byte == '\t') && code != 0x7f;
}

size_t live_http_head_size(const char *bytes, size_t size, size_t *looked,
                           struct live_http_refusal *refusal)
{
    TACIT_ASSERT(*looked <= size);
    refusal->code = 0;
    for (; *looked < size && *looked < LIVE_HEAD_BYTES_MAX; ++*looked) {
        size_t const i = *looked;
        if (!may_follow(i == 0 ? '\n' : bytes[i - 1], bytes[i])) {
            (void)refuse(refusal, BAD_REQUEST,
                         "a request has lines that end in CR LF, and no control characters");
            return 0;
        }
        if (bytes[i] == '\n' && i >= 3 && bytes[i - 2] == '\n') {
            ++*looked;
            return i + 1;
        }
    }
    if (*looked == LIVE_HEAD_BYTES_MAX)
        (void)refuse(refusal, 431, "the headers are too large; 8192 bytes are allowed");
    return 0;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Characters of methods and of names of headers. */
static bool is_token(const char *text)
{
    const char *end = text;
    while ((*end >= '0' && *end <= '9') || ((*end | 0x20) >= 'a' && (*end | 0x20) <= 'z') ||
           (*end != '\0' && strchr("!#$%&'*+-.^_`|~", *end) != NULL))
        end++;
    return end > text && *end == '\0';
}

/* Cuts the line that begins here, and returns the next one. */
static char *cut_line(char *line)
{
    char *const end = strchr(line, '\r');
    TACIT_ASSERT(end != NULL && end[1] == '\n');
    *end = '\0';
    return end + 2;
}

static bool is_visible(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text <= ' ' || (unsigned char)*text >= 0x7f)
            return false;
    return true;
}

/* METHOD SP PATH SP HTTP/1.x */
static bool read_first_line(char *line, struct live_http_head *head,
                            struct live_http_refusal *refusal)
{
    static const char wrong[] = "a request begins with: METHOD /path HTTP/1.1";
    char *const path = strchr(line, ' ');
    char *const version = path == NULL ? NULL : strchr(path + 1, ' ');
    if (version == NULL)
        return refuse(refusal, BAD_REQUEST, wrong);
    *path = '\0';
    *version = '\0';
    if (!is_token(line) || path[1] != '/' || !is_visible(path + 1))
        return refuse(refusal, BAD_REQUEST, wrong);
    bool const is_old = strcmp(version + 1, "HTTP/1.0") == 0;
    if (!is_old && strcmp(version + 1, "HTTP/1.1") != 0)
        return strncmp(version + 1, "HTTP/", 5) == 0
                   ? refuse(refusal, 505, "only HTTP/1.1 is supported")
                   : refuse(refusal, BAD_REQUEST, wrong);
    path[1 + strcspn(path + 1, "?")] = '\0';
    *head = (struct live_http_head){.method = line, .path = path + 1, .keeps = !is_old};
    return true;
}

/* ---- Headers --------------------------------------------------------------------------------- */

struct reading {
    struct live_http_head *head;
    struct live_http_refusal *refusal;
    bool is_chunked;
};

/* Once only, in digits only. */
static bool read_length(struct reading *reading, const char *value)
{
    size_t const digits = strspn(value, "0123456789");
    if (reading->head->has_length || reading->is_chunked)
        return refuse(reading->refusal, BAD_REQUEST, "a body has one Content-Length, or none");
    if (digits == 0 || value[digits] != '\0')
        return refuse(reading->refusal, BAD_REQUEST, "Content-Length is a number");
    if (digits > LENGTH_DIGITS_MAX)
        return refuse(reading->refusal, 413, "the body is too large; 1 MiB is allowed");
    reading->head->has_length = true;
    for (size_t i = 0; i < digits; i++)
        reading->head->length = 10 * reading->head->length + (uint64_t)(value[i] - '0');
    return true;
}

static bool read_once(struct reading *reading, const char **into, const char *value)
{
    if (*into != NULL)
        return refuse(reading->refusal, BAD_REQUEST, "Host and Origin are said once");
    *into = value;
    return true;
}

/* Is the word among those of a list? */
static bool names_word(const char *list, const char *word)
{
    size_t const size = strlen(word);
    while (*list != '\0') {
        list += strspn(list, " \t,");
        size_t const length = strcspn(list, " \t,");
        if (length == size && strncasecmp(list, word, size) == 0)
            return true;
        list += length;
    }
    return false;
}

/* Fields that are not known are passed over. */
static bool apply_field(struct reading *reading, const char *name, const char *value)
{
    struct live_http_head *const head = reading->head;
    if (strcasecmp(name, "Content-Length") == 0)
        return read_length(reading, value);
    if (strcasecmp(name, "Host") == 0)
        return read_once(reading, &head->host, value);
    if (strcasecmp(name, "Origin") == 0)
        return read_once(reading, &head->origin, value);
    if (strcasecmp(name, "Transfer-Encoding") == 0) {
        if (head->has_length || reading->is_chunked)
            return refuse(reading->refusal, BAD_REQUEST, "a body has one Content-Length, or none");
        reading->is_chunked = true;
    } else if (strcasecmp(name, "Connection") == 0) {
        head->keeps =
            (head->keeps || names_word(value, "keep-alive")) && !names_word(value, "close");
    } else if (strcasecmp(name, "Expect") == 0) {
        if (strcasecmp(value, "100-continue") != 0)
            return refuse(reading->refusal, 417, "nothing but 100-continue can be expected");
        head->expects = true;
    }
    return true;
}

/* NAME: VALUE; no space before the colon, no line that goes on with the next one. */
static bool read_field(struct reading *reading, char *line)
{
    char *const colon = strchr(line, ':');
    if (colon != NULL)
        *colon = '\0';
    if (colon == NULL || !is_token(line))
        return refuse(reading->refusal, BAD_REQUEST, "a header is a line: NAME: VALUE");
    char *const value = colon + 1 + strspn(colon + 1, " \t");
    size_t size = strlen(value);
    while (size > 0 && (value[size - 1] == ' ' || value[size - 1] == '\t'))
        value[--size] = '\0';
    return apply_field(reading, line, value);
}

bool live_http_head_read(char *bytes, size_t size, struct live_http_head *head,
                         struct live_http_refusal *refusal)
{
    TACIT_ASSERT(size >= 4 && size <= LIVE_HEAD_BYTES_MAX);
    TACIT_ASSERT(memcmp(bytes + size - 4, "\r\n\r\n", 4) == 0);
    bytes[size - 2] = '\0'; /* where the last line would be */
    char *next = cut_line(bytes);
    struct reading reading = {.head = head, .refusal = refusal};
    if (!read_first_line(bytes, head, refusal))
        return false;
    bool const is_old = !head->keeps;
    for (unsigned count = 0; *next != '\0'; count++) {
        char *const line = next;
        next = cut_line(line);
        if (count == LIVE_HEAD_FIELDS_MAX)
            return refuse(refusal, 431, "there are too many headers; 64 are allowed");
        if (!read_field(&reading, line))
            return false;
    }
    if (reading.is_chunked)
        return refuse(refusal, 411, "a body has a Content-Length; chunks are not taken");
    if (head->host == NULL && !is_old)
        return refuse(refusal, BAD_REQUEST, "a request of HTTP/1.1 names its Host");
    return true;
}

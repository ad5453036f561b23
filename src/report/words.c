/* Settings as people say them: for headlines, labels and names; what is given to a command stays as
 * it is. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* Where a value begins, if a setting does at `text`: "privacy.epsilon=". NULL: none does. */
static const char *value_at(const char *text)
{
    size_t const length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    return length > 0 && text[length] == '=' ? text + length + 1 : NULL;
}

/* "epsilon " of "privacy.epsilon=0.5"; nothing of "protocol={...", which names itself. */
static void put_key(const char *key, const char *value, FILE *out)
{
    const char *last = key;
    for (const char *at = key; at < value; at++)
        last = *at == '.' ? at + 1 : last;
    for (; *value != '{' && last < value; last++)
        (void)fputc(*last == '_' || *last == '=' ? ' ' : *last, out);
}

/* "phased-index, confidence 0.95" of "protocol={kind: phased-index, confidence: 0.95}". */
static void put_words(const char *label, FILE *out)
{
    int depth = 0;
    for (const char *at = label; *at != '\0'; at++) {
        const char *const value =
            depth == 0 && (at == label || at[-1] == ' ') ? value_at(at) : NULL;
        if (value != NULL) {
            put_key(at, value, out);
            at = value - 1;
        } else if (strchr("{}[]", *at) != NULL) {
            depth += *at == '{' || *at == '[' ? 1 : -1;
        } else if (depth > 0 && strncmp(at, "kind: ", 6) == 0) {
            at += 5;
        } else if (!(depth > 0 && *at == ':')) {
            bool const is_next =
                depth == 0 && *at == ' ' && value_at(at + 1) != NULL && at > label && at[-1] != ':';
            (void)fputs(is_next ? "," : "", out);
            (void)fputc(*at, out);
        }
    }
}

char *tacit_report_setting_words(const char *settings)
{
    char *text = NULL;
    size_t size;
    TACIT_ASSERT(settings != NULL);
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    put_words(settings, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void tacit_report_count_text(uint64_t count, char text[TACIT_REPORT_COUNT_BYTES])
{
    (void)snprintf(text, TACIT_REPORT_COUNT_BYTES, "%s", report_grouped(count).text);
}

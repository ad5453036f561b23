/* Names that people take for one: they differ in the case of letters or in blanks only. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

struct folded {
    char *text;
    uint32_t index;
};

/* Blanks left out, ASCII letters and those of Latin-1 made small (in UTF-8: C3 80 to C3 9E). */
static void fold(const char *name, char *text)
{
    bool is_latin = false;
    for (; *name != '\0'; name++) {
        unsigned char const byte = (unsigned char)*name;
        bool const is_blank = byte == ' ' || byte == '\t';
        bool const is_capital = (byte >= 'A' && byte <= 'Z') ||
                                (is_latin && byte >= 0x80 && byte <= 0x9E && byte != 0x97);
        is_latin = byte == 0xC3;
        if (!is_blank)
            *text++ = (char)(is_capital ? byte + 0x20 : byte);
    }
    *text = '\0';
}

static int compare(const void *left, const void *right)
{
    struct folded const *const a = left;
    struct folded const *const b = right;
    int const order = strcmp(a->text, b->text);
    return order != 0 ? order : a->index < b->index ? -1 : 1;
}

bool tacit_names_alike(const char *const *names, uint32_t count, uint32_t pair[2])
{
    size_t bytes = 0;
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    struct folded *const folded = calloc(count + (size_t)1, sizeof *folded);
    char *const texts = malloc(bytes + 1);
    char *next = texts;
    bool const has_memory = folded != NULL && texts != NULL;
    for (uint32_t i = 0; i < count && has_memory; i++) {
        folded[i] = (struct folded){next, i};
        fold(names[i], next);
        next += strlen(names[i]) + 1;
    }
    if (has_memory)
        qsort(folded, count, sizeof *folded, compare);
    for (uint32_t i = 1; i < count && has_memory && !found; i++) {
        found = strcmp(folded[i - 1].text, folded[i].text) == 0;
        pair[0] = folded[i - 1].index;
        pair[1] = folded[i].index;
    }
    free(folded);
    free(texts);
    return found;
}

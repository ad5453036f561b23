/* Typed values from nodes, with errors that say what is allowed. */
#include "reader.h"
#include "say.h"
#include "tacit/config.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void config_reader_fail(struct config_reader *reader, const struct config_node *node,
                        const char *key, const char *format, ...)
{
    TACIT_ASSERT(format != NULL);
    if (reader->status != TACIT_OK)
        return;
    char what[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    struct config_place const place = config_document_place(reader->document, node);
    config_say(reader->error, "%s: %s%s%s", place.text, key == NULL ? "" : key,
               key == NULL ? "" : ": ", what);
    reader->status = TACIT_INVALID;
}

/* ---- Nearest key ---- */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace) that turn one word into the other; long words count as far. */
static size_t edit_distance(const char *from, const char *to)
{
    TACIT_ASSERT(from != NULL);
    TACIT_ASSERT(to != NULL);
    size_t row[64];
    size_t const width = strlen(to);
    if (width >= 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; from[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t const replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[width];
}

const char *tacit_config_nearest(const char *word, const char *const *keys)
{
    TACIT_ASSERT(keys != NULL);
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;
    for (; *keys != NULL; keys++) {
        bool const is_start = *word != '\0' && strncmp(word, *keys, strlen(word)) == 0;
        size_t const distance = is_start ? 1 : edit_distance(word, *keys);
        if (distance < best_distance) {
            best = *keys;
            best_distance = distance;
        }
    }
    return best_distance <= 1 + strlen(word) / 2 ? best : NULL;
}

static void list_words(const char *const *words, char *list, size_t capacity)
{
    TACIT_ASSERT(capacity > 0);
    size_t used = 0;
    list[0] = '\0';
    for (size_t i = 0; words[i] != NULL && used < capacity; i++)
        used +=
            (size_t)snprintf(list + used, capacity - used, "%s%s", i == 0 ? "" : ", ", words[i]);
}

/* The full name of a key that stands in a section of the document: "privacy.epsilon" for "epsilon".
 */
static bool full_name(const struct config_reader *reader, const char *key, char *name, size_t size)
{
    TACIT_ASSERT(size > 0);
    const struct config_node *const root = config_document_root(reader->document);
    for (const struct config_node *node = root->first; node != NULL; node = node->next)
        if (node->kind == CONFIG_MAP && config_node_member(node, key) != NULL) {
            (void)snprintf(name, size, "%.60s.%.80s", node->key, key);
            return true;
        }
    return false;
}

void config_reader_keys(struct config_reader *reader, const struct config_node *map,
                        const char *prefix, const char *const *keys)
{
    TACIT_ASSERT(prefix != NULL);
    TACIT_ASSERT(keys != NULL);
    char list[300];
    for (const struct config_node *node = map->first; node != NULL; node = node->next) {
        size_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], node->key) != 0)
            i++;
        if (keys[i] != NULL)
            continue;
        char name[160];
        (void)snprintf(name, sizeof name, "%.60s%s%.80s", prefix, *prefix == '\0' ? "" : ".",
                       node->key);
        char full[160];
        char const *const guess = *prefix == '\0' && full_name(reader, node->key, full, sizeof full)
                                      ? full
                                      : tacit_config_nearest(node->key, keys);
        list_words(keys, list, sizeof list);
        if (guess != NULL)
            config_reader_fail(reader, node, name, "unknown key; did you mean '%s'? (allowed: %s)",
                               guess, list);
        else
            config_reader_fail(reader, node, name, "unknown key; allowed: %s", list);
        return;
    }
}

/* ---- Finding ---- */

/* The last part of a dotted key. */
static const char *leaf(const char *key)
{
    TACIT_ASSERT(*key != '\0');
    char const *const dot = strrchr(key, '.');
    return dot == NULL ? key : dot + 1;
}

static const struct config_node *find(struct config_reader *reader, const struct config_node *map,
                                      const char *key, bool is_required)
{
    TACIT_ASSERT(key != NULL);
    if (reader->status != TACIT_OK)
        return NULL;
    TACIT_ASSERT(map != NULL); /* after an error there may be none */
    struct config_node const *const node = config_node_member(map, leaf(key));
    if (node == NULL && is_required)
        config_reader_fail(reader, map, key, "missing; it must be given");
    return node;
}

static bool is_scalar(struct config_reader *reader, const struct config_node *node, const char *key,
                      const char *wanted)
{
    TACIT_ASSERT(node != NULL);
    TACIT_ASSERT(wanted != NULL);
    if (node->kind == CONFIG_SCALAR && (*node->text != '\0' || !node->is_plain))
        return true;
    config_reader_fail(reader, node, key, "%s; %s is expected",
                       node->kind == CONFIG_SCALAR ? "no value"
                       : node->kind == CONFIG_LIST ? "a list"
                                                   : "a map",
                       wanted);
    return false;
}

/* A word where a map stands is its kind, in the sections that have one. */
static void refuse_map(struct config_reader *reader, const struct config_node *node,
                       const char *key)
{
    static const char *const sections[] = {"network", "protocol", "environment"};
    bool has_kind = false;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        has_kind = has_kind || strcmp(key, sections[i]) == 0;
    if (has_kind && node->kind == CONFIG_SCALAR && *node->text != '\0')
        config_reader_fail(reader, node, key,
                           "'%.60s' is a word, and a map of keys is expected, like {kind: %.60s}",
                           node->text, node->text);
    else
        config_reader_fail(reader, node, key, "a map of keys is expected, like {key: value}");
}

const struct config_node *config_reader_map(struct config_reader *reader,
                                            const struct config_node *map, const char *key,
                                            bool is_required)
{
    struct config_node const *const node = find(reader, map, key, is_required);
    if (node == NULL || node->kind == CONFIG_MAP)
        return node;
    refuse_map(reader, node, key);
    return NULL;
}

/* ---- Scalars ---- */

void config_reader_text(struct config_reader *reader, const struct config_node *map,
                        const char *key, bool is_required, const char **value)
{
    TACIT_ASSERT(value != NULL);
    struct config_node const *const node = find(reader, map, key, is_required);
    if (node != NULL && is_scalar(reader, node, key, "a text"))
        *value = node->text;
}

static bool is_infinity(const char *text)
{
    return strcmp(text, "inf") == 0 || strcmp(text, ".inf") == 0 || strcmp(text, "+.inf") == 0;
}

/* A decimal number and nothing else: no hexadecimal, no "infinity", no "nan", no spaces. */
static bool parse_decimal(const char *text, double *value)
{
    TACIT_ASSERT(text != NULL);
    if (*text == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return *end == '\0' && end != text && isfinite(*value);
}

void config_range_text(struct config_range range, char *text, size_t capacity)
{
    TACIT_ASSERT(capacity > 0);
    char const *const to = range.max_is_open   ? (range.min_is_open ? " and below " : " to below ")
                           : range.min_is_open ? " and up to "
                                               : " to ";
    (void)snprintf(text, capacity, "a number %s %.12g%s%.12g%s",
                   range.min_is_open ? "above" : "from", range.min, to, range.max,
                   range.infinity_is_allowed ? ", or inf" : "");
}

bool config_reader_real(struct config_reader *reader, const struct config_node *node,
                        const char *key, struct config_range range, double *value)
{
    TACIT_ASSERT(key != NULL);
    TACIT_ASSERT(range.min <= range.max);
    TACIT_ASSERT(value != NULL);
    char allowed[120];
    double number;
    config_range_text(range, allowed, sizeof allowed);
    if (reader->status != TACIT_OK || !is_scalar(reader, node, key, allowed))
        return false;
    if (range.infinity_is_allowed && is_infinity(node->text)) {
        *value = INFINITY;
        return true;
    }
    bool const is_above = parse_decimal(node->text, &number) &&
                          (range.min_is_open ? number > range.min : number >= range.min);
    if (!is_above || !(range.max_is_open ? number < range.max : number <= range.max)) {
        config_reader_fail(reader, node, key, "'%.60s' is not allowed; allowed: %s", node->text,
                           allowed);
        return false;
    }
    *value = number;
    return true;
}

void config_reader_number(struct config_reader *reader, const struct config_node *map,
                          const char *key, bool is_required, struct config_range range,
                          double *value)
{
    struct config_node const *const node = find(reader, map, key, is_required);
    if (node != NULL)
        (void)config_reader_real(reader, node, key, range, value);
}

/* Digits, or a decimal that is whole, like 1e6. */
static bool parse_whole(const char *text, uint64_t *value)
{
    if (*text != '\0' && text[strspn(text, "0123456789")] == '\0') {
        char *end;
        errno = 0;
        *value = strtoull(text, &end, 10);
        return errno == 0 && *end == '\0';
    }
    double number;
    if (!parse_decimal(text, &number) || !(number >= 0 && number <= 9007199254740992.0) ||
        floor(number) < number)
        return false;
    *value = (uint64_t)number;
    return true;
}

bool config_reader_whole(struct config_reader *reader, const struct config_node *node,
                         const char *key, uint64_t min, uint64_t max, uint64_t *value)
{
    TACIT_ASSERT(key != NULL && value != NULL);
    TACIT_ASSERT(min <= max);
    char allowed[100];
    uint64_t number;
    (void)snprintf(allowed, sizeof allowed, "a whole number from %llu to %llu",
                   (unsigned long long)min, (unsigned long long)max);
    if (reader->status != TACIT_OK || !is_scalar(reader, node, key, allowed))
        return false;
    if (!parse_whole(node->text, &number) || number < min || number > max) {
        config_reader_fail(reader, node, key, "'%.60s' is not allowed; allowed: %s", node->text,
                           allowed);
        return false;
    }
    *value = number;
    return true;
}

void config_reader_u64(struct config_reader *reader, const struct config_node *map, const char *key,
                       bool is_required, uint64_t min, uint64_t max, uint64_t *value)
{
    struct config_node const *const node = find(reader, map, key, is_required);
    if (node != NULL)
        (void)config_reader_whole(reader, node, key, min, max, value);
}

void config_reader_u32(struct config_reader *reader, const struct config_node *map, const char *key,
                       bool is_required, uint32_t min, uint32_t max, uint32_t *value)
{
    TACIT_ASSERT(value != NULL);
    uint64_t wide = *value;
    config_reader_u64(reader, map, key, is_required, min, max, &wide);
    *value = (uint32_t)wide;
}

void config_choices_text(const struct config_choice *choices, char *list, size_t size)
{
    size_t used = 0;
    TACIT_ASSERT(size > 0);
    list[0] = '\0';
    for (const struct config_choice *choice = choices; choice->name != NULL && used < size;
         choice++)
        used +=
            (size_t)snprintf(list + used, size - used, "%s%s", used == 0 ? "" : ", ", choice->name);
}

void config_reader_choice(struct config_reader *reader, const struct config_node *map,
                          const char *key, bool is_required, const struct config_choice *choices,
                          int *value)
{
    TACIT_ASSERT(choices != NULL);
    TACIT_ASSERT(choices[0].name != NULL);
    char list[300];
    char one_of[320];
    struct config_node const *const node = find(reader, map, key, is_required);
    config_choices_text(choices, list, sizeof list);
    (void)snprintf(one_of, sizeof one_of, "one word of %s", list);
    if (node == NULL || !is_scalar(reader, node, key, one_of))
        return;
    for (const struct config_choice *choice = choices; choice->name != NULL; choice++) {
        if (strcmp(choice->name, node->text) == 0) {
            *value = choice->value;
            return;
        }
    }
    config_reader_fail(reader, node, key, "'%.60s' is not known here; allowed: %s", node->text,
                       list);
}

/* ---- Tables of keys ---- */

#define KEYS_MAX 40u

static void read_key(struct config_reader *reader, const struct config_node *map, const char *name,
                     const struct config_key *key, void *value)
{
    bool const is_needed = key->absent == NULL;
    int choice;
    switch (key->type) {
    case CONFIG_OTHER:
        break;
    case CONFIG_U32:
        config_reader_u32(reader, map, name, is_needed, (uint32_t)key->least, (uint32_t)key->most,
                          value);
        break;
    case CONFIG_U64:
        config_reader_u64(reader, map, name, is_needed, key->least, key->most, value);
        break;
    case CONFIG_REAL:
        config_reader_number(reader, map, name, is_needed, key->range, value);
        break;
    case CONFIG_TEXT:
        config_reader_text(reader, map, name, is_needed, value);
        break;
    case CONFIG_WORD:
        config_reader_choice(reader, map, name, is_needed, key->choices, value);
        break;
    case CONFIG_FLAG:
        choice = *(bool *)value ? 1 : 0;
        config_reader_choice(reader, map, name, is_needed, key->choices, &choice);
        *(bool *)value = choice != 0;
        break;
    }
}

void config_reader_known(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys,
                         const struct config_key *more)
{
    const char *names[KEYS_MAX + 1] = {NULL};
    size_t count = 0;
    for (; keys->name != NULL; keys++) {
        TACIT_ASSERT(count < KEYS_MAX);
        names[count++] = keys->name;
    }
    for (; more != NULL && more->name != NULL; more++) {
        TACIT_ASSERT(count < KEYS_MAX);
        names[count++] = more->name;
    }
    config_reader_keys(reader, map, section, names);
}

/* Is its absence a value, not words about one? */
static bool has_default(const struct config_key *key)
{
    return key->absent != NULL && *key->absent != '\0' && *key->absent != '(';
}

void config_reader_values(struct config_reader *reader, const struct config_node *map,
                          const char *section, const struct config_key *keys, void *values)
{
    static const struct config_node nothing = {.kind = CONFIG_MAP};
    map = map == NULL ? &nothing : map;
    for (const struct config_key *key = keys; key->name != NULL; key++) {
        char name[100];
        struct config_node scalar = {.kind = CONFIG_SCALAR, .key = key->name, .text = key->absent};
        struct config_node const by_default = {.kind = CONFIG_MAP, .first = &scalar};
        bool const is_default = reader->status == TACIT_OK && has_default(key) &&
                                config_node_member(map, key->name) == NULL;
        (void)snprintf(name, sizeof name, "%.60s%s%.36s", section, *section == '\0' ? "" : ".",
                       key->name);
        read_key(reader, is_default ? &by_default : map, name, key, (char *)values + key->offset);
        TACIT_ASSERT(!is_default || reader->status == TACIT_OK);
    }
}

void config_reader_table(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys, void *values)
{
    if (map != NULL)
        config_reader_known(reader, map, section, keys, NULL);
    config_reader_values(reader, map, section, keys, values);
}

const struct config_key *config_section_at(const struct config_section *sections, const char *path)
{
    for (; sections != NULL && sections->path != NULL; sections++)
        if (strcmp(sections->path, path) == 0)
            return sections->keys;
    return NULL;
}

void *config_reader_memory(struct config_reader *reader, size_t size)
{
    void *const memory = config_document_allocate(reader->document, size);
    if (memory == NULL)
        reader->status = TACIT_MEMORY;
    else
        memset(memory, 0, size);
    return memory;
}

void config_reader_idle(struct config_reader *reader, const struct config_node *map,
                        const char *key, bool is_idle, const char *text)
{
    struct config_node const *const node = config_node_member(map, leaf(key));
    if (node != NULL && is_idle)
        config_reader_fail(reader, node, key, "%s", text);
}

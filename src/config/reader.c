/* Typed values from nodes, with errors that say what is allowed. */
#include "reader.h"
#include "error.h"
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
    struct config_location const place = config_document_location(reader->document, node);
    config_set_error(reader->error, "%s: %s%s%s", place.text, key == NULL ? "" : key,
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
 * False: it stands in none. */
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

const char *config_leaf(const char *key)
{
    TACIT_ASSERT(*key != '\0');
    char const *const dot = strrchr(key, '.');
    return dot == NULL ? key : dot + 1;
}

/* The member that a dotted key ends with. NULL: it is not there, or the reader has failed. */
static const struct config_node *find(struct config_reader *reader, const struct config_node *map,
                                      const char *key, bool is_required)
{
    TACIT_ASSERT(key != NULL);
    if (reader->status != TACIT_OK)
        return NULL;
    TACIT_ASSERT(map != NULL); /* after an error there may be none */
    struct config_node const *const node = config_node_member(map, config_leaf(key));
    if (node == NULL && is_required)
        config_reader_fail(reader, map, key, "missing; it must be given");
    return node;
}

/* False: it is no scalar, or an empty one, and the reader has failed; `wanted`: what is expected.
 */
static bool require_scalar(struct config_reader *reader, const struct config_node *node,
                           const char *key, const char *wanted)
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
    if (node != NULL && require_scalar(reader, node, key, "a text"))
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
    if (reader->status != TACIT_OK || !require_scalar(reader, node, key, allowed))
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
    if (reader->status != TACIT_OK || !require_scalar(reader, node, key, allowed))
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
    if (node == NULL || !require_scalar(reader, node, key, one_of))
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

const struct config_choice config_no_yes[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};
const struct config_choice config_false_true[] = {{"false", 0}, {"true", 1}, {NULL, 0}};

/* A text of a form of its own. */
static void read_fitting(struct config_reader *reader, const struct config_node *map,
                         const char *name, const struct config_key *key, const char **value)
{
    const char *text = NULL;
    config_reader_text(reader, map, name, key->absent == NULL, &text);
    if (reader->status == TACIT_OK && text != NULL && key->fits != NULL && !key->fits(text))
        config_reader_fail(reader, config_node_member(map, config_leaf(name)), name,
                           "'%.80s' is not allowed; allowed: %s", text, key->form);
    *value = text == NULL ? *value : text;
}

static void read_path(struct config_reader *reader, const struct config_node *map, const char *key,
                      bool is_required, const char **path)
{
    char const *name = NULL;
    config_reader_text(reader, map, key, is_required, &name);
    if (reader->status != TACIT_OK || name == NULL)
        return;
    if (*name == '\0') {
        config_reader_fail(reader, config_node_member(map, config_leaf(key)), key,
                           "no value; the path of a file is expected");
        return;
    }
    char *const found = tacit_config_path(reader->document, name);
    char *const kept = found == NULL ? NULL : config_reader_memory(reader, strlen(found) + 1);
    if (kept != NULL)
        memcpy(kept, found, strlen(found) + 1);
    reader->status = kept == NULL ? TACIT_MEMORY : reader->status;
    *path = kept;
    free(found);
}

void config_reader_pair(struct config_reader *reader, const struct config_node *map,
                        const char *key, bool is_band, const char *what, double *lo, double *hi)
{
    TACIT_ASSERT(lo != NULL && hi != NULL);
    double const limit = is_band ? 1e15 : 1e9;
    struct config_range const low = CONFIG_FROM(-limit, limit);
    struct config_range const high = {-limit, limit, false, is_band, false};
    struct config_node const *const pair = config_node_member(map, config_leaf(key));
    if (pair == NULL || pair->kind != CONFIG_LIST || pair->first == NULL ||
        pair->first->next == NULL || pair->first->next->next != NULL) {
        config_reader_fail(reader, pair == NULL ? map : pair, key, "%stwo numbers are expected: %s",
                           pair == NULL ? "missing; " : "", what);
        return;
    }
    (void)config_reader_real(reader, pair->first, key, low, lo);
    (void)config_reader_real(reader, pair->first->next, key, high, hi);
    if (reader->status == TACIT_OK && !(is_band ? *lo <= *hi : *lo < *hi))
        config_reader_fail(reader, pair, key,
                           "%.12g is not below %.12g; allowed: the smaller first", *lo, *hi);
}

/* ---- Lists of names ---- */

static int compare_nodes(const void *left, const void *right)
{
    struct config_node const *const a = *(const struct config_node *const *)left;
    struct config_node const *const b = *(const struct config_node *const *)right;
    int const order = strcmp(a->text, b->text);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* Cost: O(count log count). */
static void check_different(struct config_reader *reader, const struct config_node *list,
                            const char *key, uint32_t count)
{
    const struct config_node **const sorted = config_reader_memory(reader, count * sizeof *sorted);
    uint32_t i = 0;
    for (const struct config_node *node = list->first; sorted != NULL && node != NULL;
         node = node->next)
        sorted[i++] = node;
    if (i > 0)
        qsort(sorted, count, sizeof(const struct config_node *), compare_nodes);
    for (i = 1; sorted != NULL && i < count; i++)
        if (strcmp(sorted[i - 1]->text, sorted[i]->text) == 0)
            config_reader_fail(reader, sorted[i], key, "'%.64s' stands here twice; allowed: once",
                               sorted[i]->text);
}

const char **config_reader_names(struct config_reader *reader, const struct config_node *map,
                                 const char *key, uint32_t least, uint32_t most,
                                 bool (*fits)(const char *), const char *form, uint32_t *count)
{
    struct config_node const *const list = config_node_member(map, config_leaf(key));
    TACIT_ASSERT(least <= most);
    *count = 0;
    if (reader->status != TACIT_OK)
        return NULL;
    if (list == NULL || list->kind != CONFIG_LIST) {
        config_reader_fail(reader, list == NULL ? map : list, key,
                           "%sa list of %u to %u names is expected, like [north, south]",
                           list == NULL ? "missing; " : "", least, most);
        return NULL;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next, ++*count)
        if (node->kind != CONFIG_SCALAR || (fits != NULL && !fits(node->text)))
            config_reader_fail(reader, node, key, "'%.80s' is not allowed; allowed: %s",
                               node->kind == CONFIG_SCALAR ? node->text : "a list or map", form);
    if (*count < least || *count > most)
        config_reader_fail(reader, list, key, "%u names; allowed: %u to %u", *count, least, most);
    if (reader->status == TACIT_OK)
        check_different(reader, list, key, *count);
    const char **const names =
        reader->status == TACIT_OK
            ? config_reader_memory(reader, (*count + (size_t)1) * sizeof *names)
            : NULL;
    uint32_t i = 0;
    for (const struct config_node *node = list->first; names != NULL && node != NULL;
         node = node->next)
        names[i++] = node->text;
    return names;
}

void *config_reader_list(struct config_reader *reader, const struct config_node *map,
                         const char *key, const char *example, uint32_t most, size_t size,
                         uint32_t *count)
{
    struct config_node const *const list = config_node_member(map, config_leaf(key));
    *count = 0;
    TACIT_ASSERT(size > 0);
    if (reader->status != TACIT_OK)
        return NULL;
    for (const struct config_node *item = list == NULL ? NULL : list->first; item != NULL;
         item = item->next, ++*count)
        if (item->kind != CONFIG_MAP && list->kind == CONFIG_LIST)
            config_reader_fail(reader, item, key, "a map is expected, like %s", example);
    if (list == NULL || list->kind != CONFIG_LIST || *count < 1 || *count > most)
        config_reader_fail(reader, list == NULL ? map : list, key,
                           "%sa list of 1 to %u is expected, like [%s]",
                           list == NULL ? "missing; " : "", most, example);
    return reader->status == TACIT_OK ? config_reader_memory(reader, *count * size) : NULL;
}

/* ---- By dotted names ---- */

/* The node of a dotted key, in which a number is a place in a list, or the nearest around it, where
 * *rest is then what is not there. */
static const struct config_node *nearest_node(const struct config_document *document,
                                              const char *key, const char **rest)
{
    struct config_node const *node = config_document_root(document);
    for (*rest = key; **rest != '\0';) {
        char name[64];
        size_t const length = strcspn(*rest, ".");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, *rest);
        char *end;
        unsigned long place = strtoul(name, &end, 10);
        bool const is_place = node->kind == CONFIG_LIST && end != name && *end == '\0';
        struct config_node const *inner = is_place ? node->first
                                          : node->kind == CONFIG_MAP
                                              ? config_node_member(node, name)
                                              : NULL;
        while (is_place && inner != NULL && place-- > 0)
            inner = inner->next;
        if (inner == NULL)
            break;
        node = inner;
        *rest += length + ((*rest)[length] == '.' ? 1 : 0);
    }
    return node;
}

const struct config_node *config_reader_find(const struct config_reader *reader, const char *key)
{
    const char *rest;
    struct config_node const *const node = nearest_node(reader->document, key, &rest);
    return *rest == '\0' ? node : NULL;
}

void config_reader_refuse(struct config_reader *reader, const char *key, const char *format, ...)
{
    char what[1024];
    const char *rest;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    config_reader_fail(reader, nearest_node(reader->document, key, &rest), key, "%s", what);
}

void config_reader_need(struct config_reader *reader, const char *key)
{
    if (reader->status == TACIT_OK && config_reader_find(reader, key) == NULL)
        config_reader_refuse(reader, key, "missing; it must be given");
}

void tacit_config_error(const struct config_document *document, const char *key, const char *text,
                        struct tacit_error *error)
{
    const char *rest;
    struct config_location const place =
        config_document_location(document, nearest_node(document, key, &rest));
    config_set_error(error, "%s: %s: %.500s", place.text, key, text);
}

/* ---- Tables of keys ---- */

#define KEYS_MAX 40u

static void read_values(struct config_reader *reader, const struct config_node *map,
                        const char *section, const struct config_key *keys, bool is_there,
                        void *values);

static void read_part(struct config_reader *reader, const struct config_node *map, const char *name,
                      const struct config_key *key, void *values)
{
    struct config_node const *const inner =
        config_reader_map(reader, map, name, key->absent == NULL);
    if (inner != NULL)
        config_reader_known(reader, inner, name, key->inner);
    read_values(reader, inner, name, key->inner, inner != NULL, values);
}

/* value: of the key's member, in the struct that `values` is. */
static void read_key(struct config_reader *reader, const struct config_node *map, const char *name,
                     const struct config_key *key, void *values)
{
    bool const is_needed = key->absent == NULL;
    void *const value = (char *)values + key->offset;
    uint32_t number = 0;
    int choice;
    switch (key->type) {
    case CONFIG_OTHER:
        break;
    case CONFIG_U16:
        number = *(uint16_t *)value;
        config_reader_u32(reader, map, name, is_needed, (uint32_t)key->least, (uint32_t)key->most,
                          &number);
        *(uint16_t *)value = (uint16_t)number;
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
        read_fitting(reader, map, name, key, value);
        break;
    case CONFIG_PATH:
        read_path(reader, map, name, is_needed, value);
        break;
    case CONFIG_NAMES:
        if (is_needed || config_node_member(map, key->name) != NULL)
            *(const char ***)value = config_reader_names(
                reader, map, name, (uint32_t)key->least, (uint32_t)key->most, key->fits, key->form,
                (uint32_t *)(void *)((char *)values + key->count));
        break;
    case CONFIG_PART:
        read_part(reader, map, name, key, value);
        break;
    case CONFIG_ENUM:
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
                         const char *section, const struct config_key *keys)
{
    const char *names[KEYS_MAX + 1] = {NULL};
    const struct config_key *more = config_section_at(reader->more, section);
    size_t count = 0;
    for (const struct config_key *key = keys; key->name != NULL; key++) {
        TACIT_ASSERT(count < KEYS_MAX);
        names[count++] = key->name;
    }
    for (more = more == keys ? NULL : more; more != NULL && more->name != NULL; more++) {
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

/* A key that is left out is read from its default. Where the section is not there, only those are.
 */
static void read_values(struct config_reader *reader, const struct config_node *map,
                        const char *section, const struct config_key *keys, bool is_there,
                        void *values)
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
        if (is_there || is_default)
            read_key(reader, is_default ? &by_default : map, name, key, values);
        TACIT_ASSERT(!is_default || reader->status == TACIT_OK);
    }
}

void config_reader_values(struct config_reader *reader, const struct config_node *map,
                          const char *section, const struct config_key *keys, void *values)
{
    read_values(reader, map, section, keys, true, values);
}

void config_reader_table(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys, void *values)
{
    if (map != NULL)
        config_reader_known(reader, map, section, keys);
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
    struct config_node const *const node = config_node_member(map, config_leaf(key));
    if (node != NULL && is_idle)
        config_reader_fail(reader, node, key, "%s", text);
}

/* ---- Files ---- */

enum tacit_status config_file_load(void **file, size_t size, const char *path,
                                   const char *const *settings, uint32_t set_count,
                                   void (*read)(struct config_reader *reader, const void *families,
                                                void *file),
                                   const void *families, struct tacit_error *error)
{
    TACIT_ASSERT(size >= sizeof(struct config_document *));
    struct config_document **const made = calloc(1, size);
    error->text[0] = '\0';
    if (made == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = config_document_read(made, path, error);
    for (uint32_t i = 0; i < set_count && status == TACIT_OK; i++)
        status = config_document_set(*made, settings[i], error);
    if (status == TACIT_OK) {
        struct config_reader reader = {*made, error, TACIT_OK, NULL};
        read(&reader, families, made);
        status = reader.status;
    }
    if (status == TACIT_OK)
        *file = made;
    else
        config_file_free(made);
    return status;
}

void config_file_free(void *file)
{
    struct config_document **const made = file;
    if (made != NULL)
        config_document_free(*made);
    free(made);
}

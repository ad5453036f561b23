/* The keys of the experiment file in words, in Markdown and as a JSON schema, and the metrics in
 * words, from the tables that are used. */
#include "keys.h"
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../config/reader.h"
#include "tacit/family.h"

#define PATH_BYTES 128u
#define ALLOWED_BYTES 320u

/* ---- What may stand there ---------------------------------------------------------------------
 */

static bool has_range(const struct config_key *key)
{
    return key->type == CONFIG_REAL || key->range.min < key->range.max;
}

static void allowed(const struct config_key *key, char text[ALLOWED_BYTES])
{
    if (key->choices != NULL)
        config_choices_text(key->choices, text, ALLOWED_BYTES);
    else if (key->type == CONFIG_U32 || key->type == CONFIG_U64)
        (void)snprintf(text, ALLOWED_BYTES,
                       key->most == UINT64_MAX ? "%" PRIu64 " to 2^64 - 1"
                                               : "%" PRIu64 " to %" PRIu64,
                       key->least, key->most);
    else if (has_range(key))
        config_range_text(key->range, text, ALLOWED_BYTES);
    else
        (void)snprintf(text, ALLOWED_BYTES, "%s", key->form == NULL ? "a text" : key->form);
}

/* What holds where the key is left out, a value between these marks; "" where there is nothing to
 * say. */
static void otherwise(const struct config_key *key, const char *mark, char text[ALLOWED_BYTES])
{
    char const *const absent = key->absent == NULL ? "(must be given)" : key->absent;
    int const length = (int)strlen(absent);
    if (*absent == '(')
        (void)snprintf(text, ALLOWED_BYTES, "%.*s", length - 2, absent + 1);
    else
        (void)snprintf(text, ALLOWED_BYTES, "%s%s%s", length == 0 ? "" : mark, absent,
                       length == 0 ? "" : mark);
}

/* ---- Words and Markdown -----------------------------------------------------------------------
 */

static void write_key(const struct config_key *key, enum keys_form form, FILE *out)
{
    char value[ALLOWED_BYTES];
    char without[ALLOWED_BYTES];
    allowed(key, value);
    otherwise(key, form == KEYS_MARKDOWN ? "`" : "", without);
    if (form == KEYS_MARKDOWN)
        (void)fprintf(out, "| `%s` | %s | %s | %s |\n", key->name, value, without, key->help);
    else
        (void)fprintf(out, "  %-18s %s%s%s%s%s\n", key->name, value,
                      key->absent == NULL || *without == '\0' ? "" : "; left out: ",
                      key->absent == NULL ? "; must be given" : without,
                      *key->help == '\0' ? "" : "\n                     ", key->help);
}

static void write_sections(const struct config_section *sections, enum keys_form form, FILE *out)
{
    for (; sections->path != NULL; sections++) {
        char const *const path = *sections->path == '\0' ? "the file" : sections->path;
        if (form == KEYS_MARKDOWN)
            (void)fprintf(
                out, "\n### %s\n\n| key | value | left out | meaning |\n|---|---|---|---|\n", path);
        else
            (void)fprintf(out, "\n%s:\n", path);
        for (const struct config_key *key = sections->keys; key->name != NULL; key++)
            write_key(key, form, out);
    }
}

static void write_tables(const char *protocol, enum keys_form form, FILE *out)
{
    char const *const format = form == KEYS_MARKDOWN ? "\n## %s\n" : "\n==== %s\n";
    (void)fprintf(out, format + 1, "all experiments");
    write_sections(tacit_config_sections, form, out);
    for (const struct tacit_config_family *const *family = tacit_family_files(); *family != NULL;
         family++)
        if (protocol == NULL || strcmp(protocol, (*family)->word) == 0) {
            (void)fprintf(out, format, (*family)->word);
            write_sections((*family)->keys, form, out);
        }
}

/* ---- The schema -------------------------------------------------------------------------------
 */

static json_t *object_schema(const struct tacit_config_family *family, const char *path);

/* A word as YAML may read it, too: no, off, 10. */
static void append_word(json_t *words, const char *word)
{
    json_array_append_new(words, json_string(word));
    if (strcmp(word, "no") == 0 || strcmp(word, "off") == 0)
        json_array_append_new(words, json_false());
    if (strcmp(word, "yes") == 0 || strcmp(word, "on") == 0)
        json_array_append_new(words, json_true());
    if (*word >= '0' && *word <= '9')
        json_array_append_new(words, json_integer(strtol(word, NULL, 10)));
}

static json_t *choice_schema(const struct config_choice *choices)
{
    json_t *const words = json_array();
    for (; choices->name != NULL; choices++)
        append_word(words, choices->name);
    return json_pack("{s:o}", "enum", words);
}

static json_t *range_schema(struct config_range range)
{
    json_t *const number = json_pack("{s:s}", "type", "number");
    json_object_set_new(number, range.min_is_open ? "exclusiveMinimum" : "minimum",
                        json_real(range.min));
    if (range.max < HUGE_VAL)
        json_object_set_new(number, range.max_is_open ? "exclusiveMaximum" : "maximum",
                            json_real(range.max));
    if (!range.infinity_is_allowed)
        return number;
    return json_pack("{s:[o,{s:[s,s,s]}]}", "anyOf", number, "enum", "inf", ".inf", "+.inf");
}

static json_t *whole_schema(const struct config_key *key)
{
    json_t *const number = json_pack("{s:s}", "type", "integer");
    json_object_set_new(number, "minimum", json_integer((json_int_t)key->least));
    if (key->most < INT64_MAX)
        json_object_set_new(number, "maximum", json_integer((json_int_t)key->most));
    return number;
}

/* A section of its own at the key's path, or a list of such; NULL: there is none. */
static json_t *inner_schema(const struct tacit_config_family *family, const char *path)
{
    char each[PATH_BYTES];
    (void)snprintf(each, sizeof each, "%.120s.N", path);
    json_t *const map = object_schema(family, path);
    json_t *const item = object_schema(family, each);
    json_t *const list =
        item == NULL ? NULL : json_pack("{s:s,s:o}", "type", "array", "items", item);
    return map == NULL ? list : map;
}

/* By its words: texts have no parts, and what is no map has no keys. */
static json_t *form_schema(const struct config_key *key)
{
    if (key->type == CONFIG_TEXT)
        return json_pack("{s:{s:[s,s]}}", "not", "type", "object", "array");
    return key->form == NULL || strstr(key->form, "map") != NULL
               ? json_object()
               : json_pack("{s:{s:s}}", "not", "type", "object");
}

static json_t *key_schema(const struct tacit_config_family *family, const char *path,
                          const struct config_key *key)
{
    char inner[PATH_BYTES];
    char value[ALLOWED_BYTES];
    (void)snprintf(inner, sizeof inner, "%.80s%s%.40s", path, *path == '\0' ? "" : ".", key->name);
    json_t *schema = inner_schema(family, inner);
    bool const is_section =
        schema != NULL && key->form != NULL && strncmp(key->form, "a map", 5) != 0;
    if (is_section) /* or what has no keys */
        schema =
            json_pack("{s:[o,{s:[s,s,s]}]}", "anyOf", schema, "type", "string", "number", "array");
    else if (schema == NULL)
        schema = key->choices != NULL                                 ? choice_schema(key->choices)
                 : key->type == CONFIG_U32 || key->type == CONFIG_U64 ? whole_schema(key)
                 : has_range(key)                                     ? range_schema(key->range)
                 : strcmp(key->name, "kind") == 0 && strcmp(path, "protocol") == 0
                     ? json_pack("{s:s}", "const", key->form)
                     : form_schema(key);
    allowed(key, value);
    json_object_set_new(schema, "description",
                        json_sprintf("%s%s%s", key->help, *key->help == '\0' ? "" : "; ", value));
    return schema;
}

static void add_keys(const struct tacit_config_family *family, const char *path,
                     const struct config_key *keys, json_t *properties, json_t *required)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        json_object_set_new(properties, keys->name, key_schema(family, path, keys));
        if (keys->absent == NULL)
            json_array_append_new(required, json_string(keys->name));
    }
}

/* The section at a path in a file of that family; NULL: there is none. */
static json_t *object_schema(const struct tacit_config_family *family, const char *path)
{
    bool const is_own = strcmp(path, "environment") == 0 && family->own_environments != NULL;
    struct config_key const *const ours =
        is_own ? NULL : config_section_at(tacit_config_sections, path);
    struct config_key const *const more = config_section_at(family->keys, path);
    json_t *const properties = json_object();
    json_t *const required = json_array();
    add_keys(family, path, ours, properties, required);
    add_keys(family, path, more, properties, required);
    json_t *const schema = json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties",
                                     properties, "required", required, "additionalProperties", 0);
    if (ours != NULL || more != NULL)
        return schema;
    json_decref(schema);
    return NULL;
}

/* Whose protocol is another one is not measured by this family's. */
static json_t *family_schema(const struct tacit_config_family *family)
{
    json_t *const kind = json_pack("{s:{s:{s:{s:{s:s}}}}}", "properties", "protocol", "properties",
                                   "kind", "const", family->word);
    return json_pack("{s:o,s:o}", "if", kind, "then", object_schema(family, ""));
}

static enum tacit_status write_schema(const char *protocol, FILE *out)
{
    json_t *const kinds = json_array();
    json_t *const all = json_array();
    for (const struct tacit_config_family *const *family = tacit_family_files(); *family != NULL;
         family++)
        if (protocol == NULL || strcmp(protocol, (*family)->word) == 0) {
            json_array_append_new(kinds, json_string((*family)->word));
            json_array_append_new(all, family_schema(*family));
        }
    json_t *const schema =
        json_pack("{s:s,s:s,s:s,s:[s],s:{s:{s:s,s:[s],s:{s:{s:o}}}},s:o}", "$schema",
                  "https://json-schema.org/draft/2020-12/schema", "title", "an experiment of tacit",
                  "type", "object", "required", "protocol", "properties", "protocol", "type",
                  "object", "required", "kind", "properties", "kind", "enum", kinds, "allOf", all);
    bool const is_written = schema != NULL && json_dumpf(schema, out, JSON_INDENT(1)) == 0;
    json_decref(schema);
    (void)fputc('\n', out);
    return is_written ? TACIT_OK : TACIT_MEMORY;
}

enum tacit_status keys_write(const char *protocol, enum keys_form form, FILE *out)
{
    TACIT_ASSERT(out != NULL);
    if (protocol != NULL && tacit_family_find(protocol) == NULL)
        return TACIT_INVALID;
    if (form == KEYS_SCHEMA)
        return write_schema(protocol, out);
    write_tables(protocol, form, out);
    return TACIT_OK;
}

/* ---- Metrics ----------------------------------------------------------------------------------
 */

static void write_metric(const char *name, const char *unit, const char *label, const char *note,
                         FILE *out)
{
    (void)fprintf(out, "  %-24s %s%s%s%s%s\n", name, label, note == NULL ? "" : ": ",
                  note == NULL ? "" : note, *unit == '\0' ? "" : "; in ", unit);
}

enum tacit_status keys_write_metrics(const char *protocol, FILE *out)
{
    TACIT_ASSERT(out != NULL);
    if (protocol != NULL && tacit_family_find(protocol) == NULL)
        return TACIT_INVALID;
    char const *separator = "";
    for (const struct tacit_family *const *one = tacit_families(); *one != NULL; one++) {
        if (protocol != NULL && strcmp(protocol, (*one)->file.word) != 0)
            continue;
        (void)fprintf(out, "%s==== %s\n", separator, (*one)->file.word);
        separator = "\n";
        for (const struct tacit_metric *metric = (*one)->metrics; metric->name != NULL; metric++)
            write_metric(metric->name, metric->unit, metric->label, metric->note, out);
        struct tacit_profile const *profile = (*one)->profiles;
        for (; profile != NULL && profile->name != NULL; profile++)
            write_metric(profile->name, profile->unit, profile->label, profile->note, out);
    }
    return TACIT_OK;
}

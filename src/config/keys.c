/* The keys of a file in words, in Markdown and as a JSON schema, from the tables that read them. */
#include "keys.h"
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reader.h"

#define PATH_BYTES 128u
#define ALLOWED_BYTES 320u

/* ---- What may stand there ---------------------------------------------------------------------
 */

static bool has_range(const struct config_key *key)
{
    return key->type == CONFIG_REAL || key->range.min < key->range.max;
}

static bool is_whole(const struct config_key *key)
{
    return key->type == CONFIG_U16 || key->type == CONFIG_U32 || key->type == CONFIG_U64;
}

static void write_allowed(const struct config_key *key, char text[ALLOWED_BYTES])
{
    if (key->choices != NULL)
        config_choices_text(key->choices, text, ALLOWED_BYTES);
    else if (key->inner != NULL)
        (void)snprintf(text, ALLOWED_BYTES, "a map");
    else if (key->type == CONFIG_NAMES)
        (void)snprintf(text, ALLOWED_BYTES, "a list of %" PRIu64 " to %" PRIu64 " names: %s",
                       key->least, key->most, key->form);
    else if (is_whole(key))
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
static void write_absent(const struct config_key *key, const char *mark, char text[ALLOWED_BYTES])
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
    write_allowed(key, value);
    write_absent(key, form == KEYS_MARKDOWN ? "`" : "", without);
    if (form == KEYS_MARKDOWN)
        (void)fprintf(out, "| `%s` | %s | %s | %s |\n", key->name, value, without, key->help);
    else
        (void)fprintf(out, "  %-18s %s%s%s%s%s\n", key->name, value,
                      key->absent == NULL || *without == '\0' ? "" : "; left out: ",
                      key->absent == NULL ? "; must be given" : without,
                      *key->help == '\0' ? "" : "\n                     ", key->help);
}

static void write_section(const char *path, const struct config_key *keys, enum keys_form form,
                          FILE *out)
{
    (void)fprintf(out,
                  form == KEYS_MARKDOWN
                      ? "\n### %s\n\n| key | value | left out | meaning |\n|---|---|---|---|\n"
                      : "\n%s:\n",
                  *path == '\0' ? "the file" : path);
    for (const struct config_key *key = keys; key->name != NULL; key++)
        write_key(key, form, out);
    for (const struct config_key *key = keys; key->name != NULL; key++)
        if (key->inner != NULL) {
            char inner[PATH_BYTES];
            (void)snprintf(inner, sizeof inner, "%.80s%s%.40s", path, *path == '\0' ? "" : ".",
                           key->name);
            write_section(inner, key->inner, form, out);
        }
}

static void write_sections(const struct config_section *sections, enum keys_form form, FILE *out)
{
    for (; sections != NULL && sections->path != NULL; sections++)
        write_section(sections->path, sections->keys, form, out);
}

static void write_tables(const struct keys_file *file, const char *protocol, enum keys_form form,
                         FILE *out)
{
    char const *const format = form == KEYS_MARKDOWN ? "\n## %s\n" : "\n==== %s\n";
    (void)fprintf(out, format + 1, file->title);
    write_sections(file->sections, form, out);
    for (const struct keys_kind *kind = file->kinds; kind->name != NULL; kind++)
        if (protocol == NULL || strcmp(protocol, kind->name) == 0) {
            (void)fprintf(out, format, kind->name);
            write_sections(kind->sections, form, out);
        }
}

/* ---- The schema -------------------------------------------------------------------------------
 */

/* A schema is a new reference, which whoever packs it into another takes over. What that of a
 * section needs: its file, and the protocol; NULL: files have none. */
struct scope {
    const struct keys_file *file;
    const struct keys_kind *kind;
};

static json_t *object_schema(const struct scope *scope, const char *path,
                             const struct config_key *keys);

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
static json_t *inner_schema(const struct scope *scope, const char *path,
                            const struct config_key *keys)
{
    char each[PATH_BYTES];
    (void)snprintf(each, sizeof each, "%.120s.N", path);
    json_t *const map = object_schema(scope, path, keys);
    json_t *const item = object_schema(scope, each, NULL);
    json_t *const list =
        item == NULL ? NULL : json_pack("{s:s,s:o}", "type", "array", "items", item);
    return map == NULL ? list : map;
}

/* By its words: texts have no parts, and what is no map has no keys. */
static json_t *form_schema(const struct config_key *key)
{
    if (key->type == CONFIG_NAMES)
        return json_pack("{s:s}", "type", "array");
    if (key->type == CONFIG_TEXT || key->type == CONFIG_PATH)
        return json_pack("{s:{s:[s,s]}}", "not", "type", "object", "array");
    return key->form == NULL || strstr(key->form, "map") != NULL
               ? json_object()
               : json_pack("{s:{s:s}}", "not", "type", "object");
}

static json_t *key_schema(const struct scope *scope, const char *path, const struct config_key *key)
{
    char inner[PATH_BYTES];
    char value[ALLOWED_BYTES];
    (void)snprintf(inner, sizeof inner, "%.80s%s%.40s", path, *path == '\0' ? "" : ".", key->name);
    json_t *schema = inner_schema(scope, inner, key->inner);
    bool const is_section =
        schema != NULL && key->form != NULL && strncmp(key->form, "a map", 5) != 0;
    if (is_section) /* or what has no keys */
        schema =
            json_pack("{s:[o,{s:[s,s,s]}]}", "anyOf", schema, "type", "string", "number", "array");
    else if (schema == NULL)
        schema = key->choices != NULL ? choice_schema(key->choices)
                 : is_whole(key)      ? whole_schema(key)
                 : has_range(key)     ? range_schema(key->range)
                 : strcmp(key->name, "kind") == 0 && strcmp(path, "protocol") == 0
                     ? json_pack("{s:s}", "const", key->form)
                     : form_schema(key);
    write_allowed(key, value);
    json_object_set_new(schema, "description",
                        json_sprintf("%s%s%s", key->help, *key->help == '\0' ? "" : "; ", value));
    return schema;
}

static void add_keys(const struct scope *scope, const char *path, const struct config_key *keys,
                     json_t *properties, json_t *required)
{
    for (; keys != NULL && keys->name != NULL; keys++) {
        json_object_set_new(properties, keys->name, key_schema(scope, path, keys));
        if (keys->absent == NULL)
            json_array_append_new(required, json_string(keys->name));
    }
}

/* The section at a path, with these keys unless it is one of the file's list; NULL: there is none.
 */
static json_t *object_schema(const struct scope *scope, const char *path,
                             const struct config_key *keys)
{
    struct keys_kind const *const kind = scope->kind;
    bool const is_own = kind != NULL && kind->has_environment && strcmp(path, "environment") == 0;
    if (keys == NULL && !is_own)
        keys = config_section_at(scope->file->sections, path);
    struct config_key const *const more =
        kind == NULL ? NULL : config_section_at(kind->sections, path);
    if (keys == NULL && more == NULL)
        return NULL;
    json_t *const properties = json_object();
    json_t *const required = json_array();
    add_keys(scope, path, keys, properties, required);
    add_keys(scope, path, more, properties, required);
    return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

/* Whose protocol is another one is not measured by this one's. */
static json_t *kind_schema(const struct scope *scope)
{
    char const *const word = scope->kind->name;
    bool const may_miss = scope->file->kind_is_name && scope->kind == scope->file->kinds;
    json_t *const is_it = scope->file->kind_is_name
                              ? json_pack("{s:{s:{s:s}}}", "properties", "protocol", "const", word)
                              : json_pack("{s:{s:{s:{s:{s:s}}}}}", "properties", "protocol",
                                          "properties", "kind", "const", word);
    if (!may_miss)
        json_object_set_new(is_it, "required", json_pack("[s]", "protocol"));
    return json_pack("{s:o,s:o}", "if", is_it, "then", object_schema(scope, "", NULL));
}

/* The protocol is one of these words. */
static json_t *protocol_schema(const struct keys_file *file, json_t *words)
{
    json_t *const kind = json_pack("{s:o}", "enum", words);
    if (file->kind_is_name)
        return kind;
    return json_pack("{s:s,s:[s],s:{s:o}}", "type", "object", "required", "kind", "properties",
                     "kind", kind);
}

static enum tacit_status write_schema(const struct keys_file *file, const char *protocol, FILE *out)
{
    json_t *const words = json_array();
    json_t *const all = json_array();
    struct scope scope = {file, file->kinds};
    for (; scope.kind->name != NULL; scope.kind++)
        if (protocol == NULL || strcmp(protocol, scope.kind->name) == 0) {
            json_array_append_new(words, json_string(scope.kind->name));
            json_array_append_new(all, kind_schema(&scope));
        }
    scope.kind = NULL;
    bool const has_kinds = json_array_size(all) > 0;
    json_t *const schema = has_kinds
                               ? json_pack("{s:s,s:{s:o},s:o}", "type", "object", "properties",
                                           "protocol", protocol_schema(file, words), "allOf", all)
                               : object_schema(&scope, "", NULL);
    if (!has_kinds) {
        json_decref(words);
        json_decref(all);
    }
    if (has_kinds && !file->kind_is_name)
        json_object_set_new(schema, "required", json_pack("[s]", "protocol"));
    json_object_set_new(schema, "$schema",
                        json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(schema, "title", json_sprintf("%s of tacit", file->title));
    bool const is_written = schema != NULL && json_dumpf(schema, out, JSON_INDENT(1)) == 0;
    json_decref(schema);
    (void)fputc('\n', out);
    return is_written ? TACIT_OK : ferror(out) != 0 ? TACIT_IO : TACIT_MEMORY;
}

enum tacit_status keys_write(const struct keys_file *file, const char *protocol,
                             enum keys_form form, FILE *out)
{
    TACIT_ASSERT(file != NULL && out != NULL);
    bool is_known = protocol == NULL;
    for (const struct keys_kind *kind = file->kinds; !is_known && kind->name != NULL; kind++)
        is_known = strcmp(protocol, kind->name) == 0;
    if (!is_known)
        return TACIT_INVALID;
    if (form == KEYS_SCHEMA)
        return write_schema(file, protocol, out);
    write_tables(file, protocol, form, out);
    return TACIT_OK;
}

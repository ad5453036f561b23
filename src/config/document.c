/* YAML to tree, by libyaml's document interface, which knows the line of every node. */
#include "document.h"
#include "error.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define DEPTH_MAX 16u
#define DEPTH_TEXT "nested too deeply; 16 levels are allowed"
#define NODES_MAX 100000u
#define KEYS_MAX 1000u /* in one map */

struct chunk {
    struct chunk *next;
    max_align_t memory[];
};

struct config_document {
    struct chunk *chunks;
    const char *path;
    struct config_node *root;
    uint32_t node_count;
};

/* ---- Memory ---- */

void *config_document_allocate(struct config_document *document, size_t size)
{
    struct chunk *const chunk = calloc(1, sizeof *chunk + size);
    if (chunk == NULL)
        return NULL;
    chunk->next = document->chunks;
    document->chunks = chunk;
    return chunk->memory;
}

static char *copy_text(struct config_document *document, const char *text, size_t length)
{
    char *const copy = config_document_allocate(document, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

void config_document_free(struct config_document *document)
{
    if (document == NULL)
        return;
    for (struct chunk *chunk = document->chunks; chunk != NULL;) {
        struct chunk *const next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(document);
}

/* ---- What is read, and what is wrong with it ---- */

/* The file, or the value of a setting. */
struct source {
    const char *path;
    const char *setting; /* "key=value", or NULL: the file */
    const char *bytes;
    size_t size;
};

static enum tacit_status refuse_at(const struct source *source, size_t line, const char *what,
                                   struct tacit_error *error)
{
    if (source->setting != NULL)
        config_set_error(error, "--set %.400s: %s", source->setting, what);
    else
        config_set_error(error, "%.400s:%zu: %s", source->path, line, what);
    return TACIT_INVALID;
}

static enum tacit_status out_of_memory(struct tacit_error *error)
{
    config_set_error(error, "out of memory");
    return TACIT_MEMORY;
}

/* ---- From libyaml's nodes to ours ---- */

struct conversion {
    struct config_document *document;
    yaml_document_t *yaml;
    const struct source *source;
    struct tacit_error *error;
};

/* A node and all below it, as the document's memory; *to is set although one below it fails. */
static enum tacit_status convert(const struct conversion *conversion, const yaml_node_t *from,
                                 uint32_t depth, struct config_node **to);

static enum tacit_status complain(const struct conversion *conversion, const yaml_node_t *at,
                                  const char *what)
{
    return refuse_at(conversion->source, at->start_mark.line + 1, what, conversion->error);
}

/* Settings have no lines. */
static uint32_t line_of(const struct conversion *conversion, const yaml_node_t *node)
{
    return conversion->source->setting == NULL ? (uint32_t)node->start_mark.line + 1 : 0;
}

static enum tacit_status convert_list(const struct conversion *conversion, const yaml_node_t *from,
                                      uint32_t depth, struct config_node *to)
{
    struct config_node **end = &to->first;
    to->kind = CONFIG_LIST;
    for (yaml_node_item_t *item = from->data.sequence.items.start;
         item < from->data.sequence.items.top; item++) {
        yaml_node_t const *const child = yaml_document_get_node(conversion->yaml, *item);
        TACIT_TRY(convert(conversion, child, depth + 1, end));
        end = &(*end)->next;
    }
    return TACIT_OK;
}

static enum tacit_status check_key(const struct conversion *conversion, const yaml_node_t *key,
                                   const struct config_node *map)
{
    if (key->type != YAML_SCALAR_NODE)
        return complain(conversion, key, "a key must be a word");
    char const *const name = (const char *)key->data.scalar.value;
    if (strlen(name) != key->data.scalar.length)
        return complain(conversion, key, "a key may not hold a NUL byte");
    if (config_node_member(map, name) == NULL)
        return TACIT_OK;
    char what[200];
    (void)snprintf(what, sizeof what, "%.100s: this key stands here twice; allowed: once", name);
    return complain(conversion, key, what);
}

static enum tacit_status convert_map(const struct conversion *conversion, const yaml_node_t *from,
                                     uint32_t depth, struct config_node *to)
{
    struct config_node **end = &to->first;
    to->kind = CONFIG_MAP;
    if (from->data.mapping.pairs.top - from->data.mapping.pairs.start > (ptrdiff_t)KEYS_MAX)
        return complain(conversion, from, "too many keys; 1000 are allowed in a map");
    for (yaml_node_pair_t *pair = from->data.mapping.pairs.start;
         pair < from->data.mapping.pairs.top; pair++) {
        yaml_node_t const *const key = yaml_document_get_node(conversion->yaml, pair->key);
        yaml_node_t const *const value = yaml_document_get_node(conversion->yaml, pair->value);
        TACIT_TRY(check_key(conversion, key, to));
        TACIT_TRY(convert(conversion, value, depth + 1, end));
        (*end)->key = copy_text(conversion->document, (const char *)key->data.scalar.value,
                                key->data.scalar.length);
        if ((*end)->key == NULL)
            return out_of_memory(conversion->error);
        (*end)->line = line_of(conversion, key);
        end = &(*end)->next;
    }
    return TACIT_OK;
}

static enum tacit_status convert_scalar(const struct conversion *conversion,
                                        const yaml_node_t *from, struct config_node *to)
{
    char const *const text = (const char *)from->data.scalar.value;
    size_t const length = from->data.scalar.length;
    if (strlen(text) != length)
        return complain(conversion, from, "a text may not hold a NUL byte");
    to->kind = CONFIG_SCALAR;
    to->is_plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    to->text = copy_text(conversion->document, text, length);
    return to->text == NULL ? out_of_memory(conversion->error) : TACIT_OK;
}

static enum tacit_status convert(const struct conversion *conversion, const yaml_node_t *from,
                                 uint32_t depth, struct config_node **to)
{
    struct config_document *const document = conversion->document;
    if (depth > DEPTH_MAX)
        return complain(conversion, from, DEPTH_TEXT);
    if (++document->node_count > NODES_MAX)
        return complain(conversion, from, "too large; 100000 values are allowed");
    struct config_node *const node = config_document_allocate(document, sizeof *node);
    if (node == NULL)
        return out_of_memory(conversion->error);
    node->line = line_of(conversion, from);
    *to = node;
    switch (from->type) {
    case YAML_SCALAR_NODE:
        return convert_scalar(conversion, from, node);
    case YAML_SEQUENCE_NODE:
        return convert_list(conversion, from, depth, node);
    case YAML_MAPPING_NODE:
        return convert_map(conversion, from, depth, node);
    case YAML_NO_NODE:
    default:
        return complain(conversion, from, "this is not YAML that tacit knows");
    }
}

/* ---- Reading ---- */

/* libyaml knows the line of what it cannot parse, but only the byte of what is not UTF-8. */
static size_t problem_line(const struct source *source, const yaml_parser_t *parser)
{
    if (parser->error != YAML_READER_ERROR)
        return parser->problem_mark.line + 1;
    size_t line = 1;
    for (size_t i = 0; i < parser->problem_offset && i < source->size; i++)
        line += source->bytes[i] == '\n' ? 1 : 0;
    return line;
}

static enum tacit_status report_syntax(const struct source *source, const yaml_parser_t *parser,
                                       struct tacit_error *error)
{
    char what[400];
    char const *const problem = parser->problem == NULL ? "cannot be read" : parser->problem;
    char const *const context = parser->context == NULL ? "" : parser->context;
    if (parser->error == YAML_MEMORY_ERROR)
        return out_of_memory(error);
    (void)snprintf(what, sizeof what, "not YAML in UTF-8: %s%s%s", context,
                   *context == '\0' ? "" : ": ", problem);
    return refuse_at(source, problem_line(source, parser), what, error);
}

/* How much deeper one is after the event. */
static int descent(const yaml_event_t *event)
{
    switch ((int)event->type) {
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return 1;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return -1;
    default:
        return 0;
    }
}

/* libyaml needs time that grows with the square of the depth, so what is too deep is not loaded at
 * all. Passes over other errors: loading finds them. */
static enum tacit_status check_depth(const struct source *source, struct tacit_error *error)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool is_over = false;
    int depth = 0;
    size_t line = 1;
    if (!yaml_parser_initialize(&parser))
        return out_of_memory(error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)source->bytes, source->size);
    while (!is_over && depth <= (int)DEPTH_MAX && yaml_parser_parse(&parser, &event)) {
        depth += descent(&event);
        line = event.start_mark.line + 1;
        is_over = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return depth <= (int)DEPTH_MAX ? TACIT_OK : refuse_at(source, line, DEPTH_TEXT, error);
}

/* Is the stream at its end? If not, where does the second document begin, or what is no YAML? */
static bool is_last(const struct source *source, yaml_parser_t *parser, size_t *line)
{
    yaml_document_t second;
    bool last = true;
    if (!yaml_parser_load(parser, &second)) {
        *line = problem_line(source, parser);
        return false;
    }
    yaml_node_t const *const root = yaml_document_get_root_node(&second);
    if (root != NULL) {
        *line = root->start_mark.line + 1;
        last = false;
    }
    yaml_document_delete(&second);
    return last;
}

/* Parses what the parser was given. */
static enum tacit_status parse(struct config_document *document, const struct source *source,
                               yaml_parser_t *parser, struct config_node **root,
                               struct tacit_error *error)
{
    yaml_document_t yaml;
    if (!yaml_parser_load(parser, &yaml))
        return report_syntax(source, parser, error);
    struct conversion const conversion = {document, &yaml, source, error};
    yaml_node_t const *const from = yaml_document_get_root_node(&yaml);
    size_t line = 0;
    enum tacit_status status =
        from == NULL ? refuse_at(source, 1,
                                 source->setting == NULL ? "empty; an experiment is expected"
                                                         : "empty; a value is expected",
                                 error)
                     : convert(&conversion, from, 1, root);
    if (status == TACIT_OK && !is_last(source, parser, &line))
        status =
            refuse_at(source, line, "something follows the end; one document is allowed", error);
    yaml_document_delete(&yaml);
    return status;
}

static enum tacit_status read_source(struct config_document *document, const struct source *source,
                                     struct config_node **root, struct tacit_error *error)
{
    yaml_parser_t parser;
    TACIT_TRY(check_depth(source, error));
    if (!yaml_parser_initialize(&parser))
        return out_of_memory(error);
    yaml_parser_set_input_string(&parser, (const unsigned char *)source->bytes, source->size);
    enum tacit_status status = parse(document, source, &parser, root, error);
    yaml_parser_delete(&parser);
    return status;
}

/* Fills `bytes`, which has room for one more than is allowed. */
static enum tacit_status read_bytes(const char *path, char *bytes, size_t *size,
                                    struct tacit_error *error)
{
    bool const is_input = strcmp(path, CONFIG_STANDARD_INPUT) == 0;
    FILE *const file = is_input ? stdin : fopen(path, "rb");
    if (file == NULL) {
        config_set_error(error, "%s: %s", path, strerror(errno));
        return TACIT_IO;
    }
    errno = 0;
    *size = fread(bytes, 1, FILE_BYTES_MAX + 1, file);
    enum tacit_status status = TACIT_OK;
    if (ferror(file)) {
        config_set_error(error, "%s: cannot be read: %s", path, strerror(errno));
        status = TACIT_IO;
    } else if (*size > FILE_BYTES_MAX) {
        config_set_error(error, "%s: too large; %zu bytes are allowed", path, FILE_BYTES_MAX);
        status = TACIT_INVALID;
    }
    if (!is_input)
        (void)fclose(file);
    return status;
}

static enum tacit_status read_file(struct config_document *document, struct tacit_error *error)
{
    char *const bytes = malloc(FILE_BYTES_MAX + 1);
    struct source source = {.path = document->path, .bytes = bytes};
    if (bytes == NULL)
        return out_of_memory(error);
    enum tacit_status status = read_bytes(document->path, bytes, &source.size, error);
    if (status == TACIT_OK)
        status = read_source(document, &source, &document->root, error);
    free(bytes);
    return status;
}

/* Is it called one, or is its first line what a table begins with, names with separators between
 * them? */
static bool is_table(const char *path)
{
    char line[1024] = "";
    char const *const dot = strrchr(path, '.');
    if (dot != NULL && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".tsv") == 0))
        return true;
    FILE *const file = strcmp(path, CONFIG_STANDARD_INPUT) == 0 ? NULL : fopen(path, "rb");
    if (file == NULL)
        return false;
    bool const has_line = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    return has_line && strpbrk(line, ",;\t") != NULL && strpbrk(line, ":{[#") == NULL;
}

enum tacit_status config_document_read(struct config_document **document, const char *path,
                                       struct tacit_error *error)
{
    struct config_document *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return out_of_memory(error);
    made->path = copy_text(made, path, strlen(path));
    enum tacit_status status = made->path == NULL ? out_of_memory(error) : read_file(made, error);
    if (is_table(path) &&
        (status == TACIT_INVALID || (status == TACIT_OK && made->root->kind != CONFIG_MAP))) {
        config_set_error(
            error,
            "%s: this is a table, and no experiment; an experiment is a file of its own "
            "(YAML) that names it: environment: {kind: logged, logged: {csv: ...}}",
            path);
        status = TACIT_INVALID;
    } else if (status == TACIT_OK && made->root->kind != CONFIG_MAP) {
        config_set_error(error, "%s:%u: an experiment is a map of keys", path, made->root->line);
        status = TACIT_INVALID;
    }
    if (status != TACIT_OK) {
        config_document_free(made);
        return status;
    }
    *document = made;
    return TACIT_OK;
}

/* ---- Settings ---- */

/* The member of `map` named by the first `length` bytes of `key`; an empty map if it is not there.
 * NULL: no memory. */
static struct config_node *reach(struct config_document *document, struct config_node *map,
                                 const char *key, size_t length)
{
    struct config_node **link = &map->first;
    for (; *link != NULL; link = &(*link)->next)
        if (strlen((*link)->key) == length && memcmp((*link)->key, key, length) == 0)
            return *link;
    struct config_node *const made = config_document_allocate(document, sizeof *made);
    if (made == NULL)
        return NULL;
    made->kind = CONFIG_MAP;
    made->key = copy_text(document, key, length);
    if (made->key == NULL)
        return NULL;
    *link = made;
    return made;
}

/* One of the marks that YAML gives a meaning of their own, and nothing else. */
static bool is_mark(const char *value)
{
    return value[0] != '\0' && value[1] == '\0' && strchr(",|;", value[0]) != NULL;
}

enum tacit_status config_document_set(struct config_document *document, const char *setting,
                                      struct tacit_error *error)
{
    char const *const equals = strchr(setting, '=');
    struct source source = {.path = document->path, .setting = setting};
    if (equals == NULL || equals == setting || equals[1] == '\0')
        return refuse_at(&source, 0, "not of the form key=value, like privacy.epsilon=0.5", error);
    struct config_node *value = NULL;
    char quoted[4];
    source.bytes = equals + 1;
    if (is_mark(source.bytes)) { /* a comma is no YAML by itself, and can only be meant as one */
        (void)snprintf(quoted, sizeof quoted, "'%c'", source.bytes[0]);
        source.bytes = quoted;
    }
    source.size = strlen(source.bytes);
    TACIT_TRY(read_source(document, &source, &value, error));
    struct config_node *node = document->root;
    for (const char *key = setting; key <= equals;) {
        size_t const length = strcspn(key, ".=");
        if (length == 0)
            return refuse_at(&source, 0, "an empty key; keys look like privacy.epsilon", error);
        if (node->kind != CONFIG_MAP)
            return refuse_at(&source, 0, "goes into a single value or a list; only maps have keys",
                             error);
        node = reach(document, node, key, length);
        if (node == NULL)
            return out_of_memory(error);
        key += length + 1;
    }
    node->kind = value->kind;
    node->text = value->text;
    node->is_plain = value->is_plain;
    node->first = value->first;
    node->line = 0;
    return TACIT_OK;
}

/* ---- Looking ---- */

struct config_node *config_document_root(const struct config_document *document)
{
    return document->root;
}

const char *config_document_path(const struct config_document *document)
{
    return document->path;
}

struct config_node *config_node_member(const struct config_node *map, const char *key)
{
    for (struct config_node *node = map->first; node != NULL; node = node->next)
        if (node->key != NULL && strcmp(node->key, key) == 0)
            return node;
    return NULL;
}

struct config_location config_document_location(const struct config_document *document,
                                                const struct config_node *node)
{
    struct config_location shown;
    if (node->line == 0)
        (void)snprintf(shown.text, sizeof shown.text, "--set");
    else
        (void)snprintf(shown.text, sizeof shown.text, "%.400s:%u", document->path, node->line);
    return shown;
}

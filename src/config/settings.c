/* What a file says, key by key, as it was read: for who wants to see what an experiment was run
 * with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "document.h"
#include "tacit/config.h"

/* In single quotes, in which only they have a meaning. */
static void put_quoted(const char *text, FILE *out)
{
    (void)fputc('\'', out);
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '\'' ? "'" : "", out);
        (void)fputc(*text, out);
    }
    (void)fputc('\'', out);
}

/* A value on one line, as a file may have it; what was quoted there is so if `quotes`. */
static void put_value(const struct config_node *node, bool quotes, FILE *out)
{
    TACIT_ASSERT(node != NULL);
    if (node->kind == CONFIG_SCALAR) {
        if (quotes && !node->is_plain)
            put_quoted(node->text, out);
        else
            (void)fputs(node->text[0] == '\0' ? "\"\"" : node->text, out);
        return;
    }
    bool const is_map = node->kind == CONFIG_MAP;
    (void)fputc(is_map ? '{' : '[', out);
    for (const struct config_node *item = node->first; item != NULL; item = item->next) {
        (void)fputs(item == node->first ? "" : ", ", out);
        if (is_map)
            (void)fprintf(out, "%s: ", item->key);
        put_value(item, quotes, out);
    }
    (void)fputc(is_map ? '}' : ']', out);
}

/* Memory of the document that holds the text; NULL: there is none. */
static char *value_of(struct config_document *document, const struct config_node *node)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    put_value(node, false, out);
    char *const kept = fclose(out) == 0 ? config_document_allocate(document, size + 1) : NULL;
    if (kept != NULL)
        memcpy(kept, text, size + 1);
    free(text);
    return kept;
}

char *tacit_config_value(const struct tacit_config *config, const char *key)
{
    struct config_node const *const node =
        config_node_member(config_document_root(config->document), key);
    char *text = NULL;
    size_t size = 0;
    FILE *const out = node == NULL ? NULL : open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    put_value(node, true, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static char *key_of(struct config_document *document, const char *before, const char *key)
{
    TACIT_ASSERT(before != NULL && key != NULL);
    size_t const size = strlen(before) + strlen(key) + 2;
    char *const text = config_document_allocate(document, size);
    if (text != NULL)
        (void)snprintf(text, size, "%s%s%s", before, before[0] == '\0' ? "" : ".", key);
    return text;
}

/* Members of a map, those of maps in it behind their key and a point. Writes where there is a list;
 * counts in any case. Errors: TACIT_MEMORY. */
static enum tacit_status walk(struct config_document *document, const struct config_node *map,
                              const char *before, struct tacit_report_setting *settings,
                              uint32_t *count)
{
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(map->kind == CONFIG_MAP);
    for (const struct config_node *node = map->first; node != NULL && status == TACIT_OK;
         node = node->next) {
        char *const key = key_of(document, before, node->key);
        if (key == NULL)
            return TACIT_MEMORY;
        if (node->kind == CONFIG_MAP) {
            status = walk(document, node, key, settings, count);
            continue;
        }
        if (settings != NULL) {
            char *const value = value_of(document, node);
            settings[*count] = (struct tacit_report_setting){key, value, node->line == 0};
            status = value == NULL ? TACIT_MEMORY : TACIT_OK;
        }
        (*count)++;
    }
    return status;
}

enum tacit_status tacit_config_settings(const struct tacit_config *config,
                                        const struct tacit_report_setting **settings,
                                        uint32_t *count)
{
    struct config_document *const document = config->document;
    const struct config_node *const root = config_document_root(document);
    uint32_t total = 0;
    *settings = NULL;
    *count = 0;
    TACIT_ASSERT(root->kind == CONFIG_MAP);
    enum tacit_status status = walk(document, root, "", NULL, &total);
    struct tacit_report_setting *const made =
        status == TACIT_OK ? config_document_allocate(document, (total + (size_t)1) * sizeof *made)
                           : NULL;
    if (made == NULL)
        return TACIT_MEMORY;
    status = walk(document, root, "", made, count);
    TACIT_ASSERT(status != TACIT_OK || *count == total);
    *settings = made;
    return status;
}

/* A YAML document as a tree whose nodes know where they stand. */
#ifndef TACIT_CONFIG_DOCUMENT_H
#define TACIT_CONFIG_DOCUMENT_H
#include "tacit/base.h"

enum config_node_kind { CONFIG_SCALAR, CONFIG_LIST, CONFIG_MAP };

struct config_node {
    enum config_node_kind kind;
    const char *key;  /* in a map */
    const char *text; /* of a scalar */
    bool is_plain;    /* a scalar without quotes */
    uint32_t line;    /* 0: it came from a setting */
    struct config_node *first;
    struct config_node *next;
};

struct config_document;

/* Instead of a path; relative paths in it are those of the folder the program was started in. */
#define CONFIG_STANDARD_INPUT "-"

/* Reads the one document of the file. Errors: TACIT_IO, TACIT_INVALID (syntax, two documents,
 * duplicate keys, too deep or too large), TACIT_MEMORY. */
enum tacit_status config_document_read(struct config_document **document, const char *path,
                                       struct tacit_error *error);
void config_document_free(struct config_document *document);

/* Both stay the document's. */
struct config_node *config_document_root(const struct config_document *document);
const char *config_document_path(const struct config_document *document);

/* Memory that lives as long as the document; NULL when there is none. */
void *config_document_allocate(struct config_document *document, size_t size);

/* Applies "dotted.key=value"; the value is YAML. Makes maps that are not there.
 * Errors: TACIT_INVALID, TACIT_MEMORY. */
enum tacit_status config_document_set(struct config_document *document, const char *setting,
                                      struct tacit_error *error);

/* Member of a map, or NULL. */
struct config_node *config_node_member(const struct config_node *map, const char *key);

/* "file:line" or "--set" for a node; fits the struct. */
struct config_location {
    char text[512];
};
struct config_location config_document_location(const struct config_document *document,
                                                const struct config_node *node);
#endif

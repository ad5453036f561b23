/* Reads values out of a document and remembers the first thing that is wrong. */
#ifndef TACIT_CONFIG_READER_H
#define TACIT_CONFIG_READER_H
#include <stddef.h>
#include "document.h"
#include "tacit/config.h"

struct config_reader {
    struct config_document *document;
    struct tacit_error *error;
    enum tacit_status status; /* the first failure; later reads do nothing */
};

/* One value of a choice. */
struct config_choice {
    const char *name;
    int value;
};

/* "file:line: key: text", unless something went wrong before. `key` may be NULL. */
void config_reader_fail(struct config_reader *reader, const struct config_node *node,
                        const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Checks that every key of the map is in the NULL-terminated list; names the nearest one if not. */
void config_reader_keys(struct config_reader *reader, const struct config_node *map,
                        const char *prefix, const char *const *keys);

/* The member as a map; NULL if it is absent (an error if required) or something failed. */
const struct config_node *config_reader_map(struct config_reader *reader,
                                            const struct config_node *map, const char *key,
                                            bool is_required);

/* Scalars. A value that is absent leaves *value as it is, and is an error if required. */
void config_reader_text(struct config_reader *reader, const struct config_node *map,
                        const char *key, bool is_required, const char **value);
void config_reader_u64(struct config_reader *reader, const struct config_node *map, const char *key,
                       bool is_required, uint64_t min, uint64_t max, uint64_t *value);
void config_reader_u32(struct config_reader *reader, const struct config_node *map, const char *key,
                       bool is_required, uint32_t min, uint32_t max, uint32_t *value);
/* A finite number (or inf, if infinity_is_allowed) from min to max, without an end that is open. */
struct config_range {
    double min;
    double max;
    bool min_is_open;
    bool infinity_is_allowed;
    bool max_is_open;
};
void config_reader_number(struct config_reader *reader, const struct config_node *map,
                          const char *key, bool is_required, struct config_range range,
                          double *value);
/* Choices end with a NULL name. */
void config_reader_choice(struct config_reader *reader, const struct config_node *map,
                          const char *key, bool is_required, const struct config_choice *choices,
                          int *value);

/* ---- Tables of keys ---- */

/* How a key is read, and into what. */
enum config_type {
    CONFIG_OTHER, /* not by the table */
    CONFIG_U32,
    CONFIG_U64,
    CONFIG_REAL, /* double */
    CONFIG_WORD, /* an enum: the value of a choice */
    CONFIG_FLAG, /* bool: is it the second choice? */
    CONFIG_TEXT
};

/* A key of a section: what reads it, refuses it and explains it (`tacit help keys`). */
struct config_key {
    const char *name;
    /* What holds where it is left out: a value, which is then read as if it stood in the file;
     * words in parentheses, or "" where there is nothing to say. NULL: it must be given. */
    const char *absent;
    const char *help; /* a line; range, choices and `absent` are not said again in it */
    enum config_type type;
    size_t offset; /* of the member that it fills */
    uint64_t least;
    uint64_t most;
    struct config_range range;
    const struct config_choice *choices;
    const char *form; /* of others: what may stand there, in words */
};

#define CONFIG_TO(of, kind, member) .type = (kind), .offset = offsetof(struct of, member)
#define CONFIG_TO_U32(of, member, low, high)                                                       \
    CONFIG_TO(of, CONFIG_U32, member), .least = (low), .most = (high)
#define CONFIG_TO_U64(of, member, low, high)                                                       \
    CONFIG_TO(of, CONFIG_U64, member), .least = (low), .most = (high)
#define CONFIG_TO_REAL(of, member, ...) CONFIG_TO(of, CONFIG_REAL, member), .range = __VA_ARGS__
#define CONFIG_TO_WORD(of, member, words) CONFIG_TO(of, CONFIG_WORD, member), .choices = (words)
#define CONFIG_TO_FLAG(of, member, words) CONFIG_TO(of, CONFIG_FLAG, member), .choices = (words)
#define CONFIG_TO_TEXT(of, member) CONFIG_TO(of, CONFIG_TEXT, member)

/* Refuses every key of the map that the table does not have, and reads those that it has into
 * `values`. `section` stands before its keys in errors. Without a map (NULL) all keys
 * are absent. */
void config_reader_table(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys, void *values);

/* Only reads. Without a map (NULL) all keys are absent. */
void config_reader_values(struct config_reader *reader, const struct config_node *map,
                          const char *section, const struct config_key *keys, void *values);

/* Only refuses keys that neither table has; `more` may be NULL. */
void config_reader_known(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys,
                         const struct config_key *more);

/* The keys at a path, or NULL; `sections` may be NULL. */
const struct config_key *config_section_at(const struct config_section *sections, const char *path);

/* What is allowed, in words. */
void config_range_text(struct config_range range, char *text, size_t capacity);
/* Their names, with commas between them. */
void config_choices_text(const struct config_choice *choices, char *list, size_t size);

/* Zero memory that the document keeps; NULL, and the reader has failed, where there is none. */
void *config_reader_memory(struct config_reader *reader, size_t size);

/* Refuses a key that stands in the map and does nothing there (is_idle), in these words. */
void config_reader_idle(struct config_reader *reader, const struct config_node *map,
                        const char *key, bool is_idle, const char *text);

/* One scalar node as a whole number; false after an error. */
bool config_reader_whole(struct config_reader *reader, const struct config_node *node,
                         const char *key, uint64_t min, uint64_t max, uint64_t *value);
/* One scalar node as a number; false after an error. */
bool config_reader_real(struct config_reader *reader, const struct config_node *node,
                        const char *key, struct config_range range, double *value);
#endif

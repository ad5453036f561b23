/* Reads values out of a document and remembers the first thing that is wrong. */
#ifndef TACIT_CONFIG_READER_H
#define TACIT_CONFIG_READER_H
#include <stddef.h>
#include "document.h"

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

/* A key of a section. Absent, it leaves what is there. */
struct config_key {
    const char *name;
    enum config_type type;
    bool is_required;
    size_t offset; /* of the member that it fills */
    uint64_t least;
    uint64_t most;
    struct config_range range;
    const struct config_choice *choices;
};

#define CONFIG_KEY_OF(of, kind, key, needed, member)                                               \
    .name = (key), .type = (kind), .is_required = (needed), .offset = offsetof(struct of, member)
#define CONFIG_OTHER_KEY(key)                                                                      \
    {                                                                                              \
        .name = (key)                                                                              \
    }
#define CONFIG_U32_KEY(of, key, needed, member, low, high)                                         \
    {                                                                                              \
        CONFIG_KEY_OF(of, CONFIG_U32, key, needed, member), .least = (low), .most = (high)         \
    }
#define CONFIG_U64_KEY(of, key, needed, member, low, high)                                         \
    {                                                                                              \
        CONFIG_KEY_OF(of, CONFIG_U64, key, needed, member), .least = (low), .most = (high)         \
    }
#define CONFIG_REAL_KEY(of, key, needed, member, ...)                                              \
    {                                                                                              \
        CONFIG_KEY_OF(of, CONFIG_REAL, key, needed, member), .range = __VA_ARGS__                  \
    }
#define CONFIG_WORD_KEY(of, key, needed, member, words)                                            \
    {                                                                                              \
        CONFIG_KEY_OF(of, CONFIG_WORD, key, needed, member), .choices = (words)                    \
    }
#define CONFIG_FLAG_KEY(of, key, needed, member, words)                                            \
    {                                                                                              \
        CONFIG_KEY_OF(of, CONFIG_FLAG, key, needed, member), .choices = (words)                    \
    }
#define CONFIG_TEXT_KEY(of, key, needed, member)                                                   \
    {                                                                                              \
        CONFIG_KEY_OF(of, CONFIG_TEXT, key, needed, member)                                        \
    }

/* Refuses every key of the map that the table does not have, and reads those that it has into
 * `values`. The table ends with a NULL name; `section` stands before its keys in errors. */
void config_reader_table(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys, void *values);

/* Only refuses keys that the table does not have: before defaults that hang on one of them. */
void config_reader_known(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys);

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

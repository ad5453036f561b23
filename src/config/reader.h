/* Reads values out of a document and remembers the first thing that is wrong. */
#ifndef TACIT_CONFIG_READER_H
#define TACIT_CONFIG_READER_H
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

/* One scalar node as a whole number; false after an error. */
bool config_reader_whole(struct config_reader *reader, const struct config_node *node,
                         const char *key, uint64_t min, uint64_t max, uint64_t *value);
/* One scalar node as a number; false after an error. */
bool config_reader_real(struct config_reader *reader, const struct config_node *node,
                        const char *key, struct config_range range, double *value);
#endif

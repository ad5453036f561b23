/* Reads values out of a document and remembers the first thing that is wrong. */
#ifndef TACIT_CONFIG_READER_H
#define TACIT_CONFIG_READER_H
#include <stddef.h>
#include "document.h"
#include "tacit/config.h"

struct config_reader {
    struct config_document *document;
    struct tacit_error *error;
    enum tacit_status status;          /* the first failure; later reads do nothing */
    const struct config_section *more; /* further keys that are known, and read by the family */
};

/* One value of a choice. */
struct config_choice {
    const char *name;
    int value;
};

/* The last part of a dotted key. */
const char *config_leaf(const char *key);

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
/* From low, or above it, to high. */
#define CONFIG_FROM(low, high)                                                                     \
    {                                                                                              \
        .min = (low), .max = (high)                                                                \
    }
#define CONFIG_ABOVE(low, high)                                                                    \
    {                                                                                              \
        .min = (low), .max = (high), .min_is_open = true                                           \
    }
void config_reader_number(struct config_reader *reader, const struct config_node *map,
                          const char *key, bool is_required, struct config_range range,
                          double *value);
/* Choices end with a NULL name. */
void config_reader_choice(struct config_reader *reader, const struct config_node *map,
                          const char *key, bool is_required, const struct config_choice *choices,
                          int *value);
extern const struct config_choice config_no_yes[];     /* 0 and 1 */
extern const struct config_choice config_false_true[]; /* the same */

/* A list of two numbers, the smaller first; `what` says which and gives an example. A band's may
 * be alike, and the second infinite. */
void config_reader_pair(struct config_reader *reader, const struct config_node *map,
                        const char *key, bool is_band, const char *what, double *lo, double *hi);
#define CONFIG_REWARD_BOUNDS "the public bounds of a reward, like [0, 1]"

/* A list of `least` to `most` different names that fit; `form` says what fits. Ensures: names of
 * the document, or NULL after an error. */
const char **config_reader_names(struct config_reader *reader, const struct config_node *map,
                                 const char *key, uint32_t least, uint32_t most,
                                 bool (*fits)(const char *), const char *form, uint32_t *count);

/* A list of 1 to `most` maps as zero memory for as many structs of `size`, which the caller fills
 * from its nodes. NULL after an error, which gives the example. */
void *config_reader_list(struct config_reader *reader, const struct config_node *map,
                         const char *key, const char *example, uint32_t most, size_t size,
                         uint32_t *count);

/* ---- By dotted names from the top of the file ---- */

/* The node, or NULL. */
const struct config_node *config_reader_find(const struct config_reader *reader, const char *key);
/* As config_reader_fail, at the key or what is nearest around it. */
void config_reader_refuse(struct config_reader *reader, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Refuses the file if the key is missing. */
void config_reader_need(struct config_reader *reader, const char *key);

/* ---- Tables of keys ---- */

/* How a key is read, and into what. */
enum config_type {
    CONFIG_OTHER, /* not by the table */
    CONFIG_U16,
    CONFIG_U32,
    CONFIG_U64,
    CONFIG_REAL, /* double */
    CONFIG_ENUM, /* an enum: the value of a choice */
    CONFIG_FLAG, /* bool: is it the second choice? */
    CONFIG_TEXT,
    CONFIG_PATH,  /* of a file; relative ones start at the document's folder */
    CONFIG_NAMES, /* a list of names, `least` to `most` of them */
    CONFIG_PART   /* a section */
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
    const char *form;               /* of others: what may stand there, in words */
    bool (*fits)(const char *text); /* texts and names: else it is refused; NULL: all do */
    size_t count;                   /* of names: offset of their number */
    const struct config_key *inner; /* the keys of a section */
};

#define CONFIG_TO(of, kind, member) .type = (kind), .offset = offsetof(struct of, member)
#define CONFIG_TO_U32(of, member, low, high)                                                       \
    CONFIG_TO(of, CONFIG_U32, member), .least = (low), .most = (high)
#define CONFIG_TO_U64(of, member, low, high)                                                       \
    CONFIG_TO(of, CONFIG_U64, member), .least = (low), .most = (high)
#define CONFIG_TO_REAL(of, member, ...) CONFIG_TO(of, CONFIG_REAL, member), .range = __VA_ARGS__
#define CONFIG_TO_ENUM(of, member, words) CONFIG_TO(of, CONFIG_ENUM, member), .choices = (words)
#define CONFIG_TO_FLAG(of, member, words) CONFIG_TO(of, CONFIG_FLAG, member), .choices = (words)
#define CONFIG_TO_TEXT(of, member) CONFIG_TO(of, CONFIG_TEXT, member)
#define CONFIG_TO_PORT(of, member) CONFIG_TO(of, CONFIG_U16, member), .least = 1, .most = 65535
#define CONFIG_TO_PATH(of, member) CONFIG_TO(of, CONFIG_PATH, member), .form = "a file"
#define CONFIG_TO_NAMES(of, member, number, low, high)                                             \
    CONFIG_TO(of, CONFIG_NAMES, member), .count = offsetof(struct of, number), .least = (low),     \
                                         .most = (high)
/* A section of a member's keys, or of more keys of the same struct. */
#define CONFIG_TO_PART(of, member, keys) CONFIG_TO(of, CONFIG_PART, member), .inner = (keys)
#define CONFIG_TO_SAME(keys) .type = CONFIG_PART, .inner = (keys)

/* Refuses every key of the map that the table does not have, and reads those that it has into
 * `values`. `section` stands before its keys in errors. Without a map (NULL) all keys
 * are absent. */
void config_reader_table(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys, void *values);

/* Only reads. Without a map (NULL) all keys are absent. */
void config_reader_values(struct config_reader *reader, const struct config_node *map,
                          const char *section, const struct config_key *keys, void *values);

/* Only refuses keys that neither the table nor reader->more has. */
void config_reader_known(struct config_reader *reader, const struct config_node *map,
                         const char *section, const struct config_key *keys);

/* The keys at a path, or NULL; `sections` may be NULL. */
const struct config_key *config_section_at(const struct config_section *sections, const char *path);

/* What is allowed, in words. */
void config_range_text(struct config_range range, char *text, size_t capacity);
/* Their names, with commas between them. */
void config_choices_text(const struct config_choice *choices, char *list, size_t size);

/* ---- Files ---- */

/* Reads a file, with settings over it, into zero memory of `size`, whose first member is a pointer
 * to the document: `read` fills it. Ensures: on TACIT_OK *file is to be given to config_file_free.
 * Errors: TACIT_IO, TACIT_INVALID, TACIT_MEMORY. */
enum tacit_status config_file_load(void **file, size_t size, const char *path,
                                   const char *const *settings, uint32_t set_count,
                                   void (*read)(struct config_reader *reader, const void *families,
                                                void *file),
                                   const void *families, struct tacit_error *error);
/* Frees what config_file_load made, and its document, the pointer that it begins with. NULL is
 * allowed. */
void config_file_free(void *file);

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

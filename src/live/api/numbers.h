/* What a daemon shows, said once: a table of numbers, and of columns of arms or sites. It is the
 * members of its status (JSON) and its metrics in Prometheus' text format. */
#ifndef TACIT_LIVE_NUMBERS_H
#define TACIT_LIVE_NUMBERS_H
#include "api_json.h"

enum live_number_kind {
    LIVE_ABSENT, /* it is shown nowhere */
    LIVE_WHOLE,
    LIVE_REAL,
    LIVE_FLAG
};

struct live_number {
    const char *member; /* of the status; NULL: none */
    const char
        *metric; /* its name; it counts if it ends in _total, else it is a gauge; NULL: none */
    const char *help;
    enum live_number_kind kind;
    double value;
};

/* A value of each of so many things. */
struct live_column {
    const char *member; /* as above */
    const char *metric;
    const char *help;
    enum { LIVE_REALS, LIVE_U32S, LIVE_U64S, LIVE_BITS } kind;
    const void *values; /* NULL: there are none */
};

void live_numbers_show(const struct live_number *numbers, size_t count, json_t *object);
void live_numbers_write(const struct live_number *numbers, size_t count, struct live_buffer *out);

/* The members of thing i. */
void live_columns_show(const struct live_column *columns, size_t count, uint32_t i, json_t *object);
/* label: "arm" or "site"; names: of the things, without control characters. */
void live_columns_write(const struct live_column *columns, size_t count, const char *label,
                        const char *const *names, uint32_t things, struct live_buffer *out);

/* A tree as text, and a line end; it is given back. */
void live_buffer_add_tree(struct live_buffer *out, json_t *tree);

/* What is to be seen under a path. */
struct live_page {
    const char *path;
    const char *type;
    unsigned (*write)(void *context, struct live_buffer *out); /* the answer's code */
};

/* Of those up to a path of NULL, or of none. NULL: there is no such page. */
const struct live_page *live_page_find(const struct live_page *pages, const char *path);
#endif

/* The keys of a file, as the tables that read it have them. */
#ifndef TACIT_CONFIG_KEYS_H
#define TACIT_CONFIG_KEYS_H
#include <stdio.h>
#include "tacit/config.h"

enum keys_form {
    KEYS_TEXT,     /* for a terminal */
    KEYS_MARKDOWN, /* tables of a page */
    KEYS_SCHEMA    /* a JSON schema, for editors */
};

#define KEYS_KINDS_MAX 15u

/* Files of one sort; some have further keys, by their protocol. */
struct keys_file {
    const char *title;
    const struct config_section *sections;
    bool kind_is_name; /* protocol: WORD, by default the first; else protocol: {kind: WORD} */
    struct keys_kind {
        const char *name;
        const struct config_section *sections;
        bool has_environment; /* of its own, all keys of that section */
    } kinds[KEYS_KINDS_MAX + 1];
};

/* Writes all of them, or those of one protocol. Errors: TACIT_INVALID (it is none of the kinds),
 * TACIT_IO, TACIT_MEMORY. */
enum tacit_status keys_write(const struct keys_file *file, const char *protocol,
                             enum keys_form form, FILE *out);
#endif

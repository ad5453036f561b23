/* The keys of the experiment file, as the tables that read them have them. */
#ifndef TACIT_STUDY_KEYS_H
#define TACIT_STUDY_KEYS_H
#include <stdio.h>
#include "tacit/base.h"

enum keys_form {
    KEYS_TEXT,     /* for a terminal */
    KEYS_MARKDOWN, /* tables of a page */
    KEYS_SCHEMA    /* a JSON schema, for editors */
};

/* Writes those of all experiments and of all protocols, or of one (protocol: its kind, or NULL).
 * Errors: TACIT_INVALID (no protocol of that kind), TACIT_MEMORY. */
enum tacit_status keys_write(const char *protocol, enum keys_form form, FILE *out);
#endif

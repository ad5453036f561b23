/* The keys of the experiment file and the metrics of its runs, as the tables of the families have
 * them. */
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

/* Writes what a run of each protocol, or of one, measures: name, unit, what it means. Errors:
 * TACIT_INVALID (no protocol of that kind). */
enum tacit_status keys_write_metrics(const char *protocol, FILE *out);
#endif

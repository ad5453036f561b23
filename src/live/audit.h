/* What a site hands to an auditor: its statement, runs and releases as lines of JSON. Each line is
 * numbered, names the one before by its SHA-256, and is signed with the site's key, apart from all
 * messages; the last one says that it is the last. And the end of a state: it is overwritten. */
#ifndef TACIT_LIVE_AUDIT_H
#define TACIT_LIVE_AUDIT_H
#include <stdio.h>
#include "agent.h"

/* Writes the lines of the state that no process uses. Errors: those of live_agent_check;
 * TACIT_INVALID (there is no state, or it is in use), TACIT_IO; with error->text. */
enum tacit_status live_audit_write(const struct live_agent_config *config, FILE *out,
                                   struct tacit_error *error);

/* Holds the lines of a file against the CA, and says in `found` whose they are and how many.
 * Errors: TACIT_MALFORMED: a line is missing, out of order, altered or another's, as error->text
 * says; TACIT_INVALID (the CA), TACIT_IO. */
enum tacit_status live_audit_check(const char *file, const char *ca_file, struct tacit_error *found,
                                   struct tacit_error *error);

/* Overwrites all files of the state with zeros and removes them with the directory. even_so: while
 * a run is under way, or where the state cannot be read, too. *releases: that had left. Errors:
 * TACIT_INVALID (none there, in use, a run is under way), TACIT_IO; with error->text. */
enum tacit_status live_audit_forget(const struct live_agent_config *config, bool even_so,
                                    uint64_t *releases, struct tacit_error *error);
#endif

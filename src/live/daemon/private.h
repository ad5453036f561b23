/* Directories and files that only we can read. */
#ifndef TACIT_LIVE_PRIVATE_H
#define TACIT_LIVE_PRIVATE_H
#include "tacit/base.h"
#include <sys/stat.h>

/* From now on what belongs to root counts as ours, and what is open to a group that we are in
 * counts as closed: so volumes and secrets come to a container. One process, one file that says so.
 */
void live_private_allow_group(void);
/* Can nobody else read it, as its mode says? */
bool live_private_is_closed(const struct stat *found);

/* Opens the directory; makes it if it is not there. Errors: TACIT_INVALID (a link, open to others,
 * somebody else's), TACIT_IO. */
enum tacit_status live_private_directory_open(const char *directory_name, int *directory,
                                              struct tacit_error *error);
/* A plain file that only we can read; *size = -1 if there is none. Errors as above. */
enum tacit_status live_private_file_check(int directory, const char *directory_name,
                                          const char *name, int64_t *size,
                                          struct tacit_error *error);
#endif

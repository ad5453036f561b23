/* Directories and files that only we can read. */
#ifndef TACIT_LIVE_PRIVATE_H
#define TACIT_LIVE_PRIVATE_H
#include "tacit/base.h"

/* Opens the directory; makes it if it is not there. Errors: TACIT_INVALID (a link, open to others,
 * somebody else's), TACIT_IO. */
enum tacit_status live_private_directory_open(const char *directory_name, int *directory,
                                              struct tacit_error *error);
/* A plain file that only we can read; *size = -1 if there is none. Errors as above. */
enum tacit_status live_private_file_check(int directory, const char *directory_name,
                                          const char *name, int64_t *size,
                                          struct tacit_error *error);
#endif

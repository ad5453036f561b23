/* Whole files in a directory of ours: put under a name in one stroke, and taken if they are exactly
 * what is expected. */
#ifndef TACIT_LIVE_FILES_H
#define TACIT_LIVE_FILES_H
#include "tacit/base.h"

/* Writes the file (0600) under another name, and renames it into place; a link of that name is
 * replaced, not followed. `owner`: a user's number to give it to, or UINT32_MAX. Errors: TACIT_IO,
 * TACIT_INVALID (the directory). */
enum tacit_status live_file_put(const char *directory, const char *name, const void *bytes,
                                size_t size, uint32_t owner);

/* Reads the file if it is a plain one of exactly `size` bytes. Errors: TACIT_IO: it is not there,
 * or is something else: a link, a pipe, longer, shorter. Requires: bytes has room. */
enum tacit_status live_file_read(const char *directory, const char *name, void *bytes, size_t size);

/* Removes it, if it is there. */
void live_file_drop(const char *directory, const char *name);
#endif

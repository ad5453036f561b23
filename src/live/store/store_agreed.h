/* What may not change while there is state, in words: a file beside the database, `agreed`, of
 * lines "KEY VALUE" in the order of the configuration. The digest in the database judges; the words
 * only say which key it is that differs, and count only if that digest is theirs. */
#ifndef TACIT_LIVE_STORE_AGREED_H
#define TACIT_LIVE_STORE_AGREED_H
#include "store_base.h"

/* Writes the file, unless it is there as it ought to be: a state without it is no worse, but for
 * the words of a refusal. */
void store_agreed_keep(const char *directory, const char *text);

/* Which keys differ, as one sentence for people: "run.horizon is 5000 in the file, and was 100000".
 * Ensures: false: nobody knows, for the words are not there or not of this digest. */
bool store_agreed_differ(const char *directory, const uint8_t digest[32], const char *text,
                         struct tacit_text *words);
/* The same, whatever the digest; no words: nothing differs. */
bool store_agreed_compare(const char *directory, const char *text, struct tacit_text *words);
#endif

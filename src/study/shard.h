/* Shares of a comparison that several machines play: which of them a call is, and what is in it.
 * Every share has some of everything, so that none is late because its settings are long. */
#ifndef TACIT_STUDY_SHARD_H
#define TACIT_STUDY_SHARD_H
#include "tacit/base.h"

#define SHARDS_MAX 100000u

struct shard {
    uint32_t index; /* from 0 */
    uint32_t count; /* 0: no shares */
    char from[100]; /* which variables of a launcher say so; "": the words did */
};

/* "I/N" from 1 on; "auto": as the launcher's environment says; "auto/N": of a launcher that does
 * not say how many. Errors: TACIT_INVALID, and error->text says what is allowed. */
enum tacit_status shard_parse(struct shard *shard, const char *text, struct tacit_error *error);

/* A launcher that started several of these, though nothing was said of shares: each would play all.
 * NULL: there is none, else the variable that says so. */
const char *shard_unsaid(void);

/* Into how many pieces of its runs each of `points` grid points is cut: none is where there are
 * many of them. Ensures: 1 to `shards`. */
uint32_t shard_pieces(uint32_t points, uint32_t shards);

/* Which share plays this piece. */
uint32_t shard_of(uint32_t point, uint32_t piece, uint32_t pieces, uint32_t shards);
#endif

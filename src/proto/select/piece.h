/* Pieces of vectors: which there are, which are missing, what they hash to. */
#ifndef TACIT_SELECT_PIECE_H
#define TACIT_SELECT_PIECE_H
#include "tacit/select.h"

/* SHA-256 of a piece as it goes over the wire: numbers little-endian. */
void select_digest_floats(const float *numbers, uint32_t count, uint8_t digest[TACIT_SHA256_BYTES]);
void select_digest_steps(const int64_t *numbers, uint32_t count,
                         uint8_t digest[TACIT_SHA256_BYTES]);

/* Of all pieces of a vector, one after the other. */
void select_digest_model(const float *model, uint32_t dimension, uint8_t *digests);
void select_digest_update(const int64_t *steps, uint32_t dimension, uint8_t *digests);

/* What a list of digests is called: its own digest. */
void select_name_of(const uint8_t *digests, uint32_t count, uint8_t name[TACIT_SHA256_BYTES]);

/* What is committed to: everything of an update that leaves. */
void select_release_of(const struct tacit_select_message *update,
                       uint8_t release[TACIT_SHA256_BYTES]);

/* The next pieces to ask for: *first and the mask; false: none is missing. */
bool select_next_missing(const uint64_t *have, uint32_t count, uint32_t *first, uint32_t *mask);

/* Is this piece the last of those that were asked for at once, so that the next may be? */
bool select_window_is_done(const uint64_t *have, uint32_t first, uint32_t mask);

/* Are there all the pieces that this REQUEST names? */
bool select_request_fits(const struct tacit_select_message *request, uint32_t count);

/* A message of PIECE, its numbers where they are. */
struct tacit_select_message select_model_piece(const float *model, uint32_t dimension,
                                               uint32_t index);
struct tacit_select_message select_step_piece(const int64_t *steps, uint32_t dimension,
                                              uint32_t index);

/* Is this a PIECE of that vector, whole, with that digest? */
bool select_piece_fits(const struct tacit_select_message *piece, enum tacit_select_vector vector,
                       uint32_t dimension, const uint8_t *digests);
#endif

/* Pieces of vectors: which there are, which are missing, what they hash to. */
#ifndef TACIT_SELECT_PIECE_H
#define TACIT_SELECT_PIECE_H
#include "tacit/select.h"

/* The next part of a state that begins with its head, and where the one after it begins: *at is
 * moved on, to a multiple of 8. Nothing is touched. */
void *select_carve(const void *head, size_t *at, size_t bytes);

/* A vector in pieces: a model's float32 or an update's int64. Where they lie in a state. */
struct select_pieces {
    enum tacit_select_vector vector;
    uint32_t dimension;
    void *numbers;
    uint8_t *digests; /* SHA-256 of each piece as it goes over the wire: numbers little-endian */
    uint64_t *have;   /* which are here */
    uint32_t *first;  /* the window of them that was asked for, as in a REQUEST */
    uint32_t *mask;
};

/* How many pieces it has. */
uint32_t select_count_of(const struct select_pieces *pieces);

/* Digests of all pieces, from the numbers. */
void select_digest_pieces(const struct select_pieces *pieces);

/* What the vector is called: the digest of the digests. */
void select_name_of(const struct select_pieces *pieces, uint8_t name[TACIT_SHA256_BYTES]);

/* What is committed to: everything of an update that leaves; with two aggregators, what opens it.
 */
void select_release_of(const struct tacit_select_message *update,
                       uint8_t release[TACIT_SHA256_BYTES]);

/* The next pieces to ask for: *first and the mask; false: none is missing. */
bool select_next_missing(const uint64_t *have, uint32_t count, uint32_t *first, uint32_t *mask);

/* Have all pieces come that the REQUEST (first, mask) asked for, so that the next may be? */
bool select_window_is_done(const uint64_t *have, uint32_t first, uint32_t mask);

/* Are there all the pieces that this REQUEST names? */
bool select_request_fits(const struct tacit_select_message *request, uint32_t count);

/* Is none missing? */
bool select_are_whole(const struct select_pieces *pieces);

/* ---- Messages: to whom, and what they are about ---- */

/* One more message of the update, to `to`; from whom, select_stamp says at the end. */
void select_send(struct tacit_select_update *update, uint32_t to,
                 struct tacit_select_message message);

/* From whom all of them are, of which run and term: at the end of a step. */
void select_stamp(struct tacit_select_update *update, uint32_t from, uint64_t run_id,
                  uint64_t term);

/* A REQUEST for the next pieces that are missing, if any is. */
void select_ask(const struct select_pieces *pieces, uint32_t to, uint32_t round,
                struct tacit_select_update *update);

/* A PIECE: the last one of those that were asked for at once asks for the next. *is_whole: there is
 * none. Errors: TACIT_MALFORMED: it is no piece of this vector, whole, with its digest. */
enum tacit_status select_on_piece(const struct select_pieces *pieces, uint32_t round,
                                  const struct tacit_select_message *piece,
                                  struct tacit_select_update *update, bool *is_whole);

/* As if it had not come. */
void select_forget(const struct select_pieces *pieces, uint32_t index);

/* A REQUEST: the pieces that it names, as many as are sent at once. Errors: TACIT_MALFORMED, there
 * are none such. Requires: they are here. */
enum tacit_status select_on_request(const struct select_pieces *pieces,
                                    const struct tacit_select_message *request,
                                    struct tacit_select_update *update);

/* A message of PIECE, its numbers where they are. */
struct tacit_select_message select_piece(const struct select_pieces *pieces, uint32_t index);
#endif

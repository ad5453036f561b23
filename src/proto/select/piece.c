/* Pieces of vectors. */
#include "piece.h"
#include <string.h>

#define BUFFER_NUMBERS 64u
#define WINDOW_BITS 32u

_Static_assert(TACIT_SELECT_MODEL_NUMBERS * sizeof(float) == TACIT_SELECT_PIECE_BYTES &&
                   TACIT_SELECT_UPDATE_NUMBERS * sizeof(int64_t) == TACIT_SELECT_PIECE_BYTES,
               "all pieces but the last are as long");

void *select_carve(const void *head, size_t *at, size_t bytes)
{
    void *const part = (uint8_t *)(uintptr_t)head + *at;
    TACIT_ASSERT(*at % 8 == 0);
    *at += (bytes + 7) & ~(size_t)7;
    return part;
}

static uint32_t width_of(enum tacit_select_vector vector)
{
    return vector == TACIT_SELECT_MODEL ? sizeof(float) : sizeof(int64_t);
}

uint32_t tacit_select_piece_count(uint32_t dimension, enum tacit_select_vector vector)
{
    uint32_t const whole = TACIT_SELECT_PIECE_BYTES / width_of(vector);
    TACIT_ASSERT(dimension <= TACIT_SELECT_DIMENSION_MAX);
    return (dimension + whole - 1) / whole;
}

uint32_t tacit_select_piece_numbers(uint32_t dimension, enum tacit_select_vector vector,
                                    uint32_t index)
{
    uint32_t const whole = TACIT_SELECT_PIECE_BYTES / width_of(vector);
    TACIT_ASSERT(index < tacit_select_piece_count(dimension, vector));
    uint32_t const left = dimension - index * whole;
    return left < whole ? left : whole;
}

uint32_t select_count_of(const struct select_pieces *pieces)
{
    return tacit_select_piece_count(pieces->dimension, pieces->vector);
}

static uint8_t *digest_of(const struct select_pieces *pieces, uint32_t index)
{
    return pieces->digests + (size_t)index * TACIT_SHA256_BYTES;
}

static void *numbers_of(const struct select_pieces *pieces, uint32_t index)
{
    return (uint8_t *)pieces->numbers + (size_t)index * TACIT_SELECT_PIECE_BYTES;
}

/* ---- Digests ---- */

static void put(uint8_t *bytes, uint64_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t number_at(enum tacit_select_vector vector, const void *numbers, uint32_t index)
{
    uint64_t wide;
    uint32_t narrow;
    if (vector == TACIT_SELECT_MODEL) {
        memcpy(&narrow, (const float *)numbers + index, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, (const int64_t *)numbers + index, sizeof wide);
    return wide;
}

static void digest_numbers(enum tacit_select_vector vector, const void *numbers, uint32_t count,
                           uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    uint32_t const width = width_of(vector);
    uint8_t bytes[8 * BUFFER_NUMBERS];
    for (uint32_t at = 0; at < count;) {
        uint32_t filled = 0;
        for (; filled < BUFFER_NUMBERS && at < count; filled++, at++)
            put(bytes + width * filled, number_at(vector, numbers, at), width);
        tacit_sha256_update(&sha, bytes, (size_t)width * filled);
    }
    tacit_sha256_final(&sha, digest);
}

void select_digest_pieces(const struct select_pieces *pieces)
{
    for (uint32_t i = 0; i < select_count_of(pieces); i++)
        digest_numbers(pieces->vector, numbers_of(pieces, i),
                       tacit_select_piece_numbers(pieces->dimension, pieces->vector, i),
                       digest_of(pieces, i));
}

void select_name_of(const struct select_pieces *pieces, uint8_t name[TACIT_SHA256_BYTES])
{
    tacit_sha256_of(pieces->digests, (size_t)select_count_of(pieces) * TACIT_SHA256_BYTES, name);
}

void select_release_of(const struct tacit_select_message *update,
                       uint8_t release[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    uint8_t numbers[24];
    TACIT_ASSERT(update->digests != NULL);
    if (update->masked != NULL) {
        tacit_helper_release_digest(update->masked, release);
        return;
    }
    put(numbers, update->participation, 8);
    put(numbers + 8, update->price_nano, 8);
    put(numbers + 16, update->spent_nano, 8);
    tacit_sha256_update(&sha, update->model, TACIT_SHA256_BYTES);
    tacit_sha256_update(&sha, numbers, sizeof numbers);
    tacit_sha256_update(&sha, update->digests, (size_t)update->digest_count * TACIT_SHA256_BYTES);
    tacit_sha256_final(&sha, release);
}

/* ---- What is missing ---- */

bool select_next_missing(const uint64_t *have, uint32_t count, uint32_t *first, uint32_t *mask)
{
    uint32_t wanted = 0;
    *mask = 0;
    for (uint32_t i = 0; i < count && wanted < TACIT_SELECT_PIECES_AT_ONCE; i++) {
        if (tacit_bits_has(have, i))
            continue;
        if (wanted == 0)
            *first = i;
        if (i - *first >= WINDOW_BITS)
            break;
        *mask |= UINT32_C(1) << (i - *first);
        wanted++;
    }
    return wanted > 0;
}

bool select_window_is_done(const uint64_t *have, uint32_t first, uint32_t mask)
{
    for (uint32_t i = 0; i < WINDOW_BITS; i++)
        if ((mask >> i & 1u) != 0 && !tacit_bits_has(have, first + i))
            return false;
    return true;
}

bool select_request_fits(const struct tacit_select_message *request, uint32_t count)
{
    uint32_t const left = request->first < count ? count - request->first : 0;
    return left >= WINDOW_BITS || request->mask >> left == 0;
}

bool select_are_whole(const struct select_pieces *pieces)
{
    uint32_t first;
    uint32_t mask;
    return !select_next_missing(pieces->have, select_count_of(pieces), &first, &mask);
}

/* ---- Messages ---- */

void select_send(struct tacit_select_update *update, uint32_t to,
                 struct tacit_select_message message)
{
    TACIT_ASSERT(update->message_count < TACIT_SELECT_MESSAGES_MAX);
    message.to = to;
    update->messages[update->message_count++] = message;
}

void select_stamp(struct tacit_select_update *update, uint32_t from, uint64_t run_id, uint64_t term)
{
    for (uint32_t i = 0; i < update->message_count; i++) {
        TACIT_ASSERT((from == TACIT_HUB) != (update->messages[i].to == TACIT_HUB));
        update->messages[i].from = from;
        update->messages[i].run_id = run_id;
        update->messages[i].term = term;
    }
}

void select_ask(const struct select_pieces *pieces, uint32_t to, uint32_t round,
                struct tacit_select_update *update)
{
    if (select_next_missing(pieces->have, select_count_of(pieces), pieces->first, pieces->mask))
        select_send(update, to,
                    (struct tacit_select_message){.kind = TACIT_SELECT_REQUEST,
                                                  .round = round,
                                                  .vector = pieces->vector,
                                                  .first = *pieces->first,
                                                  .mask = *pieces->mask});
}

enum tacit_status select_on_piece(const struct select_pieces *pieces, uint32_t round,
                                  const struct tacit_select_message *piece,
                                  struct tacit_select_update *update, bool *is_whole)
{
    enum tacit_select_vector const vector = pieces->vector;
    uint8_t digest[TACIT_SHA256_BYTES];
    if (piece->vector != vector || piece->first >= select_count_of(pieces) ||
        piece->number_count != tacit_select_piece_numbers(pieces->dimension, vector, piece->first))
        return TACIT_MALFORMED;
    const void *const numbers = vector == TACIT_SELECT_MODEL ? (const void *)piece->model_piece
                                                             : (const void *)piece->step_piece;
    digest_numbers(vector, numbers, piece->number_count, digest);
    if (memcmp(digest, digest_of(pieces, piece->first), sizeof digest) != 0)
        return TACIT_MALFORMED;
    memcpy(numbers_of(pieces, piece->first), numbers,
           (size_t)piece->number_count * width_of(vector));
    tacit_bits_add(pieces->have, piece->first);
    *is_whole = select_are_whole(pieces);
    if (!*is_whole && select_window_is_done(pieces->have, *pieces->first, *pieces->mask))
        select_ask(pieces, piece->from, round, update);
    return TACIT_OK;
}

void select_forget(const struct select_pieces *pieces, uint32_t index)
{
    TACIT_ASSERT(index < select_count_of(pieces));
    tacit_bits_remove(pieces->have, index);
    memset(numbers_of(pieces, index), 0,
           (size_t)tacit_select_piece_numbers(pieces->dimension, pieces->vector, index) *
               width_of(pieces->vector));
}

enum tacit_status select_on_request(const struct select_pieces *pieces,
                                    const struct tacit_select_message *request,
                                    struct tacit_select_update *update)
{
    if (!select_request_fits(request, select_count_of(pieces)))
        return TACIT_MALFORMED;
    uint32_t sent_count = 0;
    for (uint32_t i = 0; i < WINDOW_BITS && sent_count < TACIT_SELECT_PIECES_AT_ONCE; i++) {
        if ((request->mask >> i & 1u) == 0)
            continue;
        struct tacit_select_message piece = select_piece(pieces, request->first + i);
        piece.round = request->round;
        select_send(update, request->from, piece);
        sent_count++;
    }
    return TACIT_OK;
}

struct tacit_select_message select_piece(const struct select_pieces *pieces, uint32_t index)
{
    const void *const numbers = numbers_of(pieces, index);
    bool const is_model = pieces->vector == TACIT_SELECT_MODEL;
    return (struct tacit_select_message){
        .kind = TACIT_SELECT_PIECE,
        .vector = pieces->vector,
        .first = index,
        .model_piece = is_model ? numbers : NULL,
        .step_piece = is_model ? NULL : numbers,
        .number_count = tacit_select_piece_numbers(pieces->dimension, pieces->vector, index)};
}

/* Pieces of vectors. */
#include "piece.h"
#include <string.h>

#define BUFFER_NUMBERS 64u
#define WINDOW_BITS 32u

uint32_t tacit_select_piece_count(uint32_t dimension, enum tacit_select_vector vector)
{
    uint32_t const whole =
        vector == TACIT_SELECT_MODEL ? TACIT_SELECT_MODEL_NUMBERS : TACIT_SELECT_UPDATE_NUMBERS;
    TACIT_ASSERT(dimension <= TACIT_SELECT_DIMENSION_MAX);
    return (dimension + whole - 1) / whole;
}

uint32_t tacit_select_piece_numbers(uint32_t dimension, enum tacit_select_vector vector,
                                    uint32_t index)
{
    uint32_t const whole =
        vector == TACIT_SELECT_MODEL ? TACIT_SELECT_MODEL_NUMBERS : TACIT_SELECT_UPDATE_NUMBERS;
    TACIT_ASSERT(index < tacit_select_piece_count(dimension, vector));
    uint32_t const left = dimension - index * whole;
    return left < whole ? left : whole;
}

/* ---- Digests ---- */

static void put(uint8_t *bytes, uint64_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

void select_digest_floats(const float *numbers, uint32_t count, uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    uint8_t bytes[4 * BUFFER_NUMBERS];
    for (uint32_t at = 0; at < count;) {
        uint32_t filled = 0;
        for (; filled < BUFFER_NUMBERS && at < count; filled++, at++) {
            uint32_t word;
            memcpy(&word, &numbers[at], sizeof word);
            put(bytes + 4 * filled, word, 4);
        }
        tacit_sha256_update(&sha, bytes, 4 * (size_t)filled);
    }
    tacit_sha256_final(&sha, digest);
}

void select_digest_steps(const int64_t *numbers, uint32_t count, uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    uint8_t bytes[8 * BUFFER_NUMBERS];
    for (uint32_t at = 0; at < count;) {
        uint32_t filled = 0;
        for (; filled < BUFFER_NUMBERS && at < count; filled++, at++)
            put(bytes + 8 * filled, (uint64_t)numbers[at], 8);
        tacit_sha256_update(&sha, bytes, 8 * (size_t)filled);
    }
    tacit_sha256_final(&sha, digest);
}

void select_digest_model(const float *model, uint32_t dimension, uint8_t *digests)
{
    for (uint32_t i = 0; i < tacit_select_piece_count(dimension, TACIT_SELECT_MODEL); i++)
        select_digest_floats(model + (size_t)i * TACIT_SELECT_MODEL_NUMBERS,
                             tacit_select_piece_numbers(dimension, TACIT_SELECT_MODEL, i),
                             digests + (size_t)i * TACIT_SHA256_BYTES);
}

void select_digest_update(const int64_t *steps, uint32_t dimension, uint8_t *digests)
{
    for (uint32_t i = 0; i < tacit_select_piece_count(dimension, TACIT_SELECT_STEPS); i++)
        select_digest_steps(steps + (size_t)i * TACIT_SELECT_UPDATE_NUMBERS,
                            tacit_select_piece_numbers(dimension, TACIT_SELECT_STEPS, i),
                            digests + (size_t)i * TACIT_SHA256_BYTES);
}

void select_name_of(const uint8_t *digests, uint32_t count, uint8_t name[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, digests, (size_t)count * TACIT_SHA256_BYTES);
    tacit_sha256_final(&sha, name);
}

void select_release_of(const struct tacit_select_message *update,
                       uint8_t release[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    uint8_t numbers[24];
    TACIT_ASSERT(update->digests != NULL);
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

/* ---- Messages ---- */

struct tacit_select_message select_model_piece(const float *model, uint32_t dimension,
                                               uint32_t index)
{
    return (struct tacit_select_message){
        .kind = TACIT_SELECT_PIECE,
        .vector = TACIT_SELECT_MODEL,
        .first = index,
        .model_piece = model + (size_t)index * TACIT_SELECT_MODEL_NUMBERS,
        .number_count = tacit_select_piece_numbers(dimension, TACIT_SELECT_MODEL, index)};
}

struct tacit_select_message select_step_piece(const int64_t *steps, uint32_t dimension,
                                              uint32_t index)
{
    return (struct tacit_select_message){
        .kind = TACIT_SELECT_PIECE,
        .vector = TACIT_SELECT_STEPS,
        .first = index,
        .step_piece = steps + (size_t)index * TACIT_SELECT_UPDATE_NUMBERS,
        .number_count = tacit_select_piece_numbers(dimension, TACIT_SELECT_STEPS, index)};
}

bool select_piece_fits(const struct tacit_select_message *piece, enum tacit_select_vector vector,
                       uint32_t dimension, const uint8_t *digests)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    if (piece->vector != vector || piece->first >= tacit_select_piece_count(dimension, vector) ||
        piece->number_count != tacit_select_piece_numbers(dimension, vector, piece->first))
        return false;
    if (vector == TACIT_SELECT_MODEL)
        select_digest_floats(piece->model_piece, piece->number_count, digest);
    else
        select_digest_steps(piece->step_piece, piece->number_count, digest);
    return memcmp(digest, digests + (size_t)piece->first * TACIT_SHA256_BYTES, sizeof digest) == 0;
}

/* Reads what callers send (parsed by jansson) and writes JSON text directly, which is faster than
 * trees. */
#include "api_json.h"
#include "../daemon/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES_MIN 256u
#define PIECE_BYTES 1000u
#define ID_DIGITS_MAX 20u
#define SHOWN_BYTES_MAX 64u /* of a caller's text in an error */

/* ---- A growing text -------------------------------------------------------------------------- */

/* For so many bytes more. False: memory ran out, now or before. */
static bool make_room(struct live_buffer *buffer, size_t size)
{
    if (size <= buffer->capacity - buffer->size)
        return !buffer->failed;
    size_t capacity = buffer->capacity == 0 ? BUFFER_BYTES_MIN : 2 * buffer->capacity;
    if (capacity - buffer->size < size)
        capacity = buffer->size + size;
    char *const bytes = buffer->failed ? NULL : realloc(buffer->bytes, capacity);
    if (bytes == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void live_buffer_add_bytes(struct live_buffer *buffer, const char *bytes, size_t size)
{
    if (size == 0 || !make_room(buffer, size))
        return;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

void live_buffer_add(struct live_buffer *buffer, const char *text)
{
    live_buffer_add_bytes(buffer, text, strlen(text));
}

void live_buffer_add_u64(struct live_buffer *buffer, uint64_t value)
{
    char digits[ID_DIGITS_MAX];
    size_t first = sizeof digits;
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    live_buffer_add_bytes(buffer, digits + first, sizeof digits - first);
}

void live_buffer_add_quoted(struct live_buffer *buffer, const char *text)
{
    live_buffer_add_bytes(buffer, "\"", 1);
    for (const char *at = text; *at != '\0';) {
        size_t plain = 0;
        while ((unsigned char)at[plain] >= 0x20 && at[plain] != '"' && at[plain] != '\\')
            plain++;
        live_buffer_add_bytes(buffer, at, plain);
        at += plain;
        if (*at == '"' || *at == '\\')
            live_buffer_format(buffer, "\\%c", *at++);
        else if (*at != '\0')
            live_buffer_format(buffer, "\\u%04x", (unsigned)(unsigned char)*at++);
    }
    live_buffer_add_bytes(buffer, "\"", 1);
}

void live_buffer_format(struct live_buffer *buffer, const char *format, ...)
{
    char piece[PIECE_BYTES + 1];
    va_list arguments;
    va_start(arguments, format);
    int const size = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    TACIT_ASSERT(size >= 0);
    live_buffer_add_bytes(buffer, piece,
                          (size_t)size < sizeof piece ? (size_t)size : sizeof piece - 1);
}

void live_buffer_free(struct live_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct live_buffer){0};
}

/* ---- Names of arms --------------------------------------------------------------------------- */

static bool same_name(const void *item, const void *wanted)
{
    const struct live_arm_name *const name = item;
    return strcmp(name->text, wanted) == 0;
}

static const struct live_arm_name *find_name(const struct live_arm_names *names, const char *text)
{
    return live_table_find(&names->table, live_hash_text(0, text), same_name, text);
}

/* Errors: live_arm_names_free frees what there is of it. */
static enum tacit_status add_name(struct live_arm_names *names, uint32_t arm, const char *text)
{
    if (text[0] == '\0' || find_name(names, text) != NULL)
        return TACIT_INVALID;
    struct live_arm_name *const name = &names->names[arm];
    struct live_buffer quoted = {0};
    live_buffer_add_quoted(&quoted, text);
    live_buffer_add_bytes(&quoted, "", 1);
    *name = (struct live_arm_name){.arm = arm, .text = strdup(text), .quoted = quoted.bytes};
    if (name->text == NULL || quoted.failed || !live_table_reserve(&names->table))
        return TACIT_MEMORY;
    live_table_add(&names->table, live_hash_text(0, text), name);
    return TACIT_OK;
}

enum tacit_status live_arm_names_init(struct live_arm_names *names, uint32_t arm_count,
                                      const char *const *texts)
{
    *names = (struct live_arm_names){.arm_count = arm_count};
    if (texts == NULL)
        return TACIT_OK;
    names->names = calloc(arm_count, sizeof names->names[0]);
    enum tacit_status status = names->names == NULL ? TACIT_MEMORY : TACIT_OK;
    for (uint32_t arm = 0; arm < arm_count && status == TACIT_OK; arm++)
        status = add_name(names, arm, texts[arm]);
    if (status != TACIT_OK)
        live_arm_names_free(names);
    return status;
}

void live_arm_names_free(struct live_arm_names *names)
{
    for (uint32_t arm = 0; names->names != NULL && arm < names->arm_count; arm++) {
        free(names->names[arm].text);
        free(names->names[arm].quoted);
    }
    free(names->names);
    live_table_free(&names->table, NULL);
    *names = (struct live_arm_names){0};
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static bool wrong(struct tacit_error *error, const char *text)
{
    (void)snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

/* What the caller wrote, if it is short; never cut inside a character. */
static const char *shown(const char *text)
{
    return strnlen(text, SHOWN_BYTES_MAX + 1) <= SHOWN_BYTES_MAX ? text : "(a long text)";
}

static bool wrong_member(struct tacit_error *error, const char *member, const char *allowed)
{
    (void)snprintf(error->text, sizeof error->text, "unknown member '%s'; allowed: %s",
                   shown(member), allowed);
    return false;
}

/* jansson quotes the place of an error and may cut it inside a character. */
static void make_ascii(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text >= 0x80)
            *text = '?';
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

static json_t *read_object(const uint8_t *body, size_t size, size_t flags,
                           struct tacit_error *error)
{
    if (size == 0)
        body = (const uint8_t *)"{}";
    json_error_t problem;
    json_t *const value = json_loadb((const char *)body, size == 0 ? 2 : size,
                                     JSON_REJECT_DUPLICATES | flags, &problem);
    if (value == NULL) {
        make_ascii(problem.text);
        (void)snprintf(error->text, sizeof error->text,
                       "the body is not JSON: line %d, column %d: %.120s; a number must be finite: "
                       "NaN, infinities and numbers beyond a double are not JSON either",
                       problem.line, problem.column, problem.text);
        return NULL;
    }
    if (!json_is_object(value)) {
        (void)wrong(error, "the body must be a JSON object");
        json_decref(value);
        return NULL;
    }
    return value;
}

json_t *live_api_read_body(const uint8_t *body, size_t size, struct tacit_error *error)
{
    return read_object(body, size, 0, error);
}

json_t *live_api_read_rewards(const uint8_t *body, size_t size, struct tacit_error *error)
{
    return read_object(body, size, JSON_DECODE_INT_AS_REAL, error);
}

static bool read_text(const json_t *value, const char *member, const char **text,
                      struct tacit_error *error)
{
    size_t const size = json_is_string(value) ? json_string_length(value) : 0;
    if (size == 0 || size > LIVE_KEY_BYTES_MAX) {
        (void)snprintf(error->text, sizeof error->text, "%s must be a text of 1 to %u bytes",
                       member, LIVE_KEY_BYTES_MAX);
        return false;
    }
    *text = json_string_value(value);
    return true;
}

static bool read_arm(const struct live_arm_names *names, const json_t *value, uint32_t *arm,
                     struct tacit_error *error)
{
    if (json_is_string(value)) {
        const char *const text = json_string_value(value);
        const struct live_arm_name *const name = find_name(names, text);
        if (name == NULL) {
            (void)snprintf(error->text, sizeof error->text, "unavailable: there is no arm '%s'; %s",
                           shown(text),
                           names->names == NULL ? "arms have no names here, only numbers"
                                                : "GET /v1/status lists the arms");
            return false;
        }
        *arm = name->arm;
        return true;
    }
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        json_integer_value(value) < names->arm_count) {
        *arm = (uint32_t)json_integer_value(value);
        return true;
    }
    (void)snprintf(error->text, sizeof error->text,
                   "unavailable: an arm is a name or a whole number from 0 to %" PRIu32,
                   names->arm_count - 1);
    return false;
}

static bool read_unavailable(const struct live_arm_names *names, const json_t *value,
                             uint64_t *unavailable, struct live_decision_request *request,
                             struct tacit_error *error)
{
    if (!json_is_array(value))
        return wrong(error, "unavailable must be a list of arms, by number or by name");
    if (json_array_size(value) == 0)
        return true;
    memset(unavailable, 0, TACIT_BITS_WORDS(names->arm_count) * sizeof unavailable[0]);
    for (size_t i = 0; i < json_array_size(value); i++) {
        uint32_t arm;
        if (!read_arm(names, json_array_get(value, i), &arm, error))
            return false;
        tacit_bits_add(unavailable, arm);
    }
    request->unavailable = unavailable;
    return true;
}

static bool wrong_contexts(struct tacit_error *error)
{
    return wrong(error,
                 "contexts must be a list of one vector for each arm, all of the same length, "
                 "1 to 64 finite numbers");
}

/* One row an arm. What they mean is the protocol's: it refuses those that are too long for it. */
static bool read_contexts(const struct live_arm_names *names, const json_t *value, double *contexts,
                          struct live_decision_request *request, struct tacit_error *error)
{
    size_t const count = json_array_size(value); /* 0 if it is no list */
    size_t const dimension = json_array_size(json_array_get(value, 0));
    if (count != names->arm_count || dimension == 0 || dimension > LIVE_API_DIMENSION_MAX)
        return wrong_contexts(error);
    for (size_t k = 0; k < count; k++) {
        json_t const *const row = json_array_get(value, k);
        if (json_array_size(row) != dimension)
            return wrong_contexts(error);
        for (size_t i = 0; i < dimension; i++) {
            json_t const *const number = json_array_get(row, i);
            double const x = json_number_value(number);
            if (!json_is_number(number) || !isfinite(x))
                return wrong_contexts(error);
            contexts[k * dimension + i] = x;
        }
    }
    request->contexts = contexts;
    request->context_count = (uint32_t)count;
    request->dimension = (uint32_t)dimension;
    return true;
}

static bool read_decision_member(const struct live_arm_names *names, const char *member,
                                 const json_t *value, const struct live_api_room *room,
                                 struct live_decision_request *request, struct tacit_error *error)
{
    if (strcmp(member, "key") == 0)
        return read_text(value, member, &request->key, error);
    if (strcmp(member, "unit") == 0)
        return read_text(value, member, &request->unit, error);
    if (strcmp(member, "unavailable") == 0)
        return read_unavailable(names, value, room->unavailable, request, error);
    if (strcmp(member, "contexts") == 0)
        return read_contexts(names, value, room->contexts, request, error);
    return wrong_member(error, member, "key, unit, unavailable, contexts");
}

bool live_api_read_decision(const struct live_arm_names *names, const json_t *value,
                            const struct live_api_room *room, struct live_decision_request *request,
                            struct tacit_error *error)
{
    *request = (struct live_decision_request){0};
    if (!json_is_object(value))
        return wrong(error, "a request is an object: {\"key\"?, \"unit\"?, \"unavailable\"?, "
                            "\"contexts\"?}");
    json_t *const object = (json_t *)value; /* its iterators want no const; they change nothing */
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        if (!read_decision_member(names, json_object_iter_key(at), json_object_iter_value(at), room,
                                  request, error))
            return false;
    }
    return true;
}

bool live_api_read_id(const char *text, uint8_t id[LIVE_ID_BYTES])
{
    return text != NULL && live_hex_read(text, strlen(text), id, LIVE_ID_BYTES);
}

static bool read_reward_member(const char *member, const json_t *value,
                               struct live_api_reward *reward, struct tacit_error *error)
{
    if (strcmp(member, "id") == 0)
        return live_api_read_id(json_string_value(value), reward->id) ||
               wrong(error, "id must be the text that the decision came with: 32 digits of "
                            "0 to 9 and a to f, in quotes");
    if (strcmp(member, "reward") == 0) {
        reward->value = json_number_value(value);
        return (json_is_number(value) && isfinite(reward->value)) ||
               wrong(error, "reward must be a finite number, such as 0.7");
    }
    return wrong_member(error, member, "id, reward");
}

bool live_api_read_reward(const json_t *value, struct live_api_reward *reward,
                          struct tacit_error *error)
{
    *reward = (struct live_api_reward){0};
    if (!json_is_object(value))
        return wrong(error, "a reward is an object: {\"id\", \"reward\"}");
    json_t *const object = (json_t *)value; /* as above */
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        if (!read_reward_member(json_object_iter_key(at), json_object_iter_value(at), reward,
                                error))
            return false;
    }
    if (json_object_size(value) != 2)
        return wrong(error, "a reward needs id and reward");
    return true;
}

bool live_api_read_batch(json_t *body, const char *member, size_t max, json_t **list,
                         struct tacit_error *error)
{
    *list = json_object_get(body, member);
    if (!json_is_array(*list) || json_object_size(body) != 1 || json_array_size(*list) > max) {
        (void)snprintf(error->text, sizeof error->text,
                       "the body must be {\"%s\": [ .. ]} with up to %zu elements", member, max);
        return false;
    }
    return true;
}

/* Text of the decision API: what callers may send, checked member by member, and a buffer that
 * answers are written into. No I/O. K arms. */
#ifndef TACIT_LIVE_API_JSON_H
#define TACIT_LIVE_API_JSON_H
#include "decisions.h"
#include "id_table.h"
#include "ids.h"
#include <jansson.h>

/* ---- A growing text -------------------------------------------------------------------------- */

/* All zero is an empty text. */
struct live_buffer {
    char *bytes; /* not terminated */
    size_t size;
    size_t capacity;
    bool failed; /* memory ran out: what is there is of no use */
};

void live_buffer_add_bytes(struct live_buffer *buffer, const char *bytes, size_t size);
void live_buffer_add(struct live_buffer *buffer, const char *text);
void live_buffer_add_u64(struct live_buffer *buffer, uint64_t value);
/* As a JSON text with its quotes. */
void live_buffer_add_quoted(struct live_buffer *buffer, const char *text);
/* Short pieces (up to 1000 bytes) in the manner of printf. */
void live_buffer_format(struct live_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void live_buffer_free(struct live_buffer *buffer);

/* ---- Names of arms --------------------------------------------------------------------------- */

struct live_arm_name {
    uint32_t arm;
    char *text;
    char *quoted; /* as JSON, with the quotes */
};

struct live_arm_names {
    uint32_t arm_count;
    struct live_arm_name *names; /* K, or NULL: arms have numbers only */
    struct live_table table;
};

/* texts: K, copied; or NULL. Errors: TACIT_INVALID (an empty or repeated name), TACIT_MEMORY. */
enum tacit_status live_arm_names_init(struct live_arm_names *names, uint32_t arm_count,
                                      const char *const *texts);
void live_arm_names_free(struct live_arm_names *names);

/* ---- Requests -------------------------------------------------------------------------------- */

/* Each reader returns false with one line in error->text: what is wrong and what is allowed. */

/* The body as a JSON object; no body is {}. NULL: error. The caller gives it back with json_decref.
 */
json_t *live_api_read_body(const uint8_t *body, size_t size, struct tacit_error *error);

/* The same for a body of rewards: a whole number beyond 64 bits is a number like any other. */
json_t *live_api_read_rewards(const uint8_t *body, size_t size, struct tacit_error *error);

/* Room for what a request says: TACIT_BITS_WORDS(K) words, and K LIVE_API_DIMENSION_MAX numbers. */
struct live_api_room {
    uint64_t *unavailable;
    double *contexts;
};

#define LIVE_API_DIMENSION_MAX 64u

/* {"key"?, "unit"?, "unavailable"?, "contexts"?}. The request's texts belong to the JSON, its set
 * and its contexts to the room. */
bool live_api_read_decision(const struct live_arm_names *names, const json_t *value,
                            const struct live_api_room *room, struct live_decision_request *request,
                            struct tacit_error *error);

struct live_api_reward {
    uint8_t id[LIVE_ID_BYTES];
    double value; /* finite */
};

/* Hexadecimal digits as the decision gave them: small, two a byte. */
bool live_api_read_id(const char *text, uint8_t id[LIVE_ID_BYTES]);

/* {"id", "reward"}. What is no finite number is refused: whether it is one, the caller knows, and
 * may be public; where in the range it is, is not (PRIVACY.md D.66). */
bool live_api_read_reward(const json_t *value, struct live_api_reward *reward,
                          struct tacit_error *error);

/* {"<member>": [ .. ]} with up to `max` elements, and nothing else. *list belongs to the body. */
bool live_api_read_batch(json_t *body, const char *member, size_t max, json_t **list,
                         struct tacit_error *error);
#endif

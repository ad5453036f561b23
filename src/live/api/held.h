/* Answers that promise something: they wait until the round in which they were made is durable
 * (group commit). */
#ifndef TACIT_LIVE_HELD_H
#define TACIT_LIVE_HELD_H
#include "api_json.h"
#include "http.h"

/* All zero: none. */
struct live_held {
    struct live_request *first; /* in order of arrival */
    struct live_request *last;
    size_t count;
};

/* The text is taken over. If memory ran out for it the answer is a 503, at once. type: static. */
void live_held_add(struct live_held *held, struct live_request *request, unsigned code,
                   const char *type, struct live_buffer *text);

/* Ends a round: the answers go out if what they promise is durable; if not, each becomes a 503 and
 * nothing is acknowledged. */
void live_held_release(struct live_held *held, bool durable);

/* Answers at once; the text is taken over, and a 503 if memory ran out. */
void live_answer(struct live_request *request, unsigned code, const char *type,
                 struct live_buffer *text);
#endif

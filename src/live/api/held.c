/* A list of answers that wait. */
#include "held.h"
#include <string.h>

static void answer_unavailable(struct live_request *request, const char *text)
{
    live_http_answer(request, 503, "application/json", text, strlen(text));
}

void live_answer(struct live_request *request, unsigned code, const char *type,
                 struct live_buffer *text)
{
    if (text->failed)
        answer_unavailable(request, "{\"error\": \"out of memory\"}");
    else
        live_http_answer(request, code, type, text->bytes, text->size);
    live_buffer_free(text);
}

void live_held_add(struct live_held *held, struct live_request *request, unsigned code,
                   const char *type, struct live_buffer *text)
{
    TACIT_ASSERT((held->first == NULL) == (held->count == 0));
    if (text->failed) {
        live_answer(request, code, type, text);
        return;
    }
    request->held = (struct live_held_answer){
        .code = code, .type = type, .bytes = text->bytes, .size = text->size};
    *(held->first == NULL ? &held->first : &held->last->held.next) = request;
    held->last = request;
    held->count++;
}

void live_held_release(struct live_held *held, bool durable)
{
    struct live_request *at = held->first;
    *held = (struct live_held){0};
    while (at != NULL) {
        struct live_held_answer const answer = at->held;
        struct live_buffer text = {.bytes = answer.bytes, .size = answer.size};
        if (durable) {
            live_answer(at, answer.code, answer.type, &text);
        } else {
            answer_unavailable(at, "{\"error\": \"the change could not be made durable; "
                                   "nothing is acknowledged; ask again\"}");
            live_buffer_free(&text);
        }
        at = answer.next;
    }
}

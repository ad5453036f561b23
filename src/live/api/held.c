/* A list of answers that wait. */
#include "held.h"
#include <stdlib.h>
#include <string.h>

struct live_held_answer {
    struct live_held_answer *next;
    struct live_request *request;
    unsigned code;
    const char *type;
    struct live_buffer text;
};

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
    struct live_held_answer *const added = text->failed ? NULL : malloc(sizeof *added);
    TACIT_ASSERT((held->first == NULL) == (held->count == 0));
    if (added == NULL) {
        text->failed = true;
        live_answer(request, code, type, text);
        return;
    }
    *added =
        (struct live_held_answer){.request = request, .code = code, .type = type, .text = *text};
    *(held->first == NULL ? &held->first : &held->last->next) = added;
    held->last = added;
    held->count++;
}

void live_held_release(struct live_held *held, bool durable)
{
    struct live_held_answer *at = held->first;
    *held = (struct live_held){0};
    while (at != NULL) {
        struct live_held_answer *const next = at->next;
        if (!durable) {
            answer_unavailable(at->request, "{\"error\": \"the change could not be made durable; "
                                            "nothing is acknowledged; ask again\"}");
            live_buffer_free(&at->text);
        } else {
            live_answer(at->request, at->code, at->type, &at->text);
        }
        free(at);
        at = next;
    }
}

/* Any bytes as the head of a request: however they come, the verdict is the same; what is read lies
 * in the bytes, and holds nothing that could end a line. */
#include <stdlib.h>
#include <string.h>
#include "../../src/live/api/http_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Comes in two pieces, the second byte by byte. */
static size_t size_in_pieces(const char *bytes, size_t size, size_t split,
                             struct live_http_refusal *refusal)
{
    size_t looked = 0;
    size_t found = live_http_head_size(bytes, split, &looked, refusal);
    for (size_t here = split + 1; here <= size && found == 0 && refusal->code == 0; here++)
        found = live_http_head_size(bytes, here, &looked, refusal);
    return found;
}

static void check_text(const char *text, const char *bytes, size_t size)
{
    if (text == NULL)
        return;
    require(text >= bytes && text < bytes + size);
    require(strpbrk(text, "\r\n") == NULL);
    require(text + strlen(text) < bytes + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct live_http_refusal refusal;
    struct live_http_refusal again;
    size_t looked = 0;
    char head_bytes[LIVE_HEAD_BYTES_MAX];
    if (size > 2 * LIVE_HEAD_BYTES_MAX)
        return 0;
    const char *const text = (const char *)bytes;
    size_t const found = live_http_head_size(text, size, &looked, &refusal);
    require(found <= size && found <= LIVE_HEAD_BYTES_MAX && (found == 0 || refusal.code == 0));
    size_t const split = size == 0 ? 0 : bytes[size - 1] % size;
    require(size_in_pieces(text, size, split, &again) == found && again.code == refusal.code);
    if (found == 0)
        return 0;
    struct live_http_head head = {0};
    memcpy(head_bytes, bytes, found);
    refusal.code = 0;
    if (!live_http_head_read(head_bytes, found, &head, &refusal)) {
        require(refusal.code >= 400 && refusal.why != NULL);
        return 0;
    }
    require(refusal.code == 0 && head.method != NULL && head.path != NULL && head.path[0] == '/');
    require(head.has_length || head.length == 0);
    check_text(head.method, head_bytes, found);
    check_text(head.path, head_bytes, found);
    check_text(head.host, head_bytes, found);
    check_text(head.origin, head_bytes, found);
    return 0;
}

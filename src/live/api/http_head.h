/* The head of an HTTP/1.1 request, taken apart strictly: two who read it must not differ on where
 * it ends. Pure: bytes in, what they say out. Whatever is refused is refused at its first wrong
 * byte, so the answer does not depend on how the bytes came. */
#ifndef TACIT_LIVE_HTTP_HEAD_H
#define TACIT_LIVE_HTTP_HEAD_H
#include "tacit/base.h"

#define LIVE_HEAD_BYTES_MAX 8192u
#define LIVE_HEAD_FIELDS_MAX 64u

/* code 0: nothing is refused. */
struct live_http_refusal {
    unsigned code;
    const char *why;
};

struct live_http_head {
    const char *method; /* these texts lie in the bytes that were read */
    const char *path;   /* without what follows a question mark */
    const char *host;   /* NULL: not said */
    const char *origin; /* likewise */
    bool has_length;
    uint64_t length; /* of the body; 0 if not said */
    bool keeps;      /* the line stays open afterwards */
    bool expects;    /* 100-continue */
};

/* The size of the head that the bytes begin with, its empty line included; 0: it is not all there
 * yet, or it is refused. *looked: how many of the bytes were looked at by earlier calls; 0 at
 * first. Refused: a line that does not end in CR LF, a NUL or another control character, more than
 * LIVE_HEAD_BYTES_MAX bytes. Cost: O(new bytes). */
size_t live_http_head_size(const char *bytes, size_t size, size_t *looked,
                           struct live_http_refusal *refusal);

/* Takes a whole head apart; writes into the bytes. Ensures: true: all of *head is set; false:
 * *refusal is. */
bool live_http_head_read(char *bytes, size_t size, struct live_http_head *head,
                         struct live_http_refusal *refusal);
#endif

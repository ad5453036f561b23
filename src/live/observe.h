/* Being watched from elsewhere (`observe` in the files): page, health and metrics on an address of
 * the machine, and nothing that can be said or changed. What it shows is what the local API shows
 * under the same paths. */
#ifndef TACIT_LIVE_OBSERVE_H
#define TACIT_LIVE_OBSERVE_H
#include "api/http.h"

struct live_observe {
    struct live_http *http; /* NULL: nobody outside looks */
    const struct live_http_config *config;
    void (*answer)(void *context, struct live_request *request);
    void *context;
};

/* Nothing if the file names no address. answer: of a GET of one of the paths. Errors: as
 * live_http_open. */
enum tacit_status live_observe_open(struct live_observe *observe, struct live_loop *loop,
                                    const struct live_http_config *config,
                                    void (*answer)(void *context, struct live_request *request),
                                    void *context, struct tacit_error *error);
/* Reads the certificates anew; if they are wrong those that are there stay, and the log says why.
 */
void live_observe_reload(struct live_observe *observe);
void live_observe_close(struct live_observe *observe);
#endif

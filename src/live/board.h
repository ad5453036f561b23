/* The dashboard of a daemon, from its status as JSON has it, and so of nothing that /status does
 * not show: the same page for hub, site and helper. */
#ifndef TACIT_LIVE_BOARD_H
#define TACIT_LIVE_BOARD_H
#include "api/api_json.h"
#include "history.h"

struct live_board {
    const json_t *status;
    const json_t *arms; /* objects with name, and what is known: as in a status, or a result; NULL:
                         * nothing is known of arms here, nor is there anything to draw */
    const char *role;   /* "coordinator", "site north", "helper" */
    const char *protocol;
    const char *version;
    const char *const *arm_names;
    const struct live_history *history;
    double lo; /* range of a reward */
    double hi;
    const char *statement; /* of privacy */
};

/* Adds the page. */
void live_board_write(const struct live_board *board, struct live_buffer *out);
#endif

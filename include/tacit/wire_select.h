/* A training federation on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/select.proto; the length of a message depends on public numbers only. No I/O. */
#ifndef TACIT_WIRE_SELECT_H
#define TACIT_WIRE_SELECT_H
#include "tacit/select.h"
#include "tacit/wire.h"

#define TACIT_WIRE_SELECT_FAMILY 5u
#define TACIT_WIRE_SELECT_NAME "select"
#define TACIT_WIRE_SELECT_VERSION 1u

/* Messages are struct tacit_select_message; a piece has as many numbers as it says, at most those
 * of a whole one. */
extern const struct tacit_wire_protocol tacit_wire_select;

/* What a site needs to know of the run: its horizon is the number of rounds, its epsilon the total
 * of a site. */
struct tacit_wire_select_run {
    TACIT_WIRE_RUN_HEAD
    uint32_t dimension;
    uint32_t batches;
    uint32_t deadline_s;
    double clip;
};
#endif

/* Play in phases on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/phased.proto; every field has a fixed size, so that the length of a message tells
 * nothing but how many arms the plan has. No I/O. */
#ifndef TACIT_WIRE_PHASED_H
#define TACIT_WIRE_PHASED_H
#include "tacit/phased.h"
#include "tacit/wire.h"

#define TACIT_WIRE_PHASED_FAMILY 6u
#define TACIT_WIRE_PHASED_NAME "phased-index"
#define TACIT_WIRE_PHASED_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Messages are struct tacit_phased_message. */
extern const struct tacit_wire_protocol tacit_wire_phased;

/* What a site's core needs to know of the run. Requires, of what is encoded: a guard of no loss is
 * of TACIT_NO_ARM. */
struct tacit_wire_phased_run {
    TACIT_WIRE_RUN_HEAD
    struct tacit_phases schedule; /* of the hub's judge */
};
#endif

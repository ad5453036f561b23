/* The helper on the wire: a request of the hub and an answer of the helper, with all that a core
 * reads of them (src/wire/helper.proto). The same bytes go by broker and as files. No I/O. */
#ifndef TACIT_WIRE_HELPER_H
#define TACIT_WIRE_HELPER_H
#include "tacit/helper.h"
#include "tacit/wire.h"

#define TACIT_WIRE_HELPER_VERSION 1u
#define TACIT_WIRE_HELPER_PROOF_BYTES_MAX 65536u /* of one COMMIT as it came */

/* Of struct tacit_helper_request and _answer: the shape says how many sites there are. What
 * signatures say is the core's to ask. */
extern const struct tacit_wire_table tacit_wire_helper_request;
extern const struct tacit_wire_table tacit_wire_helper_answer;
#endif

/* The helper on the wire: a request of the hub and an answer of the helper, with all that a core
 * reads of them (src/wire/helper.proto). The same bytes go by broker and as files. No I/O. */
#ifndef TACIT_WIRE_HELPER_H
#define TACIT_WIRE_HELPER_H
#include "tacit/helper.h"
#include "tacit/wire.h"

#define TACIT_WIRE_HELPER_VERSION 1u
#define TACIT_WIRE_HELPER_PROOF_BYTES_MAX 65536u /* of one COMMIT as it came */

/* Bytes that …_encode writes. Cost: O(sites). */
size_t tacit_wire_helper_request_bytes(const struct tacit_helper_request *request);
size_t tacit_wire_helper_answer_bytes(const struct tacit_helper_answer *answer);

/* Requires: …_bytes of room. Ensures: exactly so many are written. */
void tacit_wire_helper_request_encode(const struct tacit_helper_request *request, uint8_t *bytes);
void tacit_wire_helper_answer_encode(const struct tacit_helper_answer *answer, uint8_t *bytes);

/* On TACIT_OK the message is one block of the allocator's, with all that it points to. Errors:
 * TACIT_MALFORMED (another version or form, sites beyond this run's, too many of anything),
 * TACIT_MEMORY. What signatures say is the core's to ask. */
enum tacit_status tacit_wire_helper_request_decode(const uint8_t *bytes, size_t size,
                                                   uint32_t site_count,
                                                   struct tacit_helper_request **request,
                                                   const struct tacit_wire_allocator *allocator);
enum tacit_status tacit_wire_helper_answer_decode(const uint8_t *bytes, size_t size,
                                                  uint32_t site_count,
                                                  struct tacit_helper_answer **answer,
                                                  const struct tacit_wire_allocator *allocator);
#endif

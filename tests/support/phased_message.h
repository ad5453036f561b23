/* Deep copies of messages of play in phases, for drivers that deliver later than at once. */
#ifndef TACIT_TESTS_PHASED_MESSAGE_H
#define TACIT_TESTS_PHASED_MESSAGE_H
#include "tacit/phased.h"

/* Bytes that a deep copy of the message needs. */
size_t phased_message_size(const struct tacit_phased_message *message);

/* Deep copy into `memory` (8-byte aligned, ..._size bytes), which then holds all of it. */
const struct tacit_phased_message *phased_message_copy(const struct tacit_phased_message *message,
                                                       void *memory);
#endif

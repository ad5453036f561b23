/* The announcement of a run as protobuf (tacit.proto). */
#include "tacit/wire.h"
#include "tacit.pb-c.h"

void tacit_wire_announcement_encode(const struct tacit_wire_announcement *announcement,
                                    uint8_t bytes[TACIT_WIRE_ANNOUNCEMENT_BYTES])
{
    Tacit__V1__Announcement message = TACIT__V1__ANNOUNCEMENT__INIT;
    message.version = TACIT_WIRE_VERSION;
    message.run_id = announcement->run_id;
    message.agent = announcement->agent;
    message.agent_count = announcement->agent_count;
    message.arm_count = announcement->arm_count;
    message.horizon = announcement->horizon;
    message.epsilon_nano = announcement->epsilon_nano;
    TACIT_ASSERT(tacit__v1__announcement__get_packed_size(&message) ==
                 TACIT_WIRE_ANNOUNCEMENT_BYTES);
    (void)tacit__v1__announcement__pack(&message, bytes);
}

static bool is_possible(const Tacit__V1__Announcement *message)
{
    return message->version == TACIT_WIRE_VERSION && message->agent_count >= 1 &&
           message->agent_count <= TACIT_AGENTS_MAX && message->agent < message->agent_count &&
           message->arm_count >= 1 && message->arm_count <= TACIT_ARMS_MAX &&
           message->horizon >= 1 && message->horizon <= TACIT_HORIZON_MAX &&
           message->epsilon_nano > 0;
}

enum tacit_status tacit_wire_announcement_decode(const uint8_t *bytes, size_t size,
                                                 struct tacit_wire_announcement *announcement)
{
    if (size != TACIT_WIRE_ANNOUNCEMENT_BYTES)
        return TACIT_MALFORMED;
    Tacit__V1__Announcement *const message = tacit__v1__announcement__unpack(NULL, size, bytes);
    if (message == NULL)
        return TACIT_MALFORMED;
    enum tacit_status const status = is_possible(message) ? TACIT_OK : TACIT_MALFORMED;
    if (status == TACIT_OK)
        *announcement = (struct tacit_wire_announcement){.run_id = message->run_id,
                                                         .agent = message->agent,
                                                         .agent_count = message->agent_count,
                                                         .arm_count = message->arm_count,
                                                         .horizon = message->horizon,
                                                         .epsilon_nano = message->epsilon_nano};
    tacit__v1__announcement__free_unpacked(message, NULL);
    return status;
}

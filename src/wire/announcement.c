/* The announcement of a run as protobuf (announcement.proto), and the digest of what it says. */
#include <math.h>
#include <string.h>
#include "form.h"
#include "tacit/commit.h"
#include "tacit/wire.h"
#include "announcement.pb-c.h"

#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"

/* ---- Texts ---- */

/* Bytes of the character that begins here, or 0: not UTF-8, or a control character. Longer forms
 * than needed, surrogates and what is beyond U+10FFFF are no UTF-8 (RFC 3629, section 4). */
static size_t character_bytes(const unsigned char *at)
{
    unsigned const lowest = at[0] == 0xe0 ? 0xa0u : at[0] == 0xf0 ? 0x90u : 0x80u;
    unsigned const highest = at[0] == 0xed ? 0x9fu : at[0] == 0xf4 ? 0x8fu : 0xbfu;
    if (at[0] < 0x80)
        return at[0] >= 0x20 && at[0] != 0x7f ? 1 : 0;
    size_t const size = at[0] >= 0xc2 && at[0] <= 0xdf             ? 2
                        : (at[0] & 0xf0u) == 0xe0                  ? 3
                        : (at[0] & 0xf8u) == 0xf0 && at[0] <= 0xf4 ? 4
                                                                   : 0;
    if (size == 0 || at[1] < lowest || at[1] > highest)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xc0u) != 0x80)
            return 0;
    return at[0] == 0xc2 && at[1] < 0xa0 ? 0 : size; /* U+0080 to U+009F: control characters */
}

bool tacit_wire_is_arm_name(const char *text)
{
    TACIT_ASSERT(text != NULL);
    size_t const length = strlen(text);
    if (length < 1 || length > TACIT_WIRE_NAME_BYTES_MAX)
        return false;
    for (size_t at = 0; at < length;) {
        size_t const size = character_bytes((const unsigned char *)text + at);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}

static bool is_word(const char *text)
{
    TACIT_ASSERT(text != NULL);
    size_t const length = strlen(text);
    return length >= 1 && length <= TACIT_WIRE_NAME_BYTES_MAX &&
           strspn(text, WORD_CHARACTERS) == length;
}

/* ---- Limits ---- */

static bool numbers_are_possible(const struct tacit_wire_agreement *agreement)
{
    return agreement->agent_count >= 1 && agreement->agent_count <= TACIT_AGENTS_MAX &&
           agreement->arm_count >= 1 && agreement->arm_count <= TACIT_ARMS_MAX &&
           agreement->horizon >= 1 && agreement->horizon <= TACIT_HORIZON_MAX &&
           isfinite(agreement->lo) && isfinite(agreement->hi) && agreement->lo < agreement->hi;
}

static bool is_possible(const struct tacit_wire_agreement *agreement)
{
    if (!numbers_are_possible(agreement) || !is_word(agreement->protocol))
        return false;
    for (uint32_t arm = 0; arm < agreement->arm_count; arm++)
        if (!tacit_wire_is_arm_name(agreement->arms[arm]))
            return false;
    return true;
}

/* ---- Encoding ---- */

static size_t agreement_bytes(const struct tacit_wire_agreement *agreement)
{
    TACIT_ASSERT(agreement->arms != NULL);
    size_t names = 0;
    for (uint32_t arm = 0; arm < agreement->arm_count; arm++)
        names += wire_field_bytes(strlen(agreement->arms[arm]));
    return wire_field_bytes(TACIT_WIRE_RUN_BYTES) + wire_field_bytes(strlen(agreement->protocol)) +
           3 * WIRE_FIXED32 + names + 4 * WIRE_FIXED64 +
           wire_field_bytes(agreement->parameters_size);
}

size_t tacit_wire_announcement_bytes(const struct tacit_wire_announcement *announcement)
{
    return WIRE_FIXED32 + wire_field_bytes(agreement_bytes(&announcement->agreement)) +
           WIRE_FIXED32 + wire_field_bytes(announcement->place_size);
}

static ProtobufCBinaryData binary(const uint8_t *bytes, size_t size)
{
    TACIT_IMPLIES(size > 0, bytes != NULL);
    return (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)bytes};
}

/* Ensures: message->arms is to be given back. False: out of memory. */
static bool fill_agreement(const struct tacit_wire_agreement *agreement,
                           Tacit__V2__Agreement *message,
                           const struct tacit_wire_allocator *allocator)
{
    TACIT_ASSERT(is_possible(agreement));
    tacit__v2__agreement__init(message);
    message->run = binary(agreement->run, sizeof agreement->run);
    message->protocol = (char *)(uintptr_t)agreement->protocol;
    message->family = agreement->family;
    message->protocol_version = agreement->protocol_version;
    message->agent_count = agreement->agent_count;
    message->lo = agreement->lo;
    message->hi = agreement->hi;
    message->horizon = agreement->horizon;
    message->epsilon_nano = agreement->epsilon_nano;
    message->parameters = binary(agreement->parameters, agreement->parameters_size);
    message->n_arms = agreement->arm_count;
    message->arms = wire_take_zeros(allocator, (agreement->arm_count) * sizeof *message->arms);
    for (uint32_t arm = 0; message->arms != NULL && arm < agreement->arm_count; arm++)
        message->arms[arm] = (char *)(uintptr_t)agreement->arms[arm];
    return message->arms != NULL;
}

enum tacit_status
tacit_wire_announcement_encode_with(const struct tacit_wire_announcement *announcement,
                                    uint8_t *bytes, const struct tacit_wire_allocator *allocator)
{
    Tacit__V2__Announcement message = TACIT__V2__ANNOUNCEMENT__INIT;
    Tacit__V2__Agreement agreement;
    TACIT_ASSERT(announcement->agent < announcement->agreement.agent_count);
    if (!fill_agreement(&announcement->agreement, &agreement, allocator))
        return TACIT_MEMORY;
    message.version = TACIT_WIRE_VERSION;
    message.agreement = &agreement;
    message.agent = announcement->agent;
    message.place = binary(announcement->place, announcement->place_size);
    size_t const written = tacit__v2__announcement__pack(&message, bytes);
    TACIT_ASSERT(written == tacit_wire_announcement_bytes(announcement));
    wire_give(allocator, agreement.arms);
    return TACIT_OK;
}

enum tacit_status tacit_wire_agreement_digest_with(const struct tacit_wire_agreement *agreement,
                                                   uint8_t digest[TACIT_WIRE_DIGEST_BYTES],
                                                   const struct tacit_wire_allocator *allocator)
{
    Tacit__V2__Agreement message;
    size_t const size = agreement_bytes(agreement);
    uint8_t *const bytes = wire_take(allocator, size);
    enum tacit_status status = TACIT_MEMORY;
    if (bytes != NULL && fill_agreement(agreement, &message, allocator)) {
        size_t const written = tacit__v2__agreement__pack(&message, bytes);
        TACIT_ASSERT(written == size);
        wire_give(allocator, message.arms);
        struct tacit_sha256 sha = tacit_sha256_init();
        tacit_sha256_update(&sha, bytes, size);
        tacit_sha256_final(&sha, digest);
        status = TACIT_OK;
    }
    wire_give(allocator, bytes);
    return status;
}

/* ---- Decoding ---- */

/* The message as our struct, which points into it; `arms` has room for its names. */
static bool look_at(const Tacit__V2__Announcement *message, const char **arms,
                    struct tacit_wire_announcement *found)
{
    TACIT_ASSERT(message->agreement != NULL);
    Tacit__V2__Agreement const *const from = message->agreement;
    struct tacit_wire_agreement *const agreement = &found->agreement;
    if (message->version != TACIT_WIRE_VERSION || from->run.len != sizeof agreement->run)
        return false;
    for (size_t arm = 0; arm < from->n_arms; arm++)
        arms[arm] = from->arms[arm];
    *agreement = (struct tacit_wire_agreement){.protocol = from->protocol,
                                               .family = from->family,
                                               .protocol_version = from->protocol_version,
                                               .agent_count = from->agent_count,
                                               .arm_count = (uint32_t)from->n_arms,
                                               .arms = arms,
                                               .lo = from->lo,
                                               .hi = from->hi,
                                               .horizon = from->horizon,
                                               .epsilon_nano = from->epsilon_nano,
                                               .parameters = from->parameters.data,
                                               .parameters_size = from->parameters.len};
    memcpy(agreement->run, from->run.data, sizeof agreement->run);
    found->agent = message->agent;
    found->place = message->place.data;
    found->place_size = message->place.len;
    return is_possible(agreement) && found->agent < agreement->agent_count;
}

/* The right length may still hold fields in another order, or more than once. */
static enum tacit_status check_form(const struct tacit_wire_announcement *announcement,
                                    const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_announcement_bytes(announcement) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_announcement_encode_with(announcement, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

static void *put(uint8_t **at, const void *from, size_t size)
{
    TACIT_ASSERT(*at != NULL);
    void *const place = *at;
    if (size > 0)
        memcpy(place, from, size);
    *at += size;
    return place;
}

/* Everything in one block: the struct, the pointers to names, bytes. */
static struct tacit_wire_announcement *copy_of(const struct tacit_wire_announcement *found,
                                               const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_agreement const *const from = &found->agreement;
    size_t size = sizeof *found + from->arm_count * sizeof(char *) + strlen(from->protocol) + 1 +
                  from->parameters_size + found->place_size;
    for (uint32_t arm = 0; arm < from->arm_count; arm++)
        size += strlen(from->arms[arm]) + 1;
    struct tacit_wire_announcement *const made = wire_take(allocator, size);
    if (made == NULL)
        return NULL;
    *made = *found;
    const char **const arms = (const char **)(made + 1);
    uint8_t *at = (uint8_t *)(arms + from->arm_count);
    for (uint32_t arm = 0; arm < from->arm_count; arm++)
        arms[arm] = put(&at, from->arms[arm], strlen(from->arms[arm]) + 1);
    made->agreement.arms = arms;
    made->agreement.protocol = put(&at, from->protocol, strlen(from->protocol) + 1);
    made->agreement.parameters = put(&at, from->parameters, from->parameters_size);
    made->place = put(&at, found->place, found->place_size);
    TACIT_ASSERT(at == (uint8_t *)made + size);
    return made;
}

static enum tacit_status take(const Tacit__V2__Announcement *message, const uint8_t *bytes,
                              size_t size, struct tacit_wire_announcement **announcement,
                              const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_announcement found;
    if (message->agreement->n_arms > TACIT_ARMS_MAX)
        return TACIT_MALFORMED;
    const char **const arms =
        wire_take_zeros(allocator, (message->agreement->n_arms + 1) * sizeof *arms);
    if (arms == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = TACIT_MALFORMED;
    if (look_at(message, arms, &found))
        status = check_form(&found, bytes, size, allocator);
    if (status == TACIT_OK) {
        struct tacit_wire_announcement *const made = copy_of(&found, allocator);
        if (made == NULL)
            status = TACIT_MEMORY;
        else
            *announcement = made;
    }
    wire_give(allocator, arms);
    return status;
}

enum tacit_status tacit_wire_announcement_decode_with(const uint8_t *bytes, size_t size,
                                                      struct tacit_wire_announcement **announcement,
                                                      const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__Announcement *const message =
        tacit__v2__announcement__unpack(&protobuf, size, bytes);
    if (message == NULL)
        return TACIT_MALFORMED;
    enum tacit_status const status = take(message, bytes, size, announcement, allocator);
    tacit__v2__announcement__free_unpacked(message, &protobuf);
    return status;
}

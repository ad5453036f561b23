/* The announcement of a run (announcement.proto), and the digest of what it says. */
#include <string.h>
#include "tacit/bounds.h"
#include "tacit/commit.h"
#include "tacit/privacy.h"
#include "tacit/wire.h"
#include "walk.h"

#define ANNOUNCEMENT_VERSION 3u
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

/* ---- Fields ---- */

#define MESSAGE struct tacit_wire_agreement

static bool check_agreement(void *message)
{
    const struct tacit_wire_agreement *const agreement = message;
    if (!wire_is_of(agreement->protocol, WORD_CHARACTERS) || agreement->arm_count == 0 ||
        !(agreement->lo < agreement->hi))
        return false;
    for (uint32_t arm = 0; arm < agreement->arm_count; arm++)
        if (!tacit_wire_is_arm_name(agreement->arms[arm]))
            return false;
    return true;
}

static const struct wire_field agreement_fields[] = {
    BYTES(1, run, ALWAYS),
    FIELD(2, WIRE_TEXT, protocol, ALWAYS),
    NUMBER(3, family, ANY),
    NUMBER(4, protocol_version, ANY),
    NUMBER(5, agent_count, FROM(1), UP_TO(TACIT_AGENTS_MAX)),
    TEXTS(6, arms, COUNT(arm_count), UP_TO(TACIT_ARMS_MAX)),
    NUMBER(7, lo, ANY),
    NUMBER(8, hi, ANY),
    NUMBER(9, horizon, FROM(1), UP_TO(TACIT_HORIZON_MAX)),
    NUMBER(10, epsilon_nano, ANY),
    BLOB(11, parameters, parameters_size, ANY),
    NUMBER(12, floor_nano, IF(has_helper)),
};
static const struct tacit_wire_table agreements =
    TABLE("Agreement", FIELDS(agreement_fields), .check = check_agreement);

#undef MESSAGE
#define MESSAGE struct tacit_wire_announcement

static bool check_announcement(void *message)
{
    const struct tacit_wire_announcement *const announcement = message;
    return announcement->agent < announcement->agreement.agent_count;
}

#define SEALING(n, name) EACH(n, WIRE_BYTES, sealing, struct tacit_wire_sealing, name, IF(sealing))
static const struct wire_field fields[] = {
    VERSION(1, ANNOUNCEMENT_VERSION),
    PART(2, agreement, agreements),
    NUMBER(3, agent, ANY),
    BLOB(4, place, place_size, ANY),
    SEALING(5, identity),
    SEALING(6, key),
    SEALING(7, signature),
};
const struct tacit_wire_table tacit_wire_announcement =
    TABLE("Announcement", FIELDS(fields), .check = check_announcement);

/* ---- The digest ---- */

uint32_t tacit_wire_floor_milli(bool has_helper, uint64_t floor_nano)
{
    uint64_t const milli = floor_nano / (TACIT_NANO / 1000);
    bool const is_none = milli == 0 || milli >= TACIT_NO_FLOOR;
    return !has_helper ? TACIT_ONE_AGGREGATOR : is_none ? TACIT_NO_FLOOR : (uint32_t)milli;
}

enum tacit_status tacit_wire_agreement_digest(const struct tacit_wire_agreement *agreement,
                                              uint8_t digest[TACIT_WIRE_DIGEST_BYTES],
                                              const struct tacit_wire_allocator *allocator)
{
    size_t const size = tacit_wire_bytes(&agreements, NULL, agreement);
    uint8_t *const bytes = allocator->allocate(allocator->context, size);
    TACIT_ASSERT(check_agreement((void *)(uintptr_t)agreement));
    if (bytes == NULL)
        return TACIT_MEMORY;
    tacit_wire_encode(&agreements, NULL, agreement, bytes);
    tacit_sha256_of(bytes, size, digest);
    allocator->release(allocator->context, bytes);
    return TACIT_OK;
}

/* ---- Runs ---- */

enum tacit_status tacit_wire_run_decode(const struct tacit_wire_protocol *protocol,
                                        const struct tacit_wire_announcement *announcement,
                                        void *run, const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    struct tacit_wire_shape const shape = {.arm_count = agreement->arm_count,
                                           .agent_count = agreement->agent_count};
    struct tacit_wire_run const head = {
        .run_id = tacit_wire_run_id(agreement->run),
        .horizon = agreement->horizon,
        .epsilon_nano = agreement->epsilon_nano,
        .agent = announcement->agent,
        .agent_count = agreement->agent_count,
        .arm_count = agreement->arm_count,
        .floor_milli = tacit_wire_floor_milli(agreement->has_helper, agreement->floor_nano)};
    struct wire_parts const parts = {
        .parts = {{protocol->parameters, agreement->parameters, agreement->parameters_size},
                  {protocol->place, announcement->place, announcement->place_size}},
        .size = protocol->run_size,
        .head = &head};
    TACIT_IMPLIES(agreement->parameters_size > 0, agreement->parameters != NULL);
    if (strcmp(agreement->protocol, protocol->name) != 0 || agreement->family != protocol->family ||
        agreement->protocol_version != protocol->version ||
        (protocol->place == NULL && announcement->place_size != 0))
        return TACIT_MALFORMED;
    return wire_build(&parts, &shape, run, allocator);
}

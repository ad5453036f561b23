/* The announcement of a run as protobuf (announcement.proto), the digest of what it says, and what
 * differs between two of them. */
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "form.h"
#include "tacit/privacy.h"
#include "tacit/wire.h"
#include "announcement.pb-c.h"

#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define DIGITS_MAX 17 /* they tell any two doubles apart */

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

/* Ensures: message->arms is to be given to free(). False: out of memory. */
static bool fill_agreement(const struct tacit_wire_agreement *agreement,
                           Tacit__V2__Agreement *message)
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
    message->arms = calloc(agreement->arm_count, sizeof *message->arms);
    for (uint32_t arm = 0; message->arms != NULL && arm < agreement->arm_count; arm++)
        message->arms[arm] = (char *)(uintptr_t)agreement->arms[arm];
    return message->arms != NULL;
}

enum tacit_status tacit_wire_announcement_encode(const struct tacit_wire_announcement *announcement,
                                                 uint8_t *bytes)
{
    Tacit__V2__Announcement message = TACIT__V2__ANNOUNCEMENT__INIT;
    Tacit__V2__Agreement agreement;
    TACIT_ASSERT(announcement->agent < announcement->agreement.agent_count);
    if (!fill_agreement(&announcement->agreement, &agreement))
        return TACIT_MEMORY;
    message.version = TACIT_WIRE_VERSION;
    message.agreement = &agreement;
    message.agent = announcement->agent;
    message.place = binary(announcement->place, announcement->place_size);
    size_t const written = tacit__v2__announcement__pack(&message, bytes);
    TACIT_ASSERT(written == tacit_wire_announcement_bytes(announcement));
    free(agreement.arms);
    return TACIT_OK;
}

enum tacit_status tacit_wire_agreement_digest(const struct tacit_wire_agreement *agreement,
                                              uint8_t digest[TACIT_WIRE_DIGEST_BYTES])
{
    Tacit__V2__Agreement message;
    size_t const size = agreement_bytes(agreement);
    uint8_t *const bytes = malloc(size);
    enum tacit_status status = TACIT_MEMORY;
    if (bytes != NULL && fill_agreement(agreement, &message)) {
        size_t const written = tacit__v2__agreement__pack(&message, bytes);
        TACIT_ASSERT(written == size);
        free(message.arms);
        if (EVP_Digest(bytes, size, digest, NULL, EVP_sha256(), NULL) == 1)
            status = TACIT_OK;
    }
    free(bytes);
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
                                    const uint8_t *bytes, size_t size)
{
    if (tacit_wire_announcement_bytes(announcement) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = malloc(size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_announcement_encode(announcement, ours);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    free(ours);
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
static struct tacit_wire_announcement *copy_of(const struct tacit_wire_announcement *found)
{
    struct tacit_wire_agreement const *const from = &found->agreement;
    size_t size = sizeof *found + from->arm_count * sizeof(char *) + strlen(from->protocol) + 1 +
                  from->parameters_size + found->place_size;
    for (uint32_t arm = 0; arm < from->arm_count; arm++)
        size += strlen(from->arms[arm]) + 1;
    struct tacit_wire_announcement *const made = malloc(size);
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
                              size_t size, struct tacit_wire_announcement **announcement)
{
    struct tacit_wire_announcement found;
    if (message->agreement->n_arms > TACIT_ARMS_MAX)
        return TACIT_MALFORMED;
    const char **const arms = calloc(message->agreement->n_arms + 1, sizeof *arms);
    if (arms == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = TACIT_MALFORMED;
    if (look_at(message, arms, &found))
        status = check_form(&found, bytes, size);
    if (status == TACIT_OK) {
        struct tacit_wire_announcement *const made = copy_of(&found);
        if (made == NULL)
            status = TACIT_MEMORY;
        else
            *announcement = made;
    }
    free(arms);
    return status;
}

enum tacit_status tacit_wire_announcement_decode(const uint8_t *bytes, size_t size,
                                                 struct tacit_wire_announcement **announcement)
{
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__Announcement *const message = tacit__v2__announcement__unpack(NULL, size, bytes);
    if (message == NULL)
        return TACIT_MALFORMED;
    enum tacit_status const status = take(message, bytes, size, announcement);
    tacit__v2__announcement__free_unpacked(message, NULL);
    return status;
}

/* ---- What differs ---- */

static bool is_said(const uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    static const uint8_t nothing[TACIT_WIRE_RUN_BYTES];
    return memcmp(run, nothing, sizeof nothing) != 0;
}

static bool protocol_differs(const struct tacit_wire_agreement *here,
                             const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (strcmp(here->protocol, there->protocol) != 0 || here->family != there->family)
        (void)snprintf(text, size, "the protocol is %s (number %u) here and %s (number %u) there",
                       here->protocol, here->family, there->protocol, there->family);
    else if (here->protocol_version != there->protocol_version)
        (void)snprintf(text, size, "%s has version %u here and %u there", here->protocol,
                       here->protocol_version, there->protocol_version);
    else
        return false;
    return true;
}

static bool arms_differ(const struct tacit_wire_agreement *here,
                        const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (here->arm_count != there->arm_count) {
        (void)snprintf(text, size, "the number of arms is %u here and %u there", here->arm_count,
                       there->arm_count);
        return true;
    }
    for (uint32_t arm = 0; arm < here->arm_count; arm++) {
        if (strcmp(here->arms[arm], there->arms[arm]) == 0)
            continue;
        (void)snprintf(text, size, "arm %u is called '%s' here and '%s' there", arm + 1,
                       here->arms[arm], there->arms[arm]);
        return true;
    }
    return false;
}

/* The shortest digits that read back as the same number. */
struct digits {
    char text[32];
};

static struct digits digits_of(double number)
{
    struct digits digits;
    for (int count = 6; count <= DIGITS_MAX; count++) {
        (void)snprintf(digits.text, sizeof digits.text, "%.*g", count, number);
        if (strtod(digits.text, NULL) == number)
            break;
    }
    return digits;
}

/* Zero here: nothing is said about it. */
static bool count_differs(const char *name, uint64_t here, uint64_t there, char *text, size_t size)
{
    TACIT_ASSERT(name != NULL);
    TACIT_ASSERT(size > 0);
    if (here == 0 || here == there)
        return false;
    (void)snprintf(text, size, "%s is %llu here and %llu there", name, (unsigned long long)here,
                   (unsigned long long)there);
    return true;
}

static bool epsilon_differs(const struct tacit_wire_agreement *here,
                            const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (here->epsilon_nano == 0 || here->epsilon_nano == there->epsilon_nano)
        return false;
    (void)snprintf(text, size, "epsilon per reward is %s here and %s there",
                   digits_of((double)here->epsilon_nano / TACIT_NANO).text,
                   digits_of((double)there->epsilon_nano / TACIT_NANO).text);
    return true;
}

static bool range_differs(const struct tacit_wire_agreement *here,
                          const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (here->lo == there->lo && here->hi == there->hi)
        return false;
    (void)snprintf(text, size, "the range of rewards is [%s, %s] here and [%s, %s] there",
                   digits_of(here->lo).text, digits_of(here->hi).text, digits_of(there->lo).text,
                   digits_of(there->hi).text);
    return true;
}

static bool parameters_differ(const struct tacit_wire_agreement *here,
                              const struct tacit_wire_agreement *there, char *text, size_t size)
{
    if (here->parameters == NULL ||
        (here->parameters_size == there->parameters_size &&
         memcmp(here->parameters, there->parameters, here->parameters_size) == 0))
        return false;
    (void)snprintf(text, size, "the parameters of %s are others here than there", here->protocol);
    return true;
}

bool tacit_wire_agreement_differs(const struct tacit_wire_agreement *here,
                                  const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size >= TACIT_WIRE_DIFFERENCE_BYTES);
    if (protocol_differs(here, there, text, size) || arms_differ(here, there, text, size) ||
        range_differs(here, there, text, size) || epsilon_differs(here, there, text, size) ||
        count_differs("the horizon", here->horizon, there->horizon, text, size) ||
        count_differs("the number of sites", here->agent_count, there->agent_count, text, size) ||
        parameters_differ(here, there, text, size))
        return true;
    if (!is_said(here->run) || memcmp(here->run, there->run, sizeof here->run) == 0)
        return false;
    (void)snprintf(text, size, "the run is number %llu here and %llu there",
                   (unsigned long long)tacit_wire_run_id(here->run),
                   (unsigned long long)tacit_wire_run_id(there->run));
    return true;
}

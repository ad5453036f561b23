/* Envelopes: closed and signed for the bus, opened and checked from it. */
#include "envelope.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tacit_status live_envelopes_begin(struct live_envelopes *envelopes,
                                       const struct tacit_wire_agreement *agreement)
{
    memcpy(envelopes->run, agreement->run, sizeof envelopes->run);
    if (envelopes->term == 0)
        envelopes->term = 1;
    return tacit_wire_agreement_digest(agreement, envelopes->agreement, tacit_wire_heap());
}

uint32_t live_version_agree(uint32_t newest, uint32_t now, const uint32_t *speaks, uint32_t count)
{
    uint32_t all = newest;
    TACIT_ASSERT(now <= newest);
    for (uint32_t site = 0; site < count; site++)
        all = speaks[site] < all ? speaks[site] : all;
    return all > now ? all : now;
}

bool live_term_is_out_of_reach(uint64_t known, uint64_t term)
{
    return term > known && term - known > LIVE_TERM_JUMP_MAX;
}

static void put_name(char place[TACIT_WIRE_NAME_BYTES_MAX + 1], const char *name)
{
    size_t const length = strlen(name);
    TACIT_ASSERT(length <= TACIT_WIRE_NAME_BYTES_MAX); /* checked when the file was read */
    memcpy(place, name, length + 1);
}

uint8_t *live_envelope_close(struct live_envelopes *envelopes, const struct live_envelope *content,
                             size_t *size)
{
    uint32_t const version =
        envelopes->version == 0 ? TACIT_WIRE_VERSION_OLDEST : envelopes->version;
    struct tacit_wire_envelope envelope = {.version = version,
                                           .family = envelopes->family,
                                           .kind = content->kind,
                                           .term = envelopes->term,
                                           .epoch = content->epoch,
                                           .sequence = envelopes->sequence + 1,
                                           .entry = envelopes->entry,
                                           .body = content->body,
                                           .body_size = content->size,
                                           .is_signed = true};
    put_name(envelope.federation, envelopes->federation);
    put_name(envelope.from, envelopes->self);
    put_name(envelope.to, content->to == NULL ? "" : content->to);
    memcpy(envelope.run, envelopes->run, sizeof envelope.run);
    memcpy(envelope.agreement, envelopes->agreement, sizeof envelope.agreement);
    *size = tacit_wire_envelope_bytes(&envelope);
    uint8_t *const bytes = malloc(*size);
    if (bytes == NULL)
        return NULL;
    tacit_wire_envelope_encode(&envelope, bytes);
    size_t const signature = tacit_wire_envelope_signature(bytes, *size);
    TACIT_ASSERT(signature > 0 && content->topic != NULL && envelopes->signer != NULL);
    if (!live_signer_sign(envelopes->signer, content->topic, bytes,
                          *size - TACIT_WIRE_SIGNATURE_FIELD_BYTES, bytes + signature)) {
        free(bytes);
        return NULL;
    }
    envelopes->sequence++;
    return bytes;
}

size_t live_piece_bytes_max(void)
{
    return LIVE_PAYLOAD_BYTES_MAX;
}

const char live_envelope_is_ahead[] = "a message of a later term";

/* NULL: the one whose topic it is signed it, for this topic. */
static const char *signature_objection(const struct live_envelopes *envelopes,
                                       const struct live_arrival *arrival,
                                       struct live_opened *opened)
{
    TACIT_ASSERT(envelopes->keys != NULL);
    size_t const signature = tacit_wire_envelope_signature(arrival->bytes, arrival->size);
    *opened = (struct live_opened){.is_unsigned = true};
    if (signature == 0)
        return "a message that is not signed";
    opened->lacks_key = !live_keys_know(envelopes->keys, arrival->from);
    if (opened->lacks_key)
        return "a message whose signature cannot be checked: its key has not come";
    if (!live_keys_check(envelopes->keys, arrival->from, arrival->topic, arrival->bytes,
                         arrival->size - TACIT_WIRE_SIGNATURE_FIELD_BYTES,
                         arrival->bytes + signature))
        return "a message that it did not sign";
    opened->is_unsigned = false;
    return NULL;
}

/* What must be right whatever the run. NULL: it is. */
static const char *frame_objection(const struct live_envelopes *envelopes, const char *from,
                                   const struct tacit_wire_envelope *envelope)
{
    if (strcmp(envelope->federation, envelopes->federation) != 0)
        return "a message of another federation";
    if (strcmp(envelope->from, from) != 0)
        return "a message whose sender is another than its topic names";
    if (envelope->to[0] != '\0' && strcmp(envelope->to, envelopes->self) != 0)
        return "a message to another receiver";
    return NULL;
}

/* NULL, or why it does not decode. */
static const char *form_objection(const struct live_arrival *arrival, const char *malformed,
                                  struct live_opened *opened)
{
    if (tacit_wire_envelope_decode(arrival->bytes, arrival->size, &opened->envelope) == TACIT_OK)
        return NULL;
    uint32_t const version = tacit_wire_envelope_version(arrival->bytes, arrival->size);
    if (version == 0 || (version >= TACIT_WIRE_VERSION_OLDEST && version <= TACIT_WIRE_VERSION))
        return malformed;
    opened->foreign = version;
    (void)snprintf(
        opened->words, sizeof opened->words,
        "a message of version %u; this program speaks versions %u to %u: bring the older "
        "of both programs to a later version of tacit",
        version, TACIT_WIRE_VERSION_OLDEST, TACIT_WIRE_VERSION);
    return opened->words;
}

const char *live_envelope_open(const struct live_envelopes *envelopes,
                               const struct live_arrival *arrival, struct live_opened *opened)
{
    struct tacit_wire_envelope *const envelope = &opened->envelope;
    char const *objection = signature_objection(envelopes, arrival, opened);
    if (objection != NULL)
        return objection;
    objection = form_objection(arrival, "a message that does not decode", opened);
    if (objection != NULL)
        return objection;
    objection = frame_objection(envelopes, arrival->from, envelope);
    if (objection != NULL)
        return objection;
    if (envelope->family != envelopes->family)
        return "a message of another protocol";
    if (memcmp(envelope->run, envelopes->run, sizeof envelope->run) != 0)
        return "a message of another run";
    if (memcmp(envelope->agreement, envelopes->agreement, sizeof envelope->agreement) != 0)
        return "a message of a sender with another agreement: arms, range, epsilon, horizon or "
               "parameters differ";
    if (envelope->kind == TACIT_WIRE_KIND_ANNOUNCEMENT || envelope->kind == TACIT_WIRE_KIND_ENTRY)
        return "an announcement, or an entry, where none belongs";
    if (envelope->term > envelopes->term)
        return live_envelope_is_ahead;
    if (envelope->term < envelopes->term)
        return "a message of an earlier term";
    return NULL;
}

/* Of one kind, whatever the run. */
static const char *open_kind(const struct live_envelopes *envelopes,
                             const struct live_arrival *arrival, uint32_t kind,
                             const char *malformed, struct live_opened *opened)
{
    char const *objection = signature_objection(envelopes, arrival, opened);
    if (objection == NULL)
        objection = form_objection(arrival, malformed, opened);
    if (objection != NULL)
        return objection;
    if (opened->envelope.kind != kind)
        return malformed;
    return frame_objection(envelopes, arrival->from, &opened->envelope);
}

const char *live_envelope_open_announcement(const struct live_envelopes *envelopes,
                                            const struct live_arrival *arrival,
                                            struct live_opened *opened)
{
    TACIT_ASSERT(strcmp(arrival->from, TACIT_WIRE_COORDINATOR) == 0);
    return open_kind(envelopes, arrival, TACIT_WIRE_KIND_ANNOUNCEMENT,
                     "an announcement that does not decode", opened);
}

const char *live_envelope_open_entry(const struct live_envelopes *envelopes,
                                     const struct live_arrival *arrival, struct live_opened *opened)
{
    return open_kind(envelopes, arrival, TACIT_WIRE_KIND_ENTRY,
                     "an entry of the log that does not decode", opened);
}

/* ---- Signed rows ----------------------------------------------------------------------------- */

#define ROW_TOPIC "row" /* no envelope has it */

bool live_envelopes_sign_row(const struct live_envelopes *envelopes, const uint8_t digest[32],
                             uint8_t signature[LIVE_SIGNATURE_BYTES])
{
    TACIT_ASSERT(envelopes->signer != NULL);
    return live_signer_sign(envelopes->signer, ROW_TOPIC, digest, 32, signature);
}

bool live_envelopes_check_row(const struct live_envelopes *envelopes, const char *name,
                              const uint8_t digest[32],
                              const uint8_t signature[LIVE_SIGNATURE_BYTES])
{
    TACIT_ASSERT(envelopes->keys != NULL);
    bool const is_ours = strcmp(name, envelopes->self) == 0;
    uint8_t ours[LIVE_SIGNATURE_BYTES];
    if (is_ours) /* the same key signs the same in the same way */
        return live_envelopes_sign_row(envelopes, digest, ours) &&
               memcmp(ours, signature, sizeof ours) == 0;
    return live_keys_check(envelopes->keys, name, ROW_TOPIC, digest, 32, signature);
}

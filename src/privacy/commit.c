/* Commit, grant, reveal (tacit/commit.h). */
#include <string.h>
#include "tacit/commit.h"

#define NAME_BYTES_MAX 4096u /* of a federation; no name is longer */

static const uint8_t nothing[TACIT_SHA256_BYTES];

bool tacit_commit_is_same(const uint8_t one[TACIT_SHA256_BYTES],
                          const uint8_t other[TACIT_SHA256_BYTES])
{
    return memcmp(one, other, TACIT_SHA256_BYTES) == 0;
}

bool tacit_commit_is_nothing(const uint8_t commitment[TACIT_SHA256_BYTES])
{
    return tacit_commit_is_same(commitment, nothing);
}

void tacit_commit_domain(const char *federation, const uint8_t agreement[TACIT_SHA256_BYTES],
                         uint8_t domain[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(federation != NULL && agreement != NULL);
    struct tacit_sha256 sha = tacit_sha256_init();
    size_t length = 0;
    while (length < NAME_BYTES_MAX && federation[length] != '\0')
        length++;
    tacit_sha256_update_number(&sha, length);
    tacit_sha256_update(&sha, federation, length);
    tacit_sha256_update(&sha, agreement, TACIT_SHA256_BYTES);
    tacit_sha256_final(&sha, domain);
}

/* In place of a hash where nobody checks: run, site, epoch, and a one, lowest byte first, so that
 * it is never zeros. */
static void write_number(const struct tacit_commit_scope *scope,
                         uint8_t commitment[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(scope->is_numbered);
    uint64_t const words[] = {scope->run_id, scope->site, scope->epoch, 1};
    for (size_t i = 0; i < TACIT_SHA256_BYTES; i++)
        commitment[i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
}

void tacit_commit_hash(const struct tacit_commit_scope *scope, const struct tacit_commit *commit,
                       const void *release, size_t size, uint8_t commitment[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(size == 0 || release != NULL);
    if (scope->is_numbered) {
        write_number(scope, commitment);
        return;
    }
    TACIT_ASSERT(scope->domain != NULL);
    struct tacit_hmac hmac = tacit_hmac_init(commit->salt);
    tacit_hmac_update(&hmac, scope->domain, TACIT_SHA256_BYTES);
    tacit_sha256_update_number(&hmac.inner, scope->run_id);
    tacit_sha256_update_number(&hmac.inner, scope->site);
    tacit_sha256_update_number(&hmac.inner, scope->epoch);
    tacit_hmac_update(&hmac, commit->previous, sizeof commit->previous);
    tacit_hmac_update(&hmac, release, size);
    tacit_hmac_final(&hmac, commitment);
}

enum tacit_status tacit_commit_make(const struct tacit_commit_scope *scope,
                                    const uint8_t previous[TACIT_SHA256_BYTES], const void *release,
                                    size_t size, const struct tacit_entropy *entropy,
                                    struct tacit_commit *commit)
{
    uint8_t key[TACIT_SHA256_BYTES];
    TACIT_ASSERT(previous != NULL && commit != NULL);
    struct tacit_commit made = {.salt = {0}};
    if (!scope->is_numbered) {
        TACIT_TRY(entropy->fill(entropy->context, key, sizeof key));
        struct tacit_hmac hmac = tacit_hmac_init(key);
        tacit_hmac_update(&hmac, release, size);
        tacit_hmac_final(&hmac, made.salt);
    }
    memcpy(made.previous, previous, sizeof made.previous);
    tacit_commit_hash(scope, &made, release, size, made.commitment);
    TACIT_ASSERT(!tacit_commit_is_nothing(made.commitment) &&
                 !tacit_commit_is_same(made.commitment, previous));
    *commit = made;
    return TACIT_OK;
}

/* As one word that does not depend on the machine's byte order. */
static uint64_t first_bytes(const uint8_t commitment[TACIT_SHA256_BYTES])
{
    uint64_t word = 0;
    for (size_t i = 0; i < sizeof word; i++)
        word |= (uint64_t)commitment[i] << (8 * i);
    return word;
}

static void grant(struct tacit_commit_head *head, const uint8_t commitment[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(!tacit_commit_is_nothing(commitment)); /* that would be: nothing was granted */
    TACIT_ASSERT(!tacit_commit_is_same(commitment, head->head));
    memmove(head->recent + 1, head->recent, sizeof head->recent - sizeof head->recent[0]);
    head->recent[0] = first_bytes(head->before);
    memcpy(head->before, head->head, sizeof head->before);
    memcpy(head->head, commitment, sizeof head->head);
}

/* Was it granted, and another one after it? Of the oldest only the first bytes are known. */
static bool was_followed(const struct tacit_commit_head *head,
                         const uint8_t commitment[TACIT_SHA256_BYTES])
{
    bool is_known = tacit_commit_is_same(commitment, head->before);
    for (size_t i = 0; i < TACIT_COMMIT_RECENT; i++)
        is_known = is_known || (head->recent[i] != 0 && head->recent[i] == first_bytes(commitment));
    return is_known;
}

enum tacit_commit_answer tacit_commit_ask(struct tacit_commit_head *head,
                                          const uint8_t commitment[TACIT_SHA256_BYTES],
                                          const uint8_t previous[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(commitment != NULL && previous != NULL);
    if (tacit_commit_is_nothing(commitment))
        return TACIT_COMMIT_REFUSED;
    if (tacit_commit_is_same(commitment, head->head))
        return TACIT_COMMIT_AGAIN;
    if (tacit_commit_is_same(previous, head->head)) {
        grant(head, commitment);
        return TACIT_COMMIT_GRANTED;
    }
    return was_followed(head, commitment) ? TACIT_COMMIT_LATE : TACIT_COMMIT_REFUSED;
}

bool tacit_commit_knows(const struct tacit_commit_head *head,
                        const uint8_t commitment[TACIT_SHA256_BYTES])
{
    return tacit_commit_is_nothing(commitment) || tacit_commit_is_same(commitment, head->head) ||
           was_followed(head, commitment);
}

bool tacit_commit_opens(const struct tacit_commit_head *head,
                        const struct tacit_commit_scope *scope,
                        const uint8_t previous[TACIT_SHA256_BYTES],
                        const uint8_t salt[TACIT_SHA256_BYTES], const void *release, size_t size)
{
    TACIT_ASSERT(previous != NULL && salt != NULL);
    struct tacit_commit claimed;
    memcpy(claimed.previous, previous, sizeof claimed.previous);
    memcpy(claimed.salt, salt, sizeof claimed.salt);
    tacit_commit_hash(scope, &claimed, release, size, claimed.commitment);
    return tacit_commit_is_same(claimed.commitment, head->head) &&
           !tacit_commit_is_nothing(head->head);
}

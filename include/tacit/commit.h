/* Commit, grant, reveal: what keeps a state that was copied, restored or cloned from releasing
 * twice. A site commits to its draw by a salted hash before anybody sees it; whoever holds its
 * releases keeps one head a site and grants a commitment only if it follows the head; the release
 * leaves after the grant, with its salt, and is held against the head. Pure.
 *
 * Guarantee: if one grantor whose grant is needed neither lies nor forgets, each reward enters at
 * most one draw of which anything leaves; refused commitments hide what they commit to
 * (computationally). */
#ifndef TACIT_COMMIT_H
#define TACIT_COMMIT_H
#include "tacit/base.h"
#include "tacit/random.h"

/* ---- SHA-256 (FIPS 180-4), HMAC (FIPS 198-1) --------------------------------------------------
 */

#define TACIT_SHA256_BYTES 32u
#define TACIT_SHA256_BLOCK_BYTES 64u

struct tacit_sha256 {
    uint32_t words[8];
    uint64_t size; /* bytes taken so far */
    uint8_t block[TACIT_SHA256_BLOCK_BYTES];
};

/* Compresses `count` blocks into the words of a state (FIPS 180-4, 6.2.2). The pure archive has it
 * in C, as a weak symbol: a host or a device that has instructions or a unit for it defines it
 * itself. Ensures: the same words, whoever does it. Cost: O(count). */
void tacit_sha256_blocks(uint32_t words[8], const uint8_t *blocks, size_t count);

/* Ensures: nothing taken. */
struct tacit_sha256 tacit_sha256_init(void);
/* Takes more bytes. Cost: O(size). */
void tacit_sha256_update(struct tacit_sha256 *sha, const void *bytes, size_t size);
/* Takes a number: 8 bytes, lowest first. */
void tacit_sha256_update_number(struct tacit_sha256 *sha, uint64_t number);
/* The digest of all that was taken; the state is spent. */
void tacit_sha256_final(struct tacit_sha256 *sha, uint8_t digest[TACIT_SHA256_BYTES]);
/* The digest of these bytes. Cost: O(size). */
void tacit_sha256_of(const void *bytes, size_t size, uint8_t digest[TACIT_SHA256_BYTES]);

struct tacit_hmac {
    struct tacit_sha256 inner;
    struct tacit_sha256 outer;
};

/* HMAC-SHA256 under a key of 32 bytes. */
struct tacit_hmac tacit_hmac_init(const uint8_t key[TACIT_SHA256_BYTES]);
/* Takes more bytes. Cost: O(size). */
void tacit_hmac_update(struct tacit_hmac *hmac, const void *bytes, size_t size);
/* The code of all that was taken; the state is spent. */
void tacit_hmac_final(struct tacit_hmac *hmac, uint8_t code[TACIT_SHA256_BYTES]);

/* ---- Commitments ----------------------------------------------------------------------------- */

/* What commitments of a federation are hashed with: SHA-256 of its name (its length in 8 bytes,
 * lowest first, before it) and of the digest of what its sites agreed on. Cost: O(name). */
void tacit_commit_domain(const char *federation, const uint8_t agreement[TACIT_SHA256_BYTES],
                         uint8_t domain[TACIT_SHA256_BYTES]);

/* Of whom and what a release is. */
struct tacit_commit_scope {
    const uint8_t *domain; /* 32 bytes: the federation, and what its sites agreed on */
    uint64_t run_id;
    uint32_t site;
    uint32_t epoch;
    /* For a simulation in which no state is copied or lost: a commitment is these numbers and not a
     * hash of anything, its salt is zeros, and it opens to every release. */
    bool is_numbered;
};

/* Of commitments, heads and digests. Zeros: nothing was granted. */
bool tacit_commit_is_same(const uint8_t one[TACIT_SHA256_BYTES],
                          const uint8_t other[TACIT_SHA256_BYTES]);
bool tacit_commit_is_nothing(const uint8_t commitment[TACIT_SHA256_BYTES]);

/* What a commitment and its opening consist of. */
struct tacit_commit {
    uint8_t commitment[TACIT_SHA256_BYTES];
    uint8_t previous[TACIT_SHA256_BYTES]; /* the one before it; zeros: it is the first */
    uint8_t salt[TACIT_SHA256_BYTES];
};

/* commitment = HMAC(salt, domain, run, site, epoch, previous, release). Numbers are little-endian
 * and of a fixed width; the release comes last, so that no two inputs read alike. Cost: O(size). */
void tacit_commit_hash(const struct tacit_commit_scope *scope, const struct tacit_commit *commit,
                       const void *release, size_t size, uint8_t commitment[TACIT_SHA256_BYTES]);

/* Commits to a release that follows `previous`: salt = HMAC(k, release) with 32 fresh bytes k that
 * are forgotten here. So a clone of this memory that is given the same k opens no other release's
 * commitment, and no release can be found by trying. Errors: TACIT_ENTROPY, *commit untouched. */
enum tacit_status tacit_commit_make(const struct tacit_commit_scope *scope,
                                    const uint8_t previous[TACIT_SHA256_BYTES], const void *release,
                                    size_t size, const struct tacit_entropy *entropy,
                                    struct tacit_commit *commit);

/* ---- Grantors -------------------------------------------------------------------------------- */

#define TACIT_COMMIT_RECENT 8u

/* What a grantor keeps of one site. All zero: nothing was granted. */
struct tacit_commit_head {
    uint8_t head[TACIT_SHA256_BYTES];     /* the last commitment that was granted */
    uint8_t before[TACIT_SHA256_BYTES];   /* the one before that: what comes again late is known */
    uint64_t recent[TACIT_COMMIT_RECENT]; /* the first bytes of those before, the latest first: so
                                           is what comes later still */
};

/* Words of 64 bits in it. */
#define TACIT_COMMIT_HEAD_WORDS (sizeof(struct tacit_commit_head) / sizeof(uint64_t))

enum tacit_commit_answer {
    TACIT_COMMIT_GRANTED, /* it follows the head, and is the head now: durable before it is said */
    TACIT_COMMIT_AGAIN,   /* it is the head */
    TACIT_COMMIT_LATE,    /* it was granted before the head: no state waits for it but a copy */
    TACIT_COMMIT_REFUSED  /* two states of one site: *head is the other one's commitment */
};

/* Asks for a grant. A commitment of zeros is refused. One that was granted more than
 * TACIT_COMMIT_RECENT + 1 grants ago is taken for another state's. */
enum tacit_commit_answer tacit_commit_ask(struct tacit_commit_head *head,
                                          const uint8_t commitment[TACIT_SHA256_BYTES],
                                          const uint8_t previous[TACIT_SHA256_BYTES]);

/* Was it granted here, as far back as the head tells? That nothing was granted is known, too. A
 * site whose state is its only one follows nothing else, so that what it shows beyond this was
 * granted by another state of this grantor. */
bool tacit_commit_knows(const struct tacit_commit_head *head,
                        const uint8_t commitment[TACIT_SHA256_BYTES]);

/* Does this release open the head? */
bool tacit_commit_opens(const struct tacit_commit_head *head,
                        const struct tacit_commit_scope *scope,
                        const uint8_t previous[TACIT_SHA256_BYTES],
                        const uint8_t salt[TACIT_SHA256_BYTES], const void *release, size_t size);
#endif

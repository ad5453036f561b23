/* SHA-256 and HMAC against the published vectors and against libcrypto; commitments that bind and
 * hide; grantors that grant along one chain. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include "../support/testing.h"
#include "../../src/privacy/sha256.h"

#define BYTES TACIT_SHA256_BYTES

static void expect_hex(const uint8_t *digest, const char *hex)
{
    char found[2 * BYTES + 1];
    for (size_t i = 0; i < BYTES; i++)
        (void)snprintf(found + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(found, hex);
}

static void digest_of(const void *bytes, size_t size, uint8_t digest[BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, bytes, size);
    tacit_sha256_final(&sha, digest);
}

/* The examples of FIPS 180-4 (NIST, "Examples with Intermediate Values"), and the empty message. */
TEST(sha256_has_the_published_digests)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    uint8_t digest[BYTES];
    digest_of("", 0, digest);
    expect_hex(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_of("abc", 3, digest);
    expect_hex(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_of(two, sizeof two - 1, digest);
    expect_hex(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    struct tacit_sha256 sha = tacit_sha256_init();
    for (uint32_t i = 0; i < 1000000; i++)
        tacit_sha256_update(&sha, "a", 1);
    tacit_sha256_final(&sha, digest);
    expect_hex(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The longest that is published with FIPS 180-4: 2^30 bytes, so that their number in bits needs
 * more than 32 of them. */
TEST(sha256_of_a_long_message_is_the_published_one)
{
    static const char part[] = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno";
    enum { PART = sizeof part - 1, PARTS = 1024, TIMES = 16777216 / PARTS };
    static uint8_t bytes[PART * PARTS];
    uint8_t digest[BYTES];
    struct tacit_sha256 sha = tacit_sha256_init();
    for (size_t i = 0; i < PARTS; i++)
        memcpy(bytes + i * PART, part, PART);
    for (size_t i = 0; i < TIMES; i++)
        tacit_sha256_update(&sha, bytes, sizeof bytes);
    tacit_sha256_final(&sha, digest);
    expect_hex(digest, "50e72a0e26442fe2552dc3938ac58658228c0cbfb1d2ca872ae435266fcd055e");
}

/* Any state, any number of blocks, at any address; and the host's choice is one of both. */
TEST(sha256_by_the_processor_is_the_portable_one)
{
    struct tacit_rng rng = tacit_rng_stream(8, 0, 0, TACIT_PURPOSE_NOISE);
    sha256_blocks *const of_processor = sha256_blocks_of_processor();
    uint8_t bytes[5 * TACIT_SHA256_BLOCK_BYTES + 16];
    for (uint32_t run = 0; run < 5000; run++) {
        uint32_t words[3][8];
        size_t const count = (size_t)tacit_rng_below(&rng, 6);
        uint8_t const *const blocks = bytes + tacit_rng_below(&rng, 16);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)tacit_rng_next(&rng);
        for (size_t i = 0; i < 8; i++)
            words[0][i] = (uint32_t)tacit_rng_next(&rng);
        memcpy(words[1], words[0], sizeof words[0]);
        memcpy(words[2], words[0], sizeof words[0]);
        sha256_blocks_portable(words[0], blocks, count);
        tacit_sha256_blocks(words[1], blocks, count);
        assert_memory_equal(words[1], words[0], sizeof words[0]);
        if (of_processor == NULL)
            continue;
        of_processor(words[2], blocks, count);
        assert_memory_equal(words[2], words[0], sizeof words[0]);
    }
}

/* Every length around the blocks, in pieces of every length, some of them empty. */
TEST(sha256_is_that_of_libcrypto)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)tacit_rng_next(&rng);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        struct tacit_sha256 sha = tacit_sha256_init();
        uint8_t expected[BYTES];
        uint8_t found[BYTES];
        for (size_t at = 0, part; at < size; at += part) {
            part = (size_t)tacit_rng_below(&rng, 131);
            part = part < size - at ? part : size - at;
            tacit_sha256_update(&sha, bytes + at, part);
        }
        tacit_sha256_final(&sha, found);
        assert_int_equal(EVP_Digest(bytes, size, expected, NULL, EVP_sha256(), NULL), 1);
        assert_memory_equal(found, expected, BYTES);
    }
}

TEST(hmac_is_that_of_libcrypto)
{
    struct tacit_rng rng = tacit_rng_stream(2, 0, 0, TACIT_PURPOSE_NOISE);
    uint8_t key[BYTES];
    uint8_t bytes[200];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        uint8_t expected[BYTES];
        uint8_t found[BYTES];
        for (size_t i = 0; i < BYTES; i++)
            key[i] = (uint8_t)tacit_rng_next(&rng);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)tacit_rng_next(&rng);
        struct tacit_hmac hmac = tacit_hmac_init(key);
        tacit_hmac_update(&hmac, bytes, size / 3);
        tacit_hmac_update(&hmac, bytes + size / 3, size - size / 3);
        tacit_hmac_final(&hmac, found);
        assert_non_null(HMAC(EVP_sha256(), key, BYTES, bytes, size, expected, NULL));
        assert_memory_equal(found, expected, BYTES);
    }
}

/* ---- Commitments ---- */

static const uint8_t domain[BYTES] = {1, 2, 3};
static const uint8_t first[BYTES];

static struct tacit_commit_scope scope(uint64_t run, uint32_t site, uint32_t epoch)
{
    return (struct tacit_commit_scope){
        .domain = domain, .run_id = run, .site = site, .epoch = epoch};
}

static struct tacit_commit commit_to(struct tacit_rng *rng, const uint8_t *previous, uint32_t epoch,
                                     const char *release)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    struct tacit_commit_scope const own = scope(7, 1, epoch);
    struct tacit_commit made;
    assert_int_equal(tacit_commit_make(&own, previous, release, strlen(release), &entropy, &made),
                     TACIT_OK);
    return made;
}

static bool opens(const struct tacit_commit_head *head, struct tacit_commit_scope own,
                  const struct tacit_commit *made, const char *release)
{
    return tacit_commit_opens(head, &own, made->previous, made->salt, release, strlen(release));
}

TEST(a_commitment_opens_to_what_was_committed_and_to_nothing_else)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_commit_head head = {{0}, {0}, {0}};
    struct tacit_commit made = commit_to(&rng, first, 4, "12 34");
    uint8_t other_domain[BYTES] = {9};
    assert_false(opens(&head, scope(7, 1, 4), &made, "12 34")); /* nothing was granted */
    assert_int_equal(tacit_commit_ask(&head, made.commitment, made.previous), TACIT_COMMIT_GRANTED);
    assert_true(opens(&head, scope(7, 1, 4), &made, "12 34"));
    assert_false(opens(&head, scope(7, 1, 4), &made, "12 35"));
    assert_false(opens(&head, scope(7, 1, 4), &made, "12 3"));
    assert_false(opens(&head, scope(8, 1, 4), &made, "12 34"));
    assert_false(opens(&head, scope(7, 2, 4), &made, "12 34"));
    assert_false(opens(&head, scope(7, 1, 5), &made, "12 34"));
    struct tacit_commit_scope other = scope(7, 1, 4);
    other.domain = other_domain;
    assert_false(opens(&head, other, &made, "12 34"));
    struct tacit_commit changed = made;
    changed.salt[31] ^= 1;
    assert_false(opens(&head, scope(7, 1, 4), &changed, "12 34"));
    changed = made;
    changed.previous[0] ^= 1;
    assert_false(opens(&head, scope(7, 1, 4), &changed, "12 34"));
}

/* Clones whose memory, randomness included, is the same: equal draws are one draw; different draws
 * have different salts, so that the one's release opens nothing of the other's. */
TEST(clones_with_equal_randomness_do_not_open_each_other)
{
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_rng same = rng;
    struct tacit_rng again = rng;
    struct tacit_commit_head head = {{0}, {0}, {0}};
    struct tacit_commit const one = commit_to(&rng, first, 1, "100");
    struct tacit_commit const two = commit_to(&same, first, 1, "101");
    struct tacit_commit const equal = commit_to(&again, first, 1, "100");
    assert_memory_equal(one.commitment, equal.commitment, BYTES);
    assert_memory_not_equal(one.commitment, two.commitment, BYTES);
    assert_memory_not_equal(one.salt, two.salt, BYTES);
    assert_int_equal(tacit_commit_ask(&head, one.commitment, one.previous), TACIT_COMMIT_GRANTED);
    assert_false(opens(&head, scope(7, 1, 1), &two, "101"));
    assert_false(opens(&head, scope(7, 1, 1), &two, "100"));
}

/* Without the salt, a hash of a few integers would be found by trying them. */
TEST(equal_releases_have_different_commitments)
{
    struct tacit_rng rng = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_commit const one = commit_to(&rng, first, 1, "5");
    struct tacit_commit const two = commit_to(&rng, first, 1, "5");
    assert_memory_not_equal(one.commitment, two.commitment, BYTES);
}

static enum tacit_status no_entropy(void *context, void *bytes, size_t size)
{
    (void)context, (void)bytes, (void)size;
    return TACIT_ENTROPY;
}

TEST(without_entropy_nothing_is_committed)
{
    struct tacit_entropy const entropy = {.fill = no_entropy};
    struct tacit_commit_scope const own = scope(7, 1, 1);
    struct tacit_commit made;
    struct tacit_commit before;
    memset(&made, 0x5a, sizeof made);
    before = made;
    assert_int_equal(tacit_commit_make(&own, first, "1", 1, &entropy, &made), TACIT_ENTROPY);
    assert_memory_equal(&made, &before, sizeof made);
}

/* ---- Holders ---- */

TEST(a_grantor_grants_along_one_chain)
{
    struct tacit_rng rng = tacit_rng_stream(6, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_commit_head head = {{0}, {0}, {0}};
    struct tacit_commit const one = commit_to(&rng, first, 1, "1");
    struct tacit_commit const clone = commit_to(&rng, first, 1, "2");
    struct tacit_commit const two = commit_to(&rng, one.commitment, 2, "3");
    struct tacit_commit const fork = commit_to(&rng, one.commitment, 2, "4");
    struct tacit_commit const deaf = commit_to(&rng, clone.commitment, 2, "5");
    assert_int_equal(tacit_commit_ask(&head, one.commitment, one.previous), TACIT_COMMIT_GRANTED);
    assert_int_equal(tacit_commit_ask(&head, one.commitment, one.previous), TACIT_COMMIT_AGAIN);
    assert_int_equal(tacit_commit_ask(&head, clone.commitment, first), TACIT_COMMIT_REFUSED);
    assert_int_equal(tacit_commit_ask(&head, deaf.commitment, deaf.previous), TACIT_COMMIT_REFUSED);
    assert_memory_equal(head.head, one.commitment, BYTES);
    assert_int_equal(tacit_commit_ask(&head, two.commitment, two.previous), TACIT_COMMIT_GRANTED);
    assert_int_equal(tacit_commit_ask(&head, fork.commitment, fork.previous), TACIT_COMMIT_REFUSED);
    assert_int_equal(tacit_commit_ask(&head, one.commitment, one.previous), TACIT_COMMIT_LATE);
    assert_int_equal(tacit_commit_ask(&head, two.commitment, two.previous), TACIT_COMMIT_AGAIN);
    assert_int_equal(tacit_commit_ask(&head, first, two.commitment), TACIT_COMMIT_REFUSED);
    assert_memory_equal(head.head, two.commitment, BYTES);
}

/* Nobody who has one state is said to have two because a network was slow. */
TEST(what_was_granted_long_ago_is_late_and_no_other_state)
{
    struct tacit_rng rng = tacit_rng_stream(8, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_commit_head head = {{0}, {0}, {0}};
    struct tacit_commit chain[TACIT_COMMIT_RECENT + 3];
    size_t const count = sizeof chain / sizeof chain[0];
    for (size_t i = 0; i < count; i++) {
        chain[i] = commit_to(&rng, i == 0 ? first : chain[i - 1].commitment, (uint32_t)i + 1, "1");
        assert_int_equal(tacit_commit_ask(&head, chain[i].commitment, chain[i].previous),
                         TACIT_COMMIT_GRANTED);
    }
    struct tacit_commit_head const before = head;
    for (size_t i = 1; i + 1 < count; i++)
        assert_int_equal(tacit_commit_ask(&head, chain[i].commitment, chain[i].previous),
                         TACIT_COMMIT_LATE);
    assert_int_equal(tacit_commit_ask(&head, chain[0].commitment, chain[0].previous),
                     TACIT_COMMIT_REFUSED); /* forgotten */
    struct tacit_commit const clone = commit_to(&rng, chain[4].commitment, 6, "2");
    assert_int_equal(tacit_commit_ask(&head, clone.commitment, clone.previous),
                     TACIT_COMMIT_REFUSED);
    assert_memory_equal(&head, &before, sizeof head);
}

/* Of a simulation in which nobody has two states: grantors grant along the chain as ever, nothing
 * is drawn, and every release opens. */
TEST(numbered_commitments_are_chained_and_bind_nothing)
{
    struct tacit_entropy const none = {.fill = no_entropy};
    struct tacit_commit_head head = {{0}, {0}, {0}};
    struct tacit_commit made[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct tacit_commit_scope own = scope(7, 0, i + 1);
        own.is_numbered = true;
        assert_int_equal(
            tacit_commit_make(&own, i == 0 ? first : made[0].commitment, "1", 1, &none, &made[i]),
            TACIT_OK);
        assert_memory_equal(made[i].salt, first, BYTES);
        assert_int_equal(tacit_commit_ask(&head, made[i].commitment, made[i].previous),
                         TACIT_COMMIT_GRANTED);
        assert_true(opens(&head, own, &made[i], "2"));
        own.epoch++;
        assert_false(opens(&head, own, &made[i], "1"));
    }
    assert_int_equal(tacit_commit_ask(&head, made[0].commitment, made[0].previous),
                     TACIT_COMMIT_LATE);
}

/* Helper: the second aggregator (HELPER; ours). Sums of many sites carry the noise of two, however
 * many sites, as long as the hub and the helper do not put together what they have: each sees what
 * is worth nothing without the other, and each adds noise that suffices alone.
 *
 * A site adds to its exact integers x a stream of words that only the helper can make again, and
 * seals the seed of that stream to the helper: the release is a blinded digest of the masked
 * words z and the envelope, committed to, granted and revealed like any other (tacit/commit.h). The
 * hub asks with the envelopes of those that reported, never with z; the helper opens them, adds up
 * the streams and its noise, and answers once for each round; the hub adds up: totals with two
 * noises.
 *
 * Three cores, pure and without keys of their own: sealing, opening and signatures are functions
 * handed in. Each state is one relocatable block; the driver makes it durable before it says what a
 * step made, if that step says so. src/proto/helper/PROTOCOL.md draws them.
 *
 * A sites, n integers of a site in a round. */
#ifndef TACIT_HELPER_H
#define TACIT_HELPER_H
#include "tacit/base.h"
#include "tacit/commit.h"
#include "tacit/random.h"

#define TACIT_HELPER_SEED_BYTES 32u
#define TACIT_HELPER_ENVELOPE_BYTES 80u /* of HPKE: an ephemeral key, the seed, a tag */
#define TACIT_HELPER_SIGNATURE_BYTES 64u
#define TACIT_HELPER_NAME_BYTES_MAX 64u
#define TACIT_HELPER_RUN_BYTES 16u
#define TACIT_HELPER_COUNT_MAX 1048576u /* n */
#define TACIT_HELPER_LINKS_MAX 32u      /* grants of a site since it was in a U' */
#define TACIT_HELPER_SITES_MIN 2u
#define TACIT_HELPER_TOTAL_MAX (INT64_C(1) << 62)

/* ---- What a release is of ---------------------------------------------------------------------
 */

enum tacit_helper_mechanism {
    TACIT_HELPER_LAPLACE, /* scale steps/epsilon */
    TACIT_HELPER_GAUSSIAN /* sigma^2 = steps/(2 rho) */
};

/* What stays the same in a run, public to all. A plain value. */
TACIT_NO_GAPS
struct tacit_helper_run {
    char federation[TACIT_HELPER_NAME_BYTES_MAX + 1]; /* zeros behind the name */
    uint8_t run[TACIT_HELPER_RUN_BYTES];
    uint8_t agreement[TACIT_SHA256_BYTES]; /* digest of what all have agreed on */
    uint8_t domain[TACIT_SHA256_BYTES];    /* of commitments, .. */
    uint8_t spare_1[7];
    uint64_t run_id;     /* .. and their run */
    uint32_t site_count; /* A */
    uint32_t count_max;  /* n is at most */
    enum tacit_helper_mechanism mechanism;
    uint32_t spare_2;
    uint64_t
        steps; /* what is protected moves the integers by so many at most, <= 2^31; Gaussian: by
                * their square in the Euclidean norm, a number < 2^16 times a power of two */
};
TACIT_NO_GAPS_END

/* Is every parameter in its range? */
bool tacit_helper_run_is_valid(const struct tacit_helper_run *run);

/* What is the same for all sites in a round. */
struct tacit_helper_round {
    uint64_t term;
    uint32_t round;
    uint32_t count;                    /* n */
    uint8_t order[TACIT_SHA256_BYTES]; /* digest of what was ordered */
    uint64_t epsilon_nano;             /* of each aggregator's noise; Gaussian: rho */
};

#define TACIT_HELPER_EVERYBODY UINT32_MAX /* no site: the scope of a request */
#define TACIT_HELPER_SCOPE_BYTES_MAX 384u

/* Federation, run, term, round, site, digests of agreement and order, n, mechanism, steps, epsilon:
 * each with its length before it, numbers as 8 bytes, lowest first, the site of a request as none.
 * What is sealed under it opens under no other. Returns the number of bytes. */
size_t tacit_helper_scope(const struct tacit_helper_run *run,
                          const struct tacit_helper_round *round, uint32_t site,
                          uint8_t bytes[TACIT_HELPER_SCOPE_BYTES_MAX]);

/* n draws of an aggregator's noise, added modulo 2^64 and never saturated. Errors: TACIT_INVALID:
 * epsilon beyond what integers can carry; TACIT_ENTROPY; the words are of no use then. */
enum tacit_status tacit_helper_noise(const struct tacit_helper_run *run, uint64_t epsilon_nano,
                                     const struct tacit_entropy *entropy, uint64_t *words,
                                     uint32_t count);

/* At most one of n totals in 1e12 runs carries more noise, whatever the sign: two aggregators at
 * epsilon and, with a floor, so many sites at floor_nano (0: no floor). In steps.
 * Source: HELPER 2.4. */
double tacit_helper_slack(const struct tacit_helper_run *run, uint64_t epsilon_nano,
                          uint64_t floor_nano, uint32_t agents, uint32_t count);

/* ---- Functions that are handed in -------------------------------------------------------------
 */

/* A grant of a site, as the site itself asked for it. */
struct tacit_helper_link {
    uint8_t commitment[TACIT_SHA256_BYTES];
    uint8_t previous[TACIT_SHA256_BYTES];
    const uint8_t *proof; /* its COMMIT as it came, signed; the core does not look inside */
    uint32_t proof_size;
};

/* Each answers false for what is not so, and has no other effect. A role has those that it needs,
 * and NULL else. */
struct tacit_helper_keys {
    void *context;
    /* Site: to the run's sealing key, which the pinned key signed. Draws nothing: the ephemeral key
     * is given, and is used for this once. */
    bool (*seal)(void *context, const uint8_t ephemeral[TACIT_HELPER_SEED_BYTES],
                 const uint8_t *scope, size_t scope_size,
                 const uint8_t seed[TACIT_HELPER_SEED_BYTES],
                 uint8_t envelope[TACIT_HELPER_ENVELOPE_BYTES]);
    /* Helper. */
    bool (*open)(void *context, const uint8_t *scope, size_t scope_size,
                 const uint8_t envelope[TACIT_HELPER_ENVELOPE_BYTES],
                 uint8_t seed[TACIT_HELPER_SEED_BYTES]);
    /* Helper: did the owner of the key that is pinned for this site ask for this grant, in this
     * run and term? */
    bool (*is_of_site)(void *context, uint32_t site, uint64_t term,
                       const struct tacit_helper_link *link);
    /* Helper: is it the hub's signature of this request? */
    bool (*is_of_hub)(void *context, const uint8_t digest[TACIT_SHA256_BYTES],
                      const uint8_t signature[TACIT_HELPER_SIGNATURE_BYTES]);
    /* Helper, hub: is it the helper's signature of this answer? */
    bool (*is_of_helper)(void *context, const uint8_t digest[TACIT_SHA256_BYTES],
                         const uint8_t signature[TACIT_HELPER_SIGNATURE_BYTES]);
};

/* ---- Site -------------------------------------------------------------------------------------
 */

struct tacit_helper_release {
    uint8_t digest[TACIT_SHA256_BYTES]; /* HMAC of z under the blind: with the mask, which the
                                         * helper has, a hash of z alone would let it try every x */
    uint8_t envelope[TACIT_HELPER_ENVELOPE_BYTES];
    uint8_t blind[TACIT_SHA256_BYTES]; /* the hub hears it with z, the helper never */
};

/* Who adds the noise to what a site releases: of each event that may draw. */
struct tacit_aggregators {
    const struct tacit_helper_run *run;
    const struct tacit_helper_keys *keys; /* seal */
    uint64_t epsilon_nano;                /* of each one's noise */
    uint64_t term;                        /* as the hub counts it: a site may have missed some */
};

/* Masks: words are x before and z after. Seed, ephemeral key and blind are HMACs, under 32 fresh
 * bytes that are forgotten here, of the scope and x: a clone of this memory that is given the same
 * bytes has another mask for another x. Errors: TACIT_ENTROPY; TACIT_INVALID: sealing failed; the
 * words are x still. Cost: O(n) hashes, one sealing. Source: HELPER 1.2, 1.3. */
enum tacit_status tacit_helper_mask(const struct tacit_helper_run *run,
                                    const struct tacit_helper_round *round, uint32_t site,
                                    const struct tacit_helper_keys *keys,
                                    const struct tacit_entropy *entropy, uint64_t *words,
                                    struct tacit_helper_release *release);

/* The words of a mask, added modulo 2^64 (subtracted: to masked words, they give x). Source: HELPER
 * 1.2. */
void tacit_helper_add_mask(const uint8_t seed[TACIT_HELPER_SEED_BYTES], const uint8_t *scope,
                           size_t scope_size, bool subtracts, uint64_t *words, uint32_t count);

/* The digest of masked words, under the release's blind: words lowest byte first. */
void tacit_helper_blind_digest(struct tacit_helper_release *release, const uint64_t *words,
                               uint32_t count);

/* SHA-256 of words, lowest byte first. */
void tacit_helper_words_digest(const uint64_t *words, uint32_t count,
                               uint8_t digest[TACIT_SHA256_BYTES]);

/* What a commitment is made to: SHA-256 of digest and envelope. */
void tacit_helper_release_digest(const struct tacit_helper_release *release,
                                 uint8_t digest[TACIT_SHA256_BYTES]);

/* ---- Messages between hub and helper ----------------------------------------------------------
 */

/* A site of U. */
struct tacit_helper_entry {
    uint32_t site;
    uint32_t link_count;
    const struct tacit_helper_link *links; /* from the helper's head of it to this round's */
    uint8_t salt[TACIT_SHA256_BYTES];      /* opens the last of them */
    struct tacit_helper_release release;
};

struct tacit_helper_request {
    struct tacit_helper_round round;
    uint32_t quorum;
    uint32_t entry_count;
    const struct tacit_helper_entry *entries; /* by site, ascending */
    /* The newest answer that the hub has; 0: none. */
    uint64_t number;
    uint8_t head[TACIT_SHA256_BYTES];
    uint8_t head_signature[TACIT_HELPER_SIGNATURE_BYTES]; /* the helper's */
    uint8_t signature[TACIT_HELPER_SIGNATURE_BYTES];      /* the hub's, of the request's digest */
};

/* Of all but signatures and proofs. */
void tacit_helper_request_digest(const struct tacit_helper_run *run,
                                 const struct tacit_helper_request *request,
                                 uint8_t digest[TACIT_SHA256_BYTES]);

enum tacit_helper_verdict {
    TACIT_HELPER_ANSWERED,
    TACIT_HELPER_TOO_FEW,  /* of these sites are in order; nothing was drawn; another U may be asked
                            */
    TACIT_HELPER_LATE,     /* another request was answered for this round, or for a later one */
    TACIT_HELPER_BEHIND,   /* the hub does not have the newest answer: it goes on in a new term */
    TACIT_HELPER_OLD,      /* the helper's own state is an old one: it waits for a later term */
    TACIT_HELPER_TOO_WEAK, /* epsilon is more than the helper's own file allows */
};

/* An answer, or a refusal. */
struct tacit_helper_answer {
    enum tacit_helper_verdict verdict;
    uint32_t count;  /* n; 0: a refusal, or words that are not kept any more */
    uint64_t number; /* of this answer, from 1; of a refusal: of the newest one */
    uint64_t term;   /* of what is answered */
    uint32_t round;
    uint32_t site_count;                  /* A */
    uint8_t request[TACIT_SHA256_BYTES];  /* digest */
    uint8_t previous[TACIT_SHA256_BYTES]; /* head of the answer before this one */
    uint8_t head[TACIT_SHA256_BYTES];     /* of this answer; of a refusal: of the newest one */
    const uint64_t *sites;                /* W(A): U'; too few: those of U that are in order */
    const uint64_t *words;                /* n: a */
    uint8_t signature[TACIT_HELPER_SIGNATURE_BYTES];      /* the helper's, of the answer's digest */
    uint8_t head_signature[TACIT_HELPER_SIGNATURE_BYTES]; /* the helper's, of head */
};

/* What the helper signs: the head of an answer (a chain over all of it), or of a refusal all that
 * it says. */
void tacit_helper_answer_digest(const struct tacit_helper_answer *answer,
                                uint8_t digest[TACIT_SHA256_BYTES]);

/* ---- Helper -----------------------------------------------------------------------------------
 */

/* Its own: nothing of it comes from the network. */
TACIT_NO_GAPS
struct tacit_helper_config {
    struct tacit_helper_run run; /* as agreed on, with the pinned keys of the sites */
    uint64_t epsilon_nano_max;   /* the largest that it serves (Gaussian: rho) */
    uint32_t sites_min;          /* >= TACIT_HELPER_SITES_MIN */
    uint32_t spare;
};
TACIT_NO_GAPS_END

struct tacit_helper; /* opaque, relocatable */

/* Bytes of a state: O(A + n). Errors: 0 if the configuration is not valid. */
size_t tacit_helper_size(const struct tacit_helper_config *config);

/* Errors: TACIT_INVALID, *helper untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_helper_init(struct tacit_helper *helper,
                                    const struct tacit_helper_config *config);

/* Are these bytes a state of this configuration? Errors: TACIT_MALFORMED. */
enum tacit_status tacit_helper_check(const struct tacit_helper *helper, size_t size,
                                     const struct tacit_helper_config *config);

struct tacit_helper_update {
    bool persist; /* before the answer leaves */
    bool send;
    struct tacit_helper_answer answer; /* if send: without signatures; valid until the next step */
    const uint64_t *faulty;            /* W(A), if send: sites of U that were left out */
};

/* Takes a request. One answer ever for (term, round): the same request hears the same bytes again,
 * another one a refusal. `noise`: n draws are hedged by the request's digest. TACIT_OK: there is
 * something to say. Errors, without an answer: TACIT_STRANGER: not signed by the hub;
 * TACIT_MALFORMED: it cannot be; TACIT_ENTROPY. The state is then as it was, byte for byte. Cost:
 * one opening and O(n) hashes a site. Source: HELPER 3. */
enum tacit_status tacit_helper_step(struct tacit_helper *helper,
                                    const struct tacit_helper_request *request,
                                    const struct tacit_helper_keys *keys,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_helper_update *update);

/* Pointers are valid until the next step. */
struct tacit_helper_view {
    uint64_t number; /* answers so far */
    uint64_t term;   /* of the newest */
    uint32_t round;
    const uint8_t *head;
    const uint64_t *sites;      /* W(A): U' of the newest */
    uint64_t epsilon_nano_most; /* the most that an answer was drawn with: what a reward has lost,
                                 * by this noise alone, if it is in one sum only; .. */
    uint64_t epsilon_nano_sum;  /* .. and what a data set has that is in all of them */
    bool is_old;                /* it knows that its state is an old one, and waits */
};

/* Shows a helper's state without changing it. Cost: O(1). */
void tacit_helper_view(const struct tacit_helper *helper, struct tacit_helper_view *view);

/* ---- Hub: what it keeps for the helper, beside its rounds -------------------------------------
 */

struct tacit_helper_hub; /* opaque, relocatable; part of a hub's state */

/* Bytes of a state: O(A n). Errors: 0 if the run is not valid. */
size_t tacit_helper_hub_size(const struct tacit_helper_run *run);

/* Errors: TACIT_INVALID, *hub untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_helper_hub_init(struct tacit_helper_hub *hub,
                                        const struct tacit_helper_run *run);
enum tacit_status tacit_helper_hub_check(const struct tacit_helper_hub *hub, size_t size,
                                         const struct tacit_helper_run *run);

/* Does it go with a hub of this round, which is not over: it waits for totals, or for more than
 * these reports (W(A))? Two parts of a state that a disk has kept from two rounds do not. */
bool tacit_helper_hub_fits(const struct tacit_helper_hub *hub,
                           const struct tacit_helper_round *round, bool awaits_totals,
                           const uint64_t *received);

/* Whatever was granted or reported is forgotten. The newest answer is not. */
void tacit_helper_hub_begin_term(struct tacit_helper_hub *hub, uint64_t term);

/* A commitment that follows the site's head was granted. The driver keeps its COMMIT as it came. */
void tacit_helper_hub_grant(struct tacit_helper_hub *hub, uint32_t site,
                            const struct tacit_commit *commit);

/* Keeps an opened release: its words and what opens it, but not its blind. Nothing of a site with
 * more grants than a request has room for: it is in no U of this term. Requires: U is not fixed,
 * the release is of the site's last grant, count <= count_max. */
void tacit_helper_hub_add(struct tacit_helper_hub *hub, uint32_t site, const uint8_t *salt,
                          const struct tacit_helper_release *release, const uint64_t *words,
                          uint32_t count);

/* Fixes U: all whose releases are here. The hub's own noise is drawn, unless this round has it
 * already. Durable before anything of U leaves. Errors: TACIT_ENTROPY, nothing changed. Requires: U
 * is not fixed; at least two releases are here, of round->count words. */
enum tacit_status tacit_helper_hub_fix(struct tacit_helper_hub *hub,
                                       const struct tacit_helper_round *round, uint32_t quorum,
                                       const struct tacit_entropy *entropy);

/* The request, in memory of …_request_size bytes (8-byte aligned); without signatures and proofs,
 * which are the driver's. Requires: U is fixed. */
size_t tacit_helper_hub_request_size(const struct tacit_helper_hub *hub);
struct tacit_helper_request *tacit_helper_hub_request(const struct tacit_helper_hub *hub,
                                                      void *memory);

/* What honest sites can add up to, a site of U'. */
struct tacit_helper_range {
    int64_t low;
    const uint64_t *highs; /* n, or NULL: .. */
    uint64_t high;         /* .. all the same */
    uint64_t floor_nano;   /* the sites' own noise; 0: none */
};

enum tacit_helper_outcome {
    TACIT_HELPER_CLOSED, /* totals hold */
    TACIT_HELPER_VOID,   /* a site lied: a total that cannot be. All rewards of it are spent */
    TACIT_HELPER_FREED   /* too few were in order: those that were are kept, and U is not fixed */
};

/* Takes an answer. Ensures: TACIT_OK: *outcome; on CLOSED *agents is |U'| and totals[j] the sum
 * over U' with two noises; on both CLOSED and VOID the round is over: words, envelopes and noise
 * are erased, and durable before anything of it is said. Errors: TACIT_UNEXPECTED: not of this
 * request, or late, or the helper waits or refuses (view.verdict says why; a new term goes on);
 * TACIT_MALFORMED: it cannot be; TACIT_FORKED: two answers of one number: the hub stops. Only the
 * verdict is then another. Requires: the signature was checked. */
enum tacit_status tacit_helper_hub_close(struct tacit_helper_hub *hub,
                                         const struct tacit_helper_answer *answer,
                                         const struct tacit_helper_range *range,
                                         enum tacit_helper_outcome *outcome, uint32_t *agents,
                                         int64_t *totals);

/* The round ends without totals: what is here is spent unused. An answer to a request that stood is
 * not taken any more. */
void tacit_helper_hub_void(struct tacit_helper_hub *hub);

/* What a hub that is built again knows of the newest answer. Requires: a new state, number > 0. */
void tacit_helper_hub_recall(struct tacit_helper_hub *hub, uint64_t number,
                             const uint8_t head[TACIT_SHA256_BYTES],
                             const uint8_t signature[TACIT_HELPER_SIGNATURE_BYTES]);

/* The operator has decided: void rounds are counted from here on. */
void tacit_helper_hub_go_on(struct tacit_helper_hub *hub);

struct tacit_helper_hub_view {
    bool is_fixed;                     /* a request stands */
    bool is_void;                      /* the last round was */
    uint32_t void_count;               /* in a row; after two the operator decides */
    uint32_t here_count;               /* releases that are here, or in U */
    const uint64_t *here;              /* W(A) */
    const uint64_t *counted;           /* W(A): U' of the last round that was closed */
    uint64_t number;                   /* of the newest answer */
    const uint8_t *head;               /* of it */
    const uint8_t *signature;          /* of its head */
    enum tacit_helper_verdict verdict; /* of the last thing that was heard of the helper */
    bool is_forked;                    /* the helper answered twice: nothing goes on */
};

/* Shows what a hub keeps, without changing it. Cost: O(A). */
void tacit_helper_hub_view(const struct tacit_helper_hub *hub, struct tacit_helper_hub_view *view);
#endif

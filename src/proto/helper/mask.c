/* What a site adds and seals, and the noise of an aggregator (HELPER 1.2, 1.3, 2.4, 3.5). */
#include <math.h>
#include <string.h>
#include "internal.h"
#include "tacit/gaussian.h"
#include "tacit/vector.h"

#define STEPS_MAX (UINT64_C(1) << 31)
#define SQUARE_FACTOR_MAX (UINT64_C(1) << 16)
#define WIDE_S_MAX (UINT64_C(1) << 48) /* of tacit_discrete_laplace_wide */
#define SLACK_FAILURE 1e-12
#define SECTION_STEPS 100
#define GOLDEN 0.61803398874989484820

/* ---- Scope ---- */

struct scope_writer {
    uint8_t *bytes;
    size_t size;
};

/* Lowest byte first. */
static void put_word(struct scope_writer *writer, uint64_t word)
{
    for (unsigned i = 0; i < sizeof word; i++)
        writer->bytes[writer->size++] = (uint8_t)(word >> (8 * i));
}

static void put(struct scope_writer *writer, const void *bytes, size_t size)
{
    TACIT_ASSERT(writer->size + sizeof(uint64_t) + size <= TACIT_HELPER_SCOPE_BYTES_MAX);
    put_word(writer, size);
    if (size > 0)
        memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

static void put_number(struct scope_writer *writer, uint64_t number)
{
    TACIT_ASSERT(writer->size + 2 * sizeof number <= TACIT_HELPER_SCOPE_BYTES_MAX);
    put_word(writer, sizeof number);
    put_word(writer, number);
}

/* Of the federation's name, at most one more than there may be. */
static size_t name_bytes(const struct tacit_helper_run *run)
{
    size_t size = 0;
    while (size < sizeof run->federation && run->federation[size] != '\0')
        size++;
    return size;
}

size_t tacit_helper_scope(const struct tacit_helper_run *run,
                          const struct tacit_helper_round *round, uint32_t site,
                          uint8_t bytes[TACIT_HELPER_SCOPE_BYTES_MAX])
{
    struct scope_writer writer = {.bytes = bytes};
    TACIT_ASSERT(name_bytes(run) <= TACIT_HELPER_NAME_BYTES_MAX);
    TACIT_ASSERT(site == TACIT_HELPER_EVERYBODY || site < run->site_count);
    put(&writer, run->federation, name_bytes(run));
    put(&writer, run->run, sizeof run->run);
    put_number(&writer, round->term);
    put_number(&writer, round->round);
    if (site == TACIT_HELPER_EVERYBODY)
        put(&writer, NULL, 0);
    else
        put_number(&writer, site);
    put(&writer, run->agreement, sizeof run->agreement);
    put(&writer, round->order, sizeof round->order);
    put_number(&writer, round->count);
    put_number(&writer, run->mechanism);
    put_number(&writer, run->steps);
    put_number(&writer, round->epsilon_nano);
    return writer.size;
}

/* ---- Runs and rounds ---- */

/* The square is factor 2^shift. False: it is none that the run may have. */
static bool split_square(uint64_t square, uint64_t *factor, uint32_t *shift)
{
    for (*shift = 0, *factor = square; *factor > 0 && *factor % 2 == 0; *factor /= 2)
        (*shift)++;
    return *factor > 0 && *factor<SQUARE_FACTOR_MAX && * shift> 0;
}

bool tacit_helper_run_is_valid(const struct tacit_helper_run *run)
{
    uint64_t factor;
    uint32_t shift;
    return name_bytes(run) <= TACIT_HELPER_NAME_BYTES_MAX &&
           run->site_count >= TACIT_HELPER_SITES_MIN && run->site_count <= TACIT_AGENTS_MAX &&
           run->count_max > 0 && run->count_max <= TACIT_HELPER_COUNT_MAX &&
           (run->mechanism == TACIT_HELPER_LAPLACE ? run->steps > 0 && run->steps <= STEPS_MAX
                                                   : run->mechanism == TACIT_HELPER_GAUSSIAN &&
                                                         split_square(run->steps, &factor, &shift));
}

/* sigma^2 = steps 1e9/(2 rho_nano). */
static enum tacit_status gaussian_of(const struct tacit_helper_run *run, uint64_t rho_nano,
                                     struct tacit_gaussian *gaussian)
{
    uint64_t factor;
    uint32_t shift;
    return rho_nano == 0 || !split_square(run->steps, &factor, &shift)
               ? TACIT_INVALID
               : tacit_gaussian_init(gaussian, factor * TACIT_NANO, shift - 1, rho_nano);
}

/* t/s = steps 1e9/epsilon_nano, in lowest terms. False: s is beyond what is drawn from. */
static bool laplace_of(const struct tacit_helper_run *run, uint64_t epsilon_nano, uint64_t *t,
                       uint64_t *s)
{
    uint64_t common = run->steps * TACIT_NANO;
    TACIT_ASSERT(run->steps > 0 && run->steps <= STEPS_MAX);
    for (uint64_t rest = epsilon_nano; rest != 0;) {
        uint64_t const next = common % rest;
        common = rest;
        rest = next;
    }
    *t = run->steps * TACIT_NANO / common;
    *s = epsilon_nano / common;
    return *s > 0 && *s < WIDE_S_MAX;
}

bool helper_round_is_valid(const struct tacit_helper_run *run,
                           const struct tacit_helper_round *round)
{
    struct tacit_gaussian gaussian;
    uint64_t t;
    uint64_t s;
    return round->count > 0 && round->count <= run->count_max && round->round > 0 &&
           (run->mechanism == TACIT_HELPER_LAPLACE
                ? laplace_of(run, round->epsilon_nano, &t, &s)
                : gaussian_of(run, round->epsilon_nano, &gaussian) == TACIT_OK);
}

/* ---- Noise ---- */

enum tacit_status tacit_helper_noise(const struct tacit_helper_run *run, uint64_t epsilon_nano,
                                     const struct tacit_entropy *entropy, uint64_t *words,
                                     uint32_t count)
{
    struct tacit_gaussian gaussian;
    uint64_t t = 0;
    uint64_t s = 0;
    bool const is_laplace = run->mechanism == TACIT_HELPER_LAPLACE;
    TACIT_ASSERT(count <= TACIT_HELPER_COUNT_MAX);
    if (is_laplace ? !laplace_of(run, epsilon_nano, &t, &s)
                   : gaussian_of(run, epsilon_nano, &gaussian) != TACIT_OK)
        return TACIT_INVALID;
    for (uint32_t j = 0; j < count; j++) {
        int64_t noise;
        TACIT_TRY(is_laplace ? tacit_discrete_laplace_wide(t, s, entropy, &noise)
                             : tacit_discrete_gaussian(&gaussian, entropy, &noise));
        words[j] += (uint64_t)noise;
    }
    return TACIT_OK;
}

/* (level - 2 ln(1 - l^2/e^2) - m ln(1 - l^2/f^2))/l. */
static double slack_at(double lambda, double level, double epsilon, double floor, double agents)
{
    TACIT_ASSERT(lambda > 0 && epsilon > 0);
    TACIT_ASSERT(lambda < epsilon && (floor <= 0 || lambda < floor));
    double const share = lambda / epsilon;
    double const other = floor > 0 ? lambda / floor : 0;
    return (level - 2 * log1p(-share * share) - agents * log1p(-other * other)) / lambda;
}

double tacit_helper_slack(const struct tacit_helper_run *run, uint64_t epsilon_nano,
                          uint64_t floor_nano, uint32_t agents, uint32_t count)
{
    TACIT_ASSERT(epsilon_nano > 0);
    TACIT_ASSERT(count > 0);
    double const level = log(2 * (double)count / SLACK_FAILURE);
    double const epsilon = tacit_nano_value(epsilon_nano);
    double const floor = tacit_nano_value(floor_nano);
    if (run->mechanism == TACIT_HELPER_GAUSSIAN) {
        double const terms = 1 / epsilon + (floor > 0 ? (double)agents / (2 * floor) : 0);
        return sqrt(2 * level * terms * (double)run->steps);
    }
    double low = 0;
    double high = floor > 0 && floor < epsilon ? floor : epsilon;
    for (int step = 0; step < SECTION_STEPS; step++) { /* convex over linear: one valley */
        double const left = high - GOLDEN * (high - low);
        double const right = low + GOLDEN * (high - low);
        if (slack_at(left, level, epsilon, floor, agents) <=
            slack_at(right, level, epsilon, floor, agents))
            high = right;
        else
            low = left;
    }
    return (double)run->steps * slack_at((low + high) / 2, level, epsilon, floor, agents);
}

/* ---- Masks ---- */

void tacit_helper_words_digest(const uint64_t *words, uint32_t count,
                               uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    for (uint32_t j = 0; j < count; j++)
        tacit_sha256_update_number(&sha, words[j]);
    tacit_sha256_final(&sha, digest);
}

void tacit_helper_blind_digest(struct tacit_helper_release *release, const uint64_t *words,
                               uint32_t count)
{
    struct tacit_hmac hmac = tacit_hmac_init(release->blind);
    TACIT_ASSERT(count > 0 && count <= TACIT_HELPER_COUNT_MAX);
    for (uint32_t j = 0; j < count; j++)
        tacit_sha256_update_number(&hmac.inner, words[j]);
    tacit_hmac_final(&hmac, release->digest);
}

void tacit_helper_release_digest(const struct tacit_helper_release *release,
                                 uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, release->digest, sizeof release->digest);
    tacit_sha256_update(&sha, release->envelope, sizeof release->envelope);
    tacit_sha256_final(&sha, digest);
}

/* Without the zero at its end. */
#define update_text(hmac, text) tacit_hmac_update(hmac, text, sizeof(text) - 1)

/* HMAC(k, label, scope, x), of which hmac has the label already: the scope ends by itself, since
 * each part has its length. */
static void derive(struct tacit_hmac hmac, const uint8_t *scope, size_t scope_size,
                   const uint64_t *words, uint32_t count, uint8_t derived[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(scope_size > 0 && scope_size <= TACIT_HELPER_SCOPE_BYTES_MAX);
    tacit_hmac_update(&hmac, scope, scope_size);
    for (uint32_t j = 0; j < count; j++)
        tacit_sha256_update_number(&hmac.inner, words[j]);
    tacit_hmac_final(&hmac, derived);
}

void tacit_helper_add_mask(const uint8_t seed[TACIT_HELPER_SEED_BYTES], const uint8_t *scope,
                           size_t scope_size, bool subtracts, uint64_t *words, uint32_t count)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    TACIT_ASSERT(scope_size > 0 && scope_size <= TACIT_HELPER_SCOPE_BYTES_MAX);
    tacit_sha256_of(scope, scope_size, digest);
    for (uint32_t j = 0; j < count; j += DIGEST_WORDS) {
        uint8_t block[TACIT_SHA256_BYTES];
        struct tacit_hmac hmac = tacit_hmac_init(seed);
        update_text(&hmac, "tacit mask");
        tacit_hmac_update(&hmac, digest, sizeof digest);
        tacit_sha256_update_number(&hmac.inner, j / DIGEST_WORDS);
        tacit_hmac_final(&hmac, block);
        for (uint32_t i = 0; i < DIGEST_WORDS && j + i < count; i++) {
            uint64_t word = 0;
            for (unsigned byte = 0; byte < sizeof word; byte++)
                word |= (uint64_t)block[i * sizeof word + byte] << (8 * byte);
            words[j + i] += subtracts ? -word : word;
        }
    }
}

enum tacit_status tacit_helper_mask(const struct tacit_helper_run *run,
                                    const struct tacit_helper_round *round, uint32_t site,
                                    const struct tacit_helper_keys *keys,
                                    const struct tacit_entropy *entropy, uint64_t *words,
                                    struct tacit_helper_release *release)
{
    uint8_t key[TACIT_SHA256_BYTES];
    uint8_t seed[TACIT_HELPER_SEED_BYTES];
    uint8_t ephemeral[TACIT_HELPER_SEED_BYTES];
    uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX];
    TACIT_ASSERT(site < run->site_count);
    TACIT_ASSERT(helper_round_is_valid(run, round));
    TACIT_ASSERT(keys->seal != NULL);
    if (entropy->fill(entropy->context, key, sizeof key) != TACIT_OK)
        return TACIT_ENTROPY;
    size_t const size = tacit_helper_scope(run, round, site, scope);
    struct tacit_hmac of_seed = tacit_hmac_init(key);
    struct tacit_hmac of_envelope = of_seed;
    struct tacit_hmac of_blind = of_seed;
    update_text(&of_seed, "tacit seed");
    update_text(&of_envelope, "tacit envelope");
    update_text(&of_blind, "tacit blind");
    derive(of_seed, scope, size, words, round->count, seed);
    derive(of_envelope, scope, size, words, round->count, ephemeral);
    derive(of_blind, scope, size, words, round->count, release->blind);
    if (!keys->seal(keys->context, ephemeral, scope, size, seed, release->envelope))
        return TACIT_INVALID;
    tacit_helper_add_mask(seed, scope, size, true, words, round->count);
    tacit_helper_blind_digest(release, words, round->count);
    return TACIT_OK;
}

/* ---- Hedged entropy ---- */

static enum tacit_status fill_hedged(void *context, void *bytes, size_t size)
{
    struct helper_hedge *const hedge = context;
    uint8_t *out = bytes;
    TACIT_ASSERT(hedge->left <= sizeof hedge->block);
    for (size_t i = 0; i < size; i++, hedge->left--) {
        if (hedge->left == 0) {
            struct tacit_hmac hmac = tacit_hmac_init(hedge->key);
            tacit_hmac_update(&hmac, hedge->digest, sizeof hedge->digest);
            tacit_sha256_update_number(&hmac.inner, hedge->counter++);
            tacit_hmac_final(&hmac, hedge->block);
            hedge->left = sizeof hedge->block;
        }
        out[i] = hedge->block[sizeof hedge->block - hedge->left];
    }
    return TACIT_OK;
}

enum tacit_status helper_hedge_begin(struct helper_hedge *hedge,
                                     const struct tacit_entropy *entropy,
                                     const uint8_t digest[TACIT_SHA256_BYTES],
                                     struct tacit_entropy *hedged)
{
    TACIT_ASSERT(digest != NULL);
    *hedge = (struct helper_hedge){.left = 0};
    memcpy(hedge->digest, digest, sizeof hedge->digest);
    if (entropy->fill(entropy->context, hedge->key, sizeof hedge->key) != TACIT_OK)
        return TACIT_ENTROPY;
    *hedged = (struct tacit_entropy){.fill = fill_hedged, .context = hedge};
    return TACIT_OK;
}

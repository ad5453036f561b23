/* The pool: the sum of all players' noised sums, judged with exact bounds (EXACT-BOUNDS 2, 3). It
 * looks at numbers of releases that are fixed beforehand. */
#include "pool.h"
#include <math.h>
#include <string.h>
#include "tacit/bounds.h"
#include "tacit/elimination.h"

#define FIRST_RADIUS 0.25 /* EXACT-BOUNDS 4.1 */
#define RELEASES_MAX                                                                               \
    (UINT64_C(1) << 28) /* a pool is closed then; times TACIT_VOTE_BLOCK_MAX fits */
#define NOISE_STEPS_MAX (INT64_C(1) << 60) /* no honest sum is beyond: Laplace far below it */
#define SUM_STEPS_MAX (INT64_C(1) << 61)
#define LOOKS_OF_TERM UINT64_C(128)   /* more than there are with TACIT_VOTE_POOL_GROWTH */
#define TERMS_MAX (UINT64_C(1) << 24) /* so that the numbers of the last one's have 32 bits */

struct tacit_vote_pool {
    struct tacit_vote_pool_config config;
    uint64_t release_count;
    uint64_t look_count;
    uint64_t next_look;
    uint64_t active_count;
    uint64_t term;
    /* active W | sums K */
    uint64_t words[];
};

/* ---- Layout ---- */

static uint32_t arms_of(const struct tacit_vote_pool *pool)
{
    return pool->config.arm_count;
}

static uint64_t *active_of(struct tacit_vote_pool *pool)
{
    return pool->words;
}

static int64_t *sums_of(struct tacit_vote_pool *pool)
{
    return (int64_t *)(void *)(pool->words + TACIT_BITS_WORDS(pool->config.arm_count));
}

/* Players of a release. */
static uint64_t together_of(const struct tacit_vote_pool_config *config)
{
    return config->together > 0 ? config->together : 1;
}

static bool config_is_valid(const struct tacit_vote_pool_config *config)
{
    return config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->player_count >= 1 && config->player_count <= TACIT_AGENTS_MAX &&
           config->accuracy > 0 && config->accuracy <= 1 && config->failure > 0 &&
           config->failure < 1 && config->epsilon > 0 && config->block >= 1 &&
           config->block <= TACIT_VOTE_BLOCK_MAX / together_of(config) && config->growth > 1 &&
           config->growth <= 4 && config->together <= config->player_count &&
           (config->together > 0) == (config->floor_milli != TACIT_ONE_AGGREGATOR);
}

size_t tacit_vote_pool_size(const struct tacit_vote_pool_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!config_is_valid(config))
        return 0;
    return sizeof(struct tacit_vote_pool) +
           (TACIT_BITS_WORDS(config->arm_count) + config->arm_count) * sizeof(uint64_t);
}

/* ---- Looks ---- */

struct tacit_bounds_sum tacit_vote_pool_sum(const struct tacit_vote_pool_config *config,
                                            uint64_t releases, struct tacit_bounds_noise *noise)
{
    TACIT_ASSERT(releases >= 1 && releases <= RELEASES_MAX);
    uint64_t const blocks = releases * together_of(config);
    *noise = tacit_bounds_noise_of(config->epsilon, config->floor_milli);
    noise->releases = (uint32_t)releases;
    return (struct tacit_bounds_sum){.pulls = blocks * config->block, .noises = blocks};
}

static double radius_of(const struct tacit_vote_pool_config *config, uint64_t releases)
{
    struct tacit_bounds_noise noise;
    struct tacit_bounds_sum const sum = tacit_vote_pool_sum(config, releases, &noise);
    return tacit_bounds_radius_of(sum.pulls, sum.noises, &noise,
                                  tacit_bounds_level(config->arm_count, 1, config->failure));
}

uint64_t tacit_vote_pool_until(const struct tacit_vote_pool_config *config, double width)
{
    TACIT_ASSERT(config->block >= 1);
    uint64_t few = 0;
    uint64_t enough = 1;
    while (enough < RELEASES_MAX && radius_of(config, enough) > width) {
        few = enough;
        enough *= 2;
    }
    while (enough - few > 1) {
        uint64_t const middle = few + (enough - few) / 2;
        if (radius_of(config, middle) > width)
            few = middle;
        else
            enough = middle;
    }
    TACIT_ASSERT(enough >= 1);
    TACIT_ASSERT(enough <= RELEASES_MAX);
    return enough;
}

uint64_t tacit_vote_pool_block(const struct tacit_vote_pool_config *config)
{
    TACIT_ASSERT(config != NULL);
    double const waiting = (double)config->player_count / 2.0; /* blocks that are half played */
    uint64_t best = 1;
    double fewest = INFINITY;
    struct tacit_vote_pool_config tried = *config;
    for (tried.block = 1; config_is_valid(&tried); tried.block *= 2) { /* to the largest */
        uint64_t const releases = tacit_vote_pool_until(&tried, config->accuracy);
        double const blocks = (double)(releases * together_of(config));
        double const samples = (double)tried.block * (blocks + waiting);
        if (releases < RELEASES_MAX && samples < fewest) {
            fewest = samples;
            best = tried.block;
        }
    }
    return best;
}

/* Never beyond the last release. */
static uint64_t following_look(const struct tacit_vote_pool *pool)
{
    uint64_t const next = tacit_bounds_next_rung(pool->next_look, pool->config.growth);
    TACIT_ASSERT(next > pool->next_look);
    return next < RELEASES_MAX ? next : RELEASES_MAX;
}

/* e: what a pool that was lost may have looked at is no look of this one. */
static uint32_t look_number(const struct tacit_vote_pool *pool)
{
    TACIT_ASSERT(pool->term == 0 || pool->look_count < LOOKS_OF_TERM);
    return (uint32_t)(pool->term * LOOKS_OF_TERM + pool->look_count);
}

/* Out with k if UCB_k <= max LCB + accuracy, by all releases. */
static void look(struct tacit_vote_pool *pool)
{
    TACIT_ASSERT(pool->active_count >= 1);
    TACIT_ASSERT(pool->release_count == pool->next_look);
    struct tacit_vote_pool_config const *const config = &pool->config;
    pool->look_count++;
    struct tacit_bounds_noise noise;
    struct tacit_bounds_sum const sum = tacit_vote_pool_sum(config, pool->release_count, &noise);
    struct tacit_elimination const look = {
        .steps = sums_of(pool),
        .arm_stride = 1,
        .arm_count = config->arm_count,
        .last = 1, /* a sum of all of them */
        .pulls = sum.pulls,
        .noises = sum.noises,
        .noise = noise,
        .level = tacit_bounds_level(config->arm_count, look_number(pool), config->failure),
        .accuracy = config->accuracy};
    pool->active_count -= tacit_elimination_drop(&look, active_of(pool), NULL);
    TACIT_ASSERT(pool->active_count >= 1);
    TACIT_ASSERT(pool->active_count == tacit_bits_count(active_of(pool), arms_of(pool)));
    pool->next_look = following_look(pool);
}

void vote_release_digest(const uint64_t *arms, const int64_t *sums, uint32_t arm_count,
                         uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    TACIT_BITS_EACH (arm, arms, arm_count) {
        tacit_sha256_update_number(&sha, arm);
        tacit_sha256_update_number(&sha, (uint64_t)sums[arm]);
    }
    tacit_sha256_final(&sha, digest);
}

/* ---- Public functions ---- */

enum tacit_status tacit_vote_pool_init(struct tacit_vote_pool *pool,
                                       const struct tacit_vote_pool_config *config)
{
    TACIT_ASSERT(pool != NULL);
    size_t const size = tacit_vote_pool_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(pool, 0, size);
    pool->config = *config;
    tacit_bits_fill(active_of(pool), config->arm_count);
    pool->active_count = config->arm_count;
    pool->next_look = tacit_vote_pool_until(config, FIRST_RADIUS);
    return TACIT_OK;
}

enum tacit_status tacit_vote_pool_check(const struct tacit_vote_pool *pool, size_t size,
                                        const struct tacit_vote_pool_config *config)
{
    TACIT_ASSERT(pool != NULL);
    size_t const wanted = tacit_vote_pool_size(config);
    if (wanted == 0 || size != wanted)
        return TACIT_MALFORMED;
    if (memcmp(&pool->config, config, sizeof *config) != 0)
        return TACIT_MALFORMED;
    struct tacit_vote_pool *const read = (struct tacit_vote_pool *)(uintptr_t)pool;
    if (!tacit_bits_within(active_of(read), active_of(read), config->arm_count))
        return TACIT_MALFORMED;
    uint64_t looks = 0;
    struct tacit_vote_pool ladder = {.config = *config};
    ladder.next_look = tacit_vote_pool_until(config, FIRST_RADIUS);
    for (; ladder.next_look <= pool->release_count && looks < pool->look_count; looks++)
        ladder.next_look = following_look(&ladder);
    bool const is_possible =
        looks == pool->look_count && ladder.next_look == pool->next_look &&
        pool->next_look > pool->release_count && pool->active_count >= 1 &&
        pool->term <= TERMS_MAX &&
        tacit_bits_count(active_of(read), config->arm_count) == pool->active_count;
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

void vote_pool_begin_term(struct tacit_vote_pool *pool, uint64_t term)
{
    TACIT_ASSERT(term > pool->term);
    pool->term = term < TERMS_MAX ? term : TERMS_MAX;
}

void vote_pool_walk(struct base_walk *walk, struct tacit_vote_pool *pool)
{
    base_walk_word(walk, &pool->release_count);
    base_walk_word(walk, &pool->look_count);
    base_walk_word(walk, &pool->next_look);
    base_walk_word(walk, &pool->active_count);
    base_walk_words(walk, pool->words,
                    TACIT_BITS_WORDS(pool->config.arm_count) + pool->config.arm_count);
}

/* Has every arm that is left a sum that a player could have, and no other arm one? */
static bool release_is_possible(struct tacit_vote_pool *pool, struct tacit_vote_release release)
{
    if (!tacit_bits_within(release.arms, release.arms, arms_of(pool)))
        return false;
    for (uint32_t arm = 0; arm < arms_of(pool); arm++) {
        bool const has = tacit_bits_has(release.arms, arm);
        int64_t const sum = release.sums[arm];
        if ((!has && tacit_bits_has(active_of(pool), arm)) || (!has && sum != 0))
            return false;
        if (sum > NOISE_STEPS_MAX || sum < -NOISE_STEPS_MAX)
            return false;
        int64_t const before = sums_of(pool)[arm];
        if (sum > 0 ? before > SUM_STEPS_MAX - sum : before < -SUM_STEPS_MAX - sum)
            return false;
    }
    return true;
}

enum tacit_status tacit_vote_pool_add(struct tacit_vote_pool *pool,
                                      struct tacit_vote_release release)
{
    TACIT_ASSERT(pool != NULL);
    TACIT_ASSERT(release.arms != NULL && release.sums != NULL);
    if (pool->release_count == RELEASES_MAX - 1)
        return TACIT_OK;
    if (!release_is_possible(pool, release))
        return TACIT_MALFORMED;
    TACIT_BITS_EACH (arm, active_of(pool), arms_of(pool))
        sums_of(pool)[arm] += release.sums[arm];
    pool->release_count++;
    if (pool->release_count == pool->next_look)
        look(pool);
    TACIT_ASSERT(pool->next_look > pool->release_count);
    return TACIT_OK;
}

void tacit_vote_pool_view(const struct tacit_vote_pool *pool, struct tacit_vote_pool_view *view)
{
    TACIT_ASSERT(pool != NULL);
    TACIT_ASSERT(view != NULL);
    struct tacit_vote_pool *const read = (struct tacit_vote_pool *)(uintptr_t)pool;
    *view = (struct tacit_vote_pool_view){.release_count = pool->release_count,
                                          .look_count = pool->look_count,
                                          .next_look = pool->next_look,
                                          .active = active_of(read),
                                          .active_count = (uint32_t)pool->active_count,
                                          .sums = sums_of(read)};
}

/* What the hub, the helper and everybody else see of rounds with two aggregators, judged by the
 * refuter (tests/support/audit.h): real masks, grants, requests and answers; a helper that dies
 * before its answer is durable, requests said again, a later term with new rewards. Two worlds
 * differ in the value of one reward, or in all that one user trained. What is proven stays below
 * epsilon in each view, and is not far below it; without the other one's noise it does not. (Of the
 * Gaussian noise of contexts: glm_private_stat, MASKED.) False alarms: 1e-3 a check
 * (AUDIT_CONFIDENCE); fixed seeds. */
#include "../support/testing.h"
#include "../support/any_keys.h"
#include <math.h>
#include "../support/audit.h"
#include "tacit/helper.h"
#include "tacit/privacy.h"
#include "tacit/vector.h"

#define SITES_MAX 50u
#define RELEASES 12000u

enum view { OF_HUB, OF_HELPER, OF_OTHERS, OF_BOTH };

struct setting {
    enum view view;
    uint32_t sites;
    bool is_difference; /* of a round and the one of a later term: noise that is used again shows */
    bool is_update;     /* of a model, where it is longest: all of it in one number */
};

struct federation {
    struct tacit_helper_config config;
    struct tacit_helper_keys keys;
    struct tacit_helper_hub *hub;
    struct tacit_helper *helper;
};

/* Nothing of an envelope is in a view: it is what it holds. */
static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *scope, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    (void)context;
    (void)ephemeral;
    (void)scope;
    (void)size;
    memset(envelope, 0, TACIT_HELPER_ENVELOPE_BYTES);
    memcpy(envelope, seed, TACIT_HELPER_SEED_BYTES);
    return true;
}

static bool open_seed(void *context, const uint8_t *scope, size_t size, const uint8_t *envelope,
                      uint8_t *seed)
{
    (void)context;
    (void)scope;
    (void)size;
    memcpy(seed, envelope, TACIT_HELPER_SEED_BYTES);
    return true;
}

static const uint8_t domain[TACIT_SHA256_BYTES] = {1};

/* Every site draws, is granted and reports; returns the sum of what they masked. */
static uint64_t report(const struct federation *federation, const struct tacit_helper_round *round,
                       uint64_t of_first, const struct tacit_entropy *entropy)
{
    uint64_t masked = 0;
    for (uint32_t site = 0; site < federation->config.run.site_count; site++) {
        uint64_t word = site == 0 ? of_first : 0;
        struct tacit_helper_release made;
        struct tacit_commit commit;
        uint8_t digest[TACIT_SHA256_BYTES];
        static const uint8_t first[TACIT_SHA256_BYTES];
        struct tacit_commit_scope const scope = {.domain = domain, .site = site, .epoch = 1};
        assert_int_equal(tacit_helper_mask(&federation->config.run, round, site, &federation->keys,
                                           entropy, &word, &made),
                         TACIT_OK);
        tacit_helper_release_digest(&made, digest);
        assert_int_equal(tacit_commit_make(&scope, first, digest, sizeof digest, entropy, &commit),
                         TACIT_OK);
        tacit_helper_hub_grant(federation->hub, site, &commit);
        tacit_helper_hub_add(federation->hub, site, commit.salt, &made, &word, 1);
        masked += word;
    }
    return masked;
}

/* A round of a term, and what the view has of its total. */
static int64_t see(const struct federation *federation, enum view view, uint64_t term,
                   uint64_t of_first, const struct tacit_entropy *entropy)
{
    static uint64_t memory[64 + 64 * SITES_MAX];
    static uint8_t before[sizeof(uint64_t) * (1024 + 256 * SITES_MAX)];
    struct tacit_helper_round const round = {
        .term = term, .round = 1, .count = 1, .epsilon_nano = TACIT_NANO};
    struct tacit_helper_range const range = {.low = -TACIT_VECTOR_STEPS,
                                             .high = (uint64_t)TACIT_VECTOR_STEPS};
    size_t const size = tacit_helper_size(&federation->config);
    struct tacit_helper_update update;
    enum tacit_helper_outcome outcome;
    uint32_t agents;
    int64_t total = 0;
    uint64_t const masked = report(federation, &round, of_first, entropy);
    assert_int_equal(tacit_helper_hub_fix(federation->hub, &round, 2, entropy), TACIT_OK);
    assert_true(tacit_helper_hub_request_size(federation->hub) <= sizeof memory);
    struct tacit_helper_request const *const request =
        tacit_helper_hub_request(federation->hub, memory);
    memcpy(before, federation->helper, size);
    for (uint32_t i = 0; i < 2; i++) { /* dies before its write; then not */
        memcpy(federation->helper, before, size);
        assert_int_equal(
            tacit_helper_step(federation->helper, request, &federation->keys, entropy, &update),
            TACIT_OK);
    }
    int64_t const seen = (int64_t)(masked + update.answer.words[0]); /* by the hub */
    assert_int_equal(
        tacit_helper_step(federation->helper, request, &federation->keys, entropy, &update),
        TACIT_OK);
    assert_int_equal(seen, (int64_t)(masked + update.answer.words[0]));
    assert_int_equal(
        tacit_helper_hub_close(federation->hub, &update.answer, &range, &outcome, &agents, &total),
        TACIT_OK);
    int64_t const noise_of_helper = seen - (int64_t)of_first;
    return view == OF_HUB      ? seen
           : view == OF_HELPER ? total - noise_of_helper
           : view == OF_OTHERS ? total
                               : (int64_t)of_first;
}

/* What the first site has of the two worlds. An update is longer than what is clipped to. */
static uint64_t exact_of(const struct setting *setting, int world)
{
    double const trained = world == 1 ? -40 : 40;
    int64_t steps;
    if (!setting->is_update)
        return world == 1 ? TACIT_STEPS : 0;
    tacit_vector_quantise(&trained, 1, 3, &steps);
    return (uint64_t)steps;
}

static void release(const void *context, int world, struct tacit_rng *rng,
                    struct audit_release *release)
{
    static uint64_t states[2][1024 + 256 * SITES_MAX];
    const struct setting *const setting = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    struct federation federation = {
        .config = {.run = {.federation = "audit",
                           .site_count = setting->sites,
                           .count_max = 1,
                           .steps =
                               setting->is_update ? 2 * (uint64_t)TACIT_VECTOR_STEPS : TACIT_STEPS},
                   .epsilon_nano_max = TACIT_NANO,
                   .sites_min = 2},
        .keys = {NULL, seal, open_seed, any_link, any_digest, any_digest},
        .hub = (void *)states[0],
        .helper = (void *)states[1]};
    memcpy(federation.config.run.domain, domain, sizeof domain);
    assert_true(tacit_helper_hub_size(&federation.config.run) <= sizeof states[0]);
    assert_int_equal(tacit_helper_hub_init(federation.hub, &federation.config.run), TACIT_OK);
    assert_int_equal(tacit_helper_init(federation.helper, &federation.config), TACIT_OK);
    release->value[0].steps =
        see(&federation, setting->view, 0, exact_of(setting, world), &entropy);
    if (!setting->is_difference)
        return;
    tacit_helper_hub_begin_term(federation.hub, 1); /* sites go on with new rewards, .. */
    release->value[0].steps -= see(&federation, setting->view, 1, 0, &entropy); /* of 0 */
}

static double score(const void *context, const struct audit_release *release)
{
    const struct setting *const setting = context;
    return (setting->is_update ? -1 : 1) * (double)release->value[0].steps;
}

static double proven(enum view view, bool is_difference, bool is_update)
{
    struct setting const setting = {view, 2, is_difference, is_update};
    struct audit const audit = {release, &setting, 17, RELEASES};
    return audit_by_score(&audit, score).epsilon_lower;
}

static void judge(bool is_update)
{
    for (enum view view = OF_HUB; view <= OF_OTHERS; view++) {
        double const lower = proven(view, false, is_update);
        double const of_terms = proven(view, true, is_update);
        print_message("view %d: proven %.3f of 1, over two terms %.3f\n", (int)view, lower,
                      of_terms);
        assert_true(lower <= 1 && of_terms <= 1);
        assert_true(lower > (view == OF_OTHERS ? 0.4 : 0.7));
    }
}

TEST(no_view_loses_more_of_a_reward_than_epsilon)
{
    judge(false);
}

TEST(no_view_loses_more_of_an_update_than_epsilon)
{
    judge(true);
}

TEST(together_they_lose_all)
{
    assert_true(proven(OF_BOTH, false, false) > 4);
    assert_true(proven(OF_BOTH, false, true) > 4);
}

/* What is over the exact sum (0): 4 steps^2/epsilon^2, however many sites. The fourth moment is
 * 3 4^2 + 2 12: a standard error of sqrt(56/n); 5 of them: a false alarm in 1e6, 3 checks. */
TEST(a_total_has_the_variance_of_two_whatever_the_sites)
{
    static const uint32_t sites[] = {2, 10, SITES_MAX};
    uint32_t const rounds = 2000;
    for (uint32_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        struct setting const setting = {OF_OTHERS, sites[i], false, false};
        struct tacit_rng rng = tacit_rng_stream(19, i, 0, TACIT_PURPOSE_NOISE);
        double squares = 0;
        for (uint32_t j = 0; j < rounds; j++) {
            struct audit_release made;
            release(&setting, 0, &rng, &made);
            squares += pow((double)made.value[0].steps / TACIT_STEPS, 2);
        }
        print_message("%u sites: variance %.3f of 4\n", sites[i], squares / rounds);
        assert_true(fabs(squares / rounds - 4) < 5 * sqrt(56.0 / rounds));
    }
}

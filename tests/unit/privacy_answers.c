/* Known answers of the room privacy: what it decides, draws and says over grids of numbers at and
 * around all limits, in one digest (tests/support/digest.h). Laws and twins are in unit/privacy,
 * unit/tree, unit/commit and tests/stat; here any other answer shows. */
#include <math.h>
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/scarce.h"
#include "tacit/commit.h"
#include "tacit/gaussian.h"
#include "tacit/privacy.h"
#include "tacit/random.h"
#include "tacit/vector.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct tacit_rng stream(uint32_t run)
{
    return tacit_rng_stream(4711, run, 0, TACIT_PURPOSE_NOISE);
}

/* ---- What is promised ------------------------------------------------------------------------ */

static void say(const struct tacit_promise *promise)
{
    char bytes[TACIT_STATEMENT_BYTES] = "";
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_promise_state(promise, &text);
    digest_word(strlen(bytes));
    digest_bytes(bytes, strlen(bytes));
}

/* Every mechanism with every trust model, and each of the bits. */
TEST(every_promise_is_in_the_same_words)
{
    for (uint32_t i = 0; i < 5 * 3 * 7 * 5; i++)
        for (uint32_t bits = 0; bits < 1024; bits = bits == 0 ? 1 : bits * 2) {
            struct tacit_promise promise = {
                .mechanism = {.noise = (enum tacit_noise)(i % 5),
                              .of = (enum tacit_protected)(i / 5 % 3),
                              .leaving = (enum tacit_leaving)(i / 15 % 7),
                              .epsilon_nano = 10 * TACIT_NANO + bits % 2,
                              .rho_nano = 3,
                              .releases = i % 3,
                              .letter_nano = TACIT_NANO / 4,
                              .agent_count = 3,
                              .report_count = 2 + i % 2,
                              .share_count = (bits & 2u) != 0 ? 5 : 0,
                              .slot_count = (bits & 4u) != 0 ? 7 : 0,
                              .is_counted = (bits & 8u) != 0},
                .trust = {.audience = (enum tacit_audience)(i / 105),
                          .is_live = (bits & 0x1f0u) != 0,
                          .is_settled = (bits & 16u) != 0,
                          .is_in_memory = (bits & 32u) != 0,
                          .has_peers = (bits & 64u) != 0,
                          .unit_rewards_max = (bits & 128u) != 0 ? 2 : 0,
                          .spent_nano = (bits & 256u) != 0 ? 20 * TACIT_NANO : 0},
                .is_logged = (bits & 512u) != 0};
            say(&promise);
            promise.mechanism.gaps = i % 5 == 0 ? 0 : 1u << i % 4;
            say(&promise);
            digest_bytes(tacit_promise_name(&promise), strlen(tacit_promise_name(&promise)));
        }
}

/* ---- The mechanism --------------------------------------------------------------------------- */

static void digest_mechanism(const struct tacit_mechanism *mechanism)
{
    uint64_t const words[] = {
        (uint64_t)mechanism->mode,           mechanism->noisy,   mechanism->epsilon_nano,
        (uint64_t)mechanism->scale.kind,     mechanism->scale_t, mechanism->scale_s,
        tacit_mechanism_cost_nano(mechanism)};
    double const numbers[] = {mechanism->scale.lo, mechanism->scale.hi, mechanism->laplace_scale};
    digest_bytes(words, sizeof words);
    digest_bytes(numbers, sizeof numbers);
}

/* Sums at the border of what honest noise may make of so many rewards. */
static void judge_sums(const struct tacit_mechanism *mechanism)
{
    for (uint64_t count = 0; count <= 3; count += 3)
        for (uint32_t releases = 1; releases <= 3; releases++) {
            double const noise = mechanism->noisy ? 60.0 * releases * (double)mechanism->scale_t /
                                                        (double)mechanism->scale_s
                                                  : 0;
            double const ends[] = {-noise, (double)count * (double)TACIT_STEPS + noise};
            for (int64_t i = 0; i < 14; i++) {
                int64_t const apart = (i / 2 - 3) * (noise < 0x1p52 ? 1 : 4096);
                union tacit_sum const sum = {.steps = (int64_t)ends[i % 2] + apart};
                digest_word(tacit_mechanism_plausible(mechanism, sum, count, releases));
            }
        }
}

TEST(mechanisms_are_what_they_were)
{
    static const double epsilons[] = {0,    -1,    1e-6, 0.9e-6, 0.1,      0.5,       1,
                                      2.25, 3.125, 1e6,  1.1e6,  INFINITY, -INFINITY, NAN};
    static const double bounds[] = {-INFINITY, -2e150, -1e150,   -5e149, -1,    0,
                                    0.5e-150,  1e-150, 0.25,     1,      5e149, 1e150,
                                    2e150,     1e308,  INFINITY, NAN};
    for (int mode = TACIT_PRIVACY_NONE; mode <= TACIT_PRIVACY_SOUND; mode++)
        for (size_t i = 0; i < COUNT(epsilons) * COUNT(bounds) * COUNT(bounds); i++) {
            struct tacit_mechanism_config const config = {
                .mode = (enum tacit_privacy_mode)mode,
                .epsilon_per_reward = epsilons[i % COUNT(epsilons)],
                .lo = bounds[i / COUNT(epsilons) % COUNT(bounds)],
                .hi = bounds[i / COUNT(epsilons) / COUNT(bounds)]};
            struct tacit_mechanism mechanism;
            enum tacit_status const status = tacit_mechanism_init(&mechanism, &config);
            digest_word((uint64_t)status);
            if (status != TACIT_OK || mode == TACIT_PRIVACY_NONE)
                continue;
            digest_mechanism(&mechanism);
            if (mode == TACIT_PRIVACY_SOUND && config.lo <= 0 && config.lo >= 0)
                judge_sums(&mechanism);
        }
}

TEST(draws_of_the_mechanism_are_what_they_were)
{
    static const double epsilons[] = {1e-6, 0.1, 1, 3.125, 1e6};
    for (uint32_t i = 0; i < 2 * COUNT(epsilons); i++) {
        struct tacit_rng rng = stream(i);
        struct tacit_entropy const known = tacit_rng_entropy(&rng);
        struct scarce source = {known, UINT32_MAX}; /* not known for a stream */
        struct tacit_entropy const unknown = scarce_entropy(&source);
        struct tacit_mechanism_config const config = {
            .mode = TACIT_PRIVACY_SOUND, .epsilon_per_reward = epsilons[i / 2], .hi = 1};
        struct tacit_mechanism mechanism;
        assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
        for (int64_t j = 0; j < 200; j++) {
            union tacit_sum sum = {.steps = j};
            bool heads = false;
            struct tacit_entropy const *const entropy = i % 2 == 0 ? &known : &unknown;
            digest_word((uint64_t)tacit_mechanism_release(&mechanism, sum, entropy, &sum));
            digest_word((uint64_t)sum.steps);
            digest_word((uint64_t)tacit_bernoulli_exp((uint64_t)j, 100, entropy, &heads));
            digest_word(heads);
        }
        digest_word(tacit_rng_next(&rng)); /* as many words were taken */
    }
}

/* ---- Ledgers --------------------------------------------------------------------------------- */

/* Also sums that no run makes: what would overflow is refused, and nothing moves. */
TEST(ledgers_in_any_state_answer_as_they_did)
{
    static const uint64_t values[] = {0, 1, 5, UINT64_MAX - 5, UINT64_MAX};
    static const uint64_t amounts[] = {0, 1, 4, 5, 6, UINT64_MAX - 1, UINT64_MAX};
    for (uint32_t i = 0; i < 5 * 5 * 5 * 5 * 5; i++)
        for (size_t j = 0; j < 3 * COUNT(amounts); j++) {
            struct tacit_ledger ledger = {.budget_nano = values[i % 5],
                                          .past_scopes_nano = values[i / 5 % 5],
                                          .closed_cells_nano = values[i / 25 % 5],
                                          .open_cell_nano = values[i / 125 % 5],
                                          .gross_nano = values[i / 625],
                                          .open_cell = 1,
                                          .release_count = 7};
            digest_word((uint64_t)tacit_ledger_spend(&ledger, j % 3, amounts[j / 3]));
            digest_ledger(&ledger);
            tacit_ledger_next_scope(&ledger);
            digest_ledger(&ledger);
        }
}

TEST(rho_ledgers_answer_as_they_did)
{
    struct tacit_rng rng = stream(100);
    for (uint32_t run = 0; run < 50; run++) {
        struct tacit_rho_ledger ledger = tacit_rho_ledger_init(tacit_rng_next(&rng) >> (1 + run));
        for (uint32_t i = 0; i < 100; i++) {
            uint64_t const nano = tacit_rng_next(&rng) >> (run + tacit_rng_below(&rng, 12));
            uint32_t const group = (uint32_t)tacit_rng_below(&rng, TACIT_RHO_GROUPS_MAX);
            uint64_t const left = ledger.budget_nano - tacit_rho_ledger_spent_nano(&ledger) +
                                  ledger.group_nano[group];
            digest_word((uint64_t)tacit_rho_ledger_spend(&ledger, group,
                                                         i % 25 == 24 ? left + (i > 50) : nano));
            digest_word(tacit_rho_ledger_spent_nano(&ledger));
            digest_word(ledger.release_count);
            digest_bytes(ledger.group_nano, sizeof ledger.group_nano);
        }
    }
    static const uint64_t pure[] = {
        0, 1, 44721, 44722, 1000000000, 123456789123, (uint64_t)TACIT_EPSILON_MAX * TACIT_NANO};
    for (size_t i = 0; i < COUNT(pure); i++)
        digest_word(tacit_rho_of_pure_nano(pure[i]));
    digest_word(tacit_rho_of_epsilon_nano(1, 1e-6));
    digest_word(tacit_rho_of_epsilon_nano(0.25, 0.5));
    digest_word(tacit_rho_of_epsilon_nano(10, 1e-9));
}

/* ---- Vectors --------------------------------------------------------------------------------- */

TEST(vectors_are_rounded_as_they_were)
{
    static const double firsts[] = {0, -0.0, 1, -1, 0x1p-30, 0x1p-31, 1e300, -INFINITY, NAN, 3};
    struct tacit_rng rng = stream(200);
    for (uint32_t i = 0; i < 2000; i++) {
        double h[5];
        int64_t steps[5];
        uint32_t const dimension = 1 + i % 5;
        for (uint32_t j = 0; j < dimension; j++)
            h[j] = ldexp((double)tacit_rng_below(&rng, 1u << 20) - 0x1p19, -(int)(18 + i / 5 % 12));
        if (i % 3 == 0)
            h[i / 3 % dimension] = firsts[i / 15 % COUNT(firsts)];
        if (i % 7 == 0 && dimension > 1)
            h[1] = -h[0]; /* equally large */
        tacit_vector_quantise(h, dimension, i % 2 == 0 ? 1 : 0.75, steps);
        digest_bytes(steps, dimension * sizeof *steps);
    }
}

TEST(noise_of_vectors_is_what_it_was)
{
    static const uint64_t epsilons[] = {TACIT_VECTOR_EPSILON_NANO_MIN - 1,
                                        TACIT_VECTOR_EPSILON_NANO_MIN, UINT64_C(1000000000),
                                        (UINT64_C(1) << 48) - 1, UINT64_C(1) << 48};
    static const uint64_t scales[] = {0, 1, 2, 1000003, UINT64_C(1) << 62, (UINT64_C(1) << 62) + 1};
    static const uint64_t divisors[] = {0, 1, 7, (UINT64_C(1) << 48) - 1, UINT64_C(1) << 48};
    struct tacit_rng rng = stream(300);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (size_t i = 0; i < 20 * COUNT(epsilons); i++) {
        int64_t steps[4] = {TACIT_VECTOR_STEPS, -TACIT_VECTOR_STEPS, 0, 5};
        digest_word(
            (uint64_t)tacit_vector_noise(steps, 4, epsilons[i % COUNT(epsilons)], &entropy));
        digest_bytes(steps, sizeof steps);
    }
    for (size_t i = 0; i < 20 * COUNT(scales) * COUNT(divisors); i++) {
        int64_t noise = 77;
        uint64_t const t = scales[i % COUNT(scales)];
        uint64_t const s = divisors[i / COUNT(scales) % COUNT(divisors)];
        digest_word((uint64_t)tacit_discrete_laplace_wide(t, s, &entropy, &noise));
        digest_word((uint64_t)noise);
    }
    digest_word(tacit_rng_next(&rng));
}

TEST(gaussians_are_what_they_were)
{
    static const uint64_t numbers[] = {
        1, 2, 3, 7, 1000, 1000003, UINT64_C(1) << 61, UINT64_C(1) << 62, UINT64_MAX};
    static const uint32_t shifts[] = {0, 1, 5, 60, 61, 62, 63};
    struct tacit_rng rng = stream(400);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (size_t i = 0; i < COUNT(numbers) * COUNT(numbers) * COUNT(shifts); i++) {
        struct tacit_gaussian gaussian = {0, 0};
        enum tacit_status const status = tacit_gaussian_init(
            &gaussian, numbers[i % COUNT(numbers)], shifts[i / COUNT(numbers) % COUNT(shifts)],
            numbers[i / COUNT(numbers) / COUNT(shifts)]);
        double const variance = tacit_gaussian_variance(&gaussian);
        int64_t noise = 0;
        digest_word((uint64_t)status);
        digest_word(gaussian.scale_log2);
        digest_word(gaussian.quotient);
        digest_bytes(&variance, sizeof variance);
        for (int j = 0; status == TACIT_OK && j < 5; j++) {
            digest_word((uint64_t)tacit_discrete_gaussian(&gaussian, &entropy, &noise));
            digest_word((uint64_t)noise);
        }
    }
    digest_word(tacit_rng_next(&rng));
}

/* ---- Trees ----------------------------------------------------------------------------------- */

static void play_tree(const struct tacit_tree_rule *rule, uint32_t run)
{
    struct tacit_tree *const tree = testing_malloc(tacit_tree_size(rule));
    struct tacit_rng rng = stream(1000 + run);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    tacit_tree_init(tree, rule);
    uint64_t const step = rule->leaf_max > 100 ? rule->leaf_max / 50 : 1;
    for (uint64_t leaf = 1; leaf <= rule->leaf_max + step; leaf += step) {
        union tacit_sum const reward = {.steps = (int64_t)(leaf % 1000)};
        union tacit_sum total = {.steps = 0};
        digest_word((uint64_t)tacit_tree_add(rule, tree, leaf, reward, &entropy, &total));
        digest_word((uint64_t)total.steps);
        digest_word(tree->leaf);
        digest_word(tree->held);
    }
    for (uint32_t level = 0; level < rule->level_count; level++)
        digest_bytes(&tree->nodes[level], sizeof tree->nodes[level]);
    digest_word(tacit_rng_next(&rng));
}

TEST(trees_are_what_they_were)
{
    static const uint64_t leaves[] = {0,
                                      1,
                                      2,
                                      3,
                                      4,
                                      5,
                                      7,
                                      8,
                                      9,
                                      63,
                                      64,
                                      65,
                                      100,
                                      255,
                                      256,
                                      1000,
                                      TACIT_HORIZON_MAX,
                                      2 * TACIT_HORIZON_MAX,
                                      2 * TACIT_HORIZON_MAX + 1};
    static const double epsilons[] = {0, 1e-6, 4e-5, 1, 2.5, 1e6, INFINITY};
    for (uint32_t i = 0; i < 3 * COUNT(leaves) * COUNT(epsilons); i++) {
        static const enum tacit_privacy_mode modes[] = {TACIT_PRIVACY_NONE, TACIT_PRIVACY_PAPER,
                                                        TACIT_PRIVACY_SOUND};
        struct tacit_tree_config const config = {
            .mechanism = {.mode = modes[i % 3],
                          .epsilon_per_reward = epsilons[i / 3 % COUNT(epsilons)],
                          .hi = 1},
            .leaf_max = leaves[i / 3 / COUNT(epsilons)]};
        struct tacit_tree_rule rule;
        enum tacit_status const status = tacit_tree_rule_init(&rule, &config);
        digest_word((uint64_t)status);
        if (status != TACIT_OK)
            continue;
        uint64_t const words[] = {rule.leaf_max, rule.level_count, rule.share_count,
                                  tacit_tree_cost_nano(&rule)};
        digest_bytes(words, sizeof words);
        digest_mechanism(&rule.node);
        if (modes[i % 3] == TACIT_PRIVACY_SOUND)
            play_tree(&rule, i);
    }
}

/* ---- Commitments ----------------------------------------------------------------------------- */

static void digest_head(const struct tacit_commit_head *head)
{
    digest_bytes(head->head, sizeof head->head);
    digest_bytes(head->before, sizeof head->before);
    digest_bytes(head->recent, sizeof head->recent);
}

/* A grantor that is asked for any of a few commitments after any other. */
TEST(grantors_answer_as_they_did)
{
    uint8_t names[TACIT_COMMIT_RECENT + 6][TACIT_SHA256_BYTES] = {{0}};
    struct tacit_rng rng = stream(500);
    struct tacit_commit_head head;
    uint32_t const count = (uint32_t)COUNT(names);
    memset(&head, 0, sizeof head);
    for (uint32_t i = 1; i < count; i++) {
        memset(names[i], (int)i, TACIT_SHA256_BYTES);
        names[i][TACIT_SHA256_BYTES - 1] = (uint8_t)(i % 2);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        const uint8_t *const commitment = names[tacit_rng_below(&rng, count)];
        const uint8_t *const previous =
            i % 3 == 0 ? names[tacit_rng_below(&rng, count)] : head.head;
        uint8_t copy[TACIT_SHA256_BYTES];
        memcpy(copy, previous, sizeof copy);
        digest_word((uint64_t)tacit_commit_ask(&head, commitment, copy));
        digest_head(&head);
    }
}

TEST(commitments_are_what_they_were)
{
    static const char *const federations[] = {"", "a", "clinics"};
    struct tacit_rng rng = stream(600);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    uint8_t agreement[TACIT_SHA256_BYTES];
    for (uint8_t i = 0; i < TACIT_SHA256_BYTES; i++)
        agreement[i] = (uint8_t)(i + 1);
    for (size_t i = 0; i < 3; i++) {
        struct tacit_commit_scope scope = {.run_id = UINT64_C(0x0102030405060708),
                                           .site = UINT32_C(0x11121314) >> (8 * i),
                                           .epoch = 3};
        struct tacit_commit commit;
        tacit_commit_domain(federations[i], agreement, agreement);
        scope.domain = agreement;
        assert_int_equal(tacit_commit_make(&scope, agreement, "release", 7, &entropy, &commit),
                         TACIT_OK);
        digest_bytes(agreement, sizeof agreement);
        digest_bytes(commit.salt, sizeof commit.salt);
        digest_bytes(commit.previous, sizeof commit.previous);
        digest_bytes(commit.commitment, sizeof commit.commitment);
    }
}

DIGEST_IS(UINT64_C(0xb5bcbc85e7172ba8))

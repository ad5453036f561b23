/* Best-arm subroutines: who is played next, and who goes (Feraud et al., Sec. 3.1, Def. 4; READINGS
 * P3). Two engines: rounds over all remaining arms (naive, median, successive, ser3, ser4,
 * kl-racing), and choices among critical arms (lucb, kl-lucb, ugapec). Not here: the numbers that
 * are compared (best_arm_radius.c), and votes (proto/vote). */
#include "tacit/best_arm.h"
#include <math.h>
#include <string.h>

#define NOT_DRAWN UINT64_MAX

struct tacit_best_arm {
    uint64_t kind; /* the configuration, without gaps */
    uint64_t arm_count;
    double accuracy;
    double failure;
    uint64_t sample_count;
    uint64_t round_count;
    uint64_t epoch_count;
    uint64_t reset_count;
    uint64_t quota;       /* naive, median: pulls of each arm in this phase; else 0 */
    uint64_t pending;     /* the arm to be played, or TACIT_NO_ARM */
    uint64_t chosen[2];   /* adaptive kinds: to be played in this order; TACIT_NO_ARM: none */
    uint64_t fresh_count; /* remaining arms without a pull */
    uint64_t remaining_count;
    uint64_t open_count; /* arms left in this round */
    uint64_t position;   /* ser3, ser4: in the order of this round; NOT_DRAWN: it is not drawn */
    /* remaining W | dropped W | open W | sums K | pulls K | order K halves */
    uint64_t words[];
};

/* ---- Layout ---- */

static size_t width_of(const struct tacit_best_arm *state)
{
    return TACIT_BITS_WORDS(state->arm_count);
}

static uint32_t arms_of(const struct tacit_best_arm *state)
{
    return (uint32_t)state->arm_count;
}

static uint64_t *remaining_of(struct tacit_best_arm *state)
{
    return state->words;
}

static uint64_t *dropped_of(struct tacit_best_arm *state)
{
    return state->words + width_of(state);
}

/* Rounds: the arms that this round still has to play. */
static uint64_t *open_of(struct tacit_best_arm *state)
{
    return state->words + 2 * width_of(state);
}

static double *sums_of(struct tacit_best_arm *state)
{
    return (double *)(void *)(state->words + 3 * width_of(state));
}

static uint64_t *pulls_of(struct tacit_best_arm *state)
{
    return state->words + 3 * width_of(state) + state->arm_count;
}

/* The arms of this round, shuffled; those that are not open are skipped. */
static uint32_t *order_of(struct tacit_best_arm *state)
{
    return (uint32_t *)(void *)(pulls_of(state) + state->arm_count);
}

static struct tacit_best_arm_config config_of(const struct tacit_best_arm *state)
{
    return (struct tacit_best_arm_config){.kind = (enum tacit_best_arm_kind)state->kind,
                                          .arm_count = arms_of(state),
                                          .accuracy = state->accuracy,
                                          .failure = state->failure};
}

static bool is_adaptive(const struct tacit_best_arm *state)
{
    return state->kind == TACIT_BEST_ARM_LUCB || state->kind == TACIT_BEST_ARM_KL_LUCB ||
           state->kind == TACIT_BEST_ARM_UGAPEC;
}

static bool has_quota(const struct tacit_best_arm *state)
{
    return state->kind == TACIT_BEST_ARM_NAIVE || state->kind == TACIT_BEST_ARM_MEDIAN;
}

static double mean_of(struct tacit_best_arm *state, uint32_t arm)
{
    uint64_t const pulls = pulls_of(state)[arm];
    return pulls > 0 ? sums_of(state)[arm] / (double)pulls : 0;
}

static uint32_t next_remaining(struct tacit_best_arm *state, uint32_t from)
{
    return tacit_bits_next(remaining_of(state), arms_of(state), from);
}

/* The best mean of the remaining arms, lowest index on ties. */
static uint32_t best_of(struct tacit_best_arm *state)
{
    uint32_t best = next_remaining(state, 0);
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state))
        if (mean_of(state, arm) > mean_of(state, best))
            best = arm;
    return best;
}

/* ---- Starting, eliminating ---- */

/* Every remaining arm is to be played once. */
static void open_round(struct tacit_best_arm *state)
{
    memcpy(open_of(state), remaining_of(state), width_of(state) * sizeof(uint64_t));
    state->open_count = state->remaining_count;
    state->position = NOT_DRAWN;
}

/* No statistics over the arms that remain. */
static void start_afresh(struct tacit_best_arm *state)
{
    memset(sums_of(state), 0, 2 * state->arm_count * sizeof(uint64_t)); /* and pulls, behind */
    struct tacit_best_arm_config const config = config_of(state);
    state->sample_count = 0;
    state->round_count = 0;
    state->pending = TACIT_NO_ARM;
    state->chosen[0] = TACIT_NO_ARM;
    state->chosen[1] = TACIT_NO_ARM;
    state->fresh_count = state->remaining_count;
    state->quota = 0;
    if (has_quota(state)) {
        state->epoch_count = 0;
        state->quota = tacit_best_arm_quota(&config, 1);
    }
    open_round(state);
}

static void start(struct tacit_best_arm *state)
{
    tacit_bits_fill(remaining_of(state), arms_of(state));
    memset(dropped_of(state), 0, width_of(state) * sizeof(uint64_t));
    state->remaining_count = state->arm_count;
    state->epoch_count = 0;
    start_afresh(state);
}

/* The subroutine itself eliminates an arm. */
static void drop(struct tacit_best_arm *state, uint32_t arm)
{
    TACIT_ASSERT(state->remaining_count > 1);
    TACIT_ASSERT(tacit_bits_has(remaining_of(state), arm));
    tacit_bits_remove(remaining_of(state), arm);
    tacit_bits_add(dropped_of(state), arm);
    state->remaining_count--;
    if (tacit_bits_has(open_of(state), arm)) {
        tacit_bits_remove(open_of(state), arm);
        state->open_count--;
    }
}

static void drop_all_but(struct tacit_best_arm *state, uint32_t kept)
{
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state))
        if (arm != kept)
            drop(state, arm);
    state->epoch_count++;
}

/* ---- Ends of rounds ---- */

/* successive: gap >= 2 alpha; ser3, ser4: gap + epsilon >= 2 alpha. The best arm stays. */
static void drop_by_gap(struct tacit_best_arm *state, double alpha, double bonus)
{
    uint32_t const best = best_of(state);
    double const best_mean = mean_of(state, best);
    uint64_t const before = state->remaining_count;
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state))
        if (arm != best && best_mean - mean_of(state, arm) + bonus >= 2.0 * alpha)
            drop(state, arm);
    if (state->remaining_count < before)
        state->epoch_count++;
}

/* Even-Dar et al. 2006, Alg. 3: stop at alpha <= epsilon/2. */
static void test_successive(struct tacit_best_arm *state)
{
    struct tacit_best_arm_config const config = config_of(state);
    double const alpha = tacit_best_arm_radius(&config, state->round_count, state->round_count);
    if (alpha <= state->accuracy / 2.0)
        drop_all_but(state, best_of(state));
    else
        drop_by_gap(state, alpha, 0.0);
}

/* Allesiardo et al. 2017: no test before tau >= ln(K/failure). */
static void test_ser3(struct tacit_best_arm *state)
{
    struct tacit_best_arm_config const config = config_of(state);
    if ((double)state->round_count < log((double)state->arm_count / state->failure))
        return;
    drop_by_gap(state, tacit_best_arm_radius(&config, state->round_count, state->round_count),
                state->accuracy);
}

/* Kaufmann, Kalyanakrishnan 2013: out if U_k < max L + epsilon. All remaining arms have as many
 * pulls, so the largest lower index is that of the best mean. */
static void test_kl_racing(struct tacit_best_arm *state)
{
    struct tacit_best_arm_config const config = config_of(state);
    double const level = tacit_best_arm_radius(&config, state->round_count, state->round_count);
    uint32_t const best = best_of(state);
    double const bar = tacit_best_arm_kl_lower(mean_of(state, best), level) + state->accuracy;
    uint64_t const before = state->remaining_count;
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state))
        if (arm != best && tacit_best_arm_kl_upper(mean_of(state, arm), level) < bar)
            drop(state, arm);
    if (state->remaining_count < before)
        state->epoch_count++;
}

static uint32_t worst_of(struct tacit_best_arm *state)
{
    uint32_t worst = next_remaining(state, 0);
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state))
        if (mean_of(state, arm) <= mean_of(state, worst)) /* of equal means the lower index stays */
            worst = arm;
    return worst;
}

/* Even-Dar et al. 2006, Alg. 2: the upper half stays; the next phase has samples of its own. */
static void end_phase(struct tacit_best_arm *state)
{
    uint64_t const kept = (state->remaining_count + 1) / 2;
    while (state->remaining_count > kept)
        drop(state, worst_of(state));
    state->epoch_count++;
    struct tacit_best_arm_config const config = config_of(state);
    memset(sums_of(state), 0, 2 * state->arm_count * sizeof(uint64_t));
    state->fresh_count = state->remaining_count;
    state->round_count = 0;
    state->quota = tacit_best_arm_quota(&config, (uint32_t)state->epoch_count + 1);
}

static void test_round(struct tacit_best_arm *state)
{
    switch ((enum tacit_best_arm_kind)state->kind) {
    case TACIT_BEST_ARM_NAIVE:
        if (state->round_count >= state->quota)
            drop_all_but(state, best_of(state));
        return;
    case TACIT_BEST_ARM_MEDIAN:
        if (state->round_count >= state->quota)
            end_phase(state);
        return;
    case TACIT_BEST_ARM_SUCCESSIVE:
        test_successive(state);
        return;
    case TACIT_BEST_ARM_SER3:
    case TACIT_BEST_ARM_SER4:
        test_ser3(state);
        return;
    case TACIT_BEST_ARM_KL_RACING:
        test_kl_racing(state);
        return;
    case TACIT_BEST_ARM_LUCB:
    case TACIT_BEST_ARM_KL_LUCB:
    case TACIT_BEST_ARM_UGAPEC:
        break;
    }
    TACIT_ASSERT(false);
}

/* ---- Adaptive kinds ---- */

/* The logarithm of this moment: lucb and kl-lucb count rounds, ugapec samples. */
static double log_now(const struct tacit_best_arm *state)
{
    struct tacit_best_arm_config const config = config_of(state);
    bool const by_samples = state->kind == TACIT_BEST_ARM_UGAPEC;
    return tacit_best_arm_log(&config, by_samples ? state->sample_count : state->round_count);
}

/* Upper and lower index of an arm with the logarithm of the moment. */
static double upper_of(struct tacit_best_arm *state, double log_level, uint32_t arm)
{
    double const pulls = (double)pulls_of(state)[arm];
    if (state->kind == TACIT_BEST_ARM_KL_LUCB)
        return tacit_best_arm_kl_upper(mean_of(state, arm), log_level / pulls);
    return mean_of(state, arm) + sqrt(log_level / (2.0 * pulls));
}

static double lower_of(struct tacit_best_arm *state, double log_level, uint32_t arm)
{
    double const pulls = (double)pulls_of(state)[arm];
    if (state->kind == TACIT_BEST_ARM_KL_LUCB)
        return tacit_best_arm_kl_lower(mean_of(state, arm), log_level / pulls);
    return mean_of(state, arm) - sqrt(log_level / (2.0 * pulls));
}

struct critical {
    uint32_t best;
    uint32_t challenger;
    double distance; /* to be compared with epsilon */
};

/* LUCB: best mean h, challenger l = argmax of the other U, distance U_l - L_h. */
static struct critical find_lucb(struct tacit_best_arm *state)
{
    double const log_level = log_now(state);
    struct critical found = {.best = best_of(state), .challenger = TACIT_NO_ARM};
    double highest = 0;
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state)) {
        if (arm == found.best)
            continue;
        double const upper = upper_of(state, log_level, arm);
        if (found.challenger != TACIT_NO_ARM && !(upper > highest))
            continue;
        found.challenger = arm;
        highest = upper;
    }
    found.distance = highest - lower_of(state, log_level, found.best);
    return found;
}

/* The two largest upper indices, lowest index on ties. */
struct top_two {
    uint32_t first;
    uint32_t second;
    double first_upper;
    double second_upper;
};

static struct top_two find_top_two(struct tacit_best_arm *state, double log_level)
{
    struct top_two top = {.first = TACIT_NO_ARM, .second = TACIT_NO_ARM};
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state)) {
        double const upper = upper_of(state, log_level, arm);
        if (top.first == TACIT_NO_ARM || upper > top.first_upper) {
            top = (struct top_two){arm, top.first, upper, top.first_upper};
        } else if (top.second == TACIT_NO_ARM || upper > top.second_upper) {
            top.second = arm;
            top.second_upper = upper;
        }
    }
    return top;
}

/* UGapEc: J = argmin B_k, B_k = max_{i != k} U_i - L_k. Only the two largest U matter. */
static struct critical find_ugapec(struct tacit_best_arm *state)
{
    double const log_level = log_now(state);
    struct top_two const top = find_top_two(state, log_level);
    struct critical found = {.best = TACIT_NO_ARM};
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state)) {
        double const rival = arm == top.first ? top.second_upper : top.first_upper;
        double const distance = rival - lower_of(state, log_level, arm);
        if (found.best == TACIT_NO_ARM || distance < found.distance) {
            found.best = arm;
            found.distance = distance;
        }
    }
    found.challenger = found.best == top.first ? top.second : top.first;
    return found;
}

static struct critical find_critical(struct tacit_best_arm *state)
{
    TACIT_ASSERT(state->remaining_count > 1);
    TACIT_ASSERT(state->fresh_count == 0);
    return state->kind == TACIT_BEST_ARM_UGAPEC ? find_ugapec(state) : find_lucb(state);
}

/* lucb, kl-lucb: best, then challenger; ugapec: the wider, which has fewer pulls, best on ties. */
static void choose(struct tacit_best_arm *state, const struct critical *critical)
{
    state->chosen[0] = critical->best;
    state->chosen[1] = critical->challenger;
    if (state->kind != TACIT_BEST_ARM_UGAPEC)
        return;
    uint64_t const *const pulls = pulls_of(state);
    if (pulls[critical->challenger] < pulls[critical->best])
        state->chosen[0] = critical->challenger;
    state->chosen[1] = TACIT_NO_ARM;
}

/* After a reward: when what was chosen is played, is it over? */
static void test_adaptive(struct tacit_best_arm *state)
{
    if (state->fresh_count > 0)
        return;
    if (state->chosen[0] != TACIT_NO_ARM || state->chosen[1] != TACIT_NO_ARM)
        return;
    state->round_count++;
    struct critical const critical = find_critical(state);
    if (critical.distance < state->accuracy)
        drop_all_but(state, critical.best);
    else
        choose(state, &critical);
}

/* The lowest arm without a pull; else the first that was chosen and is not played. */
static uint32_t next_adaptive(struct tacit_best_arm *state)
{
    if (state->fresh_count > 0)
        TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state))
            if (pulls_of(state)[arm] == 0)
                return arm;
    if (state->chosen[0] == TACIT_NO_ARM && state->chosen[1] == TACIT_NO_ARM) {
        /* Votes took what was chosen, or the last arm without a pull: rounds start with 1. */
        state->round_count = state->round_count > 0 ? state->round_count : 1;
        struct critical const critical = find_critical(state);
        choose(state, &critical);
    }
    return (uint32_t)(state->chosen[0] != TACIT_NO_ARM ? state->chosen[0] : state->chosen[1]);
}

/* ---- Rounds ---- */

/* ser3, ser4: the arms of the round in a uniformly drawn order. */
static enum tacit_status draw_order(struct tacit_best_arm *state,
                                    const struct tacit_entropy *entropy)
{
    uint32_t *const order = order_of(state);
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, open_of(state), arms_of(state))
        order[count++] = arm;
    TACIT_TRY(tacit_entropy_shuffle(entropy, count, order));
    state->position = 0;
    return TACIT_OK;
}

/* Shuffled: the next of the order that is still open; else the open arm with the lowest index. */
static enum tacit_status next_in_round(struct tacit_best_arm *state,
                                       const struct tacit_entropy *entropy, uint32_t *arm)
{
    TACIT_ASSERT(state->open_count > 0);
    if (state->kind != TACIT_BEST_ARM_SER3 && state->kind != TACIT_BEST_ARM_SER4) {
        *arm = tacit_bits_next(open_of(state), arms_of(state), 0);
        return TACIT_OK;
    }
    if (state->position == NOT_DRAWN)
        TACIT_TRY(draw_order(state, entropy));
    while (!tacit_bits_has(open_of(state), order_of(state)[state->position]))
        state->position++;
    *arm = order_of(state)[state->position];
    return TACIT_OK;
}

static void end_round(struct tacit_best_arm *state)
{
    state->round_count++;
    if (state->remaining_count > 1)
        test_round(state);
    open_round(state);
}

/* ---- Public functions ---- */

static bool config_is_valid(const struct tacit_best_arm_config *config)
{
    return (unsigned)config->kind < TACIT_BEST_ARM_KINDS && config->arm_count >= 1 &&
           config->arm_count <= TACIT_ARMS_MAX && config->accuracy > 0 && config->accuracy <= 1 &&
           config->failure > 0 && config->failure < 1;
}

size_t tacit_best_arm_size(const struct tacit_best_arm_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!config_is_valid(config))
        return 0;
    size_t const arms = config->arm_count;
    return sizeof(struct tacit_best_arm) +
           (3 * TACIT_BITS_WORDS(arms) + 2 * arms + (arms + 1) / 2) * sizeof(uint64_t);
}

enum tacit_status tacit_best_arm_init(struct tacit_best_arm *state,
                                      const struct tacit_best_arm_config *config)
{
    TACIT_ASSERT(state != NULL);
    size_t const size = tacit_best_arm_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(state, 0, size);
    state->kind = (uint64_t)config->kind;
    state->arm_count = config->arm_count;
    state->accuracy = config->accuracy;
    state->failure = config->failure;
    start(state);
    return TACIT_OK;
}

enum tacit_status tacit_best_arm_next(struct tacit_best_arm *state,
                                      const struct tacit_entropy *entropy, uint32_t *arm)
{
    TACIT_ASSERT(state != NULL);
    TACIT_ASSERT(arm != NULL);
    uint32_t next = (uint32_t)state->pending;
    if (state->pending == TACIT_NO_ARM) {
        if (state->remaining_count == 1)
            next = next_remaining(state, 0);
        else if (is_adaptive(state))
            next = next_adaptive(state);
        else
            TACIT_TRY(next_in_round(state, entropy, &next));
    }
    TACIT_ASSERT(tacit_bits_has(remaining_of(state), next));
    state->pending = next;
    *arm = next;
    return TACIT_OK;
}

static void count_reward(struct tacit_best_arm *state, uint32_t arm, double reward)
{
    if (pulls_of(state)[arm] == 0)
        state->fresh_count--;
    sums_of(state)[arm] += reward;
    pulls_of(state)[arm]++;
    state->sample_count++;
}

enum tacit_status tacit_best_arm_observe(struct tacit_best_arm *state, uint32_t arm, double reward)
{
    TACIT_ASSERT(state != NULL);
    if (state->pending == TACIT_NO_ARM || arm != state->pending)
        return TACIT_UNEXPECTED;
    if (!(reward >= 0 && reward <= 1))
        return TACIT_INVALID;
    state->pending = TACIT_NO_ARM;
    count_reward(state, arm, reward);
    if (state->remaining_count == 1)
        return TACIT_OK;
    if (is_adaptive(state)) {
        if (state->chosen[0] == arm)
            state->chosen[0] = TACIT_NO_ARM;
        else if (state->chosen[1] == arm)
            state->chosen[1] = TACIT_NO_ARM;
        test_adaptive(state);
        return TACIT_OK;
    }
    tacit_bits_remove(open_of(state), arm);
    state->open_count--;
    if (state->open_count == 0)
        end_round(state);
    return TACIT_OK;
}

/* What was to be played and has left is to be played no more. */
static void forget_removed(struct tacit_best_arm *state)
{
    uint64_t *const plays[3] = {&state->pending, &state->chosen[0], &state->chosen[1]};
    for (uint32_t i = 0; i < 3; i++)
        if (*plays[i] != TACIT_NO_ARM && !tacit_bits_has(remaining_of(state), (uint32_t)*plays[i]))
            *plays[i] = TACIT_NO_ARM;
}

/* What is kept about the arms that remain fits them again. ugapec chooses from all statistics at
 * each sample, so a choice among other arms is void. */
static void after_removal(struct tacit_best_arm *state)
{
    if (state->kind == TACIT_BEST_ARM_UGAPEC && state->pending == TACIT_NO_ARM)
        state->chosen[0] = TACIT_NO_ARM;
    forget_removed(state);
    state->fresh_count = 0;
    TACIT_BITS_EACH (arm, remaining_of(state), arms_of(state))
        state->fresh_count += pulls_of(state)[arm] == 0 ? 1u : 0u;
    if (state->open_count == 0) {
        state->round_count += is_adaptive(state) ? 0u : 1u;
        open_round(state);
    }
}

void tacit_best_arm_restrict(struct tacit_best_arm *state, const uint64_t *allowed)
{
    TACIT_ASSERT(state != NULL);
    TACIT_ASSERT(allowed != NULL);
    uint32_t const arms = arms_of(state);
    TACIT_ASSERT(tacit_bits_next(allowed, arms, 0) < arms);
    if (tacit_bits_within(remaining_of(state), allowed, arms))
        return;
    bool is_disjoint = true; /* then the arms that remained are all gone: the allowed ones start */
    for (size_t i = 0; i < width_of(state); i++)
        is_disjoint = is_disjoint && (remaining_of(state)[i] & allowed[i]) == 0;
    for (size_t i = 0; i < width_of(state); i++) {
        remaining_of(state)[i] = allowed[i] & (is_disjoint ? UINT64_MAX : remaining_of(state)[i]);
        open_of(state)[i] &= remaining_of(state)[i];
    }
    state->remaining_count = tacit_bits_count(remaining_of(state), arms);
    state->open_count = tacit_bits_count(open_of(state), arms);
    if (is_disjoint)
        start_afresh(state);
    else
        after_removal(state);
}

void tacit_best_arm_reset(struct tacit_best_arm *state)
{
    TACIT_ASSERT(state != NULL);
    start(state);
    state->reset_count++;
}

uint64_t tacit_best_arm_epochs(const struct tacit_best_arm *state)
{
    return state->epoch_count;
}

bool tacit_best_arm_is_decided(const struct tacit_best_arm *state)
{
    return state->remaining_count == 1;
}

/* The shares of the failure probability that the epochs so far were given. */
static double failure_spent(const struct tacit_best_arm *state)
{
    double share = 0;
    for (uint32_t epoch = 1; epoch <= state->epoch_count; epoch++)
        share += tacit_best_arm_share((enum tacit_best_arm_kind)state->kind, arms_of(state), epoch);
    return share * state->failure;
}

void tacit_best_arm_view(const struct tacit_best_arm *state, struct tacit_best_arm_view *view)
{
    TACIT_ASSERT(state != NULL);
    TACIT_ASSERT(view != NULL);
    struct tacit_best_arm *const read = (struct tacit_best_arm *)(uintptr_t)state;
    *view = (struct tacit_best_arm_view){.arm_count = arms_of(state),
                                         .remaining = remaining_of(read),
                                         .remaining_count = (uint32_t)state->remaining_count,
                                         .dropped = dropped_of(read),
                                         .decided = state->remaining_count == 1,
                                         .answer = best_of(read),
                                         .sample_count = state->sample_count,
                                         .round_count = state->round_count,
                                         .epoch_count = (uint32_t)state->epoch_count,
                                         .reset_count = state->reset_count,
                                         .failure_spent = failure_spent(state),
                                         .sums = sums_of(read),
                                         .pulls = pulls_of(read)};
}

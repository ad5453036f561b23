/* What all agents of a run share: the confidence radius (11), (12), the theorems. */
#include "row.h"

#define LOG_10 2.302585092994045684

static double power(double base, uint32_t exponent)
{
    double result = 1;
    for (uint32_t i = 0; i < exponent; i++)
        result *= base;
    return result;
}

static bool is_valid(const struct tacit_gossip_config *config)
{
    bool const is_sound = config->mechanism.mode == TACIT_PRIVACY_SOUND;
    return config->agent_count > 0 && config->agent_count <= TACIT_AGENTS_MAX &&
           config->arm_count > 0 && config->arm_count <= TACIT_ARMS_MAX && config->horizon > 0 &&
           config->horizon <= TACIT_HORIZON_MAX && config->width > 0 && isfinite(config->width) &&
           (!is_sound || !(config->width < 1 || config->width > 1));
}

/* (12) with logarithms of this unit: ln x / unit. */
static void set_factors(struct tacit_gossip_rule *rule, double epsilon, double unit)
{
    TACIT_ASSERT(epsilon > 0);
    TACIT_ASSERT(unit > 0);
    double const agents = (double)rule->agent_count;
    double const log_horizon = log((double)rule->horizon) / unit;
    rule->near_factor = 2 * agents / unit;
    /* log T twice, log t twice, log n once */
    rule->far_factor = 256 * agents * agents * log_horizon * log_horizon /
                       (epsilon * epsilon * unit * unit * unit);
}

enum tacit_status tacit_gossip_rule_init(struct tacit_gossip_rule *rule,
                                         const struct tacit_gossip_config *config)
{
    if (!is_valid(config))
        return TACIT_INVALID;
    struct tacit_gossip_rule next = {.agent_count = config->agent_count,
                                     .arm_count = config->arm_count,
                                     .horizon = config->horizon,
                                     .width = config->width};
    next.sound = config->mechanism.mode == TACIT_PRIVACY_SOUND;
    struct tacit_tree_config const tree = {config->mechanism,
                                           next.sound ? config->horizon + 1 : config->horizon};
    if (tacit_tree_rule_init(&next.tree, &tree) != TACIT_OK)
        return TACIT_INVALID;
    next.noisy = next.tree.node.noisy;
    next.alpha = next.width * 64 / power((double)next.agent_count, 17);
    next.near_factor = 2 * (double)next.agent_count;
    if (next.noisy)
        set_factors(&next, config->mechanism.epsilon_per_reward,
                    config->log_base_10 ? LOG_10 : 1.0);
    TACIT_ASSERT(next.near_factor > 0);
    TACIT_ASSERT(next.alpha >= 0);
    *rule = next;
    return TACIT_OK;
}

double tacit_gossip_radius(const struct tacit_gossip_rule *rule, uint64_t slot, uint64_t pulls)
{
    TACIT_ASSERT(slot > 0 && pulls > 0);
    struct gossip_slot const at = gossip_slot_at(rule, slot);
    double const reach = gossip_reach(rule, pulls);
    return rule->noisy ? gossip_radius_noisy(rule, at, reach, gossip_bonus(rule, pulls))
                       : gossip_radius_plain(rule, at, reach);
}

/* ---- Theorems ---- */

/* lambda2^(t/6)/(1 - lambda2^(1/3)) < 1/(A t), in logarithms. */
static bool is_mixed(double agents, double log_lambda, double log_rest, double t)
{
    TACIT_ASSERT(t > 0);
    return t / 6 * log_lambda - log_rest < -log(agents * t);
}

uint64_t tacit_gossip_mixing_slots(uint32_t agent_count, double lambda2)
{
    TACIT_ASSERT(lambda2 > 0 && lambda2 < 1);
    double const log_lambda = log(lambda2);
    double const log_rest = log(-expm1(log_lambda / 3));
    double const agents = (double)agent_count;
    /* "for all t >= L": t lambda2^(t/6) rises until t = -6/log lambda2 and falls ever after. */
    uint64_t low = (uint64_t)(-6 / log_lambda) + 1;
    if (is_mixed(agents, log_lambda, log_rest, (double)low))
        return 1; /* even at the top */
    uint64_t high = low;
    while (!is_mixed(agents, log_lambda, log_rest, (double)high)) {
        if (high > TACIT_HORIZON_MAX * 1024)
            return TACIT_NEVER;
        high *= 2;
    }
    while (high - low > 1) {
        uint64_t const middle = low + (high - low) / 2;
        if (is_mixed(agents, log_lambda, log_rest, (double)middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* The first entry of the maximum: how often an arm of this gap is pulled until (11) or (12) are
 * below half of it. */
static double pulls_to_separate(const struct tacit_gossip_rule *rule, double epsilon, double gap,
                                double alpha)
{
    TACIT_ASSERT(gap > 0);
    TACIT_ASSERT(gap / 2 > alpha);
    double const agents = (double)rule->agent_count;
    double const log_horizon = log((double)rule->horizon);
    double const half = gap / 2 - alpha;
    double root = 1; /* Theorem 1 is Theorem 2 with epsilon = infinity */
    if (isfinite(epsilon)) {
        double const per_epsilon = 16 * half / epsilon;
        root = sqrt(1 + per_epsilon * per_epsilon * log_horizon * log_horizon * log_horizon);
    }
    return agents * log_horizon * (1 + root) / (half * half);
}

double tacit_gossip_regret_bound(const struct tacit_gossip_rule *rule, double epsilon,
                                 const double *gaps, double lambda2)
{
    TACIT_ASSERT(gaps != NULL);
    TACIT_ASSERT(lambda2 > 0 && lambda2 < 1);
    double const pi = 3.141592653589793116;
    double const agents = (double)rule->agent_count;
    double const alpha = 64 / power(agents, 17);
    double const third = 3.0 * (double)rule->arm_count; /* 3 M */
    double const log_lambda = log(lambda2);
    double const slow = 2 * exp(log_lambda / 12) / (expm1(log_lambda / 3) * expm1(log_lambda / 12));
    double rest = (third - 1) * agents + 2 * pi * pi / 3 + slow; /* alpha_2 */
    if (isfinite(epsilon))
        rest += 4 * agents * log((double)rule->horizon) + 4 * agents; /* alpha_3 */
    double const mixing = (double)tacit_gossip_mixing_slots(rule->agent_count, lambda2);
    double const spread = (third + 1) * agents; /* (3 M + 1) N */
    double const at_least = mixing > spread ? mixing : spread;
    double bound = 0;
    for (uint32_t arm = 0; arm < rule->arm_count; arm++) {
        if (!(gaps[arm] > 0))
            continue;
        if (gaps[arm] / 2 <= alpha)
            return INFINITY;
        double const pulls = pulls_to_separate(rule, epsilon, gaps[arm], alpha);
        bound += gaps[arm] * ((pulls > at_least ? pulls : at_least) + rest);
    }
    TACIT_ASSERT(bound >= 0);
    return bound;
}

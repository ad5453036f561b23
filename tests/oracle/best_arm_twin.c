/* Stupid on purpose: see best_arm_twin.h. */
#include "best_arm_twin.h"
#include <math.h>
#include <string.h>

static bool is(const struct best_twin *twin, const char *kind)
{
    return strcmp(twin->kind, kind) == 0;
}

static bool plays_critical(const struct best_twin *twin)
{
    return is(twin, "lucb") || is(twin, "kl-lucb") || is(twin, "ugapec");
}

static void clear(struct best_twin *twin)
{
    for (int k = 0; k < twin->arms; k++) {
        twin->played[k] = false;
        twin->sum[k] = 0;
        twin->n[k] = 0;
    }
    twin->samples = 0;
    twin->rounds = 0;
    twin->phase = 1;
    twin->order_count = 0;
    twin->first = twin->second = twin->asked = -1;
}

void best_twin_start(struct best_twin *twin, const char *kind, int arms, double epsilon,
                     double failure)
{
    memset(twin, 0, sizeof *twin);
    twin->kind = kind;
    twin->arms = arms;
    twin->epsilon = epsilon;
    twin->failure = failure;
    twin->radius_factor = 1;
    for (int k = 0; k < arms; k++)
        twin->in[k] = true;
    clear(twin);
}

int best_twin_count(const struct best_twin *twin)
{
    int count = 0;
    for (int k = 0; k < twin->arms; k++)
        count += twin->in[k];
    return count;
}

static double mean(const struct best_twin *twin, int k)
{
    return twin->n[k] == 0 ? 0 : twin->sum[k] / (double)twin->n[k];
}

int best_twin_answer(const struct best_twin *twin)
{
    int best = -1;
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && (best < 0 || mean(twin, k) > mean(twin, best)))
            best = k;
    return best;
}

static void drop(struct best_twin *twin, int k)
{
    twin->in[k] = false;
    twin->dropped[k] = true;
}

static void drop_others(struct best_twin *twin, int kept)
{
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && k != kept)
            drop(twin, k);
}

/* ln(factor K t^power / conf), or, in a mutant, without the t. Whole powers are multiplied out, as
 * in the readings, so that exact ties (equal means, equal pulls) come out the same everywhere. */
static double logarithm(const struct best_twin *twin, double factor, double t, double power)
{
    double inside = factor * twin->arms;
    if (twin->without_log)
        return log(inside / twin->failure);
    for (; power >= 2; power -= 1)
        inside = inside * t;
    if (power == 1)
        return log(inside * t / twin->failure);
    return log(inside / twin->failure) + power * log(t);
}

static double kl(double p, double q)
{
    double const left = p <= 0 ? 0 : q <= 0 ? INFINITY : p * log(p / q);
    double const right = p >= 1 ? 0 : q >= 1 ? INFINITY : (1 - p) * log((1 - p) / (1 - q));
    return left + right;
}

static double kl_up(double p, double level)
{
    double low = p;
    double high = 1;
    if (kl(p, 1) <= level)
        return 1;
    for (int i = 0; i < 80; i++) {
        double const middle = (low + high) / 2;
        if (kl(p, middle) <= level)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double kl_down(double p, double level)
{
    double low = 0;
    double high = p;
    if (kl(p, 0) <= level)
        return 0;
    for (int i = 0; i < 80; i++) {
        double const middle = (low + high) / 2;
        if (kl(p, middle) <= level)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- Kinds with rounds ---- */

static long quota(const struct best_twin *twin)
{
    double const e = twin->epsilon;
    if (is(twin, "naive"))
        return (long)ceil(twin->radius_factor * 4 / (e * e) * log(2 * twin->arms / twin->failure));
    double const el = e / 4 * pow(0.75, twin->phase - 1);
    double const cl = twin->failure / pow(2, twin->phase);
    return (long)ceil(twin->radius_factor * 4 / (el * el) * (twin->without_log ? 1 : log(3 / cl)));
}

static void halve(struct best_twin *twin)
{
    int const keep = (best_twin_count(twin) + 1) / 2;
    while (best_twin_count(twin) > keep) {
        int worst = -1;
        for (int k = twin->arms - 1; k >= 0; k--)
            if (twin->in[k] && (worst < 0 || mean(twin, k) < mean(twin, worst)))
                worst = k;
        drop(twin, worst);
    }
    int const phase = twin->phase;
    clear(twin);
    twin->phase = phase + 1;
}

static void drop_far(struct best_twin *twin, double alpha, double bonus)
{
    int const best = best_twin_answer(twin);
    double const top = mean(twin, best);
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && k != best && top - mean(twin, k) + bonus >= 2 * alpha)
            drop(twin, k);
}

static void drop_below_bar(struct best_twin *twin, double t)
{
    double const level = twin->radius_factor * logarithm(twin, 405.5, t, 1.1) / t;
    int const best = best_twin_answer(twin);
    double bar = -1;
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && kl_down(mean(twin, k), level) > bar)
            bar = kl_down(mean(twin, k), level);
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && k != best && kl_up(mean(twin, k), level) < bar + twin->epsilon)
            drop(twin, k);
}

static void end_of_round(struct best_twin *twin)
{
    double const t = (double)twin->rounds;
    double const factor = twin->radius_factor;
    if (is(twin, "naive") && twin->rounds >= quota(twin)) {
        drop_others(twin, best_twin_answer(twin));
    } else if (is(twin, "median") && twin->rounds >= quota(twin)) {
        halve(twin);
    } else if (is(twin, "successive")) {
        double const alpha = factor * sqrt(logarithm(twin, 5, t, 2) / t);
        if (alpha <= twin->epsilon / 2)
            drop_others(twin, best_twin_answer(twin));
        else
            drop_far(twin, alpha, 0);
    } else if (is(twin, "ser3") || is(twin, "ser4")) {
        if (t >= log(twin->arms / twin->failure))
            drop_far(twin, factor * sqrt(logarithm(twin, 4, t, 2) / (2 * t)), twin->epsilon);
    } else if (is(twin, "kl-racing")) {
        drop_below_bar(twin, t);
    }
}

static void close_round_if_all_played(struct best_twin *twin, bool tests)
{
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && !twin->played[k])
            return;
    twin->rounds++;
    for (int k = 0; k < twin->arms; k++)
        twin->played[k] = false;
    twin->order_count = 0;
    if (tests && best_twin_count(twin) > 1)
        end_of_round(twin);
}

/* ---- Kinds with critical arms ---- */

static double width(const struct best_twin *twin, int k)
{
    double const n = (double)twin->n[k];
    if (is(twin, "ugapec"))
        return twin->radius_factor * sqrt(logarithm(twin, 4, (double)twin->samples, 3) / (2 * n));
    return twin->radius_factor * sqrt(logarithm(twin, 1.25, (double)twin->rounds, 4) / (2 * n));
}

static double upper(const struct best_twin *twin, int k)
{
    if (!is(twin, "kl-lucb"))
        return mean(twin, k) + width(twin, k);
    return kl_up(mean(twin, k), twin->radius_factor *
                                    logarithm(twin, 405.5, (double)twin->rounds, 1.1) /
                                    (double)twin->n[k]);
}

static double lower(const struct best_twin *twin, int k)
{
    if (!is(twin, "kl-lucb"))
        return mean(twin, k) - width(twin, k);
    return kl_down(mean(twin, k), twin->radius_factor *
                                      logarithm(twin, 405.5, (double)twin->rounds, 1.1) /
                                      (double)twin->n[k]);
}

static int highest(const struct best_twin *twin, const double *uppers, int without)
{
    int found = -1;
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && k != without && (found < 0 || uppers[k] > uppers[found]))
            found = k;
    return found;
}

static double regret_bound(const struct best_twin *twin, const double *uppers, int k)
{
    return uppers[highest(twin, uppers, k)] - lower(twin, k);
}

static void choose(struct best_twin *twin, bool may_stop)
{
    double uppers[BEST_TWIN_ARMS_MAX] = {0};
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k])
            uppers[k] = upper(twin, k);
    int best = best_twin_answer(twin);
    if (is(twin, "ugapec")) {
        best = -1;
        for (int k = 0; k < twin->arms; k++)
            if (twin->in[k] &&
                (best < 0 || regret_bound(twin, uppers, k) < regret_bound(twin, uppers, best)))
                best = k;
    }
    int const rival = highest(twin, uppers, best);
    if (may_stop && regret_bound(twin, uppers, best) < twin->epsilon) {
        drop_others(twin, best);
        return;
    }
    twin->first = best;
    twin->second = rival;
    if (is(twin, "ugapec")) {
        twin->first = twin->n[rival] < twin->n[best] ? rival : best;
        twin->second = -1;
    }
}

static bool all_have_pulls(const struct best_twin *twin)
{
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && twin->n[k] == 0)
            return false;
    return true;
}

static int next_critical(struct best_twin *twin)
{
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && twin->n[k] == 0)
            return k;
    if (twin->first < 0 && twin->second < 0) {
        if (twin->rounds == 0)
            twin->rounds = 1;
        choose(twin, false);
    }
    return twin->first >= 0 ? twin->first : twin->second;
}

/* ---- All ---- */

static int next_unplayed(const struct best_twin *twin)
{
    for (int k = 0; k < twin->arms; k++)
        if (twin->in[k] && !twin->played[k])
            return k;
    return -1;
}

static int next_of_order(struct best_twin *twin, best_twin_shuffle *shuffle, void *context)
{
    if (twin->order_count == 0) {
        for (int k = 0; k < twin->arms; k++)
            if (twin->in[k] && !twin->played[k])
                twin->order[twin->order_count++] = k;
        shuffle(context, twin->order_count, twin->order);
    }
    for (int i = 0; i < twin->order_count; i++)
        if (twin->in[twin->order[i]] && !twin->played[twin->order[i]])
            return twin->order[i];
    return -1;
}

int best_twin_next(struct best_twin *twin, best_twin_shuffle *shuffle, void *context)
{
    if (twin->asked >= 0)
        return twin->asked;
    if (best_twin_count(twin) == 1) {
        twin->asked = best_twin_answer(twin);
    } else if (plays_critical(twin)) {
        twin->asked = next_critical(twin);
    } else {
        bool const is_shuffled = is(twin, "ser3") || is(twin, "ser4");
        twin->asked = is_shuffled ? next_of_order(twin, shuffle, context) : next_unplayed(twin);
    }
    return twin->asked;
}

void best_twin_observe(struct best_twin *twin, double reward)
{
    int const k = twin->asked;
    twin->asked = -1;
    twin->sum[k] += reward;
    twin->n[k]++;
    twin->samples++;
    if (best_twin_count(twin) == 1)
        return;
    if (!plays_critical(twin)) {
        twin->played[k] = true;
        close_round_if_all_played(twin, true);
        return;
    }
    if (twin->first == k)
        twin->first = -1;
    else if (twin->second == k)
        twin->second = -1;
    if (all_have_pulls(twin) && twin->first < 0 && twin->second < 0) {
        twin->rounds++;
        choose(twin, true);
    }
}

void best_twin_allow(struct best_twin *twin, const bool *allowed)
{
    bool is_disjoint = true;
    bool changes = false;
    for (int k = 0; k < twin->arms; k++) {
        is_disjoint = is_disjoint && !(twin->in[k] && allowed[k]);
        changes = changes || (twin->in[k] && !allowed[k]);
    }
    if (!changes)
        return;
    for (int k = 0; k < twin->arms; k++)
        twin->in[k] = allowed[k] && (twin->in[k] || is_disjoint);
    if (is_disjoint) {
        clear(twin);
        return;
    }
    if (twin->asked >= 0 && !twin->in[twin->asked])
        twin->asked = -1;
    if (twin->first >= 0 && (!twin->in[twin->first] || (is(twin, "ugapec") && twin->asked < 0)))
        twin->first = -1;
    if (twin->second >= 0 && !twin->in[twin->second])
        twin->second = -1;
    if (!plays_critical(twin))
        close_round_if_all_played(twin, false);
}

/* What the numbers of a report say: summaries, how the arms fared, what metrics are called. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NORMAL_97_5 1.959963984540054 /* the 97.5 % point of the normal law */

void report_check(const struct tacit_report *report)
{
    TACIT_ASSERT(report != NULL);
    TACIT_ASSERT(report->name != NULL);
    TACIT_ASSERT(report->version != NULL);
    TACIT_ASSERT(report->privacy_mode != NULL);
    TACIT_ASSERT(report->statement != NULL);
    TACIT_ASSERT(report->run_count > 0);
    TACIT_IMPLIES(report->metric_count > 0, report->metrics != NULL);
    TACIT_IMPLIES(report->point_count > 0, report->points != NULL);
    TACIT_IMPLIES(report->curve_count > 0, report->curves != NULL);
    TACIT_IMPLIES(report->arm_count > 0, report->arms != NULL);
}

/* From 31 degrees of freedom on by the expansion around the normal law (Fisher, Cornish 1960),
 * which is then right to six digits. */
double tacit_report_t975(uint32_t count)
{
    static const double few[] = {
        12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851,
        2.364624252,  2.306004135, 2.262157163, 2.228138852, 2.200985160, 2.178812830,
        2.160368656,  2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.100922040,
        2.093024054,  2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
        2.059538553,  2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
    };
    TACIT_ASSERT(count >= 2);
    uint32_t const freedom = count - 1;
    if (freedom <= sizeof few / sizeof few[0])
        return few[freedom - 1];
    double const z = NORMAL_97_5;
    double const z3 = z * z * z;
    double const z5 = z3 * z * z;
    double const z7 = z5 * z * z;
    double const n = freedom;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

enum tacit_status report_finish(FILE *out)
{
    return fflush(out) != 0 || ferror(out) ? TACIT_IO : TACIT_OK;
}

/* Sums are taken from the first value, so that equal values have exactly that mean and no spread.
 */
struct tacit_report_summary tacit_report_summarise(const double *values, uint32_t count,
                                                   uint32_t stride)
{
    TACIT_ASSERT(values != NULL);
    TACIT_ASSERT(count > 0);
    double const first = values[0];
    struct tacit_report_summary summary = {.mean = first, .min = first, .max = first};
    double shift = 0.0;
    for (size_t i = 1; i < count; i++) {
        double const value = values[i * stride];
        shift += value - first;
        summary.min = value < summary.min ? value : summary.min;
        summary.max = value > summary.max ? value : summary.max;
    }
    summary.mean = first + shift / count;
    if (isnan(summary.mean))
        return (struct tacit_report_summary){NAN, NAN, NAN, NAN, NAN};
    if (count == 1)
        return summary;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        double const distance = values[i * stride] - summary.mean;
        squares += distance * distance;
    }
    summary.sd = sqrt(squares / (count - 1));
    summary.ci95 = tacit_report_t975(count) * summary.sd / sqrt(count);
    return summary;
}

struct report_share report_share_of(uint32_t count, uint32_t of)
{
    TACIT_ASSERT(of > 0);
    TACIT_ASSERT(count <= of);
    double const z = NORMAL_97_5;
    double const share = (double)count / of;
    double const middle = (share + z * z / (2.0 * of)) / (1.0 + z * z / of);
    double const half =
        z / (1.0 + z * z / of) * sqrt(share * (1.0 - share) / of + z * z / (4.0 * of * (double)of));
    return (struct report_share){.value = share,
                                 .lo = count == 0 ? 0.0 : middle - half,
                                 .hi = count == of ? 1.0 : middle + half};
}

struct report_number report_percent(double share)
{
    struct report_number number = report_short(100.0 * share, 3);
    if (share > 0.999 && share < 1.0) /* 99.96 % must not read as all, nor 0.04 % as none */
        (void)snprintf(number.text, sizeof number.text, "99.9");
    else if (share > 0.0 && share < 0.001)
        (void)snprintf(number.text, sizeof number.text, "0.1");
    return number;
}

const struct tacit_labels *report_labels(const struct tacit_report *report)
{
    static const struct tacit_labels plain = {
        .agent = "agent",
        .agents = "agents",
        .slot = "time",
        .slots = "slots",
        .no_answer = "no single arm: this protocol decides anew each time",
        .profiles = "When and where"};
    return report->labels == NULL ? &plain : report->labels;
}

const char *report_name_arm(const struct tacit_report *report, uint32_t arm,
                            char own[REPORT_OWN_BYTES])
{
    TACIT_ASSERT(arm < report->arm_count);
    (void)snprintf(own, REPORT_OWN_BYTES, "arm %" PRIu32, arm);
    return report->arms[arm].name != NULL ? report->arms[arm].name : own;
}

const char *report_name_agent(const struct tacit_report *report, uint32_t agent,
                              char own[REPORT_OWN_BYTES])
{
    (void)snprintf(own, REPORT_OWN_BYTES, "agent %" PRIu32, agent);
    return report->agent_names != NULL ? report->agent_names[agent] : own;
}

const char *report_epsilon_of(const struct tacit_report *report)
{
    return report->epsilon_of != NULL ? report->epsilon_of
           : report->labels == NULL   ? "reward"
                                      : report->labels->agent;
}

struct report_loss report_loss(const struct tacit_report *report, struct report_number epsilon)
{
    struct report_loss loss;
    char delta[48] = "";
    if (report->delta > 0)
        (void)snprintf(delta, sizeof delta, ", delta %.12g", report->delta);
    if (report_unprotected(report))
        (void)snprintf(loss.text, sizeof loss.text, "%.40s",
                       report->epsilon_lack == NULL ? "no noise" : report->epsilon_lack);
    else
        (void)snprintf(loss.text, sizeof loss.text, "epsilon %s%s per %.30s", epsilon.text, delta,
                       report_epsilon_of(report));
    return loss;
}

struct report_number report_horizon(const struct tacit_report *report)
{
    struct report_number const count = report_grouped(report->horizon);
    struct report_number horizon;
    if (report->labels == NULL)
        (void)snprintf(horizon.text, sizeof horizon.text, "horizon %.30s", count.text);
    else
        (void)snprintf(horizon.text, sizeof horizon.text, "%.30s %.15s", count.text,
                       report->horizon == 1 ? report->labels->slot : report->labels->slots);
    return horizon;
}

bool report_is_absent(const struct tacit_report *report, const struct tacit_report_metric *metric)
{
    for (uint32_t run = 0; run < report->run_count; run++)
        if (!isnan(metric->values[run]))
            return false;
    return true;
}

bool report_interrupted(const struct tacit_report *report)
{
    return report->runs_asked > report->run_count;
}

bool report_unprotected(const struct tacit_report *report)
{
    return strcmp(report->privacy_mode, "none") == 0 || !isfinite(report->epsilon_per_reward);
}

const struct tacit_report_metric *report_find(const struct tacit_report *report, const char *name)
{
    for (uint32_t i = 0; i < report->metric_count; i++) {
        if (strcmp(report->metrics[i].metric->name, name) == 0)
            return &report->metrics[i];
    }
    return NULL;
}

struct tacit_report_summary report_metric_summary(const struct tacit_report *report,
                                                  const struct tacit_report_metric *metric)
{
    return tacit_report_summarise(metric->values, report->run_count, 1);
}

struct tacit_report_summary report_point_summary(const struct tacit_report *report,
                                                 const struct tacit_report_curve *curve,
                                                 uint32_t point_index)
{
    TACIT_ASSERT(point_index < report->point_count);
    return tacit_report_summarise(curve->values + point_index, report->run_count,
                                  report->point_count);
}

struct report_fate report_arm_fate(const struct tacit_report *report, uint32_t arm_index)
{
    TACIT_ASSERT(arm_index < report->arm_count);
    const struct tacit_report_arm *const arm = &report->arms[arm_index];
    struct report_fate fate = {.arm_index = arm_index,
                               .mean = arm->mean,
                               .survived = NAN,
                               .eliminated_mean = NAN,
                               .mean_ci95 =
                                   report->arm_ci95 == NULL ? 0 : report->arm_ci95[arm_index]};
    if (arm->eliminated_epoch == NULL)
        return fate;
    uint64_t sum = 0;
    for (uint32_t run = 0; run < report->run_count; run++) {
        uint32_t const epoch = arm->eliminated_epoch[run];
        if (epoch == 0)
            continue;
        sum += epoch;
        fate.earliest = fate.eliminated == 0 || epoch < fate.earliest ? epoch : fate.earliest;
        fate.latest = epoch > fate.latest ? epoch : fate.latest;
        fate.eliminated++;
    }
    fate.survived = (double)(report->run_count - fate.eliminated) / report->run_count;
    if (fate.eliminated > 0)
        fate.eliminated_mean = (double)sum / fate.eliminated;
    return fate;
}

/* Larger first, NaN last. */
static int compare_down(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Larger true mean first, then who survived more often and longer. */
static int compare_fates(const void *left, const void *right)
{
    const struct report_fate *const a = left;
    const struct report_fate *const b = right;
    int order = compare_down(a->mean, b->mean);
    if (order == 0)
        order = compare_down(a->survived, b->survived);
    if (order == 0 && a->eliminated > 0 && b->eliminated > 0)
        order = compare_down(a->eliminated_mean, b->eliminated_mean);
    if (order == 0)
        order = a->arm_index > b->arm_index ? 1 : -1;
    return order;
}

/* Requires: the winner is among the fates. */
static void move_first(struct report_fates *fates, uint32_t arm_index)
{
    uint32_t at = 0;
    while (fates->items[at].arm_index != arm_index)
        at++;
    struct report_fate const winner = fates->items[at];
    memmove(fates->items + 1, fates->items, at * sizeof *fates->items);
    fates->items[0] = winner;
}

enum tacit_status report_fates_new(const struct tacit_report *report, struct report_fates *fates)
{
    *fates = (struct report_fates){.count = report->arm_count};
    if (fates->count == 0)
        return TACIT_OK;
    fates->items = calloc(fates->count, sizeof *fates->items);
    if (fates->items == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < fates->count; i++) {
        struct report_fate const fate = report_arm_fate(report, i);
        fates->items[i] = fate;
        fates->eliminates = fates->eliminates || fate.eliminated > 0;
        fates->latest = fate.latest > fates->latest ? fate.latest : fates->latest;
    }
    for (uint32_t run = 0; report->ranking != NULL && run < report->run_count; run++)
        if (report->ranked_count[run] > 0)
            fates->items[report->ranking[(size_t)run * fates->count]].first_count++;
    qsort(fates->items, fates->count, sizeof *fates->items, compare_fates);
    struct tacit_report_answer answer;
    enum tacit_status const status = tacit_report_answer_new(report, &answer);
    fates->has_winner = answer.is_decided;
    if (answer.is_decided)
        move_first(fates, answer.arms[0]);
    tacit_report_answer_free(&answer);
    return status;
}

void report_fates_free(struct report_fates *fates)
{
    free(fates->items);
    fates->items = NULL;
}

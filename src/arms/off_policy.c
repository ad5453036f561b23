/* Off-policy estimates in two passes over the rows: sums, then squared distances from what the sums
 * say. Rows that did not choose an arm are alike within a fold of a cell, so they are counted. */
#include "tacit/off_policy.h"
#include <math.h>

#define FOLDS TACIT_OFF_POLICY_FOLDS

/* Parts of the caller's doubles. */
struct work {
    double *chosen; /* F x G x K: rows of that fold and cell that chose the arm */
    double *model;  /* F x G x K: q for the rows of that fold, from the other folds */
    double *others; /* F x (K + 1): rewards outside the fold, of each arm, then of all */
    double *counts; /* F x (K + 1): rows of these */
    double *rows;   /* F x G: rows of that fold and cell */
    double *total;  /* G x K: scratch */
};

size_t tacit_off_policy_work_size(uint32_t cell_count, uint32_t arm_count)
{
    size_t const cells = (size_t)cell_count * arm_count;
    return cells * (2u * FOLDS + 1u) + 2u * FOLDS * (arm_count + (size_t)1) +
           (size_t)FOLDS * cell_count;
}

/* The parts, all zeros. */
static struct work split(const struct tacit_off_policy_log *log, double *memory)
{
    size_t const cells = (size_t)log->cell_count * log->arm_count;
    struct work work;
    work.chosen = memory;
    work.model = work.chosen + FOLDS * cells;
    work.others = work.model + FOLDS * cells;
    work.counts = work.others + FOLDS * (log->arm_count + (size_t)1);
    work.rows = work.counts + FOLDS * (log->arm_count + (size_t)1);
    work.total = work.rows + (size_t)FOLDS * log->cell_count;
    for (size_t i = 0; i < tacit_off_policy_work_size(log->cell_count, log->arm_count); i++)
        memory[i] = 0;
    return work;
}

/* Index of a row's cell and arm among G x K. */
static size_t place_of(const struct tacit_off_policy_log *log, uint32_t row)
{
    TACIT_ASSERT(log->cells[row] < log->cell_count);
    TACIT_ASSERT(log->arms[row] < log->arm_count);
    return (size_t)log->cells[row] * log->arm_count + log->arms[row];
}

/* ---- The model ------------------------------------------------------------------------------- */

/* Where a cell has no row of the arm in the other folds: the arm's mean over all cells there; else
 * the mean of all rows there; else 0. */
static double stand_in(const struct work *work, uint32_t arm_count, uint32_t fold, uint32_t arm)
{
    size_t const at = fold * (arm_count + (size_t)1);
    if (work->counts[at + arm] > 0)
        return work->others[at + arm] / work->counts[at + arm];
    if (work->counts[at + arm_count] > 0)
        return work->others[at + arm_count] / work->counts[at + arm_count];
    return 0;
}

/* Sums over all rows but those of the fold: rewards into `sums`, rows into `counts`, each G x K. */
static void add_others(const struct tacit_off_policy_log *log, const struct work *work,
                       uint32_t fold, double *sums, double *counts)
{
    for (uint32_t row = 0; row < log->row_count; row++) {
        if (row % FOLDS == fold)
            continue;
        size_t const place = place_of(log, row);
        size_t const at = fold * (log->arm_count + (size_t)1);
        sums[place] += log->rewards[row];
        counts[place] += 1;
        work->others[at + log->arms[row]] += log->rewards[row];
        work->counts[at + log->arms[row]] += 1;
        work->others[at + log->arm_count] += log->rewards[row];
        work->counts[at + log->arm_count] += 1;
    }
}

/* Fills model, chosen and rows. */
static void fit(const struct tacit_off_policy_log *log, const struct work *work)
{
    size_t const cells = (size_t)log->cell_count * log->arm_count;
    for (uint32_t fold = 0; fold < FOLDS; fold++) {
        double *const model = work->model + fold * cells;
        for (size_t i = 0; i < cells; i++)
            work->total[i] = 0;
        add_others(log, work, fold, model, work->total);
        for (size_t i = 0; i < cells; i++)
            model[i] = work->total[i] > 0
                           ? model[i] / work->total[i]
                           : stand_in(work, log->arm_count, fold, (uint32_t)(i % log->arm_count));
    }
    for (uint32_t row = 0; row < log->row_count; row++) {
        work->chosen[row % FOLDS * cells + place_of(log, row)] += 1;
        work->rows[row % FOLDS * log->cell_count + log->cells[row]] += 1;
    }
}

/* ---- First pass: values ---------------------------------------------------------------------- */

/* A row as its arm's estimates count it. */
struct weighted {
    double weight;
    double reward;
    double guess; /* of the model */
};

static struct weighted weighted_of(const struct tacit_off_policy_log *log, const struct work *work,
                                   uint32_t row)
{
    size_t const cells = (size_t)log->cell_count * log->arm_count;
    TACIT_ASSERT(log->propensities[row] > 0 && log->propensities[row] <= 1);
    return (struct weighted){.weight = 1 / log->propensities[row],
                             .reward = log->rewards[row],
                             .guess = work->model[row % FOLDS * cells + place_of(log, row)]};
}

/* What a row adds to its arm: in its cell, and over all. While sums are added up, `error` of
 * `weight` holds the sum of squared weights. */
static void add_row(struct weighted row, struct tacit_off_policy_arm *arm)
{
    arm->row_count++;
    arm->weight.value += row.weight;
    arm->weight.error += row.weight * row.weight;
    arm->ips.value += row.weight * row.reward;
    arm->doubly_robust.value += row.weight * (row.reward - row.guess);
}

/* Rows of a cell; of all for the last one. */
static double rows_of(const struct tacit_off_policy_log *log, const struct work *work,
                      uint32_t cell)
{
    double rows = 0;
    if (cell == log->cell_count)
        return log->row_count;
    for (uint32_t fold = 0; fold < FOLDS; fold++)
        rows += work->rows[fold * log->cell_count + cell];
    return rows;
}

/* The sum of q over the rows of a cell. */
static double sum_guesses(const struct tacit_off_policy_log *log, const struct work *work,
                          uint32_t cell, uint32_t arm)
{
    size_t const cells = (size_t)log->cell_count * log->arm_count;
    double sum = 0;
    for (uint32_t fold = 0; fold < FOLDS; fold++)
        sum += work->rows[fold * log->cell_count + cell] *
               work->model[fold * cells + (size_t)cell * log->arm_count + arm];
    return sum;
}

/* From sums to means. */
static void divide(struct tacit_off_policy_arm *arm, double rows)
{
    double const weights = arm->weight.value;
    bool const has_rows = rows > 0;
    arm->effective_rows = arm->row_count > 0 ? weights * weights / arm->weight.error : 0;
    arm->self_normalised.value = arm->row_count > 0 ? arm->ips.value / weights : NAN;
    arm->weight.value = has_rows ? weights / rows : NAN;
    arm->ips.value = has_rows ? arm->ips.value / rows : NAN;
    arm->doubly_robust.value = has_rows ? (arm->direct + arm->doubly_robust.value) / rows : NAN;
    arm->direct = has_rows ? arm->direct / rows : NAN;
    arm->weight.error = 0;
}

static void find_values(const struct tacit_off_policy_log *log, const struct work *work,
                        struct tacit_off_policy_arm *results)
{
    size_t const all = (size_t)log->cell_count * log->arm_count;
    for (size_t i = 0; i < all + log->arm_count; i++)
        results[i] = (struct tacit_off_policy_arm){.row_count = 0};
    for (uint32_t row = 0; row < log->row_count; row++) {
        struct weighted const weighted = weighted_of(log, work, row);
        add_row(weighted, &results[place_of(log, row)]);
        add_row(weighted, &results[all + log->arms[row]]);
    }
    for (uint32_t cell = 0; cell < log->cell_count; cell++)
        for (uint32_t arm = 0; arm < log->arm_count; arm++) {
            double const sum = sum_guesses(log, work, cell, arm);
            results[(size_t)cell * log->arm_count + arm].direct = sum;
            results[all + arm].direct += sum;
        }
    for (uint32_t cell = 0; cell <= log->cell_count; cell++)
        for (uint32_t arm = 0; arm < log->arm_count; arm++)
            divide(&results[(size_t)cell * log->arm_count + arm], rows_of(log, work, cell));
}

/* ---- Second pass: errors --------------------------------------------------------------------- */

static double squared(double value)
{
    return value * value;
}

/* The squared distances of a row that chose the arm. */
static void add_distance(struct weighted row, struct tacit_off_policy_arm *arm)
{
    arm->weight.error += squared(row.weight - arm->weight.value);
    arm->ips.error += squared(row.weight * row.reward - arm->ips.value);
    arm->self_normalised.error +=
        squared(row.weight * (row.reward - arm->self_normalised.value) / arm->weight.value);
    arm->doubly_robust.error +=
        squared(row.guess + row.weight * (row.reward - row.guess) - arm->doubly_robust.value);
}

/* And those of the rows of a cell that did not: alike in each fold. */
static void add_absent(const struct tacit_off_policy_log *log, const struct work *work,
                       uint32_t cell, uint32_t arm, struct tacit_off_policy_arm *result)
{
    size_t const cells = (size_t)log->cell_count * log->arm_count;
    for (uint32_t fold = 0; fold < FOLDS; fold++) {
        size_t const at = fold * cells + (size_t)cell * log->arm_count + arm;
        double const absent = work->rows[fold * log->cell_count + cell] - work->chosen[at];
        result->weight.error += absent * squared(result->weight.value);
        result->ips.error += absent * squared(result->ips.value);
        result->doubly_robust.error +=
            absent * squared(work->model[at] - result->doubly_robust.value);
    }
}

/* From squared distances to the standard error of a mean. */
static double standard_error(double squares, double rows)
{
    return rows >= 2 ? sqrt(squares / (rows - 1) / rows) : NAN;
}

static void find_errors(const struct tacit_off_policy_log *log, const struct work *work,
                        struct tacit_off_policy_arm *results)
{
    size_t const all = (size_t)log->cell_count * log->arm_count;
    for (uint32_t row = 0; row < log->row_count; row++) {
        struct weighted const weighted = weighted_of(log, work, row);
        add_distance(weighted, &results[place_of(log, row)]);
        add_distance(weighted, &results[all + log->arms[row]]);
    }
    for (uint32_t cell = 0; cell < log->cell_count; cell++)
        for (uint32_t arm = 0; arm < log->arm_count; arm++) {
            add_absent(log, work, cell, arm, &results[(size_t)cell * log->arm_count + arm]);
            add_absent(log, work, cell, arm, &results[all + arm]);
        }
    for (uint32_t cell = 0; cell <= log->cell_count; cell++)
        for (uint32_t arm = 0; arm < log->arm_count; arm++) {
            struct tacit_off_policy_arm *const result =
                &results[(size_t)cell * log->arm_count + arm];
            double const rows = rows_of(log, work, cell);
            result->weight.error = standard_error(result->weight.error, rows);
            result->ips.error = standard_error(result->ips.error, rows);
            result->self_normalised.error =
                result->row_count > 0 ? standard_error(result->self_normalised.error, rows) : NAN;
            result->doubly_robust.error = standard_error(result->doubly_robust.error, rows);
        }
}

/* ---- Public ---------------------------------------------------------------------------------- */

void tacit_off_policy_arms(const struct tacit_off_policy_log *log, double *memory,
                           struct tacit_off_policy_arm *results)
{
    TACIT_ASSERT(log->row_count > 0);
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT(results != NULL);
    struct work const work = split(log, memory);
    fit(log, &work);
    find_values(log, &work, results);
    find_errors(log, &work, results);
}

struct tacit_off_policy_estimate tacit_off_policy_logged(const struct tacit_off_policy_log *log)
{
    double sum = 0;
    double squares = 0;
    TACIT_ASSERT(log->row_count > 0);
    for (uint32_t row = 0; row < log->row_count; row++)
        sum += log->rewards[row];
    double const mean = sum / log->row_count;
    for (uint32_t row = 0; row < log->row_count; row++)
        squares += squared(log->rewards[row] - mean);
    return (struct tacit_off_policy_estimate){mean, standard_error(squares, log->row_count)};
}

/* ---- Policies with contexts ------------------------------------------------------------------ */

/* What a row brings to each mean. */
struct terms {
    double weight;
    double ips;
    double direct;
    double doubly_robust;
    double switched;
};

static struct terms terms_of(const struct tacit_off_policy_log *log, const double *choices,
                             const double *model, double switch_at, uint32_t row)
{
    size_t const at = (size_t)row * log->arm_count;
    double const weight = choices[at + log->arms[row]] / log->propensities[row];
    double direct = 0;
    TACIT_ASSERT(log->arms[row] < log->arm_count);
    TACIT_ASSERT(log->propensities[row] > 0 && log->propensities[row] <= 1);
    for (uint32_t arm = 0; arm < log->arm_count; arm++)
        direct += choices[at + arm] * model[at + arm];
    double const correction = weight * (log->rewards[row] - model[at + log->arms[row]]);
    return (struct terms){weight, weight * log->rewards[row], direct, direct + correction,
                          direct + (weight <= switch_at ? correction : 0)};
}

void tacit_off_policy_policy(const struct tacit_off_policy_log *log, const double *choices,
                             const double *model, double switch_at, uint32_t first_fold,
                             struct tacit_off_policy_policy *result)
{
    struct tacit_off_policy_policy made = {.row_count = 0};
    double weights = 0;
    double weights_squared = 0;
    for (uint32_t row = 0; row < log->row_count; row++)
        made.valued_rows += row % FOLDS >= first_fold;
    double const n = made.valued_rows;
    TACIT_ASSERT(made.valued_rows > 0 && switch_at > 0);
    for (uint32_t row = 0; row < log->row_count; row++) {
        if (row % FOLDS < first_fold)
            continue;
        struct terms const terms = terms_of(log, choices, model, switch_at, row);
        made.row_count += terms.weight > 0;
        weights += terms.weight;
        weights_squared += squared(terms.weight);
        made.ips.value += terms.ips / n;
        made.direct += terms.direct / n;
        made.doubly_robust.value += terms.doubly_robust / n;
        made.switched.value += terms.switched / n;
        made.gain.value += (terms.doubly_robust - log->rewards[row]) / n;
    }
    made.weight.value = weights / n;
    made.effective_rows = weights > 0 ? weights * weights / weights_squared : 0;
    made.self_normalised.value = weights > 0 ? made.ips.value / made.weight.value : NAN;
    for (uint32_t row = 0; row < log->row_count; row++) {
        if (row % FOLDS < first_fold)
            continue;
        struct terms const terms = terms_of(log, choices, model, switch_at, row);
        double const reward = log->rewards[row];
        made.weight.error += squared(terms.weight - made.weight.value);
        made.ips.error += squared(terms.ips - made.ips.value);
        made.self_normalised.error +=
            squared(terms.weight * (reward - made.self_normalised.value) / made.weight.value);
        made.doubly_robust.error += squared(terms.doubly_robust - made.doubly_robust.value);
        made.switched.error += squared(terms.switched - made.switched.value);
        made.gain.error += squared(terms.doubly_robust - reward - made.gain.value);
    }
    double *const errors[] = {&made.weight.error,          &made.ips.error,
                              &made.self_normalised.error, &made.doubly_robust.error,
                              &made.switched.error,        &made.gain.error};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        *errors[i] = standard_error(*errors[i], n);
    *result = made;
}

#define BOOTSTRAPPED 6u

/* The estimates of n rows that were drawn, from the sums of their weights, ips, doubly_robust,
 * switched and gain. */
static void add_resample(const double sums[5], double n, double *means, double *squares)
{
    double const values[BOOTSTRAPPED] = {
        sums[0] / n, sums[1] / n, sums[0] > 0 ? sums[1] / sums[0] : NAN,
        sums[2] / n, sums[3] / n, sums[4] / n};
    for (size_t i = 0; i < BOOTSTRAPPED; i++) {
        means[i] += values[i] / TACIT_OFF_POLICY_RESAMPLES;
        squares[i] += squared(values[i]) / TACIT_OFF_POLICY_RESAMPLES;
    }
}

void tacit_off_policy_bootstrap(const struct tacit_off_policy_log *log, const double *choices,
                                const double *model, double switch_at, uint32_t first_fold,
                                struct tacit_rng *rng, double *work,
                                struct tacit_off_policy_policy *result)
{
    double *const errors[BOOTSTRAPPED] = {
        &result->weight.error,        &result->ips.error,      &result->self_normalised.error,
        &result->doubly_robust.error, &result->switched.error, &result->gain.error};
    double means[BOOTSTRAPPED] = {0};
    double squares[BOOTSTRAPPED] = {0};
    double *at = work;
    for (uint32_t row = 0; row < log->row_count; row++) {
        if (row % FOLDS < first_fold)
            continue;
        struct terms const terms = terms_of(log, choices, model, switch_at, row);
        double const parts[5] = {terms.weight, terms.ips, terms.doubly_robust, terms.switched,
                                 terms.doubly_robust - log->rewards[row]};
        for (size_t i = 0; i < 5; i++)
            *at++ = parts[i];
    }
    size_t const rows = (size_t)(at - work) / 5;
    TACIT_ASSERT(rows == result->valued_rows && rows > 0);
    for (uint32_t draw = 0; draw < TACIT_OFF_POLICY_RESAMPLES; draw++) {
        double sums[5] = {0};
        for (size_t row = 0; row < rows; row++) {
            const double *const drawn = work + 5 * tacit_rng_below(rng, rows);
            for (size_t i = 0; i < 5; i++)
                sums[i] += drawn[i];
        }
        add_resample(sums, (double)rows, means, squares);
    }
    for (size_t i = 0; i < BOOTSTRAPPED; i++) {
        double const variance = squares[i] - squared(means[i]);
        *errors[i] = variance > 0 ? sqrt(variance) : 0;
    }
}

/* The leading right singular vectors of a sparse matrix X: eigenvectors of X'X by Lanczos' method
 * with full reorthogonalisation (Parlett 1980, ch. 13). Our own, not LAPACK's: the same bits on
 * every machine, and X is never made dense. Nothing of libm but sqrt. */
#include "internal.h"
#include "tacit/random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 1200u
#define STEPS_BETWEEN_TESTS 50u
#define CONVERGED 1e-10 /* residual of a vector, as a share of the largest eigenvalue */
#define BROKEN_DOWN 1e-13
#define SWEEPS_MAX 60u

/* The basis, and the tridiagonal matrix that X'X is on it. */
struct lanczos {
    const struct data_sparse *x;
    size_t width;
    uint32_t steps;
    uint32_t capacity;
    double *basis; /* a row of `width` a step */
    double *diagonal;
    double *beside; /* beside[k]: between k and k + 1 */
    double *next;   /* width */
    double scale;   /* the largest diagonal so far */
    struct tacit_rng rng;
};

static double dot(size_t count, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add(size_t count, double factor, const double *x, double *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] += factor * x[i];
}

/* next = X'X v */
static void apply(struct lanczos *state, const double *v)
{
    struct data_sparse const *const x = state->x;
    memset(state->next, 0, state->width * sizeof(double));
    for (uint32_t row = 0; row < x->row_count; row++) {
        double sum = 0;
        for (size_t i = x->start[row]; i < x->start[row + 1]; i++)
            sum += x->values[i] * v[x->columns[i]];
        for (size_t i = x->start[row]; i < x->start[row + 1]; i++)
            state->next[x->columns[i]] += sum * x->values[i];
    }
}

/* Takes out of next what lies in the first `count` vectors, twice, and returns its length. */
static double purify(struct lanczos *state, uint32_t count)
{
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < count; k++) {
            double const *const v = state->basis + k * state->width;
            add(state->width, -dot(state->width, v, state->next), v, state->next);
        }
    return sqrt(dot(state->width, state->next, state->next));
}

/* A direction that is not in the basis yet; it is made vector `at`. */
static void start(struct lanczos *state, uint32_t at)
{
    double length = 0;
    while (!(length > 0.01)) { /* what chance left of a random vector of length 1 or so */
        double square = 0;
        for (size_t i = 0; i < state->width; i++) {
            state->next[i] = 2.0 * tacit_rng_uniform(&state->rng) - 1.0;
            square += state->next[i] * state->next[i];
        }
        double const scale = sqrt((double)state->width / (square * (double)(state->width - at)));
        for (size_t i = 0; i < state->width; i++)
            state->next[i] *= scale;
        length = purify(state, at);
    }
    for (size_t i = 0; i < state->width; i++)
        state->basis[at * state->width + i] = state->next[i] / length;
}

/* One Lanczos step: A'A v less its part in the basis becomes the next vector. */
static void step(struct lanczos *state)
{
    uint32_t const k = state->steps;
    double *const v = state->basis + k * state->width;
    apply(state, v);
    state->diagonal[k] = dot(state->width, v, state->next);
    state->scale = state->diagonal[k] > state->scale ? state->diagonal[k] : state->scale;
    double const length = purify(state, k + 1);
    bool const is_over = !(length > BROKEN_DOWN * state->scale);
    state->beside[k] = is_over ? 0 : length;
    state->steps++;
    if (state->steps == state->capacity)
        return;
    if (is_over)
        start(state, k + 1); /* the space is invariant: go on in what is left */
    else
        for (size_t i = 0; i < state->width; i++)
            v[state->width + i] = state->next[i] / length;
}

/* ---- The tridiagonal matrix ---- */

/* One implicit QL step on rows l .. m (Wilkinson's shift); z has the vectors as columns, a row of
 * n. */
static void ql_step(uint32_t l, uint32_t m, uint32_t n, double *d, double *e, double *z)
{
    double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
    double r = sqrt(g * g + 1.0);
    g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
    double s = 1;
    double c = 1;
    double p = 0;
    for (uint32_t i = m; i-- > l;) {
        double const f = s * e[i];
        double const b = c * e[i];
        r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (!(r > 0)) {
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        for (uint32_t k = 0; k < n; k++) {
            double *const at = z + (size_t)k * n + i;
            double const other = at[1];
            at[1] = s * at[0] + c * other;
            at[0] = c * at[0] - s * other;
        }
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

/* Eigenvalues into d and vectors into the columns of z. e is used up. False: no convergence. */
static bool solve(uint32_t n, double *d, double *e, double *z)
{
    memset(z, 0, (size_t)n * n * sizeof(double));
    for (uint32_t i = 0; i < n; i++)
        z[(size_t)i * n + i] = 1;
    e[n - 1] = 0;
    for (uint32_t l = 0; l < n; l++) {
        for (uint32_t sweep = 0;; sweep++) {
            uint32_t m = l;
            while (m + 1 < n && fabs(e[m]) > 0x1p-52 * (fabs(d[m]) + fabs(d[m + 1])))
                m++;
            if (m == l)
                break;
            if (sweep == SWEEPS_MAX)
                return false;
            ql_step(l, m, n, d, e, z);
        }
    }
    return true;
}

/* ---- The leading vectors ---- */

/* Index of the next largest of the values that are not taken yet. */
static uint32_t largest(const double *values, uint32_t count, bool *taken)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (!taken[i] && (best == UINT32_MAX || values[i] > values[best]))
            best = i;
    TACIT_ASSERT(best != UINT32_MAX);
    taken[best] = true;
    return best;
}

/* The component that is largest in absolute value, the first of these, is positive. */
static void orient(size_t count, double *v)
{
    size_t at = 0;
    for (size_t i = 1; i < count; i++)
        at = fabs(v[i]) > fabs(v[at]) ? i : at;
    if (v[at] < 0)
        for (size_t i = 0; i < count; i++)
            v[i] = -v[i];
}

/* Room for the small problem. */
struct small {
    double *d;
    double *e;
    double *z;
    bool *taken;
};

/* Writes the `count` leading vectors if all of them have converged. */
static bool write_converged(const struct lanczos *state, uint32_t count, const struct small *small,
                            double *vectors, double *values)
{
    uint32_t const n = state->steps;
    memcpy(small->d, state->diagonal, n * sizeof(double));
    memcpy(small->e, state->beside, n * sizeof(double));
    memset(small->taken, 0, n * sizeof(bool));
    if (n < count || !solve(n, small->d, small->e, small->z))
        return false;
    double const last = n == state->width ? 0 : state->beside[n - 1];
    for (uint32_t j = 0; j < count; j++) {
        uint32_t const at = largest(small->d, n, small->taken);
        double *const v = vectors + j * state->width;
        values[j] = small->d[at] > 0 ? sqrt(small->d[at]) : 0;
        if (fabs(last * small->z[(size_t)(n - 1) * n + at]) > CONVERGED * state->scale)
            return false;
        memset(v, 0, state->width * sizeof(double));
        for (uint32_t k = 0; k < n; k++)
            add(state->width, small->z[(size_t)k * n + at], state->basis + k * state->width, v);
        orient(state->width, v);
    }
    return true;
}

/* False: not all vectors converged within the capacity. */
static bool search(struct lanczos *state, uint32_t count, const struct small *small,
                   double *vectors, double *values)
{
    start(state, 0);
    while (state->steps < state->capacity) {
        step(state);
        bool const is_last = state->steps == state->capacity;
        if ((is_last || state->steps % STEPS_BETWEEN_TESTS == 0) &&
            write_converged(state, count, small, vectors, values))
            return true;
    }
    return false;
}

enum tacit_status data_principal(const struct data_sparse *x, uint32_t count, double *vectors,
                                 double *values)
{
    TACIT_ASSERT(count > 0);
    TACIT_ASSERT(count <= x->column_count);
    size_t const n = x->column_count < STEPS_MAX ? x->column_count : STEPS_MAX;
    size_t const width = x->column_count;
    struct lanczos state = {.x = x,
                            .width = width,
                            .capacity = (uint32_t)n,
                            .basis = malloc(n * width * sizeof(double)),
                            .diagonal = malloc(n * sizeof(double)),
                            .beside = malloc(n * sizeof(double)),
                            .next = malloc(width * sizeof(double)),
                            .rng = tacit_rng_stream(0, 0, 0, TACIT_PURPOSE_INSTANCE)};
    struct small const small = {malloc(n * sizeof(double)), malloc(n * sizeof(double)),
                                malloc(n * n * sizeof(double)), malloc(n * sizeof(bool))};
    enum tacit_status status = TACIT_MEMORY;
    if (state.basis != NULL && state.diagonal != NULL && state.beside != NULL &&
        state.next != NULL && small.d != NULL && small.e != NULL && small.z != NULL &&
        small.taken != NULL)
        status = search(&state, count, &small, vectors, values) ? TACIT_OK : TACIT_INVALID;
    free(state.basis);
    free(state.diagonal);
    free(state.beside);
    free(state.next);
    free(small.d);
    free(small.e);
    free(small.z);
    free(small.taken);
    return status;
}

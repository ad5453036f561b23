/* The naive twin of the glm cores: every sample kept, every inverse built anew. */
#include "glm_twin.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define D TWIN_D_MAX
#define TWIN_ROUNDS_MAX 10000
typedef double matrix[D][D];
typedef double vector[D];

struct client {
    int n, in; /* samples, and how many of them the last update had */
    double (*x)[D];
    double *y;
    double *z; /* prediction at the time, of samples since the last update */
    double *regret;
    vector theta, b;
    matrix steps; /* v3 */
};

struct twin {
    const struct twin_config *g;
    struct client *client;
    vector theta; /* of the last update */
    vector b;     /* v3 */
    matrix steps; /* v3 */
    matrix all;   /* sum of xx' over the samples of the last update, summed anew at each .. */
    double fits;  /* .. and of their squared predictions by its theta */
    double squares, regret;
    long n; /* observations at the last update */
    int t;
};

static double mu(const struct twin_config *g, double z)
{
    switch (g->link) {
    case LOGISTIC:
        return 1 / (1 + exp(-z));
    case PROBIT:
        return erfc(-z / sqrt(2)) / 2;
    case POISSON:
        return exp(fmin(z, g->s));
    case IDENTITY:
        return z;
    }
    return 0;
}

static double slope(const struct twin_config *g, double z)
{
    double const m = mu(g, z);
    switch (g->link) {
    case LOGISTIC:
        return m * (1 - m);
    case PROBIT:
        return exp(-z * z / 2) / sqrt(2 * acos(-1));
    case POISSON:
        return z > g->s ? 0 : m;
    case IDENTITY:
        return 1;
    }
    return 0;
}

static double dot(int d, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += a[i] * b[i];
    return sum;
}

static void times(int d, matrix m, const double *x, double *y)
{
    for (int i = 0; i < d; i++)
        y[i] = dot(d, m[i], x);
}

static void outer(int d, matrix m, const double *x)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            m[i][j] += x[i] * x[j];
}

static void scaled(int d, matrix m, double scale)
{
    memset(m, 0, sizeof(matrix));
    for (int i = 0; i < d; i++)
        m[i][i] = scale;
}

/* Gauss and Jordan with pivots; returns the determinant. */
static double invert(int d, matrix in, matrix out)
{
    double a[D][2 * D];
    double det = 1;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            a[i][j] = in[i][j];
            a[i][d + j] = i == j;
        }
    for (int k = 0; k < d; k++) {
        int p = k;
        for (int i = k; i < d; i++)
            if (fabs(a[i][k]) > fabs(a[p][k]))
                p = i;
        if (p != k)
            det = -det;
        for (int j = 0; j < 2 * d; j++) {
            double const swap = a[k][j];
            a[k][j] = a[p][j];
            a[p][j] = swap;
        }
        double const pivot = a[k][k];
        det *= pivot;
        for (int j = 0; j < 2 * d; j++)
            a[k][j] /= pivot;
        for (int i = 0; i < d; i++) {
            double const f = a[i][k];
            for (int j = 0; i != k && j < 2 * d; j++)
                a[i][j] -= f * a[k][j];
        }
    }
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            out[i][j] = a[i][d + j];
    return det;
}

/* The minimiser of the distance in m plus nu |x|^2; is it longer than s? */
static bool is_beyond(int d, matrix m, double nu, const double *target, double s, double *trial)
{
    matrix shifted, inverse;
    memcpy(shifted, m, sizeof(matrix));
    for (int i = 0; i < d; i++)
        shifted[i][i] += nu;
    invert(d, shifted, inverse);
    times(d, inverse, target, trial);
    return dot(d, trial, trial) > s * s;
}

/* The multiplier by bisection, to its last bit. */
static void project(int d, matrix m, double s, double *x)
{
    vector target, trial;
    if (dot(d, x, x) <= s * s)
        return;
    times(d, m, x, target);
    double low = 0, high = 1;
    while (is_beyond(d, m, high, target, s, trial))
        high *= 2;
    for (double nu = high / 2; nu > low && nu < high; nu = (low + high) / 2)
        if (is_beyond(d, m, nu, target, s, trial))
            low = nu;
        else
            high = nu;
    memcpy(x, trial, sizeof(vector));
}

static double base(const struct twin_config *g)
{
    return g->variant <= V2 ? g->lambda / g->c : g->lambda;
}

/* Of the last update. */
static void sum_with_ridge(const struct twin *w, double ridge, matrix m)
{
    memcpy(m, w->all, sizeof(matrix));
    for (int i = 0; i < w->g->d; i++)
        m[i][i] += ridge;
}

/* The matrix of decisions of a client: everything in the last update, and its own since. */
static void decision_matrix(struct twin *w, int i, bool with_local, matrix m)
{
    const struct twin_config *g = w->g;
    sum_with_ridge(w, base(g), m);
    for (int s = w->client[i].in; with_local && s < w->client[i].n; s++)
        outer(g->d, m, w->client[i].x[s]);
}

static double lemma9(const struct twin_config *g, double n)
{
    double const optimised = n > 0 ? n * sqrt(2 * g->k / (g->lambda * g->c) + 2 / (n * g->c)) *
                                         sqrt(g->epsilon > 0 ? g->epsilon : 1 / (n * n))
                                   : 0;
    return optimised +
           g->r / g->c *
               sqrt(g->d * log(1 + n * g->c / (g->d * g->lambda)) + 2 * log(1 / g->delta)) +
           sqrt(g->lambda / g->c) * g->s;
}

static double jun(const struct twin_config *g, double bound, double ways)
{
    double const power = g->prints_square ? 2 : 4;
    return 8 * g->r * g->r / pow(g->c, 2) *
               log(ways / g->delta *
                   sqrt(4 + 8 / g->c * bound +
                        64 * pow(g->r, power) / (pow(g->c, 4) * 4 * g->delta * g->delta))) +
           4 * bound / g->c;
}

static double gamma_of(const struct twin_config *g)
{
    double const square = g->k * g->k * g->s * g->s + g->r * g->r;
    return fmin(1 / (4 * g->s * sqrt(square)), g->c / (square * (double)g->period)) / 2;
}

static double lemma2(struct twin *w, double regret, double squares, double fit)
{
    const struct twin_config *g = w->g;
    double const n = (double)w->n;
    double const epsilon = g->epsilon > 0 ? g->epsilon : 1 / (n * n);
    matrix m, inverse;
    sum_with_ridge(w, 1, m);
    double const level = log(1 / g->delta * sqrt(invert(g->d, m, inverse)));
    double const b1 = (w->n > 0 ? n * epsilon : 0) + g->lambda / 2 * g->s * g->s;
    double const b2 = regret / (2 * g->c) + g->c / 2 * pow(lemma9(g, n), 2);
    double const beta = 8 * pow(g->r / g->c, 2) * level + b1 +
                        4 * g->r / g->c * sqrt(2 * level) *
                            (sqrt(dot(g->d, w->theta, w->theta)) + g->s + sqrt(b1)) +
                        jun(g, b2, g->clients) + 1;
    return beta + g->lambda / g->c * g->s * g->s - squares + fit;
}

/* alpha (unscaled), the centre and the inverse of a client's ellipsoid. */
static double ellipsoid(struct twin *w, int i, matrix inverse, double *centre)
{
    const struct twin_config *g = w->g;
    struct client *c = &w->client[i];
    matrix m;
    bool const is_frozen = g->variant == V1 || g->variant == ONE_UCB;
    decision_matrix(w, i, !is_frozen, m);
    invert(g->d, m, inverse);
    if (is_frozen || g->variant == N_UCB)
        memcpy(centre, c->theta, sizeof(vector));
    else
        times(g->d, inverse, c->b, centre);
    double squares = g->variant == V3 ? w->squares : w->fits;
    double regret = g->variant == V3 ? w->regret : 0;
    for (int s = c->in; s < c->n; s++) {
        squares += c->z[s] * c->z[s];
        regret += c->regret[s];
    }
    double const fit = dot(g->d, centre, c->b);
    double const rate = g->variant == V3 ? gamma_of(g) : g->c;
    double const bound = regret / (2 * rate) + 2 * rate * g->lambda * g->s * g->s;
    double const count = g->variant == N_UCB ? c->n : (double)w->n;
    switch (g->variant) {
    case FEDGLB:
    case V2:
        return sqrt(lemma2(w, regret, squares, fit));
    case V1:
        return lemma9(g, (double)w->n);
    case V3:
    case N_ONS:
        return sqrt(g->lambda * g->s * g->s + 1 + jun(g, bound, g->variant == V3 ? g->clients : 1) +
                    fit - squares);
    case ONE_UCB:
    case N_UCB:
        return g->r / g->c *
               sqrt(g->d / 2.0 * log(1 + 2 * fmax(count, 1) / g->d) + log(1 / g->delta));
    case RANDOM:
        return 0;
    case DISLINUCB:
        return g->r * sqrt(g->d * log(1 + (count + c->n - c->in) / (g->d * g->lambda)) +
                           2 * log(1 / g->delta)) +
               sqrt(g->lambda) * g->s;
    }
    return 0;
}

/* Of the sum of losses over all samples of the clients named, + lambda/2 |theta|^2. hessian may be
 * NULL. */
static void gradient(const struct twin *w, int first, int end, const double *theta, double *out,
                     matrix hessian)
{
    const struct twin_config *g = w->g;
    if (hessian != NULL)
        scaled(g->d, hessian, g->lambda);
    for (int i = 0; i < g->d; i++)
        out[i] = g->lambda * theta[i];
    for (int j = first; j < end; j++)
        for (int s = 0; s < w->client[j].n; s++) {
            const double *x = w->client[j].x[s];
            double const z = dot(g->d, x, theta);
            double const loss = mu(g, z) - w->client[j].y[s];
            for (int i = 0; i < g->d; i++)
                out[i] += x[i] * loss;
            double const weight = hessian == NULL ? 0 : slope(g, z);
            for (int i = 0; hessian != NULL && i < g->d; i++)
                for (int k = 0; k < g->d; k++)
                    hessian[i][k] += weight * x[i] * x[k];
        }
}

/* Sixty steps, or until one leads nowhere. */
static void newton(const struct twin *w, int first, int end, double *theta)
{
    vector f, step = {1};
    matrix hessian, inverse;
    for (int k = 0; k < 60 && sqrt(dot(w->g->d, step, step)) > 1e-14; k++) {
        gradient(w, first, end, theta, f, hessian);
        invert(w->g->d, hessian, inverse);
        times(w->g->d, inverse, f, step);
        for (int i = 0; i < w->g->d; i++)
            theta[i] -= step[i];
    }
}

/* Alg. 3 as it is printed: v_0 = 0, v_j from v_{j-1}, from j = 1 on. In the authors' program v_1 is
 * 1, v_j follows from v_{j-2}, and the rounds begin with gamma_0. */
static int accelerate(struct twin *w, double n)
{
    const struct twin_config *g = w->g;
    double const step = g->authors ? 0.1 / (g->k + g->lambda / n)
                                   : 1 / (g->k * g->longest * g->longest + g->lambda / n);
    double v[TWIN_ROUNDS_MAX + 2] = {0, 1};
    vector theta = {0}, ahead, f;
    if (!g->from_zero)
        memcpy(theta, w->theta, sizeof theta);
    memcpy(ahead, theta, sizeof ahead);
    for (int j = 2; j < TWIN_ROUNDS_MAX + 2; j++)
        v[j] = (1 + sqrt(1 + 4 * pow(v[j - (g->authors ? 2 : 1)], 2))) / 2;
    double const epsilon = g->epsilon > 0 ? g->epsilon : 1 / (n * n);
    for (int j = 1;; j++) {
        gradient(w, 0, g->clients, theta, f, NULL);
        if (j == g->rounds || sqrt(dot(g->d, f, f)) / n <= sqrt(2 * g->lambda * epsilon / n)) {
            memcpy(w->theta, theta, sizeof theta);
            return j;
        }
        int const k = g->authors ? j - 1 : j;
        double const gamma = (1 - v[k]) / v[k + 1];
        for (int i = 0; i < g->d; i++) {
            double const to = theta[i] - step * f[i] / n;
            theta[i] = (1 - gamma) * to + gamma * ahead[i];
            ahead[i] = to;
        }
    }
}

static void lazy_step(struct twin *w)
{
    const struct twin_config *g = w->g;
    vector f = {0}, step;
    matrix inverse;
    for (int j = 0; j < g->clients; j++)
        for (int s = w->client[j].in; s < w->client[j].n; s++) {
            const double *x = w->client[j].x[s];
            double const z = dot(g->d, x, w->theta);
            w->squares += z * z;
            for (int i = 0; i < g->d; i++) {
                w->b[i] += x[i] * z;
                f[i] += x[i] * (mu(g, z) - w->client[j].y[s]);
            }
        }
    outer(g->d, w->steps, f);
    invert(g->d, w->steps, inverse);
    times(g->d, inverse, f, step);
    w->regret += dot(g->d, f, step);
    for (int i = 0; i < g->d; i++)
        w->theta[i] -= step[i] / gamma_of(g);
    project(g->d, w->steps, g->s, w->theta);
}

static int update(struct twin *w, int t)
{
    const struct twin_config *g = w->g;
    int rounds = 1;
    long n = 0;
    for (int j = 0; j < g->clients; j++)
        n += w->client[j].n;
    if (g->variant <= V2)
        rounds = accelerate(w, (double)n);
    else if (g->variant == V3)
        lazy_step(w);
    else if (g->variant == ONE_UCB)
        newton(w, 0, g->clients, w->theta);
    w->n = n;
    w->t = t;
    vector b = {0};
    scaled(g->d, w->all, 0);
    w->fits = 0;
    for (int j = 0; j < g->clients; j++) {
        struct client *c = &w->client[j];
        c->in = c->n;
        for (int s = 0; s < c->n; s++) {
            double const z = dot(g->d, c->x[s], w->theta);
            outer(g->d, w->all, c->x[s]);
            w->fits += z * z;
            for (int i = 0; i < g->d; i++)
                b[i] += c->x[s][i] * (g->variant == DISLINUCB ? c->y[s] : z);
        }
    }
    for (int j = 0; j < g->clients; j++) {
        memcpy(w->client[j].theta, w->theta, sizeof(vector));
        memcpy(w->client[j].b, g->variant == V3 ? w->b : b, sizeof(vector));
        memcpy(w->client[j].steps, w->steps, sizeof(matrix));
    }
    return rounds;
}

static bool is_due(struct twin *w, int t, int i)
{
    const struct twin_config *g = w->g;
    matrix now, before, inverse;
    if (g->variant == FEDGLB || g->variant == DISLINUCB) {
        decision_matrix(w, i, true, now);
        decision_matrix(w, i, false, before);
        double const ratio = invert(g->d, now, inverse) / invert(g->d, before, inverse);
        return (g->counts ? w->client[i].n - w->client[i].in : t - w->t) * log(ratio) >=
               g->threshold;
    }
    if (g->variant == N_UCB || g->variant == N_ONS || g->variant == RANDOM)
        return false;
    return ((long)(t - 1) * g->clients + i + 1) % g->period == 0;
}

/* Alg. 2, with what the radius needs of it. */
static void online(struct twin *w, int i, double y)
{
    const struct twin_config *g = w->g;
    struct client *c = &w->client[i];
    int const s = c->n - 1;
    vector f, step;
    matrix a, inverse;
    c->z[s] = dot(g->d, c->x[s], c->theta);
    for (int k = 0; k < g->d; k++)
        f[k] = c->x[s][k] * (mu(g, c->z[s]) - y);
    if (g->variant == V3)
        memcpy(a, c->steps, sizeof a);
    else
        decision_matrix(w, i, true, a);
    invert(g->d, a, inverse);
    times(g->d, inverse, f, step);
    c->regret[s] = dot(g->d, f, step);
    for (int k = 0; k < g->d; k++) {
        c->b[k] += c->x[s][k] * c->z[s];
        c->theta[k] -= step[k] / (g->variant == V3 ? gamma_of(g) : g->c);
    }
    project(g->d, a, g->s, c->theta);
}

static int learn(struct twin *w, int t, int i, const double *x, double y)
{
    const struct twin_config *g = w->g;
    struct client *c = &w->client[i];
    memcpy(c->x[c->n], x, (size_t)g->d * sizeof(double));
    c->y[c->n++] = y;
    if (g->variant == V3) {
        vector f;
        double const z = dot(g->d, x, c->theta);
        for (int k = 0; k < g->d; k++)
            f[k] = x[k] * (mu(g, z) - y);
        outer(g->d, c->steps, f);
    }
    if (is_due(w, t, i))
        return update(w, t);
    if (g->variant == FEDGLB || g->variant == V2 || g->variant == V3 || g->variant == N_ONS)
        online(w, i, y);
    if (g->variant == N_UCB)
        newton(w, i, i + 1, c->theta);
    if (g->variant == DISLINUCB)
        for (int k = 0; k < g->d; k++)
            c->b[k] += x[k] * y;
    return 0;
}

static int pick(struct twin *w, int i, const double *contexts, double *alpha)
{
    const struct twin_config *g = w->g;
    vector centre, away;
    matrix inverse;
    double score[1000];
    double best = -INFINITY;
    *alpha = g->scale * ellipsoid(w, i, inverse, centre);
    for (int k = 0; k < g->arms; k++) {
        const double *x = contexts + k * g->d;
        times(g->d, inverse, x, away);
        score[k] = dot(g->d, x, centre) + *alpha * sqrt(dot(g->d, x, away));
        best = fmax(best, score[k]);
    }
    int arm = 0;
    while (score[arm] < best - 1e-9)
        arm++;
    return arm;
}

void glm_twin_run(const struct twin_config *g, const double *contexts, const double *rewards,
                  struct twin_decision *decisions, double *theta)
{
    struct twin w = {.g = g};
    w.client = calloc((size_t)g->clients, sizeof *w.client);
    scaled(g->d, w.steps, g->lambda);
    for (int i = 0; i < g->clients; i++) {
        struct client *c = &w.client[i];
        c->x = calloc((size_t)g->slots, sizeof *c->x);
        c->y = calloc((size_t)g->slots, sizeof(double));
        c->z = calloc((size_t)g->slots, sizeof(double));
        c->regret = calloc((size_t)g->slots, sizeof(double));
        scaled(g->d, c->steps, g->lambda);
    }
    for (int t = 1; t <= g->slots; t++)
        for (int i = 0; i < g->clients; i++) {
            int const at = (t - 1) * g->clients + i;
            struct twin_decision *const decision = &decisions[at];
            const double *const rows = contexts + (size_t)at * (size_t)(g->arms * g->d);
            decision->arm = g->variant == RANDOM ? (int)(g->coins[at] * g->arms)
                                                 : pick(&w, i, rows, &decision->alpha);
            decision->rounds =
                learn(&w, t, i, rows + decision->arm * g->d, rewards[at * g->arms + decision->arm]);
        }
    memcpy(theta, w.theta, sizeof(vector));
    for (int i = 0; i < g->clients; i++) {
        free(w.client[i].x);
        free(w.client[i].y);
        free(w.client[i].z);
        free(w.client[i].regret);
    }
    free(w.client);
}

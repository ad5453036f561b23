/* User selection by the paper, naively: every formula from the whole history, every set tried. */
#include "select_twin.h"
#include <math.h>

static int bits_in(uint32_t set)
{
    int count = 0;
    for (int i = 0; i < 32; i++)
        count += (set >> i & 1) != 0;
    return count;
}

double twin_times(const struct select_twin *twin, int user)
{
    double times = 0;
    for (int t = 0; t < twin->rounds; t++)
        times += twin->chosen[t][user];
    return times;
}

double twin_ucb(const struct select_twin *twin, int user)
{
    double const times = twin_times(twin, user);
    if (times == 0)
        return INFINITY;
    double sum = 0;
    for (int t = 0; t < twin->rounds; t++)
        if (twin->chosen[t][user])
            sum += twin->latency_min / fmax(twin->latency_min, twin->latency[t][user]);
    return twin->zeta * (sum / times) + sqrt((twin->m + 1) * log(twin->rounds) / times);
}

double twin_generalization(const struct select_twin *twin, int user)
{
    double all = 0;
    for (int i = 0; i < twin->user_count; i++)
        all += twin->sizes[i];
    double const part = twin->rounds == 0 ? 0 : twin_times(twin, user) / twin->rounds;
    double const distance = twin->m / (all / twin->sizes[user]) - part;
    double const sign = distance > 0 ? 1 : distance < 0 ? -1 : 0;
    return pow(fabs(distance), twin->beta) * sign;
}

double twin_privacy(const struct select_twin *twin, int user)
{
    double spent = 0;
    for (int i = 1; i <= (int)twin_times(twin, user); i++)
        spent += twin->total * (exp(twin->eta) - 1) * exp(-twin->eta * i);
    return 1 - spent / twin->total;
}

double twin_energy(const struct select_twin *twin, uint32_t set)
{
    double least = INFINITY;
    double g = 0;
    double p = 0;
    for (int k = 0; k < twin->user_count; k++)
        if (set >> k & 1) {
            least = fmin(least, twin_ucb(twin, k));
            g += twin_generalization(twin, k);
            p += twin_privacy(twin, k);
        }
    return least + twin->alpha / twin->m * g + twin->gamma / twin->m * p;
}

double twin_best(const struct select_twin *twin)
{
    double best = -INFINITY;
    for (uint32_t set = 0; set < (UINT32_C(1) << twin->user_count); set++)
        if (bits_in(set) == twin->m)
            best = fmax(best, twin_energy(twin, set));
    return best;
}

/* The member with the least value; of equal ones the one that a stable sort puts first. */
static int arg_min(int user_count, const double *values, uint32_t set)
{
    int least = -1;
    for (int k = 0; k < user_count; k++)
        if ((set >> k & 1) && (least < 0 || values[k] < values[least]))
            least = k;
    return least;
}

/* R2: the one that only `set` has minimizes one of the terms in it. */
static bool is_active(int user_count, const double *ucb, const double *g, const double *p,
                      uint32_t set, uint32_t other)
{
    int distinct = 0;
    while (!((set & ~other) >> distinct & 1))
        distinct++;
    return arg_min(user_count, ucb, set) == distinct || arg_min(user_count, g, set) == distinct ||
           arg_min(user_count, p, set) == distinct;
}

bool twin_are_neighbours(int user_count, const double *ucb, const double *g, const double *p,
                         uint32_t set, uint32_t other)
{
    if (bits_in(set & ~other) != 1 || bits_in(other & ~set) != 1)
        return false; /* R1 */
    return is_active(user_count, ucb, g, p, set, other) ||
           is_active(user_count, ucb, g, p, other, set);
}

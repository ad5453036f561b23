/* The state of a selection: what was observed of each user, and what it has spent. */
#include "state.h"
#include <math.h>
#include <string.h>

/* ---- Layout: the head, then columns ---- */

static size_t given_count(const struct select_head *head)
{
    return head->prices.kind == TACIT_SELECT_GIVEN ? head->prices.participations : 0;
}

struct select_columns select_columns_of(const struct tacit_select *select)
{
    struct select_head const *const head = (const struct select_head *)select;
    size_t const users = head->config.user_count;
    uint64_t *const wide = (uint64_t *)(uintptr_t)(head + 1);
    uint64_t *const given = wide + 4 * users;
    return (struct select_columns){.sizes = wide,
                                   .means = (double *)(wide + users),
                                   .spent = wide + 2 * users,
                                   .next = wide + 3 * users,
                                   .given = given,
                                   .counts = (uint32_t *)(given + given_count(head))};
}

static size_t size_of(uint64_t users, uint64_t given)
{
    TACIT_ASSERT(users > 0);
    return sizeof(struct select_head) +
           (size_t)(4 * users + given + (users + 1) / 2) * sizeof(uint64_t);
}

static bool is_valid(const struct tacit_select_config *config)
{
    return config->user_count > 0 && config->user_count <= TACIT_SELECT_USERS_MAX &&
           config->users_per_round > 0 && config->users_per_round <= config->user_count &&
           config->alpha >= 0 && config->alpha <= 1e100 && config->beta >= 1 &&
           config->beta <= 1e3 && config->gamma >= 0 && config->gamma <= 1e100 &&
           config->zeta > 0 && config->zeta <= 1e100 && config->latency_min > 0 &&
           config->latency_min <= 1e100 && select_budget_is_valid(&config->budget);
}

size_t tacit_select_size(const struct tacit_select_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!is_valid(config))
        return 0;
    bool const is_given = config->budget.kind == TACIT_SELECT_GIVEN && !isinf(config->budget.total);
    return size_of(config->user_count, is_given ? config->budget.participations : 0);
}

static void fill_head(struct select_head *head, const struct tacit_select_config *config)
{
    memset(head, 0, sizeof *head);
    head->config = *config;
    head->config.budget.given = NULL;
    head->prices = select_prices_of(&config->budget);
    if (head->prices.is_free != 0)
        head->prices.kind = TACIT_SELECT_GEOMETRIC;
}

/* ---- Budgets of a user ---- */

static double real_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What the participation of this number costs, from 0: nano-epsilon if prices are exact, else the
 * bits of a real. Of a series only its first: the next follows from the one before. */
static uint64_t price_at(const struct select_head *head, const struct select_columns *columns,
                         uint32_t participation)
{
    TACIT_ASSERT(head->config.user_count > 0);
    if (head->prices.kind == TACIT_SELECT_GIVEN)
        return participation < head->prices.participations ? columns->given[participation] : 0;
    return head->prices.is_exact != 0 ? head->prices.first_nano : bits_of(head->prices.first);
}

bool select_can_pay(const struct tacit_select *select, uint32_t user)
{
    struct select_head const *const head = (const struct select_head *)select;
    struct select_columns const columns = select_columns_of(select);
    TACIT_ASSERT(user < head->config.user_count);
    if (head->prices.is_free != 0)
        return true;
    if (head->prices.is_exact == 0)
        return head->prices.participations == 0 ||
               columns.counts[user] < head->prices.participations;
    uint64_t const next = columns.next[user];
    /* By what was paid, not by T_k: who was chosen and did not answer has paid nothing. */
    if (head->prices.kind == TACIT_SELECT_UNIFORM && next > 0 &&
        columns.spent[user] / next >= head->prices.participations)
        return false;
    return next >= SELECT_PRICE_MIN_NANO && next <= head->prices.total_nano - columns.spent[user];
}

/* Requires: it can pay, and counts[user] is that of before. */
static void pay(struct select_head *head, struct select_columns *columns, uint32_t user)
{
    TACIT_ASSERT(user < head->config.user_count);
    TACIT_ASSERT(select_can_pay((const struct tacit_select *)head, user));
    uint32_t const after = columns->counts[user] + 1;
    if (head->prices.is_free != 0)
        return;
    if (head->prices.is_exact != 0) {
        columns->spent[user] += columns->next[user];
        TACIT_ASSERT(columns->spent[user] <= head->prices.total_nano);
        columns->next[user] = head->prices.kind == TACIT_SELECT_GIVEN
                                  ? price_at(head, columns, after)
                                  : select_price_after(&head->prices, columns->next[user]);
        return;
    }
    double const price = real_of(columns->next[user]);
    columns->spent[user] = bits_of(real_of(columns->spent[user]) + price);
    columns->next[user] =
        head->prices.kind == TACIT_SELECT_GIVEN
            ? price_at(head, columns, after)
            : bits_of(head->prices.kind == TACIT_SELECT_GEOMETRIC ? price * head->prices.decay
                                                                  : price);
}

/* The price that follows once so much was spent of a given list. */
static uint64_t given_after(const struct select_head *head, const struct select_columns *columns,
                            uint64_t spent)
{
    TACIT_ASSERT(head->prices.kind == TACIT_SELECT_GIVEN);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < head->prices.participations; i++) {
        if (sum >= spent)
            return columns->given[i];
        sum += columns->given[i];
    }
    return 0;
}

/* The next price is the one that follows once so much was spent in all. */
static void report_spent(const struct select_head *head, struct select_columns *columns,
                         uint32_t user, uint64_t spent)
{
    TACIT_ASSERT(user < head->config.user_count);
    TACIT_ASSERT(spent <= head->prices.total_nano);
    TACIT_ASSERT(spent > columns->spent[user]);
    uint64_t *const known = &columns->spent[user];
    uint64_t *const next = &columns->next[user];
    if (head->prices.kind == TACIT_SELECT_GIVEN)
        *next = given_after(head, columns, spent);
    while (head->prices.kind == TACIT_SELECT_GEOMETRIC && *next >= SELECT_PRICE_MIN_NANO &&
           *next <= spent - *known) {
        *known += *next;
        *next = select_price_after(&head->prices, *next);
    }
    *known = spent;
}

void tacit_select_report(struct tacit_select *select, uint32_t user, uint64_t spent_nano)
{
    struct select_head const *const head = (const struct select_head *)select;
    struct select_columns columns = select_columns_of(select);
    TACIT_ASSERT(user < head->config.user_count);
    if (head->prices.is_free != 0)
        return;
    TACIT_ASSERT(head->prices.is_exact != 0);
    uint64_t const spent =
        spent_nano < head->prices.total_nano ? spent_nano : head->prices.total_nano;
    if (spent > columns.spent[user])
        report_spent(head, &columns, user, spent);
}

double tacit_select_spent(const struct tacit_select *select, uint32_t user)
{
    struct select_head const *const head = (const struct select_head *)select;
    TACIT_ASSERT(user < head->config.user_count);
    uint64_t const spent = select_columns_of(select).spent[user];
    return head->prices.is_exact != 0 ? tacit_nano_value(spent) : real_of(spent);
}

uint64_t tacit_select_spent_nano(const struct tacit_select *select, uint32_t user)
{
    struct select_head const *const head = (const struct select_head *)select;
    TACIT_ASSERT(user < head->config.user_count);
    TACIT_ASSERT(head->prices.is_exact != 0);
    return select_columns_of(select).spent[user];
}

double tacit_select_next_budget(const struct tacit_select *select, uint32_t user)
{
    struct select_head const *const head = (const struct select_head *)select;
    TACIT_ASSERT(user < head->config.user_count);
    if (head->prices.is_free != 0)
        return INFINITY;
    if (!select_can_pay(select, user))
        return 0;
    uint64_t const next = select_columns_of(select).next[user];
    return head->prices.is_exact != 0 ? tacit_nano_value(next) : real_of(next);
}

/* ---- Public ---- */

enum tacit_status tacit_select_init(struct tacit_select *select,
                                    const struct tacit_select_config *config, const uint64_t *sizes)
{
    TACIT_ASSERT(select != NULL);
    TACIT_ASSERT(config != NULL);
    size_t const size = tacit_select_size(config);
    if (size == 0)
        return TACIT_INVALID;
    uint64_t total = 0;
    for (uint32_t user = 0; sizes != NULL && user < config->user_count; user++) {
        if (sizes[user] == 0 || sizes[user] > (UINT64_C(1) << 32))
            return TACIT_INVALID;
        total += sizes[user];
    }
    memset(select, 0, size);
    struct select_head *const head = (struct select_head *)select;
    fill_head(head, config);
    head->size_total = sizes == NULL ? config->user_count : total;
    struct select_columns columns = select_columns_of(select);
    for (size_t i = 0; i < given_count(head); i++)
        columns.given[i] = config->budget.is_exact
                               ? (uint64_t)floor(config->budget.given[i] * (double)TACIT_NANO)
                               : bits_of(config->budget.given[i]);
    for (uint32_t user = 0; user < config->user_count; user++) {
        columns.sizes[user] = sizes == NULL ? 1 : sizes[user];
        columns.next[user] = price_at(head, &columns, 0);
    }
    return TACIT_OK;
}

static bool is_same_config(const struct select_head *head, const struct tacit_select_config *config)
{
    struct select_head other;
    fill_head(&other, config);
    other.round_count = head->round_count;
    other.size_total = head->size_total;
    return memcmp(&other, head, sizeof other) == 0;
}

enum tacit_status tacit_select_check(const struct tacit_select *select, size_t size,
                                     const struct tacit_select_config *config)
{
    TACIT_ASSERT(select != NULL);
    TACIT_ASSERT(config != NULL);
    struct select_head const *const head = (const struct select_head *)select;
    if (size == 0 || size != tacit_select_size(config) || !is_same_config(head, config))
        return TACIT_MALFORMED;
    struct select_columns const columns = select_columns_of(select);
    uint64_t total = 0;
    for (uint32_t user = 0; user < head->config.user_count; user++) {
        if (columns.sizes[user] == 0 || columns.sizes[user] > (UINT64_C(1) << 32) ||
            columns.counts[user] > head->round_count ||
            !(columns.means[user] >= 0 && columns.means[user] <= 1))
            return TACIT_MALFORMED;
        if (head->prices.is_exact != 0 && columns.spent[user] > head->prices.total_nano)
            return TACIT_MALFORMED;
        total += columns.sizes[user];
    }
    return total == head->size_total ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_select_view(const struct tacit_select *select, struct tacit_select_view *view)
{
    TACIT_ASSERT(select != NULL);
    TACIT_ASSERT(view != NULL);
    struct select_columns const columns = select_columns_of(select);
    *view =
        (struct tacit_select_view){.round_count = ((const struct select_head *)select)->round_count,
                                   .counts = columns.counts,
                                   .means = columns.means,
                                   .sizes = columns.sizes};
}

/* Eq. (8): sign(d) |d|^beta of d = m |D_k|/|D| - T_k/t. */
static double generalization_of(double share, uint32_t count, uint64_t rounds, double beta)
{
    TACIT_ASSERT(share >= 0);
    TACIT_ASSERT(rounds == 0 || count <= rounds);
    double const part = rounds == 0 ? 0 : (double)count / (double)rounds; /* READINGS P5.3 */
    double const distance = share - part;
    double const size = fabs(distance);
    double const power = beta == 2 ? size * size : pow(size, beta);
    return distance < 0 ? -power : power;
}

void tacit_select_score(const struct tacit_select *select, const struct tacit_select_scores *scores)
{
    TACIT_ASSERT(select != NULL);
    TACIT_ASSERT(scores != NULL);
    struct select_head const *const head = (const struct select_head *)select;
    struct select_columns const columns = select_columns_of(select);
    double const m = head->config.users_per_round;
    uint64_t const rounds = head->round_count; /* t - 1 */
    double const width = rounds > 0 ? (m + 1) * log((double)rounds) : 0;
    for (uint32_t user = 0; user < head->config.user_count; user++) {
        uint32_t const count = columns.counts[user];
        double const share = m * (double)columns.sizes[user] / (double)head->size_total;
        double const generalization = generalization_of(share, count, rounds, head->config.beta);
        double const privacy = head->prices.is_free != 0 ? 1
                                                         : 1 - tacit_select_spent(select, user) /
                                                                   head->prices.total; /* Eq. (7) */
        /* Eq. (13); zeta is Sec. V-D's factor on the mean. */
        scores->ucb[user] =
            count == 0 ? INFINITY
                       : head->config.zeta * columns.means[user] + sqrt(width / (double)count);
        scores->generalization[user] = generalization;
        scores->privacy[user] = privacy;
        scores->weight[user] =
            (head->config.alpha * generalization + head->config.gamma * privacy) / m;
    }
}

static enum tacit_status check_round(const struct tacit_select *select, const uint32_t *users,
                                     uint32_t count, const double *latencies, bool pays)
{
    TACIT_ASSERT(latencies != NULL || count == 0);
    struct select_head const *const head = (const struct select_head *)select;
    if (count > head->config.user_count)
        return TACIT_INVALID;
    for (uint32_t i = 0; i < count; i++) {
        /* NAN: no answer. */
        if (users[i] >= head->config.user_count || (i > 0 && users[i] <= users[i - 1]) ||
            latencies[i] <= 0)
            return TACIT_INVALID;
        if (pays && !select_can_pay(select, users[i]))
            return TACIT_BUDGET;
    }
    return TACIT_OK;
}

static enum tacit_status observe(struct tacit_select *select, const uint32_t *users, uint32_t count,
                                 const double *latencies, double latency_max, bool pays)
{
    TACIT_ASSERT(select != NULL);
    TACIT_ASSERT(users != NULL || count == 0);
    TACIT_ASSERT(latencies != NULL || count == 0);
    TACIT_ASSERT(latency_max > 0);
    struct select_head *const head = (struct select_head *)select;
    struct select_columns columns = select_columns_of(select);
    TACIT_TRY(check_round(select, users, count, latencies, pays));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t const user = users[i];
        double const latency = isnan(latencies[i]) ? latency_max : latencies[i];
        double const ratio = latency <= head->config.latency_min
                                 ? 1
                                 : head->config.latency_min / latency; /* Eq. (11) */
        if (pays)
            pay(head, &columns, user);
        TACIT_ASSERT(ratio >= 0); /* 0: no answer, and nobody waits for ever for one */
        TACIT_ASSERT(ratio <= 1);
        columns.counts[user]++;
        /* Eq. (12), in the form that keeps its accuracy. */
        columns.means[user] += (ratio - columns.means[user]) / (double)columns.counts[user];
    }
    head->round_count++;
    return TACIT_OK;
}

enum tacit_status tacit_select_observe(struct tacit_select *select, const uint32_t *users,
                                       uint32_t count, const double *latencies, double latency_max)
{
    return observe(select, users, count, latencies, latency_max, true);
}

enum tacit_status tacit_select_observe_reported(struct tacit_select *select, const uint32_t *users,
                                                uint32_t count, const double *latencies,
                                                double latency_max, const uint64_t *spent_nano)
{
    TACIT_TRY(observe(select, users, count, latencies, latency_max, false));
    for (uint32_t i = 0; spent_nano != NULL && i < count; i++)
        tacit_select_report(select, users[i], spent_nano[i]);
    return TACIT_OK;
}

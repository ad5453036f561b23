/* Who trains in the next round: the selectors behind one face. */
#include "internal.h"
#include "state.h"
#include <math.h>
#include <string.h>

/* The users that are there and have budget, side by side with their scores. */
struct field {
    const struct tacit_select *select;
    const struct select_head *head;
    struct select_scratch scratch;
    struct tacit_select_scores scores;
    uint32_t *users; /* who they are, ascending */
    uint32_t count;
    uint32_t m; /* so many can be taken */
    void *memory;
};

/* A choice needs scores of all users, then the candidates', then the room of the search. */
static struct field field_of(const struct tacit_select *select, void *memory)
{
    struct select_head const *const head = (const struct select_head *)select;
    size_t const users = head->config.user_count;
    double *const columns = memory;
    return (struct field){
        .select = select,
        .head = head,
        .scores = {columns, columns + users, columns + 2 * users, columns + 3 * users},
        .users = (uint32_t *)(columns + 4 * users),
        .memory = columns + 4 * users + (users + 1) / 2};
}

/* Moves the candidates' entries to the column's front, in place: users ascend, so users[i] >= i. */
static void keep_candidates(double *column, const struct field *field)
{
    for (uint32_t i = 0; i < field->count; i++)
        column[i] = column[field->users[i]];
}

static void find_candidates(struct field *field, const uint64_t *available)
{
    TACIT_ASSERT(field->count == 0);
    for (uint32_t user = 0; user < field->head->config.user_count; user++)
        if ((available == NULL || tacit_bits_has(available, user)) &&
            select_can_pay(field->select, user))
            field->users[field->count++] = user;
    uint32_t const m = field->head->config.users_per_round;
    field->m = field->count < m ? field->count : m; /* READINGS P5.12 */
}

static void score_candidates(struct field *field, const double *expected)
{
    TACIT_ASSERT(field->count <= field->head->config.user_count);
    tacit_select_score(field->select, &field->scores);
    if (expected != NULL)
        memcpy(field->scores.ucb, expected,
               field->head->config.user_count * sizeof *field->scores.ucb);
    keep_candidates(field->scores.ucb, field);
    keep_candidates(field->scores.generalization, field);
    keep_candidates(field->scores.privacy, field);
    keep_candidates(field->scores.weight, field);
}

static uint32_t unseen_count(const struct field *field)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < field->count; i++)
        count += isinf(field->scores.ucb[i]) ? 1 : 0;
    return count;
}

/* Eq. (14) among the candidates, by the selector's own search; where m of them are unseen weights
 * alone decide, whatever the selector. */
static enum tacit_status search(struct field *field, const struct tacit_select_choice *choice,
                                const struct tacit_entropy *entropy, uint32_t *indices,
                                double *energy)
{
    TACIT_ASSERT(field->m <= field->count);
    TACIT_ASSERT(field->m >= 1);
    bool const is_unseen_first = unseen_count(field) >= field->m; /* READINGS P5.3 */
    if (choice->selector == TACIT_SELECTOR_ANNEALING && !is_unseen_first)
        return tacit_select_anneal(&field->head->config, &choice->annealing, &field->scores,
                                   field->count, field->m, entropy, field->memory, indices, energy);
    if (choice->selector == TACIT_SELECTOR_BRUTE && !is_unseen_first)
        return tacit_select_brute(field->scores.ucb, field->scores.weight, field->count, field->m,
                                  indices, energy);
    *energy = tacit_select_best(field->scores.ucb, field->scores.weight, field->count, field->m,
                                field->memory, indices);
    return TACIT_OK;
}

static enum tacit_status choose_randomly(struct field *field, const struct tacit_entropy *entropy,
                                         uint32_t *indices)
{
    TACIT_ASSERT(field->m <= field->count);
    struct select_scratch const scratch = select_scratch_of(field->memory, field->count);
    TACIT_TRY(tacit_entropy_subset(entropy, field->m, field->count, scratch.members));
    uint32_t taken = 0;
    TACIT_BITS_EACH (i, scratch.members, field->count)
        indices[taken++] = i;
    TACIT_ASSERT(taken == field->m);
    return TACIT_OK;
}

/* Fraboni, Vidal, Kameni, Lorenzi 2021, Algorithm 1: the users, largest data set first, pour
 * m |D_k| tokens each into m urns of |D| tokens; one token is drawn from each urn. */
static enum tacit_status choose_by_urns(struct field *field, const struct tacit_entropy *entropy,
                                        uint32_t *indices, uint32_t *count)
{
    TACIT_ASSERT(field->m >= 1);
    struct select_scratch scratch = select_scratch_of(field->memory, field->count);
    uint64_t const *const sizes = select_columns_of(field->select).sizes;
    uint64_t total = 0;
    for (uint32_t i = 0; i < field->count; i++) {
        scratch.first[i] = -(double)sizes[field->users[i]]; /* exact: at most 2^32 */
        total += sizes[field->users[i]];
    }
    select_sort(scratch.first, field->count, &scratch, scratch.order);
    uint32_t taken = 0;
    uint32_t next = 0;
    uint64_t poured = 0; /* tokens of the users before `next` */
    for (uint64_t urn = 0; urn < field->m; urn++) {
        uint64_t token;
        TACIT_TRY(tacit_entropy_below(entropy, total, &token));
        token += urn * total;
        while (poured + field->m * sizes[field->users[scratch.order[next]]] <= token)
            poured += field->m * sizes[field->users[scratch.order[next++]]];
        if (taken == 0 || indices[taken - 1] != scratch.order[next])
            indices[taken++] = scratch.order[next];
    }
    select_sort_users(indices, taken, field->count, &scratch);
    TACIT_ASSERT(taken >= 1);
    TACIT_ASSERT(taken <= field->m);
    TACIT_ASSERT(next < field->count);
    *count = taken;
    return TACIT_OK;
}

static void choose_fastest(struct field *field, const double *expected, uint32_t *indices)
{
    TACIT_ASSERT(expected != NULL);
    TACIT_ASSERT(field->m <= field->count);
    struct select_scratch scratch = select_scratch_of(field->memory, field->count);
    for (uint32_t i = 0; i < field->count; i++)
        scratch.second[i] = expected[field->users[i]];
    select_largest(scratch.second, field->count, field->m, &scratch, indices);
}

/* Places among the candidates. */
static enum tacit_status choose_indices(struct field *field,
                                        const struct tacit_select_choice *choice,
                                        const struct tacit_entropy *entropy, uint32_t *indices,
                                        uint32_t *count, double *energy)
{
    *count = field->m;
    *energy = NAN;
    switch (choice->selector) {
    case TACIT_SELECTOR_GENIE:
        TACIT_ASSERT(choice->expected != NULL);
        score_candidates(field, choice->expected);
        return search(field, choice, entropy, indices, energy);
    case TACIT_SELECTOR_EXACT:
    case TACIT_SELECTOR_BRUTE:
    case TACIT_SELECTOR_ANNEALING:
        score_candidates(field, NULL);
        return search(field, choice, entropy, indices, energy);
    case TACIT_SELECTOR_RANDOM:
        return choose_randomly(field, entropy, indices);
    case TACIT_SELECTOR_CLUSTERED:
        return choose_by_urns(field, entropy, indices, count);
    case TACIT_SELECTOR_FASTEST:
        TACIT_ASSERT(choice->expected != NULL);
        choose_fastest(field, choice->expected, indices);
        return TACIT_OK;
    case TACIT_SELECTOR_ALL:
        *count = field->count;
        for (uint32_t i = 0; i < field->count; i++)
            indices[i] = i;
        return TACIT_OK;
    }
    return TACIT_INVALID;
}

size_t tacit_select_choice_size(uint32_t user_count)
{
    size_t const users = user_count;
    size_t const narrow = (users + 1) / 2; /* words of a column of 4 bytes */
    return (4 * users + 2 * narrow) * sizeof(uint64_t) + tacit_select_scratch_size(user_count);
}

enum tacit_status tacit_select_choose(const struct tacit_select *select,
                                      const struct tacit_select_choice *choice,
                                      const struct tacit_entropy *entropy, void *memory,
                                      uint32_t *users, uint32_t *count, double *energy)
{
    TACIT_ASSERT(select != NULL);
    TACIT_ASSERT(choice != NULL);
    TACIT_ASSERT(memory != NULL);
    struct field field = field_of(select, memory);
    find_candidates(&field, choice->available);
    if (field.count == 0) {
        *count = 0;
        *energy = NAN;
        return TACIT_OK;
    }
    size_t const scratch_words =
        tacit_select_scratch_size(field.head->config.user_count) / sizeof(uint64_t);
    uint32_t *const indices = (uint32_t *)((uint64_t *)field.memory + scratch_words);
    uint32_t taken;
    double value;
    TACIT_TRY(choose_indices(&field, choice, entropy, indices, &taken, &value));
    for (uint32_t i = 0; i < taken; i++)
        users[i] = field.users[indices[i]];
    *count = taken;
    *energy = value;
    return TACIT_OK;
}

/* ---- Explaining ---- */

/* The best exchange of one user in which `leaves` goes, if it beats the runner-up so far. */
static void try_exchanges(const struct field *field, const uint32_t *users, uint32_t count,
                          uint32_t leaves, const uint64_t *members,
                          struct tacit_select_explanation *explanation)
{
    TACIT_ASSERT(tacit_bits_has(members, leaves));
    double least = INFINITY;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        if (users[i] != leaves) {
            least = field->scores.ucb[users[i]] < least ? field->scores.ucb[users[i]] : least;
            sum += field->scores.weight[users[i]];
        }
    for (uint32_t user = 0; user < field->head->config.user_count; user++) {
        if (tacit_bits_has(members, user) || !select_can_pay(field->select, user))
            continue;
        double const first = field->scores.ucb[user] < least ? field->scores.ucb[user] : least;
        double const energy = first + (sum + field->scores.weight[user]);
        if (explanation->has_runner_up && energy <= explanation->runner_up_energy)
            continue;
        explanation->has_runner_up = true;
        explanation->runner_up_energy = energy;
        explanation->runner_up_leaves = leaves;
        explanation->runner_up_comes = user;
    }
}

void tacit_select_explain(const struct tacit_select *select, const uint32_t *users, uint32_t count,
                          void *memory, struct tacit_select_explanation *explanation)
{
    TACIT_ASSERT(count >= 1);
    struct field field = field_of(select, memory);
    struct select_scratch const scratch =
        select_scratch_of(field.memory, field.head->config.user_count);
    tacit_select_score(select, &field.scores);
    memset(scratch.members, 0,
           TACIT_BITS_WORDS(field.head->config.user_count) * sizeof *scratch.members);
    *explanation = (struct tacit_select_explanation){.slowest = users[0]};
    double const m = field.head->config.users_per_round;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t const user = users[i];
        tacit_bits_add(scratch.members, user);
        if (field.scores.ucb[user] < field.scores.ucb[explanation->slowest])
            explanation->slowest = user;
        explanation->generalization_term +=
            field.head->config.alpha * field.scores.generalization[user] / m;
        explanation->privacy_term += field.head->config.gamma * field.scores.privacy[user] / m;
    }
    explanation->latency_term = field.scores.ucb[explanation->slowest];
    explanation->energy = tacit_select_energy(field.scores.ucb, field.scores.weight, users, count);
    for (uint32_t i = 0; i < count; i++)
        try_exchanges(&field, users, count, users[i], scratch.members, explanation);
}

/* Sound mode, the client: decides by the released model and the present contexts only, adds up
 * exact integers, and releases their prefix when the public clock closes a batch: the binary tree
 * of Dwork et al. 2010 and Chan, Shi, Song 2011, each of whose nodes is noised once; or, where
 * batches are few, each batch by itself. */
#include <string.h>
#include "private.h"

struct tacit_glm_private_client {
    struct tacit_glm_private_rule rule;
    uint32_t sum_count;
    uint64_t batch;       /* closed */
    uint64_t model_batch; /* of the model that decides */
    double alpha;
    struct tacit_rho_ledger ledger;
    /* inverse M | theta s | open S | prefix S | exact S L | noised S L, the last four in integers
     */
    double values[];
};

_Static_assert(sizeof(int64_t) == sizeof(double), "sums lie among doubles");

/* ---- Layout ---- */

static uint32_t dimension_of(const struct tacit_glm_private_client *client)
{
    return client->rule.model.dimension;
}

static double *inverse_of(struct tacit_glm_private_client *client)
{
    return client->values;
}

static double *theta_of(struct tacit_glm_private_client *client)
{
    return client->values + TACIT_LINALG_MATRIX(dimension_of(client));
}

static int64_t *sums_at(struct tacit_glm_private_client *client, uint32_t index)
{
    TACIT_ASSERT(index < 2 + 2 * client->rule.level_count);
    double *const first = theta_of(client) + TACIT_LINALG_STRIDE(dimension_of(client));
    return (int64_t *)(void *)first + (size_t)index * client->sum_count;
}

/* Of the batch that is open. */
static int64_t *open_of(struct tacit_glm_private_client *client)
{
    return sums_at(client, 0);
}

/* Of batches 1 .. batch, noised: what is released. */
static int64_t *prefix_of(struct tacit_glm_private_client *client)
{
    return sums_at(client, 1);
}

/* Of the newest node of this level, until a node above has it. */
static int64_t *exact_of(struct tacit_glm_private_client *client, uint32_t level)
{
    TACIT_ASSERT(level < client->rule.level_count);
    return sums_at(client, 2 + level);
}

/* The same with the noise that was drawn for it. */
static int64_t *noised_of(struct tacit_glm_private_client *client, uint32_t level)
{
    TACIT_ASSERT(level < client->rule.level_count);
    return sums_at(client, 2 + client->rule.level_count + level);
}

size_t tacit_glm_private_client_size(const struct tacit_glm_private_rule *rule)
{
    uint32_t const d = rule->model.dimension;
    size_t const sums = (2 + 2 * (size_t)rule->level_count) * TACIT_GLM_PRIVATE_SUMS(d);
    return sizeof(struct tacit_glm_private_client) +
           (TACIT_LINALG_MATRIX(d) + TACIT_LINALG_STRIDE(d) + sums) * sizeof(double);
}

/* ---- The model ---- */

void tacit_glm_private_client_init(struct tacit_glm_private_client *client,
                                   const struct tacit_glm_private_rule *rule)
{
    uint32_t const d = rule->model.dimension;
    memset(client, 0, tacit_glm_private_client_size(rule));
    client->rule = *rule;
    client->sum_count = (uint32_t)TACIT_GLM_PRIVATE_SUMS(d);
    client->ledger = tacit_rho_ledger_init(rule->rho_nano);
    tacit_linalg_identity(d, 0.5 / rule->shift, inverse_of(client));
    client->alpha = glm_private_alpha(rule, d * tacit_linalg_log(2.0 * rule->shift));
}

void tacit_glm_private_client_use(struct tacit_glm_private_client *client, uint64_t batch,
                                  const struct tacit_glm_private_estimate *estimate)
{
    uint32_t const d = dimension_of(client);
    TACIT_ASSERT(batch > client->model_batch && batch <= client->rule.model.batch_count);
    memcpy(inverse_of(client), estimate->inverse, TACIT_LINALG_MATRIX(d) * sizeof(double));
    memcpy(theta_of(client), estimate->theta, d * sizeof(double));
    client->model_batch = batch;
    client->alpha = estimate->alpha;
}

enum tacit_status tacit_glm_private_client_offer(const struct tacit_glm_private_client *state,
                                                 enum tacit_linalg_path path,
                                                 const struct tacit_offer *offer,
                                                 const struct tacit_entropy *entropy, uint32_t *arm,
                                                 double *probability)
{
    struct tacit_glm_private_client *const client =
        (struct tacit_glm_private_client *)(uintptr_t)state;
    struct glm_private_scores const scores = {inverse_of(client), theta_of(client), client->alpha};
    return glm_private_decide(&client->rule.model, path, &scores, offer, entropy, arm, probability);
}

void tacit_glm_private_client_reward(struct tacit_glm_private_client *client,
                                     const struct tacit_glm_reward *reward)
{
    glm_private_add(&client->rule.model, reward, open_of(client));
}

/* Of the largest node of the tree that ends with this batch, the one that is released then. */
static uint32_t level_of(const struct tacit_glm_private_client *client, uint64_t batch)
{
    TACIT_ASSERT(batch > 0);
    uint32_t level = 0;
    if (client->rule.is_flat)
        return 0;
    while ((batch >> level & 1) == 0)
        level++;
    TACIT_ASSERT(level < client->rule.level_count);
    return level;
}

static void add_sums(uint32_t count, const int64_t *more, int64_t *sums)
{
    for (uint32_t i = 0; i < count; i++)
        sums[i] += more[i];
}

/* The node that ends with this batch: its own sums and those of the levels below, which are wiped.
 * So are its own where no node above needs them: of the last level, and of batches by themselves.
 */
static void close_node(struct tacit_glm_private_client *client, uint32_t level,
                       const int64_t *noise)
{
    TACIT_ASSERT(level < client->rule.level_count);
    uint32_t const count = client->sum_count;
    size_t const size = count * sizeof(int64_t);
    int64_t *const exact = exact_of(client, level);
    memcpy(exact, open_of(client), size);
    memset(open_of(client), 0, size);
    for (uint32_t below = 0; below < level; below++) {
        add_sums(count, exact_of(client, below), exact);
        memset(exact_of(client, below), 0, size);
    }
    memcpy(noised_of(client, level), exact, size);
    add_sums(count, noise, noised_of(client, level));
    if (level + 1 == client->rule.level_count)
        memset(exact, 0, size);
}

/* The sum of the nodes that make up all closed batches. */
static void set_prefix(struct tacit_glm_private_client *client)
{
    TACIT_ASSERT(client->batch > 0);
    uint32_t const count = client->sum_count;
    int64_t *const prefix = prefix_of(client);
    if (client->rule.is_flat) {
        add_sums(count, noised_of(client, 0), prefix);
        return;
    }
    memset(prefix, 0, count * sizeof(int64_t));
    for (uint32_t level = 0; level < client->rule.level_count; level++)
        if ((client->batch >> level & 1) != 0)
            add_sums(count, noised_of(client, level), prefix);
}

/* The clock says so, whatever is in the batch. Charged first, then drawn. */
enum tacit_status tacit_glm_private_client_close(struct tacit_glm_private_client *client,
                                                 uint64_t batch,
                                                 const struct tacit_entropy *entropy,
                                                 const int64_t **sums)
{
    int64_t noise[TACIT_GLM_PRIVATE_SUMS_MAX];
    TACIT_ASSERT(client->batch <= client->rule.model.batch_count);
    TACIT_ASSERT(client->rule.level_count <= TACIT_RHO_GROUPS_MAX);
    *sums = NULL;
    if (batch <= client->batch)
        return TACIT_OK;
    if (batch > client->rule.model.batch_count)
        return TACIT_BUDGET;
    if (batch != client->batch + 1)
        return TACIT_INVALID;
    uint32_t const level = level_of(client, batch);
    struct tacit_rho_ledger ledger = client->ledger;
    TACIT_TRY(tacit_rho_ledger_spend(&ledger, level, client->rule.node_rho_nano));
    TACIT_TRY(glm_private_draw(&client->rule, entropy, noise));
    TACIT_ASSERT(batch == client->batch + 1);
    client->ledger = ledger;
    client->batch = batch;
    close_node(client, level, noise);
    set_prefix(client);
    *sums = prefix_of(client);
    return TACIT_OK;
}

void tacit_glm_private_client_view(const struct tacit_glm_private_client *state,
                                   struct tacit_glm_private_client_view *view)
{
    struct tacit_glm_private_client *const client =
        (struct tacit_glm_private_client *)(uintptr_t)state;
    *view = (struct tacit_glm_private_client_view){.batch = client->batch,
                                                   .model_batch = client->model_batch,
                                                   .alpha = client->alpha,
                                                   .theta = theta_of(client),
                                                   .inverse = inverse_of(client),
                                                   .sums = prefix_of(client),
                                                   .spent_rho_nano =
                                                       tacit_rho_ledger_spent_nano(&client->ledger),
                                                   .release_count = client->ledger.release_count};
}

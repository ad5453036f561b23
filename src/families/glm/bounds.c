/* How much a run says at most, and the rates that the paper proves: for `check`. */
#include <math.h>
#include "plan.h"

/* The paper's rates without their constants. Theorem 11's last factor is at least 1: for a horizon
 * below its B, which the paper does not speak of, it would be the root of a negative number. */
static void print_rates(const struct tacit_glm_model *model, FILE *out)
{
    double const n = model->client_count;
    double const t = (double)model->horizon;
    double const d = model->dimension;
    double const k = model->lipschitz * (model->lipschitz + model->noise_bound) / model->curvature;
    double const logarithm = log(n * t / model->delta);
    double const good = k * d * sqrt(n * t) * logarithm;
    switch (model->variant) {
    case TACIT_GLM_FEDGLB:
        (void)fprintf(out,
                      "Theorem 4's D = T/(N d log(NT)) = %.4g.\nRates of App. D, without their "
                      "constants, at this D:\n  regret    %.4g\n  links     %.4g\n",
                      t / (n * d * log(n * t)),
                      good + k * pow(d * logarithm, 1.5) * n * sqrt(model->threshold),
                      sqrt(d / model->threshold) * pow(logarithm, 1.5) * t * pow(n, 1.5));
        return;
    case TACIT_GLM_V1:
        (void)fprintf(out,
                      "Rates of Theorem 10, at B = sqrt(NT) = %.0f, without their constants:\n"
                      "  regret    %.4g\n  links     %.4g\n",
                      sqrt(n * t),
                      model->lipschitz * model->noise_bound * d / model->curvature * sqrt(n * t) *
                          logarithm,
                      n * n * t * log(n * t));
        return;
    case TACIT_GLM_V2:
        (void)fprintf(out,
                      "Rates of Theorem 11, at B = d^2 N log(NT) = %.0f, without their constants:\n"
                      "  regret    %.4g\n  links     %.4g\n",
                      d * d * n * log(n * t),
                      good * sqrt(fmax(log(t / (d * d * n * log(n * t))), 1)),
                      d * d * pow(n, 2.5) * sqrt(t) * pow(log(n * t), 2));
        return;
    case TACIT_GLM_V3:
        (void)fprintf(out,
                      "Rates of Theorem 15, at B = sqrt(NT) = %.0f, without their constants:\n"
                      "  regret    %.4g\n  links     %.4g\n",
                      sqrt(n * t), k * d * pow(n * t, 0.75) * logarithm, pow(n, 1.5) * sqrt(t));
        return;
    case TACIT_GLM_ONE_UCB:
    case TACIT_GLM_N_UCB:
    case TACIT_GLM_N_ONS:
    case TACIT_GLM_DISLINUCB:
    case TACIT_GLM_RANDOM:
        return;
    }
}

/* The sound mode speaks once a batch, whatever happens. */
static void print_private(const struct glm_plan *plan, FILE *out)
{
    struct tacit_glm_private_rule const *const rule = &plan->rule;
    double const numbers = (double)TACIT_GLM_PRIVATE_SUMS(rule->model.dimension);
    double const messages = 2.0 * rule->model.client_count * (double)rule->model.batch_count;
    bool const are_two = plan->aggregators > 0;
    double const rounds = are_two ? (double)rule->model.batch_count : 0; /* of the helper */
    (void)fprintf(out, "In one run of %llu slots:\n", (unsigned long long)plan->sim.horizon);
    (void)fprintf(out, "  batches   %llu  (%s)\n", (unsigned long long)rule->model.batch_count,
                  rule->is_flat ? "each released by itself" : "released in a binary tree");
    (void)fprintf(out, "  messages  %.0f%s\n  bytes     %.0f\n", messages + 2 * rounds,
                  are_two ? "  (two of them a batch to the helper and back)" : "",
                  8.0 * messages * numbers + rounds * (are_two ? glm_helper_bytes(plan) : 0));
    (void)fprintf(out,
                  "  noise     Y = %.0f interactions a dimension, of %.0f; worth while from %llu "
                  "clients on\n",
                  rule->shift,
                  (double)plan->sim.horizon * rule->model.client_count / rule->model.dimension,
                  (unsigned long long)tacit_glm_private_clients_min(rule, plan->sim.horizon));
}

enum tacit_status glm_print_costs(const struct tacit_experiment *experiment, FILE *out)
{
    struct glm_plan const *const plan = experiment->plan;
    struct tacit_glm_model whole = plan->model;
    struct tacit_glm_model const *const model = &whole;
    whole.horizon = plan->sim.horizon; /* of a log: slots, not what one client may hold */
    if (plan->is_private) {
        print_private(plan, out);
        return TACIT_OK;
    }
    double const updates = tacit_glm_updates_bound(model);
    uint64_t const n = model->client_count * model->horizon;
    (void)fprintf(out, "At most, in one run of %llu slots:\n", (unsigned long long)model->horizon);
    (void)fprintf(out, "  updates   %.0f%s\n", updates,
                  model->variant == TACIT_GLM_FEDGLB || model->variant == TACIT_GLM_DISLINUCB
                      ? "  (App. D: ceil(T/a) + ceil(R a/D), a = sqrt(D T/R), R = d ln(1 + N T "
                        "c/(lambda d)))"
                      : "");
    if (model->variant <= TACIT_GLM_V2)
        (void)fprintf(out,
                      "  rounds    %.0f  (Eq. 3, of one update with all %llu observations, from a "
                      "distance of S)\n",
                      tacit_glm_rounds_bound(model, n, model->norm_bound), (unsigned long long)n);
    print_rates(model, out);
    return TACIT_OK;
}

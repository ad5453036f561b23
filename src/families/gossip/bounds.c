/* What gossip UCB says and loses at most: for `check`. */
#include <math.h>
#include <stdlib.h>
#include "../../topo/spectrum.h"
#include "plan.h"

/* Theorems 1 and 2 are for rewards in [0, 1]; the paper draws its curves with Gaussian ones. */
static void print_theorem(const struct tacit_experiment *experiment, double lambda2, FILE *out)
{
    struct gossip_plan const *const plan = experiment->plan;
    uint32_t const arms = plan->rule.arm_count;
    if (experiment->global_means == NULL || plan->rule.sound ||
        (plan->noises_each && plan->mechanism.noisy) || !(lambda2 > 0 && lambda2 < 1))
        return;
    double *const gaps = malloc(arms * sizeof *gaps);
    if (gaps == NULL)
        return;
    double best = experiment->global_means[0];
    for (uint32_t arm = 0; arm < arms; arm++)
        best = fmax(best, experiment->global_means[arm]);
    for (uint32_t arm = 0; arm < arms; arm++)
        gaps[arm] = best - experiment->global_means[arm];
    double const epsilon = plan->rule.noisy ? experiment->config->epsilon : (double)INFINITY;
    double const bound = tacit_gossip_regret_bound(&plan->rule, epsilon, gaps, lambda2);
    double worst = 0;
    for (uint32_t arm = 0; arm < arms; arm++)
        worst = fmax(worst, gaps[arm] * (double)plan->common.horizon);
    (void)fprintf(out, "  regret of an agent  %.6g  (Theorem %d%s)%s\n", bound,
                  plan->rule.noisy ? 2 : 1,
                  plan->common.env.kind == TACIT_ENV_GAUSSIAN
                      ? ", which is for rewards in [0, 1], and these are not"
                      : "",
                  bound > worst ? "; always the worst arm would lose less" : "");
    free(gaps);
}

enum tacit_status gossip_print_costs(const struct tacit_experiment *experiment, FILE *out)
{
    struct gossip_plan const *const plan = experiment->plan;
    double const slots = (double)plan->common.horizon;
    double const agents = plan->rule.agent_count;
    double const arms = plan->rule.arm_count;
    double lambda2 = NAN;
    if (plan->doubles) {
        gossip_print_doubling(experiment, out);
        return TACIT_OK;
    }
    (void)fprintf(out, "In one run of %llu slots:\n", (unsigned long long)plan->common.horizon);
    (void)fprintf(out,
                  "  messages  %.0f  (each slot: every agent tells its neighbours its counts; "
                  "two agents exchange estimates)\n",
                  slots * (agents + 2));
    (void)fprintf(out, "  scalars   %.0f\n", slots * (agents + 2) * arms);
    if (plan->rule.agent_count > TACIT_SPECTRUM_AGENTS_MAX)
        return TACIT_OK;
    TACIT_TRY(topo_lambda_2(plan->graph, &lambda2));
    (void)fprintf(out, "  lambda_2  %.6g  (of the gossip matrix; L of Lemma 4: %llu slots)\n",
                  lambda2,
                  (unsigned long long)tacit_gossip_mixing_slots(plan->rule.agent_count, lambda2));
    print_theorem(experiment, lambda2, out);
    return TACIT_OK;
}

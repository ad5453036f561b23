/* User selection (Peleg et al.: PAUSE) as its hosts know it. */
#include "select.h"

const struct tacit_metric select_metrics[] = {
    [SELECT_REGRET_SHARED] = {"regret_shared", "Regret", "reward",
                              "against the genie on the policy's own g and p (Eq. 15); below 0 is "
                              "possible",
                              TACIT_METRIC_MAIN | TACIT_METRIC_CARD},
    [SELECT_REGRET_GENIE] = {"regret_genie", "Expected regret", "reward",
                             "difference of Eq. (10) between the genie's set and the chosen one",
                             TACIT_METRIC_CARD},
    [SELECT_REWARD] = {"reward", "Reward", "reward", "Eq. (9), summed over the rounds", 0},
    [SELECT_LATENCY] = {"latency", "Total latency", "time", "the slowest user of each round",
                        TACIT_METRIC_CARD},
    [SELECT_LEAKAGE_MAX] = {"leakage_max", "Largest leakage", "epsilon",
                            "what the user that spent most has spent at the end",
                            TACIT_METRIC_CARD},
    [SELECT_ROUNDS] = {"rounds", "Rounds", "rounds", "how many took place", TACIT_METRIC_TRAFFIC},
    [SELECT_MIXED_ROUNDS] = {"mixed_rounds", "Mixed rounds", "rounds",
                             "how many had users of the fast and of the slow half", 0},
    [SELECT_ENERGY_GAP] = {"energy_gap", "Energy gap", "reward",
                           "of Eq. (18) to the best set, the mean of the rounds; exact and "
                           "annealed selection",
                           0},
    [SELECT_EXHAUSTED] = {"exhausted", "Exhausted", "", "ended because too few users had budget",
                          0},
    [SELECT_PARTICIPATIONS] = {"participations", "Participations", "updates",
                               "how many updates users gave, summed over the rounds",
                               TACIT_METRIC_TRAFFIC},
    [SELECT_MESSAGES] = {"messages", "Messages", "messages",
                         "a model to each chosen user, an update from it", TACIT_METRIC_TRAFFIC},
    [SELECT_ACCURACY] = {"accuracy", "Accuracy", "", "of the last model", TACIT_METRIC_CARD},
    [SELECT_LOSS] = {"loss", "Loss", "nats", "mean cross-entropy of the last model", 0},
    [SELECT_BYTES] = {"bytes", "Bytes", "bytes", "models to the chosen users, updates from them",
                      TACIT_METRIC_TRAFFIC},
    [SELECT_BYTES_TO_ALL] = {"bytes_to_all", "Bytes, model to all", "bytes",
                             "if the model goes back to every user each round (Sec. III-B)",
                             TACIT_METRIC_TRAFFIC},
    [SELECT_BITS_PER_COORDINATE] = {"bits_per_coordinate", "Bits per coordinate", "bits",
                                    "of an update", 0},
    [SELECT_ACCURACY_MEAN] = {"accuracy_mean", "Accuracy, last 10 rounds", "",
                              "mean of the examinations of the last 10 rounds", 0},
    [SELECT_TIME_TO_TARGET] = {"time_to_target", "Time to the target", "time",
                               "until that mean was training.target; all of it where it never was",
                               0},
    [SELECT_OPTIMAL_SHARE] = {"optimal_share", "Best sets", "",
                              "share of the rounds in which the set has the best value; exact and "
                              "annealed selection",
                              0},
    [SELECT_ITERATIONS] = {"iterations", "Iterations", "steps",
                           "how many an annealing took in a round", 0},
    [SELECT_NEIGHBOURS] = {"neighbours", "Neighbours", "sets",
                           "of the chosen set in the graph of Sec. IV-A, the mean of the rounds",
                           0},
    [SELECT_METRIC_COUNT] = {.name = NULL}};

const struct tacit_profile select_series[] = {
    [SELECT_TIME_BY_ROUND] = {"time_by_round", "time", "total latency", NULL, NULL, true},
    [SELECT_LEAKAGE_BY_ROUND] = {"leakage_by_round", "largest leakage", "epsilon", NULL, NULL,
                                 true},
    [SELECT_REGRET_GENIE_BY_ROUND] = {"regret_genie_by_round", "expected regret", "reward", NULL,
                                      NULL, true},
    [SELECT_SHARE_BY_ROUND] = {"share_by_round", "share of the rounds, T_k / t", "share",
                               "of the rounds in which the first user took part", NULL, true},
    [SELECT_GENERALIZATION_BY_ROUND] = {"generalization_by_round", "reward of generalisation, g_k",
                                        "reward",
                                        "what Eq. (8) gives the first user in the next round", NULL,
                                        true},
    [SELECT_ACCURACY_BY_ROUND] = {"accuracy_by_round", "accuracy", "share", NULL, NULL, true},
    [SELECT_ACCURACY_MEAN_BY_ROUND] = {"accuracy_mean_by_round", "accuracy, mean", "share",
                                       "of the examinations of the last 10 rounds", NULL, true},
    [SELECT_LOSS_BY_ROUND] = {"loss_by_round", "loss", "nats", NULL, NULL, true},
    [SELECT_SERIES_COUNT] = {.name = NULL}};

static const struct tacit_labels labels = {
    .agent = "user",
    .agents = "users",
    .slot = "round",
    .slots = "rounds",
    .no_answer =
        "A selection has no single answer: in each round it chooses anew who takes part. What that "
        "came to stands below.",
    .profiles = "Round by round, and user by user"};

static const char *const environments[] = {"latency", NULL};

const struct tacit_family select_family = {.number = SELECT_NUMBER,
                                           .file = {.name = "select",
                                                    .networks = 1u << TACIT_CONFIG_STAR,
                                                    .modes = 1u << TACIT_PRIVACY_NONE |
                                                             1u << TACIT_PRIVACY_PAPER |
                                                             1u << TACIT_PRIVACY_SOUND,
                                                    .keys = select_sections,
                                                    .accepts_trust = true,
                                                    .own_environments = environments,
                                                    .keys_size = sizeof(struct select_keys),
                                                    .read = select_read_keys},
                                           .metrics = select_metrics,
                                           .profiles = select_series,
                                           .labels = &labels,
                                           .plan = select_make_plan,
                                           .plan_free = select_free_plan,
                                           .print_costs = select_print_costs,
                                           .player = {.metric_count = SELECT_METRIC_COUNT,
                                                      .run_new = select_run_new,
                                                      .run_play = select_run_play}};

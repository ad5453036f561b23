/* tacit check: is the file right, what does it promise, what can it cost at most? */
#include "arguments.h"
#include "commands.h"
#include "experiment.h"
#include "tacit/wire.h"
#include <stdio.h>

/* Most rounds that fit the horizon. S(r) is least with two arms left, the fewest, and most with
 * all K: an epoch brings reports only if the most of it can be above the least of the one before.
 * Where the gap is drawn for each run, the schedule has the largest one, whose S is least. */
static uint32_t rounds_max(const struct experiment *experiment)
{
    struct tacit_elim_schedule const schedule = experiment_schedule(experiment);
    uint32_t const limit =
        schedule.round_limit > 0 ? schedule.round_limit : TACIT_ELIM_EPOCHS_MAX - 1;
    bool const gap_varies =
        schedule.round_limit > 0 && experiment->sim.gap <= 0 && experiment->sim.instance_per_run;
    uint64_t least = 0;
    uint32_t rounds = 0;
    for (uint32_t epoch = 1; epoch <= limit; epoch++) {
        uint64_t const before = least;
        uint64_t const most = tacit_elim_pulls(&schedule, epoch, schedule.arm_count, 0);
        least = tacit_elim_pulls(&schedule, epoch, 2, before);
        if (least > schedule.horizon / 2)
            break;
        rounds += gap_varies || most > before ? 1 : 0;
    }
    return rounds;
}

/* The longest messages: every arm is active. */
static uint64_t report_bytes(const struct tacit_sim_elim *sim)
{
    struct tacit_elim_message const report = {.kind = TACIT_ELIM_REPORT,
                                              .sum_count = sim->env.arm_count};
    return tacit_wire_elim_bytes(&report, sim->env.arm_count, sim->agent_count);
}

static uint64_t order_bytes(const struct tacit_sim_elim *sim)
{
    static const uint64_t somebody = 0;
    bool const all_report = sim->report_count == sim->agent_count;
    struct tacit_elim_message const order = {.kind = TACIT_ELIM_ORDER,
                                             .uploaders = all_report ? NULL : &somebody};
    return tacit_wire_elim_bytes(&order, sim->env.arm_count, sim->agent_count);
}

static void print_bounds(const struct experiment *experiment)
{
    struct tacit_sim_elim const *const sim = &experiment->sim;
    uint64_t const rounds = rounds_max(experiment);
    uint64_t const reports = rounds * sim->report_count;
    uint64_t const bytes = reports * report_bytes(sim) + (rounds + 1) * order_bytes(sim);
    (void)printf("At most, in one run of %llu slots:\n", (unsigned long long)sim->horizon);
    (void)printf("  rounds    %llu\n", (unsigned long long)rounds);
    (void)printf("  messages  %llu  (%llu reports, %llu broadcasts)\n",
                 (unsigned long long)(reports + rounds + 1), (unsigned long long)reports,
                 (unsigned long long)(rounds + 1));
    (void)printf("  bytes     %llu  (a broadcast counted once)\n", (unsigned long long)bytes);
    (void)printf("  cost      %.12g  (%.12g a server link, %u links a round)\n",
                 (double)reports * sim->server_link_cost, sim->server_link_cost, sim->report_count);
}

static void print_privacy(const struct experiment *experiment)
{
    struct tacit_mechanism const *const mechanism = &experiment->sim.mechanism;
    (void)printf("Privacy (%s)\n", tacit_mechanism_name(mechanism));
    if (mechanism->noisy)
        (void)printf("  epsilon per reward: %.12g\n", experiment->sim.epsilon_per_reward);
    else
        (void)printf("  epsilon per reward: infinite\n");
    (void)printf("  %s\n\n", experiment->statement);
}

int command_check(int argument_count, char **words)
{
    struct arguments arguments;
    struct experiment experiment;
    struct tacit_error error = {""};
    arguments_parse(&arguments, false, argument_count, words);
    enum tacit_status const status = experiment_load(
        &experiment, arguments.file, arguments.settings, arguments.setting_count, &error);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "%s\n",
                      error.text[0] == '\0' ? tacit_status_text(status) : error.text);
        return status == TACIT_MEMORY ? EXIT_FAILED : EXIT_WRONG_INPUT;
    }
    (void)printf("%s: ok: %u agents, %u arms, %llu slots, %u runs\n", arguments.file,
                 experiment.sim.agent_count, experiment.sim.env.arm_count,
                 (unsigned long long)experiment.sim.horizon, experiment.sim.run_count);
    if (experiment.note[0] != '\0')
        (void)printf("%s\n", experiment.note);
    (void)printf("\n");
    print_privacy(&experiment);
    print_bounds(&experiment);
    experiment_free(&experiment);
    return EXIT_DONE;
}

/* tacit check: is the file right, what does it promise, what can it cost at most? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arguments.h"
#include "commands.h"
#include "../src/study/forecast.h"
#include "tacit/data.h"
#include "tacit/family.h"
#include "tacit/report.h"

#define COMPONENTS_SHOWN 8u

static void print_components(const struct tacit_network *network)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < network->component_count && i < COMPONENTS_SHOWN; i++) {
        struct tacit_component const *const component = &network->components[i];
        (void)printf("    agent%s %llu", component->agent_count > 1 ? "s" : "",
                     (unsigned long long)first);
        first += component->agent_count;
        if (component->agent_count > 1)
            (void)printf("-%llu", (unsigned long long)(first - 1));
        (void)printf(": %llu edges, sink %u, delay %u, %llu hops to it\n",
                     (unsigned long long)component->edge_count, component->sink, component->delay,
                     (unsigned long long)component->distance_sum);
    }
    if (network->component_count > COMPONENTS_SHOWN)
        (void)printf("    and %u more\n", network->component_count - COMPONENTS_SHOWN);
}

/* `slack`: by how much the exact value, which was not searched for, may be more. */
static void print_span(const char *name, uint32_t low, uint32_t slack)
{
    (void)printf("  %-10s %u", name, low);
    if (slack > 0)
        (void)printf(" to %u", low + slack);
}

static void print_network(const struct tacit_experiment *experiment)
{
    struct tacit_network const *const network = experiment->network;
    if (network == NULL)
        return;
    (void)printf("Network (%s)\n", experiment->config->network.name);
    (void)printf("  edges      %llu\n", (unsigned long long)network->graph.edge_count);
    print_span("diameter", network->diameter, network->diameter_slack);
    (void)putchar('\n');
    print_span("t_delay", network->delay, network->delay_slack);
    (void)printf("  (slots of waiting in a round)\n");
    if (network->visits_left > 0)
        (void)printf("  exact      not searched for: it takes some %.3g minutes\n",
                     (double)network->visits_left * TACIT_NETWORK_VISIT_NS / 60e9);
    (void)printf("  components %u\n", network->component_count);
    if (network->has_sinks)
        print_components(network);
    (void)printf("\n");
}

#define CELLS_SHOWN 400u

/* Characters, not bytes, fill the width. */
static void print_padded(const char *text, int width)
{
    int const shown = (int)tacit_text_characters(text, strlen(text));
    (void)putchar(' ');
    tacit_report_print_text(stdout, text);
    (void)printf("%*s", shown < width ? width - shown : 0, "");
}

static void print_cell(const struct tacit_log *log, uint32_t agent, uint32_t arm)
{
    size_t const cell = (size_t)agent * log->arm_count + arm;
    char number[32];
    (void)snprintf(number, sizeof number, "agent %u", agent);
    (void)putchar(' ');
    print_padded(log->agent_names == NULL ? number : log->agent_names[agent], 20);
    print_padded(log->arm_names[arm], 24);
    (void)printf(" %10u %12.6g\n", log->start[cell + 1] - log->start[cell], log->means[cell]);
}

/* What the data are read as: a slip in the file shows here, not in a result. */
static void print_log(const struct tacit_experiment *experiment)
{
    struct tacit_log const *const log = tacit_experiment_log(experiment);
    if (log == NULL)
        return;
    (void)printf("Data (%s)\n", experiment->config->log.csv);
    (void)printf("  rows used  %u\n", log->row_count);
    (void)printf("  left out   %u without an agent, %u without an arm, %u without a reward\n",
                 log->without_agent, log->without_arm, log->without_reward);
    if (log->of_no_arm > 0)
        (void)printf("  no arm     %u rows that no arm counts\n", log->of_no_arm);
    (void)printf("  %-20s %-24s %10s %12s\n", "agent", "arm", "rows", "mean");
    uint32_t shown = 0;
    for (uint32_t agent = 0; agent < log->agent_count; agent++)
        for (uint32_t arm = 0; arm < log->arm_count && shown < CELLS_SHOWN; arm++, shown++)
            print_cell(log, agent, arm);
    uint64_t const cells = (uint64_t)log->agent_count * log->arm_count;
    if (shown < cells)
        (void)printf("  and %llu more\n", (unsigned long long)(cells - shown));
    (void)printf("\n");
}

/* With two aggregators: what each sees of a reward, and what is in a total. */
static void print_views(const struct tacit_experiment *experiment)
{
    double const epsilon = experiment->epsilon_per_reward;
    double const floor = tacit_nano_value(experiment->promise.trust.floor_nano);
    (void)printf("  epsilon of what the coordinator sees: %.12g; the helper: %.12g; sites and "
                 "outsiders: at most %.12g; coordinator and helper together: ",
                 epsilon, epsilon, epsilon);
    if (floor > 0)
        (void)printf("%.12g (floor)\n", floor);
    else
        (void)printf("infinite (no floor)\n");
    if (experiment->promise.mechanism.leaving == TACIT_LEAVING_UPDATES) {
        (void)printf("  noise terms of a round's total: 2 of the aggregators at its epsilon");
        if (floor > 0)
            (void)printf(", %u of the users at %.12g times it", experiment->server_links,
                         floor / epsilon);
        (void)printf("; with one aggregator %u, each at its user's\n", experiment->server_links);
        return;
    }
    (void)printf("  noise terms of a total: 2 of the aggregators at epsilon %.12g", epsilon);
    if (floor > 0)
        (void)printf(", %u of the sites at epsilon %.12g", experiment->total_agents, floor);
    (void)printf("; with one aggregator %u at epsilon %.12g\n", experiment->total_agents, epsilon);
}

static void print_privacy(const struct tacit_experiment *experiment)
{
    struct tacit_promise const *const promise = &experiment->promise;
    struct tacit_labels const *const labels = experiment->family->labels;
    (void)printf("Privacy (%s)\n", tacit_promise_name(promise));
    if (labels != NULL)
        (void)printf("  epsilon of a %s, in all %s together: ", labels->agent, labels->slots);
    else
        (void)printf("  epsilon per %s: ", tacit_promise_of(promise));
    if (!tacit_promise_holds(promise))
        (void)printf("infinite (%s)", tacit_promise_lack(promise));
    else
        (void)printf("%.12g", experiment->epsilon_per_reward);
    if (promise->mechanism.delta_nano > 0)
        (void)printf(", delta %.12g", tacit_nano_value(promise->mechanism.delta_nano));
    (void)putchar('\n');
    uint32_t const rewards = promise->trust.unit_rewards_max;
    if (rewards > 0 && tacit_promise_holds(promise))
        (void)printf("  epsilon per person, at an agent: %.12g (%u rewards)\n",
                     rewards * experiment->epsilon_per_reward, rewards);
    if (promise->trust.has_helper)
        print_views(experiment);
    (void)printf("  %s\n\n", experiment->statement);
}

/* It has names of the data. */
static void print_remark(const char *remark)
{
    if (*remark == '\0')
        return;
    (void)printf("data: ");
    tacit_report_print_text(stdout, remark);
    (void)putchar('\n');
}

static void print_head(const char *file, const struct tacit_experiment *experiment)
{
    struct tacit_labels const *const labels = experiment->family->labels;
    (void)printf("%s: ok: %u %s, ", file, experiment->sim.agent_count,
                 labels != NULL ? labels->agents : "agents");
    if (labels == NULL)
        (void)printf("%u arms, ", experiment->sim.env.arm_count);
    (void)printf("%llu %s, %u runs\n", (unsigned long long)experiment->sim.horizon,
                 labels != NULL ? labels->slots : "slots", experiment->sim.run_count);
}

static const struct argp_option options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like privacy.epsilon=0.5", 0},
    COMMAND_LAST_OPTIONS};

static int check_command(const struct command *command, int argc, char **argv)
{
    struct arguments arguments = {0};
    struct tacit_experiment experiment;
    struct tacit_error error = {""};
    command_parse(command, &arguments, argc, argv);
    enum tacit_status const status =
        tacit_experiment_load_for(&experiment, TACIT_EXPERIMENT_CHECK, NULL, arguments.file,
                                  arguments.settings, arguments.setting_count, &error);
    if (status != TACIT_OK)
        return command_report_file(status, &error);
    print_head(arguments.file, &experiment);
    print_remark(experiment.remark);
    if (experiment.note[0] != '\0')
        (void)printf("%s\n", experiment.note);
    (void)printf("\n");
    print_log(&experiment);
    print_network(&experiment);
    print_privacy(&experiment);
    enum tacit_status const printed = experiment.family->print_costs == NULL
                                          ? TACIT_OK
                                          : experiment.family->print_costs(&experiment, stdout);
    char sentence[FORECAST_BYTES];
    forecast_warn(&experiment, sentence);
    if (sentence[0] != '\0')
        (void)printf("\n%s\n", sentence);
    bool const is_done = printed == TACIT_OK;
    if (!is_done)
        (void)fprintf(stderr, "tacit check: %s\n", tacit_status_text(printed));
    tacit_experiment_free(&experiment);
    return is_done ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_check = {
    .name = "check",
    .summary = "validate an experiment file; print its privacy statement and bounds",
    .options = options,
    .operands = "FILE|-",
    .help = "Validate FILE (- is standard input) and print its privacy statement, message and cost "
            "bounds.",
    .parse = arguments_parse_file,
    .run = check_command,
};

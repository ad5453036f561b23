/* tacit bound: what a noised sum says of a mean. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "commands.h"
#include "tacit/bounds.h"
#include "tacit/report.h"

#define STEPS_LIMIT 0x1p62

/* Options without a letter. */
enum { KEY_MEAN = 1000, KEY_SUM, KEY_LEVEL, KEY_ARMS, KEY_LOOK };

struct request {
    double pulls;
    double noises;
    double mean;
    double sum;
    double epsilon;
    double level;
    double confidence;
    double arms;
    double look;
    bool json;
};

/* ---- What is asked for ----------------------------------------------------------------------- */

/* A number in [min, max], or "inf" where max is. */
static double read_number(const struct command *command, const char *option, const char *text,
                          double min, double max)
{
    char *end;
    errno = 0;
    double const value = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(value >= min && value <= max))
        command_refuse(command, "--%s: '%s' is not allowed; allowed: a number from %g to %g",
                       option, text, min, max);
    return value;
}

/* As in a file. */
static double read_confidence(const struct command *command, const char *text)
{
    char *end;
    double const value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0.5 && value < 1))
        command_refuse(command,
                       "--confidence: '%s' is not allowed; allowed: a number from 0.5 to below 1",
                       text);
    return value;
}

static double read_whole(const struct command *command, const char *option, const char *text,
                         double min, double max)
{
    double const value = read_number(command, option, text, min, max);
    if (value > floor(value))
        command_refuse(command, "--%s: '%s' is not allowed; allowed: a whole number", option, text);
    return value;
}

/* As given, or of this look at this arm by the confidence. */
static double level_of(const struct request *request)
{
    return isnan(request->level)
               ? tacit_bounds_level((uint32_t)request->arms, (uint32_t)request->look,
                                    1 - request->confidence)
               : request->level;
}

static void check_request(const struct command *command, const struct request *request)
{
    if (isnan(request->pulls))
        command_refuse_usage(command, "--pulls is missing");
    if (isnan(request->mean) == isnan(request->sum))
        command_refuse_usage(command, "one of --mean and --sum is to be given");
    if (isinf(request->epsilon) ? request->noises > 0 : request->noises < 1)
        command_refuse_usage(command,
                             "--noises belongs to --epsilon: at least 1, and 0 without noise");
    if (!isnan(request->mean) &&
        fabs(request->mean) * request->pulls * (double)TACIT_STEPS >= STEPS_LIMIT)
        command_refuse_usage(command, "the sum is to stay below 2^62 steps");
}

static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    switch (key) {
    case 'n':
        request->pulls = read_whole(command, "pulls", value, 1, 0x1p41);
        break;
    case 'm':
        request->noises = read_whole(command, "noises", value, 0, 0x1p41);
        break;
    case 'e':
        request->epsilon = read_number(command, "epsilon", value, 1e-6, INFINITY);
        break;
    case 'c':
        request->confidence = read_confidence(command, value);
        break;
    case KEY_MEAN:
        request->mean = read_number(command, "mean", value, -1e6, 1e6);
        break;
    case KEY_SUM:
        request->sum = read_whole(command, "sum", value, -STEPS_LIMIT, STEPS_LIMIT);
        break;
    case KEY_LEVEL:
        request->level = read_number(command, "level", value, 1e-6, 1e6);
        break;
    case KEY_ARMS:
        request->arms = command_number(command, "arms", value, TACIT_ARMS_MAX);
        break;
    case KEY_LOOK:
        request->look = command_number(command, "look", value, TACIT_BOUNDS_RELEASES_MAX);
        break;
    case 'j':
        request->json = true;
        break;
    case COMMAND_OPERAND:
        command_refuse_usage(command, "it takes no arguments");
    case COMMAND_END:
        check_request(command, request);
        break;
    default:
        break;
    }
}

/* ---- The answer ------------------------------------------------------------------------------ */

static int bound_command(const struct command *command, int argc, char **argv)
{
    struct request request = {.pulls = NAN,
                              .mean = NAN,
                              .sum = NAN,
                              .epsilon = INFINITY,
                              .level = NAN,
                              .confidence = 0.95,
                              .arms = 1,
                              .look = 1};
    command_parse(command, &request, argc, argv);
    double const steps =
        isnan(request.sum) ? request.mean * request.pulls * (double)TACIT_STEPS : request.sum;
    struct tacit_bounds_sum const sum = {(uint64_t)request.pulls, (uint64_t)request.noises,
                                         (int64_t)nearbyint(steps)};
    double const level = level_of(&request);
    double const lower = tacit_bounds_lower(&sum, request.epsilon, level);
    double const upper = tacit_bounds_upper(&sum, request.epsilon, level);
    double const radius = tacit_bounds_radius(sum.pulls, sum.noises, request.epsilon, level);
    double const mean = tacit_bounds_mean(&sum);
    if (request.json)
        tacit_report_print_json(stdout,
                                "{\"mean\": %.12g, \"lower\": %.12g, \"upper\": %.12g, "
                                "\"radius\": %.12g, \"level\": %.12g}\n",
                                mean, lower, upper, radius, level);
    else
        (void)printf("mean    %.12g\nlower   %.12g\nupper   %.12g\nradius  %.12g  (of the counts "
                     "alone)\nlevel   %.12g\n",
                     mean, lower, upper, radius, level);
    return EXIT_DONE;
}

static const struct argp_option options[] = {
    {"pulls", 'n', "N", 0, "Rewards in the sum, of all sites", 0},
    {"mean", KEY_MEAN, "Y", 0, "The noised sum per reward, as a part of the public range", 0},
    {"sum", KEY_SUM, "STEPS", 0, "Instead: the noised sum itself, in steps of 2^-20", 0},
    {"noises", 'm', "M", 0, "Noise terms in it: sites times releases (0)", 0},
    {"epsilon", 'e', "E", 0, "Of each noise term, per reward (inf: no noise)", 0},
    {"confidence", 'c', "C", 0, "Of both sides, of all arms, at all looks together (0.95)", 0},
    {"arms", KEY_ARMS, "K", 0, "So many arms share the confidence (1)", 0},
    {"look", KEY_LOOK, "E", 0, "Which release of the arm this is, from 1 (1)", 0},
    {"level", KEY_LEVEL, "L", 0, "Instead: one look, each side wrong with chance exp(-L)", 0},
    {"json", 'j', NULL, 0, "One line of JSON", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_bound = {
    .name = "bound",
    .summary = "what a noised sum says of a mean: its interval",
    .options = options,
    .help = "Prints the interval in which the mean of rewards in [0, 1] is, given a noised sum of "
            "them. Exact generating functions of rewards and noise together "
            "(docs/proofs/exact_bounds.md). With a confidence it holds for all arms at all looks, "
            "if the counts were not chosen by looking at the sums.",
    .parse = parse,
    .run = bound_command};

/* Protocols and networks are tried over a file by simulation. */
#include "plan.h"
#include "forecast.h"
#include "grid_point.h"
#include "now.h"
#include "tacit/bounds.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_S 2.0      /* a simulation that takes so long is announced: a choice takes about ten */
#define RUNS "runs=100" /* unless the settings say otherwise */
#define HORIZON_GROWTH_MAX 4096.0 /* how far beyond the file's horizon is looked */
#define HORIZON_MAX 1e12
#define PRECISION 1.05 /* of the slots that are needed */
#define FORMULA_MARGIN 1.2
#define SAMPLES_MAX 2e7 /* of votes, in all runs of a simulation */
#define PULLS_MAX 1e8   /* of logged rewards, drawn one by one in all runs of a simulation */
#define ACCURACY 0.5    /* of votes, as a part of the gap: within it they may stop at either arm */

/* What may be chosen over the file; all that fits its data and privacy is tried. */
struct offer {
    const char *protocol; /* with %g: the accuracy */
    const char *networks[3];
    bool counts_samples; /* its horizon counts the samples of all sites together */
    bool never_sure;     /* it names its best arm at any time, and never says that it is sure */
};

static const struct offer offers[] = {
    {.protocol = "{kind: phased-index}", .networks = {"{kind: star}"}},
    {.protocol = "{kind: phased-index, confidence: 0.95}", .networks = {"{kind: star}"}},
    {.protocol = "{kind: elimination, bounds: exact, confidence: 0.95}",
     .networks = {"{kind: star}", "{kind: complete}", "{kind: ring}"}},
    {.protocol = "{kind: elimination}",
     .networks = {"{kind: star}", "{kind: complete}", "{kind: ring}"}},
    {.protocol = "{kind: votes, epsilon: %g, votes: cheapest}",
     .networks = {"{kind: broadcast}"},
     .counts_samples = true},
    {.protocol = "{kind: gossip-ucb, release: doubling}",
     .networks = {"{kind: complete}", "{kind: ring}"},
     .never_sure = true},
};
#define OFFER_COUNT (sizeof offers / sizeof offers[0])
#define NETWORK_COUNT (sizeof offers[0].networks / sizeof offers[0].networks[0])
#define OFFERS_MAX (OFFER_COUNT * NETWORK_COUNT)
_Static_assert(OFFERS_MAX < TACIT_REPORT_CHOICES_MAX, "room for the file's own, too");

static const char *const weekdays[TACIT_WEEKDAYS] = {"Mon", "Tue", "Wed", "Thu",
                                                     "Fri", "Sat", "Sun"};

/* ---- One simulation -------------------------------------------------------------------------- */

struct outcome {
    bool ran;
    bool decides;
    double rounds, bytes, cost, regret;
};

static double metric_of(const json_t *root, const char *name)
{
    json_t const *const metric = json_object_get(json_object_get(root, "metrics"), name);
    json_t const *const mean = json_object_get(metric, "mean");
    return json_is_number(mean) ? json_number_value(mean) : NAN;
}

static struct outcome outcome_of(const json_t *root)
{
    bool const is_decided =
        json_is_true(json_object_get(json_object_get(root, "answer"), "decided"));
    return (struct outcome){.ran = json_object_get(root, "error") == NULL,
                            .decides = is_decided,
                            .rounds = metric_of(root, "rounds"),
                            .bytes = metric_of(root, "bytes"),
                            .cost = metric_of(root, "cost"),
                            .regret = metric_of(root, "regret")};
}

/* Once, and as soon as it shows: whoever waits wants to know for how long. */
static void announce(struct plan *plan, const struct tacit_report_choice *choice, double seconds)
{
    if (plan->has_announced || !plan->request.is_told || seconds < LONG_S)
        return;
    plan->has_announced = true;
    (void)fprintf(stderr,
                  "tacit plan: a simulation of %s took %.0f s, and a choice takes about ten of "
                  "them: this may take minutes; fewer --runs take less\n",
                  choice->protocol, seconds);
}

/* The file with a choice's protocol and network. */
struct trial {
    char own[3][TACIT_REPORT_SETTING_BYTES + 20];
    const char *settings[PLAN_SETTINGS_MAX + 8];
    uint32_t count;
};

/* The trial has pointers into itself and into the plan: neither moves. */
static void set_trial(struct trial *trial, const struct plan *plan,
                      const struct tacit_report_choice *choice, double horizon)
{
    memcpy(trial->settings, plan->settings, plan->setting_count * sizeof *plan->settings);
    trial->count = plan->setting_count;
    (void)snprintf(trial->own[0], sizeof trial->own[0], "protocol=%s", choice->protocol);
    (void)snprintf(trial->own[1], sizeof trial->own[1], "network=%s", choice->network);
    (void)snprintf(trial->own[2], sizeof trial->own[2], "horizon=%.0f", horizon * choice->samples);
    for (uint32_t i = 0; i < 3; i++)
        trial->settings[trial->count++] = trial->own[i];
    if (plan->extra != NULL)
        trial->settings[trial->count++] = plan->extra;
}

/* A horizon that is too short for the protocol did not run, and decides nothing. */
static enum tacit_status try_horizon(struct plan *plan, const struct tacit_report_choice *choice,
                                     double horizon, struct outcome *outcome)
{
    struct trial trial;
    struct tacit_error error = {""};
    double const begin = study_now_s();
    set_trial(&trial, plan, choice, horizon);
    trial.settings[trial.count++] = "checkpoints=2";
    struct grid_point point = {
        .file = plan->request.file,
        .rows = plan->rows,
        .settings = trial.settings,
        .setting_count = trial.count,
        .is_at_once = (double)plan->agent_count * horizon * plan->report.run_count > PULLS_MAX};
    enum tacit_status status = grid_point_run(
        &point, NULL, simulate_threads(plan->request.thread_count), plan->request.control, &error);
    if (status == TACIT_OK)
        status = grid_point_read(&point);
    if (status == TACIT_OK)
        *outcome = outcome_of(point.root);
    announce(plan, choice, study_now_s() - begin);
    point.settings = NULL; /* they are the trial's */
    grid_point_free(&point);
    return status;
}

/* ---- The slots that are needed --------------------------------------------------------------- */

/* Between a horizon that does not decide and one that does, until they are close. Ensures:
 * slots_needed. */
static enum tacit_status bisect(struct plan *plan, struct tacit_report_choice *choice, double below,
                                double above)
{
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(below >= 1);
    while (above > PRECISION * below && above - below > 1 && status == TACIT_OK) {
        double const middle = floor(sqrt(below * above) + 0.5);
        struct outcome outcome;
        status = try_horizon(plan, choice, middle, &outcome);
        if (status != TACIT_OK)
            break;
        if (outcome.ran && outcome.decides)
            above = middle;
        else
            below = middle;
    }
    choice->slots_needed = above;
    return status;
}

/* How far it is worth to look: samples of votes are drawn one by one. */
static double limit_of(const struct plan *plan, const struct tacit_report_choice *choice)
{
    double const limit = fmin((double)plan->report.horizon * HORIZON_GROWTH_MAX, HORIZON_MAX);
    return choice->samples > 1
               ? fmin(limit, SAMPLES_MAX / (choice->samples * (double)plan->report.run_count))
               : limit;
}

/* From the file's horizon down to one that does not decide, or up to one that does. */
static enum tacit_status find_slots(struct plan *plan, struct tacit_report_choice *choice)
{
    double const start = (double)plan->report.horizon;
    double const limit = limit_of(plan, choice);
    double horizon = start;
    double last = start; /* that does as the file's own: decides, or not */
    struct outcome outcome = {.ran = true, .decides = choice->decides};
    enum tacit_status status = TACIT_OK;
    while (status == TACIT_OK && outcome.decides == choice->decides) {
        last = horizon;
        horizon = choice->decides ? floor(horizon / 2) : horizon * 2;
        if (horizon < 1 || (!choice->decides && horizon > limit))
            break;
        status = try_horizon(plan, choice, horizon, &outcome);
        outcome.decides = outcome.ran && outcome.decides;
    }
    if (status != TACIT_OK)
        return status;
    if (choice->decides)
        return bisect(plan, choice, horizon < 1 ? 1 : horizon, last);
    choice->slots_needed = NAN;
    return horizon > limit ? TACIT_OK : bisect(plan, choice, last, horizon);
}

static bool load_trial(const struct plan *plan, const struct tacit_report_choice *choice,
                       double horizon, struct tacit_experiment *experiment)
{
    struct trial trial;
    struct tacit_error error = {""};
    set_trial(&trial, plan, choice, horizon);
    return tacit_experiment_load_for(experiment, TACIT_EXPERIMENT_RUNS, plan->rows,
                                     plan->request.file, trial.settings, trial.count,
                                     &error) == TACIT_OK;
}

/* What the formulas say of this choice, before anything is simulated. NaN: nothing. */
static void ask_formulas(const struct plan *plan, struct tacit_report_choice *choice)
{
    struct tacit_experiment experiment;
    if (!load_trial(plan, choice, (double)plan->report.horizon, &experiment))
        return;
    if (!choice->never_sure)
        choice->formula = forecast_slots(&experiment) / choice->samples;
    choice->regret_formula = plan->report.width * forecast_regret(&experiment);
    tacit_experiment_free(&experiment);
}

/* A protocol that does not fit the file's horizon: does it fit a longer one? */
static bool fits_later(const struct plan *plan, const struct tacit_report_choice *choice)
{
    struct tacit_experiment experiment;
    if (choice->never_sure || !load_trial(plan, choice, limit_of(plan, choice), &experiment))
        return false;
    tacit_experiment_free(&experiment);
    return true;
}

/* Simulation confirms the formula, or the search is begun anew. */
static enum tacit_status confirm(struct plan *plan, struct tacit_report_choice *choice)
{
    double const low = floor(choice->formula / FORMULA_MARGIN);
    double const high = ceil(choice->formula * FORMULA_MARGIN);
    struct outcome below = {0};
    struct outcome above = {0};
    if (isnan(choice->formula) || low < 1 || high > HORIZON_MAX || high > limit_of(plan, choice))
        return find_slots(plan, choice);
    TACIT_TRY(try_horizon(plan, choice, low, &below));
    TACIT_TRY(try_horizon(plan, choice, high, &above));
    if (above.ran && above.decides && !(below.ran && below.decides))
        return bisect(plan, choice, low, high);
    return find_slots(plan, choice);
}

/* The words of a protocol, with the accuracy in place of its %g. */
static void put_protocol(char *text, size_t size, const char *protocol, double accuracy)
{
    char const *const place = strstr(protocol, "%g");
    if (place == NULL)
        (void)snprintf(text, size, "%s", protocol);
    else
        (void)snprintf(text, size, "%.*s%.3g%s", (int)(place - protocol), protocol, accuracy,
                       place + 2);
}

static bool is_own(const struct plan *plan, const char *protocol, const char *network)
{
    return strcmp(plan->own.protocol, protocol) == 0 && strcmp(plan->own.network, network) == 0;
}

/* NaN: nothing says how many slots there are in a day. */
static double days_of(const struct plan *plan, double slots)
{
    return plan->report.traffic != NULL && isfinite(slots)
               ? tacit_traffic_days(plan->traffic, slots)
               : NAN;
}

/* `choice` has what is known before it is tried. */
static enum tacit_status try_choice(struct plan *plan, struct tacit_report_choice choice)
{
    struct outcome outcome;
    TACIT_ASSERT(plan->report.choice_count < TACIT_REPORT_CHOICES_MAX && choice.samples >= 1);
    choice.is_own = is_own(plan, choice.protocol, choice.network);
    choice.formula = choice.regret_formula = choice.slots_needed = NAN;
    enum tacit_status status = try_horizon(plan, &choice, (double)plan->report.horizon, &outcome);
    if (status != TACIT_OK || (!outcome.ran && !fits_later(plan, &choice)))
        return status;
    if (!outcome.ran)
        outcome = (struct outcome){.rounds = NAN, .bytes = NAN, .cost = NAN, .regret = NAN};
    choice.decides = outcome.decides && !choice.never_sure;
    choice.rounds = outcome.rounds;
    choice.bytes = outcome.bytes;
    choice.cost = outcome.cost;
    choice.regret = plan->report.width * outcome.regret;
    ask_formulas(plan, &choice);
    if (!choice.never_sure)
        status = confirm(plan, &choice);
    choice.days_needed = days_of(plan, choice.slots_needed);
    if (status == TACIT_OK)
        plan->choices[plan->report.choice_count++] = choice;
    return status;
}

static enum tacit_status try_offer(struct plan *plan, const struct offer *offer,
                                   const char *network)
{
    struct tacit_report_choice choice = {.network = network,
                                         .never_sure = offer->never_sure,
                                         .samples = offer->counts_samples ? plan->agent_count : 1};
    put_protocol(choice.protocol, sizeof choice.protocol, offer->protocol,
                 ACCURACY * plan->gap / plan->report.width);
    return try_choice(plan, choice);
}

/* Those that decide in time first, by regret; then by the slots they need. */
static int compare_choices(const void *left, const void *right)
{
    const struct tacit_report_choice *const a = left;
    const struct tacit_report_choice *const b = right;
    if (a->decides != b->decides)
        return a->decides ? -1 : 1;
    if (a->decides)
        return (a->regret > b->regret) - (a->regret < b->regret);
    double const x = isnan(a->slots_needed) ? INFINITY : a->slots_needed;
    double const y = isnan(b->slots_needed) ? INFINITY : b->slots_needed;
    return (x > y) - (x < y);
}

/* The file's own choice, where it is none of those that are offered. */
static enum tacit_status try_own(struct plan *plan)
{
    bool is_offered = plan->own.protocol[0] == '\0';
    for (size_t i = 0; i < OFFERS_MAX; i++) {
        char const *const network = offers[i / NETWORK_COUNT].networks[i % NETWORK_COUNT];
        is_offered = is_offered ||
                     (network != NULL && is_own(plan, offers[i / NETWORK_COUNT].protocol, network));
    }
    return is_offered ? TACIT_OK : try_choice(plan, plan->own);
}

static enum tacit_status try_all(struct plan *plan)
{
    enum tacit_status status = try_own(plan);
    for (size_t i = 0; i < OFFERS_MAX && status == TACIT_OK; i++) {
        const struct offer *const offer = &offers[i / NETWORK_COUNT];
        char const *const network = offer->networks[i % NETWORK_COUNT];
        if (network == NULL)
            continue;
        if (plan->request.is_shown)
            (void)fprintf(stderr, "\r\033[K%zu of %zu", i, OFFERS_MAX);
        status = try_offer(plan, offer, network);
    }
    if (plan->request.is_shown)
        (void)fprintf(stderr, "\r\033[K");
    qsort(plan->choices, plan->report.choice_count, sizeof plan->choices[0], compare_choices);
    return status;
}

/* The best choice that takes a second aggregator, as its family says, is tried with one, too. */
static enum tacit_status try_two(struct plan *plan)
{
    struct tacit_report_plan *const report = &plan->report;
    struct tacit_report_choice const *best = NULL;
    struct tacit_experiment experiment;
    struct outcome outcome = {.ran = false};
    enum tacit_status status = TACIT_OK;
    if (!isfinite(plan->epsilon) || plan->has_two)
        return TACIT_OK;
    plan->extra = "privacy.trust.aggregators=2";
    for (uint32_t i = 0; i < report->choice_count && best == NULL; i++)
        if (isfinite(plan->choices[i].regret) &&
            load_trial(plan, &plan->choices[i], (double)report->horizon, &experiment)) {
            best = &plan->choices[i];
            tacit_experiment_free(&experiment);
        }
    if (best != NULL) {
        report->two = *best;
        report->two.formula = NAN;
        ask_formulas(plan, &report->two);
        status = try_horizon(plan, best, (double)report->horizon, &outcome);
        report->two.regret = report->width * outcome.regret;
        report->best = outcome.ran ? best : NULL;
    }
    plan->extra = NULL;
    return status;
}

/* ---- What is told ---------------------------------------------------------------------------- */

/* "to tell 0.025 apart at epsilon 1 takes 107,000 slots a site (…); you have 20,000" */
static void write_sentence(const struct plan *plan, char text[FORECAST_BYTES])
{
    const struct tacit_report_choice *best = plan->report.choice_count == 0 ? NULL : plan->choices;
    for (uint32_t i = 1; i < plan->report.choice_count; i++)
        if (!(plan->choices[i].slots_needed >= best->slots_needed))
            best = isnan(plan->choices[i].slots_needed) ? best : &plan->choices[i];
    char how[200];
    char have[TACIT_REPORT_COUNT_BYTES];
    tacit_report_count_text(plan->report.horizon, have);
    if (best == NULL)
        (void)snprintf(text, FORECAST_BYTES, "no protocol that plan knows fits this file");
    else if (isnan(best->slots_needed))
        (void)snprintf(text, FORECAST_BYTES,
                       "to tell %.3g apart takes more than %g times the %s slots that you have",
                       plan->gap, HORIZON_GROWTH_MAX, have);
    else {
        tacit_report_choice_words(best, how, sizeof how);
        forecast_format(plan->gap, plan->epsilon, best->slots_needed, "slots a site", how,
                        plan->report.horizon, text);
    }
}

/* "24,304 slots: about 21 days at the traffic of these rows, by weekday: Monday 1210, ..." */
static void write_days(const struct plan *plan, char text[FORECAST_BYTES])
{
    double least = NAN;
    for (uint32_t i = 0; i < plan->report.choice_count; i++)
        least = fmin(least, plan->choices[i].slots_needed);
    double const days = days_of(plan, least);
    struct tacit_text list = tacit_text_init(text, FORECAST_BYTES);
    char part[120];
    char slots[TACIT_REPORT_COUNT_BYTES];
    if (!isfinite(days))
        return;
    tacit_report_count_text((uint64_t)least, slots);
    (void)snprintf(part, sizeof part,
                   "%s slots: about %.0f day%s at the traffic of these rows, by weekday:", slots,
                   days, days > 1 ? "s" : "");
    tacit_text_add(&list, part);
    for (uint32_t i = 0; i < TACIT_WEEKDAYS; i++) {
        (void)snprintf(part, sizeof part, "%s %s %.4g", i == 0 ? "" : ",", weekdays[i],
                       plan->traffic[i]);
        tacit_text_add(&list, part);
    }
    tacit_text_add(&list, " a site");
}

enum tacit_status plan_search(struct plan *plan)
{
    struct tacit_experiment rows;
    struct tacit_error ignored = {""};
    TACIT_ASSERT(plan->report.choices == plan->choices && plan->report.choice_count == 0);
    enum tacit_status status =
        tacit_experiment_load_for(&rows, TACIT_EXPERIMENT_ROWS, NULL, plan->request.file,
                                  plan->settings, plan->setting_count, &ignored);
    plan->rows = status == TACIT_OK ? &rows : NULL;
    status = try_all(plan);
    if (status == TACIT_OK)
        status = try_two(plan);
    if (plan->rows != NULL)
        tacit_experiment_free(&rows);
    plan->rows = NULL;
    write_sentence(plan, plan->report.sentence);
    write_days(plan, plan->report.days);
    return status;
}

/* ---- What is to be told apart ---------------------------------------------------------------- */

/* *horizon: the file's. A file whose own protocol needs more slots than it has is planned for all
 * the same: how many it takes is what plan is asked. */
static enum tacit_status load(struct plan *plan, struct tacit_experiment *experiment,
                              struct tacit_error *error)
{
    char const *const file = plan->request.file;
    enum tacit_status const status =
        tacit_experiment_load(experiment, file, plan->settings, plan->setting_count, error);
    if (status != TACIT_INVALID) {
        plan->report.horizon = status == TACIT_OK ? experiment->config->horizon : 0;
        return status;
    }
    struct tacit_config *config;
    struct tacit_error ignored = {""};
    char longer[64];
    if (tacit_config_load(&config, file, plan->settings, plan->setting_count, tacit_family_files(),
                          &ignored) != TACIT_OK)
        return status;
    plan->report.horizon = config->horizon;
    (void)snprintf(longer, sizeof longer, "horizon=%.0f",
                   fmin((double)config->horizon * HORIZON_GROWTH_MAX, HORIZON_MAX));
    tacit_config_free(config);
    plan->settings[plan->setting_count] = longer; /* beyond the count: void after this */
    return tacit_experiment_load(experiment, file, plan->settings, plan->setting_count + 1,
                                 &ignored) == TACIT_OK
               ? TACIT_OK
               : status;
}

static void copy_traffic(struct plan *plan, const struct tacit_experiment *experiment)
{
    struct tacit_log const *const log = tacit_experiment_log(experiment);
    if (log != NULL)
        memcpy(plan->traffic, log->traffic, sizeof plan->traffic);
    for (uint32_t i = 0; i < TACIT_WEEKDAYS; i++)
        if (plan->traffic[i] > 0)
            plan->report.traffic = plan->traffic;
}

/* What rewards may be, by the file or by its rows; 0 to 1 where nothing else is said. */
static void find_range(const struct tacit_experiment *experiment, double *lo, double *hi)
{
    struct tacit_log const *const log = tacit_experiment_log(experiment);
    *lo = experiment->config->has_range ? experiment->config->lo : 0;
    *hi = experiment->config->has_range ? experiment->config->hi : 1;
    if (experiment->config->has_range || log == NULL)
        return;
    for (uint32_t i = 0; i < log->start[(size_t)log->agent_count * log->arm_count]; i++) {
        *lo = fmin(*lo, log->rewards[i]);
        *hi = fmax(*hi, log->rewards[i]);
    }
}

/* The environment of a gap: as many arms as the file has, the best of them as good as its best one,
 * of rewards that are 0 or 1: the ends of the file's range. */
static enum tacit_status make_apart(struct plan *plan, const struct tacit_experiment *experiment,
                                    struct tacit_error *error)
{
    uint32_t const arms = experiment->sim.env.arm_count;
    double best = -INFINITY;
    double lo;
    double hi;
    find_range(experiment, &lo, &hi);
    double const width = plan->report.width = hi - lo;
    double const part = plan->request.gap / width;
    if (arms < 2) {
        (void)snprintf(error->text, sizeof error->text, "tacit plan: --gap: this file has no arms");
        return TACIT_INVALID;
    }
    if (plan->request.gap > width) {
        (void)snprintf(
            error->text, sizeof error->text,
            "tacit plan: --gap: '%g' is not allowed; allowed: a number above 0 and up to "
            "%g, as rewards are from %g to %g",
            plan->request.gap, width, lo, hi);
        return TACIT_INVALID;
    }
    for (uint32_t arm = 0; experiment->global_means != NULL && arm < arms; arm++)
        best = fmax(best, (experiment->global_means[arm] - lo) / width);
    best = experiment->global_means == NULL ? 0.5 + part / 2 : fmin(fmax(best, part), 1);
    (void)snprintf(plan->apart, sizeof plan->apart,
                   "environment={kind: bernoulli, generated: {arms: %u, draw: apart, best: %.17g, "
                   "gap: %.17g}}",
                   arms, best, part);
    plan->report.has_range = experiment->config->has_range;
    return TACIT_OK;
}

/* What stands in for the file's environment, and for the range of its rewards. */
static enum tacit_status set_gap(struct plan *plan, struct tacit_error *error)
{
    struct tacit_experiment experiment;
    TACIT_TRY(load(plan, &experiment, error));
    copy_traffic(plan, &experiment);
    enum tacit_status status = make_apart(plan, &experiment, error);
    tacit_experiment_free(&experiment);
    plan->report.instance = plan->apart;
    plan->settings[plan->setting_count++] = plan->apart;
    if (plan->report.has_range)
        plan->settings[plan->setting_count++] = TACIT_REPORT_UNIT_RANGE;
    return status;
}

/* A section of the file on one line. False: it is longer than there is room. */
static bool put_section(const struct tacit_experiment *experiment, const char *key,
                        const char *otherwise, char text[TACIT_REPORT_SETTING_BYTES])
{
    char *const value = tacit_config_value(experiment->config, key);
    int const length =
        snprintf(text, TACIT_REPORT_SETTING_BYTES, "%s", value == NULL ? otherwise : value);
    free(value);
    return length > 0 && length < (int)TACIT_REPORT_SETTING_BYTES;
}

/* Protocols with a formula for it come to an end; samples of votes are counted over all sites. */
static void find_own(struct plan *plan, const struct tacit_experiment *experiment)
{
    struct tacit_report_choice *const own = &plan->own;
    bool const is_known = put_section(experiment, "protocol", "", own->protocol) &&
                          put_section(experiment, "network", "{kind: star}", plan->own_network);
    if (!is_known)
        own->protocol[0] = '\0';
    own->network = plan->own_network;
    own->samples = experiment->family->forecast_unit != NULL ? plan->agent_count : 1;
    own->never_sure = experiment->family->forecast == NULL;
}

/* What is to be told apart: the best arm from the next one. */
static enum tacit_status find_gap(struct plan *plan, struct tacit_error *error)
{
    struct tacit_experiment experiment;
    struct tacit_report_plan *const report = &plan->report;
    TACIT_TRY(load(plan, &experiment, error));
    uint32_t const arms = experiment.sim.env.arm_count;
    report->run_count = experiment.sim.run_count;
    (void)snprintf(plan->name, sizeof plan->name, "%s", experiment.config->name);
    plan->agent_count = experiment.config->agent_count;
    plan->epsilon =
        experiment.config->privacy == TACIT_PRIVACY_NONE ? INFINITY : experiment.config->epsilon;
    plan->gap = report->width * forecast_gap(&experiment);
    plan->has_two = experiment.config->floor_milli != TACIT_ONE_AGGREGATOR;
    find_own(plan, &experiment);
    copy_traffic(plan, &experiment);
    memcpy(plan->remark, experiment.remark, sizeof plan->remark);
    report->remark = plan->remark[0] == '\0' ? NULL : plan->remark;
    bool const has_units = experiment.config->unit_rewards > 0;
    bool const has_instance = experiment.global_means != NULL && arms >= 2;
    tacit_experiment_free(&experiment);
    char const *const wrong =
        has_units ? "privacy.unit: the people of the rows do not last for the horizons that are "
                    "tried; plan without it"
        : !has_instance    ? "every run has its own means here, so there is nothing to tell apart; "
                             "allowed: means, logged rows, an instance_seed, or --gap"
        : !(plan->gap > 0) ? "two arms share the best mean; nothing tells them apart; allowed: "
                             "--gap, the gap that matters"
                           : NULL;
    if (wrong != NULL)
        (void)snprintf(error->text, sizeof error->text, "tacit plan: %s", wrong);
    return wrong == NULL ? TACIT_OK : TACIT_INVALID;
}

enum tacit_status plan_begin(struct plan *plan, const struct plan_request *request,
                             struct tacit_error *error)
{
    *plan = (struct plan){.request = *request, .settings = {RUNS}, .setting_count = 1};
    TACIT_ASSERT(request->setting_count <= PLAN_SETTINGS_MAX);
    for (uint32_t i = 0; i < request->setting_count; i++)
        plan->settings[plan->setting_count++] = request->settings[i];
    plan->report = (struct tacit_report_plan){.name = plan->name,
                                              .file = request->file,
                                              .version = TACIT_VERSION,
                                              .width = 1,
                                              .choices = plan->choices};
    TACIT_TRY(request->gap > 0 ? set_gap(plan, error) : TACIT_OK);
    return find_gap(plan, error);
}

/* tacit plan: which protocol over which network tells the arms of a file apart, in how many slots,
 * and what that costs. A formula says where to look for the slots; every other number is
 * simulated: the runs of `tacit run` with the settings that stand beside it. */
#include "arguments.h"
#include "../src/study/grid_point.h"
#include "commands.h"
#include "../src/study/forecast.h"
#include "../src/study/now.h"
#include "../src/study/simulate.h"
#include "tacit/bounds.h"
#include "tacit/data.h"
#include "tacit/family.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNIT_RANGE "privacy.range=[0, 1]"
#define LONG_S 2.0      /* a simulation that takes so long is announced: a choice takes about ten */
#define RUNS "runs=100" /* unless the words say otherwise */
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
#define WORDS_BYTES 400u
#define OFFER_COUNT (sizeof offers / sizeof offers[0])
#define NETWORK_COUNT (sizeof offers[0].networks / sizeof offers[0].networks[0])
#define OFFERS_MAX (OFFER_COUNT * NETWORK_COUNT)
#define PLANS_MAX (OFFERS_MAX + 1) /* and the file's own */

static const char *const weekdays[TACIT_WEEKDAYS] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                     "Friday", "Saturday", "Sunday"};

struct plan {
    char protocol[WORDS_BYTES];
    const char *network;
    bool is_own; /* the file's own */
    bool never_sure;
    double samples;        /* of its horizon in a slot of a site: 1, or the number of sites */
    bool decides;          /* at the file's horizon */
    double formula;        /* the least slots in which it decides, by formula; NaN: there is none */
    double regret_formula; /* at the file's horizon; NaN: there is none */
    double slots_needed;   /* and by simulation; NaN: none that was looked at */
    double rounds, bytes, cost, regret; /* at the file's horizon; NaN: it has no such number */
};

/* What the file has chosen itself, as it would be written on one line. */
struct own {
    char protocol[WORDS_BYTES];
    char network[WORDS_BYTES];
    bool counts_samples;
    bool never_sure;
    bool is_known; /* false: longer than a line, and not told */
};

/* One file, and what is tried over it. */
struct search {
    const struct arguments *request;
    uint32_t run_count;
    struct tacit_sim_control *control;
    uint64_t horizon;
    uint32_t agent_count;
    double gap;
    double epsilon;
    bool has_two;    /* the file's own aggregators */
    char apart[160]; /* the setting of --gap */
    bool has_range;  /* and UNIT_RANGE beside it */
    double width;    /* of the rewards' range, in whose unit gap and regret are told; else 1 */
    struct own own;  /* the file's own protocol */
    bool has_announced;
    const char *extra;       /* one more setting; NULL: none */
    const struct plan *best; /* that takes a second aggregator; NULL: none, or the file has two */
    struct plan two;         /* the same with two */
    char remark[sizeof((struct tacit_experiment *)0)->remark]; /* of the file's data */
    char name[100];                                            /* of the experiment */
    struct plan plans[PLANS_MAX];
    uint32_t plan_count;
    double traffic[TACIT_WEEKDAYS]; /* of the file's rows; all 0: nothing says when they were */
    bool stopped;
};

/* ---- The words ------------------------------------------------------------------------------- */

struct request {
    struct arguments arguments;
    double gap; /* 0: that of the file's means */
};

static double gap_of(const struct command *command, const char *text)
{
    char *end;
    double const value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0) || !isfinite(value))
        command_refuse(command,
                       "--gap: '%s' is not allowed; allowed: a number above 0, in the unit of the "
                       "rewards",
                       text);
    return value;
}

static void take(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'g') {
        request->gap = gap_of(command, value);
        return;
    }
    arguments_take_file(command, &request->arguments, key, value);
    if (key == COMMAND_WORD && strcmp(value, "-") == 0)
        command_refuse(command, "the file is read often, standard input once; allowed: a file");
}

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
static void announce(struct search *search, const struct plan *plan, double seconds)
{
    if (search->has_announced || search->request->quiet || seconds < LONG_S)
        return;
    search->has_announced = true;
    (void)fprintf(stderr,
                  "tacit plan: a simulation of %s took %.0f s, and a choice takes about ten of "
                  "them: this may take minutes; fewer --runs take less\n",
                  plan->protocol, seconds);
}

/* A horizon that is too short for the protocol did not run, and decides nothing. */
static enum tacit_status try_horizon(struct search *search, const struct plan *plan, double horizon,
                                     struct outcome *outcome)
{
    struct arguments const *const request = search->request;
    char words[3][WORDS_BYTES + 20];
    struct tacit_error error = {""};
    struct grid_point cell = {.file = request->file};
    cell.settings = calloc(request->setting_count + (size_t)6, sizeof *cell.settings);
    cell.label = strdup("");
    if (cell.settings == NULL || cell.label == NULL) {
        grid_point_free(&cell);
        return TACIT_MEMORY;
    }
    cell.settings[cell.setting_count++] = RUNS;
    for (uint32_t i = 0; i < request->setting_count; i++)
        cell.settings[cell.setting_count++] = request->settings[i];
    (void)snprintf(words[0], sizeof words[0], "protocol=%s", plan->protocol);
    (void)snprintf(words[1], sizeof words[1], "network=%s", plan->network);
    (void)snprintf(words[2], sizeof words[2], "horizon=%.0f", horizon * plan->samples);
    for (uint32_t i = 0; i < 3; i++)
        cell.settings[cell.setting_count++] = words[i];
    cell.settings[cell.setting_count++] = "checkpoints=2";
    if (search->extra != NULL)
        cell.settings[cell.setting_count++] = search->extra;
    double const begin = study_now_s();
    cell.is_at_once = (double)search->agent_count * horizon * search->run_count > PULLS_MAX;
    enum tacit_status status = grid_point_run(&cell, NULL, simulate_threads(request->thread_count),
                                              search->control, &error);
    if (status == TACIT_OK)
        status = grid_point_read(&cell);
    if (status == TACIT_OK)
        *outcome = outcome_of(cell.root);
    announce(search, plan, study_now_s() - begin);
    grid_point_free(&cell);
    return status;
}

/* ---- The slots that are needed --------------------------------------------------------------- */

/* Between a horizon that does not decide and one that does. */
static enum tacit_status bisect(struct search *search, struct plan *plan, double below,
                                double above)
{
    enum tacit_status status = TACIT_OK;
    while (above > PRECISION * below && above - below > 1 && status == TACIT_OK) {
        double const middle = floor(sqrt(below * above) + 0.5);
        struct outcome outcome;
        status = try_horizon(search, plan, middle, &outcome);
        if (status != TACIT_OK)
            break;
        if (outcome.ran && outcome.decides)
            above = middle;
        else
            below = middle;
    }
    plan->slots_needed = above;
    return status;
}

/* How far it is worth to look: samples of votes are drawn one by one. */
static double limit_of(const struct search *search, const struct plan *plan)
{
    double const limit = fmin((double)search->horizon * HORIZON_GROWTH_MAX, HORIZON_MAX);
    return plan->samples > 1
               ? fmin(limit, SAMPLES_MAX / (plan->samples * (double)search->run_count))
               : limit;
}

/* From the file's horizon down to one that does not decide, or up to one that does. */
static enum tacit_status find_slots(struct search *search, struct plan *plan)
{
    double const start = (double)search->horizon;
    double const limit = limit_of(search, plan);
    double horizon = start;
    struct outcome outcome = {.ran = true, .decides = plan->decides};
    enum tacit_status status = TACIT_OK;
    while (status == TACIT_OK && outcome.decides == plan->decides) {
        horizon = plan->decides ? floor(horizon / 2) : horizon * 2;
        if (horizon < 1 || (!plan->decides && horizon > limit))
            break;
        status = try_horizon(search, plan, horizon, &outcome);
        outcome.decides = outcome.ran && outcome.decides;
    }
    if (status != TACIT_OK)
        return status;
    if (plan->decides)
        return bisect(search, plan, horizon < 1 ? 1 : horizon, 2 * horizon);
    plan->slots_needed = NAN;
    return horizon > limit ? TACIT_OK : bisect(search, plan, horizon / 2, horizon);
}

/* The file with the plan's protocol and network. */
static bool load_plan(const struct search *search, const struct plan *plan, double horizon,
                      struct tacit_experiment *experiment)
{
    struct arguments const *const request = search->request;
    const char *settings[ARGUMENTS_SETTINGS_MAX + 5] = {RUNS};
    uint32_t const count = request->setting_count + (search->extra != NULL ? 5 : 4);
    char words[3][WORDS_BYTES + 20];
    struct tacit_error error = {""};
    memcpy(settings + 1, request->settings, request->setting_count * sizeof *settings);
    (void)snprintf(words[0], sizeof words[0], "protocol=%s", plan->protocol);
    (void)snprintf(words[1], sizeof words[1], "network=%s", plan->network);
    (void)snprintf(words[2], sizeof words[2], "horizon=%.0f", horizon * plan->samples);
    for (uint32_t i = 0; i < 3; i++)
        settings[request->setting_count + 1 + i] = words[i];
    settings[request->setting_count + 4] = search->extra;
    return tacit_experiment_load(experiment, request->file, settings, count, &error) == TACIT_OK;
}

/* What the formulas say of this plan, before anything is simulated. NaN: nothing. */
static void ask_formulas(const struct search *search, struct plan *plan)
{
    struct tacit_experiment experiment;
    if (!load_plan(search, plan, (double)search->horizon, &experiment))
        return;
    if (!plan->never_sure)
        plan->formula = forecast_slots(&experiment) / plan->samples;
    plan->regret_formula = search->width * forecast_regret(&experiment);
    tacit_experiment_free(&experiment);
}

/* A protocol that does not fit the file's horizon: does it fit a longer one? */
static bool fits_later(const struct search *search, const struct plan *plan)
{
    struct tacit_experiment experiment;
    if (plan->never_sure || !load_plan(search, plan, limit_of(search, plan), &experiment))
        return false;
    tacit_experiment_free(&experiment);
    return true;
}

/* Simulation confirms the formula, or the search is begun anew. */
static enum tacit_status confirm(struct search *search, struct plan *plan)
{
    double const low = floor(plan->formula / FORMULA_MARGIN);
    double const high = ceil(plan->formula * FORMULA_MARGIN);
    struct outcome below = {0};
    struct outcome above = {0};
    if (isnan(plan->formula) || low < 1 || high > HORIZON_MAX || high > limit_of(search, plan))
        return find_slots(search, plan);
    enum tacit_status status = try_horizon(search, plan, low, &below);
    if (status == TACIT_OK)
        status = try_horizon(search, plan, high, &above);
    if (status != TACIT_OK)
        return status;
    if (above.ran && above.decides && !(below.ran && below.decides))
        return bisect(search, plan, low, high);
    return find_slots(search, plan);
}

/* The words of a protocol, with the accuracy in place of its %g. */
static void put_words(char *text, size_t size, const char *protocol, double accuracy)
{
    char const *const place = strstr(protocol, "%g");
    if (place == NULL)
        (void)snprintf(text, size, "%s", protocol);
    else
        (void)snprintf(text, size, "%.*s%.3g%s", (int)(place - protocol), protocol, accuracy,
                       place + 2);
}

static bool is_own(const struct search *search, const char *protocol, const char *network)
{
    return strcmp(search->own.protocol, protocol) == 0 && strcmp(search->own.network, network) == 0;
}

static enum tacit_status try_plan(struct search *search, const struct offer *offer,
                                  const char *network)
{
    struct plan plan = {.network = network,
                        .is_own = is_own(search, offer->protocol, network),
                        .never_sure = offer->never_sure,
                        .samples = offer->counts_samples ? search->agent_count : 1,
                        .formula = NAN,
                        .regret_formula = NAN,
                        .slots_needed = NAN};
    struct outcome outcome;
    put_words(plan.protocol, sizeof plan.protocol, offer->protocol,
              ACCURACY * search->gap / search->width);
    enum tacit_status status = try_horizon(search, &plan, (double)search->horizon, &outcome);
    if (status != TACIT_OK || (!outcome.ran && !fits_later(search, &plan)))
        return status;
    if (!outcome.ran)
        outcome = (struct outcome){.rounds = NAN, .bytes = NAN, .cost = NAN, .regret = NAN};
    plan.decides = outcome.decides && !plan.never_sure;
    plan.rounds = outcome.rounds;
    plan.bytes = outcome.bytes;
    plan.cost = outcome.cost;
    plan.regret = search->width * outcome.regret;
    ask_formulas(search, &plan);
    if (!plan.never_sure)
        status = confirm(search, &plan);
    if (status == TACIT_OK)
        search->plans[search->plan_count++] = plan;
    return status;
}

/* Those that decide in time first, by regret; then by the slots they need. */
static int compare_plans(const void *left, const void *right)
{
    const struct plan *const a = left;
    const struct plan *const b = right;
    if (a->decides != b->decides)
        return a->decides ? -1 : 1;
    if (a->decides)
        return (a->regret > b->regret) - (a->regret < b->regret);
    double const x = isnan(a->slots_needed) ? INFINITY : a->slots_needed;
    double const y = isnan(b->slots_needed) ? INFINITY : b->slots_needed;
    return (x > y) - (x < y);
}

/* The file's own choice, where it is none of those that are offered. */
static enum tacit_status try_own(struct search *search)
{
    struct own const *const own = &search->own;
    bool is_offered = !own->is_known;
    for (size_t i = 0; i < OFFERS_MAX; i++) {
        char const *const network = offers[i / NETWORK_COUNT].networks[i % NETWORK_COUNT];
        is_offered = is_offered || (network != NULL &&
                                    is_own(search, offers[i / NETWORK_COUNT].protocol, network));
    }
    struct offer const offer = {.protocol = own->protocol,
                                .counts_samples = own->counts_samples,
                                .never_sure = own->never_sure};
    return is_offered ? TACIT_OK : try_plan(search, &offer, own->network);
}

static enum tacit_status try_all(struct search *search)
{
    enum tacit_status status = try_own(search);
    for (size_t i = 0; i < OFFERS_MAX && status == TACIT_OK; i++) {
        const struct offer *const offer = &offers[i / NETWORK_COUNT];
        char const *const network = offer->networks[i % NETWORK_COUNT];
        if (network == NULL)
            continue;
        if (!search->request->quiet && isatty(STDERR_FILENO))
            (void)fprintf(stderr, "\r\033[K%zu of %zu", i, OFFERS_MAX);
        status = try_plan(search, offer, network);
    }
    if (!search->request->quiet && isatty(STDERR_FILENO))
        (void)fprintf(stderr, "\r\033[K");
    qsort(search->plans, search->plan_count, sizeof search->plans[0], compare_plans);
    return status;
}

/* ---- What is told ---------------------------------------------------------------------------- */

/* "phased-index, confidence 0.95, over star" */
static void name_plan(const struct plan *plan, char *text, size_t size)
{
    char *const protocol = tacit_report_setting_words(plan->protocol);
    char *const network = tacit_report_setting_words(plan->network);
    (void)snprintf(text, size, "%s%s over %s", protocol == NULL ? "" : protocol,
                   protocol != NULL && strchr(protocol, ',') != NULL ? "," : "",
                   network == NULL ? "" : network);
    free(protocol);
    free(network);
}

/* "to tell 0.025 apart at epsilon 1 takes 107,000 slots a site (…); you have 20,000" */
static void say(const struct search *search, char text[FORECAST_BYTES], size_t size)
{
    const struct plan *best = search->plan_count == 0 ? NULL : &search->plans[0];
    for (uint32_t i = 1; i < search->plan_count; i++)
        if (!(search->plans[i].slots_needed >= best->slots_needed))
            best = isnan(search->plans[i].slots_needed) ? best : &search->plans[i];
    char how[200];
    char have[TACIT_REPORT_COUNT_BYTES];
    tacit_report_count_text(search->horizon, have);
    if (best == NULL)
        (void)snprintf(text, size, "no protocol that plan knows fits this file");
    else if (isnan(best->slots_needed))
        (void)snprintf(text, size,
                       "to tell %.3g apart takes more than %g times the %s slots that you have",
                       search->gap, HORIZON_GROWTH_MAX, have);
    else {
        name_plan(best, how, sizeof how);
        forecast_say(search->gap, search->epsilon, best->slots_needed, "slots a site", how,
                     search->horizon, text);
    }
}

/* NaN: nothing says how many slots there are in a day. */
static double days_of(const struct search *search, double slots)
{
    bool has_traffic = false;
    for (uint32_t i = 0; i < TACIT_WEEKDAYS; i++)
        has_traffic = has_traffic || search->traffic[i] > 0;
    return has_traffic && isfinite(slots) ? tacit_traffic_days(search->traffic, slots) : NAN;
}

/* "24,304 slots: about 21 days at the traffic of these rows, by weekday: Monday 1210, ..." */
static void say_days(const struct search *search, char text[FORECAST_BYTES])
{
    double least = NAN;
    for (uint32_t i = 0; i < search->plan_count; i++)
        least = fmin(least, search->plans[i].slots_needed);
    double const days = days_of(search, least);
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
        (void)snprintf(part, sizeof part, "%s %.3s %.4g", i == 0 ? "" : ",", weekdays[i],
                       search->traffic[i]);
        tacit_text_add(&list, part);
    }
    tacit_text_add(&list, " a site");
}

static json_t *number_json(double value)
{
    if (!isfinite(value))
        return json_null();
    return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

/* The value of "kind: " in the words of a map. */
static json_t *kind_json(const char *words)
{
    char const *const kind = strstr(words, "kind: ") + strlen("kind: ");
    return json_stringn(kind, strcspn(kind, ",}"));
}

static json_t *plan_json(const struct search *search, const struct plan *plan)
{
    double const days = days_of(search, plan->slots_needed);
    json_t *const object =
        json_pack("{s:o, s:o, s:b, s:{s:s, s:s}, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o}",
                  "protocol", kind_json(plan->protocol), "network", kind_json(plan->network), "own",
                  plan->is_own, "settings", "protocol", plan->protocol, "network", plan->network,
                  "horizon_formula", number_json(plan->formula * plan->samples), "horizon_needed",
                  number_json(plan->slots_needed * plan->samples), "slots_needed",
                  number_json(plan->slots_needed), "decides", plan->decides, "rounds",
                  number_json(plan->rounds), "bytes", number_json(plan->bytes), "cost",
                  number_json(plan->cost), "regret", number_json(plan->regret), "regret_formula",
                  number_json(plan->regret_formula));
    if (isfinite(days))
        (void)json_object_set_new(object, "days_needed", number_json(days));
    return object;
}

/* NULL: nothing says when rows were logged. */
static json_t *traffic_json(const struct search *search)
{
    if (isnan(days_of(search, 0)))
        return NULL;
    json_t *const object = json_object();
    for (uint32_t i = 0; i < TACIT_WEEKDAYS; i++)
        (void)json_object_set_new(object, weekdays[i], number_json(search->traffic[i]));
    return object;
}

/* What a second aggregator saves; NULL: none was tried. */
static json_t *two_json(const struct search *search)
{
    struct plan const *const best = search->best;
    struct plan const *const two = &search->two;
    if (best == NULL)
        return NULL;
    return json_pack("{s:o, s:{s:s, s:s}, s:o, s:o, s:o, s:o}", "protocol",
                     kind_json(best->protocol), "settings", "protocol", best->protocol, "network",
                     best->network, "regret", number_json(two->regret), "regret_of_one",
                     number_json(best->regret), "horizon_formula",
                     number_json(two->formula * best->samples), "horizon_formula_of_one",
                     number_json(best->formula * best->samples));
}

/* One object with a line feed at its end, to be given to free(). NULL: no memory. */
static char *plans_json(const struct search *search, const char *sentence, const char *days)
{
    json_t *const plans = json_array();
    for (uint32_t i = 0; i < search->plan_count; i++)
        (void)json_array_append_new(plans, plan_json(search, &search->plans[i]));
    json_t *const root = json_pack(
        "{s:o, s:o, s:s, s:s*, s:s*, s:s*, s:o*, s:o*}", "plans", plans, "horizon",
        json_integer((json_int_t)search->horizon), "sentence", sentence, "instance",
        search->apart[0] == '\0' ? NULL : search->apart, "remark",
        search->remark[0] == '\0' ? NULL : search->remark, "days", days[0] == '\0' ? NULL : days,
        "traffic", traffic_json(search), "two_aggregators", two_json(search));
    char *const object = root == NULL ? NULL : json_dumps(root, JSON_INDENT(1));
    char *text = NULL;
    if (object != NULL && asprintf(&text, "%s\n", object) < 0)
        text = NULL;
    free(object);
    json_decref(root);
    return text;
}

/* The best choice whose hub only adds up is tried with a second aggregator, too. */
static enum tacit_status try_two(struct search *search)
{
    struct outcome outcome = {.ran = false};
    for (uint32_t i = 0; i < search->plan_count && search->best == NULL; i++) {
        const struct plan *const plan = &search->plans[i];
        bool const adds_up = strstr(plan->protocol, "phased-index") != NULL ||
                             strstr(plan->protocol, "bounds: exact") != NULL;
        if (adds_up && strcmp(plan->network, "{kind: star}") == 0 && isfinite(plan->regret))
            search->best = plan;
    }
    if (search->best == NULL || !isfinite(search->epsilon) || search->has_two) {
        search->best = NULL;
        return TACIT_OK;
    }
    search->extra = "privacy.trust.aggregators=2";
    search->two = *search->best;
    search->two.formula = NAN;
    ask_formulas(search, &search->two);
    enum tacit_status const status =
        try_horizon(search, search->best, (double)search->horizon, &outcome);
    search->extra = NULL;
    search->two.regret = search->width * outcome.regret;
    if (status != TACIT_OK || !outcome.ran)
        search->best = NULL; /* paper mode, say: it is another file */
    return status;
}

static void print_two(const struct search *search)
{
    (void)printf("A second aggregator, operated by somebody else (privacy.trust.aggregators=2): "
                 "%s loses %.1f in place of %.1f",
                 search->best->protocol, search->two.regret, search->best->regret);
    if (isfinite(search->two.formula) && isfinite(search->best->formula))
        (void)printf(", and by formula needs %.0f slots in place of %.0f", search->two.formula,
                     search->best->formula);
    (void)printf(".\n");
}

static void print_number(double value, int width, int places)
{
    if (isfinite(value))
        (void)printf(" %*.*f", width, places, value);
    else
        (void)printf(" %*s", width, "-");
}

static void print_table(const struct search *search, const char *sentence, const char *days)
{
    bool has_unsure = false;
    bool has_own = false;
    (void)printf("%s\n", sentence);
    if (days[0] != '\0')
        (void)printf("%s\n", days);
    if (search->remark[0] != '\0')
        (void)printf("data: %s\n", search->remark);
    (void)printf("\n%-52s %-18s %12s %12s %8s %12s %10s %12s\n", "protocol", "network",
                 "by formula", "slots needed", "rounds", "bytes", "cost", "regret");
    for (uint32_t i = 0; i < search->plan_count; i++) {
        const struct plan *const plan = &search->plans[i];
        (void)printf("%-52s %-18s", plan->protocol, plan->network);
        print_number(plan->formula, 12, 0);
        print_number(plan->slots_needed, 12, 0);
        print_number(plan->rounds, 8, 1);
        print_number(plan->bytes, 12, 0);
        print_number(plan->cost, 10, 0);
        print_number(plan->regret, 12, 1);
        has_unsure = has_unsure || plan->never_sure;
        has_own = has_own || plan->is_own;
        (void)fputs(plan->is_own ? " *\n" : "\n", stdout);
    }
    (void)printf(
        "\nRounds, bytes, cost and regret at the file's horizon of %llu slots; means of %u "
        "runs. Slots needed:\nthe horizon at which 95 %% of the runs decide, to within "
        "5 %%. Run one: tacit run %s --set protocol=... --set network=...",
        (unsigned long long)search->horizon, search->run_count, search->request->file);
    if (search->apart[0] != '\0')
        (void)printf(" --set \"%s\"%s", search->apart,
                     search->has_range ? " --set \"" UNIT_RANGE "\"" : "");
    (void)putchar('\n');
    if (search->width < 1 || search->width > 1)
        (void)printf("With --gap a reward is one of the two ends of the range; a run as above has "
                     "them at 0 and 1, and its\nregret is %g times the one above.\n",
                     1 / search->width);
    if (search->best != NULL)
        print_two(search);
    if (has_own)
        (void)printf("* the file's own protocol and network\n");
    if (has_unsure)
        (void)printf(
            "gossip-ucb learns all the time and never says that it is sure: it has no slots "
            "that it needs.\n");
}

/* ---- The command ----------------------------------------------------------------------------- */

/* *horizon: the file's. A file whose own protocol needs more slots than it has is planned for all
 * the same: how many it takes is what plan is asked. */
static enum tacit_status load(const struct arguments *request, struct tacit_experiment *experiment,
                              uint64_t *horizon, struct tacit_error *error)
{
    const char *settings[ARGUMENTS_SETTINGS_MAX + 2] = {RUNS};
    uint32_t const count = request->setting_count + 1;
    memcpy(settings + 1, request->settings, request->setting_count * sizeof *settings);
    enum tacit_status const status =
        tacit_experiment_load(experiment, request->file, settings, count, error);
    if (status != TACIT_INVALID) {
        *horizon = status == TACIT_OK ? experiment->config->horizon : 0;
        return status;
    }
    struct tacit_config *config;
    struct tacit_error ignored = {""};
    char longer[64];
    if (tacit_config_load(&config, request->file, settings, count, tacit_family_files(),
                          &ignored) != TACIT_OK)
        return status;
    *horizon = config->horizon;
    (void)snprintf(longer, sizeof longer, "horizon=%.0f",
                   fmin((double)config->horizon * HORIZON_GROWTH_MAX, HORIZON_MAX));
    tacit_config_free(config);
    settings[count] = longer;
    return tacit_experiment_load(experiment, request->file, settings, count + 1, &ignored) ==
                   TACIT_OK
               ? TACIT_OK
               : status;
}

static void keep_traffic(struct search *search, const struct tacit_experiment *experiment)
{
    struct tacit_log const *const log = tacit_experiment_log(experiment);
    if (log != NULL)
        memcpy(search->traffic, log->traffic, sizeof search->traffic);
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

/* The environment of --gap: as many arms as the file has, the best of them as good as its best one,
 * of rewards that are 0 or 1: the ends of the file's range. False: it has no such thing. */
static bool make_apart(struct search *search, const struct tacit_experiment *experiment, double gap,
                       struct tacit_error *error)
{
    uint32_t const arms = experiment->sim.env.arm_count;
    double best = -INFINITY;
    double lo;
    double hi;
    find_range(experiment, &lo, &hi);
    search->width = hi - lo;
    if (arms < 2) {
        (void)snprintf(error->text, sizeof error->text, "tacit plan: --gap: this file has no arms");
        return false;
    }
    if (gap > search->width) {
        (void)snprintf(
            error->text, sizeof error->text,
            "tacit plan: --gap: '%g' is not allowed; allowed: a number above 0 and up to "
            "%g, as rewards are from %g to %g",
            gap, search->width, lo, hi);
        return false;
    }
    double const part = gap / search->width;
    for (uint32_t arm = 0; experiment->global_means != NULL && arm < arms; arm++)
        best = fmax(best, (experiment->global_means[arm] - lo) / search->width);
    best = experiment->global_means == NULL ? 0.5 + part / 2 : fmin(fmax(best, part), 1);
    (void)snprintf(search->apart, sizeof search->apart,
                   "environment={kind: bernoulli, generated: {arms: %u, draw: apart, best: %.17g, "
                   "gap: %.17g}}",
                   arms, best, part);
    search->has_range = experiment->config->has_range;
    return true;
}

/* --gap: what stands in for the file's environment, and for the range of its rewards. */
static bool set_gap(struct search *search, struct arguments *request, double gap,
                    struct tacit_error *error)
{
    struct tacit_experiment experiment;
    uint64_t horizon;
    if (load(request, &experiment, &horizon, error) != TACIT_OK)
        return false;
    keep_traffic(search, &experiment);
    bool const is_made = make_apart(search, &experiment, gap, error);
    tacit_experiment_free(&experiment);
    if (is_made && request->setting_count + 2 > ARGUMENTS_SETTINGS_MAX) {
        (void)snprintf(error->text, sizeof error->text,
                       "tacit plan: --gap and %u settings are too many", request->setting_count);
        return false;
    }
    if (!is_made)
        return false;
    request->settings[request->setting_count++] = search->apart;
    if (search->has_range)
        request->settings[request->setting_count++] = UNIT_RANGE;
    return true;
}

/* A section of the file on one line. False: it is longer than there is room. */
static bool put_section(const struct tacit_experiment *experiment, const char *key,
                        const char *otherwise, char text[WORDS_BYTES])
{
    char *const value = tacit_config_value(experiment->config, key);
    int const length = snprintf(text, WORDS_BYTES, "%s", value == NULL ? otherwise : value);
    free(value);
    return length > 0 && length < (int)WORDS_BYTES;
}

/* Protocols with a formula for it come to an end; samples of votes are counted over all sites. */
static void find_own(struct search *search, const struct tacit_experiment *experiment)
{
    struct own *const own = &search->own;
    own->is_known = put_section(experiment, "protocol", "", own->protocol) &&
                    put_section(experiment, "network", "{kind: star}", own->network);
    own->counts_samples = experiment->family->forecast_unit != NULL;
    own->never_sure = experiment->family->forecast == NULL;
}

/* What is to be told apart: the best arm from the next one. */
static bool look(struct search *search, struct tacit_error *error)
{
    struct tacit_experiment experiment;
    if (load(search->request, &experiment, &search->horizon, error) != TACIT_OK)
        return false;
    uint32_t const arms = experiment.sim.env.arm_count;
    search->run_count = experiment.sim.run_count;
    (void)snprintf(search->name, sizeof search->name, "%s", experiment.config->name);
    search->agent_count = experiment.config->agent_count;
    search->epsilon =
        experiment.config->privacy == TACIT_PRIVACY_NONE ? INFINITY : experiment.config->epsilon;
    search->gap = search->width * forecast_gap(&experiment);
    search->has_two = experiment.config->floor_milli != TACIT_ONE_AGGREGATOR;
    find_own(search, &experiment);
    keep_traffic(search, &experiment);
    memcpy(search->remark, experiment.remark, sizeof search->remark);
    bool const has_units = experiment.config->unit_rewards > 0;
    bool const has_instance = experiment.global_means != NULL && arms >= 2;
    tacit_experiment_free(&experiment);
    if (has_units)
        (void)snprintf(error->text, sizeof error->text,
                       "tacit plan: privacy.unit: the people of the rows do not last for the "
                       "horizons that are tried; plan without it");
    else if (!has_instance)
        (void)snprintf(error->text, sizeof error->text,
                       "tacit plan: every run has its own means here, so there is nothing to tell "
                       "apart; allowed: means, logged rows, an instance_seed, or --gap");
    else if (!(search->gap > 0))
        (void)snprintf(error->text, sizeof error->text,
                       "tacit plan: two arms share the best mean; nothing tells them apart; "
                       "allowed: --gap, the gap that matters");
    return !has_units && has_instance && search->gap > 0;
}

/* The first word of a choice's settings: "phased-index" of "{kind: phased-index, ...}". */
static void put_kind(const char *words, char *kind, size_t size)
{
    char const *const at = strstr(words, "kind: ") + strlen("kind: ");
    (void)snprintf(kind, size, "%.*s", (int)strcspn(at, ",}"), at);
}

static enum tacit_status write_page(const struct search *search, const char *sentence,
                                    const char *json, struct tacit_error *error)
{
    struct tacit_report_choice choices[PLANS_MAX];
    static char words[PLANS_MAX][4][2 * WORDS_BYTES + 60];
    for (uint32_t i = 0; i < search->plan_count; i++) {
        struct plan const *const plan = &search->plans[i];
        put_kind(plan->protocol, words[i][0], sizeof words[i][0]);
        put_kind(plan->network, words[i][1], sizeof words[i][1]);
        (void)snprintf(words[i][2], sizeof words[i][2],
                       "--set \"protocol=%s\" --set \"network=%s\"", plan->protocol, plan->network);
        name_plan(plan, words[i][3], sizeof words[i][3]);
        choices[i] = (struct tacit_report_choice){.protocol = words[i][0],
                                                  .network = words[i][1],
                                                  .words = words[i][3],
                                                  .settings = words[i][2],
                                                  .decides = plan->decides,
                                                  .never_sure = plan->never_sure,
                                                  .slots_needed = plan->slots_needed,
                                                  .rounds = plan->rounds,
                                                  .bytes = plan->bytes,
                                                  .cost = plan->cost,
                                                  .regret = plan->regret};
    }
    struct tacit_report_plan const page = {.name = search->name,
                                           .remark =
                                               search->remark[0] == '\0' ? NULL : search->remark,
                                           .version = TACIT_VERSION,
                                           .sentence = sentence,
                                           .horizon = search->horizon,
                                           .run_count = search->run_count,
                                           .choices = choices,
                                           .choice_count = search->plan_count,
                                           .json = json};
    return tacit_report_plan_write(&page, search->request->out, error);
}

/* On stdout, and with --out into a directory. */
static int tell(const struct search *search)
{
    struct arguments const *const request = search->request;
    struct tacit_error error = {""};
    char sentence[FORECAST_BYTES];
    char days[FORECAST_BYTES] = "";
    char both[2 * FORECAST_BYTES];
    say(search, sentence, sizeof sentence);
    say_days(search, days);
    (void)snprintf(both, sizeof both, "%s%s%s", sentence, days[0] == '\0' ? "" : "; ", days);
    char *const json = plans_json(search, sentence, days);
    enum tacit_status status = json == NULL ? TACIT_MEMORY : TACIT_OK;
    if (status == TACIT_OK && request->json)
        (void)fputs(json, stdout);
    else if (status == TACIT_OK)
        print_table(search, sentence, days);
    if (status == TACIT_OK && request->out != NULL)
        status = write_page(search, both, json, &error);
    if (status == TACIT_OK && request->out != NULL && !request->json)
        (void)printf("\nReport: %s/report.html\n", request->out);
    free(json);
    return command_report("plan", status, &error);
}

static int plan_command(const struct command *command, int word_count, char **words)
{
    struct request all = {0};
    struct arguments *const request = &all.arguments;
    static struct search search;
    struct tacit_error error = {""};
    command_parse(command, &all, word_count, words);
    search.width = 1;
    search.request = request;
    search.control = simulate_control();
    if ((all.gap > 0 && !set_gap(&search, request, all.gap, &error)) || !look(&search, &error))
        return command_report(NULL, TACIT_INVALID, &error);
    if (arguments_try_out(request, "plan: --out") != EXIT_DONE)
        return EXIT_FAILED;
    enum tacit_status status = try_all(&search);
    if (status == TACIT_OK)
        status = try_two(&search);
    if (status == TACIT_OK)
        return tell(&search);
    if (status == TACIT_INTERRUPTED) {
        (void)fprintf(stderr, "tacit plan: stopped; nothing is told\n");
        return EXIT_STOPPED;
    }
    (void)fprintf(stderr, "tacit plan: %s\n", tacit_status_text(status));
    return EXIT_FAILED;
}

static const struct argp_option options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like privacy.epsilon=0.5", 0},
    {"gap", 'g', "G", 0,
     "The gap that matters, in the unit of the rewards: plan for arms that are all G below the "
     "best "
     "one, in place of the file's means",
     0},
    {"runs", 'r', "N", 0, "Runs of each simulation (default: 100)", 0},
    {"threads", 't', "N", 0, "Threads to spread the runs over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0, "Write report.html, plan.json, plan.csv and slots.svg", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_plan = {
    .name = "plan",
    .summary = "say which protocol and network tell the arms apart, and how many slots it takes",
    .options = options,
    .words = "FILE",
    .help = "Try protocols and networks that fit FILE: for each the horizon at which 95 % of the "
            "runs decide, by formula and by simulation, and what rounds, bytes, cost and regret "
            "are at the file's horizon, best "
            "first.",
    .take = take,
    .run = plan_command,
};

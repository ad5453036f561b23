/* The schema of a claims file: what a paper shows, figure by figure, and what it claims. */
#include "measure.h"
#include "error.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPERIMENTS_MAX 1000u
#define RUNS_MAX 1000000u
#define NAME_BYTES_MAX 60u
#define HOURS_MAX 10000u
#define ID_TEXT "up to 60 small letters, digits and dashes"

/* ---- Keys ---- */

static const struct config_choice verdicts[] = {{"holds", TACIT_VERDICT_HOLDS},
                                                {"does not hold", TACIT_VERDICT_FAILS},
                                                {"not reached", TACIT_VERDICT_NOT_REACHED},
                                                {"not run", TACIT_VERDICT_NOT_RUN},
                                                {NULL, 0}};
static const struct config_choice bands[] = {{"interval", 0}, {"range", 1}, {NULL, 0}};
static const struct config_choice scales[] = {{"linear", 0}, {"log", 1}, {NULL, 0}};
#define BAND_TEXT "the claim holds from the first to the second, like [1, inf]"

static const struct config_key fast_keys[] = {
    {"says", NULL, "what is claimed then", CONFIG_TO_TEXT(tacit_claim, reported.says)},
    {"measure", "(the claim's)", "", .form = "a formula"},
    {"band", "(the claim's)", "", .form = "two numbers"},
    {"verdict", "(the claim's)", "", CONFIG_TO_ENUM(tacit_claim, reported.record, verdicts)},
    {"why", "(the claim's)", "", CONFIG_TO_TEXT(tacit_claim, reported.why)},
    {.name = NULL}};

static const struct config_key claim_keys[] = {
    {"id", NULL, "given once", .form = ID_TEXT},
    {"where", NULL, "in the paper", CONFIG_TO_TEXT(tacit_claim, reported.where)},
    {"says", NULL, "in our words", CONFIG_TO_TEXT(tacit_claim, reported.says)},
    {"measure", NULL, "of EXPERIMENT.METRIC and EXPERIMENT.METRIC@SLOT", .form = "a formula"},
    {"band", NULL, BAND_TEXT, .form = "two numbers"},
    {"limit", "no", "a limit or bound, which finite runs cannot refute",
     CONFIG_TO_FLAG(tacit_claim, reported.is_limit, config_no_yes)},
    {"each_run", "no", "the measure is of each run, then averaged",
     CONFIG_TO_FLAG(tacit_claim, is_each_run, config_no_yes)},
    {"verdict", NULL, "on record", CONFIG_TO_ENUM(tacit_claim, reported.record, verdicts)},
    {"why", "(must be given unless it holds)", "", CONFIG_TO_TEXT(tacit_claim, reported.why)},
    {"reading", "", "of the paper, that it rests on, and what another gives",
     CONFIG_TO_TEXT(tacit_claim, reported.reading)},
    {"checked", "", "how else it was found, independently",
     CONFIG_TO_TEXT(tacit_claim, reported.checked)},
    {"fast", "(the same)", "what it is with --fast", .inner = fast_keys},
    {.name = NULL}};

static const struct config_key curve_keys[] = {
    {"experiment", NULL, "beside this file", .form = "a file without .yaml"},
    {"label", NULL, "", CONFIG_TO_TEXT(tacit_claims_curve, label)},
    {"series", "", "of points: those of one are joined",
     CONFIG_TO_TEXT(tacit_claims_curve, series)},
    {"y", "(the plot's)", "of a point", CONFIG_TO_TEXT(tacit_claims_curve, y)},
    {.name = NULL}};

static const struct config_key plot_keys[] = {
    {"x", NULL, "", CONFIG_TO_TEXT(tacit_claims_figure, x),
     .form = "t, a metric (one point a curve) or a series"},
    {"y", NULL, "", CONFIG_TO_TEXT(tacit_claims_figure, y), .form = "a metric or a series"},
    {"minus", "", "x: t; whose regret is taken off", .form = "an experiment"},
    {"y_label", "(y)", "", CONFIG_TO_TEXT(tacit_claims_figure, y_label)},
    {"x_scale", "(log for t, else linear)", "",
     CONFIG_TO_FLAG(tacit_claims_figure, x_is_log, scales)},
    {"y_scale", "linear", "", CONFIG_TO_FLAG(tacit_claims_figure, y_is_log, scales)},
    {"band", "interval", "of 95 %, or from the least to the greatest run",
     CONFIG_TO_FLAG(tacit_claims_figure, band_is_range, bands)},
    {.name = NULL}};

static const struct config_key figure_keys[] = {
    {"id", NULL, "given once", .form = ID_TEXT},
    {"title", NULL, "", CONFIG_TO_TEXT(tacit_claims_figure, title)},
    {"paper_shows", NULL, "", CONFIG_TO_TEXT(tacit_claims_figure, paper_shows)},
    {"we_show", "", "", CONFIG_TO_TEXT(tacit_claims_figure, we_show)},
    {"hours", "(less)",
     "of processor time: run when asked for by its ID, or by --fast with fast_settings",
     CONFIG_TO_U32(tacit_claims_figure, hours, 1, HOURS_MAX)},
    {"plot", NULL, "", CONFIG_TO_SAME(plot_keys)},
    {"curves", NULL, "", .form = "a list of maps"},
    {"claims", NULL, "", .form = "a list of maps"},
    {.name = NULL}};

static const struct config_key paper_keys[] = {
    {"paper", NULL, "its name for tacit reproduce", .form = ID_TEXT},
    {"title", NULL, "for people", CONFIG_TO_TEXT(tacit_claims, title)},
    {"cite", "", "printed by --cite", CONFIG_TO_TEXT(tacit_claims, cite), .form = "BibTeX"},
    {"fast_runs", NULL, "of each experiment with --fast",
     CONFIG_TO_U32(tacit_claims, fast_runs, 2, RUNS_MAX)},
    {"fast_settings", "", "what else --fast changes",
     .form = "a list of settings, or a map of such by what names begin with"},
    {"fast_note", "(must be given with fast_settings)", "them, in words",
     CONFIG_TO_TEXT(tacit_claims, fast_note)},
    {"long", "no", "hours: only when asked for by name",
     CONFIG_TO_FLAG(tacit_claims, is_long, config_no_yes)},
    {"figures", NULL, "", .form = "a list of maps"},
    {.name = NULL}};

const struct config_section tacit_claims_sections[] = {{"", paper_keys},
                                                       {"figures.N", figure_keys},
                                                       {"figures.N.curves.N", curve_keys},
                                                       {"figures.N.claims.N", claim_keys},
                                                       {NULL, NULL}};

/* A claims file while it is read. */
struct claims_reader {
    struct config_reader base;
    struct tacit_claims *claims;
    const char *seen[EXPERIMENTS_MAX]; /* ids of figures and claims so far */
    uint32_t seen_count;
};

/* ---- Names ---- */

/* A word that may become part of a file's name, given once in the file. */
static void read_id(struct claims_reader *reader, const struct config_node *map, const char *key,
                    const char **id)
{
    config_reader_text(&reader->base, map, key, true, id);
    if (reader->base.status != TACIT_OK)
        return;
    struct config_node const *const node = config_node_member(map, config_leaf(key));
    if (**id == '\0' || **id == '-' ||
        (*id)[strspn(*id, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0' ||
        strlen(*id) > NAME_BYTES_MAX)
        config_reader_fail(&reader->base, node, key, "'%.60s' is not allowed; allowed: " ID_TEXT,
                           *id);
    for (uint32_t i = 0; i < reader->seen_count; i++)
        if (strcmp(reader->seen[i], *id) == 0)
            config_reader_fail(&reader->base, node, key, "'%.60s' stands here twice; allowed: once",
                               *id);
    if (reader->seen_count == EXPERIMENTS_MAX)
        config_reader_fail(&reader->base, node, key,
                           "too many figures and claims; %u are "
                           "allowed",
                           EXPERIMENTS_MAX);
    else
        reader->seen[reader->seen_count++] = *id;
}

/* The path of an experiment's file, beside the document, to be given to free(); or NULL. */
static char *experiment_path(const struct config_document *document, const char *name)
{
    char *file;
    if (asprintf(&file, "%s.yaml", name) < 0)
        return NULL;
    char *const path = tacit_config_path(document, file);
    free(file);
    return path;
}

static bool experiment_is_there(const struct claims_reader *reader, const char *name)
{
    char *const path = experiment_path(reader->base.document, name);
    bool const is_there = path != NULL && access(path, R_OK) == 0;
    free(path);
    return is_there;
}

/* The index of an experiment, which becomes known by it: `name` stays the document's. False: it has
 * no file. */
static bool find_experiment(void *context, const char *name, uint32_t *index)
{
    struct claims_reader *const reader = context;
    struct tacit_claims *const claims = reader->claims;
    for (*index = 0; *index < claims->experiment_count; ++*index)
        if (strcmp(claims->experiments[*index], name) == 0)
            return true;
    if (*index == EXPERIMENTS_MAX || *name == '\0' || !experiment_is_there(reader, name))
        return false;
    claims->experiments[claims->experiment_count++] = name;
    return true;
}

static const struct config_node *first_item(const struct config_node *map, const char *key)
{
    struct config_node const *const list = config_node_member(map, key);
    return list == NULL ? NULL : list->first;
}

/* ---- Claims ---- */

static void read_measure(struct claims_reader *reader, const struct config_node *map,
                         const char *key, struct tacit_claim *claim)
{
    const char *text = NULL;
    config_reader_text(&reader->base, map, key, true, &text);
    if (reader->base.status != TACIT_OK)
        return;
    struct config_node const *const node = config_node_member(map, "measure");
    config_measure_read(&reader->base, node, find_experiment, reader, &claim->measure);
    claim->reported.measure = claim->measure.text;
    claim->reported.value = NAN;
    claim->line = node->line;
}

/* The verdict on record is one that such a claim can have, and says why where it does not hold. */
static void check_verdict(struct claims_reader *reader, const struct config_node *map,
                          const char *section, const struct tacit_claim *claim)
{
    char key[40];
    struct config_node const *const node = config_node_member(map, "verdict");
    (void)snprintf(key, sizeof key, "%s.verdict", section);
    if (claim->reported.is_limit && claim->reported.record == TACIT_VERDICT_FAILS)
        config_reader_fail(&reader->base, node, key,
                           "finite runs refute no limit; allowed: holds, not reached");
    if (!claim->reported.is_limit && claim->reported.record == TACIT_VERDICT_NOT_REACHED)
        config_reader_fail(&reader->base, node, key,
                           "only a limit is not reached; allowed: holds, does not hold, or the "
                           "claim's key limit: yes");
    (void)snprintf(key, sizeof key, "%s.why", section);
    if (claim->reported.record != TACIT_VERDICT_HOLDS && claim->reported.why == NULL)
        config_reader_fail(&reader->base, map, key, "missing; it must be given");
}

/* In the fast version a claim may speak of something else: of fewer rounds, of a smaller model.
 * Then it says so in words of its own. */
static void read_fast_claim(struct claims_reader *reader, const struct config_node *map,
                            struct tacit_claim *claim)
{
    struct config_node const *const own =
        config_reader_map(&reader->base, map, "claims.fast", false);
    struct tacit_claim *const fast =
        own == NULL ? NULL : config_reader_memory(&reader->base, sizeof *fast);
    if (fast == NULL)
        return;
    *fast = *claim;
    config_reader_table(&reader->base, own, "claims.fast", fast_keys, fast);
    if (config_node_member(own, "measure") != NULL)
        read_measure(reader, own, "claims.fast.measure", fast);
    if (config_node_member(own, "band") != NULL && reader->base.status == TACIT_OK)
        config_reader_pair(&reader->base, own, "claims.fast.band", true, BAND_TEXT,
                           &fast->reported.lo, &fast->reported.hi);
    check_verdict(reader, own, "claims.fast", fast);
    claim->fast = fast;
}

static void read_claim(struct claims_reader *reader, const struct config_node *map,
                       struct tacit_claim *claim)
{
    config_reader_table(&reader->base, map, "claims", claim_keys, claim);
    read_id(reader, map, "claims.id", &claim->reported.id);
    read_measure(reader, map, "claims.measure", claim);
    if (reader->base.status == TACIT_OK)
        config_reader_pair(&reader->base, map, "claims.band", true, BAND_TEXT, &claim->reported.lo,
                           &claim->reported.hi);
    check_verdict(reader, map, "claims", claim);
    if (reader->base.status == TACIT_OK)
        read_fast_claim(reader, map, claim);
}

/* ---- Figures ---- */

/* An experiment that a key names. */
static void read_name(struct claims_reader *reader, const struct config_node *map, const char *key,
                      uint32_t *experiment)
{
    const char *name = NULL;
    config_reader_text(&reader->base, map, key, true, &name);
    if (name != NULL && !find_experiment(reader, name, experiment))
        config_reader_fail(&reader->base, config_node_member(map, config_leaf(key)), key,
                           "'%.60s': there is no file %.60s.yaml beside this one", name, name);
}

static void read_minus(struct claims_reader *reader, const struct config_node *plot,
                       struct tacit_claims_figure *figure)
{
    struct config_node const *const node = config_node_member(plot, "minus");
    if (node == NULL)
        return;
    read_name(reader, plot, "figures.plot.minus", &figure->minus);
    figure->has_minus = true;
    if (reader->base.status == TACIT_OK && strcmp(figure->x, "t") != 0)
        config_reader_fail(&reader->base, node, "figures.plot.minus",
                           "belongs to figures whose x is t");
}

static void read_curve(struct claims_reader *reader, const struct config_node *map,
                       const struct tacit_claims_figure *figure, struct tacit_claims_curve *curve)
{
    config_reader_table(&reader->base, map, "curves", curve_keys, curve);
    read_name(reader, map, "curves.experiment", &curve->experiment);
    if (curve->y != NULL && strcmp(figure->x, "t") == 0)
        config_reader_fail(&reader->base, config_node_member(map, "y"), "curves.y",
                           "belongs to figures of points; here x is t");
    if (curve->series != NULL && strcmp(figure->x, "t") == 0)
        config_reader_fail(&reader->base, config_node_member(map, "series"), "curves.series",
                           "belongs to figures of points; here x is t");
}

/* What takes no hours has been run. */
static void check_run(struct claims_reader *reader, const struct config_node *map,
                      const struct tacit_claims_figure *figure)
{
    for (uint32_t i = 0; i < figure->claim_count && reader->base.status == TACIT_OK; i++)
        if (figure->hours == 0 && figure->claims[i].reported.record == TACIT_VERDICT_NOT_RUN)
            config_reader_fail(&reader->base, map, "claims.verdict",
                               "'not run' belongs to figures that take hours: their key hours");
}

static void read_figure(struct claims_reader *reader, const struct config_node *map,
                        struct tacit_claims_figure *figure)
{
    config_reader_table(&reader->base, map, "figures", figure_keys, figure);
    read_id(reader, map, "figures.id", &figure->id);
    struct config_node const *const plot = config_node_member(map, "plot");
    if (reader->base.status == TACIT_OK) {
        figure->plot_line = plot->line;
        if (config_node_member(plot, "x_scale") == NULL)
            figure->x_is_log = strcmp(figure->x, "t") == 0;
        read_minus(reader, plot, figure);
    }
    figure->curves = config_reader_list(
        &reader->base, map, "curves", "{experiment: fig4_eps1, label: epsilon 1}", EXPERIMENTS_MAX,
        sizeof *figure->curves, &figure->curve_count);
    struct tacit_claims_curve *curve = figure->curves;
    for (const struct config_node *item = first_item(map, "curves"); curve != NULL && item != NULL;
         item = item->next)
        read_curve(reader, item, figure, curve++);
    figure->claims =
        config_reader_list(&reader->base, map, "claims", "{id: order, says: ..., measure: ...}",
                           EXPERIMENTS_MAX, sizeof *figure->claims, &figure->claim_count);
    struct tacit_claim *claim = figure->claims;
    for (const struct config_node *item = first_item(map, "claims"); claim != NULL && item != NULL;
         item = item->next)
        read_claim(reader, item, claim++);
    check_run(reader, map, figure);
}

static uint32_t count_items(const struct config_node *node)
{
    uint32_t count = 0;
    for (const struct config_node *item = node->first; item != NULL; item = item->next)
        count++;
    return count;
}

/* Settings for the experiments whose names begin so. */
static void read_settings_of(struct claims_reader *reader, const struct config_node *list,
                             const char *key, const char *prefix,
                             struct tacit_claims_settings *settings)
{
    *settings = (struct tacit_claims_settings){.prefix = prefix, .line = list->line};
    settings->items =
        config_reader_memory(&reader->base, (count_items(list) + 1) * sizeof *settings->items);
    if (settings->items == NULL)
        return;
    for (const struct config_node *item = list->first; item != NULL; item = item->next) {
        if (list->kind != CONFIG_LIST || item->kind != CONFIG_SCALAR ||
            strchr(item->text, '=') == NULL)
            break;
        settings->items[settings->count++] = item->text;
    }
    if (list->kind != CONFIG_LIST || settings->count < count_items(list))
        config_reader_fail(&reader->base, list, key,
                           "a list of settings is expected, like [\"horizon=60\"]");
}

/* What the fast version changes beside the number of runs: a list for all experiments, or a map of
 * lists, each for those whose names begin with its key. What changes is said in words. */
static void read_settings(struct claims_reader *reader, const struct config_node *root)
{
    struct tacit_claims *const claims = reader->claims;
    struct config_node const *const node = config_node_member(root, "fast_settings");
    if (node != NULL)
        config_reader_need(&reader->base, "fast_note");
    if (reader->base.status != TACIT_OK)
        return;
    if (node == NULL && claims->fast_note != NULL) {
        config_reader_fail(&reader->base, config_node_member(root, "fast_note"), "fast_note",
                           "belongs to fast_settings");
        return;
    }
    if (node == NULL)
        return;
    bool const is_map = node->kind == CONFIG_MAP;
    claims->fast_count = is_map ? count_items(node) : 1;
    claims->fast = config_reader_memory(&reader->base,
                                        (claims->fast_count + (size_t)1) * sizeof *claims->fast);
    if (claims->fast == NULL)
        return;
    if (!is_map) {
        read_settings_of(reader, node, "fast_settings", "", &claims->fast[0]);
        return;
    }
    struct tacit_claims_settings *settings = claims->fast;
    for (const struct config_node *item = node->first; item != NULL; item = item->next)
        read_settings_of(reader, item, "fast_settings", item->key, settings++);
}

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Settings that no experiment of the file takes are a slip. */
static void check_prefixes(struct claims_reader *reader)
{
    struct tacit_claims const *const claims = reader->claims;
    for (uint32_t i = 0; i < claims->fast_count && reader->base.status == TACIT_OK; i++) {
        struct config_node const at = {.line = claims->fast[i].line};
        uint32_t experiment = 0;
        while (experiment < claims->experiment_count &&
               !begins(claims->experiments[experiment], claims->fast[i].prefix))
            experiment++;
        if (experiment == claims->experiment_count)
            config_reader_fail(&reader->base, &at, "fast_settings",
                               "no experiment's name begins with '%.60s'; allowed: names of "
                               "experiments of this file, or what they begin with",
                               claims->fast[i].prefix);
    }
}

static void read_paper(struct config_reader *base, const void *families, void *file)
{
    struct tacit_claims *const claims = file;
    struct claims_reader whole = {.base = *base, .claims = claims};
    struct claims_reader *const reader = &whole;
    struct config_node const *const root = config_document_root(base->document);
    TACIT_ASSERT(families == NULL);
    config_reader_table(&reader->base, root, "", paper_keys, claims);
    read_id(reader, root, "paper", &claims->paper);
    read_settings(reader, root);
    claims->experiments =
        config_reader_memory(&reader->base, EXPERIMENTS_MAX * sizeof *claims->experiments);
    if (claims->experiments != NULL)
        claims->figures = config_reader_list(&reader->base, root, "figures",
                                             "{id: fig4, title: ..., curves: ...}", EXPERIMENTS_MAX,
                                             sizeof *claims->figures, &claims->figure_count);
    struct tacit_claims_figure *figure = claims->figures;
    for (const struct config_node *item = first_item(root, "figures");
         figure != NULL && item != NULL; item = item->next)
        read_figure(reader, item, figure++);
    check_prefixes(reader);
    base->status = reader->base.status;
}

/* ---- Public ---- */

enum tacit_status tacit_claims_load(struct tacit_claims **claims, const char *path,
                                    struct tacit_error *error)
{
    void *made = NULL;
    enum tacit_status const status =
        config_file_load(&made, sizeof **claims, path, NULL, 0, read_paper, NULL, error);
    if (status == TACIT_OK)
        *claims = made;
    return status;
}

void tacit_claims_free(struct tacit_claims *claims)
{
    config_file_free(claims);
}

uint32_t tacit_claims_fast_settings(const struct tacit_claims *claims, uint32_t experiment,
                                    const char **settings)
{
    TACIT_ASSERT(experiment < claims->experiment_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < claims->fast_count; i++) {
        struct tacit_claims_settings const *const own = &claims->fast[i];
        if (!begins(claims->experiments[experiment], own->prefix))
            continue;
        for (uint32_t j = 0; j < own->count; j++, count++)
            if (settings != NULL)
                settings[count] = own->items[j];
    }
    return count;
}

void tacit_claims_speed_up(struct tacit_claims *claims)
{
    for (uint32_t i = 0; i < claims->figure_count; i++)
        for (uint32_t j = 0; j < claims->figures[i].claim_count; j++) {
            struct tacit_claim *const claim = &claims->figures[i].claims[j];
            if (claim->fast != NULL)
                *claim = *claim->fast;
        }
}

char *tacit_claims_path(const struct tacit_claims *claims, uint32_t experiment)
{
    TACIT_ASSERT(experiment < claims->experiment_count);
    return experiment_path(claims->document, claims->experiments[experiment]);
}

enum tacit_status tacit_claims_refuse(const struct tacit_claims *claims, uint32_t line,
                                      const char *key, struct tacit_error *error,
                                      const char *format, ...)
{
    struct config_node const node = {.line = line};
    struct config_location const place = config_document_location(claims->document, &node);
    char text[501];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    config_set_error(error, "%s: %s: %s", place.text, key, text);
    return TACIT_INVALID;
}

/* The schema of a claims file: what a paper shows, figure by figure, and what it claims. */
#include "measure.h"
#include "say.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPERIMENTS_MAX 1000u
#define RUNS_MAX 1000000u
#define NAME_BYTES_MAX 60u
#define HOURS_MAX 10000u

/* A claims file while it is read. */
struct claims_reader {
    struct config_reader base;
    struct tacit_claims *claims;
    const char *seen[EXPERIMENTS_MAX]; /* ids of figures and claims so far */
    uint32_t seen_count;
};

static void *allocate(struct claims_reader *reader, size_t size)
{
    void *const memory = config_document_allocate(reader->base.document, size);
    if (memory == NULL)
        reader->base.status = TACIT_MEMORY;
    return memory;
}

/* ---- Names ---- */

/* The last part of a dotted key. */
static const char *leaf(const char *key)
{
    char const *const dot = strrchr(key, '.');
    return dot == NULL ? key : dot + 1;
}

/* A word that may become part of a file's name, given once in the file. */
static void read_id(struct claims_reader *reader, const struct config_node *map, const char *key,
                    const char **id)
{
    config_reader_text(&reader->base, map, key, true, id);
    if (reader->base.status != TACIT_OK)
        return;
    struct config_node const *const node = config_node_member(map, leaf(key));
    if (**id == '\0' || **id == '-' ||
        (*id)[strspn(*id, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0' ||
        strlen(*id) > NAME_BYTES_MAX)
        config_reader_fail(&reader->base, node, key,
                           "'%.60s' is not allowed; allowed: up to %u small letters, digits and "
                           "dashes",
                           *id, NAME_BYTES_MAX);
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
    char const *const file = config_document_path(document);
    char const *const slash = strrchr(file, '/');
    int const folder = slash == NULL ? 0 : (int)(slash - file + 1);
    size_t const size = (size_t)folder + strlen(name) + sizeof ".yaml";
    char *const path = malloc(size);
    if (path != NULL)
        (void)snprintf(path, size, "%.*s%s.yaml", folder, file, name);
    return path;
}

static bool experiment_is_there(const struct claims_reader *reader, const char *name)
{
    char *const path = experiment_path(reader->base.document, name);
    bool const is_there = path != NULL && access(path, R_OK) == 0;
    free(path);
    return is_there;
}

/* The index of an experiment, which becomes known by it. */
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

/* ---- Lists of maps ---- */

/* The list under a key, and the number of its items, which are maps; NULL after an error. */
static const struct config_node *read_list(struct claims_reader *reader,
                                           const struct config_node *map, const char *key,
                                           const char *example, uint32_t *count)
{
    struct config_node const *const list = config_node_member(map, leaf(key));
    if (reader->base.status != TACIT_OK)
        return NULL;
    if (list == NULL || list->kind != CONFIG_LIST || list->first == NULL) {
        config_reader_fail(&reader->base, list == NULL ? map : list, key,
                           "%sa list is expected, like [%s]", list == NULL ? "missing; " : "",
                           example);
        return NULL;
    }
    *count = 0;
    for (const struct config_node *item = list->first; item != NULL; item = item->next, ++*count)
        if (item->kind != CONFIG_MAP) {
            config_reader_fail(&reader->base, item, key, "a map is expected, like %s", example);
            return NULL;
        }
    return list;
}

/* ---- Claims ---- */

static void read_band(struct claims_reader *reader, const struct config_node *map, const char *key,
                      struct tacit_claim *claim)
{
    struct config_range const low = {-1e15, 1e15, false, false, false};
    struct config_range const high = {-1e15, 1e15, false, true, false};
    struct config_node const *const band = config_node_member(map, "band");
    if (band == NULL || band->kind != CONFIG_LIST || band->first == NULL ||
        band->first->next == NULL || band->first->next->next != NULL) {
        config_reader_fail(&reader->base, band == NULL ? map : band, key,
                           "%stwo numbers are expected: the claim holds from the first to the "
                           "second, like [1, inf]",
                           band == NULL ? "missing; " : "");
        return;
    }
    (void)config_reader_real(&reader->base, band->first, key, low, &claim->lo);
    (void)config_reader_real(&reader->base, band->first->next, key, high, &claim->hi);
    if (reader->base.status == TACIT_OK && !(claim->lo <= claim->hi))
        config_reader_fail(&reader->base, band, key,
                           "%.12g is above %.12g; allowed: the smaller number first", claim->lo,
                           claim->hi);
}

static void read_measure(struct claims_reader *reader, const struct config_node *map,
                         const char *key, struct tacit_claim *claim)
{
    const char *text = NULL;
    config_reader_text(&reader->base, map, key, true, &text);
    if (reader->base.status != TACIT_OK)
        return;
    struct config_node const *const node = config_node_member(map, "measure");
    config_measure_read(&reader->base, node, find_experiment, reader, &claim->measure);
    claim->line = node->line;
}

static const struct config_choice verdicts[] = {{"holds", TACIT_VERDICT_HOLDS},
                                                {"does not hold", TACIT_VERDICT_FAILS},
                                                {"not reached", TACIT_VERDICT_NOT_REACHED},
                                                {"not run", TACIT_VERDICT_NOT_RUN},
                                                {NULL, 0}};

/* The verdict on record, which must be one that such a claim can have. */
static void read_verdict(struct claims_reader *reader, const struct config_node *map,
                         const char *key, bool must_be_given, struct tacit_claim *claim)
{
    int verdict = (int)claim->record;
    struct config_node const *const node = config_node_member(map, "verdict");
    config_reader_choice(&reader->base, map, key, must_be_given, verdicts, &verdict);
    claim->record = (enum tacit_verdict)verdict;
    if (reader->base.status != TACIT_OK)
        return;
    if (claim->is_limit && claim->record == TACIT_VERDICT_FAILS)
        config_reader_fail(&reader->base, node, key,
                           "finite runs refute no limit; allowed: holds, not reached");
    if (!claim->is_limit && claim->record == TACIT_VERDICT_NOT_REACHED)
        config_reader_fail(&reader->base, node, key,
                           "only a limit is not reached; allowed: holds, does not hold, or the "
                           "claim's key limit: yes");
}

/* In the fast version a claim may speak of something else: of fewer rounds, of a smaller model.
 * Then it says so in words of its own. */
static void read_fast_claim(struct claims_reader *reader, const struct config_node *map,
                            struct tacit_claim *claim)
{
    static const char *const keys[] = {"says", "measure", "band", "verdict", "why", NULL};
    struct config_node const *const own =
        config_reader_map(&reader->base, map, "claims.fast", false);
    struct tacit_claim *const fast = own == NULL ? NULL : allocate(reader, sizeof *fast);
    if (fast == NULL)
        return;
    *fast = *claim;
    config_reader_keys(&reader->base, own, "claims.fast", keys);
    config_reader_text(&reader->base, own, "claims.fast.says", true, &fast->says);
    if (config_node_member(own, "measure") != NULL)
        read_measure(reader, own, "claims.fast.measure", fast);
    if (config_node_member(own, "band") != NULL && reader->base.status == TACIT_OK)
        read_band(reader, own, "claims.fast.band", fast);
    read_verdict(reader, own, "claims.fast.verdict", false, fast);
    config_reader_text(&reader->base, own, "claims.fast.why",
                       fast->record != TACIT_VERDICT_HOLDS && fast->why == NULL, &fast->why);
    claim->fast = fast;
}

static void read_claim(struct claims_reader *reader, const struct config_node *map,
                       struct tacit_claim *claim)
{
    static const char *const keys[] = {"id",      "where",    "says",    "measure", "band",
                                       "limit",   "each_run", "verdict", "why",     "reading",
                                       "checked", "fast",     NULL};
    static const struct config_choice words[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};
    int is_limit = 0;
    int is_each_run = 0;
    config_reader_keys(&reader->base, map, "claims", keys);
    read_id(reader, map, "claims.id", &claim->id);
    config_reader_text(&reader->base, map, "claims.where", true, &claim->where);
    config_reader_text(&reader->base, map, "claims.says", true, &claim->says);
    read_measure(reader, map, "claims.measure", claim);
    if (reader->base.status == TACIT_OK)
        read_band(reader, map, "claims.band", claim);
    config_reader_choice(&reader->base, map, "claims.limit", false, words, &is_limit);
    claim->is_limit = is_limit == 1;
    config_reader_choice(&reader->base, map, "claims.each_run", false, words, &is_each_run);
    claim->is_each_run = is_each_run == 1;
    read_verdict(reader, map, "claims.verdict", true, claim);
    config_reader_text(&reader->base, map, "claims.why", claim->record != TACIT_VERDICT_HOLDS,
                       &claim->why);
    config_reader_text(&reader->base, map, "claims.reading", false, &claim->reading);
    config_reader_text(&reader->base, map, "claims.checked", false, &claim->checked);
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
        config_reader_fail(&reader->base, config_node_member(map, leaf(key)), key,
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

static void read_plot(struct claims_reader *reader, const struct config_node *map,
                      struct tacit_claims_figure *figure)
{
    static const char *const keys[] = {"x",       "y",       "minus", "y_label",
                                       "x_scale", "y_scale", "band",  NULL};
    static const struct config_choice bands[] = {{"interval", 0}, {"range", 1}, {NULL, 0}};
    static const struct config_choice scales[] = {{"linear", 0}, {"log", 1}, {NULL, 0}};
    struct config_node const *const plot =
        config_reader_map(&reader->base, map, "figures.plot", true);
    if (plot == NULL)
        return;
    config_reader_keys(&reader->base, plot, "figures.plot", keys);
    config_reader_text(&reader->base, plot, "figures.plot.x", true, &figure->x);
    config_reader_text(&reader->base, plot, "figures.plot.y", true, &figure->y);
    int x_scale = figure->x != NULL && strcmp(figure->x, "t") == 0;
    int y_scale = 0;
    int band = 0;
    config_reader_choice(&reader->base, plot, "figures.plot.x_scale", false, scales, &x_scale);
    config_reader_choice(&reader->base, plot, "figures.plot.y_scale", false, scales, &y_scale);
    config_reader_choice(&reader->base, plot, "figures.plot.band", false, bands, &band);
    read_minus(reader, plot, figure);
    config_reader_text(&reader->base, plot, "figures.plot.y_label", false, &figure->y_label);
    figure->x_is_log = x_scale == 1;
    figure->y_is_log = y_scale == 1;
    figure->band_is_range = band == 1;
    figure->plot_line = plot->line;
}

static void read_curve(struct claims_reader *reader, const struct config_node *map,
                       const struct tacit_claims_figure *figure, struct tacit_claims_curve *curve)
{
    static const char *const keys[] = {"experiment", "label", "series", "y", NULL};
    config_reader_keys(&reader->base, map, "curves", keys);
    read_name(reader, map, "curves.experiment", &curve->experiment);
    config_reader_text(&reader->base, map, "curves.label", true, &curve->label);
    config_reader_text(&reader->base, map, "curves.series", false, &curve->series);
    config_reader_text(&reader->base, map, "curves.y", false, &curve->y);
    if (curve->y != NULL && strcmp(figure->x, "t") == 0)
        config_reader_fail(&reader->base, config_node_member(map, "y"), "curves.y",
                           "belongs to figures of points; here x is t");
    if (curve->series != NULL && strcmp(figure->x, "t") == 0)
        config_reader_fail(&reader->base, config_node_member(map, "series"), "curves.series",
                           "belongs to figures of points; here x is t");
}

static void read_curves(struct claims_reader *reader, const struct config_node *map,
                        struct tacit_claims_figure *figure)
{
    struct config_node const *const list = read_list(
        reader, map, "curves", "{experiment: fig4_eps1, label: epsilon 1}", &figure->curve_count);
    if (list == NULL)
        return;
    figure->curves = allocate(reader, figure->curve_count * sizeof *figure->curves);
    struct tacit_claims_curve *curve = figure->curves;
    for (const struct config_node *item = list->first; item != NULL && curve != NULL;
         item = item->next)
        read_curve(reader, item, figure, curve++);
}

static void read_claims(struct claims_reader *reader, const struct config_node *map,
                        struct tacit_claims_figure *figure)
{
    struct config_node const *const list = read_list(
        reader, map, "claims", "{id: order, says: ..., measure: ...}", &figure->claim_count);
    if (list == NULL)
        return;
    figure->claims = allocate(reader, figure->claim_count * sizeof *figure->claims);
    struct tacit_claim *claim = figure->claims;
    for (const struct config_node *item = list->first; item != NULL && claim != NULL;
         item = item->next)
        read_claim(reader, item, claim++);
}

/* What takes no hours has been run. */
static void check_run(struct claims_reader *reader, const struct config_node *map,
                      const struct tacit_claims_figure *figure)
{
    for (uint32_t i = 0; i < figure->claim_count && reader->base.status == TACIT_OK; i++)
        if (figure->hours == 0 && figure->claims[i].record == TACIT_VERDICT_NOT_RUN)
            config_reader_fail(&reader->base, map, "claims.verdict",
                               "'not run' belongs to figures that take hours: their key hours");
}

static void read_figure(struct claims_reader *reader, const struct config_node *map,
                        struct tacit_claims_figure *figure)
{
    static const char *const keys[] = {"id",   "title",  "paper_shows", "we_show", "hours",
                                       "plot", "curves", "claims",      NULL};
    config_reader_keys(&reader->base, map, "figures", keys);
    read_id(reader, map, "figures.id", &figure->id);
    config_reader_text(&reader->base, map, "figures.title", true, &figure->title);
    config_reader_text(&reader->base, map, "figures.paper_shows", true, &figure->paper_shows);
    config_reader_text(&reader->base, map, "figures.we_show", false, &figure->we_show);
    config_reader_u32(&reader->base, map, "figures.hours", false, 1, HOURS_MAX, &figure->hours);
    read_plot(reader, map, figure);
    read_curves(reader, map, figure);
    read_claims(reader, map, figure);
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
    settings->items = allocate(reader, (count_items(list) + 1) * sizeof *settings->items);
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
    config_reader_text(&reader->base, root, "fast_note", node != NULL, &claims->fast_note);
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
    claims->fast = allocate(reader, (claims->fast_count + (size_t)1) * sizeof *claims->fast);
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

static void read_paper(struct claims_reader *reader)
{
    static const char *const keys[] = {"paper",     "title",         "cite",
                                       "fast_runs", "fast_settings", "fast_note",
                                       "long",      "figures",       NULL};
    static const struct config_choice words[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};
    int is_long = 0;
    struct tacit_claims *const claims = reader->claims;
    struct config_node const *const root = config_document_root(reader->base.document);
    config_reader_keys(&reader->base, root, "", keys);
    read_id(reader, root, "paper", &claims->paper);
    config_reader_text(&reader->base, root, "title", true, &claims->title);
    config_reader_text(&reader->base, root, "cite", false, &claims->cite);
    config_reader_u32(&reader->base, root, "fast_runs", true, 2, RUNS_MAX, &claims->fast_runs);
    config_reader_choice(&reader->base, root, "long", false, words, &is_long);
    claims->is_long = is_long == 1;
    read_settings(reader, root);
    struct config_node const *const list = read_list(
        reader, root, "figures", "{id: fig4, title: ..., curves: ...}", &claims->figure_count);
    claims->experiments = allocate(reader, EXPERIMENTS_MAX * sizeof *claims->experiments);
    if (list == NULL || claims->experiments == NULL)
        return;
    claims->figures = allocate(reader, claims->figure_count * sizeof *claims->figures);
    struct tacit_claims_figure *figure = claims->figures;
    for (const struct config_node *item = list->first; item != NULL && figure != NULL;
         item = item->next)
        read_figure(reader, item, figure++);
    check_prefixes(reader);
}

/* ---- Public ---- */

enum tacit_status tacit_claims_load(struct tacit_claims **claims, const char *path,
                                    struct tacit_error *error)
{
    struct tacit_claims *const made = calloc(1, sizeof *made);
    error->text[0] = '\0';
    if (made == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = config_document_read(&made->document, path, error);
    if (status == TACIT_OK) {
        struct claims_reader reader = {.base = {made->document, error, TACIT_OK}, .claims = made};
        read_paper(&reader);
        status = reader.base.status;
    }
    if (status != TACIT_OK) {
        tacit_claims_free(made);
        return status;
    }
    *claims = made;
    return TACIT_OK;
}

void tacit_claims_free(struct tacit_claims *claims)
{
    if (claims == NULL)
        return;
    config_document_free(claims->document);
    free(claims);
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

void tacit_claims_error(const struct tacit_claims *claims, uint32_t line, const char *key,
                        const char *text, struct tacit_error *error)
{
    struct config_node const node = {.line = line};
    struct config_place const place = config_document_place(claims->document, &node);
    config_say(error, "%s: %s: %.500s", place.text, key, text);
}

/* The dashboard of a daemon, drawn from the JSON of its status. */
#include "board.h"
#include "tacit/dashboard.h"
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MAX 8u
#define ROWS_MAX 50u
#define CAUSES_MAX 32u
#define FACTS_MAX 4u
#define SERIES_MAX 7u /* as many colours as there are */
#define CELL_BYTES 600u

struct page {
    const struct live_board *board;
    struct tacit_dashboard shown;
    struct tacit_dashboard_table tables[TABLES_MAX];
    struct tacit_dashboard_cause causes[CAUSES_MAX];
    const char *facts[FACTS_MAX];
    char **texts; /* of all cells, in order */
    size_t text_count;
    size_t capacity;
    bool has_values; /* of arms: columns of their table */
    bool has_intervals;
    bool failed;
};

/* ---- Texts ----------------------------------------------------------------------------------- */

/* One more cell of the table that was begun last, in the manner of printf. */
__attribute__((format(printf, 2, 3))) static void add_cell(struct page *page, const char *format,
                                                           ...)
{
    char text[CELL_BYTES];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (page->text_count == page->capacity) {
        size_t const capacity = 2 * page->capacity + 64;
        char **const grown = realloc(page->texts, capacity * sizeof *grown);
        page->failed = page->failed || grown == NULL;
        if (grown == NULL)
            return;
        page->texts = grown;
        page->capacity = capacity;
    }
    char *const copy = strdup(text);
    page->failed = page->failed || copy == NULL;
    page->texts[page->text_count++] = copy;
}

static const char *text_of(const json_t *object, const char *member)
{
    char const *const text = json_string_value(json_object_get(object, member));
    return text == NULL ? "" : text;
}

static bool is_set(const json_t *object, const char *member)
{
    return json_is_true(json_object_get(object, member));
}

static json_int_t whole_of(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void begin_table(struct page *page, const char *id, const char *title, const char *lead,
                        const char *const *heads, uint32_t column_count)
{
    TACIT_ASSERT(page->shown.table_count < TABLES_MAX);
    page->tables[page->shown.table_count++] = (struct tacit_dashboard_table){
        .id = id,
        .title = title,
        .lead = lead,
        .heads = heads,
        .column_count = column_count,
        .row_count = (uint32_t)page->text_count}; /* until all texts are there: its first */
}

/* All texts are there, and stay where they are: tables get their cells. */
static void end_tables(struct page *page)
{
    TACIT_ASSERT(page->shown.table_count <= TABLES_MAX);
    uint32_t end = (uint32_t)page->text_count;
    for (uint32_t i = page->shown.table_count; i-- > 0;) {
        struct tacit_dashboard_table *const table = &page->tables[i];
        uint32_t const first = table->row_count;
        table->cells = (const char *const *)page->texts + first;
        table->row_count = (end - first) / table->column_count;
        end = first;
    }
}

/* Adds the rows of a list to the table that was begun last, up to what a page holds; those beyond
 * are counted. pass: which; NULL: all. */
static void put_rows(struct page *page, const json_t *list, bool (*pass)(const json_t *),
                     void (*put)(struct page *, const json_t *))
{
    struct tacit_dashboard_table *const table = &page->tables[page->shown.table_count - 1];
    uint32_t rows = 0;
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        if (pass != NULL && !pass(one))
            continue;
        if (rows++ < ROWS_MAX)
            put(page, one);
    }
    table->more_count += rows > ROWS_MAX ? rows - ROWS_MAX : 0;
}

/* ---- Arms ------------------------------------------------------------------------------------ */

/* Of a part of the range: a reward. */
static double reward_of(const struct page *page, const json_t *object, const char *member)
{
    double const lo = page->board->lo;
    return lo + json_number_value(json_object_get(object, member)) * (page->board->hi - lo);
}

static void add_value(struct page *page, const json_t *arm)
{
    json_t const *const votes = json_object_get(arm, "votes");
    if (json_is_number(json_object_get(arm, "mean")))
        add_cell(page, "%.4g", reward_of(page, arm, "mean"));
    else if (json_is_number(json_object_get(arm, "estimate")))
        add_cell(page, "%.4g", json_number_value(json_object_get(arm, "estimate")));
    else if (votes != NULL)
        add_cell(page, "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT,
                 json_integer_value(votes), whole_of(page->board->status, "votes_needed"));
    else
        add_cell(page, "%s", "");
}

/* A result has rewards, a status parts of the range. */
static void add_interval(struct page *page, const json_t *arm)
{
    bool const is_result = json_object_get(arm, "rank") != NULL;
    double const lower = json_number_value(json_object_get(arm, "lower"));
    double const upper = json_number_value(json_object_get(arm, "upper"));
    if (!json_is_number(json_object_get(arm, "lower")))
        add_cell(page, "%s", "");
    else if (is_result)
        add_cell(page, "%.4g to %.4g", lower, upper);
    else
        add_cell(page, "%.4g to %.4g", reward_of(page, arm, "lower"),
                 reward_of(page, arm, "upper"));
}

static void add_fate(struct page *page, const json_t *arm)
{
    json_int_t const epoch = whole_of(arm, "eliminated_epoch");
    json_t const *const rank = json_object_get(arm, "rank");
    if (is_set(arm, "retired"))
        add_cell(page, "retired by the operator");
    else if (json_is_false(json_object_get(arm, "present")))
        add_cell(page, "not there");
    else if (epoch > 0)
        add_cell(page, "out since round %" JSON_INTEGER_FORMAT, epoch);
    else if (json_is_false(json_object_get(arm, "in")))
        add_cell(page, "out");
    else if (json_is_integer(rank))
        add_cell(page, "in, rank %" JSON_INTEGER_FORMAT, json_integer_value(rank));
    else
        add_cell(page, "in");
}

static bool has_value(const json_t *arm)
{
    return json_is_number(json_object_get(arm, "mean")) ||
           json_is_number(json_object_get(arm, "estimate")) ||
           json_object_get(arm, "votes") != NULL;
}

static bool has_interval(const json_t *arm)
{
    return json_is_number(json_object_get(arm, "lower"));
}

static void put_arm(struct page *page, const json_t *arm)
{
    add_cell(page, "%s", text_of(arm, "name"));
    add_fate(page, arm);
    if (page->has_values)
        add_value(page, arm);
    if (page->has_intervals)
        add_interval(page, arm);
}

/* Columns that say nothing are left out. */
static void put_arms(struct page *page)
{
    static const char *const means[] = {"arm", "now", "#mean, noised", "#interval"};
    static const char *const intervals[] = {"arm", "now", "#interval"};
    static const char *const votes[] = {"arm", "now", "#votes against it"};
    json_t const *const first = json_array_get(page->board->arms, 0);
    bool const is_vote = json_object_get(first, "votes") != NULL;
    page->has_values = has_value(first);
    page->has_intervals = has_interval(first);
    bool const is_watching = strcmp(text_of(page->board->status, "phase"), "watching") == 0;
    if (is_watching && !page->has_values && !page->has_intervals)
        return; /* each site judges for itself: who is in is not known here */
    uint32_t const columns = 2u + (page->has_values ? 1 : 0) + (page->has_intervals ? 1 : 0);
    begin_table(page, "arms", "Arms", NULL,
                is_vote            ? votes
                : page->has_values ? means
                                   : intervals,
                columns);
    put_rows(page, page->board->arms, NULL, put_arm);
}

static void put_coefficient(struct page *page, const json_t *one)
{
    add_cell(page, "%s", text_of(one, "name"));
    add_cell(page, "%.4g", json_number_value(json_object_get(one, "value")));
    add_cell(page, "%.4g to %.4g", json_number_value(json_object_get(one, "lower")),
             json_number_value(json_object_get(one, "upper")));
}

static void put_model(struct page *page)
{
    static const char *const heads[] = {"feature", "#coefficient", "#interval"};
    json_t const *const model = json_object_get(page->board->status, "model");
    begin_table(page, "model", "Model", NULL, heads, 3);
    put_rows(page, json_object_get(model, "coefficients"), NULL, put_coefficient);
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static bool is_missing(const json_t *site)
{
    return is_set(site, "asked") && !is_set(site, "reported") && !is_set(site, "dropped");
}

static bool is_not_missing(const json_t *site)
{
    return !is_missing(site);
}

static void put_site(struct page *page, const json_t *site)
{
    json_t const *const heard = json_object_get(site, "heard_s");
    json_t const *const pulls = json_object_get(site, "pulls");
    json_int_t const open_s = whole_of(page->board->status, "round_s");
    char const *const also = is_set(site, "two_states") ? "; TWO STATES" : "";
    add_cell(page, "%s", text_of(site, "name"));
    if (is_missing(site))
        add_cell(page, "waited for, %" JSON_INTEGER_FORMAT " s: its report is missing%s", open_s,
                 also);
    else
        add_cell(page, "%s%s",
                 is_set(site, "dropped")    ? "removed"
                 : is_set(site, "reported") ? "has reported: it waits for the others"
                                            : "not asked",
                 also);
    if (json_is_integer(heard))
        add_cell(page, "%" JSON_INTEGER_FORMAT " s ago", json_integer_value(heard));
    else
        add_cell(page, "not yet");
    if (pulls != NULL)
        add_cell(page, "%" JSON_INTEGER_FORMAT " pulls", json_integer_value(pulls));
    else
        add_cell(page, "round %" JSON_INTEGER_FORMAT, whole_of(site, "last_report_epoch"));
}

static void put_sites(struct page *page)
{
    static const char *const heads[] = {"site", "this round", "heard", "#told last"};
    json_t const *const sites = json_object_get(page->board->status, "sites");
    if (sites == NULL)
        return;
    begin_table(page, "sites", "Sites", "Those that are waited for come first.", heads, 4);
    put_rows(page, sites, is_missing, put_site);
    put_rows(page, sites, is_not_missing, put_site);
}

/* ---- A site about itself, or a helper -------------------------------------------------------- */

static void put_waits(struct page *page, const json_t *status)
{
    json_t const *const waits = json_object_get(status, "waits_for");
    json_t const *const since = json_object_get(waits, "since_s");
    char const *const what = text_of(waits, "for");
    add_cell(page, "waits for");
    if (*what == '\0')
        add_cell(page, "nothing");
    else if (json_is_number(since))
        add_cell(page, "%s, for %.0f s", what, json_number_value(since));
    else
        add_cell(page, "%s; nothing has moved for %" JSON_INTEGER_FORMAT " s", what,
                 whole_of(waits, "still_s"));
}

static void put_open(struct page *page, const json_t *status)
{
    add_cell(page, "decisions without a reward");
    add_cell(page, "%" JSON_INTEGER_FORMAT, whole_of(status, "open"));
    add_cell(page, "rewards that came too late, or not");
    add_cell(page, "%.3g %% of those that were due",
             100 * json_number_value(json_object_get(status, "missed_share")));
}

static void put_itself(struct page *page)
{
    static const char *const heads[] = {"this site", "now"};
    json_t const *const status = page->board->status;
    json_t const *const heard = json_object_get(status, "hub_heard_s");
    if (json_object_get(status, "open") == NULL)
        return;
    begin_table(page, "site", "This site", NULL, heads, 2);
    put_waits(page, status);
    put_open(page, status);
    add_cell(page, "coordinator");
    if (json_is_integer(heard))
        add_cell(page, "heard %" JSON_INTEGER_FORMAT " s ago, of round %" JSON_INTEGER_FORMAT,
                 json_integer_value(heard), whole_of(status, "hub_epoch"));
    else
        add_cell(page, "not heard since this agent started");
    add_cell(page, "budget");
    add_cell(page, "%.6g of epsilon %.6g spent",
             json_number_value(json_object_get(status, "spent_epsilon")),
             json_number_value(json_object_get(status, "budget_epsilon")));
}

/* In groups, which break where there is no room. */
static void add_key(struct page *page, const char *key)
{
    char groups[CELL_BYTES];
    size_t size = 0;
    for (size_t i = 0; key[i] != '\0' && size + 2 < sizeof groups; i++) {
        if (i > 0 && i % 8 == 0)
            groups[size++] = ' ';
        groups[size++] = key[i];
    }
    groups[size] = '\0';
    add_cell(page, "%s", groups);
}

static void put_pinned(struct page *page, const json_t *site)
{
    add_cell(page, "%s", text_of(site, "name"));
    add_cell(page, "%s",
             is_set(site, "left_out")  ? "LEFT OUT: its report is not in order"
             : is_set(site, "counted") ? "counted"
                                       : "not in it");
    add_key(page, text_of(site, "key"));
}

static void put_helper(struct page *page)
{
    static const char *const heads[] = {"this helper", "now"};
    static const char *const pins[] = {"site", "the last sum", "its key"};
    json_t const *const status = page->board->status;
    json_t const *const heard = json_object_get(status, "heard_s");
    if (json_object_get(status, "answers") == NULL)
        return;
    begin_table(page, "helper", "This helper", NULL, heads, 2);
    put_waits(page, status);
    add_cell(page, "coordinator");
    if (json_is_integer(heard))
        add_cell(page, "heard %" JSON_INTEGER_FORMAT " s ago", json_integer_value(heard));
    else
        add_cell(page, "not heard since this helper started");
    add_cell(page, "rounds that were answered");
    add_cell(page, "%" JSON_INTEGER_FORMAT, whole_of(status, "answers"));
    if (json_object_get(status, "pinned") == NULL)
        return;
    add_cell(page, "epsilon of a reward, by its noise alone");
    add_cell(page, "%.6g", json_number_value(json_object_get(status, "epsilon")));
    add_cell(page, "noise of the sites' own");
    if (json_number_value(json_object_get(status, "floor")) > 0)
        add_cell(page, "epsilon %.6g", json_number_value(json_object_get(status, "floor")));
    else
        add_cell(page, "none: with the coordinator it would have their exact sums");
    begin_table(page, "pinned", "Sites that were agreed to",
                "Each is known by its key alone, by its fingerprint.", pins, 3);
    put_rows(page, json_object_get(status, "pinned"), NULL, put_pinned);
}

/* ---- Changes, and what is wrong -------------------------------------------------------------- */

static void put_change(struct page *page, const json_t *change)
{
    add_cell(page, "%" JSON_INTEGER_FORMAT, whole_of(change, "number"));
    add_cell(page, "%s", text_of(change, "change"));
    add_cell(page, "round %" JSON_INTEGER_FORMAT ", %s", whole_of(change, "epoch"),
             text_of(change, "time"));
    add_cell(page, "%s. %s.", text_of(change, "privacy"), text_of(change, "guarantee"));
}

static void put_changes(struct page *page)
{
    static const char *const heads[] = {"number", "what", "since", "privacy; guarantee"};
    begin_table(page, "changes", "Changes by the operator", NULL, heads, 4);
    put_rows(page, json_object_get(page->board->status, "changes"), NULL, put_change);
}

static void put_causes(struct page *page)
{
    json_t const *const list = json_object_get(page->board->status, "causes");
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        if (page->shown.cause_count == CAUSES_MAX)
            break;
        page->causes[page->shown.cause_count++] = (struct tacit_dashboard_cause){
            text_of(one, "what"), text_of(one, "do"), text_of(one, "command"),
            strcmp(text_of(one, "state"), "attention") == 0};
    }
}

static void put_facts(struct page *page, char texts[FACTS_MAX][64])
{
    json_t const *const status = page->board->status;
    (void)snprintf(texts[0], 64, "%.60s", page->board->protocol);
    (void)snprintf(texts[1], 64, "%.60s", text_of(status, "phase"));
    (void)snprintf(texts[2], 64, "round %" JSON_INTEGER_FORMAT,
                   whole_of(status, json_object_get(status, "epoch") == NULL ? "round" : "epoch"));
    (void)snprintf(texts[3], 64, "%s the broker",
                   is_set(status, "connected") ? "connected to" : "NOT CONNECTED to");
    for (uint32_t i = 0; i < FACTS_MAX; i++)
        page->facts[i] = texts[i];
}

/* ---- The figure ------------------------------------------------------------------------------ */

/* Of an arm, the last value that there was; NaN: none. */
static double last_of(const struct live_history *history, uint32_t arm)
{
    TACIT_ASSERT(arm < history->arm_count);
    double last = NAN;
    for (uint32_t i = 0; i < history->count; i++) {
        struct live_history_point const *const point = &history->points[i];
        double const middle = (point->lowers[arm] + point->uppers[arm]) / 2;
        double const value = isnan(point->means[arm]) ? middle : point->means[arm];
        last = isnan(value) ? last : value;
    }
    return last;
}

/* The best of those that are not drawn yet, by their last values; UINT32_MAX: no more. */
static uint32_t next_arm(const struct live_history *history, uint64_t drawn)
{
    uint32_t best = UINT32_MAX;
    double most = -INFINITY;
    for (uint32_t arm = 0; arm < history->arm_count; arm++) {
        double const last = last_of(history, arm);
        if ((drawn >> arm & 1) == 0 && last > most) {
            best = arm;
            most = last;
        }
    }
    return best;
}

/* Four rows of values for each series: rounds, means, and the ends of the intervals. */
static void fill_series(const struct live_board *board, uint32_t arm, double *rows,
                        struct tacit_report_series *series)
{
    struct live_history const *const history = board->history;
    double const width = board->hi - board->lo;
    uint32_t const count = history->count;
    bool has_interval = false;
    for (uint32_t i = 0; i < count; i++) {
        struct live_history_point const *const point = &history->points[i];
        double const lower = point->lowers[arm];
        double const upper = point->uppers[arm];
        double const mean = point->means[arm];
        has_interval = has_interval || !isnan(lower);
        rows[i] = point->round;
        rows[count + i] = board->lo + width * (isnan(mean) ? (lower + upper) / 2 : mean);
        rows[2 * (size_t)count + i] = board->lo + width * lower;
        rows[3 * (size_t)count + i] = board->lo + width * upper;
    }
    *series = (struct tacit_report_series){.label = board->arm_names[arm],
                                           .count = count,
                                           .x = rows,
                                           .y = rows + count,
                                           .lo = has_interval ? rows + 2 * (size_t)count : NULL,
                                           .hi = has_interval ? rows + 3 * (size_t)count : NULL};
}

/* NULL: there is nothing to draw. Else to be given to free(). */
static double *draw(const struct live_board *board, struct tacit_report_series series[SERIES_MAX],
                    struct tacit_report_figure *figure)
{
    struct live_history const *const history = board->history;
    uint64_t drawn = 0;
    if (history == NULL || history->points == NULL || history->count < 2)
        return NULL;
    double *const rows = calloc((size_t)SERIES_MAX * 4 * history->count, sizeof *rows);
    *figure = (struct tacit_report_figure){.id = "rounds",
                                           .title = "Means of the arms over rounds, as released",
                                           .x_label = "round",
                                           .y_label = "mean reward",
                                           .series = series};
    while (rows != NULL && figure->series_count < SERIES_MAX) {
        uint32_t const arm = next_arm(history, drawn);
        if (arm == UINT32_MAX)
            break;
        drawn |= UINT64_C(1) << arm;
        fill_series(board, arm, rows + (size_t)figure->series_count * 4 * history->count,
                    &series[figure->series_count]);
        figure->series_count++;
    }
    return rows;
}

/* ---- The page -------------------------------------------------------------------------------- */

static void write_page(struct page *page, struct live_buffer *out)
{
    TACIT_ASSERT(page->shown.name != NULL && page->shown.role != NULL);
    char *text = NULL;
    size_t size = 0;
    FILE *const memory = page->failed ? NULL : open_memstream(&text, &size);
    out->failed = out->failed || memory == NULL;
    if (memory == NULL)
        return;
    bool is_good = tacit_dashboard_write(&page->shown, memory) == TACIT_OK;
    is_good = fclose(memory) == 0 && is_good;
    out->failed = out->failed || !is_good;
    if (is_good)
        live_buffer_add_bytes(out, text, size);
    free(text);
}

void live_board_write(const struct live_board *board, struct live_buffer *out)
{
    struct page page = {.board = board};
    struct tacit_report_series series[SERIES_MAX];
    struct tacit_report_figure figure;
    char facts[FACTS_MAX][64];
    double *const rows = draw(board, series, &figure);
    put_facts(&page, facts);
    put_causes(&page);
    put_itself(&page);
    put_helper(&page);
    put_arms(&page);
    put_model(&page);
    put_sites(&page);
    put_changes(&page);
    end_tables(&page);
    page.shown.name = text_of(board->status, "federation");
    page.shown.role = board->role;
    page.shown.facts = page.facts;
    page.shown.fact_count = FACTS_MAX;
    page.shown.answer = json_string_value(json_object_get(board->status, "headline"));
    page.shown.is_decided = *text_of(board->status, "winner") != '\0';
    page.shown.causes = page.causes;
    page.shown.tables = page.tables;
    page.shown.figure = rows == NULL || figure.series_count == 0 ? NULL : &figure;
    page.shown.statement = board->statement;
    page.shown.version = board->version;
    write_page(&page, out);
    for (size_t i = 0; i < page.text_count; i++)
        free(page.texts[i]);
    free(page.texts);
    free(rows);
}

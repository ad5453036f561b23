/* A plan as JSON, as a table, as CSV and as a page: the sentence first, then every choice with the
 * slots it needs and what it costs. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 240u
#define SETTINGS_BYTES (2u * TACIT_REPORT_SETTING_BYTES + 60u)

/* ---- Words ---- */

struct kind {
    char text[64];
};

/* "phased-index" of "{kind: phased-index, confidence: 0.95}". */
static struct kind kind_of(const char *setting)
{
    struct kind kind;
    char const *const at = strstr(setting, "kind: ") + strlen("kind: ");
    (void)snprintf(kind.text, sizeof kind.text, "%.*s", (int)strcspn(at, ",}"), at);
    return kind;
}

void tacit_report_choice_words(const struct tacit_report_choice *choice, char *text, size_t size)
{
    char *const protocol = tacit_report_setting_words(choice->protocol);
    char *const network = tacit_report_setting_words(choice->network);
    (void)snprintf(text, size, "%s%s over %s", protocol == NULL ? "" : protocol,
                   protocol != NULL && strchr(protocol, ',') != NULL ? "," : "",
                   network == NULL ? "" : network);
    free(protocol);
    free(network);
}

/* What to give `tacit run`. */
static void put_settings(const struct tacit_report_choice *choice, char *text, size_t size)
{
    (void)snprintf(text, size, "--set \"protocol=%s\" --set \"network=%s\"", choice->protocol,
                   choice->network);
}

/* ---- JSON ---- */

static void put_choice_json(const struct tacit_report_choice *choice, bool is_first, FILE *out)
{
    json_put(out,
             "%-s\n  {\n   \"protocol\": %s,\n   \"network\": %s,\n   \"own\": %-s,\n"
             "   \"settings\": {\n    \"protocol\": %s,\n    \"network\": %s\n   },\n",
             is_first ? "" : ",", kind_of(choice->protocol).text, kind_of(choice->network).text,
             choice->is_own ? "true" : "false", choice->protocol, choice->network);
    json_put(out,
             "   \"horizon_formula\": %.17g,\n   \"horizon_needed\": %.17g,\n"
             "   \"slots_needed\": %.17g,\n   \"decides\": %-s,\n   \"rounds\": %.17g,\n"
             "   \"bytes\": %.17g,\n   \"cost\": %.17g,\n   \"regret\": %.17g,\n"
             "   \"regret_formula\": %.17g",
             choice->formula * choice->samples, choice->slots_needed * choice->samples,
             choice->slots_needed, choice->decides ? "true" : "false", choice->rounds,
             choice->bytes, choice->cost, choice->regret, choice->regret_formula);
    if (isfinite(choice->days_needed))
        json_put(out, ",\n   \"days_needed\": %.17g", choice->days_needed);
    (void)fputs("\n  }", out);
}

/* What a second aggregator saves. */
static void put_two_json(const struct tacit_report_plan *plan, FILE *out)
{
    struct tacit_report_choice const *const best = plan->best;
    json_put(out,
             ",\n \"two_aggregators\": {\n  \"protocol\": %s,\n  \"settings\": {\n"
             "   \"protocol\": %s,\n   \"network\": %s\n  },\n  \"regret\": %.17g,\n"
             "  \"regret_of_one\": %.17g,\n  \"horizon_formula\": %.17g,\n"
             "  \"horizon_formula_of_one\": %.17g\n }",
             kind_of(best->protocol).text, best->protocol, best->network, plan->two.regret,
             best->regret, plan->two.formula * best->samples, best->formula * best->samples);
}

static void put_traffic_json(const double *traffic, FILE *out)
{
    static const char *const names[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        json_put(out, "%-s\n  %s: %.17g", i == 0 ? ",\n \"traffic\": {" : ",", names[i],
                 traffic[i]);
    (void)fputs("\n }", out);
}

static enum tacit_status fill_json(const void *subject, FILE *out)
{
    const struct tacit_report_plan *const plan = subject;
    (void)fputs("{\n \"plans\": [", out);
    for (uint32_t i = 0; i < plan->choice_count; i++)
        put_choice_json(&plan->choices[i], i == 0, out);
    json_put(out, "%-s],\n \"horizon\": %lu,\n \"sentence\": %s",
             plan->choice_count == 0 ? "" : "\n ", plan->horizon, plan->sentence);
    if (plan->instance != NULL)
        json_put(out, ",\n \"instance\": %s", plan->instance);
    if (plan->remark != NULL)
        json_put(out, ",\n \"remark\": %s", plan->remark);
    if (plan->days[0] != '\0')
        json_put(out, ",\n \"days\": %s", plan->days);
    if (plan->traffic != NULL)
        put_traffic_json(plan->traffic, out);
    if (plan->best != NULL)
        put_two_json(plan, out);
    (void)fputs("\n}\n", out);
    return report_finish(out);
}

enum tacit_status tacit_report_plan_json(const struct tacit_report_plan *plan, FILE *out)
{
    locale_t const before = report_locale_enter();
    enum tacit_status const status = fill_json(plan, out);
    report_locale_leave(before);
    return status;
}

/* ---- The terminal ---- */

/* What is not finite is a dash. */
static void put_number(double value, int width, int places, FILE *out)
{
    if (isfinite(value))
        (void)fprintf(out, " %*.*f", width, places, value);
    else
        (void)fprintf(out, " %*s", width, "-");
}

static void put_lines(const struct tacit_report_plan *plan, FILE *out)
{
    (void)fprintf(out, "\n%-52s %-18s %12s %12s %8s %12s %10s %12s\n", "protocol", "network",
                  "by formula", "slots needed", "rounds", "bytes", "cost", "regret");
    for (uint32_t i = 0; i < plan->choice_count; i++) {
        const struct tacit_report_choice *const choice = &plan->choices[i];
        (void)fprintf(out, "%-52s %-18s", choice->protocol, choice->network);
        put_number(choice->formula, 12, 0, out);
        put_number(choice->slots_needed, 12, 0, out);
        put_number(choice->rounds, 8, 1, out);
        put_number(choice->bytes, 12, 0, out);
        put_number(choice->cost, 10, 0, out);
        put_number(choice->regret, 12, 1, out);
        (void)fputs(choice->is_own ? " *\n" : "\n", out);
    }
}

static void put_two(const struct tacit_report_plan *plan, FILE *out)
{
    (void)fprintf(out,
                  "A second aggregator, operated by somebody else (privacy.trust.aggregators=2): "
                  "%s loses %.1f in place of %.1f",
                  plan->best->protocol, plan->two.regret, plan->best->regret);
    if (isfinite(plan->two.formula) && isfinite(plan->best->formula))
        (void)fprintf(out, ", and by formula needs %.0f slots in place of %.0f", plan->two.formula,
                      plan->best->formula);
    (void)fprintf(out, ".\n");
}

/* What the table does not say by itself. */
static void put_notes(const struct tacit_report_plan *plan, FILE *out)
{
    bool has_unsure = false;
    bool has_own = false;
    for (uint32_t i = 0; i < plan->choice_count; i++) {
        has_unsure = has_unsure || plan->choices[i].never_sure;
        has_own = has_own || plan->choices[i].is_own;
    }
    (void)fprintf(out,
                  "\nRounds, bytes, cost and regret at the file's horizon of %" PRIu64
                  " slots; means of %" PRIu32 " runs. Slots needed:\nthe horizon at which 95 %% of "
                  "the runs decide, to within 5 %%. Run one: tacit run %s --set protocol=... --set "
                  "network=...",
                  plan->horizon, plan->run_count, plan->file);
    if (plan->instance != NULL)
        (void)fprintf(out, " --set \"%s\"%s", plan->instance,
                      plan->has_range ? " --set \"" TACIT_REPORT_UNIT_RANGE "\"" : "");
    (void)fputc('\n', out);
    if (plan->width < 1 || plan->width > 1)
        (void)fprintf(out,
                      "With --gap a reward is one of the two ends of the range; a run as above has "
                      "them at 0 and 1, and its\nregret is %g times the one above.\n",
                      1 / plan->width);
    if (plan->best != NULL)
        put_two(plan, out);
    (void)fputs(has_own ? "* the file's own protocol and network\n" : "", out);
    (void)fputs(has_unsure
                    ? "gossip-ucb learns all the time and never says that it is sure: it has "
                      "no slots that it needs.\n"
                    : "",
                out);
}

enum tacit_status tacit_report_plan_table(const struct tacit_report_plan *plan, FILE *out)
{
    locale_t const before = report_locale_enter();
    (void)fprintf(out, "%s\n", plan->sentence);
    if (plan->days[0] != '\0')
        (void)fprintf(out, "%s\n", plan->days);
    if (plan->remark != NULL)
        term_put(out, "data: %s\n", plan->remark);
    put_lines(plan, out);
    put_notes(plan, out);
    report_locale_leave(before);
    return report_finish(out);
}

/* ---- The figure ---- */

struct plan_drawing {
    double x[TACIT_REPORT_CHOICES_MAX]; /* rows have none */
    double y[TACIT_REPORT_CHOICES_MAX];
    char names[TACIT_REPORT_CHOICES_MAX][NAME_BYTES];
    const char *labels[TACIT_REPORT_CHOICES_MAX];
    double have[2]; /* the line of the slots that there are */
    double ends[2];
    char have_label[100];
    struct tacit_report_series series[2];
    struct tacit_report_figure figure;
};

/* "2. phased-index, confidence 0.95, over star": as in the table. */
static void name_choice(const struct tacit_report_plan *plan, uint32_t index, char *name)
{
    char words[2 * TACIT_REPORT_SETTING_BYTES];
    tacit_report_choice_words(&plan->choices[index], words, sizeof words);
    (void)snprintf(name, NAME_BYTES, "%" PRIu32 ". %.200s", index + 1, words);
}

/* Requires: drawing stays where it is: the figure points into it. */
static void draw(const struct tacit_report_plan *plan, struct plan_drawing *drawing)
{
    uint32_t count = 0;
    TACIT_ASSERT(plan->choice_count <= TACIT_REPORT_CHOICES_MAX);
    *drawing = (struct plan_drawing){.have = {(double)plan->horizon, (double)plan->horizon}};
    for (uint32_t i = 0; i < plan->choice_count; i++) {
        if (!isfinite(plan->choices[i].slots_needed))
            continue;
        drawing->y[count] = plan->choices[i].slots_needed;
        name_choice(plan, i, drawing->names[count]);
        drawing->labels[count] = drawing->names[count];
        count++;
    }
    (void)snprintf(drawing->have_label, sizeof drawing->have_label, "slots that you have: %s",
                   report_grouped(plan->horizon).text);
    drawing->series[0] = (struct tacit_report_series){
        .label = "", .count = count, .x = drawing->x, .y = drawing->y, .names = drawing->labels};
    drawing->series[1] = (struct tacit_report_series){.label = drawing->have_label,
                                                      .count = 2,
                                                      .x = drawing->ends,
                                                      .y = drawing->have,
                                                      .is_reference = true};
    drawing->figure = (struct tacit_report_figure){.id = "slots",
                                                   .title = "Slots needed",
                                                   .y_label = "slots needed, a site",
                                                   .y_is_log = true,
                                                   .series = drawing->series,
                                                   .series_count = count > 0 ? 2 : 0,
                                                   .is_rows = true};
}

/* ---- The page ---- */

static void put_choice(const struct tacit_report_plan *plan, uint32_t index, FILE *out)
{
    const struct tacit_report_choice *const choice = &plan->choices[index];
    char name[NAME_BYTES];
    char settings[SETTINGS_BYTES];
    name_choice(plan, index, name);
    put_settings(choice, settings, sizeof settings);
    html_put(out,
             "<tr><th scope=\"row\">%s<br><code>%s</code></th><td>%-s</td><td class=\"n\">%-s</td>"
             "<td class=\"n\">%.4g</td><td class=\"n\">%.4g</td><td class=\"n\">%.4g</td>"
             "<td class=\"n\">%.4g</td></tr>\n",
             name, settings, choice->decides ? "yes" : "no",
             isfinite(choice->slots_needed) ? report_rounded(choice->slots_needed, 5).text
             : choice->never_sure           ? "never sure"
                                            : "too many",
             choice->rounds, choice->bytes, choice->cost, choice->regret);
}

static void put_choices(const struct tacit_report_plan *plan, FILE *out)
{
    static const char *const heads[] = {"protocol and network",
                                        "decides in time",
                                        "#slots needed",
                                        "#rounds",
                                        "#bytes",
                                        "#cost",
                                        "#regret"};
    char lead[300];
    (void)snprintf(lead, sizeof lead,
                   "Rounds, bytes, cost (each link that was used, times its price) and regret "
                   "(reward missed against always playing the best arm) in %s slots a site; means "
                   "of %" PRIu32 " runs. Slots needed: the horizon at which 95 %% of the runs "
                   "decide, to within 5 %%.",
                   report_grouped(plan->horizon).text, plan->run_count);
    report_html_section("choices", "What fits this file", lead, out);
    report_html_table("What fits this file", "plain", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t i = 0; i < plan->choice_count; i++)
        put_choice(plan, i, out);
    report_html_table_end(out);
    report_html_section_end(out);
}

struct plan_page {
    const struct tacit_report_plan *plan;
    const struct tacit_report_figure *figure;
    const struct report_file *files;
    size_t file_count;
};

static enum tacit_status fill_page(const void *subject, FILE *out)
{
    const struct plan_page *const page = subject;
    const struct tacit_report_plan *const plan = page->plan;
    bool const decides = plan->choice_count > 0 && plan->choices[0].decides;
    report_html_top(plan->name, "what tells the arms apart", plan->remark, NULL, out);
    report_html_fact(plan->choice_count, "choice", "choices", out);
    report_html_fact(plan->horizon, "slot a site", "slots a site", out);
    report_html_header_end(out);
    report_html_answer_begin(decides ? " win" : " open", out);
    html_put(out, "%s%-s%s</p></section>\n", plan->sentence, plan->days[0] == '\0' ? "" : "; ",
             plan->days);
    if (page->figure->series_count > 0)
        report_html_figure(page->figure,
                           "Until 95 % of the runs decide; left of the line is in time.", out);
    if (plan->choice_count > 0)
        put_choices(plan, out);
    TACIT_TRY(report_html_data(page->files, page->file_count, out));
    report_html_bottom(plan->version, out);
    return report_finish(out);
}

/* ---- The directory ---- */

static enum tacit_status fill_csv(const void *subject, FILE *out)
{
    const struct tacit_report_plan *const plan = subject;
    (void)fputs("protocol,network,settings,decides,slots_needed,rounds,bytes,cost,regret\n", out);
    for (uint32_t i = 0; i < plan->choice_count; i++) {
        const struct tacit_report_choice *const choice = &plan->choices[i];
        char settings[SETTINGS_BYTES];
        put_settings(choice, settings, sizeof settings);
        csv_put(out, "%-s,%-s,%s,%u,%g,%g,%g,%g,%g\n", kind_of(choice->protocol).text,
                kind_of(choice->network).text, settings, choice->decides ? 1u : 0u,
                choice->slots_needed, choice->rounds, choice->bytes, choice->cost, choice->regret);
    }
    return report_finish(out);
}

static enum tacit_status write_files(const struct tacit_report_plan *plan,
                                     const struct tacit_report_figure *figure,
                                     const char *directory, struct tacit_error *error)
{
    struct report_file files[4] = {
        {"plan.json", "everything, exactly", "application/json", true, fill_json, plan},
        {"plan.csv", "a line a choice", "text/csv", true, fill_csv, plan},
        {"slots.svg", "the figure", "image/svg+xml", false, report_fill_figure, figure}};
    size_t const count = figure->series_count > 0 ? 3 : 2;
    struct plan_page const page = {plan, figure, files, count};
    files[count] = (struct report_file){.name = "report.html", .fill = fill_page, .subject = &page};
    return report_write_files(directory, files, count + 1, error);
}

enum tacit_status tacit_report_plan_write(const struct tacit_report_plan *plan,
                                          const char *directory, struct tacit_error *error)
{
    struct plan_drawing drawing;
    locale_t const before = report_locale_enter();
    draw(plan, &drawing);
    enum tacit_status const status = write_files(plan, &drawing.figure, directory, error);
    report_locale_leave(before);
    return status;
}

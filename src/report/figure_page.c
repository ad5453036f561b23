/* report.html of a paper: each figure beside what the paper shows, and each claim with its number;
 * and the directory that takes it. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PLUS_MINUS "\xc2\xb1"

static void put_text(FILE *out, const char *text)
{
    report_put(out, text, REPORT_HTML);
}

static void put_header(const struct tacit_report_paper *paper, FILE *out)
{
    struct report_tally const tally = report_tally_of(paper);
    uint32_t runs = 0;
    for (uint32_t i = 0; i < paper->experiment_count; i++)
        runs += paper->experiments[i].run_count;
    report_html_top(paper->title, NULL, NULL, NULL, out);
    report_html_fact(paper->section_count, "figure", "figures and tables", out);
    report_html_fact(paper->experiment_count, "experiment", "experiments", out);
    report_html_fact(runs, "run", "runs", out);
    if (paper->is_fast)
        (void)fputs("<span>fast version: few runs each</span>", out);
    report_html_header_end(out);
    (void)fprintf(out, "<section id=\"answer\" class=\"box%s\"><h2>Answer</h2>\n<p class=\"say\">",
                  !tacit_report_as_recorded(paper)              ? " warn"
                  : tally.verdicts[TACIT_VERDICT_UNDECIDED] > 0 ? " open"
                                                                : " win");
    put_text(out, report_tally_text(paper).text);
    if (paper->fast_note != NULL) {
        (void)fputs("</p>\n<p><b>The fast version is another experiment:</b> ", out);
        put_text(out, paper->fast_note);
    }
    (void)fputs("</p>\n<p>A claim of the paper holds if the 95 % interval of its measure lies in "
                "the band, does not hold if all of it lies outside, and is undecided else: too few "
                "runs to say. A limit or an upper bound that these runs do not come to is not "
                "reached, which refutes nothing. Intervals come from leaving out one run at a "
                "time; runs of the same "
                "number share their arms. \"As recorded\" compares with the verdicts in the claims "
                "file. In figures, an arrow at an interval says that it goes on beyond the figure. "
                "The paper's own figures are not copied here: what they show is told in our "
                "words.</p></section>\n",
                out);
}

static void put_claim(const struct tacit_report_paper *paper,
                      const struct tacit_report_claim *claim, FILE *out)
{
    static const char *const styles[TACIT_VERDICT_COUNT] = {"yes", "no", "open", "open", "open"};
    enum tacit_verdict const verdict = tacit_report_claim_verdict(claim);
    (void)fprintf(out, "<tr><td><span class=\"verdict %s\">%s</span>%s</td><td>", styles[verdict],
                  report_verdict_text(verdict),
                  report_is_expected(paper, claim) ? "" : "<br><b>not as recorded</b>");
    put_text(out, claim->says);
    (void)fputs(" <span class=\"soft\">", out);
    put_text(out, claim->where);
    (void)fputs("</span><br><code>", out);
    put_text(out, claim->measure);
    (void)fputs("</code>", out);
    struct report_remark remarks[REPORT_REMARKS];
    uint32_t const count = report_claim_remarks(claim, remarks);
    for (uint32_t i = 0; i < count; i++) {
        (void)fprintf(out, "<p class=\"why\"><b>%s.</b> ", remarks[i].head);
        put_text(out, remarks[i].text);
        (void)fputs("</p>", out);
    }
    (void)fprintf(out, "</td><td class=\"n\">%s</td>", report_claim_value(claim, PLUS_MINUS).text);
    (void)fprintf(out, "<td class=\"n\">%s</td></tr>\n", report_claim_band(claim).text);
}

static void put_section(const struct tacit_report_paper *paper,
                        const struct tacit_report_section *section, FILE *out)
{
    static const char *const heads[] = {"verdict", "claim and measure",
                                        "#value " PLUS_MINUS " 95 %", "#band"};
    report_html_section(section->figure.id, section->figure.title, NULL, out);
    (void)fputs("<div class=\"pair\"><div>", out);
    if (section->hours_left == 0)
        report_figure_draw(&section->figure, out);
    else
        (void)fprintf(out,
                      "<p class=\"lead\">Not run here: it takes about %" PRIu32
                      " hours of processor time, and is run when it is asked for by its ID.</p>",
                      section->hours_left);
    (void)fputs("</div><div><h3>The paper</h3><p>", out);
    put_text(out, section->paper_shows);
    (void)fputs("</p>", out);
    if (section->we_show != NULL) {
        (void)fputs("<h3>Here</h3><p>", out);
        put_text(out, section->we_show);
        (void)fputs("</p>", out);
    }
    (void)fputs("</div></div>\n", out);
    report_html_table(section->figure.title, "claims", heads, 4, out);
    for (uint32_t i = 0; i < section->claim_count; i++)
        put_claim(paper, &section->claims[i], out);
    report_html_table_end(out);
    report_html_section_end(out);
}

/* ---- All experiments ---- */

static const char *const columns[] = {"regret", "regret_exploit", "rounds", "cost", "messages"};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

/* NULL: it has none of that name. */
static const struct tacit_report_metric *metric_of(const struct tacit_report_experiment *experiment,
                                                   const char *name)
{
    for (uint32_t i = 0; i < experiment->metric_count; i++)
        if (strcmp(experiment->metrics[i].metric->name, name) == 0)
            return &experiment->metrics[i];
    return NULL;
}

/* The words of a column, by the first experiment that has it; its name if none has. */
static const char *label_of(const struct tacit_report_paper *paper, const char *name)
{
    for (uint32_t i = 0; i < paper->experiment_count; i++) {
        const struct tacit_report_metric *const metric = metric_of(&paper->experiments[i], name);
        if (metric != NULL)
            return metric->metric->label;
    }
    return name;
}

static void put_experiment(const struct tacit_report_experiment *experiment, FILE *out)
{
    (void)fputs("<tr><th scope=\"row\"><code>", out);
    put_text(out, experiment->name);
    (void)fputs("</code></th>", out);
    report_html_number(report_grouped(experiment->run_count).text, out);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const struct tacit_report_metric *const metric = metric_of(experiment, columns[i]);
        if (metric == NULL) {
            report_html_summary(NULL, out);
            continue;
        }
        struct tacit_report_summary const summary =
            tacit_report_summarise(metric->values, experiment->run_count, 1);
        report_html_summary(&summary, out);
    }
    (void)fputs("</tr>\n", out);
}

static void put_experiments(const struct tacit_report_paper *paper, FILE *out)
{
    static const char *const first[] = {"experiment", "#runs"};
    report_html_section(
        "experiments", "All experiments",
        "Means over the runs with 95 % intervals. Each is a file beside the claims; "
        "`tacit run FILE` runs one alone. results.json has every metric.",
        out);
    report_html_table("All experiments", "plain", NULL, 0, out);
    report_html_heads(first, 2, out);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        (void)fputs("<th scope=\"col\" class=\"n\">", out);
        put_text(out, label_of(paper, columns[i]));
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    for (uint32_t i = 0; i < paper->experiment_count; i++)
        put_experiment(&paper->experiments[i], out);
    report_html_table_end(out);
    report_html_section_end(out);
}

enum tacit_status report_paper_html(const struct tacit_report_paper *paper,
                                    const struct report_file *files, size_t file_count, FILE *out)
{
    put_header(paper, out);
    for (uint32_t i = 0; i < paper->section_count; i++)
        put_section(paper, &paper->sections[i], out);
    put_experiments(paper, out);
    enum tacit_status const status = report_html_data(files, file_count, out);
    if (status != TACIT_OK)
        return status;
    report_html_bottom(paper->version, out);
    return report_finish(out);
}

/* ---- The curves as numbers ---- */

static void put_quoted(const char *text, FILE *out)
{
    (void)fputc('"', out);
    report_put(out, text, REPORT_CSV);
    (void)fputc('"', out);
}

static void put_value(double value, FILE *out)
{
    (void)fprintf(out, ",%s", isfinite(value) ? report_exact(value).text : "");
}

/* The lines of one series; a band that is no interval around y stands as its two ends. */
static void put_series_lines(const struct tacit_report_figure *figure,
                             const struct tacit_report_series *series, FILE *out)
{
    for (uint32_t i = 0; i < series->count; i++) {
        bool const is_band = series->lo != NULL && series->hi != NULL;
        put_quoted(figure->id, out);
        (void)fputc(',', out);
        put_quoted(series->label, out);
        (void)fputc(',', out);
        put_quoted(series->names == NULL ? "" : series->names[i], out);
        put_value(series->x[i], out);
        put_value(series->y[i], out);
        put_value(is_band || series->ci95 == NULL ? NAN : series->ci95[i], out);
        put_value(is_band ? series->lo[i] : NAN, out);
        put_value(is_band ? series->hi[i] : NAN, out);
        (void)fputc('\n', out);
    }
}

enum tacit_status report_paper_curves(const struct tacit_report_paper *paper, FILE *out)
{
    (void)fputs("figure,series,point,x,y,y_ci95,y_low,y_high\n", out);
    for (uint32_t i = 0; i < paper->section_count; i++)
        for (uint32_t j = 0; j < paper->sections[i].figure.series_count; j++)
            put_series_lines(&paper->sections[i].figure, &paper->sections[i].figure.series[j], out);
    return report_finish(out);
}

/* ---- The directory ---- */

struct paper_page {
    const struct tacit_report_paper *paper;
    const struct report_file *files;
    size_t file_count;
};

static enum tacit_status fill_html(const void *subject, FILE *out, struct tacit_error *error)
{
    const struct paper_page *const page = subject;
    (void)error;
    return report_paper_html(page->paper, page->files, page->file_count, out);
}

static enum tacit_status fill_curves(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return report_paper_curves(subject, out);
}

static enum tacit_status fill_json(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return tacit_report_paper_json(subject, out);
}

static enum tacit_status fill_markdown(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return report_paper_markdown(subject, out);
}

static enum tacit_status fill_svg(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return tacit_report_figure_svg(subject, out);
}

#define FILES 3u

static enum tacit_status write_files(const struct tacit_report_paper *paper,
                                     const struct report_place *place)
{
    struct report_file const files[FILES] = {
        {"results.json", "claims with their verdicts, and every metric", "application/json", true,
         fill_json, paper},
        {"curves.csv", "what the figures draw: a line a figure, series and point", "text/csv", true,
         fill_curves, paper},
        {"claims.md", "the claims as text", "text/markdown", false, fill_markdown, paper}};
    struct paper_page const page = {paper, files, FILES};
    enum tacit_status status = TACIT_OK;
    for (size_t i = 0; i < FILES && status == TACIT_OK; i++)
        status = report_place_write(place, files[i].name, files[i].fill, files[i].subject);
    if (status == TACIT_OK)
        status = report_place_write(place, "report.html", fill_html, &page);
    for (uint32_t i = 0; i < paper->section_count && status == TACIT_OK; i++) {
        struct tacit_report_figure const *const figure = &paper->sections[i].figure;
        char name[80];
        (void)snprintf(name, sizeof name, "%s.svg", figure->id);
        if (paper->sections[i].hours_left == 0)
            status = report_place_write(place, name, fill_svg, figure);
    }
    return status;
}

enum tacit_status tacit_report_paper_write(const struct tacit_report_paper *paper,
                                           const char *directory, struct tacit_error *error)
{
    struct report_place place;
    enum tacit_status status = report_place_open(&place, directory, error);
    if (status != TACIT_OK)
        return status;
    locale_t const before = report_locale_enter();
    status = write_files(paper, &place);
    report_locale_leave(before);
    report_place_close(&place);
    return status;
}

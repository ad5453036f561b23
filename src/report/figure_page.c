/* report.html of a paper: each figure beside what the paper shows, and each claim with its number;
 * and the directory that takes it. */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLUS_MINUS "\xc2\xb1"

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
    report_html_answer_begin(!tacit_report_as_recorded(paper)              ? " warn"
                             : tally.verdicts[TACIT_VERDICT_UNDECIDED] > 0 ? " open"
                                                                           : " win",
                             out);
    html_put(out, "%s", report_tally_text(paper).text);
    if (paper->fast_note != NULL)
        html_put(out, "</p>\n<p><b>The fast version is another experiment:</b> %s",
                 paper->fast_note);
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
    html_put(out,
             "<tr><td><span class=\"verdict %-s\">%-s</span>%-s</td><td>%s <span class=\"soft\">%s"
             "</span><br><code>%s</code>",
             styles[verdict], report_verdict_text(verdict),
             report_is_expected(paper, claim) ? "" : "<br><b>not as recorded</b>", claim->says,
             claim->where, claim->measure);
    struct report_remark remarks[REPORT_REMARKS];
    uint32_t const count = report_claim_remarks(claim, remarks);
    for (uint32_t i = 0; i < count; i++)
        html_put(out, "<p class=\"why\"><b>%-s.</b> %s</p>", remarks[i].head, remarks[i].text);
    html_put(out, "</td><td class=\"n\">%-s</td><td class=\"n\">%-s</td></tr>\n",
             report_claim_value(claim, PLUS_MINUS).text, report_claim_band(claim).text);
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
        html_put(out,
                 "<p class=\"lead\">Not run here: it takes about %u hours of processor time, and "
                 "is run when it is asked for by its ID.</p>",
                 section->hours_left);
    html_put(out, "</div><div><h3>The paper</h3><p>%s</p>", section->paper_shows);
    if (section->we_show != NULL)
        html_put(out, "<h3>Here</h3><p>%s</p>", section->we_show);
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
    html_put(out, "<tr><th scope=\"row\"><code>%s</code></th><td class=\"n\">%-u</td>",
             experiment->name, experiment->run_count);
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
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        html_put(out, "<th scope=\"col\" class=\"n\">%s</th>", label_of(paper, columns[i]));
    (void)fputs("</tr></thead><tbody>\n", out);
    for (uint32_t i = 0; i < paper->experiment_count; i++)
        put_experiment(&paper->experiments[i], out);
    report_html_table_end(out);
    report_html_section_end(out);
}

struct page {
    const struct tacit_report_paper *paper;
    const struct report_file *files;
};

#define FILES 3u /* that the page tells of */

static enum tacit_status fill_page(const void *subject, FILE *out)
{
    const struct page *const page = subject;
    const struct tacit_report_paper *const paper = page->paper;
    put_header(paper, out);
    for (uint32_t i = 0; i < paper->section_count; i++)
        put_section(paper, &paper->sections[i], out);
    put_experiments(paper, out);
    TACIT_TRY(report_html_data(page->files, FILES, out));
    report_html_bottom(paper->version, out);
    return report_finish(out);
}

/* ---- The curves as numbers ---- */

/* The lines of one series; a band that is no interval around y stands as its two ends. */
static void put_series_lines(const struct tacit_report_figure *figure,
                             const struct tacit_report_series *series, FILE *out)
{
    bool const is_band = series->lo != NULL && series->hi != NULL;
    for (uint32_t i = 0; i < series->count; i++)
        csv_put(out, "%s,%s,%s,%g,%g,%g,%g,%g\n", figure->id, series->label,
                series->names == NULL ? "" : series->names[i], series->x[i], series->y[i],
                is_band || series->ci95 == NULL ? NAN : series->ci95[i],
                is_band ? series->lo[i] : NAN, is_band ? series->hi[i] : NAN);
}

static enum tacit_status fill_curves(const void *subject, FILE *out)
{
    const struct tacit_report_paper *const paper = subject;
    (void)fputs("figure,series,point,x,y,y_ci95,y_low,y_high\n", out);
    for (uint32_t i = 0; i < paper->section_count; i++)
        for (uint32_t j = 0; j < paper->sections[i].figure.series_count; j++)
            put_series_lines(&paper->sections[i].figure, &paper->sections[i].figure.series[j], out);
    return report_finish(out);
}

/* ---- The directory ---- */

static enum tacit_status fill_json(const void *paper, FILE *out)
{
    return tacit_report_paper_json(paper, out);
}

struct figure_name {
    char text[80];
};

/* `files` and `names` have room for all figures. */
static enum tacit_status write_files(const struct tacit_report_paper *paper, const char *directory,
                                     struct report_file *files, struct figure_name *names,
                                     struct tacit_error *error)
{
    struct page const page = {paper, files};
    size_t count = 0;
    files[count++] =
        (struct report_file){"results.json",     "claims with their verdicts, and every metric",
                             "application/json", true,
                             fill_json,          paper};
    files[count++] = (struct report_file){
        "curves.csv", "what the figures draw: a line a figure, series and point",
        "text/csv",   true,
        fill_curves,  paper};
    files[count++] = (struct report_file){"claims.md", "the claims as text",  "text/markdown",
                                          false,       report_paper_markdown, paper};
    files[count++] =
        (struct report_file){.name = "report.html", .fill = fill_page, .subject = &page};
    for (uint32_t i = 0; i < paper->section_count; i++) {
        struct tacit_report_figure const *const figure = &paper->sections[i].figure;
        (void)snprintf(names[i].text, sizeof names[i].text, "%s.svg", figure->id);
        if (paper->sections[i].hours_left == 0)
            files[count++] = (struct report_file){
                .name = names[i].text, .fill = report_fill_figure, .subject = figure};
    }
    return report_write_files(directory, files, count, error);
}

enum tacit_status tacit_report_paper_write(const struct tacit_report_paper *paper,
                                           const char *directory, struct tacit_error *error)
{
    size_t const room = paper->section_count + (size_t)FILES + 1;
    struct report_file *const files = calloc(room, sizeof *files);
    struct figure_name *const names = calloc(room, sizeof *names);
    enum tacit_status const status = files == NULL || names == NULL
                                         ? TACIT_MEMORY
                                         : write_files(paper, directory, files, names, error);
    free(files);
    free(names);
    return status;
}

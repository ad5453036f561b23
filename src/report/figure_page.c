/* report.html of a paper: each figure beside what the paper shows, and each claim with its number;
 * and the directory that takes it. */
#include "internal.h"
#include <inttypes.h>
#include <string.h>

#define PLUS_MINUS "\xc2\xb1"

static void put_text(FILE *out, const char *text)
{
    report_put(out, text, REPORT_HTML);
}

static void put_header(const struct tacit_report_paper *paper, FILE *out)
{
    uint32_t runs = 0;
    for (uint32_t i = 0; i < paper->experiment_count; i++)
        runs += paper->experiments[i].run_count;
    (void)fputs("<header><h1>", out);
    put_text(out, paper->title);
    (void)fputs("</h1>\n<p class=\"facts\">", out);
    report_html_fact(paper->section_count, "figure", "figures and tables", out);
    report_html_fact(paper->experiment_count, "experiment", "experiments", out);
    report_html_fact(runs, "run", "runs", out);
    (void)fprintf(out, "%s</p></header>\n",
                  paper->is_fast ? "<span>fast version: few runs each</span>" : "");
    (void)fprintf(out, "<div class=\"box%s\"><h2>", tacit_report_as_recorded(paper) ? "" : " warn");
    put_text(out, report_tally_text(paper).text);
    (void)fputs("</h2>\n<p>A claim of the paper holds if the 95 % interval of its measure lies in "
                "the band, does not hold if all of it lies outside, and is undecided else: too few "
                "runs to say. Intervals come from leaving out one run at a time; runs of the same "
                "number share their arms. \"As recorded\" compares with the verdicts in the claims "
                "file. The paper's own figures are not copied here: what they show is told in our "
                "words.</p></div>\n",
                out);
}

static void put_claim(const struct tacit_report_paper *paper,
                      const struct tacit_report_claim *claim, FILE *out)
{
    static const char *const styles[] = {"yes", "no", "open"};
    enum tacit_report_verdict const verdict = tacit_report_claim_verdict(claim);
    (void)fprintf(out, "<tr><td><span class=\"verdict %s\">%s</span>%s</td><td>", styles[verdict],
                  report_verdict_text(verdict),
                  report_is_expected(paper, claim) ? "" : "<br><b>not as recorded</b>");
    put_text(out, claim->says);
    (void)fputs(" <span class=\"soft\">", out);
    put_text(out, claim->where);
    (void)fputs("</span><br><code>", out);
    put_text(out, claim->measure);
    (void)fputs("</code>", out);
    if (claim->why != NULL) {
        (void)fputs("<p class=\"why\">", out);
        put_text(out, claim->why);
        (void)fputs("</p>", out);
    }
    (void)fprintf(out, "</td><td class=\"n\">%s</td>", report_claim_value(claim, PLUS_MINUS).text);
    (void)fprintf(out, "<td class=\"n\">%s</td></tr>\n", report_claim_band(claim).text);
}

static void put_section(const struct tacit_report_paper *paper,
                        const struct tacit_report_section *section, FILE *out)
{
    (void)fputs("<section id=\"", out);
    put_text(out, section->figure.id);
    (void)fputs("\"><h2>", out);
    put_text(out, section->figure.title);
    (void)fputs("</h2>\n<div class=\"pair\"><div>", out);
    report_figure_draw(&section->figure, out);
    (void)fputs("</div><div><h3>The paper</h3><p>", out);
    put_text(out, section->paper_shows);
    (void)fputs("</p>", out);
    if (section->we_show != NULL) {
        (void)fputs("<h3>Here</h3><p>", out);
        put_text(out, section->we_show);
        (void)fputs("</p>", out);
    }
    (void)fputs("</div></div>\n<div class=\"scroll\"><table class=\"claims\"><thead><tr><th></th>"
                "<th>claim and measure</th><th class=\"n\">value " PLUS_MINUS " 95 %</th>"
                "<th class=\"n\">band</th></tr></thead><tbody>\n",
                out);
    for (uint32_t i = 0; i < section->claim_count; i++)
        put_claim(paper, &section->claims[i], out);
    (void)fputs("</tbody></table></div></section>\n", out);
}

/* ---- All experiments ---- */

static const char *const columns[] = {"regret", "regret_exploit", "rounds", "cost", "messages"};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static void put_cell(const struct tacit_report_experiment *experiment, const char *name, FILE *out)
{
    (void)fputs("<td class=\"n\">", out);
    for (uint32_t i = 0; i < experiment->metric_count; i++) {
        if (strcmp(experiment->metrics[i].metric->name, name) != 0)
            continue;
        struct tacit_report_summary const summary =
            tacit_report_summarise(experiment->metrics[i].values, experiment->run_count, 1);
        (void)fputs(report_rounded(summary.mean, 5).text, out);
        if (summary.sd > 0)
            (void)fprintf(out, " <span class=\"soft\">" PLUS_MINUS " %s</span>",
                          report_rounded(summary.ci95, 2).text);
    }
    (void)fputs("</td>", out);
}

static void put_experiments(const struct tacit_report_paper *paper, FILE *out)
{
    (void)fputs(
        "<section><h2>All experiments</h2>\n<p class=\"lead\">Means over the runs with 95 % "
        "intervals. Each is a file beside the claims; <code>tacit run FILE</code> runs one "
        "alone. results.json has every metric.</p>\n<div class=\"scroll\"><table><thead>"
        "<tr><th>experiment</th><th class=\"n\">runs</th>",
        out);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        (void)fprintf(out, "<th class=\"n\">%s</th>", columns[i]);
    (void)fputs("</tr></thead><tbody>\n", out);
    for (uint32_t i = 0; i < paper->experiment_count; i++) {
        const struct tacit_report_experiment *const experiment = &paper->experiments[i];
        (void)fputs("<tr><td><code>", out);
        put_text(out, experiment->name);
        (void)fprintf(out, "</code></td><td class=\"n\">%s</td>",
                      report_grouped(experiment->run_count).text);
        for (size_t j = 0; j < COLUMN_COUNT; j++)
            put_cell(experiment, columns[j], out);
        (void)fputs("</tr>\n", out);
    }
    (void)fputs("</tbody></table></div></section>\n", out);
}

enum tacit_status report_paper_html(const struct tacit_report_paper *paper, FILE *out)
{
    report_html_top(paper->title, out);
    put_header(paper, out);
    for (uint32_t i = 0; i < paper->section_count; i++)
        put_section(paper, &paper->sections[i], out);
    put_experiments(paper, out);
    (void)fputs("<footer>tacit ", out);
    put_text(out, paper->version);
    (void)fputs(" \xc2\xb7 beside this page: claims.md, results.json and the figures as SVG"
                "</footer>\n</main></body></html>\n",
                out);
    return report_finish(out);
}

/* ---- The directory ---- */

static enum tacit_status fill_html(const void *subject, FILE *out, struct tacit_error *error)
{
    (void)error;
    return report_paper_html(subject, out);
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

static enum tacit_status write_files(const struct tacit_report_paper *paper,
                                     const struct report_place *place)
{
    enum tacit_status status = report_place_write(place, "results.json", fill_json, paper);
    if (status == TACIT_OK)
        status = report_place_write(place, "claims.md", fill_markdown, paper);
    if (status == TACIT_OK)
        status = report_place_write(place, "report.html", fill_html, paper);
    for (uint32_t i = 0; i < paper->section_count && status == TACIT_OK; i++) {
        struct tacit_report_figure const *const figure = &paper->sections[i].figure;
        char name[80];
        (void)snprintf(name, sizeof name, "%s.svg", figure->id);
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

/* What comes first on the page: the answer, whether it was worth the effort; and the baselines. */
#include "internal.h"

enum tacit_status report_html_answer(const struct tacit_report *report, FILE *out)
{
    struct tacit_report_answer answer;
    enum tacit_status const status = tacit_report_answer_new(report, &answer);
    if (status != TACIT_OK)
        return status;
    if (answer.sentence != NULL) {
        (void)fprintf(out, "<div class=\"box%s\"><h2>Answer</h2>\n<p><bdi>",
                      answer.is_decided ? "" : " warn");
        report_put(out, answer.sentence, REPORT_HTML);
        (void)fputs("</bdi></p></div>\n", out);
    }
    if (report_note(report) != NULL) {
        (void)fputs("<div class=\"box warn\" role=\"alert\"><h2>Nothing was gained</h2>\n<p>", out);
        report_put(out, report_note(report), REPORT_HTML);
        (void)fputs("</p></div>\n", out);
    }
    tacit_report_answer_free(&answer);
    return TACIT_OK;
}

static void put_row(const struct tacit_report *report, const char *name, const double *regret,
                    FILE *out)
{
    (void)fputs("<tr><td>", out);
    report_put(out, name, REPORT_HTML);
    (void)fputs("</td>", out);
    if (regret == NULL) {
        (void)fputs("<td class=\"n soft\">not defined here</td><td></td></tr>\n", out);
        return;
    }
    struct tacit_report_summary const summary =
        tacit_report_summarise(regret, report->run_count, 1);
    (void)fprintf(out, "<td class=\"n\">%s</td>", report_rounded(summary.mean, 5).text);
    (void)fprintf(out, "<td class=\"n soft\">%s</td></tr>\n",
                  report_interval(report, summary.ci95).text);
}

void report_html_baselines(const struct tacit_report *report, FILE *out)
{
    const struct tacit_report_metric *const regret = report_find(report, "regret");
    if (report->baseline_count == 0 || regret == NULL)
        return;
    (void)fputs("<section><h2>Baselines</h2>\n<p class=\"lead\">Regret on the same instances over "
                "the same horizon. Uniform plays every arm alike; floor is what one learner that "
                "sees every reward cannot go below in long runs.</p>\n<div class=\"scroll\"><table>"
                "<thead><tr><th></th><th class=\"n\">regret</th><th class=\"n\">\xc2\xb1 95 %</th>"
                "</tr></thead><tbody>\n",
                out);
    put_row(report, "this protocol", regret->values, out);
    for (uint32_t i = 0; i < report->baseline_count; i++)
        put_row(report, report->baselines[i].name, report->baselines[i].regret, out);
    (void)fputs("</tbody></table></div></section>\n", out);
}

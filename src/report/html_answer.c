/* What comes first on the page: the answer, how sure it is, and whether it was worth the effort. */
#include "internal.h"
#include <string.h>

const char *report_baseline_words(const char *name)
{
    static const char *const words[][2] = {{"uniform", "playing every arm alike"},
                                           {"floor", "floor of theory"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], name) == 0)
            return words[i][1];
    return name;
}

/* How sure: what the runs say of one more run. */
static void put_sureness(const struct tacit_report *report,
                         const struct tacit_report_answer *answer, FILE *out)
{
    struct report_share const share = report_share_of(answer->single_count, report->run_count);
    html_put(out,
             "<p>%u of %u %-s ended with %s alone%-s. How sure: one more run would do so with a "
             "chance of %-s to %-s %% (95 %% interval).</p>\n",
             answer->single_count, report->run_count, report->run_count == 1 ? "run" : "runs",
             report_arm_name(report, answer->arms[0]),
             answer->is_decided ? "" : "; 95 % of them are needed for an answer",
             report_percent(share.lo).text, report_percent(share.hi).text);
}

/* "12.3, 0.41 times the 30 of playing every arm alike and ..." */
static void put_comparison(const struct tacit_report *report, FILE *out)
{
    const struct tacit_report_metric *const regret = report_find(report, "regret");
    uint32_t named = 0;
    if (regret == NULL || report->baseline_count == 0)
        return;
    double const own = report_metric_summary(report, regret).mean;
    for (uint32_t i = 0; i < report->baseline_count; i++) {
        const struct tacit_report_baseline *const baseline = &report->baselines[i];
        if (baseline->regret == NULL)
            continue;
        double const mean = tacit_report_summarise(baseline->regret, report->run_count, 1).mean;
        if (named == 0)
            html_put(out, "<p>Regret %.4g; beside it, ", own);
        html_put(out, "%-s%s %.4g", named == 0 ? "" : ", ", report_baseline_words(baseline->name),
                 mean);
        if (own > 0 && mean > 0)
            html_put(out, " (%.2g times as much)", mean / own);
        named++;
    }
    if (named > 0)
        (void)fputs(".</p>\n", out);
}

static void put_answer(const struct tacit_report *report, const struct tacit_report_answer *answer,
                       FILE *out)
{
    bool const is_open = answer->sentence != NULL && !answer->is_decided;
    report_html_answer_begin(is_open ? " open" : answer->is_decided ? " win" : "", out);
    html_put(out, "<bdi>%s</bdi></p>\n",
             answer->sentence != NULL ? answer->sentence : report_labels(report)->no_answer);
    if (answer->sentence != NULL)
        put_sureness(report, answer, out);
    put_comparison(report, out);
    (void)fputs("</section>\n", out);
}

enum tacit_status report_html_answer(const struct tacit_report *report, FILE *out)
{
    struct tacit_report_answer answer;
    TACIT_TRY(tacit_report_answer_new(report, &answer));
    put_answer(report, &answer, out);
    if (report_note(report) != NULL)
        html_put(out, "<div class=\"box warn\"><h2>Nothing was gained</h2>\n<p>%s</p></div>\n",
                 report_note(report));
    tacit_report_answer_free(&answer);
    return TACIT_OK;
}

/* ---- Baselines ---- */

static void put_row(const struct tacit_report *report, const char *name, const char *words,
                    const double *regret, FILE *out)
{
    html_put(out, "<tr><th scope=\"row\">%s", words);
    if (strcmp(name, words) != 0)
        html_put(out, " <code>%s</code>", name);
    (void)fputs("</th>", out);
    if (regret == NULL) {
        (void)fputs("<td class=\"n soft\" colspan=\"2\">not defined: sites differ, or rewards are "
                    "not 0 or 1</td></tr>\n",
                    out);
        return;
    }
    struct tacit_report_summary const summary =
        tacit_report_summarise(regret, report->run_count, 1);
    html_put(out, "<td class=\"n\">%.5g</td><td class=\"n\">%-s</td></tr>\n", summary.mean,
             report_interval(report, summary.ci95).text);
}

void report_html_baselines(const struct tacit_report *report, FILE *out)
{
    static const char *const heads[] = {"played by", "#regret", "#\xc2\xb1 95 %"};
    const struct tacit_report_metric *const regret = report_find(report, "regret");
    if (report->baseline_count == 0 || regret == NULL)
        return;
    report_html_section("baselines", "Baselines",
                        "Regret on the same instances over the same horizon: the reward that was "
                        "missed against always playing the best arm. The floor is what one learner "
                        "that sees every reward cannot go below in long runs.",
                        out);
    report_html_table("Baselines", "plain", heads, 3, out);
    put_row(report, "this protocol", "this protocol", regret->values, out);
    for (uint32_t i = 0; i < report->baseline_count; i++)
        put_row(report, report->baselines[i].name, report_baseline_words(report->baselines[i].name),
                report->baselines[i].regret, out);
    report_html_table_end(out);
    report_html_section_end(out);
}

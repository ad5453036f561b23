/* The short table that a terminal shows. Plain ASCII but for names, and no line longer than needed.
 */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TERMINAL_WIDTH 78u
#define NAME_WIDTH_MIN 22u

void report_put_wrapped(FILE *out, const char *text, const char *indent)
{
    report_put_text(out, text, TERMINAL_WIDTH, indent); /* the first word starts a line */
}

void report_put_remark(const char *remark, FILE *out)
{
    if (remark == NULL)
        return;
    (void)fputs("data:", out);
    report_put_text(out, remark, strlen("data:"), "  ");
}

void report_put_text(FILE *out, const char *text, size_t column, const char *indent)
{
    size_t const first = column;
    while (*(text += strspn(text, " \n\t\r")) != '\0') {
        size_t const bytes = strcspn(text, " \n\t\r");
        char word[256];
        size_t const kept = bytes < sizeof word ? bytes : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = '\0';
        size_t const width = report_width(word);
        bool const breaks = column + 1 + width > TERMINAL_WIDTH;
        bool const begins = first == 0 && column == 0;
        if (breaks && !begins)
            (void)fprintf(out, "\n%s", indent);
        else
            (void)fputs(begins ? "" : " ", out);
        report_put(out, word, REPORT_TERMINAL);
        column = (breaks ? strlen(indent) : begins ? 0 : column + 1) + width;
        text += kept;
    }
    (void)fputc('\n', out);
}

/* A star needs no words. */
static void put_network(const struct tacit_report_network *network, FILE *out)
{
    if (network == NULL || network->component_count == 0)
        return;
    term_put(out, "network: %s", network->kind);
    if (network->component_count > 1)
        term_put(out, ", %-u components", network->component_count);
    term_put(out, ", %-" PRIu64 " %-s, diameter %u, delay %u %-s\n", network->edge_count,
             network->edge_count == 1 ? "edge" : "edges", network->diameter, network->delay,
             network->delay == 1 ? "slot" : "slots");
}

static void put_head(const struct tacit_report *report, FILE *out)
{
    struct tacit_labels const *const labels = report_labels(report);
    term_put(out, "%s: %u %-s, %u %-s, %-s, seed %" PRIu64 "\n", report->name, report->run_count,
             report->run_count == 1 ? "run" : "runs", report->agent_count,
             report->agent_count == 1 ? labels->agent : labels->agents, report_horizon(report).text,
             report->seed);
    if (report_interrupted(report))
        term_put(out, "STOPPED: %u of %u runs finished\n", report->run_count, report->runs_asked);
    put_network(report->network, out);
    term_put(out, "privacy: %s, %-s", report->privacy_mode,
             report_loss(report, report_exact(report->epsilon_per_reward)).text);
    report_put_wrapped(out, report->statement, "  ");
}

static void put_padded(FILE *out, const char *name, size_t width)
{
    size_t const own = report_width(name);
    term_put(out, "  %s", name);
    (void)fprintf(out, "%*s", own < width ? (int)(width - own) : 0, "");
}

static void put_metric(const struct tacit_report *report, const struct tacit_report_metric *metric,
                       size_t name_width, FILE *out)
{
    struct tacit_report_summary const summary = report_metric_summary(report, metric);
    if (report_is_absent(report, metric))
        return;
    put_padded(out, metric->metric->name, name_width);
    (void)fprintf(out, " %12s %12s %12s %12s\n", report_cell(summary.mean, 5).text,
                  report_cell(report->run_count > 1 ? summary.ci95 : NAN, 3).text,
                  report_cell(summary.min, 5).text, report_cell(summary.max, 5).text);
}

static void put_metrics(const struct tacit_report *report, FILE *out)
{
    size_t name_width = NAME_WIDTH_MIN;
    for (uint32_t i = 0; i < report->metric_count; i++) {
        size_t const width = report_width(report->metrics[i].metric->name);
        name_width = width > name_width && width <= TERMINAL_WIDTH ? width : name_width;
    }
    (void)fputc('\n', out);
    put_padded(out, "metric", name_width);
    (void)fprintf(out, " %12s %12s %12s %12s\n", "mean", "+/- 95 %", "min", "max");
    for (uint32_t i = 0; i < report->metric_count; i++)
        put_metric(report, &report->metrics[i], name_width, out);
}

/* What was found, and whether it was worth the effort. Errors: TACIT_MEMORY. */
static enum tacit_status put_answer(const struct tacit_report *report, FILE *out)
{
    struct tacit_report_answer answer;
    TACIT_TRY(tacit_report_answer_new(report, &answer));
    if (answer.sentence != NULL)
        term_put(out, "answer: %s\n", answer.sentence);
    if (report_note(report) != NULL)
        term_put(out, "note: %-s\n", report_note(report));
    report_put_remark(report->remark, out);
    tacit_report_answer_free(&answer);
    return TACIT_OK;
}

static void put_baselines(const struct tacit_report *report, FILE *out)
{
    bool is_headed = false;
    for (uint32_t i = 0; i < report->baseline_count; i++) {
        const struct tacit_report_baseline *const baseline = &report->baselines[i];
        if (baseline->regret == NULL)
            continue;
        struct tacit_report_summary const summary =
            tacit_report_summarise(baseline->regret, report->run_count, 1);
        (void)fputs(is_headed ? "" : "\n  baseline regret\n", out);
        is_headed = true;
        put_padded(out, baseline->name, NAME_WIDTH_MIN);
        (void)fprintf(out, " %12s %12s\n", report_cell(summary.mean, 5).text,
                      report_cell(report->run_count > 1 ? summary.ci95 : NAN, 3).text);
    }
}

/* How many arms were given up; only where some were. */
static void put_eliminated(const struct tacit_report *report, FILE *out)
{
    uint32_t eliminated = 0;
    for (uint32_t i = 0; i < report->arm_count; i++)
        eliminated += report_arm_fate(report, i).eliminated > 0 ? 1 : 0;
    if (eliminated > 0)
        term_put(out, "\n  %u of %u arms were eliminated in some run\n", eliminated,
                 report->arm_count);
}

enum tacit_status tacit_report_table(const struct tacit_report *report, FILE *out)
{
    report_check(report);
    locale_t const before = report_locale_enter();
    enum tacit_status answered = put_answer(report, out);
    put_head(report, out);
    if (report->metric_count > 0)
        put_metrics(report, out);
    put_baselines(report, out);
    put_eliminated(report, out);
    if (answered == TACIT_OK)
        answered = report_sites_table(report, out);
    enum tacit_status const finished = report_finish(out);
    enum tacit_status const status = answered == TACIT_OK ? finished : answered;
    report_locale_leave(before);
    return status;
}

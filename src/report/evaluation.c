/* What a log says of choices that were not made: JSON, the table of a terminal, CSV. */
#include "evaluation.h"
#include <inttypes.h>
#include <math.h>

#define ARMS_SHOWN 20u
#define SITES_SHOWN 40u
#define NAME_WIDTH 18u

const char *report_evaluation_best(const struct tacit_report_evaluation *evaluation,
                                   const struct tacit_report_log_site *site)
{
    return site->best_arm < evaluation->arm_count ? evaluation->arm_names[site->best_arm] : NULL;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_string(const char *text, FILE *out)
{
    if (text == NULL) {
        (void)fputs("null", out);
        return;
    }
    (void)fputc('"', out);
    report_put(out, text, REPORT_JSON);
    (void)fputc('"', out);
}

static void put_estimate(const char *name, const struct tacit_report_estimate *estimate, FILE *out)
{
    (void)fprintf(out, "\"%s\": {\"value\": %s, ", name, report_exact(estimate->value).text);
    (void)fprintf(out, "\"ci95\": %s}", report_exact(estimate->ci95).text);
}

static void put_arm(const char *name, const struct tacit_report_estimates *arm, FILE *out)
{
    (void)fputs("{\"arm\": ", out);
    put_string(name, out);
    (void)fprintf(out, ", \"rows\": %" PRIu32 ", \"effective_rows\": %s, \"thin\": %s, ",
                  arm->row_count, report_exact(arm->effective_rows).text,
                  arm->is_thin ? "true" : "false");
    put_estimate("ips", &arm->ips, out);
    (void)fputs(", ", out);
    put_estimate("self_normalised", &arm->self_normalised, out);
    (void)fputs(", ", out);
    put_estimate("doubly_robust", &arm->doubly_robust, out);
    (void)fprintf(out, ", \"direct\": %s}", report_exact(arm->direct).text);
}

static void put_arms(const struct tacit_report_evaluation *evaluation,
                     const struct tacit_report_estimates *arms, FILE *out)
{
    (void)fputs("\"arms\": [", out);
    for (uint32_t arm = 0; arm < evaluation->arm_count; arm++) {
        (void)fputs(arm == 0 ? "\n  " : ",\n  ", out);
        put_arm(evaluation->arm_names[arm], &arms[arm], out);
    }
    (void)fputs("]", out);
}

static void put_site(const struct tacit_report_evaluation *evaluation,
                     const struct tacit_report_log_site *site, FILE *out)
{
    (void)fputs("{\"site\": ", out);
    put_string(site->name, out);
    (void)fprintf(out, ", \"rows\": %" PRIu32 ", \"best_arm\": ", site->row_count);
    put_string(report_evaluation_best(evaluation, site), out);
    (void)fputs(", ", out);
    put_estimate("cost_of_common", &site->cost, out);
    (void)fputs(", ", out);
    put_arms(evaluation, site->arms, out);
    (void)fputc('}', out);
}

static void put_replay(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    const struct tacit_report_replay *const replay = evaluation->replay;
    (void)fputs("\"replay\": ", out);
    if (replay == NULL) {
        (void)fputs("null, \"replay_note\": ", out);
        put_string(evaluation->replay_note, out);
        return;
    }
    (void)fputs("{\"protocol\": ", out);
    put_string(replay->protocol, out);
    (void)fputs(", ", out);
    put_estimate("reward", &replay->reward, out);
    (void)fprintf(out,
                  ", \"slots\": %" PRIu64 ", \"slots_asked\": %" PRIu64 ", \"pulls\": %" PRIu64
                  ", \"ended_by\": ",
                  replay->slots, replay->slots_asked, replay->pulls);
    put_string(replay->site, out);
    (void)fprintf(out, ", \"runs\": %" PRIu32 "}, \"replay_note\": null", replay->run_count);
}

static void put_answer(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    (void)fprintf(out, "\"answer\": {\"decided\": %s, \"arms\": [",
                  evaluation->answer_count == 1 ? "true" : "false");
    for (uint32_t i = 0; i < evaluation->answer_count; i++) {
        (void)fputs(i == 0 ? "" : ", ", out);
        put_string(evaluation->arm_names[evaluation->answer[i]], out);
    }
    (void)fputs("], \"sentence\": ", out);
    put_string(evaluation->sentence, out);
    (void)fputc('}', out);
}

enum tacit_status tacit_report_evaluation_json(const struct tacit_report_evaluation *evaluation,
                                               FILE *out)
{
    locale_t const before = report_locale_enter();
    (void)fputs("{\"name\": ", out);
    put_string(evaluation->name, out);
    (void)fputs(", \"version\": ", out);
    put_string(evaluation->version, out);
    (void)fputs(", \"propensity\": ", out);
    put_string(evaluation->propensity, out);
    (void)fprintf(out, ", \"rows\": %" PRIu32 ",\n ", evaluation->row_count);
    put_estimate("logged", &evaluation->logged, out);
    (void)fputs(",\n ", out);
    put_answer(evaluation, out);
    (void)fputs(",\n ", out);
    put_arms(evaluation, evaluation->arms, out);
    (void)fputs(",\n \"sites\": [", out);
    for (uint32_t i = 0; i < evaluation->site_count; i++) {
        (void)fputs(i == 0 ? "\n " : ",\n ", out);
        put_site(evaluation, &evaluation->sites[i], out);
    }
    (void)fputs("],\n ", out);
    put_replay(evaluation, out);
    (void)fputs(",\n \"warnings\": [", out);
    for (uint32_t i = 0; i < evaluation->warning_count; i++) {
        (void)fputs(i == 0 ? "" : ", ", out);
        put_string(evaluation->warnings[i], out);
    }
    (void)fputs("]}\n", out);
    report_locale_leave(before);
    return report_finish(out);
}

/* ---- The terminal ---------------------------------------------------------------------------- */

static void put_name(const char *name, FILE *out)
{
    uint32_t const own = report_width(name);
    report_put_start(out, name, REPORT_TERMINAL, own > NAME_WIDTH ? NAME_WIDTH - 3 : NAME_WIDTH);
    (void)fprintf(out, "%*s", own < NAME_WIDTH ? (int)(NAME_WIDTH - own) : 0, "");
}

static void put_number(double value, int digits, int width, FILE *out)
{
    (void)fprintf(out, " %*s", width, isfinite(value) ? report_rounded(value, digits).text : "-");
}

static void put_arm_lines(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    (void)fprintf(out, "\n%-*s %8s %9s %9s %9s %9s %9s\n", (int)NAME_WIDTH, "arm", "rows",
                  "effective", "weighted", "self-norm", "d. robust", "+/- 95 %");
    for (uint32_t i = 0; i < evaluation->arm_count && i < ARMS_SHOWN; i++) {
        const struct tacit_report_estimates *const arm = &evaluation->arms[evaluation->order[i]];
        put_name(evaluation->arm_names[evaluation->order[i]], out);
        (void)fprintf(out, " %8" PRIu32, arm->row_count);
        put_number(arm->effective_rows, 4, 9, out);
        put_number(arm->ips.value, 4, 9, out);
        put_number(arm->self_normalised.value, 4, 9, out);
        put_number(arm->doubly_robust.value, 4, 9, out);
        put_number(arm->doubly_robust.ci95, 3, 9, out);
        (void)fputs(arm->is_thin ? " !\n" : "\n", out);
    }
    if (evaluation->arm_count > ARMS_SHOWN)
        (void)fprintf(out, "and %" PRIu32 " more\n", evaluation->arm_count - ARMS_SHOWN);
}

static void put_site_lines(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    if (evaluation->site_count < 2 || evaluation->answer_count == 0)
        return;
    (void)fprintf(out, "\n%-*s %8s %-*s %11s %9s\n", (int)NAME_WIDTH, "site", "rows",
                  (int)NAME_WIDTH, "its own best arm", "common costs", "+/- 95 %");
    for (uint32_t i = 0; i < evaluation->site_count && i < SITES_SHOWN; i++) {
        const struct tacit_report_log_site *const site = &evaluation->sites[i];
        put_name(site->name, out);
        (void)fprintf(out, " %8" PRIu32 " ", site->row_count);
        char const *const best = report_evaluation_best(evaluation, site);
        put_name(best == NULL ? "too few rows" : best, out);
        put_number(site->cost.value, 4, 12, out);
        put_number(site->cost.ci95, 3, 9, out);
        (void)fputc('\n', out);
    }
    if (evaluation->site_count > SITES_SHOWN)
        (void)fprintf(out, "and %" PRIu32 " more\n", evaluation->site_count - SITES_SHOWN);
}

void report_evaluation_replay(const struct tacit_report_evaluation *evaluation, char *text,
                              size_t size)
{
    const struct tacit_report_replay *const replay = evaluation->replay;
    if (replay == NULL) {
        (void)snprintf(text, size, "no replay: %s", evaluation->replay_note);
        return;
    }
    int const at = snprintf(
        text, size,
        "replay of %s: %s +/- %s a pull over %s pulls of each site, in %" PRIu32 " replays",
        replay->protocol, report_rounded(replay->reward.value, 4).text,
        isfinite(replay->reward.ci95) ? report_rounded(replay->reward.ci95, 3).text : "-",
        report_grouped(replay->slots).text, replay->run_count);
    if (replay->site != NULL && at >= 0 && (size_t)at < size)
        (void)snprintf(text + at, size - (size_t)at,
                       "; there the rows of %.60s are used up; %s were asked for", replay->site,
                       report_grouped(replay->slots_asked).text);
}

enum tacit_status tacit_report_evaluation_table(const struct tacit_report_evaluation *evaluation,
                                                FILE *out)
{
    char text[600];
    locale_t const before = report_locale_enter();
    (void)fputs("answer:", out);
    report_put_text(out, evaluation->sentence, 7, "  ");
    for (uint32_t i = 0; i < evaluation->warning_count; i++) {
        (void)fputs("warning:", out);
        report_put_text(out, evaluation->warnings[i], 8, "  ");
    }
    report_put(out, evaluation->name, REPORT_TERMINAL);
    (void)fprintf(out, ": %s rows, propensities: ", report_grouped(evaluation->row_count).text);
    report_put(out, evaluation->propensity, REPORT_TERMINAL);
    (void)fprintf(out, "\nlogged choices earned %s",
                  report_rounded(evaluation->logged.value, 4).text);
    (void)fprintf(out, " +/- %s a row\n", report_rounded(evaluation->logged.ci95, 3).text);
    put_arm_lines(evaluation, out);
    put_site_lines(evaluation, out);
    report_evaluation_replay(evaluation, text, sizeof text);
    (void)fputc('\n', out);
    report_put_text(out, text, 0, "  ");
    report_locale_leave(before);
    return report_finish(out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

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

static void put_lines(const struct tacit_report_evaluation *evaluation, const char *site,
                      const struct tacit_report_estimates *arms, FILE *out)
{
    for (uint32_t arm = 0; arm < evaluation->arm_count; arm++) {
        put_quoted(site, out);
        (void)fputc(',', out);
        put_quoted(evaluation->arm_names[arm], out);
        (void)fprintf(out, ",%" PRIu32, arms[arm].row_count);
        put_value(arms[arm].effective_rows, out);
        put_value(arms[arm].ips.value, out);
        put_value(arms[arm].ips.ci95, out);
        put_value(arms[arm].self_normalised.value, out);
        put_value(arms[arm].self_normalised.ci95, out);
        put_value(arms[arm].doubly_robust.value, out);
        put_value(arms[arm].doubly_robust.ci95, out);
        put_value(arms[arm].direct, out);
        (void)fputc('\n', out);
    }
}

enum tacit_status report_evaluation_csv(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    (void)fputs("site,arm,rows,effective_rows,ips,ips_ci95,self_normalised,self_normalised_ci95,"
                "doubly_robust,doubly_robust_ci95,direct\n",
                out);
    put_lines(evaluation, "", evaluation->arms, out);
    for (uint32_t i = 0; i < evaluation->site_count; i++)
        put_lines(evaluation, evaluation->sites[i].name, evaluation->sites[i].arms, out);
    return report_finish(out);
}

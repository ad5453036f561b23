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

static void put_estimate(const char *name, const struct tacit_report_estimate *estimate, FILE *out)
{
    json_put(out, "%s: {\"value\": %g, \"ci95\": %g}", name, estimate->value, estimate->ci95);
}

/* Leaves the object open: what is more of it follows, and its brace. */
static void put_estimates(const char *kind, const char *name,
                          const struct tacit_report_estimates *arm, FILE *out)
{
    json_put(out, "{%s: %s, \"rows\": %u, \"effective_rows\": %g, \"thin\": %-s, ", kind, name,
             arm->row_count, arm->effective_rows, arm->is_thin ? "true" : "false");
    put_estimate("ips", &arm->ips, out);
    (void)fputs(", ", out);
    put_estimate("self_normalised", &arm->self_normalised, out);
    (void)fputs(", ", out);
    put_estimate("doubly_robust", &arm->doubly_robust, out);
    json_put(out, ", \"direct\": %g", arm->direct);
}

static void put_policies(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    for (uint32_t i = 0; i < evaluation->policy_count; i++) {
        const struct tacit_report_policy *const policy = &evaluation->policies[i];
        (void)fputs(i == 0 ? "\n  " : ",\n  ", out);
        put_estimates("policy", policy->name, &policy->estimates, out);
        (void)fputs(", ", out);
        put_estimate("switched", &policy->switched, out);
        (void)fputs(", ", out);
        put_estimate("gain", &policy->gain, out);
        (void)fputc('}', out);
    }
}

static void put_arms(const struct tacit_report_evaluation *evaluation,
                     const struct tacit_report_estimates *arms, FILE *out)
{
    (void)fputs("\"arms\": [", out);
    for (uint32_t arm = 0; arm < evaluation->arm_count; arm++) {
        (void)fputs(arm == 0 ? "\n  " : ",\n  ", out);
        put_estimates("arm", evaluation->arm_names[arm], &arms[arm], out);
        (void)fputc('}', out);
    }
    (void)fputs("]", out);
}

static void put_site(const struct tacit_report_evaluation *evaluation,
                     const struct tacit_report_log_site *site, FILE *out)
{
    json_put(out, "{\"site\": %s, \"rows\": %u, \"best_arm\": %s, ", site->name, site->row_count,
             report_evaluation_best(evaluation, site));
    put_estimate("cost_of_common", &site->cost, out);
    (void)fputs(", ", out);
    put_arms(evaluation, site->arms, out);
    (void)fputc('}', out);
}

static void put_replay(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    const struct tacit_report_replay *const replay = evaluation->replay;
    if (replay == NULL) {
        json_put(out, "\"replay\": null, \"replay_note\": %s", evaluation->replay_note);
        return;
    }
    json_put(out, "\"replay\": {\"protocol\": %s, ", replay->protocol);
    put_estimate("reward", &replay->reward, out);
    json_put(out,
             ", \"slots\": %" PRIu64 ", \"slots_asked\": %" PRIu64 ", \"pulls\": %" PRIu64
             ", \"ended_by\": %s, \"runs\": %u}, \"replay_note\": null",
             replay->slots, replay->slots_asked, replay->pulls, replay->site, replay->run_count);
}

static void put_texts(const char *const *texts, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++)
        json_put(out, "%-s%s", i == 0 ? "" : ", ", texts[i]);
}

static void put_answer(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    json_put(out, "\"answer\": {\"decided\": %-s, \"arms\": [",
             evaluation->answer_count == 1 ? "true" : "false");
    for (uint32_t i = 0; i < evaluation->answer_count; i++) {
        (void)fputs(i == 0 ? "" : ", ", out);
        put_texts(&evaluation->arm_names[evaluation->answer[i]], 1, out);
    }
    json_put(out, "], \"sentence\": %s}", evaluation->sentence);
}

enum tacit_status tacit_report_evaluation_json(const struct tacit_report_evaluation *evaluation,
                                               FILE *out)
{
    locale_t const before = report_locale_enter();
    json_put(out, "{\"name\": %s, \"version\": %s, \"propensity\": %s, \"rows\": %u,\n ",
             evaluation->name, evaluation->version, evaluation->propensity, evaluation->row_count);
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
    if (evaluation->policy_count > 0) {
        (void)fputs("],\n \"policies\": [", out);
        put_policies(evaluation, out);
    }
    (void)fputs("],\n ", out);
    put_replay(evaluation, out);
    (void)fputs(",\n \"warnings\": [", out);
    put_texts(evaluation->warnings, evaluation->warning_count, out);
    (void)fputs("]}\n", out);
    report_locale_leave(before);
    return report_finish(out);
}

/* ---- The terminal ---------------------------------------------------------------------------- */

static void put_arm_lines(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    (void)fprintf(out, "\n%-*s %8s %9s %9s %9s %9s %9s\n", (int)NAME_WIDTH, "arm", "rows",
                  "effective", "weighted", "self-norm", "d. robust", "+/- 95 %");
    for (uint32_t i = 0; i < evaluation->arm_count && i < ARMS_SHOWN; i++) {
        const struct tacit_report_estimates *const arm = &evaluation->arms[evaluation->order[i]];
        report_put_column(out, evaluation->arm_names[evaluation->order[i]], NAME_WIDTH);
        (void)fprintf(out, " %8" PRIu32 " %9s %9s %9s %9s %9s", arm->row_count,
                      report_cell(arm->effective_rows, 4).text, report_cell(arm->ips.value, 4).text,
                      report_cell(arm->self_normalised.value, 4).text,
                      report_cell(arm->doubly_robust.value, 4).text,
                      report_cell(arm->doubly_robust.ci95, 3).text);
        (void)fputs(arm->is_thin ? " !\n" : "\n", out);
    }
    if (evaluation->arm_count > ARMS_SHOWN)
        (void)fprintf(out, "and %" PRIu32 " more\n", evaluation->arm_count - ARMS_SHOWN);
}

static void put_policy_lines(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    if (evaluation->policy_count == 0)
        return;
    (void)fprintf(out, "\n%-*s %9s %9s %9s %9s %9s %9s\n", (int)NAME_WIDTH, "policy", "effective",
                  "self-norm", "d. robust", "+/- 95 %", "gain", "+/- 95 %");
    for (uint32_t i = 0; i < evaluation->policy_count; i++) {
        const struct tacit_report_policy *const policy = &evaluation->policies[i];
        const struct tacit_report_estimates *const own = &policy->estimates;
        report_put_column(out, policy->name, NAME_WIDTH);
        (void)fprintf(out, " %9s %9s %9s %9s %9s %9s", report_cell(own->effective_rows, 4).text,
                      report_cell(own->self_normalised.value, 4).text,
                      report_cell(own->doubly_robust.value, 4).text,
                      report_cell(own->doubly_robust.ci95, 3).text,
                      report_cell(policy->gain.value, 4).text,
                      report_cell(policy->gain.ci95, 3).text);
        (void)fputs(own->is_thin ? " !\n" : "\n", out);
    }
}

static void put_site_lines(const struct tacit_report_evaluation *evaluation, FILE *out)
{
    if (evaluation->site_count < 2 || evaluation->answer_count == 0)
        return;
    (void)fprintf(out, "\n%-*s %8s %-*s %11s %9s\n", (int)NAME_WIDTH, "site", "rows",
                  (int)NAME_WIDTH, "its own best arm", "common costs", "+/- 95 %");
    for (uint32_t i = 0; i < evaluation->site_count && i < SITES_SHOWN; i++) {
        const struct tacit_report_log_site *const site = &evaluation->sites[i];
        char const *const best = report_evaluation_best(evaluation, site);
        report_put_column(out, site->name, NAME_WIDTH);
        (void)fprintf(out, " %8" PRIu32 " ", site->row_count);
        report_put_column(out, best == NULL ? "too few rows" : best, NAME_WIDTH);
        (void)fprintf(out, " %12s %9s\n", report_cell(site->cost.value, 4).text,
                      report_cell(site->cost.ci95, 3).text);
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
    term_put(out, "%s: %-u rows, propensities: %s\nlogged choices earned %.4g +/- %.3g a row\n",
             evaluation->name, evaluation->row_count, evaluation->propensity,
             evaluation->logged.value, evaluation->logged.ci95);
    put_arm_lines(evaluation, out);
    put_policy_lines(evaluation, out);
    put_site_lines(evaluation, out);
    report_evaluation_replay(evaluation, text, sizeof text);
    (void)fputc('\n', out);
    report_put_text(out, text, 0, "  ");
    report_locale_leave(before);
    return report_finish(out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_lines(const struct tacit_report_evaluation *evaluation, const char *site,
                      const struct tacit_report_estimates *arms, FILE *out)
{
    for (uint32_t arm = 0; arm < evaluation->arm_count; arm++)
        csv_put(out, "%s,%s,%u,%g,%g,%g,%g,%g,%g,%g,%g\n", site, evaluation->arm_names[arm],
                arms[arm].row_count, arms[arm].effective_rows, arms[arm].ips.value,
                arms[arm].ips.ci95, arms[arm].self_normalised.value, arms[arm].self_normalised.ci95,
                arms[arm].doubly_robust.value, arms[arm].doubly_robust.ci95, arms[arm].direct);
}

enum tacit_status report_evaluation_csv(const void *subject, FILE *out)
{
    const struct tacit_report_evaluation *const evaluation = subject;
    (void)fputs("site,arm,rows,effective_rows,ips,ips_ci95,self_normalised,self_normalised_ci95,"
                "doubly_robust,doubly_robust_ci95,direct\n",
                out);
    put_lines(evaluation, "", evaluation->arms, out);
    for (uint32_t i = 0; i < evaluation->site_count; i++)
        put_lines(evaluation, evaluation->sites[i].name, evaluation->sites[i].arms, out);
    return report_finish(out);
}

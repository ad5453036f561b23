/* summary.json, which is also what `--json` prints. Written by hand and not with jansson, which can
 * neither print the shortest number that reads back nor hold a seed above 2^63. */
#include "internal.h"
#include <inttypes.h>
#include <string.h>

static void put_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    report_put(out, text, REPORT_JSON);
    (void)fputc('"', out);
}

static void put_exact(FILE *out, double value)
{
    (void)fputs(report_exact(value).text, out);
}

static const char *separator(uint32_t index)
{
    return index == 0 ? "" : ", ";
}

static void put_arm_name(const struct tacit_report *report, uint32_t arm, FILE *out)
{
    if (report->arms[arm].name != NULL)
        put_string(out, report->arms[arm].name);
    else
        (void)fprintf(out, "\"arm %" PRIu32 "\"", arm);
}

/* Errors: TACIT_MEMORY. */
static enum tacit_status put_answer(const struct tacit_report *report, FILE *out)
{
    struct tacit_report_answer answer;
    enum tacit_status const status = tacit_report_answer_new(report, &answer);
    if (status != TACIT_OK)
        return status;
    (void)fputs("{\"answer\": ", out);
    if (answer.sentence == NULL) {
        (void)fputs("null", out);
    } else {
        (void)fprintf(out, "{\"decided\": %s, \"arms\": [", answer.is_decided ? "true" : "false");
        for (uint32_t i = 0; i < answer.arm_count; i++) {
            (void)fputs(separator(i), out);
            put_arm_name(report, answer.arms[i], out);
        }
        (void)fputs("], \"sentence\": ", out);
        put_string(out, answer.sentence);
        (void)fputc('}', out);
    }
    (void)fputs(",\n \"note\": ", out);
    if (report_note(report) == NULL)
        (void)fputs("null", out);
    else
        put_string(out, report_note(report));
    if (report->remark != NULL) {
        (void)fputs(",\n \"remark\": ", out);
        put_string(out, report->remark);
    }
    tacit_report_answer_free(&answer);
    return TACIT_OK;
}

static void put_epsilon(const struct tacit_report *report, const char *of, FILE *out)
{
    (void)fprintf(out, ", \"epsilon_per_%s\": ", of);
    put_exact(out, report->epsilon_per_reward);
}

static void put_head(const struct tacit_report *report, FILE *out)
{
    (void)fputs(",\n \"name\": ", out);
    put_string(out, report->name);
    (void)fprintf(out, ", \"seed\": %" PRIu64 ", \"runs\": %" PRIu32, report->seed,
                  report->run_count);
    if (report_interrupted(report))
        (void)fprintf(out, ", \"runs_asked\": %" PRIu32, report->runs_asked);
    (void)fprintf(out, ", \"horizon\": %" PRIu64 ", \"version\": ", report->horizon);
    put_string(out, report->version);
    (void)fputs(",\n \"privacy\": {\"mode\": ", out);
    put_string(out, report->privacy_mode);
    put_epsilon(report, report->words == NULL ? "reward" : report->words->agent, out);
    if (report->words == NULL && strcmp(report_epsilon_of(report), "reward") != 0)
        put_epsilon(report, report_epsilon_of(report), out); /* of more than its reward */
    if (report->delta > 0) {
        (void)fputs(", \"delta\": ", out);
        put_exact(out, report->delta);
    }
    (void)fputs(", \"statement\": ", out);
    put_string(out, report->statement);
    (void)fputc('}', out);
}

/* Of very many components the first ones; component_count says how many there are. */
#define COMPONENTS_LISTED 1000u

static void put_components(const struct tacit_report_network *network, FILE *out)
{
    (void)fputs(", \"components\": [", out);
    for (uint32_t i = 0; i < network->component_count && i < COMPONENTS_LISTED; i++) {
        const struct tacit_component *const component = &network->components[i];
        (void)fprintf(out,
                      "%s{\"agents\": %" PRIu32 ", \"edges\": %" PRIu64 ", \"sink\": %" PRIu32
                      ", \"delay\": %" PRIu32 ", \"distance_sum\": %" PRIu64 "}",
                      i == 0 ? "\n  " : ",\n  ", component->agent_count, component->edge_count,
                      component->sink, component->delay, component->distance_sum);
    }
    (void)fputc(']', out);
}

static void put_network(const struct tacit_report_network *network, FILE *out)
{
    (void)fputs(",\n \"network\": {\"kind\": ", out);
    put_string(out, network->kind);
    (void)fprintf(out, ", \"server_links\": %" PRIu32 ", \"t_delay\": %" PRIu32,
                  network->server_links, network->delay);
    if (network->component_count > 0)
        (void)fprintf(out,
                      ", \"edges\": %" PRIu64 ", \"diameter\": %" PRIu32
                      ", \"component_count\": %" PRIu32,
                      network->edge_count, network->diameter, network->component_count);
    if (network->components != NULL)
        put_components(network, out);
    (void)fputc('}', out);
}

/* {"mean": ..., "sd": ...} of one value a run. */
static void put_summary(const struct tacit_report *report, const double *runs, FILE *out)
{
    struct tacit_report_summary const summary = tacit_report_summarise(runs, report->run_count, 1);
    double const values[] = {summary.mean, summary.sd, summary.ci95, summary.min, summary.max};
    static const char *const keys[] = {"mean", "sd", "ci95", "min", "max"};
    (void)fputc('{', out);
    for (uint32_t i = 0; i < 5; i++) {
        (void)fprintf(out, "%s\"%s\": ", separator(i), keys[i]);
        put_exact(out, values[i]);
    }
    (void)fputc('}', out);
}

static void put_metric(const struct tacit_report *report, uint32_t index, FILE *out)
{
    (void)fputs(index == 0 ? "\n  " : ",\n  ", out);
    put_string(out, report->metrics[index].metric->name);
    (void)fputs(": ", out);
    put_summary(report, report->metrics[index].values, out);
}

static void put_baselines(const struct tacit_report *report, FILE *out)
{
    (void)fputs("},\n \"baselines\": {", out);
    for (uint32_t i = 0; i < report->baseline_count; i++) {
        (void)fputs(i == 0 ? "\n  " : ",\n  ", out);
        put_string(out, report->baselines[i].name);
        if (report->baselines[i].regret == NULL) {
            (void)fputs(": null", out);
            continue;
        }
        (void)fputs(": {\"regret\": ", out);
        put_summary(report, report->baselines[i].regret, out);
        for (uint32_t j = 0; report->baselines[i].curve != NULL && j < report->point_count; j++) {
            (void)fputs(j == 0 ? ", \"curve\": [" : ", ", out);
            put_exact(out, report->baselines[i].curve[j]);
        }
        (void)fputs(report->baselines[i].curve != NULL && report->point_count > 0 ? "]}" : "}",
                    out);
    }
}

static void put_points(const struct tacit_report *report, FILE *out)
{
    (void)fputs("\"t\": [", out);
    for (uint32_t i = 0; i < report->point_count; i++)
        (void)fprintf(out, "%s%" PRIu64, separator(i), report->points[i]);
    (void)fputc(']', out);
}

static void put_curve(const struct tacit_report *report, const struct tacit_report_curve *curve,
                      FILE *out)
{
    (void)fputs(",\n  ", out);
    put_string(out, curve->name);
    (void)fputs(": {\"mean\": [", out);
    for (uint32_t i = 0; i < report->point_count; i++) {
        (void)fputs(separator(i), out);
        put_exact(out, report_point_summary(report, curve, i).mean);
    }
    (void)fputs("], \"ci95\": [", out);
    for (uint32_t i = 0; i < report->point_count; i++) {
        (void)fputs(separator(i), out);
        put_exact(out, report_point_summary(report, curve, i).ci95);
    }
    (void)fputs("]}", out);
}

static void put_arm(const struct tacit_report *report, uint32_t index, FILE *out)
{
    struct report_fate const fate = report_arm_fate(report, index);
    (void)fprintf(out, "%s{\"index\": %" PRIu32 ", \"name\": ", index == 0 ? "\n  " : ",\n  ",
                  index);
    put_arm_name(report, index, out);
    (void)fputs(", \"mean\": ", out);
    put_exact(out, fate.mean);
    (void)fputs(", \"survived_fraction\": ", out);
    put_exact(out, fate.survived);
    (void)fputs(", \"eliminated_epoch_mean\": ", out);
    put_exact(out, fate.eliminated_mean);
    (void)fputc('}', out);
}

enum tacit_status tacit_report_json(const struct tacit_report *report, FILE *out)
{
    report_check(report);
    locale_t const before = report_locale_enter();
    enum tacit_status status = put_answer(report, out);
    put_head(report, out);
    if (report->network != NULL)
        put_network(report->network, out);
    (void)fputs(",\n \"metrics\": {", out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        put_metric(report, i, out);
    put_baselines(report, out);
    (void)fputs("},\n \"curve\": {", out);
    put_points(report, out);
    for (uint32_t i = 0; i < report->curve_count; i++)
        put_curve(report, &report->curves[i], out);
    (void)fprintf(out, "},\n \"agents\": %" PRIu32 ",\n \"arms\": [", report->agent_count);
    for (uint32_t i = 0; i < report->arm_count; i++)
        put_arm(report, i, out);
    (void)fputc(']', out);
    if (status == TACIT_OK)
        status = report_sites_json(report, out);
    report_profiles_json(report, out);
    report_band_json(report, out);
    (void)fputs("}\n", out);
    enum tacit_status const written = report_finish(out);
    status = status == TACIT_OK ? written : status;
    report_locale_leave(before);
    return status;
}

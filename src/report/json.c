/* summary.json, which is also what `--json` prints. Written by hand and not with jansson, which can
 * neither print the shortest number that reads back nor hold a seed above 2^63. */
#include "internal.h"
#include <inttypes.h>
#include <string.h>

static void put_answer(const struct tacit_report *report, const struct tacit_report_answer *answer,
                       FILE *out)
{
    if (answer->sentence == NULL) {
        (void)fputs("{\"answer\": null", out);
    } else {
        json_put(out, "{\"answer\": {\"decided\": %-s, \"arms\": [",
                 answer->is_decided ? "true" : "false");
        for (uint32_t i = 0; i < answer->arm_count; i++)
            json_put(out, "%-s%s", i == 0 ? "" : ", ", report_arm_name(report, answer->arms[i]));
        json_put(out, "], \"sentence\": %s}", answer->sentence);
    }
    json_put(out, ",\n \"note\": %s", report_note(report));
    if (report->remark != NULL)
        json_put(out, ",\n \"remark\": %s", report->remark);
}

/* `of`: what the epsilon is per. */
static void put_epsilon(const struct tacit_report *report, const char *of, FILE *out)
{
    json_put(out, ", \"epsilon_per_%-s\": %g", of, report->epsilon_per_reward);
}

static void put_head(const struct tacit_report *report, FILE *out)
{
    json_put(out, ",\n \"name\": %s, \"seed\": %" PRIu64 ", \"runs\": %u", report->name,
             report->seed, report->run_count);
    if (report_interrupted(report))
        json_put(out, ", \"runs_asked\": %u", report->runs_asked);
    json_put(out, ", \"horizon\": %" PRIu64 ", \"version\": %s,\n \"privacy\": {\"mode\": %s",
             report->horizon, report->version, report->privacy_mode);
    put_epsilon(report, report->labels == NULL ? "reward" : report->labels->agent, out);
    if (report->labels == NULL && strcmp(report_epsilon_of(report), "reward") != 0)
        put_epsilon(report, report_epsilon_of(report), out); /* of more than its reward */
    if (report->delta > 0)
        json_put(out, ", \"delta\": %g", report->delta);
    json_put(out, ", \"statement\": %s}", report->statement);
}

/* Of very many components the first ones; component_count says how many there are. */
#define COMPONENTS_LISTED 1000u

static void put_components(const struct tacit_report_network *network, FILE *out)
{
    (void)fputs(", \"components\": [", out);
    for (uint32_t i = 0; i < network->component_count && i < COMPONENTS_LISTED; i++) {
        const struct tacit_component *const component = &network->components[i];
        json_put(out,
                 "%-s\n  {\"agents\": %u, \"edges\": %" PRIu64
                 ", \"sink\": %u, \"delay\": %u, \"distance_sum\": %" PRIu64 "}",
                 i == 0 ? "" : ",", component->agent_count, component->edge_count, component->sink,
                 component->delay, component->distance_sum);
    }
    (void)fputc(']', out);
}

static void put_network(const struct tacit_report_network *network, FILE *out)
{
    json_put(out, ",\n \"network\": {\"kind\": %s, \"server_links\": %u, \"t_delay\": %u",
             network->kind, network->server_links, network->delay);
    if (network->component_count > 0)
        json_put(out, ", \"edges\": %" PRIu64 ", \"diameter\": %u, \"component_count\": %u",
                 network->edge_count, network->diameter, network->component_count);
    if (network->components != NULL)
        put_components(network, out);
    (void)fputc('}', out);
}

/* {"mean": ..., "sd": ...} of one value a run. */
static void put_summary(const struct tacit_report *report, const double *runs, FILE *out)
{
    struct tacit_report_summary const summary = tacit_report_summarise(runs, report->run_count, 1);
    json_put(out, "{\"mean\": %g, \"sd\": %g, \"ci95\": %g, \"min\": %g, \"max\": %g}",
             summary.mean, summary.sd, summary.ci95, summary.min, summary.max);
}

static void put_baseline(const struct tacit_report *report,
                         const struct tacit_report_baseline *baseline, FILE *out)
{
    if (baseline->regret == NULL) {
        json_put(out, "\n  %s: null", baseline->name);
        return;
    }
    json_put(out, "\n  %s: {\"regret\": ", baseline->name);
    put_summary(report, baseline->regret, out);
    for (uint32_t i = 0; baseline->curve != NULL && i < report->point_count; i++)
        json_put(out, "%-s%g", i == 0 ? ", \"curve\": [" : ", ", baseline->curve[i]);
    (void)fputs(baseline->curve != NULL && report->point_count > 0 ? "]}" : "}", out);
}

static void put_metrics(const struct tacit_report *report, FILE *out)
{
    (void)fputs(",\n \"metrics\": {", out);
    for (uint32_t i = 0; i < report->metric_count; i++) {
        json_put(out, "%-s\n  %s: ", i == 0 ? "" : ",", report->metrics[i].metric->name);
        put_summary(report, report->metrics[i].values, out);
    }
    (void)fputs("},\n \"baselines\": {", out);
    for (uint32_t i = 0; i < report->baseline_count; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        put_baseline(report, &report->baselines[i], out);
    }
}

static void put_curve(const struct tacit_report *report, const struct tacit_report_curve *curve,
                      FILE *out)
{
    json_put(out, ",\n  %s: {\"mean\": [", curve->name);
    for (uint32_t i = 0; i < report->point_count; i++)
        json_put(out, "%-s%g", i == 0 ? "" : ", ", report_point_summary(report, curve, i).mean);
    (void)fputs("], \"ci95\": [", out);
    for (uint32_t i = 0; i < report->point_count; i++)
        json_put(out, "%-s%g", i == 0 ? "" : ", ", report_point_summary(report, curve, i).ci95);
    (void)fputs("]}", out);
}

static void put_curves(const struct tacit_report *report, FILE *out)
{
    (void)fputs("},\n \"curve\": {\"t\": [", out);
    for (uint32_t i = 0; i < report->point_count; i++)
        json_put(out, "%-s%" PRIu64, i == 0 ? "" : ", ", report->points[i]);
    (void)fputc(']', out);
    for (uint32_t i = 0; i < report->curve_count; i++)
        put_curve(report, &report->curves[i], out);
}

static void put_arms(const struct tacit_report *report, FILE *out)
{
    json_put(out, "},\n \"agents\": %u,\n \"arms\": [", report->agent_count);
    for (uint32_t i = 0; i < report->arm_count; i++) {
        struct report_fate const fate = report_arm_fate(report, i);
        json_put(out,
                 "%-s\n  {\"index\": %u, \"name\": %s, \"mean\": %g, \"survived_fraction\": %g, "
                 "\"eliminated_epoch_mean\": %g}",
                 i == 0 ? "" : ",", i, report_arm_name(report, i), fate.mean, fate.survived,
                 fate.eliminated_mean);
    }
    (void)fputc(']', out);
}

enum tacit_status tacit_report_json(const struct tacit_report *report, FILE *out)
{
    struct tacit_report_answer answer;
    report_check(report);
    locale_t const before = report_locale_enter();
    enum tacit_status status = tacit_report_answer_new(report, &answer);
    put_answer(report, &answer, out);
    tacit_report_answer_free(&answer);
    put_head(report, out);
    if (report->network != NULL)
        put_network(report->network, out);
    put_metrics(report, out);
    put_curves(report, out);
    put_arms(report, out);
    if (status == TACIT_OK)
        status = report_sites_json(report, out);
    report_profiles_json(report, out);
    report_band_json(report, out);
    (void)fputs("}\n", out);
    enum tacit_status const written = report_finish(out);
    report_locale_leave(before);
    return status == TACIT_OK ? written : status;
}

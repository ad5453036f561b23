/* summary.json, which is also what `--json` prints. Written by hand and not with jansson, which can
 * neither print the shortest number that reads back nor hold a seed above 2^63. */
#include "internal.h"
#include <inttypes.h>

static void put_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    tacit_report_put(out, text, TACIT_REPORT_JSON);
    (void)fputc('"', out);
}

static void put_exact(FILE *out, double value)
{
    (void)fputs(tacit_report_exact(value).text, out);
}

static const char *separator(uint32_t index)
{
    return index == 0 ? "" : ", ";
}

static void put_head(const struct tacit_report *report, FILE *out)
{
    (void)fputs("{\"name\": ", out);
    put_string(out, report->name);
    (void)fprintf(out, ", \"seed\": %" PRIu64 ", \"runs\": %" PRIu32, report->seed,
                  report->run_count);
    if (tacit_report_interrupted(report))
        (void)fprintf(out, ", \"runs_asked\": %" PRIu32, report->runs_asked);
    (void)fprintf(out, ", \"horizon\": %" PRIu64 ", \"version\": ", report->horizon);
    put_string(out, report->version);
    (void)fputs(",\n \"privacy\": {\"mode\": ", out);
    put_string(out, report->privacy_mode);
    (void)fputs(", \"epsilon_per_reward\": ", out);
    put_exact(out, report->epsilon_per_reward);
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

static void put_metric(const struct tacit_report *report, uint32_t index, FILE *out)
{
    struct tacit_report_summary const summary =
        tacit_report_metric_summary(report, &report->metrics[index]);
    double const values[] = {summary.mean, summary.sd, summary.ci95, summary.min, summary.max};
    static const char *const keys[] = {"mean", "sd", "ci95", "min", "max"};
    (void)fputs(index == 0 ? "\n  " : ",\n  ", out);
    put_string(out, report->metrics[index].metric->name);
    (void)fputs(": {", out);
    for (uint32_t i = 0; i < 5; i++) {
        (void)fprintf(out, "%s\"%s\": ", separator(i), keys[i]);
        put_exact(out, values[i]);
    }
    (void)fputc('}', out);
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
        put_exact(out, tacit_report_point_summary(report, curve, i).mean);
    }
    (void)fputs("], \"ci95\": [", out);
    for (uint32_t i = 0; i < report->point_count; i++) {
        (void)fputs(separator(i), out);
        put_exact(out, tacit_report_point_summary(report, curve, i).ci95);
    }
    (void)fputs("]}", out);
}

static void put_arm(const struct tacit_report *report, uint32_t index, FILE *out)
{
    struct tacit_report_fate const fate = tacit_report_arm_fate(report, index);
    const char *const name = report->arms[index].name;
    (void)fprintf(out, "%s{\"index\": %" PRIu32 ", \"name\": ", index == 0 ? "\n  " : ",\n  ",
                  index);
    if (name != NULL)
        put_string(out, name);
    else
        (void)fprintf(out, "\"arm %" PRIu32 "\"", index);
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
    tacit_report_check(report);
    locale_t const before = tacit_report_locale_enter();
    put_head(report, out);
    if (report->network != NULL)
        put_network(report->network, out);
    (void)fputs(",\n \"metrics\": {", out);
    for (uint32_t i = 0; i < report->metric_count; i++)
        put_metric(report, i, out);
    (void)fputs("},\n \"curve\": {", out);
    put_points(report, out);
    for (uint32_t i = 0; i < report->curve_count; i++)
        put_curve(report, &report->curves[i], out);
    (void)fprintf(out, "},\n \"agents\": %" PRIu32 ",\n \"arms\": [", report->agent_count);
    for (uint32_t i = 0; i < report->arm_count; i++)
        put_arm(report, i, out);
    (void)fputs("]}\n", out);
    enum tacit_status const status = tacit_report_finish(out);
    tacit_report_locale_leave(before);
    return status;
}

/* The network on the page: how the agents are connected, and what a round of it takes. */
#include "internal.h"
#include <inttypes.h>

#define COMPONENTS_SHOWN 12u

static void put_count(uint64_t count, const char *one, const char *many, FILE *out)
{
    (void)fprintf(out, "%s %s", report_grouped(count).text, count == 1 ? one : many);
}

static void put_waiting(const struct tacit_report *report, const char *until, FILE *out)
{
    const struct tacit_report_metric *const regret = report_find(report, "regret_exploit");
    if (report->network->delay == 0)
        return;
    (void)fputs(" In each round agents wait ", out);
    put_count(report->network->delay, "slot", "slots", out);
    (void)fprintf(out, " until %s, and play the arm that seems best to each meanwhile", until);
    if (regret != NULL)
        (void)fprintf(out, ": %s of the regret of a run",
                      report_rounded(report_metric_summary(report, regret).mean, 4).text);
    (void)fputc('.', out);
}

static void put_hybrid(const struct tacit_report *report, FILE *out)
{
    put_count(report->network->component_count, "component", "components", out);
    (void)fputs(" with ", out);
    put_count(report->network->edge_count, "edge", "edges", out);
    (void)fputs(". Each collects at its sink, and the sinks report to the server.", out);
    put_waiting(report, "the slowest sink has all reports", out);
}

static void put_graph(const struct tacit_report *report, FILE *out)
{
    put_count(report->network->edge_count, "edge", "edges", out);
    (void)fprintf(out,
                  ", diameter %" PRIu32 ". Agents talk to their neighbours; there is no server.",
                  report->network->diameter);
    put_waiting(report, "every report has reached everybody", out);
}

static void put_component(const struct tacit_component *component, uint64_t first, FILE *out)
{
    uint64_t const numbers[] = {component->agent_count, component->edge_count, component->sink,
                                component->delay, component->distance_sum};
    (void)fprintf(out, "<tr><th scope=\"row\">%s", report_grouped(first).text);
    if (component->agent_count > 1)
        (void)fprintf(out, "\xe2\x80\x93%s",
                      report_grouped(first + component->agent_count - 1).text);
    (void)fputs("</th>", out);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        (void)fprintf(out, "<td class=\"n\">%s</td>", report_grouped(numbers[i]).text);
    (void)fputs("</tr>\n", out);
}

/* The agents of a component follow on those of the one before. */
static void put_components(const struct tacit_report_network *network, FILE *out)
{
    static const char *const heads[] = {"agents", "#number", "#edges",
                                        "#sink",  "#delay",  "#hops to the sink"};
    uint64_t first = 0;
    report_html_table("Components", "plain", heads, 6, out);
    for (uint32_t i = 0; i < network->component_count && i < COMPONENTS_SHOWN; i++) {
        put_component(&network->components[i], first, out);
        first += network->components[i].agent_count;
    }
    if (network->component_count > COMPONENTS_SHOWN)
        (void)fprintf(out, "<tr><td class=\"soft\" colspan=\"6\">and %s more</td></tr>\n",
                      report_grouped(network->component_count - COMPONENTS_SHOWN).text);
    report_html_table_end(out);
}

void report_html_network(const struct tacit_report *report, FILE *out)
{
    const struct tacit_report_network *const network = report->network;
    if (network == NULL || network->component_count == 0)
        return;
    (void)fputs("<section id=\"network\"><h2>Network <span class=\"tag\">", out);
    report_put(out, network->kind, REPORT_HTML);
    (void)fputs("</span></h2>\n<p class=\"lead\">", out);
    if (network->components != NULL)
        put_hybrid(report, out);
    else if (network->edge_count == 0)
        (void)fputs("Each agent learns by itself. Nothing is sent.", out);
    else
        put_graph(report, out);
    (void)fputs("</p>\n", out);
    if (network->note != NULL) {
        (void)fputs("<p>", out);
        report_put(out, network->note, REPORT_HTML);
        (void)fputs("</p>\n", out);
    }
    if (network->components != NULL)
        put_components(network, out);
    report_html_section_end(out);
}

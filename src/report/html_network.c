/* The network on the page: how the agents are connected, and what a round of it takes. */
#include "internal.h"
#include <inttypes.h>

#define COMPONENTS_SHOWN 12u

static const char *word_for(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void put_waiting(const struct tacit_report *report, const char *until, FILE *out)
{
    const struct tacit_report_metric *const regret = report_find(report, "regret_exploit");
    uint32_t const delay = report->network->delay;
    if (delay == 0)
        return;
    html_put(out,
             " In each round agents wait %-u %-s until %-s, and play the arm that seems best to "
             "each meanwhile",
             delay, word_for(delay, "slot", "slots"), until);
    if (regret != NULL)
        html_put(out, ": %.4g of the regret of a run", report_metric_summary(report, regret).mean);
    (void)fputc('.', out);
}

static void put_hybrid(const struct tacit_report *report, FILE *out)
{
    const struct tacit_report_network *const network = report->network;
    html_put(out,
             "%-u %-s with %-" PRIu64
             " %-s. Each collects at its sink, and the sinks report to the server.",
             network->component_count,
             word_for(network->component_count, "component", "components"), network->edge_count,
             word_for(network->edge_count, "edge", "edges"));
    put_waiting(report, "the slowest sink has all reports", out);
}

static void put_graph(const struct tacit_report *report, FILE *out)
{
    const struct tacit_report_network *const network = report->network;
    html_put(
        out, "%-" PRIu64 " %-s, diameter %u. Agents talk to their neighbours; there is no server.",
        network->edge_count, word_for(network->edge_count, "edge", "edges"), network->diameter);
    put_waiting(report, "every report has reached everybody", out);
}

static void put_component(const struct tacit_component *component, uint64_t first, FILE *out)
{
    html_put(out, "<tr><th scope=\"row\">%-" PRIu64, first);
    if (component->agent_count > 1)
        html_put(out, "\xe2\x80\x93%-" PRIu64, first + component->agent_count - 1);
    html_put(out,
             "</th><td class=\"n\">%-u</td><td class=\"n\">%-" PRIu64
             "</td><td class=\"n\">%-u</td><td class=\"n\">%-u</td><td class=\"n\">%-" PRIu64
             "</td></tr>\n",
             component->agent_count, component->edge_count, component->sink, component->delay,
             component->distance_sum);
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
        html_put(out, "<tr><td class=\"soft\" colspan=\"6\">and %-u more</td></tr>\n",
                 network->component_count - COMPONENTS_SHOWN);
    report_html_table_end(out);
}

void report_html_network(const struct tacit_report *report, FILE *out)
{
    const struct tacit_report_network *const network = report->network;
    if (network == NULL || network->component_count == 0)
        return;
    html_put(out,
             "<section id=\"network\"><h2>Network <span class=\"tag\">%s</span></h2>\n"
             "<p class=\"lead\">",
             network->kind);
    if (network->components != NULL)
        put_hybrid(report, out);
    else if (network->edge_count == 0)
        (void)fputs("Each agent learns by itself. Nothing is sent.", out);
    else
        put_graph(report, out);
    (void)fputs("</p>\n", out);
    if (network->note != NULL)
        html_put(out, "<p>%s</p>\n", network->note);
    if (network->components != NULL)
        put_components(network, out);
    report_html_section_end(out);
}

/* Sites beside each other: each one's own best arm and what the common one costs it, by what it saw
 * itself. What only the simulator knows stands in columns that say so. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PULLS_MIN 30u /* of an arm, from which a site has an opinion of it */
#define SITES_SHOWN 20u
#define SITES_ON_PAGE 200u
#define NAME_WIDTH 18u
#define TOO_FEW "too few pulls"

/* ---- What a site saw ------------------------------------------------------------------------- */

/* Where a site's arms begin in a run. */
static size_t at_of(const struct tacit_report *report, uint32_t run, uint32_t agent)
{
    return ((size_t)run * report->agent_count + agent) * report->arm_count;
}

/* The mean that the site saw of an arm; NaN: too few pulls. */
static double mean_at(const struct tacit_report *report, size_t at, uint32_t arm)
{
    uint64_t const count = report->site_counts[at + arm];
    return count < PULLS_MIN ? (double)NAN : report->site_sums[at + arm] / (double)count;
}

/* Its own best arm in that run; arm_count: it has no opinion of any. */
static uint32_t best_at(const struct tacit_report *report, size_t at)
{
    uint32_t best = report->arm_count;
    for (uint32_t arm = 0; arm < report->arm_count; arm++) {
        double const mean = mean_at(report, at, arm);
        if (!isnan(mean) && (best == report->arm_count || mean > mean_at(report, at, best)))
            best = arm;
    }
    return best;
}

/* `votes`: room for arm_count + 1; `costs`: for a number a run. What a site would say of the common
 * arm, by the rewards that it saw. */
static void judge(const struct tacit_report *report, uint32_t agent, uint32_t common,
                  uint32_t *votes, double *costs, struct report_site *site)
{
    uint32_t const arms = report->arm_count;
    for (uint32_t arm = 0; arm <= arms; arm++)
        votes[arm] = 0;
    *site = (struct report_site){.best_arm = arms, .cost = NAN, .ci95 = NAN};
    uint64_t pulls = 0;
    for (uint32_t run = 0; run < report->run_count; run++) {
        size_t const at = at_of(report, run, agent);
        uint32_t const best = best_at(report, at);
        votes[best]++;
        for (uint32_t arm = 0; arm < arms; arm++)
            pulls += report->site_counts[at + arm];
        if (best < arms && !isnan(mean_at(report, at, common)))
            costs[site->runs++] = mean_at(report, at, best) - mean_at(report, at, common);
    }
    for (uint32_t arm = 0; arm < arms; arm++)
        if (votes[arm] > 0 && (site->best_arm == arms || votes[arm] > votes[site->best_arm]))
            site->best_arm = arm;
    site->pulls = (double)pulls / report->run_count;
    site->share = (double)votes[site->best_arm] / report->run_count;
    if (site->runs == 0)
        return;
    struct tacit_report_summary const summary = tacit_report_summarise(costs, site->runs, 1);
    site->cost = summary.mean;
    site->ci95 = site->runs > 1 ? summary.ci95 : (double)NAN;
}

/* The same by the simulator's means. */
static void fill_truth(const struct tacit_report *report, uint32_t agent, uint32_t common,
                       struct report_site *site)
{
    const double *const means = report->site_means + (size_t)agent * report->arm_count;
    site->true_best_arm = 0;
    for (uint32_t arm = 1; arm < report->arm_count; arm++)
        site->true_best_arm = means[arm] > means[site->true_best_arm] ? arm : site->true_best_arm;
    site->true_cost = means[site->true_best_arm] - means[common];
}

enum tacit_status report_sites_new(const struct tacit_report *report, struct report_sites *sites)
{
    struct tacit_report_answer answer;
    *sites = (struct report_sites){.count = 0};
    if (report->site_counts == NULL)
        return TACIT_OK;
    TACIT_ASSERT(report->site_sums != NULL && report->site_means != NULL);
    enum tacit_status status = tacit_report_answer_new(report, &answer);
    bool const has_answer = status == TACIT_OK && answer.arm_count > 0;
    sites->common_arm = has_answer ? answer.arms[0] : 0;
    tacit_report_answer_free(&answer);
    if (!has_answer)
        return status;
    uint32_t *const votes = calloc(report->arm_count + (size_t)1, sizeof *votes);
    double *const costs = calloc(report->run_count, sizeof *costs);
    sites->items = calloc(report->agent_count, sizeof *sites->items);
    status = votes == NULL || costs == NULL || sites->items == NULL ? TACIT_MEMORY : TACIT_OK;
    for (uint32_t agent = 0; agent < report->agent_count && status == TACIT_OK; agent++) {
        judge(report, agent, sites->common_arm, votes, costs, &sites->items[agent]);
        fill_truth(report, agent, sites->common_arm, &sites->items[agent]);
        sites->count++;
    }
    free(votes);
    free(costs);
    return status;
}

void report_sites_free(struct report_sites *sites)
{
    free(sites->items);
    *sites = (struct report_sites){.count = 0};
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Its own best arm, if it has one. */
#define best_name(report, site, none)                                                              \
    ((site)->best_arm == (report)->arm_count ? (none) : report_arm_name(report, (site)->best_arm))

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

enum tacit_status report_sites_json(const struct tacit_report *report, FILE *out)
{
    struct report_sites sites;
    enum tacit_status const status = report_sites_new(report, &sites);
    for (uint32_t agent = 0; agent < sites.count; agent++) {
        const struct report_site *const site = &sites.items[agent];
        json_put(out,
                 "%-s\n  {\"name\": %s, \"best_arm\": %s, \"share\": %g, \"cost_of_common\": "
                 "{\"mean\": %g, \"ci95\": %g}, \"pulls_seen\": %g, \"truth\": "
                 "{\"best_arm\": %s, \"cost_of_common\": %g}}%-s",
                 agent == 0 ? ",\n \"sites\": [" : ",", report_agent_name(report, agent),
                 best_name(report, site, NULL), site->share, site->cost, site->ci95, site->pulls,
                 report_arm_name(report, site->true_best_arm), site->true_cost,
                 agent + 1 == sites.count ? "]" : "");
    }
    report_sites_free(&sites);
    return status;
}

enum tacit_status report_sites_csv(const void *subject, FILE *out)
{
    const struct tacit_report *const report = subject;
    struct report_sites sites;
    enum tacit_status const status = report_sites_new(report, &sites);
    (void)fputs("site,best_arm,share,cost_of_common,cost_of_common_ci95,pulls_seen,"
                "truth_best_arm,truth_cost_of_common\n",
                out);
    for (uint32_t agent = 0; agent < sites.count; agent++) {
        const struct report_site *const site = &sites.items[agent];
        csv_put(out, "%s,%s,%g,%g,%g,%g,%s,%g\n", report_agent_name(report, agent),
                best_name(report, site, ""), site->share, site->cost, site->ci95, site->pulls,
                report_arm_name(report, site->true_best_arm), site->true_cost);
    }
    report_sites_free(&sites);
    return status == TACIT_OK ? report_finish(out) : status;
}

/* ---- The terminal ---------------------------------------------------------------------------- */

static void put_line(const struct tacit_report *report, uint32_t agent,
                     const struct report_site *site, FILE *out)
{
    (void)fputs("  ", out);
    report_put_column(out, report_agent_name(report, agent), NAME_WIDTH);
    (void)fputs("  ", out);
    report_put_column(out, best_name(report, site, TOO_FEW), NAME_WIDTH);
    (void)fprintf(out, " %12s %9s %9s\n", report_cell(site->cost, 3).text,
                  report_cell(site->ci95, 2).text, report_cell(site->true_cost, 3).text);
}

enum tacit_status report_sites_table(const struct tacit_report *report, FILE *out)
{
    struct report_sites sites;
    enum tacit_status const status = report_sites_new(report, &sites);
    if (sites.count > 0)
        (void)fprintf(out, "\n  %-*s  %-*s %12s %9s %9s\n", (int)NAME_WIDTH, "site",
                      (int)NAME_WIDTH, "sees as best", "common costs", "+/- 95 %", "in truth");
    for (uint32_t agent = 0; agent < sites.count && agent < SITES_SHOWN; agent++)
        put_line(report, agent, &sites.items[agent], out);
    if (sites.count > SITES_SHOWN)
        (void)fprintf(out, "  and %" PRIu32 " more\n", sites.count - SITES_SHOWN);
    report_sites_free(&sites);
    return status;
}

/* ---- The page -------------------------------------------------------------------------------- */

static void put_row(const struct tacit_report *report, uint32_t agent,
                    const struct report_site *site, FILE *out)
{
    struct tacit_report_summary const cost = {
        .mean = site->cost, .sd = isfinite(site->ci95) ? 1 : 0, .ci95 = site->ci95};
    report_html_row(report_agent_name(report, agent), out);
    html_put(out, "<td><bdi>%s</bdi></td><td class=\"n\">%-s %%</td>",
             best_name(report, site, TOO_FEW), report_short(100 * site->share, 3).text);
    report_html_summary(&cost, out);
    html_put(out, "<td><bdi>%s</bdi></td><td class=\"n\">%.3g</td></tr>\n",
             report_arm_name(report, site->true_best_arm), site->true_cost);
}

enum tacit_status report_sites_html(const struct tacit_report *report, FILE *out)
{
    static const char *const heads[] = {"site",          "sees as best",
                                        "#in runs",      "#the common one costs",
                                        "best in truth", "#costs in truth"};
    struct report_sites sites;
    char lead[600];
    enum tacit_status const status = report_sites_new(report, &sites);
    if (sites.count == 0) {
        report_sites_free(&sites);
        return status;
    }
    (void)snprintf(
        lead, sizeof lead,
        "Each site's own best arm, by the rewards that it saw itself (of arms that it "
        "pulled 30 times or more), and in how many of the runs; and what the common one, "
        "%.100s, costs it a pull, by the same rewards. The best of several means is a "
        "little too good. In truth: by the means that only the simulator knows.",
        report_arm_name(report, sites.common_arm));
    report_html_section("sites", "Sites", lead, out);
    report_html_table("Sites", "", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t agent = 0; agent < sites.count && agent < SITES_ON_PAGE; agent++)
        put_row(report, agent, &sites.items[agent], out);
    report_html_table_end(out);
    if (sites.count > SITES_ON_PAGE)
        html_put(out, "<p class=\"lead\">And %-u more, in summary.json.</p>\n",
                 sites.count - SITES_ON_PAGE);
    report_html_section_end(out);
    report_sites_free(&sites);
    return status;
}

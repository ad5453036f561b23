/* The page of a daemon, of the parts of all pages. */
#include "tacit/dashboard.h"
#include "internal.h"

/* Who reads on with the keyboard, or has a table scrolled, stays where he is. */
const char tacit_dashboard_script[] =
    "'use strict';\n"
    "const main = () => document.querySelector('main');\n"
    "const places = () => [...main().querySelectorAll('[tabindex], a, summary')];\n"
    "const say = text => { document.getElementById('fresh').textContent = text; };\n"
    "async function look() {\n"
    "  try {\n"
    "    const answer = await fetch(location.pathname, {cache: 'no-store'});\n"
    "    if (!answer.ok) throw new Error(answer.status);\n"
    "    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');\n"
    "    const next = fresh.querySelector('main');\n"
    "    if (next.innerHTML !== look.shown) {\n"
    "      const at = places().indexOf(document.activeElement);\n"
    "      const scrolled = places().map(e => e.scrollLeft);\n"
    "      look.shown = next.innerHTML;\n"
    "      main().innerHTML = look.shown;\n"
    "      places().forEach((e, i) => { e.scrollLeft = scrolled[i] || 0; });\n"
    "      if (at >= 0 && places()[at]) places()[at].focus({preventScroll: true});\n"
    "    }\n"
    "    say('This page is of now: it looks again every two seconds.');\n"
    "  } catch (trouble) {\n"
    "    say('The daemon does not answer: this page is of an earlier time.');\n"
    "  }\n"
    "  setTimeout(look, 2000);\n"
    "}\n"
    "setTimeout(look, 2000);\n";

static void put_causes(const struct tacit_dashboard *dashboard, FILE *out)
{
    if (dashboard->cause_count == 0)
        return;
    report_html_section("causes", "What holds it up", NULL, out);
    for (uint32_t i = 0; i < dashboard->cause_count; i++) {
        struct tacit_dashboard_cause const *const cause = &dashboard->causes[i];
        html_put(out, "<div class=\"box%-s\"><h3>%s</h3><p>%s</p>\n", cause->is_bad ? " warn" : "",
                 cause->what, cause->todo);
        if (cause->command[0] != '\0')
            html_put(out, "<p><code>%s</code></p>\n", cause->command);
        (void)fputs("</div>\n", out);
    }
    report_html_section_end(out);
}

static void put_row(const struct tacit_dashboard_table *table, const char *const *cells, FILE *out)
{
    report_html_row(cells[0], out);
    for (uint32_t column = 1; column < table->column_count; column++)
        html_put(out, "<td%-s>%s</td>", table->heads[column][0] == '#' ? " class=\"n\"" : "",
                 cells[column]);
    (void)fputs("</tr>\n", out);
}

static void put_table(const struct tacit_dashboard_table *table, FILE *out)
{
    TACIT_ASSERT(table->column_count > 0);
    if (table->row_count == 0)
        return;
    report_html_section(table->id, table->title, table->lead, out);
    report_html_table(table->title, "plain", table->heads, table->column_count, out);
    for (uint32_t row = 0; row < table->row_count; row++)
        put_row(table, table->cells + (size_t)row * table->column_count, out);
    report_html_table_end(out);
    if (table->more_count > 0)
        html_put(out, "<p class=\"lead\">and %-u more</p>\n", table->more_count);
    report_html_section_end(out);
}

static void put_answer(const struct tacit_dashboard *dashboard, FILE *out)
{
    report_html_answer_begin(dashboard->is_decided ? " win" : "", out);
    html_put(out, "%s</p>\n",
             dashboard->answer == NULL ? "Nothing is known of the arms yet." : dashboard->answer);
    if (dashboard->note != NULL)
        html_put(out, "<p>%s</p>\n", dashboard->note);
    report_html_section_end(out);
}

enum tacit_status tacit_dashboard_write(const struct tacit_dashboard *dashboard, FILE *out)
{
    TACIT_ASSERT(dashboard != NULL && dashboard->role != NULL);
    locale_t const before = report_locale_enter();
    report_html_live_top(dashboard->name, dashboard->role, out);
    for (uint32_t i = 0; i < dashboard->fact_count; i++)
        html_put(out, "<span>%s</span>", dashboard->facts[i]);
    report_html_header_end(out);
    put_answer(dashboard, out);
    put_causes(dashboard, out);
    if (dashboard->figure != NULL)
        report_html_figure(dashboard->figure, NULL, out);
    for (uint32_t i = 0; i < dashboard->table_count; i++)
        put_table(&dashboard->tables[i], out);
    if (dashboard->statement != NULL)
        html_put(out,
                 "<section id=\"privacy\" class=\"box\"><h2>Privacy</h2>\n<p>%s</p></section>\n",
                 dashboard->statement);
    html_put(
        out,
        "<footer>tacit %s</footer>\n</main><footer style=\"width:min(984px,94vw);margin:0 auto "
        "24px\"><p id=\"fresh\" role=\"status\">This "
        "page is of the time at which it was asked for.</p></footer></body></html>\n",
        dashboard->version);
    enum tacit_status const status = report_finish(out);
    report_locale_leave(before);
    return status;
}

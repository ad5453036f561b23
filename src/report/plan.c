/* The page of a plan: the sentence first, then every choice with the slots it needs and what it
 * costs, of the parts of all pages. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define NAME_BYTES 240u

/* Numbers and names of the figure, as many of each as there are choices. */
struct plan_drawing {
    double *x;
    double *y;
    char (*names)[NAME_BYTES];
    const char **labels;
    double have[2]; /* the line of the slots that there are */
    double ends[2];
    char have_label[100];
    struct tacit_report_series series[2];
    struct tacit_report_figure figure;
};

static void free_drawing(struct plan_drawing *drawing)
{
    free(drawing->x);
    free(drawing->names);
    free(drawing->labels);
}

/* "2. phased-index, confidence 0.95, over star": as in the table. */
static void name_choice(const struct tacit_report_plan *plan, uint32_t index, char *name)
{
    (void)snprintf(name, NAME_BYTES, "%" PRIu32 ". %.200s", index + 1, plan->choices[index].words);
}

static void draw_points(const struct tacit_report_plan *plan, struct plan_drawing *drawing)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->choice_count; i++) {
        if (!isfinite(plan->choices[i].slots_needed))
            continue;
        drawing->y[count] = plan->choices[i].slots_needed;
        name_choice(plan, i, drawing->names[count]);
        drawing->labels[count] = drawing->names[count];
        count++;
    }
    drawing->series[0] = (struct tacit_report_series){
        .label = "", .count = count, .x = drawing->x, .y = drawing->y, .names = drawing->labels};
}

/* Errors: TACIT_MEMORY. */
static enum tacit_status draw(const struct tacit_report_plan *plan, struct plan_drawing *drawing)
{
    size_t const room = plan->choice_count + (size_t)1;
    *drawing = (struct plan_drawing){.x = calloc(2 * room, sizeof *drawing->x),
                                     .names = calloc(room, sizeof *drawing->names),
                                     .labels = calloc(room, sizeof *drawing->labels)};
    if (drawing->x == NULL || drawing->names == NULL || drawing->labels == NULL)
        return TACIT_MEMORY;
    drawing->y = drawing->x + room;
    draw_points(plan, drawing);
    drawing->have[0] = drawing->have[1] = (double)plan->horizon;
    (void)snprintf(drawing->have_label, sizeof drawing->have_label, "slots that you have: %s",
                   report_grouped(plan->horizon).text);
    drawing->series[1] = (struct tacit_report_series){.label = drawing->have_label,
                                                      .count = 2,
                                                      .x = drawing->ends,
                                                      .y = drawing->have,
                                                      .is_reference = true};
    drawing->figure =
        (struct tacit_report_figure){.id = "slots",
                                     .title = "Slots needed",
                                     .y_label = "slots needed, a site",
                                     .y_is_log = true,
                                     .series = drawing->series,
                                     .series_count = drawing->series[0].count > 0 ? 2 : 0,
                                     .is_rows = true};
    return TACIT_OK;
}

/* ---- The page ---- */

static void put_choice(const struct tacit_report_plan *plan, uint32_t index, FILE *out)
{
    const struct tacit_report_choice *const choice = &plan->choices[index];
    char name[NAME_BYTES];
    name_choice(plan, index, name);
    html_put(out,
             "<tr><th scope=\"row\">%s<br><code>%s</code></th><td>%-s</td><td class=\"n\">%-s</td>"
             "<td class=\"n\">%.4g</td><td class=\"n\">%.4g</td><td class=\"n\">%.4g</td>"
             "<td class=\"n\">%.4g</td></tr>\n",
             name, choice->settings, choice->decides ? "yes" : "no",
             isfinite(choice->slots_needed) ? report_rounded(choice->slots_needed, 5).text
             : choice->never_sure           ? "never sure"
                                            : "too many",
             choice->rounds, choice->bytes, choice->cost, choice->regret);
}

static void put_choices(const struct tacit_report_plan *plan, FILE *out)
{
    static const char *const heads[] = {"protocol and network",
                                        "decides in time",
                                        "#slots needed",
                                        "#rounds",
                                        "#bytes",
                                        "#cost",
                                        "#regret"};
    char lead[300];
    (void)snprintf(lead, sizeof lead,
                   "Rounds, bytes, cost (each link that was used, times its price) and regret "
                   "(reward missed against always playing the best arm) in %s slots a site; means "
                   "of %" PRIu32 " runs. Slots needed: the horizon at which 95 %% of the runs "
                   "decide, to within 5 %%.",
                   report_grouped(plan->horizon).text, plan->run_count);
    report_html_section("choices", "What fits this file", lead, out);
    report_html_table("What fits this file", "plain", heads, sizeof heads / sizeof heads[0], out);
    for (uint32_t i = 0; i < plan->choice_count; i++)
        put_choice(plan, i, out);
    report_html_table_end(out);
    report_html_section_end(out);
}

struct plan_page {
    const struct tacit_report_plan *plan;
    const struct tacit_report_figure *figure;
    const struct report_file *files;
    size_t file_count;
};

static enum tacit_status fill_page(const void *subject, FILE *out)
{
    const struct plan_page *const page = subject;
    const struct tacit_report_plan *const plan = page->plan;
    bool const decides = plan->choice_count > 0 && plan->choices[0].decides;
    report_html_top(plan->name, "what tells the arms apart", plan->remark, NULL, out);
    report_html_fact(plan->choice_count, "choice", "choices", out);
    report_html_fact(plan->horizon, "slot a site", "slots a site", out);
    report_html_header_end(out);
    report_html_answer_begin(decides ? " win" : " open", out);
    html_put(out, "%s</p></section>\n", plan->sentence);
    if (page->figure->series_count > 0)
        report_html_figure(page->figure,
                           "Until 95 % of the runs decide; left of the line is in time.", out);
    if (plan->choice_count > 0)
        put_choices(plan, out);
    enum tacit_status const status = report_html_data(page->files, page->file_count, out);
    if (status != TACIT_OK)
        return status;
    report_html_bottom(plan->version, out);
    return report_finish(out);
}

/* ---- The directory ---- */

static enum tacit_status fill_csv(const void *subject, FILE *out)
{
    const struct tacit_report_plan *const plan = subject;
    (void)fputs("protocol,network,settings,decides,slots_needed,rounds,bytes,cost,regret\n", out);
    for (uint32_t i = 0; i < plan->choice_count; i++) {
        const struct tacit_report_choice *const choice = &plan->choices[i];
        csv_put(out, "%-s,%-s,%s,%u,%g,%g,%g,%g,%g\n", choice->protocol, choice->network,
                choice->settings, choice->decides ? 1u : 0u, choice->slots_needed, choice->rounds,
                choice->bytes, choice->cost, choice->regret);
    }
    return report_finish(out);
}

static enum tacit_status write_files(const struct tacit_report_plan *plan,
                                     const struct tacit_report_figure *figure,
                                     const char *directory, struct tacit_error *error)
{
    struct report_file files[4] = {
        {"plan.json", "everything, exactly", "application/json", true, report_fill_text,
         plan->json},
        {"plan.csv", "a line a choice", "text/csv", true, fill_csv, plan},
        {"slots.svg", "the figure", "image/svg+xml", false, report_fill_figure, figure}};
    size_t const count = figure->series_count > 0 ? 3 : 2;
    struct plan_page const page = {plan, figure, files, count};
    files[count] = (struct report_file){.name = "report.html", .fill = fill_page, .subject = &page};
    return report_write_files(directory, files, count + 1, error);
}

enum tacit_status tacit_report_plan_write(const struct tacit_report_plan *plan,
                                          const char *directory, struct tacit_error *error)
{
    struct plan_drawing drawing;
    locale_t const before = report_locale_enter();
    enum tacit_status status = draw(plan, &drawing);
    if (status == TACIT_OK)
        status = write_files(plan, &drawing.figure, directory, error);
    free_drawing(&drawing);
    report_locale_leave(before);
    return status;
}

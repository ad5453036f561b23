/* What all pages are made of: the frame, sections, tables, numbers, data files. A page is one file
 * that asks for nothing: no script, no request; but for a daemon's own, which asks that daemon. */
#include "internal.h"
#include <inttypes.h>
#include <stdlib.h>

#define PLUS_MINUS "\xc2\xb1"
#define EMBEDDED_BYTES_MAX 524288u /* larger files are only beside the page */

/* `policy`: more of the content security policy; `head`: more of the head. */
static void put_top(const char *name, const char *words, const char *policy, const char *head,
                    FILE *out)
{
    TACIT_ASSERT(name != NULL);
    char const *const colon = words == NULL ? "" : ": ";
    html_put(out,
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'; img-src data:%-s\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n%-s<title>%s%-s%s \xc2\xb7 tacit</title>\n",
             policy, head, name, colon, words);
    report_html_style(out);
    html_put(out, "</head><body><main>\n<header><h1><bdi>%s%-s%s</bdi></h1>\n", name, colon, words);
}

void report_html_top(const char *name, const char *words, const char *remark, const char *note,
                     FILE *out)
{
    put_top(name, words, "", "", out);
    if (remark != NULL)
        html_put(out, "<p>%s</p>\n", remark);
    if (note != NULL)
        html_put(out, "<p>%s</p>\n", note);
    (void)fputs("<p class=\"facts\">", out);
}

void report_html_live_top(const char *name, const char *words, FILE *out)
{
    put_top(name, words, "; script-src 'self'; connect-src 'self'",
            "<script src=\"dashboard.js\" defer></script>\n", out);
    (void)fputs("<p class=\"facts\">", out);
}

void report_html_bottom(const char *version, FILE *out)
{
    TACIT_ASSERT(version != NULL);
    html_put(out, "<footer>tacit %s</footer>\n</main></body></html>\n", version);
}

void report_html_header_end(FILE *out)
{
    (void)fputs("</p></header>\n", out);
}

void report_html_fact(uint64_t count, const char *one, const char *many, FILE *out)
{
    TACIT_ASSERT(one != NULL && many != NULL);
    html_put(out, "<span>%-" PRIu64 " %-s</span>", count, count == 1 ? one : many);
}

void report_html_stopped(uint64_t done, uint64_t asked, const char *what, FILE *out)
{
    if (done >= asked)
        return;
    html_put(out,
             "<div class=\"box warn\"><h2>Stopped before the end</h2>\n"
             "<p>%-" PRIu64 " of %-" PRIu64 " %-s. Everything below is about these.</p></div>\n",
             done, asked, what);
}

/* ---- Sections and tables ---- */

void report_html_section(const char *id, const char *title, const char *lead, FILE *out)
{
    TACIT_ASSERT(id != NULL && title != NULL);
    html_put(out, "<section id=\"%s\"><h2>%s</h2>\n", id, title);
    if (lead != NULL)
        html_put(out, "<p class=\"lead\">%s</p>\n", lead);
}

void report_html_answer_begin(const char *style, FILE *out)
{
    html_put(out, "<section id=\"answer\" class=\"box%-s\"><h2>Answer</h2>\n<p class=\"say\">",
             style);
}

void report_html_section_end(FILE *out)
{
    (void)fputs("</section>\n", out);
}

void report_html_heads(const char *const *heads, size_t count, FILE *out)
{
    TACIT_ASSERT(heads != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        bool const is_number = heads[i][0] == '#';
        html_put(out, "<th scope=\"col\"%-s>%s</th>", is_number ? " class=\"n\"" : "",
                 heads[i] + (is_number ? 1 : 0));
    }
}

void report_html_table(const char *label, const char *style, const char *const *heads, size_t count,
                       FILE *out)
{
    html_put(out,
             "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"%s\">"
             "<table class=\"%-s\"><thead><tr>",
             label, style);
    report_html_heads(heads, count, out);
    if (count > 0)
        (void)fputs("</tr></thead><tbody>\n", out);
}

void report_html_table_end(FILE *out)
{
    (void)fputs("</tbody></table></div>\n", out);
}

void report_html_row(const char *name, FILE *out)
{
    html_put(out, "<tr><th scope=\"row\">%s</th>", name);
}

/* Label in words, a clause about it, and what files call it. */
void report_html_metric(const struct tacit_metric *metric, FILE *out)
{
    TACIT_ASSERT(metric->label != NULL && metric->name != NULL);
    html_put(out, "<tr><th scope=\"row\" class=\"what\">%s <code>%s</code>", metric->label,
             metric->name);
    if (metric->note != NULL)
        html_put(out, " <small>%s</small>", metric->note);
    (void)fputs("</th>", out);
}

void report_html_words(const struct tacit_metric *const *metrics, size_t count, FILE *out)
{
    (void)fputs("<dl class=\"settings\">\n", out);
    for (size_t i = 0; i < count; i++)
        html_put(out, "<div><dt>%s <code>%s</code></dt><dd>%s</dd></div>\n", metrics[i]->label,
                 metrics[i]->name, metrics[i]->note);
    (void)fputs("</dl>\n", out);
}

void report_html_number(const char *text, FILE *out)
{
    TACIT_ASSERT(text != NULL);
    html_put(out, "<td class=\"n\">%-s</td>", text);
}

void report_html_summary(const struct tacit_report_summary *summary, FILE *out)
{
    (void)fputs("<td class=\"n\">", out);
    if (summary != NULL)
        html_put(out, "%.5g", summary->mean);
    if (summary != NULL && summary->sd > 0)
        html_put(out, " <span class=\"soft\">" PLUS_MINUS " %.2g</span>", summary->ci95);
    (void)fputs("</td>", out);
}

void report_html_figure(const struct tacit_report_figure *figure, const char *lead, FILE *out)
{
    TACIT_ASSERT(figure->id != NULL && figure->title != NULL);
    report_html_section(figure->id, figure->title, lead, out);
    report_figure_draw(figure, out);
    report_html_section_end(out);
}

/* ---- Data files ---- */

static void put_base64(const unsigned char *bytes, size_t size, FILE *out)
{
    TACIT_ASSERT(bytes != NULL || size == 0);
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t const left = size - i;
        uint32_t const word = (uint32_t)bytes[i] << 16 |
                              (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? bytes[i + 2] : 0);
        (void)fputc(digits[word >> 18], out);
        (void)fputc(digits[word >> 12 & 63], out);
        (void)fputc(left > 1 ? digits[word >> 6 & 63] : '=', out);
        (void)fputc(left > 2 ? digits[word & 63] : '=', out);
    }
}

/* The bytes of the file themselves, for who has the page only. */
static enum tacit_status put_copy(const struct report_file *file, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const memory = open_memstream(&text, &size);
    if (memory == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = file->fill(file->subject, memory);
    if (fclose(memory) != 0 && status == TACIT_OK)
        status = TACIT_MEMORY;
    if (status == TACIT_OK && size <= EMBEDDED_BYTES_MAX) {
        (void)fprintf(out, " <a class=\"copy\" download=\"%s\" href=\"data:%s;base64,", file->name,
                      file->type);
        put_base64((const unsigned char *)text, size, out);
        (void)fprintf(out, "\">copy of %s in this page</a>", file->name);
    }
    free(text);
    return status;
}

enum tacit_status report_html_data(const struct report_file *files, size_t count, FILE *out)
{
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(files != NULL || count == 0);
    report_html_section("data", "Data", "Beside this page, and inside it for who has nothing else.",
                        out);
    (void)fputs("<ul class=\"files\">\n", out);
    for (size_t i = 0; i < count && status == TACIT_OK; i++) {
        html_put(out, "<li><a href=\"%-s\">%-s</a>: %-s", files[i].name, files[i].name,
                 files[i].says);
        if (files[i].is_embedded)
            status = put_copy(&files[i], out);
        (void)fputs("</li>\n", out);
    }
    (void)fputs("</ul>\n", out);
    report_html_section_end(out);
    return status;
}

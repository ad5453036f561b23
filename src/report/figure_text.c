/* What became of a paper's claims: verdicts, and how they read on a terminal, in JSON and in
 * Markdown. */
#include "internal.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- Verdicts ---- */

enum tacit_verdict tacit_report_claim_verdict(const struct tacit_report_claim *claim)
{
    if (!claim->was_run)
        return TACIT_VERDICT_NOT_RUN;
    double const lo = claim->value - claim->ci95;
    double const hi = claim->value + claim->ci95;
    if (lo >= claim->lo && hi <= claim->hi)
        return TACIT_VERDICT_HOLDS;
    if (hi < claim->lo || lo > claim->hi)
        return claim->is_limit ? TACIT_VERDICT_NOT_REACHED : TACIT_VERDICT_FAILS;
    return TACIT_VERDICT_UNDECIDED; /* NaN also comes here */
}

const char *report_verdict_text(enum tacit_verdict verdict)
{
    static const char *const texts[TACIT_VERDICT_COUNT] = {"holds", "does not hold", "not reached",
                                                           "not run", "undecided"};
    return texts[verdict];
}

/* The fast version may have too few runs to say; that speaks against nothing. */
bool report_is_expected(const struct tacit_report_paper *paper,
                        const struct tacit_report_claim *claim)
{
    enum tacit_verdict const verdict = tacit_report_claim_verdict(claim);
    return verdict == claim->record || verdict == TACIT_VERDICT_NOT_RUN ||
           claim->record == TACIT_VERDICT_NOT_RUN ||
           (paper->is_fast && verdict == TACIT_VERDICT_UNDECIDED);
}

struct report_tally report_tally_of(const struct tacit_report_paper *paper)
{
    struct report_tally tally = {0};
    for (uint32_t i = 0; i < paper->section_count; i++) {
        const struct tacit_report_section *const section = &paper->sections[i];
        for (uint32_t j = 0; j < section->claim_count; j++) {
            tally.verdicts[tacit_report_claim_verdict(&section->claims[j])]++;
            tally.unexpected += report_is_expected(paper, &section->claims[j]) ? 0 : 1;
        }
    }
    return tally;
}

bool tacit_report_as_recorded(const struct tacit_report_paper *paper)
{
    return report_tally_of(paper).unexpected == 0;
}

/* ---- Phrases ---- */

struct report_phrase report_claim_value(const struct tacit_report_claim *claim,
                                        const char *plus_minus)
{
    struct report_phrase phrase;
    if (claim->ci95 > 0)
        (void)snprintf(phrase.text, sizeof phrase.text, "%s %s %s",
                       report_rounded(claim->value, 5).text, plus_minus,
                       report_rounded(claim->ci95, 2).text);
    else
        (void)snprintf(phrase.text, sizeof phrase.text, "%s",
                       isfinite(claim->value) ? report_rounded(claim->value, 5).text : "no value");
    return phrase;
}

struct report_phrase report_claim_band(const struct tacit_report_claim *claim)
{
    struct report_phrase phrase;
    (void)snprintf(phrase.text, sizeof phrase.text, "[%s, %s]", report_rounded(claim->lo, 5).text,
                   isfinite(claim->hi) ? report_rounded(claim->hi, 5).text : "inf");
    return phrase;
}

struct report_phrase report_tally_text(const struct tacit_report_paper *paper)
{
    struct report_tally const tally = report_tally_of(paper);
    struct report_phrase phrase;
    uint32_t count = 0;
    for (uint32_t i = 0; i < TACIT_VERDICT_COUNT; i++)
        count += tally.verdicts[i];
    int length = snprintf(phrase.text, sizeof phrase.text,
                          "%" PRIu32 " %s: %" PRIu32 " hold, %" PRIu32 " do not hold, ", count,
                          count == 1 ? "claim" : "claims", tally.verdicts[TACIT_VERDICT_HOLDS],
                          tally.verdicts[TACIT_VERDICT_FAILS]);
    for (uint32_t i = TACIT_VERDICT_NOT_REACHED; i <= TACIT_VERDICT_NOT_RUN; i++)
        if (tally.verdicts[i] != 0)
            length += snprintf(phrase.text + length, sizeof phrase.text - (size_t)length,
                               "%" PRIu32 " %s, ", tally.verdicts[i],
                               report_verdict_text((enum tacit_verdict)i));
    length += snprintf(phrase.text + length, sizeof phrase.text - (size_t)length,
                       "%" PRIu32 " undecided; ", tally.verdicts[TACIT_VERDICT_UNDECIDED]);
    size_t const room = sizeof phrase.text - (size_t)length;
    if (tally.unexpected == 0)
        (void)snprintf(phrase.text + length, room, "all as recorded");
    else
        (void)snprintf(phrase.text + length, room, "%" PRIu32 " NOT AS RECORDED", tally.unexpected);
    return phrase;
}

uint32_t report_claim_remarks(const struct tacit_report_claim *claim,
                              struct report_remark remarks[REPORT_REMARKS])
{
    struct report_remark const all[REPORT_REMARKS] = {
        {"Why", claim->why}, {"Our reading", claim->reading}, {"Checked", claim->checked}};
    uint32_t count = 0;
    for (uint32_t i = 0; i < REPORT_REMARKS; i++)
        if (all[i].text != NULL)
            remarks[count++] = all[i];
    return count;
}

/* ---- Terminal ---- */

static void put_claim_line(const struct tacit_report_paper *paper,
                           const struct tacit_report_claim *claim, FILE *out)
{
    static const char indent[] = "      ";
    (void)fprintf(out, "  %-13s  ", report_verdict_text(tacit_report_claim_verdict(claim)));
    term_put(out, "%s: %-s, band %-s", claim->id, report_claim_value(claim, "+/-").text,
             report_claim_band(claim).text);
    if (!report_is_expected(paper, claim))
        term_put(out, "  NOT AS RECORDED (%-s)", report_verdict_text(claim->record));
    report_put_wrapped(out, claim->says, indent);
    struct report_remark remarks[REPORT_REMARKS];
    uint32_t const count = report_claim_remarks(claim, remarks);
    for (uint32_t i = 0; i < count; i++) {
        (void)fprintf(out, "%s%s:", indent, remarks[i].head);
        report_put_wrapped(out, remarks[i].text, indent);
    }
}

enum tacit_status tacit_report_paper_table(const struct tacit_report_paper *paper, FILE *out)
{
    locale_t const before = report_locale_enter();
    term_put(out, "%s: %s\n%u %-s%-s\n", paper->id, paper->title, paper->experiment_count,
             paper->experiment_count == 1 ? "experiment" : "experiments",
             paper->is_fast ? ", few runs each (--fast)" : "");
    if (paper->fast_note != NULL)
        report_put_text(out, paper->fast_note, 0, "");
    for (uint32_t i = 0; i < paper->section_count; i++) {
        const struct tacit_report_section *const section = &paper->sections[i];
        term_put(out, "\n%s (%s)\n", section->figure.title, section->figure.id);
        if (section->hours_left != 0)
            term_put(out,
                     "  not run here: about %u h of processor time; it is asked for by its ID\n",
                     section->hours_left);
        for (uint32_t j = 0; j < section->claim_count; j++)
            put_claim_line(paper, &section->claims[j], out);
    }
    (void)fprintf(out, "\n%s\n", report_tally_text(paper).text);
    enum tacit_status const status = report_finish(out);
    report_locale_leave(before);
    return status;
}

/* ---- JSON ---- */

static void put_claim_json(const struct tacit_report_claim *claim, FILE *out)
{
    json_put(out,
             "\n   {\"id\": %s, \"where\": %s, \"says\": %s, \"measure\": %s, \"why\": %s, "
             "\"value\": %g, \"ci95\": %g, \"band\": [%g, %g], \"verdict\": %s, "
             "\"reading\": %s, \"checked\": %s, \"recorded\": %s}",
             claim->id, claim->where, claim->says, claim->measure, claim->why, claim->value,
             claim->ci95, claim->lo, claim->hi,
             report_verdict_text(tacit_report_claim_verdict(claim)), claim->reading, claim->checked,
             report_verdict_text(claim->record));
}

static void put_section_json(const struct tacit_report_section *section, FILE *out)
{
    json_put(out,
             "\n  {\"id\": %s, \"title\": %s, \"paper_shows\": %s, \"we_show\": %s, \"claims\": [",
             section->figure.id, section->figure.title, section->paper_shows, section->we_show);
    for (uint32_t i = 0; i < section->claim_count; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        put_claim_json(&section->claims[i], out);
    }
    (void)fputs("]}", out);
}

static void put_experiment_json(const struct tacit_report_experiment *experiment, FILE *out)
{
    json_put(out, "\n  {\"name\": %s, \"runs\": %u, \"metrics\": {", experiment->name,
             experiment->run_count);
    for (uint32_t i = 0; i < experiment->metric_count; i++) {
        struct tacit_report_summary const summary =
            tacit_report_summarise(experiment->metrics[i].values, experiment->run_count, 1);
        json_put(out, "%-s%s: {\"mean\": %g, \"ci95\": %g}", i == 0 ? "" : ", ",
                 experiment->metrics[i].metric->name, summary.mean, summary.ci95);
    }
    (void)fputs("}}", out);
}

enum tacit_status tacit_report_paper_json(const struct tacit_report_paper *paper, FILE *out)
{
    locale_t const before = report_locale_enter();
    json_put(out,
             "{\"paper\": %s, \"title\": %s, \"version\": %s, \"fast\": %-s, \"fast_note\": %s, "
             "\"as_recorded\": %-s,\n \"figures\": [",
             paper->id, paper->title, paper->version, paper->is_fast ? "true" : "false",
             paper->fast_note, tacit_report_as_recorded(paper) ? "true" : "false");
    for (uint32_t i = 0; i < paper->section_count; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        put_section_json(&paper->sections[i], out);
    }
    (void)fputs("],\n \"experiments\": [", out);
    for (uint32_t i = 0; i < paper->experiment_count; i++) {
        (void)fputs(i == 0 ? "" : ",", out);
        put_experiment_json(&paper->experiments[i], out);
    }
    (void)fputs("]}\n", out);
    enum tacit_status const status = report_finish(out);
    report_locale_leave(before);
    return status;
}

/* ---- Markdown ---- */

/* A text in a cell of a table: one line, and nothing in it is markup. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        char const letter[2] = {*text == '\n' ? ' ' : *text, '\0'};
        (void)fprintf(out, "%s%s", strchr("|<>*_`[]\\#&", *text) != NULL ? "\\" : "", letter);
    }
}

static void put_claim_row(const struct tacit_report_claim *claim, FILE *out)
{
    bool const holds = tacit_report_claim_verdict(claim) == TACIT_VERDICT_HOLDS;
    struct report_remark remarks[REPORT_REMARKS];
    uint32_t const count = report_claim_remarks(claim, remarks);
    (void)fputs("| ", out);
    put_cell(out, claim->says);
    (void)fputs(" (", out);
    put_cell(out, claim->where);
    (void)fprintf(out, ") | `%s` | %s | ", claim->measure,
                  report_claim_value(claim, "\xc2\xb1").text);
    (void)fprintf(out, "%s | %s%s%s | ", report_claim_band(claim).text, holds ? "" : "**",
                  report_verdict_text(tacit_report_claim_verdict(claim)), holds ? "" : "**");
    for (uint32_t i = 0; i < count; i++) {
        (void)fprintf(out, "%s%s", i == 0 ? "" : " ", i == 0 && claim->why != NULL ? "" : "*");
        if (i > 0 || claim->why == NULL)
            (void)fprintf(out, "%s:* ", remarks[i].head);
        put_cell(out, remarks[i].text);
    }
    (void)fputs(" |\n", out);
}

enum tacit_status report_paper_markdown(const void *subject, FILE *out)
{
    const struct tacit_report_paper *const paper = subject;
    (void)fputs("# Claims of ", out);
    put_cell(out, paper->title);
    (void)fprintf(out,
                  "\n\nWritten by `tacit reproduce %s%s`, tacit %s. %s.\n\n"
                  "A claim holds if the 95 %% interval of its measure lies in the band.\n",
                  paper->id, paper->is_fast ? " --fast" : "", paper->version,
                  report_tally_text(paper).text);
    if (paper->fast_note != NULL) {
        (void)fputs("\n**The fast version is another experiment:** ", out);
        put_cell(out, paper->fast_note);
        (void)fputc('\n', out);
    }
    for (uint32_t i = 0; i < paper->section_count; i++) {
        const struct tacit_report_section *const section = &paper->sections[i];
        (void)fputs("\n## ", out);
        put_cell(out, section->figure.title);
        (void)fputs("\n\n| claim | measure | value | band | verdict | why |\n"
                    "|---|---|---|---|---|---|\n",
                    out);
        for (uint32_t j = 0; j < section->claim_count; j++)
            put_claim_row(&section->claims[j], out);
    }
    return report_finish(out);
}

/* The answer of an experiment: from the rankings that its runs ended with, never from the true
 * means; and whether it was worth the effort. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define DECIDED_SHARE 0.95 /* of the runs end with the same single arm */
#define NAMED_MAX 5u       /* arms in a sentence */

/* How one arm fared over the rankings of all runs. */
struct standing {
    uint32_t arm;
    uint32_t single_count; /* runs that end with it alone */
    uint32_t first_count;
    uint32_t left_count;
    uint64_t place_sum; /* over the runs that have it left */
};

/* One an arm, in the order of the arms; the caller frees them. NULL: out of memory. */
static struct standing *standings_of(const struct tacit_report *report)
{
    struct standing *const standings = calloc(report->arm_count, sizeof *standings);
    for (uint32_t arm = 0; standings != NULL && arm < report->arm_count; arm++)
        standings[arm].arm = arm;
    for (uint32_t run = 0; standings != NULL && run < report->run_count; run++) {
        uint32_t const *const ranking = report->ranking + (size_t)run * report->arm_count;
        uint32_t const count = report->ranked_count[run];
        TACIT_ASSERT(count <= report->arm_count);
        for (uint32_t place = 0; place < count; place++) {
            TACIT_ASSERT(ranking[place] < report->arm_count);
            struct standing *const standing = &standings[ranking[place]];
            standing->left_count++;
            standing->place_sum += place;
            standing->first_count += place == 0 ? 1 : 0;
            standing->single_count += count == 1 ? 1 : 0;
        }
    }
    return standings;
}

/* Best first: more often first, more often left, then in better places. */
static int compare_standings(const void *left, const void *right)
{
    struct standing const *const a = left;
    struct standing const *const b = right;
    if (a->first_count != b->first_count)
        return a->first_count > b->first_count ? -1 : 1;
    if (a->left_count != b->left_count)
        return a->left_count > b->left_count ? -1 : 1;
    if (a->place_sum != b->place_sum)
        return a->place_sum < b->place_sum ? -1 : 1;
    return a->arm < b->arm ? -1 : 1;
}

/* Arms that could not be told apart: left in more than a twentieth of the runs, and two at least.
 */
static void name_open(const struct tacit_report *report, const struct standing *standings,
                      struct tacit_report_answer *answer)
{
    double const few = (1 - DECIDED_SHARE) * report->run_count;
    for (uint32_t i = 0; i < report->arm_count; i++)
        if (i < 2 || standings[i].left_count > few)
            answer->arms[answer->arm_count++] = standings[i].arm;
}

static void put_undecided(const struct tacit_report *report,
                          const struct tacit_report_answer *answer, FILE *out)
{
    uint32_t const named = answer->arm_count <= NAMED_MAX + 1 ? answer->arm_count : NAMED_MAX;
    (void)fputs("undecided between ", out);
    for (uint32_t i = 0; i < named; i++) {
        bool const is_last = i + 1 == named && named == answer->arm_count;
        (void)fputs(i == 0 ? "" : is_last ? " and " : ", ", out);
        (void)fputs(report_arm_name(report, answer->arms[i]), out);
    }
    if (named < answer->arm_count)
        (void)fprintf(out, " and %" PRIu32 " more", answer->arm_count - named);
}

/* The caller frees it. NULL: out of memory. */
static char *sentence_of(const struct tacit_report *report,
                         const struct tacit_report_answer *answer, uint32_t single_count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    if (answer->is_decided) {
        (void)fprintf(out, "decided for %s, in %" PRIu32 " of %" PRIu32 " %s",
                      report_arm_name(report, answer->arms[0]), single_count, report->run_count,
                      report->run_count == 1 ? "run" : "runs");
    } else {
        put_undecided(report, answer, out);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

enum tacit_status tacit_report_answer_new(const struct tacit_report *report,
                                          struct tacit_report_answer *answer)
{
    *answer = (struct tacit_report_answer){0};
    if (report->ranking == NULL || report->arm_count == 0)
        return TACIT_OK;
    struct standing *const standings = standings_of(report);
    answer->arms = calloc(report->arm_count, sizeof *answer->arms);
    if (standings == NULL || answer->arms == NULL) {
        free(standings);
        tacit_report_answer_free(answer);
        return TACIT_MEMORY;
    }
    qsort(standings, report->arm_count, sizeof *standings, compare_standings);
    uint32_t const single_count = standings[0].single_count;
    answer->single_count = single_count;
    answer->is_decided = single_count >= DECIDED_SHARE * report->run_count;
    if (answer->is_decided)
        answer->arms[answer->arm_count++] = standings[0].arm;
    else
        name_open(report, standings, answer);
    free(standings);
    answer->sentence = sentence_of(report, answer, single_count);
    if (answer->sentence != NULL)
        return TACIT_OK;
    tacit_report_answer_free(answer);
    return TACIT_MEMORY;
}

void tacit_report_answer_free(struct tacit_report_answer *answer)
{
    free(answer->arms);
    free(answer->sentence);
    *answer = (struct tacit_report_answer){0};
}

/* ---- Worth the effort? ---- */

/* Equal play gives equal regret up to rounding. */
#define ROUNDING 1e-9

bool tacit_report_is_idle(const struct tacit_report *report)
{
    const struct tacit_report_metric *const regret = report_find(report, "regret");
    for (uint32_t i = 0; regret != NULL && i < report->baseline_count; i++) {
        const struct tacit_report_baseline *const baseline = &report->baselines[i];
        if (strcmp(baseline->name, "uniform") != 0 || baseline->regret == NULL)
            continue;
        double const own = report_metric_summary(report, regret).mean;
        double const uniform = tacit_report_summarise(baseline->regret, report->run_count, 1).mean;
        return own >= uniform * (1 - ROUNDING);
    }
    return false;
}

const char *report_note(const struct tacit_report *report)
{
    return tacit_report_is_idle(report)
               ? "no better than uniform play: its regret is that of playing every arm alike, or "
                 "more"
               : NULL;
}

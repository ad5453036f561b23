/* Which protocol over which network tells the arms of a file apart, in how many slots, and what
 * that costs. A formula says where to look for the slots; every other number is simulated: the runs
 * of `tacit run` with the settings that stand beside it. */
#ifndef TACIT_STUDY_PLAN_H
#define TACIT_STUDY_PLAN_H
#include "simulate.h"
#include "tacit/data.h"
#include "tacit/family.h"
#include "tacit/report.h"

#define PLAN_SETTINGS_MAX 64u /* that the user has */

/* What is asked. */
struct plan_request {
    const char *file;
    const char *const *settings; /* KEY=VALUE */
    uint32_t setting_count;
    double gap; /* the one that matters; 0: that of the file's means */
    uint32_t thread_count;
    bool is_told;  /* on stderr, that it takes long */
    bool is_shown; /* and how far it is, on the terminal */
    struct tacit_sim_control *control;
};

/* One file, and what is tried over it. */
struct plan {
    struct plan_request request;
    const char *settings[PLAN_SETTINGS_MAX + 4]; /* runs, those of a gap, and a longer horizon */
    uint32_t setting_count;
    uint32_t agent_count;
    double gap;
    double epsilon;
    bool has_two;    /* the file's own aggregators */
    char apart[160]; /* the setting of the gap */
    bool has_announced;
    const struct tacit_experiment *rows; /* all that is tried has them */
    const char *extra;                   /* one more setting; NULL: none */
    struct tacit_report_choice own;      /* the file's; "": longer than is told */
    char own_network[TACIT_REPORT_SETTING_BYTES];
    double traffic[TACIT_WEEKDAYS]; /* of the file's rows; all 0: nothing says when they were */
    char remark[sizeof((struct tacit_experiment *)0)->remark];
    char name[100];
    struct tacit_report_choice choices[TACIT_REPORT_CHOICES_MAX];
    struct tacit_report_plan report;
};

/* Reads the file and what is to be told apart in it. Ensures: it does not move from now on.
 * Errors: TACIT_INVALID, with error->text. */
enum tacit_status plan_begin(struct plan *plan, const struct plan_request *request,
                             struct tacit_error *error);

/* Tries all that fits, and fills plan->report. Errors: TACIT_INTERRUPTED, TACIT_MEMORY, TACIT_IO.
 */
enum tacit_status plan_search(struct plan *plan);
#endif

/* The page that a daemon shows of itself, in the look of the reports: the answer first, what needs
 * somebody, the arms over rounds, tables. Knows no daemon: all of it comes as words. */
#ifndef TACIT_DASHBOARD_H
#define TACIT_DASHBOARD_H
#include "tacit/report.h"

struct tacit_dashboard_cause {
    const char *what;
    const char *todo;
    const char *command; /* that mends it; "": there is none to say */
    bool is_bad;         /* it needs a person; else it is waited for */
};

struct tacit_dashboard_table {
    const char *id;
    const char *title;
    const char *lead;         /* or NULL */
    const char *const *heads; /* the first is of the rows' names; '#' before one of numbers */
    uint32_t column_count;
    const char *const *cells; /* row_count x column_count; NULL: empty */
    uint32_t row_count;
    uint32_t more_count; /* rows that are not shown */
};

struct tacit_dashboard {
    const char *name;
    const char *role;         /* "coordinator", "site north" */
    const char *const *facts; /* a few words each */
    uint32_t fact_count;
    const char *answer; /* a sentence; NULL: nothing is known yet */
    const char *note;   /* under which conditions; or NULL */
    bool is_decided;
    const struct tacit_dashboard_cause *causes; /* the worst first */
    uint32_t cause_count;
    const struct tacit_report_figure *figure; /* NULL: there is none yet */
    const struct tacit_dashboard_table *tables;
    uint32_t table_count;
    const char *statement; /* of privacy, lines of it; NULL: there is none */
    const char *version;
};

/* Writes the page. Same dashboard, same bytes. Errors: TACIT_IO. */
enum tacit_status tacit_dashboard_write(const struct tacit_dashboard *dashboard, FILE *out);

/* What the page loads as dashboard.js, and works without: every two seconds it asks for the page
 * and shows what is new. */
extern const char tacit_dashboard_script[];
#endif

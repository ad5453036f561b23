/* Report, inside: what the writers of an evaluation share. */
#ifndef TACIT_REPORT_EVALUATION_H
#define TACIT_REPORT_EVALUATION_H
#include "internal.h"

/* What became of the replay, in a sentence. */
void report_evaluation_replay(const struct tacit_report_evaluation *evaluation, char *text,
                              size_t size);

/* A site's own best arm; NULL: its rows are too few. */
const char *report_evaluation_best(const struct tacit_report_evaluation *evaluation,
                                   const struct tacit_report_log_site *site);

/* A line a site and arm; those over all rows have no site. Errors: TACIT_IO. */
enum tacit_status report_evaluation_csv(const void *evaluation, FILE *out);
#endif

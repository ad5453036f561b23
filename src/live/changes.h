/* What the operator of a coordinator can change of a run that is under way: the words that daemons
 * and families share (control.h says them). */
#ifndef TACIT_LIVE_CHANGES_H
#define TACIT_LIVE_CHANGES_H
#include "tacit/base.h"

enum live_change {
    LIVE_CHANGE_DROP_SITE = 1,
    LIVE_CHANGE_SET_QUORUM_AND_DEADLINE,
    LIVE_CHANGE_END_RUN,
    LIVE_CHANGE_EXTEND_HORIZON,
    LIVE_CHANGE_RETIRE_ARM,
    LIVE_CHANGE_REPEAT /* a void round, with two aggregators */
};

#define LIVE_CHANGES (LIVE_CHANGE_REPEAT + 1)

/* What a change does, each one sentence or some. */
struct live_change_texts {
    const char *privacy;
    const char *guarantee;
};

/* What is wanted, or what was done. */
struct live_control_entry {
    enum live_change change;
    uint32_t site;
    uint32_t arm;
    uint32_t quorum;     /* 0: all */
    uint32_t deadline_s; /* SET_QUORUM_AND_DEADLINE; 0: none */
    uint64_t horizon;
    uint32_t number; /* in the log of the run, from 1 */
    uint32_t epoch;  /* that stood then */
    uint64_t made_unix_s;
};
#endif

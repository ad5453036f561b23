/* Metric: what a family measures of a run, as a table that it gives. Hosts (simulator, report,
 * programs) know metrics by this table only. */
#ifndef TACIT_METRIC_H
#define TACIT_METRIC_H
#include <stdbool.h>
#include <stdint.h>

/* Where a metric is shown besides among all the others. */
enum tacit_metric_place {
    TACIT_METRIC_MAIN = 1,    /* the card that is seen first */
    TACIT_METRIC_CARD = 2,    /* a card */
    TACIT_METRIC_TRAFFIC = 4, /* "what was said": shared out over the agents too */
    TACIT_METRIC_SINKS = 8,   /* traffic that says something only where sinks collect */
    TACIT_METRIC_CURVE = 16,  /* known over time, as the regret is: runs fill row->curves */
    TACIT_METRIC_DRAWN = 32,  /* of these, drawn over time */
    TACIT_METRIC_AGAINST = 64 /* and the regret is drawn against it */
};

struct tacit_metric {
    const char *name;  /* in JSON and CSV, a contract; NULL ends a table */
    const char *label; /* in front of people */
    const char *unit;  /* what it counts: "pulls", "bytes", "" for a share */
    const char *note;  /* a clause about it, or NULL */
    unsigned places;   /* of enum tacit_metric_place */
};

/* What became of a claim: the interval of its measure lies in its band, or outside; or it does not
 * say, for it is a limit or an upper bound that finite runs do not come to; or nobody ran what it
 * needs; or the runs are too few. */
enum tacit_verdict {
    TACIT_VERDICT_HOLDS,
    TACIT_VERDICT_FAILS,
    TACIT_VERDICT_NOT_REACHED,
    TACIT_VERDICT_NOT_RUN,
    TACIT_VERDICT_UNDECIDED
};
#define TACIT_VERDICT_COUNT 5u

/* What a family calls things in front of people, where they are not the words of bandits. */
struct tacit_labels {
    const char *agent; /* "user": epsilon is then what one of them may lose in all */
    const char *agents;
    const char *slot; /* "round" */
    const char *slots;
    const char *no_answer; /* in place of an answer */
    const char *profiles;  /* head of what is known of rows and rounds */
};

/* Numbers of a run that belong to a row each: an arm, or something that has a name. Shown as means
 * over the runs. */
struct tacit_profile {
    const char *name;        /* in JSON, a contract; NULL ends a table */
    const char *label;       /* in front of people */
    const char *unit;        /* what it counts */
    const char *note;        /* a clause about it, or NULL */
    const char *const *rows; /* names of the rows, ended by NULL; NULL: a row an arm */
    bool is_series;          /* a row a slot at which the run was looked at; rows: NULL */
};

/* A number that every agent has, over time: how the agents draw together. At each recorded slot its
 * lowest, mean and highest value over the agents. */
struct tacit_band {
    const char *name;  /* in JSON, and as y of a figure over t, a contract */
    const char *label; /* in front of people */
    const char *unit;
    const char *note; /* a sentence about it */
};
#define TACIT_BAND_VALUES 3u /* lowest, mean, highest */
#endif

/* The agent's decisions in time: what their deadlines bring, what of them is kept, what a round
 * waits for and when that is worth a word. */
#ifndef TACIT_LIVE_AGENT_DECISIONS_H
#define TACIT_LIVE_AGENT_DECISIONS_H
#include "agent_state.h"

/* A place of the plan, or a choice by contexts, has its reward. */
void agent_fill_place(struct agent *agent, const struct live_decision_row *row, double value);
/* A decision was closed without a reward: its place is free again, and the pull was played. */
void agent_give_back(struct agent *agent, const struct live_decision_row *row);

/* At a start, of a protocol whose sums died with the process before: what was open then is late. */
void agent_lose_decisions(struct agent *agent);

/* Carries out what is due. False: there is more. */
bool agent_expire(struct agent *agent);
/* The timer's; sets it anew. */
void agent_on_expiry(void *agent);

enum agent_wait {
    AGENT_WAITS_FOR_NOTHING, /* the run is over here, or there is none, or it is in trouble */
    AGENT_WAITS_FOR_TASK,
    AGENT_WAITS_FOR_GRANT,
    AGENT_WAITS_FOR_DECISIONS,
    AGENT_WAITS_FOR_REWARDS,
    AGENT_WAITS_FOR_OTHERS
};

/* What the round waits for. Of counts and times only, never of rewards' values. */
struct agent_waiting {
    enum agent_wait what;
    uint64_t still_ms; /* so long nothing has moved that this site could see .. */
    bool is_held;      /* .. and that is longer than waiting_after_s */
    struct live_decisions_view decisions;
    uint64_t oldest_ms;  /* age of the oldest place that is given out and not filled */
    uint64_t waited_ms;  /* since all places were given out; 0: it waits for no reward */
    double missed_share; /* live_decisions_missed_share */
    double radius;       /* what the round can tell apart; 0: nothing */
    bool is_long;        /* for rewards: more than two waits */
    bool is_biased;      /* more is missing than the round can tell apart */
};
struct agent_waiting agent_waiting(const struct agent *agent);
/* In the words of the status. NULL: nothing. */
const char *agent_wait_word(enum agent_wait what);
/* Looks whether anything has moved: once a second, and before a status is shown. */
void agent_see_standstill(struct agent *agent);
void agent_say_waiting(const struct agent_waiting *waiting, char text[], size_t size);
void agent_say_biased(const struct agent_waiting *waiting, char text[], size_t size);
/* Says both in the log when they begin. */
void agent_watch(struct agent *agent);
/* The wait has grown. */
void agent_say_wait(const struct agent *agent);
#endif

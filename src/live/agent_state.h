/* The agent daemon's inside, which its files share, by the files that have it. */
#ifndef TACIT_LIVE_AGENT_STATE_H
#define TACIT_LIVE_AGENT_STATE_H
#include "agent_config.h"
#include "api/api.h"
#include "api/decisions.h"
#include "bus/envelope.h"
#include "causes.h"
#include "replicated_log.h"
#include "control.h"
#include "daemon.h"
#include "daemon/command.h"
#include "daemon/state_clock.h"
#include "history.h"
#include "member.h"
#include "observe.h"
#include "runs.h"

#define AGENT_PATH_BYTES 4096u

struct agent;

/* What the site's own command is doing. */
struct agent_task {
    struct live_command *command; /* NULL: nothing runs */
    struct live_timer *timer;     /* its deadline; NULL: this protocol has no command */
    uint64_t number;              /* 0: none */
    size_t result_size;
    char result[64]; /* name of the file that it is to leave */
    char directory[AGENT_PATH_BYTES];
    char log[AGENT_PATH_BYTES];
};

/* The runs of this state, and the one that waits for its owner's word. */
struct agent_runs {
    struct live_runs all;
    uint8_t *waiting; /* its announcement; NULL: none waits */
    size_t waiting_size;
    uint64_t waiting_term;
    uint8_t waiting_run[TACIT_WIRE_RUN_BYTES];
    char objection[TACIT_WIRE_DIFFERENCE_BYTES + 256];
    char outdated[256];
};

/* What this site holds of the coordinator's replicated log. */
struct agent_replicated_log {
    struct live_held_entry held;
    uint64_t asked_us; /* when it was asked for last */
    bool is_forked;
};

struct agent {
    const struct live_agent_config *config;
    struct live_daemon daemon;
    struct live_decisions *decisions;
    struct live_api *api;
    struct live_control *control; /* NULL until the start is done */
    struct live_observe observe;
    struct live_timer *core_timer;
    struct live_timer *expiry_timer;
    struct live_site *site; /* NULL before it has joined a run */
    bool core_is_dirty;     /* changed in this round: put it once, at the end */
    bool has_forgotten; /* decisions, in this round: their rows no longer show the next number */
    uint64_t core_deadline_us; /* as the core said it, before the jitter */
    struct live_state_clock clock;
    uint64_t kept_wait_ms;      /* what is on disk; 0: nothing */
    uint64_t warned_waited_ms;  /* in the log, of this round */
    uint64_t arms_since_unix_s; /* when the arms that are in last became fewer here; 0: never */
    bool warned_biased;
    struct live_standstill standstill; /* of its round */
    bool ranking_is_stale;
    uint32_t *ranking; /* active arms, best first */
    uint64_t *active;
    uint32_t active_count;
    uint8_t announced[TACIT_WIRE_RUN_BYTES]; /* the run that the coordinator announced last */
    bool has_announced;
    uint32_t hub_epoch;             /* that the coordinator spoke of last */
    uint64_t hub_heard_us;          /* when; 0: not since the start */
    enum live_notice notice;        /* what the coordinator said of the helper, .. */
    uint64_t helper_noticed_us;     /* .. when; 0: it is over */
    uint32_t helper_waited_s;       /* .. so long by then */
    struct live_sender hub_sender;  /* the coordinator */
    struct live_sender *neighbours; /* by their order; NULL: none yet */
    uint32_t neighbour_count;
    struct live_sender strangers; /* all other names together */
    uint64_t early_count;         /* decisions before any run was joined, since the start .. */
    uint64_t early_rewards;       /* .. and their rewards, which count nowhere */
    uint64_t clipped_count;       /* depends on rewards: shown under /v1/clipped and nowhere else */
    const char
        *refusal; /* why this site does not take part, or what it takes no part in; or NULL */
    const char *outdated; /* why an announcement of before is not followed, until the coordinator
                             says anything in this site's run; or NULL */
    char difference[TACIT_WIRE_DIFFERENCE_BYTES + 384];    /* room for its words */
    char refused_words[TACIT_WIRE_DIFFERENCE_BYTES + 384]; /* of the announcement refused last */
    uint8_t heard_run[TACIT_WIRE_RUN_BYTES];               /* of the announcement heard last */
    struct live_envelopes envelopes;
    bool awaits_term; /* its owner has set the term: nothing is said or heard until the next begins
                       */
    struct live_member member;
    struct agent_replicated_log replicated_log;
    struct agent_task task;
    struct agent_runs runs;
    struct live_history history; /* where the site knows means or intervals of arms */
    uint64_t spent_nano;         /* the most that a reward has lost in any run (agent_ledger.c) */
    uint64_t unit_most;          /* the most rewards of one unit that entered anything */
    uint8_t unit_key[32];        /* of the digests of units (agent_units.c) */
    bool has_unit_key;
};

/* ---- agent_api.c ----------------------------------------------------------------------------- */

/* What the decision API asks of the agent daemon. */

struct live_api_agent agent_api(struct agent *agent);

/* ---- agent_causes.c -------------------------------------------------------------------------- */

/* What is announced and not followed, and why: of the newest that is. NULL: nothing. */
const char *agent_refusal(const struct agent *agent);

/* What keeps an agent from its work, and what to do (causes.h). */

struct live_causes agent_causes(const struct agent *agent, const struct live_site_view *view);

/* Into the status: the causes, why there is no broker, what is announced, how far the hub is. */
void agent_add_causes(const struct agent *agent, const struct live_site_view *view, json_t *status);

/* GET /v1/health. NULL: no memory. */
json_t *agent_health(const struct agent *agent, const struct live_site_view *view,
                     bool *is_healthy);

/* ---- agent_replicated_log.c ------------------------------------------------------------------ */

/* The coordinator's replicated log as a site keeps it: the newest entry, which it shows to whoever
 * asks. */

/* The entry of the run that this site is in, as it was kept. Requires: the envelopes have begun.
 * Errors: TACIT_MALFORMED, TACIT_MEMORY, and what the store says. */
enum tacit_status agent_open_replicated_log(struct agent *agent);
void agent_close_replicated_log(struct agent *agent);

/* At each connection, before the orders are asked for. */
void agent_ask_for_replicated_log(struct agent *agent);
/* To the coordinator, retained: a coordinator that comes later hears of it. */
void agent_show_replicated_log(struct agent *agent);

/* An entry that the coordinator published. NULL, or why it is refused. */
const char *agent_on_entry(struct agent *agent, const struct live_arrival *arrival,
                           struct live_opened *opened);

/* May a word of the coordinator be obeyed that was said after this entry? NULL, or why not. */
const char *agent_objection_to_entry(struct agent *agent, uint64_t entry);

/* What is wrong with the coordinator, for people; NULL: nothing. */
const char *agent_replicated_log_trouble(const struct agent *agent);

/* ---- agent_control.c ------------------------------------------------------------------------- */

/* What the owner of a site says to its agent on the control socket (control.h): arms that this site
 * does not play any more, and on what that choice rests. */

/* The handler of live_control_open; its context is the agent. */
void agent_on_command(void *context, struct live_request *request);

/* What the operator changed, and what this site refuses, into its status. */
void agent_add_changes(const struct agent *agent, const struct live_site_view *view,
                       json_t *status);

/* What the refusals say, into its statement; nothing where there are none. */
void agent_state_refusals(struct agent *agent, struct live_buffer *text);

/* ---- agent_decisions.c ----------------------------------------------------------------------- */

/* The agent's decisions in time: what their deadlines bring, what of them is kept, what a round
 * waits for and when that is worth a word. */

/* A place of the plan, or a choice by contexts, has its reward. */
void agent_apply_reward(struct agent *agent, const struct live_decision_row *row, double value);
/* A decision was closed without a reward: its place is free again, and the pull was played. */
void agent_return_pull(struct agent *agent, const struct live_decision_row *row);

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
const char *agent_wait_name(enum agent_wait what);
/* Looks whether anything has moved: once a second, and before a status is shown. */
void agent_see_standstill(struct agent *agent);
void agent_format_waiting(const struct agent_waiting *waiting, char text[], size_t size);
void agent_format_biased(const struct agent_waiting *waiting, char text[], size_t size);
/* The wait has grown. */
void agent_log_wait(const struct agent *agent);

/* ---- agent_receive.c ------------------------------------------------------------------------- */

/* What an agent hears from the broker. */

/* The handlers of its connection. */
struct live_bus_events agent_bus_events(struct agent *agent);

/* The broker says again what was announced last; without a connection the next one asks. */
void agent_ask_what_is_announced(const struct agent *agent);

/* Joins what was announced, and leaves the run before it. If it cannot, agent->refusal or the log
 * says why. */
void agent_join(struct agent *agent, uint64_t term, const uint8_t *bytes, size_t size);

/* Once the site has joined a run: an account for each of its neighbours, and the rounds that its
 * page shows. Errors: TACIT_MEMORY. */
enum tacit_status agent_open_run(struct agent *agent);

/* ---- agent_ledger.c -------------------------------------------------------------------------- */

/* What a site has spent, by the rows of its ledger, over all runs of its state, whatever its file
 * says now. */

/* Once a start. */
enum tacit_status agent_ledger_restore(struct agent *agent);

/* After a step: what a reward has lost at most, if that grew, into this round's batch. */
void agent_ledger_note(struct agent *agent, const struct live_site_view *view);

/* A place was given to a unit that then has so many. Within this round's batch. */
void agent_ledger_note_unit(struct agent *agent, uint64_t count);

/* ---- agent_promise.c ------------------------------------------------------------------------- */

/* What a site promises and what it has spent, for its own operator. */

/* GET /v1/ledger; NULL: it cannot be read. */
json_t *agent_ledger(struct agent *agent);

/* GET /v1/statement. */
void agent_statement(struct agent *agent, struct live_buffer *text);

/* ---- agent_remember.c ------------------------------------------------------------------------ */

/* Closed decisions go from the agent's memory to the store's files, and are found there. */

/* Where decisions look for what is not in memory any more. */
struct live_decision_memory agent_memory(struct agent *agent);
/* In a batch, when everything else of the round is in it: takes what was written out of memory and
 * out of the table, and hands over the next. */
void agent_remember(struct agent *agent);

/* ---- agent_result.c -------------------------------------------------------------------------- */

/* The answer that a site gives its applications: which arms are in, what it knows of their means,
 * decided or not, and since when. */

/* The one arm that is left, by name; NULL: it is not decided. */
const char *agent_winner(const struct agent *agent, const struct live_site_view *view);

/* A new reference; NULL: memory. Means are in units of a reward. Everything in it comes from what
 * was released here or said by others. */
json_t *agent_result(struct agent *agent);

/* ---- agent_rows.c ---------------------------------------------------------------------------- */

/* What an agent keeps on disk, and how it comes back. */

/* Puts a decision into this round's batch; drops one. */
void agent_store_row(struct agent *agent, const struct live_decision_row *row);
void agent_drop_row(struct agent *agent, const struct live_decision_row *row);
/* The term, and whether its owner set it; within this round's batch. */
void agent_put_term(struct agent *agent, uint64_t term, bool awaits_term);
/* The last changes before the commit of a round. */
void agent_prepare_commit(struct agent *agent);

/* Who this state belongs to; identity->agreed is to be given to free(). Errors: TACIT_MEMORY,
 * TACIT_IO. */
enum tacit_status agent_identify(const struct live_agent_config *config,
                                 struct live_store_identity *identity);
/* The site as it was kept; *site stays where it has joined no run yet. Errors: TACIT_MALFORMED,
 * TACIT_MEMORY, and what the store says; with error->text. */
enum tacit_status agent_restore_core(const struct live_agent_config *config,
                                     struct live_store *store, struct live_site **site,
                                     struct tacit_error *error);
/* Puts everything back. Errors: with error->text. */
enum tacit_status agent_restore(struct agent *agent, struct tacit_error *error);

/* ---- agent_runs.c ---------------------------------------------------------------------------- */

/* From one run to the next: which is announced, whether this site goes along, and what it leaves
 * behind. */

/* Before anything else is put back: the rows, and what a site's file that was changed between two
 * runs makes of the state. Errors: with error->text. */
enum tacit_status agent_runs_restore(struct agent *agent, struct tacit_error *error);
/* The rows alone. Errors: with error->text; TACIT_INVALID: the state has had its run, and the file
 * is another one. To be closed, after errors too. */
enum tacit_status agent_runs_read(struct live_runs *runs, struct live_store *store,
                                  const struct live_agent_config *config,
                                  struct tacit_error *error);

/* Is this run one of before what its coordinator announced last? */
bool agent_runs_is_behind(const struct agent *agent, const uint8_t run[TACIT_WIRE_RUN_BYTES]);

/* What is to be said of a run of before that, or of before those that this site was in, which is
 * never begun again. NULL: it is none. */
const char *agent_runs_outdated(struct agent *agent, const struct tacit_wire_agreement *announced);

/* What stands against a run that is announced, and is not this state's. NULL: nothing; it may wait
 * for its owner's word yet (agent_runs_admit). Requires: it is not outdated. */
const char *agent_runs_objection(struct agent *agent, const struct tacit_wire_agreement *announced);

/* Its coordinator begins a later run: so the one that this state is in is over. Requires: there is
 * one. */
void agent_runs_apply(struct agent *agent, const struct tacit_wire_agreement *announced);

/* True: this site goes along by itself. Else the announcement is kept for its owner's word. */
bool agent_runs_admit(struct agent *agent, const struct tacit_wire_agreement *announced,
                      uint64_t term, const uint8_t *bytes, size_t size);

/* The run that this state is in is over here: its result is written down. */
void agent_runs_note_end(struct agent *agent);

/* Into this round's batch: nothing that was open in the old run enters the new one. Ensures:
 * agent->site is NULL. */
void agent_runs_leave(struct agent *agent);

/* The owner's word: join this run, in this round. false: *objection says why not. */
bool agent_runs_consent(struct agent *agent, uint64_t run_id, const char **objection);

/* Into the status. */
void agent_runs_add(const struct agent *agent, json_t *status);
/* The run that waits for its operator's consent, as a warning. False: none does. */
bool agent_runs_format(const struct agent *agent, char text[], size_t size);

/* ---- agent_step.c ---------------------------------------------------------------------------- */

/* Steps of the agent's core, and what comes of them. */

/* What may be shown of it; before a run all zero. */
struct live_site_view agent_view(const struct agent *agent);

/* Feeds the core and carries its update out within this round; time, term, keys and signer of the
 * event are filled in. Errors: as of live_site_step. Requires: the site has joined a run. */
enum tacit_status agent_step(struct agent *agent, struct live_site_event event);
/* The same with an OFFER; *choice is filled where the protocol chooses: its bytes stand until the
 * next step. */
enum tacit_status agent_offer(struct agent *agent, const struct tacit_offer *offer,
                              struct live_decision_request *choice);

/* Pulls were played whose rewards enter nothing; without a site they count nowhere. */
void agent_count_played(struct agent *agent, uint64_t count);

/* What decisions fall back to; refreshed from the core. */
struct live_fallback agent_fallback(struct agent *agent);

/* The same for one decision; zeros where it needs none. */
struct live_fallback agent_fallback_for(struct agent *agent,
                                        const struct live_decision_request *request);
/* Says in the log why a site that was put back releases nothing, if so. */
void agent_log_trouble(struct agent *agent);

/* Of which site two rows of one epoch are proved. Requires: there is one. */
void agent_format_forker(const struct live_site_role *role, const struct live_site_view *view,
                         char *words, size_t size);

/* ---- agent_task.c ---------------------------------------------------------------------------- */

/* Work that a protocol gives to the site's own command: files go into its directory, a result is
 * taken out of it. */

/* Makes the directory ready, if the site's file names a command. Errors: with error->text. */
enum tacit_status agent_task_open(struct agent *agent, struct tacit_error *error);

/* Starts the task in place of the one under way; number 0: there is none any more. How it ends is
 * an event, never within this call. */
void agent_task_start(struct agent *agent, const struct live_task *task);

/* Stops what is under way; nothing is told. */
void agent_task_close(struct agent *agent);

/* ---- agent_times.c --------------------------------------------------------------------------- */

/* Times of an agent, by the clock of its state: what is kept of them. */

/* By the clock of the state. */
uint64_t agent_now_ms(const struct agent *agent);
/* Another place of this arm was given out again. */
void agent_put_missed(struct agent *agent, uint32_t arm);
/* The arms that are in became fewer, or it is decided: now. */
void agent_put_arms_since(struct agent *agent);
/* Clock and wait into the batch, as far as they have moved. Requires: a batch. */
void agent_put_times(struct agent *agent);
/* Requires: the decisions are there. */
enum tacit_status agent_restore_times(struct agent *agent);

/* ---- agent_units.c --------------------------------------------------------------------------- */

/* People: whoever a decision is about, as the application names them (`unit`). Only a keyed digest
 * of the name is kept, and how many places they have had, over all runs of the state. */

#define AGENT_UNIT_BYTES 33u

/* The digest of a name, 16 bytes in hexadecimal digits. The key is drawn with the first one, and
 * kept. Errors: TACIT_INVALID (empty or too long), TACIT_ENTROPY, TACIT_IO. */
enum tacit_status agent_unit_digest(struct agent *agent, const char *unit,
                                    char digest[AGENT_UNIT_BYTES]);

/* May a decision about this unit (a digest, or NULL) enter a sum? Depends on counts only. */
bool agent_unit_has_room(struct agent *agent, const char *unit);

/* A place was given to the row's unit; or it comes back without a reward in it. Within this round's
 * batch; nothing where there is no limit. */
void agent_unit_reserve(struct agent *agent, const struct live_decision_row *row);
void agent_unit_return_pull(struct agent *agent, const struct live_decision_row *row);
#endif

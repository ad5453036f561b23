/* The operator's words: on a socket beside the state directory, for its owner alone (mode 0600),
 * who may change a run that is under way. What was changed is durable before it is answered. This
 * file knows what can be said, in which words, and on which line; what it does is the family's
 * (hub.h). */
#ifndef TACIT_LIVE_CONTROL_H
#define TACIT_LIVE_CONTROL_H
#include "api/api_json.h"
#include "api/http.h"
#include "changes.h"
#include "daemon.h"

#define LIVE_CONTROL_PATH "/control"
#define LIVE_CONTROL_SUFFIX "-control.sock" /* after the name of the state directory */

/* Who and what is spoken of. */
struct live_control_names {
    const char *const *sites; /* NULL: a site speaks, which knows the others' numbers only */
    uint32_t site_count;
    const char *const *arms;
    uint32_t arm_count;
};

/* "retire letter" */
void live_control_format(const struct live_control_entry *entry,
                         const struct live_control_names *names, struct live_buffer *out);
/* What it does. */
const struct live_change_texts *live_control_texts(enum live_change change);

/* As a status has them. */
json_t *live_control_list(const struct live_control_entry *entries, uint32_t count,
                          const struct live_control_names *names);

/* The place of a name, which is a string, in a list. False: it is not in it. */
bool live_control_find(const json_t *name, const char *const *names, uint32_t count,
                       uint32_t *found);

/* ---- Asking ---------------------------------------------------------------------------------- */

/* From {"command": .., ..} to what is wanted; quorum and deadline_s hold what stands, and keep it
 * where the command does not name them. Errors: false, with error->text in words. */
bool live_control_read(const json_t *body, const struct live_control_names *names,
                       struct live_control_entry *wanted, struct tacit_error *error);

/* ---- The line -------------------------------------------------------------------------------- */

struct live_control; /* a socket */

/* handle: answers by live_control_answer, at once. Errors: TACIT_MEMORY. Where the socket cannot be
 * made the log says why, and nobody can say anything: that stops no run. */
enum tacit_status live_control_open(struct live_control **control, struct live_daemon *daemon,
                                    const char *state_directory,
                                    void (*handle)(void *context, struct live_request *request),
                                    void *context);
void live_control_close(
    struct live_control *control); /* NULL is allowed; before the daemon's loop */

/* The answer leaves at the end of this round of the loop, if the round is durable. Takes the tree
 * over. */
void live_control_answer(struct live_control *control, struct live_request *request, unsigned code,
                         json_t *tree);

/* All changes of a run. */
void live_control_answer_log(struct live_control *control, struct live_request *request,
                             const struct live_control_entry *entries, uint32_t count,
                             const struct live_control_names *names);

/* What a word did, in words. */
struct live_control_done {
    const char *change;
    struct live_change_texts texts;
    const char *arm; /* of which it was said; NULL: of none */
};
/* number: of the change; 0: it is none of the run. */
void live_control_done(struct live_control *control, struct live_request *request, uint32_t number,
                       bool is_new, const struct live_control_done *done);
/* {"error": ..} */
void live_control_refuse(struct live_control *control, struct live_request *request, unsigned code,
                         const char *why);
#endif

/* Commands of the operator, read from JSON on the control socket, and answers to them. */
#include "control.h"
#include "api/numbers.h"
#include "daemon/log.h"
#include "daemon/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Words ----------------------------------------------------------------------------------- */

static void append_quorum(const struct live_control_entry *entry, struct live_buffer *out)
{
    if (entry->quorum == 0)
        live_buffer_add(out, " all");
    else
        live_buffer_format(out, " %" PRIu32, entry->quorum);
    if (entry->deadline_s == 0)
        live_buffer_add(out, ", no deadline");
    else
        live_buffer_format(out, ", deadline %" PRIu32 " s", entry->deadline_s);
}

/* The commands, and what they do to privacy and to the guarantee. */
static const struct {
    const char *command;
    struct live_change_texts texts;
} changes[LIVE_CHANGES] = {
    [LIVE_CHANGE_DROP_SITE] =
        {"drop",
         {"no reward is released twice, and the loss per reward stays; what the site released "
          "stays "
          "released; if it comes back it releases as before, and nobody counts it",
          "estimates are of the sites that are left, and so is the best arm; they are less "
          "precise; "
          "it holds if the site was not dropped because of its values"}},
    [LIVE_CHANGE_SET_QUORUM_AND_DEADLINE] =
        {"quorum",
         {"nothing changes: each site releases each round once, whoever is waited for",
          "a round that closes without all sites is judged by the number that reported, for their "
          "mean; it holds if the change was not made because of values"}},
    [LIVE_CHANGE_END_RUN] =
        {"end",
         {"nothing more is released in this run; rewards of the open round never leave",
          "arms that were eliminated are worse with the run's confidence; of the others the best "
          "mean is played, and how sure that is was not promised"}},
    [LIVE_CHANGE_EXTEND_HORIZON] =
        {"horizon",
         {"the loss per reward stays; more rewards are released, each once; a site whose "
          "policy.pulls_max is smaller does not follow",
          "the bounds, their ladder and the chance of error stay those of the run's first horizon; "
          "a site that has played its last pull stays finished"}},
    [LIVE_CHANGE_RETIRE_ARM] =
        {"retire",
         {"the loss per reward stays; rewards of the arm that were not released yet never leave; "
          "this rests on released values or on what is known from outside, as the coordinator has "
          "no others",
          "the best arm is the best of those that stay, with the same confidence; nothing is said "
          "of the retired one any more"}},
    [LIVE_CHANGE_REPEAT] =
        {"repeat",
         {"no reward is released twice: those of the void round are spent, and new ones are played "
          "for it",
          "nothing changes: a void round was never counted"}},
};

const struct live_change_texts *live_control_texts(enum live_change change)
{
    TACIT_ASSERT(change > 0 && change < LIVE_CHANGES);
    return &changes[change].texts;
}

void live_control_format(const struct live_control_entry *entry,
                         const struct live_control_names *names, struct live_buffer *out)
{
    TACIT_ASSERT(entry != NULL && names != NULL);
    TACIT_IMPLIES(entry->change == LIVE_CHANGE_RETIRE_ARM, entry->arm < names->arm_count);
    live_buffer_add(out, changes[entry->change].command);
    if (entry->change == LIVE_CHANGE_DROP_SITE && names->sites != NULL &&
        entry->site < names->site_count)
        live_buffer_format(out, " %s", names->sites[entry->site]);
    else if (entry->change == LIVE_CHANGE_DROP_SITE)
        live_buffer_format(out, " site %" PRIu32, entry->site);
    else if (entry->change == LIVE_CHANGE_SET_QUORUM_AND_DEADLINE)
        append_quorum(entry, out);
    else if (entry->change == LIVE_CHANGE_EXTEND_HORIZON)
        live_buffer_format(out, " %" PRIu64, entry->horizon);
    else if (entry->change == LIVE_CHANGE_RETIRE_ARM)
        live_buffer_format(out, " %.900s", names->arms[entry->arm]);
}

static json_t *entry_tree(const struct live_control_entry *entry,
                          const struct live_control_names *names)
{
    struct live_buffer texts = {0};
    struct live_change_texts const *const does = live_control_texts(entry->change);
    char time_text[LIVE_TIME_BYTES];
    (void)live_time_text((int64_t)entry->made_unix_s, time_text);
    live_control_format(entry, names, &texts);
    json_t *const made =
        json_pack("{s:I, s:I, s:s, s:s%, s:s, s:s}", "number", (json_int_t)entry->number, "epoch",
                  (json_int_t)entry->epoch, "time", time_text, "change",
                  texts.failed ? "" : texts.bytes, texts.failed ? (size_t)0 : texts.size, "privacy",
                  does->privacy, "guarantee", does->guarantee);
    live_buffer_free(&texts);
    return made;
}

json_t *live_control_list(const struct live_control_entry *entries, uint32_t count,
                          const struct live_control_names *names)
{
    json_t *const list = json_array();
    for (uint32_t i = 0; i < count; i++)
        (void)json_array_append_new(list, entry_tree(&entries[i], names));
    return list;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool refuse(struct tacit_error *error, const char *text)
{
    (void)snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

bool live_control_find(const json_t *name, const char *const *names, uint32_t count,
                       uint32_t *found)
{
    char const *const text = json_string_value(name);
    for (uint32_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(names[i], text) == 0) {
            *found = i;
            return true;
        }
    }
    return false;
}

static bool read_number(const json_t *value, uint64_t max, uint64_t *number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        (uint64_t)json_integer_value(value) > max)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

/* What is not named stays as it stands in *wanted. */
static bool read_quorum(const json_t *body, const struct live_control_names *names,
                        struct live_control_entry *wanted, struct tacit_error *error)
{
    json_t const *const quorum = json_object_get(body, "quorum");
    json_t const *const deadline = json_object_get(body, "deadline_s");
    uint64_t number = 0;
    if (json_is_string(quorum) && strcmp(json_string_value(quorum), "all") == 0)
        wanted->quorum = 0;
    else if (read_number(quorum, names->site_count, &number))
        wanted->quorum = (uint32_t)number;
    else if (quorum != NULL)
        return refuse(error, "quorum: allowed: all, or a number from 1 to that of the sites");
    if (read_number(deadline, 31536000, &number))
        wanted->deadline_s = (uint32_t)number;
    else if (deadline != NULL)
        return refuse(error, "deadline: allowed: seconds, from 1 to 31536000");
    return true;
}

/* What a command changes; 0: there is no such command. */
static enum live_change change_of(const char *command)
{
    for (unsigned i = 1; i < LIVE_CHANGES; i++)
        if (strcmp(changes[i].command, command) == 0)
            return (enum live_change)i;
    return strcmp(command, "deadline") == 0 ? LIVE_CHANGE_SET_QUORUM_AND_DEADLINE
                                            : (enum live_change)0;
}

static bool refuse_command(const char *command, struct tacit_error *error)
{
    if (strcmp(command, "add") == 0)
        return refuse(error, "no command adds an arm: arms come to runs of the phased index, by "
                             "the coordinator's file (run.later, run.added); else begin a new run");
    return refuse(error, strcmp(command, "refuse") == 0
                             ? "refuse is a command of a site: send it to its agent"
                             : "no such command; allowed: drop, quorum, deadline, end, horizon, "
                               "retire, repeat");
}

bool live_control_read(const json_t *body, const struct live_control_names *names,
                       struct live_control_entry *wanted, struct tacit_error *error)
{
    char const *const command = json_string_value(json_object_get(body, "command"));
    wanted->made_unix_s = (uint64_t)time(NULL);
    if (command == NULL)
        return refuse(
            error, "which command? allowed: drop, quorum, deadline, end, horizon, retire, repeat");
    wanted->change = change_of(command);
    switch (wanted->change) {
    case LIVE_CHANGE_DROP_SITE:
        return live_control_find(json_object_get(body, "site"), names->sites, names->site_count,
                                 &wanted->site) ||
               refuse(error, "drop: there is no such site in this run");
    case LIVE_CHANGE_SET_QUORUM_AND_DEADLINE:
        return read_quorum(body, names, wanted, error);
    case LIVE_CHANGE_EXTEND_HORIZON:
        return read_number(json_object_get(body, "pulls"), TACIT_HORIZON_MAX, &wanted->horizon) ||
               refuse(error, "horizon: allowed: pulls of one site, from 1 to 2^40");
    case LIVE_CHANGE_RETIRE_ARM:
        return live_control_find(json_object_get(body, "arm"), names->arms, names->arm_count,
                                 &wanted->arm) ||
               refuse(error, "retire: there is no such arm in this run");
    case LIVE_CHANGE_END_RUN:
    case LIVE_CHANGE_REPEAT:
        return true;
    }
    return refuse_command(command, error);
}

/* ---- The line -------------------------------------------------------------------------------- */

struct live_control {
    struct live_http *http;
    struct live_held *held;
    void (*handle)(void *context, struct live_request *request);
    void *context;
};

static void on_request(void *context, struct live_request *request)
{
    struct live_control *const control = context;
    bool const is_ours = strcmp(request->path, LIVE_CONTROL_PATH) == 0;
    bool const is_known =
        strcmp(request->method, "GET") == 0 || strcmp(request->method, "POST") == 0;
    if (is_ours && is_known)
        control->handle(control->context, request);
    else
        live_control_refuse(control, request, is_ours ? 405 : 404,
                            "not here; allowed: GET and POST " LIVE_CONTROL_PATH);
}

enum tacit_status live_control_open(struct live_control **control, struct live_daemon *daemon,
                                    const char *state_directory,
                                    void (*handle)(void *context, struct live_request *request),
                                    void *context)
{
    char path[4096];
    struct tacit_error error = {""};
    size_t length = strlen(state_directory);
    struct live_control *const made = calloc(1, sizeof *made);
    TACIT_ASSERT(handle != NULL);
    if (made == NULL)
        return TACIT_MEMORY;
    while (length > 1 && state_directory[length - 1] == '/')
        length--;
    (void)snprintf(path, sizeof path, "%.*s" LIVE_CONTROL_SUFFIX, (int)length, state_directory);
    made->held = &daemon->held;
    made->handle = handle;
    made->context = context;
    struct live_http_config const config = {.unix_path = path, .is_private = true};
    if (live_http_open(&made->http, daemon->loop, &config, on_request, made, &error) != TACIT_OK) {
        live_log(LIVE_LOG_WARNING, "control", "tacit control cannot reach this process: %s",
                 error.text);
        made->http = NULL;
    }
    *control = made;
    return TACIT_OK;
}

void live_control_close(struct live_control *control)
{
    if (control == NULL)
        return;
    if (control->http != NULL)
        live_http_close(control->http);
    free(control);
}

void live_control_answer(struct live_control *control, struct live_request *request, unsigned code,
                         json_t *tree)
{
    struct live_buffer text = {0};
    live_buffer_add_tree(&text, tree);
    live_held_add(control->held, request, code, "application/json", &text);
}

void live_control_answer_log(struct live_control *control, struct live_request *request,
                             const struct live_control_entry *entries, uint32_t count,
                             const struct live_control_names *names)
{
    live_control_answer(control, request, 200,
                        json_pack("{s:o}", "changes", live_control_list(entries, count, names)));
}

void live_control_done(struct live_control *control, struct live_request *request, uint32_t number,
                       bool is_new, const struct live_control_done *done)
{
    json_t *const tree = json_pack("{s:I, s:b, s:s, s:s, s:s}", "number", (json_int_t)number,
                                   "is_new", is_new, "change", done->change, "privacy",
                                   done->texts.privacy, "guarantee", done->texts.guarantee);
    if (tree != NULL && done->arm != NULL)
        (void)json_object_set_new(tree, "arm", json_string(done->arm));
    live_control_answer(control, request, 200, tree);
}

void live_control_refuse(struct live_control *control, struct live_request *request, unsigned code,
                         const char *why)
{
    live_control_answer(control, request, code, json_pack("{s:s}", "error", why));
}

/* Work for the site's own command. */
#include "agent_state.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct live_command_config *config_of(const struct agent *agent)
{
    struct live_site_ops const *const protocol = agent->config->protocol;
    return protocol->command == NULL ? NULL : protocol->command(&agent->config->site);
}

/* ---- The end of one -------------------------------------------------------------------------- */

/* Nothing runs any more: a command that does is killed, and its deadline is off. */
static void forget(struct agent *agent)
{
    live_command_free(agent->task.command);
    agent->task.command = NULL;
    agent->task.number = 0;
    live_timer_set(agent->task.timer, TACIT_NEVER);
}

static void step_task(struct agent *agent, uint64_t number, enum live_command_end end,
                      const uint8_t *bytes)
{
    struct live_site_event const event = {
        .kind = LIVE_SITE_TASK,
        .as.task = {.number = number,
                    .is_done = bytes != NULL,
                    .is_late = end == LIVE_COMMAND_NOT_NOW,
                    .bytes = bytes,
                    .size = bytes == NULL ? 0 : agent->task.result_size}};
    (void)agent_step(agent, event);
}

static void on_ended(void *context, enum live_command_end end)
{
    struct agent *const agent = context;
    uint64_t const number = agent->task.number;
    uint8_t *bytes = NULL;
    if (end == LIVE_COMMAND_DONE)
        bytes = malloc(agent->task.result_size);
    if (bytes != NULL && live_file_read(agent->task.directory, agent->task.result, bytes,
                                        agent->task.result_size) != TACIT_OK) {
        live_log(LIVE_LOG_WARNING, "training", "%s/%s is not a plain file of %zu bytes",
                 agent->task.directory, agent->task.result, agent->task.result_size);
        free(bytes);
        bytes = NULL;
    }
    if (end == LIVE_COMMAND_FAILED)
        live_log(LIVE_LOG_WARNING, "training", "the command failed; its output: %s",
                 agent->task.log);
    forget(agent);
    step_task(agent, number, end, bytes);
    free(bytes);
}

/* The deadline; or it could not be started. */
static void on_timer(void *context)
{
    struct agent *const agent = context;
    uint64_t const number = agent->task.number;
    if (number == 0)
        return;
    if (agent->task.command != NULL)
        live_log(LIVE_LOG_WARNING, "training",
                 "the command was not done by the deadline, and was stopped; its output: %s",
                 agent->task.log);
    forget(agent);
    step_task(agent, number, LIVE_COMMAND_FAILED, NULL);
}

/* ---- The beginning of one -------------------------------------------------------------------- */

/* An old result goes first: one that is found later is of this task. */
static bool put_files(struct agent *agent, const struct live_task *task, uint32_t owner)
{
    live_file_drop(agent->task.directory, task->result);
    for (uint32_t i = 0; i < task->file_count; i++)
        if (live_file_put(agent->task.directory, task->files[i].name, task->files[i].bytes,
                          task->files[i].size, owner) != TACIT_OK)
            return false;
    return true;
}

void agent_task_start(struct agent *agent, const struct live_task *task)
{
    struct live_command_config const *const config = config_of(agent);
    forget(agent);
    if (task->number == 0)
        return;
    TACIT_ASSERT(config != NULL && strlen(task->result) < sizeof agent->task.result);
    agent->task.number = task->number;
    agent->task.result_size = task->result_size;
    (void)snprintf(agent->task.result, sizeof agent->task.result, "%s", task->result);
    bool const is_under_way =
        put_files(agent, task, live_command_user(config->user)) &&
        live_command_start(&agent->task.command, agent->daemon.loop, config, agent->task.directory,
                           agent->task.log, on_ended, agent) == TACIT_OK;
    if (!is_under_way)
        live_log(LIVE_LOG_ERROR, "training", "the command cannot be started in %s",
                 agent->task.directory);
    live_timer_set(agent->task.timer, is_under_way ? task->deadline_us : 0); /* 0: at once */
}

/* ---- The daemon's ---------------------------------------------------------------------------- */

static enum tacit_status make_directory(struct agent *agent,
                                        const struct live_command_config *config,
                                        struct tacit_error *error)
{
    uint32_t const owner = live_command_user(config->user);
    char const *why = NULL;
    if (config->user != NULL && owner == UINT32_MAX)
        why = "there is no such user as training.user names";
    else if (mkdir(agent->task.directory, S_IRWXU) != 0 && errno != EEXIST)
        why = "the directory of the training cannot be made";
    else if (chmod(agent->task.directory, S_IRWXU) != 0 ||
             (config->user != NULL && chown(agent->task.directory, owner, (gid_t)-1) != 0))
        why = "the directory of the training cannot be given to its user";
    if (why == NULL)
        return TACIT_OK;
    return live_refuse(error, TACIT_INVALID, "%.1000s: %s", agent->task.directory, why);
}

enum tacit_status agent_task_open(struct agent *agent, struct tacit_error *error)
{
    struct live_command_config const *const config = config_of(agent);
    char const *const state = agent->config->daemon.state_directory;
    char path[sizeof agent->task.directory];
    if (config == NULL)
        return TACIT_OK;
    agent->task.timer = live_timer_new(agent->daemon.loop, on_timer, agent);
    if (agent->task.timer == NULL)
        return TACIT_MEMORY;
    (void)snprintf(agent->task.directory, sizeof agent->task.directory, "%s/training", state);
    if (config->directory != NULL)
        (void)snprintf(agent->task.directory, sizeof agent->task.directory, "%s",
                       config->directory);
    enum tacit_status const status = make_directory(agent, config, error);
    /* The command is elsewhere, so it is told a path that is good from there. */
    if (status != TACIT_OK || realpath(agent->task.directory, path) == NULL)
        return status == TACIT_OK ? TACIT_IO : status;
    (void)snprintf(agent->task.directory, sizeof agent->task.directory, "%s", path);
    (void)snprintf(agent->task.log, sizeof agent->task.log, "%s/training.log", state);
    return TACIT_OK;
}

void agent_task_close(struct agent *agent)
{
    live_command_free(agent->task.command);
    agent->task.command = NULL;
}

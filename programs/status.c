/* tacit status: how a daemon is, for people: a line that says it, a table, the causes and what to
 * do. Its exit code is for monitoring. */
#include "ask.h"
#include "commands.h"
#include "../src/families/live_family.h"
#include "tacit/config.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As monitoring plugins end. */
enum { STATE_OK, STATE_WAITING, STATE_ATTENTION, STATE_DOWN };

#define NAME_WIDTH_MIN 8
#define TEXT_BYTES 256u

struct request {
    const char *file;
    bool json;
    bool alive; /* is asked, and nothing else */
};

struct asked {
    struct tacit_config_daemon *daemon;
    char name[80]; /* "site NAME", "coordinator" or "helper" */
};

/* ---- What a status says ---------------------------------------------------------------------- */

static const char *text_of(const json_t *status, const char *member)
{
    char const *const text = json_string_value(json_object_get(status, member));
    return text == NULL ? "" : text;
}

static json_int_t number_of(const json_t *status, const char *member)
{
    return json_integer_value(json_object_get(status, member));
}

/* Its number, as the file of the coordinator has it; 0: there is none. */
static uint64_t run_number(const char *run)
{
    return strlen(run) == 32 ? strtoull(run + 16, NULL, 16) : 0;
}

static void format_run(const char *run, char text[], size_t size)
{
    if (*run == '\0')
        (void)snprintf(text, size, "-");
    else
        (void)snprintf(text, size, "%" PRIu64, run_number(run));
}

static void print_row(int width, const char *name, const char *run, const char *epoch,
                      const char *state)
{
    (void)printf("%-*s  %-6s  %-6s  %s\n", width, name, run, epoch, state);
}

static void print_numbered(int width, const char *name, const char *run, json_int_t epoch,
                           const char *state)
{
    char number[32];
    (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, epoch);
    print_row(width, name, run, number, state);
}

/* ---- An agent -------------------------------------------------------------------------------- */

static void format_agent(const json_t *status, char text[], size_t size)
{
    char const *const waits = text_of(json_object_get(status, "waits_for"), "for");
    char const *const winner = text_of(status, "winner");
    (void)snprintf(text, size, "%s%s%s%s%s", text_of(status, "phase"),
                   *waits != '\0' ? ", waits for " : "", waits, *winner != '\0' ? ", winner: " : "",
                   winner);
}

static void format_hub(const json_t *status, char text[], size_t size)
{
    json_t const *const heard = json_object_get(status, "hub_heard_s");
    if (!json_is_integer(heard))
        (void)snprintf(text, size, "not heard since this agent started");
    else
        (void)snprintf(text, size, "heard %" JSON_INTEGER_FORMAT " s ago",
                       json_integer_value(heard));
}

static void print_agent(const json_t *status)
{
    char run[32];
    char announced[32];
    char text[TEXT_BYTES];
    int const name_width = (int)strlen(text_of(status, "site"));
    int const width = name_width > NAME_WIDTH_MIN ? name_width : NAME_WIDTH_MIN;
    format_run(text_of(status, "run"), run, sizeof run);
    format_run(text_of(status, "announced"), announced, sizeof announced);
    print_row(width, "site", "run", "epoch", "state");
    format_agent(status, text, sizeof text);
    print_numbered(width, text_of(status, "site"), run, number_of(status, "epoch"), text);
    format_hub(status, text, sizeof text);
    print_numbered(width, "hub", announced, number_of(status, "hub_epoch"), text);
}

/* ---- A coordinator --------------------------------------------------------------------------- */

static bool is_set(const json_t *object, const char *member)
{
    return json_is_true(json_object_get(object, member));
}

static void format_coordinator(const json_t *status, char text[], size_t size)
{
    char const *const winner = text_of(status, "winner");
    json_t const *const reports = json_object_get(status, "reports");
    if (*winner != '\0')
        (void)snprintf(text, size, "%s, winner: %s", text_of(status, "phase"), winner);
    else if (reports != NULL)
        (void)snprintf(
            text, size, "%s: %" JSON_INTEGER_FORMAT " reported, %" JSON_INTEGER_FORMAT " missing",
            text_of(status, "phase"), json_integer_value(reports), number_of(status, "missing"));
    else
        (void)snprintf(text, size, "%s", text_of(status, "phase"));
}

static void format_site(const json_t *site, bool is_over, char text[], size_t size)
{
    json_t const *const heard = json_object_get(site, "heard_s");
    char since[64];
    char const *const round = is_set(site, "dropped")    ? "removed"
                              : is_set(site, "reported") ? "reported"
                              : is_set(site, "asked")    ? "missing"
                              : is_over                  ? "done"
                                                         : "not asked";
    if (json_is_integer(heard))
        (void)snprintf(since, sizeof since, "heard %" JSON_INTEGER_FORMAT " s ago",
                       json_integer_value(heard));
    else
        (void)snprintf(since, sizeof since, "not heard since the coordinator started");
    (void)snprintf(text, size, "%s, %s%s", round, since,
                   is_set(site, "two_states") ? ", TWO STATES" : "");
}

static int name_width_of(const json_t *sites)
{
    int width = NAME_WIDTH_MIN;
    size_t i;
    json_t *site;
    json_array_foreach(sites, i, site)
    {
        int const length = (int)strlen(text_of(site, "name"));
        width = length > width ? length : width;
    }
    return width;
}

static void print_coordinator(const json_t *status)
{
    json_t *const sites = json_object_get(status, "sites");
    int const width = name_width_of(sites);
    bool const is_over = strcmp(text_of(status, "phase"), "finished") == 0;
    char run[32];
    char text[TEXT_BYTES];
    size_t i;
    json_t *site;
    format_run(text_of(status, "run"), run, sizeof run);
    format_coordinator(status, text, sizeof text);
    print_row(width, "site", "run", "epoch", "state");
    print_numbered(width, "hub", run, number_of(status, "epoch"), text);
    json_array_foreach(sites, i, site)
    {
        format_site(site, is_over, text, sizeof text);
        print_numbered(width, text_of(site, "name"), run, number_of(site, "last_report_epoch"),
                       text);
    }
}

/* ---- A helper -------------------------------------------------------------------------------- */

static void print_helper(const json_t *status)
{
    char run[32];
    char text[TEXT_BYTES];
    json_t const *const heard = json_object_get(status, "heard_s");
    format_run(text_of(status, "run"), run, sizeof run);
    (void)snprintf(text, sizeof text, "%s, %" JSON_INTEGER_FORMAT " rounds answered, %s",
                   text_of(status, "phase"), number_of(status, "answers"),
                   json_is_integer(heard) ? "the coordinator was heard"
                                          : "the coordinator was not heard since it started");
    print_row(NAME_WIDTH_MIN, "name", "run", "epoch", "state");
    print_numbered(NAME_WIDTH_MIN, "helper", run, number_of(status, "round"), text);
}

/* ---- Both ------------------------------------------------------------------------------------ */

static int code_of(const char *state)
{
    return strcmp(state, "ok") == 0        ? STATE_OK
           : strcmp(state, "waiting") == 0 ? STATE_WAITING
                                           : STATE_ATTENTION;
}

/* The first line is what a monitoring system shows. */
static void print_head(const struct asked *asked, const json_t *status, const json_t *causes)
{
    static const char *const states[] = {"OK", "WAITING", "NEEDS ATTENTION"};
    int const code = code_of(text_of(status, "state"));
    json_t const *const first = json_array_get(causes, 0);
    (void)printf("%s: %s of %s: %s\n", states[code], asked->name, text_of(status, "federation"),
                 first != NULL ? text_of(first, "what") : text_of(status, "phase"));
}

static int print_status(const struct asked *asked, const json_t *status)
{
    json_t *const causes = json_object_get(status, "causes");
    size_t i;
    json_t *cause;
    print_head(asked, status, causes);
    (asked->daemon->role == TACIT_CONFIG_HELPER        ? print_helper
     : asked->daemon->role == TACIT_CONFIG_COORDINATOR ? print_coordinator
                                                       : print_agent)(status);
    json_array_foreach(causes, i, cause)
    {
        (void)printf("cause: %s\n  do: %s\n", text_of(cause, "what"), text_of(cause, "do"));
        if (*text_of(cause, "command") != '\0')
            (void)printf("  command: %s\n", text_of(cause, "command"));
    }
    return code_of(text_of(status, "state"));
}

/* The daemon of the file, and its name for messages. False: error says why. */
static bool load_daemon(const char *file, struct asked *asked, struct tacit_error *error)
{
    if (tacit_config_daemon_load(&asked->daemon, TACIT_CONFIG_ANY, live_family_files(), file,
                                 error) != TACIT_OK)
        return false;
    (void)snprintf(asked->name, sizeof asked->name, "%s%s",
                   asked->daemon->role == TACIT_CONFIG_AGENT ? "site " : "", asked->daemon->name);
    return true;
}

/* `why` also goes to stderr, for who runs it by hand. */
static int print_down(const struct request *request, const struct asked *asked, const char *why)
{
    if (request->json)
        (void)printf("{\"state\": \"down\"}\n");
    else
        (void)printf("DOWN: %s: %s\n", asked->name, why);
    (void)fprintf(stderr, "tacit status: %s; is the daemon of %s running? See its log\n", why,
                  request->file);
    return STATE_DOWN;
}

/* `text`: the daemon's answer. */
static int show(const struct request *request, const struct asked *asked, const char *text)
{
    json_t *const status = json_loads(text, 0, NULL);
    if (status == NULL)
        return print_down(request, asked, "no clear answer");
    int const code =
        request->json ? code_of(text_of(status, "state")) : print_status(asked, status);
    if (request->json)
        (void)printf("%s%s", text, *text != '\0' && text[strlen(text) - 1] == '\n' ? "" : "\n");
    json_decref(status);
    return code;
}

static void parse_status(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'j')
        request->json = true;
    else if (key == 'a')
        request->alive = true;
    else if (key == 'c' && request->file == NULL)
        request->file = value;
    else if (key == 'c' || key == COMMAND_OPERAND || request->file == NULL)
        command_refuse(command,
                       "one file is needed and nothing else; usage: tacit %s --config FILE",
                       command->name);
}

static int status_command(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    struct asked asked = {0};
    struct tacit_error error = {""};
    command_parse(command, &request, argc, argv);
    if (!load_daemon(request.file, &asked, &error))
        return command_report(NULL, TACIT_INVALID, &error);
    int const connection = ask_connect(&asked.daemon->listener);
    unsigned code = 0;
    char *const text =
        connection < 0
            ? NULL
            : ask(connection, "GET",
                  asked.daemon->role == TACIT_CONFIG_AGENT ? "/v1/status" : "/status", NULL, &code);
    bool const answers = text != NULL && code == 200;
    int const state = request.alive ? (answers ? STATE_OK : STATE_DOWN)
                      : answers
                          ? show(&request, &asked, text)
                          : print_down(&request, &asked,
                                       connection < 0 ? "nobody answers" : "it gives no answer");
    free(text);
    tacit_config_daemon_free(asked.daemon);
    return state;
}

static const struct argp_option options[] = {
    {"config", 'c', "FILE", 0, "The file of the site, of the coordinator or of the helper", 0},
    {"alive", 'a', NULL, 0,
     "Print nothing; end with 0 if the daemon answers, however it is, else 3: for probes", 0},
    {"json", 'j', NULL, 0, "Print what the daemon answers, as JSON", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_status = {
    .name = "status",
    .summary = "ask a running daemon how it is",
    .options = options,
    .operands = NULL,
    .help = "Asks the daemon that runs with this file how it is, and what to do. Ends with 0: all "
            "is well, 1: it waits for somebody, 2: it needs attention (also: the file is wrong), "
            "3: it does not answer (docs/daemons.md).",
    .parse = parse_status,
    .run = status_command,
};

/* tacit control: the operator's words to a daemon that runs, on the socket beside its state. */
#include "ask.h"
#include "commands.h"
#include "../src/families/live_family.h"
#include "../src/live/control.h"
#include "tacit/config.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OPERANDS_MAX 5u
#define PATH_BYTES 4096u

struct request {
    const char *state; /* the daemon's file, or its state directory, or the socket itself */
    const char *operands[OPERANDS_MAX];
    uint32_t count;
    bool json;
};

/* ---- What is said ---------------------------------------------------------------------------- */

static json_int_t read_number(const struct command *command, const char *what, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long const value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || *text < '0' || *text > '9' || value < 1 ||
        value > TACIT_HORIZON_MAX)
        command_refuse(command, "%s: '%s' is not allowed; allowed: a whole number from 1", what,
                       text);
    return (json_int_t)value;
}

/* quorum N|all [deadline SECONDS], deadline SECONDS */
static json_t *quorum_and_deadline(const struct command *command, const struct request *request)
{
    json_t *const body = json_pack("{s:s}", "command", "quorum");
    for (uint32_t i = 0; i < request->count; i += 2) {
        bool const is_quorum = strcmp(request->operands[i], "quorum") == 0;
        if (i + 1 == request->count ||
            (!is_quorum && strcmp(request->operands[i], "deadline") != 0))
            command_refuse_usage(command, "quorum and deadline are followed by their number");
        if (i > 0 && strcmp(request->operands[0], request->operands[i]) == 0)
            command_refuse_usage(command, "quorum and deadline are each said once");
        char const *const value = request->operands[i + 1];
        json_t *const said = is_quorum && strcmp(value, "all") == 0
                                 ? json_string("all")
                                 : json_integer(read_number(command, request->operands[i], value));
        (void)json_object_set_new(body, is_quorum ? "quorum" : "deadline_s", said);
    }
    return body;
}

/* What to post; its words are for the daemon to judge. NULL: only what was changed is asked for. */
static json_t *body_of(const struct command *command, const struct request *request)
{
    char const *const first = request->operands[0];
    uint32_t const count = request->count;
    if (strcmp(first, "changes") == 0 && count == 1)
        return NULL;
    if (strcmp(first, "quorum") == 0 || strcmp(first, "deadline") == 0)
        return quorum_and_deadline(command, request);
    if ((strcmp(first, "end") == 0 || strcmp(first, "repeat") == 0) && count == 1)
        return json_pack("{s:s}", "command", first);
    if (strcmp(first, "join") == 0 && count == 2)
        return json_pack("{s:s, s:I}", "command", first, "run",
                         read_number(command, first, request->operands[1]));
    if (strcmp(first, "term") == 0 && count == 2)
        return json_pack("{s:s, s:I}", "command", first, "term",
                         read_number(command, first, request->operands[1]));
    if (strcmp(first, "drop") == 0 && count == 2)
        return json_pack("{s:s, s:s}", "command", first, "site", request->operands[1]);
    if ((strcmp(first, "retire") == 0 || strcmp(first, "add") == 0) && count == 2)
        return json_pack("{s:s, s:s}", "command", first, "arm", request->operands[1]);
    if (strcmp(first, "horizon") == 0 && count == 2)
        return json_pack("{s:s, s:I}", "command", first, "pulls",
                         read_number(command, first, request->operands[1]));
    if (strcmp(first, "refuse") == 0 && count == 4 && strcmp(request->operands[2], "because") == 0)
        return json_pack("{s:s, s:s, s:s}", "command", first, "arm", request->operands[1],
                         "because", request->operands[3]);
    command_refuse_usage(command, "this is no command, or its arguments are missing");
}

/* ---- What is answered ------------------------------------------------------------------------ */

static const char *text_of(const json_t *answer, const char *member)
{
    char const *const text = json_string_value(json_object_get(answer, member));
    return text == NULL ? "" : text;
}

static void print_entry(const json_t *entry)
{
    (void)printf("%" JSON_INTEGER_FORMAT "  %s  epoch %" JSON_INTEGER_FORMAT "  %s\n",
                 json_integer_value(json_object_get(entry, "number")), text_of(entry, "time"),
                 json_integer_value(json_object_get(entry, "epoch")), text_of(entry, "change"));
}

static void print_log(const json_t *changes)
{
    size_t index;
    json_t *entry;
    if (json_array_size(changes) == 0)
        (void)printf("nothing was changed in this run\n");
    json_array_foreach(changes, index, entry) print_entry(entry);
}

static void print_change(const json_t *answer)
{
    json_int_t const number = json_integer_value(json_object_get(answer, "number"));
    char const *const arm = text_of(answer, "arm");
    bool const is_new = json_is_true(json_object_get(answer, "is_new"));
    (void)printf("%s: %s%s%s", is_new ? "done" : "so it was already", text_of(answer, "change"),
                 *arm == '\0' ? "" : " ", arm);
    if (number > 0)
        (void)printf(" (change %" JSON_INTEGER_FORMAT " of this run)", number);
    (void)printf("\nprivacy: %s\nguarantee: %s\n", text_of(answer, "privacy"),
                 text_of(answer, "guarantee"));
}

static int print_answer(const struct request *request, const char *text, unsigned code)
{
    json_t *const answer = json_loads(text, 0, NULL);
    json_t const *const changes = json_object_get(answer, "changes");
    if (code != 200)
        (void)fprintf(stderr, "tacit control: %s\n",
                      answer == NULL ? "the daemon gives no clear answer; see its log"
                                     : text_of(answer, "error"));
    else if (request->json)
        (void)fputs(text, stdout);
    else if (changes != NULL)
        print_log(changes);
    else
        print_change(answer);
    json_decref(answer);
    return code == 200 ? EXIT_DONE : code == 400 ? EXIT_WRONG_INPUT : EXIT_FAILED;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Of the daemon that runs with this file. False: it is no such file; error says why. */
static bool find_state(const char *file, char path[PATH_BYTES], struct tacit_error *error)
{
    struct tacit_config_daemon *daemon;
    enum tacit_status status =
        tacit_config_daemon_load(&daemon, TACIT_CONFIG_ANY, live_family_files(), file, error);
    if (status == TACIT_OK && daemon->role == TACIT_CONFIG_HELPER) { /* it takes no words */
        tacit_config_daemon_free(daemon);
        status =
            tacit_config_daemon_load(&daemon, TACIT_CONFIG_AGENT, live_family_files(), file, error);
    }
    if (status == TACIT_OK) {
        (void)snprintf(path, PATH_BYTES, "%s", daemon->state_directory);
        tacit_config_daemon_free(daemon);
    }
    return status == TACIT_OK;
}

/* The socket itself, or that of a state directory or of a daemon's file. False: error says why. */
static bool find_socket(const char *given, char path[PATH_BYTES], struct tacit_error *error)
{
    struct stat there;
    char state[PATH_BYTES];
    bool const is_there = stat(given, &there) == 0;
    (void)snprintf(state, sizeof state, "%s", given);
    if (is_there && S_ISREG(there.st_mode) && !find_state(given, state, error))
        return false;
    size_t length = strlen(state);
    while (length > 1 && state[length - 1] == '/')
        length--;
    bool const is_socket = is_there && S_ISSOCK(there.st_mode);
    int const written = snprintf(path, PATH_BYTES, "%.*s%s", (int)length, state,
                                 is_socket ? "" : LIVE_CONTROL_SUFFIX);
    if (written < 0 || (size_t)written >= PATH_BYTES)
        (void)snprintf(error->text, sizeof error->text, "tacit control: the path is too long");
    return written >= 0 && (size_t)written < PATH_BYTES;
}

static int post_change(const struct request *request, const char *body)
{
    char path[PATH_BYTES];
    struct tacit_error error = {""};
    unsigned code = 0;
    if (!find_socket(request->state, path, &error))
        return command_report(NULL, TACIT_INVALID, &error);
    struct tacit_config_listener const listener = {.unix_path = path};
    int const connection = ask_connect(&listener);
    if (connection < 0) {
        (void)fprintf(stderr,
                      "tacit control: nobody answers on %s; is the daemon running, and is "
                      "it yours?\n",
                      path);
        return EXIT_FAILED;
    }
    char *const text =
        ask(connection, body == NULL ? "GET" : "POST", LIVE_CONTROL_PATH, body, &code);
    int const result = text == NULL ? EXIT_FAILED : print_answer(request, text, code);
    if (text == NULL)
        (void)fprintf(
            stderr,
            "tacit control: no answer came: repeat the command; done twice it counts once\n");
    free(text);
    return result;
}

static void parse_control(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'j')
        request->json = true;
    else if (key == COMMAND_OPERAND && request->state == NULL)
        request->state = value;
    else if (key == COMMAND_OPERAND && request->count < OPERANDS_MAX)
        request->operands[request->count++] = value;
    else if (key == COMMAND_OPERAND)
        command_refuse_usage(command, "too many arguments");
    else if (request->count == 0)
        command_refuse_usage(command,
                             "the daemon's file, or its state directory, and a command are needed");
}

static int control_command(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    command_parse(command, &request, argc, argv);
    json_t *const body = body_of(command, &request);
    char *const text = body == NULL ? NULL : json_dumps(body, JSON_COMPACT);
    int const result = post_change(&request, text);
    json_decref(body);
    free(text);
    return result;
}

static const struct argp_option control_options[] = {
    {"json", 'j', NULL, 0, "Print the answer as JSON", 0}, COMMAND_LAST_OPTIONS};

const struct command command_control = {
    .name = "control",
    .summary = "change a run that is under way",
    .options = control_options,
    .operands =
        "STATE changes\nSTATE drop SITE\nSTATE quorum N|all [deadline SECONDS]\n"
        "STATE deadline SECONDS\nSTATE end\nSTATE repeat\nSTATE horizon PULLS\nSTATE retire ARM\n"
        "STATE refuse ARM because outside|released|raw\nSTATE join RUN\nSTATE term N",
    .help = "Sends a command to the coordinator whose file or state directory is STATE; the last "
            "three go to an agent (docs/operations.md). What was answered is durable; a command "
            "that is repeated counts once.",
    .parse = parse_control,
    .run = control_command,
};

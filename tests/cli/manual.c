/* `tacit manual`: what it prints says what --help says, and shells take it. */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include "../support/testing.h"
#include "../support/process.h"

static struct process_result run(const char *const *words)
{
    struct process_plan const plan = {.arguments = words};
    return process_run(&plan);
}

static struct process_result tacit(const char *first, const char *second)
{
    return run((const char *const[]){process_tacit(), first, second, NULL});
}

static struct process_result tacitd(const char *first, const char *second)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%sd", process_tacit());
    return run((const char *const[]){path, first, second, NULL});
}

/* Calls `found` for each command of "tacit --help". */
static uint32_t each_command(void (*found)(const char *command, const void *context),
                             const void *context)
{
    struct process_result help = tacit("--help", NULL);
    uint32_t count = 0;
    assert_int_equal(help.code, 0);
    for (const char *line = help.out; (line = strstr(line, "\n  ")) != NULL; line += 3) {
        char command[64];
        assert_int_equal(sscanf(line, " %63s", command), 1);
        found(command, context);
        count++;
    }
    return count;
}

/* Long options as --help prints them: "      --out=DIR" or "  -o, --out=DIR". */
static void each_option(const char *command,
                        void (*found)(const char *option, const char *command, const char *text),
                        const char *text)
{
    struct process_result help = tacit(command, "--help");
    assert_int_equal(help.code, 0);
    for (const char *at = help.out; (at = strstr(at, ", --")) != NULL; at += 4) {
        char option[64];
        assert_int_equal(sscanf(at + 4, "%63[a-z-]", option), 1);
        found(option, command, text);
    }
}

static void option_is_in_man(const char *option, const char *command, const char *text)
{
    char section[128];
    char wanted[128];
    (void)snprintf(section, sizeof section, "%s %s\n",
                   strstr(text, ".SS tacitd") ? ".SS tacitd" : ".SS tacit", command);
    size_t size = (size_t)snprintf(wanted, sizeof wanted, "\\-\\-");
    for (char const *at = option; *at != '\0' && size < sizeof wanted - 8; at++) {
        if (*at == '-')
            wanted[size++] = '\\';
        wanted[size++] = *at;
    }
    (void)snprintf(wanted + size, sizeof wanted - size, "\\fR");
    char const *const start = strstr(text, section);
    assert_non_null(start);
    char const *const next = strstr(start + 1, "\n.SS ");
    char const *const found = strstr(start, wanted);
    if (found == NULL || (next != NULL && found > next))
        fail_msg("%s of %s is not in the man page", option, command);
}

struct pages {
    const char *own;
    const char *daemons;
};

/* In the page of tacit, or there only where to look. */
static void command_is_in_man(const char *command, const void *context)
{
    struct pages const *const pages = context;
    char own[128];
    char daemon[128];
    (void)snprintf(own, sizeof own, ".SS tacit %s\n", command);
    (void)snprintf(daemon, sizeof daemon, ".SS tacitd %s\n", command);
    bool const is_daemon = strcmp(command, "manual") != 0 && strstr(pages->daemons, daemon) != NULL;
    assert_non_null(strstr(pages->own, own));
    each_option(command, option_is_in_man, is_daemon ? pages->daemons : pages->own);
}

TEST(the_man_pages_have_every_option)
{
    struct process_result man = tacit("manual", "man");
    struct process_result daemons = tacitd("manual", "man");
    assert_int_equal(man.code, 0);
    assert_int_equal(daemons.code, 0);
    for (const char *at = man.out; *at != '\0'; at++)
        assert_true(isascii((unsigned char)*at)); /* options without a letter have none there */
    struct pages const pages = {man.out, daemons.out};
    assert_true(each_command(command_is_in_man, &pages) >= 10);
}

/* What tacit says of the commands that it calls tacitd for, tacitd says of itself. */
TEST(the_daemons_commands_are_listed_alike)
{
    struct process_result own = tacit("--help", NULL);
    struct process_result daemons = tacitd("--help", NULL);
    uint32_t count = 0;
    assert_int_equal(daemons.code, 0);
    for (char *line = strtok(daemons.out, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if (line[0] == ' ' && strncmp(line, "  help ", 7) != 0) { /* which has less to explain */
            assert_non_null(strstr(own.out, line));
            count++;
        }
    assert_true(count >= 7);
}

/* Completes "tacit WORD" or "tacit COMMAND WORD" in a real bash. */
static struct process_result complete(const char *command, const char *word)
{
    char script[1024];
    (void)snprintf(script, sizeof script,
                   "PATH=$(dirname '%s'):$PATH; eval \"$(tacit manual bash)\"; COMP_WORDS=(tacit "
                   "%s %s); COMP_CWORD=%d; _tacit; "
                   "printf '%%s\\n' \"${COMPREPLY[@]}\"",
                   process_tacit(), command, word, *command == '\0' ? 1 : 2);
    return run((const char *const[]){"/bin/bash", "-c", script, NULL});
}

static void assert_completes(const char *command, const char *word, const char *wanted)
{
    struct process_result result = complete(command, word);
    assert_int_equal(result.code, 0);
    char line[128];
    (void)snprintf(line, sizeof line, "%s\n", wanted);
    if (strstr(result.out, line) == NULL)
        fail_msg("'%s %s' becomes '%s', not '%s'", command, word, result.out, wanted);
}

static void command_completes(const char *command, const void *context)
{
    assert_completes("", command, command);
    assert_completes(command, "--hel", "--help");
}

TEST(bash_completes_commands_and_options)
{
    (void)each_command(command_completes, NULL);
    assert_completes("run", "--ru", "--runs=");
    assert_completes("compare", "--ov", "--over=");
}

TEST(the_other_shells_hear_of_every_command)
{
    static const char *const shells[] = {"zsh", "fish"};
    for (size_t i = 0; i < 2; i++) {
        struct process_result result = tacit("manual", shells[i]);
        assert_int_equal(result.code, 0);
        assert_non_null(strstr(result.out, "compare"));
        assert_non_null(strstr(result.out, i == 0 ? "--over=[" : "-l over"));
        for (const char *byte = result.out; *byte != '\0'; byte++)
            assert_true(isascii(*byte));
    }
}

TEST(another_word_is_refused)
{
    static const char *const words[] = {NULL, "info"};
    for (size_t i = 0; i < 2; i++) {
        struct process_result result = tacit("manual", words[i]);
        assert_int_equal(result.code, 2);
        assert_non_null(strstr(result.err, "one of man, bash, zsh and fish is needed"));
    }
}

/* Whatever was asked for: what did not arrive was not done. */
TEST(stdout_that_is_full_is_said_by_every_command)
{
    char const *const source = getenv("TACIT_SOURCE");
    char shop[PATH_MAX];
    char papers[PATH_MAX];
    assert_non_null(source);
    (void)snprintf(shop, sizeof shop, "%s/experiments/hospital/hospital.yaml", source);
    (void)snprintf(papers, sizeof papers, "%s/experiments", source);
    char const *const calls[][4] = {{"--help"},
                                    {"--version"},
                                    {"run", "--help"},
                                    {"help", "keys", "--schema"},
                                    {"help", "keys", "agent"},
                                    {"plan", shop, "--runs=1", "--quiet"},
                                    {"manual", "man"},
                                    {"check", shop},
                                    {"run", shop, "--runs=1", "--json"},
                                    {"reproduce", "--list", "-e", papers},
                                    {"bound", "--pulls=10", "--mean=0.5"}};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        char const *const *const call = calls[i];
        struct process_plan const full = {
            .arguments =
                (const char *const[]){process_tacit(), call[0], call[1], call[2], call[3], NULL},
            .output = "/dev/full"};
        struct process_result result = process_run(&full);
        if (result.code != 1 || strstr(result.err, "could not be printed: No space left") == NULL)
            fail_msg("tacit %s: code %d, \"%s\"", call[0], result.code, result.err);
    }
}

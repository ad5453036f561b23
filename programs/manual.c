/* tacit manual: the man page and the completions of shells, from the same tables that parse the
 * words. */
#include "commands.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The man page ---------------------------------------------------------------------------- */

/* Text of a man page: what roff would take for its own is written so that it does not. */
static void put_roff(const char *text)
{
    bool at_line_start = true;
    for (; *text != '\0'; text++) {
        if (at_line_start && (*text == '.' || *text == '\''))
            (void)fputs("\\&", stdout);
        if (*text == '\\')
            (void)fputs("\\e", stdout);
        else if (*text == '-')
            (void)fputs("\\-", stdout);
        else if (*text != '\v')
            (void)putchar(*text);
        at_line_start = *text == '\n';
    }
}

static void put_options(const struct command *command)
{
    for (const struct argp_option *option = command->options; option->name != NULL; option++) {
        (void)fputs(".TP\n\\fB", stdout);
        if (isascii(option->key)) /* others have no letter */
            (void)printf("\\-%c\\fR, \\fB", option->key);
        (void)fputs("\\-\\-", stdout);
        put_roff(option->name);
        (void)fputs("\\fR", stdout);
        if (option->arg != NULL) {
            (void)fputs("=\\fI", stdout);
            put_roff(option->arg);
            (void)fputs("\\fR", stdout);
        }
        (void)putchar('\n');
        put_roff(option->doc);
        (void)putchar('\n');
    }
}

static void put_command(const struct command *command)
{
    char const *words = command->operands == NULL ? "" : command->operands;
    (void)printf(".SS %s %s\n", program_name, command->name);
    while (words != NULL) {
        size_t const length = strcspn(words, "\n");
        char line[256];
        (void)snprintf(line, sizeof line, "%.*s", (int)length, words);
        (void)printf(".B %s %s\n[OPTION...] ", program_name, command->name);
        put_roff(line);
        (void)fputs("\n.br\n", stdout);
        words = words[length] == '\n' ? words + length + 1 : NULL;
    }
    (void)fputs(".PP\n", stdout);
    put_roff(command->help);
    (void)putchar('\n');
    put_options(command);
}

static void put_man(void)
{
    (void)printf(".TH %s 1 \"\" \"tacit %s\" \"User Commands\"\n"
                 ".SH NAME\n%s \\- private, communication\\-efficient federated bandits\n"
                 ".SH SYNOPSIS\n.B %s\n\\fICOMMAND\\fR [ARGUMENTS]\n.SH COMMANDS\n",
                 program_name, TACIT_VERSION, program_name, program_name);
    for (uint32_t i = 0; commands_all[i] != NULL; i++)
        put_command(commands_all[i]);
    for (uint32_t i = 0; commands_elsewhere[i].name != NULL; i++)
        (void)printf(".SS %s %s\n%s; see tacitd(1).\n", program_name, commands_elsewhere[i].name,
                     commands_elsewhere[i].summary);
    (void)fputs(".SH EXIT STATUS\n0 done (also: a daemon that a signal stopped), 1 it could not be "
                "done, 2 wrong input, 3 a coordinator lost its state, 130 stopped by a signal; of "
                "status: see there.\n",
                stdout);
}

/* ---- Completions ----------------------------------------------------------------------------- */

static void put_bash(void)
{
    (void)printf("# bash completion of %s\n_%s()\n{\n", program_name, program_name);
    (void)fputs("    local word=\"${COMP_WORDS[COMP_CWORD]}\" options=\"\"\n    COMPREPLY=()\n"
                "    if [ \"$COMP_CWORD\" = 1 ]; then\n        options=\"",
                stdout);
    for (uint32_t i = 0; commands_all[i] != NULL; i++)
        (void)printf("%s%s", i == 0 ? "" : " ", commands_all[i]->name);
    for (uint32_t i = 0; commands_elsewhere[i].name != NULL; i++)
        (void)printf(" %s", commands_elsewhere[i].name);
    (void)fputs("\"\n    else\n        case \"${COMP_WORDS[1]}\" in\n", stdout);
    for (uint32_t i = 0; commands_all[i] != NULL; i++) {
        (void)printf("        %s) options=\"", commands_all[i]->name);
        for (const struct argp_option *option = commands_all[i]->options; option->name != NULL;
             option++)
            (void)printf("%s--%s%s", option == commands_all[i]->options ? "" : " ", option->name,
                         option->arg == NULL ? "" : "=");
        (void)fputs("\" ;;\n", stdout);
    }
    for (uint32_t i = 0; commands_elsewhere[i].name != NULL; i++)
        (void)printf("%s%s", i == 0 ? "        " : "|", commands_elsewhere[i].name);
    if (commands_elsewhere[0].name != NULL)
        (void)fputs(
            ") declare -F _tacitd >/dev/null || eval \"$(tacitd manual bash 2>/dev/null)\"\n"
            "            declare -F _tacitd >/dev/null && _tacitd\n            return ;;\n",
            stdout);
    (void)fputs("        esac\n    fi\n"
                "    if [ \"$COMP_CWORD\" = 1 ] || [ \"${word#-}\" != \"$word\" ]; then\n"
                "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                "        [ \"${COMPREPLY[0]%=}\" = \"${COMPREPLY[0]-}\" ] || compopt -o nospace "
                "2>/dev/null\n    fi\n}\n",
                stdout);
    (void)printf("complete -o default -F _%s %s\n", program_name, program_name);
}

/* Text in single quotes: a backslash before what is among `escaped`, `quote` for a single quote. */
static void put_quoted(const char *text, const char *escaped, const char *quote)
{
    (void)putchar('\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputs(quote, stdout);
            continue;
        }
        if (strchr(escaped, *text) != NULL)
            (void)putchar('\\');
        (void)putchar(*text);
    }
    (void)putchar('\'');
}

/* Of all commands, those of another executable too. */
static void each_command(void (*put)(const char *name, const char *summary))
{
    for (uint32_t i = 0; commands_all[i] != NULL; i++)
        put(commands_all[i]->name, commands_all[i]->summary);
    for (uint32_t i = 0; commands_elsewhere[i].name != NULL; i++)
        put(commands_elsewhere[i].name, commands_elsewhere[i].summary);
}

static void put_zsh_name(const char *name, const char *summary)
{
    (void)printf("        %s:", name);
    put_quoted(summary, ":", "'\\''");
    (void)putchar('\n');
}

static void put_zsh(void)
{
    (void)printf("#compdef %s\n_%s() {\n    local -a commands\n    commands=(\n", program_name,
                 program_name);
    each_command(put_zsh_name);
    (void)fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
                "        return\n    fi\n    case $words[2] in\n",
                stdout);
    for (uint32_t i = 0; commands_all[i] != NULL; i++) {
        (void)printf("    %s)\n        _arguments", commands_all[i]->name);
        for (const struct argp_option *option = commands_all[i]->options; option->name != NULL;
             option++) {
            (void)printf(" \\\n            '--%s%s['", option->name,
                         option->arg == NULL ? "" : "=");
            put_quoted(option->doc, "[]:", "'\\''");
            (void)printf("']%s%s%s'", option->arg == NULL ? "" : ":",
                         option->arg == NULL ? "" : option->arg,
                         option->arg == NULL ? "" : ":_files");
        }
        (void)fputs(" \\\n            '*:file:_files' ;;\n", stdout);
    }
    (void)printf("    esac\n}\n_%s \"$@\"\n", program_name);
}

static void put_fish_name(const char *name, const char *summary)
{
    (void)printf("complete -c %s -n __fish_use_subcommand -a %s -d ", program_name, name);
    put_quoted(summary, "\\", "\\'");
    (void)putchar('\n');
}

static void put_fish(void)
{
    (void)printf("# fish completion of %s\n", program_name);
    each_command(put_fish_name);
    for (uint32_t i = 0; commands_all[i] != NULL; i++)
        for (const struct argp_option *option = commands_all[i]->options; option->name != NULL;
             option++) {
            (void)printf("complete -c %s -n '__fish_seen_subcommand_from %s'", program_name,
                         commands_all[i]->name);
            if (isascii(option->key)) /* others have no letter */
                (void)printf(" -s %c", option->key);
            (void)printf(" -l %s%s -d ", option->name, option->arg == NULL ? "" : " -r");
            put_quoted(option->doc, "\\", "\\'");
            (void)putchar('\n');
        }
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*put)(void);
} formats[] = {{"man", put_man}, {"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

static void parse(const struct command *command, void *into, int key, char *value)
{
    const char **const format = into;
    if (key == COMMAND_OPERAND && *format == NULL)
        *format = value;
    else if (key == COMMAND_OPERAND || *format == NULL)
        command_refuse_usage(command, "one of man, bash, zsh and fish is needed");
}

static int manual_command(const struct command *command, int argc, char **argv)
{
    const char *format = NULL;
    command_parse(command, &format, argc, argv);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, format) == 0) {
            formats[i].put();
            return EXIT_DONE;
        }
    command_refuse_usage(command, "one of man, bash, zsh and fish is needed");
}

static const struct argp_option options[] = {COMMAND_LAST_OPTIONS};

const struct command command_manual = {
    .name = "manual",
    .summary = "print the man page, or the completions of a shell",
    .options = options,
    .operands = "man|bash|zsh|fish",
    .help = "Print the man page of tacit, or what a shell needs to complete its commands. 'make "
            "install' puts them where they are looked for.",
    .parse = parse,
    .run = manual_command,
};

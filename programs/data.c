/* tacit data: which data sets there are, whether they are whole, where they lie. */
#include "commands.h"
#include "tacit/data.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "folder/file" into `name`. */
static void join(const char *folder, const char *file, char name[TACIT_PATH_BYTES])
{
    (void)snprintf(name, TACIT_PATH_BYTES, "%s/%s", folder, file);
}

/* The directory in which the data set lies; false if it is not here. */
static bool directory_of(const struct tacit_dataset *set, char directory[TACIT_PATH_BYTES])
{
    char name[TACIT_PATH_BYTES];
    join(set->name, set->files[0], name);
    if (tacit_dataset_find(NULL, name, directory) != TACIT_OK)
        return false;
    directory[strlen(directory) - strlen(name) - 1] = '\0';
    return true;
}

/* NULL: none of that name, and that was said. */
static const struct tacit_dataset *find(const char *name)
{
    size_t count;
    struct tacit_dataset const *const sets = tacit_dataset_list(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(sets[i].name, name) == 0)
            return &sets[i];
    (void)fprintf(stderr, "tacit data: '%s' is not a data set that tacit knows; allowed:", name);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(stderr, "%s %s", i == 0 ? "" : ",", sets[i].name);
    (void)fprintf(stderr, "\n");
    return NULL;
}

static int list(void)
{
    size_t count;
    struct tacit_dataset const *const sets = tacit_dataset_list(&count);
    for (size_t i = 0; i < count; i++) {
        char directory[TACIT_PATH_BYTES];
        bool const is_here = directory_of(&sets[i], directory);
        (void)printf("%-12s %-8s %s (%s)\n", sets[i].name, is_here ? "here" : "absent",
                     sets[i].content, sets[i].terms);
    }
    return EXIT_DONE;
}

/* `is_required`: to be absent is a failure. */
static int verify_one(const struct tacit_dataset *set, bool is_required)
{
    char directory[TACIT_PATH_BYTES];
    struct tacit_error error;
    int code = EXIT_DONE;
    if (!directory_of(set, directory)) {
        (void)printf("%s: absent\n", set->name);
        return is_required ? EXIT_FAILED : EXIT_DONE;
    }
    for (size_t i = 0; set->files[i] != NULL; i++) {
        char name[TACIT_PATH_BYTES];
        join(set->name, set->files[i], name);
        if (tacit_dataset_verify(directory, name, &error) == TACIT_OK) {
            (void)printf("%s: ok\n", name);
        } else {
            (void)printf("%s: WRONG: %s\n", name, error.text);
            code = EXIT_FAILED;
        }
    }
    return code;
}

static int verify(int name_count, char **names)
{
    size_t count;
    int code = EXIT_DONE;
    struct tacit_dataset const *const sets = tacit_dataset_list(&count);
    for (int i = 0; i < name_count; i++) {
        struct tacit_dataset const *const set = find(names[i]);
        if (set == NULL)
            return EXIT_WRONG_INPUT;
        if (verify_one(set, true) != EXIT_DONE)
            code = EXIT_FAILED;
    }
    for (size_t i = 0; name_count == 0 && i < count; i++)
        if (verify_one(&sets[i], false) != EXIT_DONE)
            code = EXIT_FAILED;
    return code;
}

static int print_path(const char *name)
{
    char path[TACIT_PATH_BYTES];
    char directories[TACIT_PATH_BYTES];
    if (strchr(name, '/') != NULL) {
        if (tacit_dataset_find(NULL, name, path) == TACIT_OK) {
            (void)printf("%s\n", path);
            return EXIT_DONE;
        }
    } else {
        struct tacit_dataset const *const set = find(name);
        if (set == NULL)
            return EXIT_WRONG_INPUT;
        if (directory_of(set, path)) {
            (void)printf("%s/%s\n", path, set->name);
            return EXIT_DONE;
        }
    }
    tacit_dataset_directories(directories);
    (void)fprintf(stderr, "tacit data: '%s' is not in a data directory (%s)\n", name,
                  *directories == '\0' ? "TACIT_DATA names none" : directories);
    return EXIT_FAILED;
}

/* The words: a verb and its names. */
struct request {
    char **operands;
    int count;
};

static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    (void)command;
    if (key == COMMAND_OPERAND)
        request->operands[request->count++] = value;
}

static const struct argp_option options[] = {COMMAND_LAST_OPTIONS};

static int data_command(const struct command *command, int argc, char **argv)
{
    struct request request = {calloc((size_t)argc, sizeof(char *)), 0};
    int code = EXIT_FAILED;
    if (request.operands == NULL)
        return EXIT_FAILED;
    command_parse(command, &request, argc, argv);
    char const *const verb = request.count > 0 ? request.operands[0] : "";
    if (strcmp(verb, "list") == 0 && request.count == 1)
        code = list();
    else if (strcmp(verb, "verify") == 0)
        code = verify(request.count - 1, request.operands + 1);
    else if (strcmp(verb, "path") == 0 && request.count == 2)
        code = print_path(request.operands[1]);
    else
        command_refuse(command,
                       "cannot do '%s'; allowed: list, verify [NAME...], path NAME (see 'tacit "
                       "data --help')",
                       verb);
    free(request.operands);
    return code;
}

const struct command command_data = {
    .name = "data",
    .summary = "list, verify or find data sets",
    .options = options,
    .operands = "list\nverify [NAME...]\npath NAME",
    .help = "list: the data sets that tacit knows, and which are here. verify: compare the files "
            "of the data sets (all that are here, or those named) with SHA256SUMS. path: print "
            "where a data set, or one of its files like diabetes130/diabetic_data.csv, "
            "lies.\n\vData sets are looked for in $TACIT_DATA and in ~/.local/share/tacit.",
    .parse = parse,
    .run = data_command,
};

/* tacit reproduce: runs the experiments of a paper, draws its figures and says for each of its
 * claims whether it holds. */
#include "arguments.h"
#include "commands.h"
#include "drawing.h"
#include "progress.h"
#include "../src/study/reproduction.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAPERS_MAX 32u
#define PATH_BYTES 4096u
#define ID_BYTES 136u

/* The papers of the experiments folder. */
struct shelf {
    char folder[PATH_BYTES];
    struct reproduction papers[PAPERS_MAX];
    uint32_t count;
};

/* ---- Finding the papers ---- */

static bool is_directory(const char *path)
{
    DIR *const directory = opendir(path);
    if (directory != NULL)
        (void)closedir(directory);
    return directory != NULL;
}

/* The folder beside the program: of a build in the project, or of an installation. */
static bool find_beside(const char *relative, char path[PATH_BYTES])
{
    return tacit_config_beside_program(relative, path) && is_directory(path);
}

/* Where papers are: what the user says, else beside the program, else here. */
static void find_folder(const struct arguments *arguments, char path[PATH_BYTES])
{
    char const *const named =
        arguments->experiments != NULL ? arguments->experiments : getenv("TACIT_EXPERIMENTS");
    if (named != NULL && *named != '\0') {
        (void)snprintf(path, PATH_BYTES, "%s", named);
        return;
    }
    if (!find_beside("../experiments", path) && !find_beside("../share/tacit/experiments", path))
        (void)snprintf(path, PATH_BYTES, "experiments");
}

static int compare_papers(const void *left, const void *right)
{
    struct reproduction const *const a = left;
    struct reproduction const *const b = right;
    return strcmp(a->claims->paper, b->claims->paper);
}

/* A folder without claims.yaml is no paper. */
static enum tacit_status add_paper(struct shelf *shelf, const char *name, struct tacit_error *error)
{
    char path[PATH_BYTES + 300];
    (void)snprintf(path, sizeof path, "%s/%s/claims.yaml", shelf->folder, name);
    if (access(path, F_OK) != 0)
        return TACIT_OK;
    if (shelf->count == PAPERS_MAX) {
        (void)snprintf(error->text, sizeof error->text,
                       "tacit reproduce: too many papers in '%.400s'; allowed: at most %u",
                       shelf->folder, PAPERS_MAX);
        return TACIT_INVALID;
    }
    struct reproduction *const paper = &shelf->papers[shelf->count];
    TACIT_TRY(reproduction_load(paper, path, error));
    shelf->count++;
    for (uint32_t i = 0; i + 1 < shelf->count; i++)
        if (strcmp(shelf->papers[i].claims->paper, paper->claims->paper) == 0) {
            (void)snprintf(error->text, sizeof error->text,
                           "%.400s: paper: '%s' is in another folder too; allowed: one of each",
                           path, paper->claims->paper);
            return TACIT_INVALID;
        }
    return TACIT_OK;
}

static enum tacit_status load_papers(struct shelf *shelf, struct tacit_error *error)
{
    enum tacit_status status = TACIT_OK;
    DIR *const directory = opendir(shelf->folder);
    if (directory != NULL) {
        for (struct dirent *entry = readdir(directory); entry != NULL && status == TACIT_OK;
             entry = readdir(directory))
            if (entry->d_name[0] != '.')
                status = add_paper(shelf, entry->d_name, error);
        (void)closedir(directory);
    }
    if (status == TACIT_OK && shelf->count == 0) {
        (void)snprintf(
            error->text, sizeof error->text,
            "tacit reproduce: no paper in '%.400s'; allowed: a folder whose folders have "
            "a claims.yaml, by --experiments DIR or TACIT_EXPERIMENTS",
            shelf->folder);
        status = TACIT_INVALID;
    }
    if (shelf->count > 0)
        qsort(shelf->papers, shelf->count, sizeof *shelf->papers, compare_papers);
    return status;
}

/* ---- Choosing ---- */

/* The ID of a figure; of the paper itself if figure == figure_count. */
static void write_id(const struct tacit_claims *claims, uint32_t figure, char id[ID_BYTES])
{
    bool const is_paper = figure == claims->figure_count;
    (void)snprintf(id, ID_BYTES, "%s%s%s", claims->paper, is_paper ? "" : "-",
                   is_paper ? "" : claims->figures[figure].id);
}

/* Is there something of this ID? It is then wanted; a figure that takes hours only by its own ID,
 * or in a fast version that does less than to leave out runs. NULL wants every paper that does not
 * take hours. */
static bool want(struct shelf *shelf, const char *wanted, bool is_fast)
{
    bool found = false;
    char id[ID_BYTES];
    for (uint32_t i = 0; i < shelf->count; i++) {
        struct reproduction *const paper = &shelf->papers[i];
        for (uint32_t figure = 0; figure < paper->claims->figure_count; figure++) {
            write_id(paper->claims, figure, id);
            if (wanted == NULL
                    ? paper->claims->is_long
                    : strcmp(wanted, paper->claims->paper) != 0 && strcmp(wanted, id) != 0)
                continue;
            bool const is_smaller = is_fast && paper->claims->fast_note != NULL;
            bool const takes_hours = paper->claims->figures[figure].hours != 0 && !is_smaller;
            bool const is_own = wanted != NULL && strcmp(wanted, id) == 0;
            if (takes_hours && !is_own)
                paper->figures_left[figure] = true;
            else
                paper->figures_wanted[figure] = true;
            found = true;
        }
    }
    return found;
}

static void refuse_id(const struct shelf *shelf, const char *wrong)
{
    static char ids[512][ID_BYTES];
    const char *words[513] = {NULL};
    size_t count = 0;
    for (uint32_t i = 0; i < shelf->count; i++) {
        struct tacit_claims const *const claims = shelf->papers[i].claims;
        for (uint32_t figure = 0; figure <= claims->figure_count && count < 512; figure++) {
            write_id(claims, figure, ids[count]);
            words[count] = ids[count];
            count++;
        }
    }
    char const *const guess = tacit_config_nearest(wrong, words);
    (void)fprintf(stderr, "tacit reproduce: there is no '%.80s'; ", wrong);
    if (guess != NULL)
        (void)fprintf(stderr, "did you mean '%s'? ", guess);
    (void)fprintf(stderr, "allowed:");
    for (size_t i = 0; i < count; i++)
        (void)fprintf(stderr, "%s %s", i == 0 ? "" : ",", words[i]);
    (void)fprintf(stderr, "\n");
}

static int list(const struct shelf *shelf)
{
    char id[ID_BYTES];
    for (uint32_t i = 0; i < shelf->count; i++) {
        struct tacit_claims const *const claims = shelf->papers[i].claims;
        (void)printf("%-12s  %s\n", claims->paper, claims->title);
        for (uint32_t figure = 0; figure < claims->figure_count; figure++) {
            write_id(claims, figure, id);
            (void)printf("%-12s  %s\n", id, claims->figures[figure].title);
        }
    }
    return EXIT_DONE;
}

static bool is_wanted(const struct reproduction *paper)
{
    for (uint32_t i = 0; i < paper->claims->figure_count; i++)
        if (paper->figures_wanted[i] || paper->figures_left[i])
            return true;
    return false;
}

/* The papers that were asked for, all where none was; and this program. */
static int cite(const struct shelf *shelf, const struct arguments *arguments)
{
    for (uint32_t i = 0; i < shelf->count; i++)
        if (shelf->papers[i].claims->cite != NULL &&
            (arguments->id_count == 0 || is_wanted(&shelf->papers[i])))
            (void)printf("%s\n", shelf->papers[i].claims->cite);
    (void)printf("@software{tacit,\n"
                 "  title   = {tacit: private, communication-efficient federated bandits},\n"
                 "  author  = {{The tacit authors}},\n"
                 "  year    = {2026},\n"
                 "  version = {" TACIT_VERSION "}\n"
                 "}\n");
    return EXIT_DONE;
}

/* ---- Running and telling ---- */

/* Everything is loaded before anything runs: wrong input is found at once. */
static enum tacit_status prepare_all(struct shelf *shelf, bool is_fast, struct tacit_error *error)
{
    for (uint32_t i = 0; i < shelf->count; i++)
        TACIT_TRY(reproduction_prepare(&shelf->papers[i], is_fast, error));
    return TACIT_OK;
}

static enum tacit_status run_all(struct shelf *shelf, const struct arguments *arguments,
                                 struct tacit_error *error)
{
    struct tacit_sim_control *const control = simulate_control();
    struct progress progress;
    enum tacit_status status = TACIT_OK;
    uint32_t runs = 0;
    for (uint32_t i = 0; i < shelf->count; i++)
        runs += reproduction_run_count(&shelf->papers[i]);
    progress_start(&progress, control, runs, !arguments->quiet);
    for (uint32_t i = 0; i < shelf->count && status == TACIT_OK; i++)
        status = reproduction_run(&shelf->papers[i], arguments->resume,
                                  simulate_threads(arguments->thread_count), control, error);
    progress_stop(&progress);
    return status;
}

/* On stdout, and with --out into a directory of its own. */
static enum tacit_status print_paper(const struct arguments *arguments,
                                     const struct tacit_report_paper *report, bool is_first,
                                     struct tacit_error *error)
{
    if (!is_first)
        (void)fputs(arguments->json ? "," : "\n", stdout);
    enum tacit_status const status = arguments->json ? tacit_report_paper_json(report, stdout)
                                                     : tacit_report_paper_table(report, stdout);
    if (status != TACIT_OK) {
        (void)snprintf(error->text, sizeof error->text,
                       "tacit reproduce: the results could not be printed");
        return status;
    }
    if (arguments->out == NULL)
        return TACIT_OK;
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", arguments->out, report->id);
    TACIT_TRY(tacit_report_paper_write(report, path, error));
    if (arguments->format != NULL)
        TACIT_TRY(drawing_convert(report, path, arguments->format, error));
    if (!arguments->json)
        (void)printf("Report: %s/report.html\n", path);
    return TACIT_OK;
}

/* Result: the exit code; all_printed: it says what the verdicts are, not what went wrong. */
static int print_papers(struct shelf *shelf, const struct arguments *arguments, bool *all_printed)
{
    struct tacit_error error = {""};
    enum tacit_status status = TACIT_OK;
    bool is_first = true;
    bool as_recorded = true;
    (void)fputs(arguments->json ? "{\"papers\": [" : "", stdout);
    for (uint32_t i = 0; i < shelf->count && status == TACIT_OK; i++) {
        struct reproduction *const paper = &shelf->papers[i];
        if (!is_wanted(paper))
            continue;
        status = reproduction_report(paper, arguments->fast);
        if (status == TACIT_OK)
            status = print_paper(arguments, &paper->report, is_first, &error);
        as_recorded = as_recorded && status == TACIT_OK && tacit_report_as_recorded(&paper->report);
        is_first = false;
    }
    (void)fputs(arguments->json ? "]}\n" : "", stdout);
    *all_printed = status == TACIT_OK;
    if (status != TACIT_OK) {
        (void)command_report(error.text[0] == '\0' ? "reproduce" : NULL, status, &error);
        return EXIT_FAILED;
    }
    return as_recorded ? EXIT_DONE : EXIT_FAILED;
}

/* All has been told: what was kept is of no more use. */
static void forget_all(const struct shelf *shelf, const struct arguments *arguments)
{
    for (uint32_t i = 0; i < shelf->count; i++)
        reproduction_forget(&shelf->papers[i], arguments->resume);
    (void)rmdir(arguments->resume); /* unless something else is in it */
}

/* What is to be left behind can be: nothing runs for nothing. Returns an exit code. */
static int try_outputs(const struct arguments *arguments)
{
    struct tacit_error error = {""};
    int code = arguments_try_out(arguments, "reproduce: --out");
    if (code == EXIT_DONE && arguments->format != NULL)
        code =
            command_report("reproduce: --format", drawing_try(arguments->format, &error), &error);
    if (code != EXIT_DONE)
        return code;
    if (arguments->resume != NULL && mkdir(arguments->resume, 0777) != 0 && errno != EEXIST) {
        (void)fprintf(stderr, "tacit reproduce: --resume: %s: %s\n", arguments->resume,
                      strerror(errno));
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int reproduce(struct shelf *shelf, const struct arguments *arguments)
{
    struct tacit_error error = {""};
    find_folder(arguments, shelf->folder);
    enum tacit_status status = load_papers(shelf, &error);
    if (status != TACIT_OK)
        return command_report(NULL, status, &error);
    for (uint32_t i = 0; i < arguments->id_count; i++)
        if (!want(shelf, arguments->ids[i], arguments->fast)) {
            refuse_id(shelf, arguments->ids[i]);
            return EXIT_WRONG_INPUT;
        }
    if (arguments->list)
        return list(shelf);
    if (arguments->cite)
        return cite(shelf, arguments);
    if (arguments->id_count == 0)
        (void)want(shelf, NULL, arguments->fast);
    status = prepare_all(shelf, arguments->fast, &error);
    if (status != TACIT_OK)
        return command_report(NULL, status, &error);
    int code = try_outputs(arguments);
    if (code != EXIT_DONE)
        return code;
    status = run_all(shelf, arguments, &error);
    if (status == TACIT_INTERRUPTED) {
        (void)fprintf(stderr, "tacit reproduce: stopped; %s\n",
                      arguments->resume == NULL ? "nothing was written"
                                                : "the same call goes on from there");
        return EXIT_STOPPED;
    }
    if (status != TACIT_OK)
        return command_report("reproduce", status, &error);
    bool all_printed;
    code = print_papers(shelf, arguments, &all_printed);
    if (all_printed && arguments->resume != NULL)
        forget_all(shelf, arguments);
    return code;
}

static const struct argp_option options[] = {
    {"list", 'l', NULL, 0, "List what can be reproduced", 0},
    {"cite", 'c', NULL, 0, "Print BibTeX of the papers, and of tacit", 0},
    {"fast", 'f', NULL, 0, "Few runs of each experiment: seconds instead of minutes", 0},
    {"threads", 't', "N", 0, "Threads to spread the runs over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0,
     "Write report.html, claims.md, results.json, curves.csv and the figures to DIR/PAPER", 0},
    {"format", 'F', "WORD", 0,
     "Figures also as png or pdf (needs rsvg-convert of librsvg); svg is always there", 0},
    {"resume", 'R', "DIR", 0,
     "Keep finished runs in DIR, and go on from those in it; removed when all is done", 0},
    {"experiments", 'e', "DIR", 0,
     "Folder of the papers (default: $TACIT_EXPERIMENTS, or the one beside the program)", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    COMMAND_LAST_OPTIONS};

static int reproduce_command(const struct command *command, int argc, char **argv)
{
    struct arguments arguments = {0};
    command_parse(command, &arguments, argc, argv);
    if (arguments.format != NULL && !drawing_is_format(arguments.format))
        command_refuse(command, "--format: '%s' is not allowed; allowed: svg, png, pdf",
                       arguments.format);
    if (arguments.format != NULL && arguments.out == NULL)
        command_refuse(command, "--format needs --out DIR, where figures are written");
    struct shelf *const shelf = calloc(1, sizeof *shelf);
    if (shelf == NULL)
        return command_report(NULL, TACIT_MEMORY, &(struct tacit_error){""});
    int const code = reproduce(shelf, &arguments);
    for (uint32_t i = 0; i < shelf->count; i++)
        reproduction_free(&shelf->papers[i]);
    free(shelf);
    return code;
}

const struct command command_reproduce = {
    .name = "reproduce",
    .summary = "reproduce the figures of a paper and check its claims",
    .options = options,
    .operands = "[ID...]",
    .help =
        "Reproduce papers (like p1) or figures of them (like p1-fig4); without ID, all but the "
        "trainings on data sets, which take hours. Prints for "
        "each claim whether it holds. Code 0: every verdict is the one on record; 1: some are not.",
    .parse = arguments_parse_ids,
    .run = reproduce_command,
};

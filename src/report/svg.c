/* figure.svg: the regret curve with its band, drawn by gnuplot. The program is started without a
 * shell, and text from the experiment reaches it as octal escapes only. */
#include "internal.h"
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TITLE_CHARACTERS 80u
#define LABEL_CHARACTERS 40u

extern char **environ;

static void put_quoted(FILE *script, const char *text, uint32_t character_count)
{
    (void)fputc('"', script);
    tacit_report_put_start(script, text, TACIT_REPORT_GNUPLOT, character_count);
    (void)fputc('"', script);
}

/* gnuplot loses a tick that lies on the end of a log axis, so the ends get a hair of room. */
static void put_axis(FILE *script, char letter, const struct tacit_report_axis *axis)
{
    double const room = axis->log ? 1e-6 : 0.0;
    (void)fprintf(script, "set %crange [%s:", letter,
                  tacit_report_exact(axis->lo * (1.0 - room)).text);
    (void)fprintf(script, "%s]\nset %ctics (", tacit_report_exact(axis->hi * (1.0 + room)).text,
                  letter);
    for (uint32_t i = 0; i < axis->tick_count; i++)
        (void)fprintf(script, "%s\"%s\" %s", i == 0 ? "" : ", ",
                      tacit_report_short(axis->ticks[i], 6).text,
                      tacit_report_exact(axis->ticks[i]).text);
    (void)fputs(")\n", script);
}

static void put_data(FILE *script, const struct tacit_report_line *line)
{
    (void)fputs("$curve << END\n", script);
    for (uint32_t i = 0; i < line->count; i++) {
        double const ends[] = {line->mean[i] - line->ci95[i], line->mean[i] + line->ci95[i]};
        (void)fprintf(script, "%s ", tacit_report_exact(line->t[i]).text);
        (void)fprintf(script, "%s ", tacit_report_exact(line->mean[i]).text);
        (void)fprintf(script, "%s ", tacit_report_exact(ends[0]).text);
        (void)fprintf(script, "%s\n", tacit_report_exact(ends[1]).text);
    }
    (void)fputs("END\n", script);
}

/* A single point has no line and no area: it gets a whisker instead. */
static void put_plot(FILE *script, uint32_t point_count, uint32_t run_count)
{
    if (point_count == 0) {
        (void)fputs("set label 1 'no curve' at graph 0.5, graph 0.5 center\n"
                    "plot NaN notitle\n",
                    script);
        return;
    }
    (void)fputs(point_count == 1
                    ? "plot $curve using 1:2:3:4 with yerrorbars pt 7 lw 2 lc rgb '#1f6f8b'"
                    : "plot $curve using 1:3:4 with filledcurves fc rgb '#1f6f8b' "
                      "fs transparent solid 0.18 noborder title '95 % interval of the mean', "
                      "$curve using 1:2 with lines lw 2.5 lc rgb '#1f6f8b'",
                script);
    if (run_count == 1)
        (void)fputs(" title 'one run'\n", script);
    else
        (void)fprintf(script, " title 'mean of %u runs'\n", (unsigned)run_count);
}

static void put_script(const struct tacit_report *report, const struct tacit_report_line *line,
                       FILE *script)
{
    (void)fputs("set terminal svg noenhanced size 900,560 dynamic font 'sans-serif,15' "
                "background rgb 'white'\n"
                "set encoding utf8\n"
                "set border 3 lc rgb '#9aa5ab'\n"
                "set tics nomirror out scale 0.6 textcolor rgb '#455056'\n"
                "set grid ytics lt 1 lw 0.6 lc rgb '#e3e8ea'\n"
                "set key top left Left reverse samplen 2 textcolor rgb '#455056'\n"
                "set lmargin 11\nset rmargin 4\nset bmargin 4.5\n"
                "set logscale x\n"
                "set xlabel 'time slot t (log scale)' textcolor rgb '#455056'\n",
                script);
    put_axis(script, 'x', &line->x);
    put_axis(script, 'y', &line->y);
    (void)fputs("set ylabel ", script);
    put_quoted(script, line->name, LABEL_CHARACTERS);
    (void)fputs(" noenhanced textcolor rgb '#455056'\nset title ", script);
    put_quoted(script, report->name, TITLE_CHARACTERS);
    (void)fputs(" noenhanced textcolor rgb '#1c2327' font 'sans-serif,18'\n", script);
    if (line->count > 0)
        put_data(script, line);
    put_plot(script, line->count, report->run_count);
}

static enum tacit_status refuse(struct tacit_error *error, const char *what, int number)
{
    (void)snprintf(error->text, sizeof error->text, "figure.svg was not written: %s%s%s", what,
                   number == 0 ? "" : ": ", number == 0 ? "" : strerror(number));
    return TACIT_IO;
}

/* Errors: the number of posix_spawnp. */
static int start_gnuplot(int script, int picture, pid_t *child)
{
    char program[] = "gnuplot";
    char defaults[] = "-d"; /* not the settings of whoever runs this */
    char *const arguments[] = {program, defaults, NULL};
    posix_spawn_file_actions_t actions;
    int number = posix_spawn_file_actions_init(&actions);
    if (number != 0)
        return number;
    number = posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    if (number == 0)
        number = posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
    if (number == 0)
        number = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    if (number == 0)
        number = posix_spawnp(child, program, &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return number;
}

/* Requires: the script is rewound, and both streams are files, so that nobody waits for anybody. */
static enum tacit_status run_gnuplot(FILE *script, FILE *out, struct tacit_error *error)
{
    pid_t child;
    int const number = start_gnuplot(fileno(script), fileno(out), &child);
    if (number == ENOENT)
        return refuse(error, "gnuplot was not found", 0);
    if (number != 0)
        return refuse(error, "gnuplot could not be started", number);
    int state = 0;
    while (waitpid(child, &state, 0) < 0) {
        if (errno != EINTR)
            return refuse(error, "gnuplot was lost", errno);
    }
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127)
        return refuse(error, "gnuplot was not found", 0);
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0 || lseek(fileno(out), 0, SEEK_CUR) <= 0)
        return refuse(error, "gnuplot failed", 0);
    return TACIT_OK;
}

enum tacit_status tacit_report_svg(const struct tacit_report *report, FILE *out,
                                   struct tacit_error *error)
{
    struct tacit_report_line line;
    enum tacit_status status = tacit_report_line_new(report, &line);
    if (status != TACIT_OK) {
        (void)refuse(error, "out of memory", 0);
        return status;
    }
    FILE *const script = tmpfile();
    if (script == NULL) {
        tacit_report_line_free(&line);
        return refuse(error, "no temporary file", errno);
    }
    put_script(report, &line, script);
    tacit_report_line_free(&line);
    status = tacit_report_finish(script);
    if (status == TACIT_OK && fseek(script, 0, SEEK_SET) == 0)
        status = run_gnuplot(script, out, error);
    else
        status = refuse(error, "no temporary file", errno);
    (void)fclose(script);
    return status;
}

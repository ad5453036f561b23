/* What was released of the arms, round by round, thinned so that it stays small, in a file. */
#include "history.h"
#include "daemon/files.h"
#include "daemon/text.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "history.json"
#define ROUNDS_SHOWN_MAX 10000.0

/* ---- The file -------------------------------------------------------------------------------- */

static double *column_of(struct live_history_point *point, unsigned column)
{
    TACIT_ASSERT(column < 3);
    double *const columns[] = {point->means, point->lowers, point->uppers};
    return columns[column];
}

static json_t *tree_of(const struct live_history *history, struct live_history_point *point)
{
    json_t *const columns = json_array();
    for (unsigned column = 0; column < 3; column++) {
        json_t *const list = json_array();
        double const *const values = column_of(point, column);
        for (uint32_t arm = 0; arm < history->arm_count; arm++)
            (void)json_array_append_new(list,
                                        isnan(values[arm]) ? json_null() : json_real(values[arm]));
        (void)json_array_append_new(columns, list);
    }
    return json_pack("{s:I, s:I, s:f, s:o}", "round", (json_int_t)point->round, "pulls",
                     (json_int_t)point->pulls, "radius", point->radius, "values", columns);
}

static void write_file(struct live_history *history)
{
    json_t *const points = json_array();
    for (uint32_t i = 0; i < history->count; i++)
        (void)json_array_append_new(points, tree_of(history, &history->points[i]));
    json_t *const tree = json_pack("{s:s, s:I, s:o}", "run", history->run, "stride",
                                   (json_int_t)history->stride, "rounds", points);
    char *const text = tree == NULL ? NULL : json_dumps(tree, 0);
    if (text != NULL)
        (void)live_file_put(history->directory, FILE_NAME, text, strlen(text), UINT32_MAX);
    free(text);
    json_decref(tree);
}

/* False: the file was not written by this program. */
static bool read_point(struct live_history *history, const json_t *tree)
{
    struct live_history_point *const point = &history->points[history->count];
    json_t const *const columns = json_object_get(tree, "values");
    point->round = (uint32_t)json_integer_value(json_object_get(tree, "round"));
    point->pulls = (uint64_t)json_integer_value(json_object_get(tree, "pulls"));
    point->radius = json_number_value(json_object_get(tree, "radius"));
    for (unsigned column = 0; column < 3; column++) {
        json_t const *const list = json_array_get(columns, column);
        if (json_array_size(list) != history->arm_count)
            return false;
        for (uint32_t arm = 0; arm < history->arm_count; arm++) {
            json_t const *const value = json_array_get(list, arm);
            column_of(point, column)[arm] =
                json_is_number(value) ? json_number_value(value) : (double)NAN;
        }
    }
    history->count++;
    return true;
}

/* The set of arms that have values in the last round. */
static uint64_t drawn_last(const struct live_history *history)
{
    struct live_history_point const *const last = &history->points[history->count - 1];
    uint64_t in = 0;
    for (uint32_t arm = 0; arm < history->arm_count; arm++)
        if (!isnan(last->means[arm]) || !isnan(last->lowers[arm]))
            in |= UINT64_C(1) << arm;
    return in;
}

static void read_file(struct live_history *history)
{
    char path[4096];
    json_t *tree = NULL;
    (void)snprintf(path, sizeof path, "%.4000s/" FILE_NAME, history->directory);
    tree = json_load_file(path, 0, NULL);
    char const *const run = json_string_value(json_object_get(tree, "run"));
    json_int_t const stride = json_integer_value(json_object_get(tree, "stride"));
    json_t const *const rounds = json_object_get(tree, "rounds");
    size_t i;
    json_t *one;
    bool const is_ours = run != NULL && strcmp(run, history->run) == 0 && stride > 0 &&
                         stride < UINT32_MAX && json_array_size(rounds) < LIVE_HISTORY_POINTS;
    if (is_ours) {
        history->stride = (uint32_t)stride;
        json_array_foreach(rounds, i, one) if (!read_point(history, one)) break;
        history->in = history->count == 0 ? UINT64_MAX : drawn_last(history);
    }
    json_decref(tree);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

void live_history_open(struct live_history *history, const char *directory, const uint8_t run[16],
                       uint32_t arm_count)
{
    char name[LIVE_HEX_BYTES(16)];
    live_hex(run, 16, name);
    if (history->points != NULL && strcmp(history->run, name) == 0)
        return;
    live_history_close(history);
    *history = (struct live_history){
        .directory = directory, .arm_count = arm_count, .stride = 1, .in = UINT64_MAX};
    memcpy(history->run, name, sizeof name);
    if (arm_count <= LIVE_HISTORY_ARMS)
        history->points = calloc(LIVE_HISTORY_POINTS, sizeof *history->points);
    if (history->points != NULL)
        read_file(history);
}

void live_history_close(struct live_history *history)
{
    free(history->points);
    *history = (struct live_history){0};
}

/* Every second point goes, and from now on half as many rounds are taken. */
static void thin(struct live_history *history)
{
    TACIT_ASSERT(history->points != NULL && history->count > 0);
    for (uint32_t i = 0; 2 * i < history->count; i++)
        history->points[i] = history->points[(size_t)2 * i];
    history->count = (history->count + 1) / 2;
    history->stride *= 2;
}

void live_history_add(struct live_history *history, uint32_t round, uint64_t pulls, double radius,
                      const uint64_t *active, const double *const values[3])
{
    uint32_t const last = history->count == 0 ? 0 : history->points[history->count - 1].round;
    if (history->points == NULL || (history->count > 0 && round < last + history->stride) ||
        round == 0)
        return;
    struct live_history_point *const point = &history->points[history->count++];
    *point = (struct live_history_point){.round = round, .pulls = pulls, .radius = radius};
    for (unsigned column = 0; column < 3; column++)
        for (uint32_t arm = 0; arm < history->arm_count; arm++)
            column_of(point, column)[arm] = values[column] != NULL && (history->in >> arm & 1) != 0
                                                ? values[column][arm]
                                                : (double)NAN;
    history->in = active == NULL ? UINT64_MAX : active[0];
    if (history->count == LIVE_HISTORY_POINTS)
        thin(history);
    write_file(history);
}

/* ---- What is to come ------------------------------------------------------------------------- */

/* Half of what cannot be told of an arm's mean; 0: it is not known. */
static double half_width(const struct live_history_point *point, uint32_t arm)
{
    double const width = (point->uppers[arm] - point->lowers[arm]) / 2;
    return width > 0 ? width : point->radius;
}

/* The best arm by its mean, but for one; UINT32_MAX: there is none. */
static uint32_t best_but(const struct live_history *history, const struct live_history_point *point,
                         uint32_t but)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t arm = 0; arm < history->arm_count; arm++)
        if (arm != but && !isnan(point->means[arm]) &&
            (best == UINT32_MAX || point->means[arm] > point->means[best]))
            best = arm;
    return best;
}

/* So often a value has to change by this factor to get there; INFINITY: never. */
static double steps_to(double now, double factor, double goal)
{
    double const steps = log(goal / now) / log(factor);
    return isfinite(steps) && steps > 0 ? steps : (double)INFINITY;
}

uint32_t live_history_rounds_left(const struct live_history *history, uint64_t horizon)
{
    if (history->points == NULL || history->count < 2)
        return 0;
    struct live_history_point const *const now = &history->points[history->count - 1];
    struct live_history_point const *const before = now - 1;
    double const rounds = (double)now->round - (double)before->round;
    uint32_t const best = best_but(history, now, UINT32_MAX);
    uint32_t const next = best == UINT32_MAX ? best : best_but(history, now, best);
    /* Pulls grow, and widths shrink, by the factor that they did between the last two points. */
    double left = INFINITY;
    if (before->pulls > 0 && now->pulls > before->pulls)
        left = rounds * steps_to((double)now->pulls, (double)now->pulls / (double)before->pulls,
                                 (double)horizon);
    if (next != UINT32_MAX && half_width(now, best) < half_width(before, best)) {
        double const apart = (now->means[best] - now->means[next]) / 2;
        double const told =
            rounds * steps_to(half_width(now, best),
                              half_width(now, best) / half_width(before, best), apart);
        left = told < left ? told : left;
    }
    return left < ROUNDS_SHOWN_MAX ? (uint32_t)ceil(left) : 0;
}

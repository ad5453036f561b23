/* Measures: read by recursive descent into steps in postfix order, worked out on a stack. */
#include "measure.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STACK_MAX 64u
#define NESTING_MAX 32u
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define KEY "measure"

struct parser {
    struct config_reader *reader;
    const struct config_node *node;
    bool (*find)(void *context, const char *name, uint32_t *index);
    void *context;
    struct tacit_measure *measure;
    const char *at;
    uint32_t height; /* of the stack after the steps so far */
    uint32_t nesting;
};

static void parse_expression(struct parser *parser);
static void parse_factor(struct parser *parser);

/* ---- Words ---- */

static bool is_well(const struct parser *parser)
{
    return parser->reader->status == TACIT_OK;
}

static void skip_blanks(struct parser *parser)
{
    parser->at += strspn(parser->at, " \n\t\r");
}

/* Takes the next character if it is this one. False: it is another, or the reader has failed. */
static bool accept(struct parser *parser, char wanted)
{
    skip_blanks(parser);
    if (!is_well(parser) || *parser->at != wanted)
        return false;
    parser->at++;
    return true;
}

static void fail_expecting(struct parser *parser, const char *what)
{
    skip_blanks(parser);
    if (*parser->at == '\0')
        config_reader_fail(parser->reader, parser->node, KEY, "it ends where %s is expected", what);
    else
        config_reader_fail(parser->reader, parser->node, KEY, "'%.40s': %s is expected", parser->at,
                           what);
}

/* A name, copied; the empty text if there is none. */
static const char *copy_name(struct parser *parser)
{
    size_t const length = strspn(parser->at, LOWER) == 0 ? 0 : strspn(parser->at, LOWER DIGITS "_");
    char *const name = config_document_allocate(parser->reader->document, length + 1);
    if (name == NULL) {
        parser->reader->status = TACIT_MEMORY;
        return "";
    }
    memcpy(name, parser->at, length);
    parser->at += length;
    return name;
}

/* ---- Steps ---- */

/* Requires: there is room; a step takes at least one byte of the text. */
static void add_step(struct parser *parser, struct tacit_measure_step step)
{
    TACIT_ASSERT(parser->height + 1 > step.operand_count);
    parser->measure->steps[parser->measure->step_count++] = step;
    parser->height = parser->height - step.operand_count + 1;
    if (parser->height > STACK_MAX)
        config_reader_fail(parser->reader, parser->node, KEY,
                           "too long; %u values may stand side by side", STACK_MAX);
}

static void parse_number(struct parser *parser)
{
    char *end;
    errno = 0;
    double const number = strtod(parser->at, &end);
    if (errno != 0 || !isfinite(number)) {
        fail_expecting(parser, "a smaller number");
        return;
    }
    parser->at = end;
    add_step(parser, (struct tacit_measure_step){.kind = TACIT_MEASURE_NUMBER, .number = number});
}

/* ".METRIC" or ".METRIC@SLOT" */
static void parse_result(struct parser *parser, const char *name)
{
    struct tacit_measure_step step = {.kind = TACIT_MEASURE_RESULT};
    if (!parser->find(parser->context, name, &step.experiment)) {
        config_reader_fail(parser->reader, parser->node, KEY,
                           "'%.60s': there is no file %.60s.yaml beside this one", name, name);
        return;
    }
    if (!accept(parser, '.')) {
        fail_expecting(parser, "'.' and a metric");
        return;
    }
    step.metric = copy_name(parser);
    if (*step.metric == '\0')
        fail_expecting(parser, "a metric, like regret,");
    if (accept(parser, '@')) {
        char *end;
        errno = 0;
        step.slot = strtoull(parser->at, &end, 10);
        if (strspn(parser->at, DIGITS) == 0 || errno != 0 || step.slot == 0)
            fail_expecting(parser, "a slot, a whole number above 0,");
        else
            parser->at = end;
    }
    if (is_well(parser))
        add_step(parser, step);
}

static bool is_of_one(enum tacit_measure_kind kind)
{
    return kind == TACIT_MEASURE_ROOT || kind == TACIT_MEASURE_LOG;
}

/* "(a, b, ...)" */
static void parse_function(struct parser *parser, enum tacit_measure_kind kind)
{
    struct tacit_measure_step step = {.kind = kind};
    do {
        parse_expression(parser);
        step.operand_count++;
    } while (accept(parser, ','));
    if (!accept(parser, ')'))
        fail_expecting(parser, "',' or ')'");
    else if (is_of_one(kind) && step.operand_count != 1)
        config_reader_fail(parser->reader, parser->node, KEY,
                           "a function of one value, and here are more");
    else if (!is_of_one(kind) && step.operand_count < 2)
        config_reader_fail(parser->reader, parser->node, KEY,
                           "a function of one value; at least two are expected");
    else if (kind == TACIT_MEASURE_LAPLACE_TAIL && step.operand_count != 2)
        config_reader_fail(parser->reader, parser->node, KEY,
                           "laplace_tail is of two values: how many, and where");
    else if (kind == TACIT_MEASURE_WITHIN && step.operand_count != 3)
        config_reader_fail(parser->reader, parser->node, KEY,
                           "within is of three values: what, from where, to where");
    if (is_well(parser))
        add_step(parser, step);
}

static void parse_name(struct parser *parser)
{
    static const struct config_choice functions[] = {{"min", TACIT_MEASURE_MIN},
                                                     {"max", TACIT_MEASURE_MAX},
                                                     {"falls", TACIT_MEASURE_FALLS},
                                                     {"rises", TACIT_MEASURE_RISES},
                                                     {"sqrt", TACIT_MEASURE_ROOT},
                                                     {"ln", TACIT_MEASURE_LOG},
                                                     {"laplace_tail", TACIT_MEASURE_LAPLACE_TAIL},
                                                     {"within", TACIT_MEASURE_WITHIN},
                                                     {NULL, 0}};
    char const *const name = copy_name(parser);
    if (!accept(parser, '(')) {
        parse_result(parser, name);
        return;
    }
    for (size_t i = 0; functions[i].name != NULL; i++)
        if (strcmp(functions[i].name, name) == 0) {
            parse_function(parser, (enum tacit_measure_kind)functions[i].value);
            return;
        }
    config_reader_fail(
        parser->reader, parser->node, KEY,
        "'%.40s' is no function; allowed: min, max, falls, rises, sqrt, ln, laplace_tail, "
        "within",
        name);
}

static void parse_negative(struct parser *parser)
{
    parse_factor(parser);
    if (is_well(parser))
        add_step(parser,
                 (struct tacit_measure_step){.kind = TACIT_MEASURE_NEGATE, .operand_count = 1});
}

static void parse_parenthesis(struct parser *parser)
{
    parse_expression(parser);
    if (!accept(parser, ')'))
        fail_expecting(parser, "')'");
}

static void parse_factor(struct parser *parser)
{
    if (++parser->nesting > NESTING_MAX)
        config_reader_fail(parser->reader, parser->node, KEY, "nested too deeply; %u are allowed",
                           NESTING_MAX);
    skip_blanks(parser);
    if (accept(parser, '-'))
        parse_negative(parser);
    else if (accept(parser, '('))
        parse_parenthesis(parser);
    else if (is_well(parser) && strspn(parser->at, DIGITS) > 0)
        parse_number(parser);
    else if (is_well(parser) && strspn(parser->at, LOWER) > 0)
        parse_name(parser);
    else
        fail_expecting(parser, "a number, a function or a result like experiment.regret");
    parser->nesting--;
}

/* Operators of the same strength, from left to right. */
static void parse_chain(struct parser *parser, void (*parse_part)(struct parser *parser),
                        const char *operators, const enum tacit_measure_kind kinds[2])
{
    parse_part(parser);
    while (is_well(parser)) {
        size_t const which = accept(parser, operators[0])   ? 0
                             : accept(parser, operators[1]) ? 1
                                                            : 2;
        if (which == 2)
            return;
        parse_part(parser);
        if (is_well(parser))
            add_step(parser, (struct tacit_measure_step){.kind = kinds[which], .operand_count = 2});
    }
}

static void parse_term(struct parser *parser)
{
    static const enum tacit_measure_kind kinds[] = {TACIT_MEASURE_MULTIPLY, TACIT_MEASURE_DIVIDE};
    parse_chain(parser, parse_factor, "*/", kinds);
}

static void parse_expression(struct parser *parser)
{
    static const enum tacit_measure_kind kinds[] = {TACIT_MEASURE_ADD, TACIT_MEASURE_SUBTRACT};
    parse_chain(parser, parse_term, "+-", kinds);
}

void config_measure_read(struct config_reader *reader, const struct config_node *node,
                         bool (*find)(void *context, const char *name, uint32_t *index),
                         void *context, struct tacit_measure *measure)
{
    struct parser parser = {reader, node, find, context, measure, node->text, 0, 0};
    *measure = (struct tacit_measure){.text = node->text};
    measure->steps = config_document_allocate(reader->document,
                                              (strlen(node->text) + 1) * sizeof *measure->steps);
    if (measure->steps == NULL) {
        reader->status = TACIT_MEMORY;
        return;
    }
    parse_expression(&parser);
    skip_blanks(&parser);
    if (is_well(&parser) && *parser.at != '\0')
        fail_expecting(&parser, "an operator or the end");
}

/* ---- Working it out ---- */

/* The least of operand[i] / operand[i + 1], or of the inverse. */
static double least_ratio(const double *operands, uint32_t count, bool is_inverse)
{
    double least = INFINITY;
    for (uint32_t i = 0; i + 1 < count; i++) {
        double const ratio =
            is_inverse ? operands[i + 1] / operands[i] : operands[i] / operands[i + 1];
        least = ratio < least || isnan(ratio) ? ratio : least;
    }
    return least;
}

/* The largest with sign 1, the smallest with -1. NaN where there is one. */
static double extreme(const double *operands, uint32_t count, double sign)
{
    double most = operands[0];
    for (uint32_t i = 1; i < count; i++)
        most = sign * operands[i] > sign * most || isnan(operands[i]) ? operands[i] : most;
    return most;
}

/* The sum is the difference of two sums of n exponentials: k of the n arrivals of the first come
 * before x, with Poisson's chance; the others race with the n of the second, each next arrival a
 * fair coin, and must not be the first to be over. */
static double laplace_tail(double number, double x)
{
    if (!(number >= 1 && number <= 1000 && x >= 0) || number < floor(number) ||
        number > floor(number))
        return NAN;
    double tail = 0;
    double chance = exp(-x); /* that k came: e^-x x^k/k! */
    for (double k = 0; k < number; k++) {
        double wins = 0;
        double win = pow(2, -number); /* C(n - 1 + j, j) 2^-(n + j) */
        for (double j = 0; j < number - k; j++) {
            wins += win;
            win *= (number + j) / (2 * (j + 1));
        }
        tail += chance * wins;
        chance *= x / (k + 1);
    }
    return tail;
}

static double work_out(const struct tacit_measure_step *step, const double *operands)
{
    switch (step->kind) {
    case TACIT_MEASURE_ADD:
        return operands[0] + operands[1];
    case TACIT_MEASURE_SUBTRACT:
        return operands[0] - operands[1];
    case TACIT_MEASURE_MULTIPLY:
        return operands[0] * operands[1];
    case TACIT_MEASURE_DIVIDE:
        return operands[0] / operands[1];
    case TACIT_MEASURE_NEGATE:
        return -operands[0];
    case TACIT_MEASURE_MIN:
        return extreme(operands, step->operand_count, -1);
    case TACIT_MEASURE_MAX:
        return extreme(operands, step->operand_count, 1);
    case TACIT_MEASURE_FALLS:
        return least_ratio(operands, step->operand_count, false);
    case TACIT_MEASURE_RISES:
        return least_ratio(operands, step->operand_count, true);
    case TACIT_MEASURE_ROOT:
        return sqrt(operands[0]);
    case TACIT_MEASURE_LOG:
        return log(operands[0]);
    case TACIT_MEASURE_WITHIN:
        return isnan(operands[0]) ? NAN : operands[0] >= operands[1] && operands[0] <= operands[2];
    case TACIT_MEASURE_LAPLACE_TAIL:
        return laplace_tail(operands[0], operands[1]);
    case TACIT_MEASURE_NUMBER:
    case TACIT_MEASURE_RESULT:
        break;
    }
    return step->number;
}

double tacit_measure_value(const struct tacit_measure *measure,
                           double (*result)(void *context, const struct tacit_measure_step *step),
                           void *context)
{
    double stack[STACK_MAX];
    uint32_t height = 0;
    for (uint32_t i = 0; i < measure->step_count; i++) {
        struct tacit_measure_step const *const step = &measure->steps[i];
        height -= step->operand_count;
        stack[height] = step->kind == TACIT_MEASURE_RESULT ? result(context, step)
                                                           : work_out(step, stack + height);
        height++;
    }
    TACIT_ASSERT(height == 1);
    return stack[0];
}

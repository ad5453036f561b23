/* tacit bound: the golden bounds through the program as a user calls it, and what is refused. */
#include <math.h>
#include <jansson.h>
#include "../support/testing.h"
#include "../support/on_file.h"
#include "../support/process.h"
#include "tacit/bounds.h"

#define BOUND(...) process_tacit_run((struct process_plan){0}, PROCESS_WORDS("bound", __VA_ARGS__))

static void expect_near(const json_t *json, const char *name, double expected)
{
    double const value = json_number_value(json_object_get(json, name));
    if (!(fabs(value - expected) <= 1e-9))
        fail_msg("%s: %.12g, not %.12g", name, value, expected);
}

/* EXACT-BOUNDS 9. */
TEST(golden_bounds_are_printed)
{
    static const struct {
        const char *pulls, *noises, *sum, *epsilon, *level;
        double lower, upper, radius;
    } golden[] = {
        {"2500", "50", "987234304", "0.1", "20", 0.0993017603304, 0.657325138697, 0.281317779056},
        {"9000", "3", "9154068480", "1", "20", 0.957054758514, 0.980137260295, 0.0333781463665},
        {"1000000", "0", "394893721600", "inf", "20", 0.373538863242, 0.379667718012,
         0.00316227766017},
        {"3", "3", "-786432", "1", "12", 0, 1, 6.32028600076}};
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        json_t *const json = on_file_json(
            BOUND("--json", "--pulls", golden[i].pulls, "--noises", golden[i].noises, "--epsilon",
                  golden[i].epsilon, "--level", golden[i].level, "--sum", golden[i].sum));
        expect_near(json, "lower", golden[i].lower);
        expect_near(json, "upper", golden[i].upper);
        expect_near(json, "radius", golden[i].radius);
        json_decref(json);
    }
}

TEST(a_confidence_is_the_level_of_all_arms_at_all_looks)
{
    json_t *json = on_file_json(BOUND("-j", "-n", "400", "--mean", "0.5"));
    expect_near(json, "level", log(2 * 1 * 2 / 0.05));
    expect_near(json, "mean", 0.5);
    json_decref(json);
    json = on_file_json(BOUND("-j", "-n400", "--mean=0.5", "-c0.9", "--arms=5", "--look=3"));
    expect_near(json, "level", tacit_bounds_level(5, 3, 0.1));
    json_decref(json);
}

TEST(what_cannot_be_is_refused_with_what_is_allowed)
{
    static const struct {
        const char *options[8];
        const char *says;
    } bad[] = {{{"--mean=0.5"}, "--pulls is missing"},
               {{"-n5"}, "--mean and --sum"},
               {{"-n5", "--mean=0.5", "--sum=4"}, "--mean and --sum"},
               {{"-n5", "--mean=0.5", "-m2"}, "--noises"},
               {{"-n5", "--mean=0.5", "-e1"}, "--noises"},
               {{"-n1.5", "--mean=0.5"}, "whole number"},
               {{"-n5", "--mean=0.5", "-c1"}, "--confidence"},
               {{"-n5", "--mean=nan"}, "--mean"},
               {{"-n5", "--mean=0.5", "word"}, "no arguments"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *const *const words = bad[i].options;
        on_file_expect_wrong(BOUND(words[0], words[1], words[2], words[3]), words[0], bad[i].says);
    }
}

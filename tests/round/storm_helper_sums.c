/* The storm over published sums with two aggregators (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule const sums = rule_sums_in_rounds();
    struct storm_rule const rule =
        rule_with_helper(&sums, UINT64_C(0x4756b1006230ea0f), UINT64_C(0x1b2da414592a5955));
    return storm_main(&rule, argc, argv);
}

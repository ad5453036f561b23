/* The storm over the private linear bandit with two aggregators (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule const rule = rule_with_helper(&rule_private_glm, UINT64_C(0x67f78e7d8eedaf2f),
                                                    UINT64_C(0xd02f44ee64d3eb33));
    return storm_main(&rule, argc, argv);
}

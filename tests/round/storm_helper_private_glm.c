/* The storm over the private linear bandit with two aggregators (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule const rule = rule_with_helper(&rule_private_glm, UINT64_C(0xe1ec7b2724b20a3c),
                                                    UINT64_C(0xd02f44ee64d3eb33));
    return storm_main(&rule, argc, argv);
}

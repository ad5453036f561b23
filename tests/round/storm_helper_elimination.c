/* The storm over elimination with exact bounds with two aggregators (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule const rule = rule_with_helper(&rule_elimination, UINT64_C(0x10d4f771d87ec2dc),
                                                    UINT64_C(0xeca4bf4a35f405e7));
    return storm_main(&rule, argc, argv);
}

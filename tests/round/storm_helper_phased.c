/* The storm over the phased index with two aggregators (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule const rule =
        rule_with_helper(&rule_phased, UINT64_C(0x07fb56e62ae66862), UINT64_C(0xd158dec115f55886));
    return storm_main(&rule, argc, argv);
}

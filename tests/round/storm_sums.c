/* The storm over published sums (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule const rule = rule_sums();
    return storm_main(&rule, argc, argv);
}

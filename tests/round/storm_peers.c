/* The storm over elimination among peers (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule const rule = rule_peers();
    return storm_main(&rule, argc, argv);
}

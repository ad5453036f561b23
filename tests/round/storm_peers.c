/* The storm over elimination among peers (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    return storm_main(&rule_peers, argc, argv);
}

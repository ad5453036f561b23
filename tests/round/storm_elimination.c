/* The storm over elimination over a star (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    return storm_main(&rule_elimination, argc, argv);
}

/* The storm over play in phases (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    return storm_main(&rule_phased, argc, argv);
}

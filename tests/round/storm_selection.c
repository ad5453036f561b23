/* The storm over user selection (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    return storm_main(&rule_selection, argc, argv);
}

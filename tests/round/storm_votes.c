/* The storm over private votes (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    return storm_main(&rule_votes, argc, argv);
}

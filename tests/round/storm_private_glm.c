/* The storm over the private linear bandit with flat releases (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    return storm_main(&rule_private_glm, argc, argv);
}

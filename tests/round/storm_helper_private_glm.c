/* The storm over the private linear bandit with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_private_glm, 0xe1ec7b2724b20a3c, 0xd02f44ee64d3eb33)

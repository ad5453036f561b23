/* The storm over the private linear bandit with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_private_glm, 0x83ba972096cbbd7a, 0xb9b4e796cc0782a4)

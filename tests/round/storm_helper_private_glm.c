/* The storm over the private linear bandit with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_private_glm, 0xcd9eb5893e8838d4, 0xb9b4e796cc0782a4)

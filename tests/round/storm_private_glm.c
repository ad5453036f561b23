/* The storm over the private linear bandit with flat releases (storm.h). */
#include "storm.h"

STORM_MAIN(rule_private_glm)

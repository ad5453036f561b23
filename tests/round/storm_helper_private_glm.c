/* The storm over the private linear bandit with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_private_glm, 0xd79fa641c60c7d26, 0xcd141339772c2d64)

/* The storm over published sums with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_sums_in_rounds(), 0x4756b1006230ea0f, 0x1b2da414592a5955)

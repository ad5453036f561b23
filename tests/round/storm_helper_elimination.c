/* The storm over elimination with exact bounds with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_elimination, 0xea4354dddaae0c16, 0x4598369478e1c059)

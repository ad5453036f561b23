/* The storm over elimination with exact bounds with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_elimination, 0x38d63bc14b5aca5e, 0x04d4ccd1ab76b0f3)

/* The storm over elimination with exact bounds with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_elimination, 0x10d4f771d87ec2dc, 0xeca4bf4a35f405e7)

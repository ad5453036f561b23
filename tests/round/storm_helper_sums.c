/* The storm over published sums with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_sums_in_rounds(), 0xe8935a731d733a20, 0xa5cf1882e9ea1cc7)

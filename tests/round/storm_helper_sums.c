/* The storm over published sums with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_sums_in_rounds(), 0xe8935a731d733a20, 0xd61498fe0b1f1d63)

/* The storm over published sums with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_sums_in_rounds(), 0xc18d8ad8181b38d6, 0xc38ed771be307fcc)

/* The storm over published sums (storm.h). */
#include "storm.h"

STORM_MAIN(rule_sums())

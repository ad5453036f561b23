/* The storm over user selection (storm.h). */
#include "storm.h"

STORM_MAIN(rule_selection)

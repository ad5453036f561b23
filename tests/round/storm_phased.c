/* The storm over play in phases (storm.h). */
#include "storm.h"

STORM_MAIN(rule_phased)

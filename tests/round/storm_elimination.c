/* The storm over elimination over a star (storm.h). */
#include "storm.h"

STORM_MAIN(rule_elimination)

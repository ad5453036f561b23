/* The storm over elimination among peers (storm.h). */
#include "storm.h"

STORM_MAIN(rule_peers())

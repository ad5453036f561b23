/* The storm over private votes (storm.h). */
#include "storm.h"

STORM_MAIN(rule_votes)

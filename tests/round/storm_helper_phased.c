/* The storm over the phased index with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_phased, 0x467529dc013efce0, 0x261281f7405fb2b4)

/* The storm over the phased index with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_phased, 0x07fb56e62ae66862, 0xd158dec115f55886)

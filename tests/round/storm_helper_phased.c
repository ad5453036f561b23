/* The storm over the phased index with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_phased, 0x916537d73efec274, 0x8b7f548e4fcfb156)

/* The storm over the phased index with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_phased, 0xdfa97cc87f4b444e, 0x8b7f548e4fcfb156)

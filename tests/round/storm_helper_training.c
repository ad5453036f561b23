/* The storm over the updates of a training with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_trainings(), 0x31725e2b342c8ff4, 0xcb1c34ca2aff3c67)

/* The storm over the updates of a training with two aggregators (storm.h). */
#include "storm.h"

STORM_MAIN_OF_TWO(rule_trainings(), 0xa408aee4412ed50c, 0x714c5bd5623a224d)

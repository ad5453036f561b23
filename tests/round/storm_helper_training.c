/* The storm over the updates of a training with two aggregators (storm.h). */
#include "storm.h"

int main(int argc, char **argv)
{
    struct storm_rule training = rule_selection;
    training.field_count++; /* orders have an epsilon */
    struct storm_rule const rule =
        rule_with_helper(&training, UINT64_C(0xce47387f53f16bb2), UINT64_C(0xbd7a5b72312f0312));
    return storm_main(&rule, argc, argv);
}

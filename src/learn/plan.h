/* A model as a row of stages: what the list of its arrays and the network that runs it share. */
#ifndef TACIT_LEARN_PLAN_H
#define TACIT_LEARN_PLAN_H
#include "tacit/learn.h"

#define LEARN_STAGES_MAX 24u

enum learn_stage_kind {
    LEARN_DENSE,
    LEARN_CONVOLUTION,
    LEARN_NORM,
    LEARN_RELU,
    LEARN_POOL,
    LEARN_DROP
};
#define LEARN_KINDS 6u

struct learn_stage {
    enum learn_stage_kind kind;
    uint32_t units; /* DENSE, CONVOLUTION: outputs */
};

struct learn_plan {
    struct learn_stage stages[LEARN_STAGES_MAX];
    uint32_t stage_count;
};

/* False: the model is out of its limits. */
bool learn_plan_of(const struct tacit_model *model, struct learn_plan *plan);
#endif

/* Features that are learnt from public pictures before a run, and then stay as they are. */
#ifndef FAMILIES_SELECT_FROZEN_H
#define FAMILIES_SELECT_FROZEN_H
#include "tacit/data.h"
#include "tacit/learn.h"
#include "tacit/random.h"

/* These rows of pictures become the learner's batch, or the beginning of it: (byte - zero) unit. */
void training_load(struct tacit_learner *learner, const struct tacit_images *images,
                   const uint32_t *rows, uint32_t count, float zero, float unit);

/* training.frozen */
struct training_frozen {
    uint32_t pictures; /* public ones, which no user gets; 0: nothing is frozen */
    uint32_t labels;   /* they show only labels below this */
    uint32_t epochs;   /* of learning on them; 0: the layers stay as they were drawn */
};

/* An MLP learns from the first `frozen->pictures` of `lessons` with a label below frozen->labels
 * (Adam, rate 0.001, batches of 20), and they leave `lessons`. Then each picture of lessons and
 * exam becomes what the last hidden layer makes of it: one row of TRAINING_FROZEN_WIDTH bytes in
 * which the mean of a unit on the public pictures is TRAINING_FROZEN_MEAN and its deviation there
 * TRAINING_FROZEN_DEVIATION; cut at 0 and 255.
 * classes: labels are below it. Errors: TACIT_MEMORY; TACIT_INVALID: there are fewer such pictures,
 * *found of them; nothing is changed then. */
#define TRAINING_FROZEN_WIDTH 16u
#define TRAINING_FROZEN_MEAN 128.0F
#define TRAINING_FROZEN_DEVIATION 32.0F
enum tacit_status training_freeze(const struct training_frozen *frozen, uint32_t classes,
                                  struct tacit_rng *rng, struct tacit_images *lessons,
                                  struct tacit_images *exam, uint32_t *found);
#endif

/* The training that a selection serves: users with pictures, a model that goes round, updates that
 * are noised or not. */
#ifndef FAMILIES_SELECT_TRAINING_H
#define FAMILIES_SELECT_TRAINING_H
#include "../../config/reader.h"
#include "frozen.h"
#include "tacit/config.h"
#include "tacit/data.h"
#include "tacit/family.h"
#include "tacit/learn.h"
#include "tacit/select.h"
#include "tacit/sim.h"

enum training_data { TRAINING_MNIST, TRAINING_CIFAR10 };

/* Which pictures, and what is made of them before anybody trains. */
struct training_pictures {
    enum training_data data;
    uint32_t classes;  /* only pictures with a label below this */
    uint32_t features; /* S > 0: a picture is the means of its S x S parts */
    uint32_t exam;     /* so many pictures of the exam, the first ones; 0: all */
    struct training_frozen frozen;
};

/* What the file says. */
struct training_keys {
    bool is_on;
    struct training_pictures pictures;
    enum tacit_model_kind model;
    bool batch_norm;
    uint32_t hidden; /* CNN: dense layers before the last */
    double dropout;
    enum tacit_optimizer_kind optimizer;
    double rate;
    uint32_t batch;
    uint32_t epochs;
    uint32_t batches_max;    /* of one user in one round */
    bool is_dominant;        /* a quarter of each user's rows has one label (READINGS P5.12) */
    double sensitivity;      /* paper mode: Delta f of one coordinate */
    double clip;             /* sound mode: C, the L1 norm of an update */
    uint32_t evaluate_every; /* rounds; 0: only after the last one */
    double target;           /* an accuracy, for the time that it takes */
};

extern const struct config_choice training_labels[];
extern const struct config_key training_key_table[];
extern const struct config_key training_frozen_keys[];
void training_read_keys(struct config_reader *reader, const struct config_node *root,
                        const struct tacit_config *config, struct training_keys *keys);

/* What all runs share: pictures and the model's shape. */
struct training_plan {
    struct training_keys keys;
    enum tacit_privacy_mode mode; /* NONE: updates leave as they are */
    struct tacit_images lessons;
    struct tacit_images exam;
    float zero; /* an input of the model is (byte - zero) x unit */
    float unit;
    struct tacit_model model;
    uint64_t parameter_count;
    uint32_t shelf;                           /* > 0: its pictures are shared, of this number */
    struct tacit_sim_aggregators aggregators; /* mode sound, where there are two */
    double floor_times; /* a user's own epsilon in a round, in those of the round; 0: no noise */
};

enum tacit_status training_plan_make(const struct tacit_experiment *experiment,
                                     const struct training_keys *keys, struct training_plan *plan,
                                     struct tacit_error *error);
void training_plan_free(struct training_plan *plan);

struct training; /* of one run after the other */

/* Of the owner's memory. Errors: NULL when out of memory. */
struct training *training_new(const struct training_plan *plan, uint32_t user_count,
                              uint32_t users_per_round, void *owner);

/* Deals out the pictures of run `run`, in data sets of about these shares, and draws the first
 * model. sizes: what each user got. */
void training_begin(struct training *training, uint64_t seed, uint32_t run, uint64_t *sizes);

/* The chosen users train, and their updates join the model, weighed by their data sets; with two
 * aggregators all alike, with the noise of both in place of each user's but for a floor, at the
 * least budget of the chosen ones. Their budgets are those of the selection before it observes the
 * round. With two threads or more, two users at a time; what comes of it is the same. Errors:
 * TACIT_MEMORY, TACIT_BUDGET. */
enum tacit_status training_round(struct training *training, const struct tacit_select *select,
                                 const uint32_t *users, uint32_t count, uint32_t thread_count);

/* Share of the exam that the model gets right, and its mean loss. Errors: TACIT_MEMORY. */
enum tacit_status training_examine(struct training *training, double *accuracy, double *loss);
#endif

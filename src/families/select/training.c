/* A federated training in memory: the users of a round train side by side on two threads, if the
 * run has so many; what comes of a round does not depend on which thread took whom. */
#include "training.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "deal.h"
#include "streams.h"
#include "tacit/vector.h"

#define WORKERS 2u

/* What one thread needs to train one user after the other. */
struct worker {
    struct training *training;
    struct tacit_learner learner;
    uint32_t number;
    enum tacit_status status;
};

struct training {
    const struct training_plan *plan;
    uint32_t user_count;
    float *model;
    uint8_t *is_raw; /* d: paper mode sends it without noise */
    uint32_t *rows;  /* pictures, user after user */
    uint32_t *first; /* K + 1: into rows */
    float **moments; /* K: Adam's two rows of a user, made when it first trains */
    struct tacit_optimizer *optimizers;
    struct tacit_rng *shuffles; /* K */
    struct tacit_rng *noises;   /* K */
    double *updates;            /* m x d */
    int64_t *steps;             /* d */
    int64_t *totals;            /* d: what two aggregators add up */
    struct tacit_sim_aggregators aggregators;
    struct worker workers[WORKERS];
    const uint32_t *chosen;
    uint32_t chosen_count;
};

/* ---- Memory ---- */

static bool open_worker(struct training *training, uint32_t number)
{
    struct training_plan const *const plan = training->plan;
    struct worker *const worker = &training->workers[number];
    worker->training = training;
    worker->number = number;
    return tacit_learner_init(&worker->learner, &plan->model, plan->keys.batch,
                              plan->lessons.count) == TACIT_OK;
}

/* Statistics of batch norm, which the authors send as they are. */
static void mark_raw(struct training *training)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    uint64_t count;
    uint32_t const layer_count = tacit_model_layers(&training->plan->model, layers, &count);
    for (uint32_t i = 0; i < layer_count; i++)
        if (strncmp(layers[i].name, "norm", 4) == 0)
            memset(training->is_raw + layers[i].offset, 1, layers[i].count);
}

/* What is not of its owner's memory; an free_rest of training_new half way, too. */
static void free_rest(void *block)
{
    struct training *const training = block;
    for (uint32_t i = 0; i < WORKERS; i++)
        tacit_learner_free(&training->workers[i].learner);
    for (uint32_t user = 0; user < training->user_count; user++)
        free(training->moments[user]);
    free(training->moments);
}

struct training *training_new(const struct training_plan *plan, uint32_t user_count,
                              uint32_t users_per_round, void *owner)
{
    struct training *const training = tacit_sim_new(owner, 1, sizeof *training);
    size_t const parameters = plan->parameter_count;
    if (training == NULL)
        return NULL;
    tacit_sim_at_end(training, free_rest);
    training->plan = plan;
    training->moments = calloc(user_count, sizeof *training->moments);
    training->user_count = training->moments == NULL ? 0 : user_count;
    training->model = tacit_sim_new(owner, parameters, sizeof(float));
    training->is_raw = tacit_sim_new(owner, parameters, 1);
    training->rows = tacit_sim_new(owner, plan->lessons.count, sizeof *training->rows);
    training->first = tacit_sim_new(owner, user_count + (size_t)1, sizeof *training->first);
    training->optimizers = tacit_sim_new(owner, user_count, sizeof *training->optimizers);
    training->shuffles = tacit_sim_new(owner, user_count, sizeof *training->shuffles);
    training->noises = tacit_sim_new(owner, user_count, sizeof *training->noises);
    training->updates = tacit_sim_new(owner, users_per_round * parameters, sizeof(double));
    training->steps = tacit_sim_new(owner, parameters, sizeof *training->steps);
    training->totals = tacit_sim_new(owner, parameters, sizeof *training->totals);
    training->aggregators = plan->aggregators;
    bool is_made = training->moments != NULL && tacit_sim_is_whole(owner);
    for (uint32_t i = 0; i < WORKERS; i++)
        is_made = is_made && open_worker(training, i);
    if (!is_made)
        return NULL;
    mark_raw(training);
    return training;
}

/* ---- Beginning a run ---- */

void training_begin(struct training *training, uint64_t seed, uint32_t run, uint64_t *sizes)
{
    struct tacit_rng rng =
        tacit_rng_stream(seed, run, TACIT_STREAM_COMMON,
                         TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_PICTURES));
    struct tacit_rng model =
        tacit_rng_stream(seed, run, TACIT_STREAM_COMMON,
                         TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_MODEL));
    struct training_deal const deal = {training->plan->lessons.labels,
                                       training->plan->lessons.count,
                                       training->plan->keys.pictures.classes, training->user_count,
                                       training->plan->keys.is_dominant};
    training_deal_out(&deal, &rng, sizes, training->workers[0].learner.order, training->rows,
                      training->first);
    if (training->plan->keys.pictures.frozen.pictures > 0) /* nothing learnt is nothing said */
        memset(training->model, 0, training->plan->parameter_count * sizeof(float));
    else
        tacit_model_draw(&training->plan->model, &model, training->model);
    tacit_sim_aggregators_begin(&training->aggregators, seed, run);
    for (uint32_t user = 0; user < training->user_count; user++) {
        training->optimizers[user] = (struct tacit_optimizer){
            .kind = training->plan->keys.optimizer, .rate = training->plan->keys.rate};
        if (training->moments[user] != NULL)
            memset(training->moments[user], 0, 2 * training->plan->parameter_count * sizeof(float));
        training->shuffles[user] = tacit_rng_stream(
            seed, run, user, TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_BATCHES));
        training->noises[user] = tacit_rng_stream(
            seed, run, user, TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_NOISE));
    }
}

/* ---- One user trains ---- */

static void load(struct worker *worker, const struct tacit_images *images, const uint32_t *rows,
                 uint32_t count)
{
    struct training_plan const *const plan = worker->training->plan;
    training_load(&worker->learner, images, rows, count, plan->zero, plan->unit);
}

/* Adam's moments stay with the user from round to round. */
static enum tacit_status prepare_optimizer(struct training *training, uint32_t user)
{
    size_t const parameters = training->plan->parameter_count;
    if (training->plan->keys.optimizer != TACIT_OPTIMIZER_ADAM)
        return TACIT_OK;
    if (training->moments[user] == NULL)
        training->moments[user] = calloc(2 * parameters, sizeof(float));
    if (training->moments[user] == NULL)
        return TACIT_MEMORY;
    training->optimizers[user].first = training->moments[user];
    training->optimizers[user].second = training->moments[user] + parameters;
    return TACIT_OK;
}

static enum tacit_status train_epoch(struct worker *worker, uint32_t user, uint32_t *batches)
{
    struct training *const training = worker->training;
    struct training_keys const *const keys = &training->plan->keys;
    uint32_t const count = training->first[user + 1] - training->first[user];
    tacit_rng_shuffle(&training->shuffles[user], count, worker->learner.order);
    for (uint32_t at = 0; at + keys->batch <= count && *batches < keys->batches_max;
         at += keys->batch) {
        load(worker, &training->plan->lessons, worker->learner.order + at, keys->batch);
        tacit_learn_network_drop(worker->learner.network, &training->shuffles[user]);
        TACIT_TRY(tacit_learner_step(&worker->learner, &training->optimizers[user]));
        ++*batches;
    }
    return TACIT_OK;
}

/* From the model to the user's update, in its row. */
static enum tacit_status train_user(struct worker *worker, uint32_t user, double *update)
{
    struct training *const training = worker->training;
    uint64_t const parameters = training->plan->parameter_count;
    uint32_t const count = training->first[user + 1] - training->first[user];
    uint32_t batches = 0;
    TACIT_TRY(prepare_optimizer(training, user));
    memcpy(worker->learner.model, training->model, parameters * sizeof(float));
    memcpy(worker->learner.order, training->rows + training->first[user], count * sizeof(uint32_t));
    for (uint32_t epoch = 0; epoch < training->plan->keys.epochs; epoch++)
        TACIT_TRY(train_epoch(worker, user, &batches));
    for (uint64_t i = 0; i < parameters; i++)
        update[i] = (double)worker->learner.model[i] - (double)training->model[i];
    return TACIT_OK;
}

/* A thread's users of this round: every WORKERS-th of the chosen ones. */
static void *train_share(void *context)
{
    struct worker *const worker = context;
    struct training *const training = worker->training;
    worker->status = TACIT_OK;
    for (uint32_t i = worker->number; i < training->chosen_count && worker->status == TACIT_OK;
         i += WORKERS)
        worker->status = train_user(worker, training->chosen[i],
                                    training->updates + i * training->plan->parameter_count);
    return NULL;
}

/* Leaves each chosen user's update in its row of `updates`. */
static enum tacit_status train_all(struct training *training, uint32_t thread_count)
{
    pthread_t thread;
    bool const has_thread = thread_count > 1 && training->chosen_count > 1 &&
                            pthread_create(&thread, NULL, train_share, &training->workers[1]) == 0;
    (void)train_share(&training->workers[0]);
    if (has_thread)
        (void)pthread_join(thread, NULL);
    else
        (void)train_share(&training->workers[1]);
    TACIT_TRY(training->workers[0].status);
    return training->workers[1].status;
}

/* ---- Releases ---- */

/* As the authors ran it: each coordinate clamped and noised as if it were the only one. */
static void noise_as_printed(struct training *training, uint32_t user, double epsilon,
                             double *update)
{
    double const sensitivity = training->plan->keys.sensitivity;
    for (uint64_t i = 0; i < training->plan->parameter_count; i++) {
        if (training->is_raw[i] != 0)
            continue;
        double const bound = sensitivity / 2;
        double const value = update[i] > bound ? bound : update[i] < -bound ? -bound : update[i];
        update[i] = value + tacit_rng_laplace(&training->noises[user], sensitivity / epsilon);
    }
}

static uint64_t nano_of(double epsilon)
{
    return (uint64_t)llround(epsilon * (double)TACIT_NANO);
}

/* SELECT.md 2: in place, by steps; what comes back is a whole number of them. */
static enum tacit_status noise_soundly(struct training *training, uint32_t user, double epsilon,
                                       double *update)
{
    double const unit = training->plan->keys.clip / (double)TACIT_VECTOR_STEPS;
    uint32_t const dimension = (uint32_t)training->plan->parameter_count;
    struct tacit_entropy const entropy = tacit_rng_entropy(&training->noises[user]);
    uint64_t const nano = nano_of(epsilon);
    tacit_vector_quantise(update, dimension, training->plan->keys.clip, training->steps);
    TACIT_TRY(tacit_vector_noise(training->steps, dimension, nano, &entropy));
    for (uint32_t i = 0; i < dimension; i++)
        update[i] = (double)training->steps[i] * unit;
    return TACIT_OK;
}

/* The update as it leaves the user: noised in place, at the price of its next participation. */
static enum tacit_status release(struct training *training, const struct tacit_select *select,
                                 uint32_t user, double *update)
{
    double const epsilon = tacit_select_next_budget(select, user);
    if (training->plan->mode == TACIT_PRIVACY_PAPER)
        noise_as_printed(training, user, epsilon, update);
    if (training->plan->mode == TACIT_PRIVACY_SOUND)
        return noise_soundly(training, user, epsilon, update);
    return TACIT_OK;
}

/* Joins what lies in steps to the total, with noise of so many billionths; 0: without. */
static enum tacit_status add_steps(struct training *training, uint64_t epsilon_nano,
                                   struct tacit_rng *noise)
{
    uint32_t const dimension = (uint32_t)training->plan->parameter_count;
    struct tacit_entropy const entropy = tacit_rng_entropy(noise);
    if (epsilon_nano > 0)
        TACIT_TRY(tacit_vector_noise(training->steps, dimension, epsilon_nano, &entropy));
    for (uint32_t k = 0; k < dimension; k++)
        training->totals[k] += training->steps[k];
    return TACIT_OK;
}

/* HELPER 4, model updates: each aggregator noises the sum as if it were one update. The epsilon of
 * the round is in its order: nobody who is chosen has less. A floor is of all rounds together, as
 * epsilon is: each has the part of it that it has of epsilon. */
static enum tacit_status add_two(struct training *training, const struct tacit_select *select)
{
    uint32_t const dimension = (uint32_t)training->plan->parameter_count;
    uint32_t const count = training->chosen_count;
    double const clip = training->plan->keys.clip;
    double epsilon = INFINITY;
    memset(training->totals, 0, dimension * sizeof *training->totals);
    for (uint32_t i = 0; i < count; i++)
        epsilon = fmin(epsilon, tacit_select_next_budget(select, training->chosen[i]));
    TACIT_ASSERT(count > 0 && epsilon > 0);
    uint64_t const floor_nano = (uint64_t)(epsilon * training->plan->floor_times * TACIT_NANO);
    for (uint32_t i = 0; i < count; i++) {
        tacit_vector_quantise(training->updates + (size_t)i * dimension, dimension, clip,
                              training->steps);
        TACIT_TRY(add_steps(training, floor_nano, &training->noises[training->chosen[i]]));
    }
    for (uint32_t i = 0; i < 2; i++) {
        memset(training->steps, 0, dimension * sizeof *training->steps);
        TACIT_TRY(add_steps(training, nano_of(epsilon), &training->aggregators.streams[i]));
    }
    double const unit = clip / (double)TACIT_VECTOR_STEPS / count;
    for (uint32_t k = 0; k < dimension; k++)
        training->model[k] =
            (float)((double)training->model[k] + (double)training->totals[k] * unit);
    return TACIT_OK;
}

enum tacit_status training_round(struct training *training, const struct tacit_select *select,
                                 const uint32_t *users, uint32_t count, uint32_t thread_count)
{
    uint64_t const parameters = training->plan->parameter_count;
    training->chosen = users;
    training->chosen_count = count;
    TACIT_TRY(train_all(training, thread_count));
    if (training->aggregators.are_two)
        return add_two(training, select);
    uint64_t rows = 0;
    for (uint32_t i = 0; i < count; i++)
        rows += training->first[users[i] + 1] - training->first[users[i]];
    for (uint32_t i = 0; i < count; i++) {
        double *const update = training->updates + i * parameters;
        double const weight =
            (double)(training->first[users[i] + 1] - training->first[users[i]]) / (double)rows;
        TACIT_TRY(release(training, select, users[i], update));
        for (uint64_t k = 0; k < parameters; k++)
            training->model[k] =
                (float)((double)training->model[k] + weight * update[k]); /* Eq. (2) */
    }
    return TACIT_OK;
}

enum tacit_status training_examine(struct training *training, double *accuracy, double *loss)
{
    struct tacit_images const *const exam = &training->plan->exam;
    struct worker *const worker = &training->workers[0];
    uint32_t const batch = training->plan->keys.batch;
    double sum = 0;
    uint32_t right = 0;
    for (uint32_t at = 0; at < exam->count; at += batch) {
        uint32_t const count = exam->count - at < batch ? exam->count - at : batch;
        uint32_t hits;
        double part;
        for (uint32_t i = 0; i < count; i++)
            worker->learner.order[i] = at + i;
        load(worker, exam, worker->learner.order, count);
        TACIT_TRY(tacit_learn_network_evaluate(worker->learner.network, training->model,
                                               worker->learner.inputs, worker->learner.labels,
                                               count, &part, &hits));
        sum += part;
        right += hits;
    }
    *accuracy = (double)right / exam->count;
    *loss = sum / exam->count;
    return TACIT_OK;
}

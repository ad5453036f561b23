/* The keys of a training federation in the files of the daemons. */
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "tacit/learn.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 64u
#define NUMBER_BYTES 32u
#define LAYERS_BYTES 4096u
#define MEBI (UINT64_C(1) << 20)
#define UPDATES_MAX (256 * MEBI / sizeof(int64_t))

#define POSITIVE CONFIG_ABOVE(0, 1e100)
#define WEIGHT CONFIG_FROM(0, 1e100)
#define ETA CONFIG_FROM(1e-9, TACIT_SELECT_ETA_MAX)

/* ---- A site: its command --------------------------------------------------------------------- */

/* A list of words, the first of which is an absolute path. Requires: WORDS_MAX places, all NULL. */
static void read_words(struct config_reader *reader, const struct config_node *list,
                       const char **words)
{
    uint32_t count = 0;
    if (list->kind != CONFIG_LIST || list->first == NULL) {
        config_reader_fail(
            reader, list, "training.command",
            "a program and its arguments are expected, like [/usr/bin/python3, /srv/train.py]");
        return;
    }
    for (const struct config_node *node = list->first; node != NULL; node = node->next) {
        if (node->kind != CONFIG_SCALAR || count + 1 >= WORDS_MAX) {
            config_reader_fail(reader, node, "training.command",
                               "at most %u arguments are allowed, and nothing else", WORDS_MAX - 1);
            return;
        }
        words[count++] = node->text;
    }
    if (words[0][0] != '/')
        config_reader_fail(reader, list->first, "training.command",
                           "'%.100s' is no absolute path; allowed: the full path of a program, "
                           "since no shell looks for it",
                           words[0]);
}

/* Of a site's file: what a command is told, and our own learner, tacit train. */
struct site_keys {
    struct select_site_settings settings; /* first */
    uint64_t memory_mb;
    const char *data;
    int model;
    int optimizer;
    uint32_t classes;
    uint32_t batch;
    double rate;
};

static const struct config_choice models[] = {
    {"logistic", TACIT_MODEL_LOGISTIC}, {"mlp", TACIT_MODEL_MLP}, {NULL, 0}};
static const struct config_choice optimizers[] = {
    {"sgd", TACIT_OPTIMIZER_SGD}, {"adam", TACIT_OPTIMIZER_ADAM}, {NULL, 0}};

static const struct config_key training_keys[] = {
    {"command", "(model)", "run without a shell; the path of its directory is added",
     .form = "a program's full path and its arguments, like [/usr/bin/python3, /srv/train.py]"},
    {"model", "(command)", "what tacit train learns in its place",
     CONFIG_TO_ENUM(site_keys, model, models)},
    {"optimizer", "sgd", "with model", CONFIG_TO_ENUM(site_keys, optimizer, optimizers)},
    {"classes", "(must be given with model)", "", CONFIG_TO_U32(site_keys, classes, 2, 256)},
    {"batch", "20", "with model", CONFIG_TO_U32(site_keys, batch, 1, 4096)},
    {"rate", "0.1", "with model", CONFIG_TO_REAL(site_keys, rate, POSITIVE)},
    {"data", "(must be given with model)", "rows of a label from 0 and the inputs",
     CONFIG_TO_TEXT(site_keys, data), .form = "a CSV file"},
    {"memory_mb", "4096", "", CONFIG_TO_U64(site_keys, memory_mb, 16, 1u << 24)},
    {"cpu_s", "3600", "", CONFIG_TO_U32(site_keys, settings.command.cpu_s, 1, 31536000)},
    {"directory", "(training, in the state directory)", "",
     CONFIG_TO_TEXT(site_keys, settings.command.directory)},
    {"user", "(the agent's)", "whose rights it has",
     CONFIG_TO_TEXT(site_keys, settings.command.user)},
    {.name = NULL}};
static const struct config_key policy_keys[] = {
    {"eta", "0.04", "what updates are expected to cost: budget (1 - e^-eta) the first",
     CONFIG_TO_REAL(site_keys, settings.eta, ETA)},
    {"parameters", NULL, "numbers of the model",
     CONFIG_TO_U32(site_keys, settings.dimension, 1, TACIT_SELECT_DIMENSION_MAX)},
    {.name = NULL}};
static const struct config_key top_keys[] = {
    {"training", NULL, "how the site trains", CONFIG_TO_SAME(training_keys)}, {.name = NULL}};
static const struct config_section site_sections[] = {
    {"", top_keys}, {"policy", policy_keys}, {NULL, NULL}};

static const char *number_text(struct config_reader *reader, double value)
{
    char *const text = config_reader_memory(reader, NUMBER_BYTES);
    if (text != NULL)
        (void)snprintf(text, NUMBER_BYTES, "%.17g", value);
    return text;
}

/* NULL, or unfinished: the reader has failed. */
static const char *learner_path(struct config_reader *reader)
{
    char *const path = config_reader_memory(reader, TACIT_PROGRAM_PATH_BYTES);
    bool const is_known =
        path != NULL && tacit_config_beside_program("tacit", path); /* and the daemon */
    if (!is_known && reader->status == TACIT_OK)
        reader->status = TACIT_IO;
    return path;
}

/* The whole path, since the command runs elsewhere; the reader's memory. NULL: there is no such
 * file. */
static const char *data_path(struct config_reader *reader, const char *name)
{
    char *const found = tacit_config_path(reader->document, name);
    char *const full = found == NULL ? NULL : realpath(found, NULL);
    char *const kept = full == NULL ? NULL : config_reader_memory(reader, strlen(full) + 1);
    if (kept != NULL)
        memcpy(kept, full, strlen(full) + 1);
    free(full);
    free(found);
    return kept;
}

/* The layers of a model of this kind with so many numbers: how many inputs are there? They grow the
 * numbers evenly. 0: none makes it so many. */
static uint32_t inputs_of(enum tacit_model_kind kind, uint32_t classes, uint32_t dimension,
                          struct tacit_model *model)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    uint64_t one = 0;
    uint64_t two = 0;
    *model = (struct tacit_model){
        .kind = kind, .channels = 1, .height = 1, .width = 1, .classes = classes};
    (void)tacit_model_layers(model, layers, &one);
    model->width = 2;
    (void)tacit_model_layers(model, layers, &two);
    if (two <= one || dimension < one || (dimension - one) % (two - one) != 0)
        return 0;
    model->width = (uint32_t)(1 + (dimension - one) / (two - one));
    return tacit_model_layers(model, layers, &one) > 0 && one == dimension ? model->width : 0;
}

static void describe_layers(struct config_reader *reader, const struct tacit_model *model,
                            struct select_site_settings *settings)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    uint64_t numbers;
    uint32_t const count = tacit_model_layers(model, layers, &numbers);
    char *const bytes = config_reader_memory(reader, LAYERS_BYTES);
    if (bytes == NULL)
        return;
    struct tacit_text text = tacit_text_init(bytes, LAYERS_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        tacit_text_add(&text, i > 0 ? ", {\"name\": \"" : "{\"name\": \"");
        tacit_text_add(&text, layers[i].name);
        tacit_text_add(&text, "\", \"shape\": [");
        for (uint32_t k = 0; k < layers[i].dimensions; k++) {
            tacit_text_add(&text, k > 0 ? ", " : "");
            tacit_text_add_u64(&text, layers[i].shape[k]);
        }
        tacit_text_add(&text, "]}");
    }
    settings->layers = bytes;
}

/* What is run in place of a command of the site's own. */
static void fill_learner_words(struct config_reader *reader, const struct site_keys *lesson,
                               const char **words)
{
    const char *const made[] = {learner_path(reader),
                                "train",
                                "--model",
                                models[lesson->model].name,
                                "--optimizer",
                                optimizers[lesson->optimizer].name,
                                "--classes",
                                number_text(reader, lesson->classes),
                                "--batch",
                                number_text(reader, lesson->batch),
                                "--rate",
                                number_text(reader, lesson->rate),
                                "--data",
                                lesson->data};
    memcpy(words, made, sizeof made);
}

/* With `model`, not `command`: keys->data becomes a whole path. */
static void settle_learner(struct config_reader *reader, struct site_keys *keys, const char **words)
{
    static const char *const needed[] = {"training.classes", "training.data"};
    struct tacit_model model;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        config_reader_need(reader, needed[i]);
    if (reader->status != TACIT_OK)
        return;
    if (inputs_of((enum tacit_model_kind)keys->model, keys->classes, keys->settings.dimension,
                  &model) == 0) {
        config_reader_fail(reader, config_reader_find(reader, "training.model"),
                           "policy.parameters",
                           "a %s model of %u classes cannot have %u numbers; logistic: "
                           "classes times inputs + 1",
                           models[keys->model].name, keys->classes, keys->settings.dimension);
        return;
    }
    char const *const name = keys->data;
    keys->data = data_path(reader, name);
    if (keys->data == NULL)
        config_reader_refuse(reader, "training.data", "%.200s is not there", name);
    describe_layers(reader, &model, &keys->settings);
    fill_learner_words(reader, keys, words);
}

static void read_training(struct config_reader *reader, struct site_keys *keys)
{
    struct live_command_config *const command = &keys->settings.command;
    struct config_node const *const list = config_reader_find(reader, "training.command");
    const char **const words = config_reader_memory(reader, WORDS_MAX * sizeof *words);
    if (words == NULL)
        return;
    command->argv = words;
    command->memory_bytes = keys->memory_mb * MEBI;
    command->file_bytes = 64 * (uint64_t)keys->settings.dimension + 16 * MEBI;
    if ((list == NULL) == (config_reader_find(reader, "training.model") == NULL))
        config_reader_refuse(reader, "training",
                             "one of 'command' (the site's own program) and 'model' (what tacit "
                             "train learns: logistic, mlp) is expected");
    else if (list != NULL)
        read_words(reader, list, words);
    else
        settle_learner(reader, keys, words);
}

/* The first update is the dearest one. */
static void check_price(struct config_reader *reader, const struct tacit_config_agent *agent,
                        const struct select_site_settings *settings)
{
    double const first = -agent->budget * expm1(-settings->eta);
    if (first > agent->epsilon * (1 + 1e-12))
        config_reader_fail(reader, config_reader_find(reader, "policy"), "policy.epsilon",
                           "the first update costs %.6g of the budget %.6g, more than epsilon "
                           "(%.6g) for one update; allowed: a smaller budget or eta, or at least "
                           "that much",
                           first, agent->budget, agent->epsilon);
}

static void select_settle_site(struct config_reader *reader, struct tacit_config_agent *agent)
{
    struct site_keys *const keys = agent->keys;
    read_training(reader, keys);
    check_price(reader, agent, &keys->settings);
}

/* ---- The coordinator ------------------------------------------------------------------------- */

struct run_keys {
    struct tacit_select_hub_config core; /* what of it is in the file */
    uint32_t batches;
    uint32_t latency_min_ms;
    const char *initial;
};

static const struct config_choice selectors[] = {{"exact", TACIT_SELECTOR_EXACT},
                                                 {"brute", TACIT_SELECTOR_BRUTE},
                                                 {"sa", TACIT_SELECTOR_ANNEALING},
                                                 {"random", TACIT_SELECTOR_RANDOM},
                                                 {"clustered", TACIT_SELECTOR_CLUSTERED},
                                                 {"all", TACIT_SELECTOR_ALL},
                                                 {NULL, 0}};

static const struct config_key run_keys[] = {
    {"parameters", NULL, "d, numbers of the model; users_per_round updates must fit into 256 MiB",
     CONFIG_TO_U32(run_keys, core.dimension, 1, TACIT_SELECT_DIMENSION_MAX)},
    {"clip", NULL, "C, the L1 norm that an update is scaled down to",
     CONFIG_TO_REAL(run_keys, core.clip, POSITIVE)},
    {"users_per_round", "(all)", "m", .form = "1 to all sites"},
    {"alpha", "100", "as in an experiment, like what follows",
     CONFIG_TO_REAL(run_keys, core.select.alpha, WEIGHT)},
    {"beta", "2", "", CONFIG_TO_REAL(run_keys, core.select.beta, CONFIG_FROM(1, 1000))},
    {"gamma", "5", "", CONFIG_TO_REAL(run_keys, core.select.gamma, WEIGHT)},
    {"zeta", "1", "", CONFIG_TO_REAL(run_keys, core.select.zeta, POSITIVE)},
    {"eta", "0.04", "that of policy.eta", CONFIG_TO_REAL(run_keys, core.select.budget.eta, ETA)},
    {"sizes", "(alike)", "public numbers of rows in the order of sites, weights of the average",
     .form = "a list of whole numbers"},
    {"latency_min_ms", "50", "", CONFIG_TO_U32(run_keys, latency_min_ms, 1, 3600000)},
    {"batches", "100", "so many a training does; public, so that its time says little",
     CONFIG_TO_U32(run_keys, batches, 1, 1000000)},
    {"selector", "exact", "", CONFIG_TO_ENUM(run_keys, core.selector, selectors)},
    {"initial", "(zeros)", "of d little-endian float32 numbers", CONFIG_TO_TEXT(run_keys, initial),
     .form = "a file"},
    {.name = NULL}};
static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

/* Public sizes of the sites' data sets, in the order of `sites`. */
static void read_sizes(struct config_reader *reader, const struct config_node *run,
                       uint32_t site_count, struct run_keys *keys)
{
    struct config_node const *const list = config_node_member(run, "sizes");
    uint32_t count = 0;
    if (list == NULL || reader->status != TACIT_OK)
        return;
    uint64_t *const sizes = config_reader_memory(reader, site_count * sizeof *sizes);
    keys->core.sizes = sizes;
    for (const struct config_node *node = list->kind == CONFIG_LIST ? list->first : NULL;
         node != NULL && sizes != NULL; node = node->next, count++)
        if (count >= site_count ||
            !config_reader_whole(reader, node, "run.sizes", 1, UINT64_C(1) << 32, &sizes[count]))
            break;
    if (reader->status == TACIT_OK && count != site_count)
        config_reader_fail(reader, list, "run.sizes",
                           "one size a site is expected, %u of them, in the order of sites",
                           site_count);
}

static bool are_arms_the_sites(const struct tacit_config_coordinator *coordinator)
{
    bool are_same = coordinator->arm_count == coordinator->site_count;
    for (uint32_t i = 0; are_same && i < coordinator->site_count; i++)
        are_same = strcmp(coordinator->arm_names[i], coordinator->sites[i]) == 0;
    return are_same;
}

static void select_read_run(struct config_reader *reader, const struct config_node *run,
                            struct tacit_config_coordinator *coordinator)
{
    struct run_keys *const keys = coordinator->keys;
    config_reader_values(reader, run, "run", run_keys, keys);
    keys->core.select.users_per_round = coordinator->site_count;
    config_reader_u32(reader, run, "run.users_per_round", false, 1, coordinator->site_count,
                      &keys->core.select.users_per_round);
    read_sizes(reader, run, coordinator->site_count, keys);
    if (coordinator->trust.has_helper && keys->core.select.users_per_round < 2)
        config_reader_refuse(reader, "run.users_per_round",
                             "with two aggregators a sum is of two sites or more; allowed: 2 or "
                             "more");
    if (coordinator->trust.has_helper && keys->core.sizes != NULL)
        config_reader_refuse(reader, "run.sizes",
                             "two aggregators add up what they cannot weigh: all updates of a "
                             "round weigh the same; allowed: without this key");
    if (reader->status == TACIT_OK &&
        !tacit_select_floor_holds(coordinator->trust.floor_milli * (TACIT_NANO / 1000),
                                  coordinator->epsilon))
        config_reader_refuse(reader, "run.trust.floor", TACIT_SELECT_FLOOR_WORDS);
    if (coordinator->horizon > TACIT_SELECT_ROUNDS_MAX)
        config_reader_refuse(reader, "run.horizon", "the rounds of the run; allowed: 1 to %u",
                             TACIT_SELECT_ROUNDS_MAX);
    if (reader->status == TACIT_OK && !are_arms_the_sites(coordinator))
        config_reader_refuse(reader, "arms",
                             "with select the arms are the sites; allowed: the same list");
}

/* Asks for one number more than there should be, so that a longer file shows. */
static enum tacit_status read_initial(const struct live_run_file *from,
                                      struct select_hub_settings *settings)
{
    struct run_keys const *const keys = from->file->keys;
    char *const path = tacit_config_path(from->file->daemon.document, keys->initial);
    FILE *const in = path == NULL ? NULL : fopen(path, "rb");
    float *const initial = config_document_allocate(
        from->file->daemon.document, (keys->core.dimension + (size_t)1) * sizeof *initial);
    size_t const got = in == NULL || initial == NULL
                           ? 0
                           : fread(initial, sizeof *initial, keys->core.dimension + (size_t)1, in);
    if (in != NULL)
        (void)fclose(in);
    free(path);
    settings->core.initial = initial;
    return got == keys->core.dimension
               ? TACIT_OK
               : live_file_refuse(
                     from, "run.initial",
                     "it cannot be read, or is not of run.parameters numbers of 4 bytes each");
}

static enum tacit_status select_hub_settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    struct run_keys const *const keys = from->file->keys;
    struct select_hub_settings *const made = live_settings(from, sizeof *made);
    TACIT_ASSERT(keys != NULL);
    if (made == NULL)
        return TACIT_MEMORY;
    if (hub->quorum > keys->core.select.users_per_round)
        hub->quorum = keys->core.select.users_per_round;
    made->core = keys->core;
    made->core.run_id = hub->run_id;
    made->core.select.user_count = hub->site_count;
    made->core.select.latency_min = keys->latency_min_ms * 1e-3;
    made->core.select.budget.kind = TACIT_SELECT_GEOMETRIC;
    made->core.select.budget.is_exact = true;
    made->core.select.budget.total = hub->epsilon;
    made->core.annealing = (struct tacit_select_annealing){.kappa = 1, .iterations = 500};
    made->core.round_count = (uint32_t)hub->horizon;
    made->core.quorum = hub->quorum;
    made->core.round_timeout_us = (uint64_t)hub->deadline_s * 1000000u;
    made->batches = keys->batches;
    if (keys->initial != NULL)
        TACIT_TRY(read_initial(from, made));
    bool const is_kept = from->file->trust.has_helper; /* what any site reports, for the helper */
    if (tacit_select_hub_size(&made->core) > 0 &&
        (!is_kept || hub->site_count * (size_t)keys->core.dimension <= UPDATES_MAX))
        return TACIT_OK;
    return live_file_refuse(
        from, "run.parameters",
        is_kept ? "updates of so many numbers, of all sites, do not fit into 256 MiB"
                : "users_per_round updates of so many numbers do not fit into 256 MiB");
}

const struct live_family select_live = {
    .file = {.name = "select",
             .networks = 1u << TACIT_CONFIG_STAR,
             .accepts_trust = true,
             .no_units = "a training has no rewards, and policy.budget is for the whole data set; "
                         "allowed: without this key",
             .run_keys = run_sections,
             .run_size = sizeof(struct run_keys),
             .read_run = select_read_run,
             .site_keys = site_sections,
             .site_size = sizeof(struct site_keys),
             .settle_site = select_settle_site},
    .site = &select_site_ops,
    .hub = &select_hub_ops,
    .hub_settings = select_hub_settings_new};

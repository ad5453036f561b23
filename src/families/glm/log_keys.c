/* The keys of a log of decisions between vectors: sources `ratings` and `offers`. */
#include <string.h>
#include "../../config/reader.h"
#include "plan.h"

#define TEXTS_MAX 16u
#define VALUE_MAX 1e15
#define PREFIX "environment.contextual."

const struct config_choice glm_sources[] = {{"sphere", GLM_SOURCE_SPHERE},
                                            {"pool", GLM_SOURCE_POOL},
                                            {"ratings", GLM_SOURCE_RATINGS},
                                            {"offers", GLM_SOURCE_OFFERS},
                                            {NULL, 0}};
const struct config_choice glm_encodings[] = {{"utf-8", TACIT_ENCODING_UTF8},
                                              {"cp1252", TACIT_ENCODING_CP1252},
                                              {"latin1", TACIT_ENCODING_LATIN1},
                                              {NULL, 0}};
const struct config_choice glm_switches[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};

static char const features_form[] = "a list of columns, as many as the dimension";
static char const features_help[] = "numbers; a row whose vector is longer than 1 is refused";

const struct config_key glm_word_keys[] = {
    {"table", NULL, "a row has an item and a text", CONFIG_TO_TEXT(tacit_context_text, table)},
    {"item", NULL, "column of the item", CONFIG_TO_TEXT(tacit_context_text, item)},
    {"text", NULL, "column of the text, or of its key", CONFIG_TO_TEXT(tacit_context_text, text)},
    {"names", "", "where texts are keys of another table", .form = "a map"},
    {.name = NULL}};
const struct config_key glm_name_keys[] = {
    {"table", NULL, "a row a text", CONFIG_TO_TEXT(tacit_context_text, names)},
    {"key", NULL, "column of the key", CONFIG_TO_TEXT(tacit_context_text, names_key)},
    {"text", NULL, "column of the text", CONFIG_TO_TEXT(tacit_context_text, names_text)},
    {.name = NULL}};
const struct config_key glm_item_keys[] = {
    {"table", NULL, "a row an item", CONFIG_TO_TEXT(tacit_context_spec, item_table)},
    {"item", NULL, "column of the item", CONFIG_TO_TEXT(tacit_context_spec, item_column)},
    {"features", NULL, features_help, .form = features_form},
    {.name = NULL}};
const struct config_key glm_rating_keys[] = {
    {"table", NULL, "a row a decision", CONFIG_TO_TEXT(tacit_context_spec, table)},
    {"agent", NULL, "column of who chose", CONFIG_TO_TEXT(tacit_context_spec, agent)},
    {"item", NULL, "column of what was chosen", CONFIG_TO_TEXT(tacit_context_spec, item)},
    {"value", NULL, "column of how it was liked", CONFIG_TO_TEXT(tacit_context_spec, value)},
    {"above", "(the value is the reward)", "the reward is 1 where the value is above, else 0",
     CONFIG_TO_REAL(tacit_context_spec, above, CONFIG_FROM(-VALUE_MAX, VALUE_MAX))},
    {"time", "(rows have no order)", "column of a number that orders the rows",
     CONFIG_TO_TEXT(tacit_context_spec, time)},
    {.name = NULL}};
const struct config_key glm_offer_keys[] = {
    {"table", NULL, "a row an arm, the rows of a decision together",
     CONFIG_TO_TEXT(tacit_context_spec, table)},
    {"agent", NULL, "column of who decided", CONFIG_TO_TEXT(tacit_context_spec, agent)},
    {"decision", NULL, "column of the decision", CONFIG_TO_TEXT(tacit_context_spec, decision)},
    {"reward", NULL, "column of the reward", CONFIG_TO_TEXT(tacit_context_spec, value)},
    {"features", NULL, features_help, .form = features_form},
    {.name = NULL}};

/* `dimension` different names of columns. */
static void read_features(struct config_reader *reader, const struct config_node *map,
                          const char *key, struct tacit_context_spec *spec)
{
    struct config_node const *const list = config_node_member(map, "features");
    const char **const names = config_reader_memory(reader, spec->dimension * sizeof *names);
    uint32_t count = 0;
    if (reader->status != TACIT_OK)
        return;
    struct config_node const *node = list == NULL ? NULL : list->first;
    for (; node != NULL && node->kind == CONFIG_SCALAR && count < spec->dimension;
         node = node->next)
        names[count++] = node->text;
    struct config_node const *const where = list == NULL ? map : list;
    if (list == NULL || list->kind != CONFIG_LIST || count != spec->dimension || node != NULL)
        config_reader_fail(reader, where, key,
                           "a list of %u columns is expected, as many as `dimension` (less a "
                           "constant one), like [age, dose]",
                           spec->dimension);
    for (uint32_t i = 0; i < count && reader->status == TACIT_OK; i++)
        for (uint32_t other = 0; other < i; other++)
            if (strcmp(names[i], names[other]) == 0)
                config_reader_fail(reader, where, key, "'%.60s' stands here twice; allowed: once",
                                   names[i]);
    spec->features = names;
}

static void read_text(struct config_reader *reader, const struct config_node *map,
                      struct tacit_context_text *text)
{
    config_reader_table(reader, map, PREFIX "words", glm_word_keys, text);
    struct config_node const *const names =
        config_reader_map(reader, map, PREFIX "words.names", false);
    if (names != NULL)
        config_reader_table(reader, names, PREFIX "words.names", glm_name_keys, text);
}

static void read_words(struct config_reader *reader, const struct config_node *contextual,
                       struct tacit_context_spec *spec)
{
    struct tacit_context_text *const texts = config_reader_list(
        reader, contextual, PREFIX "words", "{table: tags.csv, item: movieId, text: tag}",
        TEXTS_MAX, sizeof *texts, &spec->text_count);
    struct tacit_context_text *text = texts;
    for (const struct config_node *node =
             text == NULL ? NULL : config_node_member(contextual, "words")->first;
         node != NULL; node = node->next)
        read_text(reader, node, text++);
    spec->texts = texts;
}

static void read_items(struct config_reader *reader, const struct config_node *contextual,
                       struct tacit_context_spec *spec)
{
    struct config_node const *const items =
        config_reader_map(reader, contextual, PREFIX "items", true);
    if (items == NULL)
        return;
    config_reader_table(reader, items, PREFIX "items", glm_item_keys, spec);
    read_features(reader, items, PREFIX "items.features", spec);
}

static void read_ratings(struct config_reader *reader, const struct config_node *contextual,
                         struct tacit_context_spec *spec)
{
    struct config_node const *const ratings =
        config_reader_map(reader, contextual, PREFIX "ratings", true);
    struct config_node const *const words = config_node_member(contextual, "words");
    if (ratings == NULL)
        return;
    config_reader_table(reader, ratings, PREFIX "ratings", glm_rating_keys, spec);
    spec->has_above = config_node_member(ratings, "above") != NULL;
    if ((words == NULL) == (config_node_member(contextual, "items") == NULL))
        config_reader_fail(reader, contextual, "environment.contextual",
                           "give one of 'words' (texts about items) and 'items' (their vectors, as "
                           "columns of a table)");
    else if (words != NULL)
        read_words(reader, contextual, spec);
    else
        read_items(reader, contextual, spec);
}

static void read_offers(struct config_reader *reader, const struct config_node *contextual,
                        struct tacit_context_spec *spec)
{
    struct config_node const *const offers =
        config_reader_map(reader, contextual, PREFIX "offers", true);
    if (offers == NULL)
        return;
    config_reader_table(reader, offers, PREFIX "offers", glm_offer_keys, spec);
    read_features(reader, offers, PREFIX "offers.features", spec);
}

static bool read_switch(struct config_reader *reader, const struct config_node *contextual,
                        const char *key)
{
    int is_on = 0;
    config_reader_choice(reader, contextual, key, false, glm_switches, &is_on);
    return is_on == 1;
}

/* What belongs to another source does nothing here. */
static void refuse_others(struct config_reader *reader, const struct config_node *contextual,
                          enum glm_source source)
{
    static const struct {
        const char *key;
        unsigned sources;
        const char *owners;
    } owned[] = {{"pool", 1u << GLM_SOURCE_POOL, "source: pool"},
                 {"ratings", 1u << GLM_SOURCE_RATINGS, "source: ratings"},
                 {"words", 1u << GLM_SOURCE_RATINGS, "source: ratings"},
                 {"items", 1u << GLM_SOURCE_RATINGS, "source: ratings"},
                 {"offers", 1u << GLM_SOURCE_OFFERS, "source: offers"},
                 {"folder", 1u << GLM_SOURCE_RATINGS | 1u << GLM_SOURCE_OFFERS,
                  "source: ratings, and offers"},
                 {"standardise", 1u << GLM_SOURCE_RATINGS | 1u << GLM_SOURCE_OFFERS,
                  "source: ratings, and offers"},
                 {"constant", 1u << GLM_SOURCE_RATINGS | 1u << GLM_SOURCE_OFFERS,
                  "source: ratings, and offers; a pool has it anyway"},
                 {"encoding", 1u << GLM_SOURCE_RATINGS | 1u << GLM_SOURCE_OFFERS,
                  "source: ratings, and offers"}};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        struct config_node const *const node = config_node_member(contextual, owned[i].key);
        char name[64];
        (void)snprintf(name, sizeof name, PREFIX "%s", owned[i].key);
        if (node != NULL && (owned[i].sources & (1u << source)) == 0)
            config_reader_fail(reader, node, name, "belongs to %s", owned[i].owners);
    }
}

void glm_read_source(struct config_reader *reader, const struct config_node *contextual,
                     struct glm_keys *keys)
{
    int source = GLM_SOURCE_SPHERE;
    int encoding = TACIT_ENCODING_UTF8;
    config_reader_choice(reader, contextual, PREFIX "source", false, glm_sources, &source);
    keys->source = (enum glm_source)source;
    refuse_others(reader, contextual, keys->source);
    if (reader->status != TACIT_OK || keys->source < GLM_SOURCE_RATINGS)
        return;
    struct tacit_context_spec *const spec = config_reader_memory(reader, sizeof *spec);
    if (spec == NULL)
        return;
    *spec = (struct tacit_context_spec){.folder = "", .arm_count = keys->arm_count};
    spec->is_standardised = read_switch(reader, contextual, PREFIX "standardise");
    spec->has_constant = read_switch(reader, contextual, PREFIX "constant");
    spec->dimension = keys->model.dimension - (spec->has_constant ? 1 : 0);
    if (spec->dimension == 0)
        config_reader_fail(reader, contextual, PREFIX "dimension",
                           "the constant coordinate is one of them; allowed: 2 or more");
    config_reader_choice(reader, contextual, PREFIX "encoding", false, glm_encodings, &encoding);
    spec->dialect.encoding = (enum tacit_encoding)encoding;
    config_reader_text(reader, contextual, PREFIX "folder", false, &spec->folder);
    if (keys->source == GLM_SOURCE_RATINGS)
        read_ratings(reader, contextual, spec);
    else
        read_offers(reader, contextual, spec);
    keys->log = spec;
}

/* The keys of a log of decisions between vectors: sources `ratings` and `offers`. */
#include <string.h>
#include "plan.h"

#define TEXTS_MAX 16u
#define VALUE_MAX 1e15
#define PREFIX "environment.contextual."

static void *allocate(struct config_reader *reader, size_t size)
{
    void *const memory = config_document_allocate(reader->document, size);
    if (memory == NULL)
        reader->status = TACIT_MEMORY;
    return memory;
}

/* `dimension` different names of columns. */
static void read_features(struct config_reader *reader, const struct config_node *map,
                          const char *key, struct tacit_context_spec *spec)
{
    struct config_node const *const list = config_node_member(map, "features");
    const char **const names = allocate(reader, spec->dimension * sizeof *names);
    uint32_t count = 0;
    if (reader->status != TACIT_OK)
        return;
    for (const struct config_node *node = list == NULL ? NULL : list->first; node != NULL;
         node = node->next, count++)
        if (node->kind != CONFIG_SCALAR || count == spec->dimension)
            break;
        else
            names[count] = node->text;
    struct config_node const *const where = list == NULL ? map : list;
    if (list == NULL || list->kind != CONFIG_LIST || count != spec->dimension)
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
    static const char *const keys[] = {"table", "item", "text", "names", NULL};
    static const char *const inner[] = {"table", "key", "text", NULL};
    if (map->kind != CONFIG_MAP) {
        config_reader_fail(reader, map, PREFIX "words",
                           "a map is expected, like {table: tags.csv, item: movieId, text: tag}");
        return;
    }
    config_reader_keys(reader, map, PREFIX "words", keys);
    config_reader_text(reader, map, PREFIX "words.table", true, &text->table);
    config_reader_text(reader, map, PREFIX "words.item", true, &text->item);
    config_reader_text(reader, map, PREFIX "words.text", true, &text->text);
    struct config_node const *const names =
        config_reader_map(reader, map, PREFIX "words.names", false);
    if (names == NULL)
        return;
    config_reader_keys(reader, names, PREFIX "words.names", inner);
    config_reader_text(reader, names, PREFIX "words.names.table", true, &text->names);
    config_reader_text(reader, names, PREFIX "words.names.key", true, &text->names_key);
    config_reader_text(reader, names, PREFIX "words.names.text", true, &text->names_text);
}

static void read_words(struct config_reader *reader, const struct config_node *list,
                       struct tacit_context_spec *spec)
{
    uint32_t count = 0;
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        count++;
    if (list->kind != CONFIG_LIST || count == 0 || count > TEXTS_MAX) {
        config_reader_fail(reader, list, PREFIX "words",
                           "a list of 1 to %u tables is expected, like [{table: tags.csv, item: "
                           "movieId, text: tag}]",
                           TEXTS_MAX);
        return;
    }
    struct tacit_context_text *const texts = allocate(reader, count * sizeof *texts);
    if (texts == NULL)
        return;
    memset(texts, 0, count * sizeof *texts);
    struct tacit_context_text *text = texts;
    for (const struct config_node *node = list->first; node != NULL; node = node->next)
        read_text(reader, node, text++);
    spec->texts = texts;
    spec->text_count = count;
}

static void read_items(struct config_reader *reader, const struct config_node *contextual,
                       struct tacit_context_spec *spec)
{
    static const char *const keys[] = {"table", "item", "features", NULL};
    struct config_node const *const items =
        config_reader_map(reader, contextual, PREFIX "items", true);
    if (items == NULL)
        return;
    config_reader_keys(reader, items, PREFIX "items", keys);
    config_reader_text(reader, items, PREFIX "items.table", true, &spec->item_table);
    config_reader_text(reader, items, PREFIX "items.item", true, &spec->item_column);
    read_features(reader, items, PREFIX "items.features", spec);
}

static void read_ratings(struct config_reader *reader, const struct config_node *contextual,
                         struct tacit_context_spec *spec)
{
    static const char *const keys[] = {"table", "agent", "item", "value", "above", "time", NULL};
    struct config_range const any = {-VALUE_MAX, VALUE_MAX, false, false, false};
    struct config_node const *const ratings =
        config_reader_map(reader, contextual, PREFIX "ratings", true);
    struct config_node const *const words = config_node_member(contextual, "words");
    if (ratings == NULL)
        return;
    config_reader_keys(reader, ratings, PREFIX "ratings", keys);
    config_reader_text(reader, ratings, PREFIX "ratings.table", true, &spec->table);
    config_reader_text(reader, ratings, PREFIX "ratings.agent", true, &spec->agent);
    config_reader_text(reader, ratings, PREFIX "ratings.item", true, &spec->item);
    config_reader_text(reader, ratings, PREFIX "ratings.value", true, &spec->value);
    config_reader_text(reader, ratings, PREFIX "ratings.time", false, &spec->time);
    config_reader_number(reader, ratings, PREFIX "ratings.above", false, any, &spec->above);
    spec->has_above = config_node_member(ratings, "above") != NULL;
    if ((words == NULL) == (config_node_member(contextual, "items") == NULL))
        config_reader_fail(reader, contextual, "environment.contextual",
                           "give one of 'words' (texts about items) and 'items' (their vectors, as "
                           "columns of a table)");
    else if (words != NULL)
        read_words(reader, words, spec);
    else
        read_items(reader, contextual, spec);
}

static void read_offers(struct config_reader *reader, const struct config_node *contextual,
                        struct tacit_context_spec *spec)
{
    static const char *const keys[] = {"table", "agent", "decision", "reward", "features", NULL};
    struct config_node const *const offers =
        config_reader_map(reader, contextual, PREFIX "offers", true);
    if (offers == NULL)
        return;
    config_reader_keys(reader, offers, PREFIX "offers", keys);
    config_reader_text(reader, offers, PREFIX "offers.table", true, &spec->table);
    config_reader_text(reader, offers, PREFIX "offers.agent", true, &spec->agent);
    config_reader_text(reader, offers, PREFIX "offers.decision", true, &spec->decision);
    config_reader_text(reader, offers, PREFIX "offers.reward", true, &spec->value);
    read_features(reader, offers, PREFIX "offers.features", spec);
}

static bool read_switch(struct config_reader *reader, const struct config_node *contextual,
                        const char *key)
{
    static const struct config_choice words[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};
    int is_on = 0;
    config_reader_choice(reader, contextual, key, false, words, &is_on);
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
    static const struct config_choice sources[] = {{"sphere", GLM_SOURCE_SPHERE},
                                                   {"pool", GLM_SOURCE_POOL},
                                                   {"ratings", GLM_SOURCE_RATINGS},
                                                   {"offers", GLM_SOURCE_OFFERS},
                                                   {NULL, 0}};
    static const struct config_choice encodings[] = {{"utf-8", TACIT_ENCODING_UTF8},
                                                     {"cp1252", TACIT_ENCODING_CP1252},
                                                     {"latin1", TACIT_ENCODING_LATIN1},
                                                     {NULL, 0}};
    int source = GLM_SOURCE_SPHERE;
    int encoding = TACIT_ENCODING_UTF8;
    config_reader_choice(reader, contextual, PREFIX "source", false, sources, &source);
    keys->source = (enum glm_source)source;
    refuse_others(reader, contextual, keys->source);
    if (reader->status != TACIT_OK || keys->source < GLM_SOURCE_RATINGS)
        return;
    struct tacit_context_spec *const spec = allocate(reader, sizeof *spec);
    if (spec == NULL)
        return;
    *spec = (struct tacit_context_spec){.folder = "", .arm_count = keys->arm_count};
    spec->is_standardised = read_switch(reader, contextual, PREFIX "standardise");
    spec->has_constant = read_switch(reader, contextual, PREFIX "constant");
    spec->dimension = keys->dimension - (spec->has_constant ? 1 : 0);
    if (spec->dimension == 0)
        config_reader_fail(reader, contextual, PREFIX "dimension",
                           "the constant coordinate is one of them; allowed: 2 or more");
    config_reader_choice(reader, contextual, PREFIX "encoding", false, encodings, &encoding);
    spec->dialect.encoding = (enum tacit_encoding)encoding;
    config_reader_text(reader, contextual, PREFIX "folder", false, &spec->folder);
    if (keys->source == GLM_SOURCE_RATINGS)
        read_ratings(reader, contextual, spec);
    else
        read_offers(reader, contextual, spec);
    keys->log = spec;
}

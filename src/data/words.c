/* Texts to vectors: words, TF-IDF, the leading directions (Cesa-Bianchi, Gentile, Zappella 2013,
 * Sec. 5). */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/linalg.h"

#define NO_LENGTH 1e-9 /* of a projection, as a share of the vector: it has no direction */

static bool is_letter(char c)
{
    unsigned char const u = (unsigned char)c;
    return (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z') || u >= 0x80;
}

/* Of ASCII letters only. */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool add_entry(struct data_words *words, uint32_t item, uint32_t word)
{
    TACIT_ASSERT(words->entry_count <= words->entry_capacity);
    if (words->entry_count == words->entry_capacity) {
        size_t const capacity = words->entry_capacity == 0 ? 1024 : 2 * words->entry_capacity;
        struct data_entry *const entries = realloc(words->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return false;
        words->entries = entries;
        words->entry_capacity = capacity;
    }
    words->entries[words->entry_count++] = (struct data_entry){item, word};
    return true;
}

bool data_words_add(struct data_words *words, uint32_t item, char *text)
{
    char *at = text;
    while (*at != '\0') {
        while (*at != '\0' && !is_letter(*at))
            at++;
        char *const word = at;
        for (; is_letter(*at); at++)
            *at = small(*at);
        if (at == word)
            continue;
        uint32_t const number = data_names_add(&words->names, word, (size_t)(at - word));
        if (number == UINT32_MAX || !add_entry(words, item, number))
            return false;
    }
    return true;
}

void data_words_free(struct data_words *words)
{
    data_names_free(&words->names);
    free(words->entries);
    *words = (struct data_words){0};
}

/* ---- TF-IDF ---- */

static int compare_entries(const void *left, const void *right)
{
    struct data_entry const *const a = left;
    struct data_entry const *const b = right;
    if (a->item != b->item)
        return a->item < b->item ? -1 : 1;
    return a->word == b->word ? 0 : a->word < b->word ? -1 : 1;
}

/* Counts of each word in each item, a row an item. */
static void count_words(const struct data_words *words, struct data_sparse *x)
{
    size_t used = 0;
    uint32_t row = 0;
    for (size_t i = 0; i < words->entry_count; i++) {
        struct data_entry const *const place = &words->entries[i];
        bool const is_same = i > 0 && compare_entries(place, place - 1) == 0;
        for (; row < place->item; row++)
            x->start[row + 1] = used;
        if (is_same) {
            x->values[used - 1] += 1;
            continue;
        }
        x->columns[used] = place->word;
        x->values[used++] = 1;
    }
    for (; row < x->row_count; row++)
        x->start[row + 1] = used;
}

/* Times the logarithm of the share of items that have the word, inverted. False: out of memory. */
static bool weigh(struct data_sparse *x)
{
    double *const weights = calloc(x->column_count, sizeof *weights);
    if (weights == NULL)
        return false;
    size_t const count = x->start[x->row_count];
    for (size_t i = 0; i < count; i++)
        weights[x->columns[i]] += 1;
    for (uint32_t word = 0; word < x->column_count; word++)
        weights[word] = tacit_linalg_log(x->row_count / weights[word]);
    for (size_t i = 0; i < count; i++)
        x->values[i] *= weights[x->columns[i]];
    free(weights);
    return true;
}

/* ---- Directions ---- */

/* Where an item lies along the directions, scaled to length 1; in single precision, whose rounding
 * may make it longer by so little that a context may be. */
static void project_item(const struct data_sparse *x, uint32_t row, uint32_t dimension,
                         const double *directions, float *vector)
{
    TACIT_ASSERT(dimension <= TACIT_LINALG_DIMENSION_MAX);
    TACIT_ASSERT(row < x->row_count);
    double place[TACIT_LINALG_DIMENSION_MAX];
    double square = 0;
    double whole = 0;
    for (size_t i = x->start[row]; i < x->start[row + 1]; i++)
        whole += x->values[i] * x->values[i];
    for (uint32_t j = 0; j < dimension; j++) {
        double const *const direction = directions + (size_t)j * x->column_count;
        place[j] = 0;
        for (size_t i = x->start[row]; i < x->start[row + 1]; i++)
            place[j] += x->values[i] * direction[x->columns[i]];
        square += place[j] * place[j];
    }
    bool const has_direction = square > NO_LENGTH * NO_LENGTH * whole;
    for (uint32_t j = 0; j < dimension; j++)
        vector[j] = has_direction ? (float)(place[j] / sqrt(square) * (1.0 - 0x1p-22)) : 0.0F;
}

static enum tacit_status project_all(const struct data_sparse *x, uint32_t dimension,
                                     float *vectors)
{
    double *const directions = malloc((size_t)dimension * x->column_count * sizeof *directions);
    double lengths[TACIT_LINALG_DIMENSION_MAX];
    enum tacit_status const status =
        directions == NULL ? TACIT_MEMORY : data_principal(x, dimension, directions, lengths);
    for (uint32_t row = 0; row < x->row_count && status == TACIT_OK; row++)
        project_item(x, row, dimension, directions, vectors + (size_t)row * dimension);
    free(directions);
    return status;
}

enum tacit_status data_words_vectors(struct data_words *words, uint32_t item_count,
                                     uint32_t dimension, float *vectors)
{
    TACIT_ASSERT(dimension <= TACIT_LINALG_DIMENSION_MAX);
    TACIT_ASSERT(dimension <= words->names.count);
    struct data_sparse x = {.row_count = item_count,
                            .column_count = words->names.count,
                            .start = calloc(item_count + (size_t)1, sizeof *x.start),
                            .columns = malloc(words->entry_count * sizeof *x.columns),
                            .values = malloc(words->entry_count * sizeof *x.values)};
    enum tacit_status status = TACIT_MEMORY;
    if (x.start != NULL && x.columns != NULL && x.values != NULL) {
        qsort(words->entries, words->entry_count, sizeof *words->entries, compare_entries);
        count_words(words, &x);
        status = weigh(&x) ? project_all(&x, dimension, vectors) : TACIT_MEMORY;
    }
    free(x.start);
    free(x.columns);
    free(x.values);
    return status;
}

/* Texts to vectors, against a naive twin: a dense table of counts, its logarithms, and LAPACK's
 * singular value decomposition; and the sparse one against it on matrices with repeated and
 * vanishing singular values. */
#include <lapacke.h>
#include <math.h>
#include "../support/testing.h"
#include "../../src/data/internal.h"

#define SEED 20260202
#define ITEMS 60u
#define WORDS 40u
#define D 6u

/* Rows of V' of X = U S V', the leading `count` of them with the largest component positive. */
static void leading(const double *x, uint32_t rows, uint32_t columns, uint32_t count,
                    double *vectors, double *values)
{
    uint32_t const least = rows < columns ? rows : columns;
    double *const copy = testing_malloc((size_t)rows * columns * sizeof *copy);
    double *const s = testing_malloc(least * sizeof *s);
    double *const u = testing_malloc((size_t)rows * rows * sizeof *u);
    double *const v = testing_malloc((size_t)columns * columns * sizeof *v);
    double *const work = testing_malloc(least * sizeof *work);
    memcpy(copy, x, (size_t)rows * columns * sizeof *copy);
    assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'A', 'A', (lapack_int)rows,
                                    (lapack_int)columns, copy, (lapack_int)columns, s, u,
                                    (lapack_int)rows, v, (lapack_int)columns, work),
                     0);
    for (uint32_t j = 0; j < count; j++) {
        double const *const row = v + (size_t)j * columns;
        uint32_t at = 0;
        for (uint32_t i = 1; i < columns; i++)
            at = fabs(row[i]) > fabs(row[at]) ? i : at;
        for (uint32_t i = 0; i < columns; i++)
            vectors[(size_t)j * columns + i] = row[at] < 0 ? -row[i] : row[i];
        values[j] = s[j];
    }
}

static void make_sparse(const double *x, uint32_t rows, uint32_t columns, struct data_sparse *is)
{
    size_t used = 0;
    *is = (struct data_sparse){
        .row_count = rows,
        .column_count = columns,
        .start = testing_calloc(rows + (size_t)1, sizeof *is->start),
        .columns = testing_malloc((size_t)rows * columns * sizeof *is->columns),
        .values = testing_malloc((size_t)rows * columns * sizeof *is->values)};
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            if (x[(size_t)row * columns + column] == 0)
                continue;
            is->columns[used] = column;
            is->values[used++] = x[(size_t)row * columns + column];
        }
        is->start[row + 1] = used;
    }
}

TEST(leading_directions_are_those_of_lapack)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 1);
    for (uint32_t round = 0; round < 20; round++) {
        uint32_t const rows = 5 + (uint32_t)tacit_rng_below(&rng, 120);
        uint32_t const columns = D + (uint32_t)tacit_rng_below(&rng, 150);
        double *const x = testing_calloc((size_t)rows * columns, sizeof *x);
        double *const ours = testing_malloc((size_t)D * columns * sizeof *ours);
        double *const theirs = testing_malloc((size_t)D * columns * sizeof *theirs);
        double values[2][D];
        struct data_sparse sparse;
        for (size_t i = 0; i < (size_t)rows * columns; i++)
            x[i] = tacit_rng_uniform(&rng) < 0.2 ? tacit_rng_normal(&rng) : 0;
        make_sparse(x, rows, columns, &sparse);
        uint32_t const count = rows < D ? rows : D;
        assert_int_equal(data_principal(&sparse, count, ours, values[0]), TACIT_OK);
        leading(x, rows, columns, count, theirs, values[1]);
        for (uint32_t j = 0; j < count; j++) {
            assert_true(fabs(values[0][j] - values[1][j]) < 1e-9 * values[1][0]);
            double dot = 0;
            for (uint32_t i = 0; i < columns; i++)
                dot += ours[(size_t)j * columns + i] * theirs[(size_t)j * columns + i];
            assert_true(fabs(dot) > 1 - 1e-7);
        }
        testing_free(x);
        testing_free(ours);
        testing_free(theirs);
    }
}

/* Two blocks with the same singular values, and columns of nothing: each value comes as often as it
 * is there. */
TEST(repeated_and_vanishing_values_are_found)
{
    double x[4 * 6] = {3, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0};
    double vectors[6 * 6];
    double values[6];
    double const expected[6] = {3, 3, 1, 1, 0, 0};
    struct data_sparse sparse;
    make_sparse(x, 4, 6, &sparse);
    assert_int_equal(data_principal(&sparse, 6, vectors, values), TACIT_OK);
    for (uint32_t j = 0; j < 6; j++) {
        assert_true(fabs(values[j] - expected[j]) < 1e-7);
        for (uint32_t other = 0; other <= j; other++) {
            double dot = 0;
            for (uint32_t i = 0; i < 6; i++)
                dot += vectors[j * 6 + i] * vectors[other * 6 + i];
            assert_true(fabs(dot - (other == j ? 1 : 0)) < 1e-9);
        }
    }
}

/* Texts of random words, some twice; the twin counts them in a dense table. */
TEST(vectors_of_texts_are_those_of_the_naive_twin)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 1, 0, 1);
    static double counts[ITEMS * WORDS];
    static double directions[D * WORDS];
    double values[D];
    float vectors[ITEMS * D];
    struct data_words words = {.entries = NULL};
    for (uint32_t word = 0; word < WORDS;
         word++) { /* the first item says all, so they are in order */
        char text[16];
        (void)snprintf(text, sizeof text, "W%u-", word);
        assert_true(data_words_add(&words, 0, text));
        counts[word] = 1;
    }
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t const item = 1 + (uint32_t)tacit_rng_below(&rng, ITEMS - 1);
        uint32_t const word = (uint32_t)(tacit_rng_uniform(&rng) * tacit_rng_uniform(&rng) * WORDS);
        char text[16];
        (void)snprintf(text, sizeof text, "  w%u!", word);
        assert_true(data_words_add(&words, item, text));
        counts[item * WORDS + word] += 1;
    }
    assert_int_equal(words.names.count, WORDS);
    for (uint32_t word = 0; word < WORDS; word++) {
        double having = 0;
        for (uint32_t item = 0; item < ITEMS; item++)
            having += counts[item * WORDS + word] > 0 ? 1 : 0;
        for (uint32_t item = 0; item < ITEMS; item++)
            counts[item * WORDS + word] *= log(ITEMS / having);
    }
    leading(counts, ITEMS, WORDS, D, directions, values);
    assert_int_equal(data_words_vectors(&words, ITEMS, D, vectors), TACIT_OK);
    for (uint32_t item = 0; item < ITEMS; item++) {
        double place[D] = {0};
        double square = 0;
        for (uint32_t j = 0; j < D; j++) {
            for (uint32_t word = 0; word < WORDS; word++)
                place[j] += counts[item * WORDS + word] * directions[j * WORDS + word];
            square += place[j] * place[j];
        }
        for (uint32_t j = 0; j < D; j++)
            assert_true(fabs((double)vectors[item * D + j] -
                             (square > 1e-20 ? place[j] / sqrt(square) : 0)) < 1e-5);
    }
    data_words_free(&words);
}

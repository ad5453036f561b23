/* The second largest eigenvalue of the gossip matrix, by LAPACK's dsyevr. */
#include "spectrum.h"
#include <lapacke.h>
#include <stdlib.h>

/* values[0] becomes the eigenvalue of this number (from 1, ascending). Result: 0, or it failed.
 * Requires: room for `order` values, which LAPACK uses meanwhile; the matrix is overwritten. No
 * vectors are asked for, so none are stored; the tolerance 0 is the best that is possible. */
static lapack_int find_eigenvalue(double *matrix, lapack_int order, lapack_int number,
                                  double *values)
{
    lapack_int found = 0;
    lapack_int support[2];
    double no_vector = 0;
    lapack_int const info =
        LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'N', 'I', 'U', order, matrix, order, 0, 0, number, number,
                       0, &found, values, &no_vector, 1, support);
    return info != 0 ? info : found - 1;
}

enum tacit_status topo_lambda_2(const struct tacit_graph *graph, double *lambda_2)
{
    size_t const order = graph->agent_count;
    if (order < 2 || order > TACIT_SPECTRUM_AGENTS_MAX || graph->edge_count == 0)
        return TACIT_INVALID;
    double *const matrix = malloc(order * order * sizeof matrix[0]);
    double *const values = malloc(order * sizeof values[0]);
    enum tacit_status status = TACIT_MEMORY;
    if (matrix != NULL && values != NULL) {
        tacit_graph_gossip_matrix(graph, matrix);
        lapack_int const last = (lapack_int)order;
        if (find_eigenvalue(matrix, last, last - 1, values) == 0) {
            *lambda_2 = values[0];
            status = TACIT_OK;
        }
    }
    free(matrix);
    free(values);
    return status;
}

/* Eigenvalues of the gossip matrix. Not part of the pure archive: it allocates and calls LAPACK
 * (docs/adr). Link tacit_spectrum_dep. */
#ifndef TACIT_TOPO_SPECTRUM_H
#define TACIT_TOPO_SPECTRUM_H
#include "tacit/topo.h"

/* Above this the matrix of n^2 doubles and the n^3 steps are too much. */
#define TACIT_SPECTRUM_AGENTS_MAX 2048u

/* The second largest eigenvalue of tacit_graph_gossip_matrix, 1 if the graph is in pieces: how much
 * of a disagreement is left, in expectation, after a step of gossip. Good to about 1e-14 absolute.
 * Errors (*lambda_2 untouched): TACIT_INVALID: fewer than two agents, more than
 *   TACIT_SPECTRUM_AGENTS_MAX, or no edge; TACIT_MEMORY: also when LAPACK has none or gives up.
 * Cost: O(n^3) time, O(n^2) memory. READINGS P2.8: triangle .5, path of 10 .9946. */
enum tacit_status topo_lambda_2(const struct tacit_graph *graph, double *lambda_2);
#endif

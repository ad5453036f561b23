/* Gossip_UCB and Fed_UCB as they are printed, stupid on purpose: a list of all observations of each
 * agent and arm, a dictionary of partial sums, loops over everything. Knows nothing of the
 * library; chance and noise come from the caller. */
#ifndef TACIT_TESTS_GOSSIP_TWIN_H
#define TACIT_TESTS_GOSSIP_TWIN_H
#include <stdbool.h>
#include <stdint.h>

/* ---- Algorithms 2 and 3: one stream of observations ---- */

struct twin_stream {
    uint64_t length;      /* room for leaves 1 .. length */
    double *observations; /* X(tau); 0 where the arm was not pulled */
    bool *pulled;
    /* The dictionary: partial sums P that were asked for, with their noise. An interval of Alg. 2
     * is known by its last leaf, whose rightmost digit 1 says how long it is. */
    bool *known;
    double *partial;
    uint32_t interval_count; /* in the dictionary: intervals that were ever noised */
};

void twin_stream_init(struct twin_stream *stream, uint64_t length);
void twin_stream_free(struct twin_stream *stream);

/* Puts an observation at leaf t. Result: the noised sum of leaves 1 .. t (Alg. 3, before the
 * division). noise: NULL for none. */
double twin_stream_release(struct twin_stream *stream, uint64_t t, double observation,
                           double (*noise)(void *context), void *context);

/* ---- Algorithms 1 and 4 ---- */

struct gossip_twin_config {
    uint32_t agents;  /* N */
    uint32_t arms;    /* M */
    uint64_t horizon; /* T */
    double epsilon;   /* INFINITY: (11), no noise */
    bool sound;       /* first pulls are leaves, leaves are own pulls, log max(n, 2) */
    bool log_base_10;
    const bool *adjacent; /* N x N */
};

struct gossip_twin_chance {
    void *context;
    double (*reward)(void *context, uint32_t agent, uint32_t arm);
    double (*noise)(void *context, uint32_t agent);
    uint64_t (*below)(void *context, uint32_t agent, uint64_t bound);
    void (*edge)(void *context, uint32_t *a, uint32_t *b);
};

struct gossip_twin {
    struct gossip_twin_config config;
    struct gossip_twin_chance chance;
    uint64_t t;
    uint64_t *n;     /* N x M */
    uint64_t *tilde; /* n~(t+1) */
    double *theta;
    double *mean;                /* X~ */
    double *initial;             /* X(0) */
    uint32_t *action;            /* N */
    bool *forced;                /* N */
    struct twin_stream *streams; /* N x M */
};

/* Runs the initialization. */
void gossip_twin_init(struct gossip_twin *twin, const struct gossip_twin_config *config,
                      const struct gossip_twin_chance *chance);
void gossip_twin_free(struct gossip_twin *twin);
/* One slot. */
void gossip_twin_slot(struct gossip_twin *twin);
/* (11) or (12). */
double gossip_twin_radius(const struct gossip_twin_config *config, uint64_t t, uint64_t n);
#endif

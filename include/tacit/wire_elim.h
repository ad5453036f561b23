/* Epoch elimination on the wire: its messages, and its part of an announcement. The schema is
 * src/wire/elim.proto; every field has a fixed size, so that the length of a message tells nothing
 * but what is public anyway (arm and agent counts; between peers, whose reports it names or holds).
 * No I/O. */
#ifndef TACIT_WIRE_ELIM_H
#define TACIT_WIRE_ELIM_H
#include "tacit/elim.h"
#include "tacit/wire.h"

#define TACIT_WIRE_ELIM_FAMILY 0u
#define TACIT_WIRE_ELIM_NAME "elimination"
#define TACIT_WIRE_ELIM_VERSION 1u

/* ---- Messages -------------------------------------------------------------------------------- */

/* Messages are struct tacit_elim_message of sound mode (sums are steps). */
extern const struct tacit_wire_protocol tacit_wire_elim;

/* What the length of a message between peers depends on, besides K. */
struct tacit_wire_elim_rows {
    size_t span_bytes;  /* of its set of origins: highest / 8 - lowest / 8 + 1 */
    size_t row_count;   /* DATA: its origins */
    uint32_t sum_count; /* DATA: numbers in a row */
    bool has_openings;  /* DATA: with grants */
    bool is_signed;     /* DATA: with signed rows */
};

/* Bytes of an ADVERT, a REQUEST or DATA of which no more than that is known: what
 * tacit_wire_bytes says of every such message. Cost: O(1). */
size_t tacit_wire_elim_rows_bytes(enum tacit_elim_message_kind kind,
                                  const struct tacit_wire_elim_rows *rows, uint32_t arm_count);

enum tacit_wire_elim_network { /* elim.proto, ElimParameters.network */
                               TACIT_WIRE_ELIM_STAR,
                               TACIT_WIRE_ELIM_SPREAD,
                               TACIT_WIRE_ELIM_GATHER
};

/* What a site's core needs to know of the run. */
struct tacit_wire_elim_run {
    TACIT_WIRE_RUN_HEAD
    enum tacit_wire_elim_network network;
    uint32_t report_count; /* N */
    uint32_t round_limit;  /* of the schedule; 0: none */
    uint32_t gather_timeout_s;
    double gap;        /* in (0, 1] */
    double growth;     /* of exact bounds; 0: the paper's */
    double confidence; /* with a growth; 0: none */
    /* Among peers, a site's place (elim.proto, ElimPlace) */
    uint32_t parent; /* GATHER: as in struct tacit_elim_peer_config */
    uint32_t neighbour_count;
    const uint64_t *members;                       /* A; NULL: all */
    const struct tacit_wire_neighbour *neighbours; /* ascending */
    const char *const *sites; /* SPREAD: A names, by index: who sign rows; else NULL */
};
#endif

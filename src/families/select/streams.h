/* The random streams of a run of user selection. */
#ifndef FAMILIES_SELECT_STREAMS_H
#define FAMILIES_SELECT_STREAMS_H
#include "tacit/random.h"

#define SELECT_NUMBER 5

/* Streams of a run, by TACIT_PURPOSE_OF_FAMILY. */
enum select_purpose {
    SELECT_STREAM_LATENCY,
    SELECT_STREAM_CHOICE,
    SELECT_STREAM_SIZES,
    SELECT_STREAM_MEDIANS,
    SELECT_STREAM_PICTURES,
    SELECT_STREAM_MODEL,
    SELECT_STREAM_BATCHES,
    SELECT_STREAM_NOISE,
    SELECT_STREAM_FROZEN
};
#endif

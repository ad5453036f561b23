/* A queue of things to happen, in order of virtual time; at one time by kind, so that everybody has
 * played and spoken in a slot before anybody hears; messages by their rank, so that a handshake is
 * over before the next begins; then by whom it comes from; then of arrival. */
#ifndef TACIT_SIM_QUEUE_H
#define TACIT_SIM_QUEUE_H
#include "tacit/base.h"

enum sim_item_kind {
    SIM_ITEM_FAULT,  /* of a test, of kind `rank` (nodes.h, struct sim_fault_ops) */
    SIM_ITEM_PULLS,  /* the plan of `node` has been played, or a part of it */
    SIM_ITEM_TIMER,  /* a deadline of `node` */
    SIM_ITEM_MESSAGE /* a packet reaches `node` */
};

struct sim_packet;

struct sim_item {
    uint64_t time_us;
    uint64_t order; /* given by the queue */
    enum sim_item_kind kind;
    uint32_t rank; /* FAULT, MESSAGE: lower ones first */
    uint32_t node;
    uint32_t origin; /* the sender of a packet; else the node */
    uint64_t number; /* PULLS: plan number; TIMER: deadline */
    uint32_t part;   /* PULLS: which part of the plan; 0: the last */
    struct sim_packet *packet;
};

struct sim_queue {
    struct sim_item *items; /* a binary heap */
    size_t count;
    size_t capacity;
    uint64_t pushed_count;
};

/* Errors: TACIT_MEMORY. */
enum tacit_status sim_queue_push(struct sim_queue *queue, struct sim_item item);

/* Takes the next item out. Returns false if there is none. Cost: O(log n). */
bool sim_queue_pop(struct sim_queue *queue, struct sim_item *item);

void sim_queue_free(struct sim_queue *queue);
#endif

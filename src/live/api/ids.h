/* How decisions are named to people: the number and the drawn salt of a decision, together one
 * block, through AES under a key that stays with the state. Two ids tell nothing of each other: not
 * which came first, nor how many there are in between, nor when. */
#ifndef TACIT_LIVE_IDS_H
#define TACIT_LIVE_IDS_H
#include "../store/store.h"

#define LIVE_ID_BYTES 16u

struct live_ids;

/* Errors: NULL: memory. */
struct live_ids *live_ids_new(const uint8_t key[LIVE_STORE_ID_KEY_BYTES]);
/* NULL is allowed. */
void live_ids_free(struct live_ids *ids);
void live_ids_encrypt(struct live_ids *ids, struct live_decision_id id,
                      uint8_t block[LIVE_ID_BYTES]);
/* Whatever the block is, some id comes of it: whether there is such a decision, its salt says. */
struct live_decision_id live_ids_decrypt(struct live_ids *ids, const uint8_t block[LIVE_ID_BYTES]);
#endif

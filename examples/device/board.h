/* What the agent of device.c needs of its board, and what it gives to it. */
#ifndef TACIT_EXAMPLE_BOARD_H
#define TACIT_EXAMPLE_BOARD_H
#include "tacit/base.h"

/* ---- Of the board ---------------------------------------------------------------------------- */

const char *board_name(void);    /* of this site in the federation */
uint64_t board_now_us(void);     /* since it was switched on; never decreases */
double board_pull(uint32_t arm); /* plays this arm once: what it earned, 0 to 1 */

/* Bytes of its own noise source, as struct tacit_entropy has them. No other will do: who foresees
 * these bytes takes the noise away. */
enum tacit_status board_entropy(void *context, void *bytes, size_t size);

/* When it returns, the bytes outlast a power cut. */
void board_keep(const void *bytes, size_t size);

/* The bytes that were kept last; 0: none. */
size_t board_kept(void *bytes, size_t size_max);

/* Sends them to the hub; they may be lost. The link signs them where the federation asks for it. */
void board_say(const uint8_t *bytes, size_t size);

/* ---- For the board --------------------------------------------------------------------------- */

/* A message for this device came. What makes no sense is dropped. */
void device_hear(const uint8_t *bytes, size_t size);

/* One pull, or what time asks for; false: there is nothing to do until a message or a timer. */
bool device_work(void);
#endif

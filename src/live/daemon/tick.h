/* When a release may leave. How long a sampler takes tells what it drew, so what is drawn leaves on
 * a tick that everybody could have named before it was drawn: multiples of a public length on the
 * monotone clock (PRIVACY.md A.3, D.65). */
#ifndef TACIT_LIVE_TICK_H
#define TACIT_LIVE_TICK_H
#include "tacit/base.h"

#define LIVE_TICK_US 100000u

/* The length for releases of so many numbers: several times what drawing them takes. Public, as the
 * number is. Ensures: a multiple of LIVE_TICK_US. */
uint64_t live_tick_length_us(uint64_t numbers);

/* When what is drawn because of an event at event_us leaves: the first tick at least one length
 * after the event. The time of drawing is no argument. */
uint64_t live_tick_after_us(uint64_t event_us, uint64_t length_us);

/* From a draw to its tick nothing leaves, whatever it is: a word that something was drawn tells the
 * time as well. All zero: nothing is held. */
struct live_hold {
    uint64_t until_us; /* 0: no hold */
    uint64_t length_us;
    bool has_drawn; /* in this round */
    bool tick_has_come;
};

/* So many numbers are drawn because of an event. Set the timer to until_us. */
void live_hold_draw(struct live_hold *hold, uint64_t event_us, uint64_t numbers);
/* The same where something is drawn with every reward: a tick that is named already stays, since
 * it would move on for ever, and nothing would leave. Then all leaves on every tick, whatever was
 * drawn before it; a draw under way makes it later by what is left of its round, which is the
 * disk's writing a thousand times over. */
void live_hold_stream(struct live_hold *hold, uint64_t event_us, uint64_t numbers);
/* The timer is due. */
void live_hold_tick(struct live_hold *hold);
/* A round ends, all of it is durable: may messages leave? Only the tick ends a hold. If drawing and
 * writing took beyond it (a slow disk, a machine that stood still), it is a later one: leaving at
 * once would show how far beyond. Set the timer to until_us, if that is not 0. */
bool live_hold_end_round(struct live_hold *hold, uint64_t now_us);
#endif

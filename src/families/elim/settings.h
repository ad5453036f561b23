/* What a coordinator's file says about epoch elimination, beside what all protocols have. */
#ifndef TACIT_ELIM_SETTINGS_H
#define TACIT_ELIM_SETTINGS_H
#include "../../live/hub.h"
#include "tacit/elim.h"
#include "tacit/family.h"

struct elim_hub_settings {
    uint32_t report_count;                    /* N */
    uint32_t round_limit;                     /* 0: none */
    double gap;                               /* 1 without a round limit */
    double growth;                            /* of exact bounds; 0: the paper's */
    double confidence;                        /* with them; 0: delta = 1/T */
    uint32_t floor_milli;                     /* the same; tacit/bounds.h */
    const struct tacit_elim_network *network; /* of peers; NULL: a star */
};

/* Over a star. gap has a meaning with a round limit only. */
struct elim_hub_settings elim_hub_settings_make(double participation, uint32_t site_count,
                                                uint32_t round_limit, double gap);

const struct elim_hub_settings *elim_hub_settings(const struct live_hub_config *config);

/* The schedule that the hub judges by, and that its sites are told of. */
struct tacit_elim_schedule elim_hub_schedule(const struct live_hub_config *config);

/* Is the horizon too short for a first epoch and so many slots of waiting after it? A run that ends
 * before learns nothing and tells nobody (PRIVACY.md D.51). Then in words why. */
#define ELIM_REFUSAL_BYTES 300u
bool elim_horizon_is_refused(const struct tacit_elim_schedule *schedule, uint32_t delay,
                             char text[ELIM_REFUSAL_BYTES]);

/* The network as the cores know it. Requires: the network outlives it. */
struct tacit_elim_network elim_network(const struct tacit_network *network, bool components_alike);
#endif

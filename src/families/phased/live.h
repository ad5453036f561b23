/* Play in phases as the daemons drive it. */
#ifndef TACIT_PHASED_LIVE_H
#define TACIT_PHASED_LIVE_H
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/phased.h"

/* What a coordinator's file says, beside what all protocols have. */
struct phased_hub_settings {
    struct tacit_phases schedule; /* all of it */
    const uint64_t *added;   /* K: of the arms to come, those that are there by now; NULL: none */
    const uint64_t *retired; /* K: arms that are taken out, for good; NULL: none */
};

extern const struct live_site_ops phased_site_ops;
extern const struct live_hub_ops phased_hub_ops;
#endif

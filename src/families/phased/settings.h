/* What a coordinator's file says about play in phases, beside what all protocols have. */
#ifndef TACIT_PHASED_SETTINGS_H
#define TACIT_PHASED_SETTINGS_H
#include "../../live/hub.h"
#include "tacit/phased.h"

struct phased_hub_settings {
    struct tacit_phases schedule; /* all of it */
    const uint64_t *added;   /* K: of the arms to come, those that are there by now; NULL: none */
    const uint64_t *retired; /* K: arms that are taken out, for good; NULL: none */
};
#endif

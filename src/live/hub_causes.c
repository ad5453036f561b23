#include "hub_causes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 512u
#define NAMES_SHOWN_MAX 8u

/* Those of a set, by name: "north, south and 3 more". */
static void name_sites(const struct live_status *status, const uint64_t *sites, char names[],
                       size_t size)
{
    uint32_t const count = status->config->site_count;
    struct tacit_text text = tacit_text_init(names, size);
    uint32_t shown = 0;
    for (uint32_t site = tacit_bits_next(sites, count, 0); site < count && shown < NAMES_SHOWN_MAX;
         site = tacit_bits_next(sites, count, site + 1)) {
        tacit_text_add(&text, shown++ == 0 ? "" : ", ");
        tacit_text_add(&text, status->config->sites[site]);
    }
    if (tacit_bits_count(sites, count) > shown) {
        tacit_text_add(&text, " and ");
        tacit_text_add_u64(&text, tacit_bits_count(sites, count) - shown);
        tacit_text_add(&text, " more");
    }
}

static void add_overdue(const struct live_status *status, struct live_causes *causes)
{
    TACIT_ASSERT(status->hub->is_overdue);
    TACIT_ASSERT(status->hub->asked != NULL && status->hub->received != NULL);
    struct live_hub_view const *const hub = status->hub;
    size_t const words = TACIT_BITS_WORDS(status->config->site_count);
    uint64_t *const missing = calloc(words, sizeof *missing);
    char names[LINE_BYTES / 2];
    char what[LINE_BYTES];
    if (missing == NULL)
        return;
    for (size_t i = 0; i < words; i++)
        missing[i] = hub->asked[i] & ~hub->received[i];
    name_sites(status, missing, names, sizeof names);
    (void)snprintf(what, sizeof what,
                   "epoch %u: the deadline is over, and %u of the quorum's %u sites reported; "
                   "missing: %.250s",
                   hub->epoch, hub->covered_count,
                   hub->takes_changes ? hub->quorum : status->config->quorum, names);
    live_causes_add(causes, LIVE_STATE_WAITING, what,
                    hub->takes_changes
                        ? "start the missing agents; one that is gone for good is left out with "
                          "tacit control STATE drop SITE, or the quorum lowered"
                        : "start the missing agents: the round goes on when they report");
    free(missing);
}

/* Sites that follow what this state knows nothing of. */
static void add_ahead(const struct live_status *status, struct live_causes *causes)
{
    uint64_t const *const ahead = status->hub->ahead;
    uint32_t const count = status->config->site_count;
    char names[LINE_BYTES / 2];
    char what[LINE_BYTES];
    if (ahead == NULL || tacit_bits_next(ahead, count, 0) == count)
        return;
    name_sites(status, ahead, names, sizeof names);
    (void)snprintf(what, sizeof what,
                   "this coordinator's state is an old one: what these sites show follows a grant "
                   "that it knows nothing of (or they do not say what is true): %.250s",
                   names);
    live_causes_add(causes, LIVE_STATE_ATTENTION, what,
                    "stop this coordinator and put its newest state back; if that is gone, begin a "
                    "new term: tacit coordinator --new-term");
}

static void add_site(const struct live_status *status, uint32_t site, struct live_causes *causes)
{
    TACIT_ASSERT(site < status->config->site_count);
    struct live_hub_view const *const hub = status->hub;
    char const *const name = status->config->sites[site];
    char what[LINE_BYTES];
    if (hub->flagged != NULL && tacit_bits_has(hub->flagged, site)) {
        (void)snprintf(what, sizeof what, "two states of site %s", name);
        live_causes_add(causes, LIVE_STATE_ATTENTION, what,
                        "stop all processes of this site, and start the one with the newest state "
                        "alone: the highest release_epoch");
    }
}

struct live_causes live_hub_causes(const struct live_status *status)
{
    struct live_causes causes = live_causes_begin();
    live_causes_add_broker(&causes, &status->broker);
    for (uint32_t site = 0; site < status->config->site_count; site++)
        add_site(status, site, &causes);
    add_ahead(status, &causes);
    if (status->hub->is_overdue)
        add_overdue(status, &causes);
    return causes;
}

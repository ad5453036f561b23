/* What keeps a coordinator from its work, worked out from its state each time that it is asked. */
#include "coordinator_state.h"
#include "show.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES 512u
#define HELPER_AFTER_S 5u
#define US_PER_S UINT64_C(1000000)

/* Sites, named in the sentence, too. */
static void add_set(const struct live_status *status, enum live_cause cause, const char *what,
                    const uint64_t *sites, struct live_causes *causes)
{
    live_causes_add_set(causes, cause, what, status->config->sites, status->config->site_count,
                        sites);
}

/* If there are any; sites NULL: there are none. */
static void add_some(const struct live_status *status, enum live_cause cause, const char *what,
                     const uint64_t *sites, struct live_causes *causes)
{
    uint32_t const count = status->config->site_count;
    if (sites != NULL && tacit_bits_next(sites, count, 0) < count)
        add_set(status, cause, what, sites, causes);
}

static uint64_t waiting_after_us(const struct live_status *status)
{
    return US_PER_S * status->of->config->daemon.waiting_after_s;
}

/* Was nothing heard of it for so long that it may be gone? */
static bool is_silent(const struct live_status *status, uint32_t site)
{
    uint64_t const heard_us = status->of->sites[site].heard_us;
    uint64_t const since_us = heard_us > status->of->started_us ? heard_us : status->of->started_us;
    return status->now_us >= since_us + waiting_after_us(status);
}

/* The set of sites whose report the present round lacks. Dropped ones are not waited for. */
static void find_missing(const struct live_status *status, uint64_t *missing)
{
    struct live_hub_view const *const hub = status->hub;
    for (size_t i = 0; i < TACIT_BITS_WORDS(status->config->site_count); i++)
        missing[i] = hub->asked[i] & ~hub->received[i] &
                     ~(hub->helper.is_there ? hub->helper.dropped[i] : 0);
}

/* Where nobody is asked: those who say nothing, and are not through. */
static void find_silent(const struct live_status *status, uint64_t *silent)
{
    uint32_t const count = status->config->site_count;
    for (uint32_t site = 0; site < count; site++)
        if (is_silent(status, site) &&
            (status->hub->done == NULL || !tacit_bits_has(status->hub->done, site)))
            tacit_bits_add(silent, site);
}

static void add_overdue(const struct live_status *status, const uint64_t *missing,
                        struct live_causes *causes)
{
    struct live_hub_view const *const hub = status->hub;
    char what[LINE_BYTES];
    TACIT_ASSERT(hub->is_overdue);
    (void)snprintf(
        what, sizeof what,
        "round %u: the deadline is over, and %u of the quorum's %u sites reported; missing",
        hub->epoch, hub->covered_count, live_hub_quorum(hub, status->config));
    add_set(status, hub->can_change ? LIVE_CAUSE_OVERDUE : LIVE_CAUSE_OVERDUE_FIXED, what, missing,
            causes);
}

/* is_asked: the round waits for these sites; else they are silent. */
static void add_still(const struct live_status *status, bool is_asked, const uint64_t *sites,
                      struct live_causes *causes)
{
    char what[LINE_BYTES];
    uint64_t const open_s = (status->now_us - status->of->round.since_us) / US_PER_S;
    if (tacit_bits_count(sites, status->config->site_count) == 0)
        return;
    if (is_asked)
        (void)snprintf(what, sizeof what, "round %u has waited %" PRIu64 " s for",
                       status->hub->epoch, open_s);
    else
        (void)snprintf(what, sizeof what, "silent for %" PRIu64 " s or longer",
                       waiting_after_us(status) / US_PER_S);
    add_set(status, LIVE_CAUSE_SITES, what, sites, causes);
}

/* Who holds the run up. */
static void add_waits(const struct live_status *status, struct live_causes *causes)
{
    struct live_hub_view const *const hub = status->hub;
    uint64_t *const sites = calloc(TACIT_BITS_WORDS(status->config->site_count), sizeof *sites);
    bool const is_asked = hub->missing_count > 0;
    bool const is_still =
        status->now_us >= status->of->standstill.since_us + waiting_after_us(status);
    if (sites == NULL || hub->is_finished) {
        free(sites);
        return;
    }
    if (is_asked || hub->is_overdue)
        find_missing(status, sites);
    else if (!hub->judges || hub->votes != NULL)
        find_silent(status, sites);
    if (hub->is_overdue)
        add_overdue(status, sites, causes);
    else if (is_still || !hub->judges)
        add_still(status, is_asked, sites, causes);
    free(sites);
}

/* The helper is offered the run with the keys of all sites. False: they have all come. */
static bool add_keyless(const struct live_status *status, struct live_causes *causes)
{
    uint32_t const count = status->config->site_count;
    uint64_t *const sites = calloc(TACIT_BITS_WORDS(count), sizeof *sites);
    for (uint32_t site = 0; sites != NULL && site < count; site++)
        if (!live_keys_know(status->of->member.keys, status->config->sites[site]))
            tacit_bits_add(sites, site);
    bool const lacks = sites != NULL && tacit_bits_next(sites, count, 0) < count;
    add_some(status, LIVE_CAUSE_SITES,
             "the run is offered to the helper once all sites have shown their keys; not yet",
             sites, causes);
    free(sites);
    return lacks;
}

/* The second aggregator, and rounds that came to nothing. */
static void add_helper(const struct live_status *status, struct live_causes *causes)
{
    static const char *const refusals[] = {
        [TACIT_HELPER_TOO_FEW] = "too few reports were in order",
        [TACIT_HELPER_LATE] = "it has answered another request for this round: this coordinator's "
                              "state is an old one",
        [TACIT_HELPER_BEHIND] = "this coordinator does not have its newest answer: its state is an "
                                "old one",
        [TACIT_HELPER_OLD] = "its own state is an old one",
        [TACIT_HELPER_TOO_WEAK] = "the run's epsilon is more than its own file allows"};
    struct live_helper_view const *const helper = &status->hub->helper;
    uint64_t const waited_s =
        status->helper_since_us == 0 || status->now_us < status->helper_since_us
            ? 0
            : (status->now_us - status->helper_since_us) / US_PER_S;
    if (helper->is_wrong) {
        live_causes_add(causes, LIVE_CAUSE_HELPER_REFUSES, json_pack("[s]", "helper"),
                        "the helper answers what is not in order: not signed with the pinned key, "
                        "or not for what it was asked");
    } else if (helper->is_asked && helper->verdict > TACIT_HELPER_TOO_FEW) {
        live_causes_add(causes, LIVE_CAUSE_HELPER_REFUSES, json_pack("[s]", "helper"),
                        "the helper refuses to answer: %s", refusals[helper->verdict]);
    } else if (status->helper_since_us != 0 && waited_s >= HELPER_AFTER_S &&
               (helper->has_agreed || !add_keyless(status, causes))) {
        live_causes_add(causes, LIVE_CAUSE_HELPER, json_pack("[s]", "helper"),
                        "the run waits for the helper (%" PRIu64 " s)%s", waited_s,
                        helper->has_agreed ? "" : ", which has not agreed to it yet");
    }
    add_some(status, LIVE_CAUSE_LEFT_OUT,
             "left out of the helper's last sum, for grants, release or envelope are not in order",
             helper->left_out, causes);
    if (helper->void_count > 0)
        live_causes_add(causes, helper->awaits_operator ? LIVE_CAUSE_VOID_WAITS : LIVE_CAUSE_VOID,
                        NULL,
                        "%" PRIu32 " rounds in a row are void: sites reported what cannot be, or "
                        "what the helper could not count; their rewards are spent",
                        helper->void_count);
}

/* Does it refuse all arms that are in, and stay? */
static bool refuses_all(const struct live_status *status, uint32_t site)
{
    struct live_hub_view const *const hub = status->hub;
    uint32_t const arms = status->config->arm_count;
    uint64_t const *const refused = hub->refused + (size_t)site * TACIT_BITS_WORDS(arms);
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, hub->active, arms) {
        if (tacit_bits_has(hub->retired, arm))
            continue;
        if (!tacit_bits_has(refused, arm))
            return false;
        count++;
    }
    return count > 0;
}

static void add_refusing(const struct live_status *status, struct live_causes *causes)
{
    struct live_hub_view const *const hub = status->hub;
    uint32_t const count = status->config->site_count;
    uint64_t *const sites = calloc(TACIT_BITS_WORDS(count), sizeof *sites);
    char what[LINE_BYTES];
    for (uint32_t site = 0; sites != NULL && hub->refused != NULL && site < count; site++)
        if (!tacit_bits_has(hub->dropped, site) && refuses_all(status, site))
            tacit_bits_add(sites, site);
    uint32_t const refusing = sites == NULL ? 0 : tacit_bits_count(sites, count);
    (void)snprintf(what, sizeof what,
                   "%" PRIu32 " of %" PRIu32 " sites refuse all arms that are in", refusing, count);
    if (refusing > 0 && !hub->is_finished)
        add_set(status, LIVE_CAUSE_REFUSES_ALL, what, sites, causes);
    free(sites);
}

static void add_site(const struct live_status *status, uint32_t site, struct live_causes *causes)
{
    TACIT_ASSERT(site < status->config->site_count);
    struct live_hub_view const *const hub = status->hub;
    char const *const name = status->config->sites[site];
    if (live_hub_has_two_states(hub, site))
        live_causes_add(causes, LIVE_CAUSE_TWO_STATES, json_pack("[s]", name),
                        "two states of site %s", name);
    if (coordinator_is_foreign(status->of, site))
        live_causes_add(causes, LIVE_CAUSE_VERSION, json_pack("[s]", name),
                        "site %s says messages of version %" PRIu32 ", and this run is of version "
                        "%" PRIu32 "; this coordinator speaks versions %u to %u",
                        name, status->of->speaks[site], status->of->envelopes.version,
                        TACIT_WIRE_VERSION_OLDEST, TACIT_WIRE_VERSION);
    /* A site that is a little behind follows by itself. */
    uint64_t const term = status->of->sites[site].term;
    if (term > status->of->envelopes.term ||
        (term > 0 && live_term_is_out_of_reach(term, status->of->envelopes.term)))
        live_causes_add(causes, LIVE_CAUSE_TERM, json_pack("[s]", name),
                        "site %s is in term %" PRIu64 " and this run in term %" PRIu64
                        ": neither hears the other",
                        name, term, status->of->envelopes.term);
}

struct live_causes live_hub_causes(const struct live_status *status)
{
    struct live_causes causes =
        live_causes_begin("coordinator", status->of->config->daemon.state_directory);
    live_causes_add_broker(&causes, &status->broker);
    for (uint32_t site = 0; site < status->config->site_count; site++)
        add_site(status, site, &causes);
    add_some(status, LIVE_CAUSE_OLD_COORDINATOR,
             "this coordinator's state is an old one: what these sites show follows a grant that "
             "it knows nothing of (or they do not say what is true)",
             status->hub->ahead, &causes);
    add_some(status, LIVE_CAUSE_FORKER,
             "signed two different rows of one round and showed them to different sites, which is "
             "proved",
             status->hub->forkers, &causes);
    add_refusing(status, &causes);
    if (status->hub->helper.is_there)
        add_helper(status, &causes);
    if (!status->hub->helper.is_there || status->hub->helper.has_agreed) /* it is announced */
        add_waits(status, &causes);
    live_causes_add_disk(&causes, status->of->config->daemon.disk_low_mib);
    return causes;
}

uint64_t live_hub_hash(const struct live_hub_view *hub, const struct live_hub_config *config)
{
    uint64_t const parts[] = {hub->epoch,         hub->round_count,
                              hub->report_count,  hub->missing_count,
                              hub->covered_count, hub->change_count,
                              hub->active_count,  hub->is_finished,
                              hub->pulls,         hub->model == NULL ? 0 : hub->model->number};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = live_hash_add(hash, parts[i]);
    for (uint32_t site = 0; site < config->site_count; site++) {
        hash = live_hash_add(hash, hub->seen[site]);
        hash = live_hash_add(hash, hub->pulls_reported == NULL ? 0 : hub->pulls_reported[site]);
    }
    for (uint32_t arm = 0; hub->votes != NULL && arm < config->arm_count; arm++)
        hash = live_hash_add(hash, hub->votes[arm]);
    return hash;
}

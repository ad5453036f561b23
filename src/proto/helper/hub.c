/* What a hub keeps for the helper: grants, masked words, its own noise, the newest answer (HELPER
 * 2). Totals come out, and nothing else of a site. */
#include <string.h>
#include "internal.h"

/* Of one site. */
struct slot {
    uint32_t link_count;
    uint32_t is_lost; /* more grants than a request may hold: in no U of this term */
    uint8_t first[TACIT_SHA256_BYTES]; /* what the first link follows */
    uint8_t links[TACIT_HELPER_LINKS_MAX][TACIT_SHA256_BYTES];
    uint8_t salt[TACIT_SHA256_BYTES];
    struct tacit_helper_release release;
};

struct tacit_helper_hub {
    struct tacit_helper_run run;
    struct tacit_helper_round round; /* that is fixed, or was */
    uint64_t term;
    uint64_t noise_term;  /* of the round that the noise is of, .. */
    uint32_t noise_round; /* .. 0: none is drawn */
    uint32_t quorum;
    uint64_t number;
    uint32_t is_fixed;
    uint32_t is_void;
    uint32_t void_count;
    uint32_t is_forked;
    uint32_t verdict;
    uint32_t spare;
    uint8_t head[TACIT_SHA256_BYTES];
    uint8_t signature[TACIT_HELPER_SIGNATURE_BYTES];
    uint8_t request[TACIT_SHA256_BYTES];
    uint64_t words[]; /* here W(A) | U' W(A) | noise n | z A x n | slots A */
};

_Static_assert(sizeof(struct slot) % sizeof(uint64_t) == 0, "slots are words");

/* ---- Layout ---- */

static uint64_t *here_of(struct tacit_helper_hub *hub)
{
    return hub->words;
}

static uint64_t *counted_of(struct tacit_helper_hub *hub)
{
    return hub->words + TACIT_BITS_WORDS(hub->run.site_count);
}

static uint64_t *noise_of(struct tacit_helper_hub *hub)
{
    return counted_of(hub) + TACIT_BITS_WORDS(hub->run.site_count);
}

static uint64_t *row_of(struct tacit_helper_hub *hub, uint32_t site)
{
    TACIT_ASSERT(site <= hub->run.site_count);
    return noise_of(hub) + (site + (size_t)1) * hub->run.count_max;
}

static struct slot *slot_of(struct tacit_helper_hub *hub, uint32_t site)
{
    TACIT_ASSERT(site < hub->run.site_count);
    return (struct slot *)(void *)row_of(hub, hub->run.site_count) + site;
}

/* Who only reads a hub finds its parts by the functions of those who change it. */
static struct tacit_helper_hub *writable(const struct tacit_helper_hub *hub)
{
    return (struct tacit_helper_hub *)(uintptr_t)hub;
}

size_t tacit_helper_hub_size(const struct tacit_helper_run *run)
{
    if (!tacit_helper_run_is_valid(run))
        return 0;
    size_t const sites = run->site_count;
    return sizeof(struct tacit_helper_hub) + sites * sizeof(struct slot) +
           (2 * TACIT_BITS_WORDS(sites) + (sites + 1) * run->count_max) * sizeof(uint64_t);
}

enum tacit_status tacit_helper_hub_init(struct tacit_helper_hub *hub,
                                        const struct tacit_helper_run *run)
{
    size_t const size = tacit_helper_hub_size(run);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    hub->run = *run;
    return TACIT_OK;
}

/* ---- Sites ---- */

/* Words, envelope and salt are gone; grants stay. */
static void erase_release(struct tacit_helper_hub *hub, uint32_t site)
{
    struct slot *const slot = slot_of(hub, site);
    memset(row_of(hub, site), 0, hub->run.count_max * sizeof(uint64_t));
    memset(slot->salt, 0, sizeof slot->salt);
    memset(&slot->release, 0, sizeof slot->release);
    tacit_bits_remove(here_of(hub), site);
    TACIT_ASSERT(slot->link_count <= TACIT_HELPER_LINKS_MAX);
}

static void erase_noise(struct tacit_helper_hub *hub)
{
    TACIT_ASSERT(hub->noise_round > 0 || hub->noise_term == 0);
    memset(noise_of(hub), 0, hub->run.count_max * sizeof(uint64_t));
    hub->noise_term = 0;
    hub->noise_round = 0;
}

void tacit_helper_hub_begin_term(struct tacit_helper_hub *hub, uint64_t term)
{
    TACIT_ASSERT(term > hub->term);
    TACIT_ASSERT(hub->is_fixed <= 1);
    for (uint32_t site = 0; site < hub->run.site_count; site++) {
        erase_release(hub, site);
        memset(slot_of(hub, site), 0, sizeof(struct slot));
    }
    erase_noise(hub);
    hub->term = term;
    hub->is_fixed = 0;
    hub->verdict = TACIT_HELPER_ANSWERED;
}

void tacit_helper_hub_grant(struct tacit_helper_hub *hub, uint32_t site,
                            const struct tacit_commit *commit)
{
    struct slot *const slot = slot_of(hub, site);
    uint32_t const count = slot->link_count;
    TACIT_ASSERT(count <= TACIT_HELPER_LINKS_MAX);
    TACIT_ASSERT(!tacit_commit_is_nothing(commit->commitment));
    if (count > 0 && tacit_commit_is_same(slot->links[count - 1], commit->commitment))
        return; /* granted again */
    if (hub->is_fixed != 0 && tacit_bits_has(here_of(hub), site))
        return; /* who is in U does not draw before it is closed: what is asked stays what it is */
    if (count == TACIT_HELPER_LINKS_MAX) {
        slot->is_lost = 1;
        erase_release(hub, site);
        return;
    }
    if (count == 0)
        memcpy(slot->first, commit->previous, sizeof slot->first);
    memcpy(slot->links[count], commit->commitment, sizeof slot->links[count]);
    slot->link_count++;
}

void tacit_helper_hub_add(struct tacit_helper_hub *hub, uint32_t site, const uint8_t *salt,
                          const struct tacit_helper_release *release, const uint64_t *words,
                          uint32_t count)
{
    struct slot *const slot = slot_of(hub, site);
    TACIT_ASSERT(hub->is_fixed == 0);
    TACIT_ASSERT(count <= hub->run.count_max);
    if (slot->is_lost != 0 || slot->link_count == 0)
        return;
    memcpy(slot->salt, salt, sizeof slot->salt);
    slot->release = *release;
    memset(slot->release.blind, 0, sizeof slot->release.blind);
    memcpy(row_of(hub, site), words, count * sizeof *words);
    tacit_bits_add(here_of(hub), site);
}

/* ---- Requests ---- */

static uint32_t here_count(struct tacit_helper_hub *hub)
{
    return tacit_bits_count(here_of(hub), hub->run.site_count);
}

/* The request, but for its entries. */
static struct tacit_helper_request head_of(struct tacit_helper_hub *hub,
                                           const struct tacit_helper_round *round, uint32_t quorum)
{
    TACIT_ASSERT(round->term == hub->term);
    struct tacit_helper_request request = {
        .round = *round, .quorum = quorum, .entry_count = here_count(hub), .number = hub->number};
    memcpy(request.head, hub->head, sizeof request.head);
    memcpy(request.head_signature, hub->signature, sizeof request.head_signature);
    return request;
}

/* Its links are written to `links`, and stay there. Requires: room for the site's. */
static struct tacit_helper_entry entry_of(struct tacit_helper_hub *hub, uint32_t site,
                                          struct tacit_helper_link *links)
{
    struct slot *const slot = slot_of(hub, site);
    TACIT_ASSERT(slot->link_count > 0);
    TACIT_ASSERT(slot->is_lost == 0);
    struct tacit_helper_entry entry = {
        .site = site, .link_count = slot->link_count, .links = links, .release = slot->release};
    memcpy(entry.salt, slot->salt, sizeof entry.salt);
    for (uint32_t i = 0; i < slot->link_count; i++) {
        links[i] = (struct tacit_helper_link){.proof = NULL};
        memcpy(links[i].commitment, slot->links[i], sizeof links[i].commitment);
        memcpy(links[i].previous, i == 0 ? slot->first : slot->links[i - 1],
               sizeof links[i].previous);
    }
    return entry;
}

static void digest_request(struct tacit_helper_hub *hub, const struct tacit_helper_round *round,
                           uint32_t quorum, uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_helper_link links[TACIT_HELPER_LINKS_MAX];
    struct tacit_helper_request const head = head_of(hub, round, quorum);
    struct tacit_sha256 sha = helper_request_begin(&hub->run, &head);
    TACIT_BITS_EACH (site, here_of(hub), hub->run.site_count) {
        struct tacit_helper_entry const entry = entry_of(hub, site, links);
        helper_request_hash(&sha, &entry);
    }
    tacit_sha256_final(&sha, digest);
}

/* Two states of this hub do not share noise for two U: it is hedged by the request. */
static enum tacit_status draw_noise(struct tacit_helper_hub *hub,
                                    const struct tacit_helper_round *round,
                                    const uint8_t digest[TACIT_SHA256_BYTES],
                                    const struct tacit_entropy *entropy)
{
    struct helper_hedge hedge;
    struct tacit_entropy hedged;
    if (hub->noise_round == round->round && hub->noise_term == round->term)
        return TACIT_OK;
    if (helper_hedge_begin(&hedge, entropy, digest, &hedged) != TACIT_OK)
        return TACIT_ENTROPY;
    erase_noise(hub);
    enum tacit_status const status =
        tacit_helper_noise(&hub->run, round->epsilon_nano, &hedged, noise_of(hub), round->count);
    TACIT_ASSERT(status == TACIT_OK);
    hub->noise_term = round->term;
    hub->noise_round = round->round;
    return TACIT_OK;
}

enum tacit_status tacit_helper_hub_fix(struct tacit_helper_hub *hub,
                                       const struct tacit_helper_round *round, uint32_t quorum,
                                       const struct tacit_entropy *entropy)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    TACIT_ASSERT(hub->is_fixed == 0);
    TACIT_ASSERT(round->term == hub->term);
    TACIT_ASSERT(helper_round_is_valid(&hub->run, round));
    TACIT_ASSERT(here_count(hub) >= TACIT_HELPER_SITES_MIN);
    digest_request(hub, round, quorum, digest);
    if (draw_noise(hub, round, digest, entropy) != TACIT_OK)
        return TACIT_ENTROPY;
    hub->round = *round;
    memcpy(hub->request, digest, sizeof hub->request);
    hub->quorum = quorum;
    hub->is_fixed = 1;
    return TACIT_OK;
}

size_t tacit_helper_hub_request_size(const struct tacit_helper_hub *state)
{
    struct tacit_helper_hub *const hub = writable(state);
    size_t links = 0;
    TACIT_BITS_EACH (site, here_of(hub), hub->run.site_count)
        links += slot_of(hub, site)->link_count;
    return sizeof(struct tacit_helper_request) +
           here_count(hub) * sizeof(struct tacit_helper_entry) +
           links * sizeof(struct tacit_helper_link);
}

struct tacit_helper_request *tacit_helper_hub_request(const struct tacit_helper_hub *state,
                                                      void *memory)
{
    struct tacit_helper_hub *const hub = writable(state);
    struct tacit_helper_request *const request = memory;
    struct tacit_helper_entry *const entries = (void *)(request + 1);
    struct tacit_helper_link *links = (void *)(entries + here_count(hub));
    uint32_t count = 0;
    TACIT_ASSERT(hub->is_fixed != 0);
    TACIT_ASSERT(here_count(hub) >= TACIT_HELPER_SITES_MIN);
    *request = head_of(hub, &hub->round, hub->quorum);
    request->entries = entries;
    TACIT_BITS_EACH (site, here_of(hub), hub->run.site_count) {
        entries[count] = entry_of(hub, site, links);
        links += entries[count++].link_count;
    }
    return request;
}

/* ---- Answers ---- */

/* Is any total beyond what honest sites and noise can add up to? */
static bool is_void(const struct tacit_helper_hub *hub, const struct tacit_helper_range *range,
                    uint32_t agents, const int64_t *totals)
{
    TACIT_ASSERT(agents >= TACIT_HELPER_SITES_MIN);
    TACIT_ASSERT(hub->is_fixed != 0);
    double const slack = tacit_helper_slack(&hub->run, hub->round.epsilon_nano, range->floor_nano,
                                            agents, hub->round.count);
    for (uint32_t j = 0; j < hub->round.count; j++) {
        uint64_t const high = range->highs != NULL ? range->highs[j] : range->high;
        if ((double)totals[j] < (double)range->low * agents - slack ||
            (double)totals[j] > (double)high * agents + slack)
            return true;
    }
    return false;
}

/* Grants of U' are of no use any more; those of others go on. */
static void end_round(struct tacit_helper_hub *hub, const uint64_t *counted)
{
    for (uint32_t site = 0; site < hub->run.site_count; site++) {
        struct slot *const slot = slot_of(hub, site);
        erase_release(hub, site);
        if (!tacit_bits_has(counted, site))
            continue;
        memset(slot->links, 0, sizeof slot->links);
        memset(slot->first, 0, sizeof slot->first);
        slot->link_count = 0;
    }
    erase_noise(hub);
    hub->is_fixed = 0;
}

void tacit_helper_hub_void(struct tacit_helper_hub *hub)
{
    memset(counted_of(hub), 0, TACIT_BITS_WORDS(hub->run.site_count) * sizeof(uint64_t));
    hub->is_void = 1;
    hub->void_count++;
    end_round(hub, counted_of(hub));
    TACIT_ASSERT(hub->is_fixed == 0 && here_count(hub) == 0);
}

void tacit_helper_hub_recall(struct tacit_helper_hub *hub, uint64_t number,
                             const uint8_t head[TACIT_SHA256_BYTES],
                             const uint8_t signature[TACIT_HELPER_SIGNATURE_BYTES])
{
    TACIT_ASSERT(hub->number == 0 && hub->is_fixed == 0);
    TACIT_ASSERT(number > 0);
    hub->number = number;
    memcpy(hub->head, head, sizeof hub->head);
    memcpy(hub->signature, signature, sizeof hub->signature);
}

void tacit_helper_hub_go_on(struct tacit_helper_hub *hub)
{
    TACIT_ASSERT(hub->is_fixed == 0);
    hub->void_count = 0;
}

/* Those that were in order are kept; another U may be asked. */
static void free_round(struct tacit_helper_hub *hub, const uint64_t *sound)
{
    TACIT_ASSERT(hub->is_fixed != 0);
    TACIT_ASSERT(hub->noise_round == hub->round.round);
    TACIT_BITS_EACH (site, here_of(hub), hub->run.site_count)
        if (!tacit_bits_has(sound, site))
            erase_release(hub, site);
    hub->is_fixed = 0;
}

/* Does it answer the request that stands, after the answers that are here? */
static enum tacit_status check_answer(struct tacit_helper_hub *hub,
                                      const struct tacit_helper_answer *answer)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    bool const is_answer = answer->verdict == TACIT_HELPER_ANSWERED;
    if (answer->site_count != hub->run.site_count || answer->sites == NULL)
        return TACIT_MALFORMED;
    tacit_helper_answer_digest(answer, digest);
    if (is_answer && !tacit_commit_is_same(digest, answer->head) && answer->count > 0)
        return TACIT_MALFORMED;
    if (is_answer && answer->number > 0 && answer->number == hub->number &&
        !tacit_commit_is_same(answer->head, hub->head))
        return TACIT_FORKED;
    if (hub->is_fixed == 0 || !tacit_commit_is_same(answer->request, hub->request))
        return TACIT_UNEXPECTED;
    if (!is_answer)
        return TACIT_OK;
    bool const follows =
        answer->number > hub->number && (answer->number != hub->number + 1 || hub->number == 0 ||
                                         tacit_commit_is_same(answer->previous, hub->head));
    return follows && answer->count == hub->round.count && answer->words != NULL &&
                   tacit_bits_within(answer->sites, here_of(hub), hub->run.site_count)
               ? TACIT_OK
               : TACIT_MALFORMED;
}

/* Sums over U', with both noises: modulo 2^64, read as signed numbers. */
static void add_up(struct tacit_helper_hub *hub, const struct tacit_helper_answer *answer,
                   int64_t *totals)
{
    TACIT_ASSERT(answer->count == hub->round.count);
    TACIT_ASSERT(hub->noise_round == hub->round.round && hub->noise_term == hub->term);
    for (uint32_t j = 0; j < hub->round.count; j++) {
        uint64_t total = answer->words[j] + noise_of(hub)[j];
        TACIT_BITS_EACH (site, answer->sites, hub->run.site_count)
            total += row_of(hub, site)[j];
        totals[j] = (int64_t)total;
    }
}

static void record_head(struct tacit_helper_hub *hub, const struct tacit_helper_answer *answer)
{
    TACIT_ASSERT(answer->number > hub->number);
    hub->number = answer->number;
    memcpy(hub->head, answer->head, sizeof hub->head);
    memcpy(hub->signature, answer->head_signature, sizeof hub->signature);
}

enum tacit_status tacit_helper_hub_close(struct tacit_helper_hub *hub,
                                         const struct tacit_helper_answer *answer,
                                         const struct tacit_helper_range *range,
                                         enum tacit_helper_outcome *outcome, uint32_t *agents,
                                         int64_t *totals)
{
    enum tacit_status const status = check_answer(hub, answer);
    TACIT_ASSERT(range->low <= 0);
    TACIT_ASSERT(range->highs != NULL || range->high <= (uint64_t)TACIT_HELPER_TOTAL_MAX);
    hub->is_forked = hub->is_forked != 0 || status == TACIT_FORKED;
    if (status != TACIT_OK)
        return status;
    if (hub->is_forked != 0)
        return TACIT_FORKED;
    hub->verdict = answer->verdict;
    if (answer->verdict == TACIT_HELPER_TOO_FEW) {
        free_round(hub, answer->sites);
        *outcome = TACIT_HELPER_FREED;
        return TACIT_OK;
    }
    if (answer->verdict != TACIT_HELPER_ANSWERED) {
        if (answer->number >
            hub->number) /* this state is an old one: a new term shows that answer */
            record_head(hub, answer);
        return TACIT_UNEXPECTED;
    }
    *agents = tacit_bits_count(answer->sites, hub->run.site_count);
    TACIT_ASSERT(*agents <= here_count(hub));
    if (*agents < hub->quorum || *agents < TACIT_HELPER_SITES_MIN)
        return TACIT_MALFORMED;
    add_up(hub, answer, totals);
    hub->is_void = is_void(hub, range, *agents, totals);
    hub->void_count = hub->is_void != 0 ? hub->void_count + 1 : 0;
    *outcome = hub->is_void != 0 ? TACIT_HELPER_VOID : TACIT_HELPER_CLOSED;
    memcpy(counted_of(hub), answer->sites,
           TACIT_BITS_WORDS(hub->run.site_count) * sizeof(uint64_t));
    record_head(hub, answer);
    end_round(hub, answer->sites);
    return TACIT_OK;
}

/* ---- States ---- */

enum tacit_status tacit_helper_hub_check(const struct tacit_helper_hub *state, size_t size,
                                         const struct tacit_helper_run *run)
{
    struct tacit_helper_hub *const hub = writable(state);
    if (size == 0 || size != tacit_helper_hub_size(run))
        return TACIT_MALFORMED;
    bool good = memcmp(&hub->run, run, sizeof *run) == 0 && hub->is_fixed <= 1 &&
                hub->is_void <= 1 && hub->is_forked <= 1 && hub->spare == 0 &&
                hub->verdict <= TACIT_HELPER_TOO_WEAK &&
                (hub->noise_round > 0 || hub->noise_term == 0) &&
                tacit_bits_within(here_of(hub), here_of(hub), run->site_count) &&
                tacit_bits_within(counted_of(hub), counted_of(hub), run->site_count) &&
                (hub->is_fixed == 0 ||
                 (helper_round_is_valid(run, &hub->round) && hub->round.term == hub->term &&
                  hub->noise_round == hub->round.round && hub->noise_term == hub->term &&
                  here_count(hub) >= TACIT_HELPER_SITES_MIN));
    for (uint32_t site = 0; good && site < run->site_count; site++)
        good = slot_of(hub, site)->link_count <= TACIT_HELPER_LINKS_MAX &&
               slot_of(hub, site)->is_lost <= 1 &&
               ((slot_of(hub, site)->link_count > 0 && slot_of(hub, site)->is_lost == 0) ||
                !tacit_bits_has(here_of(hub), site));
    return good ? TACIT_OK : TACIT_MALFORMED;
}

bool tacit_helper_hub_fits(const struct tacit_helper_hub *state,
                           const struct tacit_helper_round *round, bool awaits_totals,
                           const uint64_t *received)
{
    struct tacit_helper_hub *const hub = writable(state);
    bool const is_asked = hub->is_fixed != 0;
    bool const may_ask_again = hub->is_void != 0 || hub->verdict == TACIT_HELPER_TOO_FEW;
    uint32_t const last = hub->round.term == round->term ? hub->round.round : 0;
    TACIT_ASSERT(hub->is_fixed <= 1);
    if (hub->term != round->term || !tacit_bits_within(here_of(hub), received, hub->run.site_count))
        return false;
    if (!is_asked)
        return last == 0 || last < round->round || (last == round->round && may_ask_again);
    return awaits_totals && last == round->round && hub->round.count == round->count &&
           tacit_commit_is_same(hub->round.order, round->order);
}

void tacit_helper_hub_view(const struct tacit_helper_hub *state, struct tacit_helper_hub_view *view)
{
    struct tacit_helper_hub *const hub = writable(state);
    *view = (struct tacit_helper_hub_view){.is_fixed = hub->is_fixed != 0,
                                           .is_void = hub->is_void != 0,
                                           .void_count = hub->void_count,
                                           .here_count = here_count(hub),
                                           .here = here_of(hub),
                                           .counted = counted_of(hub),
                                           .number = hub->number,
                                           .head = hub->head,
                                           .signature = hub->signature,
                                           .verdict = (enum tacit_helper_verdict)hub->verdict,
                                           .is_forked = hub->is_forked != 0};
}

/* What a hub keeps for its helper: grants with their proofs, masked sums, its own noise. */
#include "hub_helper.h"
#include "tacit/wire_helper.h"
#include <stdlib.h>
#include <string.h>

#define VOID_ROUNDS_MAX 2u /* in a row; then the operator decides */

struct live_helper_kept {
    uint64_t has_sealing;
    uint64_t term;            /* from 0 */
    uint64_t awaits_operator; /* the round is void, and is repeated by the operator's word alone */
    uint64_t counted_number;  /* |U'| of the newest answer, .. */
    uint8_t counted[TACIT_SHA256_BYTES]; /* .. and SHA-256 of U' */
    struct tacit_wire_sealing sealing;
};

/* Of a grant: found by its commitment. The oldest makes room. */
struct live_proof {
    uint8_t commitment[TACIT_SHA256_BYTES];
    uint8_t bytes[LIVE_PROOF_BYTES];
    uint64_t number; /* of the site's grants, from 1; 0: none */
};

_Static_assert(sizeof(struct live_helper_kept) % 8 == 0 && sizeof(struct live_proof) % 8 == 0,
               "blocks are words");

/* ---- The block: kept | dropped | left out | proofs | core ---- */

static size_t set_words(const struct live_hub_helper *helper)
{
    return TACIT_BITS_WORDS(helper->run.site_count);
}

static size_t proofs_size(const struct live_hub_helper *helper)
{
    TACIT_ASSERT(helper->run.site_count <= TACIT_AGENTS_MAX);
    return (size_t)helper->run.site_count * TACIT_HELPER_LINKS_MAX * sizeof(struct live_proof);
}

static size_t head_size(const struct live_hub_helper *helper)
{
    return sizeof *helper->kept + 2 * set_words(helper) * sizeof(uint64_t) + proofs_size(helper);
}

size_t live_hub_helper_size(const struct live_hub_helper *helper)
{
    size_t const core = tacit_helper_hub_size(&helper->run);
    return core == 0 ? 0 : head_size(helper) + core;
}

enum tacit_status live_hub_helper_open(struct live_hub_helper *helper, void *block, size_t size,
                                       bool is_new)
{
    TACIT_ASSERT(size == live_hub_helper_size(helper));
    size_t const head = head_size(helper);
    helper->kept = block;
    helper->dropped = (uint64_t *)(helper->kept + 1);
    helper->left_out = helper->dropped + set_words(helper);
    helper->proofs = (struct live_proof *)(helper->left_out + set_words(helper));
    helper->core = (struct tacit_helper_hub *)((unsigned char *)block + head);
    if (is_new)
        return tacit_helper_hub_init(helper->core, &helper->run);
    uint32_t const sites = helper->run.site_count;
    return helper->kept->has_sealing <= 1 && helper->kept->awaits_operator <= 1 &&
                   helper->kept->counted_number <= sites &&
                   tacit_bits_within(helper->dropped, helper->dropped, sites) &&
                   tacit_bits_within(helper->left_out, helper->left_out, sites)
               ? tacit_helper_hub_check(helper->core, size - head, &helper->run)
               : TACIT_MALFORMED;
}

const struct tacit_wire_sealing *live_hub_sealing(const struct live_hub *hub)
{
    struct live_hub_helper const *const helper = hub->helper;
    return helper != NULL && helper->kept->has_sealing == 1 ? &helper->kept->sealing : NULL;
}

bool live_hub_helper_begin_term(struct live_hub *hub, uint64_t term)
{
    struct live_hub_helper *const helper = hub->helper;
    if (term <= helper->kept->term + 1)
        return false;
    helper->kept->term = term - 1;
    helper->kept->awaits_operator = 0; /* the round is asked anew */
    helper->owes = false;
    tacit_helper_hub_begin_term(helper->core, term - 1);
    memset(helper->proofs, 0, proofs_size(helper));
    return true;
}

/* ---- Grants and releases ---- */

static struct live_proof *proofs_of(const struct live_hub_helper *helper, uint32_t site)
{
    TACIT_ASSERT(site < helper->run.site_count);
    return helper->proofs + (size_t)site * TACIT_HELPER_LINKS_MAX;
}

/* Keeps the COMMIT's signature as the proof of a grant, in place of the site's oldest. */
static void note_grant(struct live_hub *hub, const struct live_hub_event *event,
                       const struct tacit_commit *commit)
{
    TACIT_ASSERT(event->envelope != NULL);
    struct live_proof *const proofs = proofs_of(hub->helper, event->from);
    struct live_proof *oldest = proofs;
    uint64_t newest = 0;
    for (uint32_t i = 0; i < TACIT_HELPER_LINKS_MAX; i++) {
        oldest = proofs[i].number < oldest->number ? &proofs[i] : oldest;
        newest = proofs[i].number > newest ? proofs[i].number : newest;
    }
    memcpy(oldest->commitment, commit->commitment, sizeof oldest->commitment);
    live_proof_write(event->envelope, oldest->bytes);
    oldest->number = newest + 1;
    tacit_helper_hub_grant(hub->helper->core, event->from, commit);
}

/* Keeps the masked sums of a report that was counted, until the helper has answered. */
static void note_report(struct live_hub *hub, const struct live_report *heard)
{
    TACIT_ASSERT(heard->masked != NULL && heard->head->commit != NULL && heard->count > 0);
    uint64_t const *const words = (const uint64_t *)heard->words;
    struct tacit_helper_release release = *heard->masked;
    tacit_helper_blind_digest(&release, words, heard->count);
    tacit_helper_hub_add(hub->helper->core, heard->head->from, heard->head->commit->salt, &release,
                         words, heard->count);
}

/* ---- A round ---- */

const uint64_t *live_hub_dropped(const struct live_hub *hub)
{
    return hub->helper == NULL ? NULL : hub->helper->dropped;
}

static struct tacit_helper_hub_view view_of(const struct live_hub *hub)
{
    struct tacit_helper_hub_view view;
    tacit_helper_hub_view(hub->helper->core, &view);
    return view;
}

bool live_hub_helper_fits(const struct live_hub *hub)
{
    struct live_helper_kept const *const kept = hub->helper->kept;
    struct tacit_helper_round round;
    struct live_hub_view view;
    hub->ops->fill_view(hub, &view);
    hub->ops->round(hub, &round, NULL);
    return kept->term == round.term && (kept->awaits_operator == 0 || view.awaits_totals) &&
           (view.is_finished ? !view_of(hub).is_fixed
                             : tacit_helper_hub_fits(hub->helper->core, &round, view.awaits_totals,
                                                     view.received));
}

/* The same plan is played with new rewards; after two such rounds the operator decides. */
static void end_void(struct live_hub *hub, const char *why, uint64_t now_us,
                     struct live_hub_update *update)
{
    struct live_helper_kept *const kept = hub->helper->kept;
    TACIT_ASSERT(hub->ops->close != NULL && !view_of(hub).is_fixed);
    kept->awaits_operator = view_of(hub).void_count >= VOID_ROUNDS_MAX ? 1 : 0;
    if (kept->awaits_operator == 0)
        hub->ops->close(hub, 0, NULL, now_us, update);
    live_hub_note(hub, update, "the round is void: %s%s", why,
                  kept->awaits_operator == 0 ? "" : "; the operator decides (tacit control)");
}

/* Its masked sums are dropped: the helper could not count them. */
static void end_uncounted(struct live_hub *hub, uint64_t now_us, struct live_hub_update *update)
{
    tacit_helper_hub_void(hub->helper->core);
    end_void(hub, "too few of its reports are in order", now_us, update);
}

/* The file's quorum, or all sites that are left, if they are fewer; two at least. */
static uint32_t quorum_of(const struct live_hub *hub)
{
    uint32_t const sites = hub->helper->run.site_count;
    uint32_t const left = sites - tacit_bits_count(hub->helper->dropped, sites);
    uint32_t const wanted = hub->config->quorum < left ? hub->config->quorum : left;
    return wanted < TACIT_HELPER_SITES_MIN ? TACIT_HELPER_SITES_MIN : wanted;
}

/* The round has its reports: those that are here are U, which the helper is asked about from now
 * on. Where they are fewer than the quorum, the round is void. Without entropy it is tried again
 * (owes). */
static void want_totals(struct live_hub *hub, uint64_t now_us, const struct tacit_entropy *entropy,
                        struct live_hub_update *update)
{
    struct tacit_helper_round round;
    struct tacit_helper_hub_view const view = view_of(hub);
    uint32_t const quorum = quorum_of(hub);
    if (view.is_fixed || hub->helper->kept->awaits_operator != 0)
        return;
    update->persist = true;
    if (view.here_count < quorum) {
        end_uncounted(hub, now_us, update);
        return;
    }
    hub->ops->round(hub, &round, NULL);
    if (round.epsilon_nano == 0)
        round.epsilon_nano =
            live_trust_noise_nano(hub->ops->epsilon_nano(hub->config), hub->helper->delta);
    hub->helper->owes =
        tacit_helper_hub_fix(hub->helper->core, &round, quorum, entropy) != TACIT_OK;
}

/* Reports that are waited for: not those of sites that were dropped. */
static uint32_t missing_count(const struct live_hub *hub, const struct live_hub_view *view)
{
    uint32_t count = 0;
    TACIT_BITS_EACH (site, view->asked, hub->helper->run.site_count)
        count += tacit_bits_has(view->received, site) || tacit_bits_has(hub->helper->dropped, site)
                     ? 0
                     : 1;
    return count;
}

/* A round that waits for none but dropped sites goes on: the family looks at a timeout. */
static void go_on_without_dropped(struct live_hub *hub, uint64_t now_us,
                                  const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    if (tacit_bits_count(hub->helper->dropped, hub->helper->run.site_count) > 0)
        (void)hub->ops->step(hub,
                             &(struct live_hub_event){.kind = LIVE_HUB_TIMEOUT, .now_us = now_us},
                             NULL, entropy, update);
}

void live_hub_note_helper(struct live_hub *hub, const struct live_hub_event *event,
                          const struct live_report *heard, uint32_t happened,
                          const struct tacit_entropy *entropy, struct live_hub_update *update)
{
    TACIT_ASSERT(hub->helper != NULL);
    if ((happened & TACIT_GRANTED_DRAW) != 0)
        note_grant(hub, event, heard->head->commit);
    if ((happened & TACIT_COUNTED_REPORT) != 0)
        note_report(hub, heard);
    if ((happened & TACIT_WANTS_TOTALS) != 0)
        want_totals(hub, event->now_us, entropy, update);
    else if (event->kind != LIVE_HUB_TIMEOUT)
        go_on_without_dropped(hub, event->now_us, entropy, update);
}

/* ---- Requests ---- */

/* Each link's proof. */
static void add_proofs(const struct live_hub *hub, struct tacit_helper_request *request)
{
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        struct live_proof const *const proofs = proofs_of(hub->helper, entry->site);
        struct tacit_helper_link *const links =
            (struct tacit_helper_link *)(uintptr_t)entry->links; /* in the memory of the request */
        for (uint32_t link = 0; link < entry->link_count; link++)
            for (uint32_t proof = 0; proof < TACIT_HELPER_LINKS_MAX; proof++)
                if (tacit_commit_is_same(proofs[proof].commitment, links[link].commitment)) {
                    links[link].proof = proofs[proof].bytes;
                    links[link].proof_size = LIVE_PROOF_BYTES;
                }
    }
}

uint8_t *live_hub_request(const struct live_hub *hub, const struct live_signer *signer,
                          size_t *size)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    uint8_t *bytes = NULL;
    if (hub->helper == NULL || !view_of(hub).is_fixed)
        return NULL;
    void *const memory = malloc(tacit_helper_hub_request_size(hub->helper->core));
    if (memory == NULL)
        return NULL;
    struct tacit_helper_request *const request =
        tacit_helper_hub_request(hub->helper->core, memory);
    add_proofs(hub, request);
    tacit_helper_request_digest(&hub->helper->run, request, digest);
    if (live_signer_sign(signer, LIVE_SIGNED_REQUEST, digest, sizeof digest, request->signature)) {
        *size = 1 + tacit_wire_bytes(&tacit_wire_helper_request, NULL, request);
        bytes = malloc(*size);
    }
    if (bytes != NULL) {
        bytes[0] = LIVE_TRUST_REQUEST;
        tacit_wire_encode(&tacit_wire_helper_request, NULL, request, bytes + 1);
    }
    free(memory);
    return bytes;
}

/* ---- Answers ---- */

/* The helper's signed key for the run: its agreement. */
static enum tacit_status on_sealing(struct live_hub *hub, const uint8_t *bytes, size_t size,
                                    struct live_hub_update *update)
{
    struct live_helper_kept *const kept = hub->helper->kept;
    struct tacit_wire_sealing sealing;
    if (size != sizeof sealing)
        return TACIT_MALFORMED;
    memcpy(&sealing, bytes, size);
    if (live_trust_objection(&hub->helper->run, &sealing, hub->config->trust_helper) != NULL)
        return TACIT_STRANGER;
    if (kept->has_sealing == 1)
        return memcmp(&kept->sealing, &sealing, size) == 0 ? TACIT_OK : TACIT_FORKED;
    kept->sealing = sealing;
    kept->has_sealing = 1;
    update->persist = true;
    update->announces = true;
    live_hub_note(hub, update, "the helper has agreed to the run");
    return TACIT_OK;
}

/* By the helper; and so is the head of its answers, once it has given any. */
static bool is_signed(const struct live_hub *hub, const struct tacit_helper_answer *answer)
{
    TACIT_ASSERT(hub->helper->kept->has_sealing == 1);
    uint8_t const *const key = hub->helper->kept->sealing.identity;
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_helper_answer_digest(answer, digest);
    return live_key_check(key, LIVE_SIGNED_ANSWER, digest, sizeof digest, answer->signature) &&
           (answer->number == 0 || live_key_check(key, LIVE_SIGNED_ANSWER, answer->head,
                                                  sizeof answer->head, answer->head_signature));
}

/* Whom of U the answer does not name, and what entries say of it. */
static void record_counted(struct live_hub_helper *helper, const uint64_t *asked,
                           const struct tacit_helper_answer *answer)
{
    size_t const words = set_words(helper);
    for (size_t i = 0; i < words; i++)
        helper->left_out[i] = asked[i] & ~answer->sites[i];
    if (answer->verdict != TACIT_HELPER_ANSWERED)
        return;
    helper->kept->counted_number = tacit_bits_count(answer->sites, helper->run.site_count);
    tacit_helper_words_digest(answer->sites, (uint32_t)words, helper->kept->counted);
}

/* What the sites' own noise is reckoned with in this round: if the round has a part of the run's
 * epsilon, the same part of the floor. */
static uint64_t floor_nano(const struct live_hub *hub, const struct tacit_helper_round *round)
{
    TACIT_ASSERT(hub->ops->epsilon_nano != NULL);
    double const run = (double)hub->ops->epsilon_nano(hub->config);
    double const share = round->epsilon_nano == 0 ? 1 : (double)round->epsilon_nano / run;
    uint64_t const nano = (uint64_t)((double)hub->config->floor_nano * share);
    return live_trust_noise_nano(nano, hub->helper->delta);
}

/* By an answer that the helper signed. The totals are overwritten once the family has them. */
static enum tacit_status close_round(struct live_hub *hub, const struct live_hub_event *event,
                                     const struct tacit_helper_answer *answer,
                                     struct live_hub_update *update)
{
    TACIT_ASSERT(hub->ops->round != NULL && answer->site_count == hub->helper->run.site_count);
    uint32_t const count_max = hub->helper->run.count_max;
    uint64_t *const highs = live_room_allocate(&hub->out.room, count_max, sizeof *highs);
    int64_t *const totals = live_room_allocate(&hub->out.room, count_max, sizeof *totals);
    enum tacit_helper_outcome outcome;
    struct tacit_helper_round round;
    uint32_t agents = 0;
    size_t const words = set_words(hub->helper);
    uint64_t *const asked = live_room_allocate(&hub->out.room, words, sizeof *asked);
    if (highs == NULL || totals == NULL || asked == NULL)
        return TACIT_MEMORY;
    memcpy(asked, view_of(hub).here, words * sizeof *asked);
    hub->ops->round(hub, &round, highs);
    struct tacit_helper_range const range = {.low = hub->ops->is_signed ? -(int64_t)highs[0] : 0,
                                             .highs = highs,
                                             .floor_nano = floor_nano(hub, &round)};
    enum tacit_status const status =
        tacit_helper_hub_close(hub->helper->core, answer, &range, &outcome, &agents, totals);
    update->persist = status != TACIT_MALFORMED;
    if (status != TACIT_OK)
        return status;
    record_counted(hub->helper, asked, answer);
    if (outcome == TACIT_HELPER_FREED)
        end_uncounted(hub, event->now_us, update);
    else if (outcome == TACIT_HELPER_VOID)
        end_void(hub, "a total cannot be, so a site did not say what is true", event->now_us,
                 update);
    else
        hub->ops->close(hub, agents, totals, event->now_us, update);
    memset(totals, 0, count_max * sizeof *totals);
    return TACIT_OK;
}

static enum tacit_status on_helper_message(struct live_hub *hub, const struct live_hub_event *event,
                                           const struct tacit_entropy *entropy,
                                           struct live_hub_update *update)
{
    struct live_hub_helper *const helper = hub->helper;
    struct tacit_wire_allocator const allocator = live_room_allocator(&hub->out.room);
    struct tacit_helper_answer *answer;
    if (event->size == 0) {
        if (helper->owes)
            want_totals(hub, event->now_us, entropy, update);
        return TACIT_OK;
    }
    if (event->bytes[0] == LIVE_TRUST_SEALING)
        return on_sealing(hub, event->bytes + 1, event->size - 1, update);
    if (event->bytes[0] != LIVE_TRUST_ANSWER || helper->kept->has_sealing != 1)
        return TACIT_UNEXPECTED;
    struct tacit_wire_shape const shape = {.agent_count = helper->run.site_count};
    TACIT_TRY(tacit_wire_decode(&tacit_wire_helper_answer, &shape, event->bytes + 1,
                                event->size - 1, &answer, &allocator));
    return is_signed(hub, answer) ? close_round(hub, event, answer, update) : TACIT_STRANGER;
}

enum tacit_status live_hub_on_helper(struct live_hub *hub, const struct live_hub_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct live_hub_update *update)
{
    if (hub->helper == NULL)
        return TACIT_UNEXPECTED;
    enum tacit_status const status = on_helper_message(hub, event, entropy, update);
    if (event->size > 0 && status != TACIT_UNEXPECTED)
        hub->helper->is_wrong = status == TACIT_MALFORMED || status == TACIT_STRANGER;
    return status;
}

/* ---- The operator's word ---- */

bool live_hub_helper_is_asked(const struct live_hub *hub)
{
    return hub->helper != NULL && view_of(hub).is_fixed;
}

void live_hub_helper_overtaken(struct live_hub *hub)
{
    struct live_hub_helper *const helper = hub->helper;
    TACIT_ASSERT(helper != NULL);
    tacit_helper_hub_void(helper->core); /* what is here is of that round */
    helper->kept->awaits_operator = 0;
    helper->owes = false;
    tacit_helper_hub_go_on(helper->core);
    TACIT_ASSERT(!view_of(hub).is_fixed);
}

/* The operator has decided: the round that waited is closed as void, and played again. */
static void repeat_void_round(struct live_hub *hub, uint64_t now_us, struct live_hub_update *update)
{
    TACIT_ASSERT(hub->helper->kept->awaits_operator != 0);
    live_hub_helper_overtaken(hub);
    hub->ops->close(hub, 0, NULL, now_us, update);
}

/* In no U any more. Twice is once. */
static enum tacit_status drop(struct live_hub *hub, uint32_t site, struct live_hub_update *update,
                              const char **objection)
{
    uint64_t *const dropped = hub->helper->dropped;
    uint32_t const sites = hub->helper->run.site_count;
    TACIT_ASSERT(site < sites);
    if (tacit_bits_has(dropped, site))
        return TACIT_OK;
    if (tacit_bits_count(dropped, sites) + TACIT_HELPER_SITES_MIN >= sites) {
        *objection = "two aggregators add up what two sites or more report, and no more would be "
                     "left: end the run";
        return TACIT_REFUSED;
    }
    tacit_bits_add(dropped, site);
    update->persist = true;
    return TACIT_OK;
}

enum tacit_status live_hub_helper_change(struct live_hub *hub,
                                         const struct live_control_entry *wanted, uint64_t now_us,
                                         const struct tacit_entropy *entropy,
                                         struct live_hub_update *update, uint32_t *number,
                                         const char **objection)
{
    bool const waits = hub->helper->kept->awaits_operator != 0;
    enum tacit_status status = TACIT_OK;
    *number = 0;
    if (wanted->change == LIVE_CHANGE_DROP_SITE) {
        status = drop(hub, wanted->site, update, objection);
    } else if (wanted->change == LIVE_CHANGE_REPEAT && !waits) {
        *objection = "no round waits for that: one that is void is repeated by itself, and two in "
                     "a row wait for a word";
        status = TACIT_REFUSED;
    } else if (wanted->change != LIVE_CHANGE_REPEAT) {
        TACIT_ASSERT(hub->ops->change != NULL);
        status = hub->ops->change(hub, wanted, now_us, entropy, update, number, objection);
        if (status == TACIT_OK && wanted->change == LIVE_CHANGE_END_RUN)
            live_hub_helper_overtaken(hub);
        return status;
    }
    if (waits && status == TACIT_OK && (update->persist || wanted->change == LIVE_CHANGE_REPEAT))
        repeat_void_round(hub, now_us, update);
    go_on_without_dropped(hub, now_us, entropy, update);
    return status;
}

/* ---- Entries of the log ---- */

/* number | |U'| | digest of U' | head | signature | dropped */
#define ENTRY_BYTES (16u + 2 * TACIT_SHA256_BYTES + TACIT_HELPER_SIGNATURE_BYTES)

size_t live_hub_helper_entry_bytes(const struct live_hub_helper *helper)
{
    return helper == NULL ? 0 : ENTRY_BYTES + set_words(helper) * sizeof(uint64_t);
}

void live_hub_helper_write_entry(const struct live_hub_helper *helper, uint8_t *bytes)
{
    struct tacit_helper_hub_view view;
    TACIT_ASSERT(bytes != NULL);
    tacit_helper_hub_view(helper->core, &view);
    live_trust_put(bytes, view.number, 8);
    live_trust_put(bytes + 8, helper->kept->counted_number, 8);
    memcpy(bytes + 16, helper->kept->counted, TACIT_SHA256_BYTES);
    memcpy(bytes + 16 + TACIT_SHA256_BYTES, view.head, TACIT_SHA256_BYTES);
    memcpy(bytes + 16 + 2 * TACIT_SHA256_BYTES, view.signature, TACIT_HELPER_SIGNATURE_BYTES);
    for (size_t i = 0; i < set_words(helper); i++)
        live_trust_put(bytes + ENTRY_BYTES + 8 * i, helper->dropped[i], 8);
}

void live_hub_helper_recall(struct live_hub_helper *helper, const uint8_t *bytes)
{
    uint64_t const number = live_trust_get(bytes, 8);
    TACIT_ASSERT(helper->kept->term == 0);
    helper->kept->counted_number = live_trust_get(bytes + 8, 8);
    memcpy(helper->kept->counted, bytes + 16, TACIT_SHA256_BYTES);
    if (number > 0)
        tacit_helper_hub_recall(helper->core, number, bytes + 16 + TACIT_SHA256_BYTES,
                                bytes + 16 + 2 * TACIT_SHA256_BYTES);
    for (size_t i = 0; i < set_words(helper); i++)
        helper->dropped[i] = live_trust_get(bytes + ENTRY_BYTES + 8 * i, 8);
}

void live_hub_show_helper(const struct live_hub *hub, struct live_hub_view *shown)
{
    if (hub->helper == NULL)
        return;
    struct tacit_helper_hub_view const view = view_of(hub);
    if (shown->missing_count > 0)
        shown->missing_count = missing_count(hub, shown);
    shown->helper =
        (struct live_helper_view){.is_there = true,
                                  .has_agreed = hub->helper->kept->has_sealing == 1,
                                  .is_asked = view.is_fixed,
                                  .is_wrong = hub->helper->is_wrong,
                                  .awaits_operator = hub->helper->kept->awaits_operator != 0,
                                  .dropped = hub->helper->dropped,
                                  .left_out = hub->helper->left_out,
                                  .counted_number = (uint32_t)hub->helper->kept->counted_number,
                                  .void_count = view.void_count,
                                  .answer_count = view.number,
                                  .head = view.head,
                                  .counted = view.counted,
                                  .verdict = view.verdict};
}

/* The helper: answers a round once, ever, from envelopes alone (HELPER 3). */
#include <string.h>
#include "internal.h"

struct tacit_helper {
    struct tacit_helper_config config;
    uint64_t number; /* answers; 0: none */
    uint64_t term;   /* of the newest, .. */
    uint32_t round;
    uint32_t count;    /* n of it; 0: its words are not kept */
    uint64_t old_term; /* is_old: of the request that showed it */
    uint64_t epsilon_nano_most;
    uint64_t epsilon_nano_sum;
    uint32_t is_old;
    uint32_t spare;
    uint8_t request[TACIT_SHA256_BYTES];
    uint8_t previous[TACIT_SHA256_BYTES];
    uint8_t head[TACIT_SHA256_BYTES];
    uint64_t words[]; /* heads 4 A | U' W(A) | in order W(A) | faulty W(A) | a n */
};

/* ---- Layout ---- */

static uint8_t *head_of(struct tacit_helper *helper, uint32_t site)
{
    TACIT_ASSERT(site <= helper->config.run.site_count);
    return (uint8_t *)(helper->words + site * DIGEST_WORDS);
}

/* 0: U' of the newest answer. 1, 2: scratch. 3: the words. */
static uint64_t *column_of(struct tacit_helper *helper, uint32_t column)
{
    uint32_t const sites = helper->config.run.site_count;
    TACIT_ASSERT(column <= 3);
    return (uint64_t *)(void *)head_of(helper, sites) + column * TACIT_BITS_WORDS(sites);
}

static uint64_t *counted_of(struct tacit_helper *helper)
{
    return column_of(helper, 0);
}

static uint64_t *sound_of(struct tacit_helper *helper)
{
    return column_of(helper, 1);
}

static uint64_t *faulty_of(struct tacit_helper *helper)
{
    return column_of(helper, 2);
}

static uint64_t *words_of(struct tacit_helper *helper)
{
    return column_of(helper, 3);
}

static bool config_is_valid(const struct tacit_helper_config *config)
{
    return tacit_helper_run_is_valid(&config->run) && config->epsilon_nano_max > 0 &&
           config->sites_min >= TACIT_HELPER_SITES_MIN &&
           config->sites_min <= config->run.site_count;
}

size_t tacit_helper_size(const struct tacit_helper_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const sites = config->run.site_count;
    return sizeof(struct tacit_helper) +
           (sites * DIGEST_WORDS + 3 * TACIT_BITS_WORDS(sites) + config->run.count_max) *
               sizeof(uint64_t);
}

enum tacit_status tacit_helper_init(struct tacit_helper *helper,
                                    const struct tacit_helper_config *config)
{
    size_t const size = tacit_helper_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(helper, 0, size);
    helper->config = *config;
    return TACIT_OK;
}

/* ---- A site of U ---- */

/* Grants, each of which follows the one before, from what was counted last; the newest opens. */
static bool is_granted(struct tacit_helper *helper, const struct tacit_helper_request *request,
                       const struct tacit_helper_entry *entry, const struct tacit_helper_keys *keys)
{
    struct tacit_helper_run const *const run = &helper->config.run;
    TACIT_ASSERT(entry->site < run->site_count);
    TACIT_ASSERT(entry->link_count > 0);
    bool const has_head = helper->term == request->round.term &&
                          !tacit_commit_is_nothing(head_of(helper, entry->site));
    const uint8_t *previous = has_head ? head_of(helper, entry->site) : NULL;
    for (uint32_t i = 0; i < entry->link_count; i++) {
        struct tacit_helper_link const *const link = &entry->links[i];
        if ((previous != NULL && !tacit_commit_is_same(link->previous, previous)) ||
            !keys->is_of_site(keys->context, entry->site, request->round.term, link))
            return false;
        previous = link->commitment;
    }
    struct tacit_commit_scope const scope = {.domain = run->domain,
                                             .run_id = run->run_id,
                                             .site = entry->site,
                                             .epoch = request->round.round};
    struct tacit_commit_head last = {.head = {0}};
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_helper_link const *const link = &entry->links[entry->link_count - 1];
    memcpy(last.head, link->commitment, sizeof last.head);
    tacit_helper_release_digest(&entry->release, digest);
    return tacit_commit_opens(&last, &scope, link->previous, entry->salt, digest, sizeof digest);
}

/* False: it opens under no key of the helper, or was sealed for another round. Else the site's mask
 * is added to words, unless they are NULL. */
static bool open_envelope(struct tacit_helper *helper, const struct tacit_helper_request *request,
                          const struct tacit_helper_entry *entry,
                          const struct tacit_helper_keys *keys, uint64_t *words)
{
    TACIT_ASSERT(entry->site < helper->config.run.site_count);
    uint8_t seed[TACIT_HELPER_SEED_BYTES];
    uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX];
    size_t const size =
        tacit_helper_scope(&helper->config.run, &request->round, entry->site, scope);
    if (!keys->open(keys->context, scope, size, entry->release.envelope, seed))
        return false;
    if (words != NULL)
        tacit_helper_add_mask(seed, scope, size, false, words, request->round.count);
    return true;
}

/* Who of U is in order (sound_of), and who is not (faulty_of). Result: how many are. */
static uint32_t sort_out(struct tacit_helper *helper, const struct tacit_helper_request *request,
                         const struct tacit_helper_keys *keys)
{
    uint32_t count = 0;
    TACIT_ASSERT(request->entry_count > 0);
    size_t const bytes = TACIT_BITS_WORDS(helper->config.run.site_count) * sizeof(uint64_t);
    memset(sound_of(helper), 0, bytes);
    memset(faulty_of(helper), 0, bytes);
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        bool const is_sound = is_granted(helper, request, entry, keys) &&
                              open_envelope(helper, request, entry, keys, NULL);
        tacit_bits_add(is_sound ? sound_of(helper) : faulty_of(helper), entry->site);
        count += is_sound ? 1 : 0;
    }
    TACIT_ASSERT(count <= request->entry_count);
    return count;
}

/* ---- Answers ---- */

/* Of what the state holds; a refusal has no words, and in place of U' who of U is in order. The
 * driver signs. */
static void send_answer(struct tacit_helper *helper, const struct tacit_helper_request *request,
                        const uint8_t digest[TACIT_SHA256_BYTES], enum tacit_helper_verdict verdict,
                        struct tacit_helper_update *update)
{
    bool const is_answer = verdict == TACIT_HELPER_ANSWERED;
    TACIT_ASSERT(!update->send);
    TACIT_IMPLIES(is_answer, helper->number > 0 && helper->count > 0);
    update->send = true;
    update->faulty = faulty_of(helper);
    update->answer =
        (struct tacit_helper_answer){.verdict = verdict,
                                     .count = is_answer ? helper->count : 0,
                                     .number = helper->number,
                                     .term = request->round.term,
                                     .round = request->round.round,
                                     .site_count = helper->config.run.site_count,
                                     .sites = is_answer ? counted_of(helper) : sound_of(helper),
                                     .words = words_of(helper)};
    memcpy(update->answer.request, digest, TACIT_SHA256_BYTES);
    memcpy(update->answer.previous, helper->previous, TACIT_SHA256_BYTES);
    memcpy(update->answer.head, helper->head, TACIT_SHA256_BYTES);
}

static void refuse(struct tacit_helper *helper, const struct tacit_helper_request *request,
                   const uint8_t digest[TACIT_SHA256_BYTES], enum tacit_helper_verdict verdict,
                   struct tacit_helper_update *update)
{
    size_t const bytes = TACIT_BITS_WORDS(helper->config.run.site_count) * sizeof(uint64_t);
    TACIT_ASSERT(verdict != TACIT_HELPER_ANSWERED);
    if (verdict != TACIT_HELPER_TOO_FEW) {
        memset(sound_of(helper), 0, bytes);
        memset(faulty_of(helper), 0, bytes);
    }
    send_answer(helper, request, digest, verdict, update);
}

/* The heads of U' are what it was counted with; those of a term before are gone. */
static void move_heads(struct tacit_helper *helper, const struct tacit_helper_request *request)
{
    TACIT_ASSERT(helper->number == 0 || request->round.term >= helper->term);
    if (request->round.term != helper->term || helper->number == 0)
        memset(head_of(helper, 0), 0, helper->config.run.site_count * (size_t)TACIT_SHA256_BYTES);
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        if (tacit_bits_has(sound_of(helper), entry->site))
            memcpy(head_of(helper, entry->site), entry->links[entry->link_count - 1].commitment,
                   TACIT_SHA256_BYTES);
    }
}

/* Than the round that was answered last. */
static bool is_later(const struct tacit_helper *helper, const struct tacit_helper_round *round)
{
    return helper->number == 0 || round->term > helper->term ||
           (round->term == helper->term && round->round > helper->round);
}

/* Sums of masks over U', which is sound_of, and noise. Requires: the request may be answered. */
static void answer(struct tacit_helper *helper, const struct tacit_helper_request *request,
                   const uint8_t digest[TACIT_SHA256_BYTES], const struct tacit_helper_keys *keys,
                   const struct tacit_entropy *hedged, struct tacit_helper_update *update)
{
    struct tacit_helper_run const *const run = &helper->config.run;
    TACIT_ASSERT(is_later(helper, &request->round));
    TACIT_ASSERT(request->round.epsilon_nano <= helper->config.epsilon_nano_max);
    memset(words_of(helper), 0, run->count_max * sizeof(uint64_t));
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        bool const is_open = !tacit_bits_has(sound_of(helper), entry->site) ||
                             open_envelope(helper, request, entry, keys, words_of(helper));
        TACIT_ASSERT(is_open); /* as when it was sorted out */
    }
    enum tacit_status const status = tacit_helper_noise(run, request->round.epsilon_nano, hedged,
                                                        words_of(helper), request->round.count);
    TACIT_ASSERT(status == TACIT_OK);
    move_heads(helper, request);
    memcpy(counted_of(helper), sound_of(helper),
           TACIT_BITS_WORDS(run->site_count) * sizeof(uint64_t));
    helper->number++;
    helper->term = request->round.term;
    helper->round = request->round.round;
    helper->count = request->round.count;
    helper->is_old = 0;
    helper->old_term = 0;
    helper->epsilon_nano_sum += request->round.epsilon_nano;
    if (request->round.epsilon_nano > helper->epsilon_nano_most)
        helper->epsilon_nano_most = request->round.epsilon_nano;
    memcpy(helper->previous, helper->head, sizeof helper->previous);
    memcpy(helper->request, digest, sizeof helper->request);
    send_answer(helper, request, digest, TACIT_HELPER_ANSWERED, update);
    tacit_helper_answer_digest(&update->answer, helper->head);
    memcpy(update->answer.head, helper->head, sizeof helper->head);
    update->persist = true;
}

/* ---- Requests ---- */

static bool is_possible(const struct tacit_helper *helper,
                        const struct tacit_helper_request *request)
{
    struct tacit_helper_run const *const run = &helper->config.run;
    if (!helper_round_is_valid(run, &request->round) || request->entry_count == 0 ||
        request->entry_count > run->site_count || request->quorum > run->site_count)
        return false;
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        if (entry->site >= run->site_count || entry->link_count == 0 ||
            entry->link_count > TACIT_HELPER_LINKS_MAX ||
            (i > 0 && entry->site <= request->entries[i - 1].site))
            return false;
    }
    return true;
}

/* The hub shows an answer that this state never gave: another state of this helper, a newer one,
 * did. It stops; in a later term it goes on from what it was shown. */
static bool shows_newer(const struct tacit_helper *helper,
                        const struct tacit_helper_request *request)
{
    return request->number > helper->number ||
           (request->number == helper->number && request->number > 0 &&
            !tacit_commit_is_same(request->head, helper->head));
}

/* ANSWERED: it may be. That this state is an old one is noted. */
static enum tacit_helper_verdict judge(struct tacit_helper *helper,
                                       const struct tacit_helper_request *request,
                                       struct tacit_helper_update *update)
{
    TACIT_ASSERT(!update->persist && !update->send);
    if (shows_newer(helper, request)) {
        if (helper->is_old == 0 || request->round.term <= helper->old_term) {
            update->persist = helper->is_old == 0;
            helper->old_term = helper->is_old == 0 ? request->round.term : helper->old_term;
            helper->is_old = 1;
            return TACIT_HELPER_OLD;
        }
    } else if (helper->is_old != 0 && request->round.term <= helper->old_term) {
        return TACIT_HELPER_OLD;
    }
    if (request->number < helper->number && request->round.term <= helper->term)
        return TACIT_HELPER_BEHIND;
    if (!is_later(helper, &request->round))
        return TACIT_HELPER_LATE;
    return request->round.epsilon_nano <= helper->config.epsilon_nano_max ? TACIT_HELPER_ANSWERED
                                                                          : TACIT_HELPER_TOO_WEAK;
}

/* The hub has the newest answer: it is not asked for again. */
static void forget_words(struct tacit_helper *helper, const struct tacit_helper_request *request,
                         struct tacit_helper_update *update)
{
    if (helper->count == 0 || request->number != helper->number || helper->number == 0)
        return;
    TACIT_ASSERT(helper->count <= helper->config.run.count_max);
    memset(words_of(helper), 0, helper->count * sizeof(uint64_t));
    helper->count = 0;
    update->persist = true;
}

enum tacit_status tacit_helper_step(struct tacit_helper *helper,
                                    const struct tacit_helper_request *request,
                                    const struct tacit_helper_keys *keys,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_helper_update *update)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    TACIT_ASSERT(keys->open != NULL && keys->is_of_site != NULL);
    TACIT_ASSERT(keys->is_of_hub != NULL && keys->is_of_helper != NULL);
    *update = (struct tacit_helper_update){.persist = false};
    if (!is_possible(helper, request))
        return TACIT_MALFORMED;
    tacit_helper_request_digest(&helper->config.run, request, digest);
    if (!keys->is_of_hub(keys->context, digest, request->signature))
        return TACIT_STRANGER;
    if (request->number > 0 &&
        !keys->is_of_helper(keys->context, request->head, request->head_signature))
        return TACIT_MALFORMED;
    if (helper->number > 0 && helper->count > 0 && tacit_commit_is_same(digest, helper->request)) {
        send_answer(helper, request, digest, TACIT_HELPER_ANSWERED, update);
        return TACIT_OK;
    }
    enum tacit_helper_verdict verdict = judge(helper, request, update);
    struct helper_hedge hedge;
    struct tacit_entropy hedged;
    if (verdict == TACIT_HELPER_ANSWERED) {
        if (helper_hedge_begin(&hedge, entropy, digest, &hedged) != TACIT_OK)
            return TACIT_ENTROPY;
        uint32_t const sound_count = sort_out(helper, request, keys);
        if (sound_count < request->quorum || sound_count < helper->config.sites_min)
            verdict = TACIT_HELPER_TOO_FEW;
    }
    bool const is_newer = shows_newer(helper, request);
    if (verdict != TACIT_HELPER_ANSWERED) {
        if (!is_newer)
            forget_words(helper, request, update);
        refuse(helper, request, digest, verdict, update);
        return TACIT_OK;
    }
    if (is_newer) { /* shown in a term before: from there on */
        helper->number = request->number;
        memcpy(helper->head, request->head, sizeof helper->head);
    }
    answer(helper, request, digest, keys, &hedged, update);
    return TACIT_OK;
}

/* ---- States ---- */

enum tacit_status tacit_helper_check(const struct tacit_helper *state, size_t size,
                                     const struct tacit_helper_config *config)
{
    struct tacit_helper *const helper = (struct tacit_helper *)(uintptr_t)state;
    if (size == 0 || size != tacit_helper_size(config))
        return TACIT_MALFORMED;
    bool good = memcmp(&helper->config, config, sizeof *config) == 0 && helper->is_old <= 1 &&
                helper->count <= config->run.count_max && helper->spare == 0 &&
                (helper->is_old == 1 || helper->old_term == 0) &&
                (helper->number > 0 || (helper->count == 0 && helper->round == 0)) &&
                (helper->number > 0) == !tacit_commit_is_nothing(helper->head);
    for (uint32_t i = 0; good && i < 3; i++)
        good =
            tacit_bits_within(column_of(helper, i), column_of(helper, i), config->run.site_count);
    return good ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_helper_view(const struct tacit_helper *state, struct tacit_helper_view *view)
{
    struct tacit_helper *const helper = (struct tacit_helper *)(uintptr_t)state;
    *view = (struct tacit_helper_view){.number = helper->number,
                                       .term = helper->term,
                                       .round = helper->round,
                                       .head = helper->head,
                                       .sites = counted_of(helper),
                                       .epsilon_nano_most = helper->epsilon_nano_most,
                                       .epsilon_nano_sum = helper->epsilon_nano_sum,
                                       .is_old = helper->is_old != 0};
}

/* Storm over two aggregators: sites, a hub and a helper, each with a disk; messages lost, twice,
 * out of order; deaths before and after what is durable; old states and clones of sites, old states
 * of hub and helper, a hub that goes on in a new term; rotten envelopes, releases under a
 * stranger's key. What has to hold is looked at by somebody who knows every reward (look_at_answer,
 * look_at_totals, look_at_request). Planted bugs are found.
 *
 * Sites and hub are small ones of this test over the product's commitments, masks and hub's side of
 * the helper; the helper is the product's. Envelopes are HPKE in one world of 16, else a keyed
 * hash.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/live/pki/hpke.h"
#include "tacit/wire_helper.h"

#define SITES_MAX 4u
#define COUNT 3u
#define ROUNDS 12u
#define STEPS 700u
#define CALM_STEPS 4000u
#define QUEUE 48u
#define DRAWS_MAX 2048u
#define EPSILON UINT64_C(2000000000)
#define HUB SITES_MAX
#define HELPER (SITES_MAX + 1)
#define STRANGER 77u

enum bug {
    NO_BUG,
    ANSWERS_EACH_U, /* one answer for each U of a round */
    HELPER_FORGETS, /* a is not durable before it is said */
    HUB_FORGETS,    /* U and noise are not durable before they are said */
    TOTALS_ARE_UNSIGNED,
    KEYS_ARE_NOT_PINNED,
    LAST_LINK_ONLY,
    SHOWS_Z,
    COUNTS_ALL_OF_U,
    NOISE_IS_SATURATED,
    OLD_HELPER_GOES_ON, /* it does not look at what the hub shows */
    BUGS
};

enum kind { PLAIN, COPIES, OLD_HELPERS, OLD_HUBS, LIARS, KINDS };

struct site {
    uint64_t term;
    uint32_t round;
    uint32_t phase; /* 0: nothing, 1: waits for its grant, 2: granted */
    uint32_t draw;
    uint32_t reward; /* what it adds up next */
    uint8_t head[TACIT_SHA256_BYTES];
    struct tacit_commit commit;
    struct tacit_helper_release release;
    uint64_t words[COUNT];
};

struct hub {
    uint64_t term;
    uint32_t round;
    uint32_t closed;
    struct tacit_commit_head heads[SITES_MAX];
};

struct draw {
    uint32_t site;
    uint32_t reward;
    bool is_forged;
    bool is_rotten;
    bool is_answered;
    uint64_t x[COUNT];
    uint8_t commitment[TACIT_SHA256_BYTES];
    uint8_t request[TACIT_SHA256_BYTES];
    uint8_t head[TACIT_SHA256_BYTES];
};

enum word { ORDER, COMMIT, GRANT, REPORT, REQUEST, ANSWER };

struct message {
    enum word word;
    uint32_t to;
    uint32_t from;
    uint64_t term;
    uint32_t round;
    struct tacit_commit commit;
    struct tacit_helper_release release;
    uint64_t words[COUNT];
    uint8_t *bytes; /* REQUEST, ANSWER */
    size_t size;
};

struct node {
    uint8_t *state;
    uint8_t *durable;
    uint8_t *old;
    size_t size;
};

struct world {
    enum kind kind;
    enum bug bug;
    bool is_real; /* HPKE */
    bool is_calm;
    uint32_t sites;
    uint64_t term_max;
    struct tacit_helper_run run;
    struct tacit_helper_config config;
    struct tacit_helper_keys keys;
    struct node nodes[SITES_MAX + 2];
    struct message queue[QUEUE];
    uint32_t queued;
    struct draw draws[DRAWS_MAX];
    uint32_t draw_count;
    uint32_t reward_count;
    struct tacit_rng chance;
    struct tacit_rng noise;
    struct tacit_entropy entropy;
    uint8_t secret[32];
    uint8_t public_key[32];
    uint8_t asked[TACIT_SHA256_BYTES]; /* the last request, .. */
    uint64_t asked_term;
    uint32_t asked_round;
    bool may_ask_other; /* .. was refused, or its hub was put back */
    bool helper_was_old;
    bool hub_was_old;
    uint32_t closed;
    uint32_t left_out;
    const char *broken;
};

static uint32_t below(struct world *world, uint32_t bound)
{
    return (uint32_t)(tacit_rng_next(&world->chance) % bound);
}

static struct site *site_of(struct world *world, uint32_t site)
{
    return (struct site *)(void *)world->nodes[site].state;
}

static struct hub *hub_of(struct world *world)
{
    return (struct hub *)(void *)world->nodes[HUB].state;
}

static struct tacit_helper_hub *kept_of(struct world *world)
{
    return (struct tacit_helper_hub *)(void *)(world->nodes[HUB].state + sizeof(struct hub));
}

static void persist(struct world *world, uint32_t node)
{
    struct node *const at = &world->nodes[node];
    if (below(world, 16) == 0)
        memcpy(at->old, at->durable, at->size);
    memcpy(at->durable, at->state, at->size);
}

static void breaks(struct world *world, const char *promise)
{
    if (world->broken == NULL)
        world->broken = promise;
}

/* ---- Keys ---- */

static void sign(uint32_t who, const uint8_t digest[TACIT_SHA256_BYTES], uint8_t *signature)
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update_number(&sha, who);
    tacit_sha256_update(&sha, digest, TACIT_SHA256_BYTES);
    memset(signature, 0, TACIT_HELPER_SIGNATURE_BYTES);
    tacit_sha256_final(&sha, signature);
}

static bool is_signed(uint32_t who, const uint8_t *digest, const uint8_t *signature)
{
    uint8_t expected[TACIT_HELPER_SIGNATURE_BYTES];
    sign(who, digest, expected);
    return memcmp(expected, signature, sizeof expected) == 0;
}

static bool is_of_hub(void *context, const uint8_t *digest, const uint8_t *signature)
{
    (void)context;
    return is_signed(HUB, digest, signature);
}

static bool is_of_helper(void *context, const uint8_t *digest, const uint8_t *signature)
{
    (void)context;
    return is_signed(HELPER, digest, signature);
}

static bool is_of_site(void *context, uint32_t site, uint64_t term,
                       const struct tacit_helper_link *link)
{
    struct world const *const world = context;
    (void)term;
    return world->bug == KEYS_ARE_NOT_PINNED || is_signed(site, link->commitment, link->proof);
}

/* A keyed hash of key, scope and the first 32 bytes: a stream, and a tag. */
static void hash_of(const struct world *world, const uint8_t *scope, size_t size,
                    const uint8_t *first, const uint8_t *seed, uint8_t code[TACIT_SHA256_BYTES])
{
    struct tacit_hmac hmac = tacit_hmac_init(world->secret);
    tacit_hmac_update(&hmac, scope, size);
    tacit_hmac_update(&hmac, first, TACIT_HELPER_SEED_BYTES);
    if (seed != NULL)
        tacit_hmac_update(&hmac, seed, TACIT_HELPER_SEED_BYTES);
    tacit_hmac_final(&hmac, code);
}

static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *scope, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    struct world *const world = context;
    uint8_t code[TACIT_SHA256_BYTES];
    if (world->is_real)
        return live_hpke_seal_seed(world->public_key, ephemeral, scope, size, seed, envelope);
    memcpy(envelope, ephemeral, 32);
    hash_of(world, scope, size, envelope, NULL, code);
    for (size_t i = 0; i < 32; i++)
        envelope[32 + i] = seed[i] ^ code[i];
    hash_of(world, scope, size, envelope, seed, code);
    memcpy(envelope + 64, code, 16);
    return true;
}

static bool open_seed(void *context, const uint8_t *scope, size_t size, const uint8_t *envelope,
                      uint8_t *seed)
{
    struct world *const world = context;
    uint8_t code[TACIT_SHA256_BYTES];
    if (world->is_real)
        return live_hpke_open_seed(world->secret, scope, size, envelope, seed);
    hash_of(world, scope, size, envelope, NULL, code);
    for (size_t i = 0; i < 32; i++)
        seed[i] = envelope[32 + i] ^ code[i];
    hash_of(world, scope, size, envelope, seed, code);
    return memcmp(envelope + 64, code, 16) == 0;
}

/* ---- Messages ---- */

static void put(struct world *world, struct message message)
{
    if (world->queued == QUEUE) { /* the oldest is lost */
        free(world->queue[0].bytes);
        memmove(world->queue, world->queue + 1, (QUEUE - 1) * sizeof world->queue[0]);
        world->queued--;
    }
    world->queue[world->queued++] = message;
}

static struct draw *draw_of(struct world *world, const uint8_t commitment[TACIT_SHA256_BYTES])
{
    for (uint32_t i = world->draw_count; i-- > 0;)
        if (memcmp(world->draws[i].commitment, commitment, TACIT_SHA256_BYTES) == 0)
            return &world->draws[i];
    fail();
    return NULL;
}

/* ---- What has to hold ---- */

/* The request names no masked word, and there is no other one for its round unless it was refused.
 */
static void look_at_request(struct world *world, const uint8_t *bytes, size_t size,
                            const struct tacit_helper_request *request, const uint8_t *digest)
{
    bool const is_same_round =
        world->asked_term == request->round.term && world->asked_round == request->round.round;
    if (is_same_round && !world->may_ask_other && !world->hub_was_old &&
        memcmp(world->asked, digest, TACIT_SHA256_BYTES) != 0)
        breaks(world, "two requests for one round");
    memcpy(world->asked, digest, TACIT_SHA256_BYTES);
    world->asked_term = request->round.term;
    world->asked_round = request->round.round;
    world->may_ask_other = false;
    for (uint32_t site = 0; site < world->sites; site++)
        for (size_t i = 0; i + 8 <= size; i++)
            if (memcmp(bytes + i, site_of(world, site)->words, 8) == 0 &&
                site_of(world, site)->words[0] != 0)
                breaks(world, "a masked word is in a request");
}

/* No reward is in two answers, but the same one said again. */
static void look_at_answer(struct world *world, const struct tacit_helper_request *request,
                           const struct tacit_helper_answer *answer)
{
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        if (!tacit_bits_has(answer->sites, entry->site))
            continue;
        struct draw *const draw = draw_of(world, entry->links[entry->link_count - 1].commitment);
        if (draw->is_forged || draw->is_rotten || draw->site != entry->site)
            breaks(world, "a release that is not the site's is counted");
        for (uint32_t j = 0; j < world->draw_count; j++) {
            struct draw const *const other = &world->draws[j];
            bool const is_same = other->is_answered && other->site == draw->site &&
                                 other->reward == draw->reward && !other->is_forged;
            if (is_same && memcmp(other->request, answer->request, TACIT_SHA256_BYTES) != 0)
                breaks(world, "a reward is in two answers");
            if (is_same && !world->helper_was_old &&
                memcmp(other->head, answer->head, TACIT_SHA256_BYTES) != 0)
                breaks(world, "one request has two answers");
        }
        draw->is_answered = true;
        memcpy(draw->request, answer->request, TACIT_SHA256_BYTES);
        memcpy(draw->head, answer->head, TACIT_SHA256_BYTES);
    }
}

/* Exactly those that were counted, and noise of a size that noise has. */
static void look_at_totals(struct world *world, const struct tacit_helper_request *request,
                           const struct tacit_helper_answer *answer, uint32_t agents,
                           const int64_t *totals)
{
    uint32_t count = 0;
    uint64_t sums[COUNT] = {0};
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry const *const entry = &request->entries[i];
        if (!tacit_bits_has(answer->sites, entry->site))
            continue;
        struct draw const *const draw =
            draw_of(world, entry->links[entry->link_count - 1].commitment);
        for (uint32_t j = 0; j < COUNT; j++)
            sums[j] += draw->x[j];
        count++;
    }
    if (agents != count)
        breaks(world, "totals are of another number of sites");
    double const slack = tacit_helper_slack(&world->run, EPSILON, 0, agents, COUNT);
    for (uint32_t j = 0; j < COUNT; j++) {
        double const noise = (double)totals[j] - (double)sums[j];
        if (noise > slack || noise < -slack)
            breaks(world, "a total is not the sum of what was counted");
    }
    world->closed++;
}

/* ---- Sites ---- */

static void say_commit(struct world *world, uint32_t at)
{
    struct site const *const site = site_of(world, at);
    put(world, (struct message){.word = site->phase == 1 ? COMMIT : REPORT,
                                .to = HUB,
                                .from = at,
                                .term = site->term,
                                .round = site->round,
                                .commit = site->commit,
                                .release = site->release,
                                .words = {site->words[0], site->words[1], site->words[2]}});
}

/* All rewards of the round are here. */
static void draw_release(struct world *world, uint32_t at)
{
    struct site *const site = site_of(world, at);
    struct draw *const draw = &world->draws[world->draw_count];
    struct tacit_helper_round const round = {
        .term = site->term, .round = site->round, .count = COUNT, .epsilon_nano = EPSILON};
    struct tacit_commit_scope const scope = {
        .domain = world->run.domain, .run_id = world->run.run_id, .site = at, .epoch = site->round};
    uint8_t digest[TACIT_SHA256_BYTES];
    assert_true(world->draw_count < DRAWS_MAX);
    *draw = (struct draw){.site = at, .reward = site->reward};
    draw->is_rotten = world->kind == LIARS && !world->is_calm && below(world, 12) == 0;
    draw->is_forged = world->kind == LIARS && !world->is_calm && below(world, 12) == 0;
    for (uint32_t j = 0; j < COUNT; j++)
        draw->x[j] = site->words[j] = below(world, 4) == 0 ? 0 : below(world, 1u << 20);
    assert_int_equal(tacit_helper_mask(&world->run, &round, at, &world->keys, &world->entropy,
                                       site->words, &site->release),
                     TACIT_OK);
    if (draw->is_rotten)
        site->release.envelope[below(world, TACIT_HELPER_ENVELOPE_BYTES)] ^= 1;
    tacit_helper_release_digest(&site->release, digest);
    assert_int_equal(tacit_commit_make(&scope, site->head, digest, sizeof digest, &world->entropy,
                                       &site->commit),
                     TACIT_OK);
    memcpy(draw->commitment, site->commit.commitment, TACIT_SHA256_BYTES);
    site->draw = world->draw_count++;
    site->phase = 1;
    persist(world, at);
    say_commit(world, at);
}

static void hear_site(struct world *world, uint32_t at, const struct message *heard)
{
    struct site *const site = site_of(world, at);
    if (heard->word == GRANT && heard->term == site->term && site->phase == 1 &&
        memcmp(heard->commit.commitment, site->commit.commitment, TACIT_SHA256_BYTES) == 0) {
        memcpy(site->head, site->commit.commitment, sizeof site->head);
        site->phase = 2;
        site->reward = ++world->reward_count;
        persist(world, at);
        say_commit(world, at);
        return;
    }
    if (heard->word != ORDER || heard->term < site->term)
        return;
    if (heard->term > site->term) { /* what was not granted is dropped, drawn or not */
        site->reward = ++world->reward_count;
        site->term = heard->term;
        site->phase = 0;
        site->round = 0;
    } else if (site->phase == 1 || heard->round <= site->round) {
        return;
    }
    site->round = heard->round;
    draw_release(world, at);
}

/* ---- Hub ---- */

static void say_order(struct world *world, uint32_t to)
{
    put(world, (struct message){.word = ORDER,
                                .to = to,
                                .from = HUB,
                                .term = hub_of(world)->term,
                                .round = hub_of(world)->round});
}

static void say_request(struct world *world)
{
    static uint8_t proofs[SITES_MAX * TACIT_HELPER_LINKS_MAX][TACIT_HELPER_SIGNATURE_BYTES];
    uint8_t digest[TACIT_SHA256_BYTES];
    uint32_t proof = 0;
    void *const memory = malloc(tacit_helper_hub_request_size(kept_of(world)));
    struct tacit_helper_request *const request = tacit_helper_hub_request(kept_of(world), memory);
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry *const entry =
            (struct tacit_helper_entry *)(uintptr_t)&request->entries[i];
        if (world->bug == LAST_LINK_ONLY) {
            entry->links += entry->link_count - 1;
            entry->link_count = 1;
        }
        if (world->bug == SHOWS_Z)
            memcpy(entry->release.digest, site_of(world, entry->site)->words, 8);
        for (uint32_t j = 0; j < entry->link_count; j++, proof++) {
            struct tacit_helper_link *const link =
                (struct tacit_helper_link *)(uintptr_t)&entry->links[j];
            bool const is_forged = draw_of(world, link->commitment)->is_forged;
            sign(is_forged ? STRANGER : entry->site, link->commitment, proofs[proof]);
            link->proof = proofs[proof];
            link->proof_size = TACIT_HELPER_SIGNATURE_BYTES;
        }
    }
    tacit_helper_request_digest(&world->run, request, digest);
    sign(HUB, digest, request->signature);
    struct message message = {.word = REQUEST, .to = HELPER, .from = HUB};
    message.size = tacit_wire_helper_request_bytes(request);
    message.bytes = malloc(message.size);
    tacit_wire_helper_request_encode(request, message.bytes);
    look_at_request(world, message.bytes, message.size, request, digest);
    put(world, message);
    free(memory);
}

static void fix(struct world *world)
{
    struct hub const *const hub = hub_of(world);
    struct tacit_helper_hub_view view;
    struct tacit_helper_round const round = {
        .term = hub->term, .round = hub->round, .count = COUNT, .epsilon_nano = EPSILON};
    tacit_helper_hub_look(kept_of(world), &view);
    if (view.is_fixed || view.here_count < 2)
        return;
    assert_int_equal(tacit_helper_hub_fix(kept_of(world), &round, 2, &world->entropy), TACIT_OK);
    if (world->bug != HUB_FORGETS)
        persist(world, HUB);
    say_request(world);
}

static void begin_term(struct world *world)
{
    struct hub *const hub = hub_of(world);
    hub->term = ++world->term_max;
    hub->round = 1;
    memset(hub->heads, 0, sizeof hub->heads);
    tacit_helper_hub_begin_term(kept_of(world), hub->term);
    world->may_ask_other = true;
    persist(world, HUB);
}

static void hear_commit(struct world *world, const struct message *heard)
{
    struct hub *const hub = hub_of(world);
    struct tacit_commit_head *const head = &hub->heads[heard->from];
    if (hub->term > 0 && tacit_commit_is_nothing(head->head)) /* the first that it shows */
        memcpy(head->head, heard->commit.previous, sizeof head->head);
    enum tacit_commit_answer const answer =
        tacit_commit_ask(head, heard->commit.commitment, heard->commit.previous);
    if (answer == TACIT_COMMIT_GRANTED) {
        tacit_helper_hub_grant(kept_of(world), heard->from, &heard->commit);
        persist(world, HUB);
    }
    if (answer == TACIT_COMMIT_GRANTED || answer == TACIT_COMMIT_AGAIN)
        put(world, (struct message){.word = GRANT,
                                    .to = heard->from,
                                    .from = HUB,
                                    .term = hub->term,
                                    .commit = heard->commit});
}

static void hear_report(struct world *world, const struct message *heard)
{
    struct hub *const hub = hub_of(world);
    struct tacit_helper_hub_view view;
    struct tacit_commit_scope const scope = {.domain = world->run.domain,
                                             .run_id = world->run.run_id,
                                             .site = heard->from,
                                             .epoch = heard->round};
    struct tacit_helper_release release = heard->release;
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_helper_hub_look(kept_of(world), &view);
    tacit_helper_blind_digest(&release, heard->words, COUNT);
    tacit_helper_release_digest(&release, digest);
    if (heard->round != hub->round || view.is_fixed || tacit_bits_has(view.here, heard->from) ||
        !tacit_commit_opens(&hub->heads[heard->from], &scope, heard->commit.previous,
                            heard->commit.salt, digest, sizeof digest))
        return;
    tacit_helper_hub_take(kept_of(world), heard->from, heard->commit.salt, &release, heard->words,
                          COUNT);
    persist(world, HUB);
    tacit_helper_hub_look(kept_of(world), &view);
    if (view.here_count == world->sites)
        fix(world);
}

static void spoil_totals(const struct world *world, const struct tacit_helper_request *request,
                         uint32_t *agents, int64_t *totals)
{
    for (uint32_t j = 0; j < COUNT; j++) {
        if (world->bug == TOTALS_ARE_UNSIGNED && totals[j] < 0)
            totals[j] = INT64_MAX;
        if (world->bug == NOISE_IS_SATURATED && totals[j] > INT64_C(1) << 20)
            totals[j] = INT64_MAX;
    }
    if (world->bug == COUNTS_ALL_OF_U)
        *agents = request->entry_count;
}

static void hear_answer(struct world *world, const struct message *heard)
{
    static const struct tacit_helper_range range = {.high = 1u << 20};
    struct tacit_helper_answer *answer;
    struct hub *const hub = hub_of(world);
    struct tacit_helper_hub_view view;
    enum tacit_helper_outcome outcome = TACIT_HELPER_FREED;
    uint32_t agents = 0;
    int64_t totals[COUNT];
    uint8_t digest[TACIT_SHA256_BYTES];
    assert_int_equal(tacit_wire_helper_answer_decode(heard->bytes, heard->size, world->sites,
                                                     &answer, tacit_wire_heap()),
                     TACIT_OK);
    tacit_helper_answer_digest(answer, digest);
    assert_true(is_of_helper(NULL, digest, answer->signature));
    tacit_helper_hub_look(kept_of(world), &view);
    void *const memory =
        view.is_fixed ? malloc(tacit_helper_hub_request_size(kept_of(world))) : NULL;
    struct tacit_helper_request *const request =
        view.is_fixed ? tacit_helper_hub_request(kept_of(world), memory) : NULL;
    enum tacit_status const status =
        tacit_helper_hub_close(kept_of(world), answer, &range, &outcome, &agents, totals);
    tacit_helper_hub_look(kept_of(world), &view);
    if (status == TACIT_FORKED && !world->helper_was_old && !world->hub_was_old)
        breaks(world, "two answers of one number");
    if (status == TACIT_OK && outcome == TACIT_HELPER_FREED) {
        world->may_ask_other = true;
        tacit_helper_hub_void(kept_of(world));
    } else if (status == TACIT_OK) {
        spoil_totals(world, request, &agents, totals);
        look_at_totals(world, request, answer, agents, totals);
        world->left_out += request->entry_count - agents;
        if (outcome == TACIT_HELPER_VOID)
            breaks(world, "honest sites' totals are void");
    }
    if (status == TACIT_OK) {
        hub->round++;
        hub->closed++;
    }
    persist(world, HUB);
    bool const is_stuck = status == TACIT_UNEXPECTED && view.is_fixed &&
                          memcmp(answer->request, world->asked, TACIT_SHA256_BYTES) == 0;
    if (is_stuck && (view.verdict == TACIT_HELPER_OLD || view.verdict == TACIT_HELPER_BEHIND ||
                     view.verdict == TACIT_HELPER_LATE))
        begin_term(world); /* the operator's word */
    free(answer);
    free(memory);
}

static void hear_hub(struct world *world, const struct message *heard)
{
    if (heard->word == ANSWER) {
        hear_answer(world, heard);
        return;
    }
    if (heard->term != hub_of(world)->term)
        return;
    if (heard->word == COMMIT)
        hear_commit(world, heard);
    else if (heard->word == REPORT)
        hear_report(world, heard);
}

/* ---- Helper ---- */

static void hear_helper(struct world *world, const struct message *heard)
{
    struct node *const node = &world->nodes[HELPER];
    struct tacit_helper_request *request;
    struct tacit_helper_update update;
    struct tacit_helper_view view;
    uint8_t digest[TACIT_SHA256_BYTES];
    assert_int_equal(tacit_wire_helper_request_decode(heard->bytes, heard->size, world->sites,
                                                      &request, tacit_wire_heap()),
                     TACIT_OK);
    tacit_helper_request_digest(&world->run, request, digest);
    tacit_helper_look((void *)node->state, &view);
    bool const is_again =
        view.number > 0 && view.term == request->round.term && view.round == request->round.round;
    if (world->bug == ANSWERS_EACH_U && is_again)
        memcpy(node->state, node->old, node->size);
    if (world->bug == OLD_HELPER_GOES_ON && request->number > view.number)
        request->number = 0;
    enum tacit_status const status =
        tacit_helper_step((void *)node->state, request, &world->keys, &world->entropy, &update);
    bool const is_shown_less = world->bug == OLD_HELPER_GOES_ON;
    if (status != TACIT_OK && !is_shown_less)
        breaks(world, "an honest request is refused without an answer");
    if (status == TACIT_OK && update.send) {
        struct message message = {.word = ANSWER, .to = HUB, .from = HELPER};
        if (update.persist && world->bug == ANSWERS_EACH_U && !is_again)
            memcpy(node->old, node->durable, node->size);
        if (update.persist && world->bug != HELPER_FORGETS)
            persist(world, HELPER);
        if (update.answer.verdict == TACIT_HELPER_ANSWERED)
            look_at_answer(world, request, &update.answer);
        tacit_helper_answer_digest(&update.answer, digest);
        sign(HELPER, digest, update.answer.signature);
        sign(HELPER, update.answer.head, update.answer.head_signature);
        message.size = tacit_wire_helper_answer_bytes(&update.answer);
        message.bytes = malloc(message.size);
        tacit_wire_helper_answer_encode(&update.answer, message.bytes);
        put(world, message);
    }
    free(request);
}

/* ---- The storm ---- */

static void deliver(struct world *world)
{
    if (world->queued == 0)
        return;
    uint32_t const at = below(world, world->queued);
    struct message heard = world->queue[at];
    bool const stays = !world->is_calm && below(world, 5) == 0;
    bool const is_lost = !world->is_calm && below(world, 8) == 0;
    if (stays && heard.bytes != NULL) {
        heard.bytes = malloc(heard.size);
        memcpy(heard.bytes, world->queue[at].bytes, heard.size);
    } else if (!stays) {
        memmove(world->queue + at, world->queue + at + 1,
                (world->queued - at - 1) * sizeof world->queue[0]);
        world->queued--;
    }
    if (is_lost) {
        free(heard.bytes);
        return;
    }
    if (heard.to == HUB)
        hear_hub(world, &heard);
    else if (heard.to == HELPER)
        hear_helper(world, &heard);
    else
        hear_site(world, heard.to, &heard);
    free(heard.bytes);
}

/* Whoever waits says it again. */
static void tick(struct world *world)
{
    struct tacit_helper_hub_view view;
    uint32_t const at = below(world, world->sites);
    tacit_helper_hub_look(kept_of(world), &view);
    if (site_of(world, at)->phase > 0)
        say_commit(world, at);
    say_order(world, at);
    if (view.is_fixed && !view.is_forked)
        say_request(world);
    else if (below(world, 3) == 0 && !view.is_forked)
        fix(world);
}

static void hurt(struct world *world)
{
    uint32_t const victim = below(world, world->sites + 2);
    uint32_t const at = victim < world->sites ? victim : HUB + victim - world->sites;
    struct node *const node = &world->nodes[at];
    if (below(world, 2) == 0) { /* dies: what is not durable is gone */
        memcpy(node->state, node->durable, node->size);
        return;
    }
    bool const may_be_old = at == HELPER ? world->kind == OLD_HELPERS
                            : at == HUB  ? world->kind == OLD_HUBS
                                         : world->kind == COPIES || world->kind == OLD_HUBS;
    if (!may_be_old || below(world, 4) != 0)
        return;
    memcpy(node->state, node->old, node->size);
    memcpy(node->durable, node->old, node->size);
    world->helper_was_old |= at == HELPER;
    world->hub_was_old |= at == HUB;
}

static void begin(struct world *world, enum kind kind, enum bug bug, uint32_t seed)
{
    *world =
        (struct world){.kind = kind,
                       .bug = bug,
                       .is_real = seed % 16 == 0,
                       .chance = tacit_rng_stream(seed, (uint32_t)kind, 0, TACIT_PURPOSE_FAULT),
                       .noise = tacit_rng_stream(seed, (uint32_t)kind, 0, TACIT_PURPOSE_NOISE)};
    world->sites = 2 + below(world, SITES_MAX - 1);
    world->run = (struct tacit_helper_run){.federation = "storm",
                                           .run_id = 5,
                                           .site_count = world->sites,
                                           .count_max = COUNT,
                                           .steps = 1u << 20};
    world->config = (struct tacit_helper_config){world->run, EPSILON, 2};
    world->keys =
        (struct tacit_helper_keys){world, seal, open_seed, is_of_site, is_of_hub, is_of_helper};
    world->entropy = tacit_rng_entropy(&world->noise);
    for (size_t i = 0; i < sizeof world->secret; i++)
        world->secret[i] = (uint8_t)(i * 7 + seed);
    if (world->is_real)
        assert_true(live_hpke_public(world->secret, world->public_key));
    for (uint32_t at = 0; at < SITES_MAX + 2; at++) {
        struct node *const node = &world->nodes[at];
        node->size = at == HUB      ? sizeof(struct hub) + tacit_helper_hub_size(&world->run)
                     : at == HELPER ? tacit_helper_size(&world->config)
                                    : sizeof(struct site);
        node->state = calloc(1, node->size);
        node->durable = calloc(1, node->size);
        node->old = calloc(1, node->size);
    }
    assert_int_equal(tacit_helper_init((void *)world->nodes[HELPER].state, &world->config),
                     TACIT_OK);
    assert_int_equal(tacit_helper_hub_init(kept_of(world), &world->run), TACIT_OK);
    hub_of(world)->round = 1;
    for (uint32_t site = 0; site < world->sites; site++)
        site_of(world, site)->reward = ++world->reward_count;
    for (uint32_t at = 0; at < SITES_MAX + 2; at++) {
        memcpy(world->nodes[at].durable, world->nodes[at].state, world->nodes[at].size);
        memcpy(world->nodes[at].old, world->nodes[at].state, world->nodes[at].size);
    }
}

static void end(struct world *world)
{
    assert_int_equal(tacit_helper_check((void *)world->nodes[HELPER].state,
                                        world->nodes[HELPER].size, &world->config),
                     TACIT_OK);
    assert_int_equal(
        tacit_helper_hub_check(kept_of(world), tacit_helper_hub_size(&world->run), &world->run),
        TACIT_OK);
    for (uint32_t i = 0; i < world->queued; i++)
        free(world->queue[i].bytes);
    for (uint32_t at = 0; at < SITES_MAX + 2; at++) {
        free(world->nodes[at].state);
        free(world->nodes[at].durable);
        free(world->nodes[at].old);
    }
}

/* The first promise that was not kept; NULL: all were. */
static const char *storm(enum kind kind, enum bug bug, uint32_t seed, uint32_t *closed,
                         uint32_t *left_out)
{
    static struct world world;
    begin(&world, kind, bug, seed);
    for (uint32_t i = 0; i < STEPS && world.broken == NULL && hub_of(&world)->closed < ROUNDS;
         i++) {
        if (below(&world, 4) == 0)
            tick(&world);
        else if (below(&world, 30) == 0)
            hurt(&world);
        else
            deliver(&world);
    }
    world.is_calm = true;
    struct tacit_helper_hub_view view;
    uint32_t const before = hub_of(&world)->closed;
    if (world.kind == COPIES || world.kind == OLD_HUBS) /* who is blocked goes on in a new term */
        begin_term(&world);
    for (uint32_t i = 0;
         i < CALM_STEPS && world.broken == NULL && hub_of(&world)->closed < before + 2; i++)
        if (below(&world, 3) == 0)
            tick(&world);
        else
            deliver(&world);
    tacit_helper_hub_look(kept_of(&world), &view);
    if (hub_of(&world)->closed < before + 2 && !view.is_forked)
        breaks(&world, "nothing goes on though all is well");
    *closed += world.closed;
    *left_out += world.left_out;
    char const *const broken = world.broken;
    end(&world);
    return broken;
}

static uint32_t worlds = 1500;
static uint32_t first_seed;

static void promises_hold_in_a_storm(void **state)
{
    (void)state;
    uint32_t closed = 0;
    uint32_t left_out = 0;
    for (uint32_t seed = first_seed; seed < first_seed + worlds; seed++) {
        enum kind const kind = (enum kind)(seed % KINDS);
        char const *const broken = storm(kind, NO_BUG, seed, &closed, &left_out);
        if (broken != NULL)
            print_error("kind %d, seed %u: %s\n", (int)kind, seed, broken);
        assert_null(broken);
    }
    print_message("%u rounds were closed, %u releases left out\n", closed, left_out);
    assert_true(closed > 3 * worlds && left_out > worlds / 50);
}

static void planted_bugs_are_found(void **state)
{
    (void)state;
    static const enum kind kinds[BUGS] = {[KEYS_ARE_NOT_PINNED] = LIARS,
                                          [COUNTS_ALL_OF_U] = LIARS,
                                          [ANSWERS_EACH_U] = OLD_HUBS,
                                          [OLD_HELPER_GOES_ON] = OLD_HELPERS};
    for (enum bug bug = ANSWERS_EACH_U; bug < BUGS; bug++) {
        uint32_t ignored = 0;
        char const *broken = NULL;
        uint32_t seed = 0;
        while (broken == NULL && seed < 600)
            broken = storm(kinds[bug], bug, seed++, &ignored, &ignored);
        print_message("bug %d: %s, in world %u\n", (int)bug, broken == NULL ? "not found" : broken,
                      seed);
        assert_non_null(broken);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(promises_hold_in_a_storm),
                                       cmocka_unit_test(planted_bugs_are_found)};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--worlds") == 0)
            worlds = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seed") == 0)
            first_seed = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The second aggregator: sealing is RFC 9180's, totals are sums with two noises whatever is in
 * between, one answer is ever given for a round, and whoever shows something else is told what is
 * wrong. With real envelopes; over the wire's bytes. */
#include "../support/testing.h"
#include "../support/name_keys.h"
#include "../support/wire_shape.h"
#include <math.h>
#include "../../src/live/pki/hpke.h"
#include "../support/damage.h"
#include "tacit/wire_helper.h"

#define SITES 5u
#define COUNT 6u /* more than a block of four, and not a multiple of it */
#define EPSILON UINT64_C(1000000000)

/* ---- HPKE ---- */

static void from_hex(const char *text, uint8_t *bytes)
{
    for (size_t i = 0; text[2 * i] != '\0'; i++) {
        char const pair[3] = {text[2 * i], text[2 * i + 1], '\0'};
        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

/* RFC 9180, A.2.1 and A.2.1.1, sequence number 0. */
TEST(sealing_is_the_standards)
{
    uint8_t key[32];
    uint8_t public_key[32];
    uint8_t ephemeral[32];
    uint8_t info[20];
    uint8_t text[29];
    uint8_t extra[7];
    uint8_t expected[32 + 45];
    uint8_t sealed[32 + 45];
    uint8_t opened[29];
    uint8_t made[32];
    from_hex("8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb", key);
    from_hex("4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a", public_key);
    from_hex("f4ec9b33b792c372c1d2c2063507b684ef925b8c75a42dbcbf57d63ccd381600", ephemeral);
    from_hex("4f6465206f6e2061204772656369616e2055726e", info);
    from_hex("4265617574792069732074727574682c20747275746820626561757479", text);
    from_hex("436f756e742d30", extra);
    from_hex(
        "1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a"
        "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b5"
        "1a28",
        expected);
    struct live_hpke_scope const scope = {info, sizeof info, extra, sizeof extra};
    assert_true(live_hpke_public(key, made));
    assert_memory_equal(made, public_key, sizeof made);
    assert_true(live_hpke_seal(public_key, ephemeral, &scope, text, sizeof text, sealed));
    assert_memory_equal(sealed, expected, sizeof expected);
    assert_true(live_hpke_open(key, &scope, sealed, sizeof text, opened));
    assert_memory_equal(opened, text, sizeof text);
    for (size_t i = 0; i < sizeof sealed; i++) { /* not another byte, .. */
        sealed[i] ^= 1;
        assert_false(live_hpke_open(key, &scope, sealed, sizeof text, opened));
        sealed[i] ^= 1;
    }
    info[19] ^= 1; /* .. and not under another scope */
    assert_false(live_hpke_open(key, &scope, sealed, sizeof text, opened));
    memset(public_key, 0, sizeof public_key); /* a key of low order */
    assert_false(live_hpke_seal(public_key, ephemeral, &scope, text, sizeof text, sealed));
}

/* ---- A round ---- */

static const uint8_t no_signature[TACIT_HELPER_SIGNATURE_BYTES] = "of another site";

struct world {
    struct tacit_helper_run run;
    struct tacit_helper_config config;
    struct tacit_helper_keys keys;
    struct tacit_helper *helper;
    struct tacit_helper_hub *hub;
    struct tacit_rng rng;
    struct tacit_entropy entropy;
    uint8_t private_key[32];
    uint8_t public_key[32];
    uint8_t heads[SITES][TACIT_SHA256_BYTES];
    uint64_t exact[SITES][COUNT];
    struct tacit_helper_release blinded[SITES]; /* as sites made them */
    uint32_t number;
    uint64_t term;
    struct tacit_helper_request *asked; /* of damaged states */
};

static bool is_of_site(void *context, uint32_t site, uint64_t term,
                       const struct tacit_helper_link *link)
{
    (void)context;
    (void)term;
    return link->proof_size == TACIT_HELPER_SIGNATURE_BYTES &&
           is_signed(site, link->commitment, link->proof);
}

static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *scope, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    struct world *const world = context;
    return live_hpke_seal_seed(world->public_key, ephemeral, scope, size, seed, envelope);
}

static bool open_seed(void *context, const uint8_t *scope, size_t size, const uint8_t *envelope,
                      uint8_t *seed)
{
    struct world *const world = context;
    return live_hpke_open_seed(world->private_key, scope, size, envelope, seed);
}

static void begin(struct world *world)
{
    *world = (struct world){.run = {.federation = "three-clinics",
                                    .run_id = 7,
                                    .site_count = SITES,
                                    .count_max = COUNT,
                                    .steps = 1 << 20},
                            .keys = {NULL, seal, open_seed, is_of_site, is_of_hub, is_of_helper},
                            .rng = tacit_rng_stream(3, 1, 4, TACIT_PURPOSE_NOISE)};
    memset(world->run.domain, 9, sizeof world->run.domain);
    world->keys.context = world;
    world->entropy = tacit_rng_entropy(&world->rng);
    world->config = (struct tacit_helper_config){world->run, EPSILON, 2, 0};
    world->helper = testing_calloc(1, tacit_helper_size(&world->config));
    world->hub = testing_calloc(1, tacit_helper_hub_size(&world->run));
    assert_int_equal(tacit_helper_init(world->helper, &world->config), TACIT_OK);
    assert_int_equal(tacit_helper_hub_init(world->hub, &world->run), TACIT_OK);
    for (size_t i = 0; i < sizeof world->private_key; i++)
        world->private_key[i] = (uint8_t)(i + 1);
    assert_true(live_hpke_public(world->private_key, world->public_key));
}

static void end(struct world *world)
{
    assert_int_equal(
        tacit_helper_check(world->helper, tacit_helper_size(&world->config), &world->config),
        TACIT_OK);
    assert_int_equal(
        tacit_helper_hub_check(world->hub, tacit_helper_hub_size(&world->run), &world->run),
        TACIT_OK);
}

static struct tacit_helper_round round_of(const struct world *world)
{
    struct tacit_helper_round round = {
        .term = world->term, .round = world->number, .count = COUNT, .epsilon_nano = EPSILON};
    round.order[0] = (uint8_t)world->number;
    return round;
}

/* A site's release: masked, committed to, granted; revealed only if `reveals`. */
static void release(struct world *world, uint32_t site, bool reveals)
{
    struct tacit_helper_round const round = round_of(world);
    uint64_t words[COUNT];
    struct tacit_helper_release made;
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_commit commit;
    struct tacit_commit_scope const scope = {.domain = world->run.domain,
                                             .run_id = world->run.run_id,
                                             .site = site,
                                             .epoch = world->number};
    for (uint32_t j = 0; j < COUNT; j++)
        world->exact[site][j] = words[j] = tacit_rng_next(&world->rng) % (1 << 30);
    assert_int_equal(
        tacit_helper_mask(&world->run, &round, site, &world->keys, &world->entropy, words, &made),
        TACIT_OK);
    world->blinded[site] = made;
    tacit_helper_release_digest(&made, digest);
    assert_int_equal(tacit_commit_make(&scope, world->heads[site], digest, sizeof digest,
                                       &world->entropy, &commit),
                     TACIT_OK);
    memcpy(world->heads[site], commit.commitment, TACIT_SHA256_BYTES);
    tacit_helper_hub_grant(world->hub, site, &commit);
    tacit_helper_hub_grant(world->hub, site, &commit); /* again */
    if (reveals)
        tacit_helper_hub_add(world->hub, site, commit.salt, &made, words, COUNT);
}

static void fix(struct world *world, uint32_t quorum)
{
    struct tacit_helper_round const round = round_of(world);
    assert_int_equal(tacit_helper_hub_fix(world->hub, &round, quorum, &world->entropy), TACIT_OK);
}

/* All release for the round of this number, and the helper is to be asked. */
static void begin_round(struct world *world, uint32_t number)
{
    world->number = number;
    for (uint32_t site = 0; site < SITES; site++)
        release(world, site, true);
    fix(world, 2);
}

static void sign_request(const struct world *world, struct tacit_helper_request *request)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_helper_request_digest(&world->run, request, digest);
    sign(TACIT_HUB, digest, request->signature);
}

/* Signed, and as it comes out of its bytes. Give it to free. */
static struct tacit_helper_request *ask(struct world *world)
{
    static uint8_t proofs[SITES * TACIT_HELPER_LINKS_MAX][TACIT_HELPER_SIGNATURE_BYTES];
    uint8_t digest[TACIT_SHA256_BYTES];
    size_t proof = 0;
    void *const memory = testing_malloc(tacit_helper_hub_request_size(world->hub));
    struct tacit_helper_request *const request = tacit_helper_hub_request(world->hub, memory);
    for (uint32_t i = 0; i < request->entry_count; i++)
        for (uint32_t j = 0; j < request->entries[i].link_count; j++, proof++) {
            struct tacit_helper_link *const link =
                (struct tacit_helper_link *)(uintptr_t)&request->entries[i].links[j];
            sign(request->entries[i].site, link->commitment, proofs[proof]);
            link->proof = proofs[proof];
            link->proof_size = TACIT_HELPER_SIGNATURE_BYTES;
        }
    tacit_helper_request_digest(&world->run, request, digest);
    sign_request(world, request);
    size_t const size = tacit_wire_bytes(&tacit_wire_helper_request, NULL, request);
    uint8_t *const bytes = testing_malloc(size);
    tacit_wire_encode(&tacit_wire_helper_request, NULL, request, bytes);
    struct tacit_helper_request *read;
    assert_int_equal(tacit_wire_decode(&tacit_wire_helper_request, SHAPE(0, SITES), bytes, size,
                                       &read, tacit_wire_heap()),
                     TACIT_OK);
    uint8_t again[TACIT_SHA256_BYTES];
    tacit_helper_request_digest(&world->run, read, again);
    assert_memory_equal(again, digest, sizeof digest);
    for (size_t cut = 0; cut < size; cut++) { /* fewer sites are another request, if they are one */
        struct tacit_helper_request *other;
        if (tacit_wire_decode(&tacit_wire_helper_request, SHAPE(0, SITES), bytes, cut, &other,
                              tacit_wire_heap()) != TACIT_OK)
            continue;
        tacit_helper_request_digest(&world->run, other, again);
        assert_memory_not_equal(again, digest, sizeof digest);
        testing_free(other);
    }
    return read;
}

static struct tacit_helper_answer *step(struct world *world,
                                        const struct tacit_helper_request *request, bool *persist)
{
    struct tacit_helper_update update;
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_helper_answer *read;
    assert_int_equal(
        tacit_helper_step(world->helper, request, &world->keys, &world->entropy, &update),
        TACIT_OK);
    assert_true(update.send);
    *persist = update.persist;
    tacit_helper_answer_digest(&update.answer, digest);
    sign(NAME_HELPER, digest, update.answer.signature);
    sign(NAME_HELPER, update.answer.head, update.answer.head_signature);
    size_t const size = tacit_wire_bytes(&tacit_wire_helper_answer,
                                         SHAPE(0, update.answer.site_count), &update.answer);
    uint8_t *const bytes = testing_malloc(size);
    tacit_wire_encode(&tacit_wire_helper_answer, SHAPE(0, update.answer.site_count), &update.answer,
                      bytes);
    assert_int_equal(tacit_wire_decode(&tacit_wire_helper_answer, SHAPE(0, SITES), bytes, size,
                                       &read, tacit_wire_heap()),
                     TACIT_OK);
    uint8_t again[TACIT_SHA256_BYTES];
    tacit_helper_answer_digest(read, again);
    assert_memory_equal(again, digest, sizeof digest);
    return read;
}

static const struct tacit_helper_range range = {.low = 0, .high = 1 << 30};

/* Asks, answers, closes: totals are those of `counted` sites, and a few scales of noise. */
static void play(struct world *world, uint64_t counted)
{
    bool persist;
    enum tacit_helper_outcome outcome;
    uint32_t agents = 0;
    int64_t totals[COUNT];
    struct tacit_helper_request *const request = ask(world);
    struct tacit_helper_answer *const answer = step(world, request, &persist);
    assert_int_equal(answer->verdict, TACIT_HELPER_ANSWERED);
    assert_true(persist);
    struct tacit_helper_answer *const again = step(world, request, &persist);
    assert_false(persist);
    assert_memory_equal(again->head, answer->head, TACIT_SHA256_BYTES);
    assert_memory_equal(again->words, answer->words, COUNT * sizeof(uint64_t));
    assert_int_equal(answer->sites[0], counted);
    assert_int_equal(tacit_helper_hub_close(world->hub, answer, &range, &outcome, &agents, totals),
                     TACIT_OK);
    assert_int_equal(outcome, TACIT_HELPER_CLOSED);
    assert_int_equal(agents, tacit_bits_count(&counted, SITES));
    for (uint32_t j = 0; j < COUNT; j++) {
        int64_t sum = 0;
        for (uint32_t site = 0; site < SITES; site++)
            sum += (counted >> site & 1) != 0 ? (int64_t)world->exact[site][j] : 0;
        double const noise = fabs((double)(totals[j] - sum));
        assert_true(noise > 0 && noise < 40 * (double)world->run.steps);
    }
    assert_int_equal(tacit_helper_hub_close(world->hub, again, &range, &outcome, &agents, totals),
                     TACIT_UNEXPECTED);
    testing_free(answer);
    testing_free(again);
    testing_free(request);
}

TEST(totals_carry_two_noises)
{
    struct world world;
    begin(&world);
    for (world.number = 1; world.number <= 8; world.number++) {
        uint64_t counted = 0;
        for (uint32_t site = 0; site < SITES; site++) { /* granted and missed, now and then */
            bool const reveals = (world.number + site) % 3 != 0;
            release(&world, site, reveals);
            counted |= (uint64_t)reveals << site;
        }
        fix(&world, 2);
        play(&world, counted);
    }
    end(&world);
}

/* A disk may bring back a hub of one round, and what it keeps for the helper of another. Round 2 of
 * term 0 is open, its reports are those of all sites but one; it is asked for or not. */
TEST(parts_of_two_rounds_do_not_fit)
{
    static const struct {
        bool is_asked;
        uint64_t term;
        uint32_t round;
        uint32_t count;
        uint8_t order;
        bool awaits_totals;
        uint64_t received;
        bool fits;
    } cases[] = {
        {false, 0, 2, COUNT, 2, false, 30, true},    {false, 0, 2, COUNT, 2, false, 31, true},
        {false, 0, 3, COUNT, 3, false, 30, true},    {false, 0, 1, COUNT, 1, false, 30, false},
        {false, 1, 2, COUNT, 2, false, 30, false},   {false, 0, 2, COUNT, 2, false, 14, false},
        {true, 0, 2, COUNT, 2, true, 30, true},      {true, 0, 2, COUNT, 2, false, 30, false},
        {true, 0, 3, COUNT, 2, true, 30, false},     {true, 1, 2, COUNT, 2, true, 30, false},
        {true, 0, 2, COUNT - 1, 2, true, 30, false}, {true, 0, 2, COUNT, 3, true, 30, false},
        {true, 0, 2, COUNT, 2, true, 14, false}};
    struct world world;
    begin(&world);
    for (world.number = 1; world.number <= 2; world.number++) {
        for (uint32_t site = 0; site < SITES; site++)
            release(&world, site, site > 0);
        if (world.number == 1) {
            fix(&world, 2);
            play(&world, 30);
        }
    }
    world.number = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tacit_helper_round round = round_of(&world);
        if (cases[i].is_asked && !cases[i - 1].is_asked)
            fix(&world, 2);
        round.term = cases[i].term;
        round.round = cases[i].round;
        round.count = cases[i].count;
        round.order[0] = cases[i].order;
        assert_int_equal(
            tacit_helper_hub_fits(world.hub, &round, cases[i].awaits_totals, &cases[i].received),
            cases[i].fits);
    }
    end(&world);
}

/* What is wrong with a request. */
enum fault {
    WRONG_SALT,
    WRONG_DIGEST,
    STRANGERS_KEY,
    BROKEN_CHAIN,
    OTHER_ORDER,
    TOO_MUCH,
    UNSIGNED,
    FAULTS
};

static void spoil(struct tacit_helper_request *request, enum fault fault)
{
    struct tacit_helper_entry *const entry =
        (struct tacit_helper_entry *)(uintptr_t)&request->entries[0];
    struct tacit_helper_link *const links = (struct tacit_helper_link *)(uintptr_t)entry->links;
    entry->salt[0] ^= fault == WRONG_SALT ? 1 : 0;
    entry->release.digest[0] ^= fault == WRONG_DIGEST ? 1 : 0;
    links[0].proof = fault == STRANGERS_KEY ? no_signature : links[0].proof;
    links[0].previous[0] ^= fault == BROKEN_CHAIN ? 1 : 0;
    request->round.order[0] ^= fault == OTHER_ORDER ? 1 : 0;
    request->round.epsilon_nano += fault == TOO_MUCH ? 1 : 0;
    request->quorum -= fault == UNSIGNED ? 1 : 0;
}

/* The site whose release is not in order is left out, and named; else nothing is answered. */
TEST(a_fault_is_named_and_costs_no_answer)
{
    static const enum tacit_helper_verdict verdicts[FAULTS] = {
        [OTHER_ORDER] = TACIT_HELPER_TOO_FEW, /* nothing opens */
        [TOO_MUCH] = TACIT_HELPER_TOO_WEAK};
    for (enum fault fault = 0; fault < FAULTS; fault++) {
        struct world world;
        struct tacit_helper_update update;
        struct tacit_helper_view view;
        begin(&world);
        begin_round(&world, 1);
        play(&world, 31);
        release(&world, 0, false); /* a link before the one that opens */
        begin_round(&world, 2);
        struct tacit_helper_request *const request = ask(&world);
        spoil(request, fault);
        if (fault != UNSIGNED)
            sign_request(&world, request);
        assert_int_equal(
            tacit_helper_step(world.helper, request, &world.keys, &world.entropy, &update),
            fault == UNSIGNED ? TACIT_STRANGER : TACIT_OK);
        tacit_helper_view(world.helper, &view);
        assert_int_equal(update.answer.verdict, verdicts[fault]);
        assert_int_equal(view.number, fault < OTHER_ORDER ? 2 : 1);
        if (fault < OTHER_ORDER) {
            assert_int_equal(update.faulty[0], 1);
            assert_int_equal(update.answer.sites[0], 30);
        }
        testing_free(request);
        end(&world);
    }
}

/* A helper that refuses frees who is asked for, not the noise: another draw of one round would
 * leave the mean of both to who saw them. */
TEST(noise_of_a_round_stays_when_the_helper_refuses)
{
    struct world world;
    bool persist;
    enum tacit_helper_outcome outcome;
    uint32_t agents;
    int64_t totals[2][COUNT];
    begin(&world);
    begin_round(&world, 1);
    size_t const hub_size = tacit_helper_hub_size(&world.run);
    void *const asked = testing_malloc(hub_size);
    memcpy(asked, world.hub, hub_size);
    struct tacit_helper_request *const request = ask(&world);
    struct tacit_helper_answer *const answer = step(&world, request, &persist);
    struct tacit_helper_answer refusal = *answer;
    refusal.verdict = TACIT_HELPER_TOO_FEW;
    refusal.count = 0;
    assert_int_equal(
        tacit_helper_hub_close(world.hub, &refusal, &range, &outcome, &agents, totals[0]),
        TACIT_OK);
    assert_int_equal(outcome, TACIT_HELPER_FREED);
    fix(&world, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(
            tacit_helper_hub_close(world.hub, answer, &range, &outcome, &agents, totals[i]),
            TACIT_OK);
        assert_int_equal(outcome, TACIT_HELPER_CLOSED);
        if (i == 0) /* never refused */
            memcpy(world.hub, asked, hub_size);
    }
    assert_memory_equal(totals[0], totals[1], sizeof totals[0]);
    testing_free(answer);
    testing_free(request);
    end(&world);
}

/* Old states, on either side. */
TEST(an_old_state_stops)
{
    struct world world;
    bool persist;
    begin(&world);
    size_t const size = tacit_helper_size(&world.config);
    size_t const hub_size = tacit_helper_hub_size(&world.run);
    void *const old = testing_malloc(size);
    void *const newer = testing_malloc(size);
    void *const old_hub = testing_malloc(hub_size);
    begin_round(&world, 1);
    memcpy(old, world.helper, size);
    memcpy(old_hub, world.hub, hub_size);
    play(&world, 31);
    memcpy(newer, world.helper, size);
    begin_round(&world, 2);
    struct tacit_helper_request *const request = ask(&world);
    memcpy(world.helper, old, size); /* restored: it is shown an answer of its own */
    struct tacit_helper_answer *answer;
    for (uint32_t i = 0; i < 2; i++) {
        answer = step(&world, request, &persist);
        assert_int_equal(answer->verdict, TACIT_HELPER_OLD);
        assert_int_equal(persist, i == 0);
        testing_free(answer);
    }
    world.term = 1; /* a later term goes on, from the answer that was shown */
    tacit_helper_hub_begin_term(world.hub, 1);
    begin_round(&world, 2);
    play(&world, 31);
    memcpy(world.helper, newer, size); /* and an old hub is told so */
    memcpy(world.hub, old_hub, hub_size);
    struct tacit_helper_request *const late = ask(&world);
    struct tacit_helper_request *const other = ask(&world);
    answer = step(&world, late, &persist); /* the very request that was answered */
    assert_int_equal(answer->verdict, TACIT_HELPER_ANSWERED);
    assert_false(persist);
    testing_free(answer);
    other->quorum = 3;
    sign_request(&world, other);
    answer = step(&world, other, &persist);
    assert_int_equal(answer->verdict, TACIT_HELPER_BEHIND);
    assert_int_equal(answer->number, 1);
    testing_free(answer);
    testing_free(request);
    testing_free(late);
    testing_free(other);
    end(&world);
}

/* Two answers of one number: the hub stops. A total that cannot be: nothing is learnt of it. */
TEST(lies_are_seen)
{
    struct world world;
    bool persist;
    enum tacit_helper_outcome outcome;
    uint32_t agents;
    int64_t totals[COUNT];
    begin(&world);
    size_t const size = tacit_helper_size(&world.config);
    void *const clone = testing_malloc(size);
    begin_round(&world, 1);
    memcpy(clone, world.helper, size);
    struct tacit_helper_request *const request = ask(&world);
    struct tacit_helper_answer *const one = step(&world, request, &persist);
    memcpy(world.helper, clone, size);
    struct tacit_helper_answer *const other = step(&world, request, &persist);
    struct tacit_helper_answer const forged = {.verdict = TACIT_HELPER_ANSWERED,
                                               .count = 1,
                                               .number = 1,
                                               .site_count = SITES,
                                               .sites = one->sites,
                                               .words = one->words};
    assert_int_equal(tacit_helper_hub_close(world.hub, &forged, &range, &outcome, &agents, totals),
                     TACIT_MALFORMED); /* its head is another one's */
    struct tacit_helper_range const narrow = {.low = 0, .high = 1};
    assert_int_equal(tacit_helper_hub_close(world.hub, one, &narrow, &outcome, &agents, totals),
                     TACIT_OK);
    assert_int_equal(outcome, TACIT_HELPER_VOID);
    assert_int_equal(tacit_helper_hub_close(world.hub, other, &range, &outcome, &agents, totals),
                     TACIT_FORKED);
    struct tacit_helper_hub_view view;
    tacit_helper_hub_view(world.hub, &view);
    assert_true(view.is_forked);
    assert_int_equal(view.void_count, 1);
    testing_free(one);
    testing_free(other);
    testing_free(request);
    end(&world);
}

/* For no other federation, run, term, round, site, agreement, order, n, mechanism, steps, epsilon.
 */
TEST(an_envelope_opens_under_its_own_scope_only)
{
    struct world world;
    begin(&world);
    world.number = 1;
    struct tacit_helper_round const round = round_of(&world);
    uint64_t words[COUNT] = {0};
    struct tacit_helper_release made;
    uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX];
    uint8_t seed[TACIT_HELPER_SEED_BYTES];
    assert_int_equal(
        tacit_helper_mask(&world.run, &round, 1, &world.keys, &world.entropy, words, &made),
        TACIT_OK);
    for (uint32_t other = 0; other <= 11; other++) {
        struct tacit_helper_run run = world.run;
        struct tacit_helper_round at = round;
        run.federation[0] = other == 1 ? 'T' : run.federation[0];
        run.run[3] ^= other == 2;
        at.term += other == 3;
        at.round += other == 4;
        uint32_t const site = other == 5 ? 2 : 1;
        run.agreement[31] ^= other == 6;
        at.order[0] ^= other == 7;
        at.count -= other == 8;
        run.mechanism = other == 9 ? TACIT_HELPER_GAUSSIAN : run.mechanism;
        run.steps *= other == 10 ? 2 : 1;
        at.epsilon_nano += other == 11;
        size_t const size = tacit_helper_scope(&run, &at, site, scope);
        assert_int_equal(open_seed(&world, scope, size, made.envelope, seed), other == 0);
    }
    end(&world);
}

/* The helper has every mask, and may guess a site's sums. Nothing in a request says whether it is
 * right: the masked words' digest is under a blind that the hub keeps to itself. */
TEST(a_guess_is_not_confirmed)
{
    struct world world;
    begin(&world);
    begin_round(&world, 1);
    struct tacit_helper_request *const request = ask(&world);
    for (uint32_t i = 0; i < SITES; i++) {
        const struct tacit_helper_entry *const entry = &request->entries[i];
        struct tacit_helper_release guess = entry->release;
        uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX];
        uint8_t seed[TACIT_HELPER_SEED_BYTES];
        size_t const size = tacit_helper_scope(&world.run, &request->round, entry->site, scope);
        assert_true(open_seed(&world, scope, size, entry->release.envelope, seed));
        tacit_helper_add_mask(seed, scope, size, true, world.exact[i], COUNT); /* is z now */
        tacit_helper_words_digest(world.exact[i], COUNT, guess.digest);
        assert_memory_not_equal(guess.digest, entry->release.digest, TACIT_SHA256_BYTES);
        const uint8_t *const known[] = {guess.blind, seed, entry->salt, entry->links->commitment,
                                        entry->links->previous};
        for (size_t j = 0; j < sizeof known / sizeof known[0]; j++) {
            memmove(guess.blind, known[j], sizeof guess.blind);
            tacit_helper_blind_digest(&guess, world.exact[i], COUNT);
            assert_memory_not_equal(guess.digest, entry->release.digest, TACIT_SHA256_BYTES);
        }
        assert_memory_equal(world.blinded[i].digest, entry->release.digest, TACIT_SHA256_BYTES);
        tacit_helper_blind_digest(&world.blinded[i], world.exact[i], COUNT); /* z it was */
        assert_memory_equal(world.blinded[i].digest, entry->release.digest, TACIT_SHA256_BYTES);
    }
    testing_free(request);
    end(&world);
}

/* Clones that are given the same bytes mask different sums differently, and two requests get
 * different noise. */
static enum tacit_status fill_alike(void *context, void *bytes, size_t size)
{
    (void)context;
    memset(bytes, 5, size);
    return TACIT_OK;
}

TEST(equal_randomness_is_hedged)
{
    struct world world;
    struct tacit_entropy const alike = {fill_alike, NULL};
    begin(&world);
    world.number = 1;
    struct tacit_helper_round const round = round_of(&world);
    uint64_t one[COUNT] = {0};
    uint64_t other[COUNT] = {1};
    struct tacit_helper_release first;
    struct tacit_helper_release second;
    assert_int_equal(tacit_helper_mask(&world.run, &round, 0, &world.keys, &alike, one, &first),
                     TACIT_OK);
    assert_int_equal(tacit_helper_mask(&world.run, &round, 0, &world.keys, &alike, other, &second),
                     TACIT_OK);
    assert_memory_not_equal(first.envelope, second.envelope, 32); /* not even the ephemeral key */
    for (uint32_t j = 0; j < COUNT; j++)
        assert_true(one[j] - other[j] + 1 > 2);
    end(&world);
}

TEST(runs_that_cannot_be_have_no_hub)
{
    struct tacit_helper_run run = {.site_count = 2, .count_max = 1, .steps = 1};
    assert_true(tacit_helper_hub_size(&run) > 0);
    run.steps = 0;
    assert_int_equal(tacit_helper_hub_size(&run), 0);
}

/* HELPER 2.4: 35 at epsilon 1 and n 1; beyond it a total is in 1e12 runs once. */
TEST(slack_is_as_specified)
{
    struct tacit_helper_run const run = {.site_count = 2, .count_max = 1, .steps = 1};
    assert_true(fabs(tacit_helper_slack(&run, EPSILON, 0, 50, 1) - 34.8) < 0.2);
    assert_true(tacit_helper_slack(&run, EPSILON, 8 * EPSILON, 50, 1) >
                tacit_helper_slack(&run, EPSILON, 0, 50, 1));
    /* Gaussian: s sqrt(2 ln(2e12)), s^2 = 8/(2 rho) an aggregator and 8/(2 floor) a site. */
    struct tacit_helper_run const gaussian = {
        .site_count = 2, .count_max = 1, .steps = 8, .mechanism = TACIT_HELPER_GAUSSIAN};
    double const deviation = sqrt(2 * log(2e12));
    assert_true(fabs(tacit_helper_slack(&gaussian, 2 * EPSILON, 0, 3, 1) - 2 * deviation) < 1e-9);
    assert_true(fabs(tacit_helper_slack(&gaussian, 2 * EPSILON, EPSILON, 3, 1) - 4 * deviation) <
                1e-9);
}

/* A total of no sites at all: 4 R^2/epsilon^2 and little else (2 a e^-a/(1 - e^-a)^2 twice). */
TEST(noise_has_its_variance)
{
    struct tacit_helper_run const run = {.site_count = 2, .count_max = 1, .steps = 1 << 20};
    struct tacit_rng rng = tacit_rng_stream(11, 1, 1, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    double squares = 0;
    uint32_t const draws = 40000;
    for (uint32_t i = 0; i < draws; i++) {
        uint64_t word = 0;
        assert_int_equal(tacit_helper_noise(&run, EPSILON, &entropy, &word, 1), TACIT_OK);
        assert_int_equal(tacit_helper_noise(&run, EPSILON, &entropy, &word, 1), TACIT_OK);
        double const noise = (double)(int64_t)word / (double)run.steps;
        squares += noise * noise;
    }
    /* The fourth moment of two is 3 4^2 + 2 12: its standard error is sqrt(56/draws). */
    assert_true(fabs(squares / draws - 4) < 5 * sqrt(56.0 / draws));
}

/* A site that draws on and on changes nothing of what is asked, and is in no U if it did before. */
TEST(who_draws_on_stops_nobody)
{
    struct world world;
    struct tacit_helper_hub_view view;
    begin(&world);
    for (world.number = 1; world.number <= 2; world.number++) {
        for (uint32_t site = 0; site < SITES; site++)
            release(&world, site, true);
        for (uint32_t i = 0; i <= TACIT_HELPER_LINKS_MAX && world.number == 2; i++)
            release(&world, 0, false);
        fix(&world, 2);
        tacit_helper_hub_view(world.hub, &view);
        assert_int_equal(view.here_count, world.number == 1 ? SITES : SITES - 1);
        for (uint32_t i = 0; i <= TACIT_HELPER_LINKS_MAX && world.number == 2; i++)
            release(&world, 1, false);
        struct tacit_helper_request *const request = ask(&world);
        for (uint32_t i = 0; i < request->entry_count; i++)
            assert_int_equal(request->entries[i].link_count, 1);
        testing_free(request);
        if (world.number == 1)
            play(&world, 31);
    }
    end(&world);
}

/* What is taken of a disk can be asked, answered and ended. */
static bool is_harmless_hub(const void *state, size_t size, void *context)
{
    struct world const *const world = context;
    struct tacit_helper_hub_view view;
    if (tacit_helper_hub_check(state, size, &world->run) != TACIT_OK)
        return false;
    struct tacit_helper_hub *const hub = testing_malloc(size);
    memcpy(hub, state, size);
    tacit_helper_hub_view(hub, &view);
    void *const memory = testing_malloc(tacit_helper_hub_request_size(hub));
    if (view.is_fixed) {
        struct tacit_helper_request const *const request = tacit_helper_hub_request(hub, memory);
        assert_int_equal(request->entry_count, view.here_count);
    }
    tacit_helper_hub_void(hub);
    return true;
}

static bool is_harmless_helper(const void *state, size_t size, void *context)
{
    struct world *const world = context;
    struct tacit_helper_update update;
    if (tacit_helper_check(state, size, &world->config) != TACIT_OK)
        return false;
    struct tacit_helper *const helper = testing_malloc(size);
    memcpy(helper, state, size);
    (void)tacit_helper_step(helper, world->asked, &world->keys, &world->entropy, &update);
    return true;
}

TEST(damaged_states_are_refused_or_harmless)
{
    struct world world;
    begin(&world);
    for (world.number = 1; world.number <= 3; world.number++) {
        for (uint32_t site = 0; site < SITES; site++)
            release(&world, site, site > 0);
        damage_all(world.hub, tacit_helper_hub_size(&world.run), is_harmless_hub, &world);
        fix(&world, 2);
        damage_all(world.hub, tacit_helper_hub_size(&world.run), is_harmless_hub, &world);
        world.asked = ask(&world);
        damage_all(world.helper, tacit_helper_size(&world.config), is_harmless_helper, &world);
        testing_free(world.asked);
        play(&world, 30);
    }
    end(&world);
}

VERDICTS_ARE(UINT64_C(0xc6c076ecd617c570))

/* A protocol with two aggregators, for the storm (storm.h): the hub has what it keeps for the
 * helper behind its own state, the helper is a node of its own; requests, answers and their
 * signatures are real, envelopes HPKE in one world of 16, else a keyed hash. What sites, grants and
 * reports have to keep is the storm's; what HELPER 5 adds is looked at here, by somebody who knows
 * what every draw is of: look_at_request, look_at_answer, look_at_totals.
 *
 * In half of the worlds sites lie: envelopes that are rotten, another one's, of another term or
 * epsilon, and grants under a stranger's key. */
#include "../support/wire_shape.h"
#include <math.h>
#include "../support/testing.h"
#include "../support/name_keys.h"
#include "../../src/live/pki/hpke.h"
#include "../support/digest.h"
#include "storm.h"
#include "tacit/wire_helper.h"

#define EPSILON ((uint64_t)STORM_EPSILON * TACIT_NANO)
#define STRANGER 77u
#define SIGNED UINT32_C(0x5160ed) /* no kind of a protocol's message */
#define RECORDS 1024u
#define ASKED_AGAIN_US 700u
#define WRONG_STEPS (INT64_C(1) << 50) /* of a total that a fault has changed */
#define ENTRY_BYTES (sizeof(uint64_t) + TACIT_SHA256_BYTES + TACIT_HELPER_SIGNATURE_BYTES)

/* Between hub and helper. */
struct packet {
    uint32_t kind; /* SIGNED; as the kind of a protocol's message, first */
    uint32_t to;
    size_t size;
    uint8_t bytes[];
};

struct counted {
    const struct storm_draw *draw;
    uint8_t request[TACIT_SHA256_BYTES];
    uint8_t head[TACIT_SHA256_BYTES];
};

/* Digests; the newest are known. */
struct set {
    uint8_t digests[RECORDS][TACIT_SHA256_BYTES];
    uint32_t count;
};

struct storm_helper {
    struct storm_world *world;
    struct tacit_helper_config config;
    struct tacit_helper_keys keys;
    size_t hub_bytes; /* of the protocol's hub */
    uint8_t secret[32];
    uint8_t public_key[32];
    bool is_real; /* HPKE */
    bool has_liars;
    uint64_t floor_nano;
    enum lie { NO_LIE, ROTTEN, OTHERS, OTHER_TERM, OTHER_EPSILON, LIES } lie; /* of this step */
    uint64_t liars;    /* sites that ever did */
    struct set wrong;  /* commitments to releases that are not the site's, .. */
    struct set forged; /* .. or whose grants a stranger asked for */
    uint8_t sealed[TACIT_HELPER_ENVELOPE_BYTES]; /* the last envelope, .. */
    uint8_t sealed_scope[TACIT_HELPER_SCOPE_BYTES_MAX];
    uint64_t masked[STORM_SITES_MAX];             /* the first word that came of each, or 0 */
    struct tacit_commit granted[STORM_SITES_MAX]; /* the last of each */
    uint8_t asked[TACIT_SHA256_BYTES];            /* the last request that left, .. */
    uint64_t asked_term;
    uint32_t asked_round;
    bool may_ask_other;                   /* .. was refused, or its hub was put back */
    struct tacit_helper_request *request; /* that the helper heard last */
    struct counted counted[RECORDS];
    uint32_t counted_count;
    uint64_t ask_us;                     /* when the hub asks again */
    bool owes;                           /* there was no entropy to fix U */
    uint8_t answers[TACIT_SHA256_BYTES]; /* the last request that it heard, .. */
    uint64_t shown;                      /* .. and the number that is shown in it */
    void *before; /* STORM_ANSWERS_EACH_U: the helper before its last answer */
    struct packet *packet;
};

/* Of all worlds. */
static struct {
    uint32_t closed;
    uint32_t left_out;
    uint32_t voids;
    uint32_t terms;
    uint32_t forks;
} seen;

static struct storm_rule base;

/* As it is, all that is masked is recorded. The hub's view: played with other rewards the masks
 * move by what those differ, so that z is what it was; the blinded digests and the envelopes, which
 * show nothing of what is in them, are, too. The helper's view: the masks that it opens stay, z
 * moves, and the noise that the hub draws makes up for it. (The linker puts this in the place of
 * these functions.) */
static struct {
    bool is_on;
    enum storm_view view;
    uint32_t next;
    uint32_t differed;
    uint32_t reported; /* masked words that were said */
    struct masked {
        uint64_t exact[STORM_ARMS_MAX];
        uint64_t words[STORM_ARMS_MAX];
        uint64_t moved[STORM_ARMS_MAX];
        struct tacit_helper_release release;
    } masked[RECORDS];
    const uint64_t *moved;      /* by so much is what the hub adds up; NULL: it draws no noise */
    struct tacit_sha256 hub;    /* all that is said, and its states and the helper's */
    struct tacit_sha256 helper; /* all but masked words, and its states */
    uint8_t seen[STORM_VIEWS][2][TACIT_SHA256_BYTES];
    bool is_whole; /* nobody of U is left out */
} tape;

#define MASK_PARAMETERS                                                                            \
    const struct tacit_helper_run *run, const struct tacit_helper_round *round, uint32_t site,     \
        const struct tacit_helper_keys *keys, const struct tacit_entropy *entropy,                 \
        uint64_t *words, struct tacit_helper_release *release
enum tacit_status __real_tacit_helper_mask(MASK_PARAMETERS);
enum tacit_status __wrap_tacit_helper_mask(MASK_PARAMETERS);

enum tacit_status __wrap_tacit_helper_mask(MASK_PARAMETERS)
{
    uint64_t exact[STORM_ARMS_MAX];
    memcpy(exact, words, round->count * sizeof *words);
    enum tacit_status const status =
        __real_tacit_helper_mask(run, round, site, keys, entropy, words, release);
    if (!tape.is_on || status != TACIT_OK)
        return status;
    assert_true(tape.next < RECORDS && round->count <= STORM_ARMS_MAX);
    struct masked *const masked = &tape.masked[tape.next++];
    if (tape.view == STORM_AS_IT_IS) {
        memcpy(masked->exact, exact, round->count * sizeof *words);
        memcpy(masked->words, words, round->count * sizeof *words);
        masked->release = *release;
        return status;
    }
    tape.differed += memcmp(masked->exact, exact, round->count * sizeof *words) != 0 ? 1 : 0;
    *release = masked->release;
    for (uint32_t j = 0; j < round->count; j++) {
        masked->moved[j] = exact[j] - masked->exact[j];
        words[j] = masked->words[j] + (tape.view == STORM_OF_HELPER ? masked->moved[j] : 0);
    }
    return status;
}

#define NOISE_PARAMETERS                                                                           \
    const struct tacit_helper_run *run, uint64_t epsilon_nano,                                     \
        const struct tacit_entropy *entropy, uint64_t *words, uint32_t count
enum tacit_status __real_tacit_helper_noise(NOISE_PARAMETERS);
enum tacit_status __wrap_tacit_helper_noise(NOISE_PARAMETERS);

enum tacit_status __wrap_tacit_helper_noise(NOISE_PARAMETERS)
{
    enum tacit_status const status =
        __real_tacit_helper_noise(run, epsilon_nano, entropy, words, count);
    for (uint32_t j = 0; j < count && tape.moved != NULL; j++)
        words[j] -= tape.moved[j];
    return status;
}

static const struct masked *masked_of(const struct tacit_helper_release *release)
{
    for (uint32_t i = 0; i < tape.next; i++)
        if (memcmp(release->envelope, tape.masked[i].release.envelope, sizeof release->envelope) ==
            0)
            return &tape.masked[i];
    return NULL;
}

#define DIGEST_PARAMETERS                                                                          \
    struct tacit_helper_release *release, const uint64_t *words, uint32_t count
void __real_tacit_helper_blind_digest(DIGEST_PARAMETERS);
void __wrap_tacit_helper_blind_digest(DIGEST_PARAMETERS);

void __wrap_tacit_helper_blind_digest(DIGEST_PARAMETERS)
{
    __real_tacit_helper_blind_digest(release, words, count);
    struct masked const *const masked =
        tape.is_on && tape.view == STORM_OF_HELPER ? masked_of(release) : NULL;
    if (masked != NULL)
        *release = masked->release;
}

static struct tacit_helper_hub *kept_of(const struct storm_world *world, const void *hub)
{
    return (struct tacit_helper_hub *)((uintptr_t)hub + world->helper->hub_bytes);
}

static struct tacit_helper_hub *kept_in(const struct storm_world *world)
{
    return kept_of(world, world->nodes[world->sites].state);
}

static struct tacit_helper_hub_view view_of(const struct storm_world *world)
{
    struct tacit_helper_hub_view view;
    tacit_helper_hub_view(kept_in(world), &view);
    return view;
}

static struct tacit_helper_round round_of(const struct storm_world *world,
                                          struct tacit_pull_block blocks[STORM_ARMS_MAX])
{
    struct tacit_helper_round round =
        base.two->round(world, world->nodes[world->sites].state, blocks);
    if (round.epsilon_nano == 0)
        round.epsilon_nano = world->helper->config.epsilon_nano_max;
    return round;
}

/* A round that has a part of the run's epsilon has the same part of its floor. */
static uint64_t floor_of(const struct storm_helper *helper, const struct tacit_helper_round *round)
{
    double const share = (double)round->epsilon_nano / (double)helper->config.epsilon_nano_max;
    return (uint64_t)((double)helper->floor_nano * share);
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, TACIT_SHA256_BYTES) == 0;
}

static void add(struct set *set, const uint8_t *digest)
{
    memcpy(set->digests[set->count++ % RECORDS], digest, TACIT_SHA256_BYTES);
}

static bool has(const struct set *set, const uint8_t *digest)
{
    for (uint32_t i = 0; i < set->count && i < RECORDS; i++)
        if (is_same(set->digests[i], digest))
            return true;
    return false;
}

/* ---- Keys ---- */

static bool is_of_site(void *context, uint32_t site, uint64_t term,
                       const struct tacit_helper_link *link)
{
    struct storm_helper const *const helper = context;
    (void)term;
    return helper->world->bug == STORM_KEYS_NOT_PINNED ||
           is_signed(site, link->commitment, link->proof);
}

/* A keyed hash of key, scope and the first 32 bytes: a stream, and a tag. */
static void hash_of(const struct storm_helper *helper, const uint8_t *scope, size_t size,
                    const uint8_t *first, const uint8_t *seed, uint8_t code[TACIT_SHA256_BYTES])
{
    struct tacit_hmac hmac = tacit_hmac_init(helper->secret);
    tacit_hmac_update(&hmac, scope, size);
    tacit_hmac_update(&hmac, first, TACIT_HELPER_SEED_BYTES);
    if (seed != NULL)
        tacit_hmac_update(&hmac, seed, TACIT_HELPER_SEED_BYTES);
    tacit_hmac_final(&hmac, code);
}

/* A fault: a member of the scope is not in it. Members have their length before them. */
static void forget_member(const struct storm_helper *helper, uint8_t *scope, size_t size)
{
    enum storm_bug const bug = helper->world->bug;
    size_t const term =
        8 + strlen(helper->config.run.federation) + 8 + sizeof helper->config.run.run;
    if (bug == STORM_SCOPE_HAS_NO_TERM)
        memset(scope + term, 0, 16);
    if (bug == STORM_SCOPE_HAS_NO_SITE)
        memset(scope + term + 32, 0, 16);
    if (bug == STORM_SCOPE_HAS_NO_EPSILON)
        memset(scope + size - 16, 0, 16);
}

static void lie(struct storm_helper *helper, const uint8_t *scope, size_t size, uint8_t *envelope)
{
    if (helper->lie == ROTTEN)
        envelope[storm_below(helper->world, TACIT_HELPER_ENVELOPE_BYTES)] ^= 1;
    if (helper->lie == OTHERS && memcmp(helper->sealed_scope, scope, size) != 0)
        memcpy(envelope, helper->sealed, sizeof helper->sealed);
    else if (helper->lie == OTHERS)
        envelope[0] ^= 1;
}

static bool seal(void *context, const uint8_t *ephemeral, const uint8_t *meant, size_t size,
                 const uint8_t *seed, uint8_t *envelope)
{
    struct storm_helper *const helper = context;
    uint8_t code[TACIT_SHA256_BYTES];
    uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX] = {0};
    memcpy(scope, meant, size);
    if (base.trains && helper->lie == OTHER_EPSILON) /* the order's is the core's own to take */
        scope[size - 1] ^= 1;
    forget_member(helper, scope, size);
    if (helper->is_real) {
        assert_true(
            live_hpke_seal_seed(helper->public_key, ephemeral, scope, size, seed, envelope));
    } else {
        memcpy(envelope, ephemeral, 32);
        hash_of(helper, scope, size, envelope, NULL, code);
        for (size_t i = 0; i < 32; i++)
            envelope[32 + i] = seed[i] ^ code[i];
        hash_of(helper, scope, size, envelope, seed, code);
        memcpy(envelope + 64, code, 16);
    }
    uint8_t sealed[TACIT_HELPER_ENVELOPE_BYTES];
    memcpy(sealed, envelope, sizeof sealed); /* that is of the scope, whatever is said */
    lie(helper, meant, size, envelope);
    memcpy(helper->sealed, sealed, sizeof sealed);
    memcpy(helper->sealed_scope, meant, size);
    return true;
}

static bool open_seed(void *context, const uint8_t *meant, size_t size, const uint8_t *envelope,
                      uint8_t *seed)
{
    struct storm_helper *const helper = context;
    uint8_t code[TACIT_SHA256_BYTES];
    uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX];
    memcpy(scope, meant, size);
    forget_member(helper, scope, size);
    if (helper->is_real)
        return live_hpke_open_seed(helper->secret, scope, size, envelope, seed);
    hash_of(helper, scope, size, envelope, NULL, code);
    for (size_t i = 0; i < 32; i++)
        seed[i] = envelope[32 + i] ^ code[i];
    hash_of(helper, scope, size, envelope, seed, code);
    return memcmp(envelope + 64, code, 16) == 0;
}

/* ---- What has to hold ---- */

/* No masked word that the hub has heard is in it. */
static bool shows_z(const struct storm_helper *helper, const uint8_t *bytes, size_t size)
{
    for (uint32_t site = 0; site < helper->world->sites; site++)
        for (size_t i = 0; helper->masked[site] != 0 && i + 8 <= size; i++)
            if (memcmp(bytes + i, &helper->masked[site], 8) == 0)
                return true;
    return false;
}

/* There is no other request for its round, unless it was refused. */
static void look_at_request(struct storm_helper *helper, const struct packet *packet)
{
    struct storm_world *const world = helper->world;
    struct tacit_helper_request *request;
    uint8_t digest[TACIT_SHA256_BYTES];
    assert_int_equal(tacit_wire_decode(&tacit_wire_helper_request, SHAPE(0, world->sites),
                                       packet->bytes, packet->size, &request, tacit_wire_heap()),
                     TACIT_OK);
    tacit_helper_request_digest(&helper->config.run, request, digest);
    bool const is_same_round =
        helper->asked_term == request->round.term && helper->asked_round == request->round.round;
    if (is_same_round && !helper->may_ask_other && !world->hub_was_put_back &&
        !is_same(helper->asked, digest))
        storm_breaks(world, "two requests for one round", world->sites);
    if (shows_z(helper, packet->bytes, packet->size))
        storm_breaks(world, "a masked word is in a request", world->sites);
    memcpy(helper->asked, digest, sizeof digest);
    helper->asked_term = request->round.term;
    helper->asked_round = request->round.round;
    helper->may_ask_other = false;
    free(request);
}

/* No reward is in two answers, but the same one said again. */
static void look_at_counted(struct storm_helper *helper, const struct counted *counted)
{
    struct storm_world *const world = helper->world;
    for (uint32_t i = 0; i < helper->counted_count && i < RECORDS; i++) {
        struct counted const *const other = &helper->counted[i];
        if (other->draw->site != counted->draw->site ||
            !storm_share_a_reward(other->draw, counted->draw))
            continue;
        if (!is_same(other->request, counted->request))
            storm_breaks(world, "a reward is in two answers", STORM_HELPER);
        else if (!is_same(other->head, counted->head) && !world->helper_was_put_back)
            storm_breaks(world, "one request has two answers", STORM_HELPER);
    }
}

/* Whoever tells the truth is counted, and nobody else. */
static void look_at_entry(struct storm_helper *helper, const struct tacit_helper_entry *entry,
                          const struct tacit_helper_answer *answer)
{
    struct storm_world *const world = helper->world;
    uint8_t const *const commitment = entry->links[entry->link_count - 1].commitment;
    bool const is_known = world->kind != STORM_WILD && !world->was_put_back;
    if (!tacit_bits_has(answer->sites, entry->site)) {
        if (is_known && ((helper->liars | world->copied) >> entry->site & 1) == 0)
            storm_breaks(world, "an honest site is left out", STORM_HELPER);
        seen.left_out++;
        return;
    }
    if (has(&helper->wrong, commitment) || has(&helper->forged, commitment))
        storm_breaks(world, "a release that is not the site's is counted", STORM_HELPER);
    struct counted counted = {storm_draw_of(world, entry->site, commitment), {0}, {0}};
    if (answer->verdict != TACIT_HELPER_ANSWERED || counted.draw == NULL)
        return; /* of too few nothing is counted; where messages are changed no draw is known */
    memcpy(counted.request, answer->request, sizeof counted.request);
    memcpy(counted.head, answer->head, sizeof counted.head);
    look_at_counted(helper, &counted);
    helper->counted[helper->counted_count++ % RECORDS] = counted;
}

static void look_at_answer(struct storm_helper *helper, const struct packet *packet)
{
    struct tacit_helper_request const *const request = helper->request;
    struct tacit_helper_answer *answer;
    assert_int_equal(tacit_wire_decode(&tacit_wire_helper_answer, SHAPE(0, helper->world->sites),
                                       packet->bytes, packet->size, &answer, tacit_wire_heap()),
                     TACIT_OK);
    bool const names_sites =
        answer->verdict == TACIT_HELPER_ANSWERED || answer->verdict == TACIT_HELPER_TOO_FEW;
    for (uint32_t i = 0; names_sites && i < request->entry_count; i++)
        look_at_entry(helper, &request->entries[i], answer);
    if (answer->verdict == TACIT_HELPER_ANSWERED && answer->number <= helper->shown)
        storm_breaks(helper->world, "an answer does not follow what it was shown", STORM_HELPER);
    free(answer);
}

/* A message is seen by the hub, and by the helper but for masked words. */
static void see_message(const struct storm_world *world, const void *message)
{
    uint8_t bytes[STORM_WIRE_BYTES];
    struct packet const *const packet = message;
    bool const is_packet = packet->kind == SIGNED;
    bool const has_words = !is_packet && base.two->has_words(message);
    uint32_t const arms = base.two->has_contexts ? 0 : world->arms;
    uint32_t const numbers = base.two->has_contexts ? world->arms : 0;
    struct tacit_wire_shape const shape = {arms, world->sites, numbers, 0};
    struct tacit_wire_table const *const table = base.two->protocol->messages;
    size_t const size = is_packet ? packet->size : tacit_wire_bytes(table, &shape, message);
    assert_true(is_packet || size <= sizeof bytes);
    if (!is_packet)
        tacit_wire_encode(table, &shape, message, bytes);
    tacit_sha256_update(&tape.hub, is_packet ? packet->bytes : bytes, size);
    tape.reported += has_words ? 1 : 0;
    if (!has_words)
        tacit_sha256_update(&tape.helper, is_packet ? packet->bytes : bytes, size);
}

static void see_state(const struct storm_world *world, uint32_t node)
{
    struct storm_node const *const at = &world->nodes[node];
    if (node == world->sites || node == STORM_HELPER)
        tacit_sha256_update(&tape.hub, at->state, at->size);
    if (node == STORM_HELPER)
        tacit_sha256_update(&tape.helper, at->state, at->size);
}

static void said(struct storm_world *world, const void *message)
{
    struct packet const *const packet = message;
    if (tape.is_on)
        see_message(world, message);
    if (packet->kind == SIGNED && packet->to == STORM_HELPER)
        look_at_request(world->helper, packet);
    else if (packet->kind == SIGNED)
        look_at_answer(world->helper, packet);
}

/* What every site of U' played, and noise of a size that noise has. */
static void look_at_totals(struct storm_world *world, const struct tacit_helper_request *request,
                           const struct tacit_helper_answer *answer, uint32_t agents,
                           const int64_t *totals)
{
    struct storm_helper const *const helper = world->helper;
    struct tacit_pull_block blocks[STORM_ARMS_MAX];
    struct tacit_helper_round const round = round_of(world, blocks);
    double const slack = tacit_helper_slack(&helper->config.run, round.epsilon_nano,
                                            floor_of(helper, &round), agents, round.count);
    const char *const wrong =
        base.two->wrong == NULL || world->kind == STORM_WILD || world->view != STORM_AS_IT_IS
            ? NULL
            : base.two->wrong(world, request, answer->sites, totals, slack);
    if (agents != tacit_bits_count(answer->sites, world->sites))
        storm_breaks(world, "totals are of another number of sites", world->sites);
    if (wrong != NULL)
        storm_breaks(world, wrong, world->sites);
    bool const is_planned =
        base.two->wrong == NULL && world->kind != STORM_WILD && world->view == STORM_AS_IT_IS;
    for (uint32_t j = 0; j < round.count && is_planned; j++) {
        double const sum =
            (double)storm_pull(world, blocks[j].arm) * (double)blocks[j].count * agents;
        if (fabs((double)totals[j] - sum) > slack)
            storm_breaks(world, "a total is not the sum of what was counted", world->sites);
    }
    seen.closed++;
}

/* ---- Hub ---- */

static const void *keep_packet(struct storm_helper *helper, uint32_t to, size_t size)
{
    free(helper->packet);
    helper->packet = calloc(1, sizeof *helper->packet + size);
    assert_non_null(helper->packet);
    helper->packet->kind = SIGNED;
    helper->packet->to = to;
    helper->packet->size = size;
    return helper->packet;
}

/* The request that stands, with the COMMITs as they came. */
static void say_request(struct storm_world *world, struct storm_update *out)
{
    static uint8_t proofs[STORM_SITES_MAX * TACIT_HELPER_LINKS_MAX][TACIT_HELPER_SIGNATURE_BYTES];
    struct storm_helper *const helper = world->helper;
    uint8_t digest[TACIT_SHA256_BYTES];
    uint32_t proof = 0;
    void *const memory = malloc(tacit_helper_hub_request_size(kept_in(world)));
    struct tacit_helper_request *const request = tacit_helper_hub_request(kept_in(world), memory);
    for (uint32_t i = 0; i < request->entry_count; i++) {
        struct tacit_helper_entry *const entry =
            (struct tacit_helper_entry *)(uintptr_t)&request->entries[i];
        for (uint32_t j = 0; j < entry->link_count; j++, proof++) {
            struct tacit_helper_link *const link =
                (struct tacit_helper_link *)(uintptr_t)&entry->links[j];
            bool const is_forged = has(&helper->forged, link->commitment);
            sign(is_forged ? STRANGER : entry->site, link->commitment, proofs[proof]);
            link->proof = proofs[proof];
            link->proof_size = TACIT_HELPER_SIGNATURE_BYTES;
        }
        if (world->bug == STORM_SHOWS_Z)
            memcpy(entry->release.digest, &helper->masked[entry->site], 8);
    }
    tacit_helper_request_digest(&helper->config.run, request, digest);
    sign(TACIT_HUB, digest, request->signature);
    assert_true(out->message_count < STORM_SAID_MAX);
    out->messages[out->message_count++] = keep_packet(
        helper, STORM_HELPER, tacit_wire_bytes(&tacit_wire_helper_request, NULL, request));
    tacit_wire_encode(&tacit_wire_helper_request, NULL, request, helper->packet->bytes);
    free(memory);
}

/* Its order is said, and no other. */
static void close_round(struct storm_world *world, uint32_t agents, const int64_t *totals,
                        struct storm_update *out)
{
    base.two->close(world, agents, totals, out);
    out->persist = true;
}

/* By how much more than they were the masked words are that U would have. */
static const uint64_t *moved_here(const struct storm_world *world,
                                  const struct tacit_helper_round *round, uint64_t *moved)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    size_t const size = tacit_helper_hub_size(&world->helper->config.run);
    void *const kept = memcpy(malloc(size), kept_in(world), size);
    memset(moved, 0, STORM_ARMS_MAX * sizeof *moved);
    assert_int_equal(tacit_helper_hub_fix(kept, round, TACIT_HELPER_SITES_MIN, &entropy), TACIT_OK);
    void *const memory = malloc(tacit_helper_hub_request_size(kept));
    struct tacit_helper_request const *const request = tacit_helper_hub_request(kept, memory);
    for (uint32_t i = 0; i < request->entry_count; i++)
        for (uint32_t j = 0; j < round->count; j++)
            moved[j] += masked_of(&request->entries[i].release)->moved[j];
    free(memory);
    free(kept);
    return moved;
}

static void fix(struct storm_world *world, const struct tacit_entropy *entropy,
                struct storm_update *out)
{
    struct tacit_pull_block blocks[STORM_ARMS_MAX];
    struct tacit_helper_round const round = round_of(world, blocks);
    world->helper->owes = false;
    out->persist = true;
    if (view_of(world).here_count < TACIT_HELPER_SITES_MIN) { /* nothing is counted */
        tacit_helper_hub_void(kept_in(world));
        close_round(world, 0, NULL, out);
        seen.voids++;
        return;
    }
    uint64_t moved[STORM_ARMS_MAX];
    tape.moved =
        tape.is_on && tape.view == STORM_OF_HELPER ? moved_here(world, &round, moved) : NULL;
    world->helper->owes =
        tacit_helper_hub_fix(kept_in(world), &round, TACIT_HELPER_SITES_MIN, entropy) != TACIT_OK;
    tape.moved = NULL;
    if (!world->helper->owes && world->bug == STORM_HUB_FORGETS)
        out->persist = false;
}

/* New grants, and what was reported for the round that stands. */
static void note(struct storm_world *world, const struct storm_event *event,
                 const struct storm_update *out)
{
    struct storm_helper *const helper = world->helper;
    bool const is_late = world->bug == STORM_LAST_LINK_ONLY; /* what is not reported is not noted */
    struct storm_heard const heard = base.two->heard(world, event->message);
    if ((out->happened & TACIT_GRANTED_DRAW) != 0) {
        helper->granted[heard.head->from] = *heard.head->commit;
        if (!is_late)
            tacit_helper_hub_grant(kept_in(world), heard.head->from, heard.head->commit);
        bool const is_forged = heard.head->commit->commitment[0] % 12 == 0; /* each time the same */
        if (helper->has_liars && !world->is_calm && is_forged) {
            add(&helper->forged, heard.head->commit->commitment);
            helper->liars |= UINT64_C(1) << heard.head->from;
        }
    }
    if ((out->happened & TACIT_COUNTED_REPORT) != 0) {
        struct tacit_helper_release release = *heard.masked;
        tacit_helper_blind_digest(&release, heard.words, heard.count);
        struct tacit_commit const *const granted = &helper->granted[heard.head->from];
        if (is_late && !tacit_commit_is_nothing(granted->commitment))
            tacit_helper_hub_grant(kept_in(world), heard.head->from, granted);
        tacit_helper_hub_add(kept_in(world), heard.head->from, heard.head->commit->salt, &release,
                             heard.words, heard.count);
        helper->masked[heard.head->from] = heard.words[0];
    }
}

static void spoil_totals(const struct storm_world *world,
                         const struct tacit_helper_request *request, uint32_t count,
                         uint32_t *agents, int64_t *totals)
{
    for (uint32_t j = 0; j < count; j++) {
        if (world->bug == STORM_TOTALS_UNSIGNED && totals[j] < 0)
            totals[j] = WRONG_STEPS;
        if (world->bug == STORM_NOISE_SATURATED && totals[j] > INT64_C(1) << 25)
            totals[j] = WRONG_STEPS;
    }
    if (world->bug == STORM_COUNTS_ALL_OF_U)
        *agents = request->entry_count;
}

static void take_totals(struct storm_world *world, const struct tacit_helper_request *request,
                        const struct tacit_helper_answer *answer, enum tacit_helper_outcome outcome,
                        uint32_t agents, int64_t *totals, struct storm_update *out)
{
    struct tacit_pull_block blocks[STORM_ARMS_MAX];
    struct storm_helper *const helper = world->helper;
    if (outcome == TACIT_HELPER_FREED) {
        helper->may_ask_other = true;
        tacit_helper_hub_void(kept_in(world));
        close_round(world, 0, NULL, out);
        seen.voids++;
        return;
    }
    if (outcome == TACIT_HELPER_VOID && world->kind != STORM_WILD)
        storm_breaks(world, "honest sites' totals are void", world->sites);
    spoil_totals(world, request, round_of(world, blocks).count, &agents, totals);
    look_at_totals(world, request, answer, agents, totals);
    if (world->broken[0] == '\0')
        close_round(world, outcome == TACIT_HELPER_VOID ? 0 : agents, totals, out);
}

static void hear_answer(struct storm_world *world, const struct packet *packet,
                        struct storm_update *out)
{
    struct tacit_pull_block blocks[STORM_ARMS_MAX];
    uint64_t highs[STORM_ARMS_MAX] = {0};
    int64_t totals[STORM_ARMS_MAX];
    bool const is_planned = base.two->high == NULL;
    uint64_t const high = is_planned ? 0 : base.two->high(world);
    struct tacit_helper_round const round = round_of(world, blocks);
    struct tacit_helper_range const range = {
        .low = -(int64_t)high, .highs = highs, .floor_nano = floor_of(world->helper, &round)};
    enum tacit_helper_outcome outcome = TACIT_HELPER_FREED;
    struct tacit_helper_answer *answer;
    uint8_t digest[TACIT_SHA256_BYTES];
    uint32_t agents = 0;
    for (uint32_t j = 0; j < round.count; j++)
        highs[j] = is_planned ? blocks[j].count * (uint64_t)TACIT_STEPS : high;
    assert_int_equal(tacit_wire_decode(&tacit_wire_helper_answer, SHAPE(0, world->sites),
                                       packet->bytes, packet->size, &answer, tacit_wire_heap()),
                     TACIT_OK);
    tacit_helper_answer_digest(answer, digest);
    assert_true(is_of_helper(NULL, digest, answer->signature));
    bool const was_fixed = view_of(world).is_fixed;
    void *const memory = malloc(tacit_helper_hub_request_size(kept_in(world)));
    struct tacit_helper_request const *const request =
        was_fixed ? tacit_helper_hub_request(kept_in(world), memory) : NULL;
    enum tacit_status const status =
        tacit_helper_hub_close(kept_in(world), answer, &range, &outcome, &agents, totals);
    *out = (struct storm_update){
        .status = status == TACIT_UNEXPECTED ? TACIT_OK : status, /* what is seen of it is kept */
        .persist = status != TACIT_MALFORMED,
        .deadline_us = world->nodes[world->sites].deadline_us};
    if (status == TACIT_OK)
        take_totals(world, request, answer, outcome, agents, totals, out);
    free(memory);
    if (status == TACIT_FORKED && !world->helper_was_put_back && !world->hub_was_put_back)
        storm_breaks(world, "two answers of one number", world->sites);
    if (status == TACIT_FORKED) { /* it stops, and says so */
        seen.forks += world->was_put_back ? 0 : 1;
        world->was_put_back = true;
    }
    enum tacit_helper_verdict const verdict = answer->verdict;
    if (status == TACIT_UNEXPECTED && was_fixed && is_same(answer->request, world->helper->asked) &&
        (verdict == TACIT_HELPER_OLD || verdict == TACIT_HELPER_BEHIND ||
         verdict == TACIT_HELPER_LATE)) {
        world->wants_term = true; /* the operator's word */
        seen.terms++;
    }
    free(answer);
}

static void step_hub(struct storm_world *world, const struct storm_event *event,
                     const struct tacit_entropy *entropy, struct storm_update *out)
{
    struct storm_helper *const helper = world->helper;
    struct tacit_pull_block blocks[STORM_ARMS_MAX];
    bool const is_message = event->kind == TACIT_EVENT_RECEIVE;
    uint64_t const term = round_of(world, blocks).term;
    if (is_message && ((const struct packet *)event->message)->kind == SIGNED) {
        hear_answer(world, event->message, out);
        return;
    }
    helper->owes = helper->owes && event->kind != TACIT_EVENT_START; /* it hears again */
    base.step(world, world->sites, event, entropy, out);
    if (round_of(world, blocks).term != term) {
        tacit_helper_hub_begin_term(kept_in(world), round_of(world, blocks).term);
        helper->may_ask_other = true;
    }
    if (is_message)
        note(world, event, out);
    if (out->ends_alone) {
        tacit_helper_hub_void(kept_in(world)); /* what is here is of that round */
        helper->owes = false;
    }
    bool const is_due = event->kind == TACIT_EVENT_START || event->now_us >= helper->ask_us;
    bool const wants = (out->happened & TACIT_WANTS_TOTALS) != 0;
    bool const is_heard = out->status == TACIT_OK;
    if (is_heard && (wants || (is_due && helper->owes)) && !view_of(world).is_fixed)
        fix(world, entropy, out);
    struct tacit_helper_hub_view const view = view_of(world);
    if (view.is_forked || (!view.is_fixed && !helper->owes))
        return;
    if (view.is_fixed && is_heard && (wants || is_due))
        say_request(world, out);
    if (is_heard && (wants || is_due))
        helper->ask_us = event->now_us + ASKED_AGAIN_US;
    if (out->deadline_us > helper->ask_us)
        out->deadline_us = helper->ask_us;
}

/* ---- Helper ---- */

static void say_answer(struct storm_helper *helper, struct tacit_helper_answer *answer,
                       struct storm_update *out)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_helper_answer_digest(answer, digest);
    sign(NAME_HELPER, digest, answer->signature);
    sign(NAME_HELPER, answer->head, answer->head_signature);
    out->messages[out->message_count++] = keep_packet(
        helper, TACIT_HUB,
        tacit_wire_bytes(&tacit_wire_helper_answer, SHAPE(0, answer->site_count), answer));
    tacit_wire_encode(&tacit_wire_helper_answer, SHAPE(0, answer->site_count), answer,
                      helper->packet->bytes);
}

/* Faults of the helper's: what it knows is not what it should. */
static void forget(struct storm_helper *helper, struct tacit_helper_request *request)
{
    struct storm_node const *const node = &helper->world->nodes[STORM_HELPER];
    struct tacit_helper_view view;
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_helper_view(node->state, &view);
    tacit_helper_request_digest(&helper->config.run, request, digest);
    bool const is_again =
        view.number > 0 && view.term == request->round.term && view.round == request->round.round;
    if (helper->world->bug == STORM_ANSWERS_EACH_U && !is_again)
        memcpy(helper->before, node->state, node->size);
    else if (helper->world->bug == STORM_ANSWERS_EACH_U && !is_same(digest, helper->answers))
        memcpy(node->state, helper->before, node->size);
    memcpy(helper->answers, digest, sizeof digest);
    helper->shown = request->number;
    if (helper->world->bug == STORM_OLD_HELPER_GOES_ON && request->number > view.number) {
        request->number = view.number;
        memcpy(request->head, view.head, sizeof request->head);
        sign(NAME_HELPER, request->head, request->head_signature);
        tacit_helper_request_digest(&helper->config.run, request, digest);
        sign(TACIT_HUB, digest, request->signature);
    }
}

static void step_helper(struct storm_world *world, const struct storm_event *event,
                        const struct tacit_entropy *entropy, struct storm_update *out)
{
    struct storm_helper *const helper = world->helper;
    struct packet const *const packet = event->message;
    struct tacit_helper_update update;
    *out = (struct storm_update){.status = TACIT_OK, .deadline_us = TACIT_NEVER};
    if (event->kind != TACIT_EVENT_RECEIVE)
        return;
    free(helper->request);
    assert_int_equal(tacit_wire_decode(&tacit_wire_helper_request, SHAPE(0, world->sites),
                                       packet->bytes, packet->size, &helper->request,
                                       tacit_wire_heap()),
                     TACIT_OK);
    forget(helper, helper->request);
    out->status = tacit_helper_step(world->nodes[STORM_HELPER].state, helper->request,
                                    &helper->keys, entropy, &update);
    if (out->status != TACIT_OK && out->status != TACIT_ENTROPY)
        storm_breaks(world, "an honest request is refused without an answer", STORM_HELPER);
    if (out->status != TACIT_OK)
        return;
    assert_true(update.send);
    out->persist = update.persist && world->bug != STORM_HELPER_FORGETS;
    out->happened = (uint32_t)update.answer.verdict;
    say_answer(helper, &update.answer, out);
}

/* ---- Nodes ---- */

static void step_site(struct storm_world *world, uint32_t node, const struct storm_event *event,
                      const struct tacit_entropy *entropy, struct storm_update *out)
{
    struct storm_helper *const helper = world->helper;
    struct storm_look look;
    struct storm_event told = *event;
    bool const lies = helper->has_liars && !world->is_calm && storm_below(world, 8) == 0;
    helper->lie = lies ? (enum lie)(1 + storm_below(world, LIES - 1)) : NO_LIE;
    uint64_t const epsilon_nano = helper->config.epsilon_nano_max;
    struct tacit_aggregators const aggregators = {
        &helper->config.run, &helper->keys,
        helper->lie == OTHER_EPSILON ? epsilon_nano / 2 : epsilon_nano,
        world->term + (helper->lie == OTHER_TERM ? 1 : 0)};
    told.aggregators = &aggregators;
    base.step(world, node, &told, entropy, out);
    if (!out->drew || helper->lie == NO_LIE)
        return;
    base.look(world, node, &look);
    add(&helper->wrong, look.waiting.commitment);
    helper->liars |= UINT64_C(1) << world->nodes[node].site;
}

static void step(struct storm_world *world, uint32_t node, const struct storm_event *event,
                 const struct tacit_entropy *entropy, struct storm_update *out)
{
    if (node == STORM_HELPER)
        step_helper(world, event, entropy, out);
    else if (node == world->sites)
        step_hub(world, event, entropy, out);
    else
        step_site(world, node, event, entropy, out);
    if (tape.is_on)
        see_state(world, node);
}

static void configure(struct storm_world *world)
{
    static const uint32_t floors[] = {TACIT_NO_FLOOR, 500};
    struct storm_helper *const helper = world->helper = calloc(1, sizeof *helper);
    assert_non_null(helper);
    world->has_helper = true;
    tape.is_on = world->is_viewed;
    tape.view = world->view;
    tape.next = tape.differed = tape.reported = 0;
    tape.is_whole = world->kind == STORM_PLAIN || world->kind == STORM_LOST;
    tape.hub = tape.helper = tacit_sha256_init();
    world->old_helpers = world->bug == STORM_OLD_HELPER_GOES_ON ||
                         (world->bug != STORM_ANSWERS_EACH_U && storm_below(world, 2) == 0);
    world->floor_milli = floors[world->bug == STORM_HAS_NO_SALT ? 0 : storm_below(world, 2)];
    world->own_epsilon =
        world->floor_milli == TACIT_NO_FLOOR ? INFINITY : world->floor_milli / 1000.0;
    helper->world = world;
    helper->floor_nano =
        world->floor_milli == TACIT_NO_FLOOR ? 0 : UINT64_C(1000000) * world->floor_milli;
    bool const is_for_liars = world->bug >= STORM_SCOPE_HAS_NO_SITE; /* a fault that needs them */
    helper->has_liars = !world->is_viewed && world->bug != STORM_LAST_LINK_ONLY &&
                        world->kind != STORM_COPIES && (is_for_liars || storm_below(world, 2) == 0);
    helper->is_real = storm_below(world, 16) == 0;
    for (size_t i = 0; i < sizeof helper->secret; i++)
        helper->secret[i] = (uint8_t)(i * 7 + storm_below(world, 256));
    if (helper->is_real)
        assert_true(live_hpke_public(helper->secret, helper->public_key));
    base.configure(world);
    helper->hub_bytes = base.size(world, world->sites);
    helper->config = (struct tacit_helper_config){.run = {.federation = "storm",
                                                          .domain = {7},
                                                          .run_id = STORM_RUN_ID,
                                                          .site_count = world->sites,
                                                          .count_max = world->arms,
                                                          .steps = TACIT_STEPS},
                                                  .epsilon_nano_max = EPSILON,
                                                  .sites_min = TACIT_HELPER_SITES_MIN};
    if (base.two->configure != NULL)
        base.two->configure(world, &helper->config, &helper->floor_nano);
    helper->keys =
        (struct tacit_helper_keys){helper, seal, open_seed, is_of_site, is_of_hub, is_of_helper};
    helper->before = calloc(1, tacit_helper_size(&helper->config));
    assert_int_equal(tacit_helper_init(helper->before, &helper->config), TACIT_OK);
}

static void clear(struct storm_world *world)
{
    tacit_sha256_final(&tape.hub, tape.seen[world->view][0]);
    tacit_sha256_final(&tape.helper, tape.seen[world->view][1]);
    free(world->helper->request);
    free(world->helper->before);
    free(world->helper->packet);
}

static size_t size(const struct storm_world *world, uint32_t node)
{
    size_t const kept = tacit_helper_hub_size(&world->helper->config.run);
    if (node == STORM_HELPER)
        return tacit_helper_size(&world->helper->config);
    size_t const bytes = base.size(world, node);
    return node != world->sites || bytes == 0 ? bytes : bytes + kept;
}

static enum tacit_status init(const struct storm_world *world, uint32_t node, void *state)
{
    if (node == STORM_HELPER)
        return tacit_helper_init(state, &world->helper->config);
    enum tacit_status const status = base.init(world, node, state);
    return status != TACIT_OK || node != world->sites
               ? status
               : tacit_helper_hub_init(kept_of(world, state), &world->helper->config.run);
}

static enum tacit_status check(const struct storm_world *world, uint32_t node, const void *state,
                               size_t bytes)
{
    struct tacit_helper_config const *const config = &world->helper->config;
    size_t const kept = tacit_helper_hub_size(&config->run);
    if (node == STORM_HELPER)
        return tacit_helper_check(state, bytes, config);
    if (node != world->sites)
        return base.check(world, node, state, bytes);
    if (bytes < kept || base.check(world, node, state, bytes - kept) != TACIT_OK)
        return TACIT_MALFORMED;
    return tacit_helper_hub_check(kept_of(world, state), kept, &config->run);
}

static void look(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    if (node == STORM_HELPER) {
        struct tacit_helper_view view;
        tacit_helper_view(world->nodes[node].state, &view);
        digest_word(view.number);
        digest_bytes(view.head, TACIT_SHA256_BYTES);
        *look = (struct storm_look){.end = STORM_IS_OVER};
        return;
    }
    base.look(world, node, look);
    if (node != world->sites)
        return;
    struct tacit_helper_hub_view const view = view_of(world);
    digest_word(view.number);
    digest_word(view.here_count | (uint64_t)view.is_fixed << 32);
    if (view.is_forked && look->end == STORM_GOES_ON)
        look->end = STORM_SAYS_WHY;
}

/* As the live hub's entries: behind the protocol's the newest answer's number and head. */
static size_t snapshot(const struct storm_world *world, const void *hub, uint8_t *bytes,
                       size_t room)
{
    struct tacit_helper_hub_view view;
    size_t const written = base.snapshot(world, hub, bytes, room);
    tacit_helper_hub_view(kept_of(world, hub), &view);
    uint8_t *const entry = bytes + written;
    assert_true(written + ENTRY_BYTES <= room);
    memcpy(entry, &view.number, sizeof view.number);
    memcpy(entry + sizeof view.number, view.head, TACIT_SHA256_BYTES);
    memcpy(entry + sizeof view.number + TACIT_SHA256_BYTES, view.signature,
           TACIT_HELPER_SIGNATURE_BYTES);
    return written + ENTRY_BYTES;
}

static enum tacit_status restore(const struct storm_world *world, void *hub, const uint8_t *bytes,
                                 size_t bytes_count)
{
    static uint8_t const none[ENTRY_BYTES];
    uint64_t number;
    uint8_t const *const entry = bytes + bytes_count - ENTRY_BYTES;
    memcpy(&number, entry, sizeof number);
    if (number == 0 && memcmp(entry, none, ENTRY_BYTES) != 0)
        return TACIT_INVALID; /* an entry is signed where it is live */
    enum tacit_status const status = base.restore(world, hub, bytes, bytes_count - ENTRY_BYTES);
    if (status != TACIT_OK)
        return status;
    struct tacit_helper_hub *const kept = kept_of(world, hub);
    assert_int_equal(tacit_helper_hub_init(kept, &world->helper->config.run), TACIT_OK);
    if (number > 0)
        tacit_helper_hub_recall(kept, number, entry + sizeof number,
                                entry + sizeof number + TACIT_SHA256_BYTES);
    return TACIT_OK;
}

/* ---- Messages ---- */

static bool is_packet(const void *message)
{
    return ((const struct packet *)message)->kind == SIGNED;
}

static size_t message_size(const struct storm_world *world, const void *message)
{
    return is_packet(message) ? sizeof(struct packet) + ((const struct packet *)message)->size
                              : base.message_size(world, message);
}

static void *message_copy(const struct storm_world *world, const void *message, void *memory)
{
    return is_packet(message) ? memcpy(memory, message, message_size(world, message))
                              : base.message_copy(world, message, memory);
}

static struct storm_head read(const void *message)
{
    return is_packet(message) ? (struct storm_head){.word = STORM_SIGNED,
                                                    .to = ((const struct packet *)message)->to}
                              : base.read(message);
}

static void see_all(uint32_t worlds)
{
    print_message("%u rounds were closed, %u void, %u releases left out, %u new terms, %u forks\n",
                  seen.closed, seen.voids, seen.left_out, seen.terms, seen.forks);
    assert_true(seen.closed > worlds / 2 && seen.voids > worlds / 50);
    assert_true(seen.left_out > worlds / 50 && seen.terms > worlds / 100);
    assert_true(seen.forks > worlds / 500);
}

static void see_views(void)
{
    uint8_t(*const as_it_is)[TACIT_SHA256_BYTES] = tape.seen[STORM_AS_IT_IS];
    assert_int_equal(tape.differed, tape.next);
    assert_memory_equal(tape.seen[STORM_OF_HUB][0], as_it_is[0], TACIT_SHA256_BYTES);
    if (!tape.is_whole)
        return; /* the hub's noise makes up for all of U */
    assert_memory_equal(tape.seen[STORM_OF_HELPER][1], as_it_is[1], TACIT_SHA256_BYTES);
    if (tape.reported > 0) /* z moved */
        assert_memory_not_equal(tape.seen[STORM_OF_HELPER][0], as_it_is[0], TACIT_SHA256_BYTES);
}

int storm_main_of_two(struct storm_rule rule, uint64_t digest, uint64_t verdicts, int argc,
                      char **argv)
{
    base = rule;
    rule.has_helper = true;
    rule.configure = configure;
    rule.clear = clear;
    rule.see_all = see_all;
    rule.see_views = see_views;
    rule.size = size;
    rule.init = init;
    rule.check = check;
    rule.step = step;
    rule.look = look;
    rule.said = said;
    rule.snapshot = snapshot;
    rule.restore = restore;
    rule.message_size = message_size;
    rule.message_copy = message_copy;
    rule.read = read;
    rule.operate = NULL;
    memset(rule.found, 0, sizeof rule.found);
    rule.digest = digest;
    rule.verdicts = verdicts;
    return storm_main(&rule, argc, argv);
}

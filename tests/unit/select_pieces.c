/* What a training federation is made of: pieces of vectors, what sites may spend, what they keep of
 * a draw, the room of a hub. What comes to whom in which order is tests/round's. */
#include "tacit/select.h"
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/scarce.h"
#include "../../src/proto/select/budget.h"
#include "../../src/proto/select/piece.h"

/* Of the requests below: digest.h. */
DIGEST_IS(UINT64_C(0xec50f9c1d38204b3))

#define RUN_ID UINT64_C(0x123456789)
#define NUMBERS_MAX 500u
#define CLIP 1.0

/* ---- Pieces ---- */

/* The next ones that are missing, few at once and near each other; they are there when all are. */
TEST(missing_pieces_are_asked_for_in_their_order)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t const count = 1 + (uint32_t)tacit_rng_below(&rng, 100);
        uint64_t have[2] = {tacit_rng_next(&rng), tacit_rng_next(&rng)};
        for (uint32_t more = 0; more < i % 4; more++) {
            have[0] |= tacit_rng_next(&rng);
            have[1] |= tacit_rng_next(&rng);
        }
        uint32_t first = 1000;
        uint32_t mask;
        bool const is_missing = select_next_missing(have, count, &first, &mask);
        uint64_t const words[] = {is_missing, first, mask};
        digest_bytes(words, sizeof words);
        uint32_t missing = 0;
        while (missing < count && tacit_bits_has(have, missing))
            missing++;
        assert_true(is_missing == (missing < count));
        if (!is_missing)
            continue;
        assert_int_equal(first, missing);
        assert_true(first + 31u - (uint32_t)__builtin_clz(mask) < count);
        assert_in_range(__builtin_popcount(mask), 1, TACIT_SELECT_PIECES_AT_ONCE);
        for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
            uint32_t const piece = first + (uint32_t)__builtin_ctz(rest);
            assert_false(tacit_bits_has(have, piece));
            assert_false(select_window_is_done(have, first, mask));
            tacit_bits_add(have, piece);
        }
        assert_true(select_window_is_done(have, first, mask));
    }
}

TEST(a_request_names_pieces_that_there_are)
{
    for (uint32_t count = 1; count <= 70; count++)
        for (uint32_t first = 0; first <= count + 1; first++)
            for (uint32_t bit = 0; bit < 32; bit++) {
                struct tacit_select_message const request = {.first = first, .mask = 1u << bit};
                assert_true(select_request_fits(&request, count) == (first + bit < count));
            }
    struct tacit_select_message const all = {.mask = UINT32_MAX};
    assert_true(select_request_fits(&all, 32));
    assert_false(select_request_fits(&all, 31));
}

TEST(vectors_are_cut_into_whole_pieces_and_a_rest)
{
    static const enum tacit_select_vector vectors[] = {TACIT_SELECT_MODEL, TACIT_SELECT_STEPS};
    static const uint32_t wholes[] = {TACIT_SELECT_MODEL_NUMBERS, TACIT_SELECT_UPDATE_NUMBERS};
    for (uint32_t v = 0; v < 2; v++)
        for (uint32_t whole = 1; whole <= 3; whole++) {
            uint32_t const numbers = whole * wholes[v];
            assert_int_equal(tacit_select_piece_count(numbers, vectors[v]), whole);
            assert_int_equal(tacit_select_piece_count(numbers + 1, vectors[v]), whole + 1);
            assert_int_equal(tacit_select_piece_numbers(numbers, vectors[v], whole - 1), wholes[v]);
            assert_int_equal(tacit_select_piece_numbers(numbers + 1, vectors[v], whole), 1);
        }
}

/* ---- Budgets ---- */

static void tell(struct tacit_select_site *site, const struct tacit_select_message *message,
                 struct tacit_select_update *update)
{
    struct tacit_select_message said = *message;
    said.from = TACIT_HUB;
    said.run_id = RUN_ID;
    struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = &said};
    assert_int_equal(tacit_select_site_step(site, &event, NULL, update), TACIT_OK);
}

/* Asked to train so many zeros on. True: it does; else it says that it cannot. */
static bool ask(struct tacit_select_site *site, uint32_t round, uint32_t dimension)
{
    static float numbers[NUMBERS_MAX];
    uint64_t const set = 1;
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_select_update update;
    struct select_pieces const model = {.vector = TACIT_SELECT_MODEL,
                                        .dimension = dimension,
                                        .numbers = numbers,
                                        .digests = digest};
    select_digest_pieces(&model);
    tell(site,
         &(struct tacit_select_message){.kind = TACIT_SELECT_ORDER,
                                        .round = round,
                                        .set = &set,
                                        .digests = digest,
                                        .digest_count = 1},
         &update);
    struct tacit_select_message piece = select_piece(&model, 0);
    piece.round = round;
    if (!update.train && update.message_count > 0 &&
        update.messages[0].kind == TACIT_SELECT_REQUEST) /* the first time: the model stays */
        tell(site, &piece, &update);
    return update.train;
}

/* A whole round of one number with a site that trains, or says that it cannot. */
static bool take_part(struct tacit_select_site *site, uint32_t round,
                      const struct tacit_entropy *entropy)
{
    double const difference = 1;
    struct tacit_select_update update;
    if (!ask(site, round, 1))
        return false;
    struct tacit_event const event = {.kind = TACIT_EVENT_REWARD,
                                      .as.training = {round, &difference}};
    assert_int_equal(tacit_select_site_step(site, &event, entropy, &update), TACIT_OK);
    assert_true(update.drawn);
    struct tacit_select_message grant = {.kind = TACIT_SELECT_GRANT, .round = round};
    for (uint32_t i = 0; i < update.message_count; i++)
        if (update.messages[i].kind == TACIT_SELECT_COMMIT)
            grant.commit = update.messages[i].commit;
    tell(site, &grant, &update);
    return true;
}

static struct tacit_select_site *site_new(struct tacit_select_budget budget, uint32_t dimension,
                                          size_t *size)
{
    struct tacit_select_site_config const config = {.run_id = RUN_ID,
                                                    .agent_count = 1,
                                                    .dimension = dimension,
                                                    .round_count = 3000,
                                                    .clip = CLIP,
                                                    .budget = budget,
                                                    .resend_after_us = 1000};
    *size = tacit_select_site_size(&config);
    struct tacit_select_site *const site = testing_malloc(*size);
    assert_int_equal(tacit_select_site_init(site, &config), TACIT_OK);
    return site;
}

/* What dividing the budget leaves over would pay for once more: 2000 times 1908, and 1999. */
TEST(a_site_takes_part_as_often_as_it_may_and_no_more)
{
    size_t size;
    struct tacit_select_site *const site =
        site_new((struct tacit_select_budget){.kind = TACIT_SELECT_UNIFORM,
                                              .is_exact = true,
                                              .total = 0.0038179995,
                                              .participations = 2000},
                 1, &size);
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_select_site_view view;
    for (uint32_t round = 1; round <= 2000; round++) {
        tacit_select_site_view(site, &view);
        assert_false(view.is_exhausted);
        assert_true(take_part(site, round, &entropy));
    }
    tacit_select_site_view(site, &view);
    assert_int_equal(view.spent_nano, 2000 * 1908);
    assert_true(view.is_exhausted);
    assert_false(take_part(site, 2001, &entropy));
}

static const struct tacit_select_budget geometric = {
    .kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 3, .eta = 0.1};

/* The price of the next one stands in the state once; if it is more than is left, nothing is paid.
 */
TEST(a_site_whose_price_is_more_than_is_left_pays_nothing)
{
    size_t size;
    struct tacit_select_site *const site = site_new(geometric, 1, &size);
    uint64_t *const words = (void *)site;
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    assert_true(take_part(site, 1, &entropy));
    struct tacit_select_site_view view;
    tacit_select_site_view(site, &view);
    struct select_prices const prices = select_prices_of(&geometric);
    uint64_t const next = select_price_after(&prices, view.price_nano);
    uint64_t const left = prices.total_nano - view.spent_nano;
    size_t at = 0;
    while (words[at] != next)
        at++;
    words[at] = left;
    tacit_select_site_view(site, &view);
    assert_false(view.is_exhausted);
    words[at] = left + 1;
    tacit_select_site_view(site, &view);
    assert_true(view.is_exhausted);
    assert_false(take_part(site, 2, &entropy));
}

/* ---- What is kept of a draw ---- */

#define KINDS 13u /* of numbers in the vector, in turn */

/* Does a state hold two neighbours of a vector's exact numbers? */
static bool holds_exact(const struct tacit_select_site *site, size_t size, const double *difference)
{
    int64_t steps[NUMBERS_MAX];
    tacit_vector_quantise(difference, NUMBERS_MAX, CLIP, steps);
    for (uint32_t i = 0; i < KINDS; i++)
        if (memmem(site, size, &steps[i], 2 * sizeof steps[0]) != NULL)
            return true;
    return false;
}

/* Not when it was drawn, and not when the entropy ends anywhere in the draw. */
TEST(no_exact_number_of_a_vector_is_in_the_state)
{
    double difference[NUMBERS_MAX];
    size_t size;
    struct tacit_select_site *const site = site_new(geometric, NUMBERS_MAX, &size);
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    for (uint32_t i = 0; i < NUMBERS_MAX; i++)
        difference[i] = 1e-4 * (i % KINDS + 1);
    assert_true(ask(site, 1, NUMBERS_MAX));
    struct tacit_event const event = {.kind = TACIT_EVENT_REWARD, .as.training = {1, difference}};
    enum tacit_status status = TACIT_ENTROPY;
    uint32_t failures = 0;
    for (uint32_t words = 0; status == TACIT_ENTROPY; words = 2 * words + 1) {
        struct scarce scarce = {tacit_rng_entropy(&rng), words};
        struct tacit_entropy const entropy = scarce_entropy(&scarce);
        struct tacit_select_update update;
        status = tacit_select_site_step(site, &event, &entropy, &update);
        failures += status == TACIT_ENTROPY ? 1 : 0;
        assert_true(status != TACIT_ENTROPY || update.train);
        assert_in_range(update.deadline_us, 1, TACIT_NEVER / 2); /* then again, or for an answer */
        assert_false(holds_exact(site, size, difference));
    }
    assert_int_equal(status, TACIT_OK);
    assert_true(failures > 5);
}

/* ---- The room of a hub ---- */

/* The block of a hub, part by part: as it grows from the smallest one on. */
static size_t bytes_of_parts(uint32_t sites, uint32_t slots, uint32_t numbers)
{
    struct tacit_select_config select = {
        .user_count = sites,
        .users_per_round = 1,
        .beta = 1,
        .zeta = 1,
        .latency_min = 1,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 1, .eta = 1}};
    size_t const steps = tacit_select_piece_count(numbers, TACIT_SELECT_STEPS);
    size_t const models = tacit_select_piece_count(numbers, TACIT_SELECT_MODEL);
    size_t const set = 8 * ((sites + 63) / 64);
    size_t const of_numbers = 8 * (size_t)numbers + 8 * (((size_t)numbers + 1) / 2) + 32 * models +
                              8 * ((models + 63) / 64);
    size_t const of_sites = 6 * set + 8 * (size_t)sites + sites * sizeof(struct tacit_commit_head) +
                            8 * (((size_t)sites + 1) / 2) + tacit_select_size(&select) +
                            8 * ((tacit_select_choice_size(sites) + 7) / 8);
    size_t const a_slot = 8 + 8 * (size_t)numbers + 8 * ((steps + 63) / 64) + 32 * steps;
    return of_numbers + of_sites + slots * a_slot + 8 * (((size_t)slots + 1) / 2) +
           8 * ((12 * (size_t)slots + 7) / 8);
}

TEST(a_hub_has_room_for_all_of_its_parts)
{
    static const uint32_t numbers[] = {1, 2, 7, 6144, 6145, 12288, 12289, 400000};
    struct tacit_select_hub_config config = {.select = {.user_count = 1,
                                                        .users_per_round = 1,
                                                        .beta = 1,
                                                        .zeta = 1,
                                                        .latency_min = 1,
                                                        .budget = {.kind = TACIT_SELECT_GEOMETRIC,
                                                                   .is_exact = true,
                                                                   .total = 1,
                                                                   .eta = 1}},
                                             .annealing = {.kappa = 1, .iterations = 1},
                                             .dimension = 1,
                                             .round_count = 1,
                                             .quorum = 1,
                                             .round_timeout_us = 1,
                                             .clip = 1};
    size_t const head = tacit_select_hub_size(&config) - bytes_of_parts(1, 1, 1);
    assert_in_range(head, 100, 500);
    for (uint32_t sites = 1; sites <= 130; sites += sites < 4 ? 1 : 21)
        for (uint32_t slots = 1; slots <= sites; slots += 1 + slots / 2)
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
                config.select.user_count = sites;
                config.select.users_per_round = slots;
                config.dimension = numbers[n];
                size_t const bytes = head + bytes_of_parts(sites, slots, numbers[n]);
                assert_int_equal(tacit_select_hub_size(&config),
                                 bytes > (size_t)1 << 28 ? 0 : bytes);
            }
}

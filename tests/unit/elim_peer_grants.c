/* Commit, grant, reveal among peers: nothing of a draw enters a collection before all who hold it
 * have granted it; who granted holds what comes against it. What is copied, restored, cloned, lost
 * or repeated is the storm's (round/rule_peers.c). */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/peer_driver.h"
#include "../../src/proto/elim/peer_state.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xf929c2579002e27c))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x105bf8694dbf04a1))

#define ARMS 3u
#define PULLS 10u

static const double means_3[] = {0.75, 0.25, 0.7};
static const uint64_t only_0[] = {1};
static const uint64_t only_1[] = {2};
static const uint64_t only_2[] = {4};
static const uint64_t all_3[] = {7};

static struct peer_setup granting_setup(uint32_t agents)
{
    struct peer_setup setup = peer_setup_plain(agents, ARMS, 100000);
    setup.base.epsilon = 1;
    setup.base.has_grants = true;
    return setup;
}

static struct network *network_of(enum tacit_graph_kind kind, uint32_t agents)
{
    struct tacit_graph_spec const spec = {.kind = kind, .agent_count = agents};
    return network_new(&spec, 1, 1);
}

/* What `from` said last, to `to`. */
static enum tacit_status pass(struct peer_core *from, struct peer_core *to)
{
    struct tacit_elim_message *const kept = peer_keep(from);
    enum tacit_status const status = peer_step(to, driver_receive(kept));
    return status;
}

static struct tacit_elim_message word_of(enum tacit_elim_message_kind kind, uint32_t from,
                                         uint32_t to, const struct tacit_commit *commit)
{
    struct tacit_elim_message word = peer_word(kind, from, to, 1, NULL);
    word.commit = commit;
    return word;
}

/* ---- A path of three, 0 - 1 - 2, whose reports spread ---------------------------------------- */

struct trio {
    struct network *network;
    struct peer_core p[3];
};

/* Everybody has drawn for epoch 1; nothing was delivered. */
static struct trio trio_drawn(void)
{
    struct peer_setup const setup = granting_setup(3);
    struct trio trio = {.network = network_of(TACIT_GRAPH_PATH, 3)};
    for (uint32_t agent = 0; agent < 3; agent++) {
        trio.p[agent] = peer_open(&setup, trio.network, agent, NULL);
        peer_expect(&trio.p[agent], driver_start(), TACIT_OK);
        assert_int_equal(peer_play(&trio.p[agent], means_3, 0), TACIT_OK);
    }
    return trio;
}

/* Peer 1 has both grants, and 0 its one. */
static struct trio trio_granted(void)
{
    struct trio trio = trio_drawn();
    assert_int_equal(pass(&trio.p[0], &trio.p[1]), TACIT_OK);
    assert_int_equal(pass(&trio.p[1], &trio.p[0]), TACIT_OK);
    peer_expect_message(&trio.p[0], TACIT_ELIM_ADVERT, TACIT_NEIGHBOURS);
    peer_expect(&trio.p[1], driver_start(), TACIT_OK); /* asks again */
    assert_int_equal(pass(&trio.p[1], &trio.p[0]), TACIT_OK);
    assert_int_equal(pass(&trio.p[0], &trio.p[1]), TACIT_OK);
    assert_int_equal(pass(&trio.p[1], &trio.p[2]), TACIT_OK);
    assert_int_equal(pass(&trio.p[2], &trio.p[1]), TACIT_OK);
    peer_expect_message(&trio.p[1], TACIT_ELIM_ADVERT, TACIT_NEIGHBOURS);
    return trio;
}

TEST(draw_is_used_when_all_neighbours_have_granted_it_the_lowest_first)
{
    struct trio trio = trio_drawn();
    struct peer_core *const middle = &trio.p[1];
    peer_expect_message(middle, TACIT_ELIM_COMMIT, 0);
    struct tacit_commit const commit = *middle->update.message.commit;
    struct tacit_elim_message const early = word_of(TACIT_ELIM_GRANT, 2, 1, &commit);
    peer_expect_nothing(middle, &early, TACIT_OK); /* not asked yet */
    peer_wake(middle);
    peer_expect_message(middle, TACIT_ELIM_COMMIT, 0); /* again, also after a crash */
    peer_move(middle);
    peer_expect(middle, driver_start(), TACIT_OK);
    peer_expect_message(middle, TACIT_ELIM_COMMIT, 0);
    assert_memory_equal(middle->update.message.commit, &commit, sizeof commit);
    assert_int_equal(pass(middle, &trio.p[0]), TACIT_OK);
    peer_expect_message(&trio.p[0], TACIT_ELIM_GRANT, 1);
    assert_true(trio.p[0].update.persist);
    assert_int_equal(pass(&trio.p[0], middle), TACIT_OK);
    assert_true(middle->update.persist);
    peer_expect_message(middle, TACIT_ELIM_COMMIT, TACIT_NEIGHBOURS);
    assert_int_equal(peer_view(middle).known_count, 0);
    assert_int_equal(peer_view(middle).agent.release_epoch, 0);
    assert_true(peer_view(middle).agent.committed);
    struct tacit_elim_message const request = peer_word(TACIT_ELIM_REQUEST, 0, 1, 1, only_1);
    peer_expect_nothing(middle, &request, TACIT_UNEXPECTED);
    peer_wake(middle);
    peer_expect_message(middle, TACIT_ELIM_COMMIT, TACIT_NEIGHBOURS);
    assert_int_equal(pass(middle, &trio.p[2]), TACIT_OK);
    assert_int_equal(pass(&trio.p[2], middle), TACIT_OK);
    peer_expect_message(middle, TACIT_ELIM_ADVERT, TACIT_NEIGHBOURS);
    assert_int_equal(peer_view(middle).known_count, 1);
    assert_int_equal(peer_view(middle).agent.release_epoch, 1);
    assert_memory_equal(peer_view(middle).agent.head, commit.commitment, TACIT_SHA256_BYTES);
}

TEST(second_of_two_clones_is_refused_and_names_the_grantor)
{
    struct peer_setup const setup = granting_setup(3);
    struct network *const network = network_of(TACIT_GRAPH_PATH, 3);
    struct peer_core grantor = peer_open(&setup, network, 0, NULL);
    struct peer_core first = peer_open(&setup, network, 1, NULL);
    peer_expect(&grantor, driver_start(), TACIT_OK);
    peer_expect(&first, driver_start(), TACIT_OK);
    struct peer_core second = peer_copy(&first);
    second.entropy.rng = tacit_rng_stream(55, 0, 1, TACIT_PURPOSE_NOISE);
    peer_expect(&second, driver_start(), TACIT_OK); /* shows its plan */
    assert_int_equal(peer_play(&first, means_3, 0), TACIT_OK);
    assert_int_equal(peer_play(&second, means_3, 0), TACIT_OK);
    assert_int_equal(pass(&first, &grantor), TACIT_OK);
    assert_int_equal(pass(&grantor, &first), TACIT_OK);
    assert_int_equal(pass(&second, &grantor), TACIT_FORKED);
    peer_expect_message(&grantor, TACIT_ELIM_REFUSAL, 1);
    assert_true(grantor.update.persist);
    assert_int_equal(peer_view(&grantor).flagged[0], 1);
    assert_int_equal(peer_view(&second).refused_by, TACIT_NO_AGENT);
    assert_int_equal(pass(&grantor, &second), TACIT_OK);
    assert_true(peer_view(&second).agent.blocked);
    assert_int_equal(peer_view(&second).refused_by, 0);
    for (uint32_t i = 0; i < 3; i++) {
        peer_wake(&second);
        peer_expect_message(&second, TACIT_ELIM_COMMIT, 0);
    }
    assert_int_equal(peer_view(&second).agent.release_epoch, 0);
    assert_int_equal(peer_view(&second).known_count, 0);
    network_free(network);
}

/* A grantor whose site went on while a copy of it still waits for the grant before. */
TEST(copy_that_waits_for_a_grant_that_was_used_is_refused)
{
    struct trio trio = trio_drawn();
    struct peer_core *const grantor = &trio.p[0];
    static const struct tacit_commit none = {.commitment = {0}};
    struct peer_core copy = peer_copy(&trio.p[1]);
    struct tacit_commit const first = *trio.p[1].update.message.commit;
    struct tacit_commit second = none;
    second.commitment[0] = 5;
    memcpy(second.previous, first.commitment, sizeof second.previous);
    assert_int_equal(pass(&trio.p[1], grantor), TACIT_OK);
    struct tacit_elim_message next = word_of(TACIT_ELIM_COMMIT, 1, 0, &second);
    next.epoch = 2;
    peer_expect(grantor, driver_receive(&next), TACIT_OK); /* it went on */
    peer_expect_message(grantor, TACIT_ELIM_GRANT, 1);
    peer_expect(&copy, driver_start(), TACIT_OK);
    assert_int_equal(pass(&copy, grantor), TACIT_OK);
    peer_expect_message(grantor, TACIT_ELIM_REFUSAL, 1);
    assert_int_equal(peer_view(grantor).flagged[0], 0); /* it may be an echo */
    struct tacit_elim_message refusal = grantor->update.message;
    struct tacit_commit const shown = *refusal.commit;
    refusal.commit = &shown;
    refusal.epoch = 2;
    peer_expect_nothing(&copy, &refusal, TACIT_OK); /* of another question */
    refusal.epoch = 1;
    peer_expect(&copy, driver_receive(&refusal), TACIT_OK);
    assert_true(peer_view(&copy).agent.blocked);
    assert_int_equal(peer_view(&copy).refused_by, 0);
}

/* What a HELLO shows must be the last grant, or the one before it, whose successor is on its way.
 */
TEST(neighbours_read_the_head_that_a_hello_shows)
{
    struct trio trio = trio_granted();
    struct peer_core *const grantor = &trio.p[0];
    struct tacit_commit shown = {.commitment = {0}};
    struct tacit_elim_message hello = peer_word(TACIT_ELIM_HELLO, 1, 0, 1, only_1);
    hello.commit = &shown;
    peer_expect(grantor, driver_receive(&hello), TACIT_OK); /* before its first grant came */
    memcpy(shown.commitment, peer_view(&trio.p[1]).agent.head, sizeof shown.commitment);
    peer_expect(grantor, driver_receive(&hello), TACIT_OK);
    assert_int_equal(peer_view(grantor).flagged[0], 0);
    shown.commitment[3] ^= 1; /* of another state */
    hello.epoch = 2;
    peer_expect(grantor, driver_receive(&hello), TACIT_OK); /* of another epoch: not read */
    hello.epoch = 1;
    peer_expect(grantor, driver_receive(&hello), TACIT_OK);
    peer_expect_message(grantor, TACIT_ELIM_REFUSAL, 1);
    assert_true(grantor->update.persist && grantor->update.message.forgot);
    assert_int_equal(peer_view(grantor).flagged[0], 0);
    assert_int_equal(peer_view(grantor).ahead[0], 1);
    assert_memory_equal(grantor->update.message.commit->commitment,
                        peer_view(&trio.p[1]).agent.head, TACIT_SHA256_BYTES);
    assert_int_equal(pass(grantor, &trio.p[1]), TACIT_OK); /* who has that grant is not blocked */
    assert_false(peer_view(&trio.p[1]).agent.blocked);
}

/* A neighbour that has lost its heads is told by a HELLO, and tells the site. */
TEST(neighbour_that_has_lost_its_heads_is_told_by_a_hello)
{
    struct trio trio = trio_granted();
    struct peer_setup const setup = granting_setup(3);
    struct peer_core empty = peer_open(&setup, trio.network, 2, NULL);
    peer_expect(&empty, driver_start(), TACIT_OK);
    peer_wake(&trio.p[1]); /* the others' reports are missing */
    peer_expect_message(&trio.p[1], TACIT_ELIM_HELLO, TACIT_NEIGHBOURS);
    assert_int_equal(pass(&trio.p[1], &empty), TACIT_OK);
    peer_expect_message(&empty, TACIT_ELIM_REFUSAL, 1);
    assert_true(empty.update.persist);
    assert_int_equal(peer_view(&empty).ahead[0], 1);
    assert_int_equal(peer_view(&empty).flagged[0], 0); /* it may be this one that is old */
    assert_int_equal(pass(&empty, &trio.p[1]), TACIT_OK);
    assert_true(peer_view(&trio.p[1]).agent.blocked && peer_view(&trio.p[1]).agent.forgotten);
    assert_int_equal(peer_view(&trio.p[1]).refused_by, 2);
    /* In a new term all begin again. */
    struct tacit_event const term = {.kind = TACIT_EVENT_START, .as.term = 1};
    peer_expect(&empty, term, TACIT_OK);
    peer_expect(&trio.p[1], term, TACIT_OK);
    assert_int_equal(peer_view(&empty).ahead[0], 0);
    assert_false(peer_view(&trio.p[1]).agent.blocked || peer_view(&trio.p[1]).agent.forgotten);
    assert_int_equal(peer_view(&trio.p[1]).known_count, 0);
    assert_int_equal(peer_view(&trio.p[1]).agent.release_epoch, 0);
    assert_int_equal(peer_view(&trio.p[1]).agent.draw_number, 1);
}

TEST(words_about_commitments_that_do_not_fit_are_refused_without_trace)
{
    struct trio trio = trio_drawn();
    struct peer_core *const middle = &trio.p[1];
    static const struct tacit_commit other = {.commitment = {9}, .previous = {3}};
    struct tacit_commit const ours = *middle->update.message.commit;
    struct tacit_elim_message word = word_of(TACIT_ELIM_GRANT, 0, 1, &ours);
    word.run_id++;
    peer_expect_nothing(middle, &word, TACIT_STRANGER);
    word.run_id--;
    word.to = TACIT_NEIGHBOURS;
    peer_expect_nothing(middle, &word, TACIT_STRANGER);
    word.to = 2;
    peer_expect_nothing(middle, &word, TACIT_STRANGER);
    word.to = 1;
    word.from = TACIT_HUB;
    peer_expect_nothing(middle, &word, TACIT_STRANGER);
    word.from = 0;
    word.commit = NULL;
    peer_expect_nothing(middle, &word, TACIT_MALFORMED);
    word.commit = &other;
    peer_expect_nothing(middle, &word, TACIT_OK); /* of another draw */
    word.kind = TACIT_ELIM_REFUSAL;
    word.commit = &ours;
    peer_expect_nothing(middle, &word, TACIT_OK); /* it shows ours */
    word.kind = TACIT_ELIM_COMMIT;
    word.epoch = 0;
    peer_expect_nothing(middle, &word, TACIT_MALFORMED);
    word.epoch = TACIT_ELIM_EPOCHS_MAX + 1;
    peer_expect_nothing(middle, &word, TACIT_MALFORMED);
    /* Our own row, of a clone, does not get in while our draw waits. */
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_1);
    peer_expect_nothing(middle, &advert, TACIT_OK);
    /* A peer without grants hears none of it. */
    struct peer_setup plain = granting_setup(3);
    plain.base.has_grants = false;
    struct peer_core without = peer_open(&plain, trio.network, 1, NULL);
    word = word_of(TACIT_ELIM_COMMIT, 0, 1, &ours);
    peer_expect_nothing(&without, &word, TACIT_UNEXPECTED);
}

/* Peer 1's answer to what 0 asks for, for testing_free(). */
static struct tacit_elim_message *asked_row(struct trio *trio)
{
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 1, TACIT_NEIGHBOURS, 1, only_1);
    (void)peer_expect_answer(&trio->p[0], &advert, TACIT_ELIM_REQUEST, 1);
    assert_int_equal(pass(&trio->p[0], &trio->p[1]), TACIT_OK);
    peer_expect_message(&trio->p[1], TACIT_ELIM_DATA, 0);
    return peer_keep(&trio->p[1]);
}

TEST(row_that_does_not_open_its_grant_is_kept_apart_and_flags_who_brings_it)
{
    struct trio trio = trio_granted();
    struct tacit_elim_message *const data = asked_row(&trio);
    struct tacit_elim_message wrong = *data;
    union tacit_sum sums[ARMS];
    struct tacit_elim_opening opening = *data->openings;
    wrong.openings = NULL;
    peer_expect_nothing(&trio.p[0], &wrong, TACIT_MALFORMED);
    wrong.openings = &opening;
    opening.salt[31] ^= 1;
    peer_expect(&trio.p[0], driver_receive(&wrong), TACIT_FORKED);
    assert_true(trio.p[0].update.persist && !trio.p[0].update.send);
    assert_int_equal(peer_view(&trio.p[0]).flagged[0], 1);
    opening = *data->openings;
    opening.previous[0] ^= 1;
    peer_expect(&trio.p[0], driver_receive(&wrong), TACIT_FORKED);
    wrong = *data;
    memcpy(sums, data->sums, sizeof sums);
    sums[2].steps--;
    wrong.sums = sums;
    peer_expect(&trio.p[0], driver_receive(&wrong), TACIT_FORKED);
    assert_int_equal(peer_view(&trio.p[0]).known_count, 1);
    peer_expect(&trio.p[0], driver_receive(data), TACIT_OK);
    assert_int_equal(peer_view(&trio.p[0]).known_count, 2);
}

TEST(row_travels_with_what_opens_it_as_far_as_it_goes)
{
    struct trio trio = trio_granted();
    struct tacit_elim_message const advert =
        peer_word(TACIT_ELIM_ADVERT, 0, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&trio.p[1], &advert, TACIT_ELIM_REQUEST, 0);
    assert_int_equal(pass(&trio.p[1], &trio.p[0]), TACIT_OK);
    struct tacit_elim_message *const first = peer_keep(&trio.p[0]);
    peer_expect(&trio.p[1], driver_receive(first), TACIT_OK);
    struct tacit_elim_message const passed =
        peer_word(TACIT_ELIM_ADVERT, 1, TACIT_NEIGHBOURS, 1, only_0);
    (void)peer_expect_answer(&trio.p[2], &passed, TACIT_ELIM_REQUEST, 1);
    assert_int_equal(pass(&trio.p[2], &trio.p[1]), TACIT_OK);
    struct tacit_elim_message *const second = peer_keep(&trio.p[1]);
    assert_memory_equal(first->openings, second->openings, sizeof *first->openings);
    assert_memory_equal(first->sums, second->sums, ARMS * sizeof *first->sums);
    peer_expect(&trio.p[2], driver_receive(second), TACIT_OK); /* no grantor of 0 */
    assert_int_equal(peer_view(&trio.p[2]).known[0], only_0[0]);
}

static void step_damaged(struct peer_core *core)
{
    peer_step_damaged(core, 0, 1, TACIT_ELIM_REFUSAL);
}

static void damage_every_bit(const struct peer_core *core)
{
    assert_true(peer_damage_every_bit(core, step_damaged) >
                2 * core->size); /* hashes may be anything */
}

TEST(state_with_any_bit_flipped_is_refused_or_can_be_stepped)
{
    digest_pause(true);
    struct trio trio = trio_drawn();
    damage_every_bit(&trio.p[1]);
    assert_int_equal(pass(&trio.p[0], &trio.p[1]), TACIT_OK);
    assert_int_equal(pass(&trio.p[2], &trio.p[1]), TACIT_OK);
    trio = trio_granted();
    damage_every_bit(&trio.p[1]);
    digest_pause(false);
}

/* ---- Hybrids --------------------------------------------------------------------------------- */

/* A path of three, whose sink is 1, and 3, which is alone; the plan of epoch 1 is open. */
struct hybrid {
    struct network *network;
    struct peer_setup setup;
    struct peer_core p[4];
    struct driver_core hub;
};

static const uint32_t hybrid_weights[] = {0, 3, 0, 1};

static struct hybrid hybrid_pulling(void)
{
    struct tacit_graph_spec const specs[] = {{.kind = TACIT_GRAPH_PATH, .agent_count = 3},
                                             {.kind = TACIT_GRAPH_PATH, .agent_count = 1}};
    struct hybrid hybrid = {.network = network_new(specs, 2, 1), .setup = granting_setup(4)};
    hybrid.setup.collection = TACIT_ELIM_GATHER;
    hybrid.setup.base.answers_all = true;
    assert_int_equal(hybrid.network->components[0].sink, 1);
    hybrid.hub = driver_hub_open(&hybrid.setup.base);
    hybrid.hub.hub_config.weights = hybrid_weights;
    assert_int_equal(tacit_elim_hub_init(hybrid.hub.state, &hybrid.hub.hub_config), TACIT_OK);
    assert_int_equal(driver_step(&hybrid.hub, driver_start()), TACIT_OK);
    struct tacit_elim_message *const order = driver_keep(&hybrid.hub);
    for (uint32_t agent = 0; agent < 4; agent++) {
        hybrid.p[agent] = peer_open(&hybrid.setup, hybrid.network, agent, NULL);
        peer_expect(&hybrid.p[agent], driver_start(), TACIT_OK);
        peer_expect(&hybrid.p[agent], driver_receive(order), TACIT_OK);
        assert_int_equal(peer_play(&hybrid.p[agent], means_3, 0), TACIT_OK);
    }
    return hybrid;
}

static enum tacit_status tell_hub(struct hybrid *hybrid, struct peer_core *from)
{
    struct tacit_elim_message *const kept = peer_keep(from);
    enum tacit_status const status = driver_step(&hybrid->hub, driver_receive(kept));
    return status;
}

static enum tacit_status hub_tells(struct hybrid *hybrid, struct peer_core *to)
{
    struct tacit_elim_message *const kept = driver_keep(&hybrid->hub);
    enum tacit_status const status = peer_step(to, driver_receive(kept));
    return status;
}

TEST(member_asks_its_parent_and_a_sink_the_hub)
{
    struct hybrid hybrid = hybrid_pulling();
    struct peer_core *const leaf = &hybrid.p[0];
    struct peer_core *const sink = &hybrid.p[1];
    peer_expect_message(leaf, TACIT_ELIM_COMMIT, 1);
    struct tacit_commit const commit = *leaf->update.message.commit;
    struct tacit_elim_message const wrong = word_of(TACIT_ELIM_GRANT, TACIT_HUB, 0, &commit);
    peer_expect_nothing(leaf, &wrong, TACIT_UNEXPECTED); /* not its grantor */
    peer_expect_message(sink, TACIT_ELIM_COMMIT, TACIT_HUB);
    struct tacit_commit const sinks = *sink->update.message.commit;
    struct tacit_elim_message const child = word_of(TACIT_ELIM_GRANT, 0, 1, &sinks);
    peer_expect_nothing(sink, &child, TACIT_UNEXPECTED);
    struct tacit_elim_message upwards = word_of(TACIT_ELIM_COMMIT, 1, 0, &sinks);
    peer_expect_nothing(leaf, &upwards, TACIT_UNEXPECTED); /* a child holds nothing */
    upwards = word_of(TACIT_ELIM_COMMIT, 0, TACIT_HUB, &commit);
    driver_expect_nothing(&hybrid.hub, driver_receive(&upwards), TACIT_UNEXPECTED);
    peer_expect(leaf, driver_start(), TACIT_OK); /* says it again */
    assert_int_equal(pass(leaf, sink), TACIT_OK);
    peer_expect_message(sink, TACIT_ELIM_GRANT, 0);
    assert_false(sink->update.message.closed);
    assert_int_equal(pass(sink, leaf), TACIT_OK);
    peer_expect_message(leaf, TACIT_ELIM_DATA, 1);
    assert_int_equal(pass(leaf, sink), TACIT_OK);
    assert_int_equal(peer_view(sink).known[0], only_0[0]);
    assert_int_equal(pass(&hybrid.p[2], sink), TACIT_OK);
    assert_int_equal(pass(sink, &hybrid.p[2]), TACIT_OK);
    struct tacit_elim_message *const data = peer_keep(&hybrid.p[2]);
    struct tacit_elim_opening bad = *data->openings;
    struct tacit_elim_message forged = *data;
    bad.salt[0] ^= 1;
    forged.openings = &bad;
    peer_expect(sink, driver_receive(&forged), TACIT_FORKED);
    assert_int_equal(peer_view(sink).flagged[0], 2);
    assert_int_equal(peer_view(sink).known[0], only_0[0]);
    forged = *data;
    forged.origins = only_1; /* the sink's own, of a clone, while its draw waits */
    peer_expect_nothing(sink, &forged, TACIT_UNEXPECTED);
    peer_expect(sink, driver_receive(data), TACIT_OK);
    assert_int_equal(peer_view(sink).known[0], only_0[0] | only_2[0]);
}

TEST(total_names_the_grant_of_its_sink_and_one_alone_opens_it)
{
    struct hybrid hybrid = hybrid_pulling();
    struct peer_core *const sink = &hybrid.p[1];
    struct peer_core *const alone = &hybrid.p[3];
    assert_int_equal(tell_hub(&hybrid, sink), TACIT_OK);
    struct tacit_elim_message *const grant = driver_keep(&hybrid.hub);
    assert_int_equal(grant->kind, TACIT_ELIM_GRANT);
    for (uint32_t i = 0; i < 2; i++) {
        struct peer_core *const leaf = &hybrid.p[2 * i];
        assert_int_equal(pass(leaf, sink), TACIT_OK);
        assert_int_equal(pass(sink, leaf), TACIT_OK);
        assert_int_equal(pass(leaf, sink), TACIT_OK);
    }
    peer_expect(sink, driver_receive(grant), TACIT_OK);
    peer_wake(sink);
    peer_expect_message(sink, TACIT_ELIM_REPORT, TACIT_HUB);
    assert_int_equal(sink->update.message.agents, 3);
    struct tacit_elim_message *const total = peer_keep(sink);
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    assert_memory_equal(total->commit->salt, nothing, sizeof nothing); /* opens nothing */
    struct tacit_commit other = *total->commit;
    struct tacit_elim_message forged = *total;
    other.commitment[5] ^= 1;
    forged.commit = &other;
    driver_expect(&hybrid.hub, driver_receive(&forged), TACIT_ROLLBACK);
    assert_int_equal(driver_hub_view(&hybrid.hub).flagged[0], 0);
    assert_int_equal(driver_hub_view(&hybrid.hub).ahead[0], only_1[0]);
    forged.commit = NULL;
    driver_expect(&hybrid.hub, driver_receive(&forged), TACIT_FORKED);
    assert_int_equal(driver_hub_view(&hybrid.hub).flagged[0], only_1[0]);
    assert_int_equal(driver_hub_view(&hybrid.hub).covered_count, 0);
    driver_expect(&hybrid.hub, driver_receive(total), TACIT_OK);
    assert_int_equal(driver_hub_view(&hybrid.hub).covered_count, 3);
    assert_int_equal(tell_hub(&hybrid, alone), TACIT_OK);
    assert_int_equal(hub_tells(&hybrid, alone), TACIT_OK);
    peer_expect_message(alone, TACIT_ELIM_REPORT, TACIT_HUB);
    struct tacit_elim_message *const own = peer_keep(alone);
    struct tacit_commit bare = {.commitment = {0}};
    memcpy(bare.commitment, own->commit->commitment, sizeof bare.commitment);
    forged = *own;
    forged.commit = &bare;
    driver_expect(&hybrid.hub, driver_receive(&forged), TACIT_FORKED); /* naming is not enough */
    driver_expect(&hybrid.hub, driver_receive(own), TACIT_OK);
    assert_int_equal(driver_hub_view(&hybrid.hub).epoch, 2);
}

TEST(parent_whose_epoch_is_over_grants_and_asks_for_no_report)
{
    struct hybrid hybrid = hybrid_pulling();
    struct peer_core *const leaf = &hybrid.p[0];
    struct peer_core *const sink = &hybrid.p[1];
    struct tacit_elim_message order = {.kind = TACIT_ELIM_ORDER,
                                       .from = TACIT_HUB,
                                       .to = TACIT_EVERYONE,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = 2,
                                       .pulls = 90000,
                                       .arms = all_3};
    struct tacit_elim_message *const commit = peer_keep(leaf);
    assert_int_equal(tell_hub(&hybrid, sink), TACIT_OK);
    assert_int_equal(hub_tells(&hybrid, sink), TACIT_OK);
    peer_expect(sink, driver_receive(&order), TACIT_OK); /* the hub went on without */
    peer_expect_nothing(leaf, &order, TACIT_UNEXPECTED); /* it overtakes the grant */
    peer_expect(sink, driver_receive(commit), TACIT_OK);
    peer_expect_message(sink, TACIT_ELIM_GRANT, 0);
    assert_true(sink->update.message.closed);
    assert_int_equal(pass(sink, leaf), TACIT_OK);
    assert_int_equal(peer_view(leaf).agent.release_epoch, 1);
    assert_int_equal(peer_view(leaf).known_count, 0); /* nothing of it leaves */
    peer_expect(leaf, driver_receive(&order), TACIT_OK);
    assert_int_equal(peer_view(leaf).agent.epoch, 2);
}

/* ---- Whole networks -------------------------------------------------------------------------- */

#define NET_AGENTS_MAX 10u

static struct peer_world net_world_of(uint64_t seed, bool has_grants)
{
    struct peer_world world = {.rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE)};
    struct tacit_rng *const rng = &world.rng;
    uint32_t const agents = 1 + (uint32_t)tacit_rng_below(rng, NET_AGENTS_MAX);
    bool const gathers = seed % 2 == 0;
    world.network = gathers ? network_random_hybrid(agents, rng) : network_random(agents, rng);
    world.setup = granting_setup(agents);
    world.setup.base.has_grants = has_grants;
    world.setup.collection = gathers ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD;
    if (tacit_rng_bernoulli(rng, 0.3))
        world.setup.base.mode = TACIT_PRIVACY_PAPER;
    peer_world_end(&world);
    return world;
}

static struct peer_world granting_world_of(uint64_t seed)
{
    return net_world_of(seed, true);
}

/* Graphs and hybrids: releases, means and decisions to the last bit. */
TEST(grants_change_no_result_in_any_order_of_delivery)
{
    uint32_t rounds = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct peer_world without = net_world_of(seed, false);
        struct peer_world with = net_world_of(seed, true);
        struct peer_net *const plain = peer_world_played(&without, false, false);
        for (uint32_t variant = 0; variant < 3; variant++) {
            struct peer_net *const net = peer_world_played(&with, variant > 0, variant == 2);
            peer_expect_same_records(plain, net);
        }
        rounds += plain->records[0].round_count;
        network_free(with.network);
        network_free(without.network);
    }
    assert_true(rounds > 60);
}

/* A peer, as site or as grantor, or the hub dies in the step number n and comes back with its disk.
 */
TEST(death_in_any_step_changes_no_release_and_no_decision)
{
    peer_expect_deaths_change_nothing(granting_world_of, 6);
}

/* Terms of play in phases, one situation after the other; whole federations whose hubs are lost are
 * tests/round's. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/phased_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xbd9630232b1abdfc))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x3d5312d38599051f))

#define SNAPSHOT_BYTES_MAX 16384u

/* What is held of a hub. */
struct entry {
    size_t size;
    uint8_t bytes[SNAPSHOT_BYTES_MAX];
};

#define SITES 2u

static struct phased_core *hub;
static struct phased_core *agents[SITES];
static struct phased_setup setup;
static double const two_means[2] = {0.75, 0.25};

static enum tacit_status pass(struct phased_core *from, struct phased_core *to)
{
    struct tacit_phased_message *const kept = phased_keep(from);
    enum tacit_status const status = phased_step(to, phased_receive(kept));
    return status;
}

static void open_star(void)
{
    setup = (struct phased_setup){.schedule = {.arm_count = 2,
                                               .agent_count = SITES,
                                               .horizon = 10000,
                                               .epsilon_per_reward = 1,
                                               .growth = 2,
                                               .arms_per_round = 2},
                                  .means = two_means,
                                  .seed = 6,
                                  .budget_nano = TACIT_NANO,
                                  .has_grants = true,
                                  .answers_all = true};
    hub = phased_hub_new(&setup);
    for (uint32_t agent = 0; agent < SITES; agent++) {
        agents[agent] = phased_agent_new(&setup, agent);
        assert_int_equal(phased_step(agents[agent], phased_start()), TACIT_OK);
        assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
        assert_int_equal(pass(hub, agents[agent]), TACIT_OK);
        assert_int_equal(agents[agent]->update.plan_count, 2);
    }
}

/* To the grant that comes back, and that the site has not heard. */
static struct tacit_phased_message *commit(uint32_t agent)
{
    assert_int_equal(phased_play(agents[agent]), TACIT_OK);
    assert_int_equal(agents[agent]->update.message.kind, TACIT_ROUND_COMMIT);
    assert_int_equal(pass(agents[agent], hub), TACIT_OK);
    assert_int_equal(hub->update.message.kind, TACIT_ROUND_GRANT);
    return phased_keep(hub);
}

static void report(uint32_t agent)
{
    struct tacit_phased_message *const grant = commit(agent);
    assert_int_equal(phased_step(agents[agent], phased_receive(grant)), TACIT_OK);
    assert_int_equal(agents[agent]->update.message.kind, TACIT_ROUND_REPORT);
    assert_int_equal(pass(agents[agent], hub), TACIT_OK);
}

static void snapshot_of(const struct phased_core *core, struct entry *entry)
{
    entry->size = tacit_phased_hub_snapshot(core->state, entry->bytes, sizeof entry->bytes);
    assert_in_range(entry->size, 1, sizeof entry->bytes);
}

static void begin_term(struct phased_core *core, uint64_t term)
{
    struct tacit_event start = phased_start();
    start.as.term = term;
    assert_int_equal(phased_step(core, start), TACIT_OK);
}

static void put_hub_back(const struct entry *entry, uint64_t term)
{
    struct tacit_phased_hub_config const config = phased_hub_config(&setup);
    memset(hub->state, 0xa5, hub->size);
    assert_int_equal(tacit_phased_hub_restore(hub->state, &config, entry->bytes, entry->size),
                     TACIT_OK);
    begin_term(hub, term);
}

TEST(release_that_was_granted_is_said_again_and_counts_once)
{
    static struct entry entry;
    open_star();
    snapshot_of(hub, &entry);
    report(0);
    struct tacit_phased_agent_view const before = phased_agent_view(agents[0]);
    put_hub_back(&entry, 1);
    assert_int_equal(phased_hub_view(hub).report_count, 0);
    struct tacit_phased_message *const order = phased_keep(hub);
    begin_term(agents[0], 1);
    assert_int_equal(agents[0]->update.message.kind, TACIT_ROUND_HELLO);
    assert_int_equal(agents[0]->update.message.round,
                     0); /* whether it is wanted is not known yet */
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    assert_int_equal(agents[0]->update.message.kind, TACIT_ROUND_REPORT);
    assert_int_equal(agents[0]->update.plan_count, 0);
    struct tacit_phased_message *const again = phased_keep(agents[0]);
    assert_int_equal(phased_step(hub, phased_receive(again)), TACIT_OK);
    assert_int_equal(phased_step(hub, phased_receive(again)), TACIT_OK);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
    struct tacit_phased_agent_view const after = phased_agent_view(agents[0]);
    assert_int_equal(after.ledger->release_count, before.ledger->release_count);
    assert_int_equal(after.release_number, 1);
    /* Its next draw follows that release. */
    begin_term(agents[1], 1);
    assert_int_equal(phased_step(agents[1], phased_receive(order)), TACIT_OK);
    report(1);
    assert_int_equal(phased_hub_view(hub).judge.round, 2);
    assert_int_equal(pass(hub, agents[0]), TACIT_OK);
    report(0);
    assert_false(tacit_bits_has(phased_hub_view(hub).flagged, 0));
}

TEST(draw_that_was_not_granted_is_dropped_with_its_rewards)
{
    static struct entry entry;
    open_star();
    snapshot_of(hub, &entry);
    struct tacit_phased_message *const grant = commit(0); /* on its way when the hub is lost */
    put_hub_back(&entry, 1);
    struct tacit_phased_message *const order = phased_keep(hub);
    phased_expect_nothing(agents[0], phased_receive(order), TACIT_STRANGER); /* of a term to come */
    begin_term(agents[0], 1);
    assert_false(phased_agent_view(agents[0]).committed);
    phased_expect_nothing(agents[0], phased_receive(grant), TACIT_STRANGER);
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    assert_int_equal(agents[0]->update.plan_count, 2); /* with new rewards */
    report(0);
    struct tacit_phased_agent_view const view = phased_agent_view(agents[0]);
    assert_int_equal(view.release_round, 1);
    assert_int_equal(view.release_number, 2); /* never the same number again */
    assert_int_equal(view.ledger->release_count, 2);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
}

TEST(words_of_the_lost_hub_and_to_it_are_not_heard)
{
    static struct entry entry;
    open_star();
    snapshot_of(hub, &entry);
    struct tacit_phased_message *const grant = commit(0);
    assert_int_equal(phased_step(agents[0], phased_receive(grant)), TACIT_OK);
    struct tacit_phased_message *const said = phased_keep(agents[0]);
    put_hub_back(&entry, 1);
    phased_expect_nothing(hub, phased_receive(said), TACIT_STRANGER);
    said->term = 2;
    phased_expect_nothing(hub, phased_receive(said), TACIT_ROLLBACK);
    assert_int_equal(phased_hub_view(hub).report_count, 0);
}

/* Built again from an older entry: the site is ahead, and its round comes again. */
TEST(site_that_is_ahead_plays_its_round_anew)
{
    static struct entry entry;
    open_star();
    snapshot_of(hub, &entry);
    report(0);
    report(1);
    assert_int_equal(pass(hub, agents[0]), TACIT_OK);
    struct tacit_phased_message *const grant = commit(0);
    assert_int_equal(phased_step(agents[0], phased_receive(grant)), TACIT_OK); /* of round 2 */
    put_hub_back(&entry, 7);
    assert_int_equal(phased_hub_view(hub).judge.round, 1);
    struct tacit_phased_message *const order = phased_keep(hub);
    begin_term(agents[0], 7);
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    assert_int_equal(agents[0]->update.plan_count, 2);
    report(0);
    struct tacit_phased_agent_view const view = phased_agent_view(agents[0]);
    assert_int_equal(view.release_round, 1);
    assert_int_equal(view.release_number, 3);
    assert_int_equal(view.ledger->release_count, 3);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
}

/* Not another plan's: the round is the same, the arms are not. */
TEST(release_of_another_plan_is_not_said)
{
    open_star();
    report(0);
    begin_term(agents[0], 1);
    struct tacit_pull_block const other[] = {{0, 3}, {1, 3}};
    struct tacit_phased_message const order = {.kind = TACIT_ROUND_ORDER,
                                               .from = TACIT_HUB,
                                               .to = TACIT_EVERYONE,
                                               .run_id = PHASED_RUN_ID,
                                               .term = 1,
                                               .round = 1,
                                               .leader = TACIT_NO_ARM,
                                               .block_count = 2,
                                               .blocks = other};
    assert_int_equal(phased_step(agents[0], phased_receive(&order)), TACIT_OK);
    assert_false(agents[0]->update.send);
    assert_int_equal(agents[0]->update.plan_count, 2);
    assert_int_equal(agents[0]->update.plan[1].count, 3);
}

/* Nothing of an old copy could leave twice any more. */
TEST(old_copy_that_was_halted_goes_on_in_a_term)
{
    struct tacit_pull_block const plan[] = {{0, 3}, {1, 3}};
    struct tacit_phased_message order = {.kind = TACIT_ROUND_ORDER,
                                         .from = TACIT_HUB,
                                         .to = 0,
                                         .run_id = PHASED_RUN_ID,
                                         .round = 2,
                                         .seen = 1,
                                         .leader = TACIT_NO_ARM,
                                         .block_count = 2,
                                         .blocks = plan};
    open_star();
    assert_int_equal(phased_step(agents[0], phased_receive(&order)), TACIT_ROLLBACK);
    assert_true(phased_agent_view(agents[0]).halted);
    begin_term(agents[0], 1);
    assert_false(phased_agent_view(agents[0]).halted);
    struct tacit_commit const granted = {.commitment = {5}};
    struct tacit_phased_message const refusal = {.kind = TACIT_ROUND_REFUSAL,
                                                 .from = TACIT_HUB,
                                                 .to = 0,
                                                 .run_id = PHASED_RUN_ID,
                                                 .term = 1,
                                                 .round = 1,
                                                 .leader = TACIT_NO_ARM,
                                                 .commit = &granted};
    /* Another state of this site has spoken in the term already. */
    assert_int_equal(phased_step(agents[0], phased_receive(&refusal)), TACIT_OK);
    assert_true(phased_agent_view(agents[0]).blocked);
    order.term = 1;
    order.seen = 0;
    assert_int_equal(phased_step(agents[0], phased_receive(&order)), TACIT_OK);
    assert_int_equal(agents[0]->update.plan_count, 2);
}

static bool holds(const struct phased_core *core, int64_t sum)
{
    return memmem(core->state, core->size, &sum, sizeof sum) != NULL;
}

TEST(rewards_that_were_not_drawn_are_gone_with_the_term)
{
    int64_t const sum = 700001;
    open_star();
    assert_int_equal(phased_step(agents[0], phased_reward(1, 1, sum)), TACIT_OK);
    assert_true(holds(agents[0], sum));
    begin_term(agents[0], 1);
    assert_false(holds(agents[0], sum));
    assert_true(agents[0]->update.plan_is_void && agents[0]->update.persist);
    assert_int_equal(phased_agent_view(agents[0]).pull_count, 1); /* it was played all the same */
}

/* The operator began a term because a site lost its state: what the hub knows of heads is of
 * before. */
TEST(hub_that_begins_a_term_forgets_what_it_granted)
{
    open_star();
    report(0);
    agents[0] = phased_agent_new(&setup, 0);
    begin_term(hub, 1);
    assert_int_equal(phased_hub_view(hub).report_count, 0);
    struct tacit_phased_message *const order = phased_keep(hub);
    begin_term(agents[0], 1);
    assert_int_equal(phased_step(agents[0], phased_receive(order)), TACIT_OK);
    report(0);
    assert_int_equal(phased_hub_view(hub).report_count, 1);
    assert_false(tacit_bits_has(phased_hub_view(hub).flagged, 0));
}

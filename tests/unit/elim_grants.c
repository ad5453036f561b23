/* Commit, grant, reveal in the cores over a star, one situation after the other. Whatever is
 * copied, restored, cloned, lost or repeated is tests/round's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/elim_driver.h"

/* Of all steps below: digest.h. */
#define DIGEST UINT64_C(0xd1d4da1b1402807f)
/* Verdicts over damaged states: damage.h. */
#define VERDICTS UINT64_C(0xa6d6d8a47d8a1238)

#define ARMS 3u

static const double means[ARMS] = {0.75, 0.5, 0.25};

static struct driver_setup granting_setup(uint32_t agents)
{
    struct driver_setup setup = driver_setup_plain(agents, ARMS, 100000);
    setup.epsilon = 1;
    setup.has_grants = true;
    setup.answers_all = true;
    return setup;
}

/* Salts from a stream of their own. */
static enum tacit_status tell(struct driver_core *core, struct tacit_elim_event event)
{
    static struct tacit_rng salts;
    static struct tacit_entropy keys;
    if (keys.fill == NULL) {
        salts = tacit_rng_stream(99, 0, 0, TACIT_PURPOSE_NOISE);
        keys = tacit_rng_entropy(&salts);
    }
    event.keys = &keys;
    return driver_step(core, event);
}

static void play(struct driver_core *agent)
{
    struct tacit_pull_block plan[ARMS];
    uint32_t const count = agent->update.plan_count;
    assert_in_range(count, 1, ARMS);
    memcpy(plan, agent->update.plan, count * sizeof *plan);
    for (uint32_t i = 0; i < count; i++) {
        union tacit_sum sum = {0};
        tacit_sum_add_reward(&agent->scale, &sum, means[plan[i].arm], plan[i].count);
        assert_int_equal(tell(agent, driver_reward(plan[i].arm, plan[i].count, sum)), TACIT_OK);
    }
}

/* What `from` said last, to `to`. */
static enum tacit_status pass(struct driver_core *from, struct driver_core *to)
{
    assert_true(from->update.send);
    struct tacit_elim_message *const kept = driver_keep(from);
    enum tacit_status const status = tell(to, driver_receive(kept));
    free(kept);
    return status;
}

static enum tacit_elim_message_kind said(const struct driver_core *core)
{
    assert_true(core->update.send);
    return core->update.message.kind;
}

struct star {
    struct driver_core hub;
    struct driver_core a; /* site 0, in the middle of its first plan */
};

static struct star star_open(const struct driver_setup *setup)
{
    struct star star = {driver_hub_open(setup), driver_agent_open(setup, 0)};
    assert_int_equal(tell(&star.a, driver_start()), TACIT_OK);
    assert_int_equal(tell(&star.hub, driver_start()), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_true(star.a.update.plan_count > 0);
    return star;
}

static void star_close(struct star *star)
{
    driver_close(&star->hub);
    driver_close(&star->a);
}

static void nothing_uses_a_draw_before_its_grant(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    (void)state;
    play(&star.a);
    struct tacit_elim_agent_view view = driver_agent_view(&star.a);
    assert_int_equal(said(&star.a), TACIT_ELIM_COMMIT);
    assert_true(star.a.update.persist);
    assert_true(view.committed && view.waiting && !view.blocked);
    assert_int_equal(view.release_epoch, 0);
    assert_int_equal(view.exploit_arm, 0);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        assert_int_equal(view.noised[arm].steps, 0);
    assert_int_equal(view.ledger->release_count, 1); /* charged when drawn */
    struct tacit_elim_message *const commit = driver_keep(&star.a);
    struct tacit_elim_message order = {.kind = TACIT_ELIM_ORDER,
                                       .from = TACIT_HUB,
                                       .to = TACIT_EVERYONE,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = 2,
                                       .pulls = 2000,
                                       .arms = (uint64_t[]){7}};
    driver_expect_nothing(&star.a, driver_receive(&order), TACIT_UNEXPECTED); /* it overtakes */
    for (uint32_t i = 0; i < 3;
         i++) { /* asks again, with the same bytes; so it does after a crash */
        star.a.now_us = star.a.update.deadline_us;
        assert_int_equal(tell(&star.a, driver_timeout()), TACIT_OK);
        assert_int_equal(said(&star.a), TACIT_ELIM_COMMIT);
        assert_memory_equal(star.a.update.message.commit, commit->commit, sizeof *commit->commit);
        driver_move(&star.a);
        assert_int_equal(tell(&star.a, driver_start()), TACIT_OK);
        assert_int_equal(said(&star.a), TACIT_ELIM_COMMIT);
    }
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(said(&star.hub), TACIT_ELIM_GRANT);
    assert_true(star.hub.update.persist);
    assert_false(star.hub.update.message.closed);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    assert_true(star.a.update.persist);
    view = driver_agent_view(&star.a);
    assert_int_equal(view.release_epoch, 1);
    assert_false(view.committed);
    assert_memory_equal(view.head, commit->commit->commitment, TACIT_SHA256_BYTES);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(driver_hub_view(&star.hub).report_count, 1);
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0));
    free(commit);
    star_close(&star);
}

static bool holds(const struct driver_core *core, union tacit_sum sum)
{
    return memmem(core->state, core->size, &sum.steps, sizeof sum.steps) != NULL;
}

/* The step that draws erases what it drew from: no bytes of the state are an exact sum, neither
 * then nor when it is granted and reported. Until then they are there: so the search finds them. */
static void after_the_draw_no_exact_sum_is_left(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    struct tacit_pull_block plan[ARMS];
    union tacit_sum sums[ARMS] = {{0}};
    uint32_t const count = star.a.update.plan_count;
    (void)state;
    assert_int_equal(count, ARMS);
    memcpy(plan, star.a.update.plan, sizeof plan);
    for (uint32_t i = 0; i < ARMS; i++) {
        sums[i].steps = (int64_t)plan[i].count * (700001 + 1009 * (int64_t)i);
        assert_int_equal(tell(&star.a, driver_reward(plan[i].arm, plan[i].count, sums[i])),
                         TACIT_OK);
        assert_true(holds(&star.a, sums[i]) == (i + 1 < ARMS));
    }
    for (uint32_t i = 0; i < ARMS; i++)
        assert_false(holds(&star.a, sums[i]));
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    for (uint32_t i = 0; i < ARMS; i++)
        assert_false(holds(&star.a, sums[i]));
    star_close(&star);
}

/* The same run with and without grants: noise, means and eliminations to the last bit. */
static void grants_change_no_result(void **state)
{
    struct driver_core hubs[2];
    (void)state;
    for (uint32_t with = 0; with < 2; with++) {
        struct driver_setup setup = granting_setup(1);
        setup.has_grants = with == 1;
        struct star star = star_open(&setup);
        uint32_t epoch = 0;
        while (!driver_hub_view(&star.hub).finished && epoch < 40) {
            play(&star.a);
            if (with == 1) {
                assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
                assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
            }
            assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
            assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
            epoch++;
            if (driver_agent_view(&star.a).finished)
                break;
        }
        assert_true(epoch >= 2);
        driver_close(&star.a);
        hubs[with] = star.hub;
    }
    struct tacit_elim_hub_view const without = driver_hub_view(&hubs[0]);
    struct tacit_elim_hub_view const with = driver_hub_view(&hubs[1]);
    assert_int_equal(with.epoch, without.epoch);
    assert_int_equal(with.round_count, without.round_count);
    assert_memory_equal(with.means, without.means, ARMS * sizeof *with.means);
    assert_memory_equal(with.eliminated, without.eliminated, ARMS * sizeof *with.eliminated);
    driver_close(&hubs[0]);
    driver_close(&hubs[1]);
}

/* Another stream of noise: what a restored process draws. */
static struct driver_core clone_of(const struct driver_core *agent, uint32_t number)
{
    struct driver_core clone = driver_copy(agent);
    clone.entropy.rng = tacit_rng_stream(1000 + number, 0, 0, TACIT_PURPOSE_NOISE);
    return clone;
}

static void expect_blocked(struct driver_core *clone, struct driver_core *hub)
{
    assert_int_equal(said(clone), TACIT_ELIM_COMMIT);
    assert_int_equal(pass(clone, hub), TACIT_FORKED);
    assert_int_equal(said(hub), TACIT_ELIM_REFUSAL);
    assert_true(tacit_bits_has(driver_hub_view(hub).flagged, 0));
    assert_int_equal(pass(hub, clone), TACIT_OK);
    assert_true(driver_agent_view(clone).blocked);
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(clone->update.send && clone->update.message.kind == TACIT_ELIM_REPORT);
        clone->now_us = clone->update.deadline_us;
        assert_int_equal(tell(clone, driver_timeout()), TACIT_OK);
        assert_int_equal(said(clone), TACIT_ELIM_COMMIT);
    }
    assert_int_equal(driver_agent_view(clone).release_epoch, 0);
}

static void second_of_two_clones_is_refused_and_shown(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    (void)state;
    struct driver_core clone = clone_of(&star.a, 0);
    play(&star.a);
    assert_int_equal(tell(&clone, driver_start()), TACIT_OK); /* says its plan again */
    play(&clone);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    expect_blocked(&clone, &star.hub);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK); /* the first goes on */
    driver_close(&clone);
    star_close(&star);
}

/* A clone in mid-epoch 1 takes the order of epoch 2, and commits for an epoch that has no grant. */
static void clone_that_skips_to_the_next_epoch_is_refused(void **state)
{
    struct driver_setup const setup = granting_setup(1);
    struct star star = star_open(&setup);
    (void)state;
    struct driver_core clone = clone_of(&star.a, 1);
    play(&star.a);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(star.hub.update.message.epoch, 2);
    assert_int_equal(star.hub.update.message.to, TACIT_EVERYONE);
    assert_int_equal(pass(&star.hub, &clone), TACIT_OK);
    play(&clone);
    expect_blocked(&clone, &star.hub);
    driver_close(&clone);
    star_close(&star);
}

static void report_that_does_not_open_its_grant_is_kept_apart(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    (void)state;
    play(&star.a);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    struct tacit_elim_message *const report = driver_keep(&star.a);
    struct tacit_elim_message wrong = *report;
    union tacit_sum sums[ARMS];
    struct tacit_commit commit = *report->commit;
    wrong.commit = NULL;
    assert_int_equal(tell(&star.hub, driver_receive(&wrong)), TACIT_FORKED);
    commit.salt[0] ^= 1;
    wrong.commit = &commit;
    assert_int_equal(tell(&star.hub, driver_receive(&wrong)), TACIT_FORKED);
    wrong = *report;
    memcpy(sums, report->sums, sizeof sums);
    sums[1].steps++;
    wrong.sums = sums;
    assert_int_equal(tell(&star.hub, driver_receive(&wrong)), TACIT_FORKED);
    assert_int_equal(driver_hub_view(&star.hub).report_count, 0);
    assert_true(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0));
    assert_int_equal(tell(&star.hub, driver_receive(report)), TACIT_OK);
    assert_int_equal(driver_hub_view(&star.hub).report_count, 1);
    free(report);
    star_close(&star);
}

static void grant_of_a_closed_epoch_asks_for_no_report(void **state)
{
    struct driver_setup setup = granting_setup(2);
    (void)state;
    setup.quorum = 1;
    setup.round_timeout_us = 1000;
    struct star star = star_open(&setup);
    struct driver_core other = driver_agent_open(&setup, 1);
    assert_int_equal(tell(&star.hub, driver_start()), TACIT_OK);
    assert_int_equal(pass(&star.hub, &other), TACIT_OK);
    play(&star.a);
    struct tacit_elim_message *const commit = driver_keep(&star.a);
    play(&other);
    assert_int_equal(pass(&other, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &other), TACIT_OK);
    assert_int_equal(pass(&other, &star.hub), TACIT_OK);
    star.hub.now_us = 1000;
    assert_int_equal(tell(&star.hub, driver_timeout()), TACIT_OK); /* the quorum goes on */
    assert_int_equal(driver_hub_view(&star.hub).epoch, 2);
    assert_int_equal(tell(&star.hub, driver_receive(commit)), TACIT_OK);
    assert_int_equal(said(&star.hub), TACIT_ELIM_GRANT);
    assert_true(star.hub.update.message.closed);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_HELLO);
    assert_int_equal(driver_agent_view(&star.a).release_epoch, 1);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(driver_agent_view(&star.a).epoch, 2);
    free(commit);
    driver_close(&other);
    star_close(&star);
}

/* T is reached while the grant is on its way: the report leaves all the same. */
static void grant_that_comes_at_t_lets_the_report_out(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    (void)state;
    play(&star.a);
    uint64_t const left = setup.horizon - driver_agent_view(&star.a).pull_count;
    struct tacit_elim_message *const commit = driver_keep(&star.a);
    assert_int_equal(tell(&star.a, driver_exploited(left)), TACIT_OK);
    assert_true(driver_agent_view(&star.a).finished);
    assert_true(driver_agent_view(&star.a).committed);
    driver_move(&star.a);
    assert_int_equal(tell(&star.hub, driver_receive(commit)), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(driver_hub_view(&star.hub).report_count, 1);
    free(commit);
    star_close(&star);
}

/* The site gets its grant, reports, and follows the order that comes of it. */
static void finish_round(struct star *star)
{
    assert_int_equal(pass(&star->a, &star->hub), TACIT_OK);
    assert_int_equal(pass(&star->hub, &star->a), TACIT_OK);
    assert_int_equal(pass(&star->a, &star->hub), TACIT_OK);
    assert_int_equal(said(&star->hub), TACIT_ELIM_ORDER);
    assert_int_equal(pass(&star->hub, &star->a), TACIT_OK);
}

/* It waits for a grant that another state had, used, and followed. */
static void copy_that_waits_for_a_grant_that_was_used_is_refused(void **state)
{
    struct driver_setup const setup = granting_setup(1);
    struct star star = star_open(&setup);
    (void)state;
    play(&star.a);
    struct driver_core copy = clone_of(&star.a, 2);
    finish_round(&star);
    play(&star.a);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    struct tacit_elim_message *const grant = driver_keep(&star.hub);
    assert_int_equal(tell(&copy, driver_start()), TACIT_OK);
    assert_int_equal(pass(&copy, &star.hub), TACIT_OK);
    assert_int_equal(said(&star.hub), TACIT_ELIM_REFUSAL);
    assert_false(star.hub.update.persist);
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0)); /* it may be an echo */
    struct tacit_elim_message *const refusal = driver_keep(&star.hub);
    assert_int_equal(tell(&copy, driver_receive(refusal)), TACIT_OK);
    assert_true(driver_agent_view(&copy).blocked);
    driver_expect_nothing(&star.a, driver_receive(refusal), TACIT_OK); /* of an echo */
    assert_int_equal(tell(&star.a, driver_receive(grant)), TACIT_OK);
    assert_int_equal(driver_agent_view(&star.a).release_epoch, 2);
    struct tacit_commit before = *refusal->commit;
    struct tacit_elim_message echo = *refusal;
    before.commitment[7] ^= 1; /* a head of then, which is not the head of now */
    echo.commit = &before;
    driver_expect_nothing(&star.a, driver_receive(&echo), TACIT_OK);
    free(grant);
    free(refusal);
    driver_close(&copy);
    star_close(&star);
}

/* As often as it would say its last report, and once more after each start. */
static void agent_at_t_does_not_ask_for_its_grant_for_ever(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    uint32_t asked = 1;
    (void)state;
    play(&star.a);
    uint64_t const left = setup.horizon - driver_agent_view(&star.a).pull_count;
    assert_int_equal(tell(&star.a, driver_exploited(left)), TACIT_OK);
    for (; star.a.update.deadline_us != TACIT_NEVER && asked < 100; asked++) {
        star.a.now_us = star.a.update.deadline_us;
        assert_int_equal(tell(&star.a, driver_timeout()), TACIT_OK);
        assert_int_equal(said(&star.a), TACIT_ELIM_COMMIT);
    }
    assert_int_equal(asked, 13); /* the first one, and a dozen */
    assert_true(driver_agent_view(&star.a).committed);
    driver_move(&star.a);
    assert_int_equal(tell(&star.a, driver_start()), TACIT_OK);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    star_close(&star);
}

static void hub_reads_the_head_that_a_hello_shows(void **state)
{
    struct driver_setup const setup = granting_setup(1);
    struct star star = star_open(&setup);
    (void)state;
    play(&star.a);
    finish_round(&star);
    assert_int_equal(tell(&star.a, driver_start()), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_HELLO);
    struct tacit_elim_message *const hello = driver_keep(&star.a);
    assert_int_equal(tell(&star.hub, driver_receive(hello)), TACIT_OK);
    play(&star.a);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK); /* the second grant is on its way */
    assert_int_equal(tell(&star.hub, driver_receive(hello)), TACIT_OK);
    assert_int_equal(said(&star.hub), TACIT_ELIM_ORDER);
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0));
    struct tacit_commit other = *hello->commit;
    struct tacit_elim_message wrong = *hello;
    other.commitment[7] ^= 1;
    wrong.commit = &other;
    wrong.epoch = 1; /* how old it is cannot be said */
    assert_int_equal(tell(&star.hub, driver_receive(&wrong)), TACIT_OK);
    wrong.epoch = 2;
    assert_int_equal(tell(&star.hub, driver_receive(&wrong)), TACIT_ROLLBACK);
    assert_int_equal(said(&star.hub), TACIT_ELIM_REFUSAL);
    assert_true(star.hub.update.persist && star.hub.update.message.forgot);
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0)); /* who is old? */
    assert_true(tacit_bits_has(driver_hub_view(&star.hub).ahead, 0));
    assert_int_equal(tell(&star.hub, driver_receive(&wrong)), TACIT_ROLLBACK);
    assert_false(star.hub.update.persist);                /* marked already */
    memset(other.commitment, 0, sizeof other.commitment); /* of a state before its first grant */
    assert_int_equal(tell(&star.hub, driver_receive(&wrong)), TACIT_FORKED);
    assert_int_equal(said(&star.hub), TACIT_ELIM_REFUSAL);
    assert_true(star.hub.update.persist && !star.hub.update.message.forgot);
    assert_true(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0));
    free(hello);
    star_close(&star);
}

/* The site says so before it draws again. */
static void hub_that_has_lost_its_heads_is_told_by_a_hello(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    struct driver_core empty = driver_hub_open(&setup);
    (void)state;
    assert_int_equal(tell(&empty, driver_start()), TACIT_OK);
    play(&star.a);
    finish_round(&star); /* the other one's report is missing: the answer says that this is here */
    star.a.now_us = star.a.update.deadline_us;
    assert_int_equal(tell(&star.a, driver_timeout()), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_HELLO);
    assert_int_equal(pass(&star.a, &empty), TACIT_ROLLBACK);
    assert_false(tacit_bits_has(driver_hub_view(&empty).flagged, 0));
    assert_true(tacit_bits_has(driver_hub_view(&empty).ahead, 0));
    assert_int_equal(pass(&empty, &star.a), TACIT_OK);
    assert_true(driver_agent_view(&star.a).blocked && driver_agent_view(&star.a).forgotten);
    assert_int_equal(tell(&star.a, driver_start()), TACIT_OK);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK); /* the other one is back */
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0));
    driver_close(&empty);
    star_close(&star);
}

/* It died between a report and its answer, and an older state of it was put back: the site, which
 * says its report again, hears that nothing of it is known there. */
static void hub_that_is_behind_answers_a_report_that_is_said_again(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    (void)state;
    struct driver_core backup = driver_copy(&star.hub);
    play(&star.a);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    assert_int_equal(pass(&star.a, &backup), TACIT_ROLLBACK);
    assert_int_equal(said(&backup), TACIT_ELIM_REFUSAL);
    assert_true(backup.update.message.forgot);
    assert_false(tacit_bits_has(driver_hub_view(&backup).flagged, 0));
    assert_true(tacit_bits_has(driver_hub_view(&backup).ahead, 0));
    assert_int_equal(pass(&backup, &star.a), TACIT_OK);
    assert_true(driver_agent_view(&star.a).blocked && driver_agent_view(&star.a).forgotten);
    driver_close(&backup);
    star_close(&star);
}

static void words_about_commitments_that_do_not_fit_are_refused_without_trace(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    static const struct tacit_commit some = {.commitment = {1}};
    struct tacit_elim_message word = {.kind = TACIT_ELIM_GRANT,
                                      .from = TACIT_HUB,
                                      .to = 0,
                                      .run_id = DRIVER_RUN_ID,
                                      .epoch = 1,
                                      .commit = &some};
    (void)state;
    play(&star.a);
    driver_expect_nothing(&star.hub, driver_receive(&word), TACIT_STRANGER);
    word.run_id++;
    driver_expect_nothing(&star.a, driver_receive(&word), TACIT_STRANGER);
    word.run_id--;
    word.to = TACIT_EVERYONE;
    driver_expect_nothing(&star.a, driver_receive(&word), TACIT_STRANGER);
    word.to = 0;
    word.from = 1;
    driver_expect_nothing(&star.a, driver_receive(&word), TACIT_STRANGER);
    word.from = TACIT_HUB;
    word.commit = NULL;
    driver_expect_nothing(&star.a, driver_receive(&word), TACIT_MALFORMED);
    word.kind = TACIT_ELIM_COMMIT;
    word.commit = &some;
    driver_expect_nothing(&star.a, driver_receive(&word), TACIT_UNEXPECTED);
    word.from = 0;
    word.to = TACIT_HUB;
    word.commit = NULL;
    driver_expect_nothing(&star.hub, driver_receive(&word), TACIT_MALFORMED);
    word.commit = &some;
    word.epoch = 0;
    driver_expect_nothing(&star.hub, driver_receive(&word), TACIT_MALFORMED);
    star_close(&star);
}

/* ---- Terms ---- */

static struct tacit_elim_event start_of_term(uint64_t term)
{
    return (struct tacit_elim_event){.kind = TACIT_EVENT_START, .as.term = term};
}

/* The hub has lost everything; it begins a term. */
static struct driver_core hub_without_memory(const struct driver_setup *setup, uint64_t term)
{
    struct driver_core hub = driver_hub_open(setup);
    assert_int_equal(tell(&hub, start_of_term(term)), TACIT_OK);
    assert_int_equal(driver_hub_view(&hub).term, term);
    assert_true(hub.update.persist);
    return hub;
}

/* The exact sums are nowhere in its bytes any more, the draw that waited is never shown, and all
 * that the order says is pulled anew. */
static void new_term_drops_what_was_not_granted(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    (void)state;
    play(&star.a);
    uint64_t const planned = driver_agent_view(&star.a).pull_count;
    struct tacit_elim_message *const commit = driver_keep(&star.a);
    struct driver_core hub = hub_without_memory(&setup, 1);
    struct tacit_elim_message *const order = driver_keep(&hub);
    driver_expect_nothing(&hub, driver_receive(commit), TACIT_STRANGER); /* of the term before */
    assert_int_equal(tell(&star.a, start_of_term(1)), TACIT_OK);
    struct tacit_elim_agent_view view = driver_agent_view(&star.a);
    assert_true(star.a.update.persist && view.waiting && !view.committed);
    assert_int_equal(view.draw_number, 1); /* drawn and charged; its number is not used again */
    assert_int_equal(view.release_number, 0);
    assert_int_equal(view.ledger->release_count, 1);
    struct tacit_elim_message late = {.kind = TACIT_ELIM_GRANT,
                                      .from = TACIT_HUB,
                                      .to = 0,
                                      .run_id = DRIVER_RUN_ID,
                                      .epoch = 1,
                                      .commit = commit->commit};
    driver_expect_nothing(&star.a, driver_receive(&late), TACIT_STRANGER);
    assert_int_equal(tell(&star.a, driver_receive(order)), TACIT_OK);
    free(order);
    assert_int_equal(driver_plan_length(&star.a), planned); /* every pull again */
    play(&star.a);
    assert_int_equal(driver_agent_view(&star.a).draw_number, 2);
    assert_int_equal(said(&star.a), TACIT_ELIM_COMMIT);
    assert_memory_not_equal(star.a.update.message.commit->commitment, commit->commit->commitment,
                            TACIT_SHA256_BYTES);
    assert_int_equal(pass(&star.a, &hub), TACIT_OK);
    assert_int_equal(said(&hub), TACIT_ELIM_GRANT);
    assert_int_equal(pass(&hub, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    assert_int_equal(driver_agent_view(&star.a).release_number, 2);
    assert_int_equal(pass(&star.a, &hub), TACIT_OK);
    assert_int_equal(driver_hub_view(&hub).report_count, 1);
    free(commit);
    driver_close(&hub);
    star_close(&star);
}

/* The hub has an older state, of the epoch in which the sites are: their reports are said again,
 * byte for byte, and are taken by what opens them. */
static void new_term_takes_a_release_that_was_granted_before(void **state)
{
    struct driver_setup const setup = granting_setup(2);
    struct star star = star_open(&setup);
    (void)state;
    struct driver_core backup = driver_copy(&star.hub);
    play(&star.a);
    assert_int_equal(pass(&star.a, &star.hub), TACIT_OK);
    assert_int_equal(pass(&star.hub, &star.a), TACIT_OK);
    struct tacit_elim_message *const report = driver_keep(&star.a);
    struct driver_core clone = clone_of(&star.a, 3);
    assert_int_equal(tell(&backup, start_of_term(5)), TACIT_OK);
    assert_int_equal(tell(&star.a, start_of_term(5)), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_HELLO);
    assert_int_equal(star.a.update.message.epoch, 0); /* no order of this term */
    assert_int_equal(pass(&star.a, &backup), TACIT_OK);
    assert_false(tacit_bits_has(driver_hub_view(&backup).flagged, 0));
    assert_int_equal(pass(&backup, &star.a), TACIT_OK);
    assert_int_equal(said(&star.a), TACIT_ELIM_REPORT);
    assert_int_equal(star.a.update.message.term, 5);
    report->term = 5;
    driver_expect_same(&star.a, &star.a.update.message, report);
    assert_int_equal(driver_agent_view(&star.a).ledger->release_count, 1);
    assert_int_equal(pass(&star.a, &backup), TACIT_OK);
    assert_int_equal(driver_hub_view(&backup).report_count, 1);
    /* From now on its head is known: a forged report of it is none. */
    struct tacit_commit forged = *report->commit;
    forged.previous[0] ^= 1;
    report->commit = &forged;
    assert_int_equal(tell(&backup, driver_receive(report)), TACIT_ROLLBACK);
    assert_true(tacit_bits_has(driver_hub_view(&backup).ahead, 0));
    driver_close(&clone);
    free(report);
    driver_close(&backup);
    star_close(&star);
}

/* A hub that is behind the sites: they begin anew, and the run goes on to its end. */
static void new_term_of_a_hub_that_is_behind_pulls_anew(void **state)
{
    struct driver_setup const setup = granting_setup(1);
    struct star star = star_open(&setup);
    (void)state;
    play(&star.a);
    finish_round(&star);
    play(&star.a);
    finish_round(&star);
    assert_int_equal(driver_agent_view(&star.a).epoch, 3);
    struct driver_core hub = hub_without_memory(&setup, 1);
    struct tacit_elim_message *const order = driver_keep(&hub);
    assert_int_equal(tell(&star.a, start_of_term(1)), TACIT_OK);
    assert_int_equal(tell(&star.a, driver_receive(order)), TACIT_OK);
    struct tacit_elim_agent_view const view = driver_agent_view(&star.a);
    assert_int_equal(view.epoch, 1);
    assert_int_equal(view.release_epoch, 0);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        assert_int_equal(view.noised[arm].steps, 0);
    driver_close(&star.hub);
    star.hub = hub;
    for (uint32_t epoch = 1; epoch <= 2; epoch++) {
        play(&star.a);
        assert_int_equal(driver_agent_view(&star.a).draw_number, 2 + epoch);
        finish_round(&star);
    }
    assert_int_equal(driver_hub_view(&star.hub).round_count, 2);
    assert_int_equal(driver_agent_view(&star.a).epoch, 3);
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).flagged, 0));
    free(order);
    star_close(&star);
}

/* A site that is ahead in epoch or term tells a hub that its state is old. */
static void hub_that_is_behind_hears_so_and_grants_nothing(void **state)
{
    struct driver_setup const setup = granting_setup(1);
    struct star star = star_open(&setup);
    struct driver_core empty = driver_hub_open(&setup);
    (void)state;
    assert_int_equal(tell(&empty, driver_start()), TACIT_OK);
    play(&star.a);
    finish_round(&star);
    play(&star.a);
    struct tacit_elim_message *const commit = driver_keep(&star.a);
    driver_expect_nothing(&empty, driver_receive(commit), TACIT_ROLLBACK);
    commit->epoch = 1;
    commit->term = 1;
    driver_expect_nothing(&empty, driver_receive(commit), TACIT_ROLLBACK);
    free(commit);
    driver_close(&empty);
    star_close(&star);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_uses_a_draw_before_its_grant),
        cmocka_unit_test(after_the_draw_no_exact_sum_is_left),
        cmocka_unit_test(grants_change_no_result),
        cmocka_unit_test(second_of_two_clones_is_refused_and_shown),
        cmocka_unit_test(clone_that_skips_to_the_next_epoch_is_refused),
        cmocka_unit_test(report_that_does_not_open_its_grant_is_kept_apart),
        cmocka_unit_test(grant_of_a_closed_epoch_asks_for_no_report),
        cmocka_unit_test(grant_that_comes_at_t_lets_the_report_out),
        cmocka_unit_test(copy_that_waits_for_a_grant_that_was_used_is_refused),
        cmocka_unit_test(agent_at_t_does_not_ask_for_its_grant_for_ever),
        cmocka_unit_test(hub_reads_the_head_that_a_hello_shows),
        cmocka_unit_test(hub_that_has_lost_its_heads_is_told_by_a_hello),
        cmocka_unit_test(hub_that_is_behind_answers_a_report_that_is_said_again),
        cmocka_unit_test(words_about_commitments_that_do_not_fit_are_refused_without_trace),
        cmocka_unit_test(new_term_drops_what_was_not_granted),
        cmocka_unit_test(new_term_takes_a_release_that_was_granted_before),
        cmocka_unit_test(new_term_of_a_hub_that_is_behind_pulls_anew),
        cmocka_unit_test(hub_that_is_behind_hears_so_and_grants_nothing),
    };
    int const failed = digest_end(argc, cmocka_run_group_tests(tests, NULL, NULL), DIGEST);
    return damage_end(argc, failed, VERDICTS);
}

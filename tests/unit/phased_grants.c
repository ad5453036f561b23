/* Commit, grant, reveal in the cores of play in phases: nothing uses a draw before its grant;
 * whatever is copied, restored, cloned, lost or repeated, each reward enters at most one draw of
 * which anything leaves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/phased_driver.h"

/* Of all steps below: digest.h. */
#define DIGEST UINT64_C(0x1949ab82b599a38a)
/* Verdicts over damaged states: damage.h. */
#define VERDICTS UINT64_C(0x3f609a41cbdfd69e)

#define ARMS 3u

static double const means[ARMS] = {0.75, 0.5, 0.25};

static struct phased_setup granting_setup(uint32_t agents)
{
    return (struct phased_setup){.schedule = {.arm_count = ARMS,
                                              .agent_count = agents,
                                              .horizon = 10000,
                                              .epsilon_per_reward = 1,
                                              .growth = 2,
                                              .arms_per_round = 3},
                                 .means = means,
                                 .seed = 5,
                                 .budget_nano = TACIT_NANO,
                                 .has_grants = true,
                                 .answers_all = true};
}

/* What `from` said last, to `to`. */
static enum tacit_status pass(struct phased_core *from, struct phased_core *to)
{
    struct tacit_phased_message *const kept = phased_keep(from);
    enum tacit_status const status = phased_step(to, phased_receive(kept));
    free(kept);
    return status;
}

static enum tacit_phased_message_kind said(const struct phased_core *core)
{
    assert_true(core->update.send);
    return core->update.message.kind;
}

struct star {
    struct phased_core *hub;
    struct phased_core *a; /* site 0, in its first plan */
};

static struct star star_new(const struct phased_setup *setup)
{
    struct star const star = {phased_hub_new(setup), phased_agent_new(setup, 0)};
    assert_int_equal(phased_step(star.a, phased_start()), TACIT_OK);
    assert_int_equal(phased_step(star.hub, phased_start()), TACIT_OK);
    assert_int_equal(pass(star.hub, star.a), TACIT_OK);
    assert_int_equal(star.a->update.plan_count, ARMS);
    return star;
}

static void star_free(struct star *star)
{
    phased_free(star->hub);
    phased_free(star->a);
}

/* Another process with the same bytes; it draws other noise. */
static struct phased_core *clone_of(const struct phased_core *core)
{
    struct phased_core *const clone = malloc(sizeof *clone);
    *clone = *core;
    clone->state = malloc(core->size);
    memcpy(clone->state, core->state, core->size);
    clone->noise = tacit_rng_stream(77, 0, 0, TACIT_PURPOSE_NOISE);
    return clone;
}

/* To the end of the round: commit, grant, report. */
static void finish_round(struct star *star)
{
    assert_int_equal(phased_play(star->a), TACIT_OK);
    assert_int_equal(said(star->a), TACIT_PHASED_COMMIT);
    assert_int_equal(pass(star->a, star->hub), TACIT_OK);
    assert_int_equal(said(star->hub), TACIT_PHASED_GRANT);
    assert_int_equal(pass(star->hub, star->a), TACIT_OK);
    assert_int_equal(said(star->a), TACIT_PHASED_REPORT);
    assert_int_equal(pass(star->a, star->hub), TACIT_OK);
}

static bool holds(const struct phased_core *core, int64_t sum)
{
    return memmem(core->state, core->size, &sum, sizeof sum) != NULL;
}

/* The step that draws erases what it drew from: no bytes of the state are an exact sum, neither
 * then nor when it is granted and reported. Until then they are there: so the search finds them. */
static void after_the_draw_no_exact_sum_is_left(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    struct tacit_pull_block plan[ARMS];
    int64_t sums[ARMS];
    (void)state;
    memcpy(plan, star.a->update.plan, sizeof plan);
    for (uint32_t i = 0; i < ARMS; i++) {
        sums[i] = (int64_t)plan[i].count * (700001 + 1009 * (int64_t)i);
        assert_int_equal(phased_step(star.a, phased_reward(plan[i].arm, plan[i].count, sums[i])),
                         TACIT_OK);
        assert_true(holds(star.a, sums[i]) == (i + 1 < ARMS));
    }
    for (uint32_t i = 0; i < ARMS; i++)
        assert_false(holds(star.a, sums[i]));
    assert_int_equal(pass(star.a, star.hub), TACIT_OK);
    assert_int_equal(pass(star.hub, star.a), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_REPORT);
    for (uint32_t i = 0; i < ARMS; i++)
        assert_false(holds(star.a, sums[i]));
    star_free(&star);
}

static void nothing_uses_a_draw_before_its_grant(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    struct tacit_pull_block const later[] = {{1, 9}};
    (void)state;
    assert_int_equal(phased_play(star.a), TACIT_OK);
    struct tacit_phased_agent_view view = phased_agent_view(star.a);
    assert_int_equal(said(star.a), TACIT_PHASED_COMMIT);
    struct tacit_phased_message *const commit = phased_keep(star.a);
    assert_true(star.a->update.persist);
    assert_true(view.committed && view.waiting && !view.blocked);
    assert_int_equal(view.draw_round, 1);
    assert_int_equal(view.release_round, 0);
    assert_null(view.noised);
    assert_int_equal(view.exploit_arm, 0);
    assert_int_equal(view.ledger->release_count, 1); /* charged when drawn */
    struct tacit_phased_message const order = {.kind = TACIT_PHASED_ORDER,
                                               .from = TACIT_HUB,
                                               .to = TACIT_EVERYONE,
                                               .run_id = PHASED_RUN_ID,
                                               .round = 2,
                                               .leader = 1,
                                               .block_count = 1,
                                               .blocks = later};
    phased_expect_nothing(star.a, phased_receive(&order), TACIT_UNEXPECTED); /* it overtakes */
    struct tacit_phased_message const kept = tacit_phased_agent_draw(star.a->state);
    assert_int_equal(kept.kind, TACIT_PHASED_REPORT);
    for (uint32_t i = 0; i < 3; i++) { /* asked again, with the same bytes; also after a crash */
        star.a->now_us = star.a->update.deadline_us;
        assert_int_equal(phased_step(star.a, phased_timeout()), TACIT_OK);
        assert_int_equal(said(star.a), TACIT_PHASED_COMMIT);
        assert_memory_equal(star.a->update.message.commit, commit->commit, sizeof *commit->commit);
        phased_move(star.a);
        assert_int_equal(phased_step(star.a, phased_start()), TACIT_OK);
        assert_int_equal(said(star.a), TACIT_PHASED_COMMIT);
    }
    assert_int_equal(pass(star.a, star.hub), TACIT_OK);
    assert_true(star.hub->update.persist);
    assert_false(star.hub->update.message.closed);
    assert_int_equal(pass(star.hub, star.a), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_REPORT);
    view = phased_agent_view(star.a);
    assert_int_equal(view.release_round, 1);
    assert_memory_equal(view.head, commit->commit->commitment, TACIT_SHA256_BYTES);
    assert_int_equal(pass(star.a, star.hub), TACIT_OK);
    assert_int_equal(phased_hub_view(star.hub).report_count, 1);
    assert_false(tacit_bits_has(phased_hub_view(star.hub).flagged, 0));
    free(commit);
    star_free(&star);
}

static void of_two_clones_one_is_granted_and_the_other_says_nothing(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    struct phased_core *const clone = clone_of(star.a);
    (void)state;
    finish_round(&star);
    assert_int_equal(phased_play(clone), TACIT_OK);
    assert_int_equal(said(clone), TACIT_PHASED_COMMIT);
    assert_int_equal(pass(clone, star.hub), TACIT_FORKED);
    assert_int_equal(said(star.hub), TACIT_PHASED_REFUSAL);
    assert_true(star.hub->update.persist);
    assert_true(tacit_bits_has(phased_hub_view(star.hub).flagged, 0));
    assert_int_equal(pass(star.hub, clone), TACIT_OK);
    assert_false(clone->update.send);
    assert_true(phased_agent_view(clone).blocked);
    assert_int_equal(phased_agent_view(clone).release_round, 0);
    clone->now_us = clone->update.deadline_us; /* it asks on, and gets the same answer */
    assert_int_equal(phased_step(clone, phased_timeout()), TACIT_OK);
    assert_int_equal(said(clone), TACIT_PHASED_COMMIT);
    assert_int_equal(pass(clone, star.hub), TACIT_FORKED);
    assert_int_equal(phased_hub_view(star.hub).report_count, 1);
    phased_free(clone);
    star_free(&star);
}

static void a_backup_of_an_earlier_round_is_not_granted(void **state)
{
    struct phased_setup const setup = granting_setup(1);
    struct star star = star_new(&setup);
    struct phased_core *const backup = clone_of(star.a);
    (void)state;
    finish_round(&star); /* one site: the round is over */
    assert_int_equal(phased_hub_view(star.hub).judge.round, 2);
    /* The order overtakes in the restored state: it plays the second plan, with its first rewards
     * dropped, and commits to a draw that follows nothing. */
    assert_int_equal(pass(star.hub, backup), TACIT_OK);
    assert_int_equal(phased_play(backup), TACIT_OK);
    assert_int_equal(said(backup), TACIT_PHASED_COMMIT);
    assert_int_equal(pass(backup, star.hub), TACIT_FORKED);
    assert_int_equal(said(star.hub), TACIT_PHASED_REFUSAL);
    phased_free(backup);
    star_free(&star);
}

static void a_grant_that_comes_after_the_round_brings_no_report(void **state)
{
    struct phased_setup setup = granting_setup(2);
    setup.quorum = 1;
    setup.round_timeout_us = 1000;
    struct star star = star_new(&setup);
    struct phased_core *const other = phased_agent_new(&setup, 1);
    (void)state;
    assert_int_equal(phased_step(star.hub, phased_start()), TACIT_OK);
    assert_int_equal(pass(star.hub, other), TACIT_OK);
    assert_int_equal(phased_play(other), TACIT_OK);
    assert_int_equal(pass(other, star.hub), TACIT_OK);
    assert_int_equal(pass(star.hub, other), TACIT_OK);
    assert_int_equal(pass(other, star.hub), TACIT_OK);
    star.hub->now_us = 1000;
    assert_int_equal(phased_step(star.hub, phased_timeout()), TACIT_OK);
    assert_int_equal(phased_hub_view(star.hub).judge.round, 2);
    assert_int_equal(phased_play(star.a), TACIT_OK);
    assert_int_equal(pass(star.a, star.hub), TACIT_OK);
    assert_int_equal(said(star.hub), TACIT_PHASED_GRANT);
    assert_true(star.hub->update.message.closed);
    assert_int_equal(pass(star.hub, star.a), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_HELLO); /* there is a newer order */
    assert_int_equal(phased_agent_view(star.a).release_round, 1);
    assert_int_equal(pass(star.a, star.hub), TACIT_OK);
    assert_int_equal(pass(star.hub, star.a), TACIT_OK);
    assert_int_equal(phased_agent_view(star.a).round, 2);
    phased_free(other);
    star_free(&star);
}

static void a_report_that_does_not_open_its_grant_is_kept_apart(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    (void)state;
    assert_int_equal(phased_play(star.a), TACIT_OK);
    assert_int_equal(pass(star.a, star.hub), TACIT_OK);
    assert_int_equal(pass(star.hub, star.a), TACIT_OK);
    struct tacit_phased_message *const report = phased_keep(star.a);
    struct tacit_phased_message forged = *report;
    int64_t sums[ARMS];
    memcpy(sums, report->sums, sizeof sums);
    sums[1]++;
    forged.sums = sums;
    assert_int_equal(phased_step(star.hub, phased_receive(&forged)), TACIT_FORKED);
    forged.commit = NULL;
    forged.sums = report->sums;
    assert_int_equal(phased_step(star.hub, phased_receive(&forged)), TACIT_FORKED);
    assert_true(tacit_bits_has(phased_hub_view(star.hub).flagged, 0));
    assert_int_equal(phased_hub_view(star.hub).report_count, 0);
    assert_int_equal(phased_step(star.hub, phased_receive(report)), TACIT_OK);
    assert_int_equal(phased_hub_view(star.hub).report_count, 1);
    free(report);
    star_free(&star);
}

/* T comes while a draw waits: the release is settled all the same. */
static void a_draw_that_waits_at_T_is_granted_and_reported(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    (void)state;
    assert_int_equal(phased_play(star.a), TACIT_OK);
    struct tacit_phased_message *const commit = phased_keep(star.a);
    uint64_t const left = setup.schedule.horizon - phased_agent_view(star.a).pull_count;
    assert_int_equal(phased_step(star.a, phased_exploited(left)), TACIT_OK);
    assert_true(phased_agent_view(star.a).finished && phased_agent_view(star.a).committed);
    assert_int_equal(phased_step(star.hub, phased_receive(commit)), TACIT_OK);
    assert_int_equal(pass(star.hub, star.a), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_REPORT);
    assert_true(phased_agent_view(star.a).finished && !phased_agent_view(star.a).committed);
    free(commit);
    star_free(&star);
}

static void answers_that_are_about_something_else_change_nothing(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    (void)state;
    assert_int_equal(phased_play(star.a), TACIT_OK);
    struct tacit_phased_message *const commit = phased_keep(star.a);
    struct tacit_commit other = *commit->commit;
    other.commitment[3] ^= 1;
    struct tacit_phased_message word = {.kind = TACIT_PHASED_GRANT,
                                        .from = TACIT_HUB,
                                        .to = 0,
                                        .run_id = PHASED_RUN_ID,
                                        .round = 1,
                                        .commit = &other};
    phased_expect_nothing(star.a, phased_receive(&word), TACIT_OK); /* of another draw */
    word.commit = NULL;
    phased_expect_nothing(star.a, phased_receive(&word), TACIT_MALFORMED);
    word.commit = commit->commit;
    word.from = 1;
    phased_expect_nothing(star.a, phased_receive(&word), TACIT_STRANGER);
    word.from = TACIT_HUB;
    word.to = TACIT_EVERYONE;
    phased_expect_nothing(star.a, phased_receive(&word), TACIT_STRANGER);
    word.to = 0;
    word.kind = TACIT_PHASED_REFUSAL; /* of what it asks for: the hub says it granted it */
    phased_expect_nothing(star.a, phased_receive(&word), TACIT_OK);
    phased_expect_nothing(star.a, phased_receive(commit), TACIT_UNEXPECTED);
    struct tacit_commit const nothing = {.salt = {1}};
    struct tacit_phased_message ask = *commit;
    ask.commit = NULL;
    phased_expect_nothing(star.hub, phased_receive(&ask), TACIT_MALFORMED);
    ask.commit = commit->commit;
    ask.round = 0;
    phased_expect_nothing(star.hub, phased_receive(&ask), TACIT_MALFORMED);
    ask.round = 1;
    ask.from = 2;
    phased_expect_nothing(star.hub, phased_receive(&ask), TACIT_STRANGER);
    ask.from = 1;
    ask.commit = &nothing;
    assert_int_equal(phased_step(star.hub, phased_receive(&ask)), TACIT_FORKED);
    free(commit);
    star_free(&star);
}

/* The hub is put back to before a grant that it gave: its report comes again. */
static void a_hub_that_is_put_back_flags_nobody(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    struct phased_core *const old = clone_of(star.hub);
    (void)state;
    finish_round(&star);
    star.a->now_us = star.a->update.deadline_us;
    assert_int_equal(phased_step(star.a, phased_timeout()), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_REPORT);
    assert_int_equal(pass(star.a, old), TACIT_ROLLBACK);
    assert_int_equal(said(old), TACIT_PHASED_REFUSAL);
    assert_true(old->update.persist && old->update.message.forgot);
    assert_true(tacit_bits_has(phased_hub_view(old).ahead, 0));
    assert_false(tacit_bits_has(phased_hub_view(old).flagged, 0));
    assert_int_equal(phased_hub_view(old).report_count, 0);
    assert_int_equal(pass(old, star.a), TACIT_OK);
    assert_true(phased_agent_view(star.a).forgotten);
    phased_free(old);
    star_free(&star);
}

/* What was never granted here was granted by another state of this hub: nobody is blamed. */
static void a_hello_that_shows_a_head_of_no_grant_marks_the_site_as_ahead(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    (void)state;
    assert_int_equal(phased_step(star.a, phased_start()), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_HELLO);
    struct tacit_phased_message *const hello = phased_keep(star.a);
    assert_int_equal(phased_step(star.hub, phased_receive(hello)), TACIT_OK);
    assert_int_equal(said(star.hub), TACIT_PHASED_ORDER);
    struct tacit_commit other = *hello->commit;
    other.commitment[5] ^= 4;
    struct tacit_phased_message lie = *hello;
    lie.commit = &other;
    assert_int_equal(phased_step(star.hub, phased_receive(&lie)), TACIT_ROLLBACK);
    assert_int_equal(said(star.hub), TACIT_PHASED_REFUSAL);
    assert_true(star.hub->update.message.forgot);
    assert_true(tacit_bits_has(phased_hub_view(star.hub).ahead, 0));
    assert_false(tacit_bits_has(phased_hub_view(star.hub).flagged, 0));
    free(hello);
    star_free(&star);
}

/* The hub may be gone for good. */
static void a_draw_that_waits_at_T_is_asked_for_only_so_often(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    uint32_t asked = 0;
    (void)state;
    assert_int_equal(phased_play(star.a), TACIT_OK);
    uint64_t const left = setup.schedule.horizon - phased_agent_view(star.a).pull_count;
    assert_int_equal(phased_step(star.a, phased_exploited(left)), TACIT_OK);
    while (star.a->update.deadline_us != TACIT_NEVER && asked < 100) {
        star.a->now_us = star.a->update.deadline_us;
        assert_int_equal(phased_step(star.a, phased_timeout()), TACIT_OK);
        asked += star.a->update.send ? 1 : 0;
    }
    assert_in_range(asked, 5, 20);
    star_free(&star);
}

static void entropy_that_fails_commits_to_nothing(void **state)
{
    struct phased_setup const setup = granting_setup(2);
    struct star star = star_new(&setup);
    (void)state;
    star.a->entropy_fails = true;
    assert_int_equal(phased_play(star.a), TACIT_ENTROPY);
    assert_true(phased_agent_view(star.a).releasing);
    assert_int_equal(phased_agent_view(star.a).ledger->release_count, 0);
    star.a->entropy_fails = false;
    star.a->now_us = star.a->update.deadline_us;
    assert_int_equal(phased_step(star.a, phased_timeout()), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_COMMIT);
    star_free(&star);
}

static void without_grants_the_words_of_grants_are_not_expected(void **state)
{
    struct phased_setup const granting = granting_setup(2);
    struct phased_setup setup = granting;
    struct star with = star_new(&granting);
    setup.has_grants = false;
    struct star star = star_new(&setup);
    (void)state;
    assert_int_equal(phased_play(with.a), TACIT_OK);
    struct tacit_phased_message *const commit = phased_keep(with.a);
    phased_expect_nothing(star.hub, phased_receive(commit), TACIT_UNEXPECTED);
    assert_int_equal(pass(with.a, with.hub), TACIT_OK);
    assert_int_equal(said(with.hub), TACIT_PHASED_GRANT);
    struct tacit_phased_message *const grant = phased_keep(with.hub);
    struct phased_core *const agent = clone_of(star.a);
    phased_expect_nothing(agent, phased_receive(grant), TACIT_UNEXPECTED);
    phased_free(agent);
    assert_int_equal(phased_play(star.a), TACIT_OK);
    assert_int_equal(said(star.a), TACIT_PHASED_REPORT);
    assert_null(star.a->update.message.commit);
    assert_null(phased_hub_view(star.hub).flagged);
    free(commit);
    free(grant);
    star_free(&with);
    star_free(&star);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_uses_a_draw_before_its_grant),
        cmocka_unit_test(after_the_draw_no_exact_sum_is_left),
        cmocka_unit_test(of_two_clones_one_is_granted_and_the_other_says_nothing),
        cmocka_unit_test(a_backup_of_an_earlier_round_is_not_granted),
        cmocka_unit_test(a_grant_that_comes_after_the_round_brings_no_report),
        cmocka_unit_test(a_report_that_does_not_open_its_grant_is_kept_apart),
        cmocka_unit_test(a_draw_that_waits_at_T_is_granted_and_reported),
        cmocka_unit_test(answers_that_are_about_something_else_change_nothing),
        cmocka_unit_test(a_hub_that_is_put_back_flags_nobody),
        cmocka_unit_test(a_hello_that_shows_a_head_of_no_grant_marks_the_site_as_ahead),
        cmocka_unit_test(a_draw_that_waits_at_T_is_asked_for_only_so_often),
        cmocka_unit_test(entropy_that_fails_commits_to_nothing),
        cmocka_unit_test(without_grants_the_words_of_grants_are_not_expected),
    };
    int const failed = digest_end(argc, cmocka_run_group_tests(tests, NULL, NULL), DIGEST);
    return damage_end(argc, failed, VERDICTS);
}

/* Votes through the real program: what is wrong is said with its place; runs are the same on any
 * number of threads; the paper's own numbers come out. */
#include <math.h>
#include "../support/testing.h"
#include "../support/on_file.h"

static int open_folder(void **state)
{
    on_file_open("votes.yaml",
                 "name: votes\nseed: 4\nruns: 6\nhorizon: 100000000\n"
                 "environment: {kind: bernoulli, means: means.csv}\nagents: 64\n"
                 "network: {kind: broadcast}\n"
                 "protocol: {kind: votes, subroutine: ser3, epsilon: 0.25, eta: 0.9}\n"
                 "privacy: {mode: paper}\n");
    on_file_write("means.csv", "0.7,0.5,0.3,0.1,0.1,0.1,0.1,0.1,0.1,0.1\n");
    return 0;
}

TEST_WITH(wrong_keys_are_refused_in_words, open_folder, temp_folder_remove)
{
    static const struct {
        const char *setting;
        const char *says;
    } wrong[] = {
        {"--set=protocol.subroutine=ser5", "ser3"},
        {"--set=protocol.reset=0.1", "belongs to subroutine: ser4"},
        {"--set=protocol.votes=committe", "allowed: floor, committee, binomial, cheapest"},
        {"--set=protocol.votes=cheapest", "follows from votes: cheapest"},
        {"--set=protocol.sharing=none", "belongs to sharing: votes"},
        {"--set=protocol.liars=64", "fewer than there are"},
        {"--set=privacy.epsilon=1", "have no epsilon"},
        {"--set=privacy.mode=sound", "privacy.epsilon"},
        {"--set=privacy={mode: sound, epsilon: 1}", "allowed in mode sound: successive"},
        {"--set=protocol.sharing=sums", "belongs to sharing: votes"},
        {"--set=network.kind=star", "allowed: broadcast"},
        {"--set=environment.drift={per_sample: 2}", "a number from -1 to 1"},
        {"--set=activation={kind: groups}", "belongs to kind: groups"},
        {"--set=activation={kind: groups, groups: [{share: 0.5, events: 0.5}]}", "must sum to 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct process_result result =
            on_file_run("check", (const char *const[]){wrong[i].setting, NULL});
        on_file_expect_wrong(result, wrong[i].setting, wrong[i].says);
    }
}

TEST_WITH(a_committee_needs_its_members, open_folder, temp_folder_remove)
{
    struct process_result result = on_file_run(
        "check", (const char *const[]){"--set=agents=20", "--set=protocol.votes=committee", NULL});
    assert_int_equal(result.code, 2);
    assert_non_null(strstr(result.err, "a committee of 29 is needed and there are 20 agents"));
}

TEST_WITH(check_says_what_the_votes_are_worth, open_folder, temp_folder_remove)
{
    struct process_result result = on_file_run("check", (const char *const[]){NULL});
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "not a privacy level"));
    assert_non_null(strstr(result.out, "28 of 64 players"));
    assert_non_null(strstr(result.out, "0.05233")); /* 0.9^28 */
    assert_non_null(strstr(result.out, "(not kept)"));
    assert_non_null(strstr(result.out, "at most 279 (Theorem 1: m K - 1)"));
    result = on_file_run("check", (const char *const[]){"--set=protocol.votes=binomial", NULL});
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "62 of 64 players"));
    assert_null(strstr(result.out, "(not kept)"));
}

/* p* = 1/64; ser3 alone at eta = 0.9 needs T_Py = 10 tau, tau the first with 2 alpha <= 2 epsilon.
 * Corollaries: (10/(28 e^2) ln 20 + sqrt(ln 20 / 2)) 64 and
 * (10/e^2 (ln 10 + ln 20 / 28) + sqrt(ln 20 / 2)) 64 with e = 0.25, by a pocket calculator. */
TEST_WITH(check_prints_the_theorems_and_the_cheapest_votes, open_folder, temp_folder_remove)
{
    struct process_result result = on_file_run("check", (const char *const[]){NULL});
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "p*        0.01562"));
    double samples = 0;
    char const *const theorem = strstr(result.out, "Theorem 2     T = (T_Py + 1.22)/p* = ");
    assert_non_null(theorem);
    assert_int_equal(sscanf(theorem, "Theorem 2     T = (T_Py + 1.22)/p* = %lf", &samples), 1);
    assert_true(fabs(samples - 64 * (1050 + 1.224)) < 50); /* four digits */
    /* (1 - delta)(1 - I)^28; a count of mean T_Py + 1.22 is at most T_Py in nearly half of the
     * cases. */
    double chance = 0;
    char const *const above = strstr(result.out, "with probability above ");
    assert_non_null(above);
    assert_int_equal(sscanf(above, "with probability above %lf", &chance), 1);
    assert_true(fabs(log(chance / (0.95 * pow(0.507, 28)))) < 0.2);
    assert_non_null(strstr(result.out, "lacks a factor T"));
    assert_non_null(strstr(result.out, "Corollary 1   1174 samples"));
    assert_non_null(strstr(result.out, "Corollary 2   2.475e+04 samples"));
    char const *const cheapest = strstr(result.out, "cheapest  ");
    assert_non_null(cheapest);
    unsigned votes = 0;
    double eta = 0;
    assert_int_equal(sscanf(cheapest, "cheapest  %u of 64 players with eta %lf", &votes, &eta), 2);
    assert_in_range(votes, 1, 64);
    assert_true(eta > 0 && eta < 1);
}

TEST_WITH(resets_need_an_accuracy_that_theorem_4_speaks_of, open_folder, temp_folder_remove)
{
    struct process_result result = on_file_run(
        "check",
        (const char *const[]){"--set=protocol={kind: votes, subroutine: ser4, reset: 1e-5, "
                              "eta: 0.9, epsilon: 0.0899}",
                              NULL});
    assert_int_equal(result.code, 2);
    assert_non_null(strstr(result.err, "protocol.epsilon"));
    assert_non_null(strstr(result.err, "below eta/K = 0.09"));
    result = on_file_run(
        "check", (const char *const[]){"--set=protocol={kind: votes, subroutine: ser4, reset: "
                                       "1e-5, eta: 0.9, epsilon: 0.09}",
                                       NULL});
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "phi T (m K - 1) = 2.79e+05 messages"));
}

static double metric(const char *text, const char *name)
{
    json_t *const root = json_loads(text, 0, NULL);
    assert_non_null(root);
    double const mean = on_file_metric(root, name);
    json_decref(root);
    return mean;
}

TEST_WITH(runs_do_not_depend_on_threads, open_folder, temp_folder_remove)
{
    struct process_result const one =
        on_file_run("run", (const char *const[]){"--json", "--quiet", "--threads=1", NULL});
    struct process_result const two =
        on_file_run("run", (const char *const[]){"--json", "--quiet", "--threads=2", NULL});
    assert_int_equal(one.code, 0);
    assert_string_equal(one.out, two.out);
    assert_true(metric(one.out, "messages") <= 279);
    assert_true(metric(one.out, "best_arm_fraction") == 1);
    assert_true(metric(one.out, "samples_vote") <= metric(one.out, "samples"));
}

/* All of the horizon, not only the samples until the players have ended: the means of Problem 1 are
 * 0.48 below the best on average. */
TEST_WITH(the_uniform_baseline_plays_to_the_horizon, open_folder, temp_folder_remove)
{
    struct process_result result = on_file_run(
        "run", (const char *const[]){"--json", "--quiet", "--set=horizon=400000", NULL});
    assert_int_equal(result.code, 0);
    assert_true(metric(result.out, "samples") < 100000);
    json_t *const root = json_loads(result.out, 0, NULL);
    json_t *const uniform = json_object_get(json_object_get(root, "baselines"), "uniform");
    double const regret =
        json_number_value(json_object_get(json_object_get(uniform, "regret"), "mean"));
    assert_true(fabs(regret - 0.48 * 400000) < 1e-3);
    json_decref(root);
}

/* Sec. 6: each player's own means. The winner is the arm of most players; who likes another one
 * best does not get it. Assumption 4 is checked and said where means move. */
TEST_WITH(players_may_differ_and_means_may_move, open_folder, temp_folder_remove)
{
    char rows[16 * 40 * 2];
    char *at = rows;
    for (uint32_t player = 0; player < 64; player++)
        at += snprintf(at, sizeof rows - (size_t)(at - rows), "%s\n",
                       player < 40 ? "0.7,0.3,0.1" : "0.3,0.7,0.1");
    on_file_write("means.csv", rows);
    struct process_result result =
        on_file_run("run", (const char *const[]){"--json", "--quiet", NULL});
    assert_int_equal(result.code, 0);
    assert_true(metric(result.out, "answer_share") > 0.95);
    assert_true(fabs(metric(result.out, "best_arm_fraction") - 40.0 / 64) < 0.05);
    assert_non_null(strstr(result.out, "\"arms\": [\"arm 0\"]"));
    on_file_write("means.csv", "0.7,0.1,0.6\n");
    static const struct {
        const char *setting;
        const char *says;
    } cases[] = {
        {"--set=protocol.switches=1", "Assumption 4  fails: arm 0 is ahead on average until"},
        {"--set=environment.drift={per_sample: -1e-5}", "Assumption 4  holds to T: arm 0"}};
    for (size_t i = 0; i < 2; i++) {
        result = on_file_run("check", (const char *const[]){cases[i].setting, NULL});
        assert_int_equal(result.code, 0);
        assert_non_null(strstr(result.out, cases[i].says));
    }
}

static double profile(const char *text, const char *name, size_t row)
{
    json_t *const root = json_loads(text, 0, NULL);
    assert_non_null(root);
    json_t *const profile = json_object_get(json_object_get(root, "profiles"), name);
    json_t *const mean = json_array_get(json_object_get(profile, "mean"), row);
    assert_non_null(mean);
    double const value = json_is_null(mean) ? (double)NAN : json_number_value(mean);
    json_decref(root);
    return value;
}

/* Samples of each arm, votes over time of each arm, samples to decision by activity. */
TEST_WITH(a_report_says_what_became_of_arms_and_of_players, open_folder, temp_folder_remove)
{
    struct process_result result = on_file_run(
        "run", (const char *const[]){"--json", "--quiet",
                                     "--set=activation={kind: groups, groups: [{share: 0.5, "
                                     "events: 0.8}, {share: 0.5, events: 0.2}]}",
                                     NULL});
    assert_int_equal(result.code, 0);
    double samples = 0;
    for (size_t arm = 0; arm < 10; arm++)
        samples += profile(result.out, "samples_by_arm", arm);
    assert_true(fabs(samples - metric(result.out, "samples")) < 1e-6 * samples);
    assert_true(isnan(profile(result.out, "out_by_arm", 0))); /* the best arm stays */
    for (size_t arm = 1; arm < 10; arm++) {
        double const first = profile(result.out, "first_vote_by_arm", arm);
        double const half = profile(result.out, "half_votes_by_arm", arm);
        double const out = profile(result.out, "out_by_arm", arm);
        assert_true(first > 0 && first < half && half < out);
        assert_true(out <= metric(result.out, "samples_vote"));
        assert_true(out >= metric(result.out, "samples_first_out"));
    }
    assert_true(profile(result.out, "out_by_arm", 9) < profile(result.out, "out_by_arm", 1));
    double own = 0;
    for (size_t part = 0; part < 4; part++)
        own += profile(result.out, "own_samples_by_activity", part) / 4;
    assert_true(fabs(own - metric(result.out, "player_samples_mean")) < 1e-6 * own);
    assert_true(profile(result.out, "activity_by_activity", 0) > 1.5); /* 0.8/0.5 */
    assert_true(profile(result.out, "activity_by_activity", 3) < 0.5); /* 0.2/0.5 */
    assert_true(profile(result.out, "decided_by_activity", 0) <
                profile(result.out, "decided_by_activity", 3));
}

/* 1-PRIVACY sends nothing; 0-PRIVACY a broadcast a sample, N - 1 per receiver. */
TEST_WITH(baselines_send_what_the_paper_counts, open_folder, temp_folder_remove)
{
    on_file_write("votes.yaml",
                  "name: votes\nseed: 4\nruns: 6\nhorizon: 100000000\n"
                  "environment: {kind: bernoulli, means: means.csv}\nagents: 64\n"
                  "network: {kind: broadcast}\n"
                  "protocol: {kind: votes, subroutine: ugapec, epsilon: 0.25, sharing: all}\n"
                  "privacy: {mode: paper}\n");
    struct process_result all =
        on_file_run("run", (const char *const[]){"--json", "--quiet", NULL});
    assert_int_equal(all.code, 0);
    assert_true(metric(all.out, "messages") == metric(all.out, "samples"));
    assert_true(metric(all.out, "messages_per_receiver") == 63 * metric(all.out, "samples"));
    struct process_result none = on_file_run(
        "run", (const char *const[]){"--json", "--quiet", "--set=protocol.sharing=none", NULL});
    assert_int_equal(none.code, 0);
    assert_true(metric(none.out, "messages") == 0);
    assert_true(metric(none.out, "single_arm_fraction") == 1);
}

/* The same epsilon per reward: sums need about a tenth of the samples of private votes; randomised
 * rewards are about as good as sums in samples, but every reward is a message. */
TEST_WITH(sums_and_randomised_rewards_keep_the_epsilon_of_private_votes, open_folder,
          temp_folder_remove)
{
    static const char *const sharings[] = {"votes, eta: 0.9", "sums", "all"};
    double samples[3];
    double messages[3];
    for (uint32_t i = 0; i < 3; i++) {
        char protocol[160];
        (void)snprintf(protocol, sizeof protocol,
                       "--set=protocol={kind: votes, epsilon: 0.25, sharing: %s}", sharings[i]);
        struct process_result result = on_file_run(
            "run", (const char *const[]){"--json", "--quiet", protocol,
                                         "--set=privacy={mode: sound, epsilon: 1}", NULL});
        assert_int_equal(result.code, 0);
        assert_non_null(strstr(result.out, "\"epsilon_per_reward\": 1,"));
        assert_non_null(strstr(result.out, "Each single reward"));
        samples[i] = metric(result.out, "samples");
        messages[i] = metric(result.out, "messages");
        assert_true(metric(result.out, "near_best_fraction") == 1);
    }
    assert_true(samples[1] < samples[0] / 8);
    assert_true(samples[2] < samples[0] / 8);
    assert_true(messages[2] == samples[2]);
    assert_true(messages[1] < messages[2] / 4);
}

/* DSER4 in sound mode: the run goes on to the horizon, and the best arm is found again. */
TEST_WITH(private_votes_start_again_at_resets, open_folder, temp_folder_remove)
{
    struct process_result result = on_file_run(
        "run", (const char *const[]){"--json", "--quiet", "--runs=2", "--set=horizon=300000",
                                     "--set=agents=29",
                                     "--set=protocol={kind: votes, subroutine: ser4, reset: "
                                     "1e-5, eta: 0.9, epsilon: 0.25, switches: 1}",
                                     "--set=privacy={mode: sound, epsilon: 1}", NULL});
    assert_int_equal(result.code, 0);
    assert_true(metric(result.out, "samples") == 300000);
    assert_true(metric(result.out, "resets") >= 1);
    assert_true(metric(result.out, "messages") > 29 * 9); /* more than one reset has room for */
}

/* The coordinator's file of a live run: what is wrong is said with its place. */
TEST_WITH(daemon_files_are_refused_in_words, open_folder, temp_folder_remove)
{
    static const struct {
        const char *run;
        const char *more;
        const char *says;
    } wrong[] = {
        {"votes: 1", "", "run.accuracy: missing"},
        {"accuracy: 0, votes: 1", "", "above 0 and up to 1"},
        {"accuracy: 0.1", "", "run.eta: is missing"},
        {"accuracy: 0.1, eta: 1", "", "above 0 and below 1"},
        {"accuracy: 0.1, eta: 0.1, votes: 2", "", "run.eta: follows from votes"},
        {"accuracy: 0.1, votes: 3", "", "no more than the sites"},
        {"accuracy: 0.1, eta: 0.9", "", "29 votes are needed and there are 2 sites"},
        {"accuracy: 0.1, votes: floor", "", "allowed: committee, binomial, cheapest"},
        {"accuracy: 0.1, votes: 1, quorum: 1", "", "run.quorum: votes have no rounds"},
        {"accuracy: 0.1, votes: 1, deadline_s: 9", "", "run.deadline_s: votes have no rounds"},
        {"accuracy: 0.1, votes: 1, rounds: 3", "", "run.rounds: unknown key"},
        {"accuracy: 0.1, votes: 1, liars: 2", "", "from 0 to 1"},
        {"accuracy: 0.001, eta: 0.1, reset_after_s: 9", "", "below eta/K"},
        {"accuracy: 0.1, votes: 1, tick_ms: 0", "", "run.tick_ms"},
        {"accuracy: 0.1, votes: 1", "network: {kind: ring}\n", "is no network for votes"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[1024];
        (void)snprintf(
            text, sizeof text,
            "federation: trial\nprotocol: votes\nstate: state\n"
            "broker: {host: 127.0.0.1, port: 1, ca: ca.crt, certificate: c.crt, "
            "key: c.key}\nsites: [north, south]\narms: [left, right]\nstatus: {port: 8080}\n"
            "run: {horizon: 1000, epsilon: 1, %s}\n%s",
            wrong[i].run, wrong[i].more);
        on_file_write("votes.yaml", text);
        struct process_result result = on_file_start("coordinator");
        on_file_expect_wrong(result, wrong[i].run, wrong[i].says);
    }
}

/* From the coordinator's file to the run that it announces. */
#include "live_keys.h"
#include "../../config/reader.h"
#include "../../live/protocol.h"
#include "../live_family.h"
#include "rule.h"
#include <stdio.h>
#include <string.h>

#define DELTA_OF_TWO_MAX 0.5  /* of schedules */
#define TICK_MS_MAX 3600000u  /* an hour */
#define RESET_S_MAX 31536000u /* a year */

enum sharing { SHARES_VOTES, SHARES_SUMS };
static const struct config_choice sharings[] = {
    {"votes", SHARES_VOTES}, {"sums", SHARES_SUMS}, {NULL, 0}};

struct run_keys {
    double accuracy;
    enum sharing sharing;
    struct vote_threshold threshold;
    uint32_t reset_after_s;
    uint32_t tick_ms;
};

#define INSIDE CONFIG_ABOVE(0, 1)

static const struct config_key run_keys[] = {
    {"accuracy", NULL, "epsilon of an experiment, as a part of the range",
     CONFIG_TO_REAL(run_keys, accuracy, INSIDE)},
    {"sharing", "votes",
     "sums: each site publishes noised sums of its blocks, and the coordinator adds all up: delta "
     "is the run's, and eta, votes, liars and reset_after_s say nothing",
     CONFIG_TO_ENUM(run_keys, sharing, sharings)},
    {"delta", "0.05", "probability that the best arm goes",
     CONFIG_TO_REAL(run_keys, threshold.delta, VOTE_CHANCE_RANGE)},
    {"eta", "(must be given with committee, binomial)", "the failure that each site allows itself",
     CONFIG_TO_REAL(run_keys, threshold.eta, VOTE_CHANCE_RANGE)},
    {"votes", "committee",
     "committee: the first ceil(ln delta/ln eta) sites, all of them (idle ones hold the run up); "
     "else delta is kept where a single arm is within accuracy of the best",
     .form = "committee, binomial, cheapest or a number"},
    {"liars", "0", "below the number of sites",
     CONFIG_TO_U32(run_keys, threshold.liars, 0, TACIT_AGENTS_MAX - 1)},
    {"reset_after_s", "(never)",
     "DSER4: everything begins again after so long in the mean, by a coin each second; accuracy is "
     "at least eta/K (Theorem 4)",
     CONFIG_TO_U32(run_keys, reset_after_s, 1, RESET_S_MAX)},
    {"tick_ms", "1000",
     "votes and sums leave at its multiples; with two aggregators a round is one",
     CONFIG_TO_U32(run_keys, tick_ms, 1, TICK_MS_MAX)},
    {.name = NULL}};
static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_votes(struct config_reader *reader, const struct config_node *run,
                       struct vote_threshold *threshold)
{
    bool const derives = vote_read_rule(reader, run, "run.votes", VOTE_RULE_COMMITTEE, threshold);
    if (derives && threshold->eta > 0)
        config_reader_refuse(
            reader, "run.eta",
            "follows from votes; allowed: eta with votes: committee or binomial, or "
            "votes: cheapest or a number without it");
    if (!derives && threshold->eta <= 0)
        config_reader_fail(reader, run, "run.eta",
                           "is missing: the failure that each player allows itself, like 0.5; or "
                           "give votes: a number of votes, or cheapest");
}

static void vote_read_run(struct config_reader *reader, const struct config_node *run,
                          struct tacit_config_coordinator *coordinator)
{
    struct run_keys *const keys = coordinator->keys;
    config_reader_values(reader, run, "run", run_keys, keys);
    struct vote_threshold const *const threshold = &keys->threshold;
    config_reader_u32(reader, run, "run.liars", false, 0, coordinator->site_count - 1,
                      &keys->threshold.liars);
    static const char *const votes_only[] = {"run.eta", "run.votes", "run.liars",
                                             "run.reset_after_s"};
    bool const has_sums = keys->sharing == SHARES_SUMS;
    for (size_t i = 0; i < sizeof votes_only / sizeof votes_only[0]; i++)
        config_reader_idle(reader, run, votes_only[i], has_sums, "belongs to sharing: votes");
    if (reader->status == TACIT_OK && !has_sums)
        read_votes(reader, run, &keys->threshold);
    bool const is_of_two = coordinator->trust.has_helper;
    if (is_of_two && !has_sums)
        config_reader_refuse(reader, "run.trust",
                             "two aggregators add up sums; allowed with sharing: sums");
    if (is_of_two && threshold->delta > DELTA_OF_TWO_MAX)
        config_reader_refuse(reader, "run.delta", "allowed with two aggregators: at most 0.5");
    config_reader_idle(reader, run, "run.tick_ms", is_of_two,
                       "with two aggregators a round is a tick; allowed: leave it out");
    for (int i = 0; i < 2; i++)
        config_reader_idle(reader, run, i == 0 ? "run.quorum" : "run.deadline_s", !is_of_two,
                           "votes have no rounds that wait for sites; allowed: leave it out");
}

/* ---- Settings -------------------------------------------------------------------------------- */

static enum tacit_status check_votes(const struct live_run_file *from,
                                     const struct tacit_wire_vote_run *run)
{
    char text[200];
    if (run->eta <= 0)
        return live_file_refuse(
            from, "run.votes", "the votes must be more than the liars, and no more than the sites");
    if (run->votes_needed > run->agent_count) {
        (void)snprintf(text, sizeof text,
                       "%u votes are needed and there are %u sites; allowed: a smaller eta, more "
                       "sites, or votes: cheapest",
                       run->votes_needed, run->agent_count);
        return live_file_refuse(from, "run.votes", text);
    }
    return run->reset_after_s > 0 &&
                   vote_accuracy_is_refused(run->accuracy, run->eta, run->arm_count, text)
               ? live_file_refuse(from, "run.accuracy", text)
               : TACIT_OK;
}

struct tacit_vote_pool_config vote_hub_pool(const struct live_hub_config *hub)
{
    struct tacit_wire_vote_run const *const run = hub->settings;
    TACIT_ASSERT(run != NULL);
    return (struct tacit_vote_pool_config){
        .run_id = hub->run_id,
        .player_count = hub->site_count,
        .arm_count = hub->arm_count,
        .accuracy = run->accuracy,
        .failure = run->eta,
        .epsilon = tacit_nano_value(live_hub_mechanism(hub).epsilon_nano),
        .block = run->block,
        .growth = TACIT_VOTE_POOL_GROWTH};
}

static enum tacit_status vote_hub_settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    struct run_keys const *const keys = from->file->keys;
    struct tacit_best_arm_config const subroutine = {
        .kind = TACIT_BEST_ARM_SUCCESSIVE, .arm_count = hub->arm_count, .accuracy = keys->accuracy};
    TACIT_ASSERT(from->network == NULL);
    if (from->file->trust.has_helper)
        return vote_settle_two(from, keys->accuracy, keys->threshold.delta);
    struct tacit_wire_vote_run *const made = live_settings(from, sizeof *made);
    if (made == NULL)
        return TACIT_MEMORY;
    bool const has_sums =
        keys->sharing == SHARES_SUMS; /* the hub's word alone, at the run's delta */
    struct tacit_vote_choice const choice =
        has_sums ? (struct tacit_vote_choice){.needed = 1, .eta = keys->threshold.delta}
                 : vote_rule_settle(&keys->threshold, hub->site_count, &subroutine);
    bool const has_committee = !has_sums && keys->threshold.rule == VOTE_RULE_COMMITTEE;
    *made = (struct tacit_wire_vote_run){.run_id = hub->run_id,
                                         .agent_count = hub->site_count,
                                         .arm_count = hub->arm_count,
                                         .horizon = hub->horizon,
                                         .accuracy = keys->accuracy,
                                         .eta = choice.eta,
                                         .votes_needed = choice.needed,
                                         .committee = has_committee ? choice.needed : 0,
                                         .reset_after_s = keys->reset_after_s,
                                         .tick_ms = keys->tick_ms};
    struct tacit_vote_pool_config const pool = vote_hub_pool(hub);
    made->block = has_sums ? tacit_vote_pool_block(&pool) : 0;
    return check_votes(from, made);
}

const struct tacit_wire_vote_run *vote_hub_run(const struct live_hub_config *hub)
{
    TACIT_ASSERT(hub->settings != NULL);
    return hub->settings;
}

const struct live_family vote_live = {.file = {.name = "votes",
                                               .networks = 1u << TACIT_CONFIG_BROADCAST,
                                               .accepts_trust = true,
                                               .run_keys = run_sections,
                                               .run_size = sizeof(struct run_keys),
                                               .read_run = vote_read_run},
                                      .site = &vote_site_ops,
                                      .hub = &vote_hub_ops,
                                      .site_of_two = vote_site_of_two,
                                      .hub_of_two = vote_hub_of_two,
                                      .hub_settings = vote_hub_settings_new};

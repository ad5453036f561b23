/* From the coordinator's file to the settings of the hub. */
#include "../phased/ladder.h"
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "../phased/plan.h"
#include "plan.h"
#include "settings.h"
#include <stdio.h>
#include <string.h>

struct run_keys {
    double participation;
    uint32_t round_limit;
    double gap;
    struct elim_keys bounds; /* is_exact, growth, confidence */
};

#define SHARE CONFIG_ABOVE(0, 1)

static const struct config_key run_keys[] = {
    {"participation", "1", "share of the sites that report in a round; below 1 over a star only",
     CONFIG_TO_REAL(run_keys, participation, SHARE)},
    {"rounds", "(none)", "at most so many; with gap, or neither", .form = "1 to 9,999, or none"},
    {"gap", "", "with rounds: the smallest difference of means that matters",
     CONFIG_TO_REAL(run_keys, gap, SHARE)},
    {"bounds", "paper", "exact: all sites report, and intervals hold at all times",
     .choices = elim_bounds},
    {"growth", "2", "exact: each release makes an arm's pulls so many times as many",
     .range = PHASED_GROWTH_RANGE},
    {"confidence", "(1 - 1/horizon)", "exact: the answer holds with this probability",
     .range = PHASED_CONFIDENCE_RANGE},
    {.name = NULL}};
static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

/* ---- Reading --------------------------------------------------------------------------------- */

static void read_rounds(struct config_reader *reader, const struct config_node *run,
                        struct run_keys *keys)
{
    struct config_node const *const rounds = config_node_member(run, "rounds");
    struct config_node const *const gap = config_node_member(run, "gap");
    if (rounds != NULL && (rounds->kind != CONFIG_SCALAR || strcmp(rounds->text, "none") != 0))
        config_reader_u32(reader, run, "run.rounds", false, 1, TACIT_ELIM_EPOCHS_MAX - 1,
                          &keys->round_limit);
    if (keys->round_limit > 0 && gap == NULL)
        config_reader_fail(reader, rounds, "run.gap",
                           "missing; with rounds it must be given: the smallest difference between "
                           "the means of two arms that matters, as a part of the range");
    if (keys->round_limit == 0 && gap != NULL)
        config_reader_fail(reader, gap, "run.gap",
                           "it has a meaning with rounds only; allowed: give rounds too, or "
                           "neither");
}

static void check_network(struct config_reader *reader, const struct config_node *run,
                          const struct tacit_config_coordinator *file, const struct run_keys *keys)
{
    if (keys->participation < 1 && file->network.kind != TACIT_CONFIG_STAR)
        config_reader_fail(reader, config_node_member(run, "participation"), "run.participation",
                           "below 1 it has a meaning over a star only; allowed: 1, or network: "
                           "{kind: star}");
    else if (file->quorum > 0 && file->network.kind == TACIT_CONFIG_GRAPH)
        config_reader_fail(reader, config_node_member(run, "quorum"), "run.quorum",
                           "sites that judge for themselves wait for every one of them; allowed: "
                           "no quorum, or a star or a hybrid");
}

static void elim_read_run(struct config_reader *reader, const struct config_node *run,
                          struct tacit_config_coordinator *coordinator)
{
    struct run_keys *const keys = coordinator->keys;
    config_reader_values(reader, run, "run", run_keys, keys);
    read_rounds(reader, run, keys);
    elim_read_bounds(reader, run, "run", &keys->bounds);
    if (reader->status == TACIT_OK && keys->bounds.is_exact)
        elim_refuse_beside_exact(reader, run, "run", keys->round_limit, keys->participation);
    if (reader->status == TACIT_OK)
        check_network(reader, run, coordinator, keys);
    if (coordinator->trust.has_helper &&
        (!keys->bounds.is_exact || coordinator->network.kind != TACIT_CONFIG_STAR))
        config_reader_fail(reader, config_node_member(run, "trust"), "run.trust.aggregators",
                           "two aggregators are a hub and a helper; allowed with run.bounds: exact "
                           "over a star");
}

/* ---- Settings -------------------------------------------------------------------------------- */

/* A run that ends before its first epoch does learns nothing and tells nobody (PRIVACY.md D.51). */
static enum tacit_status check_horizon(const struct live_run_file *from)
{
    struct live_hub_config const *const hub = from->hub;
    struct tacit_elim_schedule const schedule = elim_hub_schedule(hub);
    uint64_t const needed = elim_horizon_min(schedule);
    char text[200];
    if (elim_first_epoch(&schedule) <= hub->horizon)
        return TACIT_OK;
    if (needed > TACIT_HORIZON_MAX)
        (void)snprintf(text, sizeof text,
                       "no horizon is long enough for the first round; allowed: fewer arms, more "
                       "sites or a larger epsilon");
    else
        (void)snprintf(text, sizeof text,
                       "%llu is too short for the first round of %u arms and %u reports; allowed: "
                       "at least %llu",
                       (unsigned long long)hub->horizon, schedule.arm_count, schedule.report_count,
                       (unsigned long long)needed);
    return live_file_refuse(from, "run.horizon", text);
}

/* The same with exact bounds, and what else their ladder asks for. */
static enum tacit_status check_exact(const struct live_run_file *from)
{
    struct live_hub_config const *const hub = from->hub;
    struct elim_hub_settings const *const settings = elim_hub_settings(hub);
    struct tacit_phases const phases = {.rule = TACIT_PHASES_ELIMINATION,
                                        .arm_count = hub->arm_count,
                                        .agent_count = hub->site_count,
                                        .horizon = hub->horizon,
                                        .epsilon_per_reward = hub->epsilon,
                                        .growth = settings->growth,
                                        .confidence = settings->confidence,
                                        .floor_milli = settings->floor_milli};
    char text[PHASED_REFUSAL_BYTES];
    char const *const key = phased_schedule_refusal(&phases, text);
    if (key == NULL)
        return TACIT_OK;
    return live_file_refuse(from, strcmp(key, "horizon") == 0 ? "run.horizon" : "run.growth", text);
}

/* What hub->settings points to. */
struct held {
    struct elim_hub_settings settings; /* first */
    struct tacit_elim_network network;
};

static enum tacit_status elim_hub_settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    struct run_keys const *const keys = from->file->keys;
    struct held *const made = live_settings(from, sizeof *made);
    TACIT_ASSERT(keys != NULL);
    if (made == NULL)
        return TACIT_MEMORY;
    made->settings =
        elim_hub_settings_make(keys->participation, hub->site_count, keys->round_limit, keys->gap);
    if (from->network != NULL) {
        made->network = elim_network(from->network, false);
        made->settings.network = &made->network;
    }
    made->settings.growth = keys->bounds.is_exact ? keys->bounds.growth : 0;
    made->settings.confidence = keys->bounds.confidence;
    made->settings.floor_milli = live_file_floor(from->file);
    if (hub->quorum > made->settings.report_count)
        hub->quorum = made->settings.report_count;
    return keys->bounds.is_exact ? check_exact(from) : check_horizon(from);
}

const struct live_family elim_live = {
    .file = {.word = "elimination",
             .networks = 1u << TACIT_CONFIG_STAR | 1u << TACIT_CONFIG_GRAPH |
                         1u << TACIT_CONFIG_HYBRID | 1u << TACIT_CONFIG_ALONE,
             .takes_trust = true,
             .run_keys = run_sections,
             .run_size = sizeof(struct run_keys),
             .read_run = elim_read_run},
    .site = &elim_site_ops,
    .hub = &elim_hub_ops,
    .hub_settings = elim_hub_settings_new};

/* From the coordinator's file to the settings of the hub. */
#include "../../config/reader.h"
#include "../live_family.h"
#include "live.h"
#include "../ladder.h"
#include "plan.h"
#include "settings.h"
#include <stdio.h>
#include <string.h>

static const struct config_key run_keys[] = {
    {"participation", "1", "share of the sites that report in a round; below 1 over a star only",
     CONFIG_TO_REAL(elim_keys, participation, ELIM_SHARE_RANGE)},
    {"rounds", "(none)", "at most so many; with gap, or neither", .form = "1 to 9,999, or none"},
    {"gap", "", "with rounds: the smallest difference of means that matters",
     CONFIG_TO_REAL(elim_keys, gap, ELIM_SHARE_RANGE)},
    {"bounds", "paper", "exact: all sites report, and intervals hold at all times",
     CONFIG_TO_FLAG(elim_keys, is_exact, elim_bounds)},
    {"growth", "2", "exact: each release makes an arm's pulls so many times as many",
     CONFIG_TO_REAL(elim_keys, growth, LADDER_GROWTH_RANGE)},
    {"confidence", "(1 - 1/horizon)", "exact: the answer holds with this probability",
     CONFIG_TO_REAL(elim_keys, confidence, LADDER_CONFIDENCE_RANGE)},
    {.name = NULL}};

/* ---- Reading --------------------------------------------------------------------------------- */

static void check_network(struct config_reader *reader, const struct config_node *run,
                          const struct tacit_config_coordinator *file, const struct elim_keys *keys)
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

static void check_gap(struct config_reader *reader, const struct config_node *run,
                      const struct elim_keys *keys)
{
    if (keys->round_limit > 0 && config_node_member(run, "gap") == NULL)
        config_reader_fail(reader, config_node_member(run, "rounds"), "run.gap",
                           "missing; with rounds it must be given: the smallest difference between "
                           "the means of two arms that matters, as a part of the range");
    config_reader_idle(reader, run, "run.gap", keys->round_limit == 0,
                       "it has a meaning with rounds only; allowed: give rounds too, or neither");
}

static void elim_read_run(struct config_reader *reader, const struct config_node *run,
                          struct tacit_config_coordinator *coordinator)
{
    struct elim_keys *const keys = coordinator->keys;
    config_reader_values(reader, run, "run", run_keys, keys);
    elim_read_rounds(reader, run, "run", keys);
    check_gap(reader, run, keys);
    elim_check_bounds(reader, run, "run", keys);
    if (reader->status == TACIT_OK)
        check_network(reader, run, coordinator, keys);
    if (coordinator->trust.has_helper &&
        (!keys->is_exact || coordinator->network.kind != TACIT_CONFIG_STAR))
        config_reader_fail(reader, config_node_member(run, "trust"), "run.trust.aggregators",
                           "two aggregators are a hub and a helper; allowed with run.bounds: exact "
                           "over a star");
}

/* ---- Settings -------------------------------------------------------------------------------- */

/* What hub->settings points to. */
struct held {
    struct elim_hub_settings settings; /* first */
    struct tacit_elim_network network;
};

static enum tacit_status elim_hub_settings_new(const struct live_run_file *from)
{
    struct live_hub_config *const hub = from->hub;
    struct elim_keys const *const keys = from->file->keys;
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
    made->settings.growth = keys->is_exact ? keys->growth : 0;
    made->settings.confidence = keys->confidence;
    made->settings.floor_milli = live_file_floor(from->file);
    if (hub->quorum > made->settings.report_count)
        hub->quorum = made->settings.report_count;
    struct tacit_elim_schedule const schedule = elim_hub_schedule(hub);
    char text[ELIM_REFUSAL_BYTES];
    if (keys->is_exact) {
        struct tacit_phases const phases = tacit_elim_phases(&schedule);
        return live_file_check_ladder(from, &phases);
    }
    return elim_horizon_is_refused(&schedule, 0, text) ? live_file_refuse(from, "run.horizon", text)
                                                       : TACIT_OK;
}

static const struct config_section run_sections[] = {{"run", run_keys}, {NULL, NULL}};

const struct live_family elim_live = {
    .file = {.name = "elimination",
             .networks = 1u << TACIT_CONFIG_STAR | 1u << TACIT_CONFIG_GRAPH |
                         1u << TACIT_CONFIG_HYBRID | 1u << TACIT_CONFIG_ALONE,
             .accepts_trust = true,
             .run_keys = run_sections,
             .run_size = sizeof(struct elim_keys),
             .read_run = elim_read_run},
    .site = &elim_site_ops,
    .hub = &elim_hub_ops,
    .hub_settings = elim_hub_settings_new};

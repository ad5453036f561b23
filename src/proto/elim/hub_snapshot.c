/* What a hub that lost its state is built again from (base/walk.h). */
#include <string.h>
#include "hub_state.h"

#define MAGIC UINT64_C(0x3170616e73627568) /* "hubsnap1" */

/* ---- The fields: each function writes its own, or reads them, as the walk goes ---- */

static void pass_judge(struct base_walk *walk, struct elim_judge *judge)
{
    base_walk_word(walk, &judge->pulls);
    base_walk_real(walk, &judge->radius);
    base_walk_number(walk, &judge->epoch);
    base_walk_number(walk, &judge->active_count);
    base_walk_number(walk, &judge->round_count);
    base_walk_truth(walk, &judge->finished);
    base_walk_number(walk, &judge->leader);
    base_walk_number(walk, &judge->anew_after);
    base_walk_number(walk, &judge->rung_count);
    base_walk_word(walk, &judge->slots);
}

static void pass_change(struct base_walk *walk, struct tacit_elim_change *change)
{
    base_walk_number(walk, &change->kind);
    base_walk_number(walk, &change->epoch);
    base_walk_number(walk, &change->subject);
    base_walk_number(walk, &change->number);
    base_walk_word(walk, &change->value);
    base_walk_word(walk, &change->made_unix_s);
}

/* What the operator changed, and the sites refuse. */
static void pass_changes(struct base_walk *walk, struct tacit_elim_hub *hub)
{
    size_t const arms = TACIT_BITS_WORDS(hub->config.schedule.arm_count);
    size_t const agents = TACIT_BITS_WORDS(hub->config.agent_count);
    base_walk_number(walk, &hub->change_count);
    walk->failed = walk->failed || hub->change_count > hub->config.change_max;
    for (uint32_t i = 0; i < hub->change_count && !walk->failed; i++)
        pass_change(walk, &changes_of(hub)[i]);
    if (hub->config.change_max == 0)
        return;
    base_walk_words(walk, retired_of(hub), arms);
    base_walk_words(walk, dropped_of(hub), agents);
    base_walk_words(walk, abstaining_of(hub), agents);
    base_walk_words(walk, refused_of(hub, 0), hub->config.agent_count * arms);
}

/* Who is asked in the round that stands. A report that was here before its site was left out would
 * not be taken again: it is not waited for. */
static void pass_asked(struct base_walk *walk, struct tacit_elim_hub *hub)
{
    bool const leaves_out = !walk->reads && hub->config.change_max > 0 && eligible_count(hub) > 0;
    for (size_t i = 0; i < TACIT_BITS_WORDS(hub->config.agent_count) && !walk->failed; i++) {
        uint64_t word = uploaders_of(hub)[i];
        if (leaves_out)
            word &= ~(dropped_of(hub)[i] | abstaining_of(hub)[i]);
        base_walk_word(walk, &word);
        if (walk->reads)
            uploaders_of(hub)[i] = word;
    }
    if (!walk->reads || walk->failed)
        return;
    walk->failed =
        !tacit_bits_within(uploaders_of(hub), uploaders_of(hub), hub->config.agent_count);
    if (hub->desk.phase == ROUND_COLLECTING)
        hub->desk.missing_count = tacit_bits_count(uploaders_of(hub), hub->config.agent_count);
}

static void pass_hub(struct base_walk *walk, void *state)
{
    struct tacit_elim_hub *const hub = state;
    base_walk_same(walk, MAGIC);
    base_walk_same(walk, hub->config.run_id);
    base_walk_same(walk, hub->config.agent_count);
    base_walk_same(walk, hub->config.schedule.arm_count);
    base_walk_same(walk, hub->judge_words);
    base_walk_same(walk, hub->config.change_max);
    round_desk_walk(walk, &hub->desk, 0);
    base_walk_word(walk, &hub->horizon);
    base_walk_word(walk, &hub->timeout_us);
    base_walk_number(walk, &hub->quorum);
    base_walk_number(walk, &hub->schedule.report_count);
    pass_judge(walk, &hub->judge);
    base_walk_words(walk, hub->words, hub->judge_words);
    pass_asked(walk, hub);
    pass_changes(walk, hub);
}

/* ---- Public ---- */

ROUND_SNAPSHOTS(tacit_elim_hub, pass_hub)

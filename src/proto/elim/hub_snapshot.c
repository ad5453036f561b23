/* What a hub that lost its state is built again from (base/walk.h). */
#include <string.h>
#include "../../base/walk.h"
#include "hub_state.h"

#define MARK UINT64_C(0x3170616e73627568) /* "hubsnap1" */

/* ---- The fields ---- */

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
}

static void pass_hub(struct base_walk *walk, void *state)
{
    struct tacit_elim_hub *const hub = state;
    uint32_t phase = hub->desk.phase;
    base_walk_same(walk, MARK);
    base_walk_same(walk, hub->config.run_id);
    base_walk_same(walk, hub->config.agent_count);
    base_walk_same(walk, hub->config.schedule.arm_count);
    base_walk_same(walk, hub->judge_words);
    base_walk_same(walk, hub->config.change_max);
    base_walk_number(walk, &phase);
    base_walk_word(walk, &hub->horizon);
    base_walk_word(walk, &hub->timeout_us);
    base_walk_number(walk, &hub->quorum);
    base_walk_number(walk, &hub->schedule.report_count);
    pass_judge(walk, &hub->judge);
    base_walk_words(walk, hub->words, hub->judge_words);
    pass_asked(walk, hub);
    pass_changes(walk, hub);
    walk->failed = walk->failed || phase > (hub->config.has_helper ? ROUND_CLOSED : ROUND_FINISHED);
    if (!walk->failed)
        hub->desk.phase = (enum round_phase)phase;
}

/* ---- Public ---- */

size_t tacit_elim_hub_snapshot(const struct tacit_elim_hub *hub, uint8_t *bytes, size_t room)
{
    return base_walk_write(pass_hub, hub, bytes, room);
}

enum tacit_status tacit_elim_hub_restore(struct tacit_elim_hub *hub,
                                         const struct tacit_elim_hub_config *config,
                                         const uint8_t *bytes, size_t size)
{
    enum tacit_status const status = tacit_elim_hub_init(hub, config);
    if (status != TACIT_OK)
        return status;
    if (!base_walk_read(pass_hub, hub, bytes, size) ||
        !tacit_bits_within(uploaders_of(hub), uploaders_of(hub), config->agent_count))
        return TACIT_MALFORMED;
    hub->desk.missing_count = hub->desk.phase == ROUND_COLLECTING
                                  ? tacit_bits_count(uploaders_of(hub), config->agent_count)
                                  : 0;
    bool const is_state =
        tacit_elim_hub_check(hub, tacit_elim_hub_size(config), config) == TACIT_OK &&
        base_walk_writes(pass_hub, hub, bytes, size);
    return is_state ? TACIT_OK : TACIT_MALFORMED;
}

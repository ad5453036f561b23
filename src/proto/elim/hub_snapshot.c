/* What a hub that lost its state is built again from. The same walk over the fields writes and
 * reads them, so that neither can forget one: words of 64 bits, lowest byte first; zeros as a zero
 * and how many there are. */
#include <string.h>
#include "hub_state.h"

#define MARK UINT64_C(0x3170616e73627568) /* "hubsnap1" */
#define WORD_BYTES sizeof(uint64_t)

struct walk {
    bool reads;
    bool failed;       /* the bytes end, go on, or say what cannot be */
    uint8_t *out;      /* writing: room bytes, .. */
    const uint8_t *in; /* .. reading: as many */
    size_t room;
    size_t size;    /* that were read, or are needed */
    uint64_t zeros; /* writing: not said yet; reading: still to come */
};

static void put(struct walk *walk, uint64_t word)
{
    for (size_t i = 0; i < WORD_BYTES && walk->size + WORD_BYTES <= walk->room; i++) {
        uint8_t const byte = (uint8_t)(word >> (8 * i));
        if (walk->in == NULL)
            walk->out[walk->size + i] = byte;
        else
            walk->failed = walk->failed || walk->in[walk->size + i] != byte;
    }
    walk->size += WORD_BYTES;
}

static uint64_t get(struct walk *walk)
{
    uint64_t word = 0;
    walk->failed = walk->failed || walk->room - walk->size < WORD_BYTES;
    if (walk->failed)
        return 0;
    for (size_t i = WORD_BYTES; i-- > 0;)
        word = word << 8 | walk->in[walk->size + i];
    walk->size += WORD_BYTES;
    return word;
}

static void put_zeros(struct walk *walk)
{
    if (walk->zeros == 0)
        return;
    put(walk, 0);
    put(walk, walk->zeros);
    walk->zeros = 0;
}

static void write_word(struct walk *walk, uint64_t word)
{
    TACIT_ASSERT(!walk->reads);
    if (word == 0) {
        walk->zeros++;
        return;
    }
    put_zeros(walk);
    put(walk, word);
}

static uint64_t read_word(struct walk *walk)
{
    TACIT_ASSERT(walk->reads);
    if (walk->zeros == 0) {
        uint64_t const word = get(walk);
        if (word != 0 || walk->failed)
            return word;
        walk->zeros = get(walk);
        walk->failed = walk->failed || walk->zeros == 0;
    }
    walk->zeros -= walk->failed ? 0 : 1;
    return 0;
}

static void pass(struct walk *walk, uint64_t *word)
{
    if (walk->reads)
        *word = read_word(walk);
    else
        write_word(walk, *word);
}

static void pass_all(struct walk *walk, uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count && !walk->failed; i++)
        pass(walk, &words[i]);
}

static void pass_number(struct walk *walk, uint32_t *number)
{
    uint64_t word = *number;
    pass(walk, &word);
    walk->failed = walk->failed || word > UINT32_MAX;
    if (!walk->failed)
        *number = (uint32_t)word;
}

static void pass_real(struct walk *walk, double *number)
{
    uint64_t word;
    memcpy(&word, number, sizeof word);
    pass(walk, &word);
    memcpy(number, &word, sizeof word);
}

/* What must be as the configuration has it. */
static void pass_same(struct walk *walk, uint64_t expected)
{
    uint64_t word = expected;
    pass(walk, &word);
    walk->failed = walk->failed || word != expected;
}

/* ---- The fields ---- */

static void pass_judge(struct walk *walk, struct elim_judge *judge)
{
    uint32_t finished = judge->finished;
    pass(walk, &judge->pulls);
    pass_real(walk, &judge->radius);
    pass_number(walk, &judge->epoch);
    pass_number(walk, &judge->active_count);
    pass_number(walk, &judge->round_count);
    pass_number(walk, &finished);
    pass_number(walk, &judge->leader);
    pass_number(walk, &judge->anew_after);
    pass_number(walk, &judge->rung_count);
    pass(walk, &judge->slots);
    walk->failed = walk->failed || finished > 1;
    judge->finished = finished == 1;
}

static void pass_change(struct walk *walk, struct tacit_elim_change *change)
{
    pass_number(walk, &change->kind);
    pass_number(walk, &change->epoch);
    pass_number(walk, &change->subject);
    pass_number(walk, &change->number);
    pass(walk, &change->value);
    pass(walk, &change->made_unix_s);
}

/* What the operator changed, and the sites refuse. */
static void pass_changes(struct walk *walk, struct tacit_elim_hub *hub)
{
    size_t const arms = TACIT_BITS_WORDS(hub->config.schedule.arm_count);
    size_t const agents = TACIT_BITS_WORDS(hub->config.agent_count);
    pass_number(walk, &hub->change_count);
    walk->failed = walk->failed || hub->change_count > hub->config.change_max;
    for (uint32_t i = 0; i < hub->change_count && !walk->failed; i++)
        pass_change(walk, &changes_of(hub)[i]);
    if (hub->config.change_max == 0)
        return;
    pass_all(walk, retired_of(hub), arms);
    pass_all(walk, dropped_of(hub), agents);
    pass_all(walk, abstaining_of(hub), agents);
    pass_all(walk, refused_of(hub, 0), hub->config.agent_count * arms);
}

/* Who is asked in the round that stands. A report that was here before its site was left out would
 * not be taken again: it is not waited for. */
static void pass_asked(struct walk *walk, struct tacit_elim_hub *hub)
{
    bool const leaves_out = !walk->reads && hub->config.change_max > 0 && eligible_count(hub) > 0;
    for (size_t i = 0; i < TACIT_BITS_WORDS(hub->config.agent_count) && !walk->failed; i++) {
        uint64_t word = uploaders_of(hub)[i];
        if (leaves_out)
            word &= ~(dropped_of(hub)[i] | abstaining_of(hub)[i]);
        pass(walk, &word);
        if (walk->reads)
            uploaders_of(hub)[i] = word;
    }
}

static void pass_hub(struct walk *walk, struct tacit_elim_hub *hub)
{
    uint32_t phase = hub->phase;
    pass_same(walk, MARK);
    pass_same(walk, hub->config.run_id);
    pass_same(walk, hub->config.agent_count);
    pass_same(walk, hub->config.schedule.arm_count);
    pass_same(walk, hub->judge_words);
    pass_same(walk, hub->config.change_max);
    pass_number(walk, &phase);
    pass(walk, &hub->horizon);
    pass(walk, &hub->timeout_us);
    pass_number(walk, &hub->quorum);
    pass_number(walk, &hub->schedule.report_count);
    pass_judge(walk, &hub->judge);
    pass_all(walk, hub->words, hub->judge_words);
    pass_asked(walk, hub);
    pass_changes(walk, hub);
    walk->failed = walk->failed || phase > PHASE_FINISHED;
    if (!walk->failed)
        hub->phase = (enum phase)phase;
}

/* ---- Public ---- */

size_t tacit_elim_hub_snapshot(const struct tacit_elim_hub *state, uint8_t *bytes, size_t room)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state; /* it is read */
    struct walk walk = {.out = bytes, .room = room};
    TACIT_ASSERT(bytes != NULL || room == 0);
    pass_hub(&walk, hub);
    put_zeros(&walk);
    TACIT_ASSERT(!walk.failed && walk.size > 0);
    return walk.size;
}

/* Does it write these very bytes? The same could be told in other ways. */
static bool writes(struct tacit_elim_hub *hub, const uint8_t *bytes, size_t size)
{
    struct walk walk = {.in = bytes, .room = size};
    pass_hub(&walk, hub);
    put_zeros(&walk);
    return !walk.failed && walk.size == size;
}

enum tacit_status tacit_elim_hub_restore(struct tacit_elim_hub *hub,
                                         const struct tacit_elim_hub_config *config,
                                         const uint8_t *bytes, size_t size)
{
    struct walk walk = {.reads = true, .in = bytes, .room = size};
    enum tacit_status const status = tacit_elim_hub_init(hub, config);
    if (status != TACIT_OK)
        return status;
    pass_hub(&walk, hub);
    if (walk.failed || walk.zeros > 0 || walk.size != size)
        return TACIT_MALFORMED;
    if (!tacit_bits_within(uploaders_of(hub), uploaders_of(hub), config->agent_count))
        return TACIT_MALFORMED;
    hub->missing_count = hub->phase == PHASE_COLLECTING
                             ? tacit_bits_count(uploaders_of(hub), config->agent_count)
                             : 0;
    if (tacit_elim_hub_check(hub, tacit_elim_hub_size(config), config) != TACIT_OK)
        return TACIT_MALFORMED;
    return writes(hub, bytes, size) ? TACIT_OK : TACIT_MALFORMED;
}

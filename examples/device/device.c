/* One agent of epoch elimination on a bare target: no heap, no files, no operating system. It joins
 * the run of an announcement if that asks for no more than it allows, pulls as the hub orders, and
 * reports noised sums. Its state is kept before a message leaves, so that a power cut repeats
 * nothing. All that it needs from outside is in board.h. */
#include "board.h"
#include <string.h>
#include "tacit/wire_elim.h"

#define FEDERATION "pumps"
#define ARMS_MAX 8u
#define AGENTS_MAX 64u
#define BYTES_MAX 512u               /* of a message without its envelope */
#define STATE_WORDS_MAX 160u         /* of the agent */
#define EPSILON 1.0                  /* a reward may cost so much, .. */
#define BUDGET_NANO (2 * TACIT_NANO) /* .. and never more than this in all */
#define RESEND_US 100000u

static uint64_t state[STATE_WORDS_MAX];
static uint64_t room[TACIT_WIRE_ARENA_BYTES(BYTES_MAX, ARMS_MAX, AGENTS_MAX) / 8];
static struct tacit_wire_arena arena;         /* of the codecs, in that room */
static struct tacit_elim_agent_config config; /* no arms: in no run yet */
static struct tacit_wire_envelope mine = {    /* what all our envelopes have in common */
                                          .federation = FEDERATION,
                                          .to = TACIT_WIRE_COORDINATOR,
                                          .family = TACIT_WIRE_ELIM_FAMILY};
static struct tacit_pull_block plan[ARMS_MAX];
static uint32_t plan_count;
static uint64_t deadline_us = TACIT_NEVER;

static struct tacit_elim_agent *agent(void)
{
    return (struct tacit_elim_agent *)(void *)state;
}

static struct tacit_wire_shape shape_of(uint32_t to)
{
    return (struct tacit_wire_shape){
        .arm_count = config.arm_count, .agent_count = config.agent_count, .to = to};
}

static void say(const struct tacit_elim_message *message)
{
    struct tacit_wire_shape const shape = shape_of(TACIT_HUB);
    static uint8_t bytes[BYTES_MAX + TACIT_WIRE_ENVELOPE_BYTES_MAX];
    static uint8_t body[BYTES_MAX];
    mine.kind = tacit_wire_label(tacit_wire_elim.messages, message).kind;
    mine.epoch = message->epoch;
    mine.sequence++;
    mine.body = body;
    mine.body_size = tacit_wire_bytes(tacit_wire_elim.messages, &shape, message);
    TACIT_ASSERT(mine.body_size <= sizeof body);
    tacit_wire_encode(tacit_wire_elim.messages, &shape, message, body);
    tacit_wire_envelope_encode(&mine, bytes);
    board_say(bytes, tacit_wire_envelope_bytes(&mine));
}

/* A refused event asks for nothing but the timer that stands. */
static void step(struct tacit_event event)
{
    struct tacit_entropy const entropy = {board_entropy, NULL};
    struct tacit_elim_update update;
    event.now_us = board_now_us();
    (void)tacit_elim_agent_step(agent(), &event, &entropy, &update);
    if (update.persist)
        board_keep(state, tacit_elim_agent_size(&config));
    if (update.send)
        say(&update.message);
    if (update.plan_count > 0) {
        memcpy(plan, update.plan, update.plan_count * sizeof plan[0]);
        plan_count = update.plan_count;
    }
    deadline_us = update.deadline_us;
}

/* Is it a run for us? The noise is our own: nothing of it comes from the announcement. */
static bool configure(const struct tacit_wire_agreement *agreement,
                      const struct tacit_wire_elim_run *run)
{
    struct tacit_mechanism_config const noise = {TACIT_PRIVACY_SOUND, EPSILON, 0, 1};
    struct tacit_elim_agent_config wanted = {.run_id = run->run_id,
                                             .agent_id = run->agent,
                                             .agent_count = run->agent_count,
                                             .arm_count = run->arm_count,
                                             .horizon = run->horizon,
                                             .budget_nano = BUDGET_NANO,
                                             .resend_after_us = RESEND_US,
                                             .has_grants = true};
    if (run->network != TACIT_WIRE_ELIM_STAR || run->arm_count > ARMS_MAX ||
        run->agent_count > AGENTS_MAX || agreement->lo != 0 || agreement->hi != 1 ||
        tacit_mechanism_init(&wanted.mechanism, &noise) != TACIT_OK ||
        run->epsilon_nano > tacit_mechanism_cost_nano(&wanted.mechanism) ||
        tacit_wire_agreement_digest(agreement, mine.agreement, &arena.allocator) != TACIT_OK)
        return false;
    tacit_commit_domain(FEDERATION, mine.agreement, wanted.domain);
    if (tacit_elim_agent_size(&wanted) == 0 || tacit_elim_agent_size(&wanted) > sizeof state)
        return false;
    config = wanted;
    return true;
}

static void hear_announcement(const struct tacit_wire_envelope *envelope)
{
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_elim_run run;
    if (config.arm_count > 0 ||
        tacit_wire_decode(&tacit_wire_announcement, NULL, envelope->body, envelope->body_size,
                          &announcement, &arena.allocator) != TACIT_OK ||
        tacit_wire_run_decode(&tacit_wire_elim, announcement, &run, &arena.allocator) != TACIT_OK ||
        !configure(&announcement->agreement, &run))
        return;
    mine.version = envelope->version;
    mine.term = envelope->term;
    memcpy(mine.run, envelope->run, sizeof mine.run);
    memcpy(mine.from, board_name(), strlen(board_name()) + 1);
    size_t const size = tacit_elim_agent_size(&config);
    if (board_kept(state, sizeof state) != size ||
        tacit_elim_agent_check(agent(), size, &config) != TACIT_OK)
        (void)tacit_elim_agent_init(agent(), &config); /* nothing of this run was kept */
    step((struct tacit_event){.kind = TACIT_EVENT_START, .as.term = mine.term - 1});
}

static void hear_hub(const struct tacit_wire_envelope *envelope)
{
    struct tacit_elim_message *message;
    struct tacit_wire_shape const shape =
        shape_of(envelope->to[0] == '\0' ? TACIT_EVERYONE : config.agent_id);
    if (config.arm_count == 0 || envelope->term != mine.term ||
        memcmp(envelope->agreement, mine.agreement, sizeof mine.agreement) != 0 ||
        tacit_wire_decode(tacit_wire_elim.messages, &shape, envelope->body, envelope->body_size,
                          &message, &arena.allocator) != TACIT_OK ||
        envelope->kind != tacit_wire_label(tacit_wire_elim.messages, message).kind ||
        envelope->epoch != message->epoch)
        return;
    message->term = mine.term - 1; /* the core counts them from 0 */
    step((struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message});
}

void device_hear(const uint8_t *bytes, size_t size)
{
    struct tacit_wire_envelope envelope;
    if (tacit_wire_envelope_decode(bytes, size, &envelope) != TACIT_OK ||
        envelope.family != TACIT_WIRE_ELIM_FAMILY || envelope.body_size > BYTES_MAX ||
        strcmp(envelope.federation, FEDERATION) != 0 ||
        strcmp(envelope.from, TACIT_WIRE_COORDINATOR) != 0 ||
        (envelope.to[0] != '\0' && strcmp(envelope.to, board_name()) != 0))
        return;
    tacit_wire_arena_init(&arena, room, sizeof room);
    if (envelope.kind == TACIT_WIRE_KIND_ANNOUNCEMENT)
        hear_announcement(&envelope);
    else
        hear_hub(&envelope);
}

static void pull(uint32_t arm)
{
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD, .as.reward = {.arm = arm, .count = 1}};
    event.as.reward.sum.steps = tacit_scale_level(&config.mechanism.scale, board_pull(arm));
    step(event);
}

bool device_work(void)
{
    if (config.arm_count > 0 && board_now_us() >= deadline_us) {
        step((struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
        return true;
    }
    for (uint32_t i = 0; i < plan_count; i++)
        if (plan[i].count > 0) {
            plan[i].count--;
            pull(plan[i].arm);
            return true;
        }
    return false;
}

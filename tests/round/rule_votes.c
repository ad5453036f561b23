/* Private votes over a hub, and published sums, for the storm (storm.h). */
#include <math.h>
#include "../support/testing.h"
#include "../support/player.h"
#include "storm.h"
#include "../support/digest.h"
#include "tacit/vote_hub.h"

struct own {
    struct tacit_vote_site_config sites[STORM_SITES_MAX];
    struct tacit_vote_hub_config hub;
    uint64_t committee;
};

STORM_CORES(tacit_vote_site, tacit_vote_hub)

static struct tacit_vote_site_config draw_site(struct storm_world *world, const struct own *own,
                                               uint32_t site)
{
    static const uint64_t halves[] = {1, 2, 1000, 1000, 1000}; /* of what a draw costs */
    static const uint64_t horizons[] = {100, 700, 1000000, 1000000};
    static const uint32_t draws[] = {1, 2, 60, 60};
    double const epsilon = storm_below(world, 3) == 0 ? 1 : 8;
    struct tacit_mechanism_config const mechanism = {
        TACIT_PRIVACY_SOUND, world->bug == STORM_HAS_NO_SALT ? INFINITY : epsilon, 0, 1};
    uint64_t const budget = halves[storm_below(world, 5)] * (uint64_t)epsilon * TACIT_NANO / 2;
    uint64_t const horizon = horizons[storm_below(world, 4)];
    uint32_t const draws_max = draws[storm_below(world, 4)];
    double const accuracy = storm_below(world, 2) == 0 ? 0.1 : 0.01;
    struct tacit_vote_site_config config = {.player = {.run_id = STORM_RUN_ID,
                                                       .player_id = site,
                                                       .player_count = world->sites,
                                                       .arm_count = world->arms,
                                                       .accuracy = accuracy,
                                                       .failure = 0.5,
                                                       .growth = 3,
                                                       .budget_nano = budget,
                                                       .tick_us = 900},
                                            .board = own->hub.board,
                                            .horizon = horizon,
                                            .draws_max = draws_max,
                                            .goes_on = own->hub.reset_after_s > 0,
                                            .resend_after_us = 1700};
    assert_int_equal(tacit_mechanism_init(&config.player.mechanism, &mechanism), TACIT_OK);
    world->is_noised = config.player.mechanism.noisy;
    return config;
}

/* All noise as the pool reckons with, or less. */
static void draw_pool(struct storm_world *world, struct own *own)
{
    static const uint64_t blocks[] = {300, 4000};
    struct tacit_vote_board_config const board = {.run_id = STORM_RUN_ID,
                                                  .player_count = world->sites,
                                                  .arm_count = world->arms,
                                                  .votes_needed = 1};
    own->hub = (struct tacit_vote_hub_config){.board = board,
                                              .pool = {.run_id = STORM_RUN_ID,
                                                       .player_count = world->sites,
                                                       .arm_count = world->arms,
                                                       .accuracy = 0.05,
                                                       .failure = 0.001,
                                                       .epsilon = 1,
                                                       .block = blocks[storm_below(world, 2)],
                                                       .growth = TACIT_VOTE_POOL_GROWTH},
                                              .domain = {1}};
    for (uint32_t site = 0; site < world->sites; site++) {
        own->sites[site] = draw_site(world, own, site);
        own->sites[site].player.block = own->hub.pool.block;
        memcpy(own->sites[site].domain, own->hub.domain, sizeof own->hub.domain);
    }
}

static void configure_sums(struct storm_world *world);

static void configure(struct storm_world *world)
{
    static const uint32_t arms[] = {1, 2, 3, 3, 5, 64, STORM_ARMS_MAX};
    static const double gaps[] = {0.6, 0.2, 0.1};
    struct own *const own = world->own = calloc(1, sizeof *own);
    assert_non_null(own);
    world->sites = 1 + storm_below(world, 5);
    world->arms = arms[storm_below(world, 7)];
    world->best = storm_below(world, world->arms);
    world->gap = gaps[storm_below(world, 3)];
    if (world->rule->configure == configure_sums) {
        draw_pool(world, own);
        return;
    }
    uint32_t const needed = 1 + storm_below(world, world->sites + 1);
    bool const has_committee = storm_below(world, 4) == 0;
    uint32_t const seconds = 1 + storm_below(world, 4);
    uint32_t const reset_after_s = storm_below(world, 4) == 0 ? seconds : 0;
    own->committee = 1 + storm_below(world, (1u << world->sites) - 1);
    own->hub = (struct tacit_vote_hub_config){
        .board = {.run_id = STORM_RUN_ID,
                  .player_count = world->sites,
                  .arm_count = world->arms,
                  .votes_needed = needed,
                  .committee = has_committee ? &own->committee : NULL},
        .reset_after_s = reset_after_s};
    for (uint32_t site = 0; site < world->sites; site++)
        own->sites[site] = draw_site(world, own, site);
}

static void configure_sums(struct storm_world *world)
{
    configure(world);
}

static void spoil(struct storm_world *world)
{
    struct own *const own = world->own;
    own->hub.board.votes_needed = 0;
    for (uint32_t site = 0; site < world->sites; site++)
        own->sites[site].board.votes_needed = 0;
}

/* The messages of the last step: what they point to belongs to the state. */
static struct tacit_vote_hub_message said[2];

static size_t marks_bytes(const struct storm_world *world)
{
    return TACIT_BITS_WORDS(world->arms) * sizeof(uint64_t);
}

/* What is said about a player only grows: it has all that was durable before this step. */
static void check_row(const struct storm_world *world, const struct tacit_vote_hub_message *row)
{
    struct tacit_vote_hub_message before;
    bool const had_row =
        tacit_vote_hub_row(world->nodes[world->sites].durable, row->player, &before);
    if (had_row && before.reset == row->reset)
        assert_true(tacit_bits_within(before.marks, row->marks, world->arms));
}

/* The pool grows by the sums of the release that came, of arms that were in, or not at all; what is
 * out of it is out of the board. */
static void check_pool(const struct storm_world *world, const void *hub,
                       const struct tacit_vote_hub_message *came)
{
    struct tacit_vote_hub_view before;
    struct tacit_vote_hub_view now;
    tacit_vote_hub_view(world->nodes[world->sites].durable, &before);
    tacit_vote_hub_view(hub, &now);
    bool const grows = now.pool.release_count != before.pool.release_count;
    if (grows)
        assert_true(came != NULL && came->kind == TACIT_VOTE_RELEASE &&
                    now.pool.release_count == before.pool.release_count + 1);
    for (uint32_t arm = 0; arm < world->arms; arm++) {
        int64_t const more = grows && tacit_bits_has(before.pool.active, arm) ? came->sums[arm] : 0;
        assert_true(now.pool.sums[arm] == before.pool.sums[arm] + more);
    }
    assert_memory_equal(now.board.voted, now.pool.active, marks_bytes(world));
}

static void step_hub(const struct storm_world *world, void *state, const struct storm_event *event,
                     const struct tacit_entropy *entropy, struct storm_update *out)
{
    struct tacit_vote_hub_update update;
    struct tacit_event const made = storm_event_of(event);
    out->status = tacit_vote_hub_step(state, &made, entropy, &update);
    said[0] = update.message;
    if (update.send && update.message.kind == TACIT_VOTE_ROW)
        check_row(world, &update.message);
    if (own_of(world)->hub.pool.block > 0)
        check_pool(world, state, event->kind == TACIT_EVENT_RECEIVE ? event->message : NULL);
    *out = (struct storm_update){.status = out->status,
                                 .persist = update.persist,
                                 .flags = update.send | (uint64_t)update.arms_out << 1,
                                 .deadline_us = update.deadline_us,
                                 .messages = {&said[0]},
                                 .message_count = update.send ? 1 : 0};
}

static void step(struct storm_world *world, uint32_t node, const struct storm_event *event,
                 const struct tacit_entropy *entropy, struct storm_update *out)
{
    void *const state = world->nodes[node].state;
    struct tacit_vote_site_update update;
    struct tacit_event const of_site = storm_event_of(event);
    if (node == world->sites) {
        step_hub(world, state, event, entropy, out);
        return;
    }
    out->status = tacit_vote_site_step(state, &of_site, entropy, &update);
    memcpy(said, update.messages, sizeof said);
    *out = (struct storm_update){
        .status = out->status,
        .persist = update.persist,
        .drew = update.has_draw,
        .voids_rewards = update.begins_term,
        .flags = update.has_draw | (uint64_t)update.replan << 1 | (uint64_t)update.on_tick << 2 |
                 (uint64_t)update.message_count << 3 | (uint64_t)update.draw << 5,
        .deadline_us = update.deadline_us,
        .has_plan = update.replan,
        .plan = update.plan,
        .plan_count = update.plan_count,
        .messages = {&said[0], &said[1]},
        .message_count = update.message_count};
}

/* ---- What is said and shown ---- */

static size_t sums_bytes(const struct storm_world *world)
{
    return own_of(world)->hub.pool.block > 0 ? world->arms * sizeof(int64_t) : 0;
}

static void digest_vote_message(const struct storm_world *world,
                                const struct tacit_vote_hub_message *vote_message)
{
    uint64_t const words[] = {
        vote_message->kind,   vote_message->from,         vote_message->to,     vote_message->term,
        vote_message->run_id, vote_message->draw,         vote_message->player, vote_message->reset,
        vote_message->forgot, vote_message->marks == NULL};
    digest_bytes(words, sizeof words);
    if (vote_message->marks != NULL)
        digest_bytes(vote_message->marks, marks_bytes(world));
    digest_bytes(vote_message->commitment, sizeof vote_message->commitment);
    digest_bytes(vote_message->previous, sizeof vote_message->previous);
    if (vote_message->sums != NULL) {
        digest_bytes(vote_message->sums, world->arms * sizeof *vote_message->sums);
        digest_bytes(vote_message->salt, sizeof vote_message->salt);
    }
}

static void digest_board(const struct storm_world *world, const struct tacit_vote_board_view *board)
{
    uint64_t const words[] = {board->reset, board->voted_count, board->mark_count};
    digest_bytes(words, sizeof words);
    digest_bytes(board->voted, marks_bytes(world));
    digest_bytes(board->counts, world->arms * sizeof *board->counts);
}

static uint32_t answer_of(const struct storm_world *world,
                          const struct tacit_vote_board_view *board)
{
    return board->voted_count == 1 && own_of(world)->hub.reset_after_s == 0
               ? 1 + tacit_bits_next(board->voted, world->arms, 0)
               : 0;
}

static uint32_t used_draws(const struct storm_world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->draw_count; i++)
        count += world->draws[i].granted > 0 || world->draws[i].is_used;
    return count;
}

static void look_at_hub(const struct storm_world *world, const void *hub, struct storm_look *look)
{
    struct tacit_vote_hub_view view;
    struct tacit_vote_hub_message vote_message;
    tacit_vote_hub_view(hub, &view);
    digest_board(world, &view.board);
    uint64_t const words[] = {view.is_decided, view.voter_count, view.voters[0], view.flagged[0],
                              view.ahead[0]};
    digest_bytes(words, sizeof words);
    digest_bytes(view.draws, world->sites * sizeof *view.draws);
    if (view.pool.sums != NULL) {
        uint64_t const counts[] = {view.pool.release_count, view.pool.look_count,
                                   view.pool.next_look, view.pool.active_count};
        digest_bytes(counts, sizeof counts);
        digest_bytes(view.pool.active, marks_bytes(world));
        digest_bytes(view.pool.sums, world->arms * sizeof *view.pool.sums);
    }
    digest_word(tacit_vote_hub_reset(hub, &vote_message));
    digest_vote_message(world, &vote_message);
    for (uint32_t site = 0; site < world->sites; site++) {
        digest_word(tacit_vote_hub_row(hub, site, &vote_message));
        digest_vote_message(world, &vote_message);
    }
    *look = (struct storm_look){.flagged = view.flagged[0],
                                .ahead = view.ahead[0],
                                .end = STORM_IS_OVER,
                                .answer = answer_of(world, &view.board),
                                .broken = world->kind != STORM_WILD &&
                                                  view.pool.release_count > used_draws(world)
                                              ? "the pool has a release more than were granted"
                                              : NULL};
}

static void look_at_site(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    static uint8_t head[TACIT_SHA256_BYTES];
    struct tacit_vote_site_view view;
    void const *const site = world->nodes[node].state;
    tacit_vote_site_view(site, &view);
    struct tacit_vote_noised_view const *const player = &view.player;
    uint64_t const words[] = {
        player->epoch,       player->draw,      player->decided,
        player->waiting,     player->halted,    vote_best(site, player, world->arms),
        view.is_decided,     view.is_finished,  view.is_committed,
        view.is_blocked,     view.is_forgotten, view.is_spent,
        view.granted,        view.pull_count,   view.is_heard,
        player->active_count};
    digest_bytes(words, sizeof words);
    digest_bytes(player->active, marks_bytes(world));
    digest_bytes(player->dropped == NULL ? view.said : player->dropped, marks_bytes(world));
    digest_bytes(view.said, marks_bytes(world));
    digest_ledger(player->ledger);
    digest_board(world, &view.board);
    digest_bytes(view.head, sizeof view.head);
    digest_bytes(&view.commit, sizeof view.commit);
    for (uint32_t arm = 0; arm < world->arms; arm++)
        digest_word((uint64_t)tacit_vote_site_total(site, arm));
    memcpy(head, view.head, sizeof head);
    bool const is_over = view.is_decided || view.is_finished || player->decided;
    bool const says_why = view.is_blocked || view.is_spent || player->halted;
    *look = storm_look_of_site(head, player->ledger, is_over, says_why);
    look->waiting = view.commit;
    look->answer = answer_of(world, &view.board);
}

static void look(const struct storm_world *world, uint32_t node, struct storm_look *look)
{
    if (node == world->sites)
        look_at_hub(world, world->nodes[node].state, look);
    else
        look_at_site(world, node, look);
}

/* ---- Messages ---- */

static size_t message_size(const struct storm_world *world, const void *message)
{
    (void)message;
    return sizeof(struct tacit_vote_hub_message) + marks_bytes(world) + sums_bytes(world);
}

static void *message_copy(const struct storm_world *world, const void *message, void *memory)
{
    struct tacit_vote_hub_message const *const from = message;
    struct tacit_vote_hub_message *const to = memory;
    *to = *from;
    if (from->marks != NULL)
        to->marks = memcpy(to + 1, from->marks, marks_bytes(world));
    if (from->sums != NULL)
        to->sums = memcpy((uint8_t *)(to + 1) + marks_bytes(world), from->sums, sums_bytes(world));
    return to;
}

static struct storm_head read(const void *message)
{
    struct tacit_vote_hub_message const *const vote_message = message;
    enum storm_word const word = vote_message->kind == TACIT_VOTE_COMMIT    ? STORM_COMMIT
                                 : vote_message->kind == TACIT_VOTE_GRANTED ? STORM_GRANT
                                 : vote_message->kind == TACIT_VOTE_REFUSED ? STORM_REFUSAL
                                                                            : STORM_OTHER;
    return (struct storm_head){word, vote_message->from, vote_message->to,
                               vote_message->commitment};
}

/* A row has marks, a release sums, too; other messages may. */
static void mend(const struct storm_world *world, void *message)
{
    struct tacit_vote_hub_message *const vote_message = message;
    unsigned const kinds = own_of(world)->hub.pool.block > 0 ? 8 : 7;
    vote_message->kind = (enum tacit_vote_hub_message_kind)((unsigned)vote_message->kind % kinds);
    if (vote_message->kind == TACIT_VOTE_RELEASE && vote_message->sums == NULL)
        vote_message->kind = TACIT_VOTE_COMMIT;
    if (vote_message->kind == TACIT_VOTE_ROW && vote_message->marks == NULL)
        vote_message->kind = TACIT_VOTE_ANEW;
}

static void grant(const void *asked, uint32_t from, void *message)
{
    struct tacit_vote_hub_message const *const commit = asked;
    struct tacit_vote_hub_message *const vote_message = message;
    vote_message->kind = TACIT_VOTE_GRANTED;
    vote_message->to = commit->from;
    vote_message->from = from;
}

static const struct storm_field fields[] = {
    STORM_FIELD(struct tacit_vote_hub_message, kind),
    STORM_FIELD(struct tacit_vote_hub_message, from),
    STORM_FIELD(struct tacit_vote_hub_message, to),
    STORM_FIELD(struct tacit_vote_hub_message, run_id),
    STORM_FIELD(struct tacit_vote_hub_message, term),
    STORM_FIELD(struct tacit_vote_hub_message, draw),
    STORM_FIELD(struct tacit_vote_hub_message, player),
    STORM_FIELD(struct tacit_vote_hub_message, reset),
    STORM_FIELD(struct tacit_vote_hub_message, forgot),
    STORM_FIELD(struct tacit_vote_hub_message, commitment),
    STORM_FIELD(struct tacit_vote_hub_message, previous),
};

const struct storm_rule rule_votes = {.name = "votes",
                                      .has_terms = true,
                                      .configure = configure,
                                      .spoil = spoil,
                                      STORM_OF_CORES,
                                      .step = step,
                                      .look = look,
                                      STORM_OF_MESSAGES(tacit_vote_hub_message),
                                      .found = {36257, 54266, 87774},
                                      .digest = UINT64_C(0xd2529db748209886),
                                      .verdicts = UINT64_C(0x87cf1e7244f72a97)};

struct storm_rule rule_sums(void)
{
    struct storm_rule rule = rule_votes;
    rule.name = "sums";
    rule.configure = configure_sums;
    static const uint32_t found[STORM_FOUND_MAX] = {70694, 75379, 88384};
    memcpy(rule.found, found, sizeof found);
    rule.digest = UINT64_C(0xdd056fbe614bfa40);
    rule.verdicts = UINT64_C(0xbfbbd32a471336de);
    return rule;
}

/* The hub of private votes: grants draws, keeps the board, says what stands of each player. With
 * published sums it adds up what was granted, and the board has the arms that its pool has out. */
#include "tacit/vote_hub.h"
#include "../../base/walk.h"
#include "../round/grantor.h"
#include "pool.h"
#include <string.h>

#define MAGIC UINT64_C(0x3170616e73746f76) /* "votsnap1" */
#define RESET_MAX (UINT64_MAX / 2)         /* that a site may show */
#define COIN_US 1000000u                   /* a second: how often the coin of DSER4 is flipped */

struct tacit_vote_hub {
    struct tacit_vote_hub_config config; /* without its committee, which the board has */
    uint64_t now_us;
    uint64_t term;
    uint64_t coin_us; /* when the coin is flipped next; TACIT_NEVER: there is none */
    uint64_t voter_count;
    /* voters W(N) | casters W(N) | draws N halves | heads N, flagged W(N), ahead W(N) | board; of
     * sums settled N halves | pool, too */
    uint64_t words[];
};

/* ---- Layout ---- */

static uint32_t players_of(const struct tacit_vote_hub *hub)
{
    return hub->config.board.player_count;
}

static size_t set_words(const struct tacit_vote_hub *hub)
{
    return TACIT_BITS_WORDS(players_of(hub));
}

static uint64_t *voters_of(struct tacit_vote_hub *hub)
{
    return hub->words;
}

/* Who has cast in this term, if it is a later one. */
static uint64_t *casters_of(struct tacit_vote_hub *hub)
{
    return hub->words + set_words(hub);
}

static uint32_t *draws_of(struct tacit_vote_hub *hub)
{
    return (uint32_t *)(void *)(hub->words + 2 * set_words(hub));
}

static size_t words_before_heads(uint64_t player_count)
{
    return 2 * TACIT_BITS_WORDS(player_count) + (player_count + 1) / 2;
}

static struct round_grantor grantor_of(struct tacit_vote_hub *hub)
{
    return round_grantor_at(hub->words + words_before_heads(players_of(hub)), players_of(hub),
                            hub->term > 0);
}

static struct tacit_vote_board *board_of(const struct tacit_vote_hub *hub)
{
    uint64_t const *const words =
        hub->words + words_before_heads(players_of(hub)) + round_grantor_words(players_of(hub));
    return (struct tacit_vote_board *)(uintptr_t)words;
}

static bool has_sums(const struct tacit_vote_hub *hub)
{
    return hub->config.pool.block > 0;
}

/* The newest draw of each player that is in the pool, or void. */
static uint32_t *settled_of(const struct tacit_vote_hub *hub)
{
    TACIT_ASSERT(has_sums(hub));
    return (uint32_t *)(void *)((uint8_t *)board_of(hub) +
                                tacit_vote_board_size(&hub->config.board));
}

static struct tacit_vote_pool *pool_of(const struct tacit_vote_hub *hub)
{
    return (struct tacit_vote_pool *)(void *)(settled_of(hub) + (players_of(hub) + 1) / 2 * 2);
}

static struct tacit_vote_board_view board_view(const struct tacit_vote_hub *hub)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board_of(hub), &view);
    return view;
}

static bool has_marks(const struct tacit_vote_hub *hub, const uint64_t *marks)
{
    uint32_t const arms = hub->config.board.arm_count;
    return tacit_bits_next(marks, arms, 0) < arms;
}

/* Of what votes do not have. 0: votes, or no valid pool. */
static size_t sums_bytes(const struct tacit_vote_hub_config *config)
{
    size_t const pool = config->pool.block > 0 ? tacit_vote_pool_size(&config->pool) : 0;
    size_t const settled = (config->board.player_count + 1u) / 2u * sizeof(uint64_t);
    return pool > 0 ? settled + pool : 0;
}

/* Of sums: one row is enough, and nothing is ever reset by chance. */
static bool config_is_valid(const struct tacit_vote_hub_config *config)
{
    struct tacit_vote_pool_config const *const pool = &config->pool;
    struct tacit_vote_board_config const *const board = &config->board;
    return pool->block == 0 ||
           (sums_bytes(config) > 0 && pool->run_id == board->run_id && pool->together == 0 &&
            pool->player_count == board->player_count && pool->arm_count == board->arm_count &&
            pool->growth >= TACIT_VOTE_POOL_GROWTH && board->votes_needed == 1 &&
            board->committee == NULL && config->reset_after_s == 0);
}

size_t tacit_vote_hub_size(const struct tacit_vote_hub_config *config)
{
    TACIT_ASSERT(config != NULL);
    size_t const board = tacit_vote_board_size(&config->board);
    if (board == 0 || !config_is_valid(config))
        return 0;
    uint64_t const players = config->board.player_count;
    return sizeof(struct tacit_vote_hub) +
           (words_before_heads(players) + round_grantor_words((uint32_t)players)) *
               sizeof(uint64_t) +
           board + sums_bytes(config);
}

/* As a state has it. */
static struct tacit_vote_hub_config config_of(const struct tacit_vote_hub_config *config)
{
    struct tacit_vote_hub_config own = *config;
    own.board.committee = NULL;
    return own;
}

/* ---- Saying ---- */

static struct tacit_vote_hub_message message_of(const struct tacit_vote_hub *hub,
                                                enum tacit_vote_hub_message_kind kind, uint32_t to)
{
    return (struct tacit_vote_hub_message){.kind = kind,
                                           .from = TACIT_HUB,
                                           .to = to,
                                           .run_id = hub->config.board.run_id,
                                           .term = hub->term};
}

/* The head of a site, as an answer to its message. */
static void send_head(struct tacit_vote_hub *hub, enum tacit_vote_hub_message_kind kind,
                      const struct tacit_vote_hub_message *message,
                      struct tacit_vote_hub_update *update)
{
    TACIT_ASSERT(message->from < players_of(hub));
    TACIT_ASSERT(!update->send);
    update->send = true;
    update->message = message_of(hub, kind, message->from);
    update->message.draw = message->draw;
    memcpy(update->message.commitment, grantor_of(hub).heads[message->from].head,
           sizeof update->message.commitment);
}

static void send_row(const struct tacit_vote_hub *hub, uint32_t player,
                     struct tacit_vote_hub_update *update)
{
    (void)tacit_vote_hub_row(hub, player, &update->message); /* also without a mark */
    update->send = true;
}

/* Says what the verdict on a message has its sender hear. Result: the verdict's status. */
static enum tacit_status answer(struct tacit_vote_hub *hub,
                                const struct tacit_vote_hub_message *message,
                                struct round_verdict verdict, struct tacit_vote_hub_update *update)
{
    update->persist = update->persist || verdict.persist;
    if (verdict.answer != ROUND_NOTHING) {
        send_head(hub, verdict.answer == ROUND_GRANT ? TACIT_VOTE_GRANTED : TACIT_VOTE_REFUSED,
                  message, update);
        update->message.forgot = verdict.is_unknown;
    }
    return verdict.status;
}

/* ---- Resets and terms ---- */

static void reset(struct tacit_vote_hub *hub, uint64_t number, struct tacit_vote_hub_update *update)
{
    TACIT_ASSERT(hub->voter_count <= players_of(hub));
    tacit_vote_board_reset(board_of(hub), number);
    memset(voters_of(hub), 0, set_words(hub) * sizeof(uint64_t));
    hub->voter_count = 0;
    update->persist = true;
    update->send = tacit_vote_hub_reset(hub, &update->message);
    TACIT_ASSERT(update->send);
}

static void mark(struct tacit_vote_hub *hub, uint32_t player, uint64_t reset, const uint64_t *marks)
{
    enum tacit_status const status =
        tacit_vote_board_mark(board_of(hub), player, (struct tacit_vote_row){reset, marks}, NULL);
    TACIT_ASSERT(status == TACIT_OK);
}

/* Every arm that the pool has out is marked by this player. */
static void mark_out(struct tacit_vote_hub *hub, uint32_t player)
{
    uint64_t out[TACIT_BITS_WORDS(TACIT_ARMS_MAX)];
    struct tacit_vote_pool_view pool;
    tacit_vote_pool_view(pool_of(hub), &pool);
    tacit_bits_fill(out, hub->config.board.arm_count);
    for (size_t i = 0; i < TACIT_BITS_WORDS(hub->config.board.arm_count); i++)
        out[i] &= ~pool.active[i];
    mark(hub, player, board_view(hub).reset, out);
}

/* What was granted is forgotten; the votes that are here stand, and the others come again. Of sums
 * this pool may be an older one: what it has is said anew. */
static void begin_term(struct tacit_vote_hub *hub, uint64_t term,
                       struct tacit_vote_hub_update *update)
{
    TACIT_ASSERT(term > hub->term);
    hub->term = term;
    struct round_grantor const grantor = grantor_of(hub);
    round_grantor_forget(&grantor);
    memset(draws_of(hub), 0, players_of(hub) * sizeof *draws_of(hub));
    memset(casters_of(hub), 0, set_words(hub) * sizeof(uint64_t));
    update->persist = true;
    if (!has_sums(hub))
        return;
    memset(settled_of(hub), 0, players_of(hub) * sizeof *settled_of(hub));
    vote_pool_begin_term(pool_of(hub), term);
    reset(hub, term, update);
    mark_out(hub, 0);
}

/* ---- Messages of sites ---- */

static enum tacit_status on_commit(struct tacit_vote_hub *hub,
                                   const struct tacit_vote_hub_message *message,
                                   struct tacit_vote_hub_update *update)
{
    TACIT_ASSERT(message->draw > 0);
    TACIT_ASSERT(message->from < players_of(hub));
    struct round_grantor const grantor = grantor_of(hub);
    struct tacit_commit asked = {.salt = {0}};
    memcpy(asked.commitment, message->commitment, sizeof asked.commitment);
    memcpy(asked.previous, message->previous, sizeof asked.previous);
    struct round_verdict const verdict = round_grantor_ask(&grantor, message->from, &asked);
    if (verdict.answer == ROUND_GRANT && verdict.persist)
        draws_of(hub)[message->from] = message->draw;
    return answer(hub, message, verdict, update);
}

/* It names its head, which in a later term may be the first of it that is heard of, and is kept. */
static struct round_verdict check_named_head(struct tacit_vote_hub *hub,
                                             const struct tacit_vote_hub_message *message)
{
    struct round_grantor const grantor = grantor_of(hub);
    struct round_verdict const verdict =
        round_grantor_name(&grantor, message->from, message->commitment, false);
    if (verdict.persist && verdict.status == TACIT_OK) {
        draws_of(hub)[message->from] = message->draw > 0 ? message->draw : 1;
        if (has_sums(hub)) /* of a term before: its site has dropped it */
            settled_of(hub)[message->from] = draws_of(hub)[message->from];
    }
    return verdict;
}

/* A draw may come at any time, so a head that is not the last one may be an older message's. */
static enum tacit_status on_hello(struct tacit_vote_hub *hub,
                                  const struct tacit_vote_hub_message *message,
                                  struct tacit_vote_hub_update *update)
{
    struct round_grantor const grantor = grantor_of(hub);
    struct round_verdict verdict =
        round_grantor_greet(&grantor, message->from, message->commitment, false);
    if (verdict.answer == ROUND_NOTHING && !tacit_commit_is_nothing(message->commitment)) {
        verdict = check_named_head(hub, message);
        verdict.answer = ROUND_GRANT;
    }
    return answer(hub, message, verdict, update);
}

/* Who has a mark of the present reset is a voter from then on; older marks count nothing. */
static bool has_voted(const struct tacit_vote_hub *hub, uint32_t player)
{
    struct tacit_vote_row const row = tacit_vote_board_row(board_of(hub), player);
    TACIT_ASSERT(row.marks != NULL);
    return row.reset == board_view(hub).reset && has_marks(hub, row.marks);
}

static void add_voter(struct tacit_vote_hub *hub, uint32_t player)
{
    if (tacit_bits_has(voters_of(hub), player))
        return;
    tacit_bits_add(voters_of(hub), player);
    hub->voter_count++;
    TACIT_ASSERT(hub->voter_count <= players_of(hub));
}

/* In a later term each site may show once that this state has lost a reset. */
static bool may_show_reset(struct tacit_vote_hub *hub, const struct tacit_vote_hub_message *message)
{
    return hub->term > 0 && hub->config.reset_after_s > 0 && message->reset <= RESET_MAX &&
           !tacit_bits_has(casters_of(hub), message->from);
}

/* A vote is a function of granted draws: it names the last grant, or the one before it, when a new
 * one has overtaken it. What it says is joined, and all that stands of the player is said. */
static enum tacit_status on_cast(struct tacit_vote_hub *hub,
                                 const struct tacit_vote_hub_message *message,
                                 struct tacit_vote_hub_update *update)
{
    TACIT_ASSERT(message->marks != NULL);
    TACIT_ASSERT(message->from < players_of(hub));
    struct tacit_vote_board_view const before = board_view(hub);
    bool const is_ahead = message->reset > before.reset;
    if (tacit_commit_is_nothing(message->commitment) ||
        !tacit_vote_board_counts(board_of(hub), message->from))
        return TACIT_STRANGER;
    if (is_ahead && !may_show_reset(hub, message))
        return TACIT_ROLLBACK; /* resets are this hub's own */
    struct round_verdict const verdict = check_named_head(hub, message);
    if (verdict.status != TACIT_OK || verdict.answer != ROUND_NOTHING)
        return answer(hub, message, verdict, update);
    if (hub->term > 0)
        tacit_bits_add(casters_of(hub), message->from);
    if (is_ahead) { /* this hub has forgotten that reset; the vote comes again */
        reset(hub, message->reset, update);
        return TACIT_OK;
    }
    mark(hub, message->from, message->reset, message->marks);
    if (has_voted(hub, message->from))
        add_voter(hub, message->from);
    update->persist = true;
    update->arms_out = before.voted_count - board_view(hub).voted_count;
    send_row(hub, message->from, update);
    return TACIT_OK;
}

/* The release that was granted is in the pool, or void, whatever becomes of its sums: so its site
 * goes on. A void one lacks an arm that is left: it was drawn before its site heard of a term. */
static void settle(struct tacit_vote_hub *hub, const struct tacit_vote_hub_message *message,
                   struct tacit_vote_hub_update *update)
{
    uint32_t const before = board_view(hub).voted_count;
    TACIT_ASSERT(message->draw > settled_of(hub)[message->from]);
    enum tacit_status const status = tacit_vote_pool_add(
        pool_of(hub), (struct tacit_vote_release){message->marks, message->sums});
    TACIT_ASSERT(status == TACIT_OK || status == TACIT_MALFORMED);
    settled_of(hub)[message->from] = message->draw;
    add_voter(hub, message->from);
    mark_out(hub, message->from);
    update->arms_out = before - board_view(hub).voted_count;
}

/* A release is what a grant is of, and opens it; said again, it is heard again. */
static enum tacit_status on_release(struct tacit_vote_hub *hub,
                                    const struct tacit_vote_hub_message *message,
                                    struct tacit_vote_hub_update *update)
{
    struct tacit_commit_scope const scope = {.domain = hub->config.domain,
                                             .run_id = hub->config.board.run_id,
                                             .site = message->from,
                                             .epoch = message->draw};
    struct round_grantor grantor = grantor_of(hub);
    struct tacit_commit opening = {.commitment = {0}};
    uint8_t digest[TACIT_SHA256_BYTES];
    grantor.accepts_first = false; /* what is released in a term was granted in it */
    if (message->draw > settled_of(hub)[message->from]) {
        memcpy(opening.previous, message->previous, sizeof opening.previous);
        memcpy(opening.salt, message->salt, sizeof opening.salt);
        vote_release_digest(message->marks, message->sums, hub->config.board.arm_count, digest);
        struct round_verdict const verdict = round_grantor_open(&grantor, &scope, &opening, digest);
        if (verdict.status != TACIT_OK)
            return answer(hub, message, verdict, update);
        draws_of(hub)[message->from] = message->draw;
        settle(hub, message, update);
        update->persist = true;
    }
    send_row(hub, message->from, update);
    return TACIT_OK;
}

static bool are_arms(const struct tacit_vote_hub *hub, const uint64_t *set)
{
    return set != NULL && tacit_bits_within(set, set, hub->config.board.arm_count);
}

static enum tacit_status on_receive(struct tacit_vote_hub *hub,
                                    const struct tacit_vote_hub_message *message,
                                    struct tacit_vote_hub_update *update)
{
    if (message->run_id != hub->config.board.run_id || message->from >= players_of(hub) ||
        message->to != TACIT_HUB || message->term < hub->term)
        return TACIT_STRANGER;
    if (message->term > hub->term)
        return TACIT_ROLLBACK;
    switch (message->kind) {
    case TACIT_VOTE_HELLO:
        return on_hello(hub, message, update);
    case TACIT_VOTE_COMMIT:
        return message->draw == 0 ? TACIT_MALFORMED : on_commit(hub, message, update);
    case TACIT_VOTE_CAST:
        if (has_sums(hub))
            break;
        return are_arms(hub, message->marks) ? on_cast(hub, message, update) : TACIT_MALFORMED;
    case TACIT_VOTE_RELEASE:
        if (!has_sums(hub))
            break;
        return are_arms(hub, message->marks) && message->sums != NULL && message->draw > 0
                   ? on_release(hub, message, update)
                   : TACIT_MALFORMED;
    case TACIT_VOTE_GRANTED:
    case TACIT_VOTE_REFUSED:
    case TACIT_VOTE_ROW:
    case TACIT_VOTE_ANEW:
        break;
    }
    return TACIT_UNEXPECTED;
}

/* DSER4: with equal chance in each second, whatever was voted (Alg. DSER4; the paper's phi is per
 * sample, which a hub does not see). */
static enum tacit_status flip_coin(struct tacit_vote_hub *hub, const struct tacit_entropy *entropy,
                                   struct tacit_vote_hub_update *update)
{
    uint64_t chance;
    if (hub->now_us < hub->coin_us)
        return TACIT_OK;
    hub->coin_us = hub->now_us + COIN_US;
    TACIT_ASSERT(hub->config.reset_after_s > 0);
    TACIT_TRY(tacit_entropy_below(entropy, hub->config.reset_after_s, &chance));
    if (chance == 0)
        reset(hub, board_view(hub).reset + 1, update);
    return TACIT_OK;
}

/* ---- Public functions ---- */

enum tacit_status tacit_vote_hub_init(struct tacit_vote_hub *hub,
                                      const struct tacit_vote_hub_config *config)
{
    TACIT_ASSERT(hub != NULL);
    size_t const size = tacit_vote_hub_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    hub->config = config_of(config);
    hub->coin_us = TACIT_NEVER;
    if (has_sums(hub))
        (void)tacit_vote_pool_init(pool_of(hub), &config->pool);
    return tacit_vote_board_init(board_of(hub), &config->board);
}

static enum tacit_status check_pool(const struct tacit_vote_hub *hub)
{
    struct tacit_vote_pool_config const *const config = &hub->config.pool;
    return tacit_vote_pool_check(pool_of(hub), tacit_vote_pool_size(config), config);
}

/* The board has what the pool has out. */
static bool pool_is_right(const struct tacit_vote_hub *hub)
{
    struct tacit_vote_pool_view pool;
    if (!has_sums(hub))
        return true;
    if (check_pool(hub) != TACIT_OK)
        return false;
    tacit_vote_pool_view(pool_of(hub), &pool);
    return memcmp(board_view(hub).voted, pool.active,
                  TACIT_BITS_WORDS(hub->config.board.arm_count) * sizeof(uint64_t)) == 0;
}

/* Voters are those with marks of the present reset; of sums, none without a settled release. */
static bool voters_are_right(struct tacit_vote_hub *hub)
{
    for (uint32_t player = 0; player < players_of(hub); player++) {
        bool const votes = tacit_bits_has(voters_of(hub), player);
        if (has_sums(hub) ? votes && settled_of(hub)[player] == 0 : votes != has_voted(hub, player))
            return false;
    }
    return tacit_bits_count(voters_of(hub), players_of(hub)) == hub->voter_count;
}

enum tacit_status tacit_vote_hub_check(const struct tacit_vote_hub *hub, size_t size,
                                       const struct tacit_vote_hub_config *config)
{
    TACIT_ASSERT(hub != NULL);
    size_t const wanted = tacit_vote_hub_size(config);
    if (wanted == 0 || size != wanted)
        return TACIT_MALFORMED;
    struct tacit_vote_hub_config const own = config_of(config);
    if (memcmp(&hub->config, &own, sizeof own) != 0)
        return TACIT_MALFORMED;
    struct tacit_vote_hub *const read = (struct tacit_vote_hub *)(uintptr_t)hub;
    uint32_t const players = players_of(hub);
    struct round_grantor const grantor = grantor_of(read);
    TACIT_TRY(tacit_vote_board_check(board_of(hub), tacit_vote_board_size(&config->board),
                                     &config->board));
    for (uint32_t player = 0; player < players; player++)
        if ((draws_of(read)[player] == 0) != tacit_commit_is_nothing(grantor.heads[player].head))
            return TACIT_MALFORMED;
    bool const is_possible = tacit_bits_within(voters_of(read), voters_of(read), players) &&
                             tacit_bits_within(casters_of(read), casters_of(read), players) &&
                             round_grantor_is_possible(&grantor) && voters_are_right(read) &&
                             pool_is_right(hub);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

enum tacit_status tacit_vote_hub_step(struct tacit_vote_hub *hub, const struct tacit_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_vote_hub_update *update)
{
    TACIT_ASSERT(hub != NULL);
    TACIT_ASSERT(event != NULL);
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= hub->now_us);
    *update = (struct tacit_vote_hub_update){0};
    enum tacit_status status = TACIT_OK;
    uint64_t const now_before = hub->now_us;
    hub->now_us = event->now_us;
    switch (event->kind) {
    case TACIT_EVENT_START:
        if (event->as.term > hub->term)
            begin_term(hub, event->as.term, update);
        hub->coin_us = hub->config.reset_after_s > 0 ? hub->now_us + COIN_US : TACIT_NEVER;
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(hub, event->as.message, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = flip_coin(hub, entropy, update);
        break;
    case TACIT_EVENT_REWARD:
    case TACIT_EVENT_EXPLOITED:
    case TACIT_EVENT_OFFER: /* a hub has no arms to pull */
        status = TACIT_INVALID;
        break;
    }
    if (event->kind == TACIT_EVENT_RECEIVE && status != TACIT_OK && !update->persist)
        hub->now_us = now_before; /* refused: byte for byte as before */
    TACIT_IMPLIES(status == TACIT_OK, hub->now_us == event->now_us);
    TACIT_ASSERT(hub->voter_count <= players_of(hub));
    TACIT_IMPLIES(update->send, update->message.from == TACIT_HUB);
    TACIT_IMPLIES(status == TACIT_UNEXPECTED || status == TACIT_MALFORMED, !update->persist);
    update->deadline_us = hub->coin_us;
    return status;
}

/* ---- What a lost hub is built again from ---- */

static void walk_hub(struct base_walk *walk, void *state)
{
    struct tacit_vote_hub *const hub = state;
    uint64_t number = board_view(hub).reset;
    base_walk_same(walk, MAGIC);
    base_walk_same(walk, hub->config.board.run_id);
    base_walk_same(walk, players_of(hub));
    base_walk_same(walk, hub->config.board.arm_count);
    base_walk_same(walk, has_sums(hub) ? UINT64_MAX : hub->config.reset_after_s);
    if (has_sums(hub)) {
        vote_pool_walk(walk, pool_of(hub));
        return;
    }
    base_walk_word(walk, &number);
    if (walk->reads && !walk->failed)
        tacit_vote_board_reset(board_of(hub), number);
}

size_t tacit_vote_hub_snapshot(const struct tacit_vote_hub *hub, uint8_t *bytes, size_t room)
{
    return base_walk_write(walk_hub, hub, bytes, room);
}

enum tacit_status tacit_vote_hub_restore(struct tacit_vote_hub *hub,
                                         const struct tacit_vote_hub_config *config,
                                         const uint8_t *bytes, size_t size)
{
    TACIT_TRY(tacit_vote_hub_init(hub, config));
    if (!base_walk_read(walk_hub, hub, bytes, size) ||
        !base_walk_writes(walk_hub, hub, bytes, size))
        return TACIT_MALFORMED;
    if (!has_sums(hub))
        return TACIT_OK;
    TACIT_TRY(check_pool(hub));
    mark_out(hub, 0);
    return TACIT_OK;
}

bool tacit_vote_hub_row(const struct tacit_vote_hub *hub, uint32_t player,
                        struct tacit_vote_hub_message *message)
{
    TACIT_ASSERT(player < players_of(hub));
    TACIT_ASSERT(message != NULL);
    TACIT_ASSERT(hub != NULL);
    struct tacit_vote_row const row = tacit_vote_board_row(board_of(hub), player);
    *message = message_of(hub, TACIT_VOTE_ROW, TACIT_EVERYONE);
    message->player = player;
    message->draw = has_sums(hub) ? settled_of(hub)[player] : 0;
    message->reset = row.reset;
    message->marks = row.marks;
    return has_marks(hub, row.marks);
}

bool tacit_vote_hub_reset(const struct tacit_vote_hub *hub, struct tacit_vote_hub_message *message)
{
    TACIT_ASSERT(message != NULL);
    TACIT_ASSERT(hub != NULL);
    *message = message_of(hub, TACIT_VOTE_ANEW, TACIT_EVERYONE);
    message->reset = board_view(hub).reset;
    return message->reset > 0;
}

void tacit_vote_hub_view(const struct tacit_vote_hub *hub, struct tacit_vote_hub_view *view)
{
    TACIT_ASSERT(hub != NULL);
    TACIT_ASSERT(view != NULL);
    struct tacit_vote_hub *const read = (struct tacit_vote_hub *)(uintptr_t)hub;
    *view = (struct tacit_vote_hub_view){.term = hub->term,
                                         .voter_count = (uint32_t)hub->voter_count,
                                         .voters = voters_of(read),
                                         .flagged = grantor_of(read).flagged,
                                         .ahead = grantor_of(read).ahead,
                                         .draws = draws_of(read),
                                         .board = board_view(hub)};
    if (has_sums(hub))
        tacit_vote_pool_view(pool_of(hub), &view->pool);
    view->is_decided = hub->config.reset_after_s == 0 && view->board.voted_count == 1;
}

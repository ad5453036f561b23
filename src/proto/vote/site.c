/* A site of private votes: a player, its board, and the chain of what it has committed to
 * (LIVE-TRUST 1.1-1.5). Before the grant of a draw nothing uses it: the player reads no board, and
 * what comes meanwhile waits there. With published sums the board says which arms the hub's pool
 * has in.
 *
 * A draw is made (the player waits), committed to in the same write, and granted: then the player
 * judges by it. What the player lets out at a tick, its vote or the release itself, is said until a
 * row of the hub's has it. */
#include "tacit/vote_hub.h"
#include "../round/site.h"
#include "block.h"
#include "pool.h"
#include <string.h>

struct tacit_vote_site {
    struct tacit_vote_site_config config; /* without its committee, which the board has */
    struct round_site grants; /* commit: if committed; of sums until it is settled; else zeros */
    uint64_t player_bytes;
    uint64_t now_us;
    uint64_t term;
    uint64_t pull_count;
    uint64_t granted;    /* the newest draw that may be used; 0: none */
    uint64_t cast_reset; /* of the vote as it left last */
    uint64_t committed;  /* 1: the newest draw waits for its grant; 0 while it has no salt */
    uint64_t unheard;    /* 1: the vote or release has left, and no row of the hub's has it */
    /* the vote as it left last W | player | board */
    uint64_t words[];
};

/* ---- Layout ---- */

static size_t width_of(const struct tacit_vote_site *site)
{
    return TACIT_BITS_WORDS(site->config.player.arm_count);
}

static uint64_t *cast_of(const struct tacit_vote_site *site)
{
    return (uint64_t *)(uintptr_t)site->words;
}

static bool has_sums(const struct tacit_vote_site *site)
{
    return site->config.player.block > 0;
}

static struct tacit_vote_noised *player_of(const struct tacit_vote_site *site)
{
    return (struct tacit_vote_noised *)(uintptr_t)(site->words + width_of(site));
}

static struct tacit_vote_board *board_of(const struct tacit_vote_site *site)
{
    return (struct tacit_vote_board *)((uintptr_t)player_of(site) + site->player_bytes);
}

static bool config_is_valid(const struct tacit_vote_site_config *config)
{
    return config->player.run_id == config->board.run_id &&
           config->player.player_count == config->board.player_count &&
           config->player.arm_count == config->board.arm_count && config->horizon >= 1 &&
           config->horizon <= TACIT_HORIZON_MAX && config->draws_max >= 1 &&
           !(config->goes_on && config->player.block > 0) && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_NEVER >> ROUND_DOUBLINGS_MAX;
}

/* As a state has it. */
static struct tacit_vote_site_config config_of(const struct tacit_vote_site_config *config)
{
    struct tacit_vote_site_config own = *config;
    own.board.committee = NULL;
    return own;
}

size_t tacit_vote_site_size(const struct tacit_vote_site_config *config)
{
    TACIT_ASSERT(config != NULL);
    size_t const player = tacit_vote_noised_size(&config->player);
    size_t const board = tacit_vote_board_size(&config->board);
    if (player == 0 || board == 0 || !config_is_valid(config))
        return 0;
    return sizeof(struct tacit_vote_site) +
           TACIT_BITS_WORDS(config->player.arm_count) * sizeof(uint64_t) + player + board;
}

/* ---- Looking ---- */

static struct tacit_vote_noised_view player_view(const struct tacit_vote_site *site)
{
    struct tacit_vote_noised_view view;
    tacit_vote_noised_view(player_of(site), &view);
    return view;
}

static struct tacit_vote_board_view board_view(const struct tacit_vote_site *site)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board_of(site), &view);
    return view;
}

/* One arm is left for everybody, and no reset will bring the others back. */
static bool is_over(const struct tacit_vote_site *site)
{
    return !site->config.goes_on && board_view(site).voted_count == 1;
}

/* No further draw is allowed: what would be played for it would be in vain. */
static bool is_spent(const struct tacit_vote_site *site)
{
    struct tacit_vote_noised_view const player = player_view(site);
    return player.halted ||
           (player.draw >= site->config.draws_max && !player.waiting && !player.decided);
}

static bool may_explore(const struct tacit_vote_site *site)
{
    return site->grants.blocked == 0 && site->pull_count < site->config.horizon && !is_over(site) &&
           !is_spent(site);
}

/* The newest draw is not committed to yet: the source of salts failed. */
static bool lacks_salt(const struct tacit_vote_site *site)
{
    return player_view(site).waiting && site->committed == 0;
}

/* ---- Saying ---- */

static struct tacit_vote_hub_message message_of(const struct tacit_vote_site *site,
                                                enum tacit_vote_hub_message_kind kind)
{
    return (struct tacit_vote_hub_message){.kind = kind,
                                           .from = site->config.player.player_id,
                                           .to = TACIT_HUB,
                                           .run_id = site->config.player.run_id,
                                           .term = site->term,
                                           .draw = (uint32_t)player_view(site).draw};
}

static void add_message(struct tacit_vote_site_update *update,
                        struct tacit_vote_hub_message message)
{
    TACIT_ASSERT(update->message_count < sizeof update->messages / sizeof update->messages[0]);
    update->messages[update->message_count++] = message;
}

/* "May this draw be used?", or, with none, "Is this the last that was granted?" */
static void ask(const struct tacit_vote_site *site, struct tacit_vote_site_update *update)
{
    bool const committed = site->committed != 0;
    struct tacit_vote_hub_message message =
        message_of(site, committed ? TACIT_VOTE_COMMIT : TACIT_VOTE_HELLO);
    memcpy(message.commitment, committed ? site->grants.commit.commitment : site->grants.head,
           sizeof message.commitment);
    if (committed)
        memcpy(message.previous, site->grants.commit.previous, sizeof message.previous);
    else
        message.draw = (uint32_t)site->granted; /* a draw of a term before may be void */
    add_message(update, message);
}

struct tacit_vote_hub_message tacit_vote_site_release(const struct tacit_vote_site *site)
{
    struct tacit_vote_release const release = player_view(site).release;
    struct tacit_vote_hub_message message = message_of(site, TACIT_VOTE_RELEASE);
    TACIT_ASSERT(has_sums(site) && message.draw > 0);
    message.marks = release.arms;
    message.sums = release.sums;
    memcpy(message.previous, site->grants.commit.previous, sizeof message.previous);
    memcpy(message.salt, site->grants.commit.salt, sizeof message.salt);
    return message;
}

/* As it left last. */
static struct tacit_vote_hub_message vote_of(const struct tacit_vote_site *site)
{
    struct tacit_vote_hub_message message = message_of(site, TACIT_VOTE_CAST);
    TACIT_ASSERT(!has_sums(site));
    message.reset = site->cast_reset;
    message.marks = cast_of(site);
    memcpy(message.commitment, site->grants.head, sizeof message.commitment);
    return message;
}

/* What the hub has not heard yet. A blocked site says nothing more. */
static void cast(const struct tacit_vote_site *site, struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(site->unheard != 0);
    if (site->grants.blocked == 0)
        add_message(update, has_sums(site) ? tacit_vote_site_release(site) : vote_of(site));
}

/* Ensures: after a draw, that it is committed to in the same write. */
static enum tacit_status commit_draw(struct tacit_vote_site *site, const struct tacit_entropy *keys,
                                     struct tacit_vote_site_update *update)
{
    uint32_t const draw = (uint32_t)player_view(site).draw;
    uint8_t digest[TACIT_SHA256_BYTES];
    if (!lacks_salt(site))
        return TACIT_OK;
    struct tacit_commit_scope const scope = {.domain = site->config.domain,
                                             .run_id = site->config.player.run_id,
                                             .site = site->config.player.player_id,
                                             .epoch = draw};
    tacit_vote_noised_digest(player_of(site), digest);
    update->persist = true;
    TACIT_ASSERT(draw > site->granted);
    TACIT_TRY(round_site_commit(&site->grants, &scope, digest, keys));
    /* Of votes sums never leave, so nothing will be opened: the salt is of no use to anybody. */
    if (!has_sums(site))
        memset(site->grants.commit.salt, 0, sizeof site->grants.commit.salt);
    site->committed = 1;
    update->has_draw = true;
    update->draw = draw;
    ask(site, update);
    return TACIT_OK;
}

static void show_plan(const struct tacit_vote_site *site, const struct tacit_pull_block *plan,
                      uint32_t plan_count, struct tacit_vote_site_update *update)
{
    update->replan = true;
    update->plan = plan;
    update->plan_count = may_explore(site) ? plan_count : 0;
}

static void void_plan(struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(update->plan_count == 0); /* who may not explore is shown none */
    update->replan = true;
}

/* ---- The player's steps ---- */

/* What a step has beside its state and what came. */
struct step {
    const struct tacit_entropy *noise;
    struct tacit_vote_site_update *update;
};

/* What the player lets out, a vote or a release: said until the hub has it. */
static void publish(struct tacit_vote_site *site, const struct tacit_vote_noised_update *inner,
                    struct tacit_vote_site_update *update)
{
    if (!has_sums(site)) {
        TACIT_ASSERT(inner->vote.marks != NULL);
        memcpy(cast_of(site), inner->vote.marks, width_of(site) * sizeof(uint64_t));
        site->cast_reset = inner->vote.reset;
    }
    site->unheard = 1;
    cast(site, update);
}

static enum tacit_status step_player(struct tacit_vote_site *site, struct tacit_vote_event event,
                                     const struct step *step)
{
    struct tacit_vote_noised_update inner;
    event.now_us = site->now_us;
    enum tacit_status const status = tacit_vote_noised_step(
        player_of(site), has_sums(site) ? NULL : board_of(site), &event, step->noise, &inner);
    step->update->persist = step->update->persist || inner.persist || inner.persist_board;
    if (inner.replan)
        show_plan(site, inner.plan, inner.plan_count, step->update);
    if (inner.send)
        publish(site, &inner, step->update);
    return status;
}

/* Of events that bring nothing. */
static enum tacit_status signal_player(struct tacit_vote_site *site, enum tacit_event_kind kind,
                                       const struct step *step)
{
    return step_player(site, (struct tacit_vote_event){.kind = kind}, step);
}

/* The player reads it, of sums with how far the hub is through with its draws; where it has nothing
 * to play then, the plan is void. */
static enum tacit_status read_board(struct tacit_vote_site *site, const struct step *step)
{
    struct tacit_vote_event const offer = {
        .kind = TACIT_EVENT_OFFER,
        .as.standing = {board_view(site).voted, site->unheard == 0 ? site->granted : 0}};
    enum tacit_status const status = step_player(site, offer, step);
    if (!player_view(site).pulling ||
        is_over(site)) /* the arms that were left had all their rewards */
        void_plan(step->update);
    return status;
}

/* ---- Handlers ---- */

/* The hub has forgotten what it granted, and perhaps what it has heard: the vote of the present
 * reset is said again, or that there is none in it. */
static void begin_term(struct tacit_vote_site *site, uint64_t term,
                       struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(term > site->term);
    uint64_t const reset = board_view(site).reset;
    site->term = term;
    memset(&site->grants.commit, 0, sizeof site->grants.commit);
    site->committed = 0;
    round_site_begin_term(&site->grants, true); /* what was not granted is gone */
    update->begins_term = update->persist = true;
    tacit_vote_noised_begin_term(player_of(site));
    if (has_sums(site)) {
        site->unheard = 0;
        return;
    }
    if (site->cast_reset < reset) {
        memset(cast_of(site), 0, width_of(site) * sizeof(uint64_t));
        site->cast_reset = reset;
    }
    site->unheard =
        site->granted > 0 && tacit_vote_board_counts(board_of(site), site->config.player.player_id);
}

static enum tacit_status on_start(struct tacit_vote_site *site, uint64_t term,
                                  const struct step *step)
{
    if (term > site->term)
        begin_term(site, term, step->update);
    enum tacit_status const status = signal_player(site, TACIT_EVENT_START, step);
    if (!lacks_salt(site))
        ask(site, step->update);
    return status;
}

/* Beyond the horizon rewards enter nothing. */
static void count_pulls(struct tacit_vote_site *site, uint64_t count,
                        struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(site->pull_count <= site->config.horizon);
    uint64_t const left = site->config.horizon - site->pull_count;
    site->pull_count += count < left ? count : left;
    update->persist = true;
    if (site->pull_count == site->config.horizon && left > 0)
        void_plan(update);
}

static enum tacit_status on_reward(struct tacit_vote_site *site, const struct tacit_reward *reward,
                                   const struct step *step)
{
    if (!may_explore(site) || reward->count > site->config.horizon - site->pull_count)
        return TACIT_INVALID;
    enum tacit_status const status = step_player(
        site, (struct tacit_vote_event){.kind = TACIT_EVENT_REWARD, .as.reward = *reward}, step);
    if (status == TACIT_BUDGET)
        void_plan(step->update);
    if (step->update->persist)
        count_pulls(site, reward->count, step->update);
    return status;
}

/* This state is the one that was granted last, after all. */
static enum tacit_status unblock(struct tacit_vote_site *site, const struct step *step)
{
    site->grants.blocked = site->grants.forgotten = 0;
    site->grants.resend.unanswered_count = 0;
    step->update->persist = true;
    return signal_player(site, TACIT_EVENT_START, step);
}

/* The draw may be used; then the board is read, which has waited. */
static enum tacit_status on_granted(struct tacit_vote_site *site,
                                    const struct tacit_vote_hub_message *message,
                                    const struct step *step)
{
    TACIT_ASSERT(!tacit_commit_is_nothing(message->commitment));
    if (tacit_commit_is_same(message->commitment, site->grants.head))
        return site->committed != 0 || site->grants.blocked == 0 ? TACIT_OK : unblock(site, step);
    if (site->committed == 0 || !round_site_on_grant(&site->grants, message->commitment))
        return TACIT_OK; /* late, or repeated */
    if (!has_sums(site))
        memset(&site->grants.commit, 0, sizeof site->grants.commit);
    site->committed = 0;
    TACIT_ASSERT(player_view(site).draw > site->granted);
    site->granted = player_view(site).draw;
    step->update->granted = (uint32_t)site->granted;
    step->update->persist = true;
    struct tacit_vote_event const grant = {.kind = TACIT_EVENT_RECEIVE,
                                           .as.granted = site->granted};
    enum tacit_status const status = step_player(site, grant, step);
    TACIT_ASSERT(status == TACIT_OK);
    return read_board(site, step);
}

/* Another state of this site goes on: nothing is played, nothing leaves, until the hub says that it
 * was this one. */
static enum tacit_status on_refused(struct tacit_vote_site *site,
                                    const struct tacit_vote_hub_message *message,
                                    const struct step *step)
{
    TACIT_ASSERT(message->kind == TACIT_VOTE_REFUSED);
    struct round_refusal const shown = {.round = message->draw,
                                        .draw_round = site->committed != 0 ? player_view(site).draw
                                                                           : site->granted,
                                        .is_waiting = site->committed != 0,
                                        .forgot = message->forgot,
                                        .commitment = message->commitment};
    bool const was_blocked = site->grants.blocked != 0;
    step->update->persist = round_site_on_refusal(&site->grants, &shown);
    if (was_blocked && site->grants.blocked == 0)
        return unblock(site, step);
    if (!was_blocked && site->grants.blocked != 0)
        void_plan(step->update);
    return TACIT_OK;
}

/* Has this row of the hub's all that this site has said? */
static bool has_heard(const struct tacit_vote_site *site, const struct tacit_vote_hub_message *row)
{
    TACIT_ASSERT(row->marks != NULL);
    if (row->player != site->config.player.player_id)
        return false;
    if (has_sums(site))
        return row->draw >= site->granted;
    return row->reset > site->cast_reset ||
           (row->reset == site->cast_reset &&
            tacit_bits_within(cast_of(site), row->marks, site->config.player.arm_count));
}

static enum tacit_status on_board(struct tacit_vote_site *site,
                                  const struct tacit_vote_hub_message *message,
                                  const struct step *step)
{
    bool const is_row = message->kind == TACIT_VOTE_ROW;
    bool const was_over = is_over(site);
    struct tacit_vote_row const row = {message->reset, message->marks};
    if (is_row)
        TACIT_TRY(tacit_vote_board_mark(board_of(site), message->player, row, NULL));
    /* Of sums a row has what the ANEW before it said, which may come later, or never. */
    if (!is_row || has_sums(site))
        tacit_vote_board_reset(board_of(site), message->reset);
    step->update->persist = true;
    if (is_row && site->unheard != 0 && has_heard(site, message)) {
        site->unheard = 0; /* nothing is said again */
        site->grants.resend.unanswered_count = 0;
    }
    if (has_sums(site) && was_over && !is_over(site)) /* a term: its plan was open, and not shown */
        (void)signal_player(site, TACIT_EVENT_START, step);
    return player_view(site).waiting ? TACIT_OK : read_board(site, step);
}

static enum tacit_status on_receive(struct tacit_vote_site *site,
                                    const struct tacit_vote_hub_message *message,
                                    const struct step *step)
{
    if (message->run_id != site->config.player.run_id || message->from != TACIT_HUB ||
        message->term != site->term ||
        (message->to != site->config.player.player_id && message->to != TACIT_EVERYONE))
        return TACIT_STRANGER;
    switch (message->kind) {
    case TACIT_VOTE_GRANTED:
        return tacit_commit_is_nothing(message->commitment) ? TACIT_MALFORMED
                                                            : on_granted(site, message, step);
    case TACIT_VOTE_REFUSED:
        return on_refused(site, message, step);
    case TACIT_VOTE_ROW:
    case TACIT_VOTE_ANEW:
        return on_board(site, message, step);
    case TACIT_VOTE_HELLO:
    case TACIT_VOTE_COMMIT:
    case TACIT_VOTE_CAST:
    case TACIT_VOTE_RELEASE:
        break;
    }
    return TACIT_UNEXPECTED;
}

static enum tacit_status on_timeout(struct tacit_vote_site *site, const struct step *step)
{
    bool const is_due = site->now_us >= site->grants.resend.due_us;
    TACIT_TRY(signal_player(site, TACIT_EVENT_TIMEOUT, step));
    if (!is_due || lacks_salt(site)) /* it is committed to now, and asked for */
        return TACIT_OK;
    bool const has_cast = step->update->message_count > 0;
    if (site->committed != 0 || site->grants.blocked != 0)
        ask(site, step->update);
    if (site->unheard != 0 && !has_cast)
        cast(site, step->update);
    return TACIT_OK;
}

/* A draw or a vote waits for its answer, or a draw for its salt. */
static void time_resend(struct tacit_vote_site *site, const struct tacit_event *event,
                        uint32_t unanswered_before, const struct tacit_vote_site_update *update)
{
    struct round_site_step const step = {
        .kind = event->kind,
        .now_us = site->now_us,
        .unanswered_before = unanswered_before,
        .is_wanted = player_view(site).waiting || site->grants.blocked != 0 || site->unheard != 0,
        .has_moved = lacks_salt(site) || site->grants.resend.due_us == TACIT_NEVER,
        .sends = update->message_count > 0};
    round_site_end_step(&site->grants, site->config.resend_after_us, &step);
}

static void set_deadline(const struct tacit_vote_site *site, struct tacit_vote_site_update *update)
{
    struct tacit_vote_noised_view const player = player_view(site);
    update->deadline_us = vote_earlier(player.deadline_us, site->grants.resend.due_us);
    update->on_tick = update->deadline_us != TACIT_NEVER && update->deadline_us == player.leave_us;
    TACIT_IMPLIES(update->on_tick, update->deadline_us != TACIT_NEVER);
}

/* ---- Public functions ---- */

enum tacit_status tacit_vote_site_init(struct tacit_vote_site *site,
                                       const struct tacit_vote_site_config *config)
{
    TACIT_ASSERT(site != NULL);
    size_t const size = tacit_vote_site_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(site, 0, size);
    site->config = config_of(config);
    site->player_bytes = tacit_vote_noised_size(&config->player);
    site->grants.resend.due_us = TACIT_NEVER;
    TACIT_TRY(tacit_vote_noised_init(player_of(site), &config->player));
    return tacit_vote_board_init(board_of(site), &config->board);
}

/* Could steps have left this, beyond what player and board check of themselves? */
static bool is_possible(const struct tacit_vote_site *site)
{
    struct tacit_vote_noised_view const player = player_view(site);
    return site->committed <= 1 && round_site_is_possible(&site->grants) && site->unheard <= 1 &&
           site->pull_count <= site->config.horizon && site->granted <= player.draw &&
           (!player.waiting || site->granted < player.draw) &&
           (!has_sums(site) || site->unheard == 0 || site->granted == player.draw) &&
           player.draw <= UINT32_MAX && (site->committed == 0 || player.waiting) &&
           (site->committed == 0 || !tacit_commit_is_nothing(site->grants.commit.commitment)) &&
           (site->granted == 0) == tacit_commit_is_nothing(site->grants.head);
}

enum tacit_status tacit_vote_site_check(const struct tacit_vote_site *site, size_t size,
                                        const struct tacit_vote_site_config *config)
{
    TACIT_ASSERT(site != NULL);
    size_t const wanted = tacit_vote_site_size(config);
    if (wanted == 0 || size != wanted)
        return TACIT_MALFORMED;
    struct tacit_vote_site_config const own = config_of(config);
    if (memcmp(&site->config, &own, sizeof own) != 0 ||
        site->player_bytes != tacit_vote_noised_size(&config->player))
        return TACIT_MALFORMED;
    TACIT_TRY(tacit_vote_noised_check(player_of(site), site->player_bytes, &config->player));
    TACIT_TRY(tacit_vote_board_check(board_of(site), tacit_vote_board_size(&config->board),
                                     &config->board));
    return is_possible(site) ? TACIT_OK : TACIT_MALFORMED;
}

enum tacit_status tacit_vote_site_step(struct tacit_vote_site *site,
                                       const struct tacit_event *event,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(site != NULL);
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= site->now_us);
    struct tacit_entropy const *const keys = event->keys == NULL ? entropy : event->keys;
    struct step const step = {entropy, update};
    uint64_t const now_before = site->now_us;
    uint32_t const unanswered_before = site->grants.resend.unanswered_count;
    enum tacit_status status = TACIT_UNEXPECTED;
    *update = (struct tacit_vote_site_update){.deadline_us = TACIT_NEVER};
    site->now_us = event->now_us;
    switch (event->kind) {
    case TACIT_EVENT_START:
        status = on_start(site, event->as.term, &step);
        break;
    case TACIT_EVENT_REWARD:
        status = on_reward(site, &event->as.reward, &step);
        break;
    case TACIT_EVENT_EXPLOITED:
        count_pulls(site, event->as.exploited_count, update);
        status = TACIT_OK;
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(site, event->as.message, &step);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = on_timeout(site, &step);
        break;
    case TACIT_EVENT_OFFER: /* it has a plan */
        break;
    }
    if (status == TACIT_OK)
        status = commit_draw(site, keys, update);
    if (status != TACIT_OK && !update->persist) /* refused: byte for byte as before */
        site->now_us = now_before;
    else
        time_resend(site, event, unanswered_before, update);
    TACIT_IMPLIES(status == TACIT_OK, site->now_us == event->now_us);
    TACIT_ASSERT(site->pull_count <= site->config.horizon);
    TACIT_ASSERT(site->committed <= 1);
    TACIT_ASSERT(site->granted <= player_view(site).draw);
    TACIT_IMPLIES(site->committed != 0, player_view(site).waiting);
    TACIT_IMPLIES(update->has_draw, site->committed != 0);
    TACIT_IMPLIES(update->message_count > 0,
                  update->messages[0].from == site->config.player.player_id);
    set_deadline(site, update);
    return status;
}

int64_t tacit_vote_site_total(const struct tacit_vote_site *site, uint32_t arm)
{
    return tacit_vote_noised_total(player_of(site), arm);
}

void tacit_vote_site_view(const struct tacit_vote_site *site, struct tacit_vote_site_view *view)
{
    TACIT_ASSERT(site != NULL);
    TACIT_ASSERT(view != NULL);
    struct tacit_vote_noised_view const player = player_view(site);
    *view = (struct tacit_vote_site_view){.player = player,
                                          .board = board_view(site),
                                          .is_decided = is_over(site),
                                          .is_finished = site->pull_count == site->config.horizon,
                                          .is_committed = site->committed != 0,
                                          .is_blocked = site->grants.blocked != 0,
                                          .is_forgotten = site->grants.forgotten != 0,
                                          .is_holding = has_sums(site) && !player.pulling &&
                                                        !player.waiting && !player.decided &&
                                                        !player.halted && site->granted > 0,
                                          .is_spent = is_spent(site),
                                          .granted = (uint32_t)site->granted,
                                          .term = site->term,
                                          .pull_count = site->pull_count,
                                          .said = cast_of(site),
                                          .is_heard = site->unheard == 0,
                                          .commit = site->grants.commit};
    memcpy(view->head, site->grants.head, sizeof view->head);
}

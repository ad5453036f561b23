/* A site of private votes: a player, its board, and the chain of what it has committed to
 * (LIVE-TRUST 1.1-1.5). Before the grant of a draw nothing uses it: the player reads no board, and
 * what comes meanwhile waits there. With published sums the board says which arms the hub's pool
 * has in. */
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
    uint64_t committed;  /* 1: the newest draw waits for its grant */
    uint64_t unheard;    /* the vote or release has left, and no row of the hub's has it */
    /* said W | player | board */
    uint64_t words[];
};

/* ---- Layout ---- */

static size_t width_of(const struct tacit_vote_site *site)
{
    return TACIT_BITS_WORDS(site->config.player.arm_count);
}

static uint64_t *cast_of(struct tacit_vote_site *site)
{
    return site->words;
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

/* ---- Saying ---- */

static struct tacit_vote_hub_message *add_message(const struct tacit_vote_site *site,
                                                  enum tacit_vote_hub_message_kind kind,
                                                  struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(update->message_count < sizeof update->messages / sizeof update->messages[0]);
    struct tacit_vote_hub_message *const message = &update->messages[update->message_count++];
    *message = (struct tacit_vote_hub_message){.kind = kind,
                                               .from = site->config.player.player_id,
                                               .to = TACIT_HUB,
                                               .run_id = site->config.player.run_id,
                                               .term = site->term,
                                               .draw = (uint32_t)player_view(site).draw};
    return message;
}

/* "May this draw be used?", or, with none, "Is this the last that was granted?" */
static void ask(struct tacit_vote_site *site, struct tacit_vote_site_update *update)
{
    bool const committed = site->committed != 0;
    struct tacit_vote_hub_message *const message =
        add_message(site, committed ? TACIT_VOTE_COMMIT : TACIT_VOTE_HELLO, update);
    memcpy(message->commitment, committed ? site->grants.commit.commitment : site->grants.head,
           sizeof message->commitment);
    if (!committed)
        message->draw = (uint32_t)site->granted; /* a draw of a term before may be void */
    else
        memcpy(message->previous, site->grants.commit.previous, sizeof message->previous);
}

struct tacit_vote_hub_message tacit_vote_site_release(const struct tacit_vote_site *site)
{
    struct tacit_vote_noised_view const view = player_view(site);
    struct tacit_vote_hub_message message = {.kind = TACIT_VOTE_RELEASE,
                                             .from = site->config.player.player_id,
                                             .to = TACIT_HUB,
                                             .run_id = site->config.player.run_id,
                                             .term = site->term,
                                             .draw = (uint32_t)view.draw,
                                             .marks = view.release.arms,
                                             .sums = view.release.sums};
    TACIT_ASSERT(has_sums(site) && view.draw > 0);
    memcpy(message.previous, site->grants.commit.previous, sizeof message.previous);
    memcpy(message.salt, site->grants.commit.salt, sizeof message.salt);
    return message;
}

/* The vote as it left last, or the release. A blocked site says nothing more. */
static void cast(struct tacit_vote_site *site, struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(site->unheard != 0);
    if (site->grants.blocked != 0)
        return;
    if (has_sums(site)) {
        *add_message(site, TACIT_VOTE_RELEASE, update) = tacit_vote_site_release(site);
        return;
    }
    struct tacit_vote_hub_message *const message = add_message(site, TACIT_VOTE_CAST, update);
    message->reset = site->cast_reset;
    message->marks = cast_of(site);
    memcpy(message->commitment, site->grants.head, sizeof message->commitment);
}

/* Ensures: after a draw, that it is committed to in the same write. */
static enum tacit_status commit_draw(struct tacit_vote_site *site, const struct tacit_entropy *keys,
                                     struct tacit_vote_site_update *update)
{
    struct tacit_vote_noised_view const player = player_view(site);
    uint8_t digest[TACIT_SHA256_BYTES];
    if (!player.waiting || site->committed != 0)
        return TACIT_OK;
    struct tacit_commit_scope const scope = {.domain = site->config.domain,
                                             .run_id = site->config.player.run_id,
                                             .site = site->config.player.player_id,
                                             .epoch = (uint32_t)player.draw};
    tacit_vote_noised_digest(player_of(site), digest);
    enum tacit_status const status = round_site_commit(&site->grants, &scope, digest, keys);
    update->persist = true;
    if (status != TACIT_OK)
        return status;
    /* Of votes sums never leave, so nothing will be opened: the salt is of no use to anybody. */
    if (!has_sums(site))
        memset(site->grants.commit.salt, 0, sizeof site->grants.commit.salt);
    site->committed = 1;
    update->has_draw = true;
    update->draw = (uint32_t)player.draw;
    ask(site, update);
    return TACIT_OK;
}

static void show_plan(const struct tacit_vote_site *site, const struct tacit_pull_block *plan,
                      uint32_t plan_count, struct tacit_vote_site_update *update)
{
    bool const explores = may_explore(site);
    update->replan = true;
    update->plan = plan;
    update->plan_count = explores ? plan_count : 0;
}

static void void_plan(struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(update->plan_count == 0); /* who may not explore is shown none */
    update->replan = true;
}

/* ---- The player's steps ---- */

/* What the player lets out, a vote or a release: said until the hub has it. */
static void publish(struct tacit_vote_site *site, const struct tacit_vote_noised_update *inner,
                    struct tacit_vote_site_update *update)
{
    if (!has_sums(site)) {
        TACIT_ASSERT(inner->message.kind == TACIT_VOTE_MARKS && inner->message.marks != NULL);
        memcpy(cast_of(site), inner->message.marks, width_of(site) * sizeof(uint64_t));
        site->cast_reset = inner->message.reset;
    }
    site->unheard = 1;
    cast(site, update);
}

static enum tacit_status step_player(struct tacit_vote_site *site, struct tacit_vote_event event,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_vote_site_update *update)
{
    struct tacit_vote_noised_update inner;
    event.now_us = site->now_us;
    enum tacit_status const status = tacit_vote_noised_step(
        player_of(site), has_sums(site) ? NULL : board_of(site), &event, entropy, &inner);
    update->persist = update->persist || inner.persist || inner.persist_board;
    if (inner.replan)
        show_plan(site, inner.plan, inner.plan_count, update);
    if (inner.send)
        publish(site, &inner, update);
    return status;
}

/* The player reads it; where it has nothing to play then, the plan is void. */
static enum tacit_status read_board(struct tacit_vote_site *site,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_site_update *update)
{
    struct tacit_vote_event offer = {.kind = TACIT_EVENT_OFFER};
    if (has_sums(site)) /* how far the hub is through with its draws */
        offer.as.standing = (struct tacit_vote_standing){board_view(site).voted,
                                                         site->unheard == 0 ? site->granted : 0};
    enum tacit_status const status = step_player(site, offer, entropy, update);
    if (!player_view(site).pulling ||
        is_over(site)) /* the arms that were left had all their rewards */
        void_plan(update);
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
    if (site->cast_reset < reset)
        memset(cast_of(site), 0, width_of(site) * sizeof(uint64_t));
    site->cast_reset = reset > site->cast_reset ? reset : site->cast_reset;
    site->unheard =
        site->granted > 0 && tacit_vote_board_counts(board_of(site), site->config.player.player_id);
}

static enum tacit_status on_start(struct tacit_vote_site *site, uint64_t term,
                                  const struct tacit_entropy *entropy,
                                  const struct tacit_entropy *keys,
                                  struct tacit_vote_site_update *update)
{
    if (term > site->term)
        begin_term(site, term, update);
    enum tacit_status status =
        step_player(site, (struct tacit_vote_event){.kind = TACIT_EVENT_START}, entropy, update);
    if (player_view(site).waiting && site->committed == 0)
        return commit_draw(site, keys, update);
    ask(site, update);
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
                                   const struct tacit_entropy *entropy,
                                   struct tacit_vote_site_update *update)
{
    if (!may_explore(site) || reward->count > site->config.horizon - site->pull_count)
        return TACIT_INVALID;
    enum tacit_status const status = step_player(
        site, (struct tacit_vote_event){.kind = TACIT_EVENT_REWARD, .as.reward = *reward}, entropy,
        update);
    if (status == TACIT_BUDGET)
        void_plan(update);
    if (update->persist)
        count_pulls(site, reward->count, update);
    return status;
}

/* This state is the one that was granted last, after all. */
static enum tacit_status unblock(struct tacit_vote_site *site, const struct tacit_entropy *entropy,
                                 struct tacit_vote_site_update *update)
{
    site->grants.blocked = site->grants.forgotten = 0;
    site->grants.resend.unanswered_count = 0;
    update->persist = true;
    return step_player(site, (struct tacit_vote_event){.kind = TACIT_EVENT_START}, entropy, update);
}

/* The draw may be used; then the board is read, which has waited. */
static enum tacit_status on_granted(struct tacit_vote_site *site,
                                    const struct tacit_vote_hub_message *message,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(!tacit_commit_is_nothing(message->commitment));
    if (memcmp(message->commitment, site->grants.head, sizeof site->grants.head) == 0)
        return site->committed != 0 || site->grants.blocked == 0 ? TACIT_OK
                                                                 : unblock(site, entropy, update);
    if (site->committed == 0 || !round_site_on_grant(&site->grants, message->commitment))
        return TACIT_OK; /* late, or repeated */
    struct tacit_vote_message const grant = {.kind = TACIT_VOTE_GRANT,
                                             .from = TACIT_HUB,
                                             .to = site->config.player.player_id,
                                             .run_id = site->config.player.run_id,
                                             .draw = player_view(site).draw};
    if (!has_sums(site))
        memset(&site->grants.commit, 0, sizeof site->grants.commit);
    site->committed = 0;
    update->granted = (uint32_t)player_view(site).draw;
    site->granted = grant.draw;
    update->persist = true;
    enum tacit_status const status = step_player(
        site, (struct tacit_vote_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &grant}, entropy,
        update);
    TACIT_ASSERT(status == TACIT_OK);
    return read_board(site, entropy, update);
}

/* Another state of this site goes on: nothing is played, nothing leaves, until the hub says that it
 * was this one. */
static enum tacit_status on_refused(struct tacit_vote_site *site,
                                    const struct tacit_vote_hub_message *message,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(message->kind == TACIT_VOTE_REFUSED);
    struct round_refusal const shown = {.round = message->draw,
                                        .draw_round = site->committed != 0 ? player_view(site).draw
                                                                           : site->granted,
                                        .is_waiting = site->committed != 0,
                                        .forgot = message->forgot,
                                        .commitment = message->commitment};
    bool const was_blocked = site->grants.blocked != 0;
    update->persist = round_site_on_refusal(&site->grants, &shown);
    if (was_blocked && site->grants.blocked == 0)
        return unblock(site, entropy, update);
    if (!was_blocked && site->grants.blocked != 0)
        void_plan(update);
    return TACIT_OK;
}

/* A row of the hub's: once it has all that this site has said, nothing is said again. */
static void settle_cast(struct tacit_vote_site *site, const struct tacit_vote_hub_message *row,
                        struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(row->marks != NULL);
    bool const is_settled = has_sums(site) && row->draw >= site->granted;
    if (site->unheard == 0 || row->player != site->config.player.player_id ||
        (has_sums(site) && !is_settled))
        return;
    if (!has_sums(site) &&
        ((row->reset == site->cast_reset &&
          !tacit_bits_within(cast_of(site), row->marks, site->config.player.arm_count)) ||
         row->reset < site->cast_reset))
        return;
    site->unheard = 0;
    site->grants.resend.unanswered_count = 0;
    update->persist = true;
}

/* Of sums a row is the hub's own word: it has what the ANEW before it said, which may come later,
 * or never. */
static void follow_reset(struct tacit_vote_site *site, uint64_t reset)
{
    struct tacit_vote_message const anew = {.kind = TACIT_VOTE_RESET,
                                            .from = TACIT_HUB,
                                            .to = TACIT_EVERYONE,
                                            .run_id = site->config.player.run_id,
                                            .reset = reset};
    TACIT_ASSERT(has_sums(site));
    if (reset > board_view(site).reset)
        (void)tacit_vote_board_apply(board_of(site), &anew, NULL);
}

static enum tacit_status on_board(struct tacit_vote_site *site,
                                  const struct tacit_vote_hub_message *message,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_vote_site_update *update)
{
    bool const is_row = message->kind == TACIT_VOTE_ROW;
    struct tacit_vote_message const shown = {.kind = is_row ? TACIT_VOTE_MARKS : TACIT_VOTE_RESET,
                                             .from = is_row ? message->player : TACIT_HUB,
                                             .to = TACIT_EVERYONE,
                                             .run_id = message->run_id,
                                             .reset = message->reset,
                                             .marks = message->marks};
    bool const was_over = is_over(site);
    enum tacit_status const status = tacit_vote_board_apply(board_of(site), &shown, NULL);
    if (status != TACIT_OK)
        return status;
    if (is_row && has_sums(site))
        follow_reset(site, message->reset);
    update->persist = true;
    if (is_row)
        settle_cast(site, message, update);
    if (has_sums(site) && was_over && !is_over(site)) /* a term: its plan was open, and not shown */
        (void)step_player(site, (struct tacit_vote_event){.kind = TACIT_EVENT_START}, entropy,
                          update);
    if (player_view(site).waiting)
        return TACIT_OK;
    return read_board(site, entropy, update);
}

static enum tacit_status on_receive(struct tacit_vote_site *site,
                                    const struct tacit_vote_hub_message *message,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_site_update *update)
{
    if (message->run_id != site->config.player.run_id || message->from != TACIT_HUB ||
        message->term != site->term ||
        (message->to != site->config.player.player_id && message->to != TACIT_EVERYONE))
        return TACIT_STRANGER;
    switch (message->kind) {
    case TACIT_VOTE_GRANTED:
        return tacit_commit_is_nothing(message->commitment)
                   ? TACIT_MALFORMED
                   : on_granted(site, message, entropy, update);
    case TACIT_VOTE_REFUSED:
        return on_refused(site, message, entropy, update);
    case TACIT_VOTE_ROW:
    case TACIT_VOTE_ANEW:
        return on_board(site, message, entropy, update);
    case TACIT_VOTE_HELLO:
    case TACIT_VOTE_COMMIT:
    case TACIT_VOTE_CAST:
    case TACIT_VOTE_RELEASE:
        break;
    }
    return TACIT_UNEXPECTED;
}

static enum tacit_status on_timeout(struct tacit_vote_site *site,
                                    const struct tacit_entropy *entropy,
                                    const struct tacit_entropy *keys,
                                    struct tacit_vote_site_update *update)
{
    bool const is_due = site->now_us >= site->grants.resend.due_us;
    enum tacit_status status =
        step_player(site, (struct tacit_vote_event){.kind = TACIT_EVENT_TIMEOUT}, entropy, update);
    if (!is_due || status != TACIT_OK)
        return status;
    if (player_view(site).waiting && site->committed == 0)
        return commit_draw(site, keys, update);
    bool const has_cast = update->message_count > 0;
    if (site->committed != 0 || site->grants.blocked != 0)
        ask(site, update);
    if (site->unheard != 0 && !has_cast)
        cast(site, update);
    return TACIT_OK;
}

/* A draw or a vote waits for its answer, or a draw for its salt. */
static void time_resend(struct tacit_vote_site *site, const struct tacit_event *event,
                        uint32_t unanswered_before, const struct tacit_vote_site_update *update)
{
    bool const lacks_salt = player_view(site).waiting && site->committed == 0;
    struct round_site_step const step = {
        .kind = event->kind,
        .now_us = site->now_us,
        .unanswered_before = unanswered_before,
        .is_wanted = player_view(site).waiting || site->grants.blocked != 0 || site->unheard != 0,
        .has_moved = lacks_salt || site->grants.resend.due_us == TACIT_NEVER,
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
    enum tacit_status status = tacit_vote_noised_init(player_of(site), &config->player);
    if (status == TACIT_OK)
        status = tacit_vote_board_init(board_of(site), &config->board);
    return status;
}

/* Could steps have left this, beyond what player and board check of themselves? */
static bool is_possible(const struct tacit_vote_site *site)
{
    struct tacit_vote_noised_view const player = player_view(site);
    return site->committed <= 1 && round_site_is_possible(&site->grants) && site->unheard <= 1 &&
           site->pull_count <= site->config.horizon && site->granted <= player.draw &&
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
    enum tacit_status status =
        tacit_vote_noised_check(player_of(site), site->player_bytes, &config->player);
    if (status == TACIT_OK)
        status = tacit_vote_board_check(board_of(site), tacit_vote_board_size(&config->board),
                                        &config->board);
    if (status == TACIT_OK && !is_possible(site))
        status = TACIT_MALFORMED;
    return status;
}

enum tacit_status tacit_vote_site_step(struct tacit_vote_site *site,
                                       const struct tacit_event *event,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_vote_site_update *update)
{
    TACIT_ASSERT(site != NULL);
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= site->now_us);
    struct tacit_entropy const *const keys = event->keys == NULL ? entropy : event->keys;
    uint64_t const now_before = site->now_us;
    uint32_t const unanswered_before = site->grants.resend.unanswered_count;
    enum tacit_status status = TACIT_UNEXPECTED;
    *update = (struct tacit_vote_site_update){.deadline_us = TACIT_NEVER};
    site->now_us = event->now_us;
    switch (event->kind) {
    case TACIT_EVENT_START:
        status = on_start(site, event->as.term, entropy, keys, update);
        break;
    case TACIT_EVENT_REWARD:
        status = on_reward(site, &event->as.reward, entropy, update);
        break;
    case TACIT_EVENT_EXPLOITED:
        count_pulls(site, event->as.exploited_count, update);
        status = TACIT_OK;
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(site, event->as.message, entropy, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = on_timeout(site, entropy, keys, update);
        break;
    case TACIT_EVENT_OFFER: /* it has a plan */
        break;
    }
    if (status == TACIT_OK && event->kind != TACIT_EVENT_START)
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
                                          .said = site->words,
                                          .is_heard = site->unheard == 0,
                                          .commit = site->grants.commit};
    memcpy(view->head, site->grants.head, sizeof view->head);
}

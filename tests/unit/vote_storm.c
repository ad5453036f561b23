/* Small runs of private votes over a hub in which everything comes to everybody at any time:
 * letters twice, late, with one member changed; rewards that nobody planned; deadlines a moment too
 * early; clocks that begin anew; deaths, old states, entropy that ends in the middle of a step.
 * What is refused leaves no trace, every state is one, and the digest knows all that happened. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/vote_hub.h"
#include "../support/damage.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
#define DIGEST UINT64_C(0x5ea2b2d8c154676b)
/* .. and of what the checks say of damaged states: damage.h. */
#define VERDICTS UINT64_C(0xde0a113c88902845)

#define SITES_MAX 5u
#define ARMS_MAX 70u
#define WORDS 2u /* of a set of arms */
#define LETTERS 64u
#define RUN_ID UINT64_C(0x123456789)
#define WORLDS 120u
#define EVENTS 350u
#define CHANGES 12u /* of a letter */

struct letter {
    struct tacit_vote_letter letter;
    uint32_t to; /* the node; the hub last */
    uint64_t marks[WORDS];
};

struct node {
    void *state;
    void *kept; /* what is durable */
    void *old;  /* a state of some time ago */
    size_t size;
    uint64_t now_us;
    uint64_t deadline_us;
    uint64_t left[ARMS_MAX]; /* of the plan */
};

struct world {
    uint32_t sites;
    uint32_t arms;
    uint32_t best;
    double gap;
    struct tacit_vote_site_config site_configs[SITES_MAX];
    struct tacit_vote_hub_config hub_config;
    uint64_t committee;
    struct node nodes[SITES_MAX + 1];
    struct letter letters[LETTERS]; /* the newest ones; those from `next` to `end` have not come */
    uint32_t next;
    uint32_t end;
    struct tacit_rng chance;
    struct tacit_rng noise;
    uint32_t fills_left; /* of the entropy, in this step */
};

/* What has happened in all worlds: a storm that misses something is none. */
static uint32_t statuses[16]; /* by their numbers, which are 0 and below */
static uint32_t ends;
static uint32_t resets;

static uint32_t below(struct world *world, uint32_t bound)
{
    return (uint32_t)tacit_rng_below(&world->chance, bound);
}

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct world *const world = context;
    struct tacit_entropy const whole = tacit_rng_entropy(&world->noise);
    if (world->fills_left == 0)
        return TACIT_ENTROPY;
    world->fills_left--;
    return whole.fill(whole.context, bytes, size);
}

/* Salts come from a source of their own, which fails now and then while the noise does not. */
static enum tacit_status fill_key(void *context, void *bytes, size_t size)
{
    struct world *const world = context;
    struct tacit_entropy const whole = tacit_rng_entropy(&world->noise);
    return below(world, 3) == 0 ? TACIT_ENTROPY : whole.fill(whole.context, bytes, size);
}

/* ---- The world ---- */

static void configure_hub(struct world *world)
{
    static const uint32_t arms[] = {1, 2, 3, 3, 5, 64, ARMS_MAX};
    world->sites = 1 + below(world, SITES_MAX);
    world->arms = arms[below(world, 7)];
    static const double gaps[] = {0.6, 0.2, 0.1};
    world->best = below(world, world->arms);
    world->gap = gaps[below(world, 3)];
    uint32_t const needed = 1 + below(world, world->sites + 1);
    bool const has_committee = below(world, 4) == 0;
    uint32_t const seconds = 1 + below(world, 4);
    uint32_t const reset_after_s = below(world, 4) == 0 ? seconds : 0;
    world->committee = 1 + below(world, (1u << world->sites) - 1);
    world->hub_config = (struct tacit_vote_hub_config){
        .board = {.run_id = RUN_ID,
                  .player_count = world->sites,
                  .arm_count = world->arms,
                  .votes_needed = needed,
                  .committee = has_committee ? &world->committee : NULL},
        .reset_after_s = reset_after_s};
}

static struct tacit_vote_site_config site_config(struct world *world, uint32_t site)
{
    static const uint64_t halves[] = {1, 2, 1000, 1000, 1000}; /* of what a draw costs */
    static const uint64_t horizons[] = {100, 700, 1000000, 1000000};
    static const uint32_t cells[] = {1, 2, 60, 60};
    double const epsilon = below(world, 3) == 0 ? 1 : 8;
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    uint64_t const budget = halves[below(world, 5)] * (uint64_t)epsilon * TACIT_NANO / 2;
    uint64_t const horizon = horizons[below(world, 4)];
    uint32_t const cells_max = cells[below(world, 4)];
    double const accuracy = below(world, 2) == 0 ? 0.1 : 0.01;
    struct tacit_vote_site_config config = {.player = {.run_id = RUN_ID,
                                                       .player_id = site,
                                                       .player_count = world->sites,
                                                       .arm_count = world->arms,
                                                       .accuracy = accuracy,
                                                       .failure = 0.5,
                                                       .growth = 3,
                                                       .budget_nano = budget,
                                                       .tick_us = 900},
                                            .board = world->hub_config.board,
                                            .horizon = horizon,
                                            .cells_max = cells_max,
                                            .goes_on = world->hub_config.reset_after_s > 0,
                                            .resend_after_us = 1700};
    assert_int_equal(tacit_mechanism_init(&config.player.mechanism, &mechanism), TACIT_OK);
    return config;
}

static void node_new(struct node *node, size_t size)
{
    assert_true(size > 0);
    *node = (struct node){.size = size, .now_us = 5000, .deadline_us = TACIT_NEVER};
    node->state = calloc(1, size);
    node->kept = calloc(1, size);
    node->old = calloc(1, size);
    assert_true(node->state != NULL && node->kept != NULL && node->old != NULL);
}

static struct world *world_new(uint32_t seed)
{
    struct world *const world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->chance = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_REWARD);
    world->noise = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
    configure_hub(world);
    struct node *const hub = &world->nodes[world->sites];
    node_new(hub, tacit_vote_hub_size(&world->hub_config));
    assert_int_equal(tacit_vote_hub_init(hub->state, &world->hub_config), TACIT_OK);
    for (uint32_t site = 0; site < world->sites; site++) {
        world->site_configs[site] = site_config(world, site);
        node_new(&world->nodes[site], tacit_vote_site_size(&world->site_configs[site]));
        assert_int_equal(tacit_vote_site_init(world->nodes[site].state, &world->site_configs[site]),
                         TACIT_OK);
    }
    for (uint32_t i = 0; i <= world->sites; i++) {
        memcpy(world->nodes[i].kept, world->nodes[i].state, world->nodes[i].size);
        memcpy(world->nodes[i].old, world->nodes[i].state, world->nodes[i].size);
    }
    return world;
}

static void world_free(struct world *world)
{
    for (uint32_t i = 0; i <= world->sites; i++) {
        free(world->nodes[i].state);
        free(world->nodes[i].kept);
        free(world->nodes[i].old);
    }
    free(world);
}

static size_t words_of(const struct world *world)
{
    return (world->arms + 63) / 64;
}

/* ---- What is said and shown ---- */

static void digest_letter(const struct world *world, const struct tacit_vote_letter *letter)
{
    uint64_t const words[] = {letter->kind, letter->from,   letter->to,    letter->run_id,
                              letter->cell, letter->player, letter->reset, letter->marks == NULL};
    digest_bytes(words, sizeof words);
    if (letter->marks != NULL)
        digest_bytes(letter->marks, words_of(world) * sizeof(uint64_t));
    digest_bytes(letter->commitment, sizeof letter->commitment);
    digest_bytes(letter->previous, sizeof letter->previous);
}

static void digest_board(const struct world *world, const struct tacit_vote_board_view *board)
{
    uint64_t const words[] = {board->reset, board->voted_count, board->mark_count};
    digest_bytes(words, sizeof words);
    digest_bytes(board->voted, words_of(world) * sizeof(uint64_t));
    digest_bytes(board->counts, world->arms * sizeof *board->counts);
}

static void digest_site(const struct world *world, const struct tacit_vote_site *site)
{
    struct tacit_vote_site_view view;
    tacit_vote_site_look(site, &view);
    struct tacit_vote_private_view const *const player = &view.player;
    uint64_t const words[] = {player->epoch,   player->cell,     player->decided,
                              player->waiting, player->halted,   player->exploit_arm,
                              view.is_decided, view.is_finished, view.is_committed,
                              view.is_blocked, view.is_spent,    view.granted,
                              view.pull_count, view.is_heard,    player->active_count};
    size_t const bytes = words_of(world) * sizeof(uint64_t);
    digest_bytes(words, sizeof words);
    digest_bytes(player->active, bytes);
    digest_bytes(player->dropped, bytes);
    digest_bytes(view.said, bytes);
    digest_ledger(player->ledger);
    digest_board(world, &view.board);
    digest_bytes(view.head, sizeof view.head);
    digest_bytes(&view.commit, sizeof view.commit);
    for (uint32_t arm = 0; arm < world->arms; arm++)
        digest_word((uint64_t)tacit_vote_site_total(site, arm));
}

static void digest_hub(const struct world *world, const struct tacit_vote_hub *hub)
{
    struct tacit_vote_hub_view view;
    struct tacit_vote_letter letter;
    tacit_vote_hub_look(hub, &view);
    digest_board(world, &view.board);
    uint64_t const words[] = {view.is_decided, view.voter_count, view.voters[0], view.flagged[0]};
    digest_bytes(words, sizeof words);
    digest_bytes(view.cells, world->sites * sizeof *view.cells);
    digest_word(tacit_vote_hub_anew(hub, &letter));
    digest_letter(world, &letter);
    for (uint32_t site = 0; site < world->sites; site++) {
        digest_word(tacit_vote_hub_row(hub, site, &letter));
        digest_letter(world, &letter);
    }
}

/* ---- Steps ---- */

static bool is_site(const void *state, size_t size, void *config)
{
    return tacit_vote_site_check(state, size, config) == TACIT_OK;
}

static bool is_hub(const void *state, size_t size, void *config)
{
    return tacit_vote_hub_check(state, size, config) == TACIT_OK;
}

static void check_state(struct world *world, uint32_t at)
{
    struct node const *const node = &world->nodes[at];
    bool const is_of_hub = at == world->sites;
    void *const config = is_of_hub ? (void *)&world->hub_config : &world->site_configs[at];
    assert_true((is_of_hub ? is_hub : is_site)(node->state, node->size, config));
    damage_some(node->state, node->size, is_of_hub ? is_hub : is_site, config);
}

static void *copy_of(const struct node *node)
{
    void *const copy = malloc(node->size);
    assert_non_null(copy);
    memcpy(copy, node->state, node->size);
    return copy;
}

static void post(struct world *world, uint32_t to, const struct tacit_vote_letter *said)
{
    struct letter *const letter = &world->letters[world->end++ % LETTERS];
    if (world->end - world->next > LETTERS)
        world->next++; /* lost */
    *letter = (struct letter){.letter = *said, .to = to};
    if (said->marks != NULL)
        memcpy(letter->marks, said->marks, words_of(world) * sizeof(uint64_t));
}

static void send(struct world *world, const struct tacit_vote_letter *said)
{
    digest_letter(world, said);
    if (said->to != TACIT_EVERYONE)
        post(world, said->to == TACIT_HUB ? world->sites : said->to, said);
    for (uint32_t site = 0; said->to == TACIT_EVERYONE && site < world->sites; site++)
        post(world, site, said);
}

static void limit_entropy(struct world *world)
{
    world->fills_left = below(world, 4) == 0 ? below(world, 12) : UINT32_MAX;
}

static bool is_refused(enum tacit_status status)
{
    return status == TACIT_MALFORMED || status == TACIT_UNEXPECTED || status == TACIT_INVALID ||
           status == TACIT_STRANGER;
}

static void step_site(struct world *world, uint32_t at, struct tacit_vote_site_event event)
{
    struct node *const node = &world->nodes[at];
    struct tacit_entropy const entropy = {.fill = fill, .context = world};
    struct tacit_entropy const keys = {.fill = fill_key, .context = world};
    struct tacit_vote_site_update update;
    void *const before = copy_of(node);
    limit_entropy(world);
    event.keys = below(world, 4) == 0 ? &keys : NULL;
    event.now_us = node->now_us;
    enum tacit_status const status = tacit_vote_site_step(node->state, &event, &entropy, &update);
    statuses[-(int)status]++;
    if (is_refused(status)) {
        assert_memory_equal(before, node->state, node->size);
        assert_true(!update.persist && !update.replan && update.letter_count == 0);
    }
    free(before);
    assert_true(update.persist || !update.has_draw);
    digest_step(status,
                update.persist | (uint64_t)update.has_draw << 1 | (uint64_t)update.replan << 2 |
                    (uint64_t)update.on_tick << 3 | (uint64_t)update.letter_count << 4 |
                    (uint64_t)update.cell << 8,
                update.deadline_us, update.plan, update.plan_count);
    digest_site(world, node->state);
    check_state(world, at);
    if (update.persist)
        memcpy(node->kept, node->state, node->size);
    node->deadline_us = update.deadline_us;
    for (uint32_t i = 0; i < update.letter_count; i++)
        send(world, &update.letters[i]);
    if (update.replan)
        memset(node->left, 0, sizeof node->left);
    for (uint32_t i = 0; update.replan && i < update.plan_count; i++)
        node->left[update.plan[i].arm] = update.plan[i].count;
}

static void step_hub(struct world *world, struct tacit_vote_hub_event event)
{
    struct node *const node = &world->nodes[world->sites];
    struct tacit_entropy const entropy = {.fill = fill, .context = world};
    struct tacit_vote_hub_update update;
    void *const before = copy_of(node);
    limit_entropy(world);
    event.now_us = node->now_us;
    enum tacit_status const status = tacit_vote_hub_step(node->state, &event, &entropy, &update);
    statuses[-(int)status]++;
    if (is_refused(status)) {
        assert_memory_equal(before, node->state, node->size);
        assert_true(!update.persist && !update.send);
    }
    free(before);
    digest_step(status,
                update.persist | (uint64_t)update.send << 1 | (uint64_t)update.arms_out << 2,
                update.deadline_us, NULL, 0);
    digest_hub(world, node->state);
    check_state(world, world->sites);
    if (update.persist)
        memcpy(node->kept, node->state, node->size);
    node->deadline_us = update.deadline_us;
    if (update.send)
        send(world, &update.letter);
    resets += update.send && update.letter.kind == TACIT_VOTE_ANEW ? 1 : 0;
}

static void start(struct world *world, uint32_t at)
{
    if (at == world->sites)
        step_hub(world, (struct tacit_vote_hub_event){.kind = TACIT_VOTE_HUB_START});
    else
        step_site(world, at, (struct tacit_vote_site_event){.kind = TACIT_EVENT_START});
}

/* ---- What may come ---- */

static void change_number(struct world *world, uint32_t *number)
{
    static const uint32_t differences[] = {1, UINT32_MAX, 2, 1000000};
    uint32_t const which = below(world, 5);
    *number = which == 4 ? 0 : *number + differences[which];
}

/* One member is another one. */
static void change(struct world *world, struct letter *letter)
{
    struct tacit_vote_letter *const said = &letter->letter;
    uint32_t const others[] = {TACIT_HUB, TACIT_EVERYONE, 0, world->sites};
    uint32_t const what = below(world, CHANGES);
    uint32_t const other = others[below(world, 4)];
    if (what == 0)
        said->kind = (enum tacit_vote_letter_kind)below(world, 7);
    else if (what == 1)
        said->from = other;
    else if (what == 2)
        said->to = other;
    else if (what == 3)
        said->run_id ^= UINT64_C(1) << 32;
    else if (what == 4)
        change_number(world, &said->cell);
    else if (what == 5)
        change_number(world, &said->player);
    else if (what == 6)
        said->reset += 1 - 2 * (uint64_t)below(world, 2);
    else if (what < 9)
        tacit_bits_add(letter->marks, below(world, world->arms + 1));
    else if (what == 9)
        memset(said->commitment, 0, sizeof said->commitment);
    else if (what == 10)
        said->commitment[below(world, TACIT_SHA256_BYTES)] ^= 0x20;
    else
        said->previous[below(world, TACIT_SHA256_BYTES)] ^= 0x20;
}

static void hear(struct world *world, const struct letter *came, bool is_changed)
{
    struct letter letter = *came;
    for (uint32_t i = 0; is_changed && i <= below(world, 2); i++)
        change(world, &letter);
    bool const has_marks = letter.letter.marks != NULL || (is_changed && below(world, 2) == 0);
    letter.letter.marks = has_marks ? letter.marks : NULL;
    if (letter.letter.kind == TACIT_VOTE_ROW && !has_marks)
        letter.letter.kind = TACIT_VOTE_ANEW;
    if (letter.to == world->sites)
        step_hub(world, (struct tacit_vote_hub_event){.kind = TACIT_VOTE_HUB_RECEIVE,
                                                      .letter = &letter.letter});
    else
        step_site(world, letter.to,
                  (struct tacit_vote_site_event){.kind = TACIT_EVENT_RECEIVE,
                                                 .as.letter = &letter.letter});
}

/* A part of what is planned of an arm, or all of it; now and then something else. */
static void play(struct world *world, uint32_t site, bool is_wild)
{
    struct node *const node = &world->nodes[site];
    uint32_t arm = below(world, world->arms);
    for (uint32_t i = 0; i < world->arms && node->left[arm] == 0; i++)
        arm = (arm + 1) % world->arms;
    uint64_t count = node->left[arm];
    if (count > 1 && below(world, 6) == 0)
        count = 1 + below(world, (uint32_t)count);
    double const mean = 0.3 + (arm == world->best ? world->gap : 0.001 * arm);
    int64_t steps = (int64_t)(mean * (double)count * (double)TACIT_STEPS);
    uint32_t const what = is_wild ? below(world, 5) : 5;
    count = what == 0 ? node->left[arm] + 1 : what == 1 ? 0 : count;
    steps = what == 2 ? -1 : what == 3 ? (int64_t)count * TACIT_STEPS + 1 : steps;
    if (!is_wild && count == 0)
        return;
    if (!is_wild)
        node->left[arm] -= count;
    step_site(world, site,
              (struct tacit_vote_site_event){.kind = TACIT_EVENT_REWARD,
                                             .as.reward = {.arm = what == 4 ? world->arms : arm,
                                                           .count = count,
                                                           .sum.steps = steps}});
}

/* A process that died comes again, from what it kept or, rarely, from a state of before, and its
 * clock with it. */
static void die(struct world *world, uint32_t at)
{
    struct node *const node = &world->nodes[at];
    memcpy(node->state, below(world, 4) == 0 ? node->old : node->kept, node->size);
    memcpy(node->kept, node->state, node->size);
    memset(node->left, 0, sizeof node->left);
    if (below(world, 3) == 0)
        node->now_us = below(world, 3000);
    start(world, at);
}

/* At the deadline, a moment before it, or whenever. */
static void time_out(struct world *world, uint32_t at)
{
    struct node *const node = &world->nodes[at];
    uint32_t const when = below(world, 4);
    uint64_t const due = node->deadline_us - (when == 0 ? 1 : 0);
    if (when < 3 && node->deadline_us != TACIT_NEVER && due > node->now_us)
        node->now_us = due;
    if (at == world->sites)
        step_hub(world, (struct tacit_vote_hub_event){.kind = TACIT_VOTE_HUB_TIMEOUT});
    else
        step_site(world, at, (struct tacit_vote_site_event){.kind = TACIT_EVENT_TIMEOUT});
}

static void exploit(struct world *world, uint32_t site)
{
    step_site(world, site,
              (struct tacit_vote_site_event){.kind = TACIT_EVENT_EXPLOITED,
                                             .as.exploited_count = below(world, 200)});
}

static void happen(struct world *world)
{
    uint32_t const what = below(world, 100);
    uint32_t const at = below(world, world->sites + 1);
    uint32_t const site = below(world, world->sites);
    uint32_t const any = below(world, world->end < LETTERS ? world->end + 1 : LETTERS);
    world->nodes[at].now_us += below(world, 500);
    if (what < 35 && world->next < world->end)
        hear(world, &world->letters[world->next++ % LETTERS], false);
    else if (what < 50 && any < world->end)
        hear(world, &world->letters[any], what < 44);
    else if (what < 83)
        play(world, site, what < 53);
    else if (what < 92)
        time_out(world, at);
    else if (what < 94)
        exploit(world, site);
    else if (what < 97)
        die(world, at);
    else if (what == 98)
        memcpy(world->nodes[at].old, world->nodes[at].state, world->nodes[at].size);
}

/* After the storm: in order, and nothing is lost. */
static void calm_down(struct world *world)
{
    struct tacit_vote_hub_view view;
    for (uint32_t i = 0; i < 60; i++) {
        for (uint32_t k = 0; k < 30 && world->next < world->end; k++)
            hear(world, &world->letters[world->next++ % LETTERS], false);
        for (uint32_t k = 0; k < world->sites * 3; k++)
            play(world, k % world->sites, false);
        for (uint32_t at = 0; at <= world->sites; at++)
            if (world->nodes[at].deadline_us != TACIT_NEVER && i % 4 == 0) {
                uint64_t const due = world->nodes[at].deadline_us;
                world->nodes[at].now_us =
                    due > world->nodes[at].now_us ? due : world->nodes[at].now_us;
                time_out(world, at);
            }
    }
    tacit_vote_hub_look(world->nodes[world->sites].state, &view);
    ends += view.board.voted_count == 1 ? 1 : 0;
}

static void whatever_comes_is_taken_or_leaves_no_trace(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < WORLDS; seed++) {
        struct world *const world = world_new(seed);
        for (uint32_t at = 0; at <= world->sites; at++)
            start(world, at);
        for (uint32_t i = 0; i < EVENTS; i++)
            happen(world);
        calm_down(world);
        world_free(world);
    }
    static const enum tacit_status expected[] = {TACIT_OK,         TACIT_MALFORMED, TACIT_STRANGER,
                                                 TACIT_UNEXPECTED, TACIT_ENTROPY,   TACIT_INVALID,
                                                 TACIT_BUDGET,     TACIT_FORKED,    TACIT_ROLLBACK};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(statuses[-(int)expected[i]] > 15);
    assert_true(ends > 20);
    assert_true(resets > 20);
}

/* .. and no bytes are a state of any. */
static void a_configuration_that_is_refused_has_no_states(void **state)
{
    (void)state;
    struct world *const world = world_new(1);
    struct node const *const hub = &world->nodes[world->sites];
    struct node const *const site = &world->nodes[0];
    struct tacit_vote_hub_config wrong = world->hub_config;
    struct tacit_vote_site_config wrong_site = world->site_configs[0];
    wrong.board.votes_needed = wrong_site.board.votes_needed = 0;
    assert_int_equal(tacit_vote_hub_size(&wrong), 0);
    assert_int_equal(tacit_vote_hub_init(hub->state, &wrong), TACIT_INVALID);
    assert_int_equal(tacit_vote_site_size(&wrong_site), 0);
    assert_int_equal(tacit_vote_site_init(site->state, &wrong_site), TACIT_INVALID);
    for (size_t size = 0; size < 2; size++) {
        assert_int_equal(tacit_vote_hub_check(hub->state, size, &wrong), TACIT_MALFORMED);
        assert_int_equal(tacit_vote_site_check(site->state, size, &wrong_site), TACIT_MALFORMED);
    }
    for (size_t i = 0; i < 2; i++) { /* nor are more or fewer of a good one */
        size_t const by = 16 * i;
        assert_false(is_hub(hub->state, hub->size - 8 + by, &world->hub_config));
        assert_false(is_site(site->state, site->size - 8 + by, &world->site_configs[0]));
    }
    world_free(world);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_comes_is_taken_or_leaves_no_trace),
        cmocka_unit_test(a_configuration_that_is_refused_has_no_states),
    };
    int const failed = digest_end(argc, cmocka_run_group_tests(tests, NULL, NULL), DIGEST);
    return damage_end(argc, failed, VERDICTS);
}

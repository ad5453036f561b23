/* See wire_samples.h. */
#include "wire_samples.h"
#include <string.h>
#include "tacit/wire_elim.h"
#include "tacit/wire_glm.h"
#include "tacit/wire_gossip.h"
#include "tacit/wire_helper.h"
#include "tacit/wire_phased.h"
#include "tacit/wire_select.h"
#include "tacit/wire_vote.h"

#define K 3u
#define A 5u
#define D 3u
#define WIDE_K 65u
#define WIDE_A 70u
#define WIDE_D 5u
#define TO 2u
#define RUN_ID UINT64_C(0x0123456789abcdef)
#define OF_SITE .from = A - 1, .to = TO, .run_id = RUN_ID
#define OF_HUB .from = TACIT_HUB, .to = TO, .run_id = RUN_ID
#define LONGEST "-_0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP"

static const uint64_t arms[1] = {5};
static const uint64_t last_arm[1] = {4};
static const uint64_t more_arms[1] = {5 | 8};
static const uint64_t agents[1] = {0x15};
static const uint64_t more_agents[1] = {0x35};
static const uint64_t nobody[2] = {0, 0};
static const uint64_t wide_arms[2] = {UINT64_C(1) << 63 | 2, 1};
static const uint64_t wide_agents[2] = {UINT64_C(1) << 17 | UINT64_C(1) << 63, 0x21};
static const struct tacit_commit commit = {
    .commitment = {1, 2, [31] = 3}, .previous = {4, 5}, .salt = {6, [31] = 7}};
static const struct tacit_helper_release masked = {
    .digest = {11}, .envelope = {12, [79] = 13}, .blind = {14, [31] = 15}};
static const uint8_t digests[257 * TACIT_SHA256_BYTES] = {21, [33] = 22};
static const char *const names[K] = {"a", "b", "caf\xc3\xa9"};
static const char *const more_names[K] = {"constant", "age", "do\nse"};
static const double nan_row[4] = {0, (double)__builtin_nan(""), 0};
static const double infinite_row[4] = {0, 0, -__builtin_inf()};

#define CHANGED(message, name, kind, ...)                                                          \
    {                                                                                              \
        .of = &(message), .member = WIRE_PLACE(name), .value.kind = __VA_ARGS__                    \
    }
#define WRONG(message, name, value) CHANGED(message, name, number, (value))
#define TAKEN(message, name, value) CHANGED(message, name, number, (value), .is_taken = true)
#define WRONG_REAL(message, name, value) CHANGED(message, name, real, (value))
#define TAKEN_REAL(message, name, value) CHANGED(message, name, real, (value), .is_taken = true)
#define WRONG_LIST(message, name, value) CHANGED(message, name, list, (value))
#define TAKEN_LIST(message, name, value) CHANGED(message, name, list, (value), .is_taken = true)
/* Each of an array of lists. */
#define WRONG_LISTS(message, name, array)                                                          \
    CHANGED(message, name, list, (array), .stride = sizeof(array)[0],                              \
            .more = sizeof(array) / sizeof(array)[0] - 1)

/* ---- Elimination ----------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_elim_message
static const struct tacit_elim_change changes[2] = {
    {.kind = 2, .epoch = 3, .subject = 4, .number = 1, .value = 5, .made_unix_s = 6},
    {.kind = 7, .epoch = 8, .subject = 9, .number = 2, .value = 10, .made_unix_s = 11}};
static const struct tacit_elim_change log_of_run[TACIT_ELIM_CHANGES_MAX + 1];
static const union tacit_sum sums[] = {{.steps = -77},     {.steps = 999926},  {.steps = 1999929},
                                       {.steps = 2999932}, {.steps = 3999935}, {.steps = 4999938},
                                       {.steps = 5},       {.steps = -6},      {.steps = 7},
                                       {.steps = 8},       {.steps = 9},       {.steps = 10}};
static const struct tacit_elim_opening openings[3] = {
    {.previous = {31}, .salt = {32}, .signature = {33}},
    {.previous = {34}, .salt = {35}, .signature = {36}},
    {.previous = {37}, .salt = {38}, .signature = {39}}};
static const struct tacit_elim_opening unsigned_openings[3] = {{.previous = {31}, .salt = {32}}};
static const struct tacit_elim_proof proof = {
    .agent = A - 1, .subjects = {{1}, {2}}, .signatures = {{3}, {4}}};
static const struct tacit_elim_proof proof_of_stranger = {.agent = A};
#define HISTORY .has_history = true, .history = {.rounds = 2, .is_last = true, .digest = {7}}
#define ELIM(what, ...)                                                                            \
    {                                                                                              \
        .kind = TACIT_ELIM_##what, __VA_ARGS__                                                     \
    }
#define SITE OF_SITE, .epoch = 3
#define HUB OF_HUB, .epoch = 3, .pulls = UINT64_C(0x1122334455), .arms = arms
#define SUMS SITE, .pulls = UINT64_C(0x1122334455), .arms = arms, .sum_count = 2, .sums = sums
#define ROWS SUMS, .origins = agents

enum { HELLO, PEER, ORDER, UPLOADERS, LEADER, REPORT, OPENED, TOTAL, ADVERT, DATA, COMMIT, PROOF };
static const struct tacit_elim_message elim[] = {
    [HELLO] = ELIM(HELLO, SITE),
    [PEER] = ELIM(HELLO, SITE, .origins = agents),
    [ORDER] = ELIM(ORDER, HUB, .seen = 2),
    [UPLOADERS] = ELIM(ORDER, HUB, .seen = 2, .uploaders = agents),
    [LEADER] = ELIM(ORDER, HUB, .last = true, .leader = 3, .change_count = 2, .changes = changes),
    [REPORT] = ELIM(REPORT, SUMS),
    [OPENED] = ELIM(REPORT, SUMS, .commit = &commit, .masked = &masked, .agents = 1),
    [TOTAL] = ELIM(REPORT, SUMS, .agents = A),
    [ADVERT] = ELIM(ADVERT, SITE, .origins = agents, HISTORY),
    [DATA] = ELIM(DATA, ROWS),
    [COMMIT] = ELIM(COMMIT, SITE, .commit = &commit, .refused = arms),
    [PROOF] = ELIM(PROOF, SITE, .proof = &proof),
    ELIM(HELLO, OF_SITE, .epoch = TACIT_ELIM_EPOCHS_MAX, .origins = nobody, .commit = &commit,
         .refused = arms, HISTORY),
    ELIM(REPORT, SUMS, .agents = 2, .commit = &commit),
    ELIM(REPORT, SUMS, .commit = &commit),
    ELIM(REQUEST, SITE, .origins = agents),
    ELIM(DATA, ROWS, .openings = openings, .is_signed = true, HISTORY),
    ELIM(DATA, ROWS, .openings = unsigned_openings),
    ELIM(DATA, SITE, .arms = nobody, .origins = agents, .openings = openings, .is_signed = true),
    ELIM(COMMIT, SITE, .commit = &commit),
    ELIM(GRANT, SITE, .commit = &commit, .closed = true),
    ELIM(REFUSAL, SITE, .commit = &commit, .forgot = true),
};
static const struct tacit_elim_message no_changes = ELIM(ORDER, HUB, .changes = log_of_run);
static const struct tacit_elim_message one_arm = ELIM(REPORT, SITE, .arms = last_arm, .sums = sums);
static const struct wire_wrong elim_wrongs[] = {
    TAKEN(one_arm, sum_count, 1),
    WRONG(elim[HELLO], from, A),
    WRONG(elim[HELLO], from, TACIT_EVERYONE),
    TAKEN(elim[HELLO], from, TACIT_HUB),
    WRONG(elim[HELLO], epoch, TACIT_ELIM_EPOCHS_MAX + 1),
    WRONG_LIST(elim[ADVERT], origins, nobody),
    WRONG_LIST(elim[ORDER], arms, more_arms),
    WRONG_LIST(elim[UPLOADERS], uploaders, more_agents),
    TAKEN(elim[LEADER], leader, 1),
    WRONG(elim[LEADER], leader, 2), /* an arm that is out */
    WRONG(elim[LEADER], leader, K + 1),
    TAKEN(no_changes, change_count, TACIT_ELIM_CHANGES_MAX),
    WRONG(no_changes, change_count, TACIT_ELIM_CHANGES_MAX + 1),
    WRONG(elim[REPORT], sum_count, 1),
    WRONG(elim[REPORT], sum_count, 3),
    WRONG(elim[TOTAL], agents, A + 1),
    WRONG_LIST(elim[DATA], arms, last_arm),
    WRONG_LIST(elim[COMMIT], refused, nobody),
    WRONG_LIST(elim[COMMIT], refused, more_arms),
    WRONG_LIST(elim[PROOF], proof, &proof_of_stranger),
};
static const struct tacit_elim_message wide_elim[] = {
    ELIM(HELLO, SITE, .refused = wide_arms, .origins = wide_agents),
    ELIM(ORDER, OF_HUB, .arms = wide_arms, .uploaders = wide_agents, .leader = WIDE_K),
    ELIM(REPORT, SITE, .arms = wide_arms, .sum_count = 3, .sums = sums, .agents = 1),
    ELIM(REQUEST, SITE, .origins = wide_agents),
    ELIM(DATA, SITE, .arms = wide_arms, .origins = wide_agents, .sum_count = 3, .sums = sums),
};

#undef MESSAGE
#define MESSAGE struct tacit_wire_elim_run
static const uint64_t members[1] = {0x2d}; /* 0, 2, 3, 5 */
static const uint64_t wrong_members[][1] = {{0}, {0x29}, {0x6d}, {UINT64_C(1) << 63 | 0x2d}};
static const struct tacit_wire_neighbour near[] = {{0, "north"}, {3, "South_2"}};
static const struct tacit_wire_neighbour wrong_near[][2] = {
    {{3, "a"}, {0, "b"}},          /* not ascending */
    {{3, "a"}, {3, "b"}},          /* twice */
    {{2, "a"}, {3, "b"}},          /* itself */
    {{3, "a"}, {6, "b"}},          /* of 6 */
    {{3, "a"}, {UINT32_MAX, "b"}}, /* the hub */
    {{0, "a"}, {3, ""}},           {{0, "a/b"}, {3, "c"}},      {{0, "+"}, {3, "c"}},
    {{0, "a b"}, {3, "c"}},        {{0, "\xc3\xa4"}, {3, "c"}}, {{0, LONGEST "x"}, {3, "c"}},
};
static const char *const sites[6] = {"north", "x", "y", "South_2", "z", "w"};
static const char *const other_sites[6] = {"north", "x", "y", "south_2", "z", "w"};
#define ELIM_RUN(agents_of_it, ...)                                                                \
    {                                                                                              \
        .run_id = RUN_ID, .agent = 2, .agent_count = (agents_of_it), .arm_count = 5,               \
        .horizon = 400000, .epsilon_nano = TACIT_NANO / 2, __VA_ARGS__                             \
    }
#define PAPER .report_count = 2, .round_limit = 4, .gap = 0.25
#define RELAY .network = TACIT_WIRE_ELIM_GATHER, .parent = 3, .members = members, .neighbours = near
enum { STAR, EXACT, RELAYED, SPREAD };
static const struct tacit_wire_elim_run elim_runs[] = {
    [STAR] = ELIM_RUN(3, PAPER),
    [EXACT] = ELIM_RUN(3, .report_count = 3, .gap = 1, .growth = 4, .confidence = 0.5,
                       .floor_milli = TACIT_NO_FLOOR),
    [RELAYED] = ELIM_RUN(6, PAPER, RELAY, .neighbour_count = 2, .gather_timeout_s = 300),
    [SPREAD] =
        ELIM_RUN(6, PAPER, .network = TACIT_WIRE_ELIM_SPREAD, .parent = 4, .gather_timeout_s = 7,
                 .neighbour_count = 2, .neighbours = near, .sites = sites),
    ELIM_RUN(6, .network = TACIT_WIRE_ELIM_GATHER, .parent = 2, .gather_timeout_s = 1,
             .report_count = 6, .round_limit = TACIT_ELIM_EPOCHS_MAX - 1, .gap = 0x1p-1074),
    ELIM_RUN(3, .report_count = 1, .gap = 1, .growth = 1.0000000000000002, .floor_milli = 500),
};
static const struct tacit_wire_elim_run star_with_near = ELIM_RUN(3, PAPER, .neighbours = near);
static const struct wire_wrong elim_run_wrongs[] = {
    WRONG(elim_runs[STAR], epsilon_nano, 0),
    WRONG(elim_runs[STAR], network, 3),
    WRONG(elim_runs[STAR], floor_milli, 500), /* with the paper's bounds */
    WRONG(elim_runs[STAR], report_count, 0),
    WRONG(elim_runs[STAR], report_count, 4), /* of 3 */
    WRONG(elim_runs[STAR], round_limit, TACIT_ELIM_EPOCHS_MAX),
    WRONG_REAL(elim_runs[STAR], gap, 0),
    WRONG_REAL(elim_runs[STAR], gap, -0.25),
    WRONG_REAL(elim_runs[STAR], gap, 1.0000000000000002),
    WRONG(elim_runs[STAR], gather_timeout_s, 1),
    WRONG_REAL(elim_runs[STAR], growth, 2), /* with a round limit */
    WRONG_REAL(elim_runs[STAR], growth, -0.0),
    WRONG_REAL(elim_runs[STAR], confidence, 0.9), /* without a growth */
    WRONG_REAL(elim_runs[STAR], confidence, -0.0),
    TAKEN(elim_runs[STAR], epsilon_nano, 1),
    WRONG_LIST(elim_runs[STAR], members, arms), /* nobody has a place there */
    WRONG_LIST(elim_runs[STAR], sites, sites),
    WRONG(star_with_near, neighbour_count, 1),
    WRONG_REAL(elim_runs[EXACT], growth, 1),
    WRONG_REAL(elim_runs[EXACT], growth, -2),
    WRONG_REAL(elim_runs[EXACT], growth, 4.000000000000001),
    WRONG_REAL(elim_runs[EXACT], confidence, 0.49),
    WRONG_REAL(elim_runs[EXACT], confidence, 1),
    WRONG_REAL(elim_runs[EXACT], confidence, -0.9),
    TAKEN_REAL(elim_runs[EXACT], confidence, 0.9999999999999999),
    WRONG(elim_runs[EXACT], round_limit, 1),
    WRONG(elim_runs[RELAYED], floor_milli, 500), /* peers have no helper */
    WRONG(elim_runs[RELAYED], parent, 1),
    WRONG(elim_runs[RELAYED], parent, UINT32_MAX),
    TAKEN(elim_runs[RELAYED], parent, 2), /* itself: a sink */
    WRONG(elim_runs[RELAYED], neighbour_count, 0),
    WRONG(elim_runs[RELAYED], neighbour_count, 1),
    WRONG_LIST(elim_runs[RELAYED], sites, sites), /* rows are signed where they spread */
    WRONG_LIST(elim_runs[SPREAD], sites, other_sites),
    WRONG_LISTS(elim_runs[RELAYED], neighbours, wrong_near),
    WRONG_LISTS(elim_runs[RELAYED], members, wrong_members),
};

/* ---- Rounds: play in phases, the private linear bandit ----------------------------------------
 */

#undef MESSAGE
#define MESSAGE struct tacit_phased_message
static const struct tacit_pull_block blocks[K] = {{0, 4}, {2, TACIT_HORIZON_MAX}};
static const struct tacit_pull_block all_blocks[K] = {{0, 1}, {1, 2}, {2, 3}};
static const struct tacit_pull_block wrong_blocks[][2] = {
    {{1, 1}, {1, 1}}, {{0, 1}, {K, 1}}, {{0, 0}, {1, 1}}, {{0, 1}, {1, TACIT_HORIZON_MAX + 1}}};
static const int64_t steps[] = {6, -7, 8, 9, -10, 11, 12, -13, 14, 15, 16, -17, 18, 19, 20, 21};
#define ROUND(what, ...)                                                                           \
    {                                                                                              \
        .kind = TACIT_ROUND_##what, __VA_ARGS__                                                    \
    }
#define PHASED(what, sender, ...) ROUND(what, sender, .leader = TACIT_NO_ARM, __VA_ARGS__)
#define PLANNED                                                                                    \
    ROUND(ORDER, OF_HUB, .round = 5, .seen = 4, .leader = 1, .block_count = 2, .blocks = blocks)
enum { LAST = 1, PLAN };
static const struct tacit_phased_message phased[] = {
    PHASED(HELLO, OF_SITE, .round = TACIT_PHASED_ROUNDS_MAX + 1),
    [LAST] = ROUND(ORDER, OF_HUB, .round = 2, .last = true, .leader = K - 1),
    [PLAN] = PLANNED,
    PHASED(HELLO, OF_SITE, .commit = &commit),
    PHASED(ORDER, OF_HUB, .round = 1, .block_count = K, .blocks = all_blocks),
    PHASED(REPORT, OF_SITE, .round = 1, .block_count = K, .sums = steps),
    PHASED(REPORT, OF_SITE, .round = 1, .block_count = 1, .sums = steps, .commit = &commit,
           .masked = &masked),
    PHASED(COMMIT, OF_SITE, .round = 1, .commit = &commit),
    PHASED(GRANT, OF_HUB, .round = 1, .commit = &commit, .closed = true),
    PHASED(REFUSAL, OF_HUB, .round = 1, .commit = &commit, .forgot = true),
};
static const struct wire_wrong phased_wrongs[] = {
    WRONG(phased[0], from, A),
    WRONG(phased[0], round, TACIT_PHASED_ROUNDS_MAX + 2),
    WRONG(phased[LAST], last, false), /* without a plan */
    WRONG(phased[LAST], leader, K),
    WRONG(phased[PLAN], last, true),
    WRONG_LISTS(phased[PLAN], blocks, wrong_blocks),
};

#undef MESSAGE
#define MESSAGE struct tacit_wire_phased_run
#define PHASED_RUN(guard, loss, sure)                                                              \
    {                                                                                              \
        .run_id = RUN_ID, .agent = 2, .agent_count = 3, .arm_count = 5, .horizon = 400000,         \
        .epsilon_nano = TACIT_NANO / 2, .schedule = {                                              \
            .rule = TACIT_PHASES_INDEX,                                                            \
            .arm_count = 5,                                                                        \
            .agent_count = 3,                                                                      \
            .horizon = 400000,                                                                     \
            .epsilon_per_reward = 0.5,                                                             \
            .growth = 2,                                                                           \
            .arms_per_round = 4,                                                                   \
            .confidence = (sure),                                                                  \
            .guard_arm = (guard),                                                                  \
            .guard_loss = (loss)                                                                   \
        }                                                                                          \
    }
static const struct tacit_wire_phased_run phased_runs[] = {PHASED_RUN(3, 0.02, 0.9),
                                                           PHASED_RUN(4, 0.5, 0)};
static const struct wire_wrong phased_run_wrongs[] = {
    WRONG_REAL(phased_runs[0], schedule.growth, 1),
    WRONG_REAL(phased_runs[0], schedule.confidence, 1),
    WRONG(phased_runs[0], schedule.arms_per_round, 1),
    WRONG(phased_runs[0], schedule.guard_arm, 5),
    WRONG(phased_runs[0], schedule.guard_arm, TACIT_NO_ARM),
    WRONG_REAL(phased_runs[0], schedule.guard_loss, 0),
    WRONG(phased_runs[0], agent, 3),
    WRONG(phased_runs[0], epsilon_nano, 0),
};

#undef MESSAGE
#define MESSAGE struct tacit_glm_sound_message
static const struct tacit_glm_sound_message sound[] = {
    ROUND(HELLO, OF_SITE, .round = TACIT_GLM_SOUND_BATCHES_MAX + 1, .commit = &commit),
    ROUND(ORDER, OF_HUB, .round = 2, .seen = 5, .last = true, .sums = steps, .releases = 3),
    ROUND(REPORT, OF_SITE, .round = 2, .commit = &commit, .sums = steps),
    ROUND(REPORT, OF_SITE, .round = 2, .commit = &commit, .sums = steps, .masked = &masked),
    ROUND(COMMIT, OF_SITE, .round = 2, .commit = &commit),
    ROUND(GRANT, OF_HUB, .round = 2, .commit = &commit, .closed = true),
    ROUND(REFUSAL, OF_HUB, .round = 2, .commit = &commit, .forgot = true),
};
static const struct wire_wrong sound_wrongs[] = {
    WRONG(sound[0], from, A),
    WRONG(sound[0], round, TACIT_GLM_SOUND_BATCHES_MAX + 2),
};

#undef MESSAGE
#define MESSAGE struct tacit_wire_glm_sound_run
static const struct tacit_wire_glm_sound_run sound_runs[] = {
    {.run_id = RUN_ID,
     .agent = 1,
     .agent_count = 3,
     .arm_count = 2,
     .horizon = 100,
     .epsilon_nano = 3 * TACIT_NANO / 2,
     .model = {.run_id = RUN_ID,
               .link = TACIT_LINALG_IDENTITY,
               .exploration = TACIT_GLM_CONSTANT,
               .client_count = 3,
               .dimension = D,
               .batch_count = 6,
               .epsilon = 1.5,
               .delta = 1e-6,
               .failure = 0.05,
               .norm_bound = 2,
               .noise_bound = 0.25,
               .alpha = 0.75,
               .explore = 0.125},
     .features = names}};
static const struct wire_wrong sound_run_wrongs[] = {
    WRONG(sound_runs[0], epsilon_nano, 0),
    WRONG(sound_runs[0], model.batch_count, TACIT_GLM_SOUND_BATCHES_MAX + 1),
    WRONG(sound_runs[0], model.link, TACIT_LINALG_PROBIT),
    WRONG(sound_runs[0], model.dimension, 0),
    WRONG_LIST(sound_runs[0], features, more_names),
    TAKEN(sound_runs[0], floor_milli, TACIT_NO_FLOOR),
};

/* ---- Votes ----------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_vote_hub_message
#define VOTE(what, ...)                                                                            \
    {                                                                                              \
        .kind = TACIT_VOTE_##what, __VA_ARGS__                                                     \
    }
#define COMMITMENT .commitment = {1, [31] = 2}
#define PREVIOUS .previous = {3, [31] = 4}
static const struct tacit_vote_hub_message votes[] = {
    [TACIT_VOTE_HELLO] = VOTE(HELLO, OF_SITE, .draw = 3, COMMITMENT),
    [TACIT_VOTE_COMMIT] = VOTE(COMMIT, OF_SITE, .draw = 3, COMMITMENT, PREVIOUS),
    [TACIT_VOTE_CAST] = VOTE(CAST, OF_SITE, .draw = 3, .reset = 2, .marks = arms, COMMITMENT),
    [TACIT_VOTE_GRANTED] = VOTE(GRANTED, OF_HUB, .draw = 3, COMMITMENT),
    [TACIT_VOTE_REFUSED] = VOTE(REFUSED, OF_HUB, .draw = 3, COMMITMENT, .forgot = true),
    [TACIT_VOTE_ROW] = VOTE(ROW, OF_HUB, .player = A - 1, .reset = 2, .marks = arms),
    [TACIT_VOTE_ANEW] = VOTE(ANEW, OF_HUB, .reset = 2),
    [TACIT_VOTE_RELEASE] = VOTE(RELEASE, OF_SITE, .draw = 3, .marks = arms, .sums = steps, PREVIOUS,
                                .salt = {5, [31] = 6}),
};
static const struct tacit_vote_hub_message uncommitted[] = {
    VOTE(COMMIT, OF_SITE, .draw = 3, PREVIOUS), VOTE(GRANTED, OF_HUB, .draw = 3)};
static const struct wire_wrong vote_wrongs[] = {
    WRONG(votes[TACIT_VOTE_ROW], player, A),
    WRONG(votes[TACIT_VOTE_ANEW], draw, 1),
    WRONG(votes[TACIT_VOTE_ANEW], reset, 0),
    WRONG(votes[TACIT_VOTE_RELEASE], draw, 0),
    TAKEN(votes[TACIT_VOTE_GRANTED], draw, 0),
    TAKEN(votes[TACIT_VOTE_HELLO], draw, 0),
    WRONG(votes[TACIT_VOTE_COMMIT], draw, 0),
    WRONG(votes[TACIT_VOTE_CAST], from, A),
    WRONG_LIST(votes[TACIT_VOTE_CAST], marks, more_arms),
    WRONG(uncommitted[0], draw, 3),
    WRONG(uncommitted[1], draw, 3),
};
static const struct tacit_vote_hub_message wide_votes[] = {
    VOTE(ROW, OF_HUB, .player = WIDE_A - 1, .reset = 2, .marks = wide_arms)};

#undef MESSAGE
#define MESSAGE struct tacit_wire_vote_run
#define VOTE_RUN(...)                                                                              \
    {                                                                                              \
        .run_id = RUN_ID, .agent = 2, .agent_count = 40, .arm_count = 3, .horizon = 1000,          \
        .epsilon_nano = TACIT_NANO, .tick_ms = 100, __VA_ARGS__                                    \
    }
static const struct tacit_wire_vote_run vote_runs[] = {
    VOTE_RUN(.accuracy = 0.25, .eta = 0.9, .votes_needed = 29, .committee = 29,
             .reset_after_s = 60),
    VOTE_RUN(.accuracy = 1, .eta = 0.5, .votes_needed = 1, .block = TACIT_VOTE_BLOCK_MAX),
    VOTE_RUN(.accuracy = 1, .eta = 0.5, .votes_needed = 40, .committee = 40),
};
static const struct wire_wrong vote_run_wrongs[] = {
    WRONG(vote_runs[0], epsilon_nano, 0),
    TAKEN(vote_runs[0], epsilon_nano, 1),
    WRONG_REAL(vote_runs[0], accuracy, 0),
    WRONG_REAL(vote_runs[0], accuracy, 1.0000000000000002),
    WRONG_REAL(vote_runs[0], eta, 0),
    WRONG_REAL(vote_runs[0], eta, 1),
    WRONG(vote_runs[0], votes_needed, 0),
    WRONG(vote_runs[0], votes_needed, 30), /* more than may vote */
    WRONG(vote_runs[2], votes_needed, 41),
    WRONG(vote_runs[2], committee, 41),
    TAKEN(vote_runs[2], committee, 0), /* all */
    WRONG(vote_runs[0], tick_ms, 0),
    WRONG(vote_runs[1], votes_needed, 2), /* of sums all that is out is out */
    WRONG(vote_runs[1], committee, 1),
    WRONG(vote_runs[1], reset_after_s, 1),
    WRONG(vote_runs[1], block, TACIT_VOTE_BLOCK_MAX + 1),
};

/* ---- Training -------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_select_message
static const float model[TACIT_SELECT_MODEL_NUMBERS + 1] = {1, 2, 3};
static const int64_t long_steps[TACIT_SELECT_UPDATE_NUMBERS + 1] = {4, 5};
#define SELECT(what, ...)                                                                          \
    {                                                                                              \
        .kind = TACIT_SELECT_##what, __VA_ARGS__                                                   \
    }
#define DIGESTED .digests = digests, .digest_count = 2
#define UPDATE                                                                                     \
    OF_SITE, .round = 3, .commit = &commit, DIGESTED, .model = {8, [31] = 9}, .participation = 7,  \
             .price_nano = 987654321, .spent_nano = 12345678901
static const struct tacit_select_message training[] = {
    SELECT(HELLO, OF_SITE, .round = TACIT_SELECT_ROUNDS_MAX + 1, .commit = &commit,
           .spent_nano = 12345678901),
    SELECT(ORDER, OF_HUB, .round = 3, .seen = 2, .set = agents, DIGESTED),
    SELECT(ORDER, OF_HUB, .round = 3, .last = true, .set = nobody, DIGESTED,
           .epsilon_nano = 87654321),
    SELECT(REQUEST, OF_HUB, .round = 3, .vector = TACIT_SELECT_STEPS, .first = 255,
           .mask = 0x80000001),
    SELECT(PIECE, OF_HUB, .round = 3, .first = 255, .model_piece = model, .number_count = 3),
    SELECT(PIECE, OF_SITE, .round = 3, .vector = TACIT_SELECT_STEPS, .step_piece = steps,
           .number_count = 2),
    SELECT(COMMIT, OF_SITE, .round = 3, .commit = &commit),
    SELECT(GRANT, OF_HUB, .round = 3, .commit = &commit, .closed = true),
    SELECT(REFUSAL, OF_HUB, .round = 3, .commit = &commit, .forgot = true),
    SELECT(UPDATE, UPDATE),
    SELECT(UPDATE, UPDATE, .masked = &masked),
};
static const struct tacit_select_message long_training[] = {
    SELECT(ORDER, OF_HUB, .set = agents, .digests = digests),
    SELECT(PIECE, OF_HUB, .model_piece = model),
    SELECT(PIECE, OF_HUB, .vector = TACIT_SELECT_STEPS, .step_piece = long_steps)};
static const struct wire_wrong training_wrongs[] = {
    WRONG(training[0], round, TACIT_SELECT_ROUNDS_MAX + 2),
    WRONG_LIST(training[1], set, more_agents),
    WRONG(training[3], first, 256),
    WRONG(training[3], mask, 0),
    WRONG(training[4], vector, TACIT_SELECT_STEPS), /* of the model's numbers */
    WRONG(training[5], vector, TACIT_SELECT_MODEL),
    WRONG_LIST(training[4], step_piece, steps), /* of both */
    WRONG(long_training[0], digest_count, 0),
    TAKEN(long_training[0], digest_count, 256),
    WRONG(long_training[0], digest_count, 257),
    WRONG(long_training[1], number_count, 0),
    TAKEN(long_training[1], number_count, TACIT_SELECT_MODEL_NUMBERS),
    WRONG(long_training[1], number_count, TACIT_SELECT_MODEL_NUMBERS + 1),
    TAKEN(long_training[2], number_count, TACIT_SELECT_UPDATE_NUMBERS),
    WRONG(long_training[2], number_count, TACIT_SELECT_UPDATE_NUMBERS + 1),
};

#undef MESSAGE
#define MESSAGE struct tacit_wire_select_run
static const struct tacit_wire_select_run training_runs[] = {
    {.run_id = RUN_ID,
     .agent = 4,
     .agent_count = A,
     .arm_count = A,
     .horizon = TACIT_SELECT_ROUNDS_MAX,
     .epsilon_nano = 2000000003,
     .dimension = TACIT_SELECT_DIMENSION_MAX,
     .batches = 3,
     .deadline_s = 1,
     .clip = 1e100}};
static const struct wire_wrong training_run_wrongs[] = {
    WRONG(training_runs[0], horizon, TACIT_SELECT_ROUNDS_MAX + 1),
    WRONG(training_runs[0], horizon, 0),
    TAKEN(training_runs[0], horizon, 1),
    WRONG(training_runs[0], arm_count, A + 1),
    WRONG(training_runs[0], dimension, 0),
    WRONG(training_runs[0], dimension, TACIT_SELECT_DIMENSION_MAX + 1),
    WRONG(training_runs[0], deadline_s, 0),
    WRONG_REAL(training_runs[0], clip, 0),
    WRONG_REAL(training_runs[0], clip, 1.0000000000000002e100),
};

/* ---- Gossip ---------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_gossip_message
static const uint64_t counts[K] = {1, 2, TACIT_HORIZON_MAX + 1};
static const uint64_t wrong_counts[K] = {1, TACIT_HORIZON_MAX + 2, 3};
static const double numbers[3][4] = {{0.5, -0.25, 7}, {1.5, 8, -1e90}, {9, 0x1p-30, 2.5}};
#define GOSSIP(what, ...)                                                                          \
    {                                                                                              \
        .kind = TACIT_GOSSIP_##what, OF_SITE, .incarnation_number = 7,                             \
        .incarnation = UINT64_C(0xfedcba9876543210), __VA_ARGS__                                   \
    }
static const struct tacit_gossip_message gossip[] = {
    GOSSIP(COUNTS, .seen = counts),
    GOSSIP(ASK, .seen = NULL),
    GOSSIP(ASK, .seen = counts),
    GOSSIP(OFFER, .exchange = 12, .seen = counts, .theta = numbers[0], .flow = numbers[1]),
    GOSSIP(SHIFT, .exchange = 13, .shift = numbers[2], .flow = numbers[1]),
    GOSSIP(SHIFT, .exchange = 13, .seen = counts, .shift = numbers[2], .flow = numbers[1]),
    GOSSIP(REFUSE, .seen = NULL),
};
static const struct wire_wrong gossip_wrongs[] = {
    WRONG(gossip[1], from, A),
    WRONG(gossip[1], from, TACIT_HUB), /* it only watches */
    WRONG_LIST(gossip[0], seen, wrong_counts),
    WRONG_LIST(gossip[2], seen, wrong_counts),
    WRONG_LIST(gossip[3], seen, wrong_counts),
    WRONG_LIST(gossip[5], seen, wrong_counts),
    WRONG_LIST(gossip[3], theta, nan_row),
    WRONG_LIST(gossip[3], flow, infinite_row),
    WRONG_LIST(gossip[4], shift, infinite_row),
    WRONG_LIST(gossip[4], flow, nan_row),
};

#undef MESSAGE
#define MESSAGE struct tacit_wire_gossip_progress
static const struct tacit_wire_gossip_progress progress[] = {
    {A - 1, RUN_ID, TACIT_HORIZON_MAX + K, true, numbers[0]}};
static const struct wire_wrong progress_wrongs[] = {
    WRONG(progress[0], pull_count, TACIT_HORIZON_MAX + K + 1),
    WRONG(progress[0], from, A),
    WRONG_LIST(progress[0], theta, nan_row),
};
static const struct tacit_wire_gossip_release releases[] = {{2, 5, -2}};

#undef MESSAGE
#define MESSAGE struct tacit_wire_gossip_run
static const struct tacit_wire_neighbour two[] = {{1, "east"}, {4, LONGEST}};
static const struct tacit_wire_neighbour wrong_two[][2] = {{{2, "me"}, {3, "b"}},
                                                           {{4, "west"}, {1, "east"}},
                                                           {{1, "a/b"}, {3, "c"}},
                                                           {{1, "a"}, {A, "c"}}};
#define GOSSIP_RUN(...)                                                                            \
    {                                                                                              \
        .run_id = RUN_ID, .agent = 2, .agent_count = A, .arm_count = 3, .horizon = 4000,           \
        .epsilon_nano = TACIT_NANO, .neighbours = two, __VA_ARGS__                                 \
    }
static const struct tacit_wire_gossip_run gossip_runs[] = {
    GOSSIP_RUN(.exchange_us = 1, .pull_us = 100, .log_base_10 = true, .neighbour_count = 2),
    GOSSIP_RUN(.exchange_us = UINT64_C(1) << 56, .neighbour_count = 1)};
static const struct wire_wrong gossip_run_wrongs[] = {
    WRONG(gossip_runs[0], exchange_us, 0),
    WRONG(gossip_runs[0], exchange_us, (UINT64_C(1) << 56) + 1),
    WRONG(gossip_runs[0], epsilon_nano, 0),
    TAKEN(gossip_runs[0], epsilon_nano, 1),
    WRONG(gossip_runs[0], neighbour_count, 0),
    WRONG_LISTS(gossip_runs[0], neighbours, wrong_two),
};

/* ---- Generalised linear bandits -------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_glm_message
static const double matrix[] = {1, 2, 3, 0, 2, 4, 5, 0, 3, 5, 6, 0};
static const double other_matrix[] = {-1, 0.5, 3, 0, 0.5, 7, 9, 0, 3, 9, -8, 0};
static const double wrong_matrices[][12] = {{0, 0, -0.0, 0, 0, 0, 0, 0, -0.0},
                                            {[2] = __builtin_inf(), [8] = __builtin_inf()}};
static const double wide_matrix[] = {1,  2, 3, 4, 5,  0,  0,  0,  2,  6, 7, 8, 9,  0,
                                     0,  0, 3, 7, 10, 11, 12, 0,  0,  0, 4, 8, 11, 13,
                                     14, 0, 0, 0, 5,  9,  12, 14, 15, 0, 0, 0};
static const double wide_vector[8] = {1, 2, 3, 4, 5};
#define GLM(what, sender, ...)                                                                     \
    {                                                                                              \
        .kind = TACIT_GLM_##what, sender, .sync = 7, .attempt = 2, .round = 9,                     \
        .digest = UINT64_C(0xfedcba9876543210), .slot = 1234567890123, .count = 99, __VA_ARGS__    \
    }
#define ALL_GLM .vector = numbers[0], .matrix = matrix, .target = numbers[1], .participants = agents
static const struct tacit_glm_message glm[] = {
    GLM(HELLO, OF_SITE, .squares = 0),
    GLM(TRIGGER, OF_SITE, .squares = 0),
    GLM(FREEZE, OF_HUB, .squares = 0),
    GLM(FROZEN, OF_SITE, .matrix = matrix),
    GLM(ITERATE, OF_HUB, .vector = numbers[0]),
    GLM(GRADIENT, OF_SITE, .vector = numbers[0]),
    GLM(COMMIT, OF_HUB, ALL_GLM),
    GLM(COMMIT, OF_HUB, ALL_GLM, .steps = other_matrix, .squares = 0.25, .regret = 1e-9),
};
static const struct wire_wrong glm_wrongs[] = {
    WRONG(glm[0], kind, TACIT_GLM_COMMIT + 1),     WRONG(glm[0], from, A),
    WRONG_REAL(glm[0], squares, __builtin_inf()),  WRONG_REAL(glm[0], regret, __builtin_nan("")),
    WRONG_LIST(glm[7], vector, nan_row),           WRONG_LIST(glm[7], target, infinite_row),
    WRONG_LIST(glm[7], matrix, wrong_matrices[0]), WRONG_LIST(glm[7], steps, wrong_matrices[1]),
    WRONG_LIST(glm[7], participants, more_agents),
};
static const struct tacit_glm_message wide_glm[] = {
    GLM(COMMIT, OF_HUB, .vector = wide_vector, .matrix = wide_matrix, .target = wide_vector,
        .steps = wide_matrix, .participants = wide_agents)};

#undef MESSAGE
#define MESSAGE struct tacit_wire_glm_run
static const struct tacit_wire_glm_run glm_runs[] = {{.run_id = RUN_ID,
                                                      .agent = 1,
                                                      .agent_count = 3,
                                                      .arm_count = 2,
                                                      .horizon = 100,
                                                      .model = {.run_id = RUN_ID,
                                                                .variant = TACIT_GLM_V1,
                                                                .exploration = TACIT_GLM_CONSTANT,
                                                                .clock = TACIT_GLM_COUNTS,
                                                                .link = TACIT_LINALG_IDENTITY,
                                                                .client_count = 3,
                                                                .dimension = D,
                                                                .horizon = 100,
                                                                .period = 9,
                                                                .threshold = 1.5,
                                                                .lambda = 2,
                                                                .delta = 0.01,
                                                                .norm_bound = 3,
                                                                .context_bound = 5,
                                                                .noise_bound = 0.75,
                                                                .lipschitz = 0.25,
                                                                .curvature = 0.125,
                                                                .alpha = 0.375,
                                                                .suboptimality = 0.0625,
                                                                .explore = 0.1},
                                                      .features = names}};
static const struct wire_wrong glm_run_wrongs[] = {
    WRONG(glm_runs[0], epsilon_nano, 1), /* it protects nothing */
    WRONG(glm_runs[0], model.dimension, 0),
    WRONG(glm_runs[0], model.period, 0),
    WRONG_LIST(glm_runs[0], features, more_names),
};

/* ---- Helper ---------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_helper_request
static const struct tacit_helper_link links[2] = {
    {.commitment = {1}, .previous = {2}, .proof = digests, .proof_size = 3},
    {.commitment = {3}, .previous = {4}, .proof = digests, .proof_size = 2}};
static uint8_t long_proof[TACIT_WIRE_HELPER_PROOF_BYTES_MAX + 1];
static const struct tacit_helper_link long_links[2] = {
    {.proof = long_proof, .proof_size = TACIT_WIRE_HELPER_PROOF_BYTES_MAX},
    {.proof = long_proof, .proof_size = TACIT_WIRE_HELPER_PROOF_BYTES_MAX + 1}};
static const struct tacit_helper_link many_links[TACIT_HELPER_LINKS_MAX + 1];
#define ENTRY(at, some_links, count)                                                               \
    {                                                                                              \
        .site = (at), .link_count = (count), .links = (some_links), .salt = {5}, .release = {      \
            .digest = {6},                                                                         \
            .envelope = {7}                                                                        \
        }                                                                                          \
    }
static const struct tacit_helper_entry entries[2] = {ENTRY(1, links, 2), ENTRY(A - 1, links, 1)};
static const struct tacit_helper_entry wrong_entries[][2] = {
    {ENTRY(1, links, 1), ENTRY(1, links, 1)},
    {ENTRY(1, links, 1), ENTRY(A, links, 1)},
    {ENTRY(1, links, 0), ENTRY(2, links, 1)},
    {ENTRY(1, many_links, TACIT_HELPER_LINKS_MAX + 1), ENTRY(2, links, 1)},
    {ENTRY(1, &long_links[1], 1), ENTRY(2, links, 1)}};
static const struct tacit_helper_entry longest_entries[2] = {
    ENTRY(1, many_links, TACIT_HELPER_LINKS_MAX), ENTRY(2, long_links, 1)};
static const struct tacit_helper_request requests[] = {
    {.round = {.order = {8}, .round = 3, .count = 4, .epsilon_nano = 5, .term = 6},
     .quorum = 2,
     .entry_count = 2,
     .entries = entries,
     .number = 9,
     .head = {10},
     .head_signature = {11},
     .signature = {12}}};
static const struct wire_wrong request_wrongs[] = {
    WRONG(requests[0], round.round, 0),
    WRONG(requests[0], round.count, 0),
    TAKEN(requests[0], round.count, TACIT_HELPER_COUNT_MAX),
    WRONG(requests[0], round.count, TACIT_HELPER_COUNT_MAX + 1),
    WRONG(requests[0], round.epsilon_nano, 0),
    WRONG(requests[0], entry_count, 0),
    WRONG_LISTS(requests[0], entries, wrong_entries),
    TAKEN_LIST(requests[0], entries, longest_entries),
};

#undef MESSAGE
#define MESSAGE struct tacit_helper_answer
#define ANSWER(...)                                                                                \
    {                                                                                              \
        .number = 3, .term = 4, .round = 5, .site_count = A, .request = {6}, .previous = {7},      \
        .head = {8}, .sites = agents, .signature = {9}, .head_signature = {10}, __VA_ARGS__        \
    }
static const struct tacit_helper_answer answers[] = {
    ANSWER(.verdict = TACIT_HELPER_ANSWERED, .count = 3, .words = counts),
    ANSWER(.verdict = TACIT_HELPER_TOO_WEAK)};
static uint64_t many_words[TACIT_HELPER_COUNT_MAX + 1];
static const struct tacit_helper_answer long_answer = ANSWER(.words = many_words);
static const struct wire_wrong answer_wrongs[] = {
    WRONG(answers[0], round, 0),
    WRONG(answers[0], verdict, TACIT_HELPER_TOO_WEAK), /* with words */
    WRONG(answers[1], verdict, TACIT_HELPER_ANSWERED),
    TAKEN(answers[1], verdict, TACIT_HELPER_TOO_WEAK + 1),
    WRONG(answers[1], verdict, TACIT_HELPER_TOO_WEAK + 2),
    WRONG_LIST(answers[0], sites, more_agents),
    TAKEN(long_answer, count, TACIT_HELPER_COUNT_MAX),
    WRONG(long_answer, count, TACIT_HELPER_COUNT_MAX + 1),
};

/* ---- Announcements and envelopes ------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_announcement
static const struct tacit_wire_sealing sealing = {
    .identity = {1, [31] = 2}, .key = {3, [31] = 4}, .signature = {5, [63] = 6}};
static const struct tacit_wire_announcement announcements[] = {
    {.agreement = {.run = {[8] = 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef},
                   .protocol = "elimination",
                   .protocol_version = 1,
                   .agent_count = 3,
                   .arm_count = K,
                   .arms = names,
                   .hi = 1,
                   .horizon = 400000,
                   .epsilon_nano = 500000000,
                   .parameters = (const uint8_t[]){1, 2, 3},
                   .parameters_size = 3},
     .agent = 2,
     .place = (const uint8_t[]){4, 5},
     .place_size = 2},
    {.agreement = {.protocol = "a-9",
                   .family = 7,
                   .protocol_version = 2,
                   .agent_count = TACIT_AGENTS_MAX,
                   .arm_count = 1,
                   .arms = names + 2,
                   .lo = -1,
                   .hi = 0x1p-1074,
                   .horizon = TACIT_HORIZON_MAX,
                   .parameters = digests,
                   .has_helper = true,
                   .floor_nano = 8},
     .agent = TACIT_AGENTS_MAX - 1,
     .place = digests,
     .sealing = &sealing},
};
static const struct wire_wrong announcement_wrongs[] = {
    WRONG(announcements[0], agreement.agent_count, 0),
    WRONG(announcements[0], agreement.agent_count, 2),
    WRONG(announcements[0], agent, 3),
    WRONG(announcements[1], agreement.agent_count, TACIT_AGENTS_MAX + 1),
    WRONG(announcements[1], agreement.horizon, TACIT_HORIZON_MAX + 1),
    WRONG(announcements[1], agreement.horizon, 0),
    WRONG(announcements[1], agreement.arm_count, 0),
    WRONG_REAL(announcements[0], agreement.lo, 1), /* not below */
    WRONG_REAL(announcements[0], agreement.lo, -__builtin_inf()),
    WRONG_REAL(announcements[0], agreement.hi, __builtin_inf()),
    WRONG_LIST(announcements[0], agreement.arms, more_names),
    WRONG_LIST(announcements[0], agreement.protocol, "gossip_ucb"),
    WRONG_LIST(announcements[0], agreement.protocol, ""),
};

#define ENVELOPE(...)                                                                              \
    {                                                                                              \
        .version = TACIT_WIRE_VERSION, .federation = "clinics",                                    \
        .run = {[8] = 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88},                             \
        .agreement = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,              \
                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},             \
        .body = (const uint8_t *)"body", __VA_ARGS__                                               \
    }
static const struct tacit_wire_envelope envelopes[] = {
    ENVELOPE(.family = 3, .kind = 2, .from = "north", .to = "South_2", .term = 1, .epoch = 7,
             .sequence = UINT64_C(0x0102030405060708), .entry = UINT64_C(0x1112131415161718),
             .body_size = 4),
    ENVELOPE(.kind = UINT32_MAX, .from = LONGEST, .term = UINT64_MAX, .is_signed = true,
             .signature = {64, [63] = 127}, .body_size = 1),
    ENVELOPE(.from = "x", .to = LONGEST, .term = 2),
};

void wire_change(void *said, const struct wire_wrong *wrong, size_t list)
{
    union wire_value value = wrong->value;
    if (list > 0)
        value.list = (const uint8_t *)value.list + list * wrong->stride;
    uint32_t const small = (uint32_t)value.number;
    uint8_t const least = (uint8_t)value.number;
    memcpy((uint8_t *)said + wrong->member.at,
           wrong->member.size == 1   ? (const void *)&least
           : wrong->member.size == 4 ? (const void *)&small
                                     : (const void *)&value,
           wrong->member.size);
}

/* ---- All of them ----------------------------------------------------------------------------- */

#define NUMBER_OF(array) sizeof(array) / sizeof(array)[0]
#define SAMPLES(array) array, sizeof(array)[0], NUMBER_OF(array)
#define WRONGS(array) array, NUMBER_OF(array)
#define SHAPED                                                                                     \
    {                                                                                              \
        K, A, D, TO                                                                                \
    }
#define WIDE                                                                                       \
    {                                                                                              \
        WIDE_K, WIDE_A, WIDE_D, TO                                                                 \
    }
#define FAMILY(name, shape, samples, wrongs, known)                                                \
    {                                                                                              \
#samples, WIRE_MESSAGES_OF, &tacit_wire_##name, NULL, shape, SAMPLES(samples), wrongs,     \
            known                                                                                  \
    }
#define RUNS(name, samples, wrongs, known)                                                         \
    {                                                                                              \
#samples, WIRE_RUNS_OF, &tacit_wire_##name, NULL,                                          \
            {0 }, SAMPLES(samples), WRONGS(wrongs), known                                          \
    }
#define ALONE(sort, table, samples, wrongs, known)                                                 \
    {                                                                                              \
#samples, sort, NULL, table, SHAPED, SAMPLES(samples), wrongs, known                       \
    }
#define NO_WRONGS NULL, 0
const struct wire_family wire_families[] = {
    FAMILY(elim, SHAPED, elim, WRONGS(elim_wrongs), UINT64_C(0xa8beac003a7fa89a)),
    FAMILY(elim, WIDE, wide_elim, NO_WRONGS, UINT64_C(0x03e502faff72526c)),
    RUNS(elim, elim_runs, elim_run_wrongs, UINT64_C(0x98d0a67b285e72e8)),
    FAMILY(phased, SHAPED, phased, WRONGS(phased_wrongs), UINT64_C(0x748038eac766ab0a)),
    RUNS(phased, phased_runs, phased_run_wrongs, UINT64_C(0xfc21017eb4ee92e4)),
    FAMILY(glm_sound, SHAPED, sound, WRONGS(sound_wrongs), UINT64_C(0xc6d3b93a51de8b21)),
    RUNS(glm_sound, sound_runs, sound_run_wrongs, UINT64_C(0x09be731a5b2248ce)),
    FAMILY(vote, SHAPED, votes, WRONGS(vote_wrongs), UINT64_C(0xccdce0b30bdc7e1b)),
    FAMILY(vote, WIDE, wide_votes, NO_WRONGS, UINT64_C(0x36c183466ff133c9)),
    RUNS(vote, vote_runs, vote_run_wrongs, UINT64_C(0x4dd588f0a8816884)),
    FAMILY(select, SHAPED, training, WRONGS(training_wrongs), UINT64_C(0xf70e4999bd25dcc2)),
    RUNS(select, training_runs, training_run_wrongs, UINT64_C(0x782077406eb97e61)),
    FAMILY(gossip, SHAPED, gossip, WRONGS(gossip_wrongs), UINT64_C(0x3aec6d1fd116d9c2)),
    ALONE(WIRE_MESSAGE_ALONE, &tacit_wire_gossip_progress, progress, WRONGS(progress_wrongs),
          UINT64_C(0x617925c01799cfc1)),
    ALONE(WIRE_MESSAGE_ALONE, &tacit_wire_gossip_release, releases, NO_WRONGS,
          UINT64_C(0x68d40abe5c9012ff)),
    RUNS(gossip, gossip_runs, gossip_run_wrongs, UINT64_C(0xded1772fd5d41c5c)),
    FAMILY(glm, SHAPED, glm, WRONGS(glm_wrongs), UINT64_C(0xf73f173ceabcd887)),
    FAMILY(glm, WIDE, wide_glm, NO_WRONGS, UINT64_C(0xa9ba4893f4e39361)),
    RUNS(glm, glm_runs, glm_run_wrongs, UINT64_C(0xa71e2a1277bce56d)),
    ALONE(WIRE_MESSAGE_ALONE, &tacit_wire_helper_request, requests, WRONGS(request_wrongs),
          UINT64_C(0x4be6665734db75e8)),
    ALONE(WIRE_MESSAGE_ALONE, &tacit_wire_helper_answer, answers, WRONGS(answer_wrongs),
          UINT64_C(0x139cc1b239ee5a15)),
    ALONE(WIRE_MESSAGE_ALONE, &tacit_wire_announcement, announcements, WRONGS(announcement_wrongs),
          UINT64_C(0xda3a808ba267e632)),
    ALONE(WIRE_ENVELOPE, NULL, envelopes, NO_WRONGS, UINT64_C(0x549047efc8db0e67)),
};
const size_t wire_family_count = NUMBER_OF(wire_families);

/* Stupid on purpose: see vote_twin.h. */
#include "vote_twin.h"
#include <stdlib.h>

struct player {
    struct best_twin learner;
    bool votes[BEST_TWIN_ARMS_MAX];
};

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *chance)
{
    uint64_t z = *chance += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double real(uint64_t *chance)
{
    return ((double)(draw(chance) >> 11) + 0.5) * 0x1p-53;
}

static void shuffle(void *context, int count, int *arms)
{
    for (int i = count - 1; i > 0; i--) {
        int const j = (int)(real(context) * (i + 1));
        int const kept = arms[i];
        arms[i] = arms[j];
        arms[j] = kept;
    }
}

static int pick_player(const struct vote_twin_setting *setting, uint64_t *chance)
{
    if (!setting->groups)
        return (int)(real(chance) * setting->players);
    int const half = setting->players / 2;
    if (real(chance) < 0.8)
        return (int)(real(chance) * half);
    return half + (int)(real(chance) * (setting->players - half));
}

static double mean_now(const struct vote_twin_setting *setting, int arm, double time)
{
    int best = 0;
    for (int k = 0; k < setting->arms; k++)
        if (setting->means[k] > setting->means[best])
            best = k;
    if (arm == best)
        return setting->means[arm];
    double const mean = setting->means[arm] + setting->drift * time;
    return mean < 0 ? 0 : mean;
}

/* K(l) from all votes: never empty. */
static int count_left(const struct vote_twin_setting *setting, const struct player *players,
                      bool *left)
{
    int counts[BEST_TWIN_ARMS_MAX];
    int total = 0;
    int fewest = 0;
    for (int k = 0; k < setting->arms; k++) {
        counts[k] = 0;
        for (int n = 0; n < setting->players; n++)
            counts[k] += players[n].votes[k];
        left[k] = counts[k] < setting->needed;
        total += left[k];
        if (counts[k] < counts[fewest])
            fewest = k;
    }
    if (total > 0)
        return total;
    left[fewest] = true;
    return 1;
}

static bool all_single(const struct vote_twin_setting *setting, const struct player *players)
{
    for (int n = 0; n < setting->players; n++)
        if (best_twin_count(&players[n].learner) != 1)
            return false;
    return true;
}

static bool is_right(const struct vote_twin_setting *setting, const struct player *players)
{
    double best = 0;
    for (int k = 0; k < setting->arms; k++)
        best = setting->means[k] > best ? setting->means[k] : best;
    for (int n = 0; n < setting->players; n++)
        if (setting->means[best_twin_answer(&players[n].learner)] < best - setting->epsilon)
            return false;
    return true;
}

static int new_votes(struct player *player, int arms)
{
    int votes = 0;
    for (int k = 0; k < arms; k++)
        if (player->learner.dropped[k] && !player->votes[k]) {
            player->votes[k] = true;
            votes++;
        }
    return votes;
}

struct vote_twin_result vote_twin_run(const struct vote_twin_setting *setting)
{
    struct vote_twin_result result = {0};
    uint64_t chance = setting->seed;
    struct player *const players = calloc((size_t)setting->players, sizeof players[0]);
    for (int n = 0; n < setting->players; n++)
        best_twin_start(&players[n].learner, setting->kind, setting->arms, setting->epsilon,
                        setting->failure);
    bool left[BEST_TWIN_ARMS_MAX];
    bool changed = false; /* somebody's set, since the last look at everybody's */
    count_left(setting, players, left);
    for (;;) {
        struct player *const player = &players[pick_player(setting, &chance)];
        int const before = best_twin_count(&player->learner);
        best_twin_allow(&player->learner, left);
        int const arm = best_twin_next(&player->learner, shuffle, &chance);
        double const mean = mean_now(setting, arm, result.samples);
        best_twin_observe(&player->learner, real(&chance) < mean ? 1 : 0);
        result.samples++;
        int const votes = new_votes(player, setting->arms);
        result.messages += votes;
        if (votes > 0 && count_left(setting, players, left) == 1 && result.samples_vote == 0)
            result.samples_vote = result.samples;
        changed = changed || best_twin_count(&player->learner) != before;
        if (changed && all_single(setting, players))
            break;
        changed = false;
    }
    if (result.samples_vote == 0)
        result.samples_vote = result.samples;
    result.right = is_right(setting, players);
    free(players);
    return result;
}

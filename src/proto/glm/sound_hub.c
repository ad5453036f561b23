/* The hub of the private linear bandit with flat releases: opens batches, adds up what sites
 * released. It holds nothing that is not noised; its state is a function of the set of reports it
 * accepted: rows are kept by site until the round closes and are whole numbers. */
#include <string.h>
#include "../round/rounds.h"
#include "sound.h"

#define MAGIC UINT64_C(0x31646e756f736c67) /* of a snapshot: "glsound1" */

struct tacit_glm_sound_hub {
    uint64_t round;    /* of the order that stands, or will be the first */
    uint64_t releases; /* in the total */
    struct tacit_glm_sound_hub_config config;
    struct round_desk desk;
    /* total S | rows A x S | received W(A) | seen A | heads A, flagged W(A), ahead W(A) */
    uint64_t words[];
};

/* ---- Where what lies ---- */

static uint32_t sites_of(const struct tacit_glm_sound_hub *hub)
{
    return hub->config.model.client_count;
}

static uint32_t sum_count(const struct tacit_glm_sound_hub *hub)
{
    return (uint32_t)TACIT_GLM_PRIVATE_SUMS(hub->config.model.dimension);
}

static int64_t *total_of(struct tacit_glm_sound_hub *hub)
{
    return (int64_t *)hub->words;
}

static int64_t *row_of(struct tacit_glm_sound_hub *hub, uint32_t site)
{
    TACIT_ASSERT(site <= sites_of(hub));
    return total_of(hub) + (1 + (size_t)site) * sum_count(hub);
}

static uint64_t *received_of(struct tacit_glm_sound_hub *hub)
{
    return (uint64_t *)row_of(hub, sites_of(hub));
}

static bool is_last(const struct tacit_glm_sound_hub *hub)
{
    return hub->round > hub->config.model.batch_count;
}

static bool has_helper(const struct tacit_glm_sound_hub *hub)
{
    return hub->config.floor_milli != TACIT_ONE_AGGREGATOR;
}

static struct round_hub round_of(void *state)
{
    struct tacit_glm_sound_hub *const hub = state;
    uint32_t const sites = sites_of(hub);
    uint64_t *const heads = received_of(hub) + round_seen_words(sites);
    return (struct round_hub){.desk = &hub->desk,
                              .grantor = round_grantor_at(heads, sites, hub->desk.term > 0),
                              .received = received_of(hub),
                              .seen = round_seen_at(received_of(hub), sites),
                              .rows = (uint64_t *)row_of(hub, 0),
                              .row_words = sum_count(hub),
                              .domain = hub->config.domain,
                              .run_id = hub->config.model.run_id,
                              .site_count = sites,
                              .round = hub->desk.phase == ROUND_NEW ? 0 : (uint32_t)hub->round,
                              .round_max = (uint32_t)hub->config.model.batch_count,
                              .timeout_us = hub->config.round_timeout_us,
                              .is_last = is_last(hub),
                              .answers_all = true,
                              .has_helper = has_helper(hub)};
}

size_t tacit_glm_sound_hub_size(const struct tacit_glm_sound_hub_config *config)
{
    struct tacit_glm_private_rule rule;
    if (tacit_glm_sound_rule(&rule, &config->model, config->floor_milli) != TACIT_OK ||
        config->quorum > config->model.client_count ||
        config->round_timeout_us > TACIT_GLM_SOUND_PAUSE_US_MAX)
        return 0;
    uint32_t const sites = config->model.client_count;
    size_t const sums = TACIT_GLM_PRIVATE_SUMS(config->model.dimension);
    return sizeof(struct tacit_glm_sound_hub) +
           ((1 + sites) * sums + round_seen_words(sites) + round_grantor_words(sites)) *
               sizeof(uint64_t);
}

enum tacit_status tacit_glm_sound_hub_init(struct tacit_glm_sound_hub *hub,
                                           const struct tacit_glm_sound_hub_config *config)
{
    size_t const size = tacit_glm_sound_hub_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    hub->desk.deadline_us = TACIT_NEVER;
    hub->config = *config;
    hub->round = 1;
    return TACIT_OK;
}

/* ---- Its rule (round/rounds.h) ---- */

static bool is_plausible(const struct tacit_glm_sound_hub *hub, const int64_t *sums)
{
    struct tacit_glm_private_rule rule;
    enum tacit_status const status =
        tacit_glm_sound_rule(&rule, &hub->config.model, hub->config.floor_milli);
    TACIT_ASSERT(status == TACIT_OK);
    return glm_sound_are_within(sums, sum_count(hub), glm_sound_most(&rule));
}

static bool row_is_possible(void *hub, uint32_t site)
{
    return is_plausible(hub, row_of(hub, site));
}

static uint32_t quorum_of(void *state)
{
    struct tacit_glm_sound_hub const *const hub = state;
    return hub->config.quorum > 0 ? hub->config.quorum : sites_of(hub);
}

/* What is masked may be anything. */
static enum tacit_status check_report(void *hub, const struct round_input *input)
{
    return input->words != NULL &&
                   (input->masked != NULL || is_plausible(hub, (const int64_t *)input->words))
               ? TACIT_OK
               : TACIT_MALFORMED;
}

static void digest_report(void *hub, const struct round_input *input,
                          uint8_t digest[TACIT_SHA256_BYTES])
{
    (void)hub;
    glm_sound_digest((const int64_t *)input->words, input->word_count, digest);
}

static void close_round(void *state, uint32_t sites, const int64_t *totals)
{
    struct tacit_glm_sound_hub *const hub = state;
    uint32_t const rows = has_helper(hub) ? 0 : sites_of(hub);
    TACIT_ASSERT(!is_last(hub) && sites <= sites_of(hub));
    TACIT_IMPLIES(!has_helper(hub), sites == hub->desk.covered_count && totals == NULL);
    TACIT_BITS_EACH (site, received_of(hub), rows)
        for (uint32_t i = 0; i < sum_count(hub); i++)
            total_of(hub)[i] += row_of(hub, site)[i];
    for (uint32_t i = 0; i < sum_count(hub) && has_helper(hub) && sites > 0; i++)
        total_of(hub)[i] += totals[i];
    hub->releases += sites;
    hub->round++;
}

static struct round_input input_of(void *hub, const void *said)
{
    struct tacit_glm_sound_message const *const message = said;
    return ROUND_INPUT(message, .masked = message->masked, .words = (const uint64_t *)message->sums,
                       .word_count = sum_count(hub));
}

static const struct round_rule rule = {.round = round_of,
                                       .input = input_of,
                                       .quorum = quorum_of,
                                       .check = check_report,
                                       .is_possible = row_is_possible,
                                       .digest = digest_report,
                                       .close = close_round};

/* ---- Messages ---- */

static void fill_update(struct tacit_glm_sound_hub *hub, const struct round_made *made,
                        struct tacit_glm_sound_update *update)
{
    bool const is_order = made->answer == ROUND_ORDER;
    *update = (struct tacit_glm_sound_update){.core = round_update(&hub->desk, made)};
    if (!update->send)
        return;
    struct round_hub const round = round_of(hub);
    update->message = (struct tacit_glm_sound_message){.kind = round_kind(made),
                                                       .head = round_head(&round, made),
                                                       .sums = is_order ? total_of(hub) : NULL,
                                                       .releases = is_order ? hub->releases : 0};
}

void tacit_glm_sound_hub_close(struct tacit_glm_sound_hub *hub, uint32_t sites,
                               const int64_t *totals, uint64_t now_us,
                               struct tacit_glm_sound_update *update)
{
    struct round_made made;
    round_close(&rule, hub, sites, totals, now_us, &made);
    fill_update(hub, &made, update);
}

void tacit_glm_sound_hub_end(struct tacit_glm_sound_hub *hub, uint64_t now_us,
                             struct tacit_glm_sound_update *update)
{
    struct round_made made;
    TACIT_ASSERT(has_helper(hub));
    hub->round = hub->config.model.batch_count + 1;
    struct round_hub const round = round_of(hub);
    round_finish(&round, now_us, &made);
    fill_update(hub, &made, update);
}

enum tacit_status tacit_glm_sound_hub_step(struct tacit_glm_sound_hub *hub,
                                           const struct tacit_event *event,
                                           struct tacit_glm_sound_update *update)
{
    struct round_made made;
    enum tacit_status const status = round_step(&rule, hub, event, NULL, &made);
    fill_update(hub, &made, update);
    return status;
}

/* ---- Check ---- */

/* What closed rounds left is a sum of what sites may say. */
static bool total_is_possible(struct tacit_glm_sound_hub *hub)
{
    int64_t const most =
        (INT64_MAX >> 1) / (TACIT_GLM_SOUND_BATCHES_MAX + 1) * (int64_t)(hub->round - 1);
    return glm_sound_are_within(total_of(hub), sum_count(hub), most);
}

static bool count_is_possible(const struct tacit_glm_sound_hub *hub)
{
    return hub->round >= 1 && hub->round <= hub->config.model.batch_count + 1 &&
           (hub->desk.phase != ROUND_NEW || hub->round == 1) &&
           (has_helper(hub) || hub->releases >= hub->round - 1) && /* that may have been void */
           hub->releases <= (hub->round - 1) * sites_of(hub);
}

enum tacit_status tacit_glm_sound_hub_check(const struct tacit_glm_sound_hub *state, size_t size,
                                            const struct tacit_glm_sound_hub_config *config)
{
    struct tacit_glm_sound_hub *const hub = (struct tacit_glm_sound_hub *)(uintptr_t)state;
    bool const is_possible = size > 0 && size == tacit_glm_sound_hub_size(config) &&
                             memcmp(&hub->config, config, sizeof *config) == 0 &&
                             count_is_possible(hub) && round_is_possible(&rule, hub) &&
                             total_is_possible(hub);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

/* ---- Snapshots ---- */

static void walk_hub(struct base_walk *walk, void *state)
{
    struct tacit_glm_sound_hub *const hub = state;
    base_walk_same(walk, MAGIC);
    base_walk_same(walk, hub->config.model.run_id);
    base_walk_same(walk, sites_of(hub));
    base_walk_same(walk, hub->config.model.dimension);
    base_walk_same(walk, hub->config.model.batch_count);
    round_desk_walk(walk, &hub->desk, sites_of(hub));
    base_walk_word(walk, &hub->round);
    base_walk_word(walk, &hub->releases);
    base_walk_words(walk, (uint64_t *)total_of(hub), sum_count(hub));
}

ROUND_SNAPSHOTS(tacit_glm_sound_hub, walk_hub)

void tacit_glm_sound_hub_view(const struct tacit_glm_sound_hub *state,
                              struct tacit_glm_sound_hub_view *view)
{
    struct tacit_glm_sound_hub *const hub = (struct tacit_glm_sound_hub *)(uintptr_t)state;
    struct round_hub const round = round_of(hub);
    *view = (struct tacit_glm_sound_hub_view){
        .desk = round_hub_view(&round), .sums = total_of(hub), .releases = hub->releases};
}

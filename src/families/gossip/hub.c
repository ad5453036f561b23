/* The coordinator of gossip UCB: announces the run and watches. It keeps nothing; what it shows is
 * what the sites have told since it started. */
#include "../../live/hub.h"
#include "../../live/bus/letter.h"
#include "core.h"
#include "live.h"
#include "settings.h"
#include "tacit/wire_gossip.h"
#include <stdlib.h>
#include <string.h>

struct live_hub {
    const struct live_hub_ops *ops;
    const struct live_hub_config *config;
    uint32_t *epochs;   /* A: all 0, there are none */
    uint64_t *nobody;   /* A: the empty set of sites */
    uint64_t *pulls;    /* A: as told; 0: nothing was told */
    uint64_t *finished; /* A: a set */
    double *theta;      /* A x K, as told */
    double *row;        /* K: of the message at hand */
    double *means;      /* K */
    double *spreads;    /* K */
};

static const struct gossip_hub_settings *settings_of(const struct live_hub_config *config)
{
    struct gossip_hub_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return settings;
}

/* ---- The announcement ------------------------------------------------------------------------ */

static uint64_t epsilon_nano(const struct live_hub_config *config)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, config->epsilon,
                                                     config->lo, config->hi};
    return gossip_epsilon_nano(&mechanism);
}

/* Everything but the neighbours. */
static struct tacit_wire_gossip_run run_of(const struct live_hub_config *config, uint32_t site)
{
    struct gossip_hub_settings const *const settings = settings_of(config);
    return (struct tacit_wire_gossip_run){.run_id = config->run_id,
                                          .agent = site,
                                          .agent_count = config->site_count,
                                          .arm_count = config->arm_count,
                                          .horizon = config->horizon,
                                          .epsilon_nano = epsilon_nano(config),
                                          .exchange_us = settings->exchange_us,
                                          .pull_us = settings->pull_us,
                                          .log_base_10 = settings->log_base_10};
}

/* It points into config and `parameters`. */
static struct tacit_wire_agreement
agreement_of(const struct live_hub_config *config, const struct tacit_wire_gossip_run *run,
             uint8_t parameters[TACIT_WIRE_GOSSIP_PARAMETERS_BYTES])
{
    struct tacit_wire_agreement agreement = {.protocol = TACIT_WIRE_GOSSIP_WORD,
                                             .family = TACIT_WIRE_GOSSIP_FAMILY,
                                             .protocol_version = TACIT_WIRE_GOSSIP_VERSION,
                                             .agent_count = config->site_count,
                                             .arm_count = config->arm_count,
                                             .arms = config->arm_names,
                                             .lo = config->lo,
                                             .hi = config->hi,
                                             .horizon = config->horizon,
                                             .epsilon_nano = run->epsilon_nano,
                                             .parameters = parameters,
                                             .parameters_size = TACIT_WIRE_GOSSIP_PARAMETERS_BYTES};
    live_hub_run(config, agreement.run);
    tacit_wire_gossip_parameters_encode(run, parameters);
    return agreement;
}

static uint8_t *encode(const struct live_hub_config *config,
                       const struct tacit_wire_gossip_run *run, size_t *size)
{
    uint8_t parameters[TACIT_WIRE_GOSSIP_PARAMETERS_BYTES];
    size_t const place_size = tacit_wire_gossip_place_bytes(run);
    uint8_t *const place = malloc(place_size);
    struct tacit_wire_announcement const announcement = {.agreement =
                                                             agreement_of(config, run, parameters),
                                                         .agent = run->agent,
                                                         .place = place,
                                                         .place_size = place_size};
    *size = tacit_wire_announcement_bytes(&announcement);
    uint8_t *bytes = malloc(*size);
    if (place == NULL || bytes == NULL || tacit_wire_gossip_place_encode(run, place) != TACIT_OK ||
        tacit_wire_announcement_encode(&announcement, bytes) != TACIT_OK) {
        free(bytes);
        bytes = NULL;
    }
    free(place);
    return bytes;
}

static uint8_t *hub_announce(const struct live_hub_config *config, uint32_t site, size_t *size)
{
    struct tacit_graph const *const graph = settings_of(config)->graph;
    struct tacit_wire_gossip_run run = run_of(config, site);
    uint32_t const degree = tacit_graph_degree(graph, site);
    struct tacit_wire_gossip_neighbour *const neighbours = calloc(degree, sizeof *neighbours);
    TACIT_ASSERT(site < config->site_count && degree > 0); /* the graph is connected */
    if (neighbours == NULL)
        return NULL;
    for (uint32_t i = 0; i < degree; i++) {
        uint32_t const other = graph->neighbours[graph->first[site] + i];
        neighbours[i] = (struct tacit_wire_gossip_neighbour){other, config->sites[other]};
    }
    run.neighbours = neighbours;
    run.neighbour_count = degree;
    uint8_t *const bytes = encode(config, &run, size);
    free(neighbours);
    return bytes;
}

static const char *hub_too_large(const struct live_hub_config *config)
{
    if (!gossip_core_fits(config->arm_count))
        return "arms";
    for (uint32_t site = 0; site < config->site_count; site++) {
        size_t size;
        uint8_t *const bytes = hub_announce(config, site, &size);
        bool const is_large = bytes != NULL && size > LIVE_LETTER_BYTES_MAX;
        free(bytes);
        if (is_large)
            return "network";
    }
    return NULL;
}

static void hub_describe(const struct live_hub_config *config, FILE *out)
{
    struct gossip_hub_settings const *const settings = settings_of(config);
    struct tacit_graph const *const graph = settings->graph;
    (void)fprintf(out, "run.exchange_s %llu us\nrun.pulls_per_second %llu us\nrun.log_base %d\n",
                  (unsigned long long)settings->exchange_us, (unsigned long long)settings->pull_us,
                  settings->log_base_10 ? 10 : 0);
    for (uint32_t site = 0; site < config->site_count; site++)
        for (uint64_t i = graph->first[site]; i < graph->first[site + 1]; i++)
            (void)fprintf(out, "network.edges %u,%u\n", site, graph->neighbours[i]);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static void hub_free(struct live_hub *hub)
{
    if (hub == NULL)
        return;
    free(hub->epochs);
    free(hub->nobody);
    free(hub->pulls);
    free(hub->finished);
    free(hub->theta);
    free(hub->row);
    free(hub->means);
    free(hub->spreads);
    free(hub);
}

static enum tacit_status hub_open(struct live_hub **hub, const struct live_hub_config *config,
                                  const void *bytes, size_t size)
{
    size_t const sites = config->site_count;
    size_t const arms = config->arm_count;
    struct live_hub *const made = calloc(1, sizeof *made);
    (void)bytes;
    if (made == NULL)
        return TACIT_MEMORY;
    made->ops = &gossip_hub_ops;
    made->config = config;
    made->epochs = calloc(sites, sizeof *made->epochs);
    made->nobody = calloc(TACIT_BITS_WORDS(config->site_count), sizeof *made->nobody);
    made->pulls = calloc(sites, sizeof *made->pulls);
    made->finished = calloc(TACIT_BITS_WORDS(config->site_count), sizeof *made->finished);
    made->theta = calloc(sites * arms, sizeof *made->theta);
    made->row = calloc(arms, sizeof *made->row);
    made->means = calloc(arms, sizeof *made->means);
    made->spreads = calloc(arms, sizeof *made->spreads);
    bool const is_made = made->epochs != NULL && made->nobody != NULL && made->pulls != NULL &&
                         made->finished != NULL && made->theta != NULL && made->row != NULL &&
                         made->means != NULL && made->spreads != NULL;
    if (!is_made || size != 0) {
        hub_free(made);
        return is_made ? TACIT_MALFORMED : TACIT_MEMORY;
    }
    *hub = made;
    return TACIT_OK;
}

static const void *hub_bytes(const struct live_hub *hub, size_t *size)
{
    (void)hub;
    *size = 0;
    return NULL;
}

/* The sites know all that there is. */
static size_t hub_snapshot(const struct live_hub *hub, uint8_t *bytes, size_t room)
{
    (void)hub;
    (void)bytes;
    (void)room;
    return 0;
}

static enum tacit_status hub_rebuild(struct live_hub **hub, const struct live_hub_config *config,
                                     const uint8_t *bytes, size_t size)
{
    return size == 0 ? hub_open(hub, config, bytes, size) : TACIT_MALFORMED;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* What came late is no news: pulls only grow. */
static void note(struct live_hub *hub, const struct tacit_wire_gossip_told *told)
{
    uint32_t const arms = hub->config->arm_count;
    if (told->pull_count < hub->pulls[told->from])
        return;
    hub->pulls[told->from] = told->pull_count;
    memcpy(hub->theta + (size_t)told->from * arms, told->theta, arms * sizeof *told->theta);
    if (told->finished)
        tacit_bits_add(hub->finished, told->from);
}

static enum tacit_status receive(struct live_hub *hub, const struct live_hub_event *event)
{
    struct live_hub_config const *const config = hub->config;
    struct tacit_wire_gossip_told told;
    if (event->message_kind != TACIT_WIRE_GOSSIP_KIND_TOLD || event->message_epoch != 0)
        return TACIT_UNEXPECTED;
    enum tacit_status const status = tacit_wire_gossip_told_decode(
        event->bytes, event->size, config->arm_count, config->site_count, &told, hub->row);
    if (status != TACIT_OK)
        return status;
    if (told.from != event->from || told.run_id != config->run_id)
        return TACIT_STRANGER;
    uint64_t const most = config->horizon + config->arm_count;
    if (told.pull_count < config->arm_count || told.pull_count > most ||
        (told.finished && told.pull_count != most))
        return TACIT_MALFORMED;
    note(hub, &told);
    return TACIT_OK;
}

static enum tacit_status hub_step(struct live_hub *hub, const struct live_hub_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct live_hub_update *update)
{
    TACIT_ASSERT(entropy != NULL);
    *update = (struct live_hub_update){.deadline_us = TACIT_NEVER};
    return event->kind == LIVE_HUB_RECEIVE ? receive(hub, event) : TACIT_OK;
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* Over the sites that have told. Result: their number. */
static uint32_t summarize(const struct live_hub *hub, uint32_t arm)
{
    struct live_hub_config const *const config = hub->config;
    double sum = 0;
    double low = 0;
    double high = 0;
    uint32_t count = 0;
    for (uint32_t site = 0; site < config->site_count; site++) {
        double const value = hub->theta[(size_t)site * config->arm_count + arm];
        if (hub->pulls[site] == 0)
            continue;
        sum += value;
        low = count == 0 || value < low ? value : low;
        high = count == 0 || value > high ? value : high;
        count++;
    }
    double const range = config->hi - config->lo;
    hub->means[arm] = count == 0 ? 0 : config->lo + range * (sum / count);
    hub->spreads[arm] = range * (high - low);
    return count;
}

static void hub_look(const struct live_hub *hub, struct live_hub_view *view)
{
    struct live_hub_config const *const config = hub->config;
    uint32_t told = 0;
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        told = summarize(hub, arm);
    *view = (struct live_hub_view){
        .is_finished = tacit_bits_count(hub->finished, config->site_count) == config->site_count,
        .active_count = config->arm_count,
        .done = hub->finished,
        .asked = hub->nobody,
        .received = hub->nobody,
        .seen = hub->epochs,
        .means = told > 0 ? hub->means : NULL,
        .spreads = told > 0 ? hub->spreads : NULL,
        .pulls_told = hub->pulls};
}

const struct live_hub_ops gossip_hub_ops = {.word = TACIT_WIRE_GOSSIP_WORD,
                                            .family = TACIT_WIRE_GOSSIP_FAMILY,
                                            .too_large = hub_too_large,
                                            .describe = hub_describe,
                                            .old_announce = hub_announce,
                                            .old_open = hub_open,
                                            .free = hub_free,
                                            .old_bytes = hub_bytes,
                                            .snapshot = hub_snapshot,
                                            .is_rebuilt = true,
                                            .old_rebuild = hub_rebuild,
                                            .old_step = hub_step,
                                            .look = hub_look};

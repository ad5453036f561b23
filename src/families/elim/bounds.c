/* How much a run of epoch elimination says at most, and what that costs: for `check`. */
#include <stdlib.h>
#include "../ladder.h"
#include "plan.h"
#include "settings.h"
#include "tacit/wire_elim.h"

/* Most rounds that fit the horizon. S(r) is least with two arms left, the fewest, and most with
 * all K: an epoch brings reports only if the most of it can be above the least of the one before.
 * Where the gap is drawn for each run, the schedule has the largest one, whose S is least. */
static uint32_t rounds_max(const struct tacit_experiment *experiment)
{
    struct elim_plan const *const plan = experiment->plan;
    struct tacit_elim_schedule const schedule = elim_schedule(experiment);
    uint32_t const limit =
        schedule.round_limit > 0 ? schedule.round_limit : TACIT_ELIM_EPOCHS_MAX - 1;
    bool const gap_varies =
        schedule.round_limit > 0 && plan->sim.gap <= 0 && plan->sim.common.instance_per_run;
    uint64_t least = 0;
    uint32_t rounds = 0;
    for (uint32_t epoch = 1; epoch <= limit; epoch++) {
        uint64_t const before = least;
        uint64_t const most = tacit_elim_pulls(&schedule, epoch, schedule.arm_count, 0);
        least = tacit_elim_pulls(&schedule, epoch, 2, before);
        if (least > schedule.horizon / 2)
            break;
        rounds += gap_varies || most > before ? 1 : 0;
    }
    return rounds;
}

/* ---- What a round takes ---- */

/* Links by the paper's formulas; messages and rows (the sums of one agent, carried once) at most.
 */
struct traffic {
    double server_links;
    double peer_links;
    double all_edges; /* links if every edge carried something in every slot */
    double reports;
    double adverts;
    double requests;
    double data;
    double rows; /* in data */
    bool has_hub;
};

/* READINGS P1.14: every edge in each of d_G slots. Each agent says at most once a slot what is new
 * to it, asks a neighbour at most once a slot, and is sent the sums of each other agent once. */
static void add_spread(const struct tacit_component *component, uint32_t diameter,
                       struct traffic *traffic)
{
    double const agents = component->agent_count;
    double const links = (double)component->edge_count * diameter;
    double const rows = agents * (agents - 1);
    double const requests = rows < 2 * links ? rows : 2 * links;
    traffic->peer_links += links;
    traffic->all_edges += links;
    traffic->adverts += agents * diameter;
    traffic->requests += requests;
    traffic->data += requests;
    traffic->rows += rows;
}

/* READINGS P1.17: the sums of each agent go to its sink, edge by edge; the sink reports. */
static void add_gathering(const struct tacit_component *component, struct traffic *traffic)
{
    traffic->server_links += 1;
    traffic->peer_links += (double)component->distance_sum;
    traffic->all_edges += (double)component->edge_count * component->delay;
    traffic->reports += 1;
    traffic->data += (double)component->distance_sum;
    traffic->rows += (double)component->distance_sum;
}

static struct traffic traffic_of_round(const struct elim_sim *sim)
{
    struct tacit_elim_network const *const network = sim->network;
    struct traffic traffic = {.has_hub = true};
    if (network == NULL) {
        traffic.server_links = sim->report_count; /* READINGS P1.18 */
        traffic.reports = sim->report_count;
        return traffic;
    }
    traffic.has_hub = network->collection == TACIT_ELIM_GATHER;
    for (uint32_t i = 0; i < network->component_count; i++)
        if (traffic.has_hub)
            add_gathering(&network->components[i], &traffic);
        else
            add_spread(&network->components[i], network->diameter, &traffic);
    return traffic;
}

/* ---- Bytes ---- */

/* The longest message of a kind: every arm is active, all agents are in its sets. A message of rows
 * has none yet. Requires: everybody has the bits of all agents. */
static double message_bytes(const struct elim_sim *sim, enum tacit_elim_message_kind kind,
                            const uint64_t *everybody)
{
    uint32_t const arms = sim->common.env.arm_count;
    bool const is_order = kind == TACIT_ELIM_ORDER;
    bool const all_report = sim->report_count == sim->common.agent_count;
    struct tacit_elim_message const message = {.kind = kind,
                                               .sum_count = is_order ? 0 : arms,
                                               .agents = sim->network == NULL ? 0 : 1,
                                               .leader = is_order && sim->growth > 0 ? 1 : 0,
                                               .uploaders =
                                                   is_order && !all_report ? everybody : NULL,
                                               .origins = everybody};
    struct tacit_wire_shape const shape = {.arm_count = arms,
                                           .agent_count = sim->common.agent_count};
    double const bytes = (double)tacit_wire_bytes(tacit_wire_elim.messages, &shape, &message);
    double const rows = kind == TACIT_ELIM_DATA ? sim->common.agent_count : 0;
    return bytes - rows * arms * sizeof(int64_t);
}

static double bytes_of_round(const struct elim_sim *sim, const struct traffic *traffic,
                             const uint64_t *everybody)
{
    double const row = (double)sim->common.env.arm_count * sizeof(int64_t);
    return traffic->reports * message_bytes(sim, TACIT_ELIM_REPORT, everybody) +
           traffic->adverts * message_bytes(sim, TACIT_ELIM_ADVERT, everybody) +
           traffic->requests * message_bytes(sim, TACIT_ELIM_REQUEST, everybody) +
           traffic->data * message_bytes(sim, TACIT_ELIM_DATA, everybody) + traffic->rows * row;
}

/* ---- What is printed ---- */

static void print_messages(const struct traffic *traffic, double rounds, double orders, FILE *out)
{
    double const peers = traffic->adverts + traffic->requests + traffic->data;
    (void)fprintf(out, "  messages  %.0f  (", rounds * (traffic->reports + peers) + orders);
    if (traffic->adverts > 0)
        (void)fprintf(out, "%.0f adverts, %.0f requests, %.0f answers", rounds * traffic->adverts,
                      rounds * traffic->requests, rounds * traffic->data);
    else if (traffic->data > 0)
        (void)fprintf(out, "%.0f on the way to sinks, ", rounds * traffic->data);
    if (traffic->has_hub)
        (void)fprintf(out, "%.0f reports, %.0f broadcasts", rounds * traffic->reports, orders);
    else if (traffic->adverts <= 0)
        (void)fprintf(out, "each agent learns by itself");
    (void)fprintf(out, ")\n");
}

static void print_cost(const struct elim_sim *sim, const struct traffic *traffic, double rounds,
                       FILE *out)
{
    double const servers = traffic->server_links * sim->server_link_cost;
    (void)fprintf(out, "  cost      %.12g  (",
                  rounds * (servers + traffic->peer_links * sim->peer_link_cost));
    if (traffic->has_hub)
        (void)fprintf(out, "%.12g a server link, %.0f links a round", sim->server_link_cost,
                      traffic->server_links);
    if (sim->network != NULL)
        (void)fprintf(out, "%s%.12g a peer link, %.0f links a round", traffic->has_hub ? "; " : "",
                      sim->peer_link_cost, traffic->peer_links);
    (void)fprintf(out, ")\n");
    if (sim->network != NULL && traffic->has_hub)
        (void)fprintf(out, "  cost_all_edges %.12g  (%.0f peer links a round)\n",
                      rounds * (servers + traffic->all_edges * sim->peer_link_cost),
                      traffic->all_edges);
}

/* EXACT-BOUNDS 4.1, 3 (v). */
static void print_ladder(const struct tacit_experiment *experiment, FILE *out)
{
    struct tacit_elim_schedule const schedule = elim_schedule(experiment);
    uint64_t const first = tacit_elim_pulls(&schedule, 1, schedule.arm_count, 0);
    (void)fprintf(out, "  first plan %llu pulls of each arm at each agent: %llu slots\n",
                  (unsigned long long)first, (unsigned long long)(first * schedule.arm_count));
    (void)fprintf(out, "  intervals hold for all arms at all times together with chance %.12g%s\n",
                  ladder_confidence(schedule.confidence),
                  schedule.confidence > 0 ? "" : "; arms are dropped with delta = 1/T");
}

enum tacit_status elim_print_costs(const struct tacit_experiment *experiment, FILE *out)
{
    struct elim_plan const *const plan = experiment->plan;
    struct elim_sim const *const sim = &plan->sim;
    struct traffic const traffic = traffic_of_round(sim);
    double const rounds = rounds_max(experiment);
    double const orders = traffic.has_hub ? rounds + 1 : 0;
    uint64_t *const everybody =
        calloc(TACIT_BITS_WORDS(sim->common.agent_count), sizeof *everybody);
    if (everybody == NULL)
        return TACIT_MEMORY;
    tacit_bits_fill(everybody, sim->common.agent_count);
    (void)fprintf(out, "At most, in one run of %llu slots:\n",
                  (unsigned long long)sim->common.horizon);
    (void)fprintf(out, "  rounds    %.0f\n", rounds);
    print_messages(&traffic, rounds, orders, out);
    (void)fprintf(out, "  bytes     %.0f  (a broadcast counted once)\n",
                  rounds * bytes_of_round(sim, &traffic, everybody) +
                      orders * message_bytes(sim, TACIT_ELIM_ORDER, everybody));
    print_cost(sim, &traffic, rounds, out);
    if (sim->growth > 0)
        print_ladder(experiment, out);
    free(everybody);
    return TACIT_OK;
}

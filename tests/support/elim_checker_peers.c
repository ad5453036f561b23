/* Watches peers from outside:
 *  - a row that is handed on is the release of its origin and epoch, the same on every link and at
 *    every time, and was durable at its origin;
 *  - an order is followed with its own arms and S(r), by all alike;
 *  - nobody says that it holds what its durable state does not hold;
 *  - all peers of a component judge every epoch alike, to the last bit, as the releases of all its
 *    agents say, and go on with the order that follows from it;
 *  - a sink reports the sum of what it holds, each agent once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "elim_checker_internal.h"

static bool spreads(const struct elim_checker *checker)
{
    struct tacit_elim_network const *const network = checker->experiment->network;
    return network != NULL && network->collection == TACIT_ELIM_SPREAD;
}

static struct watched_judge *judge_of(struct elim_checker *checker, uint32_t agent)
{
    return &checker->judges[spreads(checker) ? checker->experiment->network->label[agent] : 0];
}

/* ---- Releases -------------------------------------------------------------------------------- */

void elim_checker_note_release(struct elim_checker *checker, uint32_t agent, uint32_t epoch,
                               const union tacit_sum *noised)
{
    size_t const bytes = checker->arm_count * sizeof *noised;
    struct seen_release *const release = malloc(sizeof *release + bytes);
    if (release == NULL) {
        elim_checker_blame(checker, "the checker is out of memory");
        return;
    }
    release->epoch = epoch;
    release->older = checker->agents[agent].releases;
    memcpy(release->noised, noised, bytes);
    checker->agents[agent].releases = release;
}

const union tacit_sum *elim_checker_release(const struct elim_checker *checker, uint32_t agent,
                                            uint32_t epoch)
{
    struct seen_release const *release = checker->agents[agent].releases;
    while (release != NULL && release->epoch > epoch)
        release = release->older;
    return release != NULL && release->epoch == epoch ? release->noised : NULL;
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static void add_order(struct elim_checker *checker, struct watched_judge *judge, uint32_t epoch,
                      uint64_t pulls, const uint64_t *arms)
{
    size_t const set = TACIT_BITS_WORDS(checker->arm_count);
    struct seen_order *const order =
        calloc(1, sizeof *order + (2 * set + checker->arm_count) * sizeof(uint64_t));
    if (order == NULL) {
        elim_checker_blame(checker, "the checker is out of memory");
        return;
    }
    order->epoch = epoch;
    order->pulls = pulls;
    order->arms = order->words;
    order->left = order->words + set;
    order->means = (double *)(order->words + 2 * set);
    memcpy(order->arms, arms, set * sizeof *arms);
    order->older = judge->orders;
    judge->orders = order;
}

void elim_checker_note_order(struct elim_checker *checker, const struct tacit_elim_hub_view *view)
{
    struct seen_order const *const newest = checker->judges[0].orders;
    if (view->epoch > 0 && (newest == NULL || newest->epoch != view->epoch))
        add_order(checker, &checker->judges[0], view->epoch, view->pulls, view->arms);
}

static struct seen_order *order_of(const struct watched_judge *judge, uint32_t epoch)
{
    struct seen_order *order = judge->orders;
    while (order != NULL && order->epoch > epoch)
        order = order->older;
    return order != NULL && order->epoch == epoch ? order : NULL;
}

/* ---- A judge of our own ---------------------------------------------------------------------- */

/* Alg. 3 l. 10-11 on checker->set and checker->means; what is eliminated leaves the set. */
static double eliminate(struct elim_checker *checker, uint32_t epoch, uint64_t pulls)
{
    uint32_t const arms = checker->arm_count;
    uint32_t const active = tacit_bits_count(checker->set, arms);
    double const radius =
        tacit_elim_radius(&checker->schedule, epoch, active, pulls, checker->schedule.report_count);
    double best = -INFINITY;
    for (uint32_t arm = 0; arm < arms; arm++)
        if (tacit_bits_has(checker->set, arm) && checker->means[arm] > best)
            best = checker->means[arm];
    for (uint32_t arm = 0; arm < arms; arm++)
        if (tacit_bits_has(checker->set, arm) && best - checker->means[arm] >= 2 * radius)
            tacit_bits_remove(checker->set, arm);
    return radius;
}

/* The order that follows on an epoch that was judged, if there is one; epochs without pulls only
 * repeat the test. *epoch is 0 when the end has come. Returns the radius of the last test. */
static double find_next_order(struct elim_checker *checker, double radius, uint32_t *epoch,
                              uint64_t *pulls)
{
    struct tacit_elim_schedule const *const schedule = &checker->schedule;
    uint32_t const limit =
        schedule->round_limit > 0 ? schedule->round_limit : TACIT_ELIM_EPOCHS_MAX - 1;
    for (uint32_t next = *epoch + 1; next <= limit; next++) {
        uint32_t const active = tacit_bits_count(checker->set, checker->arm_count);
        uint64_t const wanted = tacit_elim_pulls(schedule, next, active, *pulls);
        if (active == 1)
            break;
        if (wanted > *pulls) {
            *epoch = next;
            *pulls = wanted;
            return radius;
        }
        radius = eliminate(checker, next, *pulls);
    }
    *epoch = 0;
    return radius;
}

/* Alg. 3 l. 9 for one epoch, from the releases of all agents of the component. */
static bool average(struct elim_checker *checker, uint32_t judging, uint32_t epoch, uint64_t pulls)
{
    uint32_t const *const label = checker->experiment->network->label;
    uint32_t members = 0;
    memset(checker->means, 0, checker->arm_count * sizeof(double));
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++) {
        union tacit_sum const *const noised = elim_checker_release(checker, agent, epoch);
        if (label[agent] != label[judging])
            continue;
        if (noised == NULL) {
            elim_checker_blame(checker, "peer %u: judged epoch %u, of which agent %u has no report",
                               judging, epoch, agent);
            return false;
        }
        members++;
        for (uint32_t arm = 0; arm < checker->arm_count; arm++)
            checker->means[arm] +=
                tacit_sum_mean(&checker->experiment->mechanism.scale, noised[arm], pulls);
    }
    for (uint32_t arm = 0; arm < checker->arm_count; arm++)
        checker->means[arm] /= members;
    return true;
}

/* The first peer of its component that judges an epoch: so must all others. */
static void judge_order(struct elim_checker *checker, struct watched_judge *judge, uint32_t agent,
                        const double *means)
{
    struct seen_order *const order = judge->orders;
    size_t const set_bytes = TACIT_BITS_WORDS(checker->arm_count) * sizeof(uint64_t);
    uint32_t epoch = order->epoch;
    uint64_t pulls = order->pulls;
    if (!average(checker, agent, epoch, pulls))
        return;
    memcpy(checker->set, order->arms, set_bytes);
    for (uint32_t arm = 0; arm < checker->arm_count; arm++) {
        if (!tacit_bits_has(order->arms, arm)) /* stays as it was when the arm left */
            checker->means[arm] = means[arm];
    }
    order->radius = eliminate(checker, epoch, pulls);
    order->radius = find_next_order(checker, order->radius, &epoch, &pulls);
    order->round = ++judge->round_count;
    memcpy(order->left, checker->set, set_bytes);
    memcpy(order->means, checker->means, checker->arm_count * sizeof(double));
    if (epoch > 0)
        add_order(checker, judge, epoch, pulls, checker->set);
}

/* ---- Peers ----------------------------------------------------------------------------------- */

static void check_round(struct elim_checker *checker, uint32_t agent,
                        const struct tacit_elim_peer_view *view)
{
    struct watched_judge *const judge = judge_of(checker, agent);
    struct seen_order *order = order_of(judge, (uint32_t)view->agent.release_epoch);
    if (order == NULL) {
        elim_checker_blame(checker, "peer %u: judged epoch %llu, which nobody ordered", agent,
                           (unsigned long long)view->agent.release_epoch);
        return;
    }
    if (order->round == 0 && order == judge->orders)
        judge_order(checker, judge, agent, view->means);
    if (checker->is_broken)
        return;
    if (order->round != view->round_count)
        elim_checker_blame(checker, "peer %u: round %u is epoch %u here and not elsewhere", agent,
                           view->round_count, order->epoch);
    else if (memcmp(order->means, view->means, checker->arm_count * sizeof(double)) != 0)
        elim_checker_blame(checker, "peer %u: a mean of epoch %u is not that of the reports", agent,
                           order->epoch);
    else if (memcmp(order->left, view->arms,
                    TACIT_BITS_WORDS(checker->arm_count) * sizeof(uint64_t)) != 0)
        elim_checker_blame(checker, "peer %u: the arms after epoch %u do not follow", agent,
                           order->epoch);
    else if (memcmp(&order->radius, &view->radius, sizeof view->radius) != 0)
        elim_checker_blame(checker, "peer %u: the radius of epoch %u does not follow", agent,
                           order->epoch);
}

/* Nobody who is in one state is said to be in two. */
static void check_flags(struct elim_checker *checker, uint32_t agent,
                        const struct tacit_elim_peer_view *view)
{
    uint32_t const degree = tacit_graph_degree(checker->experiment->network->graph, agent);
    if (checker->experiment->has_grants && tacit_bits_next(view->flagged, degree, 0) < degree)
        elim_checker_blame(checker, "peer %u: flagged a neighbour that has one state", agent);
}

void elim_checker_on_peer_persisted(void *context, uint32_t agent,
                                    const struct tacit_elim_peer *state)
{
    struct elim_checker *const checker = context;
    struct watched_agent *const watched = &checker->agents[agent];
    struct tacit_elim_peer_view view;
    tacit_elim_peer_view(state, &view);
    memcpy(watched->known, view.known,
           TACIT_BITS_WORDS(checker->experiment->common.agent_count) * sizeof(uint64_t));
    watched->last = view.agent.last;
    watched->confirms = view.confirms;
    check_flags(checker, agent, &view);
    if (view.round_count < watched->round_count || view.round_count > watched->round_count + 1)
        elim_checker_blame(checker, "peer %u: round %u follows round %u", agent, view.round_count,
                           watched->round_count);
    else if (view.round_count > watched->round_count && checker->knows_gap)
        check_round(checker, agent, &view);
    watched->round_count = view.round_count;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The row that DATA has of an origin; rows are packed or lie in a table. */
static const union tacit_sum *row_in(const struct tacit_elim_message *data, uint32_t origin,
                                     uint32_t rank)
{
    size_t const stride = data->row_stride > 0 ? data->row_stride : data->sum_count;
    return data->sums + (data->row_stride > 0 ? origin : rank) * stride;
}

/* Does it say what the origin released in that epoch, arm by arm? */
static bool is_row_of(const struct elim_checker *checker, const struct tacit_elim_message *data,
                      const union tacit_sum *row, const union tacit_sum *noised)
{
    for (uint32_t arm = 0; arm < checker->arm_count; arm++)
        if (tacit_bits_has(data->arms, arm) && memcmp(row++, &noised[arm], sizeof *row) != 0)
            return false;
    return true;
}

static void check_rows(struct elim_checker *checker, const struct tacit_elim_message *data)
{
    uint32_t rank = 0;
    for (uint32_t origin = 0; origin < checker->experiment->common.agent_count; origin++) {
        if (!tacit_bits_has(data->origins, origin))
            continue;
        union tacit_sum const *const noised = elim_checker_release(checker, origin, data->epoch);
        union tacit_sum const *const row = row_in(data, origin, rank);
        if (noised == NULL)
            elim_checker_blame(checker,
                               "peer %u: hands on a report of agent %u for epoch %u, which is not "
                               "durable there",
                               data->from, origin, data->epoch);
        else if (!is_row_of(checker, data, row, noised))
            elim_checker_blame(checker,
                               "peer %u: hands on for agent %u and epoch %u what was not released",
                               data->from, origin, data->epoch);
        rank++;
    }
}

static void check_data(struct elim_checker *checker, const struct tacit_elim_message *data)
{
    uint32_t const arms = checker->arm_count;
    struct seen_order const *const order = order_of(judge_of(checker, data->from), data->epoch);
    if (data->sum_count != tacit_bits_count(data->arms, arms))
        elim_checker_blame(checker, "peer %u: sends as many sums as there are no arms", data->from);
    else if ((checker->knows_gap || !spreads(checker)) &&
             (order == NULL || data->pulls != order->pulls ||
              memcmp(data->arms, order->arms, TACIT_BITS_WORDS(arms) * sizeof(uint64_t)) != 0))
        elim_checker_blame(checker, "peer %u: hands on what epoch %u did not order", data->from,
                           data->epoch);
    else
        check_rows(checker, data);
}

/* What is said to be here must be durable here. Of the epoch before, all is. */
static void check_holdings(struct elim_checker *checker, const struct tacit_elim_message *message)
{
    struct watched_agent const *const watched = &checker->agents[message->from];
    uint32_t const agents = checker->experiment->common.agent_count;
    if (message->epoch != watched->epoch || watched->last || watched->confirms)
        return;
    if (!tacit_bits_within(message->origins, watched->known, agents))
        elim_checker_blame(checker, "peer %u: says that it holds reports that are not durable",
                           message->from);
}

void elim_checker_peer_message(struct elim_checker *checker,
                               const struct tacit_elim_message *message)
{
    if (message->from >= checker->experiment->common.agent_count || message->origins == NULL)
        return;
    if (message->kind == TACIT_ELIM_DATA)
        check_data(checker, message);
    if (message->kind != TACIT_ELIM_REQUEST)
        check_holdings(checker, message);
}

/* The sum over those whose reports the sink's durable state holds, in the order of their numbers.
 */
static bool is_component_sum(const struct elim_checker *checker,
                             const struct tacit_elim_message *report, uint32_t arm, uint32_t rank)
{
    struct tacit_scale const *const scale = &checker->experiment->mechanism.scale;
    uint64_t const *const known = checker->agents[report->from].known;
    union tacit_sum sum = {0};
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++) {
        union tacit_sum const *const noised =
            tacit_bits_has(known, agent) ? elim_checker_release(checker, agent, report->epoch)
                                         : NULL;
        if (noised != NULL)
            tacit_sum_add(scale, &sum, noised[arm]);
    }
    return memcmp(&sum, &report->sums[rank], sizeof sum) == 0;
}

void elim_checker_component_report(struct elim_checker *checker,
                                   const struct tacit_elim_message *report)
{
    uint32_t const agents = checker->experiment->common.agent_count;
    uint64_t const *const known = checker->agents[report->from].known;
    uint32_t rank = 0;
    if (report->agents != tacit_bits_count(known, agents)) {
        elim_checker_blame(checker, "sink %u: reports for %u agents in epoch %u, and holds %u",
                           report->from, report->agents, report->epoch,
                           tacit_bits_count(known, agents));
        return;
    }
    for (uint32_t arm = 0; arm < checker->arm_count; arm++) {
        if (!tacit_bits_has(report->arms, arm))
            continue;
        if (!is_component_sum(checker, report, arm, rank++)) {
            elim_checker_blame(checker,
                               "sink %u: the sum of arm %u in epoch %u is not that of its agents",
                               report->from, arm, report->epoch);
            return;
        }
    }
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* Steps from an agent to its sink. */
static uint32_t steps_to_sink(const struct tacit_elim_network *network, uint32_t agent)
{
    uint32_t steps = 0;
    while (network->parent[agent] != TACIT_NO_AGENT) {
        agent = network->parent[agent];
        steps++;
    }
    return steps;
}

/* Edges of a component times the slots of its collection, which the farthest agent needs. */
static double all_edges(const struct elim_checker *checker, uint32_t component)
{
    struct tacit_elim_network const *const network = checker->experiment->network;
    double ends = 0;
    uint32_t slots = 0;
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++) {
        uint32_t const steps = steps_to_sink(network, agent);
        if (network->label[agent] != component)
            continue;
        ends += tacit_graph_degree(network->graph, agent);
        slots = steps > slots ? steps : slots;
    }
    return ends / 2 * (spreads(checker) ? network->diameter : slots);
}

void elim_checker_links(const struct elim_checker *checker, double *links, double *cost,
                        double *cost_all_edges)
{
    struct elim_sim const *const experiment = checker->experiment;
    struct tacit_elim_network const *const network = experiment->network;
    double server = network == NULL ? experiment->report_count : 0;
    double used = 0;
    double all = 0;
    for (uint32_t i = 0; network != NULL && i < network->component_count; i++)
        all += all_edges(checker, i);
    if (network != NULL && !spreads(checker)) {
        server = network->component_count;
        for (uint32_t agent = 0; agent < experiment->common.agent_count; agent++)
            used += steps_to_sink(network, agent);
    }
    if (spreads(checker))
        used = all;
    *links = used + server;
    *cost = used * experiment->peer_link_cost + server * experiment->server_link_cost;
    *cost_all_edges = all * experiment->peer_link_cost + server * experiment->server_link_cost;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

uint32_t elim_checker_rounds(const struct elim_checker *checker)
{
    uint32_t rounds = checker->hub_rounds;
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++)
        if (checker->agents[agent].round_count > rounds)
            rounds = checker->agents[agent].round_count;
    return rounds;
}

bool elim_checker_begin_judges(struct elim_checker *checker)
{
    struct tacit_elim_network const *const network = checker->experiment->network;
    uint32_t epoch = 0;
    uint64_t pulls = 0;
    checker->judges =
        calloc(spreads(checker) ? network->component_count : 1, sizeof *checker->judges);
    if (checker->judges == NULL)
        return false;
    if (!spreads(checker) || !checker->knows_gap)
        return true;
    tacit_bits_fill(checker->set, checker->arm_count);
    (void)find_next_order(checker, 0, &epoch, &pulls);
    for (uint32_t i = 0; epoch > 0 && i < network->component_count; i++)
        add_order(checker, &checker->judges[i], epoch, pulls, checker->set);
    return true;
}

void elim_checker_forget(struct elim_checker *checker)
{
    uint32_t const judges = spreads(checker) ? checker->experiment->network->component_count : 1;
    for (uint32_t i = 0; checker->judges != NULL && i < judges; i++)
        for (struct seen_order *order = checker->judges[i].orders; order != NULL;) {
            struct seen_order *const older = order->older;
            free(order);
            order = older;
        }
    free(checker->judges);
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++)
        for (struct seen_release *release = checker->agents[agent].releases; release != NULL;) {
            struct seen_release *const older = release->older;
            free(release);
            release = older;
        }
}

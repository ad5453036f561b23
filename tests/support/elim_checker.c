/* Watches a run from outside the cores and remembers the first broken promise (of peers:
 * checker_peers.c):
 *  - an arm set only shrinks, and never becomes empty;
 *  - an eliminated arm is never pulled again;
 *  - no release is drawn twice: for an epoch, what was made durable and what is sent never changes,
 *    and nothing is sent that is not durable;
 *  - the ledger equals the sum of the distinct releases and stays within the budget;
 *  - the hub's aggregate equals a recomputation from the reports that it holds, as they were sent:
 *    all N, or at least the quorum where there is a deadline;
 *  - the hub holds, and says that it holds, nothing that was not sent;
 *  - with grants, a hub flags nobody who is in one state only;
 *  - messages, scalars, bytes, links and rounds counted equal those seen.
 * Agents have one state each: what copies may do is looked at in tests/round. */
#include "wire_shape.h"
#include "elim_checker_internal.h"
#include "tacit/wire_elim.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void elim_checker_blame(struct elim_checker *checker, const char *format, ...)
{
    va_list arguments;
    if (checker->is_broken)
        return;
    va_start(arguments, format);
    (void)vsnprintf(checker->fault, sizeof checker->fault, format, arguments);
    va_end(arguments);
    checker->is_broken = true;
}

static bool same_sums(const union tacit_sum *a, const union tacit_sum *b, uint32_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* ---- Agents ---- */

static void check_release(struct elim_checker *checker, uint32_t agent,
                          const struct tacit_elim_agent_view *view)
{
    struct watched_agent *const watched = &checker->agents[agent];
    if (view->release_epoch < watched->release_epoch) {
        elim_checker_blame(checker, "agent %u: release went back from epoch %llu to %llu", agent,
                           (unsigned long long)watched->release_epoch,
                           (unsigned long long)view->release_epoch);
    } else if (view->release_epoch == watched->release_epoch) {
        if (!same_sums(watched->noised, view->noised, checker->arm_count))
            elim_checker_blame(checker, "agent %u: the release of epoch %llu was drawn twice",
                               agent, (unsigned long long)view->release_epoch);
    } else {
        watched->release_epoch = view->release_epoch;
        watched->release_count++;
        memcpy(watched->noised, view->noised, checker->arm_count * sizeof *watched->noised);
        elim_checker_note_release(checker, agent, (uint32_t)view->release_epoch, view->noised);
    }
}

static void check_ledger(struct elim_checker *checker, uint32_t agent,
                         const struct tacit_elim_agent_view *view)
{
    struct watched_agent *const watched = &checker->agents[agent];
    uint64_t const cost = tacit_mechanism_cost_nano(&checker->experiment->mechanism);
    uint64_t const spent = tacit_ledger_spent_nano(view->ledger);
    uint64_t const draws = watched->release_count + (view->committed ? 1 : 0); /* charged at once */
    if (view->ledger->release_count != draws || view->ledger->gross_nano != draws * cost ||
        spent != (draws > 0 ? cost : 0))
        elim_checker_blame(
            checker,
            "agent %u: the ledger shows %llu releases and %llu nano-epsilon, but there were %llu",
            agent, (unsigned long long)view->ledger->release_count, (unsigned long long)spent,
            (unsigned long long)draws);
    if (spent > view->ledger->budget_nano || spent < watched->spent_nano)
        elim_checker_blame(checker, "agent %u: spent %llu nano-epsilon", agent,
                           (unsigned long long)spent);
    watched->spent_nano = spent;
}

static void on_agent_persisted(void *context, uint32_t agent, const struct tacit_elim_agent *state)
{
    struct elim_checker *const checker = context;
    struct watched_agent *const watched = &checker->agents[agent];
    struct tacit_elim_agent_view view;
    tacit_elim_agent_view(state, &view);
    if (view.active_count == 0 || !tacit_bits_within(view.arms, watched->arms, checker->arm_count))
        elim_checker_blame(checker, "agent %u: the arm set of epoch %u did not shrink", agent,
                           view.epoch);
    if (view.epoch < watched->epoch)
        elim_checker_blame(checker, "agent %u: epoch went back from %u to %u", agent,
                           watched->epoch, view.epoch);
    check_release(checker, agent, &view);
    check_ledger(checker, agent, &view);
    watched->epoch = view.epoch;
    memcpy(watched->arms, view.arms, TACIT_BITS_WORDS(checker->arm_count) * sizeof(uint64_t));
}

static void on_pulled(void *context, uint32_t agent, uint32_t arm, uint64_t count)
{
    struct elim_checker *const checker = context;
    (void)count;
    if (arm >= checker->arm_count || !tacit_bits_has(checker->agents[agent].arms, arm))
        elim_checker_blame(checker, "agent %u: pulled arm %u, which was eliminated", agent, arm);
}

/* ---- Messages ---- */

static bool has_peers(const struct elim_checker *checker)
{
    return checker->experiment->network != NULL;
}

/* What an agent of a star reports is its own durable release. */
static void check_own_report(struct elim_checker *checker, const struct tacit_elim_message *report)
{
    union tacit_sum const *const noised = checker->agents[report->from].noised;
    uint32_t rank = 0;
    for (uint32_t arm = 0; arm < checker->arm_count; arm++) {
        if (!tacit_bits_has(report->arms, arm))
            continue;
        if (!same_sums(&report->sums[rank], &noised[arm], 1))
            elim_checker_blame(checker, "agent %u: sent for epoch %u what is not durable",
                               report->from, report->epoch);
        rank++;
    }
}

static void check_report(struct elim_checker *checker, const struct tacit_elim_message *report)
{
    struct watched_agent *const watched = &checker->agents[report->from];
    if (has_peers(checker))
        elim_checker_component_report(checker, report);
    else
        check_own_report(checker, report);
    if (watched->sent_epoch == report->epoch) {
        if (report->sum_count != watched->sent_count || report->agents != watched->sent_agents ||
            !same_sums(report->sums, watched->sent, report->sum_count))
            elim_checker_blame(checker, "agent %u: two different reports of epoch %u", report->from,
                               report->epoch);
    } else {
        watched->sent_epoch = report->epoch;
        watched->sent_count = report->sum_count;
        watched->sent_agents = report->agents;
        memcpy(watched->sent, report->sums, report->sum_count * sizeof *watched->sent);
    }
}

/* A broadcast says nothing of anybody. */
static void check_seen(struct elim_checker *checker, const struct tacit_elim_message *order)
{
    uint32_t const sent = order->to == TACIT_EVERYONE ? 0 : checker->agents[order->to].sent_epoch;
    if (order->seen > sent)
        elim_checker_blame(
            checker, "hub: claims to hold the report of epoch %u, but that of %u was the last",
            order->seen, sent);
}

static uint64_t receivers_of(const struct elim_checker *checker,
                             const struct tacit_elim_message *message)
{
    if (message->to == TACIT_EVERYONE)
        return checker->experiment->common.agent_count;
    if (message->to == TACIT_NEIGHBOURS)
        return tacit_graph_degree(checker->experiment->network->graph, message->from);
    return 1;
}

/* Over a graph nobody speaks to a hub. */
static bool is_of_this_network(const struct elim_checker *checker,
                               const struct tacit_elim_message *message)
{
    struct tacit_elim_network const *const network = checker->experiment->network;
    bool const is_of_hub = message->kind == TACIT_ELIM_ORDER || message->kind == TACIT_ELIM_REPORT;
    if (network != NULL && network->collection == TACIT_ELIM_SPREAD)
        return !is_of_hub && message->to != TACIT_HUB;
    return network != NULL || is_of_hub || message->kind == TACIT_ELIM_HELLO;
}

/* They are counted apart. */
static bool is_control(const struct elim_checker *checker, const struct tacit_elim_message *message)
{
    return checker->experiment->has_grants &&
           (message->kind == TACIT_ELIM_COMMIT || message->kind == TACIT_ELIM_GRANT ||
            message->kind == TACIT_ELIM_REFUSAL || message->kind == TACIT_ELIM_PROOF ||
            (message->kind == TACIT_ELIM_DATA && message->sum_count == 0));
}

static void count_message(struct elim_checker *checker, const struct tacit_elim_message *message)
{
    uint32_t const agents = checker->experiment->common.agent_count;
    uint64_t const all = tacit_wire_bytes(WIRE(elim, checker->arm_count, agents), message);
    struct tacit_elim_message bare = *message;
    bare.commit = NULL;
    bare.openings = NULL;
    bare.is_signed = bare.has_history = false;
    if (is_control(checker, message)) {
        checker->control_messages++;
        checker->control_bytes += all;
        return;
    }
    checker->messages++;
    checker->messages_per_receiver += receivers_of(checker, message);
    checker->scalars += tacit_elim_message_scalars(message, agents);
    checker->bytes += tacit_wire_bytes(WIRE(elim, checker->arm_count, agents), &bare);
    checker->control_bytes += all - tacit_wire_bytes(WIRE(elim, checker->arm_count, agents), &bare);
}

static void on_sent(void *context, const struct tacit_elim_message *message)
{
    struct elim_checker *const checker = context;
    count_message(checker, message);
    if (is_control(checker, message))
        return;
    if (!is_of_this_network(checker, message))
        elim_checker_blame(checker, "agent %u: a message of kind %u has no place here",
                           message->from, message->kind);
    else if (message->kind == TACIT_ELIM_REPORT)
        check_report(checker, message);
    else if (message->kind == TACIT_ELIM_ORDER)
        check_seen(checker, message);
    else
        elim_checker_peer_message(checker, message);
}

/* ---- Hub ---- */

/* Who reported, by what the hub says that it holds after the round? Nobody else can have been
 * asked, and a report of that epoch must have been sent. */
static uint32_t check_reporters(struct elim_checker *checker,
                                const struct tacit_elim_hub_view *view)
{
    uint32_t reports = 0;
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++) {
        if (view->seen[agent] > checker->agents[agent].sent_epoch)
            elim_checker_blame(
                checker, "hub: holds the report of epoch %u from agent %u, which never sent it",
                view->seen[agent], agent);
        if (view->seen[agent] != checker->hub_epoch)
            continue;
        if (!tacit_bits_has(checker->hub_uploaders, agent))
            elim_checker_blame(checker, "hub: aggregated agent %u in epoch %u, which was not asked",
                               agent, checker->hub_epoch);
        reports++;
    }
    return reports;
}

/* Agents whose sums are in the reports of the epoch. */
static uint32_t count_covered(const struct elim_checker *checker,
                              const struct tacit_elim_hub_view *view)
{
    uint32_t covered = 0;
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++)
        if (view->seen[agent] == checker->hub_epoch)
            covered += has_peers(checker) ? checker->agents[agent].sent_agents : 1;
    return covered;
}

/* Mean over the reports of the epoch as they were sent, in agent order, as the hub must have
 * computed it: over agents, or over components alike (READINGS P1.16). */
static double recompute_mean(const struct elim_checker *checker,
                             const struct tacit_elim_hub_view *view, uint32_t rank,
                             uint32_t reports)
{
    struct tacit_elim_network const *const network = checker->experiment->network;
    bool const alike = network != NULL && network->components_alike;
    double sum = 0;
    for (uint32_t agent = 0; agent < checker->experiment->common.agent_count; agent++) {
        struct watched_agent const *const watched = &checker->agents[agent];
        if (view->seen[agent] == checker->hub_epoch)
            sum += tacit_sum_mean(&checker->experiment->mechanism.scale, watched->sent[rank],
                                  checker->hub_pulls * (alike ? watched->sent_agents : 1));
    }
    return sum / (alike ? reports : count_covered(checker, view));
}

/* Did enough report for the round to be over? */
static bool is_enough(const struct elim_checker *checker, uint32_t reports, uint32_t covered)
{
    struct elim_sim const *const experiment = checker->experiment;
    uint32_t const all =
        has_peers(checker) ? experiment->network->component_count : experiment->report_count;
    bool const may_lack = experiment->round_timeout_us > 0;
    uint32_t const least = experiment->quorum > 0 ? experiment->quorum : experiment->report_count;
    return reports == all || (reports < all && may_lack && covered >= least);
}

/* A round was completed: the durable arm set is still the one of that round. */
static void check_aggregate(struct elim_checker *checker, const struct tacit_elim_hub_view *view)
{
    uint32_t const reports = check_reporters(checker, view);
    uint32_t rank = 0;
    if (!is_enough(checker, reports, count_covered(checker, view)))
        elim_checker_blame(checker, "hub: aggregated epoch %u, but %u agents reported",
                           checker->hub_epoch, reports);
    if (checker->experiment->growth > 0)
        return; /* exact bounds look at some of the releases: unit/elim_exact */
    for (uint32_t arm = 0; arm < checker->arm_count && !checker->is_broken; arm++) {
        if (!tacit_bits_has(checker->hub_arms, arm))
            continue;
        double const mean = recompute_mean(checker, view, rank++, reports);
        if (memcmp(&mean, &view->means[arm], sizeof mean) != 0)
            elim_checker_blame(checker,
                               "hub: the mean of arm %u in epoch %u is not that of the reports",
                               arm, checker->hub_epoch);
    }
}

/* Nobody who is in one state is said to be in two. */
static void check_flags(struct elim_checker *checker, const struct tacit_elim_hub_view *view)
{
    uint32_t const agents = checker->experiment->common.agent_count;
    if (checker->experiment->has_grants && tacit_bits_next(view->flagged, agents, 0) < agents)
        elim_checker_blame(checker, "hub: flagged agent %u, which has one state",
                           tacit_bits_next(view->flagged, agents, 0));
}

static void on_hub_persisted(void *context, const struct tacit_elim_hub *state)
{
    struct elim_checker *const checker = context;
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(state, &view);
    check_flags(checker, &view);
    if (view.active_count == 0 ||
        !tacit_bits_within(view.arms, checker->hub_arms, checker->arm_count))
        elim_checker_blame(checker, "hub: the arm set of epoch %u did not shrink", view.epoch);
    if (view.round_count < checker->hub_rounds || view.round_count > checker->hub_rounds + 1)
        elim_checker_blame(checker, "hub: round %u follows round %u", view.round_count,
                           checker->hub_rounds);
    if (view.round_count == checker->hub_rounds + 1)
        check_aggregate(checker, &view);
    elim_checker_note_order(checker, &view);
    checker->hub_rounds = view.round_count;
    checker->hub_epoch = view.epoch;
    checker->hub_pulls = view.pulls;
    memcpy(checker->hub_arms, view.arms, TACIT_BITS_WORDS(checker->arm_count) * sizeof(uint64_t));
    memcpy(checker->hub_uploaders, view.uploaders,
           TACIT_BITS_WORDS(checker->experiment->common.agent_count) * sizeof(uint64_t));
}

/* ---- Public ---- */

static void *carve(unsigned char **next, size_t size)
{
    void *const piece = *next;
    *next += size;
    return piece;
}

/* The judges' schedule; a gap that is drawn with the instance is not known here. */
static void set_schedule(struct elim_checker *checker)
{
    struct elim_sim const *const experiment = checker->experiment;
    double gap = experiment->gap;
    checker->knows_gap =
        experiment->round_limit == 0 || gap > 0 || !experiment->common.instance_per_run;
    if (experiment->round_limit > 0 && gap <= 0 && checker->knows_gap) {
        tacit_env_global_means(&experiment->common.env, checker->means);
        gap = tacit_env_smallest_gap(checker->means, checker->arm_count);
    }
    gap = tacit_scale_gap(&experiment->mechanism.scale, gap);
    checker->schedule =
        (struct tacit_elim_schedule){.arm_count = checker->arm_count,
                                     .report_count = experiment->report_count,
                                     .horizon = experiment->common.horizon,
                                     .epsilon_per_reward = experiment->epsilon_per_reward,
                                     .round_limit = experiment->round_limit,
                                     .gap = gap > 0 && gap <= 1 ? gap : 1};
}

static bool lay_out(struct elim_checker *checker)
{
    uint32_t const agents = checker->experiment->common.agent_count;
    uint32_t const arms = checker->arm_count;
    size_t const set = TACIT_BITS_WORDS(arms) * sizeof(uint64_t);
    size_t const sums = arms * sizeof(union tacit_sum);
    size_t const agent_set = TACIT_BITS_WORDS(agents) * sizeof(uint64_t);
    size_t const agent = sizeof(struct watched_agent) + set + agent_set + 2 * sums;
    checker->arena = calloc(1, 2 * set + agent_set + arms * sizeof(double) + agents * agent);
    if (checker->arena == NULL)
        return false;
    unsigned char *next = checker->arena;
    checker->agents = carve(&next, agents * sizeof(struct watched_agent));
    checker->hub_arms = carve(&next, set);
    checker->hub_uploaders = carve(&next, agent_set);
    checker->set = carve(&next, set);
    checker->means = carve(&next, arms * sizeof(double));
    tacit_bits_fill(checker->hub_arms, arms);
    for (uint32_t i = 0; i < agents; i++) {
        checker->agents[i].arms = carve(&next, set);
        checker->agents[i].known = carve(&next, agent_set);
        checker->agents[i].noised = carve(&next, sums);
        checker->agents[i].sent = carve(&next, sums);
        tacit_bits_fill(checker->agents[i].arms, arms);
    }
    return true;
}

struct elim_checker *elim_checker_new(const struct elim_sim *experiment)
{
    struct elim_checker *const checker = calloc(1, sizeof *checker);
    if (checker == NULL)
        return NULL;
    checker->experiment = experiment;
    checker->arm_count = experiment->common.env.arm_count;
    if (!lay_out(checker)) {
        free(checker);
        return NULL;
    }
    set_schedule(checker);
    if (!elim_checker_begin_judges(checker)) {
        elim_checker_free(checker);
        return NULL;
    }
    return checker;
}

void elim_checker_free(struct elim_checker *checker)
{
    if (checker == NULL)
        return;
    elim_checker_forget(checker);
    free(checker->arena);
    free(checker);
}

struct elim_observer elim_checker_observer(struct elim_checker *checker)
{
    return (struct elim_observer){.context = checker,
                                  .agent_persisted = on_agent_persisted,
                                  .peer_persisted = elim_checker_on_peer_persisted,
                                  .hub_persisted = on_hub_persisted,
                                  .sent = on_sent,
                                  .pulled = on_pulled};
}

static void check_total(struct elim_checker *checker, const struct tacit_sim_results *results,
                        uint32_t run, enum elim_metric metric, double seen)
{
    double const counted = results->metrics[metric * checker->experiment->common.run_count + run];
    if (counted != seen)
        elim_checker_blame(checker, "counted %.17g for %s, but %.17g was seen", counted,
                           elim_metrics[metric].name, seen);
}

void elim_checker_finish(struct elim_checker *checker, const struct tacit_sim_results *results,
                         uint32_t run)
{
    double const rounds = elim_checker_rounds(checker);
    double links;
    double cost;
    double cost_all_edges;
    elim_checker_links(checker, &links, &cost, &cost_all_edges);
    check_total(checker, results, run, ELIM_MESSAGES, (double)checker->messages);
    check_total(checker, results, run, ELIM_MESSAGES_PER_RECEIVER,
                (double)checker->messages_per_receiver);
    check_total(checker, results, run, ELIM_SCALARS, (double)checker->scalars);
    check_total(checker, results, run, ELIM_BYTES, (double)checker->bytes);
    check_total(checker, results, run, ELIM_CONTROL_MESSAGES, (double)checker->control_messages);
    check_total(checker, results, run, ELIM_CONTROL_BYTES, (double)checker->control_bytes);
    check_total(checker, results, run, ELIM_ROUNDS, rounds);
    check_total(checker, results, run, ELIM_LINKS, rounds * links);
    check_total(checker, results, run, ELIM_COST, rounds * cost);
    check_total(checker, results, run, ELIM_COST_ALL_EDGES, rounds * cost_all_edges);
}

const char *elim_checker_fault(const struct elim_checker *checker)
{
    return checker->is_broken ? checker->fault : NULL;
}

/* Watches a run from outside the cores and remembers the first broken promise:
 *  - an arm set only shrinks, and never becomes empty;
 *  - an eliminated arm is never pulled again;
 *  - no release is drawn twice: for an epoch, what was made durable and what is sent never changes,
 *    and nothing is sent that is not durable;
 *  - the ledger equals the sum of the distinct releases and stays within the budget;
 *  - the hub's aggregate equals a recomputation from the reports that it holds, as they were sent:
 *    all N, or at least the quorum where there is a deadline;
 *  - the hub holds, and says that it holds, nothing that was not sent;
 *  - messages and bytes counted equal those sent. */
#include "tacit/sim.h"
#include "tacit/wire.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known of one agent from its durable states and its messages. */
struct watched_agent {
    uint64_t *arms;          /* last durable set */
    union tacit_sum *noised; /* last durable releases */
    union tacit_sum *sent;   /* sums of the report of sent_epoch */
    uint64_t release_epoch;  /* last durable */
    uint64_t release_count;  /* distinct durable releases */
    uint64_t spent_nano;
    uint32_t epoch;
    uint32_t sent_epoch;
    uint32_t sent_count;
};

struct tacit_sim_checker {
    const struct tacit_sim_elim *experiment;
    uint32_t arm_count;
    struct watched_agent *agents;
    uint64_t *hub_arms;
    uint64_t *hub_uploaders;
    uint32_t hub_rounds;
    uint32_t hub_epoch; /* that was being collected */
    uint64_t hub_pulls; /* its S */
    uint64_t messages;
    uint64_t bytes;
    unsigned char *arena;
    bool is_broken;
    char fault[300];
};

static void __attribute__((format(printf, 2, 3)))
blame(struct tacit_sim_checker *checker, const char *format, ...)
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

static void check_release(struct tacit_sim_checker *checker, uint32_t agent,
                          const struct tacit_elim_agent_view *view)
{
    struct watched_agent *const watched = &checker->agents[agent];
    if (view->release_epoch < watched->release_epoch) {
        blame(checker, "agent %u: release went back from epoch %llu to %llu", agent,
              (unsigned long long)watched->release_epoch, (unsigned long long)view->release_epoch);
    } else if (view->release_epoch == watched->release_epoch) {
        if (!same_sums(watched->noised, view->noised, checker->arm_count))
            blame(checker, "agent %u: the release of epoch %llu was drawn twice", agent,
                  (unsigned long long)view->release_epoch);
    } else {
        watched->release_epoch = view->release_epoch;
        watched->release_count++;
        memcpy(watched->noised, view->noised, checker->arm_count * sizeof *watched->noised);
    }
}

static void check_ledger(struct tacit_sim_checker *checker, uint32_t agent,
                         const struct tacit_elim_agent_view *view)
{
    struct watched_agent *const watched = &checker->agents[agent];
    uint64_t const cost = tacit_mechanism_cost_nano(&checker->experiment->mechanism);
    uint64_t const spent = tacit_ledger_spent_nano(view->ledger);
    if (view->ledger->release_count != watched->release_count ||
        view->ledger->gross_nano != watched->release_count * cost ||
        spent != (watched->release_count > 0 ? cost : 0))
        blame(checker,
              "agent %u: the ledger shows %llu releases and %llu nano-epsilon, but there were %llu",
              agent, (unsigned long long)view->ledger->release_count, (unsigned long long)spent,
              (unsigned long long)watched->release_count);
    if (spent > view->ledger->budget_nano || spent < watched->spent_nano)
        blame(checker, "agent %u: spent %llu nano-epsilon", agent, (unsigned long long)spent);
    watched->spent_nano = spent;
}

static void on_agent_persisted(void *context, uint32_t agent, const struct tacit_elim_agent *state)
{
    struct tacit_sim_checker *const checker = context;
    struct watched_agent *const watched = &checker->agents[agent];
    struct tacit_elim_agent_view view;
    tacit_elim_agent_look(state, &view);
    if (view.active_count == 0 || !tacit_bits_within(view.arms, watched->arms, checker->arm_count))
        blame(checker, "agent %u: the arm set of epoch %u did not shrink", agent, view.epoch);
    if (view.epoch < watched->epoch)
        blame(checker, "agent %u: epoch went back from %u to %u", agent, watched->epoch,
              view.epoch);
    check_release(checker, agent, &view);
    check_ledger(checker, agent, &view);
    watched->epoch = view.epoch;
    memcpy(watched->arms, view.arms, TACIT_BITS_WORDS(checker->arm_count) * sizeof(uint64_t));
}

static void on_pulled(void *context, uint32_t agent, uint32_t arm, uint64_t count)
{
    struct tacit_sim_checker *const checker = context;
    (void)count;
    if (arm >= checker->arm_count || !tacit_bits_has(checker->agents[agent].arms, arm))
        blame(checker, "agent %u: pulled arm %u, which was eliminated", agent, arm);
}

/* ---- Messages ---- */

static void check_report(struct tacit_sim_checker *checker, const struct tacit_elim_message *report)
{
    struct watched_agent *const watched = &checker->agents[report->from];
    uint32_t rank = 0;
    for (uint32_t arm = 0; arm < checker->arm_count; arm++) {
        if (!tacit_bits_has(report->arms, arm))
            continue;
        if (!same_sums(&report->sums[rank], &watched->noised[arm], 1))
            blame(checker, "agent %u: sent for epoch %u what is not durable", report->from,
                  report->epoch);
        rank++;
    }
    if (watched->sent_epoch == report->epoch) {
        if (report->sum_count != watched->sent_count ||
            !same_sums(report->sums, watched->sent, report->sum_count))
            blame(checker, "agent %u: two different reports of epoch %u", report->from,
                  report->epoch);
    } else {
        watched->sent_epoch = report->epoch;
        watched->sent_count = report->sum_count;
        memcpy(watched->sent, report->sums, report->sum_count * sizeof *watched->sent);
    }
}

/* A broadcast says nothing of anybody. */
static void check_seen(struct tacit_sim_checker *checker, const struct tacit_elim_message *order)
{
    uint32_t const sent =
        order->to == TACIT_ELIM_EVERYONE ? 0 : checker->agents[order->to].sent_epoch;
    if (order->seen > sent)
        blame(checker, "hub: claims to hold the report of epoch %u, but that of %u was the last",
              order->seen, sent);
}

static void on_sent(void *context, const struct tacit_elim_message *message)
{
    struct tacit_sim_checker *const checker = context;
    checker->messages++;
    checker->bytes +=
        tacit_wire_elim_bytes(message, checker->arm_count, checker->experiment->agent_count);
    if (message->kind == TACIT_ELIM_REPORT)
        check_report(checker, message);
    if (message->kind == TACIT_ELIM_ORDER)
        check_seen(checker, message);
}

/* ---- Hub ---- */

/* Who reported, by what the hub says that it holds after the round? Nobody else can have been
 * asked, and a report of that epoch must have been sent. */
static uint32_t check_reporters(struct tacit_sim_checker *checker,
                                const struct tacit_elim_hub_view *view)
{
    uint32_t reports = 0;
    for (uint32_t agent = 0; agent < checker->experiment->agent_count; agent++) {
        if (view->seen[agent] > checker->agents[agent].sent_epoch)
            blame(checker, "hub: holds the report of epoch %u from agent %u, which never sent it",
                  view->seen[agent], agent);
        if (view->seen[agent] != checker->hub_epoch)
            continue;
        if (!tacit_bits_has(checker->hub_uploaders, agent))
            blame(checker, "hub: aggregated agent %u in epoch %u, which was not asked", agent,
                  checker->hub_epoch);
        reports++;
    }
    return reports;
}

/* Mean over the reports of the epoch as they were sent, in agent order, as the hub must have
 * computed it. */
static double recompute_mean(const struct tacit_sim_checker *checker,
                             const struct tacit_elim_hub_view *view, uint32_t rank,
                             uint32_t reports)
{
    double sum = 0;
    for (uint32_t agent = 0; agent < checker->experiment->agent_count; agent++)
        if (view->seen[agent] == checker->hub_epoch)
            sum += tacit_sum_mean(&checker->experiment->mechanism.scale,
                                  checker->agents[agent].sent[rank], checker->hub_pulls);
    return sum / reports;
}

/* A round was completed: the durable arm set is still the one of that round. */
static void check_aggregate(struct tacit_sim_checker *checker,
                            const struct tacit_elim_hub_view *view)
{
    struct tacit_sim_elim const *const experiment = checker->experiment;
    bool const may_lack = experiment->quorum > 0 && experiment->round_timeout_us > 0;
    uint32_t const least = may_lack ? experiment->quorum : experiment->report_count;
    uint32_t const reports = check_reporters(checker, view);
    uint32_t rank = 0;
    if (reports < least || reports > experiment->report_count)
        blame(checker, "hub: aggregated epoch %u, but %u agents reported", checker->hub_epoch,
              reports);
    for (uint32_t arm = 0; arm < checker->arm_count && !checker->is_broken; arm++) {
        if (!tacit_bits_has(checker->hub_arms, arm))
            continue;
        double const mean = recompute_mean(checker, view, rank++, reports);
        if (memcmp(&mean, &view->means[arm], sizeof mean) != 0)
            blame(checker, "hub: the mean of arm %u in epoch %u is not that of the reports", arm,
                  checker->hub_epoch);
    }
}

static void on_hub_persisted(void *context, const struct tacit_elim_hub *state)
{
    struct tacit_sim_checker *const checker = context;
    struct tacit_elim_hub_view view;
    tacit_elim_hub_look(state, &view);
    if (view.active_count == 0 ||
        !tacit_bits_within(view.arms, checker->hub_arms, checker->arm_count))
        blame(checker, "hub: the arm set of epoch %u did not shrink", view.epoch);
    if (view.round_count < checker->hub_rounds || view.round_count > checker->hub_rounds + 1)
        blame(checker, "hub: round %u follows round %u", view.round_count, checker->hub_rounds);
    if (view.round_count == checker->hub_rounds + 1)
        check_aggregate(checker, &view);
    checker->hub_rounds = view.round_count;
    checker->hub_epoch = view.epoch;
    checker->hub_pulls = view.pulls;
    memcpy(checker->hub_arms, view.arms, TACIT_BITS_WORDS(checker->arm_count) * sizeof(uint64_t));
    memcpy(checker->hub_uploaders, view.uploaders,
           TACIT_BITS_WORDS(checker->experiment->agent_count) * sizeof(uint64_t));
}

/* ---- Public ---- */

static void *carve(unsigned char **next, size_t size)
{
    void *const piece = *next;
    *next += size;
    return piece;
}

struct tacit_sim_checker *tacit_sim_checker_new(const struct tacit_sim_elim *experiment)
{
    struct tacit_sim_checker *const checker = calloc(1, sizeof *checker);
    size_t const arms = experiment->env.arm_count;
    size_t const set = TACIT_BITS_WORDS(arms) * sizeof(uint64_t);
    size_t const sums = arms * sizeof(union tacit_sum);
    size_t const agent = sizeof(struct watched_agent) + set + 2 * sums;
    size_t const agent_set = TACIT_BITS_WORDS(experiment->agent_count) * sizeof(uint64_t);
    if (checker == NULL)
        return NULL;
    checker->experiment = experiment;
    checker->arm_count = experiment->env.arm_count;
    checker->arena = calloc(1, set + agent_set + experiment->agent_count * agent);
    if (checker->arena == NULL) {
        free(checker);
        return NULL;
    }
    unsigned char *next = checker->arena;
    checker->agents = carve(&next, experiment->agent_count * sizeof(struct watched_agent));
    checker->hub_arms = carve(&next, set);
    checker->hub_uploaders = carve(&next, agent_set);
    tacit_bits_fill(checker->hub_arms, checker->arm_count);
    for (uint32_t i = 0; i < experiment->agent_count; i++) {
        checker->agents[i].arms = carve(&next, set);
        checker->agents[i].noised = carve(&next, sums);
        checker->agents[i].sent = carve(&next, sums);
        tacit_bits_fill(checker->agents[i].arms, checker->arm_count);
    }
    return checker;
}

void tacit_sim_checker_free(struct tacit_sim_checker *checker)
{
    if (checker == NULL)
        return;
    free(checker->arena);
    free(checker);
}

struct tacit_sim_observer tacit_sim_checker_observer(struct tacit_sim_checker *checker)
{
    return (struct tacit_sim_observer){.context = checker,
                                       .agent_persisted = on_agent_persisted,
                                       .hub_persisted = on_hub_persisted,
                                       .sent = on_sent,
                                       .pulled = on_pulled};
}

void tacit_sim_checker_finish(struct tacit_sim_checker *checker,
                              const struct tacit_sim_results *results, uint32_t run)
{
    size_t const runs = checker->experiment->run_count;
    double const messages = results->metrics[TACIT_SIM_MESSAGES * runs + run];
    double const bytes = results->metrics[TACIT_SIM_BYTES * runs + run];
    if (messages != (double)checker->messages || bytes != (double)checker->bytes)
        blame(checker, "counted %.0f messages and %.0f bytes, but %llu and %llu were sent",
              messages, bytes, (unsigned long long)checker->messages,
              (unsigned long long)checker->bytes);
}

const char *tacit_sim_checker_fault(const struct tacit_sim_checker *checker)
{
    return checker->is_broken ? checker->fault : NULL;
}

/* Which rewards are in which draw, whatever is copied, and what leaves of it.
 *
 * A history is a list of rewards and draws that grows at its end. Two states of one agent share the
 * beginning of their histories, and with it the rewards that both have seen: a state that is copied
 * costs a pointer, and a reward is the same one if it is the same cell.
 *  - no reward is in two draws of which anything left;
 *  - no holder that is never copied grants two draws that share a reward: the hub over a star,
 * every neighbour over a graph, the parent in a hybrid, and the hub for sinks;
 *  - with grants, a draw is used (sent, or counted in what exploitation goes by) only after GRANTs
 *    of its commitment by all its holders were sent; what is sent opens it, row by row;
 *  - two draws never have one commitment: else equal data would show;
 *  - the ledger of a state shows its own draws. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/proto/elim/internal.h"
#include "elim_checker_internal.h"

struct draws_cell {
    struct draws_cell *older;
    struct draws_cell *draw; /* the newest draw up to here: perhaps this one */
    struct draws_cell *all;  /* the cell that was made before this one */
    uint32_t draw_count;     /* up to here */
    bool has_commitment;
    bool has_left;
    uint32_t agent;
    uint64_t granted; /* the holders that have granted this draw: agents, the hub */
    uint8_t commitment[TACIT_SHA256_BYTES];
    const struct draws_cell *left_in;      /* of a reward: the draw that left, .. */
    const struct draws_cell *granted_in[]; /* .. and the one that each holder granted */
};

/* ---- Holders ---- */

static uint32_t holder_of(const struct elim_checker *checker, uint32_t from)
{
    return from == TACIT_HUB ? checker->experiment->common.agent_count : from;
}

/* Who holds what this agent releases, a bit each. */
static uint64_t holders_of(const struct elim_checker *checker, uint32_t agent)
{
    struct tacit_elim_network const *const network = checker->experiment->network;
    uint64_t holders = 0;
    if (network == NULL)
        return UINT64_C(1) << holder_of(checker, TACIT_HUB);
    if (network->collection == TACIT_ELIM_GATHER)
        return UINT64_C(1) << holder_of(checker, network->parent[agent] == TACIT_NO_AGENT
                                                     ? TACIT_HUB
                                                     : network->parent[agent]);
    for (uint64_t i = network->graph->first[agent]; i < network->graph->first[agent + 1]; i++)
        holders |= UINT64_C(1) << network->graph->neighbours[i];
    return holders;
}

/* Peers that are copied forget what they granted; over a star the checker blames the hub. */
static bool may_forget(const struct elim_checker *checker, uint32_t holder)
{
    struct tacit_sim_faults const *const faults = checker->experiment->faults;
    return checker->experiment->network != NULL && checker->has_copies &&
           holder < checker->experiment->common.agent_count &&
           (faults->copied == NULL || tacit_bits_has(faults->copied, holder));
}

static bool is_granted(const struct elim_checker *checker, const struct draws_cell *draw)
{
    return (holders_of(checker, draw->agent) & ~draw->granted) == 0;
}

static struct draws_cell **history_at(struct elim_checker *checker, enum tacit_sim_place place,
                                      uint32_t index)
{
    TACIT_ASSERT(index < checker->place_count);
    return &checker->histories[(size_t)place * checker->place_count + index];
}

static bool is_draw(const struct draws_cell *cell)
{
    return cell->draw == cell;
}

static struct draws_cell *draw_of(const struct draws_cell *history)
{
    return history == NULL ? NULL : history->draw;
}

static struct draws_cell *draw_before(const struct draws_cell *draw)
{
    return draw_of(draw->older);
}

static struct draws_cell *grow(struct elim_checker *checker, struct draws_cell **history,
                               uint32_t agent)
{
    size_t const holders = checker->experiment->common.agent_count + (size_t)1;
    struct draws_cell *const cell = calloc(1, sizeof *cell + holders * sizeof(void *));
    TACIT_ASSERT(holders <= 64);
    if (cell == NULL) {
        elim_checker_blame(checker, "the checker is out of memory");
        return NULL;
    }
    cell->agent = agent;
    cell->older = *history;
    cell->draw = draw_of(*history);
    cell->draw_count = *history == NULL ? 0 : (*history)->draw_count;
    cell->all = checker->cells;
    checker->cells = cell;
    *history = cell;
    return cell;
}

/* ---- Draws ---- */

static void take_commitment(struct elim_checker *checker, struct draws_cell *draw,
                            const struct tacit_elim_update *update)
{
    if (!update->send || update->message.commit == NULL)
        return;
    memcpy(draw->commitment, update->message.commit->commitment, sizeof draw->commitment);
    for (struct draws_cell const *cell = checker->cells; cell != NULL; cell = cell->all)
        if (cell != draw && cell->has_commitment &&
            memcmp(cell->commitment, draw->commitment, sizeof draw->commitment) == 0)
            elim_checker_blame(checker, "agent %u: two draws have one commitment", draw->agent);
    draw->has_commitment = true;
}

static void check_ledger(struct elim_checker *checker, uint32_t agent,
                         const struct draws_cell *history, const struct tacit_elim_agent_view *view)
{
    uint64_t const cost = tacit_mechanism_cost_nano(&checker->experiment->mechanism);
    uint64_t const draws = history == NULL ? 0 : history->draw_count;
    uint64_t const spent = tacit_ledger_spent_nano(view->ledger);
    if (view->ledger->release_count != draws || view->ledger->gross_nano != draws * cost ||
        spent != (draws > 0 ? cost : 0) || spent > view->ledger->budget_nano)
        elim_checker_blame(
            checker, "agent %u: the ledger shows %llu releases, but this state made %llu", agent,
            (unsigned long long)view->ledger->release_count, (unsigned long long)draws);
}

/* Everything that this state goes by was granted. */
static void check_used(struct elim_checker *checker, uint32_t agent,
                       const struct draws_cell *history, const struct tacit_elim_agent_view *view)
{
    struct draws_cell const *draw = draw_of(history);
    if (!checker->experiment->has_grants || view->halted)
        return;
    if (view->committed && draw != NULL)
        draw = draw_before(draw);
    for (; draw != NULL; draw = draw_before(draw))
        if (!is_granted(checker, draw))
            elim_checker_blame(checker, "agent %u: used a draw before it was granted", agent);
}

/* Where an agent may be in several states: what was granted is one release an epoch. */
static void note_granted(struct elim_checker *checker, uint32_t agent,
                         const struct tacit_elim_agent_view *view)
{
    uint32_t const epoch = (uint32_t)view->release_epoch;
    if (!checker->has_copies || checker->experiment->network == NULL || epoch == 0)
        return;
    union tacit_sum const *const noised = elim_checker_release(checker, agent, epoch);
    if (noised == NULL)
        elim_checker_note_release(checker, agent, epoch, view->noised);
    else if (memcmp(noised, view->noised, checker->arm_count * sizeof *noised) != 0)
        elim_checker_blame(checker, "holders: granted agent %u two releases of epoch %u", agent,
                           epoch);
}

void elim_checker_on_stepped(void *context, uint32_t node, uint32_t agent,
                             const struct tacit_elim_event *event,
                             const struct tacit_elim_agent *state,
                             const struct tacit_elim_update *update)
{
    struct elim_checker *const checker = context;
    struct draws_cell **const history = history_at(checker, TACIT_SIM_MEMORY, node);
    struct tacit_elim_agent_view view;
    tacit_elim_agent_look(state, &view);
    checker->node = node;
    checker->node_state = state;
    if (event->kind == TACIT_EVENT_REWARD && update->persist && !view.last)
        (void)grow(checker, history, agent);
    uint64_t const draws = *history == NULL ? 0 : (*history)->draw_count;
    bool const may_draw = event->kind == TACIT_EVENT_REWARD || event->kind == TACIT_EVENT_TIMEOUT;
    if (may_draw && view.ledger->release_count == draws + 1) {
        struct draws_cell *const draw = grow(checker, history, agent);
        if (draw == NULL)
            return;
        draw->draw = draw;
        draw->draw_count++;
        take_commitment(checker, draw, update);
    }
    check_ledger(checker, agent, *history, &view);
    check_used(checker, agent, *history, &view);
    note_granted(checker, agent, &view);
}

void elim_checker_on_copied(void *context, enum tacit_sim_place to, uint32_t to_index,
                            enum tacit_sim_place from, uint32_t from_index)
{
    struct elim_checker *const checker = context;
    *history_at(checker, to, to_index) = *history_at(checker, from, from_index);
    if (from == TACIT_SIM_BACKUP && to_index == checker->experiment->common.agent_count)
        checker->hub_is_old = true;
}

/* ---- What leaves ---- */

static void leave(struct elim_checker *checker, struct draws_cell *draw)
{
    draw->has_left = true;
    for (struct draws_cell *cell = draw->older; cell != NULL && !is_draw(cell);
         cell = cell->older) {
        if (cell->left_in != NULL && cell->left_in != draw)
            elim_checker_blame(checker, "agent %u: a reward left in two draws", draw->agent);
        cell->left_in = draw;
    }
}

static bool is_of(const struct draws_cell *draw, const struct tacit_commit *commit)
{
    return draw->has_commitment &&
           memcmp(draw->commitment, commit->commitment, sizeof draw->commitment) == 0;
}

/* A history sum has every draw in it. */
static void leave_with_all_before(struct elim_checker *checker, struct draws_cell *draw)
{
    for (; draw != NULL && !draw->has_left; draw = draw_before(draw)) {
        if (checker->experiment->has_grants && !is_granted(checker, draw))
            elim_checker_blame(checker, "agent %u: used a draw before it was granted", draw->agent);
        leave(checker, draw);
    }
}

/* The draw of this agent with this commitment; NULL: there is none. */
static struct draws_cell *draw_with(const struct elim_checker *checker, uint32_t agent,
                                    const struct tacit_commit *commit)
{
    struct draws_cell *draw = checker->cells;
    while (draw != NULL && !(is_draw(draw) && draw->agent == agent && is_of(draw, commit)))
        draw = draw->all;
    return draw;
}

/* A row, whoever passes it on, leaves with what opens it. */
void elim_checker_row_leaves(struct elim_checker *checker, const struct tacit_elim_message *data,
                             uint32_t origin, uint32_t rank)
{
    static const uint8_t domain[TACIT_SHA256_BYTES];
    struct tacit_commit_scope const scope = {
        .domain = domain, .run_id = data->run_id, .site = origin, .epoch = data->epoch};
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_commit commit;
    if (!checker->experiment->has_grants)
        return;
    if (data->openings == NULL) {
        elim_checker_blame(checker, "peer %u: rows without what opens them", data->from);
        return;
    }
    struct tacit_elim_opening const *const opening = elim_message_opening(data, origin, rank);
    elim_release_digest(data->pulls, data->arms, checker->arm_count,
                        elim_message_row(data, origin, rank), data->sum_count, digest);
    memcpy(commit.previous, opening->previous, sizeof commit.previous);
    memcpy(commit.salt, opening->salt, sizeof commit.salt);
    tacit_commit_hash(&scope, &commit, digest, sizeof digest, commit.commitment);
    struct draws_cell *const draw = draw_with(checker, origin, &commit);
    if (draw == NULL)
        elim_checker_blame(checker, "peer %u: a row that opens no draw of agent %u", data->from,
                           origin);
    else
        leave_with_all_before(checker, draw);
}

/* A report is a history sum: every draw in it leaves. One that waits for its grant is not in it. */
void elim_checker_report_leaves(struct elim_checker *checker,
                                const struct tacit_elim_message *report)
{
    struct draws_cell *draw = draw_of(*history_at(checker, TACIT_SIM_MEMORY, checker->node));
    struct tacit_elim_agent_view view;
    tacit_elim_agent_look(checker->node_state, &view);
    if (view.committed && draw != NULL && report->commit != NULL && !is_of(draw, report->commit))
        draw = draw_before(draw);
    if (checker->experiment->has_grants &&
        (report->commit == NULL || draw == NULL || !is_of(draw, report->commit)))
        elim_checker_blame(checker, "agent %u: a report that opens no draw of its own",
                           report->from);
    leave_with_all_before(checker, draw);
}

/* ---- What is granted ---- */

static void __attribute__((format(printf, 3, 4)))
blame_holder(struct elim_checker *checker, uint32_t from, const char *format, ...)
{
    char words[200];
    char name[32] = "hub";
    va_list arguments;
    if (from != TACIT_HUB)
        (void)snprintf(name, sizeof name, "peer %u", from);
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    elim_checker_blame(checker, "%s: granted %s", name, words);
}

static void grant(struct elim_checker *checker, struct draws_cell *draw, uint32_t from)
{
    uint32_t const holder = holder_of(checker, from);
    draw->granted |= UINT64_C(1) << holder;
    for (struct draws_cell *cell = draw->older; cell != NULL && !is_draw(cell);
         cell = cell->older) {
        struct draws_cell const **const granted_in = &cell->granted_in[holder];
        if (*granted_in != NULL && *granted_in != draw && !may_forget(checker, holder))
            blame_holder(checker, from, "agent %u a second draw of one reward", draw->agent);
        *granted_in = draw;
    }
}

/* What a holder grants follows what it granted before; an old one has forgotten. */
void elim_checker_grant(struct elim_checker *checker, const struct tacit_elim_message *message)
{
    struct draws_cell *const draw = draw_with(checker, message->to, message->commit);
    uint64_t const holder = UINT64_C(1) << holder_of(checker, message->from);
    if (draw == NULL) {
        blame_holder(checker, message->from, "agent %u what it never drew", message->to);
        return;
    }
    struct draws_cell const *const before = draw_before(draw);
    if ((holders_of(checker, message->to) & holder) == 0)
        blame_holder(checker, message->from, "agent %u, whose releases it does not hold",
                     message->to);
    if (before != NULL && (before->granted & holder) == 0 &&
        !may_forget(checker, holder_of(checker, message->from)))
        blame_holder(checker, message->from, "agent %u a draw that follows none", message->to);
    if ((draw->granted & holder) == 0)
        grant(checker, draw, message->from);
}

/* ---- Life ---- */

bool elim_checker_begin_draws(struct elim_checker *checker)
{
    struct tacit_sim_faults const *const faults = checker->experiment->faults;
    uint32_t const nodes =
        checker->experiment->common.agent_count + 1 + (faults == NULL ? 0 : faults->clones);
    uint32_t const backups = faults == NULL ? 0 : faults->agent_backups + faults->hub_backups;
    checker->place_count = nodes > backups ? nodes : backups;
    checker->histories = calloc(3 * (size_t)checker->place_count, sizeof(struct draws_cell *));
    return checker->histories != NULL;
}

void elim_checker_forget_draws(struct elim_checker *checker)
{
    while (checker->cells != NULL) {
        struct draws_cell *const cell = checker->cells;
        checker->cells = cell->all;
        free(cell);
    }
    free(checker->histories);
}

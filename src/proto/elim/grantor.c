/* Commit, grant, reveal among peers (tacit/commit.h): whom a peer asks before its draw is used, and
 * what it grants to its neighbours. Over a graph every neighbour holds a peer's releases, and all
 * must grant: the lowest first, so that of two clones one gets all grants and the other none. On
 * the way to a sink the parent holds them; the sink's are the hub's. */
#include <string.h>
#include "peer_state.h"

_Static_assert(sizeof(struct elim_peer_epochs) == sizeof(uint64_t), "two epochs are a word");

size_t elim_peer_grantor_words(uint32_t neighbour_count)
{
    return round_grantor_words(neighbour_count) + neighbour_count +
           2 * TACIT_BITS_WORDS(neighbour_count);
}

static uint64_t *holdings_of(const struct tacit_elim_peer *state)
{
    struct tacit_elim_peer *const peer = (struct tacit_elim_peer *)(uintptr_t)state;
    TACIT_ASSERT(peer->config.agent.has_grants);
    return peer->words + peer->at.holdings;
}

/* In a later term the first grant that a neighbour shows is taken for its head, as a hub does. */
struct round_grantor elim_peer_grantor(const struct tacit_elim_peer *peer)
{
    return round_grantor_at(holdings_of(peer), peer->config.neighbour_count,
                            elim_peer_agent(peer)->term > 0);
}

/* Of the heads, by rank. */
static struct elim_peer_epochs *epochs_of(const struct tacit_elim_peer *peer)
{
    return (struct elim_peer_epochs *)(void *)(holdings_of(peer) +
                                               round_grantor_words(peer->config.neighbour_count));
}

uint64_t *elim_peer_granted(const struct tacit_elim_peer *peer)
{
    return (uint64_t *)(void *)(epochs_of(peer) + peer->config.neighbour_count);
}

uint64_t *elim_peer_agreeing(const struct tacit_elim_peer *peer)
{
    return elim_peer_granted(peer) + TACIT_BITS_WORDS(peer->config.neighbour_count);
}

/* Is this peer's own release one that the neighbour grants? */
static bool is_grantor(const struct tacit_elim_peer *peer, uint32_t rank)
{
    TACIT_ASSERT(rank < peer->config.neighbour_count);
    return elim_peer_spreads(peer) || elim_peer_neighbours(peer)[rank] == peer->config.parent;
}

enum tacit_status elim_peer_blame(struct elim_peer_step *step, uint32_t rank, bool is_fork)
{
    struct round_grantor const grantor = elim_peer_grantor(step->peer);
    uint64_t *const set = is_fork ? grantor.flagged : grantor.ahead;
    TACIT_ASSERT(rank < step->peer->config.neighbour_count);
    step->update->persist = step->update->persist || !tacit_bits_has(set, rank);
    tacit_bits_add(set, rank);
    return is_fork ? TACIT_FORKED : TACIT_OK;
}

/* ---- The own commitment ---- */

/* Whom to ask next. Requires: there is somebody. */
static uint32_t next_grantor(const struct tacit_elim_peer *peer)
{
    TACIT_IMPLIES(elim_peer_spreads(peer), peer->config.neighbour_count > 0);
    if (elim_peer_is_sink(peer))
        return TACIT_HUB;
    if (!elim_peer_spreads(peer))
        return peer->config.parent;
    return tacit_bits_has(elim_peer_granted(peer), 0) ? TACIT_NEIGHBOURS
                                                      : elim_peer_neighbours(peer)[0];
}

static void send_commit(struct elim_peer_step *step, uint32_t epoch,
                        const struct tacit_commit *commit)
{
    TACIT_ASSERT(commit != NULL);
    TACIT_ASSERT(epoch == step->peer->commit_epoch);
    elim_peer_send(step, TACIT_ELIM_COMMIT, next_grantor(step->peer), epoch)->commit = commit;
}

bool elim_peer_commit(struct elim_peer_step *step, const struct tacit_elim_message *message)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint32_t const neighbours = peer->config.neighbour_count;
    TACIT_ASSERT(message->epoch >= peer->commit_epoch && message->commit != NULL);
    if (message->epoch > peer->commit_epoch) { /* a new draw */
        memset(elim_peer_granted(peer), 0, TACIT_BITS_WORDS(neighbours) * sizeof(uint64_t));
        peer->commit_epoch = message->epoch;
        peer->refuser = 0;
        step->update->persist = true;
    }
    if (elim_peer_spreads(peer) && neighbours == 0)
        return false;
    send_commit(step, message->epoch, message->commit);
    return true;
}

/* Is this about the draw that waits, from somebody who was asked? */
static bool is_about_ours(const struct tacit_elim_peer *peer, uint32_t rank)
{
    TACIT_ASSERT(rank < peer->config.neighbour_count);
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    bool const was_asked =
        !elim_peer_spreads(peer) || rank == 0 || tacit_bits_has(elim_peer_granted(peer), 0);
    return agent->phase == PHASE_COMMITTED && was_asked;
}

static enum tacit_status on_grant(struct elim_peer_step *step, uint32_t rank,
                                  const struct tacit_elim_message *grant)
{
    TACIT_ASSERT(grant->commit != NULL);
    TACIT_ASSERT(grant->from < step->peer->config.agent.agent_count);
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    uint32_t const neighbours = peer->config.neighbour_count;
    uint64_t *const granted = elim_peer_granted(peer);
    if (!is_about_ours(peer, rank) ||
        !tacit_commit_is_same(grant->commit->commitment, agent->grants.commit.commitment) ||
        tacit_bits_has(granted, rank))
        return TACIT_OK; /* late, or repeated */
    tacit_bits_add(granted, rank);
    if (peer->refuser == grant->from + 1)
        peer->refuser = 0;
    step->update->persist = true;
    TACIT_IMPLIES(elim_peer_spreads(peer), tacit_bits_has(granted, 0));
    if (!elim_peer_spreads(peer) || tacit_bits_count(granted, neighbours) == neighbours)
        step->answer = grant;
    else if (rank == 0)
        send_commit(step, agent->draw_epoch, &agent->grants.commit);
    return TACIT_OK;
}

static enum tacit_status on_refusal(struct elim_peer_step *step, uint32_t rank,
                                    const struct tacit_elim_message *refusal)
{
    TACIT_ASSERT(refusal->commit != NULL);
    TACIT_ASSERT(refusal->from < step->peer->config.agent.agent_count);
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    if (agent->phase != PHASE_COMMITTED) {
        /* the answer to a HELLO: another state of this site had a grant */
        if (refusal->epoch == peer->epoch && is_grantor(peer, rank) &&
            !tacit_commit_is_same(refusal->commit->commitment, agent->grants.head)) {
            peer->refuser = refusal->from + 1;
            step->update->persist = true;
            step->answer = refusal;
        }
        return TACIT_OK;
    }
    if (!is_about_ours(peer, rank) || tacit_bits_has(elim_peer_granted(peer), rank) ||
        refusal->epoch != agent->draw_epoch ||
        tacit_commit_is_same(refusal->commit->commitment, agent->grants.commit.commitment))
        return TACIT_OK;
    step->update->persist = step->update->persist || peer->refuser != refusal->from + 1;
    peer->refuser = refusal->from + 1;
    step->answer = refusal;
    return TACIT_OK;
}

/* ---- The neighbours' ---- */

/* Is the epoch over here, so that a report of it would be of no use? */
static bool is_closed(const struct tacit_elim_peer *peer, uint32_t epoch)
{
    return !elim_peer_spreads(peer) &&
           (epoch < peer->epoch || (epoch == peer->epoch && peer->closed));
}

static void send_head(struct elim_peer_step *step, enum tacit_elim_message_kind kind,
                      const struct tacit_commit_head *head, const struct tacit_elim_message *commit)
{
    TACIT_ASSERT(kind == TACIT_ELIM_GRANT || kind == TACIT_ELIM_REFUSAL);
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_message *const message =
        elim_peer_send(step, kind, commit->from, commit->epoch);
    message->commit = elim_peer_show(peer, head->head);
    message->closed = kind == TACIT_ELIM_GRANT && is_closed(peer, commit->epoch);
}

/* What the grantor makes of a neighbour's message. Nobody is blamed for being ahead of this state.
 */
static enum tacit_status answer(struct elim_peer_step *step, uint32_t rank,
                                const struct tacit_elim_message *asked,
                                struct round_verdict verdict)
{
    step->update->persist = step->update->persist || verdict.persist;
    if (verdict.answer != ROUND_NOTHING) {
        send_head(step, verdict.answer == ROUND_GRANT ? TACIT_ELIM_GRANT : TACIT_ELIM_REFUSAL,
                  &elim_peer_grantor(step->peer).heads[rank], asked);
        step->update->message.forgot = verdict.is_unknown;
    }
    return verdict.status == TACIT_ROLLBACK ? TACIT_OK : verdict.status;
}

enum tacit_status elim_peer_read_head(struct elim_peer_step *step, uint32_t rank,
                                      const struct tacit_elim_message *hello)
{
    struct tacit_elim_peer *const peer = step->peer;
    if (!peer->config.agent.has_grants || hello->commit == NULL || hello->epoch != peer->epoch)
        return TACIT_OK;
    if (!elim_peer_spreads(peer) && epochs_of(peer)[rank].epoch == 0)
        return TACIT_OK; /* another parent's */
    struct round_grantor const grantor = elim_peer_grantor(peer);
    bool const is_present = epochs_of(peer)[rank].epoch <= hello->epoch; /* else it came late */
    return answer(step, rank, hello,
                  round_grantor_greet(&grantor, rank, hello->commit->commitment, is_present));
}

/* No state draws for an epoch that is behind it: a grant of such is taken back. */
static enum tacit_status on_commit(struct elim_peer_step *step, uint32_t rank,
                                   const struct tacit_elim_message *commit)
{
    TACIT_ASSERT(commit->commit != NULL);
    TACIT_ASSERT(rank < step->peer->config.neighbour_count);
    struct round_grantor const grantor = elim_peer_grantor(step->peer);
    struct elim_peer_epochs *const granted = &epochs_of(step->peer)[rank];
    struct tacit_commit_head const before = grantor.heads[rank];
    if (commit->epoch == 0 || commit->epoch > TACIT_ELIM_EPOCHS_MAX)
        return TACIT_MALFORMED;
    struct round_verdict const verdict = round_grantor_ask(&grantor, rank, commit->commit);
    if (verdict.answer == ROUND_GRANT && verdict.persist) {
        if (commit->epoch <= granted->epoch) {
            grantor.heads[rank] = before;
            return TACIT_MALFORMED;
        }
        granted->epoch_before = granted->epoch;
        granted->epoch = commit->epoch;
    }
    return answer(step, rank, commit, verdict);
}

enum tacit_status elim_peer_on_commitment(struct elim_peer_step *step, uint32_t rank,
                                          const struct tacit_elim_message *message)
{
    TACIT_ASSERT(rank < step->peer->config.neighbour_count);
    TACIT_ASSERT(step->answer == NULL);
    struct tacit_elim_peer const *const peer = step->peer;
    bool const is_question = message->kind == TACIT_ELIM_COMMIT;
    bool const is_parent = !elim_peer_spreads(peer) && is_grantor(peer, rank);
    if (!peer->config.agent.has_grants || (is_question ? is_parent : !is_grantor(peer, rank)))
        return TACIT_UNEXPECTED;
    if (message->commit == NULL)
        return TACIT_MALFORMED;
    if (!is_question && message->to != peer->config.agent.agent_id)
        return TACIT_STRANGER;
    if (is_question)
        return on_commit(step, rank, message);
    return message->kind == TACIT_ELIM_GRANT ? on_grant(step, rank, message)
                                             : on_refusal(step, rank, message);
}

/* ---- Rows ---- */

enum tacit_status elim_peer_check_opening(const struct elim_peer_step *step,
                                          const struct tacit_elim_message *data, uint32_t origin,
                                          uint32_t row)
{
    TACIT_ASSERT(origin < step->peer->config.agent.agent_count);
    TACIT_ASSERT(data->from != step->peer->config.agent.agent_id);
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const rank = elim_peer_rank(peer, origin);
    if (rank == peer->config.neighbour_count)
        return TACIT_OK;
    struct elim_peer_epochs const granted = epochs_of(peer)[rank];
    if (!elim_peer_spreads(peer) && origin != data->from && granted.epoch == 0)
        return TACIT_OK; /* a neighbour that has another parent */
    if (data->epoch < granted.epoch_before)
        return TACIT_UNEXPECTED; /* too late: that head is gone */
    struct tacit_commit_head head = elim_peer_grantor(peer).heads[rank];
    if (data->epoch == granted.epoch_before)
        memcpy(head.head, head.before, sizeof head.head);
    else if (data->epoch != granted.epoch)
        return TACIT_ROLLBACK; /* nothing of it was granted here */
    struct tacit_commit_scope const scope = {.domain = peer->config.agent.domain,
                                             .run_id = peer->config.agent.run_id,
                                             .site = origin,
                                             .epoch = data->epoch,
                                             .is_numbered = peer->config.agent.numbered_commits};
    struct tacit_elim_opening const *const opening = elim_message_opening(data, origin, row);
    uint8_t digest[TACIT_SHA256_BYTES] = {0};
    if (!scope.is_numbered)
        elim_release_digest(data->pulls, data->arms, peer->config.agent.arm_count,
                            elim_message_row(data, origin, row), data->sum_count, digest);
    return tacit_commit_opens(&head, &scope, opening->previous, opening->salt, digest,
                              sizeof digest)
               ? TACIT_OK
               : TACIT_FORKED;
}

/* ---- Checking a state from a disk ---- */

static bool head_is_possible(const struct tacit_commit_head *head,
                             const struct elim_peer_epochs *granted, bool is_first_term)
{
    return granted->epoch <= TACIT_ELIM_EPOCHS_MAX &&
           (granted->epoch == 0 ? granted->epoch_before == 0
                                : granted->epoch_before < granted->epoch) &&
           (granted->epoch == 0) == tacit_commit_is_nothing(head->head) &&
           (!is_first_term ||
            (granted->epoch_before == 0) == tacit_commit_is_nothing(head->before));
}

bool elim_peer_grants_are_possible(const struct tacit_elim_peer *peer)
{
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    uint32_t const neighbours = peer->config.neighbour_count;
    if (!peer->config.agent.has_grants)
        return peer->commit_epoch == 0 && peer->refuser == 0;
    uint64_t const *const granted = elim_peer_granted(peer);
    struct round_grantor const grantor = elim_peer_grantor(peer);
    if (peer->commit_epoch != agent->draw_epoch || peer->refuser > peer->config.agent.agent_count ||
        !tacit_bits_within(granted, granted, neighbours) || !round_grantor_is_possible(&grantor))
        return false;
    for (uint32_t rank = 0; rank < neighbours; rank++)
        if (!head_is_possible(&grantor.heads[rank], &epochs_of(peer)[rank], agent->term == 0))
            return false;
    uint32_t const count = tacit_bits_count(granted, neighbours);
    /* The lowest grants first; the last grant is the end of the waiting. */
    return count == 0 || !elim_peer_spreads(peer) ||
           (tacit_bits_has(granted, 0) && (agent->phase != PHASE_COMMITTED || count < neighbours));
}

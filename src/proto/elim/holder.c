/* Commit, grant, reveal among peers (tacit/commit.h): whom a peer asks before its draw is used, and
 * what it grants to its neighbours. Over a graph every neighbour holds a peer's releases, and all
 * must grant: the lowest first, so that of two clones one gets all grants and the other none. On
 * the way to a sink the parent holds them; the sink's are the hub's. */
#include <string.h>
#include "peer_state.h"

#define HOLDING_WORDS (sizeof(struct elim_peer_holding) / sizeof(uint64_t))

_Static_assert(sizeof(struct elim_peer_holding) % sizeof(uint64_t) == 0, "holdings are words");

size_t elim_peer_holding_words(uint32_t neighbour_count)
{
    return HOLDING_WORDS * neighbour_count + 4 * TACIT_BITS_WORDS(neighbour_count);
}

struct elim_peer_holding *elim_peer_holdings(const struct tacit_elim_peer *state)
{
    struct tacit_elim_peer *const peer = (struct tacit_elim_peer *)(uintptr_t)state;
    TACIT_ASSERT(peer->config.agent.has_grants);
    return (struct elim_peer_holding *)(void *)(peer->words + peer->at.holdings);
}

uint64_t *elim_peer_granted(const struct tacit_elim_peer *peer)
{
    return (uint64_t *)(void *)(elim_peer_holdings(peer) + peer->config.neighbour_count);
}

uint64_t *elim_peer_flagged(const struct tacit_elim_peer *peer)
{
    return elim_peer_granted(peer) + TACIT_BITS_WORDS(peer->config.neighbour_count);
}

uint64_t *elim_peer_ahead(const struct tacit_elim_peer *peer)
{
    return elim_peer_flagged(peer) + TACIT_BITS_WORDS(peer->config.neighbour_count);
}

uint64_t *elim_peer_agreeing(const struct tacit_elim_peer *peer)
{
    return elim_peer_ahead(peer) + TACIT_BITS_WORDS(peer->config.neighbour_count);
}

static bool spreads(const struct tacit_elim_peer *peer)
{
    return peer->config.collection == TACIT_ELIM_SPREAD;
}

/* Is this peer's own release one that the neighbour grants? */
static bool is_holder(const struct tacit_elim_peer *peer, uint32_t rank)
{
    TACIT_ASSERT(rank < peer->config.neighbour_count);
    return spreads(peer) || elim_peer_neighbours(peer)[rank] == peer->config.parent;
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, TACIT_SHA256_BYTES) == 0;
}

enum tacit_status elim_peer_flag(struct elim_peer_step *step, uint32_t rank)
{
    uint64_t *const flagged = elim_peer_flagged(step->peer);
    TACIT_ASSERT(rank < step->peer->config.neighbour_count);
    step->update->persist = step->update->persist || !tacit_bits_has(flagged, rank);
    tacit_bits_add(flagged, rank);
    return TACIT_FORKED;
}

enum tacit_status elim_peer_mark_ahead(struct elim_peer_step *step, uint32_t rank)
{
    uint64_t *const ahead = elim_peer_ahead(step->peer);
    TACIT_ASSERT(rank < step->peer->config.neighbour_count);
    step->update->persist = step->update->persist || !tacit_bits_has(ahead, rank);
    tacit_bits_add(ahead, rank);
    return TACIT_OK;
}

/* ---- The own commitment ---- */

/* Whom to ask next. Requires: there is somebody. */
static uint32_t next_holder(const struct tacit_elim_peer *peer)
{
    TACIT_IMPLIES(spreads(peer), peer->config.neighbour_count > 0);
    if (elim_peer_is_sink(peer))
        return TACIT_HUB;
    if (!spreads(peer))
        return peer->config.parent;
    return tacit_bits_has(elim_peer_granted(peer), 0) ? TACIT_NEIGHBOURS
                                                      : elim_peer_neighbours(peer)[0];
}

static void say_commit(struct elim_peer_step *step, uint32_t epoch,
                       const struct tacit_commit *commit)
{
    TACIT_ASSERT(commit != NULL);
    TACIT_ASSERT(epoch == step->peer->commit_epoch);
    elim_peer_say(step, TACIT_ELIM_COMMIT, next_holder(step->peer), epoch)->commit = commit;
}

bool elim_peer_commit(struct elim_peer_step *step, const struct tacit_elim_message *word)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint32_t const neighbours = peer->config.neighbour_count;
    TACIT_ASSERT(word->epoch >= peer->commit_epoch && word->commit != NULL);
    if (word->epoch > peer->commit_epoch) { /* a new draw */
        memset(elim_peer_granted(peer), 0, TACIT_BITS_WORDS(neighbours) * sizeof(uint64_t));
        peer->commit_epoch = word->epoch;
        peer->refuser = 0;
        step->update->persist = true;
    }
    if (spreads(peer) && neighbours == 0)
        return false;
    say_commit(step, word->epoch, word->commit);
    return true;
}

/* Is this about the draw that waits, from somebody who was asked? */
static bool is_about_ours(const struct tacit_elim_peer *peer, uint32_t rank)
{
    TACIT_ASSERT(rank < peer->config.neighbour_count);
    struct elim_agent_brief const agent = elim_agent_brief(elim_peer_agent(peer));
    bool const was_asked =
        !spreads(peer) || rank == 0 || tacit_bits_has(elim_peer_granted(peer), 0);
    return agent.committed && was_asked;
}

static enum tacit_status on_grant(struct elim_peer_step *step, uint32_t rank,
                                  const struct tacit_elim_message *grant)
{
    TACIT_ASSERT(grant->commit != NULL);
    TACIT_ASSERT(grant->from < step->peer->config.agent.agent_count);
    struct tacit_elim_peer *const peer = step->peer;
    struct elim_agent_brief const agent = elim_agent_brief(elim_peer_agent(peer));
    uint32_t const neighbours = peer->config.neighbour_count;
    uint64_t *const granted = elim_peer_granted(peer);
    if (!is_about_ours(peer, rank) ||
        !is_same(grant->commit->commitment, agent.commit->commitment) ||
        tacit_bits_has(granted, rank))
        return TACIT_OK; /* late, or repeated */
    tacit_bits_add(granted, rank);
    if (peer->refuser == grant->from + 1)
        peer->refuser = 0;
    step->update->persist = true;
    TACIT_IMPLIES(spreads(peer), tacit_bits_has(granted, 0));
    if (!spreads(peer) || tacit_bits_count(granted, neighbours) == neighbours)
        step->answer = grant;
    else if (rank == 0)
        say_commit(step, agent.draw_epoch, agent.commit);
    return TACIT_OK;
}

static enum tacit_status on_refusal(struct elim_peer_step *step, uint32_t rank,
                                    const struct tacit_elim_message *refusal)
{
    TACIT_ASSERT(refusal->commit != NULL);
    TACIT_ASSERT(refusal->from < step->peer->config.agent.agent_count);
    struct tacit_elim_peer *const peer = step->peer;
    struct elim_agent_brief const agent = elim_agent_brief(elim_peer_agent(peer));
    if (!agent.committed) { /* the answer to a HELLO: another state of this site had a grant */
        if (refusal->epoch == peer->epoch && is_holder(peer, rank) &&
            !is_same(refusal->commit->commitment, agent.head)) {
            peer->refuser = refusal->from + 1;
            step->update->persist = true;
            step->answer = refusal;
        }
        return TACIT_OK;
    }
    if (!is_about_ours(peer, rank) || tacit_bits_has(elim_peer_granted(peer), rank) ||
        refusal->epoch != agent.draw_epoch ||
        is_same(refusal->commit->commitment, agent.commit->commitment))
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
    return !spreads(peer) && (epoch < peer->epoch || (epoch == peer->epoch && peer->closed));
}

static void say_head(struct elim_peer_step *step, enum tacit_elim_message_kind kind,
                     const struct tacit_commit_head *head, const struct tacit_elim_message *commit)
{
    TACIT_ASSERT(kind == TACIT_ELIM_GRANT || kind == TACIT_ELIM_REFUSAL);
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_message *const answer =
        elim_peer_say(step, kind, commit->from, commit->epoch);
    memset(&peer->answer, 0, sizeof peer->answer);
    memcpy(peer->answer.commitment, head->head, sizeof peer->answer.commitment);
    answer->commit = &peer->answer;
    answer->closed = kind == TACIT_ELIM_GRANT && is_closed(peer, commit->epoch);
}

/* Another state of the neighbour had the grant, or this one knows nothing of what it follows: then
 * this state is an old one, or the neighbour does not say what is true. */
static enum tacit_status refuse(struct elim_peer_step *step, uint32_t rank,
                                const struct tacit_elim_message *asked, const uint8_t *follows)
{
    struct tacit_commit_head const *const head = &elim_peer_holdings(step->peer)[rank].head;
    bool const is_known = tacit_commit_knows(head, follows);
    say_head(step, TACIT_ELIM_REFUSAL, head, asked);
    step->update->message.forgot = !is_known;
    return is_known ? elim_peer_flag(step, rank) : elim_peer_mark_ahead(step, rank);
}

/* In a later term the first grant that a neighbour shows is taken for its head, as hub.c does. */
static bool lacks_head(const struct tacit_elim_peer *peer, const struct elim_peer_holding *holding)
{
    return elim_agent_brief(elim_peer_agent(peer)).term > 0 && holding->epoch == 0;
}

enum tacit_status elim_peer_read_head(struct elim_peer_step *step, uint32_t rank,
                                      const struct tacit_elim_message *hello)
{
    struct tacit_elim_peer *const peer = step->peer;
    if (!peer->config.agent.has_grants || hello->commit == NULL || hello->epoch != peer->epoch)
        return TACIT_OK;
    struct elim_peer_holding const *const holding = &elim_peer_holdings(peer)[rank];
    uint8_t const *const shown = hello->commit->commitment;
    bool const is_held = spreads(peer) || holding->epoch > 0; /* else another parent's */
    if (!is_held || lacks_head(peer, holding) || is_same(shown, holding->head.head) ||
        is_same(shown, holding->head.before))
        return TACIT_OK;
    return refuse(step, rank, hello, shown);
}

/* Whatever the epoch here: what counts is what it follows. */
static enum tacit_status on_commit(struct elim_peer_step *step, uint32_t rank,
                                   const struct tacit_elim_message *commit)
{
    TACIT_ASSERT(commit->commit != NULL);
    TACIT_ASSERT(rank < step->peer->config.neighbour_count);
    struct elim_peer_holding *const holding = &elim_peer_holdings(step->peer)[rank];
    struct tacit_commit_head head = holding->head;
    if (commit->epoch == 0 || commit->epoch > TACIT_ELIM_EPOCHS_MAX)
        return TACIT_MALFORMED;
    if (lacks_head(step->peer, holding))
        memcpy(head.head, commit->commit->previous, sizeof head.head);
    switch (tacit_commit_ask(&head, commit->commit->commitment, commit->commit->previous)) {
    case TACIT_COMMIT_GRANTED:
        if (commit->epoch <= holding->epoch)
            return TACIT_MALFORMED; /* no state draws for an epoch that is behind it */
        holding->head = head;
        holding->epoch_before = holding->epoch;
        holding->epoch = commit->epoch;
        step->update->persist = true;
        say_head(step, TACIT_ELIM_GRANT, &head, commit);
        return TACIT_OK;
    case TACIT_COMMIT_AGAIN:
        say_head(step, TACIT_ELIM_GRANT, &head, commit);
        return TACIT_OK;
    case TACIT_COMMIT_LATE: /* repeated on its way; or a copy asks, and is to hear of the other */
        say_head(step, TACIT_ELIM_REFUSAL, &head, commit);
        return TACIT_OK;
    case TACIT_COMMIT_REFUSED:
        return refuse(step, rank, commit, commit->commit->previous);
    }
    return TACIT_MALFORMED;
}

enum tacit_status elim_peer_on_commitment(struct elim_peer_step *step, uint32_t rank,
                                          const struct tacit_elim_message *message)
{
    TACIT_ASSERT(rank < step->peer->config.neighbour_count);
    TACIT_ASSERT(step->answer == NULL);
    struct tacit_elim_peer const *const peer = step->peer;
    bool const is_question = message->kind == TACIT_ELIM_COMMIT;
    bool const is_parent = !spreads(peer) && is_holder(peer, rank);
    if (!peer->config.agent.has_grants || (is_question ? is_parent : !is_holder(peer, rank)))
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

void elim_peer_forget_holdings(struct tacit_elim_peer *peer)
{
    memset(elim_peer_holdings(peer), 0,
           elim_peer_holding_words(peer->config.neighbour_count) * sizeof(uint64_t));
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
    struct elim_peer_holding const *const holding = &elim_peer_holdings(peer)[rank];
    if (!spreads(peer) && origin != data->from && holding->epoch == 0)
        return TACIT_OK; /* a neighbour that has another parent */
    if (data->epoch < holding->epoch_before)
        return TACIT_UNEXPECTED; /* too late: that head is gone */
    struct tacit_commit_head head = holding->head;
    if (data->epoch == holding->epoch_before)
        memcpy(head.head, head.before, sizeof head.head);
    else if (data->epoch != holding->epoch)
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

static bool holding_is_possible(const struct elim_peer_holding *holding, bool is_first_term)
{
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    return holding->epoch <= TACIT_ELIM_EPOCHS_MAX &&
           (holding->epoch == 0 ? holding->epoch_before == 0
                                : holding->epoch_before < holding->epoch) &&
           (holding->epoch == 0) == is_same(holding->head.head, nothing) &&
           (!is_first_term ||
            (holding->epoch_before == 0) == is_same(holding->head.before, nothing));
}

bool elim_peer_grants_are_possible(const struct tacit_elim_peer *peer)
{
    struct elim_agent_brief const agent = elim_agent_brief(elim_peer_agent(peer));
    uint32_t const neighbours = peer->config.neighbour_count;
    if (!peer->config.agent.has_grants)
        return peer->commit_epoch == 0 && peer->refuser == 0;
    uint64_t const *const granted = elim_peer_granted(peer);
    uint64_t const *const flagged = elim_peer_flagged(peer);
    uint64_t const *const ahead = elim_peer_ahead(peer);
    if (peer->commit_epoch != agent.draw_epoch || peer->refuser > peer->config.agent.agent_count ||
        !tacit_bits_within(granted, granted, neighbours) ||
        !tacit_bits_within(flagged, flagged, neighbours) ||
        !tacit_bits_within(ahead, ahead, neighbours))
        return false;
    for (uint32_t rank = 0; rank < neighbours; rank++)
        if (!holding_is_possible(&elim_peer_holdings(peer)[rank], agent.term == 0))
            return false;
    uint32_t const count = tacit_bits_count(granted, neighbours);
    /* The lowest grants first; the last grant is the end of the waiting. */
    return count == 0 || !spreads(peer) ||
           (tacit_bits_has(granted, 0) && (!agent.committed || count < neighbours));
}

/* Do all members of a graph hold the same rows? What each holds is one digest, which goes with its
 * words; neighbours that differ show each other their rows; two rows that one agent has signed are
 * a proof. After the last round every member signs what it holds (decision 45). */
#include <string.h>
#include "peer_state.h"

#define DIGEST TACIT_SHA256_BYTES

/* ---- Signed rows ---- */

void tacit_elim_row_digest(const uint8_t domain[DIGEST], uint64_t run_id, uint64_t term,
                           uint32_t agent, uint32_t epoch, const uint8_t subject[DIGEST],
                           uint8_t digest[DIGEST])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    TACIT_ASSERT(epoch >= 1);
    tacit_sha256_update(&sha, domain, DIGEST);
    tacit_sha256_update_number(&sha, run_id);
    tacit_sha256_update_number(&sha, term);
    tacit_sha256_update_number(&sha, agent);
    tacit_sha256_update_number(&sha, epoch);
    tacit_sha256_update(&sha, subject, DIGEST);
    tacit_sha256_final(&sha, digest);
}

bool tacit_elim_proof_holds(const struct tacit_elim_proof *proof, const uint8_t domain[DIGEST],
                            uint64_t run_id, uint64_t term, uint32_t epoch,
                            const struct tacit_row_signer *signer)
{
    uint8_t digest[DIGEST];
    if (epoch == 0 || tacit_commit_is_same(proof->subjects[0], proof->subjects[1]))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        tacit_elim_row_digest(domain, run_id, term, proof->agent, epoch, proof->subjects[i],
                              digest);
        if (!signer->check(signer->context, proof->agent, digest, proof->signatures[i]))
            return false;
    }
    return true;
}

static void row_digest(const struct tacit_elim_peer *peer, uint32_t agent, uint32_t epoch,
                       const uint8_t *subject, uint8_t digest[DIGEST])
{
    tacit_elim_row_digest(peer->config.agent.domain, peer->config.agent.run_id,
                          elim_peer_agent(peer)->term, agent, epoch, subject, digest);
}

/* A row, wherever it is. */
struct row {
    uint32_t agent;
    uint32_t epoch;
    uint64_t pulls;
    const uint64_t *arms;
    uint32_t sum_count;
    const union tacit_sum *sums; /* NULL: none */
    const struct tacit_elim_opening *opening;
};

/* As the table has it. */
static struct row row_here(const struct elim_peer_step *step, uint32_t agent, uint32_t half,
                           uint32_t epoch)
{
    struct tacit_elim_peer const *const peer = step->peer;
    uint64_t const *const arms = elim_peer_arms(peer, half);
    return (struct row){.agent = agent,
                        .epoch = epoch,
                        .pulls = peer->pulls[half],
                        .arms = arms,
                        .sum_count = tacit_bits_count(arms, peer->config.agent.arm_count),
                        .sums = elim_table_row(step->table, half, agent),
                        .opening = elim_table_opening(step->table, half, agent)};
}

/* As a message has it, the rank-th of its rows. */
static struct row row_in(const struct tacit_elim_message *data, uint32_t origin, uint32_t rank)
{
    return (struct row){.agent = origin,
                        .epoch = data->epoch,
                        .pulls = data->pulls,
                        .arms = data->arms,
                        .sum_count = data->sum_count,
                        .sums = data->sum_count > 0 ? elim_message_row(data, origin, rank) : NULL,
                        .opening = elim_message_opening(data, origin, rank)};
}

/* What is signed of it: the commitment to it; a confirmation has no sums, and is what it says. */
static void subject_of(const struct tacit_elim_peer *peer, const struct row *row,
                       uint8_t subject[DIGEST])
{
    struct tacit_commit_scope const scope = {.domain = peer->config.agent.domain,
                                             .run_id = peer->config.agent.run_id,
                                             .site = row->agent,
                                             .epoch = row->epoch};
    struct tacit_commit claimed = {.commitment = {0}};
    uint8_t digest[DIGEST];
    memcpy(claimed.previous, row->opening->previous, DIGEST);
    memcpy(claimed.salt, row->opening->salt, DIGEST);
    memcpy(subject, claimed.previous, DIGEST);
    if (row->sum_count == 0)
        return;
    elim_release_digest(row->pulls, row->arms, peer->config.agent.arm_count, row->sums,
                        row->sum_count, digest);
    tacit_commit_hash(&scope, &claimed, digest, sizeof digest, subject);
}

void elim_peer_sign_row(struct elim_peer_step *step, uint32_t half, uint32_t epoch)
{
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const self = peer->config.agent.agent_id;
    struct row const row = row_here(step, self, half, epoch);
    uint8_t subject[DIGEST];
    uint8_t digest[DIGEST];
    uint8_t signature[TACIT_SIGNATURE_BYTES];
    subject_of(peer, &row, subject);
    row_digest(peer, self, epoch, subject, digest);
    if (!step->signer->sign(step->signer->context, self, digest, signature))
        return; /* nobody takes it: it is signed again when it is said again */
    struct tacit_elim_opening *const opening = elim_table_opening(step->table, half, self);
    bool const is_new = memcmp(opening->signature, signature, sizeof signature) != 0;
    memcpy(opening->signature, signature, sizeof signature);
    step->update->persist_table = step->update->persist_table || is_new;
    step->update->persist = step->update->persist || is_new;
}

bool elim_peer_row_is_signed(const struct elim_peer_step *step,
                             const struct tacit_elim_message *data, uint32_t origin, uint32_t rank)
{
    struct row const row = row_in(data, origin, rank);
    uint8_t subject[DIGEST];
    uint8_t digest[DIGEST];
    TACIT_ASSERT(data->is_signed);
    subject_of(step->peer, &row, subject);
    row_digest(step->peer, origin, data->epoch, subject, digest);
    return step->signer->check(step->signer->context, origin, digest, row.opening->signature);
}

/* ---- Proofs ---- */

void elim_peer_send_proof(struct elim_peer_step *step, uint32_t to)
{
    struct tacit_elim_peer const *const peer = step->peer;
    TACIT_ASSERT(peer->proof_epoch > 0);
    elim_peer_send(step, TACIT_ELIM_PROOF, to, peer->proof_epoch)->proof = &peer->proof;
}

static void record_proof(struct elim_peer_step *step, const struct tacit_elim_proof *proof,
                         uint32_t epoch)
{
    TACIT_ASSERT(step->peer->proof_epoch == 0);
    TACIT_ASSERT(epoch >= 1 && epoch <= TACIT_ELIM_EPOCHS_MAX);
    step->peer->proof = *proof;
    step->peer->proof_epoch = epoch;
    step->update->persist = true;
    elim_peer_send_proof(step, TACIT_NEIGHBOURS);
}

enum tacit_status elim_peer_prove(struct elim_peer_step *step,
                                  const struct tacit_elim_message *data, uint32_t origin,
                                  uint32_t rank, uint32_t half)
{
    struct row const rows[2] = {row_here(step, origin, half, data->epoch),
                                row_in(data, origin, rank)};
    struct tacit_elim_proof proof = {.agent = origin};
    if (!elim_peer_row_is_signed(step, data, origin, rank))
        return TACIT_MALFORMED;
    for (unsigned i = 0; i < 2; i++) {
        subject_of(step->peer, &rows[i], proof.subjects[i]);
        memcpy(proof.signatures[i], rows[i].opening->signature, sizeof proof.signatures[i]);
    }
    if (step->peer->proof_epoch == 0)
        record_proof(step, &proof, data->epoch);
    return TACIT_OK;
}

enum tacit_status elim_peer_on_proof(struct elim_peer_step *step,
                                     const struct tacit_elim_message *message)
{
    struct tacit_elim_peer const *const peer = step->peer;
    if (!peer->config.signs_rows)
        return TACIT_UNEXPECTED;
    if (message->proof == NULL || message->proof->agent >= peer->config.agent.agent_count ||
        !elim_peer_is_member(peer, message->proof->agent) || message->epoch > TACIT_ELIM_EPOCHS_MAX)
        return TACIT_MALFORMED;
    if (peer->proof_epoch > 0)
        return TACIT_OK; /* one is enough */
    if (!tacit_elim_proof_holds(message->proof, peer->config.agent.domain,
                                peer->config.agent.run_id, message->term, message->epoch,
                                step->signer))
        return TACIT_MALFORMED;
    record_proof(step, message->proof, message->epoch);
    return TACIT_OK;
}

/* ---- What is held ---- */

void elim_peer_note_round(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint32_t const agents = peer->config.agent.agent_count;
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    uint8_t subject[DIGEST];
    struct tacit_sha256 sha = tacit_sha256_init();
    TACIT_ASSERT(peer->missing_count == 0 && peer->epoch > peer->history_epoch);
    tacit_sha256_update(&sha, peer->history[0], DIGEST);
    tacit_sha256_update_number(&sha, peer->epoch);
    TACIT_BITS_EACH (agent, known, agents) {
        struct row const row = row_here(step, agent, peer->half, peer->epoch);
        subject_of(peer, &row, subject);
        tacit_sha256_update_number(&sha, agent);
        tacit_sha256_update(&sha, subject, DIGEST);
    }
    memcpy(peer->history[1], peer->history[0], DIGEST);
    tacit_sha256_final(&sha, peer->history[0]);
    peer->history_epoch = peer->epoch;
    memset(elim_peer_agreeing(peer), 0,
           TACIT_BITS_WORDS(peer->config.neighbour_count) * sizeof(uint64_t));
}

bool elim_peer_may_judge(const struct tacit_elim_peer *peer)
{
    uint32_t const neighbours = peer->config.neighbour_count;
    return peer->proof_epoch == 0 &&
           (peer->judge.round_count == 0 ||
            tacit_bits_count(elim_peer_agreeing(peer), neighbours) == neighbours);
}

static void add(struct elim_peer_step *step, uint64_t *set, uint32_t member)
{
    step->update->persist = step->update->persist || !tacit_bits_has(set, member);
    tacit_bits_add(set, member);
}

/* Asks for the rows of the last round, from this agent on. */
static void ask_for_rows(struct elim_peer_step *step, uint32_t to, uint32_t first)
{
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const agents = peer->config.agent.agent_count;
    uint64_t *const origins = elim_table_scratch(step->table);
    memcpy(origins, elim_peer_set(peer, ELIM_MEMBERS), TACIT_BITS_WORDS(agents) * sizeof *origins);
    for (uint32_t agent = 0; agent < first; agent++)
        tacit_bits_remove(origins, agent);
    if (tacit_bits_next(origins, agents, 0) == agents)
        return;
    (void)elim_peer_limit_rows(peer, origins);
    elim_peer_send(step, TACIT_ELIM_REQUEST, to, peer->history_epoch)->origins = origins;
}

/* The rows of the last round, as a neighbour has them. One that is another here is proved; if none
 * is, the next are asked for. */
static enum tacit_status compare_rows(struct elim_peer_step *step,
                                      const struct tacit_elim_message *data)
{
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const agents = peer->config.agent.agent_count;
    uint32_t const half = elim_peer_half_of(peer, data->epoch);
    uint32_t rank = 0;
    uint32_t last = 0;
    if (!elim_peer_is_of_half(peer, data, half))
        return TACIT_MALFORMED;
    TACIT_BITS_EACH (origin, data->origins, agents) {
        if (!elim_peer_is_member(peer, origin))
            return TACIT_MALFORMED;
        if (!elim_peer_is_same_row(step, data, origin, rank, half))
            return elim_peer_prove(step, data, origin, rank, half);
        last = origin;
        rank++;
    }
    ask_for_rows(step, data->from, last + 1);
    return TACIT_OK;
}

/* Does it hold the same of the rounds that both have closed? If so that is noted. What is further
 * back, or further on, is compared when it is said again, and taken for the same. */
static bool note_agreement(struct elim_peer_step *step, uint32_t rank,
                           const struct tacit_elim_history *shown)
{
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const rounds = peer->judge.round_count;
    if (shown->rounds + 1 == rounds)
        return tacit_commit_is_same(shown->digest, peer->history[1]);
    if (shown->rounds != rounds && shown->rounds != rounds + 1)
        return true;
    if (shown->rounds == rounds && !tacit_commit_is_same(shown->digest, peer->history[0]))
        return false;
    add(step, elim_peer_agreeing(peer), rank); /* who is ahead has looked before it went on */
    return true;
}

bool elim_peer_compare_history(struct elim_peer_step *step, uint32_t rank,
                               const struct tacit_elim_message *message, enum tacit_status *status)
{
    struct tacit_elim_peer const *const peer = step->peer;
    bool const asks = message->kind == TACIT_ELIM_HELLO || message->kind == TACIT_ELIM_ADVERT;
    bool const is_of_last = message->epoch == peer->history_epoch && peer->history_epoch > 0;
    TACIT_ASSERT(message->has_history);
    if (note_agreement(step, rank, &message->history)) {
        if (peer->proof_epoch > 0 && asks)
            elim_peer_send_proof(step, message->from);
        return peer->proof_epoch > 0;
    }
    add(step, elim_peer_differing(peer), message->from);
    *status = TACIT_OK;
    if (asks && peer->proof_epoch > 0)
        elim_peer_send_proof(step, message->from);
    else if (asks && message->history.rounds == peer->judge.round_count)
        ask_for_rows(step, message->from, 0);
    else if (message->kind == TACIT_ELIM_DATA && is_of_last)
        *status = compare_rows(step, message);
    return message->kind != TACIT_ELIM_REQUEST || !is_of_last; /* it is to see ours */
}

/* ---- The last round ---- */

void elim_peer_begin_confirming(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint32_t const self = peer->config.agent.agent_id;
    TACIT_ASSERT(peer->judge.finished && !peer->confirms);
    elim_peer_turn_table(step, peer->judge.epoch);
    peer->pulls[peer->half] = peer->pulls[peer->half ^ 1u];
    memset(elim_peer_arms(peer, peer->half), 0,
           TACIT_BITS_WORDS(peer->config.agent.arm_count) * sizeof(uint64_t));
    struct tacit_elim_opening *const opening = elim_table_opening(step->table, peer->half, self);
    memset(opening, 0, sizeof *opening);
    memcpy(opening->previous, peer->history[0], DIGEST);
    step->update->persist_table = true;
    elim_peer_sign_row(step, peer->half, peer->epoch);
    tacit_bits_add(elim_peer_set(peer, ELIM_KNOWN), self);
    tacit_bits_add(elim_peer_set(peer, ELIM_FRESH), self);
    peer->missing_count--; /* a peer is a member of its own */
    peer->confirms = true;
    peer->confirm_end_us = step->now_us + peer->config.confirm_us;
    if (step->update->send)
        peer->pass_on_us = elim_peer_next_slot_us(step);
    else
        elim_peer_pass_on(step);
    elim_peer_check_confirmed(step);
}

bool elim_peer_check_confirmations(struct elim_peer_step *step,
                                   const struct tacit_elim_message *data)
{
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const agents = peer->config.agent.agent_count;
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    bool is_alike = true;
    uint32_t rank = 0;
    TACIT_BITS_EACH (origin, data->origins, agents) {
        uint8_t const *const held = elim_message_opening(data, origin, rank)->previous;
        if (!tacit_bits_has(known, origin) && !tacit_commit_is_same(held, peer->history[0]) &&
            elim_peer_row_is_signed(step, data, origin, rank)) {
            add(step, elim_peer_differing(peer), origin);
            is_alike = false;
        }
        rank++;
    }
    return is_alike;
}

void elim_peer_check_confirmed(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    bool const is_over = peer->missing_count == 0 || step->now_us >= peer->confirm_end_us;
    TACIT_ASSERT(peer->confirms);
    if (peer->confirmed || !is_over)
        return;
    peer->confirmed = true;
    peer->confirm_end_us = TACIT_NEVER;
    step->update->persist = true;
}

void elim_peer_time_confirming(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    struct round_resend *const again = &peer->confirm;
    if (!peer->confirms || peer->confirmed) /* who comes later asks, and is asked (on_hello) */
        *again = (struct round_resend){.due_us = TACIT_NEVER};
    else if (again->due_us == TACIT_NEVER)
        again->due_us = step->now_us + round_pause_us(peer->config.agent.resend_after_us,
                                                      again->unanswered_count++);
}

/* ---- Checking a state from a disk ---- */

bool elim_peer_agreement_is_possible(const struct tacit_elim_peer *peer)
{
    uint32_t const neighbours = peer->config.neighbour_count;
    uint32_t const agents = peer->config.agent.agent_count;
    bool const is_used =
        peer->confirms || peer->confirmed || peer->proof_epoch > 0 || peer->history_epoch > 0;
    bool const is_timed = peer->confirm_end_us != TACIT_NEVER ||
                          peer->confirm.due_us != TACIT_NEVER || peer->confirm.unanswered_count > 0;
    if (!peer->config.signs_rows)
        return !is_used && !is_timed;
    if (is_timed && !peer->confirms)
        return false;
    uint64_t const *const agreeing = elim_peer_agreeing(peer);
    uint64_t const *const differing = elim_peer_differing(peer);
    return tacit_bits_within(agreeing, agreeing, neighbours) &&
           tacit_bits_within(differing, differing, agents) &&
           peer->proof_epoch <= TACIT_ELIM_EPOCHS_MAX && peer->proof.agent < agents &&
           (peer->history_epoch == 0) == (peer->judge.round_count == 0) &&
           (peer->history_epoch == peer->epoch || peer->history_epoch == peer->previous_epoch) &&
           (!peer->confirmed || peer->confirms) &&
           (!peer->confirms || (peer->judge.finished && peer->epoch == peer->judge.epoch));
}

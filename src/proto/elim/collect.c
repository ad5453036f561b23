/* How reports get to those who judge them when there is no hub for everybody: spread to all by the
 * GIS protocol (Li, Song, Alg. 2), or gathered hop by hop at a sink (Alg. 5 l. 8-10). */
#include <string.h>
#include "peer_state.h"

static uint32_t agent_count(const struct tacit_elim_peer *peer)
{
    return peer->config.agent.agent_count;
}

static size_t set_bytes(const struct tacit_elim_peer *peer)
{
    return TACIT_BITS_WORDS(agent_count(peer)) * sizeof(uint64_t);
}

static bool is_empty(const struct tacit_elim_peer *peer, const uint64_t *set)
{
    return tacit_bits_next(set, agent_count(peer), 0) == agent_count(peer);
}

static bool knows(const struct tacit_elim_peer *peer, uint32_t agent)
{
    return tacit_bits_has(elim_peer_set(peer, ELIM_KNOWN), agent);
}

/* ---- Collections ---- */

/* Whose reports are waited for: by a relay of a hybrid, nobody's. */
static uint32_t member_count(const struct tacit_elim_peer *peer)
{
    return tacit_bits_count(elim_peer_set(peer, ELIM_MEMBERS), agent_count(peer));
}

void elim_peer_turn_table(struct elim_peer_step *step, uint32_t epoch)
{
    struct tacit_elim_peer *const peer = step->peer;
    TACIT_ASSERT(epoch > peer->epoch);
    TACIT_ASSERT(peer->half < 2);
    size_t const bytes = set_bytes(peer);
    if (!elim_peer_spreads(peer))
        memcpy(elim_peer_set(peer, ELIM_PREVIOUS), elim_peer_set(peer, ELIM_KNOWN), bytes);
    memset(elim_peer_set(peer, ELIM_KNOWN), 0, bytes);
    memset(elim_peer_set(peer, ELIM_FRESH), 0, bytes);
    memset(elim_peer_set(peer, ELIM_ASKED), 0, bytes);
    memset(elim_peer_work(peer), 0, peer->config.neighbour_count * sizeof(struct elim_peer_work));
    peer->work_since_us = step->now_us;
    peer->previous_epoch = peer->epoch;
    peer->epoch = epoch;
    peer->half ^= 1u;
    peer->missing_count = member_count(peer);
    peer->pass_on_us = TACIT_NEVER;
    peer->gather_end_us = TACIT_NEVER;
    peer->closed = false;
    peer->ask_count = 0;
    step->update->persist = true;
}

void elim_peer_begin_collection(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_agent *const agent = elim_peer_agent(peer);
    TACIT_ASSERT(!agent->last);
    elim_peer_turn_table(step, agent->epoch);
    peer->pulls[peer->half] = agent->pulls;
    memcpy(elim_peer_arms(peer, peer->half), arms_of(agent),
           TACIT_BITS_WORDS(peer->config.agent.arm_count) * sizeof(uint64_t));
    if (peer->is_behind && !step->update->send) /* what a neighbour said before was not heard */
        elim_peer_ask(step, true);
    peer->is_behind = false;
}

/* ---- Messages out ---- */

const struct tacit_commit *elim_peer_show(struct tacit_elim_peer *peer, const uint8_t *commitment)
{
    memset(&peer->answer, 0, sizeof peer->answer);
    memcpy(peer->answer.commitment, commitment, sizeof peer->answer.commitment);
    return &peer->answer;
}

struct tacit_elim_message *elim_peer_send(struct elim_peer_step *step,
                                          enum tacit_elim_message_kind kind, uint32_t to,
                                          uint32_t epoch)
{
    TACIT_ASSERT(to != step->peer->config.agent.agent_id);
    TACIT_ASSERT(epoch <= TACIT_ELIM_EPOCHS_MAX);
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_elim_message *const message = &step->update->message;
    step->update->send = true;
    *message = (struct tacit_elim_message){.kind = kind,
                                           .from = peer->config.agent.agent_id,
                                           .to = to,
                                           .run_id = peer->config.agent.run_id,
                                           .term = elim_peer_agent(peer)->term,
                                           .epoch = epoch};
    bool const is_of_rows = kind == TACIT_ELIM_HELLO || kind == TACIT_ELIM_ADVERT ||
                            kind == TACIT_ELIM_REQUEST || kind == TACIT_ELIM_DATA;
    if (is_of_rows && peer->config.signs_rows) {
        message->has_history = true;
        message->history.rounds = peer->judge.round_count;
        message->history.is_last = peer->confirms && epoch == peer->epoch;
        memcpy(message->history.digest, peer->history[0], TACIT_SHA256_BYTES);
    }
    if (kind == TACIT_ELIM_HELLO && peer->config.agent.has_grants)
        message->commit = elim_peer_show(peer, elim_peer_agent(peer)->grants.head);
    return message;
}

uint32_t elim_peer_half_of(const struct tacit_elim_peer *peer, uint32_t epoch)
{
    TACIT_ASSERT(epoch == peer->epoch || epoch == peer->previous_epoch);
    return epoch == peer->epoch ? peer->half : peer->half ^ 1u;
}

/* Rows of the present epoch or of the one before. */
static void send_data(struct elim_peer_step *step, uint32_t to, uint32_t epoch,
                      const uint64_t *origins)
{
    TACIT_ASSERT(epoch == step->peer->epoch || epoch == step->peer->previous_epoch);
    TACIT_ASSERT(epoch > 0);
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const half = elim_peer_half_of(peer, epoch);
    uint32_t const arms = peer->config.agent.arm_count;
    if (peer->config.signs_rows && tacit_bits_has(origins, peer->config.agent.agent_id))
        elim_peer_sign_row(step, half, epoch);
    struct tacit_elim_message *const message = elim_peer_send(step, TACIT_ELIM_DATA, to, epoch);
    message->is_signed = peer->config.signs_rows;
    message->pulls = peer->pulls[half];
    message->arms = elim_peer_arms(peer, half);
    message->sum_count = tacit_bits_count(message->arms, arms);
    message->sums = elim_table_row(step->table, half, 0);
    message->origins = origins;
    message->row_stride = arms;
    message->rows_stay = step->table->is_shared;
    if (peer->config.agent.has_grants)
        message->openings = elim_table_opening(step->table, half, 0);
}

/* The sum over the component, in the order of its agents. */
void elim_peer_report_component(struct elim_peer_step *step)
{
    TACIT_ASSERT(elim_peer_is_sink(step->peer));
    struct tacit_elim_peer *const peer = step->peer;
    struct tacit_scale const *const scale = &peer->config.agent.mechanism.scale;
    uint64_t const *const arms = elim_peer_arms(peer, peer->half);
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    uint32_t const count = tacit_bits_count(arms, peer->config.agent.arm_count);
    uint32_t const agents = agent_count(peer);
    union tacit_sum *const report = elim_peer_report(peer);
    memset(report, 0, count * sizeof *report);
    TACIT_BITS_EACH (origin, known, agents) {
        union tacit_sum const *const row = elim_table_row(step->table, peer->half, origin);
        for (uint32_t i = 0; i < count; i++)
            tacit_sum_add(scale, &report[i], row[i]);
    }
    struct tacit_elim_message *const message =
        elim_peer_send(step, TACIT_ELIM_REPORT, TACIT_HUB, peer->epoch);
    message->pulls = peer->pulls[peer->half];
    message->arms = arms;
    message->agents = tacit_bits_count(known, agents);
    message->sum_count = count;
    message->sums = report;
    if (peer->config.agent.has_grants) {
        struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
        /* Its own alone opens the grant; a total names it (round/rounds.c: open_report). */
        message->commit =
            message->agents == 1 ? &agent->grants.commit : elim_peer_show(peer, agent->grants.head);
    }
    peer->closed = true;
    step->update->persist = true;
}

/* Takes a set into the scratch of the table, where it outlives its owner's next change. */
static uint64_t *copy_set(struct elim_peer_step *step, const uint64_t *set)
{
    TACIT_ASSERT(set != elim_table_scratch(step->table));
    uint64_t *const scratch = elim_table_scratch(step->table);
    memcpy(scratch, set, set_bytes(step->peer));
    return scratch;
}

uint64_t elim_peer_next_slot_us(const struct elim_peer_step *step)
{
    return step->now_us + (step->peer->config.slot_us > 0 ? step->peer->config.slot_us : 1);
}

bool elim_peer_limit_rows(const struct tacit_elim_peer *peer, uint64_t *set)
{
    uint32_t left = peer->config.rows_max;
    uint32_t const agents = agent_count(peer);
    if (left == 0 || tacit_bits_count(set, agents) <= left)
        return false;
    TACIT_BITS_EACH (origin, set, agents) {
        if (left == 0)
            tacit_bits_remove(set, origin);
        else
            left--;
    }
    return true;
}

void elim_peer_pass_on(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint64_t *const fresh = elim_peer_set(peer, ELIM_FRESH);
    peer->pass_on_us = TACIT_NEVER;
    if (elim_peer_is_sink(peer)) {
        if (peer->missing_count == 0)
            elim_peer_report_component(step);
        return;
    }
    if (is_empty(peer, fresh) || peer->config.neighbour_count == 0)
        return;
    uint64_t *const origins = copy_set(step, fresh);
    if (elim_peer_spreads(peer)) {
        elim_peer_send(step, TACIT_ELIM_ADVERT, TACIT_NEIGHBOURS, peer->epoch)->origins = origins;
    } else {
        if (elim_peer_limit_rows(peer, origins)) /* the rest with the next slot */
            peer->pass_on_us = elim_peer_next_slot_us(step);
        send_data(step, peer->config.parent, peer->epoch, origins);
    }
    for (size_t i = 0; i < TACIT_BITS_WORDS(agent_count(peer)); i++)
        fresh[i] &= ~origins[i];
    step->update->persist = true;
}

void elim_peer_stop_passing(struct elim_peer_step *step)
{
    memset(elim_peer_set(step->peer, ELIM_FRESH), 0, set_bytes(step->peer));
    step->peer->pass_on_us = TACIT_NEVER;
}

void elim_peer_ask(struct elim_peer_step *step, bool is_start)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint64_t *const known = elim_peer_set(peer, ELIM_KNOWN);
    bool const to_hub = peer->ask_count++ % 2 == 1;
    if (elim_peer_spreads(peer)) {
        if (peer->config.neighbour_count == 0)
            return;
        if (peer->proof_epoch > 0) {
            elim_peer_send_proof(step, TACIT_NEIGHBOURS);
            return;
        }
        memset(elim_peer_set(peer, ELIM_ASKED), 0, set_bytes(peer)); /* it may be lost: ask again */
        elim_peer_send(step, TACIT_ELIM_HELLO, TACIT_NEIGHBOURS, peer->epoch)->origins = known;
    } else if (elim_peer_is_sink(peer) && peer->closed && !to_hub) {
        elim_peer_report_component(step);
    } else if (elim_peer_is_sink(peer) || (to_hub && !is_start)) {
        (void)elim_peer_send(step, TACIT_ELIM_HELLO, TACIT_HUB, peer->epoch);
    } else if (is_start || is_empty(peer, known)) {
        elim_peer_send(step, TACIT_ELIM_HELLO, peer->config.parent, peer->epoch)->origins = known;
    } else {
        memcpy(elim_peer_set(peer, ELIM_FRESH), known, set_bytes(peer)); /* all of it again */
        elim_peer_pass_on(step);
    }
}

/* ---- What comes in ---- */

void elim_peer_add_origins(struct elim_peer_step *step, const uint64_t *origins)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint64_t *const known = elim_peer_set(peer, ELIM_KNOWN);
    uint64_t *const fresh = elim_peer_set(peer, ELIM_FRESH);
    uint64_t *const asked = elim_peer_set(peer, ELIM_ASKED);
    uint64_t const *const members = elim_peer_set(peer, ELIM_MEMBERS);
    uint32_t found = 0;
    for (size_t i = 0; i < TACIT_BITS_WORDS(agent_count(peer)); i++) {
        uint64_t const added = origins[i] & ~known[i];
        known[i] |= added;
        fresh[i] |= added;
        asked[i] &= ~added;
        found += tacit_bits_word_count(added & members[i]);
    }
    TACIT_ASSERT(found <= peer->missing_count);
    peer->missing_count -= found;
    step->update->persist = true;
}

/* What came in during a slot goes on with the next one (Alg. 2 l. 4-5). */
static void wait_for_slot(struct elim_peer_step *step)
{
    struct tacit_elim_peer *const peer = step->peer;
    bool const is_sink = elim_peer_is_sink(peer);
    bool const is_due = !is_sink || (peer->missing_count == 0 && !peer->closed);
    bool const is_now = is_sink && peer->config.reports_at_once;
    if (is_due && peer->pass_on_us == TACIT_NEVER)
        peer->pass_on_us = is_now ? step->now_us : elim_peer_next_slot_us(step);
}

void elim_peer_on_own_report(struct elim_peer_step *step, const struct tacit_elim_message *report)
{
    TACIT_ASSERT(report->kind == TACIT_ELIM_REPORT);
    TACIT_ASSERT(report->epoch == step->peer->epoch);
    TACIT_ASSERT(report->sum_count <= step->peer->config.agent.arm_count);
    TACIT_IMPLIES(step->peer->config.agent.has_grants, report->commit != NULL);
    struct tacit_elim_peer *const peer = step->peer;
    uint32_t const self = peer->config.agent.agent_id;
    if (knows(peer, self)) {
        elim_peer_ask(step, false);
        return;
    }
    union tacit_sum *const row = elim_table_row(step->table, peer->half, self);
    uint64_t *const origins = elim_table_scratch(step->table);
    memcpy(row, report->sums, report->sum_count * sizeof *row);
    if (peer->config.agent.has_grants) {
        struct tacit_elim_opening *const opening =
            elim_table_opening(step->table, peer->half, self);
        memcpy(opening->previous, report->commit->previous, sizeof opening->previous);
        memcpy(opening->salt, report->commit->salt, sizeof opening->salt);
    }
    if (peer->config.signs_rows)
        elim_peer_sign_row(step, peer->half, peer->epoch);
    step->update->persist_table = true;
    memset(origins, 0, set_bytes(peer));
    tacit_bits_add(origins, self);
    elim_peer_add_origins(step, origins);
    peer->round_end_us = step->now_us + peer->config.round_us;
    if (elim_peer_is_sink(peer) && peer->config.gather_timeout_us > 0)
        peer->gather_end_us = step->now_us + peer->config.gather_timeout_us;
    /* The first slot is now; a sink has to wait until the others' slot is over. */
    if (step->update->send || (elim_peer_is_sink(peer) && member_count(peer) > 1))
        wait_for_slot(step);
    else
        elim_peer_pass_on(step);
}

/* "Check whether it exists; if not, send a request" (Alg. 2 l. 8-9). */
static enum tacit_status on_advert(struct elim_peer_step *step,
                                   const struct tacit_elim_message *advert)
{
    TACIT_ASSERT(advert->origins != NULL);
    struct tacit_elim_peer *const peer = step->peer;
    if (!elim_peer_spreads(peer) || advert->epoch != peer->epoch)
        return TACIT_OK; /* the answer of a parent, or of an epoch that is closed here */
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    uint64_t *const asked = elim_peer_set(peer, ELIM_ASKED);
    uint64_t const *const members = elim_peer_set(peer, ELIM_MEMBERS);
    uint64_t *const wanted = elim_table_scratch(step->table);
    for (size_t i = 0; i < TACIT_BITS_WORDS(agent_count(peer)); i++) {
        wanted[i] = advert->origins[i] & members[i] & ~known[i] & ~asked[i];
        if (peer->confirms) /* what they say is known */
            wanted[i] &= ~elim_peer_differing(peer)[i];
    }
    tacit_bits_remove(wanted, peer->config.agent.agent_id); /* drawn here, and not granted yet */
    if (is_empty(peer, wanted))
        return TACIT_OK;
    (void)elim_peer_limit_rows(peer, wanted); /* the rest after the answer */
    for (size_t i = 0; i < TACIT_BITS_WORDS(agent_count(peer)); i++)
        asked[i] |= wanted[i];
    elim_peer_send(step, TACIT_ELIM_REQUEST, advert->from, peer->epoch)->origins = wanted;
    return TACIT_OK;
}

/* Whose reports of the present epoch, or of the one before, this peer can hand out. Over a graph
 * that is closed with those of all. */
static const uint64_t *set_to_hand_out(const struct tacit_elim_peer *peer, bool is_present)
{
    if (is_present)
        return elim_peer_set(peer, ELIM_KNOWN);
    return elim_peer_set(peer, elim_peer_spreads(peer) ? ELIM_MEMBERS : ELIM_PREVIOUS);
}

/* A HELLO after the last round: asks its sender for confirmations that are still missing here,
 * those already asked for among them, whose DATA may be lost: whoever has confirmed its own answer
 * has no timer for that any more. True: a REQUEST goes out. */
static bool ask_for_confirmations(struct elim_peer_step *step,
                                  const struct tacit_elim_message *hello)
{
    struct tacit_elim_peer *const peer = step->peer;
    if (!peer->confirms || hello->epoch != peer->epoch)
        return false;
    memset(elim_peer_set(peer, ELIM_ASKED), 0, set_bytes(peer));
    (void)on_advert(step, hello);
    return step->update->send;
}

/* A neighbour lacks something, or wants to hear what we have seen of it. */
static enum tacit_status on_hello(struct elim_peer_step *step,
                                  const struct tacit_elim_message *hello)
{
    TACIT_ASSERT(hello->origins != NULL);
    struct tacit_elim_peer const *const peer = step->peer;
    bool const is_present = hello->epoch == peer->epoch;
    if (ask_for_confirmations(step, hello))
        return TACIT_OK;
    if (!is_present && (hello->epoch > peer->epoch || peer->previous_epoch == 0))
        return TACIT_OK;
    uint64_t *const origins = copy_set(step, set_to_hand_out(peer, is_present));
    if (elim_peer_spreads(peer) && is_present)
        for (size_t i = 0; i < TACIT_BITS_WORDS(agent_count(peer)); i++)
            origins[i] &= ~hello->origins[i];
    if (is_empty(peer, origins) && peer->config.signs_rows) /* it may wait for what is held here */
        memcpy(origins, elim_peer_set(peer, ELIM_KNOWN), set_bytes(peer));
    if (is_empty(peer, origins))
        return TACIT_OK;
    elim_peer_send(step, TACIT_ELIM_ADVERT, hello->from,
                   is_present ? peer->epoch : peer->previous_epoch)
        ->origins = origins;
    return TACIT_OK;
}

static enum tacit_status on_request(struct elim_peer_step *step,
                                    const struct tacit_elim_message *request)
{
    TACIT_ASSERT(request->origins != NULL);
    TACIT_ASSERT(request->epoch > 0);
    struct tacit_elim_peer const *const peer = step->peer;
    bool const is_present = request->epoch == peer->epoch;
    if (!elim_peer_spreads(peer) ||
        (!is_present && (peer->previous_epoch == 0 || request->epoch != peer->previous_epoch)))
        return TACIT_UNEXPECTED;
    if (!tacit_bits_within(request->origins, set_to_hand_out(peer, is_present), agent_count(peer)))
        return TACIT_UNEXPECTED; /* more than was advertised */
    if (peer->config.rows_max > 0 &&
        tacit_bits_count(request->origins, agent_count(peer)) > peer->config.rows_max)
        return TACIT_REFUSED;
    send_data(step, request->from, request->epoch, copy_set(step, request->origins));
    return TACIT_OK;
}

bool elim_peer_is_same_row(const struct elim_peer_step *step, const struct tacit_elim_message *data,
                           uint32_t origin, uint32_t rank, uint32_t half)
{
    union tacit_sum const *const row = elim_table_row(step->table, half, origin);
    size_t const bytes = data->sum_count * sizeof *row;
    if (bytes > 0 && memcmp(elim_message_row(data, origin, rank), row, bytes) != 0)
        return false;
    if (!step->peer->config.signs_rows)
        return true;
    struct tacit_elim_opening const *const here = elim_table_opening(step->table, half, origin);
    struct tacit_elim_opening const *const there = elim_message_opening(data, origin, rank);
    return memcmp(here->previous, there->previous, sizeof here->previous) == 0 &&
           memcmp(here->salt, there->salt, sizeof here->salt) == 0;
}

/* Are its rows those of the table that this peer shares with the sender? */
static bool rows_are_here(const struct elim_peer_step *step, const struct tacit_elim_message *data)
{
    return data->row_stride > 0 && data->sums == elim_table_row(step->table, step->peer->half, 0);
}

/* A row that is not here yet: could it be, and was it granted? Who is to blame if not is in
 * step->culprit. */
static enum tacit_status check_new_row(struct elim_peer_step *step,
                                       const struct tacit_elim_message *data, uint32_t origin,
                                       uint32_t rank)
{
    TACIT_ASSERT(origin < agent_count(step->peer));
    TACIT_ASSERT(rank <= origin);
    struct tacit_elim_peer const *const peer = step->peer;
    if (peer->config.signs_rows && !elim_peer_row_is_signed(step, data, origin, rank))
        return TACIT_MALFORMED;
    union tacit_sum const *const sums =
        data->sum_count == 0 ? NULL : elim_message_row(data, origin, rank);
    step->culprit = peer->config.signs_rows ? origin : data->from;
    for (uint32_t i = 0; i < data->sum_count; i++)
        if (!tacit_mechanism_plausible(&peer->config.agent.mechanism, sums[i], data->pulls,
                                       data->epoch))
            return TACIT_MALFORMED;
    enum tacit_status const status = peer->config.agent.has_grants && !peer->confirms
                                         ? elim_peer_check_opening(step, data, origin, rank)
                                         : TACIT_OK;
    /* Without signed rows, who passes a row on cannot know what it was: nobody is blamed for it. */
    return status == TACIT_FORKED && !peer->config.signs_rows && origin != data->from
               ? TACIT_MALFORMED
               : status;
}

bool elim_peer_is_of_half(const struct tacit_elim_peer *peer, const struct tacit_elim_message *data,
                          uint32_t half)
{
    uint32_t const arm_count = peer->config.agent.arm_count;
    uint64_t const *const arms = elim_peer_arms(peer, half);
    return data->arms != NULL && (data->sums != NULL || data->sum_count == 0) &&
           data->is_signed == peer->config.signs_rows &&
           data->sum_count == tacit_bits_count(arms, arm_count) &&
           data->pulls == peer->pulls[half] &&
           (data->openings != NULL) == peer->config.agent.has_grants &&
           memcmp(data->arms, arms, TACIT_BITS_WORDS(arm_count) * sizeof(uint64_t)) == 0;
}

/* Nothing of a message is used in part. */
static enum tacit_status check_data(struct elim_peer_step *step,
                                    const struct tacit_elim_message *data)
{
    TACIT_ASSERT(data->epoch == step->peer->epoch);
    struct tacit_elim_peer const *const peer = step->peer;
    uint32_t const agents = agent_count(peer);
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    if (!elim_peer_is_of_half(peer, data, peer->half))
        return TACIT_MALFORMED;
    if (rows_are_here(step, data))
        return TACIT_OK;
    uint32_t rank = 0;
    TACIT_BITS_EACH (origin, data->origins, agents) {
        bool const is_here = tacit_bits_has(known, origin);
        if (is_here && !elim_peer_is_same_row(step, data, origin, rank, peer->half))
            return peer->config.signs_rows ? elim_peer_prove(step, data, origin, rank, peer->half)
                                           : TACIT_MALFORMED; /* two answers to one question */
        if (!is_here)
            TACIT_TRY(check_new_row(step, data, origin, rank));
        rank++;
    }
    return TACIT_OK;
}

/* Only what was asked for; on the way to a sink, anything but from the parent's side. */
static bool is_asked_for(const struct tacit_elim_peer *peer, const struct tacit_elim_message *data)
{
    uint32_t const agents = agent_count(peer);
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    uint64_t const *const asked = elim_peer_set(peer, ELIM_ASKED);
    uint64_t const *const members = elim_peer_set(peer, ELIM_MEMBERS);
    if (!elim_peer_spreads(peer))
        return data->from != peer->config.parent &&
               (is_empty(peer, members) || tacit_bits_within(data->origins, members, agents));
    for (size_t i = 0; i < TACIT_BITS_WORDS(agents); i++)
        if ((data->origins[i] & ~known[i] & ~asked[i]) != 0)
            return false;
    return true;
}

/* Copies the rows that are new. Returns whether there are any. */
static bool copy_rows(struct elim_peer_step *step, const struct tacit_elim_message *data)
{
    TACIT_ASSERT(!step->peer->closed);
    struct tacit_elim_peer *const peer = step->peer;
    uint32_t const agents = agent_count(peer);
    if (tacit_bits_within(data->origins, elim_peer_set(peer, ELIM_KNOWN), agents))
        return false;
    if (rows_are_here(step, data))
        return true;
    uint32_t rank = 0;
    TACIT_BITS_EACH (origin, data->origins, agents) {
        bool const is_new = !knows(peer, origin);
        if (is_new && data->sum_count > 0)
            memcpy(elim_table_row(step->table, peer->half, origin),
                   elim_message_row(data, origin, rank), data->sum_count * sizeof *data->sums);
        if (is_new && peer->config.agent.has_grants)
            *elim_table_opening(step->table, peer->half, origin) =
                *elim_message_opening(data, origin, rank);
        rank++;
    }
    step->update->persist_table = true;
    return true;
}

/* Does it bring a report of ours that was not granted here? */
static bool brings_ours(const struct tacit_elim_peer *peer, const struct tacit_elim_message *data)
{
    uint32_t const self = peer->config.agent.agent_id;
    return peer->config.agent.has_grants && tacit_bits_has(data->origins, self) &&
           !knows(peer, self);
}

/* Does it carry as many rows as we ask for at once? */
static bool is_full(const struct tacit_elim_peer *peer, const struct tacit_elim_message *data)
{
    return elim_peer_spreads(peer) && peer->config.rows_max > 0 &&
           tacit_bits_count(data->origins, agent_count(peer)) >= peer->config.rows_max;
}

static enum tacit_status on_data(struct elim_peer_step *step, const struct tacit_elim_message *data)
{
    TACIT_ASSERT(data->origins != NULL);
    struct tacit_elim_peer *const peer = step->peer;
    if (data->epoch < peer->epoch)
        return TACIT_OK; /* late: that epoch is closed here */
    if (data->epoch > peer->epoch || !is_asked_for(peer, data) || brings_ours(peer, data))
        return TACIT_UNEXPECTED;
    enum tacit_status const status = check_data(step, data);
    if (status == TACIT_OK && peer->confirms && !elim_peer_check_confirmations(step, data))
        return TACIT_OK;
    if (status == TACIT_FORKED || status == TACIT_ROLLBACK)
        return elim_peer_blame(step, elim_peer_rank(peer, step->culprit), status == TACIT_FORKED);
    if (status != TACIT_OK || peer->proof_epoch > 0)
        return status;
    if (!peer->closed && copy_rows(step, data)) {
        elim_peer_add_origins(step, data->origins);
        wait_for_slot(step);
        if (is_full(peer, data) && peer->missing_count > 0) /* it may hold more than it could say */
            elim_peer_send(step, TACIT_ELIM_HELLO, data->from, peer->epoch)->origins =
                elim_peer_set(peer, ELIM_KNOWN);
    } else if (!elim_peer_spreads(peer)) { /* said again: the child does not know that it came */
        elim_peer_send(step, TACIT_ELIM_ADVERT, data->from, peer->epoch)->origins =
            elim_peer_set(peer, ELIM_KNOWN);
    }
    return TACIT_OK;
}

/* ---- Neighbours ---- */

uint32_t elim_peer_rank(const struct tacit_elim_peer *peer, uint32_t agent)
{
    uint32_t low = 0;
    uint32_t high = peer->config.neighbour_count;
    uint32_t const *const neighbours = elim_peer_neighbours(peer);
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (neighbours[middle] < agent)
            low = middle + 1;
        else
            high = middle;
    }
    return low < peer->config.neighbour_count && neighbours[low] == agent
               ? low
               : peer->config.neighbour_count;
}

/* Rows that it asks for. */
static uint32_t rows_wanted(const struct tacit_elim_peer *peer,
                            const struct tacit_elim_message *message)
{
    return message->kind == TACIT_ELIM_REQUEST
               ? tacit_bits_count(message->origins, agent_count(peer))
               : 0;
}

/* A neighbour can make us work only so much within an epoch, or within the longest honest pauses.
 * Nothing is counted here: what is refused leaves the state as it was. */
static bool is_too_much(const struct elim_peer_step *step, uint32_t neighbour,
                        const struct tacit_elim_message *message)
{
    TACIT_ASSERT(neighbour < step->peer->config.neighbour_count);
    struct tacit_elim_peer const *const peer = step->peer;
    uint64_t const agents = agent_count(peer);
    bool const is_over =
        step->now_us - peer->work_since_us >= 64 * peer->config.agent.resend_after_us;
    struct elim_peer_work const work =
        is_over ? (struct elim_peer_work){0} : elim_peer_work(peer)[neighbour];
    return work.messages >= 4 * agents + 1024 ||
           work.rows + rows_wanted(peer, message) > 8 * agents + 1024;
}

/* The message was heard. */
static void count_work(struct elim_peer_step *step, uint32_t neighbour,
                       const struct tacit_elim_message *message)
{
    TACIT_ASSERT(neighbour < step->peer->config.neighbour_count);
    struct tacit_elim_peer *const peer = step->peer;
    struct elim_peer_work *const work = elim_peer_work(peer);
    if (step->now_us - peer->work_since_us >= 64 * peer->config.agent.resend_after_us) {
        memset(work, 0, peer->config.neighbour_count * sizeof *work);
        peer->work_since_us = step->now_us;
    }
    work[neighbour].messages++;
    work[neighbour].rows += rows_wanted(peer, message);
}

/* Does it tell of a report of ours that this state did not make? */
static bool shows_later_state(const struct tacit_elim_peer *peer,
                              const struct tacit_elim_message *message)
{
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    uint32_t const self = peer->config.agent.agent_id;
    /* An order without pulls is answered by an older release. Of what is drawn and not granted the
     * grantors decide. */
    bool const is_made =
        message->epoch <= agent->draw_epoch || (message->epoch == peer->epoch && knows(peer, self));
    return tacit_bits_has(message->origins, self) && !is_made &&
           message->kind != TACIT_ELIM_REQUEST && !message->history.is_last;
}

/* Does it speak of an epoch that could not have come without our report of this one? Then either
 * this state is an old copy, or the neighbour lies. Whoever is ahead holds that report, and says so
 * when it is asked (shows_later_state); whoever only names an epoch stops nobody. */
static bool skips_our_report(const struct tacit_elim_peer *peer,
                             const struct tacit_elim_message *message)
{
    struct tacit_elim_agent const *const agent = elim_peer_agent(peer);
    return elim_peer_spreads(peer) && elim_peer_is_member(peer, peer->config.agent.agent_id) &&
           message->epoch > peer->epoch && agent->release_epoch < peer->epoch;
}

/* Of a commitment, not of agents' reports. */
static bool is_of_commitment(const struct tacit_elim_message *message)
{
    return message->kind == TACIT_ELIM_COMMIT || message->kind == TACIT_ELIM_GRANT ||
           message->kind == TACIT_ELIM_REFUSAL;
}

static enum tacit_status check_message(const struct elim_peer_step *step, uint32_t neighbour,
                                       const struct tacit_elim_message *message)
{
    struct tacit_elim_peer const *const peer = step->peer;
    if (message->run_id != peer->config.agent.run_id ||
        message->term != elim_peer_agent(peer)->term || neighbour == peer->config.neighbour_count ||
        (message->to != peer->config.agent.agent_id && message->to != TACIT_NEIGHBOURS))
        return TACIT_STRANGER;
    if (is_of_commitment(message) || message->kind == TACIT_ELIM_PROOF)
        return is_too_much(step, neighbour, message) ? TACIT_REFUSED : TACIT_OK;
    if (peer->config.signs_rows != message->has_history)
        return TACIT_MALFORMED;
    if (message->origins == NULL || message->epoch > TACIT_ELIM_EPOCHS_MAX ||
        !tacit_bits_within(message->origins, message->origins, agent_count(peer)))
        return TACIT_MALFORMED;
    if (message->kind != TACIT_ELIM_HELLO &&
        (message->epoch == 0 || is_empty(peer, message->origins)))
        return TACIT_MALFORMED; /* of nothing, or of nobody */
    if (is_too_much(step, neighbour, message))
        return TACIT_REFUSED;
    return shows_later_state(peer, message) ? TACIT_ROLLBACK : TACIT_OK;
}

static enum tacit_status on_message(struct elim_peer_step *step, uint32_t neighbour,
                                    const struct tacit_elim_message *message)
{
    enum tacit_status compared = TACIT_OK;
    if (is_of_commitment(message))
        return elim_peer_on_commitment(step, neighbour, message);
    if (message->kind == TACIT_ELIM_PROOF)
        return elim_peer_on_proof(step, message);
    if (step->peer->config.signs_rows &&
        elim_peer_compare_history(step, neighbour, message, &compared))
        return compared;
    if (skips_our_report(step->peer, message)) {
        elim_peer_send(step, TACIT_ELIM_HELLO, TACIT_NEIGHBOURS, step->peer->epoch)->origins =
            elim_peer_set(step->peer, ELIM_KNOWN);
        return TACIT_OK;
    }
    switch (message->kind) {
    case TACIT_ELIM_HELLO: {
        enum tacit_status const status = elim_peer_read_head(step, neighbour, message);
        bool const is_answered = status != TACIT_OK || step->update->send;
        return is_answered ? status : on_hello(step, message);
    }
    case TACIT_ELIM_ADVERT:
        return on_advert(step, message);
    case TACIT_ELIM_REQUEST:
        return on_request(step, message);
    case TACIT_ELIM_DATA:
        return on_data(step, message);
    case TACIT_ELIM_ORDER:
    case TACIT_ELIM_REPORT:
    case TACIT_ELIM_COMMIT:
    case TACIT_ELIM_GRANT:
    case TACIT_ELIM_REFUSAL:
    case TACIT_ELIM_PROOF:
        break; /* those are the hub's, or were heard */
    }
    return TACIT_UNEXPECTED;
}

/* With signed rows, what a message shows is checked first: of a refused one nothing stays. */
static enum tacit_status on_message_or_undo(struct elim_peer_step *step, uint32_t neighbour,
                                            const struct tacit_elim_message *message)
{
    struct tacit_elim_peer const *const peer = step->peer;
    if (!peer->config.signs_rows)
        return on_message(step, neighbour, message);
    uint64_t *const agreeing = elim_peer_agreeing(peer);
    uint64_t *const differing = elim_peer_differing(peer);
    bool const agreed = tacit_bits_has(agreeing, neighbour);
    bool const differed = tacit_bits_has(differing, message->from);
    enum tacit_status const status = on_message(step, neighbour, message);
    if (status == TACIT_OK || status == TACIT_FORKED)
        return status;
    if (agreed == tacit_bits_has(agreeing, neighbour) &&
        differed == tacit_bits_has(differing, message->from))
        return status;
    if (!agreed)
        tacit_bits_remove(agreeing, neighbour);
    if (!differed)
        tacit_bits_remove(differing, message->from);
    step->update->persist = false;
    return status;
}

enum tacit_status elim_peer_on_neighbour(struct elim_peer_step *step,
                                         const struct tacit_elim_message *message,
                                         uint32_t *seen_epoch)
{
    struct tacit_elim_peer *const peer = step->peer;
    uint32_t const neighbour = elim_peer_rank(peer, message->from);
    enum tacit_status status = check_message(step, neighbour, message);
    if (status == TACIT_ROLLBACK)
        *seen_epoch = message->epoch;
    if (status == TACIT_OK)
        status = on_message_or_undo(step, neighbour, message);
    if (status != TACIT_OK && status != TACIT_FORKED)
        return status;
    count_work(step, neighbour, message);
    if (!is_of_commitment(message) && message->kind != TACIT_ELIM_PROOF) /* heard in any epoch */
        peer->is_behind = peer->is_behind || message->epoch > peer->epoch;
    return status;
}

/* ---- Aggregation ---- */

/* Of the arms that are in; of the others a mean stays as it was. */
void elim_peer_aggregate(struct elim_peer_step *step)
{
    TACIT_ASSERT(step->peer->missing_count == 0);
    TACIT_ASSERT(step->peer->config.collection == TACIT_ELIM_SPREAD);
    TACIT_ASSERT(step->peer->pulls[step->peer->half] > 0);
    struct tacit_elim_peer const *const peer = step->peer;
    struct elim_judge_parts const judge = elim_peer_judge(peer);
    struct tacit_scale const *const scale = &peer->config.agent.mechanism.scale;
    bool const is_exact = elim_is_exact(&peer->config.schedule);
    uint32_t const arm_count = peer->config.agent.arm_count;
    uint32_t const agents = agent_count(peer);
    uint64_t const *const arms = elim_peer_arms(peer, peer->half);
    uint64_t const *const known = elim_peer_set(peer, ELIM_KNOWN);
    int64_t *const totals = is_exact ? elim_judge_totals(&judge) : NULL;
    double const members = member_count(peer);
    for (uint32_t arm = 0; arm < arm_count; arm++)
        if (is_exact)
            totals[arm] = 0;
        else if (tacit_bits_has(arms, arm))
            judge.means[arm] = 0;
    TACIT_BITS_EACH (origin, known, agents) {
        union tacit_sum const *sum = elim_table_row(step->table, peer->half, origin);
        TACIT_BITS_EACH (arm, arms, arm_count) {
            if (is_exact) /* integers, as they are */
                totals[arm] += sum->steps;
            else
                judge.means[arm] += tacit_sum_mean(scale, *sum, peer->pulls[peer->half]);
            sum++;
        }
    }
    TACIT_BITS_EACH (arm, arms, is_exact ? 0 : arm_count)
        judge.means[arm] /= members;
}

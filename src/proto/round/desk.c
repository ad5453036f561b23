/* Who has spoken in the round that stands, and what each message is worth: once for all hubs. */
#include "desk.h"
#include <string.h>

static size_t set_bytes(const struct round_hub *hub)
{
    return TACIT_BITS_WORDS(hub->site_count) * sizeof(uint64_t);
}

static uint32_t asked_count(const struct round_hub *hub)
{
    return hub->asked == NULL ? hub->site_count : tacit_bits_count(hub->asked, hub->site_count);
}

static struct round_verdict verdict_of(enum tacit_status status, enum round_answer answer)
{
    return (struct round_verdict){.status = status, .answer = answer};
}

/* ---- Messages ---- */

enum tacit_status round_hub_check(const struct round_hub *hub,
                                  const struct tacit_round_message *message)
{
    if (message->run_id != hub->run_id || message->to != TACIT_HUB ||
        message->from >= hub->site_count || message->term < hub->desk->term)
        return TACIT_STRANGER;
    return message->term > hub->desk->term ? TACIT_ROLLBACK : TACIT_OK;
}

struct round_verdict round_hub_greet(const struct round_hub *hub,
                                     const struct tacit_round_message *hello)
{
    bool const shows_head =
        hub->grantor.heads != NULL && hello->commit != NULL && hello->round == hub->round;
    if (hub->desk->phase == ROUND_NEW)
        return verdict_of(TACIT_UNEXPECTED, ROUND_NOTHING);
    if (hello->round > hub->round)
        return verdict_of(TACIT_ROLLBACK, ROUND_NOTHING);
    if (shows_head) {
        struct round_verdict const verdict =
            round_grantor_greet(&hub->grantor, hello->from, hello->commit->commitment, true);
        if (verdict.status != TACIT_OK)
            return verdict;
    }
    return verdict_of(TACIT_OK,
                      hello->round < hub->round || hub->answers_all ? ROUND_ORDER : ROUND_NOTHING);
}

enum tacit_status round_hub_check_commit(const struct round_hub *hub,
                                         const struct tacit_round_message *commit)
{
    if (hub->grantor.heads == NULL || hub->desk->phase == ROUND_NEW)
        return TACIT_UNEXPECTED;
    if (commit->commit == NULL || commit->round == 0 || commit->round > hub->round_max)
        return TACIT_MALFORMED;
    return commit->round > hub->round ? TACIT_ROLLBACK : TACIT_OK;
}

struct round_verdict round_hub_ask(const struct round_hub *hub,
                                   const struct tacit_round_message *commit)
{
    return round_grantor_ask(&hub->grantor, commit->from, commit->commit);
}

struct round_verdict round_hub_check_report(const struct round_hub *hub,
                                            const struct tacit_round_message *report)
{
    bool const is_dropped = hub->dropped != NULL && tacit_bits_has(hub->dropped, report->from);
    if (report->round == 0 || report->round > hub->round_max)
        return verdict_of(TACIT_MALFORMED, ROUND_NOTHING);
    if (report->round < hub->round ||
        (report->round == hub->round && (hub->desk->phase == ROUND_CLOSED || is_dropped)))
        return verdict_of(TACIT_OK, ROUND_ORDER);
    if (hub->desk->phase != ROUND_NEW && report->round > hub->round)
        return verdict_of(TACIT_ROLLBACK, ROUND_NOTHING);
    return verdict_of(hub->desk->phase == ROUND_COLLECTING ? TACIT_OK : TACIT_UNEXPECTED,
                      ROUND_NOTHING);
}

struct round_verdict round_hub_open(const struct round_hub *hub,
                                    const struct tacit_round_message *report,
                                    const uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_commit_scope const scope = {.domain = hub->domain,
                                             .run_id = hub->run_id,
                                             .site = report->from,
                                             .epoch = report->round,
                                             .is_numbered = hub->is_numbered};
    if (hub->grantor.heads == NULL)
        return verdict_of(TACIT_OK, ROUND_NOTHING);
    return round_grantor_open(&hub->grantor, &scope, report->commit, digest);
}

void round_hub_add_report(const struct round_hub *hub, const struct tacit_round_message *report,
                          uint32_t sites)
{
    TACIT_ASSERT(!tacit_bits_has(hub->received, report->from));
    TACIT_ASSERT(hub->desk->missing_count > 0);
    TACIT_ASSERT(hub->desk->covered_count + sites <= hub->site_count);
    tacit_bits_add(hub->received, report->from);
    hub->seen[report->from] = report->round;
    hub->desk->missing_count--;
    hub->desk->covered_count += sites;
}

struct tacit_round_message round_hub_answer(const struct round_hub *hub,
                                            const struct tacit_round_message *message,
                                            const struct round_verdict *verdict)
{
    TACIT_ASSERT(verdict->answer == ROUND_GRANT || verdict->answer == ROUND_REFUSAL);
    TACIT_ASSERT(message->from < hub->site_count);
    struct tacit_commit *const answer = &hub->desk->answer;
    bool const is_open = hub->desk->phase == ROUND_COLLECTING && message->round == hub->round;
    memset(answer, 0, sizeof *answer);
    memcpy(answer->commitment, hub->grantor.heads[message->from].head, sizeof answer->commitment);
    return (struct tacit_round_message){.from = TACIT_HUB,
                                        .to = message->from,
                                        .run_id = hub->run_id,
                                        .term = hub->desk->term,
                                        .round = message->round,
                                        .commit = answer,
                                        .closed = verdict->answer == ROUND_GRANT && !is_open,
                                        .forgot = verdict->is_unknown};
}

/* ---- Rounds ---- */

/* The round that stands waits for all who are asked: it begins, or a term asks them anew. */
static void await(const struct round_hub *hub, bool is_last)
{
    memset(hub->received, 0, set_bytes(hub));
    hub->desk->missing_count = is_last ? 0 : asked_count(hub);
    hub->desk->covered_count = 0;
    hub->desk->overdue = false;
    hub->desk->phase = is_last ? ROUND_FINISHED : ROUND_COLLECTING;
    TACIT_ASSERT(is_last == (hub->desk->missing_count == 0));
}

void round_hub_await(const struct round_hub *hub, bool is_last)
{
    TACIT_IMPLIES(hub->next != NULL, hub->asked != NULL);
    if (hub->next != NULL) {
        memcpy(hub->asked, hub->next, set_bytes(hub));
        memset(hub->next, 0, set_bytes(hub)); /* scratch stays clean */
        if (is_last)
            memset(hub->asked, 0, set_bytes(hub)); /* nobody is asked any more */
    }
    await(hub, is_last);
}

void round_hub_close(const struct round_hub *hub)
{
    TACIT_ASSERT(hub->may_rest || hub->has_helper);
    TACIT_ASSERT(hub->desk->phase == ROUND_COLLECTING);
    hub->desk->missing_count = 0;
    hub->desk->overdue = false;
    hub->desk->phase = ROUND_CLOSED;
}

void round_hub_begin_term(const struct round_hub *hub, uint64_t term)
{
    TACIT_ASSERT(term > hub->desk->term);
    hub->desk->term = term;
    memset(hub->seen, 0, hub->site_count * sizeof *hub->seen);
    if (hub->desk->phase == ROUND_CLOSED && !hub->has_helper)
        memset(hub->received, 0, set_bytes(hub));
    else if (hub->desk->phase != ROUND_NEW)
        await(hub, hub->desk->phase == ROUND_FINISHED);
    if (hub->grantor.heads != NULL)
        round_grantor_forget(&hub->grantor);
}

bool round_hub_waits_for_dropped(const struct round_hub *hub)
{
    if (hub->dropped == NULL || hub->desk->phase != ROUND_COLLECTING)
        return false;
    for (uint32_t site = 0; site < hub->site_count; site++)
        if ((hub->asked == NULL || tacit_bits_has(hub->asked, site)) &&
            !tacit_bits_has(hub->received, site) && !tacit_bits_has(hub->dropped, site))
            return false;
    return true;
}

bool round_desk_is_complete(const struct round_desk *desk, uint32_t reports, uint32_t sites,
                            uint32_t quorum)
{
    return desk->missing_count <= reports ||
           (desk->overdue && desk->covered_count + sites >= quorum);
}

bool round_desk_is_due(const struct round_desk *desk, uint64_t now_us)
{
    return desk->phase == ROUND_COLLECTING && !desk->overdue && now_us >= desk->deadline_us;
}

bool round_desk_expire(struct round_desk *desk, uint32_t quorum)
{
    TACIT_ASSERT(desk->phase == ROUND_COLLECTING);
    TACIT_ASSERT(!desk->overdue);
    desk->overdue = true;
    if (round_desk_is_complete(desk, 0, 0, quorum))
        return true;
    desk->deadline_us = TACIT_NEVER; /* from now on it is up to the reports */
    return false;
}

void round_desk_end_step(struct round_desk *desk, uint64_t now_us, uint64_t timeout_us,
                         bool is_new_round, bool is_start)
{
    bool const waits = desk->phase == ROUND_COLLECTING && !desk->overdue && timeout_us > 0;
    desk->now_us = now_us;
    if (is_new_round || is_start)
        desk->deadline_us =
            round_deadline_us(waits, is_new_round, now_us, timeout_us, desk->deadline_us);
}

struct tacit_round_hub_view round_hub_view(const struct round_hub *hub)
{
    return (struct tacit_round_hub_view){.round = hub->round,
                                         .reports_missing = hub->desk->missing_count,
                                         .report_count =
                                             tacit_bits_count(hub->received, hub->site_count),
                                         .covered_count = hub->desk->covered_count,
                                         .finished = hub->desk->phase == ROUND_FINISHED,
                                         .overdue = hub->desk->overdue,
                                         .term = hub->desk->term,
                                         .received = hub->received,
                                         .seen = hub->seen,
                                         .flagged = hub->grantor.flagged,
                                         .ahead = hub->grantor.ahead};
}

/* ---- States ---- */

void round_desk_walk(struct base_walk *walk, struct round_desk *desk, uint32_t asked)
{
    uint32_t phase = desk->phase;
    base_walk_number(walk, &phase);
    if (!walk->reads)
        return;
    desk->phase = (enum round_phase)phase; /* the check knows which there are */
    desk->missing_count = phase == ROUND_COLLECTING ? asked : 0;
}

void round_hub_check_invariants(const struct round_hub *hub)
{
    struct round_desk const *const desk = hub->desk;
    TACIT_ASSERT(desk->missing_count <= hub->site_count);
    TACIT_ASSERT(desk->covered_count <= hub->site_count);
    TACIT_ASSERT((desk->phase == ROUND_COLLECTING) == (desk->missing_count > 0));
    TACIT_ASSERT((desk->phase == ROUND_NEW) == (hub->round == 0));
    TACIT_IMPLIES(desk->overdue, desk->phase == ROUND_COLLECTING);
}

/* The report of this round is here from some of those who were asked, and from nobody else. */
static bool reports_are_possible(const struct round_hub *hub)
{
    uint64_t const *const among = hub->asked == NULL ? hub->received : hub->asked;
    if (!tacit_bits_within(among, among, hub->site_count) ||
        !tacit_bits_within(hub->received, among, hub->site_count))
        return false;
    for (uint32_t site = 0; site < hub->site_count; site++) {
        bool const is_here = tacit_bits_has(hub->received, site);
        if (hub->seen[site] > hub->round ||
            (hub->round > 0 && (hub->seen[site] == hub->round) != is_here))
            return false;
    }
    return true;
}

bool round_hub_is_possible(const struct round_hub *hub)
{
    struct round_desk const *const desk = hub->desk;
    if (!base_truth_is_possible(&desk->overdue) ||
        desk->phase > (hub->may_rest || hub->has_helper ? ROUND_CLOSED : ROUND_FINISHED) ||
        (desk->phase == ROUND_NEW) != (hub->round == 0) || !reports_are_possible(hub))
        return false;
    bool const collects = desk->phase == ROUND_COLLECTING;
    uint32_t const here = tacit_bits_count(hub->received, hub->site_count);
    uint32_t const asked = collects ? asked_count(hub) : desk->phase == ROUND_CLOSED ? here : 0;
    return desk->missing_count == asked - here && collects == (desk->missing_count > 0) &&
           (collects || !desk->overdue) &&
           (hub->grantor.heads == NULL || round_grantor_is_possible(&hub->grantor));
}

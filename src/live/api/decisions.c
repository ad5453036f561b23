/* Bookkeeping of decisions: a table by id, one by idempotency key, one of units, a queue of
 * deadlines, and for each arm what the core lacks and what is open. The unserved pulls of an arm
 * are always computed from those two, so they cannot drift. */
#include "decisions.h"
#include "../daemon/deadlines.h"
#include "id_table.h"
#include "pull_tree.h"
#include <stdlib.h>
#include <string.h>

struct entry {
    struct live_deadline deadline; /* first: the queue's item is the entry */
    struct live_decision_row row;  /* its texts lie behind the entry */
    struct entry *before;          /* open planned decisions of the same arm, by number */
    struct entry *after;
    struct entry *older; /* all open decisions, by number; or all closed ones, as they closed */
    struct entry *newer;
    uint64_t *caller_open; /* where the caller's open decisions are counted; NULL: nowhere */
    bool is_handed_over;   /* being kept elsewhere, too */
};

struct unit {
    struct unit *before; /* got its arm before this one */
    struct unit *after;
    uint32_t arm;
    char text[];
};

struct arm {
    uint64_t lacking; /* pulls whose reward the core lacks */
    uint64_t open;    /* of them, given to somebody */
    uint64_t missed;  /* places that were given out again, in this run */
    struct entry *first;
    struct entry *last;
};

struct live_decisions {
    struct live_decisions_config config;
    uint64_t seed;
    struct live_table numbers;
    struct live_table keys;
    struct live_table units;
    struct unit *oldest_unit;
    struct unit *newest_unit;
    struct unit *forgotten_unit; /* its text is in the latest answer */
    struct entry *oldest;        /* open */
    struct entry *newest;
    struct entry *closed_first;
    struct entry *closed_last;
    struct entry
        *closed_here;      /* the first that was not handed over: all behind it were not either */
    uint32_t closed_count; /* from it on */
    struct live_wait wait;
    uint64_t missed_count;   /* of all arms */
    uint64_t waits_since_ms; /* UINT64_MAX: the plan has places left, or none is open */
    struct live_deadlines deadlines;
    struct live_pull_tree unserved;
    struct arm *arms;
    uint64_t *lacking; /* room for a plan while it is taken in */
    uint64_t next_number;
    uint32_t open_planned;
    uint32_t open_other;
};

/* ---- Helpers --------------------------------------------------------------------------------- */

/* UINT64_MAX: never. */
static uint64_t later(uint64_t now_ms, uint64_t more_ms)
{
    return now_ms > UINT64_MAX - more_ms ? UINT64_MAX : now_ms + more_ms;
}

static bool text_is_allowed(const char *text)
{
    return text == NULL ||
           (text[0] != '\0' && strnlen(text, LIVE_KEY_BYTES_MAX + 1) <= LIVE_KEY_BYTES_MAX);
}

static bool same_number(const void *item, const void *wanted)
{
    const struct entry *const entry = item;
    const uint64_t *const number = wanted;
    return entry->row.number == *number;
}

static bool same_key(const void *item, const void *wanted)
{
    const struct entry *const entry = item;
    return strcmp(entry->row.key, wanted) == 0;
}

static bool same_unit(const void *item, const void *wanted)
{
    const struct unit *const unit = item;
    return strcmp(unit->text, wanted) == 0;
}

static struct entry *find_number(const struct live_decisions *decisions, uint64_t number)
{
    return live_table_find(&decisions->numbers, live_hash_u64(decisions->seed, number), same_number,
                           &number);
}

static struct entry *find_id(const struct live_decisions *decisions, struct live_decision_id id)
{
    struct entry *const entry = find_number(decisions, id.number);
    return entry != NULL && entry->row.salt == id.salt ? entry : NULL;
}

static struct entry *find_key(const struct live_decisions *decisions, const char *key)
{
    return key == NULL ? NULL
                       : live_table_find(&decisions->keys, live_hash_text(decisions->seed, key),
                                         same_key, key);
}

static struct unit *find_unit(const struct live_decisions *decisions, const char *text)
{
    return text == NULL ? NULL
                        : live_table_find(&decisions->units, live_hash_text(decisions->seed, text),
                                          same_unit, text);
}

static struct unit *new_unit(const char *text, uint32_t arm)
{
    size_t const size = strlen(text) + 1;
    struct unit *const unit = malloc(sizeof *unit + size);
    if (unit == NULL)
        return NULL;
    *unit = (struct unit){.arm = arm};
    memcpy(unit->text, text, size);
    return unit;
}

/* A copy of the row, its texts and bytes behind the entry, so that free() frees all. In no list
 * yet. */
static struct entry *new_entry(const struct live_decision_row *row)
{
    size_t const key_size = row->key == NULL ? 0 : strlen(row->key) + 1;
    size_t const unit_size = row->unit == NULL ? 0 : strlen(row->unit) + 1;
    struct entry *const entry = malloc(sizeof *entry + key_size + unit_size + row->kept_size);
    if (entry == NULL)
        return NULL;
    char *const texts = (char *)(entry + 1);
    *entry =
        (struct entry){.deadline = {.when_ms = row->deadline_ms, .id = row->number}, .row = *row};
    if (row->key != NULL)
        entry->row.key = memcpy(texts, row->key, key_size);
    if (row->unit != NULL)
        entry->row.unit = memcpy(texts + key_size, row->unit, unit_size);
    if (row->kept_size > 0)
        entry->row.kept = memcpy(texts + key_size + unit_size, row->kept, row->kept_size);
    return entry;
}

/* A decision whose place waits for its time is as good as open: the place is not filled. */
static bool is_open(const struct entry *entry)
{
    return entry->row.state == LIVE_DECISION_OPEN || entry->row.state == LIVE_DECISION_HELD;
}

static bool is_open_planned(const struct entry *entry)
{
    return is_open(entry) && entry->row.kind == LIVE_DECISION_PLANNED;
}

/* ---- The account of one arm ------------------------------------------------------------------ */

/* More can be open than the core lacks only between the restored rows and the first plan. */
static void refresh_unserved(struct live_decisions *decisions, uint32_t arm_index)
{
    const struct arm *const arm = &decisions->arms[arm_index];
    live_pull_tree_set(&decisions->unserved, arm_index,
                       arm->lacking > arm->open ? arm->lacking - arm->open : 0);
}

/* Into the list of its arm, by number; new decisions and rows restored in order cost O(1). */
static void link_planned(struct live_decisions *decisions, struct entry *entry)
{
    struct arm *const arm = &decisions->arms[entry->row.arm];
    struct entry *before = arm->last;
    while (before != NULL && before->row.number > entry->row.number)
        before = before->before;
    entry->before = before;
    entry->after = before == NULL ? arm->first : before->after;
    *(entry->before == NULL ? &arm->first : &entry->before->after) = entry;
    *(entry->after == NULL ? &arm->last : &entry->after->before) = entry;
    arm->open++;
    decisions->open_planned++;
    refresh_unserved(decisions, entry->row.arm);
}

/* Its arm's unserved pulls are the caller's to refresh. */
static void unlink_planned(struct live_decisions *decisions, struct entry *entry)
{
    struct arm *const arm = &decisions->arms[entry->row.arm];
    TACIT_ASSERT(arm->open > 0);
    TACIT_ASSERT(decisions->open_planned > 0);
    *(entry->before == NULL ? &arm->first : &entry->before->after) = entry->after;
    *(entry->after == NULL ? &arm->last : &entry->after->before) = entry->before;
    entry->before = NULL;
    entry->after = NULL;
    arm->open--;
    decisions->open_planned--;
}

/* Into the list of what is open, by number; new decisions and rows restored in order cost O(1). */
static void link_open(struct live_decisions *decisions, struct entry *entry)
{
    struct entry *older = decisions->newest;
    while (older != NULL && older->row.number > entry->row.number)
        older = older->older;
    entry->older = older;
    entry->newer = older == NULL ? decisions->oldest : older->newer;
    *(entry->older == NULL ? &decisions->oldest : &entry->older->newer) = entry;
    *(entry->newer == NULL ? &decisions->newest : &entry->newer->older) = entry;
}

/* Its caller has one less open. */
static void unlink_open(struct live_decisions *decisions, struct entry *entry)
{
    *(entry->older == NULL ? &decisions->oldest : &entry->older->newer) = entry->newer;
    *(entry->newer == NULL ? &decisions->newest : &entry->newer->older) = entry->older;
    entry->older = NULL;
    entry->newer = NULL;
    if (entry->caller_open != NULL)
        --*entry->caller_open;
    entry->caller_open = NULL;
}

/* As the one that closed last, and not handed over (again). */
static void link_closed(struct live_decisions *decisions, struct entry *entry)
{
    TACIT_ASSERT(!is_open(entry));
    entry->is_handed_over = false;
    entry->older = decisions->closed_last;
    entry->newer = NULL;
    *(entry->older == NULL ? &decisions->closed_first : &entry->older->newer) = entry;
    decisions->closed_last = entry;
    if (decisions->closed_here == NULL)
        decisions->closed_here = entry;
    decisions->closed_count++;
}

static void unlink_closed(struct live_decisions *decisions, struct entry *entry)
{
    if (decisions->closed_here == entry)
        decisions->closed_here = entry->newer;
    *(entry->older == NULL ? &decisions->closed_first : &entry->older->newer) = entry->newer;
    *(entry->newer == NULL ? &decisions->closed_last : &entry->newer->older) = entry->older;
    entry->older = NULL;
    entry->newer = NULL;
    decisions->closed_count -= entry->is_handed_over ? 0 : 1;
}

/* Since when has every place been given out, with some not filled? A place that comes back does not
 * end it: the round still waits for it. */
static void note_waiting(struct live_decisions *decisions, uint64_t now_ms)
{
    if (decisions->unserved.total > 0)
        return;
    if (decisions->open_planned == 0)
        decisions->waits_since_ms = UINT64_MAX;
    else if (decisions->waits_since_ms == UINT64_MAX)
        decisions->waits_since_ms = now_ms;
}

/* Every decision closes here. fills: its place is filled; else it is given out again. */
static void close_entry(struct live_decisions *decisions, struct entry *entry,
                        enum live_decision_state state, bool fills, uint64_t now_ms)
{
    TACIT_ASSERT(is_open(entry));
    if (is_open_planned(entry)) {
        struct arm *const arm = &decisions->arms[entry->row.arm];
        unlink_planned(decisions, entry);
        if (fills && arm->lacking > 0)
            arm->lacking--;
        if (!fills) {
            arm->missed++;
            decisions->missed_count++;
        }
        refresh_unserved(decisions, entry->row.arm);
    } else {
        TACIT_ASSERT(decisions->open_other > 0);
        decisions->open_other--;
    }
    unlink_open(decisions, entry);
    entry->row.state = (uint8_t)state;
    entry->row.value = 0;
    entry->row.deadline_ms = later(now_ms, decisions->config.remember_ms);
    link_closed(decisions, entry);
    live_deadlines_move(&decisions->deadlines, &entry->deadline, entry->row.deadline_ms);
    note_waiting(decisions, now_ms);
}

/* ---- What is remembered elsewhere ------------------------------------------------------------ */

/* Fills *row, whose texts live until the next call. False: it is not remembered. */
static bool recall(const struct live_decisions *decisions, struct live_decision_id id,
                   struct live_decision_row *row)
{
    const struct live_decision_memory *const memory = &decisions->config.memory;
    return memory->by_id != NULL && memory->by_id(memory->context, id, row);
}

static bool recall_key(const struct live_decisions *decisions, const char *key,
                       struct live_decision_row *row)
{
    const struct live_decision_memory *const memory = &decisions->config.memory;
    return key != NULL && memory->by_key != NULL && memory->by_key(memory->context, key, row);
}

/* ---- Entries come and go --------------------------------------------------------------------- */

/* Room for one more of everything, so that what follows cannot fail half-way. */
static bool reserve(struct live_decisions *decisions)
{
    return live_table_reserve(&decisions->numbers) && live_table_reserve(&decisions->keys) &&
           live_table_reserve(&decisions->units) && live_deadlines_reserve(&decisions->deadlines);
}

/* Requires: room was reserved. */
static void add_entry(struct live_decisions *decisions, struct entry *entry)
{
    uint64_t const seed = decisions->seed;
    live_table_add(&decisions->numbers, live_hash_u64(seed, entry->row.number), entry);
    if (entry->row.key != NULL)
        live_table_add(&decisions->keys, live_hash_text(seed, entry->row.key), entry);
    live_deadlines_add(&decisions->deadlines, &entry->deadline);
    if (is_open(entry))
        link_open(decisions, entry);
    else
        link_closed(decisions, entry);
    if (is_open_planned(entry))
        link_planned(decisions, entry);
    else if (is_open(entry))
        decisions->open_other++;
    if (entry->row.number >= decisions->next_number)
        decisions->next_number = entry->row.number + 1;
}

/* Takes it out of everything; the caller frees it. Requires: closed, and first in the queue. */
static void forget_entry(struct live_decisions *decisions, struct entry *entry)
{
    uint64_t const seed = decisions->seed;
    TACIT_ASSERT(live_deadlines_first(&decisions->deadlines) == &entry->deadline);
    live_deadlines_drop_first(&decisions->deadlines);
    unlink_closed(decisions, entry);
    live_table_remove(&decisions->numbers, live_hash_u64(seed, entry->row.number), entry);
    if (entry->row.key != NULL)
        live_table_remove(&decisions->keys, live_hash_text(seed, entry->row.key), entry);
}

/* ---- The choice of an arm -------------------------------------------------------------------- */

struct choice {
    uint32_t arm;
    bool is_planned;
    bool sets_unit; /* the arm becomes the unit's */
};

static bool is_available(const struct live_decision_request *request, uint32_t arm)
{
    return request->unavailable == NULL || !tacit_bits_has(request->unavailable, arm);
}

/* Nothing is known and nothing is counted: each available arm equally likely. */
static enum tacit_status draw_early(const struct live_decision_request *request,
                                    const struct live_fallback *fallback,
                                    const struct tacit_entropy *entropy, struct choice *choice)
{
    uint32_t available = 0;
    uint64_t rank;
    for (uint32_t i = 0; i < fallback->count; i++)
        available += is_available(request, fallback->ranking[i]) ? 1 : 0;
    if (available == 0)
        return TACIT_INVALID;
    TACIT_TRY(tacit_entropy_below(entropy, available, &rank));
    uint32_t at = 0;
    while (!is_available(request, fallback->ranking[at]) || rank-- > 0)
        at++;
    TACIT_ASSERT(at < fallback->count);
    choice->arm = fallback->ranking[at];
    choice->is_planned = false;
    return TACIT_OK;
}

static uint64_t pulls_for(const struct live_decisions *decisions,
                          const struct live_decision_request *request)
{
    return request->enters_nothing
               ? 0
               : live_pull_tree_total(&decisions->unserved, request->unavailable);
}

bool live_decisions_has_pull(const struct live_decisions *decisions,
                             const struct live_decision_request *request)
{
    return pulls_for(decisions, request) > 0;
}

/* Each unserved pull of an available arm equally likely; where there is none, the best arm by
 * noised means. */
static enum tacit_status draw_arm(const struct live_decisions *decisions,
                                  const struct live_decision_request *request,
                                  const struct live_fallback *fallback,
                                  const struct tacit_entropy *entropy, struct choice *choice)
{
    uint64_t const pulls = pulls_for(decisions, request);
    if (pulls > 0) {
        uint64_t pull;
        TACIT_TRY(tacit_entropy_below(entropy, pulls, &pull));
        choice->arm = live_pull_tree_owner(&decisions->unserved, request->unavailable, pull);
        choice->is_planned = true;
        return TACIT_OK;
    }
    if (fallback->is_early)
        return draw_early(request, fallback, entropy, choice);
    for (uint32_t i = 0; i < fallback->count; i++) {
        uint32_t const arm = fallback->ranking[i];
        TACIT_ASSERT(arm < decisions->config.arm_count);
        if (is_available(request, arm)) {
            choice->arm = arm;
            choice->is_planned = false;
            return TACIT_OK;
        }
    }
    return TACIT_INVALID;
}

/* A unit keeps its arm while that is in, and is available now; else the arm is drawn. Where the arm
 * is only unavailable the unit keeps it for later. */
static enum tacit_status choose(const struct live_decisions *decisions,
                                const struct live_decision_request *request,
                                const struct live_fallback *fallback,
                                const struct tacit_entropy *entropy, struct choice *choice)
{
    const struct unit *const unit = find_unit(decisions, request->unit);
    bool const keeps_arm = unit != NULL && tacit_bits_has(fallback->active, unit->arm);
    if (keeps_arm && is_available(request, unit->arm)) {
        choice->arm = unit->arm;
        choice->is_planned = !request->enters_nothing && decisions->unserved.counts[unit->arm] > 0;
        choice->sets_unit = false;
        return TACIT_OK;
    }
    choice->sets_unit = request->unit != NULL && !keeps_arm;
    return draw_arm(decisions, request, fallback, entropy, choice);
}

static void append_unit(struct live_decisions *decisions, struct unit *unit)
{
    unit->before = decisions->newest_unit;
    unit->after = NULL;
    *(unit->before == NULL ? &decisions->oldest_unit : &unit->before->after) = unit;
    decisions->newest_unit = unit;
}

static void unlink_unit(struct live_decisions *decisions, struct unit *unit)
{
    *(unit->before == NULL ? &decisions->oldest_unit : &unit->before->after) = unit->after;
    *(unit->after == NULL ? &decisions->newest_unit : &unit->after->before) = unit->before;
}

/* Requires: room was reserved. Errors: TACIT_MEMORY, nothing changed. */
static enum tacit_status set_unit(struct live_decisions *decisions, const char *text, uint32_t arm)
{
    struct unit *unit = find_unit(decisions, text);
    if (unit != NULL) {
        unit->arm = arm;
        unlink_unit(decisions, unit);
        append_unit(decisions, unit);
        return TACIT_OK;
    }
    unit = new_unit(text, arm);
    if (unit == NULL)
        return TACIT_MEMORY;
    live_table_add(&decisions->units, live_hash_text(decisions->seed, text), unit);
    append_unit(decisions, unit);
    return TACIT_OK;
}

/* The text of a unit that had to go, or NULL. One goes for each that comes, so a limit that was
 * lowered is not reached, but nothing grows. */
static const char *forget_unit(struct live_decisions *decisions)
{
    uint32_t const max = decisions->config.units_max;
    struct unit *const unit = decisions->oldest_unit;
    if (max == 0 || decisions->units.count <= max)
        return NULL;
    unlink_unit(decisions, unit);
    live_table_remove(&decisions->units, live_hash_text(decisions->seed, unit->text), unit);
    free(decisions->forgotten_unit);
    decisions->forgotten_unit = unit;
    return unit->text;
}

static enum live_decision_kind kind_of(const struct live_decision_request *request,
                                       const struct choice *choice,
                                       const struct live_fallback *fallback)
{
    if (request->is_chosen && !request->enters_nothing)
        return LIVE_DECISION_CHOSEN;
    if (choice->is_planned)
        return LIVE_DECISION_PLANNED;
    if (fallback->is_early)
        return LIVE_DECISION_EARLY;
    return fallback->is_committed ? LIVE_DECISION_COMMITTED : LIVE_DECISION_EXPLOIT;
}

/* As it was chosen. Requires: its key is not known, limits were looked at. Errors: nothing changed.
 */
static enum tacit_status make_decision(struct live_decisions *decisions,
                                       const struct live_decision_request *request,
                                       const struct choice *choice, enum live_decision_kind kind,
                                       uint64_t now_ms, struct live_decision_answer *answer)
{
    uint64_t salt;
    TACIT_TRY(tacit_entropy_word(&decisions->config.salts, &salt));
    struct live_decision_row const row = {
        .number = decisions->next_number,
        .salt = salt,
        .arm = choice->arm,
        .kind = (uint8_t)kind,
        .state = LIVE_DECISION_OPEN,
        .opened_ms = now_ms,
        .deadline_ms = later(now_ms, decisions->wait.wait_ms),
        .key = request->key,
        .unit = request->unit,
        .kept = request->enters_nothing ? NULL : request->kept,
        .kept_size = request->enters_nothing ? 0 : request->kept_size,
    };
    if (!reserve(decisions))
        return TACIT_MEMORY;
    struct entry *const entry = new_entry(&row);
    if (entry == NULL)
        return TACIT_MEMORY;
    if (choice->sets_unit && set_unit(decisions, request->unit, choice->arm) != TACIT_OK) {
        free(entry);
        return TACIT_MEMORY;
    }
    add_entry(decisions, entry);
    entry->caller_open = request->caller_open;
    if (entry->caller_open != NULL)
        ++*entry->caller_open;
    note_waiting(decisions, now_ms);
    *answer = (struct live_decision_answer){.row = entry->row,
                                            .is_new = true,
                                            .unit_is_new = choice->sets_unit,
                                            .unit_forgotten =
                                                choice->sets_unit ? forget_unit(decisions) : NULL};
    return TACIT_OK;
}

/* ---- Public ---------------------------------------------------------------------------------- */

struct live_decisions *live_decisions_new(const struct live_decisions_config *config)
{
    TACIT_ASSERT(config->arm_count > 0);
    TACIT_ASSERT(config->arm_count <= TACIT_ARMS_MAX);
    TACIT_ASSERT(config->open_max > 0);
    struct live_decisions *const decisions = calloc(1, sizeof *decisions);
    if (decisions == NULL)
        return NULL;
    decisions->config = *config;
    decisions->next_number = 1;
    decisions->waits_since_ms = UINT64_MAX;
    decisions->wait = live_wait_init(config->wait_ms, config->wait_max_ms);
    decisions->seed = live_hash_u64(0, (uint64_t)(uintptr_t)decisions);
    decisions->arms = calloc(config->arm_count, sizeof decisions->arms[0]);
    decisions->lacking = calloc(config->arm_count, sizeof decisions->lacking[0]);
    if (decisions->arms != NULL && decisions->lacking != NULL &&
        live_pull_tree_init(&decisions->unserved, config->arm_count))
        return decisions;
    live_decisions_free(decisions);
    return NULL;
}

void live_decisions_free(struct live_decisions *decisions)
{
    if (decisions == NULL)
        return;
    live_table_free(&decisions->keys, NULL);
    live_table_free(&decisions->numbers, free);
    live_table_free(&decisions->units, free);
    free(decisions->forgotten_unit);
    live_deadlines_free(&decisions->deadlines);
    live_pull_tree_free(&decisions->unserved);
    free(decisions->arms);
    free(decisions->lacking);
    free(decisions);
}

/* A row of a store: only a decision that waits for its time has a value. */
static bool row_is_allowed(const struct live_decisions *decisions,
                           const struct live_decision_row *row)
{
    return row->arm < decisions->config.arm_count && row->kind <= LIVE_DECISION_EARLY &&
           row->state <= LIVE_DECISION_HELD && row->number > 0 && row->number < UINT64_MAX &&
           (row->state == LIVE_DECISION_HELD ? row->kind == LIVE_DECISION_PLANNED
                                             : row->value == 0) &&
           text_is_allowed(row->key) && text_is_allowed(row->unit) &&
           find_number(decisions, row->number) == NULL && find_key(decisions, row->key) == NULL;
}

enum tacit_status live_decisions_restore(struct live_decisions *decisions,
                                         const struct live_decision_row *row)
{
    if (!row_is_allowed(decisions, row))
        return TACIT_MALFORMED;
    struct entry *const entry = reserve(decisions) ? new_entry(row) : NULL;
    if (entry == NULL)
        return TACIT_MEMORY;
    add_entry(decisions, entry);
    return TACIT_OK;
}

enum tacit_status live_decisions_restore_unit(struct live_decisions *decisions, const char *unit,
                                              uint32_t arm)
{
    TACIT_ASSERT(unit != NULL);
    if (!text_is_allowed(unit) || arm >= decisions->config.arm_count ||
        find_unit(decisions, unit) != NULL)
        return TACIT_MALFORMED;
    return reserve(decisions) ? set_unit(decisions, unit, arm) : TACIT_MEMORY;
}

void live_decisions_restore_wait(struct live_decisions *decisions, const struct live_wait *wait)
{
    if (!decisions->config.settles)
        live_wait_restore(&decisions->wait, wait->wait_ms, wait->in_time, wait->late);
}

void live_decisions_restore_missed(struct live_decisions *decisions, uint32_t arm, uint64_t count)
{
    TACIT_ASSERT(arm < decisions->config.arm_count);
    decisions->missed_count += count - decisions->arms[arm].missed;
    decisions->arms[arm].missed = count;
}

/* A planned decision for which a new plan has no place any more: its reward enters nothing, be it
 * here already or not. */
static void turn_into_exploitation(struct live_decisions *decisions, struct entry *entry)
{
    unlink_planned(decisions, entry);
    entry->row.kind = LIVE_DECISION_EXPLOIT;
    if (entry->row.state == LIVE_DECISION_HELD) {
        unlink_open(decisions, entry);
        entry->row.state = LIVE_DECISION_REWARDED;
        entry->row.value = 0;
        /* As long as if it had closed at its time. */
        entry->row.deadline_ms = later(entry->row.deadline_ms, decisions->config.remember_ms);
        live_deadlines_move(&decisions->deadlines, &entry->deadline, entry->row.deadline_ms);
        link_closed(decisions, entry);
    } else {
        decisions->open_other++;
    }
}

void live_decisions_set_plan(struct live_decisions *decisions, const struct tacit_pull_block *plan,
                             uint32_t count,
                             void (*changed)(void *context, const struct live_decision_row *row),
                             void *context)
{
    decisions->waits_since_ms = UINT64_MAX;
    memset(decisions->lacking, 0, decisions->config.arm_count * sizeof decisions->lacking[0]);
    for (uint32_t i = 0; i < count; i++) {
        TACIT_ASSERT(plan[i].arm < decisions->config.arm_count);
        decisions->lacking[plan[i].arm] += plan[i].count;
    }
    for (uint32_t i = 0; i < decisions->config.arm_count; i++) {
        struct arm *const arm = &decisions->arms[i];
        arm->lacking = decisions->lacking[i];
        while (arm->open > arm->lacking) { /* the newest go: the oldest are nearest to a reward */
            struct entry *const entry = arm->last;
            turn_into_exploitation(decisions, entry);
            if (changed != NULL)
                changed(context, &entry->row);
        }
        refresh_unserved(decisions, i);
    }
}

void live_decisions_end_run(struct live_decisions *decisions,
                            void (*changed)(void *context, const struct live_decision_row *row),
                            void *context)
{
    TACIT_ASSERT(changed != NULL);
    live_decisions_set_plan(decisions, NULL, 0, changed, context);
    for (struct entry *entry = decisions->oldest; entry != NULL; entry = entry->newer) {
        if (entry->row.kind != LIVE_DECISION_CHOSEN)
            continue;
        entry->row.kind = LIVE_DECISION_EXPLOIT;
        changed(context, &entry->row);
    }
    for (uint32_t i = 0; i < decisions->config.arm_count; i++)
        decisions->arms[i].missed = 0;
    decisions->missed_count = 0;
}

void live_decisions_lose(struct live_decisions *decisions, uint64_t now_ms,
                         void (*changed)(void *context, const struct live_decision_row *row),
                         void *context)
{
    struct entry *entry = decisions->oldest;
    TACIT_ASSERT(changed != NULL);
    while (entry != NULL) {
        struct entry *const newer = entry->newer;
        if (entry->row.kind == LIVE_DECISION_PLANNED || entry->row.kind == LIVE_DECISION_CHOSEN) {
            close_entry(decisions, entry, LIVE_DECISION_EXPIRED, false, now_ms);
            changed(context, &entry->row);
        }
        entry = newer;
    }
}

enum tacit_status live_decisions_decide(struct live_decisions *decisions,
                                        const struct live_decision_request *request,
                                        const struct live_fallback *fallback, uint64_t now_ms,
                                        const struct tacit_entropy *entropy,
                                        struct live_decision_answer *answer)
{
    if (!text_is_allowed(request->key) || !text_is_allowed(request->unit))
        return TACIT_INVALID;
    const struct entry *const known = find_key(decisions, request->key);
    if (known != NULL) {
        *answer = (struct live_decision_answer){.row = known->row};
        return TACIT_OK;
    }
    struct live_decision_row remembered;
    if (recall_key(decisions, request->key, &remembered)) {
        *answer = (struct live_decision_answer){.row = remembered};
        return TACIT_OK;
    }
    if ((uint64_t)decisions->open_planned + decisions->open_other >= decisions->config.open_max)
        return TACIT_MEMORY;
    if (request->caller_open != NULL && *request->caller_open >= request->caller_open_max)
        return TACIT_MEMORY;
    struct choice choice = {.arm = request->choice};
    TACIT_ASSERT(!request->is_chosen || request->choice < decisions->config.arm_count);
    if (!request->is_chosen)
        TACIT_TRY(choose(decisions, request, fallback, entropy, &choice));
    return make_decision(decisions, request, &choice, kind_of(request, &choice, fallback), now_ms,
                         answer);
}

/* The first reward of a decision that is open, in time. Where places are settled at a fixed time it
 * is held until then. */
static void accept_reward(struct live_decisions *decisions, struct entry *entry, double value,
                          uint64_t now_ms, struct live_reward_outcome *outcome)
{
    bool const is_planned = is_open_planned(entry);
    if (is_planned)
        live_wait_note_in_time(&decisions->wait);
    if (is_planned && decisions->config.settles) {
        entry->row.state = LIVE_DECISION_HELD;
        entry->row.value = value;
    } else {
        close_entry(decisions, entry, LIVE_DECISION_REWARDED, true, now_ms);
        outcome->fills = is_planned || entry->row.kind == LIVE_DECISION_CHOSEN;
    }
    outcome->is_changed = true;
}

/* The place was given out again: the reward enters nothing, but may show that the wait is too
 * short. */
static void accept_late_reward(struct live_decisions *decisions, struct entry *entry,
                               uint64_t now_ms, struct live_reward_outcome *outcome)
{
    uint64_t const delay_ms = now_ms > entry->row.opened_ms ? now_ms - entry->row.opened_ms : 0;
    if (entry->row.kind == LIVE_DECISION_PLANNED && !decisions->config.settles)
        outcome->wait_grew = live_wait_note_late(&decisions->wait, delay_ms);
    entry->row.state = LIVE_DECISION_LATE;
    outcome->is_changed = true;
    unlink_closed(decisions, entry); /* what is being handed over of it is old */
    link_closed(decisions, entry);
}

/* Of a decision that is remembered elsewhere. Only one that closed without a reward can change: it
 * comes back here, as late. Without memory for that the answer is the same, and is not kept. */
static struct live_reward_outcome reward_remembered(struct live_decisions *decisions,
                                                    struct live_decision_id id, uint64_t now_ms)
{
    struct live_reward_outcome outcome = {.answer = LIVE_REWARD_UNKNOWN};
    struct live_decision_row row;
    if (!recall(decisions, id, &row))
        return outcome;
    TACIT_ASSERT(row.state != LIVE_DECISION_OPEN && row.state != LIVE_DECISION_HELD);
    outcome.row = row;
    outcome.answer = row.state == LIVE_DECISION_REWARDED ? LIVE_REWARD_REPEATED : LIVE_REWARD_LATE;
    if (row.state != LIVE_DECISION_EXPIRED)
        return outcome;
    struct entry *const entry = reserve(decisions) ? new_entry(&row) : NULL;
    if (entry == NULL)
        return outcome;
    add_entry(decisions, entry);
    accept_late_reward(decisions, entry, now_ms, &outcome);
    outcome.row = entry->row;
    return outcome;
}

struct live_reward_outcome live_decisions_reward(struct live_decisions *decisions,
                                                 struct live_decision_id id, double value,
                                                 uint64_t now_ms)
{
    struct live_reward_outcome outcome = {.answer = LIVE_REWARD_UNKNOWN};
    struct entry *const entry = find_id(decisions, id);
    if (entry == NULL)
        return reward_remembered(decisions, id, now_ms);
    switch ((enum live_decision_state)entry->row.state) {
    case LIVE_DECISION_OPEN:
        outcome.answer = now_ms < entry->row.deadline_ms ? LIVE_REWARD_ACCEPTED : LIVE_REWARD_LATE;
        if (outcome.answer == LIVE_REWARD_ACCEPTED)
            accept_reward(decisions, entry, value, now_ms, &outcome);
        break;
    case LIVE_DECISION_EXPIRED:
        outcome.answer = LIVE_REWARD_LATE;
        accept_late_reward(decisions, entry, now_ms, &outcome);
        break;
    case LIVE_DECISION_LATE:
        outcome.answer = LIVE_REWARD_LATE;
        break;
    case LIVE_DECISION_REWARDED:
    case LIVE_DECISION_HELD:
        outcome.answer = LIVE_REWARD_REPEATED;
        break;
    }
    outcome.row = entry->row;
    return outcome;
}

enum live_close_answer live_decisions_close(struct live_decisions *decisions,
                                            struct live_decision_id id, uint64_t now_ms,
                                            struct live_decision_row *row)
{
    struct entry *const entry = find_id(decisions, id);
    struct live_decision_row remembered;
    if (entry == NULL && !recall(decisions, id, &remembered))
        return LIVE_CLOSE_UNKNOWN;
    if (entry == NULL)
        return remembered.state == LIVE_DECISION_REWARDED ? LIVE_CLOSE_REWARDED
                                                          : LIVE_CLOSE_REPEATED;
    if (entry->row.state == LIVE_DECISION_REWARDED || entry->row.state == LIVE_DECISION_HELD)
        return LIVE_CLOSE_REWARDED;
    if (entry->row.state != LIVE_DECISION_OPEN)
        return LIVE_CLOSE_REPEATED;
    close_entry(decisions, entry, LIVE_DECISION_EXPIRED, false, now_ms);
    *row = entry->row;
    return LIVE_CLOSE_DONE;
}

/* What becomes of an open decision at its deadline. */
static struct live_decision_change end_open(struct live_decisions *decisions, struct entry *entry,
                                            uint64_t now_ms)
{
    bool const is_held = entry->row.state == LIVE_DECISION_HELD;
    bool const settles = is_open_planned(entry) && (is_held || decisions->config.settles);
    struct live_decision_change const change = {.kind = settles ? LIVE_CHANGE_SETTLED
                                                                : LIVE_CHANGE_RETURNED,
                                                .row = &entry->row,
                                                .value = is_held   ? entry->row.value
                                                         : settles ? decisions->config.missing_value
                                                                   : 0};
    close_entry(decisions, entry, is_held ? LIVE_DECISION_REWARDED : LIVE_DECISION_EXPIRED, settles,
                now_ms);
    return change;
}

bool live_decisions_expire(struct live_decisions *decisions, uint64_t now_ms,
                           void (*changed)(void *context,
                                           const struct live_decision_change *change),
                           void *context)
{
    for (uint32_t i = 0; i < LIVE_EXPIRED_MAX; i++) {
        struct live_deadline *const first = live_deadlines_first(&decisions->deadlines);
        if (first == NULL || first->when_ms > now_ms)
            return true;
        struct entry *const entry = (struct entry *)first;
        struct live_decision_change change = {.kind = LIVE_CHANGE_FORGOTTEN, .row = &entry->row};
        bool const is_forgotten = !is_open(entry);
        if (is_forgotten)
            forget_entry(decisions, entry);
        else
            change = end_open(decisions, entry, now_ms);
        if (changed != NULL)
            changed(context, &change);
        if (is_forgotten)
            free(entry);
    }
    return false;
}

void live_decisions_open(const struct live_decisions *decisions,
                         bool (*each)(void *context, const struct live_decision_row *row),
                         void *context)
{
    for (const struct entry *entry = decisions->oldest; entry != NULL; entry = entry->newer)
        if (entry->row.state == LIVE_DECISION_OPEN && !each(context, &entry->row))
            return;
}

uint32_t live_decisions_closed(const struct live_decisions *decisions)
{
    return decisions->closed_count;
}

void live_decisions_hand_over(struct live_decisions *decisions, uint32_t count,
                              void (*each)(void *context, const struct live_decision_row *row),
                              void *context)
{
    for (uint32_t i = 0; i < count && decisions->closed_here != NULL; i++) {
        struct entry *const entry = decisions->closed_here;
        TACIT_ASSERT(!entry->is_handed_over && decisions->closed_count > 0);
        entry->is_handed_over = true;
        decisions->closed_here = entry->newer;
        decisions->closed_count--;
        each(context, &entry->row);
    }
}

bool live_decisions_handed_over(struct live_decisions *decisions, uint32_t count,
                                void (*each)(void *context, const struct live_decision_row *row),
                                void *context)
{
    struct entry *entry = decisions->closed_first;
    for (uint32_t i = 0; i < count && entry != NULL && entry->is_handed_over; i++) {
        struct entry *const next = entry->newer;
        live_deadlines_move(&decisions->deadlines, &entry->deadline, 0); /* to the front */
        forget_entry(decisions, entry);
        each(context, &entry->row);
        free(entry);
        entry = next;
    }
    return entry != NULL && entry->is_handed_over;
}

void live_decisions_view(const struct live_decisions *decisions, struct live_decisions_view *view)
{
    const struct live_deadline *const first = live_deadlines_first(&decisions->deadlines);
    *view = (struct live_decisions_view){
        .next_number = decisions->next_number,
        .open_planned = decisions->open_planned,
        .open_other = decisions->open_other,
        .unserved = decisions->unserved.total,
        .next_expiry_ms = first == NULL ? UINT64_MAX : first->when_ms,
        .waits_since_ms = decisions->waits_since_ms,
        .missed_count = decisions->missed_count,
        .wait = decisions->wait,
    };
}

uint64_t live_decisions_oldest_ms(const struct live_decisions *decisions)
{
    uint64_t oldest_ms = UINT64_MAX;
    for (uint32_t i = 0; i < decisions->config.arm_count; i++) {
        const struct entry *const first = decisions->arms[i].first;
        if (first != NULL && first->row.opened_ms < oldest_ms)
            oldest_ms = first->row.opened_ms;
    }
    return oldest_ms;
}

uint64_t live_decisions_missed(const struct live_decisions *decisions, uint32_t arm)
{
    TACIT_ASSERT(arm < decisions->config.arm_count);
    return decisions->arms[arm].missed;
}

double live_decisions_missed_share(const struct live_decisions *decisions, const uint64_t *active,
                                   uint64_t pulls)
{
    uint32_t const arms = decisions->config.arm_count;
    double worst = 0;
    for (uint32_t i = 0; i < arms; i++) {
        const struct arm *const arm = &decisions->arms[i];
        uint64_t const filled = pulls > arm->lacking ? pulls - arm->lacking : 0;
        if (arm->missed == 0 || (active != NULL && !tacit_bits_has(active, i)))
            continue;
        double const share = (double)arm->missed / ((double)arm->missed + (double)filled);
        worst = share > worst ? share : worst;
    }
    return worst;
}

void live_decisions_set_next_number(struct live_decisions *decisions, uint64_t next_number)
{
    if (next_number > decisions->next_number)
        decisions->next_number = next_number;
}

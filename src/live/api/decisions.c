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
    struct entry *before;          /* open planned decisions of the same arm, by id */
    struct entry *after;
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
    struct entry *first;
    struct entry *last;
};

struct live_decisions {
    struct live_decisions_config config;
    uint64_t seed;
    struct live_table ids;
    struct live_table keys;
    struct live_table units;
    struct unit *oldest_unit;
    struct unit *newest_unit;
    struct unit *forgotten_unit; /* its text is in the latest answer */
    struct live_deadlines deadlines;
    struct live_pull_tree unserved;
    struct arm *arms;
    uint64_t *lacking; /* room for a plan while it is taken in */
    uint64_t next_id;
    uint32_t open_planned;
    uint32_t open_other;
};

/* ---- Helpers --------------------------------------------------------------------------------- */

static uint64_t later(uint64_t now_s, uint64_t more_s)
{
    return now_s > UINT64_MAX - more_s ? UINT64_MAX : now_s + more_s;
}

static bool text_is_allowed(const char *text)
{
    return text == NULL ||
           (text[0] != '\0' && strnlen(text, LIVE_KEY_BYTES_MAX + 1) <= LIVE_KEY_BYTES_MAX);
}

static bool same_id(const void *item, const void *wanted)
{
    const struct entry *const entry = item;
    const uint64_t *const id = wanted;
    return entry->row.id == *id;
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

static struct entry *find_id(const struct live_decisions *decisions, uint64_t id)
{
    return live_table_find(&decisions->ids, live_hash_u64(decisions->seed, id), same_id, &id);
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

static struct entry *new_entry(const struct live_decision_row *row)
{
    size_t const key_size = row->key == NULL ? 0 : strlen(row->key) + 1;
    size_t const unit_size = row->unit == NULL ? 0 : strlen(row->unit) + 1;
    struct entry *const entry = malloc(sizeof *entry + key_size + unit_size);
    if (entry == NULL)
        return NULL;
    char *const texts = (char *)(entry + 1);
    *entry = (struct entry){.deadline = {.when_s = row->deadline_s, .id = row->id}, .row = *row};
    if (row->key != NULL)
        entry->row.key = memcpy(texts, row->key, key_size);
    if (row->unit != NULL)
        entry->row.unit = memcpy(texts + key_size, row->unit, unit_size);
    return entry;
}

static bool is_open_planned(const struct entry *entry)
{
    return entry->row.state == LIVE_DECISION_OPEN && entry->row.kind == LIVE_DECISION_PLANNED;
}

/* ---- The account of one arm ------------------------------------------------------------------ */

/* More can be open than the core lacks only between the restored rows and the first plan. */
static void refresh_unserved(struct live_decisions *decisions, uint32_t arm_index)
{
    const struct arm *const arm = &decisions->arms[arm_index];
    live_pull_tree_set(&decisions->unserved, arm_index,
                       arm->lacking > arm->open ? arm->lacking - arm->open : 0);
}

/* Keeps the list in order of id; new decisions and rows restored in order cost O(1). */
static void open_planned(struct live_decisions *decisions, struct entry *entry)
{
    struct arm *const arm = &decisions->arms[entry->row.arm];
    struct entry *before = arm->last;
    while (before != NULL && before->row.id > entry->row.id)
        before = before->before;
    entry->before = before;
    entry->after = before == NULL ? arm->first : before->after;
    *(entry->before == NULL ? &arm->first : &entry->before->after) = entry;
    *(entry->after == NULL ? &arm->last : &entry->after->before) = entry;
    arm->open++;
    decisions->open_planned++;
    refresh_unserved(decisions, entry->row.arm);
}

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

/* Every decision closes here. */
static void close_entry(struct live_decisions *decisions, struct entry *entry,
                        enum live_decision_state state, uint64_t now_s)
{
    TACIT_ASSERT(entry->row.state == LIVE_DECISION_OPEN);
    if (is_open_planned(entry)) {
        struct arm *const arm = &decisions->arms[entry->row.arm];
        unlink_planned(decisions, entry);
        if (state == LIVE_DECISION_REWARDED && arm->lacking > 0)
            arm->lacking--;
        refresh_unserved(decisions, entry->row.arm);
    } else {
        TACIT_ASSERT(decisions->open_other > 0);
        decisions->open_other--;
    }
    entry->row.state = (uint8_t)state;
    entry->row.deadline_s = later(now_s, decisions->config.remember_s);
    live_deadlines_move(&decisions->deadlines, &entry->deadline, entry->row.deadline_s);
}

/* ---- Entries come and go --------------------------------------------------------------------- */

/* Room for one more of everything, so that what follows cannot fail half-way. */
static bool reserve(struct live_decisions *decisions)
{
    return live_table_reserve(&decisions->ids) && live_table_reserve(&decisions->keys) &&
           live_table_reserve(&decisions->units) && live_deadlines_reserve(&decisions->deadlines);
}

/* Requires: room was reserved. */
static void add_entry(struct live_decisions *decisions, struct entry *entry)
{
    uint64_t const seed = decisions->seed;
    live_table_add(&decisions->ids, live_hash_u64(seed, entry->row.id), entry);
    if (entry->row.key != NULL)
        live_table_add(&decisions->keys, live_hash_text(seed, entry->row.key), entry);
    live_deadlines_add(&decisions->deadlines, &entry->deadline);
    if (is_open_planned(entry))
        open_planned(decisions, entry);
    else if (entry->row.state == LIVE_DECISION_OPEN)
        decisions->open_other++;
    if (entry->row.id >= decisions->next_id)
        decisions->next_id = entry->row.id + 1;
}

/* Requires: closed, and first in the queue. */
static void forget_entry(struct live_decisions *decisions, struct entry *entry)
{
    uint64_t const seed = decisions->seed;
    live_deadlines_drop_first(&decisions->deadlines);
    live_table_remove(&decisions->ids, live_hash_u64(seed, entry->row.id), entry);
    if (entry->row.key != NULL)
        live_table_remove(&decisions->keys, live_hash_text(seed, entry->row.key), entry);
    free(entry);
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

/* Each unserved pull of an available arm equally likely; where there is none, the best arm by
 * noised means. */
static enum tacit_status draw_arm(const struct live_decisions *decisions,
                                  const struct live_decision_request *request,
                                  const struct live_fallback *fallback,
                                  const struct tacit_entropy *entropy, struct choice *choice)
{
    uint64_t const pulls = live_pull_tree_total(&decisions->unserved, request->unavailable);
    if (pulls > 0) {
        uint64_t pull;
        enum tacit_status const status = tacit_entropy_below(entropy, pulls, &pull);
        if (status != TACIT_OK)
            return status;
        choice->arm = live_pull_tree_owner(&decisions->unserved, request->unavailable, pull);
        choice->is_planned = true;
        return TACIT_OK;
    }
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

static enum tacit_status choose(const struct live_decisions *decisions,
                                const struct live_decision_request *request,
                                const struct live_fallback *fallback,
                                const struct tacit_entropy *entropy, struct choice *choice)
{
    const struct unit *const unit = find_unit(decisions, request->unit);
    bool const keeps_arm = unit != NULL && tacit_bits_has(fallback->active, unit->arm);
    if (keeps_arm && is_available(request, unit->arm)) {
        choice->arm = unit->arm;
        choice->is_planned = decisions->unserved.counts[unit->arm] > 0;
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

static enum tacit_status record(struct live_decisions *decisions,
                                const struct live_decision_request *request,
                                const struct choice *choice,
                                enum live_decision_kind kind_beside_plan, uint64_t now_s,
                                struct live_decision_answer *answer)
{
    struct live_decision_row const row = {
        .id = decisions->next_id,
        .arm = choice->arm,
        .kind = (uint8_t)(choice->is_planned ? LIVE_DECISION_PLANNED : kind_beside_plan),
        .state = LIVE_DECISION_OPEN,
        .deadline_s = later(now_s, decisions->config.deadline_s),
        .key = request->key,
        .unit = request->unit,
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
    decisions->next_id = 1;
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
    live_table_free(&decisions->ids, free);
    live_table_free(&decisions->units, free);
    free(decisions->forgotten_unit);
    live_deadlines_free(&decisions->deadlines);
    live_pull_tree_free(&decisions->unserved);
    free(decisions->arms);
    free(decisions->lacking);
    free(decisions);
}

static bool row_is_allowed(const struct live_decisions *decisions,
                           const struct live_decision_row *row)
{
    return row->arm < decisions->config.arm_count && row->kind <= LIVE_DECISION_COMMITTED &&
           row->state <= LIVE_DECISION_EXPIRED && row->id < UINT64_MAX &&
           text_is_allowed(row->key) && text_is_allowed(row->unit) &&
           find_id(decisions, row->id) == NULL && find_key(decisions, row->key) == NULL;
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

void live_decisions_set_plan(struct live_decisions *decisions, const struct tacit_pull_block *plan,
                             uint32_t count,
                             void (*changed)(void *context, const struct live_decision_row *row),
                             void *context)
{
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
            unlink_planned(decisions, entry);
            entry->row.kind = LIVE_DECISION_EXPLOIT;
            decisions->open_other++;
            if (changed != NULL)
                changed(context, &entry->row);
        }
        refresh_unserved(decisions, i);
    }
}

enum tacit_status live_decisions_decide(struct live_decisions *decisions,
                                        const struct live_decision_request *request,
                                        const struct live_fallback *fallback, uint64_t now_s,
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
    if ((uint64_t)decisions->open_planned + decisions->open_other >= decisions->config.open_max)
        return TACIT_MEMORY;
    struct choice choice;
    enum tacit_status const status = choose(decisions, request, fallback, entropy, &choice);
    if (status != TACIT_OK)
        return status;
    return record(decisions, request, &choice,
                  fallback->is_committed ? LIVE_DECISION_COMMITTED : LIVE_DECISION_EXPLOIT, now_s,
                  answer);
}

enum live_reward_answer live_decisions_reward(struct live_decisions *decisions, uint64_t id,
                                              uint64_t now_s, struct live_decision_row *row)
{
    struct entry *const entry = find_id(decisions, id);
    if (entry == NULL)
        return LIVE_REWARD_UNKNOWN;
    if (entry->row.state == LIVE_DECISION_REWARDED)
        return LIVE_REWARD_REPEATED;
    if (entry->row.state == LIVE_DECISION_EXPIRED)
        return LIVE_REWARD_LATE;
    close_entry(decisions, entry, LIVE_DECISION_REWARDED, now_s);
    *row = entry->row;
    return LIVE_REWARD_ACCEPTED;
}

bool live_decisions_expire(struct live_decisions *decisions, uint64_t now_s,
                           void (*changed)(void *context, const struct live_decision_row *row,
                                           bool is_forgotten),
                           void *context)
{
    for (uint32_t i = 0; i < LIVE_EXPIRED_MAX; i++) {
        struct live_deadline *const first = live_deadlines_first(&decisions->deadlines);
        if (first == NULL || first->when_s > now_s)
            return true;
        struct entry *const entry = (struct entry *)first;
        bool const is_forgotten = entry->row.state != LIVE_DECISION_OPEN;
        if (!is_forgotten)
            close_entry(decisions, entry, LIVE_DECISION_EXPIRED, now_s);
        if (changed != NULL)
            changed(context, &entry->row, is_forgotten);
        if (is_forgotten)
            forget_entry(decisions, entry);
    }
    return false;
}

void live_decisions_look(const struct live_decisions *decisions, struct live_decisions_view *view)
{
    const struct live_deadline *const first = live_deadlines_first(&decisions->deadlines);
    *view = (struct live_decisions_view){
        .next_id = decisions->next_id,
        .open_planned = decisions->open_planned,
        .open_other = decisions->open_other,
        .unserved = decisions->unserved.total,
        .next_expiry_s = first == NULL ? UINT64_MAX : first->when_s,
    };
}

void live_decisions_set_next_id(struct live_decisions *decisions, uint64_t next_id)
{
    if (next_id > decisions->next_id)
        decisions->next_id = next_id;
}

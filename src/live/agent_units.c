/* How many rewards of one person have entered anything, by a keyed digest of the name. */
#include "agent_state.h"
#include "daemon/entropy.h"
#include "daemon/text.h"
#include "tacit/commit.h"
#include <stdio.h>
#include <string.h>

#define KEY_WORDS 4u
#define SHOWN_BYTES 16u

/* ---- The key --------------------------------------------------------------------------------- */

static void format_name(unsigned word, char name[16])
{
    (void)snprintf(name, 16, "unit_key %u", word);
}

static enum tacit_status draw_key(struct agent *agent, uint64_t words[KEY_WORDS])
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_OTHER);
    enum tacit_status status = live_daemon_begin(&agent->daemon) ? TACIT_OK : TACIT_IO;
    for (unsigned i = 0; status == TACIT_OK && i < KEY_WORDS; i++)
        status = tacit_entropy_word(&entropy, &words[i]);
    for (unsigned i = 0; status == TACIT_OK && i < KEY_WORDS; i++) {
        char name[16];
        format_name(i, name);
        status = live_store_put_value(agent->daemon.store, name, words[i]);
    }
    return status;
}

/* Once a start; drawn once a state. */
static enum tacit_status open_key(struct agent *agent)
{
    uint64_t words[KEY_WORDS] = {0};
    bool is_there = true;
    enum tacit_status status = TACIT_OK;
    for (unsigned i = 0; status == TACIT_OK && is_there && i < KEY_WORDS; i++) {
        char name[16];
        format_name(i, name);
        status = live_store_get_value(agent->daemon.store, name, &words[i], &is_there);
    }
    if (status == TACIT_OK && !is_there)
        status = draw_key(agent, words);
    if (status != TACIT_OK)
        return status;
    _Static_assert(sizeof words == sizeof agent->unit_key, "the key is whole");
    memcpy(agent->unit_key, words, sizeof words);
    agent->has_unit_key = true;
    return TACIT_OK;
}

enum tacit_status agent_unit_digest(struct agent *agent, const char *unit,
                                    char digest[AGENT_UNIT_BYTES])
{
    uint8_t code[TACIT_SHA256_BYTES];
    size_t const length = strnlen(unit, LIVE_KEY_BYTES_MAX + 1);
    if (length < 1 || length > LIVE_KEY_BYTES_MAX)
        return TACIT_INVALID;
    TACIT_TRY(agent->has_unit_key ? TACIT_OK : open_key(agent));
    struct tacit_hmac hmac = tacit_hmac_init(agent->unit_key);
    tacit_hmac_update(&hmac, unit, length);
    tacit_hmac_final(&hmac, code);
    live_hex(code, SHOWN_BYTES, digest);
    return TACIT_OK;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Errors: false: the daemon stops. */
static bool count_of(struct agent *agent, const char *unit, uint64_t *count)
{
    TACIT_ASSERT(unit != NULL);
    enum tacit_status const status = live_store_get_count(agent->daemon.store, unit, count);
    live_daemon_check(&agent->daemon, status, "the count of a unit cannot be read");
    return status == TACIT_OK;
}

static void put_count(struct agent *agent, const char *unit, uint64_t count)
{
    if (live_daemon_begin(&agent->daemon))
        live_daemon_check(&agent->daemon, live_store_put_count(agent->daemon.store, unit, count),
                          "the count of a unit cannot be written");
}

bool agent_unit_has_room(struct agent *agent, const char *unit)
{
    uint64_t count = 0;
    uint32_t const max = agent->config->rewards_per_unit_max;
    if (max == 0)
        return true;
    return unit != NULL && count_of(agent, unit, &count) && count < max;
}

void agent_unit_reserve(struct agent *agent, const struct live_decision_row *row)
{
    uint64_t count = 0;
    if (agent->config->rewards_per_unit_max == 0)
        return;
    TACIT_ASSERT(row->unit != NULL); /* without one there was no room (agent_unit_has_room) */
    if (!count_of(agent, row->unit, &count))
        return;
    put_count(agent, row->unit, count + 1);
    agent_ledger_note_unit(agent, count + 1);
}

void agent_unit_return_pull(struct agent *agent, const struct live_decision_row *row)
{
    uint64_t count = 0;
    if (agent->config->rewards_per_unit_max > 0 && row->unit != NULL &&
        count_of(agent, row->unit, &count) && count > 0)
        put_count(agent, row->unit, count - 1);
}

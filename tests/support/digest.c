/* See digest.h. */
#include "digest.h"
#include "phased_message.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t digest = UINT64_C(0xcbf29ce484222325);
static bool is_at_rest;

void digest_pause(bool is_paused)
{
    is_at_rest = is_paused;
}

uint64_t digest_mix(uint64_t so_far, uint64_t word)
{
    uint64_t const mixed = (so_far ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 29;
}

bool digest_is_paused(void)
{
    return is_at_rest;
}

void digest_word(uint64_t word)
{
    if (is_at_rest)
        return;
    digest = digest_mix(digest, word);
}

void digest_bytes(const void *bytes, size_t size)
{
    const unsigned char *const from = bytes;
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + i, size - i < sizeof word ? size - i : sizeof word);
        digest_word(word);
    }
}

void digest_real(double value)
{
    if (isnan(value) || fabs(value) >= 0x1p40)
        digest_word(isnan(value) ? 1 : signbit(value) ? 2 : 3);
    else
        digest_word((uint64_t)llrint(value * 0x1p20));
}

void digest_reals(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        digest_real(values[i]);
}

void digest_ledger(const struct tacit_ledger *ledger)
{
    uint64_t const words[] = {ledger->budget_nano,       ledger->past_scopes_nano,
                              ledger->closed_cells_nano, ledger->open_cell_nano,
                              ledger->open_cell,         ledger->release_count,
                              ledger->gross_nano};
    digest_bytes(words, sizeof words);
}

static void digest_plan(const struct tacit_pull_block *plan, uint32_t count)
{
    digest_word(count);
    for (uint32_t i = 0; i < count; i++) {
        digest_word(plan[i].arm);
        digest_word(plan[i].count);
    }
}

void digest_step(enum tacit_status status, uint64_t flags, uint64_t deadline_us,
                 const struct tacit_pull_block *plan, uint32_t plan_count)
{
    digest_word((uint64_t)status);
    digest_word(flags);
    digest_word(deadline_us);
    digest_plan(plan, plan_count);
}

/* A copy holds all that the message points to, one array behind the other. */
static void digest_elim_message(const struct tacit_elim_message *message, uint32_t arm_count,
                                uint32_t agent_count)
{
    size_t const size = tacit_elim_message_size(message, arm_count, agent_count);
    unsigned char *const memory = calloc(1, size);
    if (memory == NULL)
        abort();
    uint64_t const words[] = {message->kind,         message->from,       message->to,
                              message->run_id,       message->term,       message->epoch,
                              message->seen,         message->last,       message->leader,
                              message->pulls,        message->agents,     message->sum_count,
                              message->change_count, message->row_stride, message->closed};
    (void)tacit_elim_message_copy(message, arm_count, agent_count, memory);
    digest_bytes(words, sizeof words);
    digest_bytes(memory + sizeof *message, size - sizeof *message);
    free(memory);
}

void digest_elim(enum tacit_status status, const struct tacit_elim_update *update,
                 uint32_t arm_count, uint32_t agent_count)
{
    uint64_t const flags =
        update->persist | (uint64_t)update->persist_table << 1 | (uint64_t)update->send << 2;
    digest_step(status, flags, update->deadline_us, update->plan, update->plan_count);
    if (update->send)
        digest_elim_message(&update->message, arm_count, agent_count);
}

static void digest_phased_message(const struct tacit_phased_message *message)
{
    size_t const size = phased_message_size(message);
    unsigned char *const memory = calloc(1, size);
    if (memory == NULL)
        abort();
    uint64_t const words[] = {message->kind,        message->from,  message->to,
                              message->run_id,      message->term,  message->round,
                              message->seen,        message->last,  message->leader,
                              message->block_count, message->closed};
    (void)phased_message_copy(message, memory);
    digest_bytes(words, sizeof words);
    digest_bytes(memory + sizeof *message, size - sizeof *message);
    free(memory);
}

void digest_phased(enum tacit_status status, const struct tacit_phased_update *update)
{
    uint64_t const flags =
        update->persist | (uint64_t)update->plan_is_void << 1 | (uint64_t)update->send << 2;
    digest_step(status, flags, update->deadline_us, update->plan, update->plan_count);
    if (update->send)
        digest_phased_message(&update->message);
}

int digest_end(int argc, int failed, uint64_t known)
{
    if (failed > 0 || argc > 1 || getenv("TACIT_TEST_LONG") != NULL || digest == known)
        return failed;
    (void)printf("steps, messages or verdicts are other ones than they were: their digest is "
                 "UINT64_C(0x%016llx); tests/support/digest.h says what to do\n",
                 (unsigned long long)digest);
    return 1;
}

/* Two aggregators in a simulation that has the totals at once. */
#include "tacit/sim.h"
#include "tacit/wire_helper.h"

#define COMMIT_BYTES 350u   /* of a site, in a request */
#define ENVELOPE_BYTES 116u /* and its blind, in a report, with their tags and lengths */

void tacit_sim_aggregators_begin(struct tacit_sim_aggregators *aggregators, uint64_t seed,
                                 uint32_t run)
{
    TACIT_IMPLIES(aggregators->are_two, aggregators->mechanism.noisy);
    for (uint32_t i = 0; i < 2; i++)
        aggregators->streams[i] = tacit_rng_stream(seed, run, i, TACIT_PURPOSE_AGGREGATOR);
}

void tacit_sim_aggregators_add(struct tacit_sim_aggregators *aggregators, int64_t *totals,
                               uint32_t count)
{
    for (uint32_t i = 0; aggregators->are_two && i < 2; i++) {
        struct tacit_entropy const entropy = tacit_rng_entropy(&aggregators->streams[i]);
        for (uint32_t j = 0; j < count; j++) {
            union tacit_sum sum = {.steps = totals[j]};
            enum tacit_status const status =
                tacit_mechanism_release(&aggregators->mechanism, sum, &entropy, &sum);
            TACIT_ASSERT(status == TACIT_OK); /* a stream always gives */
            totals[j] = sum.steps;
        }
    }
}

double tacit_sim_aggregators_bytes(uint32_t agents, uint32_t count)
{
    TACIT_ASSERT(agents > 0);
    static const uint64_t no_sites[TACIT_BITS_WORDS(TACIT_AGENTS_MAX)]; /* zeros are as long */
    struct tacit_helper_link const link = {.proof_size = COMMIT_BYTES};
    struct tacit_helper_entry const entries[2] = {{.link_count = 1, .links = &link},
                                                  {.link_count = 1, .links = &link}};
    struct tacit_helper_request request = {.entries = entries, .entry_count = 1};
    struct tacit_helper_answer const answer = {
        .count = count, .site_count = agents, .sites = no_sites};
    struct tacit_wire_shape const shape = {.agent_count = agents};
    double const one = (double)tacit_wire_bytes(&tacit_wire_helper_request, NULL, &request);
    request.entry_count = 2;
    double const two = (double)tacit_wire_bytes(&tacit_wire_helper_request, NULL, &request);
    return (double)agents * ENVELOPE_BYTES + one + (agents - 1) * (two - one) +
           (double)tacit_wire_bytes(&tacit_wire_helper_answer, &shape, &answer);
}

void tacit_sim_aggregators_count(const struct tacit_sim_aggregators *aggregators, uint32_t agents,
                                 uint32_t count, struct tacit_sim_totals *totals)
{
    if (!aggregators->are_two)
        return;
    totals->messages += 2;
    totals->messages_per_receiver += 2;
    totals->bytes += tacit_sim_aggregators_bytes(agents, count);
}

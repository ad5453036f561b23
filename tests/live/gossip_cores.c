/* Two agents of gossip UCB as the simulator has them: the bare cores on their own clocks, one edge
 * between them, driven by words on stdin; says what they say in the bytes of the wire. For
 * tests/live/gossip.py, which holds two daemons against it: same tapes, same rewards, same order.
 *
 * usage: gossip_cores ARMS HORIZON EPSILON EXCHANGE_S TAPE TAPE
 *   reward SITE ARM VALUE   ->  release SITE HEX; plan SITE ARM...
 *   exchange                ->  ask HEX; offer HEX; shift HEX
 *   end                     ->  theta SITE NUMBER...; both sites */
#include "../support/wire_shape.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_gossip.h"

#define ARMS_MAX 16u
#define SITES 2u

struct site {
    struct tacit_gossip_agent *agent;
    struct tacit_gossip_memory *memory;
    FILE *tape;
    struct tacit_gossip_update update;
};

static struct tacit_gossip_rule rule;
static struct site sites[SITES];
static uint64_t now_us = 1;

static enum tacit_status fill_from_tape(void *context, void *bytes, size_t size)
{
    return fread(bytes, 1, size, context) == size ? TACIT_OK : TACIT_ENTROPY;
}

/* Which neighbour is met is no question here; the daemons' clocks do not begin an exchange. */
static enum tacit_status fill_with_zeros(void *context, void *bytes, size_t size)
{
    (void)context;
    memset(bytes, 0, size);
    return TACIT_OK;
}

/* ---- Saying ---------------------------------------------------------------------------------- */

static void print_hex(const char *word, const uint8_t *bytes, size_t size)
{
    (void)printf("%s ", word);
    for (size_t i = 0; i < size; i++)
        (void)printf("%02x", bytes[i]);
    (void)printf("\n");
}

static void print_message(const char *word, const struct tacit_gossip_message *message)
{
    uint8_t bytes[4096];
    size_t const size = tacit_wire_bytes(WIRE(gossip, rule.arm_count), message);
    TACIT_ASSERT(size <= sizeof bytes);
    tacit_wire_encode(WIRE(gossip, rule.arm_count), message, bytes);
    print_hex(word, bytes, size);
}

static void print_plan(uint32_t site)
{
    struct tacit_gossip_update const *const update = &sites[site].update;
    (void)printf("plan %" PRIu32, site);
    for (uint32_t i = 0; i < update->plan_count; i++)
        (void)printf(" %" PRIu32, update->plan[i].arm);
    (void)printf("\n");
}

static void print_release(uint32_t site, uint32_t arm)
{
    struct tacit_gossip_agent_view view;
    uint8_t bytes[TACIT_WIRE_GOSSIP_RELEASE_BYTES];
    char word[32];
    tacit_gossip_agent_view(sites[site].agent, &view);
    struct tacit_wire_gossip_release const release = {
        arm, view.counts[arm] - (view.arm == arm ? 1 : 0),
        tacit_gossip_agent_sum(sites[site].agent, arm).steps};
    tacit_wire_encode(&tacit_wire_gossip_release, NULL, &release, bytes);
    (void)snprintf(word, sizeof word, "release %" PRIu32, site);
    print_hex(word, bytes, sizeof bytes);
}

static void print_theta(uint32_t site)
{
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_view(sites[site].agent, &view);
    (void)printf("theta %" PRIu32, site);
    for (uint32_t arm = 0; arm < rule.arm_count; arm++)
        (void)printf(" %.17g", view.theta[arm]);
    (void)printf("\n");
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step(uint32_t site, struct tacit_event event, bool is_on_tape)
{
    struct tacit_entropy const tape = {fill_from_tape, sites[site].tape};
    struct tacit_entropy const zeros = {fill_with_zeros, NULL};
    event.now_us = ++now_us;
    enum tacit_status const status =
        tacit_gossip_agent_step(sites[site].agent, sites[site].memory, &event,
                                is_on_tape ? &tape : &zeros, &sites[site].update);
    TACIT_ASSERT(status == TACIT_OK);
}

static void begin(uint32_t index, uint64_t exchange_us, const char *path)
{
    struct site *const site = &sites[index];
    uint32_t const neighbour = 1 - index;
    struct tacit_gossip_agent_config const config = {.rule = rule,
                                                     .run_id = 1,
                                                     .agent_id = index,
                                                     .neighbours = &neighbour,
                                                     .neighbour_count = 1,
                                                     .exchange_us = exchange_us,
                                                     .pull_us = 1};
    site->agent = calloc(1, tacit_gossip_agent_size(&config));
    site->memory = malloc(tacit_gossip_memory_size(&rule));
    site->tape = fopen(path, "rb");
    TACIT_ASSERT(site->agent != NULL && site->memory != NULL && site->tape != NULL);
    TACIT_ASSERT(tacit_gossip_agent_init(site->agent, &config) == TACIT_OK);
    tacit_gossip_memory_init(site->memory, &rule);
    step(index, (struct tacit_event){.kind = TACIT_EVENT_START}, true);
    print_plan(index);
}

static void reward(uint32_t site, uint32_t arm, double value)
{
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD};
    event.as.reward.arm = arm;
    event.as.reward.count = 1;
    event.as.reward.sum.steps = tacit_scale_level(&rule.tree.node.scale, value);
    step(site, event, true);
    print_release(site, arm);
    print_plan(site);
}

/* Hands over what `from` said. */
static void deliver(uint32_t from, const char *word)
{
    struct tacit_gossip_message const message = sites[from].update.message;
    TACIT_ASSERT(sites[from].update.send);
    print_message(word, &message);
    step(1 - from, (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &message}, true);
}

static void exchange(void)
{
    now_us = sites[0].update.deadline_us;
    step(0, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT}, false);
    deliver(0, "ask");
    deliver(1, "offer");
    deliver(0, "shift");
}

int main(int count, char **words)
{
    if (count != 7)
        return 2;
    struct tacit_gossip_config const config = {
        .agent_count = SITES,
        .arm_count = (uint32_t)strtoul(words[1], NULL, 10),
        .horizon = strtoull(words[2], NULL, 10),
        .mechanism = {TACIT_PRIVACY_SOUND, strtod(words[3], NULL), 0, 1},
        .width = 1};
    char line[128];
    TACIT_ASSERT(config.arm_count <= ARMS_MAX);
    TACIT_ASSERT(tacit_gossip_rule_init(&rule, &config) == TACIT_OK);
    for (uint32_t site = 0; site < SITES; site++)
        begin(site, strtoull(words[4], NULL, 10) * 1000000u, words[5 + site]);
    while (fflush(stdout) == 0 && fgets(line, sizeof line, stdin) != NULL) {
        uint32_t site;
        uint32_t arm;
        double value;
        if (sscanf(line, "reward %" SCNu32 " %" SCNu32 " %lf", &site, &arm, &value) == 3) {
            TACIT_ASSERT(site < SITES && arm < rule.arm_count);
            reward(site, arm, value);
        } else if (strcmp(line, "exchange\n") == 0) {
            exchange();
        } else {
            for (site = 0; site < SITES; site++)
                print_theta(site);
        }
    }
    return 0;
}

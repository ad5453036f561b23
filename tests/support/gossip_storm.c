/* See gossip_storm.h. */
#include "testing.h"
#include "gossip_storm.h"

/* To one, whose copies are as they would come over a wire. */
static void send_one(struct gossip_storm *storm, const struct tacit_gossip_message *message,
                     uint32_t arms)
{
    uint32_t copies = tacit_rng_bernoulli(&storm->chance, storm->loss) ? 0 : 1;
    copies += tacit_rng_bernoulli(&storm->chance, storm->duplication) ? 1 : 0;
    for (uint32_t i = 0; i < copies; i++) {
        assert_true(storm->flying_count < GOSSIP_STORM_FLYING);
        struct tacit_gossip_message *const copy =
            testing_calloc(1, tacit_gossip_message_size(message, arms));
        (void)tacit_gossip_message_copy(message, arms, copy);
        storm->flying[storm->flying_count++] = (struct gossip_storm_flying){
            copy, message->to,
            storm->now_us + tacit_rng_below(&storm->chance, storm->delay_us + 1)};
    }
}

static void start_site(struct gossip_storm *storm, uint32_t i);

/* The site may die before, between and after. */
void gossip_storm_step(struct gossip_storm *storm, uint32_t i, struct tacit_event event)
{
    struct gossip_storm_site *const site = &storm->sites[i];
    struct tacit_gossip_update update;
    event.now_us = storm->now_us - site->started_us;
    enum tacit_status const status = storm->step(storm, site, &event, &update);
    assert_true(status == TACIT_OK || status == TACIT_ROLLBACK);
    struct tacit_gossip_agent_view view;
    tacit_gossip_agent_view(site->agent, &view);
    site->halted = site->halted || view.halted;
    site->deadline_us =
        update.deadline_us == TACIT_NEVER ? TACIT_NEVER : update.deadline_us + site->started_us;
    bool const dies = tacit_rng_bernoulli(&storm->chance, storm->crash);
    uint64_t const when = dies ? tacit_rng_below(&storm->chance, 3) : 3;
    if (when > 0 && update.persist) {
        memcpy(site->disk, site->agent, site->size);
        assert_int_equal(tacit_gossip_agent_check(site->disk, site->size, &site->config), TACIT_OK);
    }
    if (when > 1 && update.send)
        send_one(storm, &update.message, site->config.rule.arm_count);
    if (update.plan_count > 0) {
        assert_true(update.plan_count <= GOSSIP_STORM_PLAN);
        memcpy(site->plan, update.plan, update.plan_count * sizeof update.plan[0]);
        site->plan_count = update.plan_count;
    }
    if (dies) {
        storm->crashes++;
        start_site(storm, i);
    }
}

static void start_site(struct gossip_storm *storm, uint32_t i)
{
    struct gossip_storm_site *const site = &storm->sites[i];
    memcpy(site->agent, site->disk, site->size);
    tacit_gossip_memory_init(site->memory, &site->config.rule);
    site->plan_count = 0;
    site->started_us = storm->now_us;
    double const crash = storm->crash;
    storm->crash = 0; /* a start is not the place to die for ever */
    gossip_storm_step(storm, i, (struct tacit_event){.kind = TACIT_EVENT_START});
    storm->crash = crash;
}

void gossip_storm_add(struct gossip_storm *storm, const struct tacit_gossip_agent_config *config,
                      struct tacit_rng entropy, const struct tacit_gossip_agent *disk)
{
    uint32_t const number = storm->site_count++;
    size_t const size = tacit_gossip_agent_size(config);
    assert_true(number < GOSSIP_STORM_SITES);
    struct gossip_storm_site *const site = &storm->sites[number];
    *site = (struct gossip_storm_site){
        .config = *config,
        .size = size,
        .entropy = entropy,
        .agent = testing_calloc(1, size),
        .disk = testing_calloc(1, size),
        .memory = testing_calloc(1, tacit_gossip_memory_size(&config->rule))};
    if (disk != NULL)
        memcpy(site->disk, disk, size);
    else
        assert_int_equal(tacit_gossip_agent_init(site->disk, config), TACIT_OK);
    start_site(storm, number);
}

static void reward_site(struct gossip_storm *storm, uint32_t i)
{
    struct gossip_storm_site *const site = &storm->sites[i];
    uint32_t const arm = site->plan[--site->plan_count].arm;
    union tacit_sum sum = {0};
    bool const good = tacit_rng_bernoulli(&storm->chance, storm->mean(storm, i, arm));
    tacit_sum_add_reward(&site->config.rule.tree.node.scale, &sum, good, 1);
    struct tacit_event const event = {.kind = TACIT_EVENT_REWARD, .as.reward = {arm, 1, sum}};
    gossip_storm_step(storm, i, event);
}

static void deliver_due(struct gossip_storm *storm)
{
    for (uint32_t at = 0; at < storm->flying_count;) {
        if (storm->flying[at].at_us > storm->now_us) {
            at++;
            continue;
        }
        struct gossip_storm_flying const due = storm->flying[at];
        storm->flying[at] = storm->flying[--storm->flying_count];
        struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = due.message};
        for (uint32_t i = 0; i < storm->site_count; i++) /* to all who live under that name */
            if (storm->sites[i].config.agent_id == due.to && !storm->sites[i].halted)
                gossip_storm_step(storm, i, event);
        testing_free(due.message);
    }
}

void gossip_storm_play(struct gossip_storm *storm, uint64_t until_us, bool pulls)
{
    for (; storm->now_us < until_us; storm->now_us += 10) {
        deliver_due(storm);
        for (uint32_t i = 0; i < storm->site_count; i++) {
            struct gossip_storm_site *const site = &storm->sites[i];
            if (site->halted)
                continue;
            if (!storm->is_quiet && storm->now_us >= site->deadline_us)
                gossip_storm_step(storm, i, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
            if (pulls && site->plan_count > 0 && tacit_rng_bernoulli(&storm->chance, 0.5))
                reward_site(storm, i);
        }
    }
}

void gossip_storm_close(struct gossip_storm *storm)
{
    for (uint32_t i = 0; i < storm->site_count; i++) {
        testing_free(storm->sites[i].agent);
        testing_free(storm->sites[i].disk);
        testing_free(storm->sites[i].memory);
    }
    for (uint32_t i = 0; i < storm->flying_count; i++)
        testing_free(storm->flying[i].message);
    network_free(storm->network);
}

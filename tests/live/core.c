/* What a site of elimination runs, made of the invitation that the coordinator writes: what does
 * not fit into a message, and what sites of a star, a ring and a hybrid are told. Whole runs:
 * seam.c. */
#include "../support/wire_shape.h"
#include "../support/testing.h"
#include "../support/network.h"
#include "../../src/live/bus/envelope.h"
#include "../../src/families/elim/live.h"
#include "../../src/families/elim/role.h"
#include "../../src/families/elim/settings.h"
#include "../../src/families/select/live.h"

#define SITES 6u
#define ARMS 3u
#define HORIZON 20000u

static const char *const names[SITES] = {"north", "east", "south", "west", "up", "down"};
static const uint64_t wish_nano = 100 * TACIT_NANO;

/* ---- Networks -------------------------------------------------------------------------------- */

static struct tacit_elim_network ring_of_six(void)
{
    static const struct tacit_graph_spec ring = {.kind = TACIT_GRAPH_RING, .agent_count = SITES};
    return network_for_sim(network_new(&ring, 1, 1), TACIT_ELIM_SPREAD);
}

/* 0 - 1 - 2 with sink 1, a star of 3 and 4, and 5 alone. */
static struct tacit_elim_network three_parts(void)
{
    static const struct tacit_graph_spec parts[] = {
        {.kind = TACIT_GRAPH_PATH, .agent_count = 3},
        {.kind = TACIT_GRAPH_STAR, .agent_count = 2},
        {.kind = TACIT_GRAPH_COMPLETE, .agent_count = 1}};
    return network_for_sim(network_new(parts, 3, 1), TACIT_ELIM_GATHER);
}

static struct elim_hub_settings settings; /* of the configuration that was made last */

/* As many as a run can have, of one letter. */
static const char *const *arm_names(void)
{
    static const char *all[TACIT_ARMS_MAX];
    for (uint32_t arm = 0; arm < TACIT_ARMS_MAX; arm++)
        all[arm] = "x";
    return all;
}

/* network: NULL: a star. */
static struct live_hub_config config_of(const struct tacit_elim_network *network)
{
    settings = (struct elim_hub_settings){
        .report_count = SITES, .round_limit = 4, .gap = 0.1, .network = network};
    return (struct live_hub_config){.federation = "trial",
                                    .sites = names,
                                    .site_count = SITES,
                                    .arm_count = ARMS,
                                    .arm_names = arm_names(),
                                    .hi = 1,
                                    .run_id = 7,
                                    .horizon = HORIZON,
                                    .epsilon = 100,
                                    .quorum = SITES,
                                    .deadline_s = 60,
                                    .settings = &settings};
}

/* A star graph of so many sites around site 0, all of this name. */
static struct live_hub_config star_graph(uint32_t sites, const char *name, uint32_t arms)
{
    static const char *all_names[TACIT_AGENTS_MAX]; /* said twice: as neighbours, and as all */
    static uint32_t label[TACIT_AGENTS_MAX];
    static uint32_t queue[TACIT_AGENTS_MAX];
    static struct tacit_edge edges[TACIT_AGENTS_MAX];
    static struct tacit_graph graph;
    static struct tacit_elim_network network;
    static void *memory;
    assert_in_range(sites, 2, TACIT_AGENTS_MAX);
    for (uint32_t site = 0; site < sites; site++)
        all_names[site] = name;
    for (uint32_t leaf = 1; leaf < sites; leaf++)
        edges[leaf - 1] = (struct tacit_edge){0, leaf};
    free(memory);
    memory = malloc(tacit_graph_size(sites, sites - 1));
    assert_non_null(memory);
    assert_int_equal(tacit_graph_init(&graph, memory, sites, edges, sites - 1), TACIT_OK);
    assert_int_equal(tacit_graph_components(&graph, label, queue), 1);
    network = (struct tacit_elim_network){.collection = TACIT_ELIM_SPREAD,
                                          .graph = &graph,
                                          .label = label,
                                          .parent = label,
                                          .component_count = 1};
    struct live_hub_config config = config_of(&network);
    config.sites = all_names;
    config.site_count = settings.report_count = sites;
    config.arm_count = arms;
    return config;
}

/* ---- Sites ----------------------------------------------------------------------------------- */

static struct live_site_config policy(void)
{
    return (struct live_site_config){.federation = "trial",
                                     .epsilon = 100,
                                     .budget = 100,
                                     .lo = 0,
                                     .hi = 1,
                                     .resend_after_us = 2000000,
                                     .rounds_max = 40};
}

/* This site joins, as it is told. NULL: it does not, which is expected. */
static struct live_site *join(const struct live_hub_config *config, uint32_t site,
                              enum tacit_status expected)
{
    struct live_site_config const allowed = policy();
    struct live_site *core = NULL;
    char const *objection = NULL;
    size_t size;
    uint8_t *const bytes = live_hub_announce(&elim_hub_ops, config, site, &size);
    assert_non_null(bytes);
    assert_int_equal(live_site_join(&elim_site_ops, &core, &allowed, bytes, size, &objection),
                     expected);
    free(bytes);
    return core;
}

/* ---- What fits ------------------------------------------------------------------------------- */

static struct live_site *leaf(uint32_t sites, uint32_t arms, enum tacit_status expected)
{
    struct live_hub_config const config = star_graph(sites, "leaf", arms);
    return join(&config, 1, expected);
}

/* Rows that a leaf asks for when the centre has all others. */
static uint32_t rows_asked_for(struct live_site *core, uint32_t sites)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    uint64_t *const others = calloc(TACIT_BITS_WORDS(sites), sizeof *others);
    struct tacit_event event = {.now_us = 1, .kind = TACIT_EVENT_START, .signer = &network_signer};
    struct tacit_elim_update update;
    assert_non_null(others);
    tacit_bits_fill(others, sites);
    tacit_bits_remove(others, 1);
    assert_int_equal(elim_site_feed(core, &event, &entropy, &update), TACIT_OK);
    struct tacit_elim_message const advert = {.kind = TACIT_ELIM_ADVERT,
                                              .to = TACIT_NEIGHBOURS,
                                              .run_id = 7,
                                              .epoch = 1,
                                              .has_history = true,
                                              .origins = others};
    event = (struct tacit_event){
        .now_us = 2, .kind = TACIT_EVENT_RECEIVE, .as.message = &advert, .signer = &network_signer};
    assert_int_equal(elim_site_feed(core, &event, &entropy, &update), TACIT_OK);
    assert_true(update.send);
    assert_int_equal(update.message.kind, TACIT_ELIM_REQUEST);
    uint32_t const rows = tacit_bits_count(update.message.origins, sites);
    free(others);
    return rows;
}

/* Bytes of DATA with the rows of the last so many sites: whose set is the longest. */
static size_t data_bytes(uint32_t sites, uint32_t arms, uint32_t rows)
{
    uint64_t *const origins = calloc(TACIT_BITS_WORDS(sites), sizeof *origins);
    assert_non_null(origins);
    tacit_bits_add(origins, 0);
    for (uint32_t i = 1; i < rows; i++)
        tacit_bits_add(origins, sites - i);
    static const struct tacit_elim_opening opening;
    struct tacit_elim_message const data = {.kind = TACIT_ELIM_DATA,
                                            .origins = origins,
                                            .sum_count = arms,
                                            .openings = &opening,
                                            .is_signed = true,
                                            .has_history = true};
    size_t const size = tacit_wire_bytes(WIRE(elim, arms, sites), &data);
    free(origins);
    return size;
}

/* A hub of thousands answers later: else all would say everything again before it can have. */
TEST(a_site_of_thousands_says_again_later)
{
    static const struct {
        uint32_t sites;
        uint64_t pause_us;
    } cases[] = {{2, 2000000}, {2000, 2000000}, {2001, 2001000}, {20000, 20000000}};
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct live_hub_config config = config_of(NULL);
        config.site_count = settings.report_count = cases[i].sites;
        struct live_site *const core = join(&config, 1, TACIT_OK);
        struct tacit_elim_update update;
        for (uint32_t again = 0; again < 4; again++) { /* it waits, greets, then pauses double */
            struct tacit_event const event = {.now_us = UINT64_C(1) << 40 << again,
                                              .kind = again == 0 ? TACIT_EVENT_START
                                                                 : TACIT_EVENT_TIMEOUT};
            uint64_t const pause_us = cases[i].pause_us << (again == 0 ? 0 : again - 1);
            assert_int_equal(elim_site_feed(core, &event, &entropy, &update), TACIT_OK);
            assert_int_equal(update.send, again > 0);
            assert_int_equal(update.deadline_us - event.now_us, pause_us);
        }
        live_site_free(core);
    }
}

TEST(a_message_has_as_many_rows_as_it_has_room_for)
{
    static const uint32_t cases[][2] = {{500, 2},    {500, 17},   {500, 100}, {500, 1000},
                                        {500, 4000}, {20000, 20}, {100, 7800}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t const sites = cases[i][0];
        uint32_t const arms = cases[i][1];
        struct live_site *const core = leaf(sites, arms, TACIT_OK);
        uint32_t const rows = rows_asked_for(core, sites);
        assert_true(data_bytes(sites, arms, rows) <= LIVE_ENVELOPE_BYTES_MAX);
        if (rows < sites - 1) /* else all of them were asked for */
            assert_true(data_bytes(sites, arms, rows + 1) + 192 > LIVE_ENVELOPE_BYTES_MAX);
        live_site_free(core);
    }
}

/* Two sets, of 10 sites and of 125 words of arms, 192 bytes for all else, and one row with what
 * opens it and its signature: 65136 with 7976 arms. */
TEST(a_run_whose_rows_do_not_fit_is_refused)
{
    uint32_t arms = 7900;
    struct live_site *core;
    for (; (core = leaf(10, arms, arms <= 7976 ? TACIT_OK : TACIT_REFUSED)) != NULL; arms++) {
        assert_true(data_bytes(10, arms, 1) <= LIVE_ENVELOPE_BYTES_MAX);
        live_site_free(core);
    }
    assert_true(data_bytes(10, arms, 1) + 192 > LIVE_ENVELOPE_BYTES_MAX);
    assert_null(leaf(10, TACIT_ARMS_MAX, TACIT_REFUSED));
    assert_null(leaf(TACIT_AGENTS_MAX, 2, TACIT_REFUSED)); /* 128 KiB of whose they are */
    live_site_free(leaf(400000, 2, TACIT_OK));
}

TEST(a_star_whose_reports_do_not_fit_is_refused)
{
    struct live_hub_config config = config_of(NULL);
    for (config.arm_count = 7900; config.arm_count < 8100; config.arm_count++) {
        static const struct tacit_commit opening;
        struct tacit_elim_message const report = {
            .kind = TACIT_ELIM_REPORT, .sum_count = config.arm_count, .commit = &opening};
        bool const fits = tacit_wire_bytes(WIRE(elim, config.arm_count, SITES), &report) <=
                          LIVE_ENVELOPE_BYTES_MAX;
        live_site_free(join(&config, 0, fits ? TACIT_OK : TACIT_REFUSED));
        assert_int_equal(live_hub_too_large(&elim_hub_ops, &config) == NULL, fits);
    }
}

/* Whoever announces it is refused at once, and the site has something else to do. */
TEST(a_ladder_of_a_thousand_million_rungs_is_refused)
{
    struct live_hub_config config = config_of(NULL);
    config.horizon = UINT64_C(1) << 30;
    settings.round_limit = 0;
    settings.gap = 1;
    settings.growth = 1 + 1e-15;
    assert_null(join(&config, 0, TACIT_REFUSED));
    settings.growth = 2;
    live_site_free(join(&config, 0, TACIT_OK));
}

/* Its intervals would be of no confidence, and cannot be shown. */
TEST(exact_bounds_of_a_single_pull_are_refused)
{
    struct live_hub_config config = config_of(NULL);
    config.horizon = 1;
    settings.round_limit = 0;
    settings.gap = 1;
    settings.growth = 2;
    assert_null(join(&config, 0, TACIT_REFUSED));
    settings.confidence = 0.5;
    live_site_free(join(&config, 0, TACIT_OK));
}

/* ---- Invitations ----------------------------------------------------------------------------- */

static struct tacit_wire_elim_run invited(const struct live_hub_config *config, uint32_t site)
{
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_elim_run run;
    size_t size;
    uint8_t *const bytes = live_hub_announce(&elim_hub_ops, config, site, &size);
    assert_non_null(bytes);
    assert_int_equal(tacit_wire_decode(&tacit_wire_announcement, NULL, bytes, size, &announcement,
                                       tacit_wire_heap()),
                     TACIT_OK);
    assert_int_equal(tacit_wire_run_decode(&tacit_wire_elim, announcement, &run, tacit_wire_heap()),
                     TACIT_OK);
    assert_string_equal(announcement->agreement.arms[0], config->arm_names[0]);
    assert_true(announcement->agreement.lo == config->lo &&
                announcement->agreement.hi == config->hi);
    free(announcement);
    assert_int_equal(run.agent, site);
    assert_int_equal(run.agent_count, config->site_count);
    assert_true(run.epsilon_nano == wish_nano);
    free(bytes);
    return run;
}

static void free_invited(struct tacit_wire_elim_run *run)
{
    free(ELIM_RUN_BLOCK(run));
}

TEST(sites_of_a_ring_are_told_of_both_neighbours)
{
    struct tacit_elim_network const ring = ring_of_six();
    struct live_hub_config const config = config_of(&ring);
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_wire_elim_run run = invited(&config, site);
        uint32_t const before = (site + SITES - 1) % SITES;
        uint32_t const after = (site + 1) % SITES;
        uint32_t const low = before < after ? before : after;
        uint32_t const high = before < after ? after : before;
        assert_int_equal(run.network, TACIT_WIRE_ELIM_SPREAD);
        assert_int_equal(run.neighbour_count, 2);
        assert_int_equal(run.neighbours[0].agent, low);
        assert_int_equal(run.neighbours[1].agent, high);
        assert_string_equal(run.neighbours[0].site, names[low]);
        assert_string_equal(run.neighbours[1].site, names[high]);
        assert_null(run.members); /* all of them */
        assert_int_equal(run.round_limit, 4);
        assert_true(run.gap == 0.1);
        assert_int_equal(run.gather_timeout_s, 0);
        free_invited(&run);
    }
}

TEST(sites_of_a_hybrid_are_told_the_way_to_their_sink)
{
    static const uint32_t parents[SITES] = {1, 1, 1, 3, 3, 5};
    static const uint64_t members[SITES] = {0, 7, 0, 0x18, 0, 0x20}; /* of the sinks */
    static const uint32_t weights[SITES] = {0, 3, 0, 2, 0, 1};
    struct tacit_elim_network const parts = three_parts();
    struct live_hub_config const config = config_of(&parts);
    for (uint32_t site = 0; site < SITES; site++) {
        struct tacit_wire_elim_run run = invited(&config, site);
        assert_int_equal(elim_role_weight(&parts, site), weights[site]);
        assert_int_equal(run.network, TACIT_WIRE_ELIM_GATHER);
        assert_int_equal(run.parent, parents[site]);
        assert_int_equal(run.neighbour_count, tacit_graph_degree(parts.graph, site));
        assert_int_equal(run.members != NULL, members[site] != 0);
        if (members[site] != 0)
            assert_true(run.members[0] == members[site]);
        free_invited(&run);
    }
}

/* Half of the hub's deadline, at least a second; where the quorum is everybody, for ever. */
TEST(sinks_wait_for_all_or_for_half_the_deadline)
{
    static const uint32_t cases[][3] = {
        {SITES, 60, 0}, {SITES - 1, 60, 30}, {1, 61, 30}, {1, 2, 1}, {1, 1, 1}};
    struct tacit_elim_network const parts = three_parts();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct live_hub_config config = config_of(&parts);
        config.quorum = cases[i][0];
        config.deadline_s = cases[i][1];
        struct tacit_wire_elim_run run = invited(&config, 1);
        assert_int_equal(run.gather_timeout_s, cases[i][2]);
        free_invited(&run);
    }
}

TEST(without_a_round_limit_the_gap_is_one)
{
    struct tacit_elim_network const ring = ring_of_six();
    struct live_hub_config config = config_of(&ring);
    settings = elim_hub_settings_make(1, SITES, 0, 0);
    settings.network = &ring;
    struct tacit_wire_elim_run run = invited(&config, 0);
    assert_true(run.gap == 1);
    free_invited(&run);
}

static const char *too_large_around(uint32_t sites, const char *name, uint32_t arms)
{
    struct live_hub_config const config = star_graph(sites, name, arms);
    return live_hub_too_large(&elim_hub_ops, &config);
}

TEST(invitations_that_do_not_fit_are_found_out)
{
    char name[65];
    memset(name, 'x', 64);
    name[64] = '\0';
    assert_string_equal(too_large_around(512, name, ARMS), "network");
    assert_null(too_large_around(512, name + 32, ARMS));
    assert_string_equal(too_large_around(512, name + 32, 9000), "arms");
}

/* A training of four rounds by these sites, and its settings. */
static struct live_hub_config training(void)
{
    static const struct select_hub_settings wanted = {
        .core = {.dimension = 6, .round_count = 4, .clip = 1}, .batches = 1};
    struct live_hub_config config = config_of(NULL);
    config.settings = &wanted;
    config.horizon = 4;
    config.arm_names = names;
    config.arm_count = SITES;
    return config;
}

/* Site 0 joins it, by this file. */
static enum tacit_status join_training(const struct live_hub_config *config,
                                       const struct live_site_config *allowed,
                                       struct live_site **site, const char **objection)
{
    size_t size;
    uint8_t *const announcement = live_hub_announce(&select_hub_ops, config, 0, &size);
    assert_non_null(announcement);
    enum tacit_status const status =
        live_site_join(&select_site_ops, site, allowed, announcement, size, objection);
    free(announcement);
    return status;
}

TEST(a_training_whose_floor_is_not_kept_is_refused)
{
    static const struct tacit_wire_sealing sealing; /* of another helper */
    struct select_site_settings const own = {.eta = 0.04, .dimension = 6};
    struct live_hub_config config = training();
    struct live_site_config allowed = policy();
    config.has_helper = true;
    config.sealing = &sealing;
    allowed.settings = &own;
    for (uint32_t less = 0; less < 2; less++) {
        struct live_site *site = NULL;
        const char *objection = "";
        config.floor_nano = wish_nano - less;
        assert_int_equal(join_training(&config, &allowed, &site, &objection), TACIT_REFUSED);
        assert_non_null(strstr(objection, less > 0 ? "the run's floor" : "another key"));
    }
}

/* What the file says of the model is no part of the state's identity: another number is found when
 * the state is put back, and said in words. */
TEST(a_training_whose_model_is_another_is_not_put_back)
{
    struct select_site_settings own = {.eta = 0.04, .dimension = 6};
    struct live_hub_config const config = training();
    struct live_site_config allowed = policy();
    struct live_site *sites[2] = {NULL, NULL};
    const char *objection = "";
    size_t size;
    allowed.settings = &own;
    assert_int_equal(join_training(&config, &allowed, &sites[0], &objection), TACIT_OK);
    void const *const bytes = live_site_bytes(sites[0], &size);
    for (uint32_t more = 0; more < 2; more++) {
        own.dimension = 6 + more;
        assert_int_equal(
            live_site_restore(&select_site_ops, &sites[1], &allowed, bytes, size, &objection),
            more > 0 ? TACIT_MALFORMED : TACIT_OK);
        assert_true(more > 0 ? strstr(objection, "policy.parameters") != NULL : objection == NULL);
        live_site_free(more > 0 ? NULL : sites[1]);
    }
    live_site_free(sites[0]);
}

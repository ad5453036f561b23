/* Plays all sites of a federation on one coordinator: each site is the agent core with a connection
 * and a certificate of its own. A round begins when every site has the order; then all reports go
 * out at once, and the time is taken from the last of them to the moment when the last site has the
 * next order. Not played: applications (every pull brings half of the range) and stores.
 *
 * usage: coordinator_load PKI PORT FEDERATION SITES ARMS      sites are called site-0, site-1, ..
 */
#include "../src/live/bus/bus.h"
#include "../src/live/bus/letter.h"
#include "../src/live/daemon/entropy.h"
#include "../src/live/bus/topics.h"
#include "tacit/elim.h"
#include "tacit/wire_elim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CONNECTING_MAX 16u /* at once; the broker shakes hands one after the other */
#define TICK_US 100000u
#define PATH_BYTES 4096u
#define RESEND_AFTER_US 2000000u
#define US_PER_MS 1e3

struct load;

struct site {
    struct load *load;
    struct live_bus *bus;
    struct live_letters letters;
    char name[16];
    uint32_t index;
    struct tacit_elim_agent *core; /* NULL: not announced yet */
    uint64_t deadline_us;
    uint32_t epoch; /* of the last order */
    uint32_t plan_count;
    struct tacit_pull_block *plan;
    uint8_t *report; /* encoded, not sent yet */
    size_t report_size;
};

struct load {
    struct live_loop *loop;
    struct live_timer *timer;
    const char *pki;
    uint16_t port;
    const char *federation;
    struct site *sites;
    uint32_t site_count;
    uint32_t arm_count;
    struct tacit_mechanism mechanism;
    uint32_t opened;
    uint32_t connected;
    uint32_t epoch;       /* the order that sites are getting */
    uint32_t ready_count; /* sites that have it */
    bool is_over;         /* the order was the last one */
    uint64_t resent;
    uint64_t began_us;
    uint64_t uploaded_us; /* the last report of the round before */
    uint64_t first_us;    /* the first site that has the order */
    uint64_t slowest_us;
};

static void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "coordinator_load: %s: %s\n", what, why);
    exit(1);
}

/* ---- What a site says ------------------------------------------------------------------------ */

static void publish(struct site *site, const uint8_t *bytes, size_t size)
{
    struct live_topic const topic =
        live_topic_up(site->load->federation, site->name, "elimination");
    if (live_bus_publish(site->bus, topic.text, bytes, size, false) != TACIT_OK)
        fail(site->name, "cannot publish");
}

/* The report that ends an epoch waits until all sites have theirs; everything else goes at once. */
static void say(struct site *site, const struct tacit_elim_message *message, bool is_held)
{
    struct load *const load = site->load;
    size_t const body_size = tacit_wire_elim_bytes(message, load->arm_count, load->site_count);
    uint8_t *const body = malloc(body_size);
    size_t size;
    if (body == NULL ||
        tacit_wire_elim_encode(message, load->arm_count, load->site_count, body) != TACIT_OK)
        fail(site->name, "out of memory");
    struct live_letter const letter = {.to = TACIT_WIRE_COORDINATOR,
                                       .kind = tacit_wire_elim_kind(message->kind),
                                       .epoch = message->epoch,
                                       .body = body,
                                       .size = body_size};
    uint8_t *const bytes = live_letter_close(&site->letters, &letter, &size);
    if (bytes == NULL)
        fail(site->name, "out of memory");
    free(body);
    if (is_held) {
        site->report = bytes;
        site->report_size = size;
        return;
    }
    publish(site, bytes, size);
    free(bytes);
}

static void step(struct site *site, struct tacit_elim_event event, bool is_held)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_NOISE);
    struct tacit_elim_update update;
    event.now_us = live_now_us();
    if (tacit_elim_agent_step(site->core, &event, &entropy, &update) != TACIT_OK)
        fail(site->name, "a step was refused");
    site->deadline_us = update.deadline_us;
    if (update.plan_count > 0) {
        site->plan_count = update.plan_count;
        memcpy(site->plan, update.plan, update.plan_count * sizeof *site->plan);
    }
    if (update.send)
        say(site, &update.message, is_held);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Arms that are all alike stay in to the end: the largest messages. */
static void play_plan(struct site *site)
{
    for (uint32_t i = 0; i < site->plan_count; i++) {
        struct tacit_elim_event event = {.kind = TACIT_EVENT_REWARD};
        event.as.reward.arm = site->plan[i].arm;
        event.as.reward.count = site->plan[i].count;
        event.as.reward.sum.steps = (int64_t)(site->plan[i].count * (TACIT_STEPS / 2));
        step(site, event, true);
    }
    site->plan_count = 0;
}

static void upload_all(struct load *load)
{
    uint64_t const began_us = live_now_us();
    for (uint32_t i = 0; i < load->site_count; i++) {
        struct site *const site = &load->sites[i];
        publish(site, site->report, site->report_size);
        free(site->report);
        site->report = NULL;
    }
    load->uploaded_us = live_now_us();
    (void)printf("epoch %u: %u reports of %zu bytes within %.0f ms; ", load->epoch,
                 load->site_count, load->sites[0].report_size,
                 (double)(load->uploaded_us - began_us) / US_PER_MS);
}

static void tell_round(struct load *load)
{
    uint64_t const now_us = live_now_us();
    uint64_t const took_us = now_us - load->uploaded_us;
    if (load->uploaded_us == 0) {
        (void)printf("%u sites connected, joined and ordered within %.1f s\n", load->site_count,
                     (double)(now_us - load->began_us) / (1e3 * US_PER_MS));
        return;
    }
    if (took_us > load->slowest_us)
        load->slowest_us = took_us;
    (void)printf("from the last one to the next order: first site %.0f ms, last site %.0f ms\n",
                 (double)(load->first_us - load->uploaded_us) / US_PER_MS,
                 (double)took_us / US_PER_MS);
    (void)fflush(stdout);
}

/* A site has an order that it did not have. */
static void on_new_order(struct site *site, bool is_last)
{
    struct load *const load = site->load;
    if (site->epoch != load->epoch) {
        load->epoch = site->epoch;
        load->ready_count = 0;
        load->first_us = live_now_us();
    }
    load->is_over |= is_last;
    if (++load->ready_count < load->site_count)
        return;
    tell_round(load);
    if (load->is_over) {
        live_loop_stop(load->loop);
        return;
    }
    for (uint32_t i = 0; i < load->site_count; i++)
        play_plan(&load->sites[i]);
    upload_all(load);
}

/* ---- What a site hears ----------------------------------------------------------------------- */

static void join(struct site *site, const uint8_t *bytes, size_t size)
{
    struct load *const load = site->load;
    struct tacit_wire_announcement *announcement;
    struct tacit_wire_envelope envelope;
    struct tacit_wire_elim_run run;
    if (site->core != NULL)
        return;
    if (live_letter_open_announcement(&site->letters, bytes, size, &envelope) != NULL ||
        tacit_wire_announcement_decode(envelope.body, envelope.body_size, &announcement) !=
            TACIT_OK ||
        tacit_wire_elim_run_decode(announcement, &run) != TACIT_OK ||
        live_letters_begin(&site->letters, &announcement->agreement) != TACIT_OK ||
        run.agent != site->index || run.agent_count != load->site_count ||
        run.arm_count != load->arm_count || run.network != NULL)
        fail(site->name, "another run is announced");
    free(announcement);
    struct tacit_elim_agent_config const config = {.run_id = run.run_id,
                                                   .agent_id = run.agent,
                                                   .agent_count = run.agent_count,
                                                   .arm_count = run.arm_count,
                                                   .horizon = run.horizon,
                                                   .mechanism = load->mechanism,
                                                   .budget_nano = 100 * (uint64_t)TACIT_NANO,
                                                   .resend_after_us = RESEND_AFTER_US};
    site->core = calloc(1, tacit_elim_agent_size(&config));
    site->plan = calloc(run.arm_count, sizeof *site->plan);
    if (site->core == NULL || site->plan == NULL ||
        tacit_elim_agent_init(site->core, &config) != TACIT_OK)
        fail(site->name, "cannot join");
    step(site, (struct tacit_elim_event){.kind = TACIT_EVENT_START}, false);
}

static void hear(struct site *site, uint32_t to, const uint8_t *bytes, size_t size)
{
    struct load *const load = site->load;
    struct tacit_wire_envelope envelope;
    struct tacit_elim_message *message;
    struct tacit_elim_agent_view view;
    if (site->core == NULL)
        return;
    if (live_letter_open(&site->letters, TACIT_WIRE_COORDINATOR, bytes, size, &envelope) != NULL ||
        tacit_wire_elim_decode(envelope.body, envelope.body_size, load->arm_count, load->site_count,
                               to, &message) != TACIT_OK)
        fail(site->name, "an order does not decode");
    step(site, (struct tacit_elim_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message},
         false);
    free(message);
    tacit_elim_agent_look(site->core, &view);
    if (view.epoch == site->epoch)
        return;
    site->epoch = view.epoch;
    on_new_order(site, view.last);
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct site *const site = context;
    const char *const federation = site->load->federation;
    if (strcmp(topic, live_topic_to(federation, site->name, "announce").text) == 0)
        join(site, bytes, size);
    else if (strcmp(topic, live_topic_down(federation, "elimination").text) == 0)
        hear(site, TACIT_EVERYONE, bytes, size);
    else
        hear(site, site->index, bytes, size);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void open_next(struct load *load);

static void on_connected(void *context)
{
    struct site *const site = context;
    const char *const federation = site->load->federation;
    (void)live_bus_subscribe(site->bus, live_topic_to(federation, site->name, "announce").text);
    (void)live_bus_subscribe(site->bus, live_topic_to(federation, site->name, "elimination").text);
    (void)live_bus_subscribe(site->bus, live_topic_down(federation, "elimination").text);
    site->load->connected++;
    open_next(site->load);
}

static void on_disconnected(void *context, const char *reason)
{
    struct site *const site = context;
    fail(site->name, reason);
}

static void open_site(struct load *load, struct site *site)
{
    char files[3][PATH_BYTES];
    struct tacit_error error;
    (void)snprintf(site->name, sizeof site->name, "site-%u", site->index);
    site->letters = (struct live_letters){
        .federation = load->federation, .self = site->name, .family = TACIT_WIRE_ELIM_FAMILY};
    (void)snprintf(files[0], PATH_BYTES, "%s/ca.crt", load->pki);
    (void)snprintf(files[1], PATH_BYTES, "%s/%s.crt", load->pki, site->name);
    (void)snprintf(files[2], PATH_BYTES, "%s/%s.key", load->pki, site->name);
    struct live_bus_config const config = {.host = "127.0.0.1",
                                           .port = load->port,
                                           .ca_file = files[0],
                                           .certificate_file = files[1],
                                           .key_file = files[2],
                                           .client_id = site->name,
                                           .keepalive_s = 60,
                                           .reconnect_us_min = 100000,
                                           .reconnect_us_max = 1000000};
    struct live_bus_events const events = {site, on_connected, on_disconnected, on_received};
    if (live_bus_open(&site->bus, load->loop, &config, &events, &error) != TACIT_OK)
        fail(site->name, error.text);
}

static void open_next(struct load *load)
{
    while (load->opened < load->site_count && load->opened - load->connected < CONNECTING_MAX)
        open_site(load, &load->sites[load->opened++]);
}

/* What was lost is said again by the cores. */
static void on_tick(void *context)
{
    struct load *const load = context;
    uint64_t const now_us = live_now_us();
    for (uint32_t i = 0; i < load->site_count; i++) {
        struct site *const site = &load->sites[i];
        if (site->core == NULL || site->deadline_us > now_us || site->report != NULL)
            continue;
        load->resent++;
        step(site, (struct tacit_elim_event){.kind = TACIT_EVENT_TIMEOUT}, false);
    }
    live_timer_set(load->timer, now_us + TICK_US);
}

/* ---- Main ------------------------------------------------------------------------------------ */

/* Three descriptors a site. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void set_up(struct load *load, char **arguments)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    *load = (struct load){.pki = arguments[1],
                          .port = (uint16_t)strtoul(arguments[2], NULL, 10),
                          .federation = arguments[3],
                          .site_count = (uint32_t)strtoul(arguments[4], NULL, 10),
                          .arm_count = (uint32_t)strtoul(arguments[5], NULL, 10),
                          .began_us = live_now_us()};
    load->sites = calloc(load->site_count, sizeof *load->sites);
    if (load->sites == NULL || tacit_mechanism_init(&load->mechanism, &mechanism) != TACIT_OK ||
        live_loop_open(&load->loop) != TACIT_OK)
        fail("start", "out of memory or descriptors");
    for (uint32_t i = 0; i < load->site_count; i++)
        load->sites[i] = (struct site){.load = load, .index = i, .deadline_us = TACIT_NEVER};
    load->timer = live_timer_new(load->loop, on_tick, load);
    if (load->timer == NULL)
        fail("start", "no timer");
    live_timer_set(load->timer, live_now_us() + TICK_US);
}

int main(int argument_count, char **arguments)
{
    struct load load;
    if (argument_count != 6)
        fail("usage", "coordinator_load PKI PORT FEDERATION SITES ARMS");
    raise_descriptor_limit();
    set_up(&load, arguments);
    open_next(&load);
    if (live_loop_run(load.loop) != TACIT_OK)
        fail("run", "the event loop failed");
    (void)printf("slowest round: %.0f ms; messages said again: %llu\n",
                 (double)load.slowest_us / US_PER_MS, (unsigned long long)load.resent);
    for (uint32_t i = 0; i < load.site_count; i++) {
        live_bus_close(load.sites[i].bus);
        free(load.sites[i].core);
        free(load.sites[i].plan);
    }
    live_loop_close(load.loop);
    free(load.sites);
    return 0;
}

/* Plays all sites of a federation on one coordinator: each site is the agent core with a connection
 * and a certificate of its own. A round begins when every site has the order; then all reports go
 * out at once, and the time is taken from the last of them to the moment when the last site has the
 * next order. Not played: applications (every pull brings half of the range) and stores. Of several
 * brokers each has its part of the sites; one that goes away and comes back costs time.
 *
 * usage: coordinator_load PKI PORT[,PORT...] FEDERATION SITES ARMS [FIRST COUNT [GATE]]
 * Sites are called site-0, ..; COUNT of them, from FIRST on, are played by this process. The first
 * round begins when the file GATE is there.
 */
#include "../src/live/bus/bus.h"
#include "../src/live/bus/envelope.h"
#include "../src/live/daemon/entropy.h"
#include "../src/live/bus/topics.h"
#include "../src/live/site.h"
#include "tacit/elim.h"
#include "tacit/wire_elim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define CONNECTING_MAX 16u /* at once; the broker shakes hands one after the other */
#define TICK_US 100000u
#define PATH_BYTES 4096u
#define RESEND_AFTER_US 2000000u
#define US_PER_MS 1e3
#define PORTS_MAX 16u

struct load;

struct site {
    struct load *load;
    struct live_bus *bus;
    struct live_envelopes envelopes;
    struct live_signer *signer;
    char name[16];
    uint32_t index;
    struct tacit_elim_agent *core; /* NULL: not announced yet */
    uint64_t deadline_us;
    uint32_t epoch; /* of the last order */
    uint32_t plan_count;
    struct tacit_pull_block *plan;
    uint8_t *report; /* encoded, not sent yet */
    size_t report_size;
    uint32_t sent_epoch; /* of the last report that was sent */
    bool has_connected;  /* once */
};

struct load {
    struct live_loop *loop;
    struct live_timer *timer;
    const char *pki;
    const char *gate; /* NULL: there is none, or it was there */
    uint16_t ports[PORTS_MAX];
    uint32_t port_count;
    const char *federation;
    struct live_keys *keys; /* the coordinator's: what one site has checked holds for all */
    struct site *sites;
    uint32_t site_count; /* of the run */
    uint32_t own_count;  /* of them played here */
    uint32_t first;
    uint32_t arm_count;
    struct tacit_mechanism mechanism;
    uint32_t opened;
    uint32_t connected;
    uint32_t epoch;       /* the order that sites are getting */
    uint32_t ready_count; /* sites that have it */
    uint64_t ready_us;    /* when all had it */
    uint8_t *order;       /* the last one that a site has checked */
    size_t order_size;
    uint32_t held_count; /* sites whose report is granted and waits for the others' */
    bool is_over;        /* the order was the last one */
    uint64_t resent;
    uint64_t lost;     /* connections */
    uint64_t cpu_us;   /* of this program, when the order before was there */
    uint64_t whole_us; /* the slowest from order to order */
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

static struct live_topic topic_up(const struct site *site)
{
    return live_topic_up(site->load->federation, site->name, "elimination");
}

static void publish(struct site *site, const uint8_t *bytes, size_t size)
{
    (void)live_bus_publish(site->bus, topic_up(site).text, bytes, size,
                           false); /* else it is lost */
}

static void upload_all(struct load *load);

/* A report waits until all sites have theirs granted; everything else goes at once. What is said
 * again while it waits is the same report. */
static void hold(struct site *site, uint8_t *bytes, size_t size)
{
    struct load *const load = site->load;
    free(site->report);
    load->held_count += site->report == NULL;
    site->report = bytes;
    site->report_size = size;
    if (load->held_count == load->own_count)
        upload_all(load);
}

static void send_message(struct site *site, const struct tacit_elim_message *message)
{
    struct load *const load = site->load;
    struct tacit_wire_shape const shape = {.arm_count = load->arm_count,
                                           .agent_count = load->site_count};
    size_t const body_size = tacit_wire_bytes(tacit_wire_elim.messages, &shape, message);
    uint8_t *const body = malloc(body_size);
    size_t size;
    if (body == NULL)
        fail(site->name, "out of memory");
    tacit_wire_encode(tacit_wire_elim.messages, &shape, message, body);
    struct live_topic const topic = topic_up(site);
    struct live_envelope const envelope = {
        .topic = topic.text,
        .to = TACIT_WIRE_COORDINATOR,
        .kind = tacit_wire_label(tacit_wire_elim.messages, message).kind,
        .epoch = message->epoch,
        .body = body,
        .size = body_size};
    uint8_t *const bytes = live_envelope_close(&site->envelopes, &envelope, &size);
    if (bytes == NULL)
        fail(site->name, "out of memory");
    free(body);
    if (message->kind == TACIT_ELIM_REPORT && site->sent_epoch < message->epoch) {
        hold(site, bytes, size);
        return;
    }
    publish(site, bytes, size);
    free(bytes);
}

static void step(struct site *site, struct tacit_event event)
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
        send_message(site, &update.message);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Arms that are all alike stay in to the end: the largest messages. */
static void play_plan(struct site *site)
{
    for (uint32_t i = 0; i < site->plan_count; i++) {
        struct tacit_event event = {.kind = TACIT_EVENT_REWARD};
        event.as.reward.arm = site->plan[i].arm;
        event.as.reward.count = site->plan[i].count;
        event.as.reward.sum.steps = (int64_t)(site->plan[i].count * (TACIT_STEPS / 2));
        step(site, event);
    }
    site->plan_count = 0;
}

static void upload_all(struct load *load)
{
    double const granted_ms = (double)(live_now_us() - load->ready_us) / US_PER_MS;
    uint64_t const began_us = live_now_us();
    for (uint32_t i = 0; i < load->own_count; i++) {
        struct site *const site = &load->sites[i];
        publish(site, site->report, site->report_size);
        free(site->report);
        site->report = NULL;
        site->sent_epoch = load->epoch;
    }
    load->held_count = 0;
    load->uploaded_us = live_now_us();
    (void)printf(
        "epoch %u: granted to all within %.0f ms; %u reports of %zu bytes within %.0f ms; ",
        load->epoch, granted_ms, load->own_count, load->sites[0].report_size,
        (double)(load->uploaded_us - began_us) / US_PER_MS);
}

static uint64_t cpu_us(void)
{
    struct rusage used;
    return getrusage(RUSAGE_SELF, &used) != 0
               ? 0
               : 1000000u * (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void print_round(struct load *load)
{
    uint64_t const cpu_before_us = load->cpu_us;
    load->cpu_us = cpu_us();
    uint64_t const now_us = live_now_us();
    uint64_t const took_us = now_us - load->uploaded_us;
    if (load->uploaded_us == 0) {
        (void)printf("%u sites connected, joined and ordered within %.1f s\n", load->own_count,
                     (double)(now_us - load->began_us) / (1e3 * US_PER_MS));
        (void)fflush(stdout);
        return;
    }
    if (took_us > load->slowest_us)
        load->slowest_us = took_us;
    uint64_t const whole_us = now_us - load->ready_us;
    if (whole_us > load->whole_us)
        load->whole_us = whole_us;
    (void)printf("from the last one to the next order: first site %.0f ms, last site %.0f ms; "
                 "whole round %.0f ms, %.0f ms of CPU of all sites\n",
                 (double)(load->first_us - load->uploaded_us) / US_PER_MS,
                 (double)took_us / US_PER_MS, (double)whole_us / US_PER_MS,
                 (double)(load->cpu_us - cpu_before_us) / US_PER_MS);
    (void)fflush(stdout);
}

static void begin_round(struct load *load)
{
    if (load->gate != NULL)
        return;
    load->ready_us = live_now_us();
    for (uint32_t i = 0; i < load->own_count; i++)
        play_plan(&load->sites[i]);
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
    if (++load->ready_count < load->own_count)
        return;
    print_round(load);
    if (load->is_over) {
        live_loop_stop(load->loop);
        return;
    }
    begin_round(load);
}

/* ---- What a site hears ----------------------------------------------------------------------- */

static void add_key(struct site *site, const char *name, const struct live_arrival *arrival)
{
    const char *const objection =
        live_keys_add(site->load->keys, name, arrival->bytes, arrival->size);
    if (objection != NULL)
        fail(site->name, objection);
}

static void join(struct site *site, const struct live_arrival *arrival)
{
    struct load *const load = site->load;
    struct tacit_wire_announcement *announcement;
    struct live_opened opened;
    struct tacit_wire_elim_run run;
    if (site->core != NULL)
        return;
    const char *const objection =
        live_envelope_open_announcement(&site->envelopes, arrival, &opened);
    if (objection != NULL)
        fail(site->name, objection);
    if (tacit_wire_decode(&tacit_wire_announcement, NULL, opened.envelope.body,
                          opened.envelope.body_size, &announcement,
                          tacit_wire_heap()) != TACIT_OK ||
        tacit_wire_run_decode(&tacit_wire_elim, announcement, &run, tacit_wire_heap()) !=
            TACIT_OK ||
        live_envelopes_begin(&site->envelopes, &announcement->agreement) != TACIT_OK ||
        run.agent != site->index || run.agent_count != load->site_count ||
        run.arm_count != load->arm_count || run.network != TACIT_WIRE_ELIM_STAR)
        fail(site->name, "another run is announced");
    struct tacit_elim_agent_config config = {
        .run_id = run.run_id,
        .agent_id = run.agent,
        .agent_count = run.agent_count,
        .arm_count = run.arm_count,
        .horizon = run.horizon,
        .mechanism = load->mechanism,
        .budget_nano = 100 * (uint64_t)TACIT_NANO,
        .resend_after_us = live_site_resend_us(RESEND_AFTER_US, run.agent_count),
        .has_grants = true};
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    if (tacit_wire_agreement_digest(&announcement->agreement, digest, tacit_wire_heap()) !=
        TACIT_OK)
        fail(site->name, "out of memory");
    tacit_commit_domain(load->federation, digest, config.domain);
    free(announcement);
    site->core = calloc(1, tacit_elim_agent_size(&config));
    site->plan = calloc(run.arm_count, sizeof *site->plan);
    if (site->core == NULL || site->plan == NULL ||
        tacit_elim_agent_init(site->core, &config) != TACIT_OK)
        fail(site->name, "cannot join");
    step(site, (struct tacit_event){.kind = TACIT_EVENT_START});
}

/* An order is one message for all, whose signature one site of this program checks: the others
 * would do so on machines of their own. */
static void check(struct site *site, uint32_t to, const struct live_arrival *arrival,
                  struct live_opened *opened)
{
    struct load *const load = site->load;
    bool const is_known = to == TACIT_EVERYONE && arrival->size == load->order_size &&
                          memcmp(arrival->bytes, load->order, arrival->size) == 0;
    if (is_known) {
        (void)tacit_wire_envelope_decode(arrival->bytes, arrival->size, &opened->envelope);
        return;
    }
    const char *const objection = live_envelope_open(&site->envelopes, arrival, opened);
    if (objection != NULL)
        fail(site->name, objection);
    if (to != TACIT_EVERYONE)
        return;
    load->order = realloc(load->order, arrival->size);
    if (load->order == NULL)
        fail(site->name, "out of memory");
    load->order_size = arrival->size;
    memcpy(load->order, arrival->bytes, arrival->size);
}

static void on_message(struct site *site, uint32_t to, const struct live_arrival *arrival)
{
    struct load *const load = site->load;
    struct live_opened opened;
    struct tacit_elim_message *message;
    struct tacit_elim_agent_view view;
    struct tacit_wire_shape const shape = {
        .arm_count = load->arm_count, .agent_count = load->site_count, .to = to};
    if (site->core == NULL)
        return;
    check(site, to, arrival, &opened);
    if (tacit_wire_decode(tacit_wire_elim.messages, &shape, opened.envelope.body,
                          opened.envelope.body_size, &message, tacit_wire_heap()) != TACIT_OK)
        fail(site->name, "an order does not decode");
    step(site, (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = message});
    free(message);
    tacit_elim_agent_view(site->core, &view);
    if (view.epoch == site->epoch)
        return;
    site->epoch = view.epoch;
    on_new_order(site, view.last);
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct site *const site = context;
    const char *const federation = site->load->federation;
    struct live_arrival const arrival = {topic, TACIT_WIRE_COORDINATOR, bytes, size};
    char name[65];
    if (live_topic_key_of(topic, federation, name))
        add_key(site, name, &arrival);
    else if (strcmp(topic, live_topic_to(federation, site->name, "announce").text) == 0)
        join(site, &arrival);
    else if (strcmp(topic, live_topic_down(federation, "elimination").text) == 0)
        on_message(site, TACIT_EVERYONE, &arrival);
    else
        on_message(site, site->index, &arrival);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void open_next(struct load *load);

static void on_connected(void *context)
{
    struct site *const site = context;
    const char *const federation = site->load->federation;
    size_t size;
    const uint8_t *const certificate = live_signer_certificate(site->signer, &size);
    (void)live_bus_subscribe(site->bus, live_topic_key(federation, TACIT_WIRE_COORDINATOR).text);
    if (live_bus_publish(site->bus, live_topic_key(federation, site->name).text, certificate, size,
                         true) != TACIT_OK)
        fail(site->name, "cannot show its key");
    (void)live_bus_subscribe(site->bus, live_topic_to(federation, site->name, "announce").text);
    (void)live_bus_subscribe(site->bus, live_topic_to(federation, site->name, "elimination").text);
    (void)live_bus_subscribe(site->bus, live_topic_down(federation, "elimination").text);
    site->load->connected += !site->has_connected;
    site->has_connected = true;
    open_next(site->load);
}

static void on_disconnected(void *context, const char *reason)
{
    struct site *const site = context;
    (void)reason;
    site->load->lost++;
}

static void open_site(struct load *load, struct site *site)
{
    char files[5][PATH_BYTES];
    struct tacit_error error;
    (void)snprintf(site->name, sizeof site->name, "site-%u", site->index);
    (void)snprintf(files[0], PATH_BYTES, "%s/ca.crt", load->pki);
    (void)snprintf(files[1], PATH_BYTES, "%s/%s.crt", load->pki, site->name);
    (void)snprintf(files[2], PATH_BYTES, "%s/%s.key", load->pki, site->name);
    (void)snprintf(files[3], PATH_BYTES, "%s/%s.sign.crt", load->pki, site->name);
    (void)snprintf(files[4], PATH_BYTES, "%s/%s.sign.key", load->pki, site->name);
    struct live_signing_config const signing = {.ca_file = files[0],
                                                .certificate_file = files[3],
                                                .key_file = files[4],
                                                .name = site->name};
    if (live_signer_open(&site->signer, &signing, &error) != TACIT_OK ||
        (load->keys == NULL && live_keys_new(&load->keys, files[0], 1, &error) != TACIT_OK))
        fail(site->name, error.text);
    site->envelopes = (struct live_envelopes){.federation = load->federation,
                                              .self = site->name,
                                              .family = TACIT_WIRE_ELIM_FAMILY,
                                              .signer = site->signer,
                                              .keys = load->keys};
    struct live_bus_config const config = {.host = "127.0.0.1",
                                           .port = load->ports[site->index % load->port_count],
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
    while (load->opened < load->own_count && load->opened - load->connected < CONNECTING_MAX)
        open_site(load, &load->sites[load->opened++]);
}

/* What was lost is said again by the cores. */
static void on_tick(void *context)
{
    struct load *const load = context;
    uint64_t const now_us = live_now_us();
    for (uint32_t i = 0; i < load->own_count; i++) {
        struct site *const site = &load->sites[i];
        if (site->core == NULL || site->deadline_us > now_us || site->report != NULL)
            continue;
        load->resent++;
        step(site, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
    }
    live_timer_set(load->timer, now_us + TICK_US);
    if (load->gate != NULL && load->ready_count == load->own_count &&
        access(load->gate, F_OK) == 0) {
        load->gate = NULL;
        begin_round(load);
    }
}

/* ---- Main ------------------------------------------------------------------------------------ */

/* Eight descriptors a site. */
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
                          .federation = arguments[3],
                          .site_count = (uint32_t)strtoul(arguments[4], NULL, 10),
                          .arm_count = (uint32_t)strtoul(arguments[5], NULL, 10),
                          .began_us = live_now_us()};
    load->first = arguments[6] == NULL ? 0 : (uint32_t)strtoul(arguments[6], NULL, 10);
    load->own_count =
        arguments[6] == NULL ? load->site_count : (uint32_t)strtoul(arguments[7], NULL, 10);
    load->gate = arguments[6] == NULL ? NULL : arguments[8];
    load->sites = calloc(load->own_count, sizeof *load->sites);
    for (char *at = arguments[2]; *at != '\0' && load->port_count < PORTS_MAX; at += *at == ',')
        load->ports[load->port_count++] = (uint16_t)strtoul(at, &at, 10);
    if (load->port_count == 0 || load->sites == NULL ||
        tacit_mechanism_init(&load->mechanism, &mechanism) != TACIT_OK ||
        live_loop_open(&load->loop) != TACIT_OK)
        fail("start", "out of memory or descriptors");
    for (uint32_t i = 0; i < load->own_count; i++)
        load->sites[i] =
            (struct site){.load = load, .index = load->first + i, .deadline_us = TACIT_NEVER};
    load->timer = live_timer_new(load->loop, on_tick, load);
    if (load->timer == NULL)
        fail("start", "no timer");
    live_timer_set(load->timer, live_now_us() + TICK_US);
}

int main(int argument_count, char **arguments)
{
    struct load load;
    if (argument_count != 6 && argument_count != 8 && argument_count != 9)
        fail("usage", "coordinator_load PKI PORTS FEDERATION SITES ARMS [FIRST COUNT [GATE]]");
    raise_descriptor_limit();
    set_up(&load, arguments);
    open_next(&load);
    if (live_loop_run(load.loop) != TACIT_OK)
        fail("run", "the event loop failed");
    (void)printf("slowest round: %.0f ms after the last report, %.0f ms from order to order; "
                 "messages said again: %llu; connections lost: %llu\n",
                 (double)load.slowest_us / US_PER_MS, (double)load.whole_us / US_PER_MS,
                 (unsigned long long)load.resent, (unsigned long long)load.lost);
    for (uint32_t i = 0; i < load.own_count; i++) {
        live_bus_close(load.sites[i].bus);
        live_signer_close(load.sites[i].signer);
        free(load.sites[i].core);
        free(load.sites[i].plan);
    }
    live_keys_free(load.keys);
    live_loop_close(load.loop);
    free(load.sites);
    free(load.order);
    return 0;
}

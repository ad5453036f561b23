/* Announcements and messages. Who said it is read from the topic, and proved by the signature; what
 * is not signed changes nothing. */
#include "agent_state.h"
#include "bus/topics.h"
#include "daemon/entropy.h"
#include "daemon/log.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sender {
    uint32_t agent; /* or TACIT_HUB */
    const char *name;
    struct live_sender *account;
};

static struct sender hub_of(struct agent *agent)
{
    return (struct sender){TACIT_HUB, TACIT_WIRE_COORDINATOR, &agent->hub_sender};
}

static void refuse_message(struct agent *agent, const struct sender *from, const char *why)
{
    live_member_refuse(&agent->member, from->account, from->name, why, false);
}

/* What the coordinator announces, once it is known that it does. */
static void refuse(struct agent *agent, const char *why)
{
    struct sender const hub = hub_of(agent);
    refuse_message(agent, &hub, why);
}

/* It is announced again and again: the log says so once, until something else is announced. */
static void refuse_announced(struct agent *agent, const char *why)
{
    if (strcmp(agent->refused_words, why) == 0) {
        live_member_refuse_again(&agent->member, &agent->hub_sender, why);
        return;
    }
    (void)snprintf(agent->refused_words, sizeof agent->refused_words, "%s", why);
    refuse(agent, why);
}

enum tacit_status agent_open_run(struct agent *agent)
{
    struct live_site_role role;
    live_site_role(agent->site, &role);
    TACIT_ASSERT(agent->neighbours == NULL);
    live_history_open(&agent->history, agent->config->daemon.state_directory,
                      live_site_agreement(agent->site)->run, agent->config->site.arm_count);
    if (role.neighbour_count == 0)
        return TACIT_OK;
    agent->neighbours = calloc(role.neighbour_count, sizeof *agent->neighbours);
    if (agent->neighbours == NULL)
        return TACIT_MEMORY;
    agent->neighbour_count = role.neighbour_count;
    return TACIT_OK;
}

/* When the coordinator was heard last, in a word that it signed, of whatever run; and of which
 * round. */
static void note_hub(struct agent *agent, const struct live_opened *opened)
{
    agent->hub_heard_us = live_now_us();
    if (opened->envelope.kind != TACIT_WIRE_KIND_ANNOUNCEMENT &&
        opened->envelope.kind != LIVE_KIND_NOTICE)
        agent->hub_epoch = opened->envelope.epoch;
}

/* False: it was refused. */
static bool open_message(struct agent *agent, const struct sender *from, const char *objection,
                         const struct live_opened *opened)
{
    if (objection == NULL && from->agent == TACIT_HUB)
        note_hub(agent, opened);
    return live_member_accept(&agent->member, from->account, from->name, objection, opened);
}

/* ---- Announcements --------------------------------------------------------------------------- */

/* The first step of a run that was just joined. */
static void start(struct agent *agent)
{
    struct live_site_role role;
    live_site_role(agent->site, &role);
    agent->core_is_dirty = true;
    agent->refused_words[0] = '\0';
    live_log(LIVE_LOG_INFO, "joined", "run %llu as site %u of %u: %u arms, %llu pulls%s",
             (unsigned long long)role.run_id, role.agent, role.agent_count,
             agent->config->site.arm_count, (unsigned long long)role.horizon,
             role.has_neighbours ? ", with neighbours instead of a hub" : "");
    (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_START,
                                                     .as.begins_term = agent->envelopes.term > 1});
}

/* From now on this is the term. It is in the batch with what the core makes of it. */
static void set_term(struct agent *agent, uint64_t term)
{
    if (term != agent->envelopes.term || agent->awaits_term)
        agent_put_term(agent, term, false);
}

/* The same, and in the log where a site goes on in another one. */
static void begin_term(struct agent *agent, uint64_t term)
{
    if (term != agent->envelopes.term && agent->site != NULL)
        live_log(LIVE_LOG_WARNING, "term",
                 "term %llu begins: a grantor has lost its state; rewards that were not granted "
                 "yet are dropped, with all decisions that are open, and are pulled anew",
                 (unsigned long long)term);
    set_term(agent, term);
}

/* The run is joined: what was before it is left, in the same batch. Takes the site over. The term
 * of a first run is set already (on_agreement). */
static void enter(struct agent *agent, struct live_site *made, uint64_t term)
{
    bool const had_run = agent->runs.all.count > 0;
    if (had_run)
        agent_runs_leave(agent);
    TACIT_ASSERT(agent->site == NULL);
    agent->site = made;
    live_runs_begin(&agent->runs.all, &agent->daemon, live_site_agreement(made)->run);
    if (had_run)
        set_term(agent, term);
}

static enum tacit_status join(struct agent *agent, uint64_t term, const uint8_t *bytes, size_t size)
{
    struct live_site *made = NULL;
    TACIT_TRY(live_site_join(agent->config->protocol, &made, &agent->config->site, bytes, size,
                             &agent->refusal));
    enter(agent, made, term);
    TACIT_TRY(live_envelopes_begin(&agent->envelopes, live_site_agreement(agent->site)));
    TACIT_TRY(agent_open_run(agent));
    agent_ask_for_replicated_log(agent);
    return agent_open_replicated_log(agent);
}

void agent_join(struct agent *agent, uint64_t term, const uint8_t *bytes, size_t size)
{
    if (!live_daemon_begin(&agent->daemon))
        return;
    enum tacit_status const status = join(agent, term, bytes, size);
    if (status == TACIT_MALFORMED)
        refuse(agent, "an announcement that does not decode");
    else if (status == TACIT_REFUSED)
        refuse_announced(agent, agent->refusal);
    else if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "the run cannot be joined");
    else
        start(agent);
}

/* What this site's own file says of a run; the rest is the coordinator's to say. */
static struct tacit_wire_agreement own_agreement(const struct agent *agent)
{
    struct live_site_config const *const site = &agent->config->site;
    return (struct tacit_wire_agreement){.protocol = agent->config->protocol->wire->name,
                                         .family = agent->config->protocol->wire->family,
                                         .protocol_version = agent->config->protocol->wire->version,
                                         .arm_count = site->arm_count,
                                         .arms = site->arm_names,
                                         .lo = site->lo,
                                         .hi = site->hi,
                                         .has_helper = site->has_helper,
                                         .floor_nano = site->floor_nano};
}

/* What is announced against what this site allows. NULL: allowed, as far as all protocols go. Sites
 * whose arms or ranges differ would add up what does not belong together. */
static const char *objection_to(struct agent *agent, const struct tacit_wire_agreement *announced)
{
    struct tacit_wire_agreement const own = own_agreement(agent);
    if (tacit_wire_agreement_differs(&own, announced, agent->difference, sizeof agent->difference))
        return agent->difference;
    if (announced->agent_count > agent->config->site.agents_max)
        return "the run has more sites than policy.agents_max";
    if (announced->horizon > agent->config->site.pulls_max)
        return "the run wants more pulls than policy.pulls_max";
    return NULL;
}

/* The same, of a run that follows on another: the owner changes the file, or does not take part. */
static const char *objection_to_next(struct agent *agent,
                                     const struct tacit_wire_agreement *announced)
{
    char words[TACIT_WIRE_DIFFERENCE_BYTES + 128];
    char const *const objection = objection_to(agent, announced);
    if (objection == NULL)
        return NULL;
    (void)snprintf(words, sizeof words, "%s", objection);
    (void)snprintf(agent->difference, sizeof agent->difference,
                   "another run is announced, run %llu, which this site's file does not fit: %s; "
                   "change the file, and start the agent again",
                   (unsigned long long)tacit_wire_run_id(announced->run), words);
    return agent->difference;
}

/* What is announced is not what this state is of. The words stay in the status until the
 * announcement of this run comes again. */
static const char *difference_to(struct agent *agent, const struct tacit_wire_agreement *announced)
{
    char words[TACIT_WIRE_DIFFERENCE_BYTES];
    if (!tacit_wire_agreement_differs(live_site_agreement(agent->site), announced, words,
                                      sizeof words))
        (void)snprintf(words, sizeof words, "this site has another position in it");
    (void)snprintf(agent->difference, sizeof agent->difference,
                   "another run is announced than the one that this state belongs to: %s; the next "
                   "run of a coordinator has a greater run.id",
                   words);
    return agent->difference;
}

/* What stands against a run that is not the one of this state. */
static const char *objection_to_run(struct agent *agent,
                                    const struct tacit_wire_agreement *announced)
{
    struct live_run_row const *const now = live_runs_now(&agent->runs.all);
    bool const is_same_run =
        now != NULL && memcmp(now->run, announced->run, sizeof announced->run) == 0;
    if (now == NULL)
        return objection_to(agent, announced);
    if (is_same_run && agent->site != NULL)
        return difference_to(agent, announced);
    agent_runs_apply(agent, announced);
    char const *const objection = agent_runs_objection(agent, announced);
    return objection != NULL ? objection : objection_to_next(agent, announced);
}

/* What the term of an announcement says against it. NULL: nothing. */
static const char *objection_to_term(struct agent *agent, bool is_other_run, uint64_t term)
{
    uint64_t const known = agent->envelopes.term;
    bool const has_joined = agent->site != NULL && !is_other_run;
    if (live_term_is_out_of_reach(known, term)) {
        (void)snprintf(
            agent->difference, sizeof agent->difference,
            "term %" PRIu64 " is announced, more than %" PRIu64 " above this site's %" PRIu64
            ": terms are counted one by one. %s",
            term, LIVE_TERM_JUMP_MAX, known,
            "The coordinator's operator: --recover goes on in the sites' terms; if it is "
            "this site that is out of step: tacit control STATE term N");
        return agent->difference;
    }
    if (is_other_run)
        return NULL;
    if (agent->awaits_term && term <= known)
        return "the owner of this site has set its term: it goes on with the next one, which the "
               "coordinator's operator begins (tacit coordinator --new-term)";
    if (term > known && has_joined && !agent->config->protocol->has_terms)
        return "a new term is announced, and this protocol does not go on in one";
    return NULL;
}

void agent_ask_what_is_announced(const struct agent *agent)
{
    struct live_site_config const *const site = &agent->config->site;
    (void)live_bus_subscribe(agent->daemon.bus,
                             live_topic_to(site->federation, site->site, "announce").text);
}

/* It came late or again, or the coordinator's state is an old one. So that words of before neither
 * stay nor hide what is so now: the broker is asked for what was announced last, once. */
static void note_outdated(struct agent *agent, const char *words)
{
    if (agent->outdated == NULL)
        agent_ask_what_is_announced(agent);
    agent->outdated = words;
}

/* Of a run or a term of before. NULL: it is not. */
static const char *find_outdated(struct agent *agent, bool is_ours,
                                 const struct tacit_wire_agreement *agreement, uint64_t term)
{
    if (!is_ours)
        return agent_runs_outdated(agent, agreement);
    return term >= agent->envelopes.term || agent->awaits_term
               ? NULL
               : "an announcement of an earlier term than this state's: the state of the "
                 "coordinator is an old one; it goes on in a new term (tacit coordinator "
                 "--new-term)";
}

/* It comes when this site connects, and to all sites when the coordinator does: a report that got
 * lost with a crash of either is there again at once, and not when the core's pause ends. */
static void on_agreement(struct agent *agent, const struct tacit_wire_agreement *agreement,
                         uint64_t term, const uint8_t *bytes, size_t size)
{
    bool const is_ours = agent->site != NULL && live_site_is_of(agent->site, bytes, size);
    char const *const outdated = find_outdated(agent, is_ours, agreement, term);
    if (memcmp(agent->heard_run, agreement->run, sizeof agent->heard_run) != 0)
        agent->refused_words[0] = '\0';
    memcpy(agent->heard_run, agreement->run, sizeof agent->heard_run);
    if (outdated != NULL) {
        refuse_announced(agent, outdated);
        note_outdated(agent, outdated);
        return;
    }
    bool const is_behind = agent_runs_is_behind(agent, agreement->run);
    char const *objection = is_ours ? NULL : objection_to_run(agent, agreement);
    if (objection == NULL)
        objection = objection_to_term(agent, !is_ours && agent->runs.all.count > 0, term);
    if (!is_behind) {
        memcpy(agent->announced, agreement->run, sizeof agent->announced);
        agent->has_announced = true;
        agent->outdated = NULL;
    }
    if (!is_behind || objection != NULL) /* else what is said of the later run stands */
        agent->refusal = objection;
    if (objection == NULL && is_ours)
        agent->refused_words[0] = '\0';
    if (objection != NULL) {
        refuse_announced(agent, objection);
    } else if (is_ours) {
        bool const begins_term = term != agent->envelopes.term;
        begin_term(agent, term);
        if (begins_term) /* a coordinator that recovers reads it there */
            agent_show_replicated_log(agent);
        (void)agent_step(agent, (struct live_site_event){.kind = LIVE_SITE_CONNECTED,
                                                         .as.begins_term = begins_term});
    } else if (agent_runs_admit(agent, agreement, term, bytes, size)) {
        if (agent->runs.all.count == 0)
            begin_term(agent, term);
        agent_join(agent, term, bytes, size);
    }
}

/* Who says in the envelope something else than in its body is not to be trusted with either. */
static bool is_of(const struct tacit_wire_envelope *envelope,
                  const struct tacit_wire_agreement *agreement)
{
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    return tacit_wire_agreement_digest(agreement, digest, tacit_wire_heap()) == TACIT_OK &&
           memcmp(digest, envelope->agreement, sizeof digest) == 0 &&
           memcmp(agreement->run, envelope->run, sizeof agreement->run) == 0;
}

/* The status says so until the coordinator speaks in a version that is spoken here: it may be of
 * before, when its program was another one. */
static void refuse_foreign(struct agent *agent, const char *words)
{
    (void)snprintf(agent->runs.outdated, sizeof agent->runs.outdated, "%s", words);
    note_outdated(agent, agent->runs.outdated);
}

/* What is announced in it is answered in it. */
static void set_version(struct agent *agent, uint32_t version)
{
    if (version != agent->envelopes.version)
        live_log(LIVE_LOG_INFO, "version", LIVE_VERSION_FORMAT, version, TACIT_WIRE_VERSION_OLDEST,
                 TACIT_WIRE_VERSION);
    agent->envelopes.version = version;
}

static void on_announcement(struct agent *agent, const char *topic, const uint8_t *bytes,
                            size_t size)
{
    struct live_arrival const arrival = {topic, TACIT_WIRE_COORDINATOR, bytes, size};
    struct live_opened opened;
    struct sender const hub = hub_of(agent);
    struct tacit_wire_announcement *announcement = NULL;
    char const *objection = live_envelope_open_announcement(&agent->envelopes, &arrival, &opened);
    if (!open_message(agent, &hub, objection, &opened)) {
        if (opened.foreign != 0)
            refuse_foreign(agent, objection);
        return;
    }
    struct tacit_wire_envelope const *const envelope = &opened.envelope;
    if (tacit_wire_decode(&tacit_wire_announcement, NULL, envelope->body, envelope->body_size,
                          &announcement, tacit_wire_heap()) != TACIT_OK)
        objection = "an announcement that does not decode";
    else if (!is_of(envelope, &announcement->agreement))
        objection = "an announcement whose envelope says something else";
    if (objection != NULL)
        refuse(agent, objection);
    else {
        set_version(agent, envelope->version);
        on_agreement(agent, &announcement->agreement, envelope->term, envelope->body,
                     envelope->body_size);
    }
    free(announcement);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void on_message(struct agent *agent, struct sender from, bool is_broadcast,
                       const struct live_arrival *arrival)
{
    struct live_opened opened;
    struct live_site_event event = {.kind = LIVE_SITE_RECEIVE};
    if (agent->site == NULL || agent->awaits_term)
        return; /* the announcement comes first */
    char const *objection = live_envelope_open(&agent->envelopes, arrival, &opened);
    if (objection == NULL && from.agent == TACIT_HUB)
        objection = agent_objection_to_entry(agent, opened.envelope.entry);
    if (!open_message(agent, &from, objection, &opened))
        return;
    if (from.agent == TACIT_HUB)
        agent->outdated = NULL;
    /* The run goes on: the helper is waited for no more. */
    if (agent->notice != LIVE_NOTICE_LEFT_OUT)
        agent->helper_noticed_us = 0;
    if (from.agent == TACIT_HUB && opened.envelope.kind == LIVE_KIND_NOTICE) {
        if (opened.envelope.body_size != 1 || opened.envelope.body[0] >= LIVE_NOTICES)
            return; /* of a later version */
        agent->notice = (enum live_notice)opened.envelope.body[0];
        agent->helper_noticed_us = live_now_us();
        agent->helper_waited_s = opened.envelope.epoch; /* of a notice: seconds */
        return;
    }
    event.as.message.from = from.agent;
    event.as.message.is_broadcast = is_broadcast;
    event.as.message.bytes = opened.envelope.body;
    event.as.message.size = opened.envelope.body_size;
    event.as.message.kind = opened.envelope.kind;
    event.as.message.epoch = opened.envelope.epoch;
    enum tacit_status const status = agent_step(agent, event);
    if (status != TACIT_OK)
        refuse_message(agent, &from, tacit_status_text(status));
}

static void on_entry(struct agent *agent, const struct live_arrival *arrival)
{
    struct live_opened opened;
    struct sender const hub = hub_of(agent);
    (void)open_message(agent, &hub, agent_on_entry(agent, arrival, &opened), &opened);
}

/* One of the neighbours, by its name; account NULL: it is none. */
static struct sender neighbour_of(struct agent *agent, const char *name)
{
    struct live_site_role role = {0};
    if (agent->site != NULL)
        live_site_role(agent->site, &role);
    TACIT_ASSERT(agent->site == NULL || role.neighbour_count == agent->neighbour_count);
    for (uint32_t i = 0; i < role.neighbour_count; i++)
        if (strcmp(role.neighbours[i].site, name) == 0)
            return (struct sender){role.neighbours[i].agent, name, &agent->neighbours[i]};
    return (struct sender){0, name, NULL};
}

static void on_peer_message(struct agent *agent, struct sender from,
                            const struct live_arrival *arrival)
{
    if (agent->site == NULL)
        return;
    if (from.account != &agent->strangers)
        on_message(agent, from, false, arrival);
    else
        refuse_message(agent, &from, "a message of a site that is no neighbour");
}

/* ---- Topics ---------------------------------------------------------------------------------- */

enum topic_kind { NOTHING, KEY, ANNOUNCEMENT, ENTRY, BROADCAST, TO_US, OF_A_PEER };

/* from: who says it, unless it is NOTHING; the signature is to prove that. */
static enum topic_kind classify(const struct agent *agent, const char *topic, char from[65])
{
    char const *const federation = agent->config->site.federation;
    char const *const site = agent->config->site.site;
    char const *const protocol = agent->config->protocol->wire->name;
    if (live_topic_key_of(topic, federation, from))
        return KEY;
    if (live_topic_peer_from(topic, federation, site, protocol, from))
        return OF_A_PEER;
    (void)snprintf(from, 65, "%s", TACIT_WIRE_COORDINATOR);
    if (strcmp(topic, live_topic_to(federation, site, "announce").text) == 0)
        return ANNOUNCEMENT;
    if (strcmp(topic, live_topic_down(federation, LIVE_TOPIC_ENTRY).text) == 0)
        return ENTRY;
    if (strcmp(topic, live_topic_down(federation, protocol).text) == 0 ||
        live_topic_is_down_of(topic, federation, protocol))
        return BROADCAST;
    return strcmp(topic, live_topic_to(federation, site, protocol).text) == 0 ? TO_US : NOTHING;
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct agent *const agent = context;
    char name[65];
    enum topic_kind const kind = classify(agent, topic, name);
    bool const is_hub = strcmp(name, TACIT_WIRE_COORDINATOR) == 0;
    if (kind == NOTHING)
        return;
    struct sender from = is_hub ? hub_of(agent) : neighbour_of(agent, name);
    if (from.account == NULL)
        from.account = &agent->strangers;
    struct live_arrival const arrival = {topic, name, bytes, size};
    if (!live_sender_admit(from.account, live_now_us()))
        return;
    if (kind == KEY) /* of neighbours, too, before it is known who they are */
        live_member_add_key(&agent->member, from.account, &arrival);
    else if (kind == ANNOUNCEMENT)
        on_announcement(agent, topic, bytes, size);
    else if (kind == ENTRY)
        on_entry(agent, &arrival);
    else if (kind == OF_A_PEER)
        on_peer_message(agent, from, &arrival);
    else
        on_message(agent, from, kind == BROADCAST, &arrival);
}

/* ---- The connection -------------------------------------------------------------------------- */

static void on_connected(void *context)
{
    struct agent *const agent = context;
    struct live_bus *const bus = agent->daemon.bus;
    char const *const federation = agent->config->site.federation;
    char const *const site = agent->config->site.site;
    char const *const protocol = agent->config->protocol->wire->name;
    live_member_connected(&agent->member);
    agent_ask_what_is_announced(agent);
    agent_ask_for_replicated_log(agent);
    agent_show_replicated_log(agent);
    (void)live_bus_subscribe(bus, live_topic_to(federation, site, protocol).text);
    (void)live_bus_subscribe(bus, live_topic_down(federation, protocol).text);
    if (agent->config->protocol->receives_each)
        (void)live_bus_subscribe(bus, live_topic_down_of(federation, "+", protocol).text);
    (void)live_bus_subscribe(bus, live_topic_peer(federation, "+", site, protocol).text);
}

struct live_bus_events agent_bus_events(struct agent *agent)
{
    return (struct live_bus_events){agent, on_connected, live_member_disconnected, on_received};
}

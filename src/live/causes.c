/* The table of causes: how bad each is, what to do about it, and the command. */
#include "causes.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define LINE_BYTES 512u
#define NAMES_SHOWN_MAX 8u
#define HASH_START UINT64_C(0xcbf29ce484222325) /* FNV-1a */
#define HASH_FACTOR UINT64_C(0x100000001b3)

/* The bus's words, and what they ask for. The first that is found counts. */
static const struct {
    const char *said;
    const char *todo;
    const char *command;
} advices[] = {
    {"somebody else connects with our certificate",
     "stop one of the two; if the other one is not yours the key was copied: revoke it at the hub "
     "with tacit pki revoke",
     "systemctl stop %U"},
    {"is made for another host",
     "name the broker in broker.host as its certificate names it, or make that one with tacit pki "
     "--host NAME",
     "tacit pki --directory pki --host NAME broker"},
    {"our certificate has expired",
     "at the hub: tacit pki revoke NAME, then tacit pki NAME, and copy the new files here; no "
     "restart is needed",
     "tacit pki revoke --directory pki %N && tacit pki --directory pki %N"},
    {"our certificate is revoked",
     "at the hub: tacit pki NAME, and copy the new files here; no restart is needed",
     "tacit pki --directory pki %N"},
    {"certificate is not valid yet", "set the clock of this machine right",
     "timedatectl set-ntp true"},
    {"broker's certificate is not valid",
     "is broker.ca the CA of this federation? If so, look at "
     "the dates of the broker's certificate: "
     "openssl x509 -noout -dates -in broker.crt",
     "openssl x509 -noout -dates -in broker.crt"},
    {"does not trust the CA",
     "the broker has another CA than the one that made our certificate: copy ca.crt and our "
     "certificate anew from the hub",
     "scp pki/ca.crt pki/%N.crt pki/%N.key MACHINE:"},
    {"CA is not the CA of our certificate",
     "copy ca.crt and our certificate anew from the hub: they are not of one CA",
     "scp pki/ca.crt pki/%N.crt pki/%N.key MACHINE:"},
    {"our certificate", "copy our certificate and key anew from the hub (tacit pki)",
     "tacit pki --directory pki %N"},
    {"look up the broker's host name",
     "is broker.host spelt right, and does the name service of this machine know it?",
     "getent hosts BROKER"},
    {"no TLS at that port", "is broker.port the port of this federation's broker?",
     "grep port broker/mosquitto.conf"},
    {"cannot reach the broker",
     "is the broker running, and do broker.host, broker.port and the firewall let us through?",
     "systemctl start tacit-broker"},
    {"does not answer",
     "does another service than the broker listen at broker.port, or does a firewall swallow it?",
     "systemctl restart tacit-broker"},
    {"refuses us",
     "call tacit broker-config with this name among its sites, and restart the broker",
     "systemctl restart tacit-broker"},
    {"TLS", "see the log of the broker: it says what it does not accept",
     "journalctl -u tacit-broker"},
};

/* How bad each is, and what cures it: here and nowhere else. In a command %N is who says it, %W the
 * first of those who are named, or who says it, %U the service of that one (docs/live.md),
 * and %S the state of who says it. */
static const struct {
    const char *name;
    enum live_state state;
    const char *todo;
    const char *command;
} causes_known[LIVE_CAUSE_COUNT] = {
    [LIVE_CAUSE_CONNECTING] = {"connecting", LIVE_STATE_WAITING, "nothing, unless it stays so", ""},
    [LIVE_CAUSE_DISCONNECTED] = {"disconnected", LIVE_STATE_ATTENTION, NULL, ""},
    [LIVE_CAUSE_ACCESS] = {"access", LIVE_STATE_ATTENTION,
                           "call tacit broker-config for the sites, neighbours and protocol that "
                           "there are now, and restart the broker",
                           "systemctl restart tacit-broker"},
    [LIVE_CAUSE_DISK] = {"disk", LIVE_STATE_ATTENTION,
                         "make room there: when a write fails this daemon stops, and goes on when "
                         "it is started with room; logs are what grows most often",
                         "journalctl --vacuum-size=100M"},
    [LIVE_CAUSE_REFUSED] = {"refused", LIVE_STATE_ATTENTION,
                            "agree with the coordinator's operator: change the run, or this site's "
                            "file if that is your decision",
                            "systemctl restart %U"},
    [LIVE_CAUSE_HALTED] = {"halted", LIVE_STATE_ATTENTION,
                           "nothing is released any more; stop this agent; if a backup was "
                           "restored put the newest state back, or join the next run",
                           "systemctl stop %U"},
    [LIVE_CAUSE_FORGOTTEN] = {"forgotten", LIVE_STATE_ATTENTION,
                              "nothing is wrong here: the newest state of whoever has forgotten is "
                              "put back there; if it is gone, the operator of the coordinator "
                              "begins a new term: tacit coordinator --new-term",
                              "tacit coordinator --config coordinator.yaml --new-term"},
    [LIVE_CAUSE_BLOCKED] = {"blocked", LIVE_STATE_ATTENTION,
                            "stop all processes of this site and start the one with the newest "
                            "state alone: the highest release_epoch",
                            "systemctl stop %U"},
    [LIVE_CAUSE_CONSENT] = {"consent", LIVE_STATE_ATTENTION,
                            "look at the announced run with its operator, and consent; or "
                            "`runs: join` in this site's file joins the next one of the same "
                            "coordinator",
                            "tacit control %S join RUN"},
    [LIVE_CAUSE_COORDINATOR] = {"coordinator", LIVE_STATE_ATTENTION,
                                "tell the coordinator's operator, with entry and entry_digest of "
                                "this status; restart this agent once one coordinator is left",
                                "systemctl restart tacit-agent@%N"},
    [LIVE_CAUSE_UNANNOUNCED] = {"unannounced", LIVE_STATE_WAITING,
                                "is the coordinator running, and is this site in its list of "
                                "sites?",
                                "systemctl start tacit-coordinator"},
    [LIVE_CAUSE_REMOVED] = {"removed", LIVE_STATE_ATTENTION,
                            "nothing that it plays is counted any more: ask the operator why, stop "
                            "this agent, or join the next run",
                            "systemctl stop %U"},
    [LIVE_CAUSE_ROUNDS] = {"rounds", LIVE_STATE_ATTENTION,
                           "agree with the coordinator's operator: a run whose file says rounds "
                           "that fit, or a greater policy.rounds_max if that is your decision; "
                           "until then he may leave this site out: tacit control STATE drop SITE",
                           "tacit control STATE drop %W"},
    [LIVE_CAUSE_REFUSES_ALL] = {"refuses-all", LIVE_STATE_ATTENTION,
                                "what such a site plays is not counted, and no arm comes back: the "
                                "operator leaves it out (tacit control STATE drop SITE), or begins "
                                "another run with arms that it plays",
                                "tacit control STATE drop %W"},
    [LIVE_CAUSE_CALLERS] = {"callers", LIVE_STATE_ATTENTION,
                            "hand their rewards in, or close those that will never have one (GET "
                            "/v1/decisions lists them, DELETE /v1/decisions/ID closes one); or "
                            "raise decisions.open_max and decisions.caller_open_max",
                            "curl --unix-socket agent.sock http://localhost/v1/decisions"},
    [LIVE_CAUSE_REWARDS] =
        {"rewards", LIVE_STATE_WAITING,
         "hand the rewards in, or close the decisions that will never have one: "
         "GET /v1/decisions lists them",
         "curl --unix-socket agent.sock -X DELETE http://localhost/v1/decisions/ID"},
    [LIVE_CAUSE_BIASED] = {"biased", LIVE_STATE_WAITING,
                           "hand rewards in sooner, or raise decisions.wait_s; if no answer means "
                           "no, the file of the next run says so: missing: {after_s, counts_as}",
                           "curl --unix-socket agent.sock http://localhost/v1/decisions"},
    [LIVE_CAUSE_DECISIONS] =
        {"decisions", LIVE_STATE_WAITING,
         "is the application of this site running, and does it ask this "
         "agent?",
         "curl --unix-socket agent.sock -d '{}' http://localhost/v1/decisions"},
    [LIVE_CAUSE_TASK] = {"task", LIVE_STATE_WAITING,
                         "nothing, unless it stays so: what the command says is in its log", ""},
    [LIVE_CAUSE_GRANT] = {"grant", LIVE_STATE_WAITING,
                          "are they running and connected? tacit status there says why they say "
                          "nothing",
                          "systemctl start %U"},
    [LIVE_CAUSE_ORDER] = {"order", LIVE_STATE_WAITING,
                          "tacit status of the coordinator names the sites that it waits for; if "
                          "it does not answer it has to be started",
                          "systemctl start tacit-coordinator"},
    [LIVE_CAUSE_NEIGHBOURS] =
        {"sites", LIVE_STATE_WAITING,
         "are they running and connected? tacit status there says what each "
         "of them waits for; numbers are positions in the coordinator's list of "
         "sites, from 0",
         "systemctl start %U"},
    [LIVE_CAUSE_TWO_STATES] = {"two-states", LIVE_STATE_ATTENTION,
                               "stop all processes of this site, and start the one with the newest "
                               "state alone: the highest release_epoch",
                               "systemctl stop %U"},
    [LIVE_CAUSE_VERSION] = {"version", LIVE_STATE_ATTENTION,
                            "bring the older of both programs to the version of the other, one "
                            "version after the other",
                            "apt-get install tacitd"},
    [LIVE_CAUSE_TERM] =
        {"term", LIVE_STATE_ATTENTION,
         "stop this coordinator and start it with --recover, which goes on in the "
         "terms of most sites, or begin a term with --new-term; where the site's is "
         "out of reach, its owner says tacit control STATE term N before",
         "tacit coordinator --config coordinator.yaml --recover"},
    [LIVE_CAUSE_OLD_STATE] = {"old-state", LIVE_STATE_ATTENTION,
                              "stop this agent, put the newest state of this site back and start "
                              "it alone; if that is gone, the operator of the coordinator begins a "
                              "new term: tacit coordinator --new-term",
                              "tacit coordinator --config coordinator.yaml --new-term"},
    [LIVE_CAUSE_OLD_COORDINATOR] = {"old-state", LIVE_STATE_ATTENTION,
                                    "stop this coordinator and put its newest state back; if that "
                                    "is gone, begin a new term: tacit coordinator --new-term",
                                    "tacit coordinator --config coordinator.yaml --new-term"},
    [LIVE_CAUSE_FORKER] = {"two-rows", LIVE_STATE_ATTENTION,
                           "end this run, and begin another one without that site; its key, and "
                           "who has it, is to be looked at",
                           "tacit coordinator --config coordinator.yaml --end-run"},
    [LIVE_CAUSE_OTHER_ROWS] = {"other-rows", LIVE_STATE_ATTENTION,
                               "do not use an answer of this run; somebody has shown different "
                               "sites different rows, and is named where that is proved",
                               "tacit coordinator --config coordinator.yaml --end-run"},
    [LIVE_CAUSE_UNCONFIRMED] = {"unconfirmed", LIVE_STATE_WAITING,
                                "start the agents that are silent: each says what it holds when "
                                "it is there",
                                "systemctl start %U"},
    [LIVE_CAUSE_OVERDUE] = {"overdue", LIVE_STATE_WAITING,
                            "start the missing agents; one that is gone for good is left out with "
                            "tacit control STATE drop SITE, or the quorum lowered",
                            "tacit control %S drop %W"},
    [LIVE_CAUSE_OVERDUE_FIXED] = {"overdue", LIVE_STATE_WAITING,
                                  "start the missing agents: the round goes on when they report",
                                  "systemctl start %U"},
    [LIVE_CAUSE_SITES] = {"sites", LIVE_STATE_WAITING,
                          "are they running and connected? tacit status there says what each of "
                          "them waits for",
                          "systemctl start %U"},
    [LIVE_CAUSE_HELPER] = {"helper", LIVE_STATE_WAITING,
                           "nothing goes on without it, and nothing goes on with less privacy: ask "
                           "the helper's operator; tacit status there says how it is",
                           "tacit status --config helper.yaml"},
    [LIVE_CAUSE_HELPER_REFUSES] = {"helper-refuses", LIVE_STATE_ATTENTION,
                                   "look at both states with the helper's operator: the newest one "
                                   "of each is put back, then tacit coordinator --new-term",
                                   "tacit coordinator --config coordinator.yaml --new-term"},
    [LIVE_CAUSE_VOID] = {"void", LIVE_STATE_ATTENTION,
                         "it is repeated by itself, once; look at who is named", ""},
    [LIVE_CAUSE_VOID_WAITS] = {"void", LIVE_STATE_ATTENTION,
                               "say what is done: tacit control STATE drop SITE leaves a site out "
                               "from now on, repeat plays the round once more, end ends the run; "
                               "one aggregator is another run",
                               "tacit control %S repeat"},
    [LIVE_CAUSE_VOID_ELSEWHERE] = {"void", LIVE_STATE_WAITING,
                                   "the coordinator's operator drops a site, repeats the round or "
                                   "ends the run",
                                   ""},
    [LIVE_CAUSE_LEFT_OUT] = {"left-out", LIVE_STATE_ATTENTION,
                             "look at that site: does its state come from a backup or a copy, do "
                             "its program and its file fit the run? It is counted again once its "
                             "reports are in order",
                             "tacit status --config %W.yaml"},
    [LIVE_CAUSE_AGREE] =
        {"agree", LIVE_STATE_ATTENTION,
         "look at it, ask the sites whether their keys are shown, and say the word",
         "tacit helper agree %S"},
};

struct live_causes live_causes_begin(const char *self, const char *directory)
{
    TACIT_ASSERT(self != NULL && directory != NULL);
    return (struct live_causes){
        .state = LIVE_STATE_OK, .list = json_array(), .self = self, .directory = directory};
}

/* A command of the table, with names for its %N, %W, %U and %S. */
static json_t *command_of(const struct live_causes *causes, const char *form, const json_t *who)
{
    char bytes[LINE_BYTES];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    char const *const named = json_string_value(json_array_get(who, 0));
    char const *const other = named == NULL ? causes->self : named;
    bool const is_hub = strcmp(other, "coordinator") == 0;
    for (; *form != '\0'; form++) {
        char const one[2] = {*form, '\0'};
        if (*form != '%') {
            tacit_text_add(&text, one);
            continue;
        }
        form++;
        if (*form == 'U')
            tacit_text_add(&text, is_hub ? "tacit-coordinator" : "tacit-agent@");
        if (*form != 'U' || !is_hub)
            tacit_text_add(&text, *form == 'S'   ? causes->directory
                                  : *form == 'N' ? causes->self
                                                 : other);
    }
    return json_string(bytes);
}

/* who: a list, which it takes over. Causes that need attention come first. */
static void add(struct live_causes *causes, enum live_cause cause, json_t *who, const char *what,
                const char *todo, const char *command)
{
    enum live_state const state = causes_known[cause].state;
    if (state > causes->state)
        causes->state = state;
    size_t const at =
        state == LIVE_STATE_ATTENTION ? causes->worst_count++ : json_array_size(causes->list);
    if (causes->list != NULL)
        (void)json_array_insert_new(
            causes->list, at,
            json_pack("{s:s, s:s, s:O, s:s%, s:s, s:o}", "cause", causes_known[cause].name, "state",
                      live_state_name(state), "who", who, "what", what, strlen(what), "do", todo,
                      "command", command_of(causes, command, who)));
    json_decref(who);
}

void live_causes_add(struct live_causes *causes, enum live_cause cause, json_t *who,
                     const char *format, ...)
{
    char what[LINE_BYTES];
    va_list values;
    TACIT_ASSERT(format != NULL && cause < LIVE_CAUSE_COUNT && causes_known[cause].todo != NULL);
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    add(causes, cause, who == NULL ? json_array() : who, what, causes_known[cause].todo,
        causes_known[cause].command);
}

uint64_t live_disk_free(const char *directory)
{
    struct statvfs room;
    if (statvfs(directory, &room) != 0)
        return UINT64_MAX;
    return (uint64_t)room.f_bavail * room.f_frsize;
}

void live_causes_add_disk(struct live_causes *causes, uint32_t disk_low_mib)
{
    uint64_t const free_mib = live_disk_free(causes->directory) >> 20;
    if (free_mib < disk_low_mib)
        live_causes_add(causes, LIVE_CAUSE_DISK, NULL,
                        "the disk is almost full: %" PRIu64 " MiB are left where the state is, "
                        "%.300s",
                        free_mib, causes->directory);
}

void live_causes_name(const json_t *who, uint32_t count, char names[], size_t size)
{
    struct tacit_text text = tacit_text_init(names, size);
    uint32_t const known = (uint32_t)json_array_size(who);
    uint32_t const shown = known < NAMES_SHOWN_MAX ? known : NAMES_SHOWN_MAX;
    TACIT_ASSERT(count >= known);
    for (uint32_t i = 0; i < shown; i++) {
        tacit_text_add(&text, i == 0 ? "" : ", ");
        tacit_text_add(&text, json_string_value(json_array_get(who, i)));
    }
    if (count == shown)
        return;
    tacit_text_add(&text, " and ");
    tacit_text_add_u64(&text, count - shown);
    tacit_text_add(&text, " more");
}

void live_causes_add_set(struct live_causes *causes, enum live_cause cause, const char *what,
                         const char *const *names, uint32_t count, const uint64_t *set)
{
    char named[LINE_BYTES / 2];
    json_t *const who = json_array();
    TACIT_BITS_EACH (i, set, count)
        if (json_array_size(who) < LIVE_CAUSE_NAMES_MAX)
            (void)json_array_append_new(who, json_string(names[i]));
    live_causes_name(who, tacit_bits_count(set, count), named, sizeof named);
    live_causes_add(causes, cause, who, "%.250s: %.250s", what, named);
}

/* What to do about a refusal in the words of the bus; *command: as in the table above. */
static const char *broker_advice(const char *reason, const char **command)
{
    *command = "journalctl -u tacit-broker";
    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++)
        if (strstr(reason, advices[i].said) != NULL) {
            *command = advices[i].command;
            return advices[i].todo;
        }
    return "see the log of the broker; it is tried again by itself";
}

void live_causes_add_broker(struct live_causes *causes, const struct live_bus_trouble *trouble)
{
    char what[LINE_BYTES];
    if (trouble->is_refused)
        live_causes_add(causes, LIVE_CAUSE_ACCESS, NULL, LIVE_BUS_REFUSES);
    if (trouble->is_connected)
        return;
    if (trouble->reason[0] == '\0') {
        live_causes_add(causes, LIVE_CAUSE_CONNECTING, NULL,
                        "not connected to the broker yet: it is tried");
        return;
    }
    (void)snprintf(what, sizeof what, "not connected to the broker: %.400s", trouble->reason);
    char const *command;
    char const *const todo = broker_advice(trouble->reason, &command);
    add(causes, LIVE_CAUSE_DISCONNECTED, json_array(), what, todo, command);
}

const char *live_state_name(enum live_state state)
{
    static const char *const words[] = {"ok", "waiting", "attention"};
    TACIT_ASSERT(state <= LIVE_STATE_ATTENTION);
    return words[state];
}

/* ---- What does not move ---------------------------------------------------------------------- */

uint64_t live_hash_add(uint64_t hash, uint64_t part)
{
    uint64_t made = hash == 0 ? HASH_START : hash;
    for (unsigned i = 0; i < 8; i++)
        made = (made ^ (part >> (8 * i) & 0xff)) * HASH_FACTOR;
    return made;
}

void live_standstill_see(struct live_standstill *standstill, uint64_t hash, uint64_t now_us)
{
    if (standstill->since_us == 0 || standstill->hash != hash)
        *standstill = (struct live_standstill){hash, now_us};
}

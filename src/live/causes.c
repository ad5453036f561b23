#include "causes.h"
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 512u

/* The bus's words, and what they ask for. The first that is found counts. */
static const struct {
    const char *said;
    const char *todo;
} advices[] = {
    {"somebody else connects with our certificate",
     "stop one of the two; if the other one is not yours the key was copied: revoke it at the hub "
     "with tacit pki revoke"},
    {"is made for another host",
     "name the broker in broker.host as its certificate names it, or make that one with tacit pki "
     "--host NAME"},
    {"our certificate has expired",
     "at the hub: tacit pki revoke NAME, then tacit pki NAME, and copy the new files here; no "
     "restart is needed"},
    {"our certificate is revoked",
     "at the hub: tacit pki NAME, and copy the new files here; no restart is needed"},
    {"certificate is not valid yet", "set the clock of this machine right"},
    {"broker's certificate is not valid", "is broker.ca the CA of this federation? If so, look at "
                                          "the dates of the broker's certificate: "
                                          "openssl x509 -noout -dates -in broker.crt"},
    {"does not trust the CA",
     "the broker has another CA than the one that made our certificate: copy ca.crt and our "
     "certificate anew from the hub"},
    {"CA is not the CA of our certificate",
     "copy ca.crt and our certificate anew from the hub: they are not of one CA"},
    {"our certificate", "copy our certificate and key anew from the hub (tacit pki)"},
    {"look up the broker's host name",
     "is broker.host spelt right, and does the name service of this machine know it?"},
    {"no TLS at that port", "is broker.port the port of this federation's broker?"},
    {"cannot reach the broker",
     "is the broker running, and do broker.host, broker.port and the firewall let us through?"},
    {"does not answer",
     "does another service than the broker listen at broker.port, or does a firewall swallow it?"},
    {"refuses us",
     "call tacit broker-config with this name among its sites, and restart the broker"},
    {"TLS", "see the log of the broker: it says what it does not accept"},
};

struct live_causes live_causes_begin(void)
{
    return (struct live_causes){.state = LIVE_STATE_OK, .list = json_array()};
}

void live_causes_add(struct live_causes *causes, enum live_state state, const char *what,
                     const char *todo)
{
    TACIT_ASSERT(what != NULL && todo != NULL && state != LIVE_STATE_OK);
    if (state > causes->state)
        causes->state = state;
    if (causes->list != NULL)
        (void)json_array_append_new(
            causes->list, json_pack("{s:s%, s:s}", "what", what, strlen(what), "do", todo));
}

const char *live_causes_broker_advice(const char *reason)
{
    TACIT_ASSERT(reason != NULL);
    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++)
        if (strstr(reason, advices[i].said) != NULL)
            return advices[i].todo;
    return "see the log of the broker; it is tried again by itself";
}

void live_causes_add_broker(struct live_causes *causes, const struct live_bus_trouble *trouble)
{
    char what[LINE_BYTES];
    if (trouble->is_connected)
        return;
    if (trouble->reason[0] == '\0') {
        live_causes_add(causes, LIVE_STATE_WAITING, "not connected to the broker yet: it is tried",
                        "nothing, unless it stays so");
        return;
    }
    (void)snprintf(what, sizeof what, "not connected to the broker: %.400s", trouble->reason);
    live_causes_add(causes, LIVE_STATE_ATTENTION, what, live_causes_broker_advice(trouble->reason));
}

const char *live_state_word(enum live_state state)
{
    static const char *const words[] = {"ok", "waiting", "attention"};
    TACIT_ASSERT(state <= LIVE_STATE_ATTENTION);
    return words[state];
}

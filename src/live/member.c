/* A signed member of a run: it shows its key, collects those of others, and counts what it
 * refuses. */
#include "member.h"
#include "bus/topics.h"
#include "daemon/log.h"
#include <stdlib.h>
#include <string.h>

#define ASK_AGAIN_US UINT64_C(1000000)

/* Envelopes are signed and checked with what the member has now: after each change of either. */
static void use_keys(const struct live_member *member)
{
    member->envelopes->signer = member->signer;
    member->envelopes->keys = member->keys;
}

enum tacit_status live_member_open(struct live_member *member, struct live_daemon *daemon,
                                   struct live_envelopes *envelopes,
                                   const struct live_signing_config *config, uint32_t heard_max,
                                   struct tacit_error *error)
{
    TACIT_ASSERT(config != NULL && envelopes->federation != NULL);
    *member = (struct live_member){.daemon = daemon, .envelopes = envelopes, .config = *config};
    enum tacit_status status = live_signer_open(&member->signer, config, error);
    if (status == TACIT_OK)
        status = live_keys_new(&member->keys, config->ca_file, heard_max, error);
    if (status != TACIT_OK)
        live_member_close(member);
    else
        use_keys(member);
    return status;
}

void live_member_close(struct live_member *member)
{
    live_signer_close(member->signer);
    live_keys_free(member->keys);
    *member = (struct live_member){0};
}

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Key, CA and list as the files have them now. What cannot be read stays as it was. */
static void renew(struct live_member *member)
{
    TACIT_ASSERT(member->signer != NULL && member->keys != NULL);
    struct tacit_error error = {""};
    struct live_signer *fresh = NULL;
    if (live_signer_open(&fresh, &member->config, &error) == TACIT_OK) {
        live_signer_close(member->signer);
        member->signer = fresh;
    } else {
        live_log(LIVE_LOG_WARNING, "key", "the key for signing stays as it was: %s", error.text);
    }
    if (!live_keys_refresh(member->keys))
        live_log(LIVE_LOG_WARNING, "key",
                 "the CA, or its list of revoked certificates, cannot be read: it stays as it was");
    use_keys(member);
}

/* Reads its own key anew, asks for everybody's, and shows its own. */
static void show_key(struct live_member *member)
{
    char const *const federation = member->envelopes->federation;
    TACIT_ASSERT(member->config.name != NULL);
    size_t size;
    renew(member);
    (void)live_bus_subscribe(member->daemon->bus, live_topic_key(federation, "+").text);
    uint8_t const *const certificate = live_signer_certificate(member->signer, &size);
    live_daemon_send(member->daemon, live_topic_key(federation, member->config.name).text,
                     certificate, size, true);
}

void live_member_connected(struct live_member *member)
{
    live_log(LIVE_LOG_INFO, "connected", "to the broker");
    show_key(member);
}

void live_member_disconnected(void *context, const char *reason)
{
    (void)context;
    live_log(LIVE_LOG_WARNING, "disconnected", "from the broker: %s", reason);
}

void live_member_reload(struct live_member *member)
{
    live_bus_renew(member->daemon->bus);
    if (live_bus_is_connected(member->daemon->bus))
        show_key(member);
    else
        renew(member);
}

void live_member_add_own_key(struct live_member *member)
{
    size_t size;
    uint8_t const *const certificate = live_signer_certificate(member->signer, &size);
    char const *const objection =
        live_keys_add(member->keys, member->config.name, certificate, size);
    if (objection != NULL)
        live_log(LIVE_LOG_WARNING, "key", "its own key for signing: %s", objection);
}

void live_member_ask(struct live_member *member, const char *name)
{
    uint64_t const now_us = live_now_us();
    if (member->asked_us != 0 && now_us - member->asked_us < ASK_AGAIN_US)
        return;
    member->asked_us = now_us;
    (void)live_bus_subscribe(member->daemon->bus,
                             live_topic_key(member->envelopes->federation, name).text);
}

/* ---- Words ----------------------------------------------------------------------------------- */

void live_member_post(struct live_member *member, const struct live_envelope *content,
                      bool is_retained)
{
    size_t size;
    uint8_t *const bytes = live_envelope_close(member->envelopes, content, &size);
    if (bytes == NULL)
        live_log(LIVE_LOG_WARNING, "memory", "a message was not sent now; it will be sent again");
    else
        live_daemon_send(member->daemon, content->topic, bytes, size, is_retained);
    free(bytes);
}

void live_member_send(struct live_member *member, const struct live_message *message,
                      const char *to, const char *topic)
{
    struct live_envelope const envelope = {.topic = topic,
                                           .to = to,
                                           .kind = message->kind,
                                           .epoch = message->epoch,
                                           .body = message->bytes,
                                           .size = message->size};
    live_member_post(member, &envelope, message->is_retained);
}

void live_member_refuse(struct live_member *member, struct live_sender *sender, const char *name,
                        const char *why, bool is_unsigned)
{
    char line[2 * LIVE_SENDER_WHY_BYTES];
    member->refused_count++;
    member->unsigned_count += is_unsigned;
    if (live_sender_refuse(sender, live_now_us(), is_unsigned, why, line))
        live_log(LIVE_LOG_WARNING, "refused", "under the name %s: %s", name, line);
}

void live_member_refuse_again(struct live_member *member, struct live_sender *sender,
                              const char *why)
{
    member->refused_count++;
    (void)live_sender_refuse(sender, live_now_us(), false, why, NULL);
}

bool live_member_accept(struct live_member *member, struct live_sender *sender, const char *name,
                        const char *objection, const struct live_opened *opened)
{
    if (objection != NULL)
        live_member_refuse(member, sender, name, objection, opened->is_unsigned);
    if (opened->lacks_key)
        live_member_ask(member, name);
    return objection == NULL;
}

void live_member_add_key(struct live_member *member, struct live_sender *sender,
                         const struct live_arrival *shown)
{
    char const *const objection =
        live_keys_add(member->keys, shown->from, shown->bytes, shown->size);
    if (objection != NULL)
        live_member_refuse(member, sender, shown->from, objection, true);
}

#include "voice.h"
#include "bus/topics.h"
#include "daemon/log.h"
#include <string.h>

#define ASK_AGAIN_US UINT64_C(1000000)

static void give(const struct live_voice *voice, struct live_letters *letters)
{
    letters->signer = voice->signer;
    letters->keys = voice->keys;
}

enum tacit_status live_voice_open(struct live_voice *voice,
                                  const struct live_signing_config *config, const char *federation,
                                  uint32_t heard_max, struct tacit_error *error)
{
    TACIT_ASSERT(config != NULL && federation != NULL);
    *voice = (struct live_voice){.config = *config, .federation = federation};
    enum tacit_status status = live_signer_open(&voice->signer, config, error);
    if (status == TACIT_OK)
        status = live_keys_new(&voice->keys, config->ca_file, heard_max, error);
    if (status != TACIT_OK)
        live_voice_close(voice);
    return status;
}

void live_voice_close(struct live_voice *voice)
{
    live_signer_close(voice->signer);
    live_keys_free(voice->keys);
    *voice = (struct live_voice){0};
}

void live_voice_renew(struct live_voice *voice, struct live_letters *letters)
{
    TACIT_ASSERT(voice->signer != NULL && voice->keys != NULL);
    struct tacit_error error = {""};
    struct live_signer *fresh = NULL;
    if (live_signer_open(&fresh, &voice->config, &error) == TACIT_OK) {
        live_signer_close(voice->signer);
        voice->signer = fresh;
    } else {
        live_log(LIVE_LOG_WARNING, "key", "the key for signing stays as it was: %s", error.text);
    }
    if (!live_keys_refresh(voice->keys))
        live_log(LIVE_LOG_WARNING, "key",
                 "the CA, or its list of revoked certificates, cannot be read: it stays as it was");
    give(voice, letters);
}

void live_voice_connected(struct live_voice *voice, struct live_daemon *daemon,
                          struct live_letters *letters)
{
    TACIT_ASSERT(voice->config.name != NULL);
    size_t size;
    live_voice_renew(voice, letters);
    (void)live_bus_subscribe(daemon->bus, live_topic_key(voice->federation, "+").text);
    uint8_t const *const certificate = live_signer_certificate(voice->signer, &size);
    live_daemon_send(daemon, live_topic_key(voice->federation, voice->config.name).text,
                     certificate, size, true);
}

void live_voice_reload(struct live_voice *voice, struct live_daemon *daemon,
                       struct live_letters *letters)
{
    live_bus_renew(daemon->bus);
    if (live_bus_is_connected(daemon->bus))
        live_voice_connected(voice, daemon, letters);
    else
        live_voice_renew(voice, letters);
}

void live_voice_ask(struct live_voice *voice, struct live_daemon *daemon, const char *name)
{
    uint64_t const now_us = live_now_us();
    if (voice->asked_us != 0 && now_us - voice->asked_us < ASK_AGAIN_US)
        return;
    voice->asked_us = now_us;
    (void)live_bus_subscribe(daemon->bus, live_topic_key(voice->federation, name).text);
}

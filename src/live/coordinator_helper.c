/* Questions of a coordinator to its helper, asked until they are answered. */
#include "coordinator_helper.h"
#include "bus/topics.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define US_PER_S UINT64_C(1000000)
#define RESEND_US (5 * US_PER_S)
#define PATH_BYTES 4096u
#define FILE_BYTES_MAX (1u << 26)

/* ---- Saying ---- */

static struct live_topic topic_to(const struct live_helper_desk *desk)
{
    return live_topic_to(desk->run->federation, LIVE_HELPER, LIVE_HELPER);
}

void live_helper_send(struct live_daemon *daemon, const char *topic, const uint8_t *bytes,
                      size_t size)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    if (size > LIVE_TRUST_BYTES_MAX) {
        live_log(LIVE_LOG_ERROR, "size",
                 "a message of %zu bytes is not sent: it has too many grants that no round has "
                 "counted; at most %u bytes go to the other aggregator",
                 size, LIVE_TRUST_BYTES_MAX);
        return;
    }
    uint32_t const count = size <= live_piece_bytes_max() ? 0 : live_piece_count(size);
    if (count == 0)
        live_daemon_send(daemon, topic, bytes, size, true);
    tacit_sha256_of(bytes, size, digest);
    for (uint32_t i = 0; i < count; i++) {
        size_t piece_size = 0;
        uint8_t *const piece = live_piece_write(bytes, size, digest, i, &piece_size);
        if (piece != NULL)
            live_daemon_send(daemon, topic, piece, piece_size, false);
        free(piece);
    }
}

/* By the broker each time; as a file only when it says something new. */
static void send(struct live_helper_desk *desk, const char *file, const uint8_t *bytes, size_t size)
{
    TACIT_ASSERT(bytes != NULL && size > 1);
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_sha256_of(bytes, size, digest);
    live_helper_send(desk->member->daemon, topic_to(desk).text, bytes, size);
    if (memcmp(digest, desk->digest, sizeof digest) == 0)
        return;
    if (live_file_put(desk->state_directory, file, bytes, size, UINT32_MAX) == TACIT_OK)
        memcpy(desk->digest, digest, sizeof digest);
    else
        live_log(LIVE_LOG_WARNING, "file", "%s could not be written", file);
}

/* The run, and the keys of all its sites, once they have shown them. NULL: not yet. */
static uint8_t *offer_of(const struct live_helper_desk *desk, size_t *size)
{
    TACIT_ASSERT(desk->run->sealing == NULL);
    struct live_hub_config const *const run = desk->run;
    uint8_t(*const keys)[LIVE_KEY_BYTES] = calloc(run->site_count, LIVE_KEY_BYTES);
    bool is_whole = keys != NULL;
    for (uint32_t site = 0; is_whole && site < run->site_count; site++)
        is_whole = live_keys_public(desk->member->keys, run->sites[site], keys[site]);
    size_t announced = 0;
    uint8_t *const announcement =
        is_whole ? live_hub_announce(desk->ops, run, 0, &announced) : NULL;
    uint8_t *const offer =
        announcement == NULL
            ? NULL
            : live_offer_write(desk->member->signer, announcement, announced, run->sites,
                               (const uint8_t(*)[LIVE_KEY_BYTES])keys, run->site_count, size);
    free(announcement);
    free(keys);
    return offer;
}

static void send_end(struct live_helper_desk *desk)
{
    uint8_t bytes[1 + LIVE_SIGNATURE_BYTES + TACIT_WIRE_RUN_BYTES] = {LIVE_TRUST_END};
    uint8_t *const run = bytes + 1 + LIVE_SIGNATURE_BYTES;
    live_hub_run(desk->run, run);
    if (!live_signer_sign(desk->member->signer, LIVE_SIGNED_END, run, TACIT_WIRE_RUN_BYTES,
                          bytes + 1))
        return; /* it is tried again */
    send(desk, LIVE_HELPER_REQUEST_FILE, bytes, sizeof bytes);
    desk->is_over = live_bus_is_connected(desk->member->daemon->bus); /* the broker keeps it */
}

/* To this site; NULL: to all. The seconds that the run has waited are in the place of the epoch. */
static void send_notice(struct live_helper_desk *desk, enum live_notice what, const char *site,
                        uint64_t now_us)
{
    char const *const federation = desk->run->federation;
    uint8_t const body = (uint8_t)what;
    uint64_t const since_us = desk->since_us == 0 ? now_us : desk->since_us;
    struct live_topic const topic = site == NULL
                                        ? live_topic_down(federation, desk->ops->wire->name)
                                        : live_topic_to(federation, site, desk->ops->wire->name);
    TACIT_ASSERT(now_us >= since_us && what < LIVE_NOTICES);
    struct live_envelope const envelope = {.topic = topic.text,
                                           .to = site,
                                           .kind = LIVE_KIND_NOTICE,
                                           .epoch = (uint32_t)((now_us - since_us) / US_PER_S),
                                           .body = &body,
                                           .size = sizeof body};
    live_member_post(desk->member, &envelope, false);
}

/* Sites hear for whom the run waits, as long as it does; and who was left out, of the last sum. */
static void send_notices(struct live_helper_desk *desk, const struct live_helper_view *helper,
                         uint64_t now_us)
{
    bool const is_refused = helper->is_wrong || helper->verdict > TACIT_HELPER_TOO_FEW;
    TACIT_ASSERT(helper->left_out != NULL);
    bool const waits =
        desk->since_us != 0 && now_us - desk->since_us >= LIVE_HELPER_NOTICE_S * US_PER_S;
    if (now_us - desk->noticed_us < LIVE_HELPER_NOTICE_S * US_PER_S ||
        (!waits && !helper->awaits_operator &&
         tacit_bits_count(helper->left_out, desk->run->site_count) == 0))
        return;
    desk->noticed_us = now_us;
    if (helper->awaits_operator)
        send_notice(desk, LIVE_NOTICE_VOID, NULL, now_us);
    else if (waits)
        send_notice(desk, is_refused ? LIVE_NOTICE_REFUSES : LIVE_NOTICE_WAITS, NULL, now_us);
    TACIT_BITS_EACH (site, helper->left_out, desk->run->site_count)
        send_notice(desk, LIVE_NOTICE_LEFT_OUT, desk->run->sites[site], now_us);
}

bool live_helper_desk_waits(const struct live_hub_view *view)
{
    struct live_helper_view const *const helper = &view->helper;
    return helper->is_there && !view->is_finished && (!helper->has_agreed || helper->is_asked);
}

void live_helper_desk_tick(struct live_helper_desk *desk, const struct live_hub *hub,
                           const struct live_hub_view *view, uint64_t now_us)
{
    TACIT_ASSERT(view->helper.is_there);
    struct live_helper_view const *const helper = &view->helper;
    bool const waits = live_helper_desk_waits(view);
    size_t size = 0;
    if (!waits)
        desk->since_us = 0;
    else if (desk->since_us == 0)
        desk->since_us = now_us;
    if (helper->has_agreed && !view->is_finished)
        send_notices(desk, helper, now_us);
    bool const is_over = view->is_finished && helper->has_agreed;
    if ((!waits && !is_over) || (desk->sent_us != 0 && now_us - desk->sent_us < RESEND_US))
        return;
    uint8_t *const bytes = is_over              ? NULL
                           : helper->has_agreed ? live_hub_request(hub, desk->member->signer, &size)
                                                : offer_of(desk, &size);
    if (is_over && !desk->is_over)
        send_end(desk);
    if (bytes != NULL)
        send(desk, helper->has_agreed ? LIVE_HELPER_REQUEST_FILE : LIVE_HELPER_OFFER_FILE, bytes,
             size);
    if (bytes != NULL || is_over)
        desk->sent_us = now_us;
    free(bytes);
}

void live_helper_desk_soon(struct live_helper_desk *desk)
{
    desk->sent_us = 0;
    desk->since_us = 0;
}

/* ---- Hearing ---- */

bool live_helper_desk_has_topic(const struct live_helper_desk *desk, const char *topic)
{
    return strcmp(topic, live_topic_up(desk->run->federation, LIVE_HELPER, LIVE_HELPER).text) == 0;
}

void live_helper_desk_connected(struct live_helper_desk *desk)
{
    (void)live_bus_subscribe(desk->member->daemon->bus,
                             live_topic_up(desk->run->federation, LIVE_HELPER, LIVE_HELPER).text);
    desk->sent_us = 0;
    desk->is_over = false;
}

uint8_t *live_helper_desk_file(struct live_helper_desk *desk, size_t *size)
{
    char path[PATH_BYTES];
    uint8_t digest[TACIT_SHA256_BYTES];
    struct stat found;
    (void)snprintf(path, sizeof path, "%.4000s/" LIVE_HELPER_ANSWER_FILE, desk->state_directory);
    if (lstat(path, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size <= 0 ||
        found.st_size > FILE_BYTES_MAX)
        return NULL;
    size_t const found_size = (size_t)found.st_size;
    uint8_t *const bytes = malloc(found_size);
    if (bytes == NULL || live_file_read(desk->state_directory, LIVE_HELPER_ANSWER_FILE, bytes,
                                        found_size) != TACIT_OK) {
        free(bytes);
        return NULL; /* somebody may be writing it */
    }
    tacit_sha256_of(bytes, found_size, digest);
    if (memcmp(digest, desk->taken, sizeof digest) != 0) {
        memcpy(desk->taken, digest, sizeof digest);
        *size = found_size;
        return bytes;
    }
    live_file_drop(desk->state_directory, LIVE_HELPER_ANSWER_FILE);
    memset(desk->taken, 0, sizeof desk->taken);
    free(bytes);
    return NULL;
}

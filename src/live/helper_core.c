/* What the helper makes of each question, and the state that it keeps. */
#include "helper_core.h"
#include "bus/topics.h"
#include "coordinator_helper.h"
#include "daemon/entropy.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "daemon/refusal.h"
#include "pki/hpke.h"
#include "runs.h"
#include "tacit/wire_helper.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The state ---- */

enum tacit_status helper_identify(const struct live_helper_config *config,
                                  struct live_store_identity *identity)
{
    char *text = NULL;
    char delta[48] = "";
    if (config->delta > 0)
        (void)snprintf(delta, sizeof delta, "delta %.17g\n", config->delta);
    if (asprintf(&text, "hub %s\nepsilon %.17g\n%ssites_min %u\n", config->hub, config->epsilon,
                 delta, config->sites_min) < 0)
        text = NULL;
    /* The tables know two roles, and no site is called so: a third would be another format. */
    *identity = (struct live_store_identity){
        .role = "coordinator", .federation = config->federation, .site = LIVE_HELPER};
    return live_store_identity_agree(identity, text, text != NULL);
}

static size_t padded(size_t size)
{
    return (size + 7u) & ~(size_t)7u;
}

static uint8_t *offer_bytes(const struct helper_kept *kept)
{
    return (uint8_t *)(uintptr_t)(kept + 1);
}

double helper_vector(const struct live_hub_ops *ops, const struct live_offer *offer,
                     struct live_room *room, struct tacit_helper_run *made)
{
    struct tacit_wire_allocator const allocator = live_room_allocator(room);
    if (ops == NULL || ops->vector == NULL)
        return 0;
    void *const run = live_room_allocate(room, 1, ops->wire->run_size);
    if (run != NULL &&
        tacit_wire_run_decode(ops->wire, offer->announcement, run, &allocator) == TACIT_OK)
        return ops->vector(run, made);
    made->count_max = 0;
    return 0;
}

/* Reads the offer of a block into the room of a helper that has none yet, and what follows from it.
 * NULL: it is in order. */
static const char *read_offer(struct helper *helper, const uint8_t *bytes, size_t size)
{
    char const *const why = live_offer_read(bytes, size, helper->config->federation,
                                            helper->config->hub, &helper->room, &helper->offer);
    if (why != NULL)
        return why;
    struct tacit_wire_agreement const *const agreement = &helper->offer.announcement->agreement;
    helper->ops = helper->config->find(agreement->protocol);
    if (helper->ops == NULL || helper->ops->commit == NULL ||
        helper->ops->wire->family != agreement->family)
        return "an offer of a protocol that has no second aggregator here";
    helper->delta = helper_vector(helper->ops, &helper->offer, &helper->room, &helper->offer.run);
    uint64_t const epsilon_nano_max = tacit_nano_of(helper->config->epsilon);
    if (agreement->epsilon_nano > epsilon_nano_max)
        return "an offer of a larger epsilon than this file allows (epsilon)";
    if (helper->delta > helper->config->delta)
        return "an offer of a larger delta than this file allows (delta)";
    helper->core_config = (struct tacit_helper_config){
        .run = helper->offer.run,
        .epsilon_nano_max = helper->delta > 0
                                ? live_trust_noise_nano(agreement->epsilon_nano, helper->delta)
                                : epsilon_nano_max,
        .sites_min = helper->config->sites_min};
    helper->faulty = live_room_allocate(&helper->room, TACIT_BITS_WORDS(agreement->agent_count),
                                        sizeof(uint64_t));
    return helper->room.is_short                          ? "out of memory"
           : tacit_helper_size(&helper->core_config) == 0 ? "an offer of fewer sites than sites_min"
                                                          : NULL;
}

/* What was read of another offer is this helper's from now on. */
static void adopt_offer(struct helper *helper, const struct helper *found)
{
    live_room_free(&helper->room);
    helper->room = found->room;
    helper->offer = found->offer;
    helper->ops = found->ops;
    helper->delta = found->delta;
    helper->core_config = found->core_config;
    helper->faulty = found->faulty;
}

/* The block is the state from now on, and the helper's; the one before is overwritten and freed. */
static void adopt_block(struct helper *helper, void *block, size_t size)
{
    TACIT_ASSERT(size > sizeof *helper->kept);
    if (helper->kept != NULL)
        memset(helper->kept, 0, helper->size);
    free(helper->kept);
    helper->kept = block;
    helper->size = size;
    helper->core = (struct tacit_helper *)(void *)(offer_bytes(helper->kept) +
                                                   padded((size_t)helper->kept->offer_size));
}

/* The state as it was kept, if there is any. What was taken over before an error, helper_close
 * frees. */
static enum tacit_status restore(struct helper *helper, struct tacit_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    enum tacit_status status = live_store_copy_core(helper->daemon.store, &bytes, &size);
    if (status != TACIT_OK || bytes == NULL)
        return status;
    struct helper_kept const *const kept = bytes;
    size_t const head = size < sizeof *kept || kept->offer_size > size
                            ? SIZE_MAX
                            : sizeof *kept + padded((size_t)kept->offer_size);
    char const *const why = head > size
                                ? "it is cut short"
                                : read_offer(helper, offer_bytes(kept), (size_t)kept->offer_size);
    if (why == NULL)
        adopt_block(helper, bytes, size);
    if (why == NULL &&
        tacit_helper_check(helper->core, size - head, &helper->core_config) == TACIT_OK)
        return TACIT_OK;
    if (why != NULL)
        free(bytes);
    return live_refuse(error, TACIT_MALFORMED,
                       "%s: the state of the helper cannot be restored: damaged, or of another "
                       "version: %s",
                       helper->config->daemon.state_directory, why == NULL ? "its core" : why);
}

enum tacit_status helper_open(struct helper *helper, const struct live_helper_config *config,
                              struct tacit_error *error)
{
    struct live_store_identity identity = {0};
    *helper = (struct helper){.config = config};
    enum tacit_status status = live_signer_open(&helper->signer, &config->daemon.signing, error);
    if (status == TACIT_OK)
        status = helper_identify(config, &identity);
    if (status == TACIT_OK)
        status =
            live_daemon_open(&helper->daemon, config->daemon.state_directory, &identity, error);
    bool const is_open = status == TACIT_OK;
    live_store_identity_free(&identity);
    if (status == TACIT_OK)
        status = restore(helper, error);
    if (status != TACIT_OK && is_open)
        live_daemon_close(&helper->daemon);
    if (status != TACIT_OK)
        helper_close(helper);
    return status;
}

void helper_close(struct helper *helper)
{
    live_signer_close(helper->signer);
    if (helper->kept != NULL)
        memset(helper->kept, 0, helper->size);
    free(helper->kept);
    live_room_free(&helper->room);
    helper->signer = NULL;
    helper->kept = NULL;
}

/* What is kept, in the batch of this round; what was, cannot be read any more. */
static bool store_core(struct helper *helper)
{
    TACIT_ASSERT(helper->kept != NULL && helper->size > 0);
    if (!live_daemon_begin(&helper->daemon))
        return false;
    enum tacit_status const status =
        live_store_put_core(helper->daemon.store, helper->kept, helper->size);
    live_store_erase_past(helper->daemon.store);
    if (status != TACIT_OK)
        live_daemon_fail(&helper->daemon, status, "the state cannot be written");
    return status == TACIT_OK;
}

/* ---- Agreeing ---- */

uint8_t *helper_read(const char *directory, const char *name, size_t *size)
{
    char path[4200];
    struct stat found;
    (void)snprintf(path, sizeof path, "%.4000s/%s", directory, name);
    FILE *const file = fopen(path, "re");
    bool const is_file = file != NULL && fstat(fileno(file), &found) == 0 && found.st_size > 0 &&
                         found.st_size <= LIVE_TRUST_BYTES_MAX;
    uint8_t *const bytes = is_file ? malloc((size_t)found.st_size) : NULL;
    *size = bytes == NULL ? 0 : fread(bytes, 1, (size_t)found.st_size, file);
    if (file != NULL)
        (void)fclose(file);
    return bytes;
}

static bool is_same_run(const struct helper *helper, const struct tacit_helper_run *run)
{
    return helper->kept != NULL && helper->kept->is_over == 0 &&
           memcmp(helper->core_config.run.run, run->run, sizeof run->run) == 0 &&
           memcmp(helper->core_config.run.agreement, run->agreement, sizeof run->agreement) == 0;
}

/* A block for the offer that was found, of *size bytes. Another run has a key of its own; in the
 * same one, whose key and core stay, only the sites' keys are others. NULL: *why says why. */
static struct helper_kept *make_block(const struct helper *helper, const struct helper *found,
                                      const uint8_t *offer, size_t offer_size, size_t *size,
                                      const char **why)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_KEYS);
    size_t const core = tacit_helper_size(&found->core_config);
    size_t const head = sizeof(struct helper_kept) + padded(offer_size);
    struct helper_kept *const made = calloc(1, head + core);
    *size = head + core;
    *why = "out of memory";
    if (made == NULL)
        return NULL;
    made->offer_size = offer_size;
    memcpy(offer_bytes(made), offer, offer_size);
    struct tacit_helper *const state = (struct tacit_helper *)(void *)((uint8_t *)made + head);
    if (is_same_run(helper, &found->offer.run)) {
        memcpy(made->key, helper->kept->key, sizeof made->key);
        memcpy(state, helper->core, core);
        return made;
    }
    if (entropy.fill(entropy.context, made->key, sizeof made->key) == TACIT_OK &&
        tacit_helper_init(state, &found->core_config) == TACIT_OK)
        return made;
    *why = "there is no entropy for a key";
    free(made);
    return NULL;
}

/* The offer becomes the state. Errors: false, and nothing changed but helper->outcome, which says
 * why. */
static bool adopt(struct helper *helper, const uint8_t *offer, size_t size)
{
    TACIT_ASSERT(size > 0 && size <= LIVE_TRUST_BYTES_MAX);
    struct helper found = {.config = helper->config};
    size_t block_size = 0;
    char const *why = read_offer(&found, offer, size);
    struct helper_kept *const made =
        why == NULL ? make_block(helper, &found, offer, size, &block_size, &why) : NULL;
    if (made == NULL) {
        (void)snprintf(helper->outcome, sizeof helper->outcome, "%s", why);
        live_room_free(&found.room);
        return false;
    }
    adopt_offer(helper, &found);
    adopt_block(helper, made, block_size);
    return store_core(helper);
}

/* Is it the state of this helper, whose run may be over? */
static bool is_kept(const struct helper *helper, const uint8_t *offer, size_t size)
{
    return helper->kept != NULL && helper->kept->offer_size == size &&
           memcmp(offer_bytes(helper->kept), offer, size) == 0;
}

void helper_drop_offer(const struct helper *helper)
{
    char const *const directory = helper->config->daemon.state_directory;
    live_file_drop(directory, LIVE_HELPER_ACCEPTED_FILE);
    live_file_drop(directory, LIVE_HELPER_OFFER_FILE);
}

/* Both files stay until what they led to is on disk: the operator is not asked twice. */
bool helper_read_agreement(struct helper *helper)
{
    bool has_agreed = false;
    char word[2 * TACIT_SHA256_BYTES];
    char code[LIVE_FINGERPRINT_BYTES];
    char const *const directory = helper->config->daemon.state_directory;
    size_t size = 0;
    uint8_t *const offer = helper_read(directory, LIVE_HELPER_OFFER_FILE, &size);
    helper->awaits_operator = offer != NULL && !is_kept(helper, offer, size);
    if (offer != NULL && !helper->awaits_operator) {
        helper_drop_offer(helper);
    } else if (offer != NULL && live_file_read(directory, LIVE_HELPER_ACCEPTED_FILE, word,
                                               sizeof word) == TACIT_OK) {
        live_offer_code(offer, size, code);
        bool const is_meant = memcmp(word, code, sizeof word) == 0;
        has_agreed = is_meant && adopt(helper, offer, size);
        if (has_agreed)
            live_log(LIVE_LOG_WARNING, "agreed", "to run %" PRIu64 " of %s, with %u sites",
                     helper->core_config.run.run_id, helper->config->federation,
                     helper->core_config.run.site_count);
        else
            live_file_drop(directory, LIVE_HELPER_ACCEPTED_FILE);
        if (is_meant && !has_agreed)
            live_log(LIVE_LOG_ERROR, "refused", "%s", helper->outcome);
        helper->awaits_operator = !has_agreed;
    }
    free(offer);
    return has_agreed;
}

enum tacit_status helper_reply_sealing(struct helper *helper, uint8_t **reply, size_t *size)
{
    TACIT_ASSERT(helper->kept->is_over == 0);
    struct tacit_wire_sealing sealing;
    uint8_t *const bytes = malloc(1 + sizeof sealing);
    if (bytes == NULL || !live_hpke_public(helper->kept->key, sealing.key) ||
        !live_trust_sign(helper->signer, &helper->core_config.run, &sealing)) {
        free(bytes);
        return TACIT_MEMORY;
    }
    bytes[0] = LIVE_TRUST_SEALING;
    memcpy(bytes + 1, &sealing, sizeof sealing);
    *reply = bytes;
    *size = 1 + sizeof sealing;
    (void)snprintf(helper->outcome, sizeof helper->outcome, "the run's sealing key, signed");
    return TACIT_OK;
}

/* Was this very offer accepted, byte for byte? */
static bool is_agreed(const struct helper *helper, const uint8_t *bytes, size_t size)
{
    return is_kept(helper, bytes, size) && helper->kept->is_over == 0;
}

/* It came late or again: nobody is asked about it. */
static bool is_past(const struct helper *helper, const uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    uint8_t const *const agreed = helper->core_config.run.run;
    return helper->kept != NULL &&
           (live_run_follows(run, agreed) ||
            (helper->kept->is_over != 0 && memcmp(run, agreed, TACIT_WIRE_RUN_BYTES) == 0));
}

/* One that was accepted is answered again; another is kept as a file for the operator. */
static enum tacit_status on_offer(struct helper *helper, const uint8_t *bytes, size_t size,
                                  uint8_t **reply, size_t *reply_size)
{
    struct live_room room = {0};
    struct live_offer offer;
    if (is_agreed(helper, bytes, size))
        return helper_reply_sealing(helper, reply, reply_size);
    char const *why = size > LIVE_TRUST_BYTES_MAX
                          ? "an offer that is too long"
                          : live_offer_read(bytes, size, helper->config->federation,
                                            helper->config->hub, &room, &offer);
    if (why == NULL && is_past(helper, offer.run.run))
        why = "an offer of a run that is over, or of before the one that was agreed to";
    live_room_free(&room);
    if (why != NULL) {
        (void)snprintf(helper->outcome, sizeof helper->outcome, "%s", why);
        return TACIT_REFUSED;
    }
    if (!helper->awaits_operator)
        live_log(LIVE_LOG_WARNING, "offer", "a run is offered: tacit helper agree %s",
                 helper->config->daemon.state_directory);
    enum tacit_status const status = live_file_put(helper->config->daemon.state_directory,
                                                   LIVE_HELPER_OFFER_FILE, bytes, size, UINT32_MAX);
    helper->awaits_operator = status == TACIT_OK;
    (void)snprintf(helper->outcome, sizeof helper->outcome,
                   "the run is not agreed to yet: tacit helper agree %s",
                   helper->config->daemon.state_directory);
    return status;
}

/* ---- Requests ---- */

static bool open_seed(void *context, const uint8_t *scope, size_t size, const uint8_t *envelope,
                      uint8_t *seed)
{
    struct helper *const helper = context;
    return live_hpke_open_seed(helper->kept->key, scope, size, envelope, seed);
}

/* The COMMIT as it was signed, made again from the proof: its bytes, to be given to free(). */
static uint8_t *commit_of(const struct helper *helper, uint32_t site, uint64_t term,
                          const struct tacit_helper_link *link, size_t *size)
{
    TACIT_ASSERT(site < helper->core_config.run.site_count && link->proof_size == LIVE_PROOF_BYTES);
    struct tacit_helper_run const *const run = &helper->core_config.run;
    struct tacit_wire_table const *const table = helper->ops->wire->messages;
    struct tacit_wire_shape const shape = {.arm_count = run->count_max,
                                           .agent_count = run->site_count};
    struct tacit_wire_envelope envelope = {
        .family = helper->ops->wire->family, .term = term + 1, .is_signed = true};
    struct tacit_commit commit = {.salt = {0}};
    live_proof_read(link->proof, &envelope);
    if (envelope.version < TACIT_WIRE_VERSION_OLDEST || envelope.version > TACIT_WIRE_VERSION)
        return NULL;
    memcpy(commit.commitment, link->commitment, sizeof commit.commitment);
    memcpy(commit.previous, link->previous, sizeof commit.previous);
    void *const message = helper->ops->commit(&(struct tacit_round_message){.from = site,
                                                                            .to = TACIT_HUB,
                                                                            .run_id = run->run_id,
                                                                            .round = envelope.epoch,
                                                                            .commit = &commit});
    size_t const body_size = message == NULL ? 0 : tacit_wire_bytes(table, &shape, message);
    uint8_t *const body = message == NULL ? NULL : malloc(body_size);
    uint8_t *bytes = NULL;
    if (body != NULL) {
        tacit_wire_encode(table, &shape, message, body);
        envelope.kind = tacit_wire_label(table, message).kind;
        envelope.body = body;
        envelope.body_size = body_size;
        (void)snprintf(envelope.federation, sizeof envelope.federation, "%s", run->federation);
        (void)snprintf(envelope.from, sizeof envelope.from, "%s", helper->offer.names[site]);
        (void)snprintf(envelope.to, sizeof envelope.to, "%s", TACIT_WIRE_COORDINATOR);
        memcpy(envelope.run, run->run, sizeof envelope.run);
        memcpy(envelope.agreement, run->agreement, sizeof envelope.agreement);
        *size = tacit_wire_envelope_bytes(&envelope);
        bytes = malloc(*size);
    }
    if (bytes != NULL)
        tacit_wire_envelope_encode(&envelope, bytes);
    free(body);
    free(message);
    return bytes;
}

/* tacit_helper_keys.is_of_site: did the site sign the COMMIT whose proof this is? */
static bool is_of_site(void *context, uint32_t site, uint64_t term,
                       const struct tacit_helper_link *link)
{
    struct helper const *const helper = context;
    size_t size = 0;
    if (link->proof_size != LIVE_PROOF_BYTES || site >= helper->core_config.run.site_count)
        return false;
    uint8_t *const bytes = commit_of(helper, site, term, link, &size);
    struct live_topic const topic = live_topic_up(
        helper->config->federation, helper->offer.names[site], helper->ops->wire->name);
    size_t const at = bytes == NULL ? 0 : tacit_wire_envelope_signature(bytes, size);
    bool const is_good =
        at > 0 && live_key_check(helper->offer.keys[site], topic.text, bytes,
                                 size - TACIT_WIRE_SIGNATURE_FIELD_BYTES, bytes + at);
    free(bytes);
    return is_good;
}

static bool is_of_hub(void *context, const uint8_t *digest, const uint8_t *signature)
{
    struct helper const *const helper = context;
    return live_key_check(helper->offer.hub, LIVE_SIGNED_REQUEST, digest, TACIT_SHA256_BYTES,
                          signature);
}

static bool is_of_helper(void *context, const uint8_t *digest, const uint8_t *signature)
{
    struct helper const *const helper = context;
    uint8_t key[LIVE_KEY_BYTES];
    return live_signer_public(helper->signer, key) &&
           live_key_check(key, LIVE_SIGNED_ANSWER, digest, TACIT_SHA256_BYTES, signature);
}

/* Signs the answer. Result: its bytes, to be given to free(); NULL: out of memory, or libcrypto
 * failed. */
static uint8_t *encode(const struct helper *helper, struct tacit_helper_answer *answer,
                       size_t *size)
{
    TACIT_ASSERT(answer->site_count == helper->core_config.run.site_count);
    uint8_t digest[TACIT_SHA256_BYTES];
    tacit_helper_answer_digest(answer, digest);
    if (!live_signer_sign(helper->signer, LIVE_SIGNED_ANSWER, digest, sizeof digest,
                          answer->signature) ||
        !live_signer_sign(helper->signer, LIVE_SIGNED_ANSWER, answer->head, sizeof answer->head,
                          answer->head_signature))
        return NULL;
    struct tacit_wire_shape const shape = {.agent_count = answer->site_count};
    *size = 1 + tacit_wire_bytes(&tacit_wire_helper_answer, &shape, answer);
    uint8_t *const bytes = malloc(*size);
    if (bytes == NULL)
        return NULL;
    bytes[0] = LIVE_TRUST_ANSWER;
    tacit_wire_encode(&tacit_wire_helper_answer, &shape, answer, bytes + 1);
    return bytes;
}

/* Those that were left out: in the log by name, and kept for the status. */
static void name_faulty(const struct helper *helper, const uint64_t *faulty)
{
    TACIT_ASSERT(helper->faulty != NULL && faulty != NULL);
    uint32_t const count = helper->core_config.run.site_count;
    TACIT_BITS_EACH (site, faulty, count)
        live_log(LIVE_LOG_ERROR, "left-out",
                 "site %s: its grants, its release or its envelope are not in order",
                 helper->offer.names[site]);
    memcpy(helper->faulty, faulty, TACIT_BITS_WORDS(count) * sizeof *faulty);
}

const char *helper_verdict_text(enum tacit_helper_verdict verdict)
{
    static const char *const words[] = {
        [TACIT_HELPER_ANSWERED] = "answered",
        [TACIT_HELPER_TOO_FEW] = "refused: too few reports are in order",
        [TACIT_HELPER_LATE] = "refused: another request of this round was answered, or a later one",
        [TACIT_HELPER_BEHIND] = "refused: the coordinator's state is an old one",
        [TACIT_HELPER_OLD] = "refused: this helper's own state is an old one",
        [TACIT_HELPER_TOO_WEAK] = "refused: epsilon is more than this file allows"};
    return words[verdict];
}

/* For people: outcome, log, who was left out. An answer that is only said again is not logged. */
static void note_answer(struct helper *helper, const struct tacit_helper_request *request,
                        const struct tacit_helper_update *update)
{
    struct tacit_helper_answer const *const answer = &update->answer;
    bool const is_answer = answer->verdict == TACIT_HELPER_ANSWERED;
    uint32_t const sites =
        is_answer ? tacit_bits_count(answer->sites, answer->site_count) : request->entry_count;
    (void)snprintf(
        helper->outcome, sizeof helper->outcome,
        "round %" PRIu32 " of term %" PRIu64 ", %" PRIu32 " sites, %s %.6g: %s",
        request->round.round, request->round.term + 1, sites, helper->delta > 0 ? "rho" : "epsilon",
        tacit_nano_value(request->round.epsilon_nano), helper_verdict_text(answer->verdict));
    helper->verdict = answer->verdict;
    if (update->persist || answer->verdict == TACIT_HELPER_TOO_FEW)
        name_faulty(helper, update->faulty);
    if (update->persist || !is_answer)
        live_log(is_answer ? LIVE_LOG_INFO : LIVE_LOG_WARNING, "answer", "%s", helper->outcome);
}

static enum tacit_status on_request(struct helper *helper, const uint8_t *bytes, size_t size,
                                    uint8_t **reply, size_t *reply_size)
{
    struct tacit_helper_keys const keys = {.context = helper,
                                           .open = open_seed,
                                           .is_of_site = is_of_site,
                                           .is_of_hub = is_of_hub,
                                           .is_of_helper = is_of_helper};
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_NOISE);
    struct tacit_helper_request *request;
    struct tacit_helper_update update;
    uint64_t const now_us = live_now_us();
    if (helper->kept == NULL || helper->kept->is_over != 0) {
        (void)snprintf(helper->outcome, sizeof helper->outcome,
                       "there is no run that was agreed to");
        helper->is_asked_in_vain = helper->kept == NULL;
        return TACIT_REFUSED;
    }
    struct tacit_wire_shape const shape = {.agent_count = helper->core_config.run.site_count};
    TACIT_TRY(tacit_wire_decode(&tacit_wire_helper_request, &shape, bytes, size, &request,
                                tacit_wire_heap()));
    enum tacit_status status = tacit_helper_step(helper->core, request, &keys, &entropy, &update);
    if (status == TACIT_OK && update.persist) {
        if (update.answer.verdict == TACIT_HELPER_ANSWERED)
            live_daemon_hold(&helper->daemon, now_us, request->round.count);
        status = store_core(helper) ? TACIT_OK : TACIT_IO;
    }
    if (status == TACIT_OK && update.send) {
        *reply = encode(helper, &update.answer, reply_size);
        note_answer(helper, request, &update);
    }
    free(request);
    return status;
}

/* The run is over: what could open its traffic is gone. */
static enum tacit_status on_end(struct helper *helper, const uint8_t *bytes, size_t size)
{
    if (size != LIVE_SIGNATURE_BYTES + TACIT_WIRE_RUN_BYTES || helper->kept == NULL)
        return TACIT_MALFORMED;
    uint8_t const *const run = bytes + LIVE_SIGNATURE_BYTES;
    if (memcmp(run, helper->core_config.run.run, TACIT_WIRE_RUN_BYTES) != 0)
        return TACIT_UNEXPECTED;
    if (!live_key_check(helper->offer.hub, LIVE_SIGNED_END, run, TACIT_WIRE_RUN_BYTES, bytes))
        return TACIT_STRANGER;
    (void)snprintf(helper->outcome, sizeof helper->outcome,
                   "the run is over, and its key destroyed");
    if (helper->kept->is_over != 0)
        return TACIT_OK;
    helper->kept->is_over = 1;
    memset(helper->kept->key, 0, sizeof helper->kept->key);
    memset(helper->core, 0, tacit_helper_size(&helper->core_config));
    enum tacit_status const status = tacit_helper_init(helper->core, &helper->core_config);
    TACIT_ASSERT(status == TACIT_OK);
    live_log(LIVE_LOG_WARNING, "over", "run %" PRIu64 " is over: its sealing key is destroyed",
             helper->core_config.run.run_id);
    return store_core(helper) ? TACIT_OK : TACIT_IO;
}

enum tacit_status helper_on_message(struct helper *helper, const uint8_t *bytes, size_t size,
                                    uint8_t **reply, size_t *reply_size)
{
    *reply = NULL;
    *reply_size = 0;
    helper->outcome[0] = '\0';
    enum tacit_status status = TACIT_MALFORMED;
    if (size > 1 && bytes[0] == LIVE_TRUST_OFFER)
        status = on_offer(helper, bytes, size, reply, reply_size);
    else if (size > 1 && bytes[0] == LIVE_TRUST_REQUEST)
        status = on_request(helper, bytes + 1, size - 1, reply, reply_size);
    else if (size > 1 && bytes[0] == LIVE_TRUST_END)
        status = on_end(helper, bytes + 1, size - 1);
    if (status == TACIT_OK)
        helper->heard_us = live_now_us();
    else
        helper->refused_count++;
    if (status != TACIT_OK && helper->outcome[0] == '\0')
        (void)snprintf(helper->outcome, sizeof helper->outcome, "%s",
                       status == TACIT_STRANGER
                           ? "a message that the pinned coordinator did not sign"
                           : tacit_status_text(status));
    return status;
}

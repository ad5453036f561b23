/* What is signed of the messages between hub and helper (tacit/helper.h). */
#include <string.h>
#include "internal.h"

/* A label is a word of its own length; no other message of ours begins with it. */
static struct tacit_sha256 begin(const char label[13])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, label, 13);
    return sha;
}

struct tacit_sha256 helper_request_begin(const struct tacit_helper_run *run,
                                         const struct tacit_helper_request *request)
{
    uint8_t scope[TACIT_HELPER_SCOPE_BYTES_MAX];
    size_t const size = tacit_helper_scope(run, &request->round, TACIT_HELPER_EVERYBODY, scope);
    struct tacit_sha256 sha = begin("tacit request");
    tacit_sha256_update(&sha, scope, size);
    tacit_sha256_update_number(&sha, request->quorum);
    tacit_sha256_update_number(&sha, request->number);
    tacit_sha256_update(&sha, request->head, sizeof request->head);
    tacit_sha256_update_number(&sha, request->entry_count);
    return sha;
}

void helper_request_hash(struct tacit_sha256 *sha, const struct tacit_helper_entry *entry)
{
    TACIT_ASSERT(entry->link_count > 0);
    TACIT_ASSERT(entry->link_count <= TACIT_HELPER_LINKS_MAX);
    tacit_sha256_update_number(sha, entry->site);
    tacit_sha256_update(sha, entry->salt, sizeof entry->salt);
    tacit_sha256_update(sha, entry->release.digest, sizeof entry->release.digest);
    tacit_sha256_update(sha, entry->release.envelope, sizeof entry->release.envelope);
    tacit_sha256_update_number(sha, entry->link_count);
    for (uint32_t i = 0; i < entry->link_count; i++) {
        tacit_sha256_update(sha, entry->links[i].commitment, TACIT_SHA256_BYTES);
        tacit_sha256_update(sha, entry->links[i].previous, TACIT_SHA256_BYTES);
    }
}

void tacit_helper_request_digest(const struct tacit_helper_run *run,
                                 const struct tacit_helper_request *request,
                                 uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = helper_request_begin(run, request);
    TACIT_ASSERT(request->entry_count <= run->site_count);
    for (uint32_t i = 0; i < request->entry_count; i++)
        helper_request_hash(&sha, &request->entries[i]);
    tacit_sha256_final(&sha, digest);
}

/* The chain holds the words by their digest, so that it can be checked when they are gone; of a
 * refusal head and number are those of the newest answer. */
void tacit_helper_answer_digest(const struct tacit_helper_answer *answer,
                                uint8_t digest[TACIT_SHA256_BYTES])
{
    bool const is_answer = answer->verdict == TACIT_HELPER_ANSWERED;
    uint8_t words[TACIT_SHA256_BYTES];
    TACIT_ASSERT(answer->site_count <= TACIT_AGENTS_MAX);
    TACIT_ASSERT(is_answer || answer->count == 0);
    struct tacit_sha256 sha = begin(is_answer ? "tacit answer " : "tacit refusal");
    tacit_helper_words_digest(answer->words, answer->count, words);
    tacit_sha256_update_number(&sha, answer->verdict);
    tacit_sha256_update_number(&sha, answer->number);
    tacit_sha256_update(&sha, is_answer ? answer->previous : answer->head, TACIT_SHA256_BYTES);
    tacit_sha256_update_number(&sha, answer->term);
    tacit_sha256_update_number(&sha, answer->round);
    tacit_sha256_update(&sha, answer->request, sizeof answer->request);
    for (size_t i = 0; answer->sites != NULL && i < TACIT_BITS_WORDS(answer->site_count); i++)
        tacit_sha256_update_number(&sha, answer->sites[i]);
    tacit_sha256_update_number(&sha, answer->count);
    tacit_sha256_update(&sha, words, sizeof words);
    tacit_sha256_final(&sha, digest);
}

/* Messages between hub and helper (helper.proto). */
#include "tacit/wire_helper.h"
#include "walk.h"

/* ---- Requests ---- */

#define MESSAGE struct tacit_helper_link
static const struct wire_field link_fields[] = {
    BYTES(1, commitment, ALWAYS),
    BYTES(2, previous, ALWAYS),
    BLOB(3, proof, proof_size, UP_TO(TACIT_WIRE_HELPER_PROOF_BYTES_MAX)),
};
static const struct tacit_wire_table link_table = TABLE("HelperLink", FIELDS(link_fields));
#undef MESSAGE

#define MESSAGE struct tacit_helper_entry
static const struct wire_field entry_fields[] = {
    NUMBER(1, site, BELOW(WIRE_AGENTS)),
    BYTES(2, salt, ALWAYS),
    BYTES(3, release.digest, ALWAYS),
    BYTES(4, release.envelope, ALWAYS),
    PARTS(5, links, link_table, COUNT(link_count), FROM(1), UP_TO(TACIT_HELPER_LINKS_MAX)),
};
static const struct tacit_wire_table entry_table = TABLE("HelperEntry", FIELDS(entry_fields));
#undef MESSAGE

#define MESSAGE struct tacit_helper_request
static const struct wire_field request_fields[] = {
    VERSION(1, TACIT_WIRE_HELPER_VERSION),
    NUMBER(2, round.term, ANY),
    NUMBER(3, round.round, FROM(1)),
    NUMBER(4, round.count, FROM(1), UP_TO(TACIT_HELPER_COUNT_MAX)),
    BYTES(5, round.order, ALWAYS),
    NUMBER(6, round.epsilon_nano, FROM(1)),
    NUMBER(7, quorum, ANY),
    NUMBER(8, number, ANY),
    BYTES(9, head, ALWAYS),
    BYTES(10, head_signature, ALWAYS),
    BYTES(11, signature, ALWAYS),
    PARTS(12, entries, entry_table, COUNT(entry_count), FROM(1)),
};
static bool check_request(void *message, const uint32_t *sizes)
{
    const struct tacit_helper_request *const request = message;
    TACIT_ASSERT(sizes[WIRE_AGENTS] > 0);
    TACIT_IMPLIES(request->entry_count > 0, request->entries != NULL);
    for (uint32_t i = 1; i < request->entry_count; i++)
        if (request->entries[i].site <= request->entries[i - 1].site)
            return false;
    return request->entry_count <= sizes[WIRE_AGENTS];
}
const struct tacit_wire_table tacit_wire_helper_request =
    TABLE("HelperRequest", FIELDS(request_fields), .fits = check_request);

#undef MESSAGE

/* ---- Answers ---- */

#define MESSAGE struct tacit_helper_answer
static const struct wire_field answer_fields[] = {
    VERSION(1, TACIT_WIRE_HELPER_VERSION),
    KIND(2, verdict, UP_TO(TACIT_HELPER_TOO_WEAK + 1)),
    NUMBER(3, number, ANY),
    NUMBER(4, term, ANY),
    NUMBER(5, round, FROM(1)),
    BYTES(6, request, ALWAYS),
    BYTES(7, previous, ALWAYS),
    BYTES(8, head, ALWAYS),
    SET(9, sites, PER(WIRE_AGENTS)),
    ROW(10, words, COUNT(count)),
    BYTES(11, signature, ALWAYS),
    BYTES(12, head_signature, ALWAYS),
};
static bool check_answer(void *message, const uint32_t *sizes)
{
    struct tacit_helper_answer *const answer = message;
    TACIT_ASSERT(sizes[WIRE_AGENTS] > 0 && answer->sites != NULL);
    TACIT_IMPLIES(answer->count > 0, answer->words != NULL);
    answer->site_count = sizes[WIRE_AGENTS];
    return (answer->count > 0) == (answer->verdict == TACIT_HELPER_ANSWERED) &&
           answer->count <= TACIT_HELPER_COUNT_MAX;
}
const struct tacit_wire_table tacit_wire_helper_answer =
    TABLE("HelperAnswer", FIELDS(answer_fields), .fits = check_answer);

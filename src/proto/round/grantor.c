/* Who grants what to whom: the one place where a grant is given, and where it is decided whose
 * state is an old one (docs/adr/0039, 0049). */
#include "grantor.h"
#include <string.h>

_Static_assert(sizeof(struct tacit_commit_head) % sizeof(uint64_t) == 0, "heads are words");

size_t round_grantor_words(uint32_t site_count)
{
    return TACIT_COMMIT_HEAD_WORDS * site_count + 2 * TACIT_BITS_WORDS(site_count);
}

struct round_grantor round_grantor_at(uint64_t *words, uint32_t site_count, bool accepts_first)
{
    TACIT_ASSERT(words != NULL);
    uint64_t *const flagged = words + TACIT_COMMIT_HEAD_WORDS * site_count;
    return (struct round_grantor){.heads = (struct tacit_commit_head *)(void *)words,
                                  .flagged = flagged,
                                  .ahead = flagged + TACIT_BITS_WORDS(site_count),
                                  .site_count = site_count,
                                  .accepts_first = accepts_first};
}

/* Is the first commitment that this site shows to be taken for its head (accepts_first)? */
static bool lacks_head(const struct round_grantor *grantor, uint32_t site)
{
    TACIT_ASSERT(site < grantor->site_count);
    return grantor->accepts_first && tacit_commit_is_nothing(grantor->heads[site].head);
}

/* is_known: what it shows follows what this state knows of, so two states of the site differ: it is
 * flagged, and hears `answer`. Else it cannot be a copy, for a head moves only when all its
 * grantors have granted: it is marked as ahead, and hears a REFUSAL. */
static struct round_verdict blame(const struct round_grantor *grantor, uint32_t site, bool is_known,
                                  enum round_answer answer)
{
    TACIT_ASSERT(site < grantor->site_count);
    uint64_t *const set = is_known ? grantor->flagged : grantor->ahead;
    struct round_verdict const verdict = {.status = is_known ? TACIT_FORKED : TACIT_ROLLBACK,
                                          .answer = is_known ? answer : ROUND_REFUSAL,
                                          .is_unknown = !is_known,
                                          .persist = !tacit_bits_has(set, site)};
    tacit_bits_add(set, site);
    return verdict;
}

struct round_verdict round_grantor_ask(const struct round_grantor *grantor, uint32_t site,
                                       const struct tacit_commit *asked)
{
    TACIT_ASSERT(asked != NULL);
    TACIT_ASSERT(site < grantor->site_count);
    struct tacit_commit_head *const head = &grantor->heads[site];
    struct tacit_commit_head asking = *head;
    if (lacks_head(grantor, site))
        memcpy(asking.head, asked->previous, sizeof asking.head);
    switch (tacit_commit_ask(&asking, asked->commitment, asked->previous)) {
    case TACIT_COMMIT_GRANTED:
        *head = asking;
        return (struct round_verdict){.answer = ROUND_GRANT, .persist = true};
    case TACIT_COMMIT_AGAIN:
        return (struct round_verdict){.answer = ROUND_GRANT};
    case TACIT_COMMIT_LATE:
        return (struct round_verdict){.answer = ROUND_REFUSAL};
    case TACIT_COMMIT_REFUSED:
        break;
    }
    return blame(grantor, site, tacit_commit_knows(head, asked->previous), ROUND_REFUSAL);
}

struct round_verdict round_grantor_greet(const struct round_grantor *grantor, uint32_t site,
                                         const uint8_t shown[TACIT_SHA256_BYTES], bool is_present)
{
    TACIT_ASSERT(site < grantor->site_count);
    struct tacit_commit_head const *const head = &grantor->heads[site];
    if (lacks_head(grantor, site) || tacit_commit_is_same(shown, head->head) ||
        (is_present && tacit_commit_is_same(shown, head->before)))
        return (struct round_verdict){0};
    bool const is_known = tacit_commit_knows(head, shown);
    if (is_known && !is_present)
        return (struct round_verdict){.answer = ROUND_REFUSAL};
    return blame(grantor, site, is_known, ROUND_REFUSAL);
}

struct round_verdict round_grantor_name(const struct round_grantor *grantor, uint32_t site,
                                        const uint8_t named[TACIT_SHA256_BYTES], bool is_present)
{
    TACIT_ASSERT(site < grantor->site_count);
    struct tacit_commit_head *const head = &grantor->heads[site];
    bool const is_granted = !tacit_commit_is_nothing(named);
    if (is_granted && lacks_head(grantor, site)) {
        memcpy(head->head, named, sizeof head->head);
        return (struct round_verdict){.persist = true};
    }
    if (is_granted && (tacit_commit_is_same(named, head->head) ||
                       (!is_present && tacit_commit_is_same(named, head->before))))
        return (struct round_verdict){0};
    bool const is_known = tacit_commit_knows(head, named);
    if (is_granted && is_known && !is_present)
        return (struct round_verdict){.answer = ROUND_REFUSAL};
    return blame(grantor, site, is_known, ROUND_NOTHING);
}

struct round_verdict round_grantor_open(const struct round_grantor *grantor,
                                        const struct tacit_commit_scope *scope,
                                        const struct tacit_commit *opening,
                                        const uint8_t release[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(scope->site < grantor->site_count);
    struct tacit_commit_head *const head = &grantor->heads[scope->site];
    uint8_t shown[TACIT_SHA256_BYTES];
    if (opening == NULL)
        return blame(grantor, scope->site, true, ROUND_NOTHING);
    tacit_commit_hash(scope, opening, release, sizeof shown, shown);
    if (lacks_head(grantor,
                   scope->site)) { /* granted in a term before: it shows so by opening it */
        memcpy(head->head, shown, sizeof shown);
        return (struct round_verdict){.persist = true};
    }
    if (tacit_commit_is_same(shown, head->head))
        return (struct round_verdict){0};
    /* Nothing was granted here in its place if it follows the head itself, or what this state knows
     * nothing of. */
    bool const is_known = !tacit_commit_is_same(opening->previous, head->head) &&
                          tacit_commit_knows(head, opening->previous);
    return blame(grantor, scope->site, is_known, ROUND_NOTHING);
}

void round_grantor_forget(const struct round_grantor *grantor)
{
    size_t const set_bytes = TACIT_BITS_WORDS(grantor->site_count) * sizeof(uint64_t);
    memset(grantor->heads, 0, grantor->site_count * sizeof *grantor->heads);
    memset(grantor->flagged, 0, set_bytes);
    memset(grantor->ahead, 0, set_bytes);
}

bool round_grantor_is_possible(const struct round_grantor *grantor)
{
    return tacit_bits_within(grantor->flagged, grantor->flagged, grantor->site_count) &&
           tacit_bits_within(grantor->ahead, grantor->ahead, grantor->site_count);
}

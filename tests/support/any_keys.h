/* Keys of a helper and a hub under which everything is signed, where signatures are not the point.
 */
#ifndef TACIT_TESTS_ANY_KEYS_H
#define TACIT_TESTS_ANY_KEYS_H
#include "tacit/helper.h"

static inline bool any_digest(void *context, const uint8_t *digest, const uint8_t *signature)
{
    (void)context;
    (void)digest;
    (void)signature;
    return true;
}

static inline bool any_link(void *context, uint32_t site, uint64_t term,
                            const struct tacit_helper_link *link)
{
    (void)context;
    (void)site;
    (void)term;
    (void)link;
    return true;
}
#endif

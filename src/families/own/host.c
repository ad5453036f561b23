/* Who plays the host's own policies and draws its own rewards. */
#include "tacit/own.h"

static const struct tacit_own_host *own_host;

void tacit_own_set_host(const struct tacit_own_host *host)
{
    TACIT_ASSERT(host == NULL || (host->begin != NULL && host->next != NULL && host->end != NULL));
    TACIT_ASSERT(host == NULL || host->environment.pull != NULL);
    own_host = host;
}

const struct tacit_own_host *tacit_own_get_host(void)
{
    return own_host;
}

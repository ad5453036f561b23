/* Who plays the host's own policies and draws its own rewards. */
#include "tacit/host.h"

static const struct tacit_host *the_host;

void tacit_host_set(const struct tacit_host *host)
{
    TACIT_ASSERT(host == NULL || (host->begin != NULL && host->next != NULL && host->end != NULL));
    TACIT_ASSERT(host == NULL || host->environment.pull != NULL);
    the_host = host;
}

const struct tacit_host *tacit_host_get(void)
{
    return the_host;
}

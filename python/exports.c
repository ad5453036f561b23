/* What the shared library of the simulator shows beside its main function: symbols of archives are
 * hidden. */
#include "exports.h"

void tacit_python_set_host(const struct tacit_host *host)
{
    tacit_host_set(host);
}

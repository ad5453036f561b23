/* What python/exports.c adds to the simulator for the Python package. */
#ifndef TACIT_PYTHON_EXPORTS_H
#define TACIT_PYTHON_EXPORTS_H
#include "tacit/host.h"

void tacit_python_set_host(const struct tacit_host *host);
#endif

/* Names of federations, sites and certificates. */
#ifndef TACIT_LIVE_NAMES_H
#define TACIT_LIVE_NAMES_H
#include "tacit/base.h"

#define LIVE_NAME_BYTES_MAX 64u
#define LIVE_NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
#define LIVE_COORDINATOR "coordinator" /* this one, broker and helper are never names of sites */
#define LIVE_BROKER "broker"
#define LIVE_OBSERVE                                                                               \
    "observe" /* this one, and names that begin with it and a dash, serve who looks */
#define LIVE_HELPER "helper"

/* Names of federations and sites stand in topics, certificates and files: [A-Za-z0-9_-]{1,64}. */
bool live_name_is_allowed(const char *name);
/* That, and none of coordinator, broker and helper. */
bool live_site_is_allowed(const char *name);
#endif

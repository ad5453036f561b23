/* The answer that a site gives its applications: which arms are in, what it knows of their means,
 * decided or not, and since when. */
#ifndef TACIT_LIVE_AGENT_RESULT_H
#define TACIT_LIVE_AGENT_RESULT_H
#include "agent_state.h"
#include <jansson.h>

/* A new reference; NULL: memory. Means are in units of a reward. Everything in it comes from what
 * was released here or said by others. */
json_t *agent_result(struct agent *agent);
#endif

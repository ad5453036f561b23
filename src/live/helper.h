/* The second aggregator (tacit/helper.h) as a daemon on the broker, or one call at a time by files:
 * the same function hears the coordinator's bytes and says the helper's. */
#ifndef TACIT_LIVE_HELPER_H
#define TACIT_LIVE_HELPER_H
#include "helper_config.h"
#include "store/store.h"
#include <stdio.h>

/* Runs until SIGTERM. Errors: with error->text. */
enum tacit_status live_helper_run(const struct live_helper_config *config,
                                  struct tacit_error *error);

/* Refuses what the start would refuse; writes nothing. */
enum tacit_status live_helper_check(const struct live_helper_config *config,
                                    enum live_store_found *found, struct tacit_error *error);

/* Hears a file of the coordinator's, and writes what is to be carried back, once it is durable.
 * Errors: TACIT_REFUSED: in words, nothing is said; else as of a start. */
enum tacit_status live_helper_answer(const struct live_helper_config *config, const uint8_t *bytes,
                                     size_t size, FILE *out, struct tacit_error *error);

/* The offer that lies in this state directory, in words, with the code that accepts it. code: the
 * operator's word, for that very offer; NULL: it is only shown. find: as in the file. Errors:
 * TACIT_INVALID, TACIT_IO, with error->text. */
enum tacit_status live_helper_agree(const char *state_directory, const char *code,
                                    const struct live_hub_ops *(*find)(const char *name), FILE *out,
                                    struct tacit_error *error);
#endif

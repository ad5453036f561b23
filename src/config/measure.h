/* Measures of claims: "5 * fed.regret / alone.regret" and the like, from text to steps. */
#ifndef TACIT_CONFIG_MEASURE_H
#define TACIT_CONFIG_MEASURE_H
#include "reader.h"
#include "tacit/config.h"

/* expression = term { ("+" | "-") term }
 * term       = factor { ("*" | "/") factor }
 * factor     = number | "-" factor | "(" expression ")" | result
 *            | ("min" | "max" | "falls" | "rises") "(" expression { "," expression } ")"
 * result     = EXPERIMENT "." METRIC [ "@" SLOT ]
 *
 * `find` gives the index of an experiment; false if there is none of that name.
 * Fails the reader at `node` if the text is not a measure. */
void config_measure_read(struct config_reader *reader, const struct config_node *node,
                         bool (*find)(void *context, const char *name, uint32_t *index),
                         void *context, struct tacit_measure *measure);
#endif

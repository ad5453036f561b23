/* Asking a daemon of this machine over HTTP: on its socket, or on its port of loopback. */
#ifndef TACIT_PROGRAMS_ASK_H
#define TACIT_PROGRAMS_ASK_H
#include "tacit/config.h"

/* A line to it; -1: nobody answers, for ten seconds at most. */
int ask_connect(const struct tacit_config_listener *listener);

/* Says method, path and body (NULL: none), and reads the answer, for ten seconds at most. Ensures:
 * the body of the answer, to be given to free(), and its code. NULL: there was none. Closes the
 * line. */
char *ask(int connection, const char *method, const char *path, const char *body, unsigned *code);
#endif

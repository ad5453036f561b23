/* A command that a site lets run on its data: somebody's training program. It is given nothing but
 * a directory: no word that came over the network, no environment of ours, no open file; it cannot
 * gain rights, and it has limits and a deadline. What it says goes to a file of the site. */
#ifndef TACIT_LIVE_COMMAND_H
#define TACIT_LIVE_COMMAND_H
#include "loop.h"

#define LIVE_COMMAND_LOG_BYTES (UINT64_C(1) << 20) /* a ring */
#define LIVE_COMMAND_LATER 75                      /* exit code: not now */

/* From the site's own file. */
struct live_command_config {
    const char *const *argv; /* argv, ended by NULL; the first is an absolute path. The directory
                                 is added as the last one */
    const char *user;        /* whose rights it has; NULL: ours */
    const char *directory;   /* made with mode 0700; NULL: "training" in the state directory */
    uint64_t memory_bytes;   /* RLIMIT_AS */
    uint32_t cpu_s;          /* RLIMIT_CPU */
    uint64_t file_bytes;     /* RLIMIT_FSIZE */
};

enum live_command_end { LIVE_COMMAND_DONE, LIVE_COMMAND_NOT_NOW, LIVE_COMMAND_FAILED };
typedef void live_command_ended(void *context, enum live_command_end end);

struct live_command;

/* The number of a user by its name. UINT32_MAX: there is none, or NULL. */
uint32_t live_command_user(const char *name);

/* Starts it in this directory. `ended` is called from the loop, after which the command is to be
 * freed. log: path of the file for what it says. Errors: TACIT_IO (no process, no such user),
 * TACIT_MEMORY. */
enum tacit_status live_command_start(struct live_command **command, struct live_loop *loop,
                                     const struct live_command_config *config,
                                     const char *directory, const char *log,
                                     live_command_ended *ended, void *context);

/* Kills whatever of its process group is alive, and gives the memory back; `ended` is not called.
 * NULL is allowed. */
void live_command_free(struct live_command *command);
#endif

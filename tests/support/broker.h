/* A private mosquitto for one federation: TLS on a free port of 127.0.0.1, with certificates and
 * configuration as live/pki and live/broker_config write them. It dies with the test program.
 * Failing to start one ends the test. */
#ifndef TACIT_TESTS_BROKER_H
#define TACIT_TESTS_BROKER_H
#include "temp.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BROKER_HOST "127.0.0.1"

struct broker {
    uint16_t port;
    pid_t pid;                       /* 0: not running */
    char directory[TEMP_PATH_BYTES]; /* mosquitto.conf, tacit.acl, mosquitto.log */
    char pki[TEMP_PATH_BYTES];       /* NAME.crt, NAME.key; see broker_file */
    char ca_file[TEMP_PATH_BYTES];   /* ca.crt */
    char persistence[TEMP_PATH_BYTES];
};

/* Are mosquitto and openssl installed? If not, says so on stderr: the test is to be skipped. */
bool broker_is_possible(void);

/* Makes certificates (sites, coordinator, broker) and configuration in `directory`, which must
 * exist, claims a port, and starts. The paths in `broker` are good from then on. */
void broker_start(struct broker *broker, const char *directory, const char *federation,
                  const char *const *sites, size_t site_count);

/* Runs it (again) on the same port with the same files; returns when it accepts connections. */
void broker_run(struct broker *broker);
/* SIGTERM, SIGKILL; return when it is gone. No harm if it is not running. */
void broker_stop(struct broker *broker);
void broker_kill(struct broker *broker);

/* path = pki/NAME ENDING, as in ("north", ".crt"). */
void broker_file(const struct broker *broker, char path[TEMP_PATH_BYTES], const char *name,
                 const char *ending);

/* Full path of an installed program, also where only root looks; NULL: not installed. Static
 * storage, overwritten by the next call. */
const char *broker_program(const char *name);
#endif

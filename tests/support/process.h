/* Runs a program and collects what it says, with a limit on the time it may take. Failing to start
 * one ends the test. */
#ifndef TACIT_TESTS_PROCESS_H
#define TACIT_TESTS_PROCESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_plan {
    const char *const *arguments; /* the program, its arguments, NULL */
    const char *const
        *environment;   /* "NAME=value" over the environment of the test, NULL; or NULL */
    const char *input;  /* a file that is stdin, or NULL: it is empty */
    const char *output; /* a file that takes stdout, or NULL: it is collected */
    bool terminal;      /* stderr is a terminal, not a pipe */
    /* The first of these that is there sends SIGINT, but never before the program catches it. */
    const char *interrupt_when;  /* a file that this pattern finds was made or replaced; or NULL */
    const char *interrupt_said;  /* stderr has these words; or NULL */
    uint32_t interrupt_after_ms; /* it has caught SIGINT for so long; 0: never */
    bool kills;                  /* SIGKILL in place of SIGINT */
    uint32_t timeout_ms;         /* SIGKILL after this time; 0: 240 s */
};

struct process_result {
    int code;          /* exit code; 128 + signal if one ended it */
    bool timed_out;    /* it had to be killed */
    uint32_t ended_ms; /* time from the interrupt (or the start, without one) to the end */
    char *out;         /* stdout; NUL-terminated, as is err */
    size_t out_size;
    char *err;
    size_t err_size;
};

/* Ensures: the program is over; what it said is the test's (testing.h). */
struct process_result process_run(const struct process_plan *plan);

/* Runs `tacit WORD...`; the words end with NULL. What the plan's arguments are does not matter. */
struct process_result process_tacit_run(struct process_plan plan, const char *const *words);
#define PROCESS_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* It ended with this code and said all of these words, up to NULL: on stdout, but where the code is
 * not 0 on either. Result: what stdout has. */
char *process_expect(struct process_result result, int code, const char *const *words);
#define PROCESS_EXPECT(result, code, ...)                                                          \
    process_expect((result), (code), PROCESS_WORDS(__VA_ARGS__))

/* The program under test: $TACIT_PROGRAM, or build/tacit. */
const char *process_tacit(void);

/* Lines in a text; a last one without a line feed counts. */
size_t process_line_count(const char *text);

/* Can a program be given a pseudo-terminal here? (Not in every container.) */
bool process_has_terminals(void);
#endif

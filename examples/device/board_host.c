/* A board that is a process: messages come on stdin and leave on stdout, each behind its length in
 * two bytes, low byte first; memory that outlasts a power cut is a file. Rewards are 0 or 1. When
 * stdin ends it says how often each arm was pulled.
 *
 * usage: board_host NAME FILE MEAN... */
#include "board.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define BYTES_MAX 4096u

static char **words; /* of the command line */
static unsigned long pulls[8];

_Noreturn void tacit_panic(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

const char *board_name(void)
{
    return words[1];
}

uint64_t board_now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

enum tacit_status board_entropy(void *context, void *bytes, size_t size)
{
    (void)context;
    return getrandom(bytes, size, 0) == (ssize_t)size ? TACIT_OK : TACIT_ENTROPY;
}

double board_pull(uint32_t arm)
{
    pulls[arm]++;
    return drand48() < strtod(words[3 + arm], NULL) ? 1 : 0;
}

/* Beside the old bytes, then in their place: a cut leaves one of the two. */
void board_keep(const void *bytes, size_t size)
{
    char fresh[512];
    (void)snprintf(fresh, sizeof fresh, "%s.new", words[2]);
    int const file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size || fsync(file) != 0 ||
        close(file) != 0 || rename(fresh, words[2]) != 0)
        tacit_panic(__FILE__, __LINE__, "the state could not be kept");
}

size_t board_kept(void *bytes, size_t size_max)
{
    int const file = open(words[2], O_RDONLY);
    ssize_t const size = file < 0 ? 0 : read(file, bytes, size_max);
    if (file >= 0)
        (void)close(file);
    return size < 0 ? 0 : (size_t)size;
}

void board_say(const uint8_t *bytes, size_t size)
{
    uint8_t const length[2] = {(uint8_t)size, (uint8_t)(size >> 8)};
    if (fwrite(length, 1, sizeof length, stdout) != sizeof length ||
        fwrite(bytes, 1, size, stdout) != size || fflush(stdout) != 0)
        tacit_panic(__FILE__, __LINE__, "stdout is closed");
}

static bool read_all(uint8_t *bytes, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t const more = read(STDIN_FILENO, bytes + have, size - have);
        if (more <= 0)
            return false;
        have += (size_t)more;
    }
    return true;
}

int main(int word_count, char **all_words)
{
    static uint8_t bytes[BYTES_MAX];
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (word_count < 4 || word_count > 11)
        return 2;
    words = all_words;
    srand48(words[1][0]);
    for (bool is_open = true; is_open;) {
        bool const has_work = device_work();
        if (poll(&input, 1, has_work ? 0 : 10) <= 0)
            continue;
        uint8_t length[2];
        is_open = read_all(length, sizeof length);
        size_t const size = is_open ? (size_t)(length[0] | length[1] << 8) : 0;
        is_open = is_open && size <= sizeof bytes && read_all(bytes, size);
        if (is_open)
            device_hear(bytes, size);
    }
    for (int arm = 0; arm < word_count - 3; arm++)
        (void)fprintf(stderr, "%lu ", pulls[arm]);
    return 0;
}

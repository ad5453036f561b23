/* What bounds the workloads of bench/README.md, measured beside them: the time of 64 random bits,
 * and of a sync of 16 KiB that are written over in a file. usage: bench_bounds draw | sync FILE:
 * microseconds, the median */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tacit/random.h"

#define ROUNDS 31u
#define WORDS 100000u
#define SYNC_BYTES 16384u

static double us_now(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double const x = *(const double *)a;
    double const y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static volatile uint64_t sink; /* keeps the compiler from leaving the work out */

static double draw_us(void)
{
    uint64_t sum = 0;
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, 1);
    double const start = us_now(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t i = 0; i < WORDS; i++)
        sum ^= tacit_rng_next(&rng);
    sink = sum;
    return (us_now(CLOCK_PROCESS_CPUTIME_ID) - start) / WORDS;
}

static double sync_us(int file)
{
    static const char bytes[SYNC_BYTES];
    double const start = us_now(CLOCK_MONOTONIC);
    if (pwrite(file, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes || fsync(file) != 0) {
        perror("bench_bounds");
        exit(1);
    }
    return us_now(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
    double all[ROUNDS];
    bool const is_sync = argc == 3 && strcmp(argv[1], "sync") == 0;
    int const file = is_sync ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
    if (is_sync ? file < 0 : argc != 2 || strcmp(argv[1], "draw") != 0) {
        (void)fputs("usage: bench_bounds draw | sync FILE\n", stderr);
        return 2;
    }
    for (uint32_t i = 0; i < ROUNDS; i++)
        all[i] = is_sync ? sync_us(file) : draw_us();
    qsort(all, ROUNDS, sizeof all[0], compare);
    (void)printf("%.6f\n", all[ROUNDS / 2]);
    return 0;
}

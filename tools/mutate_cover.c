/* What tools/mutate.py links beside the rooms to learn which functions a test reaches: each basic
 * block that is built with -fsanitize-coverage=trace-pc calls here, and leaves a byte in the file
 * that $MUTATE_COVER names. The file is shared: what a killed child has reached is there, too. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define COVER_BYTES ((size_t)1 << 25)

void __sanitizer_cov_trace_pc(void);

extern const unsigned char __ehdr_start[] __attribute__((visibility("hidden")));
static unsigned char *reached;

__attribute__((constructor)) static void cover_open(void)
{
    const char *const path = getenv("MUTATE_COVER");
    int const file = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return;
    void *const map = ftruncate(file, (off_t)COVER_BYTES) == 0
                          ? mmap(NULL, COVER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                          : MAP_FAILED;
    (void)close(file);
    if (map != MAP_FAILED)
        reached = map;
}

void __sanitizer_cov_trace_pc(void)
{
    size_t const at = (size_t)((const unsigned char *)__builtin_return_address(0) - __ehdr_start);
    if (reached != NULL && at < COVER_BYTES)
        reached[at] = 1;
}

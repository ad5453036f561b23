#include "tape.h"
#include <stdio.h>

#define TAPE_WORDS 65536u

void tape_write(const char *folder, const char *name, struct tacit_rng stream)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&stream);
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    TACIT_ASSERT(file != NULL);
    for (uint32_t i = 0; i < TAPE_WORDS; i++) {
        uint64_t word;
        TACIT_ASSERT(entropy.fill(entropy.context, &word, sizeof word) == TACIT_OK);
        TACIT_ASSERT(fwrite(&word, sizeof word, 1, file) == 1);
    }
    TACIT_ASSERT(fclose(file) == 0);
}

/* libFuzzer target: any bytes as a claims file, beside experiments a and b. Loading it gives claims
 * whose measures can be worked out, or one line that says what is wrong. */
#include "tacit/config.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char directory[] = "/tmp/tacit-fuzz-claims-XXXXXX";

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
    char path[sizeof directory + 16];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *const file = fopen(path, "wb");
    TACIT_ASSERT(file != NULL);
    TACIT_ASSERT(fwrite(bytes, 1, size, file) == size);
    TACIT_ASSERT(fclose(file) == 0);
}

static void make_directory(void)
{
    static bool is_there;
    if (is_there)
        return;
    TACIT_ASSERT(mkdtemp(directory) != NULL);
    write_file("a.yaml", NULL, 0);
    write_file("b.yaml", NULL, 0);
    is_there = true;
}

static double result(void *context, const struct tacit_measure_step *step)
{
    const struct tacit_claims *const claims = context;
    TACIT_ASSERT(step->experiment < claims->experiment_count);
    TACIT_ASSERT(step->metric[0] != '\0');
    return (double)step->experiment;
}

static void check_claims(struct tacit_claims *claims)
{
    TACIT_ASSERT(claims->fast_runs >= 2);
    TACIT_ASSERT(claims->experiment_count <= 2);
    for (uint32_t i = 0; i < claims->figure_count; i++) {
        const struct tacit_claims_figure *const figure = &claims->figures[i];
        TACIT_ASSERT(figure->curve_count > 0 && figure->claim_count > 0);
        for (uint32_t j = 0; j < figure->curve_count; j++)
            TACIT_ASSERT(figure->curves[j].experiment < claims->experiment_count);
        for (uint32_t j = 0; j < figure->claim_count; j++) {
            const struct tacit_claim *const claim = &figure->claims[j];
            TACIT_ASSERT(claim->reported.lo <= claim->reported.hi);
            TACIT_IMPLIES(claim->reported.record != TACIT_VERDICT_HOLDS,
                          claim->reported.why != NULL);
            (void)tacit_measure_value(&claim->measure, result, claims);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tacit_claims *claims;
    struct tacit_error error;
    char path[sizeof directory + 16];
    make_directory();
    write_file("claims.yaml", bytes, size);
    (void)snprintf(path, sizeof path, "%s/claims.yaml", directory);
    enum tacit_status const status = tacit_claims_load(&claims, path, &error);
    if (status == TACIT_OK) {
        check_claims(claims);
        tacit_claims_free(claims);
        return 0;
    }
    TACIT_ASSERT(status == TACIT_INVALID);
    TACIT_ASSERT(error.text[0] != '\0');
    for (const char *at = error.text; *at != '\0'; at++)
        TACIT_ASSERT((unsigned char)*at >= 0x20u);
    return 0;
}

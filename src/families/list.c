/* The families that there are: one line each, with its number. A new one takes the next number that
 * is free; a number is never given again, since streams of random words belong to it. */
#include <string.h>
#include "tacit/family.h"

#define FAMILIES(X)                                                                                \
    X(elim_family, 0)                                                                              \
    X(gossip_family, 2)                                                                            \
    X(glm_family, 4)                                                                               \
    X(index_family, 1)                                                                             \
    X(phased_family, 6)                                                                            \
    X(select_family, 5)                                                                            \
    X(vote_family, 3)                                                                              \
    X(own_family, 7)

#define X(family, number) extern const struct tacit_family family;
FAMILIES(X)
#undef X

static const struct tacit_family *const families[] = {
#define X(family, number) &family,
    FAMILIES(X)
#undef X
        NULL};

static const struct tacit_config_family *const files[] = {
#define X(family, number) &family.file,
    FAMILIES(X)
#undef X
        NULL};

static const uint32_t numbers[] = {
#define X(family, number) number,
    FAMILIES(X)
#undef X
};

const struct tacit_family *const *tacit_families(void)
{
    return families;
}

const struct tacit_config_family *const *tacit_family_files(void)
{
    return files;
}

const struct tacit_family *tacit_family_find(const char *name)
{
    for (size_t i = 0; families[i] != NULL; i++)
        if (strcmp(families[i]->file.name, name) == 0) {
            TACIT_ASSERT(families[i]->number == numbers[i]);
            return families[i];
        }
    return NULL;
}

uint32_t tacit_family_metric(const struct tacit_family *family, const char *name)
{
    for (uint32_t i = 0; family->metrics[i].name != NULL; i++)
        if (strcmp(family->metrics[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

uint32_t tacit_family_curve(const struct tacit_family *family, const char *name)
{
    uint32_t curve = 0;
    for (uint32_t i = 0; family->metrics[i].name != NULL; i++) {
        if ((family->metrics[i].places & TACIT_METRIC_CURVE) == 0)
            continue;
        if (strcmp(family->metrics[i].name, name) == 0)
            return curve;
        curve++;
    }
    return UINT32_MAX;
}

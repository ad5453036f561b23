/* The families that there are: one line each. */
#include <string.h>
#include "tacit/family.h"

#define FAMILIES(X)                                                                                \
    X(elim_family)                                                                                 \
    X(gossip_family)                                                                               \
    X(glm_family)                                                                                  \
    X(index_family)                                                                                \
    X(phased_family)                                                                               \
    X(select_family)                                                                               \
    X(vote_family)

#define X(family) extern const struct tacit_family family;
FAMILIES(X)
#undef X

static const struct tacit_family *const families[] = {
#define X(family) &family,
    FAMILIES(X)
#undef X
        NULL};

static const struct tacit_config_family *const files[] = {
#define X(family) &family.file,
    FAMILIES(X)
#undef X
        NULL};

const struct tacit_family *const *tacit_families(void)
{
    return families;
}

const struct tacit_config_family *const *tacit_family_files(void)
{
    return files;
}

const struct tacit_family *tacit_family_find(const char *word)
{
    for (size_t i = 0; families[i] != NULL; i++)
        if (strcmp(families[i]->file.word, word) == 0)
            return families[i];
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

/* The families that are live; `protocol` of a daemon's file is the first one, if it says nothing.
 */
#include <stdlib.h>
#include <string.h>
#include "live_family.h"
#include "tacit/bounds.h"

#define FAMILIES(X) X(elim) X(gossip) X(glm) X(glm_sound) X(phased) X(select) X(vote)

#define X(family) extern const struct live_family family##_live;
FAMILIES(X)
#undef X

static const struct live_family *const families[] = {
#define X(family) &family##_live,
    FAMILIES(X)
#undef X
        NULL};

static const struct tacit_config_live *const files[] = {
#define X(family) &family##_live.file,
    FAMILIES(X)
#undef X
        NULL};

const struct live_family *const *live_families(void)
{
    return families;
}

const struct tacit_config_live *const *live_family_files(void)
{
    return files;
}

void live_hub_settings_free(struct live_hub_config *hub)
{
    free((void *)(uintptr_t)hub->settings);
    hub->settings = NULL;
}

uint32_t live_file_floor(const struct tacit_config_coordinator *file)
{
    uint32_t const milli = file->trust.floor_milli;
    TACIT_IMPLIES(milli > 0, file->trust.has_helper);
    return !file->trust.has_helper ? TACIT_ONE_AGGREGATOR : milli > 0 ? milli : TACIT_NO_FLOOR;
}

enum tacit_status live_file_refuse(const struct tacit_config_coordinator *file, const char *key,
                                   const char *text, struct tacit_error *error)
{
    TACIT_ASSERT(file->document != NULL);
    tacit_config_error(file->document, key, text, error);
    return TACIT_INVALID;
}

const struct live_family *live_family_find(const char *word)
{
    uint32_t i = 0;
    while (families[i] != NULL && strcmp(families[i]->file.word, word) != 0)
        i++;
    TACIT_ASSERT(families[i] != NULL);
    return families[i];
}

const struct live_site_ops *live_family_site(const struct live_family *family, bool has_helper)
{
    return has_helper && family->site_of_two != NULL ? family->site_of_two() : family->site;
}

const struct live_hub_ops *live_family_hub(const struct live_family *family, bool has_helper)
{
    return has_helper && family->hub_of_two != NULL ? family->hub_of_two() : family->hub;
}

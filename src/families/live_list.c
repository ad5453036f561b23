/* The families that are live; `protocol` of a daemon's file is the first one, if it says nothing.
 */
#include <string.h>
#include "../config/document.h"
#include "ladder.h"
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

void *live_settings(const struct live_run_file *from, size_t size)
{
    void *const made = config_document_allocate(from->file->daemon.document, size);
    from->hub->settings = made;
    return made;
}

uint32_t live_file_floor(const struct tacit_config_coordinator *file)
{
    uint32_t const milli = file->trust.floor_milli;
    TACIT_IMPLIES(milli > 0, file->trust.has_helper);
    return !file->trust.has_helper ? TACIT_ONE_AGGREGATOR : milli > 0 ? milli : TACIT_NO_FLOOR;
}

enum tacit_status live_file_refuse(const struct live_run_file *from, const char *key,
                                   const char *text)
{
    TACIT_ASSERT(from->file->daemon.document != NULL);
    tacit_config_error(from->file->daemon.document, key, text, from->error);
    return TACIT_INVALID;
}

enum tacit_status live_file_check_ladder(const struct live_run_file *from,
                                         const struct tacit_phases *schedule)
{
    char text[LADDER_REFUSAL_BYTES];
    char const *const key = ladder_refusal(schedule, text);
    if (key == NULL)
        return TACIT_OK;
    return live_file_refuse(from, strcmp(key, "horizon") == 0 ? "run.horizon" : "run.growth", text);
}

const struct live_family *live_family_find(const char *name)
{
    uint32_t i = 0;
    while (families[i] != NULL && strcmp(families[i]->file.name, name) != 0)
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

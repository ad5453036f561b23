/* Families as the daemons know them: one constant struct each, in families/NAME/live_keys.c;
 * families/live_list.c has the list. The simulator's half is tacit/family.h. */
#ifndef TACIT_FAMILIES_LIVE_FAMILY_H
#define TACIT_FAMILIES_LIVE_FAMILY_H
#include "../live/hub.h"
#include "../live/site.h"
#include "tacit/config.h"
#include "tacit/family.h"

struct live_family {
    struct tacit_config_live file; /* its word, and what its files may hold */
    const struct live_site_ops *site;
    const struct live_hub_ops *hub;
    /* With two aggregators; NULL, both: the same. */
    const struct live_site_ops *(*site_of_two)(void);
    const struct live_hub_ops *(*hub_of_two)(void);
    /* From the coordinator's file to hub->settings; the rest of *hub is there, and hub->quorum may
     * be lowered. `network` is NULL over a star, and outlives the settings. Refuses a run that
     * cannot learn anything. Errors: TACIT_INVALID with error->text, TACIT_MEMORY. */
    enum tacit_status (*hub_settings)(struct live_hub_config *hub,
                                      const struct tacit_config_coordinator *file,
                                      const struct tacit_network *network,
                                      struct tacit_error *error);
    void (*hub_settings_free)(struct live_hub_config *hub);
};

/* All of them, ended by NULL, and their files. Static storage. */
const struct live_family *const *live_families(void);
const struct tacit_config_live *const *live_family_files(void);

/* hub_settings_free where the settings are one piece of memory of malloc's. */
void live_hub_settings_free(struct live_hub_config *hub);

/* What hub_settings says of a key of the file: TACIT_INVALID. */
enum tacit_status live_file_refuse(const struct tacit_config_coordinator *file, const char *key,
                                   const char *text, struct tacit_error *error);

/* run.trust, as schedules have it (tacit/bounds.h). */
uint32_t live_file_floor(const struct tacit_config_coordinator *file);

/* Requires: a word of the list. */
const struct live_family *live_family_find(const char *word);

/* Those of runs with one aggregator, or with two. */
const struct live_site_ops *live_family_site(const struct live_family *family, bool has_helper);
const struct live_hub_ops *live_family_hub(const struct live_family *family, bool has_helper);
#endif

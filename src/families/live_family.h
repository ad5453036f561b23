/* Families as the daemons know them: one constant struct each, in families/NAME/live_keys.c;
 * families/live_list.c has the list. The simulator's half is tacit/family.h. */
#ifndef TACIT_FAMILIES_LIVE_FAMILY_H
#define TACIT_FAMILIES_LIVE_FAMILY_H
#include "../live/hub.h"
#include "../live/site.h"
#include "tacit/config.h"
#include "tacit/family.h"
#include "tacit/phases.h"

/* What the settings of a run are made of. */
struct live_run_file {
    struct live_hub_config *hub; /* settings: to be made */
    const struct tacit_config_coordinator *file;
    const struct tacit_network *network; /* NULL over a star; it outlives the settings */
    struct tacit_error *error;
};

struct live_family {
    struct tacit_config_live file; /* its word, and what its files may hold */
    const struct live_site_ops *site;
    const struct live_hub_ops *hub;
    /* With two aggregators; NULL, both: the same. */
    const struct live_site_ops *(*site_of_two)(void);
    const struct live_hub_ops *(*hub_of_two)(void);
    /* From the coordinator's file to hub->settings; the rest of *hub is there, and hub->quorum may
     * be lowered. Refuses a run that cannot learn anything. Errors: TACIT_INVALID with error->text,
     * TACIT_MEMORY. */
    enum tacit_status (*hub_settings)(const struct live_run_file *from);
};

/* All of them, ended by NULL, and their files. Static storage. */
const struct live_family *const *live_families(void);
const struct tacit_config_live *const *live_family_files(void);

/* Zeros for hub->settings, which live as long as the file; NULL: there is no memory. */
void *live_settings(const struct live_run_file *from, size_t size);

/* What hub_settings says of a key of the file: TACIT_INVALID. */
enum tacit_status live_file_refuse(const struct live_run_file *from, const char *key,
                                   const char *text);

/* Refuses what ladder_refusal (ladder.h) names, in the keys of a coordinator's file. */
enum tacit_status live_file_check_ladder(const struct live_run_file *from,
                                         const struct tacit_phases *schedule);

/* run.trust, as schedules have it (tacit/bounds.h). */
uint32_t live_file_floor(const struct tacit_config_coordinator *file);

/* Requires: a word of the list. */
const struct live_family *live_family_find(const char *name);

/* Those of runs with one aggregator, or with two. */
const struct live_site_ops *live_family_site(const struct live_family *family, bool has_helper);
const struct live_hub_ops *live_family_hub(const struct live_family *family, bool has_helper);
#endif

/* The training federation as the daemons know it. */
#ifndef FAMILIES_SELECT_LIVE_H
#define FAMILIES_SELECT_LIVE_H
#include "../../live/daemon/command.h"
#include "../../live/hub.h"
#include "../../live/site.h"
#include "tacit/family.h"
#include "tacit/wire_select.h"

extern const struct live_site_ops select_site_ops;
extern const struct live_hub_ops select_hub_ops;

/* Of a site's own file: live_site_config.settings. */
struct select_site_settings {
    double eta;
    uint32_t dimension;
    const char *layers; /* JSON: the list of {name, shape} for the command */
    struct live_command_config command;
};

/* Of the coordinator's file: live_hub_config.settings. */
struct select_hub_settings {
    struct tacit_select_hub_config core; /* but for its domain */
    uint32_t batches;
};
#endif

/* What is to be carried out after a step: messages, a release, a plan, a deadline. */
#include "effects.h"
#include <stdlib.h>
#include <string.h>

enum tacit_status live_effects_init(struct live_effects *effects, uint32_t arm_count)
{
    *effects = (struct live_effects){.deadline_us = TACIT_NEVER, .plan_count_max = arm_count};
    if (arm_count == 0)
        return TACIT_OK;
    effects->plan = calloc(arm_count, sizeof *effects->plan);
    return effects->plan == NULL ? TACIT_MEMORY : TACIT_OK;
}

void live_effects_free(struct live_effects *effects)
{
    live_messages_free(&effects->out);
    free(effects->release);
    free(effects->plan);
}

void live_effects_begin(struct live_effects *effects, struct live_site_update *update)
{
    TACIT_ASSERT(update != NULL);
    live_messages_clear(&effects->out);
    *update = (struct live_site_update){0};
}

void live_effects_begin_hub(struct live_effects *effects, struct live_hub_update *update)
{
    TACIT_ASSERT(update != NULL);
    live_messages_clear(&effects->out);
    *update = (struct live_hub_update){.deadline_us = effects->deadline_us};
}

void live_effects_end(const struct live_effects *effects, struct live_site_update *update)
{
    TACIT_IMPLIES(update->has_plan, update->plan == effects->plan);
    update->messages = effects->out.items;
    update->message_count = effects->out.count;
    update->deadline_us = effects->deadline_us;
}

void live_effects_end_hub(struct live_effects *effects, struct live_hub_update *update)
{
    TACIT_ASSERT(update->messages == NULL);
    update->messages = effects->out.items;
    update->message_count = effects->out.count;
    effects->deadline_us = update->deadline_us;
}

uint8_t *live_effects_release(struct live_effects *effects, struct live_site_update *update,
                              const struct live_site_release *release)
{
    TACIT_ASSERT(release->number > 0);
    TACIT_ASSERT(release->size > 0);
    free(effects->release);
    effects->release = malloc(release->size);
    update->has_release = true;
    update->release = *release;
    update->release.bytes = effects->release;
    return effects->release;
}

void live_effects_drop_release(struct live_effects *effects, struct live_site_update *update)
{
    TACIT_ASSERT(update->has_release);
    free(effects->release);
    effects->release = NULL;
    update->release.bytes = NULL;
}

void live_effects_plan(struct live_effects *effects, struct live_site_update *update,
                       const struct tacit_pull_block *plan, uint32_t count, bool is_void)
{
    TACIT_ASSERT(count <= effects->plan_count_max);
    if (count > 0)
        memcpy(effects->plan, plan, count * sizeof *effects->plan);
    update->has_plan = true;
    update->plan = effects->plan;
    update->plan_count = is_void ? 0 : count;
}

/* GET /v1/result (docs/openapi.yaml). */
#include "agent_state.h"
#include "daemon/text.h"
#include "show.h"

/* A part of the range, as a reward. */
static json_t *value_of(const struct agent *agent, double part)
{
    struct live_site_config const *const site = &agent->config->site;
    return json_real(site->lo + part * (site->hi - site->lo));
}

/* rank: from 1; 0: it is out. */
static json_t *arm_result(const struct agent *agent, const struct live_site_view *view,
                          uint32_t arm, uint32_t rank)
{
    bool const has_interval = view->confidence > 0;
    return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "name", agent->config->site.arm_names[arm],
                     "in", rank > 0, "rank",
                     rank > 0 ? json_integer((json_int_t)rank) : json_null(), "estimate",
                     view->estimates != NULL ? json_real(view->estimates[arm]) : json_null(),
                     "lower", has_interval ? value_of(agent, view->lowers[arm]) : json_null(),
                     "upper", has_interval ? value_of(agent, view->uppers[arm]) : json_null());
}

/* Those that are in, best first; then the others. */
static json_t *arm_results(struct agent *agent, const struct live_site_view *view)
{
    struct live_fallback const fallback = agent_fallback(agent);
    json_t *const list = json_array();
    TACIT_ASSERT(fallback.count <= agent->config->site.arm_count);
    for (uint32_t i = 0; list != NULL && i < fallback.count; i++)
        (void)json_array_append_new(list, arm_result(agent, view, fallback.ranking[i], i + 1));
    for (uint32_t arm = 0; list != NULL && arm < agent->config->site.arm_count; arm++)
        if (!tacit_bits_has(fallback.active, arm))
            (void)json_array_append_new(list, arm_result(agent, view, arm, 0));
    return list;
}

const char *agent_winner(const struct agent *agent, const struct live_site_view *view)
{
    struct live_site_config const *const site = &agent->config->site;
    TACIT_IMPLIES(view->is_decided, view->active != NULL);
    uint32_t const arm =
        view->is_decided ? tacit_bits_next(view->active, site->arm_count, 0) : site->arm_count;
    return arm < site->arm_count ? site->arm_names[arm] : NULL;
}

json_t *agent_result(struct agent *agent)
{
    struct live_site_view const view = agent_view(agent);
    char since[LIVE_TIME_BYTES];
    bool const is_dated = live_time_text((int64_t)agent->arms_since_unix_s, since);
    bool const has_means = view.estimates != NULL || view.confidence > 0;
    char const *const lack = has_means                   ? NULL
                             : view.no_estimates != NULL ? view.no_estimates
                                                         : "too few rewards are known yet";
    json_t *const made = json_pack(
        "{s:s, s:s, s:b, s:s?, s:o, s:o, s:s?, s:o}", "federation", agent->config->site.federation,
        "site", agent->config->site.site, "decided", view.is_decided, "winner",
        agent_winner(agent, &view), "since", is_dated ? json_string(since) : json_null(),
        "confidence", view.confidence > 0 ? json_real(view.confidence) : json_null(),
        "no_estimates", lack, "arms", arm_results(agent, &view));
    if (made != NULL)
        agent_add_changes(agent, &view, made);
    if (made != NULL && view.model != NULL)
        (void)json_object_set_new(made, "model", live_show_model(view.model));
    return made;
}

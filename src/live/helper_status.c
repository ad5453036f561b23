/* The helper's status: for machines and for people. The page itself: board.c. */
#include "helper_status.h"
#include "api/numbers.h"
#include "board.h"
#include "daemon/names.h"
#include "show.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Zeros before a run was agreed to. */
static struct tacit_helper_view view_of(const struct helper *helper)
{
    struct tacit_helper_view view = {.number = 0};
    if (helper->kept != NULL)
        tacit_helper_view(helper->core, &view);
    return view;
}

static const char *phase_of(const struct helper *helper)
{
    return helper->awaits_operator      ? "asked to agree"
           : helper->kept == NULL       ? "waiting for an offer"
           : helper->kept->is_over != 0 ? "over"
                                        : "serving";
}

/* What the helper waits for. */
static const char *awaited_by(const struct helper *helper)
{
    return helper->awaits_operator                              ? "its operator's word"
           : helper->kept == NULL || helper->kept->is_over != 0 ? "the coordinator's offer of a run"
                                                                : "the coordinator's next request";
}

void helper_status_see(struct helper *helper)
{
    uint64_t mark = live_hash_add(0, view_of(helper).number);
    for (char const *at = awaited_by(helper); *at != '\0'; at++)
        mark = live_hash_add(mark, (uint64_t)(unsigned char)*at);
    live_standstill_see(&helper->still, mark, live_now_us());
}

static struct live_causes causes_of(const struct helper *helper)
{
    struct live_causes causes =
        live_causes_begin(LIVE_HELPER, helper->config->daemon.state_directory);
    struct live_bus_trouble const broker = live_bus_why(helper->daemon.bus);
    struct tacit_helper_view const view = view_of(helper);
    live_causes_add_broker(&causes, &broker);
    if (helper->awaits_operator)
        live_causes_add(&causes, LIVE_CAUSE_AGREE, NULL,
                        "a run is offered, and waits for its operator's word");
    if (helper->kept == NULL && helper->is_asked_in_vain)
        live_causes_add(&causes, LIVE_CAUSE_HELPER_REFUSES, NULL,
                        "there is no run that was agreed to, and the coordinator asks in one: this "
                        "state is new, or was lost, and with it the run's key");
    if (view.is_old)
        live_causes_add(&causes, LIVE_CAUSE_HELPER_REFUSES, NULL,
                        "this helper's state is an old one: the coordinator shows an answer that "
                        "it never gave");
    else if (helper->verdict > TACIT_HELPER_TOO_FEW)
        live_causes_add(&causes, LIVE_CAUSE_HELPER_REFUSES, json_pack("[s]", "coordinator"), "%s",
                        helper_verdict_text(helper->verdict));
    if (helper->kept != NULL &&
        tacit_bits_count(helper->faulty, helper->core_config.run.site_count) > 0)
        live_causes_add_set(
            &causes, LIVE_CAUSE_LEFT_OUT,
            "left out of the last sum, for grants, release or envelope are not in order",
            helper->offer.names, helper->core_config.run.site_count, helper->faulty);
    return causes;
}

#define NUMBERS 7u

static void numbers_of(const struct helper *helper, struct live_number numbers[NUMBERS])
{
    TACIT_ASSERT(helper->daemon.bus != NULL);
    struct tacit_helper_view const view = view_of(helper);
    bool const is_there = helper->kept != NULL;
    uint64_t const most_nano =
        view.epsilon_nano_most == 0 || helper->delta == 0 /* each sum has the run's */
            ? view.epsilon_nano_most
            : helper->offer.announcement->agreement.epsilon_nano;
    struct live_number const all[NUMBERS] = {
        {"connected", "tacit_helper_connected", "Is there a connection to the broker?", LIVE_FLAG,
         live_bus_is_connected(helper->daemon.bus)},
        {"answers", "tacit_helper_answers_total", "Rounds that were answered.", LIVE_WHOLE,
         (double)view.number},
        {"term", "tacit_helper_term", "Term of the newest answer, from 1.", LIVE_WHOLE,
         view.number == 0 ? 0 : (double)view.term + 1},
        {"round", "tacit_helper_round", "Round of the newest answer.", LIVE_WHOLE, view.round},
        {"counted", "tacit_helper_sites", "Sites in the newest answer.",
         is_there ? LIVE_WHOLE : LIVE_ABSENT,
         is_there ? tacit_bits_count(view.sites, helper->core_config.run.site_count) : 0},
        {"epsilon_most", "tacit_helper_epsilon_most",
         "Epsilon of a reward by this helper's noise alone, at most.", LIVE_REAL,
         tacit_nano_value(most_nano)},
        {"refused", "tacit_helper_messages_refused_total", "Messages that were refused.",
         LIVE_WHOLE, (double)helper->refused_count}};
    memcpy(numbers, all, sizeof all);
}

/* ---- JSON ---- */

/* The answer first, in a sentence. */
static json_t *headline(const struct helper *helper)
{
    struct tacit_helper_view const view = view_of(helper);
    char text[160];
    int size = snprintf(text, sizeof text, "%s",
                        helper->awaits_operator ? "a run is offered, and waits to be agreed to"
                                                : "no run was agreed to yet");
    if (helper->kept != NULL && !helper->awaits_operator)
        size = snprintf(text, sizeof text, "%s run %" PRIu64,
                        helper->kept->is_over != 0 ? "its key is destroyed, after" : "serves",
                        helper->core_config.run.run_id);
    TACIT_ASSERT(size > 0 && (size_t)size < sizeof text);
    if (view.number > 0)
        (void)snprintf(text + size, sizeof text - (size_t)size,
                       "; round %" PRIu32 " of term %" PRIu64 " was answered last, of %" PRIu32
                       " of %" PRIu32 " sites",
                       view.round, view.term + 1,
                       tacit_bits_count(view.sites, helper->core_config.run.site_count),
                       helper->core_config.run.site_count);
    return json_string(text);
}

/* Sites by the keys that were agreed to, and whether the newest sum has their reports. */
static json_t *pinned(const struct helper *helper)
{
    struct tacit_helper_view const view = view_of(helper);
    json_t *const list = json_array();
    for (uint32_t site = 0; site < helper->core_config.run.site_count; site++) {
        char key[LIVE_FINGERPRINT_BYTES];
        live_key_fingerprint(helper->offer.keys[site], key);
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:b, s:b}", "name", helper->offer.names[site], "key", key,
                            "counted", view.number > 0 && tacit_bits_has(view.sites, site),
                            "left_out", tacit_bits_has(helper->faulty, site)));
    }
    return list;
}

/* What it has agreed to. */
static void add_run(const struct helper *helper, json_t *made)
{
    struct tacit_wire_agreement const *const agreement = &helper->offer.announcement->agreement;
    uint32_t const count = helper->core_config.run.site_count;
    TACIT_ASSERT(helper->kept != NULL);
    (void)json_object_update_new(
        made, json_pack("{s:I, s:s, s:f, s:f, s:o, s:o}", "run_id",
                        (json_int_t)helper->core_config.run.run_id, "protocol", agreement->protocol,
                        "epsilon", tacit_nano_value(agreement->epsilon_nano), "floor",
                        tacit_nano_value(agreement->floor_nano), "pinned", pinned(helper),
                        "left_out", live_show_names(helper->offer.names, count, helper->faulty)));
}

static json_t *tree_of(const void *context)
{
    struct helper const *const helper = context;
    struct live_causes const causes = causes_of(helper);
    struct live_bus_trouble const broker = live_bus_why(helper->daemon.bus);
    struct live_number numbers[NUMBERS];
    json_t *const made = json_pack(
        "{s:s, s:s, s:o, s:s, s:o, s:o, s:{s:s, s:o}}", "federation", helper->config->federation,
        "role", "helper", "run",
        live_show_bytes(helper->kept == NULL ? NULL : helper->core_config.run.run,
                        TACIT_HELPER_RUN_BYTES),
        "phase", phase_of(helper), "headline", headline(helper), "heard_s",
        live_show_since(helper->heard_us, live_now_us()), "waits_for", "for", awaited_by(helper),
        "since_s", live_show_since(helper->still.since_us, live_now_us()));
    live_show_causes(&causes, &broker, made);
    numbers_of(helper, numbers);
    live_numbers_show(numbers, NUMBERS, made);
    if (helper->kept != NULL)
        add_run(helper, made);
    return made;
}

/* ---- Page and metrics ---- */

static void show_page(const void *context, struct live_buffer *out)
{
    struct helper const *const helper = context;
    json_t *const tree = tree_of(helper);
    struct live_board const board = {
        .status = tree,
        .role = "helper",
        .protocol =
            helper->kept == NULL ? "no run" : helper->offer.announcement->agreement.protocol,
        .version = helper->config->daemon.version,
        .statement =
            "A helper sees who reported when, the seeds of masks and the totals that are "
            "published; never what a site reported. Its noise alone protects each reward against "
            "the coordinator. If the two put together what they hold, nothing is protected but by "
            "the noise of the sites' own, if the run has that."};
    live_board_write(&board, out);
    json_decref(tree);
}

static void show_metrics(const void *context, struct live_buffer *out)
{
    struct helper const *const helper = context;
    struct live_causes const causes = causes_of(helper);
    struct live_number numbers[NUMBERS];
    numbers_of(helper, numbers);
    live_show_numbers("tacit_helper_state", &causes, numbers, NUMBERS, out);
}

void helper_status_answer(void *context, struct live_request *request)
{
    static const struct live_shown shown = {
        .status = tree_of, .page = show_page, .metrics = show_metrics};
    live_show_answer(&shown, context, request);
}

/* Any bytes as the body of each POST endpoint, before an agent that agrees to everything: no crash,
 * an answer in JSON, and nothing reaches the agent that the API promises to keep away from it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/live/api/api.h"

#define ARMS 70u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_text(const char *text)
{
    require(text == NULL || (strlen(text) > 0 && strlen(text) <= LIVE_KEY_BYTES_MAX));
}

static uint64_t now_ms(void *context)
{
    (void)context;
    return 1;
}

static enum tacit_status decide(void *context, const struct live_decision_request *request,
                                uint64_t now, struct live_decision_answer *answer)
{
    (void)now;
    uint64_t *const next_id = context;
    check_text(request->key);
    check_text(request->unit);
    uint32_t arm = 0;
    if (request->unavailable != NULL) {
        require(request->unavailable[1] >> (ARMS - 64) == 0);
        while (arm < ARMS && tacit_bits_has(request->unavailable, arm))
            arm++;
        if (arm == ARMS)
            return TACIT_INVALID;
    }
    *answer = (struct live_decision_answer){.row = {.number = ++*next_id, .arm = arm}};
    return TACIT_OK;
}

static enum live_reward_answer reward(void *context, struct live_decision_id id, double value,
                                      uint64_t now)
{
    (void)context;
    (void)now;
    require(isfinite(value) || isnan(value));
    return (enum live_reward_answer)(id.number % 4);
}

static struct live_api *open_api(uint64_t *next_id)
{
    static char texts[ARMS][8];
    static const char *names[ARMS];
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        texts[arm][0] = (char)('a' + arm % 26);
        memset(texts[arm] + 1, '"', arm / 26);
        names[arm] = texts[arm];
    }
    static const uint8_t id_key[LIVE_STORE_ID_KEY_BYTES];
    struct live_api_config const config = {
        .id_key = id_key,
        .arm_count = ARMS,
        .arm_names = names,
        .agent = {.context = next_id, .now_ms = now_ms, .decide = decide, .reward = reward},
    };
    struct live_api *api;
    require(live_api_new(&api, &config) == TACIT_OK);
    return api;
}

/* A batch is answered element by element, with as many answers as there were elements. */
static void check_batch(const json_t *answer, const uint8_t *bytes, size_t size)
{
    json_t *const asked = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    const char *key;
    const json_t *list;
    json_object_foreach(asked, key, list)
        require(json_array_size(list) ==
                json_array_size(json_object_iter_value(json_object_iter((json_t *)answer))));
    json_decref(asked);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const paths[] = {"/v1/decisions", "/v1/decisions/batch", "/v1/rewards",
                                        "/v1/rewards/batch"};
    static uint64_t next_id;
    static struct live_api *api;
    if (api == NULL)
        api = open_api(&next_id);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct live_api_reply reply;
        live_api_reply(api, "POST", paths[i], bytes, size, &reply);
        json_t *const answer = json_loadb(reply.text.bytes, reply.text.size, 0, NULL);
        require(json_is_object(answer));
        require((reply.code == 200) == (json_object_get(answer, "error") == NULL));
        if (i % 2 == 1 && reply.code == 200)
            check_batch(answer, bytes, size);
        json_decref(answer);
        live_buffer_free(&reply.text);
    }
    return 0;
}

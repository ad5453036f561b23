/* libFuzzer target: any bytes as an experiment file. What stands before the first NUL byte is the
 * file; what stands behind it, up to the next, is one --set. Loading either gives a configuration
 * whose values keep their limits, or one line that says what is wrong. */
#include "../../src/families/elim/plan.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SETTING_BYTES 4096u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A file that lives in memory; its path is /proc/self/fd/N. */
static void write_file(const uint8_t *bytes, size_t size, char path[64])
{
    static int handle = -1;
    if (handle < 0)
        handle = memfd_create("experiment", MFD_CLOEXEC);
    TACIT_ASSERT(handle >= 0);
    TACIT_ASSERT(ftruncate(handle, 0) == 0);
    TACIT_ASSERT(pwrite(handle, bytes, size, 0) == (ssize_t)size);
    (void)snprintf(path, 64, "/proc/self/fd/%d", handle);
}

static void check_error(enum tacit_status status, const struct tacit_error *error)
{
    if (status == TACIT_MEMORY)
        return;
    TACIT_ASSERT(status == TACIT_INVALID); /* the file can be read */
    TACIT_ASSERT(memchr(error->text, '\0', TACIT_ERROR_BYTES) != NULL);
    TACIT_ASSERT(error->text[0] != '\0');
    for (const char *at = error->text; *at != '\0'; at++)
        TACIT_ASSERT((unsigned char)*at >= 0x20u);
}

static void check_points(const struct tacit_config *config)
{
    uint64_t before = 0;
    TACIT_ASSERT(config->checkpoint_count >= 1);
    for (uint32_t i = 0; config->checkpoints != NULL && i < config->checkpoint_count; i++) {
        TACIT_ASSERT(config->checkpoints[i] > before);
        TACIT_ASSERT(config->checkpoints[i] <= config->horizon);
        before = config->checkpoints[i];
    }
}

static void check_log(const struct tacit_config_log *log)
{
    TACIT_ASSERT(log->csv != NULL);
    TACIT_ASSERT(log->reward_column != NULL);
    TACIT_ASSERT((log->arms == NULL) == (log->arm_column != NULL));
    TACIT_ASSERT((log->agent_column == NULL) == (log->split != TACIT_CONFIG_SPLIT_NONE));
    TACIT_IMPLIES(log->arms != NULL, log->arm_count >= 2);
    for (uint32_t arm = 0; log->arms != NULL && arm < log->arm_count; arm++) {
        TACIT_ASSERT(log->arms[arm].name != NULL);
        TACIT_ASSERT(log->arms[arm].value != NULL);
        TACIT_ASSERT(log->arms[arm].column_count >= 1);
        for (uint32_t i = 0; i < log->arms[arm].column_count; i++)
            TACIT_ASSERT(log->arms[arm].columns[i] != NULL);
    }
}

static void check_environment(const struct tacit_config *config)
{
    if (config->environment == TACIT_ENV_LOGGED) {
        check_log(&config->log);
        return;
    }
    TACIT_ASSERT((config->means == NULL) == (config->generated_arms >= 2));
    TACIT_ASSERT(config->generated_arms <= TACIT_ARMS_MAX);
    TACIT_IMPLIES(config->environment == TACIT_ENV_GAUSSIAN, config->sd > 0);
    TACIT_ASSERT(isfinite(config->sd));
}

/* Every graph can be made, as far as the file tells, and together they have all agents. */
static void check_network(const struct tacit_config *config)
{
    uint64_t agents = 0;
    TACIT_ASSERT(config->network.name != NULL);
    struct elim_keys const *const keys = config->keys;
    TACIT_IMPLIES(config->network.kind != TACIT_CONFIG_STAR, keys->participation >= 1);
    TACIT_IMPLIES(config->network.kind == TACIT_CONFIG_GRAPH, config->network.graph_count == 1);
    for (uint32_t i = 0; i < config->network.graph_count; i++) {
        struct tacit_config_graph const *const graph = &config->network.graphs[i];
        struct tacit_graph_need need;
        char bytes[300];
        struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
        TACIT_ASSERT(graph->count >= 1);
        TACIT_ASSERT((graph->file != NULL) == (graph->spec.kind == TACIT_GRAPH_EDGES));
        TACIT_ASSERT(tacit_graph_check(&graph->spec, 1, &need, &why) == TACIT_OK);
        agents += (uint64_t)graph->spec.agent_count * graph->count;
    }
    TACIT_IMPLIES(config->network.graph_count > 0, agents == config->agent_count);
}

static void check_config(const struct tacit_config *config)
{
    TACIT_ASSERT(config->name != NULL);
    TACIT_ASSERT(config->run_count >= 1);
    TACIT_ASSERT(config->horizon >= 1);
    TACIT_ASSERT(config->horizon <= TACIT_HORIZON_MAX);
    TACIT_ASSERT(config->agent_count >= 1);
    TACIT_ASSERT(config->agent_count <= TACIT_AGENTS_MAX);
    struct elim_keys const *const keys = config->keys;
    TACIT_ASSERT(keys->round_limit < TACIT_ELIM_EPOCHS_MAX);
    TACIT_ASSERT(keys->participation > 0);
    TACIT_ASSERT(keys->participation <= 1);
    TACIT_ASSERT(keys->gap >= 0);
    TACIT_ASSERT(keys->gap <= 1);
    TACIT_IMPLIES(keys->gap > 0, keys->round_limit > 0);
    TACIT_ASSERT(config->epsilon > 0);
    TACIT_ASSERT(isfinite(config->lo));
    TACIT_ASSERT(isfinite(config->hi));
    TACIT_ASSERT(config->lo < config->hi);
    TACIT_ASSERT(config->server_link_cost >= 0);
    TACIT_ASSERT(config->peer_link_cost >= 0);
    check_points(config);
    check_environment(config);
    check_network(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tacit_config *config;
    struct tacit_error error;
    char path[64];
    char setting[SETTING_BYTES];
    const char *const settings[] = {setting};
    uint8_t const *const nul = size == 0 ? NULL : memchr(bytes, '\0', size);
    size_t const file_size = nul == NULL ? size : (size_t)(nul - bytes);
    write_file(bytes, file_size, path);
    if (nul != NULL)
        (void)snprintf(setting, sizeof setting, "%.*s", (int)(size - file_size - 1),
                       (const char *)nul + 1);
    enum tacit_status const status = tacit_config_load(&config, path, settings, nul == NULL ? 0 : 1,
                                                       tacit_family_files(), &error);
    if (status != TACIT_OK) {
        check_error(status, &error);
        return 0;
    }
    check_config(config);
    tacit_config_error(config->document, "environment.logged.csv", "text", &error);
    check_error(TACIT_INVALID, &error);
    tacit_config_error(config->document, "network.components.1.degree", "text", &error);
    check_error(TACIT_INVALID, &error);
    tacit_config_free(config);
    return 0;
}

/* Load on one agent: callers that ask for batches of decisions and report their rewards, as fast as
 * they get answers. Prints durable decision+reward pairs a second and the time of a request.
 *
 * usage: agent_load SOCKET CALLERS BATCH SECONDS [keys], with random idempotency keys */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES (1u << 20)
#define TIMES_MAX (1u << 20)

struct caller {
    pthread_t thread;
    const char *path;
    uint32_t batch;
    bool has_keys;
    uint64_t chance;
    double until_s;
    uint64_t pairs;
    uint32_t time_count;
    double *times_s;
    char *text;
    char *body;
};

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int open_connection(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int const connection = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (connect(connection, (const struct sockaddr *)&address, sizeof address) != 0) {
        perror(path);
        exit(1);
    }
    return connection;
}

static void fail(const char *what, const char *text)
{
    (void)fprintf(stderr, "%s: %.200s\n", what, text);
    exit(1);
}

/* Reads one answer with a Content-Length; returns its body. */
static char *read_answer(int connection, char *text)
{
    size_t size = 0;
    for (;;) {
        ssize_t const got = read(connection, text + size, TEXT_BYTES - 1 - size);
        if (got <= 0)
            fail("the agent hung up", "");
        size += (size_t)got;
        text[size] = '\0';
        char *const body = strstr(text, "\r\n\r\n");
        char const *const length = body == NULL ? NULL : strstr(text, "Content-Length: ");
        if (length != NULL && size - (size_t)(body + 4 - text) >=
                                  strtoul(length + strlen("Content-Length: "), NULL, 10))
            return body + 4;
    }
}

static char *post(struct caller *caller, int connection, const char *path, const char *body)
{
    char head[200];
    int const length = snprintf(
        head, sizeof head, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n",
        path, strlen(body));
    double const start_s = seconds_now();
    memmove(caller->text, head, (size_t)length);
    memcpy(caller->text + length, body, strlen(body));
    size_t const size = (size_t)length + strlen(body);
    for (size_t sent = 0; sent < size;) {
        ssize_t const wrote = write(connection, caller->text + sent, size - sent);
        if (wrote <= 0)
            fail("the agent does not listen", path);
        sent += (size_t)wrote;
    }
    char *const answer = read_answer(connection, caller->text);
    if (strncmp(caller->text, "HTTP/1.1 200", 12) != 0)
        fail("refused", answer);
    if (caller->time_count < TIMES_MAX)
        caller->times_s[caller->time_count++] = seconds_now() - start_s;
    return answer;
}

/* splitmix64 */
static unsigned long long draw(struct caller *caller)
{
    uint64_t mixed = caller->chance += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* {"requests":[{},{},..]}, or each with a key that nothing can be told from. */
static void write_requests(struct caller *caller)
{
    char *end = caller->body + sprintf(caller->body, "{\"requests\":[");
    for (uint32_t i = 0; i < caller->batch; i++) {
        end += sprintf(end, i == 0 ? "{" : ",{");
        if (caller->has_keys)
            end += sprintf(end, "\"key\":\"%016llx-%016llx\"", draw(caller), draw(caller));
        end += sprintf(end, "}");
    }
    (void)sprintf(end, "]}");
}

/* {"rewards":[{"id":"..","reward":..},..]} for the ids of an answer. */
static uint64_t write_rewards(struct caller *caller, const char *answer)
{
    uint64_t count = 0;
    char *end = caller->body + sprintf(caller->body, "{\"rewards\":[");
    for (const char *id = strstr(answer, "\"id\": \""); id != NULL;
         id = strstr(id + 1, "\"id\": \"")) {
        char const *const text = id + strlen("\"id\": \"");
        end += sprintf(end, "%s{\"id\":\"%.*s\",\"reward\":%d}", count == 0 ? "" : ",",
                       (int)strcspn(text, "\""), text, (int)(text[0] % 3 == 0));
        count++;
    }
    (void)sprintf(end, "]}");
    return count;
}

static void *call(void *argument)
{
    struct caller *const caller = argument;
    int const connection = open_connection(caller->path);
    while (seconds_now() < caller->until_s) {
        write_requests(caller);
        char const *const answer = post(caller, connection, "/v1/decisions/batch", caller->body);
        uint64_t const count = write_rewards(caller, answer);
        (void)post(caller, connection, "/v1/rewards/batch", caller->body);
        caller->pairs += count;
    }
    (void)close(connection);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double const x = *(const double *)a;
    double const y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(struct caller *callers, uint32_t count, uint32_t batch, double spent_s)
{
    uint64_t pairs = 0;
    size_t times = 0;
    double *const all = calloc((size_t)count * TIMES_MAX, sizeof *all);
    for (uint32_t i = 0; i < count; i++) {
        pairs += callers[i].pairs;
        memcpy(all + times, callers[i].times_s, callers[i].time_count * sizeof *all);
        times += callers[i].time_count;
    }
    qsort(all, times, sizeof *all, compare);
    (void)printf("%u callers, batch %u: %.0f pairs/s; a request: p50 %.2f ms, p99 %.2f ms, p99.9 "
                 "%.2f ms\n",
                 count, batch, (double)pairs / spent_s, 1e3 * all[times / 2],
                 1e3 * all[times * 99 / 100], 1e3 * all[times * 999 / 1000]);
    free(all);
}

int main(int argument_count, char **arguments)
{
    bool const has_keys = argument_count == 6 && strcmp(arguments[5], "keys") == 0;
    if (argument_count != 5 && !has_keys)
        fail("usage", "agent_load SOCKET CALLERS BATCH SECONDS [keys]");
    uint32_t const count = (uint32_t)strtoul(arguments[2], NULL, 10);
    uint32_t const batch = (uint32_t)strtoul(arguments[3], NULL, 10);
    double const start_s = seconds_now();
    struct caller *const callers = calloc(count, sizeof *callers);
    for (uint32_t i = 0; i < count; i++) {
        callers[i] = (struct caller){.path = arguments[1],
                                     .batch = batch,
                                     .has_keys = has_keys,
                                     .chance = (uint64_t)(start_s * 1e9) + ((uint64_t)i << 40),
                                     .until_s = start_s + strtod(arguments[4], NULL),
                                     .times_s = calloc(TIMES_MAX, sizeof(double)),
                                     .text = malloc(TEXT_BYTES),
                                     .body = malloc(TEXT_BYTES)};
        if (pthread_create(&callers[i].thread, NULL, call, &callers[i]) != 0)
            fail("threads", "none left");
    }
    for (uint32_t i = 0; i < count; i++)
        (void)pthread_join(callers[i].thread, NULL);
    report(callers, count, batch, seconds_now() - start_s);
    for (uint32_t i = 0; i < count; i++) {
        free(callers[i].times_s);
        free(callers[i].text);
        free(callers[i].body);
    }
    free(callers);
    return 0;
}

/* Linked into tacitd-test around what changes files and what leaves (--wrap): TACIT_CRASH_AT=name:n
 * kills the process at the n-th passage of a point; first:n,then:m at the m-th passage of the
 * second one after the n-th of the first. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "../../src/live/bus/bus.h"
#include "../../src/live/store/store_base.h"

static void pass(const char *name)
{
    static const char *wanted; /* what is left to be passed */
    static unsigned long passages;
    size_t const length = strlen(name);
    if (wanted == NULL)
        wanted = getenv("TACIT_CRASH_AT");
    if (wanted == NULL || strncmp(wanted, name, length) != 0 || wanted[length] != ':')
        return;
    char *end;
    if (++passages != strtoul(wanted + length + 1, &end, 10))
        return;
    if (*end != ',')
        (void)raise(SIGKILL);
    passages = 0;
    wanted = end + 1;
}

#define PUBLISH                                                                                    \
    struct live_bus *bus, const char *topic, const uint8_t *bytes, size_t size, bool retain
enum tacit_status __real_live_bus_publish(PUBLISH);
enum tacit_status __wrap_live_bus_publish(PUBLISH);
enum tacit_status __wrap_live_bus_publish(PUBLISH)
{
    pass("before-send");
    enum tacit_status const status = __real_live_bus_publish(bus, topic, bytes, size, retain);
    pass("after-send");
    return status;
}

enum tacit_status __real_live_store_commit(struct live_store *store);
enum tacit_status __wrap_live_store_commit(struct live_store *store);
enum tacit_status __wrap_live_store_commit(struct live_store *store)
{
    pass("before-commit");
    enum tacit_status const status = __real_live_store_commit(store);
    pass("after-commit");
    return status;
}

#define RELEASE struct live_store *store, const struct live_release *release
enum tacit_status __real_live_store_put_release(RELEASE);
enum tacit_status __wrap_live_store_put_release(RELEASE);
enum tacit_status __wrap_live_store_put_release(RELEASE)
{
    pass("release");
    return __real_live_store_put_release(store, release);
}

/* Before the log of a draw is folded, before its mark, and when it is overwritten. */
enum tacit_status __real_store_erase_log(struct live_store *store);
enum tacit_status __wrap_store_erase_log(struct live_store *store);
enum tacit_status __wrap_store_erase_log(struct live_store *store)
{
    bool const has_log = store->log_pages_used > 0;
    if (has_log)
        pass("fold");
    enum tacit_status const status = __real_store_erase_log(store);
    if (has_log)
        pass("zeros");
    return status;
}

#define MARK uint8_t mark[STORE_LOG_HEADER_BYTES], uint32_t generation
void __real_store_log_header_mark(MARK);
void __wrap_store_log_header_mark(MARK);
void __wrap_store_log_header_mark(MARK)
{
    pass("mark");
    __real_store_log_header_mark(mark, generation);
}

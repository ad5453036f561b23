/* What differs between two agreements, in words. Apart from the announcement: it prints numbers,
 * which a device need not link. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/privacy.h"
#include "tacit/wire.h"

#define DIGITS_MAX 17 /* they tell any two doubles apart */

#define AGREEMENTS const struct tacit_wire_agreement *here, const struct tacit_wire_agreement *there

struct reason {
    char *text;
    size_t size;
};

/* Says what differs. Result: true, as that is. */
__attribute__((format(printf, 2, 3))) static bool put(struct reason reason, const char *format, ...)
{
    va_list values;
    TACIT_ASSERT(reason.text != NULL && reason.size > 0);
    va_start(values, format);
    (void)vsnprintf(reason.text, reason.size, format, values);
    va_end(values);
    return true;
}

static bool protocol_differs(AGREEMENTS, struct reason reason)
{
    if (strcmp(here->protocol, there->protocol) != 0 || here->family != there->family)
        return put(reason, "the protocol is %s (number %u) here and %s (number %u) there",
                   here->protocol, here->family, there->protocol, there->family);
    return here->protocol_version != there->protocol_version &&
           put(reason, "%s has version %u here and %u there", here->protocol,
               here->protocol_version, there->protocol_version);
}

static bool arms_differ(AGREEMENTS, struct reason reason)
{
    if (here->arm_count != there->arm_count)
        return put(reason, "the number of arms is %u here and %u there", here->arm_count,
                   there->arm_count);
    for (uint32_t arm = 0; arm < here->arm_count; arm++)
        if (strcmp(here->arms[arm], there->arms[arm]) != 0)
            return put(reason, "arm %u is called '%s' here and '%s' there", arm + 1,
                       here->arms[arm], there->arms[arm]);
    return false;
}

/* The shortest digits that read back as the same number. */
struct digits {
    char text[32];
};

static struct digits digits_of(double number)
{
    struct digits digits;
    for (int count = 6; count <= DIGITS_MAX; count++) {
        (void)snprintf(digits.text, sizeof digits.text, "%.*g", count, number);
        if (strtod(digits.text, NULL) == number)
            break;
    }
    return digits;
}

static bool range_differs(AGREEMENTS, struct reason reason)
{
    return (here->lo != there->lo || here->hi != there->hi) &&
           put(reason, "the range of rewards is [%s, %s] here and [%s, %s] there",
               digits_of(here->lo).text, digits_of(here->hi).text, digits_of(there->lo).text,
               digits_of(there->hi).text);
}

/* Zero here: nothing is said about it. */
static bool count_differs(const char *name, uint64_t here, uint64_t there, struct reason reason)
{
    return here != 0 && here != there &&
           put(reason, "%s is %llu here and %llu there", name, (unsigned long long)here,
               (unsigned long long)there);
}

static bool epsilon_differs(AGREEMENTS, struct reason reason)
{
    return here->epsilon_nano != 0 && here->epsilon_nano != there->epsilon_nano &&
           put(reason, "epsilon per reward is %s here and %s there",
               digits_of(tacit_nano_value(here->epsilon_nano)).text,
               digits_of(tacit_nano_value(there->epsilon_nano)).text);
}

static bool trust_differs(AGREEMENTS, struct reason reason)
{
    if (here->has_helper != there->has_helper)
        return put(reason, "trust: %s here and %s there",
                   here->has_helper ? "two aggregators" : "one aggregator",
                   there->has_helper ? "two aggregators" : "one aggregator");
    return here->floor_nano != there->floor_nano &&
           put(reason,
               "trust: the floor of the sites' own noise is epsilon %s here and %s there (0: none)",
               digits_of(tacit_nano_value(here->floor_nano)).text,
               digits_of(tacit_nano_value(there->floor_nano)).text);
}

static bool parameters_differ(AGREEMENTS, struct reason reason)
{
    return here->parameters != NULL &&
           (here->parameters_size != there->parameters_size ||
            memcmp(here->parameters, there->parameters, here->parameters_size) != 0) &&
           put(reason, "the parameters of %s are others here than there", here->protocol);
}

bool tacit_wire_agreement_differs(AGREEMENTS, char *text, size_t size)
{
    static const uint8_t nothing[TACIT_WIRE_RUN_BYTES];
    struct reason const reason = {text, size};
    TACIT_ASSERT(size >= TACIT_WIRE_DIFFERENCE_BYTES);
    if (protocol_differs(here, there, reason) || arms_differ(here, there, reason) ||
        range_differs(here, there, reason) || epsilon_differs(here, there, reason) ||
        count_differs("the horizon", here->horizon, there->horizon, reason) ||
        count_differs("the number of sites", here->agent_count, there->agent_count, reason) ||
        trust_differs(here, there, reason) || parameters_differ(here, there, reason))
        return true;
    return memcmp(here->run, nothing, sizeof nothing) != 0 &&
           memcmp(here->run, there->run, sizeof here->run) != 0 &&
           put(reason, "the run is number %llu here and %llu there",
               (unsigned long long)tacit_wire_run_id(here->run),
               (unsigned long long)tacit_wire_run_id(there->run));
}

/* What differs between two agreements, in words. Apart from the announcement: it prints numbers,
 * which a device need not link. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/privacy.h"
#include "tacit/wire.h"

#define DIGITS_MAX 17 /* they tell any two doubles apart */

static bool is_said(const uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    static const uint8_t nothing[TACIT_WIRE_RUN_BYTES];
    return memcmp(run, nothing, sizeof nothing) != 0;
}

static bool protocol_differs(const struct tacit_wire_agreement *here,
                             const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (strcmp(here->protocol, there->protocol) != 0 || here->family != there->family)
        (void)snprintf(text, size, "the protocol is %s (number %u) here and %s (number %u) there",
                       here->protocol, here->family, there->protocol, there->family);
    else if (here->protocol_version != there->protocol_version)
        (void)snprintf(text, size, "%s has version %u here and %u there", here->protocol,
                       here->protocol_version, there->protocol_version);
    else
        return false;
    return true;
}

static bool arms_differ(const struct tacit_wire_agreement *here,
                        const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (here->arm_count != there->arm_count) {
        (void)snprintf(text, size, "the number of arms is %u here and %u there", here->arm_count,
                       there->arm_count);
        return true;
    }
    for (uint32_t arm = 0; arm < here->arm_count; arm++) {
        if (strcmp(here->arms[arm], there->arms[arm]) == 0)
            continue;
        (void)snprintf(text, size, "arm %u is called '%s' here and '%s' there", arm + 1,
                       here->arms[arm], there->arms[arm]);
        return true;
    }
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

/* Zero here: nothing is said about it. */
static bool count_differs(const char *name, uint64_t here, uint64_t there, char *text, size_t size)
{
    TACIT_ASSERT(name != NULL);
    TACIT_ASSERT(size > 0);
    if (here == 0 || here == there)
        return false;
    (void)snprintf(text, size, "%s is %llu here and %llu there", name, (unsigned long long)here,
                   (unsigned long long)there);
    return true;
}

static bool epsilon_differs(const struct tacit_wire_agreement *here,
                            const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (here->epsilon_nano == 0 || here->epsilon_nano == there->epsilon_nano)
        return false;
    (void)snprintf(text, size, "epsilon per reward is %s here and %s there",
                   digits_of((double)here->epsilon_nano / TACIT_NANO).text,
                   digits_of((double)there->epsilon_nano / TACIT_NANO).text);
    return true;
}

static bool range_differs(const struct tacit_wire_agreement *here,
                          const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (here->lo == there->lo && here->hi == there->hi)
        return false;
    (void)snprintf(text, size, "the range of rewards is [%s, %s] here and [%s, %s] there",
                   digits_of(here->lo).text, digits_of(here->hi).text, digits_of(there->lo).text,
                   digits_of(there->hi).text);
    return true;
}

static bool trust_differs(const struct tacit_wire_agreement *here,
                          const struct tacit_wire_agreement *there, char *text, size_t size)
{
    if (here->has_helper != there->has_helper)
        (void)snprintf(text, size, "trust: %s here and %s there",
                       here->has_helper ? "two aggregators" : "one aggregator",
                       there->has_helper ? "two aggregators" : "one aggregator");
    else if (here->floor_nano != there->floor_nano)
        (void)snprintf(text, size,
                       "trust: the floor of the sites' own noise is epsilon %s here and %s there "
                       "(0: none)",
                       digits_of((double)here->floor_nano / TACIT_NANO).text,
                       digits_of((double)there->floor_nano / TACIT_NANO).text);
    else
        return false;
    return true;
}

static bool parameters_differ(const struct tacit_wire_agreement *here,
                              const struct tacit_wire_agreement *there, char *text, size_t size)
{
    if (here->parameters == NULL ||
        (here->parameters_size == there->parameters_size &&
         memcmp(here->parameters, there->parameters, here->parameters_size) == 0))
        return false;
    (void)snprintf(text, size, "the parameters of %s are others here than there", here->protocol);
    return true;
}

bool tacit_wire_agreement_differs(const struct tacit_wire_agreement *here,
                                  const struct tacit_wire_agreement *there, char *text, size_t size)
{
    TACIT_ASSERT(size >= TACIT_WIRE_DIFFERENCE_BYTES);
    if (protocol_differs(here, there, text, size) || arms_differ(here, there, text, size) ||
        range_differs(here, there, text, size) || epsilon_differs(here, there, text, size) ||
        count_differs("the horizon", here->horizon, there->horizon, text, size) ||
        count_differs("the number of sites", here->agent_count, there->agent_count, text, size) ||
        trust_differs(here, there, text, size) || parameters_differ(here, there, text, size))
        return true;
    if (!is_said(here->run) || memcmp(here->run, there->run, sizeof here->run) == 0)
        return false;
    (void)snprintf(text, size, "the run is number %llu here and %llu there",
                   (unsigned long long)tacit_wire_run_id(here->run),
                   (unsigned long long)tacit_wire_run_id(there->run));
    return true;
}

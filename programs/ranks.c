/* What mpirun says of the ranks it started, and the module that knows MPI. */
#include "ranks.h"
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define RANKS_MAX 1000000ul

/* A number that Open MPI's mpirun leaves for its ranks. */
static uint32_t told(const char *name, uint32_t otherwise)
{
    char const *const text = getenv(name);
    char *end = NULL;
    unsigned long const value = text == NULL ? 0 : strtoul(text, &end, 10);
    bool const is_number = end != NULL && end != text && *end == '\0' && value <= RANKS_MAX;
    return is_number ? (uint32_t)value : otherwise;
}

uint32_t ranks_count(void)
{
    uint32_t const count = told("OMPI_COMM_WORLD_SIZE", 1);
    return count < 1 ? 1 : count;
}

uint32_t ranks_index(void)
{
    return ranks_count() > 1 ? told("OMPI_COMM_WORLD_RANK", 0) : 0;
}

uint32_t ranks_beside(void)
{
    uint32_t const beside = told("OMPI_COMM_WORLD_LOCAL_SIZE", 1);
    return beside < 1 ? 1 : beside;
}

bool ranks_outlive(void)
{
    return told("OMPI_MCA_orte_enable_recovery", 0) != 0;
}

const struct ranks_wire *ranks_open(const char **why)
{
    /* The plugins of Open MPI find its symbols only if they are everybody's. */
    void *const module = dlopen(RANKS_FILE, RTLD_NOW | RTLD_GLOBAL);
    ranks_start start = NULL;
    *why = module == NULL ? dlerror() : "MPI does not start";
    if (module == NULL)
        return NULL;
    *(void **)&start = dlsym(module, RANKS_SYMBOL); /* as POSIX has it */
    return start == NULL ? NULL : start();
}

uint32_t ranks_threads(uint32_t asked)
{
    cpu_set_t allowed;
    long const processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t const all = processors < 1 ? 1 : (uint32_t)processors;
    uint32_t const part = all / ranks_beside() < 1 ? 1 : all / ranks_beside();
    int const own = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
    if (asked > 0)
        return asked;
    return own > 0 && (uint32_t)own < part ? (uint32_t)own : part;
}

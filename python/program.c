/* The program tacit of the Python package: what the library beside it is. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "tacit_program.so"

int main(int argument_count, char **arguments)
{
    char path[PATH_MAX + sizeof LIBRARY];
    ssize_t const size = readlink("/proc/self/exe", path, PATH_MAX);
    path[size < 0 ? 0 : size] = '\0';
    char *const slash = strrchr(path, '/');
    if (slash != NULL)
        memcpy(slash + 1, LIBRARY, sizeof LIBRARY);
    void *const library = slash == NULL ? NULL : dlopen(path, RTLD_NOW);
    int (*start)(int, char **) = NULL;
    if (library != NULL)
        *(void **)&start = dlsym(library, "tacit_program_main");
    if (start != NULL)
        return start(argument_count, arguments);
    (void)fprintf(stderr, "tacit: %s: %s\n", path, dlerror());
    return 1;
}

/* Whose a directory and its files are, and who can read them. */
#include "private.h"
#include "refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MAX 256

static bool group_is_allowed;

void live_private_allow_group(void)
{
    group_is_allowed = true;
}

static bool is_our_group(gid_t group)
{
    gid_t groups[GROUPS_MAX];
    int const count = getgroups(GROUPS_MAX, groups);
    bool is_ours = group == getegid();
    for (int i = 0; i < count; i++)
        is_ours = is_ours || groups[i] == group;
    return is_ours;
}

bool live_private_is_closed(const struct stat *found)
{
    return (found->st_mode & S_IRWXO) == 0 &&
           ((found->st_mode & S_IRWXG) == 0 || (group_is_allowed && is_our_group(found->st_gid)));
}

/* Mode bits and owner, not access(2): root may read everything, and still must not trust it. */
static enum tacit_status check_private(const struct stat *found, const char *kind, mode_t allowed,
                                       const char *directory_name, const char *name,
                                       struct tacit_error *error)
{
    const char *const slash = name[0] == '\0' ? "" : "/";
    unsigned const mode = (unsigned)(found->st_mode & 07777u);
    if (found->st_uid != geteuid() && !(group_is_allowed && found->st_uid == 0))
        return live_refuse(error, TACIT_INVALID, "%s%s%s belongs to user %lu, not to user %lu",
                           directory_name, slash, name, (unsigned long)found->st_uid,
                           (unsigned long)geteuid());
    if (!live_private_is_closed(found))
        return live_refuse(error, TACIT_INVALID,
                           "%s%s%s is open to other users (mode %04o): a state %s must be "
                           "private (chmod %04o)",
                           directory_name, slash, name, mode, kind, (unsigned)allowed);
    return TACIT_OK;
}

/* Opening "name/" would follow a link of that name. */
static size_t size_without_slashes(const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    return size;
}

/* A new directory survives a power failure once its parent is on disk. Not being allowed to open
 * the parent is no reason to stop: the state is then lost as a whole, which the coordinator
 * notices. */
static void sync_parent(int directory)
{
    int const parent = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return;
    (void)fsync(parent);
    (void)close(parent);
}

static enum tacit_status check_directory(int directory, bool is_new, const char *directory_name,
                                         struct tacit_error *error)
{
    if (is_new) {
        (void)fchmod(directory, S_IRWXU); /* the umask may have taken our own bits away */
        sync_parent(directory);
    }
    struct stat found;
    if (fstat(directory, &found) != 0)
        return live_refuse(error, TACIT_IO, "%s: %s", directory_name, strerror(errno));
    return check_private(&found, "directory", S_IRWXU, directory_name, "", error);
}

enum tacit_status live_private_directory_open(const char *directory_name, int *directory,
                                              struct tacit_error *error)
{
    TACIT_ASSERT(directory != NULL);
    size_t const size = size_without_slashes(directory_name);
    char *const path = strndup(directory_name, size);
    if (path == NULL)
        return live_refuse(error, TACIT_MEMORY, "%s: out of memory", directory_name);
    bool const is_new = mkdir(path, S_IRWXU) == 0;
    int const reason = is_new ? 0 : errno;
    int const opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int const open_reason = errno;
    struct stat found;
    bool const is_link = opened < 0 && lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
    free(path);
    if (is_link)
        return live_refuse(error, TACIT_INVALID, "%s is a symbolic link; name the directory itself",
                           directory_name);
    if (opened < 0 && open_reason == ENOTDIR)
        return live_refuse(error, TACIT_INVALID, "%s is not a directory", directory_name);
    if (opened < 0)
        return live_refuse(error, TACIT_IO, "%s: cannot open the state directory: %s",
                           directory_name,
                           strerror(reason != 0 && reason != EEXIST ? reason : open_reason));
    enum tacit_status const status = check_directory(opened, is_new, directory_name, error);
    if (status != TACIT_OK) {
        (void)close(opened);
        return status;
    }
    *directory = opened;
    return TACIT_OK;
}

enum tacit_status live_private_file_check(int directory, const char *directory_name,
                                          const char *name, int64_t *size,
                                          struct tacit_error *error)
{
    TACIT_ASSERT(size != NULL);
    struct stat found;
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT)
            return live_refuse(error, TACIT_IO, "%s/%s: %s", directory_name, name, strerror(errno));
        *size = -1;
        return TACIT_OK;
    }
    if (S_ISLNK(found.st_mode))
        return live_refuse(error, TACIT_INVALID, "%s/%s is a symbolic link", directory_name, name);
    if (!S_ISREG(found.st_mode))
        return live_refuse(error, TACIT_INVALID, "%s/%s is not a plain file", directory_name, name);
    *size = (int64_t)found.st_size;
    return check_private(&found, "file", S_IRUSR | S_IWUSR, directory_name, name, error);
}

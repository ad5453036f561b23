/* The data sets tacit knows, where they are, and whether they are what they should be. Never
 * fetches anything. */
#include "tacit/data.h"
#include "internal.h"
#include "tacit/commit.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORIES_MAX 2u
#define SUMS_BYTES_MAX ((size_t)1 << 20)
#define SUM_BYTES TACIT_SHA256_BYTES
#define SUM_DIGITS 64u
#define READ_BYTES 16384u

static const struct tacit_dataset datasets[] = {
    {.name = "diabetes130",
     .content = "Diabetes 130-US hospitals 1999-2008: 101,766 stays, drugs, readmission",
     .terms = "CC BY 4.0; cite Strack et al. 2014",
     .files = (const char *const[]){"diabetic_data.csv.xz", "IDs_mapping.csv", NULL}},
    {.name = "mnist",
     .content = "MNIST: 60,000 + 10,000 digits, IDX files",
     .terms = "CC BY-SA 3.0",
     .files =
         (const char *const[]){"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                               "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz", NULL}},
    {.name = "cifar10",
     .content = "CIFAR-10: the five training batches, the first 1,000 test images",
     .terms = "cite Krizhevsky 2009",
     .files = (const char *const[]){"data_batch_1.bin.xz", "data_batch_2.bin.xz",
                                    "data_batch_3.bin.xz", "data_batch_4.bin.xz",
                                    "data_batch_5.bin.xz", "test_batch_first1000.bin.xz", NULL}},
    {.name = "movielens",
     .content = "MovieLens ml-latest-small: 100,836 ratings of 610 users",
     .terms = "GroupLens: research use, README inside",
     .files = (const char *const[]){"ml-latest-small.tar.xz", NULL}},
    {.name = "obd",
     .content = "Open Bandit Dataset, small: 4 x 10,000 logged impressions with propensities",
     .terms = "CC BY 4.0",
     .files = (const char *const[]){"obd-small.tar.xz", NULL}},
    {.name = "lastfm",
     .content = "HetRec 2011 Last.fm: artists, tags and friends of listeners",
     .terms = "non-commercial research",
     .files = (const char *const[]){"lastfm-hetrec2011.tar.xz", NULL}},
};

const struct tacit_dataset *tacit_dataset_list(size_t *count)
{
    *count = sizeof datasets / sizeof datasets[0];
    return datasets;
}

/* ---- Where --------------------------------------------------------------------------------- */

/* Writes the index-th data directory; false if it is not set or too long to be a path. */
static bool directory_at(uint32_t index, char directory[TACIT_PATH_BYTES])
{
    const char *const base = getenv(index == 0 ? "TACIT_DATA" : "HOME");
    if (base == NULL || base[0] == '\0')
        return false;
    const char *const below = index == 0 ? "" : "/.local/share/tacit";
    int const size = snprintf(directory, TACIT_PATH_BYTES, "%s%s", base, below);
    return size >= 0 && (size_t)size < TACIT_PATH_BYTES;
}

/* A folder of that name is none; what a shell hands over in place of a file is one. */
static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode) && access(path, R_OK) == 0;
}

/* The file itself, or packed. length: of the folder; 0: the one that we are in. False: it is not
 * there, and path is untouched. */
static bool find_in(const char *directory, int length, const char *name,
                    char path[TACIT_PATH_BYTES])
{
    static const char *const suffixes[] = {"", ".xz", ".gz"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char candidate[TACIT_PATH_BYTES];
        bool const is_bare = length > 0 && directory[length - 1] != '/';
        int const size = snprintf(candidate, sizeof candidate, "%.*s%s%s%s", length, directory,
                                  is_bare ? "/" : "", name, suffixes[i]);
        if (size >= 0 && (size_t)size < sizeof candidate && is_file(candidate)) {
            memcpy(path, candidate, (size_t)size + 1);
            return true;
        }
    }
    return false;
}

enum tacit_status tacit_dataset_find(const char *beside, const char *name,
                                     char path[TACIT_PATH_BYTES])
{
    char const *const slash = beside == NULL || name[0] == '/' ? NULL : strrchr(beside, '/');
    if (beside != NULL &&
        find_in(beside, slash == NULL ? 0 : (int)(slash + 1 - beside), name, path))
        return TACIT_OK;
    for (uint32_t i = 0; i < DIRECTORIES_MAX; i++) {
        char directory[TACIT_PATH_BYTES];
        if (directory_at(i, directory) && find_in(directory, (int)strlen(directory), name, path))
            return TACIT_OK;
    }
    return TACIT_IO;
}

void tacit_dataset_directories(char directories[TACIT_PATH_BYTES])
{
    struct tacit_text text = tacit_text_init(directories, TACIT_PATH_BYTES);
    for (uint32_t i = 0; i < DIRECTORIES_MAX; i++) {
        char directory[TACIT_PATH_BYTES];
        if (!directory_at(i, directory))
            continue;
        if (text.size > 0)
            tacit_text_add(&text, ":");
        tacit_text_add(&text, directory);
    }
}

/* ---- Whether ------------------------------------------------------------------------------- */

static int digit_value(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *const at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? -1 : (int)(at - digits) % 16;
}

static bool parse_sum(const char *digits, unsigned char sum[SUM_BYTES])
{
    for (size_t i = 0; i < SUM_BYTES; i++) {
        int const high = digit_value(digits[2 * i]);
        int const low = high < 0 ? -1 : digit_value(digits[2 * i + 1]);
        if (low < 0)
            return false;
        sum[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

/* Is this line "<hex>  name" or "<hex> *name", with or without "./" before the name? */
static bool line_names(const char *line, const char *relative)
{
    const char *name = line + strcspn(line, " ");
    if (name[0] != ' ' || (name[1] != ' ' && name[1] != '*'))
        return false;
    name += 2;
    name += strncmp(name, "./", 2) == 0 ? 2 : 0;
    return strcmp(name, relative) == 0;
}

/* Requires: text is a SHA256SUMS file; it is cut into lines in place. */
static enum tacit_status find_sum(char *text, const char *relative, const char *sums_path,
                                  unsigned char sum[SUM_BYTES], struct tacit_error *error)
{
    uint32_t line_number = 0;
    for (char *line = text; *line != '\0';) {
        line_number++;
        char *const end = line + strcspn(line, "\r\n");
        char *const next = end + strspn(end, "\r") + (end[strspn(end, "\r")] == '\n');
        *end = '\0';
        if (line_names(line, relative)) {
            if (strcspn(line, " ") == SUM_DIGITS && parse_sum(line, sum))
                return TACIT_OK;
            return data_fail(error, TACIT_INVALID, sums_path, line_number,
                             "not a sha256; a line is 64 hex digits, two blanks, the name");
        }
        line = next;
    }
    return data_fail(error, TACIT_IO, sums_path, 0, "no line for '%s'", relative);
}

static enum tacit_status digest_file(const char *path, unsigned char sum[SUM_BYTES],
                                     struct tacit_error *error)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL)
        return data_fail(error, TACIT_IO, path, 0, "%s", strerror(errno));
    struct tacit_sha256 sha = tacit_sha256_init();
    unsigned char bytes[READ_BYTES];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        tacit_sha256_update(&sha, bytes, got);
    bool const failed = ferror(file) != 0;
    int const why = errno;
    (void)fclose(file);
    if (failed)
        return data_fail(error, TACIT_IO, path, 0, "%s", strerror(why));
    tacit_sha256_final(&sha, sum);
    return TACIT_OK;
}

/* What the directory's SHA256SUMS says. */
static enum tacit_status stated_sum(const char *directory, const char *relative,
                                    unsigned char sum[SUM_BYTES], struct tacit_error *error)
{
    char path[TACIT_PATH_BYTES];
    int const size = snprintf(path, sizeof path, "%s/SHA256SUMS", directory);
    if (size < 0 || (size_t)size >= sizeof path)
        return data_fail(error, TACIT_IO, directory, 0, "the path is too long");
    struct data_unpacked sums;
    TACIT_TRY(data_unpack_file(&sums, path, SUMS_BYTES_MAX, error));
    enum tacit_status status = find_sum(sums.bytes, relative, path, sum, error);
    free(sums.bytes);
    return status;
}

enum tacit_status tacit_dataset_verify(const char *directory, const char *relative,
                                       struct tacit_error *error)
{
    char path[TACIT_PATH_BYTES];
    int const size = snprintf(path, sizeof path, "%s/%s", directory, relative);
    if (size < 0 || (size_t)size >= sizeof path)
        return data_fail(error, TACIT_IO, directory, 0, "the path is too long");
    unsigned char stated[SUM_BYTES];
    TACIT_TRY(stated_sum(directory, relative, stated, error));
    unsigned char found[SUM_BYTES];
    TACIT_TRY(digest_file(path, found, error));
    if (memcmp(stated, found, SUM_BYTES) != 0)
        return data_fail(error, TACIT_INVALID, path, 0,
                         "its sha256 is not the one in SHA256SUMS; the file is another or "
                         "damaged");
    return TACIT_OK;
}

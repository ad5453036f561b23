/* Runs openssl (no shell in between) for one small step at a time. A step writes NAME.new, which
 * then gets its final name by link(2): that fails where a file exists, so no key is ever
 * overwritten. */
#include "pki_internal.h"
#include "../daemon/refusal.h"
#include "../bus/broker_config.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS_MAX 64u
#define COMPLAINT_BYTES 512u
#define SERIAL_BYTES 16u

extern char **environ;

/* ---- Paths ---- */

struct pki_path pki_path_make(const char *directory, const char *name, const char *ending)
{
    struct pki_path path;
    (void)snprintf(path.bytes, sizeof path.bytes, "%s/%s%s", directory, name, ending);
    return path;
}

bool pki_path_exists(const struct pki_path *path)
{
    struct stat status;
    return lstat(path->bytes, &status) == 0;
}

static enum tacit_status keep(const struct pki_path *fresh, const struct pki_path *path,
                              struct tacit_error *error)
{
    int const code = link(fresh->bytes, path->bytes) == 0 ? 0 : errno;
    (void)unlink(fresh->bytes);
    if (code != 0)
        return live_refuse(error, TACIT_IO, "cannot make %.1024s: %s", path->bytes, strerror(code));
    return TACIT_OK;
}

/* ---- Running openssl ---- */

/* Reads to the end, keeps the beginning. */
static void read_complaint(int handle, char complaint[COMPLAINT_BYTES])
{
    char bytes[COMPLAINT_BYTES];
    size_t size = 0;
    for (;;) {
        ssize_t const got = read(handle, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        size_t const room = COMPLAINT_BYTES - 1 - size;
        size_t const kept = (size_t)got < room ? (size_t)got : room;
        memcpy(complaint + size, bytes, kept);
        size += kept;
    }
    complaint[size] = '\0';
}

static int spawn(pid_t *pid, const char *const *arguments, int complaints)
{
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
    if (code == 0)
        code = posix_spawnp(pid, arguments[0], &actions, NULL, (char *const *)(uintptr_t)arguments,
                            environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return code;
}

static enum tacit_status run(const char *const *arguments, struct tacit_error *error)
{
    char complaint[COMPLAINT_BYTES];
    int ends[2];
    int state = 0;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return live_refuse(error, TACIT_IO, "cannot make a pipe: %s", strerror(errno));
    int const code = spawn(&pid, arguments, ends[1]);
    (void)close(ends[1]);
    if (code != 0) {
        (void)close(ends[0]);
        return live_refuse(error, TACIT_IO, "cannot run the program openssl: %s", strerror(code));
    }
    read_complaint(ends[0], complaint);
    (void)close(ends[0]);
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return live_refuse(error, TACIT_IO, "cannot wait for openssl: %s", strerror(errno));
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0)
        return live_refuse(error, TACIT_IO, "openssl %s failed: %s", arguments[1], complaint);
    return TACIT_OK;
}

/* ---- Keys and certificates ---- */

/* A file of ours alone, empty; openssl keeps its mode. */
static enum tacit_status make_private(const struct pki_path *path, struct tacit_error *error)
{
    (void)unlink(path->bytes); /* left by a run that broke off */
    int const handle = open(path->bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (handle < 0)
        return live_refuse(error, TACIT_IO, "cannot make %.1024s: %s", path->bytes,
                           strerror(errno));
    (void)close(handle);
    return TACIT_OK;
}

static enum tacit_status make_key(const char *directory, const char *name,
                                  struct tacit_error *error)
{
    struct pki_path const key = pki_path_make(directory, name, ".key");
    struct pki_path const fresh = pki_path_make(directory, name, ".key.new");
    if (pki_path_exists(&key))
        return TACIT_OK;
    const char *const arguments[] = {"openssl", "genpkey",   "-algorithm",
                                     "EC",      "-pkeyopt",  "ec_paramgen_curve:P-256",
                                     "-out",    fresh.bytes, NULL};
    enum tacit_status status = make_private(&fresh, error);
    if (status == TACIT_OK)
        status = run(arguments, error);
    if (status != TACIT_OK) {
        (void)unlink(fresh.bytes);
        return status;
    }
    return keep(&fresh, &key, error);
}

/* "0x" and 127 random bits: serial numbers need no file that could be lost, or counted. */
static enum tacit_status make_serial(char serial[2 * SERIAL_BYTES + 3], struct tacit_error *error)
{
    uint8_t bytes[SERIAL_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return live_refuse(error, TACIT_IO, "the random source failed");
    bytes[0] &= 0x7f;
    (void)snprintf(serial, 3, "0x");
    for (size_t i = 0; i < SERIAL_BYTES; i++)
        (void)snprintf(serial + 2 + 2 * i, 3, "%02x", bytes[i]);
    return TACIT_OK;
}

static bool is_numerical(const char *host)
{
    return strchr(host, ':') != NULL || strspn(host, "0123456789.") == strlen(host);
}

static void write_hosts(FILE *file, const struct live_pki_config *config)
{
    fprintf(file, "subjectAltName = DNS:localhost, IP:127.0.0.1");
    for (size_t i = 0; i < config->broker_host_count; i++)
        fprintf(file, ", %s:%s", is_numerical(config->broker_hosts[i]) ? "IP" : "DNS",
                config->broker_hosts[i]);
    fprintf(file, "\n");
}

/* What openssl shall put into the certificate, in its own configuration language. Everything that
 * stands here was checked before. */
static void write_wishes(FILE *file, const char *name, const struct live_pki_config *config)
{
    bool const is_ca = strcmp(name, PKI_CA_NAME) == 0;
    bool const is_broker = strcmp(name, LIVE_BROKER) == 0;
    fprintf(file,
            "[req]\nprompt = no\nutf8 = yes\ndistinguished_name = subject\n"
            "[subject]\nCN = %s\n[extensions]\nsubjectKeyIdentifier = hash\n",
            is_ca ? "tacit trial CA" : name);
    if (is_ca) {
        fprintf(file, "basicConstraints = critical, CA:TRUE, pathlen:0\n"
                      "keyUsage = critical, keyCertSign, cRLSign\n");
        return;
    }
    fprintf(file,
            "authorityKeyIdentifier = keyid\nbasicConstraints = critical, CA:FALSE\n"
            "keyUsage = critical, digitalSignature\nextendedKeyUsage = %s\n",
            is_broker ? "serverAuth" : "clientAuth");
    if (is_broker)
        write_hosts(file, config);
}

static enum tacit_status make_wishes(const struct pki_path *path, const char *name,
                                     const struct live_pki_config *config,
                                     struct tacit_error *error)
{
    enum tacit_status const status = make_private(path, error);
    if (status != TACIT_OK)
        return status;
    FILE *const file = fopen(path->bytes, "we");
    if (file == NULL)
        return live_refuse(error, TACIT_IO, "cannot write %.1024s: %s", path->bytes,
                           strerror(errno));
    write_wishes(file, name, config);
    bool const is_good = ferror(file) == 0;
    if (fclose(file) != 0 || !is_good)
        return live_refuse(error, TACIT_IO, "cannot write %.1024s", path->bytes);
    return TACIT_OK;
}

/* The files of one certificate. */
struct order {
    struct pki_path key;
    struct pki_path wishes;
    struct pki_path request;
    struct pki_path fresh;
    struct pki_path certificate;
    char serial[2 * SERIAL_BYTES + 3];
    char days[16];
};

static enum tacit_status sign_ca(const struct order *order, struct tacit_error *error)
{
    const char *const arguments[] = {
        "openssl",           "req",         "-new",           "-x509",
        "-sha256",           "-key",        order->key.bytes, "-config",
        order->wishes.bytes, "-extensions", "extensions",     "-set_serial",
        order->serial,       "-days",       order->days,      "-out",
        order->fresh.bytes,  NULL};
    return run(arguments, error);
}

static enum tacit_status sign_leaf(const struct order *order, const char *directory,
                                   struct tacit_error *error)
{
    struct pki_path const ca = pki_path_make(directory, PKI_CA_NAME, ".crt");
    struct pki_path const ca_key = pki_path_make(directory, PKI_CA_NAME, ".key");
    const char *const ask[] = {"openssl", "req",
                               "-new",    "-sha256",
                               "-key",    order->key.bytes,
                               "-config", order->wishes.bytes,
                               "-out",    order->request.bytes,
                               NULL};
    const char *const sign[] = {"openssl",     "x509",
                                "-req",        "-sha256",
                                "-in",         order->request.bytes,
                                "-CA",         ca.bytes,
                                "-CAkey",      ca_key.bytes,
                                "-extfile",    order->wishes.bytes,
                                "-extensions", "extensions",
                                "-set_serial", order->serial,
                                "-days",       order->days,
                                "-out",        order->fresh.bytes,
                                NULL};
    enum tacit_status const status = run(ask, error);
    return status == TACIT_OK ? run(sign, error) : status;
}

static enum tacit_status make_certificate(const struct live_pki_config *config, const char *name,
                                          uint32_t days, struct tacit_error *error)
{
    const char *const directory = config->directory;
    struct order order = {.key = pki_path_make(directory, name, ".key"),
                          .wishes = pki_path_make(directory, name, ".cnf.new"),
                          .request = pki_path_make(directory, name, ".csr.new"),
                          .fresh = pki_path_make(directory, name, ".crt.new"),
                          .certificate = pki_path_make(directory, name, ".crt")};
    if (pki_path_exists(&order.certificate))
        return TACIT_OK;
    (void)snprintf(order.days, sizeof order.days, "%u", days);
    enum tacit_status status = make_serial(order.serial, error);
    if (status == TACIT_OK)
        status = make_wishes(&order.wishes, name, config, error);
    if (status == TACIT_OK)
        status = strcmp(name, PKI_CA_NAME) == 0 ? sign_ca(&order, error)
                                                : sign_leaf(&order, directory, error);
    if (status == TACIT_OK)
        status = keep(&order.fresh, &order.certificate, error);
    (void)unlink(order.wishes.bytes);
    (void)unlink(order.request.bytes);
    (void)unlink(order.fresh.bytes);
    return status;
}

/* ---- Checks ---- */

enum tacit_status pki_check_name(const char *name, struct tacit_error *error)
{
    if (!live_name_is_allowed(name) || strcmp(name, PKI_CA_NAME) == 0)
        return live_refuse(
            error, TACIT_INVALID,
            "the name \"%.80s\" is not allowed: 1 to 64 of A-Z a-z 0-9 _ -, and not " PKI_CA_NAME,
            name);
    return TACIT_OK;
}

static enum tacit_status check_host(const char *host, struct tacit_error *error)
{
    size_t const size = strnlen(host, 254);
    if (size == 0 || size > 253 ||
        strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.:") != size)
        return live_refuse(error, TACIT_INVALID, "\"%.80s\" is no host name and no address", host);
    return TACIT_OK;
}

enum tacit_status pki_check_directory(const char *directory, struct tacit_error *error)
{
    size_t const size = strnlen(directory, PKI_DIRECTORY_BYTES);
    if (size == 0 || size == PKI_DIRECTORY_BYTES)
        return live_refuse(error, TACIT_INVALID, "the directory's path is empty or too long");
    return TACIT_OK;
}

static enum tacit_status check(const struct live_pki_config *config, struct tacit_error *error)
{
    enum tacit_status status = pki_check_directory(config->directory, error);
    if (status != TACIT_OK)
        return status;
    if (config->days == 0 || config->days > LIVE_PKI_DAYS_MAX)
        return live_refuse(error, TACIT_INVALID, "a certificate holds for 1 to %u days, not %u",
                           LIVE_PKI_DAYS_MAX, config->days);
    if (config->broker_host_count > HOSTS_MAX)
        return live_refuse(error, TACIT_INVALID, "a broker has at most %u names", HOSTS_MAX);
    for (size_t i = 0; i < config->name_count && status == TACIT_OK; i++)
        status = pki_check_name(config->names[i], error);
    for (size_t i = 0; i < config->broker_host_count && status == TACIT_OK; i++)
        status = check_host(config->broker_hosts[i], error);
    return status;
}

static enum tacit_status make_directory(const char *path, struct tacit_error *error)
{
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return live_refuse(error, TACIT_IO, "cannot make the directory %.1024s: %s", path,
                           strerror(errno));
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return live_refuse(error, TACIT_IO, "%.1024s is no directory", path);
    if (status.st_uid != geteuid() || (status.st_mode & 077) != 0)
        return live_refuse(
            error, TACIT_INVALID,
            "%.1024s will hold keys, so it must be yours and closed to others: chmod 700", path);
    return TACIT_OK;
}

static enum tacit_status make_pair(const struct live_pki_config *config, const char *name,
                                   uint32_t days, struct tacit_error *error)
{
    struct pki_path const key = pki_path_make(config->directory, name, ".key");
    struct pki_path const certificate = pki_path_make(config->directory, name, ".crt");
    if (pki_path_exists(&certificate) && !pki_path_exists(&key))
        return live_refuse(error, TACIT_INVALID, "%.1024s is missing, but %.512s.crt is there",
                           key.bytes, name);
    enum tacit_status const status = make_key(config->directory, name, error);
    return status == TACIT_OK ? make_certificate(config, name, days, error) : status;
}

enum tacit_status live_pki_make(const struct live_pki_config *config, struct tacit_error *error)
{
    enum tacit_status status = check(config, error);
    if (status == TACIT_OK)
        status = make_directory(config->directory, error);
    if (status == TACIT_OK) /* it must outlive the sites that come later */
        status = make_pair(config, PKI_CA_NAME, LIVE_PKI_DAYS_MAX, error);
    for (size_t i = 0; i < config->name_count && status == TACIT_OK; i++)
        status = make_pair(config, config->names[i], config->days, error);
    struct pki_path const list = pki_path_make(config->directory, PKI_CA_NAME, ".crl");
    if (status == TACIT_OK &&
        !pki_path_exists(&list)) /* so that the broker reads it from the start */
        status = live_pki_revoke(config->directory, NULL, 0, error);
    return status;
}

/* ---- Do these files prove who we are? ---- */

/* An encrypted key would make OpenSSL ask at the terminal; a daemon has none. */
static int no_password(char *bytes, int size, int is_for_writing, void *context)
{
    (void)bytes;
    (void)size;
    (void)is_for_writing;
    (void)context;
    return 0;
}

X509 *pki_read_certificate(const char *path)
{
    FILE *const file = fopen(path, "re");
    X509 *const certificate = file == NULL ? NULL : PEM_read_X509(file, NULL, no_password, NULL);
    if (file != NULL)
        (void)fclose(file);
    return certificate;
}

enum tacit_status pki_read_key(const char *path, EVP_PKEY **key, struct tacit_error *error)
{
    struct stat status;
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return live_refuse(error, TACIT_INVALID, "cannot read the key %.1024s: %s", path,
                           strerror(errno));
    bool const is_private = fstat(fileno(file), &status) == 0 && (status.st_mode & 077) == 0;
    *key = is_private ? PEM_read_PrivateKey(file, NULL, no_password, NULL) : NULL;
    (void)fclose(file);
    if (!is_private)
        return live_refuse(error, TACIT_INVALID,
                           "the key %.1024s is open to others: chmod 600, or make a new one", path);
    if (*key == NULL)
        return live_refuse(error, TACIT_INVALID, "%.1024s is no private key, or an encrypted one",
                           path);
    return TACIT_OK;
}

/* The name as the broker reads it: the first common name. */
static bool has_name(X509 *certificate, const char *name)
{
    char found[LIVE_NAME_BYTES_MAX + 2];
    int const size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                               found, (int)sizeof found);
    return size >= 0 && (size_t)size == strlen(name) && memcmp(found, name, (size_t)size) == 0;
}

static enum tacit_status check_pair(X509 *certificate, const char *certificate_file,
                                    const char *key_file, const char *name,
                                    struct tacit_error *error)
{
    EVP_PKEY *key = NULL;
    enum tacit_status status = pki_read_key(key_file, &key, error);
    if (status == TACIT_OK && X509_check_private_key(certificate, key) != 1)
        status = live_refuse(error, TACIT_INVALID, "the key %.512s does not belong to %.512s",
                             key_file, certificate_file);
    if (status == TACIT_OK && !has_name(certificate, name))
        status =
            live_refuse(error, TACIT_INVALID, "the certificate %.1024s is not made out to %.64s",
                        certificate_file, name);
    EVP_PKEY_free(key);
    return status;
}

enum tacit_status live_pki_check(const char *ca_file, const char *certificate_file,
                                 const char *key_file, const char *name, struct tacit_error *error)
{
    enum tacit_status status;
    X509 *const ca = pki_read_certificate(ca_file);
    X509 *const certificate = pki_read_certificate(certificate_file);
    if (ca == NULL)
        status =
            live_refuse(error, TACIT_INVALID, "cannot read a certificate from %.1024s", ca_file);
    else if (certificate == NULL)
        status = live_refuse(error, TACIT_INVALID, "cannot read a certificate from %.1024s",
                             certificate_file);
    else
        status = check_pair(certificate, certificate_file, key_file, name, error);
    X509_free(ca);
    X509_free(certificate);
    ERR_clear_error();
    return status;
}

bool pki_is_signed_by(X509 *certificate, X509 *ca)
{
    EVP_PKEY *const key = X509_get0_pubkey(ca);
    return key != NULL && X509_verify(certificate, key) == 1;
}

const char *live_pki_doubt(const char *ca_file, const char *certificate_file)
{
    const char *doubt = "perhaps it does not accept our certificate";
    X509 *const ca = pki_read_certificate(ca_file);
    X509 *const certificate = pki_read_certificate(certificate_file);
    if (certificate == NULL)
        doubt = "our certificate cannot be read";
    else if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
        doubt = "our certificate has expired";
    else if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
        doubt = "our certificate is not valid yet, or the clock is wrong";
    else if (ca != NULL && !pki_is_signed_by(certificate, ca))
        doubt = "our CA is not the CA of our certificate";
    X509_free(ca);
    X509_free(certificate);
    ERR_clear_error();
    return doubt;
}

/* Keys and certificates, by libcrypto. Each file is written as NAME.new, which then gets its final
 * name by link(2): that fails where a file exists, so no key is ever overwritten. */
#include "../daemon/names.h"
#include "../daemon/refusal.h"
#include "pki.h"
#include "pki_files.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOSTS_MAX 64u
#define HOST_BYTES_MAX 253u
#define HOSTS_TEXT_BYTES (64u + HOSTS_MAX * (HOST_BYTES_MAX + 6u))
#define SERIAL_BYTES 16u

/* ---- Files ---- */

/* Gives the file its final name, unless one is there; the fresh name goes in any case. */
static enum tacit_status put_in_place(const struct pki_path *fresh, const struct pki_path *path,
                                      struct tacit_error *error)
{
    int const code = link(fresh->bytes, path->bytes) == 0 ? 0 : errno;
    (void)unlink(fresh->bytes);
    if (code != 0)
        return live_refuse(error, TACIT_IO, "cannot make %.1024s: %s", path->bytes, strerror(code));
    return TACIT_OK;
}

/* A new file of this mode; what a run that broke off left under its name goes. */
static FILE *make_fresh(const struct pki_path *path, mode_t mode)
{
    (void)unlink(path->bytes);
    int const handle = open(path->bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    FILE *const file = handle < 0 ? NULL : fdopen(handle, "w");
    if (file == NULL && handle >= 0)
        (void)close(handle);
    return file;
}

/* Closes the file: what was written is on disk, then has its name, or is gone. */
static enum tacit_status finish(FILE *file, bool is_written, const struct pki_path *fresh,
                                const struct pki_path *path, struct tacit_error *error)
{
    TACIT_ASSERT(file != NULL);
    bool is_good = is_written && fflush(file) == 0 && fsync(fileno(file)) == 0;
    is_good = fclose(file) == 0 && is_good;
    if (is_good)
        return put_in_place(fresh, path, error);
    int const code = errno;
    (void)unlink(fresh->bytes);
    return live_refuse(error, TACIT_IO, "cannot write %.1024s: %s", fresh->bytes, strerror(code));
}

static enum tacit_status no_file(const struct pki_path *path, struct tacit_error *error)
{
    return live_refuse(error, TACIT_IO, "cannot make %.1024s: %s", path->bytes, strerror(errno));
}

/* libcrypto's first word about what went wrong. */
static enum tacit_status no_crypto(const char *what, struct tacit_error *error)
{
    unsigned long const code = ERR_peek_error();
    char const *const reason = code == 0 ? NULL : ERR_reason_error_string(code);
    return live_refuse(error, TACIT_IO, "cannot %s: %s", what,
                       reason == NULL ? "libcrypto failed" : reason);
}

/* ---- Keys ---- */

/* What a pair is for: to open the broker's door, or to sign words with. */
struct purpose {
    const char *key_ending;
    const char *fresh_key_ending;
    const char *certificate_ending;
    const char *fresh_certificate_ending;
    bool is_signing;
};

static const struct purpose door = {".key", ".key.new", ".crt", ".crt.new", false};
static const struct purpose words = {PKI_SIGN ".key", PKI_SIGN ".key.new", PKI_SIGN ".crt",
                                     PKI_SIGN ".crt.new", true};

static enum tacit_status make_key(const char *directory, const char *name,
                                  const struct purpose *purpose, struct tacit_error *error)
{
    TACIT_ASSERT(name != NULL);
    struct pki_path const key = pki_path_make(directory, name, purpose->key_ending);
    struct pki_path const fresh = pki_path_make(directory, name, purpose->fresh_key_ending);
    if (pki_path_exists(&key))
        return TACIT_OK;
    EVP_PKEY *const made =
        purpose->is_signing ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519") : EVP_EC_gen("P-256");
    if (made == NULL)
        return no_crypto("make a key", error);
    FILE *const file = make_fresh(&fresh, 0600);
    enum tacit_status const status =
        file == NULL
            ? no_file(&fresh, error)
            : finish(file, PEM_write_PKCS8PrivateKey(file, made, NULL, NULL, 0, NULL, NULL) == 1,
                     &fresh, &key, error);
    EVP_PKEY_free(made);
    return status;
}

/* ---- Certificates ---- */

/* 127 random bits: serial numbers need no file that could be lost, or counted. */
static bool set_serial(X509 *certificate)
{
    uint8_t bytes[SERIAL_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    bytes[0] &= 0x7f;
    BIGNUM *const number = BN_bin2bn(bytes, (int)sizeof bytes, NULL);
    bool const is_set =
        number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return is_set;
}

static bool set_name(X509 *certificate, const char *name)
{
    X509_NAME *const subject = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                      (const unsigned char *)name, -1, -1, 0) == 1;
}

static bool set_dates(X509 *certificate, uint32_t days)
{
    TACIT_ASSERT(days > 0 && days <= LIVE_PKI_DAYS_MAX);
    return X509_gmtime_adj(X509_getm_notBefore(certificate), 0) != NULL &&
           X509_time_adj_ex(X509_getm_notAfter(certificate), (int)days, 0, NULL) != NULL;
}

static bool add_extension(X509 *certificate, X509 *issuer, int which, const char *value)
{
    TACIT_ASSERT(issuer != NULL);
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *const made = X509V3_EXT_conf_nid(NULL, &context, which, value);
    bool const is_added = made != NULL && X509_add_ext(certificate, made, -1) == 1;
    X509_EXTENSION_free(made);
    return is_added;
}

static bool is_numerical(const char *host)
{
    return strchr(host, ':') != NULL || strspn(host, "0123456789.") == strlen(host);
}

static bool add_hosts(X509 *certificate, X509 *issuer, const struct live_pki_config *config)
{
    char bytes[HOSTS_TEXT_BYTES];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_text_add(&text, "DNS:localhost,IP:127.0.0.1");
    for (size_t i = 0; i < config->broker_host_count; i++) {
        tacit_text_add(&text, is_numerical(config->broker_hosts[i]) ? ",IP:" : ",DNS:");
        tacit_text_add(&text, config->broker_hosts[i]);
    }
    return add_extension(certificate, issuer, NID_subject_alt_name, bytes);
}

/* The broker, and daemons that are watched from elsewhere. */
static bool is_server(const char *name)
{
    size_t const size = strlen(LIVE_OBSERVE);
    return strcmp(name, LIVE_BROKER) == 0 ||
           (strncmp(name, LIVE_OBSERVE, size) == 0 && (name[size] == '\0' || name[size] == '-'));
}

/* Who may do what with it. Everything that comes from outside was checked before. */
static bool add_extensions(X509 *certificate, X509 *issuer, const char *name,
                           const struct purpose *purpose, const struct live_pki_config *config)
{
    if (!add_extension(certificate, issuer, NID_subject_key_identifier, "hash"))
        return false;
    if (issuer == certificate)
        return add_extension(certificate, issuer, NID_basic_constraints,
                             "critical,CA:TRUE,pathlen:0") &&
               add_extension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    bool const serves = is_server(name);
    return add_extension(certificate, issuer, NID_authority_key_identifier, "keyid") &&
           add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature") &&
           add_extension(certificate, issuer, NID_ext_key_usage,
                         purpose->is_signing ? "codeSigning"
                         : serves            ? "serverAuth"
                                             : "clientAuth") &&
           (!serves || add_hosts(certificate, issuer, config));
}

/* What a certificate is made of; ca is NULL for the CA itself. */
struct order {
    const char *name;
    const struct purpose *purpose;
    uint32_t days;
    EVP_PKEY *key;
    X509 *ca;
    EVP_PKEY *ca_key;
};

/* The certificate, to be given to X509_free. NULL: libcrypto failed. */
static X509 *sign(const struct order *order, const struct live_pki_config *config)
{
    X509 *const made = X509_new();
    if (made == NULL)
        return NULL;
    X509 *const issuer = order->ca == NULL ? made : order->ca;
    TACIT_ASSERT((order->ca == NULL) == (order->ca_key == NULL));
    bool const is_good =
        X509_set_version(made, X509_VERSION_3) == 1 && set_serial(made) &&
        set_name(made, order->ca == NULL ? "tacit trial CA" : order->name) &&
        X509_set_issuer_name(made, X509_get_subject_name(issuer)) == 1 &&
        set_dates(made, order->days) && X509_set_pubkey(made, order->key) == 1 &&
        add_extensions(made, issuer, order->name, order->purpose, config) &&
        X509_sign(made, order->ca == NULL ? order->key : order->ca_key, EVP_sha256()) > 0;
    if (is_good)
        return made;
    X509_free(made);
    return NULL;
}

static enum tacit_status write_certificate(const struct order *order,
                                           const struct live_pki_config *config,
                                           struct tacit_error *error)
{
    struct pki_path const path =
        pki_path_make(config->directory, order->name, order->purpose->certificate_ending);
    struct pki_path const fresh =
        pki_path_make(config->directory, order->name, order->purpose->fresh_certificate_ending);
    X509 *const made = sign(order, config);
    if (made == NULL)
        return no_crypto("make a certificate", error);
    FILE *const file = make_fresh(&fresh, 0644);
    enum tacit_status const status =
        file == NULL ? no_file(&fresh, error)
                     : finish(file, PEM_write_X509(file, made) == 1, &fresh, &path, error);
    X509_free(made);
    return status;
}

/* Unless it is there. The keys, and the CA, of the order are read here. */
static enum tacit_status make_certificate(const struct live_pki_config *config, struct order order,
                                          struct tacit_error *error)
{
    TACIT_ASSERT(order.days > 0);
    struct pki_path const key =
        pki_path_make(config->directory, order.name, order.purpose->key_ending);
    struct pki_path const certificate =
        pki_path_make(config->directory, order.name, order.purpose->certificate_ending);
    if (pki_path_exists(&certificate))
        return TACIT_OK;
    enum tacit_status status = pki_read_key(key.bytes, &order.key, error);
    if (status == TACIT_OK && strcmp(order.name, PKI_CA_NAME) != 0)
        status = pki_read_authority(config->directory, &order.ca, &order.ca_key, error);
    if (status == TACIT_OK)
        status = write_certificate(&order, config, error);
    EVP_PKEY_free(order.key);
    EVP_PKEY_free(order.ca_key);
    X509_free(order.ca);
    ERR_clear_error();
    return status;
}

/* ---- Checks ---- */

static enum tacit_status check_host(const char *host, struct tacit_error *error)
{
    size_t const size = strnlen(host, HOST_BYTES_MAX + 1);
    if (size == 0 || size > HOST_BYTES_MAX ||
        strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.:") != size)
        return live_refuse(error, TACIT_INVALID, "\"%.80s\" is no host name and no address", host);
    return TACIT_OK;
}

static enum tacit_status check(const struct live_pki_config *config, struct tacit_error *error)
{
    TACIT_TRY(pki_check_directory(config->directory, error));
    if (config->days == 0 || config->days > LIVE_PKI_DAYS_MAX)
        return live_refuse(error, TACIT_INVALID, "a certificate holds for 1 to %u days, not %u",
                           LIVE_PKI_DAYS_MAX, config->days);
    if (config->broker_host_count > HOSTS_MAX)
        return live_refuse(error, TACIT_INVALID, "a broker has at most %u names", HOSTS_MAX);
    for (size_t i = 0; i < config->name_count; i++)
        TACIT_TRY(pki_check_name(config->names[i], error));
    for (size_t i = 0; i < config->broker_host_count; i++)
        TACIT_TRY(check_host(config->broker_hosts[i], error));
    return TACIT_OK;
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

/* What is there stays. A certificate without its key is refused: a new key would not fit it. */
static enum tacit_status make_pair(const struct live_pki_config *config, const char *name,
                                   uint32_t days, const struct purpose *purpose,
                                   struct tacit_error *error)
{
    struct pki_path const key = pki_path_make(config->directory, name, purpose->key_ending);
    struct pki_path const certificate =
        pki_path_make(config->directory, name, purpose->certificate_ending);
    if (pki_path_exists(&certificate) && !pki_path_exists(&key))
        return live_refuse(error, TACIT_INVALID, "%.1024s is missing, but %.512s%s is there",
                           key.bytes, name, purpose->certificate_ending);
    struct order const order = {.name = name, .purpose = purpose, .days = days};
    TACIT_TRY(make_key(config->directory, name, purpose, error));
    return make_certificate(config, order, error);
}

/* Who only serves says nothing of its own. */
static enum tacit_status make_pairs(const struct live_pki_config *config, const char *name,
                                    struct tacit_error *error)
{
    TACIT_TRY(make_pair(config, name, config->days, &door, error));
    return is_server(name) ? TACIT_OK : make_pair(config, name, config->days, &words, error);
}

enum tacit_status live_pki_make(const struct live_pki_config *config, struct tacit_error *error)
{
    TACIT_ASSERT(config != NULL && error != NULL);
    TACIT_TRY(check(config, error));
    TACIT_TRY(make_directory(config->directory, error));
    /* It must outlive the sites that come later. */
    TACIT_TRY(make_pair(config, PKI_CA_NAME, LIVE_PKI_DAYS_MAX, &door, error));
    for (size_t i = 0; i < config->name_count; i++)
        TACIT_TRY(make_pairs(config, config->names[i], error));
    struct pki_path const list = pki_path_make(config->directory, PKI_CA_NAME, ".crl");
    if (pki_path_exists(&list))
        return TACIT_OK;
    return live_pki_revoke(config->directory, NULL, 0, error); /* the broker reads it at once */
}

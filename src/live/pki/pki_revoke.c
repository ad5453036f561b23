/* The list of revoked certificates, ca.crl, which the broker reads. The list itself is all there is
 * to remember: a certificate is revoked if and only if its serial number stands there. */
#include "../daemon/names.h"
#include "pki.h"
#include "pki_files.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define CRL_VERSION_2 1

struct authority {
    const char *directory;
    struct pki_path list_file;
    int lock; /* on the directory; -1: none */
    X509 *ca;
    EVP_PKEY *key;
    X509_CRL *list;
};

/* ---- Opening ---- */

static X509_CRL *new_list(const struct authority *authority)
{
    X509_CRL *const list = X509_CRL_new();
    if (list != NULL && X509_CRL_set_version(list, CRL_VERSION_2) == 1 &&
        X509_CRL_set_issuer_name(list, X509_get_subject_name(authority->ca)) == 1)
        return list;
    X509_CRL_free(list);
    return NULL;
}

/* The list that is there, or a new one. */
static enum tacit_status open_list(struct authority *authority, struct tacit_error *error)
{
    bool const is_there = pki_path_exists(&authority->list_file);
    authority->list =
        is_there ? pki_read_list(authority->list_file.bytes, authority->key) : new_list(authority);
    if (authority->list != NULL)
        return TACIT_OK;
    if (!is_there)
        return live_refuse(error, TACIT_MEMORY, "out of memory");
    return live_refuse(error, TACIT_INVALID,
                       "%.1024s is no list of this CA: put the right one back",
                       authority->list_file.bytes);
}

/* From here on nobody else changes the list: who read it before and wrote it after us would take
 * our entries off it, and their certificates are gone by then. Waits. Where a file system knows no
 * such lock, revocations have to come one after the other. */
static void lock_list(struct authority *authority)
{
    TACIT_ASSERT(authority->lock < 0);
    authority->lock = open(authority->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (authority->lock >= 0)
        (void)flock(authority->lock, LOCK_EX);
}

static enum tacit_status open_authority(struct authority *authority, struct tacit_error *error)
{
    lock_list(authority);
    authority->list_file = pki_path_make(authority->directory, PKI_CA_NAME, ".crl");
    TACIT_TRY(pki_read_authority(authority->directory, &authority->ca, &authority->key, error));
    return open_list(authority, error);
}

static void close_authority(struct authority *authority)
{
    X509_CRL_free(authority->list);
    EVP_PKEY_free(authority->key);
    X509_free(authority->ca);
    if (authority->lock >= 0)
        (void)close(authority->lock);
    ERR_clear_error();
}

/* ---- Changing the list ---- */

/* A certificate that stands there already, because a run broke off, is no error. */
static bool add_to_list(X509_CRL *list, X509 *certificate)
{
    TACIT_ASSERT(list != NULL && certificate != NULL);
    X509_REVOKED *found;
    ASN1_INTEGER *const serial = X509_get_serialNumber(certificate);
    if (X509_CRL_get0_by_serial(list, &found, serial) == 1)
        return true;
    X509_REVOKED *const entry = X509_REVOKED_new();
    ASN1_TIME *const now = ASN1_TIME_set(NULL, time(NULL));
    bool const is_added =
        entry != NULL && now != NULL && X509_REVOKED_set_serialNumber(entry, serial) == 1 &&
        X509_REVOKED_set_revocationDate(entry, now) == 1 && X509_CRL_add0_revoked(list, entry) == 1;
    if (!is_added)
        X509_REVOKED_free(entry);
    ASN1_TIME_free(now);
    return is_added;
}

static enum tacit_status revoke_file(struct authority *authority, const char *name,
                                     const char *ending, struct tacit_error *error)
{
    struct pki_path const file = pki_path_make(authority->directory, name, ending);
    X509 *certificate;
    enum tacit_status status = pki_load_certificate(file.bytes, &certificate, error);
    if (status == TACIT_OK && !pki_is_signed_by(certificate, authority->ca))
        status = live_refuse(error, TACIT_INVALID, "%.1024s is not signed by this CA", file.bytes);
    else if (status == TACIT_OK && !add_to_list(authority->list, certificate))
        status = live_refuse(error, TACIT_MEMORY, "out of memory");
    X509_free(certificate);
    return status;
}

/* Both certificates of a name; one for signing need not be there. */
static enum tacit_status revoke_one(struct authority *authority, const char *name,
                                    struct tacit_error *error)
{
    struct pki_path const words = pki_path_make(authority->directory, name, PKI_SIGN ".crt");
    TACIT_TRY(revoke_file(authority, name, ".crt", error));
    return pki_path_exists(&words) ? revoke_file(authority, name, PKI_SIGN ".crt", error)
                                   : TACIT_OK;
}

/* Good for as long as the CA: a list that ran out would shut everybody out. */
static bool sign(struct authority *authority)
{
    ASN1_TIME *const now = ASN1_TIME_set(NULL, time(NULL));
    bool const is_signed =
        now != NULL && X509_CRL_set1_lastUpdate(authority->list, now) == 1 &&
        X509_CRL_set1_nextUpdate(authority->list, X509_get0_notAfter(authority->ca)) == 1 &&
        X509_CRL_sort(authority->list) == 1 &&
        X509_CRL_sign(authority->list, authority->key, EVP_sha256()) > 0;
    ASN1_TIME_free(now);
    return is_signed;
}

static enum tacit_status write_list(struct authority *authority, struct tacit_error *error)
{
    struct pki_path const fresh = pki_path_make(authority->directory, PKI_CA_NAME, ".crl.new");
    if (!sign(authority))
        return live_refuse(error, TACIT_IO, "the list %.1024s cannot be signed",
                           authority->list_file.bytes);
    FILE *const file = fopen(fresh.bytes, "we");
    bool is_written = file != NULL && PEM_write_X509_CRL(file, authority->list) == 1 &&
                      fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != NULL)
        is_written = fclose(file) == 0 && is_written;
    if (is_written && rename(fresh.bytes, authority->list_file.bytes) == 0)
        return TACIT_OK;
    int const code = errno;
    (void)unlink(fresh.bytes);
    return live_refuse(error, TACIT_IO, "cannot write %.1024s: %s", authority->list_file.bytes,
                       strerror(code));
}

/* What is worthless now goes, the certificate that was named last: with it still there, a second
 * try can be made. */
static enum tacit_status drop_pair(const char *directory, const char *name,
                                   struct tacit_error *error)
{
    static const char *const endings[] = {".key", PKI_SIGN ".key", PKI_SIGN ".crt", ".crt"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        struct pki_path const path = pki_path_make(directory, name, endings[i]);
        if (unlink(path.bytes) != 0 && errno != ENOENT)
            return live_refuse(error, TACIT_IO, "%.64s is revoked, but %.1024s stays: %s", name,
                               path.bytes, strerror(errno));
    }
    return TACIT_OK;
}

/* ---- Public ---- */

static enum tacit_status check_names(const char *const *names, size_t name_count,
                                     struct tacit_error *error)
{
    for (size_t i = 0; i < name_count; i++) {
        TACIT_TRY(pki_check_name(names[i], error));
        if (strcmp(names[i], LIVE_BROKER) == 0)
            return live_refuse(error, TACIT_INVALID,
                               "the broker's certificate cannot be revoked, because only the "
                               "broker reads the list: make a new CA");
    }
    return TACIT_OK;
}

/* The list has them, is on disk, and what they were good for is gone. */
static enum tacit_status revoke_all(struct authority *authority, const char *const *names,
                                    size_t name_count, struct tacit_error *error)
{
    TACIT_TRY(open_authority(authority, error));
    for (size_t i = 0; i < name_count; i++)
        TACIT_TRY(revoke_one(authority, names[i], error));
    TACIT_TRY(write_list(authority, error));
    for (size_t i = 0; i < name_count; i++)
        TACIT_TRY(drop_pair(authority->directory, names[i], error));
    return TACIT_OK;
}

enum tacit_status live_pki_revoke(const char *directory, const char *const *names,
                                  size_t name_count, struct tacit_error *error)
{
    TACIT_ASSERT(names != NULL || name_count == 0);
    struct authority authority = {.directory = directory, .lock = -1};
    TACIT_TRY(pki_check_directory(directory, error));
    TACIT_TRY(check_names(names, name_count, error));
    enum tacit_status const status = revoke_all(&authority, names, name_count, error);
    close_authority(&authority);
    return status;
}

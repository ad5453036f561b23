/* Paths, names, and what is read from files. */
#include "pki_files.h"
#include "../daemon/names.h"
#include "../daemon/private.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PASSWORD_BYTES 1024

struct pki_path pki_path_make(const char *directory, const char *name, const char *ending)
{
    TACIT_ASSERT(directory != NULL && name != NULL);
    struct pki_path path;
    (void)snprintf(path.bytes, sizeof path.bytes, "%s/%s%s", directory, name, ending);
    return path;
}

bool pki_path_exists(const struct pki_path *path)
{
    struct stat status;
    return lstat(path->bytes, &status) == 0;
}

enum tacit_status pki_check_directory(const char *directory, struct tacit_error *error)
{
    size_t const size = strnlen(directory, PKI_DIRECTORY_BYTES);
    if (size == 0 || size == PKI_DIRECTORY_BYTES)
        return live_refuse(error, TACIT_INVALID, "the directory's path is empty or too long");
    return TACIT_OK;
}

enum tacit_status pki_check_name(const char *name, struct tacit_error *error)
{
    if (!live_name_is_allowed(name) || strcmp(name, PKI_CA_NAME) == 0)
        return live_refuse(
            error, TACIT_INVALID,
            "the name \"%.80s\" is not allowed: 1 to 64 of A-Z a-z 0-9 _ -, and not " PKI_CA_NAME,
            name);
    return TACIT_OK;
}

/* An encrypted key would make OpenSSL ask at the terminal; a daemon has none. context: a password,
 * or NULL. */
static int copy_password(char *bytes, int size, int is_for_writing, void *context)
{
    size_t const length = context == NULL ? 0 : strlen(context);
    (void)is_for_writing;
    if (length > (size_t)size)
        return 0;
    if (length > 0)
        memcpy(bytes, context, length);
    return (int)length;
}

X509 *pki_read_certificate(const char *path)
{
    FILE *const file = fopen(path, "re");
    X509 *const certificate = file == NULL ? NULL : PEM_read_X509(file, NULL, copy_password, NULL);
    if (file != NULL)
        (void)fclose(file);
    return certificate;
}

enum tacit_status pki_load_certificate(const char *path, X509 **certificate,
                                       struct tacit_error *error)
{
    *certificate = pki_read_certificate(path);
    return *certificate != NULL
               ? TACIT_OK
               : live_refuse(error, TACIT_INVALID, "cannot read a certificate from %.1024s", path);
}

enum tacit_status pki_read_authority(const char *directory, X509 **ca, EVP_PKEY **key,
                                     struct tacit_error *error)
{
    struct pki_path const ca_file = pki_path_make(directory, PKI_CA_NAME, ".crt");
    struct pki_path const key_file = pki_path_make(directory, PKI_CA_NAME, ".key");
    TACIT_TRY(pki_load_certificate(ca_file.bytes, ca, error));
    return pki_read_key(key_file.bytes, key, error);
}

X509_CRL *pki_read_list(const char *path, EVP_PKEY *key)
{
    FILE *const file = fopen(path, "re");
    X509_CRL *const list = file == NULL ? NULL : PEM_read_X509_CRL(file, NULL, NULL, NULL);
    if (file != NULL)
        (void)fclose(file);
    if (list != NULL && X509_CRL_verify(list, key) == 1)
        return list;
    X509_CRL_free(list);
    return NULL;
}

/* Opens a file that nobody else can read. what: it is, for texts. */
static enum tacit_status open_closed(const char *path, const char *what, FILE **file,
                                     struct tacit_error *error)
{
    struct stat status;
    *file = fopen(path, "re");
    if (*file == NULL)
        return live_refuse(error, TACIT_INVALID, "cannot read the %s %.1024s: %s", what, path,
                           strerror(errno));
    if (fstat(fileno(*file), &status) == 0 && live_private_is_closed(&status))
        return TACIT_OK;
    (void)fclose(*file);
    return live_refuse(error, TACIT_INVALID,
                       "the %s %.1024s is open to others: chmod 600, or make a new one", what,
                       path);
}

static enum tacit_status read_password(const char *path, char password[PASSWORD_BYTES],
                                       struct tacit_error *error)
{
    FILE *file = NULL;
    TACIT_TRY(open_closed(path, "password", &file, error));
    setvbuf(file, NULL, _IONBF, 0);
    bool const is_read = fgets(password, PASSWORD_BYTES, file) != NULL;
    (void)fclose(file);
    password[is_read ? strcspn(password, "\n") : 0] = '\0';
    return password[0] != '\0' ? TACIT_OK
                               : live_refuse(error, TACIT_INVALID,
                                             "%.1024s has no password in its first line", path);
}

enum tacit_status pki_read_locked_key(const char *path, const char *password_file, EVP_PKEY **key,
                                      struct tacit_error *error)
{
    TACIT_ASSERT(key != NULL);
    char password[PASSWORD_BYTES] = "";
    FILE *file = NULL;
    enum tacit_status status = open_closed(path, "key", &file, error);
    if (status != TACIT_OK)
        return status;
    if (password_file != NULL)
        status = read_password(password_file, password, error);
    *key = status == TACIT_OK ? PEM_read_PrivateKey(file, NULL, copy_password, password) : NULL;
    OPENSSL_cleanse(password, sizeof password);
    (void)fclose(file);
    if (status == TACIT_OK && *key == NULL)
        return live_refuse(error, TACIT_INVALID, "%.1024s is no private key, or an encrypted one%s",
                           path, password_file == NULL ? "" : " with another password");
    return status;
}

enum tacit_status pki_read_key(const char *path, EVP_PKEY **key, struct tacit_error *error)
{
    return pki_read_locked_key(path, NULL, key, error);
}

bool pki_is_made_out_to(X509 *certificate, const char *name)
{
    char found[LIVE_NAME_BYTES_MAX + 2];
    int const size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                               found, (int)sizeof found);
    return size >= 0 && (size_t)size == strlen(name) && memcmp(found, name, (size_t)size) == 0;
}

bool pki_is_signed_by(X509 *certificate, X509 *ca)
{
    EVP_PKEY *const key = X509_get0_pubkey(ca);
    return key != NULL && X509_verify(certificate, key) == 1;
}

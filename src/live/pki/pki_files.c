/* Paths, names, and what is read from files. */
#include "pki_files.h"
#include "../daemon/names.h"
#include "../daemon/private.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
    TACIT_ASSERT(key != NULL);
    struct stat status;
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return live_refuse(error, TACIT_INVALID, "cannot read the key %.1024s: %s", path,
                           strerror(errno));
    bool const is_private = fstat(fileno(file), &status) == 0 && live_private_is_closed(&status);
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

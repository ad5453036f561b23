/* The files of the PKI: their names, and how they are read. */
#ifndef TACIT_LIVE_PKI_FILES_H
#define TACIT_LIVE_PKI_FILES_H
#include "tacit/base.h"
#include <openssl/x509.h>

#define PKI_CA_NAME "ca"
#define PKI_SIGN ".sign" /* before the ending, of the pair that signs words */
#define PKI_DIRECTORY_BYTES 4096u

struct pki_path {
    char bytes[PKI_DIRECTORY_BYTES + 128];
};

/* directory/name + ending. The directory was checked, the name is short. */
struct pki_path pki_path_make(const char *directory, const char *name, const char *ending);
bool pki_path_exists(const struct pki_path *path);

/* Errors: TACIT_INVALID, with error->text. */
enum tacit_status pki_check_directory(const char *directory, struct tacit_error *error);
enum tacit_status pki_check_name(const char *name, struct tacit_error *error);

/* NULL: there is none that can be read. Give it to X509_free. */
X509 *pki_read_certificate(const char *path);
/* The same; *certificate is to be given to X509_free, after errors too. Errors: TACIT_INVALID, with
 * error->text. */
enum tacit_status pki_load_certificate(const char *path, X509 **certificate,
                                       struct tacit_error *error);
/* Certificate and key of the CA in a directory; both are to be freed, after errors too. Errors:
 * TACIT_INVALID, with error->text. */
enum tacit_status pki_read_authority(const char *directory, X509 **ca, EVP_PKEY **key,
                                     struct tacit_error *error);

/* The list of revoked certificates that is signed with `key`; NULL: there is none. */
X509_CRL *pki_read_list(const char *path, EVP_PKEY *key);

/* Closed (live_private_is_closed), and not encrypted. Errors: TACIT_INVALID, with error->text; else
 * give *key to EVP_PKEY_free. */
enum tacit_status pki_read_key(const char *path, EVP_PKEY **key, struct tacit_error *error);
/* Likewise; encrypted, or not, with the password that is the first line of a closed file (NULL:
 * there is none). */
enum tacit_status pki_read_locked_key(const char *path, const char *password_file, EVP_PKEY **key,
                                      struct tacit_error *error);
/* The name as the broker reads it: the first common name. */
bool pki_is_made_out_to(X509 *certificate, const char *name);
bool pki_is_signed_by(X509 *certificate, X509 *ca);
#endif

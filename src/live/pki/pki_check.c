/* Do these files prove who we are? */
#include "../daemon/refusal.h"
#include "pki.h"
#include "pki_files.h"
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

#define EXPIRY_DAYS 30

static enum tacit_status check_pair(X509 *certificate, const char *certificate_file,
                                    const char *key_file, const char *name,
                                    struct tacit_error *error)
{
    EVP_PKEY *key = NULL;
    enum tacit_status status = pki_read_key(key_file, &key, error);
    if (status == TACIT_OK && X509_check_private_key(certificate, key) != 1)
        status = live_refuse(error, TACIT_INVALID, "the key %.512s does not belong to %.512s",
                             key_file, certificate_file);
    if (status == TACIT_OK && !pki_is_made_out_to(certificate, name))
        status =
            live_refuse(error, TACIT_INVALID, "the certificate %.1024s is not made out to %.64s",
                        certificate_file, name);
    EVP_PKEY_free(key);
    return status;
}

enum tacit_status live_pki_check(const char *ca_file, const char *certificate_file,
                                 const char *key_file, const char *name, struct tacit_error *error)
{
    TACIT_ASSERT(name != NULL && error != NULL);
    X509 *ca;
    X509 *certificate = NULL;
    enum tacit_status status = pki_load_certificate(ca_file, &ca, error);
    if (status == TACIT_OK)
        status = pki_load_certificate(certificate_file, &certificate, error);
    if (status == TACIT_OK)
        status = check_pair(certificate, certificate_file, key_file, name, error);
    X509_free(ca);
    X509_free(certificate);
    ERR_clear_error();
    return status;
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
        doubt = LIVE_PKI_EARLY;
    else if (ca != NULL && !pki_is_signed_by(certificate, ca))
        doubt = "our CA is not the CA of our certificate";
    X509_free(ca);
    X509_free(certificate);
    ERR_clear_error();
    return doubt;
}

bool live_pki_is_early(const char *certificate_file)
{
    X509 *const certificate = pki_read_certificate(certificate_file);
    bool const is_early =
        certificate != NULL && X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0;
    X509_free(certificate);
    ERR_clear_error();
    return is_early;
}

const char *live_pki_expiry(const char *certificate_file)
{
    static char words[128];
    int days = 0;
    int seconds = 0;
    X509 *const certificate = pki_read_certificate(certificate_file);
    ASN1_TIME const *const end = certificate == NULL ? NULL : X509_get0_notAfter(certificate);
    bool const is_known = end != NULL && ASN1_TIME_diff(&days, &seconds, NULL, end) == 1;
    bool const is_over = days < 0 || seconds < 0;
    if (is_known && is_over)
        (void)snprintf(words, sizeof words, "the certificate has expired: the broker refuses it");
    else
        (void)snprintf(words, sizeof words, "the certificate ends in %d days", days);
    X509_free(certificate);
    ERR_clear_error();
    return is_known && (is_over || days < EXPIRY_DAYS) ? words : NULL;
}

/* The keys of those who are heard. A certificate counts if the CA made it for this name and for
 * signing, it is not out of date, and it is not on the CA's list of revoked ones, where there is
 * such a list beside the CA's certificate. Of two of one name the one that begins later counts: so
 * a broker cannot bring an old one back once the new one was seen. */
#include "pki_files.h"
#include "signing.h"
#include "signing_form.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct known {
    char *name;
    X509 *certificate;
    uint8_t key[32]; /* of the certificate */
};

struct live_keys {
    char ca_file[PKI_DIRECTORY_BYTES];
    X509 *ca;
    X509_CRL *list; /* NULL: there is none */
    uint32_t count_max;
    uint32_t count;
    struct known *known; /* in the order of their names */
};

/* ---- The authority ---- */

/* "ca.crt" has "ca.crl" beside it. False: there is no such list. */
static bool list_path(const char *ca_file, char path[PKI_DIRECTORY_BYTES])
{
    size_t const size = strlen(ca_file);
    if (size < 4 || strcmp(ca_file + size - 4, ".crt") != 0)
        return false;
    (void)snprintf(path, PKI_DIRECTORY_BYTES, "%.*s.crl", (int)(size - 4), ca_file);
    return access(path, F_OK) == 0 || errno != ENOENT;
}

/* Only a list of this CA. Errors: false: there is a file, but no such list in it. */
static bool read_list(const char *ca_file, X509 *ca, X509_CRL **list)
{
    char path[PKI_DIRECTORY_BYTES];
    *list = NULL;
    if (!list_path(ca_file, path))
        return true;
    *list = pki_read_list(path, X509_get0_pubkey(ca));
    return *list != NULL;
}

/* CA and list, in place of those of before. Errors: false: those stay. */
static bool read_authority(struct live_keys *keys)
{
    X509_CRL *list = NULL;
    X509 *const ca = pki_read_certificate(keys->ca_file);
    if (ca == NULL || X509_get0_pubkey(ca) == NULL || !read_list(keys->ca_file, ca, &list)) {
        X509_free(ca);
        ERR_clear_error();
        return false;
    }
    X509_free(keys->ca);
    X509_CRL_free(keys->list);
    keys->ca = ca;
    keys->list = list;
    return true;
}

enum tacit_status live_keys_new(struct live_keys **keys, const char *ca_file, uint32_t count_max,
                                struct tacit_error *error)
{
    TACIT_ASSERT(ca_file != NULL && count_max > 0);
    struct live_keys *const made = calloc(1, sizeof *made);
    if (made == NULL || strlen(ca_file) >= sizeof made->ca_file) {
        free(made);
        return live_refuse(error, TACIT_MEMORY, "out of memory");
    }
    memcpy(made->ca_file, ca_file, strlen(ca_file) + 1);
    made->count_max = count_max;
    if (!read_authority(made)) {
        free(made);
        return live_refuse(error, TACIT_INVALID,
                           "cannot read the CA %.900s, or its list of revoked certificates beside "
                           "it",
                           ca_file);
    }
    *keys = made;
    return TACIT_OK;
}

static void forget(struct known *known)
{
    free(known->name);
    X509_free(known->certificate);
    *known = (struct known){0};
}

void live_keys_free(struct live_keys *keys)
{
    if (keys == NULL)
        return;
    for (uint32_t i = 0; i < keys->count; i++)
        forget(&keys->known[i]);
    free(keys->known);
    X509_free(keys->ca);
    X509_CRL_free(keys->list);
    free(keys);
}

/* ---- What counts ---- */

/* NULL: nothing is against it, today. */
static const char *doubt(const struct live_keys *keys, X509 *certificate)
{
    X509_REVOKED *revoked;
    if (!pki_is_signed_by(certificate, keys->ca))
        return "its certificate for signing is not of our CA";
    if (keys->list != NULL &&
        X509_CRL_get0_by_serial(keys->list, &revoked, X509_get_serialNumber(certificate)) == 1)
        return "its certificate for signing is revoked";
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
        return "its certificate for signing has expired";
    if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
        return "its certificate for signing is not valid yet, or the clock is wrong";
    return NULL;
}

/* Where the name stands, or ought to stand. */
static uint32_t index_of(const struct live_keys *keys, const char *name)
{
    uint32_t low = 0;
    uint32_t high = keys->count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (strcmp(keys->known[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct known *find(const struct live_keys *keys, const char *name)
{
    uint32_t const place = index_of(keys, name);
    bool const is_there = place < keys->count && strcmp(keys->known[place].name, name) == 0;
    return is_there ? &keys->known[place] : NULL;
}

bool live_keys_refresh(struct live_keys *keys)
{
    if (!read_authority(keys))
        return false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < keys->count; i++) {
        if (doubt(keys, keys->known[i].certificate) != NULL)
            forget(&keys->known[i]);
        else
            keys->known[kept++] = keys->known[i];
    }
    keys->count = kept;
    ERR_clear_error();
    return true;
}

/* By when they begin to be valid; true also where that cannot be compared. */
static bool is_older(X509 *certificate, X509 *than)
{
    int days = 0;
    int seconds = 0;
    return ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(than),
                          X509_get0_notBefore(certificate)) != 1 ||
           days < 0 || seconds < 0;
}

static const char *objection_to(const struct live_keys *keys, const char *name, X509 *certificate)
{
    struct known const *const known = find(keys, name);
    if (!pki_is_made_out_to(certificate, name))
        return "its certificate for signing is made out to another name";
    if (!signing_is_for_messages(certificate))
        return "its certificate is not for signing";
    char const *const why = doubt(keys, certificate);
    if (why != NULL)
        return why;
    if (known != NULL && is_older(certificate, known->certificate))
        return "its certificate for signing is older than the one that is known";
    return NULL;
}

/* ---- Taking ---- */

/* Room for a new name in its place. NULL: count_max names are there, or out of memory. */
static struct known *insert(struct live_keys *keys, const char *name)
{
    if (keys->count == keys->count_max)
        return NULL;
    char *const copy = strdup(name);
    struct known *const grown =
        copy == NULL ? NULL : realloc(keys->known, (keys->count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(copy);
        return NULL;
    }
    keys->known = grown;
    uint32_t const place = index_of(keys, name);
    memmove(&grown[place + 1], &grown[place], (keys->count - place) * sizeof *grown);
    keys->count++;
    grown[place] = (struct known){.name = copy};
    return &grown[place];
}

/* Takes the certificate over. NULL, or why its key is not kept. */
static const char *remember(struct live_keys *keys, const char *name, X509 *certificate)
{
    struct known *known = find(keys, name);
    uint8_t key[32];
    bool const is_key = signing_public(X509_get0_pubkey(certificate), key);
    if (known == NULL && is_key)
        known = insert(keys, name);
    if (known == NULL || !is_key) {
        X509_free(certificate);
        return "there is no room for its key";
    }
    X509_free(known->certificate);
    known->certificate = certificate;
    memcpy(known->key, key, sizeof key);
    return NULL;
}

const char *live_keys_add(struct live_keys *keys, const char *name, const uint8_t *bytes,
                          size_t size)
{
    TACIT_ASSERT(name != NULL);
    const uint8_t *end = bytes;
    if (size == 0 || size > LIVE_CERTIFICATE_BYTES_MAX)
        return "what it shows for signing is no certificate";
    X509 *const certificate = d2i_X509(NULL, &end, (long)size);
    struct known const *const known = find(keys, name);
    char const *why = NULL;
    if (certificate == NULL || end != bytes + size)
        why = "what it shows for signing is no certificate";
    else if (known != NULL && X509_cmp(known->certificate, certificate) == 0)
        ERR_clear_error();
    else {
        why = objection_to(keys, name, certificate);
        if (why == NULL) {
            ERR_clear_error();
            return remember(keys, name, certificate);
        }
    }
    X509_free(certificate);
    ERR_clear_error();
    return why;
}

bool live_keys_know(const struct live_keys *keys, const char *name)
{
    return find(keys, name) != NULL;
}

bool live_keys_public(const struct live_keys *keys, const char *name, uint8_t key[32])
{
    struct known const *const known = find(keys, name);
    if (known != NULL)
        memcpy(key, known->key, sizeof known->key);
    return known != NULL;
}

bool live_keys_check(const struct live_keys *keys, const char *name, const char *topic,
                     const uint8_t *bytes, size_t size,
                     const uint8_t signature[LIVE_SIGNATURE_BYTES])
{
    struct known const *const known = find(keys, name);
    return known != NULL && live_key_check(known->key, topic, bytes, size, signature);
}

/* What signer and listener must see alike. */
#ifndef TACIT_LIVE_SIGNING_FORM_H
#define TACIT_LIVE_SIGNING_FORM_H
#include "tacit/base.h"
#include <openssl/x509.h>

/* An Ed25519 key, with the extended key usage codeSigning: such a certificate opens no broker. */
bool signing_is_for_messages(X509 *certificate);
/* 32 bytes of an Ed25519 key. */
bool signing_public(const EVP_PKEY *key, uint8_t bytes[32]);
#endif

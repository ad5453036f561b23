/* AES-128, one block. */
#include "ids.h"
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct live_ids {
    EVP_CIPHER_CTX *encrypt;
    EVP_CIPHER_CTX *decrypt;
};

struct live_ids *live_ids_new(const uint8_t key[LIVE_STORE_ID_KEY_BYTES])
{
    const EVP_CIPHER *const cipher = EVP_aes_128_ecb();
    struct live_ids *const ids = calloc(1, sizeof *ids);
    if (ids == NULL)
        return NULL;
    ids->encrypt = EVP_CIPHER_CTX_new();
    ids->decrypt = EVP_CIPHER_CTX_new();
    if (ids->encrypt != NULL && ids->decrypt != NULL &&
        EVP_EncryptInit_ex(ids->encrypt, cipher, NULL, key, NULL) == 1 &&
        EVP_DecryptInit_ex(ids->decrypt, cipher, NULL, key, NULL) == 1 &&
        EVP_CIPHER_CTX_set_padding(ids->encrypt, 0) == 1 &&
        EVP_CIPHER_CTX_set_padding(ids->decrypt, 0) == 1)
        return ids;
    live_ids_free(ids);
    return NULL;
}

void live_ids_free(struct live_ids *ids)
{
    if (ids == NULL)
        return;
    EVP_CIPHER_CTX_free(ids->encrypt);
    EVP_CIPHER_CTX_free(ids->decrypt);
    free(ids);
}

/* The bytes of a state stay on the kind of machine that made them, and so do its ids. */
void live_ids_encrypt(struct live_ids *ids, struct live_decision_id id,
                      uint8_t block[LIVE_ID_BYTES])
{
    uint64_t const words[2] = {id.number, id.salt};
    int size = 0;
    int const is_done =
        EVP_EncryptUpdate(ids->encrypt, block, &size, (const void *)words, sizeof words);
    TACIT_ASSERT(is_done == 1 && size == (int)LIVE_ID_BYTES);
}

struct live_decision_id live_ids_decrypt(struct live_ids *ids, const uint8_t block[LIVE_ID_BYTES])
{
    uint64_t words[2];
    int size = 0;
    int const is_done = EVP_DecryptUpdate(ids->decrypt, (void *)words, &size, block, LIVE_ID_BYTES);
    TACIT_ASSERT(is_done == 1 && size == (int)LIVE_ID_BYTES);
    return (struct live_decision_id){.number = words[0], .salt = words[1]};
}

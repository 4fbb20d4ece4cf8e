#include "CSoak.h"

#include <openssl/evp.h>

void *digest_begin(void) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    return context;
}

void digest_add(void *digest, const void *bytes, size_t count) { EVP_DigestUpdate(digest, bytes, count); }

void digest_end(void *digest, unsigned char *bytes) {
    EVP_DigestFinal_ex(digest, bytes, NULL);
    EVP_MD_CTX_free(digest);
}

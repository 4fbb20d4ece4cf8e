// What Swift cannot import of OpenSSL's headers: function-like macros and casts between function pointers.
#ifndef LINNET_COPENSSL_SHIM_H
#define LINNET_COPENSSL_SHIM_H

#include <openssl/opensslv.h>

// SSL_set_retry_verify, on which judging a chain off the event loop rests, came with 3.0.2.
#if OPENSSL_VERSION_NUMBER < 0x30000020L
#error "Linnet needs OpenSSL 3.0.2 or newer: install a current libssl-dev (Debian 12, Ubuntu 22.04 or later)"
#endif

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <string.h>

// Lowest run-time version, for the check at start-up (a newer header can meet an older shared library).
static const unsigned long LINNET_OPENSSL_MINIMUM = 0x30000020L;

// MARK: SSL

static inline long linnet_SSL_CTX_set_min_proto_version(SSL_CTX *ctx, int version) {
    return SSL_CTX_set_min_proto_version(ctx, version);
}
static inline long linnet_SSL_CTX_set_max_proto_version(SSL_CTX *ctx, int version) {
    return SSL_CTX_set_max_proto_version(ctx, version);
}
static inline long linnet_SSL_CTX_set_session_cache_mode(SSL_CTX *ctx, long mode) {
    return SSL_CTX_set_session_cache_mode(ctx, mode);
}
static inline long linnet_SSL_CTX_add1_chain_cert(SSL_CTX *ctx, X509 *cert) {
    return SSL_CTX_add1_chain_cert(ctx, cert);
}
static inline long linnet_SSL_CTX_set1_groups_list(SSL_CTX *ctx, const char *list) {
    return SSL_CTX_set1_groups_list(ctx, (char *)list);
}
static inline long linnet_SSL_CTX_set1_sigalgs_list(SSL_CTX *ctx, const char *list) {
    return SSL_CTX_set1_sigalgs_list(ctx, (char *)list);
}
static inline long linnet_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}
static inline long linnet_SSL_set_tlsext_status_type(SSL *ssl, int type) {
    return SSL_set_tlsext_status_type(ssl, type);
}
static inline long linnet_SSL_get_tlsext_status_ocsp_resp(SSL *ssl, const unsigned char **response) {
    return SSL_get_tlsext_status_ocsp_resp(ssl, response);
}
static inline long linnet_SSL_get_extms_support(SSL *ssl) { return SSL_get_extms_support(ssl); }
static inline long linnet_SSL_set_tlsext_status_ocsp_resp(SSL *ssl, unsigned char *response, long count) {
    return SSL_set_tlsext_status_ocsp_resp(ssl, response, count);
}
static inline long linnet_SSL_CTX_set_tlsext_status_cb(SSL_CTX *ctx, int (*callback)(SSL *, void *)) {
    return SSL_CTX_set_tlsext_status_cb(ctx, callback);
}
static inline long linnet_SSL_CTX_set_tlsext_status_arg(SSL_CTX *ctx, void *argument) {
    return SSL_CTX_set_tlsext_status_arg(ctx, argument);
}
static inline int linnet_SSL_CTX_set_session_id_context(SSL_CTX *ctx, const char *name) {
    return SSL_CTX_set_session_id_context(ctx, (const unsigned char *)name, (unsigned int)strlen(name));
}
static inline long linnet_SSL_set_retry_verify(SSL *ssl) { return SSL_set_retry_verify(ssl); }
static inline int linnet_SSL_get_ex_new_index(void) { return SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

static inline long linnet_SSL_CTX_set_mode(SSL_CTX *ctx, long mode) { return SSL_CTX_set_mode(ctx, mode); }
static inline long linnet_SSL_set_mode(SSL *ssl, long mode) { return SSL_set_mode(ssl, mode); }
static inline long linnet_SSL_clear_mode(SSL *ssl, long mode) { return SSL_clear_mode(ssl, mode); }
/* Frees the buffers of records unless they have something. Without the checks, versions before 3.0.14, 3.1.6, 3.2.2 and 3.3.1 free a
 * buffer with a part of a record, and go on reading it (CVE-2024-4741). */
static inline void linnet_SSL_free_empty_buffers(SSL *ssl) {
    if (SSL_has_pending(ssl) == 0 && strcmp(SSL_rstate_string(ssl), "RH") == 0) SSL_free_buffers(ssl);
}
static inline long linnet_SSL_CTX_set_read_ahead(SSL_CTX *ctx, int on) { return SSL_CTX_set_read_ahead(ctx, on); }
static const uint64_t LINNET_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t LINNET_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t LINNET_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;

// MARK: BIO

static inline void linnet_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void linnet_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline long linnet_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

// MARK: Stacks

static inline int linnet_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *linnet_sk_X509_value(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline STACK_OF(X509) *linnet_sk_X509_new_null(void) { return sk_X509_new_null(); }
static inline int linnet_sk_X509_push(STACK_OF(X509) *stack, X509 *cert) { return sk_X509_push(stack, cert); }
static inline void linnet_sk_X509_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
static inline void linnet_sk_X509_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

static inline int linnet_sk_X509_NAME_num(const STACK_OF(X509_NAME) *stack) { return sk_X509_NAME_num(stack); }
static inline X509_NAME *linnet_sk_X509_NAME_value(const STACK_OF(X509_NAME) *stack, int index) {
    return sk_X509_NAME_value(stack, index);
}

static inline int linnet_sk_SSL_CIPHER_num(const STACK_OF(SSL_CIPHER) *stack) { return sk_SSL_CIPHER_num(stack); }
static inline const SSL_CIPHER *linnet_sk_SSL_CIPHER_value(const STACK_OF(SSL_CIPHER) *stack, int index) {
    return sk_SSL_CIPHER_value(stack, index);
}

// How names are printed: as RFC 2253 says, but UTF-8 as it is.
static const unsigned long LINNET_NAME_FLAGS = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;

// MARK: The work of decrypting keys

// The largest number means that a file's own number is negative or too large.

static inline uint64_t linnet_product(uint64_t a, uint64_t b) { return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b; }
static inline uint64_t linnet_sum(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }
static inline uint64_t linnet_ASN1_INTEGER_value(const ASN1_INTEGER *integer) {
    uint64_t value = 0;
    return ASN1_INTEGER_get_uint64(&value, integer) == 1 ? value : UINT64_MAX;
}

/* The iterations of a key derivation function: those of PBKDF2 (RFC 8018), or the cost, block size and parallelization of scrypt
 * (RFC 7914) multiplied. 0 for other functions and for parameters that OpenSSL cannot read. */
static inline uint64_t linnet_KDF_iterations(const X509_ALGOR *kdf) {
    const ASN1_OBJECT *name = NULL;
    uint64_t iterations = 0;
    X509_ALGOR_get0(&name, NULL, NULL, kdf);
    if (OBJ_obj2nid(name) == NID_id_pbkdf2) {
        PBKDF2PARAM *pbkdf2 = (PBKDF2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), kdf->parameter);
        if (pbkdf2 != NULL) iterations = linnet_ASN1_INTEGER_value(pbkdf2->iter);
        PBKDF2PARAM_free(pbkdf2);
    }
#ifndef OPENSSL_NO_SCRYPT
    if (OBJ_obj2nid(name) == NID_id_scrypt) {
        SCRYPT_PARAMS *scrypt = (SCRYPT_PARAMS *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(SCRYPT_PARAMS), kdf->parameter);
        if (scrypt != NULL) {
            iterations = linnet_product(
                linnet_ASN1_INTEGER_value(scrypt->costParameter),
                linnet_product(
                    linnet_ASN1_INTEGER_value(scrypt->blockSize),
                    linnet_ASN1_INTEGER_value(scrypt->parallelizationParameter)));
        }
        SCRYPT_PARAMS_free(scrypt);
    }
#endif
    return iterations;
}

/* The iterations of password-based encryption (RFC 8018, RFC 7292 appendix C) or of PBMAC1 (RFC 9579). */
static inline uint64_t linnet_PBE_iterations(const X509_ALGOR *algorithm) {
    const ASN1_OBJECT *name = NULL;
    uint64_t iterations = 0;
    X509_ALGOR_get0(&name, NULL, NULL, algorithm);
    if (OBJ_obj2nid(name) == NID_pbes2 || OBJ_obj2nid(name) == NID_pbmac1) {
        // The parameters of both are two algorithms, of which the first derives the key.
        PBE2PARAM *pbe = (PBE2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), algorithm->parameter);
        if (pbe != NULL) iterations = linnet_KDF_iterations(pbe->keyfunc);
        PBE2PARAM_free(pbe);
    } else {
        PBEPARAM *pbe = (PBEPARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), algorithm->parameter);
        if (pbe != NULL) iterations = linnet_ASN1_INTEGER_value(pbe->iter);
        PBEPARAM_free(pbe);
    }
    return iterations;
}

/* The iterations of decrypting an EncryptedPrivateKeyInfo (RFC 5958). */
static inline uint64_t linnet_X509_SIG_iterations(const X509_SIG *key) {
    const X509_ALGOR *algorithm = NULL;
    X509_SIG_get0(key, &algorithm, NULL);
    return linnet_PBE_iterations(algorithm);
}

/* The iterations of decrypting the keys in bags. OpenSSL's decoder limits how deeply they nest. */
static inline uint64_t linnet_SAFEBAG_iterations(const STACK_OF(PKCS12_SAFEBAG) *bags) {
    uint64_t iterations = 0;
    for (int index = 0; index < sk_PKCS12_SAFEBAG_num(bags); index++) {
        const PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, index);
        const X509_SIG *key = PKCS12_SAFEBAG_get0_pkcs8(bag);
        if (key != NULL) {
            iterations = linnet_sum(iterations, linnet_X509_SIG_iterations(key));
        } else if (PKCS12_SAFEBAG_get_nid(bag) == NID_safeContentsBag) {
            iterations = linnet_sum(iterations, linnet_SAFEBAG_iterations(PKCS12_SAFEBAG_get0_safes(bag)));
        }
    }
    return iterations;
}

/* The iterations of the MAC of a PKCS#12 file, of its encrypted contents and of its encrypted keys (RFC 7292), except keys that are
 * in encrypted contents: their numbers are encrypted. */
static inline uint64_t linnet_PKCS12_iterations(const PKCS12 *file) {
    const X509_ALGOR *mac = NULL;
    const ASN1_INTEGER *count = NULL;
    uint64_t iterations = 0;
    PKCS12_get0_mac(NULL, &mac, NULL, &count, file);
    if (count != NULL) iterations = linnet_ASN1_INTEGER_value(count);
    if (mac != NULL) iterations = linnet_sum(iterations, linnet_PBE_iterations(mac));
    STACK_OF(PKCS7) *safes = PKCS12_unpack_authsafes(file);
    for (int index = 0; index < sk_PKCS7_num(safes); index++) {
        PKCS7 *safe = sk_PKCS7_value(safes, index);
        if (PKCS7_type_is_data(safe) && safe->d.data != NULL) {
            STACK_OF(PKCS12_SAFEBAG) *bags = PKCS12_unpack_p7data(safe);
            iterations = linnet_sum(iterations, linnet_SAFEBAG_iterations(bags));
            sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
        } else if (PKCS7_type_is_encrypted(safe) && safe->d.encrypted != NULL) {
            iterations = linnet_sum(iterations, linnet_PBE_iterations(safe->d.encrypted->enc_data->algorithm));
        }
    }
    sk_PKCS7_pop_free(safes, PKCS7_free);
    return iterations;
}

// MARK: Errors and keys

static inline int linnet_ERR_GET_REASON(unsigned long code) { return ERR_GET_REASON(code); }
static const int LINNET_ERR_R_UNSUPPORTED = ERR_R_UNSUPPORTED;
static inline int linnet_ERR_GET_LIB(unsigned long code) { return ERR_GET_LIB(code); }
static inline EVP_PKEY *linnet_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *linnet_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *linnet_EVP_ED25519_gen(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
static inline EVP_PKEY *linnet_EVP_ED448_gen(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED448"); }

#endif

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

// MARK: Errors and keys

static inline int linnet_ERR_GET_REASON(unsigned long code) { return ERR_GET_REASON(code); }
static const int LINNET_ERR_R_UNSUPPORTED = ERR_R_UNSUPPORTED;
static inline int linnet_ERR_GET_LIB(unsigned long code) { return ERR_GET_LIB(code); }
static inline EVP_PKEY *linnet_EVP_RSA_gen(unsigned int bits) { return EVP_RSA_gen(bits); }
static inline EVP_PKEY *linnet_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline EVP_PKEY *linnet_EVP_ED25519_gen(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }
static inline EVP_PKEY *linnet_EVP_ED448_gen(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED448"); }

#endif

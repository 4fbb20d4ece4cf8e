// The cost of evaluating a chain with OpenSSL only: parsing, verifying for a host, hashing the leaf's key.
// evaluate-chain URL 1 SECONDS chain=FILE ca=FILE host=NAME [parsed]
// With `parsed`, the certificates are parsed once: the same work as in Linnet, which caches parsed certificates.
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 8 };
static unsigned char *ders[MOST];
static int lengths[MOST], certificates, is_parsed;
static X509 *parsed[MOST];

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void load(const char *path) {
    FILE *file = fopen(path, "r");
    X509 *certificate;
    if (!file) fail("the chain cannot be read");
    while (certificates < MOST && (certificate = PEM_read_X509(file, NULL, NULL, NULL))) {
        lengths[certificates] = i2d_X509(certificate, &ders[certificates]);
        parsed[certificates++] = certificate;
    }
    fclose(file);
}

static void evaluate(X509_STORE *store, const char *host) {
    X509 *chain[MOST];
    unsigned char *key = NULL, digest[SHA256_DIGEST_LENGTH];
    STACK_OF(X509) *untrusted = sk_X509_new_null();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    for (int i = 0; i < certificates; i++) {
        const unsigned char *bytes = ders[i];
        chain[i] = is_parsed ? parsed[i] : d2i_X509(NULL, &bytes, lengths[i]);
        if (i) sk_X509_push(untrusted, chain[i]);
    }
    X509_STORE_CTX_init(context, store, chain[0], untrusted);
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_auth_level(parameters, 2);
    X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set1_ip_asc(parameters, host);
    if (X509_verify_cert(context) != 1) fail(X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(chain[0]), &key);
    SHA256(key, (size_t)length, digest);
    OPENSSL_free(key);
    X509_STORE_CTX_free(context);
    sk_X509_free(untrusted);
    for (int i = 0; i < certificates && !is_parsed; i++) X509_free(chain[i]);
}

int main(int count, char **words) {
    const char *chain = "", *anchors = "", *host = "127.0.0.1";
    if (count < 5) return 64;
    for (int i = 5; i < count; i++) {
        if (!strncmp(words[i], "chain=", 6)) chain = words[i] + 6;
        if (!strncmp(words[i], "ca=", 3)) anchors = words[i] + 3;
        if (!strncmp(words[i], "host=", 5)) host = words[i] + 5;
        if (!strcmp(words[i], "parsed")) is_parsed = 1;
    }
    load(chain);
    X509_STORE *store = X509_STORE_new();
    if (!certificates || X509_STORE_load_file(store, anchors) != 1) fail("no certificates");
    double seconds = atof(words[4]), begin;
    long done = 0;
    for (int i = 0; i < 20; i++) evaluate(store, host);
    for (begin = now(); now() - begin < seconds; done += 20) {
        for (int i = 0; i < 20; i++) evaluate(store, host);
    }
    printf("{\"value\": %f, \"unit\": \"µs\", \"count\": %ld}\n", (now() - begin) * 1e6 / (double)done, done);
    return 0;
}

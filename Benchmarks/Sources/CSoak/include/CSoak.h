// Functions of OpenSSL and of GNU's C library that Swift's Glibc module does not export.
#ifndef C_SOAK_H
#define C_SOAK_H

#include <stddef.h>
#include <sys/types.h>

// Returns a new SHA-256, which `digest_end` frees.
void *digest_begin(void);
void digest_add(void *digest, const void *bytes, size_t count);
// Writes 32 bytes, and frees the digest.
void digest_end(void *digest, unsigned char *bytes);

// Starts a program that is searched in PATH, with pipes as its standard input and output, and without the other
// descriptors of this process. Returns 0, or the error.
int spawn_with_pipes(char *const words[], pid_t *pid, int *input, int *output);

#endif

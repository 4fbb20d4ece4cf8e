// What Swift's Glibc module leaves out of malloc.h.
#ifndef C_ALLOCATOR_H
#define C_ALLOCATOR_H

#include <stddef.h>

// Gives back to the system what it can, and returns the bytes that are allocated and not freed: in all arenas, and in mappings
// of their own.
size_t allocator_trimmed_bytes_in_use(void);

#endif

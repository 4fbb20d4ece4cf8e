// Functions of malloc.h that Swift's Glibc module does not export.
#ifndef C_ALLOCATOR_H
#define C_ALLOCATOR_H

#include <stddef.h>

// Releases free memory to the system, and returns the number of allocated bytes in all arenas and in separate mappings.
size_t allocator_trimmed_bytes_in_use(void);

#endif

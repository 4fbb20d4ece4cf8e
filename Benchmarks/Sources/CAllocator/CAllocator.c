#include "CAllocator.h"

#include <malloc.h>

size_t allocator_trimmed_bytes_in_use(void) {
    malloc_trim(0);
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

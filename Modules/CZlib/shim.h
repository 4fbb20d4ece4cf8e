// zlib, with functions in place of the macros that Swift cannot import.
#ifndef LINNET_CZLIB_SHIM_H
#define LINNET_CZLIB_SHIM_H

#include <zlib.h>

static inline int linnet_inflate_init(z_streamp stream, int window_bits) { return inflateInit2(stream, window_bits); }

static inline int linnet_deflate_init(z_streamp stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif

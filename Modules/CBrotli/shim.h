#ifndef LINNET_CBROTLI_SHIM_H
#define LINNET_CBROTLI_SHIM_H

#include <brotli/decode.h>
#include <brotli/encode.h>

#endif

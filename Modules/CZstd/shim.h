#ifndef LINNET_CZSTD_SHIM_H
#define LINNET_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

#if ZSTD_VERSION_NUMBER < 10400
#error "Linnet needs libzstd 1.4.0 or newer: install a current libzstd-dev (Debian 11, Ubuntu 20.04 or later)"
#endif

#endif

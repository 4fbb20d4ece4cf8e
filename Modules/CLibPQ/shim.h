#ifndef LINNET_CLIBPQ_SHIM_H
#define LINNET_CLIBPQ_SHIM_H

#include <libpq-fe.h>

#endif

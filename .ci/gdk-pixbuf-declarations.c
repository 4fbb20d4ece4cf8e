// Compares Modules/CGdkPixbuf/declarations.h with the libraries' own headers: a declaration of another type does not compile.
#include <gdk-pixbuf/gdk-pixbuf.h>

#include "declarations.h"
#include "shim.h"

// What declarations.h defines where these headers are not included.
struct linnet_error {
    uint32_t domain;
    int code;
    char *message;
};

_Static_assert(sizeof(GError) == sizeof(struct linnet_error), "GError");
_Static_assert(offsetof(GError, code) == offsetof(struct linnet_error, code), "GError.code");
_Static_assert(offsetof(GError, message) == offsetof(struct linnet_error, message), "GError.message");
_Static_assert(sizeof(GdkColorspace) == sizeof(unsigned int) && GDK_COLORSPACE_RGB == 0, "GdkColorspace");
_Static_assert(sizeof(GdkInterpType) == sizeof(unsigned int) && GDK_INTERP_BILINEAR == 2, "GdkInterpType");
_Static_assert(sizeof(GConnectFlags) == sizeof(unsigned int), "GConnectFlags");

int main(void) { return 0; }

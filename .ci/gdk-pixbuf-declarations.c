// Compares Modules/CGdkPixbuf/declarations.h with the libraries' own headers: a declaration of another type does not compile.
#include <gdk-pixbuf/gdk-pixbuf.h>

#include "declarations.h"
#include "shim.h"

// What declarations.h declares under names of its own.
#define SAME(ours, theirs) _Static_assert(__builtin_types_compatible_p(__typeof__(ours), __typeof__(theirs)), #theirs)

SAME(linnet_signal_connect, g_signal_connect_data);
SAME(linnet_pixbuf_new, gdk_pixbuf_new);
SAME(linnet_pixbuf_scale, gdk_pixbuf_scale_simple);
_Static_assert(LINNET_COLORSPACE_RGB == GDK_COLORSPACE_RGB && LINNET_INTERP_BILINEAR == GDK_INTERP_BILINEAR, "constants");
_Static_assert(sizeof(GError) == sizeof(struct linnet_error), "GError");
_Static_assert(offsetof(GError, code) == offsetof(struct linnet_error, code), "GError.code");
_Static_assert(offsetof(GError, message) == offsetof(struct linnet_error, message), "GError.message");

int main(void) { return 0; }

// Compares Modules/CGdkPixbuf/declarations.h with the libraries' own headers: a declaration of another type does not compile.
#define _GNU_SOURCE
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <sys/mman.h>

#include "declarations.h"
#include "shim.h"

// What declarations.h declares under names of its own.
#define SAME(ours, theirs) _Static_assert(__builtin_types_compatible_p(__typeof__(ours), __typeof__(theirs)), #theirs)

SAME(linnet_signal_connect, g_signal_connect_data);
SAME(linnet_pixbuf_new, gdk_pixbuf_new);
SAME(linnet_pixbuf_scale, gdk_pixbuf_scale_simple);
SAME(linnet_memory_file, memfd_create);
_Static_assert(LINNET_COLORSPACE_RGB == GDK_COLORSPACE_RGB && LINNET_INTERP_BILINEAR == GDK_INTERP_BILINEAR, "constants");
_Static_assert(LINNET_MEMORY_FILE_CLOEXEC == MFD_CLOEXEC, "constants");
_Static_assert(sizeof(GError) == sizeof(struct linnet_error), "GError");
_Static_assert(offsetof(GError, code) == offsetof(struct linnet_error, code), "GError.code");
_Static_assert(offsetof(GError, message) == offsetof(struct linnet_error, message), "GError.message");

int main(void) { return 0; }

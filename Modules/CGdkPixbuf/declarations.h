#ifndef LINNET_CGDKPIXBUF_DECLARATIONS_H
#define LINNET_CGDKPIXBUF_DECLARATIONS_H

/* The part of gdk-pixbuf, gobject and glib that Linnet uses.
 *
 * The libraries' own headers need the compiler flags of their pkg-config file, which include -pthread. SwiftPM does not allow that
 * flag, and would warn in every build of a package that depends on Linnet. These declarations need no flags. They are part of the
 * stable ABI of the libraries; `make check` compiles .ci/gdk-pixbuf-declarations.c, which compares them with the headers. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef char gchar;
typedef size_t gsize;
typedef int64_t gint64;

typedef struct _GdkPixbuf GdkPixbuf;
typedef struct _GdkPixbufLoader GdkPixbufLoader;
typedef struct _GClosure GClosure;
typedef struct _GError GError;

/* Types are declared and never defined, so that a program can import a module of the libraries' own headers, such as one of GTK,
 * beside LinnetImageSerialization: Clang refuses two modules with different definitions of a type. For the same reason, functions
 * with parameters of enumerations have names of their own here. */
#define LINNET_QUOTED(name) #name
#define LINNET_EXPANDED(name) LINNET_QUOTED(name)
#define LINNET_SYMBOL(name) __asm__(LINNET_EXPANDED(__USER_LABEL_PREFIX__) name)

#define LINNET_COLORSPACE_RGB 0u /* GDK_COLORSPACE_RGB */
#define LINNET_INTERP_BILINEAR 2u /* GDK_INTERP_BILINEAR */

/* GError. */
struct linnet_error {
    uint32_t domain;
    int code;
    char *message;
};

/* Can be NULL. */
static inline const char *linnet_error_message(const GError *error) { return ((const struct linnet_error *)error)->message; }

void g_error_free(GError *error);
void g_free(void *memory);
void g_object_unref(void *object);
unsigned long linnet_signal_connect(void *instance, const char *signal, void (*handler)(void), void *data,
                                    void (*destroy_data)(void *data, GClosure *closure), unsigned int flags)
    LINNET_SYMBOL("g_signal_connect_data");

GdkPixbuf *linnet_pixbuf_new(unsigned int colorspace, int has_alpha, int bits_per_sample, int width, int height)
    LINNET_SYMBOL("gdk_pixbuf_new");
GdkPixbuf *gdk_pixbuf_new_from_file(const char *name, GError **error);
int gdk_pixbuf_get_width(const GdkPixbuf *pixbuf);
int gdk_pixbuf_get_height(const GdkPixbuf *pixbuf);
int gdk_pixbuf_get_n_channels(const GdkPixbuf *pixbuf);
int gdk_pixbuf_get_bits_per_sample(const GdkPixbuf *pixbuf);
int gdk_pixbuf_get_rowstride(const GdkPixbuf *pixbuf);
unsigned char *gdk_pixbuf_get_pixels(const GdkPixbuf *pixbuf);
const uint8_t *gdk_pixbuf_read_pixels(const GdkPixbuf *pixbuf);
const char *gdk_pixbuf_get_option(GdkPixbuf *pixbuf, const char *key);
GdkPixbuf *linnet_pixbuf_scale(const GdkPixbuf *source, int width, int height, unsigned int interpolation)
    LINNET_SYMBOL("gdk_pixbuf_scale_simple");
int gdk_pixbuf_save_to_bufferv(GdkPixbuf *pixbuf, char **buffer, size_t *size, const char *type, char **option_keys,
                               char **option_values, GError **error);

GdkPixbufLoader *gdk_pixbuf_loader_new_with_type(const char *type, GError **error);
void gdk_pixbuf_loader_set_size(GdkPixbufLoader *loader, int width, int height);
int gdk_pixbuf_loader_write(GdkPixbufLoader *loader, const unsigned char *bytes, size_t count, GError **error);
GdkPixbuf *gdk_pixbuf_loader_get_pixbuf(GdkPixbufLoader *loader);
int gdk_pixbuf_loader_close(GdkPixbufLoader *loader, GError **error);

/* Of the C library, whose headers declare it for GNU programs only. */
#define LINNET_MEMORY_FILE_CLOEXEC 1u /* MFD_CLOEXEC */
int linnet_memory_file(const char *name, unsigned int flags) LINNET_SYMBOL("memfd_create");

#ifdef __cplusplus
}
#endif

#endif

#ifndef LINNET_CGDKPIXBUF_SHIM_H
#define LINNET_CGDKPIXBUF_SHIM_H

#include <gdk-pixbuf/gdk-pixbuf.h>

/* What the "size-prepared" signal saw, and what it was to allow. */
typedef struct {
    gint64 maximum_pixels;
    int width;
    int height;
    gboolean is_prepared;
    gboolean is_refused;
    /* The pixels that "area-updated" reported, counted again each time. */
    gint64 updated_pixels;
} LinnetPixbufSizeCheck;

/* Runs before the loader allocates pixels. A size of zero makes the loaders give up. */
static void linnet_pixbuf_size_prepared(GdkPixbufLoader *loader, int width, int height, gpointer data) {
    LinnetPixbufSizeCheck *check = (LinnetPixbufSizeCheck *)data;
    check->width = width;
    check->height = height;
    check->is_prepared = TRUE;
    if (width <= 0 || height <= 0 || (gint64)width > check->maximum_pixels / (gint64)height) {
        check->is_refused = TRUE;
        gdk_pixbuf_loader_set_size(loader, 0, 0);
    }
}

static void linnet_pixbuf_area_updated(GdkPixbufLoader *loader, int x, int y, int width, int height, gpointer data) {
    LinnetPixbufSizeCheck *check = (LinnetPixbufSizeCheck *)data;
    check->updated_pixels += (gint64)width * (gint64)height;
}

/* g_signal_connect is a macro with casts that Swift does not import. `check` must outlive the loader. */
static inline void linnet_pixbuf_loader_check_size(GdkPixbufLoader *loader, LinnetPixbufSizeCheck *check) {
    g_signal_connect_data(loader, "size-prepared", G_CALLBACK(linnet_pixbuf_size_prepared), check, NULL,
                          (GConnectFlags)0);
    g_signal_connect_data(loader, "area-updated", G_CALLBACK(linnet_pixbuf_area_updated), check, NULL,
                          (GConnectFlags)0);
}

#endif

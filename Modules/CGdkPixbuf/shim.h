#ifndef LINNET_CGDKPIXBUF_SHIM_H
#define LINNET_CGDKPIXBUF_SHIM_H

#include <gdk-pixbuf/gdk-pixbuf.h>

/* What the "size-prepared" signal saw, and what it was to allow. */
typedef struct {
    gint64 maximum_pixels;
    /* The longer side to scale to while decoding; 0 scales nothing. */
    int maximum_dimension;
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
    } else if (check->maximum_dimension > 0 && MAX(width, height) > check->maximum_dimension) {
        gint64 longer = MAX(width, height), wanted = check->maximum_dimension;
        gint64 scaled_width = ((gint64)width * wanted + longer / 2) / longer;
        gint64 scaled_height = ((gint64)height * wanted + longer / 2) / longer;
        gdk_pixbuf_loader_set_size(loader, (int)MAX(scaled_width, 1), (int)MAX(scaled_height, 1));
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

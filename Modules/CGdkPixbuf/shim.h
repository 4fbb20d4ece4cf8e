#ifndef LINNET_CGDKPIXBUF_SHIM_H
#define LINNET_CGDKPIXBUF_SHIM_H

#include "declarations.h"

/* The size and the progress that a loader's signals report, and the limits that apply to them. */
typedef struct {
    int64_t maximum_pixels;
    /* The length to which the longer side is scaled during decoding; 0 for no scaling. */
    int maximum_dimension;
    int width;
    int height;
    int is_prepared;
    int is_refused;
    /* The number of pixels in all "area-updated" signals. */
    int64_t updated_pixels;
} LinnetPixbufSizeCheck;

/* Called before the loader allocates pixels. A size of zero makes it fail. */
static void linnet_pixbuf_size_prepared(GdkPixbufLoader *loader, int width, int height, void *data) {
    LinnetPixbufSizeCheck *check = (LinnetPixbufSizeCheck *)data;
    int64_t longer = width > height ? width : height;
    check->width = width;
    check->height = height;
    check->is_prepared = 1;
    if (width <= 0 || height <= 0 || (int64_t)width > check->maximum_pixels / (int64_t)height) {
        check->is_refused = 1;
        gdk_pixbuf_loader_set_size(loader, 0, 0);
    } else if (check->maximum_dimension > 0 && longer > check->maximum_dimension) {
        int64_t wanted = check->maximum_dimension;
        int64_t scaled_width = ((int64_t)width * wanted + longer / 2) / longer;
        int64_t scaled_height = ((int64_t)height * wanted + longer / 2) / longer;
        gdk_pixbuf_loader_set_size(loader, (int)(scaled_width > 1 ? scaled_width : 1),
                                   (int)(scaled_height > 1 ? scaled_height : 1));
    }
}

static void linnet_pixbuf_area_updated(GdkPixbufLoader *loader, int x, int y, int width, int height, void *data) {
    LinnetPixbufSizeCheck *check = (LinnetPixbufSizeCheck *)data;
    check->updated_pixels += (int64_t)width * (int64_t)height;
}

/* Connects the signals. `check` must outlive the loader. */
static inline void linnet_pixbuf_loader_check_size(GdkPixbufLoader *loader, LinnetPixbufSizeCheck *check) {
    linnet_signal_connect(loader, "size-prepared", (void (*)(void))linnet_pixbuf_size_prepared, check, NULL, 0);
    linnet_signal_connect(loader, "area-updated", (void (*)(void))linnet_pixbuf_area_updated, check, NULL, 0);
}

#endif

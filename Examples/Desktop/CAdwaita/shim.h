/* Newer versions of both libraries deprecate what the oldest supported ones need. */
#define ADW_DISABLE_DEPRECATION_WARNINGS
#define GDK_DISABLE_DEPRECATION_WARNINGS

#include <adwaita.h>
#include <glib-unix.h>

/* Of libdispatch: the interface by which Foundation's run loop serves the main queue. The descriptor, an eventfd, becomes readable
 * when the queue has work; the function does the work, and must be called on the main thread. */
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

/* Swift does not import functions with a variable number of arguments. */

/* Sets the name that screen readers speak. */
static inline void example_set_accessible_label(GtkWidget *widget, const char *label) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

/* Makes a box with a role for screen readers, which otherwise skip boxes. */
static inline GtkWidget *example_box_new(GtkOrientation orientation, GtkAccessibleRole role) {
    return g_object_new(GTK_TYPE_BOX, "orientation", orientation, "accessible-role", role, NULL);
}

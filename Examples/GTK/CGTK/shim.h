#include <glib-unix.h>
#include <gtk/gtk.h>

/* Of libdispatch: the interface by which Foundation's run loop serves the main queue. The descriptor, an eventfd, becomes readable
 * when the queue has work; the function does the work, and must be called on the main thread. */
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

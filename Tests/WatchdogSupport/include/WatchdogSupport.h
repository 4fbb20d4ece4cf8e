// Ends a stuck test process long before the time limits of the suites.
#ifndef LINNET_WATCHDOG_SUPPORT_H
#define LINNET_WATCHDOG_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

/// The activity of a process up to one point in time.
struct linnet_activity {
    /// Processor time of all its threads, in nanoseconds.
    uint64_t cpu_nanoseconds;
    /// Whether it has child processes, which may be active instead.
    bool has_children;
};

/// The activity of this process up to now.
struct linnet_activity linnet_activity_now(void);

/// Whether a process is stuck, from its activity before and after a period: it has used no processor time, and does not wait
/// for a child process.
bool linnet_is_stuck(struct linnet_activity before, struct linnet_activity after);

#endif

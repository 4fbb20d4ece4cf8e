// Ends a test process that is stuck, long before the time limits of the suites do.
#ifndef LINNET_WATCHDOG_SUPPORT_H
#define LINNET_WATCHDOG_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

/// What a process has done up to a moment.
struct linnet_activity {
    /// Processor time of all its threads, in nanoseconds.
    uint64_t cpu_nanoseconds;
    /// Whether it has child processes, which may work in its stead.
    bool has_children;
};

/// What this process has done up to now.
struct linnet_activity linnet_activity_now(void);

/// Whether a process that was looked at before and after a period of quiet is stuck: nothing of it has run, and none of its
/// children can be what it waits for.
bool linnet_is_stuck(struct linnet_activity before, struct linnet_activity after);

#endif

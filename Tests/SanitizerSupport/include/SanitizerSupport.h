// What the sanitizers know of the libraries is there by linking alone.
#pragma once

/// Leaves leaks unreported at this process's end. For the body of an exit test, which ends its process in the middle of
/// the test runner's own work.
void linnet_skip_leak_check(void);

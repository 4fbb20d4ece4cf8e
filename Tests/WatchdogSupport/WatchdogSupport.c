// A watchdog for the process that runs the tests. It starts when it is loaded, and is linked into the tests only.
//
// A hanging test uses no processor time. A time limit cannot distinguish it from a test that is slow on a busy machine, so time
// limits are long (a minute at least). When the process has been idle for 30 seconds, the watchdog ends it with SIGABRT. The
// tests that the output shows as started but not as ended are those that hang.
//
// LINNET_WATCHDOG is the number of seconds; 0 turns the watchdog off, for debuggers.
#define _GNU_SOURCE
#include "WatchdogSupport.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// Timers and polling threads use far less in half a minute; a test that makes progress uses more.
static const uint64_t quiet_nanoseconds = 20 * 1000 * 1000;

static bool has_children(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return false;
    bool found = false;
    struct dirent *entry;
    while (!found && (entry = readdir(threads))) {
        if (entry->d_name[0] == '.') continue;
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%.20s/children", entry->d_name);
        FILE *children = fopen(path, "re");
        if (!children) continue;
        found = fgetc(children) != EOF;
        fclose(children);
    }
    closedir(threads);
    return found;
}

struct linnet_activity linnet_activity_now(void) {
    struct timespec cpu = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    struct linnet_activity activity = {
        (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec,
        has_children(),
    };
    return activity;
}

bool linnet_is_stuck(struct linnet_activity before, struct linnet_activity after) {
    return !before.has_children && !after.has_children
        && after.cpu_nanoseconds - before.cpu_nanoseconds < quiet_nanoseconds;
}

static void *watch(void *argument) {
    unsigned seconds = *(unsigned *)argument;
    struct linnet_activity before = linnet_activity_now();
    while (true) {
        // A stopped process or a suspended machine is idle too: such a period does not count.
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        unsigned left = seconds;
        while (left > 0) left = sleep(left);
        clock_gettime(CLOCK_MONOTONIC, &end);
        struct linnet_activity after = linnet_activity_now();
        if (end.tv_sec - begin.tv_sec <= (time_t)seconds + 1 && linnet_is_stuck(before, after)) {
            fprintf(stderr,
                    "The tests are stuck: the process has been idle for %u seconds. Tests that have started and not ended hang.\n",
                    seconds);
            abort();
        }
        before = after;
    }
    return NULL;
}

__attribute__((constructor)) static void start(void) {
    static unsigned seconds = 30;
    const char *text = getenv("LINNET_WATCHDOG");
    if (text) seconds = (unsigned)strtoul(text, NULL, 10);
    if (seconds == 0) return;
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, &seconds) == 0) pthread_detach(thread);
}

// A watchdog over the process that runs the tests, started when that is loaded; linked into the tests alone.
//
// A test that hangs waits: it uses no processor time. Time limits cannot tell it from one that a busy machine makes slow, so
// they are long (and a minute at least); this can. When the process has done nothing for 30 seconds, it is ended with
// SIGABRT. The tests that the output names as started, and not as ended, are those that hang.
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

// What timers and threads that only look around use in half a minute is far less; any test that goes on uses more.
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
        // A process that was stopped, or a machine that slept, has done nothing either: such a period does not count.
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        unsigned left = seconds;
        while (left > 0) left = sleep(left);
        clock_gettime(CLOCK_MONOTONIC, &end);
        struct linnet_activity after = linnet_activity_now();
        if (end.tv_sec - begin.tv_sec <= (time_t)seconds + 1 && linnet_is_stuck(before, after)) {
            fprintf(stderr,
                    "The tests are stuck: nothing has run for %u seconds. Those that have started above, and not ended, hang.\n",
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
